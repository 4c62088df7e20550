// The commands equilibrium, linearize, bode and rga. Oracles: three lags in a loop, K/(s + 1)^3, with margins in closed form; a matrix of gains;
// the steady speed of a valve-controlled axis by hand; a long run; the written files compared with each other; the messages.
#include "support/test.h"

#include <jansson.h>
#include <math.h>

#include "formats/read_table.h"
#include "io/table.h"
#include "support/program.h"

static const char lags[] =
    "inputs: {r: {unit: V, constant: 0 V}}\n"
    "blocks:\n"
    "  error: {type: sum, inputs: [r, c], weights: [1, -1]}\n"
    "  a: {type: first-order, input: error, gain: 4, time_constant: 1 s}\n"
    "  b: {type: first-order, input: a, gain: 1, time_constant: 1 s}\n"
    "  c: {type: first-order, input: b, gain: 1, time_constant: 1 s}\n"
    "run: {time: 1 s, step: 1 ms, outputs: [c]}\n";

// y1 = 2 u1 + u2, y2 = 3 u1 + 4 u2, behind lags.
static const char gains[] =
    "inputs: {u1: {unit: V, constant: 0 V}, u2: {unit: V, constant: 0 V}}\n"
    "blocks:\n"
    "  s1: {type: sum, inputs: [u1, u2], weights: [2, 1]}\n"
    "  s2: {type: sum, inputs: [u1, u2], weights: [3, 4]}\n"
    "  y1: {type: first-order, input: s1, gain: 1, time_constant: 1 s}\n"
    "  y2: {type: first-order, input: s2, gain: 1, time_constant: 3 s}\n"
    "run: {time: 1 s, step: 1 ms, outputs: [y1, y2]}\n";

// A mass on a rail between two chambers, driven by a valve.
static const char axis[] =
    "bodies: {load: {point: {mass: 250 kg}, points: {eye: [0, 0]}}}\n"
    "joints: {rail: {type: prismatic, between: [ground, load], axis: [1, 0, 0]}}\n"
    "ground: {points: {base: [-1 m, 0]}}\n"
    "inputs: {command: {unit: V, constant: 0 V}}\n"
    "oil: {density: 870 kg/m^3, law: constant, modulus: 1.2 GPa}\n"
    "volumes: {A: {volume: 0.4 L}, B: {volume: 0.3 L}}\n"
    "tanks: {T: {pressure: 1 bar}, P: {pressure: 140 bar}}\n"
    "valves: {valve: {command: command, time_constant: 8 ms, stroke: 10 V, area: 8 mm^2, discharge: 0.6, ports: {\n"
    "  pa: {between: [P, A], side: positive, curve: linear}, bt: {between: [B, T], side: positive, curve: linear},\n"
    "  pb: {between: [P, B], side: negative, curve: linear}, at: {between: [A, T], side: negative, curve: linear}}}}\n"
    "cylinders: {ram: {between: [ground.base, load.eye], chambers: [A, B], areas: [30 cm^2, 20 cm^2], closed: 0.7 m,\n"
    "  stroke: 0.6 m}}\n"
    "initial: {rail.position: 0, A.pressure: 40 bar, B.pressure: 60 bar}\n"
    "run: {time: 1 s, step: 1 ms, outputs: [rail.position, A.pressure, B.pressure]}\n";

static json_t *json_of(outcome o) {
  ends_with(o, 0);
  json_t *object = json_loads(o.out, 0, NULL);
  if (!object) fail_msg("no JSON:\n%s", o.out);
  forget(o);
  return object;
}

static double value(const json_t *object, const char *key) {
  const json_t *found = json_object_get(object, key);
  if (!json_is_number(found)) fail_msg("'%s' is no number", key);
  return json_number_value(found);
}

static void test_margins(void **state) {
  scratch *s = *state;
  const double pi = acos(-1), K = 4;
  scratch_write(s, "lags.yaml", lags, sizeof lags - 1);
  json_t *bode = json_of(run(s, "bode lags.yaml --loop error --low 1e-5 --json -"));
  const json_t *loop = json_array_get(json_object_get(bode, "responses"), 0);
  double w = sqrt(pow(K, 2.0 / 3) - 1);
  near_relative(value(loop, "gain_margin"), 8 / K, 1e-9);
  near_relative(value(loop, "gain_margin_at"), sqrt(3) / (2 * pi), 1e-9);
  near_relative(value(loop, "phase_margin_at"), w / (2 * pi), 1e-9);
  near_relative(value(loop, "phase_margin"), 180 - 3 * atan(w) * 180 / pi, 1e-9);
  near_relative(value(loop, "bandwidth"), sqrt(pow(2, 1.0 / 3) - 1) / (2 * pi), 1e-6);
  assert_true(json_is_true(json_object_get(bode, "stable")));
  // Every point of the table.
  const json_t *f = json_object_get(bode, "frequencies"), *magnitude = json_object_get(loop, "magnitude"),
               *phase = json_object_get(loop, "phase");
  assert_int_equal(json_array_size(f), 400);
  for (size_t i = 0; i < json_array_size(f); i++) {
    double at = 2 * pi * json_number_value(json_array_get(f, i));
    assert_true(fabs(json_number_value(json_array_get(magnitude, i)) - 20 * log10(K * pow(1 + at * at, -1.5))) < 1e-8);
    assert_true(fabs(json_number_value(json_array_get(phase, i)) + 3 * atan(at) * 180 / pi) < 1e-6);
  }
  json_decref(bode);
  // Above its corner the response falls from the first point on: there is no reference level for a bandwidth.
  bode = json_of(run(s, "bode lags.yaml --loop error --low 10 --high 100 --json -"));
  assert_false(json_is_number(json_object_get(json_array_get(json_object_get(bode, "responses"), 0), "bandwidth")));
  json_decref(bode);
  // There is no other loop.
  bode = json_of(run(s, "bode lags.yaml --loop all --json -"));
  assert_int_equal(json_array_size(json_object_get(bode, "responses")), 1);
  json_decref(bode);
  // Beyond the gain margin the loop is unstable.
  bode = json_of(run(s, "bode lags.yaml --loop error --set a.gain=8.01 --json -"));
  assert_true(json_is_false(json_object_get(bode, "stable")));
  loop = json_array_get(json_object_get(bode, "responses"), 0);
  assert_true(value(loop, "gain_margin") < 1 && value(loop, "phase_margin") < 0);
  json_decref(bode);
}

