// Junctions: nodes without volume. The flows into a junction sum to zero at all times, which determines its pressure:
//   F_j(p) = sum of flows into j - leak * p_j = 0
// The leak, far below any measurable flow, determines the pressure if all elements at a junction are closed. Pressures are not
// negative: p_j = 0 with F_j < 0 is also a solution, in which the outflow is larger than the inflow.
//
// The solver is Newton's method with exact derivatives, starting at the last pressures. Three measures make the solver
// robust:
// - Damping: if a valve is closed, flows barely depend on a pressure, and Newton steps are too long. Then each junction is
//   damped by |F_j| / longest_step, as if it had a small volume.
// - Step length: the power of the sums of flows along the step, sum d_j F_j, decreases along the step and is zero at the best
//   length. The power gives equal weight to junctions with large and with small flows.
// - After 20 steps without success, junctions are solved one after another by bisection, and Newton's method continues from
//   these pressures.
// If there is no solution (a pump with a closed outlet), the pressure of the junction and all rates become NaN. Then the step
// fails. In complex arithmetic the derivatives belong to the real parts. Two more steps compute the imaginary parts, which are
// small.

static const double X(junction_leak) = 1e-26;  // m3/s/Pa
static const double X(most_pressure) = 1e15;   // Pa
static const double X(longest_step) = 3e7;     // longest step, Pa; larger if a pressure of a junction is larger
enum { X(junction_iterations) = 60, X(junction_lengths) = 10, X(junction_bisections) = 70, X(junction_patience) = 20 };

static inline od_x *X(junction_pressure)(const od_model *m, od_x *w, int junction) {
  return w + m->layout.pressure + m->join.at_junction.node[junction];
}

// Returns whether a junction cavitates: its pressure is zero and cannot decrease, so its sum of flows may be negative.
static bool X(junction_held)(const od_model *m, od_x *w, int junction) {
  return !(RE(*X(junction_pressure)(m, w, junction)) > 0) && RE(w[m->layout.junction_flow + junction]) < 0;
}

// Computes the sums of flows at the current pressures. Returns whether all sums that must be zero are zero up to round-off.
static bool X(junction_flows)(const od_model *m, od_x *w) {
  const od_junctions *j = &m->join.at_junction;
  od_x *F = w + m->layout.junction_flow, *through = w + m->layout.junction_through;
  for (int i = 0; i < j->ins; i++) w[j->in[i].in] = w[m->layout.pressure + j->in[i].node];
  for (int i = 0; i < j->instances; i++) X(evaluate_batch)(m, &j->alone[i], w);
  for (int i = 0; i < m->junctions; i++) {
    F[i] = -X(junction_leak) * *X(junction_pressure)(m, w, i);
    through[i] = fabs(RE(F[i]));
  }
  for (int i = 0; i < j->flows; i++) {
    F[j->flow[i].junction] += j->flow[i].sign * w[j->flow[i].from];
    through[j->flow[i].junction] += fabs(RE(w[j->flow[i].from]));
  }
  bool rounding = true;
  for (int i = 0; i < m->junctions && rounding; i++)
    rounding = X(junction_held)(m, w, i) || fabs(RE(F[i])) <= OD_TOLERANCE(1e-15) * RE(through[i]);
  return rounding;
}

// Returns the derivative of an element's flow with respect to the pressure of a junction. Call junction_evaluate_slopes() first.
static inline od_x X(junction_slope)(const od_model *m, od_x *w, const od_junction_slope *s) {
#ifdef OD_COMPLEX
  // The imaginary step is added to the current imaginary part.
  const od_batch *alone = &m->join.at_junction.alone[s->instance];
  int outs = od_batch_class(m, alone)->outs;
  od_x before[OD_MOST_OUT], in = w[s->in];
  memcpy(before, w + alone->out, (size_t)outs * sizeof *before);
  w[s->in] = in + OD_COMPLEX_OF(0.0, od_junction_imaginary_step);
  X(evaluate_batch)(m, alone, w);
  double slope = od_imaginary(w[s->from] - before[s->from - alone->out]) / od_junction_imaginary_step;
  memcpy(w + alone->out, before, (size_t)outs * sizeof *before);
  w[s->in] = in;
  return slope;
#else
  (void)m;
  return w[s->slope];
#endif
}

