// The adjoints of a window, from its end to its start (Bryson's and Frazier's form of the smoother): sensors in reverse, then
// the step. l is how J would change with the state there.
#include <math.h>
#include <string.h>

#include "observe/smoother.h"

// l <- l - h (gain' l + innovation / variance)
static void back_over_sensors(const od_smoother *s, const double *note, double *lambda) {
  int n = s->n;
  for (int i = s->ny - 1; i >= 0; i--) {
    if (isnan(note[i])) continue;
    const double *h = note + s->ny + 2 * i * n, *gain = h + n;
    double by = od_dot(n, gain, lambda) + note[i];
    for (int j = 0; j < n; j++) lambda[j] -= by * h[j];
  }
}

// l <- F' l, with parameters that stay.
static void back_over_step(const od_smoother *s, const double *F, double *lambda) {
  double *old = od_smoother_at(s, s->work);
  memcpy(old, lambda, (size_t)s->nx * sizeof *old);
  memset(lambda, 0, (size_t)s->nx * sizeof *lambda);
  for (int i = 0; i < s->nx; i++)
    for (int j = 0; j < s->n; j++) lambda[j] += old[i] * F[i * s->n + j];
}

void od_smoother_backward(od_smoother *s, long k) {
  double *lambda = od_smoother_at(s, s->lambda), *now = od_smoother_at(s, s->now) + (k - s->first) * s->n,
         *next = od_smoother_at(s, s->next) + (k - s->first) * s->n;
  od_window_slope slope = od_smoother_slope(s, k);
  if (s->has_end) {
    double *trial = od_smoother_at(s, s->work);
    od_smoother_trial(s, k, trial);
    memcpy(now, trial, (size_t)s->n * sizeof *now);
  } else if (k > s->kept_end) {
    memset(now, 0, (size_t)s->n * sizeof *now);
  }
  if (k == s->end) memset(lambda, 0, (size_t)s->n * sizeof *lambda);
  if (k > s->first || s->open) back_over_sensors(s, slope.note, lambda);
  memcpy(next, lambda, (size_t)s->n * sizeof *next);
  if (k == s->first)
    od_smoother_keep_start(s, next);
  else if (*od_smoother_sample(s, k).h > 0)
    back_over_step(s, slope.F, lambda);
}
