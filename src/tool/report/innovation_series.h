// The innovations of a run over time, from the table of the run, for charts. Their statistics are computed during the run
// (experiment/innovations.h).
#ifndef OD_REPORT_INNOVATION_SERIES_H
#define OD_REPORT_INNOVATION_SERIES_H

#include "experiment/observe.h"

enum { OD_WINDOWS = 60 };

// Computes the innovations of one sensor divided by their expected standard deviation, one per row of the table; NAN: not used. The
// arena owns the result. NULL: out of memory.
double *od_innovation_series(const od_experiment *e, const od_observed *o, int sensor, od_arena *arena);

// NIS per dimension in one of several consecutive windows, with the 95 % interval of a consistent filter.
typedef struct od_nis_window {
  double time, value, middle, half;  // time: center of the window; the interval is middle +- half
} od_nis_window;
// Computes the windows from the series of all sensors; if the table is thinned, from the sums that the run kept. Returns the number of windows.
int od_nis_windows(const od_experiment *e, const od_observed *o, double *const *series,
                   od_nis_window windows[OD_MOST_WINDOWS]);
// Returns whether the table has fewer rows than the run had samples.
bool od_is_thinned(const od_observed *o);

// Returns the index of the column "what.name" of the table; -1: no such column.
int od_table_find_suffixed(const od_table *t, const char *what, const char *name);

#endif
