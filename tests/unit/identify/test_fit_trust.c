// Reported uncertainty of a fit: standard deviations with colored residuals, the shift by the steps of its predictions,
// and its verdict. Oracles: the truth over many seeds, fits with much shorter steps on the same data, known damage of
// the data.
#include <math.h>
#include <stdlib.h>

#include "support/test.h"
#include "random/random.h"
#include "support/fits.h"

// --- Colored residuals --------------------------------------------------------------------------------------------

// A lag y' = (K u - y)/T with K = 2, T = 0.5 s and a sweep as input; rows every 10 ms, or as given by a test.
enum { ROWS = 2001, SEEDS = 200, FIRST_SEED = 900001 };  // held-out seeds
static const double gain = 2, time_constant = 0.5;
static double step = 0.01;  // of the log

static double sweep(int k) {
  double t = 0.01 * k;
  return sin(6.283185307179586 * (0.05 + 0.04 * t) * t);
}

// By hand, inputs linear between samples.
static void answer(double *y) {
  double a = exp(-step / time_constant), c = -expm1(-step / time_constant) * time_constant / step;
  y[0] = 0;
  for (int k = 0; k + 1 < ROWS; k++) y[k + 1] = a * y[k] + gain * ((c - a) * sweep(k) + (1 - c) * sweep(k + 1));
}

static od_fit_plan *logged_lag(scratch *s, const char *more) {
  static const char machine[] =
      "machine: Lag\ninputs: {u: {unit: V, sine: {amplitude: 1 V, frequency: 0.2 Hz}}}\n"
      "blocks: {lag: {type: first-order, input: u, gain: 1, time_constant: 1 s}}\nrun: {time: 20 s, step: 10 ms}\n";
  scratch_write(s, "lag.yaml", machine, strlen(machine));
  double *y = malloc(ROWS * sizeof *y);
  answer(y);
  FILE *to = fopen(scratch_path(s, "log.csv"), "w");
  fprintf(to, "time,u,lag\n");
  for (int k = 0; k < ROWS; k++) fprintf(to, "%.17g,%.17g,%.17g\n", k * step, sweep(k), y[k]);
  fclose(to);
  free(y);
  char text[1000];
  snprintf(text, sizeof text,
           "machine: lag.yaml\nsensors: {lag: {sigma: 50 mV}}\ndata: {file: log.csv}\n"
           "parameters: {lag.gain: {low: 0.1, high: 10}, lag.time_constant: {low: 50 ms, high: 5 s}}\n%s",
           more);
  return fit_plan_text(s, text);
}

// Noise of first order: e_k = c e_(k-1) + sqrt(1 - c^2) n_k, with c the argument `colour`.
static void add_noise(od_fit_plan *plan, const double *clean, uint64_t seed, double sigma, double colour, int missing) {
  od_log *log = plan->set[0].log;
  int channel = plan->set[0].channel[0], channels = log->plan->channels;
  double e = od_random_gaussian(seed, 11, 0, OD_USE_NOISE);
  for (int k = 0; k < ROWS; k++) {
    e = colour * e + sqrt(1 - colour * colour) * od_random_gaussian(seed, 12, (uint64_t)k, OD_USE_NOISE);
    bool gone = missing > 0 && (k / 7) % missing == 3;
    log->value[k * channels + channel] = gone ? (double)NAN : clean[k] + sigma * e;
  }
}

typedef struct coverage {
  double quoted, white, ratio, widened;  // ratio: of the colored sigma to the white one, mean
} coverage;

