// Reads a log and iterates over its rows. The first pass over the file checks the rows and computes the properties of
// the channels. A second pass stores the rows of a short log.
#include "logs/log.h"

#include <math.h>
#include <string.h>

#include "base/allocate.h"
#include "io/wording.h"
#include "logs/log_rows.h"
#include "logs/log_times.h"

static od_status no_memory(const od_log_plan *plan, od_error *err) {
  return od_fail(err, OD_NO_MEMORY, "out of memory while reading %s", plan->file);
}

// --- Cursors ------------------------------------------------------------------------------------------------------

// Rows of a log that is not in memory come from its file. The cursor stores only the rows between the last and the next value of an
// input, to interpolate a gap.
struct od_log_cursor {
  const od_log *log;
  long at;  // number of rows given so far

  // For a log that is not in memory:
  od_arena memory;
  od_log_rows *rows;
  bool has_gaps;       // whether some input has gaps
  double *ahead;       // ring buffer of rows that were read but not given yet: time, and a value per channel
  long first, count;   // index of the first row ahead, and number of rows ahead
  long capacity;       // capacity of the ring buffer, rows
  double *now, *last;  // the current row and the previous row
  double *shown;       // the current row, with later values of inputs that have the hold NEXT
  long *next;          // per channel: number of a later row with a value, such as the end of the current gap
};

static size_t width(const od_log_cursor *c) {
  return (size_t)c->log->plan->channels + 1;
}

// Returns whether gaps of a channel are filled. All gaps of inputs are filled. Other channels are filled in rows of
// other files and groups, and in their own rows if `fills_own` is set.
static bool fills(const od_log *log, int i) {
  const od_channel *c = &log->plan->channel[i];
  return c->is_input || c->fills_own || (c->fills && log->has_rates);
}

od_status od_log_cursor_new(const od_log *log, od_log_cursor **out, od_error *err) {
  *out = NULL;
  OD_OWNED(od_log_cursor_free) od_log_cursor *c = od_calloc(1, sizeof *c);
  if (!c) return no_memory(log->plan, err);
  c->log = log;
  if (!log->value) {
    for (int i = 0; i < log->plan->channels; i++)
      c->has_gaps = c->has_gaps || (fills(log, i) && (log->missing[i] > 0 || log->has_rates));
    c->capacity = 2;
    c->ahead = od_calloc((size_t)c->capacity * width(c), sizeof *c->ahead);
    c->now = OD_TAKE(&c->memory, double, width(c));
    c->last = OD_TAKE(&c->memory, double, width(c));
    c->shown = OD_TAKE(&c->memory, double, width(c));
    c->next = OD_TAKE(&c->memory, long, width(c));
    if (!c->ahead || od_arena_status(&c->memory) != OD_OK) return no_memory(log->plan, err);
    od_status status = od_log_rows_new(log, true, NULL, NULL, &c->rows, err);
    if (status != OD_OK) return status;
  }
  *out = OD_GIVE(c);
  return OD_OK;
}

void od_log_cursor_free(od_log_cursor *c) {
  if (!c) return;
  od_log_rows_free(c->rows);
  od_arena_free(&c->memory);
  od_free(c->ahead);
  od_free(c);
}

// Returns row k of the rows ahead.
static double *ahead(const od_log_cursor *c, long k) {
  return c->ahead + (size_t)((c->first + k) % c->capacity) * width(c);
}

// Doubles the ring buffer if it is full. Returns false if out of memory.
static bool make_room(od_log_cursor *c) {
  if (c->count < c->capacity) return true;
  size_t size = width(c) * sizeof *c->ahead;
  double *larger = od_calloc(2 * (size_t)c->capacity, size);
  if (!larger) return false;
  for (long k = 0; k < c->count; k++) memcpy((char *)larger + (size_t)k * size, ahead(c, k), size);
  od_free(c->ahead);
  c->ahead = larger;
  c->first = 0;
  c->capacity *= 2;
  return true;
}

