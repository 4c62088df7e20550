// A fitted transfer function as a machine file with blocks for each output. The blocks can be simulated, observed and
// copied to other files.
#ifndef OD_FREQUENCY_TRANSFER_BLOCK_H
#define OD_FREQUENCY_TRANSFER_BLOCK_H

#include "frequency/transfer.h"

typedef struct od_transfer_names {
  const char *title, *note;  // note: a comment of one line
  int inputs;
  const char *const *input, *const *input_unit;    // name and SI unit per input; unit "1": dimensionless
  const char *const *output, *const *output_unit;  // name and SI unit per output
  double sample;  // sampling period of polynomials in z, s; 0: the polynomials are in s
} od_transfer_names;

// Writes the file. The transfer function has outputs * inputs numerators, all inputs of the first output first. With several
// inputs an output is the sum of one block per input. Fails with OD_IO or OD_NO_MEMORY.
od_status od_transfer_write_block(const od_transfer *t, const od_transfer_names *names, const char *path,
                                  od_error *err);

#endif