static coverage cover(scratch *s, const char *more, double colour, int missing) {
  od_fit_plan *plan = logged_lag(s, more);
  double *clean = malloc(ROWS * sizeof *clean);
  const double truth[] = {gain, time_constant};
  coverage c = {0};
  answer(clean);
  for (uint64_t seed = FIRST_SEED; seed < FIRST_SEED + SEEDS; seed++) {
    add_noise(plan, clean, seed, 0.05, colour, missing);
    od_fitted *f = fit_run(plan, NULL);
    for (int i = 0; i < 2; i++) {
      double off = fabs(f->estimate[i] - truth[i]);
      c.quoted += off < 1.959964 * f->sigma[i];
      c.white += off < 1.959964 * f->sigma_white[i];
      c.ratio += f->sigma_colored[i] / f->sigma_white[i];
      assert_true(f->sigma[i] >= f->sigma_white[i] && f->sigma_colored[i] >= f->sigma_white[i]);
    }
    c.widened += 2 * f->widened;
    od_fitted_free(f);
  }
  free(clean);
  od_fit_plan_free(plan);
  c.quoted /= 2 * SEEDS, c.white /= 2 * SEEDS, c.ratio /= 2 * SEEDS, c.widened /= 2 * SEEDS;
  print_message(
      "colour %.2f %s: %.1f %% inside the quoted intervals, %.1f %% inside those of white residuals; "
      "%.2f times wider, in %.1f %% of the fits\n",
      colour, more, 100 * c.quoted, 100 * c.white, c.ratio, 100 * c.widened);
  return c;
}

// The coverage of the intervals is about the nominal one; that of intervals for white residuals is far too small.
static void test_colored_noise(void **state) {
  coverage c = cover(*state, "", 0.9, 0);
  assert_true(c.white < 0.5 && c.quoted > 0.90 && c.quoted < 0.98 && c.widened == 1);
  c = cover(*state, "", 0.9, 5);
  assert_true(c.white < 0.5 && c.quoted > 0.90 && c.quoted < 0.98);
  c = cover(*state, "fit: {loss: huber, loss_scale: 1.5}\n", 0.9, 0);
  assert_true(c.white < 0.5 && c.quoted > 0.90 && c.quoted < 0.98);
  c = cover(*state, "fit: {start: unknown}\n", 0.9, 0);
  assert_true(c.white < 0.5 && c.quoted > 0.90 && c.quoted < 0.98);
}

// With white noise no interval is widened, and the colored sigma is about the same.
static void test_white_noise(void **state) {
  coverage c = cover(*state, "", 0, 0);
  assert_true(c.widened < 0.03 && c.ratio > 1 && c.ratio < 1.12);
  assert_true(c.quoted > 0.92 && c.quoted < 0.98);
}

// --- Steps --------------------------------------------------------------------------------------------------------

static od_fitted *fit_noisy(scratch *s, double sigma, const char *more, od_fit_plan **plan) {
  double *clean = malloc(ROWS * sizeof *clean);
  *plan = logged_lag(s, more);
  answer(clean);
  add_noise(*plan, clean, 1, sigma, 0, 0);
  free(clean);
  return fit_run(*plan, NULL);
}

