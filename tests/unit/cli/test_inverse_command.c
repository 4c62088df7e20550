// oleodyn inverse: torques and forces for a motion, pressures and flows of a cylinder, verdicts and mistakes. Oracles: the wanted
// motion, which `simulate` must reproduce from the written torques; statics of a lever; closed forms of a vertical piston and of its
// accelerations.
#include "support/test.h"

#include <jansson.h>
#include <math.h>

#include "formats/read_table.h"
#include "io/table.h"
#include "support/program.h"

static const char arm[] =
    "machine: Arm\n"
    "gravity: [0, -9.81 m/s^2]\n"
    "bodies: {upper: {beam: {mass: 2 kg, length: 1 m}}, lower: {beam: {mass: 1 kg, length: 0.7 m}}}\n"
    "joints:\n"
    "  shoulder: {type: revolute, between: [ground, upper.start]}\n"
    "  elbow: {type: revolute, between: [upper.end, lower.start]}\n"
    "inputs:\n"
    "  one: {unit: N m, %s}\n"
    "  two: {unit: N m, %s}\n"
    "  bend: {unit: rad, sine: {amplitude: 0.3 rad, frequency: 0.5 Hz, offset: -1.5 rad}}\n"
    "  late: {unit: rad, ramps: {at: [[0 s, 0 rad], [0.5 s, 0 rad], [1 s, 1 rad]]}}\n"
    "  kick: {unit: rad, steps: {initial: 0 rad, at: [[0.5 s, 1 rad]]}}\n"
    "torques: {motor_1: {joint: shoulder, value: one}, motor_2: {joint: elbow, value: two}}\n"
    "initial: {shoulder.angle: -1.5 rad, shoulder.rate: 0.94247779607693793 rad/s, elbow.angle: 0.4 rad}\n"
    "run: {time: 1 s, step: 1 ms, outputs: [shoulder.angle, elbow.angle]}\n";

static void write_arm(scratch *s, const char *name, const char *one, const char *two) {
  char text[3000];
  int length = snprintf(text, sizeof text, arm, one, two);
  scratch_write(s, name, text, (size_t)length);
}

// A vertical piston that carries a weight: p_a A_a - p_b A_b = m (g + a).
static const char piston[] =
    "machine: Piston\n"
    "gravity: [0, 0, -10 m/s^2]\n"
    "ground: {points: {foot: [0, 0, -1 m]}}\n"
    "bodies: {weight: {point: {mass: 1000 kg}}}\n"
    "joints: {guide: {type: prismatic, between: [ground, weight], axis: [0, 0, 1]}}\n"
    "oil: {density: 870 kg/m^3, law: constant, modulus: 1.4 GPa}\n"
    "volumes: {A: {volume: 1 ml}, B: {volume: 1 ml}}\n"
    "tanks: {T: {pressure: 0 bar}}\n"
    "pumps: {pump: {from: T, to: A, flow: 10 l/min}}\n"
    "cylinders:\n"
    "  jack: {between: [ground.foot, weight], chambers: [A, B], areas: [20 cm^2, 10 cm^2], closed: 0.8 m, stroke: 0.8 m}\n"
    "inputs:\n"
    "  up: {unit: m, sine: {amplitude: 100 mm, frequency: 0.5 Hz}}\n"
    "  far: {unit: m, sine: {amplitude: 700 mm, frequency: 0.1 Hz}}\n"
    "  soft: {unit: m, half_cosines: {at: [[0.5 s, 0 m], [1.5 s, 200 mm]]}}\n"
    "  late: {unit: m, sine: {amplitude: 100 mm, frequency: 0.5 Hz, start: 0.5 s}}\n"
    "  swept: {unit: m, chirp: {amplitude: 10 mm, from: 0.5 Hz, to: 1.5 Hz, duration: 1 s, start: 0.5 s}}\n"
    "  slow: {unit: m, lagged_steps: {time_constant: 0.2 s, initial: 0 m, at: [[0.5 s, 100 mm]]}}\n"
    "initial: {guide.position: 0 m, A.pressure: 50 bar, B.pressure: 1 bar}\n"
    "run: {time: 2 s, step: 10 ms}\n";

static od_table *read_table(scratch *s, const char *name) {
  od_table *t = NULL;
  od_error err = {0};
  assert_int_equal(od_table_read_csv(scratch_path(s, name), &t, &err), OD_OK);
  return t;
}

static const double *column(const od_table *t, const char *name) {
  for (int c = 0; c < t->columns; c++)
    if (strcmp(t->name[c], name) == 0) return t->data + c;
  fail_msg("there is no column %s", name);
  return NULL;
}

