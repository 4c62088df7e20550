// Margins of the test bench's loops: `oleodyn bode` on cases/test-bench/margins.yaml against the linear model of appendix B.2 of source 28 in
// docs/theory.md, written by hand: flows (B.16) to (B.19), plant (B.14), (B.15), spools (B.23), leakage (B.36), controllers (B.38) without
// filter, and the oil (B.11) to (B.13). Prints the margins of wrong signs in (B.22), (B.36) and of (B.15) as printed, for the case's README.
#include "support/test.h"

#include <complex.h>
#include <jansson.h>
#include <math.h>
#include <stdbool.h>

#include "support/program.h"

#define BENCH OD_SOURCE_DIR "/cases/test-bench/"

typedef double _Complex number;

enum { PM, RM, RL, PL };  // chambers

typedef struct reading {
  const char *variant;
  double modulus, air;                                                // oil: Pa, part
  double main_frequency, main_damping, load_frequency, load_damping;  // spools: Hz
  double leakage, damper;                                             // 1/Pa, N s/m
  double speed, position, pressure;                                   // the operating point: m/s, m, Pa
  int reversed;       // bits of chambers whose pressure has the wrong sign in (B.22)
  bool small_piston;  // A_pm in the last line of (B.15)
  bool shrinks;       // volume of the piston side: V0 - A x
} reading;

static const reading file = {"slow", 1.45e9, 0.01, 100, 0.707, 60, 1, 2e-8, 1000, -0.25, 0, 20e5, 0, false, false};

// The plant p' = -a p + b x + c v of each chamber, and the areas with the signs of their forces.
typedef struct plant {
  double a[4], b[4], c[4], area[4];
} plant;

static double modulus_at(const reading *q, double p) {
  double e = 1 / ((1 - q->air) / q->air * pow(1.013e5 / p, -1 / 1.4) + 1);
  return 1 / (1 / q->modulus + e * (1 / (1.4 * p) - 1 / q->modulus));
}

static plant plant_of(const reading *q) {
  const double pi = acos(-1), supply = 250e5, nominal_drop = 35e5, v = q->speed, x = q->position;
  const double A[4] = {pi / 4 * 25e-4, pi / 4 * (25e-4 - 12.25e-4), pi / 4 * (64e-4 - 16e-4), pi / 4 * 64e-4};
  const double V[4] = {0.79e-3 + (q->shrinks ? -1 : 1) * A[PM] * x, 0.45e-3 - A[RM] * x, 1.38e-3 + A[RL] * x,
                       1.81e-3 - A[PL] * x};
  // Pressures of the load cylinder: the drops of its edges are in the ratio of the squared areas, and all forces are in balance.
  double ratio = pow(A[PL] / A[RL], 2), force = q->damper * v - q->pressure * (A[PM] - A[RM]), drop;
  double p[4] = {q->pressure, q->pressure, 0, 0};
  plant m;
  if (v < 0) {
    drop = (force + supply * A[PL]) / (A[RL] + ratio * A[PL]);
    p[RL] = drop, p[PL] = supply - ratio * drop;
  } else {
    drop = (supply * A[RL] - force) / (A[RL] + ratio * A[PL]);
    p[RL] = supply - drop, p[PL] = ratio * drop;
  }
  for (int i = 0; i < 4; i++) {
    bool outlet = i == RM || i == PL, from_supply = (v < 0) == outlet;
    double flow = (i < RL ? 40 : 100) / 60000.0, d = from_supply ? supply - p[i] : p[i];
    double kq = flow * sqrt(d / nominal_drop), kqp = fabs(v) * A[i] / (2 * d), stiffness = modulus_at(q, p[i]) / V[i];
    m.a[i] = stiffness * kqp * (q->reversed >> i & 1 ? -1 : 1);
    m.b[i] = stiffness * kq * (outlet ? -1 : 1);
    m.c[i] = stiffness * A[i] * (outlet ? 1 : -1);
    m.area[i] = A[i] * (outlet ? -1 : 1);
  }
  if (q->small_piston) m.c[PL] *= A[PM] / A[PL];
  return m;
}