// A lag of 0.5 s in steps of 0.1 s. Oracle: the same data in much shorter steps.
static void test_shift_by_steps(void **state) {
  static const struct {
    const char *rule;
    double tolerance;  // of the shift: there are errors of higher order
  } rules[] = {{"trapezoid", 0.1}, {"rk4", 0.3}};
  step = 0.1;
  for (int i = 0; i < 2; i++) {
    char text[300];
    od_fit_plan *coarse_plan, *fine_plan;
    snprintf(text, sizeof text, "fit: {integrator: %s}\n", rules[i].rule);
    od_fitted *coarse = fit_noisy(*state, 0.01, text, &coarse_plan);
    snprintf(text, sizeof text, "fit: {integrator: %s, substeps: 20}\n", rules[i].rule);
    od_fitted *fine = fit_noisy(*state, 0.01, text, &fine_plan);
    for (int k = 0; k < 2; k++) {
      double shift = coarse->estimate[k] - fine->estimate[k];
      print_message("%s: %s is shifted by %.4g, which is said to be %.4g (sigma %.3g)\n", rules[i].rule,
                    coarse->name[k], shift, coarse->shift[k], coarse->sigma[k]);
      assert_true(fabs(coarse->shift[k] - shift) < rules[i].tolerance * fabs(shift) + 0.02 * coarse->sigma[k]);
      assert_true(fabs(fine->shift[k]) < 0.01 * fine->sigma[k]);
    }
    assert_true(od_verdict_has(&coarse->verdict, "step.shift") == (i == 0));
    assert_false(od_verdict_has(&fine->verdict, "step.shift"));
    // The proposed step is sufficient.
    if (i == 0) {
      od_fit_plan *plan;
      snprintf(text, sizeof text, "fit: {integrator: trapezoid, substeps: %d}\n", coarse->better_substeps);
      od_fitted *better = fit_noisy(*state, 0.01, text, &plan);
      assert_true(coarse->better_substeps > 1 && coarse->better_substeps < 40);
      assert_false(od_verdict_has(&better->verdict, "step.shift"));
      fit_release(better, plan);
    }
    fit_release(coarse, coarse_plan);
    fit_release(fine, fine_plan);
  }
  step = 0.01;
  // Exact discretization has no steps, and data simulated with the same steps have the same errors.
  od_fit_plan *plan;
  od_fitted *f = fit_noisy(*state, 0.05, "", &plan);
  assert_true(isnan(f->shift[0]) && f->better_substeps == 0);
  fit_release(f, plan);
  plan = fit_plan_text(*state,
                       "machine: lag.yaml\nmodel: {set: {lag.gain: 3}}\nsensors: {lag: {sigma: 50 mV}}\n"
                       "parameters: {lag.gain: {}}\nfit: {integrator: trapezoid}\n");
  f = fit_run(plan, NULL);
  assert_true(isnan(f->shift[0]) && f->better_substeps == 0);
  fit_release(f, plan);
}

// A valve-controlled cylinder with a stiff oil spring, in steps of 1 ms. Its log is simulated in steps of 1/8 ms. The
// leakage of about 1e-12 m^3/(s Pa) has a lower bound of 0 and no other.
static const char servo[] =
    "machine: Servo\nbodies: {load: {point: {mass: 500 kg}, points: {eye: [0, 0]}}}\n"
    "ground: {points: {base: [-1.0 m, 0]}}\njoints: {rail: {type: prismatic, between: [ground, load], axis: [1, 0, 0]}}\n"
    "oil: {density: 870 kg/m^3, law: constant, modulus: 1.2 GPa}\nvolumes: {A: {volume: 0.15 L}, B: {volume: 0.15 L}}\n"
    "tanks: {T: {pressure: 1 bar}}\nsources: {P: {pressure: 160 bar}}\n"
    "inputs: {u: {unit: V, chirp: {amplitude: 4 V, from: 1 Hz, to: 12 Hz, duration: 1 s}}}\n"
    "valves:\n  valve:\n    command: u\n    time_constant: 8 ms\n    stroke: 10 V\n    area: 20 mm^2\n    discharge: 0.6\n"
    "    ports:\n      pa: {between: [P, A], side: positive, curve: linear}\n"
    "      bt: {between: [B, T], side: positive, curve: linear}\n"
    "      pb: {between: [P, B], side: negative, curve: linear}\n"
    "      at: {between: [A, T], side: negative, curve: linear}\n"
    "cylinders:\n  ram: {between: [ground.base, load.eye], chambers: [A, B], bore: 63 mm, rod: 36 mm, closed: 0.85 m, "
    "stroke: 0.3 m, leakage: 1e-12 m^3/(s Pa)}\n"
    "initial: {rail.position: 0 mm, A.pressure: 60 bar, B.pressure: 80 bar}\nrun: {time: 1 s, step: 1 ms}\n"
    "variants: {true: {oil: {modulus: 950 MPa}, cylinders: {ram: {leakage: 4e-12 m^3/(s Pa)}}}}\n";
static const char servo_fit[] =
    "machine: servo.yaml\nstep: 1 ms\nsensors: {rail.position: {sigma: 0.02 mm}, A.pressure: {sigma: 0.3 bar}, B.pressure: "
    "{sigma: 0.3 bar}}\nparameters: {ram.leakage: {low: 0}, oil.modulus: {}}\n";

