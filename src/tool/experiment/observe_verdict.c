// The tests of a run. A consistent filter fails a test in at most 1 % of all runs. This condition determines the level of each
// test (Bonferroni). With a million samples every small deviation is significant. A deviation that is significant but too small to
// be relevant has no effect on the verdict.
#include "experiment/observe.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "experiment/diagnosis.h"
#include "io/display.h"
#include "io/number.h"
#include "io/wording.h"
#include "math/chi_squared.h"

static const double family = 0.01;       // limit of the probability that a consistent filter fails at least one test
static const double size_matters = 0.1;  // smallest relevant deviation of NIS from 1
static const double mean_matters = 0.05, correlation_matters = 0.05;
static const double remark_shift = 1;       // shift of an estimate between two runs above which there is a remark,
                                            // sigmas
static const double doubtful_shift = 2;     // shift of an estimate between two runs above which the verdict is
                                            // doubtful, sigmas
static const double shift_matters = 0.5;    // smallest relevant shift of an estimate due to the step length, sigmas
static const double bound_distance = 0.05;  // distance from a bound within which a parameter is at the bound, sigmas
static const double many_rejected = 0.1;    // fraction of rejected values of a sensor above which there is a remark
static const double nis_of_failure = 10;    // least NIS of a failed filter in the last quarter of the run; see
                                            // far_of_failure
static const double nis_of_wild_run = 100;  // least NIS of a failed filter over the whole run; see far_of_failure
// Least fraction of innovations beyond 3 sigmas of a failed filter. A filter has failed if its NIS and this fraction
// are above their limits.
static const double far_of_failure = 0.25;
static const double least_innovations = 20;  // smallest number of innovations that is tested
enum { LEAST_CLIPPED = 10 };                 // smallest number of samples with a limited output that causes a remark
enum { MOST_NAMES = 4 };
enum { LEAST_COMPARED = 20 };              // smallest number of compared values for a judgment
static const double expected_share = 0.9;  // smallest fraction of compared values within the 95 % band that causes no
                                           // remark
static const double small_square = 0.25;   // mean square of the normalized differences below which the 95 % band is too
                                           // wide

typedef struct judge {
  const od_experiment *e;
  const od_observed *o;
  od_verdict *v;
  bool ok;
  bool inconsistent;  // whether the innovations have failed a test
} judge;

#define ADD_REMARK(j, trust, code, lead, ...) \
  ((j)->ok = od_verdict_add((j)->v, trust, code, lead, __VA_ARGS__) && (j)->ok)

static double two_sided(double z) {
  return erfc(fabs(z) / sqrt(2));
}

// Returns the probability that a consistent filter has a mean square at least as far from 1, on the same side.
static double chance_of_square(const od_scatter *s) {
  double n = (double)s->count, above = od_chi_squared_tail(s->square * n, n);
  return s->square > 1 ? above : 1 - above;
}

static bool significant(const judge *j, double chance) {
  return chance < j->o->level;
}

bool od_innovations_are_colored(const od_innovations *in, double level) {
  double largest = 0;
  for (int k = 1; k <= OD_LAGS; k++) largest = fmax(largest, fabs(in->correlation[k]));
  return in->chance < level && largest > correlation_matters;
}

// --- The size of innovations --------------------------------------------------------------------------------------

typedef struct nis_text {
  char text[200];
} nis_text;

// Returns the NIS and its interval as texts for sentences.
static nis_text interval_of(const od_scatter *s) {
  od_consistency c = od_consistency_of(s->square * (double)s->count, (double)s->count);
  nis_text t;
  snprintf(t.text, sizeof t.text, "NIS per dimension %.*g; 95 %% interval of a consistent filter: %.4f to %.4f",
           c.value < 1000 ? 5 : 4, c.value, c.low, c.high);
  return t;
}

// Returns whether the innovations are larger than expected: the NIS per dimension exceeds 1 + size_matters, and the excess is
// significant at the level of the verdict.
static bool too_large(const judge *j, const od_scatter *s) {
  return s->count > 0 && s->square > 1 + size_matters && significant(j, chance_of_square(s));
}

