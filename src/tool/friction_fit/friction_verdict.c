// Verdict on a friction fit, and the parameters that are not identifiable.
#include <math.h>
#include <string.h>

#include "friction_fit/fit_stages.h"
#include "io/wording.h"

// Writes the keys of the parameters whose estimates have the quality `known`: "n, n_negative and vs".
static void list_known(const od_friction_fitted *f, od_friction_known known, char *text, size_t size) {
  int left = 0;
  for (int i = 0; i < f->parameters; i++) left += f->parameter[i].known == known;
  *text = 0;
  for (int i = 0, done = 0; i < f->parameters; i++) {
    if (f->parameter[i].known != known) continue;
    size_t used = strlen(text);
    snprintf(text + used, size - used, "%s%s", done == 0 ? "" : done + 1 == left ? " and " : ", ", f->parameter[i].key);
    done++;
  }
}

// Describes which speeds are missing in the data, so that parameters are not identifiable. Empty text: no speed is missing.
static void advise(const od_friction_fitted *f, char *text, size_t size) {
  const od_friction_data *d = f->data;
  const od_friction_law *law = f->law.law;
  bool run = f->plan->method == OD_FRICTION_COMPLETE;
  int count = run ? d->samples : d->points.count;
  const double *v = run ? d->v : d->points.v;
  double fastest[2] = {0, 0}, slowest[2] = {INFINITY, INFINITY}, end = 0;
  for (int i = 0; i < count; i++) {
    int side = v[i] < 0;
    if (v[i] == 0) continue;
    fastest[side] = fmax(fastest[side], fabs(v[i])), slowest[side] = fmin(slowest[side], fabs(v[i]));
  }
  *text = 0;
  if (fastest[0] == 0 || fastest[1] == 0) {
    snprintf(text, size, " The data have no motion in the %s direction; add such a motion.",
             fastest[0] == 0 ? "positive" : "negative");
    return;
  }
  if (!law->has_family) return;
  for (int side = 0; side < 2 && !*text; side++) {
    double p[OD_FAMILY_COUNT];
    law->family_r(f->law.q, f->law.two_sided, side == 1, 1, p);
    end = p[OD_FAMILY_VS] * exp(p[OD_FAMILY_LOG_VB_VS]);
    const char *way = side ? "negative" : "positive";
    if (fastest[side] < end)
      snprintf(text, size,
               " In the %s direction, the speed reaches %.3g m/s, but the film is complete only above %.3g m/s. Add "
               "higher speeds.",
               way, fastest[side], end);
    else if (slowest[side] > p[OD_FAMILY_VS])
      snprintf(text, size,
               " In the %s direction, the lowest speed is %.3g m/s, above the Stribeck speed of %.3g m/s. "
               "Add lower speeds.",
               way, slowest[side], p[OD_FAMILY_VS]);
  }
}

// Residuals in the direction of motion, averaged over bins of the position.
enum { BINS = 12 };
typedef struct by_position {
  double range;        // difference between the largest and smallest mean of a bin, N
  double part;         // fraction of the residuals' variance that is a function of the bin
  double correlation;  // correlation of the bins' means between both directions; NAN: fewer than four common bins
} by_position;

typedef struct bins {
  double sum[2][BINS];
  int count[2][BINS], used;
  double all, squares;
} bins;

static bool fill_bins(const od_friction_fitted *f, bins *b) {
  const od_friction_data *d = f->data;
  double low = INFINITY, high = -INFINITY;
  if (!d->position || f->plan->method == OD_FRICTION_STEADY) return false;
  for (int i = 0; i < d->samples; i++) low = fmin(low, d->position[i]), high = fmax(high, d->position[i]);
  for (int i = 0; i < d->samples && high > low; i++) {
    int bin = (int)fmin((d->position[i] - low) / (high - low) * BINS, BINS - 1), side = d->v[i] < 0;
    double r = (side ? -1 : 1) * (d->force[i] - f->model[i]);
    if (d->v[i] == 0) continue;
    b->sum[side][bin] += r, b->count[side][bin]++, b->used++;
    b->all += r, b->squares += r * r;
  }
  return b->used > 0;
}

