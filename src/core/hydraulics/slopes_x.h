// Derivatives of the circuit, all by hand: by lengths, speeds, states and inputs once per point (into the matrices of
// the work memory), and by any number of the circuit on demand.

// ---- local slopes

static double bulk_slope(const od_model *m, const double *w, double p) {
  const double *q = w + m->layout.theta + m->oil + OD_OIL_LAW;
  switch (m->oil_law) {
    case OD_OIL_CONSTANT: return 0;
    case OD_OIL_LINEAR: return q[1];
    case OD_OIL_AIR: {
      if (p <= 1e3 || q[1] <= 0) return 0;
      double share = air_share(q, p), modulus = bulk_modulus(m, w, p);
      double dshare = -share * (1 - share) / (q[3] * p);
      double dcompliance = dshare * (1 / (q[3] * p) - 1 / q[0]) - share / (q[3] * p * p);
      return -modulus * modulus * dcompliance;
    }
  }
  return 0;
}

// By the law's own numbers.
static double bulk_number_slope(const od_model *m, const double *w, double p, int number) {
  const double *q = w + m->layout.theta + m->oil + OD_OIL_LAW;
  if (m->oil_law != OD_OIL_AIR) return number == 0 ? 1 : p;
  double floor = p > 1e3 ? p : 1e3, share = air_share(q, floor), modulus = bulk_modulus(m, w, p);
  if (q[1] <= 0) return number == 0 ? 1 : 0;
  double square = -modulus * modulus, by_share = 1 / (q[3] * floor) - 1 / q[0], grown = share * (1 - share);
  switch (number) {
    case 0: return square * -(1 - share) / (q[0] * q[0]);
    case 1: return square * by_share * grown / (q[1] * (1 - q[1]));
    case 2: return square * by_share * grown / (q[3] * q[2]);
    default: return square * (by_share * grown * log(floor / q[2]) / (q[3] * q[3]) - share / (q[3] * q[3] * floor));
  }
}

// d smooth_root / d dp and / d e.
static inline double root_slope(double dp, double e) {
  double s = dp * dp + e * e;
  return (dp * dp / 2 + e * e) / (s * sqrt(sqrt(s)));
}
static inline double root_smoothing_slope(double dp, double e) {
  double s = dp * dp + e * e;
  return -dp * e / 2 / (s * sqrt(sqrt(s)));
}
static inline double ramp_slope(double x, double e) {
  return x <= 0 ? 0 : x < e ? x / e : 1;
}
static inline double step_slope(double x) {
  return x <= 0 || x >= 1 ? 0 : 6 * x * (1 - x);
}

// d opening / d travel of an open port; zero where the travel has reached the curve's end.
static double opening_slope(const od_model *m, const double *w, const od_flow *f, const X(port_state) * s) {
  const od_valve *valve = &m->valve[f->valve];
  const double *q = w + m->layout.theta + valve->number, *at = w + m->layout.theta + f->number + 1;
  if (s->travel >= at[f->count - 1]) return 0;
  if (valve->law == OD_VALVE_OPENING) return s->curve.slope / q[OD_VALVE_FULL];
  return (s->curve.slope * s->travel + s->curve.y) / (q[OD_VALVE_FULL] * q[OD_VALVE_STROKE]);
}

// A flow by the pressure difference, by its valve's spool and by its own input.
typedef struct flow_slopes {
  double dp, spool, input;
} flow_slopes;

