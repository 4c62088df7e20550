// Saved observers. Saved in one process and continued in another, on 100 random machines with every filter (the filters of
// src/tool, too), both forms of the covariance and every integrator, all later results are the same to the bit. Oracle: the first process,
// which goes on without the saved state. States of another filter, other options or another machine are refused with their reason.
#include "support/test.h"

#include "base/saved.h"
#include "filters/filter_types.h"
#include "oleodyn/observer.h"
#include "support/random_machine.h"
#include "support/two_processes.h"

enum { MACHINES = 100, SENSORS = 3, PARAMETERS = 2, MOST = 40 };
static const double h = 1e-5;

static uint64_t hash_status(uint64_t hash, od_status status) {
  int value = (int)status;
  return od_hash_bytes(hash, &value, sizeof value);
}

typedef struct setting {
  const od_plant *plant;
  od_observer_options options;
  double still[SENSORS], sigma[SENSORS], R[SENSORS * SENSORS], low[PARAMETERS], high[PARAMETERS];
  int frozen[SENSORS];
  double choice[OD_MOST_FILTER_OPTIONS];
} setting;

static void inputs(int step, double *u) {
  u[0] = 0.4 + 0.01 * sin(step), u[1] = -0.3, u[2] = u[3] = 0;
}

static void start(const setting *c, od_observer *o) {
  int nx = od_plant_nx(c->plant), np = c->plant->np, n = nx + np;
  double *P = calloc((size_t)(n * n) + 1, sizeof *P), u[4], p[PARAMETERS];
  od_sim *sim = od_sim_new(c->plant);
  inputs(0, u);
  if (od_sim_start(sim, 0, u) != OD_OK) exit(4);
  od_sim_parameters(sim, p);
  for (int i = 0; i < n; i++) {
    double size = i < nx ? 1e-4 * (1e-2 + fabs(od_sim_state(sim)[i])) : 1e-3 * fabs(p[i - nx]) + 1e-9;
    P[i * n + i] = size * size;
  }
  if (od_observer_start(o, 0, NULL, NULL, P, u) != OD_OK) exit(4);
  od_sim_free(sim);
  free(P);
}

// Everything that an observer reports.
static uint64_t hash_observer(uint64_t hash, const setting *c, od_observer *o) {
  size_t nx = (size_t)od_plant_nx(c->plant), np = (size_t)c->plant->np, n = nx + np;
  double y[SENSORS] = {0}, sigma[SENSORS] = {0}, t = od_observer_time(o);
  int used = 0;
  double nis = od_observer_nis(o, &used);
  hash = od_hash_bytes(hash, &t, sizeof t);
  hash = od_hash_bytes(hash, &nis, sizeof nis);
  hash = od_hash_bytes(hash, &used, sizeof used);
  hash = od_hash_bytes(hash, od_observer_state(o), nx * sizeof(double));
  hash = od_hash_bytes(hash, od_observer_parameters(o), np * sizeof(double));
  hash = od_hash_bytes(hash, od_observer_covariance(o), n * n * sizeof(double));
  hash = od_hash_bytes(hash, od_observer_bias(o), n * sizeof(double));
  for (int i = 0; i < SENSORS; i++) {
    const od_innovation *e = od_observer_innovations(o) + i;
    const double numbers[] = {e->value,
                              e->sigma,
                              (double)e->use,
                              (double)od_observer_gated(o, i),
                              (double)od_observer_frozen(o, i),
                              (double)od_observer_reopened(o, i),
                              (double)od_observer_clipped(o, i),
                              (double)od_observer_settled(o),
                              (double)od_observer_fell_back(o)};
    hash = od_hash_bytes(hash, numbers, sizeof numbers);
  }
  hash = hash_status(hash, od_observer_outputs(o, y, sigma));
  hash = od_hash_bytes(hash, y, sizeof y);
  return od_hash_bytes(hash, sigma, sizeof sigma);
}

