// Reads a file within limits: checks its size before reading, and checks that its content is UTF-8.
#include "document/text_file.h"

#include <string.h>
#include <sys/stat.h>

#include "base/allocate.h"
#include "io/bundle.h"
#include "io/input_file.h"
#include "io/utf8.h"

enum { MEGABYTE = 1 << 20, LARGEST = 16 * MEGABYTE };

static od_status too_large(od_messages *messages, od_place place, long long size) {
  if (size > 0)
    od_messages_add(messages, place, "the file has %lld MB; at most %d MB are allowed",
                    (size + MEGABYTE - 1) / MEGABYTE, LARGEST / MEGABYTE);
  else
    od_messages_add(messages, place, "the file is too large; expected at most %d MB", LARGEST / MEGABYTE);
  return OD_BAD_INPUT;
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
  bool there = od_bundle_stat(path, &facts) == 0;
  if (there && S_ISDIR(facts.st_mode)) {
    od_messages_add(messages, place, "found a folder, expected a file");
    return OD_IO;
  }
  if (there && S_ISREG(facts.st_mode) && facts.st_size > LARGEST)
    return too_large(messages, place, (long long)facts.st_size);
  od_error why = {0};
  od_status status = od_input_read(path, LARGEST, text, length, &why);
  if (status == OD_BAD_INPUT) too_large(messages, place, 0);
  if (status == OD_IO) od_messages_add(messages, place, "the file cannot be read: %s", why.text);
  if (status == OD_OK) status = check_text(*text, *length, place, messages);
  if (status != OD_OK) {
    od_free(*text);
    *text = NULL;
  }
  return status;
}
