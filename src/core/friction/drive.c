// Driven friction laws, batch after batch (drive_batch.h). Laws outside the family are functions of the speed alone.
#include "friction/drive_batch.h"

OD_WIDE static od_status drive_family(const od_friction_law *law, const drive_side_r side[2],
                                      const od_friction_grid *grid, const od_friction_start *start,
                                      const od_friction_motion *out) {
  double bristle = start->bristle, film = start->film;
  drive_batch b;
  b.paced[0] = b.paced[1] = b.paced_dt = 0;
  int first = 0;
  do {
    drive_batch_begin(&b, grid, first);
    const drive_side_r *s = &side[b.direction];
    batch_run(law, s, grid, bristle, film, &b);
    od_status status = put_batch(law, s, grid, &b, out);
    if (status != OD_OK) return status;
    bristle = b.bristle[b.steps], film = b.target[b.steps] + b.lag[b.steps];
    first += b.steps;
  } while (first + 1 < grid->nodes);
  return OD_OK;
}

od_status od_friction_drive(const od_friction_law *law, const double *q, bool two_sided, const od_friction_grid *grid,
                            const od_friction_start *start, const od_friction_motion *out) {
  if (law->has_family) {
    drive_side_r side[2];
    drive_sides_r(law, q, two_sided, start->signal, side);
    return drive_family(law, side, grid, start, out);
  }
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
