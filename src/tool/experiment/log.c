// Reads a log. One pass over the file checks it and collects facts about its channels. A second pass stores the rows of a short
// log.
#define _POSIX_C_SOURCE 200809L  // strdup

#include "experiment/log.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "experiment/log_merged_rows.h"
#include "io/wording.h"

// --- The file -----------------------------------------------------------------------------------------------------

static od_status open_file(const od_log_plan *plan, od_row_reader **out, od_messages *messages) {
  od_error err = {0};
  const char **columns = calloc((size_t)plan->channels + 1, sizeof *columns);
  if (!columns) return OD_NO_MEMORY;
  for (int i = 0, n = 0; i < plan->channels; i++)
    if (plan->channel[i].column) columns[n++] = plan->channel[i].column;
  const od_table_wish wish = {.missing = plan->missing,
                              .time = plan->time.column,
                              .columns = columns,
                              .no_time = plan->interval > 0,
                              .skip = plan->skip};
  od_status status = od_row_reader_open(plan->file, &wish, out, &err);
  free(columns);
  if (status != OD_OK) od_messages_add(messages, plan->place, "%s", err.text);
  return status;
}

// Makes the log of a file whose columns have been found, without rows.
static od_log *new_log(od_log_plan *plan, od_row_reader *file) {
  size_t channels = (size_t)plan->channels + 1, columns = (size_t)od_row_reader_head(file)->columns + 1;
  od_log *log = calloc(1, sizeof *log);
  if (!log) {
    od_row_reader_close(file);
    return NULL;
  }
  *log = (od_log){.plan = plan,
                  .file = file,
                  .wanted = calloc(columns, sizeof *log->wanted),
                  .facts = calloc(channels, sizeof *log->facts),
                  .missing = calloc(channels, sizeof *log->missing),
                  .constant = calloc(channels, sizeof *log->constant)};
  if (!log->wanted || !log->facts || !log->missing || !log->constant) {
    od_log_free(log);
    return NULL;
  }
  const od_table *head = od_row_reader_head(file);
  bool bare = plan->time.at >= 0 && !plan->time.file_unit && !head->unit[plan->time.at][0] && plan->time.scale == 1;
  if (bare) log->bare_time = strdup(head->name[plan->time.at]);
  if (plan->time.at >= 0) log->wanted[plan->time.at] = true;
  for (int i = 0; i < plan->channels; i++) {
    if (plan->channel[i].at >= 0) log->wanted[plan->channel[i].at] = true;
    log->facts[i] = (od_channel_facts){.least = INFINITY, .most = -INFINITY, .first = -1, .last = -1};
  }
  od_row_reader_want(file, log->wanted);
  return log;
}

// --- The first pass -----------------------------------------------------------------------------------------------

// Rows with an error: the first of them, and their number.
typedef struct bad_rows {
  long count, row;
  int line;
  double time, before;
} bad_rows;

typedef struct survey {
  od_log *log;
  long rows;           // rows of the file with different times
  double first, last;  // times of the first and last rows
  int line;            // line of the last row
  bad_rows bare, back;
} survey;

// Every row needs a time that is later than that of the row before.
static bool check_time(survey *s, const od_log_row *row) {
  bool bare = !isfinite(row->time), back = !bare && s->rows > s->bare.count && row->time <= s->last;
  bad_rows *bad = bare ? &s->bare : back ? &s->back : NULL;
  if (bad && bad->count++ == 0) {
    bad->row = s->rows;
    bad->line = row->line;
    bad->time = row->time;
    bad->before = s->last;
  }
  if (!bare && s->rows == s->bare.count) s->first = row->time;
  if (!bare) s->last = row->time;
  s->rows++;
  s->line = row->line;
  return !bad;
}

static void take_value(od_log *log, int channel, double value) {
  od_channel_facts *f = &log->facts[channel];
  if (!isfinite(value)) {
    log->missing[channel]++;
    return;
  }
  f->least = fmin(f->least, value);
  f->most = fmax(f->most, value);
  if (f->first < 0) f->first = log->rows, f->first_value = f->last_value = value;
  f->steepest = fmax(f->steepest, fabs(value - f->last_value));
  f->last = log->rows;
  f->last_value = value;
}

