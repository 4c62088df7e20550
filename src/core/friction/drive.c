// Driven friction laws: in batches (drive_batch.h) for laws of the LuGre family with constant parameters, else node by
// node (drive_nodes.c).
#include "friction/drive_batch.h"

// Computes the driven motion of a law of the LuGre family with constant parameters, batch by batch. side: the
// parameters of both directions. Returns OD_NOT_FINITE if a force is infinite or NaN.
OD_WIDE static od_status drive_family(const od_friction_law *law, const driven_direction_r side[2],
                                      const od_friction_grid *grid, const od_friction_start *start,
                                      const od_friction_motion *out) {
  double bristle = start->bristle, film = start->film;
  drive_batch b;
  b.paced[0] = b.paced[1] = b.paced_dt = 0;
  int first = 0;
  do {
    drive_batch_begin(&b, grid, first);
    const driven_direction_r *s = &side[b.direction];
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
  if (!law->has_family || start->signals) return od_friction_drive_nodes(law, q, two_sided, grid, start, out);
  driven_direction_r side[2];
  for (int i = 0; i < 2; i++) driven_direction_of_r(law, q, two_sided, i == 1, start->signal, &side[i]);
  return drive_family(law, side, grid, start, out);
}
