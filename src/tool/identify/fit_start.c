// Initial states of sets that do not start at the initial state of the model. The states are found from the first row,
// or from all rows of a validation set.
//
// The state is x0 + d, with the initial state x0 of the model. Gauss-Newton steps with a diagonal damping minimize
//
//   sum (y_i(x0 + d) - m_i)^2 / sigma_i^2
//
// over the sensors of the first row, or of all rows, with the prediction y_i and the measured value m_i of sensor i.
// The damping is a variable fraction of the diagonal of J'J, at first first_damping, which scales the states by their effect. States on which the
// rows do not depend keep the values of the model.
#include <math.h>
#include <string.h>

#include "identify/fit_work.h"
#include "math/dense.h"

enum { MOST_STEPS = 50 };
static const double least_damping = 1e-9, first_damping = 1e-3, most_damping = 1e9;
static const double converged = 1e-10;  // relative change of the sum of squares

od_fit_start od_fit_start_of(const od_fit_plan *plan, const od_fit_set *set) {
  return set->start_is_given ? set->start : plan->start;
}

// The normal equations of one prediction.
typedef struct equations {
  const od_fit_work *w;
  int set;
  long rows;  // rows in use, from the first row on
  double cost;
  double *H, *g;  // J'J (nx x nx) and J'r; NULL: only the cost
} equations;

static void add_rows(void *user, const od_predicted *rows) {
  equations *q = user;
  const od_fit_work *w = q->w;
  const od_fit_data *d = w->f->data[q->set];
  const int nx = w->nx, columns = w->np + nx;
  for (int k = 0; k < rows->count && rows->first + k < q->rows; k++)
    for (int i = 0; i < w->ns; i++) {
      double measured = d->y[(rows->first + k) * w->ns + i];
      if (isnan(measured)) continue;
      double r = (rows->y[k * w->ny + i] - measured) / d->sigma[i];
      q->cost += r * r;
      if (!q->H) continue;
      const double *J = rows->dy + ((long)k * w->ny + i) * columns + w->np;
      for (int a = 0; a < nx; a++) {
        double x = J[a] / d->sigma[i];
        q->g[a] += x * r;
        for (int b = 0; b < nx; b++) q->H[a * nx + b] += x * J[b] / d->sigma[i];
      }
    }
}

// Predicts the set from x0 + d and computes the equations. Returns the sum of squares; INFINITY if the prediction
// fails.
static double evaluate(equations *q, od_predictor *predictor, const double *x, const double *d, double *from) {
  const od_fit_work *w = q->w;
  const int nx = w->nx;
  for (int i = 0; i < nx; i++) from[i] = w->x0[i] + d[i];
  if (q->H) memset(q->H, 0, (size_t)nx * (size_t)nx * sizeof *q->H), memset(q->g, 0, (size_t)nx * sizeof *q->g);
  q->cost = 0;
  const od_predict_wish wish = {.sensitivities = q->H, .take = add_rows, .user = q};
  od_status status = od_predict_rows(predictor, w->np ? x : NULL, from, &wish);
  return status == OD_OK && isfinite(q->cost) ? q->cost : INFINITY;
}

// Solves (H + damping diag H) step = -g. Returns false if the matrix is not positive definite.
static bool solve(int nx, const double *H, const double *g, double damping, double *work, double *step) {
  double *A = work, *L = work + nx * nx, largest = 0;
  for (int i = 0; i < nx; i++) largest = fmax(largest, H[i * (nx + 1)]);
  if (!(largest > 0)) return false;
  memcpy(A, H, (size_t)nx * (size_t)nx * sizeof *A);
  for (int i = 0; i < nx; i++) {
    double own = H[i * (nx + 1)];
    // A state without an effect on the rows keeps the value of the model.
    A[i * (nx + 1)] += own > 0 ? damping * own : 1;
  }
  if (od_cholesky(nx, A, L) < nx) return false;
  for (int i = 0; i < nx; i++) {
    double sum = -g[i];
    for (int k = 0; k < i; k++) sum -= L[i * nx + k] * step[k];
    step[i] = sum / L[i * (nx + 1)];
  }
  for (int i = nx - 1; i >= 0; i--) {
    for (int k = i + 1; k < nx; k++) step[i] -= L[k * nx + i] * step[k];
    step[i] /= L[i * (nx + 1)];
  }
  return true;
}

