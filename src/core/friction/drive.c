// Driven friction laws in real and complex numbers. Laws outside the family are functions of the speed alone.
#include "friction/drive.h"

#include "friction/drive_both.h"

od_status od_friction_drive(const od_friction_law *law, const double *q, bool two_sided, const od_friction_grid *grid,
                            const od_friction_start *start, const od_friction_motion *out) {
  if (law->has_family) return drive_family_r(law, q, two_sided, grid, start, out->force, out->bristle, out->film);
  for (int i = 0; i < grid->nodes; i++) {
    int k = grid->sample[i];
    if (k < 0) continue;
    double force = law->steady_r(q, two_sided, grid->v[i]);
    if (out->force) out->force[k] = force;
    if (out->bristle) out->bristle[k] = 0;
    if (out->film) out->film[k] = 0;
    if (!isfinite(force)) return OD_NOT_FINITE;
  }
  return OD_OK;
}

od_status od_friction_drive_complex(const od_friction_law *law, const double _Complex *q, bool two_sided,
                                    const od_friction_grid *grid, const od_friction_start *start,
                                    double _Complex *force) {
  if (law->has_family) return drive_family_c(law, q, two_sided, grid, start, force, NULL, NULL);
  for (int i = 0; i < grid->nodes; i++)
    if (grid->sample[i] >= 0) force[grid->sample[i]] = law->steady_c(q, two_sided, grid->v[i]);
  return OD_OK;
}
