// The safeguarded iteration over a window, cut into pieces: a sample of a forward pass or of catching up is a piece, several
// samples of a backward pass are one. A sample brings no more than so many pieces; a window that is complete is done when as many
// samples again have come.
//
//   1  The live observer has linearized the window: a backward pass gives a first trajectory.
//   2  Where its J cannot be noise, the trajectory from which it came is tried, too (that of an earlier window with the same
//      start, else the prior's mean), and the better one is taken. The other one is tried later, where this one leads nowhere.
//   3  Filter about the trajectory, backward pass, next trajectory: half as far as long as J does not fall. It ends when the
//      filter's end is no farther from the trajectory's than a part of its sigma.
//   4  The filter's end is the new estimate there. The worker takes the samples that came meanwhile, and replaces the live observer.
//
// Windows grow from the start, each twice as long as the one before, up to the longest: only then is so much known that the rest
// may be told by a mean and a covariance. Each of those that follow begins where the one before ends.
#include <math.h>
#include <string.h>

#include "observe/smoother.h"

enum { FIRST_WINDOW = 16 };
enum { PIECES = 16, BACK = 8 };  // per sample; samples of a backward pass in a piece
enum { MOST_ACCEPTED = 6, MOST_PASSES = 10, EASY = 2, PATIENCE = 4 };
static const double near = 0.3;            // sigmas from a trajectory's end: converged
static const double least_part = 1. / 16;  // of a step
static const double surprise = 6;          // sigmas of J that are no noise
static const double doubt = 3;             // sigmas of J that may be none
static const double fade = 0.8;            // of J, from one window to the next

void od_smoother_cut(od_smoother *s, od_observer *o) {
  s->phase = OD_SMOOTHER_IDLE;
  s->jumped = 0;
  od_smoother_begin_here(s, o);
  s->origin = s->first;
  s->due = s->first + FIRST_WINDOW;
}

void od_smoother_restart(od_smoother *s, od_observer *o) {
  od_smoother_cut(s, o);
  s->settled = 0;
  s->chi = s->chi_expected = 0;
  s->begun = s->first;
}

// The samples up to `end` are a window.
static void begin_window(od_smoother *s, long end) {
  long count = end - s->origin;
  s->end = s->at = end;
  s->due = s->end + (count < s->capacity ? count : s->capacity);
  s->phase = OD_SMOOTHER_BACKWARD;
  s->alpha = 1;
  s->best = INFINITY;
  s->accepted = s->passes = s->comparing = s->converged = s->widened = s->has_end = s->fresh = s->restoring =
      s->attempt = s->spare = 0;
}

static void begin_forward(od_smoother *s, double alpha) {
  s->phase = OD_SMOOTHER_FORWARD;
  s->at = s->first;
  s->alpha = alpha;
  s->fresh = 0;
}

static void begin_backward(od_smoother *s) {
  s->phase = OD_SMOOTHER_BACKWARD;
  s->at = s->end;
}

// ---- a trajectory that was accepted

static void keep_end(od_smoother *s, bool back) {
  od_observer *w = od_smoother_worker(s);
  size_t d = sizeof(double), n = (size_t)s->n;
  const struct {
    void *here, *aside;
    size_t size;
  } part[] = {{od_observer_sim(w), (char *)s + s->end_sim, s->sim_size},
              {od_observer_at(w, w->P), od_smoother_at(s, s->end_P), n * n * d},
              {od_observer_at(w, od_observer_linear(w)->delta), od_smoother_at(s, s->end_delta), n * d},
              {od_observer_at(w, w->bias), od_smoother_at(s, s->end_bias), n * d},
              {&s->J, &s->end_J, sizeof s->J},
              {&s->measured, &s->end_measured, sizeof s->measured}};
  for (size_t i = 0; i < sizeof part / sizeof *part; i++)
    memcpy(back ? part[i].here : part[i].aside, back ? part[i].aside : part[i].here, part[i].size);
  if (back) od_sim_parameters(od_observer_sim(w), od_observer_at(w, w->p));
}

