// The data of `info --json`: every reference resolves, and positions agree with the outputs.
//
// Oracles: a schema in this test, applied to all machines of cases/ and to a machine with every kind of part; the names, outputs and
// points of the machine; positions of points that the outputs of the machine give; and for valves the open paths by hand. Machines
// without initial values, or that cannot be assembled, have the same description without positions.
#include "support/test.h"

#include <glob.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "machine/machine.h"
#include "machine/machine_info.h"
#include "machine/output_pattern.h"
#include "support/machine_file.h"
#include "support/machines.h"

// --- Access to the data

static json_t *member(const json_t *object, const char *key) {
  json_t *value = json_object_get(object, key);
  if (value == NULL) fail_msg("there is no member '%s'", key);
  return value;
}

static const char *text_of(const json_t *object, const char *key) {
  const json_t *value = member(object, key);
  if (!json_is_string(value) && !json_is_null(value)) fail_msg("'%s' is not a text", key);
  return json_string_value(value);
}

// Returns the entry of a list whose field `key` has this text; NULL: none.
static json_t *find(const json_t *list, const char *key, const char *name) {
  size_t i;
  json_t *entry;
  json_array_foreach(list, i, entry) {
    const char *found = json_string_value(json_object_get(entry, key));
    if (found && name && strcmp(found, name) == 0) return entry;
  }
  return NULL;
}

static json_t *need(const json_t *list, const char *key, const char *name) {
  json_t *entry = find(list, key, name);
  if (entry == NULL) fail_msg("there is no part with %s '%s'", key, name ? name : "(null)");
  return entry;
}

static void check_vector(const json_t *v, bool is_unit) {
  double square = 0;
  assert_int_equal(json_array_size(v), 3);
  for (size_t k = 0; k < 3; k++) {
    assert_true(json_is_number(json_array_get(v, k)));
    square += json_number_value(json_array_get(v, k)) * json_number_value(json_array_get(v, k));
  }
  if (is_unit) near(square, 1, 1e-12);
}

// --- The schema

// Checks that a text is the name of a point, "body.point".
static void check_point(const json_t *parts, const char *name) {
  const char *dot = strrchr(name, '.');
  assert_non_null(dot);
  char body[200];
  snprintf(body, sizeof body, "%.*s", (int)(dot - name), name);
  const json_t *owner =
      strcmp(body, "ground") == 0 ? member(parts, "ground") : need(member(parts, "bodies"), "name", body);
  need(member(owner, "points"), "name", dot + 1);
}

static void check_pair_of_points(const json_t *parts, const json_t *part) {
  const json_t *pair = member(part, "between");
  assert_int_equal(json_array_size(pair), 2);
  for (size_t k = 0; k < 2; k++) check_point(parts, json_string_value(json_array_get(pair, k)));
}

static void check_output(const od_model *m, const char *name) {
  if (od_model_output_find(m, name) < 0) fail_msg("there is no output '%s'", name);
}

static void check_bodies(const od_model *m, const json_t *parts) {
  size_t i, k;
  json_t *body, *point;
  assert_int_equal(json_array_size(member(parts, "bodies")), m->bodies);
  json_array_foreach(member(parts, "bodies"), i, body) {
    static const char *const entry[] = {"xx", "yy", "zz", "xy", "xz", "yz"};
    check_vector(member(body, "center"), false);
    for (int n = 0; n < 6; n++) assert_true(json_is_number(member(member(body, "inertia"), entry[n])));
    near_relative(json_number_value(member(member(body, "mass"), "value")), m->theta[m->body[i].number], 1e-15);
    json_array_foreach(member(body, "points"), k, point) {
      assert_non_null(text_of(point, "name"));
      check_vector(member(point, "at"), false);
    }
    char output[200];
    snprintf(output, sizeof output, "%s.qw", text_of(body, "pose"));
    check_output(m, output);
    if (text_of(body, "moved_by")) need(member(parts, "joints"), "name", text_of(body, "moved_by"));
  }
}

