// Loads the joints: their bodies, axes and springs.
#include <math.h>
#include <string.h>

#include "machine/load_circuit.h"
#include "machine/sections.h"
#include "model/joint_types.h"

static const char *type_name(int i) {
  return i <= OD_FREE ? od_joint_class_of((od_joint_type)i)->name : NULL;
}

static bool spring_key(int i, od_key *key) {
  return od_element_key(&od_joint_spring_description, i, key);
}

static const od_key keys[] = {
    {"type", OD_CHOICE, NULL, "type of the joint", .fallback = OD_REQUIRED, .choice = type_name},
    {"between", OD_TEXTS, NULL, "the two points that the joint connects: [ground.A, crank.start]",
     .fallback = OD_REQUIRED},
    {"axis", OD_NUMBERS, "1", "axis in the frame of the first body; [0, 0, 1] by default for a revolute joint",
     .otherwise = "required"},
    {"axes", OD_ROWS, "1", "axes of a universal joint, or of a joint that closes a loop: one axis in each body",
     .otherwise = "from `axis`"},
    {"lead", OD_NUMBER, "m", "lead of a screw: travel along the axis per turn", OD_ANY, OD_REQUIRED,
     OD_LIMITS(-10, 10, -0.2, 0.2), "required for a screw"},
    {"cut", OD_FLAG, NULL, "whether the joint closes a loop"},
    {"independent", OD_FLAG, NULL,
     "whether the coordinate of this joint is an independent coordinate wherever this choice is well-conditioned"},
    {"friction", OD_SECTION, NULL, "friction in the joint", .inside = &od_friction_section},
};
const od_section_class od_joint_section = {"joint", "a joint: its points, its axes and its spring", OD_KEYS(keys),
                                           spring_key};

// The functions return whether joints of a type may have the key 'axis', the key 'axes', or a spring.
static bool has_axis(od_joint_type type) {
  return od_joint_class_of(type)->axis;
}
static bool has_axes(od_joint_type type) {
  return (has_axis(type) && od_joint_class_of(type)->closes) || od_joint_class_of(type)->axes;
}
static bool has_spring(od_joint_type type) {
  return od_joint_class_of(type)->drives;
}

static void refuse(od_loader *ld, const od_section *section, const char *key, od_joint_type type) {
  if (od_section_get(ld, section, key) >= 0)
    od_complain(ld, od_section_get(ld, section, key), "'%s' is not allowed in a %s joint; remove this key", key,
                od_joint_class_of(type)->name);
}

// --- Axes ---------------------------------------------------------------------------------------------------------

static bool are_parallel(const od_loader *ld, int a, int b) {
  double u[3], v[3], uu = 0, vv = 0, uv = 0;
  for (int i = 0; i < 3; i++) {
    u[i] = od_number_value(ld, a + i);
    v[i] = od_number_value(ld, b + i);
    uu += u[i] * u[i];
    vv += v[i] * v[i];
    uv += u[i] * v[i];
  }
  // The difference is proportional to the squared sine of the angle between both axes.
  return uu * vv - uv * uv <= 1e-12 * uu * vv;
}

// Reads `axes: [axis in the first body, axis in the second body]`.
static void read_two_axes(od_loader *ld, const od_section *section, int node, od_joint_spec *spec) {
  int entry[2] = {-1, -1};
  int before = od_messages_errors(ld->messages);
  od_read_list(ld, node, "axes", "two directions, one in each body", 2, entry);
  const char *path = od_path(ld, section->path, "axes");
  int first[2];
  for (int i = 0; i < 2; i++) {
    static const double fallback[2][3] = {{0, 0, 1}, {0, 1, 0}};
    first[i] =
        od_read_vector(ld, entry[i], od_format(ld, "%s[%d]", path, i), od_format(ld, "axes[%d]", i),
                       od_key_of(section->of, "axes"), OD_DIRECTION, fallback[i], od_place_of(ld, section->node));
  }
  bool sound = od_messages_errors(ld->messages) == before;
  if (sound && spec->type == OD_UNIVERSAL && are_parallel(ld, first[0], first[1]))
    od_complain(ld, node, "the two axes of the universal joint are parallel; expected axes that are not parallel");
  spec->axis_a = od_number_theta(ld, first[0]);
  spec->axis_b = od_number_theta(ld, first[1]);
}

static void read_axes(od_loader *ld, const od_section *section, od_joint_spec *spec) {
  int axis = od_section_get(ld, section, "axis"), axes = od_section_get(ld, section, "axes");
  if (!has_axis(spec->type)) refuse(ld, section, "axis", spec->type);
  if (!has_axes(spec->type)) refuse(ld, section, "axes", spec->type);
  if (has_axis(spec->type) && axis >= 0 && axes >= 0)
    od_complain(ld, axes, "%s has both 'axis' and 'axes'; expected one of these keys", section->what);
  if (spec->type == OD_UNIVERSAL && axes < 0) od_section_need(ld, section, "axes");
  if (has_axes(spec->type) && axes >= 0) {
    read_two_axes(ld, section, axes, spec);
  } else if (has_axis(spec->type)) {
    static const double z[3] = {0, 0, 1};
    const double *fallback = spec->type == OD_REVOLUTE ? z : NULL;
    spec->axis_a = od_number_theta(ld, od_read_vector_key(ld, section, "axis", OD_DIRECTION, fallback));
  }
}

// --- The spring in a joint ----------------------------------------------------------------------------------------

