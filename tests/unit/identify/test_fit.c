// Fits of machine files to data. Oracles: the true parameters of simulated data, without noise; for a first-order lag
// the profile of its cost in closed form, and the scatter of estimates over many seeds.
#include <math.h>
#include <stdlib.h>

#include "support/test.h"
#include "random/random.h"
#include "identify/identifiability.h"
#include "support/fits.h"

// A lag y' = (K u - y)/T with K = 2, T = 0.5 s.
static const char lag[] =
    "machine: Lag\n"
    "inputs: {u: {unit: V, chirp: {amplitude: 1 V, from: 0.1 Hz, to: 2 Hz, duration: 5 s}}}\n"
    "blocks: {lag: {type: first-order, input: u, gain: 2, time_constant: 0.5 s}}\n"
    "run: {time: 5 s, step: 10 ms}\n"
    "variants:\n"
    "  wrong: {blocks: {lag: {gain: 1, time_constant: 1 s}}}\n"
    "  sine: {inputs: {u: {chirp: ~, sine: {amplitude: 2 V, frequency: 0.3 Hz}}}, run: {time: 3 s}}\n"
    "  steps: {inputs: {u: {chirp: ~, steps: {initial: 1 V, at: [[1 s, -1 V], [2.5 s, 1 V]]}}}}\n"
    "  moved: {initial: {lag.state: 1.3 V}}\n";

static const char head[] =
    "experiment: Lag\nmachine: lag.yaml\nmodel: {variant: wrong}\nsensors: {lag: {sigma: 50 mV}}\n";
static const char both[] = "parameters: {lag.gain: {low: 0.1, high: 10}, lag.time_constant: {low: 50 ms, high: 5 s}}\n";

static int setup(void **state) {
  int code = scratch_setup(state);
  scratch_put(*state, "lag.yaml", lag);
  return code;
}

// The plan of the lag with these lines added.
static od_fit_plan *lag_plan(scratch *s, const char *more) {
  char text[3000];
  snprintf(text, sizeof text, "%s%s%s", head, both, more);
  return fit_plan_text(s, text);
}

// --- The lag by hand ----------------------------------------------------------------------------------------------

// Its response for K = 1 from a start at 0, inputs linear between samples: with a = exp(-h/T) and c = (1 - a) T/h,
//   y_(k+1) = a y_k + (c - a) u_k + (1 - c) u_(k+1)
static void unit_response(const od_fit_data *d, double T, double *g) {
  double h = d->step, a = exp(-h / T), c = -expm1(-h / T) * T / h;
  g[0] = 0;
  for (long k = 0; k + 1 < d->rows; k++) g[k + 1] = a * g[k] + (c - a) * d->u[k] + (1 - c) * d->u[k + 1];
}

static double product(const double *a, const double *b, long n) {
  double sum = 0;
  for (long i = 0; i < n; i++) sum += a[i] * b[i];
  return sum;
}

// For each T the best gain is that of a linear regression; the remaining cost is lowest at the estimate.
static double best_gain(const od_fit_data *d, double T, double *g, double *cost) {
  unit_response(d, T, g);
  double gy = product(g, d->y, d->rows), gg = product(g, g, d->rows);
  *cost = product(d->y, d->y, d->rows) - gy * gy / gg;
  return gy / gg;
}

static double best_time_constant(const od_fit_data *d, double *g) {
  const double ratio = (sqrt(5) - 1) / 2;
  double low = 0.2, high = 1, cost_a, cost_b;
  for (int i = 0; i < 60; i++) {
    double a = high - ratio * (high - low), b = low + ratio * (high - low);
    best_gain(d, a, g, &cost_a);
    best_gain(d, b, g, &cost_b);
    if (cost_a < cost_b)
      high = b;
    else
      low = a;
  }
  return (low + high) / 2;
}

static void compare_with_closed_form(scratch *s, const char *more, long rows, int coarse) {
  od_fit_plan *plan = lag_plan(s, more);
  od_fitted *f = fit_run(plan, NULL);
  const od_fit_data *d = f->data[0];
  long n = d->rows;
  assert_int_equal(n, rows);
  assert_int_equal(f->search->coarse, coarse);
  double *g = malloc(3 * (size_t)n * sizeof *g), *above = g + n, *below = above + n, cost;
  double T = best_time_constant(d, g), K = best_gain(d, T, g, &cost), eps = 1e-5;
  print_message("gain %.8f, time constant %.8f s; by hand %.8f, %.8f\n", f->estimate[0], f->estimate[1], K, T);
  // The minimum is flat: a search by costs alone has only half of the digits.
  near_relative(f->estimate[1], T, 1e-6);
  near_relative(f->estimate[0], K, 1e-6);
  // Covariance s^2 (J'J)^-1 with J = [g, K dg/dT].
  unit_response(d, T + eps, above);
  unit_response(d, T - eps, below);
  for (long k = 0; k < n; k++) above[k] = K * (above[k] - below[k]) / (2 * eps);
  double aa = product(g, g, n), ab = product(g, above, n), bb = product(above, above, n), s2 = cost / (double)(n - 2);
  double determinant = aa * bb - ab * ab;
  near_relative(f->sigma[0], sqrt(s2 * bb / determinant), 1e-5);
  near_relative(f->sigma[1], sqrt(s2 * aa / determinant), 1e-5);
  near_relative(f->correlation[1], -ab / sqrt(aa * bb), 1e-5);
  near_relative(f->search->cost * 2 * 0.05 * 0.05, cost, 1e-9);
  assert_true(f->rule.exact);
  assert_int_equal(f->identifiability->nulls + f->identifiability->weak, 0);
  free(g);
  fit_release(f, plan);
}

