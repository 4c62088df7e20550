// Fit of a law to points of steady motion.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "friction_fit/fit_stages.h"

int od_friction_select(const od_friction_plan *plan, int which, int *number) {
  const od_friction_law *law = plan->start.law;
  int count = 0, base = law->sided + law->common;
  for (int i = 0; i < plan->parameters; i++) {
    int k = plan->parameter[i], side = od_is_of_factor(k)                        ? 2
                                       : k >= base                               ? 1
                                       : k < law->sided && plan->start.two_sided ? 0
                                                                                 : 2;
    if (side == which) number[count++] = k;
  }
  return count;
}

// Keeps the numbers on which the steady force depends at one or more of the speeds. Returns the number of kept numbers.
static int keep_steady(const od_law_numbers *n, int count, const double *v, int columns, int *number) {
  int kept = 0;
  for (int k = 0; k < columns; k++) {
    bool matters = false;
    for (int i = 0; i < count && !matters; i++) matters = od_law_steady_slope(n, v[i], number[k]) != 0;
    if (matters) number[kept++] = number[k];
  }
  return kept;
}

// Collects the points of one direction (side 0, 1) or all points (2). Weights are relative, so that residuals remain in
// newtons. Fails with OD_NO_MEMORY.
static od_status fill_group(const od_friction_plan *plan, const od_steady_points *p, int side, od_arena *arena,
                            od_point_group *g) {
  double *v = OD_TAKE(arena, double, p->count), *force = OD_TAKE(arena, double, p->count);
  double *weight = OD_TAKE(arena, double, p->count), sum = 0;
  bool known = p->count > 0;
  int count = 0;
  if (od_arena_status(arena) != OD_OK) return OD_NO_MEMORY;
  for (int i = 0; i < p->count; i++) {
    if (side < 2 && (p->v[i] < 0) != (side == 1)) continue;
    v[count] = p->v[i], force[count] = p->force[i], weight[count++] = p->sigma[i];
    known = known && p->sigma[i] > 0;
    sum += p->sigma[i];
  }
  g->noise = known && count > 0 ? sum / count : 0;
  for (int i = 0; i < count; i++) weight[i] = known ? g->noise / fmax(weight[i], 0.05 * g->noise) : 1;
  g->rows = (od_law_rows){.count = count, .v = v, .force = force, .weight = known ? weight : NULL};
  g->columns = od_friction_select(plan, side, g->number);
  g->columns = keep_steady(&plan->start, count, v, g->columns, g->number);
  return OD_OK;
}

int od_point_groups(const od_friction_plan *plan, const od_steady_points *p, od_arena *arena, od_point_group group[2]) {
  int number[OD_MOST_LAW_NUMBERS];
  int groups = od_friction_select(plan, 1, number) > 0 ? 2 : 1;
  memset(group, 0, 2 * sizeof *group);
  for (int g = 0; g < groups; g++)
    if (fill_group(plan, p, groups == 2 ? g : 2, arena, &group[g]) != OD_OK) return 0;
  return groups;
}

// --- Correlation of neighboring speeds ----------------------------------------------------------------------------

typedef struct speed_residual {
  double v, r;
} speed_residual;

static int by_speed(const void *a, const void *b) {
  double x = ((const speed_residual *)a)->v, y = ((const speed_residual *)b)->v;
  return (x > y) - (x < y);
}

// The test computes a ratio (von Neumann): half the mean square of the differences of neighboring residuals, divided by the mean
// square of the residuals. For n independent residuals, this ratio is 1 with a standard deviation of 1/sqrt(n). Residuals below a
// thousandth of the largest force are neglected. Directions are treated separately.
bool od_residuals_follow_speed(int count, const double *v, const double *force, const double *model) {
  enum { LEAST = 20 };
  double squares = 0, steps = 0, largest = 0;
  int pairs = 0;
  if (count < LEAST) return false;
  OD_SCRATCH(scratch);
  speed_residual *point = OD_TAKE(&scratch, speed_residual, count);
  if (!point) return false;
  for (int i = 0; i < count; i++) {
    point[i] = (speed_residual){v[i], force[i] - model[i]};
    squares += point[i].r * point[i].r;
    largest = fmax(largest, fabs(force[i]));
  }
  qsort(point, (size_t)count, sizeof *point, by_speed);
  for (int i = 1; i < count; i++) {
    if ((point[i].v < 0) != (point[i - 1].v < 0)) continue;
    steps += pow(point[i].r - point[i - 1].r, 2);
    pairs++;
  }
  bool matters = sqrt(squares / count) > 1e-3 * largest;
  return matters && pairs >= LEAST - 2 && steps / pairs / 2 < (1 - 4 / sqrt(pairs)) * squares / count;
}

