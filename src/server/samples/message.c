// Reads messages. CSV lines follow the rules of log files (formats/csv_lines.h). A JSON object has a number or null for each column; other
// keys are ignored. A column with dates has texts.
#include "samples/message.h"

#include <jansson.h>
#include <math.h>
#include <string.h>

#include "base/allocate.h"
#include "formats/csv_times.h"
#include "memory/scoped.h"
#include "samples/message_times.h"

// Makes the table of columns from a list of names with units. Fails with OD_BAD_INPUT or OD_NO_MEMORY.
static od_status take_names(od_message_reader *r, const char *const *names, od_error *err) {
  OD_SCRATCH(scratch);
  int count = 0;
  while (names[count]) count++;
  if (count > OD_MOST_CELLS)
    return od_fail(err, OD_BAD_INPUT, "%d columns are too many; expected at most %d columns", count, OD_MOST_CELLS);
  od_table *table = r->lines.table = od_table_new(count);
  for (int i = 0; table && i < count; i++) {
    char *name = od_arena_text(&scratch, names[i]), *unit = name ? od_label_split(name) : NULL;
    for (int k = 0; name && k < i; k++)
      if (strcmp(table->name[k], name) == 0)
        return od_fail(err, OD_BAD_INPUT, "the column '%.60s' is given twice; remove one of them", name);
    if (!name || od_table_label(table, i, name, unit ? unit : "") != OD_OK)
      return od_fail(err, OD_NO_MEMORY, "out of memory");
  }
  return table ? OD_OK : od_fail(err, OD_NO_MEMORY, "out of memory");
}

od_status od_message_begin(od_message_reader *r, const od_twin_source *source, const od_table_wish *wish,
                           od_error *err) {
  *r = (od_message_reader){.source = source, .lines = {.name = source->name, .separator = ','}};
  if (wish) r->wish = *wish;
  r->lines.missing = r->wish.missing;
  return source->column ? take_names(r, source->column, err) : OD_OK;
}

void od_message_end(od_message_reader *r) {
  od_csv_lines_end(&r->lines);
}

// Finds the columns with times from a row. Returns false if the row cannot be used.
static bool complete(od_message_reader *r, const char *row, size_t length, od_error *err) {
  if (r->is_complete) return true;
  if (od_message_find_times(&r->lines, row, length, &r->wish, &r->is_complete, err) != OD_OK) return false;
  if (!r->is_complete) od_fail(err, OD_BAD_INPUT, "the message has no time");
  return r->is_complete;
}

// --- CSV ----------------------------------------------------------------------------------------------------------

static od_message_use read_csv(od_message_reader *r, const char *text, size_t length, double *cells, od_error *err) {
  bool taken = false;
  if (od_csv_is_empty(&r->lines, text, length)) return OD_USE_NONE;
  if (!r->lines.table) {
    r->units_may_follow = true;
    if (od_csv_header(&r->lines, text, length, err) != OD_OK) return OD_USE_BAD;
    if (r->lines.table->columns <= OD_MOST_CELLS) return OD_USE_HEAD;
    od_fail(err, OD_BAD_INPUT, "%d columns are too many; expected at most %d columns", r->lines.table->columns,
            OD_MOST_CELLS);
    od_csv_lines_end(&r->lines);
    r->lines.table = NULL;
    return OD_USE_BAD;
  }
  if (r->units_may_follow) {
    r->units_may_follow = false;
    if (od_csv_units(&r->lines, text, length, &taken, err) != OD_OK) return OD_USE_BAD;
    if (taken) return OD_USE_HEAD;
  }
  if (!complete(r, text, length, err)) return OD_USE_BAD;
  return od_csv_row(&r->lines, text, length, cells, err) == OD_OK ? OD_USE_SAMPLE : OD_USE_BAD;
}

// --- JSON ---------------------------------------------------------------------------------------------------------

static bool is_date(const json_t *value) {
  return json_is_string(value) && od_date_time_is(json_string_value(value), json_string_length(value));
}

// Makes the columns of a source without a list: the keys of its first object whose values are numbers or dates. Fails with OD_BAD_INPUT or
// OD_NO_MEMORY.
static od_status take_keys(od_message_reader *r, const json_t *object, od_error *err) {
  OD_SCRATCH(scratch);
  const char **names = OD_TAKE(&scratch, const char *, json_object_size(object) + 1);
  const char *key;
  json_t *value;
  int n = 0;
  if (!names) return od_fail(err, OD_NO_MEMORY, "out of memory");
  json_object_foreach((json_t *)object, key, value) if (json_is_number(value) || is_date(value)) names[n++] = key;
  if (n == 0) return od_fail(err, OD_BAD_INPUT, "the JSON object has no numbers; expected a number for each column");
  return take_names(r, names, err);
}

