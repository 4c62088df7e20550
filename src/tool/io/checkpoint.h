// Checkpoints: saved states (base/saved.h) of runs of the program, in memory and in files.
#ifndef OD_IO_CHECKPOINT_H
#define OD_IO_CHECKPOINT_H

#include "base/saved.h"

typedef struct od_checkpoint {
  void *bytes;  // aligned to 16; NULL: none
  size_t size;
} od_checkpoint;
void od_checkpoint_free(od_checkpoint *c);

// Replaces the contents of a checkpoint with the state of an object. Fails with OD_NO_MEMORY; the old contents then
// remain.
od_status od_checkpoint_take(od_checkpoint *c, const od_saved_owner *owner, void *self, od_pieces_function *transfer);
// Reads a file, at most 4 GB. Fails with OD_IO, and err has the path, or with OD_NO_MEMORY.
od_status od_checkpoint_read(od_checkpoint *c, const char *path, od_error *err);
// Writes a complete file, or no file on failure. Fails with OD_IO or OD_NO_MEMORY.
od_status od_checkpoint_write(const od_checkpoint *c, const char *path, od_error *err);

#endif
