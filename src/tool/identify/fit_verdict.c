// Verdict on a fit: remarks for and against its result. The terminal, the JSON output and the report use the same words.
#include <math.h>
#include <stdio.h>

#include "logs/log_lag.h"
#include "identify/fit_work.h"
#include "io/display.h"
#include "io/wording.h"
#include "least_squares/loss.h"
#include "machine/machine.h"
#include "math/chi_squared.h"
#include "model/model.h"

enum { MOST_DIRECTIONS = 12, MOST_NAMED = 6 };
// Limits of the remarks of the verdict.
static const double far_from = 1000;    // residual of an outlier, in standard deviations of the noise
static const double large_shift = 0.5;  // shift by integration errors, in standard deviations of the estimate
static const double many_sigmas = 5;    // change of a parameter, in units of its uncertainty in the file
static const double large_factor = 10;  // ratio between estimate and start
static const double few_samples = 20;   // smallest number of samples for which the size of the residuals is judged
static const double poor_fit = -5;      // fit in percent; a smaller fit is worse than a constant prediction (fit 0)
static const double violated = 1e-6;    // error of a constraint, in units of residuals
static const double jump = 1e-6;        // jump of a state between two segments, as a fraction of its range
static const double poor_variance = 4;  // least mean square of the residuals of a poor fit, in units of the noise

typedef struct judge {
  const od_fitted *f;
  const od_experiment *e;
  od_verdict *verdict;
} judge;

#define REMARK(j, ...) od_verdict_add((j)->verdict, __VA_ARGS__)

static const char *part_name(bool unseen) {
  return unseen ? "validated part" : "fitted part";
}

// --- The search ---------------------------------------------------------------------------------------------------

static void judge_search(judge *j) {
  const od_ls_result *r = j->f->search;
  if (j->f->only_predicted) return;
  if (r->reason == OD_LS_STUCK)
    REMARK(j, OD_UNSOUND, "search.stuck", "No minimum:",
           "the search stopped at a point where a step could still reduce the sum of squared residuals by "
           "%.2g %%; change the start values, or set 'starts'.",
           100 * r->offset * r->offset);
  else if (r->reason == OD_LS_PLATEAU)
    REMARK(j, OD_UNSOUND, "search.plateau", "No minimum:",
           "the search ended at a point where parameters have no effect on the predictions; change the start values, "
           "or set 'starts'.");
  else if (r->by_neighbors && r->reason != OD_LS_EVALUATIONS && r->reason != OD_LS_STOPPED)
    REMARK(
        j, OD_DOUBTFUL, "search.kink", "Kink or strong curvature:",
        "no neighboring point has a noticeably smaller cost, but the gradient is not zero; the intervals are approximate.");
  else if (r->reason == OD_LS_EVALUATIONS)
    REMARK(j, OD_UNSOUND, "search.evaluations",
           "No minimum:", "the search ended after %s; increase 'evaluations', or change the start values.",
           od_count(j->f->plan->evaluations, "prediction").text);
  else if (r->reason == OD_LS_STOPPED && r->only_coarse)
    REMARK(j, OD_UNSOUND, "search.stopped",
           "No minimum:", "the search was interrupted after %s using one row in %d; only these rows were fitted.",
           od_count(r->coarse_iterations, "iteration").text, r->coarse);
  else if (r->reason == OD_LS_STOPPED)
    REMARK(j, OD_UNSOUND, "search.stopped", "No minimum:", "the search was interrupted after %s.",
           od_count(r->iterations, "iteration").text);
  // The start may have a smaller cost if the start violates constraints or its segments are not continuous.
  if (r->cost > r->start_cost * (1 + 1e-6) && r->constraints == 0 && !j->f->plan->shooting.on)
    REMARK(j, OD_UNSOUND, "fit.worse", "Result worse than the start:",
           "the weighted sum of squared residuals is %.3g times its value at the start; change the start values.",
           r->cost / r->start_cost);
}

