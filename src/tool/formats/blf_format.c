// CAN traces in the binary format of Vector (.blf) as a format of logs. Numbers are little-endian.
//
//   file     "LOGG", size of the header (u32), versions, sizes; from byte 40 the time of the start as 8 numbers of 16 bits: year, month,
//            day of the week, day, hour, minute, second, millisecond
//   object   "LOBJ", size of the header (u16), its version (u16), size of the object (u32), type (u32), contents, padding
//   type 10  a container: method (u16: 0 plain, 2 zlib), 6 bytes, size of the contents (u32), 4 bytes, contents
//
// The contents of all containers are one sequence of objects; an object may begin in one container and end in the next. These
// objects have flags (u32: 1 for times in 10 us, otherwise ns) at byte 16 and a time (u64) at byte 24. Types: 1 and 86 frame, 100 and
// 101 CAN FD frame, 2, 73 and 104 error. Other objects are skipped. Objects are parsed while the containers are decompressed, so the
// memory does not depend on the sizes that the file states.
#include <stdio.h>
#include <string.h>
#include <zlib.h>

#include "base/allocate.h"
#include "formats/can_frames.h"
#include "formats/trace_file.h"
#include "io/date_time.h"
#include "io/unpacked.h"

enum {
  INPUT = 1 << 17,
  OUTPUT = 1 << 18,
  FILE_HEAD = 56,    // bytes of the file header that are used
  BASE_HEAD = 16,    // the first part of the header of an object
  OBJECT_HEAD = 32,  // the header of an object in a container, without the optional part
  CONTAINER_HEAD = 32,
  LONGEST_OBJECT = 256,  // bytes of an object that the reader needs at once
  MOST_PADDING = 8
};
enum { PLAIN = 0, ZLIB = 2 };
enum {
  CAN_MESSAGE = 1,
  CAN_ERROR = 2,
  CONTAINER = 10,
  CAN_ERROR_EXT = 73,
  CAN_MESSAGE_2 = 86,
  CAN_FD_MESSAGE = 100,
  CAN_FD_MESSAGE_64 = 101,
  CAN_FD_ERROR_64 = 104
};

typedef struct blf {
  od_trace_file file;  // the first member
  uint8_t *input;      // bytes of the file
  size_t input_at, input_filled;
  off_t input_start;  // position of the input buffer in the file
  uint64_t left;      // bytes of the current outer object that have not been read
  bool is_inside;     // whether the bytes of the current outer object belong to the contents
  bool is_packed;
  z_stream unpacker;
  bool has_unpacker;
  bool file_ended;
  uint8_t *output;  // contents of the containers
  size_t at, filled;
  uint64_t skip;    // number of bytes of the contents that will be skipped
  double unpacked;  // number of decompressed bytes so far
  uint32_t head;    // size of the header of the file
  bool is_cut;
} blf;

static uint32_t u16(const uint8_t *b) {
  return (uint32_t)b[0] | (uint32_t)b[1] << 8;
}

static uint32_t u32(const uint8_t *b) {
  return u16(b) | u16(b + 2) << 16;
}

static uint64_t u64(const uint8_t *b) {
  return u32(b) | (uint64_t)u32(b + 4) << 32;
}

static od_status damaged(const blf *s, const char *what, od_error *err) {
  return od_fail(err, OD_BAD_INPUT, "%s: %s near byte %lld; the file is damaged", s->file.path, what,
                 (long long)s->input_start + (long long)s->input_at);
}

// --- Bytes of the file ------------------------------------------------------------------------------------------------

// Reads until `count` bytes of the file are in the buffer, or the file ends. Fails with OD_IO.
static od_status need_input(blf *s, size_t count, od_error *err) {
  while (s->input_filled - s->input_at < count && !s->file_ended) {
    size_t got;
    memmove(s->input, s->input + s->input_at, s->input_filled - s->input_at);
    s->input_start += (off_t)s->input_at;
    s->input_filled -= s->input_at;
    s->input_at = 0;
    od_status status = od_trace_file_read(&s->file, s->input + s->input_filled, INPUT - s->input_filled, &got, err);
    if (status != OD_OK) return status;
    s->input_filled += got;
    s->file_ended = got == 0;
  }
  return OD_OK;
}

