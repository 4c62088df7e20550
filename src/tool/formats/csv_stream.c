// The buffer begins at the beginning of a line and contains whole lines up to `whole`. A line longer than the buffer enlarges the
// buffer. A line end within a quoted cell does not end the line. As in csv_cells.c, only a quote at the beginning of a cell is a
// quote. Quotes in comments or in a text such as 2" hose are plain characters.
#define _XOPEN_SOURCE 700  // pread

#include "formats/csv_stream.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/allocate.h"
#include "io/byte_sum.h"
#include "formats/csv_times.h"
#include "formats/log_growth.h"
#include "io/inputs_read.h"

enum { USUAL_BLOCK = 1 << 18, LINES_FOR_HEAD = 512, LONGEST_LINES = 1 << 26 };

// The kind of position of a character within a line.
typedef enum spot {
  LINE_BEGIN,  // there are only blanks before the character
  CELL_BEGIN,
  IN_CELL,
  IN_QUOTES,
  AFTER_QUOTE,  // a quote that closes the cell, or the first of a doubled quote
  IN_COMMENT
} spot;

typedef struct od_csv_stream {
  char *path;
  int file;                 // file descriptor, which all streams over the same file share
  off_t at, limit;          // position of the next read; length of the file when it was opened
  struct timespec written;  // modification time when the file was opened
  od_byte_sum sum;          // checksum of all bytes since the first row; computed by the stream that reads the file
                            // first
  uint64_t known;           // the checksum of all rows, after all rows were read
  bool is_known;
  char *buffer;
  size_t capacity, filled, whole;
  size_t scanned;  // position up to which line ends and quotes were searched
  spot spot;       // kind of position of the character at `scanned`
  bool ended;
  bool follows;     // whether a last line without a line end is not complete yet
  char last;        // the last byte read
  off_t first_row;  // position of the first row in the file
  int first_line;
  int row_line;  // line of the last row
  od_csv_reader r;
  od_csv_times *times;  // of r
  bool is_decided;      // whether the order of day and month has been determined
  od_table *head;
  bool spare;
  bool shares;  // whether file and head belong to another stream
} od_csv_stream;
OD_OWNED_POINTER(od_csv_stream, od_csv_stream_close);

static od_status cannot_read(const od_csv_stream *s, od_error *err) {
  return od_fail(err, OD_IO, "cannot read %s: %s", s->path, strerror(errno));
}

// Returns the kind of position of the character after c. separator: zero if the header has not been read and any separator is
// possible.
static spot after(char separator, spot now, char c) {
  if (now == IN_QUOTES) return c == '"' ? AFTER_QUOTE : IN_QUOTES;
  if (c == '\n' || c == '\r') return LINE_BEGIN;
  if (now == IN_COMMENT) return IN_COMMENT;
  if (separator == ' ' && (c == ' ' || c == '\t')) return now == LINE_BEGIN ? LINE_BEGIN : CELL_BEGIN;
  if (separator ? c == separator : c == ',' || c == ';' || c == '\t') return CELL_BEGIN;
  bool begins = now == LINE_BEGIN || now == CELL_BEGIN;
  if (begins && (c == ' ' || c == '\t')) return now;
  if (c == '"' && (begins || now == AFTER_QUOTE)) return IN_QUOTES;
  return c == '#' && now == LINE_BEGIN ? IN_COMMENT : IN_CELL;
}

// Returns whether a line ends with the character at a position of the buffer. A carriage return ends a line unless a line feed follows.
static bool ends_line(const od_csv_stream *s, size_t at) {
  const char c = s->buffer[at];
  return c == '\n' || (c == '\r' && at + 1 < s->filled && s->buffer[at + 1] != '\n');
}

