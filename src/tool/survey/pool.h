// A pool: a random sample of bounded size from a stream of numbers. Every number of the stream has the same probability to be in the
// pool (reservoir sampling). The choice is the same in every run.
#ifndef OD_SURVEY_POOL_H
#define OD_SURVEY_POOL_H

#include <stdint.h>

#include "base/arena.h"

typedef struct od_pool {
  double *value;
  long room, count;  // room: largest number of stored numbers; count: length of the stream so far
  uint64_t random;
} od_pool;

// Initializes a pool with memory of the arena. If an allocation fails, the pool stores nothing.
void od_pool_init(od_pool *p, od_arena *memory, long room);
// Adds a number of the stream to the pool.
void od_pool_add(od_pool *p, double value);
// Returns the number of values that the pool stores.
long od_pool_size(const od_pool *p);
// Sorts the stored numbers. Add no numbers afterward.
void od_pool_sort(od_pool *p);
// Returns the quantile at `part` (0 to 1) of a sorted pool; NAN: the pool is empty.
double od_pool_quantile(const od_pool *p, double part);
// Returns the median distance of the numbers from `middle`, times 1.4826: the standard deviation of normally distributed numbers. Afterward the pool
// contains the sorted distances. NAN: the pool is empty.
double od_pool_spread(od_pool *p, double middle);

#endif
