// Derivatives of a machine with a reservoir: all elements with oil depend on the temperature, and the rate of the temperature
// depends on all heat sources.

static inline double out_by_temperature(const od_model *m, const double *w, const od_instance *e, int out) {
  return w[m->layout.by_temperature + e->out - m->layout.out + out];
}

// Returns the derivative of the rate of the temperature with respect to the heating power, K/J.
static inline double heat_gain(const od_model *m, const double *w) {
  const od_instance *r = &m->instance[m->join.reservoir];
  return w[r->slope + m->join.heat_in - r->in];  // the first output of the reservoir is the rate of the temperature
}

// Computes the derivatives of the properties of the oil (OD_OIL_STATE_*) with respect to its temperature.
static void oil_by_temperature(const od_model *m, const double *w, double slope[OD_OIL_STATES]) {
  const double *theta = w + m->layout.theta;
  for (int i = 0; i < OD_OIL_STATES; i++) slope[i] = 0;
  if (m->viscosity >= 0)
    od_warm_oil_slopes(theta + m->viscosity, theta[m->oil + OD_OIL_DENSITY], oil_temperature_r(m, w),
                       OD_WARM_BY_TEMPERATURE, slope);
}

// Computes the changes dout of the outputs of an instance for changes doil of the properties of the oil.
static void outs_by_oil(const od_model *m, double *w, int instance, const double doil[OD_OIL_STATES], double *dout) {
  const od_element_class *c = od_instance_class(m, &m->instance[instance]);
  double part[OD_MOST_OUT];
  for (int k = 0; k < c->outs; k++) dout[k] = 0;
  for (int i = 0; c->needs_oil && i < OD_OIL_STATES; i++) {
    if (doil[i] == 0 || !od_element_number_slope(m, w, instance, OD_NUMBER_OF_OIL + i, part)) continue;
    for (int k = 0; k < c->outs; k++) dout[k] += doil[i] * part[k];
  }
}

// Adds the derivatives with respect to the temperature to the rows of forces, rates and junctions.
static void add_temperature_columns(const od_model *m, double *w, const double doil[OD_OIL_STATES]) {
  const od_layout *l = &m->layout;
  int state = m->join.warms, column = 2 * m->actuators + state;
  for (int i = 0; i < m->instances; i++) {
    const od_instance *e = &m->instance[i];
    double *dout = w + l->by_temperature + e->out - l->out;
    outs_by_oil(m, w, i, doil, dout);
    for (int k = e->target; k < e->target + e->targets; k++) {
      const od_target *s = &m->join.target[k];
      if (s->row < 0) continue;
      double by = w[l->target_gain + k] * dout[s->from - e->out];
      w[s->kind == OD_TO_FORCE ? s->row + 2 + state
        : s->state >= 0        ? od_rate_place(m, s->state, column)
                               : od_junction_place(m, m->node[s->target].junction, column)] += by;
    }
  }
}

// Fills the row of the temperature: adds the derivatives of all heat sources to the row of its rate.
static void add_heat_row(const od_model *m, double *w, const double doil[OD_OIL_STATES]) {
  const od_layout *l = &m->layout;
  double gain = heat_gain(m, w);
  for (int i = 0; i < m->join.heaters; i++) {
    od_heater h = m->join.heater[i];
    const od_instance *e = &m->instance[h.instance];
    int ins = od_instance_class(m, e)->ins;
    double din[OD_MOST_IN] = {0};
    for (int k = 0; k < ins; k++) {
      int in = e->in - l->in + k;
      din[k] = 1;
      w[od_rate_place(m, m->join.warms, m->join.column[in])] +=
          gain * w[m->join.gain[in]] * od_element_report_change(m, w, h.instance, h.report, din, NULL, NULL);
      din[k] = 0;
    }
    const double *dout = w + l->by_temperature + e->out - l->out;
    w[m->join.diagonal[m->join.warms]] += gain * od_element_report_change(m, w, h.instance, h.report, din, dout, doil);
  }
}

static void linearize_heat(const od_model *m, double *w) {
  double doil[OD_OIL_STATES];
  oil_by_temperature(m, w, doil);
  add_temperature_columns(m, w, doil);
  add_heat_row(m, w, doil);
}

// ---- the heat for a change of a number, at constant pressures and states

static double heat_by_users(const od_model *m, double *w, int first, int count) {
  double sum = 0;
  for (int i = 0; i < m->join.heaters; i++)
    for (const od_number_user *user = m->join.user + first; user < m->join.user + first + count; user++)
      if (user->instance == m->join.heater[i].instance)
        sum += od_element_report_by_number(m, w, user->instance, m->join.heater[i].report, user->number);
  return sum;
}

// Returns the derivative of the heating power with respect to a number of the oil, W per unit.
static double heat_by_oil(const od_model *m, double *w, int number) {
  double doil[OD_OIL_STATES], dout[OD_MOST_OUT], sum = 0;
  const double din[OD_MOST_IN] = {0};
  if (number >= OD_OIL_LAW && number < OD_OIL_VISCOSITY) return 0;  // numbers of the bulk modulus
  oil_state_slopes(m, w, number, doil);
  for (int i = 0; i < m->join.heaters; i++) {
    od_heater h = m->join.heater[i];
    outs_by_oil(m, w, h.instance, doil, dout);
    sum += od_element_report_change(m, w, h.instance, h.report, din, dout, doil);
  }
  return sum;
}

// Returns the derivative of the heating power with respect to the number of a node, W per unit.
static double heat_by_node(const od_model *m, double *w, int node) {
  const od_node *n = &m->node[node];
  double sum = 0, dp = n->input >= 0 ? w[m->layout.u + n->input] : 1;
  if (n->kind == OD_NODE_VOLUME) return 0;
  for (int i = 0; i < m->join.heaters; i++) {
    od_heater h = m->join.heater[i];
    const od_instance *e = &m->instance[h.instance];
    double din[OD_MOST_IN];
    for (int k = 0; k < od_instance_class(m, e)->ins; k++)
      din[k] = m->join.node[e->in - m->layout.in + k] == node ? dp : 0;
    sum += od_element_report_change(m, w, h.instance, h.report, din, NULL, NULL);
  }
  return sum;
}

static double heat_by_number(const od_model *m, double *w, od_circuit_number n) {
  switch (n.owner) {
    case OD_OWNER_ELEMENT: return heat_by_users(m, w, n.index, n.place);
    case OD_OWNER_OIL: return heat_by_oil(m, w, n.place);
    case OD_OWNER_NODE: return heat_by_node(m, w, n.index);
    case OD_OWNER_NONE: break;
  }
  return 0;
}
