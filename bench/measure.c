#define _GNU_SOURCE
#include "measure.h"

#include <math.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

// Minimum number of runs and maximum time, in seconds, of a subject that has not settled.
enum { LEAST_RUNS = 10 };
static double most_seconds(void) {
  const char *wanted = getenv("OD_BENCH_SECONDS");
  const double seconds = wanted != NULL ? atof(wanted) : 0;
  return seconds > 0 ? seconds : 4;
}

static bool says(const char *name, const char *word) {
  const char *value = getenv(name);
  return value != NULL && strcmp(value, word) == 0;
}

bool bench_own_only(void) {
  return says("OD_BENCH_OWN", "yes");
}

bool bench_wants_times(void) {
  return !says("OD_BENCH_TIMES", "no");
}

bool bench_wants_instructions(void) {
  return !says("OD_BENCH_INSTRUCTIONS", "no");
}

void bench_pin(void) {
  // A failure is ignored: it only makes the times noisier.
  const int core = sched_getcpu();
  if (core < 0) return;
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET((size_t)core, &set);
  (void)sched_setaffinity(0, sizeof set, &set);
}

static double processor_seconds(void) {
  struct timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

int bench_advance(const bench_subject *s, int steps) {
  return s->advance(s->self, steps);
}

// One run; its processor time in s, or a negative number.
static double run_once(bench_subject *s) {
  if (s->start(s->self) != 0) return -1;
  const double begin = processor_seconds();
  if (bench_advance(s, s->steps) != 0) return -1;
  return processor_seconds() - begin;
}

static void keep(bench_subject *s, double seconds) {
  const int last = s->runs < BENCH_KEPT ? s->runs : BENCH_KEPT - 1;
  s->runs++;
  if (s->runs > BENCH_KEPT && seconds >= s->least[last]) return;
  int at = last;
  for (; at > 0 && s->least[at - 1] > seconds; at--) s->least[at] = s->least[at - 1];
  s->least[at] = seconds;
}

double bench_best(const bench_subject *s) {
  return s->runs > 0 ? s->least[0] : NAN;
}

double bench_spread(const bench_subject *s) {
  return s->runs >= BENCH_KEPT ? s->least[BENCH_KEPT - 1] / s->least[0] - 1 : INFINITY;
}

static bool settled(const bench_subject *s) {
  return s->runs >= LEAST_RUNS && bench_spread(s) <= BENCH_SPREAD;
}

int bench_settle(bench_subject *subjects, int count) {
  double *used = calloc((size_t)count, sizeof *used);
  if (used == NULL) return -1;
  const double most = most_seconds();
  bool going = bench_wants_times();
  int failed = 0;
  while (going && !failed) {
    going = false;
    for (int i = 0; i < count && !failed; i++) {
      bench_subject *s = &subjects[i];
      if (settled(s) || (s->runs >= BENCH_KEPT && used[i] > most)) continue;
      const double seconds = run_once(s);
      if (seconds < 0) {
        fprintf(stderr, "%s failed\n", s->name);
        failed = -1;
      }
      keep(s, seconds / s->steps);
      used[i] += seconds;
      going = true;
    }
  }
  free(used);
  return failed;
}

double bench_shorten(bench_subject *s) {
  enum { TRIED = 3 };
  const double longest = 1;  // s
  const int steps = s->steps;
  s->steps = steps < TRIED ? steps : TRIED;
  const double seconds = run_once(s) / s->steps;
  if (seconds < 0) fprintf(stderr, "%s failed\n", s->name);
  const double most = longest / fmax(seconds, 1e-9);
  s->steps = most >= steps ? steps : most > 1 ? (int)most : 1;
  return seconds < 0 ? -1 : seconds;
}

void bench_write_figures(const bench_subject *s) {
  const char *path = getenv("OD_BENCH_FIGURES");
  if (path == NULL || s->figure == NULL) return;
  FILE *file = fopen(path, "a");
  if (file == NULL) {
    perror(path);
    return;
  }
  if (s->runs > 0) fprintf(file, "%s\ttime\t%.9g\t%.3g\n", s->figure, bench_best(s), bench_spread(s));
  if (s->instructions > 0) fprintf(file, "%s\tinstructions\t%.9g\t0\n", s->figure, s->instructions);
  fclose(file);
}

void bench_print_number(double value, int width, int decimals) {
  if (isfinite(value) && value > 0)
    printf(" %*.*f", width, decimals, value);
  else
    printf(" %*s", width, "-");
}

void bench_print_spread(const bench_subject *s) {
  if (isfinite(bench_spread(s)))
    printf(" %6.1f %%", 100 * bench_spread(s));
  else
    printf(" %8s", "-");
}

void bench_verdict(const char *kind, const char *what, double value, const char *unit, double limit, bool at_least) {
  if (!isfinite(value) || !(limit > 0)) return;
  printf("%-5s %-4s %s: %.2f %s(%s %.2f)\n", kind, (at_least ? value >= limit : value <= limit) ? "met" : "MISS", what,
         value, unit, at_least ? "at least" : "at most", limit);
}

void bench_print_method(const bench_subject *subjects, int count) {
  printf("times: processor time, least of many runs; spread: the %dth least above it\n", BENCH_KEPT);
  for (int i = 0; i < count; i++)
    if (subjects[i].runs > 0 && !settled(&subjects[i]))
      printf("NOT SETTLED: %s, spread %.1f %% after %d runs (wanted: %.0f %%)\n", subjects[i].name,
             100 * bench_spread(&subjects[i]), subjects[i].runs, 100 * BENCH_SPREAD);
}

double bench_exponent(const int *n, const double *y, int from, int count) {
  double sx = 0, sy = 0, sxx = 0, sxy = 0, k = 0;
  for (int i = from; i < count; i++) {
    if (!(y[i] > 0)) continue;
    const double a = log(n[i]), b = log(y[i]);
    sx += a, sy += b, sxx += a * a, sxy += a * b, k++;
  }
  return k < 2 ? NAN : (k * sxy - sx * sy) / (k * sxx - sx * sx);
}
