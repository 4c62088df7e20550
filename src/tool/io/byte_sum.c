#define _XOPEN_SOURCE 700  // pread

#include "io/byte_sum.h"

#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

bool od_byte_sum_has_changed(int file, off_t from, off_t to, struct timespec written, const uint64_t *known) {
  struct stat about;
  od_byte_sum sum = {0};
  char block[1 << 14];
  if (fstat(file, &about) != 0) return false;
  const struct timespec now = about.st_mtim;
  if (about.st_size == to && now.tv_sec == written.tv_sec && now.tv_nsec == written.tv_nsec) return false;
  while (from < to) {
    size_t left = (size_t)(to - from);
    ssize_t got = pread(file, block, left < sizeof block ? left : sizeof block, from);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return true;
    od_byte_sum_take(&sum, block, (size_t)got);
    from += got;
  }
  return known && od_byte_sum_of(&sum) != *known;
}
