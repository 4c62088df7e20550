// Friction laws driven by a speed.
// - The eight published cylinders over 13 s against CVODES at a tolerance of 1e-10 (oracle/driven_friction.c, equations by hand).
// - Derivatives with respect to all numbers of all laws, and the force, against complex steps through the run, node by node.
// - Those of the reduced law also against the sensitivities of CVODES; exp() for vectors against the C library.
// - Derivatives along a change of the signal against those with respect to the number that it multiplies, and differences of
//   sixth order.
// - Reversals between samples; constant speed against the steady curve; invalid arguments are rejected.
#include <complex.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "support/test.h"
#include "base/wide_exp.h"
#include "friction/drive.h"
#include "oracle/driven_friction.h"
#include "support/random_instance.h"

static const od_friction_start from_rest = {.signal = 1};

static const od_friction_law *law_named(const char *name) {
  int i = od_friction_law_find(name);
  assert_true(i >= 0);
  return od_friction_laws[i];
}

// The trajectory of 13 s in steps of h; returns the count.
static int sample_trajectory(double h, double **t, double **v) {
  int count = (int)lround(13 / h) + 1;
  *t = malloc((size_t)count * sizeof **t);
  *v = malloc((size_t)count * sizeof **v);
  for (int i = 0; i < count; i++) (*t)[i] = i * h, (*v)[i] = trajectory_speed((*t)[i]);
  return count;
}

static double largest_difference(const double *a, const double *b, int count) {
  double most = 0;
  for (int i = 0; i < count; i++) most = fmax(most, fabs(a[i] - b[i]));
  return most;
}

// The largest difference of a law from CVODES in steps of h, N.
static double error_of(const char *name, const published_cylinder *c, const published_cylinder *as, double h) {
  double q[32], *t, *v;
  if (strcmp(name, "reduced") == 0)
    published_reduced(c, q);
  else
    published_modified_lugre(c, q);
  int count = sample_trajectory(h, &t, &v);
  double *force = malloc((size_t)count * sizeof *force), *exact = malloc((size_t)count * sizeof *exact);
  void *memory = malloc(od_friction_grid_size(count));
  od_friction_grid grid;
  driven_friction d = {*as, trajectory_speed, trajectory_breaks, TRAJECTORY_BREAKS, 1e-10};
  assert_int_equal(od_friction_grid_make(&grid, memory, count, t, v), OD_OK);
  assert_int_equal(
      od_friction_drive(law_named(name), q, true, &grid, &from_rest, &(od_friction_motion){.force = force}), OD_OK);
  assert_true(driven_friction_solve(&d, count, t, exact, NULL) > 0);
  double error = largest_difference(force, exact, count);
  if (getenv("OD_WHERE"))
    for (int i = 0; i < count; i++)
      if (fabs(force[i] - exact[i]) == error) print_message("at %g s: %g, not %g\n", t[i], force[i], exact[i]);
  free(memory), free(exact), free(force), free(v), free(t);
  return error;
}

static void test_cylinders(void **state) {
  (void)state;
  for (int i = 0; i < PUBLISHED_CYLINDERS; i++) {
    const published_cylinder *c = &published_cylinders[i], reduced = driven_friction_reduced(c);
    double coarse = error_of("reduced", c, &reduced, 250e-6), fine = error_of("reduced", c, &reduced, 62.5e-6);
    double coarse_full = error_of("modified-lugre", c, c, 250e-6),
           fine_full = error_of("modified-lugre", c, c, 62.5e-6);
    print_message("cylinder %d: reduced %.3g N at 250 us, %.3g N at 62.5 us; modified-lugre %.3g, %.3g N\n", i + 1,
                  coarse, fine, coarse_full, fine_full);
    if (i == 4) assert_true(coarse <= 0.81 && fine <= 0.06);
  }
}

