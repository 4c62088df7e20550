#include "experiment/log.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// --- Reading a file -----------------------------------------------------------------------------------------------

static od_status read_table(const od_log_plan *plan, od_table **out, od_messages *messages) {
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
  od_status status = od_table_read(plan->file, &wish, out, &err);
  free(columns);
  if (status != OD_OK) od_messages_add(messages, plan->place, "%s", err.text);
  return status;
}

static double time_of(const od_log_plan *plan, const od_table *t, long row) {
  if (plan->interval > 0) return (double)row * plan->interval;
  return od_channel_value(&plan->time, t->data + row * t->columns);
}

// --- Checks -------------------------------------------------------------------------------------------------------

static bool is_sound(const od_log_plan *plan, const od_table *t, const od_channel *c, od_messages *messages) {
  const char *flaw = c->at >= 0 ? od_table_flaw(t, c->at) : NULL;
  if (flaw) od_messages_add(messages, plan->place, "%s", flaw);
  return !flaw;
}

// The columns that are used must hold numbers; the others may hold anything.
static bool check_cells(const od_log_plan *plan, const od_table *t, od_messages *messages) {
  bool ok = is_sound(plan, t, &plan->time, messages);
  for (int i = 0; i < plan->channels; i++) ok = is_sound(plan, t, &plan->channel[i], messages) && ok;
  return ok;
}

// Of several rows with the same time the first is kept, with the values of the others where it has none. Returns how many
// were left out of the part that counts.
static long drop_repeated(const od_log_plan *plan, od_table *t) {
  long kept = 0, dropped = 0;
  size_t width = (size_t)t->columns;
  for (long row = 0; row < t->rows; row++) {
    double now = time_of(plan, t, row), *cells = t->data + (size_t)row * width;
    if (plan->interval > 0 || kept == 0 || !isfinite(now) || now != time_of(plan, t, kept - 1)) {
      memmove(t->data + (size_t)kept * width, cells, width * sizeof *cells);
      if (t->places.line) t->places.line[kept] = t->places.line[row];
      kept++;
      continue;
    }
    double *last = t->data + (size_t)(kept - 1) * width;
    for (size_t c = 0; c < width; c++)
      if (isnan(last[c])) last[c] = cells[c];
    dropped += now >= plan->start && now <= plan->end;
  }
  t->rows = kept;
  return dropped;
}

// Rows are lines in a text file, else they have numbers.
static void complain_about_row(const od_log_plan *plan, const od_table *t, long row, long more, od_messages *messages,
                               const char *what) {
  char tail[64] = "";
  if (more > 0) snprintf(tail, sizeof tail, " (and %ld more such %s)", more, more == 1 ? "row" : "rows");
  bool text = t->places.line != NULL;
  od_place place = {plan->file, text ? t->places.line[row] : 0, text ? 1 : 0};
  if (text)
    od_messages_add(messages, place, "%s%s", what, tail);
  else
    od_messages_add(messages, place, "row %ld: %s%s", row + 1, what, tail);
}

// Every row needs a time, and it must come after the one before.
static bool check_times(const od_log_plan *plan, const od_table *t, od_messages *messages) {
  long bare = -1, back = -1, bare_count = 0, back_count = 0;
  double last = -INFINITY, back_from = 0;
  for (long row = 0; row < t->rows; row++) {
    double now = time_of(plan, t, row);
    if (!isfinite(now)) {
      if (bare_count++ == 0) bare = row;
      continue;
    }
    if (now <= last && back_count++ == 0) back = row, back_from = last;
    last = now;
  }
  char text[160];
  if (bare_count > 0) complain_about_row(plan, t, bare, bare_count - 1, messages, "this row has no time");
  if (back_count > 0) {
    snprintf(text, sizeof text, "times must increase; %.9g s does not come after %.9g s", time_of(plan, t, back),
             back_from);
    complain_about_row(plan, t, back, back_count - 1, messages, text);
  }
  return bare_count == 0 && back_count == 0;
}

// The rows between start and end: *first and how many.
static long choose_rows(const od_log_plan *plan, const od_table *t, long *first, od_messages *messages) {
  long count = 0;
  *first = 0;
  for (long row = 0; row < t->rows; row++) {
    double now = time_of(plan, t, row);
    if (now < plan->start || now > plan->end) continue;
    if (count++ == 0) *first = row;
  }
  if (t->rows == 0)
    od_messages_add(messages, (od_place){.file = plan->file}, "has no rows");
  else if (count == 0)
    od_messages_add(messages, (od_place){.file = plan->file},
                    "has no rows between start and end; it goes from %.9g s to %.9g s", time_of(plan, t, 0),
                    time_of(plan, t, t->rows - 1));
  return count;
}

// --- The channels -------------------------------------------------------------------------------------------------

static bool allocate(od_log *log, long rows, int channels) {
  size_t r = (size_t)rows + 1, c = (size_t)channels + 1;
  log->rows = rows;
  log->time = calloc(r, sizeof *log->time);
  log->value = calloc(r * c, sizeof *log->value);
  log->missing = calloc(c, sizeof *log->missing);
  log->constant = calloc(c, sizeof *log->constant);
  return log->time && log->value && log->missing && log->constant;
}

