// Saved work memory of plants, in one process (od_plant_ops.fingerprint and restore). Oracles: the plant that was saved, whose results must have the
// same bits; damaged copies, each with one number outside its range, which must be refused without a change of the work memory; for fingerprints,
// that two selections have the same number only if they are the same.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/test.h"

#include "integrate/sim_block.h"
#include "machine/machine.h"
#include "oleodyn/oleodyn.h"
#include "plant/model_plant_work.h"
#include "support/machines.h"
#include "support/random_machine.h"

enum { MOST = 8, OUTPUTS = 3, PARAMETERS = 2 };

static void *take(size_t size) {
  void *memory = aligned_alloc(64, (size + 64) / 64 * 64);
  assert_non_null(memory);
  memset(memory, 0x5a, size);
  return memory;
}

// The first and the last number of a machine that may be parameters. The axes of planar machines may not.
static void choose_parameters(const od_model *m, int *parameter) {
  int first = 0, last = m->numbers - 1;
  while (m->planar && strstr(od_number_path(m, first), "axis")) first++;
  while (m->planar && strstr(od_number_path(m, last), "axis")) last--;
  parameter[0] = first, parameter[1] = last;
}

static od_plant *plant_of(const od_model *m) {
  const int outputs[OUTPUTS] = {0, m->outputs / 2, m->outputs - 1};
  int parameters[PARAMETERS];
  choose_parameters(m, parameters);
  od_plant *plant;
  assert_int_equal(od_model_plant(m, outputs, OUTPUTS, parameters, PARAMETERS, &plant, NULL), OD_OK);
  return plant;
}

// p = q
static void follow(const void *user, const double *q, double *p, double *slope) {
  (void)user;
  for (int i = 0; i < PARAMETERS; i++) {
    p[i] = q[i];
    for (int j = 0; j < PARAMETERS; j++) slope[i * PARAMETERS + j] = i == j;
  }
}

static od_plant *calibrated(od_plant *inner, const od_calibration *item, int count) {
  od_plant *plant;
  assert_int_equal(od_plant_calibrated(inner, item, count, &plant, NULL), OD_OK);
  return plant;
}
static od_plant *tied(const od_model *m, od_plant *inner, uint64_t fingerprint) {
  int parameters[PARAMETERS];
  choose_parameters(m, parameters);
  const double start[PARAMETERS] = {m->theta[parameters[0]], m->theta[parameters[1]]};
  const od_tie tie = {.count = PARAMETERS, .start = start, .follow = follow, .fingerprint = fingerprint};
  od_plant *plant;
  assert_int_equal(od_plant_tied(inner, &tie, &plant, NULL), OD_OK);
  return plant;
}

// ---- fingerprints

static void fingerprints(void **state) {
  (void)state;
  od_model *m = NULL;
  for (uint64_t seed = 1; !m; seed++) m = od_random_machine(seed, true, true, true, true);
  static const struct {
    int count;
    od_calibration item[3];
  } lists[] = {{0, {{0}}},
               {1, {{0, OD_CALIBRATE_BIAS}}},
               {1, {{0, OD_CALIBRATE_SCALE}}},
               {1, {{1, OD_CALIBRATE_BIAS}}},
               {1, {{2, OD_CALIBRATE_SCALE}}},
               {2, {{0, OD_CALIBRATE_BIAS}, {1, OD_CALIBRATE_BIAS}}},
               {2, {{1, OD_CALIBRATE_BIAS}, {0, OD_CALIBRATE_BIAS}}},
               {2, {{0, OD_CALIBRATE_BIAS}, {1, OD_CALIBRATE_SCALE}}},
               {2, {{2, OD_CALIBRATE_BIAS}, {1, OD_CALIBRATE_SCALE}}},
               {3, {{0, OD_CALIBRATE_BIAS}, {1, OD_CALIBRATE_SCALE}, {2, OD_CALIBRATE_BIAS}}}};
  enum { LISTS = sizeof lists / sizeof *lists, TIES = 3, ALL = LISTS + TIES };
  uint64_t machine[ALL + 1], selection[ALL];
  for (int i = 0; i < ALL; i++) {
    od_plant *plant = i < LISTS ? calibrated(plant_of(m), lists[i].item, lists[i].count)
                                : tied(m, plant_of(m), 7 + 1000 * (uint64_t)(i - LISTS));
    plant->ops->fingerprint(plant, &machine[i], &selection[i]);
    od_plant_free(plant);
  }
  for (int i = 0; i < ALL; i++) {
    assert_true(machine[i] == machine[0]);
    for (int j = 0; j < i; j++)
      if (selection[i] == selection[j]) fail_msg("selections %d and %d have the same fingerprint", i, j);
    od_plant *again = i < LISTS ? calibrated(plant_of(m), lists[i].item, lists[i].count)
                                : tied(m, plant_of(m), 7 + 1000 * (uint64_t)(i - LISTS));
    uint64_t same[2];
    again->ops->fingerprint(again, &same[0], &same[1]);
    assert_true(same[0] == machine[i] && same[1] == selection[i]);
    od_plant_free(again);
  }
  od_model_free(m);
}

