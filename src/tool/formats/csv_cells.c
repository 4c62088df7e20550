// Lines and cells of CSV files.
#include "formats/csv_cells.h"

#include <math.h>
#include <string.h>

#include "io/date_time.h"
#include "io/number.h"
#include "io/table.h"
#include "io/utf8.h"

int od_csv_column(const od_csv_reader *r, const char *place) {
  return (int)(place - r->line_start) + 1;
}

od_status od_csv_fail_at(const od_csv_reader *r, int line, int column, const char *text) {
  return od_fail(r->err, OD_BAD_INPUT, "%s:%d:%d: %s", r->path, line, column, text);
}

od_status od_csv_no_memory(const od_csv_reader *r) {
  return od_fail(r->err, OD_NO_MEMORY, "out of memory while reading %s", r->path);
}

void od_csv_next_line(od_csv_reader *r) {
  if (r->at < r->end && *r->at == '\r') r->at++;
  if (r->at < r->end && *r->at == '\n') r->at++;
  r->line++;
  r->line_start = r->at;
}

bool od_csv_at_line_end(const od_csv_reader *r) {
  return r->at == r->end || *r->at == '\n' || *r->at == '\r';
}

// Returns whether a character is a space, or a tab that is not the separator.
static bool is_blank(const od_csv_reader *r, char c) {
  return c == ' ' || (c == '\t' && r->separator != '\t');
}

static void skip_blanks(od_csv_reader *r) {
  while (r->at < r->end && is_blank(r, *r->at)) r->at++;
}

bool od_csv_find_line(od_csv_reader *r) {
  while (r->at < r->end) {
    skip_blanks(r);
    if (r->at < r->end && *r->at == '#')
      while (!od_csv_at_line_end(r)) r->at++;
    if (!od_csv_at_line_end(r)) {
      r->at = r->line_start;
      return true;
    }
    if (r->at < r->end) od_csv_next_line(r);
  }
  return false;
}

static bool is_any_blank(char c) {
  return c == ' ' || c == '\t';
}

// Returns whether the cell ends at a blank, if blanks are separators: at a tab, or at the required number of blanks.
static bool ends_at_blank(const od_csv_reader *r, const char *at) {
  int blanks = 0;
  for (; at + blanks < r->end && blanks < r->blanks && is_any_blank(at[blanks]); blanks++)
    if (at[blanks] == '\t') return true;
  return at < r->end && is_any_blank(*at) && (blanks >= r->blanks || at + blanks == r->end);
}

// Moves to the last blank before the next cell, or to the line end.
static void skip_separating_blanks(od_csv_reader *r) {
  while (r->at < r->end && is_any_blank(*r->at)) r->at++;
  if (!od_csv_at_line_end(r)) r->at--;
}

// Reads the cell at r->at, if blanks are separators. The cell begins with neither a blank nor a quote.
static void read_blank_cell(od_csv_reader *r, od_csv_cell *out) {
  while (!od_csv_at_line_end(r) && !ends_at_blank(r, r->at)) r->at++;
  const char *last = r->at;
  while (last > out->text && is_any_blank(last[-1])) last--;
  out->length = (size_t)(last - out->text);
  skip_separating_blanks(r);
}

od_status od_csv_read_cell(od_csv_reader *r, od_csv_cell *out) {
  skip_blanks(r);
  *out = (od_csv_cell){.text = r->at, .line = r->line, .column = od_csv_column(r, r->at)};
  if (r->at < r->end && *r->at == '"') {
    out->quoted = true;
    out->text = ++r->at;
    for (;; r->at++) {
      if (r->at == r->end)
        return od_csv_fail_at(r, out->line, out->column,
                              "the quote is not closed; add the closing "
                              "quote");
      if (*r->at == '\n') r->line++, r->line_start = r->at + 1;
      if (*r->at != '"') continue;
      if (r->at + 1 == r->end || r->at[1] != '"') break;
      r->at++;  // two quotes represent one quote
    }
    out->length = (size_t)(r->at - out->text);
    r->at++;
    if (r->separator == ' ' && r->at < r->end && is_any_blank(*r->at)) {
      skip_separating_blanks(r);
      return OD_OK;
    }
    skip_blanks(r);
    if (!od_csv_at_line_end(r) && *r->at != r->separator)
      return od_csv_fail_at(r, r->line, od_csv_column(r, r->at), "expected a separator after the closing quote");
    return OD_OK;
  }
  if (r->separator == ' ') {
    read_blank_cell(r, out);
    return OD_OK;
  }
  const char *last = r->at, *end = r->end, separator = r->separator;
  while (last < end && *last != separator && *last != '\n' && *last != '\r') last++;
  r->at = last;
  while (last > out->text && is_blank(r, last[-1])) last--;
  out->length = (size_t)(last - out->text);
  return OD_OK;
}

