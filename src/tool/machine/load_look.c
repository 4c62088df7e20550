// Loads the section 'look': shapes and colors of bodies, the ground, traces, the view, and places in the circuit
// diagram. The section is for drawings only: its numbers are not numbers of the machine.
#include <math.h>
#include <string.h>

#include "document/ranges.h"
#include "io/wording.h"
#include "machine/look_path.h"
#include "machine/machine_loader.h"
#include "machine/sections.h"

enum { MOST_SHAPES = 2000, MOST_ROW = 100, MOST_ORDER = 10000 };

#define COLOR                                                                                  \
  {                                                                                            \
    "color", OD_TEXT, NULL, "`body`, `base`, `dark`, `glass`, `steel`, `accent` or `#rrggbb`", \
        .otherwise = "`body`; `base` for the ground"                                           \
  }
#define LOOK_LENGTH OD_LIMITS(0, 1e5, 0, 1e4)

static const od_key shape_keys[] = {
    {"path", OD_TEXT, NULL,
     "closed outline in the notation of SVG paths: M, L, H, V, C, S, Q, T, A, Z, coordinates in m in the axes of `plane`"},
    {"outline", OD_ROWS, "m", "closed outline: points in the axes of `plane`", .limits = OD_RANGE_POSITION},
    {"line", OD_TEXT, NULL, "line on a body in the notation of `path`"},
    {"capsule", OD_ROWS, "m", "end points of a bar with round ends", .limits = OD_RANGE_POSITION},
    {"box", OD_NUMBERS, "m",
     "lengths of the edges of a box along the axes of the body; two lengths for a planar machine", OD_POSITIVE,
     .limits = LOOK_LENGTH},
    {"disc", OD_NUMBER, "m", "radius of a disc", OD_POSITIVE, .limits = LOOK_LENGTH},
    COLOR,
    {"at", OD_NUMBERS, "m", "center of a box or disc; origin of the coordinates of an outline",
     .limits = OD_RANGE_POSITION, .otherwise = "the origin"},
    {"axis", OD_NUMBERS, "1", "axis of a disc", .otherwise = "[0, 0, 1]"},
    {"plane", OD_CHOICE, "xy|xz|yz", "axes of the coordinates of an outline"},
    {"round", OD_NUMBER, "m", "radius of the corners of an outline", OD_NOT_NEGATIVE, 0, .limits = LOOK_LENGTH},
    {"width", OD_NUMBER, "m", "width of a line or capsule", OD_POSITIVE, 0, .limits = LOOK_LENGTH,
     .otherwise = "derived from the size of the machine"},
    {"thickness", OD_NUMBER, "m", "extent across the plane of an outline, or along the axis of a disc", OD_POSITIVE, 0,
     .limits = LOOK_LENGTH, .otherwise = "derived from the size of the machine"},
};
const od_section_class od_look_shape_section = {"look_shape", "a shape of a body: one of the first six keys",
                                                OD_KEYS(shape_keys)};

static const od_key body_keys[] = {
    {"shapes", OD_SECTIONS, NULL, "shapes of the body, from back to front, in place of the default shape",
     .inside = &od_look_shape_section},
    COLOR,
    {"hide", OD_FLAG, NULL, "whether the body is left out of pictures"},
};
const od_section_class od_look_body_section = {"look_body", "the look of a body", OD_KEYS(body_keys)};

static const od_key ground_keys[] = {
    {"level", OD_NUMBER, "m", "height of the ground, against gravity", .limits = OD_RANGE_POSITION,
     .otherwise = "the height of a contact, else below the bearings"},
    {"color", OD_TEXT, NULL, "color of the ground: a word or `#rrggbb`", .otherwise = "`soil`"},
    {"hide", OD_FLAG, NULL, "whether the level of the ground is left out of pictures"},
};
const od_section_class od_look_ground_section = {"look_ground", "the look of the ground", OD_KEYS(ground_keys)};

