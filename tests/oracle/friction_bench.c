#include "oracle/friction_bench.h"

#include <math.h>
#include <string.h>

// States: position, speed; pressures of main piston and rod side, load rod and piston side; spools and their rates; bristles and films; integrals
// of the controllers, filtered pressures, the high-pass filter, the lagged reference.
enum { X, V, PM, RM, RL, PL, SP, DP, SR, DR, SL, DL, ZM, HM, ZL, HL, IP, IR, IV, FP, FR, HP, LAG, STATES };

static const double pi = 3.14159265358979323846;
static const double supply = 250e5, tank = 1e5, nominal_drop = 35e5, ambient = 1.013e5, mass = 730;
static const double main_flow = 40 / 6e4, load_flow = 100 / 6e4;

static double disc(double d) {
  return pi / 4 * d * d;
}

// (B.11) to (B.13), the pressure absolute.
static double modulus(double gauge) {
  double p = gauge + ambient, share = 1 / (0.99 / 0.01 * pow(p / ambient, 1 / 1.4) + 1);
  return 1 / (1 / 1.45e9 + share * (1 / (1.4 * p) - 1 / 1.45e9));
}

// (B.3) for one edge.
static double edge(double opening, double nominal, double dp) {
  return opening * nominal * sqrt(fabs(dp) / nominal_drop) * (dp > 0 ? 1 : -1);
}
// Flow into a chamber from the line `ahead` for a positive spool, else from the line `back`.
static double into(double spool, double nominal, double ahead, double back, double p) {
  return spool >= 0 ? edge(fmin(spool, 1), nominal, ahead - p) : edge(fmin(-spool, 1), nominal, back - p);
}

// (5.10) with the expected parameters.
static double friction(double v, double z, double h, double *dz, double *dh) {
  double Fs = v >= 0 ? 2000 : 2500, Fc = v >= 0 ? 200 : 600, viscous = v >= 0 ? 300 : 500, vs = 0.01, n = 1.2,
         a = fabs(v);
  double vb = exp(log(-log(0.002 / pow(n, 4.5))) / n) * vs;
  double steady = (1 - Fc / Fs) * pow(fmin(a, vb) / vb, 2.0 / 3), tau = a == 0 ? 30 : h <= steady ? 0.15 * 0.3 : 0.3;
  double g = Fc + ((1 - h) * Fs - Fc) * exp(-pow(a / vs, n));
  *dh = (steady - h) / tau;
  *dz = v - 1e7 * z / g * a;
  return 1e7 * z + viscous * v;
}

// (B.5) with a rate of at most 85 strokes per second: at the limit the rate stays.
static void spool(double u, double x, double v, double w, double damping, double *dx, double *dv) {
  double command = fmax(-1, fmin(1, u)), a = w * w * (command - x) - 2 * damping * w * v;
  if ((v >= 85 && a > 0) || (v <= -85 && a < 0)) a = 0;
  *dx = fmax(-85, fmin(85, v));
  *dv = a;
}

// (B.34): the opening of the edge with the pressure drop dp.
static double ahead(double flow, double nominal, double dp) {
  return flow / (nominal * sqrt(fmax(fabs(dp), 1e5) / nominal_drop));
}

static double reference(const oracle_bench *b, double t, const double *x) {
  return b->step ? x[LAG] : 0.25 * sin(2 * pi * t);
}

