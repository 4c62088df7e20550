// Building a model without a file. Oracles: the same machine as a file, which must give the same bits; messages for every
// mistake of a program with an index or a number; positions of numbers by hand. examples/build_machine.c compares the results
// of such a machine with closed forms.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "support/test.h"
#include "elements/elements.h"
#include "oleodyn/oleodyn.h"

// ---- a machine with parts of every kind

// Indices of the built parts, in the order of building. A test changes one before it is used.
typedef struct parts {
  int mass, gravity, body, ground, rod, axis, joint, load, oil, input, P, A, T, valve_numbers, port_numbers,
      pumping_numbers, valve, relief, cylinder_numbers, cylinder, friction, block_numbers, block;
  double bad;  // replaces a number; zero: none
} parts;
typedef void mutation(parts *p, int stage);

enum { BODIES, JOINTS, CIRCUIT, ELEMENTS, PORTS, FRICTION, BLOCKS, END };

static int numbers(od_build *b, const char *path, int count, const double *value) {
  int first = -1;
  for (int i = 0; i < count; i++) {
    char name[64];
    snprintf(name, sizeof name, "%s.%d", path, i);
    int place = od_build_number(b, name, value[i], "1");
    if (i == 0) first = place;
  }
  return first;
}
#define NUMBERS(b, path, ...) \
  numbers(b, path, (int)(sizeof((double[]){__VA_ARGS__}) / sizeof(double)), (double[]){__VA_ARGS__})

static void build_mechanism(od_build *b, parts *p, mutation *change) {
  p->gravity = NUMBERS(b, "gravity", 0, -9.81, 0);
  p->mass = NUMBERS(b, "body", 80, 0, 0, 0);
  p->axis = NUMBERS(b, "axis", 1, 0, 0);
  if (change) change(p, BODIES);
  od_build_gravity(b, p->gravity);
  p->body = od_build_body(b, "body", OD_SHAPE_POINT, p->mass);
  p->ground = od_build_point(b, "base", OD_GROUND, OD_UNUSED, OD_UNUSED, 0);
  if (change) change(p, JOINTS);
  p->rod = od_build_point(b, "rod", p->body, OD_UNUSED, OD_UNUSED, 0);
  od_joint_spec slide = od_joint_spec_of(OD_PRISMATIC, p->ground, p->rod);
  slide.axis_a = p->axis;
  p->joint = od_build_joint(b, "slide", &slide);
  p->load = NUMBERS(b, "load", 3e3, -1, 0, 0);
}

static void build_nodes(od_build *b, parts *p, mutation *change) {
  p->oil = NUMBERS(b, "oil", 870, 1e4, 1.4e9);
  p->input = od_build_input(b, "command", "V");
  if (change) change(p, CIRCUIT);
  od_build_force(b, "load", p->rod, p->load, OD_UNUSED, false);
  od_build_oil(b, OD_OIL_CONSTANT, p->oil);
  p->P = od_build_node(b, "P", OD_NODE_SOURCE, NUMBERS(b, "P", 120e5), OD_UNUSED);
  p->A = od_build_node(b, "A", OD_NODE_VOLUME, NUMBERS(b, "A", 1e-4), OD_UNUSED);
  p->T = od_build_node(b, "T", OD_NODE_TANK, NUMBERS(b, "T", 1e5), OD_UNUSED);
}

