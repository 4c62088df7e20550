// Reads tables from CSV files. Commas, semicolons, tabs or blanks separate the cells. Allowed are: quotes; CRLF; a byte order mark;
// comment lines that start with '#'; empty cells; lines of other text before the header. The header may be absent. Units may be in the
// header or in a line below the header. Names and units are UTF-8 or Windows-1252. Unless commas are the separators, a number may have a
// decimal comma. A cell that is not a number is a flaw of its column. A flaw is an error only if the column is used.
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/allocate.h"
#include "formats/csv_cells.h"
#include "formats/csv_lines.h"
#include "formats/csv_scan.h"
#include "formats/csv_times.h"
#include "io/input_file.h"
#include "formats/read_table.h"
#include "io/wording.h"

// Limit of the size of a file: a table needs several times the memory of its text.
enum { MEGABYTE = 1 << 20, LARGEST = 1024 };  // MB

OD_OWNED_POINTER(char, od_free);

// Reads a unit in a line of units: "bar", "[bar]", "(bar)"; "-" for a dimensionless column. A unit in the header has
// priority. is_utf8: whether the line is UTF-8. Fails with OD_NO_MEMORY.
static od_status unit_from(od_table *table, int column, const od_csv_cell *c, bool is_utf8) {
  if (table->unit[column][0] || c->length == 0) return OD_OK;
  char *text = od_csv_cell_text(c, is_utf8, &table->arena);
  if (!text) return OD_NO_MEMORY;
  size_t n = strlen(text);
  bool bracketed = n > 1 && ((text[0] == '[' && text[n - 1] == ']') || (text[0] == '(' && text[n - 1] == ')'));
  if (bracketed) text[n - 1] = '\0';
  const char *unit = bracketed ? text + 1 : text;
  return od_table_label(table, column, table->name[column], strcmp(unit, "-") ? unit : "1");
}

od_status od_csv_add_flaw(const od_csv_reader *r, int column, const od_error *flaw) {
  if (!r->flawed) return od_fail(r->err, OD_BAD_INPUT, "%s", flaw->text);
  const char **stored = &r->flawed->places.flaw[column];
  *stored = od_arena_text(&r->flawed->arena, flaw->text);
  return *stored ? OD_OK : od_csv_no_memory(r);
}

// Returns whether a flaw of a column is relevant: the column is used, and this is its first flaw.
static bool is_relevant(const od_csv_reader *r, int column) {
  if (r->wanted && !r->wanted[column]) return false;
  return r->flawed ? !od_table_flaw(r->flawed, column) : !r->used || r->used[column];
}

// Returns whether a column contains times.
static bool has_times(const od_csv_reader *r, int column) {
  return r->times && column < r->times->columns && r->times->column[column].kind != OD_CSV_VALUES;
}

// Returns whether the cells of a column are read. A column of dates may also be read for the times of the day in
// another column.
static bool is_read(const od_csv_reader *r, int column) {
  return !r->wanted || r->wanted[column] || (r->times && r->times->column[column].only_dates);
}

// Reads the value of a cell. In a column with times, *value is NAN, because od_csv_times_finish() computes the value at the end of the row.
// Returns false if the cell is not a number, or not a time in a column with times.
static bool read_value(const od_csv_reader *r, const od_csv_cell *c, int column, double *value) {
  if (!has_times(r, column)) return od_csv_cell_number(r, c, value);
  *value = NAN;
  return od_csv_time_read(r, c, column);
}

static od_status not_a_number(const od_csv_reader *r, const od_csv_cell *c, const od_table *table, int column) {
  if (!is_relevant(r, column)) return OD_OK;
  char shown[41];
  size_t n = c->length < sizeof shown - 1 ? c->length : sizeof shown - 1;
  for (size_t i = 0; i < n; i++) shown[i] = (unsigned char)c->text[i] < ' ' ? '?' : c->text[i];
  shown[n] = '\0';
  od_error flaw;
  const char *expected = !has_times(r, column)              ? "number"
                         : r->times->column[column].is_open ? "date with a known order of day and month"
                                                            : "date and time";
  od_fail(&flaw, OD_BAD_INPUT, "%s:%d:%d: '%s' is not a %s (column '%s')%s", r->path, c->line, c->column, shown,
          expected, table->name[column],
          r->missing && !has_times(r, column) ? "; 'missing' lists texts of missing values" : "");
  return od_csv_add_flaw(r, column, &flaw);
}

