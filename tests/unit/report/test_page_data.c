// The data of a page: series with 16 bits, envelopes of long series, charts. Oracles: the arrays that were drawn, a decoder that shares no
// code with the encoder, and extremes found by comparing all values.
#include "support/test.h"

#include <math.h>

#include "report/page.h"
#include "support/page_data.h"
#include "support/scratch.h"

static const char nasty[] = "<script>alert(1)</script>]]> & \"q\" \x01\xff \\ \xef\xbf\xbe";

static page_data written(void **state, od_page *p) {
  od_error err = {0};
  const char *path = scratch_path(*state, "p.html");
  if (od_page_write(p, path, &err) != OD_OK) fail_msg("%s", err.text);
  od_page_free(p);
  char *text = scratch_read(path);
  page_data d = page_data_read(text);
  free(text);
  return d;
}

// Values that cover rising, falling, jumps and large numbers.
static double shape(long i) {
  double t = (double)i;
  return 2e7 + 3e5 * sin(0.01 * t) + 1e4 * cos(0.37 * t) + (i % 97 == 50 ? 4e5 : 0) - (i % 1000 == 3 ? 7e5 : 0);
}

static od_figure figure(const char *title) {
  return (od_figure){.title = title,
                     .x_high = 10,
                     .y_low = 190,
                     .y_high = 210,
                     .x_name = "time",
                     .x_unit = "s",
                     .y_unit = "bar",
                     .x_si = "s",
                     .y_si = "Pa",
                     .x_factor = 1,
                     .y_factor = 1e-5,
                     .is_over_time = true,
                     .has_outputs = true};
}

// Every value of a short series is within half a quantum, gaps included; unit and factor are those of the figure.
static void test_values(void **state) {
  enum { N = 1000 };
  double x[N], y[N];
  for (int i = 0; i < N; i++) x[i] = 0.25 + 0.01 * i, y[i] = i % 10 == 7 ? (double)NAN : shape(i);
  od_page *p = od_page_new("kind", "title");
  od_figure f = figure("pressures");
  od_page_figure_begin(p, &f);
  od_chart_line(f.to, &f.chart, (od_series){x, N, 1, 1}, (od_series){y, N, 1, 1e-5}, od_drawn_series(0),
                "lift.A.pressure");
  od_chart_line(f.to, &f.chart, (od_series){x, N, 1, 1}, (od_series){y, N, 1, 1e-5}, od_drawn_series(1),
                "lift.B.pressure");
  od_page_figure_end(p, &f);
  page_data d = written(state, p);
  long i = page_data_find(&d, "lift.A.pressure", ""), j = page_data_find(&d, "lift.B.pressure", ""), count, points;
  double quantum, *value = page_data_values(&d, i, &count, &quantum), *at = page_data_x(&d, i, &points);
  assert_int_equal(count, N);
  assert_int_equal(points, N);
  for (int k = 0; k < N; k++) {
    assert_true(isnan(value[k]) == isnan(y[k]));
    if (!isnan(y[k])) assert_true(fabs(value[k] - y[k]) <= 0.500001 * quantum + 1e-4);
    assert_true(fabs(at[k] - x[k]) < 1e-9);
  }
  // Equal bytes are stored once.
  const json_t *s = page_data_at(&d, "series", i);
  assert_true(page_data_number(s, "at", -1) == page_data_number(page_data_at(&d, "series", j), "at", -2));
  assert_int_equal(d.size, 2 * N);
  assert_string_equal(json_string_value(json_object_get(s, "part")), "lift.A");
  assert_string_equal(json_string_value(json_object_get(s, "quantity")), "pressure");
  assert_string_equal(json_string_value(json_object_get(s, "si")), "Pa");
  const json_t *chart = page_data_at(&d, "charts", 0), *lines = json_object_get(chart, "lines");
  assert_int_equal(json_array_size(lines), 2);
  assert_string_equal(json_string_value(json_object_get(json_array_get(lines, 1), "label")), "lift.B");
  assert_string_equal(json_string_value(json_object_get(json_object_get(chart, "y"), "unit")), "bar");
  near(page_data_number(json_object_get(chart, "y"), "factor", 0), 1e-5, 1e-20);
  near(page_data_number(json_object_get(chart, "y"), "low", 0), 190e5, 1e-3);
  free(value);
  free(at);
  page_data_free(&d);
}

