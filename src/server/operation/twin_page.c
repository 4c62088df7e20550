// The page of a twin in operation: the observer's frames, the states of machines and the events for the board of the door (http/board.h).
//
// The observer computes the outputs that move the pictures only when a frame is due: 25 times per second of the clock for pages, and in the
// interval of the section 'page' for the history.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/allocate.h"
#include "io/clock.h"
#include "io/json.h"
#include "operation/operation.h"

#ifdef OD_HAVE_MICROHTTPD
#include "http/door.h"
#include "memory/owned.h"
#include "operation/verdict_window.h"
#include "report/estimated_outputs.h"

static const double live_interval = 0.04, longest_silence = 5;  // s
enum { FRAME_BYTES = 1 << 18, SILENT_INTERVALS = 20 };

// The page of a machine.
typedef struct od_twin_page_machine {
  od_run_views *views;
  od_plant *plant;  // the model with the outputs of the pictures
  double *y;
  int outputs;
  // Thread of the observer.
  double live_next,
      stored_next;  // monotonic time of the next live frame; time of the machine of the next stored one, s
  bool is_live, is_stored, has_ring;
  double *line;
  _Atomic double clock;  // arrival of the last sample, seconds since 1970; NAN: none
  // From the observer to the writer: time, then the outputs.
  od_row_ring frames;
  _Atomic bool has_frames;
  // Thread of the writer.
  int stored;  // index of the frames in the history; -1: none
  bool is_defined;
  long counted;             // samples at the last computation of the rate
  double counted_at, rate;  // monotonic time of this computation, s; samples per second
  od_verdict_window window;
  bool has_window;
} od_twin_page_machine;

struct od_twin_page_run {
  od_arena memory;
  od_board *board;
  od_door *door;
  od_twin_page_machine *machine;
  double metrics_next;
};

// --- Start and end ------------------------------------------------------------------------------------------------

static od_status init_machine(od_twin_run *o, od_twin_page_run *p, int i, od_error *err) {
  od_twin_page_machine *m = &p->machine[i];
  const od_machine *machine = o->machine[i].e->model;
  m->stored = -1;
  atomic_store(&m->clock, (double)NAN);
  m->stored_next = -INFINITY;
  m->views = od_run_views_new(machine, 1, 1, NULL, "estimate", 0);
  if (!m->views) return od_fail(err, OD_NO_MEMORY, "out of memory");
  m->outputs = m->views->bound;
  m->y = OD_TAKE(&p->memory, double, m->outputs);
  p->board->machine[i].views = m->views;
  if (!m->y) return od_fail(err, OD_NO_MEMORY, "out of memory");
  od_status status = od_machine_plant(machine, m->views->output, m->outputs, NULL, 0, &m->plant, err);
  double last;
  if (status == OD_OK && o->history && m->outputs > 0) {
    OD_SCRATCH(scratch);
    const char *name = od_arena_format(&scratch, "%s" OD_FRAMES_SUFFIX, o->machine[i].settings->name);
    status = name ? od_history_add_machine(o->history, name, o->machine[i].e->title, &m->stored, &last, err)
                  : od_fail(err, OD_NO_MEMORY, "out of memory");
  }
  return status;
}

od_status od_twin_page_new(od_twin_run *o, od_error *err) {
  od_twin_page_run *p = o->page = od_calloc(1, sizeof *p);
  if (!p) return od_fail(err, OD_NO_MEMORY, "out of memory");
  p->board = od_board_new(o->twin);
  p->machine = OD_TAKE(&p->memory, od_twin_page_machine, o->twin->machines);
  if (!p->board || !p->machine) return od_fail(err, OD_NO_MEMORY, "out of memory");
  od_status status = OD_OK;
  for (int i = 0; i < o->twin->machines && status == OD_OK; i++) status = init_machine(o, p, i, err);
  if (status == OD_OK && o->history) status = od_history_commit(o->history, err);
  return status == OD_OK ? od_door_open(o->twin, p->board, &p->door, err) : status;
}

void od_twin_page_close(od_twin_run *o) {
  if (o->page) od_door_close(o->page->door);
  if (o->page) o->page->door = NULL;
}

