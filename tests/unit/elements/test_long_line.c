// Long lines by modes: their frequency response, water hammer, and their initial state.
//
// Oracles: the sum of the modes as a rational function, in closed form; Y = coth(g L)/Z and 1/(Z sinh(g L)) of the telegraph equations with the
// same resistance at all frequencies; the same with the impedance of laminar flow by Bessel functions (their power series); Joukowsky's rho a v.
#include <complex.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/test.h"
#include "elements/elements.h"
#include "support/machines.h"

static const double pi = 3.14159265358979323846;
static const double density = 870, mu = 0.04, length = 10, diameter = 0.012, sound = 1200;
enum { INS = 15, OUTS = 17, FIRST_RATE = 2, GIVE = 15 };

typedef struct line {
  double w[64], in[INS];
  int pool[8];
  od_batch batch;
} line;

static line line_with(double modes, double unsteady) {
  line x = {.pool = {5, 0, 0}};
  const double numbers[] = {length, diameter, sound, 0, modes, unsteady};
  x.w[OD_OIL_STATE_ROOT] = sqrt(2 / density), x.w[OD_OIL_STATE_SMOOTHING] = 1e4, x.w[OD_OIL_STATE_VISCOSITY] = mu;
  memcpy(x.w + 5, numbers, sizeof numbers);
  x.batch =
      (od_batch){.count = 1, .in = 12, .out = 12 + INS, .report = 12 + INS + OUTS, .number = 0, .host = 1, .choice = 2};
  return x;
}
static void evaluate(line *x, double *out) {
  memcpy(x->w + x->batch.in, x->in, sizeof x->in);
  od_long_line_description.equations->evaluate(&x->batch, x->pool, x->w);
  memcpy(out, x->w + x->batch.out, OUTS * sizeof *out);
}

// Flows into the line at both ends for a pressure of amplitude 1 at the first, with the compliance there: (jw - A) x = B, y = C x. The
// element is linear.
static void response(int modes, double unsteady, double omega, double complex y[2]) {
  line x = line_with(modes, unsteady);
  double column[INS][OUTS];
  for (int i = 0; i < INS; i++) {
    memset(x.in, 0, sizeof x.in);
    x.in[i] = 1;
    evaluate(&x, column[i]);
  }
  enum { N = INS - 2 };
  double complex M[N][N + 1];
  for (int i = 0; i < N; i++) {
    for (int k = 0; k < N; k++) M[i][k] = (i == k ? I * omega : 0) - column[2 + k][FIRST_RATE + i];
    M[i][N] = column[0][FIRST_RATE + i];
  }
  for (int k = 0; k < N; k++) {
    int best = k;
    for (int i = k; i < N; i++)
      if (cabs(M[i][k]) > cabs(M[best][k])) best = i;
    for (int c = 0; c <= N; c++) {
      double complex swap = M[k][c];
      M[k][c] = M[best][c], M[best][c] = swap;
    }
    for (int i = 0; i < N; i++) {
      double complex f = i == k ? 0 : M[i][k] / M[k][k];
      for (int c = k; c <= N; c++) M[i][c] -= f * M[k][c];
    }
  }
  y[0] = column[0][0], y[1] = column[0][1];
  for (int k = 0; k < N; k++)
    for (int e = 0; e < 2; e++) y[e] += column[2 + k][e] * M[k][N] / M[k][k];
  y[0] = -y[0] + I * omega * column[0][GIVE];
  y[1] = -y[1];
}

// J1(z)/(z J0(z)) by power series.
static double complex bessel_ratio(double complex z) {
  double complex j0 = 1, j1 = 0.5, a = 1, b = 0.5, q = -z * z / 4;
  for (int k = 1; k < 400; k++) {
    a *= q / (double)(k * k), b *= q / (double)(k * (k + 1));
    j0 += a, j1 += b;
  }
  return j1 / j0;
}

// The admittance of the whole line: series impedance and shunt capacity per meter.
static void exact(bool laminar, double omega, double complex y[2]) {
  double area = pi * diameter * diameter / 4, inertance = density / area, C = area / (density * sound * sound);
  double r = diameter / 2;
  double complex z = cpow(I, 1.5) * r * sqrt(omega * density / mu);
  double complex series = laminar ? I * omega * inertance / (1 - 2 * bessel_ratio(z))
                                  : I * omega * inertance + 128 * mu / (pi * pow(diameter, 4));
  double complex g = csqrt(series * I * omega * C), Z = csqrt(series / (I * omega * C));
  y[0] = 1 / (Z * ctanh(g * length));
  y[1] = -1 / (Z * csinh(g * length));
}

static double first_frequency(void) {
  return pi * sound / length;
}

// Against the sum of the modes, to round-off.
static void sum_of_modes(void **state) {
  (void)state;
  double area = pi * diameter * diameter / 4, L = density / area, C = area / (density * sound * sound);
  double R = 128 * mu / (pi * pow(diameter, 4));
  for (int modes = 1; modes <= 6; modes++)
    for (double at = 0.1; at < 7; at *= 1.37) {
      double omega = at * first_frequency(), rest = 0.5;
      double complex want[2], got[2], s = I * omega;
      want[0] = 1 / ((L * s + R) * length), want[1] = -want[0];
      for (int n = 1; n <= modes; n++) {
        double k = n * pi / length;
        double complex part = 2 / length / (L * s + R + k * k / (C * s));
        want[0] += part, want[1] -= (n % 2 ? -1 : 1) * part;
        if (n % 2) rest -= 4 / (n * pi * n * pi);
      }
      want[0] += s * C * length * rest;
      response(modes, 0, omega, got);
      for (int e = 0; e < 2; e++) assert_true(cabs(got[e] - want[e]) <= 1e-9 * cabs(want[0]));
    }
}

