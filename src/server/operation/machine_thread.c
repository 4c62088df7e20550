// A machine in operation. The thread of its source finds the columns, computes the times and sorts the samples. The thread of the observer runs
// od_observe() on the samples of the queue.
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>

#include "base/allocate.h"
#include "experiment/live_source.h"
#include "io/clock.h"
#include "memory/owned.h"
#include "operation/operation.h"

const double od_latency_limits[OD_LATENCY_CLASSES - 1] = {5e-5, 1e-4, 2e-4, 5e-4, 1e-3, 2e-3, 5e-3, 1e-2, 2e-2, 0.1, 1};

enum {
  RING_BYTES = 1 << 20,
  MOST_WAITS = 200
};  // size of the ring, bytes; longest wait for the writer, in units of 5 ms

static void report(od_machine_thread *r, double t, const char *kind, const char *text) {
  od_event_list_add(&r->operation->events, r->index, t, kind, text);
}

// --- The thread of the source -------------------------------------------------------------------------------------

// Waits, at most a second, until the ring has room for the rows of all samples in the queue.
static void wait_for_writer(od_machine_thread *r) {
  long overrun;
  if (!atomic_load_explicit(&r->head, memory_order_acquire)) return;
  for (int i = 0;; i++) {
    const size_t waiting = od_row_ring_length(&r->ring) + (size_t)od_sample_queue_length(&r->queue, &overrun);
    if (waiting < r->ring.capacity * 3 / 4) {
      r->is_impatient = false;
      return;
    }
    if (r->is_impatient || i == MOST_WAITS || atomic_load(&r->operation->stops)) {
      r->is_impatient = true;
      return;
    }
    sem_post(&r->operation->wakes);
    nanosleep(&(struct timespec){.tv_nsec = 5000000}, NULL);
  }
}

static void pass_on(void *user, const od_raw_sample *s) {
  od_machine_thread *r = user;
  const od_twin_source *source = &r->operation->twin->source[r->settings->source];
  const bool waits = od_source_class_of(source->type)->waits;
  if (waits) wait_for_writer(r);
  od_sample_queue_put(&r->queue, s, waits);
}

od_status od_machine_thread_init(od_machine_thread *r, od_twin_run *o, int index, od_error *err) {
  const od_twin_machine *m = &o->twin->machine[index];
  *r = (od_machine_thread){.settings = m, .e = m->e, .operation = o, .index = index, .sequence = -1, .last_t = NAN};
  r->resume_t = -INFINITY;
  r->resume_sequence = -1;
  const int inputs = od_machine_input_count(r->e->model);
  r->u = OD_TAKE(&r->memory, double, inputs);
  r->u_last = OD_TAKE(&r->memory, double, inputs);
  r->y = OD_TAKE(&r->memory, double, r->e->sensors);
  r->compared = OD_TAKE(&r->memory, double, r->e->references);
  if (od_alarms_init(r) != OD_OK || od_arena_status(&r->memory) != OD_OK)
    return od_fail(err, OD_NO_MEMORY, "out of memory");
  for (int i = 0; i < inputs; i++) r->u[i] = NAN;  // not known
  pthread_mutex_init(&r->lock, NULL);
  return OD_OK;
}

void od_machine_thread_end(od_machine_thread *r) {
  if (!r->settings) return;
  od_sample_queue_end(&r->queue);
  od_observed_free(r->observed);
  od_checkpoint_free(&r->resume);
  od_checkpoint_free(&r->checkpoint);
  od_checkpoint_free(&r->slot);
  pthread_mutex_destroy(&r->lock);
  od_arena_free(&r->memory);
}