static void check_joints(const od_model *m, const json_t *parts) {
  size_t i, k;
  json_t *joint, *coordinate;
  int coordinates = 0;
  assert_int_equal(json_array_size(member(parts, "joints")), m->joints);
  json_array_foreach(member(parts, "joints"), i, joint) {
    check_pair_of_points(parts, joint);
    for (k = 0; k < 2; k++) {
      const char *body = json_string_value(json_array_get(member(joint, "bodies"), k));
      if (strcmp(body, "ground") != 0) need(member(parts, "bodies"), "name", body);
    }
    if (!json_is_null(member(joint, "axis_a"))) {
      check_vector(member(joint, "axis_a"), true);
      check_vector(member(joint, "axis_b"), true);
    }
    json_array_foreach(member(joint, "coordinates"), k, coordinate) {
      coordinates++;
      check_vector(member(coordinate, "axis"), true);
      if (text_of(coordinate, "output")) check_output(m, text_of(coordinate, "output"));
    }
  }
  assert_int_equal(coordinates, m->coordinates);
}

static void check_signal(const od_model *m, const char *name) {
  for (int i = 0; i < m->signals; i++)
    if (strcmp(od_model_text(m, m->input[i].name), name) == 0) return;
  fail_msg("there is no signal '%s'", name);
}

// Checks that the parts that a signal drives have this signal as an input.
static void check_driven(const json_t *parts, const json_t *list, const char *signal) {
  size_t i;
  json_t *driven;
  json_array_foreach(list, i, driven) {
    const char *part = text_of(driven, "part"), *name = text_of(driven, "name");
    assert_non_null(text_of(driven, "key"));
    if (strcmp(part, "block") == 0) {
      need(member(parts, "blocks"), "name", name);
    } else if (strcmp(part, "component") == 0) {
      const json_t *component = need(member(parts, "components"), "full_name", name);
      if (!json_object_get(component, "more_inputs")) assert_string_equal(text_of(component, "input"), signal);
    } else {
      const json_t *one = need(member(parts, strcmp(part, "node") == 0 ? "nodes" : "forces"), "name", name);
      assert_string_equal(text_of(one, "input"), signal);
    }
  }
}

static void check_ends(const od_model *m, const json_t *parts, const json_t *component) {
  size_t k;
  json_t *end;
  json_array_foreach(member(component, "ends"), k, end) {
    const char *node = text_of(end, "node"), *flow = text_of(end, "flow"), *role = text_of(end, "role");
    assert_non_null(text_of(end, "key"));
    assert_true(!strcmp(role, "flow") || !strcmp(role, "pilot") || !strcmp(role, "drain") || !strcmp(role, "sense"));
    if (node) need(member(parts, "nodes"), "name", node);
    if (flow) check_output(m, flow);
    if (flow) assert_int_equal(llabs(json_integer_value(member(end, "sign"))), 1);
    if (!strcmp(role, "flow")) assert_non_null(flow);
  }
}

static void check_components(const od_model *m, const json_t *parts) {
  size_t i;
  json_t *component;
  assert_int_equal(json_array_size(member(parts, "components")), m->instances);
  json_array_foreach(member(parts, "components"), i, component) {
    check_ends(m, parts, component);
    if (json_object_get(component, "between")) check_pair_of_points(parts, component);
    if (json_object_get(component, "joint")) need(member(parts, "joints"), "name", text_of(component, "joint"));
    if (json_object_get(component, "of")) need(member(parts, "components"), "full_name", text_of(component, "of"));
    if (text_of(component, "along")) need(member(parts, "components"), "name", text_of(component, "along"));
    if (text_of(component, "input")) {
      check_signal(m, text_of(component, "input"));
      assert_non_null(text_of(component, "input_key"));
    }
    if (strcmp(text_of(component, "class"), "port") == 0) {
      assert_int_equal(llabs(json_integer_value(member(component, "side"))), 1);
      double open = json_number_value(member(component, "opening_at_zero"));
      assert_true(open >= 0 && open <= 1);
    }
  }
}

