// Runs over time. Oracles: closed forms for inputs that jump on and off the grid; for CVODES with coarse rows through
// dead points, the crank's coordinate; for machines far from the origin, the same machine at the origin.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/test.h"
#include "simulate/run.h"
#include "machine/method_names.h"
#include "support/machines.h"

// 2 kg pushed by 5 N, from 0.3003 s on by -3 N: velocity and position in closed form. The jump lies between two steps'
// ends.
static void jumps_off_the_grid(void **state) {
  (void)state;
  od_machine *machine = od_test_machine_text(
      "bodies: {block: {point: {mass: 2 kg}}}\n"
      "joints: {rail: {type: prismatic, between: [ground, block], axis: [1, 0, 0]}}\n"
      "inputs: {push: {unit: N, steps: {initial: 5 N, at: [[0.3003 s, -3 N]]}}}\n"
      "forces: {F: {at: block, value: push, direction: [1, 0]}}\n"
      "initial: {rail.position: 0 m}\n");
  static const char *const names[] = {"rail.rate", "rail.position"};
  double first = 0.3003, v = 2.5 * first, rest = 1 - first;
  const double want[2] = {v - 1.5 * rest, 1.25 * first * first + v * rest - 0.75 * rest * rest};
  const od_method_names all = od_method_names_integrators("cvodes");
  for (const char *const *integrator = all.name; *integrator; integrator++) {
    double got[2];
    od_test_run_to(machine, *integrator, 1, 1e-3, names, 2, got);
    print_message("%s: off by %.2g m/s, %.2g m\n", *integrator, got[0] - want[0], got[1] - want[1]);
    assert_true(fabs(got[0] - want[0]) < 1e-9 && fabs(got[1] - want[1]) < 1e-9);
  }
  od_machine_free(machine);
}

// The slider-crank in its slider's coordinate, recorded so rarely that several dead points lie between two rows.
static void coarse_recording(void **state) {
  (void)state;
  od_machine *slider = od_test_machine("cases/slider-crank/slider-first.yaml", NULL);
  od_machine *crank = od_test_machine("cases/slider-crank/machine.yaml", NULL);
  static const char *const names[] = {"main.angle"};
  double want, got;
  od_test_run_to(crank, "cvodes", 5, 1e-3, names, 1, &want);
  for (double step = 0.5; step > 0.04; step /= 2) {
    od_test_run_to(slider, "cvodes", 5, step, names, 1, &got);
    assert_true(fabs(got - want) < 1e-4);
  }
  od_machine_free(slider);
  od_machine_free(crank);
}

// The spring four-bar at the origin and a kilometer away.
static void far_from_the_origin(void **state) {
  (void)state;
  od_machine *home = od_test_machine("cases/fourbar-observer/spring.yaml", NULL);
  od_machine *away =
      od_test_machine("cases/fourbar-observer/spring.yaml", "ground.points.A[0]=1 km", "ground.points.B[0]=1 km",
                      "ground.points.A[1]=-2 km", "ground.points.B[1]=-2001 m", NULL);
  static const char *const names[] = {"A.angle", "spring.length", "crank.end.x", "energy.potential"};
  double a[4], b[4];
  od_test_run_to(home, "trapezoid", 1, 1e-3, names, 4, a);
  od_test_run_to(away, "trapezoid", 1, 1e-3, names, 4, b);
  print_message("1 km away: angle off by %.2g rad, length by %.2g m\n", b[0] - a[0], b[1] - a[1]);
  assert_true(fabs(b[0] - a[0]) < 1e-9 && fabs(b[1] - a[1]) < 1e-9);
  assert_true(fabs(b[2] - a[2] - 1000) < 1e-9);
  assert_true(fabs(b[3] - a[3] + 29 * 9.81 * 2000) < 1e-5);
  od_machine_free(home);
  od_machine_free(away);
}

// A failed step leaves the machine unchanged, on the same branch.
static void failed_steps_come_back(void **state) {
  (void)state;
  od_test_run r =
      od_test_begin(od_test_machine("cases/fourbar-observer/toolbox.yaml", NULL), "energy.stored", "P1.angle", NULL);
  double before[2], after[2], nan_state[2] = {NAN, 0};
  for (int i = 0; i < 100; i++) assert_int_equal(od_sim_step(r.sim, 5e-3, NULL), OD_OK);
  od_sim_outputs(r.sim, before);
  static const double wild[] = {9.89, 30, 1e200};
  double kept[2];
  memcpy(kept, od_sim_state(r.sim), sizeof kept);
  for (int i = 0; i < 3; i++) {
    od_status status = od_sim_step(r.sim, wild[i], NULL);
    if (status == OD_OK)
      assert_int_equal(od_sim_set(r.sim, 0, kept, NULL), OD_OK);
    else
      assert_memory_equal(kept, od_sim_state(r.sim), sizeof kept);
  }
  assert_int_not_equal(od_sim_set(r.sim, 0, nan_state, NULL), OD_OK);
  assert_int_equal(od_sim_set(r.sim, 0, kept, NULL), OD_OK);
  assert_int_equal(od_sim_step(r.sim, 1e-4, NULL), OD_OK);
  assert_int_equal(od_sim_outputs(r.sim, after), OD_OK);
  assert_true(fabs(after[0] - before[0]) < 1e-3);
  assert_true(fabs(after[1] - before[1]) < 1e-2);
  od_test_end(&r);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(jumps_off_the_grid),
      cmocka_unit_test(coarse_recording),
      cmocka_unit_test(far_from_the_origin),
      cmocka_unit_test(failed_steps_come_back),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