static void test_lag_in_closed_form(void **state) {
  compare_with_closed_form(*state, "", 501, 0);
}

// With very many rows the search begins with some of them: the result is that of all rows.
static void test_many_rows(void **state) {
  compare_with_closed_form(*state, "step: 0.1 ms\n", 50001, 11);
}

// Rows with derivatives that do not fit into memory are predicted again, with the same bits: standard deviations (also of colored
// residuals), shifts by steps, identifiability. Oracle: the same fit with all of them in memory.
static void test_rows_predicted_again(void **state) {
  static const char *const plans[] = {
      "fit: {loss: huber}\nprepare: {resample: 20 ms}\n",
      "fit: {start: unknown, integrator: rk4, substeps: 1}\nsets: {a: {use: fit}, b: {use: fit, simulate: {variant: sine}}}\n",
      "data: {file: run.csv}\nfit: {integrator: rk4, hold_out: 20 %}\n"};
  scratch *s = *state;
  char text[40000];
  int at = snprintf(text, sizeof text, "time,u,lag\n");
  for (int k = 0; k < 300; k++)
    at += snprintf(text + at, sizeof text - (size_t)at, "%.3f,%.6f,%.6f\n", 0.05 * k, sin(0.1 * k),
                   1.6 * sin(0.1 * k - 0.6) + 0.1 * sin(1.7 * k) * (k % 7));
  scratch_put(s, "run.csv", text);
  for (size_t i = 0; i < sizeof plans / sizeof *plans; i++) {
    od_fit_plan *plan = lag_plan(s, plans[i]);
    const od_fit_options few = {.most_kept = 1};
    od_fitted *all = fit_run(plan, NULL), *again = fit_run(plan, &few);
    size_t np = 2 * sizeof(double);
    assert_memory_equal(all->estimate, again->estimate, np);
    assert_memory_equal(all->sigma_white, again->sigma_white, np);
    assert_memory_equal(all->sigma_colored, again->sigma_colored, np);
    assert_true(all->sigma_colored[0] > 0 && isfinite(all->sigma_colored[0]));
    assert_memory_equal(all->shift, again->shift, np);
    assert_true(isnan(all->shift[0]) == (i < 2));
    assert_memory_equal(all->identifiability->sigma, again->identifiability->sigma, np);
    assert_true(all->fit == again->fit && all->window == again->window);
    od_fitted_free(again);
    fit_release(all, plan);
  }
}

// The 95 % intervals contain the truth in 95 % of all cases, and errors scatter with the reported standard deviations.
static void test_intervals_are_right(void **state) {
  enum { SEEDS = 200 };
  od_fit_plan *plan = lag_plan(*state, "");
  int inside = 0;
  double squares = 0, white = 0;
  for (int seed = 1; seed <= SEEDS; seed++) {
    plan->e->seed = (uint64_t)seed;
    od_fitted *f = fit_run(plan, NULL);
    for (int i = 0; i < 2; i++) {
      double off = (f->estimate[i] - plan->e->parameter[i].truth) / f->sigma[i];
      inside += fabs(off) < 1.959964;
      squares += off * off;
    }
    white += f->set[0].fitted_quality[0].white > 0.05;
    od_fitted_free(f);
  }
  print_message(
      "%.1f %% of the true values inside, mean square of the errors in sigmas %.3f, %.1f %% of residuals white\n",
      inside / 4.0, squares / 400, white / 2);
  // Of 400 (in slightly dependent pairs) 380 are expected, with a standard deviation of 4.4 to 6.2.
  assert_true(inside >= 362 && inside <= 396);
  assert_true(fabs(squares / 400 - 1) < 0.25);
  assert_true(white / SEEDS > 0.9 && white / SEEDS < 0.99);
  od_fit_plan_free(plan);
}

// --- Data ---------------------------------------------------------------------------------------------------------