static const od_key place_keys[] = {
    {"row", OD_WHOLE, "1", "row of symbols, from 0 at the top", .otherwise = "chosen by the layout"},
    {"order", OD_WHOLE, "1", "elements of one row and section have increasing orders from left to right",
     .otherwise = "chosen by the layout"},
    {"mirror", OD_FLAG, NULL, "whether the symbol is mirrored, left to right", .otherwise = "chosen by the layout"},
};
const od_section_class od_look_place_section = {"look_place", "the place of an element in the circuit diagram",
                                                OD_KEYS(place_keys)};

static const od_key look_keys[] = {
    {"bodies", OD_SECTION_MAP, NULL, "looks of bodies by name; the name `ground` is for shapes fixed to the ground",
     .inside = &od_look_body_section},
    {"ground", OD_SECTION, NULL, "level and color of the ground", .inside = &od_look_ground_section},
    {"traces", OD_TEXTS, NULL, "points whose paths are drawn", .otherwise = "the point of a force"},
    {"view", OD_NUMBERS, "1", "direction from the machine to the viewer, for spatial machines",
     .otherwise = "from the front, above and right"},
    {"circuit", OD_SECTION_MAP, NULL, "places of elements in the circuit diagram, by name",
     .inside = &od_look_place_section},
};
const od_section_class od_look_section = {
    "look", "looks of the machine's parts in pictures, without effect on the model", OD_KEYS(look_keys)};

const char *const od_look_colors[] = {"body", "base", "dark", "glass", "steel", "accent", "soil", NULL};

// --- Values -----------------------------------------------------------------------------------------------------------

// Reads a number at a node, without adding it to the numbers of the machine. Returns the fallback if there is no
// number.
static double read_at(od_loader *ld, int node, const od_section *section, const char *label, const od_key *key,
                      double fallback) {
  const char *unit = key->of ? key->of : "1";
  od_field field = {label, unit, key->sign, fallback, &key->limits};
  od_given given =
      od_given_for(ld, node, od_path(ld, section->path, label), label, unit, od_place_of(ld, section->node));
  double value;
  if (node < 0 || given.text == NULL || !od_read_quantity(ld, &given, unit, &value)) return fallback;
  return od_check_range(ld, &given, &field, value) ? value : fallback;
}

static double read_number(od_loader *ld, const od_section *section, const char *key, double fallback) {
  return read_at(ld, od_section_get(ld, section, key), section, key, od_key_of(section->of, key), fallback);
}

// Reads a list of `least` to 3 numbers at a node. Numbers that the list does not contain keep their values in `out`.
// Returns the count, or 0 after reporting an error.
static int read_vector(od_loader *ld, int node, const od_section *section, const char *label, const od_key *key,
                       int least, double out[3]) {
  int count = od_list_count(ld, node), i = 0;
  if (!od_is_list(ld, node) || count < least || count > 3) {
    od_complain(ld, node, "%s must be a list of %s numbers, not %s", label, least == 3 ? "three" : "two or three",
                od_is_list(ld, node) ? od_format(ld, "of %d", count) : od_describe(ld, node));
    return 0;
  }
  int before = od_messages_errors(ld->messages);
  for (int at = od_list_first(ld, node); at >= 0; at = ld->tree.node[at].next, i++)
    out[i] = read_at(ld, od_entry(ld, at), section, od_format(ld, "%s[%d]", label, i), key, 0);
  return od_messages_errors(ld->messages) == before ? count : 0;
}

// Returns the color under the key 'color'. Returns NULL if the key is not given, or after reporting an error.
static const char *read_color(od_loader *ld, const od_section *section) {
  int node = od_section_get(ld, section, "color");
  const char *text = od_read_text(ld, node, "color", "a color");
  if (!text) return NULL;
  for (int i = 0; od_look_colors[i]; i++)
    if (strcmp(text, od_look_colors[i]) == 0) return od_look_colors[i];
  if (text[0] == '#' && strlen(text) == 7 && strspn(text + 1, "0123456789abcdefABCDEF") == 6)
    return od_copy(ld, text, 7);
  od_complain(ld, node,
              "'%s' is not a color; expected body, base, dark, glass, steel, accent, soil, or a text such as '#d9683c'",
              od_excerpt(ld, text));
  return NULL;
}

