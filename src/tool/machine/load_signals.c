// Signals: a constant, or a map with exactly one kind of signal. The table of forms says which numbers each kind has,
// in the order in which src/core/signals wants them.
#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "machine/machine_loader.h"
#include "machine/signal_forms.h"

enum {
  MOST_FIELDS = 6,
  DEEPEST_SUM = 16,
  MOST_SIGNALS = 10000,  // aliases make large machines of small files
  MOST_FREQUENCIES = 100000,
};

static const char *const of_input = NULL;  // a field in the input's own unit

typedef struct signal_form {
  const char *name;
  od_signal_kind kind;
  bool pairs;  // it has 'at', a list of times and values
  int fields;
  od_field field[MOST_FIELDS];
} signal_form;

static const signal_form forms[] = {
    {"sine",
     OD_SIGNAL_SINE,
     false,
     5,
     {{"amplitude", of_input, OD_ANY, NAN},
      {"frequency", "Hz", OD_POSITIVE, NAN},
      {"phase", "rad", OD_ANY, 0},
      {"offset", of_input, OD_ANY, 0},
      {"start", "s", OD_ANY, 0}}},
    {"chirp",
     OD_SIGNAL_CHIRP,
     false,
     6,
     {{"amplitude", of_input, OD_ANY, NAN},
      {"from", "Hz", OD_NOT_NEGATIVE, NAN},
      {"to", "Hz", OD_NOT_NEGATIVE, NAN},
      {"duration", "s", OD_POSITIVE, NAN},
      {"offset", of_input, OD_ANY, 0},
      {"start", "s", OD_ANY, 0}}},
    {"stepped_sine",
     OD_SIGNAL_STEPPED_SINE,
     false,
     5,
     {{"amplitude", of_input, OD_ANY, NAN},
      {"from", "Hz", OD_POSITIVE, NAN},
      {"to", "Hz", OD_POSITIVE, NAN},
      {"step", "Hz", OD_POSITIVE, NAN},
      {"periods", "1", OD_POSITIVE, NAN}}},
    {"steps", OD_SIGNAL_STEPS, true, 1, {{"initial", of_input, OD_ANY, 0}}},
    {"lagged_steps",
     OD_SIGNAL_LAGGED_STEPS,
     true,
     2,
     {{"time_constant", "s", OD_POSITIVE, NAN}, {"initial", of_input, OD_ANY, 0}}},
    {"ramps", OD_SIGNAL_RAMPS, true, 0, {{0}}},
    {"half_cosines", OD_SIGNAL_HALF_COSINES, true, 0, {{0}}},
    {"prbs",
     OD_SIGNAL_PRBS,
     false,
     5,
     {{"low", of_input, OD_ANY, NAN},
      {"high", of_input, OD_ANY, NAN},
      {"bit", "s", OD_POSITIVE, NAN},
      {"seed", "1", OD_NOT_NEGATIVE, 1},
      {"order", "1", OD_ANY, 10}}},
};
enum { FORMS = sizeof forms / sizeof forms[0] };

od_signal_form od_signal_form_at(int i) {
  if (i < 0 || i >= FORMS) return (od_signal_form){.name = NULL};
  const signal_form *f = &forms[i];
  return (od_signal_form){f->name, f->field, f->fields, f->pairs, f->kind == OD_SIGNAL_CHIRP};
}

static const char *const kinds[] = {"constant",     "sine",       "chirp",        "stepped_sine", "steps",
                                    "lagged_steps", "ramps",      "half_cosines", "prbs",         "sum",
                                    "sequence",     "derivative", "file",         "unit",         NULL};

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

// --- Checks between numbers ---------------------------------------------------------------------------------------

// `first` is the number of the form's first field.
static void check_chirp(od_loader *ld, int first, bool logarithmic) {
  for (int i = 1; i <= 2; i++)
    if (logarithmic && od_number_value(ld, first + i) <= 0)
      od_complain_number(ld, first + i, "a logarithmic sweep cannot have the frequency zero");
}

static void check_stepped_sine(od_loader *ld, int first) {
  double from = od_number_value(ld, first + 1), to = od_number_value(ld, first + 2);
  double step = od_number_value(ld, first + 3);
  od_read_whole(ld, first + 4, "periods", 1, 1e6);
  if (from > to) od_complain_number(ld, first + 2, "'to' is less than 'from'");
  if (step > 0 && (to - from) / step > MOST_FREQUENCIES)
    od_complain_number(ld, first + 3, "'step' gives more than %d frequencies", MOST_FREQUENCIES);
}