static void write_servo_log(scratch *s) {
  char text[1000];
  snprintf(text, sizeof text, "%struth: {variant: true}\nfit: {substeps: 8}\n", servo_fit);
  scratch_write(s, "servo.yaml", servo, strlen(servo));
  od_fit_plan *plan = fit_plan_text(s, text);
  const od_fit_options options = {.only_predict = true};
  od_fitted *f = fit_run(plan, &options);
  const od_fit_data *d = f->data[0];
  FILE *to = fopen(scratch_path(s, "servo.csv"), "w");
  fprintf(to, "time,u,rail.position,A.pressure,B.pressure\n");
  for (long k = 0; k < d->rows; k++)
    fprintf(to, "%.17g,%.17g,%.17g,%.17g,%.17g\n", d->time[k], d->u[k], d->y[3 * k], d->y[3 * k + 1], d->y[3 * k + 2]);
  fclose(to);
  fit_release(f, plan);
}

static od_fitted *fit_servo(scratch *s, int substeps, od_fit_plan **plan) {
  char text[1000];
  snprintf(text, sizeof text, "%sdata: {file: servo.csv}\nfit: {substeps: %d}\n", servo_fit, substeps);
  *plan = fit_plan_text(s, text);
  return fit_run(*plan, NULL);
}

// Oracle: a fit in steps of 1/8 ms on the same log.
static void test_servo(void **state) {
  od_fit_plan *coarse_plan, *fine_plan;
  write_servo_log(*state);
  od_fitted *coarse = fit_servo(*state, 1, &coarse_plan), *fine = fit_servo(*state, 8, &fine_plan);
  for (int k = 0; k < 2; k++) {
    double shift = coarse->estimate[k] - fine->estimate[k];
    print_message("%s: %.6g and, in short steps, %.6g +- %.2g; shifted by %.3g, which is said to be %.3g\n",
                  coarse->name[k], coarse->estimate[k], fine->estimate[k], fine->sigma[k], shift, coarse->shift[k]);
    assert_true(fabs(coarse->shift[k] - shift) < 0.15 * fabs(shift) + 0.1 * coarse->sigma[k]);
    assert_true(fabs(fine->shift[k]) < 0.1 * fine->sigma[k]);
    assert_int_equal(coarse->search->at_bound[k], 0);
  }
  near_relative(fine->estimate[0], 4e-12, 0.02);
  near_relative(fine->estimate[1], 950e6, 0.005);
  assert_true(od_verdict_has(&coarse->verdict, "step.shift"));
  assert_false(od_verdict_has(&fine->verdict, "step.shift"));
  fit_release(coarse, coarse_plan);
  fit_release(fine, fine_plan);
}

// --- Verdicts -----------------------------------------------------------------------------------------------------

static void expect_remark(const od_fitted *f, od_trust trust, const char *code) {
  for (int i = 0; i < f->verdict.count; i++)
    if (strcmp(f->verdict.remark[i].code, code) == 0) {
      assert_int_equal(f->verdict.remark[i].trust, trust);
      return;
    }
  for (int i = 0; i < f->verdict.count; i++)
    print_message("  %s: %s\n", f->verdict.remark[i].code, f->verdict.remark[i].text);
  fail_msg("there is no remark '%s'", code);
}

// A good fit has no remarks.
static void test_sound(void **state) {
  od_fit_plan *plan;
  od_fitted *f = fit_noisy(*state, 0.05, "fit: {hold_out: 20 %}\n", &plan);
  assert_int_equal(f->verdict.trust, OD_SOUND);
  expect_remark(f, OD_SOUND, "fit");
  expect_remark(f, OD_SOUND, "identifiable.all");
  fit_release(f, plan);
}

