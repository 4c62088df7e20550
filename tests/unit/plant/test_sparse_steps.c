// Large circuits: sparse derivatives and sparse matrices of steps. Oracles: the same random machine with dense rows, whose
// derivatives unit.plant.jacobians compares with the complex step; a ladder of equal volumes and leaks with modes in closed form,
// both of the equations and of the trapezoidal rule.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/test.h"
#include "math/dense.h"
#include "model/model.h"
#include "model/outputs.h"
#include "plant/model_plant.h"
#include "support/allocations.h"
#include "support/machines.h"
#include "support/random_machine.h"

// ---- random machines, sparse and dense

enum { MOST_PARAMETERS = 12, MOST_OUTPUTS = 4096 };

// A machine at its first point, with all compared quantities.
typedef struct sample {
  od_model *m;
  od_plant *plant;
  void *work;
  int nx, nk, nu, ny;
  double *x, *k, *g, *gx, *gk, *gu, *gp, *hx, *kx;
} sample;

static double *zeros(int rows, int columns) {
  double *a = calloc((size_t)(rows * columns) + 1, sizeof *a);
  assert_non_null(a);
  return a;
}

static bool open_sample(sample *a, unsigned long long seed, bool circuit_alone, bool blocks, od_sparsity sparsity) {
  *a = (sample){.m = od_random_machine_with(seed, seed % 2, seed % 3 == 0 && !circuit_alone, true, blocks, sparsity)};
  if (!a->m) return false;
  static int outputs[MOST_OUTPUTS];
  int parameter[MOST_PARAMETERS];
  od_dice dice = {seed + 99};
  assert_true(a->m->outputs <= MOST_OUTPUTS);
  for (int i = 0; i < a->m->outputs; i++) outputs[i] = i;
  for (int i = 0; i < MOST_PARAMETERS;) {
    parameter[i] = od_dice_pick(&dice, a->m->numbers);
    if (!a->m->planar || strcmp(od_number_path(a->m, parameter[i]), "axis") != 0) i++;
  }
  assert_int_equal(od_model_plant(a->m, outputs, a->m->outputs, parameter, MOST_PARAMETERS, &a->plant, NULL), OD_OK);
  a->nx = od_plant_nx(a->plant), a->nk = od_plant_nk(a->plant), a->nu = a->plant->nu, a->ny = a->plant->ny;
  a->work = calloc(1, a->plant->work_size);
  a->x = zeros(a->nx, 1), a->k = zeros(a->nk, 1), a->g = zeros(a->nk, 1);
  a->gx = zeros(a->nk, a->nx), a->gk = zeros(a->nk, a->nk), a->gu = zeros(a->nk, a->nu);
  a->gp = zeros(a->nk, MOST_PARAMETERS), a->hx = zeros(a->ny, a->nx), a->kx = zeros(a->nk, a->nx);
  double u[2] = {od_dice_uniform(&dice, -2, 2), od_dice_uniform(&dice, -2, 2)};
  assert_int_equal(a->plant->ops->start(a->plant, a->work, a->x), OD_OK);
  for (int i = 0; i < a->plant->nz; i++) a->x[a->plant->nz + i] += od_dice_uniform(&dice, -1, 1);
  for (int i = 0; i < a->nk; i++) a->k[i] = od_dice_uniform(&dice, -1, 1) * a->plant->scale[i];
  const od_plant_ops *ops = a->plant->ops;
  if (ops->residual(a->plant, a->work, 0, a->x, a->k, u, a->g) != OD_OK) return false;
  assert_int_equal(ops->jacobians(a->plant, a->work, a->gx, a->gk, a->gu), OD_OK);
  assert_int_equal(ops->parameter_jacobian(a->plant, a->work, a->gp), OD_OK);
  assert_int_equal(ops->output_jacobians(a->plant, a->work, NULL, NULL, a->kx, NULL, NULL, a->hx, NULL, NULL), OD_OK);
  return true;
}

static void close_sample(sample *a) {
  double *memory[] = {a->x, a->k, a->g, a->gx, a->gk, a->gu, a->gp, a->hx, a->kx};
  for (size_t i = 0; i < sizeof memory / sizeof *memory; i++) free(memory[i]);
  free(a->work);
  od_plant_free(a->plant);
  od_model_free(a->m);
}

