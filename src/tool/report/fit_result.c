// The view has this order: facts, findings, parameters, combinations, constraints, identifiability, measured and predicted values,
// residuals, search, verdict.
#include "report/fit_result.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "io/json.h"
#include "io/wording.h"
#include "report/machine_facts.h"
#include "report/page_values.h"

enum { MOST_SETS = 1000, MOST_FINDINGS = 24, MOST_HEAT = 23, MOST_NAMED = 4 };

od_fit_rows od_fit_rows_of(const od_fitted *f, int set) {
  long before = 0;
  for (int i = 0; i < set; i++) before += f->set[i].rows;
  return (od_fit_rows){f->table->data + before * f->table->columns, f->set[set].rows};
}

int od_fit_column(const od_fitted *f, int sensor, od_fit_kind kind) {
  return 2 + od_machine_input_count(f->plan->e->model) + 3 * sensor + (int)kind;
}

// --- Facts ------------------------------------------------------------------------------------------------------------

// Returns the path of the log of a set; NULL: the set was simulated.
static const char *log_of(const od_fit_set_result *s) {
  return s->data->set->log ? s->data->set->plan.file : NULL;
}

static void add_facts(const od_fitted *f, od_result *r) {
  const od_experiment *e = f->plan->e;
  char search[200];
  od_result_audience(r, OD_FOR_PAGE);
  od_result_fact(r, "Fit", "%s%s%s", e->path, e->variant ? ", variant " : "", e->variant ? e->variant : "");
  od_add_machine_fact(r, e->model);
  if (od_machine_variant(e->model)) od_result_fact(r, "Model", "variant %s", od_machine_variant(e->model));
  od_add_replaced_fact(r, "Set in the true machine", od_machine_numbers(e->truth));
  od_add_replaced_fact(r, "Set in the model", od_machine_numbers(e->model));
  od_add_replaced_fact(r, "Set in the file", &e->file->numbers);
  for (int i = 0; i < f->sets && i < MOST_SETS; i++) {
    const od_fit_set_result *s = &f->set[i];
    const char *use = s->validates ? "for validation" : s->fitted < s->rows ? "fitted except for its end" : "fitted";
    if (log_of(s))
      od_result_fact(r, s->name, "%s: %s, %s", use, log_of(s), od_count(s->rows, "sample").text);
    else
      od_result_fact(r, s->name, "%s: simulated%s, %s", use, s->data->set->clean ? " without noise" : "",
                     od_count(s->rows, "sample").text);
  }
  od_fit_search_text(f, search, sizeof search);
  od_result_fact(r, "Search", "%s; predictions: %s%s; %s", od_fit_methods[f->plan->method], od_rule_name(f->rule),
                 f->used_modes ? " by modes" : "", search);
  od_result_audience(r, OD_FOR_ALL);
}

// Adds the fields of the data that are in no table.
static void add_data(const od_fit_findings *a, od_result *r) {
  const od_fitted *f = a->fitted;
  const od_ls_result *s = f->search;
  od_result_text(r, "fit", f->plan->e->title);
  od_result_text(r, "file", f->plan->e->path);
  od_result_text(r, "machine", od_machine_file(f->plan->e->model));
  od_result_flag(r, "complete", !a->message);
  if (a->message) od_result_text(r, "message", a->message);
  od_result_number(r, "start_fit_percent", f->start_fit);
  od_result_number(r, "fit_percent", f->fit);
  od_result_text(r, "method", od_fit_methods[f->plan->method]);
  od_result_text(r, "integrator", od_rule_name(f->rule));
  od_result_whole(r, "iterations", s->iterations);
  od_result_whole(r, "predictions", s->residual_evaluations);
  od_result_whole(r, "sensitivities", s->jacobian_evaluations);
  if (s->coarse > 0)
    od_result_set(r, "begun_with",
                  json_pack("{s:i, s:I, s:I}", "one_row_in", s->coarse, "iterations", (json_int_t)s->coarse_iterations,
                            "predictions", (json_int_t)s->coarse_evaluations));
  od_result_flag(r, "sigmas_widened", f->widened);
  od_result_whole(r, "window_rows", f->window);
  if (f->better_substeps > 0) od_result_whole(r, "better_substeps", f->better_substeps);
  od_result_number(r, "cost", s->cost);
  od_result_number(r, "offset", s->offset);
  od_result_flag(r, "by_neighbors", s->by_neighbors);
  od_result_number(r, "start_cost", s->start_cost);
  od_result_number(r, "residual_variance", s->variance);
  od_result_text(r, "reason", od_ls_reason_text(s->reason));
  od_result_number(r, "seconds", f->seconds);
}

