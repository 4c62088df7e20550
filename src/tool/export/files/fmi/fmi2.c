// The functions of FMI 2.0: the order of calls, types of variables, messages. The run itself is in fmu_machine.c or fmu_observer.c.
#include "fmi2.h"

#include <math.h>
#include <stdarg.h>
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

// Returns whether a function may be called now, and reports if not.
static bool may(const instance *i, int modes, const char *function) {
  if (!i) return false;
  if ((int)i->mode & modes) return true;
  report(i, fmi2Error, function,
         i->mode == INSTANTIATED         ? "not allowed before fmi2EnterInitializationMode"
         : i->mode == INITIALIZING       ? "not allowed in initialization mode"
         : i->mode == STEPPING           ? "not allowed after fmi2ExitInitializationMode"
         : i->mode == IN_EVENT           ? "not allowed in event mode"
         : i->mode == IN_CONTINUOUS_TIME ? "not allowed in continuous-time mode"
         : i->mode == FAILED             ? "not allowed after an error; call fmi2Reset or fmi2SetFMUstate"
                                         : "not allowed after fmi2Terminate");
  return false;
}

// Converts the result of a function of the run. The instance stays usable after an invalid argument.
static fmi2Status end(instance *i, od_status status, const char *function) {
  if (status == OD_OK) return fmi2OK;
  if (status != OD_BAD_ARGUMENT && status != OD_NOT_AVAILABLE && status != OD_BAD_INPUT) i->mode = FAILED;
  return report(i, fmi2Error, function, od_status_text(status));
}

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
                       : !guid || strcmp(guid, fmu_described.token) != 0       ? "the guid is not that of this FMU"
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

// ---- initialization and end

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

fmi2Status FMI2_NAME(ExitInitializationMode)(fmi2Component c) {
  instance *i = c;
  if (!may(i, INITIALIZING, "fmi2ExitInitializationMode")) return fmi2Error;
  fmi2Status status = end(i, fmu_start(i->run), "fmi2ExitInitializationMode");
  if (status == fmi2OK) i->mode = i->exchanges ? IN_EVENT : STEPPING;
  return status;
}

fmi2Status FMI2_NAME(Terminate)(fmi2Component c) {
  instance *i = c;
  if (!may(i, STEPPING | IN_EVENT | IN_CONTINUOUS_TIME, "fmi2Terminate")) return fmi2Error;
  i->mode = TERMINATED;
  return fmi2OK;
}

fmi2Status FMI2_NAME(Reset)(fmi2Component c) {
  instance *i = c;
  if (!i) return fmi2Error;
  fmu_reset(i->run);
  i->mode = INSTANTIATED;
  if (i->exchanges) fmu_exchange(i->run);
  i->has_stop = fmi2False;
  return fmi2OK;
}

// ---- values

// Finds variable k of a list. Returns fmi2OK only for a variable of this type.
static fmi2Status find(instance *i, fmi2ValueReference vr, fmu_type type, const char *function, fmu_kind *kind,
                       int *index) {
  *kind = fmu_find(&fmu_described.variables, vr, index);
  if (*kind == FMU_KINDS) return report(i, fmi2Error, function, "there is no variable with this value reference");
  if (fmu_type_of(*kind) != type) return report(i, fmi2Error, function, "the variable has another type");
  return fmi2OK;
}

static fmi2Status get(instance *i, fmi2ValueReference vr, fmu_type type, const char *function, double *value) {
  fmu_kind kind;
  int index;
  fmi2Status status = find(i, vr, type, function, &kind, &index);
  return status == fmi2OK ? end(i, fmu_get(i->run, kind, index, value), function) : status;
}

static fmi2Status set(instance *i, fmi2ValueReference vr, fmu_type type, const char *function, double value) {
  fmu_kind kind;
  int index;
  fmi2Status status = find(i, vr, type, function, &kind, &index);
  if (status != fmi2OK) return status;
  od_status done = fmu_set(i->run, kind, index, value);
  if (done == OD_NOT_AVAILABLE) return report(i, fmi2Error, function, "this variable cannot be set");
  return done == OD_OK ? fmi2OK : report(i, fmi2Error, function, od_status_text(done));
}

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

// ---- saved states: mode and size, then the bytes of the run. Blocks are aligned for doubles.

