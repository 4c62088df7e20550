// Discrete-time models of logs, as oleodyn tf has them.
#ifndef OD_OUTPUT_TF_DISCRETE_H
#define OD_OUTPUT_TF_DISCRETE_H

#include "options/log_columns.h"
#include "options/result_files.h"
#include "discrete/discrete_model.h"

// The kind of a name: kinds of polynomials, then weights of subspaces; -1: none of these.
int od_tf_discrete_find(const char *name);

typedef struct od_tf_discrete {
  const char *path;
  od_log_wish wish;
  double hold_out;      // the last part of the log that is only simulated; 0: none
  int kind, low, high;  // orders
  int noise_order, delay;
  bool direct;  // as many zeros as poles
  const od_files *files;
  bool quiet;
} od_tf_discrete;
// Fits, prints and writes; the exit code.
int od_tf_discrete_run(const od_tf_discrete *t);

#endif