// --- Shapes -----------------------------------------------------------------------------------------------------------

// The axes of the two coordinates in the planes xy, xz and yz.
static const int plane_axis[3][2] = {{0, 1}, {0, 2}, {1, 2}};

// Converts points in a plane to points in the frame of the body.
static void set_points(od_loader *ld, od_look_shape *shape, const od_path_points *p, int plane, const double at[3]) {
  shape->point = od_arena_take_array(&ld->document->arena, p->points, sizeof *shape->point);
  if (!shape->point) return;
  shape->points = p->points;
  for (int i = 0; i < p->points; i++) {
    memcpy(shape->point[i], at, sizeof shape->point[i]);
    for (int k = 0; k < 2; k++) shape->point[i][plane_axis[plane][k]] += p->point[i][k];
  }
  const int first = plane_axis[plane][0], second = plane_axis[plane][1];
  memset(shape->axis, 0, sizeof shape->axis);
  shape->axis[3 - first - second] = plane == 1 ? -1 : 1;  // cross product of both axes
}

static bool read_path(od_loader *ld, int node, const char *key, od_path_points *p) {
  const char *text = od_read_text(ld, node, key, "a path such as 'M0 0 L1 0 L1 0.5 Z'"), *problem = NULL;
  int at = 0;
  if (!text) return false;
  if (!od_path_read(&ld->scratch, text, p, &problem, &at)) {
    od_complain(ld, node, "%s: %s at character %d, '%s'", key, problem, at,
                od_excerpt(ld, at > 0 && (size_t)at <= strlen(text) ? text + at - 1 : ""));
    return false;
  }
  int least = strcmp(key, "line") == 0 ? 2 : 3;
  if (p->points >= least) return true;
  od_complain(ld, node, "the number of points of '%s' is %d; expected at least %d", key, p->points, least);
  return false;
}

// Reads a list of points. A point has two coordinates in the plane, or three coordinates in the frame of the body.
// *is_flat: whether all points have two coordinates. Returns false after reporting an error, or if an allocation fails.
static bool read_rows(od_loader *ld, int node, const od_section *section, const char *key, int least,
                      double (**point)[3], int *points, bool *is_flat) {
  int count = od_list_count(ld, node), i = 0;
  *is_flat = true;
  if (!od_is_list(ld, node) || count < least || count > OD_MOST_PATH_POINTS) {
    const char *found = od_is_list(ld, node) ? od_format(ld, "a list of length %d", count) : od_describe(ld, node);
    od_complain(ld, node, "found %s; '%s' must be a list of %d to %d points", found, key, least, OD_MOST_PATH_POINTS);
    return false;
  }
  *point = od_arena_take_array(&ld->document->arena, count, sizeof **point);
  if (!*point) return false;
  for (int at = od_list_first(ld, node); at >= 0; at = ld->tree.node[at].next, i++) {
    int n = read_vector(ld, od_entry(ld, at), section, od_format(ld, "%s[%d]", key, i), od_key_of(section->of, key), 2,
                        (*point)[i]);
    if (!n) return false;
    if (n == 3) *is_flat = false;
  }
  *points = count;
  return true;
}

