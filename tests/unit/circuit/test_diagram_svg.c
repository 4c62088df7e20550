// The SVG of circuit diagrams alone gives the elements of the machine and their connections. Oracle: the tables of the model. The test
// reads only the SVG: elements with the places of their ends, and lines with their nodes. An end belongs to the node of the line
// that touches its place; the lines of a node must connect all its ends.
#include "support/test.h"

#include <string.h>

#include "machine/machine_parts.h"
#include "unit/circuit/circuits.h"

enum { MOST_LINES = 2000, MOST_POINTS = 16, MOST_ENDS = 600, NAME = 120 };

typedef struct svg_line {
  char node[NAME];
  int points, x[MOST_POINTS], y[MOST_POINTS];
} svg_line;
typedef struct svg_end {
  char part[NAME], class_name[NAME], end[NAME];
  int x, y, line;
} svg_end;
typedef struct svg_content {
  svg_line line[MOST_LINES];
  svg_end end[MOST_ENDS];
  int lines, ends, elements;
} svg_content;

// Copies the value of an attribute of the tag at `at`; false: no such attribute.
static bool attribute(const char *at, const char *name, char *value, size_t size) {
  const char *close = strchr(at, '>');
  char wanted[60];
  snprintf(wanted, sizeof wanted, " %s=\"", name);
  const char *found = strstr(at, wanted);
  if (!found || !close || found > close) return false;
  found += strlen(wanted);
  snprintf(value, size, "%.*s", (int)strcspn(found, "\""), found);
  return true;
}

static void read_line(svg_content *c, const char *at) {
  char path[2000];
  svg_line *line = &c->line[c->lines++];
  assert_true(c->lines < MOST_LINES);
  assert_true(attribute(at, "data-node", line->node, NAME));
  assert_true(attribute(at, "d", path, sizeof path));
  line->points = 0;
  for (const char *p = path; *p == 'M' || *p == 'L';) {
    int used = 0;
    double x, y;
    assert_true(line->points < MOST_POINTS);
    assert_int_equal(sscanf(p + 1, "%lf %lf%n", &x, &y, &used), 2);
    line->x[line->points] = (int)x, line->y[line->points++] = (int)y;
    p += 1 + used;
  }
  assert_true(line->points >= 2);
}

static void read_element(svg_content *c, const char *at) {
  char part[NAME], class_name[NAME], ends[2000];
  assert_true(attribute(at, "data-part", part, NAME) && attribute(at, "data-class", class_name, NAME));
  if (!attribute(at, "data-ends", ends, sizeof ends)) return;  // a source
  c->elements++;
  for (char *p = ends; *p;) {
    svg_end *e = &c->end[c->ends++];
    assert_true(c->ends < MOST_ENDS);
    snprintf(e->part, NAME, "%s", part);
    snprintf(e->class_name, NAME, "%s", class_name);
    assert_int_equal(sscanf(p, "%100s %d %d", e->end, &e->x, &e->y), 3);
    p += strcspn(p, ";");
    if (*p) p++;
  }
}

static svg_content *read_svg(const char *text, od_arena *arena) {
  svg_content *c = OD_TAKE(arena, svg_content, 1);
  assert_non_null(c);
  for (const char *at = text; (at = strchr(at, '<')) != NULL; at++) {
    if (strncmp(at, "<path class=\"line", 17) == 0) read_line(c, at);
    if (strncmp(at, "<g class=\"element\"", 18) == 0) read_element(c, at);
  }
  return c;
}

// Whether a point is on a line.
static bool is_on(const svg_line *l, int x, int y) {
  for (int i = 0; i + 1 < l->points; i++) {
    int x1 = l->x[i], x2 = l->x[i + 1], y1 = l->y[i], y2 = l->y[i + 1];
    if ((x1 == x2 || y1 == y2) && (x - x1) * (x - x2) <= 0 && (y - y1) * (y - y2) <= 0) return true;
  }
  return false;
}

// Whether one line ends on the other.
static bool are_joined(const svg_line *a, const svg_line *b) {
  return is_on(b, a->x[0], a->y[0]) || is_on(b, a->x[a->points - 1], a->y[a->points - 1]) ||
         is_on(a, b->x[0], b->y[0]) || is_on(a, b->x[b->points - 1], b->y[b->points - 1]);
}

