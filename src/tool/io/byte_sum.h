// A checksum over bytes that arrive in parts of any size. The checksum identifies a file: different contents have different
// checksums, except with probability 2^-64.
#ifndef OD_IO_BYTE_SUM_H
#define OD_IO_BYTE_SUM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/types.h>
#include <time.h>

typedef struct od_byte_sum {
  uint64_t sum;
  unsigned char part[8];  // bytes that do not yet form a complete word
  size_t parts;
} od_byte_sum;

static inline void od_byte_sum_take_word(od_byte_sum *s, const void *bytes) {
  uint64_t word;
  memcpy(&word, bytes, sizeof word);
  s->sum = (s->sum ^ word) * UINT64_C(0x9e3779b97f4a7c15);
  s->sum ^= s->sum >> 29;
}

static inline void od_byte_sum_take(od_byte_sum *s, const char *bytes, size_t count) {
  for (; count > 0 && s->parts > 0 && s->parts < sizeof s->part; count--) s->part[s->parts++] = (unsigned char)*bytes++;
  if (s->parts == sizeof s->part) {
    od_byte_sum_take_word(s, s->part);
    s->parts = 0;
  }
  for (; count >= sizeof s->part; count -= sizeof s->part, bytes += sizeof s->part) od_byte_sum_take_word(s, bytes);
  for (; count > 0; count--) s->part[s->parts++] = (unsigned char)*bytes++;
}

static inline uint64_t od_byte_sum_of(const od_byte_sum *s) {
  od_byte_sum end = *s;
  memset(end.part + end.parts, 0, sizeof end.part - end.parts);
  od_byte_sum_take_word(&end, end.part);
  return end.sum + end.parts;
}

// Returns whether the bytes of an open file from `from` to `to` have changed since they were read. A missing byte is a change; appended
// bytes are not. The bytes are only read if the length of the file is not `to` or its modification time is not `written`. known: the
// checksum of these bytes; NULL: unknown, only missing bytes are found.
bool od_byte_sum_has_changed(int file, off_t from, off_t to, struct timespec written, const uint64_t *known);

#endif
