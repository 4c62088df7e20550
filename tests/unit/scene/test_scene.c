// Scenes of machines. Oracles: the description of `info` (poses and points, computed by a simulation), positions by hand for a four-bar
// and a rod, and the same machine without its look. All machines of cases/ are drawn: each body has shapes or is part of a cylinder, each
// cylinder ends at its points, all outputs exist, all colors are known, and the same machine gives the same bytes.
#include "support/test.h"

#include <glob.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "machine/look.h"
#include "machine/machine.h"
#include "machine/machine_parts.h"
#include "model/fingerprint.h"
#include "scene/scene.h"
#include "support/machine_file.h"
#include "support/machines.h"

static json_t *member(const json_t *object, const char *key) {
  json_t *value = json_object_get(object, key);
  if (value == NULL) fail_msg("there is no member '%s'", key);
  return value;
}

static json_t *find(const json_t *list, const char *key, const char *name) {
  size_t i;
  json_t *entry;
  json_array_foreach(list, i, entry) {
    const char *found = json_string_value(json_object_get(entry, key));
    if (found && strcmp(found, name) == 0) return entry;
  }
  return NULL;
}

static json_t *need(const json_t *list, const char *key, const char *name) {
  json_t *entry = find(list, key, name);
  if (entry == NULL) fail_msg("there is no entry with %s '%s'", key, name);
  return entry;
}

static void vector(const json_t *list, double *out, size_t count) {
  assert_int_equal(json_array_size(list), count);
  for (size_t k = 0; k < count; k++) out[k] = json_number_value(json_array_get(list, k));
}

static char *svg_at(const od_scene *s, const double *value, bool is_alone) {
  char *text = NULL;
  size_t size = 0;
  FILE *to = open_memstream(&text, &size);
  assert_non_null(to);
  od_scene_svg_with(s, value, &(od_scene_picture){.is_alone = is_alone, .names = is_alone}, to);
  fclose(to);
  char *copy = strdup(text);
  free(text);
  assert_non_null(copy);
  return copy;
}

static char *svg_of(const od_scene *s, bool is_alone) {
  return svg_at(s, NULL, is_alone);
}

// A point of a body in ground axes, from the poses of `info`: position + p + 2 u x (w p + u x p).
static void place(const json_t *info, const char *body, const double p[3], double out[3]) {
  memcpy(out, p, 3 * sizeof *out);
  if (strcmp(body, "ground") == 0) return;
  const json_t *entry = need(member(info, "bodies"), "name", body);
  double r[3], q[4], c[3], d[3];
  vector(member(entry, "position"), r, 3);
  vector(member(entry, "quaternion"), q, 4);
  const double *u = q + 1;
  for (int k = 0; k < 3; k++) c[k] = q[0] * p[k] + u[(k + 1) % 3] * p[(k + 2) % 3] - u[(k + 2) % 3] * p[(k + 1) % 3];
  for (int k = 0; k < 3; k++) d[k] = u[(k + 1) % 3] * c[(k + 2) % 3] - u[(k + 2) % 3] * c[(k + 1) % 3];
  for (int k = 0; k < 3; k++) out[k] = r[k] + p[k] + 2 * d[k];
}

static void end_place(const json_t *scene, const json_t *info, const json_t *end, double out[3]) {
  double at[3];
  const json_t *body = json_array_get(member(scene, "bodies"), (size_t)json_integer_value(member(end, "body")));
  assert_non_null(body);
  vector(member(end, "at"), at, 3);
  place(info, json_string_value(member(body, "name")), at, out);
}

static void check_output(const od_machine *machine, const json_t *name, const int *outputs, int count) {
  int output = od_machine_output_find(machine, json_string_value(name));
  if (output < 0) fail_msg("there is no output '%s'", json_string_value(name));
  for (int i = 0; i < count; i++)
    if (outputs[i] == output) return;
  fail_msg("'%s' is not among the outputs of the scene", json_string_value(name));
}

