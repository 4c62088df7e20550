// Names, values, signals and pilots in circuit diagrams. Oracles: texts written by hand from the machine files, and positions in the
// finished diagram.
#include "support/test.h"

#include <string.h>

#include "unit/circuit/circuits.h"

typedef struct opened {
  od_machine *machine;
  od_arena arena;
  const od_circuit *circuit;
} opened;

static void open_file(opened *o, const char *path) {
  *o = (opened){.machine = od_test_machine(path, NULL)};
  o->circuit = circuit_of(o->machine, &o->arena);
  assert_non_null(o->circuit);
}

static void close_file(opened *o) {
  od_arena_free(&o->arena);
  od_machine_free(o->machine);
}

static const od_cell *cell_of(const od_circuit *c, const char *name) {
  for (int i = 0; i < c->sheet.cells; i++)
    if (c->sheet.cell[i].part >= 0 && strcmp(c->graph.part[c->sheet.cell[i].part].name, name) == 0)
      return &c->sheet.cell[i];
  fail_msg("there is no cell '%s'", name);
  return NULL;
}

// The rectangle of a text in the cell of an element.
static const od_mark *text_of(const od_circuit *c, const char *name, const char *text) {
  const od_cell *cell = cell_of(c, name);
  for (int i = 0; i < c->sheet.marks; i++) {
    const od_mark *m = &c->sheet.mark[i];
    if (m->cell == cell - c->sheet.cell && m->text && strcmp(m->text, text) == 0) return m;
  }
  fail_msg("'%s' has no text '%s'", name, text);
  return NULL;
}

// The name of a valve is above its values; both begin or end at the same place.
static void size_is_below_the_name(void **state) {
  (void)state;
  opened o;
  open_file(&o, "cases/excavator/machine.yaml");
  const od_mark *name = text_of(o.circuit, "lift.valve", "valve"),
                *size = text_of(o.circuit, "lift.valve", "90 mm\u00b2");
  near(name->left, size->left, 1e-9);
  near(size->top - name->top, 12, 1e-9);
  close_file(&o);
  open_file(&o, "cases/test-bench/machine.yaml");
  text_of(o.circuit, "vp", "40 l/min at 35 bar");
  close_file(&o);
}

static void limits_are_shown(void **state) {
  (void)state;
  opened o;
  open_file(&o, "cases/press/machine.yaml");
  text_of(o.circuit, "unloader", "opens 260 bar");
  text_of(o.circuit, "unloader", "closes 235 bar");
  close_file(&o);
  open_file(&o, "cases/load-sensing/machine.yaml");
  text_of(o.circuit, "pump", "cutoff 230 bar");
  close_file(&o);
  open_file(&o, "cases/hydrostatic-transmission/machine.yaml");
  text_of(o.circuit, "case_A", "0.005 l/min/bar");
  close_file(&o);
}

// The signal of a pump with fixed displacement is at the circle of its drive: right of the center, at the same height.
static void signal_is_at_the_drive(void **state) {
  (void)state;
  opened o;
  open_file(&o, "cases/hydrostatic-transmission/machine.yaml");
  const od_mark *drive = text_of(o.circuit, "pump", "M"), *signal = text_of(o.circuit, "pump", "\u2190 pedal");
  assert_true(fabs(drive->bottom - signal->bottom) < 3);
  double gap = cell_of(o.circuit, "pump")->is_mirrored ? drive->left - signal->right : signal->left - drive->right;
  assert_true(gap > 0 && gap < 20);
  close_file(&o);
  open_file(&o, "cases/observer-tuning/machine.yaml");
  drive = text_of(o.circuit, "pump", "M"), signal = text_of(o.circuit, "pump", "\u2190 flow");
  assert_true(signal->top - drive->bottom > 0 && signal->top - drive->bottom < 15);
  close_file(&o);
}

// A signal of any length is inside the cell and clear of other texts and lines.
static void long_signals_have_room(void **state) {
  (void)state;
  od_machine *machine = od_test_machine_text(
      "machine: test\n"
      "oil: {density: 870, law: constant, modulus: 1.4 GPa}\n"
      "inputs: {desired_flow_of_the_pump: 0}\n"
      "tanks: {T: {pressure: 1 bar}}\n"
      "volumes: {P: {volume: 1 L}}\n"
      "pumps: {pump: {from: T, to: P, flow: 20 L/min desired_flow_of_the_pump}}\n"
      "orifices: {load: {between: [P, T], area: 1 mm^2, discharge: 0.7}}\n"
      "initial: {P.pressure: 10 bar}\n");
  OD_SCRATCH(arena);
  const od_circuit *c = circuit_of(machine, &arena);
  for (od_flaw flaw = 0; flaw < OD_FLAWS; flaw++)
    if (od_sheet_flaws(&c->sheet, flaw) != 0) fail_msg("%s", od_flaw_name(flaw));
  assert_true(cell_of(c, "pump")->signal && cell_of(c, "pump")->signal_is_apart);
  od_machine_free(machine);
}

