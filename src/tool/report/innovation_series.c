#include "report/innovation_series.h"

#include <math.h>
#include <string.h>

int od_table_find_suffixed(const od_table *t, const char *what, const char *name) {
  size_t n = strlen(what);
  for (int c = 0; c < t->columns; c++)
    if (!strncmp(t->name[c], what, n) && t->name[c][n] == '.' && !strcmp(t->name[c] + n + 1, name)) return c;
  return -1;
}

// Innovations beyond the gate are NAN, because the observer did not use these samples.
double *od_innovation_series(const od_experiment *e, const od_observed *o, int sensor, od_arena *arena) {
  const od_table *t = o->table;
  const char *name = e->sensor[sensor].name;
  int value = od_table_find_suffixed(t, "innovation", name),
      sigma = od_table_find_suffixed(t, "innovation_sigma", name);
  double *series = OD_TAKE(arena, double, t->rows);
  for (long i = 0; series && i < t->rows; i++) {
    const double *row = t->data + i * t->columns;
    double x = value >= 0 && sigma >= 0 ? row[value] / row[sigma] : (double)NAN;
    if (e->gate > 0 && fabs(x) > e->gate) x = NAN;
    series[i] = isfinite(x) ? x : (double)NAN;
  }
  return series;
}

bool od_is_thinned(const od_observed *o) {
  return o->kept != OD_ROWS_ALL && o->table->rows < o->rows;
}

static od_nis_window window_of(double begin, double end, double squares, long dimension) {
  od_consistency c = od_consistency_of(squares, (double)dimension);
  return (od_nis_window){(begin + end) / 2, c.value, (c.low + c.high) / 2, (c.high - c.low) / 2};
}

int od_nis_windows(const od_experiment *e, const od_observed *o, double *const *series,
                   od_nis_window windows[OD_MOST_WINDOWS]) {
  const od_table *t = o->table;
  for (int i = 0; i < o->windows && od_is_thinned(o); i++)
    windows[i] = window_of(o->window[i].begin, o->window[i].end, o->window[i].squares, o->window[i].count);
  if (od_is_thinned(o)) return o->windows;
  long length = (t->rows + OD_WINDOWS - 1) / OD_WINDOWS;
  int count = 0;
  for (long first = 0; first < t->rows; first += length) {
    long end = first + length < t->rows ? first + length : t->rows, dimension = 0;
    double sum = 0;
    for (int s = 0; s < e->sensors; s++)
      for (long i = first; i < end; i++) {
        if (isnan(series[s][i])) continue;
        sum += series[s][i] * series[s][i];
        dimension++;
      }
    windows[count++] = window_of(t->data[first * t->columns], t->data[(end - 1) * t->columns], sum, dimension);
  }
  return count;
}