// A long series becomes an envelope: each extreme of each interval is kept, in its order, and no value is invented.
static void test_envelope(void **state) {
  enum { N = 100001 };
  double *x = malloc(N * sizeof *x), *y = malloc(N * sizeof *y);
  for (long i = 0; i < N; i++) x[i] = 1e-3 * (double)i, y[i] = shape(i);
  od_page *p = od_page_new("kind", "title");
  od_page_data_limit(od_page_get_data(p), 1000);
  od_figure f = figure("long");
  od_page_figure_begin(p, &f);
  od_chart_line(f.to, &f.chart, (od_series){x, N, 1, 1}, (od_series){y, N, 1, 1e-5}, od_drawn_series(0), "spikes");
  for (long i = 0; i < N; i++) y[i] = sin(1e-4 * (double)i);
  od_chart_line(f.to, &f.chart, (od_series){x, N, 1, 1}, (od_series){y, N, 1, 1e-5}, od_drawn_series(1), "smooth");
  od_page_figure_end(p, &f);
  page_data d = written(state, p);
  long i = page_data_find(&d, "spikes", ""), count, points;
  double quantum, *value = page_data_values(&d, i, &count, &quantum), *at = page_data_x(&d, i, &points);
  const json_t *grid = page_data_at(&d, "grids", (long)page_data_number(page_data_at(&d, "series", i), "grid", -1));
  assert_true(json_is_true(json_object_get(grid, "envelope")));
  assert_int_equal(count, 2000);
  near(at[count - 1], 100, 1e-9);
  for (long k = 0; k < 1000; k++) {
    long low = 100 * k, high = 100 * k;
    for (long row = 100 * k; row <= 100 * k + 100; row++) {
      if (shape(row) < shape(low)) low = row;
      if (shape(row) > shape(high)) high = row;
    }
    double first = shape(low < high ? low : high), second = shape(low < high ? high : low);
    assert_true(fabs(value[2 * k] - first) <= 0.500001 * quantum + 1e-4);
    assert_true(fabs(value[2 * k + 1] - second) <= 0.500001 * quantum + 1e-4);
    near(at[2 * k], 0.1 * (double)k, 1e-9);
  }
  free(value);
  free(at);
  // A smooth series consists of exact samples.
  i = page_data_find(&d, "smooth", "");
  value = page_data_values(&d, i, &count, &quantum);
  assert_int_equal(count, 1001);
  for (long k = 0; k < count; k++)
    assert_true(fabs(value[k] - 1e0 * sin(1e-2 * (double)k)) <= 0.500001 * quantum + 1e-9);
  free(value);
  page_data_free(&d);
  free(x);
  free(y);
}