// A resonance that is much narrower than the distance of two points. Closed forms: k / (s (s^2/w^2 + 2 z s/w + 1)) has the phase -180 degrees
// and the gain k / (2 z w) at w; the bump (s^2 + 2 n w s + w^2) / (s^2 + 2 z w s + w^2) has the gain n/z at w, and leaves the phase at the points
// around it unchanged.
static void test_margins_between_points(void **state) {
  scratch *s = *state;
  const double pi = acos(-1), k = 2, w = 300, z = 1e-4, n = 0.1;
  char text[600];
  int length = snprintf(
      text, sizeof text,
      "inputs: {u: 0}\nblocks:\n"
      "  peak: {type: transfer-function, input: u, numerator: [%g], denominator: [%.17g, %.17g, 1, 0]}\n"
      "  bump: {type: transfer-function, input: u, numerator: [0.5, %.17g, %.17g], denominator: [1, %.17g, %.17g]}\n"
      "run: {time: 1 s, step: 1 ms, outputs: [peak, bump]}\n",
      k, 1 / (w * w), 2 * z / w, n * w, 0.5 * w * w, 2 * z * w, w * w);
  scratch_write(s, "peak.yaml", text, (size_t)length);
  static const int points[] = {7, 50, 400};
  for (int i = 0; i < 3; i++) {
    json_t *bode = json_of(
        run(s, "bode peak.yaml --input u --output peak,bump --low 0.1 --high 1000 --points %d --json -", points[i]));
    const json_t *peak = json_array_get(json_object_get(bode, "responses"), 0),
                 *bump = json_array_get(json_object_get(bode, "responses"), 1);
    near_relative(value(peak, "gain_margin"), 2 * z * w / k, 1e-9);
    near_relative(value(peak, "gain_margin_at"), w / (2 * pi), 1e-9);
    near_relative(value(peak, "phase_margin_at"), w / (2 * pi), 0.01);  // at the sides of the peak
    near_relative(value(bump, "peak"), 0.5 * n / z, 1e-6);
    near_relative(value(bump, "peak_at"), w / (2 * pi), 1e-6);
    json_decref(bode);
  }
}

static void test_bode_files(void **state) {
  scratch *s = *state;
  scratch_write(s, "lags.yaml", lags, sizeof lags - 1);
  outcome o =
      run(s, "bode lags.yaml --input r --output c --low 0.01 --high '1 kHz' --points 20 --csv b.csv --plot b.svg");
  ends_with(o, 0);
  says(o.out, "r to c");
  says(o.out, "wrote b.svg");
  forget(o);
  od_table *t = NULL;
  assert_int_equal(od_table_read_csv(scratch_path(s, "b.csv"), &t, NULL), OD_OK);
  assert_int_equal(t->rows, 20);
  assert_int_equal(t->columns, 3);
  assert_true(t->data[0] == 0.01 && t->data[19 * 3] == 1000);
  // Closed loop: K / ((s + 1)^3 + K), at low frequency 4/5, at high frequency three lags.
  assert_true(fabs(t->data[1] - 20 * log10(0.8)) < 0.05);
  assert_true(fabs(t->data[19 * 3 + 2] + 270) < 0.1);
  od_table_free(t);
  char *svg = scratch_read(scratch_path(s, "b.svg"));
  says(svg, "magnitude");
  free(svg);
}

// A gain with a unit is reported as such and has no margins; a tank's pressure does not depend on an input. At a closed
// edge the mean of both sides counts, with a warning.
static void test_bode_units(void **state) {
  scratch *s = *state;
  scratch_write(s, "axis.yaml", axis, sizeof axis - 1);
  outcome o = run(s, "bode axis.yaml --hold rail.rate='50 mm/s' --adjust command --output rail.position,valve.spool");
  ends_with(o, 0);
  says(o.out, " dB of m per V at ");
  const char *second = strstr(o.out, "command to valve.spool");
  assert_non_null(second);
  says(second, "gain margin");
  assert_true(strstr(o.out, "gain margin") > second);
  forget(o);
  o = run(s, "bode axis.yaml --output P.pressure");
  ends_with(o, 0);
  says(
      o.out,
      "the slopes differ on the two sides of valve.spool = 0 V (the ports of 'valve'); the linear model uses their mean");
  says(o.out, "none: the output does not depend on the input at this point");
  forget(o);
  // The same words in the terminal and in the file, for the response of a model as well: three lags with a gain above 8.
  scratch_write(s, "lags.yaml", lags, sizeof lags - 1);
  o = run(s, "frf lags.yaml --set a.gain=8.01 --json frf.json");
  ends_with(o, 0);
  says(o.out, "at this operating point the machine is unstable and has no steady response to a sine");
  forget(o);
  char *json = scratch_read(scratch_path(s, "frf.json"));
  says(json, "at this operating point the machine is unstable and has no steady response to a sine");
  free(json);
}