static void build_elements(od_build *b, parts *p, mutation *change) {
  p->valve_numbers = od_build_element_numbers(
      b, "valve", "valve",
      (od_keyed_number[]){{"stroke", 10}, {"time_constant", 0.02}, {"area", 4e-6}, {"discharge", 0.6}, {"full", 1}}, 5);
  p->port_numbers = NUMBERS(b, "port", 0, 0, 4, 10, 0, 0.5, 1);
  p->pumping_numbers = NUMBERS(b, "pumping", 0, 0, 4, 10, 0, -0.2, 1);
  p->cylinder_numbers = NUMBERS(b, "cylinder", 1e-3, 6e-4, 0.5, 0.4, 2e-5, 3e-5, 1e-12, 1e8, 1);
  if (change) change(p, ELEMENTS);
  od_element_spec valve = od_element_spec_of("valve"), port = od_element_spec_of("port");
  od_element_spec relief = od_element_spec_of("relief valve"), cylinder = od_element_spec_of("cylinder");
  valve.first_number = p->valve_numbers;
  valve.signal = p->input;
  p->valve = od_build_element(b, "valve", &valve);
  if (change) change(p, PORTS);
  port.host = p->valve;
  port.end[0] = p->P, port.end[1] = p->A;
  port.first_number = p->port_numbers;
  port.numbers = 1 + 2 * 3;
  port.choice[OD_PORT_SIDE] = 1;
  port.choice[OD_PORT_DEGREE] = 1;
  port.choice[OD_PORT_COUNT] = 3;
  port.choice[OD_PORT_LAW] = OD_VALVE_OPENING;
  od_build_element(b, "open", &port);
  relief.end[0] = p->A, relief.end[1] = p->T;
  relief.first_number = NUMBERS(b, "relief", p->bad == 0 ? 110e5 : p->bad, 2e-9);
  p->relief = od_build_element(b, "relief", &relief);
  cylinder.end[0] = p->A, cylinder.end[1] = p->T;
  cylinder.point_a = p->ground, cylinder.point_b = p->rod;
  cylinder.first_number = p->cylinder_numbers;
  p->cylinder = od_build_element(b, "cylinder", &cylinder);
  if (change) change(p, FRICTION);
  od_element_spec leak = od_element_spec_of("leak");
  leak.end[0] = p->A, leak.end[1] = p->T;
  leak.host = p->cylinder;
  leak.first_number = p->cylinder_numbers + OD_CYLINDER_LEAKAGE;
  od_build_element(b, "", &leak);
  od_element_spec friction = od_element_spec_of("coulomb");
  friction.host = p->cylinder;
  friction.first_number = od_build_element_numbers(b, "cylinder.friction", "coulomb",
                                                   (od_keyed_number[]){{"Fc", 100}, {"vs", 1e-2}, {"viscous", 500}}, 3);
  p->friction = od_build_element(b, "", &friction);
}

static void build_block(od_build *b, parts *p, mutation *change) {
  p->block_numbers = NUMBERS(b, "filter", 2, 0.1);
  p->block =
      od_build_block(b, "filter", &(od_block_spec){.block_class = od_block_spec_of("first-order").block_class}, "m");
  if (change) change(p, BLOCKS);
  od_build_block_numbers(b, p->block, p->block_numbers);
  od_build_block_measures(b, p->block, 0, "slide.position");
}

static od_build *build(parts *p, mutation *change) {
  od_build *b = od_build_new();
  assert_non_null(b);
  *p = (parts){0};
  build_mechanism(b, p, change);
  build_nodes(b, p, change);
  build_elements(b, p, change);
  build_block(b, p, change);
  if (change) change(p, END);
  od_build_initial(b, "slide.position", 0.6, true);
  od_build_initial(b, "A.pressure", 31e5, true);
  return b;
}

// ---- the same as a file

static const char file[] =
    "machine: a bit of everything\n"
    "gravity: [0, -9.81 m/s2, 0]\n"
    "ground: {points: {base: [0, 0, 0]}}\n"
    "bodies: {body: {point: {mass: 80 kg, at: [0, 0, 0]}, points: {rod: [0, 0, 0]}}}\n"
    "joints: {slide: {type: prismatic, between: [ground.base, body.rod], axis: [1, 0, 0]}}\n"
    "forces: {load: {at: body.rod, value: 3 kN, direction: [-1, 0, 0]}}\n"
    "inputs: {command: {unit: V, constant: 0 V}}\n"
    "oil: {density: 870 kg/m3, law: constant, modulus: 1400 MPa, smoothing: 1e4 Pa}\n"
    "sources: {P: {pressure: 120 bar}}\n"
    "volumes: {A: {volume: 1e-4 m3}}\n"
    "tanks: {T: {pressure: 1 bar}}\n"
    "valves:\n"
    "  valve: {command: command, time_constant: 0.02 s, stroke: 10 V, area: 4e-6 m2, discharge: 0.6, full: 1,\n"
    "          ports: {open: {between: [P, A], side: positive, curve: {degree: 1, points: [0, 0.5, 1], at: [0 V, 4 V, 10 V]}}}}\n"
    "reliefs: {relief: {between: [A, T], set: 110 bar, slope: 2e-9 m3/s/Pa}}\n"
    "cylinders:\n"
    "  cylinder: {between: [ground.base, body.rod], chambers: [A, T], areas: [1e-3 m2, 6e-4 m2], closed: 0.5 m, stroke: 0.4 m,\n"
    "             dead: [2e-5 m3, 3e-5 m3], leakage: 1e-12 m3/s/Pa, stops: {stiffness: 1e8 N/m, damping: 1 s/m},\n"
    "             friction: {law: coulomb, Fc: 100 N, vs: 0.01 m/s, viscous: 500 N s/m}}\n"
    "blocks: {filter: {type: first-order, unit: m, input: slide.position, gain: 2, time_constant: 0.1 s}}\n"
    "initial: {slide.position: 0.6 m, A.pressure: 31 bar}\n";

