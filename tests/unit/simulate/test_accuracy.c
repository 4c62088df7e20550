// The error estimate of a run. Oracles: closed forms, and over random machines and steps CVODES at a tight tolerance,
// which shares neither steps nor error control with the fixed-step rules.
//
//   unit.simulate.accuracy                            the tests
//   unit.simulate.accuracy calibrate 1 400 [rk4]      400 machines from seed 1 on, one line each, then the counts
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/test.h"
#include "machine/machine.h"
#include "simulate/run.h"
#include "support/machines.h"
#include "support/random_file.h"
#include "support/random_machine.h"
#include "support/table_error.h"

// --- One run ------------------------------------------------------------------------------------------------------

// Runs with the outputs of the file's own 'run' section. NULL: it failed.
static od_table *run(const od_machine *m, const char *integrator, double step, od_run_report *report) {
  const od_run_defaults *file = od_machine_run(m);
  const od_run_options options = {.time = file->time,
                                  .step = step,
                                  .integrator = integrator,
                                  .tolerance = 1e-9,
                                  .outputs = file->outputs,
                                  .output_count = file->output_count};
  od_table *table = NULL;
  if (od_run(m, &options, &table, report, NULL) == OD_OK) return table;
  od_table_free(table);
  return NULL;
}

static double measured_error(const od_run_report *r) {
  return r->accuracy.worst >= 0 ? r->accuracy.error[r->accuracy.worst].part : 0;
}

// --- Closed forms -------------------------------------------------------------------------------------------------

// A lag after a step, an oscillator over many periods, a stiff lag with numerical oscillation: errors from exp(-t/T)
// and from the cosine, without another integration.
static void check_closed_form(const char *text, double (*exact)(double), double low, double high) {
  od_machine *m = od_test_machine_text(text);
  od_run_report report = {0};
  od_table *t = run(m, "trapezoid", 0, &report);
  double most = 0;
  assert_non_null(t);
  od_summary s = od_table_summary(t, 1);
  for (long i = 0; i < t->rows; i++) most = fmax(most, fabs(t->data[2 * i + 1] - exact(t->data[2 * i])));
  double ratio = measured_error(&report) / (most / (s.max - s.min));
  print_message("true error %.3g %% of the range, measured %.3g times that\n", 100 * most / (s.max - s.min), ratio);
  assert_true(ratio > low && ratio < high);
  assert_int_equal(report.verdict.trust, most > 0.01 * (s.max - s.min) ? OD_DOUBTFUL : OD_SOUND);
  od_run_report_free(&report);
  od_table_free(t);
  od_machine_free(m);
}

static double lag(double t) {
  return 1 - exp(-t / 0.02);
}
static double stiff_lag(double t) {
  return 1 - exp(-t / 1e-4);
}
static double swing(double t) {
  return 0.1 * cos(20 * t);
}

static void the_error_agrees_with_closed_forms(void **state) {
  (void)state;
  check_closed_form(
      "machine: lag\ninputs: {u: 1}\nblocks: {y: {type: first-order, input: u, time_constant: 20 ms}}\n"
      "run: {time: 0.2 s, step: 2 ms, outputs: [y]}\n",
      lag, 0.95, 1.05);
  check_closed_form(
      "machine: stiff\ninputs: {u: 1}\nblocks: {y: {type: first-order, input: u, time_constant: 0.1 ms}}\n"
      "run: {time: 0.2 s, step: 2 ms, outputs: [y]}\n",
      stiff_lag, 0.95, 1.05);
  // 500 rad of oscillation: the phase lags by (wh)^2/12 of that.
  static const char oscillator[] =
      "machine: mass on a spring\nbodies: {mass: {point: {mass: 2 kg}}}\n"
      "joints: {rail: {type: prismatic, between: [ground, mass], axis: [1, 0, 0], stiffness: 800 N/m}}\n"
      "initial: {rail.position: 0.1 m}\nrun: {time: 25 s, step: %g, outputs: [rail.position]}\n";
  char text[500];
  for (double h = 2e-4; h < 3e-3; h *= 3) {
    snprintf(text, sizeof text, oscillator, h);
    check_closed_form(text, swing, 0.4, 1.6);  // the comparison run has errors, too
  }
}

