#include "report/observe_result.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "experiment/observe.h"
#include "io/json.h"
#include "io/wording.h"
#include "math/normal.h"
#include "report/innovation_series.h"
#include "report/machine_facts.h"
#include "report/page_values.h"

enum { MOST_NAMES = 6 };  // largest number of names in a sentence

static const char *source_name(const od_experiment *e) {
  return e->log ? e->data.file : "live";
}

void od_observe_describe(const od_observe_findings *f, char *text, size_t size) {
  const od_experiment *e = f->experiment;
  const od_observed *o = f->observed;
  od_duration step = od_duration_text(o->step, 6);
  const char *variant = e->truth ? od_machine_variant(e->truth) : NULL;
  if (!o->has_truth)
    snprintf(text, size, "%s%.200s, %s from %.9g s to %.9g s, %s apart", e->log ? "log " : "", source_name(e),
             od_count(o->steps + 1, "sample").text, o->begin, o->end, step.text);
  else
    snprintf(text, size, "%s%.60s%sin steps of %s, seed %llu", variant ? "truth " : "", variant ? variant : "",
             variant ? ", " : "", step.text, (unsigned long long)e->seed);
}

double od_kept_uncertainty(const od_observe_findings *f, int parameter) {
  return f->observed->sigma[parameter] / f->experiment->parameter[parameter].sigma;
}

// Returns whether the data contain almost no information about a parameter: at the end, its standard deviation is above 95 % of the
// initial standard deviation.
static bool is_uninformed(const od_observe_findings *f, int parameter) {
  return od_kept_uncertainty(f, parameter) > 0.95;
}

static od_summary summary_of(const od_observed *o, const char *what, const char *name) {
  int column = od_table_find_suffixed(o->table, what, name);
  return column >= 0 ? od_observed_summary(o, column) : (od_summary){NAN, NAN, NAN, NAN};
}

double od_observe_last(const od_observed *o, const char *what, const char *name) {
  return summary_of(o, what, name).final;
}

static void add_figures(od_result *r, od_draw_figures *draw, const od_observe_findings *f) {
  if (f->observed->table->rows > 0) od_result_figures(r, draw, f);
}

static void add_charts(od_result *r, od_draw_figures *draw, const od_observe_findings *f) {
  if (f->observed->table->rows > 0) od_result_charts(r, draw, f);
}

// --- Data alone -------------------------------------------------------------------------------------------------------

// Returns the source of the samples and its statistics, for samples that are not simulated.
static json_t *data_json(const od_experiment *e, const od_observed *o) {
  const od_log *log = e->log;
  json_t *object = json_pack("{s:o, s:I, s:o, s:o, s:I, s:I}", "file", od_json_text(source_name(e)), "samples",
                             (json_int_t)o->steps + 1, "begin", od_json_number(o->begin), "end", od_json_number(o->end),
                             "failed", (json_int_t)o->failed, "held", (json_int_t)o->held);
  if (!log) return object;
  json_t *channels = json_array();
  for (int c = 0; c < log->plan->channels; c++) {
    const od_channel *channel = &log->plan->channel[c];
    json_t *item = json_pack("{s:o, s:I, s:b}", "name", od_json_text(channel->name), "missing",
                             (json_int_t)log->missing[c], "constant", log->constant[c] || channel->at < 0);
    json_array_append_new(channels, item);
  }
  json_object_set_new(object, "channels", channels);
  json_object_set_new(object, "repeated_rows", json_integer(log->repeated));
  json_object_set_new(object, "longest_gap", od_json_number(log->longest));
  return object;
}

// Returns the options of the filter. A value null means that the filter determines the value.
static json_t *filter_options(const od_experiment *e) {
  json_t *object = json_object();
  for (int i = 0; i < e->filter->options; i++) {
    const od_filter_option *option = &e->filter->option[i];
    double value = e->filter_choice[i];
    json_object_set_new(object, option->key,
                        option->words ? json_string(option->words[(int)value]) : od_json_number(value));
  }
  return object;
}