// Computes the derivatives of all instances with an end at a junction. In the complex build the function has no effect,
// because junction_slope() computes the derivatives.
static void X(junction_evaluate_slopes)(const od_model *m, od_x *w) {
#ifdef OD_COMPLEX
  (void)m, (void)w;
#else
  const od_junctions *j = &m->join.at_junction;
  for (int i = 0; i < j->instances; i++) {
    const od_batch *b = &j->alone[i];
    od_batch_class(m, b)->slopes(b, m->join.pool, w);
  }
#endif
}

#include "hydraulics/junction_matrix_x.h"

// Computes step = M^-1 start, with the damping of each junction equal to `damping` times its sum of flows. Returns the largest
// magnitude of an entry of the step in Pa, or NaN if M is singular.
static double X(junction_solve)(const od_model *m, od_x *w, double damping) {
  od_x *step = w + m->layout.junction_step, *start = w + m->layout.junction_start;
  for (int i = 0; i < m->junctions; i++) step[i] = damping * fabs(RE(start[i]));
  X(junction_fill)(m, w, step, X(junction_held));
  for (int i = 0; i < m->junctions; i++) step[i] = start[i];
  if (!X(junction_factor)(m, w)) return NAN;
  X(junction_substitute)(m, w, step);
  double length = 0;
  for (int i = 0; i < m->junctions; i++)
    if (!(fabs(RE(step[i])) <= length)) length = fabs(RE(step[i]));
  return length;
}

// Computes the Newton step from the current pressures, and stores these pressures. Returns false if M is singular.
static bool X(junction_find_step)(const od_model *m, od_x *w) {
  const od_layout *l = &m->layout;
  double longest = X(longest_step);
  X(junction_evaluate_slopes)(m, w);
  for (int i = 0; i < m->junctions; i++) {
    od_x p = w[l->junction_before + i] = *X(junction_pressure)(m, w, i);
    longest = fmax(longest, RE(p));
    w[l->junction_start + i] = X(junction_held)(m, w, i) ? 0 : w[l->junction_flow + i];
  }
  double length = X(junction_solve)(m, w, 0);
  if (!(length <= longest)) length = X(junction_solve)(m, w, 1 / longest);
  return isfinite(length);
}

// Sets the pressures to the pressures before the step plus the fraction `part` of the step, limited to the range from 0
// to most_pressure.
static void X(junction_move)(const od_model *m, od_x *w, double part) {
  for (int i = 0; i < m->junctions; i++) {
    od_x p = w[m->layout.junction_before + i] + part * w[m->layout.junction_step + i];
    if (RE(p) < 0) p = 0;
    *X(junction_pressure)(m, w, i) = RE(p) > X(most_pressure) ? (od_x)X(most_pressure) : p;
  }
}

// Returns the power along the step for the sums of flows in `flow`: the sums at the start of the step, or the current sums.
static double X(junction_power)(const od_model *m, od_x *w, const od_x *flow) {
  double power = 0;
  for (int i = 0; i < m->junctions; i++)
    if (!X(junction_held)(m, w, i)) power += RE(w[m->layout.junction_step + i]) * RE(flow[i]);
  return power;
}

// Searches along the step for a length at which the power is small compared with its value at the start of the step. Takes a
// shorter step if the power changes sign: because of the square root in flows, full steps may oscillate about the solution. Takes a
// longer step if the power decreases slowly, as when valves begin to open. Returns true if all sums of flows are zero up to
// round-off.
static bool X(junction_search)(const od_model *m, od_x *w) {
  const od_x *F = w + m->layout.junction_flow;
  double start = X(junction_power)(m, w, w + m->layout.junction_start), part = 1, best = 0, least = INFINITY;
  for (int k = 0; k < X(junction_lengths); k++) {
    X(junction_move)(m, w, part);
    if (X(junction_flows)(m, w)) return true;
    double rest = X(junction_power)(m, w, F) / start;
    if (!(start > 0)) return false;
    if (fabs(rest) < least) least = fabs(rest), best = part;
    if (rest < -0.5 || !(rest <= 1)) {
      if (best > 0 && best < part) break;  // a shorter step has already given a smaller power: use `best`
      part *= rest < 0 ? fmax(0.1, 1 / (1 - rest)) : 0.5;
    } else if (rest > 0.2 && part >= 1) {
      part *= 2;
    } else {
      return false;
    }
  }
  X(junction_move)(m, w, best);
  return X(junction_flows)(m, w);
}

