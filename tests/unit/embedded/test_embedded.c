// Runs of machines and observers that constant data describe. Oracles: a simulation in fixed steps, written here with od_sim_step() for a machine
// without samples; runs whose descriptions or samples have the same meaning in another form, with equal results.
#include "oleodyn/embedded.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "support/test.h"

#include "export/program.h"
#include "support/experiments.h"
#include "support/machines.h"

enum { MEMORY = 1 << 22, MOST = 64 };
static _Alignas(16) unsigned char memory[MEMORY], other_memory[MEMORY];

static void simulations(void **state) {
  (void)state;
  od_machine *machine = od_test_machine("cases/fourbar-valve/machine.yaml", NULL);
  const char *const path[] = {"oil.kp", "pump.flow"};
  const od_export_options options = {.name = "it", .period = 1e-3, .parameter = path, .parameters = 2};
  od_export_program p;
  assert_int_equal(od_export_machine(machine, &options, &p, NULL), OD_OK);
  od_embedded_run *run = NULL;
  assert_int_equal(od_embedded_init(&p.d, memory, p.run.own_memory - 1, &run), OD_NO_MEMORY);
  assert_null(run);
  assert_true(p.run.memory <= p.run.own_memory);
  assert_int_equal(od_embedded_init(&p.d, memory, p.run.own_memory, &run), OD_OK);
  double y[8], p0[2], u = 0;
  assert_int_equal(od_embedded_outputs(run, y, NULL), OD_BAD_ARGUMENT);

  od_sim *sim = od_sim_new(od_embedded_plant(run));
  od_sim_set_integrator(sim, p.d.integrator);
  for (int round = 0; round < 2; round++) {  // the second round begins again
    assert_int_equal(od_sim_start(sim, 0, p.run.u), OD_OK);
    assert_int_equal(od_embedded_step(run, p.run.u, NULL), OD_OK);
    for (int i = 1; i < p.run.steps; i++) {
      assert_int_equal(od_sim_step(sim, 1e-3, p.run.u + i), OD_OK);
      assert_int_equal(od_embedded_step(run, p.run.u + i, NULL), OD_OK);
      assert_true(fabs(od_embedded_time(run) - 1e-3 * i) < 1e-12);
    }
    for (int i = 0; i < p.states; i++) {
      double a = od_sim_state(sim)[i], b = od_sim_state(od_embedded_sim(run))[i];
      assert_true(fabs(a - b) <= 1e-12 * fabs(a));  // the advance divides time with other rounding
    }
    od_embedded_restart(run);
  }

  // Parameters: the pressure of the pump rises faster with stiffer oil.
  od_embedded_step(run, &u, NULL);
  od_embedded_parameters(run, p0, NULL);
  assert_true(p0[0] == 1.6e9 && p0[1] > 0);
  const double stiff[2] = {3.2e9, p0[1]}, bad[2] = {NAN, 0};
  assert_int_equal(od_embedded_set_parameters(run, bad), OD_NOT_FINITE);
  assert_int_equal(od_embedded_set_parameters(run, stiff), OD_OK);
  od_embedded_parameters(run, p0, NULL);
  assert_true(p0[0] == 3.2e9);
  int used = 7;
  assert_true(od_embedded_nis(run, &used) == 0 && used == 0);
  assert_null(od_embedded_get_observer(run));
  od_sim_free(sim);
  od_export_program_free(&p);
  od_machine_free(machine);
}

// ---- observers

typedef struct exported {
  od_experiment *e;
  od_export_program p;
  od_embedded d;
  od_embedded_observer o;
} exported;

// A copy of the description, which tests change.
static void open_observer(exported *x) {
  const od_experiment_options how = {.variant = "iterated-ekf"};
  const od_export_options options = {.name = "it"};
  od_error err = {0};
  x->e = load_experiment(OD_SOURCE_DIR "/cases/fourbar-valve/points-6.experiment.yaml", &how);
  if (od_export_experiment(x->e, &options, &x->p, &err) != OD_OK) fail_msg("%s", err.text);
  x->d = x->p.d, x->o = *x->p.d.observer;
  x->d.observer = &x->o;
  assert_true(x->d.outputs <= MOST && x->p.states + x->p.parameters <= MOST);
}
static void close_observer(exported *x) {
  od_export_program_free(&x->p);
  od_experiment_free(x->e);
}

