// Joints that move almost no mass, and the outputs of friction inside other parts. Oracles: the inertia by hand, compared with 1e-13 of the
// carried mass at the machine's size; names of outputs as the reference lists them.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/test.h"
#include "machine/machine.h"
#include "support/machine_file.h"
#include "support/machines.h"

// Whether a machine loads; if it does not, the only message is about the joint.
static bool loads(const machine_file *file, const char *text, const char *joint) {
  machine_file_write(file, text, strlen(text));
  od_messages *messages = od_messages_new();
  od_machine *machine = NULL;
  od_status status = od_machine_load(file->path, NULL, &machine, messages);
  if (status != OD_OK) {
    char *printed = messages_text(messages), wanted[100];
    snprintf(wanted, sizeof wanted, "joint '%s' can move without moving any mass", joint);
    if (!strstr(printed, wanted)) fail_msg("%s", printed);
    free(printed);
  }
  od_machine_free(machine);
  od_messages_free(messages);
  return status == OD_OK;
}

// Two slides along one axis with a body of almost no mass between them: each coordinate moves a mass, but their difference does not. With a mass of
// the first body the machine loads.
static void test_coupled_slides(void **state) {
  static const char *const masses[] = {"1e-12 kg", "1 g"};
  for (int i = 0; i < 2; i++) {
    char text[900];
    snprintf(text, sizeof text,
             "bodies:\n  a: {point: {mass: %s}}\n  b: {point: {mass: 2000 kg}}\n"
             "joints:\n  A: {type: prismatic, between: [ground, a], axis: [1, 0, 0]}\n"
             "  B: {type: prismatic, between: [a, b], axis: [1, 0, 0]}\n"
             "initial: {A.position: 0 m, B.position: 0 m}\n",
             masses[i]);
    assert_int_equal(loads(*state, text, "B"), i == 1);
  }
}

// A wheel with a tiny inertia about its axis. A second part gives the machine a size of about 1 m.
static bool wheel_loads(const machine_file *file, const char *mass, const char *inertia) {
  char text[900];
  snprintf(
      text, sizeof text,
      "ground: {points: {O: [0, 0], Q: [1 m, 0]}}\n"
      "bodies:\n  other: {mass: 1 kg, inertia: 1, centre: [0, 0], points: {O: [0, 0]}}\n"
      "  wheel: {mass: %s, inertia: %s, centre: [0, 0], points: {O: [0, 0]}}\n"
      "joints:\n  A: {type: revolute, between: [ground.O, other.O]}\n  spin: {type: revolute, between: [ground.Q, wheel.O]}\n"
      "initial: {A.angle: 0, spin.angle: 0}\n",
      mass, inertia);
  return loads(file, text, "spin");
}

static void test_wheels(void **state) {
  assert_true(wheel_loads(*state, "1 kg", "1e-3"));
  assert_true(wheel_loads(*state, "1 kg", "1e-11"));
  assert_false(wheel_loads(*state, "1 kg", "1e-15"));
  assert_true(wheel_loads(*state, "1e-6 kg", "1e-17"));
  assert_false(wheel_loads(*state, "1000 kg", "1e-12"));
}

// The same wheel in machines of other sizes: the limit is in proportion to the square of the distance between the parts.
static void test_sizes(void **state) {
  static const double sizes[] = {0.01, 30, 1000};
  for (int i = 0; i < 3; i++)
    for (int is_light = 0; is_light < 2; is_light++) {
      char text[900];
      double inertia = (is_light ? 1e-15 : 1e-11) * sizes[i] * sizes[i];
      snprintf(text, sizeof text,
               "ground: {points: {O: [0, 0], Q: [%g m, 0]}}\n"
               "bodies:\n  other: {mass: 1 kg, inertia: %g, centre: [0, 0], points: {O: [0, 0]}}\n"
               "  wheel: {mass: 1 kg, inertia: %g, centre: [0, 0], points: {O: [0, 0]}}\n"
               "joints:\n  A: {type: revolute, between: [ground.O, other.O]}\n"
               "  spin: {type: revolute, between: [ground.Q, wheel.O]}\ninitial: {A.angle: 0, spin.angle: 0}\n",
               sizes[i], sizes[i] * sizes[i], inertia);
      assert_int_equal(loads(*state, text, "spin"), !is_light);
    }
}

