// Are the innovations what a right filter has: as large as it expects, without a mean, and white? From the table of a
// run.
#ifndef OD_REPORT_INNOVATIONS_H
#define OD_REPORT_INNOVATIONS_H

#include "experiment/observe.h"

enum { OD_LAGS = 25, OD_WINDOWS = 60 };
#define OD_UNLIKELY 0.001  // a chance below it is none

// One sensor's innovations over what was expected of them, those that were used.
typedef struct od_innovations {
  double *value;                       // one per row of the table; NAN: none
  long count;                          // that are none
  double mean, deviation;              // of a right filter: 0 and 1,
  double mean_limit, deviation_limit;  // and how far off they may be (95 %)
  double correlation[OD_LAGS + 1];     // between samples so many samples apart; [0] is 1
  double correlation_limit;            // 95 % of a white sequence's are within
  double whiteness, chance;            // Ljung and Box's sum over the lags, and how often a white one's is larger
} od_innovations;

// Fills in sensor i's; false when memory ran out. Free value.
bool od_innovations_find(const od_experiment *e, const od_observed *o, int sensor, od_innovations *out);
// Whether they depend on each other, and enough to matter.
bool od_innovations_coloured(const od_innovations *in);

// NIS per dimension in windows that follow each other, each with the interval of a right filter.
typedef struct od_nis_window {
  double time, value, middle, half;  // time: the window's middle; the interval is middle +- half
} od_nis_window;
// Returns how many there are; given are the innovations of all sensors.
int od_nis_windows(const od_experiment *e, const od_observed *o, const od_innovations *in,
                   od_nis_window windows[OD_WINDOWS]);

// The column "what.name" of the table, or -1.
int od_table_find(const od_table *t, const char *what, const char *name);

#endif
