// Figures of a friction fit: measured and fitted forces, residuals, and correlations of the residuals.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "prepare/whiteness.h"
#include "report/figure_range.h"
#include "report/friction_result.h"
#include "report/page_values.h"

enum { LAGS = 25 };

typedef struct friction_page {
  const od_friction_fitted *f;
  od_page *page;
  bool points;  // whether the law was fitted to points, not to a run
  int rows;
  const double *t, *v, *force;
  double *residual;  // measured minus fitted
} friction_page;

static od_series series(const friction_page *a, const double *x, double factor) {
  return (od_series){x, a->rows, 1, factor};
}

static od_figure_range range_of(const friction_page *a, const double *x, od_figure_range r) {
  for (int i = 0; i < a->rows; i++) od_figure_range_include(&r, x[i]);
  return r;
}

// A drawing of one quantity over another. `line` is a second quantity with the same unit, drawn as a line.
typedef struct drawing {
  const char *title, *note, *x_name, *x_unit, *y_unit;
  const double *x, *y, *line;
  double band;  // dashed lines on both sides of zero; 0: none
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

static void draw_data(friction_page *a) {
  static const od_legend legend[] = {{"measured", OD_DRAWN_MEASURED},
                                     {"fitted", OD_DRAWN_ESTIMATE},
                                     {"expected noise, 95 %", OD_DRAWN_LIMIT},
                                     {NULL, NULL}};
  const od_friction_fitted *f = a->f;
  double noise = a->points ? 0 : OD_NORMAL95 * hypot(f->data->noise, f->speed_force);
  od_page_legend(a->page, legend);
  od_page_figures_begin(a->page, false);
  if (!a->points) draw(a, &(drawing){"speed", NULL, "time", "s", "m/s", a->t, a->v, .is_line = true});
  if (!a->points) draw(a, &(drawing){"friction over time", NULL, "time", "s", "N", a->t, a->force, f->model});
  draw(a, &(drawing){"friction over speed", a->points ? NULL : "loops are due to the film and the bristles", "speed",
                     "m/s", "N", a->v, a->force, f->model});
  draw(a, &(drawing){"residual", "measured minus fitted", a->points ? "speed" : "time", a->points ? "m/s" : "s", "N",
                     a->points ? a->v : a->t, a->residual, NULL, noise});
  if (!a->points && f->data->position)
    draw(a, &(drawing){"residual over position", "a pattern indicates friction that depends on the position",
                       "position", "m", "N", f->data->position, a->residual, NULL, noise});
  od_page_figures_end(a->page);
}

static void draw_whiteness(friction_page *a) {
  double correlation[LAGS + 1];
  if (a->points || a->rows <= LAGS) return;
  od_whiteness w = od_whiteness_find(a->residual, a->rows, LAGS, correlation);
  if (!(w.deviation > 0)) return;
  od_page_section(a->page, "Residuals");
  od_page_text(
      a->page,
      "Correlations of residuals with earlier residuals. Of white residuals, 95\u00a0%% are between the dashed lines. "
      "Larger correlations indicate that the law or the noise model is incomplete.");
  od_page_figures_begin(a->page, true);
  od_page_correlations(a->page, "residual", "correlation with earlier residuals", correlation, LAGS, w.limit);
  od_page_figures_end(a->page);
}

// --- All figures --------------------------------------------------------------------------------------------------

// A point. Points are sorted by speed, so that the fitted values form a line.
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

// Prepares the data of the figures and draws the figures. Draws nothing if memory ran out.
static void with_rows(od_page *page, const od_friction_fitted *f, void (*draw_figures)(friction_page *a)) {
  bool points = f->plan->method == OD_FRICTION_STEADY;
  size_t rows = (size_t)f->rows;
  double *memory = calloc(4 * rows + 1, sizeof *memory);
  od_friction_fitted shown = *f;
  friction_page a = {.f = &shown,
                     .page = page,
                     .points = points,
                     .rows = f->rows,
                     .t = f->data->t,
                     .v = f->data->v,
                     .force = f->data->force,
                     .residual = memory};
  bool ok = memory != NULL;
  if (ok && points) {
    double *v = memory + rows, *force = v + rows, *model = force + rows;
    ok = sort_points(f, v, force, model);
    a.v = v, a.force = force, shown.model = model;
  }
  for (size_t i = 0; ok && i < rows; i++) a.residual[i] = a.force[i] - shown.model[i];
  if (ok) draw_figures(&a);
  free(memory);
}

void od_friction_draw_data(od_page *page, const void *fitted) {
  with_rows(page, fitted, draw_data);
}

void od_friction_draw_whiteness(od_page *page, const void *fitted) {
  with_rows(page, fitted, draw_whiteness);
}
