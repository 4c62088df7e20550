#include "survey/channel_survey.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "io/number.h"

// --- First pass ---------------------------------------------------------------------------------------------------

// Share of residuals with changing sign above which a block is noisy; 0.73 for white noise.
static const double least_flips = 0.55;
static const double most_zero_steps = 0.5;     // largest share of zero steps of a noisy block
static const double noise_of_rounding = 0.45;  // noise above which a channel is noisy, relative to the resolution
static const double most_interval_ratio = 4;   // a sample between intervals with a larger ratio has no residual

void od_channel_survey_init(od_channel_survey *s, od_arena *memory, long room) {
  *s = (od_channel_survey){.min = INFINITY,
                           .max = -INFINITY,
                           .mean = NAN,
                           .deviation = NAN,
                           .first = NAN,
                           .last = NAN,
                           .resolution = NAN,
                           .noise = NAN,
                           .low.next = NAN,
                           .high.next = NAN,
                           .first_row = -1,
                           .last_row = -1,
                           .previous_time = NAN};
  od_timing_init(&s->timing, memory, room);
  od_pool_init(&s->step_pool, memory, room);
  od_pool_init(&s->noise_pool, memory, room);
  od_pool_init(&s->run_pool, memory, room);
}

// Computes the interpolation residual of sample i, divided by its standard deviation for white noise of size 1. False: the intervals
// are too different.
static bool residual(const od_channel_survey *s, int i, double *e) {
  double before = s->t[i] - s->t[i - 1], after = s->t[i + 1] - s->t[i];
  if (!(before > 0 && after > 0 && before <= most_interval_ratio * after && after <= most_interval_ratio * before))
    return false;
  double a = before / (before + after);
  *e = (s->x[i] - s->x[i - 1] - a * (s->x[i + 1] - s->x[i - 1])) / sqrt(1 + a * a + (1 - a) * (1 - a));
  return true;
}

// Adds the values of a block to the mean and the sum of squared deviations (Chan, Golub, LeVeque 1979).
static void add_moments(od_channel_survey *s, const double *x, int n, long before) {
  double mean = 0, square = 0;
  for (int i = 0; i < n; i++) mean += x[i];
  mean /= n;
  for (int i = 0; i < n; i++) square += (x[i] - mean) * (x[i] - mean);
  if (before == 0) {
    s->mean = mean;
    s->square = square;
    return;
  }
  double all = (double)before + n, apart = mean - s->mean;
  s->mean += apart * n / all;
  s->square += square + apart * apart * (double)before * n / all;
}

// Sums over the residuals of a block.
typedef struct residuals {
  int count;
  int pairs;  // number of pairs of successive nonzero residuals
  int flips;  // number of pairs with different signs
  double sum, last;
} residuals;

static void add_residual(residuals *r, double e) {
  r->count++;
  r->sum += e * e;
  if (e == 0) return;
  if (r->last != 0) r->pairs++, r->flips += (e > 0) != (r->last > 0);
  r->last = e;
}

// Returns whether the residuals look like white noise, not like a smooth signal.
static bool are_noise(const residuals *r) {
  return r->pairs >= 8 && r->flips >= least_flips * r->pairs;
}

// Classifies the block by its steps and residuals. There are two residuals: one with the times of the samples, one with
// equal intervals. A block is noisy only if both residuals are noisy. If times have jitter, one of the two residuals of
// a steep smooth signal also looks noisy.
static void classify_block(od_channel_survey *s) {
  residuals by_time = {0}, by_index = {0};
  int zero = 0, steps = 0;
  double size = 0;
  for (int i = 1; i < s->filled; i++) {
    size = fmax(size, fabs(s->x[i]));
    if (i >= s->carried) steps++, zero += s->x[i] == s->x[i - 1];
    double e;
    if (i + 1 == s->filled || !residual(s, i, &e)) continue;
    add_residual(&by_time, e);
    add_residual(&by_index, (s->x[i] - 0.5 * (s->x[i - 1] + s->x[i + 1])) / sqrt(1.5));
  }
  if (steps < OD_SURVEY_BLOCK / 2) return;
  double noise = by_time.count > 0 ? sqrt(fmin(by_time.sum, by_index.sum) / by_time.count) : 0;
  if (zero == steps) {
    s->block.constant++;
  } else if (zero > most_zero_steps * steps) {
    s->block.mixed++;
  } else if (!are_noise(&by_time) || !are_noise(&by_index) || !(noise > 1e-12 * size)) {
    s->block.smooth++;
  } else {
    s->block.noisy++;
    s->block.zero_steps += zero;
    s->block.steps += steps;
    od_pool_add(&s->noise_pool, noise);
  }
}

