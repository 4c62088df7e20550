// SocketCAN: each frame or message of several frames with signals of the databases (DBC files) is a sample. The time of a sample is the time at which
// the kernel received the frame, in seconds since 1970.
#define _GNU_SOURCE

#include <errno.h>
#include <linux/can/raw.h>
#include <net/if.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "base/allocate.h"
#include "io/clock.h"
#include "io/wording.h"
#include "sources/can_decoder.h"

enum { RECEIVE_BUFFER = 4 << 20 };
static const double report_pause = 1;  // s

// --- Frames -------------------------------------------------------------------------------------------------------

// Returns the time of a received frame, s since 1970: the time of the kernel, or the present time if the kernel gives none.
static double time_of(struct msghdr *header) {
  for (struct cmsghdr *c = CMSG_FIRSTHDR(header); c; c = CMSG_NXTHDR(header, c)) {
    struct timespec t;
    if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SO_TIMESTAMPNS) continue;
    memcpy(&t, CMSG_DATA(c), sizeof t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
  }
  return od_clock_now();
}

// Reports messages of several frames that were not completed since the last report. *reported: number of reported messages.
static void report_incomplete(od_can_decoder *d, const od_receiver *to, long *reported) {
  char text[200];
  const long number = od_can_decoder_incomplete(d, od_clock_now());
  if (number <= *reported) return;
  snprintf(text, sizeof text, "%s of several frames %s incomplete: frames are lost, late or aborted",
           od_count(number - *reported, "message").text, od_form(number - *reported, "is", "are"));
  to->event(to->user, "incomplete", text);
  *reported = number;
}

od_status od_can_receive(od_can_decoder *d, int socket, const od_receiver *to, od_error *err) {
  long incomplete = 0;
  double reported = 0;  // time of the last report, s
  while (to->goes_on(to->user)) {
    struct pollfd input = {.fd = socket, .events = POLLIN};
    const int ready = poll(&input, 1, OD_SILENCE_MS);
    if (od_seconds() >= reported + report_pause) {
      report_incomplete(d, to, &incomplete);
      reported = od_seconds();
    }
    if (ready == 0) to->silence(to->user);
    if (ready <= 0) continue;
    struct canfd_frame frame = {0};
    char control[256];
    struct iovec part = {&frame, sizeof frame};
    struct msghdr header = {
        .msg_iov = &part, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof control};
    const ssize_t got = recvmsg(socket, &header, 0);
    if (got < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (got < 0) return od_fail(err, OD_IO, "frames cannot be received: %s", strerror(errno));
    if (got == 0) break;  // the other end of a socket pair has been closed
    if (got != (ssize_t)CAN_MTU && got != (ssize_t)CANFD_MTU) continue;
    const double *cells = od_can_decode(d, time_of(&header), &frame);
    if (cells) to->cells(to->user, od_can_decoder_head(d), cells, false);
  }
  report_incomplete(d, to, &incomplete);
  return OD_OK;
}

// --- The source ---------------------------------------------------------------------------------------------------

typedef struct bus {
  od_can_decoder *decoder;
  int socket;
} bus;

static void close_bus(void *self) {
  bus *b = self;
  if (b->socket >= 0) close(b->socket);
  od_can_decoder_free(b->decoder);
  od_free(b);
}

// Opens a raw socket of an interface, with the times of the kernel, and with CAN FD if the kernel supports it. Fails with OD_IO.
static od_status open_interface(bus *b, const char *name, od_error *err) {
  const int on = 1, buffer = RECEIVE_BUFFER;
  struct ifreq request = {0};
  snprintf(request.ifr_name, sizeof request.ifr_name, "%s", name);
  b->socket = socket(PF_CAN, SOCK_RAW | SOCK_CLOEXEC, CAN_RAW);
  if (b->socket < 0 || ioctl(b->socket, SIOCGIFINDEX, &request) != 0)
    return od_fail(err, OD_IO, "cannot open the CAN interface '%s': %s", name, strerror(errno));
  struct sockaddr_can address = {.can_family = AF_CAN, .can_ifindex = request.ifr_ifindex};
  setsockopt(b->socket, SOL_CAN_RAW, CAN_RAW_FD_FRAMES, &on, sizeof on);
  setsockopt(b->socket, SOL_SOCKET, SO_TIMESTAMPNS, &on, sizeof on);
  setsockopt(b->socket, SOL_SOCKET, SO_RCVBUF, &buffer, sizeof buffer);
  if (bind(b->socket, (const struct sockaddr *)&address, sizeof address) == 0) return OD_OK;
  return od_fail(err, OD_IO, "cannot open the CAN interface '%s': %s", name, strerror(errno));
}

static od_status open_bus(const od_twin_source *settings, void **self, od_error *err) {
  bus *b = od_calloc(1, sizeof *b);
  *self = NULL;
  if (!b) return od_fail(err, OD_NO_MEMORY, "out of memory");
  b->socket = -1;
  od_status status = od_can_decoder_new(settings, &b->decoder, err);
  if (status == OD_OK) status = open_interface(b, settings->interface, err);
  if (status == OD_OK)
    *self = b;
  else
    close_bus(b);
  return status;
}

static od_status run(void *self, const od_receiver *to, od_error *err) {
  const bus *b = self;
  return od_can_receive(b->decoder, b->socket, to, err);
}

const od_source_class od_can_source_class = {
    .name = "can", .gives_cells = true, .open = open_bus, .run = run, .close = close_bus};
