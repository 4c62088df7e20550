// The relinearizing filter. Oracles: the best trajectory of a window and its covariance by the least-squares library over initial
// state, parameter and all noises; closed forms; on linear plants the extended filter, which test_observer.c compares with a
// textbook; bit comparison of immediate work with work that is spread over samples; counted evaluations of the plant and
// allocations.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "support/test.h"
#include "oleodyn/least_squares.h"
#include "oleodyn/oleodyn.h"
#include "support/allocations.h"
#include "support/machines.h"
#include "support/random_machine.h"

// ---- x' = u - p x^2, y = x

static long evaluations;

static int decay(void *user, double t, const double *x, const double *u, const double *p, double *dx) {
  (void)user, (void)t;
  evaluations++;
  dx[0] = u[0] - p[0] * x[0] * x[0];
  return 0;
}
static int decay_jacobians(void *user, double t, const double *x, const double *u, const double *p, double *fx,
                           double *fu, double *fp) {
  (void)user, (void)t, (void)u;
  if (fx) fx[0] = -2 * p[0] * x[0];
  if (fu) fu[0] = 1;
  if (fp) fp[0] = -x[0] * x[0];
  return 0;
}
static int itself(void *user, double t, const double *x, const double *u, const double *p, double *y) {
  (void)user, (void)t, (void)u, (void)p;
  y[0] = x[0];
  return 0;
}
static int itself_jacobians(void *user, double t, const double *x, const double *u, const double *p, double *hx,
                            double *hu, double *hp) {
  (void)user, (void)t, (void)x, (void)u, (void)p;
  if (hx) hx[0] = 1;
  if (hu) hu[0] = 0;
  if (hp) hp[0] = 0;
  return 0;
}

static const double start_x = 1, start_p = 0.4, step = 0.03;
static const double start_P[4] = {1, 0, 0, 4}, noise[2] = {4e-6, 0}, sensor = 0.05;

static od_plant *make_plant(void) {
  const od_function f = {.nx = 1,
                         .nu = 1,
                         .ny = 1,
                         .np = 1,
                         .x0 = &start_x,
                         .p = &start_p,
                         .f = decay,
                         .f_jacobians = decay_jacobians,
                         .h = itself,
                         .h_jacobians = itself_jacobians};
  od_plant *plant = NULL;
  assert_int_equal(od_plant_from_function(&f, &plant, NULL), OD_OK);
  return plant;
}

// A step of the trapezoidal rule: a quadratic equation.
static double rule(double x, double p, double u) {
  double a = step * p / 2, c = x - a * x * x + step * u;
  return 2 * c / (1 + sqrt(1 + 4 * a * c));
}

enum { SAMPLES = 1200, MAP_SAMPLES = 64 };
static const double input = 0.5;

// Readings of a sensor of a machine that starts at 3 with p = 2; sometimes NAN.
static void measure(double *y) {
  od_dice dice = {7};
  double x = 3;
  for (int k = 0; k <= SAMPLES; k++) {
    if (k > 0) x = rule(x, 2, input);
    double sum = 0;
    for (int i = 0; i < 12; i++) sum += od_dice_uniform(&dice, -0.5, 0.5);
    y[k] = k % 9 == 4 ? (double)NAN : x + sensor * sum;
  }
}

static od_observer *make_observer(const od_plant *plant, const char *filter, int window, bool at_once) {
  const double choice[3] = {window, !at_once, 0};
  const bool has_window = strcmp(filter, "relinearising") == 0;
  const od_observer_options options = {
      .filter = od_filter_find(filter), .sensor_sigma = &sensor, .choice = has_window ? choice : NULL};
  od_observer *o = od_observer_new(plant, &options);
  assert_int_equal(od_observer_start(o, 0, NULL, NULL, start_P, &input), OD_OK);
  return o;
}

static void take(od_observer *o, int k, const double *y) {
  if (k > 0) assert_int_equal(od_observer_predict(o, step, &input, NULL, noise), OD_OK);
  assert_int_equal(od_observer_correct(o, y + k), OD_OK);
}