// Reports that the file has changed since it was first read. Fails with OD_IO.
static od_status changed(const od_log_cursor *c, od_error *err) {
  return od_fail(err, OD_IO, "%s changed while it was being read; run the command again when the file is complete",
                 c->log->plan->file);
}

// Reads one more row of the part in use. Fails with OD_IO or OD_NO_MEMORY.
static od_status read_ahead(od_log_cursor *c, od_error *err) {
  const od_log_plan *plan = c->log->plan;
  od_log_row row;
  bool more = true;
  do {
    od_status status = od_log_rows_next(c->rows, &row, &more, err);
    if (status == OD_NO_MEMORY || status == OD_IO) return status;
    if (status != OD_OK || !more) return changed(c, err);
  } while (row.time < c->log->start || row.time > c->log->end_of_part);
  if (!make_room(c)) return no_memory(plan, err);
  double *to = ahead(c, c->count++);
  *to++ = row.time;
  memcpy(to, row.value, (size_t)plan->channels * sizeof *to);
  return OD_OK;
}

// Reads rows until channel i has a value in a later row. There is such a row. Fails with OD_IO or OD_NO_MEMORY.
static od_status find_next(od_log_cursor *c, int i, od_error *err) {
  for (long k = 1; c->next[i] <= c->at; k++) {
    od_status status = k == c->count ? read_ahead(c, err) : OD_OK;
    if (status != OD_OK) return status;
    if (!isnan(ahead(c, k)[1 + i])) c->next[i] = c->at + k;
  }
  return OD_OK;
}

// Computes the missing value of channel i in the current row. Callers need values of all inputs in each row. Fails with OD_IO or
// OD_NO_MEMORY.
static od_status fill_gap(od_log_cursor *c, int i, od_error *err) {
  const od_channel_facts *f = &c->log->facts[i];
  double *value = &c->now[1 + i], before = c->last[1 + i], from = c->last[0];
  if (c->at < f->first) {
    *value = f->first_value;
    return OD_OK;
  }
  const od_log_hold hold = c->log->plan->channel[i].hold;
  if (c->at > f->last || hold == OD_LOG_PREVIOUS) {
    *value = before;
    return OD_OK;
  }
  od_status status = find_next(c, i, err);
  if (status != OD_OK) return status;
  const double *next = ahead(c, c->next[i] - c->at);
  double along = (c->now[0] - from) / (next[0] - from);
  *value = hold == OD_LOG_NEXT ? next[1 + i] : before + along * (next[1 + i] - before);
  return OD_OK;
}

// Copies the current row and replaces inputs with the hold NEXT by their next values. After the last value of an
// input, this value remains. Fails with OD_IO or OD_NO_MEMORY.
static od_status show(od_log_cursor *c, od_error *err) {
  const od_log_plan *plan = c->log->plan;
  od_status status = OD_OK;
  memcpy(c->shown, c->now, width(c) * sizeof *c->shown);
  for (int i = 0; i < plan->channels && status == OD_OK; i++) {
    if (!plan->channel[i].is_input || plan->channel[i].hold != OD_LOG_NEXT || plan->channel[i].at < 0) continue;
    if (c->at >= c->log->facts[i].last) continue;
    status = find_next(c, i, err);
    if (status == OD_OK) c->shown[1 + i] = ahead(c, c->next[i] - c->at)[1 + i];
  }
  return status;
}

// Reads the next row of a log that is not in memory into c->now, fills its gaps, and copies the row to c->shown. Fails with OD_IO or
// OD_NO_MEMORY.
static od_status next_of_file(od_log_cursor *c, od_error *err) {
  od_status status = c->count > 0 ? OD_OK : read_ahead(c, err);
  if (status != OD_OK) return status;
  double *before = c->last;
  c->last = c->now;
  c->now = before;
  memcpy(c->now, ahead(c, 0), width(c) * sizeof *c->now);
  if (c->at > 0 && !(c->now[0] > c->last[0])) return changed(c, err);
  for (int i = 0; c->has_gaps && i < c->log->plan->channels && status == OD_OK; i++)
    if (fills(c->log, i) && isnan(c->now[1 + i])) status = fill_gap(c, i, err);
  if (status == OD_OK) status = show(c, err);
  c->first = (c->first + 1) % c->capacity;
  c->count--;
  return status;
}

