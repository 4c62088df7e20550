#include "survey/survey_lags.h"

#include <math.h>
#include <string.h>

#include "survey/log_survey.h"

static const double least_correlation = 0.95;
static const double gain = 2;              // least ratio of 1 - r^2 without the lag to 1 - r^2 with the lag
static const double significance = 4;      // least lag, in standard deviations
static const double most_intervals = 256;  // largest lag that is tried, in intervals of the slower channel
enum { LEAST_VALUES = 64, LEAST_CROSSINGS = 8 };

bool od_lag_window_init(od_lag_window *w, od_log_survey *s) {
  *w = (od_lag_window){0};
  long rows = 0;
  for (int i = 0; i < s->groups; i++) rows += s->group[i].rows;
  w->rows = rows < OD_LAG_ROWS ? rows : OD_LAG_ROWS;
  w->from = (s->used_rows - w->rows) / 2;
  if (w->from < 0) w->from = 0;
  for (int i = 0; i < s->channels && w->channels < OD_LAG_CHANNELS; i++) {
    const od_channel_survey *f = &s->channel[i].facts;
    bool is_alone = true;  // whether no other channel has this unit
    for (int k = 0; k < s->channels; k++)
      is_alone =
          is_alone && (k == i || strcmp(od_surveyed_unit(&s->channel[k]), od_surveyed_unit(&s->channel[i])) != 0);
    if (!is_alone && f->values >= LEAST_VALUES && !f->is_state && !f->is_constant) w->channel[w->channels++] = i;
  }
  if (w->channels < 2) return true;
  w->time = OD_TAKE(&s->memory, double, OD_LAG_ROWS);
  w->value = OD_TAKE_MATRIX(&s->memory, double, w->channels, OD_LAG_ROWS);
  return w->time && w->value;
}

void od_lag_window_add(od_lag_window *w, const od_log_survey *s, double time, long number) {
  if (!w->value || number < w->from || w->filled >= w->rows) return;
  // The correlation needs increasing times.
  if (w->filled > 0 && !(time > w->time[w->filled - 1])) return;
  w->time[w->filled] = time;
  for (int i = 0; i < w->channels; i++) {
    double value = s->row[s->channel[w->channel[i]].column];
    w->value[(size_t)i * OD_LAG_ROWS + (size_t)w->filled] = isfinite(value) ? value : (double)NAN;
  }
  w->filled++;
}

// Returns how often a signal passes through its mean, with a hysteresis of a tenth of its standard deviation.
static int crossings(const double *x, long n) {
  double mean = 0, square = 0;
  long count = 0;
  for (long i = 0; i < n; i++)
    if (!isnan(x[i])) mean += x[i], count++;
  mean /= (double)(count > 0 ? count : 1);
  for (long i = 0; i < n; i++)
    if (!isnan(x[i])) square += (x[i] - mean) * (x[i] - mean);
  double band = 0.1 * sqrt(square / (double)(count > 0 ? count : 1));
  int side = 0, passes = 0;
  for (long i = 0; i < n; i++) {
    int now = x[i] > mean + band ? 1 : x[i] < mean - band ? -1 : 0;
    if (now == 0 || now == side) continue;
    passes += side != 0;
    side = now;
  }
  return passes;
}

od_status od_lag_window_judge(od_lag_window *w, const od_log_survey *s) {
  if (!w->value || w->filled < LEAST_VALUES) return OD_OK;
  bool moves[OD_LAG_CHANNELS];
  int pairs = 0;
  for (int i = 0; i < w->channels; i++)
    moves[i] = crossings(w->value + (size_t)i * OD_LAG_ROWS, w->filled) >= LEAST_CROSSINGS;
  for (int i = 0; i < w->channels; i++)
    for (int k = i + 1; k < w->channels && pairs < OD_LAG_PAIRS; k++) {
      const od_surveyed_channel *a = &s->channel[w->channel[i]], *b = &s->channel[w->channel[k]];
      if (!moves[i] || !moves[k] || strcmp(od_surveyed_unit(a), od_surveyed_unit(b)) != 0) continue;
      pairs++;
      od_lag lag;
      double interval = fmax(a->facts.timing.interval, b->facts.timing.interval);
      double most = fmin(most_intervals * interval, (w->time[w->filled - 1] - w->time[0]) / 4);
      bool is_found = false;
      od_status status = od_lag_find(w->time, w->value + (size_t)i * OD_LAG_ROWS, w->value + (size_t)k * OD_LAG_ROWS,
                                     w->filled, most, &is_found, &lag);
      if (status != OD_OK) return status;
      if (!is_found) continue;
      double r = fabs(lag.correlation);
      bool is_better = 1 - lag.at_zero * fabs(lag.at_zero) > gain * (1 - r * r);
      if (lag.is_at_edge || r < least_correlation || !is_better || !(fabs(lag.lag) > significance * lag.sigma))
        continue;
      w->lag[w->lags++] = (od_survey_lag){w->channel[i], w->channel[k], lag};
    }
  return OD_OK;
}
