// Secrets of the page: tokens in files, random texts, and comparisons whose time does not depend on the texts.
#ifndef OD_HTTP_SECRETS_H
#define OD_HTTP_SECRETS_H

#include <stdbool.h>

#include "base/arena.h"
#include "oleodyn/status.h"

enum { OD_LEAST_TOKEN = 20, OD_MOST_TOKEN = 200, OD_RANDOM_SIZE = 44 };

// A text in memory of constant size; the bytes after the text are zero.
typedef struct od_secret {
  char text[OD_MOST_TOKEN + 56];
} od_secret;

// Sets a secret. Returns false if the text is too long; the secret is then empty.
bool od_secret_set(od_secret *s, const char *text);
// Returns whether two secrets are equal and not empty. The time of the comparison does not depend on the secrets.
bool od_secret_equal(const od_secret *a, const od_secret *b);
// Overwrites a secret with zeros.
void od_secret_forget(od_secret *s);

// Writes a random text of 43 letters, digits, '-' and '_' (256 bits). Fails with OD_IO if the system has no random numbers.
od_status od_random_text(char text[OD_RANDOM_SIZE], od_error *err);

// Reads the first line of a private file (io/private_file.h) as a token: OD_LEAST_TOKEN to OD_MOST_TOKEN visible ASCII characters. Fails with
// OD_BAD_INPUT, OD_IO or OD_NO_MEMORY.
od_status od_token_read(const char *path, od_secret *out, od_error *err);

#endif
