// A twin in operation. Threads: one for each source, one for each machine with its observer, and one that writes the history and the outputs.
//
//   source --> order --> queue --> observer --> ring --> writer --> history, metrics
//
// A source thread reads messages and sorts samples (samples/sample_order.h). The observer takes samples from its queue, and puts a row into a ring
// without locks, so that it never waits for the writer. Samples that do not fit are left out, counted and reported. A source
// without loss, such as a file through a pipe, waits for the writer, at most a second.
#ifndef OD_OPERATION_OPERATION_H
#define OD_OPERATION_OPERATION_H

#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>

#include "experiment/observe.h"
#include "history/history.h"
#include "samples/message.h"
#include "samples/row_ring.h"
#include "samples/sample_order.h"
#include "samples/sample_queue.h"
#include "sources/source.h"
#include "twin/twin.h"

// ---- Events (event_list.c)

typedef struct od_twin_event {
  int machine;      // -1: the twin
  double t, clock;  // time of the machine, s (NAN: none); seconds since 1970
  char kind[24], text[400];
} od_twin_event;

enum { OD_MOST_EVENTS = 512 };

// Events that the writer has not written. Events beyond OD_MOST_EVENTS are only counted.
typedef struct od_event_list {
  pthread_mutex_t lock;
  int count;
  long dropped;
  od_twin_event event[OD_MOST_EVENTS];
} od_event_list;

void od_event_list_init(od_event_list *l);
void od_event_list_end(od_event_list *l);
void od_event_list_add(od_event_list *l, int machine, double t, const char *kind, const char *text);
// Moves all events to `to` (OD_MOST_EVENTS entries). Returns the number of events; *dropped receives the number of events that
// were left out.
int od_event_list_take(od_event_list *l, od_twin_event *to, long *dropped);

// ---- Machines (machine_thread.c)

// Upper limits of the classes of the latency, s; the last class has no limit.
enum { OD_LATENCY_CLASSES = 12 };
extern const double od_latency_limits[OD_LATENCY_CLASSES - 1];

// The columns of the rows of an observer.
typedef struct od_row_head {
  int columns;
  const char **name, **unit;
} od_row_head;

// Columns of the ring before the row of the observer.
enum { OD_RING_FATE, OD_RING_LATENCY, OD_RING_SEQUENCE, OD_RING_ROW };

// An alarm of a machine (alarms.c). column: column of the rows; 0: not known yet, -1: none. since: time since which the estimate
// has been beyond a bound, s; NAN: the estimate is within the bounds.
typedef struct od_alarm_state {
  int column;
  double since;
  bool is_on;
} od_alarm_state;

typedef struct od_machine_thread {
  const od_twin_machine *settings;
  od_experiment *e;
  struct od_twin_run *operation;
  int index, stored;  // index of the machine in the twin, and in the history
  od_arena memory;

  // Thread of the source.
  od_sample_order order;
  _Atomic bool is_ready;  // whether the columns have been found and the observer runs
  bool is_broken;         // whether the machine cannot be observed
  int sequence;           // column of the sequence number; -1: none
  pthread_mutex_t lock;   // protects `counts`, `ranges` and `range`, copies for the writer
  od_sample_counts counts;
  od_missing_range range[OD_MOST_RANGES];
  int ranges;
  _Atomic long refused;  // number of messages without a usable sample
  od_sample_queue queue;
  bool is_impatient;  // whether waiting for the writer took too long, so that the source does not wait now

  // Thread of the observer.
  pthread_t thread;
  bool has_thread;
  double *cells, *u, *u_last, *y, *compared;
  long samples;
  od_raw_sample now;       // the current sample
  double checkpoint_next;  // monotonic time of the next checkpoint, s
  od_checkpoint resume;    // checkpoint to continue from; bytes NULL: none
  double resume_t;         // time of `resume`; -INFINITY: none
  int64_t resume_sequence;
  double *replay;           // rows of the history after the checkpoint: time, measurements, inputs, compared columns
  int64_t replay_sequence;  // sequence number of the last of these rows; -1: none
  int replay_width;
  long replays, replayed;    // number of these rows; number of rows that the observer has taken
  od_checkpoint checkpoint;  // the checkpoint being taken
  od_status status;          // result of the observer
  od_error err;
  od_observed *observed;
  _Atomic bool is_finished;

  // From the observer to the writer.
  _Atomic(const od_row_head *) head;  // columns of the rows; NULL: not known yet
  od_row_ring ring;
  _Atomic bool has_checkpoint;  // whether `slot` is filled; the writer clears the flag
  od_checkpoint slot;
  double slot_t;
  int64_t slot_sequence;

  // Thread of the writer.
  bool is_defined;    // whether the history has the channels
  bool is_announced;  // whether the estimates have been announced to dashboards
  od_alarm_state *alarm;
  double *last;  // the last good row; NULL: none
  double last_t;
  long taken, failed, held, unwritten;
  long latency[OD_LATENCY_CLASSES];
  double latency_sum;
  od_sample_counts reported;  // the counts that events have reported
  long reported_refused, reported_dropped, reported_overrun;
} od_machine_thread;

