// Sensors are taken in one by one, each after what the ones before it have said, so the normalised innovations of a right
// filter are independent standard normal numbers, over sensors as well as over time, and NIS is the sum of their squares.
#include "report/innovations.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "prepare/whiteness.h"

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

// Innovations follow each other as the sensor gave them: rows without one do not count as steps between them, since
// many sensors are slower than the table.
static bool find_whiteness(od_innovations *in, long rows) {
  double *series = malloc(((size_t)in->count + 1) * sizeof *series);
  if (!series) return false;
  long count = 0;
  for (long i = 0; i < rows; i++)
    if (!isnan(in->value[i])) series[count++] = in->value[i];
  od_whiteness w = od_whiteness_find(series, count, OD_LAGS, in->correlation);
  free(series);
  in->mean = w.mean, in->deviation = w.deviation;
  in->mean_limit = in->correlation_limit = w.limit;
  in->deviation_limit = w.limit / sqrt(2);
  in->whiteness = w.statistic, in->chance = w.p;
  return true;
}

bool od_innovations_find(const od_experiment *e, const od_observed *o, int sensor, od_innovations *out) {
  const od_table *t = o->table;
  *out = (od_innovations){.value = malloc(((size_t)t->rows + 1) * sizeof *out->value)};
  if (!out->value) return false;
  normalise(e, t, e->sensor[sensor].name, out);
  return find_whiteness(out, t->rows);
}

bool od_innovations_coloured(const od_innovations *in) {
  double largest = 0;
  for (int k = 1; k <= OD_LAGS; k++) largest = fmax(largest, fabs(in->correlation[k]));
  return in->chance < OD_UNLIKELY && largest > 0.05;
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
