// SocketCAN: each frame with a message of the databases (DBC files) is a sample that has the signals of this message. The kernel
// gives the time, in seconds since 1970. Transport protocols, which join several frames, are not supported.
#define _GNU_SOURCE

#include "sources/can_source.h"

#include <errno.h>
#include <linux/can/raw.h>
#include <math.h>
#include <net/if.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "base/allocate.h"
#include "formats/can_signal.h"
#include "formats/dbc.h"

enum { MOST_COLUMNS = 4096, RECEIVE_BUFFER = 4 << 20 };

// A signal of a message that has a column.
typedef struct signal {
  od_can_signal_form form;
  const od_dbc_signal *of;
  od_can_signal_form by;  // the switch of a multiplexed signal
  int column;
} signal;

typedef struct message {
  const od_dbc_message *of;
  uint32_t key;  // identifier, or PGN with the highest bit
  signal *item;
  int count;
} message;

struct od_can_decoder {
  od_arena memory;
  const od_twin_source *settings;
  od_dbc **dbc;
  int databases;
  message *message;
  int messages;
  od_table *head;
  double *cells;
  uint8_t data[OD_DBC_LONGEST + OD_CAN_SIGNAL_READAHEAD];
};

// --- The columns --------------------------------------------------------------------------------------------------

// Identifiers of both lengths and PGN do not collide: bit 31 marks a PGN, bit 30 an identifier of 29 bits.
static uint32_t key_of(const od_dbc_message *m) {
  if (m->is_j1939) return od_j1939_pgn(m->id) | 1u << 31;
  return m->id | (m->is_extended ? 1u << 30 : 0);
}

static int compare_keys(const void *a, const void *b) {
  const uint32_t x = ((const message *)a)->key, y = ((const message *)b)->key;
  return (x > y) - (x < y);
}

// Returns whether the settings select a column. Without a list all columns are selected.
static bool is_wanted(const od_twin_source *s, const char *name) {
  for (int i = 0; s->column && s->column[i]; i++)
    if (strcmp(s->column[i], name) == 0) return true;
  return !s->column;
}

// Collects the signals of a message. names, units: lists of the columns so far. Fails with OD_BAD_INPUT or OD_NO_MEMORY.
static od_status take_message(od_can_decoder *d, const od_dbc_message *m, const char **names, const char **units,
                              int *columns, od_error *err) {
  message *to = &d->message[d->messages];
  *to = (message){.of = m, .key = key_of(m), .item = OD_TAKE(&d->memory, signal, m->signals)};
  for (int i = 0; i < m->signals && to->item; i++) {
    const od_dbc_signal *s = &m->signal[i];
    const char *name = od_arena_format(&d->memory, "%s.%s", m->name, s->name);
    if (s->flaw || !name || !is_wanted(d->settings, name) || m->length > OD_DBC_LONGEST) continue;
    if (*columns == MOST_COLUMNS)
      return od_fail(err, OD_BAD_INPUT, "%s: the databases have more than %d signals; select signals with 'columns'",
                     d->settings->name, MOST_COLUMNS - 1);
    to->item[to->count] = (signal){.form = od_can_signal_form_of(m, s), .of = s, .column = *columns};
    if (s->by >= 0) to->item[to->count].by = od_can_signal_form_of(m, &m->signal[s->by]);
    to->count++;
    names[*columns] = name;
    units[(*columns)++] = s->unit;
  }
  d->messages += to->count > 0;
  return od_arena_status(&d->memory) == OD_OK ? OD_OK : od_fail(err, OD_NO_MEMORY, "out of memory");
}

// Reports columns of the settings that no database has. Fails with OD_BAD_INPUT.
static od_status check_columns(const od_can_decoder *d, const char *const *names, int columns, od_error *err) {
  for (int i = 0; d->settings->column && d->settings->column[i]; i++) {
    bool found = strcmp(d->settings->column[i], "time") == 0;
    for (int c = 1; c < columns; c++) found = found || strcmp(names[c], d->settings->column[i]) == 0;
    if (!found)
      return od_fail(err, OD_BAD_INPUT, "%s: the databases have no signal '%.100s'; expected Message.Signal",
                     d->settings->name, d->settings->column[i]);
  }
  return columns > 1 ? OD_OK : od_fail(err, OD_BAD_INPUT, "%s: the databases have no signal", d->settings->name);
}

static od_status find_columns(od_can_decoder *d, od_error *err) {
  const char **names = OD_TAKE(&d->memory, const char *, MOST_COLUMNS),
             **units = OD_TAKE(&d->memory, const char *, MOST_COLUMNS);
  int total = 0, columns = 1;
  for (int i = 0; i < d->databases; i++) total += d->dbc[i]->messages;
  d->message = OD_TAKE(&d->memory, message, total);
  if (od_arena_status(&d->memory) != OD_OK) return od_fail(err, OD_NO_MEMORY, "out of memory");
  names[0] = "time", units[0] = "s";
  od_status status = OD_OK;
  for (int i = 0; i < d->databases; i++)
    for (int k = 0; k < d->dbc[i]->messages && status == OD_OK; k++)
      status = take_message(d, &d->dbc[i]->message[k], names, units, &columns, err);
  if (status == OD_OK) status = check_columns(d, names, columns, err);
  if (status != OD_OK) return status;
  if (d->messages > 1) qsort(d->message, (size_t)d->messages, sizeof *d->message, compare_keys);
  d->head = od_table_new(columns);
  d->cells = OD_TAKE(&d->memory, double, columns);
  for (int c = 0; d->head && c < columns; c++)
    if (od_table_label(d->head, c, names[c], units[c]) != OD_OK) status = OD_NO_MEMORY;
  return d->head && d->cells && status == OD_OK ? OD_OK : od_fail(err, OD_NO_MEMORY, "out of memory");
}

