// Forces and torques: their points of action and their values.
#include "document/ranges.h"
#include "machine/machine_loader.h"
#include "machine/sections.h"
#include "model/joint_types.h"

#define FRAME \
  { "frame", OD_CHOICE, "ground|body", "whose axes the direction is given in" }
static const od_key force_keys[] = {
    {"at", OD_TEXT, NULL, "a point", .fallback = OD_REQUIRED},
    {"value", OD_NUMBER, "N", "a quantity, an input, or a factor and an input", OD_ANY, OD_REQUIRED, OD_RANGE_FORCE},
    {"direction", OD_NUMBERS, "1", "in ground axes unless `frame: body`", .fallback = OD_REQUIRED},
    FRAME,
};
const od_section_class od_force_section = {"force", "a force at a point", OD_KEYS(force_keys)};

static const od_unit_limits torque_limits[] = {{"N", OD_RANGE_FORCE}, {"N m", OD_RANGE_FORCE}, {NULL}};
static const od_key torque_keys[] = {
    {"joint", OD_TEXT, NULL, "in a joint, or", .otherwise = "`body`"},
    {"body", OD_TEXT, NULL, "on a body", .otherwise = "`joint`"},
    {"value", OD_NUMBER, "N m", "a quantity, an input, or a factor and an input; N in a prismatic joint", OD_ANY,
     OD_REQUIRED, OD_RANGE_FORCE, .by_unit = torque_limits},
    {"axis", OD_NUMBERS, "1", "of a torque on a body", .otherwise = "[0, 0, 1]"},
    FRAME,
};
const od_section_class od_torque_section = {"torque", "a torque in a joint or on a body", OD_KEYS(torque_keys)};

static const od_key contact_keys[] = {
    {"at", OD_TEXT, NULL, "a point of a body", .fallback = OD_REQUIRED},
    {"plane", OD_NUMBERS, "m", "a point of the plane", .limits = OD_RANGE_POSITION, .otherwise = "[0, 0, 0]"},
    {"normal", OD_NUMBERS, "1", "of the plane, to the side where the point is free", .fallback = OD_REQUIRED},
    {"stiffness", OD_NUMBER, "N/m", "stiffness of the contact", OD_POSITIVE, OD_REQUIRED, OD_RANGE_STIFFNESS},
    {"damping", OD_NUMBER, "s/m", "damping of the contact", OD_NOT_NEGATIVE, 1},
    {"friction", OD_NUMBER, "1", "coefficient of friction along the plane", OD_NOT_NEGATIVE, 0},
    {"slip", OD_NUMBER, "m/s", "friction is smooth below this speed", OD_POSITIVE, 1e-3},
};
const od_section_class od_contact_section = {"contact", "contact of a point with a plane of the ground",
                                             OD_KEYS(contact_keys)};

static int read_value(od_loader *ld, const od_section *section, const char *unit, int *input) {
  const od_field field = od_key_field_in(section, "value", unit);
  return od_read_value(ld, section, &field, input);
}

static bool follows_body(od_loader *ld, const od_section *section) {
  return od_key_choice(ld, section, "frame") == 1;
}

// --- Forces -------------------------------------------------------------------------------------------------------

static void load_force(od_loader *ld, int key, int element) {
  const char *name = od_text_of(ld, key);
  const char *what = od_format(ld, "the force '%s'", name);
  od_section section = od_section_open(ld, od_value(ld, key), key, name, what, &od_force_section);
  od_point_ref at = od_names_find_point(ld, od_section_need(ld, &section, "at"), "at");
  int input;
  int first = read_value(ld, &section, "N", &input);
  od_read_vector_key(ld, &section, "direction", OD_DIRECTION, NULL);
  bool follows = follows_body(ld, &section);
  if (at.point < 0) return;
  ld->draft->names.element[element].index =
      od_build_force(ld->draft->build, name, at.point, od_number_theta(ld, first), input, follows);
}

void od_load_forces(od_loader *ld, int node) {
  for (int key = od_first(ld, node, "forces"); key >= 0; key = od_next(ld, key)) {
    int element = od_names_declare(ld, key, OD_ELEMENT_FORCE);
    if (element >= 0) load_force(ld, key, element);
  }
}

// --- Contacts -----------------------------------------------------------------------------------------------------

