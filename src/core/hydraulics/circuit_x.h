// The circuit with lumped volumes (eq. 8 of source 1 in docs/theory.md): elements move oil between nodes and exert forces on the
// mechanism. The pressure of a volume changes by p' = (sum of inflows - dV/dt) / (V/B + C), where C is the compliance of elements
// at the node. All results are functions of numbers (theta), states c, signals u, lengths and speeds, which are in the work memory.
//
// Oil cavitates below zero pressure. Elements then read zero pressure, and the state x gives the void, the volume without oil:
//   void = -x (V/B + C),    void' = dV/dt - sum of inflows,    thus    x' = (sum of inflows - dV/dt (1 + x/B)) / (V/B + C)
// with B and C at zero pressure. The oil that fills a void equals the oil that was missing when the void formed, even
// if V changes meanwhile. Oil under tension (od_build_oil_tension()) uses p' as above instead, and does not conserve
// its volume.

static inline bool X(cavitates)(const od_model *m, const od_x *w, int node) {
  int state = m->node[node].state;
  return state >= 0 && RE(w[m->layout.c + state]) < 0;
}
// Returns whether a junction cavitates: its pressure is zero and the outflow is larger than the inflow.
static inline bool X(junction_cavitates)(const od_model *m, const od_x *w, int node) {
  return RE(w[m->layout.pressure + node]) == 0 && RE(w[m->layout.inflow + node]) < 0;
}

// Computes the pressures of all nodes that elements read, and the properties of the oil.
static inline void X(node_pressures)(const od_model *m, od_x *w) {
  const od_layout *l = &m->layout;
  for (int i = 0; i < m->nodes; i++) {
    const od_node *node = &m->node[i];
    od_x *p = w + l->pressure + i;
    if (node->state >= 0)
      *p = X(cavitates)(m, w, i) ? 0 : w[l->c + node->state];
    else if (node->junction < 0)
      *p = node->input >= 0 ? w[l->theta + node->number] * w[l->u + node->input] : w[l->theta + node->number];
  }
  X(oil_state)(m, w);
  w[l->one] = 1;
}

// Copies the value of each input of each instance from its source to the inputs in the work memory.
static inline void X(gather)(const od_model *m, od_x *w) {
  const int *from = m->join.gather;
  od_x *in = w + m->layout.in;
  for (int i = 0; i < m->join.ins; i++) in[i] = w[from[i]];
}

#include "hydraulics/heat_x.h"
#include "hydraulics/junctions_x.h"

// ---- nodes

// The least volume of a node, relative to its volume with all contributions at their maximum. Thus the volume stays positive when a
// piston is deep in its end stop.
static const double X(least_volume) = 1e-3;

// Adds flows, volumes, compliances, forces and rates of all instances to their targets.
static void X(sum_up)(const od_model *m, od_x *w) {
  const od_layout *l = &m->layout;
  for (int i = 0; i < m->nodes; i++) {
    w[l->inflow + i] = 0;
    w[l->volume + i] = w[l->largest + i] = m->node[i].kind == OD_NODE_VOLUME ? w[l->theta + m->node[i].number] : 0;
  }
  for (int i = 0; m->join.compliant && i < m->nodes; i++) w[l->compliance + i] = 0;
  for (int i = 0; i < m->actuators; i++) w[l->force + i] = 0;
  for (int i = 0; i < m->circuit_states; i++) w[l->rate + i] = 0;
  const od_target *s = m->join.target;
  for (int i = 0; i < m->join.targets; i++, s++) w[s->to] += s->sign * w[s->from];
}

static inline bool X(is_squeezed)(const od_model *m, const od_x *w, int node) {
  const od_layout *l = &m->layout;
  return RE(w[l->volume + node]) < X(least_volume) * RE(w[l->largest + node]);
}

