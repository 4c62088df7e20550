// Remarks against a prescribed motion itself: jumps, noise and resolution of samples, rows that miss its peaks.
#include <math.h>
#include <stdio.h>

#include "inverse/inverse_run.h"
#include "io/display.h"
#include "io/wording.h"
#include "machine/machine.h"

// Noise of a sampled motion is reported if its effect exceeds this fraction of the largest effort.
static const double much_noise = 0.005;
// Errors of the first and the last row are reported above this fraction of the largest effort.
static const double much_at_ends = 0.01;
// Samples are too few if their resolution affects the effort by more than this fraction of the largest effort.
static const double much_coarse = 0.1;
// A larger removed fraction of the motion is reported.
static const double much_removed = 0.1;
// A peak beyond the largest row by the first fraction is reported as missed; beyond the second, the rows are useless.
static const double some_missed = 0.01, much_missed = 0.1;

static bool judge_jumps(const od_model *m, const od_inverse_options *o, od_verdict *v) {
  bool ok = true;
  for (int i = 0; i < o->moves - o->loose; i++) {
    const od_output *moved = &m->output[o->moved[i]];
    const od_trajectory *r = &o->motion[i];
    char rate[80];
    od_rate_unit(moved->unit, 1, rate, sizeof rate);
    if (r->step > 0)
      ok = od_verdict_add(v, OD_UNSOUND, "motion.jump",
                          "Motion jumps:", "%s jumps by %s at t = %.6g s, which no force can do.", moved->name,
                          od_display_quantity(r->step, moved->unit).text, r->step_at) &&
           ok;
    else if (r->jump > 0)
      ok = od_verdict_add(
               v, OD_UNSOUND, "motion.kink", "Motion has a kink:",
               "the speed of %s jumps by %s at t = %.6g s, which takes a force without bounds; what is shown holds "
               "before and after that.",
               moved->name, od_display_quantity(r->jump, rate).text, r->jump_at) &&
           ok;
  }
  return ok;
}

// The largest effort of a drive in all rows.
static double largest_effort(const od_inverse_result *r, int d) {
  od_summary s = od_table_summary(r->table, r->columns[d].effort);
  return fmax(fabs(s.min), fabs(s.max));
}

// The drive with the largest relative error of its effort, above `limit`; -1: none.
static int worst_drive(const od_inverse_options *o, const od_inverse_result *r, const double *error, double limit) {
  int worst = -1;
  for (int d = 0; d < o->drives; d++) {
    double largest = largest_effort(r, d);
    if (error[d] > limit * largest) limit = error[d] / largest, worst = d;
  }
  return worst;
}

// The motion with the largest relative error of its second derivative.
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

// Judges noise of the samples in all rows, or the errors of the first and the last row, where polynomials are one-sided.
static bool judge_noise(const od_machine *machine, const od_inverse_options *o, od_inverse_result *r) {
  int worst = worst_drive(o, r, r->noise, much_noise);
  bool ends = worst < 0;
  if (ends) worst = worst_drive(o, r, r->ends, much_at_ends);
  if (worst < 0) return true;
  int motion = worst_motion(o, ends);
  const od_smoothing *smoothing = &o->motion[motion].smoothing;
  const od_output *moved = &od_machine_model(machine)->output[o->moved[motion]];
  const char *effort = r->table->name[r->columns[worst].effort], *unit = r->table->unit[r->columns[worst].effort];
  char rate[80], second[80], at_ends[80];
  od_rate_unit(moved->unit, 2, rate, sizeof rate);
  snprintf(second, sizeof second, "%.79s",
           od_display_quantity(ends ? smoothing->end_error : smoothing->noise, rate).text);
  snprintf(at_ends, sizeof at_ends, "%.79s", od_display_quantity(r->ends[worst], unit).text);
  if (ends)
    return od_verdict_add(
        &r->verdict, OD_DOUBTFUL, "motion.ends", "Ends of the log:",
        "in the first and the last row of the log the second rate of %s may be off by about %s, and %s by "
        "about %s: no samples before and after them are known.",
        moved->name, second, effort, at_ends);
  return od_verdict_add(
      &r->verdict, OD_DOUBTFUL, "motion.noise", "Noise of the log:",
      "noise or resolution of the samples of %s has a standard deviation of about %s in its second rate and of about %s in %s, "
      "by polynomials through %d rows; about %s in the first and the last row. Smooth more: --smooth with a lower frequency, "
      "above those of the motion.",
      moved->name, second, od_display_quantity(r->noise[worst], unit).text, effort, smoothing->window, at_ends);
}

