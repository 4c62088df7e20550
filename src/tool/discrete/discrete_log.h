// Discrete-time models of a log: the choice of the order, the fit, its verdict and its result.
//
// Models are first fitted without the end of the log: its last third, or the held-out rows. This part is used to judge
// simulations of rows that were not fitted, and to choose the order. The final model is fitted to all rows, or to all rows
// except the held-out rows.
#ifndef OD_DISCRETE_DISCRETE_LOG_H
#define OD_DISCRETE_DISCRETE_LOG_H

#include "discrete/discrete_model.h"
#include "io/picture.h"
#include "io/table.h"
#include "io/verdict.h"
#include "prepare/log_columns.h"
#include "result/result.h"

// Returns the index of the kind with this name: kinds of polynomials, then subspace weights; -1: no such
// kind.
int od_discrete_log_kind(const char *name);

typedef struct od_discrete_log_options {
  double hold_out;      // fraction of the log, at its end, that is only simulated; 0: no held-out rows
  int kind, low, high;  // index of the kind; lowest and highest order
  int noise_order, delay;
  bool direct;  // whether the model has as many zeros as poles
} od_discrete_log_options;

// Quality of the model for one output: over the whole log, and over the held-out rows.
typedef struct od_output_quality {
  od_z_quality all, held_out;
} od_output_quality;

typedef struct od_discrete_log {
  const char *path;
  od_discrete_log_options o;
  od_log_columns c;  // opened by the caller, freed by od_discrete_log_free()
  double *u, *y, *mean;
  od_arena arena;  // owns the signals and qualities
  od_discrete_data data;
  long judged;                               // the first row of the part that is used to judge orders
  bool is_held_out;                          // whether the final model is also fitted without the judged part
  od_z_quality tried[OD_DISCRETE_MOST + 1];  // quality of each order for the judged part
  int order;
  od_discrete model;        // the model, if its kind has polynomials
  od_z_transfer *z, *part;  // the model, and the model fitted without the judged part (NULL: no such model)
  char why_no_part[200];
  od_output_quality *quality;  // quality of each output
  od_verdict verdict;
  od_table *table;  // time, and for each output the measured and the simulated value
} od_discrete_log;

// Fits the model. w->path, w->o and w->c must be set. Call od_discrete_log_free() in all cases. Fails with OD_BAD_INPUT, OD_IO,
// OD_INTERRUPTED, OD_NO_MEMORY, or a status of od_discrete_fit().
od_status od_discrete_log_fit(od_discrete_log *w, od_error *err);
void od_discrete_log_free(od_discrete_log *w);

// Returns the result of the command: the model with its intervals, poles, quality and verdict. *w must outlive the result.
od_result od_discrete_log_result(const od_discrete_log *w);
// Adds measured and simulated outputs over time, and the quality over the order if several orders were tried. *w must
// outlive the picture.
void od_picture_add_discrete(od_picture *p, const od_discrete_log *w);
// Write a plot of the table, and a machine file with the model as blocks. `user` points to an od_discrete_log. Fail with OD_IO or
// OD_NO_MEMORY; od_discrete_log_write_block() also with OD_BAD_INPUT if the order is too large for a block.
od_status od_discrete_log_write_plot(const void *user, const char *path, od_error *err);
od_status od_discrete_log_write_block(const void *user, const char *path, od_error *err);

#endif
