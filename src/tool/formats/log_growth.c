#include "formats/log_growth.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

od_status od_log_file_growth(const char *path, int file, off_t *limit, od_log_growth *out, od_error *err) {
  struct stat about, named;
  *out = OD_LOG_SAME;
  if (fstat(file, &about) != 0) return od_fail(err, OD_IO, "cannot read %s: %s", path, strerror(errno));
  if (about.st_size < *limit)
    return od_fail(err, OD_IO,
                   "%s has become shorter, from %lld bytes to %lld bytes; rows may be lost. Follow the file again",
                   path, (long long)*limit, (long long)about.st_size);
  if (about.st_size > *limit) {
    *limit = about.st_size;
    *out = OD_LOG_LONGER;
  } else if (stat(path, &named) == 0 && (named.st_ino != about.st_ino || named.st_dev != about.st_dev)) {
    *out = OD_LOG_REPLACED;
  }
  return OD_OK;
}
