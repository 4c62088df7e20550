#include "options/driven_log.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "terminal/terminal.h"
#include "document/suggest.h"
#include "document/units.h"
#include "io/table.h"
#include "io/time_unit.h"

enum { MOST_POINTS = 64 };

typedef struct factor {
  int column, points;  // without points it is the column itself
  double x[MOST_POINTS], y[MOST_POINTS];
} factor;

static int find_column(const od_table *log, const char *path, const char *name) {
  od_nearest nearest = od_nearest_to(name);
  for (int i = 0; i < log->columns; i++) {
    if (strcmp(log->name[i], name) == 0) return i;
    od_nearest_try(&nearest, log->name[i]);
  }
  od_cli_error("%s has no column '%s'%s", path, name, od_nearest_suggestion(&nearest).text);
  return -1;
}

// "X:Y,X:Y,..." behind the name of the column.
static bool read_points(const char *text, const char *points, factor *f) {
  const char *at = points;
  for (f->points = 0; f->points < MOST_POINTS; at++) {
    char *end;
    int i = f->points++;
    f->x[i] = strtod(at, &end);
    bool pair = end != at && *end == ':';
    if (pair) at = end + 1, f->y[i] = strtod(at, &end), pair = end != at;
    if (!pair || !isfinite(f->x[i]) || !isfinite(f->y[i])) {
      od_cli_error("--factor: '%s' is not COLUMN or COLUMN=X:Y,X:Y,... with a number for each X and Y", text);
      return false;
    }
    if (i > 0 && f->x[i] <= f->x[i - 1]) {
      od_cli_error("--factor: in '%s' %g comes behind %g; expected increasing values of the column", text, f->x[i],
                   f->x[i - 1]);
      return false;
    }
    at = end;
    if (*at == '\0') return true;
    if (*at != ',') {
      od_cli_error("--factor: in '%s' a comma is expected before '%s'", text, at);
      return false;
    }
  }
  od_cli_error("--factor: '%.40s...' has more than %d points", text, MOST_POINTS);
  return false;
}

static bool read_factor(const od_table *log, const char *path, const char *text, factor *f) {
  const char *equals = strrchr(text, '=');
  char name[200];
  snprintf(name, sizeof name, "%.*s", (int)(equals ? equals - text : (long)strlen(text)), text);
  *f = (factor){.column = find_column(log, path, name)};
  bool fine = !equals || read_points(text, equals + 1, f);
  return f->column >= 0 && fine;
}

static double factor_at(const factor *f, double x) {
  if (f->points == 0) return x;
  if (isnan(x) || x <= f->x[0]) return isnan(x) ? x : f->y[0];
  for (int i = 1; i < f->points; i++)
    if (x < f->x[i]) return f->y[i - 1] + (f->y[i] - f->y[i - 1]) * (x - f->x[i - 1]) / (f->x[i] - f->x[i - 1]);
  return f->y[f->points - 1];
}

// Multiplies one more factor into the signal. A law's factor is positive; a load may have either sign.
static bool apply_factor(const od_table *log, const char *path, const factor *f, bool positive, double *signal) {
  for (long i = 0; i < log->rows; i++) {
    double value = factor_at(f, log->data[i * log->columns + f->column]);
    if (!isfinite(value) || (positive && value <= 0)) {
      od_cli_error("%s, row %ld: '%s' makes a factor of %g; expected a %snumber at every time", path, i + 1,
                   log->name[f->column], value, positive ? "positive " : "");
      return false;
    }
    signal[i] *= value;
  }
  return true;
}

static bool apply_factors(const od_table *log, const char *path, const od_words *factors, const od_friction_law *law,
                          double *signal) {
  int place = od_friction_law_follows(law);
  bool fine = true;
  for (long i = 0; i < log->rows; i++) signal[i] = 1;
  for (int i = 0; i < factors->count; i++) {
    factor f;
    if (!read_factor(log, path, factors->text[i], &f))
      fine = false;
    else
      fine = apply_factor(log, path, &f, law->element->fields[place].sign == OD_POSITIVE, signal) && fine;
  }
  return fine;
}

