#include "output/fit_summary.h"

#include <math.h>
#include <string.h>

#include "output/observe_summary.h"
#include "terminal/print_verdict.h"
#include "terminal/terminal.h"
#include "io/display.h"
#include "io/json.h"

// --- For people ---------------------------------------------------------------------------------------------------

static void print_number(FILE *to, double value, int digits) {
  if (isnan(value))
    fprintf(to, " %12s", "-");
  else if (isinf(value))
    fprintf(to, " %12s", value > 0 ? "inf" : "-inf");
  else
    fprintf(to, " %12.*g", digits, value);
}

static od_display shown_in(const od_fitted *f, int i) {
  const od_estimated *p = &f->plan->e->parameter[i];
  return od_display_unit(p->unit, fmax(fabs(p->start), fabs(f->estimate[i])));
}

// A parameter at a bound has none: the data want it beyond. Nor has one that constraints fix.
static double sigma_or_none(const od_fitted *f, int i, double sigma) {
  return f->search->at_bound[i] || od_fit_is_fixed(f, i) ? (double)NAN : sigma;
}

// Columns that are only there when they say something.
typedef struct columns {
  bool white, shift, truth;
} columns;
static columns columns_of(const od_fitted *f) {
  const od_experiment *e = f->plan->e;
  columns c = {.white = f->widened};
  for (int i = 0; i < e->parameters; i++) {
    c.truth = c.truth || !isnan(e->parameter[i].truth);
    c.shift = c.shift || fabs(f->shift[i] / f->sigma[i]) >= 0.1;
  }
  return c;
}

static void print_parameter(const od_fitted *f, int i, columns c, FILE *to) {
  const od_estimated *p = &f->plan->e->parameter[i];
  od_display shown = shown_in(f, i);
  int bound = f->search->at_bound[i];
  print_number(to, p->low * shown.factor, 4);
  print_number(to, p->high * shown.factor, 4);
  print_number(to, p->start * shown.factor, 6);
  print_number(to, f->estimate[i] * shown.factor, 6);
  print_number(to, sigma_or_none(f, i, f->sigma[i]) * shown.factor, 3);
  if (c.white) print_number(to, sigma_or_none(f, i, f->sigma_white[i]) * shown.factor, 3);
  if (c.shift) print_number(to, sigma_or_none(f, i, f->shift[i] / f->sigma[i]), 2);
  if (c.truth) print_number(to, p->truth * shown.factor, 6);
  const char *fixed = od_fit_is_fixed(f, i) ? "  fixed by constraints" : "";
  fprintf(to, "%s\n", bound == 0 ? fixed : bound < 0 ? "  at its low bound" : "  at its high bound");
}

static void print_parameters(const od_fitted *f, FILE *to) {
  const od_experiment *e = f->plan->e;
  int name = (int)strlen("parameter"), unit = (int)strlen("unit");
  columns c = columns_of(f);
  for (int i = 0; i < e->parameters; i++) {
    name = od_text_widest(name, e->parameter[i].path);
    unit = od_text_widest(unit, shown_in(f, i).unit);
  }
  fprintf(to, "  %-*s  %-*s %12s %12s %12s %12s %12s", name, "parameter", unit, "unit", "low", "high", "start",
          "estimate", "sigma");
  if (c.white) fprintf(to, " %12s", "if white");
  if (c.shift) fprintf(to, " %12s", "shift/sigma");
  fprintf(to, c.truth ? " %12s\n" : "\n", "true");
  for (int i = 0; i < e->parameters; i++) {
    fprintf(to, "  ");
    od_print_padded(to, e->parameter[i].path, name);
    fprintf(to, "  ");
    od_print_padded(to, shown_in(f, i).unit, unit);
    print_parameter(f, i, c, to);
  }
}

static void print_constraints(const od_fitted *f, FILE *to) {
  char text[700];
  for (int i = 0; i < f->plan->constraints && !f->only_predicted; i++) {
    od_fit_constraint_text(f, i, text, sizeof text);
    fprintf(to, "constraint '%s': %s\n", f->plan->constraint[i].text, text);
  }
}

// How many directions; the verdict has them in words.
static void print_identifiability(const od_fitted *f, FILE *to) {
  const od_identifiability *id = f->identifiability;
  if (!id) return;
  fprintf(to, "identifiable: %d of %d directions", id->columns - id->nulls - id->weak, id->columns);
  if (id->tied > 0) fprintf(to, ", %d of them by constraints", id->tied);
  if (id->tied < id->columns)
    fprintf(to, "; singular values %.3g to %.3g", id->singular[id->tied], id->singular[id->columns - 1]);
  fprintf(to, "\n");
}

