// Plants in memory of the caller: the same bits as plants that the library allocates, on random machines; memory that is too small gives an error.
// Oracle: od_model_plant() and od_plant_calibrated(), whose derivatives other tests check.
#include "plant/plant_in_arena.h"

#include <stdlib.h>
#include <string.h>

#include "support/test.h"

#include "model/model.h"
#include "oleodyn/observer.h"
#include "support/random_machine.h"

enum { MOST = 1 << 20, SENSORS = 3, PARAMETERS = 4 };

// Lists the first numbers that may be parameters. Returns their count.
static int choose_parameters(const od_model *m, int *parameter) {
  int count = 0;
  for (int i = 0; i < m->numbers && count < PARAMETERS; i += 3)
    if (!(m->planar && strstr(od_number_path(m, i), "axis"))) parameter[count++] = i;
  return count;
}

// Runs an observer for a few steps and appends its block to the end: all estimates and covariances.
static void observe(const od_plant *plant, double *estimate) {
  const double sigma[SENSORS] = {1, 1, 1};
  const od_observer_options options = {.sensor_sigma = sigma};
  int nx = od_plant_nx(plant), n = nx + plant->np;
  void *memory = aligned_alloc(16, (od_observer_size(plant, &options) + 15) / 16 * 16);
  double *P = calloc((size_t)(n * n) + 1, sizeof *P), *u = calloc((size_t)plant->nu + 1, sizeof *u);
  assert_true(memory && P && u);
  for (int i = 0; i < n; i++) P[i * (n + 1)] = 1e-6;
  od_observer *o = od_observer_init(memory, plant, &options);
  assert_non_null(o);
  od_status status = od_observer_start(o, 0, NULL, NULL, P, u);
  for (int i = 0; i < 5 && status == OD_OK; i++) {
    double y[SENSORS], spread[SENSORS];
    status = od_observer_predict(o, 1e-4, u, NULL, NULL);
    if (status == OD_OK) status = od_observer_outputs(o, y, spread);
    for (int k = 0; k < SENSORS; k++) y[k] += 1e-3 * k;
    if (status == OD_OK) status = od_observer_correct(o, y);
  }
  estimate[0] = status;
  memcpy(estimate + 1, od_observer_state(o), (size_t)nx * sizeof *estimate);
  memcpy(estimate + 1 + nx, od_observer_parameters(o), (size_t)plant->np * sizeof *estimate);
  free(memory), free(P), free(u);
}

static int compare(uint64_t seed, bool planar, bool loops, bool circuit, bool blocks, unsigned char *memory) {
  od_model *m = od_random_machine(seed, planar, loops, circuit, blocks);
  if (!m) return 0;
  int parameter[PARAMETERS], parameters = choose_parameters(m, parameter);
  const int sensor[SENSORS] = {0, m->outputs / 2, m->outputs - 1};
  const od_calibration item[] = {{1, OD_CALIBRATE_SCALE}, {0, OD_CALIBRATE_BIAS}};
  od_plant *inner = NULL, *plant = NULL, *inner_here = NULL, *plant_here = NULL;
  assert_int_equal(od_model_plant(m, sensor, SENSORS, parameter, parameters, &inner, NULL), OD_OK);
  assert_int_equal(od_plant_calibrated(inner, item, 2, &plant, NULL), OD_OK);
  od_arena arena = od_arena_over(memory, MOST);
  const od_plant_choice choice = {sensor, SENSORS, parameter, parameters};
  assert_int_equal(od_model_plant_in(&arena, m, choice, &inner_here, NULL), OD_OK);
  assert_int_equal(od_plant_calibrated_in(&arena, inner_here, item, 2, &plant_here, NULL), OD_OK);
  size_t used = od_arena_used(&arena);

  size_t size = ((size_t)od_plant_nx(plant) + PARAMETERS + 3) * sizeof(double);
  double *here = calloc(1, size), *there = calloc(1, size);
  observe(plant, there);
  observe(plant_here, here);
  assert_memory_equal(here, there, size);

  for (size_t room = 0; room < used; room += used / 7) {
    arena = od_arena_over(memory, room);
    od_status status = od_model_plant_in(&arena, m, choice, &inner_here, NULL);
    if (status == OD_OK) status = od_plant_calibrated_in(&arena, inner_here, item, 2, &plant_here, NULL);
    assert_int_equal(status, OD_NO_MEMORY);
  }
  free(here), free(there);
  od_plant_free(plant);
  od_model_free(m);
  return 1;
}

static void the_same_bits(void **state) {
  (void)state;
  unsigned char *memory = aligned_alloc(OD_ARENA_ALIGNMENT, MOST);
  assert_non_null(memory);
  int compared = 0;
  for (uint64_t seed = 1; seed <= 60; seed++) compared += compare(seed, seed & 1, seed & 2, seed & 4, seed & 8, memory);
  assert_in_range(compared, 30, 60);
  free(memory);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(the_same_bits)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