static void test_relative_gains(void **state) {
  scratch *s = *state;
  scratch_write(s, "gains.yaml", gains, sizeof gains - 1);
  json_t *rga = json_of(run(s, "rga gains.yaml --low 0.001 --high 10 --points 5 --json -"));
  const json_t *points = json_object_get(rga, "points");
  assert_int_equal(json_array_size(points), 5);
  for (size_t i = 0; i < 5; i++) {
    const json_t *p = json_array_get(points, i), *real = json_object_get(p, "real");
    // 2 4 / (2 4 - 1 3): the lags of the rows cancel.
    near_relative(json_number_value(json_array_get(real, 0)), 1.6, 1e-9);
    near_relative(json_number_value(json_array_get(real, 1)), -0.6, 1e-9);
    near_relative(json_number_value(json_array_get(real, 2)), -0.6, 1e-9);
    near_relative(json_number_value(json_array_get(real, 3)), 1.6, 1e-9);
    assert_string_equal(json_string_value(json_array_get(json_object_get(p, "pairing"), 0)), "u1");
  }
  json_decref(rga);
  rga = json_of(run(s, "rga gains.yaml --output y2,y1 --points 2 --json -"));
  const json_t *p = json_array_get(json_object_get(rga, "points"), 0);
  assert_string_equal(json_string_value(json_array_get(json_object_get(p, "pairing"), 0)), "u2");
  json_decref(rga);
}

static double entry(const json_t *object, const char *matrix, size_t i, size_t j) {
  return json_number_value(json_array_get(json_array_get(json_object_get(object, matrix), i), j));
}

// A sum of lags has one zero fewer than lags; for any number, lines stay short and all zeros are printed.
static void test_many_zeros(void **state) {
  enum { LAGS = 30, WIDTH = 100 };
  char text[8192] = "inputs: {u: {unit: V, constant: 0 V}}\nblocks:\n", sum[1024] = "";
  for (int i = 1; i <= LAGS; i++) {
    snprintf(text + strlen(text), sizeof text - strlen(text),
             "  a%d: {type: first-order, input: u, gain: 1, time_constant: %d ms}\n", i, 10 * i);
    snprintf(sum + strlen(sum), sizeof sum - strlen(sum), i > 1 ? ", a%d" : "a%d", i);
  }
  snprintf(text + strlen(text), sizeof text - strlen(text),
           "  y: {type: sum, inputs: [%s]}\nrun: {time: 1 s, step: 1 ms, outputs: [y]}\n", sum);
  scratch_write(*state, "sum.yaml", text, strlen(text));
  outcome o = run(*state, "linearize sum.yaml");
  ends_with(o, 0);
  const char *zeros = strstr(o.out, "u to y:");
  assert_non_null(zeros);
  int commas = 0, pairs = 0, length = 2;
  for (const char *c = zeros; *c; c++) {
    commas += *c == ',';
    pairs += strncmp(c, "+-", 2) == 0;
    length = *c == '\n' ? 0 : length + 1;
    assert_true(length <= WIDTH);
  }
  assert_int_equal(commas + 1 + pairs, LAGS - 1);
  forget(o);
}

static void test_linearize_files(void **state) {
  scratch *s = *state;
  scratch_write(s, "lags.yaml", lags, sizeof lags - 1);
  outcome o = run(s, "linearize lags.yaml --json l.json --csv l.csv --mat l.mat");
  ends_with(o, 0);
  says(o.out, "3 states, 1 input, 1 output");
  says(o.out, "wrote l.mat");
  forget(o);
  char *text = scratch_read(scratch_path(s, "l.json"));
  json_t *l = json_loads(text, 0, NULL);
  free(text);
  // a' = 4 (r - c) - a, b' = a - b, c' = b - c; states are those of the lags, in any scale.
  assert_true(entry(l, "A", 0, 0) == -1 && entry(l, "A", 1, 1) == -1 && entry(l, "A", 2, 2) == -1);
  near_relative(entry(l, "A", 1, 0) * entry(l, "A", 2, 1) * entry(l, "A", 0, 2), -4, 1e-12);
  // The poles: (s + 1)^3 = -4.
  const json_t *poles = json_object_get(l, "poles");
  assert_int_equal(json_array_size(poles), 3);
  double radius = cbrt(4), largest = 0;
  for (size_t i = 0; i < 3; i++) {
    double re = value(json_array_get(poles, i), "real"), im = value(json_array_get(poles, i), "imaginary");
    near_relative(hypot(re + 1, im), radius, 1e-9);
    largest = fmax(largest, im);
  }
  near_relative(largest, radius * sqrt(0.75), 1e-9);
  char *csv = scratch_read(scratch_path(s, "l.csv"));
  says(csv, "row,");
  says(csv, "r [V]");
  o = run(s, "linearize lags.yaml --csv -");
  ends_with(o, 0);
  assert_string_equal(o.out, csv);
  forget(o);
  free(csv);
  od_table *t = NULL;
  const char *const wanted[] = {"A(:,1)", NULL};
  const od_table_wish wish = {.no_time = true, .columns = wanted};
  od_error err = {0};
  if (od_table_read_mat(scratch_path(s, "l.mat"), &wish, &t, &err) != OD_OK) fail_msg("%s", err.text);
  bool found = false;
  for (int c = 0; c < t->columns; c++)
    if (!strcmp(t->name[c], "A(:,1)")) {
      found = true;
      for (long i = 0; i < 3; i++) assert_true(t->data[i * t->columns + c] == entry(l, "A", (size_t)i, 0));
    }
  assert_true(found);
  od_table_free(t);
  json_decref(l);
}

