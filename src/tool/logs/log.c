// Reads a log and iterates over its rows. The first pass over the file checks the rows and computes the properties of
// the channels. A second pass stores the rows of a short log.
#include "logs/log.h"

#include <math.h>
#include <string.h>

#include "base/allocate.h"
#include "formats/row_reader.h"
#include "io/wording.h"

static od_status no_memory(const od_log_plan *plan, od_error *err) {
  return od_fail(err, OD_NO_MEMORY, "out of memory while reading %s", plan->file);
}

// --- Rows of the file, one per time -------------------------------------------------------------------------------

// Merges rows with the same time: the first row is kept, and the later rows fill its gaps.
typedef struct merged_rows {
  const od_log_plan *plan;
  od_row_reader *file;          // owned by the caller
  double *read, *kept, *given;  // one row each: the row just read, the waiting row, the given row
  int line;                     // line number of the waiting row
  bool waits;                   // whether there is a waiting row
  long count;                   // number of rows of the file so far
  long repeated;                // number of omitted rows in the part in use
} merged_rows;

typedef struct file_row {
  const double *cell;  // one per column of the file
  double time;         // time of the row, s
  int line;            // line number; 0: not a text file
} file_row;

// Prepares the merging of rows. The file is at its first row, and its columns have been found. False: out of memory.
static bool merge_rows(merged_rows *r, const od_log_plan *plan, od_row_reader *file, od_arena *memory) {
  int columns = od_row_reader_head(file)->columns;
  *r = (merged_rows){.plan = plan, .file = file};
  r->read = OD_TAKE(memory, double, columns);
  r->kept = OD_TAKE(memory, double, columns);
  r->given = OD_TAKE(memory, double, columns);
  return od_arena_status(memory) == OD_OK;
}

// Returns the time of a row, s. The time comes from the cells of the row, or from its number.
static double time_of(const merged_rows *r, const double *cells, long number) {
  return r->plan->interval > 0 ? (double)number * r->plan->interval : od_channel_value(&r->plan->time, cells);
}

// Returns whether the row just read has the time of the waiting row. If so, the values of the new row fill the gaps of the waiting
// row.
static bool repeats(merged_rows *r) {
  if (r->plan->interval > 0) return false;
  double now = time_of(r, r->read, 0);
  if (!isfinite(now) || now != time_of(r, r->kept, 0)) return false;
  int columns = od_row_reader_head(r->file)->columns;
  for (int c = 0; c < columns; c++)
    if (isnan(r->kept[c])) r->kept[c] = r->read[c];
  r->repeated += now >= r->plan->start && now <= r->plan->end;
  return true;
}

// Passes both rows on: the waiting row becomes the given row, and the row just read becomes the waiting row.
static void give_waiting(merged_rows *r, int line) {
  double *unused = r->given;
  r->given = r->kept;
  r->kept = r->read;
  r->read = unused;
  r->line = line;
}

// Reads the next row, which is valid until the next call. *more false: there is no further row.
static od_status next_row(merged_rows *r, file_row *row, bool *more, od_error *err) {
  bool end = false;
  od_status status = OD_OK;
  *more = false;
  while ((status = od_row_reader_next(r->file, r->read, &end, err)) == OD_OK && !end) {
    r->count++;
    int line = od_row_reader_line(r->file), before = r->line;
    if (r->waits && repeats(r)) continue;
    give_waiting(r, line);
    *more = r->waits;
    r->waits = true;
    if (!*more) continue;
    *row = (file_row){r->given, time_of(r, r->given, r->count - 2), before};
    return OD_OK;
  }
  if (status != OD_OK || !r->waits) return status;
  int before = r->line;
  give_waiting(r, 0);
  r->waits = false;
  *more = true;
  *row = (file_row){r->given, time_of(r, r->given, r->count - 1), before};
  return OD_OK;
}

// --- Cursors ------------------------------------------------------------------------------------------------------

