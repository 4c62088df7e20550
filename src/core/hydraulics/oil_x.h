// The oil: bulk modulus as a function of pressure, and the properties that elements read.

// Returns the volume fraction of entrained air at pressure p (polytropic). 1/B is the sum of the compliances of oil and air.
static inline od_x X(air_share)(const od_x *q, od_x p) {
  od_x rest = (1 - q[1]) / q[1] * od_x_pow(p / q[2], 1 / q[3]);
  return 1 / (1 + rest);
}

// Returns the derivative of air_share() with respect to the air fraction q[1] at q[1] = 0 (oil without air).
static inline od_x X(first_air)(const od_x *q, od_x p) {
  return od_x_pow(p / q[2], -1 / q[3]);
}

// Returns the density of oil with the modulus K + s p, relative to the density at zero pressure: (1 + s x)^(1 / s) with x = p / K.
// For small s x the series of log(1 + s x) / s loses no digits, and includes s = 0.
static inline od_x X(linear_compression)(od_x s, od_x x) {
  od_x y = s * x;
  if (fabs(RE(y)) > 1e-3) return od_x_pow(1 + y, 1 / s);
  return od_x_exp(x * (1 - y * (1.0 / 2 - y * (1.0 / 3 - y * (1.0 / 4 - y * (1.0 / 5 - y / 6))))));
}

// Returns the bulk modulus at pressure p, Pa.
static od_x X(bulk_modulus)(const od_model *m, const od_x *w, od_x p) {
  const od_x *q = w + m->layout.theta + m->oil + OD_OIL_LAW;
  switch (m->oil_law) {
    case OD_OIL_CONSTANT: return q[0];
    case OD_OIL_LINEAR: return q[0] + q[1] * p;
    case OD_OIL_AIR: {
      // Air has a finite volume only at a positive pressure.
      od_x floor = RE(p) > 1e3 ? p : (od_x)1e3;
      // Without air, the modulus is the modulus of the liquid. The second term is zero, but its derivative with respect to q[1] is not.
      if (RE(q[1]) <= 0) return q[0] + (RE(q[1]) - q[1]) * X(first_air)(q, floor) * q[0] * (q[0] / (q[3] * floor) - 1);
      od_x share = X(air_share)(q, floor);
      return 1 / ((1 - share) / q[0] + share / (q[3] * floor));
    }
  }
  return q[0];
}

// Returns the integral of dp / B from the pressure `low` to the pressure `high`, for oil with air. Uses Gauss quadrature
// in intervals of the logarithm of pressure. Below 1 kPa, B is constant.
static od_x X(compression_with_air)(const od_model *m, const od_x *w, od_x low, od_x high) {  // low <= high
  static const double at[5] = {0.046910077030668, 0.2307653449471585, 0.5, 0.7692346550528415, 0.953089922969332};
  static const double weight[5] = {0.1184634425280945, 0.2393143352496832, 0.2844444444444444, 0.2393143352496832,
                                   0.1184634425280945};
  enum { PARTS = 16 };
  od_x sum = 0, thin = 1e3;
  if (RE(low) < RE(thin)) {
    od_x end = RE(high) < RE(thin) ? high : thin;
    sum = (end - low) / X(bulk_modulus)(m, w, thin);
    if (RE(high) < RE(thin)) return sum;
    low = end;
  }
  od_x part = od_x_log(high / low) / PARTS;
  for (int i = 0; i < PARTS; i++)
    for (int k = 0; k < 5; k++) {
      od_x inside = low * od_x_exp((i + at[k]) * part);
      sum += weight[k] * part * inside / X(bulk_modulus)(m, w, inside);
    }
  return sum;
}

// Returns the density of the oil at the pressure p, kg/m3, from d rho / rho = dp / B. The density in the machine file
// belongs to zero pressure or, for oil with air, to the reference pressure of the air.
static od_x X(oil_density)(const od_model *m, const od_x *w, od_x p) {
  const od_x *q = w + m->layout.theta + m->oil + OD_OIL_LAW;
  od_x given = w[m->layout.theta + m->oil + OD_OIL_DENSITY];
  switch (m->oil_law) {
    case OD_OIL_CONSTANT: return given * od_x_exp(p / q[0]);
    case OD_OIL_LINEAR: return given * X(linear_compression)(q[1], p / q[0]);
    case OD_OIL_AIR:
      return given * od_x_exp(RE(p) < RE(q[2]) ? -X(compression_with_air)(m, w, p, q[2])
                                               : X(compression_with_air)(m, w, q[2], p));
  }
  return given;
}

