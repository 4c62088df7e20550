// Combines the values of many runs into one value with a 99 % interval. Sums are in the order of the seeds, so results are
// bitwise independent of the distribution over threads.
//
//   rms       v = sqrt(mean x^2); standard error s / (2 v sqrt(n)), where s is the scatter of x^2
//   mean      standard error s / sqrt(n), around the mean or around the expected value
//   chi       n d times the mean of n values with d dimensions is chi-squared with n d degrees of freedom (Wilson-Hilferty)
//   part      fraction of runs without an expected value: Wilson's score interval, which has a width even for 0 % and 100 %
//   quantile  order statistics with the ranks n q -+ 2.576 sqrt(n q (1 - q)); with too few runs an end is NAN
//   spread    standard deviation s; (n - 1) s^2 / sigma^2 is chi-squared with n - 1 degrees of freedom
#include <math.h>

#include "io/number.h"
#include "math/normal.h"
#include "study/study.h"

typedef struct moments {
  double mean, sd;
} moments;

static moments find_moments(const double *x, long n, int power) {
  double sum = 0, squares = 0;
  for (long i = 0; i < n; i++) sum += pow(x[i], power);
  double mean = sum / (double)n;
  for (long i = 0; i < n; i++) squares += pow(pow(x[i], power) - mean, 2);
  return (moments){mean, n > 1 ? sqrt(squares / (double)(n - 1)) : (double)NAN};
}

static double ranked(const double *sorted, long n, double rank) {
  long i = (long)fmin(fmax(rank, 0), (double)(n - 1));
  return sorted[i];
}

static void gather_quantile(od_study_row *row, double *x, long n, double part) {
  double middle = (double)n * part, aside = OD_NORMAL99 * sqrt((double)n * part * (1 - part));
  od_numbers_sort(x, n);
  // The median of an even number of values is the mean of the two middle values.
  bool between = part == 0.5 && n % 2 == 0;
  row->value = between ? (x[n / 2 - 1] + x[n / 2]) / 2 : ranked(x, n, ceil(middle) - 1);
  double low = floor(middle - aside), high = ceil(middle + aside);
  row->low = low >= 0 ? ranked(x, n, low) : (double)NAN;
  row->high = high <= (double)(n - 1) ? ranked(x, n, high) : (double)NAN;
}

static void gather_part(od_study_row *row, double part, double n) {
  double z = OD_NORMAL99 * OD_NORMAL99 / n, middle = (part + z / 2) / (1 + z);
  double aside = sqrt(z * part * (1 - part) + z * z / 4) / (1 + z);
  row->value = part;
  row->low = fmax(middle - aside, 0);
  row->high = fmin(middle + aside, 1);
}

// Returns the smallest standard deviation of a fraction: the standard deviation for independent items. If all of a few items
// are inside, or all are outside, the sample has no scatter. 0: not a fraction with a known number of items.
static double least_scatter(const od_metric *m) {
  if (m->gather != OD_GATHER_PART || isnan(m->expected) || !(m->dimension > 0)) return 0;
  return sqrt(m->expected * (1 - m->expected) / m->dimension);
}

static void gather(od_study_row *row, const od_metric *m, double *x, long n) {
  moments first = find_moments(x, n, 1), second = find_moments(x, n, 2);
  double root = sqrt((double)n), around, aside;
  switch (m->gather) {
    case OD_GATHER_RMS:
      row->value = sqrt(second.mean);
      row->low = fmax(row->value - OD_NORMAL99 * second.sd / (2 * row->value * root), 0);
      row->high = row->value + OD_NORMAL99 * second.sd / (2 * row->value * root);
      break;
    case OD_GATHER_MEAN:
    case OD_GATHER_PART:
      if (m->gather == OD_GATHER_PART && isnan(m->expected)) {
        gather_part(row, first.mean, (double)n);
        break;
      }
      row->value = first.mean;
      around = isnan(m->expected) ? first.mean : m->expected;
      aside = OD_NORMAL99 * fmax(first.sd, least_scatter(m)) / root;
      row->low = around - aside;
      row->high = around + aside;
      if (m->gather != OD_GATHER_PART) break;
      row->low = fmax(row->low, 0);
      row->high = fmin(row->high, 1);
      break;
    case OD_GATHER_CHI:
      row->value = first.mean;
      aside = m->family > 1 ? od_normal_beyond(0.01 / m->family) : OD_NORMAL99;
      row->low = od_chi_quantile(m->dimension * (double)n, -aside);
      row->high = od_chi_quantile(m->dimension * (double)n, aside);
      break;
    case OD_GATHER_MEDIAN: gather_quantile(row, x, n, 0.5); break;
    case OD_GATHER_QUANTILE: gather_quantile(row, x, n, m->expected); break;
    case OD_GATHER_SPREAD:
      row->value = first.sd;
      row->low = first.sd / sqrt(od_chi_quantile((double)(n - 1), OD_NORMAL99));
      row->high = first.sd / sqrt(od_chi_quantile((double)(n - 1), -OD_NORMAL99));
      break;
    case OD_GATHER_COUNT: row->value = first.mean * (double)n; break;
  }
}

od_study_row od_gather_values(const od_metric *m, const double *value, long count, long stride, double *memory) {
  od_study_row row = {.metric = m, .value = NAN, .low = NAN, .high = NAN};
  for (long i = 0; i < count; i++)
    if (!isnan(value[i * stride])) memory[row.runs++] = value[i * stride];
  if (row.runs > 0) gather(&row, m, memory, row.runs);
  return row;
}

bool od_study_row_expects(const od_study_row *row) {
  od_gather gather = row->metric->gather;
  bool centred = gather == OD_GATHER_MEAN || gather == OD_GATHER_PART || gather == OD_GATHER_CHI;
  return centred && !isnan(row->metric->expected) && !isnan(row->value);
}

bool od_study_row_outside(const od_study_row *row) {
  return od_study_row_expects(row) && !(row->value >= row->low && row->value <= row->high);
}
