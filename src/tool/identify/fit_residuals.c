// Computes the residuals of all fitted samples in units of their noise, and their derivatives, for the least-squares engine.
// Residuals are passed row by row during the prediction, or all together if sets are predicted as a whole.
#include <math.h>
#include <string.h>

#include "identify/fit_work.h"

double od_fit_residual(const od_fit_work *w, int set, long k, int i) {
  const od_fit_data *d = w->f->data[set];
  return (w->y[set][k * w->ny + i] - d->y[k * w->ns + i]) / d->sigma[i];
}

// Returns whether all parameters are within their possible range. Stores the first trial outside the range in
// w->left_at. The range is not a bound of the search at first, because any bound changes the steps. A trial outside the
// range ends the search; another search follows with this end of the range as a bound.
static bool is_possible(od_fit_work *w, const double *x) {
  const od_estimated *p = w->plan->e->parameter;
  for (int i = 0; i < w->np && !w->left; i++)
    if (x[i] < p[i].least || x[i] > p[i].most) w->left = true;
  if (w->left && isnan(w->left_at[0])) memcpy(w->left_at, x, (size_t)w->n * sizeof *x);
  return !w->left;
}

// --- Predictions of sets -------------------------------------------------------------------------------------------
// Derivatives (rows x parameters) are kept in memory only up to a limited number (`most_kept`). Otherwise the rows are
// predicted again, and callers get the derivatives block by block.

bool od_fit_is_from_anywhere(const od_fit_work *w, int set) {
  const od_fit_data *d = w->f->data[set];
  od_fit_start start = od_fit_start_of(w->plan, d->set);
  return start == OD_FIT_FROM_ANYWHERE || (start == OD_FIT_FROM_FIRST_ROW && d->fitted > 0);
}

// Returns the initial state of a set's prediction; NULL: the predictor's own initial state. An unknown initial state is
// the state found for a validation set or, for a fitted set, the state in x. With shooting, or if no state was found,
// the state is the model's initial state.
static const double *start_of(const od_fit_work *w, int set, const double *x) {
  const double *found = w->own_start ? w->own_start[set] : NULL;
  if (!od_fit_is_from_anywhere(w, set) && !found) return NULL;
  double *trial = w->x0 + w->nx;
  bool own = w->f->data[set]->fitted > 0 && !w->shooting && !found;
  for (int i = 0; i < w->nx; i++) trial[i] = w->x0[i] + (own ? x[w->states[set] + i] : found ? found[i] : 0);
  return trial;
}

od_status od_fit_predict_rows(const od_fit_work *w, int set, od_predictor *predictor, const double *x,
                              const od_predict_wish *wish) {
  return od_predict_rows(predictor, w->np ? x : NULL, start_of(w, set, x), wish);
}

od_status od_fit_predict(const od_fit_work *w, int set, od_predictor *predictor, const double *x, double *y) {
  return od_predict(predictor, w->np ? x : NULL, start_of(w, set, x), y, NULL);
}

// Copies predicted rows to w->y of the set and, if w->dy is allocated, their derivatives to w->dy.
static void keep_rows(const od_fit_work *w, int set, const od_predicted *rows) {
  size_t ny = (size_t)w->ny, first = (size_t)rows->first * ny, count = (size_t)rows->count * ny,
         columns = (size_t)od_predictor_columns(w->predictor[set]);
  if (count == 0) return;
  memcpy(w->y[set] + first, rows->y, count * sizeof *rows->y);
  if (rows->dy && w->dy[set] && columns > 0)
    memcpy(w->dy[set] + first * columns, rows->dy, count * columns * sizeof *rows->dy);
}

// User data of the predictor's callback, which calls `visit` (may be NULL) for each block.
typedef struct keeper {
  const od_fit_work *w;
  int set;
  od_fit_visit *visit;
  void *user;
} keeper;

static od_fit_block block_of(const od_fit_work *w, int set, long first, long count, const double *dy) {
  return (od_fit_block){set, od_predictor_columns(w->predictor[set]), w->states[set], first, count, dy};
}

static void keep_and_visit(void *user, const od_predicted *rows) {
  const keeper *to = user;
  keep_rows(to->w, to->set, rows);
  od_fit_block block = block_of(to->w, to->set, rows->first, rows->count, rows->dy);
  if (to->visit) to->visit(to->user, &block);
}

static od_status predict_and_visit(const od_fit_work *w, int set, const double *x, bool derivatives,
                                   od_fit_visit *visit, void *user) {
  keeper to = {w, set, visit, user};
  const od_predict_wish wish = {.sensitivities = derivatives, .take = keep_and_visit, .user = &to};
  return od_fit_predict_rows(w, set, w->predictor[set], x, &wish);
}

od_status od_fit_predict_set(const od_fit_work *w, int set, const double *x, bool derivatives) {
  if (w->f->data[set]->set->source)
    return od_predict(w->predictor[set], x, NULL, w->y[set], derivatives ? w->dy[set] : NULL);
  if (w->shooting && w->shooting[set]) return od_shooting_predict(w->shooting[set], x, derivatives);
  return predict_and_visit(w, set, x, derivatives, NULL, NULL);
}

// Predicts all fitted sets. Returns false if a prediction fails.
static bool predict_fitted(od_fit_work *w, const double *x, bool derivatives) {
  w->derived_at[0] = NAN;
  for (int set = 0; set < w->f->sets; set++)
    if (w->f->data[set]->fitted > 0 && od_fit_predict_set(w, set, x, derivatives) != OD_OK) return false;
  if (derivatives) memcpy(w->derived_at, x, (size_t)w->n * sizeof *x);
  w->begun = w->begun || derivatives;
  return true;
}