// Unknowns: x, p, noises of the steps, each in its sigmas. Residuals: those, and the sensor's.
static int residuals(void *user, const double *z, double *r) {
  const double *y = user;
  double x = start_x + z[0], p = start_p + 2 * z[1];
  if (!(p > 0)) return 1;
  memcpy(r, z, (MAP_SAMPLES + 2) * sizeof *r);
  for (int k = 0; k <= MAP_SAMPLES; k++) {
    if (k > 0) x = rule(x, p, input) + sqrt(noise[0]) * z[1 + k];
    r[MAP_SAMPLES + 2 + k] = isnan(y[k]) ? 0 : (y[k] - x) / sensor;
  }
  return 0;
}

static void finds_the_best_trajectory(void **state) {
  (void)state;
  double y[SAMPLES + 1], begin[MAP_SAMPLES + 2] = {0};
  measure(y);
  const od_ls_problem problem = {
      .m = 2 * MAP_SAMPLES + 3, .n = MAP_SAMPLES + 2, .user = y, .residuals = residuals, .start = begin};
  od_ls_result *best = NULL;
  od_error err = {0};
  assert_int_equal(od_least_squares(&problem, &(od_ls_options){.unit_variance = true}, &best, &err), OD_OK);
  double x = start_x + best->x[0], p = start_p + 2 * best->x[1], p_sigma = 2 * best->sigma[1];
  for (int k = 1; k <= MAP_SAMPLES; k++) x = rule(x, p, input) + sqrt(noise[0]) * best->x[1 + k];
  od_plant *plant = make_plant();
  static const char *const filters[] = {"iterated-ekf", "relinearising"};
  double off[2], sigma[2];
  for (int i = 0; i < 2; i++) {
    od_observer *o = make_observer(plant, filters[i], MAP_SAMPLES, true);
    for (int k = 0; k <= MAP_SAMPLES; k++) take(o, k, y);
    off[i] = fmax(fabs(od_observer_parameters(o)[0] - p) / p_sigma,
                  fabs(od_observer_state(o)[0] - x) / sqrt(od_observer_covariance(o)[0]));
    sigma[i] = od_observer_parameter_sigma(o, 0) / p_sigma;
    print_message("%s: off by %.3g sigmas, sigma of p %.3f times that of the best fit\n", filters[i], off[i], sigma[i]);
    od_observer_free(o);
  }
  assert_true(off[1] < 0.03 && fabs(sigma[1] - 1) < 0.01);
  assert_true(off[0] > 10 * off[1] || fabs(sigma[0] - 1) > 0.05);
  od_ls_result_free(best);
  od_plant_free(plant);
}

// ---- work spread over samples

// Windows are complete at 16, 32, ... 256, 512, 768, 1024 samples; at 1200 the last one is done in both ways.
static void work_is_bounded_and_the_same(void **state) {
  (void)state;
  double y[SAMPLES + 1];
  long most[3] = {0};
  measure(y);
  od_plant *plant = make_plant();
  od_observer *o[3] = {make_observer(plant, "iterated-ekf", 16, false),
                       make_observer(plant, "relinearising", 256, false),
                       make_observer(plant, "relinearising", 256, true)};
#if COUNTING
  long before = allocations;
#endif
  for (int k = 0; k <= SAMPLES; k++)
    for (int i = 0; i < 3; i++) {
      evaluations = 0;
      take(o[i], k, y);
      if (evaluations > most[i]) most[i] = evaluations;
    }
#if COUNTING
  assert_int_equal(allocations, before);
#endif
  print_message("at most %ld evaluations per sample; spread %ld, at once %ld\n", most[0], most[1], most[2]);
  assert_true(most[1] <= 18 * most[0]);
  assert_true(most[2] > 100 * most[0]);
  assert_true(od_observer_state(o[1])[0] == od_observer_state(o[2])[0]);
  assert_true(od_observer_parameters(o[1])[0] == od_observer_parameters(o[2])[0]);
  assert_memory_equal(od_observer_covariance(o[1]), od_observer_covariance(o[2]), 4 * sizeof(double));
  assert_true(fabs(od_observer_parameters(o[1])[0] - 2) < 4 * od_observer_parameter_sigma(o[1], 0));
  assert_true(od_observer_settled(o[0]) && od_observer_settled(o[1]) && od_observer_settled(o[2]));
  for (int i = 0; i < 3; i++) od_observer_free(o[i]);
  od_plant_free(plant);
}

