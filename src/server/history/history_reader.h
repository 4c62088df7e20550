// Reads the history for the page, beside the thread that writes. A reader has a separate connection, so the writer does not wait
// for the reader. A reader reads only committed data. A reading that takes longer than OD_LONGEST_READING ends with an error.
#ifndef OD_HISTORY_HISTORY_READER_H
#define OD_HISTORY_HISTORY_READER_H

#include "history/history.h"

enum { OD_LONGEST_READING = 5 };  // s

// Opens the existing database of a twin for reading; od_history_close() closes the database. Fails with OD_BAD_INPUT, OD_IO or OD_NO_MEMORY.
od_status od_history_reader_open(const od_twin_history *settings, od_history **out, od_error *err);

// Times of the first and the last data of a machine, s; NAN: there are none. od_history_reader_span() fails with OD_IO.
typedef struct od_history_span {
  double first, last;
} od_history_span;
od_status od_history_reader_span(od_history *h, const char *machine, od_history_span *span, od_error *err);

// A channel in bins of equal length. Bins without values are left out.
typedef struct od_history_bins {
  int level;     // level of the pyramid; -1: rows
  double width;  // s; 0: each bin is a row
  int count;
  const double *t, *min, *mean, *max;  // t: middle of the bin
} od_history_bins;

// Reads channels in at most about `points` bins from `from` to `to` (s). A channel without data, or that the history does not contain, has no bins.
// out: one entry for each channel; the arena owns the arrays of the bins. Fails with OD_IO or OD_NO_MEMORY.
od_status od_history_reader_bins(od_history *h, od_arena *memory, const char *machine, const char *const *channel,
                                 int channels, double from, double to, int points, od_history_bins *out, od_error *err);

// At most `points` rows of the times from `from` to `to`: the first row at or after each of `points` equidistant times. NAN: no value.
// od_history_reader_rows() fails with OD_IO or OD_NO_MEMORY.
typedef struct od_history_rows {
  int count;
  const double *t, *value;  // count; count x channels
} od_history_rows;
od_status od_history_reader_rows(od_history *h, od_arena *memory, const char *machine, const char *const *channel,
                                 int channels, double from, double to, int points, od_history_rows *out, od_error *err);

// An event of the database. machine NULL: an event of the twin. t: time of the machine, s. clock, acknowledged: times of the event and
// of its acknowledgment, seconds since 1970. A number is NAN if the event has no value. The arena owns the texts.
typedef struct od_history_event {
  int64_t id;
  const char *machine, *kind, *text;
  double t, clock, acknowledged;
} od_history_event;

// Selects events. `kinds`: at most OD_MOST_KINDS words, ended by NULL; NULL: all. od_history_reader_events() fails with OD_IO or
// OD_NO_MEMORY.
typedef struct od_event_query {
  const char *machine;    // NULL: all
  int64_t before, after;  // ids: only events between these ids, without them; 0: no limit
  int64_t id;             // only this event; 0: all
  bool is_open;           // whether only events that are not acknowledged are read
  const char *const *kinds;
  bool is_ascending;  // whether the oldest events come first; else the newest
  int most;           // largest number of events
} od_event_query;
od_status od_history_reader_events(od_history *h, od_arena *memory, const od_event_query *query, od_history_event **out,
                                   int *count, od_error *err);

#endif