// The written torques, as inputs of the same machine, give the wanted motion, within the accuracy of straight lines between rows a
// millisecond apart.
static void torques_return_the_motion(void **state) {
  scratch *s = *state;
  write_arm(s, "m.yaml", "constant: 0 N m", "constant: 0 N m");
  expect_code(run(s, "inverse m.yaml --move shoulder.angle=bend --move elbow.angle='0.4 rad' --csv needs.csv"), 0);
  write_arm(s, "driven.yaml", "file: {path: needs.csv, column: one}", "file: {path: needs.csv, column: two}");
  expect_code(run(s, "simulate driven.yaml --integrator rk4 --csv run.csv"), 0);
  od_table *wanted = read_table(s, "needs.csv"), *made = read_table(s, "run.csv");
  assert_int_equal(wanted->rows, 1001);
  assert_int_equal(made->rows, 1001);
  const char *const angle[] = {"shoulder.angle", "elbow.angle"};
  for (int i = 0; i < 2; i++)
    for (long k = 0; k < wanted->rows; k++) {
      double off = column(made, angle[i])[k * made->columns] - column(wanted, angle[i])[k * wanted->columns];
      if (!(fabs(off) < 1e-6)) fail_msg("%s is off by %g in row %ld", angle[i], off, k);
    }
  od_table_free(wanted);
  od_table_free(made);
  // The same motion from a log: its rates are computed from its samples.
  expect_code(run(s, "inverse m.yaml --data run.csv --csv again.csv --quiet"), 0);
  od_table *again = read_table(s, "again.csv"), *first = read_table(s, "needs.csv");
  for (long k = 10; k < again->rows - 10; k++)
    assert_true(fabs(column(again, "one")[k * again->columns] - column(first, "one")[k * first->columns]) < 1e-2);
  od_table_free(again);
  od_table_free(first);
}

// The upper arm follows its motion, the lower one swings freely; with the computed torque, `simulate` gives both motions.
static void what_hangs_swings(void **state) {
  scratch *s = *state;
  write_arm(s, "m.yaml", "constant: 0 N m", "constant: 0 N m");
  expect_code(run(s, "inverse m.yaml --move shoulder.angle=bend --passive elbow.angle --drive motor_1 --csv needs.csv"),
              0);
  write_arm(s, "driven.yaml", "file: {path: needs.csv, column: one}", "constant: 0 N m");
  expect_code(run(s, "simulate driven.yaml --integrator rk4 --csv run.csv"), 0);
  od_table *wanted = read_table(s, "needs.csv"), *made = read_table(s, "run.csv");
  const char *const angle[] = {"shoulder.angle", "elbow.angle"};
  double swung = 0;
  for (int i = 0; i < 2; i++)
    for (long k = 0; k < wanted->rows; k++) {
      double to = column(wanted, angle[i])[k * wanted->columns], off = column(made, angle[i])[k * made->columns] - to;
      if (!(fabs(off) < 2e-6)) fail_msg("%s is off by %g in row %ld", angle[i], off, k);
      if (i == 1) swung = fmax(swung, fabs(to - 0.4));
    }
  assert_true(swung > 0.3);
  od_table_free(wanted);
  od_table_free(made);
  // Steps that are much too long are reported.
  outcome o = run(
      s, "inverse m.yaml --move shoulder.angle=bend --passive elbow.angle --drive motor_1 --time 20 --step '0.5 s'");
  assert_true(o.code == 0 || o.code == 3);
  says(o.out, "Step too long: the estimated error of freely moving coordinates is up to");
  forget(o);
}

static void piston_needs(scratch *s, const char *rule, bool sum, double given) {
  outcome o = run(s, "inverse m.yaml --move guide.position=up --csv r.csv --json r.json %s", rule);
  ends_with(o, 3);
  says(o.out, "Not enough flow: the motion needs 37.69");
  says(o.out, " other end ");  // of the range: where the peak is negative, it is no least value
  forget(o);
  od_table *t = read_table(s, "r.csv");
  double w = acos(-1), most = 0;
  for (long k = 0; k < t->rows; k++) {
    double time = t->data[k * t->columns], v = 0.1 * w * cos(w * time);
    double push = 1000 * (10 - 0.1 * w * w * sin(w * time)), pa, pb = given;
    pa = sum ? (push + given * 1e-3) / 3e-3 : (push + given * 1e-3) / 2e-3;
    if (sum) pb = given - pa;
    assert_true(fabs(column(t, "jack.force_needed")[k * t->columns] - push) < 1e-5 * push);
    assert_true(fabs(column(t, "jack.pressure_a")[k * t->columns] - pa) < 1e-5 * fabs(pa));
    assert_true(fabs(column(t, "jack.pressure_b")[k * t->columns] - pb) < 1e-5 * fabs(pa));
    assert_true(fabs(column(t, "jack.flow_a")[k * t->columns] - 2e-3 * v) < 1e-9);
    assert_true(fabs(column(t, "jack.flow_b")[k * t->columns] + 1e-3 * v) < 1e-9);
    assert_true(fabs(column(t, "supply.flow_needed")[k * t->columns] - (v > 0 ? 2e-3 * v : -1e-3 * v)) < 1e-9);
    most = fmax(most, pa);
  }
  od_table_free(t);
  json_error_t error;
  json_t *all = json_load_file(scratch_path(s, "r.json"), 0, &error), *item;
  size_t i;
  bool seen = false;
  json_array_foreach(json_object_get(all, "quantities"), i, item) {
    if (strcmp(json_string_value(json_object_get(item, "name")), "jack.pressure_a") != 0) continue;
    seen = fabs(json_number_value(json_object_get(item, "peak")) - most) < 1e-3;
    assert_true(fabs(json_number_value(json_object_get(item, "peak_at")) - 1.5) < 1e-9);
  }
  assert_true(seen);
  assert_string_equal(json_string_value(json_object_get(all, "pressure_rule")), sum ? "sum" : "back");
  json_decref(all);
}