enum { WATCHED = 5 };
static const char *const watched[WATCHED] = {"slide.position", "A.pressure", "relief.flow", "filter",
                                             "cylinder.friction"};

static void simulate(od_plant *plant, double *y) {
  od_sim *sim = od_sim_new(plant);
  assert_non_null(sim);
  const double u = 8;
  assert_int_equal(od_sim_start(sim, 0, &u), OD_OK);
  for (int i = 0; i < 500; i++) assert_int_equal(od_sim_step(sim, 1e-3, &u), OD_OK);
  assert_int_equal(od_sim_outputs(sim, y), OD_OK);
  od_sim_free(sim);
}

static void same_as_a_file(void **state) {
  (void)state;
  od_messages *messages = od_messages_new();
  od_machine *machine = NULL;
  const od_load_options options = {.content = {file, sizeof file - 1}};
  if (od_machine_load("machine.yaml", &options, &machine, messages) != OD_OK)
    fail_msg("%s", od_messages_get(messages, 0)->text);
  parts p;
  od_build *b = build(&p, NULL);
  od_model *model = NULL;
  od_error err = {0};
  if (od_build_finish(b, &model, &err) != OD_OK) fail_msg("%s", err.text);
  int of_file[WATCHED], of_model[WATCHED];
  for (int i = 0; i < WATCHED; i++) {
    of_file[i] = od_machine_output_find(machine, watched[i]);
    of_model[i] = od_model_output_find(model, watched[i]);
    assert_true(of_model[i] >= 0);
    assert_string_equal(od_model_output_unit(model, of_model[i]), od_machine_output_unit(machine, of_file[i]));
  }
  od_plant *first = NULL, *second = NULL;
  double expected[WATCHED], found[WATCHED];
  assert_int_equal(od_machine_plant(machine, of_file, WATCHED, NULL, 0, &first, &err), OD_OK);
  assert_int_equal(od_model_plant(model, of_model, WATCHED, NULL, 0, &second, &err), OD_OK);
  simulate(first, expected);
  simulate(second, found);
  assert_memory_equal(found, expected, sizeof found);
  assert_true(expected[0] > 0.65);  // it has moved
  od_plant_free(first);
  od_plant_free(second);
  od_build_free(b);
  od_model_free(model);
  od_machine_free(machine);
  od_messages_free(messages);
}

// ---- mistakes

#define MUTATION(name, when, what)        \
  static void name(parts *p, int stage) { \
    if (stage == when) what;              \
  }
MUTATION(far_gravity, BODIES, p->gravity = 1000)
MUTATION(no_mass, BODIES, p->mass = OD_UNUSED)
MUTATION(no_axis, BODIES, p->axis = OD_UNUSED)
MUTATION(no_direction, BODIES, p->axis = p->mass + 1)
MUTATION(far_body, JOINTS, p->body = 7)
MUTATION(far_point, JOINTS, p->ground = -2)
MUTATION(same_body, JOINTS, p->body = OD_GROUND)
MUTATION(no_load, CIRCUIT, p->load = OD_UNUSED)
MUTATION(far_load, CIRCUIT, p->rod = 99)
MUTATION(no_oil, CIRCUIT, p->oil = OD_UNUSED)
MUTATION(far_node, ELEMENTS, p->A = 12)
MUTATION(no_command, ELEMENTS, p->input = OD_UNUSED)
MUTATION(far_command, ELEMENTS, p->input = 3)
MUTATION(far_cylinder, ELEMENTS, p->cylinder_numbers = 1 << 30)
MUTATION(negative, ELEMENTS, p->bad = -1)
MUTATION(not_a_number, ELEMENTS, p->bad = NAN)
MUTATION(no_valve, PORTS, p->valve = OD_UNUSED)
MUTATION(later_valve, PORTS, p->valve = 4)
MUTATION(curve_back, PORTS, p->port_numbers = p->cylinder_numbers)
MUTATION(curve_negative, PORTS, p->port_numbers = p->pumping_numbers)
MUTATION(far_host, FRICTION, p->cylinder = 50)
MUTATION(far_block_numbers, BLOCKS, p->block_numbers = -4)