// ---- restored memory

// Compares the results of two work memories at a point, to the bit.
static void same_results(const od_plant *plant, void *one, void *other, const double *x, const double *k,
                         const double *u) {
  const int nk = od_plant_nk(plant), columns[] = {1, nk, plant->np};
  void *const work[] = {one, other};
  double *result[3][2], y[2][OUTPUTS];
  for (int part = 0; part < 3; part++)
    for (int i = 0; i < 2; i++) result[part][i] = take(sizeof(double) * (size_t)(nk * columns[part]));
  for (int i = 0; i < 2; i++) {
    assert_int_equal(plant->ops->residual(plant, work[i], 0.3, x, k, u, result[0][i]), OD_OK);
    assert_int_equal(plant->ops->step_matrix(plant, work[i], 0.01, 0.1, result[1][i]), OD_OK);
    assert_int_equal(plant->ops->parameter_jacobian(plant, work[i], result[2][i]), OD_OK);
    assert_int_equal(plant->ops->outputs(plant, work[i], NULL, y[i]), OD_OK);
  }
  assert_memory_equal(y[0], y[1], sizeof y[0]);
  for (int part = 0; part < 3; part++) {
    assert_memory_equal(result[part][0], result[part][1], sizeof(double) * (size_t)(nk * columns[part]));
    free(result[part][0]), free(result[part][1]);
  }
  if (!plant->ops->step_solve) return;
  double *right[2] = {take(sizeof(double) * (size_t)nk), take(sizeof(double) * (size_t)nk)};
  for (int i = 0; i < 2; i++) {
    for (int j = 0; j < nk; j++) right[i][j] = j + 1;
    assert_int_equal(plant->ops->step_factors(plant, work[i], 0.01, 0.1), OD_OK);
    plant->ops->step_solve(plant, work[i], right[i], 1);
  }
  assert_memory_equal(right[0], right[1], sizeof(double) * (size_t)nk);
  free(right[0]), free(right[1]);
}

// Numbers that may be damaged: their offsets in the work memory of the machine's plant, and refused values.
typedef struct damage {
  size_t at;
  double value[4];
  int values;
} damage;

static int list_damages(const od_plant *plant, damage *list) {
  const od_plant_data *d = od_plant_data_of(plant);
  const od_model *m = d->m;
  const od_layout *l = &m->layout;
  int count = 0;
  list[count++] = (damage){offsetof(od_work_header, inverse_pivot), {-1e-3, -1, NAN, -INFINITY}, 4};
  for (int i = 0; i < PARAMETERS; i++)
    list[count++] =
        (damage){d->scalars + (size_t)(l->theta + d->parameter[i]) * sizeof(double), {NAN, INFINITY, -INFINITY}, 3};
  for (int i = 0; i < m->samplers && count < MOST; i++) {
    const od_block *b = &m->block[m->sampler[i]];
    if (b->samples > 0)
      list[count++] =
          (damage){d->scalars + (size_t)(l->ring + b->ring) * sizeof(double), {-1, b->samples, 0.5, NAN}, 4};
  }
  return count;
}

