#include "io/channel.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>

void od_channel_init(od_channel *c, int socket) {
  c->socket = socket;
  c->broken = c->is_late = false;
  c->limit = 0;
  c->filled = c->taken = c->waiting = 0;
}

// MSG_NOSIGNAL: a helper that ended must not end its caller by SIGPIPE.
static void send_all(od_channel *c, const unsigned char *data, size_t size) {
  while (size > 0 && !c->broken) {
    ssize_t sent = send(c->socket, data, size, MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent <= 0) c->broken = true;
    if (sent > 0) data += sent, size -= (size_t)sent;
  }
}

bool od_channel_flush(od_channel *c) {
  send_all(c, c->out, c->waiting);
  c->waiting = 0;
  return !c->broken;
}

void od_channel_put(od_channel *c, const void *data, size_t size) {
  if (size > sizeof c->out - c->waiting) od_channel_flush(c);
  if (size > sizeof c->out) {
    send_all(c, data, size);
  } else if (!c->broken && size > 0) {
    memcpy(c->out + c->waiting, data, size);
    c->waiting += size;
  }
}

void od_channel_put_number(od_channel *c, uint64_t number) {
  od_channel_put(c, &number, sizeof number);
}

void od_channel_put_text(od_channel *c, const char *text) {
  size_t length = strlen(text);
  od_channel_put_number(c, length);
  od_channel_put(c, text, length);
}

// Waits until data arrive or the time limit is over.
static void wait_for_data(od_channel *c) {
  struct pollfd p = {.fd = c->socket, .events = POLLIN};
  int ready = 1;
  if (c->limit > 0 && !c->broken) do
      ready = poll(&p, 1, (int)(1000 * c->limit));
    while (ready < 0 && errno == EINTR);
  if (ready == 0) c->broken = c->is_late = true;
}

// Receives at least one byte into `to`. Returns the number of bytes; 0: the channel is broken.
static size_t receive(od_channel *c, void *to, size_t size) {
  ssize_t got = 0;
  wait_for_data(c);
  if (!c->broken) do
      got = recv(c->socket, to, size, 0);
    while (got < 0 && errno == EINTR);
  if (got <= 0) c->broken = true;
  return c->broken ? 0 : (size_t)got;
}

bool od_channel_take(od_channel *c, void *to, size_t size) {
  unsigned char *at = to;
  while (size > 0 && !c->broken) {
    size_t part = c->filled - c->taken;
    if (part == 0 && size >= sizeof c->in) {
      part = receive(c, at, size);
    } else {
      if (part == 0) {
        c->taken = 0;
        part = c->filled = receive(c, c->in, sizeof c->in);
      }
      if (part > size) part = size;
      memcpy(at, c->in + c->taken, part);
      c->taken += part;
    }
    at += part;
    size -= part;
  }
  return !c->broken;
}

uint64_t od_channel_take_number(od_channel *c, uint64_t most) {
  uint64_t number = 0;
  if (!od_channel_take(c, &number, sizeof number)) return 0;
  if (number > most) c->broken = true;
  return c->broken ? 0 : number;
}

bool od_channel_take_text(od_channel *c, char *to, size_t size) {
  size_t length = (size_t)od_channel_take_number(c, size - 1);
  if (c->broken || !od_channel_take(c, to, length)) length = 0;
  to[length] = '\0';
  return !c->broken;
}

void od_channel_drain(od_channel *c) {
  while (receive(c, c->in, sizeof c->in) > 0) continue;
}
