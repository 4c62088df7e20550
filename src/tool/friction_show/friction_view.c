#define _DEFAULT_SOURCE  // M_PI
#include "friction_show/friction_view.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "friction_show/driven_log.h"
#include "io/contour_plot.h"
#include "io/display.h"
#include "io/json.h"
#include "io/plot.h"

enum { CURVE_POINTS = 501, LOOP_POINTS = 2000, LOOPS = 3 };

// Labels a column and assigns the column to a panel. If out of memory, od_friction_view_make() fails.
static void label(od_friction_view *out, int column, const char *name, const char *unit, int panel) {
  od_table_label(out->table, column, name, unit);
  out->panel[column] = panel;
}

// Shows the force of each variant over speeds from -v to v. Fails with OD_NO_MEMORY.
static od_status show_steady(const od_friction_request *w, od_friction_view *out) {
  double row[OD_MOST_VARIED + 2];
  out->table = od_table_new(1 + w->laws);
  if (!out->table) return OD_NO_MEMORY;
  label(out, 0, "speed", "m/s", 0);
  for (int k = 0; k < w->laws; k++) label(out, 1 + k, w->law[k].label, "N", 1);
  for (int i = 0; i < CURVE_POINTS; i++) {
    row[0] = w->speed * (2.0 * i / (CURVE_POINTS - 1) - 1);
    for (int k = 0; k < w->laws; k++) row[1 + k] = od_set_law_steady(&w->law[k], row[0]);
    if (od_table_append(out->table, row) != OD_OK) return OD_NO_MEMORY;
  }
  snprintf(out->title, sizeof out->title, "steady friction");
  return OD_OK;
}

// Shows each parameter times the derivative of the steady force with respect to this parameter, N. Fails with OD_NO_MEMORY.
static od_status show_sensitivity(const od_friction_request *w, od_friction_view *out) {
  const od_set_law *law = &w->law[0];
  int count = od_friction_law_numbers(law->law, law->two_sided);
  double row[OD_MOST_ELEMENT_FIELDS + 1];
  out->table = od_table_new(1 + count);
  if (!out->table) return OD_NO_MEMORY;
  label(out, 0, "speed", "m/s", 0);
  for (int k = 0; k < count; k++) label(out, 1 + k, law->law->element->fields[k].key, "N", 1 + k);
  for (int i = 0; i < CURVE_POINTS; i++) {
    row[0] = w->speed * (2.0 * i / (CURVE_POINTS - 1) - 1);
    for (int k = 0; k < count; k++) row[1 + k] = law->q[k] * od_set_law_steady_slope(law, row[0], k);
    if (od_table_append(out->table, row) != OD_OK) return OD_NO_MEMORY;
  }
  snprintf(out->title, sizeof out->title, "sensitivity of steady friction: parameter times derivative");
  return OD_OK;
}

// Shows the force in the last period of a sine over the speed, for increasing and for decreasing speed. Fails with OD_NOT_FINITE or OD_NO_MEMORY.
static od_status show_hysteresis(const od_friction_request *w, od_friction_view *out) {
  OD_SCRATCH(scratch);
  int count = LOOPS * LOOP_POINTS + 1, half = LOOP_POINTS / 2, begin = (LOOPS - 1) * LOOP_POINTS;
  double *t = OD_TAKE(&scratch, double, count), *v = OD_TAKE(&scratch, double, count), *force[OD_MOST_VARIED + 1];
  double row[2 * OD_MOST_VARIED + 4];
  for (int k = 0; k < w->laws; k++) force[k] = OD_TAKE(&scratch, double, count);
  out->table = od_table_new(2 + 2 * w->laws);
  if (!out->table || od_arena_status(&scratch) != OD_OK) return OD_NO_MEMORY;
  // The sine begins at the lowest speed, so that the speed increases in the first half period.
  for (int i = 0; i < count; i++) {
    int phase = i % LOOP_POINTS, mirrored = phase <= half ? phase : LOOP_POINTS - phase;
    t[i] = i / (w->frequency * LOOP_POINTS);
    v[i] = mirrored * 2 == half ? 0 : -w->speed * cos(M_PI * mirrored / half);
  }
  label(out, 0, "speed", "m/s", 0);
  label(out, 1, "steady", "N", 1);
  for (int k = 0; k < w->laws; k++) {
    char name[2][120];
    snprintf(name[0], sizeof name[0], "%s rising", w->law[k].label);
    snprintf(name[1], sizeof name[1], "%s falling", w->law[k].label);
    label(out, 2 + 2 * k, name[0], "N", 1);
    label(out, 3 + 2 * k, name[1], "N", 1);
    od_status status = od_set_law_drive(&w->law[k], count, t, v, NULL, force[k], NULL);
    if (status != OD_OK) return status;
  }
  for (int i = 0; i <= half; i++) {
    row[0] = v[begin + i], row[1] = od_set_law_steady(&w->law[0], row[0]);
    for (int k = 0; k < w->laws; k++)
      row[2 + 2 * k] = force[k][begin + i], row[3 + 2 * k] = force[k][begin + LOOP_POINTS - i];
    if (od_table_append(out->table, row) != OD_OK) return OD_NO_MEMORY;
  }
  snprintf(out->title, sizeof out->title, "friction under a sine of %g m/s at %g Hz", w->speed, w->frequency);
  return OD_OK;
}