static flow_slopes flow_derivatives(const od_model *m, const double *w, int i) {
  const od_layout *l = &m->layout;
  const od_flow *f = &m->flow[i];
  const double *q = w + l->theta + f->number;
  double input = f->input >= 0 ? w[l->u + f->input] : 1;
  if (f->kind == OD_FLOW_PUMP) return (flow_slopes){.input = f->input >= 0 ? q[0] : 0};
  double dp = w[l->pressure + f->a] - w[l->pressure + f->b], e = w[l->theta + m->oil + OD_OIL_SMOOTHING];
  switch (f->kind) {
    case OD_FLOW_ORIFICE: {
      double K = q[0] * q[1] * q[2] * w[l->oil_factor];
      return (flow_slopes){.dp = K * input * root_slope(dp, e), .input = f->input >= 0 ? K * smooth_root(dp, e) : 0};
    }
    case OD_FLOW_RELIEF: return (flow_slopes){.dp = q[1] * ramp_slope(dp - q[0], e)};
    case OD_FLOW_CHECK: {
      double K = q[0] * q[1] * w[l->oil_factor], x = (dp - q[2]) / (q[3] - q[2]);
      return (flow_slopes){
          .dp = K * (smooth_step(x) * root_slope(dp, e) + step_slope(x) / (q[3] - q[2]) * smooth_root(dp, e))};
    }
    case OD_FLOW_LEAK: return (flow_slopes){.dp = q[0]};
    case OD_FLOW_PORT: {
      const X(port_state) *s = port_state(m, w, i);
      if (!s->open) return (flow_slopes){0};
      const double *v = w + l->theta + m->valve[f->valve].number;
      double K = v[OD_VALVE_AREA] * v[OD_VALVE_DISCHARGE] * w[l->oil_factor];
      return (flow_slopes){.dp = K * s->opening * root_slope(dp, e),
                           .spool = s->full_flow * f->side * opening_slope(m, w, f, s)};
    }
    case OD_FLOW_PUMP: break;
  }
  return (flow_slopes){0};
}

// Stop force by position and speed.
static void stop_slopes(const double *q, double x, double v, double *by_x, double *by_v) {
  X(stop) s = stop_evaluate(q, x, v);
  *by_x = s.side ? -q[OD_CYLINDER_STOP_STIFFNESS] * s.grip : 0;
  *by_v = s.grip > 0 ? -q[OD_CYLINDER_STOP_STIFFNESS] * s.depth * q[OD_CYLINDER_STOP_DAMPING] : 0;
}

// Whether a node's volume is held at its least.
static bool volume_is_least(const od_model *m, const double *w, int node) {
  const od_layout *l = &m->layout;
  double volume = w[l->theta + m->node[node].number];
  for (int i = 0; i < m->cylinders; i++) {
    const od_cylinder *c = &m->cylinder[i];
    const double *q = w + l->theta + c->number;
    double x = w[l->length + i] - q[OD_CYLINDER_CLOSED];
    if (c->node_a == node) volume += q[OD_CYLINDER_DEAD_A] + cylinder_area_a(c, q) * x;
    if (c->node_b == node) volume += q[OD_CYLINDER_DEAD_B] + cylinder_area_b(c, q) * (q[OD_CYLINDER_STROKE] - x);
  }
  return volume < w[l->volume + node];
}

// ---- the matrices

// Rows of derivatives by states and by inputs.
typedef struct rows {
  double *state, *input;
} rows;

// Adds factor * dp of a node.
static inline void add_pressure(const od_model *m, const double *w, rows r, int node, double factor) {
  const od_node *n = &m->node[node];
  if (n->state >= 0) {
    if (!cavitates(m, w, node)) r.state[n->state] += factor;
  } else if (n->input >= 0) {
    r.input[n->input] += factor * w[m->layout.theta + n->number];
  }
}
static inline void add_spool(const od_model *m, rows r, int valve, double factor) {
  const od_valve *v = &m->valve[valve];
  if (v->state >= 0)
    r.state[v->state] += factor;
  else
    r.input[v->input] += factor;
}

static rows rate_rows(const od_model *m, double *w, int state) {
  return (rows){w + m->layout.rate_state + state * m->circuit_states, w + m->layout.rate_input + state * m->signals};
}

// What one unit of additional inflow does to the pressure of a node, zero for tanks and sources.
static inline double stiffness(const od_model *m, const double *w, int node) {
  return node >= 0 && m->node[node].state >= 0 ? w[m->layout.modulus + node] / w[m->layout.volume + node] : 0;
}

static void flow_rows(const od_model *m, double *w, int i) {
  const od_flow *f = &m->flow[i];
  flow_slopes s = flow_derivatives(m, w, i);
  for (int end = 0; end < 2; end++) {
    int node = end ? f->b : f->a;
    double factor = (end ? 1 : -1) * stiffness(m, w, node);
    if (factor == 0) continue;
    rows r = rate_rows(m, w, m->node[node].state);
    if (f->kind != OD_FLOW_PUMP) {
      add_pressure(m, w, r, f->a, factor * s.dp);
      add_pressure(m, w, r, f->b, -factor * s.dp);
    }
    if (f->kind == OD_FLOW_PORT) add_spool(m, r, f->valve, factor * s.spool);
    if (f->input >= 0) r.input[f->input] += factor * s.input;
  }
}

