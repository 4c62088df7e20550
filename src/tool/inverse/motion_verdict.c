// Remarks about a prescribed motion itself: jumps, noise and resolution of samples, rows that miss peaks.
#include <math.h>
#include <stdio.h>

#include "inverse/inverse_run.h"
#include "io/display.h"
#include "io/wording.h"
#include "machine/machine.h"

// Noise of a sampled motion is reported if its effect exceeds this fraction of the largest effort.
static const double noise_limit = 0.005;
// Errors of the first and the last row are reported above this fraction of the largest effort.
static const double end_error_limit = 0.01;
// Samples are too few if their resolution affects the effort by more than this fraction of the largest effort.
static const double resolution_limit = 0.1;
// Smoothing that removes more than this fraction of the motion is reported.
static const double removed_limit = 0.1;
// A peak outside the range of the rows is reported if its distance from this range exceeds the first limit. The verdict
// is unsound above the second limit. Both limits are fractions of the largest magnitude.
static const double missed_limit = 0.01, unsound_missed_limit = 0.1;

static void judge_jumps(const od_model *m, const od_inverse_options *o, od_verdict *v) {
  for (int i = 0; i < o->moves - o->loose; i++) {
    const od_output *moved = &m->output[o->moved[i]];
    const od_trajectory *r = &o->motion[i];
    char rate[80];
    od_rate_unit(od_model_text(m, moved->unit), 1, rate, sizeof rate);
    if (r->step > 0)
      od_verdict_add(
          v, OD_UNSOUND, "motion.jump",
          "Motion jumps:", "%s jumps by %s at t = %.6g s. A jump requires an infinite force; use a continuous motion.",
          od_model_text(m, moved->name), od_display_quantity(r->step, od_model_text(m, moved->unit)).text, r->step_at);
    else if (r->jump > 0)
      od_verdict_add(
          v, OD_UNSOUND, "motion.kink", "Motion has a kink:",
          "the speed of %s jumps by %s at t = %.6g s. This jump requires an infinite force. The rows are valid before "
          "and after that time; use a motion with a continuous speed.",
          od_model_text(m, moved->name), od_display_quantity(r->jump, rate).text, r->jump_at);
  }
}

// Returns the drive with the largest error relative to its largest effort, above `limit`; -1: no error is above the limit.
static int worst_drive(const od_inverse_options *o, const od_inverse_result *r, const double *error, double limit) {
  int worst = -1;
  for (int d = 0; d < o->drives; d++) {
    od_summary s = od_table_summary(r->table, r->columns[d].effort);
    double largest = fmax(fabs(s.min), fabs(s.max));
    if (error[d] > limit * largest) limit = error[d] / largest, worst = d;
  }
  return worst;
}

// Returns the index of the motion with the largest relative error of its second derivative. ends: uses the error in the first and
// the last row.
static int worst_motion(const od_inverse_options *o, bool ends) {
  int worst = 0;
  double most = -1;
  for (int i = 0; i < o->moves - o->loose; i++) {
    const od_trajectory *r = &o->motion[i];
    double largest = 0, error = ends ? r->smoothing.end_error : r->smoothing.noise;
    for (int k = 0; k < r->nodes; k++) largest = fmax(largest, fabs(r->second[k]));
    if (error > 0 && error / largest > most) most = error / largest, worst = i;
  }
  return worst;
}

// Reports noise of the samples in all rows, or errors of the first and the last row. In these two rows, polynomials are one-sided.
static void judge_noise(const od_machine *machine, const od_inverse_options *o, od_inverse_result *r) {
  int worst = worst_drive(o, r, r->noise, noise_limit);
  bool ends = worst < 0;
  if (ends) worst = worst_drive(o, r, r->ends, end_error_limit);
  if (worst < 0) return;
  int motion = worst_motion(o, ends);
  const od_smoothing *smoothing = &o->motion[motion].smoothing;
  const od_model *m = od_machine_model(machine);
  const od_output *moved = &m->output[o->moved[motion]];
  const char *effort = r->table->name[r->columns[worst].effort], *unit = r->table->unit[r->columns[worst].effort];
  char second[80];
  od_rate_unit(od_model_text(m, moved->unit), 2, second, sizeof second);
  if (ends)
    od_verdict_add(&r->verdict, OD_DOUBTFUL, "motion.ends", "Ends of the log:",
                   "the first and the last row of the log have samples on one side only. The error of the second "
                   "derivative of %s is about %s in these rows. The error of %s is about %s.",
                   od_model_text(m, moved->name), od_display_quantity(smoothing->end_error, second).text, effort,
                   od_display_quantity(r->ends[worst], unit).text);
  else
    od_verdict_add(
        &r->verdict, OD_DOUBTFUL, "motion.noise", "Noise of the log:",
        "noise or resolution of the samples of %s causes an error of its second derivative: a standard deviation of "
        "about %s (polynomials through %d rows). The standard deviation of %s is about %s, and about %s in the first "
        "and the last row. To smooth more, give --smooth a lower frequency that is still above the frequencies of the "
        "motion.",
        od_model_text(m, moved->name), od_display_quantity(smoothing->noise, second).text, smoothing->window, effort,
        od_display_quantity(r->noise[worst], unit).text, od_display_quantity(r->ends[worst], unit).text);
}