static void print_combinations(const od_fitted *f, FILE *to) {
  const od_fit_plan *plan = f->plan;
  int name = (int)strlen("combination");
  if (plan->combinations == 0) return;
  for (int i = 0; i < plan->combinations; i++) name = od_text_widest(name, plan->combination[i].name);
  fprintf(to, "  %-*s %12s %12s %12s\n", name, "combination", "value (SI)", "sigma", "sigma, %");
  for (int i = 0; i < plan->combinations; i++) {
    fprintf(to, "  ");
    od_print_padded(to, plan->combination[i].name, name);
    print_number(to, f->combination_value[i], 6);
    print_number(to, f->combination_sigma[i], 3);
    print_number(to, 100 * f->combination_sigma[i] / fabs(f->combination_value[i]), 3);
    fprintf(to, "\n");
  }
}

// A number in its column, or a stroke where there is none.
static void print_cell(FILE *to, double value, int width, const char *format) {
  char text[40] = "-";
  if (!isnan(value)) snprintf(text, sizeof text, format, value);
  fprintf(to, " %*s", width, text);
}

static void print_quality(const od_fitted *f, int set, int sensor, bool unseen, int set_width, int name_width,
                          FILE *to) {
  const od_fit_set_result *s = &f->set[set];
  const od_sensor *its = &f->plan->e->sensor[sensor];
  const od_fit_quality *q = unseen ? &s->unseen_quality[sensor] : &s->fitted_quality[sensor];
  od_display shown = od_display_unit(its->unit, q->rms);
  fprintf(to, "  ");
  od_print_padded(to, s->name, set_width);
  fprintf(to, "  ");
  od_print_padded(to, its->name, name_width);
  fprintf(to, "  %-8s %9ld %8ld", unseen ? "validate" : "fit", q->samples, q->missing);
  print_cell(to, q->start_fit, 9, "%.2f");
  print_cell(to, q->fit, 9, "%.2f");
  print_cell(to, q->rms * shown.factor, 11, "%.3g");
  fprintf(to, " ");
  od_print_padded(to, shown.unit, 5);
  print_cell(to, q->lag1, 7, "%.3f");
  print_cell(to, q->white, 6, "%.2g");
  fprintf(to, "%s\n", q->white < 0.01 ? "  not white" : "");
}

// The log that a set came from; NULL: it was simulated.
static const char *log_of(const od_fit_set_result *s) {
  return s->data->set->log ? s->data->set->plan.file : NULL;
}

static void print_logs(const od_fitted *f, FILE *to) {
  for (int i = 0; i < f->sets; i++)
    if (log_of(&f->set[i]))
      fprintf(to, "set %s: log %s, %ld samples\n", f->set[i].name, log_of(&f->set[i]), f->set[i].rows);
}

static void print_sets(const od_fitted *f, FILE *to) {
  const od_experiment *e = f->plan->e;
  int name = (int)strlen("sensor"), set = (int)strlen("set");
  for (int i = 0; i < e->sensors; i++) name = od_text_widest(name, e->sensor[i].name);
  for (int i = 0; i < f->sets; i++) set = od_text_widest(set, f->set[i].name);
  fprintf(to, "  %-*s  %-*s  %-8s %9s %8s %9s %9s %11s %-5s %7s %6s\n", set, "set", name, "sensor", "use", "samples",
          "missing", "fit %", "fitted %", "residual", "", "lag 1", "p");
  for (int i = 0; i < f->sets; i++)
    for (int k = 0; k < e->sensors; k++) {
      if (f->set[i].fitted > 0) print_quality(f, i, k, false, set, name, to);
      if (f->set[i].fitted < f->set[i].rows) print_quality(f, i, k, true, set, name, to);
    }
}

static void print_segments(const od_fitted *f, FILE *to) {
  for (int i = 0; i < f->sets; i++)
    if (f->set[i].segments > 0)
      fprintf(to, "set %s: %d segments of shooting, the largest jump of a state between them %.1g of its range\n",
              f->set[i].name, f->set[i].segments, f->set[i].gap);
}

static void print_search(const od_fitted *f, FILE *to) {
  const char *rule = od_rule_name(f->rule), *modes = f->used_modes ? " by modes" : "";
  fprintf(to, "fit");
  print_cell(to, f->start_fit, 0, "%.2f %%");
  if (f->only_predicted) {
    fprintf(to, " of the starting values; %s%s: nothing was searched\n", rule, modes);
    return;
  }
  fprintf(to, " before,");
  print_cell(to, f->fit, 0, "%.2f %%");
  char search[200];
  od_fit_search_text(f, search, sizeof search);
  fprintf(to, " after; %s, %s%s: %s; %s (%s)\n", od_fit_methods[f->plan->method], rule, modes, search,
          od_ls_reason_text(f->search->reason), od_duration_text(f->seconds, 3).text);
}