static void find_whole_lines(od_csv_stream *s) {
  bool quotes = s->spot == IN_QUOTES || memchr(s->buffer + s->scanned, '"', s->filled - s->scanned);
  for (; quotes && s->scanned < s->filled; s->scanned++) {
    char c = s->buffer[s->scanned];
    if (c == '\r' && s->scanned + 1 == s->filled && !s->ended)
      break;  // the next character decides whether the line
              // ends
    if (s->spot != IN_QUOTES && ends_line(s, s->scanned)) s->whole = s->scanned + 1;
    s->spot = after(s->r.separator, s->spot, c);
  }
  // Without quotes, a backward search finds the last line end.
  size_t at = s->filled;
  while (at > s->scanned && !ends_line(s, at - 1)) at--;
  if (at > s->scanned && !quotes) s->whole = s->scanned = at, s->spot = LINE_BEGIN;
  if (s->ended && !s->follows) s->whole = s->scanned = s->filled;
}

// Reads until the buffer is full or the file ends. Fails with OD_BAD_INPUT, OD_IO or OD_NO_MEMORY.
static od_status read_more(od_csv_stream *s, od_error *err) {
  if (s->filled == s->capacity) {
    if (s->capacity >= LONGEST_LINES)
      return od_fail(err, s->follows ? OD_IO : OD_BAD_INPUT,
                     "%s:%d: the line is longer than %d MB; expected a text file with shorter lines", s->path,
                     s->r.line, LONGEST_LINES >> 20);
    char *moved = od_realloc(s->buffer, 2 * s->capacity);
    if (!moved) return od_fail(err, OD_NO_MEMORY, "out of memory while reading %s", s->path);
    s->buffer = moved;
    s->capacity *= 2;
  }
  while (s->filled < s->capacity && !s->ended) {
    size_t room = s->capacity - s->filled, left = (size_t)(s->limit - s->at);
    ssize_t got = left > 0 ? pread(s->file, s->buffer + s->filled, room < left ? room : left, s->at) : 0;
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return cannot_read(s, err);
    s->filled += (size_t)got;
    s->at += got;
    s->ended = got == 0;
    if (got > 0) s->last = s->buffer[s->filled - 1];
    if (got > 0 && !s->shares && !s->is_known) od_byte_sum_take(&s->sum, s->buffer + s->filled - got, (size_t)got);
  }
  if (s->ended && !s->shares && !s->is_known) {
    s->known = od_byte_sum_of(&s->sum);
    s->is_known = s->head != NULL;
  }
  find_whole_lines(s);
  return OD_OK;
}

// Removes from the buffer the lines that were already used. Reads at least one more line unless the file has ended. Fails with
// OD_BAD_INPUT, OD_IO or OD_NO_MEMORY.
static od_status fill(od_csv_stream *s, od_error *err) {
  size_t done = (size_t)(s->r.at - s->buffer);
  memmove(s->buffer, s->buffer + done, s->filled - done);
  s->filled -= done, s->scanned -= done, s->whole -= done;
  od_status status = read_more(s, err);
  while (status == OD_OK && s->whole == 0 && !s->ended) status = read_more(s, err);
  s->r.at = s->r.line_start = s->buffer;
  s->r.end = s->buffer + s->whole;
  s->r.quote = s->r.carriage_return = s->r.line_feed = NULL;
  return status;
}

static bool has_lines(const od_csv_stream *s, int least) {
  od_csv_reader probe = s->r;
  while (least > 0 && od_csv_find_line(&probe)) {
    od_csv_skip_lines(&probe, 1);
    least--;
  }
  return least == 0;
}

// Reads the header. The lines below the header identify the header, so the buffer must contain enough lines. *is_ready false: the file is
// followed and has no row yet.
static od_status read_head(od_csv_stream *s, const od_table_wish *wish, bool *is_ready, od_error *err) {
  const int skip = wish ? wish->skip : 0;
  size_t mark = 0;
  od_status status = fill(s, err);
  if (status == OD_OK) status = od_csv_byte_mark(s->path, s->buffer, s->filled, &mark, err);
  s->r.at = s->r.line_start = s->buffer + mark;
  while (status == OD_OK && !s->ended && !has_lines(s, LINES_FOR_HEAD + skip)) {
    const bool is_full = s->filled == s->capacity && s->capacity >= LONGEST_LINES;
    if (is_full && s->whole > 0) break;  // the lines are long, so a few lines must be sufficient
    status = read_more(s, err);
    s->r.at = s->r.line_start = s->buffer + mark;
    s->r.end = s->buffer + s->whole;
  }
  s->r.err = err;
  *is_ready = status != OD_OK || !s->follows || has_lines(s, skip + 1);
  if (!*is_ready) return OD_OK;
  if (status == OD_OK) status = od_csv_read_head(&s->r, skip, &s->head, &s->spare);
  if (status == OD_OK) status = od_csv_times_find(&s->r, s->head, wish, &s->times);
  s->r.times = s->times;
  *is_ready = status != OD_OK || !s->follows || has_lines(s, 1);
  s->first_row = (off_t)(s->r.at - s->buffer);
  s->first_line = s->r.line;
  od_csv_stream_rewind(s);  // the separator is known now
  return status;
}

