// Relative gains of a linear model over frequency, the pairing of inputs and outputs, and their result.
#ifndef OD_LINEAR_RELATIVE_GAINS_H
#define OD_LINEAR_RELATIVE_GAINS_H

#include "linear/response.h"
#include "result/result.h"
#include "sweep/sweep.h"

typedef struct od_gain_arrays {
  const od_machine *machine;
  const od_linear_model *model;  // the model, with as many inputs as outputs
  int n, count;                  // number of inputs; number of frequencies
  const double *frequency;       // frequencies, Hz; owned by the caller
  od_complex *gains;             // n x n per frequency; NAN: the gain matrix is infinite (a pole) or has no inverse
  int *pair;                     // per frequency and output: index of the input paired with the output; -1: no gains
  od_arena arena;                // owns gains and pair
  od_table *table;               // frequency, then the real part of each relative gain
} od_gain_arrays;

// Computes gains, pairing and table. The fields machine, model, n, count and frequency must be set. The caller frees the arrays in
// all cases. Fails with OD_NO_MEMORY.
od_status od_gain_arrays_find(od_gain_arrays *g, od_error *err);
void od_gain_arrays_free(od_gain_arrays *g);
// Adds the relative gains at the frequencies low and high, in Hz, to a row of a sweep. Fails with OD_NO_MEMORY.
od_status od_gain_arrays_sweep_row(const od_linear_model *model, double low, double high, od_sweep_row *row,
                                   od_error *err);

// Returns the result of the command. *g must outlive the result.
od_result od_gain_arrays_result(const od_gain_arrays *g);

#endif
