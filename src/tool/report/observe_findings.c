// The findings in sentences: what an engineer would say of the run.
#include <math.h>
#include <string.h>

#include "report/observe_sections.h"

enum { MOST_CURVES = 8, MOST_OUTPUTS = 6, MOST_PARAMETERS = 6, MOST_NAMES = 6 };

// --- Curves, outputs, parameters ----------------------------------------------------------------------------------

// What a doubtful observer says of itself may not be so.
static const char *believed(const od_observe_report *a) {
  return a->o->verdict.trust == OD_SOUND ? "is" : "is taken as";
}

static void report_curve(od_observe_report *a, const od_curve_result *c) {
  double sum = 0, worst = 0, at = 0;
  char lead[200], truth[200] = "";
  for (int i = 0; i < c->samples; i++) {
    double half = OD_NORMAL95 * c->sample[i].sigma / c->full;
    sum += half;
    if (half > worst) worst = half, at = c->sample[i].x;
  }
  od_display x = od_display_unit(c->x_unit, c->sample[c->samples - 1].x);
  snprintf(lead, sizeof lead, "Port %.60s of %.60s", c->port, c->valve);
  if (!isnan(c->rmse))
    snprintf(truth, sizeof truth,
             " The true curve is %.3g\u00a0%% away (rms) and within the band over %.0f\u00a0%% of the stroke.",
             100 * c->rmse, 100 * c->coverage);
  od_page_item(
      a->page, lead,
      "%s known to \u00b1%.10g\u00a0%% of fully open on average over the stroke and to \u00b1%.10g\u00a0%% where it is "
      "known worst, near %.2g\u00a0%s (95\u00a0%%).%s",
      believed(a), od_two_digits(100 * sum / c->samples), od_two_digits(100 * worst), at * x.factor, x.unit, truth);
}

// All curves together beside the best that is possible.
static void report_bound(od_observe_report *a) {
  double rmse = od_observed_curve_rmse(a->o);
  if (isnan(rmse) || !a->o->bound || a->o->bound->curves == 0) return;
  od_page_item(a->page, "All curves together",
               "are %.3g\u00a0%% of fully open away (rms). With these sensors and this start no estimator without bias "
               "comes nearer than %.3g\u00a0%% on average: the Cram\u00e9r-Rao bound.",
               100 * rmse, 100 * od_observed_curve_sigma(a->o->bound));
}

static void report_hidden(od_observe_report *a, const od_watched *w) {
  const od_table *t = a->o->table;
  int error = od_table_find(t, "error", w->name);
  double truth = od_report_last_of(a->o, od_table_find(t, "true", w->name)),
         sigma = od_report_last_of(a->o, od_table_find(t, "sigma", w->name));
  double rms = error >= 0 ? od_observed_summary(a->o, error).rms : (double)NAN;
  double estimate = od_report_last_of(a->o, od_table_find(t, "estimate", w->name)), size = od_larger(estimate, truth);
  od_quantity_text end = od_quantity(estimate, sigma, w->unit, size);
  if (isnan(truth))
    od_page_item(a->page, w->name, "has no sensor; at the end it is %s.", end.text);
  else
    od_page_item(a->page, w->name,
                 "has no sensor; at the end it is %s (true: %s), and over the run it was off by %s (rms).", end.text,
                 od_quantity_alone(truth, sigma, w->unit, size).text,
                 od_quantity_alone(rms, rms / OD_NORMAL95, w->unit, size).text);
}

static bool is_point_of_curve(const char *path) {
  return strstr(path, ".curve.") != NULL;
}

static void report_parameter(od_observe_report *a, int i) {
  const od_estimated *p = &a->e->parameter[i];
  double size = od_larger(a->o->estimate[i], od_larger(a->o->start[i], p->truth));
  char truth[120] = "";
  if (!isnan(p->truth))
    snprintf(truth, sizeof truth, " (true: %s)", od_quantity_alone(p->truth, NAN, p->unit, size).text);
  od_page_item(a->page, p->path, "is %s%s; at the start it was taken for %s.",
               od_quantity(a->o->estimate[i], a->o->sigma[i], p->unit, size).text, truth,
               od_quantity(a->o->start[i], p->sigma, p->unit, size).text);
}

static void report_parameters(od_observe_report *a) {
  int shown = 0, silent = 0;
  char names[600] = "";
  for (int i = 0; i < a->e->parameters; i++) {
    const char *path = a->e->parameter[i].path;
    if (od_is_uninformed(a, i)) {
      size_t used = strlen(names);
      if (silent++ < MOST_NAMES) snprintf(names + used, sizeof names - used, "%s%.80s", used ? ", " : "", path);
    } else if (!is_point_of_curve(path) && shown < MOST_PARAMETERS) {
      report_parameter(a, i);
      shown++;
    }
  }
  size_t used = strlen(names);
  if (silent > MOST_NAMES) snprintf(names + used, sizeof names - used, " and %d more", silent - MOST_NAMES);
  if (silent > 0)
    od_page_item(a->page, "The data say nothing about", "%s: %s as uncertain as at the start.", names,
                 silent > 1 ? "they are" : "it is");
}

static void report_largest_error(od_observe_report *a) {
  int worst = -1;
  double most = 0;
  for (int i = 0; i < a->e->parameters; i++) {
    double error = fabs(a->o->estimate[i] - a->o->truth[i]) / a->o->sigma[i];
    if (error > most) most = error, worst = i;
  }
  if (worst < 0) return;
  od_page_item(
      a->page, "True values:",
      "%d of %d parameters are within their 95\u00a0%% intervals; the farthest off is %s, by %.10g standard deviations.",
      a->o->covered, a->o->compared, a->e->parameter[worst].path, od_two_digits(most));
}

static void report_sensors(od_observe_report *a) {
  for (int i = 0; i < a->e->sensors; i++) {
    const od_sensor_counts *c = &a->o->sensor[i];
    if (c->gated > 0)
      od_page_item(a->page, a->e->sensor[i].name, "had %.2g\u00a0%% of its values rejected by the gate (%ld).",
                   100 * (double)c->gated / (double)(c->used + c->gated), c->gated);
  }
}

// --- All of it ----------------------------------------------------------------------------------------------------

void od_report_findings(od_observe_report *a) {
  const od_experiment *e = a->e;
  od_page_section(a->page, "Findings");
  if (a->message)
    od_page_notice(a->page, OD_TONE_BAD, "The run ended early:", "%s. What follows is what there was by then.",
                   a->message);
  od_page_verdict(a->page, &a->o->verdict);
  od_page_items_begin(a->page);
  for (int i = 0; i < a->o->curves && i < MOST_CURVES; i++) report_curve(a, &a->o->curve[i]);
  report_bound(a);
  for (int i = e->sensors; i < e->watches && i < e->sensors + MOST_OUTPUTS; i++) report_hidden(a, &e->watched[i]);
  report_parameters(a);
  if (a->o->compared > 0) report_largest_error(a);
  report_sensors(a);
  od_page_items_end(a->page);
}
