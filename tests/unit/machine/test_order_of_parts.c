// The order of parts in a machine file has no effect: every part is the first of its list in one of the files. Oracle: the original file. Machines of
// cases/ are loaded with the entries of each section in reverse and in rotated order. All outputs have the same names, and the same values at the
// start and after some steps; of one machine also the same derivatives with respect to the numbers.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/test.h"

#include "oleodyn/oleodyn.h"

enum { MOST_LINES = 2000 };

static char *read_all(const char *path) {
  FILE *f = fopen(path, "rb");
  assert_non_null(f);
  char *text = calloc(1, 1 << 18);
  assert_non_null(text);
  size_t count = fread(text, 1, (1 << 18) - 1, f);
  assert_true(count > 0);
  fclose(f);
  return text;
}

static bool is_entry(const char *line) {
  return line[0] == ' ' && line[1] == ' ' && line[2] != ' ' && line[2] != '#' && line[2] != '-' && line[2] != '\n' &&
         line[2] != '\0';
}

// Appends the lines from `begin` to `end`.
static void append(char *to, const char *const *line, int begin, int end) {
  for (int i = begin; i < end; i++) strncat(to, line[i], (size_t)(line[i + 1] - line[i]));
}

// Returns the text with the entries of each section in another order: shift 0: reversed, else rotated by `shift`. *moved: number of entries that
// have another place.
static char *reorder(const char *text, int shift, bool has_loops, int *moved) {
  static const char *const kept[] = {
      "run:", "initial:", "inputs:", "include:", "variants:", "requirements:", "templates:", "use:"};
  static const char *line[MOST_LINES + 2];
  int lines = 0;
  for (const char *at = text; *at; at = strchr(at, '\n') + 1) {
    assert_true(lines < MOST_LINES && strchr(at, '\n'));
    line[lines++] = at;
  }
  line[lines] = text + strlen(text);
  char *out = calloc(1, strlen(text) + 1);
  assert_non_null(out);
  *moved = 0;
  for (int i = 0; i < lines;) {
    int end = i + 1, entries = 0, first[MOST_LINES];
    while (end < lines && (line[end][0] == ' ' || line[end][0] == '\n')) end++;
    append(out, line, i, i + 1);
    bool keeps = has_loops && strncmp(line[i], "joints:", 7) == 0;  // the last joint of a loop closes it
    for (size_t k = 0; k < sizeof kept / sizeof *kept; k++)
      keeps = keeps || strncmp(line[i], kept[k], strlen(kept[k])) == 0;
    for (int n = i + 1; n < end; n++)
      if (is_entry(line[n])) first[entries++] = n;
    // Other lines before the first entry, or lists: the section stays.
    if (keeps || entries < 2 || first[0] != i + 1) {
      append(out, line, i + 1, end);
    } else {
      first[entries] = end;
      for (int n = 0; n < entries; n++) {
        int from = shift ? (n + shift) % entries : entries - 1 - n;
        append(out, line, first[from], first[from + 1]);
        *moved += from != n;
      }
    }
    i = end;
  }
  return out;
}

enum { PARAMETERS = 70 };
typedef struct result {
  od_machine *machine;
  int count;
  double *start, *end;
  double *
      slopes;  // count x parameters: derivatives of the outputs at the start with respect to parameters; NULL: not computed
  int parameters;
} result;

// Paths of numbers that can be parameters, in the order of the first machine.
static char paths[PARAMETERS][100];
static int path_count;

static void list_parameters(const od_machine *machine) {
  path_count = 0;
  for (int i = 0; i < od_machine_number_count(machine) && path_count < PARAMETERS; i++) {
    od_number n = od_machine_number(machine, i);
    od_plant *plant = NULL;
    if (n.value == 0 || strlen(n.path) >= sizeof paths[0] ||
        od_machine_plant(machine, NULL, 0, &i, 1, &plant, NULL) != OD_OK)
      continue;
    od_plant_free(plant);
    snprintf(paths[path_count++], sizeof paths[0], "%s", n.path);
  }
}

static void find_slopes(result *r, const int *all, const double *u) {
  int parameter[PARAMETERS];
  if (path_count == 0) list_parameters(r->machine);
  for (int i = 0; i < path_count; i++) {
    parameter[i] = od_machine_number_find(r->machine, paths[i]);
    assert_true(parameter[i] >= 0);
  }
  od_plant *plant = NULL;
  assert_int_equal(od_machine_plant(r->machine, all, r->count, parameter, path_count, &plant, NULL), OD_OK);
  od_sim *sim = od_sim_new(plant);
  assert_int_equal(od_sim_start(sim, 0, u), OD_OK);
  r->parameters = path_count;
  r->slopes = calloc((size_t)(r->count * path_count), sizeof *r->slopes);
  assert_non_null(r->slopes);
  assert_int_equal(od_sim_output_jacobians(sim, NULL, NULL, r->slopes), OD_OK);
  od_sim_free(sim);
  od_plant_free(plant);
}

