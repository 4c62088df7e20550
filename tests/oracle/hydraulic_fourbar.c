// The hydraulic four-bar by hand. See the header. Numbers in brackets are the paper's equations.
#include "oracle/hydraulic_fourbar.h"

#include <math.h>
#include <string.h>

enum { N = 6, STAGES = 3, UNKNOWNS = N * STAGES };
enum { PHI, W, PP, P1, P2, U };

// ---- the machines

static oracle_hydraulic base(void) {
  const double root3 = sqrt(3.0), pi = acos(-1.0);
  return (oracle_hydraulic){
      .length = {2, 8, 5},
      .mass = {100, 400, 250},
      .ground = 10,
      .D = {-1, 0},
      .gravity = 9.81,
      .density = 869,
      .kp = 1600e6,
      .k0 = 0.5,
      .smoothing = 1e4,
      .pump = 1e-3,
      .tank = 0.1e6,
      .pump_volume = 3.42e-3,
      .hose = {3.42e-3, 3.42e-3},
      .relief_area = 1.522e-5,
      .valve_area = 1.96e-6,
      .discharge = 0.5,
      .area = {2e-3, 1.8e-3},
      .l0 = {root3 / 2, root3 / 2},
      .s0 = root3,
      .Fc = 210,
      .Fs = 830,
      .vs = 0.0125,
      .viscous = 330,
      .time_constant = 0.02,
      .amplitude = 10,
      .omega = 0.4 * pi,
      .full_spool = 10,
      .full_curve = 95,
      .degree = 2,
  };
}

oracle_hydraulic oracle_hydraulic_true(int points, int spline) {
  // Interior points for 3 to 6 points, and the factors of the ports.
  static const double interior[2][4][4] = {{{60}, {42, 72}, {33, 58, 80}, {28, 47, 64, 80}},
                                           {{12}, {6, 14}, {6, 30, 88}, {4, 14, 78, 90}}};
  static const double factor[ORACLE_PORTS] = {1, 0.92, 1.06, 0.96};
  oracle_hydraulic m = base();
  m.points = points;
  for (int port = 0; port < ORACLE_PORTS; port++) {
    m.curve[port][0] = 0;
    for (int i = 1; i < points - 1; i++) m.curve[port][i] = factor[port] * interior[spline - 1][points - 3][i - 1];
    m.curve[port][points - 1] = m.full_curve;
  }
  return m;
}

oracle_hydraulic oracle_hydraulic_wrong(void) {
  oracle_hydraulic m = base();
  m.kp = 1500e6, m.k0 = 0.4;
  m.points = 3;
  for (int port = 0; port < ORACLE_PORTS; port++)
    for (int i = 0; i < 3; i++) m.curve[port][i] = m.full_curve * i / 2;
  return m;
}

// ---- the mechanism

typedef struct pose {
  double s, s1;         // cylinder length and its derivative by phi
  double J, J1, V, V1;  // inertia reduced to the crank, potential energy, their derivatives
} pose;