// Writes the values of an object as a row with commas, for the search for columns with times. Returns NULL if an allocation fails.
static const char *write_row(const od_table *table, const json_t *object, od_arena *memory) {
  char *text = od_arena_text(memory, "");
  for (int i = 0; text && i < table->columns; i++) {
    const json_t *value = json_object_get(object, table->name[i]);
    const char *comma = i > 0 ? "," : "";
    if (is_date(value))
      text = od_arena_format(memory, "%s%s\"%s\"", text, comma, json_string_value(value));
    else if (json_is_integer(value))
      text = od_arena_format(memory, "%s%s%lld", text, comma, (long long)json_integer_value(value));
    else if (json_is_real(value))
      text = od_arena_format(memory, "%s%s%.17g", text, comma, json_real_value(value));
    else
      text = od_arena_format(memory, "%s%s", text, comma);
  }
  return text;
}

static od_status find_times(od_message_reader *r, const json_t *object, od_error *err) {
  OD_SCRATCH(scratch);
  if (r->is_complete) return OD_OK;
  const char *row = write_row(r->lines.table, object, &scratch);
  if (!row) return od_fail(err, OD_NO_MEMORY, "out of memory");
  return complete(r, row, strlen(row), err) ? OD_OK : OD_BAD_INPUT;
}

// Reads the value of a column with dates. Returns false if the value is neither a date nor null.
static bool take_date(const od_message_reader *r, const json_t *value, int column) {
  const od_csv_reader reader = {.times = r->lines.times, .separator = ','};
  if (!value || json_is_null(value)) return true;
  if (!json_is_string(value)) return false;
  const od_csv_cell cell = {.text = json_string_value(value), .length = json_string_length(value)};
  return od_csv_time_read(&reader, &cell, column);
}

static bool has_dates(const od_message_reader *r, int column) {
  return r->lines.times && r->lines.times->column[column].kind != OD_CSV_VALUES;
}

static od_status take_values(od_message_reader *r, const json_t *object, double *cells, od_error *err) {
  const od_table *table = r->lines.table;
  const od_csv_reader reader = {.times = r->lines.times, .separator = ','};
  for (int i = 0; i < table->columns; i++) {
    const json_t *value = json_object_get(object, table->name[i]);
    const bool is_used = !r->lines.used || r->lines.used[i];
    if (has_dates(r, i)) {
      if (!take_date(r, value, i) && is_used)
        return od_fail(err, OD_BAD_INPUT, "the value of '%.60s' is not a date; expected a date or null",
                       table->name[i]);
      continue;
    }
    cells[i] = json_is_number(value) ? json_number_value(value) : (double)NAN;
    if (is_used && value && !json_is_number(value) && !json_is_null(value))
      return od_fail(err, OD_BAD_INPUT, "the value of '%.60s' is not a number; expected a number or null",
                     table->name[i]);
  }
  if (r->lines.times) od_csv_times_finish(&reader, cells);
  return OD_OK;
}

static od_message_use read_json(od_message_reader *r, const char *text, size_t length, double *cells, od_error *err) {
  json_error_t error;
  json_t *object = json_loadb(text, length, JSON_REJECT_DUPLICATES, &error);
  od_status status = OD_BAD_INPUT;
  if (!object)
    od_fail(err, OD_BAD_INPUT, "the message is not a JSON object: %s; expected {\"NAME\": number, ...}", error.text);
  else if (!json_is_object(object))
    od_fail(err, OD_BAD_INPUT, "this is not a JSON object; expected an object with a number for each column");
  else
    status = r->lines.table ? OD_OK : take_keys(r, object, err);
  if (status == OD_OK) status = find_times(r, object, err);
  if (status == OD_OK) status = take_values(r, object, cells, err);
  json_decref(object);
  return status == OD_OK ? OD_USE_SAMPLE : OD_USE_BAD;
}

od_message_use od_message_read(od_message_reader *r, const char *text, size_t length, double *cells, od_error *err) {
  r->lines.line++;
  while (length > 0 && (text[length - 1] == '\n' || text[length - 1] == '\r')) length--;
  if (length == 0) return OD_USE_NONE;
  return r->source->form == OD_MESSAGE_JSON ? read_json(r, text, length, cells, err)
                                            : read_csv(r, text, length, cells, err);
}