// Finds the columns of the experiment's channels. The messages about columns that do not fit become one event each. Returns whether all channels, and
// the sequence number if the source has one, have a column.
static bool find_columns(od_machine_thread *r, const od_table *head) {
  const od_twin_source *source = &r->operation->twin->source[r->settings->source];
  od_error err = {0};
  OD_OWNED(od_messages_free) od_messages *messages = od_messages_new();
  od_units *units = od_units_new(&err);
  bool ok = messages && units && od_log_match(&r->e->data, head, source->name, units, messages);
  for (int i = 0; messages && i < od_messages_count(messages); i++)
    report(r, NAN, "columns", od_messages_get(messages, i)->text);
  od_units_free(units);
  for (int i = 0; source->sequence && i < head->columns; i++)
    if (strcmp(head->name[i], source->sequence) == 0) r->sequence = i;
  if (ok && source->sequence && r->sequence < 0) {
    char text[200];
    snprintf(text, sizeof text, "the source has no column '%.60s' with sequence numbers", source->sequence);
    report(r, NAN, "columns", text);
    ok = false;
  }
  return ok;
}

static void *observe_thread(void *user);

void od_machine_thread_start(od_machine_thread *r, const od_table *head) {
  const int columns = head->columns;
  r->is_broken = !find_columns(r, head);
  if (r->is_broken) return;
  const double known = r->replays > 0 ? r->replay[(r->replays - 1) * r->replay_width] : r->resume_t;
  const int64_t last = r->replays > 0 ? r->replay_sequence : r->resume_sequence, next = last >= 0 ? last + 1 : -1;
  od_status status = od_sample_order_init(&r->order, &r->memory, r->settings->wait, columns, known, next);
  r->order.pass = pass_on;
  r->order.user = r;
  r->cells = OD_TAKE(&r->memory, double, columns);
  if (status == OD_OK) status = od_sample_queue_init(&r->queue, &r->memory, r->settings->queue, columns);
  r->has_thread = status == OD_OK && pthread_create(&r->thread, NULL, observe_thread, r) == 0;
  r->is_ready = r->has_thread;
  r->is_broken = !r->is_ready;
  if (r->is_broken) report(r, NAN, "failed", "the observer cannot be started: out of memory or threads");
}

void od_machine_thread_take(od_machine_thread *r, const double *cells, double arrival, bool is_historical) {
  od_raw_sample s = {.t = od_channel_value(&r->e->data.time, cells),
                     .sequence = -1,
                     .arrival = arrival,
                     .is_historical = is_historical,
                     .cell = cells};
  if (!isfinite(s.t)) {
    atomic_fetch_add(&r->refused, 1);
    return;
  }
  const double sequence = r->sequence >= 0 ? cells[r->sequence] : (double)NAN;
  if (sequence >= 0 && sequence <= 9007199254740992.0) s.sequence = (int64_t)sequence;
  od_sample_order_take(&r->order, &s);
}

void od_machine_thread_publish(od_machine_thread *r) {
  pthread_mutex_lock(&r->lock);
  r->counts = r->order.counts;
  r->ranges = r->order.ranges;
  memcpy(r->range, r->order.range, (size_t)r->ranges * sizeof *r->range);
  pthread_mutex_unlock(&r->lock);
}

od_status od_machine_thread_read_replay(od_machine_thread *r, od_error *err) {
  OD_SCRATCH(scratch);
  const od_experiment *e = r->e;
  const int sensors = e->sensors, inputs = od_machine_input_count(e->model), count = sensors + inputs + e->references;
  const char **name = OD_TAKE(&scratch, const char *, count);
  for (int i = 0; name && i < count; i++) {
    const int input = i - sensors, reference = input - inputs;
    name[i] = i < sensors      ? od_arena_format(&scratch, "measured.%s", e->sensor[i].name)
              : input < inputs ? od_arena_format(&scratch, "input.%s", od_machine_input_name(e->model, input))
                               : od_arena_format(&scratch, "compared.%s", e->reference[reference].name);
  }
  if (od_arena_status(&scratch) != OD_OK) return od_fail(err, OD_NO_MEMORY, "out of memory");
  r->replay_width = 1 + count;
  return od_history_read_rows(r->operation->history, &r->memory, r->stored, r->resume_t, name, count, &r->replay,
                              &r->replays, &r->replay_sequence, err);
}

// --- The thread of the observer -----------------------------------------------------------------------------------

