// Charts: the thinned points of long series still show their shape. The oracle is the series itself.
#include "support/test.h"

#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "io/chart.h"

enum { COUNT = 100000, MOST = 20000 };

typedef struct drawing {
  char *text;
  size_t length;
  FILE *to;
  double x[MOST], y[MOST];
  bool begins[MOST];
  int points;
} drawing;

static drawing *begin(void) {
  drawing *d = calloc(1, sizeof *d);
  d->to = open_memstream(&d->text, &d->length);
  return d;
}

// Reads the points of the first path back.
static void read_back(drawing *d) {
  fflush(d->to);
  const char *c = strstr(d->text, " d=\"");
  assert_non_null(c);
  for (c += 4; *c != '"';) {
    if (*c == 'Z') {
      c++;
      continue;
    }
    assert_true(*c == 'M' || *c == 'L');
    assert_true(d->points < MOST);
    char *end;
    d->begins[d->points] = *c == 'M';
    d->x[d->points] = strtod(c + 1, &end);
    d->y[d->points++] = strtod(end, &end);
    c = end;
  }
}

static void finish(drawing *d) {
  fclose(d->to);
  free(d->text);
  free(d);
}

static od_chart chart(double y_low, double y_high) {
  return (od_chart){50, 10, 400, 200, od_axis_make(0, 1, "s", 5), od_axis_make(y_low, y_high, "m", 5)};
}

static double *numbers(double (*f)(double)) {
  double *v = malloc(2 * COUNT * sizeof *v);
  for (int i = 0; i < COUNT; i++) {
    v[2 * i] = (double)i / (COUNT - 1);
    v[2 * i + 1] = f(v[2 * i]);
  }
  return v;
}

static double wave(double t) {
  return sin(12 * t) * exp(-t);
}

// The error of a smooth line drawn with few points is at most rounding and tolerance.
static void test_smooth_line(void **state) {
  (void)state;
  double *v = numbers(wave);
  od_chart c = chart(-1, 1);
  drawing *d = begin();
  od_series x = {v, COUNT, 2, 1}, y = {v + 1, COUNT, 2, 1};
  od_chart_line(d->to, &c, x, y, "estimate", "a < b");
  read_back(d);
  assert_non_null(strstr(d->text, "data-name=\"a &lt; b\""));
  assert_in_range(d->points, 20, 250);
  int k = 1;
  for (int i = 0; i < COUNT; i++) {
    double px = od_chart_x(&c, v[2 * i]), py = od_chart_y(&c, v[2 * i + 1]);
    while (k + 1 < d->points && d->x[k] < px) k++;
    double share = (px - d->x[k - 1]) / (d->x[k] - d->x[k - 1]);
    double drawn = d->y[k - 1] + share * (d->y[k] - d->y[k - 1]);
    // A column of pixels is drawn by its extremes, so the line may be shifted within the column.
    assert_true(fabs(drawn - py) < 1 + 12 * 200.0 / 2 / 400);
  }
  finish(d);
  free(v);
}

// With at most one point per pixel, only points on a straight line are omitted.
static void test_few_points(void **state) {
  (void)state;
  enum { FEW = 300 };
  double x[FEW], y[FEW];
  for (int i = 0; i < FEW; i++) x[i] = (double)i / (FEW - 1), y[i] = wave(x[i]);
  od_chart c = chart(-1, 1);
  drawing *d = begin();
  od_chart_line(d->to, &c, (od_series){x, FEW, 1, 1}, (od_series){y, FEW, 1, 1}, "estimate", NULL);
  read_back(d);
  assert_in_range(d->points, 20, 150);
  int k = 1;
  for (int i = 0; i < FEW; i++) {
    double px = od_chart_x(&c, x[i]), py = od_chart_y(&c, y[i]);
    while (k + 1 < d->points && d->x[k] < px) k++;
    double share = (px - d->x[k - 1]) / (d->x[k] - d->x[k - 1]);
    assert_true(fabs(d->y[k - 1] + share * (d->y[k] - d->y[k - 1]) - py) < 0.12 + 0.06 + 0.06 * 6);
  }
  finish(d);
}

static double spiky(double t) {
  return fabs(t - 0.37) < 0.4 / COUNT ? 1 : fabs(t - 0.62) < 0.4 / COUNT ? -1 : 0;
}

static double noisy(double t) {
  return 0.4 * sin(1e7 * t * t);
}

