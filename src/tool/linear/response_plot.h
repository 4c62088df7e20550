// A Bode plot: magnitude in dB above phase in degrees, over the logarithm of the frequency.
#ifndef OD_LINEAR_RESPONSE_PLOT_H
#define OD_LINEAR_RESPONSE_PLOT_H

#include "io/table.h"

typedef struct od_bode_plot {
  const od_table *table;    // frequency in Hz; then magnitude and phase of one curve after another
  const char *const *name;  // names of curves, for the legend

  // spread[i]: for each row of curve i, half of the interval relative to the amplitude; the curve is drawn as points.
  // spread[i] NULL: the curve is a line. spread NULL: all curves are lines.
  const double *const *spread;
  int groups;               // number of groups; each group has the same number of curves, and its own panels
  const char *const *note;  // per group: meaning of the magnitudes
  const char *title, *subtitle;
} od_bode_plot;

// Writes an SVG file, or no file on failure; the path "-" prints the curves on standard output. Fails with OD_IO or OD_NO_MEMORY.
od_status od_bode_plot_write(const od_bode_plot *plot, const char *path, od_error *err);

#endif