static void end_run(od_channel_survey *s) {
  const od_stretch *run = &s->now;
  if (run->length == 0) return;
  od_pool_add(&s->run_pool, (double)run->length);
  if (run->length < OD_SURVEY_BLOCK / 4) return;
  s->all_long_runs += run->length >= OD_SURVEY_BLOCK / 2;
  int at = s->long_runs;
  if (at < OD_SURVEY_LISTED) {
    s->long_runs++;
  } else {
    at = 0;
    for (int i = 1; i < OD_SURVEY_LISTED; i++)
      if (s->longest[i].length < s->longest[at].length) at = i;
    if (s->longest[at].length >= run->length) return;
  }
  s->longest[at] = *run;
}

// Counts the new samples of the block, and keeps the last two samples for the residuals of the next block.
static void end_block(od_channel_survey *s) {
  int n = s->filled - s->carried;
  if (n == 0) return;
  add_moments(s, s->x + s->carried, n, s->values - n);
  classify_block(s);
  int keep = s->filled < 2 ? s->filled : 2;
  memmove(s->x, s->x + s->filled - keep, (size_t)keep * sizeof *s->x);
  memmove(s->t, s->t + s->filled - keep, (size_t)keep * sizeof *s->t);
  s->filled = s->carried = keep;
}

static void note_level(od_channel_survey *s, double value) {
  if (s->levels > OD_SURVEY_STATES) return;
  for (int i = 0; i < s->levels; i++)
    if (s->level[i] == value) return;
  if (s->levels < OD_SURVEY_STATES) s->level[s->levels] = value;
  s->levels++;
}

// Stores the distance from the previous row with a value. Without missing values, the distance is always one row.
static void note_row(od_channel_survey *s, long row) {
  long apart = row - s->last_row;
  if (s->first_row < 0)
    s->first_row = row;
  else if (apart < 64)
    s->distance[apart]++;
  else
    s->far_rows += apart, s->far_count++;
  s->last_row = row;
}

void od_channel_survey_add(od_channel_survey *s, double time, double value, long row) {
  if (isinf(value)) s->infinite++;
  if (!isfinite(value)) return;
  note_row(s, row);
  od_timing_add(&s->timing, time);
  if (value < s->min) s->min = value;
  if (value > s->max) s->max = value;
  if (s->values++ == 0) s->first = value;
  bool is_equal = s->now.length > 0 && value == s->now.value;
  if (s->values > 1) {
    s->steps++;
    s->zero_steps += is_equal;
  }
  if (is_equal) {
    s->now.length++;
    s->now.end = time;
  } else {
    if (s->now.length > 0) od_pool_add(&s->step_pool, fabs(value - s->last));
    end_run(s);
    s->now = (od_stretch){s->values > 1 ? s->last : (double)NAN, time, time, value, 1};
    note_level(s, value);
  }
  s->last = value;
  s->x[s->filled] = value;
  s->t[s->filled++] = time;
  if (s->filled - s->carried == OD_SURVEY_BLOCK) end_block(s);
}

// --- Judgment of the first pass -----------------------------------------------------------------------------------

static const double least_size = 1e-12;  // smaller values are round-off

// Returns whether a channel can have faults: it has more values than a state, and its values are more than round-off.
static bool can_be_judged(const od_channel_survey *s) {
  return s->levels > OD_SURVEY_STATES && fmax(fabs(s->min), fabs(s->max)) >= least_size;
}

enum { LEAST_STEPS = 16 };  // least number of steps for a resolution

double od_resolution_of(const od_pool *steps, double round_off, bool has_zeros) {
  enum { MOST_PARTS = 6 };
  static const double share = 0.97, tolerance = 0.05;
  long n = od_pool_size(steps), first = 0;
  while (first < n && steps->value[first] < 64 * round_off) first++;
  const double *step = steps->value + first;
  n -= first;
  if (n < LEAST_STEPS) return NAN;
  // The smallest step is the resolution or a small multiple of the resolution.
  for (int parts = 1; parts <= MOST_PARTS; parts++) {
    double q = step[0] / parts, sum = 0, squares = 0;
    long fits = 0;
    bool has_other = has_zeros;
    for (long i = 0; i < n; i++) {
      double multiple = round(step[i] / q);
      if (multiple < 1 || fabs(step[i] - multiple * q) > tolerance * q + 4 * round_off) continue;
      // The least squares estimate of the resolution weights each step by its multiple.
      if (multiple < 100) sum += step[i] * multiple, squares += multiple * multiple;
      has_other = has_other || multiple != parts;
      fits++;
    }
    if ((double)fits >= share * (double)n && has_other) return squares > 0 ? sum / squares : q;
  }
  return NAN;
}

