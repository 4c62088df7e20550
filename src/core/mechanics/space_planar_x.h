// Motion in a plane. A motion vector holds the turn rate and the velocity of the body-fixed point that passes the
// reference point (the origin, below): (w, vx, vy); a force vector the moment about the origin and the force: (n, fx,
// fy). With one common reference point, sums over branches are plain sums (the path matrix of unit blocks of the
// semi-recursive formulation). An inertia is (m, hx, hy, J): mass, first moment and moment of inertia about the
// origin.
enum { ND = OD_PLANAR_ND, NV = OD_PLANAR_NV, NR = OD_PLANAR_NR, NI = OD_PLANAR_NI, NA = 1 };

static inline od_x dot(const od_x *a, const od_x *b) {
  return a[0] * b[0] + a[1] * b[1];
}
// out = R v, R = (cos, sin)
static inline void turn(const od_x *R, const od_x *v, od_x *out) {
  out[0] = R[0] * v[0] - R[1] * v[1];
  out[1] = R[1] * v[0] + R[0] * v[1];
}
// out = R' v
static inline void turn_back(const od_x *R, const od_x *v, od_x *out) {
  out[0] = R[0] * v[0] + R[1] * v[1];
  out[1] = R[0] * v[1] - R[1] * v[0];
}
// out = w x r, w the angular part of a motion vector
static inline void spin(const od_x *w, const od_x *r, od_x *out) {
  out[0] = -w[0] * r[1];
  out[1] = w[0] * r[0];
}
// Adds the moment of a couple: u x q
static inline void add_couple(const od_x *u, const od_x *q, od_x *F) {
  F[0] += u[0] * q[1] - u[1] * q[0];
}
// X x Y: the rate of Y when it is carried along by X
static inline void motion_cross(const od_x *P, const od_x *Y, od_x *out) {
  od_x a = P[2] * Y[0] - P[0] * Y[2], b = P[0] * Y[1] - P[1] * Y[0];
  out[0] = 0;
  out[1] = a;
  out[2] = b;
}
// X x* F: the same for a force vector
static inline void force_cross(const od_x *P, const od_x *F, od_x *out) {
  od_x n = P[1] * F[2] - P[2] * F[1], a = -P[0] * F[2], b = P[0] * F[1];
  out[0] = n;
  out[1] = a;
  out[2] = b;
}
// out = I X, the momentum
static inline void momentum(const od_x *I, const od_x *P, od_x *out) {
  od_x n = I[3] * P[0] + I[1] * P[2] - I[2] * P[1];
  od_x a = I[0] * P[1] - I[2] * P[0], b = I[0] * P[2] + I[1] * P[0];
  out[0] = n;
  out[1] = a;
  out[2] = b;
}
// The inertia I (about the link's own origin, in its axes) seen from the ground's origin.
static inline void inertia_in_ground(const od_x *own, const od_x *R, const od_x *r, od_x *out) {
  od_x h[2];
  turn(R, own + 1, h);
  out[0] = own[0];
  out[1] = h[0] + own[0] * r[0];
  out[2] = h[1] + own[0] * r[1];
  out[3] = own[3] + 2 * dot(r, h) + own[0] * dot(r, r);
}
// The joint's axis through r as a motion vector.
static inline void axis_motion(const od_x *a, const od_x *r, od_x *S) {
  S[0] = a[0];
  S[1] = a[0] * r[1];
  S[2] = -a[0] * r[0];
}
