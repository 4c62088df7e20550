// Derivatives of the circuit. Derivatives with respect to lengths, speeds, states and signals are computed once per point
// and stored in the rows of the work memory. Derivatives with respect to a number of the circuit are computed on request.
// Elements compute local derivatives. This file adds these derivatives to the rows of the targets.

// Returns the derivative of the pressure of a node, as elements read it, with respect to the state of the node or the
// signal of the source.
static inline double pressure_gain(const od_model *m, const double *w, int node) {
  const od_node *n = &m->node[node];
  if (n->state >= 0) return cavitates_r(m, w, node) ? 0 : 1;
  return n->junction >= 0 ? 1 : w[m->layout.theta + n->number];
}

// Return d p' / d V and d p' / d B of a node, where p' = inflow / (V/B + C).
static inline double volume_slope(const od_model *m, const double *w, int node) {
  const od_layout *l = &m->layout;
  return -w[l->rate + m->node[node].state] * w[l->stiffness + node] / w[l->modulus + node];
}
static inline double modulus_slope(const od_model *m, const double *w, int node) {
  const od_layout *l = &m->layout;
  double slope = w[l->rate + m->node[node].state] / w[l->modulus + node];
  if (m->join.compliant) slope *= w[l->stiffness + node] * node_volume_r(m, w, node) / w[l->modulus + node];
  if (!cavitates_r(m, w, node)) return slope;
  double by_share = w[l->stiffness + node] * displaced_r(m, w, node);
  return slope - by_share * displaced_share_r(m, w, node) / w[l->modulus + node];
}

// Returns the derivative of the rate x' with respect to the state x of a cavitating node, 1/s.
static inline double void_slope(const od_model *m, const double *w, int node) {
  if (m->oil_tension) return 0;
  return w[m->layout.stiffness + node] * displaced_r(m, w, node) / w[m->layout.modulus + node];
}

// Returns the derivative of the rate of a node's pressure with respect to the output of target s, a flow into the node.
static inline double flow_gain(const od_model *m, const double *w, const od_target *s) {
  double gain = s->sign * w[m->layout.stiffness + s->target];
  if (!s->displaces || !cavitates_r(m, w, s->target) || is_squeezed_r(m, w, s->target)) return gain;
  return gain * (1 + displaced_share_r(m, w, s->target));
}

// Returns the derivative of a target with respect to the output that is added to this target. A target is the rate of a
// node's pressure, the force of an actuator, or the rate of an element.
static inline double target_gain(const od_model *m, const double *w, const od_target *s) {
  const od_layout *l = &m->layout;
  int node = s->target;
  if (s->row < 0) return 0;
  switch (s->kind) {
    case OD_TO_FORCE:
    case OD_TO_RATE: return s->sign;
    case OD_TO_END: return s->state >= 0 ? flow_gain(m, w, s) : s->sign;
    case OD_TO_VOLUME: return is_squeezed_r(m, w, node) ? 0 : volume_slope(m, w, node);
    case OD_TO_LARGEST: return is_squeezed_r(m, w, node) ? least_volume_r * volume_slope(m, w, node) : 0;
    case OD_TO_COMPLIANCE: return -w[l->rate + s->state] * w[l->stiffness + node];
    case OD_TO_THROUGH:
    case OD_TO_NOTHING: break;
  }
  return 0;
}

// Adds the derivatives of one output of an element, times `gain`, to the row of its target.
static inline void add_slopes(const od_model *m, double *w, const od_target *s, double gain) {
  const int *place = m->join.place + s->place, *moves = m->join.gain + s->in;
  const double *slope = w + s->slope;
  for (int j = 0; j < s->ins; j++) w[place[j]] += gain * slope[j] * w[moves[j]];
}

// Adds the indirect effects of heat and of flows through junctions to the rows of derivatives.
static OD_APART void linearize_indirect(const od_model *m, double *w) {
  if (od_model_has_heat(m)) linearize_heat(m, w);
  if (od_model_junctions(m)) eliminate_junctions(m, w);
}

