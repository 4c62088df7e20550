// Loads forces, torques and contacts: their points of action and their values.
#include "document/ranges.h"
#include "machine/machine_loader.h"
#include "machine/sections.h"
#include "model/joint_types.h"

#define FRAME \
  { "frame", OD_CHOICE, "ground|body", "frame of the direction: axes of the ground or of the body" }
static const od_key force_keys[] = {
    {"at", OD_TEXT, NULL, "point at which the force acts", .fallback = OD_REQUIRED},
    {"value", OD_NUMBER, "N", "force along `direction`: a quantity, an input, or a factor and an input", OD_ANY,
     OD_REQUIRED, OD_RANGE_FORCE},
    {"direction", OD_NUMBERS, "1", "direction of the force, in ground axes unless `frame: body`",
     .fallback = OD_REQUIRED},
    FRAME,
};
const od_section_class od_force_section = {"force", "a force at a point", OD_KEYS(force_keys)};

static const od_unit_limits torque_limits[] = {{"N", OD_RANGE_FORCE}, {"N m", OD_RANGE_FORCE}, {NULL}};
static const od_key torque_keys[] = {
    {"joint", OD_TEXT, NULL, "joint in which the torque acts", .otherwise = "required without `body`"},
    {"body", OD_TEXT, NULL, "body on which the torque acts", .otherwise = "required without `joint`"},
    {"value", OD_NUMBER, "N m",
     "torque about the axis (in a prismatic joint, a force in N): a quantity, an input, or a factor and an input",
     OD_ANY, OD_REQUIRED, OD_RANGE_FORCE, .by_unit = torque_limits},
    {"axis", OD_NUMBERS, "1", "axis of a torque on a body", .otherwise = "[0, 0, 1]"},
    FRAME,
};
const od_section_class od_torque_section = {"torque", "a torque in a joint or on a body", OD_KEYS(torque_keys)};

static const od_key contact_keys[] = {
    {"at", OD_TEXT, NULL, "point of a body that may touch the plane", .fallback = OD_REQUIRED},
    {"plane", OD_NUMBERS, "m", "a point of the plane", .limits = OD_RANGE_POSITION, .otherwise = "[0, 0, 0]"},
    {"normal", OD_NUMBERS, "1", "normal of the plane, toward the side where the point moves freely",
     .fallback = OD_REQUIRED},
    {"stiffness", OD_NUMBER, "N/m", "stiffness of the contact", OD_POSITIVE, OD_REQUIRED, OD_RANGE_STIFFNESS},
    {"damping", OD_NUMBER, "s/m", "damping of the contact", OD_NOT_NEGATIVE, 1},
    {"friction", OD_NUMBER, "1", "coefficient of friction along the plane", OD_NOT_NEGATIVE, 0},
    {"slip", OD_NUMBER, "m/s",
     "speed scale of the smooth reversal of the friction; at this speed the friction has 71 % of its full value",
     OD_POSITIVE, 1e-3},
};
const od_section_class od_contact_section = {"contact", "contact of a point with a plane of the ground",
                                             OD_KEYS(contact_keys)};

// Reads the value of a force or torque and returns the index of its number. *input: the input by which the builder multiplies the
// value; -1: none.
static int read_value(od_loader *ld, const od_section *section, const char *unit, int *input) {
  const od_field field = od_key_field_in(section, "value", unit);
  return od_read_value(ld, section, &field, input);
}

// Returns whether the direction turns with the body.
static bool follows_body(od_loader *ld, const od_section *section) {
  return od_key_choice(ld, section, "frame") == 1;
}

void od_load_force(od_loader *ld, int key, int element) {
  od_section section = od_open_element(ld, key, element, &od_force_section);
  od_point_ref at = od_names_find_point(ld, od_section_need(ld, &section, "at"), "at");
  int input, first = read_value(ld, &section, "N", &input);
  od_read_vector_key(ld, &section, "direction", OD_DIRECTION, NULL);
  bool follows = follows_body(ld, &section);
  od_element *force = od_element_at(ld, element);
  if (at.point >= 0)
    force->index = od_build_force(ld->draft->build, force->name, at.point, od_number_theta(ld, first), input, follows);
}