static const struct mistake {
  mutation *change;
  od_culprit_kind kind;
  const char *text;  // anywhere in a message
} mistakes[] = {
    {far_gravity, OD_ABOUT_MACHINE, "'gravity' needs 3 numbers from index 1000 on"},
    {no_mass, OD_ABOUT_BODY, "body 'body' needs 4 numbers from index -1 on"},
    {no_axis, OD_ABOUT_JOINT, "the axis of joint 'slide' needs 3 numbers"},
    {no_direction, OD_ABOUT_JOINT, "the axis of joint 'slide' has zero length"},
    {far_body, OD_ABOUT_POINT, "point 'rod' refers to body 7; expected an index from 0 to 0"},
    {far_point, OD_ABOUT_JOINT, "joint 'slide' refers to point -2"},
    {same_body, OD_ABOUT_JOINT, "joint 'slide' connects two points of the same body"},
    {no_load, OD_ABOUT_LOAD, "force 'load' needs 4 numbers from index -1 on"},
    {far_load, OD_ABOUT_LOAD, "force 'load' refers to point 99"},
    {no_oil, OD_ABOUT_MACHINE, "the circuit has no oil: call od_build_oil()"},
    {far_node, OD_ABOUT_ELEMENT, "relief valve 'relief' refers to node 12; expected an index from 0 to 2"},
    {no_command, OD_ABOUT_ELEMENT, "'valve' has no signal"},
    {far_command, OD_ABOUT_ELEMENT, "'valve' refers to signal 3"},
    {far_cylinder, OD_ABOUT_ELEMENT, "cylinder 'cylinder' needs 9 numbers from index 1073741824 on"},
    {negative, OD_ABOUT_ELEMENT, "'set' of relief valve 'relief' is -1 Pa; expected zero or more"},
    {not_a_number, OD_ABOUT_NUMBER, "the number 'relief.0' is nan"},
    {no_valve, OD_ABOUT_ELEMENT, "port 'open' refers to element -1"},
    {later_valve, OD_ABOUT_ELEMENT, "port 'open' refers to element 4"},
    {curve_back, OD_ABOUT_ELEMENT, "the curve of port 'open' has a point at"},
    {curve_negative, OD_ABOUT_ELEMENT, "the curve of port 'open' has the value -0.2; expected zero or more"},
    {far_host, OD_ABOUT_ELEMENT, "refers to element 50"},
    {far_block_numbers, OD_ABOUT_BLOCK, "block 'filter' needs 2 numbers from index -4 on"},
};

static bool has_problem(const od_build *b, od_culprit_kind kind, const char *text) {
  for (int i = 0; i < od_build_problem_count(b); i++) {
    od_problem p = od_build_problem(b, i);
    assert_true((p.kind == OD_ABOUT_MACHINE) == (p.index == -1));
    if (p.kind == kind && strstr(p.text, text)) return true;
  }
  return false;
}

static void assert_refused(od_build *b, od_culprit_kind kind, const char *text) {
  od_model *model = NULL;
  od_error err = {0};
  assert_int_equal(od_build_finish(b, &model, &err), OD_BAD_INPUT);
  assert_null(model);
  if (has_problem(b, kind, text)) return;
  for (int i = 0; i < od_build_problem_count(b); i++) print_message("%s\n", od_build_problem(b, i).text);
  fail_msg("no message about this: %s", text);
}

static void every_mistake_has_a_message(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof mistakes / sizeof *mistakes; i++) {
    parts p;
    od_build *b = build(&p, mistakes[i].change);
    assert_refused(b, mistakes[i].kind, mistakes[i].text);
    od_build_free(b);
  }
}

