// Messages longer than one frame: the transport protocol of SAE J1939-21 and the fast packets of NMEA 2000.
#ifndef OD_FORMATS_CAN_TRANSPORT_H
#define OD_FORMATS_CAN_TRANSPORT_H

#include "formats/can_frames.h"
#include "memory/scoped.h"

// A message that is assembled from packets. The time of the message is the time of its last packet.
typedef struct od_can_message {
  double time;
  uint32_t id;  // 29 bits: PGN, destination (PDU1) and source address of the message
  uint16_t bus;
  int length;
  const uint8_t *data;  // valid until the next call; OD_CAN_PADDING more bytes are readable
} od_can_message;

typedef struct od_transport od_transport;

// Creates an assembler of messages. Returns NULL if an allocation fails.
od_transport *od_transport_new(void);
void od_transport_free(od_transport *t);
OD_OWNED_POINTER(od_transport, od_transport_free);
// Removes all packets and sets all counts to zero.
void od_transport_reset(od_transport *t);

// Returns whether frames with a 29-bit identifier are packets of the transport protocol of J1939.
static inline bool od_is_transport(uint32_t id) {
  uint32_t format = id >> 16 & 0x3ff;  // PDU format, with the data page bits
  return format == 0xec || format == 0xeb;
}

// Adds a packet of the transport protocol, or a packet of a fast message. The times of the packets must ascend.
// *complete: whether the packet completes the message `out`. Fails with OD_NO_MEMORY.
od_status od_transport_take(od_transport *t, const od_can_frame *frame, od_can_message *out, bool *complete);
od_status od_transport_take_fast(od_transport *t, const od_can_frame *frame, od_can_message *out, bool *complete);

// Returns the number of messages that were not completed up to a time because of lost packets, timeouts or aborts.
long od_transport_incomplete(od_transport *t, double time);

#endif
