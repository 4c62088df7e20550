// UDP: each datagram is a message. The kernel drops datagrams that arrive faster than they are read; gaps in the sequence numbers
// show the number of dropped messages.
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/allocate.h"
#include "sources/source.h"

enum { LONGEST_DATAGRAM = 65536, RECEIVE_BUFFER = 4 << 20 };

typedef struct datagrams {
  int socket;
  char buffer[LONGEST_DATAGRAM];
} datagrams;

static void close_socket(void *self) {
  datagrams *d = self;
  if (d->socket >= 0) close(d->socket);
  od_free(d);
}

// Fills the address of the settings (IPv4 or IPv6). Returns the size of the address; 0: the text is not an address.
static socklen_t fill_address(const od_twin_source *s, struct sockaddr_storage *to) {
  struct sockaddr_in *four = (struct sockaddr_in *)to;
  struct sockaddr_in6 *six = (struct sockaddr_in6 *)to;
  memset(to, 0, sizeof *to);
  if (inet_pton(AF_INET, s->address, &four->sin_addr) == 1) {
    four->sin_family = AF_INET;
    four->sin_port = htons((uint16_t)s->port);
    return sizeof *four;
  }
  if (inet_pton(AF_INET6, s->address, &six->sin6_addr) != 1) return 0;
  six->sin6_family = AF_INET6;
  six->sin6_port = htons((uint16_t)s->port);
  return sizeof *six;
}

static od_status open_socket(const od_twin_source *s, void **self, od_error *err) {
  struct sockaddr_storage address;
  const socklen_t size = fill_address(s, &address);
  const int wanted = RECEIVE_BUFFER;
  *self = NULL;
  if (size == 0)
    return od_fail(err, OD_BAD_INPUT, "the address '%s' is not valid; expected an address such as 127.0.0.1 or ::1",
                   s->address);
  datagrams *d = od_calloc(1, sizeof *d);
  if (!d) return od_fail(err, OD_NO_MEMORY, "out of memory");
  d->socket = socket(address.ss_family, SOCK_DGRAM, 0);
  if (d->socket >= 0 && bind(d->socket, (const struct sockaddr *)&address, size) == 0) {
    setsockopt(d->socket, SOL_SOCKET, SO_RCVBUF, &wanted, sizeof wanted);
    *self = d;
    return OD_OK;
  }
  od_fail(err, OD_IO, "cannot receive datagrams on %s, port %d: %s", s->address, s->port, strerror(errno));
  close_socket(d);
  return OD_IO;
}

static od_status run(void *self, const od_receiver *to, od_error *err) {
  datagrams *d = self;
  (void)err;
  while (to->goes_on(to->user)) {
    struct pollfd input = {.fd = d->socket, .events = POLLIN};
    const int ready = poll(&input, 1, OD_SILENCE_MS);
    if (ready == 0) to->silence(to->user);
    if (ready <= 0) continue;
    const ssize_t got = recv(d->socket, d->buffer, sizeof d->buffer, 0);
    if (got > 0) to->message(to->user, d->buffer, (size_t)got);
  }
  return OD_OK;
}

const od_source_class od_udp_source = {
    .name = "udp", .waits = false, .open = open_socket, .run = run, .close = close_socket};
