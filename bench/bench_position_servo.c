// The position servo: how far its position is off over 3 s, and what a simulated second costs, for several rules and steps, beside Hopsan's
// points. A run is what `oleodyn simulate` does with a row every millisecond, without the estimate of its error.
//
//   bench_position_servo MACHINE.yaml
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "measure.h"
#include "simulate/run.h"

static const double seconds = 3, row = 1e-3;
static const double wanted = 3.4e-4, allowed = 305e-3 / 20;  // m; s per simulated second

typedef struct job {
  const od_machine *machine;
  const char *rule;
  int parts;         // of a row; 0: as long as the error allows, with
  double tolerance;  // of these steps, and of CVODES
  od_table *rows;
} job;

static const job trials[] = {
    {.rule = "trapezoid", .parts = 2},
    {.rule = "trapezoid", .parts = 4},
    {.rule = "trapezoid", .parts = 5},
    {.rule = "trapezoid", .parts = 10},
    {.rule = "trapezoid", .parts = 20},
    {.rule = "tr-bdf2", .parts = 1},
    {.rule = "tr-bdf2", .parts = 2},
    {.rule = "tr-bdf2", .parts = 3},
    {.rule = "tr-bdf2", .parts = 5},
    {.rule = "tr-bdf2", .parts = 10},
    {.rule = "tr-bdf2", .tolerance = 1e-4},
    {.rule = "tr-bdf2", .tolerance = 1e-5},
    {.rule = "tr-bdf2", .tolerance = 1e-6},
    {.rule = "rk4", .parts = 10},
    {.rule = "rk4", .parts = 20},
    {.rule = "rk4", .tolerance = 1e-5},
    {.rule = "cvodes", .parts = 1, .tolerance = 1e-6},
};
enum { TRIALS = sizeof trials / sizeof *trials };

static int start(void *self) {
  (void)self;
  return 0;
}

static int run_once(job *j) {
  int position = od_machine_output_find(j->machine, "guide.position");
  const od_run_options o = {.time = seconds,
                            .step = j->parts ? row / j->parts : row,
                            .every = j->parts ? j->parts : 1,
                            .adaptive = j->parts == 0,
                            .integrator = j->rule,
                            .tolerance = j->tolerance,
                            .outputs = &position,
                            .output_count = 1,
                            .unjudged = true};
  od_error err = {0};
  od_table_free(j->rows);
  j->rows = NULL;
  if (od_run(j->machine, &o, &j->rows, NULL, &err) == OD_OK) return 0;
  fprintf(stderr, "%s: %s\n", j->rule, err.text);
  return -1;
}

static int advance(void *self, int runs) {
  for (int i = 0; i < runs; i++)
    if (run_once(self) != 0) return -1;
  return 0;
}

static double distance(const od_table *a, const od_table *b) {
  double most = a->rows == b->rows ? 0 : INFINITY;
  for (long i = 0; i < a->rows && i < b->rows; i++)
    most = fmax(most, fabs(a->data[i * a->columns + 1] - b->data[i * b->columns + 1]));
  return most;
}

static void print_row(const char *name, double off, double cost) {
  printf("  %-34s %10.2g m %10.2f ms\n", name, off, 1e3 * cost);
}

static int measure(const od_machine *machine) {
  static job jobs[TRIALS];
  static bench_subject subjects[TRIALS];
  job exact = {.machine = machine, .rule = "cvodes", .parts = 1, .tolerance = 1e-10};
  if (run_once(&exact) != 0) return 1;
  for (int i = 0; i < TRIALS; i++) {
    jobs[i] = trials[i];
    jobs[i].machine = machine;
    subjects[i] = (bench_subject){.self = &jobs[i], .start = start, .advance = advance, .steps = 1};
    char *name = subjects[i].name;
    size_t size = sizeof subjects[i].name;
    if (!jobs[i].parts || !strcmp(jobs[i].rule, "cvodes"))
      snprintf(name, size, "%s, tolerance %g", jobs[i].rule, jobs[i].tolerance);
    else
      snprintf(name, size, "%s, %.4g us", jobs[i].rule, 1e6 * row / jobs[i].parts);
  }
  if (bench_settle(subjects, TRIALS) != 0) return 1;
  double least = INFINITY;
  printf(
      "Position servo, one core: position against CVODES with 1e-10 over %g s, and processor time per simulated second\n",
      seconds);
  for (int i = 0; i < TRIALS; i++) {
    double off = distance(jobs[i].rows, exact.rows), cost = bench_best(&subjects[i]) / seconds;
    if (off <= wanted) least = fmin(least, cost);
    print_row(subjects[i].name, off, cost);
    od_table_free(jobs[i].rows);
  }
  printf("  Hopsan 2.24, measured elsewhere:\n");
  print_row("Hopsan, 100 us (its default)", 2.5e-2, 3.05e-3);
  print_row("Hopsan, 10 us", 1.8e-3, 30e-3);
  print_row("Hopsan, 1 us", wanted, 305e-3);
  printf("  within %g m: %.2f ms, 1/%.0f of Hopsan's 305 ms (allowed: %.2f ms)\n", wanted, 1e3 * least, 305e-3 / least,
         1e3 * allowed);
  bench_print_method(subjects, TRIALS);
  od_table_free(exact.rows);
  return least <= allowed ? 0 : 1;
}

int main(int argc, char **argv) {
  if (argc != 2) return fprintf(stderr, "usage: bench_position_servo MACHINE.yaml\n"), 2;
  if (!bench_wants_times()) return 0;
  bench_pin();
  od_machine *machine = NULL;
  od_messages *messages = od_messages_new();
  if (od_machine_load(argv[1], NULL, &machine, messages) != OD_OK) od_messages_print(messages, stderr, false);
  od_messages_free(messages);
  int code = machine ? measure(machine) : 1;
  od_machine_free(machine);
  return code;
}