static void all_at_once(parts *p, int stage) {
  no_axis(p, stage);
  no_load(p, stage);
  negative(p, stage);
}

static void all_mistakes_in_one_run(void **state) {
  (void)state;
  parts p;
  od_build *b = build(&p, all_at_once);
  assert_refused(b, OD_ABOUT_JOINT, "the axis of joint");
  assert_true(has_problem(b, OD_ABOUT_LOAD, "force 'load'"));
  assert_true(has_problem(b, OD_ABOUT_ELEMENT, "'relief' is -1 Pa"));
  od_build_free(b);
}

// Initial values that are not numbers, the first and the last of several.
static void initial_values(void **state) {
  (void)state;
  od_build *b = od_build_new();
  od_build_initial(b, "first.rate", NAN, true);
  od_build_initial(b, "middle.rate", 1, true);
  od_build_initial(b, "last.rate", -INFINITY, true);
  assert_refused(b, OD_ABOUT_INITIAL, "the initial value of 'first.rate' is nan");
  assert_true(has_problem(b, OD_ABOUT_INITIAL, "the initial value of 'last.rate' is -inf"));
  assert_false(has_problem(b, OD_ABOUT_INITIAL, "the initial value of 'middle.rate' is 1;"));
  od_build_free(b);
}

// Invalid values of enumerations, an unknown class, an unknown input.
static void what_does_not_exist(void **state) {
  (void)state;
  parts p;
  od_build *b = build(&p, NULL);
  od_build_body(b, "odd", (od_shape)77, p.mass);
  od_build_joint(b, "loose", &(od_joint_spec){.type = (od_joint_type)9, .point_a = p.ground, .point_b = p.rod});
  od_build_node(b, "N", (od_node_kind)5, p.mass, OD_UNUSED);
  od_build_pressure_difference(b, "dp", p.A, 12);
  od_element_spec nothing = od_element_spec_of("perpetual motion");
  assert_int_equal(nothing.element_class, -1);
  od_build_element(b, "engine", &nothing);
  od_build_input_start(b, 4, 1);
  od_build_initial(b, "slide.rate", INFINITY, true);
  od_build_block_measures(b, p.block, 1, "A.pressure");
  od_build_block_numbers(b, -1, 0);
  od_block_spec sum = od_block_spec_of("sum"), transfer = od_block_spec_of("transfer-function"),
                none = od_block_spec_of("nun");
  sum.inputs = 40;
  assert_true(od_block_choose(&transfer, "numerator", 2) && od_block_choose(&transfer, "denominator", 1));
  assert_false(od_block_choose(&transfer, "limits", 1));
  assert_false(od_block_choose(&none, "limits", 1));
  int wide = od_build_block(b, "wide", &sum, "1");
  od_build_block(b, "improper", &transfer, "1");
  od_build_block(b, "none", &none, "1");
  od_build_block_numbers(b, wide, p.mass);
  od_build_block_input(b, p.block, 0, od_build_block_signal(b, p.block, 3));
  assert_refused(b, OD_ABOUT_BODY, "body 'odd' has the unknown shape 77; expected an od_shape");
  assert_true(has_problem(b, OD_ABOUT_JOINT, "joint 'loose' has the unknown type 9; expected an od_joint_type"));
  assert_true(has_problem(b, OD_ABOUT_NODE, "node 'N' has the unknown kind 5; expected an od_node_kind"));
  assert_true(has_problem(b, OD_ABOUT_PRESSURE_DIFFERENCE, "'dp' refers to node 12; expected an index from 0 to 3"));
  assert_true(has_problem(b, OD_ABOUT_ELEMENT, "'engine' has an unknown class"));
  assert_true(has_problem(b, OD_ABOUT_MACHINE,
                          "there is no input 4 for an initial value; expected an index of at least 0 and less than 1"));
  assert_true(has_problem(b, OD_ABOUT_INITIAL, "the initial value of 'slide.rate' is inf"));
  assert_true(has_problem(b, OD_ABOUT_BLOCK,
                          "block 'filter' has no input 1 to connect; expected an index of at least 0 and less than 1"));
  assert_true(has_problem(b, OD_ABOUT_BLOCK, "block 'filter' refers to signal -2"));
  assert_true(has_problem(b, OD_ABOUT_BLOCK, "block 'wide' has 40 inputs"));
  assert_true(has_problem(b, OD_ABOUT_BLOCK, "block 'improper' is not proper"));
  assert_true(has_problem(b, OD_ABOUT_BLOCK, "block 'none' has an unknown type"));
  assert_true(has_problem(b, OD_ABOUT_MACHINE,
                          "there is no block -1 to connect; expected an index of at least 0 and less than 1"));
  od_build_free(b);
}

