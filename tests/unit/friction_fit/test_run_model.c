// The force of a law over a run, with a factor that depends on two pressures and on the position.
// - Derivatives with respect to all numbers, both coefficients of the pressures and the factors at all positions, at zero and at other values,
//   with one and more steps per sample. Oracle: differences of sixth order of the force, which is computed in real numbers.
// - The factor over the position. Oracle: values by hand; a force that is proportional to the factor.
// - A pressure is linear between samples for any number of steps. Oracle: a run that is sampled at every step.
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include "support/test.h"
#include "friction_fit/run_model.h"

enum { SAMPLES = 300, MOST_STEPS = 3, FINE = (SAMPLES - 1) * MOST_STEPS + 1 };
typedef struct run_of_pressures {
  double t[FINE], v[FINE], p[2][FINE], x[FINE];
} run_of_pressures;

// The speed reverses between samples, and is zero for a while.
static void sample_run(run_of_pressures *r) {
  for (int i = 0; i < SAMPLES; i++) {
    double t = 3e-3 * i;
    r->t[i] = t, r->v[i] = 0.06 * sin(13 * t) + 0.02 * sin(31 * t + 0.3);
    if (i >= 150 && i < 165) r->v[i] = 0;
    r->p[0][i] = 30e5 * sin(9 * t + 1), r->p[1][i] = 20e5 * cos(5 * t) + 4e5;
    r->x[i] = 0.2 * sin(7 * t + 0.2);
  }
}

// Numbers for both directions, so that each has its own derivatives.
static od_law_numbers numbers_of(const char *name, double per_p1, double per_p2) {
  static const struct {
    const char *key;
    double value;
  } usual[] = {{"Fs", 1200},
               {"Fc", 200},
               {"vs", 0.02},
               {"n", 1.1},
               {"viscous", 300},
               {"sigma_0", 3e6},
               {"sigma_1", 200},
               {"tau_hp", 0.05},
               {"tau_hn", 0.3},
               {"tau_h0", 5},
               {"v0", 3e-3},
               {"Fs_negative", 1000},
               {"Fc_negative", 240},
               {"vs_negative", 0.03},
               {"n_negative", 1.3},
               {"viscous_negative", 250},
               {"factor", 1.05},
               {"factor_Fs", 1},
               {"factor_Fc", 0.7},
               {"factor_vs", 0.4},
               {"factor_viscous", -0.5},
               {"factor_tau", 2}};
  od_law_numbers n = {.law = od_friction_laws[od_friction_law_find(name)], .two_sided = true};
  for (size_t i = 0; i < sizeof usual / sizeof *usual; i++) {
    int place = od_law_key(n.law, usual[i].key);
    if (place >= 0) n.q[place] = usual[i].value;
  }
  // It has no effect without a film.
  if (!n.law->has_film) n.q[od_law_key(n.law, "factor_tau")] = 0;
  n.q[OD_PER_P1] = per_p1, n.q[OD_PER_P2] = per_p2;
  return n;
}

// Derivatives by a number from six runs. Steps are so short that no node passes a corner (films complete, growing or shrinking).
static void differences(const od_run_model *m, const od_law_numbers *n, int number, double step, double *slopes) {
  static const double weight[7] = {-1, 9, -45, 0, 45, -9, 1};
  static double force[SAMPLES];
  for (int i = 0; i < SAMPLES; i++) slopes[i] = 0;
  for (int k = 0; k < 7; k++) {
    od_law_numbers moved = *n;
    moved.q[number] += (k - 3) * step;
    if (k != 3) assert_int_equal(od_run_model_force(m, &moved, force), OD_OK);
    for (int i = 0; i < SAMPLES; i++) slopes[i] += weight[k] * force[i] / (60 * step);
  }
}

static double check_slopes(const char *law, double per_p1, double per_p2, int substeps) {
  static run_of_pressures r;
  static double force[SAMPLES], plain[SAMPLES], slopes[SAMPLES * OD_MOST_DRIVE_COLUMNS], expected[SAMPLES];
  od_law_numbers n = numbers_of(law, per_p1, per_p2);
  od_run_model *m = NULL;
  int columns = 0, number[OD_MOST_DRIVE_COLUMNS];
  double worst = 0;
  sample_run(&r);
  assert_int_equal(od_run_model_between(SAMPLES, r.t, r.v, substeps, &m), OD_OK);
  m->pressure[0] = r.p[0], m->pressure[1] = r.p[1];
  if (per_p1 != 0) {
    static const double at[3] = {-0.15, 0.01, 0.1}, factor[3] = {1.2, 0.9, 1};
    m->position = r.x, n.positions = 3;
    for (int k = 0; k < 3; k++)
      n.position[k] = at[k], n.q[OD_FACTOR_X1 + k] = factor[k], number[columns++] = OD_FACTOR_X1 + k;
  }
  // The coefficients of the pressures are among the others, in another order.
  number[columns++] = OD_PER_P2;
  for (int i = 0; i < od_friction_law_numbers(n.law, true); i++) {
    if (n.q[i] != 0) number[columns++] = i;
    if (i == 3) number[columns++] = OD_PER_P1;
  }
  assert_int_equal(od_run_model_slopes(m, &n, columns, number, force, slopes), OD_OK);
  assert_int_equal(od_run_model_force(m, &n, plain), OD_OK);
  for (int k = 0; k < columns; k++) {
    double largest = 0, error = 0, step = od_is_per_pressure(number[k]) ? 1e-10 : 2e-4 * fabs(n.q[number[k]]);
    differences(m, &n, number[k], step, expected);
    for (int i = 0; i < SAMPLES; i++) {
      assert_true(force[i] == plain[i]);
      largest = fmax(largest, fabs(expected[i]));
      error = fmax(error, fabs(expected[i] - slopes[i * columns + k]));
    }
    worst = fmax(worst, error / largest);
    if (!(largest > 0 && error <= 1e-8 * largest))
      fail_msg("%s by %s, %d steps: off by %g of %g", law, od_law_field(n.law, number[k])->key, substeps, error,
               largest);
  }
  od_run_model_free(m);
  return worst;
}

