// Initial values of a machine file: approximate values, exact values and values to be balanced.
#include <string.h>

#include "model/outputs.h"
#include "plant/assembly.h"

bool od_assembly_is_position(od_output_kind kind) {
  return kind == OD_OUT_COORDINATE || kind == OD_OUT_POINT || kind == OD_OUT_BODY_ANGLE || kind == OD_OUT_LENGTH;
}
static bool is_rate(od_output_kind kind) {
  return kind == OD_OUT_COORDINATE_RATE || kind == OD_OUT_POINT_VELOCITY || kind == OD_OUT_POINT_BODY_VELOCITY ||
         kind == OD_OUT_BODY_TURN_RATE || kind == OD_OUT_BODY_GYRO || kind == OD_OUT_SPEED;
}

// Finds the output or coordinate with the name of an initial value; *out receives it as an output. Returns false if no
// quantity has this name.
static bool find_quantity(const od_model *m, const char *quantity, od_output *out) {
  int index = od_model_output_find(m, quantity), coordinate = od_model_coordinate_find(m, quantity, false);
  int rate = od_model_coordinate_find(m, quantity, true);
  if (index >= 0)
    *out = m->output[index];
  else if (coordinate >= 0)
    *out = (od_output){.kind = OD_OUT_COORDINATE, .index = coordinate};
  else if (rate >= 0)
    *out = (od_output){.kind = OD_OUT_COORDINATE_RATE, .index = rate};
  return index >= 0 || coordinate >= 0 || rate >= 0;
}

// Returns whether a quantity begins with the name of a joint that closes a loop; *joint receives this name. Such a joint has
// no coordinate.
static bool names_loop_joint(const od_model *m, const char *quantity, const char **joint) {
  for (int i = 0; i < m->joints; i++) {
    *joint = od_model_text(m, m->joint[i].name);
    size_t length = strlen(*joint);
    if (m->joint[i].link < 0 && strncmp(quantity, *joint, length) == 0 && quantity[length] == '.') return true;
  }
  return false;
}

// Stores one initial value: coordinates in z0, rates of coordinates in zd0, first-order states in c0. Also stores exact values of
// positions and rates as conditions, and adds balanced quantities to their list.
static void take_initial_value(od_assembly *s, int i) {
  const od_model *m = s->m;
  const od_initial *in = &s->b->initial[i];
  od_condition c = {.initial = i, .value = in->value};
  const char *joint;
  if (!find_quantity(m, in->quantity, &c.output)) {
    if (names_loop_joint(m, in->quantity, &joint))
      od_build_report(
          s->b, OD_ABOUT_INITIAL, i,
          "'%s' is not a quantity: joint '%s' closes a loop and has no coordinate; give a coordinate of another joint of the loop",
          in->quantity, joint);
    else
      od_build_report(s->b, OD_ABOUT_INITIAL, i, "unknown quantity '%s'", in->quantity);
    return;
  }
  bool position = od_assembly_is_position(c.output.kind), rate = is_rate(c.output.kind);
  int state = od_assembly_first_order_state(m, &c.output);
  if (!position && !rate && state < 0) {
    od_build_report(
        s->b, OD_ABOUT_INITIAL, i,
        "'%s' cannot be an initial value. Expected: a position, an angle or a length; the rate of such a quantity; the pressure of a volume; the position of a spool with a time constant; a state of an element or block",
        in->quantity);
    return;
  }
  if (in->balance && c.output.kind != OD_OUT_COORDINATE && state < 0) {
    od_build_report(
        s->b, OD_ABOUT_INITIAL, i,
        "'%s' cannot be balanced; expected a joint coordinate, the pressure of a volume, or a state of an element or block",
        in->quantity);
    return;
  }
  if (!in->exact && !in->balance && state < 0 && c.output.kind != OD_OUT_COORDINATE &&
      c.output.kind != OD_OUT_COORDINATE_RATE) {
    od_build_report(s->b, OD_ABOUT_INITIAL, i,
                    "'%s' cannot be approximate: 'about' is only for joint coordinates and their rates; remove 'about'",
                    in->quantity);
    return;
  }
  if (c.output.kind == OD_OUT_COORDINATE)
    m->z0[c.output.index] = in->value, s->given_z[c.output.index] = true, s->initial_of_z[c.output.index] = i;
  if (c.output.kind == OD_OUT_COORDINATE_RATE) m->zd0[c.output.index] = in->value;
  if (state >= 0) m->c0[state] = in->value, s->given_c[state] = true;
  if (in->balance && !s->b->starts_anywhere) s->balanced[s->balances++] = c;
  if (in->exact && position) s->at_position[s->positions++] = c;
  if (in->exact && rate) s->at_rate[s->rates++] = c;
}

// Reports each joint coordinate and each volume that has no initial value.
static void report_missing_values(od_assembly *s) {
  const od_model *m = s->m;
  for (int j = 0; j < m->coordinates; j++) {
    if (s->given_z[j]) continue;
    int joint = m->link[m->coordinate_link[j]].joint;
    const od_joint *owner = &m->joint[joint];
    od_build_report(s->b, OD_ABOUT_JOINT, joint,
                    "joint '%s' has no initial value: add '%s.%s' to 'initial', exact or approximate ('about')",
                    od_model_text(m, owner->name), od_model_text(m, owner->name), od_coordinate_label(m, j, 0));
  }
  for (int i = 0; i < m->nodes; i++)
    if (m->node[i].state >= 0 && !s->given_c[m->node[i].state])
      od_build_report(s->b, OD_ABOUT_NODE, i, "volume '%s' has no initial pressure: add '%s.pressure' to 'initial'",
                      od_model_text(m, m->node[i].name), od_model_text(m, m->node[i].name));
}

// Sets states of elements and foreign blocks without an initial value to the default of their class or law.
static void take_defaults(od_assembly *s) {
  const od_model *m = s->m;
  for (int i = 0; i < m->instances; i++)
    for (int k = 0; k < OD_MOST_ELEMENT_STATES; k++)
      if (m->instance[i].state[k] >= 0)
        m->c0[m->instance[i].state[k]] = od_instance_description(m, &m->instance[i])->states[k].initial;
  for (int i = 0; i < m->blocks; i++) {
    const od_foreign_law *law = m->spec[i].foreign;
    for (int k = 0; law && law->initial && k < law->states; k++) m->c0[m->block[i].state + k] = law->initial[k];
  }
  // In a machine with a reservoir, the temperature of the oil is the default of the initial value of the reservoir's state.
  if (m->join.warms >= 0 && m->viscosity >= 0) m->c0[m->join.warms] = m->theta[m->viscosity + OD_VISCOSITY_TEMPERATURE];
}

// Sets the start values of searches for quantities without an initial value: volumes start at 10 bar; coordinates stay
// at zero.
static void take_starts(od_assembly *s) {
  const od_model *m = s->m;
  for (int i = 0; i < m->nodes; i++)
    if (m->node[i].state >= 0) m->c0[m->node[i].state] = 1e6;
}

void od_assembly_sort_initial_values(od_assembly *s) {
  take_defaults(s);
  if (s->b->starts_anywhere) take_starts(s);
  for (int i = 0; i < s->b->initials; i++) take_initial_value(s, i);
  if (!s->b->starts_anywhere) report_missing_values(s);
}
