// The charts of the fit report: for each set and sensor the measured and predicted values over time, the residuals, and the
// whiteness of the residuals.
#include <math.h>

#include "prepare/whiteness.h"
#include "report/figure_range.h"
#include "report/fit_result.h"
#include "report/page_values.h"

enum { MOST_FIGURES = 24, MOST_INPUTS = 12, LAGS = 25 };

static od_series column(od_fit_rows rows, const od_fitted *f, int c, double factor) {
  return (od_series){rows.first + c, rows.count, f->table->columns, factor};
}

// Returns a figure over the time of a set. *time: the times of the set in the displayed unit.
static od_figure over_time(od_fit_rows rows, const od_fitted *f, const char *title, const char *note, od_figure_range r,
                           od_display shown, od_series *time) {
  od_series t = column(rows, f, 1, 1);
  double begin = od_series_at(&t, 0), end = od_series_at(&t, rows.count - 1);
  od_display in = od_display_unit("s", od_larger(begin, end));
  *time = column(rows, f, 1, in.factor);
  return od_figure_over_time(title, note, begin, end, in, r, shown);
}

static void draw_sensor(od_page *p, const od_fitted *f, int set, int sensor) {
  od_fit_rows rows = od_fit_rows_of(f, set);
  const od_sensor *s = &f->plan->e->sensor[sensor];
  int measured = od_fit_column(f, sensor, OD_FIT_MEASURED), predicted = od_fit_column(f, sensor, OD_FIT_PREDICTED);
  od_figure_range r = od_figure_range_of(column(rows, f, predicted, 1),
                                         od_figure_range_of(column(rows, f, measured, 1), od_no_figure_range));
  od_display shown = od_display_unit(s->unit, od_figure_range_size(r));
  char note[80];
  const od_fit_quality *q =
      f->set[set].fitted > 0 ? &f->set[set].fitted_quality[sensor] : &f->set[set].unseen_quality[sensor];
  if (isnan(q->fit))
    snprintf(note, sizeof note, "%s", "fit in percent not defined");
  else
    snprintf(note, sizeof note, "fit %.2f\u00a0%%%s", q->fit, f->set[set].fitted > 0 ? "" : ", not fitted");
  od_series time;
  od_figure figure = over_time(rows, f, s->name, note, r, shown, &time);
  od_page_figure_begin(p, &figure);
  od_chart_dots(figure.to, &figure.chart, time, column(rows, f, measured, shown.factor), OD_DRAWN_MEASURED);
  od_chart_line(figure.to, &figure.chart, time, column(rows, f, predicted, shown.factor), OD_DRAWN_ESTIMATE,
                "predicted");
  od_page_figure_end(p, &figure);
}

static void draw_residual(od_page *p, const od_fitted *f, int set, int sensor) {
  od_fit_rows rows = od_fit_rows_of(f, set);
  const od_sensor *s = &f->plan->e->sensor[sensor];
  od_series residual = column(rows, f, od_fit_column(f, sensor, OD_FIT_RESIDUAL), 1);
  double band = OD_NORMAL95 * f->data[set]->sigma[sensor];
  od_figure_range r = od_figure_range_of(residual, od_no_figure_range);
  // The band of the expected noise is drawn unless the set has no noise or the band is much larger than the residuals.
  bool noisy = !f->data[set]->set->clean && band < 5 * od_figure_range_size(r);
  if (noisy) od_figure_range_include(&r, band), od_figure_range_include(&r, -band);
  od_display shown = od_display_unit(s->unit, od_figure_range_size(r));
  residual.factor = shown.factor;
  od_series time;
  od_figure figure = over_time(rows, f, s->name, "measured minus predicted", r, shown, &time);
  od_page_figure_begin(p, &figure);
  figure.chart.label = "residual";
  od_chart_dots(figure.to, &figure.chart, time, residual, OD_DRAWN_MEASURED);
  od_chart_level(figure.to, &figure.chart, 0, OD_DRAWN_LIMIT, NULL);
  if (noisy) {
    od_chart_level(figure.to, &figure.chart, band * shown.factor, OD_DRAWN_LIMIT, NULL);
    od_chart_level(figure.to, &figure.chart, -band * shown.factor, OD_DRAWN_LIMIT, NULL);
  }
  od_page_figure_end(p, &figure);
}