// Loads the spring in a joint. The numbers of the spring always have paths, but the spring exists only if the file gives a number
// that has an effect.
static void load_joint_spring(od_loader *ld, const od_section *section, const od_element *joint) {
  static const char *const acting[] = {"stiffness", "damping", "preload"};
  const od_element_description *c = &od_joint_spring_description;
  if (!has_spring(joint->type)) {
    for (int i = 0; i < c->field_count; i++) refuse(ld, section, c->fields[i].key, joint->type);
    return;
  }
  bool sprung = false;
  for (int i = 0; i < 3; i++) sprung = sprung || od_is_given(ld, section, acting[i]);
  od_field fields[OD_MOST_ELEMENT_FIELDS];
  for (int i = 0; i < c->field_count; i++)
    fields[i] = od_component_field(&c->fields[i], "1", od_joint_turns(joint->type));
  int first = od_read_fields(ld, section, fields, c->field_count, sprung ? OD_IN_MODEL : OD_IN_LOADER);
  if (!sprung || joint->index == OD_NOT_BUILT) return;
  od_element_spec spec = od_element_spec_of(c->equations->name);
  spec.joint = joint->index;
  spec.first_number = od_number_theta(ld, first);
  od_remember(ld, OD_ABOUT_ELEMENT, od_build_element(ld->draft->build, "", &spec), joint->node);
}

// --- Joints -------------------------------------------------------------------------------------------------------

// Returns the representative of the group of a body (union-find). Joints connect the bodies of a group, directly or through other
// bodies.
static int representative(int *group, int element) {
  while (group[element] != element) {
    group[element] = group[group[element]];
    element = group[element];
  }
  return element;
}

// Loads one joint. group: the groups of bodies in the tree, without joints with `cut`; loop_group: the groups by all joints. Returns false
// if the bodies of the joint are unknown.
static bool load_joint(od_loader *ld, int key, int element, int *group, int *loop_group) {
  od_section section = od_open_element(ld, key, element, &od_joint_section);
  od_element *joint = od_element_at(ld, element);
  int type = od_key_choice(ld, &section, "type");
  od_point_ref ends[2];
  bool connected = od_names_find_pair(ld, &section, ends);
  bool cut = od_read_flag(ld, &section, "cut"), independent = od_read_flag(ld, &section, "independent");
  if (connected && !cut) group[representative(group, ends[0].element)] = representative(group, ends[1].element);
  if (connected) loop_group[representative(loop_group, ends[0].element)] = representative(loop_group, ends[1].element);
  joint->broken = type < 0;
  if (joint->broken) return connected;
  joint->type = (od_joint_type)type;
  od_joint_spec spec = {(od_joint_type)type, ends[0].point, ends[1].point, -1, -1, cut, independent, -1, {0}};
  read_axes(ld, &section, &spec);
  if (spec.type == OD_SCREW)
    spec.lead = od_number_theta(ld, od_read_keys(ld, &section, OD_IN_MODEL, "lead", NULL));
  else
    refuse(ld, &section, "lead", spec.type);
  if (connected && spec.point_a >= 0 && spec.point_b >= 0) {
    joint->index = od_build_joint(ld->draft->build, joint->name, &spec);
    od_remember(ld, OD_ABOUT_JOINT, joint->index, key);
  }
  load_joint_spring(ld, &section, joint);
  if (!has_spring(spec.type)) refuse(ld, &section, "friction", spec.type);
  return connected;
}

void od_load_joints(od_loader *ld, int node) {
  int bodies = ld->draft->names.elements;  // the ground and the bodies are declared first
  int *group = OD_TAKE(&ld->scratch, int, bodies), *loop_group = OD_TAKE(&ld->scratch, int, bodies);
  if (group == NULL || loop_group == NULL) return;
  for (int i = 0; i < bodies; i++) group[i] = loop_group[i] = i;
  bool complete = true;
  for (int key = od_first(ld, node, "joints"); key >= 0; key = od_next(ld, key)) {
    int element = od_names_declare(ld, key, OD_ELEMENT_JOINT);
    if (element < 0 || !load_joint(ld, key, element, group, loop_group)) complete = false;
  }
  // A joint with an error may be the missing joint. In this case unconnected bodies are not reported.
  for (int i = 1; complete && i < bodies; i++) {
    const od_element *body = od_element_at(ld, i);
    if (body->broken || representative(group, i) == representative(group, 0)) continue;
    if (representative(loop_group, i) == representative(loop_group, 0))
      od_complain(
          ld, body->node,
          "only joints with 'cut' connect the body '%s' to the ground, directly or through other bodies; 'cut' is for "
          "joints that close a loop: remove 'cut' from one of these joints, or add a joint",
          body->name);
    else
      od_complain(ld, body->node,
                  "no joint connects the body '%s' to the ground, directly or through other bodies; add a joint",
                  body->name);
  }
}

void od_load_joint_frictions(od_loader *ld) {
  for (int i = 0; i < ld->draft->names.elements; i++) {
    const od_element joint = *od_element_at(ld, i);
    if (joint.kind != OD_ELEMENT_JOINT || joint.broken || !has_spring(joint.type)) continue;
    // od_load_joints() has checked the keys.
    const od_section section = {.of = &od_joint_section,
                                .map = od_value(ld, joint.node),
                                .node = joint.node,
                                .path = joint.name,
                                .what = od_format(ld, "the joint '%s'", joint.name)};
    const od_element_description *friction =
        od_load_friction(ld, &section, -1, joint.index, od_joint_turns(joint.type), NULL);
    od_element_at(ld, i)->friction = friction;
  }
}