static void test_slopes(void **state) {
  (void)state;
  static const char *const laws[] = {"lugre", "modified-lugre", "reduced", "modified-gaussian"};
  for (size_t i = 0; i < sizeof laws / sizeof *laws; i++)
    for (int substeps = 1; substeps <= MOST_STEPS; substeps += 2) {
      double still = check_slopes(laws[i], 0, 0, substeps), moving = check_slopes(laws[i], 6e-8, -3e-8, substeps);
      print_message("%s, %d steps: slopes within %.2g at zero, %.2g elsewhere\n", laws[i], substeps, still, moving);
    }
}

static void test_between_samples(void **state) {
  (void)state;
  static run_of_pressures r, fine;
  static double force[SAMPLES], expected[FINE];
  od_law_numbers n = numbers_of("reduced", 6e-8, -3e-8);
  od_run_model *m = NULL;
  sample_run(&r);
  for (int i = 0; i < FINE; i++) {
    int k = i / MOST_STEPS < SAMPLES - 1 ? i / MOST_STEPS : SAMPLES - 2;
    double part = (double)(i - k * MOST_STEPS) / MOST_STEPS;
    fine.t[i] = r.t[k] + part * (r.t[k + 1] - r.t[k]), fine.v[i] = r.v[k] + part * (r.v[k + 1] - r.v[k]);
    for (int c = 0; c < 2; c++) fine.p[c][i] = r.p[c][k] + part * (r.p[c][k + 1] - r.p[c][k]);
  }
  assert_int_equal(od_run_model_between(SAMPLES, r.t, r.v, MOST_STEPS, &m), OD_OK);
  m->pressure[0] = r.p[0], m->pressure[1] = r.p[1];
  assert_int_equal(od_run_model_force(m, &n, force), OD_OK);
  od_run_model_free(m);
  assert_int_equal(od_run_model_between(FINE, fine.t, fine.v, 1, &m), OD_OK);
  m->pressure[0] = fine.p[0], m->pressure[1] = fine.p[1];
  assert_int_equal(od_run_model_force(m, &n, expected), OD_OK);
  od_run_model_free(m);
  for (int i = 0; i < SAMPLES; i++)
    assert_true(fabs(force[i] - expected[i * MOST_STEPS]) <= 1e-9 * (fabs(force[i]) + 1));
}

// Between two positions the factor is linear, beyond the ends constant. The bristles are so stiff that the force is the steady level, which is
// proportional to the factor.
static void test_positions(void **state) {
  (void)state;
  static const double at[] = {-0.4, -0.1, 0.2}, factor[] = {1.5, 1, 0.7};
  static const double x[] = {-0.6, -0.4, -0.3, -0.1, 0.05, 0.2, 0.9},
                      expected[] = {1.5, 1.5, 4.0 / 3, 1, 0.85, 0.7, 0.7};
  enum { COUNT = sizeof x / sizeof *x };
  od_law_numbers n = {.law = od_friction_laws[od_friction_law_find("lugre")], .positions = 3};
  static const char *const keys[] = {"Fs", "Fc", "vs", "sigma_0", "factor", "factor_Fs", "factor_Fc"};
  static const double values[] = {100, 100, 0.01, 1e10, 1, 1, 1};
  for (int k = 0; k < 7; k++) n.q[od_law_key(n.law, keys[k])] = values[k];
  assert_true(od_position_factor(&(od_law_numbers){0}, 3) == 1);
  for (int k = 0; k < 3; k++) n.position[k] = at[k], n.q[OD_FACTOR_X1 + k] = factor[k];
  double t[COUNT], v[COUNT], force[COUNT];
  for (int i = 0; i < COUNT; i++) {
    near(od_position_factor(&n, x[i]), expected[i], 1e-14);
    t[i] = i, v[i] = 0.1;
  }
  od_run_model *m = NULL;
  assert_int_equal(od_run_model_between(COUNT, t, v, 1, &m), OD_OK);
  m->position = x;
  assert_int_equal(od_run_model_force(m, &n, force), OD_OK);
  for (int i = 1; i < COUNT; i++) near(force[i], 100 * expected[i], 1e-4);
  od_run_model_free(m);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_slopes), cmocka_unit_test(test_between_samples),
                                     cmocka_unit_test(test_positions)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