// --- Findings ---------------------------------------------------------------------------------------------------------

// Adds sentences about the parameters that are identifiable and not at a bound.
static void add_estimates(const od_fitted *f, od_result *r) {
  int shown = 0;
  for (int i = 0; i < f->plan->e->parameters; i++) {
    const od_estimated *p = &f->plan->e->parameter[i];
    double estimate = f->estimate[i], sigma = f->sigma[i], size = od_larger(estimate, od_larger(p->start, p->truth));
    if (!isfinite(sigma) || f->search->at_bound[i] || shown++ >= MOST_FINDINGS) continue;
    char truth[120] = "";
    if (!isnan(p->truth))
      snprintf(truth, sizeof truth, " (true: %s)", od_quantity_alone(p->truth, NAN, p->unit, size).text);
    od_result_finding(r, OD_SOUND, p->path, "is %s%s; the start value was %s.",
                      od_quantity(estimate, sigma, p->unit, size).text, truth,
                      od_quantity_alone(p->start, NAN, p->unit, size).text);
  }
  if (shown > MOST_FINDINGS)
    od_result_finding(r, OD_SOUND, "Other parameters:", "%d more %s in the table below.", shown - MOST_FINDINGS,
                      shown - MOST_FINDINGS == 1 ? "parameter is" : "parameters are");
}

static void add_validation(const od_fitted *f, const od_fit_set_result *s, od_result *r) {
  char text[500] = "";
  for (int i = 0; i < f->plan->e->sensors; i++) {
    const od_fit_quality *q = &s->unseen_quality[i];
    size_t used = strlen(text);
    if (isnan(q->fit)) continue;
    snprintf(text + used, sizeof text - used, "%s%.2f\u00a0%% for %.80s", used ? ", " : "", q->fit,
             f->plan->e->sensor[i].name);
    used = strlen(text);
    if (!isnan(q->start_fit))
      snprintf(text + used, sizeof text - used, " (with the start values: %.2f\u00a0%%)", q->start_fit);
  }
  if (text[0])
    od_result_finding(r, OD_SOUND, "Validation:", "in %s %s, which was not fitted, the fit of the model is %s.",
                      s->fitted > 0 ? "the last part of" : "the set", s->name, text);
}

static void add_findings(const od_fit_findings *a, od_result *r) {
  const od_fitted *f = a->fitted;
  od_result_audience(r, OD_FOR_PAGE);
  od_result_section(r, "Findings");
  if (a->message) od_result_notice(r, OD_UNSOUND, "The search ended early:", "%s.", a->message);
  od_result_verdict(r, &f->verdict);
  add_estimates(f, r);
  for (int i = 0; i < f->sets && i < MOST_FINDINGS; i++)
    if (f->set[i].fitted < f->set[i].rows) add_validation(f, &f->set[i], r);
  od_result_finding(r, OD_SOUND, "Search:", "%s after %s.", od_ls_reason_text(f->search->reason),
                    od_count(f->search->iterations, "iteration").text);
  od_result_audience(r, OD_FOR_ALL);
}

// --- Parameters -------------------------------------------------------------------------------------------------------

// Returns whether a parameter has a standard deviation. A parameter at a bound has no standard deviation, because the minimum lies
// beyond the bound. A parameter fixed by constraints has no standard deviation either.
static bool has_sigma(const od_fitted *f, int i) {
  return !f->search->at_bound[i] && !od_fit_is_fixed(f, i);
}

