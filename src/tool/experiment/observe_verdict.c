// The tests of a run. The level of each test is such that a consistent filter fails any of them in one run of a hundred
// (Bonferroni). A deviation that is significant but too small to matter has no effect on the verdict: with a million samples
// every small deviation is significant.
#include "experiment/observe_verdict.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "experiment/compare_truth.h"
#include "io/display.h"
#include "io/name_list.h"
#include "io/number.h"
#include "io/wording.h"
#include "math/chi_squared.h"

static const double family = 0.01;       // probability that a consistent filter fails a test
static const double size_matters = 0.1;  // deviation of NIS from 1 that matters
static const double mean_matters = 0.05, correlation_matters = 0.05;
static const double noted = 1, doubted = 2;  // sigmas between the results of two runs: remark, questionable
static const double shift_matters = 0.5;     // shift of an estimate by the steps that matters, sigmas
static const double at_bound = 0.05;         // distance from a bound at which a parameter is at the bound, sigmas
static const double many = 0.1;              // fraction of a sensor's values that the gate rejects
static const double hopeless = 10;           // NIS of the last part,
static const double mostly = 0.25;           // with this fraction of innovations beyond three standard deviations
static const double few = 20;                // innovations: fewer are not tested
enum { worth_telling = 10 };                 // samples in which an output was clipped
enum { MOST_NAMES = 4 };

typedef struct judge {
  const od_experiment *e;
  const od_observed *o;
  od_verdict *v;
  bool ok;
  bool blamed;  // its innovations have failed a test
} judge;

#define SAY(j, trust, code, lead, ...) ((j)->ok = od_verdict_add((j)->v, trust, code, lead, __VA_ARGS__) && (j)->ok)

static double two_sided(double z) {
  return erfc(fabs(z) / sqrt(2));
}

// Probability of a mean square as large, or as small, for a consistent filter.
static double chance_of_square(const od_scatter *s) {
  double n = (double)s->count, above = od_chi_squared_tail(s->square * n, n);
  return s->square > 1 ? above : 1 - above;
}

static bool significant(const judge *j, double chance) {
  return chance < j->o->level;
}

static double count_tests(const od_experiment *e, const od_observed *o) {
  double tests = 3 + 4 * e->sensors;
  for (int i = 0; i < e->parameters; i++) tests += o->moved[i].times;
  return tests + (o->compared > 0);
}

bool od_innovations_coloured(const od_innovations *in, double level) {
  double largest = 0;
  for (int k = 1; k <= OD_LAGS; k++) largest = fmax(largest, fabs(in->correlation[k]));
  return in->chance < level && largest > correlation_matters;
}

// --- The size of innovations --------------------------------------------------------------------------------------

typedef struct size_text {
  char text[200];
} size_text;

static size_text interval_of(const od_scatter *s) {
  od_consistency c = od_consistency_of(s->square * (double)s->count, (double)s->count);
  size_text t;
  snprintf(t.text, sizeof t.text, "NIS per dimension %.*g; 95 %% interval of a consistent filter: %.4f to %.4f",
           c.value < 1000 ? 5 : 4, c.value, c.low, c.high);
  return t;
}

static bool too_large(const judge *j, const od_scatter *s) {
  return s->count > 0 && s->square > 1 + size_matters && significant(j, chance_of_square(s));
}

static void judge_beyond_doubt(judge *j, const od_scatter *last) {
  if (!(last->square > hopeless) || !(last->far > mostly)) return;
  j->blamed = true;
  SAY(j, OD_UNSOUND, "nis.hopeless", "Not an estimate:",
      "to the end of the run the measurements are %.3g times as far from the predictions as the observer expects (NIS "
      "per dimension of the last quarter %.4g). Machine, experiment and data do not belong together; do not use these "
      "numbers.",
      sqrt(last->square), last->square);
}

static void judge_size(judge *j, const od_scatter *run, const od_scatter *last) {
  if (j->v->trust == OD_UNSOUND) return;
  if (too_large(j, run)) {
    j->blamed = true;
    SAY(j, OD_DOUBTFUL, "nis.large", "Over-confident:",
        "the measurements are %.3g times as far from the predictions as the observer expects (%s). The model misses "
        "something, or the noise is set too small: take the intervals as too narrow.",
        sqrt(run->square), interval_of(run).text);
  } else if (too_large(j, last)) {
    j->blamed = true;
    SAY(j, OD_DOUBTFUL, "nis.last", "Over-confident in the end:",
        "in the last quarter of the run the measurements are %.3g times as far from the predictions as the observer "
        "expects (%s).",
        sqrt(last->square), interval_of(last).text);
  }
}

