// The curves of valves (src/core/math/spline_x.h). Oracle: the textbook recursion of Cox and de Boor, with the parameter
// of an abscissa by bisection (tests/oracle/hydraulic_fourbar.c has the basis functions; no code in common): values, basis
// functions, slopes and derivatives with respect to control points, in real and in complex numbers.
#include <math.h>
#include <stdbool.h>

#include "support/test.h"
#include "oracle/hydraulic_fourbar.h"

// Both builds of the template in one file.
#include "base/scalar_x.h"
#include "math/spline_x.h"
#define OD_COMPLEX
#include "base/scalar_x.h"
#include "math/spline_x.h"

enum { MOST_POINTS = 14, HIGHEST = 7 };
static const double tiny = 1e-30;

// Reproducible numbers between 0 and 1.
static double uniform(uint64_t *seed) {
  *seed = *seed * 6364136223846793005u + 1442695040888963407u;
  return (double)(*seed >> 11) / 9007199254740992.0;
}

typedef struct curve {
  int degree, count;
  double P[MOST_POINTS], Q[MOST_POINTS];
} curve;

static curve random_curve(int degree, int count, uint64_t *seed) {
  curve c = {.degree = degree, .count = count};
  for (int i = 0; i < count; i++) {
    c.P[i] = i ? c.P[i - 1] + 0.2 + uniform(seed) : 0;
    c.Q[i] = 100 * uniform(seed);
  }
  return c;
}

// ---- textbook formulas

typedef struct naive {
  double u, B[MOST_POINTS], D[MOST_POINTS], y, slope;
} naive;

static int clamped_knots(const curve *c, double *knots) {
  const int all = c->count + c->degree + 1;
  for (int i = 0; i < all; i++) {
    const int inside = i - c->degree, spans = c->count - c->degree;
    knots[i] = inside < 0 ? 0 : inside > spans ? spans : inside;
  }
  return all;
}

static double naive_sum(const double *B, const double *P, int count) {
  double sum = 0;
  for (int i = 0; i < count; i++) sum += B[i] * P[i];
  return sum;
}

static naive by_the_book(const curve *c, double x) {
  double knots[MOST_POINTS + HIGHEST + 1];
  const int all = clamped_knots(c, knots), n = c->count, d = c->degree;
  naive r = {0};
  double low = 0, high = n - d;
  for (int round = 0; round < 56; round++) {
    r.u = (low + high) / 2;
    for (int i = 0; i < n; i++) r.B[i] = oracle_basis(knots, all, i, d, r.u);
    if (naive_sum(r.B, c->P, n) > x)
      high = r.u;
    else
      low = r.u;
  }
  // N'_i = d (N_{i,d-1} / (u_{i+d} - u_i) - N_{i+1,d-1} / (u_{i+d+1} - u_{i+1})), 0/0 = 0.
  for (int i = 0; i < n; i++) {
    const double left = knots[i + d] - knots[i], right = knots[i + d + 1] - knots[i + 1];
    if (left > 0) r.D[i] += d * oracle_basis(knots, all, i, d - 1, r.u) / left;
    if (right > 0) r.D[i] -= d * oracle_basis(knots, all, i + 1, d - 1, r.u) / right;
  }
  r.y = naive_sum(r.B, c->Q, n);
  r.slope = naive_sum(r.D, c->Q, n) / naive_sum(r.D, c->P, n);
  return r;
}

// ---- tests