// --- Operating points

static double named(const json_t *object, const char *list, const char *name) {
  const json_t *items = json_object_get(object, list);
  for (size_t i = 0; i < json_array_size(items); i++)
    if (!strcmp(json_string_value(json_object_get(json_array_get(items, i), "name")), name))
      return value(json_array_get(items, i), "value");
  fail_msg("there is no %s among the %s", name, list);
  return NAN;
}

// The steady speed of the axis: with K = discharge area sqrt(2/density) of both edges,
//   p_A = P - (A1 v/K)^2,  p_B = T + (A2 v/K)^2,  p_A A1 = p_B A2  give  v = K sqrt((A1 P - A2 T)/(A1^3 + A2^3)).
static const double A1 = 30e-4, A2 = 20e-4, P = 140e5, T = 1e5;
static double steady_speed(double command) {
  double K = 0.6 * 8e-6 * command / 10 * sqrt(2 / 870.0);
  return K * sqrt((A1 * P - A2 * T) / (A1 * A1 * A1 + A2 * A2 * A2));
}

static void test_steady_motion(void **state) {
  scratch *s = *state;
  scratch_write(s, "axis.yaml", axis, sizeof axis - 1);
  json_t *e = json_of(run(s, "equilibrium axis.yaml --hold rail.rate='50 mm/s' --adjust command --json -"));
  double command = named(e, "inputs", "command"), K = 0.6 * 8e-6 * command / 10 * sqrt(2 / 870.0);
  near_relative(steady_speed(command), 0.05, 1e-4);  // the orifices are smooth at zero
  near_relative(named(e, "states", "A.pressure"), P - pow(A1 * 0.05 / K, 2), 1e-3);
  near_relative(named(e, "states", "A.pressure") * A1, named(e, "states", "B.pressure") * A2, 1e-9);
  near_relative(named(e, "states", "rail.rate"), 0.05, 1e-9);
  assert_true(named(e, "states", "rail.position") == 0);
  json_decref(e);
  // Backwards, and at another position.
  e = json_of(run(
      s, "equilibrium axis.yaml --hold rail.rate='-50 mm/s' --hold rail.position='80 mm' --adjust command --json -"));
  assert_true(named(e, "inputs", "command") < 0);
  near_relative(named(e, "states", "rail.position"), 0.08, 1e-9);
  json_decref(e);
  // The linear model there is of the same point.
  json_t *l = json_of(run(s, "linearize axis.yaml --hold rail.rate='50 mm/s' --adjust command --json -"));
  near_relative(named(l, "inputs", "command"), command, 1e-9);
  json_decref(l);
}

// The message for a point that does not exist names the limit and the last reachable value: the speed with the open valve, the end of the
// stroke, and the supply pressure.
static void test_limits(void **state) {
  scratch *s = *state;
  double reached = 0;
  scratch_write(s, "axis.yaml", axis, sizeof axis - 1);
  outcome o = run(s, "equilibrium axis.yaml --hold rail.rate='1 m/s' --adjust command");
  ends_with(o, 1);
  says(o.err, "valve.spool would have to pass 10 V, the end of its stroke; the reachable range ends at rail.rate = ");
  assert_int_equal(sscanf(strstr(o.err, "ends at rail.rate"), "ends at rail.rate = %lf mm/s", &reached), 1);
  near_relative(reached, 1e3 * steady_speed(10), 1e-4);
  forget(o);
  o = run(s, "equilibrium axis.yaml --hold rail.position='2 m'");
  ends_with(o, 1);
  says(o.err, "ram.length");
  says(o.err, "1300 mm, the end of its stroke; the reachable range ends at rail.position = ");
  assert_int_equal(sscanf(strstr(o.err, "ends at rail.position"), "ends at rail.position = %lf mm", &reached), 1);
  near_relative(reached, 300, 1e-4);
  forget(o);
  ends_and_says(run(s, "equilibrium axis.yaml --hold B.pressure='-5 bar'"), 1,
                ".pressure is at 0 bar, the lowest possible pressure; the reachable range ends at B.pressure = ");
}

