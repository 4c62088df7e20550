// The common part of FMI 2.0 and FMI 3.0, compiled for one of them: the order of calls, access to variables, saved states, model exchange.
// The version defines before: FMI(name), its types and constants; FMI_NAME(name), its functions; FMI_CALLED(name), the text of their names;
// the struct `instance` with mode, exchanges, run, has_stop and stop; and report(). FMI 2 spells some names in another way.

typedef FMI(Status) fmi_status;
typedef FMI(Boolean) fmi_boolean;
typedef FMI(Byte) fmi_byte;

// Returns whether a function may be called now. If not, reports an error.
static bool may(const instance *i, int modes, const char *function) {
  if (!i) return false;
  if ((int)i->mode & modes) return true;
  report(i, FMI(Error), function,
         i->mode == INSTANTIATED         ? "not allowed before " FMI_CALLED(EnterInitializationMode)
         : i->mode == INITIALIZING       ? "not allowed in initialization mode"
         : i->mode == STEPPING           ? "not allowed after " FMI_CALLED(ExitInitializationMode)
         : i->mode == IN_EVENT           ? "not allowed in event mode"
         : i->mode == IN_CONTINUOUS_TIME ? "not allowed in continuous-time mode"
         : i->mode == FAILED ? "not allowed after an error; call " FMI_CALLED(Reset) " or " FMI_CALLED(SetFMUState)
                             : "not allowed after " FMI_CALLED(Terminate));
  return false;
}

// Converts the result of a function of the run. The instance stays usable after an invalid argument.
static fmi_status end(instance *i, od_status status, const char *function) {
  if (status == OD_OK) return FMI(OK);
  if (status != OD_BAD_ARGUMENT && status != OD_NOT_AVAILABLE && status != OD_BAD_INPUT) i->mode = FAILED;
  return report(i, FMI(Error), function, od_status_text(status));
}

// ---- initialization and end

fmi_status FMI_NAME(ExitInitializationMode)(void *c) {
  instance *i = c;
  if (!may(i, INITIALIZING, FMI_CALLED(ExitInitializationMode))) return FMI(Error);
  fmi_status status = end(i, fmu_start(i->run), FMI_CALLED(ExitInitializationMode));
  if (status == FMI(OK)) i->mode = i->exchanges ? IN_EVENT : STEPPING;
  return status;
}

fmi_status FMI_NAME(Terminate)(void *c) {
  instance *i = c;
  if (!may(i, STEPPING | IN_EVENT | IN_CONTINUOUS_TIME, FMI_CALLED(Terminate))) return FMI(Error);
  i->mode = TERMINATED;
  return FMI(OK);
}

fmi_status FMI_NAME(Reset)(void *c) {
  instance *i = c;
  if (!i) return FMI(Error);
  fmu_reset(i->run);
  i->mode = INSTANTIATED;
  if (i->exchanges) fmu_exchange(i->run);
  i->has_stop = false;
  return FMI(OK);
}

// ---- values

// Finds a variable. Returns FMI(OK) only for a variable of this type.
static fmi_status find(instance *i, uint32_t vr, fmu_type type, const char *function, fmu_kind *kind, int *index) {
  *kind = fmu_find(&fmu_described.variables, vr, index);
  if (*kind == FMU_KINDS) return report(i, FMI(Error), function, "there is no variable with this value reference");
  if (fmu_type_of(*kind) != type) return report(i, FMI(Error), function, "the variable has another type");
  return FMI(OK);
}

static fmi_status get(instance *i, uint32_t vr, fmu_type type, const char *function, double *value) {
  fmu_kind kind;
  int index;
  fmi_status status = find(i, vr, type, function, &kind, &index);
  return status == FMI(OK) ? end(i, fmu_get(i->run, kind, index, value), function) : status;
}

