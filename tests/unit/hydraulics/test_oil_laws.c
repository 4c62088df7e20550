// The laws of the oil: bulk modulus, density and the properties that elements read, with all derivatives. Oracles: the laws by hand, in another
// arrangement; the density also by a fine quadrature of dp / B; complex steps for derivatives by hand.
#include <complex.h>
#include <math.h>
#include <string.h>

#include "support/test.h"
#include "hydraulics/warm_oil.h"

#include "base/scalar_x.h"
static inline void warm_oil_r(const double *q, double density, double temperature, double *oil) {
  od_warm_oil(q, density, temperature, oil);
}
#include "hydraulics/oil_x.h"
#define OD_COMPLEX
#include "base/scalar_x.h"
static inline void warm_oil_c(const od_complex *q, od_complex density, od_complex temperature, od_complex *oil) {
  od_warm_oil_complex(q, density, temperature, oil);
}
#include "hydraulics/oil_x.h"

static const double tiny = 1e-30, e = 1e4, rho = 870;
static const od_complex moved = 1e-30 * (od_complex)_Complex_I;

// Work memory: numbers of the oil from place 2 on, of the viscosity from 10 on, a state with the temperature at 20, properties from 30 on.
enum { OIL = 2, VISCOSITY = 10, STATES = 20, PROPERTIES = 30, SCALARS = 40, NUMBERS = 4 };
static od_model model_of(od_oil_law law) {
  od_model m;
  memset(&m, 0, sizeof m);
  m.oil_law = law;
  m.oil = OIL - 1, m.viscosity = -1, m.join.warms = -1;
  m.layout.theta = 1, m.layout.c = STATES, m.layout.oil = PROPERTIES;
  return m;
}
static void fill(double *w, const double *q) {
  memset(w, 0, SCALARS * sizeof *w);
  w[OIL + OD_OIL_DENSITY] = rho, w[OIL + OD_OIL_SMOOTHING] = e;
  for (int i = 0; i < NUMBERS; i++) w[OIL + OD_OIL_LAW + i] = q[i];
}
static void lift(const double *w, od_complex *c) {
  for (int i = 0; i < SCALARS; i++) c[i] = w[i];
}

// 1/B: compliances of oil and air, whose volumes are in the ratio a (p0/p)^(1/n) : 1 - a. Below 1 kPa as at 1 kPa.
static double by_hand(od_oil_law law, const double *q, double p) {
  if (law == OD_OIL_CONSTANT) return q[0];
  if (law == OD_OIL_LINEAR) return q[0] + q[1] * p;
  p = fmax(p, 1000);
  double air = q[1] * pow(q[2] / p, 1 / q[3]), oil = 1 - q[1];
  return (air + oil) / (air / (q[3] * p) + oil / q[0]);
}

static const struct {
  od_oil_law law;
  int numbers;
  double q[NUMBERS];
} oils[] = {{OD_OIL_CONSTANT, 1, {1.4e9}},
            {OD_OIL_LINEAR, 2, {1.2e9, 9}},
            {OD_OIL_LINEAR, 2, {1.2e9, 0.1}},
            {OD_OIL_LINEAR, 2, {1.2e9, 0}},
            {OD_OIL_AIR, 4, {1.5e9, 0.02, 1e5, 1.3}},
            {OD_OIL_AIR, 4, {1.4e9, 1e-6, 2e5, 1}},
            {OD_OIL_AIR, 4, {1.4e9, 0, 1e5, 1.4}}};
enum { OILS = sizeof oils / sizeof *oils };
static const double pressures[] = {-1e5, 0, 999, 1001, 5e3, 1e5, 3e5, 1e6, 2e7, 1e8};
enum { PRESSURES = sizeof pressures / sizeof *pressures };

