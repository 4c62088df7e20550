// Predictions of a fit's sets, and their rows with derivatives at the solution. Derivatives (rows x parameters) are kept in
// memory only if they are small; otherwise callers get them block by block, predicted again.
#include <math.h>
#include <string.h>

#include "identify/fit_work.h"

bool od_fit_is_from_anywhere(const od_fit_work *w) {
  return w->plan->start == OD_FIT_FROM_ANYWHERE;
}

// A set that is not fitted starts at the model's initial state.
od_status od_fit_predict_rows(const od_fit_work *w, int set, od_predictor *predictor, const double *x,
                              const od_predict_wish *wish) {
  const double *from = NULL;
  if (od_fit_is_from_anywhere(w)) {
    double *trial = w->x0 + w->nx;
    bool own = w->f->data[set]->fitted > 0 && !w->shooting;
    for (int i = 0; i < w->nx; i++) trial[i] = w->x0[i] + (own ? x[w->states[set] + i] : 0);
    from = trial;
  }
  return od_predict_rows(predictor, w->np ? x : NULL, from, wish);
}

static void keep(double *to, size_t first, size_t count, const double *from) {
  if (count > 0) memcpy(to + first, from, count * sizeof *to);
}

void od_fit_keep_rows(const od_fit_work *w, int set, const od_predicted *rows) {
  size_t ny = (size_t)w->ny, first = (size_t)rows->first * ny, count = (size_t)rows->count * ny,
         columns = (size_t)od_predictor_columns(w->predictor[set]);
  keep(w->y[set], first, count, rows->y);
  if (rows->dy && w->dy[set]) keep(w->dy[set], first * columns, count * columns, rows->dy);
}

// --- Into memory --------------------------------------------------------------------------------------------------

typedef struct values {
  double *y;
  size_t ny;
} values;
static void keep_values(void *user, const od_predicted *rows) {
  const values *v = user;
  keep(v->y, (size_t)rows->first * v->ny, (size_t)rows->count * v->ny, rows->y);
}

od_status od_fit_predict(const od_fit_work *w, int set, od_predictor *predictor, const double *x, double *y) {
  values v = {y, (size_t)w->ny};
  const od_predict_wish wish = {.take = keep_values, .user = &v};
  return od_fit_predict_rows(w, set, predictor, x, &wish);
}

// User data of the predictor's callback. The callback may visit blocks.
typedef struct keeper {
  const od_fit_work *w;
  int set;
  od_fit_visit *visit;
  void *user;
} keeper;

static od_fit_block block_of(const od_fit_work *w, int set, long first, long count, const double *dy) {
  return (od_fit_block){set, od_predictor_columns(w->predictor[set]), w->states[set], first, count, dy};
}

static void keep_rows(void *user, const od_predicted *rows) {
  const keeper *to = user;
  od_fit_keep_rows(to->w, to->set, rows);
  od_fit_block block = block_of(to->w, to->set, rows->first, rows->count, rows->dy);
  if (to->visit) to->visit(to->user, &block);
}

static od_status predict_and_visit(const od_fit_work *w, int set, const double *x, bool derivatives,
                                   od_fit_visit *visit, void *user) {
  keeper to = {w, set, visit, user};
  const od_predict_wish wish = {.sensitivities = derivatives, .take = keep_rows, .user = &to};
  return od_fit_predict_rows(w, set, w->predictor[set], x, &wish);
}

od_status od_fit_predict_set(const od_fit_work *w, int set, const double *x, bool derivatives) {
  if (w->f->data[set]->set->source)
    return od_predict(w->predictor[set], x, NULL, w->y[set], derivatives ? w->dy[set] : NULL);
  if (w->shooting && w->shooting[set]) return od_shooting_predict(w->shooting[set], x, derivatives);
  return predict_and_visit(w, set, x, derivatives, NULL, NULL);
}

bool od_fit_predict_fitted(od_fit_work *w, const double *x, bool derivatives) {
  w->derived_at[0] = NAN;
  for (int set = 0; set < w->f->sets; set++)
    if (w->f->data[set]->fitted > 0 && od_fit_predict_set(w, set, x, derivatives) != OD_OK) return false;
  if (derivatives) memcpy(w->derived_at, x, (size_t)w->n * sizeof *x);
  w->begun = w->begun || derivatives;
  return true;
}

bool od_fit_is_derived_at(const od_fit_work *w, const double *x) {
  for (int i = 0; i < w->n; i++)
    if (!(w->derived_at[i] == x[i])) return false;
  return true;
}

// --- Rows with derivatives at the solution ------------------------------------------------------------------------

od_fit_block od_fit_whole_block(const od_fit_work *w, int set) {
  const double *dy = w->shooting ? w->shooting[set]->projected : w->dy[set];
  return (od_fit_block){set, w->np, 0, 0, w->f->data[set]->rows, dy};
}

static bool any_is_kept(const od_fit_work *w) {
  for (int set = 0; set < w->f->sets; set++)
    if (w->dy[set]) return true;
  return false;
}

od_status od_fit_stand(od_fit_work *w) {
  const double *x = w->f->search->x;
  bool held = w->shooting || any_is_kept(w);
  if (held && !od_fit_is_derived_at(w, x) && !od_fit_predict_fitted(w, x, true)) return OD_NOT_CONVERGED;
  return od_fit_eliminate(w);
}

od_status od_fit_visit_set(od_fit_work *w, int set, od_fit_visit *visit, void *user) {
  const double *dy = w->dy[set];
  if (!w->whole && !dy) return predict_and_visit(w, set, w->f->search->x, true, visit, user);
  od_fit_block block = w->whole ? od_fit_whole_block(w, set) : block_of(w, set, 0, w->f->data[set]->rows, dy);
  visit(user, &block);
  return OD_OK;
}
