// HDF5 files as a format of logs. The helper program oleodyn-mat reads the files and sends the rows in blocks, so that only one block is
// in memory. Every pass over the rows starts the helper again.
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

#include "base/allocate.h"
#include "formats/helper_table.h"
#include "formats/log_format.h"
#include "io/inputs_read.h"
#include "io/mat_matrices.h"

static const char signature[8] = {'\x89', 'H', 'D', 'F', '\r', '\n', '\x1a', '\n'};

// Returns whether the signature is at 512, 1024, 2048, ... bytes, after a block of other contents.
static bool is_after_block(const char *path) {
  char found[sizeof signature];
  FILE *f = fopen(path, "rb");
  bool is_found = false, more = f != NULL;
  for (long at = 512; more && !is_found && at < 1L << 30; at *= 2) {
    more = fseek(f, at, SEEK_SET) == 0 && fread(found, 1, sizeof found, f) == sizeof found;
    is_found = more && !memcmp(found, signature, sizeof signature);
  }
  if (f) fclose(f);
  return is_found;
}

static bool has_ending(const char *path, const char *ending) {
  size_t n = strlen(path), m = strlen(ending);
  return n > m && !strcasecmp(path + n - m, ending);
}

// Files of level 7.3 of MATLAB are HDF5 files after a block of text. The MATLAB format is tried before this format.
static bool recognizes(const char *path, const unsigned char *start, size_t length) {
  for (size_t at = 0; at + sizeof signature <= length; at = at > 0 ? 2 * at : 512)
    if (!memcmp(start + at, signature, sizeof signature)) return true;
  return (has_ending(path, ".h5") || has_ending(path, ".hdf5")) && is_after_block(path);
}

typedef struct hdf5_stream {
  const struct hdf5_stream *origin;  // the stream that owns the texts and the head; NULL: this stream
  char *path;
  const od_table_wish *wish;
  od_table *head;
  const char *start_time;
  const bool *wanted;
  long rows, next;  // number of rows, index of the next row
  struct stat facts;

  od_helper helper;
  bool runs;                 // whether the helper is running
  int count;                 // number of columns that the helper sends
  double *block;             // rows of these columns, one column after the other
  long begin, end, longest;  // first row of the block, the row after its last row, capacity
} hdf5_stream;

// Ends the helper. part: the last part of the answer that has been received. Fails with OD_BAD_INPUT, OD_IO, OD_INTERRUPTED or
// OD_NO_MEMORY.
static od_status stop(hdf5_stream *s, od_helper_part part, bool no_memory, od_error *err) {
  od_helper_errors e = {.no_memory = no_memory};
  e.end = od_helper_end(&s->helper, part, &e.answered, &e.ended);
  s->runs = false;
  return od_helper_outcome(&e, s->path, "an HDF5 file", err);
}

static od_status start(hdf5_stream *s, od_helper_task task, od_error *err) {
  od_error why = {0};
  s->helper = (od_helper){.name = OD_MAT_PROGRAM, .bytes = (long long)s->facts.st_size};
  od_status status = od_helper_start(&s->helper, task, s->path, &why);
  if (status != OD_OK) return od_fail(err, status, "cannot read %s: %s", s->path, why.text);
  s->runs = true;
  od_helper_put_wish(&s->helper.channel, s->wish);
  return OD_OK;
}

static void close_file(void *stream) {
  hdf5_stream *s = stream;
  od_error unused;
  if (s->runs) stop(s, 0, false, &unused);
  if (!s->origin) {
    if (s->head) od_table_free(s->head);
    od_free(s->path);
  }
  od_free(s->block);
  od_free(s);
}
OD_OWNED_POINTER(hdf5_stream, close_file);

static od_status read_head(hdf5_stream *s, od_error *err) {
  od_status status = start(s, OD_HELPER_HEAD, err);
  if (status != OD_OK) return status;
  bool no_memory = false;
  od_channel *c = &s->helper.channel;
  od_helper_part part = od_helper_ask(&s->helper);
  if (part == OD_HELPER_TABLE) {
    no_memory = od_helper_take_head(c, s->path, UINT64_MAX >> 8, &s->head, &s->rows, &s->start_time) != OD_OK;
    part = no_memory ? 0 : (od_helper_part)od_channel_take_number(c, OD_HELPER_STATUS);
  }
  status = stop(s, part, no_memory, err);
  if (status == OD_OK && !s->head)
    return od_fail(err, OD_BAD_INPUT, "cannot read %s as an HDF5 file; write the file again", s->path);
  return status;
}

static od_status open_file(const char *path, const od_table_wish *wish, void **out, od_error *err) {
  OD_OWNED(close_file) hdf5_stream *s = od_calloc(1, sizeof *s);
  *out = NULL;
  size_t n = strlen(path) + 1;
  if (s) s->path = od_malloc(n);
  if (!s || !s->path || !od_inputs_note(path))
    return od_fail(err, OD_NO_MEMORY, "out of memory while reading %s", path);
  memcpy(s->path, path, n);
  s->wish = wish;
  if (stat(path, &s->facts) != 0) return od_fail(err, OD_IO, "cannot read %s: %s", path, strerror(errno));
  od_status status = read_head(s, err);
  if (status == OD_OK) *out = OD_GIVE(s);
  return status;
}