void od_twin_page_free(od_twin_run *o) {
  od_twin_page_run *p = o->page;
  if (!p) return;
  od_twin_page_close(o);
  for (int i = 0; p->machine && i < o->twin->machines; i++) {
    od_plant_free(p->machine[i].plant);
    if (p->machine[i].views) od_run_views_free(p->machine[i].views);
    od_verdict_window_end(&p->machine[i].window);
  }
  if (p->board) od_board_free(p->board);
  od_arena_free(&p->memory);
  od_free(p);
  o->page = NULL;
}

// --- The thread of the observer -----------------------------------------------------------------------------------

od_status od_twin_page_begin(od_machine_thread *r, const od_row_head *head) {
  OD_SCRATCH(scratch);
  od_twin_page_run *p = r->operation->page;
  od_twin_page_machine *m = &p->machine[r->index];
  const int rows = head->columns - 1, columns = rows + m->outputs;
  const char **name = OD_TAKE(&scratch, const char *, columns), **unit = OD_TAKE(&scratch, const char *, columns);
  m->line = OD_TAKE(&r->memory, double, OD_FRAME_COLUMNS + columns);
  if (!name || !unit || !m->line) return OD_NO_MEMORY;
  for (int c = 0; c < columns; c++) {
    const int output = c < rows ? -1 : m->views->output[c - rows];
    name[c] = c < rows ? head->name[1 + c]
                       : od_arena_format(&scratch, "view.%s", od_machine_output_name(m->views->machine, output));
    unit[c] = c < rows ? head->unit[1 + c] : od_machine_output_unit(m->views->machine, output);
  }
  if (od_arena_status(&scratch) != OD_OK) return OD_NO_MEMORY;
  od_status status = od_board_begin(p->board, r->index, &(od_frame_head){columns, rows, name, unit});
  if (status == OD_OK && m->stored >= 0) status = od_row_ring_init(&m->frames, &r->memory, 1 + m->outputs, FRAME_BYTES);
  m->has_ring = status == OD_OK;
  if (status == OD_OK) atomic_store_explicit(&m->has_frames, m->stored >= 0, memory_order_release);
  return status;
}

void od_twin_page_each(od_machine_thread *r, double t, od_observer *observer) {
  od_twin_page_machine *m = &r->operation->page->machine[r->index];
  m->is_live = m->has_ring && od_seconds() >= m->live_next;
  m->is_stored = m->has_ring && m->stored >= 0 && t >= m->stored_next;
  if (!m->is_live && !m->is_stored) return;
  if (od_estimated_outputs(m->plant, od_observer_sim(observer), m->y) != OD_OK)
    for (int i = 0; i < m->outputs; i++) m->y[i] = NAN;
}

void od_twin_page_row(od_machine_thread *r, const double *row, int columns) {
  od_twin_page_machine *m = &r->operation->page->machine[r->index];
  const double clock = od_clock_now() - (od_seconds() - r->now.arrival);
  atomic_store_explicit(&m->clock, clock, memory_order_relaxed);
  if (m->is_live) {
    m->line[OD_FRAME_TIME] = row[0];
    m->line[OD_FRAME_CLOCK] = clock;
    memcpy(m->line + OD_FRAME_COLUMNS, row + 1, (size_t)(columns - 1) * sizeof *row);
    memcpy(m->line + OD_FRAME_COLUMNS + columns - 1, m->y, (size_t)m->outputs * sizeof *row);
    od_row_ring_put(&r->operation->page->board->machine[r->index].frames, m->line);
    m->live_next = od_seconds() + live_interval;
  }
  if (m->is_stored) {
    const double interval = r->operation->twin->page.frames;
    m->line[0] = row[0];
    memcpy(m->line + 1, m->y, (size_t)m->outputs * sizeof *row);
    od_row_ring_put(&m->frames, m->line);
    m->stored_next = interval * (floor(row[0] / interval + 1e-6) + 1);
  }
  m->is_live = m->is_stored = false;
}

// --- The thread of the writer -------------------------------------------------------------------------------------

static od_machine_state state_of(const od_machine_thread *r, const od_twin_page_machine *m, double age) {
  if (r->is_broken) return OD_MACHINE_FAILED;
  if (atomic_load(&((od_machine_thread *)r)->is_finished))
    return r->status == OD_OK || r->status == OD_INTERRUPTED ? OD_MACHINE_ENDED : OD_MACHINE_FAILED;
  if (isnan(r->last_t)) return OD_MACHINE_WAITING;
  const double limit = fmax(longest_silence, m->rate > 0 ? SILENT_INTERVALS / m->rate : 0);
  return age > limit ? OD_MACHINE_SILENT : OD_MACHINE_RUNNING;
}