// Adds remarks about the samples. few: the samples do not resolve the motion.
static void judge_samples(const od_machine *machine, const od_inverse_options *o, bool few, od_inverse_result *r) {
  const od_model *m = od_machine_model(machine);
  for (int i = 0; i < o->moves - o->loose; i++) {
    const od_trajectory *motion = &o->motion[i];
    const od_smoothing *smoothing = &motion->smoothing;
    const char *name = od_model_text(m, m->output[o->moved[i]].name);
    if (few && motion->coarse > 0)
      od_verdict_add(
          &r->verdict, OD_UNSOUND, "motion.samples", "Too few samples:",
          "the rate of %s changes by more than 60 %% of its range within one sampling interval of %s, at t = %.6g s. "
          "The samples do not resolve the motion, or noise is larger than the motion. The efforts at this time are "
          "wrong. Record a log with more samples.",
          name, od_duration_text(motion->spacing, 3).text, motion->coarse_at);
    else if (smoothing->removed > removed_limit && !smoothing->removed_is_noise)
      od_verdict_add(
          &r->verdict, OD_DOUBTFUL, "motion.smoothed", "Smoothed too much:",
          "polynomials through %d rows remove %.2g %% of the motion of %s; give --smooth a higher frequency.",
          smoothing->window, 100 * smoothing->removed, name);
    else if (smoothing->window > 0 && motion->nodes < 9)
      od_verdict_add(&r->verdict, OD_DOUBTFUL, "motion.samples",
                     "Too few samples:", "%s has %s; its rates can be checked only with 9 samples or more.", name,
                     od_count(motion->nodes, "sample").text);
  }
}

// Compares a column's values at peaks of the motion with the range of its rows. Returns the largest distance from this range,
// relative to the largest magnitude of the column. *value, *t: the value at this peak, and the time of the peak in s.
static double missed(const od_inverse_result *r, int column, double *value, double *t) {
  od_summary rows = od_table_summary(r->table, column);
  double above = r->most[column] - rows.max, below = rows.min - r->least[column];
  double largest = fmax(fmax(fabs(r->most[column]), fabs(r->least[column])), fmax(fabs(rows.min), fabs(rows.max)));
  *value = above > below ? r->most[column] : r->least[column];
  *t = above > below ? r->most_at[column] : r->least_at[column];
  return isfinite(largest) && largest > 0 ? fmax(above, below) / largest : 0;
}

static void judge_rows(const od_inverse_options *o, od_inverse_result *r) {
  const od_table *table = r->table;
  double worst = missed_limit, value = 0, t = 0, spacing = INFINITY;
  int column = -1, more = 0;
  for (int c = 1; c < table->columns; c++) {
    double its_value, its_t, by = missed(r, c, &its_value, &its_t);
    more += by > missed_limit;
    if (by > worst) worst = by, column = c, value = its_value, t = its_t;
  }
  if (column < 0) return;
  // An effort that misses its peak is reported instead of a quantity that follows from efforts.
  for (int d = 0; d < o->drives; d++) {
    double its_value, its_t, by = missed(r, r->columns[d].effort, &its_value, &its_t);
    if (by > fmin(0.5 * worst, unsound_missed_limit)) column = r->columns[d].effort, value = its_value, t = its_t;
  }
  for (int i = 0; i < o->moves - o->loose; i++) spacing = fmin(spacing, o->motion[i].spacing);
  od_summary rows = od_table_summary(table, column);
  const bool is_above = value > rows.max;
  char others[128] = "";
  if (more > 1) snprintf(others, sizeof others, "; also affected: %s", od_count(more - 1, "other column").text);
  od_verdict_add(
      &r->verdict, worst > unsound_missed_limit ? OD_UNSOUND : OD_DOUBTFUL, "rows.coarse", "Too few rows:",
      "%s is %s at t = %.6g s, between two rows, but at %s %s in the rows%s. Give --step '%s' to resolve the "
      "motion.",
      table->name[column], od_display_quantity(value, table->unit[column]).text, t, is_above ? "most" : "least",
      od_display_quantity(is_above ? rows.max : rows.min, table->unit[column]).text, others,
      od_duration_text(spacing, 2).text);
}

void od_motion_judge(const od_machine *machine, const od_inverse_options *o, od_inverse_result *r) {
  judge_jumps(od_machine_model(machine), o, &r->verdict);
  // If samples are too few, the residuals of the polynomials are motion, not noise.
  bool few = worst_drive(o, r, r->coarse, resolution_limit) >= 0;
  judge_samples(machine, o, few, r);
  if (!few) judge_noise(machine, o, r);
  judge_rows(o, r);
}
