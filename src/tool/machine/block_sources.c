// Sources of the inputs of blocks: signals and measured quantities.
#include <string.h>

#include "machine/load_blocks.h"
#include "document/suggest.h"

// The unit of a quantity that can be measured but has no initial value, or NULL.
static const char *measured_unit(const od_element *element, const char *name) {
  static const struct {
    od_element_kind kind;
    const char *name, *unit;
  } list[] = {{OD_ELEMENT_TANK, "pressure", "Pa"},       {OD_ELEMENT_SOURCE, "pressure", "Pa"},
              {OD_ELEMENT_BODY, "wx", "rad/s"},          {OD_ELEMENT_BODY, "wy", "rad/s"},
              {OD_ELEMENT_BODY, "wz", "rad/s"},          {OD_ELEMENT_BODY, "gyro_x", "rad/s"},
              {OD_ELEMENT_BODY, "gyro_y", "rad/s"},      {OD_ELEMENT_BODY, "gyro_z", "rad/s"},
              {OD_ELEMENT_DIFFERENCE, "pressure", "Pa"}, {OD_ELEMENT_JUNCTION, "pressure", "Pa"}};
  for (size_t i = 0; i < sizeof list / sizeof list[0]; i++)
    if (list[i].kind == element->kind && strcmp(list[i].name, name) == 0) return list[i].unit;
  // Forces of elements that act on the mechanism.
  const od_element_class *c = od_component_class(element);
  for (int i = 0; c && c->acts != OD_ACTS_NOWHERE && i < OD_MOST_ELEMENT_OUTPUTS; i++) {
    const od_element_output *o = &c->outputs[i];
    bool force = o->shows == OD_SHOWS_FORCE || o->shows == OD_SHOWS_OUT || o->shows == OD_SHOWS_OF_FRICTION;
    if (force && o->name && strcmp(o->name, name) == 0) return o->unit;
  }
  return NULL;
}

// The forces of springs and frictions in joints have the unit of the joint.
static const char *joint_force_unit(const od_element *joint, const char *name) {
  if (joint->kind != OD_ELEMENT_JOINT || (strcmp(name, "spring_force") != 0 && strcmp(name, "friction") != 0))
    return NULL;
  return joint->type == OD_PRISMATIC ? "N" : "N m";
}

// Whether the last part of a name is an acceleration of a joint, a point or a body.
static bool is_acceleration(const char *name) {
  static const char *const of_bodies[] = {"a", "body_a", "accelerometer_", "alpha_", "body_alpha_"};
  if (strncmp(name, "acceleration", 12) == 0 || strcmp(name, "turn_acceleration") == 0) return true;
  for (size_t i = 0; i < sizeof of_bodies / sizeof of_bodies[0]; i++) {
    size_t length = strlen(of_bodies[i]);
    const char *axis = name + length;
    if (strncmp(name, of_bodies[i], length) == 0 && axis[0] >= 'x' && axis[0] <= 'z' && axis[1] == '\0') return true;
  }
  return false;
}

static void complain_source(od_loader *ld, int node, const char *text) {
  const char *rest = "", *owner = od_copy(ld, text, od_names_element_length(ld, text));
  int element = strchr(text, '.') != NULL ? od_names_owner(ld, node, text, &rest) : -1;
  if (element >= 0) owner = ld->draft->names.element[element].name;
  if (od_names_has_failed(ld, node, owner)) return;  // the error has been reported already
  od_nearest nearest = od_nearest_to(text);
  for (int i = 0; i < ld->draft->names.elements; i++)
    if (od_element_is(&ld->draft->names.element[i], OD_ELEMENT_SIGNAL))
      od_nearest_try(&nearest, ld->draft->names.element[i].name);
  const char *other = element > 0 ? od_nearest_state_quantity(ld, element, rest) : NULL;
  if (other != NULL) nearest.best = od_format(ld, "%s.%s", owner, other);
  if (element > 0 && ld->draft->names.element[element].kind == OD_ELEMENT_BLOCK && nearest.best == NULL)
    od_complain(ld, node, "the block '%s' has no output '%s'", ld->draft->names.element[element].name, rest);
  else if (element > 0 && nearest.best == NULL)
    od_complain(ld, node,
                "'%s' is nothing that a block can measure; positions, rates, lengths, pressures, spools and forces of "
                "springs, ropes and cylinders are",
                od_excerpt(ld, text));
  else if (nearest.best != NULL)
    od_complain(ld, node, "there is no input, block or quantity '%s'; did you mean '%s'?", od_excerpt(ld, text),
                nearest.best);
  else
    od_complain(ld, node, "there is no input, block or quantity '%s'", od_excerpt(ld, text));
}

const char *od_block_connect(od_loader *ld, int node, const char *label, const od_loading_block *b, int place) {
  const char *text = od_read_text(ld, node, label, "the name of an input, a block or a quantity like 'boom.angle'");
  if (text == NULL) return NULL;
  int found = od_names_look_up(ld, node, text);
  if (found >= 0 && od_element_is(&ld->draft->names.element[found], OD_ELEMENT_SIGNAL)) {
    const od_element *signal = &ld->draft->names.element[found];
    if (signal->index == OD_NOT_BUILT) return NULL;  // the error has been reported already
    od_build_block_input(ld->draft->build, b->index, place, signal->index);
    return signal->unit;
  }
  const char *rest;
  int owner = od_names_owner(ld, node, text, &rest);
  if (rest[0] == '\0') owner = -1;
  const od_element *element = owner > 0 ? &ld->draft->names.element[owner] : NULL;
  if (element != NULL && element->broken) return NULL;
  const char *unit = NULL;
  if (element != NULL && element->kind != OD_ELEMENT_BLOCK) unit = od_state_quantity_unit(ld, owner, rest);
  if (unit == NULL && element != NULL) unit = measured_unit(element, rest);
  if (unit == NULL && element != NULL) unit = joint_force_unit(element, rest);
  // Accelerations are recognized by name. The reason why they cannot be measured is reported when the model is built.
  bool later = element != NULL && element->kind != OD_ELEMENT_BLOCK &&
               (is_acceleration(strrchr(text, '.') + 1) || strcmp(rest, "inflow") == 0);
  if (unit == NULL && !later) {
    complain_source(ld, node, text);
    return NULL;
  }
  od_build_block_measures(ld->draft->build, b->index, place, od_format(ld, "%s.%s", element->name, rest));
  return unit;
}