static void check_signals(const od_model *m, const json_t *data, const json_t *parts) {
  size_t i, k;
  json_t *input, *block, *output;
  json_array_foreach(member(data, "inputs"), i, input)
      check_driven(parts, member(input, "drives"), text_of(input, "name"));
  json_array_foreach(member(parts, "blocks"), i, block) {
    const json_t *sources = member(block, "inputs");
    assert_int_equal(json_array_size(member(block, "input_keys")), json_array_size(sources));
    for (k = 0; k < json_array_size(sources); k++) {
      const char *source = json_string_value(json_array_get(sources, k));
      if (source) check_output(m, source);
    }
    json_array_foreach(member(block, "outputs"), k, output) {
      check_signal(m, text_of(output, "name"));
      check_driven(parts, member(output, "drives"), text_of(output, "name"));
    }
  }
}

// Checks that the positions of the scene are the initial values of the outputs of points.
static void check_scene(const od_machine *machine, const json_t *data, const json_t *parts) {
  const od_model *m = od_machine_model(machine);
  const json_t *scene = member(data, "scene");
  size_t i;
  json_t *entry;
  int *output = calloc((size_t)m->outputs + 1, sizeof *output);
  double *y = calloc((size_t)m->outputs + 1, sizeof *y), *u = calloc((size_t)m->inputs + 1, sizeof *u);
  od_plant *plant = NULL;
  for (int k = 0; k < m->outputs; k++) output[k] = k;
  assert_int_equal(od_machine_plant(machine, output, m->outputs, NULL, 0, &plant, NULL), OD_OK);
  od_sim *sim = od_sim_new(plant);
  od_machine_inputs(machine, 0, u);
  assert_int_equal(od_sim_start(sim, 0, u), OD_OK);
  assert_int_equal(od_sim_outputs(sim, y), OD_OK);
  assert_int_equal(json_array_size(member(scene, "points")), m->points);
  json_array_foreach(member(scene, "points"), i, entry) {
    check_point(parts, text_of(entry, "name"));
    for (size_t k = 0; k < 3 && m->point[i].body != OD_GROUND; k++) {
      char name[300];
      snprintf(name, sizeof name, "%s.%c", text_of(entry, "name"), "xyz"[k]);
      check_output(m, name);
      near_scaled(json_number_value(json_array_get(member(entry, "position"), k)), y[od_model_output_find(m, name)],
                  1e-14, 1 + m->size);
    }
  }
  assert_int_equal(json_array_size(member(scene, "joints")), m->joints);
  // In assembled machines the points of a joint coincide, except along or across its axis, or in a free joint.
  json_array_foreach(member(scene, "joints"), i, entry) {
    need(member(parts, "joints"), "name", text_of(entry, "name"));
    od_joint_type type = m->joint[i].spec.type;
    for (size_t k = 0;
         k < 3 && (type == OD_REVOLUTE || type == OD_UNIVERSAL || type == OD_SPHERICAL || type == OD_FIXED); k++)
      near(json_number_value(json_array_get(member(entry, "a"), k)),
           json_number_value(json_array_get(member(entry, "b"), k)), 1e-10 * (1 + m->size));
  }
  json_array_foreach(member(scene, "lines"), i, entry) {
    char name[300];
    snprintf(name, sizeof name, "%s.length", text_of(entry, "name"));
    int length = od_model_output_find(m, name);
    if (length >= 0) near_scaled(json_number_value(member(entry, "length")), y[length], 1e-12, 1);
  }
  assert_int_equal(json_array_size(member(scene, "nodes")), m->nodes);
  json_array_foreach(member(scene, "nodes"), i, entry) need(member(parts, "nodes"), "name", text_of(entry, "name"));
  od_sim_free(sim);
  od_plant_free(plant);
  free(output);
  free(y);
  free(u);
}