// Returns the name of the line that determines the number of cells of a row, for messages.
static const char *first_line(const od_table *table) {
  return table->places.header > 0 ? "header" : "first row";
}

// Sets the missing last values of a short row to NAN, and reports the row. Fails with OD_BAD_INPUT or OD_NO_MEMORY.
static od_status too_short(const od_csv_reader *r, const od_table *table, int line, int count, double *values) {
  od_error flaw;
  od_fail(&flaw, OD_BAD_INPUT, "%s:%d:%d: %s, but the %s has %s; expected equal numbers", r->path, line,
          od_csv_column(r, r->at), od_count(count, "cell").text, first_line(table),
          od_count(table->columns, "cell").text);
  od_status status = OD_OK;
  for (int i = count; i < table->columns && status == OD_OK; i++) {
    values[i] = NAN;
    if (is_relevant(r, i)) status = od_csv_add_flaw(r, i, &flaw);
  }
  return status;
}

// Reports a row with a surplus cell, which ends at r->at. A header with less than half the cells of the row may be a remark.
// Fails with OD_BAD_INPUT.
static od_status too_long(const od_csv_reader *r, const od_table *table, const od_csv_cell *surplus) {
  int count = table->columns + 1;
  for (const char *at = r->at; at < r->end && *at != '\n' && *at != '\r'; at++) count += *at == r->separator;
  char advice[120] = "";
  const int header = table->places.header;
  if (header > 0 && count > 2 * table->columns)
    snprintf(advice, sizeof advice, "; if line %d is a remark, skip it: --skip %d, or 'skip: %d' under 'data'", header,
             header, header);
  return od_fail(r->err, OD_BAD_INPUT,
                 "%s:%d:%d: the row has more cells than the %s, which has %s; expected equal numbers%s", r->path,
                 surplus->line, surplus->column, first_line(table), od_count(table->columns, "cell").text, advice);
}

// Returns the position of the next character c at or after `from`. The position is searched again only if the previous result is before
// `from`, so that all rows together search each byte once.
static const char *next_of(const od_csv_reader *r, const char *from, char c, const char **known) {
  if (*known != NULL && *known >= from) return *known;
  const char *found = memchr(from, c, (size_t)(r->end - from));
  return *known = found ? found : r->end;
}

static bool is_blank(const od_csv_reader *r, char c) {
  return c == ' ' || (c == '\t' && r->separator != '\t');
}

// Reads the value of a cell without quotes, as read_value() does.
static bool read_plain_cell(const od_csv_reader *r, const char *from, const char *to, int column, double *value) {
  while (from < to && is_blank(r, *from)) from++;
  while (from < to && is_blank(r, to[-1])) to--;
  return read_value(r, &(od_csv_cell){.text = from, .length = (size_t)(to - from)}, column, value);
}

// Reads a row that has the right number of cells, no quotes, and a number or a time in each wanted column. Other cells are only counted.
// For all other rows, returns false, and r->at does not move.
static bool read_plain_row(od_csv_reader *r, const od_table *table, bool spare, double *values) {
  const int last = table->columns - 1;
  int skipped = 0;  // number of cells between `at` and the current column
  if (r->separator == ' ') return false;
  const char *at = r->at, *line_end = next_of(r, at, '\n', &r->line_feed);
  if (next_of(r, at, '"', &r->quote) < line_end) return false;
  const char *end = next_of(r, at, '\r', &r->carriage_return);
  if (end < line_end && end + 1 < line_end) return false;
  if (end > line_end) end = line_end;
  const char *row_end = end;
  for (int i = 0; i < last; i++, skipped++) {
    if (!is_read(r, i)) {
      values[i] = NAN;
      continue;
    }
    if (!(at = od_csv_skip_cells(at, end, r->end, r->separator, skipped))) return false;
    const char *cell_end = od_csv_cell_end(at, end, r->end, r->separator);
    if (cell_end == end || !read_plain_cell(r, at, cell_end, i, &values[i])) return false;
    at = cell_end;
    skipped = 0;
  }
  if (!(at = od_csv_skip_cells(at, end, r->end, r->separator, skipped))) return false;
  while (end > at && is_blank(r, end[-1])) end--;
  if (spare && end > at && end[-1] == r->separator) end--;
  if (od_csv_cell_end(at, end, r->end, r->separator) < end) return false;
  values[last] = NAN;
  if (is_read(r, last) && !read_plain_cell(r, at, end, last, &values[last])) return false;
  if (r->times) od_csv_times_finish(r, values);
  r->at = row_end;
  return true;
}