// Returns whether a word is a number, a date or time, or a marker of a missing value. comma: whether numbers may have decimal commas;
// dates and times are then not accepted. A word that begins or ends with a comma is not a value.
static bool is_value(const od_csv_reader *r, const char *word, size_t length, bool comma) {
  double value = NAN;
  if (word[0] == ',' || word[length - 1] == ',') return false;
  if (od_number_parse(word, length, comma, &value) || od_is_missing(r->missing, word, length, value)) return true;
  return !comma && od_date_time_is(word, length);
}

// Returns whether the line at r consists of values (is_value()) and words in quotes between blanks: at least two cells, and at least one
// value. A comma is a decimal comma; a line with commas has no times and no words in quotes.
static bool has_blank_columns(const od_csv_reader *r) {
  const char *end = r->at;
  while (end < r->end && *end != '\n' && *end != '\r') end++;
  const bool comma = memchr(r->at, ',', (size_t)(end - r->at)) != NULL;
  int words = 0, values = 0;
  for (const char *at = r->at; at < end; words++) {
    while (at < end && *at == ' ') at++;
    const char *word = at;
    while (at < end && *at != ' ') at++;
    if (at == word) break;
    const bool is_quoted = !comma && at - word > 1 && word[0] == '"' && at[-1] == '"';
    if (!is_quoted && !is_value(r, word, (size_t)(at - word), comma)) return false;
    values += !is_quoted;
  }
  return words >= 2 && values >= 1;
}

// Returns whether the commas of a line belong to numbers or texts: each cell has at most one, before a digit or a blank. A row of numbers
// with decimal commas has more commas than separators.
static bool has_decimal_commas(const od_csv_reader *r, char separator) {
  bool quoted = false;
  int commas = 0;
  for (const char *c = r->at; c < r->end && (quoted || (*c != '\n' && *c != '\r')); c++) {
    if (*c == '"') quoted = !quoted;
    if (quoted) continue;
    if (*c == separator) commas = 0;
    if (*c != ',') continue;
    const char next = c + 1 < r->end ? c[1] : '\n';
    if (++commas > 1 || !(next == ' ' || (next >= '0' && next <= '9'))) return false;
  }
  return true;
}

char od_csv_find_separator(const od_csv_reader *r, int *count) {
  static const char candidates[] = ";\t,";
  int counts[3] = {0}, best = 2;
  bool quoted = false;
  for (const char *c = r->at; c < r->end && (quoted || (*c != '\n' && *c != '\r')); c++) {
    if (*c == '"') quoted = !quoted;
    for (int i = 0; i < 3 && !quoted; i++) counts[i] += *c == candidates[i];
  }
  for (int i = 1; i >= 0; i--)
    if (counts[i] > 0 && (counts[i] >= counts[best] || has_decimal_commas(r, candidates[i]))) best = i;
  if (count) *count = counts[best];
  return counts[0] == 0 && counts[1] == 0 && has_blank_columns(r) ? ' ' : candidates[best];
}

bool od_csv_cell_number(const od_csv_reader *r, const od_csv_cell *c, double *value) {
  *value = NAN;
  if (c->length == 0) return true;
  bool is_number = od_number_parse(c->text, c->length, r->separator != ',', value);
  if (!od_is_missing(r->missing, c->text, c->length, *value)) return is_number;
  *value = NAN;
  return true;
}

bool od_csv_is_utf8(const od_csv_cells *line) {
  for (int i = 0; i < line->count; i++)
    if (!od_utf8_has_only(line->cell[i].text, line->cell[i].length)) return false;
  return true;
}

char *od_csv_cell_text(const od_csv_cell *c, bool is_utf8, od_arena *arena) {
  char *text = od_arena_take(arena, (is_utf8 ? 1 : OD_UTF8_OF_1252) * c->length + 1);
  size_t n = 0;
  for (size_t i = 0; text && i < c->length; i++) {
    if (is_utf8)
      text[n++] = c->text[i];
    else
      n += od_utf8_from_1252((unsigned char)c->text[i], text + n);
    if (c->quoted && c->text[i] == '"') i++;
  }
  return text;
}

od_status od_csv_read_line(od_csv_reader *r, od_arena *arena, od_csv_cells *line) {
  enum { MOST_CELLS = 100000 };
  for (line->count = 0;; r->at++) {
    if (line->count == MOST_CELLS)
      return od_fail(r->err, OD_BAD_INPUT,
                     "%s:%d: the line has more than %d cells; expected a table with fewer columns", r->path, r->line,
                     MOST_CELLS);
    od_csv_cell *list = od_arena_extend(arena, line->cell, line->count, sizeof *list);
    if (!list) return od_csv_no_memory(r);
    line->cell = list;
    od_status status = od_csv_read_cell(r, &line->cell[line->count]);
    if (status != OD_OK) return status;
    line->count++;
    if (od_csv_at_line_end(r)) return OD_OK;
  }
}

void od_csv_skip_lines(od_csv_reader *r, int count) {
  for (; count > 0 && r->at < r->end; count--) {
    while (!od_csv_at_line_end(r)) r->at++;
    if (r->at < r->end) od_csv_next_line(r);
  }
}
