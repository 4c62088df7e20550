// Inverse dynamics at its limits: drives that cannot produce a motion, drives that share a load, outputs that are supported. Oracles:
// statics and Newton's second law of two carts on a rail, by hand.
#include <math.h>
#include <stddef.h>
#include <string.h>

#include "support/test.h"
#include "machine/machine.h"
#include "plant/inverse.h"
#include "support/machines.h"

// Two carts on one rail. Forces: f on the first cart, g on the second cart.
static const char carts[] =
    "gravity: [0, 0, 0]\nbodies: {a: {point: {mass: 2 kg}}, b: {point: {mass: 3 kg}}}\n"
    "joints:\n  A: {type: prismatic, between: [ground, a], axis: [1, 0, 0]}\n"
    "  B: {type: prismatic, between: [ground, b], axis: [1, 0, 0]}\n"
    "inputs: {f: {unit: N, constant: 0}, g: {unit: N, constant: 0}, h: {unit: N, constant: 0}}\n"
    "torques: {on_a: {joint: A, value: f}, on_b: {joint: B, value: g}, also_on_a: {joint: A, value: h}}\n"
    "initial: {A.position: 0 m, B.position: 0 m}\n";

typedef struct bench {
  od_machine *machine;
  od_plant *plant;
  int moved[2];
} bench;

static int setup(void **state) {
  static bench b;
  b.machine = od_test_machine_text(carts);
  b.moved[0] = od_test_output(b.machine, "A.position");
  b.moved[1] = od_test_output(b.machine, "B.position");
  *state = &b;
  return od_machine_plant(b.machine, NULL, 0, NULL, 0, &b.plant, NULL) == OD_OK ? 0 : -1;
}

static int teardown(void **state) {
  bench *b = *state;
  od_plant_free(b->plant);
  od_machine_free(b->machine);
  return 0;
}

// Efforts for the accelerations 1.5 and -2 m/s2, and the reason of a failure.
static od_status solve(const bench *b, const od_drive *drive, int drives, double *effort, od_stuck *stuck) {
  const double zero[3] = {0};
  double second[] = {1.5, -2};
  od_inverse *inverse;
  assert_int_equal(od_inverse_new(b->plant, b->moved, 2, 0, drive, drives, NULL, 0, &inverse), OD_OK);
  assert_int_equal(od_inverse_start(inverse), OD_OK);
  od_status status = od_inverse_solve(inverse, zero, zero, zero, second, effort);
  *stuck = od_inverse_stuck(inverse);
  od_inverse_free(inverse);
  return status;
}

// Both drives act on the first cart: none can accelerate the second cart.
static void test_drives_without_effect(void **state) {
  const od_drive drive[] = {{OD_DRIVE_LOAD, 0, 1}, {OD_DRIVE_LOAD, 2, 1}};
  double effort[3];
  od_stuck stuck;
  assert_int_equal(solve(*state, drive, 2, effort, &stuck), OD_SINGULAR);
  assert_int_equal(stuck, OD_STUCK_DRIVES);
}

// The effects of both drives are weighted by their shares. Below a ratio of 1e-12 the problem is singular, whatever the sizes.
static void test_ratio_of_effects(void **state) {
  const struct {
    double share[2];
    bool solvable;
  } cases[] = {{{1, 1}, true},       {{1, 1.2e-12}, true},  {{1, 0.9e-12}, false}, {{1e6, 1e-8}, false},
               {{1e-7, 1e-7}, true}, {{1e-4, 1e-15}, true}, {{1.2e-12, 1}, true},  {{1e-4, 1e-17}, false}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    const od_drive drive[] = {{OD_DRIVE_LOAD, 0, cases[i].share[0]}, {OD_DRIVE_LOAD, 1, cases[i].share[1]}};
    double effort[3];
    od_stuck stuck;
    od_status status = solve(*state, drive, 2, effort, &stuck);
    assert_int_equal(status, cases[i].solvable ? OD_OK : OD_SINGULAR);
    assert_int_equal(stuck, cases[i].solvable ? OD_STUCK_NOWHERE : OD_STUCK_DRIVES);
    if (!cases[i].solvable) continue;
    near(effort[0], 2 * 1.5, 1e-9);
    near(effort[1], 3 * -2, 1e-9);
  }
}

