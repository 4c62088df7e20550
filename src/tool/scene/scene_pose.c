// Poses of bodies: at the initial coordinates of the model, and from outputs.
//
// The initial poses follow from the coordinates along the tree, without closing loops. Thus a machine that cannot be
// assembled also has poses. They correspond to the coordinates at which the assembly ended.
#include <math.h>
#include <string.h>

#include "machine/machine_parts.h"
#include "mechanics/mechanics.h"
#include "memory/scoped.h"
#include "scene/scene_parts.h"

double od_distance3(const double a[3], const double b[3]) {
  double d[3] = {b[0] - a[0], b[1] - a[1], b[2] - a[2]};
  return sqrt(od_dot3(d, d));
}

double od_unit3(double v[3]) {
  double size = sqrt(od_dot3(v, v));
  for (int k = 0; k < 3 && size > 0; k++) v[k] /= size;
  return size;
}

void od_across3(const double axis[3], double u[3], double v[3]) {
  int least = 0;
  for (int k = 1; k < 3; k++)
    if (fabs(axis[k]) < fabs(axis[least]) - 1e-9) least = k;
  double other[3] = {0};
  other[least] = 1;
  od_cross3(other, axis, u);
  od_unit3(u);
  od_cross3(axis, u, v);
}

bool od_scene_place(od_scene *s) {
  OD_SCRATCH(scratch);
  const od_model *m = s->m;
  const od_layout *l = &m->layout;
  const od_mechanics_real *mechanics = od_mechanics(m);
  s->pose = OD_TAKE(s->arena, double, OD_POSE_SIZE * m->bodies);
  double *w = OD_TAKE(&scratch, double, l->scalars_real + 1);
  if (!s->pose || !w) return false;
  memcpy(w + l->theta, m->theta, (size_t)m->numbers * sizeof *w);
  memcpy(w + l->chart, m->chart0, OD_CHART_SIZE * (size_t)m->charts * sizeof *w);
  mechanics->prepare(m, w);
  for (int i = 0; i < m->coordinates; i++) w[l->z + i] = isfinite(m->z0[i]) ? m->z0[i] : 0;
  mechanics->open_positions(m, w);
  for (int i = 0; i < m->bodies; i++)
    for (int k = 0; k < OD_POSE_SIZE; k++)
      s->pose[OD_POSE_SIZE * i + k] =
          mechanics->output(m, w, &(od_output){.kind = OD_OUT_BODY_POSE, .index = i, .component = k, .second = -1});
  return true;
}

void od_pose_apply(const double *pose, const double v[3], bool is_direction, double out[3]) {
  double own[3] = {v[0], v[1], v[2]};
  if (!pose) {
    memcpy(out, own, sizeof own);
    return;
  }
  const double *q = pose + OD_POSE_QUATERNION, *u = q + 1;
  double c[3], d[3];
  od_cross3(u, own, c);
  od_cross3(u, c, d);
  for (int k = 0; k < 3; k++) out[k] = own[k] + 2 * (q[0] * c[k] + d[k]) + (is_direction ? 0 : pose[k]);
}

const double *od_scene_pose_of(const od_scene *s, int body) {
  return body == OD_GROUND ? NULL : s->pose + OD_POSE_SIZE * body;
}

void od_scene_point_place(const od_scene *s, int point, double out[3]) {
  double at[3];
  od_point_place(s->m, point, at);
  od_pose_apply(od_scene_pose_of(s, s->m->point[point].body), at, false, out);
}

const double *od_scene_pose_at(const od_scene *s, int i, const double *value) {
  const od_scene_body *b = &s->body[i];
  if (b->index == OD_GROUND) return NULL;
  return value ? value + b->pose : od_scene_pose_of(s, b->index);
}
