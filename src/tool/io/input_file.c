#include "io/input_file.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/allocate.h"
#include "io/bundle.h"
#include "io/inputs_read.h"

enum { FIRST_ROOM = 65536, PATIENCE_MS = 500 };

typedef struct input {
  int fd;
  size_t most;
  char *bytes;
  size_t used, room;
  od_error *why;
} input;

static od_status cannot(input *in, const char *reason) {
  return od_fail(in->why, OD_IO, "%s", reason);
}

static od_status too_long(input *in) {
  return od_fail(in->why, OD_BAD_INPUT, "the file is larger than %zu MB, the largest allowed size", in->most >> 20);
}

// Opens a file. Does not open devices, because opening a device may have an effect. Does not wait for the writer of a pipe. Fails
// with OD_BAD_INPUT or OD_IO.
static od_status open_file(input *in, const char *path) {
  struct stat facts;
  if (stat(path, &facts) != 0) return cannot(in, strerror(errno));
  if (S_ISDIR(facts.st_mode)) return cannot(in, strerror(EISDIR));
  if (!S_ISREG(facts.st_mode) && !S_ISFIFO(facts.st_mode))
    return cannot(in, "found a device or a socket, expected a file or a pipe");
  in->fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  if (in->fd < 0 || fstat(in->fd, &facts) != 0) return cannot(in, strerror(errno));
  if (S_ISREG(facts.st_mode) && facts.st_size > 0 && (unsigned long long)facts.st_size > in->most) return too_long(in);
  return OD_OK;
}

static od_status make_room(input *in) {
  if (in->used + 1 < in->room) return OD_OK;
  size_t larger = in->room > 0 ? 2 * in->room : FIRST_ROOM;
  if (larger > in->most + 2)
    larger = in->most + 2;  // one more byte detects longer files, and one more byte is the
                            // zero byte
  char *moved = od_realloc(in->bytes, larger);
  if (!moved) return od_fail(in->why, OD_NO_MEMORY, "out of memory");
  in->bytes = moved;
  in->room = larger;
  return OD_OK;
}

// Reads the available bytes. *end: there are no more bytes. A pipe that has no writer yet looks like a pipe at its end, so the
// first read waits. Fails with OD_BAD_INPUT or OD_IO.
static od_status read_some(input *in, bool *end) {
  struct pollfd ready = {.fd = in->fd, .events = POLLIN};
  if (in->used == 0 && poll(&ready, 1, PATIENCE_MS) < 0 && errno != EINTR) return cannot(in, strerror(errno));
  ssize_t got = read(in->fd, in->bytes + in->used, in->room - in->used - 1);
  if (got < 0 && errno == EAGAIN) {
    poll(&ready, 1, -1);
    return OD_OK;
  }
  if (got < 0 && errno == EINTR) return OD_OK;
  if (got < 0) return cannot(in, strerror(errno));
  if (got == 0 && in->used == 0 && ready.revents == 0)
    return cannot(in,
                  "no program writes to this pipe; start the "
                  "writing program first");
  in->used += (size_t)got;
  *end = got == 0;
  return in->used > in->most ? too_long(in) : OD_OK;
}

// Copies a file of the bundle that this thread uses. Fails with OD_BAD_INPUT, OD_IO or OD_NO_MEMORY.
static od_status read_bundled(const char *path, input *in) {
  const od_bundled *f = od_bundle_find(path);
  if (!f) return cannot(in, "the image does not contain this file");
  if (f->size > in->most) return too_long(in);
  in->bytes = od_malloc(f->size + 1);
  if (!in->bytes) return od_fail(in->why, OD_NO_MEMORY, "out of memory");
  if (f->size) memcpy(in->bytes, f->bytes, f->size);
  in->used = f->size;
  return OD_OK;
}

od_status od_input_read(const char *path, size_t most, char **bytes, size_t *length, od_error *why) {
  input in = {.fd = -1, .most = most, .why = why};
  bool bundled = od_bundle_is_used(), end = bundled;
  od_status status = bundled ? read_bundled(path, &in) : open_file(&in, path);
  if (status == OD_OK && !bundled && !od_inputs_note(path)) status = od_fail(why, OD_NO_MEMORY, "out of memory");
  while (status == OD_OK && !end) {
    status = make_room(&in);
    if (status == OD_OK) status = read_some(&in, &end);
  }
  if (in.fd >= 0) close(in.fd);
  if (status == OD_OK && !od_bundle_note(path, in.bytes, in.used)) status = od_fail(why, OD_NO_MEMORY, "out of memory");
  if (status != OD_OK) {
    od_free(in.bytes);
    return status;
  }
  in.bytes[in.used] = '\0';
  *bytes = in.bytes;
  *length = in.used;
  return OD_OK;
}
