// The first step of the double-step semi-recursive formulation: kinematics of the open tree, from the ground outward. Computes
// positions and joint axes, then velocities and their contribution to accelerations, then accelerations.

#ifndef OD_PLANAR
// Computes out = A B for rotation matrices.
static inline void rotation_product(const od_x *A, const od_x *B, od_x *out) {
  od_x T[9];
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) T[3 * i + j] = A[3 * i] * B[j] + A[3 * i + 1] * B[3 + j] + A[3 * i + 2] * B[6 + j];
  for (int i = 0; i < 9; i++) out[i] = T[i];
}
// Computes the rotation matrix R about the unit axis a by the angle with cosine c and sine s (Rodrigues).
static inline void rotation_about(const od_x *a, od_x c, od_x s, od_x *R) {
  od_x t = 1 - c;
  R[0] = c + t * a[0] * a[0];
  R[4] = c + t * a[1] * a[1];
  R[8] = c + t * a[2] * a[2];
  R[1] = t * a[0] * a[1] - s * a[2];
  R[3] = t * a[0] * a[1] + s * a[2];
  R[2] = t * a[0] * a[2] + s * a[1];
  R[6] = t * a[0] * a[2] - s * a[1];
  R[5] = t * a[1] * a[2] - s * a[0];
  R[7] = t * a[1] * a[2] + s * a[0];
}

// Computes rotation R, position r and joint axis S of the link of a screw, which turns about its axis and moves along
// the axis by `lead` per turn.
static inline void screw_position(const od_x *axis, od_x lead, od_x angle, od_x *R, od_x *r, od_x *S) {
  od_x a[ND], T[NR], pitch = lead / 6.2831853071795864769;
  turn(R, axis, a);
  axis_motion(a, r, S);
  for (int k = 0; k < ND; k++) S[NA + k] += pitch * a[k], r[k] += pitch * angle * a[k];
  rotation_about(axis, od_x_cos(angle), od_x_sin(angle), T);
  rotation_product(R, T, R);
}
#endif

// Computes rotations, positions and joint axes S of all links from the coordinates z.
static void positions(const od_model *m, od_x *w) {
  const od_layout *l = &m->layout;
  const od_x *z = w + l->z;
  for (int i = 1; i < m->links; i++) {
    const od_link *link = &m->link[i];
    const od_x *axis = w + l->axis + ND * i, *Rp = w + l->rotation + NR * link->parent;
    od_x *R = w + l->rotation + NR * i, *r = w + l->position + ND * i, *S = w + l->S + NV * i;
    const od_x *rp = w + l->position + ND * link->parent;
    turn(Rp, w + l->offset + ND * i, r);
    for (int k = 0; k < ND; k++) r[k] += rp[k];
    for (int k = 0; k < NR; k++) R[k] = Rp[k];
#ifdef OD_PLANAR
    od_x angle = w[l->angle + link->parent];
    if (link->kind == OD_LINK_REVOLUTE) {
      angle += axis[0] * z[link->coordinate];
      od_x c = od_x_cos(angle), s = od_x_sin(angle);  // adjacent calls, so that the compiler can combine the calls
      R[0] = c;
      R[1] = s;
      axis_motion(axis, r, S);
    }
    w[l->angle + i] = angle;
#else
    if (link->chart >= 0) rotation_product(Rp, w + l->chart + OD_CHART_SIZE * link->chart, R);
    if (link->kind == OD_LINK_REVOLUTE) {
      od_x a[ND], T[NR];
      turn(R, axis, a);
      axis_motion(a, r, S);
      od_x angle = z[link->coordinate];
      rotation_about(axis, od_x_cos(angle), od_x_sin(angle), T);
      rotation_product(R, T, R);
    } else if (link->kind == OD_LINK_SCREW) {
      screw_position(axis, w[l->theta + link->lead], z[link->coordinate], R, r, S);
    } else
#endif
    if (link->kind == OD_LINK_PRISMATIC) {
      for (int k = 0; k < NA; k++) S[k] = 0;
      turn(R, axis, S + NA);
      for (int k = 0; k < ND; k++) r[k] += S[NA + k] * z[link->coordinate];
    }
  }
}

