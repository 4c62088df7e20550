// Residuals of all fitted samples in units of their noise, and their derivatives, for the least-squares engine: row by row
// during the prediction, or all together if sets are predicted as a whole.
#include <math.h>
#include <string.h>

#include "identify/fit_work.h"

double od_fit_residual(const od_fit_work *w, int set, long k, int i) {
  const od_fit_data *d = w->f->data[set];
  return (w->y[set][k * w->ny + i] - d->y[k * w->ns + i]) / d->sigma[i];
}

// Whether all parameters are within their possible range. The range is not a bound of the search at first, because any bound
// changes the steps. A trial outside the range ends the search; another search follows with this end of the range as a bound.
static bool is_possible(od_fit_work *w, const double *x) {
  const od_estimated *p = w->plan->e->parameter;
  for (int i = 0; i < w->np && !w->left; i++)
    if (x[i] < p[i].least || x[i] > p[i].most) w->left = true;
  if (w->left && isnan(w->left_at[0])) memcpy(w->left_at, x, (size_t)w->n * sizeof *x);
  return !w->left;
}

// --- Streamed rows ------------------------------------------------------------------------------------------------

typedef struct stream {
  od_fit_work *w;
  od_fit_block block;  // the last rows received
  od_ls_take *take;
  void *to;
} stream;

// One row: derivatives by all parameters and by the initial state of its set; zero for the initial states of other sets.
static void put_row(const od_fit_work *w, const od_fit_block *b, const double *from, double part, double *to) {
  for (int c = 0; c < w->np; c++) to[c] = part * from[c];
  if (w->n == w->np) return;
  memset(to + w->np, 0, (size_t)(w->n - w->np) * sizeof *to);
  for (int c = w->np; c < b->columns; c++) to[od_fit_column(w, b, c)] = part * from[c];
}

// The residuals of a block, their entries in the block's outputs, and the factors of their derivatives.
static int find_residuals(const od_fit_work *w, const od_fit_data *d, const od_predicted *rows, od_fit_passing *p) {
  int count = 0;
  for (int k = 0; k < rows->count; k++) {
    long row = rows->first + (long)k * rows->every;
    if (row >= d->fitted) break;
    for (int i = 0; i < w->ns; i++) {
      double said = d->y[row * w->ns + i];
      p->r[count] = (rows->y[k * w->ny + i] - said) / d->sigma[i];
      p->part[count] = 1 / d->sigma[i];
      p->of[count] = k * w->ny + i;
      count += !isnan(said);
    }
  }
  return count;
}

static void pass_on(void *user, const od_predicted *rows) {
  stream *s = user;
  od_fit_work *w = s->w;
  od_fit_passing *p = &w->passing;
  int columns = s->block.columns, count = find_residuals(w, w->f->data[s->block.set], rows, p);
  if (rows->every == 1) od_fit_keep_rows(w, s->block.set, rows);
  if (count == 0) return;
  // In most cases the rows are the block itself.
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

// Values and derivatives together cost less than separately, and most trials are accepted. After a rejected trial, values are
// computed first.
int od_fit_residuals(void *user, const double *x, double *r) {
  od_fit_work *w = user;
  const od_fit_data *d;
  bool derivatives = w->eager;
  w->eager = false;
  if (!is_possible(w, x) || !od_fit_predict_fitted(w, x, derivatives)) return 1;
  OD_FOR_EACH_RESIDUAL(w, d, set, k, i) *r++ = od_fit_residual(w, set, k, i);
  return 0;
}

int od_fit_jacobian(void *user, const double *x, double *J) {
  od_fit_work *w = user;
  const od_fit_data *d;
  w->eager = true;
  if (!od_fit_is_derived_at(w, x) && !od_fit_predict_fitted(w, x, true)) return 1;
  if (od_fit_eliminate(w) != OD_OK) return 1;
  OD_FOR_EACH_RESIDUAL(w, d, set, k, i) {
    od_fit_block block = od_fit_whole_block(w, set);
    put_row(w, &block, od_fit_derivatives(w, &block, k, i), 1 / d->sigma[i], J);
    J += w->n;
  }
  return 0;
}