// A weight on a counterbalance valve, with places for keys of the valve and of the cylinder.
static const char hoist[] =
    "machine: Hoist\n"
    "gravity: [0, -10 m/s^2]\n"
    "ground: {points: {foot: [0, 0]}}\n"
    "bodies: {weight: {mass: 1500 kg}}\n"
    "joints: {mast: {type: prismatic, between: [ground, weight], axis: [0, 1, 0]}}\n"
    "oil: {density: 870 kg/m^3, law: constant, modulus: 1.4 GPa}\n"
    "volumes: {A: {volume: 0.2 l}, V: {volume: 0.2 l}, B: {volume: 0.2 l}}\n"
    "sources: {P: {pressure: 160 bar}}\n"
    "tanks: {T: {pressure: 1 bar}}\n"
    "inputs: {u: {ramps: {at: [[0 s, 0], [0.1 s, -0.5]]}}}\n"
    "proportional_valves:\n"
    "  main: {command: u, between: [P, T], a: V, b: B, nominal_flow: 40 l/min, nominal_drop: 5 bar, frequency: 150 rad/s%s}\n"
    "checks: {free: {between: [V, A], area: 60 mm^2, discharge: 0.7, full: 2 bar}}\n"
    "counterbalance_valves: {hold: {between: [A, V], pilot: B, set: 140 bar, range: 40 bar, ratio: 4, area: 12 mm^2}}\n"
    "cylinders:\n"
    "  jack: {between: [ground.foot, weight.origin], chambers: [A, B], areas: [25 cm^2, 15 cm^2], closed: 0.6 m, stroke: 1 m%s}\n"
    "initial: {mast.position: 1.4 m, A.pressure: balance, V.pressure: 1 bar, B.pressure: 1 bar}\n"
    "run: {time: 1 s, step: 1 ms}\n";

// A failed search is not a proof; only a limit at the end of the path is. Oracle: the points found from other starts, with
// p_A A_a - p_B A_b = m g.
static void test_other_starts(void **state) {
  scratch *s = *state;
  char text[3000];
  int length = snprintf(text, sizeof text, hoist, "", "");
  scratch_write(s, "free.yaml", text, (size_t)length);
  length = snprintf(text, sizeof text, hoist, ", tank_overlap: -5 %",
                    ", friction: {law: coulomb, Fc: 300 N, vs: 2 mm/s, viscous: 400 N s/m}");
  scratch_write(s, "rough.yaml", text, (size_t)length);
  static const char unknown[] = "was found from this start: ";
  outcome o = run(s, "equilibrium free.yaml --hold mast.rate='100 mm/s' --adjust u");
  ends_with(o, 1);
  says(o.err, "no operating point with mast.rate = 100 mm/s was found from this start: ");
  says(o.err, "; try another start with --at");
  forget(o);
  // The second point is found only along the path, from a nearby point.
  static const char *const found[] = {"--at 0.3 --hold mast.rate='100 mm/s'", "--at 0.05 --hold mast.rate='10 mm/s'"};
  for (int i = 0; i < 2; i++) {
    json_t *e = json_of(run(s, "equilibrium free.yaml --adjust u %s --json -", found[i]));
    near_relative(named(e, "states", "mast.rate"), i == 0 ? 0.1 : 0.01, 1e-9);
    near_relative(named(e, "states", "A.pressure") * 25e-4 - named(e, "states", "B.pressure") * 15e-4, 15e3, 1e-6);
    assert_true(named(e, "inputs", "u") > 0);
    json_decref(e);
  }
  // A search that reaches another limit; and the actual limit.
  ends_and_says(run(s, "equilibrium rough.yaml --at 0.2 --hold mast.rate='-420 mm/s' --adjust u"), 1, unknown);
  json_decref(json_of(run(s, "equilibrium rough.yaml --at 0.05 --hold mast.rate='-420 mm/s' --adjust u --json -")));
  ends_and_says(
      run(s, "equilibrium free.yaml --at 0.3 --hold mast.rate='-600 mm/s' --adjust u"), 1,
      "there is no operating point with mast.rate = -600 mm/s: main.spool is at -1, the end of its stroke; the reachable range ends at mast.rate = -573.");
}

// The load on springs: the equilibrium of the machine. Oracle: a long run.
static void test_rest(void **state) {
  scratch *s = *state;
  outcome o = run(s,
                  "simulate %s/cases/crane/machine.yaml --set inputs.lift_drive.half_cosines.at[2][1]='0 N m' "
                  "--set inputs.lift_drive.half_cosines.at[3][1]='0 N m' "
                  "--set inputs.tilt_drive.half_cosines.at[2][1]='0 N m' "
                  "--set inputs.tilt_drive.half_cosines.at[3][1]='0 N m' --time 120 --json -",
                  OD_SOURCE_DIR);
  json_t *ran = json_of(o), *e = json_of(run(s, "equilibrium %s/cases/crane/machine.yaml --json -", OD_SOURCE_DIR));
  const json_t *outputs = json_object_get(ran, "outputs");
  for (size_t i = 0; i < 4; i++) {
    const json_t *output = json_array_get(outputs, i);
    near_relative(named(e, "outputs", json_string_value(json_object_get(output, "name"))), value(output, "final"),
                  1e-6);
  }
  json_decref(ran);
  json_decref(e);
}

// --- Sweeps