// Settled: not before a whole window of samples, and never with a model that contradicts the samples.
static void says_when_it_has_settled(void **state) {
  (void)state;
  double y[SAMPLES + 1];
  measure(y);
  od_plant *plant = make_plant();
  for (int wrong = 0; wrong < 2; wrong++) {
    od_observer *o = make_observer(plant, "relinearising", 64, false);
    int first = -1;
    for (int k = 0; k <= SAMPLES; k++) {
      double shown = wrong ? y[k] + 0.1 * sin(0.5 * k) : y[k];
      if (k > 0) assert_int_equal(od_observer_predict(o, step, &input, NULL, noise), OD_OK);
      assert_int_equal(od_observer_correct(o, &shown), OD_OK);
      if (first < 0 && od_observer_settled(o)) first = k;
    }
    print_message("%s model: settled first at sample %d\n", wrong ? "wrong" : "right", first);
    assert_true(wrong ? first < 0 : first >= 64 && first < 100);
    od_observer_free(o);
  }
  od_plant_free(plant);
}

// ---- the start

// A linear plant (p stays 0): x' = u. The error of the start is 40 sigmas: it is widened, and the truth is found. The extended
// filter, which uses the given start, has a large error.
static void a_start_that_cannot_be_true_is_widened(void **state) {
  (void)state;
  od_plant *plant = make_plant();
  const double P[4] = {1e-4, 0, 0, 0}, zero = 0;
  double error[2];
  static const char *const filters[] = {"iterated-ekf", "relinearising"};
  for (int i = 0; i < 2; i++) {
    const od_observer_options options = {
        .filter = od_filter_find(filters[i]), .sensor_sigma = &sensor, .choice = i ? (const double[]){64, 0, 1} : NULL};
    od_observer *o = od_observer_new(plant, &options);
    assert_int_equal(od_observer_start(o, 0, NULL, &zero, P, &zero), OD_OK);
    for (int k = 0; k < 17; k++) {
      const double y = 1.4 + sensor * (k % 2 ? 0.5 : -0.5);
      if (k > 0) assert_int_equal(od_observer_predict(o, step, &zero, NULL, NULL), OD_OK);
      assert_int_equal(od_observer_correct(o, &y), OD_OK);
    }
    error[i] = od_observer_state(o)[0] - 1.4;
    od_observer_free(o);
  }
  // By hand: weights 1 / variance of the start and of the 17 values.
  double mean = 1.4 - sensor * 0.5 / 17, weight = 17 / (sensor * sensor);
  double as_declared = (1e4 * 1 + weight * mean) / (1e4 + weight) - 1.4;
  print_message("as declared %.4f (by hand %.4f), widened %.4f\n", error[0], as_declared, error[1]);
  assert_true(fabs(error[0] - as_declared) < 1e-9 && fabs(error[0]) > 0.1);
  assert_true(fabs(error[1]) < 3 * sensor / sqrt(17));
  od_plant_free(plant);
}

