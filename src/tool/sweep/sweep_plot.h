// Draws the first results of a sweep over the axis that changes fastest. Each value of the next slower axis has its own curve.
#ifndef OD_SWEEP_SWEEP_PLOT_H
#define OD_SWEEP_SWEEP_PLOT_H

#include "io/table.h"

// The drawn data: the table columns after the axes, one panel each. For one or two axes.
typedef struct od_sweep_picture {
  const od_table *table;
  const int *counts;  // number of values of each axis
  int axes, columns;
  const char *title;
} od_sweep_picture;
enum { OD_MOST_DRAWN_AXES = 2 };
od_status od_sweep_plot_write(const od_sweep_picture *picture, const char *path, od_error *err);

#endif