// Rows of a log that is not in memory come from its file. The cursor stores only the rows between the last and the next value of an
// input, to interpolate a gap.
struct od_log_cursor {
  const od_log *log;
  long at;  // number of rows given so far

  // For a log that is not in memory:
  od_arena memory;
  od_row_reader *file;
  merged_rows rows;
  bool has_gaps;       // whether some input has gaps
  double *ahead;       // ring buffer of rows that were read but not given yet: time, and a value per channel
  long first, count;   // index of the first row ahead, and number of rows ahead
  long capacity;       // capacity of the ring buffer, rows
  double *now, *last;  // the current row and the previous row
  long *next;          // per channel: number of the row with the value at the end of the current gap
};

static size_t width(const od_log_cursor *c) {
  return (size_t)c->log->plan->channels + 1;
}

od_status od_log_cursor_new(const od_log *log, od_log_cursor **out, od_error *err) {
  *out = NULL;
  OD_OWNED(od_log_cursor_free) od_log_cursor *c = od_calloc(1, sizeof *c);
  if (!c) return no_memory(log->plan, err);
  c->log = log;
  if (!log->value) {
    for (int i = 0; i < log->plan->channels; i++)
      c->has_gaps = c->has_gaps || (log->plan->channel[i].is_input && log->missing[i] > 0);
    c->capacity = 2;
    c->ahead = od_calloc((size_t)c->capacity * width(c), sizeof *c->ahead);
    c->now = OD_TAKE(&c->memory, double, width(c));
    c->last = OD_TAKE(&c->memory, double, width(c));
    c->next = OD_TAKE(&c->memory, long, width(c));
    if (!c->ahead || od_arena_status(&c->memory) != OD_OK) return no_memory(log->plan, err);
    od_status status = od_row_reader_again(log->file, &c->file, err);
    if (status != OD_OK) return status;
    if (!merge_rows(&c->rows, log->plan, c->file, &c->memory)) return no_memory(log->plan, err);
  }
  *out = OD_GIVE(c);
  return OD_OK;
}

void od_log_cursor_free(od_log_cursor *c) {
  if (!c) return;
  od_row_reader_close(c->file);
  od_arena_free(&c->memory);
  od_free(c->ahead);
  od_free(c);
}

// Returns row k of the rows ahead.
static double *ahead(const od_log_cursor *c, long k) {
  return c->ahead + (size_t)((c->first + k) % c->capacity) * width(c);
}

// Doubles the ring buffer if it is full. False: out of memory.
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

// Reports that the file has changed since it was first read.
static od_status changed(const od_log_cursor *c, od_error *err) {
  return od_fail(err, OD_IO, "%s has changed while it was read; run the command again when the file is complete",
                 c->log->plan->file);
}

// Reads one more row of the part in use.
static od_status read_ahead(od_log_cursor *c, od_error *err) {
  const od_log_plan *plan = c->log->plan;
  file_row row;
  bool more = true;
  do {
    od_status status = next_row(&c->rows, &row, &more, err);
    if (status == OD_NO_MEMORY || status == OD_IO) return status;
    if (status != OD_OK || !more || !isfinite(row.time)) return changed(c, err);
  } while (row.time < plan->start || row.time > plan->end);
  if (!make_room(c)) return no_memory(plan, err);
  double *to = ahead(c, c->count++);
  *to++ = row.time;
  for (int i = 0; i < plan->channels; i++) {
    double value = od_channel_value(&plan->channel[i], row.cell);
    to[i] = isfinite(value) ? value : (double)NAN;
  }
  return OD_OK;
}