// An angle at rest, seen as a length 2 cos(x / 2): near its dead point, x = 0, the length contains almost no information
// about it.
static int rest(void *user, double t, const double *x, const double *u, const double *p, double *dx) {
  (void)user, (void)t, (void)x, (void)u, (void)p;
  dx[0] = 0;
  return 0;
}
static int rest_jacobians(void *user, double t, const double *x, const double *u, const double *p, double *fx,
                          double *fu, double *fp) {
  (void)user, (void)t, (void)x, (void)u, (void)p, (void)fp;
  if (fx) fx[0] = 0;
  if (fu) fu[0] = 0;
  return 0;
}
static int length(void *user, double t, const double *x, const double *u, const double *p, double *y) {
  (void)user, (void)t, (void)u, (void)p;
  y[0] = 2 * cos(x[0] / 2);
  return 0;
}
static int length_jacobians(void *user, double t, const double *x, const double *u, const double *p, double *hx,
                            double *hu, double *hp) {
  (void)user, (void)t, (void)u, (void)p, (void)hp;
  if (hx) hx[0] = -sin(x[0] / 2);
  if (hu) hu[0] = 0;
  return 0;
}

// A start given as a length is kept as a length: the result is the weighted mean of lengths, in closed form.
static void a_start_told_in_outputs_is_kept_so(void **state) {
  (void)state;
  const double x0 = 0.2, declared = 2 * cos(0.1), sigma = 0.2, variance = 0.1 * 0.1, P = variance / pow(sin(0.1), 2),
               u = 0;
  const od_function f = {.nx = 1,
                         .nu = 1,
                         .ny = 1,
                         .x0 = &x0,
                         .f = rest,
                         .f_jacobians = rest_jacobians,
                         .h = length,
                         .h_jacobians = length_jacobians};
  const int output = 0;
  double sum = 0, found[2];
  od_plant *plant = NULL;
  assert_int_equal(od_plant_from_function(&f, &plant, NULL), OD_OK);
  for (int tell = 0; tell < 2; tell++) {
    const od_observer_options options = {
        .filter = od_filter_find("relinearising"), .sensor_sigma = &sigma, .choice = (const double[]){16, 0, 0}};
    od_observer *o = od_observer_new(plant, &options);
    assert_int_equal(od_observer_declare_start(o, 2, &output, &variance), OD_BAD_ARGUMENT);
    if (tell) assert_int_equal(od_observer_declare_start(o, 1, &output, &variance), OD_OK);
    assert_int_equal(od_observer_start(o, 0, NULL, NULL, &P, &u), OD_OK);
    sum = 0;
    for (int k = 0; k <= 16; k++) {
      const double y = 1.75 + 0.1 * sin(3.0 * k);
      sum += y;
      if (k > 0) assert_int_equal(od_observer_predict(o, step, &u, NULL, NULL), OD_OK);
      assert_int_equal(od_observer_correct(o, &y), OD_OK);
    }
    found[tell] = 2 * cos(od_observer_state(o)[0] / 2);
    od_observer_free(o);
  }
  double weight = 1 / (sigma * sigma), best = (declared / variance + sum * weight) / (1 / variance + 17 * weight);
  print_message("best %.6f, declared as a length %.6f, as an angle %.6f\n", best, found[1], found[0]);
  assert_true(fabs(found[1] - best) < 2e-3 && fabs(found[0] - best) > 10 * fabs(found[1] - best));
  od_plant_free(plant);
}

