// Marks the states of the circuit that an output depends on directly.
#include "model/outputs.h"

od_output_reads od_output_reads_of(od_output_kind kind) {
  switch (kind) {
    case OD_OUT_COORDINATE:
    case OD_OUT_COORDINATE_RATE:
    case OD_OUT_POINT:
    case OD_OUT_POINT_VELOCITY:
    case OD_OUT_POINT_BODY_VELOCITY:
    case OD_OUT_BODY_POSE:
    case OD_OUT_BODY_ANGLE:
    case OD_OUT_BODY_TURN_RATE:
    case OD_OUT_BODY_GYRO:
    case OD_OUT_BODY_KINETIC:
    case OD_OUT_BODY_POTENTIAL:
    case OD_OUT_LENGTH:
    case OD_OUT_SPEED:
    case OD_OUT_KINETIC: return OD_READS_MOTION;
    case OD_OUT_NODE_PRESSURE:
    case OD_OUT_PRESSURE_DIFFERENCE: return OD_READS_NODES;
    case OD_OUT_FORCE: return OD_READS_FORCES;
    case OD_OUT_ELEMENT:
    case OD_OUT_REPORT:
    case OD_OUT_ELEMENT_STATE: return OD_READS_INSTANCES;
    case OD_OUT_COORDINATE_ACCELERATION:
    case OD_OUT_POINT_ACCELERATION:
    case OD_OUT_POINT_BODY_ACCELERATION:
    case OD_OUT_POINT_SPECIFIC_FORCE:
    case OD_OUT_BODY_TURN_ACCELERATION:
    case OD_OUT_BODY_GYRO_RATE:
    case OD_OUT_JOINT_FORCE:
    case OD_OUT_JOINT_TORQUE:
    case OD_OUT_ROD_FORCE:
    case OD_OUT_GEAR_FORCE:
    case OD_OUT_LOAD:
    case OD_OUT_LOAD_POWER:
    case OD_OUT_LOAD_STORED:
    case OD_OUT_INPUT:
    case OD_OUT_NODE_INFLOW:
    case OD_OUT_NODE_CAVITATING:
    case OD_OUT_NODE_VOID:
    case OD_OUT_NODE_MASS:
    case OD_OUT_BLOCK_STATE:
    case OD_OUT_POTENTIAL:
    case OD_OUT_STORED:
    case OD_OUT_INTEGRAL:
    case OD_OUT_DISSIPATED:
    case OD_OUT_SUPPLIED:
    case OD_OUT_COMPRESSED:
    case OD_OUT_OIL_BALANCE:
    case OD_OUT_BALANCE: return OD_READS_ANYTHING;
  }
  return OD_READS_ANYTHING;
}

static void mark_all(const od_model *m, bool *mark) {
  for (int i = 0; i < m->circuit_states; i++) mark[i] = true;
}

// Marks the states of the circuit among the inputs of an instance. The pressure of a junction may depend on all states.
static void mark_ins(const od_model *m, int in, int ins, bool *mark) {
  int first = 2 * m->actuators, end = first + m->circuit_states;
  for (int k = 0; k < ins; k++) {
    int column = m->join.column[in + k], node = m->join.node[in + k];
    if (column >= first && column < end) mark[column - first] = true;
    if (node >= 0 && m->node[node].junction >= 0) mark_all(m, mark);
  }
  if (m->join.warms >= 0) mark[m->join.warms] = true;
}

void od_model_mark_pushing(const od_model *m, bool *mark) {
  for (int i = 0; i < m->join.forces; i++) {
    const od_target *s = &m->join.target[m->join.force[i]];
    mark_ins(m, s->in, s->ins, mark);
  }
}

static void mark_instance(const od_model *m, int instance, bool *mark) {
  if (instance < 0) return;
  if (instance == m->join.reservoir) mark_all(m, mark);  // the reservoir collects the losses of all elements
  const od_instance *e = &m->instance[instance];
  mark_ins(m, e->in - m->layout.in, od_instance_class(m, e)->ins, mark);
  for (int k = 0; k < OD_MOST_ELEMENT_STATES; k++)
    if (e->state[k] >= 0) mark[e->state[k]] = true;
}

static void mark_node(const od_model *m, int node, bool *mark) {
  if (node >= 0 && m->node[node].state >= 0) mark[m->node[node].state] = true;
  if (node >= 0 && m->node[node].junction >= 0) mark_all(m, mark);
}

void od_output_mark_states(const od_model *m, const od_output *o, bool *mark) {
  switch (od_output_reads_of(o->kind)) {
    case OD_READS_MOTION: break;
    case OD_READS_NODES:
      mark_node(m, o->index, mark);
      mark_node(m, o->second, mark);
      break;
    case OD_READS_FORCES: od_model_mark_pushing(m, mark); break;
    case OD_READS_INSTANCES:
      mark_instance(m, o->index, mark);
      mark_instance(m, o->second, mark);
      break;
    case OD_READS_ANYTHING: mark_all(m, mark); break;
  }
}

bool od_output_is_measurable(od_output_kind kind) {
  switch (kind) {
    case OD_OUT_COORDINATE:
    case OD_OUT_COORDINATE_RATE:
    case OD_OUT_POINT:
    case OD_OUT_POINT_VELOCITY:
    case OD_OUT_POINT_BODY_VELOCITY:
    case OD_OUT_BODY_POSE:
    case OD_OUT_BODY_ANGLE:
    case OD_OUT_BODY_TURN_RATE:
    case OD_OUT_BODY_GYRO:
    case OD_OUT_LENGTH:
    case OD_OUT_SPEED:
    case OD_OUT_NODE_PRESSURE:
    case OD_OUT_PRESSURE_DIFFERENCE:
    case OD_OUT_ELEMENT_STATE:
    case OD_OUT_FORCE:
    case OD_OUT_ELEMENT: return true;
    default: return false;
  }
}
