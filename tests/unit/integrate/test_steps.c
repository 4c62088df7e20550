// Steps for real-time code: no allocation, the same bits from a copied block, statuses instead of crashes; function
// plants; the solution of the iteration. Oracles: counted allocations, bit comparison, closed forms, the equation of
// the rule.
#include <complex.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "support/test.h"

#include "filters/filter_types.h"
#include "support/allocations.h"
#include "support/machines.h"
#include "support/skipping.h"

static void steps_allocate_nothing(void **state) {
  (void)state;
#if COUNTING
  static const char *const files[] = {"cases/fourbar-observer/spring.yaml",
                                      "cases/slider-crank/slider-first.yaml",
                                      "cases/crane/machine.yaml",
                                      "cases/bricard/machine.yaml",
                                      "cases/rssr/coupler.yaml",
                                      "cases/fin-servo/machine.yaml",
                                      "tests/cases/machines/sampled.yaml"};
  size_t file_count = sizeof files / sizeof *files;
  for (size_t job = 0; od_integrator_at((int)(job / file_count)); job++) {
    const size_t f = job % file_count;
    const od_integrator *integrator = od_integrator_at((int)(job / file_count));
    od_machine *machine = od_test_machine(files[f], NULL);
    int outputs[400], all = od_machine_output_count(machine), count = all < 400 ? all : 400;
    for (int i = 0; i < count; i++) outputs[i] = i;
    int parameter[2] = {od_machine_number_find(machine, "gravity[1]"), od_machine_number_find(machine, "gravity[0]")};
    od_plant *plant = NULL;
    assert_int_equal(od_machine_plant(machine, outputs, count, parameter, 2, &plant, NULL), OD_OK);
    od_sim *sim = od_sim_new(plant);
    int nx = od_plant_nx(plant);
    double u[16] = {0}, y[400], F[64 * 64], Gu[2][64 * 16], Gp[64 * 2], map[64 * 64], before_error[64], after_error[64],
           *h = malloc((size_t)(400 * 64) * sizeof *h);
    assert_true(nx <= 64);
    long before = allocations;
    od_sim_set_integrator(sim, integrator);
    bool changed;
    int failures = od_sim_start(sim, 0, u) != OD_OK;
    for (int i = 1; i <= 200; i++) {
      if (plant->nu) od_machine_inputs(machine, i * 1e-3, u);
      failures += od_sim_repartition(sim, map, &changed) != OD_OK;
      failures +=
          (i % 2 ? od_sim_step(sim, 1e-3, u) : od_sim_step_with_jacobians(sim, 1e-3, u, F, Gu[0], Gu[1], Gp)) != OD_OK;
      od_sim_local_error(sim, before_error, after_error);
      failures += od_sim_sample(sim, map, Gp, &changed) != OD_OK;
      failures += od_sim_outputs(sim, y) != OD_OK;
      failures += od_sim_output_jacobians(sim, h, NULL, NULL) != OD_OK;
    }
    long counted = allocations - before;
    free(h);
    od_sim_free(sim);
    od_plant_free(plant);
    od_machine_free(machine);
    if (counted || failures)
      print_error("%s, %s: %ld allocations, %d failures\n", integrator->name, files[f], counted, failures);
    assert_int_equal(failures, 0);
    assert_int_equal(counted, 0);
  }
  // The counter counts.
  long before = allocations;
  void *volatile piece = malloc(10);
  free(piece);
  assert_int_equal(allocations, before + 1);
#else
  skip_test("not possible: the sanitizer has its own allocator");
#endif
}