static bool read_outline(od_loader *ld, const od_section *section, int node, int plane, const double at[3],
                         od_look_shape *shape) {
  double(*point)[3];
  bool is_flat;
  int points;
  if (!read_rows(ld, node, section, "outline", 3, &point, &points, &is_flat)) return false;
  if (!is_flat) {
    od_complain(
        ld, node,
        "the points of an outline have two coordinates, in the axes of 'plane'; give the third coordinate with 'at'");
    return false;
  }
  od_path_points p = {od_arena_take_array(&ld->scratch, points, sizeof *p.point), points};
  for (int i = 0; p.point && i < points; i++) memcpy(p.point[i], point[i], sizeof p.point[i]);
  if (!p.point) return false;
  p = od_path_round(&ld->scratch, &p, read_number(ld, section, "round", 0));
  set_points(ld, shape, &p, plane, at);
  return true;
}

static bool read_capsule(od_loader *ld, const od_section *section, int node, int plane, const double at[3],
                         od_look_shape *shape) {
  bool is_flat;
  if (!read_rows(ld, node, section, "capsule", 2, &shape->point, &shape->points, &is_flat)) return false;
  if (shape->points != 2) {
    od_complain(ld, node, "found %s; a capsule has 2 points, the ends of its center line",
                od_count(shape->points, "point").text);
    return false;
  }
  for (int i = 0; i < 2; i++) {
    double flat[2] = {shape->point[i][0], shape->point[i][1]};
    if (is_flat) memset(shape->point[i], 0, sizeof shape->point[i]);
    for (int k = 0; k < 2 && is_flat; k++) shape->point[i][plane_axis[plane][k]] = flat[k];
    for (int k = 0; k < 3; k++) shape->point[i][k] += at[k];
  }
  shape->width = shape->end_width = read_number(ld, section, "width", 0);
  return true;
}

// Reads one shape. Returns false after reporting an error.
static bool read_shape(od_loader *ld, const od_section *section, od_look_shape *shape) {
  static const char *const kinds[] = {"path", "outline", "line", "capsule", "box", "disc"};
  static const od_look_kind kind_of[] = {OD_LOOK_OUTLINE, OD_LOOK_OUTLINE, OD_LOOK_LINE,
                                         OD_LOOK_CAPSULE, OD_LOOK_BOX,     OD_LOOK_DISC};
  int found = -1, node = -1, count = 0;
  if (section->map < 0) return false;
  for (int i = 0; i < 6; i++) {
    int at = od_section_get(ld, section, kinds[i]);
    if (at < 0) continue;
    found = i, node = at, count++;
  }
  if (count != 1) {
    if (count > 1 || !section->has_unknown)
      od_complain(ld, section->node, "%s has %d of the keys path, outline, line, capsule, box, disc; expected one",
                  section->what, count);
    return false;
  }
  double at[3] = {0}, axis[3] = {0, 0, 1};
  int before = od_messages_errors(ld->messages), plane = od_key_setting(ld, section, "plane");
  int at_node = od_section_get(ld, section, "at"), axis_node = od_section_get(ld, section, "axis");
  if (at_node >= 0) read_vector(ld, at_node, section, "at", od_key_of(section->of, "at"), 2, at);
  if (axis_node >= 0) read_vector(ld, axis_node, section, "axis", od_key_of(section->of, "axis"), 3, axis);
  shape->kind = kind_of[found];
  shape->color = read_color(ld, section);
  shape->thickness = read_number(ld, section, "thickness", 0);
  shape->width = read_number(ld, section, "width", 0);
  if (shape->kind == OD_LOOK_BOX || shape->kind == OD_LOOK_DISC) {
    shape->point = od_arena_take_array(&ld->document->arena, 1, sizeof *shape->point);
    if (!shape->point) return false;
    memcpy(shape->point[0], at, sizeof at);
    shape->points = 1;
  }
  double length = sqrt(axis[0] * axis[0] + axis[1] * axis[1] + axis[2] * axis[2]);
  switch (found) {
    case 0:
    case 2: {
      od_path_points p;
      if (read_path(ld, node, kinds[found], &p)) {
        if (found == 0) p = od_path_round(&ld->scratch, &p, read_number(ld, section, "round", 0));
        set_points(ld, shape, &p, plane, at);
      }
      break;
    }
    case 1: read_outline(ld, section, node, plane, at, shape); break;
    case 3: read_capsule(ld, section, node, plane, at, shape); break;
    case 4: read_vector(ld, node, section, "box", od_key_of(section->of, "box"), 2, shape->size); break;
    default:
      shape->radius = read_number(ld, section, "disc", 0);
      if (!(length > 0)) od_complain(ld, axis_node, "the axis of the disc is [0, 0, 0]; expected a nonzero vector");
      for (int k = 0; k < 3 && length > 0; k++) shape->axis[k] = axis[k] / length;
  }
  return od_messages_errors(ld->messages) == before;
}

