// Symbols, positions of valves and moving parts. Oracles: the list of element classes, positions of data sheets written by hand, the
// numbers of the machine file, the XML reader of the tests.
#include "support/test.h"

#include <string.h>

#include "support/xml.h"
#include "unit/circuit/circuits.h"

// Every class with ends has a line in the table of symbols, except classes that are drawn as boxes, and ports.
static void classes_have_symbols(void **state) {
  (void)state;
  int found = 0;
  for (int i = 0; i < od_element_class_count(); i++) {
    const od_element_description *d = od_element_description_at(i);
    const char *name = d->equations->name;
    if (od_element_end_count(d) == 0 || strcmp(name, "port") == 0 || strcmp(name, "flow formula") == 0) continue;
    if (!od_symbol_find(name)) fail_msg("the class '%s' has no symbol", name);
    found++;
  }
  assert_true(found > 30);
  assert_null(od_symbol_find("no such class"));
  assert_ptr_equal(od_symbol_generic(2)->glyph, &od_glyph_box);
}

// A machine with the text between a common beginning and end.
static od_machine *machine_with(const char *circuit) {
  char text[4000];
  snprintf(
      text, sizeof text,
      "machine: test\n"
      "oil: {density: 870, law: constant, modulus: 1.4 GPa}\n"
      "ground: {points: {o: [0, 0]}}\n"
      "bodies: {mass: {mass: 100 kg}}\n"
      "joints: {guide: {type: prismatic, between: [ground, mass], axis: [1, 0, 0]}}\n"
      "inputs: {u: 0}\n"
      "tanks: {T: {pressure: 1 bar}}\n"
      "volumes: {P: {volume: 1 L}, A: {volume: 1 L}, B: {volume: 1 L}}\n"
      "cylinders: {ram: {between: [ground.o, mass], chambers: [A, B], bore: 80 mm, rod: 50 mm, closed: 0.6 m, stroke: 0.5 m}}\n"
      "pumps: {pump: {from: T, to: P, flow: 20 L/min}}\n"
      "%s"
      "initial: {guide.position: 0.7 m, P.pressure: 10 bar, A.pressure: 10 bar, B.pressure: 10 bar}\n",
      circuit);
  return od_test_machine_text(text);
}

static const od_part *part_of(const od_circuit *c, const char *name) {
  for (int i = 0; i < c->graph.parts; i++)
    if (strcmp(c->graph.part[i].name, name) == 0) return &c->graph.part[i];
  fail_msg("there is no part '%s'", name);
  return NULL;
}

// The paths of a box as a text: "P>A B>T", in alphabetical order.
static void box_text(const od_valve_box *box, char text[200]) {
  static const char letters[] = "-PTABL";
  char path[OD_MOST_PATHS][8];
  for (int i = 0; i < box->paths; i++)
    snprintf(path[i], 8, "%c%s%c", letters[box->path[i].from], box->path[i].is_two_way ? "=" : ">",
             letters[box->path[i].to]);
  qsort(path, (size_t)box->paths, sizeof *path, (int (*)(const void *, const void *))strcmp);
  *text = 0;
  for (int i = 0; i < box->paths; i++) snprintf(text + strlen(text), 200 - strlen(text), "%s%s", i ? " " : "", path[i]);
}

// Compares the boxes of the valve 'v' with texts, from left to right.
static void check_boxes(const char *circuit, int count, const char *const *want) {
  od_machine *machine = machine_with(circuit);
  OD_SCRATCH(arena);
  const od_valve_boxes *boxes = part_of(circuit_of(machine, &arena), "v")->boxes;
  assert_non_null(boxes);
  assert_int_equal(boxes->count, count);
  for (int i = 0; i < count; i++) {
    char text[200];
    box_text(&boxes->box[i], text);
    assert_string_equal(text, want[i]);
  }
  od_machine_free(machine);
}