// --- Errors that must be reported ---------------------------------------------------------------------------------

static const char seal[] =
    "machine: pump into a small volume\noil: {density: 870, law: constant, modulus: 1.2 GPa}\n"
    "volumes: {P: {volume: 1 mL}}\ntanks: {T: {pressure: 1 bar}}\npumps: {pump: {to: P, from: T, flow: 20 L/min}}\n"
    "orifices: {o: {between: [P, T], area: 5 mm^2, discharge: 0.6}}\ninitial: {P.pressure: 1 bar}\n"
    "run: {time: 20 ms, outputs: [P.pressure]}\n";

static const char pendulum[] =
    "machine: pendulum with a stiff spring\ngravity: [0, -9.81]\nground: {points: {wall: [1, 0]}}\n"
    "bodies: {rod: {beam: {mass: 2 kg, length: 0.8 m}}}\n"
    "joints: {hinge: {type: revolute, between: [ground, rod.start]}}\n"
    "springs: {spring: {between: [ground.wall, rod.end], stiffness: 1e6, damping: 2, length: 0.5 m}}\n"
    "initial: {hinge.angle: -90 deg}\nrun: {time: 1 s, outputs: [hinge.angle]}\n";

// Between two sources, 221 volumes and equal leaks start in the mode sin(i pi / 2), which decays with 4 slope modulus /
// volume sin^2(pi / 4) = 100 1/s.
static double mode(double t) {
  return 1e7 + 1e6 * exp(-100 * t);
}
// Interrupted during the error estimate: the rows are complete, the error is unknown, and this is reported to the
// caller.
static bool only_the_first_run(void *user, double done) {
  (void)user;
  return done < 0.5;
}
static void check_interrupted(const char *text) {
  od_machine *m = od_test_machine_text(text);
  const od_run_defaults *file = od_machine_run(m);
  const od_run_options options = {
      .outputs = file->outputs, .output_count = file->output_count, .progress = only_the_first_run};
  od_run_report report = {0};
  od_table *table = NULL;
  assert_int_equal(od_run(m, &options, &table, &report, NULL), OD_INTERRUPTED);
  assert_true(table->data[(table->rows - 1) * table->columns] == file->time);
  assert_null(report.accuracy.error);
  od_run_report_free(&report);
  od_table_free(table);
  od_machine_free(m);
}
// The fastest mode decays with 200 1/s sin^2(221/222 pi/2); the classical rule is stable up to 2.78529 on the negative axis.
static void check_stability(const char *text) {
  od_machine *m = od_test_machine_text(text);
  double fastest = 200 * pow(sin(221.0 / 222 * acos(-1) / 2), 2), longest = 2.78529 / fastest;
  for (int stable = 0; stable < 2; stable++) {
    od_run_report report = {0};
    od_table *table = run(m, "rk4", stable ? 12.5e-3 : 50e-3 / 3, &report);
    assert_non_null(table);
    assert_true(fabs(report.accuracy.stable_step - longest) < 0.02 * longest);
    assert_int_equal(od_verdict_has(&report.verdict, "step.unstable"), !stable);
    od_run_report_free(&report);
    od_table_free(table);
  }
  od_machine_free(m);
}
static void large_machines_are_judged(void **state) {
  (void)state;
  enum { VOLUMES = 221, ROOM = 200 * VOLUMES };
  char *text = malloc(ROOM);
  for (int doubtful = 0; doubtful < 2; doubtful++) {
    int used = snprintf(
        text, ROOM, "oil: {density: 870 kg/m^3, law: constant, modulus: 1 GPa}\nsources: {S: {pressure: 1e7 Pa}}\n");
    used += snprintf(text + used, (size_t)(ROOM - used),
                     "run: {time: 50 ms, step: %d ms, outputs: [V1.pressure]}\nvolumes:\n", doubtful ? 8 : 3);
    for (int i = 1; i <= VOLUMES; i++)
      used += snprintf(text + used, (size_t)(ROOM - used), "  V%d: {volume: 1 L}\n", i);
    used += snprintf(text + used, (size_t)(ROOM - used), "initial:\n");
    for (int i = 1; i <= VOLUMES; i++)
      used += snprintf(text + used, (size_t)(ROOM - used), "  V%d.pressure: %d Pa\n", i,
                       10000000 + (i % 2 ? i % 4 == 1 ? 1000000 : -1000000 : 0));
    used += snprintf(text + used, (size_t)(ROOM - used), "leaks:\n  L0: {between: [S, V1], slope: 5e-11 m^3/(s Pa)}\n");
    for (int i = 1; i < VOLUMES; i++)
      used += snprintf(text + used, (size_t)(ROOM - used), "  L%d: {between: [V%d, V%d], slope: 5e-11 m^3/(s Pa)}\n", i,
                       i, i + 1);
    used +=
        snprintf(text + used, (size_t)(ROOM - used), "  last: {between: [V%d, S], slope: 5e-11 m^3/(s Pa)}\n", VOLUMES);
    assert_true(used < ROOM);
    check_closed_form(text, mode, 0.95, 1.05);
    check_interrupted(text);
    check_stability(text);
  }
  free(text);
}

