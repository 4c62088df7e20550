// Motion in space, with the same functions as in the plane. A motion vector is (w, v), where v is the velocity of the body-fixed
// point at the reference point (called the origin below). A force vector is (n, f), where n is the moment about the origin. An
// inertia contains m, the first moment h and the inertia tensor about the origin: xx yy zz xy xz yz. Products have factors of
// types OD_A and OD_B, as in the plane.

OD_PART OD_C N(dot)(const OD_A *a, const OD_B *b) {
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}
OD_PART void N(cross)(const OD_A *a, const OD_B *b, OD_C *out) {
  OD_C x = a[1] * b[2] - a[2] * b[1], y = a[2] * b[0] - a[0] * b[2], z = a[0] * b[1] - a[1] * b[0];
  out[0] = x;
  out[1] = y;
  out[2] = z;
}
// Computes out = R v, where R is row-major.
OD_PART void N(turn)(const OD_A *R, const OD_B *v, OD_C *out) {
  OD_C x = N(dot)(R, v), y = N(dot)(R + 3, v), z = N(dot)(R + 6, v);
  out[0] = x;
  out[1] = y;
  out[2] = z;
}
OD_PART void N(turn_back)(const OD_A *R, const OD_B *v, OD_C *out) {
  for (int i = 0; i < 3; i++) out[i] = R[i] * v[0] + R[3 + i] * v[1] + R[6 + i] * v[2];
}
OD_PART void N(spin)(const OD_A *w, const OD_B *r, OD_C *out) {
  N(cross)(w, r, out);
}
OD_PART void N(add_couple)(const OD_A *u, const OD_B *q, OD_C *F) {
  OD_C n[3];
  N(cross)(u, q, n);
  for (int i = 0; i < 3; i++) F[i] += n[i];
}
OD_PART void N(motion_cross)(const OD_A *P, const OD_B *Y, OD_C *out) {
  OD_C w[3], a[3], b[3];
  N(cross)(P, Y, w);
  N(cross)(P, Y + 3, a);
  N(cross)(P + 3, Y, b);
  for (int i = 0; i < 3; i++) out[i] = w[i], out[3 + i] = a[i] + b[i];
}
OD_PART void N(force_cross)(const OD_A *P, const OD_B *F, OD_C *out) {
  OD_C n[3], m[3], f[3];
  N(cross)(P, F, n);
  N(cross)(P + 3, F + 3, m);
  N(cross)(P, F + 3, f);
  for (int i = 0; i < 3; i++) out[i] = n[i] + m[i], out[3 + i] = f[i];
}
OD_PART void N(momentum)(const OD_A *I, const OD_B *P, OD_C *out) {
  const OD_A *h = I + 1, *J = I + 4;
  const OD_B *w = P, *v = P + 3;
  OD_C hv[3], hw[3], n[3];
  N(cross)(h, v, hv);
  N(cross)(h, w, hw);
  n[0] = J[0] * w[0] + J[3] * w[1] + J[4] * w[2];
  n[1] = J[3] * w[0] + J[1] * w[1] + J[5] * w[2];
  n[2] = J[4] * w[0] + J[5] * w[1] + J[2] * w[2];
  for (int i = 0; i < 3; i++) {
    OD_C p = I[0] * v[i] - hw[i];
    out[i] = n[i] + hv[i];
    out[3 + i] = p;
  }
}
OD_PART OD_C N(along)(const OD_A *S, const OD_B *F) {
  return S[0] * F[0] + S[1] * F[1] + S[2] * F[2] + S[3] * F[3] + S[4] * F[4] + S[5] * F[5];
}
#ifdef OD_C_IS_B
OD_PART void N(inertia_in_ground)(const OD_B *own, const OD_A *R, const OD_A *r, OD_C *out) {
  const OD_B *J = own + 4;
  OD_C m = own[0], h[3], K[9], T[9];
  N(turn)(R, own + 1, h);
  // T = R J, then K = T R'
  for (int i = 0; i < 3; i++) {
    const OD_A *Ri = R + 3 * i;
    T[3 * i] = Ri[0] * J[0] + Ri[1] * J[3] + Ri[2] * J[4];
    T[3 * i + 1] = Ri[0] * J[3] + Ri[1] * J[1] + Ri[2] * J[5];
    T[3 * i + 2] = Ri[0] * J[4] + Ri[1] * J[5] + Ri[2] * J[2];
  }
  for (int i = 0; i < 3; i++)
    for (int j = i; j < 3; j++)
      K[3 * i + j] = N(dot)(R + 3 * j, T + 3 * i) - r[i] * h[j] - h[i] * r[j] - m * r[i] * r[j];
  OD_C trace = 2 * N(dot)(r, h) + m * (r[0] * r[0] + r[1] * r[1] + r[2] * r[2]);
  out[0] = m;
  for (int i = 0; i < 3; i++) out[1 + i] = h[i] + m * r[i];
  out[4] = K[0] + trace;
  out[5] = K[4] + trace;
  out[6] = K[8] + trace;
  out[7] = K[1];
  out[8] = K[2];
  out[9] = K[5];
}
OD_PART void N(axis_motion)(const OD_B *a, const OD_A *r, OD_C *S) {
  for (int i = 0; i < 3; i++) S[i] = a[i];
  N(cross)(r, a, S + 3);
}
#endif