static void pressures_and_flows(void **state) {
  scratch *s = *state;
  scratch_write(s, "m.yaml", piston, sizeof piston - 1);
  piston_needs(s, "--back-pressure '5 bar'", false, 5e5);
  piston_needs(s, "--pressure-sum '100 bar'", true, 1e7);
}

// Second derivatives of the signals above, at the time s since their start.
static double soft_acceleration(double s) {
  double w = acos(-1);
  return s < 1 ? 0.1 * w * w * cos(w * s) : 0;
}
static double late_acceleration(double s) {
  double w = acos(-1);
  return -0.1 * w * w * sin(w * s);
}
static double swept_acceleration(double s) {
  double w = 2 * acos(-1), phase = w * (0.5 * s + 0.5 * s * s), rate = w * (0.5 + s);
  return s < 1 ? 0.01 * (w * cos(phase) - rate * rate * sin(phase)) : 0;
}
static double slow_acceleration(double s) {
  return -0.1 / (0.2 * 0.2) * exp(-s / 0.2);
}

// If the acceleration of a signal jumps, the rows next to the jump have the acceleration of their own side: m (g + a)
// by hand.
static void accelerations_that_jump(void **state) {
  scratch *s = *state;
  static const struct {
    const char *name;
    double (*acceleration)(double since);
  } motion[] = {{"soft", soft_acceleration},
                {"late", late_acceleration},
                {"swept", swept_acceleration},
                {"slow", slow_acceleration}};
  scratch_write(s, "m.yaml", piston, sizeof piston - 1);
  for (size_t i = 0; i < sizeof motion / sizeof *motion; i++) {
    outcome o = run(s, "inverse m.yaml --move guide.position=%s --csv r.csv", motion[i].name);
    assert_true(o.code == 0 || o.code == 3);
    forget(o);
    od_table *t = read_table(s, "r.csv");
    assert_int_equal(t->rows, 201);
    for (long k = 0; k < t->rows; k++) {
      if (k == 50 || k == 150) continue;  // the jumps themselves
      double since = t->data[k * t->columns] - 0.5, a = since > 0 ? motion[i].acceleration(since) : 0;
      double off = column(t, "jack.force_needed")[k * t->columns] - 1000 * (10 + a);
      if (!(fabs(off) < 0.1)) fail_msg("%s is off by %g N in row %ld", motion[i].name, off, k);
    }
    od_table_free(t);
  }
}

static void verdicts(void **state) {
  scratch *s = *state;
  scratch_write(s, "m.yaml", piston, sizeof piston - 1);
  outcome o = run(s, "inverse m.yaml --move jack.length='1.1 m' --pressure-limit '40 bar' --time 0.1");
  ends_with(o, 3);
  says(o.out, "Pressure above the limit: jack.pressure_a is 50 bar");
  forget(o);
  expect_code(run(s, "inverse m.yaml --move jack.length='1.1 m' --pressure-limit '60 bar' --time 0.1"), 0);
  o = run(s, "inverse m.yaml --move guide.position=far --time 10 --pump-flow '200 l/min'");
  ends_with(o, 3);
  says(o.out, "above its range (800 mm to 1600 mm)");
  says(o.out, "below its range");
  forget(o);
  o = run(s, "inverse m.yaml --move jack.length='1.1 m' --pressure-sum '10 bar' --time 0.1");
  ends_with(o, 3);
  says(o.out, "chamber b of jack would have -26.66");
  forget(o);
  write_arm(s, "arm.yaml", "constant: 0 N m", "constant: 0 N m");
  o = run(s, "inverse arm.yaml --move shoulder.angle=late --move elbow.angle='0.4 rad'");
  ends_with(o, 3);
  says(o.out, "the speed of shoulder.angle jumps by 114.59");
  forget(o);
  o = run(s, "inverse arm.yaml --move shoulder.angle=kick --move elbow.angle='0.4 rad'");
  ends_with(o, 3);
  says(o.out, "shoulder.angle jumps by 57.29");
  forget(o);
}

