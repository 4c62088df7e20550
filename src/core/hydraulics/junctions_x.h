// Junctions: nodes without volume. The flows into a junction sum up to zero at any moment, which decides its pressure:
//   F_j(p) = sum of flows into j - leak * p_j = 0
// The leak is far below anything that is measured; it decides the pressure where everything around a junction is closed.
// Pressures do not fall below zero: p_j = 0 with F_j < 0 is a solution too, more is then drawn than flows in.
//
// Newton's method with exact slopes, from the last pressures; steps that do not bring the sums down are shortened, and where that
// does not help, junctions are solved one after another by bisection. Where there is no solution (a pump with no way out) pressures
// and rates become NaN, which steps report.
// In complex numbers slopes are those of the real parts, and two more steps carry the imaginary parts, which are small.

static const double X(junction_leak) = 1e-26;  // m3/s/Pa
static const double X(most_pressure) = 1e15;   // Pa
static const double X(no_flow) = 1e-17;        // m3/s: what is left where almost everything is closed and no step helps
enum { X(junction_iterations) = 40, X(junction_halvings) = 8, X(junction_bisections) = 70 };

static inline od_x *X(junction_pressure)(const od_model *m, od_x *w, int junction) {
  return w + m->layout.pressure + m->join.at_junction.node[junction];
}

// Whether a junction's sum must be zero: it is not where the pressure cannot fall any more.
static inline bool X(junction_balances)(const od_model *m, od_x *w, int junction) {
  return RE(*X(junction_pressure)(m, w, junction)) > 0 || RE(w[m->layout.junction_flow + junction]) >= 0;
}

// Sums of flows at the present pressures; returns the sum of squares of those that must be zero. *rounding: whether all of them
// are zero but for rounding.
static double X(junction_flows)(const od_model *m, od_x *w, bool *rounding) {
  const od_junctions *j = &m->join.at_junction;
  od_x *F = w + m->layout.junction_flow, *through = w + m->layout.junction_step;
  for (int i = 0; i < j->ins; i++) w[j->in[i].in] = w[m->layout.pressure + j->in[i].node];
  for (int i = 0; i < j->instances; i++) X(evaluate_batch)(&j->alone[i], m->join.pool, w);
  for (int i = 0; i < m->junctions; i++) {
    F[i] = -X(junction_leak) * *X(junction_pressure)(m, w, i);
    through[i] = fabs(RE(F[i]));
  }
  for (int i = 0; i < j->flows; i++) {
    F[j->flow[i].junction] += j->flow[i].sign * w[j->flow[i].from];
    through[j->flow[i].junction] += fabs(RE(w[j->flow[i].from]));
  }
  double sum = 0;
  *rounding = true;
  for (int i = 0; i < m->junctions; i++) {
    if (!X(junction_balances)(m, w, i)) continue;
    sum += RE(F[i]) * RE(F[i]);
    *rounding = *rounding && fabs(RE(F[i])) <= 1e-15 * RE(through[i]);
  }
  return sum;
}

// d F / d p, a row for each junction.
static void X(junction_slopes)(const od_model *m, od_x *w) {
  const od_junctions *j = &m->join.at_junction;
  od_x *A = w + m->layout.junction_matrix;
  int n = m->junctions;
  for (int i = 0; i < n * n; i++) A[i] = 0;
  for (int i = 0; i < n; i++) A[i * n + i] = -X(junction_leak);
#ifndef OD_COMPLEX
  for (int i = 0; i < j->instances; i++) {
    const od_element_class *c = od_element_class_at(j->alone[i].element_class);
    if (c->slopes)
      c->slopes(&j->alone[i], m->join.pool, w);
    else
      od_element_slopes(m, w, j->instance[i]);
  }
#endif
  for (int i = 0; i < j->slopes; i++) {
    const od_junction_slope *s = &j->slope[i];
#ifdef OD_COMPLEX
    // Beside the imaginary parts that are there already.
    const od_batch *alone = &j->alone[s->instance];
    int outs = od_element_class_at(alone->element_class)->outs;
    od_x before[OD_MOST_OUT], in = w[s->in];
    memcpy(before, w + alone->out, (size_t)outs * sizeof *before);
    w[s->in] = in + __builtin_complex(0.0, od_junction_imaginary_step);
    X(evaluate_batch)(alone, m->join.pool, w);
    double slope = __imag__(w[s->from] - before[s->from - alone->out]) / od_junction_imaginary_step;
    memcpy(w + alone->out, before, (size_t)outs * sizeof *before);
    w[s->in] = in;
#else
    double slope = w[s->slope];
#endif
    A[s->row * n + s->column] += s->sign * slope;
  }
  for (int i = 0; i < n; i++) {
    if (X(junction_balances)(m, w, i)) continue;
    for (int k = 0; k < n; k++) A[i * n + k] = i == k;
    w[m->layout.junction_flow + i] = 0;
  }
}

