// A friction law driven by a speed: the reduced law over the published trajectory of 13 s, by the exponential steps of
// friction/drive.h and by CVODES on the same equations, with as large an error; the force alone, and with its derivatives by 12
// parameters. CVODES carries those along with right-hand sides by differences. It has the speed once as the smooth function that
// it is, with restarts where that has corners, and once as the samples that a log has, with straight lines in between, which
// is what a fit has to work with.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "friction/drive.h"
#include "measure.h"
#include "oracle/driven_friction.h"

enum { CYLINDER = 4 };  // #5, whose bristles are stiffest
static const double step = 250e-6;

enum { SAMPLES = 52001 };
static double samples[SAMPLES];
static double logged_speed(double t) {
  double place = t * (1 / step);
  int i = (int)place;
  if (i > SAMPLES - 2) i = SAMPLES - 2;
  return samples[i] + (place - i) * (samples[i + 1] - samples[i]);
}

typedef struct job {
  od_friction_grid grid;
  const od_friction_law *law;
  double q[32];
  double *t, *force, *slopes, *work;
  int samples;
  driven_friction by_cvodes;  // tolerance 0: by exponential steps
  bool with_slopes;
} job;

static int start(void *self) {
  (void)self;
  return 0;
}

// Without tau_h0, which plays no part where the speed never rests.
static const int twelve[12] = {0, 1, 2, 3, 4, 5, 6, 14, 15, 16, 17, 18};

static int advance(void *self, int runs) {
  job *j = self;
  const od_friction_start rest = {.signal = 1};
  for (int i = 0; i < runs; i++) {
    bool fine =
        j->by_cvodes.tolerance > 0 ? driven_friction_solve(&j->by_cvodes, j->samples, j->t, j->force) > 0
        : j->with_slopes
            ? od_friction_drive_slopes(j->law, j->q, true, &j->grid, &rest, 12, twelve, j->work, j->force, j->slopes) ==
                  OD_OK
            : od_friction_drive(j->law, j->q, true, &j->grid, &rest, &(od_friction_motion){.force = j->force}) == OD_OK;
    if (!fine) return -1;
  }
  return 0;
}

static double error_of(job *j, const double *exact) {
  double most = 0;
  if (advance(j, 1) != 0) return INFINITY;
  for (int i = 0; i < j->samples; i++) most = fmax(most, fabs(j->force[i] - exact[i]));
  return most;
}

int main(void) {
  const published_cylinder *c = &published_cylinders[CYLINDER];
  job base = {.law = od_friction_laws[od_friction_law_find("reduced")], .samples = (int)lround(13 / step) + 1};
  size_t n = (size_t)base.samples;
  double *v = malloc(n * sizeof *v), *exact = malloc(n * sizeof *exact);
  void *memory = malloc(od_friction_grid_size(base.samples));
  base.t = malloc(n * sizeof *v), base.force = malloc(n * sizeof *v);
  base.slopes = malloc(12 * n * sizeof *v), base.work = malloc(od_friction_slopes_work(12) * sizeof *v);
  if (!v || !exact || !memory || !base.t || !base.force || !base.slopes || !base.work) return 1;
  for (int i = 0; i < base.samples; i++) base.t[i] = i * step, samples[i] = v[i] = published_speed(base.t[i]);
  published_reduced(c, base.q);
  driven_friction reference = {*c, published_speed, published_breaks, PUBLISHED_BREAKS, 1e-11, true, 0};
  if (od_friction_grid_make(&base.grid, memory, base.samples, base.t, v) != OD_OK ||
      driven_friction_solve(&reference, base.samples, base.t, exact) < 0)
    return 1;

  enum { JOBS = 6 };
  job jobs[JOBS] = {base, base, base, base, base, base};
  jobs[1].with_slopes = true;
  double error[JOBS], *logged = malloc(n * sizeof *logged);
  driven_friction of_log = reference;
  of_log.speed = logged_speed;
  if (!logged || driven_friction_solve(&of_log, base.samples, base.t, logged) < 0) return 1;
  for (int i = 0; i < 2; i++) error[i] = error_of(&jobs[i], exact);
  for (int i = 2; i < JOBS; i++) {
    jobs[i].by_cvodes = i < 4 ? reference : of_log;
    jobs[i].by_cvodes.sensitivities = i % 2 ? 12 : 0;
    error[i] = INFINITY;
    for (double tolerance = 1e-2; tolerance > 1e-10 && !(error[i] <= error[0]); tolerance /= 2) {
      jobs[i].by_cvodes.tolerance = tolerance;
      error[i] = error_of(&jobs[i], i < 4 ? exact : logged);
    }
  }
  static const char *const names[] = {
      "force, exponential steps",         "force and 12 derivatives", "force, CVODES",
      "force and 12 derivatives, CVODES", "force, CVODES on a log",   "force and 12 derivatives, CVODES on a log"};
  bench_subject subject[JOBS];
  for (int i = 0; i < JOBS; i++) {
    subject[i] =
        (bench_subject){.step = 13, .self = &jobs[i], .start = start, .advance = advance, .steps = i < 2 ? 20 : 1};
    snprintf(subject[i].name, sizeof subject[i].name, "%s", names[i]);
  }
  subject[0].figure = "friction force", subject[1].figure = "friction derivatives";
  bench_pin();
  int count = bench_own_only() ? 2 : JOBS;
  if (bench_settle(subject, count) != 0) return 1;
  printf(
      "Reduced friction law of cylinder #5, 13 s in steps of 250 us\n\n| | ms per simulated second | error, N | times |\n|---|---|---|---|\n");
  for (int i = 0; i < count; i++) {
    double best = bench_best(&subject[i]) / 13;
    printf("| %s | %.3f | %.3f | %.1f |\n", subject[i].name, 1e3 * best, error[i],
           best / (bench_best(&subject[i % 2]) / 13));
    bench_write_figures(&subject[i]);
  }
  bench_print_method(subject, count);
  free(v), free(exact), free(logged), free(memory), free(base.t), free(base.force), free(base.slopes), free(base.work);
  return 0;
}
