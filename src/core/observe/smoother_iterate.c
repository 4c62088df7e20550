// The safeguarded iteration over a window, divided into pieces. A piece is one sample of a forward pass or of the catch-up, or
// several samples of a backward pass. At most PIECES pieces are done per sample. The work on a complete window is finished before
// the same number of new samples has arrived.
//
//   1  The live observer has linearized the window: a backward pass gives a first trajectory.
//   2  If J of the first trajectory is too large for noise, the trajectory about which the live observer linearized is also
//      tried: the trajectory of an earlier window with the same start, or the prior's mean. The trajectory with the smaller J is
//      taken. The other trajectory is tried later if the iteration does not converge.
//   3  Filter about the trajectory, backward pass, next trajectory. Steps are halved while J does not decrease. The iteration
//      ends when the filter's end is within a fraction of its sigma from the trajectory's end.
//   4  The filter's end is the new estimate there. The worker takes the samples that arrived meanwhile, and replaces the live
//      observer. If the samples do not fit the model, the plain filter replaces the live observer instead (smoother_plain.c).
//
// Windows grow from the start, each twice as long as the preceding window, up to the maximum length. Shorter windows do not contain
// enough information to describe earlier samples by a mean and a covariance. Each later window begins where the preceding window
// ends.
#include <math.h>
#include <string.h>

#include "observe/smoother.h"

enum { FIRST_WINDOW = 16 };
enum {
  PIECES = 16,  // largest number of pieces per sample
  BACK = 8      // number of samples of a backward pass in one piece
};
enum { MOST_ACCEPTED = 6, MOST_PASSES = 10, FEW_ACCEPTED = 2, PASSES_BEFORE_RESTART = 4 };
// Largest distance between the ends of filter and trajectory at convergence, in sigmas.
static const double convergence_sigmas = 0.3;
static const double least_fraction = 1. / 16;  // smallest fraction of a step that is tried
static const double inconsistency_sigmas = 6;  // excess of J that noise does not explain, in sigmas of J
static const double questionable_sigmas = 3;   // excess of J that noise may not explain, in sigmas of J
static const double fallback_sigmas = 6;       // excess of J over several windows at which the filter falls back
static const double window_decay = 0.8;        // factor of the decaying sum of J, applied at each window

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
  s->chi = s->chi_expected = s->chi_samples = 0;
  s->begun = s->first;
}

// Begins the iteration over the window of the samples up to `end`.
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

// Stores the end of the accepted trajectory, or (back) restores the stored end to the worker.
static void keep_end(od_smoother *s, bool back) {
  od_observer *w = od_smoother_worker(s);
  size_t d = sizeof(double), n = (size_t)s->n;
  const struct {
    void *here, *alternative;
    size_t size;
  } part[] = {{od_observer_sim(w), (char *)s + s->end_sim, s->sim_size},
              {od_observer_at(w, w->P), od_smoother_at(s, s->end_P), n * n * d},
              {od_observer_at(w, od_observer_linear(w)->delta), od_smoother_at(s, s->end_delta), n * d},
              {od_observer_at(w, w->bias), od_smoother_at(s, s->end_bias), n * d},
              {&s->J, &s->end_J, sizeof s->J},
              {&s->prior_J, &s->end_prior_J, sizeof s->prior_J},
              {&s->measured, &s->end_measured, sizeof s->measured}};
  for (size_t i = 0; i < sizeof part / sizeof *part; i++)
    memcpy(back ? part[i].here : part[i].alternative, back ? part[i].alternative : part[i].here, part[i].size);
  if (back) od_sim_parameters(od_observer_sim(w), od_observer_at(w, w->p));
}

// Returns the change `by` of the worker's parameter i, limited by the parameter's bounds.
static double within_bounds(const od_observer *w, int i, double by) {
  double p = od_observer_parameters(w)[i];
  return fmin(fmax(p + by, od_observer_at(w, w->low)[i]), od_observer_at(w, w->high)[i]) - p;
}

