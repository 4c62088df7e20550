// Parts with the index 0, which have no earlier part: outputs, messages and classes. Oracles: statics of a door with two hinges, and the
// texts of the messages.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/test.h"
#include "machine/machine.h"
#include "model/joint_types.h"
#include "model/outputs.h"
#include "support/machine_file.h"
#include "support/machines.h"

static bool is_shared(const od_machine *machine, const char *name) {
  return od_model_output_is_shared(od_machine_model(machine), od_test_output(machine, name));
}

// Two hinges on one axis share the loads of a door in space. The load of a lamp on the door is not shared.
static void test_shared_loads(void **state) {
  (void)state;
  static const char text[] =
      "gravity: [0, 0, -9.81]\n"
      "ground: {points: {low: [0, 0, 0], high: [0, 0, 2 m]}}\n"
      "bodies:\n"
      "  door: {mass: 20 kg, inertia: [2 kg m^2, 2 kg m^2, 2 kg m^2], centre: [0.4 m, 0, 1 m], points: {low: [0, 0, 0], high: [0, 0, 2 m], P: [0.8 m, 0, 1 m]}}\n"
      "  lamp: {mass: 1 kg, inertia: [0.1 kg m^2, 0.1 kg m^2, 0.1 kg m^2], centre: [0.1 m, 0, 0], points: {Q: [0, 0, 0]}}\n"
      "joints:\n"
      "  lower: {type: revolute, between: [ground.low, door.low], axis: [0, 0, 1]}\n"
      "  upper: {type: revolute, between: [ground.high, door.high], axis: [0, 0, 1]}\n"
      "  hook: {type: revolute, between: [door.P, lamp.Q], axis: [0, 1, 0]}\n"
      "initial: {lower.angle: 0 rad, hook.angle: 0 rad}\n";
  od_machine *machine = od_test_machine_text(text);
  assert_true(is_shared(machine, "lower.force_x") && is_shared(machine, "upper.force_z") &&
              is_shared(machine, "lower.torque_x"));
  assert_false(is_shared(machine, "hook.force_x"));
  assert_false(is_shared(machine, "hook.torque_x"));
  assert_false(is_shared(machine, "lower.angle"));
  od_machine_free(machine);
}

// The units of elements in the first joint: it turns in one machine and slides in the other.
static void test_units(void **state) {
  (void)state;
  static const char turning[] =
      "bodies: {a: {mass: 2 kg, inertia: 1 kg m^2, centre: [0, 0]}, b: {point: {mass: 1 kg}}}\n"
      "joints:\n  A: {type: revolute, between: [ground, a], stiffness: 5 N m, damping: 1 N m s}\n"
      "  B: {type: prismatic, between: [a, b], axis: [1, 0, 0], stiffness: 7 N/m, damping: 1 N s/m}\n"
      "initial: {A.angle: 0 rad, B.position: 0 m}\n";
  od_machine *machine = od_test_machine_text(turning);
  const od_model *m = od_machine_model(machine);
  int turns = 0, slides = 0;
  for (int i = 0; i < m->outputs; i++) {
    if (m->output[i].kind != OD_OUT_ELEMENT && m->output[i].kind != OD_OUT_FORCE) continue;
    if (strncmp(od_model_text(m, m->output[i].name), "A.", 2) == 0)
      turns++, assert_string_equal(od_model_text(m, m->output[i].unit), "N m");
    if (strncmp(od_model_text(m, m->output[i].name), "B.", 2) == 0)
      slides++, assert_string_equal(od_model_text(m, m->output[i].unit), "N");
  }
  assert_true(turns > 0 && turns == slides);
  od_machine_free(machine);
}

static char *messages_of(const machine_file *file, const char *text) {
  machine_file_write(file, text, strlen(text));
  od_messages *messages = od_messages_new();
  od_machine *machine = NULL;
  assert_int_not_equal(od_machine_load(file->path, NULL, &machine, messages), OD_OK);
  char *printed = messages_text(messages);
  od_messages_free(messages);
  return printed;
}

// Two bars of 1 m at points 5 m apart do not meet in the first joint: a gap of 3 m remains. A rod of 1 m at the first bar cannot either.
static void test_open_loops(void **state) {
  static const char joint[] =
      "ground: {points: {O: [0, 0], P: [5 m, 0]}}\n"
      "bodies:\n  a: {mass: 1 kg, inertia: 1 kg m^2, centre: [0, 0], points: {O: [0, 0], E: [1 m, 0]}}\n"
      "  b: {mass: 1 kg, inertia: 1 kg m^2, centre: [0, 0], points: {O: [0, 0], E: [1 m, 0]}}\n"
      "joints:\n  closing: {type: revolute, between: [a.E, b.E], cut: true}\n"
      "  A: {type: revolute, between: [ground.O, a.O]}\n  B: {type: revolute, between: [ground.P, b.O]}\n"
      "initial: {A.angle: about 10 deg, B.angle: about 10 deg}\n";
  char *printed = messages_of(*state, joint);
  if (!strstr(printed, "the loop through joint 'closing' cannot close: a gap of 3")) fail_msg("%s", printed);
  free(printed);
  static const char rod[] =
      "ground: {points: {O: [0, 0], P: [5 m, 0]}}\n"
      "bodies:\n  a: {mass: 1 kg, inertia: 1 kg m^2, centre: [0, 0], points: {O: [0, 0], E: [1 m, 0]}}\n"
      "joints:\n  A: {type: revolute, between: [ground.O, a.O]}\n"
      "rods: {closing: {between: [a.E, ground.P], length: 1 m}}\n"
      "initial: {A.angle: about 10 deg}\n";
  printed = messages_of(*state, rod);
  if (!strstr(printed, "the loop through rod 'closing' cannot close: the rod is")) fail_msg("%s", printed);
  free(printed);
}