static void judge_size(judge *j, const od_scatter *run, const od_scatter *last) {
  bool failed_at_end = last->square > nis_of_failure && last->far > far_of_failure;
  bool failed = failed_at_end || (run->square > nis_of_wild_run && run->far > far_of_failure);
  double square = failed_at_end ? last->square : run->square;
  bool is_large = too_large(j, run), is_large_at_end = too_large(j, last);
  if (failed || is_large || is_large_at_end) j->inconsistent = true;
  if (failed)
    ADD_REMARK(
        j, OD_UNSOUND, "nis.hopeless", "Not an estimate:",
        "%s, the measurements are %.3g times as far from the predictions as expected (NIS per dimension %.4g). %s do not "
        "use these numbers.",
        failed_at_end ? "in the last quarter of the run" : "over the run", sqrt(square), square,
        failed_at_end ? "The machine, the experiment and the data do not match;"
                      : "The filter has diverged, or the machine, the experiment and the data do not match;");
  else if (is_large)
    ADD_REMARK(j, OD_DOUBTFUL, "nis.large", "Overconfident:",
               "the measurements are %.3g times as far from the predictions as expected (%s). The model lacks "
               "an effect, or the noise is set too small. The intervals are too narrow.",
               sqrt(run->square), interval_of(run).text);
  else if (is_large_at_end)
    ADD_REMARK(j, OD_DOUBTFUL, "nis.last", "Overconfident at the end:",
               "in the last quarter of the run the measurements are %.3g times as far from the predictions as expected"
               " (%s).",
               sqrt(last->square), interval_of(last).text);
}

// Adds a remark about sensors with a large NIS. The NIS of all sensors together may be as expected.
static void judge_sensor_sizes(judge *j) {
  od_name_list names = {.most = MOST_NAMES};
  for (int i = 0; i < j->e->sensors; i++) {
    const od_scatter *s = &j->o->innovations[i].run;
    if (too_large(j, s)) od_name_list_add(&names, "%s %.3g times", j->e->sensor[i].name, sqrt(s->square));
  }
  if (names.count == 0 || j->v->trust == OD_UNSOUND) return;
  j->inconsistent = true;
  ADD_REMARK(j, OD_DOUBTFUL, "nis.sensor", "Inconsistent sensors:", "innovations are larger than expected: %s.",
             od_name_list_text(&names));
}

static void judge_trend(judge *j, const od_scatter *run, const od_scatter *last) {
  double rest = (double)(run->count - last->count), n = (double)last->count;
  if (!(rest > 0) || last->count == 0) return;
  double before = (run->square * (double)run->count - last->square * n) / rest;
  double z = (last->square - before) / (fmax(before, 1) * sqrt(2 / n + 2 / rest));
  if (!(last->square > 1 + size_matters) || !(last->square > (1 + size_matters) * before)) return;
  if (!significant(j, two_sided(z)) || j->v->trust == OD_UNSOUND) return;
  j->inconsistent = true;
  ADD_REMARK(
      j, OD_DOUBTFUL, "nis.trend", "Increasing innovations:",
      "NIS per dimension is %.3g in the last quarter of the run and %.3g before. Check whether the machine or a sensor changes during the run.",
      last->square, before);
}

// --- Means and correlations ---------------------------------------------------------------------------------------

static void judge_means(judge *j) {
  od_name_list names = {.most = MOST_NAMES};
  for (int i = 0; i < j->e->sensors; i++) {
    const od_innovations *in = &j->o->innovations[i];
    const od_scatter *parts[] = {&in->run, &in->last}, *worst = NULL;
    for (int k = 0; k < 2; k++) {
      double z = parts[k]->mean * sqrt((double)parts[k]->count);
      bool counts = parts[k]->count > 0 && fabs(parts[k]->mean) > mean_matters && significant(j, two_sided(z));
      if (counts && (!worst || fabs(parts[k]->mean) > fabs(worst->mean))) worst = parts[k];
    }
    if (worst)
      od_name_list_add(&names, "%s by %.2g%s", j->e->sensor[i].name, worst->mean,
                       worst == &in->last ? " (in the last quarter)" : "");
  }
  if (names.count == 0) return;
  j->inconsistent = true;
  ADD_REMARK(j, OD_DOUBTFUL, "innovations.mean", "Biased innovations:",
             "the mean innovations differ from zero: %s of their expected standard deviations. The innovations of a "
             "consistent filter have mean zero.",
             od_name_list_text(&names));
}

