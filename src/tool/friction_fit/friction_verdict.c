// What the data could tell about each parameter, which parts of a run told it, and whether the result may be trusted.
#include <lapacke.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "friction_fit/fit_stages.h"

static const double weak_from = 0.1, unknown_from = 1;  // standard deviation over value

// --- Standard deviations ------------------------------------------------------------------------------------------

static int place_of(const od_friction_fitted *f, int number) {
  for (int i = 0; i < f->parameters; i++)
    if (f->parameter[i].number == number) return i;
  return -1;
}

static void set_sigmas(od_friction_fitted *f, int columns, const int *number, const od_identifiability *id) {
  for (int k = 0; k < columns; k++) {
    od_friction_parameter *p = &f->parameter[place_of(f, number[k])];
    p->sigma = id->sigma[k];
    double part = p->sigma / fabs(p->value);
    p->known = part <= weak_from ? OD_PARAMETER_KNOWN : part <= unknown_from ? OD_PARAMETER_WEAK : OD_PARAMETER_UNKNOWN;
  }
}

// What a row is off by: what is known of the noise, or what residuals say; at least a ten-thousandth of the largest force, since no
// measurement is better.
static double noise_of(double known, double squares, int rows, int columns, double largest) {
  double seen = rows > columns ? sqrt(squares / (rows - columns)) : 0;
  return fmax(known > 0 ? known : seen, 1e-4 * largest);
}

static double largest_of(int count, const double *x) {
  double largest = 0;
  for (int i = 0; i < count; i++) largest = fmax(largest, fabs(x[i]));
  return largest;
}

static od_status judge_points(od_friction_fitted *f, od_error *err) {
  od_point_group group[2];
  int groups = od_point_groups(f->plan, &f->data->points, group);
  od_status status = groups > 0 ? OD_OK : od_fail(err, OD_NO_MEMORY, "memory ran out");
  for (int g = 0; g < groups && status == OD_OK; g++) {
    const od_point_group *p = &group[g];
    double squares = 0;
    if (p->count == 0 || p->columns == 0) continue;
    for (int i = 0; i < p->count; i++) squares += pow(od_law_steady(&f->law, p->v[i]) - p->force[i], 2);
    double noise = noise_of(p->noise, squares, p->count, p->columns, largest_of(p->count, p->force));
    od_law_target t = od_law_target_points(p->count, p->v, p->force, p->weight);
    od_identifiability *id = NULL;
    status = od_law_information(&t, p->columns, p->number, &f->law, noise, &id, err);
    if (id) set_sigmas(f, p->columns, p->number, id);
    od_identifiability_free(id);
  }
  od_point_groups_free(group);
  return status;
}

// --- Parts of the run ---------------------------------------------------------------------------------------------

// The inverse of J'J for columns of length 1, in place; false: singular.
static bool invert(int n, double *a) {
  if (LAPACKE_dpotrf(LAPACK_COL_MAJOR, 'U', n, a, n) != 0) return false;
  if (LAPACKE_dpotri(LAPACK_COL_MAJOR, 'U', n, a, n) != 0) return false;
  for (int i = 0; i < n; i++)
    for (int k = 0; k < i; k++) a[k * n + i] = a[i * n + k];
  return true;
}

// An estimate is a weighted sum of the samples, with weights (J'J)^-1 J'. The squares of the weights, part by part, are how much of
// its variance, and so of what is known about it, comes from there.
static bool find_shares(od_friction_fitted *f, int n, const int *number, const double *J, int rows, int first) {
  size_t columns = (size_t)n;
  double *length = calloc(columns + 1, sizeof *length), *a = calloc(columns * columns + 1, sizeof *a);
  bool ok = length && a;
  for (size_t i = 0; ok && i < (size_t)rows; i++)
    for (size_t k = 0; k < columns; k++) length[k] += J[i * columns + k] * J[i * columns + k];
  for (size_t k = 0; ok && k < columns; k++) length[k] = sqrt(length[k]);
  for (size_t i = 0; ok && i < (size_t)rows; i++)
    for (size_t k = 0; k < columns; k++)
      for (size_t l = 0; l < columns; l++)
        a[k * columns + l] += J[i * columns + k] / length[k] * (J[i * columns + l] / length[l]);
  ok = ok && invert(n, a);
  for (size_t k = 0; ok && k < columns; k++) {
    size_t place = (size_t)place_of(f, number[k]), all = (size_t)f->parameters;
    double sum = 0;
    for (size_t i = 0; i < (size_t)rows; i++) {
      double weight = 0;
      for (size_t l = 0; l < columns; l++) weight += a[k * columns + l] * (J[i * columns + l] / length[l]);
      sum += weight * weight;
      f->share[(size_t)f->data->part[(size_t)first + i] * all + place] += weight * weight;
    }
    for (int part = 0; part < f->data->parts; part++) f->share[(size_t)part * all + place] /= sum;
  }
  free(length), free(a);
  return ok;
}