static void steps_that_are_too_long_are_told(void **state) {
  (void)state;
  od_machine *m = od_test_machine_text(seal);
  od_run_report report = {0};
  od_table *t = run(m, "trapezoid", 1e-3, &report), *c = run(m, "cvodes", 1e-3, NULL);
  assert_true(table_error(t, c) > 0.5);
  assert_true(od_verdict_has(&report.verdict, "step.long"));
  // The proposed step is much better.
  double better = report.accuracy.better_step;
  od_run_report_free(&report);
  od_table_free(t);
  od_table_free(c);
  t = run(m, "trapezoid", better, &report), c = run(m, "cvodes", better, NULL);
  print_message("a step of %.3g s: true error %.3g, measured %.3g\n", better, table_error(t, c),
                measured_error(&report));
  assert_true(better < 1e-3 && table_error(t, c) < 0.8);  // of 2 300 % of the range
  od_run_report_free(&report);
  od_table_free(t);
  od_table_free(c);
  // Runge-Kutta steps: a decaying pressure must not grow.
  t = run(m, "rk4", 1e-4, &report);
  assert_non_null(t);
  assert_true(od_verdict_has(&report.verdict, "step.unstable"));
  assert_true(report.accuracy.stable_step < 1e-5 && report.accuracy.stable_step > 1e-7);
  assert_int_equal(report.verdict.trust, OD_UNSOUND);
  od_run_report_free(&report);
  od_table_free(t);
  od_machine_free(m);
}

// A volume that empties through an orifice and is fed by a pump: its pressure falls to the value at which both flows are equal and never below, so
// it does not cavitate. Steps with a lower pressure are reported, also if one step is the whole run. A pump that draws from a closed volume does
// cause cavitation, independent of steps.
static void vacuum_by_long_steps_is_told(void **state) {
  (void)state;
  static const char emptied[] =
      "oil: {density: 870 kg/m^3, law: constant, modulus: 1.4 GPa}\nvolumes: {A: {volume: 1 l}}\n"
      "tanks: {T: {pressure: 0 bar}}\norifices: {o: {between: [A, T], area: 10 mm^2, discharge: 0.7}}\n"
      "pumps: {p: {from: T, to: A, flow: 1 l/min}}\ninitial: {A.pressure: 100 bar}\n"
      "run: {time: 10 s, outputs: [A.pressure]}\n";
  static const char drawn[] =
      "oil: {density: 870 kg/m^3, law: constant, modulus: 1.4 GPa}\nvolumes: {A: {volume: 1 l}}\n"
      "tanks: {T: {pressure: 0 bar}}\npumps: {p: {from: A, to: T, flow: 1 l/min}}\ninitial: {A.pressure: 100 bar}\n"
      "run: {time: 10 s, outputs: [A.pressure]}\n";
  static const double steps[] = {0.5e-3, 0.1, 1, 10};
  const od_integrator *integrator;
  for (int k = 0; (integrator = od_integrator_at(k)); k++)
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++)
      for (int really = 0; really < 2; really++) {
        od_machine *m = od_test_machine_text(really ? drawn : emptied);
        od_run_report report = {0};
        od_table *t = run(m, integrator->name, steps[i], &report);
        assert_non_null(t);
        assert_int_equal(od_verdict_has(&report.verdict, "cavitation"), really || i > 0);
        assert_int_equal(od_verdict_has(&report.verdict, "step.vacuum"), !really && i > 0);
        assert_int_equal(report.verdict.trust, really || i == 0 ? OD_SOUND : OD_UNSOUND);
        od_run_report_free(&report);
        od_table_free(t);
        od_machine_free(m);
      }
}

