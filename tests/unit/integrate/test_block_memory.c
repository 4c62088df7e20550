// The block of a simulation: results depend neither on what was in the memory before, nor on earlier runs in it, nor on its place,
// nor on steps and settings that fail in between.
//
// Oracle: bit comparison with a simulation in fresh zeroed memory that makes the same calls. A failed call leaves state, rates and energies
// unchanged to the bit; later results may differ slightly, because iterations start elsewhere. All arrays for results are filled with
// NaN before a call, so each result must be written.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "support/test.h"
#include "oleodyn/sim.h"
#include "support/machines.h"
#include "support/random_machine.h"

enum { PARAMETERS = 6, STEPS = 6, MACHINES = 15, MOST_FIELDS = 16 };

typedef enum history {
  FRESH,    // zeroed memory
  DIRTY,    // memory full of large numbers
  USED,     // another run took place in the memory
  MOVED,    // the block is copied to another place before each call
  TROUBLED  // steps and settings fail before each call
} history;

typedef struct subject {
  const od_plant *plant;
  od_sim *sim;
  void *other;  // a second block
  history kind;
  double *field[MOST_FIELDS];  // results
  size_t count[MOST_FIELDS];
  int fields;
} subject;

static double *result(subject *s, size_t count) {
  double *a = malloc((count + 1) * sizeof *a);
  for (size_t i = 0; i <= count; i++) a[i] = NAN;
  assert_true(s->fields < MOST_FIELDS);
  s->field[s->fields] = a;
  s->count[s->fields++] = count;
  return a;
}

static void drop_results(subject *s) {
  for (int i = 0; i < s->fields; i++) free(s->field[i]);
  s->fields = 0;
}

static void write_point(subject *s, double *to) {
  const od_plant *plant = s->plant;
  *to++ = od_sim_time(s->sim);
  memcpy(to, od_sim_state(s->sim), (size_t)od_plant_nx(plant) * sizeof *to);
  to += od_plant_nx(plant);
  memcpy(to, od_sim_rates(s->sim), (size_t)od_plant_nk(plant) * sizeof *to);
  to += od_plant_nk(plant);
  if (plant->nq) memcpy(to, od_sim_energy(s->sim), (size_t)plant->nq * sizeof *to);
}
static size_t point_size(const od_plant *plant) {
  return 1 + (size_t)(od_plant_nx(plant) + od_plant_nk(plant) + plant->nq);
}

static void trouble(subject *s) {
  const od_plant *plant = s->plant;
  int nx = od_plant_nx(plant);
  size_t size = point_size(plant);
  double *x = malloc((size_t)nx * sizeof *x), *before = malloc(2 * size * sizeof *before), p[PARAMETERS],
         q[2][PARAMETERS];
  double t = od_sim_time(s->sim);
  write_point(s, before);
  od_sim_parameters(s->sim, q[0]);
  for (int i = 0; i < nx; i++) x[i] = NAN;
  for (int i = 0; i < PARAMETERS; i++) p[i] = NAN;
  assert_int_not_equal(od_sim_set(s->sim, t, x, od_sim_inputs(s->sim)), OD_OK);
  if (plant->np) assert_int_not_equal(od_sim_set_parameters(s->sim, p), OD_OK);
  if (plant->np) assert_int_not_equal(od_sim_set_with_parameters(s->sim, t, x, NULL, p), OD_OK);
  assert_int_not_equal(od_sim_step(s->sim, NAN, od_sim_inputs(s->sim)), OD_OK);
  write_point(s, before + size);
  od_sim_parameters(s->sim, q[1]);
  assert_memory_equal(before, before + size, size * sizeof *before);
  assert_memory_equal(q[0], q[1], (size_t)plant->np * sizeof *q[0]);
  free(x), free(before);
}

// Applies the history before a call.
static void prepare(subject *s) {
  if (s->kind == MOVED) {
    void *old = s->sim;
    size_t size = od_sim_bytes(s->sim);
    memcpy(s->other, old, size);
    memset(old, 0x5a, size);
    s->sim = s->other;
    s->other = old;
  }
  if (s->kind == TROUBLED) trouble(s);
}