od_status od_log_cursor_next(od_log_cursor *c, double *time, const double **value, bool *more, od_error *err) {
  const od_log *log = c->log;
  *more = c->at < log->rows;
  if (!*more) return od_log_has_changed(log) ? changed(c, err) : OD_OK;
  if (log->value) {
    *time = log->time[c->at];
    *value = log->value + c->at * log->plan->channels;
  } else {
    od_status status = next_of_file(c, err);
    if (status != OD_OK) return status;
    *time = c->now[0];
    *value = c->shown + 1;
  }
  c->at++;
  return OD_OK;
}

// --- The first pass -----------------------------------------------------------------------------------------------

// Rows with an error: number of rows, and the first such row.
typedef struct bad_rows {
  long count, row;
  int line;
  double time, before;
} bad_rows;

// The rows of one file of the log.
typedef struct file_rows {
  long rows;                     // number of rows with different times
  double first, last;            // times of the first and last rows
  int line;                      // line number of the last row
  bad_rows without_time, early;  // early: the time is not later than the time of the previous row
} file_rows;

typedef struct survey {
  od_log *log;
  file_rows *file;  // one entry per file
} survey;

// Records the time of a row. Returns false if the row has no time, or if its time is not later than the time of the
// previous row.
static bool check_time(void *user, int input, double time, int line) {
  file_rows *s = &((survey *)user)->file[input];
  bool has_time = isfinite(time);
  bool is_early = has_time && s->rows > s->without_time.count && time <= s->last;
  bad_rows *bad = !has_time ? &s->without_time : is_early ? &s->early : NULL;
  if (bad && bad->count++ == 0) {
    bad->row = s->rows;
    bad->line = line;
    bad->time = time;
    bad->before = s->last;
  }
  if (has_time && s->rows == s->without_time.count) s->first = time;
  if (has_time) s->last = time;
  s->rows++;
  s->line = line;
  return !bad;
}

// Updates the properties of the log and of its channels with a row of the part in use.
static void add_row(od_log *log, const od_log_row *row) {
  double gap = log->rows > 0 ? row->time - log->end : 0;
  if (gap > log->longest) log->longest = gap, log->at = log->end;
  for (int i = 0; i < log->plan->channels; i++) {
    od_channel_facts *f = &log->facts[i];
    double value = row->value[i];
    if (!isfinite(value)) {
      log->missing[i] += !row->present || row->present[i];
      continue;
    }
    f->least = fmin(f->least, value);
    f->most = fmax(f->most, value);
    if (f->first < 0) f->first = log->rows, f->first_value = f->last_value = value, f->begin = f->end = row->time;
    if (row->time - f->end > f->longest) f->longest = row->time - f->end, f->at = f->end;
    f->steepest = fmax(f->steepest, fabs(value - f->last_value));
    f->last = log->rows;
    f->last_value = value;
    f->end = row->time;
    f->values++;
  }
  if (log->rows++ == 0) log->begin = row->time;
  log->end = row->time;
}

// Reads all rows of the files once. Fails with OD_BAD_INPUT, OD_IO, OD_INTERRUPTED or OD_NO_MEMORY.
static od_status survey_files(survey *s, od_error *err) {
  od_log *log = s->log;
  const od_log_plan *plan = log->plan;
  OD_OWNED(od_log_rows_free) od_log_rows *rows = NULL;
  od_log_row row;
  bool more = true;
  od_status status = od_log_rows_new(log, false, check_time, s, &rows, err);
  while (status == OD_OK) {
    status = od_log_rows_next(rows, &row, &more, err);
    if (status != OD_OK || !more) break;
    if (row.time >= log->start && row.time <= log->end_of_part) add_row(log, &row);
    log->has_rates = row.present != NULL;
  }
  if (status != OD_OK) return status;
  log->repeated = od_log_rows_repeated(rows);
  // A channel with more than five values that are all equal may be a dead sensor.
  for (int i = 0; i < plan->channels; i++) {
    const od_channel_facts *f = &log->facts[i];
    log->constant[i] = plan->channel[i].at >= 0 && f->values > 5 && f->least == f->most;
  }
  return OD_OK;
}