// Many angles have the same length. The result is on the prior's side of the dead point, and not a turn away, although Newton's
// method takes large steps near the dead point. Oracle: the arc cosine.
static void a_start_told_in_outputs_stays_on_its_branch(void **state) {
  (void)state;
  const double sigma = 1e-3, variance = 0.1 * 0.1, u = 0;
  const int output = 0;
  for (int side = -1; side <= 1; side += 2)
    for (int i = 0; i < 400; i++) {
      const double x0 = side * (0.03 + 0.03 * (i % 20)), y = 1.9 - 0.09 * (int)(i / 20),
                   P = variance / pow(sin(x0 / 2), 2);
      const od_function f = {.nx = 1,
                             .nu = 1,
                             .ny = 1,
                             .x0 = &x0,
                             .f = rest,
                             .f_jacobians = rest_jacobians,
                             .h = length,
                             .h_jacobians = length_jacobians};
      const od_observer_options options = {
          .filter = od_filter_find("relinearising"), .sensor_sigma = &sigma, .choice = (const double[]){16, 0, 0}};
      od_plant *plant = NULL;
      assert_int_equal(od_plant_from_function(&f, &plant, NULL), OD_OK);
      od_observer *o = od_observer_new(plant, &options);
      assert_int_equal(od_observer_declare_start(o, 1, &output, &variance), OD_OK);
      assert_int_equal(od_observer_start(o, 0, NULL, NULL, &P, &u), OD_OK);
      for (int k = 0; k <= 16; k++) {
        if (k > 0) assert_int_equal(od_observer_predict(o, step, &u, NULL, NULL), OD_OK);
        assert_int_equal(od_observer_correct(o, &y), OD_OK);
      }
      double expected = side * 2 * acos(y / 2);
      if (!(fabs(od_observer_state(o)[0] - expected) < 1e-3))
        fail_msg("from %g, length %g: %g, expected %g", x0, y, od_observer_state(o)[0], expected);
      od_observer_free(o);
      od_plant_free(plant);
    }
}

// ---- events at the ends of windows

// A linear plant, x' = u - x + p, y = x: in all cases the filter with windows gives the same result as the extended filter.
static int lag(void *user, double t, const double *x, const double *u, const double *p, double *dx) {
  (void)user, (void)t;
  dx[0] = u[0] - x[0] + p[0];
  return 0;
}
static int lag_jacobians(void *user, double t, const double *x, const double *u, const double *p, double *fx,
                         double *fu, double *fp) {
  (void)user, (void)t, (void)x, (void)u, (void)p;
  if (fx) fx[0] = -1;
  if (fu) fu[0] = 1;
  if (fp) fp[0] = 1;
  return 0;
}

typedef enum event { NOTHING, GAP, JUMP, TWICE, JOINT_NOISE, INFLATED, SPIKES, DRIFT, EVENTS } event;

static void step_both(od_observer *o, event what, int k) {
  const double y = 0.3 + 0.05 * sin(2.0 * k), none = NAN, u = k > 90 && what == JUMP ? 2 : 0.5, later = 2;
  const double joint[4] = {1e-4, 5e-6, 5e-6, 1e-6}, spike = 1e3, drift[2] = {1e-4, 1e-4};
  const double *Q = what == JOINT_NOISE && k % 50 > 25 ? joint : NULL, *q = what == DRIFT ? drift : noise;
  assert_int_equal(od_observer_predict(o, 0.01 + 0.001 * (k % 3), &u, Q, Q ? NULL : q), OD_OK);
  bool silent = what == GAP && (k % 32 == 0 || (k > 150 && k < 400));
  assert_int_equal(od_observer_correct(o, silent ? &none : what == SPIKES && k % 40 == 7 ? &spike : &y), OD_OK);
  if (what == TWICE && k % 16 < 3) assert_int_equal(od_observer_correct(o, &y), OD_OK);
  if (what == JUMP && k == 90) assert_int_equal(od_sim_set_inputs(od_observer_sim(o), &later), OD_OK);
  if (what == INFLATED && k % 100 == 70) od_observer_inflate(o, 10);
}

