// Naming outputs: element by element, in the order of the model's tables.
#include "model/outputs.h"

#include <stdio.h>
#include <string.h>

#include "model/builder.h"

// The list is walked twice: once to count, once to fill.
typedef struct listing {
  od_model *m;
  od_arena *arena;
  od_output *out;
  int count;
  bool failed;
} listing;

// Adds an output called element.part.quantity, where part and quantity may be empty.
static void add_part(listing *list, od_output_kind kind, int index, int component, const char *unit,
                     const char *element, const char *part, const char *quantity) {
  if (list->out) {
    const char *name =
        od_arena_format(list->arena, "%s%s%s%s%s", element, *part ? "." : "", part, *quantity ? "." : "", quantity);
    list->failed = list->failed || !name;
    list->out[list->count] = (od_output){name, unit, kind, index, component};
  }
  list->count++;
}

static void add(listing *list, od_output_kind kind, int index, int component, const char *unit, const char *element,
                const char *quantity) {
  add_part(list, kind, index, component, unit, element, "", quantity);
}

const char *od_coordinate_label(const od_model *m, int coordinate, int order) {
  static const char *const several[3][3] = {
      {"angle1", "angle2", "angle3"}, {"rate1", "rate2", "rate3"}, {"acceleration1", "acceleration2", "acceleration3"}};
  static const char *const turn[3] = {"angle", "rate", "acceleration"}, *const slide[3] = {"position", "rate",
                                                                                           "acceleration"};
  const od_link *link = &m->link[m->coordinate_link[coordinate]];
  const od_joint *joint = &m->joint[link->joint];
  if (joint->coordinates > 1) return several[order][coordinate - joint->coordinate];
  return (link->kind == OD_LINK_PRISMATIC ? slide : turn)[order];
}

static void add_coordinate(listing *list, int j) {
  static const char *const turn[3] = {"rad", "rad/s", "rad/s2"}, *const slide[3] = {"m", "m/s", "m/s2"};
  const od_model *m = list->m;
  const od_link *link = &m->link[m->coordinate_link[j]];
  for (int order = 0; order < 3; order++)
    add(list, (od_output_kind)(OD_OUT_COORDINATE + order), j, 0,
        (link->kind == OD_LINK_PRISMATIC ? slide : turn)[order], m->joint[link->joint].name,
        od_coordinate_label(m, j, order));
}

static void add_point(listing *list, int i) {
  const od_model *m = list->m;
  const od_point *p = &m->point[i];
  static const char *const prefix[3] = {"", "v", "a"}, *const unit[3] = {"m", "m/s", "m/s2"}, *const axis = "xyz";
  if (p->body == OD_GROUND) return;
  for (int kind = 0; kind < 3; kind++)
    for (int k = 0; k < 3; k++) {
      char quantity[3] = {0};
      snprintf(quantity, sizeof quantity, "%s%c", prefix[kind], axis[k]);
      add_part(list, (od_output_kind)(OD_OUT_POINT + kind), i, k, unit[kind], m->body[p->body].name, p->name, quantity);
    }
}

static void add_bodies(listing *list) {
  const od_model *m = list->m;
  for (int i = 0; i < m->bodies; i++) {
    if (m->planar) {
      add(list, OD_OUT_BODY_ANGLE, i, 0, "rad", m->body[i].name, "angle");
      add(list, OD_OUT_BODY_TURN_RATE, i, 0, "rad/s", m->body[i].name, "turn_rate");
    } else {
      static const char *const about[3] = {"wx", "wy", "wz"};
      for (int k = 0; k < 3; k++) add(list, OD_OUT_BODY_TURN_RATE, i, k, "rad/s", m->body[i].name, about[k]);
    }
    add(list, OD_OUT_BODY_KINETIC, i, 0, "J", m->body[i].name, "kinetic");
    add(list, OD_OUT_BODY_POTENTIAL, i, 0, "J", m->body[i].name, "potential");
    for (int p = 0; p < m->points; p++)
      if (m->point[p].body == i) add_point(list, p);
  }
}