void od_circuit_linearize(const od_model *m, double *w) {
  const od_layout *l = &m->layout;
  const od_join *join = &m->join;
  for (int i = 0; i < join->batches; i++) {
    const od_batch *b = &join->batch[i];
    od_batch_class(m, b)->slopes(b, join->pool, w);
  }
  // The rows of forces, junctions and rates are contiguous.
  for (int i = l->force_row; i < l->scalars_real; i++) w[i] = 0;
  for (int i = 0; i < m->nodes; i++) w[l->pressure_gain + i] = pressure_gain(m, w, i);
  for (int i = 0; i < join->targets; i++) {
    double gain = w[l->target_gain + i] = target_gain(m, w, &join->target[i]);
    if (gain != 0) add_slopes(m, w, &join->target[i], gain);
  }
  if (m->join.indirect) linearize_indirect(m, w);
  for (int i = 0; i < m->nodes; i++) {
    int state = m->node[i].state;
    if (state < 0) continue;
    if (cavitates_r(m, w, i))
      w[join->diagonal[state]] += void_slope(m, w, i);
    else if (m->oil_law != OD_OIL_CONSTANT)
      w[join->diagonal[state]] += bulk_slope(m, w, w[l->pressure + i]) * modulus_slope(m, w, i);
  }
}

// ---- derivatives with respect to numbers

// Arrays to which changes of forces and (times a sign) of rates are added; entries of rate are `stride` apart.
typedef struct change {
  double *force, *rate, sign;
  int stride;
  double *junction;  // changes of flows into junctions
} change;

// Adds the changes dout of an instance's outputs to the forces, rates and flows of their targets.
static inline void add_change(const od_model *m, const double *w, const change *d, const od_instance *e,
                              const double *dout) {
  const double *gain = w + m->layout.target_gain;
  for (int i = e->target; i < e->target + e->targets; i++) {
    const od_target *s = &m->join.target[i];
    if (gain[i] == 0) continue;
    double by = gain[i] * dout[s->from - e->out];
    if (s->kind == OD_TO_FORCE)
      d->force[s->target] += by;
    else if (s->state < 0)
      d->junction[m->node[s->target].junction] += by;
    else
      d->rate[s->state * d->stride] += d->sign * by;
  }
}

static void change_elements(const od_model *m, double *w, const change *d, int first, int count) {
  double dout[OD_MOST_OUT];
  for (const od_number_user *user = m->join.user + first; user < m->join.user + first + count; user++)
    if (od_element_number_slope(m, w, user->instance, user->number, dout))
      add_change(m, w, d, &m->instance[user->instance], dout);
}

void od_circuit_run_slopes(const od_model *m, double *w, const od_circuit_number *n, double *rate, double sign,
                           int stride) {
  enum { MOST = 16, NUMBERS = 64 };  // numbers and their derivatives that are computed together
  const od_number_user *user = &m->join.user[n->index];
  const od_instance *e = &m->instance[user->instance];
  const od_element_class *c = od_instance_class(m, e);
  int number[MOST];
  double dout[NUMBERS];
  int most = NUMBERS / c->outs < MOST ? NUMBERS / c->outs : MOST;
  for (int first = 0; first < n->run; first += most) {
    int count = n->run - first < most ? n->run - first : most;
    for (int k = 0; k < count; k++) number[k] = m->join.user[n[first + k].index].number;
    if (!c->number_slopes(&m->join.batch[e->batch], m->join.pool, w, e->place, number, count, dout)) continue;
    for (int i = e->target; i < e->target + e->targets; i++) {
      const od_target *t = &m->join.target[i];
      double gain = sign * w[m->layout.target_gain + i], *row = rate + t->state * stride + first;
      const double *slope = dout + (t->from - e->out);
      if (gain == 0) continue;
      for (int k = 0; k < count; k++, slope += c->outs) row[k] += gain * *slope;
    }
  }
}

