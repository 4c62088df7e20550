// Sequences: a list of segments, each a map with one kind of segment. The table of forms says which numbers each kind has.
// 'steady_steps' is no segment but makes many: steps whose heights are placed by a density.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "machine/machine_loader.h"
#include "signals/sequence.h"

enum { MOST_FIELDS = 7, MOST_SEGMENTS = 100000, MOST_STEPS = 10000 };

static const char *const of_input = NULL;  // a field in the input's own unit

// What the reading of one sequence works with.
typedef struct sequence_reader {
  od_loader *ld;
  const char *unit;  // of the input
  double *numbers;   // as signals/signal.h wants them
  int count, capacity;
} sequence_reader;

typedef struct segment_form {
  const char *name;
  od_segment_kind kind;
  int fields;  // the first is the duration, the others are in the order of the segment's numbers
  od_field field[MOST_FIELDS];
} segment_form;

static const segment_form forms[] = {
    {"hold", OD_SEGMENT_HOLD, 1, {{"duration", "s", OD_POSITIVE, NAN}}},
    {"step", OD_SEGMENT_STEP, 2, {{"duration", "s", OD_POSITIVE, NAN}, {"to", of_input, OD_ANY, NAN}}},
    {"ramp", OD_SEGMENT_RAMP, 2, {{"duration", "s", OD_POSITIVE, NAN}, {"to", of_input, OD_ANY, NAN}}},
    {"half_cosine", OD_SEGMENT_HALF_COSINE, 2, {{"duration", "s", OD_POSITIVE, NAN}, {"to", of_input, OD_ANY, NAN}}},
    {"sine",
     OD_SEGMENT_SINE,
     5,
     {{"duration", "s", OD_POSITIVE, NAN},
      {"amplitude", of_input, OD_ANY, NAN},
      {"frequency", "Hz", OD_POSITIVE, 0},
      {"phase", "rad", OD_ANY, 0},
      {"periods", "1", OD_POSITIVE, 0}}},
    {"lagged_step",
     OD_SEGMENT_LAGGED_STEP,
     3,
     {{"duration", "s", OD_POSITIVE, NAN}, {"to", of_input, OD_ANY, NAN}, {"time_constant", "s", OD_POSITIVE, NAN}}},
};
enum { FORMS = sizeof forms / sizeof forms[0] };

static const char *const kinds[] = {"hold", "step", "ramp", "half_cosine", "sine", "lagged_step", "steady_steps", NULL};

// Counts the segments of all sequences of the machine; false, with a message, when there are too many.
static bool count_segments(sequence_reader *r, int node, int count) {
  int *all = &r->ld->draft->segments;
  if (*all > MOST_SEGMENTS) return false;
  *all += count;
  if (*all > MOST_SEGMENTS)
    od_complain(r->ld, node, "the sequences of a machine have at most %d segments in all; with these there are %d",
                MOST_SEGMENTS, *all);
  return *all <= MOST_SEGMENTS;
}

static void add_segment(sequence_reader *r, const double segment[OD_SEGMENT_NUMBERS]) {
  if (r->count + OD_SEGMENT_NUMBERS > r->capacity) {
    int larger = 2 * r->capacity + 16 * OD_SEGMENT_NUMBERS;
    double *grown = realloc(r->numbers, (size_t)larger * sizeof *grown);
    if (!grown) {
      r->ld->no_memory = true;
      return;
    }
    r->numbers = grown;
    r->capacity = larger;
  }
  memcpy(r->numbers + r->count, segment, OD_SEGMENT_NUMBERS * sizeof *segment);
  r->count += OD_SEGMENT_NUMBERS;
}

// The fields of a form in the units of this input.
static void own_units(const sequence_reader *r, const od_field *fields, int count, od_field *own) {
  for (int i = 0; i < count; i++) {
    own[i] = fields[i];
    if (own[i].unit == of_input) own[i].unit = r->unit;
  }
}

// --- Segments -----------------------------------------------------------------------------------------------------

// A sine has a frequency or a number of periods in its duration, which need not be whole.
static double sine_frequency(sequence_reader *r, const od_section *section, int first) {
  od_loader *ld = r->ld;
  bool frequency = od_number_is_given(ld, first + 2), periods = od_number_is_given(ld, first + 4);
  if (frequency && periods)
    od_complain_number(ld, first + 4, "%s has 'frequency' and 'periods'; expected one of them", section->what);
  if (!frequency && !periods && !section->has_unknown) od_section_lacks(ld, section, "frequency' or 'periods");
  return frequency ? od_number_value(ld, first + 2) : od_number_value(ld, first + 4) / od_number_value(ld, first);
}

static void read_segment(sequence_reader *r, const segment_form *form, int value, int key, const char *path,
                         const char *what) {
  od_field field[MOST_FIELDS];
  const char *keys[MOST_FIELDS + 1] = {0};
  for (int i = 0; i < form->fields; i++) keys[i] = form->field[i].key;
  own_units(r, form->field, form->fields, field);
  od_section section = od_section_open(r->ld, value, key, path, what, keys);
  if (section.map < 0) return;
  int first = od_read_fields(r->ld, &section, field, form->fields, OD_IN_LOADER);
  double segment[OD_SEGMENT_NUMBERS] = {form->kind};
  for (int i = 0; i < form->fields && i + 1 < OD_SEGMENT_NUMBERS; i++)
    segment[1 + i] = od_number_value(r->ld, first + i);
  if (form->kind == OD_SEGMENT_SINE) segment[3] = sine_frequency(r, &section, first);
  add_segment(r, segment);
}

// --- Steps that are placed by a density ---------------------------------------------------------------------------

