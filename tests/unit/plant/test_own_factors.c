// Plants that factor the matrix of a step themselves (step_factors, step_solve), and plain simulations, which have no memory for
// derivatives. The oracle: the same machine with the simulation's own dense factors, bit by bit. The tested plant factors the
// same dense matrix in its own work memory, so only the code path differs.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "support/test.h"

#include "filters/motion_parts.h"
#include "filters/outputs_at_rates.h"
#include "math/dense.h"
#include "support/machines.h"

typedef struct own_factors {
  od_plant plant;
  od_plant_ops ops;
  const od_plant *inner;
  bool singular;   // it reports every matrix as singular
  double blur;     // relative error of its solutions
  double *beta;    // receives that of the last factors; NULL: not needed
  int *residuals;  // number of evaluations before all others fail; NULL: no limit
} own_factors;

static const own_factors *outer(const od_plant *plant) {
  return (const own_factors *)(const void *)plant;  // its first member
}

static double *matrix_of(const od_plant *plant, void *work) {
  return (double *)((char *)work + outer(plant)->inner->work_size);
}
static int *pivot_of(const od_plant *plant, void *work) {
  int nk = od_plant_nk(plant);
  return (int *)(matrix_of(plant, work) + nk * nk);
}

static od_status step_factors(const od_plant *plant, void *work, double alpha, double beta) {
  if (outer(plant)->beta) *outer(plant)->beta = beta;
  if (outer(plant)->singular) return OD_SINGULAR;
  double *matrix = matrix_of(plant, work);
  od_status status = plant->ops->step_matrix(plant, work, alpha, beta, matrix);
  return status == OD_OK ? od_lu_factor(od_plant_nk(plant), matrix, pivot_of(plant, work)) : status;
}
static void step_solve(const od_plant *plant, void *work, double *right, int columns) {
  od_lu_solve(od_plant_nk(plant), matrix_of(plant, work), pivot_of(plant, work), right, columns);
  for (int i = 0; i < od_plant_nk(plant) * columns; i++) right[i] *= 1 + outer(plant)->blur;
}
static od_status residual(const od_plant *plant, void *work, double t, const double *x, const double *k,
                          const double *u, double *g) {
  int *left = outer(plant)->residuals;
  if (left && (*left)-- <= 0) return OD_NOT_FINITE;
  return outer(plant)->inner->ops->residual(plant, work, t, x, k, u, g);
}

static own_factors with_own_factors(const od_plant *inner, bool singular) {
  size_t nk = (size_t)od_plant_nk(inner);
  own_factors f = {.plant = *inner, .ops = *inner->ops, .inner = inner, .singular = singular};
  f.ops.step_factors = step_factors;
  f.ops.step_solve = step_solve;
  f.ops.residual = residual;
  f.plant.work_size += nk * nk * sizeof(double) + nk * sizeof(int);
  return f;
}

enum { STEPS = 300, MOST = 64 };

// The end of a run, with errors, states and energies.
typedef struct end {
  double x[MOST], before[MOST], after[MOST], y;
} end;

static end run(od_sim *sim, const od_plant *plant, const od_machine *machine, const od_integrator *integrator,
               bool turns) {
  double u[16] = {0}, F[MOST * MOST];
  end e = {0};
  assert_non_null(sim);
  if (plant->nu) od_machine_inputs(machine, 0, u);
  od_sim_set_integrator(sim, integrator);
  assert_int_equal(od_sim_start(sim, 0, u), OD_OK);
  for (int i = 1; i <= STEPS; i++) {
    if (plant->nu) od_machine_inputs(machine, i * 1e-4, u);
    // Steps of other lengths need new matrices, and rates at a new point invalidate the plant's factors.
    if (i == 100 && turns && plant->nu) assert_int_equal(od_sim_set_inputs(sim, u), OD_OK);
    double h = i > 200 ? 0.7e-4 : 1e-4;
    od_status status =
        turns && i % 3 == 0 ? od_sim_step_with_jacobians(sim, h, u, F, NULL, NULL, NULL) : od_sim_step(sim, h, u);
    assert_int_equal(status, OD_OK);
    od_sim_local_error(sim, e.before, e.after);
    assert_int_equal(od_sim_outputs(sim, &e.y), OD_OK);
  }
  memcpy(e.x, od_sim_state(sim), (size_t)od_plant_nx(plant) * sizeof *e.x);
  od_sim_free(sim);
  return e;
}