typedef struct saved_state {
  size_t size;  // of the whole block
  size_t mode;
  _Alignas(16) unsigned char bytes[];
} saved_state;
static const int savable = INSTANTIATED | INITIALIZING | STEPPING | TERMINATED | IN_EVENT | IN_CONTINUOUS_TIME;

fmi2Status FMI2_NAME(GetFMUstate)(fmi2Component c, fmi2FMUstate *state) {
  instance *i = c;
  if (!may(i, savable, "fmi2GetFMUstate")) return fmi2Error;
  size_t bytes = fmu_saved_size(i->run);
  if (bytes == 0) return report(i, fmi2Error, "fmi2GetFMUstate", "the run cannot start");
  saved_state *s = *state;
  if (!s || s->size != sizeof *s + bytes) s = malloc(sizeof *s + bytes);
  if (!s) return report(i, fmi2Error, "fmi2GetFMUstate", "out of memory");
  if (*state && s != *state) free(*state);
  *s = (saved_state){sizeof *s + bytes, (size_t)i->mode};
  *state = s;
  return end(i, fmu_save(i->run, s->bytes), "fmi2GetFMUstate");
}

fmi2Status FMI2_NAME(SetFMUstate)(fmi2Component c, fmi2FMUstate state) {
  instance *i = c;
  const saved_state *s = state;
  if (!may(i, savable | FAILED, "fmi2SetFMUstate")) return fmi2Error;
  if (!s) return report(i, fmi2Error, "fmi2SetFMUstate", "the state is missing");
  fmi2Status status = end(i, fmu_restore(i->run, s->bytes, s->size - sizeof *s), "fmi2SetFMUstate");
  if (status == fmi2OK) i->mode = (mode)s->mode;
  return status;
}

fmi2Status FMI2_NAME(FreeFMUstate)(fmi2Component c, fmi2FMUstate *state) {
  if (!c) return fmi2Error;
  if (state) free(*state), *state = NULL;
  return fmi2OK;
}

fmi2Status FMI2_NAME(SerializedFMUstateSize)(fmi2Component c, fmi2FMUstate state, size_t *size) {
  if (!c || !state) return fmi2Error;
  *size = ((saved_state *)state)->size;
  return fmi2OK;
}

fmi2Status FMI2_NAME(SerializeFMUstate)(fmi2Component c, fmi2FMUstate state, fmi2Byte bytes[], size_t size) {
  if (!c || !state) return fmi2Error;
  if (size < ((saved_state *)state)->size) return report(c, fmi2Error, "fmi2SerializeFMUstate", "too few bytes");
  memcpy(bytes, state, ((saved_state *)state)->size);
  return fmi2OK;
}