// Inside the curve, at points away from knots, where every degree has a slope.
static void agrees_with_the_book(void **state) {
  (void)state;
  uint64_t seed = 1;
  double value = 0, basis = 0, slope = 0;
  for (int degree = 1; degree <= HIGHEST; degree++)
    for (int count = degree + 1; count <= degree + 5; count++) {
      const curve c = random_curve(degree, count, &seed);
      const double end = c.P[count - 1];
      for (int i = 0; i < 20; i++) {
        const double x = end * (i < 18 ? uniform(&seed) : i == 18 ? 1e-9 : 1 - 1e-9);
        const naive want = by_the_book(&c, x);
        curve_point_r got;
        curve_evaluate_r(degree, count, c.P, c.Q, x, &got);
        value = fmax(value, fabs(got.y - want.y));
        slope = fmax(slope, fabs(curve_slope_r(&got) - want.slope) / (1 + fabs(want.slope)));
        assert_true(got.first >= 0 && got.first + degree < count);
        near(got.t, want.u, 1e-9 * count);
        near(got.x, x, 0);
        near_relative(got.speed, naive_sum(want.D, c.P, count), 1e-8);
        near(got.rise, naive_sum(want.D, c.Q, count), 1e-6);
        for (int k = 0; k < count; k++) {
          const bool among = k >= got.first && k <= got.first + degree;
          basis = fmax(basis, fabs((among ? got.B[k - got.first] : 0) - want.B[k]));
        }
      }
    }
  print_message("degrees 1 to %d: values %.2g, basis functions %.2g, slopes %.2g relative\n", HIGHEST, value, basis,
                slope);
  assert_true(value < 1e-10 && basis < 1e-12 && slope < 1e-9);
}

// Control points on a straight line give that line for any spacing; equal ordinates give that value.
static void straight_lines(void **state) {
  (void)state;
  uint64_t seed = 2;
  for (int degree = 1; degree <= HIGHEST; degree++)
    for (int count = degree + 1; count <= degree + 5; count++) {
      curve c = random_curve(degree, count, &seed);
      for (int i = 0; i < count; i++) c.Q[i] = 3 - 2 * c.P[i];
      for (int i = 0; i <= 50; i++) {
        const double x = c.P[count - 1] * i / 50;
        curve_point_r got;
        curve_evaluate_r(degree, count, c.P, c.Q, x, &got);
        near(got.y, 3 - 2 * x, 1e-12 * (1 + c.P[count - 1]));
        if (i > 0 && i < 50) near(curve_slope_r(&got), -2, 1e-10);
        double sum = 0;
        for (int k = 0; k <= degree; k++) sum += got.B[k];
        near(sum, 1, 1e-13);
      }
    }
}

// At the ends the curve passes through its first and last control points; beyond them it is constant.
static void ends(void **state) {
  (void)state;
  uint64_t seed = 3;
  for (int degree = 1; degree <= HIGHEST; degree++) {
    const curve c = random_curve(degree, degree + 3, &seed);
    const double end = c.P[degree + 2], at[] = {-5, -1e-300, 0, end, end * (1 + 1e-15), 2 * end, 1e300};
    for (int i = 0; i < 7; i++) {
      curve_point_r got;
      curve_evaluate_r(degree, degree + 3, c.P, c.Q, at[i], &got);
      assert_true(got.y == (i < 3 ? c.Q[0] : c.Q[degree + 2]) && curve_slope_r(&got) == 0);
      for (int k = 0; k <= degree; k++) assert_true(got.B[k] == (k == (i < 3 ? 0 : degree)));
      assert_int_equal(got.first, i < 3 ? 0 : 2);
    }
    // It is continuous there.
    curve_point_r got;
    curve_evaluate_r(degree, degree + 3, c.P, c.Q, 1e-13, &got);
    near(got.y, c.Q[0], 1e-8);
    curve_evaluate_r(degree, degree + 3, c.P, c.Q, end * (1 - 1e-14), &got);
    near(got.y, c.Q[degree + 2], 1e-8);
  }
}

