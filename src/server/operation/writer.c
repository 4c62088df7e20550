// The writer: takes rows, checkpoints and events of all machines, and writes history and metrics. The observers do not wait for the writer.
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "io/clock.h"
#include "io/wording.h"
#include "operation/operation.h"

static const double retain_every = 10, pause_without_history = 0.2, longest_pause_of_page = 0.5;  // s

// --- Rows ---------------------------------------------------------------------------------------------------------

// Defines the channels of a machine: the columns of its rows, without the column of the time. The standard deviation of
// estimate.X is sigma.X. Fails with OD_IO or OD_NO_MEMORY.
static od_status define(od_twin_run *o, od_machine_thread *r, const od_row_head *head, od_error *err) {
  OD_SCRATCH(scratch);
  od_history_channel *channel = OD_TAKE(&scratch, od_history_channel, head->columns);
  if (!r->last) r->last = OD_TAKE(&o->memory, double, head->columns);
  if (!channel || !r->last) return od_fail(err, OD_NO_MEMORY, "out of memory");
  r->is_defined = !o->history;
  if (!o->history) return OD_OK;
  for (int c = 1; c < head->columns; c++) {
    const bool is_estimate = strncmp(head->name[c], "estimate.", 9) == 0 && c + 1 < head->columns;
    channel[c - 1] = (od_history_channel){head->name[c], head->unit[c], is_estimate ? c : -1};
  }
  od_status status = od_history_define(o->history, r->stored, channel, head->columns - 1, err);
  r->is_defined = status == OD_OK;
  return status;
}

// Counts a sample and its latency.
static void count(od_machine_thread *r, const double *line) {
  const int fate = (int)line[OD_RING_FATE];
  int class = 0;
  r->taken += fate == OD_TAKEN;
  r->failed += fate == OD_FAILED;
  r->held += fate == OD_HELD;
  while (class < OD_LATENCY_CLASSES - 1 && line[OD_RING_LATENCY] > od_latency_limits[class]) class ++;
  r->latency[class]++;
  r->latency_sum += line[OD_RING_LATENCY];
}

static void write_rows(od_twin_run *o, od_machine_thread *r) {
  const od_row_head *head = atomic_load_explicit(&r->head, memory_order_acquire);
  od_error err = {0};
  if (!head) return;
  if (!r->is_defined && define(o, r, head, &err) != OD_OK) fprintf(stderr, "oleodyn-twin: warning: %s\n", err.text);
  if (!r->last) return;
  for (const double *line; (line = od_row_ring_first(&r->ring)); od_row_ring_next(&r->ring)) {
    const double *row = line + OD_RING_ROW;
    count(r, line);
    if (line[OD_RING_FATE] != OD_TAKEN) continue;
    memcpy(r->last, row, (size_t)head->columns * sizeof *row);
    r->last_t = row[0];
    od_alarms_take(r, head, row);
    if (o->page) od_twin_page_take(r, row);
    if (o->history && od_history_add_row(o->history, r->stored, row, (int64_t)line[OD_RING_SEQUENCE], &err) != OD_OK)
      r->unwritten++;
  }
}

// Writes the checkpoint that the observer gave before the rows were taken: all rows up to its time are in the same transaction or
// in an earlier transaction. If the transaction fails, the checkpoint is not stored.
static void write_checkpoint(od_twin_run *o, od_machine_thread *r) {
  od_error err = {0};
  (void)od_history_add_checkpoint(o->history, r->stored, r->slot_t, r->slot_sequence, od_clock_now(), &r->slot, &err);
  atomic_store_explicit(&r->has_checkpoint, false, memory_order_release);
}

// --- Events -------------------------------------------------------------------------------------------------------

// Returns whether an event is not printed as a warning.
static bool is_usual(const char *kind) {
  static const char *const usual[] = {"start", "end", "birth", "rebirth"};
  for (size_t i = 0; i < sizeof usual / sizeof *usual; i++)
    if (strcmp(kind, usual[i]) == 0) return true;
  return false;
}

