#include "sources/can_decoder.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/allocate.h"
#include "formats/can_trace.h"
#include "formats/can_transport.h"

enum { MOST_COLUMNS = 4096 };

// A signal with a column. from: source address; -1: any.
typedef struct item {
  int signal, column, from;
} item;

// The columns of a message of the databases.
typedef struct message {
  item *item;
  int count;
} message;

struct od_can_decoder {
  const od_twin_source *settings;
  od_can_trace *trace;      // databases and messages
  od_transport *transport;  // NULL: no database has messages of SAE J1939
  message *message;         // one per message of the trace
  od_table *head;
  double *cells;
  od_can_frame frame;
  od_can_message whole;  // a message of several frames
};

// --- The columns --------------------------------------------------------------------------------------------------

// The columns so far.
typedef struct columns {
  const char *name[MOST_COLUMNS], *unit[MOST_COLUMNS];
  int count;
} columns;

// Adds the column of a signal.
static od_status add_column(od_can_decoder *d, columns *to, message *m, int signal, int from, const char *name,
                            const char *unit, od_error *err) {
  if (to->count == MOST_COLUMNS)
    return od_fail(err, OD_BAD_INPUT, "%s: more than %d signals have a column; select fewer signals with 'columns'",
                   d->settings->name, MOST_COLUMNS - 1);
  item *larger = od_arena_extend(&d->trace->arena, m->item, m->count, sizeof *m->item);
  if (!larger) return od_fail(err, OD_NO_MEMORY, "out of memory");
  m->item = larger;
  m->item[m->count++] = (item){signal, to->count, from};
  to->name[to->count] = name;
  to->unit[to->count++] = unit;
  return OD_OK;
}

enum { HIGHEST_ADDRESS = 255 };  // of SAE J1939

// Returns the place of a source address in the name of a column ("17" of "EEC1@17.Speed"), and the number of its digits; NULL: the name has none.
static const char *address_in(const char *column, size_t *digits) {
  const char *at = strchr(column, '@');
  *digits = at ? strspn(at + 1, "0123456789") : 0;
  return at ? at + 1 : NULL;
}

// Returns a source address; -1: this is no address.
static int address_of(const char *text, size_t digits) {
  const long address = digits > 0 && digits <= 3 ? strtol(text, NULL, 10) : -1;
  return address <= HIGHEST_ADDRESS ? (int)address : -1;
}

// Returns whether a column of the settings is a signal of a message. *from receives the source address; -1: any.
static bool is_column(const char *column, const od_dbc_message *m, const char *signal, int *from) {
  size_t length = strlen(m->name), digits;
  *from = -1;
  if (strncmp(column, m->name, length) != 0) return false;
  if (m->is_j1939 && column[length] == '@') {
    const char *address = address_in(column, &digits);
    *from = address_of(address, digits);
    if (*from < 0) return false;
    length += 1 + digits;
  }
  return column[length] == '.' && strcmp(column + length + 1, signal) == 0;
}

static od_status take_message(od_can_decoder *d, int index, columns *to, od_error *err) {
  od_can_used *used = &d->trace->message[index];
  const od_dbc_message *m = used->m;
  const char *const *wanted = (const char *const *)d->settings->column;
  od_status status = OD_OK;
  used->form = OD_TAKE(&d->trace->arena, od_can_signal_form, m->signals);
  for (int j = 0; j < m->signals && used->form && status == OD_OK; j++) {
    if (m->signal[j].flaw) continue;
    used->form[j] = od_can_signal_form_of(m, &m->signal[j]);
    int from = -1;
    for (int i = 0; wanted && wanted[i] && status == OD_OK; i++)
      if (is_column(wanted[i], m, m->signal[j].name, &from))
        status = add_column(d, to, &d->message[index], j, from, wanted[i], m->signal[j].unit, err);
    const char *name = wanted ? NULL : od_arena_format(&d->trace->arena, "%s.%s", m->name, m->signal[j].name);
    if (name) status = add_column(d, to, &d->message[index], j, -1, name, m->signal[j].unit, err);
  }
  if (status == OD_OK && od_arena_status(&d->trace->arena) != OD_OK) return od_fail(err, OD_NO_MEMORY, "out of memory");
  return status;
}

// Fails with OD_BAD_INPUT if a column of the settings is not a readable signal of the databases, or if no signal has a column.
static od_status check_columns(const od_can_decoder *d, const columns *c, od_error *err) {
  for (int i = 0; d->settings->column && d->settings->column[i]; i++) {
    bool found = strcmp(d->settings->column[i], "time") == 0;
    for (int k = 1; k < c->count && !found; k++) found = strcmp(c->name[k], d->settings->column[i]) == 0;
    size_t digits;
    const char *address = address_in(d->settings->column[i], &digits);
    if (!found && address && address_of(address, digits) < 0)
      return od_fail(
          err, OD_BAD_INPUT,
          "%s: '%.100s' has no source address after '@'; expected a number from 0 to %d, as in EEC1@17.Speed",
          d->settings->name, d->settings->column[i], HIGHEST_ADDRESS);
    if (!found)
      return od_fail(err, OD_BAD_INPUT, "%s: the databases have no signal '%.100s'; expected Message.Signal",
                     d->settings->name, d->settings->column[i]);
  }
  return c->count > 1
             ? OD_OK
             : od_fail(err, OD_BAD_INPUT, "%s: no signal of the databases has a column; expected at least one signal",
                       d->settings->name);
}