static uint64_t go_on(uint64_t hash, const setting *c, od_observer *o, int first, int count) {
  int nx = od_plant_nx(c->plant), n = nx + c->plant->np;
  for (int step = first; step < first + count; step++) {
    double u[4], q[MOST] = {0}, y[SENSORS];
    inputs(step, u);
    for (int i = 0; i < nx; i++) q[i] = pow(1e-5 * (1e-2 + fabs(od_observer_state(o)[i])), 2);
    for (int i = 0; i < SENSORS; i++) {
      y[i] = c->still[i] + c->sigma[i] * sin(7.3 * step + i);
      if (step % 11 == 3 + i) y[i] = NAN;
      if (step % 13 == 5 + i) y[i] += 30 * c->sigma[i];
      if (step % 20 > 15 && i == 1) y[i] = c->still[i];
    }
    assert_true(n <= MOST);
    od_status status = od_observer_predict(o, h, u, NULL, step % 3 ? q : NULL);
    hash = hash_status(hash, status);
    if (status == OD_OK && step % 4 != 3) hash = hash_status(hash, od_observer_correct(o, y));
    hash = hash_observer(hash, c, o);
  }
  return hash;
}

static void follow(two_processes *p, const setting *c, int before, int after) {
  od_observer *o = od_observer_new(c->plant, &c->options);
  if (p->is_child) {
    size_t size;
    void *saved = get_state(p, &size);
    od_error err = {0};
    if (od_observer_restore(o, saved, size, &err) != OD_OK) {
      fprintf(stderr, "%s: %s\n", c->options.filter->name, err.text);
      exit(4);
    }
    free(saved);
  } else {
    start(c, o);
    go_on(OD_HASH_START, c, o, 0, before);
    size_t size = od_observer_save_size(o);
    void *saved = malloc(size);
    assert_int_equal(od_observer_save(o, saved), OD_OK);
    put_state(p, saved, size);
    free(saved);
  }
  put_hash(p, go_on(OD_HASH_START, c, o, before, after));
  od_observer_free(o);
}

static void prepare(setting *c, const od_plant *plant) {
  double u[4];
  *c = (setting){.plant = plant, .frozen = {3, 3, 0}};
  inputs(0, u);
  od_sim *sim = od_sim_new(plant);
  if (od_sim_start(sim, 0, u) != OD_OK || od_sim_outputs(sim, c->still) != OD_OK) exit(4);
  od_sim_parameters(sim, c->high);
  od_sim_free(sim);
  for (int i = 0; i < SENSORS; i++) c->sigma[i] = 1e-3 * (1e-2 + fabs(c->still[i]));
  for (int i = 0; i < SENSORS; i++)
    for (int j = 0; j < SENSORS; j++) c->R[i * SENSORS + j] = c->sigma[i] * c->sigma[j] * (i == j ? 1 : 0.2);
  for (int i = 0; i < PARAMETERS; i++) {
    c->low[i] = c->high[i] - 1e-3 * fabs(c->high[i]) - 1e-6;
    c->high[i] += 1e-3 * fabs(c->high[i]) + 1e-6;
  }
  c->options = (od_observer_options){
      .sensor_sigma = c->sigma, .gate = 4, .patience = 3, .frozen = c->frozen, .low = c->low, .high = c->high};
}

static void choose_filter(setting *c, const od_filter *filter, int variant) {
  c->options.filter = filter;
  c->options.form = (od_covariance_form)(variant % 2);
  c->options.integrator =
      od_integrator_at(strstr(filter->name, "continuous") || strstr(filter->name, "complex") ? 0 : variant % 3);
  c->options.sensor_covariance = variant % 5 == 0 ? c->R : NULL;
  for (int i = 0; i < filter->options; i++) c->choice[i] = filter->option[i].fallback;
  if (filter->options && strcmp(filter->option[0].key, "window") == 0) {
    c->choice[0] = 16;
    c->choice[1] = variant % 3 != 0;
    c->choice[2] = variant % 2;
  }
  if (strcmp(filter->name, "continuous-ekf") == 0) {
    c->choice[2] = c->options.form == OD_FORM_JOSEPH;  // covariance: euler
    c->choice[3] = variant % 4 / 2;                    // correction: trapezoid
  }
  c->options.choice = c->choice;
}

