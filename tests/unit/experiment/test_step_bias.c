// Bias of an observer's estimates due to its steps. The oracle is the same observer with sixteen times shorter steps on
// the same data: their difference is due to the steps alone. The data come from CVODES.
//
//   unit.experiment.step_bias                          the tests
//   unit.experiment.step_bias calibrate 1 100          100 random servo axes, a line for each estimate
#include "support/test.h"

#include <math.h>
#include <stdlib.h>

#include "random/random.h"
#include "experiment/observe.h"
#include "simulate/run.h"
#include "support/experiments.h"
#include "support/machines.h"
#include "support/random_machine.h"
#include "support/scratch.h"

enum { FINER = 16 };

// A cylinder on a mass, driven by a valve with an oscillating command; the ratio of its time constants to the steps is
// drawn.
typedef struct axis {
  double mass, line, modulus, supply, leakage, viscous, frequency, bore;
  double step;  // of the log and of the observer
} axis;

static double decades(od_dice *d, double low, double high) {
  return exp(od_dice_uniform(d, log(low), log(high)));
}

static axis random_axis(uint64_t seed) {
  od_dice d = {seed * 7919 + 3};
  od_dice_uniform(&d, 0, 1);
  return (axis){.mass = decades(&d, 100, 2000),
                .line = decades(&d, 3e-5, 6e-4),
                .modulus = decades(&d, 7e8, 1.6e9),
                .supply = od_dice_uniform(&d, 1e7, 2e7),
                .leakage = decades(&d, 1e-12, 1e-11),
                .viscous = decades(&d, 500, 5000),
                .frequency = decades(&d, 1, 8),
                .bore = od_dice_uniform(&d, 0.04, 0.08),
                .step = decades(&d, 2e-4, 8e-3)};
}

// The true machine, or the observer's model at the start (`offset` away in each of the three numbers).
static const char *write_machine(scratch *s, const axis *a, double offset) {
  char text[2500];
  int n = snprintf(
      text, sizeof text,
      "machine: axis\nbodies: {load: {point: {mass: %g}, points: {eye: [0, 0]}}}\nground: {points: {base: [-1, 0]}}\n"
      "joints: {rail: {type: prismatic, between: [ground, load], axis: [1, 0, 0]}}\n"
      "oil: {density: 870, law: constant, modulus: %.12g}\nvolumes: {A: {volume: %g}, B: {volume: %g}}\n"
      "tanks: {T: {pressure: 1e5}}\nsources: {P: {pressure: %.12g}}\n"
      "inputs: {command: {unit: V, sum: [{sine: {amplitude: 4, frequency: %g}}, {sine: {amplitude: 3, frequency: %g}}]}}\n"
      "valves: {valve: {command: command, time_constant: 8 ms, stroke: 10 V, area: 8 mm^2, discharge: 0.6, ports: {\n"
      "  pa: {between: [P, A], side: positive, curve: linear}, bt: {between: [B, T], side: positive, curve: linear},\n"
      "  pb: {between: [P, B], side: negative, curve: linear}, at: {between: [A, T], side: negative, curve: linear}}}}\n"
      "cylinders: {ram: {between: [ground.base, load.eye], chambers: [A, B], bore: %g, rod: %g, closed: 0.7, stroke: 0.6,\n"
      "  leakage: %.12g, friction: {law: coulomb, Fc: 100 N, vs: 20 mm/s, viscous: %g}}}\n"
      "initial: {rail.position: 0, A.pressure: balance, B.pressure: 50 bar}\n"
      "run: {time: 2 s, outputs: [rail.position, A.pressure, B.pressure, command]}\n",
      a->mass, a->modulus * (1 + offset), a->line, a->line, a->supply * (1 - offset / 2), a->frequency,
      2.7 * a->frequency, a->bore, 0.55 * a->bore, a->leakage * (1 + offset), a->viscous);
  return scratch_write(s, offset > 0 ? "model.yaml" : "machine.yaml", text, (size_t)n);
}

// The readings of the sensors, from CVODES.
static void write_log(scratch *s, const axis *a, uint64_t seed) {
  static const double sigma[] = {2e-5, 3e4, 3e4, 0};
  od_machine *m = od_test_machine(write_machine(s, a, 0), NULL);
  const od_run_defaults *file = od_machine_run(m);
  const od_run_options options = {.time = file->time,
                                  .step = a->step,
                                  .integrator = "cvodes",
                                  .tolerance = 1e-9,
                                  .outputs = file->outputs,
                                  .output_count = file->output_count};
  od_table *t = NULL;
  assert_int_equal(od_run(m, &options, &t, NULL, NULL), OD_OK);
  FILE *f = fopen(scratch_path(s, "log.csv"), "w");
  fprintf(f, "time,rail.position,A.pressure,B.pressure,command\n");
  for (long i = 0; i < t->rows; i++) {
    fprintf(f, "%.12g", t->data[i * 5]);
    for (int k = 0; k < 4; k++)
      fprintf(f, ",%.12g",
              t->data[i * 5 + 1 + k] + sigma[k] * od_random_gaussian(seed, (uint32_t)k, (uint64_t)i, OD_USE_NOISE));
    fprintf(f, "\n");
  }
  fclose(f);
  od_table_free(t);
  od_machine_free(m);
}

