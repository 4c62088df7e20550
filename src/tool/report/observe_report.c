// The page in its order: what it is about, findings, inputs, outputs, curves, parameters, consistency.
#include "report/observe_report.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "experiment/observe_verdict.h"
#include "report/observe_sections.h"

enum { MOST_ROWS = 1000 };

// --- Numbers ------------------------------------------------------------------------------------------------------

double od_kept_uncertainty(const od_observe_report *a, int parameter) {
  return a->o->sigma[parameter] / a->e->parameter[parameter].sigma;
}

bool od_is_uninformed(const od_observe_report *a, int parameter) {
  return od_kept_uncertainty(a, parameter) > 0.95;
}

// --- What it is about ---------------------------------------------------------------------------------------------

static void report_facts(od_observe_report *a) {
  const od_experiment *e = a->e;
  const od_observed *o = a->o;
  const char *variant = od_machine_variant(e->model);
  const char *true_variant = e->truth ? od_machine_variant(e->truth) : NULL;
  od_page *p = a->page;
  od_page_facts_begin(p);
  od_page_fact(p, "Experiment", "%s", e->path);
  od_page_machine_fact(p, e->model);
  if (e->truth)
    od_page_fact(p, "Measured on", "a simulated machine%s%s; seed of the noise: %llu", true_variant ? ", variant " : "",
                 true_variant ? true_variant : "", (unsigned long long)e->seed);
  else if (e->log)
    od_page_fact(p, "Log", "%s, %ld rows", e->data.file, e->log->rows);
  else
    od_page_fact(p, "Log", "none: samples came live");
  if (variant) od_page_fact(p, "Observer's model", "variant %s", variant);
  od_page_replaced_fact(p, "Set in the true machine", od_machine_numbers(e->truth));
  od_page_replaced_fact(p, "Set in the model", od_machine_numbers(e->model));
  od_page_replaced_fact(p, "Set in the experiment", &e->file->numbers);
  double end = o->table->data[(o->table->rows - 1) * o->table->columns];
  od_page_fact(p, "Run", "%s in %ld steps of %s", od_quantity_alone(end, NAN, "s", end).text, o->steps,
               od_quantity_alone(o->step, NAN, "s", o->step).text);
  od_page_fact(p, "Observer", "%d sensors, %d more outputs, %d parameters; %s (%s), steps by %s; %s covariance%s",
               e->sensors, e->watches - e->sensors, e->parameters, e->filter->name, e->filter->description,
               e->integrator->name, e->form == OD_FORM_JOSEPH ? "Joseph's form of the" : "square root of the",
               e->gate > 0 ? ", gated" : "");
  od_page_facts_end(p);
}

// --- Outputs ------------------------------------------------------------------------------------------------------