// Two reservoirs without any other element: the first one has the index 0.
static void test_reservoirs(void **state) {
  static const char text[] =
      "oil: {density: 870, law: constant, modulus: 1.4 GPa}\n"
      "reservoirs: {one: {volume: 40 L}, two: {volume: 40 L}}\n"
      "bodies: {m: {point: {mass: 1 kg}}}\njoints: {A: {type: prismatic, between: [ground, m], axis: [1, 0, 0]}}\n"
      "initial: {A.position: 0 m}\n";
  char *printed = messages_of(*state, text);
  if (!strstr(printed, "'two' is a second reservoir in addition to 'one'")) fail_msg("%s", printed);
  free(printed);
}

static void test_joint_classes(void **state) {
  (void)state;
  int count = 0;
  while (count < 100 && od_joint_class_of((od_joint_type)count))
    assert_non_null(od_joint_class_of((od_joint_type)count++)->name);
  assert_true(count >= 8 && count < 20);
  assert_string_equal(od_joint_class_of((od_joint_type)(count - 1))->name, "free");
  for (int i = count; i < 4 * count; i++) assert_null(od_joint_class_of((od_joint_type)i));
}

// The first node of a circuit is a junction between two equal orifices: the pressure is the mean of the pressures at their ends.
static void test_first_junction(void **state) {
  (void)state;
  od_build *b = od_build_new();
  od_model *model = NULL;
  od_plant *plant = NULL;
  od_error err = {0};
  const double oil[] = {870, 1e4, 1.4e9};
  int of_oil = -1;
  for (int i = 0; i < 3; i++) {
    int place = od_build_number(b, (const char *[]){"density", "smoothing", "modulus"}[i], oil[i], "1");
    if (i == 0) of_oil = place;
  }
  od_build_oil(b, OD_OIL_CONSTANT, of_oil);
  const int J = od_build_node(b, "J", OD_NODE_JUNCTION, OD_UNUSED, OD_UNUSED);
  const int P = od_build_node(b, "P", OD_NODE_TANK, od_build_number(b, "P.pressure", 90e5, "Pa"), OD_UNUSED);
  const int V = od_build_node(b, "V", OD_NODE_VOLUME, od_build_number(b, "V.volume", 1e-3, "m3"), OD_UNUSED);
  assert_int_equal(J, 0);
  for (int i = 0; i < 2; i++) {
    const char *name = i ? "out" : "in";
    od_element_spec orifice = od_element_spec_of("orifice");
    orifice.end[0] = i ? J : P, orifice.end[1] = i ? V : J;
    orifice.first_number =
        od_build_element_numbers(b, name, "orifice", (od_keyed_number[]){{"area", 4e-6}, {"discharge", 0.7}}, 2);
    od_build_element(b, name, &orifice);
  }
  od_build_initial(b, "V.pressure", 10e5, true);
  if (od_build_finish(b, &model, &err) != OD_OK) fail_msg("%s", od_build_problem(b, 0).text);
  od_build_free(b);
  const int output = od_model_output_find(model, "J.pressure");
  double y;
  assert_true(output >= 0);
  assert_int_equal(od_model_plant(model, &output, 1, NULL, 0, &plant, &err), OD_OK);
  od_sim *sim = od_sim_new(plant);
  assert_int_equal(od_sim_start(sim, 0, NULL), OD_OK);
  assert_int_equal(od_sim_outputs(sim, &y), OD_OK);
  near_relative(y, 50e5, 1e-9);
  od_sim_free(sim);
  od_plant_free(plant);
  od_model_free(model);
}

// Two inputs of a block that are different components of the first point, and the same component twice: each has its own value.
static void test_measured_components(void **state) {
  (void)state;
  od_test_run run = od_test_begin(
      od_test_machine_text("bodies: {a: {point: {mass: 2 kg}, points: {P: [0.3 m, 0.5 m]}}}\n"
                           "joints: {slide: {type: prismatic, between: [ground, a], axis: [1, 0, 0]}}\n"
                           "blocks:\n  both: {type: sum, inputs: [a.P.x, a.P.y, a.P.x], weights: [1, 10, 100]}\n"
                           "initial: {slide.position: 0.2 m}\n"),
      "both", NULL);
  double y;
  assert_int_equal(od_sim_outputs(run.sim, &y), OD_OK);
  near_relative(y, 101 * 0.5 + 10 * 0.5, 1e-12);
  od_test_end(&run);
}

