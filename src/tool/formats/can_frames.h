// CAN frames of a trace, and their decoding to rows by databases (DBC files).
//
// A trace format has only a source of frames (od_can_source). The decoder (can_stream.c) is the same for all formats: it joins the
// packets of transport protocols, finds the message of each frame in the databases, and delivers rows with the functions of an
// od_log_format. All times of a source are seconds from the time zero of the source.
#ifndef OD_FORMATS_CAN_FRAMES_H
#define OD_FORMATS_CAN_FRAMES_H

#include <stdbool.h>
#include <stdint.h>

#include "formats/log_format.h"

enum {
  OD_CAN_BYTES = 64,    // data bytes of the longest frame, CAN FD
  OD_CAN_PADDING = 8,   // bytes after the data that the decoder may read; their values have no effect
  OD_CAN_BUSES = 65536  // largest number of buses of a trace
};

typedef enum od_can_flags {
  OD_CAN_EXTENDED = 1,  // the identifier has 29 bits
  OD_CAN_ERROR = 2,     // an error frame: it has no data
  OD_CAN_REMOTE = 4,    // a request for a frame: it has no data
  OD_CAN_SENT = 8       // the recording device sent the frame
} od_can_flags;

typedef struct od_can_frame {
  double time;     // time since the time zero of the source, s
  uint32_t id;     // 11 or 29 bits, without flags
  uint16_t bus;    // number of the bus; od_can_source.bus_name() has its name
  uint8_t flags;   // od_can_flags
  uint8_t length;  // number of data bytes
  uint8_t data[OD_CAN_BYTES + OD_CAN_PADDING];
} od_can_frame;

// A kind of source. The functions have an open source as their first argument. Functions marked as optional may be NULL.
typedef struct od_can_source {
  // Opens another source of the same frames, at the first frame. `source` outlives the new source.
  od_status (*again)(const void *source, void **out, od_error *err);
  void (*close)(void *source);
  // Reads the next frame. *end: whether there is no further frame. Frames may be out of order by at most OD_CAN_DISORDER frames;
  // the decoder sorts them.
  od_status (*next)(void *source, od_can_frame *frame, bool *end, od_error *err);
  void (*rewind)(void *source);

  // ---- Optional

  // Returns the name of a bus, such as "can0". The name is valid until the source is closed. If the function or its result is NULL,
  // the name of bus 1 is "CAN1".
  const char *(*bus_name)(const void *source, int bus);
  int (*line)(const void *source);          // line number of the last frame; NULL: the file is not a text file
  bool (*is_cut)(const void *source);       // after all frames were read: returns whether the file ends within a frame
  bool (*has_changed)(const void *source);  // as in od_log_format
  const char *(*start_time)(const void *source);  // date and time of the time zero, as in ISO 8601; NULL: unknown
  od_status (*grow)(void *source, od_log_growth *out, od_error *err);  // as in od_log_format
} od_can_source;

// Creates a stream of rows from an open source, which has not delivered a frame. The stream owns the source; if the
// function fails, it closes the source. Reads all frames once to find the messages of the trace. Only these messages
// have columns. path: for messages. wish->databases must name at least one DBC file, otherwise the error text lists the
// identifiers of the trace. With wish->follow, *out is NULL until all messages of wish->columns have occurred. Fails with
// OD_BAD_INPUT, OD_IO or OD_NO_MEMORY.
od_status od_can_stream_open(const od_can_source *kind, void *source, const char *path, const od_table_wish *wish,
                             void **out, od_error *err);

// Number of frames and messages that gave no row, over the whole trace.
typedef struct od_can_losses {
  long frames;      // all frames of the trace
  long unknown;     // frames and assembled messages whose identifier is not in the databases
  long short_data;  // frames and assembled messages with fewer bytes than the database gives
  long incomplete;  // messages of transport protocols with lost packets, timeouts or aborts
  long errors;      // error frames
} od_can_losses;
od_can_losses od_can_stream_losses(const void *stream);

// ---- Functions of an od_log_format. The columns are "time", then "Message.Signal".

od_status od_can_stream_again(const void *stream, void **out, od_error *err);
void od_can_stream_close(void *stream);
const od_table *od_can_stream_head(const void *stream);
void od_can_stream_want(void *stream, const bool *wanted);
od_status od_can_stream_next(void *stream, double *values, bool *end, od_error *err);
void od_can_stream_rewind(void *stream);
int od_can_stream_line(const void *stream);
bool od_can_stream_is_cut(const void *stream);
bool od_can_stream_has_changed(const void *stream);
od_log_origin od_can_stream_origin(const void *stream, int column);
const char *od_can_stream_start_time(const void *stream);
const char *od_can_stream_remark(const void *stream, int index);
// For sources with `grow`.
od_status od_can_stream_grow(void *stream, od_log_growth *out, od_error *err);

// All functions of a stream of CAN frames except `open`, `recognizes` and `grow`, for the initializer of an od_log_format.
#define OD_CAN_STREAM                                                                                                 \
  .again = od_can_stream_again, .close = od_can_stream_close, .head = od_can_stream_head, .want = od_can_stream_want, \
  .next = od_can_stream_next, .rewind = od_can_stream_rewind, .line = od_can_stream_line,                             \
  .is_cut = od_can_stream_is_cut, .has_changed = od_can_stream_has_changed, .origin = od_can_stream_origin,           \
  .start_time = od_can_stream_start_time, .remark = od_can_stream_remark

#endif