static od_model *next_machine(uint64_t *seed, od_plant **plant) {
  for (;; ++*seed) {
    od_model *m = od_random_machine(*seed, *seed % 2, *seed % 3 == 0, *seed % 4 != 1, *seed % 4 == 2);
    if (m && 2 * m->freedom + m->states + PARAMETERS <= 14 && m->inputs <= 4) {
      const int out[SENSORS] = {0, m->outputs / 2, m->outputs / 3}, parameter[PARAMETERS] = {0, m->numbers - 1};
      if (od_model_plant(m, out, SENSORS, parameter, PARAMETERS, plant, NULL) == OD_OK) {
        ++*seed;
        return m;
      }
    }
    od_model_free(m);
  }
}

static int filter_count(void) {
  int count = 0;
  while (od_filter_type_at(count)) count++;
  return count;
}

static void all_machines(two_processes *p) {
  uint64_t seed = 1;
  for (int made = 0; made < MACHINES; made++) {
    od_plant *plant;
    od_model *m = next_machine(&seed, &plant);
    for (int f = 0; f < filter_count(); f++) {
      setting c;
      prepare(&c, plant);
      choose_filter(&c, od_filter_type_at(f), made + f);
      // The window of the relinearizing filter has 16 samples: the state is saved in all phases of its work.
      bool has_window = c.options.filter->settled != NULL;
      follow(p, &c, has_window ? 10 + made % 40 : 3, has_window ? 20 : 3);
    }
    od_plant_free(plant);
    od_model_free(m);
  }
}

static void another_process(void **state) {
  (void)state;
  assert_int_equal(compare_processes(all_machines), MACHINES * filter_count());
}

static void refused(od_observer *o, const void *saved, size_t size, const char *reason) {
  od_error err = {0};
  size_t bytes = od_observer_block_size(o);
  void *before = malloc(bytes);
  memcpy(before, o, bytes);
  assert_int_equal(od_observer_restore(o, saved, size, &err), OD_BAD_INPUT);
  assert_string_equal(err.text, reason);
  assert_memory_equal(before, o, bytes);
  free(before);
}

static void reasons(void **state) {
  (void)state;
  uint64_t seed = 1;
  od_plant *plant, *other_plant;
  od_model *m = next_machine(&seed, &plant), *other = next_machine(&seed, &other_plant);
  setting c, d;
  prepare(&c, plant);
  choose_filter(&c, od_filter_find("ekf"), 1);
  od_observer *o = od_observer_new(plant, &c.options);
  start(&c, o);
  go_on(OD_HASH_START, &c, o, 0, 4);
  size_t size = od_observer_save_size(o);
  void *saved = malloc(size);
  assert_int_equal(od_observer_save(o, saved), OD_OK);
  const struct {
    const char *filter, *reason;
    int variant;
    double gate;
    bool other_machine;
  } trials[] = {
      {"ukf", "the saved state belongs to filter 'ekf'; expected 'ukf'", 1, 4, false},
      {"ekf", "the saved state belongs to an observer with other options; use the same options", 1, 5, false},
      {"ekf", "the saved state belongs to integrator 'tr-bdf2'; expected 'rk4'", 2, 4, false},
      {"ekf", "the saved state belongs to an observer with other options; use the same options", 4, 4, false},
      {"ekf",
       "the saved state belongs to another machine, or a number of the machine differs; use the machine and the numbers of the saved run",
       1, 4, true},
  };
  for (size_t i = 0; i < sizeof trials / sizeof *trials; i++) {
    prepare(&d, trials[i].other_machine ? other_plant : plant);
    choose_filter(&d, od_filter_find(trials[i].filter), trials[i].variant);
    d.options.gate = trials[i].gate;
    od_observer *p = od_observer_new(d.plant, &d.options);
    start(&d, p);
    refused(p, saved, size, trials[i].reason);
    od_observer_free(p);
  }
  ((char *)saved)[size / 2] ^= 4;
  refused(o, saved, size, "the saved state is damaged: its checksum is wrong");
  ((char *)saved)[size / 2] ^= 4;
  assert_int_equal(od_observer_restore(o, saved, size, NULL), OD_OK);
  free(saved);
  od_observer_free(o);
  od_plant_free(plant);
  od_plant_free(other_plant);
  od_model_free(m);
  od_model_free(other);
}

int main(int argc, char **argv) {
  if (argc == 3 && strcmp(argv[1], "--continue") == 0) return continue_here(all_machines, argv[2]);
  const struct CMUnitTest tests[] = {cmocka_unit_test(another_process), cmocka_unit_test(reasons)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
