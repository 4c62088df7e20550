// A linear model for people and for files.
#ifndef OD_OUTPUT_LINEAR_SUMMARY_H
#define OD_OUTPUT_LINEAR_SUMMARY_H

#include <jansson.h>
#include <stdio.h>

#include "linear/poles.h"

// Zeros from an input to an output; count -1: no path leads there.
typedef struct od_zeros {
  int input, output, count;
  od_pole *zero;
} od_zeros;

typedef struct od_linear_results {
  const od_machine *machine;
  const od_linear_model *model;
  od_poles poles;
  od_zeros *zeros;  // of every pair
  int pairs;
} od_linear_results;
od_status od_linear_results_find(const od_machine *machine, const od_linear_model *model, od_linear_results *out,
                                 od_error *err);
void od_linear_results_free(od_linear_results *results);

// "68 % A.pressure, 31 % guide.rate": the states that take part most in a mode.
void od_mode_text(const od_linear_model *model, const double *participation, char *text, size_t size);

// Values of states, inputs or outputs under a heading; those that nothing decides are marked.
void od_linear_print_signals(FILE *to, const char *heading, const od_linear_signal *signal, int count);
// The same as JSON, of states with their rates.
json_t *od_linear_signals_json(const od_linear_signal *signal, int count, bool states);

void od_linear_print(const od_linear_results *r, FILE *to);
json_t *od_linear_json(const od_linear_results *r);
// [A B; C D] with the names of rows and columns; and the matrices with their names. user: od_linear_results.
od_status od_linear_write_csv(const void *user, const char *path, od_error *err);
od_status od_linear_write_mat(const void *user, const char *path, od_error *err);

#endif