// Converts the cells of the current sample. A missing input keeps its last value. Returns false until all inputs are known.
static bool convert(od_machine_thread *r) {
  const od_log_plan *plan = &r->e->data;
  const int inputs = od_machine_input_count(r->e->model), sensors = r->e->sensors;
  for (int i = 0; i < inputs; i++) {
    const double value = od_channel_value(&plan->channel[r->e->channel[sensors + i]], r->cells);
    if (isfinite(value)) r->u[i] = value;
  }
  for (int i = 0; i < inputs; i++)
    if (isnan(r->u[i])) return false;
  for (int i = 0; i < sensors; i++) {
    const double value = od_channel_value(&plan->channel[r->e->channel[i]], r->cells);
    r->y[i] = isfinite(value) ? value : (double)NAN;
  }
  for (int i = 0; i < r->e->references; i++)
    r->compared[i] = od_channel_value(&plan->channel[r->e->channel[sensors + inputs + i]], r->cells);
  return true;
}

// Takes the next row of the history after the checkpoint as a sample.
static void take_replay(od_machine_thread *r) {
  const int sensors = r->e->sensors, inputs = od_machine_input_count(r->e->model), references = r->e->references;
  const double *row = r->replay + r->replayed++ * r->replay_width;
  r->now.t = row[0];
  r->now.sequence = r->replayed == r->replays ? r->replay_sequence : -1;
  r->now.arrival = od_seconds();
  memcpy(r->y, row + 1, (size_t)sensors * sizeof *row);
  memcpy(r->u, row + 1 + sensors, (size_t)inputs * sizeof *row);
  memcpy(r->compared, row + 1 + sensors + inputs, (size_t)references * sizeof *row);
}

static od_status next(void *self, od_sample *out, bool *more, od_error *err) {
  od_machine_thread *r = self;
  (void)err;
  memcpy(r->u_last, r->u, (size_t)od_machine_input_count(r->e->model) * sizeof *r->u);
  const bool is_replay = r->replayed < r->replays;
  if (is_replay) take_replay(r);
  while (!is_replay) {
    *more = od_sample_queue_take(&r->queue, &r->now, r->cells);
    if (!*more) return OD_OK;
    if (convert(r)) break;
    atomic_fetch_add(&r->refused, 1);
  }
  // Inputs that are held between samples jump at every sample.
  const bool hold = r->e->data.hold && r->samples > 0;
  r->samples++;
  *out = (od_sample){
      .t = r->now.t, .u = hold ? r->u_last : r->u, .u_after = hold ? r->u : NULL, .y = r->y, .compared = r->compared};
  return OD_OK;
}

static void resume(void *self, double t, const double *u) {
  od_machine_thread *r = self;
  (void)t;
  r->samples = 1;
  memcpy(r->u, u, (size_t)od_machine_input_count(r->e->model) * sizeof *u);
}

// Copies the names of the columns: the writer may need them longer than the observer. Returns false if an allocation fails.
static bool begin(void *user, const od_observed *o) {
  od_machine_thread *r = user;
  const int columns = o->columns.count;
  od_row_head *head = OD_TAKE(&r->memory, od_row_head, 1);
  if (!head || od_row_ring_init(&r->ring, &r->memory, OD_RING_ROW + columns, RING_BYTES) != OD_OK) return false;
  *head =
      (od_row_head){columns, OD_TAKE(&r->memory, const char *, columns), OD_TAKE(&r->memory, const char *, columns)};
  for (int i = 0; head->name && head->unit && i < columns; i++) {
    head->name[i] = od_arena_text(&r->memory, o->table->name[i]);
    head->unit[i] = od_arena_text(&r->memory, o->table->unit[i]);
  }
  if (od_arena_status(&r->memory) != OD_OK) return false;
  if (r->operation->page && od_twin_page_begin(r, head) != OD_OK) return false;
  atomic_store_explicit(&r->head, head, memory_order_release);
  return true;
}

static void each(void *user, const od_sample *sample, od_observer *observer) {
  od_twin_page_each(user, sample->t, observer);
}