static void modulus(void **state) {
  (void)state;
  double w[SCALARS];
  od_complex c[SCALARS];
  for (int i = 0; i < OILS; i++) {
    od_model m = model_of(oils[i].law);
    const double *q = oils[i].q;
    fill(w, q);
    for (int k = 0; k < PRESSURES; k++) {
      double p = pressures[k], B = by_hand(oils[i].law, q, p);
      near_relative(bulk_modulus_r(&m, w, p), B, 1e-14);
      lift(w, c);
      near_relative(creal(bulk_modulus_c(&m, c, p)), B, 1e-14);
      double slope = cimag(bulk_modulus_c(&m, c, p + moved)) / tiny;
      near_scaled(bulk_slope(&m, w, p), slope, 1e-10, 1e-9);
      for (int j = 0; j < oils[i].numbers; j++) {
        lift(w, c);
        c[OIL + OD_OIL_LAW + j] += moved;
        double exact = cimag(bulk_modulus_c(&m, c, p)) / tiny, size = B / (q[j] > 0 ? q[j] : 1);
        near_scaled(bulk_number_slope(&m, w, p, j), exact, 1e-10, 1e-2 * size);
        // Differences, for the form without air, whose complex step is a formula of its own: of second order, to one side.
        double h = q[j] > 0 ? 1e-6 * q[j] : oils[i].law == OD_OIL_AIR ? 1e-10 : 1e-3, moved_q[NUMBERS], at[3];
        for (int s = 0; s < 3; s++) {
          memcpy(moved_q, q, sizeof moved_q);
          moved_q[j] += s * h;
          at[s] = by_hand(oils[i].law, moved_q, p);
        }
        near_scaled(exact, (4 * at[1] - 3 * at[0] - at[2]) / (2 * h), 1e-3, 1e-4 * size);
      }
    }
  }
}

// rho exp(integral of dp / B), from zero or, with air, from the pressure of the air, by the midpoint rule in the logarithm of p + 2 kPa.
static double density_by_hand(od_oil_law law, const double *q, double p) {
  enum { PARTS = 20000 };
  double from = law == OD_OIL_AIR ? q[2] : 0, shift = fmax(2000, 2000 - 2 * fmin(p, 0)), sum = 0;
  double low = log(from + shift), step = (log(p + shift) - low) / PARTS;
  for (int i = 0; i < PARTS; i++) {
    double x = exp(low + (i + 0.5) * step);
    sum += step * x / by_hand(law, q, x - shift);
  }
  return rho * exp(sum);
}

static void density(void **state) {
  (void)state;
  double w[SCALARS], worst = 0;
  od_complex c[SCALARS];
  for (int i = 0; i < OILS; i++) {
    od_model m = model_of(oils[i].law);
    fill(w, oils[i].q);
    for (int k = 0; k < PRESSURES; k++) {
      double p = pressures[k], want = density_by_hand(oils[i].law, oils[i].q, p), got = oil_density_r(&m, w, p);
      worst = fmax(worst, fabs(got / want - 1));
      near_relative(got, want, 2e-7 * (1 + fabs(log(want / rho))));
      lift(w, c);
      near_relative(creal(oil_density_c(&m, c, p)), got, 1e-14);
      // d rho / dp = rho / B, and a number of the density is a factor.
      near_relative(cimag(oil_density_c(&m, c, p + moved)) / tiny, got / by_hand(oils[i].law, oils[i].q, p), 1e-5);
      c[OIL + OD_OIL_DENSITY] += moved;
      near_relative(cimag(oil_density_c(&m, c, p)) / tiny, got / rho, 1e-13);
    }
    double given = oils[i].law == OD_OIL_AIR ? oils[i].q[2] : 0;
    near_relative(oil_density_r(&m, w, given), rho, 1e-15);
  }
  print_message("density: relative difference from the quadrature %.2g\n", worst);
}

// (1 + y)^(x/y) on both sides of the limit between power and series, |y| = 1e-3, against logarithms of C.
static void compression_of_the_linear_law(void **state) {
  (void)state;
  const double x[] = {-0.02, 1e-6, 0.01, 0.2},
               y[] = {-0.05, -1.001e-3, -0.999e-3, -1e-6, 1e-12, 0.9e-3, 0.999e-3, 1.001e-3, 0.3};
  for (size_t i = 0; i < sizeof x / sizeof *x; i++)
    for (size_t k = 0; k < sizeof y / sizeof *y; k++) {
      double s = y[k] / x[i], want = exp(x[i] * (log1p(s * x[i]) / (s * x[i])));
      near_relative(linear_compression_r(s, x[i]), want, 1e-14);
      near_relative(creal(linear_compression_c(s, x[i])), want, 1e-14);
      double by_x = want / (1 + s * x[i]);
      near_relative(cimag(linear_compression_c(s, x[i] + moved)) / tiny, by_x, 1e-12);
    }
}