static void check_form(od_loader *ld, const signal_form *form, int first, int flag) {
  if (form->kind == OD_SIGNAL_CHIRP) check_chirp(ld, first, flag == 1);
  if (form->kind == OD_SIGNAL_STEPPED_SINE) check_stepped_sine(ld, first);
  if (form->kind == OD_SIGNAL_PRBS) {
    od_read_whole(ld, first + 3, "seed", 0, 4294967295.0);
    od_read_whole(ld, first + 4, "order", 2, 31);
  }
}

// --- Signals with numbers -----------------------------------------------------------------------------------------

static const char *const sweeps[] = {"linear", "logarithmic", NULL};

// The keys of a form; room for all fields, 'at', 'sweep' and the end.
static void list_keys(const signal_form *form, const char *keys[MOST_FIELDS + 3]) {
  int count = 0;
  for (int i = 0; i < form->fields; i++) keys[count++] = form->field[i].key;
  if (form->pairs) keys[count++] = "at";
  if (form->kind == OD_SIGNAL_CHIRP) keys[count++] = "sweep";
  keys[count] = NULL;
}

// Reads the pair [time, value] at a node into two numbers; false when it is none.
static bool read_pair(od_loader *ld, int node, const char *path, const char *unit, double pair[2], int *time_number) {
  int entry[2];
  if (!od_read_list(ld, node, "at", "pairs [time, value]", 2, entry)) return false;
  const od_field field[2] = {{"time", "s", OD_ANY, NAN}, {"value", unit, OD_ANY, NAN}};
  for (int i = 0; i < 2; i++) {
    const char *entry_path = od_format(ld, "%s[%d]", path, i);
    int number = od_read_number_as(ld, entry[i], entry_path, &field[i], "", od_place_of(ld, node), OD_IN_LOADER);
    if (i == 0) *time_number = number;
    pair[i] = od_number_value(ld, number);
  }
  return true;
}

// Reads 'at' into numbers[0 ..]; returns how many pairs it has. numbers has room for all.
static int read_pairs(od_loader *ld, const od_section *section, int node, const char *unit, double *numbers) {
  int count = 0;
  for (int at = ld->tree.node[node].first; at >= 0; at = ld->tree.node[at].next, count++) {
    const char *path = od_format(ld, "%s.at[%d]", section->path, count);
    double *pair = numbers + 2 * count;
    int time;
    pair[0] = pair[1] = 0;
    if (!read_pair(ld, od_tree_value(&ld->tree, at), path, unit, pair, &time)) {
      if (count > 0) pair[0] = pair[-2];
    } else if (count > 0 && !(pair[0] > pair[-2])) {
      od_complain_number(ld, time, "times must increase; %g s does not come after %g s", pair[0], pair[-2]);
    }
  }
  return count;
}

static int load_form(od_loader *ld, const signal_form *form, const od_section *section, const char *unit) {
  od_field field[MOST_FIELDS];
  for (int i = 0; i < form->fields; i++) {
    field[i] = form->field[i];
    if (field[i].unit == of_input) field[i].unit = unit;
  }
  int before = od_messages_errors(ld->messages), flag = 0;
  int first = od_read_fields(ld, section, field, form->fields, OD_IN_LOADER);
  int sweep = od_section_get(ld, section, "sweep");
  if (sweep >= 0) flag = od_read_choice(ld, sweep, "sweep", sweeps);
  // An unknown key has been reported before, and may be what is missing here.
  bool sound = !section->has_unknown;
  if (sound && od_messages_errors(ld->messages) == before) check_form(ld, form, first, flag);

  int at = form->pairs ? od_section_need(ld, section, "at") : -1;
  bool is_list = at >= 0 && ld->tree.node[at].kind == OD_TREE_LIST && ld->tree.node[at].count > 0;
  if (at >= 0 && !is_list)
    od_complain(ld, at, "found %s; 'at' wants a list of pairs [time, value]",
                ld->tree.node[at].kind == OD_TREE_LIST ? "an empty list" : od_describe(ld, at));
  size_t room = (size_t)form->fields + 2 * (size_t)(is_list ? ld->tree.node[at].count : 0);
  double *numbers = malloc((room + 1) * sizeof *numbers);
  if (numbers == NULL) return finish_signal(ld, -1);
  for (int i = 0; i < form->fields; i++) numbers[i] = od_number_value(ld, first + i);
  int pairs = is_list ? read_pairs(ld, section, at, unit, numbers + form->fields) : 0;
  int signal = -1;
  if (sound && od_messages_errors(ld->messages) == before)
    signal = finish_signal(
        ld, od_signals_add(ld->draft->machine->signals, form->kind, flag, numbers, form->fields + 2 * pairs));
  free(numbers);
  return signal;
}

// --- Sums ---------------------------------------------------------------------------------------------------------

