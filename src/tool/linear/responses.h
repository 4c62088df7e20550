// Frequency responses of a linear model from inputs to outputs, or of its loops: curves, margins and their result.
#ifndef OD_LINEAR_RESPONSES_H
#define OD_LINEAR_RESPONSES_H

#include "linear/response.h"
#include "result/result.h"
#include "sweep/sweep.h"

typedef struct od_responses {
  const od_machine *machine;
  const od_linear_model *model;
  int paths, count;  // number of paths; number of frequencies
  od_path *path;
  const char **name;    // names of paths: "u to y"
  od_margins *margins;  // margins of each path
  double *frequency;    // frequencies, Hz; in memory of the arena
  od_arena arena;
  od_table *table;  // frequency, then magnitude in dB and phase in degrees of each path
  int unstable;     // number of unstable poles
} od_responses;

// Lists the paths: every input to every output or, for loops, every input that enters at an output. Fails with
// OD_BAD_INPUT if there are no paths, or (unless `all`) if no input enters at some output. Also fails with OD_NO_MEMORY. The
// caller frees the responses in all cases.
od_status od_responses_list(od_responses *r, bool loop, bool all, od_error *err);
void od_responses_free(od_responses *r);
// Computes table, margins and stability. The frequencies must be set. Fails with OD_NOT_CONVERGED if the poles cannot be
// computed, and with OD_NO_MEMORY.
od_status od_responses_find(od_responses *r, od_error *err);
// Computes margins, bandwidth and peak of each path for the model of another point. Inputs, outputs and frequencies are the same at
// all points. After goes_on() returns false, values are incomplete. Fails with OD_NO_MEMORY.
od_status od_responses_sweep_row(const od_responses *first, const od_linear_model *model,
                                 bool (*goes_on)(void *, double), void *going, od_sweep_row *row, od_error *err);

// Returns the result of the command: margins, bandwidths and peaks of all paths. *r must outlive the result.
od_result od_responses_result(const od_responses *r);
// Plots the table. user: od_responses. Fails with OD_IO or OD_NO_MEMORY.
od_status od_responses_write_plot(const void *user, const char *path, od_error *err);

#endif
