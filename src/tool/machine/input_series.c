#include "machine/input_series.h"

#include <math.h>
#include <stdio.h>

#include "io/display.h"
#include "io/json.h"
#include "io/plot.h"
#include "machine/machine.h"
#include "machine/machine_result.h"

enum { MOST_TIMES = 100000, PROGRESS_ROWS = 4096 };
static const double default_step = 1e-3;

void od_input_series_free(od_input_series *f) {
  od_arena_free(&f->arena);
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

// Adds a time. Returns false if the list already has MOST_TIMES times (then sets is_cut) or if an allocation fails.
static bool add_time(od_input_series *f, od_input_times *list, double t) {
  list->is_cut = list->count == MOST_TIMES;
  double *longer = list->is_cut ? NULL : od_arena_extend(&f->arena, list->at, list->count, sizeof *longer);
  if (!longer) return false;
  list->at = longer;
  list->at[list->count++] = t;
  return true;
}

// Creates the table with the labels of its columns. Fails with OD_NO_MEMORY.
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

od_status od_input_series_find(od_input_series *f, bool (*progress)(void *user, double done), void *user) {
  f->inputs = od_machine_input_count(f->machine);
  f->breaks = OD_TAKE(&f->arena, od_input_times, f->inputs);
  f->reversals = OD_TAKE(&f->arena, od_input_times, f->inputs);
  double *row = OD_TAKE(&f->arena, double, 1 + 2 * f->inputs), *u = OD_TAKE(&f->arena, double, f->inputs);
  for (int i = 0; i < f->inputs && !f->arena.exhausted; i++) {
    double t = od_machine_input_next_break(f->machine, i, -1e-9);  // -1e-9 s: includes a break at time zero
    while (t <= f->time && add_time(f, &f->breaks[i], t)) t = od_machine_input_next_break(f->machine, i, t);
    t = od_machine_input_next_reversal(f->machine, i, 0, f->time);
    while (t <= f->time && add_time(f, &f->reversals[i], t))
      t = od_machine_input_next_reversal(f->machine, i, t, f->time);
  }
  od_status status = f->arena.exhausted ? OD_NO_MEMORY : make_table(f);
  long rows = (long)floor(f->time / f->step * (1 + 1e-12)) + 1;
  for (long k = 0; k < rows && status == OD_OK; k++) {
    double t = (double)k * f->step;
    if (k % PROGRESS_ROWS == 0 && !progress(user, (double)k / (double)rows)) status = OD_INTERRUPTED;
    od_machine_inputs(f->machine, t, u);
    row[0] = t;
    for (int i = 0; i < f->inputs; i++) {
      row[1 + 2 * i] = u[i];
      row[2 + 2 * i] = od_machine_input_derivative(f->machine, i, t, 1);
    }
    if (status == OD_OK) status = od_table_append(f->table, row);
  }
  return status;
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
