#include "survey/log_survey.h"

#include <fnmatch.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/allocate.h"
#include "document/messages.h"

// --- Channels -----------------------------------------------------------------------------------------------------

// Returns the index of the group with this name, which is added if necessary; -1: out of memory.
static int find_group(od_log_survey *s, const char *name) {
  for (int i = 0; i < s->groups; i++) {
    const char *other = s->group[i].name;
    if (name == other || (name && other && !strcmp(name, other))) return i;
  }
  od_survey_group *list = od_arena_extend(&s->memory, s->group, s->groups, sizeof *list);
  if (!list) return -1;
  s->group = list;
  list[s->groups] = (od_survey_group){.name = name, .previous_time = NAN};
  return s->groups++;
}

// Returns whether a pattern selects a column: by its name, by "group.name", or by the last part of a name with dots.
// used: per pattern, whether a column was found.
static bool is_selected(const od_survey_wish *wish, const char *name, const char *group, bool *used) {
  char full[512];
  bool found = wish->pattern_count == 0;
  const char *dot = strrchr(name, '.');
  snprintf(full, sizeof full, "%s.%s", group ? group : "", name);
  for (int i = 0; i < wish->pattern_count; i++) {
    const char *p = wish->patterns[i];
    bool fits = !strcmp(p, name) || fnmatch(p, name, 0) == 0 || (group && fnmatch(p, full, 0) == 0) ||
                (dot && fnmatch(p, dot + 1, 0) == 0);
    used[i] = used[i] || fits;
    found = found || fits;
  }
  return found;
}

// Determines the SI unit of a channel and the conversion to this unit.
static void find_si(od_surveyed_channel *c, od_units *units) {
  c->to_si = (od_conversion){1, 1, 0};
  if (c->unit[0] == '\0') {
    c->si = "1";
    return;
  }
  const char *si = od_units_si(units, c->unit);
  if (!si && od_units_is_si(units, c->unit)) si = c->unit;
  if (si && od_units_conversion(units, c->unit, si, &c->to_si) == OD_UNIT_FITS) c->si = si;
}

// Returns the capacity of each pool. The capacity is smaller if there are very many channels.
static long room_of_pools(int channels) {
  enum { MOST = 1024, LEAST = 64, BYTES_OF_ALL = 64000000, POOLS = 4 };
  long room = BYTES_OF_ALL / POOLS / (long)sizeof(double) / (channels + 1);
  return room > MOST ? MOST : room < LEAST ? LEAST : room;
}

// Returns the channel of the plan that has this column; NULL: none.
static const od_channel *planned_channel(const od_log_plan *plan, int column) {
  for (int i = 0; i < plan->channels; i++)
    if (plan->channel[i].at == column) return &plan->channel[i];
  return NULL;
}

// Adds the channel of a column unless the patterns exclude the column. used: per pattern, whether a column was found. False: out of
// memory.
static bool add_channel(od_log_survey *s, const od_survey_wish *wish, int column, bool *used, od_units *units) {
  const od_channel *planned = planned_channel(s->plan, column);
  od_log_origin origin = od_row_reader_origin(s->file, column);
  const char *name = planned ? planned->name : s->head->name[column];
  if (!is_selected(wish, name, origin.group, used)) {
    s->unselected++;
    return true;
  }
  int group = find_group(s, origin.group);
  if (group < 0) return false;
  s->wanted[column] = true;
  od_surveyed_channel *c = &s->channel[s->channels++];
  bool has_unit = planned && planned->file_unit;
  *c = (od_surveyed_channel){.name = name,
                             .unit = has_unit ? planned->file_unit : s->head->unit[column],
                             .has_given_unit = has_unit,
                             .comment = origin.comment,
                             .column = column,
                             .group = group};
  find_si(c, units);
  return true;
}

// Checks that each column belongs to one name of --map. False: there are messages.
static bool check_names(const od_log_plan *plan, od_messages *messages) {
  bool ok = true;
  for (int i = 0; i < plan->channels; i++)
    for (int k = -1; k < i; k++) {
      const od_channel *a = k < 0 ? &plan->time : &plan->channel[k], *b = &plan->channel[i];
      if (a->at < 0 || a->at != b->at) continue;
      od_messages_add(messages, (od_place){.file = "--map"},
                      "'%s' and '%s' have the same column, '%s'; remove one entry", a->name, b->name, b->label);
      ok = false;
    }
  return ok;
}

