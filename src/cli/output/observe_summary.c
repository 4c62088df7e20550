#include "output/observe_summary.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "terminal/print_verdict.h"
#include "terminal/terminal.h"
#include "io/display.h"
#include "io/json.h"
#include "io/number.h"

// --- For people ---------------------------------------------------------------------------------------------------

static void print_number(FILE *to, double value, int digits) {
  char text[OD_NUMBER_SIZE] = "-";
  if (!isnan(value)) od_number_round(text, value, digits);
  fprintf(to, " %12s", text);
}

static const char *source_name(const od_experiment *e) {
  return e->log ? e->data.file : "live";
}

static double in_sigmas(const od_findings *f, int i) {
  return (f->observed->estimate[i] - f->observed->truth[i]) / f->observed->sigma[i];
}

// By which the steps shift an estimate.
static double shift_in_sigmas(const od_findings *f, int i) {
  return f->observed->bias[i] / f->observed->sigma[i];
}

// The unit in which a parameter's numbers are shown.
static od_display shown_in(const od_findings *f, int i) {
  const od_estimated *p = &f->experiment->parameter[i];
  return od_display_unit(
      p->unit, fmax(fabs(f->observed->estimate[i]), fmax(fabs(f->observed->start[i]), fabs(f->observed->truth[i]))));
}

static void print_parameters(const od_findings *f, FILE *to) {
  const od_experiment *e = f->experiment;
  int name = (int)strlen("parameter"), unit = (int)strlen("unit");
  for (int i = 0; i < e->parameters; i++) {
    name = od_text_widest(name, e->parameter[i].path);
    unit = od_text_widest(unit, shown_in(f, i).unit);
  }
  bool truth = f->observed->has_truth, shift = false;
  for (int i = 0; i < e->parameters; i++) shift = shift || fabs(shift_in_sigmas(f, i)) >= 0.1;
  fprintf(to, "  %-*s  %-*s", name, "parameter", unit, "unit");
  if (truth) fprintf(to, " %12s", "true");
  fprintf(to, " %12s %12s %12s", "start", "estimate", "sigma");
  if (shift) fprintf(to, " %12s", "shift/sigma");
  fprintf(to, truth ? " %12s\n" : "\n", "error/sigma");
  for (int i = 0; i < e->parameters; i++) {
    const od_estimated *p = &e->parameter[i];
    od_display shown = shown_in(f, i);
    fprintf(to, "  ");
    od_print_padded(to, p->path, name);
    fprintf(to, "  ");
    od_print_padded(to, shown.unit, unit);
    if (truth) print_number(to, f->observed->truth[i] * shown.factor, 6);
    print_number(to, f->observed->start[i] * shown.factor, 6);
    print_number(to, f->observed->estimate[i] * shown.factor, 6);
    print_number(to, f->observed->sigma[i] * shown.factor, 3);
    if (shift) print_number(to, shift_in_sigmas(f, i), 2);
    if (truth) print_number(to, in_sigmas(f, i), 3);
    fprintf(to, "\n");
  }
}

static void print_sensors(const od_findings *f, FILE *to) {
  const od_experiment *e = f->experiment;
  int name = (int)strlen("sensor");
  for (int i = 0; i < e->sensors; i++) name = od_text_widest(name, e->sensor[i].name);
  bool frozen = false, reopened = false;
  for (int i = 0; i < e->sensors; i++) {
    frozen = frozen || f->observed->sensor[i].frozen > 0;
    reopened = reopened || f->observed->sensor[i].reopened > 0;
  }
  fprintf(to, "  %-*s %12s %12s %12s", name, "sensor", "used", "missing", "gated");
  if (frozen) fprintf(to, " %12s", "frozen");
  if (reopened) fprintf(to, " %12s", "re-opened");
  fprintf(to, " %12s %12s %12s\n", "NIS", "mean", "lag 1");
  for (int i = 0; i < e->sensors; i++) {
    const od_sensor_counts *c = &f->observed->sensor[i];
    fprintf(to, "  ");
    od_print_padded(to, e->sensor[i].name, name);
    fprintf(to, " %12ld %12ld %12ld", c->used, c->missing, c->gated);
    if (frozen) fprintf(to, " %12ld", c->frozen);
    if (reopened) fprintf(to, " %12ld", c->reopened);
    const od_innovations *in = &f->observed->innovations[i];
    print_number(to, in->run.count > 0 ? in->run.square : (double)NAN, 4);
    print_number(to, in->run.count > 0 ? in->run.mean : (double)NAN, 2);
    print_number(to, in->correlation[1], 2);
    fprintf(to, "\n");
  }
}