static int load_sum(od_loader *ld, int node, const char *path, const char *what, const char *unit) {
  const od_tree_node *list = &ld->tree.node[node];
  if (list->kind != OD_TREE_LIST || list->count == 0) {
    od_complain(ld, node, "found %s; 'sum' wants a list of signals",
                list->kind == OD_TREE_LIST ? "an empty list" : od_describe(ld, node));
    return -1;
  }
  if (ld->draft->sums == DEEPEST_SUM) {
    od_complain(ld, node, "sums are nested deeper than %d levels", DEEPEST_SUM);
    return -1;
  }
  int *child = malloc((size_t)list->count * sizeof *child);
  if (child == NULL) return finish_signal(ld, -1);
  int count = 0;
  bool sound = true;
  ld->draft->sums++;
  for (int at = list->first; at >= 0; at = ld->tree.node[at].next, count++) {
    const char *child_path = od_format(ld, "%s[%d]", path, count);
    const char *child_what = od_format(ld, "entry %d of the sum in %s", count, what);
    child[count] = od_load_signal(ld, od_tree_value(&ld->tree, at), child_path, child_what, unit);
    sound = sound && child[count] >= 0;
  }
  ld->draft->sums--;
  int signal = sound ? finish_signal(ld, od_signals_add_sum(ld->draft->machine->signals, child, count)) : -1;
  free(child);
  return signal;
}

// --- Derivatives --------------------------------------------------------------------------------------------------

// The signal inside may say its unit, so that an alias of another input's signal serves.
static int load_derivative(od_loader *ld, int node, const char *path, const char *what, const char *unit) {
  if (ld->draft->derivatives > 0) {
    od_complain(ld, node, "a derivative of a derivative is not taken");
    return -1;
  }
  // Names of inputs are known at the top only (load_inputs.c).
  if (ld->tree.node[node].kind == OD_TREE_TEXT && isalpha((unsigned char)od_text_of(ld, node)[0])) {
    od_complain(ld, node, "'%s': only an input as a whole can be the derivative of another one",
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

// The key of the one signal in a map; -1 with a message when there is none or more than one.
static int find_kind(od_loader *ld, const od_section *section) {
  int found = -1;
  for (int key = ld->tree.node[section->map].first; key >= 0; key = od_next(ld, key)) {
    bool is_kind = false;
    for (int i = 0; kinds[i] != NULL; i++) is_kind = is_kind || strcmp(od_text_of(ld, key), kinds[i]) == 0;
    if (!is_kind || strcmp(od_text_of(ld, key), "unit") == 0) continue;
    if (found >= 0) {
      if (strcmp(od_text_of(ld, key), od_text_of(ld, found)) != 0)
        od_complain(ld, key, "%s has two signals, '%s' and '%s'; join them with 'sum'", section->what,
                    od_text_of(ld, found), od_text_of(ld, key));
      return -1;
    }
    found = key;
  }
  return found;
}

int od_load_signal(od_loader *ld, int node, const char *path, const char *what, const char *unit) {
  if (ld->draft->signals++ >= MOST_SIGNALS || ld->document->numbers.count > OD_MOST_NUMBERS) {
    if (ld->draft->signals <= MOST_SIGNALS + 1)
      od_complain(ld, node, "there are more than %d signals or %d numbers in this machine", MOST_SIGNALS,
                  OD_MOST_NUMBERS);
    return -1;
  }
  if (ld->tree.node[node].kind == OD_TREE_TEXT) return load_constant(ld, node, path, unit);
  // Only the signal of an input has a unit; within a sum it is that of the whole.
  const char *keys[sizeof kinds / sizeof kinds[0]];
  memcpy(keys, kinds, sizeof kinds);
  if (ld->draft->sums > 0) keys[sizeof kinds / sizeof kinds[0] - 2] = NULL;
  int before = od_messages_errors(ld->messages);
  od_section section = od_section_open(ld, node, node, path, what, keys);
  if (section.map < 0) return -1;
  int key = find_kind(ld, &section);
  if (key < 0) {
    if (od_messages_errors(ld->messages) == before)
      od_complain(ld, node,
                  "%s has no signal; expected a quantity or one of constant, sine, chirp, stepped_sine, steps, "
                  "lagged_steps, ramps, half_cosines, prbs, sum, sequence, derivative, file",
                  what);
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
    const char *form_keys[MOST_FIELDS + 3];
    list_keys(&forms[i], form_keys);
    const char *form_what = od_format(ld, "the %s of %s", kind, what);
    od_section form_section = od_section_open(ld, value, key, kind_path, form_what, form_keys);
    return form_section.map >= 0 ? load_form(ld, &forms[i], &form_section, unit) : -1;
  }
  return -1;
}