// Realistic numbers of a law, in both directions. Returns the number of them.
static int random_numbers(od_dice *dice, const od_friction_law *law, bool two_sided, double *q) {
  static const struct {
    const char *key;
    double low, high;
  } usual[] = {{"Fs", 500, 2000},       {"Fc", 50, 400},         {"vs", 5e-3, 5e-2},    {"n", 0.5, 2},
               {"viscous", 10, 500},    {"vb", 0.02, 0.2},       {"v0", 1e-3, 1e-2},    {"sigma_0", 1e6, 1e8},
               {"sigma_1", 1, 1e3},     {"tau_hp", 0.03, 0.3},   {"tau_hn", 0.2, 3},    {"tau_h0", 5, 50},
               {"inertia", 1, 50},      {"lag", 1e-3, 2e-3},     {"film_force", 1, 50}, {"load", 50, 150},
               {"load_0", 90, 110},     {"load_Fs", 1, 100},     {"load_Fc", 1, 30},    {"factor", 0.7, 1.4},
               {"factor_Fs", 0.5, 1.5}, {"factor_Fc", 0.5, 1.5}, {"factor_vs", -1, 1},  {"factor_viscous", -1, 1},
               {"factor_tau", -1, 1}};
  const od_element_description *c = law->element;
  int count = od_friction_law_numbers(law, two_sided);
  for (int i = 0; i < count; i++) {
    size_t k = 0;
    bool negative = c->fields[i].same_as != NULL;
    const char *key = negative ? c->fields[i].same_as : c->fields[i].key;
    while (strcmp(usual[k].key, key) != 0) assert_true(++k < sizeof usual / sizeof *usual);
    q[i] = od_dice_uniform(dice, usual[k].low, usual[k].high);
    // Every other time the saturation speed by the table.
    if (strcmp(key, "vb") == 0 && od_dice_pick(dice, 2)) q[i] = 0;
  }
  return count;
}

// A run with corners of all kinds: reversals between samples and at samples, standstill, uneven steps.
static int rough_speed(od_dice *dice, double *t, double *v) {
  enum { COUNT = 400 };
  for (int i = 0; i < COUNT; i++) {
    t[i] = i == 0 ? 0 : t[i - 1] + od_dice_uniform(dice, 1e-4, 3e-3);
    v[i] = 0.1 * sin(12 * t[i]) + 0.02 * sin(55 * t[i]);
    if (i % 100 > 80 && i % 100 < 90) v[i] = 0;
  }
  return COUNT;
}

static void test_slopes(void **state) {
  (void)state;
  enum { MOST = 400, RUNS = 6 };
  static double t[MOST], v[MOST], force[MOST], plain[MOST], bristle[MOST], film[MOST],
      dforce[MOST * OD_MOST_DRIVE_COLUMNS];
  static double complex moved[MOST];
  for (int l = 0; l < od_friction_law_count(); l++) {
    const od_friction_law *law = od_friction_laws[l];
    double worst = 0;
    for (int run = 0; run < RUNS; run++) {
      od_dice dice = {(uint64_t)(1000 * l + run)};
      bool two_sided = run % 2;
      double q[64], work[4000];
      double complex p[64];
      int number[64], numbers = random_numbers(&dice, law, two_sided, q), count = rough_speed(&dice, t, v);
      void *memory = malloc(od_friction_grid_size(count));
      od_friction_grid grid;
      // A film below zero has no effect on the level, nor has the part of a film above one.
      const double films[RUNS] = {0.1, 0.1, 1.4, -0.3, 0.9, 0};
      od_friction_start start = {.bristle = law->has_bristles ? 20 : 0, .film = films[run], .signal = 1};
      assert_true(od_friction_slopes_work(numbers) <= sizeof work / sizeof *work);
      for (int i = 0; i < numbers; i++) number[i] = i, p[i] = q[i];
      assert_int_equal(od_friction_grid_make(&grid, memory, count, t, v), OD_OK);
      assert_int_equal(od_friction_drive_slopes(law, q, two_sided, &grid, &start, numbers, number, work, force, dforce),
                       OD_OK);
      assert_int_equal(od_friction_drive(law, q, two_sided, &grid, &start, &(od_friction_motion){.force = plain}),
                       OD_OK);
      assert_memory_equal(force, plain, (size_t)count * sizeof *force);
      // States at the samples: the first sample has the initial states.
      const od_friction_motion states = {.force = plain, .bristle = bristle, .film = film};
      assert_int_equal(od_friction_drive(law, q, two_sided, &grid, &start, &states), OD_OK);
      for (int i = 0; i < count; i++) near_scaled(plain[i], force[i], 1e-11, 1);
      if (law->has_film) near(film[0], start.film, 1e-15);
      if (law->has_bristles) near(bristle[0], start.bristle, 1e-12);
      for (int k = 0; k < numbers; k++) {
        double largest = 0, error = 0;
        p[k] += 1e-30 * I;
        assert_int_equal(od_friction_drive_complex(law, p, two_sided, &grid, &start, moved), OD_OK);
        p[k] = q[k];
        for (int i = 0; i < count; i++) {
          double exact = cimag(moved[i]) / 1e-30;
          // Node by node the results equal those of batches within round-off.
          if (!(fabs(creal(moved[i]) - force[i]) <= 1e-11 * (fabs(force[i]) + 1)))
            fail_msg("%s: %.17g in a batch, %.17g alone", law->name, force[i], creal(moved[i]));
          largest = fmax(largest, fabs(exact));
          error = fmax(error, fabs(exact - dforce[i * numbers + k]));
        }
        worst = fmax(worst, largest > 0 ? error / largest : error);
        if (!(error <= 1e-8 * largest))
          fail_msg("%s by %s: off by %g of %g", law->name, law->element->fields[k].key, error, largest);
      }
      free(memory);
    }
    print_message("%s: slopes within %.2g\n", law->name, worst);
  }
}