// Creates a stream that has not read any data. Returns NULL if an allocation fails.
static od_csv_stream *new_stream(const char *path, size_t block, const char *const *missing) {
  od_csv_stream *s = od_calloc(1, sizeof *s);
  if (!s) return NULL;
  s->file = -1;
  s->capacity = block;
  s->path = od_strdup(path);
  s->buffer = od_malloc(s->capacity);
  s->r = (od_csv_reader){
      .path = s->path, .at = s->buffer, .end = s->buffer, .line_start = s->buffer, .line = 1, .missing = missing};
  if (s->path && s->buffer) return s;
  od_csv_stream_close(s);
  return NULL;
}

static od_status open_file(od_csv_stream *s, od_error *err) {
  struct stat about;
  s->file = open(s->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);  // only regular files are read as streams; pipes are read
                                                               // as a whole
  if (s->file < 0 || fstat(s->file, &about) != 0) return cannot_read(s, err);
  s->limit = about.st_size;
  s->written = about.st_mtim;
  return od_inputs_note(s->path) ? OD_OK : od_fail(err, OD_NO_MEMORY, "out of memory while reading %s", s->path);
}

od_status od_csv_stream_open(const char *path, const od_table_wish *wish, size_t block, void **out, od_error *err) {
  OD_OWNED(od_csv_stream_close)
  od_csv_stream *s = new_stream(path, block ? block : USUAL_BLOCK, wish ? wish->missing : NULL);
  *out = NULL;
  if (!s) return od_fail(err, OD_NO_MEMORY, "out of memory while reading %s", path);
  od_status status = open_file(s, err);
  s->follows = wish && wish->follow;
  bool is_ready = true;
  if (status == OD_OK) status = read_head(s, wish, &is_ready, err);
  if (status == OD_OK && is_ready) *out = OD_GIVE(s);
  return status;
}

od_status od_csv_stream_again(const void *stream, void **out, od_error *err) {
  const od_csv_stream *s = stream;
  od_csv_stream *other = *out = new_stream(s->path, s->capacity, s->r.missing);
  if (!other) return od_fail(err, OD_NO_MEMORY, "out of memory while reading %s", s->path);
  other->file = s->file;
  other->limit = s->limit;
  other->last = s->last;  // copied because the new stream reads nothing from a file without rows
  other->written = s->written;
  other->known = s->known;
  other->is_known = s->is_known;
  other->first_row = s->first_row;
  other->first_line = s->first_line;
  other->r.separator = s->r.separator;
  other->head = s->head;
  other->spare = s->spare;
  other->shares = true;
  other->follows = s->follows;
  other->is_decided = s->is_decided;
  if (s->times && !(other->times = other->r.times = od_csv_times_copy(s->times))) {
    od_csv_stream_close(other);
    *out = NULL;
    return od_fail(err, OD_NO_MEMORY, "out of memory while reading %s", s->path);
  }
  od_csv_stream_rewind(other);
  return OD_OK;
}

void od_csv_stream_close(void *stream) {
  od_csv_stream *s = stream;
  if (!s) return;
  if (!s->shares) {
    if (s->file >= 0) close(s->file);
    od_table_free(s->head);
  }
  od_csv_times_free(s->times);
  od_free(s->buffer);
  od_free(s->path);
  od_free(s);
}

const od_table *od_csv_stream_head(const void *stream) {
  return ((const od_csv_stream *)stream)->head;
}

void od_csv_stream_use(void *stream, const bool *used) {
  ((od_csv_stream *)stream)->r.used = used;
}