// Two forces on the first cart share its 3 N in proportion to their shares.
static void test_shares(void **state) {
  const od_drive drive[] = {{OD_DRIVE_LOAD, 0, 1}, {OD_DRIVE_LOAD, 1, 7}, {OD_DRIVE_LOAD, 2, 4}};
  double effort[3];
  od_stuck stuck;
  assert_int_equal(solve(*state, drive, 3, effort, &stuck), OD_OK);
  assert_int_equal(stuck, OD_STUCK_NOWHERE);
  near(effort[0], 3.0 * 1 / 5, 1e-12);
  near(effort[1], -6, 1e-12);
  near(effort[2], 3.0 * 4 / 5, 1e-12);
}

// Counts that do not match.
static void test_counts(void **state) {
  const bench *b = *state;
  const od_drive drive[] = {{OD_DRIVE_LOAD, 0, 1}, {OD_DRIVE_LOAD, 1, 1}, {OD_DRIVE_LOAD, 2, 1}};
  const struct {
    int moved, loose, drives;
    od_status status;
  } cases[] = {{2, 0, 2, OD_OK},        {2, 0, 3, OD_OK},        {2, 0, 1, OD_BAD_INPUT}, {1, 0, 2, OD_BAD_INPUT},
               {2, 1, 1, OD_OK},        {2, 1, 2, OD_BAD_INPUT}, {2, 1, 0, OD_BAD_INPUT}, {2, 2, 0, OD_OK},
               {2, 3, 0, OD_BAD_INPUT}, {2, -1, 3, OD_BAD_INPUT}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    od_inverse *inverse = NULL;
    od_status status =
        od_inverse_new(b->plant, b->moved, cases[i].moved, cases[i].loose, drive, cases[i].drives, NULL, 0, &inverse);
    if (status != cases[i].status) print_error("case %zu\n", i);
    assert_int_equal(status, cases[i].status);
    if (status == OD_OK) od_inverse_free(inverse);
  }
}

// Outputs of the mechanism are supported, outputs of the circuit are not; the forces at the solution are those of the drives.
static void test_outputs(void **state) {
  const bench *b = *state;
  const od_model *m = od_machine_model(b->machine);
  const od_drive drive[] = {{OD_DRIVE_COORDINATE, 0, 1}, {OD_DRIVE_COORDINATE, 1, 1}};
  const double zero[3] = {0}, q[] = {0.25, -0.5}, rate[] = {3, 4};
  double second[] = {1.5, -2}, effort[2];
  od_inverse *inverse;
  assert_int_equal(od_inverse_new(b->plant, b->moved, 2, 0, drive, 2, NULL, 0, &inverse), OD_OK);
  assert_int_equal(od_inverse_start(inverse), OD_OK);
  assert_int_equal(od_inverse_solve(inverse, zero, q, rate, second, effort), OD_OK);
  near(effort[0], 3, 1e-12);
  near(effort[1], -6, 1e-12);
  int supported = 0;
  for (int i = 0; i < m->outputs; i++) {
    const od_output *o = &m->output[i];
    const struct {
      const char *name;
      double value;
    } known[] = {
        {"A.position", 0.25}, {"B.position", -0.5}, {"A.rate", 3}, {"B.rate", 4}, {"energy.kinetic", 9.0 + 24}};
    supported += od_inverse_has_output(o);
    for (size_t k = 0; k < sizeof known / sizeof *known; k++)
      if (strcmp(od_model_text(m, o->name), known[k].name) == 0) {
        assert_true(od_inverse_has_output(o));
        near(od_inverse_output(inverse, o), known[k].value, 1e-12);
      }
    if (strcmp(od_model_text(m, o->name), "f") == 0 || strcmp(od_model_text(m, o->name), "energy.dissipated") == 0)
      assert_false(od_inverse_has_output(o));
  }
  assert_true(supported >= 5);
  od_inverse_free(inverse);
}