// Machines whose bodies only slide: the plane is found from the axes, whichever plane it is.
static void test_planes_of_slides(void **state) {
  (void)state;
  static const struct {
    const char *first, *second;
    bool planar;
  } axes[] = {{"1, 0, 0", "0, 1, 0", true},
              {"1, 0, 0", "0, 0, 1", true},
              {"0, 1, 0", "0, 0, 1", true},
              {"0, 0, 1", "1, 0, 0", true},
              {"1, 1, 0", "0, 0, 1", false}};
  for (size_t i = 0; i < sizeof axes / sizeof *axes; i++) {
    char text[400];
    snprintf(text, sizeof text,
             "bodies: {a: {point: {mass: 2 kg}}, b: {point: {mass: 1 kg}}}\n"
             "joints:\n  A: {type: prismatic, between: [ground, a], axis: [%s]}\n"
             "  B: {type: prismatic, between: [a, b], axis: [%s]}\ninitial: {A.position: 0 m, B.position: 0 m}\n",
             axes[i].first, axes[i].second);
    od_machine *machine = od_test_machine_text(text);
    if (od_machine_model(machine)->planar != axes[i].planar) fail_msg("axes %s and %s", axes[i].first, axes[i].second);
    od_machine_free(machine);
  }
}

// The states of frictions in joints are eliminated with their joints, also the state with the index 0.
static void test_states_of_joints(void **state) {
  (void)state;
  static const char text[] =
      "bodies: {a: {beam: {mass: 1 kg, length: 1 m}}, b: {beam: {mass: 1 kg, length: 1 m}}}\njoints:\n"
      "  A: {type: revolute, between: [ground, a.start], friction: {law: lugre, Fs: 3 N m, Fc: 2 N m, vs: 0.1 rad/s, sigma_0: 5 kN m/rad}}\n"
      "  B: {type: revolute, between: [a.end, b.start], friction: {law: lugre, Fs: 3 N m, Fc: 2 N m, vs: 0.1 rad/s, sigma_0: 5 kN m/rad}}\n"
      "initial: {A.angle: 0.1 rad, B.angle: 0.2 rad}\n";
  od_machine *machine = od_test_machine_text(text);
  const od_tree_states *t = &od_machine_model(machine)->tree_states;
  assert_int_equal(t->groups, 2);
  assert_int_equal(t->rests, 0);
  for (int i = 0; i < 2; i++) {
    assert_int_equal(t->group[i].coordinate, i);
    assert_int_equal(t->group[i].first, i);
    assert_int_equal(t->group[i].count, 1);
    assert_int_equal(t->own[i], i);
  }
  od_machine_free(machine);
  // The brake in the first joint has a state that depends on a pressure as well.
  static const char braked[] =
      "oil: {density: 870, law: constant, modulus: 1.4 GPa}\nvolumes: {C: {volume: 1 L}}\n"
      "bodies: {a: {beam: {mass: 1 kg, length: 1 m}}, b: {beam: {mass: 1 kg, length: 1 m}}}\njoints:\n"
      "  A: {type: revolute, between: [ground, a.start]}\n"
      "  B: {type: revolute, between: [a.end, b.start], friction: {law: lugre, Fs: 3 N m, Fc: 2 N m, vs: 0.1 rad/s, sigma_0: 5 kN m/rad}}\n"
      "brakes: {brake: {joint: A, at: C, holding: 40 N m, deflection: 5 deg, damping: 0.5 N m s/rad, engage: 20 bar, release: 35 bar}}\n"
      "initial: {A.angle: 0.1 rad, B.angle: 0.2 rad, C.pressure: 10 bar}\n";
  machine = od_test_machine_text(braked);
  const od_model *m = od_machine_model(machine);
  assert_int_equal(m->tree_states.groups, 1);
  assert_int_equal(m->tree_states.group[0].coordinate, 1);
  assert_int_equal(m->tree_states.own_count, 1);
  assert_true(m->states > 2 && m->tree_states.rests == m->states - 1);
  od_machine_free(machine);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_shared_loads),
      cmocka_unit_test(test_units),
      cmocka_unit_test_setup_teardown(test_open_loops, machine_file_start, machine_file_end),
      cmocka_unit_test_setup_teardown(test_reservoirs, machine_file_start, machine_file_end),
      cmocka_unit_test(test_joint_classes),
      cmocka_unit_test(test_first_junction),
      cmocka_unit_test(test_measured_components),
      cmocka_unit_test(test_planes_of_slides),
      cmocka_unit_test(test_states_of_joints),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