static void draw_input(od_page *p, const od_fitted *f, int set, int input) {
  od_fit_rows rows = od_fit_rows_of(f, set);
  od_series u = column(rows, f, 2 + input, 1), time;
  od_figure_range r = od_figure_range_of(u, od_no_figure_range);
  od_display shown = od_display_unit(od_machine_input_unit(f->plan->e->model, input), od_figure_range_size(r));
  u.factor = shown.factor;
  od_figure figure = over_time(rows, f, od_machine_input_name(f->plan->e->model, input), "input", r, shown, &time);
  od_page_figure_begin(p, &figure);
  od_chart_line(figure.to, &figure.chart, time, u, OD_DRAWN_ESTIMATE, "");
  od_page_figure_end(p, &figure);
}

static bool can_be_drawn(const od_fitted *f, int set, int sensor) {
  const od_fit_set_result *s = &f->set[set];
  return s->predicted == OD_OK && s->fitted_quality[sensor].samples + s->unseen_quality[sensor].samples > 0;
}

void od_fit_draw_sets(od_page *p, const void *fitted) {
  const od_fitted *f = fitted;
  int drawn = 0, all = f->sets * f->plan->e->sensors, inputs = od_machine_input_count(f->plan->e->model);
  static const od_legend legend[] = {{"measured", OD_DRAWN_MEASURED},
                                     {"predicted", OD_DRAWN_ESTIMATE},
                                     {"expected noise, 95 %", OD_DRAWN_LIMIT},
                                     {NULL, NULL}};
  od_page_legend(p, legend);
  for (int set = 0; set < f->sets && drawn < MOST_FIGURES; set++) {
    const od_fit_set_result *s = &f->set[set];
    od_page_heading(p, s->name);
    if (s->predicted != OD_OK)
      od_page_text(p, "This set cannot be predicted with the fitted values: %s.", od_status_text(s->predicted));
    if (s->fitted > 0 && s->fitted < s->rows)
      od_page_text(p, "Fitted up to %s; the remaining samples are predicted.",
                   od_quantity_alone(s->data->time[s->fitted - 1], NAN, "s", s->data->time[s->rows - 1]).text);
    if (inputs > 0) od_page_figures_begin(p, true);
    for (int i = 0; i < inputs && i < MOST_INPUTS; i++) draw_input(p, f, set, i);
    if (inputs > 0) od_page_figures_end(p);
    od_page_figures_begin(p, false);
    for (int i = 0; i < f->plan->e->sensors && drawn < MOST_FIGURES; i++) {
      if (!can_be_drawn(f, set, i)) continue;
      draw_sensor(p, f, set, i);
      draw_residual(p, f, set, i);
      drawn++;
    }
    od_page_figures_end(p);
  }
  if (all > MOST_FIGURES) od_page_text(p, "The page shows the first %d of %d signals.", MOST_FIGURES, all);
}

// --- Residuals ---------------------------------------------------------------------------------------------------

// Draws the correlations of the residuals of the fitted part.
static void draw_whiteness(od_page *p, const od_fitted *f, int set, int sensor) {
  OD_SCRATCH(scratch);
  od_fit_rows rows = od_fit_rows_of(f, set);
  od_series residual = column(rows, f, od_fit_column(f, sensor, OD_FIT_RESIDUAL), 1);
  long count = f->set[set].fitted;
  double *series = OD_TAKE(&scratch, double, count), correlation[LAGS + 1];
  if (!od_page_require(p, series != NULL)) return;
  // Rows of other files and groups of a log are not samples of this sensor.
  const od_log *log = f->data[set]->set->log;
  long samples = 0;
  for (long i = 0; i < count; i++) {
    double value = od_series_at(&residual, i);
    if (!(log && log->has_rates && isnan(value))) series[samples++] = value;
  }
  od_whiteness w = od_whiteness_find(series, samples, LAGS, correlation);
  char title[200];
  snprintf(title, sizeof title, f->sets > 1 ? "%.80s in %.60s" : "%.80s", f->plan->e->sensor[sensor].name,
           f->set[set].name);
  if (w.count > 2 && w.deviation > 0)
    od_page_correlations(p, title, "correlation with earlier residuals", correlation, LAGS, w.limit);
}

void od_fit_draw_residuals(od_page *p, const void *fitted) {
  const od_fitted *f = fitted;
  int drawn = 0;
  od_page_text(
      p,
      "Correlations of residuals of the fitted samples with earlier residuals. For white residuals, 95\u00a0%% of the "
      "correlations are between the dashed lines. Larger correlations indicate that the model or the noise model is "
      "incomplete.");
  od_page_figures_begin(p, true);
  for (int set = 0; set < f->sets; set++)
    for (int i = 0; i < f->plan->e->sensors && f->set[set].fitted > 0; i++)
      if (drawn < MOST_FIGURES && can_be_drawn(f, set, i)) draw_whiteness(p, f, set, i), drawn++;
  od_page_figures_end(p);
}
