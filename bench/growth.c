#include "growth.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "instructions.h"
#include "loaded.h"

typedef struct machine_subject {
  bench_loaded loaded;
  double step;
} machine_subject;

static int run(void *self, int steps) {
  machine_subject *c = self;
  double u[8];
  for (int i = 0; i < steps; i++) {
    od_machine_inputs(c->loaded.machine, od_sim_time(c->loaded.sim) + c->step, u);
    if (od_sim_step(c->loaded.sim, c->step, u) != OD_OK) return -1;
  }
  return 0;
}

static int start(void *self) {
  machine_subject *c = self;
  double u[8];
  if (c->loaded.plant->nu > 8) return -1;
  od_machine_inputs(c->loaded.machine, 0, u);
  return od_sim_start(c->loaded.sim, 0, u) == OD_OK ? 0 : -1;
}

// MB that the process has used at most so far.
static double memory_used(void) {
  struct rusage usage;
  return getrusage(RUSAGE_SELF, &usage) == 0 ? (double)usage.ru_maxrss / 1024 : NAN;
}

int bench_growth(const bench_growth_kind *kind, int argc, char **argv) {
  enum { MAX = 16 };
  static machine_subject machines[MAX];
  if (argc == 4 && strcmp(argv[1], "--steps") == 0) {
    machine_subject *c = &machines[0];
    const bench_subject subject = {.self = c, .advance = run};
    c->step = kind->step;
    if (bench_load(&c->loaded, argv[3], true) != 0 || start(c) != 0 || bench_advance(&subject, atoi(argv[2])) != 0)
      return 1;
    bench_unload(&c->loaded);
    return 0;
  }
  if (argc < 3 || argc > 2 + MAX) {
    fprintf(stderr, "usage: %s INSTRUCTIONS.sh MACHINE.yaml ...\n       %s --steps COUNT MACHINE.yaml\n", argv[0],
            argv[0]);
    return 2;
  }

  const int count = argc - 2;
  char **files = argv + 2;
  bench_subject subjects[MAX];
  int n[MAX];
  double load[MAX], used[MAX], block[MAX];  // s of processor time, once; MB; kB
  for (int i = 0; i < count; i++) {
    const clock_t begin = clock();
    if (bench_load(&machines[i].loaded, files[i], true) != 0) return 1;
    load[i] = (double)(clock() - begin) / CLOCKS_PER_SEC;
    used[i] = memory_used();
    block[i] = (double)machines[i].loaded.bytes / 1024;
    n[i] = od_plant_nk(machines[i].loaded.plant);
    machines[i].step = kind->step;
    subjects[i] = (bench_subject){.step = kind->step, .self = &machines[i], .start = start, .advance = run};
    subjects[i].steps = kind->steps ? kind->steps : n[i] < 200 ? 1000 : 200000 / n[i];
    snprintf(subjects[i].name, sizeof subjects[i].name, "%s of %d %s, step", kind->machine, n[i], kind->parts);
    subjects[i].figure = subjects[i].name;
  }

  bench_pin();
  if (bench_settle(subjects, count) != 0) return 1;

  printf("%s of N %s, trapezoidal rule at %g ms\n\n", kind->machine, kind->parts, 1e3 * kind->step);
  printf("%6s %9s %12s %9s %12s %8s %12s %14s\n", "N", "load, ms", "process, MB", "sim, kB", "us/step", "spread",
         "us/step/N", "instr./step");
  double time[MAX], work[MAX];
  for (int i = 0; i < count; i++) {
    time[i] = 1e6 * bench_best(&subjects[i]);
    const bench_callgrind how = {
        .script = argv[1], .program = argv[0], .arguments = {files[i]}, .few = 20, .many = 120};
    work[i] = subjects[i].instructions = load[i] < 1 ? bench_instructions(&subjects[i], &how) : 0;
    bench_write_figures(&subjects[i]);
    printf("%6d %9.1f %12.1f %9.0f %12.3f %6.1f %% %12.3f ", n[i], 1e3 * load[i], used[i], block[i], time[i],
           100 * bench_spread(&subjects[i]), time[i] / n[i]);
    if (work[i] > 0)
      printf("%14.0f\n", work[i]);
    else
      printf("%14s\n", "-");
    fflush(stdout);
    bench_unload(&machines[i].loaded);
  }
  printf("\nfitted exponent (cost ~ N^e): time %.2f, instructions %.2f; without N = %d: time %.2f, instructions %.2f\n",
         bench_exponent(n, time, 0, count), bench_exponent(n, work, 0, count), n[0], bench_exponent(n, time, 1, count),
         bench_exponent(n, work, 1, count));
  printf("memory: process %.2f, simulation %.2f; load %.2f\n", bench_exponent(n, used, 0, count),
         bench_exponent(n, block, 0, count), bench_exponent(n, load, 0, count));
  printf("instructions by %s\n", bench_instructions_source());
  bench_print_method(subjects, count);
  return 0;
}