// x is the time; integrals of a branch of a formula, a quantizer and a sign of x, which jump within steps, in closed form at the end of
// 1 s. With every integrator the error is not much larger than reported, long steps are reported, and short ones are sound.
static void jumps_within_steps_are_told(void **state) {
  (void)state;
  static const char text[] =
      "inputs: {one: {unit: '1', constant: 1}}\nblocks:\n"
      "  x: {type: integrator, input: one, gain: 1}\n"
      "  branch: {type: formula, inputs: {x: x}, formula: 'if(x > 0.533, 1, 0)'}\n"
      "  level: {type: quantiser, input: x, step: 0.37}\n"
      "  less: {type: gain, input: one, gain: 0.533}\n"
      "  beyond: {type: sum, inputs: [x, less], weights: [1, -1]}\n"
      "  side: {type: sign, input: beyond}\n"
      "  y1: {type: integrator, input: branch, gain: 1}\n"
      "  y2: {type: integrator, input: level, gain: 1}\n"
      "  y3: {type: integrator, input: side, gain: 1}\n"
      "run: {time: 1 s, outputs: [y1, y2, y3, branch, level]}\n";
  static const double exact[] = {0.467, 0.37 * 0.37 + 0.74 * 0.37 + 1.11 * 0.075, -0.066};
  const od_integrator *integrator;
  for (int k = 0; (integrator = od_integrator_at(k)); k++)
    for (int brief = 0; brief < 2; brief++) {
      od_machine *m = od_test_machine_text(text);
      od_run_report report = {0};
      od_table *t = run(m, integrator->name, brief ? 1e-3 : 0.1, &report);
      assert_non_null(t);
      for (int i = 0; i < 3; i++) {
        od_summary rows = od_table_summary(t, 1 + i);
        double off = fabs(t->data[(t->rows - 1) * t->columns + 1 + i] - exact[i]) / (rows.max - rows.min);
        assert_true(brief || report.accuracy.error[i].part >= 0.95 * off);
      }
      assert_int_equal(od_verdict_has(&report.verdict, "step.long"), !brief);
      assert_int_equal(report.verdict.trust == OD_SOUND, brief);
      od_run_report_free(&report);
      od_table_free(t);
      od_machine_free(m);
    }
}

