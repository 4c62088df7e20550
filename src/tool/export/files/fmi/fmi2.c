// The functions of FMI 2.0: the order of calls, types of variables, messages. The run itself is in fmu_machine.c or fmu_observer.c.
#include "fmi2.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "fmi_mode.h"
#include "fmu_run.h"

enum {
  SETTABLE = INSTANTIATED | INITIALIZING | STEPPING | IN_EVENT | IN_CONTINUOUS_TIME,
  READABLE = INITIALIZING | STEPPING | FAILED | TERMINATED | IN_EVENT | IN_CONTINUOUS_TIME
};

typedef struct instance {
  mode mode;
  bool exchanges;  // whether the importer integrates (model exchange)
  fmu_run *run;
  char *name;
  fmi2CallbackFunctions call;
  fmi2Boolean logs;
  fmi2Boolean has_stop;
  fmi2Real stop;
} instance;

// ---- messages

static fmi2Status report(const instance *i, fmi2Status status, const char *function, const char *reason) {
  bool wanted = i->call.logger && (i->logs || status == fmi2Error || status == fmi2Fatal);
  if (wanted)
    i->call.logger(i->call.componentEnvironment, i->name, status, "logStatusError", "%s: %s", function, reason);
  return status;
}

// The text of fmi_calls_x.h has the names of FMI 3.
#define GetFMUState            GetFMUstate
#define SetFMUState            SetFMUstate
#define FreeFMUState           FreeFMUstate
#define SerializedFMUStateSize SerializedFMUstateSize
#define SerializeFMUState      SerializeFMUstate
#define DeserializeFMUState    DeSerializeFMUstate
#define FMI(name)              fmi2##name
#define FMI_NAME(name)         FMI2_NAME(name)
#define FMI_CALLED(name)       FMI_CALLED_AS(name)
#define FMI_CALLED_AS(name)    "fmi2" #name
#include "fmi_calls_x.h"

// ---- creation

const char *FMI2_NAME(GetTypesPlatform)(void) {
  return "default";
}
const char *FMI2_NAME(GetVersion)(void) {
  return "2.0";
}

fmi2Status FMI2_NAME(SetDebugLogging)(fmi2Component c, fmi2Boolean on, size_t categories, const fmi2String category[]) {
  (void)categories, (void)category;
  instance *i = c;
  if (!i) return fmi2Error;
  i->logs = on;
  return fmi2OK;
}

fmi2Component FMI2_NAME(Instantiate)(fmi2String name, fmi2Type type, fmi2String guid, fmi2String resources,
                                     const fmi2CallbackFunctions *functions, fmi2Boolean visible, fmi2Boolean logs) {
  (void)resources, (void)visible;
  instance wrong = {.name = (char *)(name ? name : ""), .logs = logs};
  if (functions) wrong.call = *functions;
  const char *reason = !name || !*name                                         ? "the name of the instance is missing"
                       : !guid || strcmp(guid, fmu_described.token) != 0       ? "the guid belongs to another FMU"
                       : type == fmi2ModelExchange && !fmu_described.exchanges ? "this FMU supports co-simulation only"
                                                                               : NULL;
  instance *i = reason ? NULL : calloc(1, sizeof *i);
  if (!reason && i) {
    *i = wrong;
    i->mode = INSTANTIATED;
    i->name = malloc(strlen(name) + 1);
    i->run = fmu_new();
    i->exchanges = type == fmi2ModelExchange;
    if (i->run && i->exchanges) fmu_exchange(i->run);
    if (i->name && i->run) return strcpy(i->name, name), i;
    if (i->run) fmu_free(i->run);
    free(i->name);
    free(i);
  }
  report(&wrong, fmi2Error, "fmi2Instantiate", reason ? reason : "out of memory");
  return NULL;
}

void FMI2_NAME(FreeInstance)(fmi2Component c) {
  instance *i = c;
  if (!i) return;
  fmu_free(i->run);
  free(i->name);
  free(i);
}

// ---- initialization

fmi2Status FMI2_NAME(SetupExperiment)(fmi2Component c, fmi2Boolean has_tolerance, fmi2Real tolerance, fmi2Real start,
                                      fmi2Boolean has_stop, fmi2Real stop) {
  instance *i = c;
  if (!may(i, INSTANTIATED, "fmi2SetupExperiment")) return fmi2Error;
  if (!isfinite(start)) return report(i, fmi2Error, "fmi2SetupExperiment", "the start time is not finite");
  i->has_stop = has_stop, i->stop = stop;
  fmu_setup(i->run, has_tolerance ? tolerance : 0, start, has_stop ? stop : (double)INFINITY);
  return fmi2OK;
}

fmi2Status FMI2_NAME(EnterInitializationMode)(fmi2Component c) {
  instance *i = c;
  if (!may(i, INSTANTIATED, "fmi2EnterInitializationMode")) return fmi2Error;
  i->mode = INITIALIZING;
  return fmi2OK;
}

// ---- values

