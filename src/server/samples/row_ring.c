#include "samples/row_ring.h"

#include <string.h>

od_status od_row_ring_init(od_row_ring *r, od_arena *memory, int columns, size_t bytes) {
  r->columns = columns;
  r->capacity = 64;
  while (2 * r->capacity * (size_t)columns * sizeof(double) <= bytes) r->capacity *= 2;
  r->row = OD_TAKE_MATRIX(memory, double, r->capacity, columns);
  return od_arena_status(memory);
}

bool od_row_ring_put(od_row_ring *r, const double *row) {
  const size_t at = atomic_load_explicit(&r->put, memory_order_relaxed);
  if (at - atomic_load_explicit(&r->taken, memory_order_acquire) == r->capacity) {
    atomic_fetch_add_explicit(&r->dropped, 1, memory_order_relaxed);
    return false;
  }
  memcpy(r->row + (at & (r->capacity - 1)) * (size_t)r->columns, row, (size_t)r->columns * sizeof *row);
  atomic_store_explicit(&r->put, at + 1, memory_order_release);
  return true;
}

size_t od_row_ring_length(od_row_ring *r) {
  const size_t taken = atomic_load_explicit(&r->taken, memory_order_acquire);
  return atomic_load_explicit(&r->put, memory_order_acquire) - taken;
}

const double *od_row_ring_first(od_row_ring *r) {
  const size_t at = atomic_load_explicit(&r->taken, memory_order_relaxed);
  if (at == atomic_load_explicit(&r->put, memory_order_acquire)) return NULL;
  return r->row + (at & (r->capacity - 1)) * (size_t)r->columns;
}

void od_row_ring_next(od_row_ring *r) {
  const size_t at = atomic_load_explicit(&r->taken, memory_order_relaxed);
  atomic_store_explicit(&r->taken, at + 1, memory_order_release);
}