// Returns whether the filter's end is within convergence_sigmas of the trajectory's end.
static bool is_near(const od_smoother *s) {
  const od_observer *w = od_smoother_worker(s);
  od_covariance b = od_observer_estimate(w);
  const double *delta = od_observer_at(w, od_observer_linear(w)->delta);
  for (int i = 0; i < s->n; i++) {
    double by = i < s->nx ? delta[i] : within_bounds(w, i - s->nx, delta[i]), variance = od_covariance_variance(&b, i);
    if (!(by * by <= convergence_sigmas * convergence_sigmas * variance) && by != 0) return false;
  }
  return true;
}

// Stores the adjoints of the trajectory that was tried last in `now`.
static void keep_adjoints(od_smoother *s) {
  double *trial = od_smoother_at(s, s->lambda);
  for (long k = s->first; k <= s->end; k++) {
    od_smoother_trial(s, k, trial);
    memcpy(od_smoother_at(s, s->now) + (k - s->first) * s->n, trial, (size_t)s->n * sizeof *trial);
  }
}

// Return the expected value of J, and whether J exceeds `expected` by more than `sigmas` standard deviations.
static double expected_J(const od_smoother *s) {
  return (double)s->measured + s->n;
}
static bool is_surprise(double J, double expected, double sigmas) {
  return J > expected + sigmas * sqrt(2 * expected);
}

// Returns whether noise does not explain J: J is more than fallback_sigmas standard deviations above its expected value. J is
// compared with the distribution of chi-squared by the approximation of Wilson and Hilferty, because windows may be short. The
// decaying sum has a smaller variance than chi-squared with the same mean. Returns false if `expected` is below 1.
static bool is_inconsistent(double J, double expected) {
  if (!(expected >= 1)) return false;  // the approximation is not valid
  double variance = 2 / (9 * expected);
  return cbrt(J / expected) > 1 - variance + fallback_sigmas * sqrt(variance);
}

// ---- the end of a window

// Returns J of the window without the cost of a start that the user's prior defines.
static double samples_J(const od_smoother *s) {
  return s->end_J - (s->first == s->begun ? s->end_prior_J : 0);
}

// Decides whether the filter has settled, and whether it falls back. The smoothed samples since its start must fill a whole window.
// The filter has settled if three conditions hold. The last window converged after at most FEW_ACCEPTED accepted trajectories. Its
// prior was not widened. The decaying sum of J over the windows exceeds its expected value by at most questionable_sigmas. Short
// windows do not show that a model is wrong, because the next window changes their result. A start far from the user's prior shows
// that the prior is wrong, not the model. Therefore the filter falls back if the sum without the cost of such starts is inconsistent
// (is_inconsistent()).
static void judge_window(od_smoother *s) {
  double J = s->chi + s->end_J, expected = s->chi_expected + (double)s->end_measured;
  bool is_whole = s->end - s->begun >= s->capacity;
  s->settled = is_whole && s->converged && s->accepted <= FEW_ACCEPTED && !s->widened &&
               !is_surprise(J, expected, questionable_sigmas);
  s->fell_back = is_whole && is_inconsistent(s->chi_samples + samples_J(s), expected);
}

// Adds J of a finished window to the decaying sums over windows.
static void remember_J(od_smoother *s) {
  s->chi = window_decay * (s->chi + s->end_J);
  s->chi_samples = window_decay * (s->chi_samples + samples_J(s));
  s->chi_expected = window_decay * (s->chi_expected + (double)s->end_measured);
}

// Returns whether the next window has the same start as this window.
static bool grows(const od_smoother *s) {
  return 4 * (s->end - s->first) <= 3 * s->capacity;
}