// A piston that is held in place: the law gives no friction there, and the result is uncertain by the breakaway force. Terminal and JSON report
// this in the same words. A moving piston, or one with only viscous friction, has no such uncertainty. The factor of the friction is included.
static void friction_at_standstill(void **state) {
  static const struct {
    const char *friction, *motion, *says;
  } runs[] = {
      {"law: tustin, Fs: 500 N, Fc: 300 N, vs: 20 mm/s, viscous: 100 N s/m", "'0 m'",
       "jack is slower than 0.1 mm/s, the speed of fully built-up friction, from t = 0 s on, for 2.01 s in total. "
       "The friction law gives almost zero force at standstill, but static friction can be up to +-500 N"},
      {"law: tustin, Fs: 500 N, Fc: 300 N, vs: 20 mm/s, viscous: 100 N s/m, factor: 2", "'0 m'", "up to +-1000 N"},
      {"law: tustin, Fs: 500 N, Fs_negative: 700 N, Fc: 300 N, vs: 20 mm/s, viscous: 100 N s/m", "'0 m'",
       "up to +-700 N"},
      {"law: coulomb, Fc: 300 N, vs: 2 mm/s", "'0 m'", "jack is slower than 2 mm/s"},
      {"law: tustin, Fs: 500 N, Fc: 300 N, vs: 20 mm/s, viscous: 100 N s/m", "up", NULL},
      {"law: viscous, viscous: 100 N s/m", "'0 m'", NULL}};
  for (size_t i = 0; i < sizeof runs / sizeof *runs; i++) {
    char text[2500];
    const char *end = strstr(piston, "stroke: 0.8 m}");
    int length = snprintf(text, sizeof text, "%.*sstroke: 0.8 m, friction: {%s}}%s", (int)(end - piston), piston,
                          runs[i].friction, end + strlen("stroke: 0.8 m}"));
    scratch_write(*state, "held.yaml", text, (size_t)length);
    outcome o =
        run(*state, "inverse held.yaml --move guide.position=%s --pump-flow '200 l/min' --json r.json", runs[i].motion);
    ends_with(o, 0);
    char *written = scratch_read(scratch_path(*state, "r.json"));
    if (runs[i].says)
      says(o.out, runs[i].says), says(written, runs[i].says);
    else
      assert_null(strstr(o.out, "Friction at standstill"));
    free(written);
    forget(o);
  }
}

// The piston with a friction whose factor follows a signal, and with a force that follows a block. Values outside the validity of the
// laws and unknown values are reported in terminal and JSON in the words of `simulate`; a positive factor, and a block without states,
// are not reported.
static void signals_that_cannot_be(void **state) {
  static const char law[] = "law: tustin, Fs: 500 N, Fc: 300 N, vs: 20 mm/s, viscous: 100 N s/m";
  static const struct {
    const char *factor, *block, *says;
  } runs[] = {
      {"factor: falling", "gain, gain: 1",
       "Signal below zero: 'falling', the factor of the friction of jack, is first negative at 1.01 s; its lowest value is -1, at 2 s: friction"},
      {"factor: steady", "first-order, time_constant: 1 s", "Initial signal kept: 'pushed' acts on the mechanism"},
      {"pressure: {per_a: 0.1 1/bar, nominal_a: 10 bar}", "gain, gain: 1",
       "Initial signal kept: 'jack.friction_factor' acts on the mechanism"},
      {"factor: steady", "gain, gain: 1", NULL}};
  for (size_t i = 0; i < sizeof runs / sizeof *runs; i++) {
    char text[3500];
    const char *end = strstr(piston, "stroke: 0.8 m}"), *inputs = strstr(piston, "inputs:\n") + strlen("inputs:\n");
    const char *after = end + strlen("stroke: 0.8 m}");
    int length =
        snprintf(text, sizeof text,
                 "%.*sstroke: 0.8 m, friction: {%s, %s}}%.*s"
                 "  falling: {ramps: {at: [[0 s, 1], [2 s, -1]]}, unit: '1'}\n"
                 "  steady: {constant: 1, unit: '1'}\n"
                 "  wanted: {constant: 10 N, unit: N}\n%s"
                 "blocks: {pushed: {type: %s, input: wanted}}\n"
                 "forces: {push: {at: weight, direction: [0, 0, 1], value: pushed}}\n",
                 (int)(end - piston), piston, law, runs[i].factor, (int)(inputs - after), after, inputs, runs[i].block);
    scratch_write(*state, "signal.yaml", text, (size_t)length);
    outcome o =
        run(*state, "inverse signal.yaml --move guide.position=up --drive jack --pump-flow '200 l/min' --json r.json");
    ends_with(o, 0);
    char *written = scratch_read(scratch_path(*state, "r.json"));
    if (runs[i].says) says(o.out, runs[i].says), says(written, runs[i].says);
    const char *codes[] = {"signal.below_zero", "signal.kept"};
    for (int k = 0; k < 2 && !runs[i].says; k++) assert_null(strstr(written, codes[k]));
    free(written);
    forget(o);
    if (i > 0) continue;
    o = run(*state, "simulate signal.yaml --time 2");
    says(
        o.out,
        "Signal below zero: 'falling', the factor of the friction of jack, is first negative at 1.01 s; its lowest value is -1, at 2 s: friction");
    forget(o);
  }
}