// Returns the volume that determines the pressure of a node, m3: the sum of all contributions, but at least the least
// volume.
static inline od_x X(node_volume)(const od_model *m, const od_x *w, int node) {
  const od_layout *l = &m->layout;
  return X(is_squeezed)(m, w, node) ? X(least_volume) * w[l->largest + node] : w[l->volume + node];
}

// Returns the change of a node's pressure per volume of inflow, Pa/m3: 1/(V/B + C), or B/V without a compliance.
static inline od_x X(node_stiffness)(const od_model *m, const od_x *w, int node) {
  const od_layout *l = &m->layout;
  od_x oil = w[l->modulus + node] / X(node_volume)(m, w, node);
  return m->join.compliant ? oil / (1 + oil * w[l->compliance + node]) : oil;
}

// Returns the flow that moving pistons push into a node, m3/s: -dV/dt, or zero at the least volume.
static od_x X(displaced)(const od_model *m, const od_x *w, int node) {
  od_x sum = 0;
  if (X(is_squeezed)(m, w, node)) return sum;
  for (int i = 0; i < m->join.displacers; i++) {
    const od_target *s = &m->join.target[m->join.displacer[i]];
    if (s->target == node) sum += s->sign * w[s->from];
  }
  return sum;
}

// Returns x/B, the factor of the displaced flow in the rate x' of a cavitating node; zero for oil under tension.
static inline od_x X(displaced_share)(const od_model *m, const od_x *w, int node) {
  return m->oil_tension ? 0 : w[m->layout.c + m->node[node].state] / w[m->layout.modulus + node];
}

static OD_APART void X(correct_void_rate)(const od_model *m, od_x *w, int node) {
  const od_layout *l = &m->layout;
  od_x share = X(displaced_share)(m, w, node) * X(displaced)(m, w, node);
  w[l->rate + m->node[node].state] += w[l->stiffness + node] * share;
}

// Computes the heat of the reservoir, and sets all rates to NAN if the junctions have no solution (solved false).
// Called only for machines with junctions or a reservoir.
static OD_APART void X(finish_indirect)(const od_model *m, od_x *w, bool solved) {
  if (od_model_has_heat(m)) X(heat_oil)(m, w);
  for (int i = 0; !solved && i < m->circuit_states; i++) w[m->layout.rate + i] = NAN;
}

// Computes the forces of all actuators and the rates of all circuit states from lengths, speeds, c and u in w.
static void X(circuit_evaluate)(const od_model *m, od_x *w) {
  const od_layout *l = &m->layout;
  X(node_pressures)(m, w);
  X(gather)(m, w);
  bool solved = !m->join.indirect || od_model_junctions(m) == 0 || X(solve_junctions)(m, w);
  for (int i = 0; i < m->join.batches; i++) X(evaluate_batch)(m, &m->join.batch[i], w);
  X(sum_up)(m, w);
  for (int i = 0; i < m->nodes; i++) {
    if (m->node[i].state < 0) continue;
    w[l->modulus + i] = X(bulk_modulus)(m, w, w[l->pressure + i]);
    w[l->stiffness + i] = X(node_stiffness)(m, w, i);
    w[l->rate + m->node[i].state] = w[l->stiffness + i] * w[l->inflow + i];
    if (X(cavitates)(m, w, i)) X(correct_void_rate)(m, w, i);
  }
  if (m->join.indirect) X(finish_indirect)(m, w, solved);
}

// Computes the pressures of all nodes, and the forces on the mechanism that depend on states alone.
static void X(circuit_measure)(const od_model *m, od_x *w) {
  X(node_pressures)(m, w);
  X(gather)(m, w);
  for (int i = 0; i < m->join.batches; i++)
    if (od_batch_class(m, &m->join.batch[i])->acts != OD_ACTS_NOWHERE) X(evaluate_batch)(m, &m->join.batch[i], w);
  for (int i = 0; i < m->actuators; i++) w[m->layout.force + i] = 0;
  for (int i = 0; i < m->join.forces; i++) {
    const od_target *s = &m->join.target[m->join.force[i]];
    w[s->to] += s->sign * w[s->from];
  }
}

