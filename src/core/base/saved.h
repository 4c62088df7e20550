// Saved states: the contents of a simulation, an advance or an observer as bytes without addresses.
//
//   header     magic, format, sizes of numbers, kind, size, checksum, identity of the owner
//   contents   pieces, each aligned to 16
//
// One function per object, an od_pieces_function, lists the pieces of the object. The same function counts, saves, checks and
// restores the bytes. No piece is restored before all pieces have been checked, so a rejected state changes nothing. The layout of
// memory is never saved: offsets are computed again, and the size of each piece follows from them.
#ifndef OD_BASE_SAVED_H
#define OD_BASE_SAVED_H

#include <limits.h>
#include <stddef.h>
#include <stdint.h>

#include "base/byte_hash.h"
#include "oleodyn/status.h"

// ---- pieces

typedef enum od_pieces_mode { OD_PIECES_COUNT, OD_PIECES_SAVE, OD_PIECES_CHECK, OD_PIECES_RESTORE } od_pieces_mode;
typedef struct od_pieces {
  od_pieces_mode mode;
  char *to;             // OD_PIECES_SAVE: the saved state
  const char *from;     // OD_PIECES_CHECK, OD_PIECES_RESTORE: the saved state
  size_t at;            // number of bytes processed so far
  const char *problem;  // OD_PIECES_CHECK: the first invalid value; NULL: none
} od_pieces;
typedef void od_pieces_function(void *self, od_pieces *t);

// Saves or restores `bytes` bytes at `here`. For a check or a restore, returns the address of the saved bytes (aligned to 16); else
// NULL.
const void *od_pieces_bytes(od_pieces *t, void *here, size_t bytes);
// Skips `bytes` bytes of the saved state, which the caller transfers. *to is the address to which the caller writes
// (OD_PIECES_SAVE; otherwise NULL). Returns the address from which the caller reads (OD_PIECES_CHECK,
// OD_PIECES_RESTORE; otherwise NULL).
const void *od_pieces_place(od_pieces *t, size_t bytes, void **to);
// OD_PIECES_CHECK: reports an invalid value, unless `possible` is true.
void od_pieces_expect(od_pieces *t, int possible, const char *problem);

// Returns whether a saved value is valid as a count: not negative, and so small that sums of some thousand counts do
// not overflow.
static inline int od_saved_is_count(int64_t value) {
  return value >= 0 && value <= (LONG_MAX > INT32_MAX ? INT64_C(1) << 48 : LONG_MAX / 2);
}

// ---- the whole state

typedef enum od_saved_kind {
  OD_SAVED_SIM = 1,
  OD_SAVED_PLAIN_SIM,
  OD_SAVED_ADVANCE,
  OD_SAVED_OBSERVER,
  OD_SAVED_RUN,
  OD_SAVED_OBSERVATION
} od_saved_kind;
// The identity of the owner of a saved state. Only an owner with the same identity can restore the state.
typedef struct od_saved_owner {
  od_saved_kind kind;
  uint64_t machine, selection;      // see od_plant_ops.fingerprint()
  uint64_t options;                 // fingerprint of the options of an advance or an observer
  const char *integrator, *filter;  // names; filter NULL: none
} od_saved_owner;

// Returns the size of the saved state of an object in bytes, including its header. transfer: lists the pieces of the object `self`.
size_t od_saved_size(void *self, od_pieces_function *transfer);
// Writes the state of an object to `saved` (od_saved_size() bytes, aligned to 16 bytes): a header with the owner and a checksum,
// then the pieces.
void od_saved_write(const od_saved_owner *owner, void *self, od_pieces_function *transfer, void *saved);
// Checks a saved state and restores it. Fails with OD_BAD_INPUT or OD_BAD_ARGUMENT and changes nothing.
od_status od_saved_read(const od_saved_owner *owner, void *self, od_pieces_function *transfer, const void *saved,
                        size_t size, od_error *err);

// Checks a saved state of this kind and copies the bytes of its first piece. Fails in the same cases as od_saved_read().
od_status od_saved_first(od_saved_kind kind, const void *saved, size_t size, void *first, size_t bytes, od_error *err);

// Replaces the checksum of a saved state by the checksum of its current bytes, for tests that change bytes. Returns
// false if there are fewer bytes than in a header.
int od_saved_repair(void *saved, size_t size);

#endif
