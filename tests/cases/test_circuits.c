// Small machines (machines/*.yaml), each with one element of the circuit. Oracles: a closed form, a quadrature or a
// conservation law for each, written here without code of the engine.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "support/test.h"
#include "oracle/extrapolation.h"
#include "simulate/cvodes.h"
#include "support/machines.h"

#define MACHINE(name) "tests/cases/machines/" name ".yaml"

// Runs to `time` in steps of h, by CVODES or by the trapezoidal rule, and calls `look` at every point.
typedef void look(od_test_run *r, double t, const double *y, void *user);

static void run(od_test_run *r, bool tight, double h, double time, look *at, void *user) {
  od_cvodes *c = tight ? od_cvodes_new(r->sim, r->plant, r->machine, 1e-10) : NULL;
  const int steps = (int)lround(time / h);
  for (int i = 0; i <= steps; i++) {
    double u[4] = {0}, y[16];
    bool changed;
    od_error err = {0};
    od_status status = OD_OK;
    if (i && tight) status = od_cvodes_advance(c, i * h, &err);
    if (i && !tight) {
      if (r->plant->nu) od_machine_inputs(r->machine, i * h, u);
      status = od_sim_repartition(r->sim, NULL, &changed);
      if (status == OD_OK) status = od_sim_step(r->sim, h, u);
    }
    if (status != OD_OK) print_error("at %g s: %s %s\n", i * h, od_status_text(status), err.text);
    assert_int_equal(status, OD_OK);
    assert_int_equal(od_sim_outputs(r->sim, y), OD_OK);
    at(r, i * h, y, user);
  }
  od_cvodes_free(c);
}

// ---- a vessel empties through an orifice

typedef struct error {
  double worst;
} error;

// sqrt(p) falls as a straight line: sqrt(p0) - B K / (2 V) t with K = Cd A sqrt(2/rho).
static void look_at_vessel(od_test_run *r, double t, const double *y, void *user) {
  (void)r;
  const double K = 0.6 * 1e-6 * sqrt(2.0 / 800), root = sqrt(16e6) - 1e9 * K / (2 * 2e-3) * t;
  error *e = user;
  e->worst = fmax(e->worst, fabs(y[0] / (root * root) - 1));
  near(y[1], K * root, 1e-6 * K * root);
}

static void vessel_empties(void **state) {
  (void)state;
  double worst[3];
  for (int k = 0; k < 3; k++) {
    od_test_run r = od_test_begin(od_test_machine(MACHINE("emptying"), NULL), "P.pressure", "drain.flow", NULL);
    error e = {0};
    run(&r, k == 0, k == 2 ? 2.5e-3 : 5e-3, 0.4, look_at_vessel, &e);
    worst[k] = e.worst;
    od_test_end(&r);
  }
  print_message("emptying to 1/16: CVODES %.2g relative; trapezoid 5 ms %.2g, 2.5 ms %.2g\n", worst[0], worst[1],
                worst[2]);
  assert_true(worst[0] < 1e-8);
  // The trapezoidal rule is exact for parabolas, within Newton's tolerance.
  assert_true(worst[1] < 1e-9 && worst[2] < 1e-9);
}

// ---- a relief valve

// The open valve is linear: Q = slope (dp - set - width/2), so that p approaches its end value exponentially.
static void look_at_relief(od_test_run *r, double t, const double *y, void *user) {
  (void)r, (void)user;
  const double slope = 6e-3 / 60 / 1e5, Q = 30e-3 / 60, end = 1e5 + 100e5 + 1e4 / 2 + Q / slope;
  near(y[0], end + (120e5 - end) * exp(-1e9 * slope / 1e-3 * t), 1e-2);
  near(y[1], slope * (y[0] - 1e5 - 100e5 - 1e4 / 2), 1e-12);
  near(y[2], Q, 1e-15);
}

