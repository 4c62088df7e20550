// A full step of the observer, prediction and correction, on one core: the hydraulic four-bar with the valve's curves
// unknown (cases/fourbar-valve/points-6.experiment.yaml: 6 states, 18 parameters, 3 sensors), in both forms of the
// covariance, compared with the same filter with a transition Jacobian by complex steps, and with the filter of the file.
//
//   bench_observer INSTRUCTIONS.sh FILE.experiment.yaml   the table
//   bench_observer --steps COUNT WHICH FILE               only COUNT steps of one row, for instructions.sh
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "all_filters.h"
#include "instructions.h"
#include "observer_steps.h"

enum { EXACT_SQUARE_ROOT, EXACT_JOSEPH, OF_FILE, COMPLEX_SQUARE_ROOT, COMPLEX_JOSEPH, ROWS };
static const double most_difference = 1e-9;

static int open_row(observer_steps *f, const observer_data *d, int kind) {
  if (kind == OF_FILE) return observer_steps_open(f, d, NULL, d->e->form);
  const bool joseph = kind == EXACT_JOSEPH || kind == COMPLEX_JOSEPH, exact = kind < COMPLEX_SQUARE_ROOT;
  return observer_steps_open(f, d, exact ? "iterated-ekf" : "complex-step-ekf",
                             joseph ? OD_FORM_JOSEPH : OD_FORM_SQUARE_ROOT);
}

// ---- comparison of both Jacobians

// The largest difference, over some seconds, between exact and complex-step transition Jacobians [A B], relative to the
// largest entry of each row, with columns in units of the start's standard deviations.
static double difference(const observer_data *d) {
  const int nx = od_plant_nx(d->plant), np = d->plant->np, n = d->n;
  const size_t size = (size_t)(nx * n);
  double worst = INFINITY, *memory = calloc(2 * size, sizeof *memory);
  od_sim *sim = od_sim_new(d->plant);
  od_sim *twin = od_sim_new(d->plant);
  void *complex_memory = calloc(1, od_sim_complex_size(d->plant));
  if (memory && sim && twin && complex_memory && od_sim_start(sim, 0, d->u) == OD_OK &&
      od_sim_set_parameters(sim, d->p) == OD_OK && od_sim_start(twin, 0, d->u) == OD_OK &&
      od_sim_set_parameters(twin, d->p) == OD_OK)
    worst = 0;
  double *A = memory, *B = A + nx * nx, *Ac = memory + size, *Bc = Ac + nx * nx;
  for (int step = 1; step <= d->observed->steps && isfinite(worst); step++) {
    const double h = d->observed->step, *u = d->u + step * d->plant->nu;
    if (od_sim_step_with_jacobians(sim, h, u, A, NULL, NULL, B) != OD_OK ||
        od_sim_step_with_complex_steps(twin, h, u, complex_memory, Ac, Bc) != OD_OK)
      worst = INFINITY;
    for (int i = 0; i < nx; i++) {
      double largest = 0, apart = 0;
      for (int j = 0; j < n; j++) {
        const double sigma = sqrt(d->e->covariance[j * (n + 1)]), unit = sigma > 0 ? sigma : 1;
        const double a = j < nx ? A[i * nx + j] : B[i * np + j - nx], c = j < nx ? Ac[i * nx + j] : Bc[i * np + j - nx];
        largest = fmax(largest, unit * fabs(c));
        apart = fmax(apart, unit * fabs(a - c));
      }
      worst = fmax(worst, apart / largest);
    }
  }
  od_sim_free(twin);
  od_sim_free(sim);
  free(complex_memory);
  free(memory);
  return worst;
}

// ---- the table

static const struct row {
  const char *name, *title, *figure;
  int few, many, run;  // steps of the two counted runs, and of a timed one; 0: all
} rows[ROWS] = {
    {"exact-root", "iterated-ekf, exact Jacobian, square-root form", "filter step, 24 states", 250, 1250, 0},
    {"exact-joseph", "iterated-ekf, exact Jacobian, Joseph form", "filter step, 24 states, Joseph form", 250, 1250, 0},
    {"file", "filter of the file, mean of all steps", "filter step, filter of the file", 250, 1250, 0},
    {"complex-root", "complex-step-ekf, square-root form", NULL, 50, 150, 500},
    {"complex-joseph", "complex-step-ekf, Joseph form", NULL, 50, 150, 500},
};

