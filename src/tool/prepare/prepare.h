// Preparation of logged signals for a fit. Each step is requested explicitly, and its effect is counted.
//
// Steps, in this order; a step is skipped if its number is zero:
//   outliers        outputs: samples far from the moving median become missing
//   resample        all: a new uniform step, linear interpolation, after a low-pass if the step becomes longer
//   low_pass        all alike, so that a linear relation between them is preserved; first and last samples do not change
//   savgol_window   outputs: Savitzky-Golay smoothing
//   detrend         all: the mean or a line over the available samples is subtracted
//
// NAN is a missing sample. Outputs may have missing samples; inputs must not, because a prediction needs all of them. Only
// resampling fills gaps, and only short ones. Filters work on the pieces between gaps: resample first (to the same step if need
// be) if single samples are missing. For a nonlinear machine, the response to filtered inputs is not the filtered response.
#ifndef OD_PREPARE_H
#define OD_PREPARE_H

#include <stdbool.h>

#include "memory/scoped.h"
#include "oleodyn/status.h"

typedef enum od_detrend { OD_DETREND_NONE, OD_DETREND_MEAN, OD_DETREND_LINEAR } od_detrend;

typedef struct od_prepare {
  double resample;  // s, the new step
  od_detrend detrend;
  double low_pass;                  // Hz: a Butterworth filter of second order forwards and backwards, gain 1/2 here
  int savgol_window, savgol_order;  // samples, odd; order of the local polynomial
  double outliers;                  // robust standard deviations (1.4826 MAD) from the moving median
  int outlier_window;               // samples, odd; zero: 21
} od_prepare;

typedef struct od_prepared_channel {
  long outliers_removed;  // samples
  long gaps_filled;       // short gaps that resampling bridged by a straight line
  long missing;           // samples, in the result
  double mean, slope;     // subtracted: mean + slope (t - center of the available samples)
  double middle;          // s
} od_prepared_channel;

typedef struct od_prepared {
  od_arena arena;
  long rows, gaps_filled, outliers_removed;  // of all channels
  int channels;
  double step;        // s, between rows; the median if times are not uniform
  double anti_alias;  // Hz, corner of the low-pass before resampling; 0: none
  double *time;       // rows
  double *value;      // value[row * channels + channel], as given
  od_prepared_channel *channel;
} od_prepared;

// value[row * channels + channel]. OD_BAD_INPUT with all errors of the settings, or the first error of the signals; channels
// and rows count from 1 in texts.
od_status od_prepare_signals(const od_prepare *p, const double *time, const double *value, long rows, int channels,
                             const bool *is_input, od_prepared **out, od_error *err);
void od_prepared_free(od_prepared *prepared);
OD_OWNED_POINTER(od_prepared, od_prepared_free);

#endif
