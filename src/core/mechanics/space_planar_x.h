// Motion in a plane. A motion vector (w, vx, vy) contains the turn rate and the velocity of the body-fixed point at the reference
// point (called the origin below). A force vector (n, fx, fy) contains the moment about the origin and the force. With one common
// reference point, sums over branches need no transformations (in the semi-recursive formulation, the path matrix has unit blocks).
// An inertia is (m, hx, hy, J): mass, first moment and moment of inertia about the origin.
//
// All products are linear in both factors. kernel_x.h includes this file for factors of types OD_A and OD_B with results of type
// OD_C; N(name) makes the names distinct.

OD_PART OD_C N(dot)(const OD_A *a, const OD_B *b) {
  return a[0] * b[0] + a[1] * b[1];
}
// Computes out = R v, where R = (cos, sin).
OD_PART void N(turn)(const OD_A *R, const OD_B *v, OD_C *out) {
  out[0] = R[0] * v[0] - R[1] * v[1];
  out[1] = R[1] * v[0] + R[0] * v[1];
}
// Computes out = R' v.
OD_PART void N(turn_back)(const OD_A *R, const OD_B *v, OD_C *out) {
  out[0] = R[0] * v[0] + R[1] * v[1];
  out[1] = R[0] * v[1] - R[1] * v[0];
}
// Computes out = w x r, where w is the angular part of a motion vector.
OD_PART void N(spin)(const OD_A *w, const OD_B *r, OD_C *out) {
  out[0] = -w[0] * r[1];
  out[1] = w[0] * r[0];
}
// Adds the moment of a couple, u x q, to the force vector F.
OD_PART void N(add_couple)(const OD_A *u, const OD_B *q, OD_C *F) {
  F[0] += u[0] * q[1] - u[1] * q[0];
}
// Computes P x Y: the rate of a motion vector Y that moves with the motion P.
OD_PART void N(motion_cross)(const OD_A *P, const OD_B *Y, OD_C *out) {
  OD_C a = P[2] * Y[0] - P[0] * Y[2], b = P[0] * Y[1] - P[1] * Y[0];
  out[0] = (OD_C){0};
  out[1] = a;
  out[2] = b;
}
// Computes P x* F: the rate of a force vector F that moves with the motion P.
OD_PART void N(force_cross)(const OD_A *P, const OD_B *F, OD_C *out) {
  OD_C n = P[1] * F[2] - P[2] * F[1], a = -P[0] * F[2], b = P[0] * F[1];
  out[0] = n;
  out[1] = a;
  out[2] = b;
}
// Computes the momentum of the motion P, out = I P.
OD_PART void N(momentum)(const OD_A *I, const OD_B *P, OD_C *out) {
  OD_C n = I[3] * P[0] + I[1] * P[2] - I[2] * P[1];
  OD_C a = I[0] * P[1] - I[2] * P[0], b = I[0] * P[2] + I[1] * P[0];
  out[0] = n;
  out[1] = a;
  out[2] = b;
}
// Returns the work of the force vector F along the motion vector S.
OD_PART OD_C N(along)(const OD_A *S, const OD_B *F) {
  return S[0] * F[0] + S[1] * F[1] + S[2] * F[2];
}
#ifdef OD_C_IS_B
// Converts an inertia about the link's origin, in link axes, to the inertia about the reference point, in ground axes.
OD_PART void N(inertia_in_ground)(const OD_B *own, const OD_A *R, const OD_A *r, OD_C *out) {
  OD_C h[2];
  N(turn)(R, own + 1, h);
  out[0] = own[0];
  out[1] = h[0] + own[0] * r[0];
  out[2] = h[1] + own[0] * r[1];
  out[3] = own[3] + 2 * N(dot)(r, h) + own[0] * (r[0] * r[0] + r[1] * r[1]);
}
// Computes the motion vector S of a unit rotation about the joint axis a through the point r.
OD_PART void N(axis_motion)(const OD_B *a, const OD_A *r, OD_C *S) {
  S[0] = a[0];
  S[1] = a[0] * r[1];
  S[2] = -a[0] * r[0];
}
#endif
