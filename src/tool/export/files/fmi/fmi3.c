// The functions of FMI 3.0: the order of calls, types of variables, messages. The run itself is in fmu_machine.c or fmu_observer.c.
#include "fmi3.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "fmi_mode.h"
#include "fmu_run.h"

enum {
  SETTABLE = INSTANTIATED | INITIALIZING | STEPPING | IN_EVENT | IN_CONTINUOUS_TIME,
  READABLE = INSTANTIATED | INITIALIZING | STEPPING | FAILED | TERMINATED | IN_EVENT | IN_CONTINUOUS_TIME
};

typedef struct instance {
  mode mode;
  bool exchanges;  // whether the importer integrates (model exchange)
  fmu_run *run;
  fmi3InstanceEnvironment environment;
  fmi3LogMessageCallback log;
  bool logs;  // whether the importer requested messages that are not errors; an FMU has no such messages
  bool has_stop;
  fmi3Float64 stop;
} instance;

// ---- messages

static fmi3Status report(const instance *i, fmi3Status status, const char *function, const char *reason) {
  char text[256];
  size_t of_function = strlen(function), of_reason = strlen(reason);
  if (!i->log || of_function + of_reason + 3 > sizeof text) return status;
  memcpy(text, function, of_function);
  memcpy(text + of_function, ": ", 2);
  memcpy(text + of_function + 2, reason, of_reason + 1);
  i->log(i->environment, status, "logStatusError", text);
  return status;
}

#define FMI(name)           fmi3##name
#define FMI_NAME(name)      FMI3_NAME(name)
#define FMI_CALLED(name)    FMI_CALLED_AS(name)
#define FMI_CALLED_AS(name) "fmi3" #name
#include "fmi_calls_x.h"

static fmi3Status unsupported(fmi3Instance i, const char *function) {
  return i ? report(i, fmi3Error, function, "this FMU has no such functions or variables") : fmi3Error;
}

// ---- creation

const char *FMI3_NAME(GetVersion)(void) {
  return "3.0";
}

fmi3Status FMI3_NAME(SetDebugLogging)(fmi3Instance i, fmi3Boolean on, size_t categories, const fmi3String category[]) {
  (void)categories, (void)category;
  if (!i) return fmi3Error;
  ((instance *)i)->logs = on;
  return fmi3OK;
}

fmi3Instance FMI3_NAME(InstantiateCoSimulation)(fmi3String name, fmi3String token, fmi3String resources,
                                                fmi3Boolean visible, fmi3Boolean logs, fmi3Boolean event_mode,
                                                fmi3Boolean early_return, const fmi3ValueReference intermediate[],
                                                size_t intermediates, fmi3InstanceEnvironment environment,
                                                fmi3LogMessageCallback log, fmi3IntermediateUpdateCallback update) {
  (void)resources, (void)visible, (void)early_return, (void)intermediate, (void)update;
  const instance wrong = {.environment = environment, .log = log, .logs = logs};
  const char *reason = !name || !*name                                     ? "the name of the instance is missing"
                       : !token || strcmp(token, fmu_described.token) != 0 ? "the token belongs to another FMU"
                       : event_mode                                        ? "this FMU has no event mode"
                       : intermediates > 0                                 ? "this FMU has no intermediate variables"
                                                                           : NULL;
  instance *i = reason ? NULL : calloc(1, sizeof *i);
  if (i) {
    *i = wrong;
    i->mode = INSTANTIATED;
    i->run = fmu_new();
    if (i->run) return i;
    free(i);
  }
  report(&wrong, fmi3Error, "fmi3InstantiateCoSimulation", reason ? reason : "out of memory");
  return NULL;
}