static const char *remark(const od_fitted *f, int i) {
  if (f->search->at_bound[i]) return f->search->at_bound[i] < 0 ? "at its lower bound" : "at its upper bound";
  if (od_fit_is_fixed(f, i)) return "fixed by constraints";
  return isinf(f->sigma[i]) ? "not identifiable alone" : "";
}

static void add_parameter(const od_fitted *f, int i, bool has_shift, od_result_table *t) {
  const od_estimated *p = &f->plan->e->parameter[i];
  int n = f->plan->e->parameters;
  bool known = has_sigma(f, i);
  double none = NAN, sigma = known ? f->sigma[i] : none, white = known ? f->sigma_white[i] : none;
  double half = isfinite(sigma) ? OD_NORMAL95 * sigma : none, shift = f->shift[i] / f->sigma[i];
  od_result_add_row(t, p->unit, od_larger(f->estimate[i], od_larger(p->start, p->truth)));
  od_result_cell_text(t, p->path);
  od_result_cell(t, isfinite(p->low) ? p->low : none);
  od_result_cell(t, isfinite(p->high) ? p->high : none);
  od_result_cell(t, p->start);
  od_result_cell_value(t, f->estimate[i], half);
  od_result_cell_uncertainty(t, OD_NORMAL95 * sigma);
  od_result_cell_uncertainty(t, OD_NORMAL95 * white);
  od_result_cell(t, known ? shift : none);
  od_result_mark(t, known && fabs(shift) > 0.5);
  od_result_cell_value(t, p->truth, NAN);
  od_result_cell(t, sigma);
  od_result_cell(t, white);
  od_result_cell(t, known ? f->sigma_colored[i] : none);
  od_result_cell(t, f->search->at_bound[i]);
  od_result_cell_text(t, remark(f, i));
  if (has_shift) od_result_row_set(t, "shift", od_json_number(known ? f->shift[i] : none));
  if (!isnan(p->truth)) od_result_row_set(t, "true", od_json_number(p->truth));
  json_t *correlations = json_array();
  for (int j = 0; j < n; j++) json_array_append_new(correlations, od_json_number(f->correlation[i * n + j]));
  od_result_row_set(t, "correlations", correlations);
}

static void add_parameters(const od_fitted *f, od_result *r) {
  const od_experiment *e = f->plan->e;
  bool has_truth = false, is_shifted = false;
  for (int i = 0; i < e->parameters; i++) {
    has_truth = has_truth || !isnan(e->parameter[i].truth);
    is_shifted = is_shifted || fabs(f->shift[i] / f->sigma[i]) >= 0.1;
  }
  // Empty columns are not shown.
  const od_result_column columns[] = {{"path", "parameter", OD_CELL_TEXT},
                                      {"unit", "unit", OD_CELL_UNIT},
                                      {"low", "low", OD_CELL_NUMBER, 4},
                                      {"high", "high", OD_CELL_NUMBER, 4},
                                      {"start", "start", OD_CELL_NUMBER},
                                      {"estimate", "estimate", OD_CELL_NUMBER},
                                      {NULL, "\u00b1 95 %", OD_CELL_NUMBER},
                                      {NULL, f->widened ? "\u00b1 if white" : NULL, OD_CELL_NUMBER},
                                      {NULL, is_shifted ? "shift by steps, sigmas" : NULL, OD_CELL_PLAIN, 2},
                                      {NULL, has_truth ? "true" : NULL, OD_CELL_NUMBER},
                                      {"sigma", NULL, OD_CELL_NUMBER},
                                      {"sigma_white", NULL, OD_CELL_NUMBER},
                                      {"sigma_coloured", NULL, OD_CELL_NUMBER},
                                      {"at_bound", NULL, OD_CELL_WHOLE},
                                      {NULL, NULL, OD_CELL_REMARK}};
  od_result_section(r, "Parameters");
  od_result_table *t = od_result_add_table(r, "parameters", columns, (int)(sizeof columns / sizeof *columns));
  for (int i = 0; i < e->parameters; i++) add_parameter(f, i, f->better_substeps > 0, t);
  od_result_audience(r, OD_FOR_PAGE);
  if (f->widened)
    od_result_line(r,
                   "The residuals are not white. The intervals account for correlations between samples up to %ld "
                   "rows apart. The next column contains the narrower intervals for white residuals.",
                   f->window);
  od_result_audience(r, OD_FOR_ALL);
}

