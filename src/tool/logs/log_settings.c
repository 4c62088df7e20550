#include "logs/log_settings.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "document/suggest.h"
#include "io/number.h"

static const double same_time = 1e-12;  // relative tolerance of --start and --end

// The current plan and the receiver of messages.
typedef struct setting {
  od_log_plan *plan;
  const od_machine *machine;
  od_units *units;
  od_messages *messages;
} setting;

const char *od_log_settings_given(const od_log_settings *s) {
  return s->map.count > 0         ? "--map"
         : s->skip                ? "--skip"
         : s->start               ? "--start"
         : s->end                 ? "--end"
         : s->interval            ? "--interval"
         : s->hold                ? "--hold"
         : s->missing.count > 0   ? "--missing"
         : s->databases.count > 0 ? "--dbc"
                                  : NULL;
}

// --- Columns ------------------------------------------------------------------------------------------------------

// Returns the last colon outside parentheses, which separates a column from its unit; NULL: there is no unit.
static char *find_unit(char *text) {
  char *colon = NULL;
  int depth = 0;
  for (char *c = text; *c; c++) {
    depth += (*c == '(') - (*c == ')');
    if (*c == ':' && depth == 0) colon = c;
  }
  return colon;
}

// Returns the channel of a name: the time, or a new or known channel. Returns NULL after reporting that the machine
// has no such input or output, or if out of memory.
static od_channel *channel_of(setting *s, const char *name) {
  const od_place place = {.file = "--map"};
  if (strcmp(name, "time") == 0) return &s->plan->time;
  const od_machine *m = s->machine;
  int input = -1, output = m ? od_machine_output_find(m, name) : -1;
  for (int i = 0; m && i < od_machine_input_count(m); i++)
    if (strcmp(od_machine_input_name(m, i), name) == 0) input = i;
  if (m && input < 0 && output < 0) {
    od_nearest nearest = od_nearest_to(name);
    for (int i = 0; i < od_machine_input_count(m); i++) od_nearest_try(&nearest, od_machine_input_name(m, i));
    for (int i = 0; i < od_machine_output_count(m); i++) od_nearest_try(&nearest, od_machine_output_name(m, i));
    od_messages_add(s->messages, place, "the machine has no input or output '%s'%s", name,
                    od_nearest_suggestion(&nearest, "'oleodyn info FILE' lists all inputs and outputs").text);
    return NULL;
  }
  const char *unit = input >= 0    ? od_machine_input_unit(m, input)
                     : output >= 0 ? od_machine_output_unit(m, output)
                                   : NULL;
  int channel = od_log_want(s->plan, name, unit, input >= 0, NAN);
  return channel < 0 ? NULL : &s->plan->channel[channel];
}

// Reads "NAME=COLUMN[:UNIT]". Entries before `index` have been read.
static void read_map(setting *s, const od_log_texts *map, int index) {
  const od_place place = {.file = "--map"};
  const char *text = map->text[index], *equals = strchr(text, '=');
  if (!equals || equals == text || !equals[1]) {
    od_messages_add(s->messages, place, "found '%s'; expected NAME=COLUMN or NAME=COLUMN:UNIT, such as p=3:bar", text);
    return;
  }
  size_t length = (size_t)(equals - text) + 1;
  for (int i = 0; i < index; i++) {
    if (strncmp(map->text[i], text, length) != 0) continue;
    od_messages_add(s->messages, place, "'%.*s' is given twice; remove one entry", (int)length - 1, text);
    return;
  }
  od_arena *memory = &s->plan->memory;
  char *name = od_arena_format(memory, "%.*s", (int)length - 1, text), *column = od_arena_text(memory, equals + 1);
  od_channel *c = name && column ? channel_of(s, name) : NULL;
  if (!c) return;
  *c = (od_channel){.name = c->name,
                    .unit = c->unit,
                    .has_columns_unit = c->has_columns_unit,
                    .is_input = c->is_input,
                    .scale = 1,
                    .otherwise = c->otherwise,
                    .at = -1,
                    .column = column,
                    .place = place,
                    .unit_place = place,
                    .is_mapped = true};
  char *colon = find_unit(column);
  if (!colon) return;
  c->whole = od_arena_text(memory, column);
  *colon = '\0';
  c->file_unit = colon + 1;
}

// --- Values -------------------------------------------------------------------------------------------------------

