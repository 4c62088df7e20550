// Hammerstein and Wiener models: a static curve before or after a linear block, its points fitted together with the block. Oracles:
// the curve of the simulated data; a dead zone and a saturation as separate blocks; derivatives of whole predictions against
// differences of sixth order.
#include <math.h>
#include <stdlib.h>

#include "support/test.h"
#include "support/fits.h"

#define INPUT "inputs: {u: {unit: V, chirp: {amplitude: 3 V, from: 0.2 Hz, to: 3 Hz, duration: 8 s}}}\n"
#define CURVE(input, values) \
  "curve: {type: spline, input: " input ", at: [-3, -2, -1, -0.5, 0, 0.5, 1, 2, 3], values: " values ", unit: 1}"

// Dead zone of 0.5, slope 0.8, saturation at 1, approximated by nine points.
static const char hammerstein[] =
    "machine: Hammerstein\n" INPUT
    "blocks:\n  volts: {type: gain, input: u, gain: 1 1/V}\n"
    "  " CURVE("volts", "[-1, -1, -0.4, 0, 0, 0, 0.4, 1, 1]") "\n"
    "  plant: {type: second-order, input: curve, gain: 2, frequency: 12 rad/s, damping: 0.5}\n"
    "run: {time: 8 s, step: 10 ms}\n"
    "variants: {line: {blocks: {curve: {values: [-3, -2, -1, -0.5, 0, 0.5, 1, 2, 3]}, plant: {frequency: 8 rad/s}}}}\n";

static const char wiener[] =
    "machine: Wiener\n" INPUT
    "blocks:\n  plant: {type: second-order, input: u, gain: 1 1/V, frequency: 12 rad/s, damping: 0.5}\n"
    "  " CURVE("plant", "[-1, -1, -0.4, 0, 0, 0, 0.4, 1, 1]") "\n"
    "run: {time: 8 s, step: 10 ms}\n"
    "variants: {line: {blocks: {curve: {values: [-3, -2, -1, -0.5, 0, 0.5, 1, 2, 3]}, plant: {frequency: 10 rad/s}}}}\n";

static const char parameters[] =
    "parameters:\n"
    "  curve.values[0]: {}\n  curve.values[1]: {}\n  curve.values[2]: {}\n  curve.values[3]: {}\n  curve.values[4]: {}\n"
    "  curve.values[5]: {}\n  curve.values[6]: {}\n  curve.values[7]: {}\n  curve.values[8]: {}\n"
    "  plant.frequency: {low: 3 rad/s, high: 50 rad/s}\n  plant.damping: {low: 0.05, high: 2}\n";
static const double truth[] = {-1, -1, -0.4, 0, 0, 0, 0.4, 1, 1, 12, 0.5};

static od_fit_plan *plan_of(scratch *s, const char *machine, const char *sensor, const char *more) {
  char text[2500];
  scratch_write(s, "machine.yaml", machine, strlen(machine));
  snprintf(text, sizeof text,
           "experiment: Curve\nmachine: machine.yaml\nmodel: {variant: line}\nsensors: {%s: {sigma: 0.01}}\n%s%s",
           sensor, parameters, more);
  return fit_plan_text(s, text);
}

static void expect_truth(const od_fitted *f, double scale) {
  for (int i = 0; i < 11; i++) {
    double expected = truth[i] * (i < 9 ? scale : 1);
    if (!(fabs(f->estimate[i] - expected) < 4.5 * f->sigma[i] && f->sigma[i] < 0.1))
      fail_msg("%s: %g instead of %g, sigma %g", f->name[i], f->estimate[i], expected, f->sigma[i]);
  }
}

// With the correct gain of 2 the estimated curve is the true one.
static void test_hammerstein(void **state) {
  od_fit_plan *plan = plan_of(*state, hammerstein, "plant", "");
  od_fitted *f = fit_run(plan, NULL);
  expect_truth(f, 1);
  assert_true(f->fit > 98);
  fit_release(f, plan);
}

static void test_wiener(void **state) {
  od_fit_plan *plan = plan_of(*state, wiener, "curve", "");
  od_fitted *f = fit_run(plan, NULL);
  expect_truth(f, 1);
  fit_release(f, plan);
}

// Only the product of curve and gain is identifiable, which the program reports; a constraint on one point determines
// both.
static void test_scale_is_told(void **state) {
  od_fit_plan *plan = plan_of(*state, hammerstein, "plant", "  plant.gain: {}\n");
  od_fitted *f = fit_run(plan, NULL);
  assert_int_equal(f->identifiability->nulls, 1);
  char text[1000];
  od_identifiability_null_text(f->identifiability, 0, f->name, text, sizeof text);
  assert_non_null(strstr(text, "by lambda and plant.gain by 1/lambda leaves the data unchanged"));
  assert_int_equal(f->identifiability->null[0].form, OD_NULL_SCALES);
  assert_true(isinf(f->sigma[0]) && isinf(f->sigma[11]));
  fit_release(f, plan);
  plan = plan_of(*state, hammerstein, "plant", "  plant.gain: {}\nconstraints: [\"curve.values[8] = 1\"]\n");
  f = fit_run(plan, NULL);
  assert_int_equal(f->identifiability->nulls, 0);
  assert_true(f->estimate[8] == 1 && od_fit_is_fixed(f, 8));
  for (int i = 0; i < 12; i++) {
    double expected = i < 11 ? truth[i] : 2;
    if (i != 8 && !(fabs(f->estimate[i] - expected) < 4.5 * f->sigma[i]))
      fail_msg("%s: %g instead of %g, sigma %g", f->name[i], f->estimate[i], expected, f->sigma[i]);
  }
  fit_release(f, plan);
}