void od_fitted_print(const od_fitted *f, FILE *to) {
  const od_fit_plan *plan = f->plan;
  char line[300];
  snprintf(line, sizeof line, "%.200s", plan->e->title);
  od_heading(to, line);
  print_parameters(f, to);
  print_combinations(f, to);
  print_constraints(f, to);
  print_identifiability(f, to);
  print_logs(f, to);
  print_sets(f, to);
  print_segments(f, to);
  print_search(f, to);
  od_cli_verdict(&f->verdict, to);
}

// --- For programs -------------------------------------------------------------------------------------------------

static json_t *parameters_json(const od_fitted *f) {
  const od_experiment *e = f->plan->e;
  json_t *list = json_array();
  for (int i = 0; i < e->parameters; i++) {
    const od_estimated *p = &e->parameter[i];
    json_t *item = json_pack("{s:o, s:o}", "path", od_json_text(p->path), "unit", od_json_text(p->unit));
    json_object_set_new(item, "low", od_json_number(p->low));
    json_object_set_new(item, "high", od_json_number(p->high));
    json_object_set_new(item, "start", od_json_number(p->start));
    json_object_set_new(item, "estimate", od_json_number(f->estimate[i]));
    json_object_set_new(item, "sigma", od_json_number(sigma_or_none(f, i, f->sigma[i])));
    json_object_set_new(item, "sigma_white", od_json_number(sigma_or_none(f, i, f->sigma_white[i])));
    json_object_set_new(item, "sigma_coloured", od_json_number(sigma_or_none(f, i, f->sigma_coloured[i])));
    if (f->better_substeps > 0) json_object_set_new(item, "shift", od_json_number(sigma_or_none(f, i, f->shift[i])));
    json_object_set_new(item, "at_bound", json_integer(f->search->at_bound[i]));
    if (!isnan(p->truth)) json_object_set_new(item, "true", od_json_number(p->truth));
    json_t *row = json_array();
    for (int j = 0; j < e->parameters; j++)
      json_array_append_new(row, od_json_number(f->correlation[i * e->parameters + j]));
    json_object_set_new(item, "correlations", row);
    json_array_append_new(list, item);
  }
  return list;
}

static json_t *identifiability_json(const od_fitted *f) {
  const od_experiment *e = f->plan->e;
  const od_identifiability *id = f->identifiability;
  char text[1000];
  if (!id) return json_null();
  json_t *values = json_array(), *nulls = json_array();
  for (int i = id->tied; i < id->columns; i++) json_array_append_new(values, od_json_number(id->singular[i]));
  for (int k = 0; k < id->nulls; k++) {
    json_t *coefficients = json_object();
    od_identifiability_null_text(id, k, f->name, text, sizeof text);
    for (int i = 0; i < e->parameters; i++)
      if (id->null[k].coefficient[i] != 0)
        json_object_set_new(coefficients, e->parameter[i].path, od_json_number(id->null[k].coefficient[i]));
    json_array_append_new(nulls, json_pack("{s:o, s:o}", "text", od_json_text(text), "coefficients", coefficients));
  }
  return json_pack("{s:o, s:o, s:i, s:i}", "singular_values", values, "null_directions", nulls, "weak_directions",
                   id->weak, "tied_directions", id->tied);
}

static json_t *quality_json(const od_sensor *sensor, const od_fit_quality *q, const char *use) {
  json_t *item = json_pack("{s:o, s:s, s:I, s:I}", "sensor", od_json_text(sensor->name), "use", use, "samples",
                           (json_int_t)q->samples, "missing", (json_int_t)q->missing);
  json_object_set_new(item, "start_fit_percent", od_json_number(q->start_fit));
  json_object_set_new(item, "fit_percent", od_json_number(q->fit));
  json_object_set_new(item, "residual_rms", od_json_number(q->rms));
  json_object_set_new(item, "unit", od_json_text(sensor->unit));
  json_object_set_new(item, "lag1_correlation", od_json_number(q->lag1));
  json_object_set_new(item, "whiteness_p", od_json_number(q->white));
  return item;
}

static json_t *sets_json(const od_fitted *f) {
  const od_experiment *e = f->plan->e;
  json_t *list = json_array();
  for (int i = 0; i < f->sets; i++) {
    const od_fit_set_result *s = &f->set[i];
    json_t *sensors = json_array();
    for (int k = 0; k < e->sensors; k++) {
      if (s->fitted > 0) json_array_append_new(sensors, quality_json(&e->sensor[k], &s->fitted_quality[k], "fit"));
      if (s->fitted < s->rows)
        json_array_append_new(sensors, quality_json(&e->sensor[k], &s->unseen_quality[k], "validate"));
    }
    const od_fit_data *d = s->data;
    json_t *item =
        json_pack("{s:o, s:o, s:I, s:I, s:I, s:I, s:o}", "name", od_json_text(s->name), "file", od_json_text(log_of(s)),
                  "rows", (json_int_t)s->rows, "outliers_removed", (json_int_t)d->outliers, "gaps_filled",
                  (json_int_t)d->gaps_filled, "inputs_bridged", (json_int_t)d->bridged, "sensors", sensors);
    if (s->segments > 0) {
      json_object_set_new(item, "segments", json_integer(s->segments));
      json_object_set_new(item, "largest_jump", od_json_number(s->gap));
      json_object_set_new(item, "largest_jump_time", od_json_number(s->gap_time));
    }
    json_array_append_new(list, item);
  }
  return list;
}