// Values far away are reached in stages, and the next solution starts from there.
static void test_far_values(void **state) {
  const bench *b = *state;
  const od_drive drive[] = {{OD_DRIVE_LOAD, 0, 1}, {OD_DRIVE_LOAD, 1, 1}};
  const double zero[3] = {0}, targets[][2] = {{5, -3}, {-4, 0.5}, {-4, 7}, {0, 0}, {0.1, 0}};
  od_inverse *inverse;
  assert_int_equal(od_inverse_new(b->plant, b->moved, 2, 0, drive, 2, NULL, 0, &inverse), OD_OK);
  assert_int_equal(od_inverse_start(inverse), OD_OK);
  const od_model *m = od_machine_model(b->machine);
  for (size_t i = 0; i < sizeof targets / sizeof *targets; i++) {
    double second[] = {1, -3}, effort[2];
    assert_int_equal(od_inverse_solve(inverse, zero, targets[i], zero, second, effort), OD_OK);
    near(effort[0], 2, 1e-9);
    near(effort[1], -9, 1e-9);
    for (int k = 0; k < 2; k++) near(od_inverse_output(inverse, &m->output[b->moved[k]]), targets[i][k], 1e-9);
  }
  od_inverse_free(inverse);
}

// An arm of two bars whose tip goes around: the elbow stays on its side. Oracle: the law of cosines.
static void test_branch(void **state) {
  (void)state;
  od_machine *machine = od_test_machine_text(
      "gravity: [0, 0]\nground: {points: {O: [0, 0]}}\n"
      "bodies:\n  u: {mass: 1 kg, inertia: 0.1, centre: [0.5, 0], points: {O: [0, 0], E: [1 m, 0]}}\n"
      "  l: {mass: 1 kg, inertia: 0.1, centre: [0.4, 0], points: {E: [0, 0], T: [0.8 m, 0]}}\n"
      "joints:\n  S: {type: revolute, between: [ground.O, u.O]}\n  E: {type: revolute, between: [u.E, l.E]}\n"
      "initial: {S.angle: 0.2 rad, E.angle: 1 rad}\n");
  const od_model *m = od_machine_model(machine);
  const int moved[] = {od_test_output(machine, "l.T.x"), od_test_output(machine, "l.T.y")};
  const od_output *elbow = &m->output[od_test_output(machine, "E.angle")];
  const od_drive drive[] = {{OD_DRIVE_COORDINATE, m->joint[0].coordinate, 1},
                            {OD_DRIVE_COORDINATE, m->joint[1].coordinate, 1}};
  od_plant *plant;
  od_inverse *inverse;
  assert_int_equal(od_machine_plant(machine, NULL, 0, NULL, 0, &plant, NULL), OD_OK);
  assert_int_equal(od_inverse_new(plant, moved, 2, 0, drive, 2, NULL, 0, &inverse), OD_OK);
  assert_int_equal(od_inverse_start(inverse), OD_OK);
  for (int k = 0; k < 12; k++) {
    double r = 1.2 + 0.3 * cos(2.0 * k), angle = 0.7 + 1.1 * k, effort[2], zero[2] = {0};
    const double q[] = {r * cos(angle), r * sin(angle)};
    assert_int_equal(od_inverse_solve(inverse, NULL, q, zero, zero, effort), OD_OK);
    near(od_inverse_output(inverse, elbow), acos((r * r - 1 - 0.64) / 1.6), 1e-9);
  }
  od_inverse_free(inverse);
  od_plant_free(plant);
  od_machine_free(machine);
}