static od_status find_columns(od_can_decoder *d, od_error *err) {
  od_arena *memory = &d->trace->arena;
  columns *c = OD_TAKE(memory, columns, 1);
  d->message = OD_TAKE(memory, message, d->trace->messages);
  if (od_arena_status(memory) != OD_OK) return od_fail(err, OD_NO_MEMORY, "out of memory");
  *c = (columns){.name = {"time"}, .unit = {"s"}, .count = 1};
  od_status status = OD_OK;
  for (int i = 0; i < d->trace->messages && status == OD_OK; i++) status = take_message(d, i, c, err);
  if (status == OD_OK) status = check_columns(d, c, err);
  if (status != OD_OK) return status;
  d->head = od_table_new(c->count);
  d->cells = OD_TAKE(memory, double, c->count);
  for (int i = 0; d->head && i < c->count; i++)
    if (od_table_label(d->head, i, c->name[i], c->unit[i]) != OD_OK) status = OD_NO_MEMORY;
  return d->head && d->cells && status == OD_OK ? OD_OK : od_fail(err, OD_NO_MEMORY, "out of memory");
}

od_status od_can_decoder_new(const od_twin_source *settings, od_can_decoder **out, od_error *err) {
  od_can_decoder *d = od_calloc(1, sizeof *d);
  *out = NULL;
  if (!d || !(d->trace = od_calloc(1, sizeof *d->trace))) {
    od_free(d);
    return od_fail(err, OD_NO_MEMORY, "out of memory");
  }
  d->settings = settings;
  d->trace->path = settings->name;
  od_status status = od_can_trace_databases(d->trace, (const char *const *)settings->database, err);
  if (status == OD_OK && d->trace->has_j1939 && !(d->transport = od_transport_new()))
    status = od_fail(err, OD_NO_MEMORY, "out of memory");
  if (status == OD_OK) status = find_columns(d, err);
  if (status == OD_OK)
    *out = d;
  else
    od_can_decoder_free(d);
  return status;
}

void od_can_decoder_free(od_can_decoder *d) {
  if (!d) return;
  od_table_free(d->head);
  od_transport_free(d->transport);
  od_can_trace_free(d->trace);
  od_free(d);
}

const od_table *od_can_decoder_head(const od_can_decoder *d) {
  return d->head;
}

// --- Frames -------------------------------------------------------------------------------------------------------

// Fills the cells from the data of a message. Returns NULL if all values are missing.
static const double *fill(od_can_decoder *d, int index, double t, uint32_t id, const uint8_t *data, int length) {
  const od_can_used *used = &d->trace->message[index];
  const message *m = &d->message[index];
  bool any = false;
  for (int c = 0; c < d->head->columns; c++) d->cells[c] = NAN;
  d->cells[0] = t;
  for (int i = 0; i < m->count; i++) {
    const item *k = &m->item[i];
    const od_dbc_signal *s = &used->m->signal[k->signal];
    const od_can_signal_form *form = &used->form[k->signal];
    if (k->from >= 0 && (uint32_t)k->from != (id & 0xff)) continue;
    if (form->end > length || !od_can_is_present(used, s, data, length)) continue;
    d->cells[k->column] = od_can_signal_value(form, od_can_signal_raw(form, data));
    any = any || !isnan(d->cells[k->column]);
  }
  return any ? d->cells : NULL;
}

const double *od_can_decode(od_can_decoder *d, double t, const struct canfd_frame *frame) {
  if (frame->can_id & (CAN_ERR_FLAG | CAN_RTR_FLAG) || frame->len > CANFD_MAX_DLEN) return NULL;
  const bool is_extended = frame->can_id & CAN_EFF_FLAG;
  const uint32_t id = frame->can_id & (is_extended ? CAN_EFF_MASK : CAN_SFF_MASK);
  const int index = od_can_trace_find(d->trace, id, is_extended);
  const bool is_packet = d->transport && is_extended && od_is_transport(id),
             is_fast = d->transport && index >= 0 && d->trace->message[index].m->is_fast;
  od_can_frame *f = &d->frame;
  bool is_whole = false;
  *f = (od_can_frame){.time = t, .id = id, .flags = is_extended ? OD_CAN_EXTENDED : 0, .length = frame->len};
  memcpy(f->data, frame->data, frame->len);
  // Without memory the message is left out, as if a packet were lost.
  if (is_packet && od_transport_take(d->transport, f, &d->whole, &is_whole) != OD_OK) return NULL;
  if (is_fast && od_transport_take_fast(d->transport, f, &d->whole, &is_whole) != OD_OK) return NULL;
  if (is_whole) {
    const int whole = od_can_trace_find(d->trace, d->whole.id, true);
    return whole >= 0 ? fill(d, whole, t, d->whole.id, d->whole.data, d->whole.length) : NULL;
  }
  return index >= 0 && !is_fast ? fill(d, index, t, id, f->data, f->length) : NULL;
}

long od_can_decoder_incomplete(od_can_decoder *d, double t) {
  return d->transport ? od_transport_incomplete(d->transport, t) : 0;
}
