// Pages of runs and observers: outputs that are recorded for the pictures, sizes, and files that do not depend on the page. Oracles: the CSV
// files of the same runs, and runs without a page.
#include "support/test.h"

#include <math.h>

#include "formats/read_table.h"
#include "io/table.h"
#include "report/page_files.h"
#include "support/page_data.h"
#include "support/program.h"
#include "support/xml.h"

#define CASES OD_SOURCE_DIR "/cases/"

// The text of a page, after a check that it is well-formed.
static char *page_text(scratch *s, const char *file) {
  char *text = scratch_read(scratch_path(s, file)), what[200];
  if (!xml_well_formed(text, what, sizeof what)) fail_msg("%s", what);
  return text;
}

static od_table *csv_of(scratch *s, const char *file) {
  od_table *t = NULL;
  od_error err = {0};
  if (od_table_read_csv(scratch_path(s, file), &t, &err) != OD_OK) fail_msg("%s", err.text);
  return t;
}

static int column_of(const od_table *t, const char *name) {
  for (int c = 0; c < t->columns; c++)
    if (strcmp(t->name[c], name) == 0) return c;
  fail_msg("no column %s", name);
  return -1;
}

// Compares a series of a page with a column: each sample is a row; an envelope covers all rows of the column.
static void expect_series(const page_data *d, const char *name, const char *of, const od_table *t, int column) {
  long i = page_data_find(d, name, of), count, points;
  double quantum, *value = page_data_values(d, i, &count, &quantum), *x = page_data_x(d, i, &points);
  const json_t *grid = page_data_at(d, "grids", (long)page_data_number(page_data_at(d, "series", i), "grid", -1));
  bool is_envelope = json_is_true(json_object_get(grid, "envelope"));
  double slack = 0.500001 * quantum + 1e-9 * fmax(fabs(value[0]), 1e-9);
  assert_int_equal(count, points);
  near(x[count - 1], t->data[(t->rows - 1) * t->columns], 1e-6);
  long row = 0;
  for (long k = 0; k < count && !is_envelope; k++) {
    while (row + 1 < t->rows && t->data[row * t->columns] < x[k] - 1e-7) row++;
    near(t->data[row * t->columns], x[k], 1e-6);
    double expected = t->data[row * t->columns + column];
    if (!(fabs(value[k] - expected) <= slack))
      fail_msg("%s at %g s is %.9g, expected %.9g", name, x[k], value[k], expected);
  }
  for (long k = 0; k + 1 < count && is_envelope; k += 2) {
    double begin = x[k], end = k + 2 < count ? x[k + 2] : x[count - 1], low = INFINITY, high = -INFINITY;
    while (row > 0 && t->data[row * t->columns] > begin - 1e-7) row--;
    for (; row < t->rows && t->data[row * t->columns] <= end + 1e-7; row++) {
      if (t->data[row * t->columns] < begin - 1e-7) continue;
      low = fmin(low, t->data[row * t->columns + column]);
      high = fmax(high, t->data[row * t->columns + column]);
    }
    row--;
    assert_true(fabs(fmin(value[k], value[k + 1]) - low) <= slack);
    assert_true(fabs(fmax(value[k], value[k + 1]) - high) <= slack);
  }
  free(value);
  free(x);
}

static char *without_times(char *json) {
  char *at = strstr(json, "\"seconds\"");
  if (at) memmove(at, at + strcspn(at, "\n"), strlen(at + strcspn(at, "\n")) + 1);
  return json;
}

