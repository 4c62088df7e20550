// How the cost of a trapezoidal step grows with the number of loops: the N-window four-bar chain (cases/fourbar-chain).
//
//   bench_chain INSTRUCTIONS.sh CHAIN.yaml ...   the table: N, time to load, time, instructions, a change of coordinates, exponents
//   bench_chain --steps COUNT CHAIN.yaml         only COUNT steps, for instructions.sh
//
// Instructions: see instructions.h. Measurements that are omitted because they take too long: see growth.h.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "growth.h"
#include "instructions.h"
#include "loaded.h"

static const double step = 5e-3;

typedef struct chain {
  bench_loaded loaded;
  // For changes of coordinates: the plant's work memory and a point; memory for a residual and a mass matrix.
  void *work;
  double *x, *k, *g, *mass;
} chain;

enum { MOST_CHAINS = 16 };
static chain chains[MOST_CHAINS];

static void chain_close(chain *c) {
  free(c->work);
  free(c->x);
  free(c->k);
  free(c->g);
  free(c->mass);
  bench_unload(&c->loaded);
}

static int run(void *self, int steps) {
  chain *c = self;
  // An int in the libraries of older commits, a bool now: void * fits both.
  int changed = 0;
  for (int i = 0; i < steps; i++)
    if (od_sim_step(c->loaded.sim, step, NULL) != OD_OK ||
        od_sim_repartition(c->loaded.sim, NULL, (void *)&changed) != OD_OK)
      return -1;
  return 0;
}

// A change of coordinates, and the rates in the new coordinates, as in od_sim_repartition(). This chain never needs a change: the
// coordinates stay the same, and nothing is exchanged. If pivot rows have become bad, a full search costs more.
static int change(void *self, int changes) {
  chain *c = self;
  const od_plant *plant = c->loaded.plant;
  const od_plant_ops *ops = plant->ops;
  for (int i = 0; i < changes; i++) {
    if (ops->repartition(plant, c->work, c->x, NULL, NULL) != OD_OK) return -1;
    memset(c->k, 0, (size_t)od_plant_nk(plant) * sizeof *c->k);
    if (ops->residual(plant, c->work, 0, c->x, c->k, NULL, c->g) != OD_OK) return -1;
    if (ops->step_matrix(plant, c->work, 0, 0, c->mass) != OD_OK) return -1;
    // The chain has one degree of freedom.
    c->k[0] = -c->g[0] / c->mass[0];
    if (ops->residual(plant, c->work, 0, c->x, c->k, NULL, c->g) != OD_OK) return -1;
  }
  return 0;
}

static int start_changes(void *self) {
  chain *c = self;
  size_t nx = (size_t)od_plant_nx(c->loaded.plant), nk = (size_t)od_plant_nk(c->loaded.plant), size = sizeof(double);
  if (nk != 1) return -1;
  if (!c->work) {
    c->work = malloc(c->loaded.plant->work_size);
    c->x = calloc(nx, size), c->k = calloc(nk, size), c->g = calloc(nk, size), c->mass = calloc(nk * nk, size);
  }
  if (!c->work || !c->x || !c->k || !c->g || !c->mass) return -1;
  if (c->loaded.plant->ops->start(c->loaded.plant, c->work, c->x) != OD_OK) return -1;
  return c->loaded.plant->ops->residual(c->loaded.plant, c->work, 0, c->x, c->k, NULL, c->g) == OD_OK ? 0 : -1;
}

static int start(void *self) {
  chain *c = self;
  return od_sim_start(c->loaded.sim, 0, NULL) == OD_OK ? 0 : -1;
}

// N: the bars' joints on the ground are A0 ... AN.
static int windows(const od_machine *machine) {
  int n = 0;
  char name[32];
  while (snprintf(name, sizeof name, "A%d.angle", n + 1), od_machine_output_find(machine, name) >= 0) n++;
  return n;
}

static int only_steps(int steps, const char *file) {
  chain *c = &chains[0];
  const bench_subject subject = {.self = c, .advance = run};
  if (bench_load(&c->loaded, file, false) != 0 || start(c) != 0 || bench_advance(&subject, steps) != 0) return 1;
  chain_close(c);
  return 0;
}

// The chains of the table: windows, s of processor time to load a chain, approximate s per step, us and instructions per step, cost
// of a change of coordinates in steps.
typedef struct chain_table {
  int n[MOST_CHAINS], count;
  double load[MOST_CHAINS], tried[MOST_CHAINS], time[MOST_CHAINS], work[MOST_CHAINS], change[MOST_CHAINS];
} chain_table;