// The part of the run over which the true value was within the 95 % interval.
static double coverage_of(const od_observed *o, int i, int estimate, int sigma, int truth) {
  const od_table *t = o->table;
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

double od_report_last_of(const od_observed *o, int column) {
  return column >= 0 ? od_observed_summary(o, column).final : (double)NAN;
}

static void output_row(od_observe_report *a, int i) {
  const od_table *t = a->o->table;
  const od_watched *w = &a->e->watched[i];
  int estimate = od_table_find(t, "estimate", w->name), sigma = od_table_find(t, "sigma", w->name),
      truth = od_table_find(t, "true", w->name), error = od_table_find(t, "error", w->name);
  double value = od_report_last_of(a->o, estimate), half = OD_NORMAL95 * od_report_last_of(a->o, sigma);
  double rms = error >= 0 ? od_observed_summary(a->o, error).rms : (double)NAN;
  od_display shown = od_display_unit(w->unit, od_larger(value, od_report_last_of(a->o, truth)));
  char text[OD_NUMBER_SIZE];
  od_page_row(a->page, w->name);
  od_page_cell(a->page, "%s", shown.unit);
  od_page_value_cell(a->page, value, half, shown.factor);
  od_display_uncertainty(text, half * shown.factor);
  od_page_cell(a->page, "%s", text);
  if (a->o->has_truth) {
    od_page_value_cell(a->page, od_report_last_of(a->o, truth), half, shown.factor);
    od_page_value_cell(a->page, rms, rms, shown.factor);
    od_page_percent_cell(a->page, coverage_of(a->o, i, estimate, sigma, truth));
  }
  if (i < a->e->sensors) od_page_cell(a->page, "%.3g", od_sensor_sigma(&a->e->sensor[i]) * shown.factor);
}

static void outputs_table(od_observe_report *a, int first, int end) {
  static const od_page_column common[] = {
      {"at the end", true}, {"unit", true}, {"estimate", false}, {"\u00b1 95 %", false}};
  static const od_page_column truth[] = {
      {"true", false}, {"error, rms of the run", false}, {"true within 95 %", false}};
  od_page_column columns[8];
  int count = 4;
  memcpy(columns, common, sizeof common);
  if (a->o->has_truth) {
    memcpy(columns + count, truth, sizeof truth);
    count += 3;
  }
  if (first < a->e->sensors) columns[count++] = (od_page_column){"sensor's noise, sigma", false};
  od_page_table_begin(a->page, columns, count);
  for (int i = first; i < end && i < first + MOST_ROWS; i++) output_row(a, i);
  od_page_table_end(a->page);
}

static void report_outputs(od_observe_report *a) {
  const od_experiment *e = a->e;
  if (e->sensors > 0) {
    od_page_section(a->page, "Sensors");
    od_report_outputs_figures(a, 0, e->sensors);
    outputs_table(a, 0, e->sensors);
  }
  if (e->watches > e->sensors) {
    od_page_section(a->page, "Without a sensor");
    od_report_outputs_figures(a, e->sensors, e->watches);
    outputs_table(a, e->sensors, e->watches);
  }
}

// --- Parameters ---------------------------------------------------------------------------------------------------

static void parameter_row(od_observe_report *a, int i) {
  const od_estimated *p = &a->e->parameter[i];
  double estimate = a->o->estimate[i], sigma = a->o->sigma[i], half = OD_NORMAL95 * sigma;
  double off = (estimate - p->truth) / sigma, shift = a->o->bias[i] / sigma, kept = od_kept_uncertainty(a, i);
  od_display shown = od_display_unit(p->unit, od_larger(estimate, od_larger(a->o->start[i], p->truth)));
  char text[OD_NUMBER_SIZE];
  od_page_row(a->page, p->path);
  od_page_cell(a->page, "%s", shown.unit);
  od_page_value_cell(a->page, a->o->start[i], NAN, shown.factor);
  od_page_value_cell(a->page, estimate, half, shown.factor);
  od_display_uncertainty(text, half * shown.factor);
  od_page_cell(a->page, "%s", text);
  if (isfinite(shift))
    od_page_marked_cell(a->page, fabs(shift) > 0.5, "%.2g", shift);
  else
    od_page_cell(a->page, "-");
  if (a->o->compared > 0) {
    od_page_value_cell(a->page, p->truth, NAN, shown.factor);
    if (isnan(off))
      od_page_cell(a->page, "-");
    else
      od_page_marked_cell(a->page, fabs(off) > 3, "%.2f", off);
  }
  if (od_is_uninformed(a, i))
    od_page_cell(a->page, "not at all: the data say nothing about it");
  else if (isfinite(kept) && kept > 0)
    od_page_cell(a->page, "%.2g times", 1 / kept);
  else
    od_page_cell(a->page, "-");
}

static void report_parameters(od_observe_report *a) {
  static const char shifted[] = "shift by steps, sigmas";
  static const od_page_column with[] = {
      {"parameter", true}, {"unit", true},  {"start", false},          {"estimate", false}, {"\u00b1 95 %", false},
      {shifted, false},    {"true", false}, {"error in sigma", false}, {"narrower", true}};
  static const od_page_column without[] = {{"parameter", true}, {"unit", true},         {"start", false},
                                           {"estimate", false}, {"\u00b1 95 %", false}, {shifted, false},
                                           {"narrower", true}};
  int count = a->e->parameters;
  bool truth = a->o->compared > 0;
  if (count == 0) return;
  od_page_section(a->page, "Parameters");
  od_page_text(
      a->page,
      "The interval is what the observer believes after the run; \u201cnarrower\u201d compares it with the start.%s",
      truth ? " Errors beyond three standard deviations are marked." : "");
  od_page_table_begin(a->page, truth ? with : without, truth ? 9 : 7);
  for (int i = 0; i < count && i < MOST_ROWS; i++) parameter_row(a, i);
  od_page_table_end(a->page);
  if (count > MOST_ROWS) od_page_text(a->page, "Shown are the first %d of %d parameters.", MOST_ROWS, count);
  od_report_convergence(a);
}

// --- Consistency --------------------------------------------------------------------------------------------------

static void consistency_row(od_page *p, const char *name, const char *what, od_consistency c) {
  od_page_row(p, name);
  od_page_cell(p, c.value < 1000 ? "%.4f" : "%.4g", c.value);
  od_page_cell(p, "%.4f to %.4f", c.low, c.high);
  od_page_cell(p, "%s", what);
}

static void consistency_table(od_observe_report *a) {
  static const od_page_column columns[] = {
      {"per dimension", true}, {"value", false}, {"95 % interval of a right filter", false}, {"of what", true}};
  const od_observed *o = a->o;
  char what[120];
  od_page_table_begin(a->page, columns, 4);
  if (o->nis_dimension > 0) {
    snprintf(what, sizeof what, "%ld innovations of all sensors", o->nis_dimension);
    consistency_row(a->page, "NIS", what, od_observed_nis(o));
  }
  if (!isnan(o->nees) && o->compared > 0) {
    snprintf(what, sizeof what, "errors of %d parameters at the end", o->compared);
    consistency_row(a->page, "NEES", what, od_consistency_of(o->nees, o->compared));
  }
  if (o->compared > 0) {
    od_page_row(a->page, "coverage");
    od_page_percent_cell(a->page, (double)o->covered / o->compared);
    od_page_cell(a->page, "95 %%");
    od_page_cell(a->page, "%d of %d true values within their 95 %% intervals", o->covered, o->compared);
  }
  od_page_table_end(a->page);
}

// A value beside how far it may be from the expected one by chance.
static void chance_cell(od_page *p, double value, double expected, double limit) {
  char text[OD_NUMBER_SIZE];
  od_number_fixed(text, value, 3);
  od_page_marked_cell(p, fabs(value - expected) > 2 * limit, "%s \u00b1 %.3f", text, limit);
}

static void sensor_row(od_observe_report *a, int i) {
  const od_innovations *in = &a->o->innovations[i];
  const od_sensor_counts *c = &a->o->sensor[i];
  od_page *p = a->page;
  od_page_row(p, a->e->sensor[i].name);
  od_page_cell(p, "%ld", c->used);
  od_page_cell(p, "%ld", c->missing);
  od_page_cell(p, "%ld", c->gated);
  if (in->run.count < 2) {
    for (int k = 0; k < 4; k++) od_page_cell(p, "-");
    return;
  }
  chance_cell(p, in->run.mean, 0, in->mean_limit);
  chance_cell(p, in->deviation, 1, in->deviation_limit);
  chance_cell(p, in->correlation[1], 0, in->correlation_limit);
  if (isnan(in->whiteness))
    od_page_cell(p, "too few samples");
  else
    od_page_cell(p, "%s (%.1f, p %.3f)",
                 od_innovations_coloured(in, a->o->level) ? "no"
                 : in->chance < a->o->level               ? "nearly"
                                                          : "yes",
                 in->whiteness, in->chance);
}

static void report_consistency(od_observe_report *a) {
  static const od_page_column columns[] = {{"sensor", true}, {"used", false}, {"missing", false}, {"gated", false},
                                           {"mean", false},  {"std", false},  {"lag 1", false},   {"white", true}};
  od_page_section(a->page, "Consistency");
  od_page_text(
      a->page,
      "An innovation is what a sensor says beyond what the observer expects of it. Of a right filter the "
      "innovations, each over its expected size, are independent numbers of mean 0 and standard deviation 1, and "
      "their mean square (NIS per dimension) is 1.%s",
      a->o->compared > 0 ? " NEES is the same for the errors of the parameters." : "");
  consistency_table(a);
  if (a->e->sensors == 0) return;
  od_page_table_begin(a->page, columns, 8);
  for (int i = 0; i < a->e->sensors && i < MOST_ROWS; i++) sensor_row(a, i);
  od_page_table_end(a->page);
  od_page_text(
      a->page,
      "\u00b1 is how far a right filter's would be off by chance (95 %%); what is off twice as far is marked. White: "
      "Ljung and Box's sum over %d lags, with the probability p that a white sequence's is larger; no or nearly: p is "
      "below %.2g, so that of all tests of the verdict together one fails in one of a hundred runs of a right filter.",
      OD_LAGS, a->o->level);
  od_report_innovations(a);
}

// --- All of it ----------------------------------------------------------------------------------------------------

static bool gather(od_observe_report *a) {
  a->page = od_page_new("Observer report", a->e->title && a->e->title[0] ? a->e->title : a->e->path);
  a->series = calloc((size_t)a->e->sensors + 1, sizeof *a->series);
  bool ok = a->page && a->series;
  for (int i = 0; ok && i < a->e->sensors; i++) ok = (a->series[i] = od_innovation_series(a->e, a->o, i)) != NULL;
  return ok;
}

static void release(od_observe_report *a) {
  for (int i = 0; a->series && i < a->e->sensors; i++) free(a->series[i]);
  free(a->series);
  od_page_free(a->page);
}

od_status od_observe_report_write(const od_experiment *e, const od_observed *o, const char *message, const char *path,
                                  od_error *err) {
  if (o->table->rows == 0) return od_fail(err, OD_BAD_ARGUMENT, "there is nothing to report");
  od_observe_report a = {.e = e, .o = o, .message = message};
  od_status status = OD_NO_MEMORY;
  if (gather(&a)) {
    report_facts(&a);
    od_report_findings(&a);
    od_report_inputs(&a);
    report_outputs(&a);
    od_report_curves(&a);
    report_parameters(&a);
    report_consistency(&a);
    status = od_page_write(a.page, path, err);
  } else {
    od_fail(err, status, "memory ran out");
  }
  release(&a);
  return status;
}