static void relief_valve(void **state) {
  (void)state;
  od_test_run r =
      od_test_begin(od_test_machine(MACHINE("relief"), NULL), "P.pressure", "relief.flow", "pump.flow", NULL);
  run(&r, true, 1e-3, 0.05, look_at_relief, NULL);
  od_test_end(&r);
  // Closed below its setting: no flow, and the pump fills the vessel.
  r = od_test_begin(od_test_machine(MACHINE("relief"), "initial.P.pressure=50 bar", NULL), "P.pressure", "relief.flow",
                    NULL);
  double y[2];
  for (int i = 1; i <= 9; i++) {
    assert_int_equal(od_sim_step(r.sim, 1e-3, NULL), OD_OK);
    assert_int_equal(od_sim_outputs(r.sim, y), OD_OK);
    near(y[0], 50e5 + 1e9 / 1e-3 * 30e-3 / 60 * i * 1e-3, 1e-3);
    assert_true(y[1] == 0);
  }
  // From there to the same end value, by the trapezoidal rule through the smoothed corner.
  for (int i = 0; i < 100; i++) assert_int_equal(od_sim_step(r.sim, 1e-3, NULL), OD_OK);
  assert_int_equal(od_sim_outputs(r.sim, y), OD_OK);
  near(y[0], 1e5 + 100e5 + 1e4 / 2 + 5e-4 / 1e-9, 1e-3);
  od_test_end(&r);
}

// ---- a leak between two vessels, and a pump driven by an input

static void look_at_leak(od_test_run *r, double t, const double *y, void *user) {
  (void)r, (void)user;
  const double B = 1e9, Va = 1e-3, Vb = 3e-3, slope = 1e-12, Q = 0.5 * 1e-3 / 60;
  // The oil in both: V_a p_a + V_b p_b grows with the pump. The difference relaxes to Q B / (V_a rate).
  const double rate = slope * B * (1 / Va + 1 / Vb), end = Q * B / Va / rate;
  near(Va * y[0] + Vb * y[1], Va * 50e5 + Vb * 10e5 + B * Q * t, 1e-4);
  near(y[0] - y[1], end + (40e5 - end) * exp(-rate * t), 1e-1);
  near(y[2], slope * (y[0] - y[1]), 1e-18);
}

static void leak_and_pump(void **state) {
  (void)state;
  od_test_run r = od_test_begin(od_test_machine(MACHINE("leak"), NULL), "A.pressure", "B.pressure", "gap.flow", NULL);
  run(&r, true, 1e-2, 1, look_at_leak, NULL);
  od_test_end(&r);
}

// ---- ports: curves, overlap, dead band, ends

static void ports(void **state) {
  (void)state;
  od_test_run r = od_test_begin(od_test_machine(MACHINE("ports"), NULL), "valve.straight.flow", "valve.late.flow",
                                "valve.table.flow", "valve.cubic.flow", "valve.back.flow", "throttle.flow", NULL);
  const double full = 10e-6 * 0.5 * sqrt(2.0 / 800) * sqrt(100e5), *x = od_sim_state(r.sim);
  for (int i = -60; i <= 60; i++) {
    const double spool = 0.17 * i, travel = fmax(0, fmin(spool - 0.5, 8)), late = fmax(0, fmin(spool - 1.5, 8));
    const double back = fmax(0, fmin(-spool - 0.5, 8)) / 8, handle = 0.01 * (i + 60);
    // Degree 3 with four points: Bernstein polynomials, abscissae 0 1 4 8, ordinates 0 1 3 4.
    double low = 0, high = 1;
    for (int round = 0; round < 60; round++) {
      const double m = (low + high) / 2, n = 1 - m;
      if (3 * m * n * n + 12 * m * m * n + 8 * m * m * m < travel)
        low = m;
      else
        high = m;
    }
    const double cubic = 3 * low * (1 - low) * (1 - low) + 9 * low * low * (1 - low) + 4 * low * low * low;
    const double table = travel < 2 ? 1.5 * travel : 3 + (travel - 2) / 6;
    const double want[6] = {full * travel / 8,
                            full * late / 8,
                            full * table / 4,
                            full * cubic / 4,
                            -full * (2 * back * (1 - back) + 4 * back * back) / 4,
                            5e-6 * 0.6 * sqrt(2.0 / 800) * sqrt(100e5) * 2 * handle};
    double u[2] = {spool, handle}, state_now[8], y[6];
    memcpy(state_now, x, (size_t)od_plant_nx(r.plant) * sizeof *x);
    assert_int_equal(od_sim_set(r.sim, 0, state_now, u), OD_OK);
    assert_int_equal(od_sim_outputs(r.sim, y), OD_OK);
    for (int k = 0; k < 6; k++) near(y[k], want[k], 1e-12 * full);
  }
  od_test_end(&r);
}

// ---- the oil of a closed chamber, single-acting cylinder