static void rates(const oracle_bench *b, double t, const double *x, double *k) {
  double A_pm = disc(0.05), A_rm = A_pm - disc(0.035), A_pl = disc(0.08), A_rl = A_pl - disc(0.04);
  double v_ref = reference(b, t, x), e_p = b->pressure - x[PM], e_r = b->pressure - x[RM], e_v = v_ref - x[V];
  double ff_p = 0, ff_r = 0, ff_l = 0;
  if (b->feed_forward) {
    bool on = v_ref >= 0;
    ff_p = ahead(v_ref * A_pm, main_flow, on ? supply - x[PM] : x[PM] - tank);
    ff_r = ahead(v_ref * A_rm, main_flow, on ? x[RM] - tank : supply - x[RM]);
    ff_l = (ahead(v_ref * A_rl, load_flow, on ? supply - x[RL] : x[RL] - tank) +
            ahead(v_ref * A_pl, load_flow, on ? x[PL] - tank : supply - x[PL])) /
           2;
  }
  k[FP] = 2000 * (x[PM] - x[FP]);
  k[FR] = 2000 * (x[RM] - x[FR]);
  double leakage = 2e-8 * (x[PL] - x[RL]) - x[HP];
  k[HP] = 100 * leakage;
  k[IP] = 2e-6 * e_p, k[IR] = 2e-7 * e_r, k[IV] = 20 * e_v;
  k[LAG] = 200 * ((t >= 0.5 ? -0.25 : 0) - x[LAG]);
  spool(5e-8 * e_p + x[IP] - 2e-10 * k[FP] + ff_p, x[SP], x[DP], 200 * pi, 0.707, &k[SP], &k[DP]);
  spool(-(5e-8 * e_r + x[IR] - 1e-10 * k[FR]) + ff_r, x[SR], x[DR], 200 * pi, 0.707, &k[SR], &k[DR]);
  spool(0.1 * e_v + x[IV] + ff_l + leakage, x[SL], x[DL], 120 * pi, 1, &k[SL], &k[DL]);
  double force = x[PM] * A_pm - x[RM] * A_rm + x[RL] * A_rl - x[PL] * A_pl;
  force -= friction(x[V], x[ZM], x[HM], &k[ZM], &k[HM]) + friction(x[V], x[ZL], x[HL], &k[ZL], &k[HL]);
  k[X] = x[V];
  k[V] = force / mass;
  k[PM] = modulus(x[PM]) / (0.79e-3 + A_pm * x[X]) * (into(x[SP], main_flow, supply, tank, x[PM]) - A_pm * x[V]);
  k[RM] = modulus(x[RM]) / (0.45e-3 - A_rm * x[X]) * (into(x[SR], main_flow, tank, supply, x[RM]) + A_rm * x[V]);
  k[RL] = modulus(x[RL]) / (1.38e-3 + A_rl * x[X]) * (into(x[SL], load_flow, supply, tank, x[RL]) - A_rl * x[V]);
  k[PL] = modulus(x[PL]) / (1.81e-3 - A_pl * x[X]) * (into(x[SL], load_flow, tank, supply, x[PL]) + A_pl * x[V]);
}

static void advance(const oracle_bench *b, double t, double h, double *x) {
  double k[4][STATES], y[STATES];
  for (int s = 0; s < 4; s++) {
    double part = s == 0 ? 0 : s == 3 ? h : h / 2;
    for (int i = 0; i < STATES; i++) y[i] = x[i] + (s ? part * k[s - 1][i] : 0);
    rates(b, t + part, y, k[s]);
  }
  for (int i = 0; i < STATES; i++) x[i] += h / 6 * (k[0][i] + 2 * k[1][i] + 2 * k[2][i] + k[3][i]);
}

void oracle_bench_run(const oracle_bench *b, int rows, double (*error)[3]) {
  enum { PER_ROW = 50 };
  double x[STATES] = {0}, A_pm = disc(0.05), A_rm = A_pm - disc(0.035), A_pl = disc(0.08), A_rl = A_pl - disc(0.04);
  x[X] = b->position;
  x[PM] = x[RM] = x[FP] = x[FR] = b->pressure;
  x[RL] = 100e5;
  x[PL] = (b->pressure * (A_pm - A_rm) + 100e5 * A_rl) / A_pl;
  x[HP] = 2e-8 * (x[PL] - x[RL]);
  for (int i = 0; i < rows; i++) {
    double t = i * 1e-3;
    error[i][0] = x[PM] - b->pressure;
    error[i][1] = x[RM] - b->pressure;
    error[i][2] = x[V] - reference(b, t, x);
    for (int k = 0; k < PER_ROW; k++) advance(b, t + k * 1e-3 / PER_ROW, 1e-3 / PER_ROW, x);
  }
}
