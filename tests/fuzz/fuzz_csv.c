// CSV files, read as tables and with the options of signals and logs: lines to skip and texts for missing values.
#include "fuzz/fuzz.h"

#include <stdlib.h>

#include "formats/read_table.h"
#include "io/table.h"

static void read(const char *path, const od_table_wish *wish) {
  od_table *table = NULL;
  od_error err = {0};
  od_status status = od_table_read_csv_with(path, wish, &table, &err);
  if ((status == OD_OK) != (table != NULL) || (status != OD_OK && !err.text[0])) abort();
  long last = 0;
  for (int i = 0; table && i < table->columns; i++) {
    od_table_summary(table, i);
    od_table_flaw(table, i);
  }
  for (long row = 0; table && row < table->rows; row++) {
    if (table->places.line[row] <= last) abort();
    last = table->places.line[row];
  }
  if (table) od_table_find_time(table);
  od_table_free(table);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  const char *path = fuzz_file(data, size, "input.csv", "cases/crane");
  read(path, NULL);
  read(path, &(od_table_wish){.skip = 1, .missing = (const char *const[]){"-", "n/a", "9999", NULL}});
  return 0;
}
