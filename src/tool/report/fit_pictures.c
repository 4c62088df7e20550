// Pictures of fits: measured and predicted signals, measured and predicted frequency responses, the search, and friction laws over
// pressures and runs.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "frequency/frequency_pictures.h"
#include "io/search_history.h"
#include "memory/scoped.h"
#include "report/fit_result.h"
#include "report/friction_result.h"

enum { MOST_PANELS = 24 };

static bool can_be_drawn(const od_fitted *f, int set, int sensor) {
  const od_fit_set_result *s = &f->set[set];
  return f->table && s->predicted == OD_OK && s->fitted_quality[sensor].samples + s->unseen_quality[sensor].samples > 0;
}

static void name_signal(const od_fitted *f, int set, int sensor, char *text, size_t size) {
  snprintf(text, size, f->sets > 1 ? "%.120s in %.100s" : "%.120s", f->plan->e->sensor[sensor].name, f->set[set].name);
}

void od_picture_add_fit(od_picture *p, const od_fitted *f) {
  int drawn = 0;
  for (int set = 0; set < f->sets; set++)
    for (int i = 0; i < f->plan->e->sensors; i++) {
      if (!can_be_drawn(f, set, i) || drawn++ >= MOST_PANELS) continue;
      od_fit_rows rows = od_fit_rows_of(f, set);
      int columns = f->table->columns;
      char title[300];
      name_signal(f, set, i, title, sizeof title);
      od_panel *panel = od_picture_add(
          p, (od_panel){.title = title, .x_name = "time", .x_unit = "s", .y_unit = f->plan->e->sensor[i].unit});
      od_series time = {rows.first + 1, rows.count, columns, 1};
      od_panel_add(p, panel,
                   (od_panel_line){.label = "measured",
                                   .as = OD_AS_POINTS,
                                   .x = time,
                                   .y = {rows.first + od_fit_column(f, i, OD_FIT_MEASURED), rows.count, columns, 1}});
      od_panel_add(p, panel,
                   (od_panel_line){.label = "predicted",
                                   .x = time,
                                   .y = {rows.first + od_fit_column(f, i, OD_FIT_PREDICTED), rows.count, columns, 1}});
    }
}

void od_picture_add_fit_search(od_picture *p, const od_fitted *f) {
  od_picture_add_history(p, f->history);
}

// --- Frequency responses ----------------------------------------------------------------------------------------------

// Returns the only input that varies in a set; -1: none, or several. Responses to several inputs at once cannot be separated.
static int only_input(const od_fitted *f, od_fit_rows rows, int inputs) {
  int found = -1;
  for (int i = 0; i < inputs; i++) {
    const double *u = rows.first + 2 + i;
    bool varies = false;
    for (long k = 1; k < rows.count && !varies; k++) varies = u[k * f->table->columns] != u[0];
    if (varies && found >= 0) return -1;
    if (varies) found = i;
  }
  return found;
}

// Returns the time between the rows of a set; NAN: the rows are not evenly spaced.
static double even_step(const od_fitted *f, od_fit_rows rows) {
  double begin = rows.first[1], end = rows.first[(rows.count - 1) * f->table->columns + 1];
  double step = (end - begin) / (double)(rows.count - 1);
  for (long k = 0; k < rows.count; k++)
    if (fabs(rows.first[k * f->table->columns + 1] - begin - (double)k * step) > 0.01 * step) return NAN;
  return step > 0 ? step : NAN;
}

static double mean_of(const double *first, long count, int columns) {
  double sum = 0;
  for (long k = 0; k < count; k++) sum += first[k * columns];
  return sum / (double)count;
}

// Estimates the responses of the measured and the predicted signal to the input, by averaged spectra. NULL: a value is missing, or
// out of memory.
static od_frf *estimate(od_picture *p, const od_fitted *f, od_fit_rows rows, int input, int sensor, double step) {
  OD_OWNED(od_spectra_free) od_spectra *s = NULL;
  od_frf *frf = NULL;
  int columns = f->table->columns,
      at[3] = {2 + input, od_fit_column(f, sensor, OD_FIT_MEASURED), od_fit_column(f, sensor, OD_FIT_PREDICTED)};
  double mean[3];
  od_spectra_options o = {.step = step, .overlap = 0.5, .window = OD_WINDOW_HANN, .length = 16};
  while (o.length < 65536 && 2 * o.length * 8L <= rows.count) o.length *= 2;
  for (int i = 0; i < 3; i++) mean[i] = mean_of(rows.first + at[i], rows.count, columns);
  if (!isfinite(mean[0] + mean[1] + mean[2])) return NULL;
  if (od_spectra_new(&o, 2, &s, NULL) != OD_OK) {
    p->arena.exhausted = true;
    return NULL;
  }
  for (long k = 0; k < rows.count; k++) {
    const double *row = rows.first + k * columns, y[2] = {row[at[1]] - mean[1], row[at[2]] - mean[2]};
    od_spectra_add(s, row[at[0]] - mean[0], y);
  }
  return od_spectra_end(s, &frf, NULL) == OD_OK ? frf : NULL;
}

// Keeps the frequencies at which the input explains most of the measured signal; other values are noise. Returns their number.
static int keep_coherent(od_frf *frf) {
  static const double least_coherence = 0.5;
  int kept = 0;
  for (int i = 0; i < frf->points; i++) {
    if (!(frf->coherence[i] >= least_coherence) || !(frf->frequency[i] > 0)) continue;
    frf->frequency[kept] = frf->frequency[i];
    frf->freedom[kept] = frf->freedom[i];
    for (int k = 0; k < 2; k++) {
      frf->value[k * frf->points + kept] = frf->value[k * frf->points + i];
      frf->sigma[k * frf->points + kept] = frf->sigma[k * frf->points + i];
      frf->coherence[k * frf->points + kept] = frf->coherence[k * frf->points + i];
    }
    kept++;
  }
  return kept;
}

