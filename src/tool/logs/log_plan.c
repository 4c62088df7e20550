// Loads the section 'data' of a file: the log, and the columns of the machine's outputs and inputs.
#include <math.h>
#include <string.h>

#include "document/document.h"
#include "document/ranges.h"
#include "document/suggest.h"
#include "logs/log.h"

static const size_t most_held = 4000000;  // largest size of a log that is kept in memory, bytes

#define HOLD_WORDS "linear|previous|next"
const char *const od_log_hold_words[] = {"linear", "previous", "next", NULL};

static const od_key channel_keys[] = {
    {"column", OD_TEXT, NULL, "name or number of the column", .otherwise = "the name of the channel"},
    {"unit", OD_TEXT, NULL, "unit of the column", .otherwise = "the unit in the header, else SI"},
    {"scale", OD_NUMBER, "1", "factor of the column's values", OD_ANY, 1},
    {"offset", OD_NUMBER, "1", "offset that is added to the values, in the unit of the column"},
    {"file", OD_TEXT, NULL, "file with the column, if the log has several files", .otherwise = "any file of the log"},
    {"delay", OD_NUMBER, "s", "time by which the values are late; negative: they are early"},
    {"hold", OD_CHOICE, HOLD_WORDS, "values of an input between rows", .otherwise = "`hold` of the log"}};
static const od_section_class channel_section = {"channel",
                                                 "a column of a log: its name or number, or a map with these "
                                                 "keys",
                                                 OD_KEYS(channel_keys), .or_word = true};

#define CLOCK_KEYS                                                                                          \
  {"delay", OD_NUMBER, "s", "time by which the clock of the file is late; negative: it is early"}, {        \
    "drift", OD_NUMBER, "1",                                                                                \
        "relative error of the clock of the file, such as `20e-6` for a clock that gains 20 us in a second" \
  }

static const od_key file_keys[] = {
    {"file", OD_TEXT, NULL, "a file of the log", .fallback = OD_REQUIRED},
    {"time", OD_SECTION, NULL, "time column", .inside = &channel_section, .otherwise = "`time` of the log"},
    {"interval", OD_NUMBER, "s", "time between the rows of a file without a time column", OD_POSITIVE, 0,
     OD_RANGE_INTERVAL, "`interval` of the log"},
    {"skip", OD_NUMBER, "1", "number of lines before the header of a text file", OD_NOT_NEGATIVE, 0,
     .otherwise = "`skip` of the log"},
    {"missing", OD_TEXTS, NULL, "numbers and texts that mark a missing sample", .otherwise = "`missing` of the log"},
    {"database", OD_TEXTS, NULL, "DBC files of a CAN trace", .otherwise = "`database` of the log"},
    CLOCK_KEYS,
};
static const od_section_class file_section = {"log file", "a file of a log, with its own clock", OD_KEYS(file_keys)};

static const od_key log_keys[] = {
    {"file", OD_TEXTS, NULL, "file with the log, or list of files, whose rows are merged by time"},
    {"files", OD_SECTIONS, NULL, "several files with their own settings and clocks, instead of `file`",
     .inside = &file_section},
    {"time", OD_SECTION, NULL, "time column", .inside = &channel_section, .otherwise = "found by its name"},
    {"channels", OD_SECTION_MAP, NULL, "inputs and outputs of the machine, and their columns",
     .inside = &channel_section},
    {"start", OD_NUMBER, "s", "time of the first row in use", .otherwise = "the beginning"},
    {"end", OD_NUMBER, "s", "time of the last row in use", .otherwise = "the end"},
    {"interval", OD_NUMBER, "s", "time between the rows of a log without a time column", OD_POSITIVE, 0,
     OD_RANGE_INTERVAL, "given by `time`"},
    {"skip", OD_NUMBER, "1", "number of lines before the header of a text file", OD_NOT_NEGATIVE, 0,
     .otherwise = "the header is detected"},
    {"missing", OD_SECTION, NULL, "numbers and texts that mark a missing sample"},
    {"database", OD_TEXTS, NULL, "DBC file, or list of DBC files, with the messages of a CAN trace"},
    CLOCK_KEYS,
    {"hold", OD_CHOICE, HOLD_WORDS,
     "values of the inputs between rows. `linear`: linear interpolation. `previous`: the previous value is held. `next`: the value of a "
     "row applies since the previous row"},
};
const od_section_class od_log_section = {"log", "a log and its columns", OD_KEYS(log_keys)};

