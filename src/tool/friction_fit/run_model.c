#include "friction_fit/run_model.h"

#include <stdlib.h>

static const od_friction_start from_rest = {.signal = 1};

od_status od_run_model_new(int count, const double *t, const double *v, int every, od_run_model **out) {
  od_run_model *m = calloc(1, sizeof *m);
  *out = NULL;
  if (!m) return OD_NO_MEMORY;
  m->samples = (count - 1) / every + 1;
  m->memory = malloc(od_friction_grid_size(count) + 1);
  m->work = malloc((od_friction_slopes_work(OD_MOST_DRIVE_COLUMNS) + 1) * sizeof *m->work);
  od_status status = m->memory && m->work ? od_friction_grid_make(&m->grid, m->memory, count, t, v) : OD_NO_MEMORY;
  if (status == OD_OK) m->sample = malloc((size_t)m->grid.nodes * sizeof *m->sample);
  if (status == OD_OK && !m->sample) status = OD_NO_MEMORY;
  if (status != OD_OK) {
    od_run_model_free(m);
    return status;
  }
  // The grid knows every node that was given as a sample; only some of them are.
  for (int i = 0; i < m->grid.nodes; i++) {
    int k = m->grid.sample[i];
    m->sample[i] = k >= 0 && k % every == 0 ? k / every : -1;
  }
  m->grid.sample = m->sample;
  m->grid.samples = m->samples;
  *out = m;
  return OD_OK;
}

od_status od_run_model_between(int samples, const double *t, const double *v, int substeps, od_run_model **out) {
  if (substeps == 1) return od_run_model_new(samples, t, v, 1, out);
  int count = (samples - 1) * substeps + 1;
  double *fine = calloc(2 * (size_t)count + 1, sizeof *fine);
  if (!fine) return OD_NO_MEMORY;
  for (int i = 0; i < count; i++) {
    int k = i / substeps;
    double part = (double)(i % substeps) / substeps;
    fine[i] = i % substeps ? t[k] + part * (t[k + 1] - t[k]) : t[k];
    fine[count + i] = i % substeps ? v[k] + part * (v[k + 1] - v[k]) : v[k];
  }
  od_status status = od_run_model_new(count, fine, fine + count, substeps, out);
  free(fine);
  return status;
}

void od_run_model_free(od_run_model *m) {
  if (!m) return;
  free(m->memory), free(m->sample), free(m->work);
  free(m);
}

od_status od_run_model_force(const od_run_model *m, const od_law_numbers *n, double *force) {
  return od_friction_drive(n->law, n->q, n->two_sided, &m->grid, &from_rest, &(od_friction_motion){.force = force});
}

od_status od_run_model_slopes(const od_run_model *m, const od_law_numbers *n, int columns, const int *number,
                              double *force, double *slopes) {
  return od_friction_drive_slopes(n->law, n->q, n->two_sided, &m->grid, &from_rest, columns, number, m->work, force,
                                  slopes);
}
