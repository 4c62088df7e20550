// Loads the ground, gravity and the bodies: shapes with their numbers, and points.
//
// A body has exactly one shape: beam, cylinder, point, box, or the general form (mass, center, inertia). A body without a shape is
// marked as broken, so that references to its points cause no further errors.
#include <math.h>
#include <string.h>

#include "document/ranges.h"
#include "machine/machine_loader.h"
#include "machine/sections.h"

#define MASS \
  { "mass", OD_NUMBER, "kg", "mass", OD_POSITIVE, OD_REQUIRED, OD_RANGE_MASS }
#define LENGTH \
  { "length", OD_NUMBER, "m", "length", OD_POSITIVE, OD_REQUIRED, OD_RANGE_LENGTH }
#define CENTRE \
  { "centre", OD_NUMBERS, "m", "center of mass", .limits = OD_RANGE_POSITION, .otherwise = "the origin" }
static const od_key beam_keys[] = {MASS, LENGTH};
static const od_key cylinder_keys[] = {
    MASS, LENGTH, {"radius", OD_NUMBER, "m", "radius", OD_NOT_NEGATIVE, OD_REQUIRED, OD_LIMITS(0, 1e4, 0, 20)}};
static const od_key point_keys[] = {
    MASS, {"at", OD_NUMBERS, "m", "position of the mass", .limits = OD_RANGE_POSITION, .otherwise = "the origin"}};
static const od_key box_keys[] = {
    MASS,
    {"size", OD_NUMBERS, "m", "lengths of the three edges", OD_POSITIVE, OD_REQUIRED, OD_LIMITS(1e-9, 1e5, 1e-3, 200)},
    CENTRE};
static const od_section_class beam_section = {"beam", "a slender beam from the origin along +x", OD_KEYS(beam_keys)};
static const od_section_class cylinder_section = {"solid cylinder", "a solid cylinder from the origin along +x",
                                                  OD_KEYS(cylinder_keys)};
static const od_section_class point_section = {"point mass", "a mass at a point", OD_KEYS(point_keys)};
static const od_section_class box_section = {"box", "a homogeneous box", OD_KEYS(box_keys)};

static const od_key body_keys[] = {
    {"beam", OD_SECTION, NULL, "a slender beam from the origin along +x", .inside = &beam_section},
    {"cylinder", OD_SECTION, NULL, "a solid cylinder from the origin along +x", .inside = &cylinder_section},
    {"point", OD_SECTION, NULL, "a mass at a point", .inside = &point_section},
    {"box", OD_SECTION, NULL, "a homogeneous box", .inside = &box_section},
    {"mass", OD_NUMBER, "kg", "mass of a body in the general form", OD_POSITIVE, OD_REQUIRED, OD_RANGE_MASS,
     .otherwise = "required in the general form"},
    CENTRE,
    {"inertia", OD_SECTION, "inertia",
     "moments of inertia about the center of mass: one number, [xx, yy, zz] or [xx, yy, zz, xy, xz, yz], kg m2", OD_ANY,
     0, OD_RANGE_INERTIA, "0"},
    {"points", OD_SECTION_MAP, "vector", "points in addition to the predefined points", .limits = OD_RANGE_POSITION},
};
const od_section_class od_body_section = {"body", "a body: one shape, or mass, center and inertia; and points",
                                          OD_KEYS(body_keys)};

static const od_key ground_keys[] = {
    {"points", OD_SECTION_MAP, "vector", "points of the ground", .limits = OD_RANGE_POSITION}};
const od_section_class od_ground_section = {"ground", "points of the ground", OD_KEYS(ground_keys)};

static const double origin[3] = {0, 0, 0};

void od_load_gravity(od_loader *ld, int node) {
  const od_key *key = od_key_of(&od_machine_section, "gravity");
  int first = od_read_vector(ld, node, "gravity", "gravity", key, OD_VECTOR, origin, od_place_of(ld, -1));
  od_build_gravity(ld->draft->build, od_number_theta(ld, first));
}

// --- Points -------------------------------------------------------------------------------------------------------

// Adds a point at a vector of three numbers (-1: the origin) plus `fraction` times a length along x (-1: no length).
static void add_point(od_loader *ld, int element, const char *name, int vector, int length, double fraction) {
  int body = od_element_at(ld, element)->index;
  int point =
      od_build_point(ld->draft->build, name, body, od_number_theta(ld, vector), od_number_theta(ld, length), fraction);
  od_names_add_point(ld, element, name, point);
}

