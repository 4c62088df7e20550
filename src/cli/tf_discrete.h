// Discrete-time models of logs, as oleodyn tf has them.
#ifndef OD_CLI_TF_DISCRETE_H
#define OD_CLI_TF_DISCRETE_H

#include "cli/options.h"
#include "cli/result_files.h"
#include "discrete/discrete_model.h"

// "moesp": state space by subspaces.
#define OD_SUBSPACE_NAME "moesp"
// The kind of a name, the number of kinds for subspaces, -1: none of these.
int od_tf_discrete_find(const char *name);

typedef struct od_tf_discrete {
  const char *path, *input;
  const od_words *outputs;
  int kind, low, high;  // orders
  int noise_order, delay;
  const od_files *files;
  bool quiet;
} od_tf_discrete;
// Fits, prints and writes; the exit code.
int od_tf_discrete_run(const od_tf_discrete *t);

#endif