// ---- outputs and powers

// Returns the void of a node with a state (the volume without oil), m3.
static od_x X(node_void)(const od_model *m, const od_x *w, int node) {
  const od_layout *l = &m->layout;
  if (!X(cavitates)(m, w, node)) return 0;
  return -w[l->c + m->node[node].state] / w[l->stiffness + node];
}

// Returns the mass of oil in a node with a state, kg, without the oil in the expansion of hoses.
static od_x X(node_mass)(const od_model *m, const od_x *w, int node) {
  return X(oil_density)(m, w, w[m->layout.pressure + node]) * (X(node_volume)(m, w, node) - X(node_void)(m, w, node));
}

static od_x X(circuit_oil)(const od_model *m, const od_x *w) {
  od_x sum = 0;
  for (int i = 0; i < m->nodes; i++)
    if (m->node[i].state >= 0) sum += X(node_mass)(m, w, i);
  return sum;
}

// Returns entry `which` (OD_REPORT_...) of the report of an instance. Changes only the report of this instance in the
// work memory.
static od_x X(reported)(const od_model *m, const od_x *w, int instance, int which) {
  od_batch b = od_instance_batch(m, &m->instance[instance]);
  X(report_batch)(m, &b, (od_x *)w);
  return w[b.report + which];
}

// Returns the energy stored in elements (springs, end stops, gas), J.
static od_x X(circuit_stored)(const od_model *m, const od_x *w) {
  od_x sum = 0;
  for (int i = 0; i < m->instances; i++) sum += X(reported)(m, w, i, OD_REPORT_STORED);
  return sum;
}

static od_x X(element_output)(const od_model *m, const od_x *w, const od_output *o, int instance) {
  const od_layout *l = &m->layout;
  if (instance < 0) return 0;
  const od_instance *e = &m->instance[instance];
  if (o->kind == OD_OUT_ELEMENT) return w[e->out + o->component];
  if (o->kind == OD_OUT_REPORT) return X(reported)(m, w, instance, o->component);
  return e->state[o->component] >= 0 ? w[l->c + e->state[o->component]] : w[l->u + e->signal];
}

static od_x X(circuit_output)(const od_model *m, const od_x *w, const od_output *o) {
  const od_layout *l = &m->layout;
  switch (o->kind) {
    case OD_OUT_NODE_PRESSURE: return w[l->pressure + o->index];
    case OD_OUT_NODE_INFLOW: return w[l->inflow + o->index];
    case OD_OUT_NODE_CAVITATING:
      if (!OD_SHOWS(OD_OUT_NODE_CAVITATING)) return 0;
      return X(cavitates)(m, w, o->index) || (m->node[o->index].junction >= 0 && X(junction_cavitates)(m, w, o->index));
    case OD_OUT_NODE_VOID: return OD_SHOWS(OD_OUT_NODE_VOID) ? X(node_void)(m, w, o->index) : 0;
    case OD_OUT_NODE_MASS: return OD_SHOWS(OD_OUT_NODE_MASS) ? X(node_mass)(m, w, o->index) : 0;
    case OD_OUT_PRESSURE_DIFFERENCE: return w[l->pressure + o->index] - w[l->pressure + o->second];
    case OD_OUT_LENGTH: return w[l->length + o->index];
    case OD_OUT_SPEED: return w[l->speed + o->index];
    case OD_OUT_FORCE: return w[l->force + o->index];
    case OD_OUT_ELEMENT:
    case OD_OUT_REPORT:
    case OD_OUT_ELEMENT_STATE: {
      if (!OD_SHOWS_ELEMENTS) return 0;
      od_x value = X(element_output)(m, w, o, o->index) + X(element_output)(m, w, o, o->second);
      return o->negative ? -value : value;
    }
    case OD_OUT_BLOCK_STATE: return w[l->c + o->index];
    default: return 0;
  }
}
