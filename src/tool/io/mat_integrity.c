// Level 5: 128 bytes of text, version and byte order, then elements. An element is a tag (type, number of bytes) and data, padded
// to eight bytes unless compressed. Level 4: matrices. A matrix is five integers (format, rows, columns, imaginary or not, length
// of the name), the name and the numbers. Source: MathWorks, MAT-File Format, chapters 1 and 2.
#include "io/mat_integrity.h"

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <zlib.h>

#include "base/allocate.h"
#include "io/unpacked.h"

enum { HEADER = 128, TAG = 8, COMPRESSED = 15, MATRIX = 20 };

typedef struct walk {
  FILE *file;
  long long size, at;
  bool swapped;  // whether the file is big-endian
  double plain;  // bytes unpacked so far
  double most;   // largest allowed value of `plain`
} walk;

static bool read_at(const walk *w, long long at, void *to, size_t count) {
  return fseeko(w->file, (off_t)at, SEEK_SET) == 0 && fread(to, 1, count, w->file) == count;
}

static uint32_t number(const walk *w, const unsigned char *bytes) {
  const unsigned char *b = bytes;
  bool big = w->swapped;
  return big ? (uint32_t)b[0] << 24 | (uint32_t)b[1] << 16 | (uint32_t)b[2] << 8 | b[3]
             : (uint32_t)b[3] << 24 | (uint32_t)b[2] << 16 | (uint32_t)b[1] << 8 | b[0];
}

static void *unpack_allocate(void *user, unsigned count, unsigned size) {
  (void)user;
  return od_calloc(count, size);
}

static void unpack_release(void *user, void *block) {
  (void)user;
  od_free(block);
}

// Unpacks `bytes` bytes from the current position. Returns whether the data have a correct end and checksum, and do
// not exceed the limit w->most.
static bool is_packed(walk *w, long long bytes) {
  unsigned char packed[16384], plain[16384];
  z_stream z = {.zalloc = unpack_allocate, .zfree = unpack_release};
  if (inflateInit(&z) != Z_OK) return false;
  int status = Z_OK;
  while (status == Z_OK && bytes > 0 && w->plain <= w->most) {
    size_t part = bytes < (long long)sizeof packed ? (size_t)bytes : sizeof packed;
    z.next_in = packed;
    z.avail_in = (unsigned)fread(packed, 1, part, w->file);
    bytes -= (long long)part;
    do {
      z.next_out = plain;
      z.avail_out = sizeof plain;
      status = inflate(&z, Z_NO_FLUSH);
      w->plain += (double)(sizeof plain - z.avail_out);
    } while (status == Z_OK && z.avail_out == 0);
    if (status == Z_BUF_ERROR) status = Z_OK;  // zlib needs more input
  }
  inflateEnd(&z);
  return status == Z_STREAM_END && w->plain <= w->most;
}

// Move to the next element (level 5) or matrix (level 4). Return false if the current element or matrix is not complete.
static bool next_element(walk *w) {
  unsigned char tag[TAG];
  if (!read_at(w, w->at, tag, sizeof tag)) return false;
  uint32_t type = number(w, tag), bytes = number(w, tag + 4);
  if (type >> 16) bytes = 0;  // the data are in the tag
  long long end = w->at + TAG + (long long)bytes;
  if (end > w->size || (type == COMPRESSED && !is_packed(w, bytes))) return false;
  if (type != COMPRESSED) end += (8 - bytes % 8) % 8;
  w->at = end < w->size ? end : w->size;
  return true;
}

static bool next_matrix(walk *w) {
  static const int sizes[] = {8, 4, 4, 2, 2, 1};  // bytes of a number, by format
  unsigned char head[MATRIX];
  if (!read_at(w, w->at, head, sizeof head)) return false;
  uint32_t format = number(w, head), rows = number(w, head + 4), columns = number(w, head + 8);
  uint32_t imaginary = number(w, head + 12), name = number(w, head + 16), kind = format / 10 % 10;
  if (kind > 5 || imaginary > 1) return false;
  double bytes = (double)rows * columns * sizes[kind] * (1 + (double)imaginary) + name;
  if (bytes > (double)(w->size - w->at - MATRIX)) return false;
  w->at += MATRIX + (long long)bytes;
  return true;
}

// Returns whether the file is complete. A file of level 5 contains its byte order. In a file of level 4 the format is a small
// number in one of the two byte orders.
static bool is_whole(walk *w) {
  unsigned char head[HEADER] = {0};
  bool long_enough = read_at(w, 0, head, sizeof head);
  bool little = !memcmp(head + 126, "IM", 2), big = !memcmp(head + 126, "MI", 2);
  int version = little ? head[125] : head[124];
  bool level_5 = long_enough && (little || big) && version == 1;
  if (long_enough && (little || big) && version == 2) return true;  // level 7.3
  if (!long_enough && !read_at(w, 0, head, w->size < MATRIX ? (size_t)w->size : MATRIX)) return false;
  w->swapped = level_5 ? big : number(w, head) > 9999;
  w->at = level_5 ? HEADER : 0;
  bool (*next)(walk *) = level_5 ? next_element : next_matrix;
  bool whole = w->size > 0;
  while (whole && w->at < w->size) whole = next(w);
  return whole;
}

od_status od_mat_check_integrity(const char *path, double most, long long *bytes, od_error *err) {
  struct stat facts;
  *bytes = 0;
  bool there = stat(path, &facts) == 0;
  // Does not open a pipe, because this would wait for the writer.
  if (there && !S_ISREG(facts.st_mode))
    return od_fail(err, OD_IO, "cannot read %s: a MATLAB file must be a file on disk", path);
  FILE *f = there ? fopen(path, "rb") : NULL;
  if (!f) return od_fail(err, OD_IO, "cannot read %s: %s", path, strerror(errno));
  walk w = {.file = f, .size = (long long)facts.st_size};
  w.most = most > 0 ? most : od_most_unpacked((double)w.size);
  bool whole = is_whole(&w);
  fclose(f);
  *bytes = w.size;
  if (whole) return OD_OK;
  if (w.plain > w.most) return od_check_unpacked(path, (double)w.size, w.plain, err);
  return od_fail(
      err, OD_BAD_INPUT,
      "%s is not a MATLAB file, or the file is truncated or damaged: the file has %lld bytes, and the bytes from %lld on are invalid; write the file again",
      path, w.size, w.at);
}
