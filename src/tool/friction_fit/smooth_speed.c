// Smoothing by Savitzky and Golay: the value in the middle of a least-squares parabola through neighboring samples. Slow
// variations are preserved; white noise is reduced to about sqrt(9 / (8 half + 4)).
#include <stdlib.h>
#include <string.h>

#include "friction_fit/friction_data.h"

bool od_smooth(int count, int half, double *x) {
  if (half < 1 || count < 3) return true;
  double *from = malloc((size_t)count * sizeof *from);
  if (!from) return false;
  memcpy(from, x, (size_t)count * sizeof *from);
  for (int i = 0; i < count; i++) {
    // At the ends the window is as wide as it can be symmetrically.
    int m = half;
    if (i < m) m = i;
    if (count - 1 - i < m) m = count - 1 - i;
    double n = 2.0 * m + 1, squares = m * (m + 1.0) * n / 3, fourths = squares * (3.0 * m * (m + 1.0) - 1) / 5;
    double sum = 0, bent = 0, below = n * fourths - squares * squares;
    for (int k = -m; k <= m; k++) sum += from[i + k], bent += (double)k * k * from[i + k];
    x[i] = m > 1 ? (fourths * sum - squares * bent) / below : from[i];
  }
  free(from);
  return true;
}
