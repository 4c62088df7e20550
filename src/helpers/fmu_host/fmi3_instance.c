// Instances of FMI 3.
#define FMI3_TYPES_ONLY
#include "export/files/fmi/fmi3.h"
#include "fmu_host/fmu_instance.h"

#define FMI_PREFIX               fmi3
#define FMI_FUNCTIONS            FMI3_FUNCTIONS
#define FMI_STATE(before, after) before##FMUState##after
#define FMI_RESTORED             DeserializeFMUState
#define FMI_RATES                GetContinuousStateDerivatives
#define FMI_BYTE                 fmi3Byte
#include "fmu_host/fmi_instance_x.h"

static void logger(fmi3InstanceEnvironment f, fmi3Status status, fmi3String category, fmi3String message) {
  (void)category;
  od_fmu_log(f, (int)status, message);
}

static bool load(od_fmu *f) {
  bool steps = f->interface == OD_FMU_CO_SIMULATION;
  return find_functions(f) && (steps ? HAS(InstantiateCoSimulation) : HAS(InstantiateModelExchange));
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
  return end_creation(f);
}

// Iterates an event until the discrete states no longer change. Returns false after storing the reason.
static bool iterate_event(od_fmu *f) {
  bool more = true, terminate = false, nominals, states, has_next = false;
  double next = INFINITY;
  for (int i = 0; more; i++) {
    if (i == MOST_ITERATIONS) return endless_event(f);
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

// The integer types: name in od_fmu_type, name in FMI 3, and largest value. set_one() limits values to this range.
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

static bool step(od_fmu *f, double t, double h) {
  bool event_needed = false, terminate = false, early = false;
  double reached = t;
  if (!CALL(DoStep, t, h, false, &event_needed, &terminate, &early, &reached)) return false;
  f->ended = f->ended || terminate;
  return true;
}