// Adds the effect of a number of the oil. Numbers of the bulk modulus act in every volume; density, smoothing and viscosity act in
// elements.
static void change_oil(const od_model *m, double *w, const change *d, int number) {
  const od_layout *l = &m->layout;
  bool modulus = number >= OD_OIL_LAW && number < OD_OIL_VISCOSITY;
  for (int i = 0; modulus && i < m->nodes; i++) {
    if (m->node[i].state < 0) continue;
    double slope = bulk_number_slope(m, w, w[l->pressure + i], number - OD_OIL_LAW);
    d->rate[m->node[i].state * d->stride] += d->sign * slope * modulus_slope(m, w, i);
  }
  if (modulus) return;
  double per_number[OD_OIL_STATES], dout[OD_MOST_OUT];
  oil_state_slopes(m, w, number, per_number);
  for (int i = 0; i < m->instances * OD_OIL_STATES; i++) {
    int state = i % OD_OIL_STATES;
    const od_instance *e = &m->instance[i / OD_OIL_STATES];
    if (per_number[state] == 0 || !od_instance_class(m, e)->needs_oil) continue;
    if (!od_element_number_slope(m, w, i / OD_OIL_STATES, OD_NUMBER_OF_OIL + state, dout)) continue;
    for (int k = 0; k < od_instance_class(m, e)->outs; k++) dout[k] *= per_number[state];
    add_change(m, w, d, e, dout);
  }
}

// Adds the effect of the number of a node: its volume or its pressure.
static void change_node(const od_model *m, double *w, const change *d, int node) {
  const od_layout *l = &m->layout;
  const od_node *n = &m->node[node];
  if (n->kind == OD_NODE_VOLUME) {
    double share = is_squeezed_r(m, w, node) ? least_volume_r : 1;
    d->rate[n->state * d->stride] += d->sign * share * volume_slope(m, w, node);
    return;
  }
  // The pressure of a tank or source acts through all elements that read this pressure.
  double dp = n->input >= 0 ? w[l->u + n->input] : 1, dout[OD_MOST_OUT];
  for (int i = 0; i < m->instances; i++) {
    const od_instance *e = &m->instance[i];
    const od_element_class *c = od_instance_class(m, e);
    double din[OD_MOST_IN];
    bool sees = false;
    for (int j = 0; j < c->ins; j++) {
      bool is_there = m->join.node[e->in - l->in + j] == node;
      din[j] = is_there ? dp : 0;
      sees = sees || is_there;
    }
    if (!sees) continue;
    for (int k = 0; k < c->outs; k++) dout[k] = od_element_out_tangent(m, w, i, k, din);
    add_change(m, w, d, e, dout);
  }
}

// Adds indirect effects of a number: the heat, and rates through the pressures of junctions.
static OD_APART void change_indirect(const od_model *m, double *w, const change *d, od_circuit_number n) {
  if (od_model_has_heat(m)) d->rate[m->join.warms * d->stride] += d->sign * heat_gain(m, w) * heat_by_number(m, w, n);
  for (int i = 0; i < od_model_junctions(m); i++) {
    double dp = junction_change(m, w, i, d->junction);
    for (int k = 0; k < m->circuit_states && dp != 0; k++)
      d->rate[k * d->stride] += d->sign * od_rate_slope(m, w, k, junction_column(m) + i) * dp;
  }
}

void od_circuit_number_slopes(const od_model *m, double *w, od_circuit_number n, double *force, double *rate,
                              double sign, int stride) {
  change d = {force, rate, sign, stride, w + m->layout.junction_change};
  for (int i = 0; i < od_model_junctions(m); i++) d.junction[i] = 0;
  switch (n.owner) {
    case OD_OWNER_ELEMENT: change_elements(m, w, &d, n.index, n.place); break;
    case OD_OWNER_OIL: change_oil(m, w, &d, n.place); break;
    case OD_OWNER_NODE: change_node(m, w, &d, n.index); break;
    case OD_OWNER_NONE: break;
  }
  if (m->join.indirect) change_indirect(m, w, &d, n);
}

