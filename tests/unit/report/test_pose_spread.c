// The spread of positions of an estimated machine. Oracles: closed forms of a pendulum (the quaternion of its turn) and of a sledge on two
// guides at right angles, whose principal direction is the leading eigenvector of a 2 x 2 covariance.
#include "support/test.h"

#include <math.h>
#include <string.h>

#include "oleodyn/machine.h"
#include "report/pose_spread.h"
#include "support/machine_file.h"

#define RANGE 1.959963984540054

static const char pendulum[] =
    "machine: pendulum\n"
    "bodies: {arm: {beam: {length: 2 m, mass: 3 kg}}}\n"
    "joints: {pivot: {type: revolute, between: [ground, arm]}}\n"
    "initial: {pivot.angle: 0.6 rad}\n"
    "run: {time: 1 s}\n";
static const char sledges[] =
    "machine: two guides\n"
    "gravity: [0, 0]\n"
    "bodies: {cross: {mass: 1 kg}, table: {mass: 2 kg}}\n"
    "joints:\n"
    "  east: {type: prismatic, between: [ground, cross], axis: [1, 0, 0]}\n"
    "  north: {type: prismatic, between: [cross, table], axis: [0, 1, 0]}\n"
    "initial: {east.position: 0.1 m, north.position: 0.2 m}\n"
    "run: {time: 1 s}\n";

// Fills shift[i] with the recorded displacement of output name[i] for an estimate with covariance P (of positions, then zero).
static void shifts_of(void **state, const char *text, const double *positions, int n, const char *const *name,
                      int count, double *shift) {
  od_machine *machine = machine_from(*state, text, NULL, NULL);
  int output[8];
  for (int i = 0; i < count; i++) {
    output[i] = od_machine_output_find(machine, name[i]);
    assert_true(output[i] >= 0);
  }
  od_plant *plant;
  assert_int_equal(od_machine_plant(machine, output, 1, NULL, 0, &plant, NULL), OD_OK);
  const double sigma = 1;
  od_observer *o = od_observer_new(plant, &(od_observer_options){.sensor_sigma = &sigma});
  assert_non_null(o);
  double P[16] = {0};
  for (int i = 0; i < n; i++)
    for (int k = 0; k < n; k++) P[i * 2 * n + k] = positions[i * n + k];
  for (int i = n; i < 2 * n; i++) P[i * 2 * n + i] = 1;  // rates have no effect
  assert_int_equal(od_observer_start(o, 0, NULL, NULL, P, NULL), OD_OK);
  od_pose_spread *s = od_pose_spread_new(machine, output, count, 0.1, 10, 1);
  assert_non_null(s);
  assert_int_equal(od_pose_spread_take(s, 0, o), OD_OK);
  memcpy(shift, od_pose_spread_last(s), (size_t)count * sizeof *shift);
  // The observer did not move, and the next frame is not due yet.
  double y, y_sigma;
  assert_int_equal(od_observer_outputs(o, &y, &y_sigma), OD_OK);
  assert_int_equal(od_pose_spread_take(s, 0.05, o), OD_OK);
  od_pose_spread_free(s);
  od_observer_free(o);
  od_plant_free(plant);
  od_machine_free(machine);
}

static void turning_arm(void **state) {
  static const char *const name[] = {"arm.pose.qw", "arm.pose.qz", "arm.pose.x"};
  const double sigma = 1e-4, angle = 0.6, variance = sigma * sigma;
  double shift[3];
  shifts_of(state, pendulum, &variance, 1, name, 3, shift);
  double sign = shift[1] < 0 ? -1 : 1;
  near_relative(sign * shift[0], -0.5 * sin(angle / 2) * RANGE * sigma, 1e-3);
  near_relative(sign * shift[1], 0.5 * cos(angle / 2) * RANGE * sigma, 1e-3);
  near(shift[2], 0, 1e-15);
}

static void principal_direction(void **state) {
  static const char *const name[] = {"table.pose.x", "table.pose.y", "cross.pose.x"};
  // Body cross moves with x, so x counts twice: G = L'WL with W = diag(2, 1). The eigenvector is that of a symmetric 2 x 2 matrix.
  const double a = 4e-6, b = 1.5e-6, c = 1e-6, P[4] = {a, b, b, c};
  double l00 = sqrt(a), l10 = b / l00, l11 = sqrt(c - l10 * l10), shift[3];
  double g00 = 2 * l00 * l00 + l10 * l10, g01 = l10 * l11, g11 = l11 * l11;
  double turn = 0.5 * atan2(2 * g01, g00 - g11);
  double x = RANGE * l00 * cos(turn), y = RANGE * (l10 * cos(turn) + l11 * sin(turn));
  shifts_of(state, sledges, P, 2, name, 3, shift);
  double sign = shift[0] < 0 ? -1 : 1;
  near_relative(sign * shift[0], x, 1e-9);
  near_relative(sign * shift[1], y, 1e-9);
  near_relative(sign * shift[2], x, 1e-9);
}

static void known_position(void **state) {
  static const char *const name[] = {"table.pose.x", "table.pose.y"};
  const double P[4] = {0, 0, 0, 0};
  double shift[2];
  shifts_of(state, sledges, P, 2, name, 2, shift);
  near(shift[0], 0, 0);
  near(shift[1], 0, 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(turning_arm, machine_file_start, machine_file_end),
      cmocka_unit_test_setup_teardown(principal_direction, machine_file_start, machine_file_end),
      cmocka_unit_test_setup_teardown(known_position, machine_file_start, machine_file_end),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