// A spool crosses zero after 0.5337 s. Curves that begin half open jump there, and then stay constant: from then on the root of the pressure
// difference falls linearly with time, which is the closed form. Long steps are reported, and short ones are sound. A curve that begins
// with zero does not jump, nor does a flow coefficient.
static void curves_that_begin_open_are_told(void **state) {
  (void)state;
  static const struct {
    const char *curve;
    bool jumps;
  } cases[] = {{"curve: {table: [[2 V, 0.5], [8 V, 0.5]]}", true},
               {"curve: {degree: 2, points: [0.5, 0.5, 0.5]}", true},
               {"curve: {degree: 1, at: [-5 V, -1 V, 10 V], points: [0, 0.5, 0.5]}", true},
               {"curve: {degree: 1, at: [-5 V, 0 V, 10 V], points: [0.5, 0, 0.5]}", false},
               {"curve: {table: [[2 V, 0.5], [8 V, 0.5]]}", false}};  // the law of the last one is a coefficient
  const int count = sizeof cases / sizeof *cases;
  double rate = 1.4e9 / 1e-3 * 1e-7 * 0.6 * sqrt(2 / 870.0) * 0.5, root = sqrt(100e5) - rate * (1 - 0.5337) / 2;
  for (int i = 0; i < 3 * 2 * count; i++) {
    const int c = i / 6, brief = i % 2;
    char text[900];
    snprintf(text, sizeof text,
             "oil: {density: 870 kg/m^3, law: constant, modulus: 1.4 GPa}\nvolumes: {X: {volume: 1 L}}\n"
             "sources: {P: {pressure: 101 bar}}\ninitial: {X.pressure: 1 bar}\n"
             "inputs: {u: {unit: V, sine: {amplitude: 1 V, frequency: 0.25 Hz, phase: -48.033 deg}}}\n"
             "valves: {v: {command: u, stroke: 10 V, area: 0.1 mm^2, discharge: 0.6, law: %s,\n"
             "    ports: {a: {between: [P, X], side: positive, %s}}}}\nrun: {time: 1 s, outputs: [X.pressure]}\n",
             c == count - 1 ? "coefficient" : "opening", cases[c].curve);
    od_machine *m = od_test_machine_text(text);
    od_run_report report = {0};
    od_table *t = run(m, od_integrator_at(i / 2 % 3)->name, brief ? 1e-3 : 0.1, &report);
    assert_non_null(t);
    od_summary rows = od_table_summary(t, 1);
    double off = fabs(t->data[(t->rows - 1) * t->columns + 1] - (101e5 - root * root)) / (rows.max - rows.min);
    if (cases[c].jumps)
      print_message("%s, %s steps of %s: off by %.3g, measured %.3g\n", cases[c].curve, brief ? "short" : "long",
                    od_integrator_at(i / 2 % 3)->name, off, report.accuracy.error[0].part);
    assert_true(!cases[c].jumps || brief || report.accuracy.error[0].part >= 0.95 * off);
    assert_true(!cases[c].jumps || !brief || (off < 0.01 && report.verdict.trust == OD_SOUND));
    assert_true(od_verdict_has(&report.verdict, "step.long") == (report.accuracy.error[0].part > OD_ACCURATE));
    od_run_report_free(&report);
    od_table_free(t);
    od_machine_free(m);
  }
}

// CVODES with a loose tolerance, against the pressure at which the orifice's flow equals the pump's, which a lower initial
// pressure never exceeds. A tolerance below round-off ends the run immediately, which is not a sound result either.
static void loose_tolerances_are_told(void **state) {
  (void)state;
  static const double tolerance[] = {1, 1e-3, 1e-9, 1e-18};
  double flow = 20e-3 / 60, root = flow / (0.6 * 5e-6), highest = 1e5 + root * root * 870 / 2;
  od_machine *m = od_test_machine_text(seal);
  const od_run_defaults *file = od_machine_run(m);
  for (int i = 0; i < 4; i++) {
    const od_run_options options = {
        .step = 1e-3, .integrator = "cvodes", .tolerance = tolerance[i], .outputs = file->outputs, .output_count = 1};
    od_run_report report = {0};
    od_table *t = NULL;
    assert_true((od_run(m, &options, &t, &report, NULL) == OD_OK) == (i < 3));
    double off = fabs(od_table_summary(t, 1).max / highest - 1);
    print_message("tolerance %g: the highest pressure is off by %.2g\n", tolerance[i], off);
    assert_int_equal(report.verdict.trust, i == 0 ? OD_UNSOUND : i == 3 ? OD_DOUBTFUL : OD_SOUND);
    assert_int_equal(od_verdict_has(&report.verdict, "tolerance.loose"), i == 0);
    assert_int_equal(od_verdict_has(&report.verdict, "run.incomplete"), i == 3);
    assert_true(off > 0.05 ? i == 0 || i == 3 : i == 1 || i == 2);
    od_run_report_free(&report);
    od_table_free(t);
  }
  od_machine_free(m);
}

// The energy balance of a run is checked even if it is not recorded.
static void lost_energy_is_told(void **state) {
  (void)state;
  od_machine *m = od_test_machine_text(pendulum);
  od_run_report report = {0};
  od_table *t = run(m, "trapezoid", 1e-3, &report);
  assert_true(od_verdict_has(&report.verdict, "energy.balance"));
  assert_true(od_verdict_has(&report.verdict, "step.long"));
  assert_true(fabs(report.accuracy.balance) > 0.01 * report.accuracy.moved);
  od_run_report_free(&report);
  od_table_free(t);
  t = run(m, "trapezoid", 1e-5, &report);
  assert_false(od_verdict_has(&report.verdict, "energy.balance"));
  od_run_report_free(&report);
  od_table_free(t);
  od_machine_free(m);
}

