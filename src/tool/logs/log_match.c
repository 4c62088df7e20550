// Assigns columns of a file to channels.
//
// A column named in the plan must exist. Other channels are found by their own name. The name may have the form written by this
// program ("measured.P.pressure", "input.U_ref") or MATLAB's form ("P_pressure"). If there is no such column, the name may be the
// end of a longer name ("log.P.pressure"). Only one column may match.
#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "document/suggest.h"
#include "io/date_time.h"
#include "logs/log_rows.h"

enum { NONE = -1, AMBIGUOUS = -2, NAME_SIZE = 256 };

typedef struct search {
  const od_table *table;
  const od_channel *time;
  const char *file;
  od_units *units;
  od_messages *messages;
  bool has_section;  // whether the file with the plan can have a section 'data'
} search;

// --- Names --------------------------------------------------------------------------------------------------------

typedef bool same_name(const char *column, const char *wanted);

static bool equal(const char *column, const char *wanted) {
  return strcmp(column, wanted) == 0;
}

// Returns whether names are equal in MATLAB's form: "P_pressure" equals "P.pressure".
static bool alike(const char *column, const char *wanted) {
  for (; *column && *wanted; column++, wanted++) {
    bool signs = !isalnum((unsigned char)*column) && !isalnum((unsigned char)*wanted);
    if (*column != *wanted && !signs) return false;
  }
  return *column == *wanted;
}

// Returns the column with the same name; NONE: no such column; AMBIGUOUS: several columns.
static int find(const od_table *t, same_name *same, const char *name) {
  int at = NONE;
  for (int i = 0; i < t->columns; i++)
    if (same(t->name[i], name)) at = at == NONE ? i : AMBIGUOUS;
  return at;
}

// Same as find(), by name and unit: "Time [s]" is the column "Time" with the unit s.
static int find_with_unit(const od_table *t, const char *text) {
  char name[NAME_SIZE];
  if (snprintf(name, sizeof name, "%s", text) >= (int)sizeof name) return NONE;
  const char *unit = od_label_split(name);
  int at = NONE;
  for (int i = 0; unit && i < t->columns; i++)
    if (!strcmp(t->name[i], name) && !strcmp(t->unit[i], unit)) at = at == NONE ? i : AMBIGUOUS;
  return at;
}

static int find_by_number(const od_table *t, const char *text) {
  size_t digits = strspn(text, "0123456789");
  if (digits == 0 || digits > 9 || text[digits]) return NONE;
  long number = strtol(text, NULL, 10);
  return number >= 1 && number <= t->columns ? (int)number - 1 : NONE;
}

static int find_named(const od_table *t, const char *text) {
  int at = find(t, equal, text);
  if (at == NONE) at = find_with_unit(t, text);
  if (at == NONE) at = find_by_number(t, text);
  if (at == NONE) at = find(t, od_name_ends_in, text);
  return at;
}

static int find_own(const od_table *t, const od_channel *c) {
  char full[NAME_SIZE];
  snprintf(full, sizeof full, "%s.%s", c->is_input ? "input" : "measured", c->name);
  int at = find(t, equal, full);
  if (at == NONE) at = find(t, equal, c->name);
  if (at == NONE) at = find(t, alike, full);
  if (at == NONE) at = find(t, alike, c->name);
  if (at == NONE) at = find(t, od_name_ends_in, c->name);
  return at;
}

// --- Messages -----------------------------------------------------------------------------------------------------

// Returns the place of a column's name in the header; column -1: the place of the header.
static od_place header_place(const search *s, int column) {
  int line = s->table->places.header;
  return (od_place){s->file, line, line > 0 ? (column >= 0 ? s->table->places.column[column] : 1) : 0};
}

// Writes the names of all columns, shortened with "..." if necessary.
static void list_columns(const od_table *t, char *text, size_t size) {
  size_t used = 0;
  text[0] = '\0';
  for (int i = 0; i < t->columns && used < size; i++) {
    int n = snprintf(text + used, size - used, "%s%s", i > 0 ? ", " : "", t->name[i]);
    if (n > 0) used += (size_t)n;
  }
  if (used >= size) strcpy(text + size - 4, "...");
}

// Writes the advice to skip the header if the header has only one name and may therefore be a remark. Otherwise writes
// an empty text.
static void advise_skip(const search *s, char *text, size_t size) {
  const int line = s->table->places.header;
  text[0] = '\0';
  if (line > 0 && s->table->columns == 1)
    snprintf(text, size,
             s->has_section ? "; if line %d is a remark, skip it with 'skip: %d' under 'data'"
                            : "; if line %d is a remark, skip it with --skip %d",
             line, line);
}

