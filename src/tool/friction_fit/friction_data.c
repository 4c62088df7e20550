// Simulated measurements of a friction law: points of steady motion, a run, and their errors.
#define _DEFAULT_SOURCE  // M_PI
#include "friction_fit/friction_data.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/allocate.h"
#include "random/random.h"

// Speed, m/s, that replaces zero. This speed is far below any measured speed, but far above the transition speed of steady
// laws with a sharp step.
static const double least_speed = 3e-8;

static double moving(double v) {
  return v == 0 ? least_speed : v;
}

double od_law_steady(const od_law_numbers *n, double v) {
  return n->law->steady_r(n->q, n->two_sided, moving(v));
}

double od_law_steady_slope(const od_law_numbers *n, double v, int number) {
  static const double step = 1e-30;
  double _Complex q[OD_MOST_LAW_NUMBERS];
  int count = od_friction_law_numbers(n->law, n->two_sided);
  for (int i = 0; i < count; i++) q[i] = n->q[i];
  q[number] += __builtin_complex(0.0, step);
  return __imag__ n->law->steady_c(q, n->two_sided, moving(v)) / step;
}

// --- Memory -------------------------------------------------------------------------------------------------------

od_status od_friction_data_take_points(od_friction_data *d, int count) {
  d->points = (od_steady_points){.count = count,
                                 .v = OD_TAKE(&d->arena, double, count),
                                 .force = OD_TAKE(&d->arena, double, count),
                                 .sigma = OD_TAKE(&d->arena, double, count)};
  return od_arena_status(&d->arena);
}

od_status od_friction_data_take_run(od_friction_data *d, int samples, bool simulated) {
  od_arena *arena = &d->run_arena;
  od_arena_free(arena);
  d->pressure[0] = d->pressure[1] = d->position = d->clean = NULL;
  d->samples = samples;
  d->t = OD_TAKE(arena, double, samples), d->v = OD_TAKE(arena, double, samples);
  d->force = OD_TAKE(arena, double, samples), d->part = OD_TAKE(arena, int, samples);
  if (simulated) d->clean = OD_TAKE(arena, double, samples);
  return od_arena_status(arena);
}

void od_friction_data_free(od_friction_data *d) {
  if (!d) return;
  if (!d->shares_motion) {
    od_true_run_free(d->motion);
    od_verdict_free(&d->of_truth);
  }
  od_arena_free(&d->arena);
  od_arena_free(&d->run_arena);
  od_free(d);
}

static double *copy_doubles(od_arena *arena, const double *from, int count) {
  double *to = from ? OD_TAKE(arena, double, count) : NULL;
  if (to) memcpy(to, from, (size_t)count * sizeof *to);
  return to;
}

od_status od_friction_data_copy(const od_friction_data *from, od_friction_data **out, od_error *err) {
  od_friction_data *d = *out = od_calloc(1, sizeof *d);
  int points = from->points.count, samples = from->samples;
  if (!d) return od_fail(err, OD_NO_MEMORY, "out of memory");
  *d = *from;
  d->arena = d->run_arena = (od_arena){0};
  d->shares_motion = true;
  double **const of_points[] = {&d->points.v, &d->points.force, &d->points.sigma, &d->point_clean};
  double **const of_run[] = {&d->t, &d->v, &d->force, &d->clean, &d->position, &d->pressure[0], &d->pressure[1]};
  for (size_t i = 0; i < sizeof of_points / sizeof *of_points; i++)
    *of_points[i] = copy_doubles(&d->arena, *of_points[i], points);
  for (size_t i = 0; i < sizeof of_run / sizeof *of_run; i++)
    *of_run[i] = copy_doubles(&d->run_arena, *of_run[i], samples);
  d->part = OD_TAKE(&d->run_arena, int, samples);
  d->run = from->run ? OD_TAKE(&d->arena, od_velocity_run, 1) : NULL;
  if (od_arena_status(&d->arena) != OD_OK || od_arena_status(&d->run_arena) != OD_OK) {
    od_friction_data_free(d);
    *out = NULL;
    return od_fail(err, OD_NO_MEMORY, "out of memory");
  }
  if (samples > 0) memcpy(d->part, from->part, (size_t)samples * sizeof *d->part);
  if (from->run) *d->run = *from->run;
  return OD_OK;
}

// Smoothing reduces white noise to about sqrt(9 / (8 half + 4)) of its standard deviation and preserves slow variations. Fails
// with OD_NO_MEMORY.
od_status od_smooth(int count, int half, double *x) {
  if (half < 1 || count < 3) return OD_OK;
  OD_SCRATCH(scratch);
  double *from = OD_TAKE(&scratch, double, count);
  if (!from) return OD_NO_MEMORY;
  memcpy(from, x, (size_t)count * sizeof *from);
  for (int i = 0; i < count; i++) {
    // Near the ends, the window is narrower, so that the window remains symmetric.
    int m = half;
    if (i < m) m = i;
    if (count - 1 - i < m) m = count - 1 - i;
    double n = 2.0 * m + 1, squares = m * (m + 1.0) * n / 3, fourths = squares * (3.0 * m * (m + 1.0) - 1) / 5;
    double sum = 0, weighted = 0, below = n * fourths - squares * squares;
    for (int k = -m; k <= m; k++) sum += from[i + k], weighted += (double)k * k * from[i + k];
    x[i] = m > 1 ? (fourths * sum - squares * weighted) / below : from[i];
  }
  return OD_OK;
}