// A tank on the rod side keeps its pressure: p_a = (F + p_T A_b)/A_a by hand, the pump delivers nothing on the way down, and a motion
// that needs a pulling force downwards is reported. Also with a plunger (no area there).
static void single_acting(void **state) {
  scratch *s = *state;
  char text[3000];
  snprintf(text, sizeof text, "%sleaks: {idle: {between: [B, T], slope: 1e-12}}\n", piston);
  memcpy(strstr(text, "[A, B]"), "[A, T]", 6);
  memcpy(strstr(text, "T: {pressure: 0 bar}"), "T: {pressure: 3 bar}", 20);
  scratch_write(s, "m.yaml", text, strlen(text));
  static const double rod_side[] = {1e-3, 0};
  for (int i = 0; i < 2; i++) {
    outcome o = run(s, "inverse m.yaml --move guide.position=up --csv r.csv --set jack.areas[1]='%g m2'", rod_side[i]);
    ends_with(o, 3);
    forget(o);
    od_table *t = read_table(s, "r.csv");
    double w = acos(-1);
    for (long k = 0; k < t->rows; k++) {
      double time = t->data[k * t->columns], v = 0.1 * w * cos(w * time);
      double push = 1000 * (10 - 0.1 * w * w * sin(w * time)), pa = (push + 3e5 * rod_side[i]) / 2e-3;
      assert_true(fabs(column(t, "jack.pressure_a")[k * t->columns] - pa) < 1e-5 * pa);
      assert_true(column(t, "jack.pressure_b")[k * t->columns] == 3e5);
      assert_true(fabs(column(t, "supply.flow_needed")[k * t->columns] - fmax(0, 2e-3 * v)) < 1e-9);
    }
    od_table_free(t);
    o = run(s,
            "inverse m.yaml --move guide.position=up --set jack.areas[1]='%g m2' --set inputs.up.sine.frequency='5 Hz'",
            rod_side[i]);
    ends_with(o, 3);
    says(o.out, "with a tank on the other side chamber a of jack would have -");
    forget(o);
  }
}

// A motor at half displacement needs twice the pressure: D dp = I phi'' by hand. At zero displacement it has no torque, which is reported.
// A pump with a flow as its command does not give the available flow.
static void swivelled_motor(void **state) {
  scratch *s = *state;
  static const char text[] =
      "bodies: {drum: {mass: 100 kg, inertia: 5}}\n"
      "joints: {J: {type: revolute, between: [ground, drum]}}\n"
      "oil: {density: 870 kg/m^3, law: constant, modulus: 1.4 GPa}\n"
      "volumes: {A: {volume: 1 l}, B: {volume: 1 l}}\n"
      "motors: {motor: {joint: J, between: [A, B], displacement: 20 cm^3/rad, setting: swash}}\n"
      "pumps: {pump: {to: A, from: B, flow: q}}\n"
      "inputs:\n"
      "  swash: 0.5\n"
      "  q: 1 l/min\n"
      "  turn: {unit: rad, sine: {amplitude: 1 rad, frequency: 0.5 Hz}}\n"
      "initial: {J.angle: 0 rad, A.pressure: 50 bar, B.pressure: 50 bar}\n"
      "run: {time: 1 s, step: 10 ms}\n";
  scratch_write(s, "m.yaml", text, sizeof text - 1);
  outcome o = run(s, "inverse m.yaml --move J.angle=turn --csv r.csv");
  ends_with(o, 0);
  forget(o);
  od_table *t = read_table(s, "r.csv");
  double w = acos(-1);
  for (long k = 0; k < t->rows; k++) {
    double time = t->data[k * t->columns], need = -5 * w * w * sin(w * time) / (0.5 * 20e-6);
    double flow = 0.5 * 20e-6 * w * cos(w * time);
    assert_true(fabs(column(t, "motor.pressure_difference")[k * t->columns] - need) < 1e-5 * 5e6);
    assert_true(fabs(column(t, "motor.flow")[k * t->columns] - flow) < 1e-9);
  }
  od_table_free(t);
  o = run(s, "inverse m.yaml --move J.angle=turn --set inputs.swash=0");
  ends_with(o, 3);
  says(o.out, "Infinite need: no finite value of motor.pressure_difference gives the required effort at t = 0");
  forget(o);
}