static void add_data(const od_observe_findings *f, od_result *r) {
  const od_experiment *e = f->experiment;
  const od_observed *o = f->observed;
  od_consistency nis = od_observed_nis(o);
  od_result_text(r, "experiment", e->title);
  od_result_text(r, "file", e->path);
  od_result_text(r, "machine", od_machine_file(e->model));
  if (o->has_truth) {
    od_result_text(r, "truth", od_machine_variant(e->truth));
    od_result_set(r, "seed", json_integer((json_int_t)e->seed));
  } else {
    od_result_set(r, "data", data_json(e, o));
  }
  od_result_number(r, "time", (double)o->steps * o->step);
  od_result_number(r, "step", o->step);
  od_result_text(r, "filter", e->filter->name);
  if (e->filter->options) od_result_set(r, "filter_options", filter_options(e));
  od_result_text(r, "integrator", e->integrator->name);
  od_result_whole(r, "steps", o->steps);
  od_result_flag(r, "complete", !f->message);
  if (f->message) od_result_text(r, "message", f->message);
  od_result_number(r, "curve_bound_percent", o->bound ? 100 * od_observed_curve_sigma(o->bound) : (double)NAN);
  if (o->detects_settling) od_result_number(r, "settled_since", o->settled_since);
  if (o->may_fall_back) od_result_number(r, "fell_back_since", o->fell_back_since);
  od_result_number(r, "nis_per_dimension", nis.value);
  od_result_number(r, "nis_low", nis.low);
  od_result_number(r, "nis_high", nis.high);
  od_result_number(r, "us_per_step", o->steps ? 1e6 * o->seconds / (double)o->steps : (double)NAN);
  if (!o->has_truth) return;
  od_result_number(r, "curve_rmse_percent", 100 * od_observed_curve_rmse(o));
  od_result_number(r, "nees_per_dimension", o->compared ? o->nees / o->compared : (double)NAN);
  od_result_number(r, "coverage95", o->compared ? (double)o->covered / o->compared : (double)NAN);
}

// --- Facts ------------------------------------------------------------------------------------------------------------

static void add_facts(const od_observe_findings *f, od_result *r) {
  const od_experiment *e = f->experiment;
  const od_observed *o = f->observed;
  const char *variant = od_machine_variant(e->model);
  const char *true_variant = e->truth ? od_machine_variant(e->truth) : NULL;
  double end = o->table->rows > 0 ? o->table->data[(o->table->rows - 1) * o->table->columns] : 0;
  od_result_fact(r, "Experiment", "%s", e->path);
  od_add_machine_fact(r, e->model);
  if (e->truth)
    od_result_fact(r, "Measured on", "a simulated machine%s%s; seed of the noise: %llu",
                   true_variant ? ", variant " : "", true_variant ? true_variant : "", (unsigned long long)e->seed);
  else if (e->log)
    od_result_fact(r, "Log", "%s, %s", e->data.file, od_count(e->log->rows, "row").text);
  else
    od_result_fact(r, "Log", "none; the samples were live");
  if (variant) od_result_fact(r, "Observer's model", "variant %s", variant);
  od_add_replaced_fact(r, "Set in the true machine", od_machine_numbers(e->truth));
  od_add_replaced_fact(r, "Set in the model", od_machine_numbers(e->model));
  od_add_replaced_fact(r, "Set in the experiment", &e->file->numbers);
  od_result_fact(r, "Run", "%s in %s of %s", od_quantity_alone(end, NAN, "s", end).text,
                 od_count(o->steps, "step").text, od_quantity_alone(o->step, NAN, "s", o->step).text);
  od_result_fact(r, "Observer", "%s, %s, %s; %s (%s), integrator %s; %s covariance%s",
                 od_count(e->sensors, "sensor").text, od_count(e->watches - e->sensors, "other output").text,
                 od_count(e->parameters, "parameter").text, e->filter->name, e->filter->description,
                 e->integrator->name, e->form == OD_FORM_JOSEPH ? "Joseph's form of the" : "square root of the",
                 e->gate > 0 ? ", gated" : "");
}

// --- Parameters -------------------------------------------------------------------------------------------------------

static void add_parameter(const od_observe_findings *f, int i, od_result_table *t) {
  const od_estimated *p = &f->experiment->parameter[i];
  const od_observed *o = f->observed;
  double estimate = o->estimate[i], sigma = o->sigma[i], half = OD_NORMAL95 * sigma, kept = od_kept_uncertainty(f, i);
  double truth = o->has_truth ? o->truth[i] : (double)NAN, shift = o->bias[i] / sigma;
  char narrower[40] = "-";
  od_result_add_row(t, p->unit, od_larger(estimate, od_larger(o->start[i], truth)));
  od_result_cell_text(t, p->path);
  od_result_cell(t, o->start[i]);
  od_result_cell_value(t, estimate, half);
  od_result_cell_uncertainty(t, half);
  od_result_cell(t, isfinite(shift) ? shift : (double)NAN);
  od_result_mark(t, fabs(shift) > 0.5);
  od_result_cell(t, truth);
  od_result_cell(t, (estimate - truth) / sigma);
  od_result_mark(t, fabs(estimate - truth) > 3 * sigma);
  if (is_uninformed(f, i))
    snprintf(narrower, sizeof narrower, "not at all");
  else if (isfinite(kept) && kept > 0)
    snprintf(narrower, sizeof narrower, "%.10g times", od_two_digits(1 / kept));
  od_result_cell_text(t, narrower);
  od_result_row_set(t, "sigma", od_json_number(sigma));
  if (o->shift) od_result_row_set(t, "start_shift_in_sigmas", od_json_number(o->shift[i]));
  if (o->bound) od_result_row_set(t, "bound", od_json_number(o->bound->sigma[i]));
}