static void check_parts(const od_machine *machine, const json_t *data) {
  const od_model *m = od_machine_model(machine);
  const json_t *parts = member(data, "parts");
  size_t i;
  json_t *entry;
  check_bodies(m, parts);
  check_joints(m, parts);
  check_components(m, parts);
  check_signals(m, data, parts);
  json_array_foreach(member(parts, "rods"), i, entry) check_pair_of_points(parts, entry);
  json_array_foreach(member(parts, "forces"), i, entry) {
    if (json_object_get(entry, "point")) check_point(parts, text_of(entry, "point"));
    if (json_object_get(entry, "direction")) check_vector(member(entry, "direction"), true);
    if (json_object_get(entry, "normal")) check_vector(member(entry, "normal"), true);
  }
  assert_true(json_is_null(member(parts, "plane")) == !m->planar);
}

static void cases(void **state) {
  (void)state;
  glob_t files;
  assert_int_equal(glob(OD_SOURCE_DIR "/cases/*/machine.yaml", 0, NULL, &files), 0);
  for (size_t i = 0; i < files.gl_pathc; i++) {
    od_machine *machine = od_test_machine(files.gl_pathv[i] + strlen(OD_SOURCE_DIR) + 1, NULL);
    od_result r = od_machine_info(machine);
    check_parts(machine, r.data);
    check_scene(machine, r.data, member(r.data, "parts"));
    od_result_free(&r);
    od_machine_free(machine);
  }
  globfree(&files);
}

// Templates: names of instances, not prefixes.
static void instances(void **state) {
  (void)state;
  od_machine *machine = od_test_machine("cases/excavator/machine.yaml", NULL);
  od_result r = od_machine_info(machine);
  const json_t *parts = member(r.data, "parts"), *ram = need(member(parts, "components"), "name", "lift.ram");
  assert_string_equal(text_of(ram, "instance"), "lift");
  assert_string_equal(text_of(ram, "template"), "section");
  assert_null(text_of(need(member(parts, "bodies"), "name", "boom"), "instance"));
  const json_t *leak = need(member(parts, "components"), "full_name", "lift.ram.leakage");
  assert_string_equal(text_of(leak, "of"), "lift.ram");
  assert_string_equal(text_of(leak, "inside"), "leakage");
  od_result_free(&r);
  od_machine_free(machine);
}

// Mass properties of a slender beam: center in the middle, inertia m l^2 / 12 across its axis.
static void mass_properties(void **state) {
  (void)state;
  od_machine *machine = od_test_machine("cases/fourbar-swing/machine.yaml", NULL);
  od_result r = od_machine_info(machine);
  const json_t *coupler = need(member(member(r.data, "parts"), "bodies"), "name", "coupler");
  const json_t *inertia = member(coupler, "inertia");
  near(json_number_value(json_array_get(member(coupler, "center"), 0)), 4, 1e-15);
  near(json_number_value(member(inertia, "xx")), 0, 0);
  near_relative(json_number_value(member(inertia, "yy")), 400 * 64 / 12.0, 1e-15);
  near_relative(json_number_value(member(inertia, "zz")), 400 * 64 / 12.0, 1e-15);
  near(json_number_value(member(member(coupler, "dimensions"), "length")), 8, 0);
  assert_string_equal(text_of(coupler, "moved_by"), "P1");
  od_result_free(&r);
  od_machine_free(machine);
}

// --- Machines without an initial state

