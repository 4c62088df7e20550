// Loads signals: a constant, or a map with exactly one kind of signal.
#include <ctype.h>
#include <math.h>
#include <string.h>

#include "document/ranges.h"
#include "machine/machine_loader.h"
#include "machine/sections.h"
#include "memory/scoped.h"

enum {
  DEEPEST_SUM = 16,
  MOST_SIGNALS = 10000,  // a small file with aliases can describe a huge machine
  MOST_FREQUENCIES = 100000,
};

// --- The forms ----------------------------------------------------------------------------------------------------

// Keys without a unit have the unit of the input.
#define AMPLITUDE \
  { "amplitude", OD_NUMBER, NULL, "amplitude", OD_ANY, OD_REQUIRED }
#define OFFSET \
  { "offset", OD_NUMBER, NULL, "constant that is added to the signal; also the value before the start" }
#define START \
  { "start", OD_NUMBER, "s", "start time of the signal" }
#define PAIRS \
  { "at", OD_ROWS, NULL, "pairs [time, value] with increasing times", .fallback = OD_REQUIRED }
#define INITIAL \
  { "initial", OD_NUMBER, NULL, "value before the first time in `at`" }

static const od_key sine_keys[] = {
    AMPLITUDE,
    {"frequency", OD_NUMBER, "Hz", "frequency", OD_POSITIVE, OD_REQUIRED, OD_RANGE_FREQUENCY},
    {"phase", OD_NUMBER, "rad", "phase at the start"},
    OFFSET,
    START,
};
static const od_key chirp_keys[] = {
    AMPLITUDE,
    {"from", OD_NUMBER, "Hz", "first frequency", OD_NOT_NEGATIVE, OD_REQUIRED, OD_RANGE_SWEEP},
    {"to", OD_NUMBER, "Hz", "last frequency", OD_NOT_NEGATIVE, OD_REQUIRED, OD_RANGE_SWEEP},
    {"duration", OD_NUMBER, "s", "time from the first to the last frequency", OD_POSITIVE, OD_REQUIRED,
     OD_RANGE_DURATION},
    OFFSET,
    START,
    {"sweep", OD_CHOICE, "linear|logarithmic", "change of the frequency with time"},
};
static const od_key stepped_sine_keys[] = {
    AMPLITUDE,
    {"from", OD_NUMBER, "Hz", "first frequency", OD_POSITIVE, OD_REQUIRED, OD_RANGE_SWEEP},
    {"to", OD_NUMBER, "Hz", "last frequency", OD_POSITIVE, OD_REQUIRED, OD_RANGE_SWEEP},
    {"step", OD_NUMBER, "Hz", "step between frequencies", OD_POSITIVE, OD_REQUIRED, OD_RANGE_SWEEP_STEP},
    {"periods",
     OD_WHOLE,
     "1",
     "number of periods of each frequency; the signal is zero after the last period",
     OD_POSITIVE,
     OD_REQUIRED,
     {1, 1e6}},
};
static const od_key steps_keys[] = {INITIAL, PAIRS};
static const od_key lagged_steps_keys[] = {{"time_constant", OD_NUMBER, "s", "time constant of the first-order lag",
                                            OD_POSITIVE, OD_REQUIRED, OD_RANGE_TIME_CONSTANT},
                                           INITIAL,
                                           PAIRS};
static const od_key pairs_keys[] = {PAIRS};
static const od_key prbs_keys[] = {
    {"low", OD_NUMBER, NULL, "the lower value", OD_ANY, OD_REQUIRED},
    {"high", OD_NUMBER, NULL, "the upper value", OD_ANY, OD_REQUIRED},
    {"bit", OD_NUMBER, "s", "duration of one bit", OD_POSITIVE, OD_REQUIRED, OD_RANGE_INTERVAL},
    {"seed", OD_WHOLE, "1", "seed, which determines the start of the sequence", OD_NOT_NEGATIVE, 1, {0, 4294967295.0}},
    {"order", OD_WHOLE, "1", "order of the sequence, which repeats after 2^order - 1 bits", OD_ANY, 10, {2, 31}},
};

typedef struct signal_form {
  const char *name;
  od_signal_kind kind;
  od_section_class section;  // keys of the signal, with the numbers in the order of src/core/signals
} signal_form;

