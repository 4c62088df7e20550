// Findings of the circuit on small machines, with times and values computed by hand, and the same machines where the rule is
// silent.
#include <stdlib.h>

#include "support/found.h"

#define OIL "oil: {density: 870, law: constant, modulus: 1 GPa}\n"

// --- Relief valves ----------------------------------------------------------------------------------------------------

// The source rises from 1 to 201 bar within 2 s, the tank has 1 bar: the difference at time t is 100 bar/s * t.
#define RELIEF(set)                                                        \
  "machine: M\n" OIL                                                       \
  "inputs: {p: {unit: Pa, ramps: {at: [[0 s, 1 bar], [2 s, 201 bar]]}}}\n" \
  "sources: {S: {pressure: p}}\n"                                          \
  "tanks: {T: {pressure: 1 bar}}\n"                                        \
  "volumes: {V: {volume: 1 L}}\n"                                          \
  "orifices: {o: {between: [S, V], area: 1 mm^2, discharge: 0.7}}\n"       \
  "reliefs: {main: {between: [S, T], set: " set                            \
  ", slope: 1 (L/min)/bar}}\n"                                             \
  "initial: {V.pressure: 1 bar}\n"                                         \
  "run: {time: 2 s, outputs: [S.pressure]}\n"

// A setting of 80 bar opens at 0.8 s. At 2 s the flow is 1 (L/min)/bar * 120 bar.
static void test_relief_opens(void **state) {
  (void)state;
  found f = find_in(RELIEF("80 bar"));
  const od_finding *x = found_one(&f, "relief.open");
  assert_int_equal(x->severity, OD_FINDING_WARNING);
  assert_string_equal(x->owner, "main");
  assert_string_equal(x->output, "S.pressure");
  near(x->from, 0.8, 1e-6);
  near(x->to, 2, 1e-12);
  found_says(x, "from 0.80 s to the end of the run");
  found_says(x, "120 l/min at 2 s");
  found_says(x, "S reaches 201 bar");
  found_none(&f, "relief.closed");
  // The volume behind the orifice is not protected: it follows the source.
  x = found_one(&f, "pressure.highest");
  assert_int_equal(x->severity, OD_FINDING_WARNING);
  assert_string_equal(x->owner, "V");
  found_says(x, "No relief valve is set above 80 bar");
  int count;
  const od_happening *e = od_findings_events(f.findings, &count);
  assert_int_equal(count, 1);
  near(e[0].at, 0.8, 1e-6);
  assert_string_equal(e[0].name, "opens");
  found_free(&f);
}

// A setting of 250 bar is 50 bar above the largest difference.
static void test_relief_stays_closed(void **state) {
  (void)state;
  found f = find_in(RELIEF("250 bar"));
  found_none(&f, "relief.open");
  const od_finding *x = found_one(&f, "relief.closed");
  assert_int_equal(x->severity, OD_FINDING_GOOD);
  near(x->at, 2, 1e-12);
  found_says(x, "S peaks at 201 bar at 2 s; main opens at 251 bar");
  found_none(&f, "pressure.highest");
  int count;
  od_findings_events(f.findings, &count);
  assert_int_equal(count, 0);
  found_free(&f);
}

// Of five valves three have findings, the one that is open longest first; the last finding names the other two.
static void test_longest_first(void **state) {
  (void)state;
  found f = find_in(RELIEF(
      "170 bar, slope: 1 (L/min)/bar}, v40: {between: [S, T], set: 40 bar, slope: 1 (L/min)/bar}, v160: {between: [S, T], set: 160 bar, "
      "slope: 1 (L/min)/bar}, v60: {between: [S, T], set: 60 bar, slope: 1 (L/min)/bar}, v80: {between: [S, T], set: 80 bar"));
  int count, opened = 0;
  const od_finding *list = od_findings_list(f.findings, &count);
  const char *const order[] = {"v40", "v60", "v80"};
  for (int i = 0; i < count; i++) {
    if (strcmp(list[i].code, "relief.open") != 0) continue;
    assert_true(opened < 3);
    assert_string_equal(list[i].owner, order[opened++]);
    if (opened == 3) found_says(&list[i], "The same holds for v160, main");
  }
  assert_int_equal(opened, 3);
  found_free(&f);
}

// A setting that is just reached (by 0.01 %) is not an opening.
static void test_relief_touches(void **state) {
  (void)state;
  found f = find_in(RELIEF("199.98 bar"));
  found_none(&f, "relief.open");
  found_one(&f, "relief.closed");
  found_free(&f);
}

