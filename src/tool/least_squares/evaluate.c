// Residuals and their linear model at a point. Derivatives come from the caller, from complex steps, or from differences.
#include <float.h>
#include <math.h>
#include <string.h>

#include "least_squares/loss.h"
#include "least_squares/row_qr.h"
#include "least_squares/search.h"

static bool call(od_search *s, const double *x, double *r) {
  s->residual_calls++;
  if (s->problem->residuals(s->problem->user, x, r)) return false;
  for (int i = 0; i < s->m; i++)
    if (!isfinite(r[i])) return false;
  return true;
}

bool od_evaluate(od_search *s, od_point *point) {
  od_parameters_to_x(s, point->u, point->x);
  s->evaluations++;
  const od_ls_hidden *hidden = s->problem->hidden;
  if (hidden) hidden->move(s->problem->user, point->x, s->part);
  if (s->problem->rows) return od_rows_evaluate(s, point);
  if (!call(s, point->x, point->r)) return false;
  point->squares = 2 * od_loss_cost(OD_LOSS_LINEAR, 1, s->m, point->r);
  point->cost = s->options.loss == OD_LOSS_LINEAR
                    ? 0.5 * point->squares
                    : od_loss_cost(s->options.loss, s->options.loss_scale, s->m, point->r);
  return isfinite(point->cost);
}

// Computes the derivatives Im r(x + i h e_j) / h. There is no cancellation, so h may be far below rounding. Returns false if
// the residuals cannot be evaluated.
static bool complex_steps(od_search *s, const double *x) {
  const double h = 1e-40;
  double *z = s->scratch, *r = s->scratch + 2 * s->n;
  for (int j = 0; j < s->n; j++) z[2 * j] = x[j], z[2 * j + 1] = 0;
  for (int i = 0; i < s->k; i++) {
    int j = s->index[i];
    z[2 * j + 1] = h;
    s->residual_calls++;
    if (s->problem->residuals_complex(s->problem->user, z, r)) return false;
    z[2 * j + 1] = 0;
    for (int row = 0; row < s->m; row++) s->J[(size_t)row * (size_t)s->n + (size_t)j] = r[2 * row + 1] / h;
  }
  return true;
}

// Returns the change of the residuals by a step of parameter j, relative to the norm of the residuals; infinite if the
// residuals cannot be evaluated.
static double effect(od_search *s, const od_point *point, int j, double step, double *x, double *r) {
  double at = x[j], change = 0, norm = 0;
  x[j] = s->problem->high && at + step > s->problem->high[j] ? at - step : at + step;
  bool good = call(s, x, r);
  x[j] = at;
  for (int row = 0; row < s->m; row++) {
    norm = hypot(norm, point->r[row]);
    change = good ? hypot(change, r[row] - point->r[row]) : INFINITY;
  }
  return norm > 0 ? change / norm : change;
}

// Returns the size of a parameter that starts at zero and has no given scale. A step of `part` times this size should
// change the residuals by a small, but significant fraction. The size is at most the distance between the bounds.
static double probe_size(od_search *s, const od_point *point, int j, double part, double *x, double *r) {
  const double least = 1e-8, most = 1e-2, factor = 1e3;
  double room = s->problem->low && s->problem->high ? s->problem->high[j] - s->problem->low[j] : INFINITY;
  double size = fmin(1, room);
  bool grown = false;
  for (int tries = 0; tries < 30; tries++) {
    double change = effect(s, point, j, part * size, x, r);
    if (change > most) {
      size /= factor;
      if (grown) break;
    } else if (change < least && factor * size < room && (grown || tries == 0)) {
      size *= factor;
      grown = true;
    } else {
      break;
    }
  }
  return size;
}

// Returns the size of a parameter, the unit of differences: the larger of the user's scale and the magnitude of the
// value. Without a user's scale: the largest of the magnitudes of value and start, and the size that probe_size()
// finds.
static double size_of(od_search *s, const od_point *point, int i, double part, double *x, double *r) {
  const od_ls_problem *p = s->problem;
  int j = s->index[i];
  if (p->scale) return fmax(fabs(x[j]), p->scale[j]);
  if (p->start[j] == 0 && s->probed[i] == 0) s->probed[i] = probe_size(s, point, j, part, x, r);
  return fmax(fmax(fabs(x[j]), fabs(p->start[j])), s->probed[i]);
}

