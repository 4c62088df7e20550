// Transport protocol of SAE J1939-21. A message of 9 to 1785 bytes is sent in packets of 7 bytes:
//
//   TP.CM (PGN 0xec00)  byte 0: 32 BAM (to all), 16 RTS (to one), 17 CTS, 19 end of message, 255 abort
//                       BAM and RTS: bytes 1-2 size, byte 3 number of packets, bytes 5-7 PGN of the message
//   TP.DT (PGN 0xeb00)  byte 0: number of the packet from 1, bytes 1-7 data
//
// A connection is identified by bus, source and destination; CTS, end of message and possibly the abort come from the destination.
// Packets of a BAM come in order. With RTS and CTS, packets may be sent again, so any order is allowed. A message is dropped after
// 750 ms (BAM, fast packets) or 1250 ms (RTS) without a packet or CTS.
//
// Fast packets of NMEA 2000: a message of up to 223 bytes. Byte 0 of a frame has the number of the frame (low 5 bits) and of the message
// (high 3 bits). Frame 0 has the size in byte 1 and 6 bytes of data, other frames have 7 bytes.
#include "formats/can_transport.h"

#include <string.h>

#include "base/allocate.h"
#include "formats/dbc.h"
#include "formats/key_map.h"

enum {
  PACKET = 7,  // data bytes of a packet
  MOST_PACKETS = 255,
  MOST_SESSIONS = 4096,  // largest number of messages in transmission at the same time
  LONGEST_FAST = 223,
  BAM = 32,
  RTS = 16,
  CTS = 17,
  END_OF_MESSAGE = 19,
  ABORT = 255
};
static const double timeout_all = 0.75, timeout_one = 1.25;  // s

typedef struct session {
  uint64_t key;
  bool is_open;
  bool is_ordered;  // whether packets must come in order
  double last;      // time of the last packet or CTS, s
  double timeout;   // s
  uint32_t pgn;
  int size, packets;
  int received;  // number of packets received
  uint8_t has[MOST_PACKETS / 8 + 1];
  uint8_t data[MOST_PACKETS * PACKET + OD_CAN_PADDING + 1];
} session;

struct od_transport {
  session **session;  // sessions that are not open are reused
  int sessions;
  od_key_map index;
  long incomplete;
};

od_transport *od_transport_new(void) {
  OD_OWNED(od_transport_free) od_transport *t = od_calloc(1, sizeof *t);
  if (!t || !(t->session = od_calloc(MOST_SESSIONS, sizeof *t->session))) return NULL;
  return OD_GIVE(t);
}

void od_transport_free(od_transport *t) {
  if (!t) return;
  for (int i = 0; i < t->sessions; i++) od_free(t->session[i]);
  od_free(t->session);
  od_key_map_free(&t->index);
  od_free(t);
}

void od_transport_reset(od_transport *t) {
  for (int i = 0; i < t->sessions; i++) t->session[i]->is_open = false;
  t->incomplete = 0;
}

static void drop(od_transport *t, session *s) {
  if (s->is_open) t->incomplete++;
  s->is_open = false;
}

// Removes the sessions that are not open or have ended by a timeout. If at least MOST_SESSIONS / 2 are still open, removes all.
static void remove_sessions(od_transport *t, double now) {
  int kept = 0;
  for (int i = 0; i < t->sessions; i++)
    if (t->session[i]->is_open && now - t->session[i]->last > t->session[i]->timeout) drop(t, t->session[i]);
  for (int i = 0; i < t->sessions; i++) kept += t->session[i]->is_open;
  bool keeps = kept < MOST_SESSIONS / 2;
  kept = 0;
  od_key_map_free(&t->index);
  for (int i = 0; i < t->sessions; i++) {
    session *s = t->session[i];
    if (!keeps) drop(t, s);
    if (s->is_open && od_key_map_add(&t->index, s->key, kept)) {
      t->session[kept++] = s;
    } else {
      drop(t, s);
      od_free(s);
    }
  }
  t->sessions = kept;
}

// Returns the open session with a key; NULL: none. Ends the session if its last packet or CTS is older than the timeout.
static session *find(od_transport *t, uint64_t key, double now) {
  int i = od_key_map_find(&t->index, key);
  session *s = i >= 0 ? t->session[i] : NULL;
  if (!s || !s->is_open) return NULL;
  if (now - s->last <= s->timeout) return s;
  drop(t, s);
  return NULL;
}

// Begins a message. Drops a message with the same key. Returns NULL if an allocation fails.
static session *begin(od_transport *t, uint64_t key, double now) {
  int i = od_key_map_find(&t->index, key);
  if (i < 0 && t->sessions == MOST_SESSIONS) remove_sessions(t, now);
  if (i < 0) {
    session *s = od_malloc(sizeof *s);
    if (!s || !od_key_map_add(&t->index, key, t->sessions)) {
      od_free(s);
      return NULL;
    }
    s->is_open = false;
    i = t->sessions++;
    t->session[i] = s;
  }
  session *s = t->session[i];
  drop(t, s);
  memset(s, 0, sizeof *s);
  s->key = key;
  s->is_open = true;
  s->last = now;
  return s;
}

static void give(session *s, const od_can_frame *f, uint32_t id, od_can_message *out) {
  s->is_open = false;
  *out = (od_can_message){.time = f->time, .id = id, .bus = f->bus, .length = s->size, .data = s->data};
}

// --- J1939 ------------------------------------------------------------------------------------------------------------