// Without numbers of the viscosity: 46 mm2/s at any pressure and temperature.
static void usual_oil(void **state) {
  (void)state;
  double w[SCALARS], slope[OD_OIL_STATES], *oil = w + PROPERTIES;
  od_complex c[SCALARS];
  od_model m = model_of(OD_OIL_CONSTANT);
  fill(w, oils[0].q);
  oil_state_r(&m, w);
  near_relative(oil[OD_OIL_STATE_ROOT], sqrt(2 / rho), 1e-15);
  near_relative(oil[OD_OIL_STATE_VISCOSITY], 46e-6 * rho, 1e-15);
  assert_true(oil[OD_OIL_STATE_SMOOTHING] == e && oil[OD_OIL_STATE_THICKENING] == 0 && oil[OD_OIL_STATE_THINNESS] == 1);
  const int numbers[] = {OD_OIL_DENSITY, OD_OIL_SMOOTHING};
  for (int k = 0; k < 2; k++) {
    lift(w, c);
    c[OIL + numbers[k]] += moved;
    oil_state_c(&m, c);
    oil_state_slopes(&m, w, numbers[k], slope);
    for (int i = 0; i < OD_OIL_STATES; i++) near_relative(slope[i], cimag(c[PROPERTIES + i]) / tiny, 1e-13);
  }
  m.oil = -1;
  oil[OD_OIL_STATE_ROOT] = 7;
  oil_state_r(&m, w);
  assert_true(oil[OD_OIL_STATE_ROOT] == 7);
}

// With numbers of the viscosity, at a constant temperature and at the temperature of a reservoir.
static void warm_oil(void **state) {
  (void)state;
  for (int k = 0; k < 4; k++) {
    bool is_state = k % 2, walther = k / 2;
    double w[SCALARS], slope[OD_OIL_STATES], *v = w + VISCOSITY, *oil = w + PROPERTIES, T = 335, T0 = 313;
    od_complex c[SCALARS];
    od_model m = model_of(OD_OIL_CONSTANT);
    fill(w, oils[0].q);
    m.viscosity = VISCOSITY - 1;
    if (is_state) m.join.warms = 3;
    v[OD_VISCOSITY_VALUE] = 46e-6, v[OD_VISCOSITY_REFERENCE] = T0, v[OD_VISCOSITY_TEMPERATURE] = is_state ? 1 : T;
    v[OD_VISCOSITY_THINNING] = 0.03, v[OD_VISCOSITY_THICKENING] = 2e-8, v[OD_VISCOSITY_EXPANSION] = 7e-4;
    v[OD_VISCOSITY_HOT_TEMPERATURE] = 373, v[OD_VISCOSITY_HOT_VALUE] = walther ? 6.8e-6 : 0;
    if (is_state) w[STATES + 3] = T;
    lift(w, c);
    oil_state_r(&m, w);
    // Walther: log10 log10 of the viscosity in mm2/s plus 0.7 is linear in log10 of the temperature.
    double share = log10(T / T0) / log10(373 / T0), a = log10(log10(46.7)), b = log10(log10(7.5));
    double nu = walther ? (pow(10, pow(10, a + share * (b - a))) - 0.7) * 1e-6 : 46e-6 * exp(-0.03 * (T - T0));
    double hot = rho / (1 + 7e-4 * (T - T0));
    near_relative(oil_temperature_r(&m, w), T, 0);
    near_relative(oil[OD_OIL_STATE_ROOT], sqrt(2 / hot), 1e-14);
    near_relative(oil[OD_OIL_STATE_VISCOSITY], nu * hot, 1e-13);
    near_relative(oil[OD_OIL_STATE_THINNESS], 46e-6 * rho / (nu * hot), 1e-13);
    near_relative(oil[OD_OIL_STATE_THICKENING], 2e-8, 0);
    assert_true(oil[OD_OIL_STATE_SMOOTHING] == e);
    for (int j = -2; j < OD_VISCOSITY_NUMBERS; j++) {
      int place = j == -2 ? OIL + OD_OIL_DENSITY : j == -1 ? OIL + OD_OIL_SMOOTHING : VISCOSITY + j;
      if (!walther && j == OD_VISCOSITY_HOT_VALUE) continue;  // zero selects the other law
      lift(w, c);
      c[place] += moved;
      oil_state_c(&m, c);
      oil_state_slopes(&m, w, j == -2 ? OD_OIL_DENSITY : j == -1 ? OD_OIL_SMOOTHING : OD_OIL_VISCOSITY + j, slope);
      for (int i = 0; i < OD_OIL_STATES; i++)
        near_scaled(slope[i], cimag(c[PROPERTIES + i]) / tiny, 1e-11, 0.1 * fabs(oil[i]));
    }
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(modulus), cmocka_unit_test(density),
                                     cmocka_unit_test(compression_of_the_linear_law), cmocka_unit_test(usual_oil),
                                     cmocka_unit_test(warm_oil)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