// Derivatives of the reduced law over the trajectory of 13 s against the sensitivities of CVODES, whose right-hand sides are
// written by hand, each as p dF/dp in N. Steps do not end where the film changes from growing to shrinking, which affects
// derivatives.
static void test_sensitivities(void **state) {
  (void)state;
  static const int twelve[12] = {0, 14, 1, 15, 2, 16, 3, 17, 4, 18, 5, 6};  // in the order of the oracle
  double worst[2] = {0, 0};
  for (int fine = 0; fine < 2; fine++) {
    const published_cylinder *c = &published_cylinders[4];
    double q[32], work[1000], *t, *v;
    int count = sample_trajectory(fine ? 62.5e-6 : 250e-6, &t, &v);
    size_t n = (size_t)count;
    double *force = malloc(n * sizeof *force), *slopes = malloc(12 * n * sizeof *slopes);
    double *exact = malloc(n * sizeof *exact), *exact_slopes = malloc(12 * n * sizeof *exact_slopes);
    void *memory = malloc(od_friction_grid_size(count));
    od_friction_grid grid;
    driven_friction d = {*c, trajectory_speed, trajectory_breaks, TRAJECTORY_BREAKS, 1e-9, true, 12};
    published_reduced(c, q);
    assert_int_equal(od_friction_grid_make(&grid, memory, count, t, v), OD_OK);
    assert_int_equal(
        od_friction_drive_slopes(law_named("reduced"), q, true, &grid, &from_rest, 12, twelve, work, force, slopes),
        OD_OK);
    assert_true(driven_friction_solve(&d, count, t, exact, exact_slopes) > 0);
    for (size_t i = 0; i < 12 * n; i++)
      worst[fine] = fmax(worst[fine], fabs(q[twelve[i % 12]] * (slopes[i] - exact_slopes[i])));
    free(memory), free(exact_slopes), free(exact), free(slopes), free(force), free(v), free(t);
  }
  print_message("derivatives of cylinder 5: %.3g N at 250 us, %.3g N at 62.5 us\n", worst[0], worst[1]);
  assert_true(worst[0] < 1 && worst[1] < worst[0] / 4);
}

