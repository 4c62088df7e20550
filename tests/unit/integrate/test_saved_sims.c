// Saved simulations and advances. Saved in one process and continued in another, on 100 random machines with every
// integrator, plain and with derivatives, all later results are the same to the bit. Oracle: the first process, which goes on without the
// saved state. A damaged state, or one of another machine, other outputs, another integrator or other options, is refused with its reason,
// and the simulation stays as it is.
#include "support/test.h"
#include "integrate/sim_block.h"

#include "base/saved.h"
#include "oleodyn/advance.h"
#include "oleodyn/version.h"
#include "support/random_machine.h"
#include "support/two_processes.h"

enum { MACHINES = 100, OUTPUTS = 4, PARAMETERS = 2, BEFORE = 7, AFTER = 6 };
static const double h = 2e-5;

static void inputs_at(const void *user, double t, double *u) {
  for (int i = 0; i < *(const int *)user; i++) u[i] = 0.3 * sin(900 * t + i) + (t > 5.5 * h ? 0.1 : 0);
}
static double next_break(const void *user, double t) {
  (void)user;
  return t < 5.5 * h ? 5.5 * h : (double)INFINITY;
}

static uint64_t hash_status(uint64_t hash, od_status status) {
  int value = (int)status;
  return od_hash_bytes(hash, &value, sizeof value);
}

// Everything that a simulation reports.
static uint64_t hash_sim(uint64_t hash, const od_plant *plant, od_sim *sim, bool plain) {
  size_t nx = (size_t)od_plant_nx(plant);
  double t = od_sim_time(sim), y[OUTPUTS] = {0};
  hash = od_hash_bytes(hash, &t, sizeof t);
  hash = od_hash_bytes(hash, od_sim_state(sim), nx * sizeof(double));
  hash = od_hash_bytes(hash, od_sim_rates(sim), (size_t)od_plant_nk(plant) * sizeof(double));
  if (plant->nq) hash = od_hash_bytes(hash, od_sim_energy(sim), (size_t)plant->nq * sizeof(double));
  hash = hash_status(hash, od_sim_outputs(sim, y));
  hash = od_hash_bytes(hash, y, sizeof y);
  if (plain) return hash;
  double *H = calloc(OUTPUTS * (nx + PARAMETERS) + 1, sizeof *H);
  hash = hash_status(hash, od_sim_output_jacobians(sim, H, NULL, plant->np ? H + OUTPUTS * nx : NULL));
  hash = od_hash_bytes(hash, H, OUTPUTS * (nx + PARAMETERS) * sizeof *H);
  free(H);
  return hash;
}

// Takes `count` steps, every second one with derivatives.
static uint64_t take_steps(uint64_t hash, const od_plant *plant, od_sim *sim, bool plain, int first, int count) {
  size_t nx = (size_t)od_plant_nx(plant);
  double *F = calloc(nx * nx + 1, sizeof *F), *u = calloc((size_t)plant->nu + 1, sizeof *u);
  for (int k = first; k < first + count; k++) {
    bool changed;
    inputs_at(&plant->nu, (k + 1) * h, u);
    hash = hash_status(hash, od_sim_sample(sim, NULL, NULL, &changed));
    hash = hash_status(hash, od_sim_repartition(sim, NULL, &changed));
    od_status status =
        plain || k % 2 ? od_sim_step(sim, h, u) : od_sim_step_with_jacobians(sim, h, u, F, NULL, NULL, NULL);
    hash = od_hash_bytes(hash_status(hash, status), F, nx * nx * sizeof *F);
    hash = hash_sim(hash, plant, sim, plain);
  }
  free(F);
  free(u);
  return hash;
}

static void follow_sim(two_processes *p, const od_plant *plant, const od_integrator *integrator, bool plain) {
  od_sim *sim = plain ? od_sim_plain_new(plant) : od_sim_new(plant);
  double *u = calloc((size_t)plant->nu + 1, sizeof *u);
  inputs_at(&plant->nu, 0, u);
  od_sim_set_integrator(sim, integrator);
  if (p->is_child) {
    size_t size;
    void *saved = get_state(p, &size);
    if (od_sim_restore(sim, saved, size, NULL) != OD_OK) exit(4);
    free(saved);
  } else {
    assert_int_equal(od_sim_start(sim, 0, u), OD_OK);
    take_steps(OD_HASH_START, plant, sim, plain, 0, BEFORE);
    size_t size = od_sim_save_size(sim);
    void *saved = malloc(size);
    assert_int_equal(od_sim_save(sim, saved), OD_OK);
    put_state(p, saved, size);
    free(saved);
  }
  put_hash(p, take_steps(OD_HASH_START, plant, sim, plain, BEFORE, AFTER));
  od_sim_free(sim);
  free(u);
}