// Computes one column of J by central differences, or by forward differences if requested. Next to a bound or to a point that
// cannot be evaluated, the differences are one-sided. Returns false if neither side can be evaluated.
static bool difference(od_search *s, const od_point *point, int i, double *x, double *above, double *below) {
  const od_ls_problem *p = s->problem;
  int j = s->index[i];
  bool forward = s->options.forward_differences;
  double at = x[j], part = forward ? sqrt(DBL_EPSILON) : cbrt(DBL_EPSILON),
         h = part * size_of(s, point, i, part, x, above);
  double up = p->high ? fmin(at + h, p->high[j]) : at + h, down = p->low ? fmax(at - h, p->low[j]) : at - h;
  x[j] = up;
  if (up == at || !call(s, x, above)) up = at, memcpy(above, point->r, (size_t)s->m * sizeof *above);
  x[j] = down;
  if (down == at || (forward && up > at) || !call(s, x, below))
    down = at, memcpy(below, point->r, (size_t)s->m * sizeof *below);
  x[j] = at;
  if (up == down) return false;
  for (int row = 0; row < s->m; row++)
    s->J[(size_t)row * (size_t)s->n + (size_t)j] = (above[row] - below[row]) / (up - down);
  return true;
}

static bool differences(od_search *s, const od_point *point) {
  double *x = s->scratch, *above = x + s->n, *below = above + s->m;
  memcpy(x, point->x, (size_t)s->n * sizeof *x);
  for (int i = 0; i < s->k; i++)
    if (!difference(s, point, i, x, above, below)) return false;
  return true;
}

static bool derivatives(od_search *s, const od_point *point) {
  const od_ls_problem *p = s->problem;
  s->jacobian_calls++;
  if (p->jacobian) return p->jacobian(p->user, point->x, s->J) == 0;
  return p->residuals_complex ? complex_steps(s, point->x) : differences(s, point);
}

// Returns whether the model is finite. Non-finite entries of J lead to non-finite entries of R.
static bool is_usable(const od_search *s, const od_linear *model) {
  for (int i = 0; i < s->k; i++) {
    if (!isfinite(model->q[i])) return false;
    for (int j = i; j < s->k; j++)
      if (!isfinite(model->R[i * s->k + j])) return false;
  }
  return isfinite(model->rest);
}

bool od_linear_from_qr(const od_search *s, const od_row_qr *qr, od_linear *model) {
  int k = s->k;
  for (int i = 0; i < k; i++) {
    memcpy(model->R + i * k, qr->R + i * (k + 1), (size_t)k * sizeof *model->R);
    model->q[i] = qr->R[i * (k + 1) + k];
  }
  model->rest = sqrt(qr->rest);
  for (int j = 0; j < k; j++) {
    model->g[j] = 0;
    for (int i = 0; i <= j; i++) model->g[j] += model->R[i * k + j] * model->q[i];
  }
  return is_usable(s, model);
}

bool od_linearize(od_search *s, const od_point *point, od_linear *model) {
  if (s->problem->rows) return od_rows_linearize(s, point);
  if (!derivatives(s, point)) return false;
  int k = s->k, stride;
  double *slope = s->scratch;
  for (int j = 0; j < k; j++) slope[j] = od_parameter_slope(s, j, point->x);
  double *shift = s->problem->hidden ? s->scratch + k : NULL;
  if (shift) s->problem->hidden->shift(s->problem->user, shift);
  model->base = 0;
  od_row_qr qr;
  od_row_qr_begin(&qr, k, s->qr_memory);
  for (int i = 0; i < s->m; i++) {
    const double *from = s->J + (size_t)i * (size_t)s->n;
    double *to = od_row_qr_next(&qr, &stride);
    od_loss_weight w = od_loss_row(s->options.loss, s->options.loss_scale, point->r[i]);
    for (int j = 0; j < k; j++) to[j * stride] = w.row * slope[j] * from[s->index[j]];
    to[k * stride] = w.residual + (shift ? w.row * shift[i] : 0);
    model->base += 0.5 * w.residual * w.residual;
  }
  od_row_qr_end(&qr);
  return od_linear_from_qr(s, &qr, model);
}