static void read_shapes(od_loader *ld, const od_section *section, od_look_body *body) {
  int node = od_section_get(ld, section, "shapes"), count = od_list_count(ld, node), number = 0;
  if (node < 0) return;
  if (!od_is_list(ld, node) || count > MOST_SHAPES) {
    const char *found = od_is_list(ld, node) ? od_format(ld, "a list of length %d", count) : od_describe(ld, node);
    od_complain(ld, node, "found %s; 'shapes' must be a list of at most %d shapes", found, MOST_SHAPES);
    return;
  }
  body->shape = OD_TAKE(&ld->document->arena, od_look_shape, count);
  if (!body->shape) return;
  for (int at = od_list_first(ld, node); at >= 0; at = ld->tree.node[at].next) {
    int entry = od_entry(ld, at);
    const char *what = od_format(ld, "shape %d of %s", ++number, section->what);
    od_section shape = od_section_open(ld, entry, entry, od_format(ld, "%s.shapes[%d]", section->path, number - 1),
                                       what, &od_look_shape_section);
    if (read_shape(ld, &shape, &body->shape[body->shapes])) body->shapes++;
  }
}

// --- The section ------------------------------------------------------------------------------------------------------

static void read_bodies(od_loader *ld, const od_section *look) {
  od_look *out = &ld->draft->machine->look;
  for (int key = od_first(ld, od_section_get(ld, look, "bodies"), "bodies of 'look'"); key >= 0;
       key = od_next(ld, key)) {
    const char *name = od_text_of(ld, key);
    int element = od_names_find(ld, key, name, OD_ELEMENT_BODY);
    const char *what = od_format(ld, "the look of '%s'", od_excerpt(ld, name));
    od_section section =
        od_section_open(ld, od_value(ld, key), key, od_format(ld, "look.bodies.%s", name), what, &od_look_body_section);
    od_look_body *longer = od_arena_extend(&ld->document->arena, out->body, out->bodies, sizeof *longer);
    if (!longer) return;
    out->body = longer;
    od_look_body *body = &out->body[out->bodies];
    *body = (od_look_body){.color = read_color(ld, &section), .is_hidden = od_read_flag(ld, &section, "hide")};
    read_shapes(ld, &section, body);
    if (element < 0 || od_element_at(ld, element)->broken) continue;
    body->body = od_element_at(ld, element)->index;
    out->bodies++;
  }
}

static void read_traces(od_loader *ld, int node) {
  od_look *out = &ld->draft->machine->look;
  if (node < 0) return;
  bool is_list = od_is_list(ld, node);
  for (int at = is_list ? od_list_first(ld, node) : node; at >= 0; at = is_list ? ld->tree.node[at].next : -1) {
    od_point_ref ref = od_names_find_point(ld, is_list ? od_entry(ld, at) : node, "traces");
    int *longer =
        ref.point >= 0 ? od_arena_extend(&ld->document->arena, out->trace, out->traces, sizeof *longer) : NULL;
    if (!longer) continue;
    out->trace = longer;
    out->trace[out->traces++] = ref.point;
  }
}

// Returns whether an element is a component with a symbol in the circuit diagram.
static bool is_in_circuit(const od_element *element) {
  const od_element_description *c = od_component_class(element);
  return c && (od_element_end_count(c) > 0 || c == &od_valve_description);
}

