// Energy balance of machines. Oracle: conservation of energy: the input is stored or dissipated. It uses the energies
// and powers of elements, not the equations of motion.
#include <math.h>

#include "support/test.h"
#include "simulate/cvodes.h"
#include "support/machines.h"

// Largest defect of the balance over time, relative to the largest energy.
typedef struct balance {
  double defect, moved;
} balance;

static void watch(od_test_run *r, balance *b) {
  double y[4];
  assert_int_equal(od_sim_outputs(r->sim, y), OD_OK);
  b->defect = fmax(b->defect, fabs(y[0]));
  for (int k = 1; k < 4; k++) b->moved = fmax(b->moved, fabs(y[k]));
}

static od_test_run begin(const char *file) {
  return od_test_begin(od_test_machine(file, NULL), "energy.balance", "energy.kinetic", "energy.dissipated",
                       "energy.input", NULL);
}

static void check_cvodes(const char *file) {
  od_test_run r = begin(file);
  od_cvodes *c = od_cvodes_new(r.sim, r.plant, r.machine, 1e-10);
  balance b = {0};
  od_error err = {0};
  for (int i = 1; i <= 600; i++) {
    od_status status = od_cvodes_advance(c, 0.1 * i, &err);
    if (status != OD_OK) print_error("%s: %s\n", file, err.text);
    assert_int_equal(status, OD_OK);
    watch(&r, &b);
  }
  print_message("%s: 60 s, largest defect %.2g of %.3g J\n", file, b.defect / b.moved, b.moved);
  assert_true(b.defect < 1e-6 * b.moved);
  od_cvodes_free(c);
  od_test_end(&r);
}

static void cvodes_closes_the_balance(void **state) {
  (void)state;
  check_cvodes("cases/fourbar-observer/spring.yaml");
  check_cvodes("cases/fourbar-observer/toolbox.yaml");
  check_cvodes("cases/crane/machine.yaml");
  check_cvodes("cases/bricard/machine.yaml");
  check_cvodes("cases/rssr/machine.yaml");
}

static double defect_of(const od_integrator *integrator, const char *file, double h, double time) {
  od_test_run r = begin(file);
  od_sim_set_integrator(r.sim, integrator);
  balance b = {0};
  double u[16] = {0};
  bool changed;
  for (long i = 1; (double)i * h < time * (1 + 1e-9); i++) {
    if (r.plant->nu) od_machine_inputs(r.machine, (double)i * h, u);
    assert_int_equal(od_sim_repartition(r.sim, NULL, &changed), OD_OK);
    assert_int_equal(od_sim_step(r.sim, h, u), OD_OK);
    watch(&r, &b);
  }
  od_test_end(&r);
  return b.defect;
}

// For every integrator the defect falls by 2^order per halving of the step, or faster.
static void defects_fall_with_the_order(void **state) {
  (void)state;
  static const struct {
    const char *file;
    double h, time;
  } run[] = {{"cases/fourbar-observer/spring.yaml", 1e-3, 1},
             {"cases/fourbar-swing/machine.yaml", 4e-3, 2},
             {"cases/crane/machine.yaml", 2e-3, 4},
             {"cases/bricard/machine.yaml", 2e-3, 1}};
  const od_integrator *integrator;
  for (int k = 0; (integrator = od_integrator_at(k)); k++) {
    int checked = 0;
    for (size_t i = 0; i < sizeof run / sizeof *run; i++) {
      double coarse = defect_of(integrator, run[i].file, run[i].h, run[i].time);
      double fine = defect_of(integrator, run[i].file, run[i].h / 2, run[i].time);
      double finest = defect_of(integrator, run[i].file, run[i].h / 4, run[i].time);
      print_message("%s, %s: defects %.3g %.3g %.3g J, ratios %.2f %.2f\n", integrator->name, run[i].file, coarse, fine,
                    finest, coarse / fine, fine / finest);
      double ratio = exp2(integrator->order);
      // Below this there is only round-off.
      if (fine > 1e-9) assert_true(coarse / fine > 0.9 * ratio);
      if (finest > 1e-9) assert_true(fine / finest > 0.95 * ratio);
      checked += finest > 1e-9;
      if (integrator->order == 2) assert_true(fabs(coarse / fine - 4) < 0.4 && fabs(fine / finest - 4) < 0.2);
    }
    assert_true(checked >= 2);
  }
}

// A plant without integrals among its outputs integrates powers on request, with the same motion in any case. The oracle is the
// simulation of a plant with such outputs.
static void powers_are_integrated_where_wanted(void **state) {
  (void)state;
  enum { STEPS = 200 };
  od_machine *machine = od_test_machine("cases/fourbar-valve/machine.yaml", NULL);
  const int dissipated = od_machine_output_find(machine, "energy.dissipated");
  od_plant *plant[3];  // by outputs; without; without such outputs, on request
  od_sim *sim[3];
  double u[16] = {0};
  for (int k = 0; k < 3; k++) {
    assert_int_equal(od_machine_plant(machine, &dissipated, k == 0, NULL, 0, &plant[k], NULL), OD_OK);
    if (k == 2) assert_int_equal(od_model_plant_integrate_powers(plant[k]), OD_OK);
    sim[k] = od_sim_new(plant[k]);
    if (plant[k]->nu) od_machine_inputs(machine, 0, u);
    assert_int_equal(od_sim_start(sim[k], 0, u), OD_OK);
    for (int i = 1; i <= STEPS; i++) {
      if (plant[k]->nu) od_machine_inputs(machine, 2e-3 * i, u);
      assert_int_equal(od_sim_step(sim[k], 2e-3, u), OD_OK);
    }
  }
  assert_true(plant[0]->nq > 0 && plant[1]->nq == 0 && plant[2]->nq == plant[0]->nq);
  assert_null(od_sim_energy(sim[1]));
  for (int k = 1; k < 3; k++)
    assert_memory_equal(od_sim_state(sim[k]), od_sim_state(sim[0]), (size_t)od_plant_nx(plant[0]) * sizeof(double));
  double moved = 0;
  for (int i = 0; i < plant[0]->nq; i++) moved = fmax(moved, fabs(od_sim_energy(sim[0])[i]));
  assert_true(moved > 1);
  assert_memory_equal(od_sim_energy(sim[2]), od_sim_energy(sim[0]), (size_t)plant[0]->nq * sizeof(double));
  for (int k = 0; k < 3; k++) od_sim_free(sim[k]), od_plant_free(plant[k]);
  // A plant with calibrated sensors does not offer this request.
  od_plant *inner, *calibrated;
  assert_int_equal(od_machine_plant(machine, &dissipated, 1, NULL, 0, &inner, NULL), OD_OK);
  const od_calibration bias = {.output = 0, .kind = OD_CALIBRATE_BIAS};
  assert_int_equal(od_plant_calibrated(inner, &bias, 1, &calibrated, NULL), OD_OK);
  assert_int_equal(od_model_plant_integrate_powers(calibrated), OD_BAD_ARGUMENT);
  od_plant_free(calibrated);
  od_machine_free(machine);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(powers_are_integrated_where_wanted),
                                     cmocka_unit_test(cvodes_closes_the_balance),
                                     cmocka_unit_test(defects_fall_with_the_order)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
