// Newton's matrix along the tree of bodies. Oracles: the dense matrix, column by column from the exact tangents.
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "math/dense.h"
#include "oleodyn/sim.h"
#include "plant/model_plant.h"
#include "plant/model_plant_work.h"
#include "plant/newton_choice.h"
#include "support/random_machine.h"

// The largest error of rows of N x = r, each relative to the sizes of its terms.
static double row_error(int n, const double *N, const double *x, const double *r) {
  double worst = 0;
  for (int i = 0; i < n; i++) {
    double sum = -r[i], size = fabs(r[i]);
    for (int j = 0; j < n; j++) sum += N[i * n + j] * x[j], size += fabs(N[i * n + j] * x[j]);
    worst = fmax(worst, fabs(sum) / (size + 1e-300));
    if (!isfinite(sum)) return INFINITY;
  }
  return worst;
}

typedef struct counts {
  int machines, lines, ground_lines, loads, states, branches, compared;
  double worst;
} counts;

static void compare_at(const od_plant *plant, void *work, od_dice *dice, double alpha, double beta, counts *c) {
  int nk = od_plant_nk(plant);
  enum { COLUMNS = 2 };
  double *N = malloc((size_t)(nk * nk) * sizeof *N), *right = malloc((size_t)(COLUMNS * nk) * sizeof *right),
         *x = malloc((size_t)nk * sizeof *x), *r = malloc((size_t)nk * sizeof *r),
         *before = malloc((size_t)(COLUMNS * nk) * sizeof *before);
  assert_int_equal(plant->ops->step_matrix(plant, work, alpha, beta, N), OD_OK);
  // Right-hand sides of the size of the rows.
  for (int i = 0; i < nk; i++) {
    double size = 0;
    for (int j = 0; j < nk; j++) size = fmax(size, fabs(N[i * nk + j]) * plant->scale[j]);
    for (int k = 0; k < COLUMNS; k++) right[i * COLUMNS + k] = size * od_dice_uniform(dice, -1, 1);
  }
  memcpy(before, right, (size_t)(COLUMNS * nk) * sizeof *right);
  assert_int_equal(od_model_plant_tree_factors(plant, work, alpha, beta), OD_OK);
  od_model_plant_tree_solve(plant, work, right, COLUMNS);
  for (int k = 0; k < COLUMNS; k++) {
    for (int i = 0; i < nk; i++) x[i] = right[i * COLUMNS + k], r[i] = before[i * COLUMNS + k];
    double error = row_error(nk, N, x, r);
    c->worst = fmax(c->worst, error);
    c->compared++;
    if (!(error < 1e-9)) print_error("alpha %g beta %g: %g\n", alpha, beta, error);
    assert_true(error < 1e-9);
  }
  free(N), free(right), free(x), free(r), free(before);
}

static void count_parts(const od_model *m, counts *c) {
  c->machines++;
  int moving = od_model_moving_lines(m);
  c->lines += moving;
  for (int i = 0; i < m->actuators; i++) c->ground_lines += m->actuator[i].coordinate < 0 && !od_model_line_moves(m, i);
  c->loads += m->loads;
  c->states += m->states;
  for (int i = 2; i < m->links; i++) c->branches += m->link[i].parent > 0 && m->link[i].parent != i - 1;
}

static void random_trees(bool planar, bool circuit) {
  counts c = {0};
  for (uint64_t seed = 1; c.machines < 60; seed++) {
    od_model *m = od_random_machine(seed, planar, false, circuit, false);
    if (!m) continue;
    if (!od_model_can_use_tree(m)) {
      od_model_free(m);
      continue;
    }
    m->newton = OD_NEWTON_TREE;
    count_parts(m, &c);
    od_plant *plant;
    assert_int_equal(od_model_plant(m, NULL, 0, NULL, 0, &plant, NULL), OD_OK);
    od_dice dice = {seed + 99};
    int nx = od_plant_nx(plant), nk = od_plant_nk(plant);
    void *work = calloc(1, plant->work_size);
    double *x = malloc((size_t)nx * sizeof *x), *k = malloc((size_t)nk * sizeof *k),
           *g = malloc((size_t)nk * sizeof *g), u[2];
    for (int i = 0; i < 2; i++) u[i] = od_dice_uniform(&dice, -2, 2);
    assert_int_equal(plant->ops->start(plant, work, x), OD_OK);
    for (int i = 0; i < 2 * plant->nz; i++) x[i] += od_dice_uniform(&dice, -0.5, 0.5) * (i < plant->nz ? 0.1 : 4);
    for (int i = 0; i < nk; i++) k[i] = plant->scale[i] * od_dice_uniform(&dice, -3, 3);
    assert_int_equal(plant->ops->residual(plant, work, 0, x, k, u, g), OD_OK);
    const double lengths[][2] = {{0, 0}, {1e-6, 1e-3}, {1e-4, 1e-2}, {2.5e-5, 5e-3}, {0, 3e-3}, {4e-5, 0}};
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++)
      compare_at(plant, work, &dice, lengths[i][0], lengths[i][1], &c);
    free(work), free(x), free(k), free(g);
    od_plant_free(plant);
    od_model_free(m);
  }
  print_message("%d machines, %d moving lines, %d to the ground, %d loads, %d states, %d branches: worst %.1e\n",
                c.machines, c.lines, c.ground_lines, c.loads, c.states, c.branches, c.worst);
  assert_true(c.loads > 0 && c.branches > 0 && (!circuit || (c.lines > 0 && c.states > 0)));
}

static void test_planar_trees(void **state) {
  (void)state;
  random_trees(true, false);
}
static void test_spatial_trees(void **state) {
  (void)state;
  random_trees(false, false);
}
static void test_planar_trees_with_circuits(void **state) {
  (void)state;
  random_trees(true, true);
}
static void test_spatial_trees_with_circuits(void **state) {
  (void)state;
  random_trees(false, true);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_planar_trees),
      cmocka_unit_test(test_spatial_trees),
      cmocka_unit_test(test_planar_trees_with_circuits),
      cmocka_unit_test(test_spatial_trees_with_circuits),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