// --- Points -------------------------------------------------------------------------------------------------------

// Returns the area under peak exp(-decay v) + floor from low to v.
static double area_to(const od_friction_points *p, double v) {
  double falling =
      p->decay > 0 ? p->peak * (exp(-p->decay * p->low) - exp(-p->decay * v)) / p->decay : p->peak * (v - p->low);
  return falling + p->floor * (v - p->low);
}

// Returns the speed below which the fraction `part` of the area lies, by bisection.
static double placed(const od_friction_points *p, double part) {
  double low = p->low, high = p->high, wanted = part * area_to(p, p->high);
  if (part <= 0) return low;
  if (part >= 1) return high;
  for (int i = 0; i < 200 && high - low > 1e-15; i++) {
    double middle = (low + high) / 2;
    if (area_to(p, middle) < wanted)
      low = middle;
    else
      high = middle;
  }
  return (low + high) / 2;
}

static od_status place_points(const od_friction_plan *plan, od_friction_data *d) {
  const od_friction_points *p = &plan->points;
  int steps = p->step > 0 ? (int)floor((p->high - p->low) / p->step + 1e-9) : 0;
  int count = p->count > 0 ? 2 * p->count : steps + 1;
  d->point_clean = OD_TAKE(&d->arena, double, count);
  if (od_friction_data_take_points(d, count) != OD_OK) return OD_NO_MEMORY;
  for (int i = 0; i < d->points.count; i++) {
    double v = p->low + i * p->step;
    if (p->count > 0) v = (i < p->count ? 1 : -1) * placed(p, (double)(i % p->count) / (p->count - 1));
    if (fabs(v) < 1e-9 * p->step) v = 0;
    d->points.v[i] = v;
    d->point_clean[i] = od_law_steady(&plan->truth, v);
  }
  return OD_OK;
}

// --- The run ------------------------------------------------------------------------------------------------------

// Returns the run with the values and durations of its pieces multiplied by random factors around 1. Signs and the
// order of the pieces do not change.
static od_velocity_run varied(const od_friction_plan *plan, uint64_t seed) {
  od_velocity_run run = plan->run;
  uint32_t stream = od_random_stream("pieces");
  for (int i = 0; i < run.pieces && plan->vary > 0; i++) {
    od_velocity_piece *p = &run.piece[i];
    double u[2];
    for (uint64_t k = 0; k < 2; k++)
      u[k] = 1 + plan->vary * (2 * od_random_uniform(seed, stream, 2 * (uint64_t)i + k, OD_USE_START) - 1);
    p->value *= u[0];
    // A sine keeps its number of periods.
    if (p->shape == OD_VELOCITY_SINE) p->number /= u[1];
    p->time *= u[1];
  }
  return run;
}

od_status od_friction_data_model(const od_friction_data *d, int substeps, od_run_model **out) {
  if (!d->run || substeps == 1) {
    od_status status = od_run_model_between(d->samples, d->t, d->v, substeps, out);
    for (int i = 0; i < 2 && status == OD_OK; i++) (*out)->pressure[i] = d->pressure[i];
    if (status == OD_OK) (*out)->position = d->position;
    return status;
  }
  OD_SCRATCH(scratch);
  int fine = (d->samples - 1) * substeps + 1;
  double *t = OD_TAKE(&scratch, double, fine), *v = OD_TAKE(&scratch, double, fine);
  if (od_arena_status(&scratch) != OD_OK) return OD_NO_MEMORY;
  for (int i = 0; i < fine; i++) t[i] = i * (d->run->step / substeps);
  od_velocity_run_sample(d->run, fine, t, v, NULL);
  od_status status = od_run_model_new(fine, t, v, substeps, out);
  if (status == OD_OK) (*out)->position = d->position;
  return status;
}

// Simulates the true law over the run of the plan, without errors.
static od_status simulate_run(const od_friction_plan *plan, uint64_t seed, od_friction_data *d) {
  OD_OWNED(od_run_model_free) od_run_model *m = NULL;
  d->run = OD_TAKE(&d->arena, od_velocity_run, 1);
  if (!d->run) return OD_NO_MEMORY;
  *d->run = varied(plan, seed);
  if (od_friction_data_take_run(d, od_velocity_run_samples(d->run), true) != OD_OK) return OD_NO_MEMORY;
  d->position = OD_TAKE(&d->run_arena, double, d->samples);
  if (!d->position) return OD_NO_MEMORY;
  for (int i = 0; i < d->samples; i++) d->t[i] = i * d->run->step;
  od_velocity_run_sample(d->run, d->samples, d->t, d->v, d->part);
  d->parts = d->run->pieces;
  d->position[0] = plan->run_from;
  for (int i = 1; i < d->samples; i++) d->position[i] = d->position[i - 1] + (d->v[i] + d->v[i - 1]) / 2 * d->run->step;
  od_status status = od_friction_data_model(d, plan->data_substeps, &m);
  return status == OD_OK ? od_run_model_force(m, &plan->truth, d->clean) : status;
}