// Numbers that the run tells, of those given.
static int told(const od_friction_fitted *f, int columns, const int *number, int *out) {
  int count = 0;
  for (int k = 0; k < columns; k++)
    if (isfinite(f->parameter[place_of(f, number[k])].sigma)) out[count++] = number[k];
  return count;
}

static od_status judge_run(od_friction_fitted *f, int columns, const int *number, od_error *err) {
  const od_friction_data *d = f->data;
  od_run_model *m = NULL;
  od_law_target t = {0};
  od_identifiability *id = NULL;
  int known[OD_MOST_LAW_NUMBERS];
  double *force = calloc((size_t)d->samples + 1, sizeof *force);
  double *J = calloc((size_t)d->samples * (size_t)columns + 1, sizeof *J);
  f->share = calloc((size_t)d->parts * (size_t)f->parameters + 1, sizeof *f->share);
  od_status status = force && J && f->share ? od_run_model_between(d->samples, d->t, d->v, f->plan->substeps, &m)
                                            : OD_NO_MEMORY;
  if (status == OD_OK && !od_law_target_run(d, m, f->plan->log.skip, INFINITY, columns, &t)) status = OD_NO_MEMORY;
  if (status != OD_OK) od_fail(err, status, "%s", od_status_text(status));
  double noise = noise_of(d->noise, f->squares, f->rows, columns, largest_of(d->samples, d->force));
  if (status == OD_OK) status = od_law_information(&t, columns, number, &f->law, noise, &id, err);
  if (id) {
    set_sigmas(f, columns, number, id);
    int count = told(f, columns, number, known);
    status = count > 0 ? t.evaluate(&t, &f->law, count, known, force, J) : OD_OK;
    if (status == OD_OK && count > 0) find_shares(f, count, known, J, t.rows, t.first);
  }
  od_identifiability_free(id);
  od_law_target_free(&t);
  od_run_model_free(m);
  free(force), free(J);
  return status;
}

// --- Verdict ------------------------------------------------------------------------------------------------------

// "n, n_negative and vs"
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

// What the run did not do, where that is why it tells too little.
static void advise(const od_friction_fitted *f, char *text, size_t size) {
  const od_friction_data *d = f->data;
  const od_friction_law *law = f->law.law;
  bool run = f->plan->method != OD_FRICTION_STEADY;
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
    end = p[OD_FAMILY_VS] * exp(p[OD_FAMILY_END]);
    const char *way = side ? "negative" : "positive";
    if (fastest[side] < end)
      snprintf(text, size, " In the %s direction it reaches %.3g m/s, and the film is complete from %.3g m/s on.", way,
               fastest[side], end);
    else if (slowest[side] > p[OD_FAMILY_VS])
      snprintf(text, size, " In the %s direction it is never slower than %.3g m/s; the Stribeck speed is %.3g m/s.", way,
               slowest[side], p[OD_FAMILY_VS]);
  }
}

