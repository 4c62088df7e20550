// Starts and ends the threads of a twin.
#include "operation/operation.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/allocate.h"
#include "io/clock.h"
#include "io/display.h"
#include "io/wording.h"

static const double drain_time = 0.5;  // longest time for which waiting samples are observed after an interrupt, s

static void end_operation(od_twin_run *o) {
  od_twin_page_free(o);
  od_publisher_free(o->publisher);
  for (int i = 0; i < o->twin->sources; i++) od_source_thread_end(&o->source[i]);
  for (int i = 0; i < o->twin->machines; i++) od_machine_thread_end(&o->machine[i]);
  od_history_close(o->history);
  od_event_list_end(&o->events);
  od_arena_free(&o->memory);
  od_free(o);
}

// Opens the history and reads the checkpoints of all machines. Fails with OD_BAD_INPUT, OD_IO or OD_NO_MEMORY.
static od_status open_history(od_twin_run *o, bool fresh, od_error *err) {
  if (!o->twin->history.file && !o->twin->history.url) return OD_OK;
  od_status status = od_history_open(&o->twin->history, &o->history, err);
  for (int i = 0; i < o->twin->machines && status == OD_OK; i++) {
    od_machine_thread *r = &o->machine[i];
    double last = NAN;
    status = od_history_add_machine(o->history, r->settings->name, r->e->title, &r->stored, &last, err);
    if (status == OD_OK && !fresh)
      status = od_history_read_checkpoint(o->history, r->stored, &r->resume_t, &r->resume_sequence, &r->resume, err);
    if (status == OD_OK && r->resume.bytes) status = od_machine_thread_read_replay(r, err);
    if (status != OD_OK) return status;
    char text[200];
    if (r->resume.bytes)
      snprintf(text, sizeof text, "the observer continues from its checkpoint at %s s",
               od_time_text(r->resume_t, 3).text);
    else
      snprintf(text, sizeof text, "the observer starts");
    od_event_list_add(&o->events, i, r->resume.bytes ? r->resume_t : (double)NAN, "start", text);
  }
  if (status == OD_OK) status = od_history_commit(o->history, err);
  return status;
}

static od_status prepare(od_twin_run *o, const od_twin_options *options, od_error *err) {
  const od_twin *t = o->twin;
  o->machine = OD_TAKE(&o->memory, od_machine_thread, t->machines);
  o->source = OD_TAKE(&o->memory, od_source_thread, t->sources);
  o->event = OD_TAKE(&o->memory, od_twin_event, OD_MOST_EVENTS);
  if (od_arena_status(&o->memory) != OD_OK) return od_fail(err, OD_NO_MEMORY, "out of memory");
  od_status status = OD_OK;
  for (int i = 0; i < t->machines && status == OD_OK; i++) status = od_machine_thread_init(&o->machine[i], o, i, err);
  if (status == OD_OK) status = open_history(o, options->fresh, err);
  if (status == OD_OK && t->broker.host) status = od_publisher_new(o, &o->publisher, err);
  if (status == OD_OK && t->page.address) status = od_twin_page_new(o, err);
  for (int i = 0; i < t->sources && status == OD_OK; i++) status = od_source_thread_init(&o->source[i], o, i, err);
  return status;
}

static bool are_finished(const od_twin_run *o) {
  bool all = true;
  for (int i = 0; i < o->twin->sources; i++) all = all && atomic_load(&o->source[i].is_finished);
  return all;
}

static void pause_for(long ms) {
  nanosleep(&(struct timespec){.tv_nsec = 1000000 * ms}, NULL);
}

// Waits until all sources have ended or options->goes_on() returns false.
static void wait_for_end(od_twin_run *o, const od_twin_options *options) {
  while (!are_finished(o) && (!options->goes_on || options->goes_on(options->user))) pause_for(20);
}

// Ends sources and observers. If the sources have ended, all waiting samples are observed; otherwise samples are observed for a
// limited time. A source may wait for a place in the queue of a slow observer, so queues are closed after this time.
static void stop(od_twin_run *o, const od_twin_options *options) {
  const bool has_ended = are_finished(o);
  const double until = od_seconds() + drain_time;
  atomic_store(&o->stops, true);
  while (!are_finished(o) && od_seconds() < until) pause_for(5);
  for (int i = 0; i < o->twin->machines && !are_finished(o); i++)
    if (atomic_load(&o->machine[i].is_ready)) od_sample_queue_close(&o->machine[i].queue, true);
  for (int i = 0; i < o->twin->sources; i++) od_source_thread_join(&o->source[i]);
  for (int i = 0; i < o->twin->machines; i++) {
    od_machine_thread *r = &o->machine[i];
    bool goes_on = true;
    while (r->has_thread && goes_on && !atomic_load(&r->is_finished)) {
      goes_on = has_ended ? !options->goes_on || options->goes_on(options->user) : od_seconds() < until;
      pause_for(2);
    }
    if (r->has_thread && !goes_on) od_sample_queue_close(&r->queue, true);
    od_machine_thread_join(r);
  }
}

// Prints a line with the counts of samples for each machine.
static void print_summary(const od_twin_run *o) {
  for (int i = 0; i < o->twin->machines && !o->quiet; i++) {
    const od_machine_thread *r = &o->machine[i];
    const od_sample_counts *c = &r->order.counts;
    printf("%s: %s observed, %ld failed, %ld held, %ld late, %ld repeated, %ld missing, %ld refused\n",
           r->settings->name, od_count(r->taken, "sample").text, r->failed, r->held, c->late, c->repeated, c->missing,
           atomic_load(&((od_machine_thread *)r)->refused));
  }
}

static od_status first_failure(const od_twin_run *o, od_error *err) {
  for (int i = 0; i < o->twin->sources; i++)
    if (o->source[i].status != OD_OK)
      return od_fail(err, o->source[i].status, "%s: %s", o->source[i].settings->name, o->source[i].err.text);
  for (int i = 0; i < o->twin->machines; i++) {
    const od_machine_thread *r = &o->machine[i];
    if (r->is_broken)
      return od_fail(
          err, OD_BAD_INPUT,
          "%s: the columns of its source do not fit the experiment, or the observer cannot be started; the events give the reason",
          r->settings->name);
    if (r->status != OD_OK && r->status != OD_INTERRUPTED)
      return od_fail(err, r->status, "%s: %s", r->settings->name, r->err.text);
  }
  return OD_OK;
}

od_status od_twin_operate(const od_twin *twin, const od_twin_options *options, od_error *err) {
  od_twin_run *o = od_calloc(1, sizeof *o);
  if (!o) return od_fail(err, OD_NO_MEMORY, "out of memory");
  o->twin = twin;
  o->quiet = options->quiet;
  od_event_list_init(&o->events);
  od_status status = prepare(o, options, err);
  if (status == OD_OK) status = od_writer_start(o, err);
  if (status == OD_OK) {
    for (int i = 0; i < twin->sources && status == OD_OK; i++) status = od_source_thread_start(&o->source[i], err);
    if (status == OD_OK) wait_for_end(o, options);
    stop(o, options);
    for (int i = 0; i < twin->machines; i++)
      od_event_list_add(&o->events, i, o->machine[i].now.t, "end", "the observer ended");
    od_writer_end(o);
    od_twin_page_close(o);
    if (status == OD_OK) status = first_failure(o, err);
    if (status == OD_OK && o->is_failing)
      status = od_fail(err, OD_IO, "the last data were not stored: %.300s", o->failure);
    print_summary(o);
  }
  end_operation(o);
  return status;
}
