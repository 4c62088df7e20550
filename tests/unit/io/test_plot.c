// Plots: axes with round numbers and short units, and files that are well-formed for any data. Oracle: a strict XML
// reader, expected labels.
#include "support/test.h"

#include <math.h>
#include <stdbool.h>

#include "io/axis.h"
#include "io/plot.h"
#include "support/scratch.h"

static void expect_axis(double min, double max, const char *unit, const char *shown_unit, const char *first,
                        const char *second) {
  od_axis axis = od_axis_make(min, max, unit, 4);
  char text[OD_AXIS_TEXT];
  assert_string_equal(axis.unit, shown_unit);
  od_axis_label(&axis, 0, text);
  assert_string_equal(text, first);
  od_axis_label(&axis, 1, text);
  assert_string_equal(text, second);
  assert_in_range(axis.ticks, 2, 9);
}

static void test_axes(void **state) {
  (void)state;
  expect_axis(0, 10, "m", "m", "0", "2");
  expect_axis(-0.71, 0.33, "rad", "rad", "\u22120.6", "\u22120.4");
  expect_axis(0, 7.6e6, "Pa", "MPa", "0", "2");
  expect_axis(0, 0.035, "m", "mm", "0", "10");
  expect_axis(0, 4e-4, "m^2", "10^-6 m^2", "0", "100");
  expect_axis(0, 25000, "kg", "10^3 kg", "0", "5");
  expect_axis(0, 3e-5, "m/s", "\u00b5m/s", "0", "10");
  expect_axis(0.2, 0.9, "1", "", "0.2", "0.4");
  // Constant data still get an axis around them.
  expect_axis(4, 4, "m", "m", "3.6", "3.8");
  expect_axis(0, 0, "m", "m", "\u22121.0", "\u22120.5");
  expect_axis(NAN, NAN, "m", "m", "\u22121.0", "\u22120.5");
  // Values between the ticks are also shown in the axis' unit.
  od_axis axis = od_axis_make(-2e6, 7.6e6, "Pa", 4);
  char text[OD_AXIS_TEXT];
  od_axis_value(&axis, -1.23456e6, text);
  assert_string_equal(text, "\u22121.235");
}

// Every tag is closed, and special characters are escaped.
static void expect_well_formed(const char *text) {
  int depth = 0;
  for (const char *c = strchr(text, '<'); c; c = strchr(c + 1, '<')) {
    const char *end = strchr(c, '>');
    assert_non_null(end);
    if (c[1] == '/')
      depth--;
    else if (end[-1] != '/')
      depth++;
    assert_true(depth >= 0);
  }
  assert_int_equal(depth, 0);
  assert_null(strstr(text, "nan"));
  assert_null(strstr(text, "inf"));
}

static void test_plot(void **state) {
  scratch *s = *state;
  od_table *t = od_table_new(6);
  const char *names[] = {"time", "a<b>.x", "a<b>.y", "flat", "gaps", "empty"};
  for (int i = 0; i < 6; i++) od_table_label(t, i, names[i], i ? "m" : "s");
  for (int i = 0; i <= 20000; i++) {
    double x = 1e-3 * i;
    od_table_append(t, (double[]){x, cos(x), sin(x), 5, i % 1000 < 100 ? (double)NAN : x, NAN});
  }
  const char *path = scratch_path(s, "p.svg");
  assert_int_equal(od_plot_write(t, NULL, "Fish & \"chips\"", "<fast>", path, NULL), OD_OK);
  char *text = scratch_read(path);
  expect_well_formed(text);
  assert_non_null(strstr(text, "Fish &amp; &quot;chips&quot;"));
  assert_non_null(strstr(text, "a&lt;b&gt;.x"));
  // Twenty thousand rows give a small file.
  assert_true(strlen(text) < 200000);
  free(text);
  od_table_free(t);
}

static void test_small_tables(void **state) {
  scratch *s = *state;
  od_table *t = od_table_new(3);
  od_table_label(t, 0, "time", "s");
  od_table_label(t, 1, "p.x", "m");
  od_table_label(t, 2, "p.y", "m");
  const char *path = scratch_path(s, "p.svg");
  od_error err = {0};
  assert_int_equal(od_plot_write(t, NULL, "", "", path, &err), OD_BAD_ARGUMENT);
  assert_int_equal(scratch_count(s), 0);
  od_table_append(t, (double[]){0, 0, 0});
  assert_int_equal(od_plot_write(t, NULL, "", "", path, &err), OD_OK);
  char *text = scratch_read(path);
  expect_well_formed(text);
  free(text);
  od_table_free(t);
}

// Eight long names in one panel: those without space are counted, and a short one after them keeps its own color.
static void test_many_names(void **state) {
  scratch *s = *state;
  enum { N = 9 };
  od_table *t = od_table_new(N);
  int panel[N] = {0};
  double row[N] = {0};
  od_table_label(t, 0, "time", "s");
  for (int i = 1; i < N; i++) {
    char name[64];
    snprintf(name, sizeof name, i < N - 1 ? "a_rather_long_name_%d" : "b", i);
    od_table_label(t, i, name, "m");
    panel[i] = 1;
  }
  for (int i = 0; i < 3; i++) {
    for (int k = 0; k < N; k++) row[k] = i + k;
    od_table_append(t, row);
  }
  const char *path = scratch_path(s, "p.svg");
  assert_int_equal(od_plot_write(t, panel, "", "", path, NULL), OD_OK);
  char *text = scratch_read(path);
  expect_well_formed(text);
  assert_non_null(strstr(text, ">a_rather_long_name_1<"));
  assert_null(strstr(text, ">b<"));
  assert_non_null(strstr(text, ">and 5 more (m)<"));
  free(text);
  od_table_free(t);
}

int main(void) {
#define TEST(f) cmocka_unit_test_setup_teardown(f, scratch_setup, scratch_teardown)
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_axes), TEST(test_plot), TEST(test_small_tables),
                                     TEST(test_many_names)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