static void same_bits(void **state) {
  (void)state;
  static const struct {
    const char *file, *output;
  } machines[] = {{"cases/fourbar-valve/machine.yaml", "cylinder.length"}, {"cases/fin-servo/machine.yaml", NULL}};
  for (size_t i = 0; i < sizeof machines / sizeof *machines; i++)
    for (int k = 0; od_integrator_at(k); k++) {
      od_machine *machine = od_test_machine(machines[i].file, NULL);
      int output = machines[i].output ? od_test_output(machine, machines[i].output) : 0;
      od_plant *inner = NULL;
      assert_int_equal(od_machine_plant(machine, &output, 1, NULL, 0, &inner, NULL), OD_OK);
      assert_true(od_plant_nx(inner) <= MOST && inner->nu <= 16);
      own_factors own = with_own_factors(inner, false), singular = with_own_factors(inner, true);
      own.plant.ops = &own.ops;
      singular.plant.ops = &singular.ops;
      const od_integrator *rule = od_integrator_at(k);
      end dense = run(od_sim_new(inner), inner, machine, rule, false);
      end plain = run(od_sim_plain_new(inner), inner, machine, rule, false);
      end of_plant = run(od_sim_new(&own.plant), &own.plant, machine, rule, false);
      end plain_of_plant = run(od_sim_plain_new(&own.plant), &own.plant, machine, rule, false);
      end fallen_back = run(od_sim_new(&singular.plant), &singular.plant, machine, rule, false);
      assert_memory_equal(&dense, &plain, sizeof dense);
      assert_memory_equal(&dense, &of_plant, sizeof dense);
      assert_memory_equal(&dense, &plain_of_plant, sizeof dense);
      assert_memory_equal(&dense, &fallen_back, sizeof dense);
      // Steps with and without derivatives in turns, and a jump of the inputs, after which a plant's matrix is newer than that of
      // the simulation: agreement within the iteration's tolerance.
      dense = run(od_sim_new(inner), inner, machine, rule, true);
      of_plant = run(od_sim_new(&own.plant), &own.plant, machine, rule, true);
      for (int j = 0; j < od_plant_nx(inner); j++)
        assert_true(fabs(dense.x[j] - of_plant.x[j]) <= 1e-9 * (fabs(dense.x[j]) + 1e-3));
      od_plant_free(inner);
      od_machine_free(machine);
    }
}

// A simulation without memory for derivatives returns a status and stays unchanged; if the plant cannot factor, a plain
// step fails with its status.
static void plain_ones_say_so(void **state) {
  (void)state;
  od_test_run r = od_test_begin(od_test_machine("cases/fourbar-valve/machine.yaml", NULL), "cylinder.length", NULL);
  own_factors own = with_own_factors(r.plant, false);
  own.plant.ops = &own.ops;
  double u[16] = {0}, many[MOST * MOST], y;
  od_sim *sim = od_sim_plain_new(&own.plant);
  assert_int_equal(od_sim_start(sim, 0, u), OD_OK);
  assert_int_equal(od_sim_step_with_jacobians(sim, 1e-4, u, many, NULL, NULL, NULL), OD_NOT_AVAILABLE);
  assert_int_equal(od_sim_derivatives(sim, NULL, many, NULL, NULL), OD_NOT_AVAILABLE);
  assert_int_equal(od_sim_output_jacobians(sim, many, NULL, NULL), OD_NOT_AVAILABLE);
  assert_int_equal(od_sim_outputs_at_rates(sim, od_sim_rates(sim), NULL, &y, NULL, NULL, NULL), OD_NOT_AVAILABLE);
  assert_int_equal(od_sim_motion_parts(sim, od_sim_rates(sim), NULL, &(od_motion_parts){0}), OD_NOT_AVAILABLE);
  assert_int_equal(od_sim_derivatives(sim, many, NULL, NULL, NULL), OD_OK);
  for (int i = 0; od_integrator_at(i); i++) {
    double shift[MOST] = {0}, part;
    od_sim_set_integrator(sim, od_integrator_at(i));
    assert_int_equal(od_sim_step_and_shift(sim, 1e-4, u, shift, many, NULL, &part), OD_NOT_AVAILABLE);
  }
  od_sim_set_integrator(sim, od_integrator_at(0));
  assert_true(od_sim_time(sim) == 0);
  own.singular = true;
  assert_int_equal(od_sim_step(sim, 1e-4, u), OD_SINGULAR);
  assert_true(od_sim_time(sim) == 0);
  own.singular = false;
  assert_int_equal(od_sim_step(sim, 1e-4, u), OD_OK);
  // The block: its size, and no matrix in it except in the plant's work memory.
  size_t nx = (size_t)od_plant_nx(&own.plant);
  assert_int_equal(od_sim_bytes(sim), od_sim_plain_size(&own.plant));
  assert_int_equal(od_sim_bytes(r.sim), od_sim_size(r.plant));
  assert_true(od_sim_plain_size(&own.plant) - own.plant.work_size <
              2000 + 40 * (nx + (size_t)own.plant.nq) * sizeof(double));
  od_sim_free(sim);
  od_test_end(&r);
}

