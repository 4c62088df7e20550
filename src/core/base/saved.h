// Saved states: the contents of a simulation, an advance or an observer as bytes without addresses.
//
//   header     magic, format, sizes of numbers, kind, size, checksum, and what the state belongs to
//   contents   pieces, each aligned to 16
//
// One function per object, an od_transfer_function, lists the pieces of the object. The same function counts the bytes, saves,
// checks and restores them. A piece is restored only after all pieces have been checked, so a refused state changes nothing.
// The layout of memory is never saved: offsets are computed again, and the size of each piece follows from them.
#ifndef OD_BASE_SAVED_H
#define OD_BASE_SAVED_H

#include <stddef.h>
#include <stdint.h>

#include "base/byte_hash.h"
#include "oleodyn/status.h"

// ---- pieces

typedef enum od_transfer_mode {
  OD_TRANSFER_COUNT,
  OD_TRANSFER_SAVE,
  OD_TRANSFER_CHECK,
  OD_TRANSFER_RESTORE
} od_transfer_mode;
typedef struct od_transfer {
  od_transfer_mode mode;
  char *to;             // OD_TRANSFER_SAVE: the saved state
  const char *from;     // OD_TRANSFER_CHECK, OD_TRANSFER_RESTORE: the saved state
  size_t at;            // bytes so far
  const char *problem;  // OD_TRANSFER_CHECK: the first value that is not possible; NULL: none
} od_transfer;
typedef void od_transfer_function(void *self, od_transfer *t);

// Saves or restores `bytes` bytes at `here`. Returns the saved bytes (aligned to 16) to check or restore, else NULL.
const void *od_transfer_bytes(od_transfer *t, void *here, size_t bytes);
// Passes over `bytes` saved bytes; the caller saves or restores them. Returns their place, or NULL if bytes are only counted.
const void *od_transfer_place(od_transfer *t, size_t bytes, void **to);
// OD_TRANSFER_CHECK: reports a value that is not possible, unless `possible` is true.
void od_transfer_expect(od_transfer *t, int possible, const char *problem);

// ---- the whole state

typedef enum od_saved_kind { OD_SAVED_SIM = 1, OD_SAVED_PLAIN_SIM, OD_SAVED_ADVANCE, OD_SAVED_OBSERVER } od_saved_kind;
// What a state belongs to.
typedef struct od_saved_owner {
  od_saved_kind kind;
  uint64_t machine, selection;      // see od_plant_ops.fingerprint()
  uint64_t options;                 // fingerprint of the options of an advance or an observer
  const char *integrator, *filter;  // names; filter NULL: none
} od_saved_owner;

size_t od_saved_size(void *self, od_transfer_function *transfer);
void od_saved_write(const od_saved_owner *owner, void *self, od_transfer_function *transfer, void *saved);
// Checks a saved state and restores it. Fails with OD_BAD_INPUT or OD_BAD_ARGUMENT and changes nothing.
od_status od_saved_read(const od_saved_owner *owner, void *self, od_transfer_function *transfer, const void *saved,
                        size_t size, od_error *err);

// Computes the checksum of a saved state again, for tests that change bytes. False: fewer bytes than a header.
int od_saved_repair(void *saved, size_t size);

#endif
