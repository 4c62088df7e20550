// New reference rotations of spherical joints that are not the first joints of a tree. Oracle: outputs do not depend on the coordinates.
// Their values stay the same, and their derivatives with respect to the old state are the new derivatives times the map.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "support/test.h"
#include "machine/machine.h"
#include "oleodyn/sim.h"
#include "support/machines.h"
#include "support/random_machine.h"

enum { MOST = 24 };

// A cart with two ball joints in a row.
static const char text[] =
    "gravity: [0, 0, -9.81]\n"
    "bodies:\n"
    "  cart: {mass: 4 kg, inertia: [1, 1, 1], centre: [0, 0, 0], points: {P: [0, 0, 0]}}\n"
    "  upper: {mass: 2 kg, inertia: [0.2, 0.25, 0.3], centre: [0.1, 0.3, -0.2], points: {P: [0, 0, 0], Q: [0.5, 0.1, -0.4]}}\n"
    "  lower: {mass: 1 kg, inertia: [0.1, 0.15, 0.12], centre: [0.2, 0, -0.3], points: {Q: [0, 0, 0], E: [0.4, 0.2, -0.6]}}\n"
    "joints:\n"
    "  rail: {type: prismatic, between: [ground, cart], axis: [1, 0, 0]}\n"
    "  first: {type: spherical, between: [cart.P, upper.P]}\n"
    "  second: {type: spherical, between: [upper.Q, lower.Q]}\n"
    "initial: {rail.position: 0.2 m, first.angle1: 0.1, first.angle2: 0.2, first.angle3: 0.3, second.angle1: 0.2, second.angle2: 0.1, "
    "second.angle3: -0.3}\n";

static void check(bool first_is_bad, bool second_is_bad) {
  od_machine *machine = od_test_machine_text(text);
  const od_model *m = od_machine_model(machine);
  int ny = m->outputs, *outputs = malloc((size_t)ny * sizeof *outputs);
  for (int i = 0; i < ny; i++) outputs[i] = i;
  od_plant *plant = NULL;
  assert_int_equal(od_machine_plant(machine, outputs, ny, NULL, 0, &plant, NULL), OD_OK);
  od_sim *sim = od_sim_new(plant);
  int nx = od_plant_nx(plant);
  assert_int_equal(nx, 14);
  assert_int_equal(od_sim_start(sim, 0, NULL), OD_OK);
  double x[MOST], map[MOST * MOST], *y = calloc((size_t)(2 * ny), sizeof *y),
                                    *hx = calloc((size_t)(2 * ny * nx), sizeof *hx);
  memcpy(x, od_sim_state(sim), (size_t)nx * sizeof *x);
  if (first_is_bad) x[2] = 1.5;
  if (second_is_bad) x[5] = -1.48;
  for (int i = 0; i < 7; i++) x[7 + i] = 0.3 * sin(i + 1.0);
  assert_int_equal(od_sim_set(sim, 0, x, NULL), OD_OK);
  assert_int_equal(od_sim_outputs(sim, y), OD_OK);
  assert_int_equal(od_sim_output_jacobians(sim, hx, NULL, NULL), OD_OK);
  bool changed = false;
  assert_int_equal(od_sim_repartition(sim, map, &changed), OD_OK);
  assert_int_equal(changed, first_is_bad || second_is_bad);
  if (changed) {
    assert_int_equal(od_sim_outputs(sim, y + ny), OD_OK);
    assert_int_equal(od_sim_output_jacobians(sim, hx + ny * nx, NULL, NULL), OD_OK);
    int compared = 0;
    for (int i = 0; i < ny; i++) {
      if (strstr(od_machine_output_name(machine, i), ".angle") || strstr(od_machine_output_name(machine, i), ".rate"))
        continue;
      near_scaled(y[ny + i], y[i], 1e-9, 1e-3);
      compared++;
      double size = 0;
      for (int j = 0; j < nx; j++) size = fmax(size, fabs(hx[i * nx + j]));
      for (int j = 0; j < nx; j++) {
        double sum = 0;
        for (int k = 0; k < nx; k++) sum += hx[(ny + i) * nx + k] * map[k * nx + j];
        if (!(fabs(sum - hx[i * nx + j]) <= 1e-7 * size + 1e-9))
          fail_msg("%s by %d: %.12g, expected %.12g", od_machine_output_name(machine, i), j, sum, hx[i * nx + j]);
      }
    }
    assert_true(compared > 30);
  }
  free(y), free(hx), free(outputs);
  od_sim_free(sim);
  od_plant_free(plant);
  od_machine_free(machine);
}

static void test_outputs_stay(void **state) {
  (void)state;
  for (int k = 0; k < 4; k++) check(k & 1, k & 2);
}

// The quaternions of bodies keep their sign at every change of the reference rotation, whatever rotation the old reference is and whatever the
// angles are: the pose is the same before and after.
static void test_quaternions_stay(void **state) {
  (void)state;
  od_machine *machine = od_test_machine_text(text);
  int output[8], reversed = 0, changes = 0;
  static const char *const names[] = {"upper.pose.qw", "upper.pose.qx", "upper.pose.qy", "upper.pose.qz",
                                      "lower.pose.qw", "lower.pose.qx", "lower.pose.qy", "lower.pose.qz"};
  for (int i = 0; i < 8; i++) output[i] = od_test_output(machine, names[i]);
  od_plant *plant = NULL;
  assert_int_equal(od_machine_plant(machine, output, 8, NULL, 0, &plant, NULL), OD_OK);
  od_sim *sim = od_sim_new(plant);
  assert_int_equal(od_sim_start(sim, 0, NULL), OD_OK);
  od_dice dice = {7};
  for (int round = 0; round < 400; round++) {
    double x[MOST], before[8], after[8];
    memcpy(x, od_sim_state(sim), sizeof(double) * 14);
    for (int i = 1; i < 7; i++) x[i] = od_dice_uniform(&dice, -3, 3);
    assert_int_equal(od_sim_set(sim, 0, x, NULL), OD_OK);
    assert_int_equal(od_sim_outputs(sim, before), OD_OK);
    bool changed = false;
    assert_int_equal(od_sim_repartition(sim, NULL, &changed), OD_OK);
    assert_int_equal(od_sim_outputs(sim, after), OD_OK);
    for (int i = 0; i < 8; i++) near(after[i], before[i], 1e-9);
    changes += changed;
    reversed += before[0] < 0;
  }
  print_message("%d changes, %d quaternions with a negative first component\n", changes, reversed);
  assert_true(changes > 200 && reversed > 50);
  od_sim_free(sim);
  od_plant_free(plant);
  od_machine_free(machine);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_outputs_stay), cmocka_unit_test(test_quaternions_stay)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