// The step d = A^-1 F by elimination; false where there is none.
static bool X(junction_solve)(const od_model *m, od_x *w) {
  od_x *A = w + m->layout.junction_matrix, *d = w + m->layout.junction_step;
  int n = m->junctions;
  for (int i = 0; i < n; i++) d[i] = w[m->layout.junction_flow + i];
  for (int k = 0; k < n; k++) {
    int p = k;
    for (int i = k + 1; i < n; i++)
      if (fabs(RE(A[i * n + k])) > fabs(RE(A[p * n + k]))) p = i;
    if (!(fabs(RE(A[p * n + k])) > 0) || !isfinite(RE(A[p * n + k]))) return false;
    for (int i = 0; i < n && p != k; i++) {
      od_x swap = A[k * n + i];
      A[k * n + i] = A[p * n + i], A[p * n + i] = swap;
    }
    od_x swap = d[k];
    d[k] = d[p], d[p] = swap;
    for (int i = k + 1; i < n; i++) {
      od_x factor = A[i * n + k] / A[k * n + k];
      if (RE(factor) == 0) continue;
      for (int c = k; c < n; c++) A[i * n + c] -= factor * A[k * n + c];
      d[i] -= factor * d[k];
    }
  }
  for (int i = n - 1; i >= 0; i--) {
    for (int k = i + 1; k < n; k++) d[i] -= A[i * n + k] * d[k];
    d[i] /= A[i * n + i];
  }
  return true;
}

// Pressures a part of the step away from those before it; `step` stands where sums of flows write, so it is moved first.
static void X(junction_move)(const od_model *m, od_x *w, const od_x *step, double part) {
  for (int i = 0; i < m->junctions; i++) {
    od_x p = w[m->layout.junction_before + i] - part * step[i];
    if (RE(p) < 0) p = 0;
    *X(junction_pressure)(m, w, i) = RE(p) > X(most_pressure) ? (od_x)X(most_pressure) : p;
  }
}

// One junction after another, the others held: from its lowest to its highest pressure sums fall.
static void X(junction_sweep)(const od_model *m, od_x *w) {
  bool rounding;
  for (int i = 0; i < m->junctions; i++) {
    double low = 0, high = X(most_pressure);
    od_x *p = X(junction_pressure)(m, w, i);
    for (int k = 0; k < X(junction_bisections); k++) {
      // Half way by size first, as pressures may be anywhere between a pascal and the limit.
      double middle = high > 10 * low + 1 ? sqrt((low + 0.1) * high) : (low + high) / 2;
      *p = middle;
      X(junction_flows)(m, w, &rounding);
      if (RE(w[m->layout.junction_flow + i]) > 0)
        low = middle;
      else
        high = middle;
    }
    *p = low;
  }
}

// One step of Newton's method, shortened until it helps enough: with the root of a pressure difference full steps go from one side
// of the solution to the other and hardly come nearer. *done: it was so small that the next one would be rounding.
static bool X(junction_iterate)(const od_model *m, od_x *w, double *sum, bool *done) {
  od_x *before = w + m->layout.junction_before, *matrix = w + m->layout.junction_matrix;
  X(junction_slopes)(m, w);
  if (!X(junction_solve)(m, w)) return false;
  *done = true;
  for (int i = 0; i < m->junctions; i++) {
    before[i] = *X(junction_pressure)(m, w, i);
    matrix[i] = w[m->layout.junction_step + i];
    *done = *done && fabs(RE(matrix[i])) <= 1e-10 * RE(before[i]) + 1e-6;
  }
  double part = 1;
  for (int k = 0; k < X(junction_halvings); k++, part /= 2) {
    bool rounding;
    X(junction_move)(m, w, matrix, part);
    if (*done) return true;
    double now = X(junction_flows)(m, w, &rounding);
    if (rounding || now <= (1 - part / 2) * *sum) {
      *sum = now;
      *done = rounding;
      return true;
    }
  }
  return false;
}

// Not inline: machines without junctions pass it by.
static __attribute__((noinline)) bool X(solve_junctions)(const od_model *m, od_x *w) {
  const od_junctions *j = &m->join.at_junction;
  for (int i = 0; i < m->junctions; i++) {
    double p = RE(*X(junction_pressure)(m, w, i));
    *X(junction_pressure)(m, w, i) = p >= 0 && p < X(most_pressure) ? p : 1e5;
  }
  bool done = false;
  double sum = X(junction_flows)(m, w, &done);
  for (int k = 0; k < X(junction_iterations) && !done; k++)
    if (!X(junction_iterate)(m, w, &sum, &done)) {
      X(junction_sweep)(m, w);
      sum = X(junction_flows)(m, w, &done);
      done = done || sum <= X(no_flow) * X(no_flow);
    }
#ifdef OD_COMPLEX
  bool more;
  for (int k = 0; k < 2; k++) {
    X(junction_flows)(m, w, &more);
    X(junction_iterate)(m, w, &sum, &more);
  }
#endif
  for (int i = 0; i < m->junctions; i++) done = done && RE(*X(junction_pressure)(m, w, i)) < X(most_pressure);
  for (int i = 0; i < m->junctions && !done; i++) *X(junction_pressure)(m, w, i) = NAN;
  for (int i = 0; i < j->ins; i++) w[j->in[i].in] = w[m->layout.pressure + j->in[i].node];
  return done;
}