// Finds the initial state of a set, relative to x0, from its first `rows` rows. Returns OD_NOT_FINITE if the prediction
// from x0 fails.
static od_status find(od_fit_work *w, int set, const double *x, long rows, double *d, od_error *err) {
  OD_SCRATCH(scratch);
  OD_OWNED(od_predictor_free) od_predictor *predictor = NULL;
  const int nx = w->nx;
  double *trial = OD_TAKE(&scratch, double, nx), *step = OD_TAKE(&scratch, double, nx),
         *from = OD_TAKE(&scratch, double, nx), *work = OD_TAKE_MATRIX(&scratch, double, 2 * nx, nx);
  equations q = {.w = w, .set = set, .rows = rows};
  q.H = OD_TAKE_MATRIX(&scratch, double, nx, nx), q.g = OD_TAKE(&scratch, double, nx);
  if (od_arena_status(&scratch) != OD_OK) return od_fail(err, OD_NO_MEMORY, "out of memory");
  memset(d, 0, (size_t)nx * sizeof *d);
  od_status status = od_fit_predictor(w, set, 1, true, &predictor, err);
  if (status != OD_OK) return status;
  double damping = first_damping, cost = evaluate(&q, predictor, x, d, from);
  if (isinf(cost)) return OD_NOT_FINITE;
  for (int k = 0; k < MOST_STEPS && damping < most_damping && od_fit_keeps_going(w); k++) {
    if (!solve(nx, q.H, q.g, damping, work, step)) {
      damping *= 10;
      continue;
    }
    for (int i = 0; i < nx; i++) trial[i] = d[i] + step[i];
    equations there = {.w = w, .set = set, .rows = rows};
    double next = evaluate(&there, predictor, x, trial, from);
    if (!(next < cost)) {
      damping *= 10;
      continue;
    }
    bool done = cost - next <= converged * cost;
    memcpy(d, trial, (size_t)nx * sizeof *d);
    damping = fmax(damping / 10, least_damping);
    cost = evaluate(&q, predictor, x, d, from);
    if (done || cost == 0) break;
  }
  return OD_OK;
}

od_status od_fit_find_starts(od_fit_work *w, od_error *err) {
  od_status status = OD_OK;
  w->own_start = OD_TAKE(&w->arena, double *, w->f->sets);
  if (!w->own_start) return od_fail(err, OD_NO_MEMORY, "out of memory");
  for (int set = 0; set < w->f->sets && status == OD_OK && !od_fit_is_shooting(w); set++) {
    const od_fit_data *d = w->f->data[set];
    bool is_wanted = od_fit_start_of(w->plan, d->set) == OD_FIT_FROM_FIRST_ROW && od_fit_is_from_anywhere(w, set);
    if (d->set->source || !is_wanted) continue;
    status = find(w, set, w->start, 1, w->start + w->states[set], err);
    if (status == OD_NOT_FINITE)
      od_fail(err, status, "the set '%s' cannot be predicted with the start values; choose another 'start'",
              d->set->name);
  }
  return status;
}

od_status od_fit_find_validation_start(od_fit_work *w, int set, const double *x, od_error *err) {
  const od_fit_data *d = w->f->data[set];
  od_fit_start start = od_fit_start_of(w->plan, d->set);
  bool by_all = d->set->start_is_given && start == OD_FIT_FROM_ANYWHERE, by_first = start == OD_FIT_FROM_FIRST_ROW;
  if (d->fitted > 0 || d->set->source || !(by_all || by_first)) return OD_OK;
  double *found = OD_TAKE(&w->arena, double, w->nx);
  if (!found) return od_fail(err, OD_NO_MEMORY, "out of memory");
  od_status status = find(w, set, x, by_all ? d->rows : 1, found, err);
  w->own_start[set] = found;
  return status;
}