// Angles of coupler (b) and rocker (c) from the loop l1 e^(i phi) + l2 e^(i b) = ground + l3 e^(i c), coupler above the
// line from the crank's end to the second pivot. Returns 0, or -1 where the loop is open.
static int solve(const oracle_hydraulic *m, double phi, pose *k) {
  const double l1 = m->length[0], l2 = m->length[1], l3 = m->length[2], g = m->gravity;
  const double x = l1 * cos(phi), y = l1 * sin(phi), d = hypot(m->ground - x, y);
  const double cosine = (d * d + l2 * l2 - l3 * l3) / (2 * d * l2);
  if (!(fabs(cosine) < 1)) return -1;
  const double b = atan2(-y, m->ground - x) + acos(cosine);
  const double c = atan2(y + l2 * sin(b), x + l2 * cos(b) - m->ground);
  // First and second derivatives of the loop with respect to phi, projected on rocker and coupler in turn to eliminate
  // one unknown.
  const double b1 = -l1 * sin(phi - c) / (l2 * sin(b - c)), c1 = l1 * sin(phi - b) / (l3 * sin(c - b));
  const double b2 = (-l1 * cos(phi - c) - l2 * b1 * b1 * cos(b - c) + l3 * c1 * c1) / (l2 * sin(b - c));
  const double c2 = (l1 * cos(phi - b) + l2 * b1 * b1 - l3 * c1 * c1 * cos(c - b)) / (l3 * sin(c - b));

  // Slender bars: m l^2 / 3 about an end. The coupler's center moves with i l1 e^(i phi) + i l2/2 b1 e^(i b).
  const double *mass = m->mass;
  const double crank = mass[0] * l1 * l1 / 3, rocker = mass[2] * l3 * l3 / 3;
  k->J = crank + mass[1] * (l1 * l1 + l2 * l2 * b1 * b1 / 3 + l1 * l2 * b1 * cos(phi - b)) + rocker * c1 * c1;
  k->J1 = mass[1] * (2 * l2 * l2 * b1 * b2 / 3 + l1 * l2 * (b2 * cos(phi - b) - b1 * (1 - b1) * sin(phi - b))) +
          2 * rocker * c1 * c2;
  k->V = g * (mass[0] * l1 / 2 * sin(phi) + mass[1] * (l1 * sin(phi) + l2 / 2 * sin(b)) + mass[2] * l3 / 2 * sin(c));
  k->V1 = g * (mass[0] * l1 / 2 * cos(phi) + mass[1] * (l1 * cos(phi) + l2 / 2 * cos(b) * b1) +
               mass[2] * l3 / 2 * cos(c) * c1);

  const double gx = l1 / 2 * cos(phi) - m->D[0], gy = l1 / 2 * sin(phi) - m->D[1];  // [33]
  k->s = hypot(gx, gy);
  k->s1 = (-gx * l1 / 2 * sin(phi) + gy * l1 / 2 * cos(phi)) / k->s;
  return 0;
}

double oracle_hydraulic_angle(const oracle_hydraulic *m, double s) {
  // Triangle of crank pivot, foot and head.
  const double foot = hypot(m->D[0], m->D[1]), half = m->length[0] / 2;
  return atan2(m->D[1], m->D[0]) - acos((foot * foot + half * half - s * s) / (2 * foot * half));
}

double oracle_hydraulic_holding_force(const oracle_hydraulic *m, double angle) {
  pose k;
  return solve(m, angle, &k) == 0 ? k.V1 / k.s1 : NAN;
}

double oracle_hydraulic_balance(const oracle_hydraulic *m, double angle, double p1) {
  return (p1 * m->area[0] - oracle_hydraulic_holding_force(m, angle)) / m->area[1];
}

// ---- curves

double oracle_basis(const double *knots, int count, int i, int degree, double u) {
  if (degree == 0) {
    // [22]; the last non-empty span includes its right end.
    const double end = knots[count - 1];
    return (knots[i] <= u && u < knots[i + 1]) || (u == end && knots[i] < end && knots[i + 1] == end);
  }
  double sum = 0;  // [23], 0/0 = 0
  const double left = knots[i + degree] - knots[i], right = knots[i + degree + 1] - knots[i + 1];
  if (left > 0) sum += (u - knots[i]) / left * oracle_basis(knots, count, i, degree - 1, u);
  if (right > 0) sum += (knots[i + degree + 1] - u) / right * oracle_basis(knots, count, i + 1, degree - 1, u);
  return sum;
}

// The basis functions at the parameter whose abscissa is `travel`.
static void basis_at(const oracle_hydraulic *m, double travel, double *B) {
  double knots[2 * ORACLE_CURVE_MOST];
  const int n = m->points, d = m->degree, count = n + d + 1;
  for (int i = 0; i < count; i++) {
    const double inside = (double)(i - d) / (n - d);
    knots[i] = inside < 0 ? 0 : inside > 1 ? 1 : inside;
  }
  double low = 0, high = 1;
  // 54 halvings: down to round-off.
  for (int round = 0; round < 54; round++) {
    const double u = (low + high) / 2;
    double x = 0;
    for (int i = 0; i < n; i++) x += oracle_basis(knots, count, i, d, u) * m->full_spool * i / (n - 1);
    if (x > travel)
      high = u;
    else
      low = u;
  }
  for (int i = 0; i < n; i++) B[i] = oracle_basis(knots, count, i, d, (low + high) / 2);
}