// inner: the machine's plant inside `plant`, or `plant` itself; offset: of its work memory.
static void check_plant(od_plant *plant, const od_plant *inner, size_t offset, double h) {
  od_sim *sim = od_sim_plain_new(plant);
  assert_non_null(sim);
  double u[MOST] = {0.3, 0.2};
  assert_true(plant->nu <= MOST);
  assert_int_equal(od_sim_start(sim, 0, u), OD_OK);
  for (int i = 0; i < 5; i++) assert_int_equal(od_sim_step(sim, h, u), OD_OK);
  void *work = od_sim_work(sim);
  char *saved = take(plant->work_size), *other = take(plant->work_size), *before = take(plant->work_size);
  memcpy(saved, work, plant->work_size);
  assert_true(plant->ops->restore(plant, saved, NULL));
  // A copy in which any number is damaged is refused; the work memory does not change.
  damage list[MOST];
  int count = list_damages(inner, list);
  memcpy(before, other, plant->work_size);
  for (int i = 0; i < count; i++)
    for (int k = 0; k < list[i].values; k++) {
      double *at = (double *)(void *)(saved + offset + list[i].at), old = *at;
      *at = list[i].value[k];
      assert_false(plant->ops->restore(plant, saved, NULL));
      assert_false(plant->ops->restore(plant, saved, other));
      assert_memory_equal(other, before, plant->work_size);
      *at = old;
    }
  // The last allowed index of a ring of samples.
  const od_plant_data *d = od_plant_data_of(inner);
  for (int i = 0; i < d->m->samplers; i++) {
    const od_block *b = &d->m->block[d->m->sampler[i]];
    if (b->samples <= 0) continue;
    double *at = (double *)(void *)(saved + offset + d->scalars) + d->m->layout.ring + b->ring, old = *at;
    *at = b->samples - 1;
    assert_true(plant->ops->restore(plant, saved, NULL));
    *at = 0;
    assert_true(plant->ops->restore(plant, saved, NULL));
    *at = old;
  }
  // Numbers of the machine that are not free parameters come from the model.
  double *theta = (double *)(void *)(saved + offset + d->scalars) + d->m->layout.theta;
  for (int i = 0; i < d->m->numbers; i++)
    if (i != d->parameter[0] && i != d->parameter[1]) theta[i] = NAN;
  assert_true(plant->ops->restore(plant, saved, other));
  const double *x = od_sim_state(sim), *k = od_sim_rates(sim);
  same_results(plant, work, other, x, k, u);
  free(saved), free(other), free(before);
  od_sim_free(sim);
}

// Maps of new coordinates and of samples may be NULL: the new state is the same.
static void check_maps(od_plant *plant, double h) {
  od_sim *sim = od_sim_plain_new(plant);
  assert_non_null(sim);
  double u[MOST] = {0.3, 0.2};
  const int nx = od_plant_nx(plant);
  assert_int_equal(od_sim_start(sim, 0, u), OD_OK);
  for (int i = 0; i < 5; i++) assert_int_equal(od_sim_step(sim, h, u), OD_OK);
  char *saved = take(plant->work_size);
  void *work = od_sim_work(sim);
  const size_t size = sizeof(double) * (size_t)(nx + 1),
               map_size = sizeof(double) * (size_t)(nx * (nx + plant->np) + 1);
  double *x[2] = {take(size), take(size)}, *map = take(map_size), *g = take(size);
  assert_int_equal(plant->ops->residual(plant, work, 0.3, od_sim_state(sim), od_sim_rates(sim), u, g), OD_OK);
  memcpy(saved, work, plant->work_size);
  for (int n = 0; n < 8; n++) {
    double *to = x[n % 4 > 0], *by_x = n % 2 ? NULL : map, *by_p = n / 2 % 2 ? NULL : map + nx * nx;
    memcpy(work, saved, plant->work_size);
    memcpy(to, od_sim_state(sim), sizeof(double) * (size_t)nx);
    if (n < 4 && plant->ops->repartition) assert_int_equal(plant->ops->repartition(plant, work, to, by_x, by_p), OD_OK);
    if (n >= 4 && plant->ops->sample) assert_int_equal(plant->ops->sample(plant, work, 0.3, to, by_x, by_p), OD_OK);
    if (n % 4 > 0) assert_memory_equal(x[0], x[1], sizeof(double) * (size_t)nx);
  }
  free(saved), free(x[0]), free(x[1]), free(map), free(g);
  od_sim_free(sim);
}

static void check_model(const od_model *m, double h) {
  static const od_calibration items[] = {{0, OD_CALIBRATE_BIAS}, {2, OD_CALIBRATE_SCALE}};
  od_plant *plain = plant_of(m);
  check_plant(plain, plain, 0, h);
  check_maps(plain, h);
  od_plant_free(plain);
  // The work memory of the inner plant is found by its contents.
  for (int kind = 0; kind < 2; kind++) {
    od_plant *inner = plant_of(m), *outer = kind ? tied(m, inner, 1) : calibrated(inner, items, 2);
    char *own = take(inner->work_size), *around = take(outer->work_size);
    double *x = take(sizeof(double) * (size_t)(od_plant_nx(outer) + 1));
    memset(own, 0, inner->work_size), memset(around, 0, outer->work_size);
    assert_int_equal(inner->ops->start(inner, own, x), OD_OK);
    assert_int_equal(outer->ops->start(outer, around, x), OD_OK);
    size_t offset = 0;
    while (offset + inner->work_size <= outer->work_size && memcmp(around + offset, own, inner->work_size) != 0)
      offset += sizeof(double);
    assert_true(offset + inner->work_size <= outer->work_size);
    check_plant(outer, inner, offset, h);
    check_maps(outer, h);
    free(own), free(around), free(x);
    od_plant_free(outer);
  }
}