static od_status again(const void *stream, void **out, od_error *err) {
  const hdf5_stream *s = stream;
  hdf5_stream *other = *out = od_calloc(1, sizeof *other);
  if (!other) return od_fail(err, OD_NO_MEMORY, "out of memory");
  *other = (hdf5_stream){.origin = s,
                         .path = s->path,
                         .wish = s->wish,
                         .head = s->head,
                         .start_time = s->start_time,
                         .wanted = s->wanted,
                         .rows = s->rows,
                         .facts = s->facts};
  return OD_OK;
}

static const od_table *head(const void *stream) {
  return ((const hdf5_stream *)stream)->head;
}

static void want(void *stream, const bool *wanted) {
  ((hdf5_stream *)stream)->wanted = wanted;
}

static bool is_sent(const hdf5_stream *s, int column) {
  return (!s->wanted || s->wanted[column]) && !od_table_flaw(s->head, column);
}

// Starts the helper for a pass over the rows. Fails with OD_IO.
static od_status start_rows(hdf5_stream *s, od_error *err) {
  s->count = 0;
  for (int i = 0; i < s->head->columns; i++) s->count += is_sent(s, i);
  s->begin = s->end = 0;
  if (s->count == 0) return OD_OK;
  od_status status = start(s, OD_HELPER_ROWS, err);
  if (status != OD_OK) return status;
  od_channel_put_number(&s->helper.channel, (uint64_t)s->count);
  for (int i = 0; i < s->head->columns; i++)
    if (is_sent(s, i)) od_channel_put_number(&s->helper.channel, (uint64_t)i);
  return OD_OK;
}

// Receives the next block. Fails with OD_BAD_INPUT, OD_IO, OD_INTERRUPTED or OD_NO_MEMORY.
static od_status take_block(hdf5_stream *s, od_error *err) {
  enum { MOST = 1 << 24 };  // numbers in a block; the helper sends at most 64 MB
  od_channel *c = &s->helper.channel;
  od_helper_part part =
      s->next == 0 ? od_helper_ask(&s->helper) : (od_helper_part)od_channel_take_number(c, OD_HELPER_BLOCK);
  if (part != OD_HELPER_BLOCK) {
    od_status status = stop(s, part, false, err);
    return status != OD_OK
               ? status
               : od_fail(err, OD_BAD_INPUT, "cannot read %s: rows are missing; write the file again", s->path);
  }
  long most = MOST / s->count, left = s->rows - s->next;
  long rows = (long)od_channel_take_number(c, (uint64_t)(left < most ? left : most));
  size_t numbers = (size_t)rows * (size_t)s->count;
  if (rows < 1) c->broken = true;
  if (!c->broken && rows > s->longest) {
    od_free(s->block);
    s->block = od_malloc(numbers * sizeof *s->block);
    s->longest = s->block ? rows : 0;
    if (!s->block) return stop(s, 0, true, err);
  }
  if (c->broken || !od_channel_take(c, s->block, numbers * sizeof *s->block)) {
    od_status status = stop(s, 0, false, err);
    return status != OD_OK
               ? status
               : od_fail(err, OD_BAD_INPUT, "cannot read %s: rows are missing; write the file again", s->path);
  }
  s->begin = s->next;
  s->end = s->next + rows;
  return OD_OK;
}

static od_status next(void *stream, double *values, bool *end, od_error *err) {
  hdf5_stream *s = stream;
  *end = s->next >= s->rows;
  if (*end) return OD_OK;
  od_status status = s->next == 0 ? start_rows(s, err) : OD_OK;
  if (status == OD_OK && s->count > 0 && s->next >= s->end) status = take_block(s, err);
  if (status != OD_OK) return status;
  const double *from = s->block + (s->next - s->begin);
  for (int i = 0; i < s->head->columns; i++) {
    values[i] = NAN;
    if (!is_sent(s, i)) continue;
    if (!od_is_missing(s->wish->missing, NULL, 0, *from)) values[i] = *from;
    from += s->end - s->begin;
  }
  s->next++;
  if (s->next < s->rows || !s->runs) return OD_OK;
  return stop(s, (od_helper_part)od_channel_take_number(&s->helper.channel, OD_HELPER_STATUS), false, err);
}

static void rewind_file(void *stream) {
  hdf5_stream *s = stream;
  od_error unused;
  if (s->runs) stop(s, 0, false, &unused);
  s->next = 0;
}

static bool has_changed(const void *stream) {
  const hdf5_stream *s = stream;
  struct stat now;
  return stat(s->path, &now) != 0 || now.st_size != s->facts.st_size || now.st_ino != s->facts.st_ino ||
         now.st_mtim.tv_sec != s->facts.st_mtim.tv_sec || now.st_mtim.tv_nsec != s->facts.st_mtim.tv_nsec;
}

static const char *start_time(const void *stream) {
  return ((const hdf5_stream *)stream)->start_time;
}

const od_log_format od_hdf5_format = {.name = "HDF5",
                                      .recognizes = recognizes,
                                      .open = open_file,
                                      .again = again,
                                      .close = close_file,
                                      .head = head,
                                      .want = want,
                                      .next = next,
                                      .rewind = rewind_file,
                                      .has_changed = has_changed,
                                      .start_time = start_time};
