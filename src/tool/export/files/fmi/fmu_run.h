// A run of a machine (fmu_machine.c) or an observer (fmu_observer.c), without the rules of FMI, which are in fmi2.c and fmi3.c. All data are
// in the run: any number of runs exist side by side.
#ifndef OD_FMU_RUN_H
#define OD_FMU_RUN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "fmu_variables.h"
#include "oleodyn/embedded.h"

// The description of the FMU, which the export wrote (fmu_description.c).
typedef struct od_signals od_signals;
typedef struct fmu_description {
  const char *token;  // identifies the contents of the FMU
  fmu_variables variables;
  od_embedded embedded;       // the machine and, if any, the observer; period: the fixed step, or 0 for adaptive steps
  double row;                 // time between two rows of `oleodyn simulate`, s
  double end;                 // length of the run of `oleodyn simulate`, s
  double tolerance;           // of adaptive steps
  double longest;             // longest adaptive step, s
  const od_signals *signals;  // inputs that the importer does not set
  const int *signal;          // per input: index in `signals`
  double signal_start;        // time of the signals at time 0, s
  const double *input;        // start values of the inputs and sensors
  bool exchanges;             // whether importers can integrate the machine (model exchange)
  const double *nominal;      // typical sizes of the states
  const double *parameter;    // start values of the parameters
} fmu_description;
extern const fmu_description fmu_described;

typedef struct fmu_run fmu_run;

// Creates a run; NULL: out of memory. fmu_reset() returns it to its state after creation.
fmu_run *fmu_new(void);
void fmu_free(fmu_run *r);
void fmu_reset(fmu_run *r);
// Sets tolerance (0: that of the file), start time and end time (INFINITY: not known) before the start.
void fmu_setup(fmu_run *r, double tolerance, double start, double end);
// Starts the run at the start time, with the values that are set.
od_status fmu_start(fmu_run *r);
// Advances from the current time t to t + h. Fails with OD_BAD_ARGUMENT for another t, for an h that is not positive, and in an observer for an h
// that is not a multiple of the period.
od_status fmu_step(fmu_run *r, double t, double h);
double fmu_time(const fmu_run *r);

// Computes the value of a variable. Before the start the run starts with the values that are set so far.
od_status fmu_get(fmu_run *r, fmu_kind kind, int index, double *value);
// Sets a variable. Returns OD_NOT_AVAILABLE if importers cannot set it, and OD_NOT_FINITE for a value that is not finite. An input that is
// never set follows the signal of the machine file.
od_status fmu_set(fmu_run *r, fmu_kind kind, int index, double value);
// Sets the rate of change of an input during the next step. fmu_set() makes the rate zero.
od_status fmu_set_rate(fmu_run *r, int input, double rate);
// Multiplies the derivatives of unknowns (outputs, derivatives) with respect to knowns (inputs, parameters, states) by `seed`.
od_status fmu_slopes(fmu_run *r, const uint32_t *unknown, size_t unknowns, const uint32_t *known, size_t knowns,
                     const double *seed, double *slope);

// Model exchange. fmu_exchange() selects it before the start. States are those of the machine, then the integrals of powers. Indicators
// change their sign at switches, contacts and knots of laws.
void fmu_exchange(fmu_run *r);
od_status fmu_set_time(fmu_run *r, double t);
od_status fmu_set_states(fmu_run *r, const double *x);
// Begins event mode; fmu_handle_event() takes the switches that are due; fmu_end_event() begins continuous time. *next: time of the next
// event, s; INFINITY: none. At an event the states, their coordinates or only the rates jump. After each event fmi2.c and fmi3.c report changed
// states, so that integrators that use earlier rates begin again.
void fmu_begin_event(fmu_run *r);
od_status fmu_handle_event(fmu_run *r, double *next);
void fmu_end_event(fmu_run *r);
// Returns whether the importer has to begin an event after a step: the coordinates are ill-conditioned.
bool fmu_wants_event(fmu_run *r);

// Creates a run in memory that grows until `lay_out` finds it large enough; lay_out returns NULL otherwise. Returns NULL if there is not
// enough memory.
static inline fmu_run *fmu_create(fmu_run *(*lay_out)(void *memory, size_t size)) {
  const size_t first = (size_t)1 << 16, most = (size_t)1 << 32;
  fmu_run *r = NULL;
  for (size_t size = first; !r && size <= most; size *= 2) {
    void *memory = calloc(1, size);
    if (!memory) return NULL;
    r = lay_out(memory, size);
    if (!r) free(memory);
  }
  if (r) fmu_reset(r);
  return r;
}

// The state as bytes that any run of the same FMU can restore, also in another process, with the same results to the bit.
size_t fmu_saved_size(fmu_run *r);
od_status fmu_save(fmu_run *r, void *saved);
od_status fmu_restore(fmu_run *r, const void *saved, size_t size);

#endif
