// Loads sequences: lists of segments, each a map with one kind of segment. An entry 'steady_steps' gives several segments: steps
// whose heights follow a density.
#include <math.h>
#include <string.h>

#include "document/ranges.h"
#include "machine/machine_loader.h"
#include "machine/sections.h"
#include "memory/scoped.h"
#include "signals/sequence.h"

enum { MOST_SEGMENTS = 100000, MOST_STEPS = 10000 };

typedef struct segment {
  // Kind, duration (s) and up to three more numbers, in the order of signals/sequence.h.
  double number[OD_SEGMENT_NUMBERS];
} segment;

// State of the reader of one sequence.
typedef struct sequence_reader {
  od_loader *ld;
  const char *unit;  // unit of the input
  od_arena *scratch;
  segment *segment;
  int segments;
} sequence_reader;

// Keys without a unit have the unit of the input. The duration is first; the other keys are in the order of the segment's numbers.
#define DURATION \
  { "duration", OD_NUMBER, "s", "duration of the segment", OD_POSITIVE, OD_REQUIRED, OD_RANGE_DURATION }
#define TO \
  { "to", OD_NUMBER, NULL, "value at the end of the segment", OD_ANY, OD_REQUIRED }
static const od_key hold_keys[] = {DURATION};
static const od_key to_keys[] = {DURATION, TO};
static const od_key sine_keys[] = {
    DURATION,
    {"amplitude", OD_NUMBER, NULL, "amplitude", OD_ANY, OD_REQUIRED},
    {"frequency", OD_NUMBER, "Hz", "frequency of the sine", OD_POSITIVE, 0, OD_RANGE_FREQUENCY, "from `periods`"},
    {"phase", OD_NUMBER, "rad",
     "phase at the start; the sine is shifted so that the segment begins at the last value of the previous segment"},
    {"periods", OD_NUMBER, "1", "number of periods in the duration", OD_POSITIVE, 0, .otherwise = "from `frequency`"}};
static const od_key lagged_step_keys[] = {
    DURATION,
    TO,
    {"time_constant", OD_NUMBER, "s", "time constant of the lag", OD_POSITIVE, OD_REQUIRED, OD_RANGE_TIME_CONSTANT}};

static const od_key density_keys[] = {
    {"peak", OD_NUMBER, "1", "value of the exponential term at height zero", OD_NOT_NEGATIVE, OD_REQUIRED},
    {"rate", OD_NUMBER, NULL, "decay rate of the exponential term, per unit of the input", OD_ANY, OD_REQUIRED},
    {"floor", OD_NUMBER, "1", "constant term of the density", OD_NOT_NEGATIVE, OD_REQUIRED}};
static const od_section_class density_section = {
    "density", "density of the heights v of steps: floor + peak exp(-rate v)", OD_KEYS(density_keys)};

static const od_key steady_keys[] = {
    {"from", OD_NUMBER, NULL, "height of the lowest step", OD_NOT_NEGATIVE, OD_REQUIRED},
    {"to", OD_NUMBER, NULL, "height of the highest step", OD_POSITIVE, OD_REQUIRED},
    {"count", OD_WHOLE, "1", "number of steps", OD_POSITIVE, OD_REQUIRED, {2, MOST_STEPS}},
    {"duration", OD_NUMBER, "s", "longest duration of a step", OD_POSITIVE, OD_REQUIRED, OD_RANGE_DURATION},
    {"distance", OD_NUMBER, NULL, "largest integral of a step over time, in the unit of the input times s", OD_POSITIVE,
     0, .otherwise = "unlimited"},
    {"time_constant", OD_NUMBER, "s", "time constant of the lag between steps", OD_NOT_NEGATIVE, 0,
     OD_RANGE_TIME_CONSTANT},
    {"direction", OD_CHOICE, "positive|negative|alternating", "sign of the steps"},
    {"density", OD_SECTION, NULL, "density of the heights of steps", .otherwise = "uniform",
     .inside = &density_section}};
static const od_section_class steady_section = {"steady steps", "steps whose heights are distributed by a density",
                                                OD_KEYS(steady_keys)};

typedef struct segment_form {
  const char *name;
  od_segment_kind kind;
  od_section_class section;
} segment_form;

static const segment_form forms[] = {
    {"hold", OD_SEGMENT_HOLD, {"hold segment", "a constant value", OD_KEYS(hold_keys)}},
    {"step", OD_SEGMENT_STEP, {"step segment", "a jump, then a constant value", OD_KEYS(to_keys)}},
    {"ramp", OD_SEGMENT_RAMP, {"ramp segment", "a straight line", OD_KEYS(to_keys)}},
    {"half_cosine", OD_SEGMENT_HALF_COSINE, {"half-cosine segment", "a half-cosine", OD_KEYS(to_keys)}},
    {"sine",
     OD_SEGMENT_SINE,
     {"sine segment", "a sine that is added to the value at the start of the segment", OD_KEYS(sine_keys)}},
    {"lagged_step",
     OD_SEGMENT_LAGGED_STEP,
     {"lagged-step segment", "a jump through a first-order lag", OD_KEYS(lagged_step_keys)}},
};
enum { FORMS = sizeof forms / sizeof forms[0] };