static void write_event(od_twin_run *o, const od_twin_event *e) {
  od_error err = {0};
  const char *name = e->machine >= 0 ? o->machine[e->machine].settings->name : o->twin->title;
  if (!o->quiet && !is_usual(e->kind)) fprintf(stderr, "oleodyn-twin: warning: %s: %s\n", name, e->text);
  if (o->history)
    (void)od_history_add_event(o->history, e->machine >= 0 ? o->machine[e->machine].stored : -1, e->t, e->clock,
                               e->kind, e->text, &err);
  if (o->page) od_twin_page_event(o, e);
}

static void add_event(od_twin_run *o, const od_machine_thread *r, double t, const char *kind, const char *text) {
  od_twin_event e = {.machine = r->index, .t = t, .clock = od_clock_now()};
  snprintf(e.kind, sizeof e.kind, "%s", kind);
  snprintf(e.text, sizeof e.text, "%s", text);
  write_event(o, &e);
}

// Adds an event about samples if their number has grown. what: the predicate of "N samples".
static void report_growth(od_twin_run *o, const od_machine_thread *r, long *reported, long now, double t,
                          const char *kind, const char *what) {
  char text[200];
  if (now <= *reported) {
    *reported = now;
    return;
  }
  snprintf(text, sizeof text, "%s %s", od_count(now - *reported, "sample").text, what);
  *reported = now;
  add_event(o, r, t, kind, text);
}

// Adds an event with the missing sequence numbers if their number has changed.
static void report_missing(od_twin_run *o, od_machine_thread *r, const od_sample_counts *now,
                           const od_missing_range *range, int ranges) {
  char text[400];
  if (now->missing == r->reported.missing) return;
  od_name_list list = {.most = 8};
  for (int i = ranges - 1; i >= 0; i--)
    if (range[i].first == range[i].last)
      od_name_list_add(&list, "%lld", (long long)range[i].first);
    else
      od_name_list_add(&list, "%lld to %lld", (long long)range[i].first, (long long)range[i].last);
  if (now->missing == 0)
    snprintf(text, sizeof text, "no sequence number is missing any more");
  else
    snprintf(text, sizeof text, "%s %s missing; sequence numbers, the latest first: %.200s",
             od_count(now->missing, "sample").text, od_form(now->missing, "is", "are"), od_name_list_text(&list));
  r->reported.missing = now->missing;
  add_event(o, r, r->last_t, "missing", text);
}

static void report_counts(od_twin_run *o, od_machine_thread *r) {
  od_missing_range range[OD_MOST_RANGES];
  long overrun = 0;
  pthread_mutex_lock(&r->lock);
  const od_sample_counts now = r->counts;
  const int ranges = r->ranges;
  memcpy(range, r->range, (size_t)ranges * sizeof *range);
  pthread_mutex_unlock(&r->lock);
  report_growth(o, r, &r->reported.late, now.late, now.last_late, "late", "arrived too late: left out");
  report_growth(o, r, &r->reported.historical, now.historical, r->last_t, "historical",
                "kept by the sender arrived after later samples: left out");
  report_growth(o, r, &r->reported.repeated, now.repeated, r->last_t, "repeated", "arrived more than once");
  report_growth(o, r, &r->reported.restarted, now.restarted, r->last_t, "restarted",
                "began a new sequence of numbers: the sender has started again");
  report_growth(o, r, &r->reported_refused, atomic_load(&r->refused), r->last_t, "refused",
                "cannot be used: no time, no value of an input, or not readable");
  if (atomic_load_explicit(&r->head, memory_order_acquire)) {
    od_sample_queue_length(&r->queue, &overrun);
    report_growth(o, r, &r->reported_overrun, overrun, r->last_t, "overrun",
                  "left out because the observer was too slow, or because the twin ended");
    report_growth(o, r, &r->reported_dropped, atomic_load(&r->ring.dropped) + r->unwritten, r->last_t, "dropped",
                  "observed but not stored because the history could not be written in time");
  }
  report_missing(o, r, &now, range, ranges);
}

