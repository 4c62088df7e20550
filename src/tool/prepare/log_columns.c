#include "prepare/log_columns.h"

#include <math.h>
#include <string.h>

#include "base/allocate.h"
#include "io/wording.h"
#include "logs/log_table.h"

bool od_signal_label_set(od_signal_label *label, const char *name, const char *unit) {
  label->name = od_strdup(name);
  label->unit = od_strdup(unit && *unit ? unit : "1");
  return label->name && label->unit;
}

// --- Channels -----------------------------------------------------------------------------------------------------

// Returns the length of the first name of a list. Commas in parentheses are part of a name, as in "X(:,2)".
static size_t name_length(const char *list) {
  int depth = 0;
  const char *at = list;
  for (; *at && (*at != ',' || depth > 0); at++) depth += (*at == '(') - (*at == ')');
  return (size_t)(at - list);
}

// Adds a channel to the selection. Returns false if out of memory.
static bool select_channel(od_log_columns *c, int channel) {
  int *list = channel < 0 ? NULL : od_arena_extend(&c->arena, c->channel, c->count, sizeof *list);
  if (!list) return false;
  c->channel = list;
  c->channel[c->count++] = channel;
  return true;
}

// Adds the channels of a list of names, separated by commas. Returns false if out of memory.
static bool select_names(od_log_columns *c, const char *option, const char *list) {
  for (const char *at = list; *at;) {
    size_t length = name_length(at);
    const char *name = od_arena_format(&c->plan.memory, "%.*s", (int)length, at);
    if (!name || !select_channel(c, od_log_want_named(&c->plan, name, NULL, (od_place){.file = option}))) return false;
    at += length + (at[length] == ',');
  }
  return true;
}

// Returns whether a column of a file is an input.
static bool is_input(const od_log_columns *c, int file, int column) {
  for (int i = 0; i < c->inputs; i++) {
    const od_channel *input = &c->plan.channel[c->channel[i]];
    if (input->input == file && input->at == column) return true;
  }
  return false;
}

// Adds all outputs: the mapped channels, or else the columns of the files, except inputs and times. The columns of the inputs are known.
// Returns false if out of memory.
static bool select_all(od_log_columns *c) {
  const int known = c->plan.channels, selected = c->count;
  for (int i = 0; i < known; i++) {
    const od_channel *channel = &c->plan.channel[i];
    if (channel->is_mapped && !is_input(c, channel->input, channel->at) && !select_channel(c, i)) return false;
  }
  for (int file = 0; file < od_log_inputs(c->log) && c->count == selected; file++) {
    int columns = od_log_head(c->log, file)->columns, time = od_log_time_column(c->log, file);
    for (int i = 0; i < columns; i++)
      if (i != time && !is_input(c, file, i) && od_log_want_column(&c->plan, c->log, file, i, NULL) < 0) return false;
  }
  for (int i = known; i < c->plan.channels; i++)
    if (!select_channel(c, i)) return false;
  return true;
}

// Checks the number of inputs. Returns false after a message.
static bool check_inputs(const od_log_columns *c, const od_log_wish *wish, od_messages *messages) {
  const od_place place = {.file = "--input"};
  int most = wish->most_inputs > 0 ? wish->most_inputs : 1, errors = od_messages_errors(messages);
  for (int i = 0; i < c->inputs; i++)
    for (int j = 0; j < i; j++)
      if (c->plan.channel[c->channel[i]].at == c->plan.channel[c->channel[j]].at &&
          c->plan.channel[c->channel[i]].input == c->plan.channel[c->channel[j]].input)
        od_messages_add(messages, place, "found the column '%s' twice, expected each column once",
                        c->plan.channel[c->channel[i]].label);
  if (c->inputs > most && most > 1)
    od_messages_add(messages, place, "found %d inputs, expected 1 to %d", c->inputs, most);
  else if (c->inputs > most)
    od_messages_add(messages, place,
                    "found %d inputs, expected 1; for several inputs, use oleodyn tf with --method arx, armax, oe, bj, "
                    "moesp, n4sid or cva",
                    c->inputs);
  return od_messages_errors(messages) == errors;
}

// Selects inputs and outputs. Returns OD_BAD_INPUT after messages.
static od_status select_channels(od_log_columns *c, const od_log_wish *wish, od_messages *messages) {
  if (!wish->input || !*wish->input) {
    od_messages_add(messages, (od_place){.file = c->plan.file}, "no input is selected; select a column with --input");
    return OD_BAD_INPUT;
  }
  if (!select_names(c, "--input", wish->input)) return OD_NO_MEMORY;
  c->inputs = c->count;
  for (int i = 0; i < wish->output_count; i++)
    if (!select_names(c, "--output", wish->outputs[i])) return OD_NO_MEMORY;
  if (!od_log_find_columns(c->log, &c->plan, c->units, messages) || !check_inputs(c, wish, messages))
    return OD_BAD_INPUT;
  if (wish->output_count == 0 && !select_all(c)) return OD_NO_MEMORY;
  if (c->count > c->inputs) return OD_OK;
  od_messages_add(messages, (od_place){.file = c->plan.file},
                  "the file has only columns of time and inputs; expected a column of an output");
  return OD_BAD_INPUT;
}