// Reads one row of numbers into values; a row has as many cells as the header. spare: each line may end with a
// separator. Empty surplus cells are ignored. A text in the last column may contain separators. Other surplus cells are
// an error; such cells occur, for example, if a decimal comma splits a number.
od_status od_csv_read_row(od_csv_reader *r, const od_table *table, bool spare, double *values) {
  if (read_plain_row(r, table, spare, values)) return OD_OK;
  int line = r->line, count = 0;
  bool text = false;  // whether the last cell contains a text instead of a number
  for (;; r->at++) {
    od_csv_cell c;
    double ignored;
    od_status status = od_csv_read_cell(r, &c);
    if (status != OD_OK) return status;
    bool is_surplus = count >= table->columns, goes_on = is_surplus && text;
    if (is_surplus && c.length == 0) {
      if (od_csv_at_line_end(r)) break;
      continue;
    }
    // Skips an unwanted cell. The last cell is always read, because surplus cells are allowed only if the last cell is a text.
    if (count < table->columns - 1 && !is_read(r, count)) {
      values[count++] = NAN;
      if (od_csv_at_line_end(r)) break;
      continue;
    }
    text = !read_value(r, &c, count, count < table->columns ? &values[count] : &ignored);
    if (r->wanted && count < table->columns && !r->wanted[count]) values[count] = NAN;
    if (count < table->columns && text) {
      values[count] = NAN;
      status = not_a_number(r, &c, table, count);
      if (status != OD_OK) return status;
    } else if (is_surplus && !(goes_on && text)) {
      return too_long(r, table, &c);
    }
    count++;
    if (od_csv_at_line_end(r)) break;
  }
  od_status status = count >= table->columns ? OD_OK : too_short(r, table, line, count, values);
  if (r->times) od_csv_times_finish(r, values);
  return status;
}

static od_status make_table(od_csv_reader *r, const od_csv_cells *header, bool numbered, bool spare, od_table **out) {
  int columns = header->count - spare;
  od_table *t = *out = od_table_new(columns);
  if (!t) return od_csv_no_memory(r);
  t->places.column = OD_TAKE(&t->arena, int, columns);
  t->places.flaw = OD_TAKE(&t->arena, const char *, columns);
  if (od_arena_status(&t->arena) != OD_OK) return od_csv_no_memory(r);
  const bool is_utf8 = od_csv_is_utf8(header);
  for (int i = 0; i < columns; i++) {
    bool unnamed = numbered || header->cell[i].length == 0;
    char *name = unnamed ? od_arena_format(&t->arena, "column%d", i + 1)
                         : od_csv_cell_text(&header->cell[i], is_utf8, &t->arena);
    t->places.column[i] = header->cell[i].column;
    const char *unit = name && !unnamed ? od_label_split(name) : "";
    if (!name || od_table_label(t, i, name, unit) != OD_OK) return od_csv_no_memory(r);
  }
  if (!numbered) t->places.header = header->cell[0].line;
  return OD_OK;
}

// Returns whether a line below the header contains units: the line is not empty, contains no number and no time, and has as many cells as
// the header or one more.
static bool is_units(const od_csv_reader *r, const od_csv_cells *line, int columns) {
  bool any = false;
  for (int i = 0; i < line->count; i++) {
    if (line->cell[i].length > 0 && od_csv_cell_is_value(r, &line->cell[i])) return false;
    any = any || line->cell[i].length > 0;
  }
  return any && line->count >= columns && line->count <= columns + 1;
}

// Reads the line at r->at if it is a line of units. Otherwise the position does not change. Fails with OD_NO_MEMORY.
static od_status read_units(od_csv_reader *r, od_table *table, bool *taken) {
  OD_SCRATCH(scratch);
  od_csv_reader before = *r;
  od_csv_cells line = {0};
  od_error ignored = {0};
  *taken = false;
  r->err = &ignored;  // errors of a row are reported when the line is read as a row
  od_status status = od_csv_read_line(r, &scratch, &line);
  r->err = before.err;
  if (status == OD_NO_MEMORY) return od_csv_no_memory(r);
  *taken = status == OD_OK && is_units(r, &line, table->columns);
  if (!*taken) *r = before;
  const bool is_utf8 = *taken && od_csv_is_utf8(&line);
  for (int i = 0; *taken && i < table->columns; i++)
    if (unit_from(table, i, &line.cell[i], is_utf8) != OD_OK) return od_csv_no_memory(r);
  return OD_OK;
}

