// A full step of the observer, prediction and correction, on one core: the hydraulic four-bar with the valve's curves
// unknown (cases/fourbar-valve/points-6.experiment.yaml: 6 states, 18 parameters, 3 sensors), in both forms of the
// covariance, beside the same filter that takes its transition Jacobian by complex steps.
//
//   bench_observer INSTRUCTIONS.sh FILE.experiment.yaml   the table
//   bench_observer --steps COUNT WHICH FILE               just so many steps of one row, for instructions.sh
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "complex_filter.h"
#include "experiment/observe.h"
#include "instructions.h"

enum { EXACT_SQUARE_ROOT, EXACT_JOSEPH, COMPLEX_SQUARE_ROOT, COMPLEX_JOSEPH, ROWS };
static const double most_difference = 1e-9;

// The experiment with everything that a step of the filter is given.
typedef struct data {
  od_experiment *e;
  od_plant *plant;
  od_observed *observed;  // the whole experiment, once: what the sensors have measured
  int n;
  double *u, *y, *Q, *p, *sigma;  // inputs and measurements of every step; process noise; start; sensors
} data;

typedef struct filter {
  const data *d;
  int kind, at;
  od_observer *exact;
  complex_filter *complex;
} filter;

// ---- what goes in

static void data_close(data *d) {
  od_observed_free(d->observed);
  od_plant_free(d->plant);
  od_experiment_free(d->e);
  void *memory[] = {d->u, d->y, d->Q, d->p, d->sigma};
  for (size_t i = 0; i < sizeof memory / sizeof *memory; i++) free(memory[i]);
}

static int data_allocate(data *d) {
  const size_t steps = (size_t)d->observed->steps + 1, np = (size_t)d->plant->np, ny = (size_t)d->plant->ny;
  d->n = od_plant_nx(d->plant) + d->plant->np;
  d->u = calloc(steps * (size_t)d->plant->nu, sizeof *d->u);
  d->y = calloc(steps * ny, sizeof *d->y);
  d->Q = calloc((size_t)(d->n * d->n), sizeof *d->Q);
  d->p = calloc(np, sizeof *d->p);
  d->sigma = calloc(ny, sizeof *d->sigma);
  return d->u && d->y && d->Q && d->p && d->sigma ? 0 : -1;
}

// Measurements stand in the experiment's table behind the time.
static void data_fill(data *d) {
  const od_experiment *e = d->e;
  const od_table *table = d->observed->table;
  const int nu = d->plant->nu, ny = d->plant->ny;
  for (long i = 0; i <= d->observed->steps; i++) {
    od_machine_inputs(e->truth, (double)i * d->observed->step, d->u + i * nu);
    for (int k = 0; k < ny; k++)
      d->y[i * ny + k] = k < e->sensors ? table->data[i * table->columns + 1 + k] : (double)NAN;
  }
  od_experiment_process_noise(e, d->plant, d->observed->step, e->process_noise, d->Q);
  for (int i = 0; i < ny; i++) d->sigma[i] = i < e->sensors ? e->sensor[i].sigma : 1;
  for (int i = 0; i < e->parameters; i++) d->p[i] = e->parameter[i].start;
}

// steps: how many are wanted; 0: as many as the experiment has.
static int data_open(data *d, const char *file, int steps) {
  *d = (data){0};
  od_error error = {0};
  od_messages *messages = od_messages_new();
  const od_experiment_options options = {0};
  const od_status loaded = od_experiment_load(file, &options, &d->e, messages);
  if (loaded != OD_OK) od_messages_print(messages, stderr, false);
  od_messages_free(messages);
  if (loaded != OD_OK) return -1;
  if (steps > 0) d->e->time = fmin(d->e->time, steps * d->e->step);
  if (od_observe(d->e, NULL, &d->observed, &error) != OD_OK || od_experiment_plant(d->e, &d->plant, &error) != OD_OK) {
    fprintf(stderr, "%s: %s\n", file, error.text);
    return -1;
  }
  if (data_allocate(d) != 0) return -1;
  data_fill(d);
  return 0;
}