const char *od_log_columns_name(const od_log_columns *c, int i) {
  return od_log_label(c->log, c->channel[i]);
}

// --- Rows ---------------------------------------------------------------------------------------------------------

// Sets the labels, and checks that the inputs change. Returns OD_BAD_INPUT after messages.
static od_status find_labels(od_log_columns *c, od_messages *messages) {
  // The labels are not in the arena, because a response may take ownership of the labels.
  c->label = od_calloc((size_t)c->count, sizeof *c->label);
  od_status status = OD_OK;
  for (int i = 0; i < c->count; i++) {
    const od_channel_facts *f = &c->log->facts[c->channel[i]];
    if (!c->label || !od_signal_label_set(&c->label[i], od_log_columns_name(c, i), c->plan.channel[c->channel[i]].unit))
      return OD_NO_MEMORY;
    c->label[i].is_constant = c->log->missing[c->channel[i]] == 0 && f->least == f->most;
    if (i >= c->inputs || !c->label[i].is_constant) continue;
    od_messages_add(messages, (od_place){.file = c->plan.file},
                    "the input '%s' is constant in all %ld rows; expected an input that changes", c->label[i].name,
                    c->rows);
    status = OD_BAD_INPUT;
  }
  return status;
}

// Finds the times of the rows. Returns OD_BAD_INPUT after messages.
static od_status find_times(od_log_columns *c, od_messages *messages) {
  const od_log *log = c->log;
  c->rows = log->rows;
  c->begin = log->begin;
  c->step = c->plan.interval > 0 ? c->plan.interval : (log->end - log->begin) / (double)(log->rows - 1);
  c->ambiguity = od_log_ambiguity(log);
  if (c->rows >= 8) return OD_OK;
  od_messages_add(messages, (od_place){.file = c->plan.file}, "the log has %s; expected at least 8 rows",
                  od_count(c->rows, "row").text);
  return OD_BAD_INPUT;
}

// Times must be uniform within a hundredth of a step. This tolerance allows times that are printed with few digits.
od_status od_log_columns_next(od_log_columns *c, double *value, bool *end, od_error *err) {
  double time = 0;
  const double *row = NULL;
  bool more = true;
  *end = c->next >= c->rows;
  if (*end || !c->cursor) {
    od_log_cursor_free(c->cursor);
    c->cursor = NULL;
    c->next = 0;
    od_status status = *end ? OD_OK : od_log_cursor_new(c->log, &c->cursor, err);
    if (*end || status != OD_OK) return status;
  }
  od_status status = od_log_cursor_next(c->cursor, &time, &row, &more, err);
  if (status != OD_OK) return status;
  double expected = c->begin + (double)c->next * c->step;
  c->next++;
  if (!(c->plan.interval > 0) && !(fabs(time - expected) <= 0.01 * c->step))
    return od_fail(err, OD_BAD_INPUT,
                   "row %ld has the time %.9g s; expected %.9g s for uniform times. Resample the log", c->next, time,
                   expected);
  for (int i = 0; i < c->count; i++) value[i] = row[c->channel[i]];
  return OD_OK;
}

// --- Opening ------------------------------------------------------------------------------------------------------

od_status od_log_columns_open(const od_log_settings *settings, const od_log_wish *wish, od_log_columns *c,
                              od_messages *messages) {
  od_error err = {0};
  *c = (od_log_columns){0};
  od_log_plan_init(&c->plan);
  c->units = od_units_new(&err);
  if (!c->units) {
    od_messages_add(messages, (od_place){0}, "%s", err.text);
    return err.status;
  }
  if (!od_log_plan_set(&c->plan, settings, NULL, c->units, messages)) return OD_NO_MEMORY;
  od_status status = od_messages_errors(messages) > 0 ? OD_BAD_INPUT : od_log_open(&c->plan, &c->log, messages);
  if (status == OD_OK) status = select_channels(c, wish, messages);
  if (status == OD_OK) status = od_log_load(c->log, &c->plan, c->units, messages);
  if (status == OD_OK) status = find_times(c, messages);
  if (status == OD_OK) status = find_labels(c, messages);
  return status;
}

void od_log_columns_free(od_log_columns *c) {
  for (int i = 0; c->label && i < c->count; i++) od_free(c->label[i].name), od_free(c->label[i].unit);
  od_free(c->label);
  od_log_cursor_free(c->cursor);
  od_log_free(c->log);
  od_log_plan_free(&c->plan);
  od_arena_free(&c->arena);
  if (c->units) od_units_free(c->units);
}
