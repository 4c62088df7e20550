// The page in its order: what it is about, findings, parameters, where they come from, measured and fitted, what is left over.
#include "report/friction_report.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "prepare/whiteness.h"
#include "report/figure_range.h"
#include "report/page_values.h"

enum { LAGS = 25 };

typedef struct friction_page {
  const od_friction_fitted *f;
  od_page *page;
  bool points;  // it was fitted to points, not to a run
  int rows;
  const double *t, *v, *force;
  double *residual;  // measured less fitted
} friction_page;

// --- What it is about ---------------------------------------------------------------------------------------------

static void report_facts(friction_page *a) {
  const od_friction_fitted *f = a->f;
  const od_friction_plan *plan = f->plan;
  const od_friction_points *p = &plan->points;
  od_page_facts_begin(a->page);
  od_page_fact(a->page, "File", "%s", plan->path);
  od_page_fact(a->page, "Law", "%s%s, method %s", f->law.law->name,
               f->law.two_sided ? ", numbers of each direction" : "", od_friction_methods[plan->method]);
  if (a->points)
    od_page_fact(a->page, "Points", "%d, %s", a->rows,
                 p->given && p->log ? p->log
                 : p->given         ? "simulated"
                                    : "from the settled parts of a run");
  if (f->data->samples > 0)
    od_page_fact(a->page, "Run", "%s, %d samples from %.4g s to %.4g s",
                 plan->log.experiment ? plan->log.experiment->path
                 : plan->log.file     ? plan->log.file
                                      : "simulated",
                 f->data->samples, f->data->t[0], f->data->t[f->data->samples - 1]);
  od_page_replaced_fact(a->page, "Set in the file", &plan->file->numbers);
  od_page_fact(a->page, "Search", "%ld iterations, %ld evaluations%s", f->iterations, f->evaluations,
               f->searches > 1 ? ", from several starts" : "");
  od_page_facts_end(a->page);
}

static void report_findings(friction_page *a) {
  const od_friction_fitted *f = a->f;
  od_page_section(a->page, "Findings");
  od_page_verdict(a->page, &f->verdict);
  od_page_items_begin(a->page);
  for (int i = 0; i < f->parameters; i++) {
    const od_friction_parameter *p = &f->parameter[i];
    char truth[120] = "";
    double size = od_larger(p->value, p->truth);
    if (p->known == OD_PARAMETER_UNKNOWN) continue;
    if (!isnan(p->truth))
      snprintf(truth, sizeof truth, " (true: %s)", od_quantity_alone(p->truth, NAN, p->unit, size).text);
    od_page_item(a->page, p->key, "is %s%s.", od_quantity(p->value, p->sigma, p->unit, size).text, truth);
  }
  od_page_item(a->page, "Residuals:", "%.3g\u00a0N root mean square, %.3g\u00a0N at most.", f->rms, f->largest);
  od_page_items_end(a->page);
}

// --- Parameters ---------------------------------------------------------------------------------------------------

static void parameter_row(friction_page *a, int i, bool shift, bool truth) {
  static const char *const words[] = {"", "weak", "not told"};
  const od_friction_parameter *p = &a->f->parameter[i];
  double start = a->f->plan->start.q[p->number], half = OD_NORMAL95 * p->sigma;
  bool unknown = p->known == OD_PARAMETER_UNKNOWN;
  char text[OD_NUMBER_SIZE];
  od_display shown = od_display_unit(p->unit, od_larger(p->value, p->truth));
  od_page_row(a->page, p->key);
  od_page_cell(a->page, "%s", shown.unit);
  od_page_value_cell(a->page, start, NAN, shown.factor);
  od_page_value_cell(a->page, p->value, unknown ? (double)NAN : half, shown.factor);
  od_display_uncertainty(text, half * shown.factor);
  od_page_cell(a->page, "%s", unknown ? "-" : text);
  od_page_percent_cell(a->page, unknown ? (double)NAN : half / fabs(p->value));
  if (shift) od_page_marked_cell(a->page, fabs(p->shift) > 0.5 * p->sigma, "%.2g", p->shift / p->sigma);
  if (truth) od_page_value_cell(a->page, p->truth, NAN, shown.factor);
  od_page_marked_cell(a->page, p->known != OD_PARAMETER_KNOWN, "%s", words[p->known]);
}

