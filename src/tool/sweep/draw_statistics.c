#include "sweep/draw_statistics.h"

#include <math.h>
#include <stdlib.h>

const double od_draw_levels[OD_DRAW_LEVELS] = {0.01, 0.05, 0.5, 0.95, 0.99};

static int by_size(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

// Returns the quantile at `level` (0 to 1), by linear interpolation between the sorted values.
static double quantile(const double *sorted, long count, double level) {
  double at = level * (double)(count - 1);
  long below = (long)at;
  if (below + 1 >= count) return sorted[count - 1];
  return sorted[below] + (at - (double)below) * (sorted[below + 1] - sorted[below]);
}

bool od_draw_statistics_of(const od_table *table, int column, od_draw_statistics *out) {
  OD_SCRATCH(scratch);
  double *value = OD_TAKE(&scratch, double, table->rows), sum = 0, squares = 0;
  *out = (od_draw_statistics){.mean = NAN, .deviation = NAN, .quantile = {NAN, NAN, NAN, NAN, NAN}};
  if (!value) return false;
  for (long i = 0; i < table->rows; i++) {
    double x = table->data[i * table->columns + column];
    if (isfinite(x)) value[out->count++] = x;
  }
  for (long i = 0; i < out->count; i++) sum += value[i];
  if (out->count > 0) out->mean = sum / (double)out->count;
  for (long i = 0; i < out->count; i++) squares += (value[i] - out->mean) * (value[i] - out->mean);
  if (out->count > 1) out->deviation = sqrt(squares / (double)(out->count - 1));
  qsort(value, (size_t)out->count, sizeof *value, by_size);
  for (int k = 0; k < OD_DRAW_LEVELS && out->count > 0; k++)
    out->quantile[k] = quantile(value, out->count, od_draw_levels[k]);
  return true;
}
