// Noise of a log's speed. It is not noise of the force but acts through the law. From sample to sample it moves bristles and
// film like real motion, which makes estimates less certain. Near zero speed it does not average out, which shifts the
// estimates. Both effects are found by adding the same amount of noise again, several times: a change c of the predicted force
// changes estimates by -(J'J)^-1 J'c.
#include <lapacke.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "friction_fit/fit_stages.h"
#include "random/random.h"

enum { DRAWS = 16 };

// The speed with the same amount of noise added, smoothed in the same way.
static bool add_noise(const od_friction_data *d, uint64_t seed, double *v) {
  uint32_t stream = od_random_stream("speed");
  for (int i = 0; i < d->samples; i++)
    v[i] = d->speed_noise * od_random_gaussian(seed, stream, (uint64_t)i, OD_USE_NOISE);
  bool ok = od_smooth(d->samples, d->smoothed, v);
  for (int i = 0; i < d->samples; i++) v[i] += d->v[i];
  return ok;
}

// The changes of the predicted force, rows x DRAWS. False: out of memory.
static bool find_changes(const od_friction_fitted *f, const od_law_target *t, const double *force, double *change) {
  const od_friction_data *d = f->data;
  size_t n = (size_t)d->samples;
  double *v = malloc((n + 1) * sizeof *v), *other = malloc((n + 1) * sizeof *other);
  bool ok = v && other;
  for (int draw = 0; draw < DRAWS && ok; draw++) {
    od_friction_data noisy = *d;
    od_run_model *m = NULL;
    noisy.v = v;
    ok = add_noise(d, (uint64_t)draw + 1, v) && od_friction_data_model(&noisy, f->plan->substeps, &m) == OD_OK &&
         od_run_model_force(m, &f->law, other) == OD_OK;
    for (int i = 0; i < t->rows && ok; i++) change[i * DRAWS + draw] = other[t->first + i] - force[t->first + i];
    od_run_model_free(m);
  }
  free(v), free(other);
  return ok;
}

double od_friction_speed_force(const od_friction_data *d, const od_run_model *m, const od_law_numbers *law) {
  size_t n = (size_t)d->samples;
  if (!(d->speed_noise > 0)) return 0;
  double *v = malloc((n + 1) * sizeof *v), *force = malloc((2 * n + 1) * sizeof *force), sum = 0;
  od_friction_data noisy = *d;
  od_run_model *other = NULL;
  noisy.v = v;
  bool ok = v && force && add_noise(d, DRAWS + 1, v) && od_friction_data_model(&noisy, 1, &other) == OD_OK &&
            od_run_model_force(m, law, force) == OD_OK && od_run_model_force(other, law, force + n) == OD_OK;
  for (size_t i = 0; ok && i < n; i++) sum += pow(force[n + i] - force[i], 2);
  od_run_model_free(other);
  free(v), free(force);
  return ok && n > 0 ? sqrt(sum / (double)n) : 0;
}

// The mean of the changes of a parameter, and their standard deviation.
static void take_moves(const double *move, double *shift, double *spread) {
  double mean = 0, squares = 0;
  for (int i = 0; i < DRAWS; i++) mean -= move[i] / DRAWS;
  for (int i = 0; i < DRAWS; i++) squares += pow(-move[i] - mean, 2);
  *shift = mean;
  *spread = sqrt(squares / (DRAWS - 1));
}

od_status od_friction_speed_errors(const od_friction_fitted *f, int columns, const int *number, double *shift,
                                   double *spread, od_error *err) {
  const od_friction_data *d = f->data;
  size_t n = (size_t)d->samples;
  od_run_model *m = NULL;
  od_law_target t = {0};
  for (int k = 0; k < columns; k++) shift[k] = spread[k] = 0;
  if (!(d->speed_noise > 0) || columns == 0) return OD_OK;
  double *force = malloc((n + 1) * sizeof *force), *rows = malloc((n + 1) * sizeof *rows);
  double *J = malloc((n * (size_t)columns + 1) * sizeof *J), *change = malloc((n * DRAWS + 1) * sizeof *change);
  od_status status = force && rows && J && change ? od_friction_data_model(d, f->plan->substeps, &m) : OD_NO_MEMORY;
  if (status == OD_OK) status = od_run_model_force(m, &f->law, force);
  if (status == OD_OK && !od_law_target_run(d, m, f->plan->log.skip, INFINITY, columns, &t)) status = OD_NO_MEMORY;
  if (status == OD_OK && !find_changes(f, &t, force, change)) status = OD_NO_MEMORY;
  if (status == OD_OK) status = t.evaluate(&t, &f->law, columns, number, rows, J);
  if (status == OD_OK && t.rows > columns &&
      LAPACKE_dgels(LAPACK_ROW_MAJOR, 'N', t.rows, columns, DRAWS, J, columns, change, DRAWS) == 0)
    for (int k = 0; k < columns; k++) take_moves(change + k * DRAWS, &shift[k], &spread[k]);
  if (status != OD_OK) od_fail(err, status, "%s", od_status_text(status));
  od_law_target_free(&t);
  od_run_model_free(m);
  free(force), free(rows), free(change), free(J);
  return status;
}
