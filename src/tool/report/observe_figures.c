// Figures of an observer: inputs, outputs, characteristic curves of valves, parameters and innovations.
#include <math.h>
#include <string.h>

#include "io/plot.h"
#include "math/normal.h"
#include "report/figure_range.h"
#include "report/innovation_series.h"
#include "report/observe_result.h"
#include "report/observe_views.h"
#include "report/page_values.h"

// Limits that keep a page readable and its file small.
enum { MOST_OUTPUTS = 40, MOST_CURVES = 24, MOST_PARAMETERS = 48, MOST_SENSORS = 24, MOST_INPUTS = 12 };

// The page, and the run that the figures show.
typedef struct drawing {
  od_page *page;
  const od_experiment *e;
  const od_observed *o;
} drawing;

static drawing drawing_of(od_page *page, const void *findings) {
  const od_observe_findings *f = findings;
  return (drawing){page, f->experiment, f->observed};
}

// --- Series over time ---------------------------------------------------------------------------------------------

static od_series column(const od_table *t, int c, double factor) {
  return c >= 0 ? (od_series){t->data + c, t->rows, t->columns, factor} : (od_series){.factor = 1};
}

static bool any_finite(od_series s) {
  for (long i = 0; i < s.count; i++)
    if (isfinite(od_series_at(&s, i))) return true;
  return false;
}

// Returns a figure over the time of the run for values in a range, in SI units.
static od_figure over_time(const drawing *a, const char *title, const char *note, od_figure_range r, od_display shown) {
  const od_table *t = a->o->table;
  double end = t->data[(t->rows - 1) * t->columns];
  return od_figure_over_time(title, note, 0, end, od_display_unit("s", end), r, shown);
}

static od_series time_of(const drawing *a) {
  const od_table *t = a->o->table;
  double end = t->data[(t->rows - 1) * t->columns];
  return column(t, 0, od_display_unit("s", end).factor);
}

static void report_left_out(const drawing *a, int all, int shown, const char *what, const char *which) {
  if (all > shown) od_page_text(a->page, "The page shows %d of %d %s%s.", shown, all, what, which);
}

// --- Machines -----------------------------------------------------------------------------------------------------

void od_observe_draw_machines(od_page *page, const void *findings) {
  const od_observe_findings *f = findings;
  if (f->views) od_observe_views_draw(f->views, page);
}

// --- Inputs -------------------------------------------------------------------------------------------------------

// Draws an input of the observer, from a file or from a stream.
static void draw_input(const drawing *a, int input) {
  const od_table *t = a->o->table;
  od_series values = column(t, a->o->columns.input + input, 1);
  od_figure_range r = od_figure_range_of(values, od_no_figure_range);
  od_display shown = od_display_unit(od_machine_input_unit(a->e->model, input), od_figure_range_size(r));
  od_figure f = over_time(a, od_machine_input_name(a->e->model, input), NULL, r, shown);
  values.factor = shown.factor;
  od_page_figure_begin(a->page, &f);
  od_chart_line(f.to, &f.chart, time_of(a), values, OD_DRAWN_ESTIMATE, "");
  od_page_figure_end(a->page, &f);
}

void od_observe_draw_inputs(od_page *page, const void *findings) {
  const drawing a = drawing_of(page, findings);
  int inputs = od_machine_input_count(a.e->model);
  od_page_figures_begin(page, true);
  for (int input = 0; input < inputs && input < MOST_INPUTS; input++) draw_input(&a, input);
  od_page_figures_end(page);
  report_left_out(&a, inputs, MOST_INPUTS, "inputs", "");
}

// --- Outputs ------------------------------------------------------------------------------------------------------

// The columns of an output; -1: no such column.
typedef struct output_columns {
  int measured, estimate, sigma, truth;
} output_columns;

static output_columns columns_of(const od_table *t, const char *name) {
  return (output_columns){od_table_find_suffixed(t, "measured", name), od_table_find_suffixed(t, "estimate", name),
                          od_table_find_suffixed(t, "sigma", name), od_table_find_suffixed(t, "true", name)};
}