static fmi_status set(instance *i, uint32_t vr, fmu_type type, const char *function, double value) {
  fmu_kind kind;
  int index;
  fmi_status status = find(i, vr, type, function, &kind, &index);
  if (status != FMI(OK)) return status;
  od_status done = fmu_set(i->run, kind, index, value);
  if (done == OD_NOT_AVAILABLE) return report(i, FMI(Error), function, "this variable cannot be set");
  return done == OD_OK ? FMI(OK) : report(i, FMI(Error), function, od_status_text(done));
}

// ---- saved states: mode and size, then the bytes of the run. Blocks are aligned for doubles.

typedef struct saved_state {
  uint64_t size;  // of the whole block
  uint64_t mode;
  _Alignas(16) unsigned char bytes[];
} saved_state;

fmi_status FMI_NAME(GetFMUState)(void *c, void **state) {
  instance *i = c;
  if (!may(i, SAVABLE, FMI_CALLED(GetFMUState))) return FMI(Error);
  size_t bytes = fmu_saved_size(i->run);
  if (bytes == 0) return report(i, FMI(Error), FMI_CALLED(GetFMUState), "the run cannot start");
  saved_state *s = *state;
  if (!s || s->size != sizeof *s + bytes) s = malloc(sizeof *s + bytes);
  if (!s) return report(i, FMI(Error), FMI_CALLED(GetFMUState), "out of memory");
  if (*state && s != *state) free(*state);
  *s = (saved_state){sizeof *s + bytes, (uint64_t)i->mode};
  *state = s;
  return end(i, fmu_save(i->run, s->bytes), FMI_CALLED(GetFMUState));
}

fmi_status FMI_NAME(SetFMUState)(void *c, void *state) {
  instance *i = c;
  const saved_state *s = state;
  if (!may(i, SAVABLE | FAILED, FMI_CALLED(SetFMUState))) return FMI(Error);
  if (!s) return report(i, FMI(Error), FMI_CALLED(SetFMUState), "the state is missing");
  fmi_status status = end(i, fmu_restore(i->run, s->bytes, (size_t)s->size - sizeof *s), FMI_CALLED(SetFMUState));
  if (status == FMI(OK)) i->mode = (mode)s->mode;
  return status;
}

fmi_status FMI_NAME(FreeFMUState)(void *c, void **state) {
  if (!c) return FMI(Error);
  if (state) free(*state), *state = NULL;
  return FMI(OK);
}

fmi_status FMI_NAME(SerializedFMUStateSize)(void *c, void *state, size_t *size) {
  if (!c || !state) return FMI(Error);
  *size = (size_t)((saved_state *)state)->size;
  return FMI(OK);
}

fmi_status FMI_NAME(SerializeFMUState)(void *c, void *state, fmi_byte bytes[], size_t size) {
  if (!c || !state) return FMI(Error);
  if (size < ((saved_state *)state)->size)
    return report(c, FMI(Error), FMI_CALLED(SerializeFMUState),
                  "too few bytes; expected the size of " FMI_CALLED(SerializedFMUStateSize));
  memcpy(bytes, state, (size_t)((saved_state *)state)->size);
  return FMI(OK);
}

fmi_status FMI_NAME(DeserializeFMUState)(void *c, const fmi_byte bytes[], size_t size, void **state) {
  saved_state head;
  if (!c) return FMI(Error);
  if (size < sizeof head) return report(c, FMI(Error), FMI_CALLED(DeserializeFMUState), "the state is too short");
  memcpy(&head, bytes, sizeof head);
  bool possible = head.mode == INSTANTIATED || head.mode == INITIALIZING || head.mode == STEPPING ||
                  head.mode == TERMINATED || head.mode == IN_EVENT || head.mode == IN_CONTINUOUS_TIME;
  if (head.size != size || !possible)
    return report(c, FMI(Error), FMI_CALLED(DeserializeFMUState), "the bytes are not a state of this FMU");
  saved_state *s = malloc(size);
  if (!s) return report(c, FMI(Error), FMI_CALLED(DeserializeFMUState), "out of memory");
  memcpy(s, bytes, size);
  *state = s;
  return FMI(OK);
}

// ---- model exchange