od_status od_can_decoder_new(const od_twin_source *settings, od_can_decoder **out, od_error *err) {
  od_can_decoder *d = od_calloc(1, sizeof *d);
  *out = NULL;
  if (!d) return od_fail(err, OD_NO_MEMORY, "out of memory");
  d->settings = settings;
  int count = 0;
  while (settings->database && settings->database[count]) count++;
  d->dbc = OD_TAKE(&d->memory, od_dbc *, count);
  od_status status = d->dbc ? OD_OK : od_fail(err, OD_NO_MEMORY, "out of memory");
  for (; d->databases < count && status == OD_OK; d->databases += status == OD_OK)
    status = od_dbc_read(settings->database[d->databases], &d->dbc[d->databases], err);
  if (status == OD_OK) status = find_columns(d, err);
  if (status == OD_OK)
    *out = d;
  else
    od_can_decoder_free(d);
  return status;
}

void od_can_decoder_free(od_can_decoder *d) {
  if (!d) return;
  for (int i = 0; i < d->databases; i++) od_dbc_free(d->dbc[i]);
  od_table_free(d->head);
  od_arena_free(&d->memory);
  od_free(d);
}

const od_table *od_can_decoder_head(const od_can_decoder *d) {
  return d->head;
}

// --- Frames -------------------------------------------------------------------------------------------------------

static const message *find_message(const od_can_decoder *d, uint32_t key) {
  const message wanted = {.key = key};
  return d->messages > 0 ? bsearch(&wanted, d->message, (size_t)d->messages, sizeof *d->message, compare_keys) : NULL;
}

// Returns whether a signal is in a frame: the message has all bytes of the signal, and its switch has one of the values.
static bool is_present(const signal *s, const uint8_t *data, int length) {
  if (s->form.end > length) return false;
  if (s->of->by < 0) return true;
  if (s->by.end > length) return false;
  const uint64_t raw = od_can_signal_raw(&s->by, data);
  for (int i = 0; i < s->of->ranges; i++)
    if (raw >= s->of->range[i].from && raw <= s->of->range[i].to) return true;
  return false;
}

const double *od_can_decode(od_can_decoder *d, double t, const struct canfd_frame *frame) {
  if (frame->can_id & (CAN_ERR_FLAG | CAN_RTR_FLAG) || frame->len > CANFD_MAX_DLEN) return NULL;
  const bool is_extended = frame->can_id & CAN_EFF_FLAG;
  const uint32_t id = frame->can_id & (is_extended ? CAN_EFF_MASK : CAN_SFF_MASK);
  const message *m = find_message(d, id | (is_extended ? 1u << 30 : 0));
  if (!m && is_extended) m = find_message(d, od_j1939_pgn(id) | 1u << 31);
  if (!m) return NULL;
  bool any = false;
  for (int c = 0; c < d->head->columns; c++) d->cells[c] = NAN;
  memset(d->data, 0, CANFD_MAX_DLEN + OD_CAN_SIGNAL_READAHEAD);
  memcpy(d->data, frame->data, frame->len);
  d->cells[0] = t;
  for (int i = 0; i < m->count; i++) {
    const signal *s = &m->item[i];
    if (!is_present(s, d->data, frame->len)) continue;
    d->cells[s->column] = od_can_signal_value(&s->form, od_can_signal_raw(&s->form, d->data));
    any = any || !isnan(d->cells[s->column]);
  }
  return any ? d->cells : NULL;
}

// Returns the time of a received frame in seconds since 1970: the time of the kernel, else the current time.
static double time_of(struct msghdr *header) {
  struct timespec t;
  clock_gettime(CLOCK_REALTIME, &t);
  for (struct cmsghdr *c = CMSG_FIRSTHDR(header); c; c = CMSG_NXTHDR(header, c))
    if (c->cmsg_level == SOL_SOCKET && c->cmsg_type == SO_TIMESTAMPNS) memcpy(&t, CMSG_DATA(c), sizeof t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

od_status od_can_receive(od_can_decoder *d, int socket, const od_receiver *to, od_error *err) {
  while (to->goes_on(to->user)) {
    struct pollfd input = {.fd = socket, .events = POLLIN};
    const int ready = poll(&input, 1, OD_SILENCE_MS);
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
    if (got == 0) return OD_OK;  // the other end of a socket pair has been closed
    if (got != (ssize_t)CAN_MTU && got != (ssize_t)CANFD_MTU) continue;
    const double *cells = od_can_decode(d, time_of(&header), &frame);
    if (cells) to->cells(to->user, d->head, cells);
  }
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