// Solves one junction after another by bisection, with the other pressures constant. The sum of flows decreases with the
// pressure. Returns true if all sums of flows are zero up to round-off.
static bool X(junction_sweep)(const od_model *m, od_x *w) {
  for (int i = 0; i < m->junctions; i++) {
    double low = 0, high = X(most_pressure);
    od_x *p = X(junction_pressure)(m, w, i);
    for (int k = 0; k < X(junction_bisections); k++) {
      // At first the middle is the geometric mean, because pressures range from one pascal to the limit.
      double middle = high > 10 * low + 1 ? sqrt((low + 0.1) * high) : (low + high) / 2;
      *p = middle;
      X(junction_flows)(m, w);
      if (RE(w[m->layout.junction_flow + i]) > 0)
        low = middle;
      else
        high = middle;
    }
    *p = low;
  }
  return X(junction_flows)(m, w);
}

// Returns whether the last step is so small that the next Newton step would be at round-off.
static bool X(junction_arrives)(const od_model *m, const od_x *w) {
  const od_x *before = w + m->layout.junction_before, *step = w + m->layout.junction_step;
  for (int i = 0; i < m->junctions; i++)
    if (!(fabs(RE(step[i])) <= OD_TOLERANCE(1e-10) * RE(before[i]) + 1e-6)) return false;
  return true;
}

// If there is no solution, sets to NaN the pressures of junctions whose flows do not balance or whose pressure has reached
// X(most_pressure). Messages then name these junctions.
static void X(junction_mark_failed)(const od_model *m, od_x *w) {
  for (int i = 0; i < m->junctions; i++) {
    od_x *p = X(junction_pressure)(m, w, i);
    double F = fabs(RE(w[m->layout.junction_flow + i]));
    if (!(RE(*p) < X(most_pressure)) ||
        !(X(junction_held)(m, w, i) || F <= OD_TOLERANCE(1e-9) * RE(w[m->layout.junction_through + i]) + 1e-15))
      *p = NAN;
  }
}

// Computes the pressures of all junctions. Returns false if there is no solution. The function is not inlined, because most
// machines have no junctions.
static OD_APART bool X(solve_junctions)(const od_model *m, od_x *w) {
  const od_junctions *j = &m->join.at_junction;
  for (int i = 0; i < m->junctions; i++) {
    double p = RE(*X(junction_pressure)(m, w, i));
    *X(junction_pressure)(m, w, i) = p >= 0 && p < X(most_pressure) ? p : 1e5;
  }
  bool done = X(junction_flows)(m, w);
  for (int k = 1; k <= X(junction_iterations) && !done; k++) {
    bool steps = X(junction_find_step)(m, w);
    if (steps && X(junction_arrives)(m, w)) {
      X(junction_move)(m, w, 1);
      done = true;
    } else {
      done = steps && k % X(junction_patience) ? X(junction_search)(m, w) : X(junction_sweep)(m, w);
    }
  }
#ifdef OD_COMPLEX
  for (int k = 0; k < 2; k++) {
    X(junction_flows)(m, w);
    if (X(junction_find_step)(m, w)) X(junction_move)(m, w, 1);
  }
#endif
  for (int i = 0; i < m->junctions; i++) done = done && RE(*X(junction_pressure)(m, w, i)) < X(most_pressure);
  if (!done) X(junction_mark_failed)(m, w);
  for (int i = 0; i < j->ins; i++) w[j->in[i].in] = w[m->layout.pressure + j->in[i].node];
  return done;
}
