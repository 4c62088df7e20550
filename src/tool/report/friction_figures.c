// Figures of a friction fit: measured and fitted forces, residuals, and correlations of the residuals.
#include <math.h>
#include <string.h>

#include "prepare/whiteness.h"
#include "report/figure_range.h"
#include "report/friction_result.h"
#include "report/page_values.h"

enum { LAGS = 25 };

// The data of the figures: columns of od_friction_fitted_table().
typedef struct rows {
  od_series time, speed, force, model, residual;
  bool are_points;  // whether the law was fitted to points, which have no time; false: to a run
} rows;

static rows rows_of(const od_friction_fitted *f, const od_table *t) {
  bool are_points = f->plan->method == OD_FRICTION_STEADY;
  const double *first = t->data + !are_points;
  od_series s[4];
  for (int i = 0; i < 4; i++) s[i] = (od_series){first + i, t->rows, t->columns, 1};
  return (rows){{t->data, t->rows, t->columns, 1}, s[0], s[1], s[2], s[3], are_points};
}

// A drawing of one quantity over another. `line` is a second quantity with the same unit, drawn as a line; count 0: no such
// quantity.
typedef struct drawing {
  const char *title, *note, *x_name, *x_unit, *y_unit;
  od_series x, y, line;
  double band;  // distance of dashed lines on both sides of zero; 0: none
  bool is_line;
} drawing;

static void draw(od_page *page, drawing w) {
  od_figure_range x = od_figure_range_of(w.x, od_no_figure_range);
  od_figure_range y = od_figure_range_of(w.line, od_figure_range_of(w.y, od_no_figure_range));
  if (w.band > 0) od_figure_range_include(&y, w.band), od_figure_range_include(&y, -w.band);
  if (!(x.high > x.low)) return;
  if (!(y.high > y.low)) y.low -= 1, y.high += 1;
  od_display in_x = od_display_unit(w.x_unit, od_figure_range_size(x));
  od_display in_y = od_display_unit(w.y_unit, od_figure_range_size(y));
  y = od_figure_range_with_margin(y);
  od_figure figure = {.title = w.title,
                      .note = w.note,
                      .x_low = x.low * in_x.factor,
                      .x_high = x.high * in_x.factor,
                      .y_low = y.low * in_y.factor,
                      .y_high = y.high * in_y.factor,
                      .x_name = w.x_name,
                      .x_unit = in_x.unit,
                      .y_unit = in_y.unit,
                      .x_si = w.x_unit,
                      .y_si = w.y_unit,
                      .x_factor = in_x.factor,
                      .y_factor = in_y.factor,
                      .is_over_time = !strcmp(w.x_name, "time")};
  w.x.factor = in_x.factor;
  w.y.factor = w.line.factor = in_y.factor;
  od_page_figure_begin(page, &figure);
  if (w.is_line)
    od_chart_line(figure.to, &figure.chart, w.x, w.y, OD_DRAWN_ESTIMATE, "");
  else
    od_chart_dots(figure.to, &figure.chart, w.x, w.y, OD_DRAWN_MEASURED);
  if (w.line.count > 0) od_chart_line(figure.to, &figure.chart, w.x, w.line, OD_DRAWN_ESTIMATE, "fitted");
  if (w.band > 0) {
    od_chart_level(figure.to, &figure.chart, w.band * in_y.factor, OD_DRAWN_LIMIT, NULL);
    od_chart_level(figure.to, &figure.chart, -w.band * in_y.factor, OD_DRAWN_LIMIT, NULL);
  }
  od_page_figure_end(page, &figure);
}

void od_friction_draw_data(od_page *page, const void *fitted) {
  static const od_legend legend[] = {{"measured", OD_DRAWN_MEASURED},
                                     {"fitted", OD_DRAWN_ESTIMATE},
                                     {"expected noise, 95 %", OD_DRAWN_LIMIT},
                                     {NULL, NULL}};
  const od_friction_fitted *f = fitted;
  OD_OWNED(od_table_free) od_table *table = od_friction_fitted_table(f);
  if (!od_page_require(page, table != NULL)) return;
  rows r = rows_of(f, table);
  double noise = r.are_points ? 0 : OD_NORMAL95 * hypot(f->data->noise, f->speed_force);
  od_page_legend(page, legend);
  od_page_figures_begin(page, false);
  if (r.are_points) {
    draw(page, (drawing){"friction over speed", NULL, "speed", "m/s", "N", r.speed, r.force, r.model});
    draw(page, (drawing){"residual", "measured minus fitted", "speed", "m/s", "N", r.speed, r.residual});
  } else {
    draw(page, (drawing){"speed", NULL, "time", "s", "m/s", r.time, r.speed, .is_line = true});
    draw(page, (drawing){"friction over time", NULL, "time", "s", "N", r.time, r.force, r.model});
    draw(page, (drawing){"friction over speed", "loops are due to the film and the bristles", "speed", "m/s", "N",
                         r.speed, r.force, r.model});
    draw(page, (drawing){"residual", "measured minus fitted", "time", "s", "N", r.time, r.residual, .band = noise});
  }
  if (!r.are_points && f->data->position)
    draw(page,
         (drawing){"residual over position", "a pattern indicates friction that depends on the position", "position",
                   "m", "N", (od_series){f->data->position, f->rows, 1, 1}, r.residual, .band = noise});
  od_page_figures_end(page);
}

void od_friction_draw_whiteness(od_page *page, const void *fitted) {
  OD_SCRATCH(scratch);
  const od_friction_fitted *f = fitted;
  double correlation[LAGS + 1], *residual = OD_TAKE(&scratch, double, f->rows);
  if (!od_page_require(page, residual != NULL)) return;
  if (f->plan->method == OD_FRICTION_STEADY || f->rows <= LAGS) return;
  for (int i = 0; i < f->rows; i++) residual[i] = f->data->force[i] - f->model[i];
  od_whiteness w = od_whiteness_find(residual, f->rows, LAGS, correlation);
  if (!(w.deviation > 0)) return;
  od_page_section(page, "Residuals");
  od_page_text(
      page,
      "Correlations of residuals with earlier residuals. For white residuals, 95\u00a0%% of the correlations are "
      "between the dashed lines. Larger correlations indicate that the law or the noise model is incomplete.");
  od_page_figures_begin(page, true);
  od_page_correlations(page, "residual", "correlation with earlier residuals", correlation, LAGS, w.limit);
  od_page_figures_end(page);
}