static size_t input_count(const blf *s) {
  return s->input_filled - s->input_at;
}

static od_status skip_input(blf *s, uint64_t count, od_error *err) {
  while (count > 0) {
    od_status status = need_input(s, 1, err);
    if (status != OD_OK) return status;
    size_t n = count < input_count(s) ? (size_t)count : input_count(s);
    if (n == 0) s->is_cut = true;
    if (n == 0) break;
    s->input_at += n;
    count -= n;
  }
  return OD_OK;
}

// --- Contents of containers -------------------------------------------------------------------------------------------

static void *take_memory(void *opaque, unsigned count, unsigned size) {
  (void)opaque;
  return od_calloc(count, size);
}

static void give_memory(void *opaque, void *block) {
  (void)opaque;
  od_free(block);
}

static od_status start_unpacking(blf *s, od_error *err) {
  if (!s->has_unpacker) {
    s->unpacker = (z_stream){.zalloc = take_memory, .zfree = give_memory};
    s->has_unpacker = inflateInit(&s->unpacker) == Z_OK;
  } else if (inflateReset(&s->unpacker) != Z_OK) {
    return damaged(s, "a container cannot be decompressed", err);
  }
  return s->has_unpacker ? OD_OK : od_fail(err, OD_NO_MEMORY, "out of memory while reading %s", s->file.path);
}

// Finds "LOBJ" after at most MOST_PADDING bytes. Returns the position in the buffer, or -1.
static int find_object(const uint8_t *bytes, size_t count) {
  for (int i = 0; i <= MOST_PADDING && (size_t)i + 4 <= count; i++)
    if (!memcmp(bytes + i, "LOBJ", 4)) return i;
  return -1;
}

// Reads the header of the next outer object. At the end of the file, is_inside remains false.
static od_status next_outer(blf *s, od_error *err) {
  od_status status = need_input(s, CONTAINER_HEAD + MOST_PADDING, err);
  if (status != OD_OK) return status;
  if (input_count(s) == 0) return OD_OK;
  int padding = find_object(s->input + s->input_at, input_count(s));
  if (padding < 0 && input_count(s) <= MOST_PADDING) {  // the padding of the last object
    s->input_at = s->input_filled;
    return OD_OK;
  }
  if (padding < 0) return damaged(s, "found no object (\"LOBJ\")", err);
  s->input_at += (size_t)padding;
  const uint8_t *b = s->input + s->input_at;
  size_t count = input_count(s);
  bool is_container = count >= BASE_HEAD && u32(b + 12) == CONTAINER;
  if (count < (is_container ? CONTAINER_HEAD : BASE_HEAD)) {
    s->is_cut = true;
    s->input_at = s->input_filled;
    return OD_OK;
  }
  uint32_t size = u32(b + 8);
  if (size < (is_container ? CONTAINER_HEAD : BASE_HEAD)) {
    char what[100];
    snprintf(what, sizeof what, "found an object of %u bytes, expected at least %d bytes,", size,
             is_container ? CONTAINER_HEAD : BASE_HEAD);
    return damaged(s, what, err);
  }
  s->is_inside = true;
  s->is_packed = false;
  s->left = size;
  if (!is_container) return OD_OK;  // an object without a container: its bytes are contents
  uint32_t method = u16(b + 16);
  if (method != PLAIN && method != ZLIB)
    return od_fail(err, OD_BAD_INPUT, "%s: a container has the compression method %u, expected 0 (none) or 2 (zlib)",
                   s->file.path, method);
  s->is_packed = method == ZLIB;
  s->input_at += CONTAINER_HEAD;
  s->left -= CONTAINER_HEAD;
  return s->is_packed ? start_unpacking(s, err) : OD_OK;
}