// Both pilots of a counterbalance valve end at the side of the valve where the label is not: opposite the spring.
static void pilots_are_opposite_the_spring(void **state) {
  (void)state;
  static const char *const files[][2] = {{"cases/press/machine.yaml", "holding"},
                                         {"cases/load-sensing/machine.yaml", "one.holding"}};
  for (int i = 0; i < 2; i++) {
    opened o;
    open_file(&o, files[i][0]);
    char *text = svg_of(o.circuit), wanted[80];
    snprintf(wanted, sizeof wanted, "data-part=\"%s\"", files[i][1]);
    const char *at = strstr(text, wanted);
    assert_non_null(at);
    double box = 0, x = NAN, y = NAN, edge_y = 0, external_x = NAN, external_y = NAN;
    const char *body = strstr(at, "class=\"body\""), *wire = strstr(at, "class=\"line pilot"),
               *pilot = strstr(at, "pilot[0] ");
    assert_true(body && wire && pilot);
    assert_int_equal(sscanf(strstr(body, " x=\""), " x=\"%lf\" y=\"%lf\"", &box, &edge_y), 2);
    assert_int_equal(sscanf(pilot, "pilot[0] %lf %lf", &external_x, &external_y), 2);
    for (const char *p = strstr(wire, " d=\"") + 4; *p != '"'; p++)
      if (*p == 'M' || *p == 'L') sscanf(p + 1, "%lf %lf", &x, &y);
    double side = cell_of(o.circuit, files[i][1])->is_mirrored ? box + 28 : box;
    near(x, side, 1e-9);
    near(external_x, side, 1e-9);
    assert_true(y > edge_y && y < edge_y + 28 && fabs(y - external_y) > 5);
    free(text);
    close_file(&o);
  }
}

// The load-sensing line ends at the tip of the arrow of the displacement, 20 px above the center of the pump.
static void sense_line_leads_to_the_arrow(void **state) {
  (void)state;
  opened o;
  open_file(&o, "cases/load-sensing/machine.yaml");
  char *text = svg_of(o.circuit);
  double load_x, load_y, x, y, outlet_x, outlet_y;
  const char *at = strstr(text, "data-part=\"pump\"");
  assert_non_null(at);
  const char *center = strstr(at, "data-center=\""), *sense = strstr(at, "load[0] "), *outlet = strstr(at, "to[0] ");
  assert_true(center && sense && outlet);
  assert_int_equal(sscanf(center, "data-center=\"%lf %lf\"", &x, &y), 2);
  assert_int_equal(sscanf(sense, "load[0] %lf %lf", &load_x, &load_y), 2);
  assert_int_equal(sscanf(outlet, "to[0] %lf %lf", &outlet_x, &outlet_y), 2);
  near(y - load_y, 20, 0.5);
  near(fabs(load_x - x), 19, 1.5);
  near(outlet_x, x, 1e-9);
  free(text);
  close_file(&o);
}

static int count_names(const od_circuit *c, const char *name, double *apart) {
  const od_node_name *first = NULL;
  int count = 0;
  *apart = 0;
  for (int i = 0; i < c->sheet.names; i++) {
    const od_node_name *n = &c->sheet.name[i];
    if (strcmp(c->graph.net[n->net].name, name) != 0) continue;
    if (first) *apart = hypot(n->x - first->x, n->y - first->y);
    first = n;
    count++;
  }
  return count;
}

// A long net has two names far apart, a short one has one; the net of a source has its name at the source.
static void long_nets_have_two_names(void **state) {
  (void)state;
  opened o;
  double apart;
  open_file(&o, "cases/stewart-platform/machine.yaml");
  assert_int_equal(count_names(o.circuit, "P", &apart), 2);
  assert_true(apart >= 900);
  close_file(&o);
  open_file(&o, "cases/excavator/machine.yaml");
  assert_int_equal(count_names(o.circuit, "P", &apart), 1);
  close_file(&o);
  open_file(&o, "cases/test-bench/machine.yaml");
  assert_int_equal(count_names(o.circuit, "S", &apart), 1);
  for (int i = 0; i < o.circuit->sheet.marks; i++) {
    const char *text = o.circuit->sheet.mark[i].text;
    assert_false(text && strcmp(text, "S") == 0);
  }
  close_file(&o);
}