// Blocks measure functions of states: the opening of a relief valve or a flow is refused, also of the first element.
static void measured_flows(void **state) {
  (void)state;
  static const char *const quantities[] = {"first.flow", "second.flow"};
  for (int i = 0; i < 2; i++) {
    od_build *b = od_build_new();
    od_build_oil(b, OD_OIL_CONSTANT, NUMBERS(b, "oil", 870, 1e4, 1.4e9));
    int A = od_build_node(b, "A", OD_NODE_VOLUME, NUMBERS(b, "A", 1e-4), OD_UNUSED);
    int T = od_build_node(b, "T", OD_NODE_TANK, NUMBERS(b, "T", 1e5), OD_UNUSED);
    od_element_spec leak = od_element_spec_of("leak");
    leak.end[0] = A, leak.end[1] = T;
    leak.first_number = NUMBERS(b, "leak", 1e-12);
    od_build_element(b, "first", &leak);
    od_build_element(b, "second", &leak);
    int block =
        od_build_block(b, "filter", &(od_block_spec){.block_class = od_block_spec_of("first-order").block_class}, "m");
    od_build_block_numbers(b, block, NUMBERS(b, "filter", 2, 0.1));
    od_build_block_measures(b, block, 0, quantities[i]);
    od_build_initial(b, "A.pressure", 2e5, true);
    char text[100];
    snprintf(text, sizeof text, "block 'filter' cannot measure '%s': only functions of the states", quantities[i]);
    assert_refused(b, OD_ABOUT_BLOCK, text);
    od_build_free(b);
  }
}

// Returns the output of the friction of a cylinder, the first element of a machine, at a speed of its rod. two_sided: the law has other numbers for
// negative speeds.
static double first_friction(double rate, bool two_sided) {
  od_build *b = od_build_new();
  parts p = {0};
  build_mechanism(b, &p, NULL);
  build_nodes(b, &p, NULL);
  od_element_spec cylinder = od_element_spec_of("cylinder"), friction = od_element_spec_of("coulomb");
  cylinder.end[0] = p.A, cylinder.end[1] = p.T;
  cylinder.point_a = p.ground, cylinder.point_b = p.rod;
  cylinder.first_number = NUMBERS(b, "cylinder", 1e-3, 6e-4, 0.5, 0.4, 2e-5, 3e-5, 1e-12, 1e8, 1);
  friction.host = od_build_element(b, "cylinder", &cylinder);
  assert_int_equal(friction.host, 0);
  friction.choice[0] = two_sided;
  friction.first_number = od_build_element_numbers(
      b, "cylinder.friction", "coulomb",
      (od_keyed_number[]){{"Fc", 100}, {"vs", 1e-2}, {"viscous", 500}, {"Fc_negative", 60}}, two_sided ? 4 : 3);
  od_build_element(b, "", &friction);
  od_build_initial(b, "slide.position", 0.6, true);
  od_build_initial(b, "slide.rate", rate, true);
  od_build_initial(b, "A.pressure", 31e5, true);
  od_model *model = NULL;
  od_error err = {0};
  if (od_build_finish(b, &model, &err) != OD_OK) fail_msg("%s", err.text);
  int output = od_model_output_find(model, "cylinder.friction");
  assert_true(output >= 0);
  od_plant *plant = NULL;
  assert_int_equal(od_model_plant(model, &output, 1, NULL, 0, &plant, &err), OD_OK);
  od_sim *sim = od_sim_new(plant);
  const double u = 0;
  double y;
  assert_int_equal(od_sim_start(sim, 0, &u), OD_OK);
  assert_int_equal(od_sim_outputs(sim, &y), OD_OK);
  od_sim_free(sim);
  od_plant_free(plant);
  od_model_free(model);
  od_build_free(b);
  return y;
}

