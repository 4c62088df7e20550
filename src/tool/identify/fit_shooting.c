// Multiple shooting of a fit: segments of each fitted set, and the callbacks of the search.
#include <math.h>
#include <string.h>

#include "identify/fit_work.h"

// Largest growth of a change of a state over an automatically chosen segment. Changes are relative to the sizes of states.
static const double most_growth = 30;
// Limit of residuals, as a fraction of a signal's movement. Segments with smaller residuals are short enough.
static const double small_residual = 0.3;
enum {
  LEAST_ROWS = 5,
  CHOSEN_ROWS = 10
};  // least number of rows of a segment of given length, and of an automatically chosen segment

static od_shooting_data data_of(const od_fit_work *w, int set) {
  const od_fit_data *d = w->f->data[set];
  return (od_shooting_data){d->y, d->sigma, w->plan->loss, od_fit_loss_scale(w->plan)};
}

// --- Creation -------------------------------------------------------------------------------------------------------

static od_status make_segments(od_fit_work *w, int set, int segments, od_error *err) {
  const od_fit_data *d = w->f->data[set];
  od_predictor *next = NULL;
  od_status status = od_fit_predictor(w, set, 1, true, &next, err);
  if (status != OD_OK) return status;
  const od_shooting_of of = {.segments = segments,
                             .rows = d->rows,
                             .fitted = d->fitted,
                             .nx = w->nx,
                             .np = w->np,
                             .ny = w->ny,
                             .first = w->predictor[set],
                             .next = next,
                             .free_start = od_fit_is_from_anywhere(w, set),
                             .y = w->y[set]};
  status = od_shooting_new(&of, &w->shooting[set], err);
  if (status != OD_OK) od_predictor_free(next);
  return status;
}

// Returns the largest growth of a change of a state from a node to the end of its segment.
static double growth_of(const od_shooting *s) {
  double most = 0;
  for (int k = 0; k + 1 < s->nodes; k++)
    for (int i = 0; i < s->nx; i++)
      for (int j = 0; j < s->nx; j++)
        most = fmax(most, fabs(s->F[(k * s->nx + i) * s->nx + j]) * s->size[j] / s->size[i]);
  return most;
}

// Returns the residuals of a set divided by the movement of its sensors about their means. Both are sums of squares in units of
// noise. The divisor also includes the noise, so that the divisor is not zero for constant sensors.
static double part_left(const od_fit_work *w, int set) {
  const od_fit_data *d = w->f->data[set];
  double left = 0, moved = 0;
  for (int i = 0; i < w->ns; i++) {
    double mean = 0, count = 0;
    for (long k = 0; k < d->fitted; k++)
      if (!isnan(d->y[k * w->ns + i])) mean += d->y[k * w->ns + i], count++;
    for (long k = 0; k < d->fitted && count > 0; k++) {
      if (isnan(d->y[k * w->ns + i])) continue;
      left += pow(od_fit_residual(w, set, k, i), 2);
      moved += 1 + pow((d->y[k * w->ns + i] - mean / count) / d->sigma[i], 2);
    }
  }
  return left / moved;
}

// Computes part_left() for a number of segments at the start values. Infinite: the prediction fails, or changes grow too
// much. Fails like make_segments().
static od_status try_segments(od_fit_work *w, int set, int segments, double *left, od_error *err) {
  od_shooting_data data = data_of(w, set);
  od_status status = make_segments(w, set, segments, err);
  if (status != OD_OK) return status;
  od_shooting *s = w->shooting[set];
  bool good = od_shooting_begin(s, w->start, w->x0, &data) == OD_OK &&
              od_shooting_predict(s, w->start, true) == OD_OK && growth_of(s) <= most_growth;
  *left = good ? part_left(w, set) : INFINITY;
  od_shooting_free(s);
  w->shooting[set] = NULL;
  return OD_OK;
}

// Chooses the first of the numbers 4, 8, 16, ... of segments whose residuals at the start values are below small_residual. If there
// is no such number, chooses the number with the smallest residuals. Fails like make_segments().
static od_status choose_segments(od_fit_work *w, int set, od_error *err) {
  int best = 4;
  double least = INFINITY;
  for (int segments = 4; segments * CHOSEN_ROWS <= w->f->data[set]->fitted; segments *= 2) {
    double left;
    od_status status = try_segments(w, set, segments, &left, err);
    if (status != OD_OK) return status;
    if (left < least) least = left, best = segments;
    if (least < small_residual * small_residual) break;
  }
  return make_segments(w, set, best, err);
}

static od_status make_set(od_fit_work *w, int set, od_error *err) {
  const od_fit_data *d = w->f->data[set];
  const od_fit_shooting *plan = &w->plan->shooting;
  double length = d->time[d->fitted - 1] - d->time[0];
  if (plan->segments == 0 && plan->length == 0 && d->fitted >= 4 * CHOSEN_ROWS) return choose_segments(w, set, err);
  double segments = plan->segments > 0 ? plan->segments : plan->length > 0 ? ceil(length / plan->length - 1e-9) : 1;
  if (segments * LEAST_ROWS > (double)d->fitted)
    return od_fail(err, OD_BAD_INPUT,
                   "the set '%s' has %ld fitted rows, too few for %.0f segments; each segment needs at least %d rows",
                   d->set->name, d->fitted, segments, LEAST_ROWS);
  return make_segments(w, set, segments < 1 ? 1 : (int)segments, err);
}

