#include "friction_show/driven_log.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "document/suggest.h"
#include "document/units.h"
#include "formats/read_table.h"
#include "io/table.h"

enum { MOST_POINTS = 64 };

typedef struct factor {
  int column, points;  // no points: the factor is the value of the column
  double x[MOST_POINTS], y[MOST_POINTS];
} factor;

static od_status find_column(const od_table *log, const char *path, const char *name, int *out, od_error *err) {
  od_nearest nearest = od_nearest_to(name);
  for (*out = 0; *out < log->columns; ++*out) {
    if (strcmp(log->name[*out], name) == 0) return OD_OK;
    od_nearest_try(&nearest, log->name[*out]);
  }
  return od_fail(err, OD_BAD_INPUT, "%s has no column '%s'%s", path, name, od_nearest_suggestion(&nearest).text);
}

// Reads "X:Y,X:Y,..." after the name of the column.
static od_status read_points(const char *text, const char *points, factor *f, od_error *err) {
  const char *at = points;
  for (f->points = 0; f->points < MOST_POINTS; at++) {
    char *end;
    int i = f->points++;
    f->x[i] = strtod(at, &end);
    bool is_pair = end != at && *end == ':';
    if (is_pair) at = end + 1, f->y[i] = strtod(at, &end), is_pair = end != at;
    if (!is_pair || !isfinite(f->x[i]) || !isfinite(f->y[i]))
      return od_fail(err, OD_BAD_INPUT,
                     "--factor: found '%s', expected COLUMN or COLUMN=X:Y,X:Y,... with a number for each X and Y",
                     text);
    if (i > 0 && f->x[i] <= f->x[i - 1])
      return od_fail(err, OD_BAD_INPUT, "--factor: in '%s' %g follows %g; expected increasing values of the column",
                     text, f->x[i], f->x[i - 1]);
    at = end;
    if (*at == '\0') return OD_OK;
    if (*at != ',') return od_fail(err, OD_BAD_INPUT, "--factor: in '%s' found '%s', expected a comma", text, at);
  }
  return od_fail(err, OD_BAD_INPUT, "--factor: '%.40s...' has too many points; expected at most %d", text, MOST_POINTS);
}

static od_status read_factor(const od_table *log, const char *path, const char *text, factor *f, od_error *err) {
  const char *equals = strrchr(text, '=');
  char name[200];
  snprintf(name, sizeof name, "%.*s", (int)(equals ? equals - text : (long)strlen(text)), text);
  *f = (factor){0};
  od_status status = find_column(log, path, name, &f->column, err);
  return status == OD_OK && equals ? read_points(text, equals + 1, f, err) : status;
}

static double factor_at(const factor *f, double x) {
  if (f->points == 0) return x;
  if (isnan(x) || x <= f->x[0]) return isnan(x) ? x : f->y[0];
  for (int i = 1; i < f->points; i++)
    if (x < f->x[i]) return f->y[i - 1] + (f->y[i] - f->y[i - 1]) * (x - f->x[i - 1]) / (f->x[i] - f->x[i - 1]);
  return f->y[f->points - 1];
}

// Multiplies the signal by another factor. The factor of a law must be positive; a load may have either sign.
static od_status apply_factor(const od_table *log, const char *path, const factor *f, bool positive, double *signal,
                              od_error *err) {
  for (long i = 0; i < log->rows; i++) {
    double value = factor_at(f, log->data[i * log->columns + f->column]);
    if (!isfinite(value) || (positive && value <= 0))
      return od_fail(err, OD_BAD_INPUT, "%s, row %ld: '%s' gives the factor %g; expected a %snumber in every row", path,
                     i + 1, log->name[f->column], value, positive ? "positive " : "");
    signal[i] *= value;
  }
  return OD_OK;
}

