// Tables of signals: the inputs of the machine, and blocks, which compute signals from signals and measured quantities.
#ifndef OD_SIGNAL_TABLES_H
#define OD_SIGNAL_TABLES_H

#include <stdbool.h>

#include "blocks/block.h"

// A signal: an input of the machine, or (behind all inputs) an output of a block.
typedef struct od_input {
  const char *name, *unit;
  double start;
} od_input;

typedef struct od_block {
  const char *name, *unit;  // unit: of its first output
  od_block_spec spec;
  int number, numbers;  // first in theta, how many
  int line, inputs;     // its part of od_model.block_line: what its inputs are
  int signal, outputs;  // its first output among the signals, how many
  int state, states;    // its first place among the first-order states, how many
  int slope;            // its first derivative in the work memory
  int ring, samples;    // a sampled delay: its first place in the memory of delays, how many samples it keeps
  int held, jumps;      // index of its first jump among all jumps (od_layout.held), number of its jumps
  bool late;            // an input of it comes from a block that is evaluated after it
} od_block;
// What an input of a block is: a signal, a quantity that is measured (behind all signals), or -1: nothing.
typedef struct od_block_line {
  int source;
  const char *quantity;  // to be found when the model is compiled; or NULL
} od_block_line;

#endif