static result run(const char *path, const char *text, double step, bool with_slopes) {
  result r = {0};
  od_messages *messages = od_messages_new();
  const od_load_options options = {.content = {text, strlen(text)}};
  if (od_machine_load(path, &options, &r.machine, messages) != OD_OK)
    od_messages_print(messages, stderr, false), fail();
  od_messages_free(messages);
  r.count = od_machine_output_count(r.machine);
  int *all = calloc((size_t)r.count + 1, sizeof *all);
  r.start = calloc((size_t)r.count + 1, sizeof *r.start), r.end = calloc((size_t)r.count + 1, sizeof *r.end);
  assert_true(all && r.start && r.end);
  for (int i = 0; i < r.count; i++) all[i] = i;
  od_plant *plant = NULL;
  assert_int_equal(od_machine_plant(r.machine, all, r.count, NULL, 0, &plant, NULL), OD_OK);
  od_sim *sim = od_sim_new(plant);
  double u[64] = {0};
  if (plant->nu) od_machine_inputs(r.machine, 0, u);
  assert_int_equal(od_sim_start(sim, 0, u), OD_OK);
  assert_int_equal(od_sim_outputs(sim, r.start), OD_OK);
  for (int i = 1; i <= 20; i++) {
    if (plant->nu) od_machine_inputs(r.machine, i * step, u);
    assert_int_equal(od_sim_step(sim, step, u), OD_OK);
  }
  assert_int_equal(od_sim_outputs(sim, r.end), OD_OK);
  od_sim_free(sim);
  od_plant_free(plant);
  if (od_machine_input_count(r.machine) > 0) od_machine_inputs(r.machine, 0, u);
  if (with_slopes) find_slopes(&r, all, u);
  free(all);
  return r;
}

static void drop(result *r) {
  free(r->start), free(r->end), free(r->slopes);
  od_machine_free(r->machine);
}

static void compare(const char *path, const result *a, const result *b) {
  assert_int_equal(a->count, b->count);
  for (int pass = 0; pass < 2; pass++) {
    const double *x = pass ? a->end : a->start, *y = pass ? b->end : b->start;
    for (int i = 0; i < a->count; i++) {
      const char *name = od_machine_output_name(a->machine, i), *unit = od_machine_output_unit(a->machine, i);
      int k = od_machine_output_find(b->machine, name);
      if (k < 0) fail_msg("%s: no output %s", path, name);
      assert_string_equal(unit, od_machine_output_unit(b->machine, k));
      // Quantities of the same unit give the size of round-off.
      double size = 0;
      for (int n = 0; n < a->count; n++)
        if (strcmp(od_machine_output_unit(a->machine, n), unit) == 0) size = fmax(size, fabs(x[n]));
      if (!(fabs(x[i] - y[k]) <= 1e-6 * (size + 1e-6)))
        fail_msg("%s: %s at the %s: %.12g, expected %.12g", path, name, pass ? "end" : "start", y[k], x[i]);
    }
  }
}