// All that a simulation gives at its point.
static void read_all(subject *s) {
  const od_plant *plant = s->plant;
  size_t nx = (size_t)od_plant_nx(plant), nu = (size_t)plant->nu, ny = (size_t)plant->ny, np = (size_t)plant->np;
  write_point(s, result(s, point_size(plant)));
  prepare(s);
  assert_int_equal(od_sim_outputs(s->sim, result(s, ny)), OD_OK);
  prepare(s);
  double *f = result(s, nx), *fx = result(s, nx * nx), *fu = result(s, nx * nu), *fp = result(s, nx * np);
  assert_int_equal(od_sim_derivatives(s->sim, f, fx, fu, fp), OD_OK);
  prepare(s);
  double *hx = result(s, ny * nx), *hu = result(s, ny * nu), *hp = result(s, ny * np);
  assert_int_equal(od_sim_output_jacobians(s->sim, hx, hu, hp), OD_OK);
  prepare(s);
  if (od_plant_guards(plant)) assert_int_equal(od_sim_guards(s->sim, result(s, (size_t)od_plant_guards(plant))), OD_OK);
}

static od_status call(subject *s, int step, double h, const double *u) {
  const od_plant *plant = s->plant;
  size_t nx = (size_t)od_plant_nx(plant), nu = (size_t)plant->nu, np = (size_t)plant->np;
  od_status status;
  bool changed;
  prepare(s);
  if (step % 3 == 0) {
    status = od_sim_step(s->sim, h, u);
  } else if (step % 3 == 1) {
    double *F = result(s, nx * nx), *G0 = result(s, nx * nu), *G1 = result(s, nx * nu), *Gp = result(s, nx * np);
    status = od_sim_step_with_jacobians(s->sim, h, u, F, G0, G1, Gp);
  } else {
    double *F = result(s, nx * nx), *Gp = result(s, nx * np), *part = result(s, 1), *dx = malloc(nx * sizeof *dx);
    for (size_t i = 0; i < nx; i++) dx[i] = 1e-7 * od_sim_state(s->sim)[i];
    status = od_sim_step_and_shift(s->sim, h, u, dx, F, Gp, part);
    od_sim_end_shift(s->sim);
    free(dx);
  }
  if (status != OD_OK) return status;
  if (step % 3 != 2) {
    double *before = result(s, nx), *after = result(s, nx);
    od_sim_local_error(s->sim, before, after);
  }
  prepare(s);
  double *map = result(s, nx * nx), *by_p = result(s, nx * np);
  status = od_sim_sample(s->sim, map, by_p, &changed);
  if (status == OD_OK && !changed) s->fields -= 2, free(map), free(by_p);
  if (status != OD_OK) return status;
  map = result(s, nx * nx), by_p = result(s, nx * np);
  status = od_sim_repartition_with_parameters(s->sim, map, by_p, &changed);
  if (status == OD_OK && !changed) s->fields -= 2, free(map), free(by_p);
  return status;
}

static void start(subject *s, const od_integrator *integrator, const double *u) {
  size_t size = od_sim_size(s->plant);
  void *memory = aligned_alloc(16, size);
  s->other = aligned_alloc(16, size);
  if (s->kind == DIRTY)
    for (size_t i = 0; i < size / sizeof(double); i++) ((double *)memory)[i] = 1e300;
  else
    memset(memory, 0, size);
  s->sim = od_sim_init(memory, s->plant);
  assert_int_equal(od_sim_bytes(s->sim), size);
  if (s->kind == USED) {
    const double w[8] = {0.3, -0.2, 0.1};
    od_sim_set_integrator(s->sim, od_integrator_at(1));
    assert_int_equal(od_sim_start(s->sim, 5, w), OD_OK);
    double p[PARAMETERS];
    od_sim_parameters(s->sim, p);
    for (int i = 0; i < s->plant->np; i++) p[i] *= 1.001;
    od_sim_set_parameters(s->sim, p);
    for (int i = 0; i < 3; i++) (void)od_sim_step(s->sim, 1e-4, w);
  }
  od_sim_set_integrator(s->sim, integrator);
  assert_int_equal(od_sim_start(s->sim, 0, u), OD_OK);
}

