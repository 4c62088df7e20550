#include "logs/log_table.h"

#include <math.h>
#include <string.h>

#include "io/wording.h"

// Returns the message about an ambiguous unit of the times; empty: the unit is clear.
static od_time_ambiguity ambiguity_of(const od_log *log) {
  if (!log->time_without_unit || log->rows < 2) return (od_time_ambiguity){.text = ""};
  const char *unit = od_time_unit_named(log->time_without_unit);
  char remedy[200];
  snprintf(remedy, sizeof remedy, "write the unit in the header, or give --map time='%.100s':%s",
           log->time_without_unit, unit ? unit : "ms");
  return od_time_ambiguity_of(log->time_without_unit, NULL, log->plan->file,
                              (log->end - log->begin) / (double)(log->rows - 1), remedy);
}

od_time_facts od_time_facts_of(const od_log *log) {
  od_time_facts facts = {.ambiguity = ambiguity_of(log), .repeated = log->repeated};
  snprintf(facts.file, sizeof facts.file, "%s", log->plan->file);
  return facts;
}

bool od_time_facts_remark(const od_time_facts *facts, od_verdict *verdict) {
  return od_time_ambiguity_remark(&facts->ambiguity, verdict) &&
         od_log_remark_repeated_rows(facts->repeated, facts->file, verdict);
}

od_status od_whole_log_begin(const od_log_settings *settings, const od_machine *machine, od_whole_log *out,
                             od_messages *messages) {
  od_error err = {0};
  *out = (od_whole_log){0};
  od_log_plan_init(&out->plan);
  out->units = od_units_new(&err);
  if (!out->units) {
    od_messages_add(messages, (od_place){0}, "%s", err.text);
    return err.status;
  }
  if (!od_log_plan_set(&out->plan, settings, machine, out->units, messages)) return OD_NO_MEMORY;
  return od_messages_errors(messages) > 0 ? OD_BAD_INPUT : OD_OK;
}

od_status od_whole_log_open(const od_log_settings *settings, const od_machine *machine, od_whole_log *out,
                            od_messages *messages) {
  od_status status = od_whole_log_begin(settings, machine, out, messages);
  return status == OD_OK ? od_log_open(&out->plan, &out->log, messages) : status;
}

// Copies the rows of the log into a new table. In a log with several rates, copies only the rows between the first and
// last values of all channels. Fails with OD_BAD_INPUT, OD_IO, OD_INTERRUPTED or OD_NO_MEMORY.
static od_status take_rows(od_whole_log *w, od_error *err) {
  const od_log *log = w->log;
  const int channels = w->plan.channels;
  OD_OWNED(od_log_cursor_free) od_log_cursor *cursor = NULL;
  od_table *t = w->table = od_table_new(channels + 1);
  od_status status = t ? od_table_resize(t, log->rows) : OD_NO_MEMORY;
  double begin = -INFINITY, end = INFINITY;
  if (status == OD_OK) status = od_table_label(t, 0, "time", "s");
  for (int i = 0; i < channels && status == OD_OK; i++) {
    status = od_table_label(t, i + 1, od_log_label(log, i), w->plan.channel[i].unit);
    if (log->has_rates) begin = fmax(begin, log->facts[i].begin), end = fmin(end, log->facts[i].end);
  }
  if (status == OD_OK) status = od_log_cursor_new(log, &cursor, err);
  const double *value = NULL;
  bool more = true;
  long kept = 0;
  for (long k = 0; k < log->rows && status == OD_OK; k++) {
    double *row = t->data + kept * (channels + 1);
    status = od_log_cursor_next(cursor, row, &value, &more, err);
    if (status != OD_OK || row[0] < begin || row[0] > end) continue;
    memcpy(row + 1, value, (size_t)channels * sizeof *value);
    kept++;
  }
  if (t) t->rows = kept;
  return status;
}

od_status od_whole_log_load(od_whole_log *w, od_messages *messages) {
  od_error err = {0};
  if (od_arena_status(&w->plan.memory) != OD_OK) return OD_NO_MEMORY;
  for (int i = 0; i < w->plan.channels; i++) w->plan.channel[i].fills = true;
  od_status status = od_log_load(w->log, &w->plan, w->units, messages);
  if (status != OD_OK) return status;
  // The values of a channel are interpolated at the times of other channels.
  for (int i = 0; i < w->plan.channels && w->log->has_rates; i++)
    if (!od_log_check_gap(w->log, i, od_channel_interval(&w->log->facts[i]), messages)) status = OD_BAD_INPUT;
  if (status != OD_OK) return status;
  w->times = od_time_facts_of(w->log);
  status = take_rows(w, &err);
  if (status != OD_OK && status != OD_NO_MEMORY) od_messages_add(messages, w->plan.place, "%s", err.text);
  return status;
}

void od_whole_log_free(od_whole_log *w) {
  od_table_free(w->table);
  od_log_free(w->log);
  od_log_plan_free(&w->plan);
  if (w->units) od_units_free(w->units);
}

bool od_whole_log_is_complete(const od_whole_log *w, od_messages *messages) {
  const od_table *t = w->table;
  bool ok = true;
  for (int c = 1; c < t->columns; c++) {
    const od_place place = {.file = w->plan.file};
    long row = 0;
    while (row < t->rows && isfinite(t->data[row * t->columns + c])) row++;
    if (row < t->rows)
      od_messages_add(messages, place, "row %ld of '%s' has no value; expected a number in every row", row + 1,
                      t->name[c]);
    else if (w->log->missing[c - 1] > 0)
      od_messages_add(messages, place, "%s of '%s' %s missing; expected a number in every row",
                      od_count(w->log->missing[c - 1], "value").text, t->name[c],
                      od_form(w->log->missing[c - 1], "is", "are"));
    else
      continue;
    ok = false;
  }
  return ok;
}

od_status od_messages_to_error(const od_messages *messages, od_status status, od_error *err) {
  const od_message *first = NULL;
  for (int i = 0; i < od_messages_count(messages) && !first; i++)
    if (!od_messages_get(messages, i)->is_warning) first = od_messages_get(messages, i);
  if (status == OD_OK) return OD_OK;
  if (!first) return od_fail(err, status, "%s", od_status_text(status));
  char place[300] = "", more[120] = "";
  if (first->file && first->line > 0)
    snprintf(place, sizeof place, "%s:%d:%d: ", first->file, first->line, first->column);
  else if (first->file)
    snprintf(place, sizeof place, "%s: ", first->file);
  int others = od_messages_errors(messages) - 1;
  if (others > 0) snprintf(more, sizeof more, " (and %s)", od_count(others, "more error").text);
  return od_fail(err, status, "%s%s%s", place, first->text, more);
}
