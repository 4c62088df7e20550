// The hydraulic circuit by lumped volumes (eq. 8 of source 1 in docs/theory.md): oil flows between nodes, the pressure
// of a volume changes by p' = B/V (sum of inflows - dV/dt). Cylinders take part with the length and speed of their
// actuators and give forces back. Everything is a function of numbers (theta), states c, inputs u, lengths and speeds,
// all in the work memory.
//
// Below zero pressure oil cavitates: flows and forces then see zero, while the state goes on counting the gap.

static inline bool cavitates(const od_model *m, const od_x *w, int node) {
  int state = m->node[node].state;
  return state >= 0 && RE(w[m->layout.c + state]) < 0;
}

// Pressures as flows and forces see them; spools; sqrt(2/rho).
static inline void circuit_pressures(const od_model *m, od_x *w) {
  const od_layout *l = &m->layout;
  for (int i = 0; i < m->nodes; i++) {
    const od_node *node = &m->node[i];
    od_x *p = w + l->pressure + i;
    if (node->state >= 0)
      *p = cavitates(m, w, i) ? 0 : w[l->c + node->state];
    else
      *p = node->input >= 0 ? w[l->theta + node->number] * w[l->u + node->input] : w[l->theta + node->number];
  }
  for (int i = 0; i < m->valves; i++)
    w[l->spool + i] = m->valve[i].state >= 0 ? w[l->c + m->valve[i].state] : w[l->u + m->valve[i].input];
  if (m->oil >= 0) w[l->oil_factor] = od_x_sqrt(2 / w[l->theta + m->oil + OD_OIL_DENSITY]);
}

// ---- oil

// Entrained air: its share of the volume at pressure p (polytropic), and 1/B as the sum of both compliances.
static inline od_x air_share(const od_x *q, od_x p) {
  od_x rest = (1 - q[1]) / q[1] * od_x_pow(p / q[2], 1 / q[3]);
  return 1 / (1 + rest);
}

static od_x bulk_modulus(const od_model *m, const od_x *w, od_x p) {
  const od_x *q = w + m->layout.theta + m->oil + OD_OIL_LAW;
  switch (m->oil_law) {
    case OD_OIL_CONSTANT: return q[0];
    case OD_OIL_LINEAR: return q[0] + q[1] * p;
    case OD_OIL_AIR: {
      // Air needs some pressure to have a volume at all.
      od_x floor = RE(p) > 1e3 ? p : (od_x)1e3;
      if (RE(q[1]) <= 0) return q[0];
      od_x share = air_share(q, floor);
      return 1 / ((1 - share) / q[0] + share / (q[3] * floor));
    }
  }
  return q[0];
}

// ---- flows

// sqrt(dp) with its sign, smooth through zero: dp / (dp^2 + e^2)^(1/4).
static inline od_x smooth_root(od_x dp, od_x e) {
  return dp / od_x_sqrt(od_x_sqrt(dp * dp + e * e));
}

// max(x, 0) with a rounded corner of width e.
static inline od_x rounded_ramp(od_x x, od_x e) {
  if (RE(x) <= 0) return 0;
  return RE(x) < RE(e) ? x * x / (2 * e) : x - e / 2;
}

// From 0 to 1 while x goes from 0 to 1, with level ends.
static inline od_x smooth_step(od_x x) {
  return RE(x) <= 0 ? 0 : RE(x) >= 1 ? 1 : x * x * (3 - 2 * x);
}

// A port: its spool travel, its curve there, its opening (0 to 1), and what flows through it fully open. It stands in the
// work memory from one evaluation to the next, for derivatives and because a curve is followed quicker than found.
typedef struct X(port_state) {
  X(curve_point) curve;
  od_x travel, opening, full_flow;
  bool open;
} X(port_state);
_Static_assert(sizeof(X(port_state)) <= OD_PORT_SCALARS * sizeof(od_x), "a port's state must fit the layout");