static void add_springs(listing *list) {
  const od_model *m = list->m;
  for (int i = 0; i < m->springs; i++) {
    const char *name = m->spring[i].name;
    add(list, OD_OUT_SPRING_LENGTH, i, 0, "m", name, "length");
    add(list, OD_OUT_SPRING_RATE, i, 0, "m/s", name, "rate");
    add(list, OD_OUT_SPRING_FORCE, i, 0, "N", name, "force");
    add(list, OD_OUT_SPRING_ENERGY, i, 0, "J", name, "energy");
    add(list, OD_OUT_SPRING_LOSS, i, 0, "W", name, "loss");
    add(list, OD_OUT_INTEGRAL, od_model_power(m, OD_POWER_SPRING) + i, 1, "J", name, "dissipated");
  }
  for (int i = 0; i < m->joint_springs; i++) {
    const char *name = m->joint[m->joint_spring[i].joint].name;
    bool slides = m->joint[m->joint_spring[i].joint].spec.type == OD_PRISMATIC;
    add(list, OD_OUT_JOINT_SPRING_FORCE, i, 0, slides ? "N" : "N m", name, "spring_force");
    add(list, OD_OUT_JOINT_SPRING_ENERGY, i, 0, "J", name, "spring_energy");
    add(list, OD_OUT_JOINT_SPRING_LOSS, i, 0, "W", name, "spring_loss");
    add(list, OD_OUT_INTEGRAL, od_model_power(m, OD_POWER_JOINT_SPRING) + i, 1, "J", name, "spring_dissipated");
  }
}

static void add_loads(listing *list) {
  const od_model *m = list->m;
  for (int i = 0; i < m->loads; i++) {
    const od_load *load = &m->load[i];
    bool force =
        load->kind == OD_LOAD_FORCE || (load->kind == OD_LOAD_JOINT && load->coordinate >= 0 &&
                                        m->link[m->coordinate_link[load->coordinate]].kind == OD_LINK_PRISMATIC);
    add(list, OD_OUT_LOAD, i, 0, force ? "N" : "N m", load->name, force ? "force" : "torque");
    add(list, OD_OUT_LOAD_POWER, i, 0, "W", load->name, "power");
    add(list, OD_OUT_INTEGRAL, od_model_power(m, OD_POWER_LOAD) + i, 1, "J", load->name, "work");
  }
}

static void add_nodes(listing *list) {
  const od_model *m = list->m;
  for (int i = 0; i < m->nodes; i++) {
    const char *name = m->node[i].name;
    bool volume = m->node[i].kind == OD_NODE_VOLUME;
    add(list, OD_OUT_NODE_PRESSURE, i, 0, "Pa", name, "pressure");
    add(list, OD_OUT_NODE_INFLOW, i, 0, "m3/s", name, "inflow");
    if (volume) add(list, OD_OUT_NODE_CAVITATING, i, 0, "1", name, "cavitating");
    add(list, OD_OUT_INTEGRAL, od_model_power(m, OD_POWER_NODE) + i, 1, "J", name, volume ? "compressed" : "taken");
  }
}

static void add_flows(listing *list) {
  const od_model *m = list->m;
  for (int i = 0; i < m->flows; i++) {
    const od_flow *f = &m->flow[i];
    bool pump = f->kind == OD_FLOW_PUMP;
    // A port belongs to its valve, a leakage to its cylinder.
    bool port = f->kind == OD_FLOW_PORT, leak = f->cylinder >= 0;
    const char *name = port ? m->valve[f->valve].name : f->name, *part = port ? f->name : "";
    add_part(list, OD_OUT_FLOW, i, 0, "m3/s", name, part, leak ? "leakage" : "flow");
    if (port) add_part(list, OD_OUT_PORT_OPENING, i, 0, "1", name, part, "opening");
    add_part(list, OD_OUT_FLOW_POWER, i, 0, "W", name, part, pump ? "power" : leak ? "leakage_loss" : "loss");
    add_part(list, OD_OUT_INTEGRAL, od_model_power(m, OD_POWER_FLOW) + i, pump ? -1 : 1, "J", name, part,
             pump   ? "work"
             : leak ? "leakage_dissipated"
                    : "dissipated");
  }
}

static void add_actuators(listing *list) {
  const od_model *m = list->m;
  for (int i = 0; i < m->actuators; i++) {
    const od_actuator *a = &m->actuator[i];
    if (a->cylinder >= 0) {
      const char *name = m->cylinder[a->cylinder].name;
      add(list, OD_OUT_CYLINDER_LENGTH, i, 0, "m", name, "length");
      add(list, OD_OUT_CYLINDER_RATE, i, 0, "m/s", name, "rate");
      add(list, OD_OUT_CYLINDER_FORCE, i, 0, "N", name, "force");
      add(list, OD_OUT_CYLINDER_FRICTION, i, 0, "N", name, "friction");
      add(list, OD_OUT_ACTUATOR_LOSS, i, 0, "W", name, "loss");
      add(list, OD_OUT_INTEGRAL, od_model_power(m, OD_POWER_ACTUATOR) + i, 1, "J", name, "dissipated");
      continue;
    }
    const od_joint *j = &m->joint[m->friction[a->friction].joint];
    add(list, OD_OUT_CYLINDER_FRICTION, i, 0, j->spec.type == OD_PRISMATIC ? "N" : "N m", j->name, "friction");
    add(list, OD_OUT_ACTUATOR_LOSS, i, 0, "W", j->name, "friction_loss");
    add(list, OD_OUT_INTEGRAL, od_model_power(m, OD_POWER_ACTUATOR) + i, 1, "J", j->name, "friction_dissipated");
  }
}