// Each row relative to its largest entry.
static void compare(unsigned long long seed, const char *what, const double *a, const double *b, int rows,
                    int columns) {
  for (int i = 0; i < rows; i++) {
    double largest = 0, worst = 0;
    for (int j = 0; j < columns; j++) {
      largest = fmax(largest, fabs(b[i * columns + j]));
      worst = fmax(worst, fabs(a[i * columns + j] - b[i * columns + j]));
    }
    if (!(worst <= 1e-12 * largest)) print_error("machine %llu, %s, row %d: %g of %g\n", seed, what, i, worst, largest);
    assert_true(worst <= 1e-12 * largest);
  }
}

// Solves for a random right-hand side, and multiplies the solution with the dense matrix of the dense machine. Each row's
// residual is relative to its terms.
static void check_factors(unsigned long long seed, sample *sparse, sample *dense, double alpha, double beta) {
  int nk = dense->nk;
  od_dice dice = {seed + 5};
  double *M = zeros(nk, nk), *b = zeros(nk, 2), *x = zeros(nk, 2), worst = 0;
  assert_int_equal(dense->plant->ops->step_matrix(dense->plant, dense->work, alpha, beta, M), OD_OK);
  od_status status = sparse->plant->ops->step_factors(sparse->plant, sparse->work, alpha, beta);
  if (status != OD_OK) print_error("machine %llu, beta %g: %s\n", seed, beta, od_status_text(status));
  assert_int_equal(status, OD_OK);
  for (int i = 0; i < 2 * nk; i++) x[i] = b[i] = od_dice_uniform(&dice, -1, 1) * dense->plant->scale[i / 2];
  sparse->plant->ops->step_solve(sparse->plant, sparse->work, x, 2);
  for (int i = 0; i < 2 * nk; i++) {
    double sum = -b[i], size = fabs(b[i]);
    for (int j = 0; j < nk; j++) {
      double part = M[i / 2 * nk + j] * x[2 * j + i % 2];
      sum += part, size += fabs(part);
    }
    worst = fmax(worst, fabs(sum) / size);
  }
  if (!(worst < 1e-9)) print_error("machine %llu, beta %g: residual %g\n", seed, beta, worst);
  assert_true(worst < 1e-9);
  free(M), free(b), free(x);
}

// Every state of the circuit on which an output depends is in the list of its kind. For kinds without a list all states count. Blocks
// are excluded: their measurements are not a direct dependence. Oracle: the exact derivatives.
static void outputs_read_what_they_say(void **state) {
  (void)state;
  int kinds[OD_OUT_BALANCE + 1] = {0}, seen = 0;
  for (unsigned long long seed = 1; seed <= 25; seed++) {
    sample a;
    if (open_sample(&a, seed, false, false, OD_SPARSE_NEVER)) {
      const od_model *m = a.m;
      bool *mark = calloc((size_t)m->circuit_states + 1, sizeof *mark);
      for (int i = 0; i < a.ny; i++) {
        const od_output *o = &m->output[i];
        memset(mark, 0, (size_t)m->circuit_states * sizeof *mark);
        od_output_mark_states(m, o, mark);
        for (int j = 0; j < m->circuit_states; j++) {
          if (a.hx[i * a.nx + 2 * a.plant->nz + j] == 0) continue;
          if (!mark[j]) print_error("machine %llu: %s depends on state %d\n", seed, od_model_text(m, o->name), j);
          assert_true(mark[j]);
          if (od_output_reads_of(o->kind) != OD_READS_ANYTHING) kinds[o->kind]++;
        }
      }
      free(mark);
    }
    close_sample(&a);
  }
  for (int i = 0; i <= OD_OUT_BALANCE; i++) seen += kinds[i] > 0;
  assert_true(seen >= 5);  // pressures, their differences, forces, outs, reports or states of elements
}

