// A Bode plot: magnitude in dB above phase in degrees, over the logarithm of the frequency.
#ifndef OD_LINEAR_RESPONSE_PLOT_H
#define OD_LINEAR_RESPONSE_PLOT_H

#include "io/table.h"

typedef struct od_bode_plot {
  const od_table *table;    // frequency in Hz; then magnitude and phase of one curve after another
  const char *const *name;  // of curves, for the legend
  // Of curves, row by row: half of the interval over the amplitude, so that points with intervals are drawn; NULL: a line. No list: lines.
  const double *const *spread;
  int groups;               // curves are drawn in so many groups of equal size, each with panels of its own
  const char *const *note;  // of groups: what magnitudes are
  const char *title, *subtitle;
} od_bode_plot;

// Writes an SVG file, complete or not at all.
od_status od_bode_plot_write(const od_bode_plot *plot, const char *path, od_error *err);

#endif