static const signal_form forms[] = {
    {"sine", OD_SIGNAL_SINE, {"sine signal", "a sine; equal to the offset before the start", OD_KEYS(sine_keys)}},
    {"chirp",
     OD_SIGNAL_CHIRP,
     {"chirp", "a sine whose frequency changes; equal to the offset before the start and after the end",
      OD_KEYS(chirp_keys)}},
    {"stepped_sine",
     OD_SIGNAL_STEPPED_SINE,
     {"stepped sine", "whole periods of one frequency after another", OD_KEYS(stepped_sine_keys)}},
    {"steps", OD_SIGNAL_STEPS, {"steps", "jumps at given times", OD_KEYS(steps_keys)}},
    {"lagged_steps",
     OD_SIGNAL_LAGGED_STEPS,
     {"lagged steps", "jumps through a first-order lag", OD_KEYS(lagged_steps_keys)}},
    {"ramps",
     OD_SIGNAL_RAMPS,
     {"ramps", "straight lines; constant before the first and after the last pair", OD_KEYS(pairs_keys)}},
    {"half_cosines",
     OD_SIGNAL_HALF_COSINES,
     {"half cosines", "half-cosines; constant before the first and after the last pair", OD_KEYS(pairs_keys)}},
    {"prbs", OD_SIGNAL_PRBS, {"prbs", "a pseudo-random binary sequence", OD_KEYS(prbs_keys)}},
};
enum { FORMS = sizeof forms / sizeof forms[0] };

// Keys after the keys of the forms. 'unit' is last, because signals within a sum do not have this key.
static const od_key other_keys[] = {
    {"sum", OD_SECTIONS, NULL, "a list of signals, which are added", .inside = &od_signal_section},
    {"sequence", OD_SECTIONS, NULL, "a list of segments, one after another", .inside = &od_segment_section},
    {"derivative", OD_SECTION, NULL, "exact time derivative of a signal, or of another input that is given by name"},
    {"file", OD_SECTION, NULL, "a column of a text, MATLAB, MDF or HDF5 file", .inside = &od_file_signal_section},
    {"unit", OD_TEXT, NULL, "SI unit of the input", .otherwise = "a plain number"},
};
static const od_key constant_keys[] = {{"constant", OD_NUMBER, NULL, "a constant value"}};
enum { OTHERS = sizeof other_keys / sizeof other_keys[0], KINDS = 1 + FORMS + OTHERS - 1 };

static bool more_key(int i, od_key *key) {
  if (i >= FORMS + OTHERS) return false;
  *key = i >= FORMS ? other_keys[i - FORMS]
                    : (od_key){forms[i].name, OD_SECTION, NULL, forms[i].section.meaning, .inside = &forms[i].section};
  return true;
}
const od_section_class od_signal_section = {"signal", "a quantity, or one kind of signal over time",
                                            OD_KEYS(constant_keys), more_key, true};

// Returns `signal`, the index of a new signal. If the index is -1, an allocation failed, and the function sets ld->no_memory.
static int finish_signal(od_loader *ld, int signal) {
  if (signal < 0) ld->no_memory = true;
  return signal;
}

// --- Constants ----------------------------------------------------------------------------------------------------

static int load_constant(od_loader *ld, int node, const char *path, const char *unit) {
  od_field field = {"constant", unit, OD_ANY, NAN};
  int number = od_read_number(ld, node, path, &field, od_place_of(ld, node), OD_IN_LOADER);
  double value = od_number_value(ld, number);
  return finish_signal(ld, od_signals_add(ld->draft->machine->signals, OD_SIGNAL_CONSTANT, 0, &value, 1));
}

// --- Checks of related numbers ------------------------------------------------------------------------------------

// Reports numbers of a form that must be integers but are not, and numbers that contradict each other. `first`: index
// of the form's first number; `sweep`: 1 for a logarithmic chirp.
static void check_form(od_loader *ld, const signal_form *form, int first, int sweep) {
  for (int i = 0; i < form->section.count; i++) {
    const od_key *key = &form->section.keys[i];
    if (key->shape == OD_WHOLE) od_read_whole(ld, first + i, key->name, key->limits.low, key->limits.high);
  }
  for (int i = 1; i <= 2; i++)
    if (form->kind == OD_SIGNAL_CHIRP && sweep == 1 && od_number_value(ld, first + i) <= 0)
      od_complain_number(ld, first + i,
                         "a logarithmic sweep cannot have the frequency zero; expected a frequency greater than zero");
  if (form->kind != OD_SIGNAL_STEPPED_SINE) return;
  double from = od_number_value(ld, first + 1), to = od_number_value(ld, first + 2);
  double step = od_number_value(ld, first + 3);
  if (from > to) od_complain_relation(ld, first + 2, "at least", first + 1, NULL);
  if (step > 0 && (to - from) / step > MOST_FREQUENCIES)
    od_complain_number(ld, first + 3, "'step' gives %.3g frequencies; expected at most %d. Use a larger step",
                       (to - from) / step, MOST_FREQUENCIES);
}

// --- Signals with numbers -----------------------------------------------------------------------------------------

