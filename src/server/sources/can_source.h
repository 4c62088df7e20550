// The decoder of the CAN source, for frames from any socket.
#ifndef OD_SOURCES_CAN_SOURCE_H
#define OD_SOURCES_CAN_SOURCE_H

#include <linux/can.h>

#include "sources/source.h"

typedef struct od_can_decoder od_can_decoder;

// Reads the databases and finds the columns: the time, then "Message.Signal" for the signals of the settings' columns, or for all signals. Fails with
// OD_BAD_INPUT, OD_IO or OD_NO_MEMORY.
od_status od_can_decoder_new(const od_twin_source *settings, od_can_decoder **out, od_error *err);
void od_can_decoder_free(od_can_decoder *d);
const od_table *od_can_decoder_head(const od_can_decoder *d);
// Decodes a frame that arrived at time t (s). Returns the cells, NAN for signals of other messages; NULL if the frame has no signal of the columns.
const double *od_can_decode(od_can_decoder *d, double t, const struct canfd_frame *frame);
// Receives frames from a socket until the receiver stops. Each frame is a datagram of a can_frame or canfd_frame. Fails with
// OD_IO.
od_status od_can_receive(od_can_decoder *d, int socket, const od_receiver *to, od_error *err);

#endif