static int oil_numbers(od_oil_law law) {
  return OD_OIL_LAW + (law == OD_OIL_CONSTANT ? 1 : law == OD_OIL_LINEAR ? 2 : 4);
}

od_circuit_number od_circuit_find_number(const od_model *m, int number) {
  int of_oil = number - m->oil;
  if (m->oil >= 0 && of_oil >= 0 && of_oil < oil_numbers(m->oil_law))
    return (od_circuit_number){OD_OWNER_OIL, 0, of_oil, true, 0};
  int of_viscosity = number - m->viscosity;
  if (m->viscosity >= 0 && of_viscosity >= 0 && of_viscosity < OD_VISCOSITY_NUMBERS)
    return (od_circuit_number){OD_OWNER_OIL, 0, OD_OIL_VISCOSITY + of_viscosity, true, 0};
  for (int i = 0; i < m->nodes; i++)
    if (m->node[i].number == number) return (od_circuit_number){OD_OWNER_NODE, i, 0, true, 0};
  int first = m->join.first_user[number], count = m->join.first_user[number + 1] - first;
  od_circuit_number found = {OD_OWNER_ELEMENT, first, count, false, 0};
  for (int i = first; i < first + count; i++)
    found.pushes = found.pushes || m->instance[m->join.user[i].instance].actuator >= 0;
  return count > 0 ? found : od_circuit_no_number;
}

// Returns the instance whose class computes derivatives with respect to this number, if nothing else depends on the number;
// otherwise -1.
static int sole_user(const od_model *m, const od_circuit_number *n) {
  if (n->owner != OD_OWNER_ELEMENT || n->place != 1 || n->pushes || od_model_has_heat(m)) return -1;
  int instance = m->join.user[n->index].instance;
  for (int k = 0; k < OD_MOST_ENDS; k++) {
    int node = m->instance[instance].end[k];
    if (node >= 0 && m->node[node].junction >= 0) return -1;  // the number also has an effect through the junction
  }
  return od_instance_class(m, &m->instance[instance])->number_slopes ? instance : -1;
}

void od_circuit_find_runs(const od_model *m, od_circuit_number *number, int count) {
  for (int i = count - 1; i >= 0; i--) {
    int instance = sole_user(m, &number[i]);
    bool goes_on = i + 1 < count && sole_user(m, &number[i + 1]) == instance;
    number[i].run = instance < 0 ? 0 : goes_on ? number[i + 1].run + 1 : 1;
  }
}

// ---- outputs along a direction

// Computes the changes din of the inputs of an instance along a direction (last tangent, dc, du); du may be NULL.
static void in_tangent(const od_model *m, const double *w, const od_instance *e, const double *dc, const double *du,
                       double *din) {
  const od_layout *l = &m->layout;
  int states = 2 * m->actuators, signals = states + m->circuit_states, junctions = signals + m->signals;
  for (int j = 0; j < od_instance_class(m, e)->ins; j++) {
    int column = m->join.column[e->in - l->in + j], node = m->join.node[e->in - l->in + j];
    din[j] = column == l->rate_width - 1 ? 0
             : column < m->actuators     ? w[l->dlength + column]
             : column < states           ? w[l->dspeed + column - m->actuators]
             : column < signals          ? dc[column - states]
             : column >= junctions       ? junction_tangent(m, w, column - junctions, dc, du)
             : du                        ? du[column - signals]
                                         : 0;
    if (node >= 0) din[j] *= pressure_gain(m, w, node);
  }
}

static inline double temperature_tangent(const od_model *m, const double *dc) {
  return od_model_has_heat(m) ? dc[m->join.warms] : 0;
}

