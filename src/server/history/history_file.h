// The open database: statements, machines, and the open buckets of the pyramid. For the files of this module.
#ifndef OD_HISTORY_FILE_H
#define OD_HISTORY_FILE_H

#include <stdbool.h>

#include "history/history.h"
#include "history/store.h"

// A bucket that is not complete: its number, and minimum, maximum, sum and count so far.
typedef struct od_open_bucket {
  int64_t number;
  long count;
  double min, max, sum;
} od_open_bucket;

typedef struct od_history_machine {
  int64_t id, layout;
  int channels;      // 0: not defined
  bool is_flat;      // whether the rows have no pyramid
  int64_t *channel;  // ids
  int *sigma;        // see od_history_channel
  double last;       // time of the last row; -INFINITY: none
  int64_t sequence;  // sequence number of the last row; -1: none

  // The pyramid, up to the last row that is stored, and its copy at the last commit.
  double *last_row, *kept_row;
  int64_t second, kept_second;   // number of the open bucket of level 0
  bool has_rows, kept_has_rows;  // whether `second` and the open buckets are valid
  od_open_bucket *open, *kept;   // OD_LEVELS x channels

  double *rows;  // rows that are not committed, `capacity` rows
  int count, capacity;
  int sent;  // number of these rows, counted from the first one, that are in the transaction
} od_history_machine;

// Statements that are prepared once.
typedef enum od_statement_name {
  OD_ADD_BLOCK,
  OD_ADD_BUCKET,
  OD_ADD_ESTIMATE,
  OD_ADD_EVENT,
  OD_ADD_CHECKPOINT,
  OD_ACKNOWLEDGE,
  OD_STATEMENTS
} od_statement_name;

// An event, or the acknowledgment of an event at the time `clock` (kind[0] == 0), that is not committed.
typedef struct od_new_event {
  int64_t id, machine;  // machine: id; 0: the twin
  double t, clock;
  char kind[24], text[400];
} od_new_event;

enum { OD_MOST_NEW_EVENTS = 1024 };

struct od_history {
  od_arena memory;
  od_twin_history settings;
  od_store *store;
  od_statement *statement[OD_STATEMENTS];
  bool in_transaction, has_failed;  // has_failed: whether a statement of the transaction has failed
  bool in_doubt;                    // whether the connection was lost while the transaction ended
  int64_t event, last_event;        // id of the event that was added last (-1: it was not added); greatest id
  od_new_event *new_event;          // OD_MOST_NEW_EVENTS
  int new_events, sent_events;      // sent_events: number of the first new events in the transaction
  od_history_machine *machine;
  int machines;
};

// Stores the last error of the database in err. what: the operation, for the message. Returns OD_IO.
od_status od_history_fail(od_history *h, const char *what, od_error *err);
// Runs statements without a result. Fails with OD_IO.
od_status od_history_run(od_history *h, const char *sql, od_error *err);
// Prepares a statement; the caller ends it with od_statement_end(). Returns NULL on failure, with a message in err.
od_statement *od_history_prepare(od_history *h, const char *sql, od_error *err);
// Begins the transaction if none is open. Fails with OD_IO.
od_status od_history_enter(od_history *h, od_error *err);
// Runs a statement of the transaction, without rows, and resets it. Fails with OD_IO.
od_status od_history_execute(od_history *h, od_statement *s, od_error *err);
// Runs a statement to its next row. Returns false at the end, and on failure with *status. Does nothing if *status is a failure.
bool od_history_next(od_history *h, od_statement *s, od_status *status, od_error *err);
// Adds the size of rows, bytes, to the size of the data, if the database does not count it. Negative: the rows were removed.
void od_history_account(od_history *h, double bytes);
// Approximate size of a row of a table and its index in the database, without texts and blocks, bytes.
enum { OD_ROW_BYTES = 130 };

// history_pyramid.c: adds a row to the open buckets, and writes the buckets that are complete and the estimates. Fails with OD_IO.
od_status od_pyramid_take(od_history *h, od_history_machine *m, const double *row, od_error *err);
// Computes the open buckets from the stored blocks and buckets, after the channels have been defined. Fails with OD_IO or OD_NO_MEMORY.
od_status od_pyramid_restore(od_history *h, od_history_machine *m, od_error *err);
// od_pyramid_keep() copies the open buckets, and od_pyramid_return() restores the copy.
void od_pyramid_keep(od_history_machine *m);
void od_pyramid_return(od_history_machine *m);
static inline int64_t od_bucket_at(double t, int level) {
  const double n = t / od_history_width(level);
  const int64_t whole = (int64_t)n;
  return whole - (n < (double)whole);
}

#endif