static const double area = 0.05 * 0.05 * 3.14159265358979323846 / 4,
                    rod_area = 0.03 * 0.03 * 3.14159265358979323846 / 4;
static double chamber(double length) {
  return 0.1e-3 + area * (length - 0.7);
}

// Constant modulus: p = p0 - B ln(V/V0), and the work on the oil is the integral of -p dV.
static void look_at_stiff_oil(od_test_run *r, double t, const double *y, void *user) {
  (void)r, (void)t, (void)user;
  const double p0 = 100e5, B = 1.2e9, V = chamber(y[1]), V0 = chamber(1), ratio = log(V / V0);
  near(y[0], p0 - B * ratio, 0.5);
  near(y[2], -p0 * (V - V0) + B * (V * ratio - V + V0), 1e-6);
  near(y[3], y[0] * area - 1e5 * (area - rod_area), 1e-6);
}

// The same as an independent equation of motion: x'' = (p(x) A - p_T (A - rod) - shove) / m.
static void rates_on_stiff_oil(void *user, double t, const double *x, double *dx) {
  (void)user;
  const double p = 100e5 - 1.2e9 * log(chamber(1 + x[0]) / chamber(1));
  dx[0] = x[1];
  dx[1] = (p * area - 1e5 * (area - rod_area) - 20e3 - 6e3 * sin(6 * 3.14159265358979323846 * t)) / 500;
}

static void look_at_motion(od_test_run *r, double t, const double *y, void *user) {
  (void)r;
  double *x = user, *worst = x + 2;
  if (t > 0) oracle_extrapolate(rates_on_stiff_oil, NULL, 2, t - 1e-3, 1e-3, x);
  *worst = fmax(*worst, fabs(y[1] - 1 - x[0]));
}

static od_test_run begin_piston(const char *set) {
  return od_test_begin(od_test_machine(MACHINE("piston"), set, NULL), "A.pressure", "ram.length", "A.compressed",
                       "ram.force", NULL);
}

static void stiff_oil(void **state) {
  (void)state;
  od_test_run r = begin_piston("oil.air=0");
  run(&r, true, 1e-3, 1, look_at_stiff_oil, NULL);
  od_test_end(&r);
  r = begin_piston("oil.air=0");
  double motion[3] = {0};
  run(&r, true, 1e-3, 1, look_at_motion, motion);
  print_message("single-acting cylinder on closed oil: %.2g m from its own equation of motion\n", motion[2]);
  assert_true(motion[2] < 1e-9);
  od_test_end(&r);
}

// Reversed: oil on the rod side, tank on the piston side, the load pulls.
static void look_at_pulling(od_test_run *r, double t, const double *y, void *user) {
  (void)r, (void)t, (void)user;
  const double ring = area - rod_area, V = 0.1e-3 + ring * (1.3 - y[1]), V0 = 0.1e-3 + ring * 0.3;
  near(y[0], 100e5 - 1.2e9 * log(V / V0), 0.5);
  near(y[3], 1e5 * area - y[0] * ring, 1e-6);
}

static od_machine *load_variant(const char *variant, const char *set) {
  od_machine *machine = NULL;
  od_messages *messages = od_messages_new();
  const od_load_options options = {.variant = variant, .set = &set, .set_count = set != NULL};
  if (od_machine_load(OD_SOURCE_DIR "/" MACHINE("piston"), &options, &machine, messages) != OD_OK)
    od_messages_print(messages, stderr, false);
  od_messages_free(messages);
  assert_non_null(machine);
  return machine;
}

static void oil_on_the_rod_side(void **state) {
  (void)state;
  od_test_run r = od_test_begin(load_variant("pulling", "oil.air=0"), "A.pressure", "ram.length", "A.compressed",
                                "ram.force", NULL);
  run(&r, true, 1e-3, 1, look_at_pulling, NULL);
  od_test_end(&r);
}

// Entrained air: the gas follows p Vg^n = const, the liquid its modulus; shares of the volume by the gas' state at 1
// bar. 1/B = (1 - share) / B_liquid + share / (n p).
static double compliance(double p, double liquid) {
  const double gas = 0.02 * pow(1e5 / p, 1 / 1.3), share = gas / (gas + 0.98);
  return (1 - share) / liquid + share / (1.3 * p);
}

