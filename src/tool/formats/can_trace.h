// The data that all streams of a CAN trace share: the messages of the databases, the identifiers of the trace, and the columns. A use is
// a message of a database on one bus; in J1939 a use also has one source address. A use has one column per signal. A route is an
// identifier on a bus. The route contains the use of its frames, and whether its frames are packets.
#ifndef OD_FORMATS_CAN_TRACE_H
#define OD_FORMATS_CAN_TRACE_H

#include "base/arena.h"
#include "formats/can_frames.h"
#include "formats/can_signal.h"
#include "formats/dbc.h"
#include "formats/key_map.h"

enum { OD_CAN_REMARKS = 4 };

typedef struct od_can_use {
  int message;    // index in od_can_trace.message
  int bus, from;  // from: source address; -1: the message is not a J1939 message
  int first;      // first column
} od_can_use;

typedef struct od_can_route {
  uint64_t key;
  int use;          // -1: none
  bool is_control;  // whether the frames are packets of the transport protocol of J1939
  bool is_fast;     // whether the frames are fast packets of NMEA 2000
  long frames;      // number of frames with the identifier
} od_can_route;

// A message of a database, prepared for decoding.
typedef struct od_can_used {
  const od_dbc *dbc;
  const od_dbc_message *m;
  od_can_signal_form *form;  // one per signal; NULL: the trace does not contain the message
  const char **comment;      // one per signal: comment of its columns; NULL: none
  bool is_shared;            // whether another message of the trace has the same name
  int buses, sources;        // number of buses and of source addresses with this message in the trace
} od_can_used;

// Data that all streams of a trace share.
typedef struct od_can_trace {
  const od_can_source *kind;
  const char *path;
  od_dbc **dbc;
  int dbcs;
  od_can_used *message;  // messages of all databases
  int messages;
  bool has_j1939;
  bool follows;         // whether the trace may grow while it is read
  od_key_map by_id;     // bit 31: 29 bits
  od_key_map by_group;  // J1939: by PGN, source and destination
  od_can_use *use;
  int uses;
  od_key_map by_use;
  od_can_route *route;
  int routes, route_room;
  od_key_map by_route;
  od_table *head;
  od_log_origin *origin;  // one per column
  od_can_losses losses;
  const char *remark[OD_CAN_REMARKS + 1];  // sentences about the losses, terminated by NULL
  int disorder;                            // number of frames that must be read ahead to sort them
  od_arena arena;
} od_can_trace;

void od_can_trace_free(od_can_trace *t);
od_status od_can_trace_no_memory(const od_can_trace *t, od_error *err);

// ---- Messages and identifiers (can_trace.c)

// Reads the databases and builds the maps of their messages. If the contents of several databases are wrong, the error text has the
// errors of all of them. Fails with OD_BAD_INPUT, OD_IO or OD_NO_MEMORY.
od_status od_can_trace_databases(od_can_trace *t, const char *const *paths, od_error *err);
// Returns the index of the message of an identifier, or -1. In J1939, a message with the same source (and destination) has priority.
int od_can_trace_find(const od_can_trace *t, uint32_t id, bool is_extended);
// Returns whether a frame contains a multiplexed signal: the switch of the signal and the switches above it have the necessary values.
bool od_can_is_present(const od_can_used *m, const od_dbc_signal *s, const uint8_t *data, int length);
// Returns the route of an identifier, and adds the route and its use if necessary. If no more routes can be stored, the result is
// `other`. NULL: an allocation failed.
od_can_route *od_can_trace_add_route(od_can_trace *t, int bus, uint32_t id, bool is_extended, od_can_route *other);
// Returns the route of an identifier. If the route is not stored, the result is `other`.
const od_can_route *od_can_trace_route(od_can_trace *t, int bus, uint32_t id, bool is_extended, od_can_route *other);
// Reports that no frame can be decoded, with the first identifiers of the trace. problem: the reason. Sorts the routes. Returns
// OD_BAD_INPUT.
od_status od_can_trace_no_messages(od_can_trace *t, const char *problem, od_error *err);
// Returns the key of a use in by_use.
uint64_t od_can_use_key(int index, int bus, int from);

// ---- Columns (can_columns.c)

// Sorts the uses by message, and makes the columns of their signals. source: an open source of the trace, for the names of buses.
// Fails with OD_BAD_INPUT or OD_NO_MEMORY.
od_status od_can_trace_columns(od_can_trace *t, const void *source, od_error *err);
// Describes the losses in sentences for the user. Fails with OD_NO_MEMORY.
od_status od_can_trace_remarks(od_can_trace *t, od_error *err);

#endif