static inline const X(port_state) * port_state(const od_model *m, const od_x *w, int flow) {
  return (const X(port_state) *)(w + m->layout.port + OD_PORT_SCALARS * flow);
}

static inline void port_opening(const od_model *m, const od_x *w, const od_flow *f, X(port_state) * s) {
  const od_layout *l = &m->layout;
  const od_valve *valve = &m->valve[f->valve];
  const od_x *q = w + l->theta + valve->number, *at = w + l->theta + f->number + 1, *value = at + f->count;
  s->travel = f->side * w[l->spool + f->valve] - q[OD_VALVE_DEAD_BAND] - w[l->theta + f->number];
  s->open = RE(s->travel) > 0;
  if (!s->open) return;
  if (RE(s->travel) > RE(at[f->count - 1])) s->travel = at[f->count - 1];
  curve_follow(f->degree, f->count, at, value, s->travel, &s->curve);
  s->opening = s->curve.y / q[OD_VALVE_FULL];
  if (valve->law == OD_VALVE_COEFFICIENT) s->opening *= s->travel / q[OD_VALVE_STROKE];
}

static inline od_x port_flow(const od_model *m, od_x *w, int i, od_x dp, od_x e) {
  const od_layout *l = &m->layout;
  X(port_state) *s = (X(port_state) *)(w + l->port + OD_PORT_SCALARS * i);
  const od_x *v = w + l->theta + m->valve[m->flow[i].valve].number;
  port_opening(m, w, &m->flow[i], s);
  if (!s->open) return 0;
  s->full_flow = v[OD_VALVE_AREA] * v[OD_VALVE_DISCHARGE] * w[l->oil_factor] * smooth_root(dp, e);
  return s->full_flow * s->opening;
}

static od_x flow_evaluate(const od_model *m, od_x *w, int i) {
  const od_layout *l = &m->layout;
  const od_flow *f = &m->flow[i];
  const od_x *q = w + l->theta + f->number;
  od_x input = f->input >= 0 ? w[l->u + f->input] : 1;
  if (f->kind == OD_FLOW_PUMP) return q[0] * input;
  od_x dp = w[l->pressure + f->a] - w[l->pressure + f->b], e = w[l->theta + m->oil + OD_OIL_SMOOTHING];
  switch (f->kind) {
    case OD_FLOW_ORIFICE: return q[0] * q[1] * q[2] * input * w[l->oil_factor] * smooth_root(dp, e);
    case OD_FLOW_RELIEF: return q[1] * rounded_ramp(dp - q[0], e);
    case OD_FLOW_CHECK:
      return q[0] * q[1] * w[l->oil_factor] * smooth_step((dp - q[2]) / (q[3] - q[2])) * smooth_root(dp, e);
    case OD_FLOW_LEAK: return q[0] * dp;
    case OD_FLOW_PORT: return port_flow(m, w, i, dp, e);
    case OD_FLOW_PUMP: break;
  }
  return 0;
}

// ---- cylinders

static inline od_x cylinder_area_a(const od_cylinder *c, const od_x *q) {
  return c->diameters ? OD_QUARTER_PI * q[0] * q[0] : q[0];
}
static inline od_x cylinder_area_b(const od_cylinder *c, const od_x *q) {
  return c->diameters ? OD_QUARTER_PI * (q[0] * q[0] - q[1] * q[1]) : q[1];
}

// The end stops push back with k d (1 + damping d'), d how deep the piston is in them; they never pull. The part k d is
// elastic, the rest is lost.
typedef struct X(stop) {
  int side;            // +1 extended, -1 retracted, 0: free
  od_x depth, inward;  // d and d'
  od_x grip;           // 1 + damping d', not below zero
} X(stop);

static inline X(stop) stop_evaluate(const od_x *q, od_x x, od_x v) {
  X(stop) s = {.side = RE(x) > RE(q[OD_CYLINDER_STROKE]) ? 1 : RE(x) < 0 ? -1 : 0};
  if (s.side == 0) return s;
  s.depth = s.side > 0 ? x - q[OD_CYLINDER_STROKE] : -x;
  s.inward = s.side * v;
  s.grip = 1 + q[OD_CYLINDER_STOP_DAMPING] * s.inward;
  if (RE(s.grip) < 0) s.grip = 0;
  return s;
}