// ln(V0/V) = integral of dp/B from p0 to p, by Simpson's rule in ln p. The work is the integral of p V/B dp.
static void squeeze(double p0, double p, double liquid, double V0, double *V, double *work) {
  enum { PIECES = 400 };
  const double h = log(p / p0) / PIECES;
  double shrunk = 0;
  *work = 0;
  for (int i = 0; i < PIECES; i++) {
    double f[3], w[3];
    const double half[2] = {0.5, 1};
    double V_at = V0 * exp(-shrunk);
    for (int k = 0; k < 3; k++) {
      const double at = p0 * exp(h * (i + 0.5 * k));
      f[k] = at * compliance(at, liquid);
      // Volumes within the piece: by the same rule over half of it and over all of it.
      if (k > 0) {
        const double a = p0 * exp(h * i), m = p0 * exp(h * (i + 0.5 * half[k - 1])), b = at;
        const double part = h * half[k - 1] / 6 *
                            (a * compliance(a, liquid) + 4 * m * compliance(m, liquid) + b * compliance(b, liquid));
        V_at = V0 * exp(-shrunk - part);
      }
      w[k] = at * V_at * f[k];
    }
    *work += h / 6 * (w[0] + 4 * w[1] + w[2]);
    shrunk += h / 6 * (f[0] + 4 * f[1] + f[2]);
  }
  *V = V0 * exp(-shrunk);
}

typedef struct air_look {
  double liquid, worst_volume, worst_work, low, high;
} air_look;

static void look_at_air(od_test_run *r, double t, const double *y, void *user) {
  (void)r, (void)t;
  air_look *a = user;
  const double V0 = chamber(1);
  double V, work;
  squeeze(100e5, y[0], a->liquid, V0, &V, &work);
  a->worst_volume = fmax(a->worst_volume, fabs(chamber(y[1]) / V - 1));
  a->worst_work = fmax(a->worst_work, fabs(y[2] - work));
  a->low = fmin(a->low, y[0]), a->high = fmax(a->high, y[0]);
  // With an incompressible liquid only the gas changes its volume: a closed form.
  if (a->liquid > 1e14) {
    const double gas0 = 0.02 * pow(1e5 / 100e5, 1 / 1.3), gas = 0.02 * pow(1e5 / y[0], 1 / 1.3);
    near(chamber(y[1]), V0 * (gas + 0.98) / (gas0 + 0.98), 1e-8 * V0);
  }
}

static void oil_with_air(void **state) {
  (void)state;
  for (int k = 0; k < 2; k++) {
    od_test_run r = begin_piston(k ? "oil.modulus=1e15" : "oil.air=0.02");
    air_look a = {.liquid = k ? 1e15 : 1.2e9, .low = INFINITY};
    run(&r, true, 2e-3, 1, look_at_air, &a);
    print_message("air in oil, %.3g .. %.3g bar: volume %.2g relative, work %.2g J\n", 1e-5 * a.low, 1e-5 * a.high,
                  a.worst_volume, a.worst_work);
    assert_true(a.worst_volume < 1e-9 && a.worst_work < 1e-5);
    od_test_end(&r);
  }
}

// Static balance includes the inputs at the start: 20 kN press on the piston.
static void balance_with_inputs(void **state) {
  (void)state;
  od_test_run r = od_test_begin(load_variant("balanced", NULL), "A.pressure", "guide.acceleration", NULL);
  double y[2];
  assert_int_equal(od_sim_outputs(r.sim, y), OD_OK);
  near(y[0], (20e3 + 1e5 * (area - rod_area)) / area, 1);
  near(y[1], 0, 1e-9);
  od_test_end(&r);
}

// ---- a check valve

// Enclosed oil in the chamber: with B = kp + k0 p, ln V + ln(kp + k0 p) / k0 is constant.
static double locked(double length, double p) {
  return log(0.2e-3 + 2e-3 * (length - 0.8)) + log(1.5e9 + 5 * p) / 5;
}

typedef struct check_look {
  double held, worst, lifted_at;
} check_look;