void od_log_plan_free(od_log_plan *plan) {
  od_arena_free(&plan->memory);
  *plan = (od_log_plan){0};
}

void od_log_plan_init(od_log_plan *plan) {
  *plan = (od_log_plan){.time = {.name = "time", .unit = "s", .scale = 1, .otherwise = NAN, .at = -1},
                        .start = -INFINITY,
                        .end = INFINITY,
                        .most_held = most_held};
}

od_log_source od_log_source_of(const od_log_plan *plan, const char *path, od_place place) {
  return (od_log_source){.path = path,
                         .place = place,
                         .time = plan->time,
                         .interval = plan->interval,
                         .missing = plan->missing,
                         .skip = plan->skip,
                         .databases = plan->databases,
                         .delay = plan->delay,
                         .drift = plan->drift};
}

od_table_wish od_log_table_wish(const od_log_source *source, const char *const *columns) {
  static const char *const none[] = {NULL};
  return (od_table_wish){.missing = source->missing ? source->missing : none,
                         .time = source->time.column,
                         .columns = columns,
                         .time_form = source->time.file_unit,
                         .no_time = source->interval > 0,
                         .skip = source->skip,
                         .databases = source->databases};
}

int od_log_find(const od_log_plan *plan, const char *name) {
  for (int i = 0; i < plan->channels; i++)
    if (strcmp(plan->channel[i].name, name) == 0) return i;
  return -1;
}

int od_log_add(od_log_plan *plan, const od_channel *channel) {
  od_channel *list = od_arena_extend(&plan->memory, plan->channel, plan->channels, sizeof *list);
  if (!list) return -1;
  plan->channel = list;
  list[plan->channels] = *channel;
  return plan->channels++;
}

int od_log_want(od_log_plan *plan, const char *name, const char *unit, bool is_input, double otherwise) {
  int known = od_log_find(plan, name);
  if (known >= 0) {
    // An input may also be an output with the same name. A channel of an option has no unit yet.
    od_channel *c = &plan->channel[known];
    c->is_input = c->is_input || is_input;
    if (c->has_columns_unit && unit) c->unit = unit, c->has_columns_unit = false;
    return known;
  }
  const od_channel channel = {.name = name,
                              .unit = unit,
                              .has_columns_unit = !unit,
                              .is_input = is_input,
                              .scale = 1,
                              .otherwise = otherwise,
                              .at = -1};
  return od_log_add(plan, &channel);
}

int od_log_want_named(od_log_plan *plan, const char *name, const char *unit, od_place place) {
  bool is_known = od_log_find(plan, name) >= 0;
  int at = od_log_want(plan, name, unit, false, NAN);
  if (at < 0 || is_known) return at;
  plan->channel[at].column = name;
  plan->channel[at].place = place;
  return at;
}

int od_log_want_column(od_log_plan *plan, const od_log *log, int input, int column, const char *unit) {
  for (int i = 0; i < plan->channels; i++)
    if (plan->channel[i].number == column + 1 && plan->channel[i].from_number == input + 1) return i;
  const char *name = od_arena_text(&plan->memory, od_log_head(log, input)->name[column]);
  if (!name) return -1;
  int mapped = od_log_find(plan, name);
  if (mapped >= 0 && plan->channel[mapped].is_mapped) return od_log_want(plan, name, unit, false, NAN);
  const od_channel channel = {.name = name,
                              .unit = unit,
                              .has_columns_unit = !unit,
                              .number = column + 1,
                              .from_number = input + 1,
                              .scale = 1,
                              .otherwise = NAN,
                              .at = -1};
  return od_log_add(plan, &channel);
}