static int root_of(int *parent, int i) {
  while (parent[i] != i) i = parent[i];
  return i;
}

static int node_of(const od_model *m, const char *name) {
  for (int i = 0; i < m->nodes; i++)
    if (strcmp(od_model_text(m, m->node[i].name), name) == 0) return i;
  fail_msg("the SVG has a line of '%s', which is no node", name);
  return -1;
}

// Finds the line at the place of each end, and checks that lines connect all ends of a node. Tanks have a symbol at each end.
static void connect(svg_content *c, const od_model *m, od_arena *arena) {
  int *parent = OD_TAKE(arena, int, c->lines), *first = OD_TAKE(arena, int, m->nodes);
  for (int i = 0; i < c->lines; i++) parent[i] = i;
  for (int i = 0; i < c->lines; i++)
    for (int k = 0; k < i; k++)
      if (strcmp(c->line[i].node, c->line[k].node) == 0 && are_joined(&c->line[i], &c->line[k]))
        parent[root_of(parent, i)] = root_of(parent, k);
  for (int i = 0; i < m->nodes; i++) first[i] = -1;
  for (int i = 0; i < c->ends; i++) {
    svg_end *e = &c->end[i];
    e->line = -1;
    for (int k = 0; k < c->lines; k++) {
      const svg_line *l = &c->line[k];
      bool ends_here =
          (l->x[0] == e->x && l->y[0] == e->y) || (l->x[l->points - 1] == e->x && l->y[l->points - 1] == e->y);
      if (!ends_here) continue;
      if (e->line >= 0 && strcmp(c->line[e->line].node, l->node) != 0)
        fail_msg("lines of '%s' and '%s' meet at an end of '%s'", l->node, c->line[e->line].node, e->part);
      e->line = k;
    }
    if (e->line < 0) fail_msg("no line leads to %s of '%s'", e->end, e->part);
    int node = node_of(m, c->line[e->line].node), root = root_of(parent, e->line);
    if (m->node[node].kind == OD_NODE_TANK) continue;
    if (first[node] < 0) first[node] = root;
    if (first[node] != root) fail_msg("the lines of '%s' do not connect all its ends", c->line[e->line].node);
  }
}

// Whether the SVG has an end of a part at a node. end: "between[0]"; NULL: any end.
static bool has_end(const svg_content *c, const char *part, const char *end, const char *node) {
  for (int i = 0; i < c->ends; i++)
    if (strcmp(c->end[i].part, part) == 0 && (!end || strcmp(c->end[i].end, end) == 0) &&
        strcmp(c->line[c->end[i].line].node, node) == 0)
      return true;
  return false;
}

// Compares the ends of the SVG with those of the model. Returns the number of elements of the model.
static int compare(const svg_content *c, const od_model *m) {
  int elements = 0, ends = 0;
  for (int i = 0; i < m->instances; i++) {
    const od_instance *e = &m->instance[i];
    const od_element_description *d = od_instance_description(m, e);
    const char *name = od_model_text(m, e->name);
    if (od_instance_class(m, e)->has_curve) {  // a port: the valve has an end at both nodes
      for (int k = 0; k < 2; k++) {
        const char *valve = od_model_text(m, m->instance[e->host].name),
                   *node = od_model_text(m, m->node[e->end[k]].name);
        if (!has_end(c, valve, NULL, node)) fail_msg("the SVG does not connect '%s' and '%s'", valve, node);
      }
      continue;
    }
    bool is_valve = d == &od_valve_description;
    if (!*name || (od_element_end_count(d) == 0 && !is_valve)) continue;
    elements++;
    if (is_valve) {  // each node of its ports once
      bool seen[200] = {false};
      for (int k = 0; k < m->instances; k++)
        for (int j = 0; j < 2; j++)
          if (m->instance[k].host == i && od_instance_class(m, &m->instance[k])->has_curve &&
              !seen[m->instance[k].end[j]])
            seen[m->instance[k].end[j]] = true, ends++;
      continue;
    }
    for (int k = 0; k < od_element_end_count(d); k++) {
      char end[NAME];
      od_end_place at = od_element_end_at(d, k);
      if (e->end[k] < 0) continue;
      snprintf(end, sizeof end, "%s[%d]", at.end->key, at.place);
      if (!has_end(c, name, end, od_model_text(m, m->node[e->end[k]].name)))
        fail_msg("the SVG does not connect %s of '%s' and '%s'", end, name, od_model_text(m, m->node[e->end[k]].name));
      ends++;
    }
  }
  assert_int_equal(c->ends, ends);
  return elements;
}

