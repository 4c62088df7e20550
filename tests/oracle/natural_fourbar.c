// The paper's four-bar in natural coordinates and the matrix-R method. See the header for conventions.
#include "oracle/natural_fourbar.h"

#include <math.h>
#include <string.h>

#include "oracle/extrapolation.h"

enum { X1, Y1, X2, Y2, S, TH, NQ, ND = 5 };  // ND: all but theta

oracle_fourbar oracle_fourbar_spring(void) {
  return (oracle_fourbar){.mass = {2, 25, 2},
                          .length = {0.9, 1, 1.05},
                          .B = {0, -1},
                          .gravity = 9.81,
                          .stiffness = 10000,
                          .damping = 500,
                          .free_length = 1.4};
}

oracle_fourbar oracle_fourbar_toolbox(void) {
  return (oracle_fourbar){.mass = {2, 8, 5}, .length = {2, 8, 5}, .B = {10, 0}, .gravity = 9.81};
}

oracle_fourbar oracle_fourbar_swing(void) {
  oracle_fourbar m = oracle_fourbar_toolbox();
  m.mass[0] = 100, m.mass[1] = 400, m.mass[2] = 250;
  return m;
}

// Intersection of two circles: the point on the given side of the line from c to d.
static int meet(const double c[2], double rc, const double d[2], double rd, int side, double out[2]) {
  const double ex = d[0] - c[0], ey = d[1] - c[1], gap = hypot(ex, ey);
  const double along = (gap * gap + rc * rc - rd * rd) / (2 * gap), across2 = rc * rc - along * along;
  if (!(across2 >= 0)) return -1;
  const double across = side * sqrt(across2);
  out[0] = c[0] + (along * ex - across * ey) / gap;
  out[1] = c[1] + (along * ey + across * ex) / gap;
  return 0;
}

int oracle_fourbar_assemble(const oracle_fourbar *m, double theta, int elbow, double q[6]) {
  const double p1[2] = {m->A[0] + m->length[0] * cos(theta), m->A[1] + m->length[0] * sin(theta)};
  double p2[2];
  if (meet(p1, m->length[1], m->B, m->length[2], elbow, p2) != 0) return -1;
  q[X1] = p1[0], q[Y1] = p1[1], q[X2] = p2[0], q[Y2] = p2[1];
  q[S] = hypot(p2[0] - m->A[0], p2[1] - m->A[1]);
  q[TH] = theta;
  return 0;
}

int oracle_fourbar_assemble_length(const oracle_fourbar *m, double s, int elbow, double q[6]) {
  double p1[2], p2[2];
  // Looking from A down to B, positive x is on the left.
  if (meet(m->A, s, m->B, m->length[2], +1, p2) != 0) return -1;
  if (meet(m->A, m->length[0], p2, m->length[1], elbow, p1) != 0) return -1;
  q[X1] = p1[0], q[Y1] = p1[1], q[X2] = p2[0], q[Y2] = p2[1], q[S] = s;
  q[TH] = atan2(p1[1] - m->A[1], p1[0] - m->A[0]);
  return 0;
}

// Solves a x = b for several right-hand sides by Gaussian elimination with row pivoting.
static int solve5(double a[ND][ND], double *b, int columns) {
  for (int k = 0; k < ND; k++) {
    int best = k;
    for (int i = k + 1; i < ND; i++)
      if (fabs(a[i][k]) > fabs(a[best][k])) best = i;
    if (!(fabs(a[best][k]) > 1e-300)) return -1;
    for (int j = 0; j < ND && best != k; j++) {
      const double t = a[k][j];
      a[k][j] = a[best][j], a[best][j] = t;
    }
    for (int j = 0; j < columns && best != k; j++) {
      const double t = b[k * columns + j];
      b[k * columns + j] = b[best * columns + j], b[best * columns + j] = t;
    }
    for (int i = k + 1; i < ND; i++) {
      const double f = a[i][k] / a[k][k];
      for (int j = k; j < ND; j++) a[i][j] -= f * a[k][j];
      for (int j = 0; j < columns; j++) b[i * columns + j] -= f * b[k * columns + j];
    }
  }
  for (int k = ND - 1; k >= 0; k--)
    for (int j = 0; j < columns; j++) {
      double sum = b[k * columns + j];
      for (int i = k + 1; i < ND; i++) sum -= a[k][i] * b[i * columns + j];
      b[k * columns + j] = sum / a[k][k];
    }
  return 0;
}

