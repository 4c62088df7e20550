#include "samples/sample_order.h"

#include <math.h>
#include <string.h>

// Number of samples that can be held back. If more samples arrive within `wait`, the earliest sample is passed on.
enum { MOST_HELD = 1024 };

od_status od_sample_order_init(od_sample_order *o, od_arena *memory, double wait, int cells, double resumed,
                               int64_t next) {
  *o = (od_sample_order){.wait = wait,
                         .cells = cells,
                         .capacity = wait > 0 ? MOST_HELD : 1,
                         .passed = resumed,
                         .newest = resumed,
                         .resumed = resumed,
                         .expected = next};
  o->sample = OD_TAKE(memory, od_raw_sample, o->capacity);
  o->cell = OD_TAKE(memory, double, o->capacity *cells);
  o->place = OD_TAKE(memory, int, o->capacity);
  for (int i = 0; o->place && i < o->capacity; i++) o->place[i] = i;
  return od_arena_status(memory);
}

// --- Sequence numbers ---------------------------------------------------------------------------------------------

// Adds a range of missing numbers. If the list is full, the earliest range is removed.
static void add_range(od_sample_order *o, int at, int64_t first, int64_t last) {
  if (o->ranges == OD_MOST_RANGES) {
    memmove(o->range, o->range + 1, (OD_MOST_RANGES - 1) * sizeof *o->range);
    o->ranges--;
    if (at > 0) at--;
  }
  memmove(o->range + at + 1, o->range + at, (size_t)(o->ranges - at) * sizeof *o->range);
  o->range[at] = (od_missing_range){first, last};
  o->ranges++;
}

// Removes a number from the missing numbers. Returns false if this number is not missing.
static bool remove_missing(od_sample_order *o, int64_t n) {
  for (int i = o->ranges - 1; i >= 0; i--) {
    od_missing_range *r = &o->range[i];
    if (n < r->first || n > r->last) continue;
    o->counts.missing--;
    if (r->first == r->last) {
      memmove(r, r + 1, (size_t)(o->ranges - i - 1) * sizeof *r);
      o->ranges--;
    } else if (n == r->first) {
      r->first++;
    } else if (n == r->last) {
      r->last--;
    } else {
      const int64_t last = r->last;
      r->last = n - 1;
      add_range(o, i + 1, n + 1, last);
    }
    return true;
  }
  return false;
}

// Updates the missing numbers by the sequence number of a sample. Returns false if the number was received before.
static bool follow_sequence(od_sample_order *o, const od_raw_sample *s) {
  const int64_t n = s->sequence;
  if (n < 0) return true;
  if (o->expected >= 0 && n < o->expected) {
    if (remove_missing(o, n)) return true;
    if (!(s->t > o->newest)) return false;
    o->counts.restarted++;
  } else if (o->expected >= 0 && n > o->expected) {
    add_range(o, o->ranges, o->expected, n - 1);
    o->counts.missing += (long)(n - o->expected);
  }
  o->expected = n + 1;
  return true;
}

void od_sample_order_number(od_sample_order *o, int64_t number) {
  const od_raw_sample message = {.t = -INFINITY, .sequence = number};
  if (number < 0)
    o->expected = -1;
  else
    follow_sequence(o, &message);
}

// --- Times --------------------------------------------------------------------------------------------------------

static void pass(od_sample_order *o, const od_raw_sample *s) {
  o->passed = s->t;
  o->counts.taken++;
  o->pass(o->user, s);
}

// Passes the earliest held sample on.
static void pass_first(od_sample_order *o) {
  const int place = o->place[0];
  od_raw_sample s = o->sample[0];
  s.cell = o->cell + place * o->cells;
  pass(o, &s);
  o->held--;
  memmove(o->sample, o->sample + 1, (size_t)o->held * sizeof *o->sample);
  memmove(o->place, o->place + 1, (size_t)o->held * sizeof *o->place);
  o->place[o->held] = place;
}

// Inserts a sample into the held samples, sorted by time. Returns false if another sample has its time.
static bool sort_in(od_sample_order *o, const od_raw_sample *s) {
  int at = o->held;
  while (at > 0 && o->sample[at - 1].t > s->t) at--;
  if (at > 0 && o->sample[at - 1].t == s->t) return false;
  const int place = o->place[o->held];
  if (at < o->held) o->counts.reordered++;
  memmove(o->sample + at + 1, o->sample + at, (size_t)(o->held - at) * sizeof *o->sample);
  memmove(o->place + at + 1, o->place + at, (size_t)(o->held - at) * sizeof *o->place);
  o->sample[at] = *s;
  o->place[at] = place;
  memcpy(o->cell + place * o->cells, s->cell, (size_t)o->cells * sizeof *o->cell);
  o->held++;
  return true;
}

void od_sample_order_take(od_sample_order *o, const od_raw_sample *s) {
  if (s->t <= o->resumed) {
    o->counts.replayed++;
    return;
  }
  if (o->wait > 0 && o->held == o->capacity) pass_first(o);
  if (!follow_sequence(o, s) || s->t == o->passed) {
    o->counts.repeated++;
    return;
  }
  if (s->t < o->passed && s->is_historical) {
    o->counts.historical++;
    return;
  }
  if (s->t < o->passed) {
    o->counts.late++;
    o->counts.last_late = s->t;
    return;
  }
  if (s->t > o->newest) o->newest = s->t;
  if (!(o->wait > 0)) {
    pass(o, s);
    return;
  }
  if (!sort_in(o, s)) o->counts.repeated++;
  while (o->held > 0 && o->sample[0].t <= o->newest - o->wait) pass_first(o);
}

void od_sample_order_flush(od_sample_order *o) {
  while (o->held > 0) pass_first(o);
}