static od_table *swept(scratch *s, const char *arguments) {
  od_table *t = NULL;
  od_error err = {0};
  expect_code(run(s, "%s --csv sweep.csv --quiet", arguments), 0);
  if (od_table_read_csv(scratch_path(s, "sweep.csv"), &t, &err) != OD_OK) fail_msg("%s", err.text);
  return t;
}

// Two parallel lags: one pole stays at -5 rad/s, the other moves from -1 to -9 rad/s and passes it. Correctly tracked poles
// are straight lines.
static void test_poles_keep_their_places(void **state) {
  static const char two[] =
      "inputs: {r: {unit: V, constant: 0 V}}\n"
      "blocks:\n"
      "  a: {type: transfer-function, input: r, numerator: [1], denominator: [1, 5]}\n"
      "  b: {type: transfer-function, input: r, numerator: [1], denominator: [1, 1]}\n"
      "run: {time: 1 s, step: 1 ms, outputs: [a, b]}\n";
  scratch *s = *state;
  scratch_write(s, "two.yaml", two, sizeof two - 1);
  od_table *t = swept(s, "linearize two.yaml --sweep b.denominator[1]=1:9:40");
  assert_int_equal(t->rows, 40);
  assert_int_equal(t->columns, 1 + 2 + 2 * 4);
  for (long k = 0; k < t->rows; k++) {
    const double *row = t->data + k * t->columns;
    near_relative(row[0], 1 + 8.0 * (double)k / 39, 1e-12);
    assert_true(isnan(row[1]) && isnan(row[2]));  // there is no pair
    near_relative(row[3], -row[0], 1e-9);
    near_relative(row[7], -5, 1e-9);
  }
  od_table_free(t);
}

// Over a grid of mass and position: the frequency of the axis by hand, always in the same columns.
static void test_sweep_grid(void **state) {
  scratch *s = *state;
  scratch_write(s, "axis.yaml", axis, sizeof axis - 1);
  const char *const command =
      "linearize axis.yaml --sweep load.point.mass='20 kg:4000 kg:12' --sweep initial.rail.position='-200:200 mm:9'";
  od_table *t = swept(s, command);
  assert_int_equal(t->rows, 108);
  int column = -1;
  for (int c = 4; c < t->columns; c += 4)
    if (t->data[c + 1] > 0) column = c;
  assert_true(column > 0);
  for (long k = 0; k < t->rows; k++) {
    const double *row = t->data + k * t->columns;
    double x = 0.3 + row[1], V1 = 0.4e-3 + A1 * x, V2 = 0.3e-3 + A2 * (0.6 - x);
    near_relative(row[0], 20 + 3980 * (double)(k / 9) / 11, 1e-12);
    near_relative(row[column + 1], sqrt(1.2e9 / row[0] * (A1 * A1 / V1 + A2 * A2 / V2)), 1e-3);
    near_relative(row[2], row[column + 2], 1e-12);  // the axis has the only pair of poles
  }
  od_table_free(t);
  // A drawing has a panel for frequency and one for damping, each with a curve for each mass and a legend.
  expect_code(run(s, "%s --plot grid.svg --quiet", command), 0);
  char *drawn = scratch_read(scratch_path(s, "grid.svg"));
  int curves = 0;
  for (const char *at = drawn; (at = strstr(at, "class=\"curve c")); at++) curves++;
  assert_int_equal(curves, 4 * 12);
  assert_non_null(strstr(drawn, "load.point.mass = 20 kg"));
  assert_non_null(strstr(drawn, "initial.rail.position, mm"));
  free(drawn);
  // The same bytes from one thread as from several.
  char *several = scratch_read(scratch_path(s, "sweep.csv"));
  od_table_free(swept(s,
                      "linearize axis.yaml --threads 1 --sweep load.point.mass='20 kg:4000 kg:12' --sweep "
                      "initial.rail.position='-200:200 mm:9'"));
  char *one = scratch_read(scratch_path(s, "sweep.csv"));
  assert_string_equal(one, several);
  free(one);
  free(several);
}

// Every point of a sweep equals the result of the command for this point alone; points that do not exist have no values
// and a reason.
static void test_sweep_commands(void **state) {
  scratch *s = *state;
  scratch_write(s, "axis.yaml", axis, sizeof axis - 1);
  scratch_write(s, "lags.yaml", lags, sizeof lags - 1);
  scratch_write(s, "gains.yaml", gains, sizeof gains - 1);
  od_table *t =
      swept(s, "simulate axis.yaml --set inputs.command.constant='3 V' --sweep P.pressure='60 bar:140 bar:3'");
  json_t *alone =
      json_of(run(s, "simulate axis.yaml --set inputs.command.constant='3 V' --set P.pressure='100 bar' --json -"));
  const json_t *first = json_array_get(json_object_get(alone, "outputs"), 0);
  assert_string_equal(t->name[4], "rail.position.final");
  assert_true(t->data[t->columns + 4] == value(first, "final"));
  json_decref(alone);
  od_table_free(t);

  t = swept(s, "bode lags.yaml --loop error --sweep a.gain=1:8:8");
  for (long k = 0; k < 8; k++) near_relative(t->data[k * t->columns + 1], 8.0 / (double)(k + 1), 1e-9);
  od_table_free(t);

  t = swept(s, "rga gains.yaml --sweep s1.weights[1]=0:1:2");
  near_relative(t->data[1], 1, 1e-12);
  near_relative(t->data[t->columns + 1], 1.6, 1e-9);
  od_table_free(t);

  // The view lists points that fail; without a view they are warnings.
  static const char failing[] =
      "equilibrium axis.yaml --hold rail.rate='200 mm/s' --adjust command --sweep P.pressure='20 bar:140 bar:3'";
  static const char failure[] =
      "P.pressure = 20 bar: there is no operating point with rail.rate = 200 mm/s: valve.spool would have to pass 10 V";
  outcome o = run(s, "%s --csv sweep.csv", failing);
  ends_with(o, 0);
  says(o.out, failure);
  forget(o);
  ends_and_says(run(s, "%s --quiet", failing), 0, failure);
  assert_int_equal(od_table_read_csv(scratch_path(s, "sweep.csv"), &t, NULL), OD_OK);
  assert_true(isnan(t->data[1]) && t->data[2 * t->columns + 1] > 0);
  near_relative(steady_speed(t->data[2 * t->columns + 1]), 0.2, 1e-3);
  od_table_free(t);
}