// A light ring turns, and carries a point mass that slides on its axis: the ring moves this mass, but the mass has no inertia about the axis.
static bool ring_loads(const machine_file *file, const char *inertia) {
  char text[900];
  snprintf(text, sizeof text,
           "ground: {points: {O: [0, 0, 0], Q: [1 m, 0, 0]}}\n"
           "bodies:\n  other: {mass: 1 kg, inertia: [1, 1, 1], centre: [0, 0, 0], points: {O: [0, 0, 0]}}\n"
           "  ring: {mass: 1e-9 kg, inertia: [%s, %s, %s], centre: [0, 0, 0], points: {O: [0, 0, 0]}}\n"
           "  pearl: {point: {mass: 1 kg}}\n"
           "joints:\n  A: {type: revolute, between: [ground.Q, other.O], axis: [0, 1, 0]}\n"
           "  turn: {type: revolute, between: [ground.O, ring.O], axis: [0, 0, 1]}\n"
           "  slide: {type: prismatic, between: [ring.O, pearl], axis: [0, 0, 1]}\n"
           "initial: {A.angle: 0, turn.angle: 0, slide.position: 0}\n",
           inertia, inertia, inertia);
  return loads(file, text, "turn");
}

static void test_carried_mass(void **state) {
  assert_true(ring_loads(*state, "1e-3"));
  assert_false(ring_loads(*state, "1e-15"));
}

static bool has(const od_machine *machine, const char *name) {
  return od_machine_output_find(machine, name) >= 0;
}

// Of friction inside a cylinder only the state has its own output: the cylinder shows the force and the loss. Friction of a joint shows all.
static void test_friction_outputs(void **state) {
  (void)state;
  od_machine *machine = od_test_machine_text(
      "gravity: [0, 0]\nground: {points: {O: [0, 0]}}\nbodies: {a: {point: {mass: 2 kg}}, b: {point: {mass: 2000 kg}}}\n"
      "oil: {density: 869 kg/m^3, law: constant, modulus: 1 GPa}\n"
      "joints:\n  A: {type: prismatic, between: [ground, a], axis: [1, 0, 0]}\n"
      "  B: {type: prismatic, between: [ground, b], axis: [1, 0, 0],\n"
      "      friction: {law: lugre, Fc: 100 N, Fs: 150 N, vs: 10 mm/s, viscous: 300 N s/m, sigma_0: 1e6 N/m, sigma_1: 100 N s/m}}\n"
      "volumes: {V: {volume: 1 l}, W: {volume: 1 l}}\n"
      "cylinders:\n  ram: {between: [ground.O, a], chambers: [V, W], areas: [40 cm^2, 25 cm^2], closed: 0.1 m, stroke: 2 m,\n"
      "        friction: {law: lugre, Fc: 100 N, Fs: 150 N, vs: 10 mm/s, viscous: 300 N s/m, sigma_0: 1e6 N/m, sigma_1: 100 N s/m}}\n"
      "initial: {A.position: 1 m, B.position: 0 m, V.pressure: 1 bar, W.pressure: 1 bar}\n");
  assert_true(has(machine, "ram.friction") && has(machine, "ram.dissipated"));
  const od_model *m = od_machine_model(machine);
  int ram = 0, joint = 0, ram_states = 0, joint_states = 0;
  for (int i = 0; i < m->outputs; i++) {
    bool is_state = m->output[i].kind == OD_OUT_ELEMENT_STATE;
    if (strncmp(od_model_text(m, m->output[i].name), "ram.friction_", 13) == 0) ram++, ram_states += is_state;
    if (strncmp(od_model_text(m, m->output[i].name), "B.friction", 10) == 0) joint++, joint_states += is_state;
  }
  assert_int_equal(ram_states, 1);
  assert_int_equal(ram, 1);
  assert_int_equal(joint_states, 1);
  assert_true(joint > 1);
  od_machine_free(machine);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(test_coupled_slides, machine_file_start, machine_file_end),
      cmocka_unit_test_setup_teardown(test_wheels, machine_file_start, machine_file_end),
      cmocka_unit_test_setup_teardown(test_sizes, machine_file_start, machine_file_end),
      cmocka_unit_test_setup_teardown(test_carried_mass, machine_file_start, machine_file_end),
      cmocka_unit_test(test_friction_outputs)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