static const char *write_experiment(scratch *s, const axis *a, double step) {
  char text[1200];
  int n = snprintf(
      text, sizeof text,
      "experiment: axis\nmachine: model.yaml\nstep: %.12g\n"
      "sensors: {rail.position: {sigma: 0.02 mm}, A.pressure: {sigma: 0.3 bar}, B.pressure: {sigma: 0.3 bar}}\n"
      "initial: {rail.position: 0.1 mm, rail.rate: 1 mm/s, A.pressure: 1 bar, B.pressure: 1 bar}\n"
      "noise: {pressures: %g, acceleration: 1e-3}\n"
      "parameters: {P.pressure: {sigma: %g}, ram.leakage: {sigma: %g}, oil.modulus: {sigma: %g}}\n"
      "data: {file: log.csv}\n",
      step, 1000 * sqrt(step / a->step), 0.1 * a->supply, 0.3 * a->leakage, 0.3 * a->modulus);
  return scratch_write(s, "experiment.yaml", text, (size_t)n);
}

typedef struct estimates {
  double value[3], sigma[3], bias[3];
  bool warned;
} estimates;

static estimates estimate(scratch *s, const axis *a, double step) {
  const od_experiment_options none = {0};
  od_experiment *e = load_experiment(write_experiment(s, a, step), &none);
  od_observed *o = observe(e);
  estimates found = {.warned = od_verdict_has(&o->verdict, "step.shift")};
  for (int i = 0; i < 3; i++) {
    found.value[i] = o->estimate[i];
    found.sigma[i] = o->sigma[i];
    found.bias[i] = o->bias[i];
  }
  od_observed_free(o);
  od_experiment_free(e);
  return found;
}

// Shifts above 1.5 sigma must be reported, those below 0.15 must not; in between either verdict is correct.
typedef struct tally {
  int bad, missed, good, alarms;
} tally;

static void judge_one(scratch *s, uint64_t seed, bool verbose, tally *n) {
  axis a = random_axis(seed);
  write_log(s, &a, seed);
  write_machine(s, &a, 0.05);
  estimates coarse = estimate(s, &a, a.step), fine = estimate(s, &a, a.step / FINER);
  double worst = 0;
  for (int i = 0; i < 3; i++) {
    double shift = (coarse.value[i] - fine.value[i]) / coarse.sigma[i];
    worst = fmax(worst, fabs(shift));
    if (verbose)
      printf("%llu: step %.2g s, shift %.3g sigma, estimated %.3g\n", (unsigned long long)seed, a.step, shift,
             coarse.bias[i] / coarse.sigma[i]);
  }
  bool bad = worst > 1.5, good = worst < 0.15;
  n->bad += bad;
  n->good += good;
  n->missed += bad && !coarse.warned;
  n->alarms += good && coarse.warned;
  if (verbose && bad && !coarse.warned) printf("  MISSED\n");
  if (verbose && good && coarse.warned) printf("  FALSE ALARM\n");
}

static tally judge(scratch *s, uint64_t first, int count, bool verbose) {
  tally n = {0};
  for (int i = 0; i < count; i++) judge_one(s, first + (uint64_t)i, verbose, &n);
  printf("%d axes: %d bad, %d missed; %d good, %d false alarms\n", count, n.bad, n.missed, n.good, n.alarms);
  return n;
}

static void shifts_are_told(void **state) {
  tally n = judge(*state, 101, 12, false);
  assert_true(n.bad >= 3 && n.good >= 1);
  assert_int_equal(n.missed, 0);
  assert_int_equal(n.alarms, 0);
}

// The size of the shift, and its remainder with the shorter step.
static void the_shift_is_as_large_as_told(void **state) {
  scratch *s = *state;
  axis a = {500, 1.5e-4, 9.5e8, 1.5e7, 4e-12, 800, 5, 0.063, 2e-3};
  write_log(s, &a, 1);
  write_machine(s, &a, 0.05);
  estimates coarse = estimate(s, &a, a.step), fine = estimate(s, &a, a.step / FINER);
  double shift = coarse.value[2] - fine.value[2];
  print_message("modulus shifted by %.3g MPa, %.3g sigma; reported %.3g MPa\n", 1e-6 * shift, shift / coarse.sigma[2],
                1e-6 * coarse.bias[2]);
  assert_true(fabs(shift) > 2 * coarse.sigma[2]);
  assert_true(fabs(coarse.bias[2] / shift - 1) < 0.25);
  assert_true(coarse.warned);
  assert_true(fabs(fine.bias[2]) < 0.1 * fine.sigma[2]);
  assert_false(fine.warned);
}

int main(int argc, char **argv) {
  if (argc > 3 && !strcmp(argv[1], "calibrate")) {
    void *state = NULL;
    if (scratch_setup(&state) != 0) return 1;
    judge(state, strtoull(argv[2], NULL, 10), atoi(argv[3]), true);
    return scratch_teardown(&state);
  }
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(the_shift_is_as_large_as_told, scratch_setup, scratch_teardown),
      cmocka_unit_test_setup_teardown(shifts_are_told, scratch_setup, scratch_teardown)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