// Reads the pair [time, value] at a node. Returns false if the node is not a pair.
static bool read_pair(od_loader *ld, int node, const char *path, const char *unit, double pair[2], int *time_number) {
  int entry[2];
  if (!od_read_list(ld, node, "at", "pairs [time, value]", 2, entry)) return false;
  const od_field field[2] = {{"time", "s", OD_ANY, NAN}, {"value", unit, OD_ANY, NAN}};
  for (int i = 0; i < 2; i++) {
    const char *entry_path = od_format(ld, "%s[%d]", path, i);
    int number = od_read_number(ld, entry[i], entry_path, &field[i], od_place_of(ld, node), OD_IN_LOADER);
    if (i == 0) *time_number = number;
    pair[i] = od_number_value(ld, number);
  }
  return true;
}

// Reads the list 'at' (a node, or -1) into `numbers`, which must have space for all pairs. Returns the number of pairs.
static int read_pairs(od_loader *ld, const od_section *section, int node, const char *unit, double *numbers) {
  int count = 0;
  for (int at = od_list_first(ld, node); at >= 0; at = ld->tree.node[at].next, count++) {
    const char *path = od_format(ld, "%s.at[%d]", section->path, count);
    double *pair = numbers + 2 * count;
    int time;
    pair[0] = pair[1] = 0;
    if (!read_pair(ld, od_entry(ld, at), path, unit, pair, &time)) {
      if (count > 0) pair[0] = pair[-2];
    } else if (count > 0 && !(pair[0] > pair[-2])) {
      od_complain_number(ld, time, "times must increase; found %g s after %g s", pair[0], pair[-2]);
    }
  }
  return count;
}

static int load_form(od_loader *ld, const signal_form *form, const od_section *section, const char *unit) {
  int before = od_messages_errors(ld->messages), first = ld->document->numbers.count, fields = 0;
  for (; fields < form->section.count; fields++) {
    const od_key *key = &form->section.keys[fields];
    if (key->shape != OD_NUMBER && key->shape != OD_WHOLE) break;
    od_read_key_in(ld, section, key->name, key->of != NULL ? key->of : unit, OD_IN_LOADER);
  }
  int sweep = form->kind == OD_SIGNAL_CHIRP ? od_key_choice(ld, section, "sweep") : 0;
  // An unknown key may be a misspelling of the missing key and has already been reported.
  bool sound = !section->has_unknown;
  if (sound && od_messages_errors(ld->messages) == before) check_form(ld, form, first, sweep);

  bool pairs_wanted = od_section_has(&form->section, "at");
  int at = pairs_wanted ? od_section_need(ld, section, "at") : -1;
  int most = od_list_count(ld, at);
  if (at >= 0 && most == 0)
    od_complain(ld, at, "found %s; 'at' must be a list of pairs [time, value]",
                od_is_list(ld, at) ? "an empty list" : od_describe(ld, at));
  OD_SCRATCH(scratch);
  double *numbers = OD_TAKE(&scratch, double, fields + 2LL * most);
  if (numbers == NULL) return finish_signal(ld, -1);
  for (int i = 0; i < fields; i++) numbers[i] = od_number_value(ld, first + i);
  int count = fields + 2 * read_pairs(ld, section, at, unit, numbers + fields);
  if (!sound || od_messages_errors(ld->messages) != before) return -1;
  return finish_signal(ld, od_signals_add(ld->draft->machine->signals, form->kind, sweep, numbers, count));
}

// --- Sums ---------------------------------------------------------------------------------------------------------

static int load_sum(od_loader *ld, int node, const char *path, const char *what, const char *unit) {
  if (od_list_count(ld, node) == 0) {
    od_complain(ld, node, "found %s; 'sum' must be a list of signals",
                od_is_list(ld, node) ? "an empty list" : od_describe(ld, node));
    return -1;
  }
  if (ld->draft->sums == DEEPEST_SUM) {
    od_complain(ld, node, "sums are nested deeper than %d levels; use fewer levels", DEEPEST_SUM);
    return -1;
  }
  OD_SCRATCH(scratch);
  int *child = OD_TAKE(&scratch, int, od_list_count(ld, node)), count = 0;
  if (child == NULL) return finish_signal(ld, -1);
  bool sound = true;
  ld->draft->sums++;
  for (int at = od_list_first(ld, node); at >= 0; at = ld->tree.node[at].next, count++) {
    const char *child_path = od_format(ld, "%s[%d]", path, count);
    const char *child_what = od_format(ld, "entry %d of the sum in %s", count, what);
    child[count] = od_load_signal(ld, od_entry(ld, at), child_path, child_what, unit);
    sound = sound && child[count] >= 0;
  }
  ld->draft->sums--;
  return sound ? finish_signal(ld, od_signals_add_sum(ld->draft->machine->signals, child, count)) : -1;
}

// --- Derivatives --------------------------------------------------------------------------------------------------