// A constant signal is equivalent to a scaled number; without bristles the force depends only on the present speed and signal.
static void test_signals(void **state) {
  (void)state;
  enum { MOST = 400 };
  static double t[MOST], v[MOST], same[MOST], moving[MOST], force[MOST], expected[MOST];
  for (int l = 0; l < od_friction_law_count(); l++) {
    const od_friction_law *law = od_friction_laws[l];
    od_dice dice = {(uint64_t)(77 + l)};
    double q[64];
    int place = od_friction_law_follows(law), count = (random_numbers(&dice, law, true, q), rough_speed(&dice, t, v));
    void *memory = malloc(od_friction_grid_size(count));
    od_friction_grid grid;
    for (int i = 0; i < count; i++) same[i] = 1.3, moving[i] = 1 + 0.4 * sin(7 * t[i]);
    assert_int_equal(od_friction_grid_make(&grid, memory, count, t, v), OD_OK);
    od_friction_start start = {.bristle = law->has_bristles ? 20 : 0, .film = 0.1, .signal = 1, .signals = same};
    assert_int_equal(od_friction_drive(law, q, true, &grid, &start, &(od_friction_motion){.force = force}), OD_OK);
    q[place] *= 1.3;
    start.signals = NULL;
    assert_int_equal(od_friction_drive(law, q, true, &grid, &start, &(od_friction_motion){.force = expected}), OD_OK);
    for (int i = 0; i < count; i++) assert_true(fabs(force[i] - expected[i]) <= 1e-10 * (fabs(expected[i]) + 1));
    q[place] /= 1.3;
    start.signals = moving;
    assert_int_equal(od_friction_drive(law, q, true, &grid, &start, &(od_friction_motion){.force = force}), OD_OK);
    for (int i = 0; i < count && law->has_film + law->has_bristles == 0; i++) {
      double number = q[place];
      q[place] *= moving[i];
      // A law's own curve is smoothed near zero speed, the driven one is not.
      if (fabs(v[i]) > 0.01) assert_true(fabs(force[i] - law->steady_r(q, true, v[i])) <= 1e-3 * fabs(force[i]));
      q[place] = number;
    }
    free(memory);
  }
}