// Returns the displayed range: all values except the estimate and its uncertainty band in the first twentieth of the rows. This
// band is often much wider than all other values.
static od_figure_range output_range(const od_table *t, output_columns c) {
  od_figure_range r = od_no_figure_range;
  for (long i = 0; i < t->rows; i++) {
    const double *row = t->data + i * t->columns;
    if (c.measured >= 0) od_figure_range_include(&r, row[c.measured]);
    if (c.truth >= 0) od_figure_range_include(&r, row[c.truth]);
    if (i < t->rows / 20 && i < t->rows - 1) continue;
    if (c.estimate >= 0) od_figure_range_include(&r, row[c.estimate]);
    if (c.estimate >= 0 && c.sigma >= 0) {
      od_figure_range_include(&r, row[c.estimate] - OD_NORMAL95 * row[c.sigma]);
      od_figure_range_include(&r, row[c.estimate] + OD_NORMAL95 * row[c.sigma]);
    }
  }
  return r;
}

static void draw_output(const drawing *a, const od_watched *w) {
  const od_table *t = a->o->table;
  output_columns c = columns_of(t, w->name);
  od_figure_range r = output_range(t, c);
  od_display shown = od_display_unit(w->unit, od_figure_range_size(r));
  char note[120];
  double value = od_observe_last(a->o, "estimate", w->name), sigma = od_observe_last(a->o, "sigma", w->name);
  snprintf(note, sizeof note, "final value: %s", od_quantity(value, sigma, w->unit, value).text);
  od_figure f = over_time(a, w->name, note, r, shown);
  f.subject = w->name;
  od_series x = time_of(a), estimate = column(t, c.estimate, shown.factor);
  od_page_figure_begin(a->page, &f);
  od_chart_dots(f.to, &f.chart, x, column(t, c.measured, shown.factor), OD_DRAWN_MEASURED);
  if (c.sigma >= 0)
    od_chart_band(f.to, &f.chart, x, estimate, column(t, c.sigma, OD_NORMAL95 * shown.factor), OD_DRAWN_BAND, "");
  od_chart_line(f.to, &f.chart, x, estimate, OD_DRAWN_ESTIMATE, "estimate");
  od_chart_line(f.to, &f.chart, x, column(t, c.truth, shown.factor), OD_DRAWN_TRUTH, "true");
  od_page_figure_end(a->page, &f);
}

static void draw_outputs(const drawing *a, int first, int end) {
  const od_table *t = a->o->table;
  bool truth = any_finite(column(t, columns_of(t, a->e->watched[first].name).truth, 1));
  bool measured = first < a->e->sensors;
  const od_legend entries[] = {{measured ? "measured" : "estimate", measured ? OD_DRAWN_MEASURED : OD_DRAWN_ESTIMATE},
                               {measured ? "estimate" : "95 % interval", measured ? OD_DRAWN_ESTIMATE : OD_DRAWN_BAND},
                               {measured ? "95 % interval" : "true", measured ? OD_DRAWN_BAND : OD_DRAWN_TRUTH},
                               {"true", OD_DRAWN_TRUTH},
                               {NULL, NULL}};
  od_legend legend[5] = {{NULL, NULL}};
  for (int i = 0; i < (measured ? 3 : 2) + truth; i++) legend[i] = entries[i];
  od_page_legend(a->page, legend);
  int last = end < first + MOST_OUTPUTS ? end : first + MOST_OUTPUTS;
  od_page_figures_begin(a->page, false);
  for (int i = first; i < last; i++) draw_output(a, &a->e->watched[i]);
  od_page_figures_end(a->page);
  report_left_out(a, end - first, last - first, "outputs", ": the first outputs in the file");
}

void od_observe_draw_sensors(od_page *page, const void *findings) {
  const drawing a = drawing_of(page, findings);
  draw_outputs(&a, 0, a.e->sensors);
}

void od_observe_draw_hidden(od_page *page, const void *findings) {
  const drawing a = drawing_of(page, findings);
  draw_outputs(&a, a.e->sensors, a.e->watches);
}

// --- Comparisons --------------------------------------------------------------------------------------------------

