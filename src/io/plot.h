// A table of results as a picture: one chart over time per column, and above them the paths of points whose x and y are
// both among the columns.
#ifndef OD_PLOT_H
#define OD_PLOT_H

#include "io/table.h"

// Writes an SVG file (complete or not at all; never "-"). The table's first column is time.
od_status od_plot_write(const od_table *table, const char *title, const char *subtitle, const char *path,
                        od_error *err);

#endif