static od_status find_columns(const od_table *log, const char *path, const char *column, int *time, int *speed,
                              od_conversion *clock, od_error *err) {
  *time = od_table_find_time(log);
  *clock = (od_conversion){1, 1, 0};
  if (*time < 0) return od_fail(err, OD_BAD_INPUT, "%s has no time column; expected a column such as 'time'", path);
  if (log->rows < 1) return od_fail(err, OD_BAD_INPUT, "%s has no rows; expected times and speeds", path);
  if (log->rows > 100000000)
    return od_fail(err, OD_BAD_INPUT, "%s has %ld rows; expected at most 100 million rows", path, log->rows);
  *speed = *time == 0 ? 1 : 0;
  if (!column && *speed >= log->columns)
    return od_fail(err, OD_BAD_INPUT, "%s has only a time column; expected a time column and a column of speeds", path);
  od_status status = column ? find_column(log, path, column, speed, err) : OD_OK;
  const char *unit = log->unit[*time];
  if (status != OD_OK || !*unit) return status;
  OD_OWNED(od_units_free) od_units *units = od_units_new(err);
  if (!units) return OD_BAD_INPUT;
  if (od_units_conversion(units, unit, "s", clock) == OD_UNIT_FITS) return OD_OK;
  return od_fail(err, OD_BAD_INPUT, "%s: column '%s' is in %s; expected a unit of time", path, log->name[*time], unit);
}

static od_status take_columns(const od_table *log, const char *path, const char *column, const char *const *factors,
                              int factor_count, const od_friction_law *law, od_driven_log *out, od_error *err) {
  int time = 0, speed = 0;
  od_conversion clock;
  od_status status = find_columns(log, path, column, &time, &speed, &clock, err);
  if (status != OD_OK) return status;
  out->t = OD_TAKE(&out->arena, double, log->rows);
  out->v = OD_TAKE(&out->arena, double, log->rows);
  out->signal = factor_count > 0 ? OD_TAKE(&out->arena, double, log->rows) : NULL;
  if (od_arena_status(&out->arena) != OD_OK) return od_fail(err, OD_NO_MEMORY, "out of memory");
  for (long i = 0; out->signal && i < log->rows; i++) out->signal[i] = 1;
  for (int i = 0; i < factor_count; i++) {
    factor f;
    bool positive = law->element->fields[od_friction_law_follows(law)].sign == OD_POSITIVE;
    status = read_factor(log, path, factors[i], &f, err);
    if (status == OD_OK) status = apply_factor(log, path, &f, positive, out->signal, err);
    if (status != OD_OK) return status;
  }
  for (long i = 0; i < log->rows; i++) {
    const double *row = log->data + i * log->columns;
    out->t[i] = od_convert(&clock, row[time]), out->v[i] = row[speed];
    if (!isfinite(out->t[i]) || !isfinite(out->v[i]) || (i > 0 && out->t[i] <= out->t[i - 1]))
      return od_fail(err, OD_BAD_INPUT, "%s, row %ld: times must increase, and '%s' must have a speed in every row",
                     path, i + 1, log->name[speed]);
  }
  out->count = (int)log->rows;
  double apart = out->count > 1 ? (out->t[out->count - 1] - out->t[0]) / (out->count - 1) : 0;
  out->ambiguity = od_time_ambiguity_of(log->name[time], log->unit[time], path, apart, NULL);
  snprintf(out->speed, sizeof out->speed, "%.60s", log->name[speed]);
  return OD_OK;
}

od_status od_driven_log_read(const char *path, const char *column, const char *const *factors, int factor_count,
                             const od_friction_law *law, od_driven_log *out, od_error *err) {
  OD_OWNED(od_table_free) od_table *log = NULL;
  *out = (od_driven_log){0};
  od_status status = od_table_read(path, NULL, &log, err);
  if (status == OD_OK) status = take_columns(log, path, column, factors, factor_count, law, out, err);
  return status == OD_IO ? OD_BAD_INPUT : status;
}

void od_driven_log_free(od_driven_log *log) {
  od_arena_free(&log->arena);
  *log = (od_driven_log){0};
}
