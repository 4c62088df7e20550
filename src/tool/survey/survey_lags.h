// Lags between channels of a surveyed log with the same quantity, by cross-correlation (logs/log_lag.h). The rows in the middle of the log
// are stored during the second pass.
#ifndef OD_SURVEY_SURVEY_LAGS_H
#define OD_SURVEY_SURVEY_LAGS_H

#include "logs/log_lag.h"

enum {
  OD_LAG_ROWS = 4096,    // largest number of stored rows
  OD_LAG_CHANNELS = 24,  // largest number of compared channels
  OD_LAG_PAIRS = 64,     // largest number of compared pairs
};

typedef struct od_survey_lag {
  int first, second;  // indices of the channels
  od_lag lag;
} od_survey_lag;

typedef struct od_lag_window {
  int channel[OD_LAG_CHANNELS];  // indices of the compared channels
  int channels;
  long from, rows, filled;  // number of rows before the window; size of the window; number of stored rows
  double *time, *value;     // value[channel * OD_LAG_ROWS + row]; NULL: no window
  od_survey_lag lag[OD_LAG_PAIRS];
  int lags;  // number of significant lags
} od_lag_window;

struct od_log_survey;
// Chooses the channels and the rows after the first pass: up to OD_LAG_CHANNELS numeric channels that vary, have at least 64 values
// and have the unit of another channel; up to OD_LAG_ROWS rows in the middle of the log. Returns false if memory runs out.
bool od_lag_window_init(od_lag_window *w, struct od_log_survey *s);
// Stores the values of a row (s->row) during the second pass, if the row is in the window. time: time of the row, s. A row whose
// time is not later than the previous time is ignored. number: index of the row in the selected part.
void od_lag_window_add(od_lag_window *w, const struct od_log_survey *s, double time, long number);
// Finds the significant lags of up to OD_LAG_PAIRS pairs of channels with the same unit. Both channels of a pair pass through their
// mean at least 8 times. A lag is significant if it meets three conditions. The magnitude r of the correlation is at least 0.95. 1
// - r^2 is less than half its value without a lag. The magnitude of the lag is more than 4 standard deviations. The largest lag
// that is tried is never significant. Writes the lags to w->lag and their number to w->lags. Finds no lags in fewer than 64 rows.
// Fails with OD_NO_MEMORY.
od_status od_lag_window_judge(od_lag_window *w, const struct od_log_survey *s);

#endif