static inline od_x stop_force(const od_x *q, od_x x, od_x v) {
  X(stop) s = stop_evaluate(q, x, v);
  return -s.side * q[OD_CYLINDER_STOP_STIFFNESS] * s.depth * s.grip;
}

static inline X(stop) cylinder_stop(const od_model *m, const od_x *w, int i) {
  const od_x *q = w + m->layout.theta + m->cylinder[i].number;
  return stop_evaluate(q, w[m->layout.length + i] - q[OD_CYLINDER_CLOSED], w[m->layout.speed + i]);
}

// Energy stored in the stops of all cylinders.
static od_x X(circuit_stored)(const od_model *m, const od_x *w) {
  od_x sum = 0;
  for (int i = 0; i < m->cylinders; i++) {
    X(stop) s = cylinder_stop(m, w, i);
    sum += w[m->layout.theta + m->cylinder[i].number + OD_CYLINDER_STOP_STIFFNESS] * s.depth * s.depth / 2;
  }
  return sum;
}

static od_x actuator_friction(const od_model *m, const od_x *w, int i) {
  int friction = m->actuator[i].friction;
  if (friction < 0) return 0;
  const od_friction *f = &m->friction[friction];
  return friction_force(f->law, w + m->layout.theta + f->number, w[m->layout.speed + i]);
}

static inline void actuator_forces(const od_model *m, od_x *w) {
  const od_layout *l = &m->layout;
  for (int i = 0; i < m->actuators; i++) {
    w[l->friction + i] = actuator_friction(m, w, i);
    w[l->force + i] = -w[l->friction + i];
    if (m->actuator[i].cylinder < 0) continue;
    const od_cylinder *c = &m->cylinder[m->actuator[i].cylinder];
    const od_x *q = w + l->theta + c->number;
    w[l->force + i] += w[l->pressure + c->node_a] * cylinder_area_a(c, q) -
                       w[l->pressure + c->node_b] * cylinder_area_b(c, q) +
                       stop_force(q, w[l->length + i] - q[OD_CYLINDER_CLOSED], w[l->speed + i]);
  }
}

// ---- nodes

// A node's volume does not fall below this part of what it has with all its chambers at their largest: a piston deep
// in its stop must not squeeze oil out of existence.
static const double least_volume = 1e-3;

static void node_balances(const od_model *m, od_x *w) {
  const od_layout *l = &m->layout;
  for (int i = 0; i < m->nodes; i++) {
    w[l->inflow + i] = 0;
    w[l->volume + i] = m->node[i].kind == OD_NODE_VOLUME ? w[l->theta + m->node[i].number] : 0;
    w[l->modulus + i] = w[l->volume + i];  // for the moment: the largest volume
  }
  for (int i = 0; i < m->flows; i++) {
    od_x Q = w[l->flow + i] = flow_evaluate(m, w, i);
    if (m->flow[i].a >= 0) w[l->inflow + m->flow[i].a] -= Q;
    w[l->inflow + m->flow[i].b] += Q;
  }
  // Chambers: their size, and the room their pistons make or take.
  for (int i = 0; i < m->cylinders; i++) {
    const od_cylinder *c = &m->cylinder[i];
    const od_x *q = w + l->theta + c->number;
    od_x a = cylinder_area_a(c, q), b = cylinder_area_b(c, q), x = w[l->length + i] - q[OD_CYLINDER_CLOSED];
    w[l->volume + c->node_a] += q[OD_CYLINDER_DEAD_A] + a * x;
    w[l->volume + c->node_b] += q[OD_CYLINDER_DEAD_B] + b * (q[OD_CYLINDER_STROKE] - x);
    w[l->modulus + c->node_a] += q[OD_CYLINDER_DEAD_A] + a * q[OD_CYLINDER_STROKE];
    w[l->modulus + c->node_b] += q[OD_CYLINDER_DEAD_B] + b * q[OD_CYLINDER_STROKE];
    w[l->inflow + c->node_a] -= a * w[l->speed + i];
    w[l->inflow + c->node_b] += b * w[l->speed + i];
  }
  for (int i = 0; i < m->nodes; i++)
    if (RE(w[l->volume + i]) < least_volume * RE(w[l->modulus + i]))
      w[l->volume + i] = least_volume * w[l->modulus + i];
}

