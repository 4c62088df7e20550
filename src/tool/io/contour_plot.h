// A picture of a quantity over two other quantities: a field of colors, one color per level, with a color scale at its side.
#ifndef OD_CONTOUR_PLOT_H
#define OD_CONTOUR_PLOT_H

#include "io/picture.h"

// Evenly spaced, increasing abscissae x (one per column) and y (one per row); z[row * columns + column]. The names of x and y
// label the axes; the name of z labels the scale. Units are SI; io/display.h determines the displayed units.
typedef struct od_contour {
  int columns, rows;
  const double *x, *y, *z;
  const char *x_name, *y_name, *z_name, *x_unit, *y_unit, *z_unit;
} od_contour;

// Adds a panel with curves over x, for some values of y. The numbers must outlive the picture.
void od_picture_add_contour(od_picture *p, const od_contour *c);

// Writes an SVG file, or no file on failure; the path "-" prints the curves of od_picture_add_contour() on standard output. Fails
// with OD_BAD_ARGUMENT if there are fewer than two columns or rows or no finite value, with OD_IO or with OD_NO_MEMORY.
od_status od_contour_write(const od_contour *c, const char *title, const char *subtitle, const char *path,
                           od_error *err);

#endif
