#include "friction_show/friction_steps.h"

#include <math.h>

#include "memory/scoped.h"

// Duration of the motion at the first speed, s, long enough for film and bristles to settle. At constant speed the steps of
// driven laws are exact for any duration.
static const double settling = 1e6;

typedef struct runs {
  double *t, *v, *force[2];
  void *memory;  // memory of the grid
  int count;     // number of nodes, two of them before the step
} runs;

static od_status compare_one(const od_set_law *law[2], const runs *r, double lag, double from, double to,
                             double *most) {
  od_friction_grid grid;
  const od_friction_start start = {.signal = 1};
  for (int i = 0; i < r->count; i++) r->v[i] = i < 2 ? from : lag > 0 ? to + (from - to) * exp(-r->t[i] / lag) : to;
  od_status status = od_friction_grid_make(&grid, r->memory, r->count, r->t, r->v);
  for (int k = 0; k < 2 && status == OD_OK; k++)
    status = od_friction_drive(law[k]->law, law[k]->q, law[k]->two_sided, &grid, &start,
                               &(od_friction_motion){.force = r->force[k]});
  *most = 0;
  for (int i = 1; i < r->count && status == OD_OK; i++) *most = fmax(*most, fabs(r->force[0][i] - r->force[1][i]));
  return status;
}

od_status od_friction_steps_compare(const od_set_law *a, const od_set_law *b, double largest, double lag, double time,
                                    double step, od_friction_steps *out) {
  OD_SCRATCH(scratch);
  const od_set_law *law[2] = {a, b};
  runs r = {.count = (int)ceil(time / step) + 2};
  double *all = OD_TAKE(&scratch, double, 4LL * r.count);
  r.memory = od_arena_take(&scratch, od_friction_grid_size(r.count));
  if (od_arena_status(&scratch) != OD_OK) return OD_NO_MEMORY;
  r.t = all, r.v = r.t + r.count, r.force[0] = r.v + r.count, r.force[1] = r.force[0] + r.count;
  for (int i = 0; i < r.count; i++) r.t[i] = i == 0 ? -settling : (i - 1) * step;
  for (int i = 0; i < OD_STEP_SPEEDS; i++) out->speed[i] = largest * (i + 1) / OD_STEP_SPEEDS;
  out->from = out->to = 0;
  for (int to = 0; to < OD_STEP_SPEEDS; to++)
    for (int from = 0; from < OD_STEP_SPEEDS; from++) {
      double *at = &out->difference[to * OD_STEP_SPEEDS + from];
      od_status status = compare_one(law, &r, lag, out->speed[from], out->speed[to], at);
      if (status != OD_OK) return status;
      if (*at > out->difference[out->to * OD_STEP_SPEEDS + out->from]) out->from = from, out->to = to;
    }
  return OD_OK;
}