// A horizontal beam of 10 kg on a crank and a parallel rod of the same length, all other parts nearly massless. The rod carries half of the weight:
// its force is W / (2 sin angle), and the torque of the crank is W l cos angle. Oracle: statics of the beam.
static void test_rod_force(void **state) {
  (void)state;
  od_machine *machine = od_test_machine_text(
      "gravity: [0, -10]\nground: {points: {O: [0, 0], P: [2 m, 0]}}\n"
      "bodies:\n  crank: {mass: 1e-9 kg, inertia: 1e-9, centre: [0, 0], points: {O: [0, 0], E: [0.5 m, 0]}}\n"
      "  beam: {mass: 10 kg, inertia: 1, centre: [1 m, 0], points: {E: [0, 0], F: [2 m, 0]}}\n"
      "joints:\n  A: {type: revolute, between: [ground.O, crank.O]}\n  B: {type: revolute, between: [crank.E, beam.E]}\n"
      "rods: {rod: {between: [ground.P, beam.F], length: 0.5 m}}\n"
      "initial: {A.angle: 1 rad, B.angle: about -1 rad}\n");
  const od_model *m = od_machine_model(machine);
  const int moved = od_test_output(machine, "A.angle");
  const od_drive drive = {OD_DRIVE_COORDINATE, m->joint[0].coordinate, 1};
  const od_output *force = &m->output[od_test_output(machine, "rod.force")];
  od_plant *plant;
  od_inverse *inverse;
  assert_int_equal(od_machine_plant(machine, NULL, 0, NULL, 0, &plant, NULL), OD_OK);
  assert_int_equal(od_inverse_new(plant, &moved, 1, 0, &drive, 1, NULL, 0, &inverse), OD_OK);
  assert_int_equal(od_inverse_start(inverse), OD_OK);
  assert_true(od_inverse_has_output(force));
  for (int k = 0; k < 5; k++) {
    const double q = 1 + 0.2 * k, rate = 0;
    double second = 0, effort;
    assert_int_equal(od_inverse_solve(inverse, NULL, &q, &rate, &second, &effort), OD_OK);
    near(effort, 100 * 0.5 * cos(q), 1e-6);
    near(fabs(od_inverse_output(inverse, force)), 100 / (2 * sin(q)), 1e-6);
  }
  od_inverse_free(inverse);
  od_plant_free(plant);
  od_machine_free(machine);
}

// Idle elements exert no force: a cart of 2 kg with a spring from the ground, a leak and a cushion that depend on the same length. The leak and the
// cushion never exert a force, so only an idle spring changes the effort. Oracle: Newton's second law.
static void test_idle_elements(void **state) {
  (void)state;
  od_machine *machine = od_test_machine_text(
      "gravity: [0, -10]\nground: {points: {O: [0, 0]}}\noil: {density: 860, law: constant, modulus: 1.2 GPa}\n"
      "bodies: {a: {point: {mass: 2 kg}}}\njoints: {A: {type: prismatic, between: [ground.O, a], axis: [1, 0, 0]}}\n"
      "volumes: {P: {volume: 1 l}, Q: {volume: 1 l}}\n"
      "position_leaks: {worn: {between: [ground.O, a], chambers: [P, Q], slope: 1e-13, worn: 4e-13, place: 1.5 m, width: 0.2 m}}\n"
      "cushions: {soft: {between: [ground.O, a], chambers: [P, Q], begin: 0.9 m, end: 0.866 m, full: 80 mm^2, last: 2 mm^2}}\n"
      "springs: {S: {between: [ground.O, a], stiffness: 100 N/m, length: 1 m}}\n"
      "initial: {A.position: 1.5 m, P.pressure: 20 bar, Q.pressure: 10 bar}\n");
  const od_model *m = od_machine_model(machine);
  const int moved = od_test_output(machine, "A.position");
  const od_drive drive = {OD_DRIVE_COORDINATE, m->joint[0].coordinate, 1};
  od_plant *plant;
  assert_int_equal(od_machine_plant(machine, NULL, 0, NULL, 0, &plant, NULL), OD_OK);
  assert_int_equal(m->instances, 3);
  for (int set = 0; set < 8; set++) {
    int idle[3], idles = 0;
    double force = -100 * (1.6 - 1);  // of the spring, which is longer than at rest
    for (int i = 0; i < 3; i++)
      if (set >> i & 1) {
        idle[idles++] = i;
        if (strcmp(od_model_text(m, m->instance[i].name), "S") == 0) force = 0;
      }
    const double q = 1.6, rate = 0.2;
    double second = 3, effort;
    od_inverse *inverse;
    assert_int_equal(od_inverse_new(plant, &moved, 1, 0, &drive, 1, idle, idles, &inverse), OD_OK);
    assert_int_equal(od_inverse_start(inverse), OD_OK);
    assert_int_equal(od_inverse_solve(inverse, NULL, &q, &rate, &second, &effort), OD_OK);
    near(effort, 2 * 3 - force, 1e-9);
    od_inverse_free(inverse);
  }
  od_plant_free(plant);
  od_machine_free(machine);
}

