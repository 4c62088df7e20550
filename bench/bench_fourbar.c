// The four-bar's free swing, compared with MuJoCo in one run on one core: cost per step, error of the coupler's joints
// after 1 s against an accurate reference, cost per simulated second at equal error, cost of the transition Jacobian.
// Also the same four-bar with hydraulics, which MuJoCo does not have.
//
//   bench_fourbar INSTRUCTIONS.sh SWING.yaml HYDRAULIC.yaml   (cases/fourbar-swing, cases/fourbar-valve)
//   bench_fourbar --steps COUNT WHICH FILE.yaml               only COUNT steps of one row, for instructions.sh
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fourbar_subjects.h"
#include "instructions.h"

enum { MAX_ROWS = 32 };
static const double target = 0.025e-3;  // m: the error at which costs are compared

typedef struct table {
  bench_subject row[MAX_ROWS];
  int count;
  bench_reference reference;
} table;

// Adds a subject to the table with its error. Returns its index, or -1 if the subject is missing.
static int keep(table *t, int made, bench_subject subject) {
  if (made != 0 || t->count == MAX_ROWS) return -1;
  if (subject.ends != NULL) bench_compare(&subject, &t->reference);
  if (subject.steps == 0) subject.steps = subject.ends != NULL ? (int)lround(1 / subject.step) : 500;
  t->row[t->count] = subject;
  return t->count++;
}

static int add_mujoco(table *t, int mode, double step, double hardness) {
  if (bench_own_only()) return -1;
  bench_subject subject;
  const int made = bench_mujoco_new(&subject, &t->reference, mode, step, hardness);
  return keep(t, made, subject);
}

static int add_oleodyn(table *t, const char *file, const char *figure, int mode, double step) {
  bench_subject subject;
  const int made = bench_oleodyn_new(&subject, file, mode, step);
  subject.figure = figure;
  return keep(t, made, subject);
}

static int add_hydraulic(table *t, const char *file, const char *figure, int mode) {
  bench_subject subject;
  const int made = bench_hydraulic_new(&subject, file, mode, 1e-3);
  subject.figure = figure;
  return keep(t, made, subject);
}

// Rows whose instructions are counted, by their name for --steps.
typedef struct counted {
  const char *name;
  int few, many;
} counted;
static const counted count_euler = {"mujoco", 200, 1000};
static const counted count_forward = {"mujoco-differences", 20, 120};
static const counted count_plain = {"plain", 200, 1000};
static const counted count_jacobian = {"jacobian", 200, 1000};
static const counted count_hydraulic = {"hydraulic", 250, 1250};
static const counted count_hydraulic_jacobian = {"hydraulic-jacobian", 250, 1250};
static const counted count_hydraulic_masses = {"hydraulic-jacobian-masses", 250, 1250};

static int make_named(const char *name, const char *file, const bench_reference *reference, bench_subject *subject) {
  if (strcmp(name, count_euler.name) == 0) return bench_mujoco_new(subject, reference, BENCH_EULER, 1e-3, 0);
  if (strcmp(name, count_forward.name) == 0)
    return bench_mujoco_new(subject, reference, BENCH_FORWARD_DIFFERENCES, 1e-3, 0);
  if (strcmp(name, count_plain.name) == 0) return bench_oleodyn_new(subject, file, BENCH_TRAPEZOID, 1e-3);
  if (strcmp(name, count_jacobian.name) == 0) return bench_oleodyn_new(subject, file, BENCH_TRAPEZOID_JACOBIAN, 1e-3);
  if (strcmp(name, count_hydraulic.name) == 0) return bench_hydraulic_new(subject, file, BENCH_TRAPEZOID, 1e-3);
  if (strcmp(name, count_hydraulic_jacobian.name) == 0)
    return bench_hydraulic_new(subject, file, BENCH_TRAPEZOID_JACOBIAN, 1e-3);
  if (strcmp(name, count_hydraulic_masses.name) == 0)
    return bench_hydraulic_new(subject, file, BENCH_TRAPEZOID_JACOBIAN_MASSES, 1e-3);
  return -1;
}

static int only_steps(const char *steps, const char *name, const char *file) {
  bench_reference reference;
  bench_subject subject;
  if (bench_reference_make(&reference) != 0 || make_named(name, file, &reference, &subject) != 0) return 1;
  const int failed = subject.start(subject.self) != 0 || bench_advance(&subject, atoi(steps)) != 0;
  subject.destroy(subject.self);
  return failed;
}

