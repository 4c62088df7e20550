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

enum { MOST_MACHINES = 16 };
static machine_subject machines[MOST_MACHINES];

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

// Peak memory of the process so far, MB.
static double memory_used(void) {
  struct rusage usage;
  return getrusage(RUSAGE_SELF, &usage) == 0 ? (double)usage.ru_maxrss / 1024 : NAN;
}

bool bench_goes_on(double load, char **files, int from, int count) {
  const double longest = 3;  // s
  if (load <= longest || from >= count) return true;
  printf("loading took %.1f s; larger ones are omitted:", load);
  for (int i = from; i < count; i++) printf(" %s", files[i]);
  printf("\n\n");
  return false;
}

bool bench_can_count(double load, double step) {
  return load < 1 && step < 4e-3;
}

static void print_exponent(const char *name, double value) {
  printf(" %s", name);
  bench_print_number(value, 0, 2);
}

void bench_print_exponents(const int *n, const double *time, const double *work, int from, int count) {
  print_exponent("time", bench_exponent(n, time, from, count));
  printf(",");
  print_exponent("instructions", bench_exponent(n, work, from, count));
}

// The machines of the table: cost of loading, and cost of steps.
typedef struct growth_table {
  int n[MOST_MACHINES], count;
  double load[MOST_MACHINES], used[MOST_MACHINES], block[MOST_MACHINES];  // s of processor time, once; MB; kB
  double tried[MOST_MACHINES];                                            // approximate s per step
  double time[MOST_MACHINES], work[MOST_MACHINES];                        // us and instructions per step
} growth_table;

static int load_machine(const bench_growth_kind *kind, const char *file, int i, growth_table *t, bench_subject *s) {
  machine_subject *machine = &machines[i];
  const clock_t begin = clock();
  if (bench_load(&machine->loaded, file, true) != 0) return -1;
  t->load[i] = (double)(clock() - begin) / CLOCKS_PER_SEC;
  t->used[i] = memory_used();
  t->block[i] = (double)machine->loaded.bytes / 1024;
  const int n = t->n[i] = od_plant_nk(machine->loaded.plant);
  machine->step = kind->step;
  *s = (bench_subject){.step = kind->step, .self = machine, .start = start, .advance = run};
  s->steps = kind->steps ? kind->steps : n < 200 ? 1000 : 200000 / n;
  snprintf(s->name, sizeof s->name, "%s of %d %s, step", kind->machine, n, kind->parts);
  s->figure = s->name;
  t->tried[i] = bench_shorten(s);
  return t->tried[i] < 0 ? -1 : 0;
}

static void print_row(const growth_table *t, int i, const bench_subject *s) {
  printf("%6d %9.1f %12.1f %9.0f", t->n[i], 1e3 * t->load[i], t->used[i], t->block[i]);
  bench_print_number(t->time[i], 12, 3);
  bench_print_spread(s);
  bench_print_number(t->time[i] / t->n[i], 12, 3);
  bench_print_number(t->work[i], 14, 0);
  printf("\n");
  fflush(stdout);
}

static void judge(const bench_growth_kind *kind, const growth_table *t) {
  char what[96];
  int count = 0;
  while (count < t->count && t->n[count] <= kind->most_parts) count++;
  if (count < 2) return;
  snprintf(what, sizeof what, "exponent of the time of a step, %d to %d %s", t->n[0], t->n[count - 1], kind->parts);
  bench_verdict("must", what, bench_exponent(t->n, t->time, 0, count), "", kind->most_exponent, false);
}

static int only_steps(const bench_growth_kind *kind, int steps, const char *file) {
  machine_subject *c = &machines[0];
  const bench_subject subject = {.self = c, .advance = run};
  c->step = kind->step;
  if (bench_load(&c->loaded, file, true) != 0 || start(c) != 0 || bench_advance(&subject, steps) != 0) return 1;
  bench_unload(&c->loaded);
  return 0;
}

int bench_growth(const bench_growth_kind *kind, int argc, char **argv) {
  if (argc == 4 && strcmp(argv[1], "--steps") == 0) return only_steps(kind, atoi(argv[2]), argv[3]);
  if (argc < 3 || argc > 2 + MOST_MACHINES) {
    fprintf(stderr, "usage: %s INSTRUCTIONS.sh MACHINE.yaml ...\n       %s --steps COUNT MACHINE.yaml\n", argv[0],
            argv[0]);
    return 2;
  }
  static growth_table t;
  static bench_subject subjects[MOST_MACHINES];
  char **files = argv + 2;
  const int given = argc - 2;
  printf("%s of N %s, trapezoidal rule at %g ms\n\n", kind->machine, kind->parts, 1e3 * kind->step);
  bench_pin();
  while (t.count < given) {
    if (load_machine(kind, files[t.count], t.count, &t, &subjects[t.count]) != 0) return 1;
    t.count++;
    if (!bench_goes_on(t.load[t.count - 1] + t.tried[t.count - 1], files, t.count, given)) break;
  }
  if (bench_settle(subjects, t.count) != 0) return 1;

  printf("%6s %9s %12s %9s %12s %8s %12s %14s\n", "N", "load, ms", "process, MB", "sim, kB", "us/step", "spread",
         "us/step/N", "instr./step");
  for (int i = 0; i < t.count; i++) {
    const bench_callgrind how = {
        .script = argv[1], .program = argv[0], .arguments = {files[i]}, .few = 20, .many = 120};
    t.time[i] = 1e6 * bench_best(&subjects[i]);
    if (bench_can_count(t.load[i], t.tried[i])) subjects[i].instructions = bench_instructions(&subjects[i], &how);
    t.work[i] = subjects[i].instructions;
    bench_write_figures(&subjects[i]);
    print_row(&t, i, &subjects[i]);
    bench_unload(&machines[i].loaded);
  }
  printf("\nfitted exponent (cost ~ N^e):");
  bench_print_exponents(t.n, t.time, t.work, 0, t.count);
  printf("; without N = %d:", t.n[0]);
  bench_print_exponents(t.n, t.time, t.work, 1, t.count);
  printf("\nmemory:");
  print_exponent("process", bench_exponent(t.n, t.used, 0, t.count));
  printf(",");
  print_exponent("simulation", bench_exponent(t.n, t.block, 0, t.count));
  printf(";");
  print_exponent("load", bench_exponent(t.n, t.load, 0, t.count));
  printf("\ninstructions by %s\n", bench_instructions_source());
  bench_print_method(subjects, t.count);
  judge(kind, &t);
  return 0;
}