// Sensors with a large NIS of their own, which may be hidden in that of all sensors.
static void judge_sensor_sizes(judge *j) {
  od_name_list who = {.most = MOST_NAMES};
  for (int i = 0; i < j->e->sensors; i++) {
    const od_scatter *s = &j->o->innovations[i].run;
    if (too_large(j, s)) od_name_list_add(&who, "%s %.3g times", j->e->sensor[i].name, sqrt(s->square));
  }
  if (who.count == 0 || j->v->trust == OD_UNSOUND) return;
  j->blamed = true;
  SAY(j, OD_DOUBTFUL, "nis.sensor", "Farther off than expected:", "%s.", od_name_list_text(&who));
}

static void judge_trend(judge *j, const od_scatter *run, const od_scatter *last) {
  double rest = (double)(run->count - last->count), n = (double)last->count;
  if (!(rest > 0) || last->count == 0) return;
  double before = (run->square * (double)run->count - last->square * n) / rest;
  double z = (last->square - before) / (fmax(before, 1) * sqrt(2 / n + 2 / rest));
  if (!(last->square > 1 + size_matters) || !(last->square > (1 + size_matters) * before)) return;
  if (!significant(j, two_sided(z)) || j->v->trust == OD_UNSOUND) return;
  j->blamed = true;
  SAY(j, OD_DOUBTFUL, "nis.trend",
      "Getting worse:", "NIS per dimension is %.3g in the last quarter of the run and %.3g before.", last->square,
      before);
}

// --- Their order --------------------------------------------------------------------------------------------------

static void judge_means(judge *j) {
  od_name_list who = {.most = MOST_NAMES};
  for (int i = 0; i < j->e->sensors; i++) {
    const od_innovations *in = &j->o->innovations[i];
    const od_scatter *parts[] = {&in->run, &in->last}, *worst = NULL;
    for (int k = 0; k < 2; k++) {
      double z = parts[k]->mean * sqrt((double)parts[k]->count);
      bool counts = parts[k]->count > 0 && fabs(parts[k]->mean) > mean_matters && significant(j, two_sided(z));
      if (counts && (!worst || fabs(parts[k]->mean) > fabs(worst->mean))) worst = parts[k];
    }
    if (worst)
      od_name_list_add(&who, "%s by %.2g%s", j->e->sensor[i].name, worst->mean,
                       worst == &in->last ? " (in the last quarter)" : "");
  }
  if (who.count == 0) return;
  j->blamed = true;
  SAY(j, OD_DOUBTFUL, "innovations.mean", "Off on average:",
      "%s of what the observer expects single values to be off by; the mean of a consistent filter is zero.",
      od_name_list_text(&who));
}

static void judge_whiteness(judge *j) {
  od_name_list who = {.most = MOST_NAMES};
  for (int i = 0; i < j->e->sensors; i++)
    if (od_innovations_coloured(&j->o->innovations[i], j->o->level)) od_name_list_add(&who, "%s", j->e->sensor[i].name);
  if (who.count == 0) return;
  j->blamed = true;
  SAY(j, OD_DOUBTFUL, "innovations.white", "Not white:",
      "innovations of %s depend on earlier ones, so there is something in the measurements that the model does not "
      "describe.",
      od_name_list_text(&who));
}

// Innovations of different sensors in one sample: independent for a consistent filter.
static void judge_pairs(judge *j) {
  static const double together = 0.5;
  const od_innovations *in = j->o->innovations;
  int worst = -1;
  for (int i = 0; i < j->e->sensors; i++)
    if (in[i].partner > i && fabs(in[i].together) >= together &&
        (worst < 0 || fabs(in[i].together) > fabs(in[worst].together)))
      worst = i;
  if (worst < 0) return;
  SAY(j, OD_DOUBTFUL, "innovations.together", "Not independent:",
      "innovations of %s and %s go together (correlation %.3f): the same noise, or the same fault of the model, in both. It "
      "counts twice, and standard deviations are too small. Leave one of them out where both are one measurement.",
      j->e->sensor[worst].name, j->e->sensor[in[worst].partner].name, in[worst].together);
}