static void add_largest_error(const od_observe_findings *f, od_result *r) {
  const od_observed *o = f->observed;
  int worst = -1;
  double most = 0;
  for (int i = 0; i < f->experiment->parameters && o->compared > 0; i++) {
    double error = fabs(o->estimate[i] - o->truth[i]) / o->sigma[i];
    if (error > most) most = error, worst = i;
  }
  if (worst >= 0)
    od_result_finding(r, OD_SOUND, "Largest error:", "%s, %.10g standard deviations.",
                      f->experiment->parameter[worst].path, od_two_digits(most));
}

static void add_uninformed(const od_observe_findings *f, od_result *r) {
  int count = 0;
  char names[600] = "";
  for (int i = 0; i < f->experiment->parameters; i++) {
    size_t used = strlen(names);
    if (is_uninformed(f, i) && count++ < MOST_NAMES)
      snprintf(names + used, sizeof names - used, "%s%.80s", used ? ", " : "", f->experiment->parameter[i].path);
  }
  size_t used = strlen(names);
  if (count > MOST_NAMES) snprintf(names + used, sizeof names - used, " and %d more", count - MOST_NAMES);
  if (count > 0)
    od_result_finding(r, OD_SOUND, "Not determined by the data:", "%s, as uncertain as at the start.", names);
}

static void add_parameters(const od_observe_findings *f, od_result *r) {
  bool has_truth = f->observed->has_truth;
  const char *truth = has_truth ? "true" : NULL, *error = has_truth ? "error/sigma" : NULL;
  const od_result_column columns[] = {
      {"path", "parameter", OD_CELL_TEXT},   {"unit", "unit", OD_CELL_UNIT},
      {"start", "start", OD_CELL_NUMBER},    {"estimate", "estimate", OD_CELL_NUMBER},
      {NULL, "\u00b1 95 %", OD_CELL_NUMBER}, {"step_shift_in_sigmas", "shift/sigma", OD_CELL_PLAIN, 0, 2},
      {truth, truth, OD_CELL_NUMBER},        {has_truth ? "error_in_sigmas" : NULL, error, OD_CELL_PLAIN, 0, 2},
      {NULL, "narrower", OD_CELL_TEXT}};
  int parameters = f->experiment->parameters;
  if (parameters > 0) od_result_section(r, "Parameters");
  od_result_table *t = od_result_add_table(r, "parameters", columns, 9);
  for (int i = 0; i < parameters; i++) add_parameter(f, i, t);
  add_largest_error(f, r);
  add_uninformed(f, r);
  if (parameters == 0) return;
  od_result_audience(r, OD_FOR_PAGE);
  od_result_line(
      r,
      "\u00b1 95 %%: interval after the run. shift/sigma: error of the estimate due to the length of the steps, in "
      "standard deviations. Narrower: standard deviation at the start divided by the standard deviation at the end.%s",
      f->observed->has_truth ? " Errors beyond three standard deviations are marked." : "");
  od_result_heading(r, "Over time");
  add_figures(r, od_observe_draw_parameters, f);
  od_result_audience(r, OD_FOR_ALL);
}

// --- Detected changes -------------------------------------------------------------------------------------------------