// Upper limit of the ratio between the rise of the cost and the rise of a quadratic cost. The lower limit is the
// reciprocal.
static const double largest_rise_ratio = 5;
static void judge_cost_rise(judge *j) {
  const od_fit_cost_rise *b = &j->f->cost_rise;
  if (b->parameter < 0 || (b->ratio < largest_rise_ratio && b->ratio > 1 / largest_rise_ratio)) return;
  char rise[80];
  if (b->ratio > 0)
    snprintf(rise, sizeof rise, "rises by %.2g times the expected amount", b->ratio);
  else
    snprintf(rise, sizeof rise, "does not rise");
  REMARK(j, OD_DOUBTFUL, "search.rugged", "Non-smooth minimum:",
         "if '%s' changes by one standard deviation, the weighted sum of squared residuals %s. The standard deviations "
         "are not reliable, and better minima may exist: set 'starts', or change the start values.",
         j->f->name[b->parameter], rise);
}

// --- Quality of the fit ---------------------------------------------------------------------------------------------

static void judge_fit(judge *j) {
  const od_fitted *f = j->f;
  double fit = f->only_predicted ? f->start_fit : f->fit;
  // A poor prediction with the start values is doubtful, but not unsound.
  bool poor = fit < poor_fit && f->search->squares / f->search->m > poor_variance;
  od_trust trust = !poor ? OD_SOUND : f->only_predicted ? OD_DOUBTFUL : OD_UNSOUND;
  const char *code = poor ? "fit.poor" : "fit", *lead = poor ? "Worse than a constant:" : "Fit:";
  if (isnan(fit))
    REMARK(
        j, OD_DOUBTFUL, "fit.nothing", "No verdict:",
        "the fit in percent is undefined, because all sensor values are constant, or because a set cannot be predicted. Use a log in which sensor values change, and start values with which all sets can be predicted.");
  else if (f->only_predicted)
    REMARK(j, trust, code, lead, "the fit of the model with the start values is %.2f %%.", fit);
  else if (isnan(f->start_fit))
    REMARK(j, trust, code, lead, "the fit of the model is %.2f %%; with the start values, the prediction fails.", fit);
  else
    REMARK(j, trust, code, lead, "the fit of the model is %.2f %%, and %.2f %% with the start values.", fit,
           f->start_fit);
  if (fit < f->start_fit - 1 && f->search->cost <= f->search->start_cost)
    REMARK(
        j, OD_DOUBTFUL, "fit.weights", "Weights:",
        "the fit in percent is worse than at the start, but the weighted sum of squared residuals is smaller: the sigmas or "
        "the loss give some sensors much more weight than other sensors.");
}

static void judge_sensors(judge *j) {
  od_name_list poor = {.most = MOST_NAMED};
  for (int set = 0; set < j->f->sets; set++)
    for (int i = 0; i < j->e->sensors; i++)
      for (int unseen = 0; unseen < 2; unseen++) {
        const od_fit_set_result *s = &j->f->set[set];
        const od_fit_quality *q = unseen ? &s->unseen_quality[i] : &s->fitted_quality[i];
        if (q->fit < poor_fit && q->rms > sqrt(poor_variance) * s->data->sigma[i])
          od_name_list_add(&poor, unseen ? "%s in %s (validated)" : "%s in %s", j->e->sensor[i].name, s->name);
      }
  if (poor.count > 0)
    REMARK(
        j, OD_DOUBTFUL, "fit.sensor", "Worse than a constant:",
        "the mean predicts %s better than the model. Check units, signs and offsets of the channels, 'hold', and the "
        "initial state of the predictions ('start').",
        od_name_list_text(&poor));
}

// --- The residuals and their noise --------------------------------------------------------------------------------

// Writes how to remove outliers. If all of them have the same number in the file, this number is probably a code for a
// missing value, and the text contains the number.
static void advise_removal(const od_fit_plan *plan, const od_fit_data *d, int sensor, const od_fit_quality *q,
                           char *text, size_t size) {
  double raw = q->equal_outliers > 0 ? od_fit_raw_value(plan, d, sensor, q->worst_value) : (double)NAN;
  if (isnan(raw))
    snprintf(
        text, size,
        "Remove such samples ('missing: [VALUE]' under 'data' if the file marks missing values by a number, or 'prepare: "
        "{outliers: 5}')");
  else if (q->equal_outliers > 1)
    snprintf(
        text, size,
        "All %ld outliers have the value %.9g in the file, probably a code for a missing value. Remove these samples "
        "('missing: [%.9g]' under 'data', or 'prepare: {outliers: 5}')",
        q->equal_outliers, raw, raw);
  else
    snprintf(text, size, "Remove such samples ('missing: [%.9g]' under 'data', or 'prepare: {outliers: 5}')", raw);
}