// Against the whole line, relative to 1/Z without losses: up to twice the first natural frequency the error falls with the number of
// modes.
static void transfer_matrix(void **state) {
  (void)state;
  double worst[7] = {0}, area = pi * diameter * diameter / 4, conductance = area / (density * sound);
  for (int modes = 2; modes <= 6; modes += 2)
    for (double at = 0.05; at < 2; at *= 1.23) {
      double complex want[2], got[2];
      exact(false, at * first_frequency(), want);
      response(modes, 0, at * first_frequency(), got);
      for (int e = 0; e < 2; e++) worst[modes] = fmax(worst[modes], cabs(got[e] - want[e]) / conductance);
    }
  print_message("off by %.2g, %.2g, %.2g of 1/Z with 2, 4, 6 modes up to twice the first natural frequency\n", worst[2],
                worst[4], worst[6]);
  assert_true(worst[6] < worst[4] / 1.5 && worst[4] < worst[2] / 1.5 && worst[6] < 0.1);
  // Damping at the resonances, where only friction matters: the peak of Y.
  for (int n = 1; n <= 3; n++) {
    double peak[3] = {0}, place[3] = {0};
    for (double at = 0.9 * n; at < 1.05 * n; at += 2e-4 * n) {
      double complex y[3][2];
      exact(true, at * first_frequency(), y[0]);
      response(6, 1, at * first_frequency(), y[1]);
      response(6, 0, at * first_frequency(), y[2]);
      for (int k = 0; k < 3; k++)
        if (cabs(y[k][0]) > peak[k]) peak[k] = cabs(y[k][0]), place[k] = at;
    }
    print_message(
        "peak %d: %.4g at %.4f by Bessel functions, %.4g at %.4f by modes, %.4g at %.4f with steady friction\n", n,
        peak[0], place[0], peak[1], place[1], peak[2], place[2]);
    assert_true(fabs(peak[1] / peak[0] - 1) < 0.05 && fabs(place[1] / place[0] - 1) < 0.005 && peak[2] > 1.3 * peak[0]);
  }
}

#define LINE                                                                                                            \
  "oil: {density: 870, law: constant, modulus: 1252.8 MPa, viscosity: %s, smoothing: 1 Pa}\n"                           \
  "volumes: {A: {volume: 1 mL}, B: {volume: 1 mL}}\nsources: {S: {pressure: 100 bar}}\ntanks: {T: {pressure: 1 bar}}\n" \
  "leaks: {in: {between: [S, A], slope: 5e-8}%s}\n"                                                                     \
  "long_lines: {x: {between: [A, B], length: 10 m, diameter: 12 mm, sound: 1200 m/s, rest: 100 bar, modes: 6}}\n"       \
  "initial: {A.pressure: 100 bar, B.pressure: 100 bar, x.flow: %s m^3/s}\nrun: {time: 0.1 s, step: 0.1 ms}\n"

// A line at rest stays at rest. A flow that is stopped at the end gives the pressure rho a v there, averaged over the travel time of the wave and
// back.
static void in_circuits(void **state) {
  (void)state;
  char text[1500];
  double y[4];
  const char *const names[] = {"B.pressure", "x.flow", "x.flow_a", "energy.balance"};
  snprintf(text, sizeof text, LINE, "46 mm^2/s", "", "0");
  od_machine *machine = od_test_machine_text(text);
  od_test_run_to(machine, "cvodes", 0.1, 1e-3, names, 4, y);
  assert_true(fabs(y[0] - 100e5) < 1 && fabs(y[1]) < 1e-12 && fabs(y[2]) < 1e-12);
  od_machine_free(machine);
  // Steady flow: Hagen and Poiseuille's drop. From 100 bar through 1e-6 and the line to a leak of 1e-10 to the tank.
  snprintf(text, sizeof text, LINE, "46 mm^2/s", ", out: {between: [B, T], slope: 1e-11}", "0");
  machine = od_test_machine_text(text);
  od_test_run_to(machine, "cvodes", 5, 0.1, names, 4, y);
  double resistance = 128 * 46e-6 * 870 * 10 / (pi * pow(0.012, 4)), flow = 99e5 / (resistance + 2e7 + 1e11);
  assert_true(fabs(y[1] - flow) < 1e-6 * flow && fabs(y[2] - flow) < 1e-6 * flow);
  assert_true(fabs(y[0] - 1e5 - flow * 1e11) < 1e-6 * 1e7);
  od_machine_free(machine);
  // v = Q/A of 1e-4 m3/s against a closed end.
  snprintf(text, sizeof text, LINE, "0.01 mm^2/s", "", "1e-4");
  machine = od_test_machine_text(text);
  double mean = 0, v = 1e-4 / (pi * 36e-6);
  int output = od_test_output(machine, "B.pressure");
  od_run_options options = {.time = 2 * 10 / 1200.0,
                            .step = 2 * 10 / 1200.0 / 2000,
                            .integrator = "tr-bdf2",
                            .outputs = &output,
                            .output_count = 1};
  od_table *table = NULL;
  assert_int_equal(od_run(machine, &options, &table, NULL, NULL), OD_OK);
  for (long i = 0; i < table->rows; i++) mean += table->data[i * table->columns + 1] / (double)table->rows;
  print_message("stopped: %.4g bar above rest on the average, rho a v = %.4g bar\n", (mean - 100e5) / 1e5,
                density * 1200 * v / 1e5);
  assert_true(fabs((mean - 100e5) / (density * 1200 * v) - 1) < 0.05);
  od_table_free(table);
  od_machine_free(machine);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(sum_of_modes), cmocka_unit_test(transfer_matrix),
                                     cmocka_unit_test(in_circuits)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
