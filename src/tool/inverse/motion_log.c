#include "inverse/motion_log.h"

#include <math.h>

#include "document/units.h"
#include "formats/read_table.h"
#include "io/table.h"
#include "machine/machine.h"
#include "memory/scoped.h"
#include "plant/inverse.h"

void od_motion_log_free(od_motion_log *log) {
  od_arena_free(&log->arena);
  *log = (od_motion_log){0};
}

// Converts a column of the table to SI units. Writes to out[0], out[stride], ...
static od_status convert(const char *path, const od_table *t, int column, const char *si, od_units *units, double *out,
                         int stride, od_error *err) {
  const char *unit = t->unit[column], *flaw = od_table_flaw(t, column);
  od_conversion to = {1, 1, 0};
  if (flaw) return od_fail(err, OD_BAD_INPUT, "%s", flaw);
  if (*unit && od_units_conversion(units, unit, si, &to) != OD_UNIT_FITS)
    return od_fail(err, OD_BAD_INPUT, "%s: column '%s' is in %s, expected a unit of %s", path, t->name[column], unit,
                   si);
  for (long k = 0; k < t->rows; k++) {
    double x = od_convert(&to, t->data[k * t->columns + column]);
    if (!isfinite(x))
      return od_fail(err, OD_BAD_INPUT, "%s: row %ld of '%s' has no value; expected a number in every row", path, k + 1,
                     t->name[column]);
    out[k * stride] = x;
  }
  return OD_OK;
}

// Fills the log from the columns of a table whose names are names of quantities.
static od_status take_columns(const od_machine *machine, const char *path, const od_table *t, int time,
                              od_motion_log *log, od_error *err) {
  OD_SCRATCH(scratch);
  OD_OWNED(od_units_free) od_units *units = od_units_new(err);
  if (!units) return OD_BAD_INPUT;
  const od_model *m = od_machine_model(machine);
  int *column = OD_TAKE(&scratch, int, t->columns);
  log->output = OD_TAKE(&log->arena, int, t->columns);
  log->t = OD_TAKE(&log->arena, double, t->rows);
  if (!column || od_arena_status(&log->arena) != OD_OK) return od_fail(err, OD_NO_MEMORY, "out of memory");
  for (int c = 0; c < t->columns; c++) {
    int output = c == time ? -1 : od_machine_output_find(machine, t->name[c]);
    if (output < 0 || !od_inverse_can_move(&m->output[output])) continue;
    column[log->columns] = c;
    log->output[log->columns++] = output;
  }
  if (log->columns == 0)
    return od_fail(err, OD_BAD_INPUT,
                   "%s: no column has the name of a joint coordinate, length or point of the machine; rename a column",
                   path);
  log->value = OD_TAKE_MATRIX(&log->arena, double, t->rows, log->columns);
  if (!log->value) return od_fail(err, OD_NO_MEMORY, "out of memory");
  od_status status = convert(path, t, time, "s", units, log->t, 1, err);
  for (int i = 0; status == OD_OK && i < log->columns; i++)
    status = convert(path, t, column[i], od_machine_output_unit(machine, log->output[i]), units, log->value + i,
                     log->columns, err);
  return status;
}

od_status od_motion_log_read(const od_machine *machine, const char *path, od_motion_log *log, od_error *err) {
  OD_OWNED(od_table_free) od_table *t = NULL;
  *log = (od_motion_log){0};
  if (!path) return OD_OK;
  od_status status = od_table_read(path, NULL, &t, err);
  if (status != OD_OK) return status;
  int time = od_table_find_time(t);
  if (time < 0)
    return od_fail(err, OD_BAD_INPUT, "%s: no time column was found; give the time column the name 'time'", path);
  if (t->rows < 3) return od_fail(err, OD_BAD_INPUT, "%s: found %ld rows, expected at least three rows", path, t->rows);
  status = take_columns(machine, path, t, time, log, err);
  if (status != OD_OK) return status;
  log->rows = t->rows;
  for (long k = 1; k < log->rows; k++)
    if (!(log->t[k] > log->t[k - 1]))
      return od_fail(
          err, OD_BAD_INPUT,
          "%s: the time of row %ld is not later than the time of the previous row; expected increasing times", path,
          k + 1);
  log->ambiguity = od_time_ambiguity_of(t->name[time], t->unit[time], path,
                                        (log->t[log->rows - 1] - log->t[0]) / (double)(log->rows - 1), NULL);
  return OD_OK;
}

od_status od_motion_log_trajectory(const od_motion_log *log, int column, double low_pass, od_trajectory *out) {
  OD_SCRATCH(scratch);
  double *samples = OD_TAKE(&scratch, double, log->rows);
  *out = (od_trajectory){0};
  if (!samples) return OD_NO_MEMORY;
  for (long k = 0; k < log->rows; k++) samples[k] = log->value[k * log->columns + column];
  return od_trajectory_of_samples(log->t, samples, log->rows, low_pass, out);
}

double od_motion_log_nyquist(const od_motion_log *log) {
  return (double)(log->rows - 1) / (log->t[log->rows - 1] - log->t[0]) / 2;
}
