// The oil: its bulk modulus at a pressure, and how it looks to elements.

// Entrained air: its share of the volume at pressure p (polytropic), and 1/B as the sum of both compliances.
static inline od_x X(air_share)(const od_x *q, od_x p) {
  od_x rest = (1 - q[1]) / q[1] * od_x_pow(p / q[2], 1 / q[3]);
  return 1 / (1 + rest);
}

static od_x X(bulk_modulus)(const od_model *m, const od_x *w, od_x p) {
  const od_x *q = w + m->layout.theta + m->oil + OD_OIL_LAW;
  switch (m->oil_law) {
    case OD_OIL_CONSTANT: return q[0];
    case OD_OIL_LINEAR: return q[0] + q[1] * p;
    case OD_OIL_AIR: {
      // Air needs some pressure to have a volume at all.
      od_x floor = RE(p) > 1e3 ? p : (od_x)1e3;
      if (RE(q[1]) <= 0) return q[0];
      od_x share = X(air_share)(q, floor);
      return 1 / ((1 - share) / q[0] + share / (q[3] * floor));
    }
  }
  return q[0];
}

// With the oil's temperature T against T0, at which density and viscosity are given:
//   rho = rho0 / (1 + expansion (T - T0)),   nu = nu0 exp(-thinning (T - T0)),   mu = nu rho exp(thickening p)
static __attribute__((noinline)) void X(warm_oil)(const od_model *m, od_x *w) {
  const od_x *q = w + m->layout.theta + m->viscosity;
  od_x *oil = w + m->layout.oil, warmer = q[OD_VISCOSITY_TEMPERATURE] - q[OD_VISCOSITY_REFERENCE];
  od_x given = w[m->layout.theta + m->oil + OD_OIL_DENSITY], growth = 1 + q[OD_VISCOSITY_EXPANSION] * warmer;
  oil[OD_OIL_STATE_ROOT] = od_x_sqrt(2 * growth / given);
  oil[OD_OIL_STATE_THINNESS] = od_x_exp(q[OD_VISCOSITY_THINNING] * warmer) * growth;
  oil[OD_OIL_STATE_VISCOSITY] = q[OD_VISCOSITY_VALUE] * given / oil[OD_OIL_STATE_THINNESS];
  oil[OD_OIL_STATE_THICKENING] = q[OD_VISCOSITY_THICKENING];
}

static const double X(usual_viscosity) = 46e-6;  // m2/s

static inline void X(oil_state)(const od_model *m, od_x *w) {
  if (m->oil < 0) return;
  od_x *oil = w + m->layout.oil, density = w[m->layout.theta + m->oil + OD_OIL_DENSITY];
  oil[OD_OIL_STATE_SMOOTHING] = w[m->layout.theta + m->oil + OD_OIL_SMOOTHING];
  if (m->viscosity >= 0) {
    X(warm_oil)(m, w);
    return;
  }
  oil[OD_OIL_STATE_ROOT] = od_x_sqrt(2 / density);
  oil[OD_OIL_STATE_VISCOSITY] = X(usual_viscosity) * density;
  oil[OD_OIL_STATE_THICKENING] = 0;
  oil[OD_OIL_STATE_THINNESS] = 1;
}

#ifndef OD_COMPLEX
static double bulk_slope(const od_model *m, const double *w, double p) {
  const double *q = w + m->layout.theta + m->oil + OD_OIL_LAW;
  switch (m->oil_law) {
    case OD_OIL_CONSTANT: return 0;
    case OD_OIL_LINEAR: return q[1];
    case OD_OIL_AIR: {
      if (p <= 1e3 || q[1] <= 0) return 0;
      double share = air_share_r(q, p), modulus = bulk_modulus_r(m, w, p);
      double dshare = -share * (1 - share) / (q[3] * p);
      double dcompliance = dshare * (1 / (q[3] * p) - 1 / q[0]) - share / (q[3] * p * p);
      return -modulus * modulus * dcompliance;
    }
  }
  return 0;
}

// How the oil looks to elements, by a number of its density, smoothing or viscosity.
static void oil_state_slopes(const od_model *m, const double *w, int number, double slope[OD_OIL_STATES]) {
  const double *oil = w + m->layout.oil, density = w[m->layout.theta + m->oil + OD_OIL_DENSITY];
  for (int i = 0; i < OD_OIL_STATES; i++) slope[i] = 0;
  if (number == OD_OIL_SMOOTHING) slope[OD_OIL_STATE_SMOOTHING] = 1;
  if (number == OD_OIL_DENSITY) {
    slope[OD_OIL_STATE_ROOT] = -oil[OD_OIL_STATE_ROOT] / (2 * density);
    slope[OD_OIL_STATE_VISCOSITY] = oil[OD_OIL_STATE_VISCOSITY] / density;
  }
  if (number < OD_OIL_VISCOSITY) return;
  const double *q = w + m->layout.theta + m->viscosity;
  double warmer = q[OD_VISCOSITY_TEMPERATURE] - q[OD_VISCOSITY_REFERENCE];
  double growth = 1 + q[OD_VISCOSITY_EXPANSION] * warmer, dgrowth = 0, dpower = 0;  // of exp(power) and growth
  switch (number - OD_OIL_VISCOSITY) {
    case OD_VISCOSITY_VALUE:
      slope[OD_OIL_STATE_VISCOSITY] = oil[OD_OIL_STATE_VISCOSITY] / q[OD_VISCOSITY_VALUE];
      return;
    case OD_VISCOSITY_THICKENING: slope[OD_OIL_STATE_THICKENING] = 1; return;
    case OD_VISCOSITY_TEMPERATURE: dgrowth = q[OD_VISCOSITY_EXPANSION], dpower = q[OD_VISCOSITY_THINNING]; break;
    case OD_VISCOSITY_REFERENCE: dgrowth = -q[OD_VISCOSITY_EXPANSION], dpower = -q[OD_VISCOSITY_THINNING]; break;
    case OD_VISCOSITY_THINNING: dpower = warmer; break;
    case OD_VISCOSITY_EXPANSION: dgrowth = warmer; break;
  }
  double relative = dpower + dgrowth / growth;
  slope[OD_OIL_STATE_ROOT] = oil[OD_OIL_STATE_ROOT] * dgrowth / (2 * growth);
  slope[OD_OIL_STATE_THINNESS] = oil[OD_OIL_STATE_THINNESS] * relative;
  slope[OD_OIL_STATE_VISCOSITY] = -oil[OD_OIL_STATE_VISCOSITY] * relative;
}

// By the law's own numbers.
static double bulk_number_slope(const od_model *m, const double *w, double p, int number) {
  const double *q = w + m->layout.theta + m->oil + OD_OIL_LAW;
  if (m->oil_law != OD_OIL_AIR) return number == 0 ? 1 : p;
  double floor = p > 1e3 ? p : 1e3, share = air_share_r(q, floor), modulus = bulk_modulus_r(m, w, p);
  if (q[1] <= 0) return number == 0 ? 1 : 0;
  double square = -modulus * modulus, by_share = 1 / (q[3] * floor) - 1 / q[0], grown = share * (1 - share);
  switch (number) {
    case 0: return square * -(1 - share) / (q[0] * q[0]);
    case 1: return square * by_share * grown / (q[1] * (1 - q[1]));
    case 2: return square * by_share * grown / (q[3] * q[2]);
    default: return square * (by_share * grown * log(floor / q[2]) / (q[3] * q[3]) - share / (q[3] * q[3] * floor));
  }
}
#endif
