// Reading CSV files as people and programs write them: commas, semicolons or tabs; quotes; CRLF; a byte order mark;
// comment lines that start with '#'; empty cells; a header with or without units, or none at all. Where semicolons or
// tabs separate, a number may have a decimal comma.
#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "io/number.h"
#include "io/table.h"

typedef struct reader {
  const char *path;
  const char *at, *end;
  const char *line_start;
  int line;
  char separator;
  od_error *err;
} reader;

// One cell: its text without surrounding blanks and quotes, and where it stands.
typedef struct cell {
  const char *text;
  size_t length;
  bool quoted;
  int line, column;
} cell;

static int column_of(const reader *r, const char *place) {
  return (int)(place - r->line_start) + 1;
}

static od_status fail_at(const reader *r, int line, int column, const char *text) {
  return od_fail(r->err, OD_BAD_INPUT, "%s:%d:%d: %s", r->path, line, column, text);
}

static od_status read_whole(const char *path, char **text, size_t *length, od_error *err) {
  FILE *f = fopen(path, "rb");
  if (!f) return od_fail(err, OD_IO, "cannot read %s: %s", path, strerror(errno));
  size_t used = 0, capacity = 0;
  char *buffer = NULL;
  bool memory = true;
  for (;;) {
    if (used == capacity) {
      capacity = capacity ? 2 * capacity : 65536;
      char *moved = realloc(buffer, capacity);
      memory = moved != NULL;
      if (!memory) break;
      buffer = moved;
    }
    size_t got = fread(buffer + used, 1, capacity - used, f);
    used += got;
    if (got == 0) break;
  }
  bool failed = ferror(f);
  int reason = errno;
  fclose(f);
  if (failed || !memory) {
    free(buffer);
    return memory ? od_fail(err, OD_IO, "cannot read %s: %s", path, strerror(reason))
                  : od_fail(err, OD_NO_MEMORY, "memory ran out while reading %s", path);
  }
  *text = buffer;
  *length = used;
  return OD_OK;
}

static void next_line(reader *r) {
  if (r->at < r->end && *r->at == '\r') r->at++;
  if (r->at < r->end && *r->at == '\n') r->at++;
  r->line++;
  r->line_start = r->at;
}

static bool at_line_end(const reader *r) {
  return r->at == r->end || *r->at == '\n' || *r->at == '\r';
}

static bool is_blank(const reader *r, char c) {
  return c == ' ' || (c == '\t' && r->separator != '\t');
}

static void skip_blanks(reader *r) {
  while (r->at < r->end && is_blank(r, *r->at)) r->at++;
}

// Goes to the next line that holds data; false at the end of the file.
static bool find_line(reader *r) {
  while (r->at < r->end) {
    skip_blanks(r);
    if (*r->at == '#')
      while (!at_line_end(r)) r->at++;
    if (!at_line_end(r)) {
      r->at = r->line_start;
      return true;
    }
    if (r->at < r->end) next_line(r);
  }
  return false;
}

// Reads the cell at r->at and stops at the separator or line end behind it.
static od_status read_cell(reader *r, cell *out) {
  skip_blanks(r);
  *out = (cell){.text = r->at, .line = r->line, .column = column_of(r, r->at)};
  if (r->at < r->end && *r->at == '"') {
    out->quoted = true;
    out->text = ++r->at;
    for (;; r->at++) {
      if (r->at == r->end) return fail_at(r, out->line, out->column, "this quote is never closed");
      if (*r->at == '\n') r->line++, r->line_start = r->at + 1;
      if (*r->at != '"') continue;
      if (r->at + 1 == r->end || r->at[1] != '"') break;
      r->at++;  // two quotes stand for one
    }
    out->length = (size_t)(r->at - out->text);
    r->at++;
    skip_blanks(r);
    if (!at_line_end(r) && *r->at != r->separator)
      return fail_at(r, r->line, column_of(r, r->at), "expected a separator after the closing quote");
    return OD_OK;
  }
  while (!at_line_end(r) && *r->at != r->separator) r->at++;
  const char *last = r->at;
  while (last > out->text && is_blank(r, last[-1])) last--;
  out->length = (size_t)(last - out->text);
  return OD_OK;
}

// The separator is what stands most often in the header outside quotes; on a tie not the comma, which may be decimal.
static char find_separator(const reader *r) {
  static const char candidates[] = ";\t,";
  int counts[3] = {0}, best = 2;
  bool quoted = false;
  for (const char *c = r->at; c < r->end && (quoted || (*c != '\n' && *c != '\r')); c++) {
    if (*c == '"') quoted = !quoted;
    for (int i = 0; i < 3 && !quoted; i++) counts[i] += *c == candidates[i];
  }
  for (int i = 1; i >= 0; i--)
    if (counts[i] > 0 && counts[i] >= counts[best]) best = i;
  return candidates[best];
}

static bool cell_number(const reader *r, const cell *c, double *value) {
  if (c->length == 0) {
    *value = NAN;
    return true;
  }
  return od_number_parse(c->text, c->length, r->separator != ',', value);
}

// Splits "name [unit]" and "name (unit)" and labels the column; a text that is all unit is a name.
static od_status label_from(od_table *table, int column, const cell *c) {
  char *name = malloc(c->length + 1), *unit = NULL;
  if (!name) return OD_NO_MEMORY;
  size_t n = 0;
  for (size_t i = 0; i < c->length; i++) {
    name[n++] = c->text[i];
    if (c->quoted && c->text[i] == '"') i++;
  }
  name[n] = '\0';

  char *open = NULL;
  if (n > 0 && name[n - 1] == ']') open = strrchr(name, '[');
  if (n > 0 && name[n - 1] == ')') open = strrchr(name, '(');
  if (open && open > name) {
    name[n - 1] = '\0';
    unit = open + 1;
    do *open-- = '\0';
    while (open > name && (*open == ' ' || *open == '\t'));
  }
  od_status status = od_table_label(table, column, name, unit);
  free(name);
  return status;
}