static const char axis_text[] =
    "oil: {density: 870 kg/m^3, law: constant, modulus: 1.4 GPa}\n"
    "ground: {points: {wall: [0, 0]}}\n"
    "bodies: {load: {mass: 100 kg, inertia: [1 kg m^2, 1 kg m^2, 1 kg m^2], points: {eye: [1 m, 0]}}}\n"
    "joints: {guide: {type: prismatic, between: [ground.wall, load], axis: [1, 0, 0]}}\n"
    "inputs: {lever: {unit: 1, constant: 0.5}}\n"
    "volumes: {A: {volume: 1 l}, B: {volume: 1 l}}\n"
    "tanks: {T: {pressure: 0 bar}}\n"
    "sources: {P: {pressure: 200 bar}}\n"
    "cylinders: {ram: {between: [ground.wall, load.eye], chambers: [A, B], areas: [20 cm^2, 10 cm^2], closed: 0.9 m, stroke: 1 m}}\n"
    "two_way_valves: {bypass: {between: [P, T], command: lever, nominal_flow: 10 l/min, rest: 1, full: 0}}\n"
    "two_position_valves: {switch: {between: [P, T], a: A, b: B, command: lever, nominal_flow: 10 l/min}}\n"
    "proportional_valves: {spool: {between: [P, T], a: A, b: B, command: lever, nominal_flow: 10 l/min, overlap: 0.1}}\n";

static od_machine *load_text(const machine_file *file, const char *text, bool may_lack, od_messages **messages) {
  od_machine *machine;
  machine_file_write(file, text, strlen(text));
  *messages = od_messages_new();
  od_machine_load(file->path, &(od_load_options){.may_lack_initial_state = may_lack}, &machine, *messages);
  return machine;
}

static void without_initial_values(void **state) {
  od_messages *messages;
  assert_null(load_text(*state, axis_text, false, &messages));
  od_messages_free(messages);
  od_machine *machine = load_text(*state, axis_text, true, &messages);
  char *said = messages_text(messages);
  if (machine == NULL) print_error("%s", said);
  assert_non_null(machine);
  assert_non_null(strstr(said, "warning: joint 'guide' has no initial value"));
  assert_int_equal(od_messages_errors(messages), 0);
  assert_non_null(od_machine_lacks_initial_state(machine));
  od_plant *plant = NULL;
  od_error err = {0};
  assert_int_equal(od_machine_plant(machine, NULL, 0, NULL, 0, &plant, &err), OD_BAD_INPUT);
  assert_non_null(strstr(err.text, "has no initial"));
  od_result r = od_machine_info(machine);
  check_parts(machine, r.data);
  assert_non_null(strstr(text_of(member(r.data, "scene"), "reason"), "has no initial"));
  assert_null(json_object_get(member(r.data, "scene"), "points"));
  assert_true(json_is_null(member(r.data, "freedom")));
  od_result_free(&r);
  od_machine_free(machine);
  free(said);
  od_messages_free(messages);
}

// A loop that does not close.
static void not_assembled(void **state) {
  static const char text[] =
      "ground: {points: {A: [0, 0], B: [10 m, 0]}}\n"
      "bodies: {crank: {beam: {mass: 1 kg, length: 2 m}}, rocker: {beam: {mass: 1 kg, length: 5 m}}}\n"
      "joints:\n  A: {type: revolute, between: [ground.A, crank.start]}\n  B: {type: revolute, between: [ground.B, rocker.start]}\n"
      "  C: {type: revolute, between: [crank.end, rocker.end], cut: true}\n"
      "initial: {A.angle: about 0 deg, B.angle: about 180 deg}\n";
  od_messages *messages;
  od_machine *machine = load_text(*state, text, true, &messages);
  assert_non_null(machine);
  od_result r = od_machine_info(machine);
  check_parts(machine, r.data);
  assert_non_null(text_of(member(r.data, "scene"), "reason"));
  od_result_free(&r);
  od_machine_free(machine);
  od_messages_free(messages);
  // An error that is not about the initial state stays an error.
  assert_null(load_text(*state, "bodies: {crank: {mass: 1 kg}}\njoints: {}\n", true, &messages));
  assert_true(od_messages_errors(messages) > 0);
  od_messages_free(messages);
}

// --- Valves