// Interpolates input i of the current row, which has no value. The observer needs all inputs.
static od_status fill_gap(od_log_cursor *c, int i, od_error *err) {
  const od_channel_facts *f = &c->log->facts[i];
  double *value = &c->now[1 + i], before = c->last[1 + i], from = c->last[0];
  if (c->at < f->first) {
    *value = f->first_value;
    return OD_OK;
  }
  if (c->at > f->last || c->log->plan->hold) {
    *value = before;
    return OD_OK;
  }
  // Reads rows until the channel has a value.
  for (long k = 1; c->next[i] <= c->at; k++) {
    od_status status = k == c->count ? read_ahead(c, err) : OD_OK;
    if (status != OD_OK) return status;
    if (!isnan(ahead(c, k)[1 + i])) c->next[i] = c->at + k;
  }
  const double *next = ahead(c, c->next[i] - c->at);
  double along = (c->now[0] - from) / (next[0] - from);
  *value = before + along * (next[1 + i] - before);
  return OD_OK;
}

// Reads the next row of a log that is not in memory into c->now.
static od_status next_of_file(od_log_cursor *c, od_error *err) {
  od_status status = c->count > 0 ? OD_OK : read_ahead(c, err);
  if (status != OD_OK) return status;
  double *before = c->last;
  c->last = c->now;
  c->now = before;
  memcpy(c->now, ahead(c, 0), width(c) * sizeof *c->now);
  if (c->at > 0 && !(c->now[0] > c->last[0])) return changed(c, err);
  for (int i = 0; c->has_gaps && i < c->log->plan->channels && status == OD_OK; i++)
    if (c->log->plan->channel[i].is_input && isnan(c->now[1 + i])) status = fill_gap(c, i, err);
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
    *value = c->now + 1;
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

typedef struct survey {
  od_log *log;
  long rows;                     // number of rows with different times
  double first, last;            // times of the first and last rows
  int line;                      // line number of the last row
  bad_rows without_time, early;  // early: the time is not later than the time of the previous row
} survey;

// Records the time of a row. False: the row has no time, or its time is not later than the time of the previous row.
static bool check_time(survey *s, const file_row *row) {
  bool has_time = isfinite(row->time);
  bool is_early = has_time && s->rows > s->without_time.count && row->time <= s->last;
  bad_rows *bad = !has_time ? &s->without_time : is_early ? &s->early : NULL;
  if (bad && bad->count++ == 0) {
    bad->row = s->rows;
    bad->line = row->line;
    bad->time = row->time;
    bad->before = s->last;
  }
  if (has_time && s->rows == s->without_time.count) s->first = row->time;
  if (has_time) s->last = row->time;
  s->rows++;
  s->line = row->line;
  return !bad;
}

// Updates the properties of the log and of its channels with a row of the part in use.
static void add_row(od_log *log, const file_row *row) {
  double gap = log->rows > 0 ? row->time - log->end : 0;
  if (gap > log->longest) log->longest = gap, log->at = log->end;
  for (int i = 0; i < log->plan->channels; i++) {
    od_channel_facts *f = &log->facts[i];
    double value = od_channel_value(&log->plan->channel[i], row->cell);
    if (!isfinite(value)) {
      log->missing[i]++;
      continue;
    }
    f->least = fmin(f->least, value);
    f->most = fmax(f->most, value);
    if (f->first < 0) f->first = log->rows, f->first_value = f->last_value = value;
    f->steepest = fmax(f->steepest, fabs(value - f->last_value));
    f->last = log->rows;
    f->last_value = value;
  }
  if (log->rows++ == 0) log->begin = row->time;
  log->end = row->time;
}

// Reads all rows of the file once.
static od_status survey_file(survey *s, od_error *err) {
  OD_SCRATCH(scratch);
  od_log *log = s->log;
  const od_log_plan *plan = log->plan;
  merged_rows rows;
  file_row row;
  bool more = true;
  if (!merge_rows(&rows, plan, log->file, &scratch)) return no_memory(plan, err);
  for (;;) {
    od_status status = next_row(&rows, &row, &more, err);
    if (status != OD_OK) return status;
    if (!more) break;
    if (check_time(s, &row) && row.time >= plan->start && row.time <= plan->end) add_row(log, &row);
  }
  log->repeated = rows.repeated;
  // A channel with more than a few values that are all equal may be a dead sensor.
  for (int i = 0; i < plan->channels; i++) {
    const od_channel_facts *f = &log->facts[i];
    log->constant[i] = plan->channel[i].at >= 0 && log->rows - log->missing[i] > 5 && f->least == f->most;
  }
  return OD_OK;
}

// --- Checks -------------------------------------------------------------------------------------------------------

// Adds a message about rows with an error. A message about a text file has the line of the first such row; other
// messages contain the number of this row.
static void complain_about_rows(const od_log_plan *plan, const bad_rows *bad, od_messages *messages, const char *what) {
  char tail[128] = "";
  long more = bad->count - 1;
  if (more > 0) snprintf(tail, sizeof tail, " (and %s)", od_count(more, "more such row").text);
  od_place place = {plan->file, bad->line, bad->line > 0};
  if (bad->line > 0)
    od_messages_add(messages, place, "%s%s", what, tail);
  else
    od_messages_add(messages, place, "row %ld: %s%s", bad->row + 1, what, tail);
}

// Checks that the columns in use contain numbers, and that all rows have increasing times. Also checks that the part in use has
// rows, and that every input has a value. Gaps of inputs are interpolated. False: there are messages.
static bool check_rows(const survey *s, od_messages *messages) {
  const od_log *log = s->log;
  const od_log_plan *plan = log->plan;
  const od_place file = {.file = plan->file};
  bool ok = true;
  for (int i = -1; i < plan->channels; i++) {
    const od_channel *c = i < 0 ? &plan->time : &plan->channel[i];
    const char *flaw = c->at >= 0 ? od_table_flaw(od_row_reader_head(log->file), c->at) : NULL;
    if (flaw) od_messages_add(messages, plan->place, "%s", flaw);
    ok = ok && !flaw;
  }
  if (!ok) return false;
  if (s->without_time.count > 0)
    complain_about_rows(plan, &s->without_time, messages, "this row has no time; expected a number in the time column");
  if (s->early.count > 0) {
    char text[160];
    snprintf(text, sizeof text,
             "the time %.9g s is not later than the previous time, %.9g s; expected increasing times", s->early.time,
             s->early.before);
    complain_about_rows(plan, &s->early, messages, text);
  }
  if (s->without_time.count > 0 || s->early.count > 0) return false;
  if (s->rows == 0)
    od_messages_add(messages, file, "the file has no rows; expected at least one row");
  else if (log->rows == 0)
    od_messages_add(messages, file,
                    "the file has no rows between 'start' and 'end'; the rows are from %.9g s to %.9g s", s->first,
                    s->last);
  for (int i = 0; i < plan->channels && log->rows > 0; i++) {
    if (!plan->channel[i].is_input || log->missing[i] < log->rows) continue;
    od_messages_add(messages, file, "the file has no value of the input '%s'; expected at least one value",
                    plan->channel[i].name);
    ok = false;
  }
  return ok && log->rows > 0;
}

// --- The log ------------------------------------------------------------------------------------------------------

// Opens the plan's file.
static od_status open_file(od_log *log, od_log_plan *plan, od_messages *messages) {
  od_error err = {0};
  const char **columns = OD_TAKE(&log->memory, const char *, plan->channels + 1);
  od_table_wish *wish = OD_TAKE(&log->memory, od_table_wish, 1);
  if (!columns || !wish) return OD_NO_MEMORY;
  for (int i = 0, n = 0; i < plan->channels; i++)
    if (plan->channel[i].column) columns[n++] = plan->channel[i].column;
  *wish = (od_table_wish){.missing = plan->missing,
                          .time = plan->time.column,
                          .columns = columns,
                          .time_form = plan->time.file_unit,
                          .no_time = plan->interval > 0,
                          .skip = plan->skip,
                          .databases = plan->databases};
  od_status status = od_row_reader_open(plan->file, wish, &log->file, &err);
  if (status != OD_OK && status != OD_NO_MEMORY) od_messages_add(messages, plan->place, "%s", err.text);
  return status;
}

// Finds the columns of all channels. Does not read rows.
static od_status find_columns(od_log *log, od_log_plan *plan, od_units *units, od_messages *messages) {
  const od_table *head = od_row_reader_head(log->file);
  if (!od_log_match(plan, head, plan->file, units, messages)) return OD_BAD_INPUT;
  log->plan = plan;
  log->wanted = OD_TAKE(&log->memory, bool, head->columns);
  log->facts = OD_TAKE(&log->memory, od_channel_facts, plan->channels);
  log->missing = OD_TAKE(&log->memory, long, plan->channels);
  log->constant = OD_TAKE(&log->memory, bool, plan->channels);
  if (od_arena_status(&log->memory) != OD_OK) return OD_NO_MEMORY;
  int time = plan->time.at;
  if (time >= 0) log->wanted[time] = true;
  if (time >= 0 && !plan->time.file_unit && !head->unit[time][0] && plan->time.scale == 1)
    log->time_without_unit = od_arena_text(&log->memory, head->name[time]);
  for (int i = 0; i < plan->channels; i++) {
    if (plan->channel[i].at >= 0) log->wanted[plan->channel[i].at] = true;
    log->facts[i] = (od_channel_facts){.least = INFINITY, .most = -INFINITY, .first = -1, .last = -1};
  }
  od_row_reader_want(log->file, log->wanted);
  return od_arena_status(&log->memory);
}

// Stores the rows of a short log, so that later changes of its file have no effect.
static od_status hold_if_short(od_log *log, od_error *err) {
  size_t channels = (size_t)log->plan->channels;
  double size = (double)log->rows * (double)(channels + 1) * sizeof(double);
  if (!od_row_reader_holds(log->file) && size > (double)log->plan->most_held) return OD_OK;
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
  od_log_cursor_free(OD_GIVE(cursor));  // the cursor reads the file, so the cursor is freed first
  od_row_reader_close(log->file);
  log->file = NULL;
  return OD_OK;
}

// Reads the rows of a log: checks them, computes the properties of the channels, stores the rows of a short log, and
// counts jumps.
static od_status read_rows(od_log *log, od_messages *messages) {
  od_error err = {0};
  survey s = {.log = log};
  od_status status = survey_file(&s, &err);
  if (status == OD_OK && !check_rows(&s, messages)) return OD_BAD_INPUT;
  bool is_cut = status == OD_OK && od_row_reader_is_cut(log->file);
  if (status == OD_OK) status = hold_if_short(log, &err);
  if (status == OD_OK) status = od_log_count_jumps(log, &err);
  if (status == OD_OK && is_cut)
    od_messages_say(messages, true, (od_place){log->plan->file, s.line, 1},
                    s.line > 0 ? "the file ends within this line; check whether the file is complete"
                               : "the file ends before its last row; check whether the file is complete");
  if (status != OD_OK && status != OD_NO_MEMORY) od_messages_add(messages, log->plan->place, "%s", err.text);
  return status;
}

od_status od_log_open(od_log_plan *plan, od_log **out, od_messages *messages) {
  od_log *log = *out = od_calloc(1, sizeof *log);
  od_status status = log ? open_file(log, plan, messages) : OD_NO_MEMORY;
  if (status == OD_NO_MEMORY) od_messages_add(messages, plan->place, "out of memory while reading %s", plan->file);
  if (log) log->plan = plan;
  return status;
}

const od_table *od_log_head(const od_log *log) {
  return od_row_reader_head(log->file);
}

const char *od_log_label(const od_log *log, int channel) {
  const od_channel *c = &log->plan->channel[channel];
  return c->is_mapped || !c->label ? c->name : c->label;
}

od_status od_log_load(od_log *log, od_log_plan *plan, od_units *units, od_messages *messages) {
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
  return log->file && od_row_reader_has_changed(log->file);
}

void od_log_free(od_log *log) {
  if (!log) return;
  od_row_reader_close(log->file);
  od_arena_free(&log->memory);
  od_free(log);
}