static void load_points(od_loader *ld, int node, int element) {
  static const od_key place = {.of = "m", .limits = OD_RANGE_POSITION};
  const char *owner = od_element_at(ld, element)->name;
  for (int key = od_first(ld, node, "points"); key >= 0; key = od_next(ld, key)) {
    const char *name = od_text_of(ld, key);
    if (!od_names_check(ld, key)) continue;
    if (od_names_has_point(ld, element, name)) {
      od_complain(ld, key, "'%s' already has a point '%s'; choose another name", owner, name);
      continue;
    }
    const char *path = od_format(ld, "%s.points.%s", owner, name);
    int vector = od_read_vector(ld, od_value(ld, key), path, name, &place, OD_VECTOR, origin, od_place_of(ld, key));
    add_point(ld, element, name, vector, -1, 0);
  }
}

void od_load_ground(od_loader *ld, int node) {
  add_point(ld, 0, "origin", -1, -1, 0);
  if (od_is_null(ld, node)) return;
  od_section section = od_section_open(ld, node, node, "ground", "the ground", &od_ground_section);
  load_points(ld, od_section_get(ld, &section, "points"), 0);
}

// --- Shapes -------------------------------------------------------------------------------------------------------

// Opens the section of a shape: "crank.beam".
static od_section open_shape(od_loader *ld, const od_section *body, const char *shape) {
  const char *what = od_format(ld, "the %s of %s", shape, body->what);
  return od_section_open(ld, od_section_get(ld, body, shape), body->node, od_path(ld, body->path, shape), what,
                         od_key_of(body->of, shape)->inside);
}

static void build_body(od_loader *ld, int element, od_shape shape, int first_number) {
  od_element *body = od_element_at(ld, element);
  body->index = od_build_body(ld->draft->build, body->name, shape, od_number_theta(ld, first_number));
  od_remember(ld, OD_ABOUT_BODY, body->index, body->node);
  add_point(ld, element, "origin", -1, -1, 0);
}

// Adds the points of a beam or cylinder, which extends along +x. The positions of these points depend on the number
// with index `length`.
static void add_long_points(od_loader *ld, int element, int length) {
  add_point(ld, element, "start", -1, -1, 0);
  add_point(ld, element, "middle", -1, length, 0.5);
  add_point(ld, element, "end", -1, length, 1);
}

// Loads a shape whose numbers are in the order of the keys of its section.
static void load_shape(od_loader *ld, const od_section *body, int element, od_shape shape, const char *key) {
  od_section section = open_shape(ld, body, key);
  int first = ld->document->numbers.count, vector = -1;
  for (int i = 0; i < section.of->count; i++) {
    const od_key *k = &section.of->keys[i];
    bool is_size = k->sign == OD_POSITIVE;
    if (k->shape == OD_NUMBER)
      od_read_keys(ld, &section, OD_IN_MODEL, k->name, NULL);
    else
      vector = od_read_vector_key(ld, &section, k->name, is_size ? OD_SIZE : OD_VECTOR, is_size ? NULL : origin);
  }
  build_body(ld, element, shape, first);
  if (vector >= 0)
    add_point(ld, element, "centre", vector, -1, 0);
  else
    add_long_points(ld, element, first + 1);
}

// --- Inertia ------------------------------------------------------------------------------------------------------

enum { INERTIAS = 6 };  // in the order xx, yy, zz, xy, xz, yz

// Returns whether a body with this inertia can exist: trace(I)/2 - I, the integral of r r^T over the mass, has no negative
// eigenvalue. For principal moments this condition is the triangle inequality.
static bool is_possible(const double *inertia) {
  double half = 0.5 * (inertia[0] + inertia[1] + inertia[2]);
  double a = half - inertia[0], b = half - inertia[1], c = half - inertia[2];
  double d = -inertia[3], e = -inertia[4], f = -inertia[5];
  double tolerance = 1e-9, t1 = tolerance * half, t2 = t1 * half, t3 = t2 * half;
  if (a < -t1 || b < -t1 || c < -t1) return false;
  if (a * b - d * d < -t2 || a * c - e * e < -t2 || b * c - f * f < -t2) return false;
  return a * (b * c - f * f) - d * (d * c - f * e) + e * (d * f - b * e) >= -t3;
}

// Loads an inertia about z. The inertias about x and y get the same value, so that the mass matrix of a spatial run is not
// singular. Only the inertia about z has a path among the machine's numbers.
static void load_single_inertia(od_loader *ld, const od_section *body, int node) {
  const od_field field = {"inertia", "kg m2", OD_NOT_NEGATIVE, 0, &od_key_of(body->of, "inertia")->limits};
  const char *path = od_path(ld, body->path, "inertia");
  od_given given = od_given_for(ld, node, path, "inertia", "kg m2", od_place_of(ld, body->node));
  double value = 0, read;
  if (given.text != NULL && od_read_quantity(ld, &given, "kg m2", &read) && od_check_range(ld, &given, &field, read))
    value = read;
  static const char *const hidden[INERTIAS] = {"inertia.xx", "inertia.yy", NULL,
                                               "inertia.xy", "inertia.xz", "inertia.yz"};
  for (int i = 0; i < INERTIAS; i++) {
    if (i == 2)
      od_add_number(ld, &given, value, &field, OD_IN_MODEL);
    else
      od_build_number(ld->draft->build, od_path(ld, body->path, hidden[i]), i < 2 ? value : 0, "kg m2");
  }
}