fmi2Status FMI2_NAME(DeSerializeFMUstate)(fmi2Component c, const fmi2Byte bytes[], size_t size, fmi2FMUstate *state) {
  instance *i = c;
  saved_state head;
  if (!i) return fmi2Error;
  if (size < sizeof head) return report(i, fmi2Error, "fmi2DeSerializeFMUstate", "the state is too short");
  memcpy(&head, bytes, sizeof head);
  bool possible = head.mode == INSTANTIATED || head.mode == INITIALIZING || head.mode == STEPPING ||
                  head.mode == TERMINATED || head.mode == IN_EVENT || head.mode == IN_CONTINUOUS_TIME;
  if (head.size != size || !possible)
    return report(i, fmi2Error, "fmi2DeSerializeFMUstate", "the bytes are not a state of this FMU");
  saved_state *s = malloc(size);
  if (!s) return report(i, fmi2Error, "fmi2DeSerializeFMUstate", "out of memory");
  memcpy(s, bytes, size);
  *state = s;
  return fmi2OK;
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
    return report(i, fmi2Error, "fmi2DoStep",
                  "the step does not begin at the current time, or its length is not positive");
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

fmi2Status FMI2_NAME(EnterEventMode)(fmi2Component c) {
  instance *i = c;
  if (!may(i, IN_CONTINUOUS_TIME | IN_EVENT, "fmi2EnterEventMode")) return fmi2Error;
  fmu_begin_event(i->run);
  i->mode = IN_EVENT;
  return fmi2OK;
}

fmi2Status FMI2_NAME(NewDiscreteStates)(fmi2Component c, fmi2EventInfo *info) {
  instance *i = c;
  fmu_event event = {0};
  if (!may(i, IN_EVENT, "fmi2NewDiscreteStates")) return fmi2Error;
  fmi2Status status = end(i, fmu_handle_event(i->run, &event), "fmi2NewDiscreteStates");
  if (status != fmi2OK) return status;
  *info = (fmi2EventInfo){.valuesOfContinuousStatesChanged = event.states_changed,
                          .nextEventTimeDefined = isfinite(event.next),
                          .nextEventTime = isfinite(event.next) ? event.next : 0};
  return fmi2OK;
}

fmi2Status FMI2_NAME(EnterContinuousTimeMode)(fmi2Component c) {
  instance *i = c;
  if (!may(i, IN_EVENT, "fmi2EnterContinuousTimeMode")) return fmi2Error;
  fmu_end_event(i->run);
  i->mode = IN_CONTINUOUS_TIME;
  return fmi2OK;
}

fmi2Status FMI2_NAME(CompletedIntegratorStep)(fmi2Component c, fmi2Boolean no_earlier_state,
                                              fmi2Boolean *enter_event_mode, fmi2Boolean *terminate) {
  (void)no_earlier_state;
  instance *i = c;
  if (!may(i, IN_CONTINUOUS_TIME, "fmi2CompletedIntegratorStep")) return fmi2Error;
  *enter_event_mode = fmu_wants_event(i->run);
  *terminate = fmi2False;
  return fmi2OK;
}

fmi2Status FMI2_NAME(SetTime)(fmi2Component c, fmi2Real time) {
  instance *i = c;
  if (!may(i, IN_EVENT | IN_CONTINUOUS_TIME, "fmi2SetTime")) return fmi2Error;
  return end(i, fmu_set_time(i->run, time), "fmi2SetTime");
}

// Returns whether the FMU has this number of states or indicators, and reports if not.
static bool has_count(const instance *i, size_t count, fmu_kind kind, const char *function) {
  if (count == (size_t)fmu_described.variables.count[kind]) return true;
  report(i, fmi2Error, function, "the FMU has another number of these values");
  return false;
}

fmi2Status FMI2_NAME(SetContinuousStates)(fmi2Component c, const fmi2Real x[], size_t states) {
  instance *i = c;
  if (!may(i, IN_CONTINUOUS_TIME, "fmi2SetContinuousStates")) return fmi2Error;
  if (!has_count(i, states, FMU_STATE, "fmi2SetContinuousStates")) return fmi2Error;
  return end(i, fmu_set_states(i->run, x), "fmi2SetContinuousStates");
}

// Computes all values of a kind.
static fmi2Status get_all(instance *i, fmu_kind kind, double *value, size_t count, const char *function) {
  if (!may(i, INITIALIZING | IN_EVENT | IN_CONTINUOUS_TIME | TERMINATED, function)) return fmi2Error;
  if (!i->exchanges) return report(i, fmi2Error, function, "not allowed in co-simulation");
  if (!has_count(i, count, kind, function)) return fmi2Error;
  for (size_t k = 0; k < count; k++) {
    fmi2Status status = end(i, fmu_get(i->run, kind, (int)k, &value[k]), function);
    if (status != fmi2OK) return status;
  }
  return fmi2OK;
}

fmi2Status FMI2_NAME(GetDerivatives)(fmi2Component c, fmi2Real derivative[], size_t states) {
  return get_all(c, FMU_DERIVATIVE, derivative, states, "fmi2GetDerivatives");
}
fmi2Status FMI2_NAME(GetEventIndicators)(fmi2Component c, fmi2Real indicator[], size_t indicators) {
  return get_all(c, FMU_INDICATOR, indicator, indicators, "fmi2GetEventIndicators");
}
fmi2Status FMI2_NAME(GetContinuousStates)(fmi2Component c, fmi2Real x[], size_t states) {
  return get_all(c, FMU_STATE, x, states, "fmi2GetContinuousStates");
}
fmi2Status FMI2_NAME(GetNominalsOfContinuousStates)(fmi2Component c, fmi2Real nominal[], size_t states) {
  instance *i = c;
  if (!may(i, ~(INSTANTIATED | FAILED), "fmi2GetNominalsOfContinuousStates")) return fmi2Error;
  if (!has_count(i, states, FMU_STATE, "fmi2GetNominalsOfContinuousStates")) return fmi2Error;
  for (size_t k = 0; k < states; k++) nominal[k] = fmu_described.nominal[k];
  return fmi2OK;
}
