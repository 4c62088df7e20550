// Derivatives of the pressures of junctions. The rows of junctions initially contain derivatives of the sums of flows.
// Elimination converts these rows to derivatives of pressures. The derivatives are then added to the rows of the rates that
// depend on the pressures.

static inline int junction_column(const od_model *m) {
  return 2 * m->actuators + m->circuit_states + m->signals;
}
static inline double *junction_row(const od_model *m, double *w, int junction) {
  return w + od_junction_row(m, junction);
}

// Returns whether the pressure of a junction is constant. The pressure of a cavitating junction stays zero.
static bool junction_is_held(const od_model *m, double *w, int junction) {
  return junction_cavitates_r(m, w, m->join.at_junction.node[junction]);
}
static void begin_junction_row(const od_model *m, double *w, int junction) {
  const od_junction_group *g = od_junction_group_of(m, junction);
  double *row = junction_row(m, w, junction);
  bool held = junction_is_held(m, w, junction);
  for (int i = 0; held && i < g->width; i++) row[i] = 0;
  row[g->columns + junction - g->first] = held ? 0 : 1;
}

// Converts rows of changes of flows to rows of changes of pressures. The last columns of the rows become the inverse of the
// junctions' matrix.
static void solve_group_rows(const od_junction_group *g, double *w) {
  const double *M = w + g->matrix;
  double *rows = w + g->row;
  int n = g->count, width = g->width;
  for (int i = 0; i < n; i++)
    for (int k = 0; k < i; k++)
      if (M[i * n + k] != 0) od_add_scaled(width, -M[i * n + k], rows + k * width, rows + i * width);
  for (int i = n - 1; i >= 0; i--) {
    double *row = rows + i * width, inverse = 1 / M[i * n + i];
    for (int k = i + 1; k < n; k++)
      if (M[i * n + k] != 0) od_add_scaled(width, -M[i * n + k], rows + k * width, row);
    for (int k = 0; k < width; k++) row[k] *= inverse;
  }
}

// Adds the rows of the junctions to the row of a rate. The factor of each row is the derivative of the rate with
// respect to the pressure of the junction.
static void carry_on(const od_model *m, double *w, int state) {
  const od_layout *l = &m->layout;
  const int *start = m->join.row_start, *column = m->join.row_column;
  int first = junction_column(m);
  if (!start) {
    double *row = w + l->rate_row + state * l->rate_width;
    for (int i = 0; i < m->junctions; i++)
      if (row[first + i] != 0) od_add_scaled(first, row[first + i], junction_row(m, w, i), row);
    return;
  }
  for (int i = start[state + 1] - 1; i >= start[state] && column[i] >= first; i--) {
    // The row of a rate that depends on a junction has all columns of the junction's row.
    const od_junction_group *g = od_junction_group_of(m, column[i] - first);
    const double by = w[l->rate_row + i], *from = junction_row(m, w, column[i] - first);
    const int *list = m->join.at_junction.column + g->column;
    for (int k = start[state], q = 0; by != 0 && q < g->columns && k < start[state + 1]; k++)
      if (column[k] == list[q]) w[l->rate_row + k] += by * from[q++];
  }
}

static OD_APART void eliminate_junctions(const od_model *m, double *w) {
  int n = m->junctions;
  for (int i = 0; i < n; i++) begin_junction_row(m, w, i);
  junction_fill_r(m, w, NULL, junction_is_held);
  junction_factor_r(m, w);
  for (int i = 0; i < m->join.at_junction.groups; i++) solve_group_rows(&m->join.at_junction.group[i], w);
  for (int k = 0; k < m->circuit_states; k++) carry_on(m, w, k);
}

// Returns the change of a junction's pressure for changes dF of the flows into junctions.
static double junction_change(const od_model *m, double *w, int junction, const double *dF) {
  const od_junction_group *g = od_junction_group_of(m, junction);
  const double *inverse = junction_row(m, w, junction) + g->columns;
  double sum = 0;
  for (int i = 0; i < g->count; i++) sum += inverse[i] * dF[g->first + i];
  return sum;
}

// Returns the change of a junction's pressure along a direction: lengths and speeds of the last tangent, states dc, signals du
// (or NULL).
static double junction_tangent(const od_model *m, const double *w, int junction, const double *dc, const double *du) {
  const od_layout *l = &m->layout;
  const od_junction_group *g = od_junction_group_of(m, junction);
  const double *row = w + od_junction_row(m, junction);
  int na = m->actuators, states = 2 * na, signals = states + m->circuit_states;
  double sum = 0;
  for (int i = 0; g->column >= 0 && i < g->columns; i++) {
    int at = m->join.at_junction.column[g->column + i];
    sum += row[i] * (at < na        ? w[l->dlength + at]
                     : at < states  ? w[l->dspeed + at - na]
                     : at < signals ? dc[at - states]
                     : du           ? du[at - signals]
                                    : 0);
  }
  if (g->column >= 0) return sum;
  for (int i = 0; i < na; i++) sum += row[i] * w[l->dlength + i] + row[na + i] * w[l->dspeed + i];
  for (int i = 0; i < m->circuit_states; i++) sum += row[states + i] * dc[i];
  for (int i = 0; du && i < m->signals; i++) sum += row[signals + i] * du[i];
  return sum;
}
