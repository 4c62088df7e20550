// Uncertainty of the parameters from the triangle R of the last Jacobian.
//
//   covariance = variance (J^T J)^-1 = variance D V diag(1/value^2) V^T D,     R D = U diag(value) V^T
//
// The formula covers the parameters that are neither fixed nor at a bound. Changes must satisfy the active constraints, so R D (I -
// Q'Q) replaces R D. The orthonormal rows Q span the gradients of active constraints. A parameter is not determined if a direction
// along which the residuals do not change contains this parameter. Its standard deviation is infinite. With a robust loss, the rows
// of J have the weights at the minimum, and the covariance is an approximation.
#include <math.h>
#include <string.h>

#include "least_squares/search.h"

void od_scale_columns(od_search *s) {
  for (int j = 0; j < s->k; j++) {
    double norm = od_column_norm(s, j), unit = norm > 0 ? 1 / norm : 1, slope = od_parameter_slope(s, j, s->now.x);
    s->D[j] = s->problem->scale && slope > 0 ? s->problem->scale[s->index[j]] / slope : unit;
  }
}

// Returns whether parameter j lies in the span of directions that change the residuals or are fixed by constraints.
static bool is_determined(const od_search *s, int j) {
  double seen = 0;
  for (int i = 0; i < s->ties.tied; i++) seen += s->ties.Q[i * s->k + j] * s->ties.Q[i * s->k + j];
  for (int i = 0; i < s->spectrum.rank; i++) seen += s->spectrum.V[i * s->k + j] * s->spectrum.V[i * s->k + j];
  return 1 - seen < 1e-12;
}

// Returns whether active constraints alone determine a parameter.
static bool is_fixed_by_ties(const od_search *s, int j) {
  double tied = 0;
  for (int i = 0; i < s->ties.tied; i++) tied += s->ties.Q[i * s->k + j] * s->ties.Q[i * s->k + j];
  return 1 - tied < 1e-12;
}

static double covariance(const od_search *s, int a, int b) {
  const od_spectrum *sp = &s->spectrum;
  double sum = 0;
  for (int i = 0; i < sp->rank; i++) sum += sp->V[i * s->k + a] / sp->value[i] * (sp->V[i * s->k + b] / sp->value[i]);
  return sum * s->D[a] * s->D[b] * od_parameter_slope(s, a, s->now.x) * od_parameter_slope(s, b, s->now.x);
}

static void fill_covariance(const od_search *s, od_ls_result *r) {
  for (int a = 0; a < s->k; a++)
    for (int b = 0; b < s->k; b++) {
      if (s->held[a] || s->held[b] || is_fixed_by_ties(s, a) || is_fixed_by_ties(s, b)) continue;
      bool known = is_determined(s, a) && is_determined(s, b);
      double *entry = r->covariance + s->index[a] * s->n + s->index[b];
      *entry = known ? r->variance * covariance(s, a, b) : a == b ? INFINITY : NAN;
      if (a == b) r->sigma[s->index[a]] = sqrt(*entry);
    }
}

void od_uncertainty(od_search *s, od_ls_result *r) {
  memset(s->held, 0, (size_t)s->k * sizeof *s->held);
  if (s->k > 0) {
    od_scale_columns(s);
    od_spectrum_of(s, NULL);
    memcpy(r->singular_values, s->spectrum.value, (size_t)s->k * sizeof(double));
    for (int i = 0; i < s->k; i++)
      for (int j = 0; j < s->k; j++) r->directions[i * s->n + s->index[j]] = s->spectrum.V[i * s->k + j];
    for (int i = 0; i < s->k; i++) s->held[i] = r->at_bound[s->index[i]] != 0;
    od_ties_orient(s);
    od_spectrum_of(s, NULL);
    for (int i = 0; i < s->k; i++) r->free += !s->held[i];
    r->free -= s->ties.tied;
    r->rank = s->spectrum.rank;
  }
  r->freedom = s->m - r->rank - (s->problem->hidden ? s->problem->hidden->count : 0);
  r->variance = s->options.unit_variance ? 1 : r->freedom > 0 ? 2 * r->cost / r->freedom : NAN;
  fill_covariance(s, r);
}
