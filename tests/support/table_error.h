// Errors of the rows of a run relative to a more accurate run. Include after cmocka.h.
#ifndef OD_TEST_TABLE_ERROR_H
#define OD_TEST_TABLE_ERROR_H

#include <math.h>

#include "io/table.h"

// The largest error of an output relative to its range, as in the error estimate of a run.
static inline double table_error(const od_table *t, const od_table *reference) {
  double worst = 0;
  assert_int_equal(t->rows, reference->rows);
  for (int k = 1; k < t->columns; k++) {
    od_summary s = od_table_summary(reference, k);
    double range = s.max - s.min, most = 0;
    if (!(range > 1e-9 * fmax(fabs(s.max), fabs(s.min)))) continue;
    for (long i = 0; i < t->rows; i++)
      most = fmax(most, fabs(t->data[i * t->columns + k] - reference->data[i * t->columns + k]));
    worst = fmax(worst, most / range);
  }
  return worst;
}

#endif
