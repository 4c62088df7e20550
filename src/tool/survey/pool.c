#include "survey/pool.h"

#include <math.h>

#include "io/number.h"

void od_pool_init(od_pool *p, od_arena *memory, long room) {
  *p = (od_pool){.value = OD_TAKE(memory, double, room), .room = room, .random = 0x9e3779b97f4a7c15u};
  if (!p->value) p->room = 0;
}

// Returns a random whole number from 0 to n - 1 (xorshift64*, Vigna 2016).
static long draw(od_pool *p, long n) {
  uint64_t x = p->random;
  x ^= x >> 12;
  x ^= x << 25;
  x ^= x >> 27;
  p->random = x;
  return (long)((double)((x * 0x2545f4914f6cdd1du) >> 11) * 0x1p-53 * (double)n);
}

void od_pool_add(od_pool *p, double value) {
  long at = p->count < p->room ? p->count : draw(p, p->count + 1);
  p->count++;
  if (at < p->room) p->value[at] = value;
}

long od_pool_size(const od_pool *p) {
  return p->count < p->room ? p->count : p->room;
}

void od_pool_sort(od_pool *p) {
  od_numbers_sort(p->value, od_pool_size(p));
}

double od_pool_quantile(const od_pool *p, double part) {
  long n = od_pool_size(p);
  if (n == 0) return NAN;
  double at = part * (double)(n - 1);
  long low = (long)at, high = low + 1 < n ? low + 1 : low;
  return p->value[low] + (at - (double)low) * (p->value[high] - p->value[low]);
}

double od_pool_spread(od_pool *p, double middle) {
  long n = od_pool_size(p);
  for (long i = 0; i < n; i++) p->value[i] = fabs(p->value[i] - middle);
  od_pool_sort(p);
  return 1.4826 * od_pool_quantile(p, 0.5);
}
