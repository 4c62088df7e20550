// Checks the signals of a message: their place in the data, and the switches of multiplexed signals. A signal that cannot be read gets a
// flaw, so that the other signals of the database remain usable.
#include "formats/dbc_check.h"

#include <stdlib.h>

// Returns the number of the byte after the last byte of a signal.
static int signal_end(const od_dbc_signal *s) {
  int first = s->is_motorola ? s->start / 8 * 8 + 7 - s->start % 8 : s->start;
  return (first + s->length + 7) / 8;
}

static const char *flaw_of(od_dbc *dbc, const od_dbc_message *m, const od_dbc_signal *s, const char *reason) {
  return od_arena_format(&dbc->arena, "%s:%d:%d: signal '%.80s' of message '%.80s' %s", dbc->path, s->line, s->column,
                         s->name, m->name, reason);
}

// Finds the switch of multiplexed signals that SG_MUL_VAL_ does not list. A message must have exactly one switch that
// is always present.
static void join_switches(od_dbc *dbc, const od_dbc_message *m, od_dbc_signal *signal) {
  int signals = m->signals;
  int main_switch = -1, main_switches = 0;
  for (int i = 0; i < signals; i++) {
    if (!signal[i].is_switch || signal[i].needs_switch) continue;
    main_switch = i;
    main_switches++;
  }
  for (int i = 0; i < signals; i++) {
    od_dbc_signal *s = &signal[i];
    if (!s->needs_switch || s->by >= 0) continue;
    if (main_switches != 1)
      s->flaw = flaw_of(dbc, m, s,
                        main_switches > 1 ? "has no line SG_MUL_VAL_, and the message has several multiplexors"
                                          : "is multiplexed, but the message has no multiplexor (mark 'M')");
    else if (s->ranges == 0)
      s->flaw =
          flaw_of(dbc, m, s, "has no value of its multiplexor; expected 'm' with a number, or a line SG_MUL_VAL_");
    else
      s->by = main_switch;
  }
  // A chain of more than 64 switches counts as a loop.
  for (int i = 0; i < signals; i++) {
    int steps = 0, at = i;
    while (at >= 0 && steps <= 64) at = signal[at].by, steps++;
    if (at >= 0 && !signal[i].flaw)
      signal[i].flaw = flaw_of(dbc, m, &signal[i], "depends on itself through its multiplexors");
  }
}

static void check_signal(od_dbc *dbc, const od_dbc_message *m, od_dbc_signal *s) {
  int bits = s->number == OD_DBC_FLOAT ? 32 : s->number == OD_DBC_DOUBLE ? 64 : 0;
  if (bits > 0 && s->length != bits)
    s->flaw = flaw_of(dbc, m, s,
                      bits == 32 ? "is a float, but does not have 32 bits" : "is a double, but does not have 64 bits");
  else if (s->length > 64)
    s->flaw = flaw_of(dbc, m, s, "has more than 64 bits, so the signal cannot be read as a number");
  else if (signal_end(s) > m->length)
    s->flaw = flaw_of(dbc, m, s, "ends after the last byte of the message");
}

void od_dbc_check(od_dbc *dbc, const od_dbc_message *m, od_dbc_signal *signal) {
  for (int i = 0; i < m->signals; i++) check_signal(dbc, m, &signal[i]);
  join_switches(dbc, m, signal);
}

static int by_begin(const void *a, const void *b) {
  uint64_t x = ((const od_dbc_range *)a)->from, y = ((const od_dbc_range *)b)->from;
  return (x > y) - (x < y);
}

int od_dbc_join_ranges(od_dbc_range *list, int count) {
  int joined = 0;
  if (count > 1) qsort(list, (size_t)count, sizeof *list, by_begin);
  for (int i = 0; i < count; i++) {
    od_dbc_range *last = joined > 0 ? &list[joined - 1] : NULL;
    if (list[i].to < list[i].from) continue;  // the range is empty
    if (last && list[i].from <= last->to)
      last->to = list[i].to > last->to ? list[i].to : last->to;
    else
      list[joined++] = list[i];
  }
  return joined;
}