static void valves_have_their_positions(void **state) {
  (void)state;
#define VALVE(keys) \
  "proportional_valves: {v: {command: u, between: [P, T], a: A, b: B, nominal_flow: 40 L/min" keys "}}\n"
#define BOXES(circuit, ...) \
  check_boxes(circuit, sizeof((const char *[]){__VA_ARGS__}) / sizeof(char *), (const char *[]){__VA_ARGS__})
  BOXES(VALVE(", overlap: 0.05"), "B>T P>A", "", "A>T P>B");
  BOXES(VALVE(", overlap: -0.05"), "B>T P>A", "A>T B>T P>A P>B", "A>T P>B");
  BOXES(VALVE(", overlap: 0.05, tank_overlap: -0.05"), "B>T P>A", "A>T B>T", "A>T P>B");
  BOXES(VALVE(", overlap: 0.05, idle: 1"), "B>T P>A", "P>T", "A>T P>B");
  // With the lines exchanged, P is the second line and the positive side feeds B.
  BOXES("proportional_valves: {v: {command: u, between: [T, P], a: A, b: B, nominal_flow: 40 L/min, overlap: 0.05}}\n",
        "A>T P>B", "", "B>T P>A");
  BOXES("two_position_valves: {v: {command: u, between: [P, T], a: A, b: B, nominal_flow: 40 L/min}}\n", "B>T P>A",
        "A>T P>B");
  BOXES(
      "valves: {v: {command: u, stroke: 1, area: 50 mm^2, discharge: 0.6, ports: {\n"
      "  w: {between: [P, B], side: positive, curve: linear}, x: {between: [A, T], side: positive, curve: linear},\n"
      "  y: {between: [P, A], side: negative, curve: linear}, z: {between: [B, T], side: negative, curve: linear, overlap: -0.1}}}}\n",
      "B>T P>A", "A>T", "A>T P>B");
#undef BOXES
#undef VALVE
}

// The value of an attribute of the first tag after a text.
static double number_after(const char *text, const char *after, const char *name) {
  char wanted[40];
  snprintf(wanted, sizeof wanted, " %s=\"", name);
  const char *at = strstr(text, after);
  assert_non_null(at);
  at = strstr(at, wanted);
  assert_non_null(at);
  return strtod(at + strlen(wanted), NULL);
}

static void parts_move(void **state) {
  (void)state;
  od_machine *machine =
      machine_with("servo_valves: {v: {command: u, between: [P, T], a: A, b: B, nominal_flow: 40 L/min, stroke: 2}}\n");
  OD_SCRATCH(arena);
  const od_circuit *c = circuit_of(machine, &arena);
  char *text = svg_of(c);
  near(number_after(text, "data-move=\"piston\"", "data-from"), 0.6, 1e-9);
  near(number_after(text, "data-move=\"piston\"", "data-to"), 1.1, 1e-9);
  near(fabs(number_after(text, "data-move=\"piston\"", "data-travel")), 66, 1e-9);
  assert_non_null(strstr(text, "data-move=\"piston\" data-output=\"ram.length\""));
  // The spool equals the command without a natural frequency, so that the boxes follow the spool or the input.
  assert_non_null(strstr(text, "data-box=\"1\" data-output=\""));
  near(number_after(text, "data-box=\"-1\"", "data-scale"), 2, 1e-9);
  assert_non_null(strstr(text, "data-flow=\"+pump.flow\""));
  free(text);
  od_machine_free(machine);
}

// Both chambers of a cylinder fill the barrel beside the piston, at both ends of the stroke.
static void chambers_fill_the_barrel(void **state) {
  (void)state;
  od_machine *machine = machine_with("");
  OD_SCRATCH(arena);
  char *text = svg_of(circuit_of(machine, &arena));
  const char *a = strstr(text, "data-node=\"A\" data-move=\"chamber\""),
             *b = strstr(text, "data-node=\"B\" data-move=\"chamber\"");
  assert_non_null(a);
  assert_non_null(b);
  double a0, a1, b0, b1;
  assert_int_equal(sscanf(strstr(a, "data-width=\""), "data-width=\"%lf %lf", &a0, &a1), 2);
  assert_int_equal(sscanf(strstr(b, "data-width=\""), "data-width=\"%lf %lf", &b0, &b1), 2);
  near(a0 + b0, a1 + b1, 1e-9);
  near(a1 - a0, 66, 1e-9);
  near(b0 - b1, 66, 1e-9);
  free(text);
  od_machine_free(machine);
}

// Returns the number of rods of the cylinder 'ram' in the SVG of a machine.
static int count_rods(od_machine *machine) {
  OD_SCRATCH(arena);
  char *text = svg_of(circuit_of(machine, &arena)), *at = strstr(text, "data-part=\"ram\"");
  int count = 0;
  for (const char *p = at; p && (p = strstr(p, "class=\"rod\"")) != NULL; p++) count++;
  free(text);
  od_machine_free(machine);
  return count;
}