static bool form_key(int i, od_key *key) {
  if (i > FORMS) return false;
  const od_section_class *section = i < FORMS ? &forms[i].section : &steady_section;
  *key = (od_key){i < FORMS ? forms[i].name : "steady_steps", OD_SECTION, NULL, section->meaning, .inside = section};
  return true;
}
const od_section_class od_segment_section = {"segment", "one kind of segment", .more = form_key};

// Adds `count` to the number of segments of all sequences of the machine. If the sum exceeds MOST_SEGMENTS, reports an error (once
// for the machine) and returns false.
static bool count_segments(sequence_reader *r, int node, int count) {
  int *all = &r->ld->draft->segments;
  if (*all > MOST_SEGMENTS) return false;
  *all += count;
  if (*all > MOST_SEGMENTS)
    od_complain(r->ld, node, "the sequences of the machine have %d segments in total; at most %d are allowed", *all,
                MOST_SEGMENTS);
  return *all <= MOST_SEGMENTS;
}

static void add_segment(sequence_reader *r, segment s) {
  segment *list = od_arena_extend(r->scratch, r->segment, r->segments, sizeof *list);
  if (!list) return;
  r->segment = list;
  r->segment[r->segments++] = s;
}

// --- Segments -----------------------------------------------------------------------------------------------------

// Returns the frequency of a sine in Hz, given directly or by the number of periods in the duration. The number of periods may be
// fractional.
static double sine_frequency(od_loader *ld, const od_section *section, int first) {
  bool frequency = od_number_is_given(ld, first + 2), periods = od_number_is_given(ld, first + 4);
  if (frequency && periods)
    od_complain_number(ld, first + 4, "%s has both 'frequency' and 'periods'; expected one of these keys",
                       section->what);
  if (!frequency && !periods && !section->has_unknown) od_section_lacks(ld, section, "frequency' or 'periods");
  return frequency ? od_number_value(ld, first + 2) : od_number_value(ld, first + 4) / od_number_value(ld, first);
}

// Reads the numbers of one segment.
static void read_segment(sequence_reader *r, const segment_form *form, int value, int key, const char *path,
                         const char *what) {
  od_section section = od_section_open(r->ld, value, key, path, what, &form->section);
  if (section.map < 0) return;
  int first = r->ld->document->numbers.count;
  segment s = {{form->kind}};
  for (int i = 0; i < form->section.count; i++) {
    const od_key *number = &form->section.keys[i];
    od_read_key_in(r->ld, &section, number->name, number->of != NULL ? number->of : r->unit, OD_IN_LOADER);
    if (i + 1 < OD_SEGMENT_NUMBERS) s.number[1 + i] = od_number_value(r->ld, first + i);
  }
  if (form->kind == OD_SEGMENT_SINE) s.number[3] = sine_frequency(r->ld, &section, first);
  add_segment(r, s);
}

// --- Steps whose heights follow a density -------------------------------------------------------------------------

// Reads 'density': floor + peak exp(-rate v). Without 'density' the density is uniform.
static od_density read_density(sequence_reader *r, const od_section *steps, double from, double to) {
  od_loader *ld = r->ld;
  od_density d = {.floor = 1};
  int node = od_section_get(ld, steps, "density");
  if (node < 0) return d;
  od_section section = od_section_open(ld, node, node, od_path(ld, steps->path, "density"),
                                       od_format(ld, "the density of %s", steps->what), &density_section);
  if (section.map < 0) return d;
  int before = od_messages_errors(ld->messages), first = od_read_keys(ld, &section, OD_IN_LOADER, "peak", NULL);
  od_read_key_in(ld, &section, "rate", od_format(ld, "1/(%s)", r->unit), OD_IN_LOADER);
  od_read_keys(ld, &section, OD_IN_LOADER, "floor", NULL);
  d = (od_density){od_number_value(ld, first), od_number_value(ld, first + 1), od_number_value(ld, first + 2)};
  if (od_messages_errors(ld->messages) == before && from < to && isnan(od_density_place(&d, from, to, 2, 1)))
    od_complain(
        ld, node,
        "the density floor + peak exp(-rate v) with floor %g, peak %g and rate %g is not above zero and finite for "
        "all v from %g to %g%s; change 'floor', 'peak' or 'rate'",
        d.floor, d.peak, d.rate, from, to, strcmp(r->unit, "1") == 0 ? "" : od_format(ld, " %s", r->unit));
  return d;
}

