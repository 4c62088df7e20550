// An FMU of FMI 3 for tests: a ball that bounces on the ground (an event indicator), counts its bounces, and is lifted to 1 m at 1.5 s
// (a time event). Model exchange without directional derivatives.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "export/files/fmi/fmi3.h"

// Value references: height, velocity, acceleration, coefficient of restitution, number of bounces.
enum { H = 1, V, A, E, COUNT, VARIABLES };

typedef struct ball {
  double value[VARIABLES], time;
  int was_lifted;
} ball;

#define EXPORT __attribute__((visibility("default")))

EXPORT const char *fmi3GetVersion(void) {
  return "3.0";
}
EXPORT fmi3Instance fmi3InstantiateModelExchange(fmi3String name, fmi3String token, fmi3String resources,
                                                 fmi3Boolean visible, fmi3Boolean logging,
                                                 fmi3InstanceEnvironment environment, fmi3LogMessageCallback log) {
  (void)name, (void)resources, (void)visible, (void)logging, (void)environment, (void)log;
  if (strcmp(token, "{ball}") != 0) return NULL;
  ball *b = calloc(1, sizeof *b);
  b->value[H] = 1, b->value[A] = -9.81, b->value[E] = 0.7;
  return b;
}
EXPORT void fmi3FreeInstance(fmi3Instance i) {
  free(i);
}
EXPORT fmi3Status fmi3EnterInitializationMode(fmi3Instance i, fmi3Boolean has_tolerance, fmi3Float64 tolerance,
                                              fmi3Float64 start, fmi3Boolean has_stop, fmi3Float64 stop) {
  (void)has_tolerance, (void)tolerance, (void)has_stop, (void)stop;
  ((ball *)i)->time = start;
  return fmi3OK;
}
EXPORT fmi3Status fmi3ExitInitializationMode(fmi3Instance i) {
  return i ? fmi3OK : fmi3Error;
}
EXPORT fmi3Status fmi3EnterEventMode(fmi3Instance i) {
  return i ? fmi3OK : fmi3Error;
}
EXPORT fmi3Status fmi3EnterContinuousTimeMode(fmi3Instance i) {
  return i ? fmi3OK : fmi3Error;
}
EXPORT fmi3Status fmi3UpdateDiscreteStates(fmi3Instance i, fmi3Boolean *more, fmi3Boolean *terminate,
                                           fmi3Boolean *nominals, fmi3Boolean *states, fmi3Boolean *has_next,
                                           fmi3Float64 *next) {
  ball *b = i;
  *more = *terminate = *nominals = *states = false;
  if (b->value[H] <= 0 && b->value[V] < 0) {
    b->value[H] = 1e-300, b->value[V] *= -b->value[E];
    b->value[COUNT]++;
    *states = true;
  }
  if (!b->was_lifted && b->time >= 1.5) {
    b->value[H] = 1, b->value[V] = 0, b->was_lifted = 1;
    *states = true;
  }
  *has_next = !b->was_lifted;
  *next = 1.5;
  return fmi3OK;
}
EXPORT fmi3Status fmi3SetFloat64(fmi3Instance i, const fmi3ValueReference *vr, size_t count, const fmi3Float64 *value,
                                 size_t values) {
  (void)values;
  for (size_t k = 0; k < count; k++) ((ball *)i)->value[vr[k]] = value[k];
  return fmi3OK;
}
EXPORT fmi3Status fmi3GetFloat64(fmi3Instance i, const fmi3ValueReference *vr, size_t count, fmi3Float64 *value,
                                 size_t values) {
  (void)values;
  for (size_t k = 0; k < count; k++) value[k] = ((ball *)i)->value[vr[k]];
  return fmi3OK;
}
EXPORT fmi3Status fmi3GetInt32(fmi3Instance i, const fmi3ValueReference *vr, size_t count, fmi3Int32 *value,
                               size_t values) {
  (void)values;
  for (size_t k = 0; k < count; k++) value[k] = (int)((ball *)i)->value[vr[k]];
  return fmi3OK;
}
EXPORT fmi3Status fmi3SetTime(fmi3Instance i, fmi3Float64 t) {
  return ((ball *)i)->time = t, fmi3OK;
}
EXPORT fmi3Status fmi3SetContinuousStates(fmi3Instance i, const fmi3Float64 *x, size_t count) {
  memcpy(((ball *)i)->value + H, x, count * sizeof *x);
  return fmi3OK;
}
EXPORT fmi3Status fmi3GetContinuousStates(fmi3Instance i, fmi3Float64 *x, size_t count) {
  memcpy(x, ((ball *)i)->value + H, count * sizeof *x);
  return fmi3OK;
}
EXPORT fmi3Status fmi3GetNominalsOfContinuousStates(fmi3Instance i, fmi3Float64 *x, size_t count) {
  for (size_t k = 0; i && k < count; k++) x[k] = 1;
  return fmi3OK;
}
EXPORT fmi3Status fmi3GetContinuousStateDerivatives(fmi3Instance i, fmi3Float64 *rate, size_t count) {
  memcpy(rate, ((ball *)i)->value + V, count * sizeof *rate);
  return fmi3OK;
}
EXPORT fmi3Status fmi3GetEventIndicators(fmi3Instance i, fmi3Float64 *z, size_t count) {
  if (count > 0) z[0] = ((ball *)i)->value[H];
  return fmi3OK;
}
