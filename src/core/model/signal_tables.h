// Tables of signals: the inputs of the machine, and blocks, which compute signals from signals and measured quantities.
#ifndef OD_SIGNAL_TABLES_H
#define OD_SIGNAL_TABLES_H

#include <stdbool.h>

#include "blocks/block.h"

// A signal: an input of the machine, or (after all inputs) an output of a block.
typedef struct od_input {
  const char *name, *unit;
  double start;
} od_input;

typedef struct od_block {
  const char *name, *unit;  // unit: of its first output
  od_block_spec spec;
  int number, numbers;  // first of its numbers in theta, and how many
  int line, inputs;     // its part of od_model.block_line: the sources of its inputs
  int signal, outputs;  // its first output among the signals, and how many
  int state, states;    // its first index among the first-order states, and how many
  int slope;            // its first derivative in the work memory
  int ring, samples;    // a sampled delay: its first index in the memory of delays, number of stored samples
  int held, jumps;      // index of its first jump among all jumps (od_layout.held), number of its jumps
  bool late;            // an input of it comes from a block that is evaluated after it
} od_block;
// The source of a block's input: a signal, a measured quantity (after all signals), or -1: none.
typedef struct od_block_line {
  int source;
  const char *quantity;  // the measured quantity, resolved when the model is compiled; or NULL
} od_block_line;

#endif
