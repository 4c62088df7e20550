#include "machine/input_series.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "io/display.h"
#include "io/json.h"
#include "io/plot.h"
#include "machine/machine.h"
#include "machine/machine_result.h"

enum { MOST_TIMES = 100000, ASK = 4096 };
static const double default_step = 1e-3;

void od_input_series_free(od_input_series *f) {
  for (int i = 0; i < f->inputs; i++) {
    if (f->breaks) free(f->breaks[i].at);
    if (f->reversals) free(f->reversals[i].at);
  }
  free(f->breaks);
  free(f->reversals);
  od_table_free(f->table);
  *f = (od_input_series){0};
}

void od_input_series_usual_times(const od_machine *machine, double *time, double *step) {
  const od_run_defaults *run = od_machine_run(machine);
  *time = run->time;
  for (int i = 0; !(run->time > 0) && i < od_machine_input_count(machine); i++) {
    double end = od_machine_input_duration(machine, i);
    if (isfinite(end)) *time = fmax(*time, end);
  }
  *step = run->step > 0 ? run->step : run->rows > 0 ? run->rows : default_step;
}

static bool add_time(od_input_times *list, double t) {
  if (list->count % 64 == 0) {
    double *grown = realloc(list->at, (size_t)(list->count + 64) * sizeof *grown);
    if (!grown) return false;
    list->at = grown;
  }
  list->at[list->count++] = t;
  return true;
}

static bool find_times(od_input_series *f, int input) {
  od_input_times *b = &f->breaks[input], *r = &f->reversals[input];
  bool ok = true;
  // A break at the start counts.
  for (double t = od_machine_input_next_break(f->machine, input, -1e-9); ok && t <= f->time;
       t = od_machine_input_next_break(f->machine, input, t)) {
    b->is_cut = b->count == MOST_TIMES;
    if (b->is_cut) break;
    ok = add_time(b, t);
  }
  for (double t = 0; ok && (t = od_machine_input_next_reversal(f->machine, input, t, f->time)) <= f->time;) {
    r->is_cut = r->count == MOST_TIMES;
    if (r->is_cut) break;
    ok = add_time(r, t);
  }
  return ok;
}

static od_status make_table(od_input_series *f) {
  f->table = od_table_new(1 + 2 * f->inputs);
  od_status status = f->table ? od_table_label(f->table, 0, "time", "s") : OD_NO_MEMORY;
  for (int i = 0; i < f->inputs && status == OD_OK; i++) {
    char name[400], rate[120];
    const char *unit = od_machine_input_unit(f->machine, i);
    snprintf(name, sizeof name, "%.380s.slope", od_machine_input_name(f->machine, i));
    od_rate_unit(unit, 1, rate, sizeof rate);
    status = od_table_label(f->table, 1 + 2 * i, od_machine_input_name(f->machine, i), unit);
    if (status == OD_OK) status = od_table_label(f->table, 2 + 2 * i, name, rate);
  }
  return status;
}

static od_status fill_table(od_input_series *f, bool (*progress)(void *user, double done), void *user) {
  double *row = calloc((size_t)(1 + 2 * f->inputs), sizeof *row), *u = calloc((size_t)f->inputs + 1, sizeof *u);
  od_status status = row && u ? make_table(f) : OD_NO_MEMORY;
  long rows = (long)floor(f->time / f->step * (1 + 1e-12)) + 1;
  for (long k = 0; k < rows && status == OD_OK; k++) {
    double t = (double)k * f->step;
    if (k % ASK == 0 && !progress(user, (double)k / (double)rows)) status = OD_INTERRUPTED;
    od_machine_inputs(f->machine, t, u);
    row[0] = t;
    for (int i = 0; i < f->inputs; i++) {
      row[1 + 2 * i] = u[i];
      row[2 + 2 * i] = od_machine_input_derivative(f->machine, i, t, 1);
    }
    if (status == OD_OK) status = od_table_append(f->table, row);
  }
  free(row);
  free(u);
  return status;
}

od_status od_input_series_find(od_input_series *f, bool (*progress)(void *user, double done), void *user) {
  f->inputs = od_machine_input_count(f->machine);
  f->breaks = calloc((size_t)f->inputs + 1, sizeof *f->breaks);
  f->reversals = calloc((size_t)f->inputs + 1, sizeof *f->reversals);
  bool ok = f->breaks && f->reversals;
  for (int i = 0; ok && i < f->inputs; i++) ok = find_times(f, i);
  return ok ? fill_table(f, progress, user) : OD_NO_MEMORY;
}

// --- Result -------------------------------------------------------------------------------------------------------------

static void add_count(od_result_table *t, const od_input_times *list) {
  char text[40];
  snprintf(text, sizeof text, "%s%d", list->is_cut ? "more than " : "", list->count);
  od_result_cell_text(t, text);
}

od_result od_input_series_result(const od_input_series *s) {
  static const od_result_column columns[] = {{"name", "input", OD_CELL_TEXT},  {"unit", "unit", OD_CELL_UNIT},
                                             {"min", "min", OD_CELL_NUMBER},   {"max", "max", OD_CELL_NUMBER},
                                             {NULL, "breaks", OD_CELL_TEXT},   {NULL, "reversals", OD_CELL_TEXT},
                                             {"ends_at", NULL, OD_CELL_PLAIN}, {NULL, "ends at", OD_CELL_TEXT}};
  od_result r = od_machine_result("Inputs", s->machine);
  od_result_number(&r, "time", s->time);
  od_result_heading(&r, "%.200s: inputs over %s", r.title, od_duration_text(s->time, 6).text);
  od_result_table *t = od_result_add_table(&r, "inputs", columns, 8);
  for (int i = 0; i < s->inputs; i++) {
    od_summary values = od_table_summary(s->table, 1 + 2 * i);
    double end = od_machine_input_duration(s->machine, i);
    od_result_add_row(t, od_machine_input_unit(s->machine, i), fmax(fabs(values.min), fabs(values.max)));
    od_result_cell_text(t, od_machine_input_name(s->machine, i));
    od_result_cell(t, values.min);
    od_result_cell(t, values.max);
    add_count(t, &s->breaks[i]);
    add_count(t, &s->reversals[i]);
    od_result_cell(t, end);
    od_result_cell_text(t, isinf(end) ? "never" : od_duration_text(end, 6).text);
    od_result_row_set(t, "breaks", od_json_numbers(s->breaks[i].at, s->breaks[i].count, 1));
    od_result_row_set(t, "reversals", od_json_numbers(s->reversals[i].at, s->reversals[i].count, 1));
    od_result_row_set(t, "complete", json_boolean(!s->breaks[i].is_cut && !s->reversals[i].is_cut));
  }
  return r;
}

od_status od_input_series_write_plot(const void *user, const char *path, od_error *err) {
  const od_input_series *f = user;
  return od_plot_write(f->table, NULL, od_machine_caption(f->machine), od_machine_file(f->machine), path, err);
}