static void judge_whiteness(judge *j) {
  od_name_list names = {.most = MOST_NAMES};
  for (int i = 0; i < j->e->sensors; i++)
    if (od_innovations_are_colored(&j->o->innovations[i], j->o->level))
      od_name_list_add(&names, "%s", j->e->sensor[i].name);
  if (names.count == 0) return;
  j->inconsistent = true;
  ADD_REMARK(
      j, OD_DOUBTFUL, "innovations.white", "Innovations not white:",
      "innovations of %s are correlated with earlier innovations, so the measurements contain an effect that the model does "
      "not "
      "describe.",
      od_name_list_text(&names));
}

// Tests the correlation of innovations of different sensors in one sample, and adds a remark about the largest correlation if its
// magnitude is at least 0.5. The innovations of a consistent filter are independent.
static void judge_pairs(judge *j) {
  static const double together = 0.5;
  const od_innovations *in = j->o->innovations;
  int worst = -1;
  for (int i = 0; i < j->e->sensors; i++)
    if (in[i].partner > i && fabs(in[i].together) >= together &&
        (worst < 0 || fabs(in[i].together) > fabs(in[worst].together)))
      worst = i;
  if (worst < 0) return;
  ADD_REMARK(
      j, OD_DOUBTFUL, "innovations.together", "Sensors not independent:",
      "innovations of %s and %s are correlated (%.3f): both contain the same noise or the same error of the model. "
      "The filter counts this error twice, so its standard deviations are too small. If both sensors are one "
      "measurement, remove one sensor.",
      j->e->sensor[worst].name, j->e->sensor[in[worst].partner].name, in[worst].together);
}

// --- Parameters ---------------------------------------------------------------------------------------------------

typedef struct value_text {
  char text[120];
} value_text;

// Returns the text of a value of parameter i with its standard deviation (NAN: none), in a display unit.
static value_text value_of(const judge *j, int i, double value, double sigma) {
  od_display shown = od_display_unit(j->e->parameter[i].unit, fmax(fabs(value), fabs(j->o->estimate[i])));
  char number[OD_NUMBER_SIZE], around[OD_NUMBER_SIZE];
  value_text t;
  od_number_round(number, value * shown.factor, isnan(sigma) ? 2 : 5);
  od_number_round(around, sigma * shown.factor, 2);
  snprintf(t.text, sizeof t.text, "%s%s%s%s%s", number, isnan(sigma) ? "" : " +- ", isnan(sigma) ? "" : around,
           shown.unit[0] ? " " : "", shown.unit);
  return t;
}

static double movement_of(const judge *j, int i, bool since_start) {
  return since_start ? j->o->moved[i].since_start : j->o->moved[i].deviations;
}

// Returns the index of the parameter that has changed most, in standard deviations of the change; -1: no change is significant at
// the level of the verdict. since_start: changes since the start of the run; false: the largest changes since any time. others:
// names of the other parameters with a significant change.
static int find_moved(const judge *j, bool since_start, od_name_list *others) {
  int worst = -1;
  for (int i = 0; i < j->e->parameters; i++)
    if (worst < 0 || movement_of(j, i, since_start) > movement_of(j, worst, since_start)) worst = i;
  if (worst < 0 || !significant(j, two_sided(movement_of(j, worst, since_start)))) return -1;
  for (int i = 0; i < j->e->parameters; i++)
    if (i != worst && significant(j, two_sided(movement_of(j, i, since_start))))
      od_name_list_add(others, "%s by %.3g", j->e->parameter[i].path, movement_of(j, i, since_start));
  return worst;
}

static void judge_movements(judge *j) {
  od_name_list others = {.most = MOST_NAMES};
  const od_observed *o = j->o;
  int i = find_moved(j, true, &others);
  if (i >= 0) {
    ADD_REMARK(j, OD_DOUBTFUL, "parameter.start", "Start contradicted:",
               "%.100s was %s at the start and is %s at the end: the change is %.3g times its standard deviation%s%s. "
               "Give the parameter a start closer to the estimate, or a larger sigma.",
               j->e->parameter[i].path, value_of(j, i, o->start[i], j->e->parameter[i].sigma).text,
               value_of(j, i, o->estimate[i], o->sigma[i]).text, o->moved[i].since_start, others.count ? "; also " : "",
               od_name_list_text(&others));
    return;
  }
  i = find_moved(j, false, &others);
  if (i < 0) return;
  const od_movement *m = &o->moved[i];
  ADD_REMARK(
      j, OD_DOUBTFUL, "parameter.moved", "Overconfident during the run:",
      "%.100s was %s at %.4g s and is %s at the end: the change is %.3g times its standard deviation%s%s. The final "
      "sigma of this parameter may be too small by the same factor.",
      j->e->parameter[i].path, value_of(j, i, m->estimate, m->sigma).text, m->time,
      value_of(j, i, o->estimate[i], o->sigma[i]).text, m->deviations, others.count ? "; also " : "",
      od_name_list_text(&others));
}