// A cart of 2 kg on a horizontal rail is driven along the line from a point 1 m above the rail. At the position q the force in this line has the
// horizontal part m a and the vertical part m a / q, which the rail carries in addition to the weight. Oracle: Newton's second law.
static void test_load_of_the_rail(void **state) {
  (void)state;
  od_machine *machine = od_test_machine_text(
      "gravity: [0, -10]\nground: {points: {O: [0, 0], H: [0, 1 m]}}\nbodies: {a: {point: {mass: 2 kg}}}\n"
      "joints: {A: {type: prismatic, between: [ground.O, a], axis: [1, 0, 0]}}\n"
      "springs: {S: {between: [ground.H, a], stiffness: 100 N/m, length: 1 m}}\ninitial: {A.position: 1.5 m}\n");
  const od_model *m = od_machine_model(machine);
  const int moved = od_test_output(machine, "A.position");
  const od_drive drive = {OD_DRIVE_ELEMENT, 0, 1};
  const od_output *load = &m->output[od_test_output(machine, "A.force")];
  od_plant *plant;
  od_inverse *inverse;
  assert_int_equal(od_machine_plant(machine, NULL, 0, NULL, 0, &plant, NULL), OD_OK);
  assert_int_equal(od_inverse_new(plant, &moved, 1, 0, &drive, 1, NULL, 0, &inverse), OD_OK);
  assert_int_equal(od_inverse_start(inverse), OD_OK);
  for (int k = 0; k < 5; k++) {
    const double q = 1.5 + 0.1 * k, rate = 0;
    double second = 3 - k, effort;
    const double vertical = 2 * second / q;
    assert_int_equal(od_inverse_solve(inverse, NULL, &q, &rate, &second, &effort), OD_OK);
    near(fabs(effort), hypot(2 * second, vertical), 1e-9);
    near(fabs(od_inverse_output(inverse, load)), fabs(20 + vertical), 1e-9);
  }
  od_inverse_free(inverse);
  od_plant_free(plant);
  od_machine_free(machine);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(test_drives_without_effect, setup, teardown),
      cmocka_unit_test_setup_teardown(test_ratio_of_effects, setup, teardown),
      cmocka_unit_test_setup_teardown(test_shares, setup, teardown),
      cmocka_unit_test_setup_teardown(test_counts, setup, teardown),
      cmocka_unit_test_setup_teardown(test_outputs, setup, teardown),
      cmocka_unit_test_setup_teardown(test_far_values, setup, teardown),
      cmocka_unit_test(test_branch),
      cmocka_unit_test(test_idle_elements),
      cmocka_unit_test(test_rod_force),
      cmocka_unit_test(test_load_of_the_rail),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
