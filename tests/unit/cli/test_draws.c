// Numbers drawn at random in simulate: a volume that a pump fills, whose pressure at the end is linear in the pump's flow. The
// oracle is its distribution in closed form; quantiles agree within their sampling errors (5 standard errors).
#include "support/test.h"

#include <jansson.h>
#include <math.h>

#include "support/program.h"
#include "support/xml.h"

static const char machine[] =
    "oil: {density: 860 kg/m^3, law: constant, modulus: 1000 MPa}\n"
    "volumes: {A: {volume: 1 L}}\n"
    "pumps: {pump: {to: A, flow: 0.3 L/min}}\n"
    "initial: {A.pressure: 10 bar}\n"
    "run: {time: 1 s, step: 100 ms, outputs: [A.pressure]}\n";

static const double rise = 1e9 / 1e-3;  // Pa per m3/s of flow after a second

static json_t *draw(scratch *s, const char *arguments) {
  scratch_write(s, "machine.yaml", machine, sizeof machine - 1);
  expect_code(run(s, "simulate machine.yaml --quiet --json out.json %s", arguments), 0);
  json_error_t error;
  json_t *object = json_load_file(scratch_path(s, "out.json"), 0, &error);
  assert_non_null(object);
  return object;
}

static json_t *spread_of(json_t *object, const char *name) {
  json_t *item;
  size_t i;
  json_array_foreach(json_object_get(object, "over_draws"), i, item) {
    if (!strcmp(json_string_value(json_object_get(item, "name")), name)) return item;
  }
  fail_msg("there is no %s", name);
  return NULL;
}

static double get(json_t *object, const char *key) {
  return json_number_value(json_object_get(object, key));
}

static double quantile(json_t *spread, size_t i) {
  return get(json_array_get(json_object_get(spread, "quantiles"), i), "value");
}

// The standard error of a quantile is sqrt(p (1 - p) / n) / density.
static void test_normal(void **state) {
  const double n = 2000, sigma = 0.01 / 60000 * rise, mean = 1e6 + 0.3 / 60000 * rise;
  const double z[] = {-2.326348, -1.644854, 0, 1.644854, 2.326348}, p[] = {0.01, 0.05, 0.5, 0.95, 0.99};
  json_t *found = draw(*state, "--draw pump.flow='normal:0.3 L/min:0.01 L/min' --draws 2000 --seed 7");
  json_t *s = spread_of(found, "A.pressure.final");
  assert_true(get(s, "count") == n);
  near(get(s, "mean"), mean, 5 * sigma / sqrt(n));
  near(get(s, "deviation"), sigma, 5 * sigma / sqrt(2 * n));
  for (size_t i = 0; i < 5; i++) {
    double density = exp(-z[i] * z[i] / 2) / sqrt(2 * 3.14159265358979) / sigma;
    near(quantile(s, i), mean + z[i] * sigma, 5 * sqrt(p[i] * (1 - p[i]) / n) / density);
  }
  json_decref(found);
}

static void test_uniform(void **state) {
  const double n = 1000, low = 1e6 + 0.2 / 60000 * rise, high = 1e6 + 0.4 / 60000 * rise;
  json_t *found = draw(*state, "--draw pump.flow='uniform:0.2:0.4 L/min' --draws 1000");
  json_t *s = spread_of(found, "A.pressure.final"), *rows = json_object_get(found, "rows"), *row;
  near(quantile(s, 2), (low + high) / 2, 5 * 0.5 * (high - low) / sqrt(n));
  near(get(s, "deviation"), (high - low) / sqrt(12), 0.1 * (high - low) / sqrt(12));
  size_t i;
  json_array_foreach(rows, i, row) {
    // Each draw is a separate run: columns are the flow, then min, max, rms and final.
    double flow = json_number_value(json_array_get(row, 0)), final = json_number_value(json_array_get(row, 4));
    assert_true(flow >= 0.2 / 60000 * (1 - 1e-12) && flow <= 0.4 / 60000 * (1 + 1e-12));
    near(final, 1e6 + flow * rise, 1e-9 * final);
  }
  json_decref(found);
}

static json_t *rows_of(scratch *s, const char *arguments) {
  json_t *object = draw(s, arguments), *rows = json_incref(json_object_get(object, "rows"));
  json_decref(object);
  return rows;
}