// Moves bytes of the current outer object to the output. Fails with OD_BAD_INPUT, OD_IO or OD_NO_MEMORY.
static od_status take_contents(blf *s, od_error *err) {
  od_status status = s->left > 0 ? need_input(s, 1, err) : OD_OK;
  if (status != OD_OK) return status;
  size_t count = s->left < input_count(s) ? (size_t)s->left : input_count(s), room = OUTPUT - s->filled;
  uint8_t *from = s->input + s->input_at, *to = s->output + s->filled;
  if (s->left > 0 && count == 0) {
    s->is_cut = true;
    s->is_inside = false;
    return OD_OK;
  }
  if (!s->is_packed) {
    size_t n = count < room ? count : room;
    memcpy(to, from, n);
    s->filled += n, s->input_at += n, s->left -= n;
    s->is_inside = s->left > 0;
    return OD_OK;
  }
  s->unpacker.next_in = from;
  s->unpacker.avail_in = (unsigned)count;
  s->unpacker.next_out = to;
  s->unpacker.avail_out = (unsigned)room;
  int result = inflate(&s->unpacker, Z_NO_FLUSH);
  size_t used = count - s->unpacker.avail_in, made = room - s->unpacker.avail_out;
  s->input_at += used, s->left -= used, s->filled += made, s->unpacked += (double)made;
  if (result == Z_MEM_ERROR) return od_fail(err, OD_NO_MEMORY, "out of memory while reading %s", s->file.path);
  status = od_check_unpacked(s->file.path, (double)s->file.limit, s->unpacked, err);
  if (status != OD_OK) return status;
  if (result == Z_STREAM_END) {
    s->is_inside = false;
    return skip_input(s, s->left, err);
  }
  bool is_stuck = used == 0 && made == 0;
  if ((result != Z_OK && result != Z_BUF_ERROR) || is_stuck)
    return damaged(s, "a container cannot be decompressed", err);
  return OD_OK;
}

static bool has_contents(const blf *s, size_t count) {
  return s->filled - s->at >= count;
}

// Reads until `count` bytes of contents are in the buffer, or the file ends. Fails with OD_BAD_INPUT, OD_IO or OD_NO_MEMORY.
static od_status need_contents(blf *s, size_t count, od_error *err) {
  while (!has_contents(s, count)) {
    memmove(s->output, s->output + s->at, s->filled - s->at);
    s->filled -= s->at;
    s->at = 0;
    od_status status = OD_OK;
    if (!s->is_inside) status = next_outer(s, err);
    if (status != OD_OK) return status;
    if (!s->is_inside) return OD_OK;
    // Fills the buffer with the rest of the container.
    while (status == OD_OK && s->is_inside && s->filled < OUTPUT) status = take_contents(s, err);
    if (status != OD_OK) return status;
  }
  return OD_OK;
}

// --- Frames -----------------------------------------------------------------------------------------------------------

// Copies data bytes of an object, which has `size` bytes after its header.
static void copy_data(od_can_frame *f, const uint8_t *body, size_t size, size_t from, unsigned count) {
  size_t available = size > from ? size - from : 0;
  if (count > OD_CAN_BYTES) count = OD_CAN_BYTES;
  f->length = (uint8_t)(count < available ? count : available);
  memcpy(f->data, body + from, f->length);
}

static void set_id(od_can_frame *f, uint32_t id) {
  f->id = id & 0x1fffffff;
  if (id & 0x80000000) f->flags |= OD_CAN_EXTENDED;
}

