// Friction laws: the force against a speed v, and (real build) its derivatives by v and by the law's numbers.
//
// Coulomb with viscous: Fc tanh(v/vs) + s2 v.
// Brown and McPhee (eq. 14 of source 1 in docs/theory.md), an odd and smooth function of v with r = v/vs:
//   Fc tanh(4 r) + (Fs - Fc) r / (r^2/4 + 3/4)^2 + s2 v tanh(4)
// Numbers: Fc, Fs, vs, s2.

static inline od_x friction_force(od_friction_law law, const od_x *q, od_x v) {
  od_x r = v / q[2];
  if (law == OD_FRICTION_COULOMB) return q[0] * od_x_tanh(r) + q[3] * v;
  od_x b = r * r / 4 + 0.75;
  return q[0] * od_x_tanh(4 * r) + (q[1] - q[0]) * r / (b * b) + q[3] * v * tanh(4.0);
}

#ifndef OD_COMPLEX
// dq receives the derivatives by the four numbers.
static inline double friction_slope(od_friction_law law, const double *q, double v, double *dq) {
  double r = v / q[2];
  if (law == OD_FRICTION_COULOMB) {
    double t = tanh(r), dt = q[0] * (1 - t * t);
    if (dq) dq[0] = t, dq[1] = 0, dq[2] = -dt * r / q[2], dq[3] = v;
    return dt / q[2] + q[3];
  }
  double t = tanh(4 * r), b = r * r / 4 + 0.75, hump = r / (b * b);
  double dhump = 1 / (b * b) - r * r / (b * b * b);  // d/dr of r b^-2, db/dr = r/2
  double by_r = q[0] * 4 * (1 - t * t) + (q[1] - q[0]) * dhump;
  if (dq) dq[0] = t - hump, dq[1] = hump, dq[2] = -by_r * r / q[2], dq[3] = v * tanh(4.0);
  return by_r / q[2] + q[3] * tanh(4.0);
}
#endif
