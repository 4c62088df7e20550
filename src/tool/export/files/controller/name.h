// @what@ of a machine: @title@.
// Written by oleodyn @version@. No function allocates memory, prints, or has variables of its own.
//
//   static _Alignas(16) unsigned char memory[@NAME@_MEMORY];
//   @name@_run *it = @name@_init(memory, sizeof memory);
%simulation //   status = @name@_step(it, u);         // once per period
%simulation //   status = @name@_outputs(it, y);
%observer //   status = @name@_step(it, u, y);      // once per period
%observer //   status = @name@_outputs(it, estimate, sigma);
#ifndef @NAME@_H
#define @NAME@_H

#include <stddef.h>

#define @NAME@_PERIOD @period@  // time between two steps, s
enum {
  @NAME@_INPUTS = @inputs@,
%observer   @NAME@_SENSORS = @sensors@,  // the first outputs
  @NAME@_OUTPUTS = @outputs@,
  @NAME@_PARAMETERS = @parameters@,
  @NAME@_STATES = @states@,
  @NAME@_MEMORY = @memory@  // bytes, at a multiple of 16
};
@names@

typedef struct od_embedded_run @name@_run;

// Creates the @kind@ in the caller's memory. Returns NULL if the memory is too small.
@name@_run *@name@_init(void *memory, size_t size);

// Takes a step. The first call sets the start at time 0. Each later call advances by one period, in which the inputs change
// linearly to u.@y_comment@ Returns 0, or another number if the step failed; call @name@_restart() then, and the next step is a
// first step.
%simulation int @name@_step(@name@_run *it, const double *u);
%observer int @name@_step(@name@_run *it, const double *u, const double *y);
void @name@_restart(@name@_run *it);

%simulation // Computes the outputs y. Returns 0, or another number after a failure.
%simulation int @name@_outputs(@name@_run *it, double *y);
%observer // Computes the estimated outputs and their standard deviations. Returns 0, or another number after a failure.
%observer int @name@_outputs(@name@_run *it, double *estimate, double *sigma);
%settable 
%settable // Sets the parameters, after the first step; @name@_restart() sets their original values. Returns 0, or another number if a
%settable // value is not finite.
%settable int @name@_set_parameters(@name@_run *it, const double *p);
%estimated 
%estimated // Copies the estimated parameters and their standard deviations.
%estimated void @name@_parameters(@name@_run *it, double *p, double *sigma);
%observer 
%observer // Returns the normalized innovation squared of the last step. *sensors receives the number of sensors that the step used.
%observer // The mean of this value is *sensors if model and noise are correct.
%observer double @name@_nis(const @name@_run *it, int *sensors);

#endif
