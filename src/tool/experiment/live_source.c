// A live stream as a source of samples. A line that cannot be used is refused, and the source waits for the next line: a
// broken cable must not stop an observer. A file that grows is polled: the pauses between polls become longer while there are no new
// rows.
#include "experiment/live_source.h"

#include <errno.h>
#include <math.h>
#include <poll.h>
#include <stdarg.h>
#include <string.h>
#include <unistd.h>

#include "formats/csv_lines.h"
#include "formats/row_reader.h"
#include "memory/owned.h"

enum {
  LONGEST_LINE = 65536,
  MOST_SKIPPED = 256,
  WAIT_MS = 100
};                                                 // size of the line buffer, bytes; largest number of
                                                   // buffers of a skipped line; longest wait, ms
enum { SHORTEST_PAUSE = 5, LONGEST_PAUSE = 200 };  // pauses between polls of a file, ms

typedef struct live {
  od_experiment *e;
  od_live_options options;
  od_csv_lines lines;
  od_row_reader *rows;    // the file that grows; NULL: the stream is read from a file descriptor
  od_table_wish wish;     // expected contents of the file
  int pause;              // next pause between polls, ms
  double quiet;           // duration of the pauses since the last row, ms
  const od_table *head;   // names and units of the columns
  bool is_resumed;        // whether the stream continues after a checkpoint
  bool times_may_follow;  // whether no row has been read, so that the columns with dates are not known
  bool units_may_follow;  // whether the next line may contain units, because only the header has been read

  // Bytes that were read but not used yet.
  char buffer[LONGEST_LINE];
  size_t begin, end;
  bool ended;
  int inputs;
  long samples;
  long early;  // number of rows of a file before the part in use, or before all inputs have values
  double t;    // time of the last sample, s
  double *cells, *u, *u_last, *y, *compared;
  bool *used;  // per column: whether a channel uses the column
} live;

// --- Lines --------------------------------------------------------------------------------------------------------

// Waits for more bytes and appends them to the buffer. Fails with OD_INTERRUPTED if goes_on() returned false, and with OD_IO.
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
  const char *text;  // text of the line; NULL: end of the stream
  size_t length;
  bool too_long;  // whether the line is longer than the buffer; `text` is then only the end of the line
} line;

// Reads the next line, which is valid until the next call. Fails with OD_BAD_INPUT, OD_IO or OD_INTERRUPTED.
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

// Reads the next line that is not empty. Fails with OD_BAD_INPUT, OD_IO or OD_INTERRUPTED.
static od_status next_full_line(live *m, line *out, od_error *err) {
  od_status status;
  do status = next_line(m, out, err);
  while (status == OD_OK && out->text && !out->too_long && od_csv_is_empty(&m->lines, out->text, out->length));
  return status;
}

// --- Columns ------------------------------------------------------------------------------------------------------

// Finds the columns of the channels. Fails with OD_BAD_INPUT after messages, or with OD_NO_MEMORY.
static od_status match(live *m, od_messages *messages, od_error *err) {
  od_units *units = od_units_new(err);
  if (!units) return err->status;
  od_log_plan *plan = &m->e->data;
  bool ok = od_log_match(plan, m->head, m->options.name, units, messages);
  for (int i = -1; ok && i < plan->channels; i++) {
    const od_channel *c = i < 0 ? &plan->time : &plan->channel[i];
    if (c->at >= 0) m->used[c->at] = true;
  }
  od_units_free(units);
  return ok ? OD_OK : OD_BAD_INPUT;
}

// --- Samples ------------------------------------------------------------------------------------------------------

// Reports that a line cannot be used. Returns false.
OD_PRINTF_FORMAT(3, 4) static bool refuse(const live *m, double t, const char *format, ...) {
  char why[300], text[200];
  va_list values;
  va_start(values, format);
  vsnprintf(text, sizeof text, format, values);
  va_end(values);
  snprintf(why, sizeof why, "%s:%d:1: %s", m->options.name, m->lines.line, text);
  m->options.refuse(m->options.user, t, why);
  return false;
}

// Returns the time of the row in m->cells, s.
static double time_of_cells(const live *m) {
  const od_log_plan *plan = &m->e->data;
  return plan->interval > 0 ? (double)(m->samples + m->early) * plan->interval
                            : od_channel_value(&plan->time, m->cells);
}