// A relief valve that is open during nearly the whole run controls the pressure: a note.
static void test_relief_controls(void **state) {
  (void)state;
  found f = find_in(RELIEF("5 bar"));
  assert_int_equal(found_one(&f, "relief.open")->severity, OD_FINDING_NOTE);
  found_free(&f);
}

// --- Pumps ------------------------------------------------------------------------------------------------------------

// A pressure-controlled pump of 60 L/min supplies a consumer that draws `demand` from 0.5 s to 0.7 s. The volume of 10 L has a
// capacity of 1e-11 m3/Pa.
#define PUMP(demand)                                                                                              \
  "machine: M\n" OIL                                                                                              \
  "inputs: {q: {steps: {at: [[0.5 s, 1], [0.7 s, 0]]}}}\n"                                                        \
  "tanks: {T: {pressure: 0 bar}}\n"                                                                               \
  "volumes: {P: {volume: 10 L}}\n"                                                                                \
  "pressure_pumps: {pump: {from: T, to: P, flow: 60 L/min, set: 100 bar, range: 10 bar, time_constant: 10 ms}}\n" \
  "pumps: {consumer: {from: P, to: T, flow: " demand                                                              \
  " q}}\n"                                                                                                        \
  "initial: {P.pressure: 110 bar, pump.swash: 0}\n"                                                               \
  "run: {time: 1 s, outputs: [P.pressure]}\n"

// Integrates p' = (Q s - q) / C, s' = (limit(1 - (p - set) / range) - s) / T by the classical Runge-Kutta method and finds the times
// at which s passes 0.99, and the lowest pressure.
static void pump_oracle(double demand, double *from, double *to, double *lowest) {
  const double C = 10e-3 / 1e9, Q = 1e-3, T = 0.01, h = 1e-6;
  double p = 110e5, s = 0;
  *from = *to = NAN, *lowest = INFINITY;
  for (long i = 0; i < 1000000; i++) {
    double t = (double)i * h, q = t >= 0.5 - h / 2 && t < 0.7 - h / 2 ? demand : 0, k[4][2], before = s;
    for (int j = 0; j < 4; j++) {
      double part = j == 0 ? 0 : j == 3 ? h : h / 2, pj = p, sj = s;
      if (j > 0) pj += part * k[j - 1][0], sj += part * k[j - 1][1];
      double wanted = 1 - (pj - 100e5) / 10e5;
      wanted = wanted < 0 ? 0 : wanted > 1 ? 1 : wanted;
      k[j][0] = (Q * sj - q) / C;
      k[j][1] = (wanted - sj) / T;
    }
    p += h / 6 * (k[0][0] + 2 * k[1][0] + 2 * k[2][0] + k[3][0]);
    s += h / 6 * (k[0][1] + 2 * k[1][1] + 2 * k[2][1] + k[3][1]);
    if (before <= 0.99 && s > 0.99 && isnan(*from)) *from = t + h;
    if (before >= 0.99 && s < 0.99) *to = t + h;
    if (s > 0.99) *lowest = fmin(*lowest, p);
  }
}

static void test_pump_at_limit(void **state) {
  (void)state;
  double from, to, lowest;
  found f = find_in(PUMP("70 L/min"));
  const od_finding *x = found_one(&f, "pump.limit");
  pump_oracle(70e-3 / 60, &from, &to, &lowest);
  near(x->from, from, 1e-3);
  near(x->to, to, 1e-3);
  assert_int_equal(x->severity, OD_FINDING_WARNING);
  assert_string_equal(x->output, "pump.swash");
  found_says(x, "60 l/min");
  // The limits of the control are rounded in the model.
  found_says(x, "P falls to ");
  near(strtod(strstr(x->text, "P falls to ") + strlen("P falls to "), NULL), lowest / 1e5, 0.5);
  found_free(&f);
}

// A consumer of 40 L/min does not need the whole flow of the pump.
static void test_pump_below_limit(void **state) {
  (void)state;
  found f = find_in(PUMP("40 L/min"));
  found_none(&f, "pump.limit");
  found_none(&f, "cavitation");
  found_free(&f);
}