// --- Channels -----------------------------------------------------------------------------------------------------

static int find_input(const od_machine *machine, const char *name) {
  for (int i = 0; i < od_machine_input_count(machine); i++)
    if (strcmp(od_machine_input_name(machine, i), name) == 0) return i;
  return -1;
}

// Reads a column: a name or a number, or a map with the keys of channel_section.
static void read_column(od_loader *ld, int node, int key, const char *path, od_channel *c) {
  int column = node;
  if (ld->tree.node[node].kind != OD_TREE_TEXT) {
    od_section section = od_section_open(ld, node, key, path,
                                         od_format(ld, "the channel '%s'", od_excerpt(ld, c->name)), &channel_section);
    if (section.map < 0) return;
    int unit = od_section_get(ld, &section, "unit");
    column = od_section_get(ld, &section, "column");
    c->file_unit = od_read_text(ld, unit, "unit", "a unit");
    c->unit_place = od_place_of(ld, unit);
    int first = od_read_keys(ld, &section, OD_IN_LOADER, "scale", "offset", "delay", NULL);
    c->scale = od_number_value(ld, first);
    c->offset = od_number_value(ld, first + 1);
    c->delay = od_number_value(ld, first + 2);
    c->has_own_hold = od_section_get(ld, &section, "hold") >= 0;
    if (c->has_own_hold) c->hold = (od_log_hold)od_key_setting(ld, &section, "hold");
    int from = od_section_get(ld, &section, "file");
    const char *name = od_read_text(ld, from, "file", "the name of a file of the log");
    c->from = name ? od_document_beside(ld, from, name) : NULL;
    if (c->scale == 0) od_complain_number(ld, first, "'scale' is 0; expected a factor other than 0");
  }
  c->column = od_read_text(ld, column, "column", "the name or the number of a column");
  c->is_mapped = true;
  c->place = od_place_of(ld, column >= 0 ? column : key);
}

// Reads a channel of the section 'channels'.
static void read_channel(od_loader *ld, int key, const char *path, const od_machine *machine, od_log_plan *plan) {
  const char *name = od_text_of(ld, key);
  int input = find_input(machine, name), output = od_machine_output_find(machine, name);
  if (input < 0 && output < 0) {
    od_nearest nearest = od_nearest_to(name);
    for (int i = 0; i < od_machine_input_count(machine); i++)
      od_nearest_try(&nearest, od_machine_input_name(machine, i));
    for (int i = 0; i < od_machine_output_count(machine); i++)
      od_nearest_try(&nearest, od_machine_output_name(machine, i));
    od_complain_unknown(ld, key, "input or output", "inputs and outputs", &nearest);
    return;
  }
  if (od_log_find(plan, name) >= 0) {
    od_complain(ld, key, "'%s' is given twice; remove one entry", od_excerpt(ld, name));
    return;
  }
  const char *unit = input >= 0 ? od_machine_input_unit(machine, input) : od_machine_output_unit(machine, output);
  int channel = od_log_want(plan, name, unit, input >= 0, NAN);
  if (channel < 0)
    ld->no_memory = true;
  else
    read_column(ld, od_value(ld, key), key, od_format(ld, "%s.channels.%s", path, name), &plan->channel[channel]);
}

// --- The section --------------------------------------------------------------------------------------------------