// Returns the correlation of the bins' means between both directions, over the common bins: bins in which each direction has more
// than a twentieth of the mean number of samples of a bin. NAN: fewer than four common bins.
static double correlation_of_directions(const bins *b) {
  double mean[2] = {0, 0}, product = 0, square[2] = {0, 0};
  int shared[BINS], count = 0;
  for (int k = 0; k < BINS; k++)
    if (b->count[0][k] > b->used / (20 * BINS) && b->count[1][k] > b->used / (20 * BINS)) shared[count++] = k;
  if (count < 4) return NAN;
  for (int i = 0; i < count; i++)
    for (int side = 0; side < 2; side++) mean[side] += b->sum[side][shared[i]] / b->count[side][shared[i]] / count;
  for (int i = 0; i < count; i++) {
    double off[2];
    for (int side = 0; side < 2; side++) {
      off[side] = b->sum[side][shared[i]] / b->count[side][shared[i]] - mean[side];
      square[side] += off[side] * off[side];
    }
    product += off[0] * off[1];
  }
  return product / sqrt(square[0] * square[1]);
}

static by_position residuals_by_position(const od_friction_fitted *f) {
  bins b = {0};
  double between = 0, least = INFINITY, most = -INFINITY;
  if (!fill_bins(f, &b)) return (by_position){0};
  double mean = b.all / b.used, whole = b.squares - b.used * mean * mean;
  for (int k = 0; k < BINS; k++) {
    int count = b.count[0][k] + b.count[1][k];
    if (count <= b.used / (20 * BINS)) continue;
    double of_bin = (b.sum[0][k] + b.sum[1][k]) / count;
    between += count * pow(of_bin - mean, 2);
    least = fmin(least, of_bin), most = fmax(most, of_bin);
  }
  return (by_position){most > least ? most - least : 0, whole > 0 ? between / whole : 0, correlation_of_directions(&b)};
}

// Returns whether a logged run that is fitted from its first sample begins at more than 1 % of its largest speed.
static bool begins_moving(const od_friction_fitted *f) {
  const od_friction_data *d = f->data;
  double fastest = 0;
  for (int i = 0; i < d->samples; i++) fastest = fmax(fastest, fabs(d->v[i]));
  return f->plan->method != OD_FRICTION_STEADY && !d->run && f->plan->log.skip == 0 && d->samples > 0 &&
         fabs(d->v[0]) > 0.01 * fastest;
}

// Returns the parameter with the largest shift in standard deviations; NULL: no parameter has a standard deviation.
static const od_friction_parameter *most_shifted(const od_friction_fitted *f) {
  const od_friction_parameter *most = NULL;
  for (int i = 0; i < f->parameters; i++) {
    const od_friction_parameter *p = &f->parameter[i];
    if (p->sigma > 0 && isfinite(p->sigma) && (!most || fabs(p->shift) * most->sigma > fabs(most->shift) * p->sigma))
      most = p;
  }
  return most;
}

#define REMARK(...) od_verdict_add(v, __VA_ARGS__)

