// PID controllers with limits: P, PI, PD, PID and I, in and out of saturation, with the default tracking time. Oracles:
// closed forms of the saturated equations; for sampled controllers their recursions by hand.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "support/test.h"
#include "machine/machine.h"
#include "support/machines.h"

static void check(const char *what, double got, double want, double bound) {
  if (!(fabs(got - want) <= bound)) print_error("%s: %.12g, not %.12g\n", what, got, want);
  assert_true(fabs(got - want) <= bound);
}

// A controller alone, with its error as a signal, after a time.
static void run_controller(const char *error, const char *keys, double time, double y[2]) {
  static const char *const names[] = {"c", "c.integral"};
  char text[512];
  snprintf(text, sizeof text, "inputs: {e: %s}\nblocks: {c: {type: pid, input: e, %s}}\n", error, keys);
  od_machine *machine = od_test_machine_text(text);
  od_test_run_to(machine, "cvodes", time, 1e-3, names, 2, y);
  od_machine_free(machine);
}

// ---- P and PD: the integral is zero

// Around an integrating plant, kp 20, limits +-10, a unit step: y = 10 t until the error is 0.5, then it decays with
// exp(-20 t).
static void saturated_p_loop(void **state) {
  (void)state;
  static const char *const names[] = {"plant", "control", "control.integral"};
  static const char *const forms[] = {"", ", tracking: 10 ms", ", ki: 0, tracking: 10 ms"};
  static const double times[] = {0.02, 0.05, 0.1, 0.5, 2};
  for (size_t f = 0; f < sizeof forms / sizeof forms[0]; f++) {
    char text[512];
    snprintf(text, sizeof text,
             "inputs: {target: 1}\n"
             "blocks:\n"
             "  error: {type: sum, inputs: [target, plant], weights: [1, -1]}\n"
             "  control: {type: pid, input: error, kp: 20, limits: [-10, 10]%s}\n"
             "  plant: {type: integrator, input: control, unit: 1, gain: 1}\n",
             forms[f]);
    od_machine *machine = od_test_machine_text(text);
    for (size_t i = 0; i < sizeof times / sizeof times[0]; i++) {
      double y[3], t = times[i], e = t <= 0.05 ? 1 - 10 * t : 0.5 * exp(-20 * (t - 0.05));
      od_test_run_to(machine, "cvodes", t, 1e-3, names, 3, y);
      check("plant", y[0], 1 - e, 1e-7);
      check("control", y[1], fmin(20 * e, 10), 1e-6);
      assert_true(y[2] == 0);
    }
    od_machine_free(machine);
  }
}

// An initial integral of a controller without ki is a constant bias, also through saturation.
static void bias_of_a_p_controller(void **state) {
  (void)state;
  static const char *const names[] = {"c", "c.integral"};
  od_machine *machine = od_test_machine_text(
      "inputs: {e: {steps: {initial: 1, at: [[0.5 s, 0.1]]}}}\n"
      "blocks: {c: {type: pid, input: e, kp: 2, limits: [-1, 1]}}\ninitial: {c.integral: 0.3}\n");
  double y[2];
  od_test_run_to(machine, "cvodes", 1, 1e-3, names, 2, y);
  check("output", y[0], 0.5, 1e-12);
  check("bias", y[1], 0.3, 1e-12);
  od_machine_free(machine);
}

// kp e + kd e/Tf exp(-t/Tf) for a constant error, cut off at the limit.
static void saturated_pd(void **state) {
  (void)state;
  for (double t = 0.01; t < 0.3; t += 0.02) {
    double y[2];
    run_controller("0.5", "kp: 2, kd: 0.4, filter: 50 ms, limits: [-3, 3]", t, y);
    check("PD", y[0], fmin(2 * 0.5 + 0.4 * 0.5 / 0.05 * exp(-t / 0.05), 3), 1e-7);
    assert_true(y[1] == 0);
  }
}

// ---- PI and PID: Tt follows the gains

