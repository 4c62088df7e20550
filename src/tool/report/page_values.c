#include "report/page_values.h"

#include <math.h>
#include <string.h>

#include "report/figure_range.h"

enum { MOST_LAGS = 200 };

// --- Texts --------------------------------------------------------------------------------------------------------

static od_quantity_text quantity(double value, double sigma, od_display shown, bool alone) {
  od_quantity_text q;
  char number[OD_NUMBER_SIZE], uncertainty[OD_NUMBER_SIZE];
  double half = OD_NORMAL95 * sigma * shown.factor;
  od_display_value(number, value * shown.factor, half);
  od_display_uncertainty(uncertainty, half);
  const char *space = shown.unit[0] ? "\u00a0" : "";
  if (alone)
    snprintf(q.text, sizeof q.text, "%s%s%.20s", number, space, shown.unit);
  else
    snprintf(q.text, sizeof q.text, "%s\u00a0\u00b1\u00a0%s%s%.20s", number, uncertainty, space, shown.unit);
  return q;
}

od_quantity_text od_quantity(double value, double sigma, const char *si, double size) {
  return quantity(value, sigma, od_display_unit(si, size), isnan(sigma));
}

od_quantity_text od_quantity_alone(double value, double sigma, const char *si, double size) {
  return quantity(value, sigma, od_display_unit(si, size), true);
}

double od_larger(double a, double b) {
  return fmax(fabs(a), fabs(b));
}

// Returns the unit of the second digit of a value.
static double second_digit(double value) {
  return pow(10, floor(log10(fabs(value))) - 1);
}

double od_two_digits(double value) {
  if (!(fabs(value) > 0) || !isfinite(value)) return value;
  double unit = second_digit(value);
  return round(value / unit) * unit;
}

double od_two_digits_up(double value) {
  if (!(value > 0) || !isfinite(value)) return value;
  double unit = second_digit(value), whole = round(value / unit);
  // A value that has two digits except for round-off is unchanged.
  return (whole * unit < value * (1 - 1e-11) ? whole + 1 : whole) * unit;
}

// --- Correlations -------------------------------------------------------------------------------------------------

void od_page_correlations(od_page *p, const char *title, const char *note, const double *correlation, int lags,
                          double limit) {
  double lag[MOST_LAGS];
  od_figure_range r = {-1.5 * limit, 1.5 * limit};
  if (lags > MOST_LAGS) lags = MOST_LAGS;
  for (int k = 1; k <= lags; k++) {
    lag[k - 1] = k;
    od_figure_range_include(&r, correlation[k]);
  }
  // The axis covers at least a tenth of the full scale, so that small correlations look small.
  od_figure_range_include(&r, -0.1);
  od_figure_range_include(&r, 0.1);
  r = od_figure_range_with_margin(r);
  od_figure f = {.title = title,
                 .note = note,
                 .x_low = 0,
                 .x_high = lags + 1,
                 .y_low = fmax(r.low, -1),
                 .y_high = fmin(r.high, 1),
                 .x_name = "lag, samples",
                 .x_unit = "",
                 .y_unit = ""};
  od_page_figure_begin(p, &f);
  od_chart_level(f.to, &f.chart, limit, OD_DRAWN_LIMIT, NULL);
  od_chart_level(f.to, &f.chart, -limit, OD_DRAWN_LIMIT, NULL);
  od_chart_stems(f.to, &f.chart, (od_series){lag, lags, 1, 1}, (od_series){correlation + 1, lags, 1, 1},
                 OD_DRAWN_ESTIMATE);
  od_page_figure_end(p, &f);
}