// Adds a remark with the detected changes of parameters.
static void report_changes(judge *j) {
  const od_observed *o = j->o;
  od_name_list names = {.most = MOST_NAMES};
  for (int k = 0; k < od_observed_changes(o); k++) {
    const od_parameter_change *c = &o->change[k];
    od_name_list_add(
        &names, "%.100s changed between %.4g s and %.4g s (95 %% interval) from %s to %s, detected at %.4g s",
        j->e->parameter[c->parameter].path, c->earliest, c->latest, value_of(j, c->parameter, c->before, c->sigma).text,
        value_of(j, c->parameter, c->after, c->after_sigma).text, c->time);
  }
  if (o->changes > 0)
    ADD_REMARK(j, OD_SOUND, "parameter.changed", "Changes detected:", "%s.", od_name_list_text(&names));
}

// Adds a remark if a second run from the estimates gives different results.
static void judge_shift(judge *j) {
  int worst = -1;
  od_name_list others = {.most = MOST_NAMES};
  const double *shift = j->o->shift;
  if (j->o->log_changed)
    ADD_REMARK(j, OD_DOUBTFUL, "log.changed", "Log changed:",
               "%.200s was overwritten during the second run. The estimates are computed from the earlier rows. "
               "The dependence of the estimates on the start is not known.",
               j->e->log->plan->file);
  if (shift && isnan(shift[0]))
    ADD_REMARK(j, OD_DOUBTFUL, "start.matters", "Estimates depend on the start:",
               "a second run over the same data, started at these estimates, fails. "
               "Check the sigmas of the parameters.");
  for (int i = 0; i < j->e->parameters && shift; i++)
    if (worst < 0 || fabs(shift[i]) > fabs(shift[worst])) worst = i;
  if (worst < 0 || !(fabs(shift[worst]) > remark_shift)) return;
  for (int i = 0; i < j->e->parameters; i++)
    if (i != worst && fabs(shift[i]) > remark_shift)
      od_name_list_add(&others, "%s %.2g", j->e->parameter[i].path, shift[i]);
  ADD_REMARK(
      j, fabs(shift[worst]) > doubtful_shift ? OD_DOUBTFUL : OD_SOUND, "start.matters",
      "Estimates depend on the start:",
      "a second run over the same data, started at these estimates, ends at other values: %.100s differs by %.2g "
      "sigmas%s%s. Corrections far from the true values have linearization errors. Start closer: use these values "
      "as 'start', with smaller sigmas.",
      j->e->parameter[worst].path, shift[worst], others.count ? "; also " : "", od_name_list_text(&others));
}

// Adds a remark if the step length shifts estimates. The shift is proportional to the square of the step length. A simulated
// machine takes the same steps, so its data have the same shift.
static void judge_steps(judge *j) {
  const od_observed *o = j->o;
  int worst = -1;
  double most = shift_matters;
  od_name_list others = {.most = MOST_NAMES};
  for (int i = 0; i < j->e->parameters; i++)
    if (fabs(o->bias[i]) > most * o->sigma[i]) most = fabs(o->bias[i]) / o->sigma[i], worst = i;
  if (worst < 0 || o->has_truth) return;
  for (int i = 0; i < j->e->parameters; i++)
    if (i != worst && fabs(o->bias[i]) > shift_matters * o->sigma[i])
      od_name_list_add(&others, "%s (%.2g)", j->e->parameter[i].path, o->bias[i] / o->sigma[i]);
  double step = fmin(j->e->step, o->step);
  ADD_REMARK(
      j, OD_DOUBTFUL, "step.shift", "Step too long:",
      "steps of %s cause an error of about %s in the estimate of %.100s, which is %.2g standard deviations%s%s. With 'step: "
      "%s' the error is at most about a quarter of a standard deviation.",
      od_duration_text(step, 3).text, value_of(j, worst, o->bias[worst], NAN).text, j->e->parameter[worst].path,
      o->bias[worst] / o->sigma[worst], others.count ? "; errors of other parameters in standard deviations: " : "",
      od_name_list_text(&others), od_duration_text(od_number_125(step * sqrt(0.25 / most)), 3).text);
}