od_status od_machine_thread_init(od_machine_thread *r, struct od_twin_run *o, int index, od_error *err);
void od_machine_thread_end(od_machine_thread *r);
// Reads the rows of the history after the checkpoint: the observer takes these rows as its first samples. Thus only samples that
// were not written are lost if the source does not send them again. Fails with OD_BAD_INPUT, OD_IO or OD_NO_MEMORY.
od_status od_machine_thread_read_replay(od_machine_thread *r, od_error *err);
// Finds the columns of the machine in the messages of its source, and starts the observer. An error is stored as an event, and
// the machine takes no samples.
void od_machine_thread_start(od_machine_thread *r, const od_table *head);
// Takes a message with these cells. is_historical: the sender kept the sample while it had no connection.
void od_machine_thread_take(od_machine_thread *r, const double *cells, double arrival, bool is_historical);
// Copies the counts of the order for the writer.
void od_machine_thread_publish(od_machine_thread *r);
// Waits for the end of the observer, whose queue is closed, and gives its last checkpoint to the writer.
void od_machine_thread_join(od_machine_thread *r);

// ---- Alarms (alarms.c). The writer calls od_alarms_take() for each row. od_alarms_init() fails with OD_NO_MEMORY.
od_status od_alarms_init(od_machine_thread *r);
void od_alarms_take(od_machine_thread *r, const od_row_head *head, const double *row);

// ---- Sources (source_thread.c)

typedef struct od_source_thread {
  const od_twin_source *settings;
  const od_source_class *class;
  struct od_twin_run *operation;
  int index;
  void *self;
  od_message_reader reader;
  bool has_reader, is_started;  // is_started: whether the machines have been started
  double *cells;
  bool *used;
  od_arena memory;
  pthread_t thread;
  bool has_thread;
  od_status status;
  od_error err;
  _Atomic bool is_finished;
} od_source_thread;

od_status od_source_thread_init(od_source_thread *s, struct od_twin_run *o, int index, od_error *err);
void od_source_thread_end(od_source_thread *s);
od_status od_source_thread_start(od_source_thread *s, od_error *err);
void od_source_thread_join(od_source_thread *s);

// ---- The operation (operation.c)

typedef struct od_twin_run {
  od_arena memory;
  const od_twin *twin;
  od_machine_thread *machine;
  od_source_thread *source;
  od_history *history;  // NULL: none
  od_event_list events;
  _Atomic bool stops;  // whether the sources are to end
  bool quiet;

  // The writer.
  pthread_t writer;
  sem_t wakes;  // wakes the writer before its next turn
  bool has_writer;
  _Atomic bool ends;
  od_twin_event *event;            // events that the writer has taken from the list
  struct od_publisher *publisher;  // NULL: none
  struct od_twin_page_run *page;   // NULL: none
  double retain_next, metrics_next, publish_next;
  bool is_failing;       // whether the last transaction failed
  double failing_since;  // monotonic time of the first failure, s
  char failure[300];     // description of the first failure
} od_twin_run;

typedef struct od_twin_options {
  bool fresh;  // whether observers start from the beginning, not from their checkpoints
  bool quiet;
  bool (*goes_on)(void *user);  // called at least every 20 ms; false: the twin ends
  void *user;
} od_twin_options;

// Runs a twin until its sources end or goes_on() returns false. Returns OD_OK, or the status of the first failure.
od_status od_twin_operate(const od_twin *twin, const od_twin_options *options, od_error *err);

// ---- The writer (writer.c)

od_status od_writer_start(od_twin_run *o, od_error *err);
// Writes all remaining data and ends the thread of the writer.
void od_writer_end(od_twin_run *o);

// ---- Estimates as messages (publisher.c). The writer calls these functions.

typedef struct od_publisher od_publisher;
struct od_twin_run;
// Connects to the broker in the background. *out may be set also on failure; free the publisher in all cases. Fails with OD_BAD_INPUT, OD_IO or
// OD_NO_MEMORY.
od_status od_publisher_new(const struct od_twin_run *o, od_publisher **out, od_error *err);
// Publishes the last estimates of all machines, if there is a connection.
void od_publisher_write(od_publisher *p);
void od_publisher_free(od_publisher *p);

// ---- The page (twin_page.c)

typedef struct od_twin_page_run od_twin_page_run;
// Opens the page of the twin, before the threads start. Fails with OD_BAD_INPUT, OD_IO or OD_NO_MEMORY. o->page may be set also
// on failure.
od_status od_twin_page_new(od_twin_run *o, od_error *err);
// Ends the server; od_twin_page_free() frees the memory, after all other threads have ended.
void od_twin_page_close(od_twin_run *o);
void od_twin_page_free(od_twin_run *o);
// Functions for the thread of the observer: the first passes the columns of the rows to the page, the second computes the frame of a sample if a
// frame is due, the third passes the frame with the row to the board, and to the writer if the frame is to be stored.
od_status od_twin_page_begin(od_machine_thread *r, const od_row_head *head);
void od_twin_page_each(od_machine_thread *r, double t, od_observer *observer);
void od_twin_page_row(od_machine_thread *r, const double *row, int columns);
// Functions for the thread of the writer: the first judges a row; the second passes the states of all machines to the board and stores frames and
// acknowledgments; the third passes a new event of the history to the board.
void od_twin_page_take(od_machine_thread *r, const double *row);
void od_twin_page_write(od_twin_run *o);
void od_twin_page_event(od_twin_run *o, const od_twin_event *e);

// ---- Metrics (metrics.c)

// Prints all metrics in the text format of Prometheus.
void od_metrics_print(FILE *to, od_twin_run *o);
// Writes the file of metrics. Fails with OD_IO or OD_NO_MEMORY.
od_status od_metrics_write(od_twin_run *o, od_error *err);

#endif