// A cylinder with equal areas has a rod at both ends, any other cylinder at one end.
static void equal_areas_have_two_rods(void **state) {
  (void)state;
  const char *form =
      "machine: test\n"
      "oil: {density: 870, law: constant, modulus: 1.4 GPa}\n"
      "ground: {points: {o: [0, 0]}}\n"
      "bodies: {mass: {mass: 100 kg}}\n"
      "joints: {guide: {type: prismatic, between: [ground, mass], axis: [1, 0, 0]}}\n"
      "volumes: {A: {volume: 1 L}, B: {volume: 1 L}}\n"
      "cylinders: {ram: {between: [ground.o, mass], chambers: [A, B], areas: [10 cm^2, %s], closed: 0.6 m, stroke: 0.5 m}}\n"
      "initial: {guide.position: 0.7 m, A.pressure: 10 bar, B.pressure: 10 bar}\n";
  char text[1000];
  snprintf(text, sizeof text, form, "10 cm^2");
  assert_int_equal(count_rods(od_test_machine_text(text)), 2);
  snprintf(text, sizeof text, form, "9.9 cm^2");
  assert_int_equal(count_rods(od_test_machine_text(text)), 1);
  assert_int_equal(count_rods(machine_with("")), 1);
}

// --- Names from hostile files -----------------------------------------------------------------------------------------

static void names_inject_nothing(void **state) {
  (void)state;
  char hostile[1300] = "</text><script>alert('1')</script>\" onload=\"x&amp;<!--";
  size_t begin = strlen(hostile);
  memset(hostile + begin, 'W', sizeof hostile - begin - 1);
  const double oil[] = {870, 1e4, 1.4e9};
  od_build *b = od_build_new();
  int first = -1;
  for (int i = 0; i < 3; i++) {
    int number = od_build_number(b, hostile, oil[i], "1");
    if (i == 0) first = number;
  }
  od_build_oil(b, OD_OIL_CONSTANT, first);
  int tank = od_build_node(b, "T<", OD_NODE_TANK, od_build_number(b, "T.pressure", 1e5, "Pa"), -1);
  int node = od_build_node(b, hostile, OD_NODE_VOLUME, od_build_number(b, "volume", 1e-3, "m3"), -1);
  od_element_spec pump = od_element_spec_of("pump"), relief = od_element_spec_of("relief valve");
  pump.end[0] = tank, pump.end[1] = node;
  pump.first_number = od_build_number(b, "flow", 1e-3, "m3/s");
  od_build_element(b, hostile, &pump);
  relief.end[0] = node, relief.end[1] = tank;
  relief.first_number = od_build_number(b, "set", 1e7, "Pa");
  od_build_number(b, "slope", 1e-9, "m3/s/Pa");
  od_build_element(b,
                   "\xff\x01"
                   "bad",
                   &relief);
  char pressure[1400];
  snprintf(pressure, sizeof pressure, "%s.pressure", hostile);
  od_build_initial(b, pressure, 1e6, true);
  od_model *model = NULL;
  od_error err = {0};
  if (od_build_finish(b, &model, &err) != OD_OK) fail_msg("%s", err.text);
  OD_SCRATCH(arena);
  const od_circuit *c = NULL;
  assert_int_equal(od_circuit_make_model(model, &arena, &c, &err), OD_OK);
  for (od_flaw flaw = 0; flaw < OD_FLAWS; flaw++) assert_int_equal(od_sheet_flaws(&c->sheet, flaw), 0);
  char *text = svg_of(c), what[200];
  if (!xml_well_formed(text, what, sizeof what)) fail_msg("%s", what);
  assert_null(strstr(text, "<script"));
  assert_null(strstr(text, "<!--"));
  assert_null(strstr(text, "onload=\""));
  assert_true(c->sheet.width < 1500);  // long names are shortened
  free(text);
  od_model_free(model);
  od_build_free(b);
}

// --- Places in the file -------------------------------------------------------------------------------------------------

static const od_cell *cell_named(const od_circuit *c, const char *name) {
  for (int i = 0; i < c->sheet.cells; i++)
    if (c->sheet.cell[i].part >= 0 && strcmp(c->graph.part[c->sheet.cell[i].part].name, name) == 0)
      return &c->sheet.cell[i];
  fail_msg("there is no cell '%s'", name);
  return NULL;
}

static void has_no_flaws(const od_circuit *c) {
  for (od_flaw flaw = 0; flaw < OD_FLAWS; flaw++)
    if (od_sheet_flaws(&c->sheet, flaw) != 0) fail_msg("%s", od_flaw_name(flaw));
}