// A valve inside its overlap: no path, with the reason, in the zeros, as a warning and in JSON. With the spool outside, or on the edge of
// a valve without overlap, there is no message.
static void test_closed_valves(void **state) {
  static const char *const valves[] = {
      "servo_valves: {main: {between: [P, T], a: A, b: B, command: u, nominal_flow: 20 l/min, stroke: 10 V, overlap: 10 %, "
      "frequency: 400 rad/s}}\n",
      "proportional_valves: {main: {between: [P, T], a: A, b: B, command: u, nominal_flow: 20 l/min, stroke: 10 V, overlap: 10 %}}\n",
      "valves: {main: {command: u, stroke: 10 V, area: 5 mm^2, discharge: 0.6, dead_band: 1 V,\n"
      "  ports: {a: {between: [P, A], side: positive, curve: linear}, d: {between: [A, T], side: negative, curve: linear}}}}\n",
      "valves: {main: {command: u, stroke: 10 V, area: 5 mm^2, discharge: 0.6,\n"
      "  ports: {a: {between: [P, A], side: positive, curve: linear}, d: {between: [A, T], side: negative, curve: linear}}}}\n"};
  for (int i = 0; i < 4; i++)
    for (int open = 0; open < 2; open++) {
      char text[1500];
      int length =
          snprintf(text, sizeof text,
                   "oil: {density: 870, law: constant, modulus: 1.4 GPa}\ninputs: {u: {unit: V, constant: %s V}}\n"
                   "volumes: {A: {volume: 1 l}, B: {volume: 1 l}}\nsources: {P: {pressure: 100 bar}}\n"
                   "tanks: {T: {pressure: 1 bar}}\n"
                   "leaks: {a: {between: [A, T], slope: 1e-12}, b: {between: [B, T], slope: 1e-12}}\n%s"
                   "initial: {A.pressure: 20 bar, B.pressure: 20 bar%s}\nrun: {time: 1 s, step: 1 ms}\n",
                   open ? "2" : "0", valves[i], i == 0 && open ? ", main.spool: 2 V" : "");
      scratch_write(*state, "closed.yaml", text, (size_t)length);
      outcome o = run(*state, "linearize closed.yaml --output A.pressure --json r.json");
      ends_with(o, 0);
      char *written = scratch_read(scratch_path(*state, "r.json"));
      static const char reason[] = "the overlap closes 'main' at this operating point";
      bool is_reported = !open && i < 3;
      if (is_reported) says(o.out, "u to A.pressure: no path (closed by overlap: 'main')");
      assert_true((strstr(o.out, reason) != NULL) == is_reported);
      assert_true((strstr(written, reason) != NULL) == is_reported);
      free(written);
      forget(o);
    }
}

// A spool that is closed at the start: no equation depends on the pressures there, but the loop opens the spool. Closed form of the pressures:
// 202 bar 15/45.
static void test_equilibrium_from_a_shut_valve(void **state) {
  scratch *s = *state;
  scratch_put(
      s, "shut.yaml",
      "bodies: {load: {point: {mass: 800 kg}}}\n"
      "joints: {rail: {type: prismatic, between: [ground, load], axis: [1, 0, 0]}}\n"
      "ground: {points: {eye: [-1 m, 0]}}\n"
      "oil: {density: 870 kg/m^3, law: constant, modulus: 1.2 GPa, smoothing: 1 Pa}\n"
      "volumes: {A: {volume: 0.1 L}, B: {volume: 0.1 L}}\n"
      "tanks: {P: {pressure: 200 bar}, T: {pressure: 2 bar}}\n"
      "servo_valves:\n"
      "  sv: {command: pid, between: [P, T], a: A, b: B, nominal_flow: 60 L/min, frequency: 100 Hz, stroke: 10 V}\n"
      "cylinders:\n"
      "  ram: {between: [ground.eye, load], chambers: [A, B], areas: [30 cm^2, 15 cm^2], closed: 0.5 m, stroke: 1 m, leakage: 2e-12 m^3/(s Pa)}\n"
      "inputs: {ref: {unit: m, constant: 0.1 m}}\n"
      "blocks:\n"
      "  error: {type: sum, inputs: [ref, rail.position], weights: [1, -1]}\n"
      "  pid: {type: pid, input: error, unit: V, kp: 100 V/m, ki: 100 V/(m s), limits: [-10 V, 10 V]}\n"
      "initial: {rail.position: 0.1 m, A.pressure: 50 bar, B.pressure: 120 bar}\n"
      "run: {time: 1 s, outputs: [A.pressure, B.pressure]}\n");
  outcome o = run(s, "equilibrium shut.yaml");
  ends_with(o, 0);
  double a = 0, b = 0;
  const char *outputs = strstr(o.out, "Outputs");
  assert_non_null(outputs);
  assert_int_equal(sscanf(strstr(outputs, "A.pressure"), "A.pressure bar %lf B.pressure bar %lf", &a, &b), 2);
  near_relative(a, 202 * 15.0 / 45, 1e-5);
  near_relative(b, 202 * 30.0 / 45, 1e-5);
  forget(o);
}

