// How the cost of a trapezoidal step grows with the number of loops: the N-window four-bar chain (cases/fourbar-chain).
//
//   bench_chain INSTRUCTIONS.sh CHAIN.yaml ...   the table: N, time to load, time, instructions, a change of coordinates, exponents
//   bench_chain --steps COUNT CHAIN.yaml         just so many steps, for instructions.sh
//
// Instructions: see instructions.h. They are not counted where loading takes a second: callgrind needs fifty times as long for it.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "instructions.h"
#include "loaded.h"

static const double step = 5e-3;

typedef struct chain {
  bench_loaded loaded;
  // For changes of coordinates: the plant's work memory and a point; room for a residual and a mass matrix.
  void *work;
  double *x, *k, *g, *mass;
} chain;

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

// A change of coordinates, and the rates in the new ones: what od_sim_repartition() does where it is due. This chain never needs it:
// the coordinates stay, and there is nothing to exchange. Where rows have become bad, the search from the start costs more.
static int change(void *self, int changes) {
  chain *c = self;
  const od_plant *plant = c->loaded.plant;
  const od_plant_ops *ops = plant->ops;
  for (int i = 0; i < changes; i++) {
    if (ops->repartition(plant, c->work, c->x, NULL, NULL) != OD_OK) return -1;
    memset(c->k, 0, (size_t)od_plant_nk(plant) * sizeof *c->k);
    if (ops->residual(plant, c->work, 0, c->x, c->k, NULL, c->g) != OD_OK) return -1;
    if (ops->step_matrix(plant, c->work, 0, 0, c->mass) != OD_OK) return -1;
    // It has one freedom.
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

int main(int argc, char **argv) {
  enum { MAX = 16 };
  static chain chains[MAX];
  if (argc == 4 && strcmp(argv[1], "--steps") == 0) {
    chain *c = &chains[0];
    const bench_subject subject = {.self = c, .advance = run};
    if (bench_load(&c->loaded, argv[3], false) != 0 || start(c) != 0 || bench_advance(&subject, atoi(argv[2])) != 0)
      return 1;
    chain_close(c);
    return 0;
  }
  if (argc < 3 || argc > 2 + MAX) {
    fprintf(stderr, "usage: bench_chain INSTRUCTIONS.sh CHAIN.yaml ...\n       bench_chain --steps COUNT CHAIN.yaml\n");
    return 2;
  }

  const int count = argc - 2;
  char **files = argv + 2;
  bench_subject subjects[2 * MAX];  // steps, then changes of coordinates
  int n[MAX];
  double load[MAX];  // s of processor time, once
  for (int i = 0; i < count; i++) {
    const clock_t begin = clock();
    if (bench_load(&chains[i].loaded, files[i], false) != 0) return 1;
    load[i] = (double)(clock() - begin) / CLOCKS_PER_SEC;
    n[i] = windows(chains[i].loaded.machine);
    subjects[i] = (bench_subject){.step = step, .self = &chains[i], .start = start, .advance = run, .steps = 1000};
    snprintf(subjects[i].name, sizeof subjects[i].name, "chain of %d windows, step", n[i]);
    subjects[i].figure = subjects[i].name;
    bench_subject *changes = &subjects[count + i];
    *changes = (bench_subject){.self = &chains[i], .start = start_changes, .advance = change};
    changes->steps = n[i] < 20 ? 1000 : 20000 / n[i];
    snprintf(changes->name, sizeof changes->name, "chain of %d windows, change", n[i]);
    changes->figure = changes->name;
  }

  bench_pin();
  if (bench_settle(subjects, 2 * count) != 0) return 1;

  printf("N-window four-bar chain, trapezoidal rule at %g ms\n\n", 1e3 * step);
  printf("%6s %8s %9s %12s %8s %12s %13s %14s\n", "N", "bodies", "load, ms", "us/step", "spread", "us/step/N",
         "change, steps", "instr./step");
  double time[MAX], work[MAX];
  for (int i = 0; i < count; i++) {
    time[i] = 1e6 * bench_best(&subjects[i]);
    const bench_callgrind how = {
        .script = argv[1], .program = argv[0], .arguments = {files[i]}, .few = 20, .many = 120};
    work[i] = subjects[i].instructions = load[i] < 1 ? bench_instructions(&subjects[i], &how) : 0;
    bench_write_figures(&subjects[i]);
    bench_write_figures(&subjects[count + i]);
    printf("%6d %8d %9.1f %12.3f %6.1f %% %12.3f %13.1f ", n[i], 2 * n[i] + 1, 1e3 * load[i], time[i],
           100 * bench_spread(&subjects[i]), time[i] / n[i], 1e6 * bench_best(&subjects[count + i]) / time[i]);
    if (work[i] > 0)
      printf("%14.0f\n", work[i]);
    else
      printf("%14s\n", "-");
    fflush(stdout);
    chain_close(&chains[i]);
  }
  printf("\nfitted exponent (cost ~ N^e): time %.2f, instructions %.2f; without N = %d: time %.2f, instructions %.2f\n",
         bench_exponent(n, time, 0, count), bench_exponent(n, work, 0, count), n[0], bench_exponent(n, time, 1, count),
         bench_exponent(n, work, 1, count));
  printf("instructions by %s\n", bench_instructions_source());
  printf(
      "change: coordinates chosen again within a run, and the rates in them; rows serve as before, and the choice is the same\n");
  bench_print_method(subjects, 2 * count);
  return 0;
}