// A telescopic cylinder of two stages lifts the weight of 1000 kg from stage 1 into stage 2. Away from the change of stages: p = m (g + a) / A,
// Q = A v, with the area A of the moving stage. Beyond both strokes, below zero pressure and above the pump's flow there are remarks.
static void telescopic_cylinder(void **state) {
  scratch *s = *state;
  static const char text[] =
      "gravity: [0, 0, -10 m/s^2]\n"
      "ground: {points: {foot: [0, 0, -1 m]}}\n"
      "bodies: {weight: {point: {mass: 1000 kg}}}\n"
      "joints: {guide: {type: prismatic, between: [ground, weight], axis: [0, 0, 1]}}\n"
      "oil: {density: 870 kg/m^3, law: constant, modulus: 1.4 GPa}\n"
      "volumes: {A: {volume: 1 ml}}\n"
      "tanks: {T: {pressure: 0 bar}}\n"
      "driven_pumps: {pump: {from: T, to: A, displacement: 10 cm^3/rad, speed: 20 rad/s, inertia: 0.1, torque: 50 N m, gain: 10}}\n"
      "telescopic_cylinders:\n"
      "  mast: {between: [ground.foot, weight], chamber: A, closed: 0.8 m, soft: 5 mm, area_1: 40 cm^2, stroke_1: 0.3 m,\n"
      "         area_2: 20 cm^2, stroke_2: 0.4 m}\n"
      "inputs:\n"
      "  up: {unit: m, sine: {amplitude: 150 mm, offset: 100 mm, frequency: 0.5 Hz}}\n"
      "  fast: {unit: m, sine: {amplitude: 50 mm, frequency: 5 Hz}}\n"
      "initial: {guide.position: 0.1 m, A.pressure: 25 bar}\n"
      "run: {time: 2 s, step: 10 ms}\n";
  scratch_write(s, "m.yaml", text, sizeof text - 1);
  outcome o = run(s, "inverse m.yaml --move guide.position=up --csv r.csv --json r.json");
  ends_with(o, 3);
  // 0.15 w A at the change of stages exceeds displacement * speed = 12 l/min.
  says(o.out, "the available flow is 12 l/min");
  forget(o);
  od_table *t = read_table(s, "r.csv");
  double w = acos(-1);
  int of_stage[2] = {0};
  for (long k = 0; k < t->rows; k++) {
    double time = t->data[k * t->columns], x = 0.2 + 0.1 + 0.15 * sin(w * time), v = 0.15 * w * cos(w * time);
    double push = 1000 * (10 - 0.15 * w * w * sin(w * time)), area = x < 0.3 ? 40e-4 : 20e-4;
    assert_true(fabs(column(t, "mast.force_needed")[k * t->columns] - push) < 1e-5 * push);
    assert_true(fabs(column(t, "mast.length")[k * t->columns] - 0.8 - x) < 1e-9);
    if (fabs(x - 0.3) < 0.0026) continue;
    assert_true(fabs(column(t, "mast.pressure")[k * t->columns] - push / area) < 1e-5 * push / area);
    assert_true(fabs(column(t, "mast.flow")[k * t->columns] - area * v) < 1e-9);
    assert_true(fabs(column(t, "supply.flow_needed")[k * t->columns] - fmax(0, area * v)) < 1e-9);
    of_stage[x > 0.3]++;
  }
  assert_true(of_stage[0] > 50 && of_stage[1] > 50);
  od_table_free(t);
  o = run(s, "inverse m.yaml --move mast.length='1.6 m' --time 0.1");
  ends_with(o, 3);
  says(o.out, "the length of mast would be 1600 mm, above its range (800 mm to 1500 mm)");
  says(o.out, "mast.pressure");
  forget(o);
  o = run(s, "inverse m.yaml --move guide.position=fast --pump-flow '1000 l/min'");
  ends_with(o, 3);
  says(o.out, "Not enough pressure: the chamber of mast would have -");
  forget(o);
}

