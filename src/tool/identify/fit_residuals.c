// Residuals of all fitted samples in units of their noise, and their derivatives, as the least-squares engine wants them.
#include <math.h>
#include <string.h>

#include "identify/fit_work.h"

bool od_fit_is_from_anywhere(const od_fit_work *w) {
  return w->plan->start == OD_FIT_FROM_ANYWHERE;
}

// A set that nothing is fitted to begins at the model's own state.
od_status od_fit_predict(const od_fit_work *w, int set, od_predictor *predictor, const double *x, double *y,
                         double *dy) {
  const double *from = NULL;
  if (od_fit_is_from_anywhere(w)) {
    double *trial = w->x0 + w->nx;
    bool own = w->f->data[set]->fitted > 0 && !w->shooting;
    for (int i = 0; i < w->nx; i++) trial[i] = w->x0[i] + (own ? x[w->states[set] + i] : 0);
    from = trial;
  }
  return od_predict(predictor, w->np ? x : NULL, from, y, dy);
}

od_status od_fit_predict_set(const od_fit_work *w, int set, const double *x, bool derivatives) {
  if (w->shooting && w->shooting[set]) return od_shooting_predict(w->shooting[set], x, derivatives);
  return od_fit_predict(w, set, w->predictor[set], x, w->y[set], derivatives ? w->dy[set] : NULL);
}

// All fitted sets. Values and derivatives together cost less than one after the other, and most trials are accepted; after
// one that was not, values come first.
static bool predict_fitted(od_fit_work *w, const double *x, bool derivatives) {
  w->derived_at[0] = NAN;
  for (int set = 0; set < w->f->sets; set++)
    if (w->f->data[set]->fitted > 0 && od_fit_predict_set(w, set, x, derivatives) != OD_OK) return false;
  if (derivatives) memcpy(w->derived_at, x, (size_t)w->n * sizeof *x);
  w->begun = w->begun || derivatives;
  return true;
}

static bool is_derived_at(const od_fit_work *w, const double *x) {
  for (int i = 0; i < w->n; i++)
    if (!(w->derived_at[i] == x[i])) return false;
  return true;
}

double od_fit_residual(const od_fit_work *w, int set, long k, int i) {
  const od_fit_data *d = w->f->data[set];
  return (w->y[set][k * w->ny + i] - d->y[k * w->ns + i]) / d->sigma[i];
}

od_fit_row od_fit_row_of(const od_fit_work *w, int set, long k, int i) {
  if (w->shooting && w->shooting[set])
    return (od_fit_row){w->shooting[set]->projected + (k * w->ny + i) * w->np, 1 / w->f->data[set]->sigma[i], w->np, 0};
  int columns = od_predictor_columns(w->predictor[set]);
  return (od_fit_row){w->dy[set] + (k * w->ny + i) * columns, 1 / w->f->data[set]->sigma[i], columns, w->states[set]};
}

// What is possible is no bound of the search at first, for any bound changes its steps. A trial that leaves it ends
// this search; another one follows with what was left as a bound.
static bool is_possible(od_fit_work *w, const double *x) {
  const od_estimated *p = w->plan->e->parameter;
  for (int i = 0; i < w->np && !w->left; i++)
    if (x[i] < p[i].least || x[i] > p[i].most) w->left = true;
  if (w->left && isnan(w->left_at[0])) memcpy(w->left_at, x, (size_t)w->n * sizeof *x);
  return !w->left;
}

int od_fit_residuals(void *user, const double *x, double *r) {
  od_fit_work *w = user;
  const od_fit_data *d;
  bool derivatives = w->eager;
  w->eager = false;
  if (!is_possible(w, x) || !predict_fitted(w, x, derivatives)) return 1;
  OD_FOR_EACH_RESIDUAL(w, d, set, k, i) *r++ = od_fit_residual(w, set, k, i);
  return 0;
}

// Rows of a set have its own parameters' columns; those of other sets' initial states are zero.
int od_fit_jacobian(void *user, const double *x, double *J) {
  od_fit_work *w = user;
  const od_fit_data *d;
  w->eager = true;
  if (!is_derived_at(w, x) && !predict_fitted(w, x, true)) return 1;
  if (od_fit_eliminate(w) != OD_OK) return 1;
  OD_FOR_EACH_RESIDUAL(w, d, set, k, i) {
    od_fit_row row = od_fit_row_of(w, set, k, i);
    if (w->n > w->np) memset(J + w->np, 0, (size_t)(w->n - w->np) * sizeof *J);
    for (int c = 0; c < w->np; c++) J[c] = row.part * row.derivative[c];
    for (int c = w->np; c < row.columns; c++) J[row.states + c - w->np] = row.part * row.derivative[c];
    J += w->n;
  }
  return 0;
}