static void load_listed_inertia(od_loader *ld, const od_section *body, int node) {
  int count = ld->tree.node[node].count, before = od_messages_errors(ld->messages);
  if (count != 3 && count != INERTIAS)
    od_complain(ld, node,
                "found a list of length %d; 'inertia' must be one number, [xx, yy, zz] or [xx, yy, zz, xy, xz, yz]",
                count);
  double inertia[INERTIAS];
  int entry = ld->tree.node[node].first;
  for (int i = 0; i < INERTIAS; i++) {
    const char *label = od_format(ld, "inertia[%d]", i);
    od_field field = {label, "kg m2", i < 3 ? OD_NOT_NEGATIVE : OD_ANY, 0, &od_key_of(body->of, "inertia")->limits};
    int number = od_read_number(ld, od_entry(ld, entry), od_path(ld, body->path, label), &field, od_place_of(ld, node),
                                OD_IN_MODEL);
    inertia[i] = od_number_value(ld, number);
    if (entry >= 0) entry = ld->tree.node[entry].next;
  }
  if (od_messages_errors(ld->messages) == before && !is_possible(inertia))
    od_complain(
        ld, node,
        "found the moments of inertia %.4g, %.4g, %.4g and the products %.4g, %.4g, %.4g kg m2, which no body can "
        "have: expected principal moments of zero or more, none of them larger than the sum of the other two",
        inertia[0], inertia[1], inertia[2], inertia[3], inertia[4], inertia[5]);
}

static void load_general(od_loader *ld, const od_section *body, int element) {
  int first = od_read_keys(ld, body, OD_IN_MODEL, "mass", NULL);
  int centre = od_read_vector_key(ld, body, "centre", OD_VECTOR, origin);
  int inertia = od_section_get(ld, body, "inertia");
  if (od_is_list(ld, inertia))
    load_listed_inertia(ld, body, inertia);
  else
    load_single_inertia(ld, body, inertia);
  build_body(ld, element, OD_SHAPE_GENERAL, first);
  add_point(ld, element, "centre", centre, -1, 0);
}

// --- Bodies -------------------------------------------------------------------------------------------------------

static const struct {
  const char *key;
  od_shape shape;
} shapes[] = {
    {"beam", OD_SHAPE_BEAM},    {"cylinder", OD_SHAPE_CYLINDER}, {"point", OD_SHAPE_POINT},     {"box", OD_SHAPE_BOX},
    {"mass", OD_SHAPE_GENERAL}, {"centre", OD_SHAPE_GENERAL},    {"inertia", OD_SHAPE_GENERAL},
};
enum { SHAPES = sizeof shapes / sizeof shapes[0] };

// Returns the index of the shape of a body in `shapes`. If the body has no shape or several shapes, reports an error and returns
// -1.
static int find_shape(od_loader *ld, const od_section *body) {
  int found = -1;
  for (int i = 0; i < SHAPES; i++) {
    if (od_section_get(ld, body, shapes[i].key) < 0) continue;
    if (found >= 0 && shapes[found].shape != shapes[i].shape) {
      od_complain(ld, body->node, "%s has two shapes, '%s' and '%s'; expected one shape", body->what, shapes[found].key,
                  shapes[i].key);
      return -1;
    }
    if (found < 0) found = i;
  }
  if (found < 0 && body->map >= 0 && !body->has_unknown)
    od_complain(
        ld, body->node,
        "%s needs a shape: 'beam', 'cylinder', 'point', 'box', or 'mass' with 'centre' and 'inertia'; give one of them",
        body->what);
  return found;
}

void od_load_body(od_loader *ld, int key, int element) {
  od_section section = od_open_element(ld, key, element, &od_body_section);
  int shape = find_shape(ld, &section);
  if (shape < 0) {
    od_element_at(ld, element)->broken = true;
    return;
  }
  if (shapes[shape].shape == OD_SHAPE_GENERAL)
    load_general(ld, &section, element);
  else
    load_shape(ld, &section, element, shapes[shape].shape, shapes[shape].key);
  load_points(ld, od_section_get(ld, &section, "points"), element);
}
