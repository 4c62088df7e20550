// Two machines compared with Hopsan: error of a position, largest error of all outputs of the file as a part of their ranges, and cost of
// a simulated second and of a step, for several integrators and steps.
// A run is that of `oleodyn simulate` with a row every millisecond, without the estimate of its error. Hopsan's figures were measured
// elsewhere: those of the position servo for the same machine (its default step is 100 us), that of the load-sensing system for its own
// example of 53 components.
//
//   bench_hopsan POSITION-SERVO.yaml LOAD-SENSING.yaml
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "measure.h"
#include "simulate/run.h"

enum { MOST = 20, MOST_OUTPUTS = 30 };
static const double row = 1e-3;  // s

typedef struct job {
  const char *rule;
  int parts;         // steps in a row; 0: adaptive steps
  double tolerance;  // of adaptive steps, and of CVODES
  // Where they are used:
  const od_machine *machine;
  double seconds;
  const int *outputs;  // the judged position, then the outputs of the file
  int output_count;
  od_table *rows;
  long steps;
} job;

typedef struct contest {
  const char *title, *output;
  double seconds;
  double wanted, allowed;  // m; s per simulated second: limits; 0: no limit
  const char *theirs;      // printed rows of the other program
  job trials[MOST];
} contest;

static const contest contests[] = {
    {"Position servo",
     "guide.position",
     3,
     3.4e-4,
     305e-3 / 20,
     "  Hopsan 2.24, 100 us                   0.025 m       3.05 ms     0.305 us\n"
     "  Hopsan 2.24, 10 us                   0.0018 m      30.00 ms     0.305 us\n"
     "  Hopsan 2.24, 1 us                   0.00034 m     305.00 ms     0.305 us\n",
     {{.rule = "trapezoid", .parts = 2},
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
      {.rule = "cvodes", .parts = 1, .tolerance = 1e-6}}},
    {"Load-sensing system",
     "boom_guide.position",
     8,
     0,
     0,
     "  Hopsan, its example, 53 components          -             -      1.05 us\n",
     {{.rule = "trapezoid", .parts = 1},
      {.rule = "tr-bdf2", .parts = 1},
      {.rule = "tr-bdf2", .parts = 2},
      {.rule = "tr-bdf2", .tolerance = 1e-4},
      {.rule = "cvodes", .parts = 1, .tolerance = 1e-6}}},
};
enum { CONTESTS = sizeof contests / sizeof *contests };

static int start(void *self) {
  (void)self;
  return 0;
}

static int run_once(job *j) {
  const od_run_options o = {.time = j->seconds,
                            .step = j->parts ? row / j->parts : row,
                            .every = j->parts ? j->parts : 1,
                            .adaptive = j->parts == 0,
                            .integrator = j->rule,
                            .tolerance = j->tolerance,
                            .outputs = j->outputs,
                            .output_count = j->output_count,
                            .unjudged = true};
  od_error err = {0};
  od_run_report report = {0};
  od_table_free(j->rows);
  j->rows = NULL;
  od_status status = od_run(j->machine, &o, &j->rows, &report, &err);
  j->steps = report.steps;
  od_run_report_free(&report);
  if (status == OD_OK) return 0;
  fprintf(stderr, "%s: %s\n", j->rule, err.text);
  return -1;
}

static int advance(void *self, int runs) {
  for (int i = 0; i < runs; i++)
    if (run_once(self) != 0) return -1;
  return 0;
}

static double distance(const od_table *a, const od_table *b, int column) {
  double most = a->rows == b->rows ? 0 : INFINITY;
  for (long i = 0; i < a->rows && i < b->rows; i++)
    most = fmax(most, fabs(a->data[i * a->columns + column] - b->data[i * b->columns + column]));
  return most;
}