// Computes the inertias of all links in ground axes, about the reference point.
static void inertias(const od_model *m, od_x *w) {
  const od_layout *l = &m->layout;
  for (int i = 1; i < m->links; i++)
    if (m->link[i].body >= 0)
      inertia_in_ground(w + l->inertia + NI * i, w + l->rotation + NR * i, w + l->position + ND * i,
                        w + l->ground_inertia + NI * i);
}

// Computes the velocities V from z', the rates Sd of the joint axes, and `bias`, the accelerations for z'' = 0. Gravity
// is an upward acceleration of the ground.
static void velocities(const od_model *m, od_x *w) {
  const od_layout *l = &m->layout;
  const od_x *zd = w + l->zd;
  for (int i = 1; i < m->links; i++) {
    const od_link *link = &m->link[i];
    const od_x *Vp = w + l->V + NV * link->parent, *Bp = w + l->bias + NV * link->parent, *S = w + l->S + NV * i;
    od_x *V = w + l->V + NV * i, *B = w + l->bias + NV * i, *Sd = w + l->Sd + NV * i;
    for (int k = 0; k < NV; k++) V[k] = Vp[k], B[k] = Bp[k];
    if (link->coordinate < 0) continue;
    od_x rate = zd[link->coordinate];
    motion_cross(Vp, S, Sd);
    for (int k = 0; k < NV; k++) V[k] += S[k] * rate, B[k] += Sd[k] * rate;
  }
}

// Computes accelerations A from z''.
static void accelerations(const od_model *m, od_x *w) {
  const od_layout *l = &m->layout;
  const od_x *zdd = w + l->zdd, *bias = w + l->bias;
  od_x *A = w + l->A;
  for (int i = 1; i < m->links; i++) {
    const od_link *link = &m->link[i];
    const od_x *S = w + l->S + NV * i;
    od_x second = link->coordinate >= 0 ? zdd[link->coordinate] : 0;
    // The contribution of z'' to A is the contribution to A of the parent plus the contribution of this joint.
    for (int k = 0; k < NV; k++)
      A[NV * i + k] = bias[NV * i + k] + (A[NV * link->parent + k] - bias[NV * link->parent + k]) + S[k] * second;
  }
}

// Sets the motion of the ground: at rest relative to the reference point, with gravity as its acceleration.
static void ground(const od_model *m, od_x *w) {
  const od_layout *l = &m->layout;
  for (int k = 0; k < NR; k++) w[l->rotation + k] = 0;
#ifdef OD_PLANAR
  w[l->rotation] = 1;
#else
  for (int k = 0; k < 3; k++) w[l->rotation + 4 * k] = 1;
#endif
  w[l->angle] = 0;
  for (int k = 0; k < ND; k++) w[l->position + k] = -w[l->reference + k];
  for (int k = 0; k < NV; k++) w[l->V + k] = w[l->S + k] = w[l->Sd + k] = w[l->F + k] = 0;
  for (int k = 0; k < NV; k++) w[l->bias + k] = w[l->A + k] = k < NA ? 0 : -w[l->gravity + k - NA];
}

// Compute the position of a point, and the acceleration at position r of a link with velocity V and acceleration A (v:
// velocity at r).
static inline void point_position(const od_model *m, const od_x *w, int point, od_x *r) {
  const od_layout *l = &m->layout;
  int link = m->point[point].link;
  turn(w + l->rotation + NR * link, w + l->point + ND * point, r);
  for (int k = 0; k < ND; k++) r[k] += w[l->position + ND * link + k];
}
static inline void acceleration_at(const od_x *V, const od_x *A, const od_x *r, const od_x *v, od_x *a) {
  od_x centripetal[ND];
  spin(V, v, centripetal);
  velocity_at(A, r, a);
  for (int k = 0; k < ND; k++) a[k] += centripetal[k];
}