static void check_machine(od_machine *machine, int least) {
  OD_SCRATCH(arena);
  char *text = svg_of(circuit_of(machine, &arena));
  svg_content *c = read_svg(text, &arena);
  connect(c, od_machine_model(machine), &arena);
  assert_int_equal(compare(c, od_machine_model(machine)), c->elements);
  assert_true(c->elements >= least);
  free(text);
  od_machine_free(machine);
}

static void gives_the_connections_of_cases(void **state) {
  (void)state;
  check_machine(od_test_machine("cases/excavator/machine.yaml", NULL), 14);
  check_machine(od_test_machine("cases/load-sensing/machine.yaml", NULL), 24);
  check_machine(od_test_machine("cases/test-bench/machine.yaml", NULL), 5);
  check_machine(od_test_machine("cases/hydrostatic-transmission/machine.yaml", NULL), 10);
  check_machine(od_test_machine("cases/press/machine.yaml", NULL), 9);
}

static void gives_the_connections_of_all(void **state) {
  (void)state;
  for (int i = 0; i < CIRCUIT_CASES; i++) check_machine(od_test_machine(circuit_cases[i].path, NULL), 1);
}

// A line at a wrong node, and a missing line, are found.
static void finds_wrong_connections(void **state) {
  (void)state;
  od_machine *machine = od_test_machine("cases/press/machine.yaml", NULL);
  const od_model *m = od_machine_model(machine);
  OD_SCRATCH(arena);
  char *text = svg_of(circuit_of(machine, &arena));
  svg_content *c = read_svg(text, &arena);
  connect(c, m, &arena);
  svg_end *e = &c->end[0];
  char node[NAME];
  snprintf(node, sizeof node, "%s", c->line[e->line].node);
  assert_true(has_end(c, e->part, e->end, node));
  snprintf(c->line[e->line].node, NAME, "elsewhere");
  assert_false(has_end(c, e->part, e->end, node));
  free(text);
  od_machine_free(machine);
}

// A picture in its own file has plain colors before the custom properties: librsvg, Inkscape and text processors know no
// custom properties and draw shapes without a valid color black.
static void has_plain_colors(void **state) {
  (void)state;
  char *text = NULL;
  size_t size;
  FILE *to = open_memstream(&text, &size);
  assert_non_null(to);
  od_circuit_write_style(to);
  fclose(to);
  const char *custom = strstr(text, "svg.circuit{--c-");
  assert_non_null(custom);
  // The rules of the first part are those of the second part, with the values of the light theme.
  assert_non_null(strstr(custom, ".circuit .ink,.circuit .outline,.circuit .tap{fill:none;stroke:var(--c-ink);"));
  const char *plain = strstr(text, ".circuit .ink,.circuit .outline,.circuit .tap{fill:none;stroke:#1c2430;");
  assert_true(plain && plain < custom);
  plain = strstr(text, ".circuit .line.loop-b{stroke:#0b7a6f}");
  assert_true(plain && plain < custom);
  const char *first = strstr(text, "var(");
  assert_true(first && first > custom);
  int rules[2] = {0};
  for (const char *at = text; (at = strchr(at, '{')); at++) rules[at > custom]++;
  assert_int_equal(rules[0] + 3, rules[1]);  // the second part also has both themes and the condition of the dark one
  free(text);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(gives_the_connections_of_cases),
                                     cmocka_unit_test(gives_the_connections_of_all), cmocka_unit_test(has_plain_colors),
                                     cmocka_unit_test(finds_wrong_connections)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
