// Results of a linear model: its operating point, poles and zeros.
#ifndef OD_LINEAR_LINEAR_RESULT_H
#define OD_LINEAR_LINEAR_RESULT_H

#include "linear/poles.h"
#include "result/result.h"

// --- Common to all results of linear models ------------------------------------------------------------------------------

// Writes the operating point: "the initial state, at rest", "t = 2 s, in motion".
void od_linear_place(const od_linear_model *model, char *text, size_t size);
// Adds remarks about the point: kinks, motion, closed valves, open loops.
void od_linear_remarks(const od_linear_model *model, od_verdict *remarks);
// Creates a result with machine, file, time and properties of the point in its data. The heading of the view is "MACHINE: what at
// PLACE".
od_result od_linear_result_new(const od_machine *machine, const od_linear_model *model, const char *what);
// Adds the remarks about the point, as notices and as the field "warnings".
void od_add_linear_warnings(od_result *r, const od_linear_model *model);

// --- linearize and equilibrium ------------------------------------------------------------------------------------------

// Zeros from an input to an output; count -1: there is no path.
typedef struct od_zeros {
  int input, output, count;
  od_pole *zero;
} od_zeros;

typedef struct od_linear_results {
  const od_machine *machine;
  const od_linear_model *model;
  od_poles poles;
  od_zeros *zeros;  // zeros of every pair
  int pairs;
  od_arena arena;  // owns poles and zeros
} od_linear_results;
// Computes poles and zeros. The caller frees the results in all cases. Fails with OD_NOT_CONVERGED if poles or zeros cannot be
// computed, and with OD_NO_MEMORY.
od_status od_linear_results_find(const od_machine *machine, const od_linear_model *model, od_linear_results *out,
                                 od_error *err);
void od_linear_results_free(od_linear_results *results);

// Return the results of the commands linearize and equilibrium. The arguments must outlive the results.
od_result od_linear_result(const od_linear_results *results);
od_result od_equilibrium_result(const od_machine *machine, const od_linear_model *model);

// Write the model to a file (linear_files.c): CSV, [A B; C D] with the names of rows and columns; MATLAB, one variable per
// matrix. user: od_linear_results. Fail with OD_IO or OD_NO_MEMORY.
od_status od_linear_write_csv(const void *user, const char *path, od_error *err);
od_status od_linear_write_mat(const void *user, const char *path, od_error *err);

#endif