static void judge_bound(judge *j, int i) {
  const od_estimated *p = &j->e->parameter[i];
  double at = j->o->estimate[i], low = fmax(p->low, p->least), high = fmin(p->high, p->most);
  double near = bound_distance * j->o->sigma[i];  // tolerance, because an estimate at a bound may move slightly
  if (!(at <= low + near) && !(at >= high - near)) return;
  double bound = at <= low + near ? low : high;
  ADD_REMARK(
      j, OD_DOUBTFUL, "parameter.bound", "Parameter at a bound:",
      "%.100s ends at its %s bound, %s%s. The data suggest a value beyond the bound, so the sigma of this parameter is not valid. %s",
      p->path, at <= low + near ? "lower" : "upper", od_display_quantity(bound, p->unit).text,
      bound == p->low || bound == p->high ? "" : ", beyond which values are impossible",
      bound == p->low || bound == p->high
          ? "Move this bound if values beyond the bound are plausible, or check the model and the data."
          : "Check the model, the units and signs of the sensors, and the other parameters.");
}

static void judge_errors(judge *j) {
  const od_observed *o = j->o;
  if (o->compared == 0 || isnan(o->nees) || !significant(j, od_chi_squared_tail(o->nees, o->compared))) return;
  ADD_REMARK(j, OD_DOUBTFUL, "nees", "Overconfident about parameters:",
             "the true errors of the parameters are %.3g times as large as expected (NEES per dimension %.3g; at "
             "most %.3g in 97.5 %% of the runs of a consistent filter).",
             sqrt(o->nees / o->compared), o->nees / o->compared, od_consistency_of(o->nees, o->compared).high);
}

// --- Samples ------------------------------------------------------------------------------------------------------

static void judge_sensor(judge *j, int i) {
  const od_sensor_counts *c = &j->o->sensor[i];
  const char *name = j->e->sensor[i].name;
  double present = (double)(c->used + c->gated + c->frozen);
  if (c->used == 0)
    ADD_REMARK(j, OD_DOUBTFUL, "sensor.silent",
               "Unused sensor:", "no value of %.100s was used; check the sensor and its data.", name);
  else if ((double)(c->gated + c->frozen) > many_rejected * present)
    ADD_REMARK(j, OD_DOUBTFUL, "sensor.gated", "Rejected values:",
               "%.2g %% of the values of %.100s were not used: these values were beyond the gate, or were repeated.",
               100 * (double)(c->gated + c->frozen) / present, name);
  if (c->reopened > 0)
    ADD_REMARK(j, OD_DOUBTFUL, "sensor.reopened", "Reopened gate:",
               "the values of %.100s were beyond the gate in many successive samples, so the filter was "
               "probably wrong. The values were used again (%s).",
               name, od_count(c->reopened, "time").text);
}

static void judge_samples(judge *j) {
  const od_observed *o = j->o;
  if (o->failed_early)
    ADD_REMARK(j, OD_DOUBTFUL, "run.incomplete",
               "Incomplete run:", "the run failed after %.6g s, so there are no later results.", o->end);
  if (o->failed + o->held == 0) return;
  ADD_REMARK(j, OD_DOUBTFUL, "samples.failed", "Samples lost:", "%s failed; the estimate was carried over %s.",
             od_count(o->failed, "sample").text, od_count(o->held, "time").text);
}

static void judge_clipped(judge *j) {
  od_name_list names = {.most = MOST_NAMES};
  for (int i = 0; i < j->e->watches; i++)
    if (j->o->clipped[i] >= LEAST_CLIPPED)
      od_name_list_add(&names, "%s in %ld samples", j->e->watched[i].name, j->o->clipped[i]);
  if (names.count > 0)
    ADD_REMARK(
        j, OD_SOUND, "outputs.clipped", "Clipped outputs:",
        "%s. These outputs are at a limit of their range, and their sigmas describe only the side within the range.",
        od_name_list_text(&names));
}