// --- Parameters ---------------------------------------------------------------------------------------------------

typedef struct value_text {
  char text[120];
} value_text;

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

// Index of the parameter that has changed most, since the start or since any time; -1: none has changed too much. others: names
// of the other parameters that have changed too much.
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
    SAY(j, OD_DOUBTFUL, "parameter.start", "Start contradicted:",
        "%.100s began as %s and is %s now, %.3g standard deviations of that change away%s%s. Give it a start or a sigma "
        "that can be true.",
        j->e->parameter[i].path, value_of(j, i, o->start[i], j->e->parameter[i].sigma).text,
        value_of(j, i, o->estimate[i], o->sigma[i]).text, o->moved[i].since_start, others.count ? "; so are " : "",
        od_name_list_text(&others));
    return;
  }
  i = find_moved(j, false, &others);
  if (i < 0) return;
  const od_movement *m = &o->moved[i];
  SAY(j, OD_DOUBTFUL, "parameter.moved", "Surer than it should have been:",
      "%.100s was %s at %.4g s and is %s now, %.3g standard deviations of that change away%s%s. Its present sigma may be as "
      "much too small.",
      j->e->parameter[i].path, value_of(j, i, m->estimate, m->sigma).text, m->time,
      value_of(j, i, o->estimate[i], o->sigma[i]).text, m->deviations, others.count ? "; so are " : "",
      od_name_list_text(&others));
}

// Adds a remark if a second run from the estimates gives other results.
static void judge_shift(judge *j) {
  int worst = -1;
  od_name_list others = {.most = MOST_NAMES};
  const double *shift = j->o->shift;
  if (j->o->log_changed)
    SAY(j, OD_DOUBTFUL, "log.changed", "Log changed:",
        "%.200s was written over while it was read the second time. The estimates are those of its rows before; whether they "
        "depend on the start is not known.",
        j->e->log->plan->file);
  if (shift && isnan(shift[0]))
    SAY(j, OD_DOUBTFUL, "start.matters",
        "Depends on the start:", "a second run over the same data, begun with the parameters found here, fails.");
  for (int i = 0; i < j->e->parameters && shift; i++)
    if (worst < 0 || fabs(shift[i]) > fabs(shift[worst])) worst = i;
  if (worst < 0 || !(fabs(shift[worst]) > noted)) return;
  for (int i = 0; i < j->e->parameters; i++)
    if (i != worst && fabs(shift[i]) > noted) od_name_list_add(&others, "%s %.2g", j->e->parameter[i].path, shift[i]);
  SAY(j, fabs(shift[worst]) > doubted ? OD_DOUBTFUL : OD_SOUND, "start.matters", "Depends on the start:",
      "a second run over the same data, begun with the parameters found here, ends elsewhere: %.100s by %.2g of its "
      "sigmas%s%s. What an observer learns while it is far off it learns wrongly. Begin nearer: give these values as "
      "'start', with smaller sigmas.",
      j->e->parameter[worst].path, shift[worst], others.count ? "; also " : "", od_name_list_text(&others));
}

// Steps shift estimates in proportion to the square of their length. A simulated machine takes the same steps, so its data have
// the same shift.
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
      od_name_list_add(&others, "%s by %.2g", j->e->parameter[i].path, o->bias[i] / o->sigma[i]);
  double step = fmin(j->e->step, o->step);
  SAY(j, OD_DOUBTFUL, "step.shift", "Step too long:",
      "because of steps of %s the estimate of %.100s is off by about %s, %.2g of its standard deviations%s%s. With 'step: "
      "%s' it would be about a quarter of one.",
      od_duration_text(step, 3).text, j->e->parameter[worst].path, value_of(j, worst, o->bias[worst], NAN).text,
      o->bias[worst] / o->sigma[worst], others.count ? "; so are " : "", od_name_list_text(&others),
      od_duration_text(od_number_125(step * sqrt(0.25 / most)), 3).text);
}