// Three of each kind of part.
static const char rich[] =
    "gravity: [0, -9.81]\n"
    "ground:\n"
    "  points: {f: [-1 m, 0], g: [-1.2 m, 0.3 m], h: [-0.9 m, 0.6 m]}\n"
    "bodies:\n"
    "  a: {point: {mass: 2 kg}}\n"
    "  b: {point: {mass: 3 kg}}\n"
    "  c: {mass: 5 kg, inertia: 0.4 kg m^2, centre: [0.1 m, 0], points: {tip: [0.5 m, 0.1 m]}}\n"
    "joints:\n"
    "  A: {type: prismatic, between: [ground, a], axis: [1, 0, 0], stiffness: 300 N/m}\n"
    "  B: {type: prismatic, between: [a, b], axis: [1, 0.2, 0], damping: 9 N s/m}\n"
    "  C: {type: revolute, between: [ground.g, c], stiffness: 50 N m, friction: {law: coulomb, Fc: 2 N m, vs: 0.01 rad/s, viscous: 0.5 N m s/rad}}\n"
    "oil: {density: 870, law: constant, modulus: 1.4 GPa}\n"
    "volumes:\n"
    "  P: {volume: 1 L}\n"
    "  Q: {volume: 2 L}\n"
    "  R: {volume: 0.5 L}\n"
    "tanks:\n"
    "  T: {pressure: 1 bar}\n"
    "  U: {pressure: 2 bar}\n"
    "junctions: [J, K]\n"
    "orifices:\n"
    "  o1: {between: [P, J], area: 2 mm^2, discharge: 0.6}\n"
    "  o2: {between: [J, Q], area: 1 mm^2, discharge: 0.7}\n"
    "  o3: {between: [K, T], area: 0.5 mm^2, discharge: 0.65}\n"
    "leaks:\n"
    "  l1: {between: [P, Q], slope: 1e-12}\n"
    "  l2: {between: [R, K], slope: 3e-11}\n"
    "checks:\n"
    "  c1: {between: [J, K], area: 3 mm^2, discharge: 0.7, crack: 0.5 bar, full: 1.5 bar}\n"
    "  c2: {between: [U, R], area: 3 mm^2, discharge: 0.7, crack: 0.1 bar, full: 1 bar}\n"
    "reliefs:\n"
    "  r1: {between: [P, T], set: 30 bar, slope: 2e-10}\n"
    "  r2: {between: [Q, U], set: 20 bar, slope: 1e-10}\n"
    "pumps:\n"
    "  p1: {from: T, to: P, flow: 6 L/min}\n"
    "  p2: {from: U, to: R, flow: 1 L/min}\n"
    "flow_formulas:\n"
    "  f1: {between: [P, R], parameters: {k: 2e-12 m^3/(s Pa)}, flow: 'k * (p_a - p_b)'}\n"
    "  f2: {between: [Q, T], parameters: {k: 1e-12 m^3/(s Pa)}, flow: 'k * (p_a - 2 * p_b)'}\n"
    "cylinders:\n"
    "  y1: {between: [ground.f, a], chambers: [P, Q], areas: [4 cm^2, 3 cm^2], closed: 0.6 m, stroke: 0.8 m, friction: {law: coulomb, Fc: 30 N, vs: 0.01 m/s, viscous: 100 N s/m}}\n"
    "  y2: {between: [ground.h, b], chambers: [Q, R], areas: [3 cm^2, 2 cm^2], closed: 0.6 m, stroke: 0.9 m, friction: {law: coulomb, Fc: 20 N, vs: 0.01 m/s, viscous: 50 N s/m}}\n"
    "  y3: {between: [ground.f, c.tip], chambers: [R, T], areas: [2 cm^2, 1 cm^2], closed: 0.3 m, stroke: 0.9 m}\n"
    "springs:\n"
    "  s1: {between: [ground.g, b], stiffness: 200 N/m, length: 1 m}\n"
    "  s2: {between: [a, c.tip], stiffness: 100 N/m, damping: 3 N s/m, length: 0.5 m}\n"
    "stops:\n"
    "  e1: {joint: A, high: 1 mm, stiffness: 40 N/mm, damping: 0.5 s/m}\n"
    "  e2: {joint: B, low: 0.3 m, stiffness: 20 N/mm}\n"
    "force_formulas:\n"
    "  q1: {joint: A, parameters: {k: 5 N s/m}, force: '-k * v'}\n"
    "  q2: {joint: B, parameters: {k: 80 N/m}, force: '-k * x'}\n"
    "inputs: {u: {unit: N, constant: 3 N}, v: {unit: N, constant: -4 N}}\n"
    "forces:\n"
    "  n1: {at: a, direction: [1, 0, 0], value: u}\n"
    "  n2: {at: c.tip, direction: [0, 1, 0], value: v}\n"
    "  n3: {at: b, direction: [1, 1, 0], value: 2 N}\n"
    "torques:\n"
    "  t1: {joint: C, value: 3 N m}\n"
    "  t2: {body: c, value: 1 N m}\n"
    "contacts:\n"
    "  k1: {at: c.tip, stiffness: 1e5 N/m, normal: [0, 1, 0]}\n"
    "  k2: {at: a, stiffness: 2e5 N/m, normal: [0, 1, 0]}\n"
    "blocks:\n"
    "  b1: {type: first-order, input: A.position, unit: m, time_constant: 20 ms}\n"
    "  b2: {type: gain, input: y1.force, unit: N, gain: 2}\n"
    "  b3: {type: first-order, input: y2.friction, unit: N, time_constant: 10 ms}\n"
    "  b4: {type: gain, input: s1.force, unit: N, gain: 0.5}\n"
    "  b5: {type: integrator, input: P.pressure, unit: Pa s, gain: 1}\n"
    "  b6: {type: gain, input: b3, unit: N, gain: 3}\n"
    "  b7: {type: gain, input: s2.force, unit: N, gain: 0.5}\n"
    "initial: {A.position: 0 m, B.position: 0.31 m, C.angle: 0.2 rad, A.rate: 0.1 m/s, C.rate: -0.2 rad/s, P.pressure: 31 bar, Q.pressure: 21 bar, R.pressure: 3 bar}\n";