// A displacement unit turns a drum in both directions. The pressure difference dp of a torque T at the speed v solves
//   T = D dp - drag mu d v - (dry d |dp| + breakaway) tanh(v / slow),  D = d setting,  Q = D v + slip d dp / mu + jet sqrt(2/rho) root(dp)
// Solved in closed form for sign(dp), with |dp| far above the smoothing of the oil.
static void displacement_unit(void **state) {
  scratch *s = *state;
  static const char text[] =
      "bodies: {drum: {mass: 100 kg, inertia: 50}}\n"
      "joints: {J: {type: revolute, between: [ground, drum]}}\n"
      "oil: {density: 870 kg/m^3, law: constant, modulus: 1.4 GPa, viscosity: 46 mm^2/s}\n"
      "volumes: {A: {volume: 1 l}, B: {volume: 1 l}}\n"
      "displacement_units:\n"
      "  unit: {joint: J, between: [A, B], displacement: 20 cm^3/rad, setting: swash, slip: 4e-9, jet: 0.05 mm^2, drag: 2e5,\n"
      "         dry: 0.02, breakaway: 1 N m, slow: 0.1 rad/s}\n"
      "leaks: {l: {between: [A, B], slope: 1e-12}}\n"
      "inputs:\n"
      "  swash: 0.5\n"
      "  turn: {unit: rad, sine: {amplitude: 1 rad, frequency: 0.5 Hz}}\n"
      "initial: {J.angle: 0 rad, A.pressure: 50 bar, B.pressure: 50 bar}\n"
      "run: {time: 2 s, step: 10 ms}\n";
  scratch_write(s, "m.yaml", text, sizeof text - 1);
  static const char *const rules[] = {"", "--back-pressure '5 bar'", "--pressure-sum '400 bar'"};
  for (size_t i = 0; i < sizeof rules / sizeof *rules; i++) {
    expect_code(run(s, "inverse m.yaml --move J.angle=turn --csv r.csv %s", rules[i]), 0);
    od_table *t = read_table(s, "r.csv");
    double w = acos(-1), d = 20e-6, D = 0.5 * d, mu = 870 * 46e-6;
    int compared = 0;
    for (long k = 0; k < t->rows; k++) {
      double time = t->data[k * t->columns], v = w * cos(w * time), torque = -50 * w * w * sin(w * time);
      assert_true(fabs(column(t, "unit.torque_needed")[k * t->columns] - torque) < 1e-5 * 500);
      if (fabs(torque) < 50) continue;
      double grip = tanh(v / 0.1), sign = torque > 0 ? 1 : -1;
      double dp = (torque + 2e5 * mu * d * v + 1 * grip) / (D - sign * 0.02 * d * grip);
      double flow = D * v + 4e-9 * d / mu * dp + 0.05e-6 * sqrt(2 / 870.0) * sign * sqrt(fabs(dp));
      assert_true(fabs(column(t, "unit.pressure_difference")[k * t->columns] - dp) < 1e-4 * fabs(dp));
      assert_true(fabs(column(t, "unit.flow")[k * t->columns] - flow) < 1e-4 * fabs(D * w));
      assert_true(fabs(column(t, "supply.flow_needed")[k * t->columns] - fabs(flow)) < 1e-4 * fabs(D * w));
      compared++;
    }
    assert_true(compared > 150);
    od_table_free(t);
  }
}

static void mistakes(void **state) {
  scratch *s = *state;
  static const struct {
    const char *arguments, *text;
    int code;
  } cases[] = {
      {"--move shoulder.angle=bend", "1 quantity is prescribed or free, but the machine has 2 degrees of freedom", 2},
      {"--move shoulder.angel=bend", "did you mean 'shoulder.angle'?", 2},
      {"--move shoulder.rate=bend", "is not a position", 2},
      {"--move shoulder.angle=bent --move elbow.angle=0",
       "'bent' is neither an input nor a number; did you mean 'bend'?", 2},
      {"--move shoulder.angle=one --move elbow.angle=0", "shoulder.angle is in rad, but the input 'one' is in N m", 2},
      {"--move shoulder.angle=bend --move shoulder.angle=0", "is prescribed twice", 2},
      {"--move shoulder.angle --move elbow.angle=0", "has no motion", 2},
      {"--move shoulder.angle='3 m' --move elbow.angle=0", "--move: ", 2},
      {"--move shoulder.angle=bend --move elbow.angle=0 --drive motor_1", "1 drive cannot move 2 degrees of freedom",
       2},
      {"--move shoulder.angle=bend --move elbow.angle=0 --drive moter_1,motor_2", "did you mean 'motor_1'?", 2},
      {"--move shoulder.angle=bend --move elbow.angle=0 --drive motor_1,motor_1", "is named twice", 2},
      {"--move shoulder.angle=bend --move elbow.angle=0 --back-pressure '1 bar' --pressure-sum '2 bar'", "two rules",
       2},
      {"--move shoulder.angle=bend --move elbow.angle=0 --back-pressure '-1 bar'", "zero or more", 2},
      {"--move shoulder.angle=bend --move elbow.angle=0 --output energy.balance", "does not determine", 2},
      {"--move shoulder.angle=bend --move elbow.angle=0 --smooth '5 Hz'", "--smooth requires --data", 2},
      {"--move lower.end.x='1.5 m' --move lower.end.y='1.5 m'", "at t = 0 s", 1},
      {"--move shoulder.angle=bend --passive elbow.angle", "2 drives for 1 driven quantity", 2},
      {"--move shoulder.angle=bend --passive elbow.angel --drive motor_1", "did you mean 'elbow.angle'?", 2},
      {"--move shoulder.angle=bend --passive shoulder.angle --drive motor_1", "is already prescribed or free", 2},
      {"--data none.csv", "none.csv", 2},
      {"--data bad.csv", "no column has the name of", 2},
      {"--data short.csv", "at least three rows", 2},
      {"--data units.csv --move shoulder.angle --move elbow.angle=0",
       "column 'shoulder.angle' is in 'm', a length; expected a unit for 'shoulder.angle', such as rad", 2},
      {"--data good.csv --move elbow.angle", "has no column 'elbow.angle'", 2},
  };
  static const char bad[] = "time [s],a [rad]\n0,0\n1,1\n2,2\n3,3\n",
                    few[] = "time [s],shoulder.angle [rad]\n0,0\n1,1\n";
  static const char units[] = "time [s],shoulder.angle [m]\n0,0\n1,1\n2,2\n3,3\n";
  static const char good[] = "time [s],shoulder.angle [rad]\n0,0\n1,1\n2,2\n3,3\n";
  write_arm(s, "m.yaml", "constant: 0 N m", "constant: 0 N m");
  scratch_write(s, "good.csv", good, sizeof good - 1);
  scratch_write(s, "bad.csv", bad, sizeof bad - 1);
  scratch_write(s, "short.csv", few, sizeof few - 1);
  scratch_write(s, "units.csv", units, sizeof units - 1);
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    outcome o = run(s, "inverse m.yaml %s", cases[i].arguments);
    if (o.code != cases[i].code) print_message("%s\n", cases[i].arguments);
    ends_with(o, cases[i].code);
    says(o.err, cases[i].text);
    forget(o);
  }
}