static void check_shape(const json_t *shape, double size) {
  static const char *const words[] = {"body", "base", "dark", "glass", "steel", "accent", "soil"};
  const char *color = json_string_value(member(shape, "color")), *kind = json_string_value(member(shape, "kind"));
  bool known = color[0] == '#' && strlen(color) == 7;
  for (size_t i = 0; i < sizeof words / sizeof *words; i++) known = known || strcmp(color, words[i]) == 0;
  if (!known) fail_msg("unknown color '%s'", color);
  if (strcmp(kind, "outline") == 0) {
    assert_true(json_array_size(member(shape, "points")) >= 3);
    double n[3];
    vector(member(shape, "normal"), n, 3);
    near(n[0] * n[0] + n[1] * n[1] + n[2] * n[2], 1, 1e-6);
    assert_true(json_number_value(member(shape, "thickness")) > 0);
  } else if (strcmp(kind, "capsule") == 0) {
    double a[3], b[3];
    vector(member(shape, "a"), a, 3), vector(member(shape, "b"), b, 3);
    double width = json_number_value(member(shape, "width"));
    assert_true(width > 0 && width < 0.2 * size);
  } else if (strcmp(kind, "disc") == 0) {
    assert_true(json_number_value(member(shape, "radius")) > 0);
  }
}

static void check_bodies(const od_machine *machine, const json_t *scene, const int *outputs, int count) {
  const od_model *m = od_machine_model(machine);
  const json_t *bodies = member(scene, "bodies"), *cylinders = member(scene, "cylinders");
  double size = json_number_value(member(scene, "size"));
  assert_string_equal(json_string_value(member(json_array_get(bodies, 0), "name")), "ground");
  for (int i = 0; i < m->bodies; i++) {
    const char *name = od_model_text(m, m->body[i].name);
    const json_t *body = find(bodies, "name", name);
    bool drawn = body && json_array_size(member(body, "shapes")) > 0;
    size_t k, n;
    json_t *cylinder, *part;
    json_array_foreach(cylinders, k, cylinder) json_array_foreach(member(cylinder, "parts"), n, part) drawn =
        drawn || !strcmp(json_string_value(part), name);
    if (!drawn) fail_msg("body '%s' is not drawn", name);
    if (!body) continue;
    static const char *const component[] = {"x", "y", "z", "qw", "qx", "qy", "qz"};
    for (int c = 0; c < 7; c++) {
      char output[300];
      snprintf(output, sizeof output, "%s.%s", json_string_value(member(body, "pose")), component[c]);
      json_t *text = json_string(output);
      check_output(machine, text, outputs, count);
      json_decref(text);
    }
    json_array_foreach(member(body, "shapes"), k, part) check_shape(part, size);
  }
}

// Cylinders end at their points, joints at both of their points.
static void check_places(const od_machine *machine, const json_t *scene, const json_t *info, const int *outputs,
                         int count) {
  double size = json_number_value(member(scene, "size"));
  const od_model *m = od_machine_model(machine);
  size_t i;
  json_t *entry;
  json_array_foreach(member(scene, "cylinders"), i, entry) {
    const char *name = json_string_value(member(entry, "name"));
    const json_t *line = need(member(info, "lines"), "name", name);
    for (int k = 0; k < 2; k++) {
      double is[3], wanted[3];
      end_place(scene, info, member(entry, k ? "b" : "a"), is);
      vector(member(line, k ? "b" : "a"), wanted, 3);
      for (int c = 0; c < 3; c++) near(is[c], wanted[c], 2e-5 * size);
    }
    check_output(machine, member(entry, "length"), outputs, count);
    double diameter = json_number_value(member(entry, "diameter")), rod = json_number_value(member(entry, "rod"));
    assert_true(rod > 0.2 * diameter && rod < 0.9 * diameter);
    assert_true(diameter > 0 && diameter <= 0.41 * json_number_value(member(entry, "closed")));
    for (size_t c = 0; c < 2; c++) {
      const json_t *chamber = json_array_get(member(entry, "chambers"), c);
      if (json_is_object(chamber)) check_output(machine, member(chamber, "pressure"), outputs, count);
    }
  }
  json_array_foreach(member(scene, "joints"), i, entry) {
    const json_t *joint = need(member(info, "joints"), "name", json_string_value(member(entry, "name")));
    double is[3], wanted[3];
    end_place(scene, info, member(entry, "a"), is);
    vector(member(joint, "a"), wanted, 3);
    if (strcmp(json_string_value(member(entry, "type")), "prismatic") == 0) continue;
    for (int c = 0; c < 3; c++) near(is[c], wanted[c], 2e-5 * size);
    end_place(scene, info, member(entry, "b"), is);
    for (int c = 0; c < 3; c++) near(is[c], wanted[c], 2e-5 * size);
  }
  // Every instance of a class with a stroke is a cylinder.
  int cylinders = 0;
  for (int k = 0; k < m->instances; k++)
    cylinders += m->instance[k].point_a >= 0 && strstr(od_instance_class(m, &m->instance[k])->name, "cylinder") != NULL;
  assert_int_equal(json_array_size(member(scene, "cylinders")), cylinders);
}