static uint64_t advance_on(const od_plant *plant, od_advance *advance, int first, int count) {
  uint64_t hash = OD_HASH_START;
  od_status status = OD_OK;
  for (int k = first; k < first + count && status == OD_OK; k++) {
    od_sim *at = NULL;
    status = od_sim_advance(advance, (k + 1) * h, &at);
    hash = hash_status(hash, status);
    if (status == OD_OK) hash = hash_sim(hash, plant, at, true);
  }
  return hash;
}

static void follow_advance(two_processes *p, const od_plant *plant, const char *integrator, double step) {
  od_sim *sim = od_sim_plain_new(plant);
  double *u = calloc((size_t)plant->nu + 1, sizeof *u);
  inputs_at(&plant->nu, 0, u);
  od_sim_set_integrator(sim, od_integrator_find(integrator));
  if (od_sim_start(sim, 0, u) != OD_OK) exit(4);
  const od_advance_options options = {
      .step = step, .end = 40 * h, .longest = 1e-4, .inputs = {&plant->nu, inputs_at, next_break}};
  od_advance *advance = od_advance_new(sim, &options);
  if (p->is_child) {
    size_t size;
    void *saved = get_state(p, &size);
    if (od_advance_restore(advance, saved, size, NULL) != OD_OK) exit(4);
    free(saved);
  } else {
    advance_on(plant, advance, 0, BEFORE);
    size_t size = od_advance_save_size(advance);
    void *saved = malloc(size);
    assert_int_equal(od_advance_save(advance, saved), OD_OK);
    put_state(p, saved, size);
    free(saved);
  }
  put_hash(p, advance_on(plant, advance, BEFORE, AFTER));
  od_advance_free(advance);
  od_sim_free(sim);
  free(u);
}

static od_plant *plant_of(const od_model *m) {
  od_plant *plant = NULL;
  const int outputs[OUTPUTS] = {0, m->outputs / 2, m->outputs / 3, m->outputs - 1},
            parameters[PARAMETERS] = {0, m->numbers - 1};
  if (od_model_plant(m, outputs, OUTPUTS, parameters, PARAMETERS, &plant, NULL) != OD_OK)
    od_model_plant(m, outputs, OUTPUTS, NULL, 0, &plant, NULL);
  if (plant) od_model_plant_integrate_powers(plant);
  return plant;
}

static void all_machines(two_processes *p) {
  for (uint64_t seed = 1, made = 0; made < MACHINES; seed++) {
    od_model *m = od_random_machine_with(seed, seed % 2, seed % 3 == 0, seed % 4 != 0, seed % 5 < 2,
                                         seed % 7 == 0 ? OD_SPARSE_ALWAYS : OD_SPARSE_BY_SIZE);
    if (!m) continue;
    made++;
    od_plant *plant = plant_of(m);
    for (int i = 0; od_integrator_at(i); i++) follow_sim(p, plant, od_integrator_at(i), false);
    follow_sim(p, plant, od_integrator_at(seed % 2 ? 0 : 1), true);
    follow_advance(p, plant, "trapezoid", h);
    follow_advance(p, plant, "tr-bdf2", 0);
    od_plant_free(plant);
    od_model_free(m);
  }
}

static void another_process(void **state) {
  (void)state;
  assert_int_equal(compare_processes(all_machines), 6 * MACHINES);
}

// --- Refused states -------------------------------------------------------------------------------------------------

typedef struct small {
  od_model *model;
  od_plant *plant;
  od_sim *sim;
  size_t size;
  void *saved;
} small;

static small make_small(uint64_t seed) {
  small s = {0};
  double u[8] = {0.3, -0.2};
  while (!(s.model = od_random_machine(seed, true, true, true, false))) seed++;
  s.plant = plant_of(s.model);
  s.sim = od_sim_plain_new(s.plant);
  assert_int_equal(od_sim_start(s.sim, 0, u), OD_OK);
  assert_int_equal(od_sim_step(s.sim, h, u), OD_OK);
  s.size = od_sim_save_size(s.sim);
  s.saved = malloc(s.size);
  assert_int_equal(od_sim_save(s.sim, s.saved), OD_OK);
  return s;
}
static void free_small(small *s) {
  free(s->saved);
  od_sim_free(s->sim);
  od_plant_free(s->plant);
  od_model_free(s->model);
}