static void count(table *t, int row, const counted *c, char **argv, const char *file) {
  if (row < 0) return;
  const bench_callgrind how = {
      .script = argv[1], .program = argv[0], .arguments = {c->name, file}, .few = c->few, .many = c->many};
  t->row[row].instructions = bench_instructions(&t->row[row], &how);
}

// MuJoCo's cheapest settings for the target error: the fewest RK4 steps in a second, over steps and hardnesses. Harder
// constraints have smaller errors but need smaller steps.
static int search_mujoco(table *t) {
  if (bench_own_only()) return -1;
  for (int steps = 200; steps <= 1000; steps += 10)
    for (double hardness = 1e5; hardness < 2e6; hardness *= 1.1) {
      bench_subject subject;
      if (bench_mujoco_new(&subject, &t->reference, BENCH_RK4, 1.0 / steps, hardness) != 0) return -1;
      bench_compare(&subject, &t->reference);
      if (bench_error(&subject) <= target) return keep(t, 0, subject);
      subject.destroy(subject.self);
    }
  return -1;
}

// oleodyn's cheapest settings: the largest step of the trapezoidal rule that divides a second and stays within the
// target.
static int search_oleodyn(table *t, const char *file) {
  for (int steps = 20; steps <= 5000; steps += 1 + steps / 100) {
    bench_subject subject;
    if (bench_oleodyn_new(&subject, file, BENCH_TRAPEZOID, 1.0 / steps) != 0) return -1;
    bench_compare(&subject, &t->reference);
    if (bench_error(&subject) <= target) return keep(t, 0, subject);
    subject.destroy(subject.self);
  }
  return -1;
}

static void print(const table *t) {
  printf("%-52s %8s %9s %8s %12s %10s %10s %16s\n", "simulator, integrator", "step ms", "us/step", "spread",
         "instr./step", "start mm", "end mm", "us per simul. s");
  for (int i = 0; i < t->count; i++) {
    const bench_subject *s = &t->row[i];
    printf("%-52s %8.3f", s->name, 1e3 * s->step);
    bench_print_number(1e6 * bench_best(s), 9, 3);
    bench_print_spread(s);
    bench_print_number(s->instructions, 12, 0);
    if (s->ends != NULL)
      printf(" %10.4f %10.4f", 1e3 * s->error[0], 1e3 * s->error[1]);
    else
      printf(" %10s %10s", "-", "-");
    bench_print_number(s->ends != NULL ? 1e6 * bench_best(s) / s->step : NAN, 16, 0);
    printf("\n");
  }
  printf("start, end: errors of the coupler's two joints after 1 s (the larger counts); instructions by %s\n",
         bench_instructions_source());
  bench_print_method(t->row, t->count);
  printf("\n");
}

// Indices of the rows for the sentences below the table; negative: no such row.
typedef struct rows {
  int euler, hard, mujoco, forward, trapezoid, jacobian, oleodyn, hydraulic, hydraulic_jacobian, hydraulic_masses;
} rows;

static void judge(const table *t, const rows *r) {
  const double step_us = 1e6 * bench_best(&t->row[r->trapezoid]), with_us = 1e6 * bench_best(&t->row[r->jacobian]);
  printf("transition Jacobian alone: %.2f us (step with Jacobian %.2f, without %.2f)\n", with_us - step_us, with_us,
         step_us);
  if (r->oleodyn >= 0) {
    const bench_subject *ours = &t->row[r->oleodyn];
    printf("at an error of %.3f mm: oleodyn %.0f us per simulated second at %.2f ms\n", 1e3 * target,
           1e6 * bench_best(ours) / ours->step, 1e3 * ours->step);
    const double cost = bench_best(ours) / ours->step;
    if (r->hard >= 0) {
      const double theirs = bench_best(&t->row[r->hard]) / t->row[r->hard].step;
      bench_verdict("must", "cheaper per simulated second than MuJoCo RK4, hard, 1 ms", theirs / cost, "times ", 5,
                    true);
    }
    if (r->mujoco >= 0) {
      const double theirs = bench_best(&t->row[r->mujoco]) / t->row[r->mujoco].step;
      bench_verdict("must", "cheaper than the best MuJoCo found (step and hardness searched)", theirs / cost, "times ",
                    5, true);
    }
  }
  if (r->forward >= 0) {
    const double theirs = 1e6 * bench_best(&t->row[r->forward]);
    bench_verdict("must", "step with exact Jacobian against MuJoCo's forward differences", with_us, "us ", theirs,
                  false);
    printf("      that is %.2f times cheaper\n", theirs / with_us);
  }
  const double oil_us = 1e6 * bench_best(&t->row[r->hydraulic]),
               oil_with_us = 1e6 * bench_best(&t->row[r->hydraulic_jacobian]);
  printf(
      "hydraulic four-bar, variant 6-S1, 6 states: step %.2f us, with transition Jacobian in 18 parameters %.2f us\n",
      oil_us, oil_with_us);
  bench_verdict("must", "the same with masses and lengths of the three bodies as well",
                1e6 * bench_best(&t->row[r->hydraulic_masses]) / oil_with_us, "times ", 1.5, false);
  if (r->forward >= 0)
    bench_verdict("goal", "hydraulic step with exact Jacobian against MuJoCo's forward differences without hydraulics",
                  oil_with_us, "us ", 1e6 * bench_best(&t->row[r->forward]), false);
  if (r->euler >= 0)
    bench_verdict("goal", "one implicit step against MuJoCo's Euler step", step_us, "us ",
                  1e6 * bench_best(&t->row[r->euler]), false);
}