fmi3Instance FMI3_NAME(InstantiateModelExchange)(fmi3String name, fmi3String token, fmi3String resources,
                                                 fmi3Boolean visible, fmi3Boolean logs,
                                                 fmi3InstanceEnvironment environment, fmi3LogMessageCallback log) {
  const instance wrong = {.environment = environment, .log = log, .logs = logs};
  if (!fmu_described.exchanges) {
    report(&wrong, fmi3Error, "fmi3InstantiateModelExchange", "this FMU supports co-simulation only");
    return NULL;
  }
  instance *i = FMI3_NAME(InstantiateCoSimulation)(name, token, resources, visible, logs, false, false, NULL, 0,
                                                   environment, log, NULL);
  if (!i) return NULL;
  i->exchanges = true;
  fmu_exchange(i->run);
  return i;
}

fmi3Instance FMI3_NAME(InstantiateScheduledExecution)(fmi3String name, fmi3String token, fmi3String resources,
                                                      fmi3Boolean visible, fmi3Boolean logs,
                                                      fmi3InstanceEnvironment environment, fmi3LogMessageCallback log,
                                                      fmi3ClockUpdateCallback update, fmi3LockPreemptionCallback lock,
                                                      fmi3UnlockPreemptionCallback unlock) {
  (void)name, (void)token, (void)resources, (void)visible, (void)update, (void)lock, (void)unlock;
  const instance wrong = {.environment = environment, .log = log, .logs = logs};
  report(&wrong, fmi3Error, "fmi3InstantiateScheduledExecution", "this FMU does not support scheduled execution");
  return NULL;
}

void FMI3_NAME(FreeInstance)(fmi3Instance i) {
  if (!i) return;
  fmu_free(((instance *)i)->run);
  free(i);
}

// ---- initialization

fmi3Status FMI3_NAME(EnterInitializationMode)(fmi3Instance instance_of, fmi3Boolean has_tolerance,
                                              fmi3Float64 tolerance, fmi3Float64 start, fmi3Boolean has_stop,
                                              fmi3Float64 stop) {
  instance *i = instance_of;
  if (!may(i, INSTANTIATED, "fmi3EnterInitializationMode")) return fmi3Error;
  if (!isfinite(start)) return report(i, fmi3Error, "fmi3EnterInitializationMode", "the start time is not finite");
  i->has_stop = has_stop, i->stop = stop;
  fmu_setup(i->run, has_tolerance ? tolerance : 0, start, has_stop ? stop : (double)INFINITY);
  i->mode = INITIALIZING;
  return fmi3OK;
}

fmi3Status FMI3_NAME(EnterStepMode)(fmi3Instance i) {
  return unsupported(i, "fmi3EnterStepMode");
}
fmi3Status FMI3_NAME(EnterConfigurationMode)(fmi3Instance i) {
  return unsupported(i, "fmi3EnterConfigurationMode");
}
fmi3Status FMI3_NAME(ExitConfigurationMode)(fmi3Instance i) {
  return unsupported(i, "fmi3ExitConfigurationMode");
}

// ---- values