static void judge_bound(judge *j, int i) {
  const od_estimated *p = &j->e->parameter[i];
  double at = j->o->estimate[i], low = fmax(p->low, p->least), high = fmin(p->high, p->most);
  double near = at_bound * j->o->sigma[i];  // an estimate at a bound may move to and fro
  if (!(at <= low + near) && !(at >= high - near)) return;
  double bound = at <= low + near ? low : high;
  SAY(j, OD_DOUBTFUL, "parameter.bound", "At a bound:",
      "%.100s ends at its %s bound, %s%s: the data would have it go further, and its sigma does not count.", p->path,
      at <= low + near ? "lower" : "upper", od_display_quantity(bound, p->unit).text,
      bound == p->low || bound == p->high ? "" : ", beyond which it is impossible");
}

static void judge_errors(judge *j) {
  const od_observed *o = j->o;
  if (o->compared == 0 || isnan(o->nees) || !significant(j, od_chi_squared_tail(o->nees, o->compared))) return;
  SAY(j, OD_DOUBTFUL, "nees", "Over-confident about parameters:",
      "their true errors are %.3g times as large as the observer says (NEES per dimension %.3g, at most %.3g in 95 %% of "
      "all runs).",
      sqrt(o->nees / o->compared), o->nees / o->compared, od_consistency_of(o->nees, o->compared).high);
}

// --- Samples ------------------------------------------------------------------------------------------------------

static void judge_sensor(judge *j, int i) {
  const od_sensor_counts *c = &j->o->sensor[i];
  const char *name = j->e->sensor[i].name;
  double present = (double)(c->used + c->gated + c->frozen);
  if (c->used == 0)
    SAY(j, OD_DOUBTFUL, "sensor.silent", "Unused sensor:", "no value of %.100s was used.", name);
  else if ((double)(c->gated + c->frozen) > many * present)
    SAY(j, OD_DOUBTFUL, "sensor.gated", "Kept out:",
        "%.2g %% of the values of %.100s were not used, because they were beyond the gate or repeated themselves.",
        100 * (double)(c->gated + c->frozen) / present, name);
  if (c->reopened > 0)
    SAY(j, OD_DOUBTFUL, "sensor.reopened",
        "Was wrong for a while:", "%.100s was beyond its gate so long that the filter was taken to be wrong (%s).",
        name, od_count(c->reopened, "time").text);
}

static void judge_samples(judge *j) {
  const od_observed *o = j->o;
  if (o->failed_early)
    SAY(j, OD_DOUBTFUL, "run.incomplete",
        "Incomplete:", "the run failed after %.6g s; nothing is known of what follows.", o->end);
  if (o->failed + o->held == 0) return;
  SAY(j, OD_DOUBTFUL, "samples.failed", "Samples lost:", "%ld failed; the estimate was carried over %ld times.",
      o->failed, o->held);
}

static void judge_clipped(judge *j) {
  od_name_list who = {.most = MOST_NAMES};
  for (int i = 0; i < j->e->watches; i++)
    if (j->o->clipped[i] >= worth_telling)
      od_name_list_add(&who, "%s in %ld samples", j->e->watched[i].name, j->o->clipped[i]);
  if (who.count > 0)
    SAY(j, OD_SOUND, "outputs.clipped", "Clipped:",
        "%s; an output that is held at an edge says little, and its sigma is how far it may be on the other side.",
        od_name_list_text(&who));
}

// Settling, as the filter reports it.
static void judge_settling(judge *j) {
  const od_observed *o = j->o;
  const od_filter *filter = j->e->filter;
  double window = 0;
  if (!o->asks_itself) return;
  for (int i = 0; i < filter->options; i++)
    if (!strcmp(filter->option[i].key, "window")) window = j->e->filter_choice[i];
  if (!isnan(o->settled_since))
    SAY(j, OD_SOUND, "filter.settled",
        "Settled:", "from %s on neither the linearization nor the model needs a correction.",
        od_duration_text(o->settled_since, 3).text);
  else if ((double)o->steps < window)
    SAY(j, OD_DOUBTFUL, "filter.unsettled", "Not settled:",
        "the filter has to see %.0f samples, a whole 'window', before it believes its standard deviations; there were %ld.",
        window, o->steps);
  else
    SAY(j, OD_DOUBTFUL, "filter.unsettled", "Not settled:",
        "the filter does not believe its standard deviations%s: the samples it came back to last do not fit its model, or "
        "it had to change its mind about them.",
        isnan(o->settled_first) ? "" : " any more");
}

// --- All of it ----------------------------------------------------------------------------------------------------