static void load_contact(od_loader *ld, int key, int element) {
  static const double origin[3] = {0};
  const char *name = od_text_of(ld, key);
  const char *what = od_format(ld, "the contact '%s'", name);
  od_section section = od_section_open(ld, od_value(ld, key), key, name, what, &od_contact_section);
  od_point_ref at = od_names_find_point(ld, od_section_need(ld, &section, "at"), "at");
  int first = od_read_keys(ld, &section, OD_IN_MODEL, "stiffness", NULL);
  od_read_vector_key(ld, &section, "normal", OD_DIRECTION, NULL);
  od_read_vector_key(ld, &section, "plane", OD_VECTOR, origin);
  od_read_keys(ld, &section, OD_IN_MODEL, "damping", "friction", "slip", NULL);
  if (at.point < 0) return;
  ld->draft->names.element[element].index =
      od_build_contact(ld->draft->build, name, at.point, od_number_theta(ld, first));
}

void od_load_contacts(od_loader *ld, int node) {
  for (int key = od_first(ld, node, "contacts"); key >= 0; key = od_next(ld, key)) {
    int element = od_names_declare(ld, key, OD_ELEMENT_FORCE);
    if (element >= 0) load_contact(ld, key, element);
  }
}

// --- Torques ------------------------------------------------------------------------------------------------------

static void load_joint_torque(od_loader *ld, const od_section *section, int node, int element) {
  static const char *const of_bodies[] = {"axis", "frame"};
  for (int i = 0; i < 2; i++) {
    int unwanted = od_section_get(ld, section, of_bodies[i]);
    if (unwanted >= 0)
      od_complain(ld, unwanted, "a torque in a joint has no '%s'; the joint's axis holds", of_bodies[i]);
  }
  const char *text = od_read_text(ld, node, "joint", "the name of a joint");
  int joint = text != NULL ? od_names_find(ld, node, text, OD_ELEMENT_JOINT) : -1;
  // After another error the rest is read, to report its errors.
  od_joint_type type = OD_REVOLUTE;
  bool known = joint >= 0 && !ld->draft->names.element[joint].broken;
  if (known) type = ld->draft->names.element[joint].type;
  if (known && !od_joint_class_of(type)->drives) {
    od_complain(ld, node, "torques act in revolute, prismatic and screw joints; '%s' is none of them", text);
    return;
  }
  int input;
  int first = read_value(ld, section, type == OD_PRISMATIC ? "N" : "N m", &input);
  if (!known || ld->draft->names.element[joint].index == OD_NOT_BUILT) return;
  od_element *torque = &ld->draft->names.element[element];
  torque->index = od_build_joint_force(ld->draft->build, torque->name, ld->draft->names.element[joint].index,
                                       od_number_theta(ld, first), input);
}

static void load_body_torque(od_loader *ld, const od_section *section, int node, int element) {
  static const double z[3] = {0, 0, 1};
  const char *text = od_read_text(ld, node, "body", "the name of a body");
  int body = text != NULL ? od_names_find(ld, node, text, OD_ELEMENT_BODY) : -1;
  if (body == 0) od_complain(ld, node, "a torque acts on a body, not on the ground");
  int input;
  int first = read_value(ld, section, "N m", &input);
  od_read_vector_key(ld, section, "axis", OD_DIRECTION, z);
  bool follows = follows_body(ld, section);
  if (body <= 0 || ld->draft->names.element[body].index == OD_NOT_BUILT) return;
  od_element *torque = &ld->draft->names.element[element];
  torque->index = od_build_torque(ld->draft->build, torque->name, ld->draft->names.element[body].index,
                                  od_number_theta(ld, first), input, follows);
}

static void load_torque(od_loader *ld, int key, int element) {
  const char *name = od_text_of(ld, key);
  const char *what = od_format(ld, "the torque '%s'", name);
  od_section section = od_section_open(ld, od_value(ld, key), key, name, what, &od_torque_section);
  int joint = od_section_get(ld, &section, "joint"), body = od_section_get(ld, &section, "body");
  if (joint >= 0 && body >= 0)
    od_complain(ld, key, "%s has both 'joint' and 'body'; expected one", what);
  else if (joint >= 0)
    load_joint_torque(ld, &section, joint, element);
  else if (body >= 0)
    load_body_torque(ld, &section, body, element);
  else if (section.map >= 0)
    od_complain(ld, key, "%s needs 'joint' or 'body'", what);
}

void od_load_torques(od_loader *ld, int node) {
  for (int key = od_first(ld, node, "torques"); key >= 0; key = od_next(ld, key)) {
    int element = od_names_declare(ld, key, OD_ELEMENT_TORQUE);
    if (element >= 0) load_torque(ld, key, element);
  }
}