static void write_events(od_twin_run *o) {
  long dropped = 0;
  const int n = od_event_list_take(&o->events, o->event, &dropped);
  for (int i = 0; i < n; i++) write_event(o, &o->event[i]);
  if (dropped > 0) {
    od_twin_event e = {.machine = -1, .t = NAN, .clock = od_clock_now(), .kind = "events"};
    snprintf(e.text, sizeof e.text, "%s %s left out because too many events waited", od_count(dropped, "event").text,
             od_form(dropped, "was", "were"));
    write_event(o, &e);
  }
}

// --- The thread ---------------------------------------------------------------------------------------------------

// Ends the transaction. When the history can be written again after failures, this becomes an event.
static void commit(od_twin_run *o, double now) {
  od_error err = {0};
  od_status status = od_history_commit(o->history, &err);
  if (status != OD_OK && !o->is_failing) {
    fprintf(stderr, "oleodyn-twin: warning: %s; the twin tries again\n", err.text);
    o->failing_since = now;
    snprintf(o->failure, sizeof o->failure, "%.299s", err.text);
  }
  if (status == OD_OK && o->is_failing) {
    char text[400];
    snprintf(text, sizeof text, "the history is written again after %.1f s. %.300s", od_seconds() - o->failing_since,
             o->failure);
    od_event_list_add(&o->events, -1, NAN, "history", text);
  }
  o->is_failing = status != OD_OK;
}

// Writes the rows, checkpoints and events that have arrived; estimates and metrics if they are due or `last` is set.
static void write_all(od_twin_run *o, bool last) {
  od_error err = {0};
  for (int i = 0; i < o->twin->machines; i++) {
    od_machine_thread *r = &o->machine[i];
    const bool has_checkpoint = o->history && atomic_load_explicit(&r->has_checkpoint, memory_order_acquire);
    write_rows(o, r);
    if (has_checkpoint) write_checkpoint(o, r);
    report_counts(o, r);
  }
  if (o->page) od_twin_page_write(o);
  write_events(o);
  const double now = od_seconds();
  if (o->history && now >= o->retain_next) {
    long removed = 0;
    (void)od_history_retain(o->history, &removed, &err);
    o->retain_next = now + (removed > 0 ? 0 : retain_every);
  }
  if (o->history) commit(o, now);
  if (o->publisher && (last || now >= o->publish_next)) {
    od_publisher_write(o->publisher);
    o->publish_next = now + o->twin->publish_every;
  }
  if (o->twin->metrics && (last || now >= o->metrics_next)) {
    if (od_metrics_write(o, &err) != OD_OK && !o->quiet) fprintf(stderr, "oleodyn-twin: warning: %s\n", err.text);
    o->metrics_next = now + o->twin->metrics_every;
  }
}

static void *writer_thread(void *user) {
  od_twin_run *o = user;
  double pause = o->history ? o->twin->history.write : pause_without_history;
  if (o->publisher) pause = fmin(pause, o->twin->publish_every);
  if (o->twin->metrics) pause = fmin(pause, o->twin->metrics_every);
  if (o->page) pause = fmin(pause, longest_pause_of_page);
  while (!atomic_load(&o->ends)) {
    const double until = od_clock_now() + pause;
    const struct timespec wake = {.tv_sec = (time_t)until, .tv_nsec = (long)(1e9 * (until - floor(until)))};
    sem_timedwait(&o->wakes, &wake);
    while (sem_trywait(&o->wakes) == 0)
      ;
    write_all(o, false);
  }
  return NULL;
}

od_status od_writer_start(od_twin_run *o, od_error *err) {
  sem_init(&o->wakes, 0, 0);
  o->has_writer = pthread_create(&o->writer, NULL, writer_thread, o) == 0;
  return o->has_writer ? OD_OK : od_fail(err, OD_NO_MEMORY, "cannot start a thread");
}

void od_writer_end(od_twin_run *o) {
  if (!o->has_writer) return;
  atomic_store(&o->ends, true);
  sem_post(&o->wakes);
  pthread_join(o->writer, NULL);
  write_all(o, true);
  sem_destroy(&o->wakes);
  o->has_writer = false;
}