// ---- the rows

static int start(void *self) {
  filter *f = self;
  const data *d = f->d;
  f->at = 0;
  const od_status status = f->exact ? od_observer_start(f->exact, 0, NULL, d->p, d->e->covariance, d->u)
                                    : complex_filter_start(f->complex, d->p, d->e->covariance, d->u);
  return status == OD_OK ? 0 : -1;
}

static od_status one_step(filter *f) {
  const data *d = f->d;
  const double h = d->observed->step, *u = d->u + ++f->at * d->plant->nu, *y = d->y + f->at * d->plant->ny;
  if (f->exact) {
    const od_status status = od_observer_predict(f->exact, h, u, d->Q, NULL);
    return status == OD_OK ? od_observer_correct(f->exact, y) : status;
  }
  const od_status status = complex_filter_predict(f->complex, h, u, d->Q);
  return status == OD_OK ? complex_filter_correct(f->complex, y) : status;
}

static int filter_steps(void *self, int steps) {
  filter *f = self;
  od_status status = f->at + steps <= f->d->observed->steps ? OD_OK : OD_BAD_ARGUMENT;
  for (int i = 0; i < steps && status == OD_OK; i++) status = one_step(f);
  if (status != OD_OK) fprintf(stderr, "the filter: %s\n", od_status_text(status));
  return status == OD_OK ? 0 : -1;
}

static int filter_open(filter *f, const data *d, int kind) {
  const bool joseph = kind == EXACT_JOSEPH || kind == COMPLEX_JOSEPH;
  const od_covariance_form form = joseph ? OD_FORM_JOSEPH : OD_FORM_SQUARE_ROOT;
  *f = (filter){.d = d, .kind = kind};
  const od_observer_options options = {.form = form, .sensor_sigma = d->sigma};
  if (kind == EXACT_JOSEPH || kind == EXACT_SQUARE_ROOT)
    f->exact = od_observer_new(d->plant, &options);
  else
    f->complex = complex_filter_new(d->plant, form, d->sigma);
  return f->exact || f->complex ? 0 : -1;
}

static void filter_close(filter *f) {
  od_observer_free(f->exact);
  complex_filter_free(f->complex);
}

// ---- both Jacobians are the same

