// Instances of FMI 2.
#include <dlfcn.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FMI2_TYPES_ONLY
#include "export/files/fmi/fmi2.h"
#include "fmu_host/fmu_instance.h"

enum { MOST_ITERATIONS = 1000 };  // limit of iterations of one event

#define FIELD(name) fmi2##name##TYPE *name;
typedef struct functions {
  FMI2_FUNCTIONS(FIELD)
} functions;

// Calls a function of the FMU and judges its status. CALL0: a function whose only argument is the instance.
#define HAS(name) (((functions *)f->function)->name != NULL || od_fmu_lacks(f, "fmi2" #name))
#define CALL(name, ...)                         \
  (HAS(name) && (od_fmu_running = "fmi2" #name, \
                 od_fmu_is_good(f, "fmi2" #name, (int)((functions *)f->function)->name(f->instance, __VA_ARGS__))))
#define CALL0(name)                             \
  (HAS(name) && (od_fmu_running = "fmi2" #name, \
                 od_fmu_is_good(f, "fmi2" #name, (int)((functions *)f->function)->name(f->instance))))

static void logger(fmi2ComponentEnvironment f, fmi2String name, fmi2Status status, fmi2String category,
                   fmi2String message, ...) {
  char text[500] = "";
  va_list list;
  (void)name, (void)category;
  va_start(list, message);
  if (message) vsnprintf(text, sizeof text, message, list);
  va_end(list);
  od_fmu_log(f, (int)status, text);
}

static bool load(od_fmu *f) {
  functions *t = f->function = calloc(1, sizeof *t);
  if (!t) return false;
    // POSIX defines this conversion of an address to a function.
#define LOAD(name) *(void **)(void *)&t->name = dlsym(f->library, "fmi2" #name);
  FMI2_FUNCTIONS(LOAD)
  return HAS(Instantiate) && HAS(FreeInstance);
}

static void free_instance(od_fmu *f) {
  if (!f->instance) return;
  od_fmu_running = "fmi2FreeInstance";
  ((functions *)f->function)->FreeInstance(f->instance);
  od_fmu_running = "";
  f->instance = NULL;
}

static bool instantiate(od_fmu *f) {
  static fmi2CallbackFunctions callbacks;  // FMUs keep this address
  char resources[2100];
  snprintf(resources, sizeof resources, "file://%.2000s/resources", f->folder);
  callbacks = (fmi2CallbackFunctions){logger, calloc, free, NULL, f};
  od_fmu_running = "fmi2Instantiate";
  f->instance =
      ((functions *)f->function)
          ->Instantiate("oleodyn", f->interface == OD_FMU_CO_SIMULATION ? fmi2CoSimulation : fmi2ModelExchange,
                        f->d->token, resources, &callbacks, fmi2False, fmi2False);
  od_fmu_running = "";
  if (!f->instance)
    snprintf(f->error, sizeof f->error, "returned no instance from fmi2Instantiate%s%s", f->logged[0] ? ": " : "",
             f->logged);
  return f->instance != NULL;
}

// Iterates an event until the discrete states no longer change. Returns false after storing the reason.
static bool iterate_event(od_fmu *f) {
  fmi2EventInfo info = {.newDiscreteStatesNeeded = fmi2True};
  for (int i = 0; info.newDiscreteStatesNeeded; i++) {
    if (i == MOST_ITERATIONS) {
      snprintf(f->error, sizeof f->error, "needs more than %d iterations for an event", (int)MOST_ITERATIONS);
      return false;
    }
    if (!CALL(NewDiscreteStates, &info)) return false;
    f->ended = f->ended || info.terminateSimulation;
  }
  f->next_event = info.nextEventTimeDefined ? info.nextEventTime : INFINITY;
  return CALL0(EnterContinuousTimeMode);
}

static bool start(od_fmu *f, double t, const double *q, const double *u) {
  f->ended = false;
  f->next_event = INFINITY;
  if (!CALL(SetupExperiment, fmi2False, 0, t, fmi2False, 0) || !od_fmu_set_list(f, &f->parameter, q)) return false;
  if (!CALL0(EnterInitializationMode) || !od_fmu_set_list(f, &f->input, u)) return false;
  if (!CALL0(ExitInitializationMode)) return false;
  return f->interface == OD_FMU_CO_SIMULATION || iterate_event(f);
}

static bool set(od_fmu *f, od_fmu_type type, const uint32_t *reference, int count, const double *value) {
  bool good = true;
  if (type == OD_FMU_REAL) return CALL(SetReal, reference, (size_t)count, value);
  for (int i = 0; i < count && good; i++) {
    int whole = (int)lround(fmax(-2147483647, fmin(2147483647, value[i])));
    good = type == OD_FMU_BOOLEAN ? CALL(SetBoolean, reference + i, 1, (const fmi2Boolean[]){whole != 0})
                                  : CALL(SetInteger, reference + i, 1, (const fmi2Integer[]){whole});
  }
  return good;
}

static bool get(od_fmu *f, od_fmu_type type, const uint32_t *reference, int count, double *value) {
  bool good = true;
  if (type == OD_FMU_REAL) return CALL(GetReal, reference, (size_t)count, value);
  for (int i = 0; i < count && good; i++) {
    int whole = 0;
    good = type == OD_FMU_BOOLEAN ? CALL(GetBoolean, reference + i, 1, &whole)
                                  : CALL(GetInteger, reference + i, 1, &whole);
    value[i] = type == OD_FMU_BOOLEAN ? whole != 0 : whole;
  }
  return good;
}

static bool directional(od_fmu *f, const uint32_t *unknown, int unknowns, const uint32_t *known, int knowns,
                        const double *change, double *result) {
  return CALL(GetDirectionalDerivative, unknown, (size_t)unknowns, known, (size_t)knowns, change, result);
}

static bool save(od_fmu *f, char **bytes, size_t *size) {
  fmi2FMUstate state = NULL;
  *bytes = NULL, *size = 0;
  if (!CALL(GetFMUstate, &state)) return false;
  bool good = CALL(SerializedFMUstateSize, state, size) && (*bytes = malloc(*size + 1)) != NULL &&
              CALL(SerializeFMUstate, state, *bytes, *size);
  bool is_freed = CALL(FreeFMUstate, &state);
  return good && is_freed;
}

static bool restore(od_fmu *f, const char *bytes, size_t size) {
  fmi2FMUstate state = NULL;
  if (!CALL(DeSerializeFMUstate, bytes, size, &state)) return false;
  bool good = CALL(SetFMUstate, state);
  bool is_freed = CALL(FreeFMUstate, &state);
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
  return f->d->states == 0 || CALL(GetDerivatives, rate, (size_t)f->d->states);
}

static bool get_indicators(od_fmu *f, double *z) {
  return f->d->indicators == 0 || CALL(GetEventIndicators, z, (size_t)f->d->indicators);
}

static bool event(od_fmu *f) {
  return CALL0(EnterEventMode) && iterate_event(f);
}

static bool step(od_fmu *f, double t, double h) {
  return CALL(DoStep, t, h, fmi2False);
}

const od_fmi od_fmi2 = {.load = load,
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