// Uses the time and the values in m->cells. A missing input keeps its last value. Returns false if the row is not a sample: the row
// was refused, or the file has not given values of all inputs yet.
static bool take_cells(live *m, double *t) {
  const od_log_plan *plan = &m->e->data;
  *t = time_of_cells(m);
  if (!isfinite(*t)) return refuse(m, NAN, "this line has no time; expected a number in the time column");
  if (m->samples > 0 && *t <= m->t) return refuse(m, *t, "times must increase; found %.9g s after %.9g s", *t, m->t);
  bool is_complete = true;
  for (int i = 0; i < m->inputs; i++) {
    double value = od_channel_value(&plan->channel[m->e->channel[m->e->sensors + i]], m->cells);
    if (isfinite(value)) m->u[i] = value;
    is_complete = is_complete && (isfinite(value) || m->samples > 0 || (m->rows && isfinite(m->u[i])));
  }
  // A row of a file may have the values of one message only. The observer begins with the row from which all inputs are known.
  if (!is_complete && m->rows) {
    m->early++;
    return false;
  }
  if (!is_complete)
    return refuse(m, *t, "the first line must contain values of all inputs; expected a number for each input");
  for (int i = 0; i < m->e->sensors; i++) {
    double value = od_channel_value(&plan->channel[m->e->channel[i]], m->cells);
    m->y[i] = isfinite(value) ? value : (double)NAN;
  }
  for (int i = 0; i < m->e->references; i++)
    m->compared[i] = od_channel_value(&plan->channel[m->e->channel[m->e->sensors + m->inputs + i]], m->cells);
  return true;
}

// Reads the time and the values of a line. Returns false if the line was refused.
static bool take_line(live *m, const line *l, double *t) {
  od_error why = {0};
  if (l->too_long)
    return refuse(m, NAN, "this line is longer than %d bytes; expected a shorter line with one sample", LONGEST_LINE);
  if (od_csv_row(&m->lines, l->text, l->length, m->cells, &why) == OD_OK) return take_cells(m, t);
  m->options.refuse(m->options.user, NAN, why.text);
  return false;
}

// Finds the columns of the channels again, because units of columns have become known. Fails with OD_BAD_INPUT or OD_NO_MEMORY.
static od_status match_again(live *m, od_error *err) {
  OD_OWNED(od_messages_free) od_messages *messages = od_messages_new();
  if (!messages) return od_fail(err, OD_NO_MEMORY, "out of memory");
  od_status status = match(m, messages, err);
  if (od_messages_count(messages) > 0)
    od_fail(err, status, "%s:%d:1: %s", m->options.name, m->lines.line, od_messages_get(messages, 0)->text);
  return status;
}

// Reads the line below the header, which may contain units. If the line contains units, the units of the channels are
// checked again. Fails with OD_BAD_INPUT or OD_NO_MEMORY.
static od_status take_units(live *m, const line *l, bool *taken, od_error *err) {
  od_status status = l->too_long ? OD_OK : od_csv_units(&m->lines, l->text, l->length, taken, err);
  return status == OD_OK && *taken ? match_again(m, err) : status;
}

// Finds the columns with dates from the first row. Fails with OD_BAD_INPUT or OD_NO_MEMORY.
static od_status find_times(live *m, const line *l, od_error *err) {
  const od_log_plan *plan = &m->e->data;
  const od_table_wish wish = {.time = plan->time.column, .time_form = plan->time.file_unit};
  if (l->too_long) return OD_OK;
  od_status status = od_csv_find_times(&m->lines, l->text, l->length, &wish, err);
  if (status != OD_OK || !m->lines.times) return status;
  if (m->is_resumed)
    return od_fail(
        err, OD_BAD_INPUT,
        "%s:%d:1: the times of this stream begin at its first line, so the run cannot continue at the checkpoint; send "
        "times in seconds, or follow a file",
        m->options.name, m->lines.line);
  m->times_may_follow = false;
  return match_again(m, err);
}

// Reads lines until one of them is a sample. *more is false at the end of the stream.
static od_status next_sample_line(live *m, double *t, bool *more, od_error *err) {
  for (bool taken = false; !taken;) {
    line l;
    bool units = false;
    od_status status = next_full_line(m, &l, err);
    *more = status == OD_OK && l.text;
    if (*more && m->units_may_follow) status = take_units(m, &l, &units, err);
    m->units_may_follow = false;
    if (*more && status == OD_OK && !units && m->times_may_follow) status = find_times(m, &l, err);
    if (!*more || status != OD_OK) return status;
    taken = !units && take_line(m, &l, t);
    m->times_may_follow = m->times_may_follow && !taken;
  }
  return OD_OK;
}