// The remark of a run without objections. "Consistent" means inside the printed interval. Outside of it, the difference is too
// small to matter, or the run is one of the few by chance: the level of this verdict is that of all tests together.
static void praise(judge *j, const od_scatter *run) {
  double n = (double)run->count;
  double percent = 100 * fabs(sqrt(run->square) - 1);
  const char *than = run->square > 1 ? "more" : "less";
  od_consistency c = od_consistency_of(run->square * n, n);
  if (c.value >= c.low && c.value <= c.high)
    SAY(j, OD_SOUND, "nis",
        "Consistent:", "the measurements scatter about the predictions as the observer expects (%s).",
        interval_of(run).text);
  else if (fabs(run->square - 1) <= size_matters)
    SAY(j, OD_SOUND, "nis", "Nearly consistent:",
        "the measurements scatter about the predictions %.1f %% %s than the observer expects (%s).", percent, than,
        interval_of(run).text);
  else if (!significant(j, chance_of_square(run)))
    SAY(j, OD_SOUND, "nis", "Perhaps by chance:",
        "the measurements scatter about the predictions %.1f %% %s than the observer expects (%s). That "
        "happens to one consistent filter in %.0f; a longer run would decide.",
        percent, than, interval_of(run).text, 1 / (2 * fmax(chance_of_square(run), 1e-9)));
}

static void judge_caution(judge *j, const od_scatter *run) {
  if (run->square >= 1 - size_matters || !significant(j, chance_of_square(run))) return;
  SAY(j, OD_SOUND, "nis.small", "Over-cautious:",
      "the measurements are only %.3g times as far from the predictions as the observer expects (%s). The noise is set "
      "too large: it could learn faster.",
      sqrt(run->square), interval_of(run).text);
}

static void judge_innovations(judge *j) {
  od_scatter run = od_scatter_of_all(j->o->innovations, j->e->sensors, false);
  od_scatter last = od_scatter_of_all(j->o->innovations, j->e->sensors, true);
  if (run.count == 0) {
    SAY(j, OD_DOUBTFUL, "samples.none", "No verdict:", "no sensor was used.");
    return;
  }
  long needed = (long)fmax(few, 2 * j->e->parameters);
  if (run.count < needed)
    SAY(j, OD_DOUBTFUL, "samples.few", "No verdict:", "%s cannot confirm %s and the noise; at least %ld are needed.",
        od_count(run.count, "value of sensors").text, od_count(j->e->parameters, "parameter").text, needed);
  judge_beyond_doubt(j, &last);
  judge_size(j, &run, &last);
  judge_sensor_sizes(j);
  judge_trend(j, &run, &last);
  judge_means(j);
  judge_whiteness(j);
  judge_pairs(j);
}

od_status od_observe_judge(const od_experiment *e, const od_observe_options *options, od_observed *o, od_error *err) {
  od_status status = OD_OK;
  judge j = {.e = e, .o = o, .v = &o->verdict, .ok = true};
  o->level = family / count_tests(e, o);
  if (e->log) j.ok = od_log_remark_time_unit(e->log, e->step, &o->verdict);
  judge_innovations(&j);
  judge_movements(&j);
  judge_shift(&j);
  judge_steps(&j);
  for (int i = 0; i < e->parameters; i++) judge_bound(&j, i);
  judge_errors(&j);
  for (int i = 0; i < e->sensors; i++) judge_sensor(&j, i);
  judge_samples(&j);
  od_scatter run = od_scatter_of_all(o->innovations, e->sensors, false);
  if (o->verdict.trust == OD_SOUND) praise(&j, &run);
  if (run.count > 0) judge_caution(&j, &run);
  if (j.blamed) status = od_observe_name_causes(e, options, o, err);
  if (!j.blamed && e->log) j.ok = od_log_remark_jumps(e->log, e->data.hold, OD_SOUND, &o->verdict) && j.ok;
  if (!j.blamed && e->log) j.ok = od_log_remark_pause(e->log, OD_SOUND, &o->verdict) && j.ok;
  judge_settling(&j);
  judge_clipped(&j);
  if (e->log) j.ok = od_log_remark_repeated(e->log, &o->verdict) && j.ok;
  return j.ok ? status : od_fail(err, OD_NO_MEMORY, "memory ran out");
}
