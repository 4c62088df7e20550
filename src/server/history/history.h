// The history of all machines in a database (store.h): rows of samples in blocks, a pyramid of minimum, maximum and sum for each channel,
// estimates with standard deviations, events, and checkpoints of the observers. docs/twin.md describes the tables.
//
// One thread writes. Other threads and programs may read at any time. All data since the last od_history_commit() are one transaction.
#ifndef OD_HISTORY_HISTORY_H
#define OD_HISTORY_HISTORY_H

#include <stdint.h>

#include "io/checkpoint.h"
#include "memory/scoped.h"
#include "oleodyn/status.h"
#include "twin/twin.h"

typedef struct od_history od_history;

// A channel of a machine: a column of the rows. The column of the time is not a channel. sigma: index of the channel with the
// standard deviation of this channel; -1: none.
typedef struct od_history_channel {
  const char *name, *unit;
  int sigma;
} od_history_channel;

// Levels of the pyramid. A bucket of level k is OD_LEVEL_FACTOR^k s long; bucket n begins at n times its length.
enum { OD_LEVELS = 8, OD_LEVEL_FACTOR = 8 };
// Returns the length of a bucket, s.
double od_history_width(int level);

// Opens the database, creates its tables if there are none, and migrates tables of an older version. A file is created if it does not exist. Fails
// with OD_BAD_INPUT if the database has tables of another program or of a newer version, or if URL or password cannot be used; with OD_IO if another
// twin writes the history, or if file or server cannot be used; and with OD_NO_MEMORY.
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
// Adds a row: the time and a value for each channel; NAN: no value. sequence: sequence number of the sample; -1: none. Rows up to the time of the
// last row are ignored, because the history already has them. Fails with OD_IO or OD_NO_MEMORY.
od_status od_history_add_row(od_history *h, int machine, const double *row, int64_t sequence, od_error *err);
// Adds an event; the next transaction writes it. machine -1: an event of the twin. t: time of the machine, s; NAN: none. clock: seconds since 1970.
// Longer texts are cut to 23 bytes (kind) and 399 bytes (text). Fails with OD_IO if 1024 events wait already.
od_status od_history_add_event(od_history *h, int machine, double t, double clock, const char *kind, const char *text,
                               od_error *err);
// Returns the id of the event that was added last; -1: it could not be added.
int64_t od_history_event_id(od_history *h);
// Stores the time at which an event was acknowledged, unless the event was acknowledged before; the next transaction writes it. clock: seconds since
// 1970. Fails with OD_IO if 1024 events wait already.
od_status od_history_acknowledge(od_history *h, int64_t event, double clock, od_error *err);
// Stores the checkpoint of an observer, in place of the previous one. sequence: sequence number of the last sample; -1: none.
// Fails with OD_IO.
od_status od_history_add_checkpoint(od_history *h, int machine, double t, int64_t sequence, double clock,
                                    const od_checkpoint *c, od_error *err);
// Reads the last checkpoint of a machine; the caller frees *c with od_checkpoint_free(). If there is no checkpoint, c->bytes is NULL, and *t and
// *sequence do not change. Fails with OD_IO or OD_NO_MEMORY.
od_status od_history_read_checkpoint(od_history *h, int machine, double *t, int64_t *sequence, od_checkpoint *c,
                                     od_error *err);
// Ends the transaction. On failure its checkpoints are lost; its rows and events remain for the next transaction, at most 4096 rows of each machine
// and 1024 events: if there are more, od_history_add_row() or od_history_add_event() fails. Fails with OD_IO or OD_NO_MEMORY.
od_status od_history_commit(od_history *h, od_error *err);
// Removes blocks, buckets and estimates that are older than the limits of the settings, and the oldest ones if the data are larger than their limit.
// Then commits. One call removes a limited number of blocks. *removed: number of removed blocks, buckets and estimates. Fails with OD_IO or
// OD_NO_MEMORY.
od_status od_history_retain(od_history *h, long *removed, od_error *err);
// Returns the size of the used part of the file, or of the data on a server, bytes.
double od_history_size(od_history *h);

// ---- Reading (history_read.c)

// Smallest, largest and mean value of a channel from `from` to `to` (s), of `count` values. A single row has from == to.
typedef struct od_history_point {
  double from, to, min, max, mean;
  long count;
} od_history_point;

// Reads a channel between two times, s: buckets of the coarsest level whose buckets are not longer than (to - from) / points; rows if all levels are
// too coarse, and after the last complete bucket. *out: memory of the arena. Fails with OD_BAD_INPUT if the machine or channel is unknown, if there
// are more than 200000 points, or if a block is damaged; and with OD_IO or OD_NO_MEMORY.
od_status od_history_read(od_history *h, od_arena *memory, const char *machine, const char *channel, double from,
                          double to, int points, od_history_point **out, int *count, od_error *err);

// Reads the rows of a machine after the time `after`, s: the time, and the channels with these names; NAN: not stored. *sequence: sequence number of
// the last row; -1: none. *out: memory of the arena, rows x (count + 1) numbers. Fails with OD_BAD_INPUT if a block is damaged, and with OD_IO or
// OD_NO_MEMORY.
od_status od_history_read_rows(od_history *h, od_arena *memory, int machine, double after, const char *const *name,
                               int count, double **out, long *rows, int64_t *sequence, od_error *err);

// ---- The schema (history_schema.c)

// Version of the schema that this program writes.
enum { OD_HISTORY_VERSION = 2 };
// Returns the SQL statements that change version i of the schema to version i + 1.
const char *od_history_migration(int i);

#endif
