// The functions of FMI 3.0: the order of calls, types of variables, messages. The run itself is in fmu_machine.c or fmu_observer.c.
#include "fmi3.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "fmu_run.h"

typedef enum mode {
  INSTANTIATED = 1,
  INITIALIZING = 2,
  STEPPING = 4,
  FAILED = 8,
  TERMINATED = 16,
  IN_EVENT = 32,  // model exchange
  IN_CONTINUOUS_TIME = 64,
} mode;
enum {
  SETTABLE = INSTANTIATED | INITIALIZING | STEPPING | IN_EVENT | IN_CONTINUOUS_TIME,
  READABLE = INSTANTIATED | INITIALIZING | STEPPING | FAILED | TERMINATED | IN_EVENT | IN_CONTINUOUS_TIME,
  SAVABLE = INSTANTIATED | INITIALIZING | STEPPING | TERMINATED | IN_EVENT | IN_CONTINUOUS_TIME
};

typedef struct instance {
  mode mode;
  bool exchanges;  // whether the importer integrates (model exchange)
  fmu_run *run;
  fmi3InstanceEnvironment environment;
  fmi3LogMessageCallback log;
  bool logs;  // whether the importer wants messages without errors, of which there are none
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

// Returns whether a function may be called now, and reports if not.
static bool may(const instance *i, int modes, const char *function) {
  if (!i) return false;
  if ((int)i->mode & modes) return true;
  report(i, fmi3Error, function,
         i->mode == INSTANTIATED         ? "not allowed before fmi3EnterInitializationMode"
         : i->mode == INITIALIZING       ? "not allowed in initialization mode"
         : i->mode == STEPPING           ? "not allowed after fmi3ExitInitializationMode"
         : i->mode == IN_EVENT           ? "not allowed in event mode"
         : i->mode == IN_CONTINUOUS_TIME ? "not allowed in continuous-time mode"
         : i->mode == FAILED             ? "not allowed after an error; call fmi3Reset or fmi3SetFMUState"
                                         : "not allowed after fmi3Terminate");
  return false;
}

// Converts the result of a function of the run. The instance stays usable after an invalid argument.
static fmi3Status end(instance *i, od_status status, const char *function) {
  if (status == OD_OK) return fmi3OK;
  if (status != OD_BAD_ARGUMENT && status != OD_NOT_AVAILABLE && status != OD_BAD_INPUT) i->mode = FAILED;
  return report(i, fmi3Error, function, od_status_text(status));
}

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
                       : !token || strcmp(token, fmu_described.token) != 0 ? "the token is not that of this FMU"
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
  report(&wrong, fmi3Error, "fmi3InstantiateScheduledExecution", "this FMU supports co-simulation only");
  return NULL;
}

void FMI3_NAME(FreeInstance)(fmi3Instance i) {
  if (!i) return;
  fmu_free(((instance *)i)->run);
  free(i);
}

// ---- initialization and end

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

fmi3Status FMI3_NAME(ExitInitializationMode)(fmi3Instance instance_of) {
  instance *i = instance_of;
  if (!may(i, INITIALIZING, "fmi3ExitInitializationMode")) return fmi3Error;
  fmi3Status status = end(i, fmu_start(i->run), "fmi3ExitInitializationMode");
  if (status == fmi3OK) i->mode = i->exchanges ? IN_EVENT : STEPPING;
  return status;
}

fmi3Status FMI3_NAME(Terminate)(fmi3Instance instance_of) {
  instance *i = instance_of;
  if (!may(i, STEPPING | IN_EVENT | IN_CONTINUOUS_TIME, "fmi3Terminate")) return fmi3Error;
  i->mode = TERMINATED;
  return fmi3OK;
}

fmi3Status FMI3_NAME(Reset)(fmi3Instance instance_of) {
  instance *i = instance_of;
  if (!i) return fmi3Error;
  fmu_reset(i->run);
  i->mode = INSTANTIATED;
  if (i->exchanges) fmu_exchange(i->run);
  i->has_stop = false;
  return fmi3OK;
}