static void random_machines(void **state) {
  (void)state;
  int compared = 0, solved = 0, with_blocks = 0, with_junctions = 0, with_heat = 0;
  for (unsigned long long seed = 1; seed <= 60; seed++) {
    bool blocks = seed % 3 == 0;
    sample sparse, dense;
    bool a = open_sample(&sparse, seed, seed % 2, blocks, OD_SPARSE_ALWAYS);
    bool b = open_sample(&dense, seed, seed % 2, blocks, OD_SPARSE_NEVER);
    assert_int_equal(a, b);
    if (a && sparse.m->circuit_states) {
      compared++;
      with_junctions += sparse.m->junctions > 0;
      with_heat += sparse.m->join.warms >= 0;
      assert_non_null(sparse.m->join.row_start);
      assert_null(dense.m->join.row_start);
      assert_null(dense.plant->ops->step_factors);
      assert_memory_equal(sparse.g, dense.g, (size_t)dense.nk * sizeof *dense.g);
      compare(seed, "dg/dx", sparse.gx, dense.gx, dense.nk, dense.nx);
      compare(seed, "dg/dk", sparse.gk, dense.gk, dense.nk, dense.nk);
      compare(seed, "dg/du", sparse.gu, dense.gu, dense.nk, dense.nu);
      compare(seed, "dg/dp", sparse.gp, dense.gp, dense.nk, MOST_PARAMETERS);
      compare(seed, "dy/dx", sparse.hx, dense.hx, dense.ny, dense.nx);
      if (sparse.plant->ops->step_factors) {
        solved++;
        with_blocks += sparse.m->blocks > 0;
        check_factors(seed, &sparse, &dense, 0, 0);
        check_factors(seed, &sparse, &dense, 1e-8, 1e-4);
        check_factors(seed, &sparse, &dense, 1e-4, 1e-2);
        check_factors(seed, &sparse, &dense, 0, 1e-3);
      }
    }
    close_sample(&sparse);
    close_sample(&dense);
  }
  assert_true(compared > 30 && solved > 30 && with_blocks > 10 && with_junctions > 5 && with_heat > 3);
}

// The final state of a run (nx); the caller frees it. Plain simulations have no dense factors as a fallback.
static double *end_of_run(const od_model *m, bool plain, const od_integrator *rule) {
  od_plant *plant = NULL;
  assert_int_equal(od_model_plant(m, NULL, 0, NULL, 0, &plant, NULL), OD_OK);
  od_sim *sim = plain ? od_sim_plain_new(plant) : od_sim_new(plant);
  double u[2] = {0.3, -0.2}, *x = zeros(od_plant_nx(plant), 1);
  od_sim_set_integrator(sim, rule);
  assert_int_equal(od_sim_start(sim, 0, u), OD_OK);
  for (int i = 0; i < 30; i++) {
    bool changed;
    od_status status = od_sim_step(sim, 3e-4, u);
    if (status == OD_OK) status = od_sim_sample(sim, NULL, NULL, &changed);
    if (status != OD_OK) print_error("step %d with %s: %s\n", i, rule->name, od_status_text(status));
    assert_int_equal(status, OD_OK);
  }
  memcpy(x, od_sim_state(sim), (size_t)od_plant_nx(plant) * sizeof *x);
  od_sim_free(sim);
  od_plant_free(plant);
  return x;
}

// Runs of stiff machines with sparse factors compared with runs with dense ones. In number 95 pivots lose ten digits and
// more.
static void runs_of_stiff_machines(void **state) {
  (void)state;
  for (unsigned long long seed = 91; seed <= 96; seed++) {
    od_model *sparse = od_random_machine_with(seed, seed % 2, seed % 3 == 0, true, false, OD_SPARSE_ALWAYS),
             *dense = od_random_machine_with(seed, seed % 2, seed % 3 == 0, true, false, OD_SPARSE_NEVER);
    for (int k = 0; sparse && dense && k < 2; k++) {  // trapezoid, and TR-BDF2
      const od_integrator *rule = od_integrator_find(k ? "tr-bdf2" : "trapezoid");
      dense->newton = OD_NEWTON_DENSE;
      double *a = end_of_run(sparse, true, rule), *b = end_of_run(dense, false, rule);
      for (int i = 0; i < 2 * dense->freedom + dense->states; i++)
        assert_true(fabs(a[i] - b[i]) <= 1e-6 * (fabs(b[i]) + 1e-3));
      free(a), free(b);
    }
    od_model_free(sparse);
    od_model_free(dense);
  }
}

// ---- a ladder in closed form
//
// V volumes between two sources of the same pressure, equal leaks between neighbors: p_i' = a (p_(i-1) - 2 p_i + p_(i+1)),
// a = slope modulus / volume. Its modes are sin(k pi i / (V + 1)) with lambda = -4 a sin^2(k pi / (2 (V + 1))).
enum { VOLUMES = 600 };
static const double rest = 1e7, pi = 3.14159265358979323846;
static const int mode[] = {1, 40, 333};
static const double size_of_mode[] = {2e6, 5e5, 1e5};

