#define _XOPEN_SOURCE 700  // pread

#include "formats/trace_file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/allocate.h"
#include "formats/log_growth.h"
#include "io/inputs_read.h"

enum { BLOCK = 1 << 18, LONGEST_LINE = 1 << 20 };

static od_status no_memory(const char *path, od_error *err) {
  return od_fail(err, OD_NO_MEMORY, "out of memory while reading %s", path);
}

// --- Bytes ------------------------------------------------------------------------------------------------------------

od_status od_trace_file_open(od_trace_file *f, const char *path, od_error *err) {
  struct stat about;
  *f = (od_trace_file){.path = od_strdup(path), .file = -1};
  if (!f->path) return no_memory(path, err);
  f->file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (f->file < 0 || fstat(f->file, &about) != 0)
    return od_fail(err, OD_IO, "cannot read %s: %s", path, strerror(errno));
  f->limit = about.st_size;
  f->written = about.st_mtim;
  return od_inputs_note(path) ? OD_OK : no_memory(path, err);
}

od_status od_trace_file_again(const od_trace_file *f, od_trace_file *other, od_error *err) {
  *other = *f;
  other->shares = true;
  other->path = od_strdup(f->path);
  od_trace_file_rewind(other);
  return other->path ? OD_OK : no_memory(f->path, err);
}

void od_trace_file_close(od_trace_file *f) {
  if (!f->shares && f->path && f->file >= 0) close(f->file);
  od_free(f->path);
  *f = (od_trace_file){.file = -1};
}

void od_trace_file_rewind(od_trace_file *f) {
  f->at = 0;
  f->sum = (od_byte_sum){0};
}

od_status od_trace_file_read(od_trace_file *f, void *to, size_t most, size_t *got, od_error *err) {
  off_t left = f->limit - f->at;
  *got = 0;
  if ((off_t)most > left) most = (size_t)left;
  while (most > 0) {
    ssize_t n = pread(f->file, to, most, f->at);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return od_fail(err, OD_IO, "cannot read %s: %s", f->path, strerror(errno));
    if (n == 0) break;
    if (!f->is_known) od_byte_sum_take(&f->sum, to, (size_t)n);
    f->at += n;
    *got = (size_t)n;
    break;
  }
  if (!f->is_known && f->at == f->limit) {
    f->known = od_byte_sum_of(&f->sum);
    f->is_known = true;
  }
  return OD_OK;
}

bool od_trace_file_has_changed(const od_trace_file *f) {
  return !f->follows && od_byte_sum_has_changed(f->file, 0, f->limit, f->written, f->is_known ? &f->known : NULL);
}

// --- Lines ------------------------------------------------------------------------------------------------------------

od_status od_trace_lines_open(od_trace_lines *l, const char *path, bool follows, od_error *err) {
  *l = (od_trace_lines){.capacity = BLOCK, .buffer = od_malloc(BLOCK + 1)};
  od_status status = od_trace_file_open(&l->file, path, err);
  l->file.follows = follows;
  return status == OD_OK && !l->buffer ? no_memory(path, err) : status;
}

od_status od_trace_lines_again(const od_trace_lines *l, od_trace_lines *other, od_error *err) {
  *other = (od_trace_lines){.capacity = BLOCK, .buffer = od_malloc(BLOCK + 1)};
  od_status status = od_trace_file_again(&l->file, &other->file, err);
  return status == OD_OK && !other->buffer ? no_memory(l->file.path, err) : status;
}

void od_trace_lines_close(od_trace_lines *l) {
  od_trace_file_close(&l->file);
  od_free(l->buffer);
  l->buffer = NULL;
}

void od_trace_lines_rewind(od_trace_lines *l) {
  od_trace_file_rewind(&l->file);
  l->filled = l->at = 0;
  l->line = 0;
  l->ended = false;
}

// Moves the unread bytes of the buffer to its beginning and reads more bytes. Fails with OD_BAD_INPUT, OD_IO or OD_NO_MEMORY.
static od_status fill(od_trace_lines *l, od_error *err) {
  size_t got;
  memmove(l->buffer, l->buffer + l->at, l->filled - l->at);
  l->filled -= l->at;
  l->at = 0;
  if (l->filled == l->capacity) {
    if (l->capacity >= LONGEST_LINE) {
      l->filled = 0;
      return od_fail(err, OD_BAD_INPUT, "%s:%d: the line is longer than 1 MB; expected a trace with shorter lines",
                     l->file.path, l->line + 1);
    }
    char *larger = od_realloc(l->buffer, 2 * l->capacity + 1);
    if (!larger) return no_memory(l->file.path, err);
    l->buffer = larger;
    l->capacity *= 2;
  }
  od_status status = od_trace_file_read(&l->file, l->buffer + l->filled, l->capacity - l->filled, &got, err);
  l->filled += got;
  l->ended = got == 0;
  if (got > 0) l->last = l->buffer[l->filled - 1];
  return status;
}

od_status od_trace_lines_next(od_trace_lines *l, const char **text, size_t *length, od_error *err) {
  size_t searched = 0;
  char *end;
  *text = NULL;
  while (!(end = memchr(l->buffer + l->at + searched, '\n', l->filled - l->at - searched)) && !l->ended) {
    searched = l->filled - l->at;
    od_status status = fill(l, err);
    if (status != OD_OK) return status;
  }
  if (!end && (l->at == l->filled || l->file.follows)) return OD_OK;
  char *start = l->buffer + l->at;
  l->has_end = end != NULL;
  if (!end) {
    end = l->buffer + l->filled;
    *end = '\n';
  }
  l->at = (size_t)(end - l->buffer) + l->has_end;
  if (end > start && end[-1] == '\r') end--;
  if (l->line < INT_MAX) l->line++;
  *text = start;
  *length = (size_t)(end - start);
  return OD_OK;
}

od_status od_trace_lines_fail(const od_trace_lines *l, const char *text, size_t length, size_t place,
                              const char *expected, od_error *err) {
  char found[31];
  size_t n = 0;
  if (place >= length)
    return od_fail(err, OD_BAD_INPUT, "%s:%d:%zu: the line ends, expected %s", l->file.path, l->line, place + 1,
                   expected);
  for (; n + 1 < sizeof found && place + n < length && (n == 0 || text[place + n] != ' '); n++) {
    unsigned char c = (unsigned char)text[place + n];
    found[n] = c < ' ' || c > '~' ? '?' : (char)c;
  }
  found[n] = '\0';
  return od_fail(err, OD_BAD_INPUT, "%s:%d:%zu: found '%s', expected %s", l->file.path, l->line, place + 1, found,
                 expected);
}

// --- Functions of a source of frames ------------------------------------------------------------------------------------

bool od_trace_source_has_changed(const void *source) {
  return od_trace_file_has_changed(source);
}

const char *od_trace_source_start_time(const void *source) {
  const od_trace_file *f = source;
  return f->start[0] ? f->start : NULL;
}

int od_trace_source_line(const void *source) {
  return ((const od_trace_lines *)source)->line;
}

bool od_trace_source_is_cut(const void *source) {
  const od_trace_lines *l = source;
  return l->file.limit > 0 && l->last != '\n';
}

od_status od_trace_source_grow(void *source, od_log_growth *out, od_error *err) {
  od_trace_lines *l = source;
  od_status status = od_log_file_growth(l->file.path, l->file.file, &l->file.limit, out, err);
  if (status == OD_OK && *out == OD_LOG_LONGER) l->ended = false;
  return status;
}