// At and around inner knots the value is continuous, from degree 2 on also the slope.
static void knots(void **state) {
  (void)state;
  uint64_t seed = 4;
  for (int degree = 1; degree <= HIGHEST; degree++) {
    const curve c = random_curve(degree, degree + 4, &seed);
    double all[MOST_POINTS + HIGHEST + 1], B[MOST_POINTS];
    const int count = degree + 4, total = clamped_knots(&c, all);
    for (int knot = 1; knot < 4; knot++) {
      for (int i = 0; i < count; i++) B[i] = oracle_basis(all, total, i, degree, knot);
      const double x = naive_sum(B, c.P, count), y = naive_sum(B, c.Q, count);
      curve_point_r before, at, after;
      curve_evaluate_r(degree, count, c.P, c.Q, x * (1 - 1e-13), &before);
      curve_evaluate_r(degree, count, c.P, c.Q, x, &at);
      curve_evaluate_r(degree, count, c.P, c.Q, x * (1 + 1e-13), &after);
      near(before.y, y, 1e-9);
      near(at.y, y, 1e-11);
      near(after.y, y, 1e-9);
      if (degree > 1) near(curve_slope_r(&before), curve_slope_r(&after), 1e-8 * (1 + fabs(curve_slope_r(&at))));
    }
  }
}

// Control points so close together that the curve is almost vertical there: its slope is steep and finite. Oracle: dx/dt is at least the
// distance of the closest points, dy/dt at most twice the distance of the farthest.
static void close_points(void **state) {
  (void)state;
  uint64_t seed = 6;
  for (int trial = 0; trial < 20000; trial++) {
    curve c = {.degree = 2, .count = 3 + trial % 4};
    double closest = INFINITY;
    for (int i = 0; i < c.count; i++) {
      const double gap = uniform(&seed) < 0.5 ? pow(10, -14 + 8 * uniform(&seed)) : uniform(&seed);
      c.P[i] = i ? c.P[i - 1] + gap : 0;
      c.Q[i] = i;
      if (i) closest = fmin(closest, c.P[i] - c.P[i - 1]);
    }
    for (int i = 1; i + 1 < c.count && closest > 0; i++)
      for (int side = -1; side <= 1; side++) {
        const double knot = (c.P[i] + c.P[i + 1]) / 2, x = side ? nextafter(knot, side * (double)INFINITY) : knot;
        curve_point_r got;
        curve_evaluate_r(2, c.count, c.P, c.Q, x, &got);
        assert_true(got.y >= 0 && got.y <= c.count - 1);
        assert_true(curve_slope_r(&got) > 0 && curve_slope_r(&got) <= 2 / closest * (1 + 1e-9));
      }
  }
}

// dY/dY_i = B_i, dY/dX_i = -B_i dY/dx, dY/dx = slope: used in the engine's Jacobians; compared with differences of the
// textbook curve and with the complex build.
static void derivatives(void **state) {
  (void)state;
  uint64_t seed = 5;
  double by_differences = 0, by_complex = 0;
  for (int degree = 1; degree <= 5; degree++)
    for (int count = degree + 1; count <= degree + 4; count++) {
      curve c = random_curve(degree, count, &seed);
      for (int i = 0; i < 6; i++) {
        const double x = c.P[count - 1] * (0.03 + 0.94 * uniform(&seed)), h = 1e-5;
        curve_point_r got;
        curve_evaluate_r(degree, count, c.P, c.Q, x, &got);
        // Entries: x, the abscissae, the ordinates.
        for (int k = -1; k < 2 * count; k++) {
          const int point = k < count ? k : k - count;
          const double B = k >= 0 && point >= got.first && point <= got.first + degree ? got.B[point - got.first] : 0;
          const double formula = k < 0 ? curve_slope_r(&got) : k < count ? -B * curve_slope_r(&got) : B;

          curve ahead = c, behind = c;
          if (k >= count)
            ahead.Q[point] += h, behind.Q[point] -= h;
          else if (k >= 0)
            ahead.P[point] += h, behind.P[point] -= h;
          const double difference =
              (by_the_book(&ahead, k < 0 ? x + h : x).y - by_the_book(&behind, k < 0 ? x - h : x).y) / (2 * h);
          // The end points limit the curve: moving them changes its parameter as well, which the formula includes.
          if (degree > 1)
            by_differences = fmax(by_differences, fabs(formula - difference) / (1 + fabs(curve_slope_r(&got))));

          double _Complex P[MOST_POINTS], Q[MOST_POINTS], at = x;
          for (int j = 0; j < count; j++) P[j] = c.P[j], Q[j] = c.Q[j];
          double _Complex *moved = k < 0 ? &at : k < count ? &P[point] : &Q[point];
          *moved += __builtin_complex(0.0, tiny);
          curve_point_c complex_got;
          curve_evaluate_c(degree, count, P, Q, at, &complex_got);
          near(__real__ complex_got.y, got.y, 1e-11);
          by_complex =
              fmax(by_complex, fabs(formula - __imag__ complex_got.y / tiny) / (1 + fabs(curve_slope_r(&got))));
        }
      }
    }
  print_message("derivatives: %.2g from differences, %.2g from the complex step\n", by_differences, by_complex);
  assert_true(by_differences < 1e-6 && by_complex < 1e-11);
}