// Draws a compared column as dots over the estimate with its 95 % band, which includes the noise of the column.
static void draw_comparison(const drawing *a, int i) {
  OD_SCRATCH(scratch);
  const od_table *t = a->o->table;
  const od_reference *m = &a->e->reference[i];
  const od_watched *w = &a->e->watched[m->watched];
  output_columns c = columns_of(t, w->name);
  c.measured = a->o->columns.compared + i;
  c.truth = -1;
  double *half = OD_TAKE(&scratch, double, t->rows), noise = a->o->reference[i].noise;
  if (!od_page_require(a->page, half != NULL) || c.estimate < 0 || c.sigma < 0) return;
  for (long k = 0; k < t->rows; k++)
    half[k] = OD_NORMAL95 * hypot(t->data[k * t->columns + c.sigma], isfinite(noise) ? noise : 0);
  od_figure_range r = output_range(t, c);
  od_display shown = od_display_unit(w->unit, od_figure_range_size(r));
  char title[300], note[120];
  snprintf(title, sizeof title, "%.100s and %.100s", m->name, w->name);
  snprintf(note, sizeof note, "%.3g %% of the values are within the 95 %% band", 100 * a->o->reference[i].share);
  od_figure f = over_time(a, title, note, r, shown);
  f.subject = w->name;
  od_series x = time_of(a), estimate = column(t, c.estimate, shown.factor);
  od_page_figure_begin(a->page, &f);
  od_chart_dots(f.to, &f.chart, x, column(t, c.measured, shown.factor), OD_DRAWN_MEASURED);
  od_chart_band(f.to, &f.chart, x, estimate, (od_series){half, t->rows, 1, shown.factor}, OD_DRAWN_BAND, "");
  od_chart_line(f.to, &f.chart, x, estimate, OD_DRAWN_ESTIMATE, "estimate");
  od_page_figure_end(a->page, &f);
}

void od_observe_draw_comparisons(od_page *page, const void *findings) {
  const drawing a = drawing_of(page, findings);
  const od_legend legend[] = {{"measured, not used by the observer", OD_DRAWN_MEASURED},
                              {"estimate", OD_DRAWN_ESTIMATE},
                              {"95 % interval", OD_DRAWN_BAND},
                              {NULL, NULL}};
  od_page_legend(page, legend);
  od_page_figures_begin(page, false);
  for (int i = 0; i < a.e->references && i < MOST_OUTPUTS; i++) draw_comparison(&a, i);
  od_page_figures_end(page);
  report_left_out(&a, a.e->references, MOST_OUTPUTS, "comparisons", ": the first comparisons in the file");
}

// --- Curves -------------------------------------------------------------------------------------------------------

// The series of one member of an array of od_curve_place.
#define PLACES(of, count, member, factor) \
  ((od_series){&(of)->member, count, sizeof(od_curve_place) / sizeof(double), factor})

static od_figure over_travel(const od_curve_result *c, const char *title, const char *note, od_figure_range r) {
  double last = c->sample[c->samples - 1].x;
  od_display x = od_display_unit(c->x_unit, last);
  r = od_figure_range_with_margin(r);
  // The axis is slightly wider than the stroke, so that the points at the ends are visible.
  return (od_figure){.title = title,
                     .note = note,
                     .x_low = -0.02 * last * x.factor,
                     .x_high = 1.02 * last * x.factor,
                     .y_low = r.low,
                     .y_high = r.high,
                     .x_name = "travel of the spool",
                     .x_unit = x.unit,
                     .y_unit = ""};
}

static void curve_title(const od_curve_result *c, char *text, size_t size) {
  snprintf(text, size, "%.60s.%.60s", c->valve, c->port);
}

static double travel_factor(const od_curve_result *c) {
  return od_display_unit(c->x_unit, c->sample[c->samples - 1].x).factor;
}

// Adds the estimates of the control points over time to the last line, so that the script of the page can show earlier curves.
static void add_moves(const drawing *a, const od_curve_result *c) {
  const od_table *t = a->o->table;
  od_page_data *d = od_page_get_data(a->page);
  for (int i = 0; i < c->points; i++) {
    bool is_estimated_point = c->parameter[i] >= 0 && c->parameter[i] < a->e->parameters;
    const od_estimated *p = is_estimated_point ? &a->e->parameter[c->parameter[i]] : NULL;
    int estimate = p ? od_table_find_suffixed(t, "estimate", p->path) : -1;
    if (estimate < 0) continue;
    int by = od_page_data_series(d, &(od_series_facts){.si = p->unit, .unit = p->unit, .factor = 1}, column(t, 0, 1),
                                 column(t, estimate, 1), true);
    od_page_data_move(d, by, PLACES(c->sample, c->samples, x, 1),
                      (od_series){c->weight + i * c->samples, c->samples, 1, 1});
  }
}