static double out_tangent(const od_model *m, const double *w, int instance, int out, const double *din,
                          const double *dc) {
  double sum = od_element_out_tangent(m, w, instance, out, din), warmer = temperature_tangent(m, dc);
  return warmer == 0 ? sum : sum + warmer * out_by_temperature(m, w, &m->instance[instance], out);
}

// Returns the change of a report of an instance for changes din of its inputs and for the change of temperature in dc.
static double report_tangent(const od_model *m, double *w, int instance, int report, const double *din,
                             const double *dc) {
  double warmer = temperature_tangent(m, dc), doil[OD_OIL_STATES], dout[OD_MOST_OUT];
  if (warmer == 0) return od_element_report_change(m, w, instance, report, din, NULL, NULL);
  oil_by_temperature(m, w, doil);
  for (int i = 0; i < OD_OIL_STATES; i++) doil[i] *= warmer;
  const od_instance *e = &m->instance[instance];
  for (int k = 0; k < od_instance_class(m, e)->outs; k++) dout[k] = warmer * out_by_temperature(m, w, e, k);
  return od_element_report_change(m, w, instance, report, din, dout, doil);
}

static double heat_tangent(const od_model *m, double *w, const double *dc, const double *du) {
  double sum = 0, din[OD_MOST_IN];
  for (int i = 0; i < m->join.heaters; i++) {
    in_tangent(m, w, &m->instance[m->join.heater[i].instance], dc, du, din);
    sum += report_tangent(m, w, m->join.heater[i].instance, m->join.heater[i].report, din, dc);
  }
  return sum;
}

static double pressure_tangent(const od_model *m, const double *w, int node, const double *dc, const double *du) {
  const od_node *n = &m->node[node];
  if (n->state >= 0) return pressure_gain(m, w, node) * dc[n->state];
  if (n->junction >= 0) return junction_tangent(m, w, n->junction, dc, du);
  return du && n->input >= 0 ? pressure_gain(m, w, node) * du[n->input] : 0;
}

// Returns the change, along a direction, of the sum of all outputs that are added to the target `to`.
static double sum_tangent(const od_model *m, const double *w, int to, const double *dc, const double *du) {
  double sum = 0, din[OD_MOST_IN];
  for (int i = 0; i < m->instances; i++) {
    const od_instance *e = &m->instance[i];
    bool ready = false;
    for (int k = e->target; k < e->target + e->targets; k++) {
      const od_target *s = &m->join.target[k];
      if (s->to != to) continue;
      if (!ready) in_tangent(m, w, e, dc, du, din);
      ready = true;
      sum += s->sign * out_tangent(m, w, i, s->from - e->out, din, dc);
    }
  }
  return sum;
}

static double force_tangent(const od_model *m, const double *w, int i, const double *dc, const double *du) {
  const od_layout *l = &m->layout;
  const double *row = w + l->force_row + i * l->force_width;
  double sum = row[0] * w[l->dlength + i] + row[1] * w[l->dspeed + i];
  for (int k = 0; k < m->circuit_states; k++) sum += row[2 + k] * dc[k];
  for (int k = 0; du && k < m->signals; k++) sum += row[2 + m->circuit_states + k] * du[k];
  return sum;
}

// Returns the change of an output of an instance along states dc, inputs du and the last tangent.
static double element_tangent(const od_model *m, double *w, const od_output *o, int instance, const double *dc,
                              const double *du) {
  if (instance < 0) return 0;
  const od_instance *e = &m->instance[instance];
  double din[OD_MOST_IN];
  if (o->kind == OD_OUT_ELEMENT_STATE) {
    int state = e->state[o->component];
    return state >= 0 ? dc[state] : du ? du[e->signal] : 0;
  }
  in_tangent(m, w, e, dc, du, din);
  if (od_model_has_heat(m) && instance == m->join.reservoir) din[m->join.heat_in - e->in] = heat_tangent(m, w, dc, du);
  if (o->kind == OD_OUT_ELEMENT) return out_tangent(m, w, instance, o->component, din, dc);
  return report_tangent(m, w, instance, o->component, din, dc);
}

