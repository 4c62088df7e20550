// The moments that tokens of an imported FMU name: the steps of a co-simulation, the events of a model exchange. A moment
// contains the data for reaching it again: the moment before, the inputs, and the state that the FMU saved. The saved states have
// a limit of memory; beyond it, the oldest ones are dropped, and steps are repeated instead. Several threads may use the
// functions at the same time.
#ifndef OD_FMU_MOMENTS_H
#define OD_FMU_MOMENTS_H

#include <stdbool.h>

#include "fmu/fmu_session.h"

// The state of events after a moment of a model exchange.
typedef struct od_fmu_situation {
  double next_event;  // time of the next time event, s; INFINITY: none
  double *indicator;  // event indicators
} od_fmu_situation;
void od_fmu_situation_copy(od_fmu_situation *to, const od_fmu_situation *from, int indicators);

typedef struct od_fmu_moment {
  double token;   // set by od_fmu_moment_add()
  double parent;  // token of the moment before; 0: the start
  double t, step;
  double *x, *u;  // states before the event (model exchange), inputs
  od_fmu_situation situation;
  od_fmu_memory memory;
} od_fmu_moment;

typedef struct od_fmu_moments od_fmu_moments;
od_fmu_moments *od_fmu_moments_new(int states, int inputs, int indicators);
void od_fmu_moments_free(od_fmu_moments *m);

// Adds a moment with copies of its lists, and takes its memory, also on failure. Returns the token, or -1 if an allocation fails.
double od_fmu_moment_add(od_fmu_moments *m, const od_fmu_moment *moment);
// Adds a moment with a saved memory that had this token in another process. The moment gets this token if no equal or later token was used before; if
// this token has the same moment already, nothing is added; otherwise the moment gets a new token. Returns the token, or -1 if an allocation fails.
double od_fmu_moment_take_up(od_fmu_moments *m, const od_fmu_moment *moment, double token);
// Copies a moment; od_fmu_moment_done() frees the copy. Returns false if the token has no stored moment or an allocation fails.
bool od_fmu_moment_get(od_fmu_moments *m, double token, od_fmu_moment *copy);
void od_fmu_moment_done(od_fmu_moment *copy);
bool od_fmu_moment_time(od_fmu_moments *m, double token, double *t);

#endif
