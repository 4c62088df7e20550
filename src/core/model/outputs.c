// The list of outputs with their names: element by element, in the order of the model's tables.
#include "model/outputs.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/allocate.h"
#include "base/text.h"
#include "model/builder.h"
#include "model/joint_types.h"

// The list is generated twice: once to count, once to fill.
typedef struct listing {
  od_model *m;
  od_arena *arena;
  od_output *out;
  int count;
  bool failed;
} listing;

// Returns the text of a unit in the model. Consecutive outputs often have the same units, so the function first searches the last
// texts.
static int unit_text(listing *list, const char *unit) {
  enum { SEARCHED = 50 };
  for (int i = list->count - 1; i >= 0 && i >= list->count - SEARCHED; i--)
    if (strcmp(od_model_text(list->m, list->out[i].unit), unit) == 0) return list->out[i].unit;
  return od_model_add_text(list->m, list->arena, unit);
}

// Adds an output with the name element.part.quantity; part and quantity may be empty.
static void add_part(listing *list, od_output_kind kind, int index, int component, const char *unit,
                     const char *element, const char *part, const char *quantity) {
  if (list->out) {
    const char *name =
        od_arena_format(list->arena, "%s%s%s%s%s", element, *part ? "." : "", part, *quantity ? "." : "", quantity);
    list->failed = list->failed || !name;
    list->out[list->count] = (od_output){od_model_add_text(list->m, list->arena, name ? name : ""),
                                         unit_text(list, unit),
                                         kind,
                                         index,
                                         component,
                                         -1,
                                         false,
                                         false};
  }
  list->count++;
}

static void add(listing *list, od_output_kind kind, int index, int component, const char *unit, const char *element,
                const char *quantity) {
  add_part(list, kind, index, component, unit, element, "", quantity);
}

static const od_joint_coordinate *coordinate_of(const od_model *m, int coordinate) {
  const od_joint *joint = &m->joint[m->link[m->coordinate_link[coordinate]].joint];
  return &od_joint_class_of(joint->spec.type)->coordinate[coordinate - joint->coordinate];
}

const char *od_coordinate_label(const od_model *m, int coordinate, int order) {
  return coordinate_of(m, coordinate)->label[order];
}

static void add_coordinate(listing *list, int j) {
  static const char *const turn[3] = {"rad", "rad/s", "rad/s2"}, *const slide[3] = {"m", "m/s", "m/s2"};
  const od_model *m = list->m;
  const od_link *link = &m->link[m->coordinate_link[j]];
  for (int order = 0; order < 3; order++)
    add(list, (od_output_kind)(OD_OUT_COORDINATE + order), j, 0,
        (link->kind == OD_LINK_PRISMATIC ? slide : turn)[order], od_model_text(m, m->joint[link->joint].name),
        od_coordinate_label(m, j, order));
}

// Adds position, velocity and acceleration of a point, in axes of the ground and of its body.
static void add_point(listing *list, int i) {
  const od_model *m = list->m;
  const od_point *p = &m->point[i];
  static const struct {
    od_output_kind kind;
    const char *prefix, *unit;
  } shown[] = {{OD_OUT_POINT, "", "m"},
               {OD_OUT_POINT_VELOCITY, "v", "m/s"},
               {OD_OUT_POINT_ACCELERATION, "a", "m/s2"},
               {OD_OUT_POINT_BODY_VELOCITY, "body_v", "m/s"},
               {OD_OUT_POINT_BODY_ACCELERATION, "body_a", "m/s2"},
               {OD_OUT_POINT_SPECIFIC_FORCE, "accelerometer_", "m/s2"}};
  if (p->body == OD_GROUND) return;
  for (size_t q = 0; q < sizeof shown / sizeof *shown; q++)
    for (int k = 0; k < 3; k++) {
      char quantity[20];
      od_text_format(quantity, sizeof quantity, "%s%c", shown[q].prefix, "xyz"[k]);
      add_part(list, shown[q].kind, i, k, shown[q].unit, od_model_text(m, m->body[p->body].name),
               od_model_text(m, p->name), quantity);
    }
}

