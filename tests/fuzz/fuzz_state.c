// Saved states with a repaired checksum: changed bytes may give wrong results or failures, but no crash and no hang. The first
// two bytes of the input choose a machine (random or small) and a subject: a simulation, an advance, or an observer with any filter.
// Each further group of twelve bytes changes the state: a place (3 bytes), a kind of change and eight bytes. Few changes concern the
// header, because the state is refused for its origin then. Afterwards the subject takes some steps. Without repair every changed state
// is refused.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/saved.h"
#include "filters/filter_types.h"
#include "fuzz/fuzz.h"
#include "machine/machine.h"
#include "oleodyn/advance.h"
#include "oleodyn/observer.h"
#include "support/random_machine.h"

enum {
  RANDOM = 8,
  SLOW = RANDOM + 12,
  MACHINES = RANDOM + FUZZ_MACHINES,
  UNREPAIRED = 128,
  OF_HEADER = 250,
  GROUP = 12,
  TWO_STEPS = 224
};
enum { SENSORS = 2, PARAMETERS = 2, MOST_STATES = 12, MOST_CHANGES = 30, STEPS = 2, HEADER = 144 };
enum { PLAIN_SIM, FULL_SIM, FIXED_ADVANCE, ADAPTIVE_ADVANCE, OBSERVER };
static const double h = 1e-5;

typedef struct subject {
  od_plant *plant;
  od_sim *sim;
  od_advance *advance;
  od_observer *observer;
  size_t size;
  void *saved, *changed;
  double u[4], still[SENSORS], sigma[SENSORS];
} subject;

static int kinds(void) {
  int filters = 0;
  while (od_filter_type_at(filters)) filters++;
  return OBSERVER + filters;
}

// --- subjects -------------------------------------------------------------------------------------------------------

static od_plant *random_plant(int machine) {
  static od_plant *plant[RANDOM];
  static uint64_t seed = 1;
  static int made;
  for (; made <= machine; seed++) {
    od_model *m = od_random_machine(seed, seed % 2, seed % 3 == 0, seed % 4 != 1, seed % 3 != 1);
    if (!m) continue;
    const int out[SENSORS] = {0, m->outputs / 2}, parameter[PARAMETERS] = {0, m->numbers - 1};
    if (m->inputs > 4 || 2 * m->freedom + m->states + PARAMETERS > MOST_STATES ||
        od_model_plant(m, out, SENSORS, parameter, PARAMETERS, &plant[made], NULL) != OD_OK)
      od_model_free(m);
    else
      made++;
  }
  return plant[machine];
}

// Machines with too many states or inputs are replaced by the last one.
static od_plant *small_plant(int machine) {
  static od_plant *plant[FUZZ_MACHINES];
  if (plant[machine]) return plant[machine];
  const od_model *m = od_machine_model(fuzz_machine(machine));
  const int out[SENSORS] = {0, m->outputs / 2}, parameter[PARAMETERS] = {0, m->numbers - 1};
  if (m->inputs > 4 || 2 * m->freedom + m->states + PARAMETERS > MOST_STATES ||
      od_model_plant(m, out, SENSORS, parameter, PARAMETERS, &plant[machine], NULL) != OD_OK)
    return plant[machine] = small_plant(FUZZ_MACHINES - 1);
  return plant[machine];
}

static od_plant *plant_of(int machine) {
  return machine < RANDOM ? random_plant(machine) : small_plant(machine - RANDOM);
}

static void steps_of_sim(subject *s, int count) {
  bool changed;
  double F[MOST_STATES * MOST_STATES], y[SENSORS];
  for (int k = 0; k < count; k++) {
    (void)od_sim_sample(s->sim, NULL, NULL, &changed);
    (void)od_sim_repartition(s->sim, NULL, &changed);
    if (od_sim_step_with_jacobians(s->sim, h, s->u, F, NULL, NULL, NULL) == OD_NOT_AVAILABLE)
      (void)od_sim_step(s->sim, h, s->u);
    (void)od_sim_outputs(s->sim, y);
  }
}

static void steps_of_advance(subject *s, int count) {
  od_sim *at;
  double y[SENSORS], begin = od_sim_time(s->sim);
  for (int k = 1; k <= count; k++)
    if (od_sim_advance(s->advance, begin + k * h, &at) == OD_OK) (void)od_sim_outputs(at, y);
}

static void steps_of_observer(subject *s, int count) {
  double q[MOST_STATES], y[SENSORS], sigma[SENSORS];
  for (int i = 0; i < MOST_STATES; i++) q[i] = 1e-12;
  for (int k = 0; k < count; k++) {
    for (int i = 0; i < SENSORS; i++) y[i] = s->still[i] + s->sigma[i] * sin(k + i);
    if (od_observer_predict(s->observer, h, s->u, NULL, q) == OD_OK) (void)od_observer_correct(s->observer, y);
    (void)od_observer_outputs(s->observer, y, sigma);
    (void)od_observer_covariance(s->observer);
  }
}

static void take_steps(subject *s, int count) {
  if (s->observer)
    steps_of_observer(s, count);
  else if (s->advance)
    steps_of_advance(s, count);
  else
    steps_of_sim(s, count);
}