// The first stream writes the flaws to the head. Other streams that share the head must not write flaws.
void od_csv_stream_want(void *stream, const bool *wanted) {
  od_csv_stream *s = stream;
  s->r.used = s->r.wanted = wanted;
  s->r.flawed = s->shares || s->follows ? NULL : s->head;
}

void od_csv_stream_rewind(void *stream) {
  od_csv_stream *s = stream;
  s->at = s->first_row;
  s->sum = (od_byte_sum){0};
  s->filled = s->scanned = s->whole = 0;
  s->spot = LINE_BEGIN;
  s->ended = false;
  s->r.at = s->r.end = s->r.line_start = s->buffer;
  s->r.quote = s->r.carriage_return = s->r.line_feed = NULL;
  s->r.line = s->first_line;
  if (s->times) od_csv_times_rewind(s->times);
}

// If the first lines do not determine the order of day and month of a column in use, reads all rows to find the order. Fails with
// OD_BAD_INPUT, OD_IO or OD_NO_MEMORY.
static od_status decide_times(od_csv_stream *s, od_error *err) {
  OD_SCRATCH(scratch);
  s->is_decided = true;
  if (!s->times || !od_csv_times_are_open(s->times, s->r.wanted)) return OD_OK;
  OD_OWNED(od_csv_stream_close) od_csv_stream *other = NULL;
  double *values = OD_TAKE(&scratch, double, s->head->columns);
  bool *used = OD_TAKE(&scratch, bool, s->head->columns);  // all false: no column is in use
  if (!values || !used) return od_fail(err, OD_NO_MEMORY, "out of memory while reading %s", s->path);
  void *opened;
  od_status status = od_csv_stream_again(s, &opened, err);
  if (status != OD_OK) return status;
  other = opened;
  od_error ignored = {0};
  bool end = false;
  other->r.used = used;
  other->r.wanted = s->r.wanted;
  other->times->is_survey = other->is_decided = true;
  while (!end && status == OD_OK) status = od_csv_stream_next(other, values, &end, &ignored);
  if (status == OD_NO_MEMORY || status == OD_IO) return od_fail(err, status, "%s", ignored.text);
  return od_csv_times_decide(&s->r, s->head, other->times);
}

od_status od_csv_stream_next(void *stream, double *values, bool *end, od_error *err) {
  od_csv_stream *s = stream;
  od_status status = OD_OK;
  s->r.err = err;
  *end = false;
  if (!s->is_decided && (status = decide_times(s, err)) != OD_OK) return status;
  while (!od_csv_find_line(&s->r)) {
    *end = s->ended;
    if (*end) return OD_OK;
    if ((status = fill(s, err)) != OD_OK) return status;
  }
  s->row_line = s->r.line;
  status = od_csv_read_row(&s->r, s->head, s->spare, values);
  while (status == OD_BAD_INPUT && s->follows && !od_csv_at_line_end(&s->r)) s->r.at++;
  if (s->r.at < s->r.end) od_csv_next_line(&s->r);
  return status;
}

od_status od_csv_stream_grow(void *stream, od_log_growth *out, od_error *err) {
  od_csv_stream *s = stream;
  od_status status = od_log_file_growth(s->path, s->file, &s->limit, out, err);
  if (status == OD_OK && *out == OD_LOG_LONGER) s->ended = false;
  return status;
}

bool od_csv_stream_has_changed(const void *stream) {
  const od_csv_stream *s = stream;
  return !s->follows &&
         od_byte_sum_has_changed(s->file, s->first_row, s->limit, s->written, s->is_known ? &s->known : NULL);
}

const char *od_csv_stream_start_time(const void *stream) {
  const od_csv_stream *s = stream;
  if (!s->times) return NULL;
  const char *start = od_csv_times_start(s->times, od_table_find_time(s->head), s->r.wanted);
  return start ? start : od_csv_times_start(s->times, -1, s->r.wanted);
}

int od_csv_stream_line(const void *stream) {
  return ((const od_csv_stream *)stream)->row_line;
}

bool od_csv_stream_is_cut(const void *stream) {
  const od_csv_stream *s = stream;
  return s->limit > 0 && s->last != '\n' && s->last != '\r';
}
