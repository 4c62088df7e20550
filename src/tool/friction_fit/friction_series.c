#include "friction_fit/friction_series.h"

#include <math.h>
#include <string.h>

#include "base/allocate.h"
#include "io/wording.h"
#include "math/chi_squared.h"

// Probability that the check reports a correct series as too scattered, over all parameters together.
static const double false_alarm = 1e-3;

static void keep(od_friction_series *s, int run, const od_friction_fitted *f) {
  for (int i = 0; i < f->parameters; i++) {
    s->parameter[i].estimate[run] = f->parameter[i].value;
    s->parameter[i].sigma[run] = f->parameter[i].known == OD_PARAMETER_UNKNOWN ? INFINITY : f->parameter[i].sigma;
    s->parameter[i].truth = f->parameter[i].truth;
  }
  s->rms[run] = f->rms;
  s->doubtful += f->verdict.trust != OD_SOUND;
}

// Fits one run, to the data of `shared` with the errors of the seed. shared NULL: the function creates the data of the
// run.
static od_status fit_run(od_friction_series *s, int run, uint64_t seed, const od_friction_run_options *options,
                         od_friction_data *shared, od_error *err) {
  od_friction_plan own = *s->plan;
  OD_OWNED(od_friction_data_free) od_friction_data *made = NULL;
  OD_OWNED(od_friction_fitted_free) od_friction_fitted *f = NULL;
  od_friction_run_options judged = *options;
  judged.judge = true;
  if (own.logs > 0) own.log.file = own.series_log[run];
  od_status status = OD_OK;
  if (!shared) status = od_friction_data_make(&own, seed, (od_going_on){options->progress, options->user}, &made, err);
  od_friction_data *d = shared ? shared : made;
  if (status == OD_OK) status = od_friction_data_disturb(&own, seed, d, err);
  if (status == OD_OK) status = od_steady_points_find(&own, d, err);
  if (status == OD_OK) status = od_friction_fit(&own, d, &judged, &f, err);
  if (f && f->film_leads)
    return od_fail(err, OD_NOT_CONVERGED,
                   "the film does not lag behind the speed, so its time constant is not known; use lower speeds");
  if (f) keep(s, run, f);
  return status;
}

// Computes mean, spread and chi-squared of the estimates.
static void summarize(od_friction_series *s, od_series_parameter *p) {
  double sum = 0, squares = 0, variances = 0, weights = 0, weighted = 0, chi = 0;
  int count = 0, known = 0;
  for (int k = 0; k < s->runs; k++) {
    if (isnan(p->estimate[k])) continue;
    sum += p->estimate[k], variances += p->sigma[k] * p->sigma[k], count++;
    if (!(p->sigma[k] > 0) || !isfinite(p->sigma[k])) continue;
    double weight = 1 / (p->sigma[k] * p->sigma[k]);
    weights += weight, weighted += weight * p->estimate[k], known++;
  }
  p->mean = sum / count, p->reported = sqrt(variances / count);
  for (int k = 0; k < s->runs; k++) {
    if (isnan(p->estimate[k])) continue;
    squares += pow(p->estimate[k] - p->mean, 2);
    if (p->sigma[k] > 0 && isfinite(p->sigma[k])) chi += pow((p->estimate[k] - weighted / weights) / p->sigma[k], 2);
  }
  p->spread = count > 1 ? sqrt(squares / (count - 1)) : (double)NAN;
  p->chi_squared = known > 1 ? chi / (known - 1) : (double)NAN;
  p->chance = known > 1 ? od_chi_squared_tail(chi, known - 1) : (double)NAN;
}