// Poses, pressures and forces that only the page records are those of a run that records them for its CSV file. Verdict, JSON and CSV do not
// depend on the page. Size: the page without its script and style sheet.
static void test_run(void **state) {
  scratch *s = *state;
  expect_code(run(s, "simulate " CASES "excavator/machine.yaml --csv a.csv --json a.json --quiet"), 0);
  expect_code(run(s, "simulate " CASES "excavator/machine.yaml --csv b.csv --json b.json --report b.html --quiet"), 0);
  const char *const names[] = {"a.csv", "b.csv", "a.json", "b.json"};
  char *text[4];
  for (int i = 0; i < 4; i++) text[i] = without_times(scratch_read(scratch_path(s, names[i])));
  assert_string_equal(text[0], text[1]);
  assert_string_equal(text[2], text[3]);
  for (int i = 0; i < 4; i++) free(text[i]);

  expect_code(run(s, "simulate " CASES
                     "excavator/machine.yaml --csv all.csv --quiet --output boom.pose.x,boom.pose.qz,bucket.pose.y,"
                     "lift.A.pressure,crowd.B.pressure,curl.ram.length,lift.ram.force,pump.power,boom_foot.force"),
              0);
  od_table *t = csv_of(s, "all.csv");
  char *page = page_text(s, "b.html");
  page_data d = page_data_read(page);
  for (int c = 1; c < t->columns; c++) expect_series(&d, t->name[c], "", t, c);
  assert_true(strlen(page) - od_page_css_size - od_page_js_size < 350000);
  assert_non_null(strstr(page, "<section class=\"card\" id=\"machine\">"));
  assert_non_null(strstr(page, "<section class=\"card\" id=\"circuit\">"));
  assert_non_null(json_object_get(d.root, "scene"));
  assert_non_null(json_object_get(d.root, "circuit"));
  assert_string_equal(json_string_value(json_object_get(d.root, "waveform")), "pump.power");
  // The largest pressure is 287 bar; the scale ends at 300 bar.
  near(json_number_value(json_object_get(json_object_get(d.root, "pressure"), "high")), 300e5, 1e-3);
  // Every output that scene or circuit refer to is a series.
  const json_t *outputs = json_object_get(json_object_get(d.root, "circuit"), "outputs");
  assert_true(json_array_size(outputs) > 0);
  for (size_t i = 0; i < json_array_size(outputs); i++)
    page_data_find(&d, json_string_value(json_array_get(outputs, i)), "");
  const json_t *bodies = json_object_get(json_object_get(d.root, "scene"), "bodies");
  for (size_t i = 0; i < json_array_size(bodies); i++) {
    const char *pose = json_string_value(json_object_get(json_array_get(bodies, i), "pose"));
    static const char *const parts[] = {"x", "y", "z", "qw", "qx", "qy", "qz"};
    char name[200];
    for (int k = 0; k < 7 && pose; k++) {
      snprintf(name, sizeof name, "%s.%s", pose, parts[k]);
      page_data_find(&d, name, "");
    }
  }
  page_data_free(&d);
  free(page);
  od_table_free(t);
}

// The page of a servo that cavitates has each cavitation once, as a finding with a time, although the verdict has a remark
// about it; the page of a test bench with a source does not show the power of a force as the curve of its time bar.
static void test_each_fact_once(void **state) {
  scratch *s = *state;
  expect_code(run(s, "simulate " CASES "position-servo/machine.yaml --report c.html --quiet"), 0);
  char *page = page_text(s, "c.html");
  int count = 0, timed = 0;
  for (const char *at = page; (at = strstr(at, "<b>Cavitation")) != NULL; at++) {
    count++;
    timed += strncmp(at, "<b>Cavitation</b> <span class=\"at\">", 35) == 0;
  }
  assert_int_equal(count, 2);  // volumes A and B
  assert_int_equal(timed, 2);
  free(page);
  expect_code(run(s, "simulate " CASES "test-bench/machine.yaml --report d.html --quiet"), 0);
  page = page_text(s, "d.html");
  page_data d = page_data_read(page);
  assert_null(json_object_get(d.root, "waveform"));
  page_data_free(&d);
  free(page);
}