// How far parameter i of the worker can go that way.
static double within_bounds(const od_observer *w, int i, double by) {
  double p = od_observer_parameters(w)[i];
  return fmin(fmax(p + by, od_observer_at(w, w->low)[i]), od_observer_at(w, w->high)[i]) - p;
}

static bool is_near(const od_smoother *s) {
  const od_observer *w = od_smoother_worker(s);
  od_covariance b = od_observer_belief(w);
  const double *delta = od_observer_at(w, od_observer_linear(w)->delta);
  for (int i = 0; i < s->n; i++) {
    double by = i < s->nx ? delta[i] : within_bounds(w, i - s->nx, delta[i]), variance = od_covariance_variance(&b, i);
    if (!(by * by <= near * near * variance) && by != 0) return false;
  }
  return true;
}

// The adjoints of the trajectory that was tried last become `now`.
static void keep_adjoints(od_smoother *s) {
  double *trial = od_smoother_at(s, s->lambda);
  for (long k = s->first; k <= s->end; k++) {
    od_smoother_trial(s, k, trial);
    memcpy(od_smoother_at(s, s->now) + (k - s->first) * s->n, trial, (size_t)s->n * sizeof *trial);
  }
}

// What J is expected to be, and how far above that it may be by chance.
static double expected_J(const od_smoother *s) {
  return (double)s->measured + s->n;
}
static bool is_surprise(double J, double expected, double sigmas) {
  return J > expected + sigmas * sqrt(2 * expected);
}

// ---- the end of a window

// The filter has settled when as many samples as a whole window have been smoothed since it began, the last window was easy and
// began no farther from its prior than that said, and J, over the last few windows, is no larger than noise makes it. Short windows
// do not show that a model is wrong; what such a window comes to is changed by the next one.
static void judge_window(od_smoother *s) {
  double J = s->chi + s->end_J, expected = s->chi_expected + (double)s->end_measured;
  s->settled = s->end - s->begun >= s->capacity && s->converged && s->accepted <= EASY && !s->widened &&
               !is_surprise(J, expected, doubt);
}

// A window that is not to be looked at again counts less with each that follows.
static void remember_J(od_smoother *s) {
  s->chi = fade * (s->chi + s->end_J);
  s->chi_expected = fade * (s->chi_expected + (double)s->end_measured);
}

// Whether the next window begins where this one began.
static bool grows(const od_smoother *s) {
  return 4 * (s->end - s->first) <= 3 * s->capacity;
}

// The worker goes to the new estimate at the window's end; the next window begins there, or where this one began.
static od_status close_window(od_smoother *s) {
  od_observer *w = od_smoother_worker(s);
  size_t d = sizeof(double);
  double *prior = od_smoother_at(s, s->work);
  memcpy(prior, od_observer_state(w), (size_t)s->nx * d);
  if (s->np) memcpy(prior + s->nx, od_observer_parameters(w), (size_t)s->np * d);
  double *delta = od_observer_at(w, od_observer_linear(w)->delta);
  const od_covariance b = od_observer_belief(w);
  for (int i = 0; i < s->np; i++) od_smoother_stay_within(s, &b, i, prior, delta);
  od_status status = od_observer_move(w, prior, delta);
  if (status != OD_OK) return status;
  judge_window(s);
  if (grows(s)) {
    s->kept_end = s->end;
    if (s->due > s->first + s->capacity) s->due = s->first + s->capacity;
    keep_adjoints(s);
  } else {
    remember_J(s);
    long last = s->last;
    int corrected = s->corrected;
    s->last = s->end;
    s->corrected = 1;
    od_smoother_begin_here(s, w);
    s->last = last;
    s->corrected = corrected;
  }
  ((od_iterated *)od_observer_memory(w))->wary = 1;
  s->phase = OD_SMOOTHER_CATCH_UP;
  s->at = s->end;
  return OD_OK;
}

// Runs along a trajectory again, as far as another one came that was not accepted: slopes become its own again.
static od_status go_back(od_smoother *s, double alpha) {
  s->restoring = 1;
  s->back_to = s->at;
  s->best = INFINITY;
  begin_forward(s, alpha);
  return OD_OK;
}

