// Derivatives with respect to numbers of the mechanism (tangents, one by one and in lanes) against the complex step, over
// random machines: planar and spatial, with and without loops, circuits and blocks. Every number of a machine is tried, of
// every kind: masses, inertias, points, lengths, axes, rods, gears, leads, gravity, loads, contacts.
//
// The complex step runs the kernels in complex numbers, through everything that depends on the number: independent of the
// hand-written tangents, exact to round-off.
#include <complex.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/test.h"
#include "mechanics/mechanics.h"
#include "model/rate_derivatives.h"
#include "oleodyn/sim.h"
#include "plant/model_plant.h"
#include "support/random_machine.h"

enum { MACHINES = 25, MOST = 160 };
static const double tiny = 1e-30, bound = 1e-9;

// Contents of the machines: closures and loads of all kinds, screws. Without one of them its numbers would not have been
// tested.
static int closures[OD_CLOSE_GEAR + 1], loads[OD_LOAD_CONTACT + 1], screws, gravities;

static void count_kinds(const od_model *m) {
  for (int i = 0; i < m->closures; i++) closures[m->closure[i].kind]++;
  for (int i = 0; i < m->loads; i++) loads[m->load[i].kind]++;
  for (int i = 0; i < m->links; i++) screws += m->link[i].kind == OD_LINK_SCREW;
  gravities += m->gravity >= 0;
}

typedef struct point {  // a machine with all its numbers as parameters, at a random point
  od_model *m;
  od_plant *plant;
  void *work;
  int nx, nk, np, *parameter;
  double x[MOST], k[MOST], u[4];
  double complex *w;
} point;

static void close_point(point *b) {
  od_plant_free(b->plant);
  od_model_free(b->m);
  free(b->work);
  free(b->parameter);
  free(b->w);
}

static bool open_point(point *b, unsigned long long seed, bool planar, bool loops, bool circuit, bool blocks) {
  *b = (point){.m = od_random_machine(seed, planar, loops, circuit, blocks)};
  if (!b->m) return false;
  od_dice dice = {seed + 7};
  b->parameter = calloc((size_t)b->m->numbers, sizeof *b->parameter);
  for (int i = 0; i < b->m->numbers; i++)
    if (!b->m->planar || strcmp(od_number_path(b->m, i), "axis") != 0) b->parameter[b->np++] = i;
  assert_int_equal(od_model_plant(b->m, NULL, 0, b->parameter, b->np, &b->plant, NULL), OD_OK);
  b->work = malloc(b->plant->work_size);
  b->nx = od_plant_nx(b->plant), b->nk = od_plant_nk(b->plant);
  b->w = calloc((size_t)b->m->layout.scalars, sizeof *b->w);
  assert_true(b->nx <= MOST);
  double g[MOST];
  assert_int_equal(b->plant->ops->start(b->plant, b->work, b->x), OD_OK);
  for (int i = 0; i < 2 * b->plant->nz; i++)
    b->x[i] += i < b->plant->nz ? od_dice_uniform(&dice, -0.02, 0.02) : od_dice_uniform(&dice, -2, 2);
  for (int i = 0; i < b->nk; i++) b->k[i] = b->plant->scale[i] * od_dice_uniform(&dice, -2, 2);
  for (int i = 0; i < b->plant->nu; i++) b->u[i] = od_dice_uniform(&dice, -2, 2);
  if (b->plant->ops->residual(b->plant, b->work, 0, b->x, b->k, b->u, g) == OD_OK) return true;
  close_point(b);  // outside the range of the loops
  return false;
}

// dg with respect to a number, by the complex step.
static void complex_column(point *b, int number, double *column) {
  const od_layout *l = &b->m->layout;
  const double *w = od_model_plant_scalars(b->plant, b->work);
  double complex x[MOST], k[MOST], u[4], g[MOST];
  memset(b->w, 0, (size_t)l->scalars * sizeof *b->w);
  for (int i = 0; i < b->m->numbers; i++) b->w[l->theta + i] = w[l->theta + i];
  b->w[l->theta + number] += tiny * I;
  for (int i = 0; i < 9 * b->m->charts; i++) b->w[l->chart + i] = w[l->chart + i];
  for (int i = 0; i < b->m->coordinates; i++) b->w[l->z + i] = w[l->z + i];
  for (int i = 0; i < b->m->nodes; i++) b->w[l->pressure + i] = w[l->pressure + i];
  od_mechanics_with_derivatives(b->m)->prepare(b->m, b->w);
  for (int i = 0; i < b->nx; i++) x[i] = b->x[i];
  for (int i = 0; i < b->nk; i++) k[i] = b->k[i];
  for (int i = 0; i < b->plant->nu; i++) u[i] = b->u[i];
  const int *in = od_model_plant_integers(b->plant, b->work);
  assert_int_equal(od_model_residual_complex(b->m, in, b->w, x, k, u, g), OD_OK);
  for (int i = 0; i < b->nk; i++) column[i] = cimag(g[i]) / tiny;
}