static void look_at_check(od_test_run *r, double t, const double *y, void *user) {
  (void)r;
  check_look *c = user;
  if (t < 0.9) return;
  if (t < 1) {
    // Lifting steadily: A v = Cd A_c sqrt(2/rho) sqrt(p_S - p_A), p_A A = m g + p_T A_r + Fc + viscous v.
    const double K = 0.6 * 2e-6 * sqrt(2.0 / 869);
    double low = 0, high = 1;
    for (int i = 0; i < 60; i++) {
      const double v = (low + high) / 2, p = (2000 * 10 + 1e5 * 1.5e-3 + 100 * tanh(v / 0.01) + 6e4 * v) / 2e-3;
      if (K * sqrt(fmax(0, 200e5 - p)) > 2e-3 * v)
        low = v;
      else
        high = v;
    }
    c->lifted_at = low;
    near(y[2], low, 1e-5);
    return;
  }
  // Closed: no flow, and the enclosed oil carries the load.
  assert_true(t < 1.0005 || y[3] == 0);
  if (c->held == 0 && t > 1.0005) c->held = locked(y[1], y[0]);
  if (c->held != 0) c->worst = fmax(c->worst, fabs(locked(y[1], y[0]) - c->held));
}

static void check_valve(void **state) {
  (void)state;
  for (int tight = 0; tight < 2; tight++) {
    od_test_run r = od_test_begin(od_test_machine(MACHINE("check"), NULL), "A.pressure", "ram.length", "ram.rate",
                                  "check.flow", NULL);
    check_look c = {0};
    run(&r, tight, 1e-3, 4, look_at_check, &c);
    double y[4];
    assert_int_equal(od_sim_outputs(r.sim, y), OD_OK);
    print_message("%s: lifted at %.5f m/s, then held: locked oil changes by %.2g; at rest %.1f Pa\n",
                  tight ? "CVODES" : "trapezoid", c.lifted_at, c.worst, y[0]);
    assert_true(c.worst < (tight ? 1e-9 : 1e-7));
    // At rest at the end, with the weight on the oil.
    near(y[0], (2000 * 10 + 1e5 * 1.5e-3) / 2e-3, 20);
    near(y[2], 0, 1e-5);
    assert_true(y[1] > 1.05);
    od_test_end(&r);
  }
}

// ---- end stops

typedef struct stop_look {
  double deepest, rest[2], steady[2], defect, input;
} stop_look;

static void look_at_stops(od_test_run *r, double t, const double *y, void *user) {
  (void)r;
  stop_look *s = user;
  s->deepest = fmax(s->deepest, fmax(y[0] - 1.1, 0.9 - y[0]));
  if (fabs(t - 0.5) < 1e-9) s->steady[0] = y[1];
  if (fabs(t - 3.5) < 1e-9) s->steady[1] = y[1];
  if (fabs(t - 2) < 1e-9) s->rest[0] = y[0];
  s->rest[1] = y[0];
  s->defect = fmax(s->defect, fabs(y[2]));
  s->input = fmax(s->input, fabs(y[3]));
  // Both chambers keep some oil.
  assert_true(0.2e-3 + 20e-4 * (y[0] - 0.9) > 0 && 0.2e-3 + 15e-4 * (1.1 - y[0]) > 0);
}

// Steady speed between two sources: each orifice passes what its side of the piston moves.
static double steady_speed(double high, double low, double area_in, double area_out) {
  const double K = 0.6 * 3e-6 * sqrt(2.0 / 869);
  double slow = 0, fast = 1;
  for (int i = 0; i < 60; i++) {
    const double v = (slow + fast) / 2, in = high - pow(area_in * v / K, 2), out = low + pow(area_out * v / K, 2);
    if (in * area_in - out * area_out > 300 * tanh(v / 5e-3) + 2e3 * v)
      slow = v;
    else
      fast = v;
  }
  return slow;
}

static void end_stops(void **state) {
  (void)state;
  for (int tight = 0; tight < 2; tight++) {
    od_test_run r = od_test_begin(od_test_machine(MACHINE("stop"), NULL), "ram.length", "ram.rate", "energy.balance",
                                  "energy.input", NULL);
    stop_look s = {0};
    run(&r, tight, 1e-3, 6, look_at_stops, &s);
    print_message("%s: %.3f mm into the stops, %.4f and %.4f mm at rest; energy defect %.2g of %.4g J\n",
                  tight ? "CVODES" : "trapezoid", 1e3 * s.deepest, 1e3 * (s.rest[0] - 1.1), 1e3 * (0.9 - s.rest[1]),
                  s.defect, s.input);
    assert_true(s.deepest < 2e-3);
    // At rest the stop carries the remaining force: k depth.
    near(s.rest[0] - 1.1, (100e5 * 20e-4 - 20e5 * 15e-4) / 3e7, 1e-8);
    near(0.9 - s.rest[1], (100e5 * 15e-4 - 20e5 * 20e-4) / 3e7, 1e-8);
    near(s.steady[0], steady_speed(100e5, 20e5, 20e-4, 15e-4), 1e-6);
    near(-s.steady[1], steady_speed(100e5, 20e5, 15e-4, 20e-4), 1e-6);
    assert_true(s.defect < (tight ? 1e-9 : 1e-4) * s.input);
    od_test_end(&r);
  }
}

