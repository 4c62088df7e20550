// The functions of instances that FMI 2 and FMI 3 share, for fmi2_instance.c and fmi3_instance.c. Before the inclusion they define
//
//   FMI_PREFIX               fmi2 or fmi3
//   FMI_FUNCTIONS(X)         the list of functions
//   FMI_STATE(before, after) the name of a function of saved states, such as GetFMUstate for (Get, )
//   FMI_RESTORED, FMI_RATES  names of the functions that read a saved state and that compute the rates
//   FMI_BYTE                 the type of the bytes of saved states
#include <dlfcn.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_ITERATIONS = 1000 };  // limit of iterations of one event

#define FMI_JOINED(a, b)  a##b
#define FMI_NAME_OF(a, b) FMI_JOINED(a, b)
#define FMI(name)         FMI_NAME_OF(FMI_PREFIX, name)
#define FMI_QUOTED(a)     #a
#define FMI_TEXT_OF(a)    FMI_QUOTED(a)
#define FMI_TEXT(name)    FMI_TEXT_OF(FMI_PREFIX) FMI_TEXT_OF(name)

#define FIELD(name) FMI(name##TYPE) * name;
typedef struct functions {
  FMI_FUNCTIONS(FIELD)
} functions;

// Calls a function of the FMU and judges its status. CALL0: a function whose only argument is the instance.
#define TABLE     ((functions *)f->function)
#define HAS(name) (TABLE->name != NULL || od_fmu_lacks(f, FMI_TEXT(name)))
#define CALL(name, ...) \
  (HAS(name) &&         \
   (od_fmu_running = FMI_TEXT(name), od_fmu_is_good(f, FMI_TEXT(name), (int)TABLE->name(f->instance, __VA_ARGS__))))
#define CALL0(name) \
  (HAS(name) && (od_fmu_running = FMI_TEXT(name), od_fmu_is_good(f, FMI_TEXT(name), (int)TABLE->name(f->instance))))

// Finds the functions in the binary; the pointers of missing functions are NULL. Returns false if an allocation fails or the
// function FreeInstance is missing.
static bool find_functions(od_fmu *f) {
  functions *t = f->function = calloc(1, sizeof *t);
  if (!t) return false;
    // POSIX defines this conversion of an address to a function.
#define LOAD(name) *(void **)(void *)&t->name = dlsym(f->library, FMI_TEXT(name));
  FMI_FUNCTIONS(LOAD)
  return HAS(FreeInstance);
}

static void free_instance(od_fmu *f) {
  if (!f->instance) return;
  od_fmu_running = FMI_TEXT(FreeInstance);
  TABLE->FreeInstance(f->instance);
  od_fmu_running = "";
  f->instance = NULL;
}

// Ends the creation of an instance by od_fmu_running. Returns whether there is an instance.
static bool end_creation(od_fmu *f) {
  if (!f->instance)
    snprintf(f->error, sizeof f->error, "returned no instance from %s%s%s", od_fmu_running, f->logged[0] ? ": " : "",
             f->logged);
  od_fmu_running = "";
  return f->instance != NULL;
}

// Reports an event that does not end. Returns false.
static bool endless_event(od_fmu *f) {
  snprintf(f->error, sizeof f->error, "needs more than %d iterations for an event", (int)MOST_ITERATIONS);
  return false;
}

static bool save(od_fmu *f, char **bytes, size_t *size) {
  FMI_NAME_OF(FMI_PREFIX, FMI_STATE(, )) state = NULL;
  *bytes = NULL, *size = 0;
  if (!CALL(FMI_STATE(Get, ), &state)) return false;
  bool good = CALL(FMI_STATE(Serialized, Size), state, size) && (*bytes = malloc(*size + 1)) != NULL &&
              CALL(FMI_STATE(Serialize, ), state, (FMI_BYTE *)*bytes, *size);
  bool is_freed = CALL(FMI_STATE(Free, ), &state);
  return good && is_freed;
}

static bool restore(od_fmu *f, const char *bytes, size_t size) {
  FMI_NAME_OF(FMI_PREFIX, FMI_STATE(, )) state = NULL;
  if (!CALL(FMI_RESTORED, (const FMI_BYTE *)bytes, size, &state)) return false;
  bool good = CALL(FMI_STATE(Set, ), state);
  bool is_freed = CALL(FMI_STATE(Free, ), &state);
  return good && is_freed;
}

static bool set_point(od_fmu *f, double t, const double *x) {
  return CALL(SetTime, t) && (f->d->states == 0 || CALL(SetContinuousStates, x, (size_t)f->d->states));
}

static bool get_states(od_fmu *f, double *x, double *nominal) {
  size_t count = (size_t)f->d->states;
  if (count == 0) return true;
  return CALL(GetContinuousStates, x, count) && (!nominal || CALL(GetNominalsOfContinuousStates, nominal, count));
}

static bool get_rates(od_fmu *f, double *rate) {
  return f->d->states == 0 || CALL(FMI_RATES, rate, (size_t)f->d->states);
}

static bool get_indicators(od_fmu *f, double *z) {
  return f->d->indicators == 0 || CALL(GetEventIndicators, z, (size_t)f->d->indicators);
}

// The functions of each version.
static bool load(od_fmu *f);
static bool instantiate(od_fmu *f);
static bool start(od_fmu *f, double t, const double *q, const double *u);
static bool set(od_fmu *f, od_fmu_type type, const uint32_t *reference, int count, const double *value);
static bool get(od_fmu *f, od_fmu_type type, const uint32_t *reference, int count, double *value);
static bool directional(od_fmu *f, const uint32_t *unknown, int unknowns, const uint32_t *known, int knowns,
                        const double *change, double *result);
static bool iterate_event(od_fmu *f);
static bool step(od_fmu *f, double t, double h);

static bool event(od_fmu *f) {
  return CALL0(EnterEventMode) && iterate_event(f);
}

const od_fmi FMI_NAME_OF(od_, FMI_PREFIX) = {.load = load,
                                             .instantiate = instantiate,
                                             .start = start,
                                             .free_instance = free_instance,
                                             .set = set,
                                             .get = get,
                                             .directional = directional,
                                             .save = save,
                                             .restore = restore,
                                             .set_point = set_point,
                                             .get_states = get_states,
                                             .get_rates = get_rates,
                                             .get_indicators = get_indicators,
                                             .event = event,
                                             .step = step};