// Stores the line number of the row that is appended next. Returns false if an allocation fails.
static bool keep_line(od_table *table, int line) {
  if (table->rows == table->capacity) {
    size_t larger = table->capacity ? 2 * (size_t)table->capacity : 64;
    int *moved = od_realloc(table->places.line, larger * sizeof *moved);
    if (!moved) return false;
    table->places.line = moved;
  }
  table->places.line[table->rows] = line;
  return true;
}

od_status od_csv_survey_times(const od_csv_reader *r, const od_table *table, bool spare) {
  OD_SCRATCH(scratch);
  OD_OWNED(od_csv_times_free) od_csv_times *times = od_csv_times_copy(r->times);
  double *values = OD_TAKE(&scratch, double, table->columns);
  bool *used = OD_TAKE(&scratch, bool, table->columns);  // all false: no column is in use
  if (!times || !values || !used) return od_csv_no_memory(r);
  od_csv_reader rows = *r;
  od_error ignored = {0};
  rows.flawed = NULL;
  rows.used = used;
  rows.times = times;
  rows.err = &ignored;
  times->is_survey = true;
  while (od_csv_find_line(&rows) && od_csv_read_row(&rows, table, spare, values) == OD_OK)
    if (rows.at < rows.end) od_csv_next_line(&rows);
  return od_csv_times_decide(r, table, times);
}

static od_status read_rows(od_csv_reader *r, od_table *table, bool spare) {
  OD_SCRATCH(scratch);
  double *values = OD_TAKE(&scratch, double, table->columns);
  if (!values) return od_csv_no_memory(r);
  r->flawed = table;
  if (r->times && od_csv_times_are_open(r->times, NULL)) {
    const od_status status = od_csv_survey_times(r, table, spare);
    if (status != OD_OK) return status;
  }
  while (od_csv_find_line(r)) {
    int line = r->line;
    od_status status = od_csv_read_row(r, table, spare, values);
    if (status != OD_OK) return status;
    if (!keep_line(table, line) || od_table_append(table, values) != OD_OK) return od_csv_no_memory(r);
    if (r->at < r->end) od_csv_next_line(r);
  }
  return OD_OK;
}

// Returns the number of cells of the rows below a header if blanks separate the cells of the rows; otherwise 0. A line of units may
// precede the rows.
static int blank_columns(const od_csv_reader *header) {
  od_csv_reader r = *header;
  od_error ignored = {0};
  r.err = &ignored;
  for (int line = 0; line < 2; line++) {
    OD_SCRATCH(scratch);
    od_csv_cells row = {0};
    od_csv_skip_lines(&r, 1);
    if (!od_csv_find_line(&r)) return 0;
    r.separator = od_csv_find_separator(&r, NULL);
    if (r.separator == ' ') return od_csv_read_line(&r, &scratch, &row) == OD_OK ? row.count : 0;
  }
  return 0;
}

// Joins units in brackets to the preceding names: "p [bar]" is one name.
static void join_units(od_csv_cells *names) {
  int count = 0;
  for (int i = 0; i < names->count; i++) {
    const od_csv_cell *c = &names->cell[i];
    const bool is_unit = i > 0 && c->length > 0 && !c->quoted && (c->text[0] == '[' || c->text[0] == '(');
    if (is_unit)
      names->cell[count - 1].length = (size_t)(c->text + c->length - names->cell[count - 1].text);
    else
      names->cell[count++] = *c;
  }
  names->count = count;
}

// Reads a header whose rows have `width` cells between blanks. The names may contain single blanks if at least two
// blanks separate the names, and units in brackets. If no such reading gives `width` names, each word is a name, and the caller finds
// out whether a first column without a name is missing (has_index()). Fails with OD_BAD_INPUT or OD_NO_MEMORY.
static od_status read_blank_names(od_csv_reader *r, od_arena *arena, int width, od_csv_cells *out) {
  const od_csv_reader start = *r;
  od_status status = OD_OK;
  for (int way = 0; way < 4 && status == OD_OK; way++) {
    *r = start;
    *out = (od_csv_cells){0};
    r->blanks = way == 1 ? 2 : 0;
    status = od_csv_read_line(r, arena, out);
    r->blanks = 0;
    if (way == 2 && status == OD_OK) join_units(out);
    if (out->count == width) break;
  }
  return status;
}

