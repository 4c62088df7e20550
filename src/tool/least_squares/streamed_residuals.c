// Cost and linear model of a point from streamed rows. Each block is added to the triangle and discarded. Most trials are
// accepted, and rows with derivatives cost little more than rows without derivatives. Therefore cost and model are computed
// together, except after a rejected trial.
#include <math.h>

#include "least_squares/loss.h"
#include "least_squares/row_qr.h"
#include "least_squares/search.h"

typedef struct stream {
  const od_search *s;
  od_row_qr qr;
  const double *slope;  // k: derivatives dx/du
  bool derivatives, good;
  double squares, cost, base;
  int rows;
} stream;

enum { CHUNK = 64 };  // number of rows whose weights are computed at a time

// Adds weighted rows of residuals and Jacobian to the triangle.
static void put(stream *t, int count, const double *r, const double *J, const double *factor) {
  const od_search *s = t->s;
  int k = s->k, stride;
  while (count > 0) {
    double weight[CHUNK], *to;
    int n = od_row_qr_rows(&t->qr, count < CHUNK ? count : CHUNK, &to, &stride);
    for (int i = 0; i < n; i++) {
      od_loss_weight w = od_loss_row(s->options.loss, s->options.loss_scale, r[i]);
      weight[i] = factor ? factor[i] * w.row : w.row;
      to[k * stride + i] = w.residual;
      t->base += 0.5 * w.residual * w.residual;
    }
    for (int j = 0; j < k; j++) {
      const double *from = J + s->index[j];
      double *column = to + j * stride, slope = t->slope[j];
      for (int i = 0; i < n; i++) column[i] = weight[i] * slope * from[(size_t)i * (size_t)s->n];
    }
    count -= n, r += n, J += (size_t)n * (size_t)s->n;
    if (factor) factor += n;
  }
}

static void take(void *to, int count, const double *r, const double *J, const double *factor) {
  stream *t = to;
  const od_ls_options *o = &t->s->options;
  double squares = 2 * od_loss_cost(OD_LOSS_LINEAR, 1, count, r);
  t->squares += squares;
  t->cost += o->loss == OD_LOSS_LINEAR ? 0.5 * squares : od_loss_cost(o->loss, o->loss_scale, count, r);
  t->rows += count;
  t->good = t->good && isfinite(squares) && (J || !t->derivatives);
  if (t->derivatives && t->good) put(t, count, r, J, factor);
}

static bool go_through(od_search *s, const od_point *point, bool derivatives, stream *t) {
  double *slope = s->scratch;
  *t = (stream){.s = s, .slope = slope, .derivatives = derivatives, .good = true};
  s->at = NULL;
  for (int j = 0; j < s->k; j++) slope[j] = od_parameter_slope(s, j, point->x);
  if (derivatives) od_row_qr_begin(&t->qr, s->k, s->qr_memory);
  if (s->problem->rows(s->problem->user, point->x, derivatives, s->every, take, t) != 0 || !t->good) return false;
  s->m = t->rows;
  if (!derivatives) return isfinite(t->cost);
  od_row_qr_end(&t->qr);
  od_linear *model = point == &s->now ? &s->model : &s->trial_model;
  model->base = t->base;
  if (od_linear_from_qr(s, &t->qr, model)) s->at = point;
  return isfinite(t->cost);
}

bool od_rows_evaluate(od_search *s, od_point *point) {
  bool derivatives = s->eager && s->k > 0;
  stream t;
  s->eager = false;
  s->residual_calls++;
  if (!go_through(s, point, derivatives, &t)) return false;
  point->cost = t.cost, point->squares = t.squares;
  return true;
}

// Computes the linear model at `point`, which must be the last evaluated point. Returns false if the model cannot be evaluated.
bool od_rows_linearize(od_search *s, const od_point *point) {
  stream t;
  s->eager = true;
  s->jacobian_calls++;
  bool there = s->at == point || go_through(s, point, true, &t);
  there = there && s->at == point;
  s->at = NULL;
  return there;
}