static void compare(subject *a, subject *b, unsigned long long seed, int step) {
  assert_int_equal(a->fields, b->fields);
  for (int i = 0; i < a->fields; i++) {
    assert_int_equal(a->count[i], b->count[i]);
    double size = 0;
    for (size_t k = 0; k < a->count[i]; k++) size = fmax(size, fabs(a->field[i][k]));
    for (size_t k = 0; k < a->count[i]; k++) {
      double difference = fabs(a->field[i][k] - b->field[i][k]);
      if (b->kind == TROUBLED ? difference <= 1e-4 * (size + 1e-3) : difference == 0) continue;
      print_error("machine %llu, history %d, step %d, result %d, entry %zu: %.17g instead of %.17g\n", seed, b->kind,
                  step, i, k, b->field[i][k], a->field[i][k]);
      fail();
    }
    assert_true(isnan(a->field[i][a->count[i]]) && isnan(b->field[i][b->count[i]]));  // nothing is written behind
  }
}

static int failed, taken;

static void follow(const od_plant *plant, const od_integrator *integrator, history kind, unsigned long long seed,
                   double h) {
  subject s[2] = {{.plant = plant}, {.plant = plant, .kind = kind}};
  double u[8] = {0.4, -0.3, 0.2};
  for (int i = 0; i < 2; i++) start(&s[i], integrator, u);
  bool going = true;
  for (int step = 0; step < STEPS && going; step++) {
    for (int i = 0; i < 2; i++) {
      prepare(&s[i]);
      read_all(&s[i]);
    }
    compare(&s[0], &s[1], seed, step);
    for (int i = 0; i < 2; i++) drop_results(&s[i]);
    u[0] += 0.05, u[1] -= 0.02;
    od_status status = call(&s[0], step, h, u);
    assert_int_equal(call(&s[1], step, h, u), status);
    going = status == OD_OK;
    taken += going, failed += !going;
    if (going) compare(&s[0], &s[1], seed, step);
    for (int i = 0; i < 2; i++) drop_results(&s[i]);
  }
  for (int i = 0; i < 2; i++) free(s[i].sim), free(s[i].other);
}

static od_plant *plant_of(const od_model *m, unsigned long long seed) {
  od_dice dice = {seed + 5};
  int *outputs = malloc((size_t)m->outputs * sizeof *outputs), parameter[PARAMETERS];
  od_plant *plant = NULL;
  for (int i = 0; i < m->outputs; i++) outputs[i] = i;
  for (int i = 0; i < PARAMETERS;) {
    parameter[i] = od_dice_pick(&dice, m->numbers);
    if (!m->planar || strcmp(od_number_path(m, parameter[i]), "axis") != 0) i++;
  }
  // A few outputs are enough for large machines.
  int count = m->outputs < 200 ? m->outputs : 200;
  assert_int_equal(od_model_plant(m, outputs, count, parameter, PARAMETERS, &plant, NULL), OD_OK);
  if (seed % 2) assert_int_equal(od_model_plant_integrate_powers(plant), OD_OK);
  free(outputs);
  return plant;
}

static void on_random_machines(history kind) {
  int made = 0;
  failed = taken = 0;
  for (unsigned long long seed = 1; made < MACHINES; seed++) {
    od_model *m = od_random_machine(seed, seed % 2, seed % 3 == 0, seed % 4 != 1, seed % 3 == 1);
    if (!m) continue;
    od_plant *plant = plant_of(m, seed);
    follow(plant, od_integrator_at(made % 3), kind, seed, 1e-5);
    od_plant_free(plant);
    od_model_free(m);
    made++;
  }
  assert_true(taken > 10 * failed && taken > 3 * MACHINES);
}

static void old_contents(void **state) {
  (void)state;
  on_random_machines(DIRTY);
}
static void earlier_run(void **state) {
  (void)state;
  on_random_machines(USED);
}
static void other_place(void **state) {
  (void)state;
  on_random_machines(MOVED);
}
static void failed_calls(void **state) {
  (void)state;
  on_random_machines(TROUBLED);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(old_contents),
      cmocka_unit_test(earlier_run),
      cmocka_unit_test(other_place),
      cmocka_unit_test(failed_calls),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