// Logarithmic axes, curves that return, bands, levels, marks; x values at any distances.
static void test_shapes(void **state) {
  enum { N = 200 };
  double x[N], y[N], half[N], loop_x[N], loop_y[N];
  for (int i = 0; i < N; i++) {
    x[i] = pow(10, -3 + 6 * i / (N - 1.0));
    y[i] = 1 / (1 + x[i] * x[i]);
    half[i] = 0.1 * y[i];
    loop_x[i] = cos(0.1 * i), loop_y[i] = sin(0.1 * i);
  }
  od_page *p = od_page_new("kind", "title");
  od_figure f = {.title = "bode",
                 .x_low = 1e-3,
                 .x_high = 1e3,
                 .y_low = 1e-6,
                 .y_high = 2,
                 .x_name = "frequency",
                 .x_unit = "Hz",
                 .y_unit = "",
                 .x_log = true,
                 .y_log = true};
  od_series xs = {x, N, 1, 1}, ys = {y, N, 1, 1};
  od_page_figure_begin(p, &f);
  od_chart_line(f.to, &f.chart, xs, ys, OD_DRAWN_ESTIMATE, "gain");
  od_chart_mark(f.to, &f.chart, 10, 0.5, OD_MARK_CROSS, OD_DRAWN_LIMIT, "margin");
  od_chart_instant(f.to, &f.chart, 20, OD_DRAWN_LIMIT, "bandwidth");
  od_chart_level(f.to, &f.chart, 0.7, OD_DRAWN_LIMIT, "3 dB");
  od_page_figure_end(p, &f);
  f = (od_figure){
      .title = "loop", .x_low = -1, .x_high = 1, .y_low = -1, .y_high = 1, .x_name = "x", .x_unit = "", .y_unit = ""};
  od_page_figure_begin(p, &f);
  od_chart_line(f.to, &f.chart, (od_series){loop_x, N, 1, 1}, (od_series){loop_y, N, 1, 1}, od_drawn_series(0), "loop");
  od_chart_dots(f.to, &f.chart, (od_series){loop_x, N, 1, 1}, (od_series){loop_y, N, 1, 1}, OD_DRAWN_MEASURED);
  od_page_figure_end(p, &f);
  f = (od_figure){.title = "band",
                  .x_low = 0,
                  .x_high = 1e3,
                  .y_low = 0,
                  .y_high = 1,
                  .x_name = "x",
                  .x_unit = "",
                  .y_unit = "",
                  .subject = "out.put"};
  od_page_figure_begin(p, &f);
  od_chart_band(f.to, &f.chart, xs, ys, (od_series){half, N, 1, 1}, OD_DRAWN_BAND, "");
  od_chart_line(f.to, &f.chart, xs, ys, OD_DRAWN_TRUTH, "true");
  od_chart_bars(f.to, &f.chart, xs, ys, (od_series){half, N, 1, 1}, OD_DRAWN_ESTIMATE);
  od_chart_stems(f.to, &f.chart, xs, ys, OD_DRAWN_ESTIMATE);
  od_page_figure_end(p, &f);
  // A histogram: an area without a name, and a line without a name.
  f = (od_figure){
      .title = "counts", .x_low = 0, .x_high = 1e3, .y_low = 0, .y_high = 1, .x_name = "x", .x_unit = "", .y_unit = ""};
  od_page_figure_begin(p, &f);
  od_chart_band(f.to, &f.chart, xs, ys, (od_series){half, N, 1, 1}, OD_DRAWN_BAND, NULL);
  od_chart_line(f.to, &f.chart, xs, ys, OD_DRAWN_ESTIMATE, NULL);
  od_page_figure_end(p, &f);
  page_data d = written(state, p);

  // The labels: the only line has the title of the chart, an unnamed area none, an interval its own.
  const json_t *shapes = json_object_get(page_data_at(&d, "charts", 3), "lines");
  assert_null(json_object_get(json_array_get(shapes, 0), "label"));
  assert_string_equal(json_string_value(json_object_get(json_array_get(shapes, 1), "label")), "counts");
  shapes = json_object_get(page_data_at(&d, "charts", 2), "lines");
  assert_string_equal(json_string_value(json_object_get(json_array_get(shapes, 0), "label")), "95 % interval");

  const json_t *chart = page_data_at(&d, "charts", 0);
  long i = json_integer_value(json_object_get(json_array_get(json_object_get(chart, "lines"), 0), "series")), count,
       points;
  double quantum, *value = page_data_values(&d, i, &count, &quantum), *at = page_data_x(&d, i, &points);
  assert_int_equal(count, N);
  for (int k = 0; k < N; k++) {
    near_relative(value[k], y[k], 2e-4);
    near_relative(at[k], x[k], 2e-4);
  }
  free(value);
  free(at);
  assert_string_equal(json_string_value(json_object_get(json_object_get(chart, "x"), "scale")), "log");
  const json_t *marks = json_object_get(chart, "marks"), *limits = json_object_get(chart, "limits");
  assert_int_equal(json_array_size(marks), 2);
  near(page_data_number(json_array_get(marks, 0), "y", 0), 0.5, 1e-12);
  assert_null(json_object_get(json_array_get(marks, 1), "y"));
  assert_string_equal(json_string_value(json_object_get(json_array_get(marks, 1), "text")), "bandwidth");
  near(page_data_number(json_array_get(limits, 0), "value", 0), 0.7, 1e-12);

  const json_t *line = json_array_get(json_object_get(page_data_at(&d, "charts", 1), "lines"), 0);
  at = page_data_values(&d, json_integer_value(json_object_get(line, "x")), &points, &quantum);
  value = page_data_values(&d, json_integer_value(json_object_get(line, "series")), &count, &quantum);
  assert_int_equal(count, N);
  for (int k = 0; k < N; k++) {
    near(at[k], loop_x[k], 2e-5);
    near(value[k], loop_y[k], 2e-5);
  }
  free(value);
  free(at);
  assert_true(json_is_true(
      json_object_get(json_array_get(json_object_get(page_data_at(&d, "charts", 1), "lines"), 1), "points")));

  const json_t *lines = json_object_get(page_data_at(&d, "charts", 2), "lines");
  const char *const kinds[] = {"band", "truth", "bars", "stems"};
  for (size_t k = 0; k < 4; k++)
    assert_string_equal(json_string_value(json_object_get(json_array_get(lines, k), "kind")), kinds[k]);
  line = json_array_get(lines, 0);
  double *lower = page_data_values(&d, json_integer_value(json_object_get(line, "series")), &count, &quantum);
  double *upper = page_data_values(&d, json_integer_value(json_object_get(line, "upper")), &count, &quantum);
  for (int k = 0; k < N; k++) {
    near(lower[k], 0.9 * y[k], 2e-5);
    near(upper[k], 1.1 * y[k], 2e-5);
  }
  free(lower);
  free(upper);
  page_data_find(&d, "out.put", "truth");
  page_data_free(&d);
}