// --- The fit -------------------------------------------------------------------------------------------------------

// Returns whether the residuals of a law are within the noise of the points. If the noise is not known, returns whether
// residuals at neighboring speeds are uncorrelated. Returns false if the search did not converge.
static bool explains(const od_friction_plan *plan, const od_point_group *g, const od_law_numbers *law,
                     const od_law_found *found) {
  int count = g->rows.count;
  if (!found->converged) return false;
  if (g->noise > 0)
    return found->squares / count <= pow(plan->accept, 2) + pow(g->noise, 2) * (1 + 4 * sqrt(2.0 / count));
  OD_SCRATCH(scratch);
  double *model = OD_TAKE(&scratch, double, count);
  for (int i = 0; model && i < count; i++) model[i] = od_law_steady(law, g->rows.v[i]);
  return !(model && od_residuals_follow_speed(count, g->rows.v, g->rows.force, model));
}

// Sets another start: a Stribeck speed within the range of the points, another exponent, and forces of the size of the measured
// forces.
static void begin_again(const od_friction_plan *plan, const od_point_group *g, int attempt, od_law_numbers *law) {
  static const double exponent[] = {0.7, 1, 1.4, 0.5};
  double slowest = INFINITY, fastest = 0, largest = 0, least = INFINITY;
  for (int i = 0; i < g->rows.count; i++) {
    double speed = fabs(g->rows.v[i]), force = fabs(g->rows.force[i]);
    if (speed == 0) continue;
    slowest = fmin(slowest, speed), fastest = fmax(fastest, speed);
    largest = fmax(largest, force), least = fmin(least, force);
  }
  if (!(fastest > 0)) return;
  double part = (attempt - 0.5) / plan->restarts;
  const struct {
    const char *key;
    double value;
  } start[] = {{"vs", slowest * pow(fastest / slowest, part)},
               {"n", exponent[attempt % 4]},
               {"Fs", largest},
               {"Fc", fmax(least, 1e-3 * largest)}};
  const od_friction_law *l = law->law;
  for (size_t k = 0; k < sizeof start / sizeof *start; k++) {
    int place = od_law_key(l, start[k].key);
    for (int c = 0; c < g->columns && place >= 0; c++)
      if (g->number[c] == place || g->number[c] == l->sided + l->common + place) law->q[g->number[c]] = start[k].value;
  }
}

// Fits a group of points from the start in the file. If the residuals are not accepted (explains()), fits from up to plan->restarts
// further starts, until the residuals of a start are accepted. f->law becomes the law with the smallest sum of squared residuals.
// Fails with OD_BAD_INPUT, OD_IO, OD_DIVERGED, OD_INTERRUPTED, OD_NO_MEMORY, or a status of od_sim_step().
static od_status fit_group(od_friction_fitted *f, const od_friction_run_options *options, od_point_group *g,
                           od_error *err) {
  const od_friction_plan *plan = f->plan;
  od_law_numbers first = f->law;
  double least = INFINITY;
  bool done = false, converged = false;
  for (int k = 0; k <= plan->restarts && !done; k++) {
    od_law_numbers law = first;
    od_law_found found;
    if (k > 0) begin_again(plan, g, k, &law);
    od_status status = od_law_fit(&g->rows, plan, options, g->columns, g->number, &law, &found, err);
    od_friction_count(f, &found);
    // A start that cannot be evaluated does not end the loop over starts.
    if (status == OD_NOT_FINITE && (k < plan->restarts || isfinite(least))) status = OD_OK, found.squares = INFINITY;
    if (status != OD_OK && status != OD_NOT_CONVERGED) return status;
    if (found.squares < least) least = found.squares, f->law = law, converged = found.converged;
    done = isfinite(found.squares) && explains(plan, g, &law, &found);
    if (k > 0 && f->searches < k + 1) f->searches = k + 1;
  }
  if (!converged) f->converged = false;
  return OD_OK;
}

od_status od_friction_fit_points(od_friction_fitted *f, const od_friction_run_options *options, od_error *err) {
  OD_SCRATCH(scratch);
  od_point_group group[2];
  int groups = od_point_groups(f->plan, &f->data->points, &scratch, group);
  if (groups == 0) return od_fail(err, OD_NO_MEMORY, "out of memory");
  for (int g = 0; g < groups; g++) {
    if (group[g].rows.count == 0 || group[g].columns == 0) continue;
    od_status status = fit_group(f, options, &group[g], err);
    if (status != OD_OK) return status;
  }
  return OD_OK;
}