static double ordinate(const oracle_hydraulic *m, int port, const double *B) {
  double sum = 0;
  for (int i = 0; i < m->points; i++) sum += B[i] * m->curve[port][i];
  return sum;
}

double oracle_hydraulic_curve(const oracle_hydraulic *m, int port, double travel) {
  double B[ORACLE_CURVE_MOST];
  basis_at(m, travel, B);
  return ordinate(m, port, B);
}

// ---- the circuit

static double smooth_sqrt(const oracle_hydraulic *m, double dp) {
  return dp * pow(dp * dp + m->smoothing * m->smoothing, -0.25);
}

static double friction(const oracle_hydraulic *m, double v) {  // [14]
  const double r = fabs(v) / m->vs, hump = r / pow(r * r / 4 + 0.75, 2);
  return (m->Fc * tanh(4 * r) + (m->Fs - m->Fc) * hump) * (v > 0 ? 1 : v < 0 ? -1 : 0) + m->viscous * v * tanh(4.0);
}

// Everything at one state.
typedef struct instant {
  pose k;
  double v, F, rubbing;                      // speed and force of the cylinder, friction in it
  double flow[ORACLE_PORTS], relief, in[3];  // net inflows of p, 1, 2
} instant;

static int evaluate(const oracle_hydraulic *m, double t, const double *y, double *dy, instant *e) {
  if (solve(m, y[PHI], &e->k) != 0) return -1;
  const double root = m->discharge * sqrt(2 / m->density), from[ORACLE_PORTS] = {y[PP], y[P2], y[PP], y[P1]};
  const double to[ORACLE_PORTS] = {y[P1], m->tank, y[P2], m->tank};
  const double travel = fmin(fabs(y[U]), m->full_spool);
  double B[ORACLE_CURVE_MOST];
  basis_at(m, travel, B);
  for (int i = 0; i < ORACLE_PORTS; i++) {
    const int open = i < 2 ? y[U] > 0 : y[U] < 0;  // a and b for U > 0, c and d for U < 0
    const double opening = ordinate(m, i, B) / m->full_curve * travel / m->full_spool;
    e->flow[i] = open ? root * m->valve_area * opening * smooth_sqrt(m, from[i] - to[i]) : 0;  // [10]
  }
  e->relief = root * m->relief_area * smooth_sqrt(m, y[PP] - m->tank);  // [9]

  e->v = e->k.s1 * y[W];
  e->rubbing = friction(m, e->v);
  e->F = y[P1] * m->area[0] - y[P2] * m->area[1] - e->rubbing;  // [13]
  e->in[0] = m->pump - e->relief - e->flow[ORACLE_PORT_A] - e->flow[ORACLE_PORT_C];
  e->in[1] = e->flow[ORACLE_PORT_A] - e->flow[ORACLE_PORT_D] - m->area[0] * e->v;
  e->in[2] = e->flow[ORACLE_PORT_C] - e->flow[ORACLE_PORT_B] + m->area[1] * e->v;
  const double shift = e->k.s - m->s0;  // [34], [35]
  const double volume[3] = {m->pump_volume, m->hose[0] + m->area[0] * (m->l0[0] + shift),
                            m->hose[1] + m->area[1] * (m->l0[1] - shift)};

  dy[PHI] = y[W];
  dy[W] = (e->F * e->k.s1 - e->k.J1 * y[W] * y[W] / 2 - e->k.V1) / e->k.J;
  for (int i = 0; i < 3; i++) dy[PP + i] = (m->kp + m->k0 * y[PP + i]) / volume[i] * e->in[i];  // [8], [32]
  dy[U] = (m->amplitude * sin(m->omega * t) - y[U]) / m->time_constant;                         // [11]
  for (int i = 0; i < N; i++)
    if (!isfinite(dy[i])) return -1;
  return 0;
}