static void nothing_new_on_linear_plants(void **state) {
  (void)state;
  const od_function f = {.nx = 1,
                         .nu = 1,
                         .ny = 1,
                         .np = 1,
                         .x0 = &start_x,
                         .p = &start_p,
                         .f = lag,
                         .f_jacobians = lag_jacobians,
                         .h = itself,
                         .h_jacobians = itself_jacobians};
  od_plant *plant = NULL;
  assert_int_equal(od_plant_from_function(&f, &plant, NULL), OD_OK);
  for (int what = 0; what < EVENTS; what++)
    for (int at_once = 0; at_once < 2; at_once++) {
      od_observer_options options = {.filter = od_filter_find("iterated-ekf"), .sensor_sigma = &sensor};
      if (what == SPIKES) options.gate = 6;
      od_observer *a = od_observer_new(plant, &options);
      options.filter = od_filter_find("relinearising");
      options.choice = (const double[]){64, !at_once, 0};
      od_observer *b = od_observer_new(plant, &options);
      assert_int_equal(od_observer_start(a, 0, NULL, NULL, start_P, &input), OD_OK);
      assert_int_equal(od_observer_start(b, 0, NULL, NULL, start_P, &input), OD_OK);
      double worst = 0;
      for (int k = 1; k <= 600; k++) {
        step_both(a, (event)what, k);
        step_both(b, (event)what, k);
        worst = fmax(worst, fabs(od_observer_state(a)[0] - od_observer_state(b)[0]));
        worst = fmax(worst, fabs(od_observer_parameters(a)[0] - od_observer_parameters(b)[0]));
        for (int i = 0; i < 4; i++)
          worst = fmax(worst, fabs(od_observer_covariance(a)[i] - od_observer_covariance(b)[i]));
      }
      print_message("event %d, %s: largest difference %.2g\n", what, at_once ? "at once" : "spread", worst);
      assert_true(worst < 1e-10);
      od_observer_free(a);
      od_observer_free(b);
    }
  od_plant_free(plant);
}

// ---- machines

// A digital controller jumps every fourth step; the machine is linear.
static void carries_jumps_of_sampled_blocks(void **state) {
  (void)state;
  od_machine *machine = od_test_machine_text(
      "machine: Digital\ninputs: {u: {unit: V, sine: {amplitude: 1 V, frequency: 0.5 Hz}}}\n"
      "blocks:\n  error: {type: sum, inputs: [u, lag], weights: [1, -1]}\n"
      "  control: {type: pid, input: error, kp: 3, ki: 2 1/s, sample: 20 ms}\n"
      "  lag: {type: first-order, input: control, gain: 1, time_constant: 0.3 s}\nrun: {time: 4 s, step: 5 ms}\n");
  int output = od_test_output(machine, "lag");
  od_plant *plant = NULL;
  assert_int_equal(od_machine_plant(machine, &output, 1, NULL, 0, &plant, NULL), OD_OK);
  enum { MOST = 8 };
  int nx = od_plant_nx(plant);
  assert_true(nx >= 3 && nx <= MOST);
  double P[MOST * MOST] = {0}, q[MOST] = {0}, u, worst = 0;
  for (int i = 0; i < nx; i++) P[i * (nx + 1)] = 0.04, q[i] = 1e-6;
  od_observer_options options = {.filter = od_filter_find("iterated-ekf"), .sensor_sigma = &sensor};
  od_observer *a = od_observer_new(plant, &options);
  options.filter = od_filter_find("relinearising");
  options.choice = (const double[]){64, 1, 0};
  od_observer *b = od_observer_new(plant, &options);
  od_sim *truth = od_sim_new(plant);
  od_machine_inputs(machine, 0, &u);
  assert_int_equal(od_sim_start(truth, 0, &u), OD_OK);
  assert_int_equal(od_observer_start(a, 0, NULL, NULL, P, &u), OD_OK);
  assert_int_equal(od_observer_start(b, 0, NULL, NULL, P, &u), OD_OK);
  for (int k = 1; k <= 600; k++) {
    double y;
    bool changed;
    od_machine_inputs(machine, 0.005 * k, &u);
    assert_int_equal(od_sim_sample(truth, NULL, NULL, &changed), OD_OK);
    assert_int_equal(od_sim_step(truth, 0.005, &u), OD_OK);
    assert_int_equal(od_sim_outputs(truth, &y), OD_OK);
    y += 0.05 * cos(2.5 * k);
    for (int i = 0; i < 2; i++) {
      assert_int_equal(od_observer_predict(i ? b : a, 0.005, &u, NULL, q), OD_OK);
      assert_int_equal(od_observer_correct(i ? b : a, &y), OD_OK);
    }
    for (int i = 0; i < nx; i++) worst = fmax(worst, fabs(od_observer_state(a)[i] - od_observer_state(b)[i]));
    for (int i = 0; i < nx * nx; i++)
      worst = fmax(worst, fabs(od_observer_covariance(a)[i] - od_observer_covariance(b)[i]));
  }
  print_message("sampled blocks: largest difference %.2g\n", worst);
  assert_true(worst < 1e-10);
  od_sim_free(truth);
  od_observer_free(a);
  od_observer_free(b);
  od_plant_free(plant);
  od_machine_free(machine);
}