// Reads a frame from the bytes after the header of an object. Returns whether the object is a frame.
static bool read_frame(uint32_t type, const uint8_t *b, size_t size, od_can_frame *f) {
  f->flags = 0;
  f->length = 0;
  f->id = 0;
  switch (type) {
    case CAN_MESSAGE:
    case CAN_MESSAGE_2:
      if (size < 8) return false;
      f->bus = (uint16_t)u16(b);
      set_id(f, u32(b + 4));
      if (b[2] & 1) f->flags |= OD_CAN_SENT;
      if (b[2] & 0x80) f->flags |= OD_CAN_REMOTE;
      if (!(b[2] & 0x80)) copy_data(f, b, size, 8, b[3] < 8 ? b[3] : 8);
      return true;
    case CAN_FD_MESSAGE:
      if (size < 20) return false;
      f->bus = (uint16_t)u16(b);
      set_id(f, u32(b + 4));
      if (b[2] & 1) f->flags |= OD_CAN_SENT;
      if (b[2] & 0x80) f->flags |= OD_CAN_REMOTE;
      if (!(b[2] & 0x80)) copy_data(f, b, size, 20, b[14]);
      return true;
    case CAN_FD_MESSAGE_64:
      if (size < 40 || b[34] == 2) return false;  // direction 2: a request to send
      f->bus = b[0];
      set_id(f, u32(b + 4));
      if (b[34] == 1) f->flags |= OD_CAN_SENT;
      if (u32(b + 12) & 0x10) f->flags |= OD_CAN_REMOTE;
      if (!(u32(b + 12) & 0x10)) copy_data(f, b, size, 40, b[2]);
      return true;
    case CAN_ERROR:
    case CAN_ERROR_EXT:
      if (size < 2) return false;
      f->bus = (uint16_t)u16(b);
      f->flags = OD_CAN_ERROR;
      return true;
    case CAN_FD_ERROR_64:
      if (size < 2) return false;
      f->bus = b[0];
      f->flags = OD_CAN_ERROR;
      return true;
    default: return false;
  }
}

// Reads the next object of the contents. *is_frame: whether the object is a frame. Fails with OD_BAD_INPUT, OD_IO or
// OD_NO_MEMORY.
static od_status next_object(blf *s, od_can_frame *f, bool *is_frame, bool *end, od_error *err) {
  od_status status = need_contents(s, OBJECT_HEAD + MOST_PADDING, err);
  size_t count = s->filled - s->at;
  *is_frame = *end = false;
  if (status != OD_OK) return status;
  int padding = find_object(s->output + s->at, count);
  if (padding < 0 && count > MOST_PADDING) return damaged(s, "found no object (\"LOBJ\") in a container", err);
  if (padding < 0 || count - (size_t)padding < BASE_HEAD) {
    s->is_cut = s->is_cut || padding >= 0;
    *end = true;
    return OD_OK;
  }
  s->at += (size_t)padding;
  const uint8_t *b = s->output + s->at;
  uint32_t head = u16(b + 4), size = u32(b + 8), type = u32(b + 12);
  if (size < BASE_HEAD || head > size || head < BASE_HEAD) {
    char what[140];
    snprintf(what, sizeof what,
             "an object in a container has a header of %u bytes and %u bytes in total, expected %d <= header <= total,",
             head, size, BASE_HEAD);
    return damaged(s, what, err);
  }
  size_t needed = size < LONGEST_OBJECT ? size : LONGEST_OBJECT;
  status = need_contents(s, needed, err);
  if (status != OD_OK) return status;
  if (!has_contents(s, needed)) {
    s->is_cut = *end = true;
    return OD_OK;
  }
  b = s->output + s->at;
  if (head >= OBJECT_HEAD && head <= needed) {
    uint64_t time = u64(b + 24);
    f->time = (double)time / (u32(b + 16) == 1 ? 1e5 : 1e9);
    *is_frame = read_frame(type, b + head, needed - head, f);
  }
  s->skip = size;
  return OD_OK;
}

static od_status next(void *source, od_can_frame *frame, bool *end, od_error *err) {
  blf *s = source;
  bool is_frame = false;
  *end = false;
  while (!is_frame && !*end) {
    while (s->skip > 0) {
      od_status status = need_contents(s, 1, err);
      size_t count = s->filled - s->at;
      if (status != OD_OK) return status;
      if (count == 0) s->is_cut = *end = true;
      if (count == 0) return OD_OK;
      size_t n = s->skip < count ? (size_t)s->skip : count;
      s->at += n;
      s->skip -= n;
    }
    od_status status = next_object(s, frame, &is_frame, end, err);
    if (status != OD_OK) return status;
  }
  return OD_OK;
}

// --- The source -------------------------------------------------------------------------------------------------------

static void rewind_source(void *source) {
  blf *s = source;
  od_trace_file_rewind(&s->file);
  s->input_at = s->input_filled = s->at = s->filled = 0;
  s->input_start = 0;
  s->left = 0;
  s->skip = 0;
  s->unpacked = 0;
  s->is_inside = s->file_ended = s->is_cut = false;
}