static void draw_curve(const drawing *a, const od_curve_result *c) {
  od_figure_range r = od_no_figure_range, band = od_no_figure_range;
  for (int i = 0; i < c->samples; i++) {
    od_figure_range_include(&r, c->sample[i].start);
    od_figure_range_include(&r, c->sample[i].estimate);
    od_figure_range_include(&r, c->sample[i].truth);
    od_figure_range_include(&band, c->sample[i].estimate - OD_NORMAL95 * c->sample[i].sigma);
    od_figure_range_include(&band, c->sample[i].estimate + OD_NORMAL95 * c->sample[i].sigma);
  }
  for (int i = 0; i < c->points; i++) od_figure_range_include(&r, c->point[i].estimate);
  // The band of a port that was never open is unlimited.
  double room = 0.3 * (r.high - r.low), x = travel_factor(c);
  r = (od_figure_range){fmax(fmin(band.low, r.low), r.low - room), fmin(fmax(band.high, r.high), r.high + room)};
  char title[200], note[120];
  curve_title(c, title, sizeof title);
  snprintf(note, sizeof note, "%.40s to %.40s, %s side", c->from, c->to, c->side < 0 ? "negative" : "positive");
  od_figure f = over_travel(c, title, note, r);
  od_page_figure_begin(a->page, &f);
  const od_curve_place *s = c->sample, *p = c->point;
  int n = c->samples;
  od_series at = PLACES(s, n, x, x), estimate = PLACES(s, n, estimate, 1);
  od_chart_band(f.to, &f.chart, at, estimate, PLACES(s, n, sigma, OD_NORMAL95), OD_DRAWN_BAND, "");
  od_chart_line(f.to, &f.chart, at, PLACES(s, n, start, 1), OD_DRAWN_START, "start");
  od_chart_line(f.to, &f.chart, at, estimate, OD_DRAWN_ESTIMATE, "estimate");
  add_moves(a, c);
  od_chart_line(f.to, &f.chart, at, PLACES(s, n, truth, 1), OD_DRAWN_TRUTH, "true");
  od_chart_bars(f.to, &f.chart, PLACES(p, c->points, x, x), PLACES(p, c->points, estimate, 1),
                PLACES(p, c->points, sigma, OD_NORMAL95), OD_DRAWN_ESTIMATE);
  od_page_figure_end(a->page, &f);
}

// Draws two curves in percent of the full opening: the 95 % interval about the estimate, and the difference of the true curve from
// the estimate.
static void draw_band_of_curve(const drawing *a, const od_curve_result *c) {
  OD_SCRATCH(scratch);
  double percent = 100 / c->full, *difference = OD_TAKE(&scratch, double, c->samples);
  if (!od_page_require(a->page, difference != NULL)) return;
  const double zero = 0;
  od_figure_range r = od_no_figure_range;
  for (int i = 0; i < c->samples; i++) {
    difference[i] = c->sample[i].truth - c->sample[i].estimate;
    od_figure_range_include(&r, percent * difference[i]);
    od_figure_range_include(&r, percent * OD_NORMAL95 * c->sample[i].sigma);
    od_figure_range_include(&r, -percent * OD_NORMAL95 * c->sample[i].sigma);
  }
  char title[200];
  curve_title(c, title, sizeof title);
  od_figure f = over_travel(c, title, NULL, r);
  f.y_unit = "% of full opening";
  od_page_figure_begin(a->page, &f);
  od_series at = PLACES(c->sample, c->samples, x, travel_factor(c)), middle = {&zero, c->samples, 0, 1};
  od_chart_band(f.to, &f.chart, at, middle, PLACES(c->sample, c->samples, sigma, OD_NORMAL95 * percent), OD_DRAWN_BAND,
                "");
  od_chart_line(f.to, &f.chart, at, middle, OD_DRAWN_ESTIMATE, "estimate");
  od_chart_line(f.to, &f.chart, at, (od_series){difference, c->samples, 1, percent}, OD_DRAWN_TRUTH, "true");
  od_page_figure_end(a->page, &f);
}

