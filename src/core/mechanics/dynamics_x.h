// The residual of the equations of motion, g = R' (M z'' - Q): the missing generalized force in each independent coordinate for the
// motion (z_ind, z_ind', z_ind''). The loops are closed for positions, velocities and accelerations.

// Computes, for every link, the force that its motion requires, F = I A + V x* (I V), minus the forces that are applied
// to the link.
static void link_forces(const od_model *m, od_x *w) {
  const od_layout *l = &m->layout;
  for (int i = 1; i < m->links; i++) {
    od_x *F = w + l->F + NV * i;
    if (m->link[i].body < 0) {
      for (int k = 0; k < NV; k++) F[k] = 0;
      continue;
    }
    const od_x *I = w + l->ground_inertia + NI * i, *V = w + l->V + NV * i;
    od_x p[NV], gyro[NV];
    momentum(I, V, p);
    force_cross(V, p, gyro);
    momentum(I, w + l->A + NV * i, F);
    for (int k = 0; k < NV; k++) F[k] += gyro[k];
  }
  for (int i = 0; i < m->actuators; i++) apply_actuator(m, w, i);
  for (int i = 0; i < od_model_loads(m); i++) apply_load(m, w, i);
}

// Computes tau: the component of the accumulated forces along each joint coordinate, minus the forces in the joint.
static void joint_forces(const od_model *m, od_x *w) {
  const od_layout *l = &m->layout;
  od_x *tau = w + l->tau;
  for (int i = 1; i < m->links; i++)
    if (m->link[i].coordinate >= 0) tau[m->link[i].coordinate] = along(w + l->S + NV * i, w + l->F + NV * i);
  for (int i = 0; i < m->actuators; i++)
    if (m->actuator[i].coordinate >= 0) tau[m->actuator[i].coordinate] -= w[l->force + i];
  for (int i = 0; i < od_model_loads(m); i++)
    if (m->load[i].kind == OD_LOAD_JOINT) tau[m->load[i].coordinate] -= load_size(m, w, i);
}

// Computes curl: the part of z'' of the dependent coordinates that is due to velocities.
static void dependent_curl(const od_model *m, const int *in, od_x *w) {
  const od_layout *l = &m->layout;
  od_x *rows = w + l->scratch + m->coordinates, *curl = w + l->curl;
  if (od_partition_rank(m) == 0) return;
  closure_second_rate(m, w, l->bias, rows);
  gather_rows(m, in, rows, curl);
  solve_closure(m, in, w, curl);
}

// Computes accelerations for given z'' of the independent coordinates. The dependent accelerations are R z_ind'' plus
// the part from dependent_curl().
static void X(accelerate)(const od_model *m, const int *in, od_x *w, const od_x *zdd) {
  const od_layout *l = &m->layout;
  spread(m, in, w, zdd, w + l->zdd);
  for (int i = 0; i < od_partition_rank(m); i++) w[l->zdd + in[l->dependent + i]] += w[l->curl + i];
  accelerations(m, w);
}

// Predicts the dependent coordinates for new independent coordinates z, to second order along the motion: R dz + 1/2 curl dt^2.
// curl is the acceleration due to velocities, and dt the time in which the motion covers dz.
static void predict_dependent(const od_model *m, const int *in, od_x *w, const od_x *z) {
  const od_layout *l = &m->layout;
  int free = m->freedom;
  od_x *now = w + l->z;
  double along_motion = 0, speed = 0;
  for (int k = 0; k < free; k++) {
    int j = in[l->independent + k];
    along_motion += RE(z[k] - now[j]) * RE(w[l->zd + j]);
    speed += RE(w[l->zd + j]) * RE(w[l->zd + j]);
  }
  double time = speed > 1e-12 ? along_motion / speed : 0;
  for (int i = 0; i < od_partition_rank(m); i++) {
    od_x step = time * time / 2 * w[l->curl + i];
    for (int k = 0; k < free; k++) step += w[l->R + i * free + k] * (z[k] - now[in[l->independent + k]]);
    now[in[l->dependent + i]] += step;
  }
  for (int k = 0; k < free; k++) now[in[l->independent + k]] = z[k];
}

// Moves to new independent coordinates and closes the loops. Changes are usually small. A large change (a state set by the caller)
// is divided into at most 100 stages, to keep the dependent coordinates on their branch. Fails with OD_NOT_CONVERGED, OD_NOT_FINITE or OD_SINGULAR.
static od_status move_to(const od_model *m, const int *in, od_x *w, const od_x *z) {
  const od_layout *l = &m->layout;
  int free = m->freedom, most = 100;
  double farthest = 0;
  for (int k = 0; k < free; k++) {
    int j = in[l->independent + k];
    double way = fabs(RE(z[k]) - RE(w[l->z + j])) / od_model_coordinate_unit(m, j);
    if (way > farthest) farthest = way;
  }
  if (!(farthest > 0.3) || od_partition_rank(m) == 0) {
    predict_dependent(m, in, w, z);
    return close_loops(m, in, w);
  }
  if (!isfinite(farthest)) return OD_NOT_FINITE;
  int stages = farthest < 0.2 * most ? (int)(farthest / 0.2) + 1 : most;
  od_x *start = w + l->tau, *target = w + l->zdd;  // scratch: tau and zdd are computed again after the move
  for (int k = 0; k < free; k++) start[k] = w[l->z + in[l->independent + k]];
  od_status status = OD_OK;
  for (int stage = 1; stage <= stages && status == OD_OK; stage++) {
    for (int k = 0; k < free; k++) target[k] = start[k] + (z[k] - start[k]) * stage / stages;
    predict_dependent(m, in, w, target);
    status = close_loops(m, in, w);
    if (status == OD_OK) velocity_map(m, in, w);
    // The prediction from velocities is valid for the first stage only.
    for (int i = 0; i < od_partition_rank(m); i++) w[l->curl + i] = 0;
  }
  return status;
}

// Computes the motion of all links at (z, z', z'') of the independent coordinates, with closed loops. The dependent coordinates
// in w are the starting point of the position problem. If the partition has been used before, R in w predicts the dependent
// coordinates.
static od_status X(motion)(const od_model *m, const int *in, od_x *w, const od_x *z, const od_x *zd, const od_x *zdd) {
  const od_layout *l = &m->layout;
  od_status status = move_to(m, in, w, z);
  if (status != OD_OK) return status;
  inertias(m, w);
  velocity_map(m, in, w);
  spread(m, in, w, zd, w + l->zd);
  velocities(m, w);
  dependent_curl(m, in, w);
  X(accelerate)(m, in, w, zdd);
  actuator_motion(m, w);
  return OD_OK;
}

// Computes g for the last motion. w must contain the inputs u and the actuator forces. Returns OD_NOT_FINITE if an entry of g is
// not finite.
static od_status X(residual)(const od_model *m, const int *in, od_x *w, od_x *g) {
  const od_layout *l = &m->layout;
  link_forces(m, w);
  accumulate(m, w + l->F);
  joint_forces(m, w);
  gather(m, in, w, w + l->tau, g);
  // The accumulated force of the ground is not used. It is set to zero so that it does not grow.
  for (int k = 0; k < NV; k++) w[l->F + k] = 0;
  for (int k = 0; k < m->freedom; k++)
    if (!isfinite(RE(g[k]))) return OD_NOT_FINITE;
  return OD_OK;
}