static void expect_truth(const od_fitted *f, double tolerance) {
  for (int i = 0; i < f->plan->e->parameters; i++)
    near_relative(f->estimate[i], f->plan->e->parameter[i].truth, tolerance);
}

static void test_sets_with_other_inputs(void **state) {
  od_fit_plan *plan = lag_plan(*state,
                               "sets:\n  a: {simulate: {variant: sine}, noise: no}\n"
                               "  b: {simulate: {variant: steps}, noise: no, time: 4 s}\n"
                               "  c: {use: validate, noise: no}\n");
  od_fitted *f = fit_run(plan, NULL);
  expect_truth(f, 1e-8);
  assert_int_equal(f->sets, 3);
  assert_int_equal(f->set[0].rows, 301);
  assert_int_equal(f->set[1].rows, 401);
  assert_int_equal(f->set[2].fitted, 0);
  assert_int_equal(f->search->m, 702);
  assert_true(f->set[2].unseen_quality[0].fit > 99.9999);
  assert_true(f->set[2].unseen_quality[0].start_fit < 80);
  fit_release(f, plan);
}

static void test_hold_out(void **state) {
  od_fit_plan *plan = lag_plan(*state, "fit: {hold_out: 20 %}\n");
  od_fitted *f = fit_run(plan, NULL);
  assert_int_equal(f->set[0].fitted, 401);
  assert_int_equal(f->search->m, 401);
  assert_int_equal(f->set[0].fitted_quality[0].samples, 401);
  assert_int_equal(f->set[0].unseen_quality[0].samples, 100);
  assert_true(f->set[0].unseen_quality[0].fit > 80 && f->set[0].unseen_quality[0].fit < 99);
  expect_truth(f, 0.05);
  fit_release(f, plan);
}

// The start of a log is unknown: 1.3 V, where the model has 0.
static void test_unknown_start(void **state) {
  static const char sets[] =
      "sets: {a: {simulate: {variant: moved}, noise: no}, b: {simulate: {variant: sine}, noise: no}}\n";
  char text[400];
  for (int unknown = 0; unknown < 2; unknown++) {
    snprintf(text, sizeof text, "%s%s", sets, unknown ? "fit: {start: unknown}\n" : "");
    od_fit_plan *plan = lag_plan(*state, text);
    od_fitted *f = fit_run(plan, NULL);
    if (unknown) {
      expect_truth(f, 1e-8);
      assert_int_equal(f->search->n, 4);
      near_relative(f->search->x[2], 1.3, 1e-8);
      assert_true(fabs(f->search->x[3]) < 1e-8);
      assert_int_equal(f->identifiability->columns, 2);
      assert_int_equal(f->identifiability->nulls, 0);
    } else {
      print_message("from the model's start: %.4f, %.4f\n", f->estimate[0], f->estimate[1]);
      assert_true(fabs(f->estimate[0] - 2) > 0.04);
    }
    fit_release(f, plan);
  }
}

// Random starts also work with unknown initial states: the states start at the model's values.
static void test_starts_with_unknown_states(void **state) {
  od_fit_plan *plan =
      lag_plan(*state, "sets: {a: {simulate: {variant: moved}, noise: no}}\nfit: {start: unknown, starts: 4}\n");
  od_fitted *f = fit_run(plan, NULL);
  expect_truth(f, 1e-8);
  assert_int_equal(f->search->starts, 5);
  for (int i = 0; i < 5; i++) assert_true(f->search->start_x[3 * i + 2] == 0);
  fit_release(f, plan);
}

// A steady start at 2 V, which the model computes with its own gain.
static void test_start_at_rest(void **state) {
  od_fit_plan *plan = lag_plan(*state, "sets: {a: {simulate: {variant: steps}, noise: no}}\nfit: {start: rest}\n");
  od_fitted *f = fit_run(plan, NULL);
  assert_true(fabs(f->data[0]->y[0] - 2) < 1e-12);
  expect_truth(f, 1e-8);
  fit_release(f, plan);
}

// A sensor error, estimated together with the numbers of the machine.
static void test_calibrated_sensor(void **state) {
  static const char text[] =
      "experiment: Lag\nmachine: lag.yaml\nmodel: {variant: wrong, set: {lag.gain: 2}}\n"
      "sensors: {lag: {sigma: 10 mV, bias: 0.3 V, scale: 1.1}}\nsets: {data: {noise: no}}\n"
      "parameters: {lag.time_constant: {}, sensors.lag.bias: {}, sensors.lag.scale: {}}\n";
  od_fit_plan *plan = fit_plan_text(*state, text);
  od_fitted *f = fit_run(plan, NULL);
  near_relative(f->estimate[0], 0.5, 1e-8);
  near_relative(f->estimate[1], 0.3, 1e-8);
  near_relative(f->estimate[2], 1.1, 1e-8);
  fit_release(f, plan);
}