// Adds the detected changes, for experiments with parameters that may change. On the terminal the verdict lists the changes.
static void add_changes(const od_observe_findings *f, od_result *r) {
  static const od_result_column columns[] = {{"parameter", "parameter", OD_CELL_TEXT},
                                             {"unit", "unit", OD_CELL_UNIT},
                                             {"before", "before", OD_CELL_NUMBER},
                                             {"after", "after", OD_CELL_NUMBER},
                                             {"earliest", "changed after, s", OD_CELL_PLAIN, 4},
                                             {"latest", "and before, s", OD_CELL_PLAIN, 4},
                                             {"time", "detected at, s", OD_CELL_PLAIN, 4}};
  const od_experiment *e = f->experiment;
  const od_observed *o = f->observed;
  bool watches = false;
  for (int i = 0; i < e->parameters; i++) watches = watches || e->parameter[i].jump > 0;
  if (!watches) return;
  od_result_audience(r, OD_FOR_PAGE);
  if (o->changes > 0) od_result_heading(r, "Detected changes");
  od_result_table *t = od_result_add_table(r, "changes", columns, (int)(sizeof columns / sizeof *columns));
  for (int k = 0; k < od_observed_changes(o); k++) {
    const od_parameter_change *c = &o->change[k];
    od_result_add_row(t, e->parameter[c->parameter].unit, od_larger(c->before, c->after));
    od_result_cell_text(t, e->parameter[c->parameter].path);
    od_result_cell_value(t, c->before, OD_NORMAL95 * c->sigma);
    od_result_cell_value(t, c->after, OD_NORMAL95 * c->after_sigma);
    od_result_cell(t, c->earliest);
    od_result_cell(t, c->latest);
    od_result_cell(t, c->time);
    od_result_row_set(t, "before_sigma", od_json_number(c->sigma));
    od_result_row_set(t, "after_sigma", od_json_number(c->after_sigma));
  }
  if (o->changes > 0)
    od_result_line(r,
                   "The 95 %% interval of the time of a change is given. Vertical lines in the figures above are the "
                   "times of detection.");
  if (o->changes > OD_MOST_CHANGES)
    od_result_line(r, "The first %d of %ld detected changes are listed.", OD_MOST_CHANGES, o->changes);
  od_result_audience(r, OD_FOR_ALL);
}

// --- Metrics of the experiment ----------------------------------------------------------------------------------------

static void add_metrics(const od_observe_findings *f, od_result *r) {
  static const od_result_column columns[] = {
      {"name", "metric", OD_CELL_TEXT}, {"unit", "unit", OD_CELL_UNIT}, {"value", "value", OD_CELL_NUMBER, 5}};
  const od_experiment *e = f->experiment;
  if (!f->observed->has_truth) return;
  if (e->metrics > 0) od_result_section(r, "Metrics");
  od_result_table *t = od_result_add_table(r, "metrics", columns, 3);
  for (int i = 0; i < e->metrics; i++) {
    od_result_add_row(t, e->metric[i].unit, f->observed->metric[i]);
    od_result_cell_text(t, e->metric[i].name);
    od_result_cell(t, f->observed->metric[i]);
  }
}

// --- Curves -----------------------------------------------------------------------------------------------------------

static void add_curve(const od_curve_result *c, bool has_truth, od_result_table *t) {
  double widest = 0, at = 0;
  char name[160];
  for (int i = 0; i < c->samples; i++) {
    double half = OD_NORMAL95 * c->sample[i].sigma / c->full;
    if (half > widest) widest = half, at = c->sample[i].x;
  }
  snprintf(name, sizeof name, "%.70s.%.70s", c->valve, c->port);
  od_result_add_row(t, NULL, NAN);
  od_result_cell_text(t, name);
  od_result_cell(t, 100 * OD_NORMAL95 * c->sigma);
  od_result_cell(t, 100 * widest);
  od_result_cell_text(t, od_display_quantity(at, c->x_unit).text);
  if (!has_truth) return;
  od_result_cell(t, 100 * c->rmse);
  od_result_cell(t, 100 * c->coverage);
  od_result_row_set(t, "valve", od_json_text(c->valve));
  od_result_row_set(t, "port", od_json_text(c->port));
  od_result_row_set(t, "coverage95", od_json_number(c->coverage));
}

