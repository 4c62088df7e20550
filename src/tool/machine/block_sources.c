// Sources of the inputs of blocks: signals and measured quantities.
#include <string.h>

#include "machine/load_blocks.h"
#include "document/suggest.h"

// Returns whether a name consists of the prefix and an axis, such as "wx" for the prefix "w".
static bool is_along_axis(const char *name, const char *prefix) {
  size_t length = strlen(prefix);
  return strncmp(name, prefix, length) == 0 && name[length] >= 'x' && name[length] <= 'z' && name[length + 1] == '\0';
}

// Returns the unit of a quantity that blocks can measure but that has no initial value; NULL: no such quantity.
static const char *measured_unit(const od_element *element, const char *name) {
  bool has_pressure = od_element_is(element, OD_ELEMENT_NODE) || element->kind == OD_ELEMENT_DIFFERENCE;
  if (has_pressure && strcmp(name, "pressure") == 0) return "Pa";
  bool is_turn_rate = is_along_axis(name, "w") || is_along_axis(name, "gyro_");
  if (element->kind == OD_ELEMENT_BODY && is_turn_rate) return "rad/s";
  // Springs and friction elements exert a force in a prismatic joint, and a torque in any other joint.
  bool is_joint_force = strcmp(name, "spring_force") == 0 || strcmp(name, "friction") == 0;
  if (element->kind == OD_ELEMENT_JOINT && is_joint_force) return element->type == OD_PRISMATIC ? "N" : "N m";
  // The forces of components that act on the mechanism can be measured.
  const od_element_description *c = od_component_class(element);
  for (int i = 0; c && c->equations->acts != OD_ACTS_NOWHERE && i < OD_MOST_ELEMENT_OUTPUTS; i++) {
    const od_element_output *o = &c->outputs[i];
    bool force = o->shows == OD_SHOWS_FORCE || o->shows == OD_SHOWS_OUT || o->shows == OD_SHOWS_OF_FRICTION;
    if (force && o->name && strcmp(o->name, name) == 0) return o->unit;
  }
  return NULL;
}

// Returns whether the last part of a name is an acceleration of a joint, a point or a body.
static bool is_acceleration(const char *name) {
  static const char *const of_bodies[] = {"a", "body_a", "accelerometer_", "alpha_", "body_alpha_"};
  if (strncmp(name, "acceleration", 12) == 0 || strcmp(name, "turn_acceleration") == 0) return true;
  for (size_t i = 0; i < sizeof of_bodies / sizeof of_bodies[0]; i++)
    if (is_along_axis(name, of_bodies[i])) return true;
  return false;
}

// Reports a source that does not exist or cannot be measured, with the nearest signal or quantity.
static void complain_source(od_loader *ld, int node, const char *text) {
  const char *rest = "", *owner = od_copy(ld, text, od_names_element_length(ld, text));
  int element = strchr(text, '.') != NULL ? od_names_owner(ld, node, text, &rest) : -1;
  if (element >= 0) owner = od_element_at(ld, element)->name;
  if (od_names_has_failed(ld, node, owner)) return;  // the error has already been reported
  od_nearest nearest = od_nearest_to(text);
  for (int i = 0; i < ld->draft->names.elements; i++)
    if (od_element_is(od_element_at(ld, i), OD_ELEMENT_SIGNAL)) od_nearest_try(&nearest, od_element_at(ld, i)->name);
  const char *other = element > 0 ? od_nearest_state_quantity(ld, element, rest) : NULL;
  if (other != NULL) nearest.best = od_format(ld, "%s.%s", owner, other);
  if (element > 0 && od_element_at(ld, element)->kind == OD_ELEMENT_BLOCK && nearest.best == NULL)
    od_complain(ld, node, "the block '%s' has no output '%s'; 'oleodyn components' lists the outputs of each type",
                owner, rest);
  else if (element > 0 && nearest.best == NULL)
    od_complain(ld, node,
                "a block cannot measure '%s'; blocks can measure positions, rates, lengths, pressures, spools, and "
                "forces of springs, ropes and cylinders",
                od_excerpt(ld, text));
  else
    od_complain(ld, node, "there is no input, block or quantity '%s'%s%s%s", od_excerpt(ld, text),
                nearest.best != NULL ? "; did you mean '" : "", nearest.best != NULL ? nearest.best : "",
                nearest.best != NULL ? "'?" : "");
}

const char *od_block_connect(od_loader *ld, int node, const char *label, const od_loading_block *b, int place) {
  const char *text = od_read_text(ld, node, label, "the name of an input, a block or a quantity like 'boom.angle'");
  if (text == NULL) return NULL;
  int found = od_names_look_up(ld, node, text);
  if (found >= 0 && od_element_is(od_element_at(ld, found), OD_ELEMENT_SIGNAL)) {
    const od_element *signal = od_element_at(ld, found);
    if (signal->index == OD_NOT_BUILT) return NULL;  // the error has already been reported
    od_build_block_input(ld->draft->build, b->index, place, signal->index);
    return signal->unit;
  }
  const char *rest;
  int owner = od_names_owner(ld, node, text, &rest);
  if (rest[0] == '\0') owner = -1;
  const od_element *element = owner > 0 ? od_element_at(ld, owner) : NULL;
  if (element != NULL && element->broken) return NULL;
  const char *unit = NULL;
  if (element != NULL && element->kind != OD_ELEMENT_BLOCK) unit = od_state_quantity_unit(ld, owner, rest);
  if (unit == NULL && element != NULL) unit = measured_unit(element, rest);
  // Recognizes accelerations and inflows by their names. The builder reports why blocks cannot measure these quantities.
  bool later = element != NULL && element->kind != OD_ELEMENT_BLOCK &&
               (is_acceleration(strrchr(text, '.') + 1) || strcmp(rest, "inflow") == 0);
  if (unit == NULL && !later) {
    complain_source(ld, node, text);
    return NULL;
  }
  od_build_block_measures(ld->draft->build, b->index, place, od_format(ld, "%s.%s", element->name, rest));
  return unit;
}