static void check_svg(const char *svg) {
  assert_int_equal(strncmp(svg, "<svg ", 5), 0);
  assert_non_null(strstr(svg, "</svg>\n"));
  assert_null(strstr(svg, "nan"));
  assert_null(strstr(svg, "inf "));
  assert_null(strstr(svg, "<script"));
}

static void check_machine(const od_machine *machine) {
  od_arena arena = {0}, second = {0};
  const od_scene *s, *again;
  const int *outputs;
  assert_int_equal(od_scene_make(machine, &arena, &s, NULL), OD_OK);
  if (od_machine_model(machine)->bodies == 0) {
    assert_null(s);
    return;
  }
  assert_non_null(s);
  int count = od_scene_outputs(s, &outputs);
  for (int i = 0; i < count; i++)
    for (int j = 0; j < i; j++) assert_int_not_equal(outputs[i], outputs[j]);
  json_t *scene = od_scene_json(s), *info = od_json_scene(machine);
  check_bodies(machine, scene, outputs, count);
  check_places(machine, scene, info, outputs, count);
  const od_scene_gap *gap;
  assert_int_equal(od_scene_gaps(s, &gap), 0);
  assert_int_equal(od_scene_make(machine, &second, &again, NULL), OD_OK);
  json_t *scene_again = od_scene_json(again);
  assert_true(json_equal(scene, scene_again));
  for (int alone = 0; alone < 2; alone++) {
    char *a = svg_of(s, alone), *b = svg_of(again, alone);
    check_svg(a);
    assert_string_equal(a, b);
    free(a), free(b);
  }
  json_decref(scene), json_decref(scene_again), json_decref(info);
  od_arena_free(&arena), od_arena_free(&second);
}

static void cases(void **state) {
  (void)state;
  static const char *const patterns[] = {"/cases/*/machine.yaml", "/cases/fourbar-observer/spring.yaml",
                                         "/cases/rssr/coupler.yaml", "/cases/slider-crank/slider-first.yaml",
                                         "/cases/fourbar-chain/chain-5.yaml"};
  int drawn = 0;
  for (size_t p = 0; p < sizeof patterns / sizeof *patterns; p++) {
    glob_t files;
    char path[1000];
    snprintf(path, sizeof path, "%s%s", OD_SOURCE_DIR, patterns[p]);
    assert_int_equal(glob(path, 0, NULL, &files), 0);
    for (size_t i = 0; i < files.gl_pathc; i++, drawn++) {
      od_machine *machine = od_test_machine(files.gl_pathv[i] + strlen(OD_SOURCE_DIR) + 1, NULL);
      check_machine(machine);
      od_machine_free(machine);
    }
    globfree(&files);
  }
  assert_true(drawn > 20);
}

