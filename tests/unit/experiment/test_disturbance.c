// Disturbances: unknown forces. Oracles: a mass under a constant or decaying force, in closed form; the stationary standard deviation of
// a first-order process and that of a random walk; a force of the true machine that the model does not have.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "support/test.h"

#include "filters/filter_types.h"
#include "support/experiments.h"
#include "support/machines.h"
#include "support/scratch.h"

// A cart of 2 kg on a rail.
#define CART                                            \
  "machine: cart\n"                                     \
  "bodies: {cart: {mass: 2 kg, points: {P: [0, 0]}}}\n" \
  "ground: {points: {O: [0, 0], W: [-10, 0]}}\n"        \
  "joints: {J: {type: prismatic, between: [ground.O, cart.P], axis: [1, 0]}}\n"

static void check_motion(const char *line, const double expected[3]) {
  char text[1000];
  snprintf(text, sizeof text, CART "%s", line);
  static const char *const names[] = {"J.position", "load.force", "load.work"};
  od_machine *m = od_test_machine_text(text);
  double last[3];
  od_test_run_to(m, "rk4", 1.5, 1e-3, names, 3, last);
  for (int i = 0; i < 3; i++) {
    print_message("%s: %.9g, expected %.9g\n", names[i], last[i], expected[i]);
    assert_true(fabs(last[i] - expected[i]) < 1e-6);
  }
  od_machine_free(m);
}

// x = F t^2 / (2 m); with a time constant T: x = (F T / m) (t - T (1 - e)), e = exp(-t/T), and the work is m v^2 / 2.
static void forces_stay_or_fade(void **state) {
  (void)state;
  const double F = 3, m = 2, t = 1.5, T = 0.4, e = exp(-t / T), v = F * T / m * (1 - e);
  const double stays[] = {F * t * t / (2 * m), F, pow(F * t, 2) / (2 * m)};
  const double fades[] = {F * T / m * (t - T * (1 - e)), F * e, m * v * v / 2};
  check_motion("disturbances: {load: {joint: J, noise: 1 N}}\ninitial: {J.position: 0, load.force: 3}\n", stays);
  check_motion("disturbances: {load: {between: [ground.W, cart.P]}}\ninitial: {J.position: 0, load.force: 3}\n", stays);
  check_motion("disturbances: {load: {joint: J, time: 0.4 s}}\ninitial: {J.position: 0, load.force: 3}\n", fades);
}

static od_observed *run(scratch *s, const char *disturbance, const char *rest, od_experiment **e) {
  char text[2000];
  snprintf(
      text, sizeof text,
      CART
      "forces: {push: {at: cart.P, direction: [1, 0], value: 0}}\ninitial: {J.position: 0}\n"
      "variants: {pushed: {forces: {push: {at: cart.P, direction: [1, 0], value: 7}}}, watched: {disturbances: {load: %s}}}\n",
      disturbance);
  scratch_write(s, "cart.yaml", text, strlen(text));
  snprintf(text, sizeof text, "machine: cart.yaml\nstep: 10 ms\nmodel: {variant: watched}\n%s", rest);
  *e = load_experiment(scratch_write(s, "x.yaml", text, strlen(text)), NULL);
  return observe(*e);
}

static double last(const od_observed *o, const char *label) {
  for (int i = 0; i < o->table->columns; i++)
    if (strcmp(o->table->name[i], label) == 0) return o->table->data[(o->table->rows - 1) * o->table->columns + i];
  fail_msg("there is no column %s", label);
  return NAN;
}

// A sensor without information: the uncertainty of the force is that of its noise.
static void forces_wander(void **state) {
  od_experiment *e;
  const char *blind =
      "time: 5 s\nsensors: {J.position: {sigma: 1e6}}\ninitial: {J.position: 0.1, J.rate: 0.1, load.force: 0.3}\n";
  od_observed *o = run(*state, "{joint: J, time: 0.5 s, noise: 2 N}", blind, &e);
  assert_true(fabs(last(o, "sigma.load.force") - 2 * sqrt(0.5 / 2)) < 1e-3);
  assert_true(isnan(last(o, "true.load.force")));
  od_observed_free(o);
  od_experiment_free(e);
  o = run(*state, "{joint: J, noise: 2 N}", blind, &e);
  assert_true(fabs(last(o, "sigma.load.force") - sqrt(0.09 + 4 * 5)) < 1e-5);
  od_observed_free(o);
  od_experiment_free(e);
}

// The true machine has a force of 7 N; every filter estimates it within its standard deviation.
static void every_filter_finds_the_force(void **state) {
  for (int i = 0; od_filter_type_at(i); i++) {
    char rest[600];
    snprintf(rest, sizeof rest,
             "time: 6 s\ntruth: {variant: pushed}\nsensors: {J.position: {sigma: 2 mm}}\n"
             "initial: {J.position: 0.01, J.rate: 0.01, load.force: 10}\nfilter: %s\n",
             od_filter_type_at(i)->name);
    od_experiment *e;
    od_observed *o = run(*state, "{joint: J, noise: 0.5 N}", rest, &e);
    double force = last(o, "estimate.load.force"), sigma = last(o, "sigma.load.force");
    print_message("%-17s %.3f +- %.3f N\n", od_filter_type_at(i)->name, force, sigma);
    assert_true(sigma < 1 && fabs(force - 7) < 3 * sigma);
    od_observed_free(o);
    od_experiment_free(e);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(forces_stay_or_fade),
      cmocka_unit_test_setup_teardown(forces_wander, scratch_setup, scratch_teardown),
      cmocka_unit_test_setup_teardown(every_filter_finds_the_force, scratch_setup, scratch_teardown),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
