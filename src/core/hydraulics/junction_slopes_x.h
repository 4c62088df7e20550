// Derivatives of the pressures of junctions. Rows of junctions begin as derivatives of their sums of flows; elimination turns them
// into those of their pressures, and rates that depend on these get their share.

static inline int junction_column(const od_model *m) {
  return 2 * m->actuators + m->circuit_states + m->signals;
}
static inline double *junction_row(const od_model *m, double *w, int junction) {
  return w + m->layout.junction_row + junction * m->layout.junction_width;
}

// Where a junction cavitates its pressure stays zero, whatever happens.
static void begin_junction_row(const od_model *m, double *w, int junction) {
  double *row = junction_row(m, w, junction);
  bool held = junction_cavitates_r(m, w, m->join.at_junction.node[junction]);
  for (int i = 0; held && i < m->layout.junction_width; i++) row[i] = 0;
  row[junction_column(m) + junction] += held ? 1 : -junction_leak_r;
  row[m->layout.rate_width + junction] = held ? 0 : 1;
}

// Gauss and Jordan: the columns of junctions become the identity, those behind them the inverse.
static void invert_junction_rows(const od_model *m, double *w) {
  int n = m->junctions, width = m->layout.junction_width;
  for (int k = 0; k < n; k++) {
    int column = junction_column(m) + k, best = k;
    for (int i = k + 1; i < n; i++)
      if (fabs(junction_row(m, w, i)[column]) > fabs(junction_row(m, w, best)[column])) best = i;
    double *row = junction_row(m, w, k), *other = junction_row(m, w, best);
    double inverse = 1 / other[column];
    for (int i = 0; i < width; i++) {
      double swap = row[i];
      row[i] = other[i] * inverse;
      if (best != k) other[i] = swap;
    }
    for (int i = 0; i < n; i++) {
      double factor = i == k ? 0 : junction_row(m, w, i)[column];
      if (factor != 0) od_add_scaled(width, -factor, row, junction_row(m, w, i));
    }
  }
}

static __attribute__((noinline)) void eliminate_junctions(const od_model *m, double *w) {
  int n = m->junctions, first = junction_column(m);
  for (int i = 0; i < n; i++) begin_junction_row(m, w, i);
  invert_junction_rows(m, w);
  for (int i = 0; i < n; i++)
    for (int k = 0; k < m->layout.junction_width; k++) junction_row(m, w, i)[k] *= -1;
  for (int k = 0; k < m->circuit_states; k++) {
    double *row = w + m->layout.rate_row + k * m->layout.rate_width;
    for (int i = 0; i < n; i++)
      if (row[first + i] != 0) od_add_scaled(first, row[first + i], junction_row(m, w, i), row);
  }
}

// The change of a junction's pressure when the flows into junctions change by dF.
static double junction_change(const od_model *m, double *w, int junction, const double *dF) {
  const double *inverse = junction_row(m, w, junction) + m->layout.rate_width;
  double sum = 0;
  for (int i = 0; i < m->junctions; i++) sum += inverse[i] * dF[i];
  return sum;
}

// Along a direction: lengths and speeds by the last tangent, states by dc, signals by du (or NULL).
static double junction_tangent(const od_model *m, const double *w, int junction, const double *dc, const double *du) {
  const od_layout *l = &m->layout;
  const double *row = w + l->junction_row + junction * l->junction_width;
  int na = m->actuators, states = 2 * na, signals = states + m->circuit_states;
  double sum = 0;
  for (int i = 0; i < na; i++) sum += row[i] * w[l->dlength + i] + row[na + i] * w[l->dspeed + i];
  for (int i = 0; i < m->circuit_states; i++) sum += row[states + i] * dc[i];
  for (int i = 0; du && i < m->signals; i++) sum += row[signals + i] * du[i];
  return sum;
}