// Spikes in one sample of twenty cause a large bias of a least-squares fit, and a much smaller one of a robust fit.
static void test_robust_loss(void **state) {
  static const char form[] =
      "experiment: Lag\nmachine: lag.yaml\nmodel: {variant: wrong}\n"
      "sensors: {lag: {sigma: 50 mV, spikes: {rate: 5 %%, size: 3 V}}}\n%sfit: {loss: %s, loss_scale: 2}\n";
  static const char *const losses[] = {"linear", "soft-l1", "huber", "cauchy", "arctan"};
  double squares[5] = {0};
  for (int i = 0; i < 5; i++) {
    char text[1000];
    snprintf(text, sizeof text, form, both, losses[i]);
    od_fit_plan *plan = fit_plan_text(*state, text);
    for (int seed = 1; seed <= 10; seed++) {
      plan->e->seed = (uint64_t)seed;
      od_fitted *f = fit_run(plan, NULL);
      squares[i] += pow(f->estimate[0] / 2 - 1, 2) + pow(f->estimate[1] / 0.5 - 1, 2);
      od_fitted_free(f);
    }
    od_fit_plan_free(plan);
  }
  for (int i = 1; i < 5; i++) {
    print_message("%s: %.3g of the squared errors of plain squares\n", losses[i], squares[i] / squares[0]);
    assert_true(squares[i] < 0.25 * squares[0]);
  }
}

// A log with another rate, spikes and a drift, corrected by the preparations one by one.
static void write_poor_log(scratch *s, const od_fit_data *d) {
  FILE *to = fopen(scratch_path(s, "poor.csv"), "w");
  fprintf(to, "time,u,lag\n");
  for (long k = 0; k < d->rows; k++) {
    double noise = 0.01 * od_random_gaussian(3, 5, (uint64_t)k, OD_USE_NOISE), t = d->time[k];
    fprintf(to, "%.9g,%.9g,%.9g\n", t + 7, d->u[k], d->y[k] + 0.4 + 0.1 * t + noise + (k % 71 == 35 ? 4 : 0));
  }
  fclose(to);
}

// Removing a line from a short log also removes a little of the motion.
static void test_preparation(void **state) {
  scratch *s = *state;
  od_fit_plan *plan = lag_plan(s, "sets: {a: {noise: no}}\n");
  od_fitted *clean = fit_run(plan, NULL);
  write_poor_log(s, clean->data[0]);
  fit_release(clean, plan);
  static const char *const prepares[] = {
      "{}", "{outliers: 5, detrend: linear}", "{outliers: 5, resample: 20 ms, detrend: linear}",
      "{outliers: 5, resample: 10 ms, smooth_window: 5, detrend: linear, low_pass: 15 Hz}"};
  static const long rows[] = {501, 501, 251, 501};
  for (int i = 0; i < 4; i++) {
    char text[400];
    snprintf(text, sizeof text, "data: {file: poor.csv}\nfit: {start: unknown}\nprepare: %s\n", prepares[i]);
    plan = lag_plan(s, text);
    od_fitted *f = fit_run(plan, NULL);
    assert_int_equal(f->set[0].rows, rows[i]);
    print_message("prepare %s: %.4f, %.4f\n", prepares[i], f->estimate[0], f->estimate[1]);
    if (i == 0) assert_true(fabs(f->estimate[0] - 2) > 0.1 && f->data[0]->outliers == 0);
    if (i > 0) assert_int_equal(f->data[0]->outliers, 7);
    if (i > 0) assert_true(fabs(f->estimate[0] / 2 - 1) < 0.06 && fabs(f->estimate[1] / 0.5 - 1) < 0.06);
    if (i == 2) assert_true(f->data[0]->gaps_filled == 7 && f->set[0].fitted_quality[0].missing == 0);
    if (i == 1) assert_int_equal(f->set[0].fitted_quality[0].missing, 7);
    assert_true(fabs(f->data[0]->begin - 7) < 1e-9);
    fit_release(f, plan);
  }
}

// Non-uniform times are used directly by the trapezoidal rule; gaps in the outputs are omitted.
static void test_uneven_times(void **state) {
  scratch *s = *state;
  FILE *to = fopen(scratch_path(s, "uneven.csv"), "w");
  fprintf(to, "time,u,lag\n");
  long missing = 0;
  // u = t: y = K (t - T + T exp(-t/T)).
  for (int k = 0; k <= 2000; k++) {
    double t = 0.002 * (k + 0.4 * sin(3.0 * k)) + 100, u = t - 100, y = 2 * (u - 0.5 + 0.5 * exp(-u / 0.5));
    if (k % 10 == 3)
      fprintf(to, "%.12g,%.12g,\n", t, u), missing++;
    else
      fprintf(to, "%.12g,%.12g,%.12g\n", t, u, y);
  }
  fclose(to);
  od_fit_plan *plan = lag_plan(s, "data: {file: uneven.csv}\n");
  od_fitted *f = fit_run(plan, NULL);
  assert_string_equal(od_rule_name(f->rule), "trapezoid");
  assert_false(f->data[0]->uniform);
  assert_int_equal(f->set[0].fitted_quality[0].missing, missing);
  assert_int_equal(f->set[0].fitted_quality[0].samples, 2001 - missing);
  near_relative(f->estimate[0], 2, 1e-5);
  near_relative(f->estimate[1], 0.5, 1e-4);
  fit_release(f, plan);
}

