// Instances of FMI 3.
#include <dlfcn.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FMI3_TYPES_ONLY
#include "export/files/fmi/fmi3.h"
#include "fmu_host/fmu_instance.h"

enum { MOST_ITERATIONS = 1000 };  // limit of iterations of one event

#define FIELD(name) fmi3##name##TYPE *name;
typedef struct functions {
  FMI3_FUNCTIONS(FIELD)
} functions;

#define HAS(name) (((functions *)f->function)->name != NULL || od_fmu_lacks(f, "fmi3" #name))
#define CALL(name, ...)                         \
  (HAS(name) && (od_fmu_running = "fmi3" #name, \
                 od_fmu_is_good(f, "fmi3" #name, (int)((functions *)f->function)->name(f->instance, __VA_ARGS__))))
#define CALL0(name)                             \
  (HAS(name) && (od_fmu_running = "fmi3" #name, \
                 od_fmu_is_good(f, "fmi3" #name, (int)((functions *)f->function)->name(f->instance))))

static void logger(fmi3InstanceEnvironment f, fmi3Status status, fmi3String category, fmi3String message) {
  (void)category;
  od_fmu_log(f, (int)status, message);
}

static bool load(od_fmu *f) {
  functions *t = f->function = calloc(1, sizeof *t);
  if (!t) return false;
    // POSIX defines this conversion of an address to a function.
#define LOAD(name) *(void **)(void *)&t->name = dlsym(f->library, "fmi3" #name);
  FMI3_FUNCTIONS(LOAD)
  bool steps = f->interface == OD_FMU_CO_SIMULATION;
  return (steps ? HAS(InstantiateCoSimulation) : HAS(InstantiateModelExchange)) && HAS(FreeInstance);
}

static void free_instance(od_fmu *f) {
  if (!f->instance) return;
  od_fmu_running = "fmi3FreeInstance";
  ((functions *)f->function)->FreeInstance(f->instance);
  od_fmu_running = "";
  f->instance = NULL;
}

static bool instantiate(od_fmu *f) {
  const functions *t = f->function;
  bool steps = f->interface == OD_FMU_CO_SIMULATION;
  char resources[2100];
  snprintf(resources, sizeof resources, "%.2000s/resources/", f->folder);
  od_fmu_running = steps ? "fmi3InstantiateCoSimulation" : "fmi3InstantiateModelExchange";
  f->instance = steps ? t->InstantiateCoSimulation("oleodyn", f->d->token, resources, false, false, false, false, NULL,
                                                   0, f, logger, NULL)
                      : t->InstantiateModelExchange("oleodyn", f->d->token, resources, false, false, f, logger);
  if (!f->instance)
    snprintf(f->error, sizeof f->error, "returned no instance from %s%s%s", od_fmu_running, f->logged[0] ? ": " : "",
             f->logged);
  od_fmu_running = "";
  return f->instance != NULL;
}

// Iterates an event until the discrete states no longer change. Returns false after storing the reason.
static bool iterate_event(od_fmu *f) {
  bool more = true, terminate = false, nominals, states, has_next = false;
  double next = INFINITY;
  for (int i = 0; more; i++) {
    if (i == MOST_ITERATIONS) {
      snprintf(f->error, sizeof f->error, "needs more than %d iterations for an event", (int)MOST_ITERATIONS);
      return false;
    }
    if (!CALL(UpdateDiscreteStates, &more, &terminate, &nominals, &states, &has_next, &next)) return false;
    f->ended = f->ended || terminate;
  }
  f->next_event = has_next ? next : INFINITY;
  return CALL0(EnterContinuousTimeMode);
}

static bool start(od_fmu *f, double t, const double *q, const double *u) {
  f->ended = false;
  f->next_event = INFINITY;
  if (!od_fmu_set_list(f, &f->parameter, q) || !CALL(EnterInitializationMode, false, 0, t, false, 0)) return false;
  if (!od_fmu_set_list(f, &f->input, u) || !CALL0(ExitInitializationMode)) return false;
  return f->interface == OD_FMU_CO_SIMULATION || iterate_event(f);
}

// The cases of all types except Float64. V: the value in the type of the standard.
#define WHOLE_TYPES(X)            \
  X(INT8, Int8, 127)              \
  X(UINT8, UInt8, 255)            \
  X(INT16, Int16, 32767)          \
  X(UINT16, UInt16, 65535)        \
  X(INT32, Int32, 2147483647)     \
  X(UINT32, UInt32, 4294967295.0) \
  X(INT64, Int64, 9e15)           \
  X(UINT64, UInt64, 9e15)

static bool set_one(od_fmu *f, od_fmu_type type, const uint32_t *reference, double value) {
  switch (type) {
#define SET(TYPE, Name, most)                                         \
  case OD_FMU_##TYPE: {                                               \
    double least = fmi3##Name##_is_signed ? -(most) : 0;              \
    fmi3##Name v = (fmi3##Name)round(fmax(least, fmin(most, value))); \
    return CALL(Set##Name, reference, 1, &v, 1);                      \
  }
    enum {
      fmi3Int8_is_signed = 1,
      fmi3Int16_is_signed = 1,
      fmi3Int32_is_signed = 1,
      fmi3Int64_is_signed = 1,
      fmi3UInt8_is_signed = 0,
      fmi3UInt16_is_signed = 0,
      fmi3UInt32_is_signed = 0,
      fmi3UInt64_is_signed = 0
    };
    WHOLE_TYPES(SET)
    case OD_FMU_FLOAT32: {
      float v = (float)value;
      return CALL(SetFloat32, reference, 1, &v, 1);
    }
    default: {
      bool v = value > 0.5;
      return CALL(SetBoolean, reference, 1, &v, 1);
    }
  }
}

static bool get_one(od_fmu *f, od_fmu_type type, const uint32_t *reference, double *value) {
  switch (type) {
#define GET(TYPE, Name, most)                         \
  case OD_FMU_##TYPE: {                               \
    fmi3##Name v = 0;                                 \
    bool good = CALL(Get##Name, reference, 1, &v, 1); \
    *value = (double)v;                               \
    return good;                                      \
  }
    WHOLE_TYPES(GET)
    case OD_FMU_FLOAT32: {
      float v = 0;
      bool good = CALL(GetFloat32, reference, 1, &v, 1);
      *value = v;
      return good;
    }
    default: {
      bool v = false, good = CALL(GetBoolean, reference, 1, &v, 1);
      *value = v;
      return good;
    }
  }
}

static bool set(od_fmu *f, od_fmu_type type, const uint32_t *reference, int count, const double *value) {
  bool good = true;
  if (type == OD_FMU_REAL) return CALL(SetFloat64, reference, (size_t)count, value, (size_t)count);
  for (int i = 0; i < count && good; i++) good = set_one(f, type, reference + i, value[i]);
  return good;
}

static bool get(od_fmu *f, od_fmu_type type, const uint32_t *reference, int count, double *value) {
  bool good = true;
  if (type == OD_FMU_REAL) return CALL(GetFloat64, reference, (size_t)count, value, (size_t)count);
  for (int i = 0; i < count && good; i++) good = get_one(f, type, reference + i, value + i);
  return good;
}

static bool directional(od_fmu *f, const uint32_t *unknown, int unknowns, const uint32_t *known, int knowns,
                        const double *change, double *result) {
  return CALL(GetDirectionalDerivative, unknown, (size_t)unknowns, known, (size_t)knowns, change, (size_t)knowns,
              result, (size_t)unknowns);
}

static bool save(od_fmu *f, char **bytes, size_t *size) {
  fmi3FMUState state = NULL;
  *bytes = NULL, *size = 0;
  if (!CALL(GetFMUState, &state)) return false;
  bool good = CALL(SerializedFMUStateSize, state, size) && (*bytes = malloc(*size + 1)) != NULL &&
              CALL(SerializeFMUState, state, (fmi3Byte *)*bytes, *size);
  bool is_freed = CALL(FreeFMUState, &state);
  return good && is_freed;
}

static bool restore(od_fmu *f, const char *bytes, size_t size) {
  fmi3FMUState state = NULL;
  if (!CALL(DeserializeFMUState, (const fmi3Byte *)bytes, size, &state)) return false;
  bool good = CALL(SetFMUState, state);
  bool is_freed = CALL(FreeFMUState, &state);
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
  return f->d->states == 0 || CALL(GetContinuousStateDerivatives, rate, (size_t)f->d->states);
}

static bool get_indicators(od_fmu *f, double *z) {
  return f->d->indicators == 0 || CALL(GetEventIndicators, z, (size_t)f->d->indicators);
}

static bool event(od_fmu *f) {
  return CALL0(EnterEventMode) && iterate_event(f);
}

static bool step(od_fmu *f, double t, double h) {
  bool event_needed = false, terminate = false, early = false;
  double reached = t;
  if (!CALL(DoStep, t, h, false, &event_needed, &terminate, &early, &reached)) return false;
  f->ended = f->ended || terminate;
  return true;
}

const od_fmi od_fmi3 = {.load = load,
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