// Reports that the column of a channel was not found.
static void complain_missing(const search *s, const od_channel *c, int found) {
  const char *name = c->column ? c->column : c->name;
  od_place place = c->column ? c->place : header_place(s, -1);
  char list[300];
  list_columns(s->table, list, sizeof list);
  char bare[NAME_SIZE], advice[100];
  advise_skip(s, advice, sizeof advice);
  snprintf(bare, sizeof bare, "%s", name);
  od_label_split(bare);
  od_nearest nearest = od_nearest_to(bare);
  for (int i = 0; i < s->table->columns; i++) od_nearest_try(&nearest, s->table->name[i]);
  const char *remedy = s->has_section ? "under 'data'" : "with --map NAME=COLUMN";
  if (c == s->time && !c->column)
    od_messages_add(s->messages, place, "there is no time column; give the %s: one of %s%s",
                    s->has_section ? "name of a column with 'time' under 'data'"
                                   : "time between rows with --interval, or a column with --map time=COLUMN",
                    list, advice);
  else if (found == AMBIGUOUS)
    od_messages_add(s->messages, place, "several columns of %s match '%s'; give the number of the column", s->file,
                    name);
  else if (c->column && nearest.best)
    od_messages_add(s->messages, place, "%s has no column '%s'; did you mean '%s'?", s->file, name, nearest.best);
  else if (c->column)
    od_messages_add(s->messages, place, "%s has no column '%s'; its columns are %s", s->file, name, list);
  else if (nearest.best)
    od_messages_add(s->messages, place, "there is no column for the %s '%s'; did you mean '%s'? Give the column %s",
                    c->is_input ? "input" : "output", name, nearest.best, remedy);
  else
    od_messages_add(s->messages, place, "there is no column for the %s '%s'; give the column %s: one of %s",
                    c->is_input ? "input" : "output", name, remedy, list);
}

// Reports a unit that does not suit the channel.
static void complain_unit(const search *s, const od_channel *c, const char *unit, od_unit_verdict verdict) {
  const char *column = s->table->name[c->at], *measures = od_units_measures(s->units, unit);
  od_place place = c->file_unit ? c->unit_place : header_place(s, c->at);
  const char *suggestion = od_units_suggest(unit);
  char advice[100] = "";
  if (!c->file_unit) advise_skip(s, advice, sizeof advice);
  if (verdict == OD_UNIT_UNKNOWN && suggestion)
    od_messages_add(s->messages, place, "unknown unit '%s' of column '%s'; did you mean '%s'?", unit, column,
                    suggestion);
  else if (verdict == OD_UNIT_UNKNOWN && c->has_columns_unit)
    od_messages_add(s->messages, place, "unknown unit '%s' of column '%s'; expected a unit such as bar, mm or V", unit,
                    column);
  else if (verdict == OD_UNIT_UNKNOWN)
    od_messages_add(s->messages, place, "unknown unit '%s' of column '%s'; expected a unit for '%s', such as %s%s",
                    unit, column, c->name, c->unit, advice);
  else if (measures)
    od_messages_add(s->messages, place, "column '%s' is in '%s', %s; expected a unit for '%s', such as %s", column,
                    unit, measures, c->name, c->unit);
  else
    od_messages_add(s->messages, place,
                    "column '%s' is in '%s', which has the wrong dimension; expected a unit for "
                    "'%s', such as %s",
                    column, unit, c->name, c->unit);
}

// --- Channels -----------------------------------------------------------------------------------------------------

// Returns the column of a channel by the texts of the plan; NONE or AMBIGUOUS. A text of --map with a colon may be the
// name of a column.
static int find_given(const od_table *t, od_channel *c) {
  if (c->number > 0) return c->number <= t->columns ? c->number - 1 : NONE;
  int at = c->whole ? find(t, equal, c->whole) : NONE;
  if (at == NONE) return find_named(t, c->column);
  c->column = c->whole;
  c->whole = c->file_unit = NULL;
  return at;
}

// Finds the conversion to the unit of a channel. A channel with the unit of its column gets the SI unit of this unit; values in an
// unknown unit of the file are not converted.
static od_unit_verdict choose_unit(const search *s, od_arena *memory, od_channel *c, const char *unit) {
  c->conversion = (od_conversion){1, 1, 0};
  if (!c->has_columns_unit)
    return *c->unit ? od_units_conversion(s->units, unit, c->unit, &c->conversion) : OD_UNIT_FITS;
  const char *si = *unit ? od_units_si(s->units, unit) : "1";
  if (*unit && c->file_unit && !od_units_knows(s->units, unit)) return OD_UNIT_UNKNOWN;
  bool fits = si && *unit && od_units_conversion(s->units, unit, si, &c->conversion) == OD_UNIT_FITS;
  // The texts are copied, because the table may be freed before the plan.
  c->unit = od_arena_text(memory, fits || !*unit ? si : unit);
  if (!fits) c->conversion = (od_conversion){1, 1, 0};
  return OD_UNIT_FITS;
}

// Returns the column of a channel, or of the time, in a file; NONE or AMBIGUOUS.
static int find_column(const search *s, od_channel *c) {
  bool is_given = c->column || c->number > 0;
  return is_given ? find_given(s->table, c) : c == s->time ? od_table_find_time(s->table) : find_own(s->table, c);
}