// Counts missing values by the distances of rows with a value. A channel that is sampled less often than its group has a value in every
// n-th row; n is the most frequent distance.
static void count_missing(od_channel_survey *s, long rows) {
  int usual = 1;
  long missing = 0;
  for (int d = 2; d < 64; d++)
    if (s->distance[d] > s->distance[usual]) usual = d;
  if (s->first_row < 0) {
    s->missing = rows;
    return;
  }
  bool is_rare = s->far_count > s->distance[usual];
  if (is_rare) usual = (int)fmin(1e9, (double)s->far_rows / (double)s->far_count);
  for (int d = 2; d < 64; d++) missing += s->distance[d] * ((d + usual / 2) / usual - 1) * (d > usual);
  if (!is_rare) missing += s->far_rows / usual - s->far_count;
  missing += s->first_row / usual + (rows - 1 - s->last_row) / usual;
  s->missing = missing;
}

// Returns the number of rows after which the value changes, if this number is regular and larger than 1; else 0.
static long find_repeats(od_channel_survey *s) {
  if (od_pool_size(&s->run_pool) < 16) return 0;
  od_pool_sort(&s->run_pool);
  double low = od_pool_quantile(&s->run_pool, 0.1), middle = od_pool_quantile(&s->run_pool, 0.5),
         high = od_pool_quantile(&s->run_pool, 0.9);
  return middle >= 2 && low >= 0.6 * middle && high <= 1.4 * middle ? lround(middle) : 0;
}

// Computes the longest run that the noise explains: a run of n equal values with probability p of a zero step is expected
// N p^(n-1) times in N values, and less than 1e-6 times beyond the limit. Returns 0 unless the channel is noisy and never rests: each long
// run may have two blocks with some zero steps, at its beginning and its end.
static long find_stuck_limit(const od_channel_survey *s) {
  enum { LEAST_NOISY = 8, LEAST_RUN = 12 };
  long moving = s->block.noisy + s->block.smooth;
  bool is_noisy = s->block.noisy >= LEAST_NOISY && 4 * s->block.noisy >= s->block.smooth;
  bool rests = (double)s->block.mixed > 2 * (double)s->all_long_runs + 0.05 * (double)moving;
  // Rounding causes noise of 0.29 resolutions. Because of rounding, a smooth signal seems noisy while the signal
  // changes.
  if (!isnan(s->resolution) && !(s->noise >= noise_of_rounding * s->resolution)) return 0;
  if (!is_noisy || rests || s->all_long_runs > moving) return 0;
  double p = fmax(1e-3, (double)s->block.zero_steps / (double)s->block.steps);
  double limit = 2 + (log(1e-6) - log((double)s->values)) / log(p);
  return limit < LEAST_RUN ? LEAST_RUN : (long)limit;
}

// Copies the stuck stretches from the longest runs. Two kinds of runs are not stuck: runs at the ends of the range
// (saturation), and several runs at the same value (the signal is at rest there).
static void find_stuck(od_channel_survey *s) {
  for (int i = 0; i < s->long_runs; i++) {
    const od_stretch *run = &s->longest[i];
    bool returns = false;
    for (int k = 0; k < s->long_runs; k++) returns = returns || (k != i && s->longest[k].value == run->value);
    // In a dead band, the signal reaches 0 without a jump.
    bool is_dead_band = run->value == 0 && !(fabs(run->before) > 0.1 * (s->max - s->min));
    bool is_at_end = run->value == s->min || run->value == s->max;
    if (run->length <= s->stuck_limit || returns || is_at_end || is_dead_band) continue;
    int at = s->stuck++;
    for (; at > 0 && s->stuck_run[at - 1].begin > run->begin; at--) s->stuck_run[at] = s->stuck_run[at - 1];
    s->stuck_run[at] = *run;
  }
}