static void judge_outliers(judge *j) {
  for (int set = 0; set < j->f->sets; set++)
    for (int i = 0; i < j->e->sensors; i++)
      for (int unseen = 0; unseen < 2; unseen++) {
        const od_fit_set_result *s = &j->f->set[set];
        const od_fit_quality *q = unseen ? &s->unseen_quality[i] : &s->fitted_quality[i];
        if (!(q->worst > far_from) || q->worst < OD_FIT_OUTLIER * q->typical) continue;
        double its = od_loss_cost(j->f->plan->loss, od_fit_loss_scale(j->f->plan), 1, &q->worst);
        bool rules = !unseen && !(its < 0.5 * j->f->search->cost);
        char removal[300];
        advise_removal(j->f->plan, s->data, i, q, removal, sizeof removal);
        REMARK(
            j, rules ? OD_UNSOUND : OD_DOUBTFUL, "residual.outlier", "Outlier:",
            "'%s' in the %s of the set '%s' is %.3g standard deviations of its noise away from its prediction at %.6g s%s. %s, "
            "or use a robust 'loss'.",
            j->e->sensor[i].name, part_name(unseen), s->name, q->worst, q->worst_time,
            rules ? ", and outweighs all other samples together" : "", removal);
      }
}

// Judges the size of residuals. Known sigmas must agree with the residuals. Other sigmas are only weights and may differ
// more.
static void judge_spreads(judge *j) {
  bool known = j->f->plan->known_noise;
  for (int set = 0; set < j->f->sets; set++)
    for (int i = 0; i < j->e->sensors; i++) {
      const od_fit_set_result *s = &j->f->set[set];
      const od_fit_quality *q = &s->fitted_quality[i];
      double n = (double)q->samples, ratio = q->rms / s->data->sigma[i], allowed = known ? 1.5 : 3;
      if (s->data->set->clean || n < few_samples || !(ratio > 0) || (ratio < allowed && ratio > 1 / allowed)) continue;
      double larger = od_chi_squared_tail(ratio * ratio * n, n);
      if (larger > OD_FIT_UNLIKELY && larger < 1 - OD_FIT_UNLIKELY) continue;
      if (ratio > 1)
        REMARK(
            j, OD_DOUBTFUL, "noise.larger", "Residuals above noise:",
            "residuals of '%s' in the set '%s' are %.3g times the noise in the file: the model is incomplete, or the sigma is too small. Extend the model, or increase the sigma.",
            j->e->sensor[i].name, s->name, ratio);
      else
        REMARK(j, known ? OD_DOUBTFUL : OD_SOUND, "noise.smaller", "Residuals below noise:",
               "residuals of '%s' in the set '%s' are %.3g times the noise in the file: the sigma is too "
               "large%s.",
               j->e->sensor[i].name, s->name, ratio,
               known ? ", and so are the standard deviations of the estimates" : "");
    }
}

static void judge_whiteness(judge *j) {
  od_name_list colored = {.most = MOST_NAMED};
  double wider = 1;
  for (int set = 0; set < j->f->sets; set++)
    for (int i = 0; i < j->e->sensors; i++)
      if (j->f->set[set].fitted > 0 && od_fit_is_colored(&j->f->set[set].fitted_quality[i]))
        od_name_list_add(&colored, "%s in %s", j->e->sensor[i].name, j->f->set[set].name);
  if (colored.count == 0) return;
  for (int i = 0; i < j->e->parameters; i++)
    if (j->f->sigma_white[i] > 0 && isfinite(j->f->sigma_white[i]))
      wider = fmax(wider, j->f->sigma_colored[i] / j->f->sigma_white[i]);
  REMARK(j, OD_DOUBTFUL, "residual.not_white", "Not white:",
         "residuals of %s are correlated over time: the data contain an effect that the model does not describe. The "
         "standard deviations include this correlation and are up to %.3g times the standard deviations for white "
         "residuals; a wrong model may shift the estimates by more.",
         od_name_list_text(&colored), wider);
}

static void judge_pair(judge *j) {
  static const double together = 0.5;
  const od_fit_pair *p = &j->f->pair;
  if (p->a < 0 || fabs(p->correlation) < together) return;
  REMARK(
      j, OD_DOUBTFUL, "residual.together", "Not independent:",
      "residuals of %s and %s are correlated (%.3f): both contain the same noise, or the same error of the model. The fit "
      "counts this error twice, so standard deviations are too small. If both sensors are one measurement, remove one sensor.",
      j->e->sensor[p->a].name, j->e->sensor[p->b].name, p->correlation);
}

