// Instances of FMI 2.
#include <stdarg.h>

#define FMI2_TYPES_ONLY
#include "export/files/fmi/fmi2.h"
#include "fmu_host/fmu_instance.h"

#define FMI_PREFIX               fmi2
#define FMI_FUNCTIONS            FMI2_FUNCTIONS
#define FMI_STATE(before, after) before##FMUstate##after
#define FMI_RESTORED             DeSerializeFMUstate
#define FMI_RATES                GetDerivatives
#define FMI_BYTE                 fmi2Byte
#include "fmu_host/fmi_instance_x.h"

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
  return find_functions(f) && HAS(Instantiate);
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
  return end_creation(f);
}

// Iterates an event until the discrete states no longer change. Returns false after storing the reason.
static bool iterate_event(od_fmu *f) {
  fmi2EventInfo info = {.newDiscreteStatesNeeded = fmi2True};
  for (int i = 0; info.newDiscreteStatesNeeded; i++) {
    if (i == MOST_ITERATIONS) return endless_event(f);
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

static bool step(od_fmu *f, double t, double h) {
  return CALL(DoStep, t, h, fmi2False);
}
