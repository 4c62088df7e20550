// A friction law driven by a speed: the reduced law over the trajectory of 13 s, by the exponential steps of
// friction/drive.h and by CVODES on the same equations; the force alone, and with its derivatives by 12 parameters. All methods give
// results at every sample. CVODES gets the loosest tolerance, found by halving, at which its largest error over all samples (against
// CVODES at 1e-11) is at most that of the exponential steps. With derivatives, the errors of p dF/dp, in N, count as well.
// CVODES has exact Jacobians and right-hand sides of sensitivities and interpolates between its steps. The speed is given
// - as the smooth function, with restarts at its corners;
// - as its samples, a log with straight lines in between; steps may skip samples;
// - as that log, with a step that ends at every sample, where straight lines have their corners. Only this way is safe: with the way
//   before, samples between two steps are never evaluated.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "friction/drive.h"
#include "measure.h"
#include "oracle/driven_friction.h"

enum { CYLINDER = 4, SAMPLES = 52001, JOBS = 8, OWN = 2 };  // #5, which has the stiffest bristles
static const double step = 250e-6;
static double times[SAMPLES], speeds[SAMPLES];

static double logged_speed(double t) {
  double place = t * (1 / step);
  int i = (int)place;
  if (i > SAMPLES - 2) i = SAMPLES - 2;
  return speeds[i] + (place - i) * (speeds[i + 1] - speeds[i]);
}

// Force and derivatives at all samples.
typedef struct answers {
  double force[SAMPLES], slopes[12 * SAMPLES];
} answers;
static answers given, smooth, logged;

typedef struct job {
  od_friction_grid grid;
  const od_friction_law *law;
  double q[32], work[1000];
  driven_friction by_cvodes;  // tolerance 0: by exponential steps
  bool with_slopes;
  long steps;  // of CVODES
} job;

static int start(void *self) {
  (void)self;
  return 0;
}

// The order of the oracle. Without tau_h0, which has no effect if the speed is never constantly zero.
static const int twelve[12] = {0, 14, 1, 15, 2, 16, 3, 17, 4, 18, 5, 6};

static int advance(void *self, int runs) {
  job *j = self;
  const od_friction_start rest = {.signal = 1};
  for (int i = 0; i < runs; i++) {
    od_status status = OD_OK;
    if (j->by_cvodes.tolerance > 0) {
      j->steps =
          driven_friction_solve(&j->by_cvodes, SAMPLES, times, given.force, j->with_slopes ? given.slopes : NULL);
      if (j->steps < 0) return -1;
    } else if (j->with_slopes) {
      status =
          od_friction_drive_slopes(j->law, j->q, true, &j->grid, &rest, 12, twelve, j->work, given.force, given.slopes);
    } else {
      status = od_friction_drive(j->law, j->q, true, &j->grid, &rest, &(od_friction_motion){.force = given.force});
    }
    if (status != OD_OK) return -1;
  }
  return 0;
}

static int make_grid(void *memory, int runs) {
  od_friction_grid grid;
  for (int i = 0; i < runs; i++)
    if (od_friction_grid_make(&grid, memory, SAMPLES, times, speeds) != OD_OK) return -1;
  return 0;
}

typedef struct error {
  double force, slopes;
} error;
static error error_of(job *j, const answers *exact) {
  error most = {0, 0};
  if (advance(j, 1) != 0) return (error){INFINITY, INFINITY};
  for (int i = 0; i < SAMPLES; i++) {
    most.force = fmax(most.force, fabs(given.force[i] - exact->force[i]));
    for (int k = 0; k < 12 && j->with_slopes; k++)
      most.slopes = fmax(most.slopes, fabs(j->q[twelve[k]] * (given.slopes[12 * i + k] - exact->slopes[12 * i + k])));
  }
  return most;
}

// The loosest tolerance with at most the same error.
static error equal_error(job *j, const answers *exact, error wanted) {
  error e = {INFINITY, INFINITY};
  for (double tolerance = 1e-2; tolerance > 1e-10 && !(e.force <= wanted.force && e.slopes <= wanted.slopes);
       tolerance /= 2) {
    j->by_cvodes.tolerance = tolerance;
    e = error_of(j, exact);
  }
  return e;
}