static void random_machines(void **state) {
  (void)state;
  int machines = 0;
  for (uint64_t seed = 1; seed <= 12; seed++) {
    od_model *m = od_random_machine(seed, seed % 2, seed / 2 % 2, seed / 4 % 2, seed % 3 > 0);
    if (m) check_model(m, 1e-4), machines++;
    od_model_free(m);
  }
  assert_true(machines > 6);
}

// Sampled delays, and a chain that is factored along the tree, with friction in its joints.
static void special_machines(void **state) {
  (void)state;
  static const char delays[] =
      "inputs: {u: {constant: 1}, v: {constant: 2}}\nblocks:\n"
      "  a: {type: delay, input: u, time: 50 ms, sample: 10 ms}\n  b: {type: gain, input: a, gain: 2}\n"
      "  c: {type: quantiser, input: b, step: 1, sample: 20 ms}\n"
      "  d: {type: delay, input: v, time: 30 ms, sample: 10 ms}\n  e: {type: first-order, input: d, time_constant: 1 s}\n";
  char chain[8000];
  size_t used = (size_t)snprintf(chain, sizeof chain, "gravity: [0, -9.81]\nbodies:\n");
  for (int i = 0; i < 15; i++)
    used += (size_t)snprintf(chain + used, sizeof chain - used, "  b%d: {beam: {mass: 1 kg, length: 1 m}}\n", i);
  used += (size_t)snprintf(chain + used, sizeof chain - used, "joints:\n");
  for (int i = 0; i < 15; i++) {
    char from[20] = "ground";
    if (i > 0) snprintf(from, sizeof from, "b%d.end", i - 1);
    used += (size_t)snprintf(
        chain + used, sizeof chain - used, "  j%d: {type: revolute, between: [%s, b%d.start]%s}\n", i, from, i,
        i % 3 ? "" : ", friction: {law: lugre, Fs: 30 N m, Fc: 20 N m, vs: 0.1 rad/s, sigma_0: 5 kN m/rad}");
  }
  used += (size_t)snprintf(chain + used, sizeof chain - used, "initial:\n");
  for (int i = 0; i < 15; i++) used += (size_t)snprintf(chain + used, sizeof chain - used, "  j%d.angle: 0.1 rad\n", i);
  const char *const texts[] = {delays, chain};
  for (int i = 0; i < 2; i++) {
    od_machine *machine = od_test_machine_text(texts[i]);
    check_model(od_machine_model(machine), 1e-3);
    od_machine_free(machine);
  }
}

// After an evaluation that fails at infinite velocities, the last settled point can be evaluated again, with the same result. Machines with
// loops keep velocities and accelerations of their last point for predictions.
static void after_a_failed_evaluation(void **state) {
  (void)state;
  int tried = 0;
  for (uint64_t seed = 1; tried < 10 && seed < 400; seed++) {
    od_model *m = od_random_machine(seed, seed % 2, true, seed % 3 == 0, false);
    if (!m || m->rows < 2) {
      od_model_free(m);
      continue;
    }
    od_plant *plant = NULL;
    assert_int_equal(od_model_plant(m, NULL, 0, NULL, 0, &plant, NULL), OD_OK);
    const size_t nx = (size_t)od_plant_nx(plant), nk = (size_t)od_plant_nk(plant);
    void *work = take(plant->work_size);
    double *x = calloc(nx + 1, sizeof *x), *far = calloc(nx + 1, sizeof *far), *k = calloc(nk + 1, sizeof *k),
           *u = calloc((size_t)plant->nu + 1, sizeof *u), *g = calloc(2 * nk + 1, sizeof *g), *again = g + nk;
    assert_true(x && far && k && u && g);
    assert_int_equal(plant->ops->start(plant, work, x), OD_OK);
    for (int i = 0; i < plant->nz; i++) x[plant->nz + i] = 0.1 * (i + 1);
    assert_int_equal(plant->ops->residual(plant, work, 0, x, k, u, g), OD_OK);
    plant->ops->settle(plant, work, false);
    memcpy(far, x, nx * sizeof *far);
    for (int i = 0; i < plant->nz; i++) far[plant->nz + i] = 1e200;
    if (plant->ops->residual(plant, work, 0, far, k, u, again) != OD_OK) {
      plant->ops->settle(plant, work, true);
      assert_int_equal(plant->ops->residual(plant, work, 0, x, k, u, again), OD_OK);
      for (size_t i = 0; i < nk; i++) near_scaled(again[i], g[i], 1e-9, 1);
      tried++;
    }
    free(x), free(far), free(k), free(u), free(g), free(work);
    od_plant_free(plant);
    od_model_free(m);
  }
  print_message("%d machines with loops\n", tried);
  assert_int_equal(tried, 10);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(after_a_failed_evaluation), cmocka_unit_test(fingerprints),
                                     cmocka_unit_test(random_machines), cmocka_unit_test(special_machines)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
