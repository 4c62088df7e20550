// Live values: the newest frame of each machine, and the streams of server-sent events to pages.
#ifndef OD_HTTP_LIVE_H
#define OD_HTTP_LIVE_H

#include "http/door.h"

// The scale of pressures is extended if OD_SCALE_FRAMES consecutive frames have a pressure above the scale. The first OD_FRAMES_TO_SETTLE frames of
// an observer do not extend the scale, because the filter has not settled.
enum { OD_SCALE_FRAMES = 5, OD_FRAMES_TO_SETTLE = 50 };

// A machine in the streams. frame: OD_FRAME_COLUMNS numbers, then the columns.
typedef struct od_live_machine {
  const od_frame_head *head;  // NULL: not known yet
  double *frame;
  bool has_frame, is_new;           // is_new: whether a frame has arrived since the last turn
  long verdicts;                    // number of verdicts that the streams have
  long version;                     // changes with the columns and with the scale of pressures
  double pressure;                  // end of the scale of pressures, Pa; 0: not known
  double largest[OD_SCALE_FRAMES];  // largest pressures of the last frames, Pa
  long frames;                      // number of frames so far
  od_history_span span;             // times with data in the history, a few seconds old
  double span_next;                 // monotonic time of the next reading of `span`, s
} od_live_machine;

od_status od_live_init(od_door *d, od_error *err);
void od_live_end(od_door *d);

// Copies the newest frame of a machine from the board to the door, for streams and requests.
void od_live_take(od_door *d, int machine);
// Returns the times with data in the history; NAN: there are none, or there is no history.
od_history_span od_live_span(od_door *d, int machine);

// Appends frames, events and states to all streams, at most 25 times per second. now: monotonic time, s.
void od_streams_turn(od_door *d, double now);
// Ends all streams, before the daemon stops.
void od_streams_end(od_door *d);

// Sets the deadline of an answer (door.c).
void od_answer_begin(od_request *r);

// Write JSON objects of the API (status_json.c): the status of a machine, and an event.
void od_put_status(FILE *to, od_door *d, int machine);
void od_put_event(FILE *to, const od_door *d, const od_shown_event *e);
// Converts an event of the history to an event of answers.
od_shown_event od_shown_event_of(const od_door *d, const od_history_event *e);
// Returns the seconds since 1970 minus the time of the machine, s; NAN: unknown.
double od_clock_offset(const od_machine_status *s);

// A column of frames as a series of the API (series.c).
typedef struct od_column_facts {
  const char *of, *name;  // as in docs/twin.md; NULL: a standard deviation, which is no series
  int sigma;              // column with the standard deviation; -1: none
} od_column_facts;
od_column_facts od_column_facts_of(const od_twin_machine *m, const od_frame_head *head, int column);

#endif