// Begins again with the trajectory whose adjoints are `now`.
static void begin_again(od_smoother *s) {
  s->accepted = s->passes = 0;
  s->best = INFINITY;
  begin_forward(s, 0);
}

// Whether the accepted trajectory does not explain the samples of a window that begins with what people told.
static bool is_hopeless(const od_smoother *s) {
  return s->first == s->begun && is_surprise(s->end_J, (double)s->end_measured, doubt);
}

// Of the two trajectories to begin with, the one that was not taken is put aside: it may lead to a better end.
static void put_aside(od_smoother *s, size_t which) {
  size_t count = (size_t)(s->end - s->first + 1) * (size_t)s->n;
  memcpy(od_smoother_at(s, s->aside), od_smoother_at(s, which), count * sizeof(double));
  s->spare = 1;
}

// A trajectory that does not explain the samples may be one from which there is no way down to the best one, at a bound, say. Then
// the one that was put aside is tried as well, or the prior's mean, and the better one of what they lead to is taken.
static bool try_other_start(od_smoother *s) {
  size_t count = (size_t)(s->end - s->first + 1) * (size_t)s->n, size = count * sizeof(double);
  double *now = od_smoother_at(s, s->now), *aside = od_smoother_at(s, s->aside);
  if (s->attempt == 0 && is_hopeless(s)) {
    if (s->fresh) keep_adjoints(s);
    for (size_t i = 0; i < count; i++) {
      double other = s->spare ? aside[i] : 0;
      aside[i] = now[i];
      now[i] = other;
    }
    s->aside_J = s->end_J;
    s->attempt = 1;
    begin_again(s);
    return true;
  }
  if (s->attempt == 1 && !(s->end_J < s->aside_J)) {
    memcpy(now, aside, size);
    s->attempt = 2;
    begin_again(s);
    s->passes = MOST_PASSES;
    return true;
  }
  return false;
}

static od_status finish(od_smoother *s) {
  if (try_other_start(s)) return OD_OK;
  if (!s->fresh) return go_back(s, 0);
  bool told = s->widens && s->first == s->begun;  // later priors are what samples say
  if (!told || !s->converged || s->widened || !od_smoother_start_is_far(s)) return close_window(s);
  // The same trajectory, of which another prior makes something else.
  keep_adjoints(s);
  od_smoother_widen_start(s, od_smoother_at(s, s->now));
  s->widened = 1;
  begin_again(s);
  return OD_OK;
}

static void replace_live(od_smoother *s, od_observer *o) {
  const od_observer *w = od_smoother_worker(s);
  size_t d = sizeof(double), n = (size_t)s->n;
  memcpy(od_observer_sim(o), od_observer_sim(od_smoother_worker(s)), s->sim_size);
  memcpy(od_observer_at(o, o->P), od_observer_at(w, w->P), n * n * d);
  memcpy(od_observer_at(o, o->bias), od_observer_at(w, w->bias), n * d);
  if (s->np) memcpy(od_observer_at(o, o->p), od_observer_at(w, w->p), (size_t)s->np * d);
  od_smoother_live(s)->wary = ((od_iterated *)od_observer_memory(w))->wary;
  s->phase = OD_SMOOTHER_IDLE;
}

// ---- trajectories

static bool is_enough(const od_smoother *s) {
  return s->passes >= (s->attempt == 0 && is_hopeless(s) ? PATIENCE : MOST_PASSES);
}

static od_status accept(od_smoother *s) {
  s->best = s->J;
  s->has_end = s->fresh = 1;
  s->accepted++;
  s->comparing = 0;
  s->converged = is_near(s);
  keep_end(s, false);
  bool many = s->attempt == 0 && s->accepted >= MOST_ACCEPTED;
  if (s->converged || many || is_enough(s)) return finish(s);
  begin_backward(s);
  return OD_OK;
}

