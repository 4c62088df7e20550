// An FMU of FMI 2 for tests: a mass on a spring, m s'' = F - k s - d v, with force F (input) and position s, velocity v (outputs).
// Model exchange with directional derivatives; co-simulation with 100 internal steps. The parameter `fault` makes it misbehave.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "export/files/fmi/fmi2.h"

// Value references.
enum { F, S, V, A, M, K, D, FAULT, VARIABLES };
// Faults, from the time 0.1 s on. CRASHES_AT_START: in fmi2ExitInitializationMode().
enum { NO_FAULT, CRASHES, HANGS, RETURNS_ERROR, EXITS, CRASHES_AT_START };

typedef struct oscillator {
  double value[VARIABLES], time;
  int is_stepping;  // whether the instance is for co-simulation
} oscillator;

static volatile int *nowhere;

static fmi2Status misbehave(const oscillator *o) {
  if (o->time < 0.1) return fmi2OK;
  if (o->value[FAULT] == CRASHES) *nowhere = 1;
  if (o->value[FAULT] == HANGS)
    for (volatile int i = 0;; i++) continue;
  if (o->value[FAULT] == EXITS) exit(0);
  return o->value[FAULT] == RETURNS_ERROR ? fmi2Error : fmi2OK;
}

static void find_acceleration(oscillator *o) {
  o->value[A] = (o->value[F] - o->value[K] * o->value[S] - o->value[D] * o->value[V]) / o->value[M];
}

#define EXPORT __attribute__((visibility("default")))

