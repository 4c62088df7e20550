#include "observe/change_watch.h"

#include <math.h>

// A normal number exceeds this limit with a probability of 4e-8. A run of 1e5 samples with ten parameters tests about 1e5 independent
// windows, so about one of 250 such runs reports a change that did not happen.
static const double deviation_limit = 5.5;
// A parameter is watched when its variance is below this fraction of the variance of a change. Before, a change has no clear effect.
// A change of one parameter also moves the estimates of others. Watched parameters with |z| above this limit may be the cause.
static const double suspicion_limit = 2.5;
static const double watched_fraction = 0.25;
// Removed variance relative to the variance of the parameter, below which a window contains only round-off.
static const double least_removed = 1e-9;
enum { HALF_WINDOW = 8 };  // samples in half of the shortest window

size_t od_change_watch_size(int parameters) {
  return (size_t)parameters * (7 + 4 * OD_WATCH_WINDOWS);
}

static int mark_of(int parameter, int window) {
  return 2 * (parameter * OD_WATCH_WINDOWS + window);
}

// Starts all windows of a parameter again.
static void restart(od_change_watch *w, int i) {
  for (int k = 0; k < 2 * OD_WATCH_WINDOWS; k++) {
    w->mark_moved[mark_of(i, 0) + k] = w->moved[i];
    w->mark_removed[mark_of(i, 0) + k] = w->removed[i];
  }
}

void od_change_watch_init(od_change_watch *w, int parameters, const double *change, double *memory) {
  int marks = 2 * OD_WATCH_WINDOWS * parameters;
  *w = (od_change_watch){.parameters = parameters, .change = change};
  w->before = memory, w->variance = w->before + parameters, w->moved = w->variance + parameters;
  w->removed = w->moved + parameters, w->added = w->removed + parameters;
  w->mark_moved = w->added + parameters, w->mark_removed = w->mark_moved + marks;
  w->earlier = w->mark_removed + marks, w->earlier_variance = w->earlier + parameters;
  for (size_t i = 0; i < od_change_watch_size(parameters); i++) memory[i] = 0;
}

void od_change_watch_predicted(od_change_watch *w, int i, double estimate, double variance) {
  w->before[i] = estimate, w->variance[i] = variance;
}

void od_change_watch_corrected(od_change_watch *w, int i, double estimate, double variance) {
  w->moved[i] += estimate - w->before[i];
  w->removed[i] += fmax(w->variance[i] - variance, 0);
  w->before[i] = estimate, w->variance[i] = variance;
}

// Moves the marks of all windows whose half is complete.
static void move_marks(od_change_watch *w) {
  double half = HALF_WINDOW;
  for (int k = 0; k < OD_WATCH_WINDOWS && fmod(w->samples, half) == 0; k++, half *= 2)
    for (int i = 0; i < w->parameters; i++) {
      double *moved = w->mark_moved + mark_of(i, k), *removed = w->mark_removed + mark_of(i, k);
      moved[0] = moved[1], moved[1] = w->moved[i];
      removed[0] = removed[1], removed[1] = w->removed[i];
    }
}

// Returns the window with the largest |z| of a watched parameter; -1: no |z| exceeds the limit.
static int find_change(const od_change_watch *w) {
  int best = -1;
  double largest = deviation_limit;
  for (int i = 0; i < w->parameters; i++)
    for (int k = 0; k < OD_WATCH_WINDOWS && w->change[i] > 0; k++) {
      double moved = w->moved[i] - w->mark_moved[mark_of(i, k)],
             removed = w->removed[i] - w->mark_removed[mark_of(i, k)];
      if (!(removed > least_removed * w->variance[i]) || !(fabs(moved) > largest * sqrt(removed))) continue;
      largest = fabs(moved) / sqrt(removed), best = k;
    }
  return best;
}

bool od_change_watch_end(od_change_watch *w, bool is_valid) {
  w->samples++;
  for (int i = 0; i < w->parameters; i++) {
    w->added[i] = 0;
    double limit = watched_fraction * w->change[i] * w->change[i];
    if (!is_valid || (limit > 0 && !(w->variance[i] < limit))) restart(w, i);
  }
  int window = find_change(w);
  if (window >= 0) {
    for (int i = 0; i < w->parameters; i++) {
      double moved = w->moved[i] - w->mark_moved[mark_of(i, window)];
      double removed = w->removed[i] - w->mark_removed[mark_of(i, window)];
      bool suspected = w->change[i] > 0 && moved * moved > suspicion_limit * suspicion_limit * removed;
      w->added[i] = suspected ? w->change[i] * w->change[i] : moved * moved;
      w->earlier[i] = w->before[i] - moved;
      w->earlier_variance[i] = suspected ? w->variance[i] + removed : 0;
    }
    for (int i = 0; i < w->parameters; i++) restart(w, i);
  }
  move_marks(w);
  return window >= 0;
}

void od_change_watch_name(const od_change_watch *w, od_parameter_change *out) {
  double largest = -1;
  for (int i = 0; i < w->parameters; i++) {
    double variance = w->earlier_variance[i];
    double deviations = fabs(w->before[i] - w->earlier[i]) / sqrt(w->variance[i] + variance);
    if (!(variance > 0) || !(deviations > largest)) continue;
    largest = deviations;
    out->parameter = i;
    out->before = w->earlier[i], out->sigma = sqrt(variance), out->after = w->before[i];
  }
}

void od_change_watch_transfer(od_change_watch *w, od_pieces *t) {
  od_pieces_bytes(t, w->before, od_change_watch_size(w->parameters) * sizeof *w->before);
  od_pieces_bytes(t, &w->samples, sizeof w->samples);
}