// The verdict contains the reason of the search's end, with the best result so far.
static void test_no_minimum(void **state) {
  od_fit_plan *plan = logged_lag(*state, "fit: {evaluations: 2}\n");
  od_fitted *f = NULL;
  assert_int_equal(od_fit(plan, NULL, &f, NULL), OD_NOT_CONVERGED);
  assert_int_equal(f->verdict.trust, OD_UNSOUND);
  expect_remark(f, OD_UNSOUND, "search.evaluations");
  fit_release(f, plan);
}

static od_fitted *fit_with_sample(scratch *s, long row, double value, const char *more, od_fit_plan **plan,
                                  od_status *status, od_error *err) {
  double *clean = malloc(ROWS * sizeof *clean);
  *plan = logged_lag(s, more);
  answer(clean);
  add_noise(*plan, clean, 1, 0.05, 0, 0);
  free(clean);
  od_log *log = (*plan)->set[0].log;
  log->value[row * log->plan->channels + (*plan)->set[0].channel[0]] = value;
  od_fitted *f = NULL;
  *status = od_fit(*plan, NULL, &f, err);
  return f;
}

// One invalid sample: reported with its time; never a standard deviation of zero.
static void test_wild_samples(void **state) {
  static const double values[] = {1e4, 1e15, 1e30, -1e100};
  od_fit_plan *plan;
  od_status status;
  od_error err = {0};
  for (int i = 0; i < 4; i++) {
    od_fitted *f = fit_with_sample(*state, 700, values[i], "", &plan, &status, &err);
    assert_non_null(f);
    assert_int_equal(f->verdict.trust, OD_UNSOUND);
    expect_remark(f, OD_UNSOUND, "residual.outlier");
    assert_true(f->set[0].fitted_quality[0].worst_time == 7);
    for (int k = 0; k < 2; k++) assert_true(f->sigma[k] > 0 || f->search->at_bound[k]);
    fit_release(f, plan);
  }
  // Beyond what can be squared.
  od_fitted *f = fit_with_sample(*state, 700, 1e200, "", &plan, &status, &err);
  assert_null(f);
  assert_int_equal(status, OD_BAD_INPUT);
  assert_non_null(strstr(err.text, "'lag' in the set 'data' is 1e+200 in SI units at 7 s"));
  fit_release(f, plan);
  // If the sample is only predicted, or a robust loss ignores it, the verdict is doubtful.
  f = fit_with_sample(*state, 1900, 1e200, "fit: {hold_out: 20 %}\n", &plan, &status, &err);
  assert_int_equal(status, OD_OK);
  assert_int_equal(f->verdict.trust, OD_DOUBTFUL);
  expect_remark(f, OD_DOUBTFUL, "residual.outlier");
  assert_true(isfinite(f->set[0].unseen_quality[0].rms) && f->set[0].unseen_quality[0].rms > 1e198);
  fit_release(f, plan);
  f = fit_with_sample(*state, 700, 1e4, "fit: {loss: cauchy}\n", &plan, &status, &err);
  assert_int_equal(f->verdict.trust, OD_DOUBTFUL);
  near_relative(f->estimate[0], gain, 0.02);
  fit_release(f, plan);
}

static void expect_text(const od_fitted *f, const char *code, const char *text) {
  bool any = false;
  for (int i = 0; i < f->verdict.count; i++)
    any = any || (strcmp(f->verdict.remark[i].code, code) == 0 && strstr(f->verdict.remark[i].text, text));
  for (int i = 0; !any && i < f->verdict.count; i++)
    print_message("  %s: %s\n", f->verdict.remark[i].code, f->verdict.remark[i].text);
  if (!any) fail_msg("no remark '%s' contains: %s", code, text);
}

