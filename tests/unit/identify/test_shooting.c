// Multiple shooting. Oracles: normal equations in long double for the chain of nodes; fits in one segment on records where
// both work; an inverted pendulum integrated by hand, which no single prediction can follow.
#include <math.h>
#include <stdlib.h>

#include "support/test.h"
#include "identify/shooting.h"
#include "random/random.h"
#include "support/fits.h"

static double draw(uint64_t seed, int i) {
  return 2 * od_random_uniform(seed, 1, (uint64_t)i, OD_USE_NOISE) - 1;
}

// --- The chain ------------------------------------------------------------------------------------------------------

enum { NODES = 6, NX = 3, COLUMNS = 2 };

// All nodes follow from the first, z_k = A_k z_0 + a_k; the first follows from the normal equations. In long double, because growing
// transitions lose digits here.
static void solve_all(const od_chain *c, int column, double *z) {
  long double A[NODES][NX][NX + 1] = {0}, N[NX][NX + 1] = {0}, first[NX] = {0};
  for (int i = 0; i < NX; i++) A[0][i][i] = 1;
  for (int k = 0; k + 1 < NODES; k++)
    for (int i = 0; i < NX; i++) {
      for (int j = 0; j <= NX; j++)
        for (int l = 0; l < NX; l++) A[k + 1][i][j] += (long double)c->F[(k * NX + i) * NX + l] * A[k][l][j];
      A[k + 1][i][NX] += c->h[(k * NX + i) * COLUMNS + column];
    }
  for (int k = 0; k < NODES && c->free_start; k++)
    for (int r = 0; r < NX; r++) {
      long double row[NX + 1] = {0};
      for (int j = 0; j <= NX; j++)
        for (int l = 0; l < NX; l++) row[j] += (long double)c->R[(k * NX + r) * NX + l] * A[k][l][j];
      row[NX] += c->c[(k * NX + r) * COLUMNS + column];
      for (int i = 0; i < NX; i++)
        for (int j = 0; j <= NX; j++) N[i][j] += row[i] * row[j];
    }
  for (int i = 0; i < NX && c->free_start; i++)
    for (int r = 0; r < NX; r++) {
      long double f = r == i ? 0 : N[r][i] / N[i][i];
      for (int j = 0; j <= NX; j++) N[r][j] -= f * N[i][j];
    }
  for (int i = 0; i < NX && c->free_start; i++) first[i] = -N[i][NX] / N[i][i];
  for (int k = 0; k < NODES; k++)
    for (int i = 0; i < NX; i++) {
      long double sum = A[k][i][NX];
      for (int j = 0; j < NX; j++) sum += A[k][i][j] * first[j];
      z[k * NX + i] = (double)sum;
    }
}

// Transitions that grow, decay to zero, and stay constant, mixed; data of any weight.
static void test_chain(void **state) {
  (void)state;
  for (uint64_t seed = 1; seed <= 40; seed++) {
    static double R[NODES * NX * NX], F[NODES * NX * NX], v[3][(NODES + 1) * NX * COLUMNS], memory[5000];
    const double growth[NX] = {3, 1e-12, 1}, weight = pow(10, (double)(seed % 5));
    int at = 0;
    assert_true(od_chain_memory(NODES, NX, COLUMNS) <= 5000);
    for (int k = 0; k < NODES; k++)
      for (int i = 0; i < NX; i++)
        for (int j = 0; j < NX; j++) {
          R[(k * NX + i) * NX + j] = j >= i ? weight * (draw(seed, at++) + (i == j ? 1.5 : 0)) : 0;
          double sum = 0;
          for (int l = 0; l < NX; l++) sum += sin(1.0 + i + 2 * l) * growth[l] * cos(2.0 + l + j);
          F[(k * NX + i) * NX + j] = sum;
        }
    for (int i = 0; i < NODES * NX * COLUMNS; i++) v[0][i] = weight * draw(seed, at++), v[1][i] = draw(seed, at++);
    od_chain c = {.nodes = NODES,
                  .nx = NX,
                  .columns = COLUMNS,
                  .free_start = seed % 2 == 0,
                  .R = R,
                  .c = v[0],
                  .F = F,
                  .h = v[1],
                  .z = v[2],
                  .memory = memory};
    assert_true(od_chain_solve(&c));
    for (int column = 0; column < COLUMNS; column++) {
      double z[NODES * NX], largest = 0;
      solve_all(&c, column, z);
      for (int i = 0; i < NODES * NX; i++) largest = fmax(largest, fabs(z[i]));
      // Continuity to round-off for any weight of the data.
      for (int i = 0; i < (NODES - 1) * NX; i++) {
        double off = c.h[i * COLUMNS + column] - c.z[(i + NX) * COLUMNS + column], size = fabs(off);
        for (int j = 0; j < NX; j++) {
          double part = c.F[i * NX + j] * c.z[(i / NX * NX + j) * COLUMNS + column];
          off += part, size += fabs(part);
        }
        if (!(fabs(off) <= 2e-13 * (size + largest))) fail_msg("seed %d: a gap of %g", (int)seed, off);
      }
      for (int i = 0; i < NODES * NX; i++)
        if (!(fabs(c.z[i * COLUMNS + column] - z[i]) <= 1e-8 * largest))
          fail_msg("seed %d, node %d: %.12g instead of %.12g", (int)seed, i / NX, c.z[i * COLUMNS + column], z[i]);
    }
  }
}