static void powers(const oracle_hydraulic *m, const double *y, const instant *e, double *power) {
  const double *Q = e->flow;
  power[ORACLE_PUMPED] = m->pump * (y[PP] - m->tank);
  power[ORACLE_RELIEVED] = e->relief * (y[PP] - m->tank);
  power[ORACLE_THROTTLED] = Q[ORACLE_PORT_A] * (y[PP] - y[P1]) + Q[ORACLE_PORT_B] * (y[P2] - m->tank) +
                            Q[ORACLE_PORT_C] * (y[PP] - y[P2]) + Q[ORACLE_PORT_D] * (y[P1] - m->tank);
  power[ORACLE_RUBBED] = e->rubbing * e->v;
  power[ORACLE_COMPRESSED] = y[PP] * e->in[0] + y[P1] * e->in[1] + y[P2] * e->in[2];
  power[ORACLE_TAKEN] = m->tank * (e->relief + Q[ORACLE_PORT_B] + Q[ORACLE_PORT_D] - m->pump);
}

// ---- Radau IIA of order 5: collocation at the zeros of the right Radau polynomial

static const double size[N] = {1, 1, 1e6, 1e6, 1e6, 10};  // of the states

typedef struct radau {
  double c[STAGES], a[STAGES][STAGES];
} radau;

static radau radau_nodes(void) {
  radau r = {.c = {(4 - sqrt(6.0)) / 10, (4 + sqrt(6.0)) / 10, 1}};
  // a_ij: integral from 0 to c_i of the Lagrange polynomial of node j, (x - p)(x - q) / ((c_j - p)(c_j - q)).
  for (int j = 0; j < STAGES; j++) {
    const double p = r.c[(j + 1) % 3], q = r.c[(j + 2) % 3], scale = (r.c[j] - p) * (r.c[j] - q);
    for (int i = 0; i < STAGES; i++) {
      const double x = r.c[i];
      r.a[i][j] = (x * x * x / 3 - (p + q) * x * x / 2 + p * q * x) / scale;
    }
  }
  return r;
}

// Gauss with partial pivoting, in two halves so that factors can be used again.
static int factor(double (*a)[UNKNOWNS], int *pivot) {
  for (int k = 0; k < UNKNOWNS; k++) {
    pivot[k] = k;
    for (int i = k + 1; i < UNKNOWNS; i++)
      if (fabs(a[i][k]) > fabs(a[pivot[k]][k])) pivot[k] = i;
    if (!(fabs(a[pivot[k]][k]) > 0)) return -1;
    for (int j = 0; j < UNKNOWNS; j++) {
      const double swap = a[k][j];
      a[k][j] = a[pivot[k]][j], a[pivot[k]][j] = swap;
    }
    for (int i = k + 1; i < UNKNOWNS; i++) {
      a[i][k] /= a[k][k];
      for (int j = k + 1; j < UNKNOWNS; j++) a[i][j] -= a[i][k] * a[k][j];
    }
  }
  return 0;
}

static void substitute(double (*a)[UNKNOWNS], const int *pivot, double *b) {
  for (int k = 0; k < UNKNOWNS; k++) {
    const double swap = b[k];
    b[k] = b[pivot[k]], b[pivot[k]] = swap;
  }
  for (int i = 1; i < UNKNOWNS; i++)
    for (int j = 0; j < i; j++) b[i] -= a[i][j] * b[j];
  for (int i = UNKNOWNS - 1; i >= 0; i--) {
    for (int j = i + 1; j < UNKNOWNS; j++) b[i] -= a[i][j] * b[j];
    b[i] /= a[i][i];
  }
}