static void print_curves(const od_findings *f, FILE *to) {
  const od_observed *o = f->observed;
  double rmse = od_observed_curve_rmse(o);
  if (o->curves == 0) return;
  // Without a true curve, what the observer thinks of itself.
  if (isnan(rmse))
    fprintf(to, "curves: known to, in %% of fully open (95 %%, rms over the stroke),");
  else
    fprintf(to, "curves: off by %.3g %% of fully open, rms over", 100 * rmse);
  for (int i = 0; i < o->curves; i++) {
    double percent = 100 * (isnan(rmse) ? 1.96 * o->curve[i].sigma : o->curve[i].rmse);
    fprintf(to, "%s %s.%s (%.3g %%)", i ? "," : "", o->curve[i].valve, o->curve[i].port, percent);
  }
  if (!isnan(rmse) && o->bound) fprintf(to, "; at best %.3g %%", 100 * od_observed_curve_sigma(o->bound));
  fprintf(to, "\n");
}

static void print_consistency(const od_findings *f, FILE *to) {
  const od_observed *o = f->observed;
  od_consistency nis = od_observed_nis(o);
  if (o->nis_dimension > 0)
    fprintf(to, "innovations: NIS per dimension %.4f; of a right filter %.4f to %.4f in 95 %% of all runs\n", nis.value,
            nis.low, nis.high);
  if (o->compared > 0)
    fprintf(to, "parameters: %d of %d true values are within their 95 %% intervals", o->covered, o->compared);
  if (o->compared > 0 && !isnan(o->nees)) fprintf(to, "; NEES per dimension %.3g", o->nees / o->compared);
  if (o->compared > 0) fprintf(to, "\n");
}

static void print_metrics(const od_findings *f, FILE *to) {
  const od_experiment *e = f->experiment;
  for (int i = 0; i < e->metrics && f->observed->has_truth; i++) {
    const od_error_metric *m = &e->metric[i];
    od_display unit = od_display_unit(m->unit, f->observed->metric[i]);
    fprintf(to, "%s%s: %.5g%s%s", i ? ", " : "", m->name, f->observed->metric[i] * unit.factor,
            strcmp(m->unit, "1") ? " " : "", strcmp(m->unit, "1") ? unit.unit : "");
  }
  if (e->metrics > 0 && f->observed->has_truth) fprintf(to, "\n");
}

static void print_speed(const od_findings *f, FILE *to) {
  const od_observed *o = f->observed;
  if (o->steps < 1 || !(o->seconds > 0)) return;
  double per_step = o->seconds / (double)o->steps;
  char times[OD_NUMBER_SIZE];
  od_number_round(times, o->step / per_step, 2);
  fprintf(to, "observer: %.3g us per step, %s times real time\n", 1e6 * per_step, times);
}

void od_findings_describe(const od_findings *f, char *text, size_t size) {
  const od_experiment *e = f->experiment;
  const od_observed *o = f->observed;
  od_duration step = od_duration_text(o->step, 6);
  const char *variant = e->truth ? od_machine_variant(e->truth) : NULL;
  if (!o->has_truth)
    snprintf(text, size, "%s%.200s, %ld samples from %.9g s to %.9g s, %s apart", e->log ? "log " : "", source_name(e),
             o->steps + 1, o->begin, o->end, step.text);
  else
    snprintf(text, size, "%s%.60s%sin steps of %s, seed %llu", variant ? "truth " : "", variant ? variant : "",
             variant ? ", " : "", step.text, (unsigned long long)e->seed);
}

// What the log had that one should know.
static void print_log(const od_findings *f, FILE *to) {
  const od_log *log = f->experiment->log;
  if (!log) return;
  // Twice the usual time is a gap.
  if (log->longest > 1.999 * f->observed->step)
    fprintf(to, "longest gap: %s after %.9g s\n", od_duration_text(log->longest, 6).text, log->at);
  for (int c = 0; c < log->plan->channels; c++)
    if (log->plan->channel[c].is_input && log->missing[c] > 0)
      fprintf(to, "input %s: %ld missing %s taken from the rows around\n", log->plan->channel[c].name, log->missing[c],
              log->missing[c] == 1 ? "value was" : "values were");
}