static size_t size_of(const subject *s) {
  return s->observer  ? od_observer_save_size(s->observer)
         : s->advance ? od_advance_save_size(s->advance)
                      : od_sim_save_size(s->sim);
}
static od_status save(const subject *s) {
  return s->observer  ? od_observer_save(s->observer, s->saved)
         : s->advance ? od_advance_save(s->advance, s->saved)
                      : od_sim_save(s->sim, s->saved);
}
static od_status restore(const subject *s, const void *saved, od_error *err) {
  return s->observer  ? od_observer_restore(s->observer, saved, s->size, err)
         : s->advance ? od_advance_restore(s->advance, saved, s->size, err)
                      : od_sim_restore(s->sim, saved, s->size, err);
}

static void make_observer(subject *s, const od_filter *filter) {
  int n = od_plant_nx(s->plant) + s->plant->np;
  double P[MOST_STATES * MOST_STATES] = {0}, choice[OD_MOST_FILTER_OPTIONS];
  for (int i = 0; i < filter->options; i++) choice[i] = filter->option[i].fallback;
  if (filter->options && strcmp(filter->option[0].key, "window") == 0) choice[0] = 16;
  od_observer_options options = {
      .filter = filter, .sensor_sigma = s->sigma, .gate = 4, .patience = 3, .choice = choice};
  for (int i = 0; i < n; i++) P[i * n + i] = 1e-8;
  s->observer = od_observer_new(s->plant, &options);
  if (!s->observer || od_observer_start(s->observer, 0, NULL, NULL, P, s->u) != OD_OK) abort();
}

static subject *subject_of(int machine, int kind) {
  static subject all[MACHINES][32];
  subject *s = &all[machine][kind];
  if (s->saved) return s;
  s->plant = plant_of(machine);
  s->u[0] = 0.4, s->u[1] = -0.3;
  s->sim = kind == PLAIN_SIM || kind == FIXED_ADVANCE ? od_sim_plain_new(s->plant) : od_sim_new(s->plant);
  if (kind == ADAPTIVE_ADVANCE) od_sim_set_integrator(s->sim, od_integrator_find("tr-bdf2"));
  if (!s->sim || od_sim_start(s->sim, 0, s->u) != OD_OK || od_sim_outputs(s->sim, s->still) != OD_OK) abort();
  for (int i = 0; i < SENSORS; i++) s->sigma[i] = 1e-3 * (1e-2 + fabs(s->still[i]));
  if (kind == FIXED_ADVANCE || kind == ADAPTIVE_ADVANCE)
    s->advance =
        od_advance_new(s->sim, &(od_advance_options){.step = kind == FIXED_ADVANCE ? h : 0, .most_steps = 1e6});
  if (kind >= OBSERVER) make_observer(s, od_filter_type_at(kind - OBSERVER));
  take_steps(s, kind >= OBSERVER ? 20 + machine : 4);
  s->size = size_of(s);
  s->saved = malloc(s->size);
  s->changed = malloc(s->size);
  if (!s->saved || !s->changed || save(s) != OD_OK) abort();
  return s;
}

// --- changes --------------------------------------------------------------------------------------------------------

// Changes a part of the state. Small integers and flags are in the first bytes of many pieces.
static void change(char *bytes, size_t size, const uint8_t *by) {
  static const double values[] = {0, -1, 1, NAN, INFINITY, 1e300, 2147483648.0, 1e-300};
  static const int integers[] = {0, 1, -1, 2, 3, 1 << 30, -2147483647 - 1, 2147483647};
  size_t room = size - HEADER, place = HEADER + ((size_t)by[0] | (size_t)by[1] << 8 | (size_t)by[2] << 16) % room;
  double value = values[by[4] % 8];
  switch (by[3] % 5) {
    case 0: place = HEADER + (place - HEADER) % 512; break;
    case 1: place -= place % 8; break;
    case 2: place -= place % 4; break;
    default: break;
  }
  if (by[3] >= OF_HEADER) place %= HEADER;
  size_t left = size - place;
  if (by[3] % 5 == 1)
    memcpy(bytes + place, &value, left < sizeof value ? left : sizeof value);
  else if (by[3] % 5 == 2)
    memcpy(bytes + place, &integers[by[4] % 8], left < sizeof(int) ? left : sizeof(int));
  else
    memcpy(bytes + place, by + 4, left < 8 ? left : (size_t)1 << by[4] % 4);
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t most, unsigned seed);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t most, unsigned seed) {
  size = fuzz_mutate(data, size, most, seed, 2, GROUP, MACHINES, SLOW);
  // Observers take longest.
  if (size > 1 && data[1] % kinds() >= OBSERVER && seed % 4 != 0) data[1] = (uint8_t)(seed / 4 % OBSERVER);
  return size;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (size < 2) return 0;
  od_error err = {0};
  subject *s = subject_of(data[0] % MACHINES, data[1] % kinds());
  memcpy(s->changed, s->saved, s->size);
  for (size_t at = 2, k = 0; at + GROUP <= size && k < MOST_CHANGES; at += GROUP, k++)
    change(s->changed, s->size, data + at);
  bool same = memcmp(s->changed, s->saved, s->size) == 0, repaired = data[0] < UNREPAIRED;
  if (repaired) od_saved_repair(s->changed, s->size);
  od_status status = restore(s, s->changed, &err);
  if (status == OD_OK)
    take_steps(s, s->observer ? 1 + (data[1] >= TWO_STEPS) : STEPS);
  else if (status != OD_BAD_INPUT || !err.text[0])
    abort();
  // The original is always accepted.
  if (same ? status != OD_OK : !repaired && status == OD_OK) abort();
  return 0;
}