// A machine whose first elements are cylinders with friction.
static const char cylinders[] =
    "ground:\n"
    "  points: {f: [-1 m, 0], g: [-1.2 m, 0]}\n"
    "bodies:\n"
    "  a: {point: {mass: 2 kg}}\n"
    "  b: {point: {mass: 3 kg}}\n"
    "joints:\n"
    "  A: {type: prismatic, between: [ground, a], axis: [1, 0, 0]}\n"
    "  B: {type: prismatic, between: [ground, b], axis: [1, 0, 0]}\n"
    "oil: {density: 870, law: constant, modulus: 1.4 GPa}\n"
    "volumes:\n"
    "  P: {volume: 1 L}\n"
    "  Q: {volume: 2 L}\n"
    "cylinders:\n"
    "  y1: {between: [ground.f, a], chambers: [P, Q], areas: [4 cm^2, 3 cm^2], closed: 0.6 m, stroke: 0.8 m, friction: {law: lugre, Fs: 60 N, Fc: 30 N, vs: 0.01 m/s, sigma_0: 1 N/um}}\n"
    "  y2: {between: [ground.g, b], chambers: [Q, P], areas: [3 cm^2, 2 cm^2], closed: 0.6 m, stroke: 0.9 m, friction: {law: coulomb, Fc: 20 N, vs: 0.01 m/s, viscous: 50 N s/m}}\n"
    "initial: {A.position: 0 m, B.position: 0.01 m, A.rate: 0.1 m/s, B.rate: -0.2 m/s, P.pressure: 5 bar, Q.pressure: 6 bar}\n";

static void compare_slopes(const char *path, const result *a, const result *b) {
  for (int p = 0; p < a->parameters; p++)
    for (int i = 0; i < a->count; i++) {
      const char *name = od_machine_output_name(a->machine, i), *unit = od_machine_output_unit(a->machine, i);
      int k = od_machine_output_find(b->machine, name), np = a->parameters;
      double size = 0;
      for (int n = 0; n < a->count; n++)
        if (strcmp(od_machine_output_unit(a->machine, n), unit) == 0) size = fmax(size, fabs(a->slopes[n * np + p]));
      if (!(fabs(a->slopes[i * np + p] - b->slopes[k * np + p]) <= 1e-6 * (size + 1e-9)))
        fail_msg("%s: derivative of %s with respect to %s: %.12g, expected %.12g", path, name, paths[p],
                 b->slopes[k * np + p], a->slopes[i * np + p]);
    }
}

static void test_orders(void **state) {
  (void)state;
  static const struct {
    const char *path;
    double step;
    bool has_loops;
  } cases[] = {{NULL, 1e-4, false},
               {NULL, 1e-5, false},
               {"andrews-squeezer/machine.yaml", 1e-5, true},
               {"charging/machine.yaml", 1e-4, false},
               {"crane/machine.yaml", 1e-3, false},
               {"fourbar-valve/machine.yaml", 1e-4, true},
               {"hydrostatic-transmission/machine.yaml", 1e-4, false},
               {"load-sensing/machine.yaml", 1e-4, false},
               {"press/machine.yaml", 1e-4, true},
               {"test-bench/machine.yaml", 1e-4, false},
               {"position-servo/machine.yaml", 1e-4, false},
               {"fin-servo/machine.yaml", 1e-4, false}};
  int all = 0;
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    char path[300];
    const char *name = cases[i].path ? cases[i].path : i ? "cylinders" : "rich";
    snprintf(path, sizeof path, "%s/cases/%s", OD_SOURCE_DIR, name);
    char *text = cases[i].path ? read_all(path) : strdup(i ? cylinders : rich);
    path_count = 0;
    result original = run(path, text, cases[i].step, !cases[i].path);
    for (int shift = 0; shift < (cases[i].path ? 2 : 7); shift++) {
      int moved;
      char *other = reorder(text, shift, cases[i].has_loops, &moved);
      result r = run(path, other, cases[i].step, !cases[i].path);
      compare(name, &original, &r);
      if (r.slopes) compare_slopes(name, &original, &r);
      drop(&r);
      free(other);
      all += moved;
      if (shift == 0) print_message("%s: %d entries moved, %d outputs\n", name, moved, original.count);
    }
    drop(&original);
    free(text);
  }
  assert_true(all > 100);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_orders)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