static uint64_t connection(int bus, uint32_t from, uint32_t to) {
  return (uint64_t)bus << 16 | from << 8 | to;
}

static uint32_t group_in(const uint8_t *b) {
  return ((uint32_t)b[0] | (uint32_t)b[1] << 8 | (uint32_t)b[2] << 16) & 0x3ffff;
}

static od_status announce(od_transport *t, const od_can_frame *f, uint32_t from, uint32_t to) {
  bool is_to_all = f->data[0] == BAM;
  int size = f->data[1] | f->data[2] << 8, packets = f->data[3];
  if (size < 1 || size > OD_DBC_LONGEST || packets != (size + PACKET - 1) / PACKET) {
    t->incomplete++;
    return OD_OK;
  }
  session *s = begin(t, connection(f->bus, from, to), f->time);
  if (!s) return OD_NO_MEMORY;
  s->is_ordered = is_to_all;
  s->timeout = is_to_all ? timeout_all : timeout_one;
  s->pgn = group_in(f->data + 5);
  s->size = size;
  s->packets = packets;
  return OD_OK;
}

static od_status take_control(od_transport *t, const od_can_frame *f, uint32_t from, uint32_t to) {
  session *s;
  switch (f->data[0]) {
    case BAM:
    case RTS: return announce(t, f, from, to);
    case CTS:
      if ((s = find(t, connection(f->bus, to, from), f->time))) s->last = f->time;
      break;
    case END_OF_MESSAGE:
      if ((s = find(t, connection(f->bus, to, from), f->time))) drop(t, s);
      break;
    case ABORT:
      if ((s = find(t, connection(f->bus, to, from), f->time)) && s->pgn == group_in(f->data + 5)) drop(t, s);
      if ((s = find(t, connection(f->bus, from, to), f->time)) && s->pgn == group_in(f->data + 5)) drop(t, s);
      break;
    default: break;
  }
  return OD_OK;
}

static void take_packet(od_transport *t, const od_can_frame *f, uint32_t from, uint32_t to, od_can_message *out,
                        bool *complete) {
  session *s = find(t, connection(f->bus, from, to), f->time);
  int number = f->data[0], last;
  if (!s) return;
  last = s->size - (s->packets - 1) * PACKET;  // data bytes of the last packet
  if (number >= 1 && number <= s->packets && s->has[number / 8] >> number % 8 & 1) return;  // sent again
  int needed = number == s->packets ? last : PACKET;
  if (number < 1 || number > s->packets || (s->is_ordered && number != s->received + 1) || f->length < 1 + needed) {
    drop(t, s);
    return;
  }
  memcpy(s->data + (number - 1) * PACKET, f->data + 1, (size_t)needed);
  s->has[number / 8] |= (uint8_t)(1 << number % 8);
  s->last = f->time;
  *complete = ++s->received == s->packets;
  if (!*complete) return;
  bool has_destination = (s->pgn >> 8 & 0xff) < 240;
  uint32_t group = has_destination ? (s->pgn & ~(uint32_t)0xff) | to : s->pgn;
  give(s, f, 6u << 26 | group << 8 | from, out);
}

od_status od_transport_take(od_transport *t, const od_can_frame *frame, od_can_message *out, bool *complete) {
  uint32_t from = frame->id & 0xff, to = frame->id >> 8 & 0xff;
  *complete = false;
  if ((frame->id >> 16 & 0xff) == 0xec) return frame->length == 8 ? take_control(t, frame, from, to) : OD_OK;
  take_packet(t, frame, from, to, out, complete);
  return OD_OK;
}

// --- NMEA 2000 -----------------------------------------------------------------------------------------------------------

od_status od_transport_take_fast(od_transport *t, const od_can_frame *frame, od_can_message *out, bool *complete) {
  int message = frame->data[0] >> 5, number = frame->data[0] & 31;
  uint64_t key =
      UINT64_C(1) << 63 | (uint64_t)frame->bus << 32 | (uint64_t)(frame->id & 0x3ffffff) << 3 | (uint64_t)message;
  *complete = false;
  if (frame->length < 2) return OD_OK;
  session *s = number > 0 ? find(t, key, frame->time) : NULL;
  if (number > 0 && (!s || number == s->received - 1))
    return OD_OK;  // the first frame is missing, or the frame is
                   // repeated
  if (number == 0) {
    int size = frame->data[1];
    if (size < 1 || size > LONGEST_FAST) {
      t->incomplete++;
      return OD_OK;
    }
    s = begin(t, key, frame->time);
    if (!s) return OD_NO_MEMORY;
    s->timeout = timeout_all;
    s->size = size;
  }
  int head = number > 0 ? 1 : 2, at = number > 0 ? 6 + (number - 1) * PACKET : 0;
  int left = s->size - at, needed = left < 8 - head ? left : 8 - head;
  if (number != s->received || frame->length < head + needed) {
    drop(t, s);
    return OD_OK;
  }
  memcpy(s->data + at, frame->data + head, (size_t)needed);
  s->received++;
  s->last = frame->time;
  *complete = needed == left;
  if (*complete) give(s, frame, frame->id, out);
  return OD_OK;
}

long od_transport_incomplete(od_transport *t, double time) {
  for (int i = 0; i < t->sessions; i++)
    if (t->session[i]->is_open && time - t->session[i]->last > t->session[i]->timeout) drop(t, t->session[i]);
  return t->incomplete;
}
