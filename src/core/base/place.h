// Layout of a block of memory by offsets. od_place() appends a piece of `bytes` bytes, advances *end to the end of the piece and
// returns its offset. Offsets are multiples of 16, so that each piece is aligned for any scalar.
#ifndef OD_PLACE_H
#define OD_PLACE_H

#include <stddef.h>

static inline size_t od_place(size_t *end, size_t bytes) {
  size_t begin = (*end + 15) / 16 * 16;
  *end = begin + bytes;
  return begin;
}

#endif