static void report_parameters(friction_page *a) {
  const od_friction_fitted *f = a->f;
  od_page_column columns[9] = {{"parameter", true}, {"unit", true},         {"start", false},
                               {"estimate", false}, {"\u00b1 95 %", false}, {"\u00b1 in percent", false}};
  int count = 6;
  bool shift = f->data->speed_noise > 0 && !a->points, truth = false;
  for (int i = 0; i < f->parameters; i++) truth = truth || !isnan(f->parameter[i].truth);
  if (shift) columns[count++] = (od_page_column){"shift by noise of the speed, sigmas", false};
  if (truth) columns[count++] = (od_page_column){"true", false};
  columns[count++] = (od_page_column){"", true};
  od_page_section(a->page, "Parameters");
  od_page_table_begin(a->page, columns, count);
  for (int i = 0; i < f->parameters; i++) parameter_row(a, i, shift, truth);
  od_page_table_end(a->page);
  const od_force_budget *b = &f->data->budget;
  if (b->known)
    od_page_text(a->page,
                 "The force comes from pressures and is off by %.3g\u00a0N in all: pressures %.3g\u00a0N, load "
                 "%.3g\u00a0N, acceleration %.3g\u00a0N, areas %.3g\u00a0N, mass %.3g\u00a0N.",
                 b->total, b->pressure, b->load, b->acceleration, b->area, b->mass);
}

// --- Where they come from -----------------------------------------------------------------------------------------

static void name_part(const od_friction_data *d, int part, char *text, size_t size) {
  double from = NAN, until = NAN;
  for (int i = 0; i < d->samples; i++)
    if (d->part[i] == part) {
      if (isnan(from)) from = d->t[i];
      until = d->t[i];
    }
  snprintf(text, size, "%.2f to %.2f s", from, until);
}

static void report_shares(friction_page *a) {
  const od_friction_fitted *f = a->f;
  const od_friction_data *d = f->data;
  od_page_column columns[1 + OD_MOST_LAW_NUMBERS] = {{"part of the run", true}};
  double sum = 0;
  for (int i = 0; f->share && i < d->parts * f->parameters; i++) sum += f->share[i];
  if (!(sum > 0) || d->parts < 2) return;
  for (int i = 0; i < f->parameters; i++) columns[1 + i] = (od_page_column){f->parameter[i].key, false};
  od_page_section(a->page, "Where it comes from");
  od_page_text(
      a->page,
      "How much of what is known about a parameter each part of the run tells: 1 is all of it. A parameter that "
      "one short part tells alone is known better when that part is made longer.");
  od_page_table_begin(a->page, columns, 1 + f->parameters);
  for (int part = 0; part < d->parts; part++) {
    char name[60];
    name_part(d, part, name, sizeof name);
    od_page_row(a->page, name);
    for (int i = 0; i < f->parameters; i++) od_page_heat_cell(a->page, f->share[part * f->parameters + i]);
  }
  od_page_table_end(a->page);
}

// --- Figures ------------------------------------------------------------------------------------------------------

static od_series series(const friction_page *a, const double *x, double factor) {
  return (od_series){x, a->rows, 1, factor};
}

static od_figure_range range_of(const friction_page *a, const double *x, od_figure_range r) {
  for (int i = 0; i < a->rows; i++) od_figure_range_include(&r, x[i]);
  return r;
}

// One quantity over another; a second one of the same unit is drawn as a line.
typedef struct drawing {
  const char *title, *note, *x_name, *x_unit, *y_unit;
  const double *x, *y, *line;
  double band;  // dashed on both sides of zero; 0: none
  bool is_line;
} drawing;

static void draw(friction_page *a, const drawing *w) {
  od_figure_range x = range_of(a, w->x, od_no_figure_range), y = range_of(a, w->y, od_no_figure_range);
  if (w->line) y = range_of(a, w->line, y);
  if (w->band > 0) od_figure_range_include(&y, w->band), od_figure_range_include(&y, -w->band);
  if (!(x.high > x.low)) return;
  if (!(y.high > y.low)) y.low -= 1, y.high += 1;
  od_display in_x = od_display_unit(w->x_unit, od_figure_range_size(x));
  od_display in_y = od_display_unit(w->y_unit, od_figure_range_size(y));
  y = od_figure_range_with_margin(y);
  od_figure figure = {.title = w->title,
                      .note = w->note,
                      .x_low = x.low * in_x.factor,
                      .x_high = x.high * in_x.factor,
                      .y_low = y.low * in_y.factor,
                      .y_high = y.high * in_y.factor,
                      .x_name = w->x_name,
                      .x_unit = in_x.unit,
                      .y_unit = in_y.unit};
  od_series along = series(a, w->x, in_x.factor);
  od_page_figure_begin(a->page, &figure);
  if (w->is_line)
    od_chart_line(figure.to, &figure.chart, along, series(a, w->y, in_y.factor), OD_DRAWN_ESTIMATE, "");
  else
    od_chart_dots(figure.to, &figure.chart, along, series(a, w->y, in_y.factor), OD_DRAWN_MEASURED);
  if (w->line)
    od_chart_line(figure.to, &figure.chart, along, series(a, w->line, in_y.factor), OD_DRAWN_ESTIMATE, "fitted");
  if (w->band > 0) {
    od_chart_level(figure.to, &figure.chart, w->band * in_y.factor, OD_DRAWN_LIMIT, NULL);
    od_chart_level(figure.to, &figure.chart, -w->band * in_y.factor, OD_DRAWN_LIMIT, NULL);
  }
  od_page_figure_end(a->page, &figure);
}

