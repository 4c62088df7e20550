// The equations of the squeezing mechanism. See the header.
#include "oracle/squeezer.h"

#include <math.h>
#include <string.h>

#include "oracle/extrapolation.h"

enum { N = SQUEEZER_ANGLES, CONSTRAINTS = 6, ALL = N + CONSTRAINTS };
enum { BE, TH, GA, PH, DE, OM, EP };

static const double m1 = 0.04325, m2 = 0.00365, m3 = 0.02373, m4 = 0.00706, m5 = 0.0705, m6 = 0.00706, m7 = 0.05498;
static const double i1 = 2.194e-6, i2 = 4.41e-7, i3 = 5.255e-6, i4 = 5.667e-7, i5 = 1.169e-5, i6 = 5.667e-7,
                    i7 = 1.912e-5;
static const double xa = -0.06934, ya = -0.00227, xb = -0.03635, yb = 0.03273, xc = 0.014, yc = 0.072;
static const double d = 0.028, da = 0.0115, e = 0.02, ea = 0.01421, rr = 0.007, ra = 0.00092, l0 = 0.07785, ss = 0.035;
static const double sa = 0.01874, sb = 0.01043, sc = 0.018, sd = 0.02, ta = 0.02308, tb = 0.00916;
static const double u = 0.04, ua = 0.01228, ub = 0.00449, zf = 0.02, zt = 0.04, fa = 0.01421;
static const double torque = 0.033, c0 = 4530;

static void fill_mass(const double *q, double a[ALL][ALL]) {
  const double p = e - ea, z = zf - fa, cth = cos(q[TH]), sph = sin(q[PH]), som = sin(q[OM]);
  a[BE][BE] = m1 * ra * ra + m2 * (rr * rr - 2 * da * rr * cth + da * da) + i1 + i2;
  a[BE][TH] = a[TH][BE] = m2 * (da * da - da * rr * cth) + i2;
  a[TH][TH] = m2 * da * da + i2;
  a[GA][GA] = m3 * (sa * sa + sb * sb) + i3;
  a[PH][PH] = m4 * p * p + i4;
  a[PH][DE] = a[DE][PH] = m4 * (p * p + zt * p * sph) + i4;
  a[DE][DE] = m4 * (zt * zt + 2 * zt * p * sph + p * p) + m5 * (ta * ta + tb * tb) + i4 + i5;
  a[OM][OM] = m6 * z * z + i6;
  a[OM][EP] = a[EP][OM] = m6 * (z * z - u * z * som) + i6;
  a[EP][EP] = m6 * (z * z - 2 * u * z * som + u * u) + m7 * (ua * ua + ub * ub) + i6 + i7;
}

static void fill_force(const double *q, const double *w, double *f) {
  const double p = e - ea, z = zf - fa, cga = cos(q[GA]), sga = sin(q[GA]);
  const double x = sd * cga + sc * sga + xb - xc, y = sd * sga - sc * cga + yb - yc, length = hypot(x, y);
  const double pull = -c0 * (length - l0) / length;
  f[BE] = torque - m2 * da * rr * w[TH] * (w[TH] + 2 * w[BE]) * sin(q[TH]);
  f[TH] = m2 * da * rr * w[BE] * w[BE] * sin(q[TH]);
  f[GA] = pull * (x * (sc * cga - sd * sga) + y * (sd * cga + sc * sga));
  f[PH] = m4 * zt * p * w[DE] * w[DE] * cos(q[PH]);
  f[DE] = -m4 * zt * p * w[PH] * (w[PH] + 2 * w[DE]) * cos(q[PH]);
  f[OM] = -m6 * u * z * w[EP] * w[EP] * cos(q[OM]);
  f[EP] = m6 * u * z * w[OM] * (w[OM] + 2 * w[EP]) * cos(q[OM]);
}