// --- Records for which one segment works as well ----------------------------------------------------------------------

static const char lag[] =
    "machine: Lag\n"
    "inputs: {u: {unit: V, chirp: {amplitude: 1 V, from: 0.1 Hz, to: 2 Hz, duration: 5 s}}}\n"
    "blocks: {lag: {type: second-order, input: u, gain: 2, frequency: 6 rad/s, damping: 0.4}}\n"
    "run: {time: 5 s, step: 10 ms}\n"
    "variants:\n"
    "  wrong: {blocks: {lag: {gain: 1, frequency: 4 rad/s, damping: 0.8}}}\n"
    "  sine: {inputs: {u: {chirp: ~, sine: {amplitude: 2 V, frequency: 0.5 Hz}}}, run: {time: 3 s}}\n";

static int setup(void **state) {
  int code = scratch_setup(state);
  scratch_write(*state, "lag.yaml", lag, strlen(lag));
  return code;
}

static void expect_same_fits(scratch *s, const char *head, const char *start, const char *more) {
  od_fitted *f[2];
  od_fit_plan *plan[2];
  for (int way = 0; way < 2; way++) {
    char text[2000];
    snprintf(text, sizeof text, "%sfit: {integrator: trapezoid, start: %s%s}\n%s", head, start,
             way ? ", shooting: {segments: 7}" : "", more);
    plan[way] = fit_plan_text(s, text);
    f[way] = fit_run(plan[way], NULL);
  }
  for (int i = 0; i < plan[0]->e->parameters; i++) {
    double unit = f[0]->sigma[i] > 0 ? f[0]->sigma[i] : 1e-6, off = (f[1]->estimate[i] - f[0]->estimate[i]) / unit;
    if (!(fabs(off) < 1e-6)) fail_msg("%s: %s is off by %g sigmas", start, plan[0]->e->parameter[i].path, off);
    if (f[0]->sigma_white[i] == 0) continue;
    near_relative(f[1]->sigma_white[i], f[0]->sigma_white[i], 1e-6);
    near_relative(f[1]->sigma_colored[i], f[0]->sigma_colored[i], 1e-5);
    // A robust loss weights the rows with which nodes are eliminated.
    if (plan[0]->loss == OD_LOSS_LINEAR)
      near_relative(f[1]->identifiability->sigma[i], f[0]->identifiability->sigma[i], 1e-6);
  }
  near_relative(f[1]->search->cost, f[0]->search->cost, 1e-9);
  assert_int_equal(f[1]->search->freedom, f[0]->search->freedom);
  assert_int_equal(f[1]->verdict.trust, f[0]->verdict.trust);
  assert_int_equal(f[1]->set[0].segments, 7);
  assert_true(f[1]->set[0].gap < 1e-12);
  for (int way = 0; way < 2; way++) fit_release(f[way], plan[way]);
}

static void test_same_as_one_go(void **state) {
  static const char head[] =
      "experiment: Lag\nmachine: lag.yaml\nmodel: {variant: wrong}\nsensors: {lag: {sigma: 50 mV}}\n"
      "parameters: {lag.gain: {}, lag.frequency: {low: 1 rad/s, high: 30 rad/s}, lag.damping: {low: 0.01, high: 3}}\n";
  static const char two[] =
      "sets: {a: {simulate: {}}, b: {simulate: {variant: sine}}, c: {use: validate, simulate: {}}}\n";
  const char *const starts[] = {"model", "rest", "unknown"};
  for (int i = 0; i < 3; i++) expect_same_fits(*state, head, starts[i], "");
  expect_same_fits(*state, head, "unknown, hold_out: 20 %", two);
  expect_same_fits(*state, head, "unknown, loss: soft-l1", "");
  expect_same_fits(*state, head, "unknown",
                   "constraints: [lag.gain <= 1.95, lag.frequency * lag.damping >= 1 rad/s]\n");
}