// A wide cylinder compresses its stop by 2.6 mm, which displaces more than the 50 mL of oil in its line. The chamber
// has no volume left, but the oil of its line is conserved.
static void look_at_wide_cylinder(od_test_run *r, double t, const double *y, void *user) {
  (void)r, (void)t;
  double *deepest = user;
  *deepest = fmax(*deepest, fmax(y[0] - 1.1, 0.9 - y[0]));
  for (int k = 0; k < 3; k++) assert_true(isfinite(y[k]) && y[k] < 1e9);
}

static void stops_and_little_oil(void **state) {
  (void)state;
  od_machine *machine =
      od_test_machine(MACHINE("stop"), "ram.areas[0]=300 cm^2", "ram.areas[1]=200 cm^2", "ram.stops.stiffness=1e8",
                      "feed.area=50 mm^2", "drain.area=50 mm^2", "A.volume=50 mL", "B.volume=50 mL", NULL);
  od_test_run r = od_test_begin(machine, "ram.length", "A.pressure", "B.pressure", NULL);
  double deepest = 0, y[3];
  run(&r, false, 1e-3, 1.9, look_at_wide_cylinder, &deepest);
  assert_int_equal(od_sim_outputs(r.sim, y), OD_OK);
  print_message("%.2f mm into the stop, %.2f mm at rest\n", 1e3 * deepest, 1e3 * (y[0] - 1.1));
  near(y[0] - 1.1, (100e5 * 300e-4 - 20e5 * 200e-4) / 1e8, 1e-6);
  assert_true(deepest < 10e-3);
  od_test_end(&r);
}

// A stop is a spring with a damper: the spring's energy is recovered, and a loss is never negative.
static void look_at_losses(od_test_run *r, double t, const double *y, void *user) {
  (void)r, (void)t;
  double *least = user;
  *least = fmin(*least, y[0]);
}

static void stops_only_lose(void **state) {
  (void)state;
  od_test_run r = od_test_begin(od_test_machine(MACHINE("stop"), NULL), "ram.loss", NULL);
  double least = 0;
  run(&r, true, 1e-3, 4, look_at_losses, &least);
  print_message("least loss of the cylinder: %.3g W\n", least);
  assert_true(least > -1e-6);
  od_test_end(&r);
}

// ---- friction in joints

// Brown and McPhee's law as in the paper, and Coulomb's with a smoothed corner; motions by extrapolation.
static void rates_with_friction(void *user, double t, const double *x, double *dx) {
  (void)user, (void)t;
  const double r = fabs(x[1]) / 0.3, sign = x[1] > 0 ? 1 : -1;
  const double torque = (2 * tanh(4 * r) + (5 - 2) * r / pow(r * r / 4 + 0.75, 2)) * sign + 0.1 * x[1] * tanh(4.0);
  dx[0] = x[1], dx[1] = -torque / 0.5;
  dx[2] = x[3], dx[3] = -(30 * tanh(x[3] / 0.1) + 5 * x[3]) / 20;
}

static void look_at_rubbing(od_test_run *r, double t, const double *y, void *user) {
  (void)r;
  double *x = user;
  for (int i = 0; i < 4 && t > 0; i++) oracle_extrapolate(rates_with_friction, NULL, 4, 0, 2.5e-3, x);
  for (int k = 0; k < 4; k++) near(y[k], x[k], 1e-7);
  near(y[4], 0, 1e-6);
}

static void friction_in_joints(void **state) {
  (void)state;
  od_test_run r = od_test_begin(od_test_machine(MACHINE("rubbing"), NULL), "bearing.angle", "bearing.rate",
                                "rail.position", "rail.rate", "energy.balance", NULL);
  double x[4] = {0, 8, 0, -3};
  run(&r, true, 1e-2, 3, look_at_rubbing, x);
  assert_true(fabs(x[1]) < 0.01 && fabs(x[3]) < 0.01);  // both have come to rest
  od_test_end(&r);
}