// --- Checks -------------------------------------------------------------------------------------------------------

// Adds a message about rows with an error. A message about a text file has the line of the first such row; other
// messages contain the number of this row.
static void complain_about_rows(const char *path, const bad_rows *bad, od_messages *messages, const char *what) {
  char tail[128] = "";
  long more = bad->count - 1;
  if (more > 0) snprintf(tail, sizeof tail, " (and %s)", od_count(more, "more such row").text);
  od_place place = {path, bad->line, bad->line > 0};
  if (bad->line > 0)
    od_messages_add(messages, place, "%s%s", what, tail);
  else
    od_messages_add(messages, place, "row %ld: %s%s", bad->row + 1, what, tail);
}

// Checks that the columns in use contain numbers. Returns false after reporting errors.
static bool check_cells(const od_log *log, od_messages *messages) {
  const od_log_plan *plan = log->plan;
  bool ok = true;
  for (int i = -log->inputs; i < plan->channels; i++) {
    const od_channel *c = i < 0 ? &log->input[i + log->inputs].time : &plan->channel[i];
    const od_log_input *in = &log->input[i < 0 ? i + log->inputs : c->input];
    if (i < 0 && in->source->interval > 0) continue;
    const char *flaw = c->at >= 0 ? od_table_flaw(od_row_reader_head(in->file), c->at) : NULL;
    if (flaw) od_messages_add(messages, in->source->place, "%s", flaw);
    ok = ok && !flaw;
  }
  return ok;
}

// Checks that all rows of a file have increasing times. Returns false after reporting errors.
static bool check_times(const file_rows *s, const od_log_input *in, bool has_section, od_messages *messages) {
  const char *path = in->source->path;
  if (s->without_time.count > 0)
    complain_about_rows(path, &s->without_time, messages, "this row has no time; expected a number in the time column");
  if (s->early.count > 0) {
    char text[400], advice[200];
    od_log_time_advice(od_row_reader_head(in->file), &in->time, has_section, advice, sizeof advice);
    snprintf(text, sizeof text,
             "the time %.9g s is not later than the previous time, %.9g s; expected increasing times%s", s->early.time,
             s->early.before, advice);
    complain_about_rows(path, &s->early, messages, text);
  }
  return s->without_time.count == 0 && s->early.count == 0;
}

// Checks cells and times of all files. Also checks that the part in use has rows, and that every input has a value.
// Gaps of inputs are interpolated. Returns false after reporting errors.
static bool check_rows(const survey *s, od_messages *messages) {
  const od_log *log = s->log;
  const od_log_plan *plan = log->plan;
  const od_place file = {.file = plan->file};
  if (!check_cells(log, messages)) return false;
  bool ok = true;
  for (int i = 0; i < log->inputs; i++)
    ok = check_times(&s->file[i], &log->input[i], plan->has_section, messages) && ok;
  if (!ok) return false;
  double first = INFINITY, last = -INFINITY;
  for (int i = 0; i < log->inputs; i++)
    if (s->file[i].rows > 0) first = fmin(first, s->file[i].first), last = fmax(last, s->file[i].last);
  if (!(first <= last))
    od_messages_add(messages, file, "the file has no rows; expected at least one row");
  else if (log->rows == 0)
    od_messages_add(messages, file,
                    "the file has no rows between 'start' and 'end'; the rows are from %.9g s to %.9g s", first, last);
  for (int i = 0; i < plan->channels && log->rows > 0; i++) {
    const od_channel *c = &plan->channel[i];
    if (!c->is_input || c->at < 0 || log->facts[i].values > 0) continue;
    od_messages_add(messages, (od_place){.file = od_log_path(log, i)},
                    "the file has no value of the input '%s'; expected at least one value", c->name);
    ok = false;
  }
  return ok && log->rows > 0;
}