// Prediction, correction and outputs of an observer on the hydraulic four-bar: every filter in both forms.
static void observers_allocate_nothing(void **state) {
  (void)state;
#if COUNTING
  od_machine *machine = od_test_machine("cases/fourbar-valve/machine.yaml", NULL);
  int outputs[2] = {od_test_output(machine, "cylinder.length"), od_test_output(machine, "P.pressure")};
  int parameters[2] = {od_machine_number_find(machine, "oil.kp"), od_machine_number_find(machine, "crank.beam.mass")};
  od_plant *plant = NULL;
  assert_int_equal(od_machine_plant(machine, outputs, 2, parameters, 2, &plant, NULL), OD_OK);
  const double sigma[2] = {1e-3, 1e5}, scale[8] = {0.1, 0.1, 1e5, 1e5, 1e5, 0.1, 1e7, 1};
  for (int job = 0; od_filter_type_at(job / 2); job++) {
    od_observer_options options = {.filter = od_filter_type_at(job / 2),
                                   .integrator = od_integrator_at(job % 3),
                                   .form = (od_covariance_form)(job % 2),
                                   .sensor_sigma = sigma,
                                   .gate = 1e-9,  // with all options of a guard
                                   .patience = 3};
    if (od_observer_check(&options, NULL) != OD_OK)
      options.integrator = od_integrator_at(0);  // not every filter supports every option
    assert_int_equal(od_observer_check(&options, NULL), OD_OK);
    od_observer *o = od_observer_new(plant, &options);
    double P[64] = {0}, q[8], y[2] = {1.74, 7.5e6}, u[1], out[2], out_sigma[2];
    for (int i = 0; i < 8; i++) P[9 * i] = scale[i] * scale[i], q[i] = 1e-6 * P[9 * i];
    od_machine_inputs(machine, 0, u);
    long before = allocations;
    int failures = od_observer_start(o, 0, NULL, NULL, P, u) != OD_OK;
    for (int i = 1; i <= 200; i++) {
      od_machine_inputs(machine, i * 1e-3, u);
      failures += od_observer_predict(o, 1e-3, u, NULL, q) != OD_OK;
      failures += od_observer_correct(o, y) != OD_OK;
      failures += od_observer_outputs(o, out, out_sigma) != OD_OK;
    }
    long counted = allocations - before;
    od_observer_free(o);
    assert_int_equal(failures, 0);
    assert_int_equal(counted, 0);
  }
  od_plant_free(plant);
  od_machine_free(machine);
#else
  skip_test("not possible: the sanitizer has its own allocator");
#endif
}

static void check_copy(const od_integrator *integrator) {
  od_test_run r = od_test_begin(od_test_machine("cases/slider-crank/slider-first.yaml", NULL), "main.angle", NULL);
  size_t size = od_sim_size(r.plant);
  void *copy = malloc(size);
  double a, b;
  bool changed;
  od_sim_set_integrator(r.sim, integrator);
  for (int i = 0; i < 2000; i++) {
    if (i == 700) memcpy(copy, r.sim, size);
    od_sim_repartition(r.sim, NULL, &changed);
    assert_int_equal(od_sim_step(r.sim, 1e-3, NULL), OD_OK);
  }
  od_sim_outputs(r.sim, &a);
  od_sim *other = copy;
  for (int i = 700; i < 2000; i++) {
    od_sim_repartition(other, NULL, &changed);
    assert_int_equal(od_sim_step(other, 1e-3, NULL), OD_OK);
  }
  od_sim_outputs(other, &b);
  assert_memory_equal(&a, &b, sizeof a);
  free(copy);
  od_test_end(&r);
}

static void a_copied_block_goes_on_alike(void **state) {
  (void)state;
  for (int i = 0; od_integrator_at(i); i++) check_copy(od_integrator_at(i));
}

static void check_nonsense(const od_integrator *integrator) {
  od_test_run r = od_test_begin(od_test_machine("cases/crane/machine.yaml", NULL), "heel.angle", NULL);
  double u[2] = {0, 0}, bad[2] = {NAN, 0}, x[4], y;
  od_sim_set_integrator(r.sim, integrator);
  assert_int_equal(od_sim_step(r.sim, 1e-3, u), OD_OK);
  memcpy(x, od_sim_state(r.sim), sizeof x);
  assert_int_not_equal(od_sim_step(r.sim, 1e-3, bad), OD_OK);
  assert_int_not_equal(od_sim_step(r.sim, -1, u), OD_OK);
  assert_int_not_equal(od_sim_step(r.sim, NAN, u), OD_OK);
  assert_memory_equal(x, od_sim_state(r.sim), sizeof x);
  assert_int_equal(od_sim_set(r.sim, 0, x, u), OD_OK);
  assert_int_equal(od_sim_step(r.sim, 1e-3, u), OD_OK);
  assert_int_equal(od_sim_outputs(r.sim, &y), OD_OK);
  assert_true(isfinite(y));
  od_test_end(&r);
}

// Invalid arguments give a status, and the simulation continues unchanged.
static void nonsense_is_a_status(void **state) {
  (void)state;
  for (int i = 0; od_integrator_at(i); i++) check_nonsense(od_integrator_at(i));
}