static void add_response(od_picture *p, const od_fitted *f, int set, int input, int sensor, double step) {
  od_fit_rows rows = od_fit_rows_of(f, set);
  OD_OWNED(od_frf_free) od_frf *frf = estimate(p, f, rows, input, sensor, step);
  if (!frf) return;
  int all = frf->points, kept = keep_coherent(frf);
  double _Complex *fitted = OD_TAKE(&p->arena, double _Complex, kept);
  if (kept < 4 || !fitted) return;
  for (int i = 0; i < kept; i++) fitted[i] = frf->value[all + i];
  frf->points = kept;
  char name[400], unit[120];
  name_signal(f, set, sensor, name, sizeof name);
  size_t used = strlen(name);
  snprintf(name + used, sizeof name - used, " over %.100s", od_machine_input_name(f->plan->e->model, input));
  snprintf(unit, sizeof unit, "%.50s per %.50s", f->plan->e->sensor[sensor].unit,
           od_machine_input_unit(f->plan->e->model, input));
  od_picture_add_response(p, &(od_drawn_response){.frf = frf,
                                                  .output = 0,
                                                  .name = name,
                                                  .label = "measured",
                                                  .unit = unit,
                                                  .fitted = fitted,
                                                  .fitted_label = "predicted"});
}

void od_picture_add_fit_responses(od_picture *p, const od_fitted *f) {
  enum { LEAST_ROWS = 256 };
  int inputs = od_machine_input_count(f->plan->e->model), drawn = 0;
  for (int set = 0; f->table && set < f->sets; set++) {
    od_fit_rows rows = od_fit_rows_of(f, set);
    int input = rows.count >= LEAST_ROWS ? only_input(f, rows, inputs) : -1;
    double step = input >= 0 ? even_step(f, rows) : NAN;
    for (int i = 0; isfinite(step) && i < f->plan->e->sensors; i++)
      if (can_be_drawn(f, set, i) && drawn++ < MOST_PANELS / 2) add_response(p, f, set, input, i, step);
  }
}

// --- Friction ---------------------------------------------------------------------------------------------------------

void od_picture_add_pressure_map(od_picture *p, const od_pressure_map *m) {
  enum { MOST_GROUPS = 8 };
  double *xy = OD_TAKE(&p->arena, double, (long)(2 * m->parameters + 1) * m->pairs);
  if (!xy) return;
  // Points of one curve have the same second pressure. Pairs with the same second pressure are stored one after another.
  int *order = OD_TAKE(&p->arena, int, m->pairs), groups = 0, filled = 0;
  int begin[MOST_GROUPS + 1] = {0};
  if (!order) return;
  for (int k = 0; k < m->pairs; k++) {
    bool is_new = true;
    for (int i = 0; i < k; i++) is_new = is_new && m->pressure[i][1] != m->pressure[k][1];
    if (!is_new || groups == MOST_GROUPS) continue;
    for (int i = 0; i < m->pairs; i++)
      if (m->pressure[i][1] == m->pressure[k][1]) order[filled++] = i;
    begin[++groups] = filled;
  }
  double *x = xy + (long)2 * m->parameters * m->pairs;
  for (int i = 0; i < filled; i++) x[i] = m->pressure[order[i]][0];
  for (int k = 0; k < m->parameters; k++) {
    const od_map_parameter *q = &m->parameter[k];
    double *y = xy + (long)2 * k * m->pairs, *half = y + m->pairs;
    for (int i = 0; i < filled; i++)
      y[i] = q->estimate[order[i]], half[i] = isfinite(q->error[order[i]]) ? 1.96 * q->error[order[i]] : (double)NAN;
    od_panel *panel = od_picture_add(p, (od_panel){.title = q->key,
                                                   .note = "estimates with 95 % intervals",
                                                   .x_name = "p1",
                                                   .x_unit = "Pa",
                                                   .y_unit = q->unit});
    for (int g = 0; g < groups; g++) {
      char label[120];
      int first = begin[g], count = begin[g + 1] - begin[g];
      snprintf(label, sizeof label, "p2 = %s", od_display_quantity(m->pressure[order[first]][1], "Pa").text);
      od_panel_add(p, panel,
                   (od_panel_line){.label = label,
                                   .as = OD_AS_POINTS,
                                   .x = {x + first, count, 1, 1},
                                   .y = {y + first, count, 1, 1},
                                   .half = {half + first, count, 1, 1}});
    }
  }
}

void od_picture_add_friction_series(od_picture *p, const od_friction_series *s) {
  double *x = OD_TAKE(&p->arena, double, s->runs);
  for (int i = 0; x && i < s->runs; i++) x[i] = i + 1;
  for (int k = 0; x && k < s->parameters; k++) {
    const od_series_parameter *q = &s->parameter[k];
    od_panel *panel = od_picture_add(
        p, (od_panel){.title = q->key, .note = "estimates with 95 % intervals", .x_name = "run", .y_unit = q->unit});
    od_panel_add(p, panel,
                 (od_panel_line){.as = OD_AS_POINTS,
                                 .x = {x, s->runs, 1, 1},
                                 .y = {q->estimate, s->runs, 1, 1},
                                 .half = {q->sigma, s->runs, 1, 1.96}});
    od_panel_level(p, panel, q->mean, "mean");
    od_panel_level(p, panel, q->truth, "true value");
  }
}