fmi2Status FMI2_NAME(GetReal)(fmi2Component c, const fmi2ValueReference vr[], size_t count, fmi2Real value[]) {
  instance *i = c;
  if (!may(i, READABLE, "fmi2GetReal")) return fmi2Error;
  for (size_t k = 0; k < count; k++)
    if (get(i, vr[k], FMU_REAL, "fmi2GetReal", &value[k]) != fmi2OK) return fmi2Error;
  return fmi2OK;
}

fmi2Status FMI2_NAME(GetInteger)(fmi2Component c, const fmi2ValueReference vr[], size_t count, fmi2Integer value[]) {
  instance *i = c;
  double number = 0;
  if (!may(i, READABLE, "fmi2GetInteger")) return fmi2Error;
  for (size_t k = 0; k < count; k++) {
    if (get(i, vr[k], FMU_INTEGER, "fmi2GetInteger", &number) != fmi2OK) return fmi2Error;
    value[k] = (fmi2Integer)number;
  }
  return fmi2OK;
}

fmi2Status FMI2_NAME(GetBoolean)(fmi2Component c, const fmi2ValueReference vr[], size_t count, fmi2Boolean value[]) {
  instance *i = c;
  double number = 0;
  if (!may(i, READABLE, "fmi2GetBoolean")) return fmi2Error;
  for (size_t k = 0; k < count; k++) {
    if (get(i, vr[k], FMU_BOOLEAN, "fmi2GetBoolean", &number) != fmi2OK) return fmi2Error;
    value[k] = number != 0 ? fmi2True : fmi2False;
  }
  return fmi2OK;
}

// The FMU has no texts.
fmi2Status FMI2_NAME(GetString)(fmi2Component c, const fmi2ValueReference vr[], size_t count, fmi2String value[]) {
  (void)vr, (void)value;
  if (!may(c, READABLE, "fmi2GetString")) return fmi2Error;
  return count == 0 ? fmi2OK : report(c, fmi2Error, "fmi2GetString", "the FMU has no such variable");
}

fmi2Status FMI2_NAME(SetReal)(fmi2Component c, const fmi2ValueReference vr[], size_t count, const fmi2Real value[]) {
  instance *i = c;
  if (!may(i, SETTABLE, "fmi2SetReal")) return fmi2Error;
  for (size_t k = 0; k < count; k++)
    if (set(i, vr[k], FMU_REAL, "fmi2SetReal", value[k]) != fmi2OK) return fmi2Error;
  return fmi2OK;
}

fmi2Status FMI2_NAME(SetInteger)(fmi2Component c, const fmi2ValueReference vr[], size_t count,
                                 const fmi2Integer value[]) {
  instance *i = c;
  if (!may(i, SETTABLE, "fmi2SetInteger")) return fmi2Error;
  for (size_t k = 0; k < count; k++)
    if (set(i, vr[k], FMU_INTEGER, "fmi2SetInteger", value[k]) != fmi2OK) return fmi2Error;
  return fmi2OK;
}

fmi2Status FMI2_NAME(SetBoolean)(fmi2Component c, const fmi2ValueReference vr[], size_t count,
                                 const fmi2Boolean value[]) {
  instance *i = c;
  if (!may(i, SETTABLE, "fmi2SetBoolean")) return fmi2Error;
  for (size_t k = 0; k < count; k++)
    if (set(i, vr[k], FMU_BOOLEAN, "fmi2SetBoolean", value[k] != fmi2False) != fmi2OK) return fmi2Error;
  return fmi2OK;
}

fmi2Status FMI2_NAME(SetString)(fmi2Component c, const fmi2ValueReference vr[], size_t count,
                                const fmi2String value[]) {
  (void)vr, (void)value;
  if (!may(c, SETTABLE, "fmi2SetString")) return fmi2Error;
  return count == 0 ? fmi2OK : report(c, fmi2Error, "fmi2SetString", "the FMU has no such variable");
}

fmi2Status FMI2_NAME(GetDirectionalDerivative)(fmi2Component c, const fmi2ValueReference unknown[], size_t unknowns,
                                               const fmi2ValueReference known[], size_t knowns,
                                               const fmi2Real change_of_known[], fmi2Real change_of_unknown[]) {
  instance *i = c;
  if (!may(i, INITIALIZING | STEPPING | IN_EVENT | IN_CONTINUOUS_TIME, "fmi2GetDirectionalDerivative"))
    return fmi2Error;
  return end(i, fmu_slopes(i->run, unknown, unknowns, known, knowns, change_of_known, change_of_unknown),
             "fmi2GetDirectionalDerivative");
}

// ---- co-simulation