// A drive of 20 N m accelerates an inertia of 0.1 kg m2 to 100 rad/s: 0.5 s, less the end where the torque decreases (gain 10 N m
// s/rad: the torque is 99 % of its largest value while the speed is 5.3 rad/s or more below 100 rad/s).
static void test_drive_at_limit(void **state) {
  (void)state;
  found f = find_in(
      "machine: M\n" OIL
      "tanks: {T: {pressure: 0 bar}}\n"
      "volumes: {P: {volume: 10 L}}\n"
      "driven_pumps: {pump: {from: T, to: P, displacement: 1e-9 m^3/rad, speed: 100 rad/s, inertia: 0.1, torque: 20, gain: 10}}\n"
      "leaks: {l: {between: [P, T], slope: 1 (L/min)/bar}}\n"
      "initial: {P.pressure: 0 bar, pump.rate: 0}\n"
      "run: {time: 1 s, outputs: [pump.rate]}\n");
  const od_finding *x = found_one(&f, "drive.limit");
  near(x->from, 0, 0);
  near(x->to, (100 - 20 * atanh(0.99) / 10) * 0.1 / 20, 2e-3);
  found_free(&f);
}

// --- Cavitation -------------------------------------------------------------------------------------------------------

// A pump draws 6 L/min from a closed volume of 1 L: the pressure falls by 1e8 Pa/s from 10 bar to zero at 10 ms.
#define SUCTION(time)                             \
  "machine: M\n" OIL                              \
  "tanks: {T: {pressure: 1 bar}}\n"               \
  "volumes: {V: {volume: 1 L}}\n"                 \
  "pumps: {p: {from: V, to: T, flow: 6 L/min}}\n" \
  "initial: {V.pressure: 10 bar}\n"               \
  "run: {time: " time ", outputs: [V.pressure]}\n"

static void test_cavitation(void **state) {
  (void)state;
  found f = find_in(SUCTION("0.3 s"));
  const od_finding *x = found_one(&f, "cavitation");
  assert_int_equal(x->severity, OD_FINDING_SERIOUS);
  assert_string_equal(x->owner, "V");
  near(x->from, 0.01, 1e-3);
  near(x->to, 0.3, 1e-12);
  found_free(&f);
  f = find_in(SUCTION("50 ms"));
  assert_int_equal(found_one(&f, "cavitation")->severity, OD_FINDING_WARNING);
  found_free(&f);
  f = find_in(SUCTION("9 ms"));
  found_none(&f, "cavitation");
  found_free(&f);
}

// --- Accumulators -----------------------------------------------------------------------------------------------------

// A pump draws 0.1 L/s from an accumulator of 1 L with 0.5 L of oil. 5 cm3 (0.5 %) are left at 4.95 s.
#define ACCUMULATOR(time, flow)                                                                   \
  "machine: M\n" OIL                                                                              \
  "tanks: {T: {pressure: 1 bar}}\n"                                                               \
  "volumes: {S: {volume: 1 mL}}\n"                                                                \
  "accumulators: {bladder: {at: S, volume: 1 L, precharge: 50 bar, exponent: 1, area: 5 cm^2}}\n" \
  "pumps: {p: {from: S, to: T, flow: " flow                                                       \
  "}}\n"                                                                                          \
  "initial: {S.pressure: 100 bar, bladder.oil: 0.5 L}\n"                                          \
  "run: {time: " time ", outputs: [S.pressure]}\n"

static void test_accumulator(void **state) {
  (void)state;
  found f = find_in(ACCUMULATOR("6 s", "6 L/min"));
  const od_finding *x = found_one(&f, "accumulator.empty");
  near(x->from, 4.95, 5e-3);
  assert_string_equal(x->owner, "bladder");
  assert_string_equal(x->output, "bladder.oil");
  found_free(&f);
  f = find_in(ACCUMULATOR("4.9 s", "6 L/min"));
  found_none(&f, "accumulator.empty");
  found_none(&f, "accumulator.full");
  found_free(&f);
  // The opposite direction: 0.4 L more are 90 % of the volume, at 4 s.
  f = find_in(ACCUMULATOR("4.5 s", "-6 L/min"));
  near(found_one(&f, "accumulator.full")->from, 4, 5e-3);
  found_free(&f);
}

// --- Check valves -----------------------------------------------------------------------------------------------------

// The pressure of the source oscillates about the pressure of the tank: the valve opens once in each period.
#define CHECK(frequency)                                                                                     \
  "machine: M\n" OIL "inputs: {p: {unit: Pa, sine: {amplitude: 5 bar, offset: 10 bar, frequency: " frequency \
  "}}}\n"                                                                                                    \
  "sources: {S: {pressure: p}}\n"                                                                            \
  "tanks: {T: {pressure: 10 bar}}\n"                                                                         \
  "volumes: {V: {volume: 1 L}}\n"                                                                            \
  "orifices: {o: {between: [T, V], area: 1 mm^2, discharge: 0.7}}\n"                                         \
  "checks: {c: {between: [S, T], area: 5 mm^2, discharge: 0.7, crack: 1 bar, full: 2 bar}}\n"                \
  "initial: {V.pressure: 10 bar}\n"                                                                          \
  "run: {time: 1 s, outputs: [S.pressure]}\n"