static void add_combinations(const od_fitted *f, od_result *r) {
  static const od_result_column columns[] = {
      {"name", "combination", OD_CELL_TEXT},   {"value", "value, SI", OD_CELL_PLAIN, 6},
      {NULL, "\u00b1 95 %", OD_CELL_PLAIN, 3}, {NULL, "\u00b1 in percent", OD_CELL_PLAIN, 3},
      {"sigma", NULL, OD_CELL_PLAIN},          {"sigma_white", NULL, OD_CELL_PLAIN},
      {"sigma_coloured", NULL, OD_CELL_PLAIN}};
  if (f->plan->combinations == 0) {
    od_result_set(r, "combinations", json_array());
    return;
  }
  od_result_audience(r, OD_FOR_PAGE);
  od_result_heading(r, "Combinations");
  od_result_audience(r, OD_FOR_ALL);
  od_result_table *t = od_result_add_table(r, "combinations", columns, (int)(sizeof columns / sizeof *columns));
  for (int i = 0; i < f->plan->combinations; i++) {
    double value = f->combination_value[i], half = OD_NORMAL95 * f->combination_sigma[i];
    od_result_add_row(t, NULL, NAN);
    od_result_cell_text(t, f->plan->combination[i].name);
    od_result_cell(t, value);
    od_result_cell(t, half);
    od_result_cell(t, 100 * half / fabs(value));
    od_result_cell(t, f->combination_sigma[i]);
    od_result_cell(t, f->combination_white[i]);
    od_result_cell(t, f->combination_colored[i]);
  }
}

static void add_constraints(const od_fitted *f, od_result *r) {
  static const od_result_column columns[] = {{"constraint", "constraint", OD_CELL_TEXT},
                                             {"value", NULL, OD_CELL_PLAIN},
                                             {"multiplier", NULL, OD_CELL_PLAIN},
                                             {NULL, "multiplier, SI", OD_CELL_PLAIN, 4},
                                             {"beyond", NULL, OD_CELL_PLAIN},
                                             {"beyond_sigma", NULL, OD_CELL_PLAIN},
                                             {"text", NULL, OD_CELL_REMARK}};
  const od_ls_result *s = f->search;
  bool is_shown = s->constraints > 0 && !f->only_predicted;
  od_result_audience(r, OD_FOR_PAGE);
  if (is_shown) {
    od_result_heading(r, "Constraints");
    od_result_line(r,
                   "A multiplier is the decrease of half the sum of squared residuals per SI unit by which an active "
                   "constraint is moved.");
  }
  od_result_audience(r, OD_FOR_ALL);
  od_result_table *t = od_result_add_table(r, "constraints", columns, (int)(sizeof columns / sizeof *columns));
  for (int i = 0; i < s->constraints; i++) {
    char text[700];
    od_fit_constraint_text(f, i, text, sizeof text);
    od_result_add_row(t, NULL, NAN);
    od_result_cell_text(t, f->plan->constraint[i].text);
    od_result_cell(t, s->constraint[i]);
    od_result_cell(t, s->multiplier[i]);
    od_result_cell(t, s->active[i] ? s->multiplier[i] : (double)NAN);
    od_result_cell(t, s->beyond[i]);
    od_result_cell(t, s->beyond_sigma[i]);
    od_result_cell_text(t, text);
    od_result_mark(t, od_fit_constraint_is_doubtful(f, i));
    od_result_row_set(t, "active", json_boolean(s->active[i]));
  }
}

// --- Identifiability --------------------------------------------------------------------------------------------------