// Planar machines in space have the same parts.
static void in_space(void **state) {
  (void)state;
  static const char *const names[] = {"excavator", "crane", "press"};
  for (int i = 0; i < 3; i++) {
    char path[200];
    od_machine *machine = NULL;
    od_messages *messages = od_messages_new();
    snprintf(path, sizeof path, "%s/cases/%s/machine.yaml", OD_SOURCE_DIR, names[i]);
    assert_int_equal(od_machine_load(path, &(od_load_options){.spatial = true}, &machine, messages), OD_OK);
    check_machine(machine);
    od_machine_free(machine);
    od_messages_free(messages);
  }
}

// --- By hand

static const char fourbar[] =
    "ground: {points: {A: [0, 0], B: [10 m, 0]}}\n"
    "bodies: {crank: {beam: {mass: 1 kg, length: 2 m}}, coupler: {beam: {mass: 1 kg, length: 8 m}}, rocker: {beam: {mass: 1 kg, length: 5 m}}}\n"
    "joints:\n  A: {type: revolute, between: [ground.A, crank.start]}\n  P1: {type: revolute, between: [crank.end, coupler.start]}\n"
    "  B: {type: revolute, between: [ground.B, rocker.start]}\n  P2: {type: revolute, between: [coupler.end, rocker.end], cut: true}\n";

// The crank at 90 degrees: its end is at (0, 2). A link is a capsule from pin to pin.
static void four_bar(void **state) {
  char text[2000];
  snprintf(text, sizeof text,
           "%sgravity: [0, -9.81]\ninitial: {A.angle: 90 deg, P1.angle: about -70 deg, B.angle: about 100 deg}\n",
           fourbar);
  od_machine *machine = machine_from(*state, text, NULL, NULL);
  od_arena arena = {0};
  const od_scene *s;
  assert_int_equal(od_scene_make(machine, &arena, &s, NULL), OD_OK);
  json_t *scene = od_scene_json(s), *info = od_json_scene(machine);
  const json_t *crank = need(member(scene, "bodies"), "name", "crank"),
               *shape = json_array_get(member(crank, "shapes"), 0);
  double a[3], b[3], at[3];
  assert_string_equal(json_string_value(member(shape, "kind")), "capsule");
  vector(member(shape, "a"), a, 3), vector(member(shape, "b"), b, 3);
  near(a[0], 0, 0), near(b[0], 2, 1e-4), near(b[1], 0, 0);
  end_place(scene, info, member(need(member(scene, "joints"), "name", "P1"), "a"), at);
  near(at[0], 0, 1e-4), near(at[1], 2, 1e-4);
  // Two bearings, the machine above them: the ground is below the bearings, less than a tenth of the machine's size.
  double level = json_number_value(member(member(scene, "ground"), "level"));
  assert_true(level < 0 && level > -1.2);
  assert_true(json_is_true(member(scene, "planar")));
  double x[3], y[3], normal[3];
  vector(member(member(scene, "axes"), "x"), x, 3), vector(member(member(scene, "axes"), "y"), y, 3);
  vector(member(member(scene, "axes"), "normal"), normal, 3);
  near(x[0], 1, 0), near(y[1], 1, 0), near(normal[2], 1, 0);
  json_decref(scene), json_decref(info);
  od_arena_free(&arena);
  od_machine_free(machine);
}

static od_machine *load_loosely(const machine_file *file, const char *text) {
  od_machine *machine = NULL;
  od_messages *messages = od_messages_new();
  machine_file_write(file, text, strlen(text));
  od_machine_load(file->path, &(od_load_options){.may_lack_initial_state = true}, &machine, messages);
  char *said = messages_text(messages);
  if (!machine) fail_msg("%s", said);
  free(said);
  od_messages_free(messages);
  return machine;
}

