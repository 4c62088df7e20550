// Delays of outputs as parameters of a prediction. Oracles: the closed form of a cubic polynomial, which the interpolation reproduces up to
// its accuracy; central differences for the derivatives; and, for fits, a log with known delays of a first-order lag, in closed form.
#include <math.h>
#include <string.h>

#include "support/test.h"
#include "predict/predict.h"
#include "support/logged_run.h"

enum { ROWS = 200, OUTPUTS = 2, COLUMNS = 3 };  // parameters: amplitude, delay of output 0, delay of output 1

static double row_time(int k) {
  return 1e-2 * (k + 0.3 * sin(k));
}

// Outputs p0 sin(3 t) and p0 cos(2 t).
static od_status waves(void *user, const double *p, const double *x0, double *y, double *dy) {
  (void)user, (void)x0;
  for (int k = 0; k < ROWS; k++) {
    const double wave[] = {sin(3 * row_time(k)), cos(2 * row_time(k))};
    for (int i = 0; i < OUTPUTS; i++) {
      y[OUTPUTS * k + i] = p[0] * wave[i];
      if (!dy) continue;
      memset(dy + (OUTPUTS * k + i) * COLUMNS, 0, COLUMNS * sizeof *dy);
      dy[(OUTPUTS * k + i) * COLUMNS] = wave[i];
    }
  }
  return OD_OK;
}

static double time[ROWS];

static od_predictor *new_delayed(void) {
  static const od_output_delay delays[] = {{0, 1}, {1, 2}};
  const od_prediction_model model = {.rows = ROWS, .outputs = OUTPUTS, .parameters = COLUMNS, .predict = waves};
  od_predictor *inner = NULL, *p = NULL;
  od_error err = {0};
  for (int k = 0; k < ROWS; k++) time[k] = row_time(k);
  assert_int_equal(od_predictor_of_model(&model, &inner, &err), OD_OK);
  assert_int_equal(od_predictor_delayed(inner, delays, 2, time, ROWS, OUTPUTS, &p, &err), OD_OK);
  return p;
}

static void values(void **state) {
  (void)state;
  static double y[ROWS * OUTPUTS];
  od_predictor *p = new_delayed();
  const double at[] = {2, 0.0437, -0.0258};
  assert_int_equal(od_predict(p, at, NULL, y, NULL), OD_OK);
  for (int k = 0; k < ROWS; k++) {
    double late = time[k] - at[1], early = time[k] - at[2];
    // The error of the interpolation is at most a tenth of the cube of (frequency times step). Before the first row, the value is
    // constant; beyond the last row, the error of the line is half of the second derivative times the square of the time.
    near(y[OUTPUTS * k], late < 0 ? 0 : 2 * sin(3 * late), 2 * 0.1 * pow(3 * 0.016, 3));
    double beyond = fmax(early - time[ROWS - 1], 0) + 0.016;
    near(y[OUTPUTS * k + 1], 2 * cos(2 * early),
         early > time[ROWS - 1] ? 8 * beyond * beyond : 2 * 0.1 * pow(2 * 0.016, 3));
  }
  // Without delays, the values are those of the rows.
  assert_int_equal(od_predict(p, (double[]){2, 0, 0}, NULL, y, NULL), OD_OK);
  for (int k = 0; k < ROWS; k++) near(y[OUTPUTS * k], 2 * sin(3 * time[k]), 1e-15);
  od_predictor_free(p);
}

static void derivatives(void **state) {
  (void)state;
  static double y[ROWS * OUTPUTS], dy[ROWS * OUTPUTS * COLUMNS], low[ROWS * OUTPUTS], high[ROWS * OUTPUTS];
  od_predictor *p = new_delayed();
  const double at[] = {2, 0.0437, -0.0258};
  assert_int_equal(od_predict(p, at, NULL, y, dy), OD_OK);
  for (int c = 0; c < COLUMNS; c++) {
    const double h = 1e-6;
    double a[COLUMNS], b[COLUMNS];
    memcpy(a, at, sizeof a);
    memcpy(b, at, sizeof b);
    a[c] -= h, b[c] += h;
    assert_int_equal(od_predict(p, a, NULL, low, NULL), OD_OK);
    assert_int_equal(od_predict(p, b, NULL, high, NULL), OD_OK);
    for (int i = 0; i < ROWS * OUTPUTS; i++) near(dy[i * COLUMNS + c], (high[i] - low[i]) / (2 * h), 1e-4);
  }
  od_predictor_free(p);
}