void od_log_warn(const od_log *log) {
  for (int c = 0; log && c < log->plan->channels; c++) {
    const od_channel *channel = &log->plan->channel[c];
    if (log->constant[c]) od_cli_warning("%s: '%s' never changes", log->plan->file, channel->name);
    if (log->missing[c] == log->rows) od_cli_warning("%s: '%s' has no values", log->plan->file, channel->name);
  }
}

void od_findings_print(const od_findings *f, FILE *to) {
  const od_experiment *e = f->experiment;
  char line[800], how[500];
  od_findings_describe(f, how, sizeof how);
  snprintf(line, sizeof line, "%.200s: %s", e->title, how);
  od_heading(to, line);
  if (e->parameters > 0) print_parameters(f, to);
  print_sensors(f, to);
  print_log(f, to);
  print_curves(f, to);
  print_consistency(f, to);
  print_metrics(f, to);
  print_speed(f, to);
  od_cli_verdict(&f->observed->verdict, to);
}

// --- For programs -------------------------------------------------------------------------------------------------

static json_t *parameters_json(const od_findings *f) {
  const od_experiment *e = f->experiment;
  json_t *list = json_array();
  for (int i = 0; i < e->parameters; i++) {
    const od_estimated *p = &e->parameter[i];
    json_t *item = json_pack("{s:o, s:o}", "path", od_json_text(p->path), "unit", od_json_text(p->unit));
    if (f->observed->has_truth) json_object_set_new(item, "true", od_json_number(f->observed->truth[i]));
    json_object_set_new(item, "start", od_json_number(f->observed->start[i]));
    json_object_set_new(item, "estimate", od_json_number(f->observed->estimate[i]));
    json_object_set_new(item, "sigma", od_json_number(f->observed->sigma[i]));
    json_object_set_new(item, "step_shift_in_sigmas", od_json_number(shift_in_sigmas(f, i)));
    if (f->observed->shift) json_object_set_new(item, "start_shift_in_sigmas", od_json_number(f->observed->shift[i]));
    if (f->observed->bound) json_object_set_new(item, "bound", od_json_number(f->observed->bound->sigma[i]));
    if (f->observed->has_truth) json_object_set_new(item, "error_in_sigmas", od_json_number(in_sigmas(f, i)));
    json_array_append_new(list, item);
  }
  return list;
}

static json_t *sensors_json(const od_findings *f) {
  json_t *list = json_array();
  for (int i = 0; i < f->experiment->sensors; i++) {
    const od_sensor_counts *c = &f->observed->sensor[i];
    const od_innovations *in = &f->observed->innovations[i];
    json_t *item =
        json_pack("{s:o, s:I, s:I, s:I, s:I, s:I}", "name", od_json_text(f->experiment->sensor[i].name), "used",
                  (json_int_t)c->used, "missing", (json_int_t)c->missing, "gated", (json_int_t)c->gated, "frozen",
                  (json_int_t)c->frozen, "reopened", (json_int_t)c->reopened);
    json_object_set_new(item, "nis", od_json_number(in->run.square));
    json_object_set_new(item, "nis_last_quarter", od_json_number(in->last.square));
    json_object_set_new(item, "mean", od_json_number(in->run.mean));
    json_object_set_new(item, "correlation_lag1", od_json_number(in->correlation[1]));
    json_object_set_new(item, "whiteness_p", od_json_number(in->chance));
    json_array_append_new(list, item);
  }
  return list;
}

// Errors of the watched outputs: at the end, and root mean square over the run.
static json_t *outputs_json(const od_findings *f) {
  const od_experiment *e = f->experiment;
  const od_observed *o = f->observed;
  const od_columns *c = &o->columns;
  json_t *list = json_array();
  for (int i = 0; i < e->watches; i++) {
    int column = c->watched + c->per_watched * i;  // estimate, sigma; true, error
    json_t *item =
        json_pack("{s:o, s:o}", "name", od_json_text(e->watched[i].name), "unit", od_json_text(e->watched[i].unit));
    if (f->observed->has_truth)
      json_object_set_new(item, "true", od_json_number(od_observed_summary(o, column + 2).final));
    json_object_set_new(item, "estimate", od_json_number(od_observed_summary(o, column).final));
    json_object_set_new(item, "sigma", od_json_number(od_observed_summary(o, column + 1).final));
    if (f->observed->has_truth) {
      od_summary error = od_observed_summary(o, column + 3);
      json_object_set_new(item, "error", od_json_number(error.final));
      json_object_set_new(item, "error_rms", od_json_number(error.rms));
    }
    json_array_append_new(list, item);
  }
  return list;
}