void od_channel_survey_judge(od_channel_survey *s, long rows) {
  end_run(s);
  end_block(s);
  od_timing_judge(&s->timing);
  count_missing(s, rows);
  s->is_constant = s->values > 1 && s->min == s->max;
  s->is_state = s->values > 50 && s->levels <= OD_SURVEY_STATES;
  s->deviation = s->is_constant ? 0 : s->values > 1 ? sqrt(s->square / (double)(s->values - 1)) : NAN;
  double size = fmax(fabs(s->min), fabs(s->max));
  s->repeats = s->is_state ? 0 : find_repeats(s);
  od_pool_sort(&s->step_pool);
  s->resolution = od_resolution_of(&s->step_pool, DBL_EPSILON * size, s->zero_steps > 0);
  if (s->step_pool.count > 0 && s->step_pool.count < LEAST_STEPS && s->zero_steps > 0)
    s->least_step = s->step_pool.value[0];
  long moving = s->block.noisy + s->block.smooth + s->block.mixed;
  if (!s->is_state && s->block.noisy >= 2 && 20 * s->block.noisy >= moving) {
    od_pool_sort(&s->noise_pool);
    s->noise = od_pool_quantile(&s->noise_pool, 0.5);
  }
  if (can_be_judged(s)) s->stuck_limit = find_stuck_limit(s);
  if (s->stuck_limit > 0) find_stuck(s);
  s->filled = 0;
}

// --- Second pass --------------------------------------------------------------------------------------------------

static const double least_height = 11;  // least height of a spike, relative to the noise
static const double least_steps = 4;    // least height of a spike, relative to the resolution
// Largest distance of the six neighbors from the line, relative to the height.
static const double distance_of_others = 0.25;
// The same limit for a channel without visible noise.
static const double distance_without_noise = 0.05;
// Least height of a spike in a channel without visible noise, relative to the range.
static const double part_of_range = 0.02;

static double median_of_3(double a, double b, double c) {
  return fmax(fmin(a, b), fmin(fmax(a, b), c));
}

// Returns the noise in samples `from` to `to` of the window: the median of the magnitudes of the residuals, as a standard deviation.
static double noise_of_part(const od_channel_survey *s, int from, int to) {
  double e[OD_SURVEY_WINDOW];
  long n = 0;
  for (int i = from; i < to; i++)
    if (residual(s, i, &e[n])) e[n] = fabs(e[n]), n++;
  od_numbers_sort(e, n);
  return n > 0 ? 1.4826 * e[n / 2] : 0;
}

// Returns the noise of the window. Uses the half with more noise, because a noisy stretch may begin in the window.
static double noise_of_window(const od_channel_survey *s) {
  int middle = s->filled / 2;
  return fmax(noise_of_part(s, 1, middle), noise_of_part(s, middle, s->filled - 1));
}

// Returns the height of a spike of `width` samples from sample i on, judged by its neighboring samples only; 0: no
// spike. by_index: all intervals are regarded as equal.
static double height_over_line(const od_channel_survey *s, int i, int width, bool by_index) {
  const double *x = s->x + i, *after = x + width;
  double left = median_of_3(x[-3], x[-2], x[-1]), right = median_of_3(after[0], after[1], after[2]);
  double t[8];  // times of the samples from x[-3] on, relative to x[-2]
  for (int k = -3; k < width + 3; k++) t[k + 3] = by_index ? k + 2 : s->t[i + k] - s->t[i - 2];
  double slope = (right - left) / t[width + 4];
  double height = x[0] - left - slope * t[3];
  if (width == 2) {
    double second = x[1] - left - slope * t[4];
    if ((height > 0) != (second > 0)) return 0;
    if (fabs(second) < fabs(height)) height = second;
  }
  // A channel without noise may have fast transients, in which the neighboring samples also change.
  double distance = isnan(s->noise) ? distance_without_noise : distance_of_others;
  int far = 0;
  for (int k = -3; k < width + 3; k++)
    if (k < 0 || k >= width) far += fabs(x[k] - left - slope * t[k + 3]) > distance * fabs(height);
  return far <= (isnan(s->noise) ? 0 : 1) ? height : 0;
}

// Returns the height of a spike as above, computed with the times and with equal intervals. The smaller height is used,
// so that jitter of the times does not look like a spike.
static double spike_height(const od_channel_survey *s, int i, int width) {
  // A spike requires samples without a gap between them.
  double usual = 3 * s->timing.interval;
  for (int k = i - 2; k < i + width + 3; k++)
    if (!(s->t[k] - s->t[k - 1] <= usual)) return 0;
  double by_time = height_over_line(s, i, width, false), by_index = height_over_line(s, i, width, true);
  return fabs(by_time) < fabs(by_index) ? by_time : by_index;
}