fmi_status FMI_NAME(EnterEventMode)(void *c) {
  instance *i = c;
  if (!may(i, IN_CONTINUOUS_TIME | IN_EVENT, FMI_CALLED(EnterEventMode))) return FMI(Error);
  fmu_begin_event(i->run);
  i->mode = IN_EVENT;
  return FMI(OK);
}

fmi_status FMI_NAME(EnterContinuousTimeMode)(void *c) {
  instance *i = c;
  if (!may(i, IN_EVENT, FMI_CALLED(EnterContinuousTimeMode))) return FMI(Error);
  fmu_end_event(i->run);
  i->mode = IN_CONTINUOUS_TIME;
  return FMI(OK);
}

fmi_status FMI_NAME(CompletedIntegratorStep)(void *c, fmi_boolean no_earlier_state, fmi_boolean *enter_event_mode,
                                             fmi_boolean *terminate) {
  (void)no_earlier_state;
  instance *i = c;
  if (!may(i, IN_CONTINUOUS_TIME, FMI_CALLED(CompletedIntegratorStep))) return FMI(Error);
  *enter_event_mode = fmu_wants_event(i->run);
  *terminate = false;
  return FMI(OK);
}

fmi_status FMI_NAME(SetTime)(void *c, double time) {
  instance *i = c;
  if (!may(i, IN_EVENT | IN_CONTINUOUS_TIME, FMI_CALLED(SetTime))) return FMI(Error);
  return end(i, fmu_set_time(i->run, time), FMI_CALLED(SetTime));
}

// Returns whether the FMU has this number of states or indicators. If not, reports an error.
static bool has_count(const instance *i, size_t count, fmu_kind kind, const char *function) {
  if (count == (size_t)fmu_described.variables.count[kind]) return true;
  report(i, FMI(Error), function, "the FMU has another number of these values");
  return false;
}

fmi_status FMI_NAME(SetContinuousStates)(void *c, const double x[], size_t states) {
  instance *i = c;
  if (!may(i, IN_CONTINUOUS_TIME, FMI_CALLED(SetContinuousStates))) return FMI(Error);
  if (!has_count(i, states, FMU_STATE, FMI_CALLED(SetContinuousStates))) return FMI(Error);
  return end(i, fmu_set_states(i->run, x), FMI_CALLED(SetContinuousStates));
}

// Computes all values of a kind.
static fmi_status get_all(instance *i, fmu_kind kind, double *value, size_t count, const char *function) {
  if (!may(i, INITIALIZING | IN_EVENT | IN_CONTINUOUS_TIME | TERMINATED, function)) return FMI(Error);
  if (!i->exchanges) return report(i, FMI(Error), function, "not allowed in co-simulation");
  if (!has_count(i, count, kind, function)) return FMI(Error);
  for (size_t k = 0; k < count; k++) {
    fmi_status status = end(i, fmu_get(i->run, kind, (int)k, &value[k]), function);
    if (status != FMI(OK)) return status;
  }
  return FMI(OK);
}

fmi_status FMI_NAME(GetEventIndicators)(void *c, double value[], size_t indicators) {
  return get_all(c, FMU_INDICATOR, value, indicators, FMI_CALLED(GetEventIndicators));
}
fmi_status FMI_NAME(GetContinuousStates)(void *c, double x[], size_t states) {
  return get_all(c, FMU_STATE, x, states, FMI_CALLED(GetContinuousStates));
}
fmi_status FMI_NAME(GetNominalsOfContinuousStates)(void *c, double nominal[], size_t states) {
  instance *i = c;
  if (!may(i, ~(INSTANTIATED | FAILED), FMI_CALLED(GetNominalsOfContinuousStates))) return FMI(Error);
  if (!has_count(i, states, FMU_STATE, FMI_CALLED(GetNominalsOfContinuousStates))) return FMI(Error);
  for (size_t k = 0; k < states; k++) nominal[k] = fmu_described.nominal[k];
  return FMI(OK);
}