static void add_curves(const od_observe_findings *f, od_result *r) {
  static const od_result_column columns[] = {{NULL, "curve, % of full opening", OD_CELL_TEXT},
                                             {NULL, "\u00b1 95 %, rms", OD_CELL_PLAIN, 3},
                                             {NULL, "largest", OD_CELL_PLAIN, 3},
                                             {NULL, "at", OD_CELL_TEXT},
                                             {"rmse_percent", "error, rms", OD_CELL_PLAIN, 3},
                                             {NULL, "true value inside, %", OD_CELL_PLAIN, 3}};
  const od_observed *o = f->observed;
  double rmse = od_observed_curve_rmse(o), bound = o->bound ? od_observed_curve_sigma(o->bound) : (double)NAN;
  bool is_known = !isnan(rmse);
  char best[120] = "";
  if (o->curves > 0) od_result_section(r, "Valve curves");
  od_result_table *t = od_result_add_table(r, o->has_truth ? "curves" : NULL, columns, o->has_truth ? 6 : 4);
  for (int i = 0; i < o->curves; i++) add_curve(&o->curve[i], o->has_truth, t);
  if (o->curves == 0) return;
  if (!isnan(bound)) snprintf(best, sizeof best, "; Cramer-Rao bound of unbiased estimators: %.3g %%", 100 * bound);
  if (is_known)
    od_result_finding(r, OD_SOUND, "All curves:", "rms error %.3g %% of the full opening%s.", 100 * rmse, best);
  od_result_audience(r, OD_FOR_PAGE);
  od_result_line(r,
                 "The abscissa is the travel of the spool beyond dead band and overlap, in the unit of the valve's "
                 "command. Circles are control points with their 95 %% intervals; points without an interval were not "
                 "estimated.");
  add_figures(r, od_observe_draw_curves, f);
  od_result_heading(r, "Intervals");
  od_result_line(r, "The 95 %% interval about the estimate%s, in percent of the full opening.",
                 is_known ? ", and the true curve minus the estimate" : "");
  add_figures(r, od_observe_draw_bands, f);
  od_result_audience(r, OD_FOR_ALL);
}

// --- Consistency ------------------------------------------------------------------------------------------------------

static void add_consistency_row(od_result_table *t, const char *name, od_consistency c, const char *of) {
  char value[40], interval[80];
  snprintf(value, sizeof value, c.value < 1000 ? "%.4f" : "%.4g", c.value);
  snprintf(interval, sizeof interval, "%.4f to %.4f", c.low, c.high);
  od_result_add_row(t, NULL, NAN);
  od_result_cell_text(t, name);
  od_result_cell_shown(t, c.value, value);
  od_result_cell_text(t, interval);
  od_result_cell_text(t, of);
}

static void add_consistency_table(const od_observed *o, od_result *r) {
  static const od_result_column columns[] = {{NULL, "per dimension", OD_CELL_TEXT},
                                             {NULL, "value", OD_CELL_PLAIN},
                                             {NULL, "95 % interval of a consistent filter", OD_CELL_TEXT},
                                             {NULL, "computed from", OD_CELL_TEXT}};
  od_result_table *t = od_result_add_table(r, NULL, columns, 4);
  char of[120], percent[40];
  snprintf(of, sizeof of, "%ld innovations of all sensors", o->nis_dimension);
  if (o->nis_dimension > 0) add_consistency_row(t, "NIS", od_observed_nis(o), of);
  snprintf(of, sizeof of, "errors of %d parameter%s at the end", o->compared, o->compared == 1 ? "" : "s");
  if (!isnan(o->nees) && o->compared > 0) add_consistency_row(t, "NEES", od_consistency_of(o->nees, o->compared), of);
  if (o->compared == 0) return;
  snprintf(of, sizeof of, "%d of %d true values within their 95 %% intervals", o->covered, o->compared);
  snprintf(percent, sizeof percent, "%.1f %%", 100.0 * o->covered / o->compared);
  od_result_add_row(t, NULL, NAN);
  od_result_cell_text(t, "coverage");
  od_result_cell_shown(t, NAN, percent);
  od_result_cell_text(t, "95 %");
  od_result_cell_text(t, of);
}

// Adds a statistic of innovations with the half width of its 95 % interval about the expected value.
static void add_statistic(od_result_table *t, const od_innovations *in, double value, double expected, double limit) {
  char text[2 * OD_NUMBER_SIZE] = "-", number[OD_NUMBER_SIZE];
  bool is_known = in->run.count >= 2;
  od_number_fixed(number, value, 3);
  if (is_known) snprintf(text, sizeof text, "%s \u00b1 %.3f", number, limit);
  od_result_cell_shown(t, value, text);
  od_result_mark(t, is_known && fabs(value - expected) > 2 * limit);
}