// Data of a dead zone and saturation with corners: the curve approximates them between its points within some percent.
static void test_dead_zone_and_saturation(void **state) {
  static const char true_machine[] =
      "machine: Corners\n" INPUT
      "blocks:\n  volts: {type: gain, input: u, gain: 1 1/V}\n"
      "  dead: {type: dead-zone, input: volts, band: [-0.5, 0.5]}\n"
      "  steep: {type: gain, input: dead, gain: 0.8}\n"
      "  corner: {type: saturation, input: steep, limits: [-1, 1]}\n"
      "  " CURVE("volts", "[-3, -2, -1, -0.5, 0, 0.5, 1, 2, 3]") "\n"
      "  plant: {type: second-order, input: %s, gain: 2, frequency: 12 rad/s, damping: 0.5}\n"
      "run: {time: 8 s, step: 10 ms}\n"
      "variants: {corners: {blocks: {plant: {input: corner}}}}\n";
  char machine[1500], text[2500];
  snprintf(machine, sizeof machine, true_machine, "curve");
  scratch_write(*state, "machine.yaml", machine, strlen(machine));
  snprintf(text, sizeof text,
           "experiment: Curve\nmachine: machine.yaml\ntruth: {variant: corners}\nsensors: {plant: {sigma: 0.01}}\n%s",
           parameters);
  od_fit_plan *plan = fit_plan_text(*state, text);
  od_fitted *f = fit_run(plan, NULL);
  const double at[] = {-3, -2, -1, -0.5, 0, 0.5, 1, 2, 3};
  for (int i = 0; i < 9; i++) {
    double beyond = fmax(fabs(at[i]) - 0.5, 0), expected = copysign(fmin(0.8 * beyond, 1), at[i]);
    if (!(fabs(f->estimate[i] - expected) < 0.1)) fail_msg("at %g: %g instead of %g", at[i], f->estimate[i], expected);
  }
  assert_true(f->fit > 96);
  fit_release(f, plan);
}

// Derivatives of a prediction with respect to the curve's points, through the steps, against differences of sixth
// order.
static void test_derivatives(void **state) {
  od_fit_plan *plan = plan_of(*state, hammerstein, "plant", "");
  od_plant *plant;
  assert_int_equal(od_experiment_plant(plan->e, &plant, NULL), OD_OK);
  enum { ROWS = 60 };
  double u[ROWS], y[ROWS], dy[ROWS * 11], p[11];
  for (int k = 0; k < ROWS; k++) u[k] = 3.4 * sin(0.2 * k);
  for (int i = 0; i < 11; i++) p[i] = truth[i] + 0.1 * (i % 3);
  const od_logged_inputs drive = {.count = ROWS, .step = 0.02, .u = u};
  od_predictor *predictor;
  assert_int_equal(od_predictor_new(plant, &drive, &(od_predictor_options){0}, &predictor, NULL), OD_OK);
  assert_int_equal(od_predict(predictor, p, NULL, y, dy), OD_OK);
  const double weight[] = {45, -9, 1};
  for (int i = 0; i < 11; i++) {
    double slope[ROWS] = {0}, h = 1e-3, kept = p[i], largest = 0;
    for (int side = -3; side <= 3; side++) {
      if (side == 0) continue;
      p[i] = kept + side * h;
      assert_int_equal(od_predict(predictor, p, NULL, y, NULL), OD_OK);
      for (int k = 0; k < ROWS; k++) slope[k] += (side > 0 ? 1 : -1) * weight[abs(side) - 1] * y[k] / (60 * h);
    }
    p[i] = kept;
    for (int k = 0; k < ROWS; k++) largest = fmax(largest, fabs(slope[k]));
    for (int k = 0; k < ROWS; k++)
      if (!(fabs(slope[k] - dy[k * 11 + i]) < 1e-8 * largest))
        fail_msg("row %d by %d: %g, not %g", k, i, dy[k * 11 + i], slope[k]);
  }
  od_predictor_free(predictor);
  od_plant_free(plant);
  od_fit_plan_free(plan);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(test_hammerstein, scratch_setup, scratch_teardown),
      cmocka_unit_test_setup_teardown(test_wiener, scratch_setup, scratch_teardown),
      cmocka_unit_test_setup_teardown(test_scale_is_told, scratch_setup, scratch_teardown),
      cmocka_unit_test_setup_teardown(test_dead_zone_and_saturation, scratch_setup, scratch_teardown),
      cmocka_unit_test_setup_teardown(test_derivatives, scratch_setup, scratch_teardown),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