// The three cut loops at s.
static void loops(const reading *q, const plant *m, number s, number L[3]) {
  const double pi = acos(-1), wm = 2 * pi * q->main_frequency, wl = 2 * pi * q->load_frequency;
  number spool_m = wm * wm / (s * s + 2 * q->main_damping * wm * s + wm * wm);
  number spool_l = wl * wl / (s * s + 2 * q->load_damping * wl * s + wl * wl), H = q->leakage * s / (s + 100);
  // Load pressures: (s + a) p = b spool (u + H (p_pl - p_rl)) + c v, both.
  number m00 = s + m->a[RL] + m->b[RL] * spool_l * H, m01 = -m->b[RL] * spool_l * H;
  number m10 = m->b[PL] * spool_l * H, m11 = s + m->a[PL] - m->b[PL] * spool_l * H, det = m00 * m11 - m01 * m10;
  number rl_u = (m11 * m->b[RL] - m01 * m->b[PL]) * spool_l / det,
         pl_u = (m00 * m->b[PL] - m10 * m->b[RL]) * spool_l / det;
  number rl_v = (m11 * m->c[RL] - m01 * m->c[PL]) / det, pl_v = (m00 * m->c[PL] - m10 * m->c[RL]) / det;
  number pm_v = m->c[PM] / (s + m->a[PM]), rm_v = m->c[RM] / (s + m->a[RM]);
  number pm_u = m->b[PM] * spool_m / (s + m->a[PM]), rm_u = m->b[RM] * spool_m / (s + m->a[RM]);
  number inertia =
      730 * s + q->damper - m->area[PM] * pm_v - m->area[RM] * rm_v - m->area[RL] * rl_v - m->area[PL] * pl_v;
  L[0] = (pm_u + pm_v * m->area[PM] * pm_u / inertia) * (5e-8 + 2e-6 / s + 2e-10 * s);
  L[1] = -(rm_u + rm_v * m->area[RM] * rm_u / inertia) * (5e-8 + 2e-7 / s + 1e-10 * s);
  L[2] = (m->area[RL] * rl_u + m->area[PL] * pl_u) / inertia * (0.1 + 20 / s);
}

typedef struct margins {
  double phase[3], gain[3];  // degrees; dB, infinite: no crossing
} margins;

// The least margins on 20000 frequencies from 0.05 Hz to 5 kHz, between which the loops are nearly straight.
static margins by_hand(const reading *q) {
  enum { POINTS = 20000 };
  margins r = {{INFINITY, INFINITY, INFINITY}, {INFINITY, INFINITY, INFINITY}};
  plant m = plant_of(q);
  number before[3] = {0};
  for (int i = 0; i < POINTS; i++) {
    number L[3];
    loops(q, &m, I * 2 * acos(-1) * 0.05 * pow(1e5, (double)i / (POINTS - 1)), L);
    for (int k = 0; k < 3 && i > 0; k++) {
      double a = log(cabs(before[k])), b = log(cabs(L[k])), c = cimag(before[k]), d = cimag(L[k]);
      if (a * b < 0) {
        double phase = carg(-(before[k] + (L[k] - before[k]) * a / (a - b))) * 180 / acos(-1);
        if (fabs(phase) < fabs(r.phase[k])) r.phase[k] = phase;
      }
      if (c * d < 0 && creal(L[k]) < 0) {
        double gain = -20 * log10(cabs(before[k] + (L[k] - before[k]) * c / (c - d)));
        if (fabs(gain) < fabs(r.gain[k])) r.gain[k] = gain;
      }
    }
    for (int k = 0; k < 3; k++) before[k] = L[k];
  }
  return r;
}

// The margins of a variant, by the program.
static margins by_program(scratch *s, const char *variant) {
  static const char *const loop[3][2] = {{"cut_p", "error_pm"}, {"cut_r", "error_rm"}, {"x_l", "loop_v"}};
  margins r;
  for (int k = 0; k < 3; k++) {
    outcome o =
        run(s,
            "bode " BENCH
            "margins.yaml --variant %s --hold error_pm=0 --hold error_rm=0 --hold error_v=0 --adjust x_p,x_r,x_l "
            "--input %s --output %s --json -",
            variant, loop[k][0], loop[k][1]);
    ends_with(o, 0);
    json_t *bode = json_loads(o.out, 0, NULL);
    const json_t *found = json_array_get(json_object_get(bode, "responses"), 0),
                 *gain = json_object_get(found, "gain_margin");
    r.phase[k] = json_number_value(json_object_get(found, "phase_margin"));
    r.gain[k] = json_is_number(gain) ? 20 * log10(json_number_value(gain)) : INFINITY;
    json_decref(bode);
    forget(o);
  }
  return r;
}

static void show(const char *name, const margins *m) {
  print_message("%-44s %6.1f %6.1f %6.1f deg  %6.1f %6.1f %6.1f dB\n", name, m->phase[0], m->phase[1], m->phase[2],
                m->gain[0], m->gain[1], m->gain[2]);
}

static reading fast(reading q, const char *variant, double speed) {
  q.variant = variant, q.speed = speed, q.position = 0.25, q.pressure = 200e5;
  return q;
}