// Reads one text, or a list of texts, as a list that ends with NULL. Returns NULL if the key is not given, or after
// reporting an error.
static const char **read_texts(od_loader *ld, int node, const char *label, const char *wanted, od_log_plan *plan) {
  if (node < 0) return NULL;
  const od_tree_node *list = &ld->tree.node[node];
  bool single = list->kind == OD_TREE_TEXT;
  if (list->kind != OD_TREE_LIST && !single) {
    od_complain(ld, node, "found %s; expected %s", od_describe(ld, node), wanted);
    return NULL;
  }
  const char **texts = OD_TAKE(&plan->memory, const char *, (single ? 1 : list->count) + 1);
  if (!texts) {
    ld->no_memory = true;
    return NULL;
  }
  int count = 0;
  for (int at = single ? node : list->first; at >= 0; at = single ? -1 : ld->tree.node[at].next) {
    const char *text = od_read_text(ld, od_tree_value(&ld->tree, at), label, wanted);
    if (text) texts[count++] = text;
  }
  return texts;
}

// Reads the names of databases, relative to the file with the section.
static const char **read_databases(od_loader *ld, int node, od_log_plan *plan) {
  const char **list = read_texts(ld, node, "database", "the name of a DBC file, or a list of names", plan);
  for (int i = 0; list && list[i]; i++) list[i] = od_document_beside(ld, node, list[i]);
  return list;
}

// Returns the number of lines before the header, or 0 after reporting an error.
static int read_skip(od_loader *ld, int number) {
  double skip = od_number_value(ld, number);
  if (skip < 1e6 && skip == floor(skip)) return (int)skip;
  od_complain_number(ld, number, "'skip' is %g; expected a whole number of lines, less than a million", skip);
  return 0;
}

// Reports a drift of the clock that is not possible.
static void check_drift(od_loader *ld, int number) {
  if (!(fabs(od_number_value(ld, number)) < 0.1))
    od_complain_number(ld, number, "'drift' is %g; expected a relative error of a clock between -0.1 and 0.1",
                       od_number_value(ld, number));
}

// Reads the times of the rows and the part in use.
static void read_times(od_loader *ld, const od_section *section, od_log_plan *plan) {
  int first = od_read_keys(ld, section, OD_IN_LOADER, "start", "end", "interval", "skip", "delay", "drift", NULL);
  if (od_number_is_given(ld, first)) plan->start = od_number_value(ld, first);
  if (od_number_is_given(ld, first + 1)) plan->end = od_number_value(ld, first + 1);
  plan->interval = od_number_value(ld, first + 2);
  plan->skip = read_skip(ld, first + 3);
  plan->delay = od_number_value(ld, first + 4);
  plan->drift = od_number_value(ld, first + 5);
  check_drift(ld, first + 5);
  if (!(plan->start < plan->end))
    od_complain_number(ld, first + 1, "'end' is %g s; expected a time later than 'start', %g s", plan->end,
                       plan->start);
  int time = od_section_get(ld, section, "time");
  if (time >= 0 && plan->interval > 0)
    od_complain(ld, time, "found both 'time' and 'interval'; expected one of these keys");
  if (time >= 0) read_column(ld, time, time, od_path(ld, section->path, "time"), &plan->time);
}

// --- Files --------------------------------------------------------------------------------------------------------

// Adds a file with the settings of the plan. Returns NULL if out of memory.
static od_log_source *add_source(od_loader *ld, od_log_plan *plan, const char *path, od_place place) {
  od_log_source *list = od_arena_extend(&plan->memory, plan->source, plan->sources, sizeof *list);
  if (!list) {
    ld->no_memory = true;
    return NULL;
  }
  plan->source = list;
  list[plan->sources] = od_log_source_of(plan, path, place);
  return &list[plan->sources++];
}