// The state is refused with this reason, and the simulation is the same as before.
static void refused(od_sim *sim, const void *saved, size_t size, const char *reason) {
  od_error err = {0};
  size_t bytes = od_sim_bytes(sim);
  void *before = malloc(bytes);
  memcpy(before, sim, bytes);
  assert_int_equal(od_sim_restore(sim, saved, size, &err), OD_BAD_INPUT);
  if (reason) assert_string_equal(err.text, reason);
  assert_true(err.text[0] != '\0');
  assert_memory_equal(before, sim, bytes);
  free(before);
}

// A user's function: x' = -p x.
static int fall(void *user, double t, const double *x, const double *u, const double *p, double *dx) {
  (void)user, (void)t, (void)u;
  dx[0] = -p[0] * x[0];
  return 0;
}
static int fall_jacobians(void *user, double t, const double *x, const double *u, const double *p, double *fx,
                          double *fu, double *fp) {
  (void)user, (void)t, (void)u, (void)fu;
  if (fx) fx[0] = -p[0];
  if (fp) fp[0] = -x[0];
  return 0;
}

// Changes bytes of a state one after the other, `every` bytes apart; if 1, each bit of each byte.
static void change_bytes(od_sim *sim, unsigned char *bytes, size_t size, size_t every) {
  int bits = every == 1 ? 8 : 1;
  for (size_t i = 0; i < size; i += every)
    for (int bit = 0; bit < bits; bit++) {
      unsigned char by = (unsigned char)(bits > 1 ? 1u << bit : 1 + i % 255);
      od_error err = {0};
      bytes[i] ^= by;
      assert_int_equal(od_sim_restore(sim, bytes, size, &err), OD_BAD_INPUT);
      assert_true(err.text[0] != '\0');
      bytes[i] ^= by;
    }
  for (size_t cut = 0; cut < size; cut += 1 + cut / 50) refused(sim, bytes, cut, NULL);
  assert_int_equal(od_sim_restore(sim, bytes, size, NULL), OD_OK);
}

static void every_byte(void **state) {
  (void)state;
  const double x0 = 1, p = 2;
  const od_function f = {.nx = 1, .np = 1, .x0 = &x0, .p = &p, .f = fall, .f_jacobians = fall_jacobians};
  od_plant *plant;
  assert_int_equal(od_plant_from_function(&f, &plant, NULL), OD_OK);
  od_sim *sim = od_sim_new(plant);
  assert_int_equal(od_sim_start(sim, 0, NULL), OD_OK);
  size_t size = od_sim_save_size(sim);
  void *saved = malloc(size);
  assert_int_equal(od_sim_save(sim, saved), OD_OK);
  change_bytes(sim, saved, size, 1);
  free(saved);
  od_sim_free(sim);
  od_plant_free(plant);
  small s = make_small(3);
  change_bytes(s.sim, s.saved, s.size, 1 + s.size / 500);
  free_small(&s);
}