// A damped oscillator driven by a constant force, x'' + 2 d w x' + w^2 x = p u, as a function plant.
static int oscillator(void *user, double t, const double *x, const double *u, const double *p, double *dx) {
  (void)user, (void)t;
  dx[0] = x[1];
  dx[1] = p[0] * u[0] - 0.4 * x[1] - 4 * x[0];
  return 0;
}
static int oscillator_complex(void *user, double t, const double *x, const double *u, const double *p, double *dx) {
  (void)user, (void)t;
  const double complex *X = (const double complex *)x, *U = (const double complex *)u, *P = (const double complex *)p;
  double complex *D = (double complex *)dx;
  D[0] = X[1];
  D[1] = P[0] * U[0] - 0.4 * X[1] - 4 * X[0];
  return 0;
}

static void function_plant(void **state) {
  (void)state;
  const double x0[2] = {1, 0}, p[1] = {2}, u[1] = {0.5};
  od_function f = {.nx = 2, .nu = 1, .np = 1, .x0 = x0, .p = p, .f = oscillator, .f_complex = oscillator_complex};
  od_plant *plant = NULL;
  assert_int_equal(od_plant_from_function(&f, &plant, NULL), OD_OK);
  od_sim *sim = od_sim_new(plant);
  double F[4], Gp[2], sensitivity[2] = {0}, y[2];
  assert_int_equal(od_sim_start(sim, 0, u), OD_OK);
  for (int i = 0; i < 10000; i++) {
    assert_int_equal(od_sim_step_with_jacobians(sim, 1e-4, u, F, NULL, NULL, Gp), OD_OK);
    double next[2] = {F[0] * sensitivity[0] + F[1] * sensitivity[1] + Gp[0],
                      F[2] * sensitivity[0] + F[3] * sensitivity[1] + Gp[1]};
    memcpy(sensitivity, next, sizeof next);
  }
  assert_int_equal(od_sim_outputs(sim, y), OD_OK);
  // Closed form: about the equilibrium p u / 4, with damping 0.2 and frequency sqrt(4 - 0.04).
  double w = sqrt(4 - 0.04), decay = exp(-0.2), c = cos(w), s = sin(w), rest = 2 * 0.5 / 4;
  double shape = decay * (c + 0.2 / w * s);
  assert_true(fabs(y[0] - (rest + (1 - rest) * shape)) < 1e-8);
  assert_true(fabs(sensitivity[0] - 0.5 / 4 * (1 - shape)) < 1e-8);
  od_sim_free(sim);
  od_plant_free(plant);
  // Missing functions are reported.
  od_error err = {0};
  f.f_complex = NULL;
  assert_int_equal(od_plant_from_function(&f, &plant, &err), OD_BAD_ARGUMENT);
  assert_non_null(strstr(err.text, "f_complex"));
}

// Steps below the resolution of the time are rejected by every integrator, with the state unchanged.
static void time_must_advance(void **state) {
  (void)state;
  const double x0[2] = {1, 0}, p[1] = {2}, u[1] = {0.5}, late = 1e9, h = 1e-8;
  const od_function f = {.nx = 2, .nu = 1, .np = 1, .x0 = x0, .p = p, .f = oscillator, .f_complex = oscillator_complex};
  od_plant *plant = NULL;
  double F[4];
  assert_int_equal(od_plant_from_function(&f, &plant, NULL), OD_OK);
  od_sim *sim = od_sim_new(plant);
  for (int i = 0; od_integrator_at(i); i++) {
    od_sim_set_integrator(sim, od_integrator_at(i));
    assert_int_equal(od_sim_start(sim, late, u), OD_OK);
    assert_int_equal(od_sim_step(sim, h, u), OD_TIME_STANDS);
    assert_int_equal(od_sim_step_with_jacobians(sim, h, u, F, NULL, NULL, NULL), OD_TIME_STANDS);
    assert_true(od_sim_time(sim) == late && od_sim_state(sim)[0] == 1);
    assert_int_equal(od_sim_step(sim, 1e-3, u), OD_OK);
    assert_true(od_sim_time(sim) > late);
  }
  od_sim_free(sim);
  od_plant_free(plant);
}

