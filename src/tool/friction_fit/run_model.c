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
  // The grid treats each given node as a sample; only some of them are.
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

// The pressure-dependent factor at each sample; NULL if the law does not depend on pressures. False: out of memory.
static bool find_signals(const od_run_model *m, const double by[2], double **out) {
  *out = NULL;
  if (!m->pressure[0] || (by[0] == 0 && by[1] == 0)) return true;
  *out = malloc(((size_t)m->samples + 1) * sizeof **out);
  for (int i = 0; *out && i < m->samples; i++) (*out)[i] = 1 + by[0] * m->pressure[0][i] + by[1] * m->pressure[1][i];
  return *out != NULL;
}

od_status od_run_model_force(const od_run_model *m, const od_law_numbers *n, double *force) {
  od_friction_start start = from_rest;
  double *signals;
  if (!find_signals(m, n->q + OD_PER_P1, &signals)) return OD_NO_MEMORY;
  start.signals = signals;
  od_status status =
      od_friction_drive(n->law, n->q, n->two_sided, &m->grid, &start, &(od_friction_motion){.force = force});
  free(signals);
  return status;
}

// Moves the columns of the law's own numbers to their final positions among all columns.
static void spread(size_t rows, int columns, const int *number, int own, double *slopes) {
  for (size_t i = rows; i-- > 0;) {
    double row[OD_MOST_DRIVE_COLUMNS] = {0};
    for (int k = 0; k < own; k++) row[k] = slopes[i * (size_t)own + (size_t)k];
    for (int k = 0, at = 0; k < columns; k++)
      slopes[i * (size_t)columns + (size_t)k] = od_is_per_pressure(number[k]) ? 0 : row[at++];
  }
}

// The derivative of the factor by a pressure coefficient is the pressure: these columns are derivatives along the pressures.
static od_status slopes_by_pressure(const od_run_model *m, const od_law_numbers *n, const od_friction_start *start,
                                    int columns, const int *number, double *slopes) {
  od_status status = OD_OK;
  for (int k = 0; k < columns && status == OD_OK && m->pressure[0]; k++)
    if (od_is_per_pressure(number[k]))
      status = od_friction_drive_along(n->law, n->q, n->two_sided, &m->grid, start, m->pressure[number[k] - OD_PER_P1],
                                       columns, slopes + k);
  return status;
}

od_status od_run_model_slopes(const od_run_model *m, const od_law_numbers *n, int columns, const int *number,
                              double *force, double *slopes) {
  od_friction_start start = from_rest;
  double *signals;
  int own[OD_MOST_DRIVE_COLUMNS] = {0}, count = 0;
  if (columns > OD_MOST_DRIVE_COLUMNS) return OD_BAD_ARGUMENT;
  for (int k = 0; k < columns; k++)
    if (!od_is_per_pressure(number[k])) own[count++] = number[k];
  if (!find_signals(m, n->q + OD_PER_P1, &signals)) return OD_NO_MEMORY;
  start.signals = signals;
  od_status status =
      od_friction_drive_slopes(n->law, n->q, n->two_sided, &m->grid, &start, count, own, m->work, force, slopes);
  if (status == OD_OK && count < columns) {
    spread((size_t)m->samples, columns, number, count, slopes);
    status = slopes_by_pressure(m, n, &start, columns, number, slopes);
  }
  free(signals);
  return status;
}