// Adds a remark that the filter has or has not settled, or that it has fallen back, if the filter detects settling.
static void judge_settling(judge *j) {
  const od_observed *o = j->o;
  const od_filter *filter = j->e->filter;
  double window = 0;
  if (!o->detects_settling) return;
  for (int i = 0; i < filter->options; i++)
    if (!strcmp(filter->option[i].key, "window")) window = j->e->filter_choice[i];
  if (!isnan(o->settled_since))
    ADD_REMARK(j, OD_SOUND, "filter.settled",
               "Filter settled:", "from %s on, no correction of the linearization or of the model was necessary.",
               od_duration_text(o->settled_since, 3).text);
  else if (!isnan(o->fell_back_since))
    ADD_REMARK(
        j, OD_DOUBTFUL, "filter.fell_back", "Filter fell back:",
        "the samples do not fit the model. From %s on, the filter does not linearize past samples again and works like "
        "the filter 'iterated-ekf'. Its standard deviations do not include the error of the model.",
        od_duration_text(o->fell_back_since, 3).text);
  else if ((double)o->steps < window)
    ADD_REMARK(
        j, OD_DOUBTFUL, "filter.unsettled", "Filter not settled:",
        "the filter needs %.0f samples, a whole 'window', before its standard deviations are valid; the run has %ld "
        "samples.",
        window, o->steps);
  else
    ADD_REMARK(
        j, OD_DOUBTFUL, "filter.unsettled", "Filter not settled:",
        "the standard deviations of the filter are not%s valid: the last samples that the filter linearized again do "
        "not fit the model, or their linearization changed.",
        isnan(o->settled_first) ? "" : " any longer");
}

// --- Causes --------------------------------------------------------------------------------------------------------

enum {
  LEAST_ROWS = 20,
  USUAL_ROWS = 2000,
  MOST_ROWS = 40000
};                                       // smallest, usual and largest number of rows of a diagnosis
static const double least_share = 0.25;  // smallest fraction of the excess NIS in the rows of a diagnosis
static const double nis_limit = 1.2;     // NIS below which the innovations before a pause are as expected

// Returns the number of rows from the start that a diagnosis uses, from USUAL_ROWS to MOST_ROWS. Within these limits the rows contain
// at least the fraction least_share of the excess NIS: the squared innovations minus their expected value. If the verdict has no remark
// about the size of innovations, their sizes do not show the place of the fault, and the result is MOST_ROWS.
static long rows_to_diagnose(const od_observed *o) {
  static const char *const by_size[] = {"nis.hopeless", "nis.large", "nis.last", "nis.sensor", "nis.trend"};
  double all = 0, sum = 0;
  long rows = 0, per_row = 0;
  bool is_large = false;
  for (size_t i = 0; i < sizeof by_size / sizeof *by_size; i++)
    is_large = is_large || od_verdict_has(&o->verdict, by_size[i]);
  if (!is_large) return MOST_ROWS;
  for (int i = 0; i < o->windows; i++) all += fmax(o->window[i].squares - (double)o->window[i].count, 0);
  per_row = o->steps > 0 ? o->nis_dimension / (o->steps + 1) : 1;
  for (int i = 0; i < o->windows && sum < least_share * all; i++) {
    sum += fmax(o->window[i].squares - (double)o->window[i].count, 0);
    rows += o->window[i].count / (per_row > 0 ? per_row : 1);
  }
  if (rows < USUAL_ROWS) rows = USUAL_ROWS;
  return rows < MOST_ROWS ? rows : MOST_ROWS;
}

// Returns whether the log has a pause and the innovations before this pause were as expected.
static bool is_paused(const od_experiment *e, const od_observed *o) {
  double squares = 0, count = 0;
  if (!e->log || !od_log_has_pause(e->log)) return false;
  for (int i = 0; i < o->windows && o->window[i].end <= e->log->at; i++)
    squares += o->window[i].squares, count += (double)o->window[i].count;
  return count > 0 && squares < nis_limit * count;
}