// Returns whether the first cell of a header is a mark, and no name: "Data: y x", "% t u".
static bool is_mark(const od_csv_cells *header) {
  const od_csv_cell *c = &header->cell[0];
  if (header->count < 2 || c->length == 0 || c->quoted) return false;
  return c->text[c->length - 1] == ':' || (c->length == 1 && strchr("%!;*", c->text[0])) ||
         (c->length == 2 && memcmp(c->text, "//", 2) == 0);
}

// Returns whether one of the next MOST_LINES lines has a number or a time in cell `count`, and no further cells.
static bool has_cell(const od_csv_reader *r, int count) {
  enum { MOST_LINES = 20 };
  od_csv_reader rows = *r;
  od_error ignored = {0};
  rows.err = &ignored;
  for (int line = 0; line < MOST_LINES && rows.at < rows.end; line++) {
    OD_SCRATCH(scratch);
    od_csv_cells found = {0};
    od_csv_next_line(&rows);
    if (!od_csv_find_line(&rows) || od_csv_read_line(&rows, &scratch, &found) != OD_OK) return false;
    const od_csv_cell *last = found.count == count ? &found.cell[count - 1] : NULL;
    if (last && last->length > 0 && od_csv_cell_is_value(&rows, last)) return true;
  }
  return false;
}

// Moves behind the mark of a header between blanks that has more cells than the rows below.
static void pass_mark(od_csv_reader *r) {
  OD_SCRATCH(scratch);
  od_csv_reader line = *r;
  od_csv_cells cells = {0};
  od_error ignored = {0};
  const int below = blank_columns(r);
  line.separator = ' ';
  line.err = &ignored;
  if (below > 0 && od_csv_read_line(&line, &scratch, &cells) == OD_OK && cells.count > below && is_mark(&cells))
    r->at = cells.cell[0].text + cells.cell[0].length;
}

// Reads the header at r->at into a table without rows. *numbered: whether the line contains data instead of a header. *spare:
// whether each line ends with a separator. Fails with OD_BAD_INPUT or OD_NO_MEMORY.
static od_status read_header(od_csv_reader *r, od_table **out, bool *numbered, bool *spare) {
  OD_SCRATCH(scratch);
  od_csv_cells header = {0};
  int separators, width = 0;
  pass_mark(r);
  r->separator = od_csv_find_separator(r, &separators);
  if (separators == 0 && r->separator != ' ' && (width = blank_columns(r)) > 0) r->separator = ' ';
  od_status status = width > 0 ? read_blank_names(r, &scratch, width, &header) : od_csv_read_line(r, &scratch, &header);
  if (status != OD_OK) return status;
  // A line with only numbers, times and missing cells is data.
  *numbered = true;
  for (int i = 0; i < header.count && *numbered; i++) *numbered = od_csv_cell_is_value(r, &header.cell[i]);
  // Some programs end each line with a separator. An empty last cell of the first row may also be a missing number.
  *spare = header.count > 1 && header.cell[header.count - 1].length == 0 && !(*numbered && has_cell(r, header.count));
  return make_table(r, &header, *numbered, *spare, out);
}

// --- Lines of other text before the header ------------------------------------------------------------------------

enum { LONGEST_PREAMBLE = 200 };

// Contents of a line: number of cells, 0 if the line cannot be read; number of cells up to the last cell that is not empty; number of
// cells with numbers or times.
typedef struct line_cells {
  int count, filled, numbers;
} line_cells;

// Counts the cells of the line at r and moves r to the next line. If `separator` is zero, finds the separator in the line itself.
static line_cells count_cells(od_csv_reader *r, char separator) {
  OD_SCRATCH(scratch);
  od_csv_reader line = *r;
  od_csv_cells found = {0};
  od_error ignored = {0};
  line_cells cells = {0};
  line.separator = separator ? separator : od_csv_find_separator(&line, NULL);
  line.err = &ignored;
  if (od_csv_read_line(&line, &scratch, &found) == OD_OK) cells.count = found.count;
  for (int i = 0; i < cells.count; i++) {
    if (found.cell[i].length == 0) continue;
    cells.filled = i + 1;
    cells.numbers += od_csv_cell_is_value(&line, &found.cell[i]);
  }
  while (!od_csv_at_line_end(r)) r->at++;
  if (r->at < r->end) od_csv_next_line(r);
  return cells;
}

// Returns whether a line is a row of data: a row has at least two cells, and most of them are numbers or times.
static bool is_row(line_cells c) {
  return (c.count >= 2 && 2 * c.numbers > c.count) || (c.filled >= 2 && 2 * c.numbers > c.filled);
}