// A sine with whole periods in a step looks constant at the steps.
static void inputs_faster_than_the_steps_are_told(void **state) {
  (void)state;
  static const char *const frequency[] = {"1000 Hz", "20 Hz"};
  for (int i = 0; i < 2; i++) {
    char text[300];
    snprintf(text, sizeof text,
             "machine: lag\ninputs: {u: {sine: {amplitude: 1, frequency: %s}}}\n"
             "blocks: {y: {type: first-order, input: u, time_constant: 20 ms}}\n"
             "run: {time: 0.5 s, step: 1 ms, outputs: [y]}\n",
             frequency[i]);
    od_machine *m = od_test_machine_text(text);
    od_run_report report = {0};
    od_table *t = run(m, "trapezoid", 0, &report);
    assert_int_equal(od_verdict_has(&report.verdict, "step.long"), i == 0);
    if (i == 1) assert_int_equal(report.verdict.trust, OD_SOUND);
    od_run_report_free(&report);
    od_table_free(t);
    od_machine_free(m);
  }
}

// A sampled block without an effect, with samples at every step or every fourth, does not change the error. The
// reference is CVODES.
static void samples_leave_the_error_as_it_is(void **state) {
  (void)state;
  static const char *const blocks[] = {"",
                                       "inputs: {u: 1}\nblocks: {y: {type: gain, input: u, gain: 1, sample: 20 ms}}\n"};
  for (int i = 0; i < 4; i++) {
    char text[500];
    snprintf(text, sizeof text,
             "machine: pendulum\ngravity: [0, -9.81]\nbodies: {rod: {beam: {mass: 1 kg, length: 1 m}}}\n"
             "joints: {hinge: {type: revolute, between: [ground, rod.start]}}\n%s"
             "initial: {hinge.angle: -30 deg}\nrun: {time: 10 s, step: %s, outputs: [hinge.angle]}\n",
             blocks[i % 2], i < 2 ? "5 ms" : "20 ms");
    od_machine *m = od_test_machine_text(text);
    od_run_report report = {0};
    double step = od_machine_run(m)->step;
    od_table *t = run(m, "trapezoid", step, &report), *c = run(m, "cvodes", step, NULL);
    double ratio = measured_error(&report) / table_error(t, c);
    print_message("%s samples: true error %.3g, measured %.3g times that\n", i % 2 ? "with" : "without",
                  table_error(t, c), ratio);
    assert_true(ratio > 0.9 && ratio < 1.1);
    od_run_report_free(&report);
    od_table_free(t);
    od_table_free(c);
    od_machine_free(m);
  }
}

// A machine at rest has neither error nor range.
static void rest_is_sound(void **state) {
  (void)state;
  od_machine *m = od_test_machine_text(
      "machine: hanging\ngravity: [0, -9.81]\nbodies: {rod: {beam: {mass: 2 kg, length: 0.8 m}}}\n"
      "joints: {hinge: {type: revolute, between: [ground, rod.start], damping: 1}}\n"
      "initial: {hinge.angle: -90 deg}\nrun: {time: 2 s, step: 10 ms, outputs: [hinge.angle, hinge.rate, rod.end.x]}\n");
  od_run_report report = {0};
  od_table *t = run(m, "trapezoid", 0, &report);
  assert_int_equal(report.verdict.trust, OD_SOUND);
  od_run_report_free(&report);
  od_table_free(t);
  od_machine_free(m);
}