// Returns the upper limit of the class of latencies that 99 % of the samples do not exceed, s; NAN: the class has no limit, or there are no samples.
static double latency_99(const od_machine_thread *r, long count) {
  long sum = 0;
  for (int k = 0; k < OD_LATENCY_CLASSES - 1; k++)
    if ((double)(sum += r->latency[k]) >= 0.99 * (double)count) return count > 0 ? od_latency_limits[k] : (double)NAN;
  return NAN;
}

static void show_status(od_twin_run *o, int i, double now) {
  od_machine_thread *r = &o->machine[i];
  od_twin_page_machine *m = &o->page->machine[i];
  const long samples = r->taken + r->failed + r->held;
  long overrun = 0;
  if (now - m->counted_at >= 1) {
    m->rate = m->counted_at > 0 ? (double)(samples - m->counted) / (now - m->counted_at) : 0;
    m->counted = samples;
    m->counted_at = now;
  }
  const bool has_rows = atomic_load_explicit(&r->head, memory_order_acquire) != NULL;
  if (has_rows) od_sample_queue_length(&r->queue, &overrun);
  pthread_mutex_lock(&r->lock);
  const od_sample_counts c = r->counts;
  pthread_mutex_unlock(&r->lock);
  const double clock = atomic_load_explicit(&m->clock, memory_order_relaxed);
  const od_machine_status status = {.state = state_of(r, m, od_clock_now() - clock),
                                    .t = r->last_t,
                                    .clock = clock,
                                    .rate = m->rate,
                                    .latency = samples > 0 ? r->latency_sum / (double)samples : (double)NAN,
                                    .latency_99 = latency_99(r, samples),
                                    .taken = r->taken,
                                    .failed = r->failed,
                                    .held = r->held,
                                    .late = c.late,
                                    .historical = c.historical,
                                    .repeated = c.repeated,
                                    .reordered = c.reordered,
                                    .refused = atomic_load(&r->refused),
                                    .overrun = overrun,
                                    .dropped = (has_rows ? atomic_load(&r->ring.dropped) : 0) + r->unwritten,
                                    .missing = c.missing,
                                    .replayed = c.replayed};
  od_board_set_status(o->page->board, i, &status);
}

// Adds the changes of parameters that the observer has detected since the start of the window, as causes of the verdict.
static void add_causes(od_twin_run *o, int machine, json_t *verdict) {
  OD_SCRATCH(scratch);
  long next;
  json_t *causes = json_array();
  const double from = json_real_value(json_object_get(verdict, "from"));
  od_shown_event *event = OD_TAKE(&scratch, od_shown_event, OD_SHOWN_EVENTS);
  const int count = event ? od_board_events_after(o->page->board, 0, event, OD_SHOWN_EVENTS, &next) : 0;
  for (int i = 0; i < count; i++)
    if (event[i].machine == machine && strcmp(event[i].kind, "change") == 0 && event[i].t >= from)
      json_array_append_new(causes, json_pack("{s:s, s:s, s:o}", "trust", "doubtful", "code", "cause.change", "text",
                                              od_json_text(event[i].text)));
  json_object_set_new(verdict, "causes", causes);
}

void od_twin_page_take(od_machine_thread *r, const double *row) {
  od_twin_run *o = r->operation;
  od_twin_page_machine *m = &o->page->machine[r->index];
  char text[400];
  json_t *verdict;
  if (!m->has_window) {
    const od_row_head *head = atomic_load_explicit(&r->head, memory_order_acquire);
    m->has_window = head && od_verdict_window_init(&m->window, r->e, head, o->twin->page.verdict) == OD_OK;
    if (!m->has_window) return;
  }
  od_verdict_window_take(&m->window, row, &verdict, text);
  if (text[0]) od_event_list_add(&o->events, r->index, row[0], "verdict", text);
  if (!verdict) return;
  json_object_set_new(verdict, "clock", json_real(od_clock_now()));
  add_causes(o, r->index, verdict);
  char *json = json_dumps(verdict, JSON_COMPACT | JSON_REAL_PRECISION(12));
  if (json) od_board_set_verdict(o->page->board, r->index, json);
  od_json_text_free(json);
  json_decref(verdict);
}