// Returns whether a line with these cells may have the units of rows with `width` cells. Between blanks, words of a text look like cells.
static bool fits(line_cells c, int width, char separator) {
  return separator == ' ' ? c.count == width : c.count >= width;
}

// Returns whether a line with these cells may have the names. A line of text before a table may end with separators that a spreadsheet
// program added: only its first cell has a text.
static bool may_be_names(line_cells c, int width, char separator) {
  return fits(c, width, separator) && c.filled > 1;
}

// Returns whether a line above rows with `width` cells is a header that begins with a mark.
static bool is_marked(const od_csv_reader *line, int width, char separator) {
  OD_SCRATCH(scratch);
  od_csv_reader r = *line;
  od_csv_cells found = {0};
  od_error ignored = {0};
  r.separator = separator;
  r.err = &ignored;
  if (separator != ' ' || od_csv_read_line(&r, &scratch, &found) != OD_OK) return false;
  return found.count == width + 1 && is_mark(&found);
}

// The lines before the first row of data.
typedef struct lines_above {
  const od_csv_reader *first, *before, *before_that;  // first line of the file, last line before the row, and the line
                                                      // before that line
  char separator;                                     // separator of the row
} lines_above;

// Finds the header of rows with `width` cells: the last line above the rows, or the line before the line of units. If the first line has
// this width, the first line is the header, unless the last line begins with a mark. Returns NULL if no line has this width.
static const od_csv_reader *find_names(const lines_above *l, int width) {
  od_csv_reader first = *l->first, before = *l->before, before_that = *l->before_that;
  if (is_marked(l->before, width, l->separator)) return l->before;
  if (may_be_names(count_cells(&first, l->separator), width, l->separator)) return l->first;
  const line_cells last = count_cells(&before, l->separator);
  if (last.numbers > 0 || !fits(last, width, l->separator)) return NULL;
  const line_cells other = count_cells(&before_that, l->separator);
  if (other.numbers == 0 && may_be_names(other, width, l->separator)) return l->before_that;
  return may_be_names(last, width, l->separator) ? l->before : NULL;
}

// Skips lines before the header. If two consecutive rows have the same number of cells, the table has at least this width. One row
// at the end of the file is sufficient. The second row may lack the last cells if the line above the first row has names for all
// cells. Rows may end with empty surplus cells: if no line has the width of the rows, the width is the number of their cells up to the
// last value. If no line has this width either, the rows belong to the text, and further rows are searched. If no rows have names,
// nothing is skipped.
static void skip_preamble(od_csv_reader *r) {
  od_csv_reader now = *r, before = *r, before_that = *r;
  for (int line = 0; line < LONGEST_PREAMBLE && od_csv_find_line(&now); line++) {
    od_csv_reader start = now, next = now;
    line_cells row = count_cells(&next, '\0'), following = row;
    od_csv_reader after = next;
    if (is_row(row) && od_csv_find_line(&after)) following = count_cells(&after, '\0');
    const bool is_equal = following.count == row.count;
    if (is_row(row) && is_row(following) && following.count <= row.count) {
      const lines_above above = {r, &before, &before_that, od_csv_find_separator(&start, NULL)};
      const int filled = row.filled > following.filled ? row.filled : following.filled;
      const od_csv_reader *names = line > 0 ? find_names(&above, row.count) : NULL;
      if (!names && line > 0 && is_equal) names = find_names(&above, filled);
      if (names) *r = *names;
      if (names || (line == 0 && is_equal)) return;
    }
    before_that = before;
    before = start;
    now = next;
  }
}

// --- Names, units and rows ----------------------------------------------------------------------------------------

// Returns whether the rows at r have a first column without a name, as programs for statistics write: the first two rows (or the only
// row) have one cell more than the header, their last cells are numbers or times, and their first cells are texts or in quotes, or count
// from one if blanks separate the cells. First cells with other numbers are not accepted, because a decimal comma may have split them.
static bool has_index(const od_csv_reader *start, int columns) {
  od_csv_reader r = *start;
  od_error ignored = {0};
  int rows = 0;
  r.err = &ignored;
  for (; rows < 2 && od_csv_find_line(&r); rows++) {
    OD_SCRATCH(scratch);
    od_csv_cells line = {0};
    double number = NAN;
    if (od_csv_read_line(&r, &scratch, &line) != OD_OK || line.count != columns + 1) return false;
    const od_csv_cell *first = &line.cell[0], *last = &line.cell[columns];
    const bool is_number = od_csv_cell_number(&r, first, &number), counts = r.separator == ' ' && number == rows + 1;
    if (first->length == 0 || last->length == 0 || (is_number && !first->quoted && !counts)) return false;
    if (!is_number && od_csv_cell_is_value(&r, first)) return false;
    if (!od_csv_cell_is_value(&r, last)) return false;
    if (r.at < r.end) od_csv_next_line(&r);
  }
  return rows > 0;
}