// Links of 2 m and 5 m between points 10 m apart: in every position at least 3 m are missing.
static void loop_that_does_not_close(void **state) {
  static const char text[] =
      "ground: {points: {A: [0, 0], B: [10 m, 0]}}\n"
      "bodies: {crank: {beam: {mass: 1 kg, length: 2 m}}, rocker: {beam: {mass: 1 kg, length: 5 m}}}\n"
      "joints:\n  A: {type: revolute, between: [ground.A, crank.start]}\n  B: {type: revolute, between: [ground.B, rocker.start]}\n"
      "  C: {type: revolute, between: [crank.end, rocker.end], cut: true}\n"
      "initial: {A.angle: about 10 deg, B.angle: about 160 deg}\n";
  od_machine *machine = load_loosely(*state, text);
  od_arena arena = {0};
  const od_scene *s;
  const od_scene_gap *gap;
  assert_non_null(od_machine_lacks_initial_state(machine));
  assert_int_equal(od_scene_make(machine, &arena, &s, NULL), OD_OK);
  assert_int_equal(od_scene_gaps(s, &gap), 1);
  assert_string_equal(gap->name, "C");
  assert_true(gap->size > 3 - 1e-9 && gap->size < 3.5);  // the search ends near the nearest position
  near(hypot(gap->a[0], gap->a[1]), 2, 1e-9);
  near(hypot(gap->b[0] - 10, gap->b[1]), 5, 1e-9);
  near(hypot(gap->a[0] - gap->b[0], gap->a[1] - gap->b[1]), gap->size, 1e-9);
  char *svg = svg_of(s, false);
  assert_non_null(strstr(svg, "class=\"gap\""));
  assert_non_null(strstr(svg, ">C</text>"));
  free(svg);
  json_t *scene = od_scene_json(s);
  assert_int_equal(json_array_size(member(scene, "gaps")), 1);
  json_decref(scene);
  od_arena_free(&arena);
  od_machine_free(machine);
}

// Without initial values the loops are closed from the zero position, if possible.
static void without_initial_values(void **state) {
  od_machine *machine = load_loosely(*state, fourbar);
  od_arena arena = {0};
  const od_scene *s;
  assert_non_null(od_machine_lacks_initial_state(machine));
  assert_int_equal(od_scene_make(machine, &arena, &s, NULL), OD_OK);
  char *svg = svg_of(s, true);
  check_svg(svg);
  free(svg);
  od_arena_free(&arena);
  od_machine_free(machine);
}

// --- Looks

static const char pendulum[] =
    "machine: \"</svg><script>alert(1)</script> & \\\"x\\\"\"\n"
    "gravity: [0, -9.81]\nbodies: {arm: {beam: {mass: 1 kg, length: 1 m}}}\n"
    "joints: {hinge: {type: revolute, between: [ground, arm.start]}}\ninitial: {hinge.angle: 0 deg}\n";

// The shapes of the file replace the default shape; the numbers of the machine and its model stay the same.
static void shapes_of_the_file(void **state) {
  char text[2000];
  snprintf(text, sizeof text,
           "%sconstants: {half: 50 mm}\nlook:\n  bodies:\n    arm:\n      color: accent\n      shapes:\n"
           "        - {outline: [[0, -half], [1 m, -half], [1 m, half], [0, half]]}\n"
           "        - {disc: 0.1 m, at: [1 m, 0], color: '#12ab34'}\n"
           "        - {path: M0 0 L1 0 L.5 .2 Z, plane: xz, thickness: 20 mm, color: glass}\n"
           "    ground: {hide: true}\n  ground: {level: -2 m, color: steel}\n  traces: [arm.end]\n",
           pendulum);
  od_machine *plain = machine_from(*state, pendulum, NULL, NULL), *machine = machine_from(*state, text, NULL, NULL);
  assert_int_equal(od_model_fingerprint(od_machine_model(plain)), od_model_fingerprint(od_machine_model(machine)));
  assert_int_equal(od_machine_number_count(plain) + 1, od_machine_number_count(machine));  // the constant
  od_arena arena = {0};
  const od_scene *s;
  assert_int_equal(od_scene_make(machine, &arena, &s, NULL), OD_OK);
  json_t *scene = od_scene_json(s);
  const json_t *arm = need(member(scene, "bodies"), "name", "arm"), *shapes = member(arm, "shapes");
  assert_int_equal(json_array_size(shapes), 3);
  const json_t *first = json_array_get(shapes, 0), *disc = json_array_get(shapes, 1), *last = json_array_get(shapes, 2);
  double p[3];
  assert_string_equal(json_string_value(member(first, "color")), "accent");
  assert_int_equal(json_array_size(member(first, "points")), 4);
  vector(json_array_get(member(first, "points"), 1), p, 3);
  near(p[0], 1, 1e-12), near(p[1], -0.05, 1e-12), near(p[2], 0, 0);
  assert_string_equal(json_string_value(member(disc, "color")), "#12ab34");
  vector(member(disc, "center"), p, 3);
  near(p[0], 1, 1e-12);
  vector(json_array_get(member(last, "points"), 2), p, 3);
  near(p[0], 0.5, 1e-12), near(p[1], 0, 0), near(p[2], 0.2, 1e-12);
  vector(member(last, "normal"), p, 3);
  near(fabs(p[1]), 1, 1e-12);
  near(json_number_value(member(last, "thickness")), 0.02, 1e-12);
  assert_int_equal(json_array_size(member(json_array_get(member(scene, "bodies"), 0), "shapes")), 0);
  near(json_number_value(member(member(scene, "ground"), "level")), -2, 1e-12);
  assert_string_equal(json_string_value(json_array_get(member(scene, "traces"), 0)), "arm.end");
  json_decref(scene);
  od_arena_free(&arena);
  od_machine_free(plain);
  od_machine_free(machine);
}