// Codes for missing values in a column with scale and offset. The advice names the code as the file has it. Oracle: the code that the
// test converts by hand, 1e-3 * 65535 - 3 = 62.535 V.
static void test_codes(void **state) {
  static const char scaled[] =
      "sets: {data: {data: {file: log.csv, channels: {lag: {column: lag, unit: %s, scale: %s, offset: -3}}}}}\n%s";
  static const struct {
    const char *unit, *scale, *more, *expected;
    int other;  // row with another outlier; 0: none
  } cases[] = {
      {"V", "1e-3", "", "All 5 outliers have the value 65535 in the file", 0},
      {"V", "1e-3", "", "'missing: [65535]' under 'data'", 0},
      {"mV", "1", "", "'missing: [62538]' under 'data'", 0},  // (62535 + 3) mV
      {"V", "1e-3", "", "'missing: [VALUE]' under 'data'", 901},
      {"V", "1e-3", "prepare: {detrend: mean}\n", "'missing: [VALUE]' under 'data'", 0},
  };
  double *clean = malloc(ROWS * sizeof *clean);
  answer(clean);
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    char more[400];
    snprintf(more, sizeof more, scaled, cases[i].unit, cases[i].scale, cases[i].more);
    od_fit_plan *plan = logged_lag(*state, more);
    add_noise(plan, clean, 1, 0.05, 0, 0);
    od_log *log = plan->set[0].log;
    for (int k = 0; k < 5; k++)
      log->value[(100 + 37 * k) * log->plan->channels + plan->set[0].channel[0]] = 1e-3 * 65535 - 3;
    if (cases[i].other) log->value[cases[i].other * log->plan->channels + plan->set[0].channel[0]] = 70;
    od_fitted *f = NULL;
    assert_int_equal(od_fit(plan, NULL, &f, NULL), OD_OK);
    expect_text(f, "residual.outlier", cases[i].expected);
    fit_release(f, plan);
  }
  free(clean);
}

// A wrong model, wrong sigmas, bounds, validation: each has its remark.
static void test_doubts(void **state) {
  static const struct {
    const char *more, *code;
    od_trust trust;
  } cases[] = {
      {"fit: {noise: known}\nsets: {data: {data: {file: log.csv, channels: {lag: {column: lag, scale: 0.1}}}}}\n",
       "noise.smaller", OD_DOUBTFUL},
      {"sets: {data: {data: {file: log.csv, channels: {lag: {column: lag, scale: 10}}}}}\n", "noise.larger",
       OD_DOUBTFUL},
      {"sets: {data: {data: {file: log.csv, channels: {lag: {column: lag, offset: -30}}}}}\n", "fit.poor", OD_UNSOUND},
      {"sets: {data: {data: {file: log.csv, channels: {lag: {column: lag, scale: 10}}}}}\n", "parameter.bound",
       OD_DOUBTFUL},
      {"sets: {a: {data: {file: log.csv}}, b: {use: validate, data: {file: log.csv, channels: {lag: {column: lag, scale: "
       "-1}}}}}\n",
       "validation.worse", OD_DOUBTFUL},
      {"sets: {a: {data: {file: log.csv}}, b: {use: validate, data: {file: log.csv, channels: {lag: {column: lag, scale: "
       "-1}}}}}\n",
       "fit.sensor", OD_DOUBTFUL},
  };
  scratch *s = *state;
  od_fit_plan *plan = logged_lag(s, "");
  od_fit_plan_free(plan);
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    od_fit_plan *its = NULL;
    char text[1000];
    snprintf(text, sizeof text,
             "machine: lag.yaml\nsensors: {lag: {sigma: 50 mV}}\n"
             "parameters: {lag.gain: {low: 0.1, high: 10}, lag.time_constant: {low: 50 ms, high: 5 s}}\n%s",
             cases[i].more);
    its = fit_plan_text(s, text);
    od_fitted *f = fit_run(its, NULL);
    expect_remark(f, cases[i].trust, cases[i].code);
    assert_true(f->verdict.trust >= cases[i].trust);
    fit_release(f, its);
  }
}

