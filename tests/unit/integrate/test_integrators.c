// The table of integrators: each entry against closed forms of its rule, its order on a hydraulic machine, its error estimate.
//
// Oracles: the stability functions R(z) of the rules for x' = lambda x, from the literature; CVODES at a tight tolerance,
// which shares neither steps nor error control with them; many short steps for the error of a long one.
#include <complex.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/test.h"
#include "machine/method_names.h"
#include "support/machines.h"

// ---- the table

static void names_are_unique_and_found(void **state) {
  (void)state;
  const od_method_names names = od_method_names_integrators("cvodes");
  int count = 0;
  for (const od_integrator *i; (i = od_integrator_at(count)); count++) {
    assert_ptr_equal(od_integrator_find(i->name), i);
    assert_string_equal(names.name[count], i->name);
    assert_true(i->description[0] && i->order >= 1 && i->step && i->step_with_jacobians && i->local_error);
    for (int k = 0; k < i->inside_count; k++) assert_true(i->inside[k] > 0 && i->inside[k] < 1);
  }
  assert_true(count >= 3 && count <= OD_MOST_METHODS);
  assert_null(od_integrator_at(-1));
  assert_null(od_integrator_find("cvodes"));
  assert_string_equal(names.name[count], "cvodes");
  assert_null(names.name[count + 1]);
  // The first is the default of a simulation.
  od_test_run r = od_test_begin(od_test_machine("cases/crane/machine.yaml", NULL), "heel.angle", NULL);
  assert_string_equal(od_sim_integrator(r.sim)->name, "trapezoid");
  od_test_end(&r);
}

// ---- x' = lambda x, lambda = p0 + i p1, in real numbers

static int mode(void *user, double t, const double *x, const double *u, const double *p, double *dx) {
  (void)user, (void)t, (void)u;
  dx[0] = p[0] * x[0] - p[1] * x[1];
  dx[1] = p[1] * x[0] + p[0] * x[1];
  return 0;
}
static int mode_jacobians(void *user, double t, const double *x, const double *u, const double *p, double *fx,
                          double *fu, double *fp) {
  (void)user, (void)t, (void)u, (void)fu;
  const double J[4] = {p[0], -p[1], p[1], p[0]}, P[4] = {x[0], -x[1], x[1], x[0]};
  if (fx) memcpy(fx, J, sizeof J);
  if (fp) memcpy(fp, P, sizeof P);
  return 0;
}

static double complex amplification_of(const char *name, double complex z) {
  double gamma = 2 - sqrt(2), rest = 1 - gamma;
  if (!strcmp(name, "trapezoid")) return (1 + z / 2) / (1 - z / 2);
  if (!strcmp(name, "tr-bdf2")) {
    double complex first = (1 + gamma * z / 2) / (1 - gamma * z / 2);
    return (first - rest * rest) / (gamma * (2 - gamma)) / (1 - rest / (2 - gamma) * z);
  }
  assert_string_equal(name, "rk4");
  return 1 + z + z * z / 2 + z * z * z / 6 + z * z * z * z / 24;
}

static od_sim *mode_at(double re, double im, od_plant **plant) {
  const double x0[2] = {1, 0}, p[2] = {re, im};
  const od_function f = {.nx = 2, .np = 2, .x0 = x0, .p = p, .f = mode, .f_jacobians = mode_jacobians};
  assert_int_equal(od_plant_from_function(&f, plant, NULL), OD_OK);
  od_sim *sim = od_sim_new(*plant);
  assert_int_equal(od_sim_start(sim, 0, NULL), OD_OK);
  return sim;
}

static void modes_are_multiplied_by_R(void **state) {
  (void)state;
  static const double z[][2] = {{-1e-3, 0}, {-0.5, 0}, {-2, 1}, {0, 0.7}, {0.3, -2}, {-30, 4}, {-2e4, 1e3}, {-1e5, 0}};
  const double h = 1e-3;
  for (int k = 0; od_integrator_at(k); k++)
    for (size_t i = 0; i < sizeof z / sizeof *z; i++) {
      const od_integrator *integrator = od_integrator_at(k);
      od_plant *plant = NULL;
      od_sim *sim = mode_at(z[i][0] / h, z[i][1] / h, &plant);
      double F[4];
      od_sim_set_integrator(sim, integrator);
      assert_int_equal(od_sim_step_with_jacobians(sim, h, NULL, F, NULL, NULL, NULL), OD_OK);
      double complex R = amplification_of(integrator->name, z[i][0] + I * z[i][1]);
      double close = 1e-14 * (100 * (1 + cabs(R)) + hypot(z[i][0], z[i][1]));
      assert_true(fabs(od_sim_state(sim)[0] - creal(R)) < close && fabs(od_sim_state(sim)[1] - cimag(R)) < close);
      assert_true(fabs(F[0] - creal(R)) < close && fabs(F[2] - cimag(R)) < close);
      // Integrators that are declared stable with any step are stable.
      if (integrator->amplification)
        assert_true(fabs(integrator->amplification(z[i][0], z[i][1]) - cabs(R)) < close);
      else if (z[i][0] <= 0)
        assert_true(cabs(R) <= 1 + 1e-12);
      od_sim_free(sim);
      od_plant_free(plant);
    }
}