enum { NEGATIVE = 1, ALTERNATING };  // indices of the words of 'direction'

static void read_steady_steps(sequence_reader *r, int value, int key, const char *path, const char *what) {
  od_loader *ld = r->ld;
  od_section section = od_section_open(ld, value, key, path, what, &steady_section);
  if (section.map < 0) return;
  int before = od_messages_errors(ld->messages), first = od_read_key_in(ld, &section, "from", r->unit, OD_IN_LOADER);
  od_read_key_in(ld, &section, "to", r->unit, OD_IN_LOADER);
  od_read_keys(ld, &section, OD_IN_LOADER, "count", "duration", NULL);
  od_read_key_in(ld, &section, "distance", od_format(ld, "(%s) s", r->unit), OD_IN_LOADER);
  od_read_keys(ld, &section, OD_IN_LOADER, "time_constant", NULL);
  double from = od_number_value(ld, first), to = od_number_value(ld, first + 1);
  int count = (int)od_read_whole(ld, first + 2, "count", 2, MOST_STEPS);
  double most = od_number_value(ld, first + 3), distance = od_number_value(ld, first + 4);
  double lag = od_number_value(ld, first + 5);
  if (od_messages_errors(ld->messages) == before && !(from < to))
    od_complain_relation(ld, first + 1, "more than", first, NULL);
  od_density density = read_density(r, &section, from, to);
  int direction = od_key_choice(ld, &section, "direction");
  if (od_messages_errors(ld->messages) != before) return;
  int signs = direction == ALTERNATING ? 2 : 1;
  if (!count_segments(r, value, signs * count - 1)) return;
  for (int i = 0; i < signs * count && !r->scratch->exhausted; i++) {
    double height = od_density_place(&density, from, to, count, i / signs);
    double duration = distance > 0 && distance < most * height ? distance / height : most;
    double to_value = direction == NEGATIVE || i % signs == 1 ? -height : height;
    add_segment(r, (segment){{lag > 0 ? OD_SEGMENT_LAGGED_STEP : OD_SEGMENT_STEP, duration, to_value, lag}});
  }
}

// --- The list -----------------------------------------------------------------------------------------------------

// Reads an entry of the sequence: a map with one kind of segment.
static void read_entry(sequence_reader *r, int node, const char *path, const char *what) {
  od_loader *ld = r->ld;
  od_section section = od_section_open(ld, node, node, path, what, &od_segment_section);
  if (section.map < 0) return;
  const od_tree_node *map = &ld->tree.node[node];
  if (map->count != 1) {
    if (!section.has_unknown)
      od_complain(
          ld, node,
          "%s has %d kinds of segments; expected one of hold, step, ramp, half_cosine, sine, lagged_step, steady_steps",
          what, map->count);
    return;
  }
  int key = map->first, value = od_value(ld, key);
  const char *kind = od_text_of(ld, key), *kind_path = od_path(ld, path, kind);
  const char *kind_what = od_format(ld, "the %s in %s", kind, what);
  if (strcmp(kind, "steady_steps") == 0) read_steady_steps(r, value, key, kind_path, kind_what);
  for (int i = 0; i < FORMS; i++)
    if (strcmp(kind, forms[i].name) == 0) read_segment(r, &forms[i], value, key, kind_path, kind_what);
}

int od_load_sequence(od_loader *ld, int node, const char *path, const char *what, const char *unit) {
  if (od_list_count(ld, node) == 0) {
    od_complain(ld, node, "found %s; 'sequence' must be a list of segments",
                od_is_list(ld, node) ? "an empty list" : od_describe(ld, node));
    return -1;
  }
  OD_SCRATCH(scratch);
  int before = od_messages_errors(ld->messages), count = 0;
  sequence_reader r = {.ld = ld, .unit = unit, .scratch = &scratch};
  if (!count_segments(&r, node, od_list_count(ld, node))) return -1;
  for (int at = od_list_first(ld, node); at >= 0; at = ld->tree.node[at].next, count++)
    read_entry(&r, od_entry(ld, at), od_format(ld, "%s[%d]", path, count),
               od_format(ld, "segment %d of %s", count + 1, what));
  if (od_messages_errors(ld->messages) != before) return -1;
  // The signal begins with its initial value, which is zero.
  int numbers = 1 + r.segments * OD_SEGMENT_NUMBERS, signal = -1;
  double *number = OD_TAKE(&scratch, double, numbers);
  if (number && r.segments > 0) memcpy(number + 1, r.segment, (size_t)r.segments * sizeof *r.segment);
  if (!scratch.exhausted) signal = od_signals_add(ld->draft->machine->signals, OD_SIGNAL_SEQUENCE, 0, number, numbers);
  if (signal < 0) ld->no_memory = true;
  return signal;
}