// The net flow into a junction is zero except for round-off, which the verdict must not report.
static void rounding_at_junctions_is_sound(void **state) {
  (void)state;
  od_machine *m = od_test_machine_text(
      "machine: junction\noil: {density: 870 kg/m^3, law: constant, modulus: 1.2 GPa}\nvolumes: {P: {volume: 0.5 L}}\n"
      "tanks: {T: {pressure: 1 bar}}\njunctions: [K]\npumps: {p: {to: P, from: T, flow: 30 L/min}}\n"
      "orifices: {a: {between: [P, K], area: 9 mm^2, discharge: 0.7}, b: {between: [K, T], area: 6 mm^2, discharge: 0.7}}\n"
      "initial: {P.pressure: 10 bar}\nrun: {time: 1 s, outputs: [P.pressure, K.pressure, K.inflow]}\n");
  od_run_report report = {0};
  od_table *t = run(m, "tr-bdf2", 1e-3, &report);
  assert_non_null(t);
  assert_int_equal(report.verdict.trust, OD_SOUND);
  assert_true(report.accuracy.worst >= 0 && report.accuracy.worst < 2);
  od_run_report_free(&report);
  od_table_free(t);
  od_machine_free(m);
}

// A circuit that reaches a steady state: round-off of the rates must not accumulate in the error estimate. Oracle: CVODES.
static void an_error_does_not_grow_at_rest(void **state) {
  (void)state;
  static const char circuit[] =
      "machine: load sensing\noil: {density: 870 kg/m^3, law: constant, modulus: 1.2 GPa}\n"
      "volumes: {P: {volume: 0.5 L}, M: {volume: 0.1 L}, L: {volume: 0.3 L}}\ntanks: {T: {pressure: 1 bar}}\n"
      "sensing_pumps: {ls: {to: P, load: L, flow: 60 L/min, margin: 20 bar, cutoff: 250 bar, range: 4 bar}}\n"
      "compensators: {comp: {between: [P, M], pilot: L, set: 8 bar, range: 4 bar, area: 40 mm^2}}\n"
      "orifices: {meter: {between: [M, L], area: 10 mm^2, discharge: 0.7},\n"
      "  load: {between: [L, T], area: 3 mm^2, discharge: 0.7}}\n"
      "initial: {P.pressure: 20 bar, M.pressure: 10 bar, L.pressure: 2 bar}\n"
      "run: {time: 2 s, outputs: [P.pressure, M.pressure, L.pressure]}\n";
  static const double steps[] = {1e-4, 5e-5, 2e-5};
  od_machine *m = od_test_machine_text(circuit);
  for (size_t i = 0; i < 3; i++) {
    od_run_report report = {0};
    od_table *t = run(m, "tr-bdf2", steps[i], &report), *c = run(m, "cvodes", steps[i], NULL);
    print_message("steps of %g s: true error %.3g, measured %.3g\n", steps[i], table_error(t, c),
                  measured_error(&report));
    assert_true(table_error(t, c) < 0.01);
    assert_int_equal(report.verdict.trust, OD_SOUND);
    od_run_report_free(&report);
    od_table_free(t);
    od_table_free(c);
  }
  od_machine_free(m);
}

// A universal joint without friction: in theory its torque is zero, and the computed torque is round-off. Two runs agree on its
// force, but not on the round-off.
static void rounding_beside_a_force_is_sound(void **state) {
  (void)state;
  static const char rod[] =
      "machine: rod on a universal joint\ngravity: [0, 0, -9.81]\nbodies: {rod: {beam: {mass: 2 kg, length: 0.8 m}}}\n"
      "joints: {cross: {type: universal, between: [ground, rod.start], axes: [[1, 0, 0], [0, 1, 0]]}}\n"
      "initial: {cross.angle1: 0.4, cross.angle2: 0.3, cross.rate2: 3}\nrun: {time: 1 s, outputs: [%s]}\n";
  static const char *const outputs[] = {"cross.torque_x", "cross.torque, cross.force_x", "'cross.*'"};
  for (size_t i = 0; i < sizeof outputs / sizeof *outputs; i++) {
    char text[500];
    snprintf(text, sizeof text, rod, outputs[i]);
    od_machine *m = od_test_machine_text(text);
    const od_run_defaults *file = od_machine_run(m);
    const od_run_options options = {.step = 1e-3,
                                    .adaptive = true,
                                    .integrator = "tr-bdf2",
                                    .outputs = file->outputs,
                                    .output_count = file->output_count};
    od_run_report report = {0};
    od_table *t = NULL;
    assert_int_equal(od_run(m, &options, &t, &report, NULL), OD_OK);
    od_summary s = od_table_summary(t, 1);
    if (i == 0) assert_true(s.max - s.min > 0 && s.max - s.min < 1e-9);  // the round-off is there
    print_message("%s: error %.3g of the range\n", outputs[i], measured_error(&report));
    assert_int_equal(report.verdict.trust, OD_SOUND);
    od_run_report_free(&report);
    od_table_free(t);
    od_machine_free(m);
  }
}