// x' = u - sqrt(p x), undefined for a negative x and for a negative p.
static int root(void *user, double t, const double *x, const double *u, const double *p, double *dx) {
  (void)user, (void)t;
  dx[0] = u[0] - sqrt(p[0]) * sqrt(x[0]);
  return !isfinite(dx[0]);
}
static int root_complex(void *user, double t, const double *x, const double *u, const double *p, double *dx) {
  (void)user, (void)t;
  const double complex *X = (const double complex *)x, *U = (const double complex *)u, *P = (const double complex *)p;
  *(double complex *)dx = U[0] - csqrt(P[0]) * csqrt(X[0]);
  return 0;
}

// A state, an input or a parameter that cannot be set leaves the simulation unchanged, including its next steps. Oracle:
// a simulation without the attempt.
static void what_cannot_be_set_changes_nothing(void **state) {
  (void)state;
  const double x0 = 1, p0 = 2, u0 = 0.5, bad = -1, none = NAN, other = 0.7;
  const od_function f = {.nx = 1, .nu = 1, .np = 1, .x0 = &x0, .p = &p0, .f = root, .f_complex = root_complex};
  od_plant *plant = NULL;
  assert_int_equal(od_plant_from_function(&f, &plant, NULL), OD_OK);
  od_sim *asked = od_sim_new(plant), *left = od_sim_new(plant);
  for (int job = 0; od_integrator_at(job / 5); job++) {
    const int k = job % 5;
    od_sim_set_integrator(asked, od_integrator_at(job / 5));
    od_sim_set_integrator(left, od_integrator_at(job / 5));
    assert_int_equal(od_sim_start(asked, 0, &u0), OD_OK);
    assert_int_equal(od_sim_start(left, 0, &u0), OD_OK);
    for (int i = 0; i < 3; i++) {
      assert_int_equal(od_sim_step(asked, 0.01, &u0), OD_OK);
      assert_int_equal(od_sim_step(left, 0.01, &u0), OD_OK);
    }
    od_status status = k == 0   ? od_sim_set(asked, 7, &bad, &other)
                       : k == 1 ? od_sim_set_with_parameters(asked, 7, &other, &other, &bad)
                       : k == 2 ? od_sim_set_with_parameters(asked, 7, &other, &other, &none)
                       : k == 3 ? od_sim_set_parameters(asked, &bad)
                                : od_sim_set_inputs(asked, &none);
    double p;
    od_sim_parameters(asked, &p);
    assert_int_not_equal(status, OD_OK);
    assert_true(p == p0 && od_sim_time(asked) == od_sim_time(left));
    assert_true(od_sim_state(asked)[0] == od_sim_state(left)[0] && od_sim_inputs(asked)[0] == u0);
    assert_true(od_sim_rates(asked)[0] == od_sim_rates(left)[0]);
    assert_int_equal(od_sim_step(asked, 0.01, &u0), OD_OK);
    assert_int_equal(od_sim_step(left, 0.01, &u0), OD_OK);
    assert_true(od_sim_state(asked)[0] == od_sim_state(left)[0]);
  }
  od_sim_free(asked);
  od_sim_free(left);
  od_plant_free(plant);
}

// The oscillator, whose evaluations fail after a number of calls.
static int breaking(void *user, double t, const double *x, const double *u, const double *p, double *dx) {
  long *left = user;
  return (*left)-- <= 0 ? 1 : oscillator(NULL, t, x, u, p, dx);
}
static int breaking_complex(void *user, double t, const double *x, const double *u, const double *p, double *dx) {
  long *left = user;
  return (*left)-- <= 0 ? 1 : oscillator_complex(NULL, t, x, u, p, dx);
}

