// Constraints between parameters: their values and derivatives in the searched variables, the step that satisfies the
// constraints to first order, and their results at the solution.
//
// R D = U diag(value) V^T is the singular value decomposition of the model, and h = value^2 + damping^2. With a step p
// = D V diag(h)^-1/2 w, the model's cost is |w - w0|^2 / 2 plus a constant; w0 is the minimum without relations. The
// best step is the point nearest to w0 that satisfies linear relations (distance.c). Directions without influence have
// no gradient and a small weight. Parameters change along these directions only if bounds or constraints require a
// change. These directions do not restrict the other directions.
#include <lapacke.h>
#include <math.h>
#include <string.h>

#include "least_squares/distance.h"
#include "least_squares/search.h"

// Weight of directions without influence, as a fraction of the largest singular value.
static const double uninfluential_weight = 1e-5;

bool od_is_tied(const od_ls_problem *problem, const od_ls_options *options) {
  return problem->constraints || problem->hidden || (options && options->method == OD_LS_ACTIVE_SET);
}

// ---- Memory

void od_ties_begin(od_search *s) {
  od_ties *t = &s->ties;
  const od_ls_constraints *c = s->problem->constraints;
  if (!od_is_tied(s->problem, &s->options)) return;
  t->count = c ? c->equalities + c->inequalities : 0;
  t->equalities = c ? c->equalities : 0;
  int count = t->count, k = s->k, rows = count + 2 * k;
  od_arena *arena = &s->arena;
  t->c = OD_TAKE(arena, double, count), t->C = OD_TAKE_MATRIX(arena, double, count, k);
  t->trial_c = OD_TAKE(arena, double, count), t->trial_C = OD_TAKE_MATRIX(arena, double, count, k);
  t->scale = OD_TAKE(arena, double, count), t->multiplier = OD_TAKE(arena, double, count);
  t->Q = OD_TAKE_MATRIX(arena, double, k, k), t->curvature = OD_TAKE(arena, double, 2 * k * k);
  t->corrected = OD_TAKE(arena, double, count), t->kept = OD_TAKE(arena, double, k);
  t->active = OD_TAKE(arena, bool, count);
  t->scratch = OD_TAKE(arena, double, 2 * k + count * s->n);
  t->nearest = OD_TAKE(arena, od_distance, 1);
  if (!t->nearest) return;
  *t->nearest = (od_distance){.k = k,
                              .A = OD_TAKE_MATRIX(arena, double, rows, k),
                              .b = OD_TAKE(arena, double, rows),
                              .multiplier = OD_TAKE(arena, double, rows),
                              .w = OD_TAKE(arena, double, k),
                              .active = OD_TAKE(arena, bool, rows),
                              .impossible = OD_TAKE(arena, bool, rows),
                              .memory = OD_TAKE(arena, double, od_distance_size(k)),
                              .order = OD_TAKE(arena, int, k)};
}

// ---- Values of constraints

bool od_ties_evaluate(od_search *s, const od_point *point, bool trial, bool derivatives) {
  od_ties *t = &s->ties;
  double *c = trial ? t->trial_c : t->c, *C = trial ? t->trial_C : t->C;
  if (t->count == 0) return true;
  double *by_x = s->ties.scratch + 2 * s->k;
  memset(by_x, 0, (size_t)(t->count * s->n) * sizeof *by_x);
  if (s->problem->constraints->values(s->problem->user, point->x, c, derivatives ? by_x : NULL)) return false;
  for (int i = 0; i < t->count; i++) {
    if (!isfinite(c[i])) return false;
    for (int j = 0; derivatives && j < s->k; j++) {
      double by = by_x[i * s->n + s->index[j]] * od_parameter_slope(s, j, point->x);
      if (!isfinite(by)) return false;
      C[i * s->k + j] = by;
    }
  }
  return true;
}

void od_ties_swap(od_search *s) {
  od_ties *t = &s->ties;
  double *c = t->c, *C = t->C;
  t->c = t->trial_c, t->C = t->trial_C, t->gap = t->trial_gap;
  t->trial_c = c, t->trial_C = C;
}

