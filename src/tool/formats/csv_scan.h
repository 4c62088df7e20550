// Searches separators in the text of a CSV row, eight bytes at a time. A byte of a word is equal to the separator if the
// exclusive or of both is zero; sums that cannot carry into the next byte find the zero bytes exactly.
#ifndef OD_FORMATS_CSV_SCAN_H
#define OD_FORMATS_CSV_SCAN_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define OD_CSV_EACH_BYTE UINT64_C(0x0101010101010101)

// Returns a word whose byte i is 0x80 if at[i] is equal to the byte that `pattern` repeats, and otherwise zero. Eight bytes are readable
// at `at`. The first byte of the text is the lowest byte of the word.
static inline uint64_t od_csv_matches(const char *at, uint64_t pattern) {
  const uint64_t low_bits = 0x7f * OD_CSV_EACH_BYTE;
  uint64_t word;
  memcpy(&word, at, sizeof word);
#if defined __BYTE_ORDER__ && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
  word = __builtin_bswap64(word);
#endif
  word ^= pattern;
  return ~(((word & low_bits) + low_bits) | word | low_bits);
}

// Returns the position after the next `count` separators before `end`; NULL: there are fewer separators. Bytes before
// `readable` may be read; `readable` is at or after `end`.
static inline const char *od_csv_skip_cells(const char *at, const char *end, const char *readable, char separator,
                                            int count) {
  const uint64_t pattern = (unsigned char)separator * OD_CSV_EACH_BYTE;
  while (count > 0 && readable - at >= 8) {
    uint64_t found = od_csv_matches(at, pattern);
    const int here = (int)((found >> 7) * OD_CSV_EACH_BYTE >> 56);  // the number of separators
    if (here < count) {
      count -= here;
      at += 8;
      continue;
    }
    for (; count > 1; count--) found &= found - 1;
    at += __builtin_ctzll(found) / 8 + 1;
    count = 0;
  }
  for (; count > 0 && at < end; at++) count -= *at == separator;
  return count == 0 && at <= end ? at : NULL;
}

// Returns the position of the next separator, or `end`. The arguments are the same as for the previous function.
static inline const char *od_csv_cell_end(const char *at, const char *end, const char *readable, char separator) {
  const uint64_t pattern = (unsigned char)separator * OD_CSV_EACH_BYTE;
  for (; readable - at >= 8; at += 8) {
    const uint64_t found = od_csv_matches(at, pattern);
    if (!found && at < end) continue;
    if (found) at += __builtin_ctzll(found) / 8;
    return at < end ? at : end;
  }
  while (at < end && *at != separator) at++;
  return at < end ? at : end;
}

#endif