// Constraints are sums of r cos(c) and r sin(c), c the sum of one or two angles. Adds one arm, a vector of length r at the angle c
// + `quarter` right angles, to the two rows from `row` on: value, gradient, and second derivative along w.
static void add_arm(const double *q, const double *w, int row, double r, int first, int second, int quarter,
                    double g[CONSTRAINTS], double a[ALL][ALL], double rhs[ALL]) {
  static const double turn[4][2] = {{1, 0}, {0, 1}, {-1, 0}, {0, -1}};
  const double c = q[first] + (second >= 0 ? q[second] : 0), rate = w[first] + (second >= 0 ? w[second] : 0);
  const double *t = turn[quarter];
  const double x = r * (cos(c) * t[0] - sin(c) * t[1]), y = r * (sin(c) * t[0] + cos(c) * t[1]);
  g[row] += x, g[row + 1] += y;
  for (int k = 0; k < 2; k++) {
    const int angle = k ? second : first;
    if (angle < 0) continue;
    a[N + row][angle] -= y, a[N + row + 1][angle] += x;
  }
  rhs[N + row] += x * rate * rate, rhs[N + row + 1] += y * rate * rate;  // minus the second derivative
}

static void fill_constraints(const double *q, const double *w, double g[CONSTRAINTS], double a[ALL][ALL],
                             double rhs[ALL]) {
  const double from[CONSTRAINTS] = {xb, yb, xa, ya, xa, ya};
  for (int i = 0; i < CONSTRAINTS; i++) g[i] = -from[i];
  for (int row = 0; row < CONSTRAINTS; row += 2) {
    add_arm(q, w, row, rr, BE, -1, 0, g, a, rhs);
    add_arm(q, w, row, d, BE, TH, 2, g, a, rhs);
  }
  add_arm(q, w, 0, ss, GA, -1, 1, g, a, rhs);
  add_arm(q, w, 2, e, PH, DE, 1, g, a, rhs);
  add_arm(q, w, 2, zt, DE, -1, 2, g, a, rhs);
  add_arm(q, w, 4, zf, OM, EP, 2, g, a, rhs);
  add_arm(q, w, 4, u, EP, -1, 1, g, a, rhs);
  for (int i = 0; i < N; i++)
    for (int k = 0; k < CONSTRAINTS; k++) a[i][N + k] = a[N + k][i];
}

// Gaussian elimination with row pivots; the solution replaces b.
static void solve(double a[ALL][ALL], double b[ALL]) {
  for (int k = 0; k < ALL; k++) {
    int best = k;
    for (int i = k + 1; i < ALL; i++)
      if (fabs(a[i][k]) > fabs(a[best][k])) best = i;
    for (int j = 0; j < ALL; j++) {
      const double kept = a[k][j];
      a[k][j] = a[best][j], a[best][j] = kept;
    }
    const double kept = b[k];
    b[k] = b[best], b[best] = kept;
    for (int i = k + 1; i < ALL; i++) {
      const double factor = a[i][k] / a[k][k];
      for (int j = k; j < ALL; j++) a[i][j] -= factor * a[k][j];
      b[i] -= factor * b[k];
    }
  }
  for (int k = ALL; k-- > 0;) {
    for (int j = k + 1; j < ALL; j++) b[k] -= a[k][j] * b[j];
    b[k] /= a[k][k];
  }
}

static void rates(void *user, double t, const double *x, double *dx) {
  double a[ALL][ALL] = {{0}}, b[ALL] = {0}, g[CONSTRAINTS];
  (void)user, (void)t;
  fill_mass(x, a);
  fill_force(x, x + N, b);
  fill_constraints(x, x + N, g, a, b);
  solve(a, b);
  memcpy(dx, x + N, N * sizeof *dx);
  memcpy(dx + N, b, N * sizeof *dx);
}

double oracle_squeezer_run(double time, int steps, double angle[SQUEEZER_ANGLES]) {
  double x[2 * N] = {-0.0617138900142764496, 0,
                     0.455279819163070380,   0.222668390165885885,
                     0.487364979543842550,   -0.222668390165885885,
                     1.23054744454982119};
  double a[ALL][ALL] = {{0}}, b[ALL] = {0}, g[CONSTRAINTS], worst = 0;
  for (int i = 0; i < steps; i++) oracle_extrapolate(rates, NULL, 2 * N, 0, time / steps, x);
  fill_constraints(x, x + N, g, a, b);
  for (int i = 0; i < CONSTRAINTS; i++) worst = fmax(worst, fabs(g[i]));
  memcpy(angle, x, N * sizeof *angle);
  return worst;
}
