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

static inline void X(oil_state)(const od_model *m, od_x *w) {
  if (m->oil < 0) return;
  w[m->layout.oil + OD_OIL_STATE_ROOT] = od_x_sqrt(2 / w[m->layout.theta + m->oil + OD_OIL_DENSITY]);
  w[m->layout.oil + OD_OIL_STATE_SMOOTHING] = w[m->layout.theta + m->oil + OD_OIL_SMOOTHING];
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