// A mode of 1e8 1/s and a step of 1 ms.
static void tr_bdf2_damps_where_the_trapezoid_rings(void **state) {
  (void)state;
  od_plant *plant = NULL;
  od_sim *sim = mode_at(-1e8, 0, &plant);
  od_sim_set_integrator(sim, od_integrator_find("tr-bdf2"));
  assert_int_equal(od_sim_step(sim, 1e-3, NULL), OD_OK);
  print_message("a mode of 1e8 1/s after a step of 1 ms: %.2g\n", od_sim_state(sim)[0]);
  assert_true(fabs(od_sim_state(sim)[0]) < 1e-4);
  od_sim_set_integrator(sim, od_integrator_find("trapezoid"));
  assert_int_equal(od_sim_start(sim, 0, NULL), OD_OK);
  for (int i = 0; i < 100; i++) assert_int_equal(od_sim_step(sim, 1e-3, NULL), OD_OK);
  assert_true(fabs(od_sim_state(sim)[0]) > 0.99);
  od_sim_free(sim);
  od_plant_free(plant);
}

// ---- the order

// The largest difference of the recorded outputs from CVODES, each relative to its range.
static double distance(const od_machine *machine, const char *integrator, double h, double time) {
  static const char *const names[] = {"cylinder.length", "cylinder.rate", "P.pressure", "A.pressure", "B.pressure"};
  int outputs[5];
  for (int i = 0; i < 5; i++) outputs[i] = od_test_output(machine, names[i]);
  od_run_options options = {
      .time = time, .step = h, .integrator = integrator, .outputs = outputs, .output_count = 5, .unjudged = true};
  od_table *got = NULL, *want = NULL;
  assert_int_equal(od_run(machine, &options, &got, NULL, NULL), OD_OK);
  options.integrator = "cvodes";
  options.tolerance = 1e-12;
  assert_int_equal(od_run(machine, &options, &want, NULL, NULL), OD_OK);
  double worst = 0;
  for (int k = 1; k <= 5; k++) {
    od_summary s = od_table_summary(want, k);
    for (long i = 0; i < want->rows; i++)
      worst = fmax(worst, fabs(got->data[i * 6 + k] - want->data[i * 6 + k]) / (s.max - s.min));
  }
  od_table_free(got);
  od_table_free(want);
  return worst;
}

static void orders_on_the_fourbar_valve(void **state) {
  (void)state;
  od_machine *machine = od_test_machine("cases/fourbar-valve/machine.yaml", NULL);
  for (int k = 0; od_integrator_at(k); k++) {
    const od_integrator *integrator = od_integrator_at(k);
    const double h = 1e-3;
    double coarse = distance(machine, integrator->name, h, 0.5), fine = distance(machine, integrator->name, h / 2, 0.5);
    double order = log2(coarse / fine);
    print_message("%s: %.3g and %.3g of the range from CVODES, order %.2f\n", integrator->name, coarse, fine, order);
    assert_true(order > integrator->order - 0.3 && (integrator->order > 2 || order < 2.3));
  }
  od_machine_free(machine);
}

// ---- the error estimate

