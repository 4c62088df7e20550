// Driven laws node by node: laws outside the LuGre family, and laws whose factor or load follows a signal.
#include "friction/drive_nodes_x.h"

static void put_motion(void *to, int sample, double force, double bristle, double film) {
  const od_friction_motion *out = to;
  if (out->force) out->force[sample] = force;
  if (out->bristle) out->bristle[sample] = bristle;
  if (out->film) out->film[sample] = film;
}

od_status od_friction_drive_nodes(const od_friction_law *law, const double *q, bool two_sided,
                                  const od_friction_grid *grid, const od_friction_start *start,
                                  const od_friction_motion *out) {
  nodes_r n = {.law = law, .q = q, .two_sided = two_sided, .grid = grid, .start = start};
  od_friction_motion to = *out;
  return go_through_r(&n, put_motion, &to);
}