// Noise relative to a log's own spread.
static void test_relative_noise_of_a_log(void **state) {
  scratch *s = *state;
  FILE *to = fopen(scratch_path(s, "log.csv"), "w");
  fprintf(to, "time,u,lag\n0,0,1\n1,0,3\n2,0,\n3,0,1\n4,0,3\n");
  fclose(to);
  static const char text[] =
      "machine: lag.yaml\nsensors: {lag: {relative: 10 %}}\nparameters: {lag.gain: {}}\ndata: {file: log.csv}\n";
  od_fit_plan *plan = fit_plan_text(s, text);
  const od_fit_options options = {.only_predict = true};
  od_fitted *f = fit_run(plan, &options);
  near_relative(f->data[0]->sigma[0], 0.1, 1e-12);
  fit_release(f, plan);
}

// --- Machines -----------------------------------------------------------------------------------------------------

static const char valve[] =
    "experiment: Valve\nmachine: " OD_SOURCE_DIR
    "/cases/fourbar-valve/machine.yaml\ntime: 3 s\nstep: 2 ms\n"
    "sensors: {cylinder.length: {sigma: 1 mm}, P.pressure: {sigma: 1 bar}, A.pressure: {sigma: 1 bar}}\n"
    "parameters:\n  oil.kp: {start: 1400 MPa, low: 1000 MPa, high: 2000 MPa}\n"
    "  valve.ports.a.curve.points[1]: {start: 50}\n  valve.ports.c.curve.points[1]: {start: 50}\n";

static od_fit_plan *valve_plan(scratch *s, const char *more) {
  char text[2500];
  snprintf(text, sizeof text, "%s%s", valve, more);
  return fit_plan_text(s, text);
}

// A log of another program: semicolons, decimal commas, other names, units, an offset and another time origin.
static void write_foreign_log(scratch *s, const od_fit_data *d) {
  FILE *to = fopen(scratch_path(s, "foreign.csv"), "w");
  fprintf(to, "Zeit [ms];Weg [mm];p0;pA [bar];Ventil\n");
  for (long k = 0; k < d->rows; k++) {
    const double *y = d->y + 3 * k;
    char line[300];
    snprintf(line, sizeof line, "%.10g;%.12g;%.12g;%.12g;%.12g\n", 1e3 * d->time[k] + 500, 1e3 * y[0] - 12.5,
             1e-6 * y[1] / 25, 1e-5 * y[2], d->u[k]);
    for (char *c = line; *c; c++)
      if (*c == '.') *c = ',';
    fputs(line, to);
  }
  fclose(to);
}

static void test_hydraulic_machine(void **state) {
  scratch *s = *state;
  od_fit_plan *plan = valve_plan(s, "sets: {run: {noise: no}}\n");
  od_fitted *f = fit_run(plan, NULL);
  assert_string_equal(od_rule_name(f->rule), "trapezoid");
  expect_truth(f, 1e-6);
  assert_true(f->fit > 99.999 && f->start_fit < 99);
  write_foreign_log(s, f->data[0]);
  fit_release(f, plan);
  plan = valve_plan(s,
                    "data:\n  file: foreign.csv\n  time: Zeit\n  channels:\n"
                    "    cylinder.length: {column: Weg, offset: 12.5}\n"
                    "    P.pressure: {column: 3, unit: MPa, scale: 25}\n"
                    "    A.pressure: pA\n    U_ref: {column: Ventil, unit: V}\n");
  f = fit_run(plan, NULL);
  const double truth[] = {1600e6, 60, 63.6};
  for (int i = 0; i < 3; i++) {
    assert_true(isnan(plan->e->parameter[i].truth));
    near_relative(f->estimate[i], truth[i], 1e-5);
  }
  fit_release(f, plan);
}

