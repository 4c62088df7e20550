#define _DEFAULT_SOURCE  // explicit_bzero, getrandom

#include "http/secrets.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/text.h"
#include "memory/scoped.h"

enum { MOST_FILE = 65536 };

bool od_secret_set(od_secret *s, const char *text) {
  const size_t length = strlen(text);
  memset(s, 0, sizeof *s);
  if (length >= sizeof s->text) return false;
  memcpy(s->text, text, length);
  return true;
}

bool od_secret_equal(const od_secret *a, const od_secret *b) {
  volatile unsigned char difference = 0;
  for (size_t i = 0; i < sizeof a->text; i++)
    difference = (unsigned char)(difference | (unsigned char)(a->text[i] ^ b->text[i]));
  return difference == 0 && a->text[0] != '\0';
}

void od_secret_forget(od_secret *s) {
  explicit_bzero(s, sizeof *s);
}

od_status od_random_text(char text[OD_RANDOM_SIZE], od_error *err) {
  static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
  unsigned char bytes[OD_RANDOM_SIZE];
  if (getrandom(bytes, sizeof bytes, 0) != (ssize_t)sizeof bytes)
    return od_fail(err, OD_IO, "the system has no random numbers: %s", strerror(errno));
  for (int i = 0; i + 1 < OD_RANDOM_SIZE; i++) text[i] = digits[bytes[i] & 63];
  text[OD_RANDOM_SIZE - 1] = '\0';
  explicit_bzero(bytes, sizeof bytes);
  return OD_OK;
}

// Checks owner and permissions of an open file. Fails with OD_BAD_INPUT or OD_IO.
static od_status check_private(int file, const char *path, const char *what, off_t *size, od_error *err) {
  struct stat info;
  if (fstat(file, &info) != 0) return od_fail(err, OD_IO, "cannot read the %s %s: %s", what, path, strerror(errno));
  if (!S_ISREG(info.st_mode))
    return od_fail(err, OD_BAD_INPUT, "the %s %s is not a regular file; give the name of a file", what, path);
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

od_status od_token_read(const char *path, od_secret *out, od_error *err) {
  OD_SCRATCH(scratch);
  char *text;
  size_t size;
  od_status status = od_private_file_read(path, "token", &scratch, &text, &size, err);
  if (status != OD_OK) return status;
  const size_t length = strcspn(text, "\r\n");
  text[length] = '\0';
  for (size_t i = 0; i < length && status == OD_OK; i++)
    if (text[i] < '!' || text[i] > '~')
      status = od_fail(
          err, OD_BAD_INPUT,
          "the token %s has a character that is not allowed; expected visible ASCII characters without spaces", path);
  if (status == OD_OK && (length < OD_LEAST_TOKEN || length > OD_MOST_TOKEN))
    status = od_fail(err, OD_BAD_INPUT, "the token %s has %d characters; expected %d to %d", path, (int)length,
                     OD_LEAST_TOKEN, OD_MOST_TOKEN);
  if (status == OD_OK) od_secret_set(out, text);
  explicit_bzero(text, size);
  return status;
}