static void hostile_title(void **state) {
  od_machine *machine = machine_from(*state, pendulum, NULL, NULL);
  od_arena arena = {0};
  const od_scene *s;
  assert_int_equal(od_scene_make(machine, &arena, &s, NULL), OD_OK);
  char *svg = svg_of(s, true);
  assert_null(strstr(svg, "<script"));
  assert_non_null(strstr(svg, "&lt;/svg&gt;&lt;script&gt;"));
  assert_non_null(strstr(svg, "&quot;x&quot;"));
  free(svg);
  od_arena_free(&arena);
  od_machine_free(machine);
}

// The pressure scale, poses of other times: outputs replace the initial state.
static void another_time(void **state) {
  od_machine *machine = machine_from(*state, pendulum, NULL, NULL);
  od_arena arena = {0};
  const od_scene *s;
  const int *outputs;
  assert_int_equal(od_scene_make(machine, &arena, &s, NULL), OD_OK);
  int count = od_scene_outputs(s, &outputs);
  double *value = calloc((size_t)count, sizeof *value);
  for (int i = 0; i < count; i++) {
    const char *name = od_machine_output_name(machine, outputs[i]);
    // Turned by 90 degrees about z: the arm points upward.
    value[i] = strcmp(name, "arm.pose.qw") == 0 || strcmp(name, "arm.pose.qz") == 0 ? sqrt(0.5) : 0;
  }
  char *text = svg_at(s, value, false), *start = svg_of(s, false);
  assert_string_not_equal(text, start);
  double width, height, now_width, now_height;
  assert_int_equal(sscanf(strstr(start, "viewBox"), "viewBox=\"0 0 %lf %lf", &width, &height), 2);
  assert_int_equal(sscanf(strstr(text, "viewBox"), "viewBox=\"0 0 %lf %lf", &now_width, &now_height), 2);
  assert_true(now_height > height);
  free(text), free(start), free(value);
  od_arena_free(&arena);
  od_machine_free(machine);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(cases),
      cmocka_unit_test(in_space),
      cmocka_unit_test_setup_teardown(four_bar, machine_file_start, machine_file_end),
      cmocka_unit_test_setup_teardown(loop_that_does_not_close, machine_file_start, machine_file_end),
      cmocka_unit_test_setup_teardown(without_initial_values, machine_file_start, machine_file_end),
      cmocka_unit_test_setup_teardown(shapes_of_the_file, machine_file_start, machine_file_end),
      cmocka_unit_test_setup_teardown(hostile_title, machine_file_start, machine_file_end),
      cmocka_unit_test_setup_teardown(another_time, machine_file_start, machine_file_end),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
