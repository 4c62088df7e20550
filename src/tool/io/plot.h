// Draws a table of results: one chart over time per column or per panel of columns. Above these charts are the paths of points
// whose x and y are both columns.
#ifndef OD_PLOT_H
#define OD_PLOT_H

#include "io/table.h"

// Writes an SVG file, or no file on failure; the path "-" prints the charts on standard output (io/picture.h). The
// first column of the table is the time. Columns with the same number in `panel` share a chart and have the same unit;
// NULL: each column has its own chart. io/display.h determines the units. Fails with OD_BAD_ARGUMENT if the table has no rows or no
// column other than the time, with OD_IO or with OD_NO_MEMORY.
od_status od_plot_write(const od_table *table, const int *panel, const char *title, const char *subtitle,
                        const char *path, od_error *err);

#endif