static int only_steps(const char *steps, const char *name, const char *file) {
  observer_data d;
  observer_steps f;
  int kind = 0;
  while (kind < ROWS && strcmp(name, rows[kind].name) != 0) kind++;
  if (kind == ROWS || observer_data_open(&d, file, atoi(steps)) != 0 || open_row(&f, &d, kind) != 0) return 1;
  const bench_subject subject = {.self = &f, .advance = observer_steps_advance};
  const int failed = observer_steps_start(&f) != 0 || bench_advance(&subject, atoi(steps)) != 0;
  observer_steps_close(&f);
  observer_data_close(&d);
  return failed;
}

static void verdict(const char *what, double value, const char *unit, double must, double goal, int at_least) {
  const int met = at_least ? value >= must : value <= must, reached = at_least ? value >= goal : value <= goal;
  printf("%-4s %s: %.2f %s (%s %g; goal %g: %s)\n", met ? "met" : "MISS", what, value, unit,
         at_least ? "at least" : "at most", must, goal, reached ? "reached" : "not reached");
}

static void judge(const bench_subject *s, int count) {
  verdict("full step of the iterated EKF", 1e6 * bench_best(&s[EXACT_SQUARE_ROOT]), "us", 10, 5, 0);
  if (count < ROWS) return;
  verdict("cheaper than complex steps, square-root form",
          bench_best(&s[COMPLEX_SQUARE_ROOT]) / bench_best(&s[EXACT_SQUARE_ROOT]), "times", 10, 10, 1);
  verdict("cheaper than complex steps, Joseph form", bench_best(&s[COMPLEX_JOSEPH]) / bench_best(&s[EXACT_JOSEPH]),
          "times", 10, 10, 1);
}

int main(int argc, char **argv) {
  if (argc == 5 && strcmp(argv[1], "--steps") == 0) return only_steps(argv[2], argv[3], argv[4]);
  if (argc != 3) {
    fprintf(stderr,
            "usage: bench_observer INSTRUCTIONS.sh FILE.experiment.yaml\n"
            "       bench_observer --steps COUNT WHICH FILE.experiment.yaml\n");
    return 2;
  }
  observer_data d;
  observer_steps filters[ROWS];
  bench_subject subjects[ROWS];
  if (observer_data_open(&d, argv[2], 0) != 0) return 1;
  bench_pin();
  const double apart = difference(&d);
  printf("Observer, %s: %d states, %d parameters, %d sensors of %d outputs, steps of %g ms\n", d.e->title,
         od_plant_nx(d.plant), d.plant->np, d.e->sensors, d.plant->ny, 1e3 * d.observed->step);
  printf("filter of the file: %s\n", d.e->filter->name);
  printf("exact and complex-step transition Jacobians differ by at most %.1e (bound %.0e)\n\n", apart, most_difference);
  if (!(apart <= most_difference)) return 1;

  const int count = bench_own_only() ? COMPLEX_SQUARE_ROOT : ROWS;
  for (int i = 0; i < count; i++) {
    if (open_row(&filters[i], &d, i) != 0) return 1;
    subjects[i] = (bench_subject){.figure = rows[i].figure,
                                  .step = d.observed->step,
                                  .self = &filters[i],
                                  .start = observer_steps_start,
                                  .advance = observer_steps_advance,
                                  .steps = rows[i].run > 0 ? rows[i].run : (int)d.observed->steps};
    snprintf(subjects[i].name, sizeof subjects[i].name, "%s", rows[i].title);
  }
  if (bench_settle(subjects, count) != 0) return 1;

  printf("%-50s %12s %8s %14s\n", "filter", "us/step", "spread", "instr./step");
  for (int i = 0; i < count; i++) {
    const bench_callgrind how = {.script = argv[1],
                                 .program = argv[0],
                                 .arguments = {rows[i].name, argv[2]},
                                 .few = rows[i].few,
                                 .many = rows[i].many};
    subjects[i].instructions = bench_instructions(&subjects[i], &how);
    bench_write_figures(&subjects[i]);
    printf("%-50s", rows[i].title);
    bench_print_number(1e6 * bench_best(&subjects[i]), 12, 3);
    bench_print_spread(&subjects[i]);
    bench_print_number(subjects[i].instructions, 14, 0);
    printf("\n");
    observer_steps_close(&filters[i]);
  }
  printf("instructions by %s\n", bench_instructions_source());
  bench_print_method(subjects, count);
  printf("\n");
  if (bench_wants_times()) judge(subjects, count);
  observer_data_close(&d);
  return 0;
}