static void remark(od_friction_series *s) {
  char list[600] = "";
  double most = 0;
  for (int i = 0; i < s->parameters; i++) {
    const od_series_parameter *p = &s->parameter[i];
    size_t used = strlen(list);
    if (!(p->chance < false_alarm / s->parameters)) continue;
    most = fmax(most, sqrt(p->chi_squared));
    snprintf(list + used, sizeof list - used, "%s%s", used ? ", " : "", p->key);
  }
  if (*list)
    od_verdict_add(
        &s->verdict, OD_DOUBTFUL, "series.spread", "Runs differ:",
        "the estimates of %s differ between the runs by up to %.3g times the reported standard deviations. The machine changes "
        "between the runs, or the runs have errors that the law does not contain. Use the spread as the uncertainty.",
        list, most);
  if (s->doubtful > 0)
    od_verdict_add(
        &s->verdict, OD_DOUBTFUL, "series.doubtful", "Runs not sound:",
        "the verdict of %d of %d runs is not sound; fit each of these runs alone to get the reasons. A small spread "
        "then does not mean that the mean is correct, because all runs have the same error.",
        s->doubtful, s->runs);
  if (s->failed > 0)
    od_verdict_add(
        &s->verdict, OD_DOUBTFUL, "series.failed", "Runs without a fit:",
        "the search failed in %d of %d runs. Mean and spread do not include these runs; change the start values.",
        s->failed, s->runs);
}

// Fits all runs of a series and summarizes their estimates. Runs that do not converge are counted, and the series fails only if all fail.
static od_status fit_series(od_friction_series *s, uint64_t seed, const od_friction_run_options *options,
                            od_error *err) {
  const od_friction_plan *plan = s->plan;
  OD_OWNED(od_friction_data_free) od_friction_data *shared = NULL;
  od_status status = OD_OK;
  s->rms = OD_TAKE(&s->arena, double, s->runs);
  for (int i = 0; i < plan->parameters; i++) {
    const od_element_field *field = od_law_field(plan->start.law, plan->parameter[i]);
    s->parameter[s->parameters++] = (od_series_parameter){.key = field->key,
                                                          .unit = field->unit,
                                                          .truth = NAN,
                                                          .estimate = OD_TAKE(&s->arena, double, s->runs),
                                                          .sigma = OD_TAKE(&s->arena, double, s->runs)};
  }
  if (od_arena_status(&s->arena) != OD_OK) return od_fail(err, OD_NO_MEMORY, "out of memory");
  for (int k = 0; k < s->runs; k++) {
    s->rms[k] = NAN;
    for (int i = 0; i < s->parameters; i++) s->parameter[i].estimate[k] = s->parameter[i].sigma[k] = NAN;
  }
  // Simulated measurements of one motion differ only in their errors, so the motion is simulated once.
  if (plan->logs == 0 && plan->vary == 0)
    status = od_friction_data_make(plan, seed, (od_going_on){options->progress, options->user}, &shared, err);
  for (int k = 0; k < s->runs && status == OD_OK; k++) {
    status = fit_run(s, k, seed + (uint64_t)k, options, shared, err);
    if (options->progress && !options->progress(options->user, (double)k / s->runs)) return OD_INTERRUPTED;
    bool failed = status == OD_NOT_CONVERGED || status == OD_NOT_FINITE;
    s->failed += failed;
    if (failed && s->failed < s->runs) status = OD_OK;
  }
  if (status != OD_OK) return status;
  for (int i = 0; i < s->parameters; i++) summarize(s, &s->parameter[i]);
  remark(s);
  return od_verdict_is_complete(&s->verdict) ? OD_OK : od_fail(err, OD_NO_MEMORY, "out of memory");
}

od_status od_friction_series_fit(const od_friction_plan *plan, uint64_t seed, const od_friction_run_options *options,
                                 od_friction_series **out, od_error *err) {
  OD_OWNED(od_friction_series_free) od_friction_series *s = od_calloc(1, sizeof *s);
  *out = NULL;
  if (!s) return od_fail(err, OD_NO_MEMORY, "out of memory");
  s->plan = plan, s->runs = plan->repeats;
  od_status status = fit_series(s, seed, options, err);
  if (status == OD_OK) *out = OD_GIVE(s);
  return status;
}

void od_friction_series_free(od_friction_series *s) {
  if (!s) return;
  od_verdict_free(&s->verdict);
  od_arena_free(&s->arena);
  od_free(s);
}
