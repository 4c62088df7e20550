// Reading a file with bounds: size before content, then UTF-8 before YAML.
//
// The size of a regular file is known beforehand; a pipe is read until it ends or becomes too long.
#include "document/text_file.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "io/inputs_read.h"
#include "io/utf8.h"

enum { MEGABYTE = 1 << 20, LARGEST = 16 * MEGABYTE, CHUNK = 65536 };

static od_status too_large(od_messages *messages, od_place place, long long size) {
  if (size > 0)
    od_messages_add(messages, place, "is %lld MB; machine files are limited to %d MB", (size + MEGABYTE - 1) / MEGABYTE,
                    LARGEST / MEGABYTE);
  else
    od_messages_add(messages, place, "is longer than %d MB, the limit of machine files", LARGEST / MEGABYTE);
  return OD_BAD_INPUT;
}

static od_status read_all(FILE *from, char **text, size_t *length, od_place place, od_messages *messages) {
  size_t room = 0, used = 0;
  char *bytes = NULL;
  for (;;) {
    if (room - used < CHUNK) {
      room = room > 0 ? 2 * room : 2 * CHUNK;
      char *grown = realloc(bytes, room);
      if (grown == NULL) {
        free(bytes);
        return OD_NO_MEMORY;
      }
      bytes = grown;
    }
    size_t got = fread(bytes + used, 1, room - used - 1, from);
    used += got;
    if (got == 0 || used > LARGEST) break;
  }
  if (ferror(from) || used > LARGEST) {
    free(bytes);
    if (used > LARGEST) return too_large(messages, place, 0);
    od_messages_add(messages, place, "cannot be read: %s", strerror(errno));
    return OD_IO;
  }
  bytes[used] = '\0';
  *text = bytes;
  *length = used;
  return OD_OK;
}

static od_status check_text(const char *text, size_t length, od_place place, od_messages *messages) {
  const unsigned char *bytes = (const unsigned char *)text;
  place.line = place.column = 1;
  for (size_t at = 0; at < length;) {
    size_t step = od_utf8_length(bytes + at, length - at);
    if (step == 0) {
      od_messages_add(messages, place, "found byte 0x%02X, expected text in UTF-8", (unsigned)bytes[at]);
      return OD_BAD_INPUT;
    }
    place.column++;
    if (bytes[at] == '\n') place.line++, place.column = 1;
    at += step;
  }
  return OD_OK;
}

od_status od_text_file_read(const char *path, char **text, size_t *length, od_messages *messages) {
  od_place place = {.file = path};
  *text = NULL;
  *length = 0;
  struct stat facts;
  if (stat(path, &facts) != 0) {
    od_messages_add(messages, place, "cannot be read: %s", strerror(errno));
    return OD_IO;
  }
  if (S_ISDIR(facts.st_mode)) {
    od_messages_add(messages, place, "is a folder, not a file");
    return OD_IO;
  }
  if (S_ISREG(facts.st_mode) && facts.st_size > LARGEST) return too_large(messages, place, (long long)facts.st_size);
  FILE *from = fopen(path, "rb");
  if (from == NULL) {
    od_messages_add(messages, place, "cannot be read: %s", strerror(errno));
    return OD_IO;
  }
  od_status status = od_inputs_note(path) ? OD_OK : OD_NO_MEMORY;
  if (status == OD_OK) status = read_all(from, text, length, place, messages);
  fclose(from);
  if (status == OD_OK) status = check_text(*text, *length, place, messages);
  if (status != OD_OK) {
    free(*text);
    *text = NULL;
  }
  return status;
}