// Reads a time, s. Returns false if the text is NULL, or after reporting an error.
static bool read_time(setting *s, const char *option, const char *text, bool positive, double *value) {
  if (!text) return false;
  const od_place place = {.file = option};
  const char *start = text + strspn(text, " ");
  double x = NAN;
  size_t length = od_number_prefix(start, strlen(start), &x);
  const char *unit = start + length;
  unit += strspn(unit, " ");
  if (length == 0 || !isfinite(x)) {
    od_messages_add(s->messages, place, "found '%s', expected a time: a number with or without a unit, such as '5 s'",
                    text);
    return false;
  }
  if (*unit) {
    od_unit_verdict verdict = od_units_convert(s->units, unit, "s", x, &x);
    if (verdict == OD_UNIT_UNKNOWN)
      od_messages_add(s->messages, place, "unknown unit '%s'; expected a unit of time", unit);
    if (verdict == OD_UNIT_MISFITS)
      od_messages_add(s->messages, place, "the unit '%s' cannot be converted to s; expected a unit of time", unit);
    if (verdict != OD_UNIT_FITS) return false;
  }
  if (positive && !(x > 0)) {
    od_messages_add(s->messages, place, "found '%s', expected a positive time", start);
    return false;
  }
  *value = x;
  return true;
}

// Copies texts to a list that ends with NULL. Without texts the list does not change.
static void copy_texts(od_log_plan *plan, const od_log_texts *from, const char ***to) {
  if (from->count == 0) return;
  *to = OD_TAKE(&plan->memory, const char *, from->count + 1);
  for (int i = 0; *to && i < from->count; i++) (*to)[i] = od_arena_text(&plan->memory, from->text[i]);
}

static void read_skip(setting *s, const char *text) {
  if (!text) return;
  size_t digits = strspn(text, "0123456789");
  if (digits > 0 && digits <= 6 && !text[digits])
    s->plan->skip = atoi(text);
  else
    od_messages_add(s->messages, (od_place){.file = "--skip"},
                    "found '%s'; expected a whole number of lines, less than a million", text);
}

static void read_hold(setting *s, const char *text) {
  for (int i = 0; text && od_log_hold_words[i]; i++)
    if (strcmp(text, od_log_hold_words[i]) == 0) {
      s->plan->hold = (od_log_hold)i;
      return;
    }
  if (text)
    od_messages_add(s->messages, (od_place){.file = "--hold"}, "found '%s'; expected linear, previous or next", text);
}

static void read_times(setting *s, const od_log_settings *from) {
  od_log_plan *plan = s->plan;
  double time = 0;
  if (read_time(s, "--start", from->start, false, &time)) plan->start = time - same_time * fabs(time);
  if (read_time(s, "--end", from->end, false, &time)) plan->end = time + same_time * fabs(time);
  if ((from->start || from->end) && !(plan->start < plan->end))
    od_messages_add(s->messages, (od_place){.file = from->end ? "--end" : "--start"},
                    "the log ends at %.9g s and starts at %.9g s; expected an end after the start", plan->end,
                    plan->start);
  bool has_interval = read_time(s, "--interval", from->interval, true, &time);
  if (has_interval) plan->interval = time;
  // A time column of the options replaces an interval of the section, and an interval of the options replaces a time
  // column of the section.
  bool has_column = plan->time.place.file && strcmp(plan->time.place.file, "--map") == 0;
  if (has_column && from->interval)
    od_messages_add(s->messages, (od_place){.file = "--interval"},
                    "found both --interval and --map time=COLUMN; expected one of these options");
  else if (has_column)
    plan->interval = 0;
}

// Replaces the files of the plan with the files of --data, if this option is given. Returns false if out of memory.
static bool set_files(od_log_plan *plan, const od_log_texts *data) {
  if (data->count == 0) return true;
  plan->file = od_arena_text(&plan->memory, data->text[0]);
  plan->place = (od_place){.file = "--data"};
  plan->sources = data->count > 1 ? data->count : 0;
  plan->source = data->count > 1 ? OD_TAKE(&plan->memory, od_log_source, data->count) : NULL;
  for (int i = 0; plan->source && i < plan->sources; i++)
    plan->source[i] = od_log_source_of(plan, od_arena_text(&plan->memory, data->text[i]), plan->place);
  return od_arena_status(&plan->memory) == OD_OK;
}

bool od_log_plan_set(od_log_plan *plan, const od_log_settings *from, const od_machine *machine, od_units *units,
                     od_messages *messages) {
  setting s = {plan, machine, units, messages};
  for (int i = 0; i < from->map.count; i++) read_map(&s, &from->map, i);
  read_skip(&s, from->skip);
  read_hold(&s, from->hold);
  read_times(&s, from);
  copy_texts(plan, &from->missing, &plan->missing);
  copy_texts(plan, &from->databases, &plan->databases);
  if (!set_files(plan, &from->data)) return false;
  // Options apply to all files of a section.
  bool has_column = plan->time.place.file && strcmp(plan->time.place.file, "--map") == 0;
  for (int i = 0; i < plan->sources && from->data.count == 0; i++) {
    od_log_source *source = &plan->source[i];
    if (from->missing.count > 0) source->missing = plan->missing;
    if (from->databases.count > 0) source->databases = plan->databases;
    if (from->skip) source->skip = plan->skip;
    if (has_column) source->time = plan->time, source->interval = 0;
    if (from->interval) source->interval = plan->interval;
  }
  return od_arena_status(&plan->memory) == OD_OK;
}
