// The board: the data of a twin that the page shows, shared between the threads of the twin and the thread of the door
// (http/door.h).
//
//   observer --> ring of frames --+
//   writer   --> status, events --+--> door
//   door     --> acknowledgments ----> writer
//
// The observer only puts frames into a ring without locks: the observer never waits for a page. Writer and door share a lock for copies.
#ifndef OD_HTTP_BOARD_H
#define OD_HTTP_BOARD_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>

#include "memory/scoped.h"
#include "report/run_views.h"
#include "samples/row_ring.h"
#include "twin/twin.h"

// An event of answers and streams. machine: index; -1: the twin. t: time of the machine, s. clock, acknowledged: times of the event and of its
// acknowledgment, seconds since 1970. NAN: no time.
typedef struct od_shown_event {
  int64_t id;
  int machine;
  double t, clock, acknowledged;
  char kind[24], text[400];
} od_shown_event;
enum { OD_SHOWN_EVENTS = 512, OD_MOST_ACTS = 64, OD_ACTOR_SIZE = 64 };

// Severity of events by their kind. An alarm must be acknowledged.
typedef enum od_event_weight { OD_EVENT_NOTE, OD_EVENT_WARNING, OD_EVENT_ALARM } od_event_weight;
od_event_weight od_weight_of_event(const char *kind);

// The kinds of alarms, ended by NULL.
extern const char *const od_alarm_kinds[];

typedef enum od_machine_state {
  OD_MACHINE_WAITING,  // no sample yet
  OD_MACHINE_RUNNING,
  OD_MACHINE_SILENT,  // no sample for some seconds
  OD_MACHINE_ENDED,
  OD_MACHINE_FAILED
} od_machine_state;

// Counts of the samples of a machine.
#define OD_SHOWN_COUNTS(X) \
  X(taken)                 \
  X(failed)                \
  X(held) X(late) X(historical) X(repeated) X(reordered) X(refused) X(overrun) X(dropped) X(missing) X(replayed)

typedef struct od_machine_status {
  od_machine_state state;
  double t, clock;             // time of the last sample, s; its arrival, seconds since 1970; NAN: none
  double rate;                 // samples per second
  double latency, latency_99;  // mean, and upper limit of the class of 99 %, s; NAN: none
#define OD_COUNT(name) long name;
  OD_SHOWN_COUNTS(OD_COUNT)
#undef OD_COUNT
} od_machine_status;

// Columns of the frames of a machine: the observer's rows after the time, then the outputs that move the pictures.
typedef struct od_frame_head {
  int columns, rows;  // number of all columns; number of columns of the rows, without the time
  const char **name, **unit;
} od_frame_head;

// The history stores frames as rows of an additional machine: the machine's name with this suffix. Names in twin files cannot
// have this suffix.
#define OD_FRAMES_SUFFIX ".frames"

// Numbers of a frame before its columns.
enum { OD_FRAME_TIME, OD_FRAME_CLOCK, OD_FRAME_COLUMNS };

typedef struct od_shown_machine {
  const od_twin_machine *settings;
  const od_run_views *views;            // pictures; NULL: none
  _Atomic(const od_frame_head *) head;  // NULL: not known yet
  od_row_ring frames;                   // from the observer to the door; valid with `head`
  // Protected by the lock of the board.
  od_machine_status status;
  long open_alarms;
  char *verdict;  // JSON; NULL: none
  long verdicts;  // number of verdicts so far
} od_shown_machine;

typedef struct od_act {
  int64_t event;
  char actor[OD_ACTOR_SIZE];
} od_act;

typedef struct od_board {
  const od_twin *twin;
  od_arena memory;
  od_shown_machine *machine;
  pthread_mutex_t lock;
  od_shown_event event[OD_SHOWN_EVENTS];  // ring of the latest events, in the order of their changes
  long events;                            // number of events so far, including changed ones
  int64_t next_id;                        // id of the next event of a twin without a history
  od_act act[OD_MOST_ACTS];
  int acts;
  char *metrics;  // text of the metrics; NULL: none yet
} od_board;

// Creates the board of a twin, which must outlive the board. NULL: out of memory.
od_board *od_board_new(const od_twin *twin);
void od_board_free(od_board *b);
OD_OWNED_POINTER(od_board, od_board_free);

// Creates the ring of frames, and passes the columns to the thread of the door. Only the thread of the observer calls this
// function. The memory of the board keeps copies of the names. Fails with OD_NO_MEMORY.
od_status od_board_begin(od_board *b, int machine, const od_frame_head *head);

// Functions for the thread of the writer. od_board_set_status() stores a copy of the status of a machine.
void od_board_set_status(od_board *b, int machine, const od_machine_status *status);
// Adds an event, or an event that has changed. id -1: the board numbers the event. Returns its id.
int64_t od_board_add_event(od_board *b, const od_shown_event *event);
void od_board_set_alarms(od_board *b, int machine, long open);
// Store a copy of a text. If an allocation fails, the board has no text.
void od_board_set_verdict(od_board *b, int machine, const char *json);
void od_board_set_metrics(od_board *b, const char *text);
// Moves the acknowledgments to `to` (OD_MOST_ACTS entries). Returns the number of acknowledgments.
int od_board_take_acts(od_board *b, od_act *to);

// Functions for the thread of the door. od_board_status() returns a copy of the status of a machine, and the number of its open
// alarms.
od_machine_status od_board_status(od_board *b, int machine, long *open_alarms);
// Copies the events after number `after` (see od_board.events), at most `most`. Returns the count; *next receives the value of `after` for the next
// call.
int od_board_events_after(od_board *b, long after, od_shown_event *to, int most, long *next);
// Finds an event of the board by its id. Returns false if the board does not have this event.
bool od_board_find_event(od_board *b, int64_t id, od_shown_event *out);
// Adds an acknowledgment, unless the event was acknowledged before. clock: seconds since 1970. Returns false if OD_MOST_ACTS acknowledgments wait for
// the writer.
bool od_board_acknowledge(od_board *b, const od_shown_event *event, double clock, const char *actor);
// Return a copy, which the caller frees with od_free(); NULL: no text, or an allocation failed.
char *od_board_verdict(od_board *b, int machine, long *number);
char *od_board_metrics(od_board *b);

#endif