static json_t *combinations_json(const od_fitted *f) {
  json_t *list = json_array();
  for (int i = 0; i < f->plan->combinations; i++) {
    json_t *item = json_pack("{s:o}", "name", od_json_text(f->plan->combination[i].name));
    json_object_set_new(item, "value", od_json_number(f->combination_value[i]));
    json_object_set_new(item, "sigma", od_json_number(f->combination_sigma[i]));
    json_object_set_new(item, "sigma_white", od_json_number(f->combination_white[i]));
    json_object_set_new(item, "sigma_coloured", od_json_number(f->combination_coloured[i]));
    json_array_append_new(list, item);
  }
  return list;
}

static json_t *constraints_json(const od_fitted *f) {
  const od_ls_result *r = f->search;
  json_t *list = json_array();
  for (int i = 0; i < r->constraints; i++) {
    char text[700];
    od_fit_constraint_text(f, i, text, sizeof text);
    json_t *item = json_pack("{s:o, s:o, s:b}", "constraint", od_json_text(f->plan->constraint[i].text), "text",
                             od_json_text(text), "active", r->active[i]);
    json_object_set_new(item, "value", od_json_number(r->constraint[i]));
    json_object_set_new(item, "multiplier", od_json_number(r->multiplier[i]));
    json_object_set_new(item, "beyond", od_json_number(r->beyond[i]));
    json_object_set_new(item, "beyond_sigma", od_json_number(r->beyond_sigma[i]));
    json_array_append_new(list, item);
  }
  return list;
}

json_t *od_fitted_json(const od_fitted *f, const char *message) {
  const od_experiment *e = f->plan->e;
  const od_ls_result *r = f->search;
  json_t *object = json_pack("{s:o, s:o, s:o}", "fit", od_json_text(e->title), "file", od_json_text(e->path), "machine",
                             od_json_text(od_machine_file(e->model)));
  json_object_set_new(object, "complete", json_boolean(!message));
  if (message) json_object_set_new(object, "message", od_json_text(message));
  json_object_set_new(object, "verdict", od_verdict_json(&f->verdict));
  json_object_set_new(object, "parameters", parameters_json(f));
  json_object_set_new(object, "combinations", combinations_json(f));
  json_object_set_new(object, "constraints", constraints_json(f));
  json_object_set_new(object, "identifiability", identifiability_json(f));
  json_object_set_new(object, "sets", sets_json(f));
  json_object_set_new(object, "start_fit_percent", od_json_number(f->start_fit));
  json_object_set_new(object, "fit_percent", od_json_number(f->fit));
  json_object_set_new(object, "method", json_string(od_fit_methods[f->plan->method]));
  json_object_set_new(object, "integrator", json_string(od_rule_name(f->rule)));
  json_object_set_new(object, "iterations", json_integer(r->iterations));
  json_object_set_new(object, "predictions", json_integer(r->residual_evaluations));
  json_object_set_new(object, "sensitivities", json_integer(r->jacobian_evaluations));
  if (r->coarse > 0)
    json_object_set_new(object, "begun_with",
                        json_pack("{s:i, s:I, s:I}", "one_row_in", r->coarse, "iterations",
                                  (json_int_t)r->coarse_iterations, "predictions", (json_int_t)r->coarse_evaluations));
  json_object_set_new(object, "sigmas_widened", json_boolean(f->widened));
  json_object_set_new(object, "window_rows", json_integer(f->window));
  if (f->better_substeps > 0) json_object_set_new(object, "better_substeps", json_integer(f->better_substeps));
  json_object_set_new(object, "cost", od_json_number(r->cost));
  json_object_set_new(object, "offset", od_json_number(r->offset));
  json_object_set_new(object, "by_neighbors", json_boolean(r->by_neighbors));
  json_object_set_new(object, "start_cost", od_json_number(r->start_cost));
  json_object_set_new(object, "residual_variance", od_json_number(r->variance));
  json_object_set_new(object, "reason", json_string(od_ls_reason_text(r->reason)));
  json_object_set_new(object, "seconds", od_json_number(f->seconds));
  return object;
}