static void add_sensor(const od_observe_findings *f, int i, od_result_table *t) {
  const od_innovations *in = &f->observed->innovations[i];
  const od_sensor_counts *c = &f->observed->sensor[i];
  double level = f->observed->level;
  char white[80] = "-", nis[OD_NUMBER_SIZE] = "-";
  if (in->run.count > 0 && !isnan(in->run.square)) od_number_round(nis, in->run.square, 4);
  if (in->run.count >= 2 && isnan(in->whiteness))
    snprintf(white, sizeof white, "too few samples");
  else if (in->run.count >= 2)
    snprintf(white, sizeof white, "%s (%.1f, p %.3f)",
             od_innovations_are_colored(in, level) ? "no"
             : in->chance < level                  ? "nearly"
                                                   : "yes",
             in->whiteness, in->chance);
  od_result_add_row(t, NULL, NAN);
  od_result_cell_text(t, f->experiment->sensor[i].name);
  od_result_cell(t, (double)c->used);
  od_result_cell(t, (double)c->missing);
  od_result_cell(t, (double)c->gated);
  od_result_cell(t, (double)c->frozen);
  od_result_cell(t, (double)c->reopened);
  od_result_cell_shown(t, in->run.square, nis);
  add_statistic(t, in, in->run.mean, 0, in->mean_limit);
  add_statistic(t, in, in->deviation, 1, in->deviation_limit);
  add_statistic(t, in, in->correlation[1], 0, in->correlation_limit);
  od_result_cell_text(t, white);
  od_result_row_set(t, "frozen", json_integer(c->frozen));
  od_result_row_set(t, "reopened", json_integer(c->reopened));
  od_result_row_set(t, "nis_last_quarter", od_json_number(in->last.square));
  od_result_row_set(t, "whiteness_p", od_json_number(in->chance));
}

static void add_sensor_table(const od_observe_findings *f, od_result *r) {
  bool is_frozen = false, is_reopened = false;
  int sensors = f->experiment->sensors;
  for (int i = 0; i < sensors; i++) {
    is_frozen = is_frozen || f->observed->sensor[i].frozen > 0;
    is_reopened = is_reopened || f->observed->sensor[i].reopened > 0;
  }
  const od_result_column columns[] = {{"name", "sensor", OD_CELL_TEXT},
                                      {"used", "used", OD_CELL_WHOLE},
                                      {"missing", "missing", OD_CELL_WHOLE},
                                      {"gated", "gated", OD_CELL_WHOLE},
                                      {NULL, is_frozen ? "frozen" : NULL, OD_CELL_WHOLE},
                                      {NULL, is_reopened ? "re-opened" : NULL, OD_CELL_WHOLE},
                                      {"nis", "NIS", OD_CELL_PLAIN},
                                      {"mean", "mean", OD_CELL_PLAIN},
                                      {NULL, "std", OD_CELL_PLAIN},
                                      {"correlation_lag1", "lag 1", OD_CELL_PLAIN},
                                      {NULL, "white", OD_CELL_TEXT}};
  od_result_table *t = od_result_add_table(r, "sensors", columns, (int)(sizeof columns / sizeof *columns));
  for (int i = 0; i < sensors; i++) add_sensor(f, i, t);
}

// Adds lines about the longest gap of a log and about missing values of its inputs. step: time between two samples, s.
static void add_log(const od_log *log, double step, od_result *r) {
  if (!log) return;
  // An interval of at least twice the step is a gap.
  if (log->longest > 1.999 * step)
    od_result_line(r, "longest gap: %s after %.9g s", od_duration_text(log->longest, 6).text, log->at);
  for (int c = 0; c < log->plan->channels; c++)
    if (log->plan->channel[c].is_input && log->missing[c] > 0)
      od_result_line(r, "input %s: %ld missing %s taken from neighboring rows", log->plan->channel[c].name,
                     log->missing[c], log->missing[c] == 1 ? "value was" : "values were");
}

static void add_consistency(const od_observe_findings *f, od_result *r) {
  const od_observed *o = f->observed;
  od_result_section(r, "Consistency");
  od_result_audience(r, OD_FOR_PAGE);
  od_result_line(
      r,
      "An innovation is a measured value minus its prediction. Innovations of a consistent filter, each divided by "
      "its predicted standard deviation, are independent and have mean 0 and standard deviation 1; their "
      "mean square (NIS per dimension) is 1.%s",
      o->compared > 0 ? " NEES is the corresponding statistic of the errors of the parameters." : "");
  od_result_audience(r, OD_FOR_ALL);
  add_consistency_table(o, r);
  add_sensor_table(f, r);
  add_log(f->experiment->log, o->step, r);
  if (f->experiment->sensors == 0) return;
  od_result_audience(r, OD_FOR_PAGE);
  od_result_line(
      r,
      "\u00b1 is the 95 %% interval of a consistent filter; values outside twice this interval are marked. White: "
      "Ljung-Box statistic over %d lags, and the p-value p of the test of whiteness; \"no\" and \"nearly\" mean that "
      "p is below %.2g. At this level all tests of the verdict together reject one of a hundred runs of a consistent "
      "filter.",
      OD_LAGS, o->level);
  add_figures(r, od_observe_draw_innovations, f);
  od_result_audience(r, OD_FOR_ALL);
}