static od_status find_channels(od_log_survey *s, const od_survey_wish *wish, od_units *units, od_messages *messages) {
  int columns = s->head->columns;
  OD_SCRATCH(scratch);
  bool *used = OD_TAKE(&scratch, bool, wish->pattern_count);
  s->wanted = OD_TAKE(&s->memory, bool, columns);
  s->row = OD_TAKE(&s->memory, double, columns);
  s->channel = OD_TAKE(&s->memory, od_surveyed_channel, columns);
  if (!used || !s->wanted || !s->row || !s->channel) return OD_NO_MEMORY;
  for (int i = 0; i < columns; i++) {
    if (i == s->plan->time.at)
      s->wanted[i] = true;
    else if (!add_channel(s, wish, i, used, units))
      return OD_NO_MEMORY;
  }
  bool ok = true;
  for (int i = 0; i < wish->pattern_count; i++) {
    if (used[i]) continue;
    ok = false;
    od_messages_add(messages, (od_place){.file = "--channels"},
                    "%s has no channel '%s'; 'oleodyn log' without --channels lists all channels", s->path,
                    wish->patterns[i]);
  }
  if (ok && s->channels == 0)
    od_messages_add(messages, (od_place){.file = s->path},
                    "the log has no channel other than the time; expected at least one other column");
  return ok && s->channels > 0 ? OD_OK : OD_BAD_INPUT;
}

od_status od_log_survey_open(const od_survey_wish *wish, od_log_survey *out, od_messages *messages) {
  od_log_plan *plan = wish->plan;
  od_error err = {0};
  *out = (od_log_survey){
      .path = plan->file, .plan = plan, .begin = NAN, .finish = NAN, .has_envelopes = wish->has_envelopes};
  OD_OWNED(od_units_free) od_units *units = od_units_new(&err);
  const char **columns = OD_TAKE(&out->memory, const char *, plan->channels + 1);
  if (!units || !columns) return OD_NO_MEMORY;
  for (int i = 0; i < plan->channels; i++) columns[i] = plan->channel[i].column;
  const od_log_source source = od_log_source_of(plan, plan->file, plan->place);
  out->wish = od_log_table_wish(&source, columns);
  od_status status = od_row_reader_open(plan->file, &out->wish, &out->file, &err);
  if (status != OD_OK) {
    if (status != OD_NO_MEMORY) od_messages_add(messages, plan->place, "%s", err.text);
    return status;
  }
  out->head = od_row_reader_head(out->file);
  if (!od_log_match(plan, out->head, plan->file, units, messages) || !check_names(plan, messages)) return OD_BAD_INPUT;
  status = find_channels(out, wish, units, messages);
  if (status == OD_OK) od_row_reader_want(out->file, out->wanted);
  return status;
}

void od_log_survey_free(od_log_survey *s) {
  if (s->file) od_row_reader_close(s->file);
  od_arena_free(&s->memory);
  *s = (od_log_survey){0};
}

double od_surveyed_value(const od_surveyed_channel *c, double value) {
  return c->si ? od_convert(&c->to_si, value) : value;
}

double od_surveyed_difference(const od_surveyed_channel *c, double difference) {
  return c->si ? difference * c->to_si.factor / c->to_si.divisor : difference;
}

const char *od_surveyed_unit(const od_surveyed_channel *c) {
  return c->si ? c->si : c->unit;
}

// --- Rows ---------------------------------------------------------------------------------------------------------

od_status od_log_survey_next(od_log_survey *s, double *time, bool *end, od_error *err) {
  for (;;) {
    od_status status = od_row_reader_next(s->file, s->row, end, err);
    if (status != OD_OK || *end) return status;
    const od_log_plan *plan = s->plan;
    *time = plan->interval > 0 ? (double)s->rows * plan->interval : od_channel_value(&plan->time, s->row);
    s->rows++;
    if (!isfinite(*time))
      s->rows_without_time++;
    else if (*time >= plan->start && *time <= plan->end)
      return OD_OK;
  }
}

// Determines the groups to which the row belongs: the groups with a value. All rows belong to the only group of a file.
static void find_groups_of_row(od_log_survey *s) {
  for (int i = 0; i < s->groups; i++) s->group[i].has_row = s->groups == 1;
  for (int i = 0; s->groups > 1 && i < s->channels; i++)
    if (!isnan(s->row[s->channel[i].column])) s->group[s->channel[i].group].has_row = true;
}

static void add_row(od_log_survey *s, double time, long number) {
  (void)number;
  if (!(time >= s->begin)) s->begin = time;
  if (!(time <= s->finish)) s->finish = time;
  find_groups_of_row(s);
  for (int i = 0; i < s->groups; i++) {
    od_survey_group *g = &s->group[i];
    if (!g->has_row) continue;
    od_timing_add(&g->timing, time);
    g->rows++;
  }
  for (int i = 0; i < s->channels; i++) {
    od_surveyed_channel *c = &s->channel[i];
    od_channel_survey_add(&c->facts, time, s->row[c->column], s->group[c->group].rows - 1);
  }
}

