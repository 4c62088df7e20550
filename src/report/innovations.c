// Sensors are taken in one by one, each after what the ones before it have said, so the normalised innovations of a right
// filter are independent standard normal numbers, over sensors as well as over time, and NIS is the sum of their squares.
#include "report/innovations.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double normal95 = 1.959963984540054, normal999 = 3.090232306167813;

int od_table_find(const od_table *t, const char *what, const char *name) {
  size_t n = strlen(what);
  for (int c = 0; c < t->columns; c++)
    if (!strncmp(t->name[c], what, n) && t->name[c][n] == '.' && !strcmp(t->name[c] + n + 1, name)) return c;
  return -1;
}

// Innovations over their expectation, row by row; those beyond the gate were not used.
static void normalise(const od_experiment *e, const od_table *t, const char *name, od_innovations *in) {
  int value = od_table_find(t, "innovation", name), sigma = od_table_find(t, "innovation_sigma", name);
  for (long i = 0; i < t->rows; i++) {
    const double *row = t->data + i * t->columns;
    double x = value >= 0 && sigma >= 0 ? row[value] / row[sigma] : (double)NAN;
    if (e->gate > 0 && fabs(x) > e->gate) x = NAN;
    in->value[i] = isfinite(x) ? x : (double)NAN;
    in->count += isfinite(x);
  }
}

static void find_moments(od_innovations *in, long rows) {
  double n = (double)in->count, sum = 0, squares = 0;
  for (long i = 0; i < rows; i++)
    if (!isnan(in->value[i])) sum += in->value[i];
  in->mean = sum / n;
  for (long i = 0; i < rows; i++)
    if (!isnan(in->value[i])) squares += pow(in->value[i] - in->mean, 2);
  in->deviation = sqrt(squares / n);
  in->mean_limit = normal95 / sqrt(n);
  in->deviation_limit = normal95 / sqrt(2 * n);
}

// The last OD_LAGS samples are at hand in a ring; samples that are missing are passed over.
static void find_correlations(od_innovations *in, long rows) {
  double ring[OD_LAGS] = {0}, sum[OD_LAGS + 1] = {0}, n = (double)in->count, weighted = 0;
  long seen = 0;
  for (long i = 0; i < rows; i++) {
    if (isnan(in->value[i])) continue;
    double x = in->value[i] - in->mean;
    sum[0] += x * x;
    for (int k = 1; k <= OD_LAGS && k <= seen; k++) sum[k] += x * ring[(seen - k) % OD_LAGS];
    ring[seen++ % OD_LAGS] = x;
  }
  for (int k = 0; k <= OD_LAGS; k++) in->correlation[k] = sum[k] / sum[0];
  for (int k = 1; k <= OD_LAGS; k++) weighted += pow(in->correlation[k], 2) / (n - k);
  in->correlation_limit = normal95 / sqrt(n);
  in->whiteness = n > 4 * OD_LAGS ? n * (n + 2) * weighted : (double)NAN;
  // Chi-squared after Wilson and Hilferty.
  double spread = 2 / (9.0 * OD_LAGS);
  in->whiteness_limit = OD_LAGS * pow(1 - spread + normal999 * sqrt(spread), 3);
}

bool od_innovations_find(const od_experiment *e, const od_observed *o, int sensor, od_innovations *out) {
  const od_table *t = o->table;
  *out = (od_innovations){.value = malloc(((size_t)t->rows + 1) * sizeof *out->value)};
  if (!out->value) return false;
  normalise(e, t, e->sensor[sensor].name, out);
  find_moments(out, t->rows);
  find_correlations(out, t->rows);
  return true;
}

bool od_innovations_coloured(const od_innovations *in) {
  double largest = 0;
  for (int k = 1; k <= OD_LAGS; k++) largest = fmax(largest, fabs(in->correlation[k]));
  return in->whiteness > in->whiteness_limit && largest > 0.05;
}

int od_nis_windows(const od_experiment *e, const od_observed *o, const od_innovations *in,
                   od_nis_window windows[OD_WINDOWS]) {
  const od_table *t = o->table;
  long length = (t->rows + OD_WINDOWS - 1) / OD_WINDOWS;
  int count = 0;
  for (long first = 0; first < t->rows; first += length) {
    long end = first + length < t->rows ? first + length : t->rows, dimension = 0;
    double sum = 0;
    for (int s = 0; s < e->sensors; s++)
      for (long i = first; i < end; i++) {
        if (isnan(in[s].value[i])) continue;
        sum += in[s].value[i] * in[s].value[i];
        dimension++;
      }
    od_consistency c = od_consistency_of(sum, (double)dimension);
    double time = (t->data[first * t->columns] + t->data[(end - 1) * t->columns]) / 2;
    windows[count++] = (od_nis_window){time, c.value, (c.low + c.high) / 2, (c.high - c.low) / 2};
  }
  return count;
}
