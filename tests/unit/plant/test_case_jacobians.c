// Every Jacobian of the machines of cases/ along a run, with all numbers as parameters: heat, junctions, telescopic cylinders, charts
// and other parts that random machines (test_jacobians.c) do not have. Oracle: the complex step through the kernels in complex numbers,
// which is independent of the tangents and slopes.
#include <complex.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/test.h"
#include "math/dense.h"
#include "machine/machine.h"
#include "mechanics/mechanics.h"
#include "oleodyn/sim.h"
#include "plant/model_plant.h"
#include "integrate/sim_block.h"
#include "support/machines.h"

static const double tiny = 1e-30, bound = 2e-8;

typedef struct bench {
  const char *name;
  const od_model *m;
  od_plant *plant;
  od_sim *sim;
  int nz, nx, nk, nu, ny, np, *parameter;
  double complex *w, *x, *u, *k, *g;
  double *matrix, *part;
  int *pivot;
} bench;

static void *take(size_t count, size_t size) {
  void *memory = calloc(count + 1, size);
  assert_non_null(memory);
  return memory;
}

static void open_bench(bench *b, const char *name, const od_machine *machine) {
  const od_model *m = od_machine_model(machine);
  *b = (bench){.name = name, .m = m, .parameter = take((size_t)m->numbers, sizeof *b->parameter)};
  int *outputs = take((size_t)m->outputs, sizeof *outputs);
  for (int i = 0; i < m->outputs; i++) outputs[i] = i;
  for (int i = 0; i < m->numbers; i++)  // an axis of a planar machine is not a parameter
    if (!m->planar || !strstr(od_number_path(m, i), "axis")) b->parameter[b->np++] = i;
  assert_int_equal(od_model_plant(m, outputs, m->outputs, b->parameter, b->np, &b->plant, NULL), OD_OK);
  free(outputs);
  b->sim = od_sim_new(b->plant);
  assert_non_null(b->sim);
  b->nz = b->plant->nz, b->nx = od_plant_nx(b->plant), b->nk = od_plant_nk(b->plant), b->nu = b->plant->nu,
  b->ny = m->outputs;
  size_t nk = (size_t)b->nk;
  b->w = take((size_t)m->layout.scalars, sizeof *b->w), b->x = take((size_t)b->nx, sizeof *b->x);
  b->u = take((size_t)b->nu, sizeof *b->u), b->k = take(nk, sizeof *b->k), b->g = take(nk, sizeof *b->g);
  b->matrix = take(nk * nk, sizeof *b->matrix), b->part = take(2 * nk, sizeof *b->part),
  b->pivot = take(nk, sizeof *b->pivot);
}

static void close_bench(bench *b) {
  od_sim_free(b->sim);
  od_plant_free(b->plant);
  void *blocks[] = {b->w, b->x, b->u, b->k, b->g, b->matrix, b->part, b->pivot, b->parameter};
  for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++) free(blocks[i]);
}

// Computes the rates in complex numbers, and all quantities in w, with one entry moved: a state, an input or a parameter.
static void move_entry(bench *b, int entry) {
  const od_layout *l = &b->m->layout;
  const double *w = od_model_plant_scalars(b->plant, od_sim_work(b->sim));
  const int *in = od_model_plant_integers(b->plant, od_sim_work(b->sim));
  int moved = entry - b->nx - b->nu;
  memset(b->w, 0, (size_t)l->scalars * sizeof *b->w);
  for (int i = 0; i < b->m->numbers; i++) b->w[l->theta + i] = w[l->theta + i];
  if (moved >= 0) b->w[l->theta + b->parameter[moved]] += tiny * I;
  for (int i = 0; i < 9 * b->m->charts; i++) b->w[l->chart + i] = w[l->chart + i];
  for (int i = 0; i < b->m->coordinates; i++) b->w[l->z + i] = w[l->z + i];
  od_mechanics_with_derivatives(b->m)->prepare(b->m, b->w);
  for (int i = 0; i < b->nx; i++) b->x[i] = od_sim_state(b->sim)[i] + (i == entry ? tiny * I : 0);
  for (int i = 0; i < b->nu; i++) b->u[i] = od_sim_at(b->sim, b->sim->u)[i] + (i == entry - b->nx ? tiny * I : 0);
  for (int i = 0; i < b->nk; i++) b->k[i] = od_sim_rates(b->sim)[i];
  for (int round = 0; round < 4; round++) {
    double *re = b->part, *im = re + b->nk;
    assert_int_equal(od_model_residual_complex(b->m, in, b->w, b->x, b->k, b->u, b->g), OD_OK);
    for (int i = 0; i < b->nk; i++) re[i] = creal(b->g[i]), im[i] = cimag(b->g[i]);
    od_lu_solve(b->nk, b->matrix, b->pivot, re, 1);
    od_lu_solve(b->nk, b->matrix, b->pivot, im, 1);
    for (int i = 0; i < b->nk; i++) b->k[i] -= re[i] + I * im[i];
  }
  od_mechanics_with_derivatives(b->m)->closure_forces(b->m, in, b->w);  // for joint loads
}