// ---- cavitation

// A closed chamber conserves ln V + (integral of dp/B), the logarithm of the mass of oil; below zero the oil has the volume V minus the void -V p/B,
// with B at p = 0.
static double kept(double V, double p) {
  return log(V) + (p > 0 ? log(1.5e9 + 5 * p) / 5 : log(1.5e9) / 5 + log(1 + p / 1.5e9));
}

typedef struct pulled_look {
  double kept_a, kept_b, worst, lowest, end[2];
  int cavitating, healed;
} pulled_look;

static void look_at_pulled(od_test_run *r, double t, const double *y, void *user) {
  pulled_look *p = user;
  const double *x = od_sim_state(r->sim), Va = 0.2e-3 + 20e-4 * (y[2] - 0.8), Vb = 0.2e-3 + 15e-4 * (1.2 - y[2]);
  // States: position, speed, p_A, p_B. The pressure state continues below zero and measures the void; the pressure
  // itself is zero.
  if (t == 0) p->kept_a = kept(Va, x[2]), p->kept_b = kept(Vb, x[3]);
  p->worst = fmax(p->worst, fmax(fabs(kept(Va, x[2]) - p->kept_a), fabs(kept(Vb, x[3]) - p->kept_b)));
  p->lowest = fmin(p->lowest, x[2]);
  const bool torn = x[2] < 0;
  assert_true(y[0] == (torn ? 0 : x[2]) && y[3] == torn);
  near(y[4], y[0] * 20e-4 - y[1] * 15e-4, 1e-6);
  p->cavitating += torn;
  if (p->cavitating && !torn) p->healed = 1;
  p->end[0] = y[0], p->end[1] = y[2];
}

static void cavitation(void **state) {
  (void)state;
  for (int tight = 0; tight < 2; tight++) {
    od_test_run r = od_test_begin(od_test_machine(MACHINE("pulled"), NULL), "A.pressure", "B.pressure", "ram.length",
                                  "A.cavitating", "ram.force", NULL);
    pulled_look p = {0};
    run(&r, tight, 1e-3, 3, look_at_pulled, &p);
    print_message("%s: %d ms torn, state down to %.3g MPa; kept to %.2g; back at %.1f Pa, %.2g m from the start\n",
                  tight ? "CVODES" : "trapezoid", p.cavitating, 1e-6 * p.lowest, p.worst, p.end[0], p.end[1] - 1);
    assert_true(p.cavitating > 300 && p.healed);
    assert_true(p.worst < (tight ? 1e-9 : 1e-5));
    near(p.end[0], 30e5, tight ? 1 : 1e4);
    near(p.end[1], 1, tight ? 1e-9 : 1e-5);
    od_test_end(&r);
  }
}

// ---- every step finds its solution

static void look_at_nothing(od_test_run *r, double t, const double *y, void *user) {
  (void)r, (void)t, (void)user;
  for (int k = 0; k < 3; k++) assert_true(isfinite(y[k]));
  assert_true(y[0] > 0.89 && y[0] < 1.11);
}

// Small volumes behind wide orifices: the residual is steep and nonlinear (square roots, the edge of cavitation), so
// that Newton's method needs damped steps. CVODES solves this machine without problems.
static void small_volumes(void **state) {
  (void)state;
  static const double steps[] = {1e-4, 1e-5};
  for (int k = 0; k < 2; k++) {
    od_test_run r =
        od_test_begin(od_test_machine(MACHINE("small-volumes"), NULL), "ram.length", "A.pressure", "B.pressure", NULL);
    run(&r, false, steps[k], 1.3, look_at_nothing, NULL);
    od_test_end(&r);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(vessel_empties),  cmocka_unit_test(relief_valve),        cmocka_unit_test(leak_and_pump),
      cmocka_unit_test(ports),           cmocka_unit_test(stiff_oil),           cmocka_unit_test(oil_with_air),
      cmocka_unit_test(check_valve),     cmocka_unit_test(end_stops),           cmocka_unit_test(stops_and_little_oil),
      cmocka_unit_test(stops_only_lose), cmocka_unit_test(oil_on_the_rod_side), cmocka_unit_test(friction_in_joints),
      cmocka_unit_test(cavitation),      cmocka_unit_test(small_volumes),       cmocka_unit_test(balance_with_inputs),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
