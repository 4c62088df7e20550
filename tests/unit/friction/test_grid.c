// The grid of nodes for a driven friction law. Oracle: the definition of every field (friction/drive.h), written here for each node alone.
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "support/test.h"
#include "friction/drive.h"
#include "support/random_machine.h"

enum { MOST = 40 };

typedef struct node {
  double t, v;
  int sample;
} node;

static int nodes_of(const double *t, const double *v, int samples, node *n) {
  int count = 0;
  for (int i = 0; i < samples; i++) {
    if (i > 0 && ((v[i - 1] < 0 && v[i] > 0) || (v[i - 1] > 0 && v[i] < 0)))
      n[count++] = (node){t[i - 1] + (t[i] - t[i - 1]) * fabs(v[i - 1]) / (fabs(v[i - 1]) + fabs(v[i])), 0, -1};
    n[count++] = (node){t[i], v[i], i};
  }
  return count;
}

static int direction(const node *n) {
  return n[0].v == 0 && n[1].v == 0 ? 0 : n[0].v + n[1].v < 0 ? -1 : 1;
}

static void check(const double *t, const double *v, int samples) {
  od_friction_grid g;
  node n[2 * MOST];
  size_t size = od_friction_grid_size(samples);
  double *memory = malloc(size + sizeof *memory);
  memset(memory, 0x5a, size + sizeof *memory);
  double behind = memory[size / sizeof *memory];
  assert_int_equal(od_friction_grid_make(&g, memory, samples, t, v), OD_OK);
  assert_memory_equal(&memory[size / sizeof *memory], &behind, sizeof behind);
  int count = nodes_of(t, v, samples, n), last = count - 1;
  assert_int_equal(g.nodes, count);
  assert_int_equal(g.samples, samples);
  for (int i = 0; i < count; i++) {
    near(g.t[i], n[i].t, 1e-13);
    assert_true(g.v[i] == n[i].v);
    assert_int_equal(g.sample[i], n[i].sample);
    if (n[i].v != 0)
      near(g.log_speed[i], log(fabs(n[i].v)), 1e-14);
    else
      assert_true(g.log_speed[i] < -1e4 && isfinite(g.log_speed[i]));
    near_relative(g.film_power[i], cbrt(n[i].v * n[i].v), 1e-14);
    double twice = i < last ? fabs(n[i].v + n[i + 1].v) * (n[i + 1].t - n[i].t) : 0;
    near(g.distance[i], twice, 1e-12 * (1 + twice));
    near(g.per_distance[i], g.distance[i] > 0 ? 1 / g.distance[i] : 0, 0);
    int run = 0;
    while (i + run < last && direction(n + i + run) == direction(n + i)) run++;
    assert_int_equal(g.run[i], run);
  }
  // Equal durations: groups follow each other, and each is as long as possible.
  for (int from = 0, to; from < last; from = to) {
    for (to = from + 1; to < last && fabs((n[to + 1].t - n[to].t) / (n[from + 1].t - n[from].t) - 1) < 1e-8; to++)
      continue;
    for (int i = from; i < to; i++) assert_int_equal(g.even[i], to - i);
  }
  assert_int_equal(g.even[last], 0);
  free(memory);
}

static void fields(void **state) {
  (void)state;
  for (unsigned long long seed = 1; seed <= 300; seed++) {
    od_dice dice = {seed};
    double t[MOST], v[MOST];
    int samples = 1 + od_dice_pick(&dice, MOST);
    for (int i = 0; i < samples; i++) {
      t[i] = i ? t[i - 1] + (double[]){0.5, 0.5, 0.5, 0.25, 1}[od_dice_pick(&dice, 5)] : -3;
      int kind = od_dice_pick(&dice, 5);
      v[i] = kind == 0 ? 0 : kind == 1 && i ? v[i - 1] : od_dice_uniform(&dice, -2, 2);
    }
    check(t, v, samples);
  }
}

static void bad_arguments(void **state) {
  (void)state;
  od_friction_grid g;
  double memory[64];
  assert_true(od_friction_grid_size(3) <= sizeof memory);
  assert_int_equal(od_friction_grid_size(0), 0);
  assert_int_equal(od_friction_grid_size(-1), 0);
  const double t[] = {0, 1, 2}, v[] = {1, -1, 0};
  assert_int_equal(od_friction_grid_make(&g, memory, 3, t, v), OD_OK);
  assert_int_equal(od_friction_grid_make(&g, memory, 1, t, v), OD_OK);
  assert_int_equal(od_friction_grid_make(&g, memory, 0, t, v), OD_BAD_ARGUMENT);
  assert_int_equal(od_friction_grid_make(&g, (char *)memory + 4, 3, t, v), OD_BAD_ARGUMENT);
  const double bad[] = {NAN, INFINITY, -INFINITY};
  for (int i = 0; i < 3; i++)
    for (int k = 0; k < 3; k++) {
      double s[] = {0, 1, 2}, w[] = {1, -1, 0};
      s[i] = bad[k];
      assert_int_equal(od_friction_grid_make(&g, memory, 3, s, v), OD_BAD_ARGUMENT);
      w[i] = bad[k];
      assert_int_equal(od_friction_grid_make(&g, memory, 3, t, w), OD_BAD_ARGUMENT);
    }
  assert_int_equal(od_friction_grid_make(&g, memory, 3, (double[]){0, 1, 1}, v), OD_BAD_ARGUMENT);
  assert_int_equal(od_friction_grid_make(&g, memory, 3, (double[]){0, 1, 0.5}, v), OD_BAD_ARGUMENT);
  assert_int_equal(od_friction_grid_make(&g, memory, 3, (double[]){1, 1, 2}, v), OD_BAD_ARGUMENT);
  // A turn that is not between the samples in floating point is no node.
  const double close[] = {1, nextafter(1, 2), 2};
  assert_int_equal(od_friction_grid_make(&g, memory, 3, close, v), OD_OK);
  assert_int_equal(g.nodes, 3);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(fields), cmocka_unit_test(bad_arguments)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