// --- Rows of a file that grows ------------------------------------------------------------------------------------

// Waits before the next poll of the file. *more is false if there were no rows for the longest allowed time.
static od_status wait_for_rows(live *m, bool *more, od_error *err) {
  *more = !(m->options.timeout > 0) || m->quiet < 1e3 * m->options.timeout;
  if (!*more) return OD_OK;
  poll(NULL, 0, m->pause);
  m->quiet += m->pause;
  m->pause = 2 * m->pause < LONGEST_PAUSE ? 2 * m->pause : LONGEST_PAUSE;
  if (m->options.goes_on && !m->options.goes_on(m->options.user))
    return od_fail(err, OD_INTERRUPTED, "interrupted after line %d", m->lines.line);
  return OD_OK;
}

// Waits until the file has further rows. *more is false if the stream ends.
static od_status wait_for_growth(live *m, bool *more, od_error *err) {
  for (;;) {
    od_log_growth growth;
    od_status status = od_row_reader_grow(m->rows, &growth, err);
    *more = status == OD_OK && growth != OD_LOG_REPLACED;
    if (status != OD_OK || growth == OD_LOG_LONGER) return status;
    if (growth == OD_LOG_REPLACED) {
      char what[400];
      snprintf(what, sizeof what, "%.300s was replaced by another file; the run ends with the last row of the old file",
               m->options.name);
      m->options.remark(m->options.user, what);
      return OD_OK;
    }
    status = wait_for_rows(m, more, err);
    if (status != OD_OK || !*more) return status;
  }
}

// Reads rows until one of them is a sample within the part in use. *more is false at the end of the stream.
static od_status next_sample_row(live *m, double *t, bool *more, od_error *err) {
  const od_log_plan *plan = &m->e->data;
  for (;;) {
    bool end = false;
    od_error why = {0};
    od_status status = od_row_reader_next(m->rows, m->cells, &end, &why);
    *more = status == OD_OK && !end;
    if (status == OD_OK && end) {
      status = wait_for_growth(m, more, err);
      if (status != OD_OK || !*more) return status;
      continue;
    }
    m->lines.line = od_row_reader_line(m->rows);
    m->quiet = 0;
    m->pause = SHORTEST_PAUSE;
    if (status == OD_BAD_INPUT) {
      m->options.refuse(m->options.user, NAN, why.text);
      continue;
    }
    if (status != OD_OK) return od_fail(err, status, "%s", why.text);
    const double time = time_of_cells(m);
    if (time < plan->start) {
      m->early++;
      continue;
    }
    *more = !(time > plan->end);
    if (!*more || take_cells(m, t)) return OD_OK;
  }
}

static od_status next(void *self, od_sample *out, bool *more, od_error *err) {
  live *m = self;
  double t = 0;
  memcpy(m->u_last, m->u, (size_t)m->inputs * sizeof *m->u);
  od_status status = m->rows ? next_sample_row(m, &t, more, err) : next_sample_line(m, &t, more, err);
  if (status != OD_OK || !*more) return status;
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
  m->is_resumed = true;
  m->samples = interval > 0 ? (long)(t / interval + 0.5) + 1 : 1;
  memcpy(m->u, u, (size_t)m->inputs * sizeof *u);
}

// --- The header ---------------------------------------------------------------------------------------------------

static void release(void *self) {
  live *m = self;
  od_row_reader_close(m->rows);
  od_csv_lines_end(&m->lines);
}

// Allocates the memory of a row and finds the columns of the channels. Fails with OD_BAD_INPUT or OD_NO_MEMORY.
static od_status prepare(live *m, od_arena *memory, od_messages *messages, od_error *err) {
  int columns = m->head->columns;
  m->cells = OD_TAKE(memory, double, columns);
  m->u = OD_TAKE(memory, double, m->inputs);
  m->u_last = OD_TAKE(memory, double, m->inputs);
  m->y = OD_TAKE(memory, double, m->e->sensors);
  m->compared = OD_TAKE(memory, double, m->e->references);
  m->lines.used = m->used = OD_TAKE(memory, bool, columns);
  if (od_arena_status(memory) != OD_OK) return od_fail(err, OD_NO_MEMORY, "out of memory");
  for (int i = 0; i < m->inputs; i++) m->u[i] = NAN;
  return match(m, messages, err);
}