int main(int argc, char **argv) {
  if (argc == 5 && strcmp(argv[1], "--steps") == 0) return only_steps(argv[2], argv[3], argv[4]);
  if (argc != 4) {
    fprintf(stderr,
            "usage: bench_fourbar INSTRUCTIONS.sh SWING.yaml HYDRAULIC.yaml\n"
            "       bench_fourbar --steps COUNT WHICH FILE.yaml\n");
    return 2;
  }
  const char *file = argv[2], *hydraulic_file = argv[3];
  static table t;
  bench_pin();
  if (bench_reference_make(&t.reference) != 0) return 1;

  // The rows.
  const int euler = add_mujoco(&t, BENCH_EULER, 1e-3, 0);
  add_mujoco(&t, BENCH_EULER, 2.5e-4, 0);
  const int hard = add_mujoco(&t, BENCH_RK4, 1e-3, 2.5e5);
  const int mujoco = search_mujoco(&t);
  const int forward = add_mujoco(&t, BENCH_FORWARD_DIFFERENCES, 1e-3, 0);
  add_mujoco(&t, BENCH_CENTRED_DIFFERENCES, 1e-3, 0);
  const int trapezoid = add_oleodyn(&t, file, "four-bar step", BENCH_TRAPEZOID, 1e-3);
  if (trapezoid < 0) return 1;
  add_oleodyn(&t, file, "four-bar step, RK4", BENCH_OLEODYN_RK4, 1e-3);
  const int jacobian = add_oleodyn(&t, file, "four-bar step with Jacobian", BENCH_TRAPEZOID_JACOBIAN, 1e-3);
  const int oleodyn = search_oleodyn(&t, file);
  const int hydraulic = add_hydraulic(&t, hydraulic_file, "hydraulic step", BENCH_TRAPEZOID);
  const int hydraulic_jacobian =
      add_hydraulic(&t, hydraulic_file, "hydraulic step with Jacobian, 18 parameters", BENCH_TRAPEZOID_JACOBIAN);
  const int hydraulic_masses =
      add_hydraulic(&t, hydraulic_file, "hydraulic step with Jacobian, 18 parameters and 6 masses and lengths",
                    BENCH_TRAPEZOID_JACOBIAN_MASSES);
  if (hydraulic < 0 || hydraulic_jacobian < 0 || hydraulic_masses < 0) return 1;

  if (bench_settle(t.row, t.count) != 0) return 1;
  count(&t, euler, &count_euler, argv, file);
  count(&t, forward, &count_forward, argv, file);
  count(&t, trapezoid, &count_plain, argv, file);
  count(&t, jacobian, &count_jacobian, argv, file);
  count(&t, hydraulic, &count_hydraulic, argv, hydraulic_file);
  count(&t, hydraulic_jacobian, &count_hydraulic_jacobian, argv, hydraulic_file);
  count(&t, hydraulic_masses, &count_hydraulic_masses, argv, hydraulic_file);

  for (int i = 0; i < t.count; i++) bench_write_figures(&t.row[i]);

  if (bench_mujoco_version() != NULL)
    printf("Four-bar, free swing; MuJoCo %s\n\n", bench_mujoco_version());
  else
    printf("Four-bar, free swing; MuJoCo (libmujoco-dev) was not found, so its rows are missing\n\n");
  print(&t);

  const rows r = {euler,           hard, mujoco, forward, trapezoid, jacobian, oleodyn, hydraulic, hydraulic_jacobian,
                  hydraulic_masses};
  if (bench_wants_times()) judge(&t, &r);
  for (int i = 0; i < t.count; i++) t.row[i].destroy(t.row[i].self);
  return 0;
}