// --- Comparisons ------------------------------------------------------------------------------------------------------

static void add_comparison(const od_observe_findings *f, int i, od_result_table *t) {
  const od_reference *m = &f->experiment->reference[i];
  const od_reference_result *c = &f->observed->reference[i];
  const od_watched *w = &f->experiment->watched[m->watched];
  od_result_add_row(t, w->unit, od_larger(c->rms, c->band));
  od_result_cell_text(t, m->name);
  od_result_cell_text(t, w->name);
  od_result_cell(t, (double)c->count);
  od_result_cell(t, c->rms);
  od_result_cell(t, c->bias);
  od_result_cell(t, c->band);
  od_result_cell(t, c->noise);
  od_result_cell(t, 100 * c->share);
  od_result_row_set(t, "share95", od_json_number(c->share));
  od_result_row_set(t, "noise_is_given", json_boolean(m->sigma > 0));
  od_result_row_set(t, "mean_square", od_json_number(c->square));
  od_result_row_set(t, "independent", od_json_number(c->freedom));
  od_result_row_set(t, "chance", od_json_number(c->chance));
}

static void add_comparisons(const od_observe_findings *f, od_result *r) {
  static const od_result_column columns[] = {{"column", "column", OD_CELL_TEXT},
                                             {"output", "compared with", OD_CELL_TEXT},
                                             {"unit", "unit", OD_CELL_UNIT},
                                             {"count", "values", OD_CELL_WHOLE},
                                             {"rms", "rms difference", OD_CELL_NUMBER, 3},
                                             {"bias", "mean", OD_CELL_NUMBER, 3},
                                             {"band", "\u00b1 95 %", OD_CELL_NUMBER, 3},
                                             {"noise", "noise, sigma", OD_CELL_NUMBER, 3},
                                             {NULL, "inside, %", OD_CELL_PLAIN, 3}};
  const od_experiment *e = f->experiment;
  if (e->references == 0 || f->observed->has_truth) return;
  od_result_section(r, "Comparisons with the log");
  od_result_table *t = od_result_add_table(r, "comparisons", columns, (int)(sizeof columns / sizeof *columns));
  for (int i = 0; i < e->references; i++) add_comparison(f, i, t);
  od_result_audience(r, OD_FOR_PAGE);
  od_result_line(
      r,
      "No sensor of the observer uses these columns. \u00b1 95 %%: half width of the band, from the standard "
      "deviation of the estimate and the noise of the column (rms over the run). About 95 %% of the values are "
      "inside, if model and noise are correct; errors of an estimate are correlated in time, so that shares vary "
      "from run to run.");
  add_figures(r, od_observe_draw_comparisons, f);
  od_result_audience(r, OD_FOR_ALL);
}

// --- Outputs ----------------------------------------------------------------------------------------------------------

// Returns the fraction of the samples at which the true value of an output was within the 95 % interval; NAN: unknown.
static double coverage_of(const od_observed *o, int i, const char *name) {
  const od_table *t = o->table;
  int estimate = od_table_find_suffixed(t, "estimate", name), sigma = od_table_find_suffixed(t, "sigma", name),
      truth = od_table_find_suffixed(t, "true", name);
  long inside = 0, all = 0;
  if (estimate < 0 || sigma < 0 || truth < 0) return NAN;
  if (o->kept != OD_ROWS_ALL) inside = o->within[i], all = o->known[i];
  for (long k = 0; k < t->rows && o->kept == OD_ROWS_ALL; k++) {
    const double *row = t->data + k * t->columns;
    if (isnan(row[truth])) continue;
    all++;
    inside += fabs(row[estimate] - row[truth]) <= OD_NORMAL95 * row[sigma];
  }
  return all > 0 ? (double)inside / (double)all : (double)NAN;
}