// --- The estimates ------------------------------------------------------------------------------------------------

static void judge_identifiability(judge *j) {
  const od_identifiability *id = j->f->identifiability;
  char text[1000], hidden[120] = "";
  if (!id) return;
  int identifiable = id->columns - id->nulls - id->weak;
  if (identifiable == id->columns) {
    if (j->verdict->trust < OD_UNSOUND)
      REMARK(j, OD_SOUND, "identifiable.all", "Identifiable:", "%s %s identifiable from the data.",
             od_count(id->columns, "parameter").text, od_form(id->columns, "is", "are all"));
    return;
  }
  if (id->weak > 0)
    snprintf(hidden, sizeof hidden, ", %d %s hidden by the noise", id->weak, od_form(id->weak, "is", "are"));
  REMARK(
      j, OD_DOUBTFUL, "identifiable.not_all", "Not all identifiable:",
      "%d of %d directions of parameter changes are identifiable; %d %s the data unchanged%s. Estimates along the other "
      "directions depend on the start values; combinations of these parameters may still be identifiable.",
      identifiable, id->columns, id->nulls, od_form(id->nulls, "leaves", "leave"), hidden);
  for (int k = 0; k < id->nulls && k < MOST_DIRECTIONS; k++) {
    od_identifiability_null_text(id, k, j->f->name, text, sizeof text);
    REMARK(j, OD_DOUBTFUL, "identifiable.null", "Not identifiable:", "%s.", text);
  }
  for (int k = 0; k < id->weak && k < MOST_DIRECTIONS; k++) {
    od_identifiability_weak_text(id, k, j->f->name, text, sizeof text);
    REMARK(j, OD_DOUBTFUL, "identifiable.weak", "Weakly identifiable:", "%s.", text);
  }
}

// Judges an estimate: its bound, its standard deviation and its distance from the start. The limit of the distance is
// `many_sigmas` times the sigma in the file. Without this sigma and without two bounds, the limit is a large factor or
// a change of sign.
static void judge_parameter(judge *j, int i) {
  const od_estimated *p = &j->e->parameter[i];
  const od_ls_result *r = j->f->search;
  int side = r->at_bound[i];
  double sigma = j->f->sigma[i], estimate = j->f->estimate[i], moved = fabs(estimate - p->start);
  double bound = side < 0 ? fmax(p->low, p->least) : fmin(p->high, p->most);
  bool is_own = bound == (side < 0 ? p->low : p->high);  // whether the bound is from the file, not a physical limit
  if (side != 0)
    REMARK(j, OD_DOUBTFUL, "parameter.bound",
           "At a bound:", "'%s' ends at its %s bound, %s%s: the best fit is beyond this bound. %s", p->path,
           side < 0 ? "lower" : "upper", od_display_quantity(bound, p->unit).text,
           is_own ? "" : ", beyond which values are impossible",
           is_own ? "Move this bound if values beyond the bound are plausible."
                  : "Check the model, the units and signs of the sensors, and the other parameters.");
  else if (!(sigma > 0) && !od_fit_is_fixed(j->f, i) && r->freedom <= 0)
    REMARK(
        j, OD_DOUBTFUL, "sigma.none", "No standard deviation:",
        "the fit does not have more samples than unknowns, so the uncertainty of '%s' is not known. Use more samples, or fit fewer parameters.",
        p->path);
  else if (!(sigma > 0) && !od_fit_is_fixed(j->f, i) && r->cost > 0)
    REMARK(
        j, OD_UNSOUND, "sigma.none", "No standard deviation:",
        "the computation for '%s' fails, because numbers become too large or too small. Check the samples for extreme "
        "values.",
        p->path);
  bool bounded = isfinite(p->low) && isfinite(p->high);
  double factor = p->start != 0 ? estimate / p->start : 1;
  if (!isfinite(sigma) || moved < 2 * sigma) return;
  if (p->sigma > 0 ? moved > many_sigmas * p->sigma : !bounded && (factor > large_factor || factor < 1 / large_factor))
    REMARK(j, OD_DOUBTFUL, "parameter.moved",
           "Estimate far from its start:", "'%s' changed from %s to %s; check whether this value is plausible.",
           p->path, od_display_quantity(p->start, p->unit).text, od_display_quantity(estimate, p->unit).text);
}

