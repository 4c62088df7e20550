// Functions of machines as plants depend on the point alone: neither on what is in the caller's arrays before the call, nor on earlier points, nor
// on points that cannot be evaluated in between. Oracle: the same call with other contents, which must give the same bits.
//
// Random machines and machines of cases/ with loops, charts, circuits, blocks, samples and jumps, with all outputs and many parameters.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/test.h"

#include "integrate/sim_block.h"
#include "machine/machine.h"
#include "oleodyn/sim.h"
#include "plant/model_plant.h"
#include "support/machines.h"
#include "support/random_machine.h"

enum { MOST_PARAMETERS = 40, RESULTS = 24 };

typedef struct bench {
  char name[80];
  od_plant *plant;
  od_sim *sim;
  int nx, nk, nu, ny, np;
  double t, *x, *k, *u;
  char *kept;  // a copy of the work memory at the point
} bench;

static void *take(size_t count, size_t size) {
  void *memory = calloc(count + 1, size);
  assert_non_null(memory);
  return memory;
}

// Advances a machine by some steps. Returns false if a step fails.
static bool open_bench(bench *b, const od_model *m, const char *name, const double *u0, double h) {
  *b = (bench){0};
  snprintf(b->name, sizeof b->name, "%s", name);
  int *outputs = take((size_t)m->outputs, sizeof *outputs), parameter[MOST_PARAMETERS];
  for (int i = 0; i < m->outputs; i++) outputs[i] = i;
  int apart = 1 + m->numbers / MOST_PARAMETERS;
  for (int i = 0; i < m->numbers && b->np < MOST_PARAMETERS; i += apart)
    if (!m->planar || !strstr(od_number_path(m, i), "axis")) parameter[b->np++] = i;
  assert_int_equal(od_model_plant(m, outputs, m->outputs, parameter, b->np, &b->plant, NULL), OD_OK);
  free(outputs);
  b->sim = od_sim_new(b->plant);
  assert_non_null(b->sim);
  b->nx = od_plant_nx(b->plant), b->nk = od_plant_nk(b->plant), b->nu = b->plant->nu, b->ny = b->plant->ny;
  b->x = take((size_t)b->nx, sizeof *b->x), b->k = take((size_t)b->nk, sizeof *b->k);
  b->u = take((size_t)b->nu, sizeof *b->u), b->kept = take(b->plant->work_size, 1);
  for (int i = 0; i < b->nu; i++) b->u[i] = u0 ? u0[i] : 0.3 * (i + 1);
  od_status status = od_sim_start(b->sim, 0, b->u);
  for (int i = 0; i < 7 && status == OD_OK; i++) status = od_sim_step(b->sim, h, b->u);
  b->t = od_sim_time(b->sim);
  if (status == OD_OK) {
    memcpy(b->x, od_sim_state(b->sim), (size_t)b->nx * sizeof *b->x);
    memcpy(b->k, od_sim_rates(b->sim), (size_t)b->nk * sizeof *b->k);
  }
  return status == OD_OK;
}

static void close_bench(bench *b) {
  od_sim_free(b->sim);
  od_plant_free(b->plant);
  free(b->x), free(b->k), free(b->u), free(b->kept);
}

static od_status evaluate(bench *b, double *g) {
  return b->plant->ops->residual(b->plant, od_sim_work(b->sim), b->t, b->x, b->k, b->u, g);
}

// ---- all functions of a plant at one point

typedef struct result {
  const char *what;
  double *value;
  size_t count;
} result;

typedef struct results {
  result item[RESULTS];
  int count;
} results;

// Returns an array for a result, filled with `fill`.
static double *add(results *r, const char *what, int rows, int columns, double fill) {
  assert_true(r->count < RESULTS);
  result *item = &r->item[r->count++];
  *item = (result){what, take((size_t)rows * (size_t)columns, sizeof *item->value), (size_t)rows * (size_t)columns};
  for (size_t i = 0; i < item->count; i++) item->value[i] = fill;
  return item->value;
}