// Following a curve from point to point, near and far, across knots and beyond the ends, gives the same as a new
// search.
static void followed(void **state) {
  (void)state;
  uint64_t seed = 6;
  for (int degree = 1; degree <= HIGHEST; degree++) {
    const int count = degree + 4;
    const curve c = random_curve(degree, count, &seed);
    curve_point_r moving = {0}, found;
    double x = 0;
    for (int i = 0; i < 200; i++) {
      x = i % 10 == 0 ? c.P[count - 1] * (1.2 * uniform(&seed) - 0.1) : x + 0.01 * c.P[count - 1] * uniform(&seed);
      curve_follow_r(degree, count, c.P, c.Q, x, &moving);
      curve_evaluate_r(degree, count, c.P, c.Q, x, &found);
      near(moving.y, found.y, 1e-11);
      near(curve_slope_r(&moving), curve_slope_r(&found), 1e-10 * (1 + fabs(curve_slope_r(&found))));
    }
  }
}

// The search starts at the tangent of the previous point, with an error of second order in the distance, or, without a previous point or
// beyond the ends, on the polygon of the control points.
static void starts_of_the_search(void **state) {
  (void)state;
  uint64_t seed = 7;
  for (int degree = 3; degree <= HIGHEST; degree++) {
    const int count = degree + 4, spans = count - degree;
    const curve c = random_curve(degree, count, &seed);
    for (int i = 0; i < 50; i++) {
      const double x = c.P[count - 1] * (0.05 + 0.9 * uniform(&seed)), move = 1e-4 * (uniform(&seed) - 0.5);
      curve_point_r here, there, none = {.speed = 1};
      curve_evaluate_r(degree, count, c.P, c.Q, x, &here);
      curve_evaluate_r(degree, count, c.P, c.Q, x + move, &there);
      near(curve_guess_r(spans, count, c.P, x, &here), here.t, 1e-12);
      near(curve_guess_r(spans, count, c.P, x + move, &here), there.t, 1e4 * move * move);
      // Number k of the polygon is at k / (count - 1) of the parameter.
      int k = 0;
      while (c.P[k + 1] <= x) k++;
      const double part = (x - c.P[k]) / (c.P[k + 1] - c.P[k]);
      near(curve_guess_r(spans, count, c.P, x, &none), (k + part) * spans / (count - 1), 1e-12);
      here.speed = 1e-9;  // the tangent leaves the curve
      near(curve_guess_r(spans, count, c.P, x + 1e-3, &here), curve_guess_r(spans, count, c.P, x + 1e-3, &none), 0);
      near(curve_guess_r(spans, count, c.P, x - 1e-3, &here), curve_guess_r(spans, count, c.P, x - 1e-3, &none), 0);
    }
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(agrees_with_the_book),
                                     cmocka_unit_test(straight_lines),
                                     cmocka_unit_test(ends),
                                     cmocka_unit_test(knots),
                                     cmocka_unit_test(close_points),
                                     cmocka_unit_test(derivatives),
                                     cmocka_unit_test(followed),
                                     cmocka_unit_test(starts_of_the_search)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
