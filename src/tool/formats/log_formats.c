#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "formats/log_format.h"

const od_log_format *const od_log_formats[] = {&od_mat_format, &od_hdf5_format,    &od_mdf_format, &od_blf_format,
                                               &od_asc_format, &od_candump_format, &od_csv_format, NULL};

// Returns whether a file must be read as a whole: pipes cannot be read again, and files with a stated size of zero, as in /proc,
// have unknown sizes.
static bool is_pipe(const struct stat *about) {
  return !S_ISDIR(about->st_mode) && (!S_ISREG(about->st_mode) || about->st_size == 0);
}

// Reads the first bytes of a regular file. Returns their number, or -1 and errno.
static ssize_t read_start(const char *path, unsigned char *start) {
  ssize_t length = 0, got = 1;
  int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0) return -1;
  while (length < OD_LOG_START && got > 0) {
    got = read(fd, start + length, (size_t)(OD_LOG_START - length));
    if (got > 0) length += got;
    if (got < 0 && errno == EINTR) got = 1;
  }
  int reason = errno;
  close(fd);
  errno = reason;
  return got < 0 ? -1 : length;
}

od_status od_log_format_of(const char *path, const od_log_format **out, od_error *err) {
  unsigned char start[OD_LOG_START];
  struct stat about;
  *out = &od_csv_pipe_format;
  if (stat(path, &about) == 0 && is_pipe(&about)) return OD_OK;
  ssize_t length = read_start(path, start);
  if (length < 0) return od_fail(err, OD_IO, "cannot read %s: %s", path, strerror(errno));
  int i = 0;
  while (od_log_formats[i + 1] && !od_log_formats[i]->recognizes(path, start, (size_t)length)) i++;
  *out = od_log_formats[i];
  return OD_OK;
}