// The size of a change of an entry that is comparable with an angle of 1 rad.
static double unit_of(const bench *b, int entry) {
  if (entry < 2 * b->nz) return 1;
  if (entry < b->nx) return b->plant->scale[entry - b->nz];
  int parameter = entry - b->nx - b->nu;
  return parameter >= 0 ? fabs(b->m->theta[b->parameter[parameter]]) + 1e-12 : 1;
}

// Compares rows of derivatives, each relative to its largest entry and to `usual`.
static void compare(const bench *b, const char *what, const double *got, const double *want, double usual) {
  int all = b->nx + b->nu + b->np;
  double scale = usual;
  for (int j = 0; j < all; j++) scale = fmax(scale, fabs(want[j]) * unit_of(b, j));
  for (int j = 0; j < all; j++) {
    if (fabs(got[j] - want[j]) * unit_of(b, j) <= bound * scale) continue;
    print_error("%s, %s, entry %d of %d (%s): got %.15g, expected %.15g, row %.3g\n", b->name, what, j, all,
                j < b->nx           ? "state"
                : j < b->nx + b->nu ? "input"
                                    : od_number_path(b->m, b->parameter[j - b->nx - b->nu]),
                got[j], want[j], scale);
    fail();
  }
}

static void check_derivatives(bench *b) {
  int all = b->nx + b->nu + b->np, rows = b->nx + b->ny;
  double *want = take((size_t)(rows * all), sizeof *want), *got = take((size_t)(rows * all), sizeof *got);
  double *by[3];
  const int width[3] = {b->nx, b->nu, b->np};
  for (int i = 0; i < 3; i++) by[i] = take((size_t)(rows * width[i]), sizeof *by[i]);
  assert_int_equal(od_sim_derivatives(b->sim, NULL, by[0], by[1], by[2]), OD_OK);
  assert_int_equal(od_sim_output_jacobians(b->sim, by[0] + b->nx * b->nx, by[1] + b->nx * b->nu, by[2] + b->nx * b->np),
                   OD_OK);
  for (int i = 0; i < rows; i++)
    for (int part = 0, first = 0; part < 3; first += width[part++])
      for (int j = 0; j < width[part]; j++) got[i * all + first + j] = by[part][i * width[part] + j];
  assert_int_equal(b->plant->ops->step_matrix(b->plant, od_sim_work(b->sim), 0, 0, b->matrix), OD_OK);
  assert_int_equal(od_lu_factor(b->nk, b->matrix, b->pivot), OD_OK);
  double *value = take((size_t)b->ny, sizeof *value);
  for (int j = 0; j < all; j++) {
    move_entry(b, j);
    for (int i = 0; i < b->nz; i++) want[i * all + j] = cimag(b->x[b->nz + i]) / tiny;
    for (int i = 0; i < b->nk; i++) want[(b->nz + i) * all + j] = cimag(b->k[i]) / tiny;
    for (int i = 0; i < b->ny; i++) {
      double complex y = od_model_output_value_complex(b->m, b->w, &b->m->output[i]);
      want[(b->nx + i) * all + j] = cimag(y) / tiny;
      value[i] = fabs(creal(y));
    }
  }
  char what[64];
  for (int i = 0; i < b->nx; i++) {
    snprintf(what, sizeof what, "rate %d", i);
    compare(b, what, got + i * all, want + i * all, 1e-2 * (i < 2 * b->nz ? 1 : b->plant->scale[i - b->nz]));
  }
  for (int i = 0; i < b->ny; i++) {  // a force that depends on nothing is a sum of large ones
    double usual = od_model_text(b->m, b->m->output[i].unit)[0] == 'N' ? 1 : 1e-2;
    for (int k = 0; k < b->ny; k++)
      if (b->m->output[k].kind == b->m->output[i].kind) usual = fmax(usual, value[k]);
    compare(b, od_model_text(b->m, b->m->output[i].name), got + (b->nx + i) * all, want + (b->nx + i) * all, usual);
  }
  free(want), free(got), free(value);
  for (int i = 0; i < 3; i++) free(by[i]);
}

