#include "simulate/run_sweep.h"

#include <stdio.h>

od_status od_run_sweep_row(const od_machine *machine, const od_run_options *options, od_sweep_row *row, od_error *err) {
  OD_OWNED(od_table_free) od_table *table = NULL;
  od_status status = od_run(machine, options, &table, NULL, err);
  if (status != OD_OK) return status;
  for (int c = 1; c < table->columns; c++) {
    od_summary s = od_table_summary(table, c);
    const char *const names[] = {"min", "max", "rms", "final"};
    const double values[] = {s.min, s.max, s.rms, s.final};
    for (int i = 0; i < 4; i++) {
      char name[400];
      snprintf(name, sizeof name, "%.380s.%s", table->name[c], names[i]);
      if (!od_sweep_add(row, name, table->unit[c], values[i])) return od_fail(err, OD_NO_MEMORY, "out of memory");
    }
  }
  return OD_OK;
}