// A sampled block: the gain of a digital controller.
static void test_sampled_controller(void **state) {
  static const char machine[] =
      "machine: Digital\ninputs: {u: {unit: V, chirp: {amplitude: 1 V, from: 0.1 Hz, to: 3 Hz, duration: 4 s}}}\n"
      "blocks:\n  error: {type: sum, inputs: [u, lag], weights: [1, -1]}\n"
      "  control: {type: pid, input: error, kp: 3, ki: 2 1/s, sample: 20 ms}\n"
      "  lag: {type: first-order, input: control, gain: 1, time_constant: 0.3 s}\nrun: {time: 4 s, step: 5 ms}\n";
  static const char fit[] =
      "machine: digital.yaml\nsensors: {lag: {sigma: 1 mV}}\nsets: {a: {noise: no}}\n"
      "parameters: {control.kp: {start: 2}, control.ki: {start: 1 1/s}, lag.time_constant: {start: 0.4 s}}\n";
  scratch *s = *state;
  scratch_put(s, "digital.yaml", machine);
  od_fit_plan *plan = fit_plan_text(s, fit);
  od_fitted *f = fit_run(plan, NULL);
  expect_truth(f, 1e-7);
  fit_release(f, plan);
}

// --- Trouble ------------------------------------------------------------------------------------------------------

// x' = g x + u, which diverges for g = 60 1/s.
static const char growth[] =
    "machine: Growth\ninputs: {u: {unit: V, sine: {amplitude: 1 V, frequency: 0.5 Hz}}}\n"
    "blocks:\n  rate: {type: sum, inputs: [u, back], weights: [1, 1]}\n  x: {type: integrator, input: rate, gain: 1 1/s}\n"
    "  back: {type: gain, input: x, gain: -2}\nrun: {time: 5 s, step: 10 ms}\n";

static od_fit_plan *growth_plan(scratch *s, const char *more) {
  char text[1000];
  scratch_put(s, "growth.yaml", growth);
  snprintf(
      text, sizeof text,
      "machine: growth.yaml\nsensors: {x: {sigma: 1 mV}}\nparameters: {back.gain: {start: 60, low: -100, high: 80}}\n%s",
      more);
  return fit_plan_text(s, text);
}

static void test_start_that_explodes(void **state) {
  od_fit_plan *plan = growth_plan(*state, "");
  od_fitted *f = NULL;
  od_error err = {0};
  assert_int_equal(od_fit(plan, NULL, &f, &err), OD_DIVERGED);
  assert_null(f);
  assert_non_null(strstr(err.text, "the set 'data' cannot be predicted with the start values: "));
  od_fit_plan_free(plan);
  // Other starts may do better.
  plan = growth_plan(*state, "fit: {starts: 8}\n");
  f = fit_run(plan, NULL);
  near_relative(f->estimate[0], -2, 1e-3);
  assert_true(isnan(f->start_fit) && f->fit > 95);
  assert_true(isinf(f->search->end_cost[0]));
  fit_release(f, plan);
}

// Data for validation that the fitted model cannot predict: no values are reported for them.
static void test_validation_that_explodes(void **state) {
  od_fit_plan *plan =
      growth_plan(*state, "sets:\n  a: {time: 50 ms, noise: no}\n  b: {use: validate, time: 40 s, noise: no}\n");
  od_fitted *f = NULL;
  const od_fit_options options = {.only_predict = true, .table = true};
  f = fit_run(plan, &options);
  assert_int_equal(f->set[0].predicted, OD_OK);
  assert_int_equal(f->set[1].predicted, OD_DIVERGED);
  assert_true(isnan(f->set[1].unseen_quality[0].fit) && isnan(f->set[1].unseen_quality[0].rms));
  assert_int_equal(f->set[1].unseen_quality[0].samples, 4001);
  const double *last = f->table->data + (f->table->rows - 1) * f->table->columns;
  assert_true(last[0] == 2 && isfinite(last[3]) && isnan(last[4]) && isnan(last[5]));
  fit_release(f, plan);
}

// An integrator has no equilibrium under an input that is not zero.
static void test_no_rest(void **state) {
  static const char machine[] =
      "machine: Sum\ninputs: {u: {unit: V, constant: 1 V}}\nblocks: {x: {type: integrator, input: u, gain: 1 1/s}}\n"
      "run: {time: 1 s, step: 10 ms}\n";
  static const char fit[] =
      "machine: sum.yaml\nsensors: {x: {sigma: 1 mV}}\nparameters: {x.gain: {}}\ndata: {file: log.csv}\nfit: {start: rest}\n";
  scratch *s = *state;
  scratch_put(s, "sum.yaml", machine);
  scratch_put(s, "log.csv", "time,x\n0,0\n1,1\n2,2\n");
  od_fit_plan *plan = fit_plan_text(s, fit);
  od_fitted *f = NULL;
  od_error err = {0};
  assert_int_equal(od_fit(plan, NULL, &f, &err), OD_SINGULAR);
  assert_non_null(strstr(err.text, "from a start at rest"));
  od_fit_plan_free(plan);
}

static od_status try_fit(od_fit_plan *plan, od_error *err) {
  od_fitted *f = NULL;
  od_status status = od_fit(plan, NULL, &f, err);
  if (status == OD_BAD_INPUT) assert_null(f);
  fit_release(f, plan);
  return status;
}

