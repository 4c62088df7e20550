// Properties of the oil at a temperature T. Density and viscosity are given at T0:
//   rho = rho0 / (1 + expansion (T - T0)),   mu = nu rho exp(thickening p)
// nu follows from its relative decrease or, if a second point is given, from Walther's law (source 29 in docs/theory.md):
//   nu = nu0 exp(-thinning (T - T0))
//   ln ln (nu + 0.7 mm2/s) is linear in ln T through both points
// This file is included for each scalar type. q: numbers of the viscosity.

// Returns ln ln (nu/(1 mm2/s) + 0.7). The result is undefined for nu up to 0.3 mm2/s, far below the viscosity of any oil.
static inline od_x X(walther)(od_x nu) {
  return od_x_log(od_x_log(nu * 1e6 + 0.7));
}

static inline od_x X(kinematic)(const od_x *q, od_x temperature) {
  od_x nu = q[OD_VISCOSITY_VALUE];
  if (RE(q[OD_VISCOSITY_HOT_VALUE]) == 0)
    return nu / od_x_exp(q[OD_VISCOSITY_THINNING] * (temperature - q[OD_VISCOSITY_REFERENCE]));
  od_x from = X(walther)(nu), to = X(walther)(q[OD_VISCOSITY_HOT_VALUE]);
  od_x share = od_x_log(temperature / q[OD_VISCOSITY_REFERENCE]) /
               od_x_log(q[OD_VISCOSITY_HOT_TEMPERATURE] / q[OD_VISCOSITY_REFERENCE]);
  return (od_x_exp(od_x_exp(from + (to - from) * share)) - 0.7) * 1e-6;
}

static void X(warm)(const od_x *q, od_x given, od_x temperature, od_x *oil) {
  od_x growth = 1 + q[OD_VISCOSITY_EXPANSION] * (temperature - q[OD_VISCOSITY_REFERENCE]);
  oil[OD_OIL_STATE_ROOT] = od_x_sqrt(2 * growth / given);
  oil[OD_OIL_STATE_THINNESS] = q[OD_VISCOSITY_VALUE] / X(kinematic)(q, temperature) * growth;
  oil[OD_OIL_STATE_VISCOSITY] = q[OD_VISCOSITY_VALUE] * given / oil[OD_OIL_STATE_THINNESS];
  oil[OD_OIL_STATE_THICKENING] = q[OD_VISCOSITY_THICKENING];
}