// Writes the frames of a machine into the history. Frames are stored as rows without a pyramid.
static void store_frames(od_twin_run *o, int i) {
  OD_SCRATCH(scratch);
  od_twin_page_machine *m = &o->page->machine[i];
  od_error err = {0};
  if (!o->history || !atomic_load_explicit(&m->has_frames, memory_order_acquire)) return;
  if (!m->is_defined) {
    od_history_channel *channel = OD_TAKE(&scratch, od_history_channel, m->outputs);
    for (int k = 0; channel && k < m->outputs; k++) {
      const char *name =
          od_arena_format(&scratch, "view.%s", od_machine_output_name(m->views->machine, m->views->output[k]));
      channel[k] = (od_history_channel){name, od_machine_output_unit(m->views->machine, m->views->output[k]), -1};
    }
    if (od_arena_status(&scratch) != OD_OK) return;
    m->is_defined = od_history_define_rows(o->history, m->stored, channel, m->outputs, &err) == OD_OK;
    if (!m->is_defined) return;
  }
  for (const double *row; (row = od_row_ring_first(&m->frames)); od_row_ring_next(&m->frames))
    (void)od_history_add_row(o->history, m->stored, row, -1, &err);
}

// Stores the acknowledgments of readers in the history, and adds an event with the name of the reader for each acknowledgment.
static void store_acts(od_twin_run *o) {
  od_act act[OD_MOST_ACTS];
  od_error err = {0};
  const int count = od_board_take_acts(o->page->board, act);
  for (int i = 0; i < count; i++) {
    char text[160];
    od_shown_event event;
    const int machine = od_board_find_event(o->page->board, act[i].event, &event) ? event.machine : -1;
    if (o->history) (void)od_history_acknowledge(o->history, act[i].event, od_clock_now(), &err);
    snprintf(text, sizeof text, "'%s' acknowledged event %lld", act[i].actor, (long long)act[i].event);
    od_event_list_add(&o->events, machine, NAN, "acknowledged", text);
  }
}

void od_twin_page_write(od_twin_run *o) {
  const double now = od_seconds();
  for (int i = 0; i < o->twin->machines; i++) {
    show_status(o, i, now);
    store_frames(o, i);
  }
  store_acts(o);
  if (now < o->page->metrics_next) return;
  char *text = NULL;
  size_t size = 0;
  FILE *to = open_memstream(&text, &size);
  o->page->metrics_next = now + 1;
  if (!to) return;
  od_metrics_print(to, o);
  if (fclose(to) == 0 && text) od_board_set_metrics(o->page->board, text);
  od_libc_free(text);
}

void od_twin_page_event(od_twin_run *o, const od_twin_event *e) {
  od_shown_event shown = {.id = o->history ? od_history_event_id(o->history) : -1,
                          .machine = e->machine,
                          .t = e->t,
                          .clock = e->clock,
                          .acknowledged = NAN};
  snprintf(shown.kind, sizeof shown.kind, "%s", e->kind);
  snprintf(shown.text, sizeof shown.text, "%s", e->text);
  od_board_add_event(o->page->board, &shown);
}

#else

od_status od_twin_page_new(od_twin_run *o, od_error *err) {
  (void)o;
  return od_fail(err, OD_BAD_INPUT,
                 "the page cannot be served: this oleodyn-twin was built without HTTP; install libmicrohttpd-dev and "
                 "libgnutls28-dev");
}
void od_twin_page_close(od_twin_run *o) {
  (void)o;
}
void od_twin_page_free(od_twin_run *o) {
  (void)o;
}
od_status od_twin_page_begin(od_machine_thread *r, const od_row_head *head) {
  (void)r, (void)head;
  return OD_OK;
}
void od_twin_page_each(od_machine_thread *r, double t, od_observer *observer) {
  (void)r, (void)t, (void)observer;
}
void od_twin_page_row(od_machine_thread *r, const double *row, int columns) {
  (void)r, (void)row, (void)columns;
}
void od_twin_page_take(od_machine_thread *r, const double *row) {
  (void)r, (void)row;
}
void od_twin_page_write(od_twin_run *o) {
  (void)o;
}
void od_twin_page_event(od_twin_run *o, const od_twin_event *e) {
  (void)o, (void)e;
}
#endif