static void test_data_that_say_nothing(void **state) {
  scratch *s = *state;
  od_error err = {0};
  scratch_put(s, "one.csv", "time,u,lag\n0,0,0\n1,1,1\n");
  assert_int_equal(try_fit(lag_plan(s, "data: {file: one.csv}\nfit: {start: unknown}\n"), &err), OD_BAD_INPUT);
  assert_string_equal(err.text,
                      "3 unknowns cannot be estimated from 2 samples; fit fewer parameters, or use more data");
  scratch_put(s, "none.csv", "time,u,lag\n0,0,\n1,1,\n2,1,\n3,1,\n");
  assert_int_equal(try_fit(lag_plan(s, "data: {file: none.csv}\n"), &err), OD_BAD_INPUT);
  assert_string_equal(err.text,
                      "no data to fit: no sensor has a value in a fitted row; check the columns under 'data'");
  scratch_put(s, "row.csv", "time,u,lag\n0,0,1\n");
  assert_int_equal(try_fit(lag_plan(s, "data: {file: row.csv}\n"), &err), OD_BAD_INPUT);
  assert_string_equal(err.text, "the set 'data' has 1 row; expected at least 2 rows");
  scratch_put(s, "jumps.csv", "time,u,lag\n0,0,1\n1,0,2\n2,1,1\n4,0,1\n5,0,0\n");
  assert_int_equal(try_fit(lag_plan(s, "data: {file: jumps.csv}\nfit: {integrator: exact}\n"), &err), OD_BAD_INPUT);
  assert_string_equal(err.text,
                      "samples of the set 'data' are 1 to 2 s apart, but 'integrator: exact' needs uniform times; "
                      "resample with 'prepare: {resample: 1.25 s}', or choose another integrator");
  static const char still[] =
      "machine: lag.yaml\nsensors: {lag: {relative: 1 %}}\nparameters: {lag.gain: {}}\ndata: {file: still.csv}\n";
  scratch_put(s, "still.csv", "time,u,lag\n0,0,0\n1,0,0\n2,0,0\n");
  assert_int_equal(try_fit(fit_plan_text(s, still), &err), OD_BAD_INPUT);
  assert_string_equal(
      err.text, "'lag' is constant in the set 'data', so its noise cannot be a fraction of the signal; give its sigma");
}

// A constant sensor: there is no fit in percent, and its parameters are not identifiable.
static void test_still_sensor(void **state) {
  scratch *s = *state;
  scratch_put(s, "still.csv", "time,u,lag\n0,0,0\n1,0,0\n2,0,0\n3,0,0\n");
  od_fit_plan *plan = lag_plan(s, "data: {file: still.csv}\n");
  od_fitted *f = fit_run(plan, NULL);
  assert_true(isnan(f->fit) && isnan(f->set[0].fitted_quality[0].fit) && f->set[0].fitted_quality[0].still);
  assert_int_equal(f->identifiability->nulls, 2);
  assert_true(isinf(f->sigma[0]) && isinf(f->sigma[1]));
  fit_release(f, plan);
}

// An encoder without 'sigma' has the noise of its quantization.
static void test_encoder(void **state) {
  static const char fit[] =
      "machine: lag.yaml\nmodel: {variant: wrong}\nsensors: {lag: {encoder: {pitch: 1 mV}}}\n"
      "parameters: {lag.gain: {}, lag.time_constant: {}}\n";
  od_fit_plan *plan = fit_plan_text(*state, fit);
  od_fitted *f = fit_run(plan, NULL);
  near_relative(f->data[0]->sigma[0], 1e-3 / sqrt(12), 1e-12);
  near_relative(f->estimate[0], 2, 1e-3);
  near_relative(f->estimate[1], 0.5, 1e-3);
  fit_release(f, plan);
}

static bool stop_at(void *user, double done) {
  (void)done;
  return --*(int *)user > 0;
}

static void test_interrupted(void **state) {
  od_fit_plan *plan = lag_plan(*state, "");
  for (int calls = 1; calls < 5; calls++) {
    int left = calls;
    const od_fit_options options = {.progress = stop_at, .user = &left, .table = true};
    od_fitted *f = NULL;
    od_error err = {0};
    assert_int_equal(od_fit(plan, &options, &f, &err), OD_INTERRUPTED);
    assert_non_null(f);
    assert_non_null(strstr(err.text, "so far"));
    assert_true(f->fit >= f->start_fit - 1e-9 && f->table->rows == 501);
    od_fitted_free(f);
  }
  plan->evaluations = 2;
  od_fitted *f = NULL;
  od_error err = {0};
  assert_int_equal(od_fit(plan, NULL, &f, &err), OD_NOT_CONVERGED);
  fit_release(f, plan);
}