// Rows, orders and mirroring of the file are kept, in both directions, and the diagram has no flaw.
static void file_gives_places(void **state) {
  (void)state;
#define THREE \
  "orifices: {x: {between: [P, T], area: 1 mm^2, discharge: 0.7}, y: {between: [P, T], area: 1 mm^2, discharge: 0.7}, z: {between: [P, T], area: 1 mm^2, discharge: 0.7}}\n"
  static const char *const looks[] = {
      THREE
      "look: {circuit: {x: {order: 1, mirror: true}, y: {order: 2, mirror: false}, z: {order: 3}, ram: {mirror: true}}}\n",
      THREE
      "look: {circuit: {x: {order: 3, mirror: false}, y: {order: 2, mirror: true}, z: {order: 1}, ram: {mirror: false}}}\n"};
  for (int i = 0; i < 2; i++) {
    od_machine *machine = machine_with(looks[i]);
    OD_SCRATCH(arena);
    const od_circuit *c = circuit_of(machine, &arena);
    const od_cell *x = cell_named(c, "x"), *y = cell_named(c, "y"), *z = cell_named(c, "z");
    assert_true(i == 0 ? x->x < y->x && y->x < z->x : z->x < y->x && y->x < x->x);
    assert_int_equal(x->is_mirrored, i == 0);
    assert_int_equal(y->is_mirrored, i == 1);
    assert_int_equal(cell_named(c, "ram")->is_mirrored, i == 0);
    has_no_flaws(c);
    od_machine_free(machine);
  }
  // Every row, also beyond the last one.
  for (int row = 0; row < 6; row++) {
    char text[800];
    snprintf(text, sizeof text, THREE "look: {circuit: {y: {row: %d}}}\n", row);
    od_machine *machine = machine_with(text);
    OD_SCRATCH(arena);
    const od_circuit *c = circuit_of(machine, &arena);
    const od_cell *y = cell_named(c, "y");
    assert_int_equal(y->row, row < c->sheet.rows ? row : c->sheet.rows - 1);
    has_no_flaws(c);
    od_machine_free(machine);
  }
#undef THREE
}

// --- Data for pages -----------------------------------------------------------------------------------------------------

static void groups_are_the_sections(void **state) {
  (void)state;
  od_machine *machine = od_test_machine("cases/excavator/machine.yaml", NULL);
  OD_SCRATCH(arena);
  const od_circuit *c = circuit_of(machine, &arena);
  json_t *groups = od_circuit_groups(c), *data = od_circuit_json(c);
  static const char *const names[] = {"lift", "crowd", "curl", "supply"};
  assert_int_equal(json_array_size(groups), 4);
  for (size_t i = 0; i < 4; i++)
    assert_string_equal(json_string_value(json_object_get(json_array_get(groups, i), "name")), names[i]);
  // valve, two relief valves, cylinder and two nodes; pump, relief valve and node
  assert_int_equal(json_array_size(json_object_get(json_array_get(groups, 0), "parts")), 6);
  assert_int_equal(json_array_size(json_object_get(json_array_get(groups, 3), "parts")), 3);
  assert_string_equal(json_string_value(json_object_get(json_array_get(groups, 3), "label")), "pump");
  assert_int_equal(json_array_size(json_object_get(data, "nodes")), 8);
  json_decref(groups);
  json_decref(data);
  od_machine_free(machine);
  machine = od_test_machine("cases/press/machine.yaml", NULL);
  groups = od_circuit_groups(circuit_of(machine, &arena));
  assert_int_equal(json_array_size(groups), 0);
  json_decref(groups);
  od_machine_free(machine);
}

// A machine without initial values has a diagram.
static void needs_no_initial_state(void **state) {
  (void)state;
  char path[] = OD_SOURCE_DIR "/cases/press/machine.yaml", *text = NULL;
  size_t length = 0;
  FILE *from = fopen(path, "r"), *to = open_memstream(&text, &length);
  char line[2000];
  bool keep = true;
  while (fgets(line, sizeof line, from)) {
    if (line[0] != ' ') keep = strncmp(line, "initial", 7) != 0;
    if (keep) fputs(line, to);
  }
  fclose(from);
  fclose(to);
  od_messages *messages = od_messages_new();
  od_machine *machine = NULL;
  od_load_options options = {.may_lack_initial_state = true, .content = {text, length}};
  assert_int_equal(od_machine_load("machine.yaml", &options, &machine, messages), OD_OK);
  assert_non_null(od_machine_lacks_initial_state(machine));
  OD_SCRATCH(arena);
  const od_circuit *c = circuit_of(machine, &arena);
  assert_int_equal(c->graph.parts, 9);
  for (od_flaw flaw = 0; flaw < OD_FLAWS; flaw++) assert_int_equal(od_sheet_flaws(&c->sheet, flaw), 0);
  od_machine_free(machine);
  od_messages_free(messages);
  free(text);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(classes_have_symbols),
      cmocka_unit_test(valves_have_their_positions),
      cmocka_unit_test(parts_move),
      cmocka_unit_test(chambers_fill_the_barrel),
      cmocka_unit_test(equal_areas_have_two_rods),
      cmocka_unit_test(names_inject_nothing),
      cmocka_unit_test(file_gives_places),
      cmocka_unit_test(groups_are_the_sections),
      cmocka_unit_test(needs_no_initial_state),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