static void reasons(void **state) {
  (void)state;
  small a = make_small(3), b = make_small(50);
  refused(
      b.sim, a.saved, a.size,
      "the saved state belongs to another machine, or a number of the machine differs; use the machine and the numbers of the saved run");
  refused(a.sim, a.saved, 20, "the saved state is truncated within its header: it has 20 bytes; save the state again");
  refused(a.sim, a.saved, 4,
          "this is not a saved state; expected a checkpoint, or the bytes that a save function wrote");
  // A number of the same machine differs.
  a.model->theta[1] += 1e-3;
  refused(
      a.sim, a.saved, a.size,
      "the saved state belongs to another machine, or a number of the machine differs; use the machine and the numbers of the saved run");
  a.model->theta[1] -= 1e-3;
  // Other outputs.
  od_plant *other = NULL;
  const int output = 0;
  assert_int_equal(od_model_plant(a.model, &output, 1, NULL, 0, &other, NULL), OD_OK);
  od_sim *sim = od_sim_plain_new(other);
  refused(
      sim, a.saved, a.size,
      "the saved state belongs to other outputs or other free parameters of the machine; use the selection of the saved run");
  od_sim_free(sim);
  od_plant_free(other);
  od_sim_set_integrator(a.sim, od_integrator_find("rk4"));
  refused(a.sim, a.saved, a.size, "the saved state belongs to integrator 'trapezoid'; expected 'rk4'");
  od_sim_set_integrator(a.sim, od_integrator_find("trapezoid"));
  sim = od_sim_new(a.plant);
  refused(sim, a.saved, a.size, "the saved state is the state of a plain simulation; expected a simulation");
  od_sim_free(sim);
  ((char *)a.saved)[a.size - 9] ^= 1;
  refused(a.sim, a.saved, a.size, "the saved state is damaged: its checksum is wrong");
  ((char *)a.saved)[a.size - 9] ^= 1;
  // The header: format, byte order, version.
  uint32_t *format = (uint32_t *)((char *)a.saved + 8);
  format[0] = 1;
  refused(a.sim, a.saved, a.size, "the saved state has format 1; expected format 2");
  format[0] = 2;
  format[1] = 0x04030201;
  refused(
      a.sim, a.saved, a.size,
      "the saved state comes from a computer with another byte order or other sizes of numbers; restore it on a computer of that kind");
  format[1] = 0x01020304;
  char *version = strstr((char *)a.saved + 64, OD_VERSION);  // after the fingerprints in the header
  assert_non_null(version);
  memset(version, 0, strlen(OD_VERSION));
  memcpy(version, "0.0.9", 5);
  assert_true(od_saved_repair(a.saved, a.size));
  refused(a.sim, a.saved, a.size,
          "the saved state was written by oleodyn 0.0.9; this is oleodyn " OD_VERSION
          "; use the version that wrote the state");
  assert_int_equal(od_sim_save(a.sim, a.saved), OD_OK);
  assert_int_equal(od_sim_restore(a.sim, (char *)a.saved + 8, a.size - 8, NULL), OD_BAD_ARGUMENT);
  free_small(&a);
  free_small(&b);
}

// Pivots out of range in a saved state would be used as indices. A restore replaces each of them, at every place: the first, the last and those
// between; it keeps those in range. Behind the pivots of both matrices there is a count of rows.
static void pivots_stay_in_range(void **state) {
  (void)state;
  small s = make_small(3);
  od_sim *sim = od_sim_new(s.plant);
  double u[8] = {0.3, -0.2};
  assert_int_equal(od_sim_start(sim, 0, u), OD_OK);
  size_t size = od_sim_save_size(sim);
  void *saved = malloc(size);
  int nk = od_plant_nk(s.plant), *pivot = od_sim_pivot(sim);
  const int wrong[] = {-1, nk, INT_MIN, INT_MAX};
  assert_true(nk > 2 && sim->dense_room);
  for (int place = 0; place < 2 * nk; place++)
    for (int k = 0; k < 4; k++) {
      for (int i = 0; i < 2 * nk; i++) pivot[i] = i % 2 ? 0 : nk - 1;
      pivot[2 * nk] = k % 2 ? 0 : nk;
      pivot[place] = wrong[k];
      assert_int_equal(od_sim_save(sim, saved), OD_OK);
      assert_int_equal(od_sim_restore(sim, saved, size, NULL), OD_OK);
      for (int i = 0; i < 2 * nk; i++) assert_int_equal(pivot[i], i == place ? i % nk : i % 2 ? 0 : nk - 1);
      assert_int_equal(pivot[2 * nk], k % 2 ? 0 : nk);
    }
  for (int k = 0; k < 4; k++) {
    pivot[2 * nk] = wrong[k] == nk ? nk + 1 : wrong[k];
    assert_int_equal(od_sim_save(sim, saved), OD_OK);
    assert_int_equal(od_sim_restore(sim, saved, size, NULL), OD_OK);
    assert_int_equal(pivot[2 * nk], nk);
  }
  free(saved);
  od_sim_free(sim);
  free_small(&s);
}