fmi2Status FMI2_NAME(SetRealInputDerivatives)(fmi2Component c, const fmi2ValueReference vr[], size_t count,
                                              const fmi2Integer order[], const fmi2Real value[]) {
  instance *i = c;
  fmu_kind kind;
  int index;
  if (!may(i, INSTANTIATED | INITIALIZING | STEPPING, "fmi2SetRealInputDerivatives")) return fmi2Error;
  for (size_t k = 0; k < count; k++) {
    if (find(i, vr[k], FMU_REAL, "fmi2SetRealInputDerivatives", &kind, &index) != fmi2OK) return fmi2Error;
    if (kind != FMU_INPUT || order[k] != 1)
      return report(i, fmi2Error, "fmi2SetRealInputDerivatives", "only first derivatives of inputs are supported");
    od_status done = fmu_set_rate(i->run, index, value[k]);
    if (done != OD_OK) return report(i, fmi2Error, "fmi2SetRealInputDerivatives", od_status_text(done));
  }
  return fmi2OK;
}

fmi2Status FMI2_NAME(GetRealOutputDerivatives)(fmi2Component c, const fmi2ValueReference vr[], size_t count,
                                               const fmi2Integer order[], fmi2Real value[]) {
  (void)vr, (void)order, (void)value;
  if (!may(c, STEPPING | TERMINATED | FAILED, "fmi2GetRealOutputDerivatives")) return fmi2Error;
  return count == 0 ? fmi2OK : report(c, fmi2Error, "fmi2GetRealOutputDerivatives", "not supported");
}

fmi2Status FMI2_NAME(DoStep)(fmi2Component c, fmi2Real time, fmi2Real step, fmi2Boolean no_earlier_state) {
  (void)no_earlier_state;
  instance *i = c;
  if (!may(i, STEPPING, "fmi2DoStep")) return fmi2Error;
  if (i->has_stop && time + step > i->stop + 1e-9 * step + 1e-15 * fabs(time))
    return report(i, fmi2Error, "fmi2DoStep", "the step ends after the stop time of fmi2SetupExperiment");
  od_status status = fmu_step(i->run, time, step);
  if (status == OD_BAD_ARGUMENT)
    return report(
        i, fmi2Error, "fmi2DoStep",
        "the step does not begin at the current time, or its length is not positive or not a multiple of the observer's period");
  return end(i, status, "fmi2DoStep");
}

fmi2Status FMI2_NAME(CancelStep)(fmi2Component c) {
  if (!c) return fmi2Error;
  return report(c, fmi2Error, "fmi2CancelStep", "steps are complete when fmi2DoStep returns");
}

fmi2Status FMI2_NAME(GetStatus)(fmi2Component c, fmi2StatusKind kind, fmi2Status *value) {
  const instance *i = c;
  if (!may(i, READABLE, "fmi2GetStatus")) return fmi2Error;
  if (kind != fmi2DoStepStatus) return fmi2Discard;
  *value = i->mode == FAILED ? fmi2Error : fmi2OK;
  return fmi2OK;
}

fmi2Status FMI2_NAME(GetRealStatus)(fmi2Component c, fmi2StatusKind kind, fmi2Real *value) {
  const instance *i = c;
  if (!may(i, READABLE, "fmi2GetRealStatus")) return fmi2Error;
  if (kind != fmi2LastSuccessfulTime) return fmi2Discard;
  *value = fmu_time(i->run);
  return fmi2OK;
}

fmi2Status FMI2_NAME(GetIntegerStatus)(fmi2Component c, fmi2StatusKind kind, fmi2Integer *value) {
  (void)kind, (void)value;
  return may(c, READABLE, "fmi2GetIntegerStatus") ? fmi2Discard : fmi2Error;
}

fmi2Status FMI2_NAME(GetBooleanStatus)(fmi2Component c, fmi2StatusKind kind, fmi2Boolean *value) {
  if (!may(c, READABLE, "fmi2GetBooleanStatus")) return fmi2Error;
  if (kind != fmi2Terminated) return fmi2Discard;
  *value = fmi2False;
  return fmi2OK;
}

fmi2Status FMI2_NAME(GetStringStatus)(fmi2Component c, fmi2StatusKind kind, fmi2String *value) {
  if (!may(c, READABLE, "fmi2GetStringStatus")) return fmi2Error;
  if (kind != fmi2PendingStatus) return fmi2Discard;
  *value = "";
  return fmi2OK;
}

// ---- model exchange

fmi2Status FMI2_NAME(NewDiscreteStates)(fmi2Component c, fmi2EventInfo *info) {
  instance *i = c;
  double next = INFINITY;
  if (!may(i, IN_EVENT, "fmi2NewDiscreteStates")) return fmi2Error;
  fmi2Status status = end(i, fmu_handle_event(i->run, &next), "fmi2NewDiscreteStates");
  if (status != fmi2OK) return status;
  *info = (fmi2EventInfo){.valuesOfContinuousStatesChanged = fmi2True,
                          .nextEventTimeDefined = isfinite(next),
                          .nextEventTime = isfinite(next) ? next : 0};
  return fmi2OK;
}

fmi2Status FMI2_NAME(GetDerivatives)(fmi2Component c, fmi2Real derivative[], size_t states) {
  return get_all(c, FMU_DERIVATIVE, derivative, states, "fmi2GetDerivatives");
}
