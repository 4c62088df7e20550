// The data of a run of a machine, for fmu_machine.c (co-simulation) and fmu_exchange.c (model exchange, directional derivatives).
#ifndef OD_FMU_MACHINE_H
#define OD_FMU_MACHINE_H

#include "fmu_run.h"
#include "oleodyn/advance.h"

struct fmu_run {
  void *memory;
  const od_plant *plant;
  od_sim *sim, *at;  // the simulation; the simulation at the current time: `sim`, or a copy that belongs to the advance
  od_advance *advance;
  void *advance_memory;
  double tolerance, start, end;  // settings
  double now, step, origin;      // current time; fixed step and beginning of its grid, s
  bool is_beyond;                // whether steps went beyond the end of the file's run
  bool is_started, has_new_inputs, has_new_parameters, has_outputs;
  double *value, *rate, *rate_from;  // inputs: values that the importer set, their rates, times from which rates count
  double *is_set;                    // inputs: 1 or 0
  double *p, *p0;                    // parameters, and their values at the start
  double *u, *y;                     // memory: inputs and outputs at the current time

  // Model exchange: states of the importer, with the integrals of powers at the end.
  bool is_exchanged, is_initializing, in_event;
  bool has_new_point;                   // whether the simulation does not have the time and states of the importer
  double next_event;                    // next time at which a signal jumps or has a kink, s
  double *x, *guard, *power;            // states; memory
  double *fx, *fu, *fp, *hx, *hu, *hp;  // derivatives of rates and outputs with respect to states, inputs, parameters
};

// Makes the current time of the simulation the beginning of the next step. Fails with OD_NOT_AVAILABLE.
od_status fmu_begin_grid(fmu_run *r, double step);
// Starts the run if it has not started, else takes over the values that the importer has set.
od_status fmu_settle(fmu_run *r);
// Computes the inputs at time t.
void fmu_inputs(const fmu_run *r, double t, double *u);
// Returns the first time after t at which the signal of an input that is not set jumps or has a kink.
double fmu_next_break(const fmu_run *r, double t);
// Model exchange: takes the states of the simulation as the states of the importer; computes a state, derivative or indicator.
void fmu_take_states(fmu_run *r);
od_status fmu_get_exchanged(fmu_run *r, fmu_kind kind, int index, double *value);
// Model exchange: evaluates the machine at time, states and inputs of the importer.
od_status fmu_evaluate(fmu_run *r);

#endif
