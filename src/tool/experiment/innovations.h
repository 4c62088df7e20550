// What the innovations of a run say about the filter: as large as it expects, without a mean, white, and so to the end?
// Gathered sample by sample in memory that does not grow, so that live runs and studies have it, too.
//
// Sensors are taken in one by one, each after what the ones before it have said, so the normalised innovations of a
// right filter are independent standard normal numbers, over sensors as well as over time, and NIS is the sum of their
// squares. Its estimate of a parameter changes by what the data bring, so from a time to the end by a normal number of
// variance P(then) - P(end) (plus what the parameter's own noise adds): a filter that once was surer than it should be
// wanders.
#ifndef OD_EXPERIMENT_INNOVATIONS_H
#define OD_EXPERIMENT_INNOVATIONS_H

#include <stdbool.h>

#include "oleodyn/observer.h"

enum { OD_LAGS = 25 };

// Innovations over what was expected of them, in a part of the run.
typedef struct od_scatter {
  long count;
  double mean, square;  // of a right filter: 0 and 1
  double far;           // the part of them beyond three standard deviations; of a right filter 0.0027
} od_scatter;

enum { OD_ENOUGH_TOGETHER = 50 };  // samples that two sensors share: the correlation of fewer may be anything

// Of one sensor, those that were used.
typedef struct od_innovations {
  od_scatter run, last;                // of the whole run and of its last quarter
  double deviation;                    // about their mean,
  double mean_limit, deviation_limit;  // and how far off mean and deviation may be (95 %)
  double correlation[OD_LAGS + 1];     // between samples so many samples apart; [0] is 1
  double correlation_limit;            // 95 % of a white sequence's are within
  double whiteness, chance;            // Ljung and Box's sum over the lags, and how often a white one's is larger
  double first, predicted;             // the first value measured, and what was predicted of it; NAN: none was
  double largest;                      // of what it measured, without sign
  int input;        // the input whose changes its innovations go with most, after it or before; -1: there is none
  int partner;      // the sensor whose innovations of the same samples go with them most; -1: none has enough of these
  double together;  // their correlation
  double follows;   // their correlation over some samples before and after; by chance about 5/sqrt(count)
} od_innovations;

// How far a parameter's estimate has moved, in standard deviations of the difference: since the start, and since the
// time since which it has moved farthest. What it was then.
typedef struct od_movement {
  double since_start;
  double deviations, time, estimate, sigma;
  int times;  // how many times were looked at
} od_movement;

// A part of the run: innovations of all sensors over what was expected, the sum of their squares, and how many.
typedef struct od_nis_part {
  double begin, end;  // times of its first sample and of its last
  double squares;
  long count;
} od_nis_part;
enum { OD_MOST_WINDOWS = 64 };

typedef struct od_innovation_record od_innovation_record;
od_innovation_record *od_innovation_record_new(int sensors, int inputs, int parameters);
void od_innovation_record_free(od_innovation_record *r);
// After each correction: innovations, what the sensors said, and the inputs.
void od_innovation_record_take(od_innovation_record *r, const od_innovation *in, const double *y, const double *u);
// At the start, before anything was measured, and after each correction: keeps the parameters when it is time.
void od_innovation_record_mark(od_innovation_record *r, const od_observer *observer, double t);
// At the end. noise: of parameter i, variance of its change per second.
void od_innovation_record_sensor(const od_innovation_record *r, int sensor, od_innovations *out);
od_movement od_innovation_record_parameter(const od_innovation_record *r, const od_observer *observer, int i,
                                           double noise);

// Parts of the run of equal numbers of samples, but for the last; how many.
int od_innovation_record_windows(const od_innovation_record *r, od_nis_part window[OD_MOST_WINDOWS]);

// All sensors together.
od_scatter od_scatter_of_all(const od_innovations *in, int sensors, bool last);

#endif
