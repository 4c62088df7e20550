// Standard input: each line is a message.
#include <errno.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

#include "base/allocate.h"
#include "sources/source.h"

enum { LONGEST_LINE = 65536 };

typedef struct lines {
  char buffer[LONGEST_LINE];
  size_t end;   // number of bytes in the buffer
  bool is_cut;  // whether the beginning of the current line was left out, because the line is too long
} lines;

static od_status open_input(const od_twin_source *settings, void **self, od_error *err) {
  (void)settings;
  *self = od_calloc(1, sizeof(lines));
  return *self ? OD_OK : od_fail(err, OD_NO_MEMORY, "out of memory");
}

static void pass_line(lines *l, const od_receiver *to, const char *text, size_t length) {
  if (l->is_cut)
    to->refuse(to->user, "the line is too long; expected at most 65535 bytes");
  else
    to->message(to->user, text, length);
  l->is_cut = false;
}

// Passes all complete lines of the buffer to the receiver, and moves the remaining bytes to the start of the buffer.
static void pass_lines(lines *l, const od_receiver *to) {
  size_t begin = 0;
  for (const char *stop; (stop = memchr(l->buffer + begin, '\n', l->end - begin));) {
    const size_t length = (size_t)(stop - l->buffer) - begin;
    pass_line(l, to, l->buffer + begin, length);
    begin += length + 1;
  }
  memmove(l->buffer, l->buffer + begin, l->end - begin);
  l->end -= begin;
  if (l->end == sizeof l->buffer) l->end = 0, l->is_cut = true;
}

static od_status run(void *self, const od_receiver *to, od_error *err) {
  lines *l = self;
  while (to->goes_on(to->user)) {
    struct pollfd input = {.fd = STDIN_FILENO, .events = POLLIN};
    const int ready = poll(&input, 1, OD_SILENCE_MS);
    if (ready == 0) to->silence(to->user);
    if (ready <= 0) continue;
    const ssize_t got = read(STDIN_FILENO, l->buffer + l->end, sizeof l->buffer - l->end);
    if (got < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (got < 0) return od_fail(err, OD_IO, "standard input cannot be read: %s", strerror(errno));
    if (got == 0) {
      if (l->end > 0 || l->is_cut) pass_line(l, to, l->buffer, l->end);
      return OD_OK;
    }
    l->end += (size_t)got;
    pass_lines(l, to);
  }
  return OD_OK;
}

const od_source_class od_stdin_source = {
    .name = "stdin", .waits = true, .open = open_input, .run = run, .close = od_free};