// The fin servo: pressure, speed and spool are hidden, only the position is measured.
static void test_hidden_states(void **state) {
  static const char head[] = "experiment: Fin\nmachine: " OD_SOURCE_DIR
                             "/cases/fin-servo/machine.yaml\n"
                             "model: {set: {chamber.modulus: 500 MPa, valve.pressure_coefficient: 4e-12 m^3/(s Pa)}}\n"
                             "step: 1 ms\ntime: 1 s\nsensors: {piston.position: {sigma: 0.1 um}}\n"
                             "parameters:\n  chamber.modulus: {low: 100 MPa, high: 2000 MPa}\n"
                             "  valve.pressure_coefficient: {low: 0, high: 9e-11 m^3/(s Pa)}\n";
  expect_same_fits(*state, head, "unknown", "");
}

// The steps of a log's predictions shift the estimates by the same amount in many segments and in one.
static void test_shift_by_steps(void **state) {
  scratch *s = *state;
  FILE *log = fopen(scratch_path(s, "log.csv"), "w");
  fprintf(log, "time,u,lag\n");
  // y'' + 2 z w y' + w^2 y = K w^2 u in short steps of Heun's rule.
  double y = 0, v = 0, w = 6, z = 0.4, K = 2, h = 0.05 / 200;
  for (int k = 0; k <= 100; k++) {
    fprintf(log, "%.6f,%.12g,%.12g\n", 0.05 * k, sin(0.05 * k * 4), y + 1e-3 * draw(5, k));
    for (int i = 0; i < 200; i++) {
      double t = 0.05 * k, a = sin(4 * t), b = sin(4 * (t + 0.05)), u0 = a + (b - a) * i / 200,
             u1 = a + (b - a) * (i + 1) / 200;
      double dv = w * w * (K * u0 - y) - 2 * z * w * v, y1 = y + h * v, v1 = v + h * dv;
      double dv1 = w * w * (K * u1 - y1) - 2 * z * w * v1;
      y += h * (v + v1) / 2, v += h * (dv + dv1) / 2;
    }
  }
  fclose(log);
  od_fitted *f[2];
  od_fit_plan *plan[2];
  for (int way = 0; way < 2; way++) {
    char text[900];
    snprintf(text, sizeof text,
             "experiment: Lag\nmachine: lag.yaml\nmodel: {variant: wrong}\nsensors: {lag: {sigma: 1 mV}}\n"
             "parameters: {lag.gain: {}, lag.frequency: {}, lag.damping: {}}\ndata: {file: log.csv}\n"
             "fit: {integrator: trapezoid, start: unknown%s}\n",
             way ? ", shooting: {length: 1 s}" : "");
    plan[way] = fit_plan_text(s, text);
    f[way] = fit_run(plan[way], NULL);
  }
  assert_int_equal(f[1]->set[0].segments, 5);
  for (int i = 0; i < 3; i++) {
    assert_true(fabs(f[0]->shift[i]) > f[0]->sigma[i]);
    near_relative(f[1]->shift[i], f[0]->shift[i], 0.02);
  }
  for (int way = 0; way < 2; way++) fit_release(f[way], plan[way]);
}

// --- Records for which only many segments work --------------------------------------------------------------------------

static const char pendulum[] =
    "machine: Inverted pendulum\n"
    "gravity: [0, -9.81]\n"
    "bodies: {rod: {mass: 1.3 kg, inertia: 0.04 kg m^2, centre: [0.4 m, 0], points: {pivot: [0, 0]}}}\n"
    "joints: {pivot: {type: revolute, between: [ground, rod.pivot], damping: 0.05 N m s/rad}}\n"
    "inputs: {torque: {unit: N m, constant: 0 N m}}\n"
    "torques: {drive: {joint: pivot, value: torque}}\n"
    "initial: {pivot.angle: 90 deg}\n";