static void draw_curves(const drawing *a, bool small, void draw(const drawing *, const od_curve_result *)) {
  int curves = a->o->curves;
  od_page_figures_begin(a->page, small);
  for (int i = 0; i < curves && i < MOST_CURVES; i++) draw(a, &a->o->curve[i]);
  od_page_figures_end(a->page);
}

void od_observe_draw_curves(od_page *page, const void *findings) {
  const drawing a = drawing_of(page, findings);
  const od_legend legend[] = {{"start", OD_DRAWN_START},
                              {"estimate", OD_DRAWN_ESTIMATE},
                              {"95 % interval", OD_DRAWN_BAND},
                              {isnan(od_observed_curve_rmse(a.o)) ? NULL : "true", OD_DRAWN_TRUTH},
                              {NULL, NULL}};
  od_page_legend(page, legend);
  draw_curves(&a, false, draw_curve);
}

void od_observe_draw_bands(od_page *page, const void *findings) {
  const drawing a = drawing_of(page, findings);
  draw_curves(&a, true, draw_band_of_curve);
  report_left_out(&a, a.o->curves, MOST_CURVES, "curves", "");
}

// --- Convergence of parameters ------------------------------------------------------------------------------------

static void draw_parameter(const drawing *a, int i) {
  const od_table *t = a->o->table;
  const od_estimated *p = &a->e->parameter[i];
  double truth = a->o->has_truth ? a->o->truth[i] : (double)NAN;
  int estimate = od_table_find_suffixed(t, "estimate", p->path), sigma = od_table_find_suffixed(t, "sigma", p->path);
  int changing = p->change > 0 ? a->o->columns.changed + p->change - 1 : -1;  // column of a true value that changes
  if (estimate < 0 || sigma < 0) return;
  od_figure_range r = od_figure_range_of(column(t, estimate, 1), od_no_figure_range);
  od_figure_range_include(&r, truth);
  if (changing >= 0) r = od_figure_range_of(column(t, changing, 1), r);
  od_figure_range_include(&r, a->o->estimate[i] - OD_NORMAL95 * a->o->sigma[i]);
  od_figure_range_include(&r, a->o->estimate[i] + OD_NORMAL95 * a->o->sigma[i]);
  od_display shown = od_display_unit(p->unit, od_figure_range_size(r));
  od_figure f = over_time(a, p->path, NULL, r, shown);
  od_series x = time_of(a), middle = column(t, estimate, shown.factor);
  od_page_figure_begin(a->page, &f);
  od_chart_band(f.to, &f.chart, x, middle, column(t, sigma, OD_NORMAL95 * shown.factor), OD_DRAWN_BAND, "");
  if (changing >= 0)
    od_chart_line(f.to, &f.chart, x, column(t, changing, shown.factor), OD_DRAWN_TRUTH, "true");
  else
    od_chart_level(f.to, &f.chart, truth * shown.factor, OD_DRAWN_TRUTH, "true");
  od_chart_line(f.to, &f.chart, x, middle, OD_DRAWN_ESTIMATE, "estimate");
  for (int k = 0; k < od_observed_changes(a->o); k++)
    if (a->o->change[k].parameter == i)
      od_chart_instant(f.to, &f.chart, a->o->change[k].time * x.factor, OD_DRAWN_LIMIT, "change detected");
  od_page_figure_end(a->page, &f);
}

// Draws a changing number of the true machine that is not estimated.
static void draw_changing(const drawing *a, int i) {
  const od_truth_change *c = &a->e->change[i];
  int at = a->o->columns.changed + i;
  od_figure_range r = od_figure_range_of(column(a->o->table, at, 1), od_no_figure_range);
  od_display shown = od_display_unit(c->unit, od_figure_range_size(r));
  od_figure f = over_time(a, c->path, "not estimated", r, shown);
  od_page_figure_begin(a->page, &f);
  od_chart_line(f.to, &f.chart, time_of(a), column(a->o->table, at, shown.factor), OD_DRAWN_TRUTH, "true");
  od_page_figure_end(a->page, &f);
}

static bool is_estimated(const od_experiment *e, int change) {
  for (int i = 0; i < e->parameters; i++)
    if (e->parameter[i].change == change + 1) return true;
  return false;
}