// The first trajectory, and perhaps another one to begin with.
static od_status judge_first(od_smoother *s, bool complete) {
  bool better = complete && s->J < s->best;
  if (s->comparing == 0 && complete && !is_surprise(s->J, expected_J(s), surprise)) return accept(s);
  if (s->comparing == 0) {
    if (complete) {
      s->best = s->J;
      keep_end(s, false);
    }
    s->comparing = 1;
    begin_forward(s, 0);
    return OD_OK;
  }
  if (!better && !(s->best < (double)INFINITY)) return OD_NOT_CONVERGED;
  if (s->best < (double)INFINITY) put_aside(s, better ? s->next : s->now);  // else it cannot even be simulated
  return better ? accept(s) : go_back(s, 1);
}

static od_status judge(od_smoother *s, bool complete) {
  s->passes++;
  if (!s->has_end) return judge_first(s, complete);
  if (complete && s->J < s->best) return accept(s);
  if (s->attempt > 0 && s->accepted == 0) return finish(s);  // the other start cannot even be simulated
  if (s->alpha / 2 < least_part || is_enough(s)) return finish(s);
  begin_forward(s, s->alpha / 2);
  return OD_OK;
}

// ---- pieces

static od_status piece_back(od_smoother *s) {
  for (int i = 0; i < BACK; i++) {
    od_smoother_backward(s, s->at);
    if (s->at > s->first) {
      s->at--;
      continue;
    }
    begin_forward(s, 1);
    return OD_OK;
  }
  return OD_OK;
}

// The trajectory gone back to is the accepted one, or becomes it.
static od_status end_going_back(od_smoother *s) {
  s->restoring = 0;
  keep_end(s, true);
  if (!s->has_end) return accept(s);
  s->fresh = 1;
  return close_window(s);
}

static od_status piece_forward(od_smoother *s) {
  od_status status = od_smoother_forward(s, s->at);
  if (status != OD_OK && s->restoring) return status;
  if (status != OD_OK || s->J > s->best) return judge(s, false);
  if (s->restoring && s->at == s->back_to) return end_going_back(s);
  if (s->at == s->end) return judge(s, true);
  s->at++;
  return OD_OK;
}

static od_status piece_catch_up(od_smoother *s, od_observer *o) {
  if (s->at == s->last) {
    replace_live(s, o);
    return OD_OK;
  }
  // A window may be complete before the present is reached.
  if (s->at - s->first == s->capacity) {
    begin_window(s, s->at);
    return OD_OK;
  }
  return od_smoother_catch_up(s, ++s->at);
}

// Too much has come meanwhile: so much that the next window would be late. The last one of those that grow has twice the time,
// since what it leaves undone is not done later.
static bool is_late(const od_smoother *s) {
  long length = s->end - s->first, since = s->last - s->end;
  if (s->at_once || s->restoring || s->attempt == 2 || s->phase == OD_SMOOTHER_CATCH_UP) return false;
  bool grown = s->first == s->origin && !grows(s);
  return grown ? 2 * since > 3 * s->capacity : 4 * since > 3 * length + 32;
}

// With the best that there is. A backward pass has begun to replace `now` by the adjoints that were accepted; they are `trial`.
static od_status finish_soon(od_smoother *s) {
  if (!s->has_end) return OD_NOT_CONVERGED;
  if (s->attempt == 1 && try_other_start(s)) return OD_OK;
  return s->fresh ? close_window(s) : go_back(s, 0);
}

void od_smoother_look(od_smoother *s) {
  if (s->phase == OD_SMOOTHER_IDLE && s->last >= s->due) begin_window(s, s->last);
}

void od_smoother_work(od_smoother *s, od_observer *o) {
  od_status status = OD_OK;
  od_smoother_look(s);
  for (int piece = 0; s->phase != OD_SMOOTHER_IDLE && (s->at_once || piece < PIECES) && status == OD_OK; piece++) {
    if (is_late(s))
      status = finish_soon(s);
    else if (s->phase == OD_SMOOTHER_BACKWARD)
      status = piece_back(s);
    else if (s->phase == OD_SMOOTHER_FORWARD)
      status = piece_forward(s);
    else
      status = piece_catch_up(s, o);
  }
  if (status != OD_OK) od_smoother_restart(s, o);
}
