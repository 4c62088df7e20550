// Effect of noise of a log's speed on the estimates. The noise acts on the force through the law: the noise moves bristles and film
// like real motion. This motion increases the standard deviations. Near zero speed the noise does not average out, and the
// estimates shift. Both effects are computed from several draws of additional noise with the same standard deviation. A change c of
// the predicted force has the same effect on the estimates as a change -c of the measured force.
#include <math.h>

#include "friction_fit/fit_stages.h"
#include "random/random.h"

enum { DRAWS = 16 };

// Creates a model of the run with additional noise in its speed and `substeps` steps between samples. The additional noise
// has the standard deviation of the measured noise and is smoothed in the same way. Fails with OD_NO_MEMORY.
static od_status noisy_run(const od_friction_data *d, uint64_t seed, int substeps, od_run_model **out) {
  OD_SCRATCH(scratch);
  uint32_t stream = od_random_stream("speed");
  od_friction_data noisy = *d;
  noisy.v = OD_TAKE(&scratch, double, d->samples);
  if (!noisy.v) return OD_NO_MEMORY;
  for (int i = 0; i < d->samples; i++)
    noisy.v[i] = d->speed_noise * od_random_gaussian(seed, stream, (uint64_t)i, OD_USE_NOISE);
  if (od_smooth(d->samples, d->smoothed, noisy.v) != OD_OK) return OD_NO_MEMORY;
  for (int i = 0; i < d->samples; i++) noisy.v[i] += d->v[i];
  return od_friction_data_model(&noisy, substeps, out);
}

double od_friction_speed_force(const od_friction_data *d, const od_run_model *m, const od_law_numbers *law) {
  if (!(d->speed_noise > 0) || d->samples == 0) return 0;
  OD_SCRATCH(scratch);
  OD_OWNED(od_run_model_free) od_run_model *noisy = NULL;
  double *force = OD_TAKE(&scratch, double, d->samples), *other = OD_TAKE(&scratch, double, d->samples), sum = 0;
  bool ok = force && other && noisy_run(d, DRAWS + 1, 1, &noisy) == OD_OK &&
            od_run_model_force(m, law, force) == OD_OK && od_run_model_force(noisy, law, other) == OD_OK;
  for (int i = 0; ok && i < d->samples; i++) sum += pow(other[i] - force[i], 2);
  return sqrt(sum / d->samples);
}

od_status od_friction_speed_errors(const od_friction_fitted *f, od_law_rows *rows, const double *influence, int columns,
                                   double *shift, double *spread, od_error *err) {
  const od_friction_data *d = f->data;
  double move[DRAWS][OD_MOST_DRIVE_COLUMNS] = {0};
  for (int k = 0; k < columns; k++) shift[k] = spread[k] = 0;
  if (!(d->speed_noise > 0) || rows->count <= columns) return OD_OK;
  OD_SCRATCH(scratch);
  double *force = OD_TAKE(&scratch, double, d->samples), *other = OD_TAKE(&scratch, double, d->samples);
  od_status status = od_arena_status(&scratch);
  if (status == OD_OK) status = od_run_model_force(rows->model, &f->law, force);
  for (int draw = 0; draw < DRAWS && status == OD_OK; draw++) {
    OD_OWNED(od_run_model_free) od_run_model *noisy = NULL;
    status = noisy_run(d, (uint64_t)draw + 1, f->plan->substeps, &noisy);
    if (status == OD_OK) status = od_run_model_force(noisy, &f->law, other);
    for (int i = 0; i < rows->count && status == OD_OK; i++) {
      double change = other[rows->first + i] - force[rows->first + i];
      for (int k = 0; k < columns; k++) move[draw][k] -= influence[(size_t)i * (size_t)columns + (size_t)k] * change;
    }
  }
  if (status != OD_OK) return od_fail(err, status, "%s", od_status_text(status));
  for (int k = 0; k < columns; k++) {
    double squares = 0;
    for (int draw = 0; draw < DRAWS; draw++) shift[k] += move[draw][k] / DRAWS;
    for (int draw = 0; draw < DRAWS; draw++) squares += pow(move[draw][k] - shift[k], 2);
    spread[k] = sqrt(squares / (DRAWS - 1));
  }
  return OD_OK;
}
