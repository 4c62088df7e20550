// Simulated measurements of a friction law: points of steady motion, a run, and their errors.
#define _DEFAULT_SOURCE  // M_PI
#include "friction_fit/friction_data.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "random/random.h"

// Far below any measured speed, but far above the transition speed of steady laws whose step is set sharp.
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

bool od_steady_points_room(od_steady_points *p, int count) {
  size_t size = (size_t)count + 1;
  p->v = calloc(size, sizeof *p->v), p->force = calloc(size, sizeof *p->v), p->sigma = calloc(size, sizeof *p->v);
  p->count = count;
  return p->v && p->force && p->sigma;
}

bool od_friction_data_room(od_friction_data *d, int samples, bool simulated) {
  size_t size = (size_t)samples + 1;
  d->samples = samples;
  d->t = calloc(size, sizeof *d->t), d->v = calloc(size, sizeof *d->t), d->force = calloc(size, sizeof *d->t);
  d->part = calloc(size, sizeof *d->part);
  if (simulated) d->clean = calloc(size, sizeof *d->clean);
  return d->t && d->v && d->force && d->part && (d->clean || !simulated);
}

void od_friction_data_clear_run(od_friction_data *d) {
  free(d->t), free(d->v), free(d->force), free(d->clean), free(d->position), free(d->part);
  free(d->pressure[0]), free(d->pressure[1]);
  d->pressure[0] = d->pressure[1] = NULL;
  d->t = d->v = d->force = d->clean = d->position = NULL;
  d->part = NULL;
  d->samples = 0;
}

void od_friction_data_free(od_friction_data *d) {
  if (!d) return;
  free(d->points.v), free(d->points.force), free(d->points.sigma);
  free(d->point_clean);
  od_friction_data_clear_run(d);
  free(d->run);
  if (!d->shares_motion) {
    od_true_run_free(d->motion);
    od_verdict_free(&d->of_truth);
  }
  free(d);
}

static bool copy_doubles(double **to, const double *from, int count) {
  if (!from) return true;
  free(*to);
  *to = malloc(((size_t)count + 1) * sizeof **to);
  if (*to) memcpy(*to, from, (size_t)count * sizeof **to);
  return *to != NULL;
}

od_status od_friction_data_copy(const od_friction_data *from, od_friction_data **out, od_error *err) {
  od_friction_data *d = calloc(1, sizeof *d);
  int points = from->points.count, samples = from->samples;
  bool ok = d && od_steady_points_room(&d->points, points) && od_friction_data_room(d, samples, from->clean != NULL);
  ok = ok && copy_doubles(&d->points.v, from->points.v, points) &&
       copy_doubles(&d->points.force, from->points.force, points) &&
       copy_doubles(&d->points.sigma, from->points.sigma, points) &&
       copy_doubles(&d->point_clean, from->point_clean, points) && copy_doubles(&d->t, from->t, samples) &&
       copy_doubles(&d->v, from->v, samples) && copy_doubles(&d->force, from->force, samples) &&
       copy_doubles(&d->clean, from->clean, samples) && copy_doubles(&d->position, from->position, samples) &&
       copy_doubles(&d->pressure[0], from->pressure[0], samples) &&
       copy_doubles(&d->pressure[1], from->pressure[1], samples);
  if (ok && from->run) {
    d->run = malloc(sizeof *d->run);
    ok = d->run != NULL;
    if (ok) *d->run = *from->run;
  }
  *out = NULL;
  if (!ok) {
    od_friction_data_free(d);
    return od_fail(err, OD_NO_MEMORY, "memory ran out");
  }
  if (samples > 0) memcpy(d->part, from->part, (size_t)samples * sizeof *d->part);
  d->parts = from->parts, d->noise = from->noise, d->speed_noise = from->speed_noise, d->smoothed = from->smoothed,
  d->budget = from->budget;
  d->motion = from->motion, d->of_truth = from->of_truth, d->shares_motion = true;
  *out = d;
  return OD_OK;
}

// --- Points -------------------------------------------------------------------------------------------------------

// The area under peak exp(-decay v) + floor from low to v.
static double area_to(const od_friction_points *p, double v) {
  double falling =
      p->decay > 0 ? p->peak * (exp(-p->decay * p->low) - exp(-p->decay * v)) / p->decay : p->peak * (v - p->low);
  return falling + p->floor * (v - p->low);
}

// The speed below which this fraction of the area lies, by bisection.
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

static bool place_points(const od_friction_plan *plan, od_friction_data *d) {
  const od_friction_points *p = &plan->points;
  int steps = p->step > 0 ? (int)floor((p->high - p->low) / p->step + 1e-9) : 0;
  if (!od_steady_points_room(&d->points, p->count > 0 ? 2 * p->count : steps + 1)) return false;
  d->point_clean = calloc((size_t)d->points.count + 1, sizeof *d->point_clean);
  if (!d->point_clean) return false;
  for (int i = 0; i < d->points.count; i++) {
    double v = p->low + i * p->step;
    if (p->count > 0) v = (i < p->count ? 1 : -1) * placed(p, (double)(i % p->count) / (p->count - 1));
    if (fabs(v) < 1e-9 * p->step) v = 0;
    d->points.v[i] = v;
    d->point_clean[i] = od_law_steady(&plan->truth, v);
  }
  return true;
}