od_status od_fit_make_shooting(od_fit_work *w, od_error *err) {
  od_status status = OD_OK;
  if (!od_fit_is_shooting(w)) return OD_OK;
  w->shooting = OD_TAKE(&w->arena, od_shooting *, w->f->sets);
  if (!w->shooting) return od_fail(err, OD_NO_MEMORY, "out of memory");
  w->whole = true;
  for (int set = 0; set < w->f->sets && status == OD_OK; set++)
    if (w->f->data[set]->fitted > 0) status = make_set(w, set, err);
  return status;
}

bool od_fit_is_shooting(const od_fit_work *w) {
  return w->plan->shooting.on && !w->options->only_predict;
}

// --- Callbacks of the search ----------------------------------------------------------------------------------------

static int begin(void *user, const double *x) {
  od_fit_work *w = user;
  w->derived_at[0] = NAN;
  for (int set = 0; set < w->f->sets; set++) {
    od_shooting_data data = data_of(w, set);
    if (w->shooting[set] && od_shooting_begin(w->shooting[set], x, w->x0, &data) != OD_OK) return 1;
  }
  return 0;
}

static void move(void *user, const double *x, double part) {
  od_fit_work *w = user;
  w->derived_at[0] = NAN;
  for (int set = 0; set < w->f->sets; set++)
    if (w->shooting[set]) od_shooting_move(w->shooting[set], x, part);
}

static double gap(void *user) {
  const od_fit_work *w = user;
  double sum = 0;
  for (int set = 0; set < w->f->sets; set++)
    if (w->shooting[set]) sum += od_shooting_gap(w->shooting[set]);
  return sum;
}

static void accept(void *user) {
  od_fit_work *w = user;
  for (int set = 0; set < w->f->sets; set++)
    if (w->shooting[set]) od_shooting_accept(w->shooting[set], w->derived_at);
}

static void shift(void *user, double *r) {
  const od_fit_work *w = user;
  const od_fit_data *d;
  OD_FOR_EACH_RESIDUAL(w, d, set, k, i) *r++ = w->shooting[set]->shift[k * w->ny + i] / d->sigma[i];
}

od_ls_hidden od_fit_hidden(const od_fit_work *w) {
  int count = 0;
  for (int set = 0; set < w->f->sets; set++)
    if (w->shooting[set] && od_fit_is_from_anywhere(w, set)) count += w->nx;
  return (od_ls_hidden){count, begin, move, gap, accept, shift};
}

od_status od_fit_eliminate(od_fit_work *w) {
  od_status status = OD_OK;
  for (int set = 0; w->shooting && set < w->f->sets && status == OD_OK; set++) {
    od_shooting_data data = data_of(w, set);
    if (w->shooting[set]) status = od_shooting_eliminate(w->shooting[set], &data);
  }
  return status;
}

od_status od_fit_shooting_status(od_fit_work *w, int set) {
  od_shooting_data data = data_of(w, set);
  od_status status = od_shooting_begin(w->shooting[set], w->start, w->x0, &data);
  if (status == OD_OK) status = od_shooting_predict(w->shooting[set], w->start, true);
  return status;
}

// --- Results at the solution ----------------------------------------------------------------------------------------

void od_fit_keep_gaps(od_fit_work *w, int set) {
  const od_shooting *s = w->shooting ? w->shooting[set] : NULL;
  od_fit_set_result *r = &w->f->set[set];
  if (!s) return;
  r->segments = s->nodes;
  for (int k = 0; k + 1 < s->nodes; k++)
    for (int i = 0; i < s->nx; i++) {
      double part = fabs(s->gap[k * s->nx + i]) / s->size[i];
      if (!(part > r->gap)) continue;
      r->gap = part;
      r->gap_time = w->f->data[set]->time[s->row[k + 1]];
    }
}

od_status od_fit_shooting_half(od_fit_work *w, int set, double *half, od_error *err) {
  od_shooting *s = w->shooting[set], kept = *s;
  OD_SCRATCH(scratch);
  OD_OWNED(od_predictor_free) od_predictor *first = NULL;
  OD_OWNED(od_predictor_free) od_predictor *next = NULL;
  od_shooting_data data = data_of(w, set);
  size_t values = (size_t)w->f->data[set]->rows * (size_t)w->ny;
  double *y = OD_TAKE(&scratch, double, values);
  if (!y) return od_fail(err, OD_NO_MEMORY, "out of memory");
  od_status status = od_fit_predictor(w, set, 2, false, &first, err);
  if (status == OD_OK) status = od_fit_predictor(w, set, 2, true, &next, err);
  if (status != OD_OK) return status;
  memcpy(y, s->y, values * sizeof *y);
  s->first = first, s->next = next;
  od_status predicted = od_shooting_predict(s, w->f->search->x, false);
  if (predicted == OD_OK) predicted = od_shooting_change(s, &data, y, half);
  for (size_t i = 0; i < values; i++) half[i] = predicted == OD_OK ? y[i] + half[i] : (double)NAN;
  memcpy(s->y, y, values * sizeof *y);
  s->first = kept.first, s->next = kept.next;
  return OD_OK;
}