// The unit of what a block's first input is connected to. What it measures has been listed before.
static const char *block_input_unit(const listing *list, const od_block *b) {
  const od_block_line *line = &list->m->block_line[b->line];
  if (line->source >= 0) return list->m->input[line->source].unit;
  for (int i = 0; list->out && line->quantity && i < list->count; i++)
    if (list->out[i].name && strcmp(list->out[i].name, line->quantity) == 0) return list->out[i].unit;
  return "1";
}

// A state of a block: an integral has the unit of the output, the others are the block's input behind a filter and its
// rates.
static void add_block_state(listing *list, int block, int state) {
  const od_block *b = &list->m->block[block];
  const char *label = od_block_state_label(b, state), *unit = b->unit;
  if (!label) return;
  bool pid = b->spec.kind == OD_BLOCK_PID;
  if (list->out && strcmp(label, "integral") != 0 && strcmp(label, "held") != 0) {
    unit = block_input_unit(list, b);
    char rate[80];
    od_rate_unit(unit, state, rate, sizeof rate);
    if (state > 0 && !pid && b->spec.sample == 0) unit = od_arena_text(list->arena, rate);
  }
  list->failed = list->failed || !unit;
  add(list, OD_OUT_BLOCK_STATE, b->state + state, block, unit, b->name, label);
}

// Outputs of a block are signals like inputs.
static void add_blocks(listing *list) {
  const od_model *m = list->m;
  for (int i = 0; i < m->blocks; i++) {
    const od_block *b = &m->block[i];
    for (int k = b->signal; k < b->signal + b->outputs; k++)
      add(list, OD_OUT_INPUT, k, 0, m->input[k].unit, m->input[k].name, "");
    for (int k = 0; k < b->states; k++) add_block_state(list, i, k);
  }
}

static void add_all(listing *list) {
  const od_model *m = list->m;
  for (int j = 0; j < m->coordinates; j++)
    // The coordinates of spherical joints change their meaning on the way.
    if (m->joint[m->link[m->coordinate_link[j]].joint].spec.type != OD_SPHERICAL) add_coordinate(list, j);
  add_bodies(list);
  add_springs(list);
  add_loads(list);
  add_actuators(list);
  add_nodes(list);
  for (int i = 0; i < m->valves; i++)
    add(list, OD_OUT_SPOOL, i, 0, m->input[m->valve[i].input].unit, m->valve[i].name, "spool");
  add_flows(list);
  for (int i = 0; i < m->inputs; i++) add(list, OD_OUT_INPUT, i, 0, m->input[i].unit, m->input[i].name, "");
  add_blocks(list);
  add(list, OD_OUT_KINETIC, 0, 0, "J", "energy", "kinetic");
  add(list, OD_OUT_POTENTIAL, 0, 0, "J", "energy", "potential");
  add(list, OD_OUT_STORED, 0, 0, "J", "energy", "stored");
  add(list, OD_OUT_DISSIPATED, 0, 0, "J", "energy", "dissipated");
  add(list, OD_OUT_SUPPLIED, 0, 0, "J", "energy", "input");
  if (m->nodes) add(list, OD_OUT_COMPRESSED, 0, 0, "J", "energy", "compressed");
  add(list, OD_OUT_BALANCE, 0, 0, "J", "energy", "balance");
}

bool od_outputs_list(od_model *m, od_arena *arena) {
  listing list = {.m = m, .arena = arena};
  add_all(&list);
  list.out = od_arena_take(arena, (size_t)list.count * sizeof *list.out);
  if (!list.out) return false;
  m->output = list.out;
  m->outputs = list.count;
  list.count = 0;
  add_all(&list);
  return !list.failed;
}

int od_model_output_count(const od_model *m) {
  return m->outputs;
}
const char *od_model_output_name(const od_model *m, int i) {
  return m->output[i].name;
}
const char *od_model_output_unit(const od_model *m, int i) {
  return m->output[i].unit;
}

int od_model_output_find(const od_model *m, const char *name) {
  for (int i = 0; i < m->outputs; i++)
    if (strcmp(m->output[i].name, name) == 0) return i;
  return -1;
}

int od_model_coordinate_find(const od_model *m, const char *quantity, bool rate) {
  for (int j = 0; j < m->coordinates; j++) {
    const od_joint *joint = &m->joint[m->link[m->coordinate_link[j]].joint];
    size_t length = strlen(joint->name);
    if (strncmp(quantity, joint->name, length) != 0 || quantity[length] != '.') continue;
    if (strcmp(quantity + length + 1, od_coordinate_label(m, j, rate ? 1 : 0)) == 0) return j;
  }
  return -1;
}