// 'density': floor + peak exp(-rate v); without it steps are equally high.
static od_density read_density(sequence_reader *r, const od_section *steps, double from, double to) {
  static const char *const keys[] = {"peak", "rate", "floor", NULL};
  od_loader *ld = r->ld;
  od_density d = {.floor = 1};
  int node = od_section_get(ld, steps, "density");
  if (node < 0) return d;
  const od_field fields[] = {{"peak", "1", OD_NOT_NEGATIVE, NAN},
                             {"rate", od_format(ld, "1/(%s)", r->unit), OD_ANY, NAN},
                             {"floor", "1", OD_NOT_NEGATIVE, NAN}};
  od_section section = od_section_open(ld, node, node, od_path(ld, steps->path, "density"),
                                       od_format(ld, "the density of %s", steps->what), keys);
  if (section.map < 0) return d;
  int before = od_messages_errors(ld->messages), first = od_read_fields(ld, &section, fields, 3, OD_IN_LOADER);
  d = (od_density){od_number_value(ld, first), od_number_value(ld, first + 1), od_number_value(ld, first + 2)};
  if (od_messages_errors(ld->messages) == before && from < to && isnan(od_density_place(&d, from, to, 2, 1)))
    od_complain(ld, node, "the density floor + peak exp(-rate v) must be greater than zero and finite from %g to %g",
                from, to);
  return d;
}

enum { POSITIVE, NEGATIVE, ALTERNATING };

static void read_steady_steps(sequence_reader *r, int value, int key, const char *path, const char *what) {
  static const char *const keys[] = {"from",          "to",        "count",   "duration", "distance",
                                     "time_constant", "direction", "density", NULL};
  static const char *const directions[] = {"positive", "negative", "alternating", NULL};
  od_loader *ld = r->ld;
  const od_field fields[] = {{"from", r->unit, OD_NOT_NEGATIVE, NAN},
                             {"to", r->unit, OD_POSITIVE, NAN},
                             {"count", "1", OD_POSITIVE, NAN},
                             {"duration", "s", OD_POSITIVE, NAN},
                             {"distance", od_format(ld, "(%s) s", r->unit), OD_POSITIVE, 0},
                             {"time_constant", "s", OD_NOT_NEGATIVE, 0}};
  od_section section = od_section_open(ld, value, key, path, what, keys);
  if (section.map < 0) return;
  int before = od_messages_errors(ld->messages);
  int first = od_read_fields(ld, &section, fields, (int)(sizeof fields / sizeof *fields), OD_IN_LOADER);
  double from = od_number_value(ld, first), to = od_number_value(ld, first + 1);
  int count = (int)od_read_whole(ld, first + 2, "count", 2, MOST_STEPS);
  double most = od_number_value(ld, first + 3), distance = od_number_value(ld, first + 4);
  double lag = od_number_value(ld, first + 5);
  if (od_messages_errors(ld->messages) == before && !(from < to))
    od_complain_number(ld, first + 1, "'to' must be greater than 'from'");
  od_density density = read_density(r, &section, from, to);
  int node = od_section_get(ld, &section, "direction");
  int direction = node >= 0 ? od_read_choice(ld, node, "direction", directions) : POSITIVE;
  if (od_messages_errors(ld->messages) != before) return;
  int ways = direction == ALTERNATING ? 2 : 1;
  if (!count_segments(r, value, ways * count - 1)) return;
  for (int i = 0; i < ways * count && !ld->no_memory; i++) {
    double height = od_density_place(&density, from, to, count, i / ways);
    double way = direction == NEGATIVE || i % ways == 1 ? -height : height;
    double segment[OD_SEGMENT_NUMBERS] = {lag > 0 ? OD_SEGMENT_LAGGED_STEP : OD_SEGMENT_STEP,
                                          distance > 0 && distance < most * height ? distance / height : most, way,
                                          lag};
    add_segment(r, segment);
  }
}

// --- The list -----------------------------------------------------------------------------------------------------

static void read_entry(sequence_reader *r, int node, const char *path, const char *what) {
  od_loader *ld = r->ld;
  od_section section = od_section_open(ld, node, node, path, what, kinds);
  if (section.map < 0) return;
  const od_tree_node *map = &ld->tree.node[node];
  if (map->count != 1) {
    if (!section.has_unknown)
      od_complain(ld, node,
                  "%s has %d kinds; expected one of hold, step, ramp, half_cosine, sine, lagged_step, steady_steps",
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
  const od_tree_node *list = &ld->tree.node[node];
  if (list->kind != OD_TREE_LIST || list->count == 0) {
    od_complain(ld, node, "found %s; 'sequence' wants a list of segments",
                list->kind == OD_TREE_LIST ? "an empty list" : od_describe(ld, node));
    return -1;
  }
  int before = od_messages_errors(ld->messages), count = 0;
  sequence_reader r = {.ld = ld, .unit = unit, .numbers = malloc(sizeof(double)), .count = 1, .capacity = 1};
  if (!r.numbers) {
    ld->no_memory = true;
    return -1;
  }
  r.numbers[0] = 0;
  bool fits = count_segments(&r, node, list->count);
  for (int at = fits ? list->first : -1; at >= 0; at = ld->tree.node[at].next, count++)
    read_entry(&r, od_tree_value(&ld->tree, at), od_format(ld, "%s[%d]", path, count),
               od_format(ld, "segment %d of %s", count + 1, what));
  int signal = -1;
  if (fits && !ld->no_memory && od_messages_errors(ld->messages) == before) {
    signal = od_signals_add(ld->draft->machine->signals, OD_SIGNAL_SEQUENCE, 0, r.numbers, r.count);
    ld->no_memory = signal < 0;
  }
  free(r.numbers);
  return signal;
}
