// Modbus/TCP: all registers are read every period. Each read of all registers is a sample, unless the server gives no number. The time of the sample
// is the middle between the begin and the end of the read, by the clock of this computer. Registers with adjacent addresses are read with one
// request.
#include "sources/source.h"

#ifdef OD_HAVE_MODBUS
#include <errno.h>
#include <math.h>
#include <modbus/modbus.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/allocate.h"
#include "io/clock.h"
#include "io/wording.h"

enum { SHORTEST_PAUSE_MS = 100, LONGEST_PAUSE_MS = 2000 };

// Registers that are read with one request: item[begin] to item[end - 1].
typedef struct block {
  od_register_kind kind;
  int first, count, begin, end;
  long exceptions;  // number of exceptions since the last successful read
} block;

// A register and its column.
typedef struct item {
  const od_twin_register *of;
  int column;
} item;

typedef struct poller {
  const od_twin_source *settings;
  od_arena memory;
  modbus_t *client;
  bool is_connected, is_lost;  // is_lost: whether the loss of the connection has been reported
  od_table *head;
  double *cells;
  item *item;
  block *block;
  int blocks;
  int pause;  // pause before the next attempt to connect, ms
} poller;

// --- Registers ----------------------------------------------------------------------------------------------------

static int compare_items(const void *a, const void *b) {
  const od_twin_register *x = ((const item *)a)->of, *y = ((const item *)b)->of;
  return x->kind != y->kind ? (int)x->kind - (int)y->kind : x->address - y->address;
}

// Joins registers with adjacent or common addresses, up to the largest size of an answer. The items are sorted.
static void join_registers(poller *p) {
  for (int i = 0; i < p->settings->registers; i++) {
    const od_twin_register *r = p->item[i].of;
    const int most = od_register_is_bit(r->kind) ? MODBUS_MAX_READ_BITS : MODBUS_MAX_READ_REGISTERS;
    block *b = p->blocks > 0 ? &p->block[p->blocks - 1] : NULL;
    const int end = r->address + r->size;
    if (!b || b->kind != r->kind || r->address > b->first + b->count || end - b->first > most) {
      b = &p->block[p->blocks++];
      *b = (block){.kind = r->kind, .first = r->address, .begin = i};
    }
    if (end > b->first + b->count) b->count = end - b->first;
    b->end = i + 1;
  }
}

static od_status make_columns(poller *p, od_error *err) {
  const od_twin_source *s = p->settings;
  p->head = od_table_new(s->registers + 1);
  p->cells = OD_TAKE(&p->memory, double, s->registers + 1);
  p->item = OD_TAKE(&p->memory, item, s->registers);
  p->block = OD_TAKE(&p->memory, block, s->registers);
  bool ok = p->head && od_arena_status(&p->memory) == OD_OK && od_table_label(p->head, 0, "time", "s") == OD_OK;
  for (int i = 0; ok && i < s->registers; i++) {
    const od_twin_register *r = &s->reg[i];
    p->item[i] = (item){r, i + 1};
    ok = od_table_label(p->head, i + 1, r->name, r->unit ? r->unit : "") == OD_OK;
  }
  if (!ok) return od_fail(err, OD_NO_MEMORY, "out of memory");
  qsort(p->item, (size_t)s->registers, sizeof *p->item, compare_items);
  join_registers(p);
  return OD_OK;
}

static double number_in(const od_twin_register *r, const uint16_t *words) {
  uint64_t bits = 0;
  for (int i = 0; i < r->size; i++) bits = bits << 16 | words[r->is_little ? r->size - 1 - i : i];
  const uint32_t low = (uint32_t)bits;
  float single;
  double value;
  switch (r->type) {
    case OD_REGISTER_INT16: return (int16_t)(uint16_t)bits;
    case OD_REGISTER_INT32: return (int32_t)low;
    case OD_REGISTER_INT64: return (double)(int64_t)bits;
    case OD_REGISTER_FLOAT32: memcpy(&single, &low, sizeof single); return single;
    case OD_REGISTER_FLOAT64: memcpy(&value, &bits, sizeof value); return value;
    default: return (double)bits;
  }
}

// --- Requests -----------------------------------------------------------------------------------------------------

static void report_exceptions(const block *b, const od_receiver *to, const char *why) {
  static const char *const names[] = {"holding registers", "input registers", "coils", "discrete inputs"};
  char text[300];
  snprintf(text, sizeof text, "%s %d to %d: %s", names[b->kind], b->first, b->first + b->count - 1, why);
  to->event(to->user, "exception", text);
}

// Reports the number of exceptions of a block, if there are any, and sets the number to 0. what: the event that ends them, such as "read again".
static void end_exceptions(block *b, const od_receiver *to, const char *what) {
  char text[200];
  if (b->exceptions == 0) return;
  snprintf(text, sizeof text, "%s after %s", what, od_count(b->exceptions, "exception").text);
  report_exceptions(b, to, text);
  b->exceptions = 0;
}