// Returns the largest distance of all columns, relative to the range of the column in b, and the column.
static double largest_distance(const od_table *a, const od_table *b, int *column) {
  double worst = 0;
  *column = 1;
  for (int k = 1; k < b->columns; k++) {
    double low = INFINITY, high = -INFINITY;
    for (long i = 0; i < b->rows; i++) {
      low = fmin(low, b->data[i * b->columns + k]);
      high = fmax(high, b->data[i * b->columns + k]);
    }
    const double part = high > low ? distance(a, b, k) / (high - low) : 0;
    if (part > worst) worst = part, *column = k;
  }
  return worst;
}

static void name_subject(bench_subject *s, const job *j) {
  if (j->parts && strcmp(j->rule, "cvodes") != 0)
    snprintf(s->name, sizeof s->name, "%s, %.4g us", j->rule, 1e6 * row / j->parts);
  else
    snprintf(s->name, sizeof s->name, "%s, tolerance %g", j->rule, j->tolerance);
}

static int judge(const contest *c, double least) {
  if (c->wanted == 0) return 0;
  printf("  within %g m: %.2f ms, 1/%.0f of Hopsan's %.0f ms (allowed: %.2f ms)\n", c->wanted, 1e3 * least,
         20 * c->allowed / least, 20e3 * c->allowed, 1e3 * c->allowed);
  return least <= c->allowed ? 0 : 1;
}

static int measure(const contest *c, const od_machine *machine) {
  static job jobs[MOST];
  static bench_subject subjects[MOST];
  const od_run_defaults *file = od_machine_run(machine);
  int count = 0, outputs[1 + MOST_OUTPUTS] = {od_machine_output_find(machine, c->output)};
  if (outputs[0] < 0 || file->output_count > MOST_OUTPUTS) return 1;
  for (int i = 0; i < file->output_count; i++) outputs[1 + i] = file->outputs[i];
  job exact = {"cvodes", 1, 1e-10, machine, c->seconds, outputs, 1 + file->output_count, NULL, 0};
  if (run_once(&exact) != 0) return 1;
  for (; count < MOST && c->trials[count].rule; count++) {
    job *j = &jobs[count];
    *j = c->trials[count];
    j->machine = machine, j->seconds = c->seconds;
    j->outputs = outputs, j->output_count = exact.output_count;
    subjects[count] = (bench_subject){.self = j, .start = start, .advance = advance, .steps = 1};
    name_subject(&subjects[count], j);
  }
  if (bench_settle(subjects, count) != 0) return 1;
  double least = INFINITY;
  printf("%s, one core: %s against CVODES with 1e-10 over %g s, processor time\n", c->title, c->output, c->seconds);
  printf("  %-30s %14s %13s %12s   %s\n", "", "off by", "per second", "per step",
         "largest error of the file's outputs, of range");
  for (int i = 0; i < count; i++) {
    int worst;
    const double off = distance(jobs[i].rows, exact.rows, 1), time = bench_best(&subjects[i]);
    const double part = largest_distance(jobs[i].rows, exact.rows, &worst);
    if (off <= c->wanted) least = fmin(least, time / c->seconds);
    printf("  %-30s %12.2g m %10.2f ms %9.3g us   %.2g %%, %s\n", subjects[i].name, off, 1e3 * time / c->seconds,
           1e6 * time / (double)jobs[i].steps, 100 * part, exact.rows->name[worst]);
    od_table_free(jobs[i].rows);
  }
  fputs(c->theirs, stdout);
  bench_print_method(subjects, count);
  od_table_free(exact.rows);
  return judge(c, least);
}

int main(int argc, char **argv) {
  if (argc != 1 + CONTESTS) return fprintf(stderr, "usage: bench_hopsan POSITION-SERVO.yaml LOAD-SENSING.yaml\n"), 2;
  if (!bench_wants_times()) return 0;
  bench_pin();
  int code = 0;
  for (int i = 0; i < CONTESTS; i++) {
    od_machine *machine = NULL;
    od_messages *messages = od_messages_new();
    if (od_machine_load(argv[1 + i], NULL, &machine, messages) != OD_OK) od_messages_print(messages, stderr, false);
    od_messages_free(messages);
    if (!machine || measure(&contests[i], machine) != 0) code = 1;
    od_machine_free(machine);
  }
  return code;
}
