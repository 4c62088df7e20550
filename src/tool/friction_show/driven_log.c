#include "friction_show/driven_log.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "logs/log_table.h"
#include "memory/owned.h"

enum { MOST_POINTS = 64 };

typedef struct factor {
  int channel, points;  // index of the channel; no points: the factor is the value of the column
  double x[MOST_POINTS], y[MOST_POINTS];
} factor;

// Reads "X:Y,X:Y,..." after the name of the column. Fails with OD_BAD_INPUT.
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

// Reads "COLUMN" or "COLUMN=X:Y,..." and adds the column to the plan. Values of the column are not converted, unless --map gives its
// unit. Fails with OD_BAD_INPUT or OD_NO_MEMORY.
static od_status read_factor(od_log_plan *plan, const char *text, factor *f, od_error *err) {
  const char *equals = strrchr(text, '=');
  const char *name = od_arena_format(&plan->memory, "%.*s", (int)(equals ? equals - text : (long)strlen(text)), text);
  *f = (factor){0};
  if (!name) return od_fail(err, OD_NO_MEMORY, "out of memory");
  bool is_mapped = od_log_find(plan, name) >= 0;
  f->channel = od_log_want_named(plan, name, is_mapped ? NULL : "", (od_place){.file = "--factor"});
  if (f->channel < 0) return od_fail(err, OD_NO_MEMORY, "out of memory");
  return equals ? read_points(text, equals + 1, f, err) : OD_OK;
}

static double factor_at(const factor *f, double x) {
  if (f->points == 0) return x;
  if (isnan(x) || x <= f->x[0]) return isnan(x) ? x : f->y[0];
  for (int i = 1; i < f->points; i++)
    if (x < f->x[i]) return f->y[i - 1] + (f->y[i] - f->y[i - 1]) * (x - f->x[i - 1]) / (f->x[i] - f->x[i - 1]);
  return f->y[f->points - 1];
}

// Multiplies the signal by another factor. The factor of a law must be positive; a load may have either sign. Fails with
// OD_BAD_INPUT.
static od_status apply_factor(const od_whole_log *log, const factor *f, bool positive, double *signal, od_error *err) {
  const od_table *t = log->table;
  for (long i = 0; i < t->rows; i++) {
    double value = factor_at(f, t->data[i * t->columns + 1 + f->channel]);
    if (!isfinite(value) || (positive && value <= 0))
      return od_fail(err, OD_BAD_INPUT, "%s, row %ld: '%s' gives the factor %g; expected a %snumber in every row",
                     log->plan.file, i + 1, t->name[1 + f->channel], value, positive ? "positive " : "");
    signal[i] *= value;
  }
  return OD_OK;
}

// Adds the column of the speed to the plan. Returns its channel, or -1 after an error.
static int choose_speed(od_whole_log *log, const char *column, od_error *err) {
  const od_table *head = od_log_head(log->log, 0);
  int at = 0, channel = -1;
  if (column) {
    channel = od_log_want_named(&log->plan, column, NULL, (od_place){.file = "--column"});
  } else if (od_log_find(&log->plan, "v") >= 0) {
    channel = od_log_find(&log->plan, "v");
  } else {
    int time = od_log_time_column(log->log, 0);
    at = time == 0 ? 1 : 0;
    if (at >= head->columns) {
      od_fail(err, OD_BAD_INPUT, "%s has only a time column; expected a time column and a column of speeds",
              log->plan.file);
      return -1;
    }
    channel = od_log_want_column(&log->plan, log->log, 0, at, NULL);
  }
  if (channel < 0) od_fail(err, OD_NO_MEMORY, "out of memory");
  return channel;
}

// Copies times and speeds. Every row must have a speed. Fails with OD_BAD_INPUT.
static od_status take_rows(const od_whole_log *log, int speed, od_driven_log *out, od_error *err) {
  const od_table *t = log->table;
  for (long i = 0; i < t->rows; i++) {
    const double *row = t->data + i * t->columns;
    out->t[i] = row[0], out->v[i] = row[1 + speed];
    if (!isfinite(out->v[i]))
      return od_fail(err, OD_BAD_INPUT, "%s, row %ld: '%s' must have a speed in every row", log->plan.file, i + 1,
                     t->name[1 + speed]);
  }
  out->count = (int)t->rows;
  out->times = log->times;
  snprintf(out->speed, sizeof out->speed, "%.60s", t->name[1 + speed]);
  return OD_OK;
}

// Reads the log: opens the file, chooses the columns, and reads all rows. Fails with OD_BAD_INPUT, OD_IO or OD_NO_MEMORY.
static od_status read_log(const od_log_settings *settings, const char *column, const char *const *factors,
                          int factor_count, const od_friction_law *law, od_driven_log *out, od_messages *messages,
                          od_error *err) {
  OD_SCOPED(od_whole_log_free) od_whole_log log = {0};
  OD_SCRATCH(scratch);
  factor *f = OD_TAKE(&scratch, factor, factor_count + 1);
  if (!f) return od_fail(err, OD_NO_MEMORY, "out of memory");
  od_status status = od_whole_log_open(settings, NULL, &log, messages);
  if (status != OD_OK) return status;
  int speed = choose_speed(&log, column, err);
  if (speed < 0) return err->status;
  for (int i = 0; status == OD_OK && i < factor_count; i++) status = read_factor(&log.plan, factors[i], &f[i], err);
  if (status == OD_OK) status = od_whole_log_load(&log, messages);
  if (status != OD_OK) return status;
  if (log.table->rows > 100000000)
    return od_fail(err, OD_BAD_INPUT, "%s has %ld rows; expected at most 100 million rows", log.plan.file,
                   log.table->rows);
  out->t = OD_TAKE(&out->arena, double, log.table->rows);
  out->v = OD_TAKE(&out->arena, double, log.table->rows);
  out->signal = factor_count > 0 ? OD_TAKE(&out->arena, double, log.table->rows) : NULL;
  if (od_arena_status(&out->arena) != OD_OK) return od_fail(err, OD_NO_MEMORY, "out of memory");
  for (long i = 0; out->signal && i < log.table->rows; i++) out->signal[i] = 1;
  bool positive = law->element->fields[od_friction_law_follows(law)].sign == OD_POSITIVE;
  for (int i = 0; status == OD_OK && i < factor_count; i++)
    status = apply_factor(&log, &f[i], positive, out->signal, err);
  return status == OD_OK ? take_rows(&log, speed, out, err) : status;
}

od_status od_driven_log_read(const od_log_settings *settings, const char *column, const char *const *factors,
                             int factor_count, const od_friction_law *law, od_driven_log *out, od_error *err) {
  OD_OWNED(od_messages_free) od_messages *messages = od_messages_new();
  *out = (od_driven_log){0};
  if (!messages) return od_fail(err, OD_NO_MEMORY, "out of memory");
  od_status status = read_log(settings, column, factors, factor_count, law, out, messages, err);
  if (status != OD_OK && !err->text[0]) od_messages_to_error(messages, status, err);
  return status == OD_IO ? OD_BAD_INPUT : status;
}

void od_driven_log_free(od_driven_log *log) {
  od_arena_free(&log->arena);
  *log = (od_driven_log){0};
}