// Returns the opening of a path at a position; 0: the path is closed; -1: the position is not listed.
static double opening(const json_t *component, int position, int from, int to) {
  size_t i, k;
  json_t *at, *path;
  json_array_foreach(member(component, "positions"), i, at) {
    if (json_integer_value(member(at, "position")) != position) continue;
    json_array_foreach(member(at, "paths"), k, path) if (json_integer_value(member(path, "from")) == from &&
                                                         json_integer_value(member(path, "to")) ==
                                                             to) return json_number_value(member(path, "opening"));
    return 0;
  }
  return -1;
}

// Ends: 0 P, 1 T, 2 A, 3 B.
static void positions(void **state) {
  od_messages *messages;
  od_machine *machine = load_text(*state, axis_text, true, &messages);
  assert_non_null(machine);
  od_result r = od_machine_info(machine);
  const json_t *list = member(member(r.data, "parts"), "components");
  const json_t *bypass = need(list, "name", "bypass"), *two = need(list, "name", "switch"),
               *spool = need(list, "name", "spool");
  near(opening(bypass, 0, 0, 1), 1, 1e-12);  // normally open
  near(opening(bypass, 1, 0, 1), 0, 0);
  near(opening(bypass, -1, 0, 1), -1, 0);
  near(opening(two, 0, 0, 3), 1, 1e-12);  // at rest P - B and A - T
  near(opening(two, 0, 2, 1), 1, 1e-12);
  near(opening(two, 0, 0, 2), 0, 0);
  near(opening(two, 1, 0, 2), 1, 1e-12);
  near(opening(two, 1, 3, 1), 1, 1e-12);
  near(opening(two, -1, 0, 3), -1, 0);
  for (int from = 0; from < 4; from++)
    for (int to = 0; to < 4; to++) near(opening(spool, 0, from, to), 0, 0);  // closed center
  near(opening(spool, 1, 0, 2), 1, 1e-12);
  near(opening(spool, 1, 3, 1), 1, 1e-12);
  near(opening(spool, -1, 0, 3), 1, 1e-12);
  near(opening(spool, -1, 2, 1), 1, 1e-12);
  near(opening(spool, 1, 0, 3), 0, 0);
  od_result_free(&r);
  od_machine_free(machine);
  od_messages_free(messages);
}

// --- Groups of outputs

static int count_matches(const od_model *m, const char *pattern) {
  int count = 0;
  for (int i = 0; i < m->outputs; i++) count += od_output_matches(m, i, pattern);
  return count;
}

static void groups(void **state) {
  char text[3000];
  snprintf(
      text, sizeof text,
      "%sinitial: {guide.position: 0.5 m, A.pressure: 1 bar, B.pressure: 1 bar}\nrun: {outputs: [load.pose, load.pose.x]}\n",
      axis_text);
  od_machine *machine = machine_from(*state, text, NULL, NULL);
  const od_model *m = od_machine_model(machine);
  const od_run_defaults *run = od_machine_run(machine);
  assert_int_equal(run->output_count, 8);
  assert_string_equal(od_machine_output_name(machine, run->outputs[0]), "load.pose.x");
  assert_string_equal(od_machine_output_name(machine, run->outputs[6]), "load.pose.qz");
  assert_int_equal(count_matches(m, "load.pose"), 7);
  assert_int_equal(count_matches(m, "*.pose"), 7 * m->bodies);
  assert_int_equal(count_matches(m, "load.pose.q?"), 4);
  assert_int_equal(count_matches(m, "load"), 0);
  assert_int_equal(count_matches(m, "load.eye"), 0);
  od_machine_free(machine);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(cases),           cmocka_unit_test(instances), cmocka_unit_test(without_initial_values),
      cmocka_unit_test(not_assembled),   cmocka_unit_test(positions), cmocka_unit_test(groups),
      cmocka_unit_test(mass_properties),
  };
  return cmocka_run_group_tests(tests, machine_file_start, machine_file_end);
}