static const od_node_name *name_of(const od_circuit *c, const char *net) {
  for (int i = 0; i < c->sheet.names; i++)
    if (strcmp(c->graph.net[c->sheet.name[i].net].name, net) == 0) return &c->sheet.name[i];
  fail_msg("there is no name of '%s'", net);
  return NULL;
}

// The names of both work lines of a valve are at one height, A left of B; the label of the valve is right of both.
static void names_of_work_lines_are_aligned(void **state) {
  (void)state;
  static const char *const sections[][3] = {
      {"lift.A", "lift.B", "lift.valve"}, {"crowd.A", "crowd.B", "crowd.valve"}, {"curl.A", "curl.B", "curl.valve"}};
  opened o;
  open_file(&o, "cases/excavator/machine.yaml");
  for (int i = 0; i < 3; i++) {
    const od_node_name *a = name_of(o.circuit, sections[i][0]), *b = name_of(o.circuit, sections[i][1]);
    near(a->y, b->y, 1e-9);
    assert_true(a->is_right && !b->is_right && a->x < b->x);
    assert_true(text_of(o.circuit, sections[i][2], "valve")->left > b->x);
  }
  text_of(o.circuit, "lift.ram", "226 / 113 cm\u00b2");  // pi/4 2 (120 mm)^2, and less pi/4 2 (85 mm)^2
  close_file(&o);
}

// Names of nets with their pressures keep a distance of 8 px from tank symbols and from the labels of elements, in all cases.
static void names_are_clear_of_labels(void **state) {
  (void)state;
  enum { DISTANCE = 8 };
  int compared = 0;
  for (int k = 0; k < CIRCUIT_CASES; k++) {
    opened o;
    open_file(&o, circuit_cases[k].path);
    const od_sheet *s = &o.circuit->sheet;
    for (int i = 0; i < s->marks; i++) {
      const od_mark *m = &s->mark[i];
      bool is_tank = fabs(m->right - m->left - 16) < 1e-9 && fabs(m->bottom - m->top - 7) < 1e-9;
      if (!is_tank && !(m->text && strlen(m->text) > 1)) continue;
      for (int n = 0; n < s->names; n++) {
        const od_node_name *name = &s->name[n];
        if (s->graph->net[name->net].kind == OD_NODE_SOURCE) continue;  // above the value of the source
        double left = name->x - DISTANCE, right = name->x + name->width + name->value_width + DISTANCE;
        compared++;
        if (left < m->right && m->left < right && name->y - 7.5 - DISTANCE < m->bottom &&
            m->top < name->y + 2.5 + DISTANCE)
          fail_msg("%s: %s is near %s", circuit_cases[k].path, s->graph->net[name->net].name,
                   m->text ? m->text : "a tank");
      }
    }
    close_file(&o);
  }
  assert_true(compared > 1000);
}

// Returns the piece beside the first name of a net. Oracle for its place: the distance from the name.
static const od_piece *piece_of(const od_circuit *c, const char *net) {
  for (int i = 0; i < c->sheet.names; i++) {
    const od_node_name *n = &c->sheet.name[i];
    if (strcmp(c->graph.net[n->net].name, net) != 0) continue;
    assert_true(n->piece >= 0);
    const od_piece *p = &c->sheet.piece[n->piece];
    double least = INFINITY;
    for (int k = 0; k + 1 < p->points; k++) {
      const int *a = &p->xy[2 * k], *b = a + 2;
      double dx = fmax(fmax(fmin(a[0], b[0]) - (n->x + n->width + n->value_width), n->x - fmax(a[0], b[0])), 0);
      double dy = fmax(fmax(fmin(a[1], b[1]) - n->y, n->y - 9 - fmax(a[1], b[1])), 0);
      least = fmin(least, hypot(dx, dy));
    }
    assert_true(least < 8);
    return p;
  }
  fail_msg("the net '%s' has no name", net);
  return NULL;
}

// Names are beside the lines between actuators, valves and pumps, not beside the branches to relief valves and leaks, and
// have the flow of this line. Oracle: flows written by hand from the machine file.
static void names_are_beside_main_lines(void **state) {
  (void)state;
  opened o;
  open_file(&o, "cases/excavator/machine.yaml");
  const od_piece *p = piece_of(o.circuit, "lift.A");
  char *text = svg_of(o.circuit);
  assert_true(p->is_main);
  // The oil beyond the line: that of the edges a and d of the valve, which are at port A.
  assert_int_equal(p->terms, 2);
  const char *name = strstr(text, "<text class=\"name node-name work\" data-node=\"lift.A\"");
  assert_non_null(name);
  assert_non_null(strstr(name, "data-flow=\"+lift.valve.a.flow -lift.valve.d.flow\">A<"));
  free(text);
  close_file(&o);
  open_file(&o, "cases/forestry-crane/machine.yaml");
  assert_true(piece_of(o.circuit, "lift.B")->is_main);
  // The branch to the leak is not a main line.
  int branches = 0;
  for (int i = 0; i < o.circuit->sheet.pieces; i++) {
    const od_piece *q = &o.circuit->sheet.piece[i];
    bool leaks = q->terms == 1 && strstr(od_model_output_name(o.circuit->graph.model, q->term[0].output), "seep");
    assert_false(leaks && q->is_main);
    branches += leaks;
  }
  assert_true(branches > 0);
  close_file(&o);
}