// A step that fails at its n-th evaluation, for every n, changes nothing: the next step has the same result. Oracle: a
// simulation that did not fail.
static void failed_steps_change_nothing(void **state) {
  (void)state;
  long left = 1000;
  double x0[2] = {1, 0}, p[1] = {2}, u[1] = {0.5}, u1[1] = {-3}, F[4], G[2];
  const od_function f = {
      .nx = 2, .nu = 1, .np = 1, .x0 = x0, .p = p, .user = &left, .f = breaking, .f_complex = breaking_complex};
  od_plant *plant = NULL;
  assert_int_equal(od_plant_from_function(&f, &plant, NULL), OD_OK);
  od_sim *sim = od_sim_new(plant), *other = od_sim_new(plant);
  for (int job = 0; od_integrator_at(job / 2); job++) {
    int failures = 0;
    for (long calls = 0;; calls++) {
      left = 1000;
      od_sim_set_integrator(sim, od_integrator_at(job / 2));
      assert_int_equal(od_sim_start(sim, 0, u), OD_OK);
      for (int i = 0; i < 3; i++) assert_int_equal(od_sim_step(sim, 0.1, u), OD_OK);
      memcpy(other, sim, od_sim_size(plant));
      left = calls;
      od_status status =
          job % 2 ? od_sim_step_with_jacobians(sim, 0.1, u1, F, NULL, NULL, G) : od_sim_step(sim, 0.1, u1);
      left = 1000;
      if (status == OD_OK) break;
      failures++;
      assert_true(od_sim_time(sim) == od_sim_time(other) && od_sim_inputs(sim)[0] == u[0]);
      assert_memory_equal(od_sim_state(sim), od_sim_state(other), sizeof x0);
      assert_memory_equal(od_sim_rates(sim), od_sim_rates(other), sizeof x0);
      assert_int_equal(od_sim_step(sim, 0.1, u1), OD_OK);
      assert_int_equal(od_sim_step(other, 0.1, u1), OD_OK);
      for (int i = 0; i < 2; i++) assert_true(fabs(od_sim_state(sim)[i] - od_sim_state(other)[i]) < 1e-12);
    }
    assert_true(failures >= 2);
  }
  od_sim_free(sim);
  od_sim_free(other);
  od_plant_free(plant);
}

// x' = p x/(1 + x^2)
static int humped(void *user, double t, const double *x, const double *u, const double *p, double *dx) {
  (void)user, (void)t, (void)u;
  dx[0] = p[0] * x[0] / (1 + x[0] * x[0]);
  return 0;
}
static int humped_slopes(void *user, double t, const double *x, const double *u, const double *p, double *fx,
                         double *fu, double *fp) {
  (void)user, (void)t, (void)u, (void)fu;
  double square = 1 + x[0] * x[0];
  if (fx) fx[0] = p[0] * (2 - square) / (square * square);
  if (fp) fp[0] = x[0] / square;
  return 0;
}

// A trapezoidal step whose first matrix, 1 - h/2 df/dx at the start of the iteration, is nearly zero: its first corrections are very
// large. They must not be accepted as the solution. The oracle is the equation of the rule, which an accepted solution satisfies.
static void lost_iterations_are_no_solution(void **state) {
  (void)state;
  for (double nearly = 1e-6; nearly > 1e-14; nearly /= 10) {
    const double h = 1;
    double x0 = 0.01, low = 1, high = 1.1, u[1] = {0};
    for (int i = 0; i < 100; i++) {  // p h/2 by bisection
      double q = (low + high) / 2, begin = x0 + 2 * q * x0 / (1 + x0 * x0), slope;
      humped_slopes(NULL, 0, &begin, u, &q, &slope, NULL, NULL);
      if (slope < 1 - nearly)
        low = q;
      else
        high = q;
    }
    double p = 2 * low / h, before, after;
    const od_function f = {.nx = 1, .np = 1, .x0 = &x0, .p = &p, .f = humped, .f_jacobians = humped_slopes};
    od_plant *plant = NULL;
    assert_int_equal(od_plant_from_function(&f, &plant, NULL), OD_OK);
    od_sim *sim = od_sim_new(plant);
    od_sim_set_integrator(sim, od_integrator_find("trapezoid"));
    assert_int_equal(od_sim_start(sim, 0, u), OD_OK);
    if (od_sim_step(sim, h, u) == OD_OK) {
      double x1 = od_sim_state(sim)[0];
      humped(NULL, 0, &x0, u, &p, &before), humped(NULL, 0, &x1, u, &p, &after);
      if (!(fabs(x1 - x0 - h / 2 * (before + after)) < 1e-9)) fail_msg("%g: %.17g is no solution", nearly, x1);
    }
    od_sim_free(sim);
    od_plant_free(plant);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(steps_allocate_nothing),
                                     cmocka_unit_test(observers_allocate_nothing),
                                     cmocka_unit_test(a_copied_block_goes_on_alike),
                                     cmocka_unit_test(nonsense_is_a_status),
                                     cmocka_unit_test(function_plant),
                                     cmocka_unit_test(lost_iterations_are_no_solution),
                                     cmocka_unit_test(what_cannot_be_set_changes_nothing),
                                     cmocka_unit_test(failed_steps_change_nothing),
                                     cmocka_unit_test(time_must_advance)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