// Eq. (19), its Jacobian, and the convective term Phi_q' q' (zero rates allowed). The last equation is the paper's
// y1 = L sin(theta) where the link is nearly horizontal; near the vertical it is singular (d y1 = 0), and x1 = L
// cos(theta) replaces it.
static void constraints(const oracle_fourbar *m, const double q[NQ], const double v[NQ], double phi[ND],
                        double jac[ND][NQ], double convective[ND]) {
  const double *A = m->A, *B = m->B, *L = m->length, c = cos(q[TH]), s = sin(q[TH]);
  memset(jac, 0, sizeof(double[ND][NQ]));

  phi[0] = pow(q[X1] - A[0], 2) + pow(q[Y1] - A[1], 2) - L[0] * L[0];
  jac[0][X1] = 2 * (q[X1] - A[0]), jac[0][Y1] = 2 * (q[Y1] - A[1]);
  convective[0] = 2 * (v[X1] * v[X1] + v[Y1] * v[Y1]);

  const double dx = q[X2] - q[X1], dy = q[Y2] - q[Y1], du = v[X2] - v[X1], dv = v[Y2] - v[Y1];
  phi[1] = dx * dx + dy * dy - L[1] * L[1];
  jac[1][X1] = -2 * dx, jac[1][X2] = 2 * dx, jac[1][Y1] = -2 * dy, jac[1][Y2] = 2 * dy;
  convective[1] = 2 * (du * du + dv * dv);

  phi[2] = pow(q[X2] - B[0], 2) + pow(q[Y2] - B[1], 2) - L[2] * L[2];
  jac[2][X2] = 2 * (q[X2] - B[0]), jac[2][Y2] = 2 * (q[Y2] - B[1]);
  convective[2] = 2 * (v[X2] * v[X2] + v[Y2] * v[Y2]);

  phi[3] = pow(q[X2] - A[0], 2) + pow(q[Y2] - A[1], 2) - q[S] * q[S];
  jac[3][X2] = 2 * (q[X2] - A[0]), jac[3][Y2] = 2 * (q[Y2] - A[1]), jac[3][S] = -2 * q[S];
  convective[3] = 2 * (v[X2] * v[X2] + v[Y2] * v[Y2] - v[S] * v[S]);

  if (fabs(c) > fabs(s)) {
    phi[4] = q[Y1] - A[1] - L[0] * s;
    jac[4][Y1] = 1, jac[4][TH] = -L[0] * c;
    convective[4] = L[0] * s * v[TH] * v[TH];
  } else {
    phi[4] = q[X1] - A[0] - L[0] * c;
    jac[4][X1] = 1, jac[4][TH] = L[0] * s;
    convective[4] = L[0] * c * v[TH] * v[TH];
  }
}

// Position problem: Newton on eq. (19) with theta held, from the guess in q, which selects the branch.
static int solve_position(const oracle_fourbar *m, double theta, double q[NQ]) {
  const double still[NQ] = {0};
  q[TH] = theta;
  double before = INFINITY;
  for (int iteration = 0; iteration < 50; iteration++) {
    double phi[ND], jac[ND][NQ], unused[ND], a[ND][ND];
    constraints(m, q, still, phi, jac, unused);
    for (int i = 0; i < ND; i++) memcpy(a[i], jac[i], sizeof a[i]);
    if (solve5(a, phi, 1) != 0) return -1;
    double size = 0;
    for (int i = 0; i < ND; i++) {
      q[i] -= phi[i];
      size = fmax(size, fabs(phi[i]));
    }
    // Converged when round-off stops the decrease.
    if (size < 1e-15 || (size < 1e-11 && size >= before)) return 0;
    before = size;
  }
  return before < 1e-13 ? 0 : -1;
}

// Eq. (17), the bars' consistent mass matrix.
static void mass_matrix(const oracle_fourbar *m, double M[NQ][NQ]) {
  memset(M, 0, sizeof(double[NQ][NQ]));
  M[X1][X1] = M[Y1][Y1] = (m->mass[0] + m->mass[1]) / 3;
  M[X2][X2] = M[Y2][Y2] = (m->mass[1] + m->mass[2]) / 3;
  M[X1][X2] = M[X2][X1] = M[Y1][Y2] = M[Y2][Y1] = m->mass[1] / 6;
}

