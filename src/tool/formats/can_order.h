// The order of frames in time. Frames of several buses, or of several devices, may be slightly out of order in a trace.
#ifndef OD_FORMATS_CAN_ORDER_H
#define OD_FORMATS_CAN_ORDER_H

#include "formats/can_frames.h"

enum { OD_CAN_DISORDER = 1 << 16 };  // largest displacement of a frame from its place in the order of time

// Measures the disorder of a trace.
typedef struct od_can_order {
  double *time;  // ring buffer: for each of the last frames, the largest time up to this frame
  long frames;
  double largest;  // the largest time so far
} od_can_order;

// Initializes *o. Returns false if an allocation fails.
bool od_can_order_init(od_can_order *o);
void od_can_order_free(od_can_order *o);
// Adds the time of the next frame. Returns the number of frames since the first frame with a later time; 0: the frame
// is in order; -1: this number exceeds OD_CAN_DISORDER.
long od_can_order_take(od_can_order *o, double time);

// A frame in a sorter.
typedef struct od_can_waiting {
  od_can_frame frame;
  uint64_t number;  // number of the frame in the order of the trace
  int line;
} od_can_waiting;
// Sorts frames by time. Frames with the same time keep the order of the trace. Set to zeros before od_can_sorter_init(), so that
// od_can_sorter_free() is always possible.
typedef struct od_can_sorter {
  od_can_waiting *heap;  // NULL: not initialized
  int count, room;
  uint64_t number;  // number of frames added so far
} od_can_sorter;

// Allocates memory for sorting frames with this disorder. Returns false if an allocation fails.
bool od_can_sorter_init(od_can_sorter *s, int disorder);
void od_can_sorter_free(od_can_sorter *s);
// Removes all frames.
void od_can_sorter_reset(od_can_sorter *s);
static inline bool od_can_sorter_is_full(const od_can_sorter *s) {
  return s->count == s->room;
}
// Adds a frame to a sorter that is not full.
void od_can_sorter_push(od_can_sorter *s, const od_can_frame *frame, int line);
// Removes the first frame of a sorter that is not empty.
void od_can_sorter_pop(od_can_sorter *s, od_can_frame *frame, int *line);

#endif