// Adds a column before the first column. Fails with OD_NO_MEMORY.
static od_status add_index(const od_csv_reader *r, od_table **table) {
  const od_table *old = *table;
  OD_OWNED(od_table_free) od_table *t = od_table_new(old->columns + 1);
  if (!t) return od_csv_no_memory(r);
  t->places.column = OD_TAKE(&t->arena, int, t->columns);
  t->places.flaw = OD_TAKE(&t->arena, const char *, t->columns);
  if (od_arena_status(&t->arena) != OD_OK) return od_csv_no_memory(r);
  t->places.header = old->places.header;
  for (int i = 0; i < t->columns; i++) {
    t->places.column[i] = i > 0 ? old->places.column[i - 1] : 1;
    if (od_table_label(t, i, i > 0 ? old->name[i - 1] : "column1", i > 0 ? old->unit[i - 1] : "") != OD_OK)
      return od_csv_no_memory(r);
  }
  od_table_free(*table);
  *table = OD_GIVE(t);
  return OD_OK;
}

od_status od_csv_read_head(od_csv_reader *r, int skip, od_table **out, bool *spare) {
  od_csv_skip_lines(r, skip);
  if (od_csv_find_line(r) && skip == 0) skip_preamble(r);
  if (!od_csv_find_line(r))
    return od_fail(r->err, OD_BAD_INPUT, "%s is empty or has no line with data; expected a header line and numbers",
                   r->path);
  od_csv_reader before = *r;
  bool numbered = false, units = false;
  od_status status = read_header(r, out, &numbered, spare);
  if (status != OD_OK) return status;
  before.separator = r->separator;
  if (numbered)
    *r = before;
  else if (r->at < r->end)
    od_csv_next_line(r);
  if (!numbered && od_csv_find_line(r)) status = read_units(r, *out, &units);
  if (units && r->at < r->end) od_csv_next_line(r);
  if (status == OD_OK && !numbered && !*spare && has_index(r, (*out)->columns)) status = add_index(r, out);
  return status;
}

enum { MOST_CONTROLS = 3 };  // a file with this number of control characters in its first line is no text

// Fails with OD_BAD_INPUT if a file is no text: a known kind of file, or a first line with MOST_CONTROLS control characters or NUL.
static od_status check_text(const char *path, const char *text, size_t length, od_error *err) {
  static const struct {
    const char *start, *what, *remedy;
  } known[] = {
      {"PK\x03\x04", "an Excel workbook or a zip archive", "save the table as CSV, or unpack the archive"},
      {"\xd0\xcf\x11\xe0", "an Excel workbook", "save the table as CSV"},
      {"\x1f\x8b", "compressed", "unpack the file with: gunzip FILE"},
      {"BZh", "compressed", "unpack the file with: bunzip2 FILE"},
      {"\xfd\x37zXZ", "compressed", "unpack the file with: unxz FILE"},
      {"\x28\xb5\x2f\xfd", "compressed", "unpack the file with: unzstd FILE"},
      {"TDSm", "a TDMS file of LabVIEW", "export the data as CSV, HDF5 or MATLAB file"},
      {"PAR1", "a Parquet file", "save the table as CSV or HDF5"},
  };
  for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
    size_t n = strlen(known[i].start);
    if (length >= n && !memcmp(text, known[i].start, n))
      return od_fail(err, OD_BAD_INPUT, "%s is %s; %s", path, known[i].what, known[i].remedy);
  }
  int controls = 0;
  for (size_t i = 0; i < length && text[i] != '\n' && text[i] != '\r' && controls < MOST_CONTROLS; i++)
    if ((unsigned char)text[i] < ' ' && text[i] != '\t') controls += text[i] != '\0' ? 1 : MOST_CONTROLS;
  if (controls >= MOST_CONTROLS)
    return od_fail(
        err, OD_BAD_INPUT,
        "%s is no text, and no log of a known format; expected text with columns (CSV), MATLAB, HDF5, MDF 4, or a "
        "CAN trace",
        path);
  return OD_OK;
}