// Searches the window for spikes that begin at sample `from` to `to`.
static void find_spikes(od_channel_survey *s, int from, int to) {
  double noise = isnan(s->noise) ? 0 : s->noise, q = isnan(s->resolution) ? s->least_step : s->resolution;
  double size = fmax(fabs(s->min), fabs(s->max));
  double limit = fmax(fmax(least_height * noise, least_steps * q), 1e-9 * size), local = NAN;
  if (isnan(s->noise)) limit = fmax(limit, part_of_range * (s->max - s->min));
  for (int i = from; i <= to; i++) {
    double step = fabs(s->x[i] - s->x[i - 1]);
    if (!(step > 0.5 * limit)) continue;
    if (isnan(local)) local = noise_of_window(s);
    double least = fmax(limit, least_height * local);
    for (int width = 1; width <= 2; width++) {
      double height = i + width + 2 < s->filled ? spike_height(s, i, width) : 0;
      if (!(fabs(height) > least)) continue;
      if (s->spikes < OD_SURVEY_LISTED) s->spike[s->spikes] = (od_spike){s->t[i], s->x[i], height};
      s->spikes++;
      s->low.spikes += s->x[i] == s->min;
      s->high.spikes += s->x[i] == s->max;
      i += width;
      break;
    }
  }
}

// Searches the window, and keeps the samples that the next window needs.
static void end_window(od_channel_survey *s) {
  enum { KEPT = 7 };
  find_spikes(s, 3, s->filled - 5);
  memmove(s->x, s->x + s->filled - KEPT, KEPT * sizeof *s->x);
  memmove(s->t, s->t + s->filled - KEPT, KEPT * sizeof *s->t);
  s->filled = KEPT;
}

// Counts a value at or near one end of the range. inside: distance of the value from this end; near: largest distance
// that counts as near.
static void count_end(od_range_end *end, double inside, double near) {
  if (inside == 0) {
    end->at++;
    end->runs += end->run == 0;
    if (++end->run > end->longest) end->longest = end->run;
  } else {
    end->run = 0;
    end->near += inside < near;
  }
}

void od_channel_survey_recount(od_channel_survey *s, double time, double value) {
  if (!isfinite(value)) return;
  od_timing_recount(&s->timing, &s->previous_time, time);
  if (!can_be_judged(s)) return;
  double near = fmax(isnan(s->resolution) ? 0 : 2.5 * s->resolution, isnan(s->noise) ? 0 : s->noise);
  count_end(&s->low, value - s->min, near);
  count_end(&s->high, s->max - value, near);
  if (value > s->min && !(value >= s->low.next)) s->low.next = value;
  if (value < s->max && !(value <= s->high.next)) s->high.next = value;
  s->x[s->filled] = value;
  s->t[s->filled++] = time;
  if (s->filled == OD_SURVEY_WINDOW) end_window(s);
}

// Judges one end of the range. limit: the value at this end.
static void judge_end(const od_channel_survey *s, od_range_end *end, double limit) {
  enum { LEAST_AT = 8, LEAST_RUN = 4, LEAST_CODES = 3, LONG_RUN = 20 };
  double inner = s->high.next - s->low.next, gap = fabs(limit - end->next);
  bool is_repeated = end->runs >= LEAST_CODES || end->longest >= LONG_RUN;
  // Most runs at the limit are spikes that begin at other values of the signal.
  bool is_equal_spikes = end->runs >= LEAST_CODES && 4 * end->spikes >= 3 * end->runs;
  end->is_code = (is_repeated && gap > 3 * inner) || (is_equal_spikes && gap > inner / 4);
  bool piles_up = end->at >= LEAST_AT && end->longest >= LEAST_RUN && end->at > 3 * end->near;
  end->is_saturated = !end->is_code && s->stuck_limit > 0 && limit != 0 && piles_up;
}

void od_channel_survey_finish(od_channel_survey *s) {
  if (s->filled >= 8) find_spikes(s, 3, s->filled - 4);
  if (!can_be_judged(s)) return;
  judge_end(s, &s->low, s->min);
  judge_end(s, &s->high, s->max);
  // Codes for missing values do not count as spikes.
  s->spikes -= (s->low.is_code ? s->low.spikes : 0) + (s->high.is_code ? s->high.spikes : 0);
  int listed = 0;
  for (int i = 0; i < OD_SURVEY_LISTED; i++) {
    bool is_code = (s->low.is_code && s->spike[i].value == s->min) || (s->high.is_code && s->spike[i].value == s->max);
    if (!is_code) s->spike[listed++] = s->spike[i];
  }
}
