// Statistics and faults of one channel of a log, from its own samples in two passes over the stream. Memory does not
// depend on the number of samples. Rows without a value of the channel do not count as samples.
//
// Noise. The interpolation residual of sample i is e = x[i] - (x[i-1] + a (x[i+1] - x[i-1])), with a from the times. White noise with
// standard deviation s gives var(e) = s^2 (1 + a^2 + (1 - a)^2), and consecutive residuals have opposite signs with a probability of
// 0.73. Residuals of a smooth signal rarely change their sign. A block of 32 samples is noisy if most residuals change their sign and at
// most half of the steps are zero; the noise is the median over the noisy blocks.
//
// Resolution. The steps between samples are multiples of the resolution. The resolution is unknown (NAN) if no such number exists.
//
// Spikes. A spike is one or two samples that are far from the straight line through the medians of the three samples
// before and after, compared with the noise of the channel, with the noise next to the spike, and with the resolution,
// while these six samples are close to the line. Steps, corners and peaks of smooth signals are not spikes.
//
// Stuck stretches. A noisy channel is stuck if it repeats a value more often than its noise explains. Channels at rest
// are not stuck. Such channels also have blocks with some zero steps, return to the same value, or reach 0 without a
// jump (dead band).
//
// Saturation. A noisy channel is saturated if it repeats its least or greatest value (except 0) and values close to
// this limit are rare.
//
// Codes. A code is a least or greatest value that occurs several times and is far from all other values, such as 65535
// or -999. The distance is more than three times the range of the other values, or more than a quarter of this range if
// at least three quarters of the runs at the code are spikes.
//
// In a channel without visible noise, the six neighbors of a spike must be five times as close to the line, and the height must be at
// least 2 % of the range, because fast transients of simulated signals have peaks of one sample. Values below 1e-12 are round-off.
//
// Channels with at most 8 different values are states, such as gears and switches, unless they have few values. Such channels have no noise,
// spikes, stuck stretches, saturation or codes.
#ifndef OD_SURVEY_CHANNEL_SURVEY_H
#define OD_SURVEY_CHANNEL_SURVEY_H

#include <stdbool.h>

#include "survey/timing.h"

enum {
  OD_SURVEY_STATES = 8,   // largest number of different values of a state
  OD_SURVEY_LISTED = 8,   // number of spikes and long runs that are stored
  OD_SURVEY_BLOCK = 32,   // samples of a block
  OD_SURVEY_WINDOW = 72,  // number of samples in the window that is searched for spikes
};

typedef struct od_spike {
  double time, value, height;  // height: distance from the straight line
} od_spike;

// A stretch of consecutive equal values.
typedef struct od_stretch {
  double before;             // value before the stretch; NAN: none
  double begin, end, value;  // times of the first and the last sample
  long length;               // number of samples
} od_stretch;

// One end of the range of a channel.
typedef struct od_range_end {
  long at, near;      // number of values that are equal to the limit, and close to the limit without being equal
  long spikes;        // number of spikes to the limit
  long runs;          // number of runs of values at the limit
  long run, longest;  // current and longest run of values at the limit
  double next;        // nearest other value; NAN: none
  bool is_saturated, is_code;
} od_range_end;

typedef struct od_channel_survey {
  // ---- Result. Values are in the unit of the file.
  long values, missing;  // missing: number of expected values that are missing
  long infinite;         // number of infinite values, which are missing
  double min, max, mean, deviation;
  double first, last;  // first and last value
  od_timing timing;
  int levels;  // number of different values, at most OD_SURVEY_STATES + 1
  bool is_constant, is_state;
  long repeats;              // number of rows after which the value changes; 0: irregular
  double least_step;         // smallest step of a channel with few steps; 0: there are many steps
  double resolution, noise;  // NAN: unknown; noise: standard deviation
  long spikes;
  od_spike spike[OD_SURVEY_LISTED];  // the first spikes
  int stuck;
  od_stretch stuck_run[OD_SURVEY_LISTED];  // the longest stuck stretches, in the order of their times
  long stuck_limit;                        // longest plausible run of a noisy channel; 0: no limit is known
  od_range_end low, high;

  // ---- Working memory
  double level[OD_SURVEY_STATES];
  double square;  // sum of squared distances from the mean
  double x[OD_SURVEY_WINDOW], t[OD_SURVEY_WINDOW];
  int filled, carried;  // number of samples in x and t; number of first samples that were already counted
  od_pool step_pool, noise_pool, run_pool;
  long zero_steps, steps;
  struct {
    long noisy, smooth, mixed, constant, zero_steps, steps;
  } block;  // numbers of blocks of each kind; steps of noisy blocks
  od_stretch now, longest[OD_SURVEY_LISTED];
  int long_runs;
  long all_long_runs;  // number of runs of at least OD_SURVEY_BLOCK / 2 samples
  // Numbers of distances between rows with a value: by distance, and all distances of 64 rows or more.
  long first_row, last_row, distance[64], far_rows, far_count;
  double previous_time;  // second pass
} od_channel_survey;

// Initializes the first pass. room: size of the pools.
void od_channel_survey_init(od_channel_survey *s, od_arena *memory, long room);
// Adds a value of the first pass. row: number of the row among the rows of the channel's group.
void od_channel_survey_add(od_channel_survey *s, double time, double value, long row);
// Ends the first pass. rows: number of rows of the group. Then add all values again with od_channel_survey_recount().
void od_channel_survey_judge(od_channel_survey *s, long rows);
void od_channel_survey_recount(od_channel_survey *s, double time, double value);
// Ends the second pass over a channel.
void od_channel_survey_finish(od_channel_survey *s);

// Returns the resolution that explains the steps, or NAN. The pool is sorted and contains the magnitudes of the steps that are not
// zero. round_off: size of rounding errors; has_zeros: whether there are also steps of zero.
double od_resolution_of(const od_pool *steps, double round_off, bool has_zeros);

#endif