// The same seed draws the same numbers, on any number of threads and with any other drawn numbers; another seed draws
// others.
static void test_seeds(void **state) {
  json_t *one = rows_of(*state, "--draw pump.flow=normal:5e-6:1e-7 --draws 20 --threads 1");
  json_t *two = rows_of(*state, "--draw pump.flow=normal:5e-6:1e-7 --draws 20 --threads 2");
  json_t *more = rows_of(*state, "--draw A.volume=uniform:1e-3:1e-3 --draw pump.flow=normal:5e-6:1e-7 --draws 20");
  json_t *other = rows_of(*state, "--draw pump.flow=normal:5e-6:1e-7 --draws 20 --seed 2");
  assert_true(json_equal(one, two));
  assert_false(json_equal(one, other));
  for (size_t i = 0; i < 20; i++)
    assert_true(json_equal(json_array_get(json_array_get(one, i), 0), json_array_get(json_array_get(more, i), 1)));
  json_decref(one);
  json_decref(two);
  json_decref(more);
  json_decref(other);
}

// The picture of a study that draws numbers: well formed, with a chart for each value; a study of one run without draws has nothing to draw.
static void test_study_plot(void **state) {
  static const char study[] =
      "seeds: 20\nvalues: {end: {output: A.pressure, take: final, unit: bar}}\n"
      "cases:\n"
      "  tolerances: {machine: machine.yaml, do: simulate, draw: {pump.flow: {within: 10 %}}}\n"
      "  once: {machine: machine.yaml, do: simulate}\n";
  scratch_write(*state, "machine.yaml", machine, sizeof machine - 1);
  scratch_write(*state, "study.yaml", study, sizeof study - 1);
  expect_code(run(*state, "study study.yaml --quiet --plot p.svg"), 0);
  char *svg = scratch_read(scratch_path(*state, "p.svg"));
  assert_non_null(strstr(svg, "tolerances: end"));
  assert_non_null(strstr(svg, "fraction of the runs"));
  assert_null(strstr(svg, "once: end"));
  char what[200] = "";
  if (!xml_well_formed(svg, what, sizeof what)) fail_msg("%s", what);
  free(svg);
  ends_and_says(run(*state, "study study.yaml --quiet --case once --plot q.svg"), 1, "nothing to plot");
}

static void test_mistakes(void **state) {
  static const struct {
    const char *arguments, *says;
  } wrong[] = {
      {"--draw pump.flow=norml:1:2", "--draw: found 'pump.flow=norml:1:2', expected PATH=normal:MEAN:DEVIATION"},
      {"--draw pump.flow=normal:1:-2", "'pump.flow=normal:1:-2' has a negative standard deviation"},
      {"--draw 'pump.flow=uniform:2 bar:1 bar'", "ends below its beginning; expected uniform:1 bar:2 bar"},
      {"--draw 'pump.flow=uniform:2 bar:3 MPa'",
       "has a number in bar and a number in MPa; give both numbers in one unit"},
      {"--draw A.volume=uniform:-2:-1 --draws 3", "draw 1 of 3 caused the messages above: A.volume=-1."},
      {"--draw pump.flw=normal:1:2", "there is no number 'pump.flw'; did you mean 'pump.flow'?"},
      {"--draw pump.flow=normal:1:2 --draws 100000", "--draws: found 100000, expected at most 10000"},
      {"--draw pump.flow=normal:1:2 --sweep A.volume=1:2:3",
       "--draw and --sweep exclude each other; give only one of these options"},
      {"--draws 3", "--draws and --seed require --draw"},
      {"--draw pump.flow=normal:1:2 --threads 1025", "--threads: found '1025', expected a whole number from 1 to 1024"},
      {"--draw pump.flow=normal:1:2 --save-state x.yaml",
       "--save-state is not possible with --sweep or --draw; remove one of these options"},
  };
  scratch_write(*state, "machine.yaml", machine, sizeof machine - 1);
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
    ends_and_says(run(*state, "simulate machine.yaml %s", wrong[i].arguments), 2, wrong[i].says);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(test_normal, scratch_setup, scratch_teardown),
      cmocka_unit_test_setup_teardown(test_uniform, scratch_setup, scratch_teardown),
      cmocka_unit_test_setup_teardown(test_seeds, scratch_setup, scratch_teardown),
      cmocka_unit_test_setup_teardown(test_study_plot, scratch_setup, scratch_teardown),
      cmocka_unit_test_setup_teardown(test_mistakes, scratch_setup, scratch_teardown),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