static double along(const od_search *s, int i, const double *step) {
  double sum = 0;
  for (int j = 0; step && j < s->k; j++) sum += s->ties.C[i * s->k + j] * step[j];
  return sum;
}

double od_ties_violation(const od_search *s, bool trial, const double *step) {
  const od_ties *t = &s->ties;
  double sum = step ? 0 : trial ? t->trial_gap : t->gap;
  for (int i = 0; i < t->count; i++) {
    double value = (trial ? t->trial_c : t->c)[i] + along(s, i, step);
    sum += t->scale[i] * (i < t->equalities ? fabs(value) : fmax(-value, 0));
  }
  return sum;
}

// ---- Step between constraints

// Writes row `to` of the relations: a step p must satisfy a p >= least (a p = least for equalities).
static void add_row(const od_search *s, const double *weight, const double *a, double least, int to) {
  od_distance *d = s->ties.nearest;
  int k = s->k;
  double *row = d->A + to * k;
  for (int i = 0; i < k; i++) {
    double sum = 0;
    for (int j = 0; j < k; j++) sum += s->D[j] * s->spectrum.V[i * k + j] * a[j];
    row[i] = weight[i] * sum;
  }
  d->b[to] = least;
}

static int add_bounds(const od_search *s, const double *weight, double *unit, int rows) {
  for (int j = 0; j < s->k; j++)
    for (int side = -1; side <= 1; side += 2) {
      double bound = side < 0 ? s->low[j] : s->high[j];
      if (!isfinite(bound)) continue;
      memset(unit, 0, (size_t)s->k * sizeof *unit);
      unit[j] = -side;
      add_row(s, weight, unit, -side * (bound - s->now.u[j]), rows++);
    }
  return rows;
}

void od_ties_step(od_search *s, double damping, const double *c) {
  od_ties *t = &s->ties;
  od_distance *d = t->nearest;
  const od_spectrum *sp = &s->spectrum;
  int k = s->k, rows = 0;
  double *weight = s->ties.scratch, *unit = weight + k;
  for (int i = 0; i < k; i++) {
    bool counts = i < sp->rank;
    double value = counts         ? sp->value[i]
                   : sp->rank > 0 ? uninfluential_weight * sp->value[0]
                                  : 1,
           h = value * value + damping * damping;
    weight[i] = 1 / sqrt(h);
    d->w[i] = counts ? -sp->value[i] * sp->part[i] * weight[i] : 0;
  }
  for (; rows < t->count; rows++) add_row(s, weight, t->C + rows * k, -c[rows], rows);
  d->equalities = t->equalities;
  d->rows = add_bounds(s, weight, unit, rows);
  od_distance_solve(d);
  memset(s->step, 0, (size_t)k * sizeof *s->step);
  for (int i = 0; i < k; i++)
    for (int j = 0; j < k; j++) s->step[j] += s->D[j] * sp->V[i * k + j] * weight[i] * d->w[i];
  for (int i = 0; i < t->count; i++) t->active[i] = d->active[i], t->multiplier[i] = d->multiplier[i];
}

// ---- Curvature of constraints

// Computes -sum multiplier_i d(grad c_i)/du_j: column j of the constraints' part of the Hessian of the Lagrangian, by
// central differences of exact derivatives. Returns false if the constraints cannot be evaluated.
static bool curvature_column(od_search *s, int j, double *column) {
  od_ties *t = &s->ties;
  int k = s->k;
  double at = s->now.u[j], h = 1e-5 * (at != 0 ? fabs(at) : s->size[j]);
  memset(column, 0, (size_t)k * sizeof *column);
  for (int side = -1; side <= 1; side += 2) {
    memcpy(s->trial.u, s->now.u, (size_t)k * sizeof *s->trial.u);
    s->trial.u[j] = at + side * h;
    od_parameters_to_x(s, s->trial.u, s->trial.x);
    if (!od_ties_evaluate(s, &s->trial, true, true)) return false;
    for (int i = 0; i < t->count; i++)
      for (int l = 0; l < k; l++) column[l] -= side * t->multiplier[i] * t->trial_C[i * k + l] / (2 * h);
  }
  return true;
}