// --- The log ------------------------------------------------------------------------------------------------------

// Lists the files of a log. The plan does not change, because several logs may have the same plan. Returns false if out of memory.
static bool list_sources(od_log *log, const od_log_plan *plan) {
  log->inputs = plan->sources > 0 ? plan->sources : 1;
  log->input = OD_TAKE(&log->memory, od_log_input, log->inputs);
  od_log_source *source = OD_TAKE(&log->memory, od_log_source, log->inputs);
  if (!log->input || !source) {
    log->inputs = 0;
    return false;
  }
  source[0] = od_log_source_of(plan, plan->file, plan->place);
  for (int i = 0; i < log->inputs; i++) {
    if (plan->sources > 0) source[i] = plan->source[i];
    log->input[i] = (od_log_input){.source = &source[i], .time = source[i].time};
  }
  return true;
}

// Returns the columns that a file must have, as a list that ends with NULL. With several files, the list contains only
// the columns of channels that name this file. Returns NULL if out of memory.
static const char **list_columns(od_log *log, const od_log_plan *plan, int input) {
  const char **columns = OD_TAKE(&log->memory, const char *, plan->channels + 1);
  for (int i = 0, n = 0; columns && i < plan->channels; i++) {
    const od_channel *c = &plan->channel[i];
    if (c->column && (log->inputs == 1 || od_log_is_from(log, c, input))) columns[n++] = c->column;
  }
  return columns;
}

// Opens a file of the plan. Fails with OD_BAD_INPUT, OD_IO, OD_INTERRUPTED or OD_NO_MEMORY.
static od_status open_file(od_log *log, const od_log_plan *plan, int i, od_messages *messages) {
  od_error err = {0};
  od_log_input *in = &log->input[i];
  const od_log_source *source = in->source;
  const char **columns = list_columns(log, plan, i);
  od_table_wish *wish = OD_TAKE(&log->memory, od_table_wish, 1);
  if (!columns || !wish) return OD_NO_MEMORY;
  in->wish = wish;
  *wish = od_log_table_wish(source, columns);
  od_status status = od_row_reader_open(source->path, wish, &in->file, &err);
  if (status != OD_OK && status != OD_NO_MEMORY) od_messages_add(messages, source->place, "%s", err.text);
  return status;
}

// Opens all files of the plan. Fails with OD_BAD_INPUT, OD_IO, OD_INTERRUPTED or OD_NO_MEMORY.
static od_status open_files(od_log *log, od_log_plan *plan, od_messages *messages) {
  if (!list_sources(log, plan)) return OD_NO_MEMORY;
  od_status status = OD_OK;
  for (int i = 0; i < log->inputs; i++) {
    od_status own = open_file(log, plan, i, messages);
    if (status == OD_OK || own == OD_NO_MEMORY) status = own;
  }
  if (status == OD_OK && log->inputs > 1 && !od_log_align(log, messages)) status = OD_BAD_INPUT;
  return status;
}

// Numbers the groups of a file's columns. A file with one group of columns in addition to the times has no groups. Fails with
// OD_NO_MEMORY.
static od_status find_groups(od_log *log, od_log_input *in) {
  const od_table *head = od_row_reader_head(in->file);
  in->group = OD_TAKE(&log->memory, int, head->columns);
  if (!in->group) return OD_NO_MEMORY;
  in->groups = 0;
  for (int c = 0; c < head->columns; c++) {
    const char *name = od_row_reader_origin(in->file, c).group;
    in->group[c] = -1;
    for (int k = 0; k < c && in->group[c] < 0; k++) {
      const char *other = od_row_reader_origin(in->file, k).group;
      bool is_same = name && other ? strcmp(name, other) == 0 : name == other;
      if (is_same && k != in->time.at) in->group[c] = in->group[k];
    }
    if (in->group[c] < 0) in->group[c] = c == in->time.at ? 0 : in->groups++;
  }
  if (in->groups <= 1) in->group = NULL;
  return OD_OK;
}