// Shows force and film over time for a given speed. If `signal` is not NULL, also shows the multiplier of the factor. Fails with OD_NOT_FINITE or
// OD_NO_MEMORY.
static od_status show_over_time(const od_friction_request *w, int count, const double *t, const double *v,
                                const double *signal, od_friction_view *out) {
  OD_SCRATCH(scratch);
  int films = w->law[0].law->has_film ? w->laws : 0, columns = 2 + w->laws + films + (signal != NULL);
  double *force[OD_MOST_VARIED + 1], *film[OD_MOST_VARIED + 1], row[2 * OD_MOST_VARIED + 5];
  for (int k = 0; k < w->laws; k++) {
    force[k] = OD_TAKE(&scratch, double, count);
    film[k] = OD_TAKE(&scratch, double, count);
  }
  out->table = od_table_new(columns);
  if (!out->table || od_arena_status(&scratch) != OD_OK) return OD_NO_MEMORY;
  label(out, 0, "time", "s", 0);
  label(out, 1, "speed", "m/s", 1);
  if (signal) label(out, columns - 1, "factor", "1", 4);
  for (int k = 0; k < w->laws; k++) {
    char name[120];
    snprintf(name, sizeof name, "%s film", w->law[k].label);
    label(out, 2 + k, w->law[k].label, "N", 2);
    if (films) label(out, 2 + w->laws + k, name, "1", 3);
    od_status status = od_set_law_drive(&w->law[k], count, t, v, signal, force[k], film[k]);
    if (status != OD_OK) return status;
  }
  for (int i = 0; i < count; i++) {
    row[0] = t[i], row[1] = v[i];
    for (int k = 0; k < w->laws; k++) row[2 + k] = force[k][i];
    for (int k = 0; k < films; k++) row[2 + w->laws + k] = film[k][i];
    if (signal) row[columns - 1] = signal[i];
    if (od_table_append(out->table, row) != OD_OK) return OD_NO_MEMORY;
  }
  return OD_OK;
}

// Shows a step of the speed with a lag, from steady motion. Fails with OD_NOT_FINITE or OD_NO_MEMORY.
static od_status show_step(const od_friction_request *w, od_friction_view *out) {
  OD_SCRATCH(scratch);
  double settle = 20, begin = w->time / 10;
  int count = (int)ceil(w->time / w->step) + 1, before = 2000;
  double *t = OD_TAKE(&scratch, double, count + before), *v = OD_TAKE(&scratch, double, count + before);
  if (od_arena_status(&scratch) != OD_OK) return OD_NO_MEMORY;
  // Before the step, the motion has the first speed until film and bristles have settled.
  for (int i = 0; i < count + before; i++) {
    t[i] = i < before ? -settle * (before - i) / before : (i - before) * w->step;
    double since = t[i] - begin;
    v[i] = since <= 0 ? w->from : w->lag > 0 ? w->to + (w->from - w->to) * exp(-since / w->lag) : w->to;
  }
  od_status status = show_over_time(w, count + before, t, v, NULL, out);
  if (status != OD_OK) return status;
  od_table *table = out->table;
  size_t columns = (size_t)table->columns;
  memmove(table->data, table->data + (size_t)before * columns, (size_t)count * columns * sizeof *table->data);
  table->rows = count;
  snprintf(out->title, sizeof out->title, "friction for a step of the speed from %g to %g m/s", w->from, w->to);
  return OD_OK;
}

// Shows the largest difference over time between two variants, for steps from and to many speeds. Fails with OD_BAD_INPUT, OD_NOT_FINITE or
// OD_NO_MEMORY.
static od_status show_contour(const od_friction_request *w, od_friction_view *out, od_error *err) {
  if (w->laws != 2)
    return od_fail(
        err, OD_BAD_INPUT,
        "--show contour requires one --vary KEY=VALUE, because the contour shows the difference between the two forces");
  od_friction_steps *steps = out->steps = OD_TAKE(&out->arena, od_friction_steps, 1);
  out->table = od_table_new(3);
  if (!steps || !out->table) return OD_NO_MEMORY;
  label(out, 0, "from", "m/s", 0);
  label(out, 1, "to", "m/s", 0);
  label(out, 2, "difference", "N", 0);
  od_status status = od_friction_steps_compare(&w->law[0], &w->law[1], w->speed, w->lag, w->time, w->step, steps);
  for (int i = 0; status == OD_OK && i < OD_STEP_SPEEDS * OD_STEP_SPEEDS; i++) {
    double row[3] = {steps->speed[i % OD_STEP_SPEEDS], steps->speed[i / OD_STEP_SPEEDS], steps->difference[i]};
    status = od_table_append(out->table, row);
  }
  snprintf(out->title, sizeof out->title, "difference due to %s after a step of the speed", w->law[1].label);
  if (status == OD_OK)
    snprintf(out->note, sizeof out->note, "at most %.4g N, from %.4g to %.4g m/s",
             steps->difference[steps->to * OD_STEP_SPEEDS + steps->from], steps->speed[steps->from],
             steps->speed[steps->to]);
  return status;
}