static int find_speed(const od_table *log, const char *path, const char *column, int time) {
  if (column) return find_column(log, path, column);
  for (int i = 0; i < log->columns; i++)
    if (i != time) return i;
  od_cli_error("%s has no column besides its times; expected a speed", path);
  return -1;
}

// How times become seconds; false after a message.
static bool read_clock(const od_table *log, const char *path, int time, od_conversion *clock) {
  od_error err = {0};
  const char *unit = log->unit[time];
  *clock = (od_conversion){1, 1, 0};
  if (!*unit) return true;
  od_units *units = od_units_new(&err);
  bool ok = units && od_units_conversion(units, unit, "s", clock) == OD_UNIT_FITS;
  if (!units)
    od_cli_error("%s", err.text);
  else if (!ok)
    od_cli_error("%s: column '%s' is in %s, expected a unit of s", path, log->name[time], unit);
  od_units_free(units);
  return ok;
}

static od_status take_columns(const od_table *log, const char *path, const char *column, const od_words *factors,
                              const od_friction_law *law, od_driven_log *out) {
  int time = od_table_find_time(log), speed = find_speed(log, path, column, time);
  if (time < 0) od_cli_error("%s has no column of times", path);
  if (log->rows < 1) od_cli_error("%s has no rows; expected times and speeds", path);
  if (log->rows > 100000000) od_cli_error("%s has %ld rows; at most 1e8 are possible", path, log->rows);
  bool fine = time >= 0 && speed >= 0 && log->rows >= 1 && log->rows <= 100000000;
  od_conversion clock = {1, 1, 0};
  fine = fine && read_clock(log, path, time, &clock);
  size_t size = ((size_t)log->rows + 1) * sizeof(double);
  out->t = malloc(size), out->v = malloc(size), out->signal = factors->count > 0 ? malloc(size) : NULL;
  if (!out->t || !out->v || (factors->count > 0 && !out->signal)) return OD_NO_MEMORY;
  if (out->signal) fine = apply_factors(log, path, factors, law, out->signal) && fine;
  if (!fine) return OD_BAD_INPUT;
  for (long i = 0; i < log->rows; i++) {
    const double *row = log->data + i * log->columns;
    out->t[i] = od_convert(&clock, row[time]), out->v[i] = row[speed];
    if (isfinite(out->t[i]) && isfinite(out->v[i]) && (i == 0 || out->t[i] > out->t[i - 1])) continue;
    od_cli_error("%s, row %ld: times must increase, and '%s' must have a speed at every time", path, i + 1,
                 log->name[speed]);
    return OD_BAD_INPUT;
  }
  out->count = (int)log->rows;
  double apart = out->count > 1 ? (out->t[out->count - 1] - out->t[0]) / (out->count - 1) : 0;
  od_time_doubt doubt = od_time_doubt_of(log->name[time], log->unit[time], path, apart, NULL);
  if (doubt.text[0]) od_cli_warning("%s", doubt.text);
  snprintf(out->speed, sizeof out->speed, "%.60s", log->name[speed]);
  return OD_OK;
}

od_status od_driven_log_read(const char *path, const char *column, const od_words *factors, const od_friction_law *law,
                             od_driven_log *out) {
  od_table *log = NULL;
  od_error err = {0};
  *out = (od_driven_log){0};
  od_status status = od_table_read(path, NULL, &log, &err);
  if (status != OD_OK) {
    od_cli_error("%s", err.text);
    return OD_BAD_INPUT;
  }
  status = take_columns(log, path, column, factors, law, out);
  od_table_free(log);
  return status;
}

void od_driven_log_free(od_driven_log *log) {
  free(log->t), free(log->v), free(log->signal);
  *log = (od_driven_log){0};
}