// The choice of outputs and free parameters: equal choices have equal numbers, other choices have others.
static void selections(void **state) {
  (void)state;
  static const struct {
    int outputs, output[2], parameters, parameter[2];
  } choices[] = {{2, {0, 1}, 1, {0}}, {2, {1, 0}, 1, {0}}, {1, {0}, 1, {0}},       {2, {0, 2}, 1, {0}},
                 {2, {0, 1}, 1, {1}}, {2, {0, 1}, 0, {0}}, {2, {0, 1}, 2, {0, 1}}, {2, {0, 1}, 1, {0}}};
  enum { CHOICES = sizeof choices / sizeof *choices };
  small s = make_small(3);
  uint64_t machine[CHOICES], selection[CHOICES];
  for (int i = 0; i < CHOICES; i++) {
    od_plant *plant = NULL;
    int first = s.model->instance[0].number, free_numbers[] = {first + choices[i].parameter[0], first + 1};
    assert_int_equal(od_model_plant(s.model, choices[i].output, choices[i].outputs, free_numbers, choices[i].parameters,
                                    &plant, NULL),
                     OD_OK);
    assert_true(od_plant_fingerprint(plant, &machine[i], &selection[i]));
    od_plant_free(plant);
    assert_true(machine[i] == machine[0]);
    for (int k = 0; k < i; k++) assert_int_equal(selection[i] == selection[k], i == CHOICES - 1 && k == 0);
  }
  free_small(&s);
}

static void other_advance(void **state) {
  (void)state;
  small s = make_small(3);
  od_error err = {0};
  od_advance *fine = od_advance_new(s.sim, &(od_advance_options){.step = h}),
             *coarse = od_advance_new(s.sim, &(od_advance_options){.step = 2 * h});
  size_t size = od_advance_save_size(fine);
  void *saved = malloc(size);
  assert_int_equal(od_advance_save(fine, saved), OD_OK);
  assert_int_equal(od_advance_restore(coarse, saved, size, &err), OD_BAD_INPUT);
  assert_string_equal(err.text, "the saved state belongs to an advance with other options; use the same options");
  assert_int_equal(od_sim_restore(s.sim, saved, size, &err), OD_BAD_INPUT);
  assert_string_equal(err.text, "the saved state is the state of an advance; expected a plain simulation");
  assert_int_equal(od_advance_restore(fine, saved, size, &err), OD_OK);
  free(saved);
  od_advance_free(fine);
  od_advance_free(coarse);
  free_small(&s);
}

// A user's function is identified by its sizes and by a number; a plant without a fingerprint cannot be saved.
static void users_function(void **state) {
  (void)state;
  const double x0 = 1, p = 2;
  od_plant *plant[2];
  od_sim *sim[2];
  for (int i = 0; i < 2; i++) {
    const od_function f = {
        .nx = 1, .np = 1, .x0 = &x0, .p = &p, .f = fall, .f_jacobians = fall_jacobians, .fingerprint = (uint64_t)i};
    assert_int_equal(od_plant_from_function(&f, &plant[i], NULL), OD_OK);
    sim[i] = od_sim_new(plant[i]);
    assert_int_equal(od_sim_start(sim[i], 0, NULL), OD_OK);
    assert_int_equal(od_sim_step(sim[i], 0.1, NULL), OD_OK);
  }
  size_t size = od_sim_save_size(sim[0]);
  void *saved = malloc(size);
  assert_int_equal(od_sim_save(sim[0], saved), OD_OK);
  refused(
      sim[1], saved, size,
      "the saved state belongs to another machine, or a number of the machine differs; use the machine and the numbers of the saved run");
  assert_int_equal(od_sim_step(sim[0], 0.1, NULL), OD_OK);
  double later = od_sim_state(sim[0])[0];
  assert_int_equal(od_sim_restore(sim[0], saved, size, NULL), OD_OK);
  assert_int_equal(od_sim_step(sim[0], 0.1, NULL), OD_OK);
  assert_true(od_sim_state(sim[0])[0] == later);
  od_plant_ops ops = *plant[1]->ops;
  ops.fingerprint = NULL;
  plant[1]->ops = &ops;
  assert_int_equal(od_sim_save(sim[1], saved), OD_NOT_AVAILABLE);
  assert_int_equal(od_sim_restore(sim[1], saved, size, NULL), OD_NOT_AVAILABLE);
  free(saved);
  for (int i = 0; i < 2; i++) od_sim_free(sim[i]), od_plant_free(plant[i]);
}

int main(int argc, char **argv) {
  if (argc == 3 && strcmp(argv[1], "--continue") == 0) return continue_here(all_machines, argv[2]);
  const struct CMUnitTest tests[] = {cmocka_unit_test(another_process),      cmocka_unit_test(every_byte),
                                     cmocka_unit_test(pivots_stay_in_range), cmocka_unit_test(reasons),
                                     cmocka_unit_test(selections),           cmocka_unit_test(other_advance),
                                     cmocka_unit_test(users_function)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