static int load_chain(const char *file, int i, chain_table *t, bench_subject *steps, bench_subject *changes) {
  const clock_t begin = clock();
  if (bench_load(&chains[i].loaded, file, false) != 0) return -1;
  t->load[i] = (double)(clock() - begin) / CLOCKS_PER_SEC;
  const int n = t->n[i] = windows(chains[i].loaded.machine);
  *steps = (bench_subject){.step = step, .self = &chains[i], .start = start, .advance = run, .steps = 1000};
  snprintf(steps->name, sizeof steps->name, "chain of %d windows, step", n);
  steps->figure = steps->name;
  *changes = (bench_subject){.self = &chains[i], .start = start_changes, .advance = change};
  changes->steps = n < 20 ? 1000 : n < 20000 ? 20000 / n : 1;
  snprintf(changes->name, sizeof changes->name, "chain of %d windows, change", n);
  changes->figure = changes->name;
  t->tried[i] = bench_shorten(steps);
  return t->tried[i] < 0 || bench_shorten(changes) < 0 ? -1 : 0;
}

static void print_row(const chain_table *t, int i, const bench_subject *s) {
  printf("%6d %8d %9.1f", t->n[i], 2 * t->n[i] + 1, 1e3 * t->load[i]);
  bench_print_number(t->time[i], 12, 3);
  bench_print_spread(s);
  bench_print_number(t->time[i] / t->n[i], 12, 3);
  bench_print_number(t->change[i], 13, 1);
  bench_print_number(t->work[i], 14, 0);
  printf("\n");
  fflush(stdout);
}

static void judge(const chain_table *t) {
  static const struct {
    int n;
    double load, change;  // upper limits; 0: no limit
  } wanted[] = {{40, 0, 5}, {400, 1, 0}, {1000, 4, 0}};
  if (t->count > 2 && t->n[t->count - 1] >= 1000)
    bench_verdict("must", "exponent of the time of a step, without N = 1", bench_exponent(t->n, t->time, 1, t->count),
                  "", 1.15, false);
  for (int i = 0; i < t->count; i++)
    for (size_t k = 0; k < sizeof wanted / sizeof *wanted; k++) {
      char what[64];
      if (t->n[i] != wanted[k].n) continue;
      snprintf(what, sizeof what, "a change of coordinates at N = %d", t->n[i]);
      bench_verdict("must", what, t->change[i], "steps ", wanted[k].change, false);
      snprintf(what, sizeof what, "loading N = %d", t->n[i]);
      bench_verdict("must", what, t->load[i], "s ", wanted[k].load, false);
    }
}

int main(int argc, char **argv) {
  if (argc == 4 && strcmp(argv[1], "--steps") == 0) return only_steps(atoi(argv[2]), argv[3]);
  if (argc < 3 || argc > 2 + MOST_CHAINS) {
    fprintf(stderr, "usage: bench_chain INSTRUCTIONS.sh CHAIN.yaml ...\n       bench_chain --steps COUNT CHAIN.yaml\n");
    return 2;
  }
  static chain_table t;
  static bench_subject steps[MOST_CHAINS], changes[MOST_CHAINS], all[2 * MOST_CHAINS];
  char **files = argv + 2;
  const int given = argc - 2;
  printf("N-window four-bar chain, trapezoidal rule at %g ms\n\n", 1e3 * step);
  bench_pin();
  while (t.count < given) {
    if (load_chain(files[t.count], t.count, &t, &steps[t.count], &changes[t.count]) != 0) return 1;
    t.count++;
    if (!bench_goes_on(t.load[t.count - 1], files, t.count, given)) break;
  }
  memcpy(all, steps, (size_t)t.count * sizeof *all);
  memcpy(all + t.count, changes, (size_t)t.count * sizeof *all);
  if (bench_settle(all, 2 * t.count) != 0) return 1;

  printf("%6s %8s %9s %12s %8s %12s %13s %14s\n", "N", "bodies", "load, ms", "us/step", "spread", "us/step/N",
         "change, steps", "instr./step");
  for (int i = 0; i < t.count; i++) {
    bench_subject *s = &all[i];
    const bench_callgrind how = {
        .script = argv[1], .program = argv[0], .arguments = {files[i]}, .few = 20, .many = 120};
    t.time[i] = 1e6 * bench_best(s);
    t.change[i] = bench_best(&all[t.count + i]) / bench_best(s);
    if (bench_can_count(t.load[i], t.tried[i])) s->instructions = bench_instructions(s, &how);
    t.work[i] = s->instructions;
    bench_write_figures(s);
    bench_write_figures(&all[t.count + i]);
    print_row(&t, i, s);
    chain_close(&chains[i]);
  }
  printf("\nfitted exponent (cost ~ N^e):");
  bench_print_exponents(t.n, t.time, t.work, 0, t.count);
  printf("; without N = %d:", t.n[0]);
  bench_print_exponents(t.n, t.time, t.work, 1, t.count);
  printf("\ninstructions by %s\n", bench_instructions_source());
  printf(
      "change: coordinates chosen again within a run, and the rates in them; the rows and the choice stay the same\n");
  bench_print_method(all, 2 * t.count);
  judge(&t);
  return 0;
}