int main(void) {
  static job jobs[JOBS];
  const published_cylinder *c = &published_cylinders[CYLINDER];
  void *memory = malloc(od_friction_grid_size(SAMPLES));
  if (!memory) return 1;
  for (int i = 0; i < SAMPLES; i++) times[i] = i * step, speeds[i] = trajectory_speed(times[i]);
  driven_friction reference = {*c, trajectory_speed, trajectory_breaks, TRAJECTORY_BREAKS, 1e-11, true, 12, false};
  driven_friction of_log = reference;
  of_log.speed = logged_speed, of_log.stops_at_outputs = true;
  if (od_friction_grid_make(&jobs[0].grid, memory, SAMPLES, times, speeds) != OD_OK ||
      driven_friction_solve(&reference, SAMPLES, times, smooth.force, smooth.slopes) < 0 ||
      driven_friction_solve(&of_log, SAMPLES, times, logged.force, logged.slopes) < 0)
    return 1;
  jobs[0].law = od_friction_laws[od_friction_law_find("reduced")];
  published_reduced(c, jobs[0].q);
  error errors[JOBS], on_log[OWN];
  bool own_only = bench_own_only();
  for (int i = 0; i < JOBS && !(own_only && i >= OWN); i++) {
    if (i > 0) jobs[i] = jobs[0];
    jobs[i].with_slopes = i % 2;
    if (i < OWN) {
      on_log[i] = error_of(&jobs[i], &logged), errors[i] = error_of(&jobs[i], &smooth);
      continue;
    }
    jobs[i].by_cvodes = i < 4 ? reference : of_log;
    jobs[i].by_cvodes.sensitivities = i % 2 ? 12 : 0, jobs[i].by_cvodes.stops_at_outputs = i >= 6;
    errors[i] = equal_error(&jobs[i], i < 4 ? &smooth : &logged, i < 4 ? errors[i % 2] : on_log[i % 2]);
  }
  static const char *const names[] = {"exponential steps", "CVODES, smooth speed", "CVODES, log",
                                      "CVODES, log, a step to every sample"};
  bench_subject subject[JOBS];
  for (int i = 0; i < JOBS; i++) {
    subject[i] =
        (bench_subject){.step = 13, .self = &jobs[i], .start = start, .advance = advance, .steps = i < OWN ? 20 : 1};
    snprintf(subject[i].name, sizeof subject[i].name, "%s, %s", i % 2 ? "force and 12 derivatives" : "force",
             names[i / 2]);
  }
  subject[0].figure = "friction force", subject[1].figure = "friction derivatives";
  bench_pin();
  int count = own_only ? OWN : JOBS;
  bench_subject of_grid = {
      .step = 13, .self = memory, .start = start, .advance = make_grid, .steps = 1, .name = "grid"};
  if (bench_settle(subject, count) != 0 || bench_settle(&of_grid, 1) != 0) return 1;
  printf(
      "Reduced friction law of cylinder #5, 13 s in steps of 250 us\n\n"
      "| | ms per simulated second | steps | error of the force, N | of derivatives, N | times |\n"
      "|---|---|---|---|---|---|\n");
  for (int i = 0; i < count; i++) {
    double best = bench_best(&subject[i]) / 13;
    printf("| %s | %.4f | %ld | %.3f | ", subject[i].name, 1e3 * best, i < OWN ? SAMPLES - 1L : jobs[i].steps,
           errors[i].force);
    if (i % 2) printf("%.3f", errors[i].slopes);
    printf(" | %.1f |\n", best / (bench_best(&subject[i % 2]) / 13));
    bench_write_figures(&subject[i]);
  }
  printf(
      "Compared with the exact solution for the log, the errors of the exponential steps are %.3f N, of their derivatives %.3f N.\n",
      on_log[0].force, on_log[1].slopes);
  printf(
      "The grid of a log is made once, whatever the number of runs over it, and is not part of these times: %.4f ms per "
      "simulated second.\n",
      1e3 * bench_best(&of_grid) / 13);
  bench_print_method(subject, count);
  free(memory);
  return 0;
}
