#define _DEFAULT_SOURCE  // explicit_bzero, getrandom

#include "http/secrets.h"

#include <errno.h>
#include <string.h>
#include <sys/random.h>

#include "base/text.h"
#include "io/private_file.h"
#include "memory/scoped.h"

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
      status = od_fail(err, OD_BAD_INPUT, "the token %s has a character that is no visible ASCII character", path);
  if (status == OD_OK && (length < OD_LEAST_TOKEN || length > OD_MOST_TOKEN))
    status = od_fail(err, OD_BAD_INPUT, "the token %s has %d characters; expected %d to %d", path, (int)length,
                     OD_LEAST_TOKEN, OD_MOST_TOKEN);
  if (status == OD_OK) od_secret_set(out, text);
  explicit_bzero(text, size);
  return status;
}