// I - h A x J with J by central differences, factored. States are scaled by their sizes.
static int newton_matrix(const oracle_hydraulic *m, const radau *r, double t, double h, const double *y,
                         double (*a)[UNKNOWNS], int *pivot) {
  double J[N][N];
  instant e;
  for (int j = 0; j < N; j++) {
    double ahead[N], behind[N], up[N], down[N];
    memcpy(ahead, y, sizeof ahead);
    memcpy(behind, y, sizeof behind);
    const double d = 1e-6 * size[j];
    ahead[j] += d, behind[j] -= d;
    if (evaluate(m, t, ahead, up, &e) != 0 || evaluate(m, t, behind, down, &e) != 0) return -1;
    for (int i = 0; i < N; i++) J[i][j] = (up[i] - down[i]) / (2 * d) * size[j] / size[i];
  }
  for (int i = 0; i < UNKNOWNS; i++)
    for (int j = 0; j < UNKNOWNS; j++) a[i][j] = (i == j) - h * r->a[i / N][j / N] * J[i % N][j % N];
  return factor(a, pivot);
}

// One step; y and the energies move to t + h.
static int step(const oracle_hydraulic *m, const radau *r, double t, double h, double *y, double *energy) {
  double a[UNKNOWNS][UNKNOWNS], z[STAGES][N] = {{0}}, f[STAGES][N], g[UNKNOWNS], last = INFINITY;
  int pivot[UNKNOWNS];
  instant e[STAGES];
  if (newton_matrix(m, r, t, h, y, a, pivot) != 0) return -1;
  int done = 0;
  for (int round = 0; round < 40 && !done; round++) {
    for (int s = 0; s < STAGES; s++) {
      double at[N];
      for (int i = 0; i < N; i++) at[i] = y[i] + z[s][i];
      if (evaluate(m, t + r->c[s] * h, at, f[s], &e[s]) != 0) return -1;
    }
    for (int s = 0; s < STAGES; s++)
      for (int i = 0; i < N; i++) {
        double sum = z[s][i];
        for (int k = 0; k < STAGES; k++) sum -= h * r->a[s][k] * f[k][i];
        g[s * N + i] = sum / size[i];
      }
    substitute(a, pivot, g);
    double largest = 0;
    for (int s = 0; s < STAGES; s++)
      for (int i = 0; i < N; i++) {
        z[s][i] -= g[s * N + i] * size[i];
        largest = fmax(largest, fabs(g[s * N + i]));
      }
    if (!isfinite(largest)) return -1;
    done = largest < 1e-15 || (largest < 1e-12 && largest > last / 4);  // at rounding
    last = largest;
  }
  if (!done) return -1;
  for (int s = 0; s < STAGES; s++) {
    double at[N], power[ORACLE_ENERGIES];
    for (int i = 0; i < N; i++) at[i] = y[i] + z[s][i];
    if (evaluate(m, t + r->c[s] * h, at, f[s], &e[s]) != 0) return -1;
    powers(m, at, &e[s], power);
    for (int i = 0; i < ORACLE_ENERGIES; i++) energy[i] += h * r->a[STAGES - 1][s] * power[i];
  }
  for (int i = 0; i < N; i++) y[i] += z[STAGES - 1][i];
  return 0;
}

int oracle_hydraulic_run(const oracle_hydraulic *m, double s, const double p[3], double h, int steps, int inner,
                         oracle_hydraulic_sample *out) {
  const radau r = radau_nodes();
  double y[N] = {oracle_hydraulic_angle(m, s), 0, p[0], p[1], p[2], 0}, energy[ORACLE_ENERGIES] = {0}, dy[N];
  for (int n = 0; n <= steps; n++) {
    instant e;
    if (evaluate(m, n * h, y, dy, &e) != 0) return -1;
    out[n] = (oracle_hydraulic_sample){.t = n * h,
                                       .s = e.k.s,
                                       .s_rate = e.v,
                                       .acceleration = dy[W],
                                       .relief_flow = e.relief,
                                       .kinetic = e.k.J * y[W] * y[W] / 2,
                                       .potential = e.k.V};
    memcpy(out[n].y, y, sizeof y);
    memcpy(out[n].flow, e.flow, sizeof e.flow);
    memcpy(out[n].energy, energy, sizeof energy);
    for (int i = 0; i < inner && n < steps; i++)
      if (step(m, &r, n * h + i * h / inner, h / inner, y, energy) != 0) return -1;
  }
  return 0;
}
