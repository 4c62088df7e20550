// A quantity over two others as a picture: a field of colours, one per level, with a scale beside it.
#ifndef OD_CONTOUR_PLOT_H
#define OD_CONTOUR_PLOT_H

#include "io/table.h"

// Evenly spaced, increasing abscissae x (columns of them) and y (rows); z[row * columns + column]. Names of x and y are those of the
// axes, that of z stands above the scale. Units are SI; what is shown are those of io/display.h.
typedef struct od_contour {
  int columns, rows;
  const double *x, *y, *z;
  const char *x_name, *y_name, *z_name, *x_unit, *y_unit, *z_unit;
} od_contour;

// Writes an SVG file, complete or not at all.
od_status od_contour_write(const od_contour *c, const char *title, const char *subtitle, const char *path,
                           od_error *err);

#endif
