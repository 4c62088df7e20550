// Loads the section 'data' of a file: the log, and the columns of the machine's outputs and inputs.
#include <math.h>
#include <string.h>

#include "document/document.h"
#include "document/ranges.h"
#include "document/suggest.h"
#include "logs/log.h"

static const size_t most_held = 4000000;  // largest size of a log that is kept in memory, bytes

static const od_key channel_keys[] = {
    {"column", OD_TEXT, NULL, "name or number of the column", .otherwise = "the name of the channel"},
    {"unit", OD_TEXT, NULL, "unit of the column", .otherwise = "the unit in the header, else SI"},
    {"scale", OD_NUMBER, "1", "factor of the column's values", OD_ANY, 1},
    {"offset", OD_NUMBER, "1", "offset that is added to the values, in the unit of the column"}};
static const od_section_class channel_section = {"channel",
                                                 "a column of a log: its name or number, or a map with these "
                                                 "keys",
                                                 OD_KEYS(channel_keys), .or_word = true};

static const od_key log_keys[] = {
    {"file", OD_TEXT, NULL, "CSV or MATLAB file with the log"},
    {"time", OD_SECTION, NULL, "time column", .inside = &channel_section, .otherwise = "found by its name"},
    {"channels", OD_SECTION_MAP, NULL, "inputs and outputs of the machine, and their columns",
     .inside = &channel_section},
    {"start", OD_NUMBER, "s", "time of the first row in use", .otherwise = "the beginning"},
    {"end", OD_NUMBER, "s", "time of the last row in use", .otherwise = "the end"},
    {"interval", OD_NUMBER, "s", "time between the rows of a log without a time column", OD_POSITIVE, 0,
     OD_RANGE_INTERVAL, "given by `time`"},
    {"skip", OD_NUMBER, "1", "number of lines before the header of a CSV file", OD_NOT_NEGATIVE, 0,
     .otherwise = "the header is detected"},
    {"missing", OD_SECTION, NULL, "numbers and texts that mark a missing sample"},
    {"hold", OD_CHOICE, "linear|previous",
     "values of the inputs between rows. `linear`: linear interpolation. `previous`: the previous value is held"},
};
const od_section_class od_log_section = {"log", "a log and its columns", OD_KEYS(log_keys)};

void od_log_plan_free(od_log_plan *plan) {
  od_arena_free(&plan->memory);
  *plan = (od_log_plan){0};
}

static int find_channel(const od_log_plan *plan, const char *name) {
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
  int known = find_channel(plan, name);
  if (known >= 0) {
    // An input may also be an output with the same name.
    plan->channel[known].is_input = plan->channel[known].is_input || is_input;
    return known;
  }
  const od_channel added = {
      .name = name, .unit = unit, .is_input = is_input, .scale = 1, .otherwise = otherwise, .at = -1};
  return od_log_add(plan, &added);
}

// --- Channels -----------------------------------------------------------------------------------------------------

static int find_input(const od_machine *machine, const char *name) {
  for (int i = 0; i < od_machine_input_count(machine); i++)
    if (strcmp(od_machine_input_name(machine, i), name) == 0) return i;
  return -1;
}

// Reads a column: a name or a number, or a map with unit, scale and offset.
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
    int first = od_read_keys(ld, &section, OD_IN_LOADER, "scale", "offset", NULL);
    c->scale = od_number_value(ld, first);
    c->offset = od_number_value(ld, first + 1);
    if (c->scale == 0) od_complain_number(ld, first, "'scale' is 0; expected a factor other than 0");
  }
  c->column = od_read_text(ld, column, "column", "the name or the number of a column");
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
  if (find_channel(plan, name) >= 0) {
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

// Reads the texts that mark a missing value: one text, or a list.
static void read_missing(od_loader *ld, int node, od_log_plan *plan) {
  static const char wanted[] = "a list of numbers and texts";
  if (node < 0) return;
  const od_tree_node *list = &ld->tree.node[node];
  bool single = list->kind == OD_TREE_TEXT;
  if (list->kind != OD_TREE_LIST && !single) {
    od_complain(ld, node, "found %s; expected %s", od_describe(ld, node), wanted);
    return;
  }
  plan->missing = OD_TAKE(&plan->memory, const char *, (single ? 1 : list->count) + 1);
  if (!plan->missing) {
    ld->no_memory = true;
    return;
  }
  int count = 0;
  for (int at = single ? node : list->first; at >= 0; at = single ? -1 : ld->tree.node[at].next) {
    const char *text = od_read_text(ld, od_tree_value(&ld->tree, at), "missing", wanted);
    if (text) plan->missing[count++] = text;
  }
}

// Reads the times of the rows and the part in use.
static void read_times(od_loader *ld, const od_section *section, od_log_plan *plan) {
  int first = od_read_keys(ld, section, OD_IN_LOADER, "start", "end", "interval", "skip", NULL);
  if (od_number_is_given(ld, first)) plan->start = od_number_value(ld, first);
  if (od_number_is_given(ld, first + 1)) plan->end = od_number_value(ld, first + 1);
  plan->interval = od_number_value(ld, first + 2);
  double skip = od_number_value(ld, first + 3);
  if (!(skip < 1e6) || skip != floor(skip))
    od_complain_number(ld, first + 3, "'skip' is %g; expected a whole number of lines, less than a million", skip);
  else
    plan->skip = (int)skip;
  if (!(plan->start < plan->end))
    od_complain_number(ld, first + 1, "'end' is %g s; expected a time later than 'start', %g s", plan->end,
                       plan->start);
  int time = od_section_get(ld, section, "time");
  if (time >= 0 && plan->interval > 0)
    od_complain(ld, time, "found both 'time' and 'interval'; expected one of these keys");
  if (time >= 0) read_column(ld, time, time, od_path(ld, section->path, "time"), &plan->time);
}

void od_log_plan_read(od_loader *ld, int node, const char *path, const od_machine *machine, od_log_plan *plan) {
  *plan = (od_log_plan){.time = {.name = "time", .unit = "s", .scale = 1, .otherwise = NAN, .at = -1},
                        .start = -INFINITY,
                        .end = INFINITY,
                        .most_held = most_held};
  od_section section = od_section_empty(&od_log_section, ld->tree.root, path, "data");
  if (node >= 0) section = od_section_open(ld, node, node, path, "data", &od_log_section);
  int file = od_section_get(ld, &section, "file");
  const char *name = od_read_text(ld, file, "file", "the name of a CSV or MATLAB file");
  plan->file = name ? od_document_beside(ld, file, name) : NULL;
  plan->place = od_place_of(ld, file);
  plan->hold = od_key_choice(ld, &section, "hold") == 1;
  read_times(ld, &section, plan);
  read_missing(ld, od_section_get(ld, &section, "missing"), plan);
  int channels = od_section_get(ld, &section, "channels");
  for (int key = od_first(ld, channels, "channels"); key >= 0; key = od_next(ld, key))
    read_channel(ld, key, path, machine, plan);
}