static double mode_at(int k, int volume) {
  return sin(mode[k] * pi * volume / (VOLUMES + 1));
}

static od_machine *ladder(void) {
  size_t room = 400 * VOLUMES, used = 0;
  char *text = malloc(room);
#define WRITE(...) used += (size_t)snprintf(text + used, room - used, __VA_ARGS__)
  WRITE("oil: {density: 870 kg/m^3, law: constant, modulus: 1.4 GPa}\nsources: {S: {pressure: %g Pa}}\nvolumes:\n",
        rest);
  for (int i = 1; i <= VOLUMES; i++) WRITE("  V%d: {volume: 1 L}\n", i);
  WRITE("leaks:\n  first: {between: [S, V1], slope: 1e-9 m^3/(s Pa)}\n");
  for (int i = 1; i < VOLUMES; i++) WRITE("  L%d: {between: [V%d, V%d], slope: 1e-9 m^3/(s Pa)}\n", i, i, i + 1);
  WRITE("  last: {between: [V%d, S], slope: 1e-9 m^3/(s Pa)}\ninitial:\n", VOLUMES);
  for (int i = 1; i <= VOLUMES; i++) {
    double p = rest;
    for (int k = 0; k < 3; k++) p += size_of_mode[k] * mode_at(k, i);
    WRITE("  V%d.pressure: %.17g Pa\n", i, p);
  }
#undef WRITE
  assert_true(used < room);
  od_machine *machine = od_test_machine_text(text);
  free(text);
  return machine;
}

static void ladder_in_closed_form(void **state) {
  (void)state;
  od_machine *machine = ladder();
  od_plant *plant = NULL;
  assert_int_equal(od_machine_plant(machine, NULL, 0, NULL, 0, &plant, NULL), OD_OK);
  assert_non_null(plant->ops->step_factors);
  assert_int_equal(plant->nc, VOLUMES);
  const double a = 1e-9 * 1.4e9 / 1e-3, h = 2e-4;
  for (int rule = 0; rule < 2; rule++) {  // trapezoid, and TR-BDF2
    od_sim *sim = od_sim_plain_new(plant);
    od_sim_set_integrator(sim, od_integrator_find(rule ? "tr-bdf2" : "trapezoid"));
    assert_int_equal(od_sim_start(sim, 0, NULL), OD_OK);
    int failures = 0;
#if COUNTING
    long before = allocations;
#endif
    for (int i = 0; i < 50; i++) failures += od_sim_step(sim, h, NULL) != OD_OK;
#if COUNTING
    assert_int_equal(allocations - before, 0);
#endif
    assert_int_equal(failures, 0);
    double by_rule = 0, by_time = 0;
    for (int i = 1; i <= VOLUMES; i++) {
      double p = rest, exact = rest;
      for (int k = 0; k < 3; k++) {
        double lambda = -4 * a * pow(sin(mode[k] * pi / (2 * (VOLUMES + 1))), 2), z = h * lambda;
        p += size_of_mode[k] * mode_at(k, i) * pow((1 + z / 2) / (1 - z / 2), 50);
        exact += size_of_mode[k] * mode_at(k, i) * exp(50 * z);
      }
      by_rule = fmax(by_rule, fabs(od_sim_state(sim)[i - 1] - p));
      by_time = fmax(by_time, fabs(od_sim_state(sim)[i - 1] - exact));
    }
    if (rule == 0 && !(by_rule < 1e-9 * rest)) print_error("the rule is missed by %g Pa\n", by_rule);
    if (rule == 0) assert_true(by_rule < 1e-9 * rest);
    if (!(by_time < 2e-3 * rest)) print_error("the solution is missed by %g Pa\n", by_time);
    assert_true(by_time < 2e-3 * rest);
    // No memory of the simulation or the plant grows with the square of the size: a dense matrix would need 2.9 MB.
    assert_true(od_sim_bytes(sim) < 4000UL * VOLUMES);
    od_sim_free(sim);
  }
  od_plant_free(plant);
  od_machine_free(machine);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(outputs_read_what_they_say), cmocka_unit_test(random_machines),
                                     cmocka_unit_test(runs_of_stiff_machines), cmocka_unit_test(ladder_in_closed_form)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