static const od_channel_facts no_facts = {.least = INFINITY, .most = -INFINITY, .first = -1, .last = -1};

// Finds the columns of all channels. Does not read rows. Fails with OD_BAD_INPUT or OD_NO_MEMORY.
static od_status find_columns(od_log *log, od_log_plan *plan, od_units *units, od_messages *messages) {
  od_status status = od_log_find_columns(log, plan, units, messages);
  if (status != OD_OK) return status;
  log->plan = plan;
  log->facts = OD_TAKE(&log->memory, od_channel_facts, plan->channels);
  log->missing = OD_TAKE(&log->memory, long, plan->channels);
  log->constant = OD_TAKE(&log->memory, bool, plan->channels);
  if (od_arena_status(&log->memory) != OD_OK) return OD_NO_MEMORY;
  for (int i = 0; i < log->inputs; i++) {
    od_log_input *in = &log->input[i];
    const od_table *head = od_row_reader_head(in->file);
    in->wanted = OD_TAKE(&log->memory, bool, head->columns);
    if (!in->wanted || find_groups(log, in) != OD_OK) return OD_NO_MEMORY;
    int time = in->time.at;
    if (time >= 0) in->wanted[time] = true;
    if (time >= 0 && !in->time.file_unit && !head->unit[time][0] && in->time.scale == 1 && !log->time_without_unit)
      log->time_without_unit = od_arena_text(&log->memory, head->name[time]);
  }
  for (int i = 0; i < plan->channels; i++) {
    const od_channel *c = &plan->channel[i];
    if (c->at >= 0) log->input[c->input].wanted[c->at] = true;
    log->facts[i] = no_facts;
  }
  for (int i = 0; i < log->inputs; i++) od_row_reader_want(log->input[i].file, log->input[i].wanted);
  return od_arena_status(&log->memory);
}

// Returns whether the rows of at least one file are in memory, so that this file cannot be read twice.
static bool holds(const od_log *log) {
  bool any = false;
  for (int i = 0; i < log->inputs; i++) any = any || od_row_reader_holds(log->input[i].file);
  return any;
}

static void close_files(od_log *log) {
  for (int i = 0; i < log->inputs; i++) {
    od_row_reader_close(log->input[i].file);
    log->input[i].file = NULL;
  }
}

// Stores the rows of a log that is short or has a file that cannot be read twice, so that later changes of its files have no effect. Fails
// with OD_BAD_INPUT, OD_IO, OD_INTERRUPTED or OD_NO_MEMORY.
static od_status hold_if_short(od_log *log, od_error *err) {
  size_t channels = (size_t)log->plan->channels;
  double size = (double)log->rows * (double)(channels + 1) * sizeof(double);
  if (!holds(log) && size > (double)log->plan->most_held) return OD_OK;
  double *time = OD_TAKE(&log->memory, double, log->rows + 1);
  double *value = OD_TAKE_MATRIX(&log->memory, double, log->rows, channels);
  if (!time || !value) return no_memory(log->plan, err);
  OD_OWNED(od_log_cursor_free) od_log_cursor *cursor = NULL;
  od_status status = od_log_cursor_new(log, &cursor, err);
  const double *row = NULL;
  bool more = true;
  for (long k = 0; status == OD_OK; k++) {
    status = od_log_cursor_next(cursor, &time[k], &row, &more, err);
    if (status != OD_OK || !more) break;
    memcpy(value + (size_t)k * channels, row, channels * sizeof *value);
  }
  if (status != OD_OK) return status;
  log->time = time;
  log->value = value;
  od_log_cursor_free(OD_GIVE(cursor));  // the cursor reads the files, so the cursor is freed first
  close_files(log);
  return OD_OK;
}