// Adds the rotation of a body: about the plane's normal or the ground axes, and about its own axes.
static void add_turns(listing *list, int i) {
  static const char *const about[3] = {"wx", "wy", "wz"}, *const alpha[3] = {"alpha_x", "alpha_y", "alpha_z"};
  static const char *const gyro[3] = {"gyro_x", "gyro_y", "gyro_z"};
  static const char *const own_alpha[3] = {"body_alpha_x", "body_alpha_y", "body_alpha_z"};
  const char *name = od_model_text(list->m, list->m->body[i].name);
  if (list->m->planar) {
    add(list, OD_OUT_BODY_ANGLE, i, 0, "rad", name, "angle");
    add(list, OD_OUT_BODY_TURN_RATE, i, 0, "rad/s", name, "turn_rate");
    add(list, OD_OUT_BODY_TURN_ACCELERATION, i, 0, "rad/s2", name, "turn_acceleration");
  }
  for (int k = 0; k < 3 && !list->m->planar; k++) add(list, OD_OUT_BODY_TURN_RATE, i, k, "rad/s", name, about[k]);
  for (int k = 0; k < 3 && !list->m->planar; k++)
    add(list, OD_OUT_BODY_TURN_ACCELERATION, i, k, "rad/s2", name, alpha[k]);
  for (int k = 0; k < 3; k++) add(list, OD_OUT_BODY_GYRO, i, k, "rad/s", name, gyro[k]);
  for (int k = 0; k < 3; k++) add(list, OD_OUT_BODY_GYRO_RATE, i, k, "rad/s2", name, own_alpha[k]);
}

// Adds the pose of a body: position of its origin, and unit quaternion of the rotation from the body's axes to the ground axes.
static void add_pose(listing *list, int i) {
  static const char *const part[OD_POSE_SIZE] = {"x", "y", "z", "qw", "qx", "qy", "qz"};
  for (int k = 0; k < OD_POSE_SIZE; k++)
    add_part(list, OD_OUT_BODY_POSE, i, k, k < OD_POSE_QUATERNION ? "m" : "1",
             od_model_text(list->m, list->m->body[i].name), "pose", part[k]);
}

// Adds poses, turn rates, energies and points of bodies.
static void add_bodies(listing *list) {
  const od_model *m = list->m;
  for (int i = 0; i < m->bodies; i++) {
    add_turns(list, i);
    add_pose(list, i);
    add(list, OD_OUT_BODY_KINETIC, i, 0, "J", od_model_text(m, m->body[i].name), "kinetic");
    add(list, OD_OUT_BODY_POTENTIAL, i, 0, "J", od_model_text(m, m->body[i].name), "potential");
    for (int p = 0; p < m->points; p++)
      if (m->point[p].body == i) add_point(list, p);
  }
}

// Adds the components along the ground axes and the magnitude of a joint's force or torque. A planar machine determines only forces
// in its plane and torques about the normal of the plane. Components along other axes are not added.
static void add_reaction(listing *list, od_output_kind kind, int joint, const char *unit, const char *quantity) {
  const od_model *m = list->m;
  for (int k = 0; k < 3; k++) {
    char name[16];
    double in_plane = fabs(m->plane[0][k]) + fabs(m->plane[1][k]), across = fabs(m->plane[2][k]);
    if (m->planar && (kind == OD_OUT_JOINT_FORCE ? in_plane : across) < 1e-12) continue;
    od_text_format(name, sizeof name, "%s_%c", quantity, "xyz"[k]);
    add(list, kind, joint, k, unit, od_model_text(m, m->joint[joint].name), name);
  }
  add(list, kind, joint, OD_REACTION_SIZE, unit, od_model_text(m, m->joint[joint].name), quantity);
}

// Adds forces and torques in joints, rods and gears. A spherical joint, and a revolute joint of a planar machine, transmit no
// torque and have no torque outputs.
static void add_reactions(listing *list) {
  const od_model *m = list->m;
  for (int i = 0; i < m->joints; i++) {
    od_joint_type type = m->joint[i].spec.type;
    if (type == OD_FREE || (m->planar && type == OD_PLANAR_JOINT)) continue;  // no reaction
    add_reaction(list, OD_OUT_JOINT_FORCE, i, "N", "force");
    if (type != OD_SPHERICAL && !(m->planar && type == OD_REVOLUTE))
      add_reaction(list, OD_OUT_JOINT_TORQUE, i, "N m", "torque");
  }
  for (int i = 0; i < m->rods; i++) add(list, OD_OUT_ROD_FORCE, i, 0, "N", od_model_text(m, m->rod[i].name), "force");
  for (int i = 0; i < m->gears; i++) {
    bool turning = od_joint_turns(m->joint[m->gear[i].joint_b].spec.type);
    add(list, OD_OUT_GEAR_FORCE, i, 0, turning ? "N m" : "N", od_model_text(m, m->gear[i].name),
        turning ? "torque" : "force");
  }
}

