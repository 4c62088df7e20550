// Outliers according to Hampel: a sample is an outlier if its distance from the median of its window exceeds `limit`
// standard deviations. The standard deviation is 1.4826 times the median distance of the samples from the median
// (exact for Gaussian noise). Samples are compared with the recorded values, including outliers, so the order of the
// samples does not matter.
//
// A constant sensor value whose last digit flickers has a median distance of zero. A change by one digit is not an
// outlier. The digit is the smallest change between neighboring samples. At least one sample in a hundred must differ from
// the previous sample by about this change; otherwise the digit is zero.
//
// The window is kept sorted from sample to sample, and both medians are taken from the sorted window.
#include "prepare/prepare_steps.h"

#include <math.h>
#include <string.h>

static const double deviations_per_mad = 1.4826;
// Smallest number of available samples in a window; with fewer samples no sample is an outlier.
static const int least_samples = 5;

static double last_digit(const double *x, long n) {
  double least = INFINITY, last = NAN;
  long changes = 0, small = 0;
  for (long i = 0; i < n; i++) {
    if (isnan(x[i])) continue;
    double change = fabs(x[i] - last);
    if (change > 0 && change < least) least = change;
    last = x[i], changes++;
  }
  last = NAN;
  for (long i = 0; i < n; i++) {
    if (isnan(x[i])) continue;
    double change = fabs(x[i] - last);
    small += change > 0 && change < 1.5 * least;
    last = x[i];
  }
  return small > 0 && 100 * small >= changes ? least : 0;
}

// Returns the index of a value among m sorted values, or its insertion point.
static int place_of(const double *sorted, int m, double value) {
  int low = 0, high = m;
  while (low < high) {
    int middle = (low + high) / 2;
    if (sorted[middle] < value)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

static void enter(double *sorted, int *m, double value) {
  if (isnan(value)) return;
  int at = place_of(sorted, *m, value);
  memmove(sorted + at + 1, sorted + at, (size_t)(*m - at) * sizeof *sorted);
  sorted[at] = value, ++*m;
}

static void leave(double *sorted, int *m, double value) {
  if (isnan(value)) return;
  int at = place_of(sorted, *m, value);
  memmove(sorted + at, sorted + at + 1, (size_t)(*m - at - 1) * sizeof *sorted);
  --*m;
}

static double median_of(const double *sorted, int m) {
  return m % 2 ? sorted[m / 2] : (sorted[m / 2 - 1] + sorted[m / 2]) / 2;
}

// Returns the median distance from the median. Distances increase to both sides, so the nearer side is taken until half of
// the distances are counted.
static double median_distance(const double *sorted, int m, double median) {
  int low = (m - 1) / 2, high = low + 1;
  double last = 0, before = 0;
  for (int k = 0; k <= m / 2; k++) {
    double below = low >= 0 ? median - sorted[low] : (double)INFINITY;
    double above = high < m ? sorted[high] - median : (double)INFINITY;
    before = last;
    if (below <= above)
      last = below, low--;
    else
      last = above, high++;
  }
  return m % 2 ? last : (before + last) / 2;
}

long od_hampel(double *x, long n, double limit, int window, double *scratch) {
  double *recorded = scratch, *sorted = scratch + n, digit = last_digit(x, n);
  long half = window / 2, removed = 0;
  int m = 0;
  memcpy(recorded, x, (size_t)n * sizeof *x);
  for (long i = 0; i < half && i < n; i++) enter(sorted, &m, recorded[i]);
  for (long i = 0; i < n; i++) {
    if (i > half) leave(sorted, &m, recorded[i - half - 1]);
    if (i + half < n) enter(sorted, &m, recorded[i + half]);
    if (m < least_samples || isnan(recorded[i])) continue;
    double median = median_of(sorted, m), distance = fabs(recorded[i] - median);
    if (distance <= limit * deviations_per_mad * median_distance(sorted, m, median) || distance < 1.5 * digit) continue;
    x[i] = NAN, removed++;
  }
  return removed;
}
