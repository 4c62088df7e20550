// Samples from the frames of a CAN bus, with the databases and the transport protocols of CAN traces (formats/can_trace.h).
#ifndef OD_SOURCES_CAN_DECODER_H
#define OD_SOURCES_CAN_DECODER_H

#include <linux/can.h>

#include "sources/source.h"

typedef struct od_can_decoder od_can_decoder;

// Reads the databases and finds the columns: the time, then "Message.Signal" for the signals of the settings' columns, or for all signals.
// "Message@17.Signal" of the settings is a signal of SAE J1939 from the source address 17. The settings must exist as long as the decoder;
// od_can_decoder_free() frees the decoder. Fails with OD_BAD_INPUT, OD_IO or OD_NO_MEMORY.
od_status od_can_decoder_new(const od_twin_source *settings, od_can_decoder **out, od_error *err);
void od_can_decoder_free(od_can_decoder *d);
const od_table *od_can_decoder_head(const od_can_decoder *d);
// Decodes a frame that arrived at time t (s); times ascend. Returns the cells, valid until the next call; NAN: the message has no value of this
// column. Returns NULL if the frame gives no value of any column, for example because it is not the last frame of a message of several frames, and if
// an allocation fails.
const double *od_can_decode(od_can_decoder *d, double t, const struct canfd_frame *frame);
// Returns the number of messages of several frames that were not completed up to time t (s) because of lost packets, timeouts or aborts.
long od_can_decoder_incomplete(od_can_decoder *d, double t);
// Receives frames from a socket until the receiver stops or the other end of a socket pair is closed. Each frame is a datagram of a can_frame or
// canfd_frame; other datagrams are skipped. Fails with OD_IO.
od_status od_can_receive(od_can_decoder *d, int socket, const od_receiver *to, od_error *err);

#endif
