// Savitzky-Golay smoothing: each sample is replaced by the value of the least-squares polynomial of its window. At the ends,
// the first or last complete window is used. Missing samples are left out of the fit and remain missing. A sample whose
// window has at most as many samples as the order of the polynomial is not changed.
//
// Polynomials that are orthogonal over the samples of the window (Forsythe's three-term recursion) replace normal equations,
// which are inaccurate from about order six:
//
//   p_(j+1) = (u - a_j) p_j - b_j p_(j-1),  a_j = <u p_j, p_j> / <p_j, p_j>,  b_j = <p_j, p_j> / <p_(j-1), p_(j-1)>
//   weight of sample i in the value at e:  sum_j p_j(u_i) p_j(u_e) / <p_j, p_j>
#include "prepare/prepare_steps.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

typedef struct fit {
  int window, order;
  double *p, *before;  // p_j and p_(j-1) at the samples of the window
} fit;

// Computes the weights for the value at sample `at` of the window. x NULL: no sample is missing. Returns false if the window
// has at most `order` samples.
static bool find_weights(const fit *f, const double *x, int at, double *weight) {
  int n = f->window, present = 0;
  for (int i = 0; i < n; i++) {
    bool there = !x || !isnan(x[i]);
    f->p[i] = there, f->before[i] = 0, weight[i] = 0;
    present += there;
  }
  if (present <= f->order) return false;
  double p_at = 1, before_at = 0, norm_before = 1;
  for (int j = 0; j <= f->order; j++) {
    double norm = 0, shift = 0;
    for (int i = 0; i < n; i++) {
      double square = f->p[i] * f->p[i];
      norm += square, shift += square * (i - at) / n;
    }
    double a = shift / norm, b = j > 0 ? norm / norm_before : 0, next_at = -a * p_at - b * before_at;
    for (int i = 0; i < n; i++) {
      weight[i] += f->p[i] * (p_at / norm);
      double next = ((double)(i - at) / n - a) * f->p[i] - b * f->before[i];
      f->before[i] = f->p[i], f->p[i] = next;
    }
    before_at = p_at, p_at = next_at, norm_before = norm;
  }
  return true;
}

static double weighted(int n, const double *weight, const double *x) {
  double sum = 0;
  for (int i = 0; i < n; i++) sum += weight[i] * x[i];
  return sum;
}

// Returns the value for a window that needs its own weights, because it has gaps or is not centered.
static double fit_one(const fit *f, const double *x, int at, double *weight) {
  if (!find_weights(f, x, at, weight)) return x[at];
  double sum = 0;
  for (int i = 0; i < f->window; i++)
    if (!isnan(x[i])) sum += weight[i] * x[i];
  return sum;
}

void od_savitzky_golay(double *x, long n, int window, int order, double *scratch) {
  double *recorded = scratch, *middle = scratch + n, *own = middle + window;
  fit f = {.window = window, .order = order, .p = own + window, .before = own + 2 * window};
  int half = window / 2;
  memcpy(recorded, x, (size_t)n * sizeof *x);
  if (!find_weights(&f, NULL, half, middle)) return;
  for (long i = 0; i < n; i++) {
    if (isnan(recorded[i])) continue;
    long first = i - half;
    first = first < 0 ? 0 : first > n - window ? n - window : first;
    int at = (int)(i - first);
    double value = at == half ? weighted(window, middle, recorded + first) : (double)NAN;
    x[i] = isnan(value) ? fit_one(&f, recorded + first, at, own) : value;
  }
}