// Defines the functions of a type of values that the FMU has.
#define VALUES(name, kind)                                                                                         \
  fmi3Status FMI3_NAME(Get##name)(fmi3Instance i, const fmi3ValueReference vr[], size_t count, fmi3##name value[], \
                                  size_t values) {                                                                 \
    double number = 0;                                                                                             \
    if (!may(i, READABLE, "fmi3Get" #name)) return fmi3Error;                                                      \
    if (values < count)                                                                                            \
      return report(i, fmi3Error, "fmi3Get" #name, "too few values; expected one for each variable");              \
    for (size_t k = 0; k < count; k++) {                                                                           \
      if (get(i, vr[k], kind, "fmi3Get" #name, &number) != fmi3OK) return fmi3Error;                               \
      value[k] = (fmi3##name)number;                                                                               \
    }                                                                                                              \
    return fmi3OK;                                                                                                 \
  }                                                                                                                \
  fmi3Status FMI3_NAME(Set##name)(fmi3Instance i, const fmi3ValueReference vr[], size_t count,                     \
                                  const fmi3##name value[], size_t values) {                                       \
    if (!may(i, SETTABLE, "fmi3Set" #name)) return fmi3Error;                                                      \
    if (values < count)                                                                                            \
      return report(i, fmi3Error, "fmi3Set" #name, "too few values; expected one for each variable");              \
    for (size_t k = 0; k < count; k++)                                                                             \
      if (set(i, vr[k], kind, "fmi3Set" #name, (double)value[k]) != fmi3OK) return fmi3Error;                      \
    return fmi3OK;                                                                                                 \
  }
VALUES(Float64, FMU_REAL)
VALUES(Int32, FMU_INTEGER)
VALUES(Boolean, FMU_BOOLEAN)

// Defines the functions of a type of values that the FMU does not have.
#define NO_VALUES(name)                                                                                            \
  fmi3Status FMI3_NAME(Get##name)(fmi3Instance i, const fmi3ValueReference vr[], size_t count, fmi3##name value[], \
                                  size_t values) {                                                                 \
    (void)vr, (void)value, (void)values;                                                                           \
    return i && count == 0 ? fmi3OK : unsupported(i, "fmi3Get" #name);                                             \
  }                                                                                                                \
  fmi3Status FMI3_NAME(Set##name)(fmi3Instance i, const fmi3ValueReference vr[], size_t count,                     \
                                  const fmi3##name value[], size_t values) {                                       \
    (void)vr, (void)value, (void)values;                                                                           \
    return i && count == 0 ? fmi3OK : unsupported(i, "fmi3Set" #name);                                             \
  }
NO_VALUES(Float32)
NO_VALUES(Int8)
NO_VALUES(UInt8)
NO_VALUES(Int16)
NO_VALUES(UInt16)
NO_VALUES(UInt32)
NO_VALUES(Int64)
NO_VALUES(UInt64)
NO_VALUES(String)

fmi3Status FMI3_NAME(GetBinary)(fmi3Instance i, const fmi3ValueReference vr[], size_t count, size_t size[],
                                fmi3Binary value[], size_t values) {
  (void)vr, (void)size, (void)value, (void)values;
  return i && count == 0 ? fmi3OK : unsupported(i, "fmi3GetBinary");
}
fmi3Status FMI3_NAME(SetBinary)(fmi3Instance i, const fmi3ValueReference vr[], size_t count, const size_t size[],
                                const fmi3Binary value[], size_t values) {
  (void)vr, (void)size, (void)value, (void)values;
  return i && count == 0 ? fmi3OK : unsupported(i, "fmi3SetBinary");
}
fmi3Status FMI3_NAME(GetClock)(fmi3Instance i, const fmi3ValueReference vr[], size_t count, fmi3Clock value[]) {
  (void)vr, (void)value;
  return i && count == 0 ? fmi3OK : unsupported(i, "fmi3GetClock");
}
fmi3Status FMI3_NAME(SetClock)(fmi3Instance i, const fmi3ValueReference vr[], size_t count, const fmi3Clock value[]) {
  (void)vr, (void)value;
  return i && count == 0 ? fmi3OK : unsupported(i, "fmi3SetClock");
}

// The dependencies in modelDescription.xml are valid in all modes.
fmi3Status FMI3_NAME(GetNumberOfVariableDependencies)(fmi3Instance i, fmi3ValueReference vr, size_t *count) {
  (void)vr, (void)count;
  return unsupported(i, "fmi3GetNumberOfVariableDependencies");
}
fmi3Status FMI3_NAME(GetVariableDependencies)(fmi3Instance i, fmi3ValueReference dependent,
                                              size_t element_of_dependent[], fmi3ValueReference independent[],
                                              size_t element_of_independent[], fmi3DependencyKind kind[],
                                              size_t count) {
  (void)dependent, (void)element_of_dependent, (void)independent, (void)element_of_independent, (void)kind, (void)count;
  return unsupported(i, "fmi3GetVariableDependencies");
}

fmi3Status FMI3_NAME(GetDirectionalDerivative)(fmi3Instance instance_of, const fmi3ValueReference unknown[],
                                               size_t unknowns, const fmi3ValueReference known[], size_t knowns,
                                               const fmi3Float64 seed[], size_t seeds, fmi3Float64 sensitivity[],
                                               size_t sensitivities) {
  instance *i = instance_of;
  if (!may(i, INITIALIZING | STEPPING | IN_EVENT | IN_CONTINUOUS_TIME, "fmi3GetDirectionalDerivative"))
    return fmi3Error;
  if (seeds < knowns || sensitivities < unknowns)
    return report(i, fmi3Error, "fmi3GetDirectionalDerivative", "too few values; expected one for each variable");
  return end(i, fmu_slopes(i->run, unknown, unknowns, known, knowns, seed, sensitivity),
             "fmi3GetDirectionalDerivative");
}
fmi3Status FMI3_NAME(GetAdjointDerivative)(fmi3Instance i, const fmi3ValueReference unknown[], size_t unknowns,
                                           const fmi3ValueReference known[], size_t knowns, const fmi3Float64 seed[],
                                           size_t seeds, fmi3Float64 sensitivity[], size_t sensitivities) {
  (void)unknown, (void)unknowns, (void)known, (void)knowns, (void)seed, (void)seeds, (void)sensitivity;
  (void)sensitivities;
  return unsupported(i, "fmi3GetAdjointDerivative");
}

// ---- co-simulation

fmi3Status FMI3_NAME(DoStep)(fmi3Instance instance_of, fmi3Float64 time, fmi3Float64 step, fmi3Boolean no_earlier_state,
                             fmi3Boolean *event_handling_needed, fmi3Boolean *terminate, fmi3Boolean *returned_early,
                             fmi3Float64 *last_successful_time) {
  (void)no_earlier_state;
  instance *i = instance_of;
  if (!may(i, STEPPING, "fmi3DoStep")) return fmi3Error;
  if (event_handling_needed) *event_handling_needed = false;
  if (terminate) *terminate = false;
  if (returned_early) *returned_early = false;
  if (last_successful_time) *last_successful_time = fmu_time(i->run);
  if (i->has_stop && time + step > i->stop + 1e-9 * step + 1e-15 * fabs(time))
    return report(i, fmi3Error, "fmi3DoStep", "the step ends after the stop time of fmi3EnterInitializationMode");
  od_status status = fmu_step(i->run, time, step);
  if (status == OD_BAD_ARGUMENT)
    return report(
        i, fmi3Error, "fmi3DoStep",
        "the step does not begin at the current time, or its length is not positive or not a multiple of the observer's period");
  if (last_successful_time) *last_successful_time = fmu_time(i->run);
  return end(i, status, "fmi3DoStep");
}

fmi3Status FMI3_NAME(GetOutputDerivatives)(fmi3Instance i, const fmi3ValueReference vr[], size_t count,
                                           const fmi3Int32 order[], fmi3Float64 value[], size_t values) {
  (void)vr, (void)order, (void)value, (void)values;
  return i && count == 0 ? fmi3OK : unsupported(i, "fmi3GetOutputDerivatives");
}
fmi3Status FMI3_NAME(ActivateModelPartition)(fmi3Instance i, fmi3ValueReference clock, fmi3Float64 time) {
  (void)clock, (void)time;
  return unsupported(i, "fmi3ActivateModelPartition");
}

// ---- clocks and events

fmi3Status FMI3_NAME(GetIntervalDecimal)(fmi3Instance i, const fmi3ValueReference vr[], size_t count,
                                         fmi3Float64 interval[], fmi3IntervalQualifier qualifier[]) {
  (void)vr, (void)count, (void)interval, (void)qualifier;
  return unsupported(i, "fmi3GetIntervalDecimal");
}
fmi3Status FMI3_NAME(GetIntervalFraction)(fmi3Instance i, const fmi3ValueReference vr[], size_t count,
                                          fmi3UInt64 counter[], fmi3UInt64 resolution[],
                                          fmi3IntervalQualifier qualifier[]) {
  (void)vr, (void)count, (void)counter, (void)resolution, (void)qualifier;
  return unsupported(i, "fmi3GetIntervalFraction");
}
fmi3Status FMI3_NAME(GetShiftDecimal)(fmi3Instance i, const fmi3ValueReference vr[], size_t count,
                                      fmi3Float64 shift[]) {
  (void)vr, (void)count, (void)shift;
  return unsupported(i, "fmi3GetShiftDecimal");
}
fmi3Status FMI3_NAME(GetShiftFraction)(fmi3Instance i, const fmi3ValueReference vr[], size_t count,
                                       fmi3UInt64 counter[], fmi3UInt64 resolution[]) {
  (void)vr, (void)count, (void)counter, (void)resolution;
  return unsupported(i, "fmi3GetShiftFraction");
}
fmi3Status FMI3_NAME(SetIntervalDecimal)(fmi3Instance i, const fmi3ValueReference vr[], size_t count,
                                         const fmi3Float64 interval[]) {
  (void)vr, (void)count, (void)interval;
  return unsupported(i, "fmi3SetIntervalDecimal");
}
fmi3Status FMI3_NAME(SetIntervalFraction)(fmi3Instance i, const fmi3ValueReference vr[], size_t count,
                                          const fmi3UInt64 counter[], const fmi3UInt64 resolution[]) {
  (void)vr, (void)count, (void)counter, (void)resolution;
  return unsupported(i, "fmi3SetIntervalFraction");
}
fmi3Status FMI3_NAME(SetShiftDecimal)(fmi3Instance i, const fmi3ValueReference vr[], size_t count,
                                      const fmi3Float64 shift[]) {
  (void)vr, (void)count, (void)shift;
  return unsupported(i, "fmi3SetShiftDecimal");
}
fmi3Status FMI3_NAME(SetShiftFraction)(fmi3Instance i, const fmi3ValueReference vr[], size_t count,
                                       const fmi3UInt64 counter[], const fmi3UInt64 resolution[]) {
  (void)vr, (void)count, (void)counter, (void)resolution;
  return unsupported(i, "fmi3SetShiftFraction");
}
fmi3Status FMI3_NAME(EvaluateDiscreteStates)(fmi3Instance i) {
  return may(i, INITIALIZING | IN_EVENT, "fmi3EvaluateDiscreteStates") ? fmi3OK : fmi3Error;
}
fmi3Status FMI3_NAME(UpdateDiscreteStates)(fmi3Instance instance_of, fmi3Boolean *needs_update, fmi3Boolean *terminate,
                                           fmi3Boolean *nominals_changed, fmi3Boolean *states_changed,
                                           fmi3Boolean *has_next_event, fmi3Float64 *next_event) {
  instance *i = instance_of;
  double next = INFINITY;
  if (!may(i, IN_EVENT, "fmi3UpdateDiscreteStates")) return fmi3Error;
  fmi3Status status = end(i, fmu_handle_event(i->run, &next), "fmi3UpdateDiscreteStates");
  if (status != fmi3OK) return status;
  if (needs_update) *needs_update = false;
  if (terminate) *terminate = false;
  if (nominals_changed) *nominals_changed = false;
  if (states_changed) *states_changed = true;
  if (has_next_event) *has_next_event = isfinite(next);
  if (next_event) *next_event = isfinite(next) ? next : 0;
  return fmi3OK;
}

// ---- model exchange

fmi3Status FMI3_NAME(GetContinuousStateDerivatives)(fmi3Instance i, fmi3Float64 derivative[], size_t states) {
  return get_all(i, FMU_DERIVATIVE, derivative, states, "fmi3GetContinuousStateDerivatives");
}
fmi3Status FMI3_NAME(GetNumberOfEventIndicators)(fmi3Instance i, size_t *count) {
  if (!i) return fmi3Error;
  *count = (size_t)fmu_described.variables.count[FMU_INDICATOR];
  return fmi3OK;
}
fmi3Status FMI3_NAME(GetNumberOfContinuousStates)(fmi3Instance i, size_t *count) {
  if (!i) return fmi3Error;
  *count = (size_t)fmu_described.variables.count[FMU_STATE];
  return fmi3OK;
}