// Limits a log with several rates to the times between the latest first value and the earliest last value of the machine's
// inputs. Returns whether the part in use has changed.
static bool limit_part(od_log *log) {
  double start = log->start, end = log->end_of_part;
  for (int i = 0; i < log->plan->channels && log->has_rates; i++) {
    const od_channel *c = &log->plan->channel[i];
    const od_channel_facts *f = &log->facts[i];
    if (!c->is_input || c->at < 0 || f->values == 0) continue;
    start = fmax(start, f->begin);
    end = fmin(end, f->end);
  }
  bool is_smaller = start > log->begin || end < log->end;
  log->start = fmax(log->start, start);
  log->end_of_part = fmin(log->end_of_part, end);
  return is_smaller;
}

// Checks each input and each interpolated channel: its values and the values of each channel of other files must have a
// common time. Returns false after reporting the first two files without a common time.
static bool check_common_time(const od_log *log, od_messages *messages) {
  const od_log_plan *plan = log->plan;
  for (int i = 0; i < plan->channels && log->inputs > 1; i++) {
    const od_channel *a = &plan->channel[i];
    const od_channel_facts *first = &log->facts[i];
    if (!(a->is_input || a->fills) || a->at < 0 || first->values == 0) continue;
    for (int k = 0; k < plan->channels; k++) {
      const od_channel *b = &plan->channel[k];
      const od_channel_facts *second = &log->facts[k];
      if (b->at < 0 || b->input == a->input || second->values == 0) continue;
      if (first->begin <= second->end && second->begin <= first->end) continue;
      const od_log_source *of_a = log->input[a->input].source, *of_b = log->input[b->input].source;
      od_messages_add(
          messages, of_b->place,
          "%s covers %.9g s to %.9g s, %s %.9g s to %.9g s: the files have no common time; check dates and zones, "
          "or give 'delay'",
          of_a->path, first->begin, first->end, of_b->path, second->begin, second->end);
      return false;
    }
  }
  return true;
}

// Surveys the rows again, after the part in use has changed. Fails like survey_files().
static od_status survey_again(survey *s, od_error *err) {
  od_log *log = s->log;
  memset(s->file, 0, (size_t)log->inputs * sizeof *s->file);
  for (int i = 0; i < log->plan->channels; i++) log->facts[i] = no_facts, log->missing[i] = 0;
  for (int i = 0; i < log->inputs; i++) od_row_reader_rewind(log->input[i].file);
  log->rows = 0;
  log->longest = 0;
  return survey_files(s, err);
}

// Reads the rows of a log: checks them, computes the properties of the channels, stores the rows of a short log, and
// counts jumps. Fails with OD_BAD_INPUT, OD_IO, OD_INTERRUPTED or OD_NO_MEMORY.
static od_status read_rows(od_log *log, od_messages *messages) {
  OD_SCRATCH(scratch);
  od_error err = {0};
  survey s = {.log = log, .file = OD_TAKE(&scratch, file_rows, log->inputs)};
  bool *is_cut = OD_TAKE(&scratch, bool, log->inputs);
  od_status status = s.file && is_cut ? survey_files(&s, &err) : OD_NO_MEMORY;
  if (status == OD_OK && !check_rows(&s, messages)) return OD_BAD_INPUT;
  if (status == OD_OK && !check_common_time(log, messages)) return OD_BAD_INPUT;
  if (status == OD_OK && limit_part(log)) {
    status = survey_again(&s, &err);
    if (status == OD_OK && log->rows == 0) {
      od_messages_add(
          messages, (od_place){.file = log->plan->file},
          "there is no time at which all inputs of the machine have values; check times, 'delay' and dates of the files");
      return OD_BAD_INPUT;
    }
  }
  for (int i = 0; i < log->inputs && status == OD_OK; i++) is_cut[i] = od_row_reader_is_cut(log->input[i].file);
  if (status == OD_OK) status = hold_if_short(log, &err);
  if (status == OD_OK) status = od_log_count_jumps(log, &err);
  for (int i = 0; i < log->inputs && status == OD_OK; i++)
    if (is_cut[i])
      od_messages_say(messages, true, (od_place){log->input[i].source->path, s.file[i].line, 1},
                      s.file[i].line > 0 ? "the file ends within this line; check whether the file is complete"
                                         : "the file ends before its last row; check whether the file is complete");
  if (status != OD_OK && status != OD_NO_MEMORY) od_messages_add(messages, log->plan->place, "%s", err.text);
  return status;
}