// A slider-crank that turns: its coordinates change with every turn (the slider comes first), and windows end there. Only the
// slider's position determines the crank's speed; the observer starts with an error of 10 %.
static void follows_a_machine_whose_coordinates_change(void **state) {
  (void)state;
  od_machine *machine = od_test_machine("cases/slider-crank/slider-first.yaml", NULL),
             *slow = od_test_machine("cases/slider-crank/slider-first.yaml", "initial.main.rate=9 rad/s", NULL);
  int outputs[2] = {od_test_output(machine, "guide.position"), od_test_output(machine, "main.rate")};
  od_plant *truth = NULL, *plant = NULL;
  assert_int_equal(od_machine_plant(machine, outputs, 2, NULL, 0, &truth, NULL), OD_OK);
  assert_int_equal(od_machine_plant(slow, outputs, 2, NULL, 0, &plant, NULL), OD_OK);
  od_sim *sim = od_sim_new(truth);
  const double sigma[2] = {1e-3, 1}, P[4] = {1e-4, 0, 0, 1};
  const od_observer_options options = {
      .filter = od_filter_find("relinearising"), .sensor_sigma = sigma, .choice = (const double[]){128, 1, 0}};
  od_observer *o = od_observer_new(plant, &options);
  assert_int_equal(od_plant_nx(plant), 2);
  assert_int_equal(od_sim_start(sim, 0, NULL), OD_OK);
  assert_int_equal(od_observer_start(o, 0, NULL, NULL, P, NULL), OD_OK);
  double y[2], estimated[2], estimated_sigma[2];
  for (int k = 1; k <= 2000; k++) {
    bool changed;
    assert_int_equal(od_sim_repartition(sim, NULL, &changed), OD_OK);
    assert_int_equal(od_sim_step(sim, 1e-3, NULL), OD_OK);
    assert_int_equal(od_sim_outputs(sim, y), OD_OK);
    double rate = y[1];
    y[0] += 1e-3 * sin(5.0 * k);
    y[1] = NAN;
    assert_int_equal(od_observer_predict(o, 1e-3, NULL, NULL, NULL), OD_OK);
    assert_int_equal(od_observer_correct(o, y), OD_OK);
    y[1] = rate;
  }
  assert_int_equal(od_observer_outputs(o, estimated, estimated_sigma), OD_OK);
  long changes = od_sim_count(od_observer_sim(o)).repartitions;
  print_message("%ld changes of coordinates; rate %.5f +- %.5f, true %.5f\n", changes, estimated[1], estimated_sigma[1],
                y[1]);
  assert_true(changes >= 5 && od_observer_settled(o));
  assert_true(fabs(estimated[1] - y[1]) < 3 * estimated_sigma[1] && estimated_sigma[1] < 0.01);
  od_observer_free(o);
  od_sim_free(sim);
  od_plant_free(truth);
  od_plant_free(plant);
  od_machine_free(machine);
  od_machine_free(slow);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(finds_the_best_trajectory),
      cmocka_unit_test(work_is_bounded_and_the_same),
      cmocka_unit_test(says_when_it_has_settled),
      cmocka_unit_test(a_start_that_cannot_be_true_is_widened),
      cmocka_unit_test(a_start_told_in_outputs_is_kept_so),
      cmocka_unit_test(a_start_told_in_outputs_stays_on_its_branch),
      cmocka_unit_test(nothing_new_on_linear_plants),
      cmocka_unit_test(carries_jumps_of_sampled_blocks),
      cmocka_unit_test(follows_a_machine_whose_coordinates_change),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