// Returns whether an input of the log jumps, and inputs are linear between rows.
static bool has_jumps(const od_experiment *e) {
  if (!e->log || e->data.hold) return false;
  for (int i = 0; i < e->log->plan->channels; i++)
    if (e->log->plan->channel[i].is_input && e->log->facts[i].jumps > 0) return true;
  return false;
}

// After a bad verdict on innovations, adds the likely cause with a check for the user. If the cause is not clear, adds a remark.
// Fails with OD_NO_MEMORY, or a status of od_record_take() or od_diagnose().
static od_status name_causes(const od_experiment *e, const od_observe_options *options, od_observed *o, od_error *err) {
  od_verdict *v = &o->verdict;
  if (is_paused(e, o)) {
    bool ok = od_verdict_add(v, OD_DOUBTFUL, "cause.pause", "Most likely cause:",
                             "the log has no rows for %s after %.9g s, and the inputs in this pause are not known. "
                             "Exclude this pause with 'start' or 'end' under 'data'.",
                             od_duration_text(e->log->longest, 6).text, e->log->at);
    return ok ? OD_OK : od_fail(err, OD_NO_MEMORY, "out of memory");
  }
  if (!options->diagnose || options->source || e->uncorrected) return OD_OK;
  OD_OWNED(od_record_free) od_record *record = NULL;
  od_status status = od_record_take(e, rows_to_diagnose(o), &record, err);
  if (status != OD_OK || record->rows < LEAST_ROWS) return status;
  const od_diagnosis_task task = {.e = e,
                                  .record = record,
                                  .step = e->log ? e->step : o->step,
                                  .can_hold = has_jumps(e),
                                  .can_shorten = true,
                                  .contradicted = od_verdict_has(v, "parameter.start"),
                                  .progress = options->progress,
                                  .user = options->user};
  return od_diagnose(&task, v, NULL, err);
}

// --- The verdict ----------------------------------------------------------------------------------------------------

// Adds the remark about a run that passes all tests. "Consistent": the NIS is inside the printed interval. "Nearly consistent": the
// NIS per dimension differs from 1 by at most size_matters. "Possibly by chance": the difference is not significant at the level of
// the verdict.
static void confirm(judge *j, const od_scatter *run) {
  double n = (double)run->count;
  double percent = 100 * fabs(sqrt(run->square) - 1);
  const char *than = run->square > 1 ? "more" : "less";
  od_consistency c = od_consistency_of(run->square * n, n);
  if (c.value >= c.low && c.value <= c.high)
    ADD_REMARK(j, OD_SOUND, "nis", "Consistent:", "the measurements scatter about the predictions as expected (%s).",
               interval_of(run).text);
  else if (fabs(run->square - 1) <= size_matters)
    ADD_REMARK(j, OD_SOUND, "nis",
               "Nearly consistent:", "the measurements scatter about the predictions %.1f %% %s than expected (%s).",
               percent, than, interval_of(run).text);
  else if (!significant(j, chance_of_square(run)))
    ADD_REMARK(j, OD_SOUND, "nis", "Possibly by chance:",
               "the measurements scatter about the predictions %.1f %% %s than expected (%s). Such a difference "
               "occurs in one of %.0f runs of a consistent filter; a longer run would decide.",
               percent, than, interval_of(run).text, 1 / (2 * fmax(chance_of_square(run), 1e-9)));
}

static void judge_caution(judge *j, const od_scatter *run) {
  if (run->square >= 1 - size_matters || !significant(j, chance_of_square(run))) return;
  ADD_REMARK(j, OD_SOUND, "nis.small", "Over-cautious:",
             "the measurements are only %.3g times as far from the predictions as expected (%s). The noise is set "
             "too large, so that the estimates converge more slowly than necessary.",
             sqrt(run->square), interval_of(run).text);
}

static void judge_innovations(judge *j) {
  od_scatter run = od_scatter_of_all(j->o->innovations, j->e->sensors, false);
  od_scatter last = od_scatter_of_all(j->o->innovations, j->e->sensors, true);
  if (run.count == 0) {
    ADD_REMARK(j, OD_DOUBTFUL, "samples.none",
               "No verdict:", "no value of any sensor was used; check the sensors and the data.");
    return;
  }
  long needed = (long)fmax(least_innovations, 2 * j->e->parameters);
  if (run.count < needed)
    ADD_REMARK(j, OD_DOUBTFUL, "samples.few",
               "No verdict:", "%s cannot confirm %s and the noise; at least %ld values are needed.",
               od_count(run.count, "value of sensors").text, od_count(j->e->parameters, "parameter").text, needed);
  judge_size(j, &run, &last);
  judge_sensor_sizes(j);
  judge_trend(j, &run, &last);
  judge_means(j);
  judge_whiteness(j);
  judge_pairs(j);
}