static void cylinder_rows(const od_model *m, double *w, int i) {
  const od_layout *l = &m->layout;
  const od_cylinder *c = &m->cylinder[i];
  const double *q = w + l->theta + c->number;
  double area[2] = {cylinder_area_a(c, q), cylinder_area_b(c, q)};
  double x = w[l->length + i] - q[OD_CYLINDER_CLOSED], by_x, by_v;
  rows r = {w + l->force_state + i * m->circuit_states, w + l->force_input + i * m->signals};
  add_pressure(m, w, r, c->node_a, area[0]);
  add_pressure(m, w, r, c->node_b, -area[1]);
  stop_slopes(q, x, w[l->speed + i], &by_x, &by_v);
  w[l->force_length + i] += by_x;
  w[l->force_speed + i] += by_v;
  for (int end = 0; end < 2; end++) {
    int node = end ? c->node_b : c->node_a, state = m->node[node].state;
    double sign = end ? -1 : 1;
    if (state < 0) continue;
    w[l->rate_speed + state * m->actuators + i] -= sign * stiffness(m, w, node) * area[end];
    if (!volume_is_least(m, w, node))
      w[l->rate_length + state * m->actuators + i] -= sign * area[end] * w[l->rate + state] / w[l->volume + node];
  }
}

static void X(circuit_linearise)(const od_model *m, double *w) {
  const od_layout *l = &m->layout;
  int na = m->actuators, nc = m->circuit_states, nu = m->signals;
  // From force_length to rate_input the matrices stand one after another.
  for (int i = l->force_length; i < l->rate_input + nc * nu; i++) w[i] = 0;
  for (int i = 0; i < na; i++) {
    int friction = m->actuator[i].friction;
    if (friction < 0) continue;
    const od_friction *f = &m->friction[friction];
    w[l->force_speed + i] = -friction_slope(f->law, w + l->theta + f->number, w[l->speed + i], NULL);
  }
  for (int i = 0; i < m->flows; i++) flow_rows(m, w, i);
  for (int i = 0; i < m->cylinders; i++) cylinder_rows(m, w, i);
  for (int i = 0; i < m->nodes; i++) {
    int state = m->node[i].state;
    if (state < 0) continue;
    double slope = bulk_slope(m, w, w[l->pressure + i]) / w[l->volume + i] * w[l->inflow + i];
    add_pressure(m, w, rate_rows(m, w, state), i, slope);
  }
  for (int i = 0; i < m->valves; i++) {
    const od_valve *v = &m->valve[i];
    if (v->state < 0) continue;
    double speed = 1 / w[l->theta + v->number + OD_VALVE_TIME_CONSTANT];
    rows r = rate_rows(m, w, v->state);
    r.state[v->state] -= speed;
    r.input[v->input] += speed;
  }
}

// ---- by numbers

// Where changes of forces and, times a sign, of rates go; entries of rate stand `stride` apart.
typedef struct change {
  double *force, *rate, sign;
  int stride;
} change;

// Adds to the rate of a node's pressure; tanks and sources have none.
static inline void change_rate(const od_model *m, const change *d, int node, double by) {
  if (node >= 0 && m->node[node].state >= 0) d->rate[m->node[node].state * d->stride] += d->sign * by;
}

static void change_flow(const od_model *m, const double *w, const change *d, int flow, double dQ) {
  const od_flow *f = &m->flow[flow];
  change_rate(m, d, f->a, -stiffness(m, w, f->a) * dQ);
  change_rate(m, d, f->b, stiffness(m, w, f->b) * dQ);
}

// A volume changes by dV, its largest by most.
static void change_volume(const od_model *m, const double *w, const change *d, int node, double dV, double most) {
  int state = m->node[node].state;
  if (state < 0) return;
  double larger = volume_is_least(m, w, node) ? least_volume * most : dV;
  change_rate(m, d, node, -w[m->layout.rate + state] / w[m->layout.volume + node] * larger);
}

