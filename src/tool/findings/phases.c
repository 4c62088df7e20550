// Phases and events of a run: states of state machines, segments of sequences, switches of modes, beginnings of
// findings.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "findings/findings_work.h"
#include "io/wording.h"
#include "machine/machine_phases.h"

// --- Phases -----------------------------------------------------------------------------------------------------------

static void add_phase(od_findings *f, double from, double to, const char *name, const char *source) {
  od_phase *list = od_arena_extend(&f->arena, f->phase, f->phases, sizeof *list);
  if (!list) return;
  f->phase = list;
  f->phase[f->phases++] = (od_phase){from, to, name, source};
}

// Returns the name of a state or mode; "mode N" if it has no name.
static const char *mode_name(od_findings *f, const od_moded *w, int mode) {
  if (mode >= 0 && mode < w->states) return w->name[mode];
  if (!w->is_phase && mode == 0 && w->off) return w->off;
  if (!w->is_phase && mode == 1 && w->on) return w->on;
  return od_arena_format(&f->arena, "mode %d", mode);
}

// Adds the states of a state machine as phases. The last recorded state lasts until the end of the run.
static void add_states(od_findings *f, int source) {
  const od_moment_list *list = &f->record->states;
  long count = list->count < OD_MOST_EVENTS ? list->count : OD_MOST_EVENTS;
  const od_moment_record *last = NULL;
  for (long i = 0; i < count; i++) {
    const od_moment_record *now = &list->item[i];
    if (now->source != source) continue;
    if (last && now->at > last->at)
      add_phase(f, last->at, now->at, mode_name(f, &f->moded[source], last->value), f->moded[source].owner);
    last = now;
  }
  if (last && f->record->end > last->at)
    add_phase(f, last->at, f->record->end, mode_name(f, &f->moded[source], last->value), f->moded[source].owner);
}

// Adds the part of a phase that is within the run.
static void add_phase_in_run(od_findings *f, double from, double to, const char *name, const char *source) {
  from = fmax(from, f->record->start), to = fmin(to, f->record->end);
  if (to > from) add_phase(f, from, to, name, source);
}

// Adds the phases that the file names.
static void add_named_phases(od_findings *f) {
  int count;
  const od_machine_phase *p = od_machine_phases(f->machine, &count);
  for (int i = 0; i < count; i++)
    add_phase_in_run(f, p[i].from, i + 1 < count ? p[i + 1].from : INFINITY, p[i].name, "run");
}

// Adds the segments of an input that is a sequence: "ramp to 20 mm". A sequence with many segments has no phases.
static void add_segments(od_findings *f, int input) {
  int count = od_machine_segment_count(f->machine, input);
  if (count > OD_MOST_EVENTS) return;
  for (int i = 0; i < count; i++) {
    od_input_segment s = od_machine_segment(f->machine, input, i);
    const char *unit = od_machine_input_unit(f->machine, input);
    bool holds = strcmp(s.kind, "hold") == 0 || strcmp(s.kind, "sine") == 0;
    char *name = od_arena_format(&f->arena, holds ? "%s" : "%s to %s", s.kind, od_value_words(s.end, unit).text);
    for (char *c = name; c && *c; c++)
      if (*c == '_') *c = ' ';
    if (name) add_phase_in_run(f, s.from, s.to, name, od_machine_input_name(f->machine, input));
  }
}

void od_findings_make_phases(od_findings *f) {
  add_named_phases(f);
  for (int i = 0; i < od_machine_input_count(f->machine); i++) add_segments(f, i);
  for (int i = 0; i < f->moded_count; i++)
    if (f->moded[i].is_phase) add_states(f, i);
}

// --- Events -----------------------------------------------------------------------------------------------------------

static void add_event(od_findings *f, double at, const char *name, const char *owner, const char *code) {
  od_happening *list = od_arena_extend(&f->arena, f->event, f->events, sizeof *list);
  if (!list) return;
  f->event = list;
  f->event[f->events++] = (od_happening){at, name, owner, code};
}

// Adds an event with the number of events that were not recorded, at the time of the last of these events.
static void add_rest(od_findings *f, const od_moment_list *list, const char *code) {
  if (list->count <= OD_MOST_EVENTS) return;
  add_event(f, list->last, od_arena_text(&f->arena, od_count(list->count - OD_MOST_EVENTS, "more event").text), "",
            code);
}

static int compare_events(const void *a, const void *b) {
  const od_happening *x = a, *y = b;
  if (x->at != y->at) return x->at > y->at ? 1 : -1;
  int order = strcmp(x->owner, y->owner);
  return order ? order : strcmp(x->name, y->name);
}

void od_findings_make_events(od_findings *f) {
  static const char *const codes[OD_FIND_TYPES] = {
      [OD_FIND_PUMP_LIMIT] = "pump.limit",     [OD_FIND_DRIVE_LIMIT] = "drive.limit",
      [OD_FIND_RELIEF] = "relief.open",        [OD_FIND_STROKE] = "stroke.end",
      [OD_FIND_STOP] = "stop.reached",         [OD_FIND_EMPTY] = "accumulator.empty",
      [OD_FIND_FULL] = "accumulator.full",     [OD_FIND_SPOOL] = "valve.saturated",
      [OD_FIND_COMMAND] = "command.saturated", [OD_FIND_SLACK] = "rope.slack",
      [OD_FIND_SLIP] = "brake.slips",          [OD_FIND_HOT] = "oil.hot",
      [OD_FIND_CAVITATION] = "cavitation"};
  const od_findings_record *r = f->record;
  for (int type = 0; type < OD_FIND_TYPES; type++) {
    const od_moment_list *list = &r->begins[type];
    bool any = false;
    if (!codes[type]) continue;
    for (long i = 0; i < list->count && i < OD_MOST_EVENTS; i++) {
      int source = list->item[i].source;
      if (!od_followed_matters(f, source)) continue;
      any = true;
      add_event(f, list->item[i].at, f->followed[source].event, f->followed[source].owner, codes[type]);
    }
    if (any) add_rest(f, list, codes[type]);
  }
  for (long i = 0; i < r->modes.count && i < OD_MOST_EVENTS; i++) {
    const od_moment_record *x = &r->modes.item[i];
    add_event(f, x->at, mode_name(f, &f->moded[x->source], x->value), f->moded[x->source].owner, "mode");
  }
  add_rest(f, &r->modes, "mode");
  for (long i = 0; i < r->states.count && i < OD_MOST_EVENTS; i++) {
    const od_moment_record *x = &r->states.item[i];
    if (x->at > r->start)
      add_event(f, x->at, mode_name(f, &f->moded[x->source], x->value), f->moded[x->source].owner, "state");
  }
  add_rest(f, &r->states, "state");
  if (f->events > 0) qsort(f->event, (size_t)f->events, sizeof *f->event, compare_events);
}
