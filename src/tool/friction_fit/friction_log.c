// Measured friction from logs: columns in SI units, and the friction force from pressures, load cell and acceleration:
//   F = p1 A1 - p2 A2 - load - m a                                                       (eq. 6.10 of source 28)
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "document/suggest.h"
#include "document/units.h"
#include "friction_fit/friction_data.h"
#include "io/time_unit.h"
#include "io/wording.h"
#include "logs/log_table.h"
#include "memory/owned.h"

enum { PARTS = 10, MOST_COLUMNS = 9 };

typedef struct reader {
  const char *path;
  od_table *table;
  od_units *units;
  od_error *err;
  long first;      // first row in which all columns have a number
  bool is_of_log;  // whether the table is a log, whose first column is the time in s
} reader;

// A column of the log and the SI unit in which the column is needed.
typedef struct needed {
  const char *name, *unit;
} needed;

static int find_column(const reader *r, const char *name) {
  od_nearest nearest = od_nearest_to(name);
  for (int i = 0; i < r->table->columns; i++) {
    if (strcmp(r->table->name[i], name) == 0) return i;
    od_nearest_try(&nearest, r->table->name[i]);
  }
  od_fail(r->err, OD_BAD_INPUT, "%s: there is no column '%s'%s", r->path, name,
          od_nearest_suggestion(&nearest, NULL).text);
  return -1;
}

// Reads a column in an SI unit. Returns false after an error.
static bool read_column(const reader *r, const char *name, const char *si, double *out) {
  int column = find_column(r, name);
  if (column < 0) return false;
  const char *unit = r->table->unit[column] ? r->table->unit[column] : "";
  od_conversion in_si;
  if (od_units_conversion(r->units, unit, si, &in_si) != OD_UNIT_FITS) {
    od_fail(r->err, OD_BAD_INPUT, "%s: the column '%s' has the unit '%s'; expected a unit that can be converted to %s",
            r->path, name, unit, si);
    return false;
  }
  for (long i = r->first; i < r->table->rows; i++) {
    double *value = &out[i - r->first];
    *value = od_convert(&in_si, r->table->data[i * r->table->columns + column]);
    if (isfinite(*value)) continue;
    od_fail(r->err, OD_BAD_INPUT, "%s: the column '%s' has no number in row %ld; resample or shorten the log", r->path,
            name, i + 1);
    return false;
  }
  return true;
}

