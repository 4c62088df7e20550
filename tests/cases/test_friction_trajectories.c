// The trajectories of cases/friction-trajectories: heights and times of the steps against eq. C.1, solved here by stepping along
// the velocity; the 13 s trajectory against its description as a function of time; the acceleration against differences.
#include "support/test.h"

#include <math.h>
#include <stdio.h>

#include "oleodyn/oleodyn.h"
#include "support/machine_file.h"

static od_machine *load(const char *variant, const char *const *set, int sets) {
  od_messages *messages = od_messages_new();
  od_machine *machine = NULL;
  const od_load_options options = {.variant = variant, .set = set, .set_count = sets};
  od_status status =
      od_machine_load(OD_SOURCE_DIR "/cases/friction-trajectories/machine.yaml", &options, &machine, messages);
  if (status != OD_OK) od_messages_print(messages, stderr, false);
  assert_int_equal(status, OD_OK);
  assert_int_equal(od_messages_count(messages), 0);
  od_messages_free(messages);
  return machine;
}

static double velocity(const od_machine *machine, double t) {
  double u[2];
  od_machine_inputs(machine, t, u);
  return u[0];
}

// Small steps along the velocity with the midpoint rule, until each share of the area is full.
static void march(int count, double *height) {
  enum { STEPS = 2000000 };
  double h = (0.25 - 0.001) / STEPS, total = 0, sum = 0;
  for (int k = 0; k < STEPS; k++) total += h * (192900 * exp(-91.1 * (0.001 + (k + 0.5) * h)) + 6000);
  int next = 0;
  for (int k = 0; k < STEPS && next < count - 1; k++) {
    if (sum >= total * next / (count - 1) - 1e-9) height[next++] = 0.001 + k * h;
    sum += h * (192900 * exp(-91.1 * (0.001 + (k + 0.5) * h)) + 6000);
  }
  while (next < count) height[next++] = 0.25;
}

static void check_steps(const char *variant, const char *const *set, int sets, int count, double longest) {
  od_machine *machine = load(variant, set, sets);
  double height[50], t = 0;
  march(count, height);
  for (int i = 0; i < 2 * count; i++) {
    double v = height[i / 2], end = t + fmin(longest, 0.5 / v);
    // Just before the end the lag of 5 ms has settled.
    near(velocity(machine, end - 0.01), i % 2 ? -v : v, 1e-6);
    near(od_machine_next_break(machine, t + 1e-3), end, 1e-2);
    t = end;
  }
  od_machine_free(machine);
}

static void test_steady_steps(void **state) {
  (void)state;
  const char *const fifty[] = {"inputs.v.sequence[0].steady_steps.count=50"};
  check_steps("steady-5", NULL, 0, 5, 4);
  check_steps("steady-5", fifty, 1, 50, 4);
  check_steps("sequential", NULL, 0, 15, 30);
}

static void test_sequential_ends_as_the_readme_says(void **state) {
  (void)state;
  od_machine *machine = load("sequential", NULL, 0);
  double last = 0;
  for (double t = 0; isfinite(t); t = od_machine_next_break(machine, t)) last = t;
  near(last, 562.55, 5e-3);
  near(velocity(machine, 1e4), 0.001, 1e-12);
  od_machine_free(machine);
}

static void test_complete(void **state) {
  (void)state;
  const double pi = acos(-1);
  od_machine *machine = load("complete", NULL, 0);
  for (int k = 0; k <= 13000; k++) {
    double t = k * 1e-3, v = 0.001 + 0.049 * exp(-200 * (t - 11));
    if (t < 11) v = 0.05;
    if (t < 10.75) v = 0.025 * (1 - cos(pi * (t - 10.5) / 0.25));
    if (t < 10.5) v = 0.05 * sin(2 * pi * (t - 8.5));
    if (t < 8.5) v = -0.025 * (8.5 - t);
    if (t < 6.5) v = -0.025 * (1 - cos(pi * (t - 5.75) / 0.75));
    if (t < 5.75) v = 0.025 * (5.75 - t);
    if (t < 3.75) v = 0.025 * (1 - cos(pi * (t - 3) / 0.75));
    if (t < 3) v = 0.25 * sin(2 * pi * t / 3);
    near(velocity(machine, t), v, 1e-14);
  }
  od_machine_free(machine);
}

static void test_acceleration_of_an_alias(void **state) {
  const machine_file *file = *state;
  od_machine *m =
      machine_from(file,
                   "inputs:\n"
                   "  v: &v {unit: m/s, sequence: [{sine: {amplitude: 3 m/s, frequency: 1 Hz, duration: 2 s}}]}\n"
                   "  a: {unit: m/s2, derivative: *v}\n"
                   "blocks: {x: {type: integrator, input: v, gain: 1}}\n",
                   NULL, NULL);
  double u[2];
  od_machine_inputs(m, 0.125, u);
  near(u[1], 3 * 2 * acos(-1) * cos(acos(-1) / 4), 1e-12);
  od_machine_free(m);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_steady_steps),
      cmocka_unit_test(test_sequential_ends_as_the_readme_says),
      cmocka_unit_test(test_complete),
      cmocka_unit_test_setup_teardown(test_acceleration_of_an_alias, machine_file_start, machine_file_end),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