// Reads the header and finds the columns of the channels. Fails with OD_BAD_INPUT, OD_IO, OD_INTERRUPTED or OD_NO_MEMORY.
static od_status begin(live *m, od_arena *memory, od_messages *messages, od_error *err) {
  line l;
  od_status status = next_full_line(m, &l, err);
  if (status == OD_OK && (!l.text || l.too_long))
    status = od_fail(err, OD_BAD_INPUT, "%s: expected a line with the names of the columns first", m->options.name);
  if (status == OD_OK) status = od_csv_header(&m->lines, l.text, l.length, err);
  if (status != OD_OK) return status;
  m->units_may_follow = m->times_may_follow = true;
  m->head = m->lines.table;
  return prepare(m, memory, messages, err);
}

// Opens the file that grows, as soon as it has a row, and finds the columns of the channels. Fails with OD_BAD_INPUT, OD_IO,
// OD_INTERRUPTED or OD_NO_MEMORY.
static od_status begin_file(live *m, od_arena *memory, od_messages *messages, od_error *err) {
  const od_log_plan *plan = &m->e->data;
  const char **columns = OD_TAKE(memory, const char *, plan->channels + 1);
  if (!columns) return od_fail(err, OD_NO_MEMORY, "out of memory");
  for (int i = 0, n = 0; i < plan->channels; i++)
    if (plan->channel[i].column) columns[n++] = plan->channel[i].column;
  const od_log_source source = od_log_source_of(plan, m->options.file, plan->place);
  m->wish = od_log_table_wish(&source, columns);
  m->wish.follow = true;
  m->pause = SHORTEST_PAUSE;
  for (bool more = true; !m->rows;) {
    od_status status = od_row_reader_open(m->options.file, &m->wish, &m->rows, err);
    if (status == OD_OK && !m->rows) status = wait_for_rows(m, &more, err);
    if (status != OD_OK) return status;
    if (!more)
      return od_fail(err, OD_BAD_INPUT,
                     "%s: there was no row for %g s; expected a line with the names of the columns, and rows",
                     m->options.name, m->options.timeout);
  }
  m->head = od_row_reader_head(m->rows);
  od_status status = prepare(m, memory, messages, err);
  if (status == OD_OK) od_row_reader_want(m->rows, m->used);
  return status;
}

// Uses the settings of the entry in 'files' for a log that is followed. Fails with OD_BAD_INPUT.
static od_status take_file_settings(const live *m, od_error *err) {
  od_log_plan *plan = &m->e->data;
  if (!m->options.file) return OD_OK;
  if (plan->sources > 1)
    return od_fail(err, OD_BAD_INPUT, "the log has %d files; a log that is followed has one file", plan->sources);
  if (plan->sources == 1) {
    const od_log_source *own = &plan->source[0];
    plan->time = own->time, plan->interval = own->interval;
    plan->missing = own->missing, plan->databases = own->databases, plan->skip = own->skip;
    plan->delay = own->delay, plan->drift = own->drift;
  }
  for (int i = 0; i < plan->channels; i++) {
    const od_channel *c = &plan->channel[i];
    if (c->from && strcmp(c->from, m->options.file) != 0)
      return od_fail(err, OD_BAD_INPUT, "'file' of '%s' is '%s'; a log that is followed has one file, %s", c->name,
                     c->from, m->options.file);
  }
  return OD_OK;
}

od_status od_stream_check(od_experiment *e, od_error *err) {
  od_log_plan *plan = &e->data;
  const bool one_hold = od_log_unify_hold(plan);
  bool is_late = plan->delay != 0;
  for (int i = 0; i < plan->channels; i++) is_late = is_late || plan->channel[i].delay != 0;
  if (is_late || plan->drift != 0)
    return od_fail(err, OD_BAD_INPUT, "a stream cannot have '%s'; remove this key, and correct the times of the logger",
                   is_late ? "delay" : "drift");
  if (one_hold && plan->hold != OD_LOG_NEXT) return OD_OK;
  return od_fail(err, OD_BAD_INPUT,
                 "a stream cannot have %s; expected 'hold: linear' or 'hold: previous' for all inputs",
                 one_hold ? "'hold: next', because later rows are not known" : "several kinds of 'hold'");
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
  if (options->file) out->resume = NULL;  // the whole file is read again, so the source need not resume
  od_status status = take_file_settings(m, err);
  if (status == OD_OK) status = od_stream_check(e, err);
  if (status == OD_OK && options->file) status = begin_file(m, &out->memory, messages, err);
  if (status == OD_OK && !options->file) status = begin(m, &out->memory, messages, err);
  if (status != OD_OK) od_sample_source_free(out);
  return status;
}