// The largest difference, over some seconds, between exact and complex-step transition Jacobians [A B]: each row
// against its largest entry, with columns in units of the start's standard deviations.
static double difference(const data *d) {
  const int nx = od_plant_nx(d->plant), np = d->plant->np, n = d->n;
  const size_t size = (size_t)(nx * n);
  double worst = INFINITY, *memory = calloc(2 * size, sizeof *memory);
  od_sim *sim = od_sim_new(d->plant);
  complex_filter *f = complex_filter_new(d->plant, OD_FORM_SQUARE_ROOT, d->sigma);
  if (memory && sim && f && od_sim_start(sim, 0, d->u) == OD_OK && od_sim_set_parameters(sim, d->p) == OD_OK &&
      complex_filter_start(f, d->p, d->e->covariance, d->u) == OD_OK)
    worst = 0;
  double *A = memory, *B = A + nx * nx, *Ac = memory + size, *Bc = Ac + nx * nx;
  for (int step = 1; step <= d->observed->steps && isfinite(worst); step++) {
    const double h = d->observed->step, *u = d->u + step * d->plant->nu;
    if (od_sim_step_with_jacobians(sim, h, u, A, NULL, NULL, B) != OD_OK ||
        complex_filter_transition(f, h, u, Ac, Bc) != OD_OK)
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
  complex_filter_free(f);
  od_sim_free(sim);
  free(memory);
  return worst;
}

// ---- the table

static const struct row {
  const char *name, *title, *figure;
  int few, many, run;  // steps of the two counted runs, and of a timed one; 0: all that there are
} rows[ROWS] = {
    {"exact-root", "exact Jacobian, square-root form", "filter step, 24 states", 250, 1250, 0},
    {"exact-joseph", "exact Jacobian, Joseph form", "filter step, 24 states, Joseph form", 250, 1250, 0},
    {"complex-root", "complex-step Jacobian, square-root form", NULL, 50, 150, 500},
    {"complex-joseph", "complex-step Jacobian, Joseph form", NULL, 50, 150, 500},
};

static int only_steps(const char *steps, const char *name, const char *file) {
  data d;
  filter f;
  int kind = 0;
  while (kind < ROWS && strcmp(name, rows[kind].name) != 0) kind++;
  if (kind == ROWS || data_open(&d, file, atoi(steps)) != 0 || filter_open(&f, &d, kind) != 0) return 1;
  const bench_subject subject = {.self = &f, .advance = filter_steps};
  const int failed = start(&f) != 0 || bench_advance(&subject, atoi(steps)) != 0;
  filter_close(&f);
  data_close(&d);
  return failed;
}

static void verdict(const char *what, double value, const char *unit, double must, double goal, int at_least) {
  const int met = at_least ? value >= must : value <= must, reached = at_least ? value >= goal : value <= goal;
  printf("%-4s %s: %.2f %s (%s %g; goal %g: %s)\n", met ? "met" : "MISS", what, value, unit,
         at_least ? "at least" : "at most", must, goal, reached ? "reached" : "not reached");
}

static void judge(const bench_subject *s, int count) {
  verdict("full filter step", 1e6 * bench_best(&s[EXACT_SQUARE_ROOT]), "us", 10, 5, 0);
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
  data d;
  filter filters[ROWS];
  bench_subject subjects[ROWS];
  if (data_open(&d, argv[2], 0) != 0) return 1;
  bench_pin();
  const double apart = difference(&d);
  printf("Observer, %s: %d states, %d parameters, %d sensors of %d outputs, steps of %g ms\n", d.e->title,
         od_plant_nx(d.plant), d.plant->np, d.e->sensors, d.plant->ny, 1e3 * d.observed->step);
  printf("exact and complex-step transition Jacobians differ by at most %.1e (bound %.0e)\n\n", apart, most_difference);
  if (!(apart <= most_difference)) return 1;

  const int count = bench_own_only() ? COMPLEX_SQUARE_ROOT : ROWS;
  for (int i = 0; i < count; i++) {
    if (filter_open(&filters[i], &d, i) != 0) return 1;
    subjects[i] = (bench_subject){.figure = rows[i].figure,
                                  .step = d.observed->step,
                                  .self = &filters[i],
                                  .start = start,
                                  .advance = filter_steps,
                                  .steps = rows[i].run > 0 ? rows[i].run : (int)d.observed->steps};
    snprintf(subjects[i].name, sizeof subjects[i].name, "%s", rows[i].title);
  }
  if (bench_settle(subjects, count) != 0) return 1;

  printf("%-45s %12s %8s %14s\n", "filter", "us/step", "spread", "instr./step");
  for (int i = 0; i < count; i++) {
    const bench_callgrind how = {.script = argv[1],
                                 .program = argv[0],
                                 .arguments = {rows[i].name, argv[2]},
                                 .few = rows[i].few,
                                 .many = rows[i].many};
    subjects[i].instructions = bench_instructions(&subjects[i], &how);
    bench_write_figures(&subjects[i]);
    printf("%-45s %12.3f %6.1f %% ", rows[i].title, 1e6 * bench_best(&subjects[i]), 100 * bench_spread(&subjects[i]));
    if (subjects[i].instructions > 0)
      printf("%14.0f\n", subjects[i].instructions);
    else
      printf("%14s\n", "-");
    filter_close(&filters[i]);
  }
  printf("instructions by %s\n", bench_instructions_source());
  bench_print_method(subjects, count);
  printf("\n");
  if (bench_wants_times()) judge(subjects, count);
  data_close(&d);
  return 0;
}