// Moves the worker to the new estimate at the window's end, and decides whether the filter has settled or falls back. While windows
// grow, the next window has the same start; later windows begin at the end of this window. Fails as od_observer_move() does.
static od_status close_window(od_smoother *s) {
  od_observer *w = od_smoother_worker(s);
  size_t d = sizeof(double);
  double *prior = od_smoother_at(s, s->work);
  memcpy(prior, od_observer_state(w), (size_t)s->nx * d);
  if (s->np) memcpy(prior + s->nx, od_observer_parameters(w), (size_t)s->np * d);
  double *delta = od_observer_at(w, od_observer_linear(w)->delta);
  const od_covariance b = od_observer_estimate(w);
  for (int i = 0; i < s->np; i++) od_smoother_stay_within(s, &b, i, prior, delta);
  od_status status = od_observer_move(w, prior, delta);
  if (status != OD_OK) return status;
  judge_window(s);
  if (s->fell_back) return OD_OK;
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
  ((od_iterated *)od_observer_memory(w))->may_repeat = 1;
  s->phase = OD_SMOOTHER_CATCH_UP;
  s->at = s->end;
  return OD_OK;
}

// Begins to compute an accepted trajectory again, up to the sample where a rejected trajectory ended. Afterwards the
// derivatives belong to the accepted trajectory again.
static od_status go_back(od_smoother *s, double alpha) {
  s->restoring = 1;
  s->back_to = s->at;
  s->best = INFINITY;
  begin_forward(s, alpha);
  return OD_OK;
}

// Restarts the iteration from the trajectory with the adjoints `now`.
static void begin_again(od_smoother *s) {
  s->accepted = s->passes = 0;
  s->best = INFINITY;
  begin_forward(s, 0);
}

// Returns whether the accepted trajectory is inconsistent with the samples of a window that begins with the user's prior.
static bool is_poor(const od_smoother *s) {
  return s->first == s->begun && is_surprise(s->end_J, (double)s->end_measured, questionable_sigmas);
}

// Stores the starting trajectory that was not chosen, because this trajectory may converge to a better result.
static void put_aside(od_smoother *s, size_t which) {
  size_t count = (size_t)(s->end - s->first + 1) * (size_t)s->n;
  memcpy(od_smoother_at(s, s->alternative), od_smoother_at(s, which), count * sizeof(double));
  s->spare = 1;
}

// A trajectory may be inconsistent with the samples because the search stopped before the minimum of J, for instance at a bound.
// Then this function starts a search from `alternative` if `spare` is set, otherwise from the prior's mean. The better result is used.
// Returns true if another search begins.
static bool try_other_start(od_smoother *s) {
  size_t count = (size_t)(s->end - s->first + 1) * (size_t)s->n, size = count * sizeof(double);
  double *now = od_smoother_at(s, s->now), *alternative = od_smoother_at(s, s->alternative);
  if (s->attempt == 0 && is_poor(s)) {
    if (s->fresh) keep_adjoints(s);
    for (size_t i = 0; i < count; i++) {
      double other = s->spare ? alternative[i] : 0;
      alternative[i] = now[i];
      now[i] = other;
    }
    s->alternative_J = s->end_J;
    s->attempt = 1;
    begin_again(s);
    return true;
  }
  if (s->attempt == 1 && !(s->end_J < s->alternative_J)) {
    memcpy(now, alternative, size);
    s->attempt = 2;
    begin_again(s);
    s->passes = MOST_PASSES;
    return true;
  }
  return false;
}

// Ends the iteration, unless try_other_start() begins another search. If the derivatives of the accepted trajectory were lost, they are
// restored first. If the user's prior is too narrow (option widen), it is widened and the iteration begins again. In all other cases
// the window is closed. Fails with a status of od_sim_step().
static od_status finish(od_smoother *s) {
  if (try_other_start(s)) return OD_OK;
  if (!s->fresh) return go_back(s, 0);
  bool is_user_prior = s->widens && s->first == s->begun;  // later priors come from samples
  if (!is_user_prior || !s->converged || s->widened || !od_smoother_start_is_far(s)) return close_window(s);
  // With the new prior, the trajectory has another J.
  keep_adjoints(s);
  od_smoother_widen_start(s, od_smoother_at(s, s->now));
  s->widened = 1;
  begin_again(s);
  return OD_OK;
}