// Adds a row in the second pass. number: index of the row in the selected part.
static void add_row_again(od_log_survey *s, double time, long number) {
  od_lag_window_add(&s->lags, s, time, number);
  find_groups_of_row(s);
  for (int i = 0; i < s->groups; i++)
    if (s->group[i].has_row) od_timing_recount(&s->group[i].timing, &s->group[i].previous_time, time);
  for (int i = 0; i < s->channels; i++) {
    od_surveyed_channel *c = &s->channel[i];
    double value = s->row[c->column];
    if (!isfinite(value)) continue;
    long gaps = c->facts.timing.gaps;
    od_channel_survey_recount(&c->facts, time, value);
    od_envelope_add(&c->envelope, time, value, c->facts.timing.gaps > gaps);
  }
}

// Reads all rows once, and passes the rows of the selected part to add(). all: number of rows, for the progress of the second pass; 0: first pass.
// Fails with OD_BAD_INPUT, OD_IO, OD_INTERRUPTED or OD_NO_MEMORY.
static od_status read_pass(od_log_survey *s, void (*add)(od_log_survey *s, double time, long number), long all,
                           bool (*progress)(void *user, double done), void *user, od_error *err) {
  enum { ROWS_OF_PROGRESS = 16384 };
  bool end = false;
  double time;
  od_row_reader_rewind(s->file);
  s->rows = s->rows_without_time = 0;
  for (long row = 0;; row++) {
    od_status status = od_log_survey_next(s, &time, &end, err);
    if (status != OD_OK || end) return status;
    add(s, time, row);
    s->used_rows = row + 1;
    if (progress && row % ROWS_OF_PROGRESS == 0 &&
        !progress(user, all > 0 ? 0.5 + 0.5 * (double)s->rows / (double)all : (double)NAN))
      return OD_INTERRUPTED;
  }
}

od_status od_log_survey_read(od_log_survey *s, bool (*progress)(void *user, double done), void *user, od_error *err) {
  const long room = room_of_pools(s->channels);
  for (int i = 0; i < s->groups; i++) od_timing_init(&s->group[i].timing, &s->memory, room);
  for (int i = 0; i < s->channels; i++) od_channel_survey_init(&s->channel[i].facts, &s->memory, room);
  if (od_arena_status(&s->memory) != OD_OK) return od_fail(err, OD_NO_MEMORY, "out of memory");
  od_status status = read_pass(s, add_row, 0, progress, user, err);
  if (status != OD_OK) return status;
  if (s->rows == 0)
    return od_fail(err, OD_BAD_INPUT, "%s has no rows; expected at least one row below the header", s->path);
  const char *no_time = s->plan->time.at >= 0 ? od_table_flaw(s->head, s->plan->time.at) : NULL;
  if (s->rows_without_time == s->rows && no_time) return od_fail(err, OD_BAD_INPUT, "%s", no_time);
  if (isnan(s->begin))
    return od_fail(err, OD_BAD_INPUT,
                   s->rows_without_time == s->rows ? "%s: no row has a time; expected a number in the time column"
                                                   : "%s has no rows between --start and --end; choose a longer part",
                   s->path);
  s->is_cut = od_row_reader_is_cut(s->file);
  for (int i = 0; i < s->groups; i++) od_timing_judge(&s->group[i].timing);
  for (int i = 0; i < s->channels; i++) {
    od_surveyed_channel *c = &s->channel[i];
    const char *flaw = od_table_flaw(s->head, c->column);
    c->flaw = flaw ? od_arena_text(&s->memory, flaw) : NULL;
    od_channel_survey_judge(&c->facts, s->group[c->group].rows);
    if (s->has_envelopes) od_envelope_init(&c->envelope, &s->memory, s->begin, s->finish);
  }
  if (!od_lag_window_init(&s->lags, s) || od_arena_status(&s->memory) != OD_OK)
    return od_fail(err, OD_NO_MEMORY, "out of memory");
  const char *changed = "%s has changed while it was read; run the command again when the file is complete";
  const long rows = s->rows;
  status = read_pass(s, add_row_again, rows, progress, user, err);
  if (status == OD_OK && (s->rows != rows || od_row_reader_has_changed(s->file)))
    return od_fail(err, OD_IO, changed, s->path);
  for (int i = 0; i < s->channels; i++) od_channel_survey_finish(&s->channel[i].facts);
  if (status != OD_OK) return status;
  status = od_lag_window_judge(&s->lags, s);
  return status == OD_OK ? OD_OK : od_fail(err, status, "out of memory");
}
