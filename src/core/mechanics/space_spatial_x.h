// Motion in space, the same vocabulary as in the plane. Motion vector (w, v) with v the velocity of the body-fixed
// point that passes the reference point (the origin, below); force vector (n, f) with n the moment about it. An
// inertia holds m, the first moment h and the inertia tensor about the origin: xx yy zz xy xz yz.
enum { ND = OD_SPATIAL_ND, NV = OD_SPATIAL_NV, NR = OD_SPATIAL_NR, NI = OD_SPATIAL_NI, NA = 3 };

static inline od_x dot(const od_x *a, const od_x *b) {
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}
static inline void cross(const od_x *a, const od_x *b, od_x *out) {
  od_x x = a[1] * b[2] - a[2] * b[1], y = a[2] * b[0] - a[0] * b[2], z = a[0] * b[1] - a[1] * b[0];
  out[0] = x;
  out[1] = y;
  out[2] = z;
}
// out = R v, R row-major
static inline void turn(const od_x *R, const od_x *v, od_x *out) {
  od_x x = dot(R, v), y = dot(R + 3, v), z = dot(R + 6, v);
  out[0] = x;
  out[1] = y;
  out[2] = z;
}
static inline void turn_back(const od_x *R, const od_x *v, od_x *out) {
  for (int i = 0; i < 3; i++) out[i] = R[i] * v[0] + R[3 + i] * v[1] + R[6 + i] * v[2];
}
static inline void spin(const od_x *w, const od_x *r, od_x *out) {
  cross(w, r, out);
}
static inline void add_couple(const od_x *u, const od_x *q, od_x *F) {
  od_x n[3];
  cross(u, q, n);
  for (int i = 0; i < 3; i++) F[i] += n[i];
}
static inline void motion_cross(const od_x *P, const od_x *Y, od_x *out) {
  od_x w[3], a[3], b[3];
  cross(P, Y, w);
  cross(P, Y + 3, a);
  cross(P + 3, Y, b);
  for (int i = 0; i < 3; i++) out[i] = w[i], out[3 + i] = a[i] + b[i];
}
static inline void force_cross(const od_x *P, const od_x *F, od_x *out) {
  od_x n[3], m[3], f[3];
  cross(P, F, n);
  cross(P + 3, F + 3, m);
  cross(P, F + 3, f);
  for (int i = 0; i < 3; i++) out[i] = n[i] + m[i], out[3 + i] = f[i];
}
static inline void momentum(const od_x *I, const od_x *P, od_x *out) {
  const od_x *h = I + 1, *J = I + 4, *w = P, *v = P + 3;
  od_x hv[3], wh[3], n[3];
  cross(h, v, hv);
  cross(w, h, wh);
  n[0] = J[0] * w[0] + J[3] * w[1] + J[4] * w[2];
  n[1] = J[3] * w[0] + J[1] * w[1] + J[5] * w[2];
  n[2] = J[4] * w[0] + J[5] * w[1] + J[2] * w[2];
  for (int i = 0; i < 3; i++) {
    od_x p = I[0] * v[i] + wh[i];
    out[i] = n[i] + hv[i];
    out[3 + i] = p;
  }
}
static inline void inertia_in_ground(const od_x *own, const od_x *R, const od_x *r, od_x *out) {
  const od_x *J = own + 4;
  od_x m = own[0], h[3], K[9], T[9];
  turn(R, own + 1, h);
  // T = R J, then K = T R'
  for (int i = 0; i < 3; i++) {
    const od_x *Ri = R + 3 * i;
    T[3 * i] = Ri[0] * J[0] + Ri[1] * J[3] + Ri[2] * J[4];
    T[3 * i + 1] = Ri[0] * J[3] + Ri[1] * J[1] + Ri[2] * J[5];
    T[3 * i + 2] = Ri[0] * J[4] + Ri[1] * J[5] + Ri[2] * J[2];
  }
  for (int i = 0; i < 3; i++)
    for (int j = i; j < 3; j++) K[3 * i + j] = dot(T + 3 * i, R + 3 * j) - r[i] * h[j] - h[i] * r[j] - m * r[i] * r[j];
  od_x trace = 2 * dot(r, h) + m * dot(r, r);
  out[0] = m;
  for (int i = 0; i < 3; i++) out[1 + i] = h[i] + m * r[i];
  out[4] = K[0] + trace;
  out[5] = K[4] + trace;
  out[6] = K[8] + trace;
  out[7] = K[1];
  out[8] = K[2];
  out[9] = K[5];
}
static inline void axis_motion(const od_x *a, const od_x *r, od_x *S) {
  for (int i = 0; i < 3; i++) S[i] = a[i];
  cross(r, a, S + 3);
}
// out = A B for rotation matrices
static inline void rotation_product(const od_x *A, const od_x *B, od_x *out) {
  od_x T[9];
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) T[3 * i + j] = A[3 * i] * B[j] + A[3 * i + 1] * B[3 + j] + A[3 * i + 2] * B[6 + j];
  for (int i = 0; i < 9; i++) out[i] = T[i];
}
// Rotation by an angle about a unit axis (Rodrigues).
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