static void report_data(friction_page *a) {
  static const od_legend legend[] = {{"measured", OD_DRAWN_MEASURED},
                                     {"fitted", OD_DRAWN_ESTIMATE},
                                     {"expected noise, 95 %", OD_DRAWN_LIMIT},
                                     {NULL, NULL}};
  const od_friction_fitted *f = a->f;
  double noise = a->points ? 0 : OD_NORMAL95 * hypot(f->data->noise, f->speed_force);
  od_page_section(a->page, "Measured and fitted");
  od_page_legend(a->page, legend);
  od_page_figures_begin(a->page, false);
  if (!a->points) draw(a, &(drawing){"speed", NULL, "time", "s", "m/s", a->t, a->v, .is_line = true});
  if (!a->points) draw(a, &(drawing){"friction over time", NULL, "time", "s", "N", a->t, a->force, f->model});
  draw(a,
       &(drawing){"friction over speed", a->points ? NULL : "the fitted one goes round with the film and the bristles",
                  "speed", "m/s", "N", a->v, a->force, f->model});
  draw(a, &(drawing){"residual", "measured less fitted", a->points ? "speed" : "time", a->points ? "m/s" : "s", "N",
                     a->points ? a->v : a->t, a->residual, NULL, noise});
  if (!a->points && f->data->position)
    draw(a, &(drawing){"residual over position", "friction that depends on the position shows here", "position", "m",
                       "N", f->data->position, a->residual, NULL, noise});
  od_page_figures_end(a->page);
}

static void report_whiteness(friction_page *a) {
  double correlation[LAGS + 1];
  if (a->points || a->rows <= LAGS) return;
  od_whiteness w = od_whiteness_find(a->residual, a->rows, LAGS, correlation);
  if (!(w.deviation > 0)) return;
  od_page_section(a->page, "What is left over");
  od_page_text(
      a->page,
      "Correlations of residuals with earlier ones; of white residuals 95\u00a0%% are between the dashed lines. Others "
      "say that the law, or what is known of the noise, lacks something.");
  od_page_figures_begin(a->page, true);
  od_page_correlations(a->page, "residual", "correlation with earlier residuals", correlation, LAGS, w.limit);
  od_page_figures_end(a->page);
}

// --- All of it ----------------------------------------------------------------------------------------------------

// Points in the order of their speeds, so that the fitted ones make a line.
typedef struct point {
  double v, force, model;
} point;

static int by_speed(const void *a, const void *b) {
  double x = ((const point *)a)->v, y = ((const point *)b)->v;
  return (x > y) - (x < y);
}

static bool sort_points(const od_friction_fitted *f, double *v, double *force, double *model) {
  const od_steady_points *p = &f->data->points;
  point *sorted = malloc(((size_t)p->count + 1) * sizeof *sorted);
  if (!sorted) return false;
  for (int i = 0; i < p->count; i++) sorted[i] = (point){p->v[i], p->force[i], f->model[i]};
  qsort(sorted, (size_t)p->count, sizeof *sorted, by_speed);
  for (int i = 0; i < p->count; i++) v[i] = sorted[i].v, force[i] = sorted[i].force, model[i] = sorted[i].model;
  free(sorted);
  return true;
}

od_status od_friction_report_write(const od_friction_fitted *f, const char *path, od_error *err) {
  bool points = f->plan->method == OD_FRICTION_STEADY;
  size_t rows = (size_t)f->rows;
  if (rows == 0) return od_fail(err, OD_BAD_ARGUMENT, "there is nothing to report");
  double *memory = calloc(4 * rows + 1, sizeof *memory);
  od_page *page = memory ? od_page_new("Friction report", f->plan->title) : NULL;
  od_friction_fitted shown = *f;
  friction_page a = {.f = &shown, .page = page, .points = points, .rows = f->rows, .residual = memory};
  a.t = f->data->t, a.v = f->data->v, a.force = f->data->force;
  bool ok = page != NULL;
  if (ok && points) {
    double *v = memory + rows, *force = v + rows, *model = force + rows;
    ok = sort_points(f, v, force, model);
    a.v = v, a.force = force, shown.model = model;
  }
  if (!ok) {
    od_page_free(page);
    free(memory);
    return od_fail(err, OD_NO_MEMORY, "memory ran out");
  }
  for (size_t i = 0; i < rows; i++) a.residual[i] = a.force[i] - shown.model[i];
  report_facts(&a);
  report_findings(&a);
  report_parameters(&a);
  report_shares(&a);
  report_data(&a);
  report_whiteness(&a);
  od_status status = od_page_write(page, path, err);
  od_page_free(page);
  free(memory);
  return status;
}