// Frames belong to template instances; actuators without a template have none.
static void frames_are_of_instances(void **state) {
  (void)state;
  opened o;
  open_file(&o, "cases/test-bench/machine.yaml");
  assert_int_equal(o.circuit->sheet.frames, 0);
  close_file(&o);
  open_file(&o, "cases/excavator/machine.yaml");
  assert_int_equal(o.circuit->sheet.frames, 3);
  for (int i = 0; i < 3; i++) assert_non_null(o.circuit->sheet.frame[i].title);
  close_file(&o);
}

// Returns how often a text occurs in the SVG of an element.
static int count_in_element(const od_circuit *c, const char *name, const char *wanted) {
  char *text = svg_of(c), begin[80];
  snprintf(begin, sizeof begin, "data-part=\"%s\"", name);
  char *at = strstr(text, begin), *end = at ? strstr(at, "</g>\n") : NULL;
  assert_non_null(end);
  *end = 0;
  int count = 0;
  for (const char *p = at; (p = strstr(p, wanted)) != NULL; p += strlen(wanted)) count++;
  free(text);
  return count;
}

// An orifice has edges and no arcs, a throttle has arcs, a leak has a dashed line.
static void restrictions_differ(void **state) {
  (void)state;
  opened o;
  open_file(&o, "cases/hydrostatic-transmission/machine.yaml");
  assert_int_equal(count_in_element(o.circuit, "case_A", "class=\"tap\""), 1);
  assert_int_equal(count_in_element(o.circuit, "case_A", " 0 0 "), 0);
  assert_int_equal(count_in_element(o.circuit, "flush", "class=\"tap\""), 0);
  assert_int_equal(count_in_element(o.circuit, "flush", " 0 0 "), 2);
  close_file(&o);
  open_file(&o, "cases/load-sensing/machine.yaml");
  assert_int_equal(count_in_element(o.circuit, "bleed", "class=\"tap\""), 0);
  assert_int_equal(count_in_element(o.circuit, "bleed", " 0 0 "), 0);
  close_file(&o);
}

// Lines of the first chamber and of the second have different colors, also behind a holding valve.
static void sides_have_colors(void **state) {
  (void)state;
  static const struct {
    const char *path, *net;
    od_net_color color;
  } want[] = {{"cases/press/machine.yaml", "A", OD_NET_WORK},
              {"cases/press/machine.yaml", "B", OD_NET_LOOP_B},
              {"cases/press/machine.yaml", "C", OD_NET_LOOP_B},
              {"cases/press/machine.yaml", "P", OD_NET_SUPPLY},
              {"cases/load-sensing/machine.yaml", "one.C", OD_NET_WORK},
              {"cases/test-bench/machine.yaml", "PM", OD_NET_WORK},
              {"cases/test-bench/machine.yaml", "RM", OD_NET_LOOP_B}};
  for (size_t i = 0; i < sizeof want / sizeof *want; i++) {
    opened o;
    open_file(&o, want[i].path);
    bool found = false;
    for (int net = 0; net < o.circuit->graph.nets; net++) {
      if (strcmp(o.circuit->graph.net[net].name, want[i].net) != 0) continue;
      assert_int_equal(o.circuit->graph.net[net].color, want[i].color);
      found = true;
    }
    assert_true(found);
    close_file(&o);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(size_is_below_the_name),
      cmocka_unit_test(limits_are_shown),
      cmocka_unit_test(signal_is_at_the_drive),
      cmocka_unit_test(long_signals_have_room),
      cmocka_unit_test(pilots_are_opposite_the_spring),
      cmocka_unit_test(sense_line_leads_to_the_arrow),
      cmocka_unit_test(long_nets_have_two_names),
      cmocka_unit_test(names_of_work_lines_are_aligned),
      cmocka_unit_test(names_are_clear_of_labels),
      cmocka_unit_test(names_are_beside_main_lines),
      cmocka_unit_test(frames_are_of_instances),
      cmocka_unit_test(restrictions_differ),
      cmocka_unit_test(sides_have_colors),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