static void judge_step(judge *j) {
  const od_fitted *f = j->f;
  od_name_list shifted = {.most = MOST_NAMED};
  bool unknown = false;
  for (int i = 0; i < j->e->parameters; i++) {
    double part = f->shift[i] / f->sigma[i];
    unknown = unknown || isnan(f->shift[i]);
    if (f->search->at_bound[i] || !(fabs(part) > large_shift)) continue;
    od_name_list_add(&shifted, "%s %+.2g", j->e->parameter[i].path, part);
  }
  if (f->better_substeps > 0 && unknown)
    REMARK(
        j, OD_DOUBTFUL, "step.unknown", "Step:",
        "the prediction fails with half the step, so the effect of integration errors on the estimates is not known.");
  if (shifted.count == 0) return;
  double step = 0;
  for (int set = 0; set < f->sets; set++)
    if (f->set[set].fitted > 0) step = fmax(step, f->data[set]->step);
  REMARK(j, OD_DOUBTFUL, "step.shift", "Step too long:",
         "integration errors shift estimates, in standard deviations: %s. Set 'fit: {substeps: %d}' for sufficiently "
         "short steps of %s.",
         od_name_list_text(&shifted), f->better_substeps, od_display_quantity(step / f->better_substeps, "s").text);
}

static void judge_continuity(judge *j) {
  for (int set = 0; set < j->f->sets; set++) {
    const od_fit_set_result *s = &j->f->set[set];
    if (s->segments > 0 && !(s->gap < jump))
      REMARK(j, OD_UNSOUND, "shooting.gap", "Segments not continuous:",
             "segments of the set '%s' do not join: at %.6g s, a state jumps by %.2g times its range. All results are "
             "invalid; start closer to the solution, or use more segments.",
             s->name, s->gap_time, s->gap);
  }
}

static void judge_constraints(judge *j) {
  const od_ls_result *r = j->f->search;
  char text[700];
  for (int i = 0; i < r->constraints; i++) {
    const od_fit_constraint *c = &j->f->plan->constraint[i];
    double value = i < j->f->plan->equalities ? fabs(r->constraint[i]) : -r->constraint[i];
    if (r->violation > violated && value > 0)
      REMARK(j, OD_UNSOUND, "constraint.violated", "Constraint violated:",
             "'%s' is violated by %.3g in SI units; check whether constraints and bounds contradict each other.",
             c->text, value);
    if (!r->active[i]) continue;
    od_fit_constraint_text(j->f, i, text, sizeof text);
    REMARK(j, od_fit_constraint_is_doubtful(j->f, i) ? OD_DOUBTFUL : OD_SOUND, "constraint.active",
           "Constraint:", "'%s' is %s.", c->text, text);
  }
}

// --- Fitted data and validation data ------------------------------------------------------------------------------

// Returns whether the residuals `unseen` are more than twice the residuals of fitted data. The condition must be true
// in the unit of the sensor and as a fraction of the movement.
static bool is_much_worse(const judge *j, int i, const od_fit_quality *unseen) {
  double rms = 0, left = 0;
  for (int set = 0; set < j->f->sets; set++) {
    const od_fit_quality *q = &j->f->set[set].fitted_quality[i];
    if (j->f->set[set].fitted == 0 || isnan(q->fit)) continue;
    rms = fmax(rms, q->rms);
    left = fmax(left, 100 - q->fit);
  }
  return left > 0 && unseen->rms > 2 * rms && 100 - unseen->fit > 2 * left;
}

static void judge_validation(judge *j) {
  od_name_list worse = {.most = MOST_NAMED};
  for (int set = 0; set < j->f->sets && !j->f->only_predicted; set++)
    for (int i = 0; i < j->e->sensors; i++) {
      const od_fit_quality *q = &j->f->set[set].unseen_quality[i];
      if (q->samples > 0 && is_much_worse(j, i, q))
        od_name_list_add(&worse, "%s (fit %.2f %%)", j->e->sensor[i].name, q->fit);
    }
  if (worse.count > 0)
    REMARK(
        j, OD_DOUBTFUL, "validation.worse", "Validation:",
        "validation data are predicted much worse than fitted data: %s. The fitted model may describe only the fitted "
        "data, not the machine.",
        od_name_list_text(&worse));
}