// e = 1, kp = 2, ki = 4: Tt = Ti = 0.5 s. Free, v = 2 + 4 t; from 0.25 s on v' = 4 - (v - 3)/Tt; at 1.25 s the error
// changes to -0.5, v jumps by -3 and the integral falls by 2 per second.
static void saturated_pi(void **state) {
  (void)state;
  static const char error[] = "{steps: {initial: 1, at: [[1.25 s, -0.5]]}}";
  double y[2], end = 3 + 2 * (1 - exp(-2 * 1.0));
  // Both gains and the limits with reversed signs: the mirror image. A reversed ki alone has the same |Ti|.
  run_controller(error, "kp: 2, ki: 4, limits: [-3, 3]", 0.2, y);
  check("free", y[0], 2.8, 1e-8);
  run_controller(error, "kp: 2, ki: 4, limits: [-3, 3]", 0.75, y);
  check("at the limit", y[0], 3, 0);
  check("integral", y[1], 1 + 2 * (1 - exp(-2 * 0.5)), 1e-7);
  run_controller(error, "kp: -2, ki: -4, limits: [-3, 3]", 0.75, y);
  check("reversed", y[1], -1 - 2 * (1 - exp(-2 * 0.5)), 1e-7);
  run_controller(error, "kp: 2, ki: 4, limits: [-3, 3]", 1.75, y);
  check("free again", y[0], end - 3 - 2 * 0.5, 1e-7);
  // The same with a given tracking time.
  run_controller(error, "kp: 2, ki: 4, limits: [-3, 3], tracking: 0.1 s", 0.75, y);
  check("given", y[1], 1 + 0.4 * (1 - exp(-10 * 0.5)), 1e-7);
}

// Beyond the limit L from the start: I' = ki e + (L - kp e - I - D exp(-t/Tf))/Tt, D = kd e/Tf, so that
//   I = a (1 - exp(-t/Tt)) + b (exp(-t/Tf) - exp(-t/Tt)),  a = ki e Tt + L - kp e,  b = -(D/Tt)/(1/Tt - 1/Tf)
static double saturated_integral(double ki, double kd, double Tt, double t) {
  double kp = 2, L = 0.5, Tf = 0.02, D = kd / Tf;
  double a = ki * Tt + L - kp, b = -(D / Tt) / (1 / Tt - 1 / Tf);
  return a * (1 - exp(-t / Tt)) + b * (exp(-t / Tf) - exp(-t / Tt));
}

static void saturated_pid(void **state) {
  (void)state;
  static const struct {
    double ki, kd, Tt;
    const char *why;
  } cases[] = {{4, 0.32, 0.28284271247461903, "sqrt(Ti Td)"},
               {4, 0.0002, 0.05, "Ti/10, as sqrt(Ti Td) is shorter"},
               {4, 0, 0.5, "Ti, as there is no derivative part"},
               {8000, 0.002, 0.001, "the least"}};
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    char keys[256];
    double y[2], t = 0.1;
    snprintf(keys, sizeof keys, "kp: 2, ki: %g, kd: %g, filter: 20 ms, limits: [-0.5, 0.5]", cases[i].ki, cases[i].kd);
    run_controller("1", keys, t, y);
    check(cases[i].why, y[1], saturated_integral(cases[i].ki, cases[i].kd, cases[i].Tt, t), 1e-6);
    check("output", y[0], 0.5, 0);
  }
}

// A pure I controller: 1 ms. I = L + ki e Tt far beyond the limit.
static void saturated_i(void **state) {
  (void)state;
  double y[2];
  run_controller("1", "kp: 0, ki: 4, limits: [-0.5, 0.5]", 1, y);
  check("I", y[1], 0.5 + 4 * 1e-3, 1e-7);
}

// ---- sampled

// The recursion of a sampled controller around p' = (c - p)/80 ms, which holds c: its states at every sample.
static double sampled_by_hand(double kp, double ki, double kd, double track, double T, int samples, double *integral) {
  double p = 0, c = 0, area = 0, f = 0;
  for (int k = 0; k <= samples; k++) {
    if (k > 0) p = c + (p - c) * exp(-T / 0.08);
    double e = (k * T < 0.3 ? 1 : 0.2) - p, slope = kd != 0 ? (e - f) / (0.015 + T) : 0;
    double v = kp * e + area + kd * slope;
    c = fmin(fmax(v, -1.05), 1.05);
    area += T * ki * e + (c - v) * fmin(T * track, 1);
    f += T * slope;
  }
  *integral = area;
  return c;
}

