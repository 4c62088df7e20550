// A live stream as a source of samples. A line that cannot be used is refused, and the source waits for the next line: a
// broken cable must not stop an observer. No memory is allocated after the start.
#include "experiment/live_source.h"

#include <errno.h>
#include <math.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

#include "formats/csv_lines.h"
#include "memory/owned.h"

enum { LONGEST_LINE = 65536, MOST_SKIPPED = 256, WAIT_MS = 100 };  // bytes; number of skipped buffers of one line; ms

typedef struct live {
  od_experiment *e;
  od_live_options options;
  od_csv_lines lines;
  bool units_may_follow;  // whether the next line may contain units, because only the header has been read

  // Bytes that were read but not used yet.
  char buffer[LONGEST_LINE];
  size_t begin, end;
  bool ended;
  int inputs;
  long samples;
  double t;  // time of the last sample, s
  double *cells, *u, *u_last, *y, *compared;
  bool *used;  // per column: whether a channel uses the column
} live;

// --- Lines --------------------------------------------------------------------------------------------------------

// Waits for more bytes and appends them to the buffer. OD_INTERRUPTED: goes_on() returned false.
static od_status fill(live *m, od_error *err) {
  if (m->begin > 0) memmove(m->buffer, m->buffer + m->begin, m->end - m->begin);
  m->end -= m->begin;
  m->begin = 0;
  for (;;) {
    struct pollfd input = {.fd = m->options.input, .events = POLLIN};
    int ready = poll(&input, 1, WAIT_MS);
    if (m->options.goes_on && !m->options.goes_on(m->options.user))
      return od_fail(err, OD_INTERRUPTED, "interrupted after line %d", m->lines.line);
    if (ready <= 0) continue;
    ssize_t got = read(m->options.input, m->buffer + m->end, sizeof m->buffer - m->end);
    if (got < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (got < 0) return od_fail(err, OD_IO, "cannot read %s: %s", m->options.name, strerror(errno));
    m->end += (size_t)got;
    m->ended = got == 0;
    return OD_OK;
  }
}

typedef struct line {
  const char *text;  // NULL: end of the stream
  size_t length;
  bool too_long;  // whether the line is longer than the buffer; `text` is then only the end of the line
} line;

// Reads the next line, which is valid until the next call.
static od_status next_line(live *m, line *out, od_error *err) {
  int cut = 0;
  *out = (line){0};
  for (size_t seen = 0;;) {
    char *text = m->buffer + m->begin, *stop = memchr(text + seen, '\n', m->end - m->begin - seen);
    seen = m->end - m->begin;
    if (stop || (m->ended && seen > 0)) {
      size_t length = stop ? (size_t)(stop - text) : seen;
      m->begin += length + (stop ? 1 : 0);
      if (length > 0 && text[length - 1] == '\r') length--;
      m->lines.line++;
      *out = (line){text, length, cut > 0};
      return OD_OK;
    }
    if (m->ended) return OD_OK;
    if (seen == sizeof m->buffer) m->begin = m->end, seen = 0, cut++;
    if (cut > MOST_SKIPPED)
      return od_fail(err, OD_BAD_INPUT,
                     "%s:%d:1: this line is longer than %d MB; expected a shorter line with one sample",
                     m->options.name, m->lines.line + 1, (MOST_SKIPPED * LONGEST_LINE) >> 20);
    od_status status = fill(m, err);
    if (status != OD_OK) return status;
  }
}

// Reads the next line that is not empty.
static od_status next_full_line(live *m, line *out, od_error *err) {
  od_status status;
  do status = next_line(m, out, err);
  while (status == OD_OK && out->text && !out->too_long && od_csv_is_empty(&m->lines, out->text, out->length));
  return status;
}

// --- Columns ------------------------------------------------------------------------------------------------------

// Finds the columns of the channels.
static od_status match(live *m, od_messages *messages, od_error *err) {
  od_units *units = od_units_new(err);
  if (!units) return err->status;
  od_log_plan *plan = &m->e->data;
  bool ok = od_log_match(plan, m->lines.table, m->options.name, units, messages);
  for (int i = -1; ok && i < plan->channels; i++) {
    const od_channel *c = i < 0 ? &plan->time : &plan->channel[i];
    if (c->at >= 0) m->used[c->at] = true;
  }
  od_units_free(units);
  return ok ? OD_OK : OD_BAD_INPUT;
}

// --- Samples ------------------------------------------------------------------------------------------------------

// Reports that a line cannot be used. Returns false.
static bool refuse(const live *m, double t, const char *format, double value) {
  char why[300], text[200];
  snprintf(text, sizeof text, format, value);
  snprintf(why, sizeof why, "%s:%d:1: %s", m->options.name, m->lines.line, text);
  m->options.refuse(m->options.user, t, why);
  return false;
}

// Reads the time and the values of a line. A missing input keeps its last value. False: the line was refused.
static bool take_line(live *m, const line *l, double *t) {
  const od_log_plan *plan = &m->e->data;
  od_error why = {0};
  if (l->too_long) return refuse(m, NAN, "this line is longer than %.0f bytes", LONGEST_LINE);
  if (od_csv_row(&m->lines, l->text, l->length, m->cells, &why) != OD_OK) {
    m->options.refuse(m->options.user, NAN, why.text);
    return false;
  }
  *t = plan->interval > 0 ? (double)m->samples * plan->interval : od_channel_value(&plan->time, m->cells);
  if (!isfinite(*t)) return refuse(m, NAN, "this line has no time; expected a number in the time column", 0);
  if (m->samples > 0 && *t <= m->t)
    return refuse(m, *t, "times must increase; the time of the previous line was %.9g s", m->t);
  for (int i = 0; i < m->inputs; i++) {
    double value = od_channel_value(&plan->channel[m->e->channel[m->e->sensors + i]], m->cells);
    if (!isfinite(value) && m->samples == 0)
      return refuse(m, *t, "the first line must contain values of all inputs", 0);
    if (isfinite(value)) m->u[i] = value;
  }
  for (int i = 0; i < m->e->sensors; i++) {
    double value = od_channel_value(&plan->channel[m->e->channel[i]], m->cells);
    m->y[i] = isfinite(value) ? value : (double)NAN;
  }
  for (int i = 0; i < m->e->references; i++)
    m->compared[i] = od_channel_value(&plan->channel[m->e->channel[m->e->sensors + m->inputs + i]], m->cells);
  return true;
}

// Reads the line below the header, which may contain units. In this case the units of the channels are checked again.
static od_status take_units(live *m, const line *l, bool *taken, od_error *err) {
  od_status status = l->too_long ? OD_OK : od_csv_units(&m->lines, l->text, l->length, taken, err);
  if (status != OD_OK || !*taken) return status;
  OD_OWNED(od_messages_free) od_messages *messages = od_messages_new();
  if (!messages) return od_fail(err, OD_NO_MEMORY, "out of memory");
  status = match(m, messages, err);
  if (od_messages_count(messages) > 0)
    od_fail(err, status, "%s:%d:1: %s", m->options.name, m->lines.line, od_messages_get(messages, 0)->text);
  return status;
}

static od_status next(void *self, od_sample *out, bool *more, od_error *err) {
  live *m = self;
  double t = 0;
  memcpy(m->u_last, m->u, (size_t)m->inputs * sizeof *m->u);
  for (bool taken = false; !taken;) {
    line l;
    bool units = false;
    od_status status = next_full_line(m, &l, err);
    *more = status == OD_OK && l.text;
    if (*more && m->units_may_follow) status = take_units(m, &l, &units, err);
    m->units_may_follow = false;
    if (!*more || status != OD_OK) return status;
    taken = !units && take_line(m, &l, &t);
  }
  // Held inputs jump at every sample.
  bool hold = m->e->data.hold && m->samples > 0;
  m->t = t;
  m->samples++;
  *out = (od_sample){
      .t = t, .u = hold ? m->u_last : m->u, .u_after = hold ? m->u : NULL, .y = m->y, .compared = m->compared};
  return OD_OK;
}

// Continues the stream after time t. Without a time column, the time of the next line follows from t.
static void resume(void *self, double t, const double *u) {
  live *m = self;
  double interval = m->e->data.interval;
  m->t = t;
  m->samples = interval > 0 ? (long)(t / interval + 0.5) + 1 : 1;
  memcpy(m->u, u, (size_t)m->inputs * sizeof *u);
}

// --- The header ---------------------------------------------------------------------------------------------------

static void release(void *self) {
  od_table_free(((live *)self)->lines.table);
}

// Reads the header and finds the columns of the channels.
static od_status begin(live *m, od_arena *memory, od_messages *messages, od_error *err) {
  line l;
  od_status status = next_full_line(m, &l, err);
  if (status == OD_OK && (!l.text || l.too_long))
    status = od_fail(err, OD_BAD_INPUT, "%s: expected a line with the names of the columns first", m->options.name);
  if (status == OD_OK) status = od_csv_header(&m->lines, l.text, l.length, err);
  if (status != OD_OK) return status;
  m->units_may_follow = true;
  int columns = m->lines.table->columns;
  m->cells = OD_TAKE(memory, double, columns);
  m->u = OD_TAKE(memory, double, m->inputs);
  m->u_last = OD_TAKE(memory, double, m->inputs);
  m->y = OD_TAKE(memory, double, m->e->sensors);
  m->compared = OD_TAKE(memory, double, m->e->references);
  m->lines.used = m->used = OD_TAKE(memory, bool, columns);
  if (od_arena_status(memory) != OD_OK) return od_fail(err, OD_NO_MEMORY, "out of memory");
  return match(m, messages, err);
}

od_status od_sample_source_live(od_experiment *e, const od_live_options *options, od_sample_source *out,
                                od_messages *messages, od_error *err) {
  *out = (od_sample_source){.next = next, .resume = resume, .release = release, .step = e->step, .end = INFINITY};
  live *m = out->self = OD_TAKE(&out->memory, live, 1);
  if (!m) return od_fail(err, OD_NO_MEMORY, "out of memory");
  m->e = e;
  m->options = *options;
  m->inputs = od_machine_input_count(e->model);
  m->lines = (od_csv_lines){.name = options->name, .missing = (const char *const *)e->data.missing};
  od_status status = begin(m, &out->memory, messages, err);
  if (status != OD_OK) od_sample_source_free(out);
  return status;
}