// Sets column, unit and conversion of a channel. Returns false after reporting an error.
static bool take_column(const search *s, od_arena *memory, od_channel *c, int column) {
  // The form of dates, such as "dd.mm.yyyy", stands in the place of the unit. The reader of the file converts dates to seconds.
  od_date_order ignored;
  const bool is_time = c == s->time, is_form = is_time && c->file_unit && od_date_order_of(c->file_unit, &ignored);
  c->at = column;
  const char *unit = c->file_unit && !is_form ? c->file_unit : s->table->unit[c->at];
  if (is_time && od_date_order_of(unit, &ignored)) unit = "s";  // unit of a live stream before its first row
  od_unit_verdict verdict = choose_unit(s, memory, c, unit);
  if (verdict != OD_UNIT_FITS) complain_unit(s, c, unit, verdict);
  c->label = od_arena_text(memory, s->table->name[c->at]);
  return verdict == OD_UNIT_FITS;
}

// Finds the column of a channel, or of the time. A channel with a default value need not have a column. Returns false
// after reporting an error.
static bool match_channel(const search *s, od_arena *memory, od_channel *c) {
  int found = find_column(s, c);
  c->at = NONE;
  if (found >= 0) return take_column(s, memory, c, found);
  if (found == NONE && !c->column && c->number == 0 && !isnan(c->otherwise)) return true;
  complain_missing(s, c, found);
  return false;
}

bool od_log_is_from(const od_log *log, const od_channel *c, int input) {
  if (c->from_number > 0) return c->from_number == input + 1;
  return c->from && strcmp(c->from, log->input[input].source->path) == 0;
}

// Finds the file of a channel of a log with several files. Returns its index, NONE if no file has the column, or
// AMBIGUOUS after reporting an error.
static int choose_input(search *list, const od_log *log, od_channel *c, od_messages *messages) {
  int found = NONE, files = 0;
  char names[300] = "";
  for (int i = 0; i < log->inputs; i++) {
    if (od_log_is_from(log, c, i)) return i;
    if (c->from || c->from_number > 0 || find_column(&list[i], c) == NONE) continue;
    size_t used = strlen(names);
    snprintf(names + used, sizeof names - used, "%s%s", files++ > 0 ? ", " : "", log->input[i].source->path);
    found = i;
  }
  if (c->from && found == NONE) {
    od_messages_add(messages, c->place,
                    "'file' of '%s' is '%s', which is not a file of this log; expected an entry of 'file' or 'files'",
                    c->name, c->from);
    return AMBIGUOUS;
  }
  if (files < 2) return found;
  od_messages_add(messages, c->column ? c->place : log->plan->place,
                  "%d files have a column for '%s': %s; name one with 'file' in the map of the channel, as in "
                  "'%s: {file: %s}'",
                  files, c->name, names, c->name, log->input[found].source->path);
  return AMBIGUOUS;
}

// Adds the sentences with which the formats describe parts of the files that are not read. A column that was not found
// may be in such a part.
static void list_left_out(const od_log *log, od_messages *messages) {
  const char *text;
  for (int i = 0; i < log->inputs; i++)
    for (int k = 0; (text = od_row_reader_remark(log->input[i].file, k)); k++)
      od_messages_say(messages, true, (od_place){.file = log->input[i].source->path}, "%s", text);
}

od_status od_log_find_columns(od_log *log, od_log_plan *plan, od_units *units, od_messages *messages) {
  search *list = OD_TAKE(&log->memory, search, log->inputs);
  if (!list) return OD_NO_MEMORY;
  bool ok = true;
  for (int i = 0; i < log->inputs; i++) {
    od_log_input *in = &log->input[i];
    list[i] = (search){od_row_reader_head(in->file), &in->time, in->source->path, units, messages, plan->has_section};
    ok = (in->source->interval > 0 || match_channel(&list[i], &log->memory, &in->time)) && ok;
  }
  plan->time.at = log->input[0].time.at;
  for (int i = 0; i < plan->channels; i++) {
    od_channel *c = &plan->channel[i];
    int input = log->inputs > 1 || c->from ? choose_input(list, log, c, messages) : 0;
    c->input = input < 0 ? 0 : input;
    ok = (input == AMBIGUOUS ? false : match_channel(&list[c->input], &log->memory, c)) && ok;
  }
  if (od_arena_status(&log->memory) != OD_OK) return OD_NO_MEMORY;
  if (!ok) list_left_out(log, messages);
  return ok ? OD_OK : OD_BAD_INPUT;
}

int od_log_time_column(const od_log *log, int input) {
  od_channel time = log->input[input].time;
  const od_table *head = od_log_head(log, input);
  if (log->input[input].source->interval > 0) return NONE;
  return time.column || time.number > 0 ? find_given(head, &time) : od_table_find_time(head);
}

bool od_log_match(od_log_plan *plan, const od_table *header, const char *file, od_units *units, od_messages *messages) {
  const search s = {header, &plan->time, file, units, messages, plan->has_section};
  bool ok = plan->interval > 0 || match_channel(&s, &plan->memory, &plan->time);
  for (int i = 0; i < plan->channels; i++) ok = match_channel(&s, &plan->memory, &plan->channel[i]) && ok;
  return ok;
}