static void change_oil(const od_model *m, const double *w, const change *d, int number) {
  const od_layout *l = &m->layout;
  if (number >= OD_OIL_LAW) {
    for (int i = 0; i < m->nodes; i++) {
      if (m->node[i].state < 0) continue;
      double slope = bulk_number_slope(m, w, w[l->pressure + i], number - OD_OIL_LAW);
      change_rate(m, d, i, slope / w[l->volume + i] * w[l->inflow + i]);
    }
    return;
  }
  double e = w[l->theta + m->oil + OD_OIL_SMOOTHING], density = w[l->theta + m->oil + OD_OIL_DENSITY];
  for (int i = 0; i < m->flows; i++) {
    const od_flow *f = &m->flow[i];
    bool throttles = f->kind == OD_FLOW_ORIFICE || f->kind == OD_FLOW_CHECK || f->kind == OD_FLOW_PORT;
    if (number == OD_OIL_DENSITY) {
      if (throttles) change_flow(m, w, d, i, -w[l->flow + i] / (2 * density));
      continue;
    }
    if (!throttles && f->kind != OD_FLOW_RELIEF) continue;
    double dp = w[l->pressure + f->a] - w[l->pressure + f->b];
    if (f->kind == OD_FLOW_RELIEF) {
      double x = dp - w[l->theta + f->number];
      change_flow(m, w, d, i, x <= 0 ? 0 : w[l->theta + f->number + 1] * (x < e ? -x * x / (2 * e * e) : -0.5));
    } else if (dp != 0) {
      change_flow(m, w, d, i, w[l->flow + i] / smooth_root(dp, e) * root_smoothing_slope(dp, e));
    }
  }
}

static void change_node(const od_model *m, double *w, const change *d, int node) {
  const od_layout *l = &m->layout;
  if (m->node[node].kind == OD_NODE_VOLUME) {
    change_volume(m, w, d, node, 1, 1);
    return;
  }
  // A tank's or source's pressure: through flows and forces.
  double dp = m->node[node].input >= 0 ? w[l->u + m->node[node].input] : 1;
  for (int i = 0; i < m->flows; i++) {
    const od_flow *f = &m->flow[i];
    if (f->kind == OD_FLOW_PUMP || (f->a != node && f->b != node)) continue;
    change_flow(m, w, d, i, ((f->a == node) - (f->b == node)) * dp * flow_derivatives(m, w, i).dp);
  }
  for (int i = 0; i < m->cylinders; i++) {
    const od_cylinder *c = &m->cylinder[i];
    const double *q = w + l->theta + c->number;
    if (c->node_a == node) d->force[i] += cylinder_area_a(c, q) * dp;
    if (c->node_b == node) d->force[i] -= cylinder_area_b(c, q) * dp;
  }
}

static void change_port(const od_model *m, const double *w, const change *d, int flow, int number) {
  const od_layout *l = &m->layout;
  const od_flow *f = &m->flow[flow];
  const X(port_state) *s = port_state(m, w, flow);
  if (!s->open) return;
  if (number == 0) {
    change_flow(m, w, d, flow, -s->full_flow * opening_slope(m, w, f, s));
    return;
  }
  // A control point: through the basis functions; its abscissa also through the slope.
  int point = (number - 1) % f->count, place = point - s->curve.first;
  if (place < 0 || place > f->degree) return;
  const od_valve *valve = &m->valve[f->valve];
  const double *v = w + l->theta + valve->number, *at = w + l->theta + f->number + 1;
  bool abscissa = number - 1 < f->count;
  double per_value = 1 / v[OD_VALVE_FULL] * (valve->law == OD_VALVE_COEFFICIENT ? s->travel / v[OD_VALVE_STROKE] : 1);
  double dopening = per_value * s->curve.B[place] * (abscissa ? -s->curve.slope : 1);
  // At the curve's end the travel is the last abscissa itself.
  if (abscissa && s->travel >= at[f->count - 1] && point == f->count - 1 && valve->law == OD_VALVE_COEFFICIENT)
    dopening += s->curve.y / (v[OD_VALVE_FULL] * v[OD_VALVE_STROKE]);
  change_flow(m, w, d, flow, s->full_flow * dopening);
}

