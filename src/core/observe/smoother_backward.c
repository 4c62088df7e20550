// The adjoints of a window, from its end to its start (smoother of Bryson and Frazier): sensors in reverse order, then
// the step. lambda is the derivative of J with respect to the state.
#include <math.h>
#include <string.h>

#include "base/wide.h"
#include "observe/covariance_form.h"
#include "observe/smoother.h"

// Computes lambda <- lambda - h (gain' lambda + innovation / variance) for each sensor that was used, from the last to
// the first.
OD_WIDE static void back_over_sensors(int n, int ny, const double *note, double *restrict lambda) {
  for (int i = ny - 1; i >= 0; i--) {
    if (isnan(note[i])) continue;
    const double *restrict h = note + ny + 2 * i * n, *restrict gain = h + n;
    double by = od_inner(n, gain, lambda) + note[i];
    for (int j = 0; j < n; j++) lambda[j] -= by * h[j];
  }
}

// Computes lambda <- F' lambda for a step with constant parameters.
OD_WIDE static void back_over_step(int nx, int n, const double *F, double *old, double *lambda) {
  od_copy_few(nx, lambda, old);
  od_clear_few(nx, lambda);
  int j = 0;
  for (; j + 4 <= n; j += 4) {
    od_quad sum = OD_QUAD_AT(lambda + j);
    for (int i = 0; i < nx; i++) sum += old[i] * OD_QUAD_AT(F + i * n + j);
    OD_QUAD_AT(lambda + j) = sum;
  }
  for (; j < n; j++)
    for (int i = 0; i < nx; i++) lambda[j] += old[i] * F[i * n + j];
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
  if (k > s->first || s->open) back_over_sensors(s->n, s->ny, slope.note, lambda);
  od_copy_few(s->n, lambda, next);
  if (k == s->first)
    od_smoother_keep_start(s, next);
  else if (*od_smoother_sample(s, k).h > 0)
    back_over_step(s->nx, s->n, slope.F, od_smoother_at(s, s->work), lambda);
}