// Rates with approximate factors of the matrix: correct if corrections converge, else a status. The oracle: the rates by exact
// factors.
static void rates_by_bad_factors(void **state) {
  (void)state;
  static const double blur[] = {1e-8, 1e-4, 3e-2, 1.0};
  od_test_run r = od_test_begin(od_test_machine("cases/fourbar-valve/machine.yaml", NULL), "cylinder.length", NULL);
  own_factors own = with_own_factors(r.plant, false);
  own.plant.ops = &own.ops;
  double u[16] = {0}, exact[MOST];
  od_sim *sim = od_sim_plain_new(&own.plant);
  assert_int_equal(od_sim_start(sim, 0, u), OD_OK);
  memcpy(exact, od_sim_rates(sim), (size_t)od_plant_nk(r.plant) * sizeof *exact);
  for (int i = 0; i < 4; i++) {
    own.blur = blur[i];
    od_status status = od_sim_start(sim, 0, u);
    assert_int_equal(status, i < 3 ? OD_OK : OD_SINGULAR);
    for (int k = 0; k < od_plant_nk(r.plant) && status == OD_OK; k++)
      assert_true(fabs(od_sim_rates(sim)[k] - exact[k]) <= 1e-11 * (fabs(exact[k]) + r.plant->scale[k]));
  }
  od_sim_free(sim);
  od_test_end(&r);
}

// Setting a point without rates invalidates a plant's factors of Newton's matrix: the next step computes new ones.
static void factors_after_a_failure(void **state) {
  (void)state;
  od_test_run r = od_test_begin(od_test_machine("cases/fourbar-valve/machine.yaml", NULL), "cylinder.length", NULL);
  own_factors own = with_own_factors(r.plant, false);
  double u[16] = {0}, x[MOST], beta = -1;
  own.plant.ops = &own.ops;
  own.beta = &beta;
  od_sim *sim = od_sim_plain_new(&own.plant);
  assert_int_equal(od_sim_start(sim, 0, u), OD_OK);
  for (int i = 0; i < 3; i++) assert_int_equal(od_sim_step(sim, 1e-4, u), OD_OK);
  assert_true(beta == 0.5e-4);
  memcpy(x, od_sim_state(sim), (size_t)od_plant_nx(r.plant) * sizeof *x);
  own.singular = true;
  assert_int_equal(od_sim_set(sim, od_sim_time(sim), x, u), OD_SINGULAR);
  own.singular = false;
  assert_true(beta == 0);
  assert_int_equal(od_sim_step(sim, 1e-4, u), OD_OK);
  assert_true(beta == 0.5e-4);
  od_sim_free(sim);
  od_test_end(&r);
}

// A step with a shift that fails after the intermediate derivatives: those of the present point are unchanged. The oracle: a
// simulation without the attempt.
static void slopes_after_a_failure(void **state) {
  (void)state;
  od_machine *machine = od_test_machine("cases/fourbar-valve/machine.yaml", NULL);
  int output = od_test_output(machine, "cylinder.length"), mass = od_machine_number_find(machine, "crank.beam.mass");
  int left = 1000000;
  od_plant *inner = NULL;
  assert_int_equal(od_machine_plant(machine, &output, 1, &mass, 1, &inner, NULL), OD_OK);
  own_factors own = with_own_factors(inner, false);
  own.plant.ops = &own.ops;
  own.ops.step_factors = NULL;
  own.residuals = &left;
  double u[16] = {0}, F[MOST * MOST], fx[MOST * MOST], fp[2][MOST], dx[MOST], part;
  od_sim *sim[] = {od_sim_new(&own.plant), od_sim_new(&own.plant)};
  for (int k = 0; k < 2; k++) {
    od_machine_inputs(machine, 0, u);
    assert_int_equal(od_sim_start(sim[k], 0, u), OD_OK);
    for (int j = 1; j <= 20; j++) {
      od_machine_inputs(machine, j * 1e-3, u);
      assert_int_equal(od_sim_step(sim[k], 1e-3, u), OD_OK);
    }
  }
  // A shift so large that the second correction is not small: a plain Newton iteration follows and fails.
  for (int j = 0; j < od_plant_nx(inner); j++) dx[j] = 1e-2 * fabs(od_sim_state(sim[0])[j]);
  assert_int_equal(od_sim_derivatives(sim[0], NULL, fx, NULL, NULL), OD_OK);
  left = 2;  // the first correction, and the intermediate one
  assert_int_equal(od_sim_step_and_shift(sim[0], 1e-5, u, dx, F, NULL, &part), OD_NOT_FINITE);
  left = 1000000;
  for (int k = 0; k < 2; k++) assert_int_equal(od_sim_derivatives(sim[k], NULL, NULL, NULL, fp[k]), OD_OK);
  for (int j = 0; j < od_plant_nx(inner); j++) assert_true(fabs(fp[0][j] - fp[1][j]) <= 1e-9 * fabs(fp[1][j]));
  od_sim_free(sim[0]);
  od_sim_free(sim[1]);
  od_plant_free(inner);
  od_machine_free(machine);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(same_bits), cmocka_unit_test(plain_ones_say_so),
                                     cmocka_unit_test(rates_by_bad_factors), cmocka_unit_test(factors_after_a_failure),
                                     cmocka_unit_test(slopes_after_a_failure)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