static void friction_of_first_element(void **state) {
  (void)state;
  near_relative(fabs(first_friction(2, false)), 100 + 500 * 2, 1e-2);  // Fc + viscous v
  near_relative(fabs(first_friction(-2, false)), 100 + 500 * 2, 1e-2);
  near_relative(fabs(first_friction(2, true)), 100 + 500 * 2, 1e-2);
  near_relative(fabs(first_friction(-2, true)), 60 + 500 * 2, 1e-2);  // other numbers for negative speeds
}

// Missing parts can be added, and the model can then be built.
static void added_later(void **state) {
  (void)state;
  parts p;
  od_build *b = build(&p, NULL);
  int node = od_build_node(b, "B", OD_NODE_VOLUME, NUMBERS(b, "B", 1e-4), OD_UNUSED);
  assert_true(node >= 0);
  assert_refused(b, OD_ABOUT_NODE, "volume 'B' has no initial pressure");
  assert_int_equal(od_build_problem_count(b), 1);
  od_build_initial(b, "B.pressure", 2e5, true);
  od_model *model = NULL;
  od_error err = {0};
  if (od_build_finish(b, &model, &err) != OD_OK) fail_msg("%s", err.text);
  assert_int_equal(od_build_problem_count(b), 0);
  od_model_free(model);
  od_build_free(b);
}

// A wrong call remains an error; parts that were missing before do not count twice.
static void wrong_calls_stay(void **state) {
  (void)state;
  parts p;
  od_build *b = build(&p, NULL);
  od_build_node(b, "B", OD_NODE_VOLUME, NUMBERS(b, "B", 1e-4), OD_UNUSED);
  assert_refused(b, OD_ABOUT_NODE, "volume 'B' has no initial pressure");
  od_build_input_start(b, 9, 1);
  od_build_initial(b, "B.pressure", 2e5, true);
  assert_refused(b, OD_ABOUT_MACHINE, "there is no input 9 for an initial value");
  assert_int_equal(od_build_problem_count(b), 1);
  od_build_free(b);
}

// ---- numbers by keys

static void numbers_by_keys(void **state) {
  (void)state;
  parts p;
  od_build *b = build(&p, NULL);
  // Defaults are included: the next number follows all of the cylinder's numbers.
  int first = od_build_element_numbers(
      b, "c", "cylinder", (od_keyed_number[]){{"stroke", 4}, {"closed", 3}, {"areas[1]", 2}, {"areas[0]", 1}}, 4);
  assert_int_equal(od_build_number(b, "next", 0, "1"), first + OD_CYLINDER_NUMBERS);
  // Wrong keys: the messages remain after a first od_build_finish().
  od_build_element_numbers(b, "r", "relief valve", (od_keyed_number[]){{"set", 1}, {"sloppe", 2}}, 2);
  assert_int_equal(od_build_element_numbers(b, "x", "flux capacitor", NULL, 0), OD_UNUSED);
  for (int i = 0; i < 2; i++) {
    assert_refused(b, OD_ABOUT_MACHINE, "'r' has the unknown number 'sloppe'; a relief valve has: set, slope");
    assert_true(has_problem(b, OD_ABOUT_MACHINE, "'r.slope' is missing: flow per pressure above 'set' (m3/s/Pa)"));
    assert_true(has_problem(b, OD_ABOUT_MACHINE, "'x': there is no class of elements called 'flux capacitor'"));
    assert_int_equal(od_build_problem_count(b), 3);
  }
  od_build_free(b);
}

// The position of a spool has the unit of the signal that moves the valve.
static void units_of_spools(void **state) {
  (void)state;
  parts p;
  od_build *b = build(&p, NULL);
  od_model *m = NULL;
  assert_int_equal(od_build_finish(b, &m, NULL), OD_OK);
  int spool = od_model_output_find(m, "valve.spool");
  assert_true(spool >= 0);
  assert_string_equal(od_model_output_unit(m, spool), "V");
  od_model_free(m);
  od_build_free(b);
}