// --- The run ------------------------------------------------------------------------------------------------------

// Values, times and frequencies of pieces, multiplied by random factors around 1. Signs and the order of the pieces do not
// change.
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
    return status;
  }
  int fine = (d->samples - 1) * substeps + 1;
  double *t = calloc(2 * (size_t)fine + 1, sizeof *t);
  if (!t) return OD_NO_MEMORY;
  for (int i = 0; i < fine; i++) t[i] = i * (d->run->step / substeps);
  od_velocity_run_sample(d->run, fine, t, t + fine, NULL);
  od_status status = od_run_model_new(fine, t, t + fine, substeps, out);
  free(t);
  return status;
}

static od_status simulate_run(const od_friction_plan *plan, uint64_t seed, od_friction_data *d, od_error *err) {
  od_run_model *m = NULL;
  od_status status = OD_NO_MEMORY;
  d->run = malloc(sizeof *d->run);
  if (d->run) *d->run = varied(plan, seed);
  if (d->run && od_friction_data_room(d, od_velocity_run_samples(d->run), true)) {
    for (int i = 0; i < d->samples; i++) d->t[i] = i * d->run->step;
    od_velocity_run_sample(d->run, d->samples, d->t, d->v, d->part);
    d->parts = d->run->pieces;
    d->position = calloc((size_t)d->samples + 1, sizeof *d->position);
    for (int i = 1; d->position && i < d->samples; i++)
      d->position[i] = d->position[i - 1] + (d->v[i] + d->v[i - 1]) / 2 * d->run->step;
    status = od_friction_data_model(d, plan->data_substeps, &m);
  }
  if (status == OD_OK) status = od_run_model_force(m, &plan->truth, d->clean);
  od_run_model_free(m);
  if (status == OD_OK) return OD_OK;
  return od_fail(err, status, "%s: the true law could not be simulated: %s", plan->path, od_status_text(status));
}

// --- Errors -------------------------------------------------------------------------------------------------------

// A parabola through three errors.
static double polynomial_error(const od_friction_error *e, const double at[3], double force) {
  double x = force / e->range, curve = (at[0] + at[2]) / 2 - at[1], slope = (at[2] - at[0]) / 2;
  return at[1] + slope * x + curve * x * x;
}

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
    if (e->kind == OD_ERROR_POLYNOMIAL) off = polynomial_error(e, at, clean[i]);
    force[i] = clean[i] + off;
  }
}

static void add_position(const od_friction_error *e, od_friction_data *d) {
  for (int i = 0; d->position && i < d->samples; i++)
    d->force[i] += ((d->v[i] > 0) - (d->v[i] < 0)) * e->size * sin(2 * M_PI * d->position[i] / e->length);
}

// The standard deviation of independent errors; 0 for other errors.
static double sigma_of(const od_friction_error *e) {
  return e->kind == OD_ERROR_NORMAL ? e->size : e->kind == OD_ERROR_UNIFORM ? e->size / sqrt(3) : 0;
}

// The sensor values of an experiment with the noise of a seed.
static od_status measure(const od_friction_plan *plan, uint64_t seed, od_friction_data *d, od_error *err) {
  od_table *table = NULL;
  od_status status = od_true_run_measure(d->motion, seed, &table, err);
  if (status != OD_OK) return status;
  od_friction_data_clear_run(d);
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
    if (plan->run_error.kind == OD_ERROR_POSITION) add_position(&plan->run_error, d);
    d->noise = sigma_of(&plan->run_error);
  }
  return OD_OK;
}

// Simulates the true machine of an experiment and checks its step size. Errors of a seed are added later.
static od_status simulate_experiment(const od_friction_plan *plan, uint64_t seed, od_going_on going,
                                     od_friction_data *d, od_error *err) {
  od_status status = od_true_run_new(plan->log.experiment, going, &d->motion, err);
  if (status == OD_OK) status = od_experiment_judge_step(plan->log.experiment, true, going, &d->of_truth, err);
  return status == OD_OK ? measure(plan, seed, d, err) : status;
}

od_status od_friction_data_make(const od_friction_plan *plan, uint64_t seed, od_going_on going, od_friction_data **out,
                                od_error *err) {
  od_friction_data *d = calloc(1, sizeof *d);
  od_status status = d ? OD_OK : od_fail(err, OD_NO_MEMORY, "memory ran out");
  *out = NULL;
  if (status == OD_OK && plan->points.given) {
    if (plan->points.log)
      status = od_points_log_read(plan, d, err);
    else if (!place_points(plan, d))
      status = od_fail(err, OD_NO_MEMORY, "memory ran out");
  }
  if (status == OD_OK && plan->has_run)
    status = plan->log.experiment ? simulate_experiment(plan, seed, going, d, err)
             : plan->log.file     ? od_friction_log_read(plan, d, err)
                                  : simulate_run(plan, seed, d, err);
  if (status == OD_OK)
    *out = d;
  else
    od_friction_data_free(d);
  return status;
}