EXPORT const char *fmi2GetTypesPlatform(void) {
  return "default";
}
EXPORT const char *fmi2GetVersion(void) {
  return "2.0";
}
EXPORT fmi2Component fmi2Instantiate(fmi2String name, fmi2Type type, fmi2String guid, fmi2String resources,
                                     const fmi2CallbackFunctions *functions, fmi2Boolean visible, fmi2Boolean logging) {
  (void)name, (void)resources, (void)functions, (void)visible, (void)logging;
  if (strcmp(guid, "{oscillator}") != 0) return NULL;
  oscillator *o = calloc(1, sizeof *o);
  o->value[M] = 2, o->value[K] = 50, o->value[D] = 1, o->value[S] = 0.1;
  o->is_stepping = type == fmi2CoSimulation;
  return o;
}
EXPORT void fmi2FreeInstance(fmi2Component c) {
  free(c);
}
EXPORT fmi2Status fmi2SetupExperiment(fmi2Component c, fmi2Boolean has_tolerance, fmi2Real tolerance, fmi2Real start,
                                      fmi2Boolean has_stop, fmi2Real stop) {
  (void)has_tolerance, (void)tolerance, (void)has_stop, (void)stop;
  ((oscillator *)c)->time = start;
  return fmi2OK;
}
EXPORT fmi2Status fmi2EnterInitializationMode(fmi2Component c) {
  return c ? fmi2OK : fmi2Error;
}
EXPORT fmi2Status fmi2ExitInitializationMode(fmi2Component c) {
  if (((oscillator *)c)->value[FAULT] == CRASHES_AT_START) *nowhere = 1;
  return fmi2OK;
}
EXPORT fmi2Status fmi2SetReal(fmi2Component c, const fmi2ValueReference *vr, size_t count, const fmi2Real *value) {
  for (size_t i = 0; i < count; i++) ((oscillator *)c)->value[vr[i]] = value[i];
  return fmi2OK;
}
EXPORT fmi2Status fmi2GetReal(fmi2Component c, const fmi2ValueReference *vr, size_t count, fmi2Real *value) {
  find_acceleration(c);
  for (size_t i = 0; i < count; i++) value[i] = ((oscillator *)c)->value[vr[i]];
  return fmi2OK;
}
EXPORT fmi2Status fmi2SetInteger(fmi2Component c, const fmi2ValueReference *vr, size_t count,
                                 const fmi2Integer *value) {
  for (size_t i = 0; i < count; i++) ((oscillator *)c)->value[vr[i]] = value[i];
  return fmi2OK;
}
EXPORT fmi2Status fmi2NewDiscreteStates(fmi2Component c, fmi2EventInfo *info) {
  (void)c;
  *info = (fmi2EventInfo){0};
  return fmi2OK;
}
EXPORT fmi2Status fmi2EnterEventMode(fmi2Component c) {
  return c ? fmi2OK : fmi2Error;
}
EXPORT fmi2Status fmi2EnterContinuousTimeMode(fmi2Component c) {
  return c ? fmi2OK : fmi2Error;
}
EXPORT fmi2Status fmi2SetTime(fmi2Component c, fmi2Real t) {
  return ((oscillator *)c)->time = t, fmi2OK;
}
EXPORT fmi2Status fmi2SetContinuousStates(fmi2Component c, const fmi2Real *x, size_t count) {
  memcpy(((oscillator *)c)->value + S, x, count * sizeof *x);
  return fmi2OK;
}
EXPORT fmi2Status fmi2GetContinuousStates(fmi2Component c, fmi2Real *x, size_t count) {
  memcpy(x, ((oscillator *)c)->value + S, count * sizeof *x);
  return fmi2OK;
}
EXPORT fmi2Status fmi2GetNominalsOfContinuousStates(fmi2Component c, fmi2Real *x, size_t count) {
  for (size_t i = 0; c && i < count; i++) x[i] = 1;
  return fmi2OK;
}
EXPORT fmi2Status fmi2GetDerivatives(fmi2Component c, fmi2Real *rate, size_t count) {
  oscillator *o = c;
  find_acceleration(o);
  for (size_t i = 0; i < count; i++) rate[i] = o->value[V + i];
  return misbehave(o);
}
EXPORT fmi2Status fmi2GetEventIndicators(fmi2Component c, fmi2Real *z, size_t count) {
  (void)z, (void)count;
  return c ? fmi2OK : fmi2Error;
}
// Unknowns: s', which is v, and v'. Knowns: F, s, v.
EXPORT fmi2Status fmi2GetDirectionalDerivative(fmi2Component c, const fmi2ValueReference *unknown, size_t unknowns,
                                               const fmi2ValueReference *known, size_t knowns, const fmi2Real *change,
                                               fmi2Real *result) {
  const double *p = ((oscillator *)c)->value;
  for (size_t i = 0; i < unknowns; i++) {
    result[i] = 0;
    for (size_t j = 0; j < knowns; j++) {
      double by = known[j] == F ? 1 : known[j] == S ? -p[K] : -p[D];
      if (unknown[i] == A) result[i] += by / p[M] * change[j];
      if (unknown[i] == V && known[j] == V) result[i] += change[j];
      if (unknown[i] != A && unknown[i] != V) return fmi2Error;
    }
  }
  return fmi2OK;
}
EXPORT fmi2Status fmi2DoStep(fmi2Component c, fmi2Real t, fmi2Real h, fmi2Boolean no_earlier_state) {
  enum { STEPS = 100 };
  oscillator *o = c;
  (void)no_earlier_state;
  for (int i = 0; i < STEPS; i++) {
    find_acceleration(o);
    o->value[V] += h / STEPS * o->value[A];
    o->value[S] += h / STEPS * o->value[V];
  }
  o->time = t + h;
  return misbehave(o);
}
#ifdef SAVES_STATE
EXPORT fmi2Status fmi2GetFMUstate(fmi2Component c, fmi2FMUstate *state) {
  if (!*state) *state = malloc(sizeof(oscillator));
  memcpy(*state, c, sizeof(oscillator));
  return fmi2OK;
}
EXPORT fmi2Status fmi2SetFMUstate(fmi2Component c, fmi2FMUstate state) {
  return memcpy(c, state, sizeof(oscillator)), fmi2OK;
}
EXPORT fmi2Status fmi2FreeFMUstate(fmi2Component c, fmi2FMUstate *state) {
  (void)c;
  free(*state);
  *state = NULL;
  return fmi2OK;
}
EXPORT fmi2Status fmi2SerializedFMUstateSize(fmi2Component c, fmi2FMUstate state, size_t *size) {
  (void)c, (void)state;
  *size = sizeof(oscillator);
  return fmi2OK;
}
EXPORT fmi2Status fmi2SerializeFMUstate(fmi2Component c, fmi2FMUstate state, fmi2Byte *bytes, size_t size) {
  (void)c;
  memcpy(bytes, state, size);
  return fmi2OK;
}
EXPORT fmi2Status fmi2DeSerializeFMUstate(fmi2Component c, const fmi2Byte *bytes, size_t size, fmi2FMUstate *state) {
  (void)c;
  *state = malloc(size);
  memcpy(*state, bytes, size);
  return fmi2OK;
}
#endif
