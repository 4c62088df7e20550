// Verdict on a friction fit, and the parameters that are not identifiable.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "friction_fit/fit_stages.h"

// Writes a list: "n, n_negative and vs".
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

// Names missing features of the run that explain why parameters are not identifiable.
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
    snprintf(text, size, " It never moves in the %s direction.", fastest[0] == 0 ? "positive" : "negative");
    return;
  }
  if (!law->has_family) return;
  for (int side = 0; side < 2 && !*text; side++) {
    double p[OD_FAMILY_COUNT];
    law->family_r(f->law.q, f->law.two_sided, side == 1, 1, p);
    end = p[OD_FAMILY_VS] * exp(p[OD_FAMILY_LOG_VB_VS]);
    const char *way = side ? "negative" : "positive";
    if (fastest[side] < end)
      snprintf(text, size, " In the %s direction it reaches %.3g m/s, and the film is complete from %.3g m/s on.", way,
               fastest[side], end);
    else if (slowest[side] > p[OD_FAMILY_VS])
      snprintf(text, size, " In the %s direction it is never slower than %.3g m/s; the Stribeck speed is %.3g m/s.",
               way, slowest[side], p[OD_FAMILY_VS]);
  }
}

// Residuals in the direction of motion, averaged over bins of the position.
enum { BINS = 12 };
typedef struct by_position {
  double range;  // difference between the largest and smallest mean of a bin
  double part;   // fraction of the residuals' variance that the bins explain
  double alike;  // correlation of the means of both directions: position-dependent friction is the same in both; NAN:
                 // too few common bins
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

// Uses the bins that both directions pass long enough.
static double find_alike(const bins *b) {
  double mean[2] = {0, 0}, up = 0, down[2] = {0, 0};
  int shared[BINS], count = 0;
  for (int k = 0; k < BINS; k++)
    if (b->count[0][k] > b->used / (20 * BINS) && b->count[1][k] > b->used / (20 * BINS)) shared[count++] = k;
  if (count < 4) return NAN;
  for (int i = 0; i < count; i++)
    for (int side = 0; side < 2; side++) mean[side] += b->sum[side][shared[i]] / b->count[side][shared[i]] / count;
  for (int i = 0; i < count; i++) {
    double off[2];
    for (int side = 0; side < 2; side++)
      off[side] = b->sum[side][shared[i]] / b->count[side][shared[i]] - mean[side], down[side] += off[side] * off[side];
    up += off[0] * off[1];
  }
  return up / sqrt(down[0] * down[1]);
}

static by_position look_at_position(const od_friction_fitted *f) {
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
  return (by_position){most > least ? most - least : 0, whole > 0 ? between / whole : 0, find_alike(&b)};
}

// Whether a logged run begins in motion, with a significant effect.
static bool begins_moving(const od_friction_fitted *f) {
  const od_friction_data *d = f->data;
  double fastest = 0;
  for (int i = 0; i < d->samples; i++) fastest = fmax(fastest, fabs(d->v[i]));
  return f->plan->method != OD_FRICTION_STEADY && !d->run && f->plan->log.skip == 0 && d->samples > 0 &&
         fabs(d->v[0]) > 0.01 * fastest;
}

static const od_friction_parameter *most_shifted(const od_friction_fitted *f) {
  const od_friction_parameter *most = NULL;
  for (int i = 0; i < f->parameters; i++) {
    const od_friction_parameter *p = &f->parameter[i];
    if (p->sigma > 0 && isfinite(p->sigma) && (!most || fabs(p->shift) * most->sigma > fabs(most->shift) * p->sigma))
      most = p;
  }
  return most;
}

// Whether residuals of fitted points depend on the speed significantly.
static bool follows_speed(const od_friction_fitted *f) {
  const od_steady_points *p = &f->data->points;
  if (f->plan->method != OD_FRICTION_STEADY) return false;
  return od_residuals_follow_speed(p->count, p->v, p->force, f->model);
}

// Passes on remarks against the simulation of the data.
static bool pass_on_truth(const od_verdict *from, od_verdict *to) {
  bool ok = true;
  for (int i = 0; i < from->count && ok; i++)
    ok = od_verdict_add(to, from->remark[i].trust, from->remark[i].code, from->remark[i].lead, "%s",
                        from->remark[i].text);
  return ok;
}

static bool remark(od_friction_fitted *f) {
  const od_friction_plan *plan = f->plan;
  od_verdict *v = &f->verdict;
  char list[600], advice[300];
  bool ok = pass_on_truth(&f->data->of_truth, v), alike = follows_speed(f);
  bool moving = plan->points.every > 0 && plan->method != OD_FRICTION_COMPLETE;
  bool explained = plan->method == OD_FRICTION_STEADY ? !alike && !moving : f->rms <= od_friction_most_rms(f);
  if (moving)
    ok = od_verdict_add(
             v, OD_DOUBTFUL, "points.moving", "Not steady:",
             "the points are samples of the run, settled or not, so that what film and bristles do is taken for "
             "the steady curve. Standard deviations take it for noise.") &&
         ok;
  if (f->film_leads)
    ok = od_verdict_add(
             v, OD_DOUBTFUL, "film.leads", "Film leads:",
             "the film computed from the force does not lag behind the speed in this step (pole %.4g, expected between "
             "0 and 1), so that tau_hn stays at its start, with which sigma_0 was found. Begin and end the step at "
             "lower speeds, or give film_by: least-squares.",
             f->film_pole) &&
         ok;
  list_known(f, OD_PARAMETER_UNKNOWN, list, sizeof list);
  advise(f, advice, sizeof advice);
  if (*list)
    ok = od_verdict_add(v, OD_DOUBTFUL, "parameters.unknown",
                        "Not determined:", "the data do not determine %s: the values shown are not estimates.%s%s",
                        list, explained ? " The others hold." : "", advice) &&
         ok;
  list_known(f, OD_PARAMETER_WEAK, list, sizeof list);
  if (*list)
    ok = od_verdict_add(v, OD_SOUND, "parameters.weak", "Weak:", "noise hides more than a tenth of %s.%s", list,
                        advice) &&
         ok;
  if (!f->converged)
    ok = od_verdict_add(v, OD_DOUBTFUL, "search.stuck", "No minimum:", "the search did not end at a minimum.") && ok;
  if (alike)
    ok = od_verdict_add(
             v, OD_DOUBTFUL, "residual.speed", "Not explained:",
             "residuals of neighbouring speeds are alike, %.3g N root mean square in all: the law has another "
             "curve, or measurements are off by more than noise. Standard deviations take all of it for noise.",
             f->rms) &&
         ok;
  else if (!explained && !moving)
    ok = od_verdict_add(
             v, OD_DOUBTFUL, "residual.large", "Not explained:",
             "residuals are %.3g N (root mean square), more than the %.3g N that are accepted and noise of %.3g N "
             "explain. Measurements are off by more than noise, or the law is another one, or this is a local "
             "minimum. Standard deviations take all of it for noise.",
             f->rms, plan->accept, f->data->noise) &&
         ok;
  const od_friction_parameter *most = most_shifted(f);
  if (most && fabs(most->shift) > 0.5 * most->sigma)
    ok =
        od_verdict_add(
            v, OD_DOUBTFUL, "speed.noise", "Noise of the speed:",
            "the speed trembles by %.3g m/s, which the law takes for motion. It has shifted %s by about %.3g %s, %.2g of its "
            "standard deviations, and others less. Smooth the speed, or measure it better.",
            f->data->speed_noise, most->key, most->shift, most->unit, fabs(most->shift) / most->sigma) &&
        ok;
  if (begins_moving(f))
    ok = od_verdict_add(
             v, OD_DOUBTFUL, "run.moving", "Begins moving:",
             "the log begins at %.3g m/s, the law at rest without a film; leave out its beginning (run.skip).",
             f->data->v[0]) &&
         ok;
  by_position position = look_at_position(f);
  // If the directions have no common bins, the position may be correlated with another quantity; a larger explained fraction is
  // required.
  if (!explained && position.part > (isnan(position.alike) ? 0.5 : 0.2) && !(position.alike < 0.5))
    ok = od_verdict_add(
             v, OD_DOUBTFUL, "position.matters", "Position:",
             "%.0f %% of what is not explained goes with the position%s: friction seems to differ by %.3g N over "
             "the stroke, which parameters take for something else. Run over the same part of the stroke each time.",
             100 * position.part, isnan(position.alike) ? "" : ", in both directions alike", position.range) &&
         ok;
  return ok;
}

od_status od_friction_judge(od_friction_fitted *f, od_error *err) {
  od_status status = od_friction_find_errors(f, err);
  if (status == OD_OK && !remark(f)) status = od_fail(err, OD_NO_MEMORY, "memory ran out");
  return status;
}