// Loads a derivative. The inner signal may have 'unit', so that an alias of another input's signal is allowed. Returns
// the index of the signal, or -1 after an error.
static int load_derivative(od_loader *ld, int node, const char *path, const char *what, const char *unit) {
  if (ld->draft->derivatives > 0) {
    od_complain(ld, node,
                "the derivative of a derivative is not possible; expected a signal that contains no derivative");
    return -1;
  }
  // Names of inputs are allowed at the top level only (load_inputs.c).
  if (od_is_text(ld, node) && isalpha((unsigned char)od_text_of(ld, node)[0])) {
    od_complain(
        ld, node,
        "'%s' is the name of an input; expected a signal. Only an input as a whole can be 'derivative: NAME'; define a separate input for this derivative",
        od_excerpt(ld, od_text_of(ld, node)));
    return -1;
  }
  int sums = ld->draft->sums;
  ld->draft->derivatives++;
  ld->draft->sums = 0;
  int child =
      od_load_signal(ld, node, path, od_format(ld, "the derivative in %s", what), od_format(ld, "(%s) s", unit));
  ld->draft->derivatives--;
  ld->draft->sums = sums;
  return child >= 0 ? finish_signal(ld, od_signals_add_derivative(ld->draft->machine->signals, child)) : -1;
}

// --- One signal ---------------------------------------------------------------------------------------------------

// Returns the key of the signal in a map; -1: there is no such key, or there are several keys. Reports two different keys.
static int find_kind(od_loader *ld, const od_section *section) {
  int found = -1;
  for (int key = ld->tree.node[section->map].first; key >= 0; key = od_next(ld, key)) {
    const char *name = od_text_of(ld, key);
    if (!od_section_has(&od_signal_section, name) || strcmp(name, "unit") == 0) continue;
    if (found >= 0) {
      if (strcmp(od_text_of(ld, key), od_text_of(ld, found)) != 0)
        od_complain(ld, key, "%s has two signals, '%s' and '%s'; add these signals with 'sum'", section->what,
                    od_text_of(ld, found), od_text_of(ld, key));
      return -1;
    }
    found = key;
  }
  return found;
}

int od_load_signal(od_loader *ld, int node, const char *path, const char *what, const char *unit) {
  int signals = ++ld->draft->signals;
  if (signals > MOST_SIGNALS) {
    if (signals == MOST_SIGNALS + 1)
      od_complain(ld, node, "the machine has more than %d signals, the largest allowed number; use fewer signals",
                  MOST_SIGNALS);
    return -1;
  }
  if (ld->document->numbers.count > OD_MOST_NUMBERS) {
    od_complain(ld, node,
                "the machine has more than %d numbers, the largest allowed number; use fewer points in its tables",
                OD_MOST_NUMBERS);
    return -1;
  }
  if (od_is_text(ld, node)) return load_constant(ld, node, path, unit);
  // Only the signal of an input has a unit. Signals within a sum have the unit of the sum.
  const char *names[OD_MOST_KEYS];
  od_section_names(&od_signal_section, names);
  if (ld->draft->sums > 0) names[KINDS] = NULL;
  int before = od_messages_errors(ld->messages);
  od_section section = od_section_open_names(ld, node, node, path, what, names);
  if (section.map < 0) return -1;
  int key = find_kind(ld, &section);
  if (key < 0) {
    const char *list = "";
    for (int i = 0; i < KINDS; i++) list = od_format(ld, "%s%s%s", list, i > 0 ? ", " : "", names[i]);
    if (od_messages_errors(ld->messages) == before)
      od_complain(ld, node, "%s has no signal; expected a quantity or one of %s", what, list);
    return -1;
  }
  const char *kind = od_text_of(ld, key);
  const char *kind_path = od_path(ld, path, kind);
  int value = od_value(ld, key);
  if (strcmp(kind, "constant") == 0) return load_constant(ld, value, kind_path, unit);
  if (strcmp(kind, "sum") == 0) return load_sum(ld, value, kind_path, what, unit);
  if (strcmp(kind, "derivative") == 0) return load_derivative(ld, value, kind_path, what, unit);
  if (strcmp(kind, "sequence") == 0) return od_load_sequence(ld, value, kind_path, what, unit);
  if (strcmp(kind, "file") == 0) return od_load_file_signal(ld, value, key, what, unit);
  for (int i = 0; i < FORMS; i++) {
    if (strcmp(kind, forms[i].name) != 0) continue;
    const char *form_what = od_format(ld, "the %s of %s", kind, what);
    od_section form_section = od_section_open(ld, value, key, kind_path, form_what, &forms[i].section);
    return form_section.map >= 0 ? load_form(ld, &forms[i], &form_section, unit) : -1;
  }
  return -1;
}