// Constant, empty and infinite series.
static void test_extreme_series(void **state) {
  static const double x[] = {0, 1, 2, 3}, flat[] = {5, 5, 5, 5}, gaps[] = {7, NAN, 7, INFINITY},
                      none[] = {NAN, NAN, NAN, NAN}, huge[] = {-1e308, 0, 1e308, 0}, tiny[] = {1, 1 + 1e-15, 1, 1};
  const double *const all[] = {flat, gaps, none, huge, tiny};
  static const char *const names[] = {"flat", "gaps", "none", "huge", "tiny"};
  od_page *p = od_page_new("kind", "title");
  od_figure f = {.title = "extremes",
                 .x_high = 3,
                 .y_low = -1,
                 .y_high = 1,
                 .x_name = "x",
                 .x_unit = "",
                 .y_unit = "",
                 .has_outputs = true};
  od_page_figure_begin(p, &f);
  for (int i = 0; i < 5; i++)
    od_chart_line(f.to, &f.chart, (od_series){x, 4, 1, 1}, (od_series){all[i], 4, 1, 1}, od_drawn_series(i), names[i]);
  od_chart_line(f.to, &f.chart, (od_series){x, 0, 1, 1}, (od_series){x, 0, 1, 1}, od_drawn_series(0), "empty");
  od_page_figure_end(p, &f);
  page_data d = written(state, p);
  for (int i = 0; i < 5; i++) {
    long count;
    double quantum, *value = page_data_values(&d, page_data_find(&d, names[i], ""), &count, &quantum);
    assert_int_equal(count, 4);
    for (int k = 0; k < 4; k++) {
      assert_true(isfinite(value[k]) == isfinite(all[i][k]));
      if (isfinite(value[k]) && i != 3) near(value[k], all[i][k], 1e-12);
    }
    free(value);
  }
  page_data_free(&d);
}

// Names with markup inject nothing: the reader of the data rejects all characters of markup, and the names read back.
static void test_hostile_names(void **state) {
  static const double x[] = {0, 1}, y[] = {0, 1};
  od_page *p = od_page_new(nasty, nasty);
  od_figure f = {.title = nasty,
                 .note = nasty,
                 .x_high = 1,
                 .y_high = 1,
                 .x_name = nasty,
                 .x_unit = "",
                 .y_unit = nasty,
                 .has_outputs = true};
  od_page_figure_begin(p, &f);
  od_chart_line(f.to, &f.chart, (od_series){x, 2, 1, 1}, (od_series){y, 2, 1, 1}, od_drawn_series(0), nasty);
  od_page_figure_end(p, &f);
  od_page_add_finding(
      p, &(od_page_finding){
             .severity = "note", .title = nasty, .text = nasty, .owner = nasty, .from = NAN, .to = NAN, .at = NAN});
  page_data d = written(state, p);
  const char *title = json_string_value(json_object_get(page_data_at(&d, "charts", 0), "title"));
  assert_non_null(strstr(title, "<script>alert(1)</script>]]> & \"q\" "));
  assert_non_null(strstr(json_string_value(json_object_get(page_data_at(&d, "findings", 0), "owner")), "<script>"));
  page_data_free(&d);
}

int main(void) {
#define TEST(f) cmocka_unit_test_setup_teardown(f, scratch_setup, scratch_teardown)
  const struct CMUnitTest tests[] = {TEST(test_values), TEST(test_envelope), TEST(test_shapes),
                                     TEST(test_extreme_series), TEST(test_hostile_names)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