// Judges the estimate of an output that is compared with a column of the log.
static void judge_reference(judge *j, int i) {
  const od_reference *c = &j->e->reference[i];
  const od_reference_result *r = &j->o->reference[i];
  const od_watched *w = &j->e->watched[c->watched];
  if (r->count < LEAST_COMPARED) {
    ADD_REMARK(j, OD_SOUND, "compare.none", "Not compared:", "%.60s has %s; at least %d are needed.", c->name,
               od_count(r->count, "value").text, LEAST_COMPARED);
    return;
  }
  od_display shown = od_display_unit(w->unit, fmax(r->rms, r->band));
  const double x = shown.factor;
  const char *space = shown.unit[0] ? " " : "";
  if (r->share < expected_share && r->square > 1 && significant(j, r->chance))
    ADD_REMARK(
        j, OD_DOUBTFUL, "compare.share", "Not confirmed by the log:",
        "%.0f %% of the values of %.60s are within the 95 %% band of %.60s: the rms difference is %.3g%s%s, its mean "
        "%.3g%s%s, and the half width of the band %.3g%s%s. Either the band is too narrow, because the model is wrong, "
        "or the column does not measure this output. The differences count as %.3g independent values; the probability "
        "that such large differences occur by chance is %s%.1g.",
        100 * r->share, c->name, w->name, x * r->rms, space, shown.unit, x * r->bias, space, shown.unit, x * r->band,
        space, shown.unit, r->freedom, r->chance < 1e-9 ? "below " : "", fmax(r->chance, 1e-9));
  else if (r->square < 1 && r->share > 0.95 && significant(j, r->chance) && r->square < small_square)
    ADD_REMARK(
        j, OD_SOUND, "compare.wide", "Band wider than necessary:",
        "%.4g %% of the values of %.60s are within the 95 %% band of %.60s: the rms difference is %.3g%s%s, and the "
        "half width of the band %.3g%s%s. The noise of the observer or the sigma of the column may be set too large.",
        100 * r->share, c->name, w->name, x * r->rms, space, shown.unit, x * r->band, space, shown.unit);
}

od_status od_observe_judge(const od_experiment *e, const od_observe_options *options, od_observed *o, od_error *err) {
  od_status status = OD_OK;
  judge j = {.e = e, .o = o, .v = &o->verdict, .ok = true};
  double tests = 3 + 4 * e->sensors + (o->compared > 0) + e->references;
  for (int i = 0; i < e->parameters; i++) tests += o->moved[i].times;
  o->level = family / tests;
  if (e->log) j.ok = od_log_remark_time_unit(e->log, e->step, &o->verdict);
  judge_innovations(&j);
  judge_movements(&j);
  report_changes(&j);
  judge_shift(&j);
  judge_steps(&j);
  for (int i = 0; i < e->parameters; i++) judge_bound(&j, i);
  judge_errors(&j);
  for (int i = 0; i < e->sensors; i++) judge_sensor(&j, i);
  for (int i = 0; i < e->references && !options->no_table; i++) judge_reference(&j, i);
  judge_samples(&j);
  od_scatter run = od_scatter_of_all(o->innovations, e->sensors, false);
  if (o->verdict.trust == OD_SOUND) confirm(&j, &run);
  if (run.count > 0) judge_caution(&j, &run);
  if (j.inconsistent) status = name_causes(e, options, o, err);
  if (!j.inconsistent && e->log) j.ok = od_log_remark_jumps(e->log, e->data.hold, OD_SOUND, &o->verdict) && j.ok;
  if (!j.inconsistent && e->log) j.ok = od_log_remark_pause(e->log, OD_SOUND, &o->verdict) && j.ok;
  judge_settling(&j);
  judge_clipped(&j);
  if (e->log) j.ok = od_log_remark_repeated(e->log, &o->verdict) && j.ok;
  return j.ok ? status : od_fail(err, OD_NO_MEMORY, "out of memory");
}
