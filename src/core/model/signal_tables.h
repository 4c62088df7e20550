// Tables of signals: the inputs of the machine, and blocks, which compute signals from other signals and measured quantities.
#ifndef OD_SIGNAL_TABLES_H
#define OD_SIGNAL_TABLES_H

#include <stdbool.h>

#include "blocks/block.h"

// A signal: an input of the machine, or (after all inputs) an output of a block.
typedef struct od_input {
  int name, unit;
  double start;
} od_input;

typedef struct od_block {
  int name, unit;  // unit of the block's first output
  // The settings of the block without addresses: index in od_model.block_class, number of inputs in a list, choices, first
  // operation and number of operations of the formula, sampling period. od_block_spec_in() returns these settings as an
  // od_block_spec.
  int block_class, list_inputs, choice[OD_MOST_BLOCK_CHOICES], formula, operations;
  double sample;
  int number, numbers;  // index of the block's first number in theta; count
  int line, inputs;     // first entry of the block in od_model.block_line (sources of inputs); count
  int signal, outputs;  // index of the block's first output among the signals; count
  int state, states;    // index of the block's first state among the first-order states; count
  int slope;            // index of the block's first derivative in the work memory
  int ring, samples;    // sampled delay: first index in the memory of delays; number of stored samples
  int held, jumps;      // index of the block's first jump among all jumps (od_layout.held); count
  bool late;            // whether the block has an input from a block that is evaluated later
} od_block;
// The source of a block's input: a signal, a measured quantity (after all signals), or -1: none.
typedef struct od_block_line {
  int source;
  int quantity;  // name of the measured quantity, resolved when the model is compiled; 0: none
} od_block_line;

#endif
