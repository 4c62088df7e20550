#include "formats/can_order.h"

#include "base/allocate.h"

// The times of one frame more than the largest displacement: the oldest one decides whether a frame is too late.
enum { TIMES = OD_CAN_DISORDER + 1 };

bool od_can_order_init(od_can_order *o) {
  *o = (od_can_order){.time = od_malloc(TIMES * sizeof *o->time)};
  return o->time != NULL;
}

void od_can_order_free(od_can_order *o) {
  od_free(o->time);
  *o = (od_can_order){0};
}

long od_can_order_take(od_can_order *o, double time) {
  long i = o->frames++, low = i > OD_CAN_DISORDER ? i - OD_CAN_DISORDER : 0, high = i;
  if (i == 0 || time >= o->largest) {
    o->largest = time;
    o->time[i % TIMES] = time;
    return 0;
  }
  if (low > 0 && o->time[(low - 1) % TIMES] > time) return -1;
  while (low < high) {
    long middle = low + (high - low) / 2;
    if (o->time[middle % TIMES] > time)
      high = middle;
    else
      low = middle + 1;
  }
  o->time[i % TIMES] = o->largest;
  return i - low;
}

bool od_can_sorter_init(od_can_sorter *s, int disorder) {
  *s = (od_can_sorter){.room = disorder + 1};
  s->heap = od_malloc((size_t)s->room * sizeof *s->heap);
  return s->heap != NULL;
}

void od_can_sorter_free(od_can_sorter *s) {
  od_free(s->heap);
  *s = (od_can_sorter){0};
}

void od_can_sorter_reset(od_can_sorter *s) {
  s->count = 0;
  s->number = 0;
}

static bool precedes(const od_can_waiting *a, const od_can_waiting *b) {
  return a->frame.time < b->frame.time || (a->frame.time == b->frame.time && a->number < b->number);
}

void od_can_sorter_push(od_can_sorter *s, const od_can_frame *frame, int line) {
  od_can_waiting w = {.frame = *frame, .number = s->number++, .line = line};
  int i = s->count++;
  for (; i > 0 && precedes(&w, &s->heap[(i - 1) / 2]); i = (i - 1) / 2) s->heap[i] = s->heap[(i - 1) / 2];
  s->heap[i] = w;
}

void od_can_sorter_pop(od_can_sorter *s, od_can_frame *frame, int *line) {
  od_can_waiting last = s->heap[--s->count];
  int i = 0;
  *frame = s->heap[0].frame;
  *line = s->heap[0].line;
  for (int child; (child = 2 * i + 1) < s->count; i = child) {
    if (child + 1 < s->count && precedes(&s->heap[child + 1], &s->heap[child])) child++;
    if (!precedes(&s->heap[child], &last)) break;
    s->heap[i] = s->heap[child];
  }
  s->heap[i] = last;
}