// The reduced law by hand whose Fs, Fc and vs depend on a factor over time, by the classical Runge-Kutta rule in short steps;
// derivatives by differences.
enum { FS, FC, VS, N, VISCOUS, SIGMA_0, TAU_HN, TAU_H0, FACTOR, F_FS, F_FC, F_VS, F_VISCOUS, F_TAU };
static double factor_over(double t) {
  return 1 + 0.4 * sin(7 * t);
}
static double speed_over(double t) {
  return 0.03 + 0.02 * sin(12 * t);
}
static void rates_by_hand(const double *q, double t, const double x[2], double rate[2]) {
  double f = factor_over(t) * q[FACTOR], v = speed_over(t), Fs = q[FS] * pow(f, q[F_FS]), Fc = q[FC] * pow(f, q[F_FC]);
  double vs = q[VS] * pow(f, q[F_VS]), S = exp(-pow(v / vs, q[N])), k = 0.002 / pow(q[N], 4.5);
  double vb = vs * pow(-log(k), 1 / q[N]), hss = (1 - Fc / Fs) * pow(fmin(v / vb, 1), 2.0 / 3);
  double tau = (hss > x[1] ? 0.15 : 1) * q[TAU_HN] * pow(f, q[F_TAU]), g = Fc + ((1 - x[1]) * Fs - Fc) * S;
  rate[0] = q[SIGMA_0] * (v - v * x[0] / g);
  rate[1] = (hss - x[1]) / tau;
}
static void step_by_hand(const double *q, double t, double h, double x[2]) {
  double k[4][2], y[2];
  rates_by_hand(q, t, x, k[0]);
  for (int i = 1; i < 4; i++) {
    double part = i < 3 ? h / 2 : h;
    for (int j = 0; j < 2; j++) y[j] = x[j] + part * k[i - 1][j];
    rates_by_hand(q, t + part, y, k[i]);
  }
  for (int j = 0; j < 2; j++) x[j] += h / 6 * (k[0][j] + 2 * k[1][j] + 2 * k[2][j] + k[3][j]);
}
static void test_signal_over_time(void **state) {
  (void)state;
  enum { MOST = 1001, FINE = 16 };
  static const double numbers[] = {2000, 300, 0.02, 1.1, 400, 2e5, 0.3, 30, 1.1, 1, 0.7, 0.3, -0.5, 0.4};
  static double t[MOST], v[MOST], factor[MOST], force[MOST], moved[2][MOST], dforce[MOST * 14], work[4000];
  const od_friction_law *law = od_friction_laws[od_friction_law_find("reduced")];
  double worst[2] = {0, 0};
  for (int fine = 0; fine < 2; fine++) {
    int count = fine ? MOST : MOST / 4 + 1, all[14];
    double step = 1.0 / (count - 1), x[2] = {0, 0};
    void *memory = malloc(od_friction_grid_size(count));
    od_friction_grid grid;
    for (int i = 0; i < count; i++) t[i] = i * step, v[i] = speed_over(t[i]), factor[i] = factor_over(t[i]);
    assert_int_equal(od_friction_grid_make(&grid, memory, count, t, v), OD_OK);
    od_friction_start start = {.signal = 1, .signals = factor};
    for (int k = 0; k < 14; k++) all[k] = k;
    assert_int_equal(od_friction_drive_slopes(law, numbers, false, &grid, &start, 14, all, work, force, dforce), OD_OK);
    for (int i = 1; i < count; i++) {
      for (int k = 0; k < FINE * 4; k++) step_by_hand(numbers, t[i - 1] + step * k / (FINE * 4), step / (FINE * 4), x);
      double viscous = numbers[VISCOUS] * pow(factor[i] * numbers[FACTOR], numbers[F_VISCOUS]);
      worst[fine] = fmax(worst[fine], fabs(force[i] - x[0] - viscous * v[i]));
    }
    for (int k = 0; k < 14; k++) {
      double q[14], largest = 0, error = 0, h = 1e-5 * fabs(numbers[k]);
      memcpy(q, numbers, sizeof q);
      for (int side = 0; side < 2; side++) {
        q[k] = numbers[k] + (side ? h : -h);
        assert_int_equal(od_friction_drive(law, q, false, &grid, &start, &(od_friction_motion){.force = moved[side]}),
                         OD_OK);
      }
      for (int i = 0; i < count; i++) {
        largest = fmax(largest, fabs(dforce[i * 14 + k]));
        error = fmax(error, fabs(dforce[i * 14 + k] - (moved[1][i] - moved[0][i]) / (2 * h)));
      }
      if (!(error <= 1e-5 * largest)) fail_msg("%s: %g of %g", law->element->fields[k].key, error, largest);
    }
    free(memory);
  }
  print_message("a factor over time: off by %.3g N at 4 ms, %.3g N at 1 ms\n", worst[0], worst[1]);
  assert_true(worst[0] < 5 && worst[1] < worst[0] / 8);
}