// An input that jumps every second, and the lag's response in closed form. With linear interpolation of the input there
// is a remark, doubtful if residuals show it; with held inputs there is none.
static void test_input_that_jumps(void **state) {
  static const char *const holds[] = {"", "fit: {hold: previous}\n"};
  for (int held = 0; held < 2; held++) {
    od_fit_plan_free(logged_lag(*state, ""));  // the machine
    FILE *to = fopen(scratch_path(*state, "jumps.csv"), "w");
    double y = 0, decay = exp(-0.1 / time_constant);
    fprintf(to, "time,u,lag\n");
    for (int k = 0; k < 200; k++) {
      double u = k / 10 % 2;
      fprintf(to, "%.17g,%g,%.17g\n", 0.1 * k, u, y + 0.01 * od_random_gaussian(5, 1, (uint64_t)k, OD_USE_NOISE));
      y = gain * u + decay * (y - gain * u);
    }
    fclose(to);
    char text[500];
    snprintf(text, sizeof text,
             "machine: lag.yaml\nsensors: {lag: {sigma: 10 mV}}\ndata: {file: jumps.csv}\n"
             "parameters: {lag.gain: {low: 0.1, high: 10}, lag.time_constant: {low: 50 ms, high: 5 s}}\n%s",
             holds[held]);
    od_fit_plan *plan = fit_plan_text(*state, text);
    od_fitted *f = fit_run(plan, NULL);
    if (held) assert_false(od_verdict_has(&f->verdict, "input.hold"));
    if (!held) expect_remark(f, OD_DOUBTFUL, "input.hold");
    fit_release(f, plan);
  }
}

// --- Small numbers, true values -----------------------------------------------------------------------------------

// A gain of 2e-12 with a lower bound of 0, from 1e-13 and from 0: the same result as a gain of 2 in other units.
static void test_small_numbers(void **state) {
  static const char *const starts[] = {"{start: 1e-13, low: 0}", "{start: 0, low: 0}",
                                       "{start: 1e-13, low: 0, high: 1}"};
  od_fit_plan *plan = logged_lag(*state, "");
  od_fit_plan_free(plan);
  for (int i = 0; i < 3; i++) {
    char text[600];
    snprintf(text, sizeof text,
             "machine: lag.yaml\nsensors: {lag: {sigma: 5e-14 V}}\n"
             "data: {file: log.csv, channels: {lag: {column: lag, scale: 1e-12}}}\n"
             "parameters: {lag.gain: %s, lag.time_constant: {}}\n",
             starts[i]);
    plan = fit_plan_text(*state, text);
    od_fitted *f = fit_run(plan, NULL);
    near_relative(f->estimate[0], 2e-12, 1e-6);
    near_relative(f->estimate[1], 0.5, 1e-6);
    assert_int_equal(f->search->at_bound[0], 0);
    assert_true(f->fit > 99.99);
    fit_release(f, plan);
  }
}

// True values are shown only for simulated data.
static void test_true_values(void **state) {
  static const struct {
    const char *sets;
    bool gain, bias;
  } cases[] = {{"", true, true},
               {"sets: {a: {}, b: {time: 2 s}}\n", true, true},
               {"sets: {a: {data: {file: log.csv}}}\n", false, false},
               {"sets: {a: {data: {file: log.csv}}, b: {}}\n", false, false},
               {"sets: {a: {}, b: {use: validate, data: {file: log.csv}}}\n", true, true},
               {"sets: {a: {}, b: {simulate: {set: {lag.gain: 3}}}}\n", false, true},
               {"data: {file: log.csv}\n", false, false}};
  od_fit_plan *plan = logged_lag(*state, "");
  od_fit_plan_free(plan);
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    char text[600];
    snprintf(text, sizeof text,
             "machine: lag.yaml\nsensors: {lag: {sigma: 50 mV}}\n"
             "parameters: {lag.gain: {}, sensors.lag.bias: {}}\n%s",
             cases[i].sets);
    plan = fit_plan_text(*state, text);
    assert_int_equal(!isnan(plan->e->parameter[0].truth), cases[i].gain);
    assert_int_equal(!isnan(plan->e->parameter[1].truth), cases[i].bias);
    od_fit_plan_free(plan);
  }
}