// Hostile names of a file inject nothing into pictures, charts and data.
static void test_hostile_file(void **state) {
  scratch *s = *state;
  static const char file[] =
      "machine: \"</script><script>alert(1)</script>\"\n"
      "oil: {density: 860 kg/m^3, law: constant, modulus: 1000 MPa}\n"
      "volumes: {'<img onerror=x>': {volume: 1 L}, 'b\"&''': {volume: 1 L}}\n"
      "orifices: {'</svg>]]>': {from: '<img onerror=x>', to: 'b\"&''', area: 1 mm^2}}\n"
      "pumps: {'<p>': {to: '<img onerror=x>', flow: 0.1 L/min}}\n"
      "initial: {'<img onerror=x>.pressure': 10 bar, 'b\"&''.pressure': 20 bar}\n"
      "run: {time: 0.1 s, step: 1 ms, outputs: [all]}\n";
  scratch_write(s, "bad.yaml", file, sizeof file - 1);
  outcome o = run(s, "simulate bad.yaml --report r.html --quiet");
  // Names with such characters are either rejected with a message or escaped.
  if (o.code == 0) {
    char *page = page_text(s, "r.html");
    page_data d = page_data_read(page);
    assert_null(strstr(page, "<img"));
    assert_null(strstr(page, "<script>alert"));
    page_data_free(&d);
    free(page);
  } else {
    assert_int_equal(o.code, 2);
  }
  forget(o);
}

// A run of 200000 rows: the page stays small, and has all extremes.
static void test_long_run(void **state) {
  scratch *s = *state;
  static const char file[] =
      "oil: {density: 860 kg/m^3, law: constant, modulus: 1000 MPa}\n"
      "volumes: {A: {volume: 1 L}}\n"
      "inputs: {draw: {unit: m3/s, sine: {amplitude: 0.3 L/min, frequency: 7.3 Hz}}}\n"
      "pumps: {pump: {to: A, flow: draw}}\n"
      "initial: {A.pressure: 100 bar}\n"
      "run: {time: 200 s, step: 1 ms, integrator: rk4, outputs: [A.pressure, pump.flow]}\n";
  scratch_write(s, "long.yaml", file, sizeof file - 1);
  expect_code(run(s, "simulate long.yaml --report r.html --csv r.csv --quiet"), 0);
  char *page = page_text(s, "r.html");
  page_data d = page_data_read(page);
  od_table *t = csv_of(s, "r.csv");
  assert_int_equal(t->rows, 200001);
  for (int c = 1; c < t->columns; c++) expect_series(&d, t->name[c], "", t, c);
  assert_true(strlen(page) - od_page_css_size - od_page_js_size < 1000000);
  od_table_free(t);
  page_data_free(&d);
  free(page);
}

// An observer: the estimated and the true machine. The outputs of both are those of the CSV file; the estimates do not depend on the page.
static void test_observer(void **state) {
  scratch *s = *state;
  expect_code(run(s, "observe " CASES "fourbar-valve/points-3.experiment.yaml --csv a.csv --quiet"), 0);
  expect_code(run(s, "observe " CASES "fourbar-valve/points-3.experiment.yaml --csv b.csv --report b.html --quiet"), 0);
  char *a = scratch_read(scratch_path(s, "a.csv")), *b = scratch_read(scratch_path(s, "b.csv"));
  assert_string_equal(a, b);
  free(a);
  free(b);
  od_table *t = csv_of(s, "b.csv");
  char *page = page_text(s, "b.html");
  page_data d = page_data_read(page);
  const json_t *machines = json_object_get(d.root, "machines");
  assert_int_equal(json_array_size(machines), 2);
  static const char *const outputs[] = {"P.pressure", "A.pressure", "cylinder.length"};
  for (int i = 0; i < 3; i++) {
    char name[100];
    snprintf(name, sizeof name, "estimate.%s", outputs[i]);
    expect_series(&d, outputs[i], "estimate", t, column_of(t, name));
    snprintf(name, sizeof name, "true.%s", outputs[i]);
    expect_series(&d, outputs[i], "truth", t, column_of(t, name));
  }
  page_data_find(&d, "crank.pose.qz", "truth");
  page_data_find(&d, "crank.pose.qz", "estimate");
  page_data_free(&d);
  free(page);
  od_table_free(t);
}

int main(void) {
#define TEST(f) cmocka_unit_test_setup_teardown(f, scratch_setup, scratch_teardown)
  const struct CMUnitTest tests[] = {TEST(test_run), TEST(test_each_fact_once), TEST(test_hostile_file),
                                     TEST(test_long_run), TEST(test_observer)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
