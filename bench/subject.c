// How cost and error are taken. One core, least of many repetitions: other processes can only make a run slower.
#define _GNU_SOURCE
#include "subject.h"

#include <math.h>
#include <sched.h>
#include <time.h>

#include "oracle/natural_fourbar.h"

void bench_pin(void) {
  // Stays where it is; a failure only makes the times noisier.
  const int core = sched_getcpu();
  if (core < 0) return;
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET((size_t)core, &set);
  (void)sched_setaffinity(0, sizeof set, &set);
}

double bench_now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

int bench_time(bench_subject *subject, int steps, double budget) {
  const double end = bench_now() + budget;
  for (int repetition = 0; repetition < 3 || bench_now() < end; repetition++) {
    if (subject->start(subject->self) != 0) return -1;
    const double begin = bench_now();
    if (subject->advance(subject->self, steps) != 0) return -1;
    const double taken = (bench_now() - begin) / steps;
    if (subject->best == 0 || taken < subject->best) subject->best = taken;
  }
  return 0;
}

double bench_error(const bench_subject *subject) {
  return fmax(subject->error[0], subject->error[1]);
}

int bench_reference_make(bench_reference *reference) {
  const oracle_fourbar m = oracle_fourbar_swing();
  oracle_fourbar_sample motion[2];
  double q[6];
  if (oracle_fourbar_assemble(&m, acos(-1.0) / 3, +1, q) != 0) return -1;
  // Steps of 1 ms with order 16: halving them changes the result by less than 1e-12 m.
  if (oracle_fourbar_tight(&m, q, 0, 1, 1, 1000, motion) != 0) return -1;
  for (int i = 0; i < 4; i++) reference->xy[i] = motion[1].q[i];
  reference->angle[0] = q[5];
  reference->angle[1] = atan2(q[3] - q[1], q[2] - q[0]);
  reference->angle[2] = atan2(q[3] - m.B[1], q[2] - m.B[0]);
  return 0;
}

void bench_compare(bench_subject *subject, const bench_reference *reference) {
  double xy[4];
  subject->error[0] = subject->error[1] = INFINITY;
  if (subject->start(subject->self) != 0) return;
  if (subject->advance(subject->self, (int)lround(1 / subject->step)) != 0) return;
  subject->ends(subject->self, xy);
  for (int i = 0; i < 2; i++) {
    const double error = hypot(xy[2 * i] - reference->xy[2 * i], xy[2 * i + 1] - reference->xy[2 * i + 1]);
    if (isfinite(error)) subject->error[i] = error;
  }
}