void od_ties_curve(od_search *s) {
  od_ties *t = &s->ties;
  int k = s->k;
  double *H = t->curvature + k * k, *value = s->ties.scratch, largest = 0;
  bool active = false;
  t->curved = false;
  for (int i = 0; i < t->count; i++) active = active || t->multiplier[i] != 0;
  if (!active) return;
  for (int j = 0; j < k; j++)
    if (!curvature_column(s, j, H + j * k)) return;
  for (int i = 0; i < k; i++)
    for (int j = 0; j <= i; j++) {
      double mean = 0.5 * (H[i * k + j] + H[j * k + i]) * s->size[i] * s->size[j];
      H[i * k + j] = H[j * k + i] = mean;
      largest = fmax(largest, fabs(mean));
    }
  // Scaled columns of the model have length 1, so smaller values are rounding errors of the differences.
  if (!(largest > 1e-7) || LAPACKE_dsyev(LAPACK_COL_MAJOR, 'V', 'U', k, H, k, value) != 0) return;
  for (int i = 0; i < k; i++)
    for (int j = 0; j < k; j++) t->curvature[i * k + j] = value[i] > 0 ? sqrt(value[i]) * H[i * k + j] : 0;
  t->curved = true;
}

// ---- Results at the solution

void od_ties_orient(od_search *s) {
  od_ties *t = &s->ties;
  int k = s->k, rows = 0;
  t->tied = 0;
  t->curved = false;
  if (t->count == 0) return;
  double *scaled = t->nearest->A;
  for (int i = 0; i < t->count; i++) {
    if (!t->active[i]) continue;
    for (int j = 0; j < k; j++) scaled[rows * k + j] = s->held[j] ? 0 : s->D[j] * t->C[i * k + j];
    rows++;
  }
  t->tied = od_orthonormal_rows(rows, k, scaled, t->Q);
}

// Computes the value that constraint i, which is active, would have without this constraint. The value is the multiplier of the
// constraint times the model's variance of c with only the other constraints.
static void find_beyond(od_search *s, od_ls_result *r, int i) {
  od_ties *t = &s->ties;
  int k = s->k;
  double variance = 0, seen = 0, size = 0;
  t->active[i] = false;
  od_ties_orient(s);
  od_spectrum_of(s, NULL);
  for (int v = 0; v < k; v++) {
    double part = 0;
    for (int j = 0; j < k; j++) part += s->spectrum.V[v * k + j] * (s->held[j] ? 0 : s->D[j] * t->C[i * k + j]);
    size += part * part;
    if (v >= s->spectrum.rank) continue;
    seen += part * part;
    variance += part / s->spectrum.value[v] * (part / s->spectrum.value[v]);
  }
  for (int q = 0; q < t->tied; q++) {
    double part = 0;
    for (int j = 0; j < k; j++) part += t->Q[q * k + j] * (s->held[j] ? 0 : s->D[j] * t->C[i * k + j]);
    seen += part * part;
  }
  t->active[i] = true;
  bool is_identifiable = seen > (1 - 1e-9) * size && variance > 0;
  r->beyond[i] = is_identifiable ? -t->multiplier[i] * variance : (double)NAN;
  r->beyond_sigma[i] = is_identifiable ? sqrt(variance * r->variance) : (double)NAN;
}

void od_ties_fill(od_search *s, od_ls_result *r) {
  od_ties *t = &s->ties;
  for (int i = 0; i < t->count; i++) {
    double value = t->c[i], off = i < t->equalities ? fabs(value) : fmax(-value, 0);
    r->violation = fmax(r->violation, t->scale[i] * off);
    r->active[i] = t->active[i];
    r->multiplier[i] = t->active[i] ? t->multiplier[i] : 0;
    r->constraint[i] = value;
    r->beyond[i] = r->beyond_sigma[i] = NAN;
    for (int j = 0; j < s->k; j++) {
      double slope = od_parameter_slope(s, j, s->now.x);
      r->slope[i * s->n + s->index[j]] = slope != 0 ? t->C[i * s->k + j] / slope : 0;
    }
  }
  for (int i = 0; i < t->count; i++)
    if (t->active[i]) find_beyond(s, r, i);
  r->gap = t->gap;
  od_ties_orient(s);
}