static json_t *curves_json(const od_observed *o) {
  json_t *list = json_array();
  for (int i = 0; i < o->curves; i++)
    json_array_append_new(
        list, json_pack("{s:o, s:o, s:o, s:o}", "valve", od_json_text(o->curve[i].valve), "port",
                        od_json_text(o->curve[i].port), "rmse_percent", od_json_number(100 * o->curve[i].rmse),
                        "coverage95", od_json_number(o->curve[i].coverage)));
  return list;
}

// Where the samples came from, if not from a simulated machine.
static json_t *data_json(const od_findings *f) {
  const od_experiment *e = f->experiment;
  const od_observed *o = f->observed;
  json_t *object = json_pack("{s:o, s:I}", "file", od_json_text(source_name(e)), "samples", (json_int_t)o->steps + 1);
  json_object_set_new(object, "begin", od_json_number(o->begin));
  json_object_set_new(object, "end", od_json_number(o->end));
  json_object_set_new(object, "failed", json_integer(o->failed));
  json_object_set_new(object, "held", json_integer(o->held));
  const od_log *log = e->log;
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

static json_t *metrics_json(const od_findings *f) {
  json_t *list = json_array();
  for (int i = 0; i < f->experiment->metrics; i++) {
    const od_error_metric *m = &f->experiment->metric[i];
    json_array_append_new(list, json_pack("{s:o, s:s, s:o}", "name", od_json_text(m->name), "unit", m->unit, "value",
                                          od_json_number(f->observed->metric[i])));
  }
  return list;
}

// What only those know who know the truth.
static void add_comparison(const od_findings *f, json_t *object) {
  const od_observed *o = f->observed;
  json_object_set_new(object, "metrics", metrics_json(f));
  json_object_set_new(object, "curves", curves_json(o));
  json_object_set_new(object, "curve_rmse_percent", od_json_number(100 * od_observed_curve_rmse(o)));
  json_object_set_new(object, "nees_per_dimension", od_json_number(o->compared ? o->nees / o->compared : (double)NAN));
  json_object_set_new(object, "coverage95",
                      od_json_number(o->compared ? (double)o->covered / o->compared : (double)NAN));
}

// The options of the filter as they were in use; null: the filter found a value itself.
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

json_t *od_findings_json(const od_findings *f) {
  const od_experiment *e = f->experiment;
  const od_observed *o = f->observed;
  od_consistency nis = od_observed_nis(o);
  json_t *object = json_pack("{s:o, s:o, s:o}", "experiment", od_json_text(e->title), "file", od_json_text(e->path),
                             "machine", od_json_text(od_machine_file(e->model)));
  if (o->has_truth) {
    json_object_set_new(object, "truth", od_json_text(od_machine_variant(e->truth)));
    json_object_set_new(object, "seed", json_integer((json_int_t)e->seed));
  } else {
    json_object_set_new(object, "data", data_json(f));
  }
  json_object_set_new(object, "time", od_json_number((double)o->steps * o->step));
  json_object_set_new(object, "step", od_json_number(o->step));
  json_object_set_new(object, "filter", json_string(e->filter->name));
  if (e->filter->options) json_object_set_new(object, "filter_options", filter_options(e));
  json_object_set_new(object, "integrator", json_string(e->integrator->name));
  json_object_set_new(object, "steps", json_integer(o->steps));
  json_object_set_new(object, "complete", json_boolean(!f->message));
  if (f->message) json_object_set_new(object, "message", od_json_text(f->message));
  json_object_set_new(object, "verdict", od_verdict_json(&o->verdict));
  json_object_set_new(object, "parameters", parameters_json(f));
  json_object_set_new(object, "outputs", outputs_json(f));
  json_object_set_new(object, "sensors", sensors_json(f));
  double bound = o->bound ? od_observed_curve_sigma(o->bound) : (double)NAN;
  json_object_set_new(object, "curve_bound_percent", od_json_number(100 * bound));
  if (o->asks_itself) json_object_set_new(object, "settled_since", od_json_number(o->settled_since));
  json_object_set_new(object, "nis_per_dimension", od_json_number(nis.value));
  json_object_set_new(object, "nis_low", od_json_number(nis.low));
  json_object_set_new(object, "nis_high", od_json_number(nis.high));
  if (o->has_truth) add_comparison(f, object);
  json_object_set_new(object, "us_per_step",
                      od_json_number(o->steps ? 1e6 * o->seconds / (double)o->steps : (double)NAN));
  return object;
}