// Adds a row of the used part to the facts.
static void take_row(od_log *log, const od_log_row *row) {
  double gap = log->rows > 0 ? row->time - log->end : 0;
  if (gap > log->longest) log->longest = gap, log->at = log->end;
  for (int i = 0; i < log->plan->channels; i++) take_value(log, i, od_channel_value(&log->plan->channel[i], row->cell));
  if (log->rows++ == 0) log->begin = row->time;
  log->end = row->time;
}

// Finds channels without any change in more than a few values: a dead sensor looks like that.
static void find_constants(od_log *log) {
  for (int i = 0; i < log->plan->channels; i++) {
    const od_channel_facts *f = &log->facts[i];
    log->constant[i] = log->plan->channel[i].at >= 0 && log->rows - log->missing[i] > 5 && f->least == f->most;
  }
}

static od_status walk(survey *s, od_error *err) {
  od_log *log = s->log;
  const od_log_plan *plan = log->plan;
  od_log_rows rows;
  od_log_row row;
  bool more = true;
  od_status status = od_log_rows_begin(&rows, plan, log->file, err);
  while (status == OD_OK) {
    status = od_log_rows_next(&rows, &row, &more, err);
    if (status != OD_OK || !more) break;
    if (check_time(s, &row) && row.time >= plan->start && row.time <= plan->end) take_row(log, &row);
  }
  log->repeated = rows.repeated;
  od_log_rows_end(&rows);
  find_constants(log);
  return status;
}

// --- Checks -------------------------------------------------------------------------------------------------------

static bool is_sound(const od_log *log, const od_channel *c, od_messages *messages) {
  const char *flaw = c->at >= 0 ? od_table_flaw(od_row_reader_head(log->file), c->at) : NULL;
  if (flaw) od_messages_add(messages, log->plan->place, "%s", flaw);
  return !flaw;
}

// The columns in use must contain numbers; the others may contain anything.
static bool check_cells(const od_log *log, od_messages *messages) {
  bool ok = is_sound(log, &log->plan->time, messages);
  for (int i = 0; i < log->plan->channels; i++) ok = is_sound(log, &log->plan->channel[i], messages) && ok;
  return ok;
}

// Message about a row: by its line in a text file, else by its number.
static void complain_about_row(const od_log_plan *plan, const bad_rows *bad, od_messages *messages, const char *what) {
  char tail[128] = "";
  long more = bad->count - 1;
  if (more > 0) snprintf(tail, sizeof tail, " (and %s)", od_count(more, "more such row").text);
  od_place place = {plan->file, bad->line, bad->line > 0};
  if (bad->line > 0)
    od_messages_add(messages, place, "%s%s", what, tail);
  else
    od_messages_add(messages, place, "row %ld: %s%s", bad->row + 1, what, tail);
}

static bool check_times(const survey *s, od_messages *messages) {
  const od_log_plan *plan = s->log->plan;
  char text[160];
  if (s->bare.count > 0) complain_about_row(plan, &s->bare, messages, "this row has no time");
  if (s->back.count > 0) {
    snprintf(text, sizeof text, "times must increase; %.9g s does not come after %.9g s", s->back.time, s->back.before);
    complain_about_row(plan, &s->back, messages, text);
  }
  return s->bare.count == 0 && s->back.count == 0;
}

static bool check_count(const survey *s, od_messages *messages) {
  const od_place file = {.file = s->log->plan->file};
  if (s->rows == 0)
    od_messages_add(messages, file, "has no rows");
  else if (s->log->rows == 0)
    od_messages_add(messages, file, "has no rows between start and end; it goes from %.9g s to %.9g s", s->first,
                    s->last);
  return s->log->rows > 0;
}

// Gaps of inputs are interpolated. An input without any value is an error.
static bool check_inputs(const od_log *log, od_messages *messages) {
  bool ok = true;
  for (int i = 0; i < log->plan->channels; i++) {
    if (!log->plan->channel[i].is_input || log->missing[i] < log->rows) continue;
    od_messages_add(messages, (od_place){.file = log->plan->file}, "has no value of the input '%s'",
                    log->plan->channel[i].name);
    ok = false;
  }
  return ok;
}