od_status od_log_open(od_log_plan *plan, od_log **out, od_messages *messages) {
  od_log *log = *out = od_calloc(1, sizeof *log);
  od_status status = log ? open_files(log, plan, messages) : OD_NO_MEMORY;
  if (status == OD_NO_MEMORY) od_messages_add(messages, plan->place, "out of memory while reading %s", plan->file);
  if (log) log->plan = plan, log->start = plan->start, log->end_of_part = plan->end;
  return status;
}

int od_log_inputs(const od_log *log) {
  return log->inputs;
}

const od_table *od_log_head(const od_log *log, int input) {
  return od_row_reader_head(log->input[input].file);
}

bool od_log_unify_hold(od_log_plan *plan) {
  int common = -1;
  for (int i = 0; i < plan->channels; i++) {
    const od_channel *c = &plan->channel[i];
    int own = c->has_own_hold ? (int)c->hold : (int)plan->hold;
    if (!c->is_input || (c->at < 0 && !c->has_own_hold)) continue;
    if (common >= 0 && own != common) return false;
    common = own;
  }
  if (common >= 0) plan->hold = (od_log_hold)common;
  return true;
}

const char *od_log_label(const od_log *log, int channel) {
  const od_channel *c = &log->plan->channel[channel];
  return c->is_mapped || !c->label ? c->name : c->label;
}

double od_channel_interval(const od_channel_facts *f) {
  return (f->end - f->begin - f->longest) / (double)(f->values > 2 ? f->values - 2 : 1);
}

bool od_log_check_gap(const od_log *log, int channel, double usual, od_messages *messages) {
  const od_channel_facts *f = &log->facts[channel];
  if (f->values < 3 || f->longest <= OD_INTERPOLATED_INTERVALS * usual) return true;
  od_messages_add(
      messages, (od_place){.file = od_log_path(log, channel)},
      "'%s' has no value for %.6g s after %.9g s, %.3g times the usual interval; a longer gap than %d intervals is "
      "not interpolated. Exclude the gap with --start or --end",
      od_log_label(log, channel), f->longest, f->at, f->longest / usual, OD_INTERPOLATED_INTERVALS);
  return false;
}

const char *od_log_path(const od_log *log, int channel) {
  return log->input[log->plan->channel[channel].input].source->path;
}

od_status od_log_load(od_log *log, od_log_plan *plan, od_units *units, od_messages *messages) {
  for (int i = 0; i < plan->channels; i++)
    if (!plan->channel[i].has_own_hold) plan->channel[i].hold = plan->hold;
  od_status status = find_columns(log, plan, units, messages);
  if (status == OD_OK) status = read_rows(log, messages);
  if (status == OD_NO_MEMORY) od_messages_add(messages, plan->place, "out of memory while reading %s", plan->file);
  return status;
}

od_status od_log_read(od_log_plan *plan, od_units *units, od_log **out, od_messages *messages) {
  *out = NULL;
  OD_OWNED(od_log_free) od_log *log = NULL;
  od_status status = od_log_open(plan, &log, messages);
  if (status == OD_OK) status = od_log_load(log, plan, units, messages);
  if (status == OD_OK) *out = OD_GIVE(log);
  return status;
}

bool od_log_has_changed(const od_log *log) {
  bool any = false;
  for (int i = 0; i < log->inputs; i++)
    any = any || (log->input[i].file && od_row_reader_has_changed(log->input[i].file));
  return any;
}

void od_log_free(od_log *log) {
  if (!log) return;
  close_files(log);
  od_arena_free(&log->memory);
  od_free(log);
}
