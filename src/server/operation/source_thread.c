// A source in operation: reads messages in its own thread and passes each sample to the machines that use the source.
#include <string.h>

#include "io/clock.h"
#include "operation/operation.h"

static bool is_mine(const od_source_thread *s, const od_machine_thread *r) {
  return r->settings->source == s->index;
}

static void report(od_source_thread *s, const char *kind, const char *why) {
  char text[400];
  if (s->has_reader)
    snprintf(text, sizeof text, "%.60s, message %d: %.300s", s->settings->name, s->reader.lines.line, why);
  else
    snprintf(text, sizeof text, "%.60s: %.300s", s->settings->name, why);
  od_event_list_add(&s->operation->events, -1, (double)NAN, kind, text);
}

// Starts the machines of the source when its columns are known, and marks the columns that the machines use.
static void start_machines(od_source_thread *s, const od_table *head) {
  od_twin_run *o = s->operation;
  s->is_started = true;
  s->used = OD_TAKE(&s->memory, bool, head->columns);
  for (int i = 0; i < o->twin->machines; i++) {
    od_machine_thread *r = &o->machine[i];
    if (!is_mine(s, r)) continue;
    od_machine_thread_start(r, head);
    const od_log_plan *plan = &r->e->data;
    for (int c = -1; s->used && r->is_ready && c < plan->channels; c++) {
      const int at = (c < 0 ? &plan->time : &plan->channel[c])->at;
      if (at >= 0) s->used[at] = true;
    }
    if (s->used && r->is_ready && r->sequence >= 0) s->used[r->sequence] = true;
  }
  s->reader.lines.used = s->used;
}

// Takes a message. The first sample is read twice: the first reading finds the columns, and then texts in columns that no machine uses are not
// errors.
static void take_message(void *user, const char *text, size_t length) {
  od_source_thread *s = user;
  od_twin_run *o = s->operation;
  od_error err = {0};
  const double arrival = od_seconds();
  od_message_use kind = od_message_read(&s->reader, text, length, s->cells, &err);
  if (!s->is_started && s->reader.is_complete && (kind == OD_USE_SAMPLE || kind == OD_USE_BAD)) {
    start_machines(s, od_message_columns(&s->reader));
    s->reader.lines.line--;
    kind = od_message_read(&s->reader, text, length, s->cells, &err);
  }
  if (kind == OD_USE_BAD) report(s, "refused", err.text);
  for (int i = 0; i < o->twin->machines && kind >= OD_USE_SAMPLE; i++) {
    od_machine_thread *r = &o->machine[i];
    if (!is_mine(s, r) || !r->is_ready) continue;
    if (kind == OD_USE_BAD)
      atomic_fetch_add(&r->refused, 1);
    else
      od_machine_thread_take(r, s->cells, arrival, false);
    od_machine_thread_publish(r);
  }
}

// Takes a sample of a source that has cells and no texts.
static void take_cells(void *user, const od_table *head, const double *cells, bool is_historical) {
  od_source_thread *s = user;
  const double arrival = od_seconds();
  if (!s->is_started) start_machines(s, head);
  for (int i = 0; i < s->operation->twin->machines; i++) {
    od_machine_thread *r = &s->operation->machine[i];
    if (!is_mine(s, r) || !r->is_ready) continue;
    od_machine_thread_take(r, cells, arrival, is_historical);
    od_machine_thread_publish(r);
  }
}

static void take_number(void *user, int64_t number) {
  const od_source_thread *s = user;
  for (int i = 0; i < s->operation->twin->machines; i++) {
    od_machine_thread *r = &s->operation->machine[i];
    if (!is_mine(s, r) || !r->is_ready) continue;
    od_sample_order_number(&r->order, number);
    od_machine_thread_publish(r);
  }
}

static void take_event(void *user, const char *kind, const char *text) {
  const od_source_thread *s = user;
  char full[400];
  snprintf(full, sizeof full, "%.60s: %.330s", s->settings->name, text);
  for (int i = 0; i < s->operation->twin->machines; i++)
    if (is_mine(s, &s->operation->machine[i])) od_event_list_add(&s->operation->events, i, (double)NAN, kind, full);
}

static void refuse(void *user, const char *why) {
  report(user, "refused", why);
}

// Passes all held samples to the machines, because the source is silent or has ended.
static void be_silent(void *user) {
  od_source_thread *s = user;
  for (int i = 0; i < s->operation->twin->machines; i++) {
    od_machine_thread *r = &s->operation->machine[i];
    if (!is_mine(s, r) || !r->is_ready) continue;
    od_sample_order_flush(&r->order);
    od_machine_thread_publish(r);
  }
}

static bool goes_on(void *user) {
  return !atomic_load_explicit(&((od_source_thread *)user)->operation->stops, memory_order_relaxed);
}

static void *source_thread(void *user) {
  od_source_thread *s = user;
  const od_receiver to = {take_message, take_cells, take_number, take_event, refuse, be_silent, goes_on, s};
  s->status = s->class->run(s->self, &to, &s->err);
  if (s->status != OD_OK) report(s, "stopped", s->err.text);
  be_silent(s);
  for (int i = 0; i < s->operation->twin->machines; i++) {
    od_machine_thread *r = &s->operation->machine[i];
    if (is_mine(s, r) && r->is_ready) od_sample_queue_close(&r->queue, false);
  }
  atomic_store(&s->is_finished, true);
  return NULL;
}

// --- Start and end ------------------------------------------------------------------------------------------------

od_status od_source_thread_init(od_source_thread *s, od_twin_run *o, int index, od_error *err) {
  const od_twin *twin = o->twin;
  od_table_wish wish = {0};
  *s = (od_source_thread){.settings = &twin->source[index], .operation = o, .index = index};
  s->class = od_source_class_of(s->settings->type);
  for (int i = twin->machines - 1; i >= 0; i--)
    if (twin->machine[i].source == index) {
      const od_log_plan *plan = &twin->machine[i].e->data;
      wish = (od_table_wish){
          .missing = (const char *const *)plan->missing, .time = plan->time.column, .time_form = plan->time.file_unit};
    }
  s->cells = OD_TAKE(&s->memory, double, OD_MOST_CELLS);
  if (!s->cells) return od_fail(err, OD_NO_MEMORY, "out of memory");
  if (s->class->gives_cells) return s->class->open(s->settings, &s->self, err);
  od_status status = od_message_begin(&s->reader, s->settings, &wish, err);
  s->has_reader = true;
  return status == OD_OK ? s->class->open(s->settings, &s->self, err) : status;
}

void od_source_thread_end(od_source_thread *s) {
  if (s->has_reader) od_message_end(&s->reader);
  if (s->self) s->class->close(s->self);
  od_arena_free(&s->memory);
}

od_status od_source_thread_start(od_source_thread *s, od_error *err) {
  s->has_thread = pthread_create(&s->thread, NULL, source_thread, s) == 0;
  return s->has_thread ? OD_OK : od_fail(err, OD_NO_MEMORY, "cannot start a thread");
}

void od_source_thread_join(od_source_thread *s) {
  if (s->has_thread) pthread_join(s->thread, NULL);
  s->has_thread = false;
}