// Forces of all actuators and rates of all circuit states; lengths, speeds, c and u stand in w.
static void X(circuit_evaluate)(const od_model *m, od_x *w) {
  const od_layout *l = &m->layout;
  circuit_pressures(m, w);
  actuator_forces(m, w);
  node_balances(m, w);
  for (int i = 0; i < m->nodes; i++) {
    if (m->node[i].state < 0) continue;
    w[l->modulus + i] = bulk_modulus(m, w, w[l->pressure + i]);
    w[l->rate + m->node[i].state] = w[l->modulus + i] / w[l->volume + i] * w[l->inflow + i];
  }
  for (int i = 0; i < m->valves; i++) {
    const od_valve *v = &m->valve[i];
    if (v->state >= 0)
      w[l->rate + v->state] = (w[l->u + v->input] - w[l->spool + i]) / w[l->theta + v->number + OD_VALVE_TIME_CONSTANT];
  }
}

// ---- outputs and powers

// What goes into a flow element and does not come out again: its loss (a pump's is negative).
static od_x flow_loss(const od_model *m, const od_x *w, int i) {
  const od_layout *l = &m->layout;
  const od_flow *f = &m->flow[i];
  return w[l->flow + i] * ((f->a >= 0 ? w[l->pressure + f->a] : 0) - w[l->pressure + f->b]);
}

// Friction, and what the stops do not give back.
static od_x actuator_loss(const od_model *m, const od_x *w, int i) {
  const od_layout *l = &m->layout;
  od_x loss = w[l->friction + i] * w[l->speed + i];
  if (m->actuator[i].cylinder < 0) return loss;
  X(stop) s = cylinder_stop(m, w, i);
  if (s.side == 0) return loss;
  return loss + w[l->theta + m->cylinder[i].number + OD_CYLINDER_STOP_STIFFNESS] * s.depth * (s.grip - 1) * s.inward;
}

static od_x X(circuit_output)(const od_model *m, const od_x *w, const od_output *o) {
  const od_layout *l = &m->layout;
  switch (o->kind) {
    case OD_OUT_NODE_PRESSURE: return w[l->pressure + o->index];
    case OD_OUT_NODE_INFLOW: return w[l->inflow + o->index];
    case OD_OUT_NODE_CAVITATING: return cavitates(m, w, o->index) ? 1 : 0;
    case OD_OUT_NODE_POWER: return w[l->pressure + o->index] * w[l->inflow + o->index];
    case OD_OUT_FLOW: return w[l->flow + o->index];
    case OD_OUT_FLOW_POWER:
      return m->flow[o->index].kind == OD_FLOW_PUMP ? -flow_loss(m, w, o->index) : flow_loss(m, w, o->index);
    case OD_OUT_PORT_OPENING: {
      const X(port_state) *s = port_state(m, w, o->index);
      return s->open ? s->curve.y : 0;
    }
    case OD_OUT_SPOOL: return w[l->spool + o->index];
    case OD_OUT_CYLINDER_LENGTH: return w[l->length + o->index];
    case OD_OUT_CYLINDER_RATE: return w[l->speed + o->index];
    case OD_OUT_CYLINDER_FORCE: return w[l->force + o->index];
    case OD_OUT_CYLINDER_FRICTION: return w[l->friction + o->index];
    case OD_OUT_ACTUATOR_LOSS: return actuator_loss(m, w, o->index);
    case OD_OUT_BLOCK_STATE: return w[l->c + o->index];
    default: return 0;
  }
}