// --- Pieces -------------------------------------------------------------------------------------------------------

static void test_combinations(void **state) {
  (void)state;
  double power[] = {2, -1, 0, 0.5}, weight[] = {0, 0, 3, 1}, p[] = {3, 2, 5, 4}, gradient[4];
  const od_combination c = {"c", power, weight};
  double value = od_combination_value(&c, 4, p, gradient);
  near_relative(value, 9.0 / 2 * 2 * 19, 1e-14);
  for (int i = 0; i < 4; i++) {
    double at = p[i], eps = 1e-5;
    p[i] = at + eps;
    double above = od_combination_value(&c, 4, p, NULL);
    p[i] = at - eps;
    double below = od_combination_value(&c, 4, p, NULL);
    p[i] = at;
    near_relative(gradient[i], (above - below) / (2 * eps), 1e-8);
  }
  // At zero the derivative of p itself is still 1.
  double one[] = {1}, zero[] = {0}, nothing[] = {0};
  const od_combination plain = {"plain", one, nothing};
  assert_true(od_combination_value(&plain, 1, zero, gradient) == 0 && gradient[0] == 1);
}

// Columns of parameters against the normal equations: with unknown states the information is the Schur complement.
// Linearly dependent states, and states without effect, change nothing.
static void test_identifiability_without_states(void **state) {
  (void)state;
  enum { M = 40, N = 6, NP = 2 };
  double J[M * N], value[] = {2, -3};
  for (int i = 0; i < M; i++) {
    double t = i / 10.0, *row = J + N * i;
    const double entries[] = {sin(t), t * t, exp(-t), cos(2 * t), 3 * exp(-t) - 2 * cos(2 * t), 0};
    for (int j = 0; j < N; j++) row[j] = entries[j];
  }
  od_identifiability *id = NULL;
  assert_int_equal(od_identifiability_without_states(M, N, NP, J, value, value, 0, NULL, &id, NULL), OD_OK);
  assert_int_equal(id->nulls, 0);
  // A = Jp'Jp - Jp'Js (Js'Js)^-1 Js'Jp with the two independent states.
  double G[4][4] = {{0}}, A[2][2];
  for (int a = 0; a < 4; a++)
    for (int b = 0; b < 4; b++)
      for (int i = 0; i < M; i++) G[a][b] += J[N * i + a] * J[N * i + b];
  double det = G[2][2] * G[3][3] - G[2][3] * G[3][2];
  const double inverse[2][2] = {{G[3][3] / det, -G[2][3] / det}, {-G[2][3] / det, G[2][2] / det}};
  for (int a = 0; a < 2; a++)
    for (int b = 0; b < 2; b++) {
      A[a][b] = G[a][b];
      for (int k = 0; k < 2; k++)
        for (int l = 0; l < 2; l++) A[a][b] -= G[a][2 + k] * inverse[k][l] * G[2 + l][b];
    }
  double determinant = A[0][0] * A[1][1] - A[0][1] * A[1][0];
  near_relative(id->sigma[0], sqrt(A[1][1] / determinant), 1e-9);
  near_relative(id->sigma[1], sqrt(A[0][0] / determinant), 1e-9);
  od_identifiability_free(id);
  // A parameter with the same effect as a state is not identifiable.
  for (int i = 0; i < M; i++) J[N * i] = J[N * i + 2] + J[N * i + 3];
  assert_int_equal(od_identifiability_without_states(M, N, NP, J, value, value, 0, NULL, &id, NULL), OD_OK);
  assert_int_equal(id->nulls, 1);
  assert_true(isinf(id->sigma[0]) && isfinite(id->sigma[1]));
  od_identifiability_free(id);
}

int main(void) {
#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, scratch_teardown)
  const struct CMUnitTest tests[] = {
      TEST(test_lag_in_closed_form),
      TEST(test_many_rows),
      TEST(test_rows_predicted_again),
      TEST(test_intervals_are_right),
      TEST(test_sets_with_other_inputs),
      TEST(test_hold_out),
      TEST(test_unknown_start),
      TEST(test_starts_with_unknown_states),
      TEST(test_start_at_rest),
      TEST(test_calibrated_sensor),
      TEST(test_robust_loss),
      TEST(test_preparation),
      TEST(test_uneven_times),
      TEST(test_relative_noise_of_a_log),
      TEST(test_hydraulic_machine),
      TEST(test_sampled_controller),
      TEST(test_start_that_explodes),
      TEST(test_validation_that_explodes),
      TEST(test_no_rest),
      TEST(test_data_that_say_nothing),
      TEST(test_still_sensor),
      TEST(test_encoder),
      TEST(test_interrupted),
      cmocka_unit_test(test_combinations),
      cmocka_unit_test(test_identifiability_without_states),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
