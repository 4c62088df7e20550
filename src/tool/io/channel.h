// Messages between a program and its helper programs (io/helper.h), over a local socket.
//
// A message consists of numbers (64 bits), texts (length and bytes) and arrays of doubles, in the representation of the processor.
// The receiver sets the largest value of every number and the largest length of every text. A message beyond a limit breaks the
// channel. A broken channel stays broken: all later calls have no effect and return zeros, so one check at the end suffices.
//
//   request   OD_HELPER_PROTOCOL, task (od_helper_task), path, then
//     OD_HELPER_READ    (MATLAB files) name of the time column, 1: no time column is required, number of columns, their names
//     OD_HELPER_HEAD    (HDF5 files) the same
//     OD_HELPER_ROWS    (HDF5 files) the same, then number of columns to be sent, and their indices in ascending order
//     OD_HELPER_WRITE   comment of the file, number of variables; each variable: name, kind (od_helper_kind), rows, columns, then
//                       the columns one after the other: doubles, or texts
//     OD_HELPER_FMU     (FMUs) a conversation, see fmu/fmu_session.h
//   answer    OD_HELPER_PROTOCOL, then
//     OD_HELPER_TABLE   (READ, HEAD) columns, rows, 1 + index of the column that the file marks as the time (0: none), date and time of
//                       the time zero ("": unknown); name, unit and flaw ("": none) of each column; READ only: all columns without a
//                       flaw, one after the other, as doubles
//     OD_HELPER_BLOCK   (ROWS, repeated until all rows were sent) number of rows; these rows of all columns to be sent, one column after
//                       the other
//     OD_HELPER_STATUS  status (od_status), message. Always the end of an answer
#ifndef OD_IO_CHANNEL_H
#define OD_IO_CHANNEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// The version of the protocol; changes with every change of the messages.
#define OD_HELPER_PROTOCOL 0x6f6c656f00000003u
typedef enum od_helper_task {
  OD_HELPER_READ = 1,
  OD_HELPER_WRITE,
  OD_HELPER_HEAD,
  OD_HELPER_ROWS,
  OD_HELPER_FMU
} od_helper_task;
typedef enum od_helper_kind { OD_HELPER_NUMBERS = 1, OD_HELPER_TEXTS } od_helper_kind;
typedef enum od_helper_part { OD_HELPER_TABLE = 1, OD_HELPER_STATUS, OD_HELPER_BLOCK } od_helper_part;
// Limits of all messages. Texts are shorter than OD_HELPER_TEXT bytes.
enum { OD_HELPER_TEXT = 1024, OD_HELPER_PATH = 4096, OD_HELPER_COLUMNS = 200000 };

typedef struct od_channel {
  int socket;
  bool broken;
  double limit;  // longest time to wait for data, s; 0: forever
  bool is_late;  // whether the limit broke the channel
  size_t filled, taken,
      waiting;  // number of bytes in `in`, number of these bytes already taken, number of bytes in `out`
  unsigned char in[16384], out[16384];
} od_channel;

// Initializes a channel without filling its buffers. The caller closes the socket.
void od_channel_init(od_channel *c, int socket);

// Functions that send. They collect data in a buffer; od_channel_flush() sends the remaining data and returns false if the channel
// is broken.
void od_channel_put(od_channel *c, const void *data, size_t size);
void od_channel_put_number(od_channel *c, uint64_t number);
void od_channel_put_text(od_channel *c, const char *text);
bool od_channel_flush(od_channel *c);

// Functions that receive. They wait for the data, and return false or 0 if the channel is broken. A number above `most` and a text
// of `size` bytes or more break the channel.
bool od_channel_take(od_channel *c, void *to, size_t size);
uint64_t od_channel_take_number(od_channel *c, uint64_t most);
bool od_channel_take_text(od_channel *c, char *to, size_t size);
// Receives and discards all data until the other side closes its socket.
void od_channel_drain(od_channel *c);

#endif
