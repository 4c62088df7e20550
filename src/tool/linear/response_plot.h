// A Bode plot: magnitude in dB above phase in degrees, over the logarithm of the frequency.
#ifndef OD_LINEAR_RESPONSE_PLOT_H
#define OD_LINEAR_RESPONSE_PLOT_H

#include "io/table.h"

// The table's first column is the frequency in Hz; then magnitude and phase of one curve after another, which are called by
// their names. Writes an SVG file, complete or not at all.
od_status od_linear_response_plot_write(const od_table *table, const char *const *name, const char *title,
                                        const char *subtitle, const char *path, od_error *err);

#endif