// Reads the next frame. Before the first frame, skips the header of the file. Fails with OD_BAD_INPUT, OD_IO or OD_NO_MEMORY.
static od_status first_next(void *source, od_can_frame *frame, bool *end, od_error *err) {
  blf *s = source;
  if (s->input_start == 0 && s->input_filled == 0) {
    od_status status = skip_input(s, s->head, err);
    if (status != OD_OK) return status;
  }
  return next(source, frame, end, err);
}

static void close_source(void *source) {
  blf *s = source;
  od_trace_file_close(&s->file);
  if (s->has_unpacker) inflateEnd(&s->unpacker);
  od_free(s->input);
  od_free(s->output);
  od_free(s);
}

static blf *new_source(void) {
  blf *s = od_calloc(1, sizeof *s);
  if (!s) return NULL;
  s->file.file = -1;
  s->input = od_malloc(INPUT);
  s->output = od_malloc(OUTPUT);
  if (s->input && s->output) return s;
  close_source(s);
  return NULL;
}

static od_status again(const void *source, void **out, od_error *err) {
  const blf *s = source;
  blf *other = new_source();
  *out = NULL;
  if (!other) return od_fail(err, OD_NO_MEMORY, "out of memory while reading %s", s->file.path);
  other->head = s->head;
  od_status status = od_trace_file_again(&s->file, &other->file, err);
  if (status == OD_OK)
    *out = other;
  else
    close_source(other);
  return status;
}

static bool is_cut(const void *source) {
  return ((const blf *)source)->is_cut;
}

static const od_can_source blf_source = {.again = again,
                                         .close = close_source,
                                         .next = first_next,
                                         .rewind = rewind_source,
                                         .is_cut = is_cut,
                                         .has_changed = od_trace_source_has_changed,
                                         .start_time = od_trace_source_start_time};

// --- The format -------------------------------------------------------------------------------------------------------

static bool recognizes(const char *path, const unsigned char *start, size_t length) {
  (void)path;
  return length >= FILE_HEAD && !memcmp(start, "LOGG", 4);
}

static od_status read_head(blf *s, od_error *err) {
  od_status status = need_input(s, FILE_HEAD, err);
  if (status != OD_OK) return status;
  const uint8_t *b = s->input;
  if (input_count(s) < FILE_HEAD || memcmp(b, "LOGG", 4) != 0)
    return od_fail(err, OD_BAD_INPUT, "%s: found no header of a BLF file (\"LOGG\"); expected a CAN trace of Vector",
                   s->file.path);
  s->head = u32(b + 4);
  if (s->head < FILE_HEAD)
    return od_fail(err, OD_BAD_INPUT,
                   "%s: the header states a length of %u bytes; expected at least %d bytes; the file is damaged",
                   s->file.path, (unsigned)s->head, FILE_HEAD);
  od_date_time t;
  char found[64];
  int length = snprintf(found, sizeof found, "%04u-%02u-%02u %02u:%02u:%02u.%03u", u16(b + 40), u16(b + 42),
                        u16(b + 46), u16(b + 48), u16(b + 50), u16(b + 52), u16(b + 54));
  if (u16(b + 40) >= 1970 && od_date_time_parse(found, (size_t)length, OD_YEAR_FIRST, &t))
    od_date_time_text(s->file.start, t.at, false);
  rewind_source(s);
  return OD_OK;
}

static od_status open_file(const char *path, const od_table_wish *wish, void **out, od_error *err) {
  blf *s = new_source();
  *out = NULL;
  if (!s) return od_fail(err, OD_NO_MEMORY, "out of memory while reading %s", path);
  od_status status = od_trace_file_open(&s->file, path, err);
  if (status == OD_OK) status = read_head(s, err);
  if (status == OD_OK) return od_can_stream_open(&blf_source, s, path, wish, out, err);
  close_source(s);
  return status;
}

const od_log_format od_blf_format = {
    .name = "CAN trace of Vector (BLF)", .recognizes = recognizes, .open = open_file, OD_CAN_STREAM};