// Every class of elements without any given number: places for all fields that are not optional, and one message for each field without a
// default, with its meaning.
static void numbers_of_all_classes(void **state) {
  (void)state;
  for (int c = 0; c < od_element_class_count(); c++) {
    const od_element_description *d = od_element_description_at(c);
    od_build *b = od_build_new();
    od_build_input(b, "before", "1");
    int count = d->field_count - d->equations->optional_numbers;
    int first = od_build_element_numbers(b, "e", d->equations->name, NULL, 0);
    if (count == 0) assert_int_equal(first, OD_UNUSED);
    if (count > 0) assert_int_equal(od_build_number(b, "next", 0, "1"), first + count);
    od_model *model = NULL;
    od_build_finish(b, &model, NULL);
    for (int i = 0; i < d->field_count; i++) {
      const od_element_field *f = &d->fields[i];
      double value = f->fallback;
      for (int k = 0; f->same_as && k < d->field_count; k++)
        if (strcmp(d->fields[k].key, f->same_as) == 0) value = d->fields[k].fallback;
      char says[300];
      snprintf(says, sizeof says, "%s' is missing: %s (%s)", f->key, f->meaning, f->unit);
      assert_true(has_problem(b, OD_ABOUT_MACHINE, says) == (i < count && isnan(value)));
    }
    od_model_free(model);
    od_build_free(b);
  }
}

// Blocks, outputs and states that do not exist have no names.
static void names_of_blocks(void **state) {
  (void)state;
  od_build *b = od_build_new();
  int block =
      od_build_block(b, "filter", &(od_block_spec){.block_class = od_block_spec_of("first-order").block_class}, "m");
  assert_int_equal(block, 0);
  assert_int_equal(od_build_block_output_count(b, 0), 1);
  assert_int_equal(od_build_block_state_count(b, 0), 1);
  assert_string_equal(od_build_block_output_name(b, 0, 0), "");
  assert_string_not_equal(od_build_block_state_name(b, 0, 0), "");
  for (int wrong = -1; wrong <= 1; wrong += 2) {
    assert_int_equal(od_build_block_output_count(b, wrong), 0);
    assert_int_equal(od_build_block_state_count(b, wrong), 0);
    for (int i = 0; i < 2; i++) {
      assert_string_equal(od_build_block_output_name(b, i ? wrong : 0, i ? 0 : wrong), "");
      assert_string_equal(od_build_block_state_name(b, i ? wrong : 0, i ? 0 : wrong), "");
    }
  }
  od_build_free(b);
}

// Ends of every class: a node that does not exist is refused at every end, a missing node at every end that is not optional.
static void ends_of_every_class(void **state) {
  (void)state;
  int ends = 0, optional = 0;
  for (int i = 0; i < od_element_class_count(); i++) {
    const od_element_description *c = od_element_description_at(i);
    int at = 0;
    for (int k = 0; k < OD_MOST_END_KEYS && c->ends[k].key; k++)
      for (int n = 0; n < c->ends[k].count; n++, at++)
        for (int wrong = 0; wrong < 2; wrong++) {
          parts p;
          od_model *model = NULL;
          od_build *b = build(&p, NULL);
          od_element_spec spec = od_element_spec_of(c->equations->name);
          for (int e = 0; e < OD_MOST_ENDS; e++) spec.end[e] = p.A;
          spec.end[at] = wrong ? 77 : OD_UNUSED;
          od_build_element(b, "x", &spec);
          assert_int_not_equal(od_build_finish(b, &model, NULL), OD_OK);  // it has no numbers
          char text[100];
          snprintf(text, sizeof text, "%s 'x' refers to node %d", c->noun, spec.end[at]);
          if (has_problem(b, OD_ABOUT_ELEMENT, text) != (wrong || !c->ends[k].optional))
            fail_msg("%s, end %d: %s", c->equations->name, at, text);
          ends++, optional += c->ends[k].optional;
          od_build_free(b);
        }
  }
  assert_true(ends > 100 && optional >= 10);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(same_as_a_file),
      cmocka_unit_test(every_mistake_has_a_message),
      cmocka_unit_test(all_mistakes_in_one_run),
      cmocka_unit_test(initial_values),
      cmocka_unit_test(what_does_not_exist),
      cmocka_unit_test(added_later),
      cmocka_unit_test(wrong_calls_stay),
      cmocka_unit_test(numbers_by_keys),
      cmocka_unit_test(numbers_of_all_classes),
      cmocka_unit_test(units_of_spools),
      cmocka_unit_test(names_of_blocks),
      cmocka_unit_test(measured_flows),
      cmocka_unit_test(friction_of_first_element),
      cmocka_unit_test(ends_of_every_class),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