static void change_flow_number(const od_model *m, const double *w, const change *d, int flow, int number) {
  const od_layout *l = &m->layout;
  const od_flow *f = &m->flow[flow];
  const double *q = w + l->theta + f->number;
  double input = f->input >= 0 ? w[l->u + f->input] : 1, dQ = 0;
  double dp = f->a >= 0 ? w[l->pressure + f->a] - w[l->pressure + f->b] : 0,
         e = m->oil >= 0 ? w[l->theta + m->oil + OD_OIL_SMOOTHING] : 0;
  switch (f->kind) {
    case OD_FLOW_PUMP: dQ = input; break;
    case OD_FLOW_ORIFICE: {
      double factor = input * w[l->oil_factor] * smooth_root(dp, e);
      dQ = factor * (number == 0 ? q[1] * q[2] : number == 1 ? q[0] * q[2] : q[0] * q[1]);
      break;
    }
    case OD_FLOW_RELIEF: dQ = number == 0 ? -q[1] * ramp_slope(dp - q[0], e) : rounded_ramp(dp - q[0], e); break;
    case OD_FLOW_CHECK: {
      double x = (dp - q[2]) / (q[3] - q[2]), K = w[l->oil_factor] * smooth_root(dp, e), width = q[3] - q[2];
      if (number < 2)
        dQ = K * smooth_step(x) * q[1 - number];
      else
        dQ = q[0] * q[1] * K * step_slope(x) * (number == 2 ? (x - 1) / width : -x / width);
      break;
    }
    case OD_FLOW_LEAK: dQ = dp; break;
    case OD_FLOW_PORT: break;
  }
  change_flow(m, w, d, flow, dQ);
}

static void change_valve(const od_model *m, const double *w, const change *d, int valve, int number) {
  const od_layout *l = &m->layout;
  const od_valve *v = &m->valve[valve];
  const double *q = w + l->theta + v->number;
  if (number == OD_VALVE_TIME_CONSTANT) {
    if (v->state >= 0) d->rate[v->state * d->stride] -= d->sign * w[l->rate + v->state] / q[number];
    return;
  }
  for (int i = 0; i < m->flows; i++) {
    const od_flow *f = &m->flow[i];
    if (f->kind != OD_FLOW_PORT || f->valve != valve) continue;
    double Q = w[l->flow + i];
    switch (number) {
      case OD_VALVE_AREA:
      case OD_VALVE_DISCHARGE: change_flow(m, w, d, i, Q / q[number]); break;
      case OD_VALVE_FULL: change_flow(m, w, d, i, -Q / q[number]); break;
      case OD_VALVE_STROKE:
        if (v->law == OD_VALVE_COEFFICIENT) change_flow(m, w, d, i, -Q / q[number]);
        break;
      case OD_VALVE_DEAD_BAND: change_port(m, w, d, i, 0); break;
    }
  }
}

static void change_cylinder(const od_model *m, double *w, const change *d, int i, int number) {
  const od_layout *l = &m->layout;
  const od_cylinder *c = &m->cylinder[i];
  const double *q = w + l->theta + c->number;
  double x = w[l->length + i] - q[OD_CYLINDER_CLOSED], v = w[l->speed + i], by_x, by_v;
  double a = cylinder_area_a(c, q), b = cylinder_area_b(c, q), da = 0, db = 0;
  stop_slopes(q, x, v, &by_x, &by_v);
  switch (number) {
    case OD_CYLINDER_A: da = c->diameters ? 2 * OD_QUARTER_PI * q[0] : 1, db = c->diameters ? da : 0; break;
    case OD_CYLINDER_B: db = c->diameters ? -2 * OD_QUARTER_PI * q[1] : 1; break;
    case OD_CYLINDER_CLOSED:
      d->force[i] -= by_x;
      change_volume(m, w, d, c->node_a, -a, 0);
      change_volume(m, w, d, c->node_b, b, 0);
      return;
    case OD_CYLINDER_STROKE:
      if (x > q[number]) d->force[i] -= by_x;
      change_volume(m, w, d, c->node_a, 0, a);
      change_volume(m, w, d, c->node_b, b, b);
      return;
    case OD_CYLINDER_DEAD_A: change_volume(m, w, d, c->node_a, 1, 1); return;
    case OD_CYLINDER_DEAD_B: change_volume(m, w, d, c->node_b, 1, 1); return;
    case OD_CYLINDER_STOP_STIFFNESS: {
      X(stop) s = stop_evaluate(q, x, v);
      d->force[i] -= s.side * s.depth * s.grip;
      return;
    }
    case OD_CYLINDER_STOP_DAMPING: {
      X(stop) s = stop_evaluate(q, x, v);
      if (s.grip > 0) d->force[i] -= s.side * q[OD_CYLINDER_STOP_STIFFNESS] * s.depth * s.inward;
      return;
    }
  }
  d->force[i] += w[l->pressure + c->node_a] * da - w[l->pressure + c->node_b] * db;
  change_volume(m, w, d, c->node_a, da * x, da * q[OD_CYLINDER_STROKE]);
  change_volume(m, w, d, c->node_b, db * (q[OD_CYLINDER_STROKE] - x), db * q[OD_CYLINDER_STROKE]);
  change_rate(m, d, c->node_a, -stiffness(m, w, c->node_a) * da * v);
  change_rate(m, d, c->node_b, stiffness(m, w, c->node_b) * db * v);
}