static void test_chatter(void **state) {
  (void)state;
  found f = find_in(CHECK("40 Hz"));
  const od_finding *x = found_one(&f, "check.chatter");
  found_says(x, "opens 40 times");
  found_says(x, "40 times per second");
  near(x->from, asin(0.2) / (2 * acos(-1) * 40), 1e-4);
  found_free(&f);
  f = find_in(CHECK("9 Hz"));
  found_none(&f, "check.chatter");
  found_free(&f);
}

// --- Energy and pressure ----------------------------------------------------------------------------------------------

// A pump of 60 L/min against 100 bar supplies 10 kW, 20 kJ in 2 s. The leak turns all of it into heat.
static void test_energy(void **state) {
  (void)state;
  found f = find_in("machine: M\n" OIL
                    "tanks: {T: {pressure: 0 bar}}\n"
                    "volumes: {P: {volume: 1 L}}\n"
                    "pumps: {pump: {from: T, to: P, flow: 60 L/min}}\n"
                    "leaks: {l: {between: [P, T], slope: 0.6 (L/min)/bar}}\n"
                    "initial: {P.pressure: 100 bar}\n"
                    "run: {time: 2 s, outputs: [P.pressure]}\n");
  const od_finding *x = found_one(&f, "energy");
  found_says(x, "pump supplies 20 kJ, at most 10 kW");
  found_says(x, "20 kJ become heat: leaks 100 %");
  assert_string_equal(x->owner, "pump");
  x = found_one(&f, "pressure.highest");
  assert_string_equal(x->owner, "P");
  found_says(x, "P reaches 100 bar");
  found_free(&f);
}

// Two elements in series between 100 bar and zero: the first one loses 10 bar, the second one 90 bar.
static void test_shares(void **state) {
  (void)state;
  found f = find_in(
      "machine: M\n" OIL
      "sources: {S: {pressure: 100 bar}}\n"
      "tanks: {T: {pressure: 0 bar}}\n"
      "volumes: {P: {volume: 1 mL}}\n"
      "leaks: {l: {between: [S, P], slope: 6 (L/min)/bar}}\n"
      "throttles: {o: {between: [P, T], area: 10.1538 mm^2, discharge: 0.7, diameter: 3.6 mm, reynolds: 1e-3}}\n"
      "initial: {P.pressure: 90 bar}\n"
      "run: {time: 1 s, outputs: [P.pressure]}\n");
  const od_finding *x = found_one(&f, "energy");
  found_says(x, "throttles 90 %, leaks 10 %");
  found_free(&f);
}

// The oil of a reservoir is heated by 10 kW: 1 kg with 2000 J/kg/K warms by 5 K/s, from 60 to 80 degrees in 4 s.
#define HEATED(time)                                                        \
  "machine: M\n"                                                            \
  "oil: {density: 1000, law: constant, modulus: 1 GPa}\n"                   \
  "tanks: {T: {pressure: 0 bar}}\n"                                         \
  "volumes: {P: {volume: 1 L}}\n"                                           \
  "pumps: {pump: {from: T, to: P, flow: 60 L/min}}\n"                       \
  "reliefs: {r: {between: [P, T], set: 100 bar, slope: 600 (L/min)/bar}}\n" \
  "reservoirs: {sump: {volume: 1 L, heat_capacity: 2000}}\n"                \
  "initial: {P.pressure: 100 bar, sump.temperature: 333.15 K}\n"            \
  "run: {time: " time ", outputs: [sump.temperature]}\n"

static void test_hot_oil(void **state) {
  (void)state;
  found f = find_in(HEATED("5 s"));
  const od_finding *x = found_one(&f, "oil.hot");
  near(x->from, 4, 0.02);
  found_free(&f);
  f = find_in(HEATED("3.9 s"));
  found_none(&f, "oil.hot");
  found_free(&f);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_relief_opens),     cmocka_unit_test(test_relief_stays_closed),
      cmocka_unit_test(test_longest_first),    cmocka_unit_test(test_relief_touches),
      cmocka_unit_test(test_relief_controls),  cmocka_unit_test(test_pump_at_limit),
      cmocka_unit_test(test_pump_below_limit), cmocka_unit_test(test_drive_at_limit),
      cmocka_unit_test(test_cavitation),       cmocka_unit_test(test_accumulator),
      cmocka_unit_test(test_chatter),          cmocka_unit_test(test_energy),
      cmocka_unit_test(test_shares),           cmocka_unit_test(test_hot_oil),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
