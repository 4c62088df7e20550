#define _DEFAULT_SOURCE

#include "io/private_file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MOST_FILE = 65536 };

// Checks owner and permissions of an open file.
static od_status check_private(int file, const char *path, const char *what, off_t *size, od_error *err) {
  struct stat info;
  if (fstat(file, &info) != 0) return od_fail(err, OD_IO, "cannot read the %s %s: %s", what, path, strerror(errno));
  if (!S_ISREG(info.st_mode)) return od_fail(err, OD_BAD_INPUT, "the %s %s is not a regular file", what, path);
  if (info.st_uid != geteuid() && info.st_uid != 0)
    return od_fail(err, OD_BAD_INPUT,
                   "the %s %s belongs to another user; expected a file of the user who runs the twin, or of root", what,
                   path);
  if (info.st_mode & 077)
    return od_fail(err, OD_BAD_INPUT,
                   "other users may access the %s %s (permissions %c%c%c); expected 600 or 400. Use 'chmod 600 %s'",
                   what, path, (char)('0' + (info.st_mode >> 6 & 7)), (char)('0' + (info.st_mode >> 3 & 7)),
                   (char)('0' + (info.st_mode & 7)), path);
  if (info.st_size > MOST_FILE)
    return od_fail(err, OD_BAD_INPUT, "the %s %s has %lld bytes; expected at most %d", what, path,
                   (long long)info.st_size, MOST_FILE);
  *size = info.st_size;
  return OD_OK;
}

od_status od_private_file_read(const char *path, const char *what, od_arena *memory, char **content, size_t *size,
                               od_error *err) {
  off_t length = 0;
  *content = NULL;
  const int file = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
  if (file < 0) return od_fail(err, OD_BAD_INPUT, "cannot open the %s %s: %s", what, path, strerror(errno));
  od_status status = check_private(file, path, what, &length, err);
  char *text = status == OD_OK ? OD_TAKE(memory, char, length + 1) : NULL;
  if (status == OD_OK && !text) status = od_fail(err, OD_NO_MEMORY, "out of memory");
  ssize_t got = 0, n = 1;
  while (status == OD_OK && got < length && (n = read(file, text + got, (size_t)(length - got))) > 0) got += n;
  if (status == OD_OK && n < 0) status = od_fail(err, OD_IO, "cannot read the %s %s: %s", what, path, strerror(errno));
  close(file);
  if (status != OD_OK) return status;
  *content = text;
  *size = (size_t)got;
  return OD_OK;
}