// Reads an entry of 'files'. Keys of the entry replace the settings of the log.
static void read_source(od_loader *ld, int node, const char *path, od_log_plan *plan) {
  od_section section = od_section_open(ld, node, node, path, "a file of the log", &file_section);
  if (section.map < 0) return;
  int file = od_section_need(ld, &section, "file");
  const char *name = od_read_text(ld, file, "file", "the name of a file");
  if (!name) return;
  od_log_source *s = add_source(ld, plan, od_document_beside(ld, file, name), od_place_of(ld, file));
  if (!s) return;
  int first = od_read_keys(ld, &section, OD_IN_LOADER, "interval", "skip", "delay", "drift", NULL);
  int time = od_section_get(ld, &section, "time");
  if (time >= 0 && od_number_is_given(ld, first))
    od_complain(ld, time, "found both 'time' and 'interval'; expected one of these keys");
  if (od_number_is_given(ld, first)) s->interval = od_number_value(ld, first);
  if (od_number_is_given(ld, first + 1)) s->skip = read_skip(ld, first + 1);
  if (od_number_is_given(ld, first + 2)) s->delay = od_number_value(ld, first + 2);
  if (od_number_is_given(ld, first + 3)) s->drift = od_number_value(ld, first + 3);
  check_drift(ld, first + 3);
  if (time >= 0) {
    s->interval = 0;
    read_column(ld, time, time, od_path(ld, path, "time"), &s->time);
  }
  int missing = od_section_get(ld, &section, "missing"), database = od_section_get(ld, &section, "database");
  if (missing >= 0) s->missing = read_texts(ld, missing, "missing", "a list of numbers and texts", plan);
  if (database >= 0) s->databases = read_databases(ld, database, plan);
}

// Reads 'file' and 'files', after the settings of the log.
static void read_files(od_loader *ld, const od_section *section, const char *path, od_log_plan *plan) {
  int file = od_section_get(ld, section, "file"), files = od_section_get(ld, section, "files");
  if (file >= 0 && files >= 0) od_complain(ld, files, "found both 'file' and 'files'; expected one of these keys");
  bool is_list = file >= 0 && od_is_list(ld, file);
  if (file >= 0 && !is_list) {
    const char *name = od_read_text(ld, file, "file", "the name of a file, or a list of names");
    plan->file = name ? od_document_beside(ld, file, name) : NULL;
    plan->place = od_place_of(ld, file);
    return;
  }
  for (int at = is_list ? od_list_first(ld, file) : -1; at >= 0; at = ld->tree.node[at].next) {
    const char *name = od_read_text(ld, od_entry(ld, at), "file", "the name of a file");
    if (name) add_source(ld, plan, od_document_beside(ld, at, name), od_place_of(ld, at));
  }
  if (files >= 0 && !od_is_list(ld, files))
    od_complain(ld, files, "found %s; expected a list of files, such as [{file: a.csv}, {file: b.csv}]",
                od_describe(ld, files));
  else if (files >= 0)
    for (int at = od_list_first(ld, files), i = 0; at >= 0; at = ld->tree.node[at].next, i++)
      read_source(ld, od_entry(ld, at), od_format(ld, "%s.files.%d", path, i), plan);
  if ((is_list || (files >= 0 && od_is_list(ld, files))) && plan->sources == 0 && !od_has_errors(ld))
    od_complain(ld, is_list ? file : files, "found an empty list; expected at least one file");
  if (plan->sources == 0) return;
  plan->file = plan->source[0].path;
  plan->place = plan->source[0].place;
}

void od_log_plan_read(od_loader *ld, int node, const char *path, const od_machine *machine, od_log_plan *plan) {
  od_log_plan_init(plan);
  plan->has_section = true;
  od_section section = od_section_empty(&od_log_section, ld->tree.root, path, "data");
  if (node >= 0) section = od_section_open(ld, node, node, path, "data", &od_log_section);
  plan->hold = (od_log_hold)od_key_setting(ld, &section, "hold");
  read_times(ld, &section, plan);
  plan->missing =
      read_texts(ld, od_section_get(ld, &section, "missing"), "missing", "a list of numbers and texts", plan);
  plan->databases = read_databases(ld, od_section_get(ld, &section, "database"), plan);
  read_files(ld, &section, path, plan);
  int channels = od_section_get(ld, &section, "channels");
  for (int key = od_first(ld, channels, "channels"); key >= 0; key = od_next(ld, key))
    read_channel(ld, key, path, machine, plan);
}
