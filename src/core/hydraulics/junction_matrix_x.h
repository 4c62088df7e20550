// The matrix of junctions, M = damping - dF/dp, by groups of connected junctions. The changes dp of the pressures that
// balance a change dF of the flows into junctions satisfy M dp = dF.
//
// Elements move oil from high to low pressure. Therefore M has a positive diagonal, and almost all other entries are zero or
// negative. The row sums of M are the derivatives of the flows to nodes that are not junctions. If several junctions are closed off
// together, these row sums are smaller than the round-off of the diagonal. The row sums are therefore stored separately.
// Elimination computes each pivot from the row sums, without differences of nearly equal numbers (after Grassmann, Taksar and
// Heyman). Thus pressures of closed-off junctions are as accurate as other pressures.

// Computes M from the derivatives of elements in w. held(): returns whether the pressure of a junction is constant. damping:
// one entry per junction (NULL: zero).
static void X(junction_fill)(const od_model *m, od_x *w, const od_x *damping,
                             bool (*held)(const od_model *, od_x *, int)) {
  const od_junctions *j = &m->join.at_junction;
  od_x *sum = w + m->layout.junction_sum;
  int n = m->junctions;
  for (int i = 0; i < j->groups; i++)
    for (int k = 0; k < j->group[i].count * j->group[i].count; k++) w[j->group[i].matrix + k] = 0;
  for (int i = 0; i < n; i++) sum[i] = X(junction_leak) + (damping ? damping[i] : 0);
  for (int i = 0; i < j->slopes;) {
    // The contribution of one element to a row: flows between two junctions cancel exactly.
    const od_junction_slope *s = &j->slope[i];
    od_x part = 0;
    for (; i < j->slopes && j->slope[i].from == s->from && j->slope[i].row == s->row; i++) {
      const od_junction_slope *t = &j->slope[i];
      od_x slope = t->sign * X(junction_slope)(m, w, t);
      w[t->at] -= slope;
      part -= slope;
    }
    sum[s->row] += part;
  }
  for (int i = 0; i < n; i++) {
    if (!held(m, w, i)) continue;
    const od_junction_group *g = od_junction_group_of(m, i);
    for (int k = 0; k < g->count; k++) w[g->matrix + (i - g->first) * g->count + k] = 0;
    sum[i] = 1;
  }
}

// Factors M = L U of one group in place: U on and above the diagonal, L (whose diagonal is 1) below. Returns false if a
// pivot is zero.
static bool X(junction_factor_group)(const od_model *m, od_x *w, const od_junction_group *g) {
  od_x *M = w + g->matrix, *sum = w + m->layout.junction_sum + g->first;
  int n = g->count;
  for (int k = 0; k < n; k++) {
    od_x pivot = sum[k];
    for (int i = k + 1; i < n; i++) pivot -= M[k * n + i];
    M[k * n + k] = pivot;
    if (!(fabs(RE(pivot)) > 0) || !isfinite(RE(pivot))) return false;
    for (int i = k + 1; i < n; i++) {
      if (RE(M[i * n + k]) == 0) continue;
      od_x factor = M[i * n + k] /= pivot;
      for (int c = k + 1; c < n; c++) M[i * n + c] -= factor * M[k * n + c];
      sum[i] -= factor * sum[k];
    }
  }
  return true;
}

static bool X(junction_factor)(const od_model *m, od_x *w) {
  const od_junctions *j = &m->join.at_junction;
  for (int i = 0; i < j->groups; i++)
    if (!X(junction_factor_group)(m, w, &j->group[i])) return false;
  return true;
}

// Computes v = M^-1 v for all groups, with the factors L and U of each group.
static void X(junction_substitute)(const od_model *m, const od_x *w, od_x *v) {
  const od_junctions *j = &m->join.at_junction;
  for (const od_junction_group *g = j->group; g < j->group + j->groups; v += g->count, g++) {
    const od_x *M = w + g->matrix;
    int n = g->count;
    for (int i = 0; i < n; i++)
      for (int k = 0; k < i; k++) v[i] -= M[i * n + k] * v[k];
    for (int i = n - 1; i >= 0; i--) {
      for (int k = i + 1; k < n; k++) v[i] -= M[i * n + k] * v[k];
      v[i] /= M[i * n + i];
    }
  }
}
