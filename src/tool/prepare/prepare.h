// Preparation of logged signals for a fit. Each step is requested explicitly. The result contains the numbers of
// removed outliers, filled gaps and missing samples.
//
// Steps, in this order, with the channels that they change; a step is skipped if its setting is zero:
//   outliers        outputs: samples far from the moving median become missing samples
//   resample        all: linear interpolation to a new uniform step, after a low-pass filter if the step becomes longer
//   low_pass        all: the same low-pass filter, so that linear relations between signals remain valid; the first and
//                   last samples do not change
//   savgol_window   outputs: Savitzky-Golay smoothing
//   detrend         all: the mean or a line over the available samples is subtracted
//
// NAN is a missing sample. Outputs may have missing samples. Inputs must not have missing samples, because a prediction needs
// all inputs. Only resampling fills gaps, and only short gaps. Filters work on the pieces between gaps. If single samples are
// missing, resample first (to the same step if necessary). For a nonlinear machine, the response to filtered inputs is not the
// filtered response.
#ifndef OD_PREPARE_H
#define OD_PREPARE_H

#include <stdbool.h>

#include "memory/scoped.h"
#include "oleodyn/status.h"

typedef enum od_detrend { OD_DETREND_NONE, OD_DETREND_MEAN, OD_DETREND_LINEAR } od_detrend;

typedef struct od_prepare {
  double resample;  // new interval between rows, s
  od_detrend detrend;
  // Corner frequency of the low-pass filter, Hz: a second-order Butterworth filter that is applied forward and
  // backward. The gain at the corner frequency is 1/2.
  double low_pass;
  int savgol_window, savgol_order;  // odd number of samples of the window, and order of the local polynomial
  double outliers;     // largest distance from the moving median, in robust standard deviations (1.4826 MAD)
  int outlier_window;  // odd number of samples of the moving median; zero: 21
} od_prepare;

typedef struct od_prepared_channel {
  long outliers_removed;  // number of removed outliers
  long gaps_filled;       // number of short gaps that resampling filled by a straight line
  long missing;           // number of missing samples in the result
  double mean, slope;     // subtracted line: mean + slope (t - middle)
  double middle;          // mean time of the available samples, s
} od_prepared_channel;

typedef struct od_prepared {
  od_arena arena;
  long rows, gaps_filled, outliers_removed;  // number of rows; totals of all channels
  int channels;
  double step;        // interval between rows, s; the median if times are not uniform
  double anti_alias;  // corner frequency of the low-pass filter before resampling, Hz; 0: no filter
  double *time;       // time of each row, s
  double *value;      // value[row * channels + channel], as in the call
  od_prepared_channel *channel;
} od_prepared;

// Prepares signals: value[row * channels + channel]. The caller frees *out with od_prepared_free(). After OD_BAD_INPUT,
// the error contains one or more errors of the settings, or the first error of the signals. In messages, channels and rows
// count from 1. Also fails with OD_BAD_ARGUMENT if there are no rows or channels, and with OD_NO_MEMORY.
od_status od_prepare_signals(const od_prepare *p, const double *time, const double *value, long rows, int channels,
                             const bool *is_input, od_prepared **out, od_error *err);
void od_prepared_free(od_prepared *prepared);
OD_OWNED_POINTER(od_prepared, od_prepared_free);

#endif