// The header's cells, in memory of their own.
typedef struct cells {
  cell *cell;
  int count, capacity;
} cells;

static od_status read_line(reader *r, cells *line) {
  for (line->count = 0;;) {
    if (line->count == line->capacity) {
      int larger = line->capacity ? 2 * line->capacity : 16;
      cell *moved = realloc(line->cell, (size_t)larger * sizeof(cell));
      if (!moved) return od_fail(r->err, OD_NO_MEMORY, "memory ran out while reading %s", r->path);
      line->cell = moved;
      line->capacity = larger;
    }
    od_status status = read_cell(r, &line->cell[line->count]);
    if (status != OD_OK) return status;
    line->count++;
    if (at_line_end(r)) return OD_OK;
    r->at++;
  }
}

static od_status not_a_number(const reader *r, const cell *c, const od_table *table, int column) {
  char shown[41];
  size_t n = c->length < sizeof shown - 1 ? c->length : sizeof shown - 1;
  for (size_t i = 0; i < n; i++) shown[i] = (unsigned char)c->text[i] < ' ' ? '?' : c->text[i];
  shown[n] = '\0';
  return od_fail(r->err, OD_BAD_INPUT, "%s:%d:%d: '%s' is not a number (column '%s')", r->path, c->line, c->column,
                 shown, table->name[column]);
}

// One row of numbers into values; as many cells as the header has. spare: each line may end with a separator.
static od_status read_row(reader *r, const od_table *table, bool spare, double *values) {
  int line = r->line, count = 0;
  for (;; r->at++) {
    cell c;
    od_status status = read_cell(r, &c);
    if (status != OD_OK) return status;
    if (count < table->columns) {
      if (!cell_number(r, &c, &values[count])) return not_a_number(r, &c, table, count);
    } else if (!spare || count > table->columns || c.length > 0) {
      return od_fail(r->err, OD_BAD_INPUT, "%s:%d:%d: more cells than the header's %d", r->path, c.line, c.column,
                     table->columns);
    }
    count++;
    if (at_line_end(r)) break;
  }
  if (count >= table->columns) return OD_OK;
  return od_fail(r->err, OD_BAD_INPUT, "%s:%d:%d: %d %s, but the header has %d", r->path, line, column_of(r, r->at),
                 count, count == 1 ? "cell" : "cells", table->columns);
}

static od_status make_table(reader *r, const cells *header, bool numbered, bool spare, od_table **out) {
  int columns = header->count - spare;
  *out = od_table_new(columns);
  od_status status = *out ? OD_OK : OD_NO_MEMORY;
  for (int i = 0; i < columns && status == OD_OK; i++) {
    char name[32];
    snprintf(name, sizeof name, "column%d", i + 1);
    status = numbered ? od_table_label(*out, i, name, "") : label_from(*out, i, &header->cell[i]);
  }
  return status == OD_OK ? OD_OK : od_fail(r->err, status, "memory ran out while reading %s", r->path);
}

static od_status read_rows(reader *r, od_table *table, bool spare) {
  double *values = malloc(((size_t)table->columns + 1) * sizeof(double));
  od_status status = values ? OD_OK : od_fail(r->err, OD_NO_MEMORY, "memory ran out while reading %s", r->path);
  while (status == OD_OK && find_line(r)) {
    status = read_row(r, table, spare, values);
    if (status == OD_OK && od_table_append(table, values) != OD_OK)
      status = od_fail(r->err, OD_NO_MEMORY, "memory ran out while reading %s", r->path);
    if (r->at < r->end) next_line(r);
  }
  free(values);
  return status;
}

static od_status read_table(reader *r, od_table **out) {
  if (!find_line(r)) return od_fail(r->err, OD_BAD_INPUT, "%s is empty: expected a header line and numbers", r->path);
  r->separator = find_separator(r);
  reader before = *r;
  cells header = {0};
  od_status status = read_line(r, &header);

  // A first line of numbers alone is no header but data.
  bool numbered = true, spare = false;
  double ignored;
  for (int i = 0; i < header.count && numbered && status == OD_OK; i++)
    numbered = cell_number(r, &header.cell[i], &ignored);
  // Some programs end every line with a separator.
  if (status == OD_OK) spare = header.count > 1 && header.cell[header.count - 1].length == 0;
  if (status == OD_OK) status = make_table(r, &header, numbered, spare, out);
  if (status == OD_OK) {
    if (numbered)
      *r = before;
    else if (r->at < r->end)
      next_line(r);
    status = read_rows(r, *out, spare);
  }
  free(header.cell);
  return status;
}

od_status od_table_read_csv(const char *path, od_table **out, od_error *err) {
  *out = NULL;
  char *text = NULL;
  size_t length = 0;
  od_status status = read_whole(path, &text, &length, err);
  if (status != OD_OK) return status;

  if (length >= 2 && (!memcmp(text, "\xff\xfe", 2) || !memcmp(text, "\xfe\xff", 2))) {
    status = od_fail(err, OD_BAD_INPUT, "%s is UTF-16 text; please save it as UTF-8", path);
  } else {
    size_t mark = length >= 3 && !memcmp(text, "\xef\xbb\xbf", 3) ? 3 : 0;
    reader r = {
        .path = path, .at = text + mark, .end = text + length, .line_start = text + mark, .line = 1, .err = err};
    status = read_table(&r, out);
  }
  free(text);
  if (status != OD_OK) {
    od_table_free(*out);
    *out = NULL;
  }
  return status;
}
