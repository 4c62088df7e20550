// The innovations of a run over time, for charts: from its table. What they say about the filter is found while it runs
// (experiment/innovations.h).
#ifndef OD_REPORT_INNOVATION_SERIES_H
#define OD_REPORT_INNOVATION_SERIES_H

#include "experiment/observe.h"

enum { OD_WINDOWS = 60 };

// One sensor's innovations over what was expected of them, one per row of the table; NAN: none was used. NULL: memory
// ran out. Free it.
double *od_innovation_series(const od_experiment *e, const od_observed *o, int sensor);

// NIS per dimension in windows that follow each other, each with the interval of a right filter.
typedef struct od_nis_window {
  double time, value, middle, half;  // time: the window's middle; the interval is middle +- half
} od_nis_window;
// Returns how many there are; given are the innovations of all sensors.
int od_nis_windows(const od_experiment *e, const od_observed *o, double *const *series,
                   od_nis_window windows[OD_MOST_WINDOWS]);
// Whether the table has less rows than the run had samples.
bool od_is_thinned(const od_observed *o);

// The column "what.name" of the table, or -1.
int od_table_find(const od_table *t, const char *what, const char *name);

#endif
