// Functions that several elements share, in the scalar of the build; their slopes in the real one.
#undef OD_SELECT
// A branch that depends on a scalar. All of them go through here: a comparison looks at real parts.
#define OD_SELECT(condition, yes, no) ((condition) ? (yes) : (no))

// sqrt(dp) with its sign, smooth through zero: dp / (dp^2 + e^2)^(1/4).
static inline od_x X(smooth_root)(od_x dp, od_x e) {
  return dp / od_x_sqrt(od_x_sqrt(dp * dp + e * e));
}

// tanh(x). Where it is not small one exponential gives all of its digits, in half the time of the library's.
static inline od_x X(smooth_sign)(od_x x) {
#ifndef OD_COMPLEX
  double size = fabs(x);
  if (size > 0.5) return copysign(size < 20 ? 1 - 2 / (exp(2 * size) + 1) : 1, x);
#endif
  return od_x_tanh(x);
}

// max(x, 0) with its corner: what is exact wherever x is not negative.
static inline od_x X(not_negative)(od_x x) {
  return OD_SELECT(RE(x) < 0, 0, x);
}

// max(x, 0) with a rounded corner of width e.
static inline od_x X(rounded_ramp)(od_x x, od_x e) {
  return OD_SELECT(RE(x) <= 0, 0, OD_SELECT(RE(x) < RE(e), x * x / (2 * e), x - e / 2));
}

// From 0 to 1 while x goes from 0 to 1, with level ends.
static inline od_x X(smooth_step)(od_x x) {
  return OD_SELECT(RE(x) <= 0, 0, OD_SELECT(RE(x) >= 1, 1, x * x * (3 - 2 * x)));
}

// From 0 to 1 while x goes from 0 to 1, straight but for rounded corners behind 0 and 1: how far a spring lets a spool open.
static inline od_x X(rounded_limit)(od_x x) {
  const double corner = 0.05;
  return X(rounded_ramp)(x, corner) - X(rounded_ramp)(x - 1, corner);
}

// The dynamic viscosity at a pressure; oil: as elements see it.
static inline od_x X(viscosity)(const od_x *oil, od_x pressure) {
  od_x thickening = oil[OD_OIL_STATE_THICKENING];
  return thickening == 0 ? oil[OD_OIL_STATE_VISCOSITY] : oil[OD_OIL_STATE_VISCOSITY] * od_x_exp(thickening * pressure);
}

#ifndef OD_COMPLEX
// d smooth_root / d dp and / d e.
static inline double root_slope(double dp, double e) {
  double s = dp * dp + e * e;
  return (dp * dp / 2 + e * e) / (s * sqrt(sqrt(s)));
}
static inline double root_smoothing_slope(double dp, double e) {
  double s = dp * dp + e * e;
  return -dp * e / 2 / (s * sqrt(sqrt(s)));
}
#endif