// The derivative along a change of the signal, for every law with a signal. Along the signal itself it is the derivative with respect to the
// multiplied number, times this number. Along another direction the oracle is differences of sixth order.
static void test_along(void **state) {
  (void)state;
  enum { MOST = 400 };
  static const double weight[7] = {-1, 9, -45, 0, 45, -9, 1}, h = 1e-4;
  static double t[MOST], v[MOST], base[MOST], other[MOST], moved[MOST], force[MOST], work[4000];
  static double by_number[MOST], along[2 * MOST], differences[MOST];
  for (int l = 0; l < od_friction_law_count(); l++) {
    const od_friction_law *law = od_friction_laws[l];
    int place = od_friction_law_follows(law);
    if (place < 0) continue;
    od_dice dice = {(uint64_t)(177 + l)};
    double q[64], error[2] = {0, 0}, largest[2] = {0, 0};
    int count = (random_numbers(&dice, law, true, q), rough_speed(&dice, t, v));
    void *memory = malloc(od_friction_grid_size(count));
    od_friction_grid grid;
    assert_int_equal(od_friction_grid_make(&grid, memory, count, t, v), OD_OK);
    for (int i = 0; i < count; i++)
      base[i] = 1 + 0.3 * sin(7 * t[i]), other[i] = cos(11 * t[i]) + 0.2, differences[i] = 0;
    od_friction_start start = {.bristle = law->has_bristles ? 20 : 0, .film = 0.1, .signal = 1, .signals = base};
    assert_int_equal(od_friction_drive_slopes(law, q, true, &grid, &start, 1, &place, work, force, by_number), OD_OK);
    assert_int_equal(od_friction_drive_along(law, q, true, &grid, &start, base, 2, along), OD_OK);
    assert_int_equal(od_friction_drive_along(law, q, true, &grid, &start, other, 2, along + 1), OD_OK);
    start.signals = moved;
    for (int k = 0; k < 7; k++) {
      for (int i = 0; i < count; i++) moved[i] = base[i] + (k - 3) * h * other[i];
      assert_int_equal(od_friction_drive(law, q, true, &grid, &start, &(od_friction_motion){.force = force}), OD_OK);
      for (int i = 0; i < count; i++) differences[i] += weight[k] * force[i] / (60 * h);
    }
    for (int i = 0; i < count; i++) {
      const double expected[2] = {q[place] * by_number[i], differences[i]};
      for (int c = 0; c < 2; c++) {
        largest[c] = fmax(largest[c], fabs(expected[c]));
        error[c] = fmax(error[c], fabs(expected[c] - along[2 * i + c]));
      }
    }
    print_message("%s along a signal: within %.2g and %.2g\n", law->name, error[0] / largest[0], error[1] / largest[1]);
    if (!(largest[0] > 0 && error[0] <= 1e-12 * largest[0] && error[1] <= 1e-8 * largest[1]))
      fail_msg("%s: off by %g of %g, %g of %g", law->name, error[0], largest[0], error[1], largest[1]);
    free(memory);
  }
}

// 2^x for vectors against the C library in long double.
static void test_wide_exp(void **state) {
  (void)state;
  double worst = 0;
  for (int i = -102100; i <= 102200; i++) {
    double x = i / 100.0 - 1e-3 * fabs(sin(i));
    long double exact = exp2l((long double)fmax(x, -1021));
    worst = fmax(worst, fabs((double)((od_wide_exp2(fmax(x, -1021)) - exact) / exact)));
  }
  print_message("2^x for vectors: within %.2g\n", worst);
  assert_true(worst < 8.9e-16);
  assert_true(od_wide_exp2(0) == 1 && isnan(od_wide_exp2(NAN)));
}

// At a constant speed every law converges to its steady curve.
static void test_steady(void **state) {
  (void)state;
  enum { COUNT = 2000 };
  static double t[COUNT], v[COUNT], force[COUNT];
  for (int l = 0; l < od_friction_law_count(); l++) {
    const od_friction_law *law = od_friction_laws[l];
    od_dice dice = {(uint64_t)l};
    double q[64];
    random_numbers(&dice, law, true, q);
    for (double speed = -0.2; speed < 0.25; speed += 0.1) {
      for (int i = 0; i < COUNT; i++) t[i] = 0.05 * i, v[i] = speed;
      void *memory = malloc(od_friction_grid_size(COUNT));
      od_friction_grid grid;
      od_friction_start start = {.signal = 1};
      assert_int_equal(od_friction_grid_make(&grid, memory, COUNT, t, v), OD_OK);
      assert_int_equal(od_friction_drive(law, q, true, &grid, &start, &(od_friction_motion){.force = force}), OD_OK);
      double steady = law->steady_r(q, true, speed);
      if (!(fabs(force[COUNT - 1] - steady) <= 1e-6 * fabs(steady)))
        fail_msg("%s at %g m/s: %.9g, steady %.9g", law->name, speed, force[COUNT - 1], steady);
      free(memory);
    }
  }
}