static int by_size(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

// Estimates the standard deviation of the noise of a smooth signal from second differences, which have six times the variance of
// the noise. The median excludes samples with large curvature. Returns 0 for fewer than 8 samples or if an allocation fails.
static double noise_of(int count, const double *x) {
  if (count < 8) return 0;
  OD_SCRATCH(scratch);
  double *difference = OD_TAKE(&scratch, double, count);
  if (!difference) return 0;
  for (int i = 0; i + 2 < count; i++) difference[i] = fabs(x[i] - 2 * x[i + 1] + x[i + 2]);
  qsort(difference, (size_t)count - 2, sizeof *difference, by_size);
  return difference[(count - 2) / 2] / (0.6745 * sqrt(6));
}

// --- Force balance (eq. 6.10) -------------------------------------------------------------------------------------

static double root_mean_square(int count, const double *x) {
  double sum = 0;
  for (int i = 0; i < count; i++) sum += x[i] * x[i];
  return sqrt(sum / count);
}

// Computes the acceleration as the slope of a line through five samples.
static void differentiate(int count, const double *t, const double *v, double *a) {
  for (int i = 0; i < count; i++) {
    int first = i - 2 < 0 ? 0 : i - 2, last = i + 2 >= count ? count - 1 : i + 2, n = last - first + 1;
    double mean_t = 0, mean_v = 0, up = 0, down = 0;
    for (int k = first; k <= last; k++) mean_t += t[k] / n, mean_v += v[k] / n;
    for (int k = first; k <= last; k++) up += (t[k] - mean_t) * (v[k] - mean_v), down += pow(t[k] - mean_t, 2);
    a[i] = down > 0 ? up / down : 0;
  }
}

// Computes the friction force and its noise, and the error budget with the error of each term.
static od_status balance(const reader *r, const od_force_balance *b, od_friction_data *d) {
  OD_SCRATCH(scratch);
  double *p[2] = {OD_TAKE(&scratch, double, d->samples), OD_TAKE(&scratch, double, d->samples)};
  double *load = OD_TAKE(&scratch, double, d->samples), *a = OD_TAKE(&scratch, double, d->samples);
  if (od_arena_status(&scratch) != OD_OK) return od_fail(r->err, OD_NO_MEMORY, "out of memory");
  if (!read_column(r, b->pressure[0], "Pa", p[0]) || !read_column(r, b->pressure[1], "Pa", p[1])) return OD_BAD_INPUT;
  if (b->load && !read_column(r, b->load, "N", load)) return OD_BAD_INPUT;
  if (b->acceleration && !read_column(r, b->acceleration, "m/s2", a)) return OD_BAD_INPUT;
  if (!b->acceleration) differentiate(d->samples, d->t, d->v, a);
  for (int i = 0; i < d->samples; i++)
    d->force[i] = p[0][i] * b->area[0] - p[1][i] * b->area[1] - load[i] - b->mass * a[i];
  od_force_budget *g = &d->budget;
  double of_area[2];
  for (int i = 0; i < 2; i++) of_area[i] = root_mean_square(d->samples, p[i]) * b->area[i] * b->area_sigma;
  g->known = true;
  g->pressure = b->pressure_sigma * hypot(b->area[0], b->area[1]);
  g->load = b->load_sigma;
  // The slope of a line through five samples has the variance v / (10 h^2): v is the variance of a sample, and h the sampling
  // interval.
  double step = (d->t[d->samples - 1] - d->t[0]) / (d->samples - 1);
  double slope_sigma = b->acceleration ? 0 : noise_of(d->samples, d->v) / (sqrt(10) * step);
  g->acceleration = b->mass * hypot(b->acceleration_sigma, slope_sigma);
  g->area = hypot(of_area[0], of_area[1]);
  g->mass = b->mass * b->mass_sigma * root_mean_square(d->samples, a);
  // Errors of areas and mass are constant over the samples. These errors are not noise, but part of the error of the
  // force.
  d->noise = sqrt(pow(g->pressure, 2) + pow(g->load, 2) + pow(g->acceleration, 2));
  g->total = sqrt(pow(d->noise, 2) + pow(g->area, 2) + pow(g->mass, 2));
  return OD_OK;
}

// --- Logs ---------------------------------------------------------------------------------------------------------

// Lists the columns of a run; names may be NULL. Returns the number of columns.
static int list_columns(const od_friction_log *log, needed list[MOST_COLUMNS]) {
  const od_force_balance *b = &log->balance;
  const needed all[MOST_COLUMNS] = {{log->slope > 0  ? NULL
                                     : log->velocity ? log->velocity
                                                     : "velocity",
                                     "m/s"},
                                    {log->position, "m"},
                                    {!b->given ? (log->force ? log->force : "force") : NULL, "N"},
                                    {b->given ? b->pressure[0] : NULL, "Pa"},
                                    {b->given ? b->pressure[1] : NULL, "Pa"},
                                    {b->given ? b->load : NULL, "N"},
                                    {b->given ? b->acceleration : NULL, "m/s2"},
                                    {log->pressure[0], "Pa"},
                                    {log->pressure[1], "Pa"}};
  memcpy(list, all, sizeof all);
  return MOST_COLUMNS;
}

// Finds the first complete row. Earlier rows are left out, because loggers may start before their sensors. The columns
// of `pressures` need not be complete.
static void find_first_row(reader *r, const od_friction_log *log) {
  needed list[MOST_COLUMNS];
  const od_table *t = r->table;
  int count = list_columns(log, list) - 2;
  for (int k = 0; k < count; k++)
    for (int column = 0; list[k].name && column < t->columns; column++) {
      if (strcmp(t->name[column], list[k].name) != 0) continue;
      long first = 0;
      while (first < t->rows && !isfinite(t->data[first * t->columns + column])) first++;
      if (first < t->rows && first > r->first) r->first = first;
    }
}

// Returns the longest time for which the speed has the same value in at least four samples and then reverses or becomes
// zero, like the reading of an encoder between two edges. 0: no such time.
static double longest_hold(int count, const double *t, const double *v) {
  double longest = 0;
  for (int i = 0, first = 0; i < count; i++) {
    if (v[i] == v[first]) continue;
    if (i - first >= 4 && v[first] != 0 && v[i] * v[first] <= 0) longest = fmax(longest, t[i] - t[first]);
    first = i;
  }
  return longest;
}

// Computes the speed as the slope of a parabola through the positions in a window of `half` samples on either side. Near the ends, the
// window is narrower; at the ends, the speed is the difference of two positions. The samples are evenly spaced by `step`, s.
static void find_slopes(int count, int half, double step, const double *x, double *v) {
  for (int i = 0; i < count; i++) {
    int m = half < i ? half : i;
    if (count - 1 - i < m) m = count - 1 - i;
    double sum = 0, squares = m * (m + 1.0) * (2.0 * m + 1) / 3;
    for (int k = 1; k <= m; k++) sum += k * (x[i + k] - x[i - k]);
    v[i] = m > 0 ? sum / (squares * step) : 0;
  }
  if (count < 2) return;
  v[0] = (x[1] - x[0]) / step;
  v[count - 1] = (x[count - 1] - x[count - 2]) / step;
}

// Returns a new array with the samples of a column; NULL after an error. The run's data own the array.
static double *take_column(const reader *r, const char *name, const char *si, od_friction_data *d) {
  double *column = OD_TAKE(&d->run_arena, double, d->samples);
  if (!column) od_fail(r->err, OD_NO_MEMORY, "out of memory");
  return column && read_column(r, name, si, column) ? column : NULL;
}

// Reads the columns of a log as a run: time, speed (or the slope of the position), pressures, and the force or its balance.
// Estimates the noise. Fails with OD_BAD_INPUT or OD_NO_MEMORY.
static od_status read_run(reader *r, const od_friction_plan *plan, od_friction_data *d) {
  const od_friction_log *log = &plan->log;
  const char *velocity = log->velocity ? log->velocity : "velocity";
  find_first_row(r, log);
  if (r->table->rows - r->first < 2)
    return od_fail(
        r->err, OD_BAD_INPUT,
        "%s: the first row with numbers in all columns is row %ld; expected at least one more row after this row",
        r->path, r->first + 1);
  int time = r->is_of_log ? 0 : log->time ? find_column(r, log->time) : od_table_find_time(r->table);
  if (time < 0)
    return log->time ? OD_BAD_INPUT
                     : od_fail(r->err, OD_BAD_INPUT,
                               "%s: no time column was found; name the time column with the key 'time'", r->path);
  if (od_friction_data_take_run(d, (int)(r->table->rows - r->first), false) != OD_OK)
    return od_fail(r->err, OD_NO_MEMORY, "out of memory");
  if (!read_column(r, r->table->name[time], "s", d->t)) return OD_BAD_INPUT;
  if (log->slope == 0 && !read_column(r, velocity, "m/s", d->v)) return OD_BAD_INPUT;
  if (log->position && !(d->position = take_column(r, log->position, "m", d))) return r->err->status;
  for (int i = 1; i < d->samples; i++)
    if (!(d->t[i] > d->t[i - 1]))
      return od_fail(
          r->err, OD_BAD_INPUT,
          "%s: the time of sample %d is not later than the time of the previous sample; expected increasing times",
          r->path, i + 1);
  double step = (d->t[d->samples - 1] - d->t[0]) / (d->samples - 1);
  od_time_ambiguity ambiguity = {.text = ""};
  if (!r->is_of_log) ambiguity = od_time_ambiguity_of(r->table->name[time], r->table->unit[time], r->path, step, NULL);
  if (!od_time_ambiguity_remark(&ambiguity, &d->of_truth)) return od_fail(r->err, OD_NO_MEMORY, "out of memory");
  for (int i = 0; i < 2 && (log->pressure[0] || log->balance.given); i++) {
    d->pressure[i] = take_column(r, log->pressure[0] ? log->pressure[i] : log->balance.pressure[i], "Pa", d);
    if (!d->pressure[i]) return r->err->status;
    for (int k = 0; k < d->samples; k++) d->pressure[i][k] -= plan->normal[i];
  }
  if (log->slope > 0) {
    int half = (int)fmin(round(log->slope / step / 2), d->samples);
    if (half < 1)
      return od_fail(r->err, OD_BAD_INPUT, "%s: 'slope' is %g s; expected at least the time between two samples, %g s",
                     r->path, log->slope, step);
    find_slopes(d->samples, half, step, d->position, d->v);
  }
  // The noise of a slope is not independent from sample to sample, so its effect is not estimated.
  d->speed_noise = log->slope > 0 ? 0 : noise_of(d->samples, d->v);
  d->held = longest_hold(d->samples, d->t, d->v);
  d->smoothed = (int)round(log->smooth / step / 2);
  if (od_smooth(d->samples, d->smoothed, d->v) != OD_OK) return od_fail(r->err, OD_NO_MEMORY, "out of memory");
  od_status status = OD_OK;
  if (log->balance.given)
    status = balance(r, &log->balance, d);
  else if (!read_column(r, log->force ? log->force : "force", "N", d->force))
    status = OD_BAD_INPUT;
  if (!log->balance.given || d->noise == 0) d->noise = noise_of(d->samples, d->force);
  if (plan->noise > 0) d->noise = plan->noise;
  d->parts = PARTS;
  for (int i = 0; i < d->samples; i++) d->part[i] = (int)((long)i * PARTS / d->samples);
  return status;
}

od_status od_friction_table_take(const od_friction_plan *plan, od_table *table, const char *path, od_friction_data *d,
                                 od_error *err) {
  reader r = {.path = path, .table = table, .units = od_units_new(err), .err = err};
  if (!r.units) return err->status;
  od_status status = read_run(&r, plan, d);
  od_units_free(r.units);
  return status;
}

// --- Files --------------------------------------------------------------------------------------------------------

// Reads the named columns of a log as a table in SI units. Names may be NULL. time: name of the time column; NULL: found by its
// name. without_time: the rows have no order in time.
static od_status read_file(const char *path, const od_log_settings *settings, const needed *list, int count,
                           const char *time, bool without_time, od_whole_log *log, od_messages *messages) {
  od_log_settings own = *settings;
  if (own.data.count == 0 || strcmp(path, own.data.text[0]) != 0) own.data = (od_log_texts){&path, 1};
  od_status status = od_whole_log_begin(&own, NULL, log, messages);
  if (status != OD_OK) return status;
  od_log_plan *plan = &log->plan;
  if (time && !plan->time.column && !(plan->interval > 0)) plan->time.column = time;
  if (without_time) plan->interval = 1;
  status = od_log_open(plan, &log->log, messages);
  if (status != OD_OK) return status;
  for (int i = 0; i < count; i++)
    if (list[i].name && od_log_want_named(plan, list[i].name, list[i].unit, (od_place){.file = path}) < 0)
      return OD_NO_MEMORY;
  status = od_whole_log_load(log, messages);
  if (status != OD_OK) return status;
  const od_table *t = log->table;
  if (t->rows >= 2 && t->rows <= 100000000) return OD_OK;
  od_messages_add(messages, (od_place){.file = path}, "found %s, expected 2 to 100 million rows",
                  od_count(t->rows, "row").text);
  return OD_BAD_INPUT;
}

// Columns of the table have the names of the channels, not the labels.
static void label_by_channels(const od_whole_log *log) {
  for (int i = 0; i < log->plan.channels; i++)
    (void)od_table_label(log->table, i + 1, log->plan.channel[i].name, log->plan.channel[i].unit);
}

od_status od_friction_log_read(const od_friction_plan *plan, od_friction_data *d, od_error *err) {
  OD_OWNED(od_messages_free) od_messages *messages = od_messages_new();
  OD_SCOPED(od_whole_log_free) od_whole_log log = {0};
  needed list[MOST_COLUMNS];
  if (!messages) return od_fail(err, OD_NO_MEMORY, "out of memory");
  int count = list_columns(&plan->log, list);
  od_status status = read_file(plan->log.file, &plan->settings, list, count, plan->log.time, false, &log, messages);
  if (status != OD_OK) return od_messages_to_error(messages, status == OD_IO ? OD_BAD_INPUT : status, err);
  label_by_channels(&log);
  reader r = {.path = plan->log.file, .table = log.table, .units = log.units, .err = err, .is_of_log = true};
  if (!od_time_facts_remark(&log.times, &d->of_truth)) return od_fail(err, OD_NO_MEMORY, "out of memory");
  return read_run(&r, plan, d);
}

od_status od_points_log_read(const od_friction_plan *plan, od_friction_data *d, od_error *err) {
  const od_friction_points *p = &plan->points;
  OD_OWNED(od_messages_free) od_messages *messages = od_messages_new();
  OD_SCOPED(od_whole_log_free) od_whole_log log = {0};
  const char *velocity = p->velocity ? p->velocity : "velocity", *force = p->force ? p->force : "force";
  if (!messages) return od_fail(err, OD_NO_MEMORY, "out of memory");
  const needed list[] = {{velocity, "m/s"}, {force, "N"}, {p->sigma, "N"}};
  // Options of a plan with a run apply to the run.
  const od_log_settings settings = plan->log.file ? (od_log_settings){0} : plan->settings;
  od_status status = read_file(p->log, &settings, list, 3, NULL, true, &log, messages);
  if (status != OD_OK) return od_messages_to_error(messages, status == OD_IO ? OD_BAD_INPUT : status, err);
  label_by_channels(&log);
  reader r = {.path = p->log, .table = log.table, .units = log.units, .err = err};
  if (od_friction_data_take_points(d, (int)log.table->rows) != OD_OK)
    return od_fail(err, OD_NO_MEMORY, "out of memory");
  bool ok = read_column(&r, velocity, "m/s", d->points.v) && read_column(&r, force, "N", d->points.force) &&
            (!p->sigma || read_column(&r, p->sigma, "N", d->points.sigma));
  return ok ? OD_OK : OD_BAD_INPUT;
}