static bool answer(void *user, const od_observed *o, const double *row, od_sample_fate fate, const char *why) {
  od_machine_thread *r = user;
  double line[OD_RING_ROW + o->columns.count];
  line[OD_RING_FATE] = fate;
  line[OD_RING_LATENCY] = od_seconds() - r->now.arrival;
  line[OD_RING_SEQUENCE] = (double)r->now.sequence;
  memcpy(line + OD_RING_ROW, row, (size_t)o->columns.count * sizeof *row);
  od_row_ring_put(&r->ring, line);
  if (r->operation->page && fate == OD_TAKEN) od_twin_page_row(r, row, o->columns.count);
  if (fate == OD_HELD) r->checkpoint_next = 0;  // a new checkpoint: the rows of the history do not contain this sample
  if (od_row_ring_length(&r->ring) == r->ring.capacity / 2) sem_post(&r->operation->wakes);
  if (fate != OD_TAKEN) report(r, row[0], fate == OD_HELD ? "held" : "failed", why);
  return true;
}

static bool is_checkpoint_due(void *user) {
  const od_machine_thread *r = user;
  return !atomic_load_explicit(&r->has_checkpoint, memory_order_acquire) && od_seconds() >= r->checkpoint_next;
}

// Passes the checkpoint to the writer. The memory of the writer's previous checkpoint is used for the next checkpoint.
static void give_checkpoint(od_machine_thread *r) {
  const od_checkpoint filled = r->checkpoint;
  r->checkpoint = r->slot;
  r->slot = filled;
  r->slot_t = r->now.t;
  r->slot_sequence = r->now.sequence;
  atomic_store_explicit(&r->has_checkpoint, true, memory_order_release);
}

static void take_checkpoint(void *user, const od_checkpoint *checkpoint) {
  od_machine_thread *r = user;
  (void)checkpoint;
  give_checkpoint(r);
  r->checkpoint_next = od_seconds() + r->operation->twin->history.checkpoint;
}

static void *observe_thread(void *user) {
  od_machine_thread *r = user;
  const bool has_history = r->operation->history != NULL;
  prctl(PR_SET_NAME, "observer");
  od_sample_source source = {
      .self = r, .next = next, .resume = resume, .step = r->e->step, .begin = 0, .end = INFINITY};
  const od_observe_options options = {.user = r,
                                      .source = &source,
                                      .each = r->operation->page ? each : NULL,
                                      .begin = begin,
                                      .answer = answer,
                                      .keep_going = true,
                                      .resume = r->resume.bytes ? &r->resume : NULL,
                                      .checkpoint = has_history ? &r->checkpoint : NULL,
                                      .checkpoint_due = has_history ? is_checkpoint_due : NULL,
                                      .checkpoint_taken = has_history ? take_checkpoint : NULL,
                                      .keep = OD_ROWS_LAST};
  r->checkpoint_next = 0;                                                      // the first sample has a checkpoint
  r->now = (od_raw_sample){.t = r->resume_t, .sequence = r->resume_sequence};  // for events before the first sample
  r->status = od_observe(r->e, &options, &r->observed, &r->err);
  // A run without a sample after the checkpoint is not an error.
  if (r->resume.bytes && r->samples <= 1 && r->status == OD_BAD_INPUT && r->observed) r->status = OD_OK;
  if (r->status != OD_OK) report(r, r->now.t, "stopped", r->err.text);
  od_sample_queue_stop(&r->queue);
  atomic_store(&r->is_finished, true);
  return NULL;
}

void od_machine_thread_join(od_machine_thread *r) {
  if (!r->has_thread) return;
  pthread_join(r->thread, NULL);
  r->has_thread = false;
  // The observer stores its last state in `checkpoint`.
  if (r->operation->history && r->checkpoint.bytes && r->status == OD_OK && r->samples > 0 && isfinite(r->now.t)) {
    while (atomic_load_explicit(&r->has_checkpoint, memory_order_acquire))
      nanosleep(&(struct timespec){.tv_nsec = 5000000}, NULL);
    give_checkpoint(r);
  }
}