// Adds values, powers and energies of loads.
static void add_loads(listing *list) {
  const od_model *m = list->m;
  for (int i = 0; i < m->loads; i++) {
    const od_load *load = &m->load[i];
    bool force = load->kind == OD_LOAD_FORCE || load->kind == OD_LOAD_CONTACT ||
                 (load->kind == OD_LOAD_JOINT && load->coordinate >= 0 &&
                  m->link[m->coordinate_link[load->coordinate]].kind == OD_LINK_PRISMATIC);
    add(list, OD_OUT_LOAD, i, 0, force ? "N" : "N m", od_model_text(m, load->name), force ? "force" : "torque");
    bool contact = load->kind == OD_LOAD_CONTACT;
    if (contact) add(list, OD_OUT_LOAD_STORED, i, 0, "J", od_model_text(m, load->name), "energy");
    add(list, OD_OUT_LOAD_POWER, i, 0, "W", od_model_text(m, load->name), contact ? "loss" : "power");
    add(list, OD_OUT_INTEGRAL, od_model_power(m, OD_POWER_LOAD) + i, 1, "J", od_model_text(m, load->name),
        contact ? "dissipated" : "work");
  }
}

// Adds pressures, inflows, cavitation, masses and energies of nodes.
static void add_nodes(listing *list) {
  const od_model *m = list->m;
  for (int i = 0; i < m->nodes; i++) {
    const char *name = od_model_text(m, m->node[i].name);
    bool volume = m->node[i].kind == OD_NODE_VOLUME;
    add(list, OD_OUT_NODE_PRESSURE, i, 0, "Pa", name, "pressure");
    add(list, OD_OUT_NODE_INFLOW, i, 0, "m3/s", name, "inflow");
    if (volume || m->node[i].kind == OD_NODE_JUNCTION) add(list, OD_OUT_NODE_CAVITATING, i, 0, "1", name, "cavitating");
    if (volume) {
      add(list, OD_OUT_NODE_VOID, i, 0, "m3", name, "void");
      add(list, OD_OUT_NODE_MASS, i, 0, "kg", name, "mass");
    }
    add(list, OD_OUT_INTEGRAL, od_model_power(m, OD_POWER_NODE) + i, 1, "J", name, volume ? "compressed" : "taken");
  }
}

static void add_differences(listing *list) {
  const od_model *m = list->m;
  for (int i = 0; i < m->differences; i++) {
    const od_difference *d = &m->difference[i];
    add(list, OD_OUT_PRESSURE_DIFFERENCE, d->node_a, 0, "Pa", od_model_text(m, d->name), "pressure");
    if (list->out) list->out[list->count - 1].second = d->node_b;
  }
}

// ---- elements

// Returns the name of an output of an instance; NULL: an allocation failed. The name begins with the name of the
// instance, or of the host if the instance is unnamed.
static const char *element_output_name(listing *list, const od_instance *e, const od_element_output *o) {
  const od_model *m = list->m;
  const od_element_description *c = od_instance_description(m, e);
  const char *own = od_model_text(m, e->name);
  if (*own && e->host >= 0)
    return od_arena_format(list->arena, "%s.%s.%s", od_model_text(m, m->instance[e->host].name), own, o->name);
  if (*own) return od_arena_format(list->arena, "%s.%s", own, o->name);
  const char *owner =
      e->host >= 0 ? od_model_text(m, m->instance[e->host].name) : od_model_text(m, m->joint[e->joint].name);
  return od_arena_format(list->arena, "%s.%s%s%s", owner, c->inside, *o->inside_name ? "_" : "", o->inside_name);
}

static const char *element_output_unit(const od_model *m, const od_instance *e, const od_element_output *o) {
  bool turns = e->joint >= 0 && od_joint_turns(m->joint[e->joint].spec.type);
  if (turns && o->turning_unit) return o->turning_unit;
  if (strcmp(o->unit, "*") != 0) return o->unit;
  return e->signal >= 0 ? od_model_text(m, m->input[e->signal].unit) : "1";
}

// Returns whether an output of an instance is listed. The friction of a cylinder is part of the outputs of the
// cylinder; only its states are listed separately.
static bool is_shown(const od_model *m, const od_instance *e, const od_element_output *o) {
  if (*od_model_text(m, e->name)) return o->name != NULL;
  return o->inside_name != NULL &&
         (o->shows == OD_SHOWS_STATE || !(e->host >= 0 && od_instance_class(m, e)->acts == OD_ACTS_ON_HOST));
}

