// Statistics of the innovations of a run: size relative to the filter's covariance, mean, whiteness, and changes over the run.
// The memory does not grow with the number of samples, so live runs and studies also have these statistics.
//
// Sensors are processed one by one, each after the corrections of the previous sensors. The normalized innovations of a consistent
// filter are thus independent standard normal numbers, over sensors and over time. NIS is the sum of their squares. From a time t
// to the end, the change of a parameter's estimate is normal. Its variance is P(t) - P(end) plus the variance of the parameter's
// own noise. The estimates of an overconfident filter change more.
#ifndef OD_EXPERIMENT_INNOVATIONS_H
#define OD_EXPERIMENT_INNOVATIONS_H

#include <stdbool.h>

#include "base/saved.h"
#include "memory/scoped.h"
#include "oleodyn/observer.h"

enum { OD_LAGS = 25 };

// Normalized innovations in a part of the run.
typedef struct od_scatter {
  long count;
  double mean, square;  // mean and mean square; consistent filter: 0 and 1
  double far;           // fraction of innovations beyond three standard deviations; consistent filter: 0.0027
} od_scatter;

enum { OD_ENOUGH_TOGETHER = 50 };  // smallest number of common samples of two sensors for a correlation

// Statistics of one sensor, over the innovations that were used.
typedef struct od_innovations {
  od_scatter run, last;                // statistics of the whole run and of its last quarter
  double deviation;                    // standard deviation about the mean
  double mean_limit, deviation_limit;  // 95 % limits of mean and deviation
  double correlation[OD_LAGS + 1];     // autocorrelation by lag in samples; [0] is 1
  double correlation_limit;            // 95 % limit of the correlations of a white sequence
  double whiteness, chance;            // Ljung-Box statistic; p-value: probability of a larger value for white noise
  double first, predicted;             // the first measured value, and its prediction; NAN: none
  double largest;                      // largest magnitude of the measured values
  int input;  // input whose changes correlate most with the innovations before or after these changes; -1: none
  int partner;  // other sensor whose innovations correlate most with this sensor's; -1: no sensor has OD_ENOUGH_TOGETHER common samples
  double together;  // correlation of the innovations with the innovations of `partner`
  double follows;   // correlation with the changes of `input`, over all lags; by chance about 5/sqrt(count)
} od_innovations;

// Change of a parameter's estimate, in standard deviations of the difference: since the start, and since the time from which the
// change is largest. The struct also contains this time, and the estimate with its standard deviation at this time.
typedef struct od_movement {
  double since_start;
  double deviations, time, estimate, sigma;
  int times;  // number of times that were compared
} od_movement;

// A part of the run: the sum of squares of the normalized innovations of all sensors, and their number.
typedef struct od_nis_part {
  double begin, end;  // times of the first and last samples of the part
  double squares;
  long count;
} od_nis_part;
enum { OD_MOST_WINDOWS = 64 };

typedef struct od_innovation_record od_innovation_record;
// Creates an empty record. Returns NULL if out of memory.
od_innovation_record *od_innovation_record_new(int sensors, int inputs, int parameters);
void od_innovation_record_free(od_innovation_record *r);
OD_OWNED_POINTER(od_innovation_record, od_innovation_record_free);
// Saves or restores a record as pieces of a saved state.
void od_innovation_record_transfer(od_innovation_record *r, od_pieces *t);
// Adds the innovations, measurements and inputs of a sample. Call after each correction.
void od_innovation_record_take(od_innovation_record *r, const od_innovation *in, const double *y, const double *u);
// Stores the parameters at certain times (marks). Call at the start, before any measurement, and after each correction.
void od_innovation_record_mark(od_innovation_record *r, const od_observer *observer, double t);
// Excludes the innovations between two times, s, from the statistics of size and mean, because a detected change has
// caused these innovations. Whole blocks are excluded.
void od_innovation_record_exclude(od_innovation_record *r, double from, double to);
// Compute the statistics of a sensor and of parameter i. Call these functions at the end. noise: variance of the
// change of the parameter per second. since: time of the last detected change of any parameter, s; earlier estimates are ignored.
void od_innovation_record_sensor(const od_innovation_record *r, int sensor, od_innovations *out);
od_movement od_innovation_record_parameter(const od_innovation_record *r, const od_observer *observer, int i,
                                           double noise, double since);

// Divides the run into parts with equal numbers of samples, except the last part. Returns the number of parts.
int od_innovation_record_windows(const od_innovation_record *r, od_nis_part window[OD_MOST_WINDOWS]);

// Returns the statistics over all sensors. `last`: only over the last quarter of the run.
od_scatter od_scatter_of_all(const od_innovations *in, int sensors, bool last);

#endif
