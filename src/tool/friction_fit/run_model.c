#include "friction_fit/run_model.h"

#include "base/allocate.h"

od_status od_run_model_new(int count, const double *t, const double *v, int every, od_run_model **out) {
  od_run_model *m = *out = od_calloc(1, sizeof *m);
  if (!m) return OD_NO_MEMORY;
  m->samples = (count - 1) / every + 1;
  void *memory = od_arena_take(&m->arena, od_friction_grid_size(count) + 1);
  m->work = OD_TAKE(&m->arena, double, od_friction_slopes_work(OD_MOST_DRIVE_COLUMNS));
  od_status status = od_arena_status(&m->arena);
  if (status == OD_OK) status = od_friction_grid_make(&m->grid, memory, count, t, v);
  int *sample = status == OD_OK ? OD_TAKE(&m->arena, int, m->grid.nodes) : NULL;
  if (!sample) {
    od_run_model_free(m);
    *out = NULL;
    return status == OD_OK ? OD_NO_MEMORY : status;
  }
  // The grid treats each given node as a sample, but only some nodes are samples.
  for (int i = 0; i < m->grid.nodes; i++) {
    int k = m->grid.sample[i];
    sample[i] = k >= 0 && k % every == 0 ? k / every : -1;
  }
  m->grid.sample = sample;
  m->grid.samples = m->samples;
  return OD_OK;
}

od_status od_run_model_between(int samples, const double *t, const double *v, int substeps, od_run_model **out) {
  if (substeps == 1) return od_run_model_new(samples, t, v, 1, out);
  OD_SCRATCH(scratch);
  int count = (samples - 1) * substeps + 1;
  double *fine = OD_TAKE(&scratch, double, 2LL * count);
  if (!fine) return OD_NO_MEMORY;
  for (int i = 0; i < count; i++) {
    int k = i / substeps;
    double part = (double)(i % substeps) / substeps;
    fine[i] = i % substeps ? t[k] + part * (t[k + 1] - t[k]) : t[k];
    fine[count + i] = i % substeps ? v[k] + part * (v[k + 1] - v[k]) : v[k];
  }
  return od_run_model_new(count, fine, fine + count, substeps, out);
}

void od_run_model_free(od_run_model *m) {
  if (!m) return;
  od_arena_free(&m->arena);
  od_free(m);
}

// Prepares a run from rest, with the factor at each sample if the factor depends on pressures or on the position. Fails with
// OD_NO_MEMORY.
static od_status find_start(const od_run_model *m, const od_law_numbers *n, od_arena *scratch,
                            od_friction_start *start) {
  const double *by = n->q + OD_PER_P1;
  bool by_pressure = m->pressure[0] && (by[0] != 0 || by[1] != 0), by_position = m->position && n->positions > 0;
  *start = (od_friction_start){.signal = 1};
  if (!by_pressure && !by_position) return OD_OK;
  double *factor = OD_TAKE(scratch, double, m->samples);
  if (!factor) return OD_NO_MEMORY;
  for (int i = 0; i < m->samples; i++) {
    factor[i] = by_position ? od_position_factor(n, m->position[i]) : 1;
    if (by_pressure) factor[i] += by[0] * m->pressure[0][i] + by[1] * m->pressure[1][i];
  }
  start->signals = factor;
  return OD_OK;
}

od_status od_run_model_force(const od_run_model *m, const od_law_numbers *n, double *force) {
  OD_SCRATCH(scratch);
  od_friction_start start;
  od_status status = find_start(m, n, &scratch, &start);
  if (status != OD_OK) return status;
  return od_friction_drive(n->law, n->q, n->two_sided, &m->grid, &start, &(od_friction_motion){.force = force});
}

// Returns the derivative of the factor with respect to a number of the factor, at each sample. The derivative is a
// pressure or the weight of a position. NULL: the factor does not depend on the number. `room` has an entry per sample.
static const double *factor_slope(const od_run_model *m, const od_law_numbers *n, int number, double *room) {
  if (od_is_per_pressure(number)) return m->pressure[number - OD_PER_P1];
  if (!m->position || number - OD_FACTOR_X1 >= n->positions) return NULL;
  for (int i = 0; i < m->samples; i++) room[i] = od_position_weight(n, number - OD_FACTOR_X1, m->position[i]);
  return room;
}

od_status od_run_model_slopes(const od_run_model *m, const od_law_numbers *n, int columns, const int *number,
                              double *force, double *slopes) {
  OD_SCRATCH(scratch);
  od_friction_start start;
  int own[OD_MOST_DRIVE_COLUMNS] = {0}, count = 0;
  if (columns > OD_MOST_DRIVE_COLUMNS) return OD_BAD_ARGUMENT;
  for (int k = 0; k < columns; k++)
    if (!od_is_of_factor(number[k])) own[count++] = number[k];
  od_status status = find_start(m, n, &scratch, &start);
  if (status == OD_OK)
    status = od_friction_drive_slopes(n->law, n->q, n->two_sided, &m->grid, &start, count, own, m->work, force, slopes);
  if (status != OD_OK || count == columns) return status;
  // Moves the columns of the law's own numbers to their positions among all columns.
  for (size_t i = (size_t)m->samples; i-- > 0;) {
    double row[OD_MOST_DRIVE_COLUMNS] = {0};
    for (int k = 0; k < count; k++) row[k] = slopes[i * (size_t)count + (size_t)k];
    for (int k = 0, at = 0; k < columns; k++)
      slopes[i * (size_t)columns + (size_t)k] = od_is_of_factor(number[k]) ? 0 : row[at++];
  }
  // Computes the columns of the factor's numbers: the derivative of the force along the derivative of the factor at all
  // samples.
  double *room = OD_TAKE(&scratch, double, m->samples);
  if (!room) return OD_NO_MEMORY;
  for (int k = 0; k < columns && status == OD_OK; k++) {
    const double *along = od_is_of_factor(number[k]) ? factor_slope(m, n, number[k], room) : NULL;
    if (along)
      status = od_friction_drive_along(n->law, n->q, n->two_sided, &m->grid, &start, along, columns, slopes + k);
  }
  return status;
}