static void judge_data(judge *j, int set) {
  const od_fit_set_result *s = &j->f->set[set];
  char lead[120];
  long missing = 0;
  snprintf(lead, sizeof lead, "%.100s:", s->name);
  if (s->predicted != OD_OK)
    REMARK(j, s->fitted > 0 ? OD_UNSOUND : OD_DOUBTFUL, "set.not_predicted", lead,
           "the set cannot be predicted with the %s values: %s.", j->f->only_predicted ? "start" : "fitted",
           od_status_text(s->predicted));
  for (int i = 0; i < j->e->sensors; i++) {
    const od_fit_quality *q[] = {&s->fitted_quality[i], &s->unseen_quality[i]};
    missing += q[0]->missing + q[1]->missing;
    for (int part = 0; part < 2; part++)
      if (q[part]->still && q[part]->samples > 0)
        REMARK(j, OD_DOUBTFUL, "sensor.still", lead, "'%s' is constant in the %s, so its fit in percent is undefined.",
               j->e->sensor[i].name, part_name(part == 1));
  }
  if (missing > 0)
    REMARK(j, OD_SOUND, "data.missing", lead, "%s %s missing and ignored.", od_count(missing, "sensor value").text,
           od_form(missing, "is", "are"));
  if (s->data->outliers > 0)
    REMARK(j, OD_SOUND, "data.outliers", lead, "%s %s removed.", od_count(s->data->outliers, "outlier").text,
           od_form(s->data->outliers, "was", "were"));
  if (s->data->gaps_filled > 0)
    REMARK(j, OD_SOUND, "data.gaps", lead, "%s %s filled by resampling.",
           od_count(s->data->gaps_filled, "short gap").text, od_form(s->data->gaps_filled, "was", "were"));
  if (s->data->bridged > 0)
    REMARK(j, OD_SOUND, "data.bridged", lead, "%s %s interpolated.",
           od_count(s->data->bridged, "missing input value").text, od_form(s->data->bridged, "was", "were"));
  const od_fit_set *from = s->data->set;
  if (!from->log) return;
  od_log_remark_repeated(from->log, j->verdict);
  od_log_remark_time_unit(from->log, j->e->step, j->verdict);
  // Interpolated or assumed inputs may differ from the true inputs. The remark has the level "doubtful" if the residuals
  // indicate such a difference.
  bool colored = false;
  for (int i = 0; i < j->e->sensors; i++) colored = colored || od_fit_is_colored(&s->fitted_quality[i]);
  od_trust trust = colored ? OD_DOUBTFUL : OD_SOUND;
  od_log_remark_jumps(from->log, from->plan.hold || j->f->plan->hold == OD_HOLD_ZERO, trust, j->verdict);
  od_log_remark_pause(from->log, trust, j->verdict);
}

// --- Derivatives --------------------------------------------------------------------------------------------------

// Checks whether the derivatives of predictions with respect to parameters are exact. If not, no result based on derivatives
// is valid.
static void judge_gradient(judge *j) {
  if (!j->e->model) return;
  const od_model *m = od_machine_model(j->e->model);
  od_name_list delays = {.most = MOST_NAMED}, integrals = {.most = MOST_NAMED}, switches = {.most = MOST_NAMED};
  // A sampled delay does not propagate derivatives. A delayed input of the machine does not depend on parameters.
  for (int i = 0; i < m->blocks; i++)
    if (m->block[i].samples > 0 && m->block_line[m->block[i].line].source >= m->inputs)
      od_name_list_add(&delays, "'%s'", od_model_text(m, m->block[i].name));
  for (int i = 0; i < od_model_switchers(m); i++) od_name_list_add(&switches, "'%s'", od_model_switcher_name(m, i));
  for (int i = 0; i < j->e->sensors; i++) {
    const od_output *o = &m->output[od_machine_output_find(j->e->model, j->e->sensor[i].name)];
    if (o->kind >= OD_OUT_INTEGRAL) od_name_list_add(&integrals, "'%s'", j->e->sensor[i].name);
  }
  if (delays.count > 0)
    REMARK(
        j, OD_UNSOUND, "gradient.delay", "Derivatives not exact:",
        "the derivatives do not include the memory of sampled delays: %s. The search stops near the minimum, but not "
        "at the minimum. Standard deviations and identifiability are wrong; use 'pade' instead of 'sample' for exact "
        "derivatives.",
        od_name_list_text(&delays));
  if (integrals.count > 0)
    REMARK(j, OD_UNSOUND, "gradient.integral", "Derivatives not exact:",
           "the derivatives do not include integrals over time: %s. The search stops near the minimum, but not at the "
           "minimum. Standard deviations and identifiability are wrong; fit the power instead.",
           od_name_list_text(&integrals));
  if (switches.count > 0)
    REMARK(
        j, OD_UNSOUND, "gradient.switch", "Derivatives not exact:",
        "predictions switch only at the end of a step: %s. Predictions are therefore discontinuous in parameters that "
        "change the time of a switch. The search may stop near the minimum, but not at the minimum. Standard "
        "deviations of these parameters are too small; fit a part of the log without switches.",
        od_name_list_text(&switches));
}

