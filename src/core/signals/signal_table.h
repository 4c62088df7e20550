// The table of signals, for the files that evaluate signals.
#ifndef OD_SIGNAL_TABLE_H
#define OD_SIGNAL_TABLE_H

#include <stddef.h>

#include "signals/prbs.h"
#include "signals/signal.h"

typedef struct od_signal_node {
  od_signal_kind kind;
  int flag;
  size_t first;  // index of the first number of the node; for a sum or derivative, of the first child
  int count;
  size_t derived;  // index of derived numbers. Stepped sine: ends of segments; lagged steps:
                   // values reached; sequence: start times of the segments and end time, then the values at these times
  int segments;    // number of segments of a stepped sine or a sequence
  od_prbs *prbs;
} od_signal_node;

struct od_signals {
  od_signal_node *nodes;
  int node_count, node_capacity;
  double *numbers;  // given and derived numbers of all nodes
  size_t number_count, number_capacity;
  int *children;
  size_t child_count, child_capacity;
};

// Returns how many of the n entries of an increasing array, `stride` apart, are at or before t.
static inline int od_count_until(const double *times, int n, int stride, double t) {
  int low = 0, high = n;
  while (low < high) {
    int middle = low + (high - low) / 2;
    if (times[middle * stride] <= t)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

// Returns the frequency of segment k of a stepped sine (signal.c).
double od_stepped_frequency(const double *numbers, int k);

#endif