static void test_messages(void **state) {
  scratch *s = *state;
  scratch_write(s, "lags.yaml", lags, sizeof lags - 1);
  scratch_write(s, "gains.yaml", gains, sizeof gains - 1);
  const struct {
    const char *arguments, *message;
  } wrong[] = {
      {"linearize lags.yaml --input q", "there is no input 'q'; expected "},
      {"linearize lags.yaml --output eror", "there is no output 'eror'; did you mean 'error'?"},
      {"linearize lags.yaml --at -1", "found '-1', expected a positive number"},
      {"linearize lags.yaml --step '1 ms'", "--step requires --at"},
      {"bode lags.yaml --loop c", "--loop: the loop cannot be opened at 'c', because"},
      {"bode " OD_SOURCE_DIR "/cases/fin-servo/machine.yaml --loop CE2",
       "--loop: the loop cannot be opened at 'CE2', because"},
      {"bode gains.yaml --loop s1", "--loop: the loop cannot be opened at 's1', because"},
      {"bode gains.yaml --loop all", "has no signal at which an input enters directly"},
      {"bode lags.yaml --loop error --output c", "--loop and --output exclude each other"},
      {"bode lags.yaml --low 5 --high 4", "--low and --high: found 5 Hz to 4 Hz; expected a highest frequency"},
      {"bode lags.yaml --points 1", "expected 2 to 1000000 frequencies"},
      {"equilibrium lags.yaml --hold c", "--hold: 'c' has no value; write OUTPUT=VALUE"},
      {"equilibrium lags.yaml --hold eror=1", "--hold: there is no output 'eror'; did you mean 'error'?"},
      {"equilibrium lags.yaml --hold c='1 m'", "--hold: the unit 'm' cannot be converted to V"},
      {"equilibrium lags.yaml --adjust r", "--adjust requires --hold"},
      {"linearize lags.yaml --sweep a.gain=1", "--sweep: found 'a.gain=1', expected PATH=A:B:N"},
      {"linearize lags.yaml --sweep a.gain=1:2:0", "--sweep: found '0', expected a whole number"},
      {"linearize lags.yaml --sweep a.gian=1:2:3", "a.gain"},
      {"linearize lags.yaml --sweep a.gain=1:2:10000 --sweep b.gain=1:2:2",
       "--sweep: found 20000 points, expected at most"},
      {"linearize lags.yaml --sweep a.time_constant='1 s:2 ms:3'", "has a number in s and a number in ms"},
      {"equilibrium lags.yaml --csv x.csv", "--csv requires --sweep; use --json for one point"},
      {"rga gains.yaml --output y1", "as many inputs as outputs, but found 2 inputs and 1 output"},
  };
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
    ends_and_says(run(s, "%s", wrong[i].arguments), 2, wrong[i].message);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(test_margins, scratch_setup, scratch_teardown),
      cmocka_unit_test_setup_teardown(test_margins_between_points, scratch_setup, scratch_teardown),
      cmocka_unit_test_setup_teardown(test_bode_files, scratch_setup, scratch_teardown),
      cmocka_unit_test_setup_teardown(test_bode_units, scratch_setup, scratch_teardown),
      cmocka_unit_test_setup_teardown(test_relative_gains, scratch_setup, scratch_teardown),
      cmocka_unit_test_setup_teardown(test_many_zeros, scratch_setup, scratch_teardown),
      cmocka_unit_test_setup_teardown(test_linearize_files, scratch_setup, scratch_teardown),
      cmocka_unit_test_setup_teardown(test_steady_motion, scratch_setup, scratch_teardown),
      cmocka_unit_test_setup_teardown(test_limits, scratch_setup, scratch_teardown),
      cmocka_unit_test_setup_teardown(test_other_starts, scratch_setup, scratch_teardown),
      cmocka_unit_test_setup_teardown(test_rest, scratch_setup, scratch_teardown),
      cmocka_unit_test_setup_teardown(test_poles_keep_their_places, scratch_setup, scratch_teardown),
      cmocka_unit_test_setup_teardown(test_sweep_grid, scratch_setup, scratch_teardown),
      cmocka_unit_test_setup_teardown(test_sweep_commands, scratch_setup, scratch_teardown),
      cmocka_unit_test_setup_teardown(test_closed_valves, scratch_setup, scratch_teardown),
      cmocka_unit_test_setup_teardown(test_equilibrium_from_a_shut_valve, scratch_setup, scratch_teardown),
      cmocka_unit_test_setup_teardown(test_messages, scratch_setup, scratch_teardown),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