static void add_output(const od_observe_findings *f, int i, od_result_table *t) {
  const od_observed *o = f->observed;
  const od_watched *w = &f->experiment->watched[i];
  double value = od_observe_last(o, "estimate", w->name), sigma = od_observe_last(o, "sigma", w->name);
  double truth = od_observe_last(o, "true", w->name), half = OD_NORMAL95 * sigma;
  od_summary error = summary_of(o, "error", w->name);
  od_result_add_row(t, w->unit, od_larger(value, truth));
  od_result_cell_text(t, w->name);
  od_result_cell_value(t, value, half);
  od_result_cell_uncertainty(t, half);
  od_result_cell_value(t, truth, half);
  od_result_cell_value(t, error.rms, error.rms);
  od_result_cell(t, 100 * coverage_of(o, i, w->name));
  if (o->has_truth) od_result_row_set(t, "error", od_json_number(error.final));
  if (i < f->experiment->sensors) od_result_cell(t, od_sensor_sigma(&f->experiment->sensor[i]));
  od_result_row_set(t, "sigma", od_json_number(sigma));
}

static void add_output_table(const od_observe_findings *f, int first, int end, od_result *r) {
  bool has_truth = f->observed->has_truth, has_sensor = first < f->experiment->sensors;
  const char *truth = has_truth ? "true" : NULL;
  const od_result_column columns[] = {
      {"name", "output at the end", OD_CELL_TEXT},
      {"unit", "unit", OD_CELL_UNIT},
      {"estimate", "estimate", OD_CELL_NUMBER},
      {NULL, "\u00b1 95 %", OD_CELL_NUMBER},
      {truth, truth, OD_CELL_NUMBER},
      {has_truth ? "error_rms" : NULL, has_truth ? "error, rms of the run" : NULL, OD_CELL_NUMBER},
      {NULL, has_truth ? "true value inside, %" : NULL, OD_CELL_PLAIN, 0, 1},
      {NULL, has_sensor ? "sensor noise, sigma" : NULL, OD_CELL_NUMBER, 3}};
  od_result_table *t = od_result_add_table(r, "outputs", columns, (int)(sizeof columns / sizeof *columns));
  for (int i = first; i < end; i++) add_output(f, i, t);
}

static void add_outputs(const od_observe_findings *f, od_result *r) {
  const od_experiment *e = f->experiment;
  od_result_audience(r, OD_FOR_PAGE);
  if (e->sensors > 0) {
    od_result_section(r, "Sensors");
    add_charts(r, od_observe_draw_sensors, f);
  }
  add_output_table(f, 0, e->sensors, r);
  if (e->watches > e->sensors) {
    od_result_section(r, "Outputs without a sensor");
    add_charts(r, od_observe_draw_hidden, f);
    add_output_table(f, e->sensors, e->watches, r);
  }
  if (od_machine_input_count(e->model) > 0) {
    od_result_section(r, "Inputs");
    add_figures(r, od_observe_draw_inputs, f);
  }
  od_result_audience(r, OD_FOR_ALL);
}

// --- The whole result -------------------------------------------------------------------------------------------------

static void add_speed(const od_observed *o, od_result *r) {
  if (o->steps < 1 || !(o->seconds > 0)) return;
  double per_step = o->seconds / (double)o->steps;
  od_result_line(r, "observer: %.3g us per step, %.10g times real time", 1e6 * per_step,
                 od_two_digits(o->step / per_step));
}

od_result od_observe_result(const od_observe_findings *f) {
  const od_experiment *e = f->experiment;
  char how[500];
  od_result r = od_result_new("Observer report", e->title && e->title[0] ? e->title : e->path);
  r.doubtful_means = "errors may be larger than the reported standard deviations";
  od_observe_describe(f, how, sizeof how);
  od_result_subtitle(&r, how);
  add_data(f, &r);
  od_result_audience(&r, OD_FOR_TERMINAL);
  od_result_heading(&r, "%.200s: %s", e->title, how);
  od_result_audience(&r, OD_FOR_PAGE);
  od_result_figures(&r, od_observe_draw_machines, f);
  od_result_section(&r, "The run");
  add_facts(f, &r);
  od_result_section(&r, "Verdict");
  if (f->message)
    od_result_notice(&r, OD_UNSOUND, "The run ended early:", "%s. The results include the samples up to this time.",
                     f->message);
  od_result_verdict(&r, &f->observed->verdict);
  od_result_audience(&r, OD_FOR_ALL);
  add_parameters(f, &r);
  add_changes(f, &r);
  add_curves(f, &r);
  add_consistency(f, &r);
  add_metrics(f, &r);
  add_comparisons(f, &r);
  add_outputs(f, &r);
  // Pages contain no processor times, so that equal estimates result in identical pages.
  od_result_audience(&r, OD_FOR_TERMINAL);
  add_speed(f->observed, &r);
  od_result_verdict(&r, &f->observed->verdict);
  return r;
}