// Balanced by a controller that the model does not contain: its torque is the log's input. 10 s are 45 time constants of the
// fall.
static void put_pendulum(scratch *s) {
  const double m = 1.3, l = 0.4, d = 0.05, g = 9.81, I = 0.04 + m * l * l, h = 0.002, up = acos(-1) / 2;
  double a = up + 0.05, w = 0;
  scratch_write(s, "pendulum.yaml", pendulum, strlen(pendulum));
  FILE *log = fopen(scratch_path(s, "log.csv"), "w");
  fprintf(log, "time,torque,pivot.angle\n");
  for (int k = 0; k <= 500; k++) {
    double t = 0.02 * k, wanted = up + 0.3 * sin(1.3 * t) + 0.2 * sin(3.1 * t);
    double u = -25 * (a - wanted) - 4 * w - m * g * l * (a - up);
    fprintf(log, "%.6f,%.14g,%.14g\n", t, u, a + 0.002 * sqrt(3) * draw(9, k));
    for (int i = 0; i < 10; i++) {
      double ka[4], kw[4], at[3] = {h / 2, h / 2, h};
      for (int j = 0; j < 4; j++) {
        double aj = j ? a + at[j - 1] * ka[j - 1] : a, wj = j ? w + at[j - 1] * kw[j - 1] : w;
        ka[j] = wj, kw[j] = (-m * g * l * cos(aj) - d * wj + u) / I;
      }
      a += h / 6 * (ka[0] + 2 * ka[1] + 2 * ka[2] + ka[3]), w += h / 6 * (kw[0] + 2 * kw[1] + 2 * kw[2] + kw[3]);
    }
  }
  fclose(log);
}

static const char pendulum_fit[] =
    "experiment: Pendulum\nmachine: pendulum.yaml\n"
    "model: {set: {rod.inertia: 0.08 kg m^2, pivot.damping: 0.2 N m s/rad, rod.mass: 1.0 kg}}\n"
    "sensors: {pivot.angle: {sigma: 2 mrad}}\n"
    "parameters: {rod.mass: {low: 0.1 kg}, rod.inertia: {low: 0 kg m^2}, pivot.damping: {low: 0 N m s/rad}}\n"
    "data: {file: log.csv}\n";

static od_status fit_pendulum(scratch *s, const char *how, od_fit_plan **plan, od_fitted **f) {
  char text[1200];
  od_error err = {0};
  snprintf(text, sizeof text, "%sfit: {start: unknown, hold: previous, integrator: rk4, substeps: 2, %s}\n",
           pendulum_fit, how);
  *plan = fit_plan_text(s, text);
  return od_fit(*plan, NULL, f, &err);
}

static void test_unstable(void **state) {
  put_pendulum(*state);
  const double truth[] = {1.3, 0.04, 0.05};
  od_fit_plan *plan;
  od_fitted *f;
  // In one segment: no minimum, or one without an explained part.
  od_status status = fit_pendulum(*state, "evaluations: 60", &plan, &f);
  assert_true(status != OD_OK || f->fit < 50);
  fit_release(f, plan);
  const char *const ways[] = {"shooting: {length: 0.5 s}", "shooting: auto", "shooting: {segments: 100}"};
  for (int way = 0; way < 3; way++) {
    assert_int_equal(fit_pendulum(*state, ways[way], &plan, &f), OD_OK);
    for (int i = 0; i < 3; i++)
      if (!(fabs(f->estimate[i] - truth[i]) < 4 * f->sigma[i]))
        fail_msg("%s: %g instead of %g, sigma %g", ways[way], f->estimate[i], truth[i], f->sigma[i]);
    assert_int_equal(f->verdict.trust, OD_SOUND);
    assert_true(f->fit > 98 && f->set[0].gap < 1e-9);
    fit_release(f, plan);
  }
}

// A search that ends before segments are continuous reports this.
static void test_gap_is_told(void **state) {
  put_pendulum(*state);
  od_fit_plan *plan;
  od_fitted *f;
  assert_int_equal(fit_pendulum(*state, "shooting: {length: 0.5 s}, evaluations: 2", &plan, &f), OD_NOT_CONVERGED);
  assert_true(od_verdict_has(&f->verdict, "shooting.gap"));
  assert_int_equal(f->verdict.trust, OD_UNSOUND);
  fit_release(f, plan);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_chain),
      cmocka_unit_test_setup_teardown(test_same_as_one_go, setup, scratch_teardown),
      cmocka_unit_test_setup_teardown(test_hidden_states, setup, scratch_teardown),
      cmocka_unit_test_setup_teardown(test_shift_by_steps, setup, scratch_teardown),
      cmocka_unit_test_setup_teardown(test_unstable, setup, scratch_teardown),
      cmocka_unit_test_setup_teardown(test_gap_is_told, setup, scratch_teardown),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