// The results after 20 samples. change: called before each sample, may change the values of the sensors.
typedef struct estimate {
  double y[MOST], sigma[MOST], p[MOST], p_sigma[MOST], nis;
  int used;
} estimate;
static void observe_with(const exported *x, const od_embedded *d, void (*change)(int k, double *y), estimate *out) {
  const od_export_run *r = &x->p.run;
  od_embedded_run *run = NULL;
  assert_int_equal(od_embedded_init(d, other_memory, MEMORY, &run), OD_OK);
  *out = (estimate){0};
  for (int k = 0; k < 20; k++) {
    double y[MOST];
    memcpy(y, r->y + (size_t)k * (size_t)x->p.sensors, (size_t)x->p.sensors * sizeof *y);
    if (change) change(k, y);
    assert_int_equal(od_embedded_step(run, r->u + (size_t)k * (size_t)x->p.inputs, y), OD_OK);
  }
  assert_int_equal(od_embedded_outputs(run, out->y, out->sigma), OD_OK);
  od_embedded_parameters(run, out->p, out->p_sigma);
  out->nis = od_embedded_nis(run, &out->used);
  assert_true(od_embedded_set_parameters(run, out->p) == OD_BAD_ARGUMENT);
}

static bool are_equal(const estimate *a, const estimate *b) {
  return memcmp(a, b, sizeof *a) == 0;
}

static double replaced;  // value of sensor 0 in samples 10 to 19
static void replace(int k, double *y) {
  if (k >= 10) y[0] = replaced;
}

// A value at or beyond an end of its range is not used, like a missing value. Equal ends are no range.
static void ranges_of_sensors(void **state) {
  (void)state;
  exported x;
  open_observer(&x);
  double low[MOST] = {0}, high[MOST] = {0};
  x.o.low = low, x.o.high = high;
  estimate missing, got;
  replaced = NAN;
  observe_with(&x, &x.d, replace, &missing);
  low[0] = -1e9, high[0] = 1e9;
  observe_with(&x, &x.d, replace, &got);
  assert_true(are_equal(&missing, &got));
  const double beyond[] = {1e9, 2e9, -1e9, -INFINITY};
  for (size_t i = 0; i < sizeof beyond / sizeof *beyond; i++) {
    replaced = beyond[i];
    observe_with(&x, &x.d, replace, &got);
    assert_true(are_equal(&missing, &got));
  }
  estimate all, inside;
  observe_with(&x, &x.d, NULL, &inside);
  low[0] = high[0] = 0;
  observe_with(&x, &x.d, NULL, &all);
  assert_true(are_equal(&all, &inside));
  assert_int_equal(all.used, missing.used + 1);
  close_observer(&x);
}

// The covariance of the start, as a list of the entries of its upper triangle. The rows of the process noise, as a covariance per period.
static void forms_of_covariances(void **state) {
  (void)state;
  exported x;
  open_observer(&x);
  int n = x.p.states + x.p.parameters;
  estimate first, got;
  observe_with(&x, &x.d, NULL, &first);
  double listed[MOST * MOST];
  int at[MOST * MOST], count = 0;
  assert_null(x.o.P_at);
  for (int i = 0; i < n; i++)
    for (int j = i; j < n; j++)
      if (x.o.P[i * n + j] != 0) listed[count] = x.o.P[i * n + j], at[count++] = i * n + j;
  assert_true(count > 0);
  x.o.P = listed, x.o.P_at = at, x.o.P_count = count;
  observe_with(&x, &x.d, NULL, &got);
  assert_true(are_equal(&first, &got));

  double Q[MOST * MOST] = {0};
  assert_non_null(x.o.noise);
  for (int k = 0; k < x.o.noise_rows; k++)
    for (int i = 0; i < n; i++)
      for (int j = 0; j < n; j++) Q[i * n + j] += x.o.noise[k * n + i] * x.o.noise[k * n + j];
  x.o.Q = Q, x.o.noise = NULL, x.o.noise_rows = 0;
  observe_with(&x, &x.d, NULL, &got);
  for (int i = 0; i < x.d.outputs; i++) {
    near(got.y[i], first.y[i], 1e-6 * first.sigma[i]);
    near(got.sigma[i], first.sigma[i], 1e-6 * first.sigma[i]);
  }
  close_observer(&x);
}

// Rows of constant noise need the square-root form.
static void wrong_options(void **state) {
  (void)state;
  exported x;
  open_observer(&x);
  od_embedded_run *run = NULL;
  x.o.form = OD_FORM_JOSEPH;
  assert_int_equal(od_embedded_init(&x.d, memory, MEMORY, &run), OD_BAD_ARGUMENT);
  assert_null(run);
  close_observer(&x);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(simulations), cmocka_unit_test(ranges_of_sensors),
                                     cmocka_unit_test(forms_of_covariances), cmocka_unit_test(wrong_options)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