static void sampled_loops(void **state) {
  (void)state;
  // The fifth number is 1/Tt by the rule in docs/machine-files.md, computed by hand.
  static const struct {
    double kp, ki, kd, track, T;
  } cases[] = {{6, 0, 0, 0, 0.002},   {6, 0, 0.05, 0, 0.002}, {6, 30, 0, 5, 0.002},      {6, 30, 0.3, 10, 0.002},
               {0, 9, 0, 1000, 0.01}, {3, 600, 0, 200, 0.01}, {6, 30, 0.0003, 50, 0.002}};
  static const char *const names[] = {"c", "c.integral"};
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    char text[640], derivative[64] = "";
    if (cases[i].kd != 0) snprintf(derivative, sizeof derivative, "kd: %g, filter: 15 ms, ", cases[i].kd);
    snprintf(text, sizeof text,
             "inputs: {r: {steps: {initial: 1, at: [[0.3 s, 0.2]]}}}\n"
             "blocks:\n"
             "  e: {type: sum, inputs: [r, p], weights: [1, -1]}\n"
             "  c: {type: pid, input: e, kp: %g, ki: %g, %slimits: [-1.05, 1.05], sample: %g}\n"
             "  p: {type: first-order, input: c, time_constant: 80 ms}\n",
             cases[i].kp, cases[i].ki, derivative, cases[i].T);
    od_machine *machine = od_test_machine_text(text);
    for (double time = 0.1; time < 0.75; time += 0.1) {
      double y[2], integral;
      od_test_run_to(machine, "cvodes", time + cases[i].T / 2, 1e-3, names, 2, y);
      double want = sampled_by_hand(cases[i].kp, cases[i].ki, cases[i].kd, cases[i].track, cases[i].T,
                                    (int)lround(time / cases[i].T), &integral);
      char what[80];
      snprintf(what, sizeof what, "controller %zu at %.1f s", i, time);
      check(what, y[0], want, 1e-7);
      check(what, y[1], integral, 1e-7);
    }
    od_machine_free(machine);
  }
}

// ---- ki as a free parameter that starts at zero

// In saturation I' = ki e + (y - v) ki/kp, so that dI'/dki = e + (y - v)/kp at ki = 0, finite for any kd (below: 10
// times the second part, because Tt = Ti/10). With a given tracking time there is no anti-windup at ki = 0: dI'/dki =
// e.
static void slope_at_no_integral(void **state) {
  (void)state;
  static const struct {
    const char *keys;
    double want;
  } cases[] = {{"kp: 4, ki: 0", 1 + (2 - 4) / 4.0},
               {"kp: 4, ki: 0, kd: 0, filter: 1 s", 1 + (2 - 4) / 4.0},
               {"kp: 4, ki: 0, kd: 1, filter: 1 s", 1 + 10 * (2 - 5) / 4.0},
               {"kp: 4, ki: 0, tracking: 20 ms", 1},
               {"kp: 0, ki: 0, kd: 4, filter: 1 s", 1}};
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    char text[256];
    snprintf(text, sizeof text, "inputs: {e: 1}\nblocks: {c: {type: pid, input: e, %s, limits: [-2, 2]}}\n",
             cases[i].keys);
    od_machine *machine = od_test_machine_text(text);
    int ki = od_machine_number_find(machine, "c.ki");
    od_plant *plant;
    assert_int_equal(od_machine_plant(machine, NULL, 0, &ki, 1, &plant, NULL), OD_OK);
    void *work = calloc(1, plant->work_size);
    double x[2] = {0}, k[2] = {0}, g[2], u = 1, slope[2];
    assert_int_equal(plant->ops->start(plant, work, x), OD_OK);
    assert_int_equal(plant->ops->residual(plant, work, 0, x, k, &u, g), OD_OK);
    assert_int_equal(plant->ops->parameter_jacobian(plant, work, slope), OD_OK);
    assert_true(g[0] == 0);
    check(cases[i].keys, -slope[0], cases[i].want, 1e-12);
    free(work);
    od_plant_free(plant);
    od_machine_free(machine);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(saturated_p_loop), cmocka_unit_test(bias_of_a_p_controller),
                                     cmocka_unit_test(saturated_pd),     cmocka_unit_test(saturated_pi),
                                     cmocka_unit_test(saturated_pid),    cmocka_unit_test(saturated_i),
                                     cmocka_unit_test(sampled_loops),    cmocka_unit_test(slope_at_no_integral)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