// Draws the parameters whose uncertainty decreases the most, and the changing numbers of the true machine that are not estimated.
void od_observe_draw_parameters(od_page *page, const void *findings) {
  OD_SCRATCH(scratch);
  const drawing a = drawing_of(page, findings);
  int count = a.e->parameters, shown = count < MOST_PARAMETERS ? count : MOST_PARAMETERS;
  bool *chosen = OD_TAKE(&scratch, bool, count);
  if (!od_page_require(page, chosen != NULL)) return;
  for (int n = 0; n < shown; n++) {
    int best = -1;
    for (int i = 0; i < count; i++)
      if (!chosen[i] && (best < 0 || od_kept_uncertainty(findings, i) < od_kept_uncertainty(findings, best))) best = i;
    chosen[best] = true;
  }
  od_legend legend[5] = {{"estimate", OD_DRAWN_ESTIMATE}, {"95 % interval", OD_DRAWN_BAND}};
  int entries = 2;
  if (a.o->compared) legend[entries++] = (od_legend){"true", OD_DRAWN_TRUTH};
  if (a.o->changes > 0) legend[entries++] = (od_legend){"change detected", OD_DRAWN_LIMIT};
  od_page_legend(page, legend);
  od_page_figures_begin(page, true);
  for (int i = 0; i < count; i++)
    if (chosen[i]) draw_parameter(&a, i);
  for (int i = 0; i < a.e->changes && a.o->has_truth; i++)
    if (!is_estimated(a.e, i)) draw_changing(&a, i);
  od_page_figures_end(page);
  report_left_out(&a, count, shown, "parameters", ": the parameters whose uncertainty decreases the most");
}

// --- Innovations --------------------------------------------------------------------------------------------------

static void draw_windows(const drawing *a, double *const *series) {
  od_nis_window windows[OD_MOST_WINDOWS];
  char note[60] = "over windows of a sixtieth of the run";
  int count = od_nis_windows(a->e, a->o, series, windows);
  const long stride = sizeof *windows / sizeof(double);
  od_figure_range r = {1, 1};
  for (int i = 0; i < count; i++) {
    od_figure_range_include(&r, windows[i].value);
    od_figure_range_include(&r, windows[i].middle + windows[i].half);
    od_figure_range_include(&r, windows[i].middle - windows[i].half);
  }
  od_series x = {&windows->time, count, stride, time_of(a).factor};
  if (od_is_thinned(a->o)) snprintf(note, sizeof note, "over %d windows of equal length", count);
  od_figure f = over_time(a, "NIS per dimension", note, r, (od_display){"", 1});
  od_page_figure_begin(a->page, &f);
  od_chart_band(f.to, &f.chart, x, (od_series){&windows->middle, count, stride, 1},
                (od_series){&windows->half, count, stride, 1}, OD_DRAWN_BAND, "");
  od_chart_level(f.to, &f.chart, 1, OD_DRAWN_LIMIT, NULL);
  od_chart_line(f.to, &f.chart, x, (od_series){&windows->value, count, stride, 1}, OD_DRAWN_ESTIMATE, "NIS");
  od_page_figure_end(a->page, &f);
}

static void draw_innovations(const drawing *a, int sensor, const double *series) {
  long rows = a->o->table->rows;
  od_figure_range r = {-3, 3};
  for (long i = 0; i < rows; i++) od_figure_range_include(&r, series[i]);
  od_figure f = over_time(a, a->e->sensor[sensor].name, "innovations divided by their standard deviations", r,
                          (od_display){"", 1});
  od_page_figure_begin(a->page, &f);
  f.chart.label = "innovation";
  od_chart_dots(f.to, &f.chart, time_of(a), (od_series){series, rows, 1, 1}, OD_DRAWN_MEASURED);
  od_chart_level(f.to, &f.chart, OD_NORMAL95, OD_DRAWN_LIMIT, NULL);
  od_chart_level(f.to, &f.chart, -OD_NORMAL95, OD_DRAWN_LIMIT, NULL);
  od_page_figure_end(a->page, &f);
}