static void change_friction(const od_model *m, const double *w, const change *d, int friction, int number) {
  const od_layout *l = &m->layout;
  const od_friction *f = &m->friction[friction];
  double dq[4];
  for (int i = 0; i < m->actuators; i++) {
    if (m->actuator[i].friction != friction) continue;
    friction_slope(f->law, w + l->theta + f->number, w[l->speed + i], dq);
    d->force[i] -= dq[number];
  }
}

// Adds what forces and rates change by with one number of the circuit, as od_circuit_find_number() describes it.
static void X(circuit_number_slopes)(const od_model *m, double *w, od_circuit_number n, double *force, double *rate,
                                     double sign, int stride) {
  change d = {force, rate, sign, stride};
  // Curves have most of the numbers that are estimated.
  if (n.owner == OD_OWNER_FLOW && m->flow[n.index].kind == OD_FLOW_PORT) {
    change_port(m, w, &d, n.index, n.place);
    return;
  }
  switch (n.owner) {
    case OD_OWNER_OIL: change_oil(m, w, &d, n.place); break;
    case OD_OWNER_NODE: change_node(m, w, &d, n.index); break;
    case OD_OWNER_FLOW: change_flow_number(m, w, &d, n.index, n.place); break;
    case OD_OWNER_VALVE: change_valve(m, w, &d, n.index, n.place); break;
    case OD_OWNER_CYLINDER: change_cylinder(m, w, &d, n.index, n.place); break;
    case OD_OWNER_FRICTION: change_friction(m, w, &d, n.index, n.place); break;
    case OD_OWNER_NONE: break;
  }
}

// ---- outputs along a direction

// The motion of everything the circuit depends on; du may be NULL.
static double pressure_tangent(const od_model *m, const double *w, int node, const double *dc, const double *du) {
  if (node < 0) return 0;
  const od_node *n = &m->node[node];
  if (n->state >= 0) return cavitates(m, w, node) ? 0 : dc[n->state];
  return du && n->input >= 0 ? w[m->layout.theta + n->number] * du[n->input] : 0;
}
static double spool_tangent(const od_model *m, int valve, const double *dc, const double *du) {
  const od_valve *v = &m->valve[valve];
  return v->state >= 0 ? dc[v->state] : du ? du[v->input] : 0;
}
static double flow_tangent(const od_model *m, const double *w, int i, const double *dc, const double *du) {
  const od_flow *f = &m->flow[i];
  flow_slopes s = flow_derivatives(m, w, i);
  double sum = du && f->input >= 0 ? s.input * du[f->input] : 0;
  if (f->kind != OD_FLOW_PUMP)
    sum += s.dp * (pressure_tangent(m, w, f->a, dc, du) - pressure_tangent(m, w, f->b, dc, du));
  return f->kind == OD_FLOW_PORT ? sum + s.spool * spool_tangent(m, f->valve, dc, du) : sum;
}
static double force_tangent(const od_model *m, const double *w, int i, const double *dc, const double *du) {
  const od_layout *l = &m->layout;
  double sum = w[l->force_length + i] * w[l->dlength + i] + w[l->force_speed + i] * w[l->dspeed + i];
  for (int k = 0; k < m->circuit_states; k++) sum += w[l->force_state + i * m->circuit_states + k] * dc[k];
  for (int k = 0; du && k < m->signals; k++) sum += w[l->force_input + i * m->signals + k] * du[k];
  return sum;
}
static double inflow_tangent(const od_model *m, const double *w, int node, const double *dc, const double *du) {
  const od_layout *l = &m->layout;
  double sum = 0;
  for (int i = 0; i < m->flows; i++)
    if (m->flow[i].a == node || m->flow[i].b == node)
      sum += ((m->flow[i].b == node) - (m->flow[i].a == node)) * flow_tangent(m, w, i, dc, du);
  for (int i = 0; i < m->cylinders; i++) {
    const od_cylinder *c = &m->cylinder[i];
    const double *q = w + l->theta + c->number;
    if (c->node_a == node) sum -= cylinder_area_a(c, q) * w[l->dspeed + i];
    if (c->node_b == node) sum += cylinder_area_b(c, q) * w[l->dspeed + i];
  }
  return sum;
}