// Returns whether the stored predictions and derivatives of all fitted sets were computed at x.
static bool is_derived_at(const od_fit_work *w, const double *x) {
  for (int i = 0; i < w->n; i++)
    if (!(w->derived_at[i] == x[i])) return false;
  return true;
}

// Returns a block of all rows of a set that is predicted as a whole.
static od_fit_block whole_block(const od_fit_work *w, int set) {
  const double *dy = w->shooting ? w->shooting[set]->projected : w->dy[set];
  return (od_fit_block){set, w->np, 0, 0, w->f->data[set]->rows, dy};
}

// --- Streamed rows ------------------------------------------------------------------------------------------------

typedef struct stream {
  od_fit_work *w;
  od_fit_block block;  // the last received rows
  od_ls_take *take;
  void *to;
} stream;

// Writes one row: derivatives with respect to all parameters and to the initial state of its set; zero for the initial
// states of other sets.
static void put_row(const od_fit_work *w, const od_fit_block *b, const double *from, double part, double *to) {
  for (int c = 0; c < w->np; c++) to[c] = part * from[c];
  if (w->n == w->np) return;
  memset(to + w->np, 0, (size_t)(w->n - w->np) * sizeof *to);
  for (int c = w->np; c < b->columns; c++) to[od_fit_column(w, b, c)] = part * from[c];
}

// Computes the residuals of a block, their indices in the block's outputs, and the factors of their derivatives. Returns the
// number of residuals.
static int find_residuals(const od_fit_work *w, const od_fit_data *d, const od_predicted *rows, od_fit_passing *p) {
  int count = 0;
  for (int k = 0; k < rows->count; k++) {
    long row = rows->first + (long)k * rows->every;
    if (row >= d->fitted) break;
    for (int i = 0; i < w->ns; i++) {
      double measured = d->y[row * w->ns + i];
      p->r[count] = (rows->y[k * w->ny + i] - measured) / d->sigma[i];
      p->part[count] = 1 / d->sigma[i];
      p->of[count] = k * w->ny + i;
      count += !isnan(measured);
    }
  }
  return count;
}

static void pass_on(void *user, const od_predicted *rows) {
  stream *s = user;
  od_fit_work *w = s->w;
  od_fit_passing *p = &w->passing;
  int columns = s->block.columns, count = find_residuals(w, w->f->data[s->block.set], rows, p);
  if (rows->every == 1) keep_rows(w, s->block.set, rows);
  if (count == 0) return;
  // In most cases no row is left out, and the block is passed on without a copy.
  const double *J = rows->dy;
  if (J && (count < rows->count * w->ny || columns < w->n)) {
    J = p->J;
    for (int i = 0; i < count; i++)
      put_row(w, &s->block, rows->dy + (size_t)p->of[i] * (size_t)columns, 1, p->J + (size_t)i * (size_t)w->n);
  }
  s->take(s->to, count, p->r, J, p->part);
}

int od_fit_rows(void *user, const double *x, bool derivatives, int every, od_ls_take *take, void *to) {
  od_fit_work *w = user;
  w->derived_at[0] = NAN;
  if (!is_possible(w, x)) return 1;
  for (int set = 0; set < w->f->sets; set++) {
    if (w->f->data[set]->fitted == 0) continue;
    stream s = {
        w, {.set = set, .columns = od_predictor_columns(w->predictor[set]), .states = w->states[set]}, take, to};
    const od_predict_wish wish = {.sensitivities = derivatives, .every = every, .take = pass_on, .user = &s};
    if (od_fit_predict_rows(w, set, w->predictor[set], x, &wish) != OD_OK) return 1;
  }
  if (derivatives && every == 1) memcpy(w->derived_at, x, (size_t)w->n * sizeof *x);
  w->begun = w->begun || derivatives;
  return 0;
}

// --- Whole sets ---------------------------------------------------------------------------------------------------

// Computing values and derivatives together costs less than computing them separately, and most trials are accepted. After a
// rejected trial, only values are computed first.
int od_fit_residuals(void *user, const double *x, double *r) {
  od_fit_work *w = user;
  const od_fit_data *d;
  bool derivatives = w->eager;
  w->eager = false;
  if (!is_possible(w, x) || !predict_fitted(w, x, derivatives)) return 1;
  OD_FOR_EACH_RESIDUAL(w, d, set, k, i) *r++ = od_fit_residual(w, set, k, i);
  return 0;
}

int od_fit_jacobian(void *user, const double *x, double *J) {
  od_fit_work *w = user;
  const od_fit_data *d;
  w->eager = true;
  if (!is_derived_at(w, x) && !predict_fitted(w, x, true)) return 1;
  if (od_fit_eliminate(w) != OD_OK) return 1;
  OD_FOR_EACH_RESIDUAL(w, d, set, k, i) {
    od_fit_block block = whole_block(w, set);
    put_row(w, &block, od_fit_derivatives(w, &block, k, i), 1 / d->sigma[i], J);
    J += w->n;
  }
  return 0;
}

// --- Rows with derivatives at the solution ------------------------------------------------------------------------

od_status od_fit_stand(od_fit_work *w) {
  const double *x = w->f->search->x;
  bool held = w->shooting;
  for (int set = 0; set < w->f->sets; set++) held = held || w->dy[set];
  if (held && !is_derived_at(w, x) && !predict_fitted(w, x, true)) return OD_NOT_CONVERGED;
  return od_fit_eliminate(w);
}

od_status od_fit_visit_set(od_fit_work *w, int set, od_fit_visit *visit, void *user) {
  const double *dy = w->dy[set];
  if (!w->whole && !dy) return predict_and_visit(w, set, w->f->search->x, true, visit, user);
  od_fit_block block = w->whole ? whole_block(w, set) : block_of(w, set, 0, w->f->data[set]->rows, dy);
  visit(user, &block);
  return OD_OK;
}