// Derivatives do not pass through the memory of a sampled delay, integrals over time and switches; a fit through them reports this. A delay of an
// input is not reported: its memory does not depend on parameters. Oracle: the known element in each machine.
static void test_derivatives_that_end(void **state) {
  static const char machine[] =
      "machine: Delayed\n"
      "inputs: {u: {unit: V, chirp: {amplitude: 1 V, from: 0.1 Hz, to: 2 Hz, duration: 5 s}}}\n"
      "bodies: {wheel: {box: {mass: 1 kg, size: [1, 1, 1]}}}\n"
      "joints: {axle: {type: revolute, between: [ground, wheel], damping: 0.1 N m s/rad}}\n"
      "initial: {axle.angle: 0, axle.rate: 3 rad/s}\n"
      "blocks:\n  first: {type: first-order, input: %s, gain: 2, time_constant: 0.5 s}\n"
      "  late: {type: delay, input: %s, time: 0.1 s, %s}\n"
      "run: {time: 2 s, step: 10 ms}\n%s";
  static const char brake[] =
      "oil: {density: 870, law: constant, modulus: 1.2 GPa}\nsources: {S: {pressure: 30 bar}}\n"
      "brakes: {b: {joint: axle, at: S, holding: 10 N m, deflection: 0.01 rad, engage: 10 bar, release: 20 bar}}\n";
  static const struct {
    const char *first, *late, *how, *sensor;
    bool delay, integral, switches;
  } cases[] = {{"u", "first", "sample: 10 ms", "late: {sigma: 50 mV}", true, false},
               {"u", "first", "pade: 4", "late: {sigma: 50 mV}", false, false},
               {"late", "u", "sample: 10 ms", "first: {sigma: 50 mV}", false, false},
               {"u", "first", "pade: 4", "first: {sigma: 50 mV}, energy.dissipated: {sigma: 1 J}", false, true},
               {"u", "first", "pade: 4", "first: {sigma: 50 mV}, energy.kinetic: {sigma: 1 J}", false, false},
               {"u", "first", "pade: 4", "first: {sigma: 50 mV}", false, false, true}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    char text[2000];
    snprintf(text, sizeof text, machine, cases[i].first, cases[i].late, cases[i].how, cases[i].switches ? brake : "");
    scratch_write(*state, "delayed.yaml", text, strlen(text));
    snprintf(text, sizeof text, "machine: delayed.yaml\nsensors: {%s}\nparameters: {first.gain: {start: 1.5}}\n",
             cases[i].sensor);
    od_fit_plan *plan = fit_plan_text(*state, text);
    od_fitted *f = fit_run(plan, NULL);
    assert_int_equal(od_verdict_has(&f->verdict, "gradient.delay"), cases[i].delay);
    assert_int_equal(od_verdict_has(&f->verdict, "gradient.integral"), cases[i].integral);
    assert_int_equal(od_verdict_has(&f->verdict, "gradient.switch"), cases[i].switches);
    if (cases[i].delay || cases[i].integral || cases[i].switches) assert_int_equal(f->verdict.trust, OD_UNSOUND);
    od_fitted_free(f);
    od_fit_plan_free(plan);
  }
}

// The limit between white and correlated residuals: a probability of one in a thousand.
static void test_chance(void **state) {
  (void)state;
  od_fit_quality q = {.white = 0.0005, .correlation = 0.1, .typical = 1};
  assert_true(od_fit_is_colored(&q));
  q.white = 0.002;
  assert_false(od_fit_is_colored(&q));
}

int main(void) {
#define TEST(f) cmocka_unit_test_setup_teardown(f, scratch_setup, scratch_teardown)
  const struct CMUnitTest tests[] = {
      TEST(test_colored_noise), TEST(test_white_noise),          TEST(test_shift_by_steps), TEST(test_servo),
      TEST(test_sound),         TEST(test_no_minimum),           TEST(test_wild_samples),   TEST(test_codes),
      TEST(test_doubts),        TEST(test_input_that_jumps),     TEST(test_small_numbers),  TEST(test_true_values),
      TEST(test_chance),        TEST(test_derivatives_that_end),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