static od_status show_log(const od_friction_request *w, od_friction_view *out, od_error *err) {
  OD_SCOPED(od_driven_log_free) od_driven_log log = {0};
  od_status status = od_driven_log_read(&w->log, w->column, w->factors, w->factor_count, w->law[0].law, &log, err);
  if (status == OD_OK) status = show_over_time(w, log.count, log.t, log.v, log.signal, out);
  if (status != OD_OK) return status;
  snprintf(out->title, sizeof out->title, "friction for the speed '%s' of a log%s", log.speed,
           log.signal ? ", with a factor" : "");
  return od_time_facts_remark(&log.times, &out->warnings) ? OD_OK : OD_NO_MEMORY;
}

// --- All views ------------------------------------------------------------------------------------------------------

const char *const od_friction_shows[OD_SHOWS] = {"steady", "sensitivity", "hysteresis", "step", "contour", "log"};

od_status od_friction_view_make(const od_friction_request *request, od_friction_view *out, od_error *err) {
  *out = (od_friction_view){.request = request};
  od_status status = OD_OK;
  switch (request->show) {
    case OD_SHOW_STEADY: status = show_steady(request, out); break;
    case OD_SHOW_SENSITIVITY: status = show_sensitivity(request, out); break;
    case OD_SHOW_HYSTERESIS: status = show_hysteresis(request, out); break;
    case OD_SHOW_STEP: status = show_step(request, out); break;
    case OD_SHOW_CONTOUR: status = show_contour(request, out, err); break;
    default: status = show_log(request, out, err); break;
  }
  if (status == OD_OK) status = od_arena_status(&out->table->arena);
  if (status != OD_OK && !err->text[0]) od_fail(err, status, "%s", od_status_text(status));
  return status;
}

void od_friction_view_free(od_friction_view *view) {
  od_table_free(view->table);
  od_arena_free(&view->arena);
  od_verdict_free(&view->warnings);
  *view = (od_friction_view){0};
}

od_result od_friction_view_result(const od_friction_view *view) {
  static const od_result_column columns[] = {{"name", "column", OD_CELL_TEXT},
                                             {"unit", "unit", OD_CELL_UNIT},
                                             {"min", "min", OD_CELL_NUMBER},
                                             {"max", "max", OD_CELL_NUMBER}};
  const od_set_law *law = &view->request->law[0];
  const od_table *t = view->table;
  json_t *numbers = json_object();
  od_result r = od_result_new("Friction law", law->law->name);
  for (int i = 0; i < od_friction_law_numbers(law->law, law->two_sided); i++)
    json_object_set_new(numbers, law->law->element->fields[i].key, od_json_number(law->q[i]));
  od_result_text(&r, "law", law->law->name);
  od_result_text(&r, "shows", view->title);
  od_result_set(&r, "numbers", numbers);
  od_result_whole(&r, "rows", t->rows);
  od_result_heading(&r, "%s: %s", law->law->name, view->title);
  if (view->note[0]) {
    od_result_text(&r, "note", view->note);
    od_result_line(&r, "%s", view->note);
  }
  od_result_table *to = od_result_add_table(&r, "columns", columns, 4);
  for (int i = 0; i < t->columns; i++) {
    od_summary s = od_table_summary(t, i);
    od_result_add_row(to, t->unit[i], fmax(fabs(s.min), fabs(s.max)));
    od_result_cell_text(to, t->name[i]);
    od_result_cell(to, s.min);
    od_result_cell(to, s.max);
  }
  if (view->warnings.count > 0) od_result_warnings(&r, &view->warnings);
  return r;
}

// Returns the contour of the differences. The contour refers to data of the view.
static od_contour contour_of(const od_friction_view *r) {
  return (od_contour){OD_STEP_SPEEDS,
                      OD_STEP_SPEEDS,
                      r->steps->speed,
                      r->steps->speed,
                      r->steps->difference,
                      "speed before the step",
                      "speed after the step",
                      "difference",
                      "m/s",
                      "m/s",
                      "N"};
}

void od_picture_add_friction(od_picture *p, const od_friction_view *r) {
  if (r->steps) {
    const od_contour contour = contour_of(r);
    od_picture_add_contour(p, &contour);
  } else {
    od_picture_add_table(p, r->table, r->panel);
  }
}

od_status od_friction_view_write_plot(const void *user, const char *path, od_error *err) {
  const od_friction_view *r = user;
  const od_friction_request *w = r->request;
  char title[200];
  snprintf(title, sizeof title, "%s: %s", w->law[0].law->name, r->title);
  if (r->steps) {
    const od_contour contour = contour_of(r);
    return od_contour_write(&contour, title, r->note, path, err);
  }
  return od_plot_write(r->table, r->panel, title, w->law[0].law->element->summary, path, err);
}