od_status od_csv_byte_mark(const char *path, const char *text, size_t length, size_t *mark, od_error *err) {
  *mark = length >= 3 && !memcmp(text, "\xef\xbb\xbf", 3) ? 3 : 0;
  if (length >= 2 && (!memcmp(text, "\xff\xfe", 2) || !memcmp(text, "\xfe\xff", 2)))
    return od_fail(err, OD_BAD_INPUT,
                   "%s is UTF-16 text; save the file as UTF-8, for example with: iconv -f UTF-16 -t UTF-8 FILE >NEW",
                   path);
  return check_text(path, text, length, err);
}

// --- Line by line -------------------------------------------------------------------------------------------------

static od_csv_reader line_reader(const od_csv_lines *s, const char *line, size_t length, od_error *err) {
  return (od_csv_reader){.path = s->name,
                         .times = s->times,
                         .at = line,
                         .end = line + length,
                         .line_start = line,
                         .line = s->line,
                         .separator = s->separator,
                         .missing = s->missing,
                         .used = s->used,
                         .err = err};
}

od_status od_csv_header(od_csv_lines *s, const char *line, size_t length, od_error *err) {
  size_t mark = length >= 3 && !memcmp(line, "\xef\xbb\xbf", 3) ? 3 : 0;
  od_csv_reader r = line_reader(s, line + mark, length - mark, err);
  bool numbered = false;
  od_status status = read_header(&r, &s->table, &numbered, &s->spare);
  s->separator = r.separator;
  if (status == OD_OK && !numbered) return OD_OK;
  od_table_free(s->table);
  s->table = NULL;
  return status != OD_OK
             ? status
             : od_csv_fail_at(&r, s->line, 1, "found only numbers, expected a header with the names of the columns");
}

bool od_csv_is_empty(const od_csv_lines *s, const char *line, size_t length) {
  od_csv_reader r = line_reader(s, line, length, NULL);
  return !od_csv_find_line(&r);
}

od_status od_csv_units(od_csv_lines *s, const char *line, size_t length, bool *taken, od_error *err) {
  od_csv_reader r = line_reader(s, line, length, err);
  return read_units(&r, s->table, taken);
}

od_status od_csv_find_times(od_csv_lines *s, const char *line, size_t length, const od_table_wish *wish,
                            od_error *err) {
  od_csv_reader r = line_reader(s, line, length, err);
  return od_csv_times_find(&r, s->table, wish, &s->times);
}

void od_csv_lines_end(od_csv_lines *s) {
  od_csv_times_free(s->times);
  od_table_free(s->table);
  s->times = NULL;
  s->table = NULL;
}

od_status od_csv_row(od_csv_lines *s, const char *line, size_t length, double *values, od_error *err) {
  od_csv_reader r = line_reader(s, line, length, err);
  return od_csv_read_row(&r, s->table, s->spare, values);
}

// --- Whole files --------------------------------------------------------------------------------------------------

od_status od_table_read_csv(const char *path, od_table **out, od_error *err) {
  return od_table_read_csv_with(path, NULL, out, err);
}

od_status od_table_read_csv_with(const char *path, const od_table_wish *wish, od_table **out, od_error *err) {
  OD_OWNED(od_table_free) od_table *table = NULL;
  OD_OWNED(od_free) char *text = NULL;
  size_t length = 0, mark = 0;
  bool spare = false;
  *out = NULL;
  od_error why = {0};
  od_status status = od_input_read(path, (size_t)LARGEST * MEGABYTE, &text, &length, &why);
  if (status == OD_NO_MEMORY) return od_fail(err, status, "out of memory while reading %s", path);
  if (status != OD_OK) return od_fail(err, status, "cannot read %s: %s", path, why.text);
  status = od_csv_byte_mark(path, text, length, &mark, err);
  if (status != OD_OK) return status;
  od_csv_reader r = {.path = path,
                     .at = text + mark,
                     .end = text + length,
                     .line_start = text + mark,
                     .line = 1,
                     .missing = wish ? wish->missing : NULL,
                     .err = err};
  OD_OWNED(od_csv_times_free) od_csv_times *times = NULL;
  status = od_csv_read_head(&r, wish ? wish->skip : 0, &table, &spare);
  if (status == OD_OK) status = od_csv_times_find(&r, table, wish, &times);
  r.times = times;
  if (status == OD_OK) status = read_rows(&r, table, spare);
  if (status != OD_OK) return status;
  table->places.cut = length > 0 && text[length - 1] != '\n' && text[length - 1] != '\r';
  *out = OD_GIVE(table);
  return OD_OK;
}