// A single value among many is visible in lines, dots and bands.
static void test_spikes_stay(void **state) {
  (void)state;
  double *v = numbers(spiky);
  od_chart c = chart(-1, 1);
  static const double half = 0;
  od_series x = {v, COUNT, 2, 1}, y = {v + 1, COUNT, 2, 1}, none = {&half, COUNT, 0, 1};
  for (int kind = 0; kind < 3; kind++) {
    drawing *d = begin();
    if (kind == 0) od_chart_line(d->to, &c, x, y, "estimate", NULL);
    if (kind == 1) od_chart_dots(d->to, &c, x, y, "measured");
    if (kind == 2) od_chart_band(d->to, &c, x, y, none, "band", NULL);
    read_back(d);
    double low = INFINITY, high = -INFINITY;
    for (int i = 0; i < d->points; i++) low = fmin(low, d->y[i]), high = fmax(high, d->y[i]);
    assert_true(fabs(low - 10) < 0.1 && fabs(high - 210) < 0.1);
    finish(d);
  }
  free(v);
}

// Noise has extremes in every column; the size of the drawing is limited by the pixels for any number of values.
static void test_noise_is_bounded(void **state) {
  (void)state;
  double *v = numbers(noisy);
  od_chart c = chart(-1, 1);
  od_series x = {v, COUNT, 2, 1}, y = {v + 1, COUNT, 2, 1};
  for (int kind = 0; kind < 3; kind++) {
    drawing *d = begin();
    if (kind == 0) od_chart_line(d->to, &c, x, y, "estimate", NULL);
    if (kind == 1) od_chart_dots(d->to, &c, x, y, "measured");
    if (kind == 2) od_chart_band(d->to, &c, x, y, y, "band", NULL);
    read_back(d);
    assert_in_range(d->points, 10, 4 * 402);
    finish(d);
  }
  free(v);
}

// Gaps break lines and bands; values that are not finite or far outside are written with short numbers.
static void test_gaps_and_monsters(void **state) {
  (void)state;
  double x[9] = {0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8}, y[9] = {0, 0.5, NAN, 0.2, 1e300, INFINITY, 0.1, -1e12, 0};
  od_chart c = chart(-1, 1);
  od_series xs = {x, 9, 1, 1}, ys = {y, 9, 1, 1};
  drawing *d = begin();
  od_chart_line(d->to, &c, xs, ys, "estimate", NULL);
  read_back(d);
  int parts = 0;
  for (int i = 0; i < d->points; i++) {
    parts += d->begins[i];
    assert_true(fabs(d->y[i]) <= 1000);
  }
  assert_int_equal(parts, 3);
  assert_null(strstr(d->text, "nan"));
  assert_null(strstr(d->text, "inf"));
  finish(d);
  d = begin();
  od_chart_band(d->to, &c, xs, ys, (od_series){x, 9, 1, 1}, "band", NULL);
  od_chart_bars(d->to, &c, xs, ys, ys, "estimate");
  od_chart_stems(d->to, &c, xs, ys, "estimate");
  od_chart_level(d->to, &c, NAN, "limit", NULL);
  fflush(d->to);
  assert_null(strstr(d->text, "nan"));
  assert_null(strstr(d->text, "inf"));
  finish(d);
}

// Axes of values near the limits of double: a few ticks with finite labels.
static void test_axes_of_any_size(void **state) {
  (void)state;
  static const double ends[][2] = {{-DBL_MAX, DBL_MAX},    {0, DBL_MAX},     {-1e308, 1e307},   {0, DBL_MIN},
                                   {0, DBL_TRUE_MIN},      {1e-320, 2e-320}, {-1e-300, 1e-300}, {1, 1 + DBL_EPSILON},
                                   {DBL_MAX / 2, DBL_MAX}, {-5, 3},          {NAN, 1},          {-INFINITY, 0}};
  for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
    od_axis axis = od_axis_make(ends[i][0], ends[i][1], "m", 5);
    if (axis.ticks < 1 || axis.ticks > 20) fail_msg("%d ticks from %g to %g", axis.ticks, ends[i][0], ends[i][1]);
    assert_true(axis.low < axis.high && isfinite(axis.high - axis.low) && axis.step > 0 && isfinite(axis.step));
    for (int k = 0; k < axis.ticks; k++) {
      char text[OD_AXIS_TEXT];
      od_axis_label(&axis, k, text);
      assert_null(strstr(text, "nan"));
      assert_null(strstr(text, "inf"));
    }
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_smooth_line),       cmocka_unit_test(test_few_points),
      cmocka_unit_test(test_spikes_stay),       cmocka_unit_test(test_noise_is_bounded),
      cmocka_unit_test(test_gaps_and_monsters), cmocka_unit_test(test_axes_of_any_size),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