// For a step at a state in motion: against many steps of Runge-Kutta's rule from the same point, with the form that observers
// use, G = constant + transition F.
static void estimates_of_single_steps(void **state) {
  (void)state;
  od_test_run r = od_test_begin(od_test_machine("cases/fourbar-valve/machine.yaml", NULL), "cylinder.length", NULL);
  size_t size = od_sim_size(r.plant);
  int nx = od_plant_nx(r.plant);
  double u[1], before[64], after[64], x[64], F[64 * 64];
  for (int i = 1; i <= 300; i++) {
    od_machine_inputs(r.machine, i * 1e-3, u);
    assert_int_equal(od_sim_step(r.sim, 1e-3, u), OD_OK);
  }
  for (int k = 0; od_integrator_at(k); k++) {
    const od_integrator *integrator = od_integrator_at(k);
    od_sim *exact = malloc(size), *sim = malloc(size);
    const double h = 1e-3;
    double from = u[0], to = from + 1;
    enum { PARTS = 200 };
    memcpy(sim, r.sim, size);
    od_sim_set_integrator(sim, integrator);
    // Earlier steps, for integrators that need them.
    for (int i = 0; i < 3; i++) assert_int_equal(od_sim_step_with_jacobians(sim, h, &from, F, NULL, NULL, NULL), OD_OK);
    memcpy(exact, sim, size);
    od_sim_set_integrator(exact, od_integrator_find("rk4"));
    if (integrator->estimate_order == 0) to = from;
    for (int i = 1; i <= PARTS; i++) {
      double along = from + (to - from) * i / PARTS;
      assert_int_equal(od_sim_step(exact, h / PARTS, &along), OD_OK);
    }
    assert_int_equal(od_sim_step_with_jacobians(sim, h, &to, F, NULL, NULL, NULL), OD_OK);
    od_sim_local_error(sim, before, after);
    memcpy(x, od_sim_state(sim), (size_t)nx * sizeof *x);
    for (int i = 2 * r.plant->nz; i < 2 * r.plant->nz + 3; i++) {  // the pressures
      double estimated = after[i] + integrator->error_form.constant * before[i], error = x[i] - od_sim_state(exact)[i];
      for (int j = 0; j < nx; j++) estimated += integrator->error_form.transition * F[i * nx + j] * before[j];
      print_message("%s, pressure %d: error %.3g Pa, estimated %.3g Pa\n", integrator->name, i, error, estimated);
      // The estimate of Runge-Kutta's rule gives only the order of magnitude: it assumes constant inputs.
      bool only_size = integrator->order > 2;
      double ratio = only_size ? fabs(estimated / error) : estimated / error, factor = only_size ? 10 : 1.3;
      if (fabs(error) > 1e-3) assert_true(ratio > 1 / factor && ratio < factor);
    }
    // A second call gives the same, and the call does not change the simulation.
    double again[64];
    od_sim_local_error(sim, before, again);
    assert_memory_equal(after, again, (size_t)nx * sizeof *after);
    assert_memory_equal(x, od_sim_state(sim), (size_t)nx * sizeof *x);
    free(exact);
    free(sim);
  }
  od_test_end(&r);
}

// A mode far too fast for the steps has an estimate of about its own size, not of its rates times the step.
static void estimates_of_fast_modes_are_bounded(void **state) {
  (void)state;
  for (double rate = 1e2; rate < 1e10; rate *= 10) {
    od_plant *plant = NULL;
    od_sim *sim = mode_at(-rate, 0, &plant);
    double before[2], after[2];
    od_sim_set_integrator(sim, od_integrator_find("tr-bdf2"));
    assert_int_equal(od_sim_step(sim, 1e-3, NULL), OD_OK);
    od_sim_local_error(sim, before, after);
    double error = od_sim_state(sim)[0] - exp(-rate * 1e-3);
    print_message("a mode of %.0e 1/s: error %.2g, estimated %.2g\n", rate, error, after[0]);
    assert_true(fabs(after[0]) < 2);
    if (rate < 2e2) assert_true(after[0] / error > 0.5 && after[0] / error < 2);
    od_sim_free(sim);
    od_plant_free(plant);
  }
}

// x with (1 + factor J) x = b, 2 x 2.
static void solve(const double J[4], double factor, const double b[2], double x[2]) {
  const double M[4] = {1 + factor * J[0], factor * J[1], factor * J[2], 1 + factor * J[3]};
  double det = M[0] * M[3] - M[1] * M[2];
  x[0] = (b[0] * M[3] - b[1] * M[1]) / det;
  x[1] = (b[1] * M[0] - b[0] * M[2]) / det;
}
static void multiply(const double J[4], const double x[2], double y[2]) {
  y[0] = J[0] * x[0] + J[1] * x[1];
  y[1] = J[2] * x[0] + J[3] * x[1];
}