static void fill(od_log *log, const od_table *t, long first) {
  const od_log_plan *plan = log->plan;
  int n = plan->channels;
  for (long row = 0; row < log->rows; row++) {
    const double *cells = t->data + (first + row) * t->columns;
    log->time[row] = time_of(plan, t, first + row);
    for (int c = 0; c < n; c++) {
      double value = od_channel_value(&plan->channel[c], cells);
      log->value[row * n + c] = isfinite(value) ? value : (double)NAN;
      log->missing[c] += !isfinite(value);
    }
    double gap = row > 0 ? log->time[row] - log->time[row - 1] : 0;
    if (gap > log->longest) log->longest = gap, log->at = log->time[row - 1];
  }
}

// Not a single change in more than a handful of values: a dead sensor looks like that.
static void find_constants(od_log *log) {
  int n = log->plan->channels;
  for (int c = 0; c < n; c++) {
    double least = INFINITY, most = -INFINITY;
    long present = log->rows - log->missing[c];
    for (long row = 0; row < log->rows; row++) {
      double value = log->value[row * n + c];
      if (isnan(value)) continue;
      least = fmin(least, value);
      most = fmax(most, value);
    }
    log->constant[c] = log->plan->channel[c].at >= 0 && present > 5 && least == most;
  }
}

// Inputs that are not there are taken from their neighbours: the observer cannot do without.
static bool bridge_inputs(od_log *log, od_messages *messages) {
  int n = log->plan->channels;
  bool ok = true;
  for (int c = 0; c < n; c++) {
    if (!log->plan->channel[c].is_input || log->missing[c] == 0) continue;
    if (log->missing[c] == log->rows) {
      od_messages_add(messages, (od_place){.file = log->plan->file}, "has no value of the input '%s'",
                      log->plan->channel[c].name);
      ok = false;
      continue;
    }
    long first = 0;
    while (isnan(log->value[first * n + c])) first++;
    for (long row = 0; row < first; row++) log->value[row * n + c] = log->value[first * n + c];
    for (long row = first, next = first; row < log->rows; row++) {
      double *value = &log->value[row * n + c];
      if (!isnan(*value)) continue;
      for (next = next > row ? next : row; next < log->rows && isnan(log->value[next * n + c]);) next++;
      double before = log->value[(row - 1) * n + c], from = log->time[row - 1];
      bool last = next == log->rows || log->plan->hold;
      double along = last ? 0 : (log->time[row] - from) / (log->time[next] - from);
      *value = last ? before : before + along * (log->value[next * n + c] - before);
    }
  }
  return ok;
}

// --- The log ------------------------------------------------------------------------------------------------------

static od_status make_log(od_log_plan *plan, od_table *t, od_log **out, od_messages *messages) {
  long repeated = drop_repeated(plan, t), first = 0;
  long rows = check_times(plan, t, messages) ? choose_rows(plan, t, &first, messages) : 0;
  if (rows == 0) return OD_BAD_INPUT;
  od_log *log = *out = calloc(1, sizeof *log);
  if (!log) return OD_NO_MEMORY;
  log->plan = plan;
  log->repeated = repeated;
  if (!allocate(log, rows, plan->channels)) return OD_NO_MEMORY;
  fill(log, t, first);
  find_constants(log);
  return bridge_inputs(log, messages) ? OD_OK : OD_BAD_INPUT;
}

od_status od_log_read(od_log_plan *plan, od_units *units, od_log **out, od_messages *messages) {
  *out = NULL;
  od_table *table = NULL;
  od_status status = read_table(plan, &table, messages);
  if (status != OD_OK) return status;
  if (!od_log_match(plan, table, plan->file, units, messages) || !check_cells(plan, table, messages))
    status = OD_BAD_INPUT;
  if (status == OD_OK) status = make_log(plan, table, out, messages);
  if (status == OD_OK && table->places.cut && table->rows > 0)
    od_messages_say(messages, true, (od_place){plan->file, table->places.line[table->rows - 1], 1},
                    "the file ends here, within a line; is it complete?");
  od_table_free(table);
  if (status == OD_NO_MEMORY) od_messages_add(messages, plan->place, "memory ran out while reading %s", plan->file);
  if (status == OD_OK) return OD_OK;
  od_log_free(*out);
  *out = NULL;
  return status;
}

bool od_log_remark_repeated(const od_log *log, od_verdict *verdict) {
  if (log->repeated == 0) return true;
  return od_verdict_add(
      verdict, OD_SOUND, "log.repeated_times",
      "Repeated times:", "%ld row%s of %.100s %s the time of the row before; the first of each time is kept.",
      log->repeated, log->repeated == 1 ? "" : "s", log->plan->file, log->repeated == 1 ? "has" : "have");
}

void od_log_free(od_log *log) {
  if (!log) return;
  free(log->time);
  free(log->value);
  free(log->missing);
  free(log->constant);
  free(log);
}
