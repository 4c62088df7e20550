// The smoother in a saved observer: samples, derivatives and adjoints of the window, the state of its iteration, the worker, and
// the plain filter.
#include <limits.h>
#include <string.h>

#include "base/saved.h"
#include "integrate/sim_block.h"
#include "observe/smoother.h"

static const size_t first_field = offsetof(od_smoother, first),
                    fields = offsetof(od_smoother, sample) - offsetof(od_smoother, first);

static bool is_within(long value, long low, long high) {
  return value >= low && value <= high;
}

// Returns whether the saved state of the smoother is valid: sample numbers, phase and counters are in range. With a
// valid state, the iteration terminates and accesses only its own arrays.
static bool is_possible(const od_smoother *s) {
  long most = od_smoother_most_samples(s), capacity = s->capacity, last_window = s->first + capacity;
  if (!od_saved_is_count(s->first) || !is_within(s->last, s->first, s->first + most)) return false;
  bool idle = s->phase == OD_SMOOTHER_IDLE;
  bool iteration = is_within(s->phase, OD_SMOOTHER_IDLE, OD_SMOOTHER_CATCH_UP) &&
                   is_within(s->accepted, 0, INT_MAX / 2) && is_within(s->passes, 0, INT_MAX / 2) &&
                   is_within(s->attempt, 0, 2) && s->alpha >= 0 && s->alpha <= 1;
  bool counts = is_within(s->origin, 0, s->first) && is_within(s->begun, 0, s->first) && od_saved_is_count(s->due) &&
                is_within(s->kept_end, s->first - 1, last_window) && od_saved_is_count(s->measured) &&
                od_saved_is_count(s->end_measured) && od_saved_is_count(s->repartitions) &&
                is_within(s->declared, 0, s->nx);
  if (!iteration || !counts || (s->fell_back && !idle)) return false;
  if (idle) return s->last <= last_window;
  if (s->phase == OD_SMOOTHER_CATCH_UP)
    return is_within(s->at, s->first, s->last) && s->at <= last_window && is_within(s->end, 0, s->last);
  return is_within(s->end, s->first, s->last) && s->end <= last_window && is_within(s->at, s->first, s->end) &&
         (!s->restoring || is_within(s->back_to, s->first, s->end));
}

// Checks the indices of declared outputs and states.
static void check_declared(const od_smoother *s, od_pieces *t, const int *saved, int count, int declared) {
  for (int i = 0; i < declared && i < s->nx; i++)
    od_pieces_expect(t, saved[i] >= 0 && saved[i] < count, "an index of the initial outputs is out of range");
}

void od_smoother_transfer(od_observer *o, od_pieces *t) {
  od_smoother *s = od_observer_memory(o);
  if (s->n == 0) od_smoother_init(o);  // the observer is not started
  od_smoother tried = *s;
  const void *saved = od_pieces_bytes(t, (char *)s + first_field, fields);
  if (t->mode == OD_PIECES_CHECK) {
    memcpy((char *)&tried + first_field, saved, fields);
    od_pieces_expect(t, is_possible(&tried), "a sample number, the phase or a counter of the window is out of range");
  }
  od_pieces_bytes(t, od_smoother_at(s, s->sample), s->start_sim - s->sample);
  od_sim_transfer((od_sim *)((char *)s + s->start_sim), t);
  od_pieces_bytes(t, od_smoother_at(s, s->start_P), s->end_sim - s->start_P);
  od_sim_transfer((od_sim *)((char *)s + s->end_sim), t);
  od_pieces_bytes(t, od_smoother_at(s, s->end_P), s->declared_output - s->end_P);
  const int *output = od_pieces_bytes(t, od_smoother_at(s, s->declared_output), (size_t)s->nx * sizeof(int));
  const int *state = od_pieces_bytes(t, od_smoother_at(s, s->declared_state), (size_t)s->nx * sizeof(int));
  if (t->mode == OD_PIECES_CHECK) {
    check_declared(s, t, output, s->ny, tried.declared);
    check_declared(s, t, state, s->nx, tried.declared);
  }
  od_pieces_bytes(t, od_smoother_at(s, s->declared_C), s->worker - s->declared_C);
  od_observer_transfer(od_smoother_worker(s), t);
  od_observer_transfer(od_smoother_plain(s), t);
}