// Largest differences of phase and gain margins from the printed ones, (B.40) and (B.41); both pressure loops have an infinite gain margin.
static void distance(const margins *slow, const margins *fast_point, double *phase, double *gain) {
  static const double printed[2][4] = {{98.8, 87.1, 84.7, 13}, {94.9, 66.6, 91.8, 2.4}};
  const margins *m[2] = {slow, fast_point};
  *phase = *gain = 0;
  for (int i = 0; i < 2; i++) {
    for (int k = 0; k < 3; k++) *phase = fmax(*phase, fabs(m[i]->phase[k] - printed[i][k]));
    *gain = fmax(*gain, fabs(m[i]->gain[2] - printed[i][3]));
    assert_true(isinf(m[i]->gain[0]) && isinf(m[i]->gain[1]));
  }
}

static void readings_of_the_file(void **state) {
  reading searched = file, nearest = file, volume = file;
  searched =
      (reading){"searched-slow", 1.69e9, 0.002, 111, 0.47, 60, 0.46, 0.92e-8, 1165, -0.25, 0, 20e5, 0, false, false};
  nearest = (reading){"nearest-slow", 1.92e9, 0.002, 127, 0.49, 60, 0.52, 1e-8, 1000, -0.25, 0, 20e5, 0, false, false};
  volume.variant = "volume-slow", volume.modulus = 1e9, volume.air = 1e-6, volume.leakage = 0;
  reading other = fast(volume, "volume-fast", 0.05);
  other.shrinks = true;
  // The last columns: the largest differences from the printed margins that the case's README states, degrees and dB.
  const struct {
    reading slow, fast;
    double phase, gain;
  } pairs[] = {{file, fast(file, "fast", 0.05), 29.8, 10.6},
               {file, fast(file, "fast-negative", -0.05), 17.9, 11.2},
               {searched, fast(searched, "searched-fast", -0.05), 8.7, 2.3},
               {nearest, fast(nearest, "nearest-fast", -0.05), 6.8, 1.7},
               {volume, other, 6.1, 3.5}};
  for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
    const reading *q[2] = {&pairs[i].slow, &pairs[i].fast};
    margins m[2];
    for (int k = 0; k < 2; k++) {
      margins hand = by_hand(q[k]);
      m[k] = by_program(*state, q[k]->variant);
      show(q[k]->variant, &m[k]);
      for (int l = 0; l < 3; l++) {
        assert_true(fabs(m[k].phase[l] - hand.phase[l]) < 0.05);
        assert_true(isinf(hand.gain[l]) ? isinf(m[k].gain[l]) : fabs(m[k].gain[l] - hand.gain[l]) < 0.05);
      }
    }
    double phase, gain;
    distance(&m[0], &m[1], &phase, &gain);
    print_message("  largest differences from the printed margins: %.1f deg, %.1f dB\n", phase, gain);
    assert_true(fabs(phase - pairs[i].phase) < 0.1 && fabs(gain - pairs[i].gain) < 0.1);
  }
}

// Wrong signs and the misprint of (B.15), with the file's other numbers. None has the printed margins: in each reading a margin at a point
// is off by more than 10 degrees, or a pressure loop has a finite gain margin.
static void signs(void **state) {
  (void)state;
  static const char *const chamber[] = {"p_pm", "p_rm", "p_rl", "p_pl"};
  char name[100];
  for (int point = 0; point < 3; point++)
    for (int k = 0; k < 19; k++) {
      static const double speed[] = {-0.25, 0.05, -0.05}, printed[2][3] = {{98.8, 87.1, 84.7}, {94.9, 66.6, 91.8}};
      reading q = point == 0 ? file : fast(file, "", speed[point]);
      int used = snprintf(name, sizeof name, "%+.2f m/s", speed[point]);
      if (k < 16) {
        q.reversed = k;
        for (int i = 0; i < 4; i++)
          if (k >> i & 1) used += snprintf(name + used, sizeof name - (size_t)used, " -%s", chamber[i]);
      } else if (k == 16) {
        q.leakage = -q.leakage, snprintf(name + used, sizeof name - (size_t)used, " leakage reversed");
      } else if (k == 17) {
        q.leakage = 0, snprintf(name + used, sizeof name - (size_t)used, " no leakage");
      } else {
        q.small_piston = true, snprintf(name + used, sizeof name - (size_t)used, " (B.15) as printed");
      }
      margins m = by_hand(&q);
      show(name, &m);
      double worst = 0;
      for (int l = 0; l < 3; l++) worst = fmax(worst, fabs(m.phase[l] - printed[point > 0][l]));
      bool finite = isfinite(m.gain[0]) || isfinite(m.gain[1]);
      if (point > 0) assert_true(finite || worst > 10);
    }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(readings_of_the_file, scratch_setup, scratch_teardown),
      cmocka_unit_test(signs),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