// --- The log ------------------------------------------------------------------------------------------------------

static od_status hold(od_log *log, od_error *err) {
  size_t rows = (size_t)log->rows + 1, channels = (size_t)log->plan->channels;
  double *time = calloc(rows, sizeof *time), *value = calloc(rows * channels + 1, sizeof *value);
  od_log_cursor *cursor = NULL;
  od_status status = time && value ? od_log_cursor_new(log, &cursor, err) : od_fail(err, OD_NO_MEMORY, "memory");
  const double *row = NULL;
  bool more = true;
  for (long k = 0; status == OD_OK; k++) {
    status = od_log_cursor_next(cursor, &time[k], &row, &more, err);
    if (status != OD_OK || !more) break;
    memcpy(value + (size_t)k * channels, row, channels * sizeof *value);
  }
  od_log_cursor_free(cursor);
  if (status == OD_OK) {
    log->time = time;
    log->value = value;
    return OD_OK;
  }
  free(time);
  free(value);
  return status;
}

// Stores the rows of a short log, so that later changes of its file have no effect.
static od_status hold_if_short(od_log *log, od_error *err) {
  double size = (double)log->rows * (log->plan->channels + 1) * sizeof(double);
  bool holds = od_row_reader_holds(log->file) || size <= (double)log->plan->most_held;
  od_status status = holds ? hold(log, err) : OD_OK;
  if (!log->value) return status;
  od_row_reader_close(log->file);
  log->file = NULL;
  return OD_OK;
}

static od_status make_log(od_log *log, od_messages *messages) {
  od_error err = {0};
  survey s = {.log = log};
  od_status status = walk(&s, &err);
  if (status == OD_OK && !(check_cells(log, messages) && check_times(&s, messages) && check_count(&s, messages) &&
                           check_inputs(log, messages)))
    return OD_BAD_INPUT;
  bool cut = status == OD_OK && od_row_reader_is_cut(log->file);
  if (status == OD_OK) status = hold_if_short(log, &err);
  if (status == OD_OK) status = od_log_count_jumps(log, &err);
  if (status == OD_OK && cut)
    od_messages_say(messages, true, (od_place){log->plan->file, s.line, 1},
                    "the file ends here, within a line; is it complete?");
  if (status != OD_OK && status != OD_NO_MEMORY) od_messages_add(messages, log->plan->place, "%s", err.text);
  return status;
}

od_status od_log_read(od_log_plan *plan, od_units *units, od_log **out, od_messages *messages) {
  *out = NULL;
  od_row_reader *file = NULL;
  od_status status = open_file(plan, &file, messages);
  if (status != OD_OK) return status;
  if (!od_log_match(plan, od_row_reader_head(file), plan->file, units, messages)) {
    od_row_reader_close(file);
    return OD_BAD_INPUT;
  }
  od_log *log = new_log(plan, file);
  status = log ? make_log(log, messages) : OD_NO_MEMORY;
  if (status == OD_NO_MEMORY) od_messages_add(messages, plan->place, "memory ran out while reading %s", plan->file);
  if (status == OD_OK)
    *out = log;
  else
    od_log_free(log);
  return status;
}

bool od_log_remark_repeated(const od_log *log, od_verdict *verdict) {
  if (log->repeated == 0) return true;
  return od_verdict_add(verdict, OD_SOUND, "log.repeated_times", "Repeated times:",
                        "%s of %.100s %s the time of the row before; the first of each time is kept.",
                        od_count(log->repeated, "row").text, log->plan->file, od_form(log->repeated, "has", "have"));
}

bool od_log_has_changed(const od_log *log) {
  return log->file && od_row_reader_has_changed(log->file);
}

void od_log_free(od_log *log) {
  if (!log) return;
  od_row_reader_close(log->file);
  free(log->wanted);
  free(log->bare_time);
  free(log->facts);
  free(log->time);
  free(log->value);
  free(log->missing);
  free(log->constant);
  free(log);
}