// Rows in their own units: of the mechanism together, of each state alone. Columns by the size of the changed quantity. The rate of a
// state may depend strongly on the length of a cylinder that cannot move: its round-off is of that size.
static double check_point(point *b, unsigned long long seed) {
  int nz = b->plant->nz;
  double *got = calloc((size_t)(b->nk * b->np + 1), sizeof *got),
         *want = calloc((size_t)(b->nk * b->np + 1), sizeof *want), column[MOST], worst = 0;
  const double *w = od_model_plant_scalars(b->plant, b->work);
  assert_int_equal(b->plant->ops->parameter_jacobian(b->plant, b->work, got), OD_OK);
  for (int j = 0; j < b->np; j++) {
    complex_column(b, b->parameter[j], column);
    for (int i = 0; i < b->nk; i++) want[i * b->np + j] = column[i];
  }
  for (int i = 0; i < b->nk; i++) {
    double size = 1e-2 * (i < nz ? 1 : b->plant->scale[i]);
    for (int r = i < nz ? 0 : i; r < (i < nz ? nz : i + 1); r++)
      for (int j = 0; j < b->np; j++)
        size = fmax(size, fabs(want[r * b->np + j] * (fabs(b->m->theta[b->parameter[j]]) + 1e-3)));
    for (int j = 0; i >= nz && i < nz + b->m->circuit_states && j < 2 * b->m->actuators; j++)
      size = fmax(size, 1e-2 * fabs(od_rate_slope(b->m, w, i - nz, j)));
    for (int j = 0; j < b->np; j++) {
      double unit = fabs(b->m->theta[b->parameter[j]]) + 1e-3, a = got[i * b->np + j], c = want[i * b->np + j];
      double error = fabs(a - c) * unit / size;
      if (!(error < bound))
        print_error("machine %llu, row %d by '%s' (number %d): %.12g instead of %.12g\n", seed, i,
                    od_number_path(b->m, b->parameter[j]), b->parameter[j], a, c);
      assert_true(error < bound);
      worst = fmax(worst, error);
    }
  }
  free(got), free(want);
  return worst;
}

static void check_kind(bool planar, bool loops, bool circuit, bool blocks) {
  int checked = 0, numbers = 0;
  double worst = 0;
  for (unsigned long long seed = 1; checked < MACHINES; seed++) {
    point b;
    assert_true(seed < 20 * MACHINES);
    if (!open_point(&b, seed, planar, loops, circuit, blocks)) continue;
    worst = fmax(worst, check_point(&b, seed));
    numbers += b.np;
    count_kinds(b.m);
    close_point(&b);
    checked++;
  }
  print_message("%d numbers of %d %s machines%s%s%s: worst relative error %.2g\n", numbers, checked,
                planar ? "planar" : "spatial", loops ? " with loops" : "", circuit ? " with circuits" : "",
                blocks ? " with blocks" : "", worst);
}

static void trees(void **state) {
  (void)state;
  check_kind(true, false, false, false);
  check_kind(false, false, false, false);
}
static void loops(void **state) {
  (void)state;
  check_kind(true, true, false, false);
  check_kind(false, true, false, false);
}
static void circuits(void **state) {
  (void)state;
  check_kind(true, true, true, false);
  check_kind(false, true, true, false);
}
static void blocks(void **state) {
  (void)state;
  check_kind(true, true, false, true);
  check_kind(false, true, true, true);
}

static void all_kinds_were_there(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof closures / sizeof *closures; i++) assert_true(closures[i] > 0);
  for (size_t i = 0; i < sizeof loads / sizeof *loads; i++) assert_true(loads[i] > 0);
  assert_true(screws > 0 && gravities > 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(trees), cmocka_unit_test(loops), cmocka_unit_test(circuits),
                                     cmocka_unit_test(blocks), cmocka_unit_test(all_kinds_were_there)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