static bool remark(od_friction_fitted *f) {
  const od_friction_plan *plan = f->plan;
  od_verdict *v = &f->verdict;
  char list[600], advice[300];
  bool ok = true, run = plan->method == OD_FRICTION_COMPLETE || plan->method == OD_FRICTION_DYNAMIC;
  list_known(f, OD_PARAMETER_UNKNOWN, list, sizeof list);
  advise(f, advice, sizeof advice);
  if (*list)
    ok = od_verdict_add(v, OD_DOUBTFUL, "parameters.unknown", "Not told:",
                        "the data do not tell %s: the values shown are not estimates. The others hold.%s", list, advice);
  list_known(f, OD_PARAMETER_WEAK, list, sizeof list);
  if (*list)
    ok = od_verdict_add(v, OD_SOUND, "parameters.weak", "Weak:",
                        "%s can be off by more than a tenth: what noise hides of them is as large.%s", list, advice) && ok;
  if (!f->converged)
    ok = od_verdict_add(v, OD_DOUBTFUL, "search.stuck", "No minimum:", "the search did not end at a minimum.") && ok;
  if (run && !f->accepted)
    ok = od_verdict_add(v, OD_DOUBTFUL, "residual.large", "Not explained:",
                        "after %d searches residuals are still %.3g N (root mean square), more than the %.3g N that are "
                        "accepted and noise of %.3g N explain. The law may be another one, or this a local minimum.",
                        f->searches, f->rms, plan->accept, f->data->noise) && ok;
  return ok;
}

od_status od_friction_judge(od_friction_fitted *f, od_error *err) {
  const od_friction_plan *plan = f->plan;
  int number[OD_MOST_LAW_NUMBERS];
  od_status status = OD_OK;
  // Numbers that no stage of a method saw are not told by it.
  for (int i = 0; i < f->parameters; i++) f->parameter[i].sigma = INFINITY, f->parameter[i].known = OD_PARAMETER_UNKNOWN;
  if (plan->method == OD_FRICTION_COMPLETE)
    status = judge_run(f, plan->parameters, plan->parameter, err);
  else
    status = judge_points(f, err);
  int columns = od_friction_select(plan, 2, number);
  if (status == OD_OK && plan->method > OD_FRICTION_COMPLETE && columns > 0) status = judge_run(f, columns, number, err);
  if (status == OD_OK && !remark(f)) status = od_fail(err, OD_NO_MEMORY, "memory ran out");
  return status;
}

// --- Bounds -------------------------------------------------------------------------------------------------------

static od_status bound_of(const od_friction_plan *plan, const od_law_target *t, int columns, const int *number,
                          const od_law_numbers *truth, double noise, double *bound, od_error *err) {
  od_identifiability *id = NULL;
  if (!(noise > 0)) return OD_OK;
  od_status status = od_law_information(t, columns, number, truth, noise, &id, err);
  for (int k = 0; id && k < columns; k++)
    for (int i = 0; i < plan->parameters; i++)
      if (plan->parameter[i] == number[k]) bound[i] = id->sigma[k];
  od_identifiability_free(id);
  return status;
}

od_status od_friction_bounds(const od_friction_plan *plan, const od_friction_data *d, double *bound, od_error *err) {
  od_law_numbers truth;
  od_status status = OD_OK;
  for (int i = 0; i < plan->parameters; i++) bound[i] = NAN;
  if (!od_friction_truth(plan, &truth)) return OD_OK;
  if (plan->method == OD_FRICTION_STEADY) {
    od_point_group group[2];
    int groups = od_point_groups(plan, &d->points, group);
    for (int g = 0; g < groups && status == OD_OK; g++) {
      const od_point_group *p = &group[g];
      od_law_target t = od_law_target_points(p->count, p->v, p->force, p->weight);
      if (p->count > 0 && p->columns > 0)
        status = bound_of(plan, &t, p->columns, p->number, &truth, p->noise, bound, err);
    }
    od_point_groups_free(group);
  } else if (plan->method == OD_FRICTION_COMPLETE) {
    od_run_model *m = NULL;
    od_law_target t = {0};
    status = od_run_model_between(d->samples, d->t, d->v, plan->substeps, &m);
    if (status == OD_OK && !od_law_target_run(d, m, plan->log.skip, INFINITY, plan->parameters, &t)) status = OD_NO_MEMORY;
    if (status == OD_OK)
      status = bound_of(plan, &t, plan->parameters, plan->parameter, &truth, d->noise, bound, err);
    od_law_target_free(&t);
    od_run_model_free(m);
  }
  return status;
}