fmi3Status FMI3_NAME(EnterEventMode)(fmi3Instance instance_of) {
  instance *i = instance_of;
  if (!may(i, IN_CONTINUOUS_TIME | IN_EVENT, "fmi3EnterEventMode")) return fmi3Error;
  fmu_begin_event(i->run);
  i->mode = IN_EVENT;
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

// Finds a variable. Returns fmi3OK only for a variable of this type.
static fmi3Status find(instance *i, fmi3ValueReference vr, fmu_type type, const char *function, fmu_kind *kind,
                       int *index) {
  *kind = fmu_find(&fmu_described.variables, vr, index);
  if (*kind == FMU_KINDS) return report(i, fmi3Error, function, "there is no variable with this value reference");
  if (fmu_type_of(*kind) != type) return report(i, fmi3Error, function, "the variable has another type");
  return fmi3OK;
}

static fmi3Status get(instance *i, fmi3ValueReference vr, fmu_type type, const char *function, double *value) {
  fmu_kind kind;
  int index;
  fmi3Status status = find(i, vr, type, function, &kind, &index);
  return status == fmi3OK ? end(i, fmu_get(i->run, kind, index, value), function) : status;
}

static fmi3Status set(instance *i, fmi3ValueReference vr, fmu_type type, const char *function, double value) {
  fmu_kind kind;
  int index;
  fmi3Status status = find(i, vr, type, function, &kind, &index);
  if (status != fmi3OK) return status;
  od_status done = fmu_set(i->run, kind, index, value);
  if (done == OD_NOT_AVAILABLE) return report(i, fmi3Error, function, "this variable cannot be set");
  return done == OD_OK ? fmi3OK : report(i, fmi3Error, function, od_status_text(done));
}

// Defines the functions of a type of values that the FMU has.
#define VALUES(name, kind)                                                                                         \
  fmi3Status FMI3_NAME(Get##name)(fmi3Instance i, const fmi3ValueReference vr[], size_t count, fmi3##name value[], \
                                  size_t values) {                                                                 \
    double number = 0;                                                                                             \
    if (!may(i, READABLE, "fmi3Get" #name)) return fmi3Error;                                                      \
    if (values < count) return report(i, fmi3Error, "fmi3Get" #name, "too few values");                            \
    for (size_t k = 0; k < count; k++) {                                                                           \
      if (get(i, vr[k], kind, "fmi3Get" #name, &number) != fmi3OK) return fmi3Error;                               \
      value[k] = (fmi3##name)number;                                                                               \
    }                                                                                                              \
    return fmi3OK;                                                                                                 \
  }                                                                                                                \
  fmi3Status FMI3_NAME(Set##name)(fmi3Instance i, const fmi3ValueReference vr[], size_t count,                     \
                                  const fmi3##name value[], size_t values) {                                       \
    if (!may(i, SETTABLE, "fmi3Set" #name)) return fmi3Error;                                                      \
    if (values < count) return report(i, fmi3Error, "fmi3Set" #name, "too few values");                            \
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

// ---- saved states: mode and size, then the bytes of the run. Blocks are aligned for doubles.

typedef struct saved_state {
  uint64_t size;  // of the whole block
  uint64_t mode;
  _Alignas(16) unsigned char bytes[];
} saved_state;

fmi3Status FMI3_NAME(GetFMUState)(fmi3Instance instance_of, fmi3FMUState *state) {
  instance *i = instance_of;
  if (!may(i, SAVABLE, "fmi3GetFMUState")) return fmi3Error;
  size_t bytes = fmu_saved_size(i->run);
  if (bytes == 0) return report(i, fmi3Error, "fmi3GetFMUState", "the run cannot start");
  saved_state *s = *state;
  if (!s || s->size != sizeof *s + bytes) s = malloc(sizeof *s + bytes);
  if (!s) return report(i, fmi3Error, "fmi3GetFMUState", "out of memory");
  if (*state && s != *state) free(*state);
  *s = (saved_state){sizeof *s + bytes, (uint64_t)i->mode};
  *state = s;
  return end(i, fmu_save(i->run, s->bytes), "fmi3GetFMUState");
}

fmi3Status FMI3_NAME(SetFMUState)(fmi3Instance instance_of, fmi3FMUState state) {
  instance *i = instance_of;
  const saved_state *s = state;
  if (!may(i, SAVABLE | FAILED, "fmi3SetFMUState")) return fmi3Error;
  if (!s) return report(i, fmi3Error, "fmi3SetFMUState", "the state is missing");
  fmi3Status status = end(i, fmu_restore(i->run, s->bytes, (size_t)s->size - sizeof *s), "fmi3SetFMUState");
  if (status == fmi3OK) i->mode = (mode)s->mode;
  return status;
}

fmi3Status FMI3_NAME(FreeFMUState)(fmi3Instance i, fmi3FMUState *state) {
  if (!i) return fmi3Error;
  if (state) free(*state), *state = NULL;
  return fmi3OK;
}

fmi3Status FMI3_NAME(SerializedFMUStateSize)(fmi3Instance i, fmi3FMUState state, size_t *size) {
  if (!i || !state) return fmi3Error;
  *size = (size_t)((saved_state *)state)->size;
  return fmi3OK;
}

fmi3Status FMI3_NAME(SerializeFMUState)(fmi3Instance i, fmi3FMUState state, fmi3Byte bytes[], size_t size) {
  if (!i || !state) return fmi3Error;
  if (size < ((saved_state *)state)->size) return report(i, fmi3Error, "fmi3SerializeFMUState", "too few bytes");
  memcpy(bytes, state, (size_t)((saved_state *)state)->size);
  return fmi3OK;
}

fmi3Status FMI3_NAME(DeserializeFMUState)(fmi3Instance i, const fmi3Byte bytes[], size_t size, fmi3FMUState *state) {
  saved_state head;
  if (!i) return fmi3Error;
  if (size < sizeof head) return report(i, fmi3Error, "fmi3DeserializeFMUState", "the state is too short");
  memcpy(&head, bytes, sizeof head);
  bool possible = head.mode == INSTANTIATED || head.mode == INITIALIZING || head.mode == STEPPING ||
                  head.mode == TERMINATED || head.mode == IN_EVENT || head.mode == IN_CONTINUOUS_TIME;
  if (head.size != size || !possible)
    return report(i, fmi3Error, "fmi3DeserializeFMUState", "the bytes are not a state of this FMU");
  saved_state *s = malloc(size);
  if (!s) return report(i, fmi3Error, "fmi3DeserializeFMUState", "out of memory");
  memcpy(s, bytes, size);
  *state = s;
  return fmi3OK;
}

fmi3Status FMI3_NAME(GetDirectionalDerivative)(fmi3Instance instance_of, const fmi3ValueReference unknown[],
                                               size_t unknowns, const fmi3ValueReference known[], size_t knowns,
                                               const fmi3Float64 seed[], size_t seeds, fmi3Float64 sensitivity[],
                                               size_t sensitivities) {
  instance *i = instance_of;
  if (!may(i, INITIALIZING | STEPPING | IN_EVENT | IN_CONTINUOUS_TIME, "fmi3GetDirectionalDerivative"))
    return fmi3Error;
  if (seeds < knowns || sensitivities < unknowns)
    return report(i, fmi3Error, "fmi3GetDirectionalDerivative", "too few values");
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
    return report(i, fmi3Error, "fmi3DoStep",
                  "the step does not begin at the current time, or its length is not positive");
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
  fmu_event event = {0};
  if (!may(i, IN_EVENT, "fmi3UpdateDiscreteStates")) return fmi3Error;
  fmi3Status status = end(i, fmu_handle_event(i->run, &event), "fmi3UpdateDiscreteStates");
  if (status != fmi3OK) return status;
  if (needs_update) *needs_update = false;
  if (terminate) *terminate = false;
  if (nominals_changed) *nominals_changed = false;
  if (states_changed) *states_changed = event.states_changed;
  if (has_next_event) *has_next_event = isfinite(event.next);
  if (next_event) *next_event = isfinite(event.next) ? event.next : 0;
  return fmi3OK;
}

// ---- model exchange

fmi3Status FMI3_NAME(EnterContinuousTimeMode)(fmi3Instance instance_of) {
  instance *i = instance_of;
  if (!may(i, IN_EVENT, "fmi3EnterContinuousTimeMode")) return fmi3Error;
  fmu_end_event(i->run);
  i->mode = IN_CONTINUOUS_TIME;
  return fmi3OK;
}

fmi3Status FMI3_NAME(CompletedIntegratorStep)(fmi3Instance instance_of, fmi3Boolean no_earlier_state,
                                              fmi3Boolean *enter_event_mode, fmi3Boolean *terminate) {
  (void)no_earlier_state;
  instance *i = instance_of;
  if (!may(i, IN_CONTINUOUS_TIME, "fmi3CompletedIntegratorStep")) return fmi3Error;
  *enter_event_mode = fmu_wants_event(i->run);
  *terminate = false;
  return fmi3OK;
}

fmi3Status FMI3_NAME(SetTime)(fmi3Instance instance_of, fmi3Float64 time) {
  instance *i = instance_of;
  if (!may(i, IN_EVENT | IN_CONTINUOUS_TIME, "fmi3SetTime")) return fmi3Error;
  return end(i, fmu_set_time(i->run, time), "fmi3SetTime");
}

// Returns whether the FMU has this number of states or indicators, and reports if not.
static bool has_count(const instance *i, size_t count, fmu_kind kind, const char *function) {
  if (count == (size_t)fmu_described.variables.count[kind]) return true;
  report(i, fmi3Error, function, "the FMU has another number of these values");
  return false;
}

fmi3Status FMI3_NAME(SetContinuousStates)(fmi3Instance instance_of, const fmi3Float64 x[], size_t states) {
  instance *i = instance_of;
  if (!may(i, IN_CONTINUOUS_TIME, "fmi3SetContinuousStates")) return fmi3Error;
  if (!has_count(i, states, FMU_STATE, "fmi3SetContinuousStates")) return fmi3Error;
  return end(i, fmu_set_states(i->run, x), "fmi3SetContinuousStates");
}

// Computes all values of a kind.
static fmi3Status get_all(instance *i, fmu_kind kind, double *value, size_t count, const char *function) {
  if (!may(i, INITIALIZING | IN_EVENT | IN_CONTINUOUS_TIME | TERMINATED, function)) return fmi3Error;
  if (!i->exchanges) return report(i, fmi3Error, function, "not allowed in co-simulation");
  if (!has_count(i, count, kind, function)) return fmi3Error;
  for (size_t k = 0; k < count; k++) {
    fmi3Status status = end(i, fmu_get(i->run, kind, (int)k, &value[k]), function);
    if (status != fmi3OK) return status;
  }
  return fmi3OK;
}

fmi3Status FMI3_NAME(GetContinuousStateDerivatives)(fmi3Instance i, fmi3Float64 derivative[], size_t states) {
  return get_all(i, FMU_DERIVATIVE, derivative, states, "fmi3GetContinuousStateDerivatives");
}
fmi3Status FMI3_NAME(GetEventIndicators)(fmi3Instance i, fmi3Float64 value[], size_t indicators) {
  return get_all(i, FMU_INDICATOR, value, indicators, "fmi3GetEventIndicators");
}
fmi3Status FMI3_NAME(GetContinuousStates)(fmi3Instance i, fmi3Float64 x[], size_t states) {
  return get_all(i, FMU_STATE, x, states, "fmi3GetContinuousStates");
}
fmi3Status FMI3_NAME(GetNominalsOfContinuousStates)(fmi3Instance instance_of, fmi3Float64 nominal[], size_t states) {
  instance *i = instance_of;
  if (!may(i, ~(INSTANTIATED | FAILED), "fmi3GetNominalsOfContinuousStates")) return fmi3Error;
  if (!has_count(i, states, FMU_STATE, "fmi3GetNominalsOfContinuousStates")) return fmi3Error;
  for (size_t k = 0; k < states; k++) nominal[k] = fmu_described.nominal[k];
  return fmi3OK;
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