// Returns the output of an instance for an entry of its class's list.
static od_output element_output(const od_model *m, int instance, const od_element_output *o) {
  const od_instance *e = &m->instance[instance];
  od_output out = {.index = instance, .component = o->index, .second = -1, .negative = o->negative};
  if (o->with_friction) out.second = e->friction;
  switch (o->shows) {
    case OD_SHOWS_LENGTH: out.kind = OD_OUT_LENGTH, out.index = e->actuator; break;
    case OD_SHOWS_SPEED: out.kind = OD_OUT_SPEED, out.index = e->actuator; break;
    case OD_SHOWS_FORCE: out.kind = OD_OUT_FORCE, out.index = e->actuator; break;
    case OD_SHOWS_OUT: out.kind = OD_OUT_ELEMENT; break;
    case OD_SHOWS_OF_FRICTION: out.kind = OD_OUT_ELEMENT, out.index = e->friction; break;
    case OD_SHOWS_REPORT: out.kind = OD_OUT_REPORT; break;
    case OD_SHOWS_STATE: out.kind = OD_OUT_ELEMENT_STATE; break;
    case OD_SHOWS_WORK: out.kind = OD_OUT_INTEGRAL, out.index = od_model_power(m, OD_POWER_SUPPLY) + e->supplier; break;
    case OD_SHOWS_INTEGRAL: out.kind = OD_OUT_INTEGRAL, out.index += od_model_power(m, OD_POWER_ELEMENT); break;
    case OD_SHOWS_NOTHING: break;
  }
  return out;
}

// Adds the outputs that the description of the class lists.
static void add_element(listing *list, int instance) {
  const od_model *m = list->m;
  const od_instance *e = &m->instance[instance];
  const od_element_output *row = od_instance_description(m, e)->outputs;
  for (int k = 0; k < OD_MOST_ELEMENT_OUTPUTS && row[k].shows != OD_SHOWS_NOTHING; k++) {
    if (!is_shown(m, e, &row[k])) continue;
    if (list->out) {
      od_output *out = &list->out[list->count];
      *out = element_output(m, instance, &row[k]);
      const char *name = element_output_name(list, e, &row[k]);
      list->failed = list->failed || !name;
      out->name = name ? od_model_add_text(list->m, list->arena, name) : 0;
      out->unit = unit_text(list, element_output_unit(m, e, &row[k]));
    }
    list->count++;
  }
}

// ---- blocks

// Returns the unit of a block's first input. Measured quantities are listed before blocks, so their units are already
// known.
static const char *block_input_unit(const listing *list, const od_block *b) {
  const od_block_line *line = &list->m->block_line[b->line];
  if (line->source >= 0) return od_model_text(list->m, list->m->input[line->source].unit);
  for (int i = 0; list->out && line->quantity && i < list->count; i++)
    if (strcmp(od_model_text(list->m, list->out[i].name), od_model_text(list->m, line->quantity)) == 0)
      return od_model_text(list->m, list->out[i].unit);
  return "1";
}

// Adds a state of a block, unless the state has no name (od_block_state_name()).
static void add_block_state(listing *list, int block, int state) {
  const od_block *b = &list->m->block[block];
  const od_block_spec *spec = &list->m->spec[block];
  const char *name = od_block_state_name(spec, state);
  if (!name) return;
  int order;
  const char *rule = od_block_state_unit(spec, state, &order), *unit = rule;
  if (strcmp(rule, OD_UNIT_OUT) == 0) unit = od_model_text(list->m, b->unit);
  if (strcmp(rule, OD_UNIT_IN) == 0) unit = list->out ? block_input_unit(list, b) : "1";
  if (list->out && order > 0) {
    char rate[80];
    od_rate_unit(unit, order, rate, sizeof rate);
    unit = od_arena_text(list->arena, rate);
  }
  list->failed = list->failed || !unit;
  if (!unit) return;
  bool is_pressure = strncmp(unit, "Pa", 2) == 0;
  add(list, OD_OUT_BLOCK_STATE, b->state + state, block, unit, od_model_text(list->m, b->name), name);
  if (list->out) list->out[list->count - 1].is_pressure = is_pressure;
}

// Adds the outputs of blocks, which are signals.
static void add_blocks(listing *list) {
  const od_model *m = list->m;
  for (int i = 0; i < m->blocks; i++) {
    const od_block *b = &m->block[i];
    for (int k = b->signal; k < b->signal + b->outputs; k++)
      add(list, OD_OUT_INPUT, k, 0, od_model_text(m, m->input[k].unit), od_model_text(m, m->input[k].name), "");
    for (int k = 0; k < b->states; k++) add_block_state(list, i, k);
  }
}