// Calls the functions that do not change the point. Derivatives of the rates are given numbers: outputs are linear in them.
static void call_all(bench *b, double fill, results *r) {
  const od_plant *plant = b->plant;
  const od_plant_ops *ops = plant->ops;
  void *work = od_sim_work(b->sim);
  const int nx = b->nx, nk = b->nk, nu = b->nu, ny = b->ny, np = b->np;
  const int columns[] = {nx, nu, np};
  double *by[3];
  *r = (results){.count = 0};
  for (int i = 0; i < 3; i++) {
    by[i] = take((size_t)nk * (size_t)columns[i], sizeof *by[i]);
    for (int j = 0; j < nk * columns[i]; j++) by[i][j] = 0.1 + 0.01 * (j % 17);
  }
  assert_int_equal(evaluate(b, add(r, "g", nk, 1, fill)), OD_OK);
  assert_int_equal(ops->step_matrix(plant, work, 0.02, 0.1, add(r, "step matrix", nk, nk, fill)), OD_OK);
  assert_int_equal(ops->step_matrix(plant, work, 0, 0, add(r, "mass matrix", nk, nk, fill)), OD_OK);
  double *gx = add(r, "gx", nk, nx, fill), *gk = add(r, "gk", nk, nk, fill), *gu = add(r, "gu", nk, nu, fill);
  assert_int_equal(ops->jacobians(plant, work, gx, gk, gu), OD_OK);
  assert_int_equal(ops->jacobians(plant, work, add(r, "gx alone", nk, nx, fill), NULL, NULL), OD_OK);
  assert_int_equal(ops->jacobians(plant, work, NULL, add(r, "gk alone", nk, nk, fill), NULL), OD_OK);
  assert_int_equal(ops->jacobians(plant, work, NULL, NULL, add(r, "gu alone", nk, nu, fill)), OD_OK);
  assert_int_equal(ops->parameter_jacobian(plant, work, add(r, "gp", nk, np, fill)), OD_OK);
  assert_int_equal(ops->outputs(plant, work, NULL, add(r, "y", ny, 1, fill)), OD_OK);
  double *hx = add(r, "hx", ny, nx, fill), *hu = add(r, "hu", ny, nu, fill), *hp = add(r, "hp", ny, np, fill);
  assert_int_equal(ops->output_jacobians(plant, work, NULL, NULL, by[0], by[1], by[2], hx, hu, hp), OD_OK);
  if (plant->nq) assert_int_equal(ops->powers(plant, work, add(r, "powers", plant->nq, 1, fill)), OD_OK);
  if (od_plant_guards(plant))
    assert_int_equal(ops->guards(plant, work, add(r, "guards", od_plant_guards(plant), 1, fill)), OD_OK);
  if (ops->force_stiffness)
    assert_int_equal(ops->force_stiffness(plant, work, add(r, "stiffness", plant->nz, plant->nz, fill)), OD_OK);
  if (plant->jumps) {
    const od_point_change along = {.x = by[0], .u = by[1], .p = by[2]};
    assert_int_equal(ops->held_jacobian(plant, work, add(r, "gv", nk, plant->jumps, fill)), OD_OK);
    assert_int_equal(ops->guard_slopes(plant, work, along, add(r, "guard slopes", plant->jumps, 1, fill)), OD_OK);
  }
  for (int i = 0; i < 3; i++) free(by[i]);
}

static void free_results(results *r) {
  for (int i = 0; i < r->count; i++) free(r->item[i].value);
}

static void same_results(const bench *b, const char *after, const results *got, const results *want) {
  assert_int_equal(got->count, want->count);
  for (int i = 0; i < got->count; i++)
    for (size_t k = 0; k < got->item[i].count; k++) {
      double g = got->item[i].value[k], w = want->item[i].value[k];
      if (isfinite(w) && g == w) continue;
      fail_msg("%s, after %s: %s, entry %zu of %zu: %.17g, expected %.17g", b->name, after, got->item[i].what, k,
               got->item[i].count, g, w);
    }
}

// ---- checks

// All calls begin with the same work memory: iterations begin at the last point, and end at the same point only within round-off.
static void check_arrays(bench *b) {
  results want, got;
  void *work = od_sim_work(b->sim);
  memcpy(b->kept, work, b->plant->work_size);
  call_all(b, 0, &want);
  static const double fills[] = {1e30, NAN};
  for (int i = 0; i < 2; i++) {
    memcpy(work, b->kept, b->plant->work_size);
    call_all(b, fills[i], &got);
    same_results(b, i ? "NaN in all arrays" : "1e30 in all arrays", &got, &want);
    free_results(&got);
  }
  free_results(&want);
}