static double loss_tangent(const od_model *m, const double *w, int i) {
  const od_layout *l = &m->layout;
  double v = w[l->speed + i], dv = w[l->dspeed + i], sum = 0;
  int friction = m->actuator[i].friction;
  if (friction >= 0) {
    const od_friction *f = &m->friction[friction];
    const double *q = w + l->theta + f->number;
    sum = (friction_slope(f->law, q, v, NULL) * v + friction_force(f->law, q, v)) * dv;
  }
  if (m->actuator[i].cylinder < 0) return sum;
  const double *q = w + l->theta + m->cylinder[i].number;
  X(stop) s = cylinder_stop(m, w, i);
  double ddepth = s.side * w[l->dlength + i], dinward = s.side * dv,
         dgrip = s.grip > 0 ? q[OD_CYLINDER_STOP_DAMPING] * dinward : 0;
  return sum + q[OD_CYLINDER_STOP_STIFFNESS] *
                   (ddepth * (s.grip - 1) * s.inward + s.depth * dgrip * s.inward + s.depth * (s.grip - 1) * dinward);
}

static double X(circuit_stored_tangent)(const od_model *m, const double *w) {
  double sum = 0;
  for (int i = 0; i < m->cylinders; i++) {
    X(stop) s = cylinder_stop(m, w, i);
    sum += w[m->layout.theta + m->cylinder[i].number + OD_CYLINDER_STOP_STIFFNESS] * s.depth * s.side *
           w[m->layout.dlength + i];
  }
  return sum;
}

// The change of an output with lengths and speeds as the last tangent left them (dlength, dspeed), states dc, inputs
// du.
static double X(circuit_output_tangent)(const od_model *m, double *w, const od_output *o, const double *dc,
                                        const double *du) {
  const od_layout *l = &m->layout;
  int i = o->index;
  switch (o->kind) {
    case OD_OUT_NODE_PRESSURE: return pressure_tangent(m, w, i, dc, du);
    case OD_OUT_NODE_INFLOW: return inflow_tangent(m, w, i, dc, du);
    case OD_OUT_NODE_POWER:
      return pressure_tangent(m, w, i, dc, du) * w[l->inflow + i] +
             w[l->pressure + i] * inflow_tangent(m, w, i, dc, du);
    case OD_OUT_FLOW: return flow_tangent(m, w, i, dc, du);
    case OD_OUT_FLOW_POWER: {
      const od_flow *f = &m->flow[i];
      double dp = (f->a >= 0 ? w[l->pressure + f->a] : 0) - w[l->pressure + f->b];
      double ddp = pressure_tangent(m, w, f->a, dc, du) - pressure_tangent(m, w, f->b, dc, du);
      double change_of_loss = flow_tangent(m, w, i, dc, du) * dp + w[l->flow + i] * ddp;
      return f->kind == OD_FLOW_PUMP ? -change_of_loss : change_of_loss;
    }
    case OD_OUT_PORT_OPENING: {
      const X(port_state) *s = port_state(m, w, i);
      if (!s->open) return 0;
      return s->curve.slope * m->flow[i].side * spool_tangent(m, m->flow[i].valve, dc, du);
    }
    case OD_OUT_SPOOL: return spool_tangent(m, i, dc, du);
    case OD_OUT_CYLINDER_LENGTH: return w[l->dlength + i];
    case OD_OUT_CYLINDER_RATE: return w[l->dspeed + i];
    case OD_OUT_CYLINDER_FORCE: return force_tangent(m, w, i, dc, du);
    case OD_OUT_CYLINDER_FRICTION: {
      int friction = m->actuator[i].friction;
      if (friction < 0) return 0;
      const od_friction *f = &m->friction[friction];
      return friction_slope(f->law, w + l->theta + f->number, w[l->speed + i], NULL) * w[l->dspeed + i];
    }
    case OD_OUT_ACTUATOR_LOSS: return loss_tangent(m, w, i);
    case OD_OUT_BLOCK_STATE: return dc[i];
    default: return 0;
  }
}