static bool judge_samples(const od_machine *machine, const od_inverse_options *o, bool few, od_inverse_result *r) {
  const od_model *m = od_machine_model(machine);
  bool ok = true;
  for (int i = 0; i < o->moves - o->loose; i++) {
    const od_trajectory *motion = &o->motion[i];
    const od_smoothing *smoothing = &motion->smoothing;
    const char *name = m->output[o->moved[i]].name;
    if (few && motion->coarse > 0)
      ok = od_verdict_add(
               &r->verdict, OD_UNSOUND, "motion.samples", "Samples too few:",
               "the rate of %s changes by more than half of its range from one sample to the next, %s later, "
               "at t = %.6g s: its samples are too few for the motion, or noise is larger than the motion, and "
               "efforts there are not those of the motion. Take a log with more samples.",
               name, od_duration_text(motion->spacing, 3).text, motion->coarse_at) &&
           ok;
    else if (smoothing->removed > much_removed && !smoothing->removed_is_noise)
      ok = od_verdict_add(
               &r->verdict, OD_DOUBTFUL, "motion.smoothed", "Smoothed too much:",
               "polynomials through %d rows leave out %.2g %% of the motion of %s; take a higher frequency for "
               "--smooth.",
               smoothing->window, 100 * smoothing->removed, name) &&
           ok;
    else if (smoothing->window > 0 && motion->nodes < 9)
      ok =
          od_verdict_add(&r->verdict, OD_DOUBTFUL, "motion.samples", "Samples too few:",
                         "%s has %d samples, too few to see whether its rates are right; from nine on that is checked.",
                         name, motion->nodes) &&
          ok;
  }
  return ok;
}

// The excess of a column at peaks of the motion over its rows, relative to its largest value.
static double missed(const od_inverse_result *r, int column, double *value, double *t) {
  od_summary rows = od_table_summary(r->table, column);
  double above = r->most[column] - rows.max, below = rows.min - r->least[column];
  double largest = fmax(fmax(fabs(r->most[column]), fabs(r->least[column])), fmax(fabs(rows.min), fabs(rows.max)));
  *value = above > below ? r->most[column] : r->least[column];
  *t = above > below ? r->most_at[column] : r->least_at[column];
  return isfinite(largest) && largest > 0 ? fmax(above, below) / largest : 0;
}

static bool judge_rows(const od_inverse_options *o, od_inverse_result *r) {
  const od_table *table = r->table;
  double worst = some_missed, value = 0, t = 0, spacing = INFINITY;
  int column = -1, more = 0;
  for (int c = 1; c < table->columns; c++) {
    double its_value, its_t, by = missed(r, c, &its_value, &its_t);
    more += by > some_missed;
    if (by > worst) worst = by, column = c, value = its_value, t = its_t;
  }
  if (column < 0) return true;
  // Efforts are reported before quantities that follow from them.
  for (int d = 0; d < o->drives; d++) {
    double its_value, its_t, by = missed(r, r->columns[d].effort, &its_value, &its_t);
    if (by > fmin(0.5 * worst, much_missed)) column = r->columns[d].effort, value = its_value, t = its_t;
  }
  for (int i = 0; i < o->moves - o->loose; i++) spacing = fmin(spacing, o->motion[i].spacing);
  od_summary rows = od_table_summary(table, column);
  char needed[80], others[128] = "";
  snprintf(needed, sizeof needed, "%.79s", od_display_quantity(value, table->unit[column]).text);
  if (more > 1) snprintf(others, sizeof others, ", and %s", od_count(more - 1, "other column").text);
  return od_verdict_add(
      &r->verdict, worst > much_missed ? OD_UNSOUND : OD_DOUBTFUL, "rows.coarse", "Rows too few:",
      "%s is %s at t = %.6g s, between rows, beyond all rows (%s at most)%s. Take --step '%s' to see all "
      "of the motion.",
      table->name[column], needed, t, od_display_quantity(value > 0 ? rows.max : rows.min, table->unit[column]).text,
      others, od_duration_text(spacing, 2).text);
}

bool od_motion_judge(const od_machine *machine, const od_inverse_options *o, od_inverse_result *r) {
  bool ok = judge_jumps(od_machine_model(machine), o, &r->verdict);
  // If samples are too few, the residuals of the polynomials are motion and must not be smoothed.
  bool few = worst_drive(o, r, r->coarse, much_coarse) >= 0;
  ok = judge_samples(machine, o, few, r) && ok;
  ok = (few || judge_noise(machine, o, r)) && ok;
  return judge_rows(o, r) && ok;
}