// Maps of new coordinates and samples. Both change the work memory, which is restored.
static void check_maps(bench *b) {
  const od_plant *plant = b->plant;
  void *work = od_sim_work(b->sim);
  double *g = take((size_t)b->nk, sizeof *g);
  assert_int_equal(evaluate(b, g), OD_OK);
  memcpy(b->kept, work, plant->work_size);
  for (int kind = 0; kind < 2; kind++) {
    results r[2] = {{.count = 0}, {.count = 0}};
    if (kind ? !plant->ops->sample : !plant->ops->repartition) continue;
    for (int i = 0; i < 2; i++) {
      double fill = i ? NAN : 0, *x = add(&r[i], kind ? "sampled x" : "x", b->nx, 1, 0);
      double *map = add(&r[i], kind ? "sample map" : "map", b->nx, b->nx, fill),
             *by = add(&r[i], kind ? "sample map of p" : "map of p", b->nx, b->np, fill);
      memcpy(work, b->kept, plant->work_size);
      memcpy(x, b->x, (size_t)b->nx * sizeof *x);
      double t = plant->ops->next_sample ? plant->ops->next_sample(plant, work) : b->t;
      assert_int_equal(kind ? plant->ops->sample(plant, work, isfinite(t) ? t : b->t, x, map, by)
                            : plant->ops->repartition(plant, work, x, map, by),
                       OD_OK);
    }
    same_results(b, "NaN in all maps", &r[1], &r[0]);
    free_results(&r[0]), free_results(&r[1]);
    memcpy(work, b->kept, plant->work_size);
  }
  free(g);
}

// Points that cannot be evaluated, and points far away. After them the saved point is restored, and the iteration for dependent coordinates begins
// there: every result is the same, whatever the last point was.
static void check_failures(bench *b) {
  const od_plant *plant = b->plant;
  void *work = od_sim_work(b->sim);
  double *g = take((size_t)b->nk, sizeof *g), *x = take((size_t)b->nx, sizeof *x), *k = take((size_t)b->nk, sizeof *k);
  results want = {.count = 0}, got;
  // The saved point is near the point of the comparison, so that a prediction from the saved point would have an effect.
  memcpy(x, b->x, (size_t)b->nx * sizeof *x);
  for (int i = 0; i < plant->nz; i++) x[i] += 2e-3;
  if (plant->ops->residual(plant, work, b->t, x, b->k, b->u, g) != OD_OK) {
    plant->ops->settle(plant, work, true);
    assert_int_equal(evaluate(b, g), OD_OK);
  }
  plant->ops->settle(plant, work, false);
  for (int trial = 0; trial < 6; trial++) {
    memcpy(x, b->x, (size_t)b->nx * sizeof *x), memcpy(k, b->k, (size_t)b->nk * sizeof *k);
    const int nz = plant->nz;
    for (int i = 0; i < b->nx; i++) {
      if (trial == 1) x[i] = NAN;
      if (trial == 2 && i < nz) x[i] += 0.03 * (i % 2 ? 1 : -1);  // a point nearby
      if (trial == 3 && i < nz) x[i] += 5;                        // most loops cannot be closed
      if (trial == 4 && i >= nz && i < 2 * nz) x[i] = 7 - i;
      if (trial == 5 && i == (nz ? nz - 1 : 0)) x[i] = INFINITY;
    }
    for (int i = 0; i < b->nk && trial == 4; i++) k[i] = 100 * (i + 1);
    if (trial > 0) plant->ops->residual(plant, work, b->t, x, k, b->u, g);
    plant->ops->settle(plant, work, true);
    call_all(b, 0, trial ? &got : &want);
    if (trial) same_results(b, "another point", &got, &want), free_results(&got);
  }
  free_results(&want);
  free(g), free(x), free(k);
}

static void check_machine(const od_model *m, const char *name, const double *u, double h, int *machines) {
  bench b;
  if (open_bench(&b, m, name, u, h)) {
    check_arrays(&b);
    check_maps(&b);
    if (m->junctions == 0) check_failures(&b);  // the iteration for pressures of junctions begins at the last point
    ++*machines;
  }
  close_bench(&b);
}

static void random_machines(void **state) {
  (void)state;
  int machines = 0;
  for (uint64_t seed = 1; seed <= 24; seed++) {
    od_model *m = od_random_machine(seed, seed % 2, seed / 2 % 2, seed / 4 % 2, seed / 8 % 2);
    char name[40];
    snprintf(name, sizeof name, "random machine %d", (int)seed);
    if (m) check_machine(m, name, NULL, 1e-4, &machines);
    od_model_free(m);
  }
  print_message("%d random machines\n", machines);
  assert_true(machines > 12);
}

static void cases(void **state) {
  (void)state;
  static const char *const names[] = {"rssr",      "fourbar-valve", "slider-crank", "press",
                                      "fin-servo", "load-sensing",  "slewing-crane"};
  int machines = 0;
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    char path[100];
    snprintf(path, sizeof path, "cases/%s/machine.yaml", names[i]);
    od_machine *machine = od_test_machine(path, NULL);
    double u[64] = {0};
    od_machine_inputs(machine, 0, u);
    check_machine(od_machine_model(machine), names[i], u, 1e-4, &machines);
    od_machine_free(machine);
  }
  assert_int_equal(machines, (int)(sizeof names / sizeof *names));
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(random_machines), cmocka_unit_test(cases)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