// A log of 0.1 m sin(pi t), rounded, or of two parabolas whose accelerations differ, of a weight of 1000 kg. Forces agree with the closed form: m
// (g + a). Without --smooth the chosen window removes almost all effects of rounding; with a narrow window the standard deviation in the verdict
// agrees with that of the forces in the rows.
static void noise_of_logs(void **state) {
  scratch *s = *state;
  static const struct {
    double resolution;  // m; 0: all digits
    bool parabolas, doubtful;
    const char *more;
    double error;  // N, root mean square
  } cases[] = {{1e-5, false, false, "", 1},
               {1e-6, false, false, "", 1},
               {1e-5, false, false, "--smooth '10 Hz'", 2},
               {1e-5, false, true, "--smooth '200 Hz'", 1e4},
               {0, false, false, "", 1e-4},
               {0, true, false, "", 1000}};
  scratch_write(s, "m.yaml", piston, sizeof piston - 1);
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    double d = cases[i].resolution, h = 1e-3, pi = acos(-1), squares = 0;
    FILE *to = fopen(scratch_path(s, "log.csv"), "w");
    fprintf(to, "time [s],guide.position [m]\n");
    for (int k = 0; k <= 2000; k++) {
      double t = k * h, x = cases[i].parabolas ? (t < 1 ? t * t : 2 * t - 1) / 10 : 0.1 * sin(pi * t);
      fprintf(to, "%.17g,%.17g\n", t, d > 0 ? d * round(x / d) : x);
    }
    fclose(to);
    outcome o = run(s, "inverse m.yaml --data log.csv --pump-flow '1000 l/min' %s --json out.json --csv out.csv",
                    cases[i].more);
    ends_with(o, 0);
    const char *said = strstr(o.out, "Noise of the log: ");
    assert_int_equal(said != NULL, cases[i].doubtful);
    char *json = scratch_read(scratch_path(s, "out.json"));
    assert_int_equal(strstr(json, "\"motion.noise\"") != NULL, cases[i].doubtful);
    od_table *table = read_table(s, "out.csv");
    const double *force = column(table, "jack.force_needed");
    for (int k = 400; k <= 1600; k++) {
      double a = cases[i].parabolas ? (k <= 1000 ? 0.2 : 0) : -0.1 * pi * pi * sin(pi * k * h);
      squares += pow(force[k * table->columns] - 1000 * (10 + a), 2) / 1201;
    }
    if (!(sqrt(squares) < cases[i].error)) fail_msg("case %zu: %g N", i, sqrt(squares));
    if (said) {
      double reported;
      assert_int_equal(sscanf(strstr(said, "force_needed is about "), "force_needed is about %lf N", &reported), 1);
      if (!(fabs(reported / sqrt(squares) - 1) < 0.3)) fail_msg("%g N, expected %g N", reported, sqrt(squares));
    }
    od_table_free(table);
    free(json);
    forget(o);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(torques_return_the_motion, scratch_setup, scratch_teardown),
      cmocka_unit_test_setup_teardown(what_hangs_swings, scratch_setup, scratch_teardown),
      cmocka_unit_test_setup_teardown(pressures_and_flows, scratch_setup, scratch_teardown),
      cmocka_unit_test_setup_teardown(accelerations_that_jump, scratch_setup, scratch_teardown),
      cmocka_unit_test_setup_teardown(verdicts, scratch_setup, scratch_teardown),
      cmocka_unit_test_setup_teardown(friction_at_standstill, scratch_setup, scratch_teardown),
      cmocka_unit_test_setup_teardown(signals_that_cannot_be, scratch_setup, scratch_teardown),
      cmocka_unit_test_setup_teardown(single_acting, scratch_setup, scratch_teardown),
      cmocka_unit_test_setup_teardown(swivelled_motor, scratch_setup, scratch_teardown),
      cmocka_unit_test_setup_teardown(telescopic_cylinder, scratch_setup, scratch_teardown),
      cmocka_unit_test_setup_teardown(displacement_unit, scratch_setup, scratch_teardown),
      cmocka_unit_test_setup_teardown(noise_of_logs, scratch_setup, scratch_teardown),
      cmocka_unit_test_setup_teardown(mistakes, scratch_setup, scratch_teardown),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