// Adds the remarks on a fit: data, undetermined parameters, the search, residuals, noise of the speed, the start, the position.
static void remark(od_friction_fitted *f) {
  const od_friction_plan *plan = f->plan;
  const od_steady_points *p = &f->data->points;
  od_verdict *v = &f->verdict;
  char list[600], advice[300];
  bool steady = plan->method == OD_FRICTION_STEADY;
  bool follows_speed = steady && od_residuals_follow_speed(p->count, p->v, p->force, f->model);
  bool moving = plan->points.every > 0 && plan->method != OD_FRICTION_COMPLETE;
  bool explained = steady ? !follows_speed && !moving : f->rms <= od_friction_most_rms(f);
  // Adds the remarks about the simulation of the data, or about the times of a log.
  for (int i = 0; i < f->data->of_truth.count; i++) {
    const od_remark *r = &f->data->of_truth.remark[i];
    REMARK(r->trust, r->code, r->lead, "%s", r->text);
  }
  if (moving)
    REMARK(
        OD_DOUBTFUL, "points.moving", "Points not steady:",
        "the points are samples of the run, settled or not. The steady curve then includes the motion of film and "
        "bristles, and the standard deviations treat this motion as noise. Use settled parts of the run, or the method 'complete'.");
  if (f->film_leads)
    REMARK(
        OD_DOUBTFUL, "film.leads", "Film leads:",
        "in the step of the speed, the film computed from the force does not lag behind the speed (pole %.4g, "
        "expected 0 to 1). Therefore 'tau_hn' keeps its start value, which is also used in the fit of 'sigma_0'. Use "
        "lower speeds in this step, or set 'film_by: least-squares'.",
        f->film_pole);
  list_known(f, OD_PARAMETER_UNKNOWN, list, sizeof list);
  advise(f, advice, sizeof advice);
  if (*list)
    REMARK(OD_DOUBTFUL, "parameters.unknown",
           "Parameters not determined:", "the data do not determine %s; the values shown are not estimates.%s%s", list,
           explained ? " The other estimates are valid." : "", advice);
  list_known(f, OD_PARAMETER_WEAK, list, sizeof list);
  if (*list)
    REMARK(OD_SOUND, "parameters.weak",
           "Weak estimates:", "the standard deviation of %s is more than a tenth of the value.%s", list, advice);
  if (!f->converged)
    REMARK(OD_DOUBTFUL, "search.stuck", "No minimum:",
           "the search ended after %s, before a minimum was found. Change the start values, or fit fewer "
           "parameters.",
           od_count(f->evaluations, "evaluation").text);
  if (follows_speed)
    REMARK(
        OD_DOUBTFUL, "residual.speed", "Residuals not explained:",
        "residuals at neighboring speeds are correlated (%.3g N root mean square): another law applies, or measurement "
        "errors exceed the noise. The standard deviations treat all residuals as noise.",
        f->rms);
  else if (!explained && !moving)
    REMARK(
        OD_DOUBTFUL, "residual.large", "Residuals not explained:",
        "residuals of %.3g N (root mean square) exceed the accepted %.3g N plus the noise of %.3g N. Measurement errors "
        "exceed the noise, or another law applies, or the minimum is only local. The standard deviations treat all "
        "residuals as noise.",
        f->rms, plan->accept, f->data->noise);
  const od_friction_parameter *most = most_shifted(f);
  if (most && fabs(most->shift) > 0.5 * most->sigma)
    REMARK(
        OD_DOUBTFUL, "speed.noise", "Noise of the speed:",
        "noise of %.3g m/s in the speed acts on the law like motion. This noise shifts %s by about %.3g %s (%.2g "
        "standard deviations), and other parameters by less. Smooth the speed, or measure the speed more accurately.",
        f->data->speed_noise, most->key, most->shift, most->unit, fabs(most->shift) / most->sigma);
  if (!steady && !explained && f->data->held > 0)
    REMARK(
        OD_DOUBTFUL, "speed.held", "Speed held at reversals:",
        "where the motion reverses, the speed repeats its value for up to %.3g ms, like the reading of an encoder between two edges. The fitted "
        "law then reverses too late, which shifts its parameters, 'sigma_0' most. Use an encoder with a finer pitch, or another sensor of the speed.",
        1e3 * f->data->held);
  if (begins_moving(f))
    REMARK(
        OD_DOUBTFUL, "run.moving", "Log begins in motion:",
        "the log begins at %.3g m/s, but the simulation of the law starts at rest and without a film. Skip the beginning of the log "
        "('skip' of 'run').",
        f->data->v[0]);
  by_position position = residuals_by_position(f);
  bool known = !isnan(position.correlation);
  // If the directions have fewer than four common bins, the position may be correlated with another quantity. Then the limit of
  // `part` is 0.5 instead of 0.2.
  if (!explained && position.part > (known ? 0.2 : 0.5) && !(position.correlation < 0.5))
    REMARK(
        OD_DOUBTFUL, "position.matters", "Effect of the position:",
        "%.0f %% of the residuals' variance depends on the position%s: friction seems to vary by %.3g N over the "
        "stroke. This variation distorts the parameters. Use the same part of the stroke in all motions, or estimate the variation "
        "('positions' of 'fit').",
        100 * position.part, known ? ", in the same way in both directions" : "", position.range);
}

od_status od_friction_judge(od_friction_fitted *f, od_error *err) {
  od_status status = od_friction_find_errors(f, err);
  if (status != OD_OK) return status;
  remark(f);
  return od_verdict_is_complete(&f->verdict) ? OD_OK : od_fail(err, OD_NO_MEMORY, "out of memory");
}
