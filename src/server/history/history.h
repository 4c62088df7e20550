// The history of all machines in a database (store.h): rows of samples in blocks, a pyramid of minimum, maximum and sum for each channel,
// estimates with standard deviations, events, and checkpoints of the observers. docs/twin.md describes the tables.
//
// One thread writes. Other programs may read at any time (write-ahead log). All data since the last od_history_commit() are one
// transaction.
#ifndef OD_HISTORY_HISTORY_H
#define OD_HISTORY_HISTORY_H

#include <stdint.h>

#include "io/checkpoint.h"
#include "memory/scoped.h"
#include "oleodyn/status.h"
#include "twin/twin.h"

typedef struct od_history od_history;

// A channel of a machine: a column of the rows, without the column of the time. sigma: index of the channel with its standard
// deviation; -1: none.
typedef struct od_history_channel {
  const char *name, *unit;
  int sigma;
} od_history_channel;

// Levels of the pyramid. A bucket of level k is OD_LEVEL_FACTOR^k s long; bucket n begins at n times its length.
enum { OD_LEVELS = 8, OD_LEVEL_FACTOR = 8 };
// Returns the length of a bucket, s.
double od_history_width(int level);

// Opens or creates the database, and migrates an older version. Fails with OD_BAD_INPUT if this is another database or one of a newer
// version, and with OD_IO if another twin writes it or the server cannot be reached.
od_status od_history_open(const od_twin_history *settings, od_history **out, od_error *err);
void od_history_close(od_history *h);
OD_OWNED_POINTER(od_history, od_history_close);

// Adds a machine, or finds the machine by its name. *machine receives its index, counted from 0 in the order of the calls; *last
// the time of its last row; -INFINITY: none. Fails with OD_IO or OD_NO_MEMORY.
od_status od_history_add_machine(od_history *h, const char *name, const char *title, int *machine, double *last,
                                 od_error *err);
// Defines the channels of the rows, before the first row of a machine, and commits. May be called again after a failure. Fails
// with OD_IO or OD_NO_MEMORY.
od_status od_history_define(od_history *h, int machine, const od_history_channel *channel, int count, od_error *err);
// Same as od_history_define(), for rows without a pyramid and without estimates.
od_status od_history_define_rows(od_history *h, int machine, const od_history_channel *channel, int count,
                                 od_error *err);
// Adds a row: the time and a value for each channel; NAN: no value. sequence: sequence number of the sample; -1: none. Rows up to the time
// of the last stored row are ignored, because they are already stored. Fails with OD_IO or OD_NO_MEMORY.
od_status od_history_add_row(od_history *h, int machine, const double *row, int64_t sequence, od_error *err);
// Adds an event. machine -1: an event of the twin. t: time of the machine, s; NAN: none. clock: seconds since 1970. Fails with
// OD_IO.
od_status od_history_add_event(od_history *h, int machine, double t, double clock, const char *kind, const char *text,
                               od_error *err);
// Returns the id of the event that was added last; -1: it could not be added.
int64_t od_history_event_id(od_history *h);
// Stores the time at which an event was acknowledged, unless the event was acknowledged before. clock: seconds since 1970. Fails
// with OD_IO.
od_status od_history_acknowledge(od_history *h, int64_t event, double clock, od_error *err);
// Stores the checkpoint of an observer, in place of the previous one. sequence: sequence number of the last sample; -1: none.
// Fails with OD_IO.
od_status od_history_add_checkpoint(od_history *h, int machine, double t, int64_t sequence, double clock,
                                    const od_checkpoint *c, od_error *err);
// Reads the last checkpoint of a machine. Without one c->bytes is NULL. Fails with OD_IO or OD_NO_MEMORY.
od_status od_history_read_checkpoint(od_history *h, int machine, double *t, int64_t *sequence, od_checkpoint *c,
                                     od_error *err);
// Ends the transaction. On failure its checkpoints are lost; its rows and events remain for the next transaction, at most 4096 rows of each machine
// and 1024 events: if there are more, od_history_add_row() or od_history_add_event() fails.
od_status od_history_commit(od_history *h, od_error *err);
// Removes data older than the limits of the settings, and the oldest data if the file is larger than its limit. One call removes
// a limited amount. *removed: number of removed blocks, buckets and estimates. Fails with OD_IO or OD_NO_MEMORY.
od_status od_history_retain(od_history *h, long *removed, od_error *err);
// Returns the size of the used part of the file, bytes.
double od_history_size(od_history *h);

// ---- Reading (history_read.c)

// Smallest, largest and mean value of a channel from `from` to `to` (s), of `count` values. A single row has from == to.
typedef struct od_history_point {
  double from, to, min, max, mean;
  long count;
} od_history_point;

// Reads a channel between two times, s, as about `points` points: rows, or buckets of the finest level that is coarse enough.
// *out: memory of the arena. Fails with OD_BAD_INPUT if the machine or channel is unknown, and with OD_IO or OD_NO_MEMORY.
od_status od_history_read(od_history *h, od_arena *memory, const char *machine, const char *channel, double from,
                          double to, int points, od_history_point **out, int *count, od_error *err);

// Reads the rows of a machine after the time `after`, s: the time, and the channels with these names; NAN: not stored. *sequence:
// sequence number of the last row. *out: memory of the arena, rows x (count + 1) numbers. Fails like od_history_read().
od_status od_history_read_rows(od_history *h, od_arena *memory, int machine, double after, const char *const *name,
                               int count, double **out, long *rows, int64_t *sequence, od_error *err);

// ---- The schema (history_schema.c)

// Version of the schema that this program writes.
enum { OD_HISTORY_VERSION = 2 };
// Returns the SQL statements that change version i of the schema to version i + 1.
const char *od_history_migration(int i);

#endif
