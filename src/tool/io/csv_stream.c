// The buffer always begins at the beginning of a line and holds whole lines up to `whole`; a line longer than the buffer makes it grow. A line
// end within quotes is none, so quotes are counted.
#include "io/csv_stream.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "io/csv_cells.h"
#include "io/inputs_read.h"

enum { USUAL_BLOCK = 1 << 20, LINES_FOR_HEAD = 256 };

struct od_csv_stream {
  char *path;
  FILE *file;
  char *buffer;
  size_t capacity, filled, whole;
  size_t scanned;  // how far line ends and quotes are counted
  bool quoted, ended;
  long first_row;  // where it is in the file
  int first_line;
  od_csv_reader r;
  od_table *head;
  bool spare;
};

static od_status cannot_read(const od_csv_stream *s, od_error *err) {
  return od_fail(err, OD_IO, "cannot read %s: %s", s->path, strerror(errno));
}

static void find_whole_lines(od_csv_stream *s) {
  for (; s->scanned < s->filled; s->scanned++) {
    if (s->buffer[s->scanned] == '"') s->quoted = !s->quoted;
    if (s->buffer[s->scanned] == '\n' && !s->quoted) s->whole = s->scanned + 1;
  }
  if (s->ended) s->whole = s->filled;
}

// Reads until the buffer is full or the file ends.
static od_status read_more(od_csv_stream *s, od_error *err) {
  if (s->filled == s->capacity) {
    char *moved = realloc(s->buffer, 2 * s->capacity);
    if (!moved) return od_fail(err, OD_NO_MEMORY, "memory ran out while reading %s", s->path);
    s->buffer = moved;
    s->capacity *= 2;
  }
  while (s->filled < s->capacity && !s->ended) {
    size_t got = fread(s->buffer + s->filled, 1, s->capacity - s->filled, s->file);
    s->filled += got;
    if (got == 0 && ferror(s->file)) return cannot_read(s, err);
    s->ended = got == 0;
  }
  find_whole_lines(s);
  return OD_OK;
}

// Takes away the lines that were read, and reads at least one more unless the file has ended.
static od_status fill(od_csv_stream *s, od_error *err) {
  size_t done = (size_t)(s->r.at - s->buffer);
  memmove(s->buffer, s->buffer + done, s->filled - done);
  s->filled -= done, s->scanned -= done, s->whole -= done;
  od_status status = read_more(s, err);
  while (status == OD_OK && s->whole == 0 && !s->ended) status = read_more(s, err);
  s->r.at = s->r.line_start = s->buffer;
  s->r.end = s->buffer + s->whole;
  return status;
}

static bool has_lines(const od_csv_stream *s, int least) {
  od_csv_reader look = s->r;
  while (least > 0 && od_csv_find_line(&look)) {
    od_csv_skip_lines(&look, 1);
    least--;
  }
  return least == 0;
}

// The header is found by the lines below it, of which there must be enough.
static od_status read_head(od_csv_stream *s, od_error *err) {
  size_t mark = 0;
  od_status status = fill(s, err);
  if (status == OD_OK) status = od_csv_byte_mark(s->path, s->buffer, s->filled, &mark, err);
  s->r.at = s->r.line_start = s->buffer + mark;
  while (status == OD_OK && !s->ended && !has_lines(s, LINES_FOR_HEAD)) {
    status = read_more(s, err);
    s->r.at = s->r.line_start = s->buffer + mark;
    s->r.end = s->buffer + s->whole;
  }
  s->r.err = err;
  if (status == OD_OK) status = od_csv_read_head(&s->r, 0, &s->head, &s->spare);
  s->first_row = (long)(s->r.at - s->buffer);
  s->first_line = s->r.line;
  return status;
}

od_status od_csv_stream_open(const char *path, size_t block, od_csv_stream **out, od_error *err) {
  *out = NULL;
  od_csv_stream *s = calloc(1, sizeof *s);
  if (!s) return od_fail(err, OD_NO_MEMORY, "memory ran out while reading %s", path);
  s->capacity = block ? block : USUAL_BLOCK;
  s->path = strdup(path);
  s->buffer = malloc(s->capacity);
  od_status status = OD_OK;
  bool memory = s->path && s->buffer;
  if (memory && !(s->file = fopen(path, "rb"))) status = cannot_read(s, err);
  if (status == OD_OK && !(memory && od_inputs_note(path)))
    status = od_fail(err, OD_NO_MEMORY, "memory ran out while reading %s", path);
  s->r = (od_csv_reader){.path = s->path, .at = s->buffer, .end = s->buffer, .line_start = s->buffer, .line = 1};
  if (status == OD_OK) status = read_head(s, err);
  if (status == OD_OK)
    *out = s;
  else
    od_csv_stream_close(s);
  return status;
}

void od_csv_stream_close(od_csv_stream *s) {
  if (!s) return;
  if (s->file) fclose(s->file);
  od_table_free(s->head);
  free(s->buffer);
  free(s->path);
  free(s);
}

const od_table *od_csv_stream_head(const od_csv_stream *s) {
  return s->head;
}

void od_csv_stream_use(od_csv_stream *s, const bool *used) {
  s->r.used = used;
}

od_status od_csv_stream_rewind(od_csv_stream *s, od_error *err) {
  if (fseek(s->file, s->first_row, SEEK_SET) != 0) return cannot_read(s, err);
  clearerr(s->file);
  s->filled = s->scanned = s->whole = 0;
  s->quoted = s->ended = false;
  s->r.at = s->r.end = s->r.line_start = s->buffer;
  s->r.line = s->first_line;
  return OD_OK;
}

od_status od_csv_stream_next(od_csv_stream *s, double *values, bool *end, od_error *err) {
  od_status status = OD_OK;
  s->r.err = err;
  *end = false;
  while (!od_csv_find_line(&s->r)) {
    *end = s->ended;
    if (*end) return OD_OK;
    if ((status = fill(s, err)) != OD_OK) return status;
  }
  status = od_csv_read_row(&s->r, s->head, s->spare, values);
  if (s->r.at < s->r.end) od_csv_next_line(&s->r);
  return status;
}