// Replaces the live observer by the worker.
static void replace_live(od_smoother *s, od_observer *o) {
  od_observer *w = od_smoother_worker(s);
  if (s->settled)
    od_smoother_discard_plain(s);
  else if (!s->has_plain)
    od_smoother_keep_plain(s, o);
  od_smoother_copy_estimate(s, w, od_observer_memory(w), o, od_smoother_live(s));
  s->phase = OD_SMOOTHER_IDLE;
}

// ---- trajectories

static bool is_last_pass(const od_smoother *s) {
  return s->passes >= (s->attempt == 0 && is_poor(s) ? PASSES_BEFORE_RESTART : MOST_PASSES);
}

// Accepts the tried trajectory, then ends the iteration or begins the next backward pass. Fails with a status of od_sim_step().
static od_status accept(od_smoother *s) {
  s->best = s->J;
  s->has_end = s->fresh = 1;
  s->accepted++;
  s->comparing = 0;
  s->converged = is_near(s);
  keep_end(s, false);
  bool many = s->attempt == 0 && s->accepted >= MOST_ACCEPTED;
  if (s->converged || many || is_last_pass(s)) return finish(s);
  begin_backward(s);
  return OD_OK;
}

// Judges the starting trajectories. If noise explains J of the first trajectory, this trajectory is accepted. Otherwise the trajectory
// `now` is also tried, and the trajectory with the smaller J is accepted. Fails with OD_NOT_CONVERGED if neither can be simulated, or
// with a status of od_sim_step().
static od_status judge_first(od_smoother *s, bool complete) {
  bool better = complete && s->J < s->best;
  if (s->comparing == 0 && complete && !is_surprise(s->J, expected_J(s), inconsistency_sigmas)) return accept(s);
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
  if (s->best < (double)INFINITY)
    put_aside(s, better ? s->next : s->now);  // INFINITY: the trajectory cannot be simulated
  return better ? accept(s) : go_back(s, 1);
}

static od_status judge(od_smoother *s, bool complete) {
  s->passes++;
  if (!s->has_end) return judge_first(s, complete);
  if (complete && s->J < s->best) return accept(s);
  if (s->attempt > 0 && s->accepted == 0) return finish(s);  // the other start cannot be simulated
  if (s->alpha / 2 < least_fraction || is_last_pass(s)) return finish(s);
  begin_forward(s, s->alpha / 2);
  return OD_OK;
}

// ---- pieces of the work on a window

// Performs a piece of a backward pass: computes the adjoints of up to BACK samples. When the start of the window is
// reached, a forward pass begins.
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

// Ends the restoration. If no trajectory has been accepted yet, accepts the restored trajectory; otherwise closes the window. Fails
// with a status of od_sim_step().
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

// Performs a piece of the catch-up: propagates the worker by one sample, or replaces the live observer if the worker has reached the
// latest sample, or begins the next window if this window is complete. Fails with a status of od_sim_step().
static od_status piece_catch_up(od_smoother *s, od_observer *o) {
  if (s->at == s->last) {
    replace_live(s, o);
    return OD_OK;
  }
  // A window may be complete before the worker reaches the latest sample.
  if (s->at - s->first == s->capacity) {
    begin_window(s, s->at);
    return OD_OK;
  }
  return od_smoother_catch_up(s, ++s->at);
}

// Returns whether the next window would begin too late because many samples have arrived in the meantime. The last growing window
// has twice the time, because later windows do not repeat its work.
static bool is_late(const od_smoother *s) {
  long length = s->end - s->first, since = s->last - s->end;
  if (s->at_once || s->restoring || s->attempt == 2 || s->phase == OD_SMOOTHER_CATCH_UP) return false;
  bool grown = s->first == s->origin && !grows(s);
  return grown ? 2 * since > 3 * s->capacity : 4 * since > 3 * length + 32;
}

// Ends the window with the best trajectory so far. Returns OD_NOT_CONVERGED if no trajectory has been accepted.
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
    if (s->fell_back) od_smoother_fall_back(s, o);
  }
  if (status != OD_OK) od_smoother_restart(s, o);
}