// Checks the derivatives at three points of a run: after 1, 20 and 60 steps. Frees the machine.
static void check_machine(const char *name, od_machine *machine, double h) {
  bench b;
  open_bench(&b, name, machine);
  double *u = take((size_t)b.nu, sizeof *u);
  od_machine_inputs(machine, 0, u);
  assert_int_equal(od_sim_start(b.sim, 0, u), OD_OK);
  for (int step = 1; step <= 60; step++) {
    od_machine_inputs(machine, step * h, u);
    assert_int_equal(od_sim_step(b.sim, h, u), OD_OK);
    if (step == 1 || step == 20 || step == 60) check_derivatives(&b);
  }
  free(u);
  close_bench(&b);
  od_machine_free(machine);
}

static void check_case(const char *name, double h) {
  char path[256];
  snprintf(path, sizeof path, "cases/%s/machine.yaml", name);
  check_machine(name, od_test_machine(path, NULL), h);
}

// Five junctions that are connected to each other in several ways: their matrix has entries beside the diagonal in all rows.
static void test_many_junctions(void **state) {
  (void)state;
  static const char text[] =
      "oil: {density: 860, law: constant, modulus: 1.2 GPa}\n"
      "sources: {S: {pressure: 150 bar}}\ntanks: {T: {pressure: 2 bar}}\n"
      "volumes: {A: {volume: 1 l}, B: {volume: 0.5 l}}\n"
      "junctions: {J1: {}, J2: {}, J3: {}, J4: {}, J5: {}}\n"
      "leaks:\n"
      "  a: {between: [S, J1], slope: 5e-12}\n  b: {between: [J1, J2], slope: 8e-12}\n  c: {between: [J2, J3], slope: 3e-12}\n"
      "  d: {between: [J3, J4], slope: 6e-12}\n  e: {between: [J4, J5], slope: 4e-12}\n  f: {between: [J5, T], slope: 7e-12}\n"
      "  g: {between: [J1, J4], slope: 2e-12}\n  h: {between: [J2, J5], slope: 9e-12}\n  i: {between: [J3, A], slope: 5e-12}\n"
      "  j: {between: [J4, B], slope: 6e-12}\n  k: {between: [J1, J3], slope: 1e-12}\n"
      "orifices:\n"
      "  o: {between: [J2, A], area: 1 mm^2, discharge: 0.6}\n  p: {between: [J5, B], area: 2 mm^2, discharge: 0.6}\n"
      "initial: {A.pressure: 20 bar, B.pressure: 90 bar}\n";
  check_machine("junctions", od_test_machine_text(text), 1e-3);
}

// A valve is the first element, with the index 0. Its ports depend on the numbers of the valve.
static void test_first_valve(void **state) {
  (void)state;
  static const char text[] =
      "oil: {density: 860, law: constant, modulus: 1.2 GPa}\nsources: {P: {pressure: 150 bar}}\ntanks: {T: {pressure: 2 bar}}\n"
      "volumes: {A: {volume: 1 l}}\ninputs: {u: {unit: V, sine: {offset: 1 V, amplitude: 2 V, frequency: 3 Hz}}}\n"
      "valves: {v: {command: u, time_constant: 8 ms, stroke: 10 V, area: 8 mm^2, discharge: 0.6, ports: {\n"
      "  a: {between: [P, A], side: positive, curve: linear}, b: {between: [A, T], side: negative, curve: linear}}}}\n"
      "initial: {A.pressure: 60 bar}\n";
  od_machine *machine = od_test_machine_text(text);
  const od_model *m = od_machine_model(machine);
  assert_int_equal(m->instance[1].host, 0);
  check_machine("first valve", machine, 1e-3);
}

static void test_cases(void **state) {
  (void)state;
  const char *names[] = {"andrews-squeezer",
                         "bricard",
                         "charging",
                         "crane",
                         "double-pendulum",
                         "excavator",
                         "fin-servo",
                         "forestry-crane",
                         "fourbar-swing",
                         "fourbar-valve",
                         "friction-compensation",
                         "friction-trajectories",
                         "hydraulic-actuator",
                         "hydrostatic-transmission",
                         "load-sensing",
                         "position-servo",
                         "press",
                         "rssr",
                         "slewing-crane",
                         "slider-crank",
                         "test-bench"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) check_case(names[i], 1e-3);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_cases), cmocka_unit_test(test_many_junctions),
                                     cmocka_unit_test(test_first_valve)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