void od_observe_draw_innovations(od_page *page, const void *findings) {
  OD_SCRATCH(scratch);
  const drawing a = drawing_of(page, findings);
  int all = a.e->sensors, shown = all < MOST_SENSORS ? all : MOST_SENSORS;
  double **series = OD_TAKE(&scratch, double *, all);
  for (int i = 0; series && i < all; i++) series[i] = od_innovation_series(a.e, a.o, i, &scratch);
  if (!od_page_require(page, od_arena_status(&scratch) == OD_OK)) return;
  od_page_figures_begin(page, false);
  draw_windows(&a, series);
  for (int i = 0; i < shown; i++) {
    const od_innovations *in = &a.o->innovations[i];
    if (in->run.count < 2) continue;
    draw_innovations(&a, i, series[i]);
    od_page_correlations(page, a.e->sensor[i].name, "correlation with earlier innovations", in->correlation, OD_LAGS,
                         in->correlation_limit);
  }
  od_page_figures_end(page);
  report_left_out(&a, all, shown, "sensors", ": the first sensors in the file");
}

// --- Plot -------------------------------------------------------------------------------------------------------------

// Columns of the plot. A column of the plot is a column of the run's table, or a limit of the 95 % band of an output.
typedef struct plotted {
  int column;     // index in the run's table
  int sigma;      // column of the standard deviation; -1: the column itself is plotted
  double factor;  // factor of the standard deviation, which includes `noise`
  double noise;
  int panel;
  char name[300];
} plotted;

// Adds a chart of each compared column: its values, the estimate, and the limits of the 95 % band.
static int add_compared(const od_observe_findings *f, plotted *p, int count) {
  const od_experiment *e = f->experiment;
  const od_table *t = f->observed->table;
  for (int i = 0; i < e->references; i++) {
    const char *output = e->watched[e->reference[i].watched].name;
    int estimate = od_table_find_suffixed(t, "estimate", output), sigma = od_table_find_suffixed(t, "sigma", output);
    int column = f->observed->columns.compared + i, panel = count;
    double noise = isfinite(f->observed->reference[i].noise) ? f->observed->reference[i].noise : 0;
    if (estimate < 0 || sigma < 0) continue;
    p[count] = (plotted){.column = column, .sigma = -1, .panel = panel};
    snprintf(p[count++].name, sizeof p->name, "%s", t->name[column]);
    p[count++] = (plotted){estimate, -1, 0, 0, panel, "estimate"};
    p[count++] = (plotted){estimate, sigma, -OD_NORMAL95, noise, panel, "95 % band, low"};
    p[count++] = (plotted){estimate, sigma, OD_NORMAL95, noise, panel, "high"};
  }
  return count;
}

od_status od_observe_plot(const od_observe_findings *f, const char *path, od_error *err) {
  OD_SCRATCH(scratch);
  const od_table *t = f->observed->table;
  int count = 0, most = t->columns + 4 * f->experiment->references;
  plotted *chosen = OD_TAKE(&scratch, plotted, most);
  double *row = OD_TAKE(&scratch, double, most);
  int *panel = OD_TAKE(&scratch, int, most);
  for (int c = 0; chosen && c < t->columns; c++) {
    if (c > 0 && strncmp(t->name[c], "estimate.", 9) != 0 && strncmp(t->name[c], "error.", 6) != 0) continue;
    chosen[count] = (plotted){.column = c, .sigma = -1, .panel = count};
    snprintf(chosen[count++].name, sizeof chosen->name, "%s", t->name[c]);
  }
  if (chosen) count = add_compared(f, chosen, count);
  OD_OWNED(od_table_free) od_table *shown = od_table_new(count);
  bool ok = shown && od_arena_status(&scratch) == OD_OK;
  for (int c = 0; ok && c < count; c++) {
    panel[c] = chosen[c].panel;
    ok = od_table_label(shown, c, chosen[c].name, t->unit[chosen[c].column]) == OD_OK;
  }
  for (long i = 0; ok && i < t->rows; i++) {
    const double *from = t->data + i * t->columns;
    for (int c = 0; c < count; c++) {
      const plotted *p = &chosen[c];
      row[c] = from[p->column] + (p->sigma < 0 ? 0 : p->factor * hypot(from[p->sigma], p->noise));
    }
    ok = od_table_append(shown, row) == OD_OK;
  }
  if (!ok) return od_fail(err, OD_NO_MEMORY, "out of memory");
  char subtitle[800], how[500];
  od_observe_describe(f, how, sizeof how);
  snprintf(subtitle, sizeof subtitle, "%.200s: %s", f->experiment->path, how);
  return od_plot_write(shown, f->experiment->references > 0 ? panel : NULL, f->experiment->title, subtitle, path, err);
}