double od_circuit_stored_tangent(const od_model *m, double *w, const double *dc, const double *du) {
  double sum = 0, din[OD_MOST_IN];
  for (int i = 0; i < m->instances; i++) {
    in_tangent(m, w, &m->instance[i], dc, du, din);
    sum += report_tangent(m, w, i, OD_REPORT_STORED, din, dc);
  }
  return sum;
}

static double node_void_tangent(const od_model *m, const double *w, int node, double growth, const double *dc) {
  if (!cavitates_r(m, w, node)) return 0;
  const od_layout *l = &m->layout;
  int state = m->node[node].state;
  return -dc[state] / w[l->stiffness + node] - w[l->c + state] * growth / w[l->modulus + node];
}

// Returns the change of the mass of oil in a node. growth: change of the node's volume.
static double node_mass_tangent(const od_model *m, const double *w, int node, double growth, const double *dc) {
  const od_layout *l = &m->layout;
  double density = oil_density_r(m, w, w[l->pressure + node]);
  double squeezed = cavitates_r(m, w, node)
                        ? -node_void_tangent(m, w, node, growth, dc)
                        : node_volume_r(m, w, node) * dc[m->node[node].state] / w[l->modulus + node];
  return density * (growth + squeezed);
}

static double volume_tangent(const od_model *m, const double *w, int node, const double *dc, const double *du) {
  return is_squeezed_r(m, w, node) ? 0 : sum_tangent(m, w, m->layout.volume + node, dc, du);
}

double od_circuit_oil_tangent(const od_model *m, double *w, const double *dc, const double *du) {
  double sum = 0;
  for (int i = 0; i < m->nodes; i++)
    if (m->node[i].state >= 0) sum += node_mass_tangent(m, w, i, volume_tangent(m, w, i, dc, du), dc);
  return sum;
}

// Returns the change of an output for changes of lengths and speeds by the last tangent (dlength, dspeed), states dc, inputs du.
double od_circuit_output_tangent(const od_model *m, double *w, const od_output *o, const double *dc, const double *du) {
  const od_layout *l = &m->layout;
  int i = o->index;
  switch (o->kind) {
    case OD_OUT_NODE_PRESSURE: return pressure_tangent(m, w, i, dc, du);
    case OD_OUT_NODE_INFLOW: return OD_SHOWS(OD_OUT_NODE_INFLOW) ? sum_tangent(m, w, l->inflow + i, dc, du) : 0;
    case OD_OUT_NODE_VOID:
      return OD_SHOWS(OD_OUT_NODE_VOID) ? node_void_tangent(m, w, i, volume_tangent(m, w, i, dc, du), dc) : 0;
    case OD_OUT_NODE_MASS:
      return OD_SHOWS(OD_OUT_NODE_MASS) ? node_mass_tangent(m, w, i, volume_tangent(m, w, i, dc, du), dc) : 0;
    case OD_OUT_PRESSURE_DIFFERENCE:
      return pressure_tangent(m, w, i, dc, du) - pressure_tangent(m, w, o->second, dc, du);
    case OD_OUT_LENGTH: return w[l->dlength + i];
    case OD_OUT_SPEED: return w[l->dspeed + i];
    case OD_OUT_FORCE: return OD_SHOWS(OD_OUT_FORCE) ? force_tangent(m, w, i, dc, du) : 0;
    case OD_OUT_ELEMENT:
    case OD_OUT_REPORT:
    case OD_OUT_ELEMENT_STATE: {
      if (!OD_SHOWS_ELEMENTS) return 0;
      double sum = element_tangent(m, w, o, i, dc, du) + element_tangent(m, w, o, o->second, dc, du);
      return o->negative ? -sum : sum;
    }
    case OD_OUT_BLOCK_STATE: return dc[i];
    default: return 0;
  }
}