// All quantities at one state: positions, eq. (4) v = R w, eq. (6) for a, eq. (5) b = R a + R' w.
static int evaluate(const oracle_fourbar *m, double z, double w, double q[NQ], oracle_fourbar_sample *out) {
  if (solve_position(m, z, q) != 0) return -1;

  // R: dependent columns times R_d = - column of theta; R' w: the same matrix against the convective term.
  double phi[ND], jac[ND][NQ], convective[ND], a[ND][ND], right[ND], R[NQ], Rdw[NQ], v[NQ] = {0};
  constraints(m, q, v, phi, jac, convective);
  for (int i = 0; i < ND; i++) {
    memcpy(a[i], jac[i], sizeof a[i]);
    right[i] = -jac[i][TH];
  }
  if (solve5(a, right, 1) != 0) return -1;
  memcpy(R, right, sizeof right);
  R[TH] = 1;
  for (int i = 0; i < NQ; i++) v[i] = R[i] * w;
  constraints(m, q, v, phi, jac, convective);
  for (int i = 0; i < ND; i++) {
    memcpy(a[i], jac[i], sizeof a[i]);
    right[i] = -convective[i];
  }
  if (solve5(a, right, 1) != 0) return -1;
  memcpy(Rdw, right, sizeof right);
  Rdw[TH] = 0;

  // Eq. (18).
  const double g = m->gravity, *mass = m->mass, stretch = q[S] - m->free_length;
  const double Q[NQ] = {
      0, -(mass[0] + mass[1]) * g / 2, 0, -(mass[1] + mass[2]) * g / 2, -m->stiffness * stretch - m->damping * v[S], 0};

  // Eq. (6).
  double M[NQ][NQ], reduced = 0, force = 0, kinetic = 0;
  mass_matrix(m, M);
  for (int i = 0; i < NQ; i++) {
    double MR = 0, MRdw = 0, Mv = 0;
    for (int j = 0; j < NQ; j++) MR += M[i][j] * R[j], MRdw += M[i][j] * Rdw[j], Mv += M[i][j] * v[j];
    reduced += R[i] * MR;
    force += R[i] * (Q[i] - MRdw);
    kinetic += 0.5 * v[i] * Mv;
  }
  out->z = z, out->w = w, out->a = force / reduced;
  for (int i = 0; i < NQ; i++) {
    out->q[i] = q[i];
    out->v[i] = v[i];
    out->b[i] = R[i] * out->a + Rdw[i];
  }
  out->kinetic = kinetic;
  // The weight of each bar acts at its center.
  out->potential = g / 2 * (mass[0] * (m->A[1] + q[Y1]) + mass[1] * (q[Y1] + q[Y2]) + mass[2] * (m->B[1] + q[Y2])) +
                   0.5 * m->stiffness * stretch * stretch;
  out->loss = m->damping * v[S] * v[S];
  return isfinite(out->a) ? 0 : -1;
}

int oracle_fourbar_acceleration(const oracle_fourbar *m, double z, double w, double q[6], double *a) {
  oracle_fourbar_sample sample;
  if (evaluate(m, z, w, q, &sample) != 0) return -1;
  *a = sample.a;
  return 0;
}

int oracle_fourbar_trapezoid(const oracle_fourbar *m, const double q0[6], double w0, double h, int steps,
                             oracle_fourbar_sample *out) {
  double q[NQ];
  memcpy(q, q0, sizeof q);
  out[0].t = 0;
  if (evaluate(m, q[TH], w0, q, &out[0]) != 0) return -1;
  for (int n = 0; n < steps; n++) {
    const oracle_fourbar_sample *old = &out[n];
    oracle_fourbar_sample *next = &out[n + 1];
    // Eq. (12) makes z and w functions of the new acceleration a; Newton on a - f(z(a), w(a)) = 0 with the derivative
    // by finite differences, which affects the number of iterations, not the accuracy.
    double a = old->a, before = INFINITY;
    for (int iteration = 0;; iteration++) {
      const double w = old->w + h / 2 * (old->a + a), z = old->z + h / 2 * (old->w + w);
      if (evaluate(m, z, w, q, next) != 0) return -1;
      const double defect = a - next->a, d = 1e-6 * (1 + fabs(a));
      // Converged to 1e-13 of the state (h times the defect is the rate's error) and no longer decreasing.
      const double size = h * fabs(defect) / (1 + fabs(w));
      if (size == 0 || (size < 1e-13 && size >= 0.1 * before)) break;
      if (iteration == 30) return -1;
      before = size;
      oracle_fourbar_sample moved;
      const double wd = w + h / 2 * d, zd = z + h / 2 * (wd - w);
      if (evaluate(m, zd, wd, q, &moved) != 0) return -1;
      a -= defect / (1 - (moved.a - next->a) / d);
    }
    next->t = (n + 1) * h;
  }
  return 0;
}

// The state-space form x = (z, w), eq. (8), for the explicit integrator.
typedef struct run {
  const oracle_fourbar *m;
  double q[NQ];
  int failed;
} run;

static void rates(void *user, double t, const double *x, double *dx) {
  run *r = user;
  oracle_fourbar_sample sample = {0};
  (void)t;
  if (evaluate(r->m, x[0], x[1], r->q, &sample) != 0) r->failed = 1;
  dx[0] = x[1], dx[1] = sample.a;
}

int oracle_fourbar_tight(const oracle_fourbar *m, const double q0[6], double w0, double h, int steps, int inner,
                         oracle_fourbar_sample *out) {
  run r = {.m = m};
  memcpy(r.q, q0, sizeof r.q);
  double x[2] = {q0[TH], w0};
  for (int n = 0; n <= steps; n++) {
    out[n].t = n * h;
    if (evaluate(m, x[0], x[1], r.q, &out[n]) != 0) return -1;
    for (int k = 0; k < inner && n < steps; k++) oracle_extrapolate(rates, &r, 2, 0, h / inner, x);
    if (r.failed) return -1;
  }
  return 0;
}