// Adds all outputs, in the order in which users see them.
static void add_all(listing *list) {
  const od_model *m = list->m;
  for (int j = 0; j < m->coordinates; j++)
    if (!coordinate_of(m, j)->hidden) add_coordinate(list, j);
  add_bodies(list);
  add_reactions(list);
  add_loads(list);
  add_nodes(list);
  add_differences(list);
  for (int i = 0; i < m->instances; i++) add_element(list, i);
  for (int i = 0; i < m->inputs; i++)
    add(list, OD_OUT_INPUT, i, 0, od_model_text(m, m->input[i].unit), od_model_text(m, m->input[i].name), "");
  add_blocks(list);
  add(list, OD_OUT_KINETIC, 0, 0, "J", "energy", "kinetic");
  add(list, OD_OUT_POTENTIAL, 0, 0, "J", "energy", "potential");
  add(list, OD_OUT_STORED, 0, 0, "J", "energy", "stored");
  add(list, OD_OUT_DISSIPATED, 0, 0, "J", "energy", "dissipated");
  add(list, OD_OUT_SUPPLIED, 0, 0, "J", "energy", "input");
  if (m->nodes) add(list, OD_OUT_COMPRESSED, 0, 0, "J", "energy", "compressed");
  if (m->nodes) add(list, OD_OUT_OIL_BALANCE, 0, 0, "kg", "oil", "balance");
  add(list, OD_OUT_BALANCE, 0, 0, "J", "energy", "balance");
}

// The name and the index of an output, for sorting. compare_names() orders equal names by the index.
typedef struct output_name {
  const char *name;
  int output;
} output_name;
static int compare_names(const void *a, const void *b) {
  const output_name *x = a, *y = b;
  int order = strcmp(x->name, y->name);
  return order ? order : (x->output > y->output) - (x->output < y->output);
}
static bool sort_names(od_model *m, od_arena *arena) {
  m->output_order = od_arena_take(arena, (size_t)(m->outputs + 1) * sizeof *m->output_order);
  output_name *list = od_calloc((size_t)m->outputs + 1, sizeof *list);
  bool ok = m->output_order && list;
  for (int i = 0; ok && i < m->outputs; i++) list[i] = (output_name){od_model_text(m, m->output[i].name), i};
  if (ok && m->outputs) qsort(list, (size_t)m->outputs, sizeof *list, compare_names);
  for (int i = 0; ok && i < m->outputs; i++) m->output_order[i] = list[i].output;
  od_free(list);
  return ok;
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
  return !list.failed && !arena->exhausted && sort_names(m, arena);
}

// Returns whether a link is on the path through the tree between the ends of a closure.
static bool is_in_loop(const od_model *m, const od_closure *c, int link) {
  bool before_a = false, before_b = false;
  for (int i = c->link_a; i > 0; i = m->link[i].parent) before_a = before_a || i == link;
  for (int i = c->link_b; i > 0; i = m->link[i].parent) before_b = before_b || i == link;
  return before_a != before_b;
}

bool od_model_output_is_shared(const od_model *m, int output) {
  const od_output *o = &m->output[output];
  bool joint = o->kind == OD_OUT_JOINT_FORCE || o->kind == OD_OUT_JOINT_TORQUE;
  if (m->rows == m->coordinates - m->freedom || (!joint && o->kind != OD_OUT_ROD_FORCE && o->kind != OD_OUT_GEAR_FORCE))
    return false;
  int link = joint ? m->joint[o->index].link : -1;
  if (link < 0) return true;
  for (int i = 0; i < m->closures; i++)
    if (is_in_loop(m, &m->closure[i], link)) return true;
  return false;
}

int od_model_output_count(const od_model *m) {
  return m->outputs;
}
const char *od_model_output_name(const od_model *m, int i) {
  return od_model_text(m, m->output[i].name);
}
const char *od_model_output_unit(const od_model *m, int i) {
  return od_model_text(m, m->output[i].unit);
}

int od_model_output_find(const od_model *m, const char *name) {
  int low = 0, high = m->text_size > 0 ? m->outputs : 0, last = high;
  while (low < high) {
    int middle = low + (high - low) / 2;
    if (strcmp(od_model_output_name(m, m->output_order[middle]), name) < 0)
      low = middle + 1;
    else
      high = middle;
  }
  return low < last && strcmp(od_model_output_name(m, m->output_order[low]), name) == 0 ? m->output_order[low] : -1;
}

int od_model_coordinate_find(const od_model *m, const char *quantity, bool rate) {
  for (int j = 0; j < m->coordinates; j++) {
    const od_joint *joint = &m->joint[m->link[m->coordinate_link[j]].joint];
    const char *name = od_model_text(m, joint->name);
    size_t length = strlen(name);
    if (strncmp(quantity, name, length) != 0 || quantity[length] != '.') continue;
    if (strcmp(quantity + length + 1, od_coordinate_label(m, j, rate ? 1 : 0)) == 0) return j;
  }
  return -1;
}