// Five steady laws by hand (eq. 5.1 to 5.5 and Table 5.1 of source 28 in docs/theory.md, k of the Lorentzian 0.06).
static void test_curves(void **state) {
  (void)state;
  static const struct {
    const char *law;
    double n, k;
    bool lorentzian, has_n;
  } laws[] = {{"tustin", 1, 0.002, false, false},
              {"gaussian", 2, 0.002 / 22.627416997969522, false, false},
              {"lorentzian", 2, 0.06, true, false},
              {"modified-gaussian", 1.2, 0.002 / 2.271606, false, true},
              {"modified-lorentzian", 1.96, 0.06 / 3.8416, true, true}};
  const double Fs = 2000, Fc = 200, vs = 0.01, viscous = 300;
  for (size_t i = 0; i < sizeof laws / sizeof *laws; i++) {
    double n = laws[i].n, k = laws[i].k, q[16], *at = q;
    double end = laws[i].lorentzian ? vs * pow((1 - k) / k, 1 / n) : vs * pow(-log(k), 1 / n);
    *at++ = Fs, *at++ = Fc, *at++ = vs;
    if (laws[i].has_n) *at++ = n;
    *at++ = viscous, *at++ = 0, *at++ = 1e-5, *at++ = 1;  // and no factor
    for (int j = 0; j < 5; j++) *at++ = 0;
    for (double v = 0.002; v < 0.25; v += 0.007) {
      double S = laws[i].lorentzian ? 1 / (1 + pow(v / vs, n)) : exp(-pow(v / vs, n));
      double h = (1 - Fc / Fs) * pow(fmin(v / end, 1), 2.0 / 3), by_hand = Fc + ((1 - h) * Fs - Fc) * S + viscous * v;
      assert_true(fabs(law_named(laws[i].law)->steady_r(q, false, v) - (by_hand)) <= 2e-3);
      assert_true(fabs(law_named(laws[i].law)->steady_r(q, false, -v) - (-by_hand)) <= 2e-3);
    }
  }
}

static void test_nonsense(void **state) {
  (void)state;
  double memory[64], t[3] = {0, 1, 1}, v[3] = {0, NAN, 0}, work[200], q[32], force[3], dforce[3];
  od_friction_grid grid;
  assert_int_equal(od_friction_grid_make(&grid, memory, 3, t, v), OD_BAD_ARGUMENT);
  v[1] = 1;
  assert_int_equal(od_friction_grid_make(&grid, memory, 3, t, v), OD_BAD_ARGUMENT);
  assert_int_equal(od_friction_grid_make(&grid, memory, 0, t, v), OD_BAD_ARGUMENT);
  t[2] = 2;
  assert_int_equal(od_friction_grid_make(&grid, memory, 3, t, v), OD_OK);
  published_reduced(&published_cylinders[0], q);
  assert_int_equal(
      od_friction_drive_slopes(law_named("reduced"), q, true, &grid, &from_rest, 1, &(int){19}, work, force, dforce),
      OD_BAD_ARGUMENT);
  q[2] = NAN;
  assert_int_equal(
      od_friction_drive(law_named("reduced"), q, true, &grid, &from_rest, &(od_friction_motion){.force = force}),
      OD_NOT_FINITE);
  assert_int_equal(od_friction_law_find("bogus"), -1);
}

// A grid without samples needs no memory; with n samples it has at most 2 n nodes of six numbers and three indices.
static void size_of_a_grid(void **state) {
  (void)state;
  assert_int_equal(od_friction_grid_size(0), 0);
  assert_int_equal(od_friction_grid_size(-3), 0);
  assert_int_equal(od_friction_grid_size(1), 2 * (6 * sizeof(double) + 3 * sizeof(int)));
  assert_int_equal(od_friction_grid_size(1000), 2000 * (6 * sizeof(double) + 3 * sizeof(int)));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(size_of_a_grid),        cmocka_unit_test(test_curves),   cmocka_unit_test(test_cylinders),
      cmocka_unit_test(test_slopes),           cmocka_unit_test(test_steady),   cmocka_unit_test(test_nonsense),
      cmocka_unit_test(test_sensitivities),    cmocka_unit_test(test_wide_exp), cmocka_unit_test(test_signals),
      cmocka_unit_test(test_signal_over_time), cmocka_unit_test(test_along)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