// Reads the registers of a block into the cells. Returns false if there is no valid answer: errno has the reason. After an exception of the server
// the cells remain missing. *any is set to true if the registers were read.
static bool read_block(poller *p, block *b, const od_receiver *to, bool *any) {
  uint16_t words[MODBUS_MAX_READ_REGISTERS];
  uint8_t bits[MODBUS_MAX_READ_BITS];
  int got = -1;
  switch (b->kind) {
    case OD_REGISTER_HOLDING: got = modbus_read_registers(p->client, b->first, b->count, words); break;
    case OD_REGISTER_INPUT: got = modbus_read_input_registers(p->client, b->first, b->count, words); break;
    case OD_REGISTER_COIL: got = modbus_read_bits(p->client, b->first, b->count, bits); break;
    case OD_REGISTER_DISCRETE: got = modbus_read_input_bits(p->client, b->first, b->count, bits); break;
  }
  if (got != b->count) {
    const bool is_exception = got < 0 && errno > MODBUS_ENOBASE && errno <= EMBXGTAR;
    if (is_exception && b->exceptions++ == 0) report_exceptions(b, to, modbus_strerror(errno));
    return is_exception;
  }
  end_exceptions(b, to, "read again");
  *any = true;
  for (int i = b->begin; i < b->end; i++) {
    const od_twin_register *r = p->item[i].of;
    const int at = r->address - b->first;
    p->cells[p->item[i].column] =
        r->scale * (od_register_is_bit(b->kind) ? bits[at] : number_in(r, words + at)) + r->offset;
  }
  return true;
}

static void lose(poller *p, const od_receiver *to) {
  char why[400];
  snprintf(why, sizeof why, "no connection to the Modbus server %.100s, port %d: %s; the twin tries again",
           p->settings->host, p->settings->port, modbus_strerror(errno));
  if (!p->is_lost) to->refuse(to->user, why);
  modbus_close(p->client);
  p->is_lost = true;
  p->is_connected = false;
}

// Reads all registers and passes them on as a sample, unless the server gives no number. Returns false if the connection is lost.
static bool read_all(poller *p, const od_receiver *to, int64_t number) {
  const double begin = od_clock_now();
  bool any = false;
  for (int c = 0; c < p->head->columns; c++) p->cells[c] = NAN;
  for (int i = 0; i < p->blocks; i++)
    if (!read_block(p, &p->block[i], to, &any)) {
      lose(p, to);
      return false;
    }
  p->cells[0] = begin + (od_clock_now() - begin) / 2;
  p->pause = SHORTEST_PAUSE_MS;
  p->is_lost = false;
  if (!any) return true;
  to->cells(to->user, p->head, p->cells, false);
  to->number(to->user, number);
  return true;
}

// Waits until a time of od_seconds(), or until the source is to end.
static void wait_until(double time, const od_receiver *to) {
  for (double left; (left = time - od_seconds()) > 0 && to->goes_on(to->user);) {
    const double longest = 1e-3 * OD_SILENCE_MS, pause = left < longest ? left : longest;
    nanosleep(&(struct timespec){.tv_nsec = (long)(1e9 * pause)}, NULL);
    if (left > longest) to->silence(to->user);
  }
}

static void connect_again(poller *p, const od_receiver *to) {
  p->is_connected = modbus_connect(p->client) == 0;
  if (p->is_connected) return;
  lose(p, to);
  od_source_pause(p->pause, to);
  if (2 * p->pause <= LONGEST_PAUSE_MS) p->pause *= 2;
}

// --- The source ---------------------------------------------------------------------------------------------------

static void close_poller(void *self) {
  poller *p = self;
  if (p->client) {
    modbus_close(p->client);
    modbus_free(p->client);
  }
  od_table_free(p->head);
  od_arena_free(&p->memory);
  od_free(p);
}

static od_status open_client(poller *p, od_error *err) {
  const od_twin_source *s = p->settings;
  char port[16];
  snprintf(port, sizeof port, "%d", s->port);
  p->client = modbus_new_tcp_pi(s->host, port);
  if (!p->client) return od_fail(err, OD_NO_MEMORY, "%s: %s", s->name, modbus_strerror(errno));
  if (modbus_set_slave(p->client, s->unit_id) != 0)
    return od_fail(err, OD_BAD_INPUT, "%s: 'unit_id' is %d; expected 0 to 247, or 255", s->name, s->unit_id);
  const uint32_t whole = (uint32_t)s->timeout, micro = (uint32_t)(1e6 * (s->timeout - whole));
  modbus_set_response_timeout(p->client, whole, micro);
  modbus_set_byte_timeout(p->client, whole, micro);
  return OD_OK;
}

static od_status open_server(const od_twin_source *settings, void **self, od_error *err) {
  poller *p = od_calloc(1, sizeof *p);
  *self = NULL;
  if (!p) return od_fail(err, OD_NO_MEMORY, "out of memory");
  p->settings = settings;
  p->pause = SHORTEST_PAUSE_MS;
  od_status status = make_columns(p, err);
  if (status == OD_OK) status = open_client(p, err);
  if (status == OD_OK)
    *self = p;
  else
    close_poller(p);
  return status;
}

static od_status run(void *self, const od_receiver *to, od_error *err) {
  poller *p = self;
  const double begin = od_seconds(), every = p->settings->every;
  (void)err;
  for (int64_t number = 0; to->goes_on(to->user);) {
    if (!p->is_connected) {
      connect_again(p, to);
      if (!p->is_connected) continue;
    }
    // Skip the reads whose time has passed.
    const int64_t due = (int64_t)ceil((od_seconds() - begin) / every);
    if (due > number) number = due;
    wait_until(begin + (double)number * every, to);
    if (to->goes_on(to->user)) read_all(p, to, number++);
  }
  for (int i = 0; i < p->blocks; i++) end_exceptions(&p->block[i], to, "the source ends");
  return OD_OK;
}

const od_source_class od_modbus_source = {
    .name = "modbus", .gives_cells = true, .open = open_server, .run = run, .close = close_poller};

#else

static od_status refuse(const od_twin_source *settings, void **self, od_error *err) {
  *self = NULL;
  return od_source_lacks(settings, "Modbus", "libmodbus-dev", err);
}

const od_source_class od_modbus_source = {.name = "modbus", .gives_cells = true, .open = refuse};
#endif