// Returns the temperature of the oil, K: a state in machines with a reservoir, otherwise a number.
static inline od_x X(oil_temperature)(const od_model *m, const od_x *w) {
  const od_layout *l = &m->layout;
  return m->join.warms >= 0 ? w[l->c + m->join.warms] : w[l->theta + m->viscosity + OD_VISCOSITY_TEMPERATURE];
}

static const double X(usual_viscosity) = 46e-6;  // m2/s

// Computes the properties of the oil that elements read (OD_OIL_STATE_*), at the current temperature.
static inline void X(oil_state)(const od_model *m, od_x *w) {
  if (m->oil < 0) return;
  od_x *oil = w + m->layout.oil, density = w[m->layout.theta + m->oil + OD_OIL_DENSITY];
  oil[OD_OIL_STATE_SMOOTHING] = w[m->layout.theta + m->oil + OD_OIL_SMOOTHING];
  if (m->viscosity >= 0) {
    X(warm_oil)(w + m->layout.theta + m->viscosity, density, X(oil_temperature)(m, w), oil);
    return;
  }
  oil[OD_OIL_STATE_ROOT] = od_x_sqrt(2 / density);
  oil[OD_OIL_STATE_VISCOSITY] = X(usual_viscosity) * density;
  oil[OD_OIL_STATE_THICKENING] = 0;
  oil[OD_OIL_STATE_THINNESS] = 1;
}

#ifndef OD_COMPLEX
// Returns the derivative of the bulk modulus with respect to pressure.
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

// Computes the derivatives of the properties of the oil (OD_OIL_STATE_*) with respect to the density, the smoothing or
// a number of the viscosity.
static void oil_state_slopes(const od_model *m, const double *w, int number, double slope[OD_OIL_STATES]) {
  const double *oil = w + m->layout.oil, density = w[m->layout.theta + m->oil + OD_OIL_DENSITY];
  for (int i = 0; i < OD_OIL_STATES; i++) slope[i] = 0;
  if (number == OD_OIL_SMOOTHING) {
    slope[OD_OIL_STATE_SMOOTHING] = 1;
  } else if (m->viscosity < 0) {
    slope[OD_OIL_STATE_ROOT] = -oil[OD_OIL_STATE_ROOT] / (2 * density);
    slope[OD_OIL_STATE_VISCOSITY] = oil[OD_OIL_STATE_VISCOSITY] / density;
  } else {
    int of_viscosity = number - OD_OIL_VISCOSITY;
    bool warmer = of_viscosity == OD_VISCOSITY_TEMPERATURE && m->join.warms < 0;
    int by = number == OD_OIL_DENSITY ? OD_WARM_BY_DENSITY : warmer ? OD_WARM_BY_TEMPERATURE : of_viscosity;
    od_warm_oil_slopes(w + m->layout.theta + m->viscosity, density, oil_temperature_r(m, w), by, slope);
  }
}

// Returns the derivative of the bulk modulus with respect to a number of its law.
static double bulk_number_slope(const od_model *m, const double *w, double p, int number) {
  const double *q = w + m->layout.theta + m->oil + OD_OIL_LAW;
  if (m->oil_law != OD_OIL_AIR) return number == 0 ? 1 : p;
  double floor = p > 1e3 ? p : 1e3, share = air_share_r(q, floor), modulus = bulk_modulus_r(m, w, p);
  double square = -modulus * modulus, by_share = 1 / (q[3] * floor) - 1 / q[0], grown = share * (1 - share);
  switch (number) {
    case 0: return square * -(1 - share) / (q[0] * q[0]);
    case 1: return square * by_share * (q[1] > 0 ? grown / (q[1] * (1 - q[1])) : first_air_r(q, floor));
    case 2: return square * by_share * grown / (q[3] * q[2]);
    default: return square * (by_share * grown * log(floor / q[2]) / (q[3] * q[3]) - share / (q[3] * q[3] * floor));
  }
}
#endif