// --- Calibration --------------------------------------------------------------------------------------------------

// Bad runs have errors above 3 %, good ones below 0.3 % of the range; in between either verdict is correct.
typedef struct tally {
  int bad, missed, good, alarms, failed;
} tally;

static void judge_one(uint64_t seed, const char *integrator, bool verbose, tally *n) {
  char text[8000];
  od_random_file(seed, text, sizeof text);
  od_machine *m = od_test_machine_text(text);
  od_dice dice = {seed * 77 + 5};
  od_dice_uniform(&dice, 0, 1);
  double time = od_machine_run(m)->time, steps = ceil(time / exp(od_dice_uniform(&dice, log(3e-5), log(3e-2))));
  od_run_report report = {0};
  od_table *t = run(m, integrator, time / steps, &report);
  od_table *c = t ? run(m, "cvodes", time / steps, NULL) : NULL;
  n->failed += !c;
  if (c) {
    double error = table_error(t, c), estimate = measured_error(&report);
    bool bad = !(error <= 0.03), good = error < 0.003, warned = report.verdict.trust != OD_SOUND;
    n->bad += bad;
    n->good += good;
    n->missed += bad && !warned;
    n->alarms += good && warned;
    if (verbose)
      printf("%llu: step %.3g s, true %.3g, measured %.3g, ratio %.3g%s\n", (unsigned long long)seed, time / steps,
             error, estimate, estimate / error,
             bad && !warned   ? " MISSED"
             : good && warned ? " FALSE ALARM"
                              : "");
  }
  od_run_report_free(&report);
  od_table_free(t);
  od_table_free(c);
  od_machine_free(m);
}

static tally judge(uint64_t first, int count, const char *integrator, bool verbose) {
  tally n = {0};
  for (int i = 0; i < count; i++) judge_one(first + (uint64_t)i, integrator, verbose, &n);
  printf("%d machines, %d of them failed: %d bad, %d missed (%.1f %%); %d good, %d false alarms (%.1f %%)\n", count,
         n.failed, n.bad, n.missed, 100.0 * n.missed / n.bad, n.good, n.alarms, 100.0 * n.alarms / n.good);
  return n;
}

static void bad_runs_are_told_and_good_ones_left_alone(void **state) {
  (void)state;
  tally n = judge(9001, 60, "trapezoid", false);
  assert_true(n.bad >= 10 && n.good >= 20 && n.failed <= 5);
  assert_true(n.missed <= 1 && n.alarms <= 2);
}

int main(int argc, char **argv) {
  if (argc > 3 && !strcmp(argv[1], "calibrate")) {
    judge(strtoull(argv[2], NULL, 10), atoi(argv[3]), argc > 4 ? "rk4" : "trapezoid", true);
    return 0;
  }
  const struct CMUnitTest tests[] = {cmocka_unit_test(the_error_agrees_with_closed_forms),
                                     cmocka_unit_test(large_machines_are_judged),
                                     cmocka_unit_test(vacuum_by_long_steps_is_told),
                                     cmocka_unit_test(jumps_within_steps_are_told),
                                     cmocka_unit_test(curves_that_begin_open_are_told),
                                     cmocka_unit_test(steps_that_are_too_long_are_told),
                                     cmocka_unit_test(loose_tolerances_are_told),
                                     cmocka_unit_test(lost_energy_is_told),
                                     cmocka_unit_test(inputs_faster_than_the_steps_are_told),
                                     cmocka_unit_test(samples_leave_the_error_as_it_is),
                                     cmocka_unit_test(rest_is_sound),
                                     cmocka_unit_test(rounding_at_junctions_is_sound),
                                     cmocka_unit_test(an_error_does_not_grow_at_rest),
                                     cmocka_unit_test(rounding_beside_a_force_is_sound),
                                     cmocka_unit_test(bad_runs_are_told_and_good_ones_left_alone)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
