// Functions that several elements share, in the scalar of the build, and their derivatives in real numbers.
#undef OD_SELECT
// Selects one of two values by a condition. Conditions in equations compare real parts, so that real and complex builds take the same branch.
#define OD_SELECT(condition, yes, no) ((condition) ? (yes) : (no))

// Returns the square root of |dp| with the sign of dp, smooth at zero: dp / (dp^2 + e^2)^(1/4).
static inline od_x X(smooth_root)(od_x dp, od_x e) {
  return dp / od_x_sqrt(od_x_sqrt(dp * dp + e * e));
}

// Returns tanh(x). In real numbers, for |x| between 0.5 and 20, one exponential gives full precision in half the time of the
// library function.
static inline od_x X(smooth_sign)(od_x x) {
#ifndef OD_COMPLEX
  double size = fabs(x);
  if (size > 0.5) return copysign(size < 20 ? 1 - 2 / (exp(2 * size) + 1) : 1, x);
#endif
  return od_x_tanh(x);
}

// Returns max(x, 0), which has a corner at zero.
static inline od_x X(not_negative)(od_x x) {
  return OD_SELECT(RE(x) < 0, 0, x);
}

// Returns max(x, 0) with a rounded corner of width e.
static inline od_x X(rounded_ramp)(od_x x, od_x e) {
  return OD_SELECT(RE(x) <= 0, 0, OD_SELECT(RE(x) < RE(e), x * x / (2 * e), x - e / 2));
}

// Returns a smooth step from 0 at x = 0 to 1 at x = 1, with zero slope at both ends.
static inline od_x X(smooth_step)(od_x x) {
  return OD_SELECT(RE(x) <= 0, 0, OD_SELECT(RE(x) >= 1, 1, x * x * (3 - 2 * x)));
}

// Returns the opening of a spool against a spring. The opening increases from 0 at x = 0 to 1 at x = 1.05, linearly between two
// rounded corners of width 0.05.
static const double X(limit_corner) = 0.05;
static inline od_x X(rounded_limit)(od_x x) {
  return X(rounded_ramp)(x, X(limit_corner)) - X(rounded_ramp)(x - 1, X(limit_corner));
}

// Returns the dynamic viscosity at a pressure, Pa s; oil: OD_OIL_STATE_*.
static inline od_x X(viscosity)(const od_x *oil, od_x pressure) {
  od_x thickening = oil[OD_OIL_STATE_THICKENING];
  return thickening == 0 ? oil[OD_OIL_STATE_VISCOSITY] : oil[OD_OIL_STATE_VISCOSITY] * od_x_exp(thickening * pressure);
}

#ifndef OD_COMPLEX
// Derivatives of smooth_root() with respect to dp and e.
static inline double root_slope(double dp, double e) {
  double s = dp * dp + e * e;
  return (dp * dp / 2 + e * e) / (s * sqrt(sqrt(s)));
}
static inline double root_smoothing_slope(double dp, double e) {
  double s = dp * dp + e * e;
  return -dp * e / 2 / (s * sqrt(sqrt(s)));
}
// Returns the derivative of tanh(x). In contrast to 1 - tanh^2, the result has full relative precision for large x.
static inline double tanh_slope(double x) {
  double c = cosh(x);
  return 1 / (c * c);
}
// Derivatives of not_negative(), rounded_ramp(), smooth_step() and rounded_limit() with respect to x.
static inline double not_negative_slope(double x) {
  return x < 0 ? 0 : 1;
}
static inline double ramp_slope(double x, double e) {
  return x <= 0 ? 0 : x < e ? x / e : 1;
}
static inline double step_slope(double x) {
  return x <= 0 || x >= 1 ? 0 : 6 * x * (1 - x);
}
static inline double limit_slope(double x) {
  return ramp_slope(x, limit_corner_r) - ramp_slope(x - 1, limit_corner_r);
}
// Derivative of the viscosity with respect to the pressure, from the viscosity mu.
static inline double viscosity_slope(const double *oil, double mu) {
  return oil[OD_OIL_STATE_THICKENING] * mu;
}
#endif