// The response of y' = (sin(w t) - y) / lag from rest.
static double response(double t, double w, double lag) {
  double size = 1 / (1 + w * w * lag * lag);
  return t < 0 ? 0 : size * (sin(w * t) - w * lag * cos(w * t) + w * lag * exp(-t / lag));
}

// Writes the response with noise and a factor of the sensor.
static void write_log(scratch *s, double delay, double lag, double factor) {
  FILE *log = fopen(scratch_path(s, "log.csv"), "w");
  uint64_t seed = 5;
  fprintf(log, "t,u,lag\n");
  for (int k = 0; k < 2000; k++) {
    double noise = -6;  // the sum of 12 uniform numbers
    for (int j = 0; j < 12; j++) {
      seed = seed * 6364136223846793005u + 1442695040888963407u;
      noise += (double)(seed >> 11) * 0x1p-53;
    }
    const double t = 1e-3 * k, w = 20;
    fprintf(log, "%.17g,%.17g,%.17g\n", t, sin(w * t), factor * response(t - delay, w, lag) + 1e-3 * noise);
  }
  fclose(log);
}

static void fits(void **state) {
  scratch *s = *state;
  static const double delays[] = {2.3e-3, -1.7e-3}, lag = 30e-3;
  scratch_put(s, "lag.yaml",
              "machine: Lag\nbodies: {bob: {point: {mass: 1 kg, at: [0, -1 m]}}}\n"
              "joints: {A: {type: revolute, between: [ground, bob]}}\ninitial: {A.angle: 0}\n"
              "inputs: {u: {unit: V, constant: 0 V}}\n"
              "blocks: {lag: {type: first-order, input: u, unit: V, gain: 1, time_constant: 20 ms}}\n"
              "run: {time: 0.5 s, step: 1 ms, outputs: [lag]}\n");
  scratch_put(s, "fit.yaml",
              "machine: lag.yaml\nstep: 1 ms\nsensors: {lag: {sigma: 1 mV}}\n"
              "parameters: {lag.time_constant: {low: 1 ms, high: 1 s}, sensors.lag.delay: {low: -10 ms, high: 10 ms}}\n"
              "fit: {substeps: 4}\ndata: {file: log.csv}\n");
  for (int i = 0; i < 2; i++) {
    write_log(s, delays[i], lag, 1);
    outcome o = run(s, "fit fit.yaml --json - --quiet");
    ends_with(o, 0);
    logged_estimate(o.out, "\"lag.time_constant\"", lag, 2e-3);
    double sigma = logged_number(o.out, "\"sensors.lag.delay\"", "\"sigma\": ");
    near(logged_number(o.out, "\"sensors.lag.delay\"", "\"estimate\": "), delays[i], 3 * sigma);
    assert_true(sigma > 0 && sigma < 2e-5);
    forget(o);
  }
  // The diagnosis of a bad fit removes the estimated delay, and proposes no other delay of this sensor.
  write_log(s, delays[0], lag, 1.2);
  outcome bad = run(s, "fit fit.yaml");
  says(bad.out, "doubtful");
  assert_null(strstr(bad.out, "the sensor lag is late"));
  assert_null(strstr(bad.out, "the sensor lag is early"));
  forget(bad);
  ends_and_says(run(s, "observe fit.yaml"), 2, "fit file");
  scratch_put(
      s, "observe.yaml",
      "machine: lag.yaml\nstep: 1 ms\nsensors: {lag: {sigma: 1 mV}}\nparameters: {sensors.lag.delay: {sigma: 1 ms}}\n"
      "data: {file: log.csv}\n");
  ends_and_says(run(s, "observe observe.yaml"), 2, "'sensors.lag.delay' can only be estimated by 'oleodyn fit'");
  scratch_put(s, "fit.yaml",
              "machine: lag.yaml\nstep: 1 ms\nsensors: {lag: {sigma: 1 mV}}\nparameters: {sensors.lag.delay: {}}\n"
              "fit: {shooting: auto}\ndata: {file: log.csv}\n");
  ends_and_says(run(s, "fit fit.yaml"), 2, "'shooting' cannot estimate 'sensors.lag.delay'");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(values),
      cmocka_unit_test(derivatives),
      cmocka_unit_test_setup_teardown(fits, scratch_setup, scratch_teardown),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