// --- Lags ---------------------------------------------------------------------------------------------------------

// Looks for a lag between a sensor of a log and its prediction, if the residuals are colored. A lag of up to 200 steps is reported
// if the correlation with this lag exceeds 0.7, if the lag explains at least half of the residuals, and if the lag exceeds 5 of its
// standard deviations.
static void judge_lag(judge *j, const od_fit_work *w, int set, int sensor) {
  static const double steps = 200, least_correlation = 0.7, explained = 0.5, sigmas = 5;
  OD_SCRATCH(scratch);
  const od_fit_set_result *s = &j->f->set[set];
  const od_fit_data *d = s->data;
  od_lag lag;
  if (!d->set->log || s->predicted != OD_OK || !od_fit_is_colored(&s->fitted_quality[sensor])) return;
  double *predicted = OD_TAKE(&scratch, double, d->rows), *measured = OD_TAKE(&scratch, double, d->rows);
  if (od_arena_status(&scratch) != OD_OK) {
    od_verdict_set_incomplete(j->verdict);
    return;
  }
  for (long k = 0; k < d->rows; k++) {
    predicted[k] = w->y[set][k * w->ny + sensor];
    measured[k] = d->y[k * w->ns + sensor];
  }
  bool is_found = false;
  if (od_lag_find(d->time, predicted, measured, d->rows, steps * d->step, &is_found, &lag) != OD_OK)
    od_verdict_set_incomplete(j->verdict);
  if (!is_found) return;
  double r = lag.correlation, at_zero = lag.at_zero, given = d->set->plan.channel[d->set->channel[sensor]].delay;
  bool matters = r > least_correlation && 1 - r * r < explained * (1 - at_zero * at_zero) && !lag.is_at_edge &&
                 fabs(lag.lag) > sigmas * lag.sigma;
  if (!matters) return;
  REMARK(
      j, OD_SOUND, "log.lag", "Lag:",
      "'%s' in the set '%s' is %s by %s relative to its prediction, by cross-correlation (correlation %.4g with this "
      "lag, %.4g without). If the sensor or its logger is %s, write 'delay: %.4g ms' under this channel.",
      j->e->sensor[sensor].name, s->name, lag.lag > 0 ? "late" : "early", od_duration_text(fabs(lag.lag), 3).text, r,
      at_zero, lag.lag > 0 ? "late" : "early", 1e3 * (given + lag.lag));
}

// --- The complete verdict -----------------------------------------------------------------------------------------

od_status od_fit_judge(od_fit_work *w, od_error *err) {
  judge j = {w->f, w->plan->e, &w->f->verdict};
  judge_search(&j);
  judge_gradient(&j);
  judge_cost_rise(&j);
  judge_outliers(&j);
  judge_fit(&j);
  judge_sensors(&j);
  judge_spreads(&j);
  judge_whiteness(&j);
  judge_pair(&j);
  judge_identifiability(&j);
  if (!w->f->only_predicted) {
    judge_continuity(&j);
    judge_constraints(&j);
    for (int i = 0; i < w->np; i++) judge_parameter(&j, i);
    judge_step(&j);
  }
  judge_validation(&j);
  for (int set = 0; set < w->f->sets; set++) judge_data(&j, set);
  for (int set = 0; set < w->f->sets; set++)
    for (int i = 0; i < w->ns; i++) judge_lag(&j, w, set, i);
  return od_verdict_is_complete(&w->f->verdict) ? OD_OK : od_fail(err, OD_NO_MEMORY, "out of memory");
}