static json_t *identifiability_data(const od_fitted *f) {
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

// Writes the names of the parameters with the largest components in a direction, in descending order.
static void name_direction(const od_fitted *f, int k, char *text, size_t size) {
  const od_identifiability *id = f->identifiability;
  const double *v = id->direction + k * id->columns;
  double below = INFINITY, most = 0;
  text[0] = '\0';
  for (int i = 0; i < id->columns; i++) most = fmax(most, fabs(v[i]));
  for (int n = 0; n < MOST_NAMED; n++) {
    int best = -1;
    for (int i = 0; i < id->columns; i++)
      if (fabs(v[i]) < below && (best < 0 || fabs(v[i]) > fabs(v[best]))) best = i;
    if (best < 0 || fabs(v[best]) < 0.3 * most) return;
    size_t used = strlen(text);
    snprintf(text + used, size - used, "%s%.80s", used ? ", " : "", f->name[best]);
    below = fabs(v[best]);
  }
}

static void add_directions(const od_fitted *f, od_result *r) {
  static const od_result_column columns[] = {{NULL, "direction", OD_CELL_WHOLE},
                                             {NULL, "singular value", OD_CELL_PLAIN, 3},
                                             {NULL, "determined to, percent", OD_CELL_PLAIN, 3},
                                             {NULL, "", OD_CELL_TEXT},
                                             {NULL, "main parameters", OD_CELL_TEXT}};
  const od_identifiability *id = f->identifiability;
  od_result_line(
      r,
      "Directions in which all parameters change together, each relative to its size, from the best to the least "
      "identifiable. A singular value of 100 means that the data determine a change along this direction to 1\u00a0%% of the parameters' sizes."
      " Below 1, a change by the full sizes "
      "of the parameters changes the data by less than the noise. At zero the data do not change at all.");
  if (id->tied > 0)
    od_result_line(r, "%d of %d directions %s fixed by constraints; the table lists the other directions.", id->tied,
                   id->columns, od_form(id->tied, "is", "are"));
  od_result_table *t = od_result_add_table(r, NULL, columns, 5);
  for (int k = id->tied; k < id->columns; k++) {
    char text[400];
    bool is_null = k >= id->columns - id->nulls, is_weak = !is_null && id->singular[k] < 1;
    name_direction(f, k, text, sizeof text);
    od_result_add_row(t, NULL, NAN);
    od_result_cell(t, k + 1 - id->tied);
    od_result_cell(t, is_null ? 0 : id->singular[k]);
    od_result_cell(t, is_null ? (double)NAN : 100 / id->singular[k]);
    od_result_cell_text(t, is_null ? "not identifiable" : is_weak ? "weakly identifiable" : "identifiable");
    od_result_mark(t, is_null || is_weak);
    od_result_cell_text(t, text);
  }
}

static void add_correlations(const od_fitted *f, od_result *r) {
  int n = f->plan->e->parameters, shown = 0, index[MOST_HEAT];
  for (int i = 0; i < n && shown < MOST_HEAT; i++)
    if (isfinite(f->sigma[i]) && f->sigma[i] > 0) index[shown++] = i;
  if (shown < 2) return;
  od_result_heading(r, "Correlations of the estimates' errors");
  od_result_line(r,
                 "The table contains the parameters that are identifiable alone. If a correlation is near 1 or "
                 "\u22121, the data hardly distinguish the two parameters.");
  od_result_column columns[MOST_HEAT + 1] = {{NULL, "", OD_CELL_TEXT}};
  char number[MOST_HEAT][12];
  for (int i = 0; i < shown; i++) {
    snprintf(number[i], sizeof number[i], "%d", i + 1);
    columns[i + 1] = (od_result_column){NULL, number[i], OD_CELL_HEAT, .decimals = 2};
  }
  od_result_table *t = od_result_add_table(r, NULL, columns, shown + 1);
  for (int i = 0; i < shown; i++) {
    char name[140];
    snprintf(name, sizeof name, "%d\u2002%.100s", i + 1, f->name[index[i]]);
    od_result_add_row(t, NULL, NAN);
    od_result_cell_text(t, name);
    for (int j = 0; j < shown; j++) od_result_cell(t, f->correlation[index[i] * n + index[j]]);
  }
}

// Adds the identifiability: one line for terminals, tables for pages.
static void add_identifiability(const od_fitted *f, od_result *r) {
  const od_identifiability *id = f->identifiability;
  od_result_set(r, "identifiability", identifiability_data(f));
  if (id) {
    char tied[80] = "", values[80] = "";
    if (id->tied > 0) snprintf(tied, sizeof tied, ", %d of them by constraints", id->tied);
    if (id->tied < id->columns)
      snprintf(values, sizeof values, "; singular values %.3g to %.3g", id->singular[id->tied],
               id->singular[id->columns - 1]);
    od_result_audience(r, OD_FOR_TERMINAL);
    od_result_line(r, "identifiable: %d of %d directions%s%s", id->columns - id->nulls - id->weak, id->columns, tied,
                   values);
  }
  od_result_audience(r, OD_FOR_PAGE);
  od_result_section(r, "Identifiability");
  if (id) add_directions(f, r);
  add_correlations(f, r);
  od_result_audience(r, OD_FOR_ALL);
}

// --- Residuals --------------------------------------------------------------------------------------------------------

static json_t *quality_data(const od_sensor *sensor, const od_fit_quality *q, const char *use) {
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

static void add_quality(const od_fitted *f, int set, int sensor, bool is_unseen, od_result_table *t) {
  const od_fit_set_result *s = &f->set[set];
  const od_sensor *its = &f->plan->e->sensor[sensor];
  const od_fit_quality *q = is_unseen ? &s->unseen_quality[sensor] : &s->fitted_quality[sensor];
  od_result_add_row(t, its->unit, q->rms);
  od_result_cell_text(t, s->name);
  od_result_cell_text(t, its->name);
  od_result_cell_text(t, is_unseen ? "validate" : "fit");
  od_result_cell(t, (double)q->samples);
  od_result_cell(t, (double)q->missing);
  od_result_cell(t, q->start_fit);
  od_result_cell(t, q->fit);
  od_result_cell(t, q->rms);
  od_result_cell(t, f->data ? f->data[set]->sigma[sensor] : (double)NAN);
  od_result_cell(t, q->lag1);
  od_result_cell(t, q->white);
  od_result_mark(t, !is_unseen && od_fit_is_colored(q));
  od_result_cell_text(t, q->white < OD_FIT_UNLIKELY ? "not white" : "");
}

static void add_sets(const od_fitted *f, od_result *r) {
  static const od_result_column columns[] = {{NULL, "set", OD_CELL_TEXT},
                                             {NULL, "sensor", OD_CELL_TEXT},
                                             {NULL, "use", OD_CELL_TEXT},
                                             {NULL, "samples", OD_CELL_WHOLE},
                                             {NULL, "missing", OD_CELL_WHOLE},
                                             {NULL, "fit before, %", OD_CELL_PLAIN, .decimals = 2},
                                             {NULL, "fit after, %", OD_CELL_PLAIN, .decimals = 2},
                                             {NULL, "residual, rms", OD_CELL_NUMBER, 3},
                                             {NULL, "expected noise", OD_CELL_NUMBER, 3},
                                             {NULL, "unit", OD_CELL_UNIT},
                                             {NULL, "lag 1", OD_CELL_PLAIN, .decimals = 3},
                                             {NULL, "p", OD_CELL_PLAIN, 2},
                                             {NULL, NULL, OD_CELL_REMARK}};
  const od_experiment *e = f->plan->e;
  json_t *list = json_array();
  od_result_table *t = od_result_add_table(r, NULL, columns, (int)(sizeof columns / sizeof *columns));
  for (int i = 0; i < f->sets; i++) {
    const od_fit_set_result *s = &f->set[i];
    const od_fit_data *d = s->data;
    json_t *sensors = json_array();
    for (int k = 0; k < e->sensors; k++) {
      if (s->fitted > 0) {
        add_quality(f, i, k, false, t);
        json_array_append_new(sensors, quality_data(&e->sensor[k], &s->fitted_quality[k], "fit"));
      }
      if (s->fitted < s->rows) {
        add_quality(f, i, k, true, t);
        json_array_append_new(sensors, quality_data(&e->sensor[k], &s->unseen_quality[k], "validate"));
      }
    }
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
  od_result_set(r, "sets", list);
  for (int i = 0; i < f->sets; i++)
    if (f->set[i].segments > 0)
      od_result_line(r, "set %s: %d shooting segments; largest jump of a state between segments: %.1g of its range",
                     f->set[i].name, f->set[i].segments, f->set[i].gap);
}

static void add_residuals(const od_fitted *f, od_result *r) {
  od_result_audience(r, OD_FOR_TERMINAL);
  for (int i = 0; i < f->sets; i++)
    if (log_of(&f->set[i]))
      od_result_line(r, "set %s: log %s, %ld samples", f->set[i].name, log_of(&f->set[i]), f->set[i].rows);
  od_result_audience(r, OD_FOR_PAGE);
  od_result_section(r, "Residuals");
  od_result_line(r,
                 "Fit: 100\u00a0%% minus the rms of the residuals relative to the standard deviation of the signal. "
                 "Lag 1: correlation of consecutive residuals. p: p-value of the Ljung-Box test of whiteness over 20 "
                 "lags.");
  od_result_audience(r, OD_FOR_ALL);
  add_sets(f, r);
  od_result_audience(r, OD_FOR_PAGE);
  if (f->table && f->table->rows > 0) od_result_figures(r, od_fit_draw_residuals, f);
  od_result_audience(r, OD_FOR_ALL);
}

// --- The whole result -------------------------------------------------------------------------------------------------

static void percent(char text[24], double value) {
  if (isnan(value))
    strcpy(text, "-");
  else
    snprintf(text, 24, "%.2f %%", value);
}

// Adds one line that describes the search: number of iterations and the reason of its end.
static void add_search(const od_fitted *f, od_result *r) {
  const char *rule = od_rule_name(f->rule), *modes = f->used_modes ? " by modes" : "";
  char before[24], after[24], search[200];
  percent(before, f->start_fit);
  percent(after, f->fit);
  od_fit_search_text(f, search, sizeof search);
  od_result_audience(r, OD_FOR_TERMINAL);
  if (f->only_predicted)
    od_result_line(r, "fit %s with the start values; %s%s; no search", before, rule, modes);
  else
    od_result_line(r, "fit %s before, %s after; %s, %s%s: %s; %s (%s)", before, after, od_fit_methods[f->plan->method],
                   rule, modes, search, od_ls_reason_text(f->search->reason), od_duration_text(f->seconds, 3).text);
  od_result_audience(r, OD_FOR_ALL);
}

od_result od_fit_result(const od_fit_findings *a) {
  const od_fitted *f = a->fitted;
  const od_experiment *e = f->plan->e;
  od_result r = od_result_new("Fit report", e->title && e->title[0] ? e->title : e->path);
  r.doubtful_means = "errors may be larger than the reported intervals";
  od_result_audience(&r, OD_FOR_TERMINAL);
  od_result_heading(&r, "%.200s", e->title);
  add_data(a, &r);
  add_facts(f, &r);
  add_findings(a, &r);
  add_parameters(f, &r);
  add_combinations(f, &r);
  add_constraints(f, &r);
  add_identifiability(f, &r);
  if (f->table && f->table->rows > 0) {
    od_result_audience(&r, OD_FOR_PAGE);
    od_result_charts(&r, od_fit_draw_sets, f);
    od_result_audience(&r, OD_FOR_ALL);
  }
  add_residuals(f, &r);
  add_search(f, &r);
  od_result_audience(&r, OD_FOR_TERMINAL);
  od_result_verdict(&r, &f->verdict);
  return r;
}