// Positions and rates of a mass on a spring, slow and fast compared with the step: the estimate of TR-BDF2 by its formula
// in full matrices, x' = J x.
static void estimates_of_positions(void **state) {
  (void)state;
  static const double stiffness[] = {50, 5e5, 5e9}, damping[] = {1, 40, 3000};
  const double m = 2, h = 1e-3, gamma = 2 - sqrt(2), d = gamma / 2, b = sqrt(2) / 4;
  for (int i = 0; i < 3; i++) {
    char text[500];
    snprintf(
        text, sizeof text,
        "bodies: {mass: {point: {mass: %g kg}}}\n"
        "joints: {rail: {type: prismatic, between: [ground, mass], axis: [1, 0, 0], stiffness: %g N/m, damping: %g N s/m}}\n"
        "initial: {rail.position: 0.1 m, rail.rate: 0.3 m/s}\n",
        m, stiffness[i], damping[i]);
    od_test_run r = od_test_begin(od_test_machine_text(text), "rail.position", NULL);
    const double J[4] = {0, 1, -stiffness[i] / m, -damping[i] / m}, x0[2] = {0.1, 0.3};
    double f[2], right[2], x2[2], x1[2], f0[2], f2[2], f1[2], want[2], before[2], got[2];
    multiply(J, x0, f0);
    for (int k = 0; k < 2; k++) right[k] = x0[k] + d * h * f0[k];
    solve(J, -d * h, right, x2);
    multiply(J, x2, f2);
    for (int k = 0; k < 2; k++) right[k] = (x2[k] - pow(1 - gamma, 2) * x0[k]) / (gamma * (2 - gamma));
    solve(J, -(1 - gamma) / (2 - gamma) * h, right, x1);
    multiply(J, x1, f1);
    for (int k = 0; k < 2; k++) f[k] = -h * ((1 - 4 * b) / 3 * f0[k] + f2[k] / 3 - 2 * d / 3 * f1[k]);
    solve(J, -d * h, f, want);
    od_sim_set_integrator(r.sim, od_integrator_find("tr-bdf2"));
    assert_int_equal(od_sim_step(r.sim, h, NULL), OD_OK);
    od_sim_local_error(r.sim, before, got);
    for (int k = 0; k < 2; k++) {
      assert_true(fabs(od_sim_state(r.sim)[k] - x1[k]) < 1e-9 * (fabs(x1[k]) + fabs(x0[k])));
      assert_true(before[k] == 0 && fabs(got[k] - want[k]) < 1e-6 * fabs(want[k]));
    }
    od_test_end(&r);
  }
}

// The trapezoidal rule on an undamped mass on a spring, w h = 0.01: a step against the rotation of the exact motion from the same point. The first
// step has no earlier rates; later ones have, from steps of another length.
static void estimates_of_the_trapezoid(void **state) {
  (void)state;
  const char *text =
      "gravity: [0, 0, 0]\nbodies: {mass: {point: {mass: 2 kg}}}\n"
      "joints: {rail: {type: prismatic, between: [ground, mass], axis: [1, 0, 0], stiffness: 50 N/m}}\n"
      "initial: {rail.position: 0.1 m, rail.rate: 0.3 m/s}\n";
  static const double steps[] = {2e-3, 2e-3, 2.6e-3, 1.7e-3, 1.7e-3};
  const double w = 5;
  od_test_run r = od_test_begin(od_test_machine_text(text), "rail.position", NULL);
  for (size_t n = 0; n < sizeof steps / sizeof *steps; n++) {
    double h = steps[n], x = od_sim_state(r.sim)[0], v = od_sim_state(r.sim)[1], F[4], before[2], after[2];
    const double exact[2] = {x * cos(w * h) + v / w * sin(w * h), v * cos(w * h) - x * w * sin(w * h)};
    assert_int_equal(od_sim_step_with_jacobians(r.sim, h, NULL, F, NULL, NULL, NULL), OD_OK);
    od_sim_local_error(r.sim, before, after);
    for (int i = 0; i < 2; i++) {
      double error = od_sim_state(r.sim)[i] - exact[i];
      double estimate = after[i] + (before[i] + F[2 * i] * before[0] + F[2 * i + 1] * before[1]) / 2;
      print_message("step %zu, state %d: error %.4g, estimated %.4g\n", n, i, error, estimate);
      near_relative(estimate, error, 0.01);
    }
  }
  od_test_end(&r);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(names_are_unique_and_found),
                                     cmocka_unit_test(modes_are_multiplied_by_R),
                                     cmocka_unit_test(tr_bdf2_damps_where_the_trapezoid_rings),
                                     cmocka_unit_test(orders_on_the_fourbar_valve),
                                     cmocka_unit_test(estimates_of_single_steps),
                                     cmocka_unit_test(estimates_of_positions),
                                     cmocka_unit_test(estimates_of_the_trapezoid),
                                     cmocka_unit_test(estimates_of_fast_modes_are_bounded)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