// --- Errors -------------------------------------------------------------------------------------------------------

static void add_errors(const od_friction_error *e, uint64_t seed, const char *name, int count, const double *clean,
                       double *force) {
  uint32_t stream = od_random_stream(name);
  double at[3];
  for (uint64_t k = 0; k < 3; k++) at[k] = e->size * (2 * od_random_uniform(seed, stream, k, OD_USE_DRIFT) - 1);
  for (int i = 0; i < count; i++) {
    uint64_t sample = (uint64_t)i;
    double off = 0;
    if (e->kind == OD_ERROR_NORMAL) off = e->size * od_random_gaussian(seed, stream, sample, OD_USE_NOISE);
    if (e->kind == OD_ERROR_UNIFORM) off = e->size * (2 * od_random_uniform(seed, stream, sample, OD_USE_NOISE) - 1);
    // The error is a parabola through the errors at -range, 0 and range.
    double x = clean[i] / e->range, curve = (at[0] + at[2]) / 2 - at[1], slope = (at[2] - at[0]) / 2;
    if (e->kind == OD_ERROR_POLYNOMIAL) off = at[1] + slope * x + curve * x * x;
    force[i] = clean[i] + off;
  }
}

// Returns the standard deviation of independent errors; 0 for other errors.
static double sigma_of(const od_friction_error *e) {
  return e->kind == OD_ERROR_NORMAL ? e->size : e->kind == OD_ERROR_UNIFORM ? e->size / sqrt(3) : 0;
}

// Computes the sensor values of an experiment with the noise of a seed. Fails with OD_BAD_INPUT, OD_NOT_AVAILABLE or
// OD_NO_MEMORY.
static od_status measure(const od_friction_plan *plan, uint64_t seed, od_friction_data *d, od_error *err) {
  od_table *table = NULL;
  od_status status = od_true_run_measure(d->motion, seed, &table, err);
  if (status != OD_OK) return status;
  status = od_friction_table_take(plan, table, plan->log.experiment->path, d, err);
  od_table_free(table);
  return status;
}

od_status od_friction_data_disturb(const od_friction_plan *plan, uint64_t seed, od_friction_data *d, od_error *err) {
  if (d->motion) return measure(plan, seed, d, err);
  if (d->point_clean) {
    add_errors(&plan->points.error, seed, "points", d->points.count, d->point_clean, d->points.force);
    for (int i = 0; i < d->points.count; i++) d->points.sigma[i] = sigma_of(&plan->points.error);
  }
  if (d->clean) {
    add_errors(&plan->run_error, seed, "run", d->samples, d->clean, d->force);
    const od_friction_error *e = &plan->run_error;
    for (int i = 0; e->kind == OD_ERROR_POSITION && d->position && i < d->samples; i++)
      d->force[i] += ((d->v[i] > 0) - (d->v[i] < 0)) * e->size * sin(2 * M_PI * d->position[i] / e->length);
    d->noise = sigma_of(&plan->run_error);
  }
  return OD_OK;
}

od_status od_friction_data_make(const od_friction_plan *plan, uint64_t seed, od_going_on going, od_friction_data **out,
                                od_error *err) {
  const od_experiment *e = plan->log.experiment;
  OD_OWNED(od_friction_data_free) od_friction_data *d = od_calloc(1, sizeof *d);
  od_status status = OD_OK;
  *out = NULL;
  if (!d) return od_fail(err, OD_NO_MEMORY, "out of memory");
  if (plan->points.given && plan->points.log) status = od_points_log_read(plan, d, err);
  if (plan->points.given && !plan->points.log && place_points(plan, d) != OD_OK)
    status = od_fail(err, OD_NO_MEMORY, "out of memory");
  if (status == OD_OK && plan->has_run && e) {
    // Simulates the true machine of an experiment, checks the step size, and adds the sensors' noise of the seed.
    status = od_true_run_new(e, going, &d->motion, err);
    if (status == OD_OK) status = od_experiment_judge_step(e, true, going, &d->of_truth, err);
    if (status == OD_OK) status = measure(plan, seed, d, err);
  } else if (status == OD_OK && plan->has_run && plan->log.file) {
    status = od_friction_log_read(plan, d, err);
  } else if (status == OD_OK && plan->has_run) {
    status = simulate_run(plan, seed, d);
    if (status != OD_OK)
      od_fail(err, status, "%s: the true law cannot be simulated: %s", plan->path, od_status_text(status));
  }
  if (status == OD_OK) *out = OD_GIVE(d);
  return status;
}