// Returns the element of the circuit whose name is given at a key, or -1 after an error was reported.
static int find_in_circuit(od_loader *ld, int key, const char *name) {
  int element = od_names_look_up(ld, key, name);
  if (element >= 0 && is_in_circuit(od_element_at(ld, element))) return element;
  if (element < 0 && od_names_has_failed(ld, key, name)) return -1;
  const char *nearest = NULL;
  for (int i = 0; i < od_element_class_count() && !nearest; i++)
    if (od_element_end_count(od_element_description_at(i)) > 0)
      nearest = od_names_nearest(ld, key, name, OD_ELEMENT_COMPONENT + i);
  od_complain(ld, key, "'%s' is not an element of the circuit%s%s%s", od_excerpt(ld, name),
              nearest ? "; did you mean '" : "", nearest ? nearest : "", nearest ? "'?" : "");
  return -1;
}

// Returns a whole number from 0 to `most` under a key. Returns -1 if the key is not given, or after reporting an error.
static int read_whole(od_loader *ld, const od_section *section, const char *key, int most) {
  int node = od_section_get(ld, section, key), before = od_messages_errors(ld->messages);
  if (node < 0) return -1;
  double value = read_number(ld, section, key, 0);
  if (od_messages_errors(ld->messages) > before) return -1;
  if (value == floor(value) && value >= 0 && value <= most) return (int)value;
  od_complain(ld, node, "%s is %.10g but must be a whole number from 0 to %d", key, value, most);
  return -1;
}

static void read_places(od_loader *ld, const od_section *look) {
  od_look *out = &ld->draft->machine->look;
  for (int key = od_first(ld, od_section_get(ld, look, "circuit"), "circuit of 'look'"); key >= 0;
       key = od_next(ld, key)) {
    const char *name = od_text_of(ld, key);
    int element = find_in_circuit(ld, key, name);
    const char *what = od_format(ld, "the entry '%s' of look.circuit", od_excerpt(ld, name));
    od_section section = od_section_open(ld, od_value(ld, key), key, od_format(ld, "look.circuit.%s", name), what,
                                         &od_look_place_section);
    od_look_place *longer = od_arena_extend(&ld->document->arena, out->place, out->places, sizeof *longer);
    if (!longer) return;
    out->place = longer;
    int mirrored = od_section_get(ld, &section, "mirror") < 0 ? -1 : od_read_flag(ld, &section, "mirror");
    od_look_place place = {NULL, read_whole(ld, &section, "row", MOST_ROW),
                           read_whole(ld, &section, "order", MOST_ORDER), mirrored};
    if (element < 0) continue;
    place.name = od_element_at(ld, element)->name;
    out->place[out->places++] = place;
  }
}

void od_load_look(od_loader *ld, int node) {
  od_look *out = &ld->draft->machine->look;
  if (node < 0) return;
  od_section look = od_section_open(ld, node, node, "look", "the look of the machine", &od_look_section);
  read_bodies(ld, &look);
  read_places(ld, &look);
  int ground = od_section_get(ld, &look, "ground"), view = od_section_get(ld, &look, "view");
  if (ground >= 0) {
    od_section section =
        od_section_open(ld, ground, ground, "look.ground", "the look of the ground", &od_look_ground_section);
    out->has_level = od_section_get(ld, &section, "level") >= 0;
    out->level = read_number(ld, &section, "level", 0);
    out->ground_color = read_color(ld, &section);
    out->is_ground_hidden = od_read_flag(ld, &section, "hide");
  }
  read_traces(ld, od_section_get(ld, &look, "traces"));
  if (view < 0 || read_vector(ld, view, &look, "view", od_key_of(&od_look_section, "view"), 3, out->view) != 3) return;
  out->has_view = out->view[0] != 0 || out->view[1] != 0 || out->view[2] != 0;
  if (!out->has_view) od_complain(ld, view, "the direction of the view is [0, 0, 0]; expected a nonzero vector");
}
