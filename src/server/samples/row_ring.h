// A ring of rows from one thread to one other thread, without locks: the observer never waits for the thread that writes. If the ring is
// full, the row is left out and counted.
#ifndef OD_SAMPLES_ROW_RING_H
#define OD_SAMPLES_ROW_RING_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"

typedef struct od_row_ring {
  int columns;
  size_t capacity;            // a power of two
  double *row;                // capacity x columns
  _Atomic size_t put, taken;  // numbers of rows that were put in and taken out
  _Atomic long dropped;       // number of rows that were left out
} od_row_ring;

// Creates a ring with at most `bytes` of memory, but at least 64 rows. The arena owns the memory. Fails with OD_NO_MEMORY.
od_status od_row_ring_init(od_row_ring *r, od_arena *memory, int columns, size_t bytes);
// Appends a copy of a row. Only one thread calls this function. Returns false if the row was left out.
bool od_row_ring_put(od_row_ring *r, const double *row);
// Returns the number of rows in the ring. Any thread may call this function.
size_t od_row_ring_length(od_row_ring *r);
// Returns the next row, or NULL if there is none. The row is valid until od_row_ring_next(). Only one thread calls these functions.
const double *od_row_ring_first(od_row_ring *r);
void od_row_ring_next(od_row_ring *r);

#endif