void od_load_contact(od_loader *ld, int key, int element) {
  static const double origin[3] = {0};
  od_section section = od_open_element(ld, key, element, &od_contact_section);
  od_point_ref at = od_names_find_point(ld, od_section_need(ld, &section, "at"), "at");
  int first = od_read_keys(ld, &section, OD_IN_MODEL, "stiffness", NULL);
  od_read_vector_key(ld, &section, "normal", OD_DIRECTION, NULL);
  od_read_vector_key(ld, &section, "plane", OD_VECTOR, origin);
  od_read_keys(ld, &section, OD_IN_MODEL, "damping", "friction", "slip", NULL);
  od_element *contact = od_element_at(ld, element);
  if (at.point >= 0)
    contact->index = od_build_contact(ld->draft->build, contact->name, at.point, od_number_theta(ld, first));
}

static void load_joint_torque(od_loader *ld, const od_section *section, int node, od_element *torque) {
  static const char *const of_bodies[] = {"axis", "frame"};
  for (int i = 0; i < 2; i++) {
    int unwanted = od_section_get(ld, section, of_bodies[i]);
    if (unwanted >= 0)
      od_complain(
          ld, unwanted,
          "'%s' is not allowed for a torque in a joint, which acts about the axis of the joint; remove this key",
          of_bodies[i]);
  }
  const char *text = od_read_text(ld, node, "joint", "the name of a joint");
  int found = text != NULL ? od_names_find(ld, node, text, OD_ELEMENT_JOINT) : -1;
  const od_element *joint = found >= 0 && !od_element_at(ld, found)->broken ? od_element_at(ld, found) : NULL;
  // After an error, the value is also read, to report errors in the value.
  od_joint_type type = joint != NULL ? joint->type : OD_REVOLUTE;
  if (!od_joint_class_of(type)->drives) {
    od_complain(ld, node, "a torque cannot act in '%s', a %s joint; expected a revolute, prismatic or screw joint",
                text, od_joint_class_of(type)->name);
    return;
  }
  int input, first = read_value(ld, section, type == OD_PRISMATIC ? "N" : "N m", &input);
  if (joint != NULL && joint->index != OD_NOT_BUILT)
    torque->index =
        od_build_joint_force(ld->draft->build, torque->name, joint->index, od_number_theta(ld, first), input);
}

static void load_body_torque(od_loader *ld, const od_section *section, int node, od_element *torque) {
  static const double z[3] = {0, 0, 1};
  const char *text = od_read_text(ld, node, "body", "the name of a body");
  int body = text != NULL ? od_names_find(ld, node, text, OD_ELEMENT_BODY) : -1;
  if (body == 0) od_complain(ld, node, "a torque cannot act on the ground; expected a body");
  int input, first = read_value(ld, section, "N m", &input);
  od_read_vector_key(ld, section, "axis", OD_DIRECTION, z);
  bool follows = follows_body(ld, section);
  if (body > 0 && od_element_at(ld, body)->index != OD_NOT_BUILT)
    torque->index = od_build_torque(ld->draft->build, torque->name, od_element_at(ld, body)->index,
                                    od_number_theta(ld, first), input, follows);
}

void od_load_torque(od_loader *ld, int key, int element) {
  od_section section = od_open_element(ld, key, element, &od_torque_section);
  int joint = od_section_get(ld, &section, "joint"), body = od_section_get(ld, &section, "body");
  if (joint >= 0 && body >= 0)
    od_complain(ld, key, "%s has both 'joint' and 'body'; expected one of these keys", section.what);
  else if (joint >= 0)
    load_joint_torque(ld, &section, joint, od_element_at(ld, element));
  else if (body >= 0)
    load_body_torque(ld, &section, body, od_element_at(ld, element));
  else if (section.map >= 0)
    od_complain(ld, key, "%s needs 'joint' or 'body'; give one of these keys", section.what);
}
