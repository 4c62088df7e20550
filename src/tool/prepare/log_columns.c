#include "prepare/log_columns.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/allocate.h"
#include "io/wording.h"
#include "logs/log_table.h"

bool od_signal_label_set(od_signal_label *label, const char *name, const char *unit) {
  label->name = od_strdup(name);
  label->unit = od_strdup(unit && *unit ? unit : "1");
  return label->name && label->unit;
}

// --- Channels -----------------------------------------------------------------------------------------------------

// Returns the length of the first name of a list. Commas in parentheses are part of a name, as in "X(:,2)".
static size_t name_length(const char *list) {
  int depth = 0;
  const char *at = list;
  for (; *at && (*at != ',' || depth > 0); at++) depth += (*at == '(') - (*at == ')');
  return (size_t)(at - list);
}

// Adds a channel to the selection. Returns false if out of memory.
static bool select_channel(od_log_columns *c, int channel) {
  int *list = channel < 0 ? NULL : od_arena_extend(&c->arena, c->channel, c->count, sizeof *list);
  if (!list) return false;
  c->channel = list;
  c->channel[c->count++] = channel;
  return true;
}

// Adds the channels of a list of names, separated by commas. Returns false if out of memory.
static bool select_names(od_log_columns *c, const char *option, const char *list) {
  for (const char *at = list; *at;) {
    size_t length = name_length(at);
    const char *name = od_arena_format(&c->plan.memory, "%.*s", (int)length, at);
    if (!name || !select_channel(c, od_log_want_named(&c->plan, name, NULL, (od_place){.file = option}))) return false;
    at += length + (at[length] == ',');
  }
  return true;
}

// Returns whether a column of a file is an input.
static bool is_input(const od_log_columns *c, int file, int column) {
  for (int i = 0; i < c->inputs; i++) {
    const od_channel *input = &c->plan.channel[c->channel[i]];
    if (input->input == file && input->at == column) return true;
  }
  return false;
}

// Adds all outputs: the mapped channels, or else the columns of the files, except inputs and times. The columns of the inputs are known.
// Returns false if out of memory.
static bool select_all(od_log_columns *c) {
  const int known = c->plan.channels, selected = c->count;
  for (int i = 0; i < known; i++) {
    const od_channel *channel = &c->plan.channel[i];
    if (channel->is_mapped && !is_input(c, channel->input, channel->at) && !select_channel(c, i)) return false;
  }
  for (int file = 0; file < od_log_inputs(c->log) && c->count == selected; file++) {
    int columns = od_log_head(c->log, file)->columns, time = od_log_time_column(c->log, file);
    for (int i = 0; i < columns; i++)
      if (i != time && !is_input(c, file, i) && od_log_want_column(&c->plan, c->log, file, i, NULL) < 0) return false;
  }
  for (int i = known; i < c->plan.channels; i++)
    if (!select_channel(c, i)) return false;
  return true;
}

// Checks that each input is another column, and that there are not too many inputs. Returns false after reporting an error.
static bool check_inputs(const od_log_columns *c, const od_log_wish *wish, od_messages *messages) {
  const od_place place = {.file = "--input"};
  int most = wish->most_inputs > 0 ? wish->most_inputs : 1, errors = od_messages_errors(messages);
  for (int i = 0; i < c->inputs; i++)
    for (int j = 0; j < i; j++)
      if (c->plan.channel[c->channel[i]].at == c->plan.channel[c->channel[j]].at &&
          c->plan.channel[c->channel[i]].input == c->plan.channel[c->channel[j]].input)
        od_messages_add(messages, place, "found the column '%s' twice, expected each column once",
                        c->plan.channel[c->channel[i]].label);
  if (c->inputs > most && most > 1)
    od_messages_add(messages, place, "found %d inputs, expected 1 to %d", c->inputs, most);
  else if (c->inputs > most)
    od_messages_add(messages, place,
                    "found %d inputs, expected 1; for several inputs, use oleodyn tf with --method arx, armax, oe, bj, "
                    "moesp, n4sid or cva",
                    c->inputs);
  return od_messages_errors(messages) == errors;
}

// Selects inputs and outputs. Fails with OD_NO_MEMORY, with OD_BAD_INPUT after reporting errors, or with a status of
// od_log_find_columns().
static od_status select_channels(od_log_columns *c, const od_log_wish *wish, od_messages *messages) {
  if (!wish->input || !*wish->input) {
    od_messages_add(messages, (od_place){.file = c->plan.file}, "no input is selected; select a column with --input");
    return OD_BAD_INPUT;
  }
  if (!select_names(c, "--input", wish->input)) return OD_NO_MEMORY;
  c->inputs = c->count;
  for (int i = 0; i < wish->output_count; i++)
    if (!select_names(c, "--output", wish->outputs[i])) return OD_NO_MEMORY;
  od_status status = od_log_find_columns(c->log, &c->plan, c->units, messages);
  if (status != OD_OK) return status;
  if (!check_inputs(c, wish, messages)) return OD_BAD_INPUT;
  if (wish->output_count == 0 && !select_all(c)) return OD_NO_MEMORY;
  if (c->count > c->inputs) return OD_OK;
  od_messages_add(messages, (od_place){.file = c->plan.file},
                  "the file has only columns of time and inputs; expected a column of an output");
  return OD_BAD_INPUT;
}

const char *od_log_columns_name(const od_log_columns *c, int i) {
  return od_log_label(c->log, c->channel[i]);
}

// --- Rows ---------------------------------------------------------------------------------------------------------

// Sets the labels, and checks that the inputs change. Fails with OD_NO_MEMORY, and with OD_BAD_INPUT after reporting errors.
static od_status find_labels(od_log_columns *c, od_messages *messages) {
  // The labels are not in the arena, because a response may take ownership of the labels.
  c->label = od_calloc((size_t)c->count, sizeof *c->label);
  od_status status = OD_OK;
  for (int i = 0; i < c->count; i++) {
    const od_channel_facts *f = &c->log->facts[c->channel[i]];
    if (!c->label || !od_signal_label_set(&c->label[i], od_log_columns_name(c, i), c->plan.channel[c->channel[i]].unit))
      return OD_NO_MEMORY;
    c->label[i].is_constant = c->log->missing[c->channel[i]] == 0 && f->least == f->most;
    if (i >= c->inputs || !c->label[i].is_constant) continue;
    od_messages_add(messages, (od_place){.file = c->plan.file},
                    "the input '%s' is constant in all %ld rows; expected an input that changes", c->label[i].name,
                    c->rows);
    status = OD_BAD_INPUT;
  }
  return status;
}

// Times are uniform within a hundredth of a step. This tolerance allows times that are printed with few digits.
static const double uniform = 0.01;

static int by_size(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

// Estimate of the errors of linear interpolation for one channel. A sample that is interpolated from its neighbors has
// an error of about f'' h^2 / 2 at the distance h; the root mean square of the error between samples is f'' h^2 /
// sqrt(120).
typedef struct interpolation {
  double t[3], x[3];  // the last three samples
  double errors, mean, squares;
  long count;
} interpolation;

static void add_sample(interpolation *p, double t, double x) {
  memmove(p->t, p->t + 1, 2 * sizeof *p->t), memmove(p->x, p->x + 1, 2 * sizeof *p->x);
  p->t[2] = t, p->x[2] = x;
  p->count++;
  double off = x - p->mean;
  p->mean += off / (double)p->count;
  p->squares += off * (x - p->mean);
  if (p->count < 3) return;
  double expected = p->x[0] + (p->x[2] - p->x[0]) * (p->t[1] - p->t[0]) / (p->t[2] - p->t[0]);
  p->errors += (p->x[1] - expected) * (p->x[1] - expected);
}

// Reads the next row of the log into a row: time, and values of the plan's channels. Fails with OD_BAD_INPUT, OD_IO or
// OD_NO_MEMORY.
static od_status next_of_log(od_log_columns *c, double *row, bool *more, od_error *err) {
  const double *value = NULL;
  od_status status = OD_OK;
  if (!c->cursor) status = od_log_cursor_new(c->log, &c->cursor, err);
  if (status == OD_OK) status = od_log_cursor_next(c->cursor, row, &value, more, err);
  if (status == OD_OK && *more) memcpy(row + 1, value, (size_t)c->plan.channels * sizeof *row);
  return status;
}

static void rewind_rows(od_log_columns *c) {
  od_log_cursor_free(c->cursor);
  c->cursor = NULL;
  c->next = 0;
}

// Reads the log once and examines its times: whether the times are uniform, the median interval, and the error of
// interpolation.
static od_status examine(od_log_columns *c, double *median, bool *is_uniform, od_error *err) {
  enum { MOST_INTERVALS = 10001 };
  OD_SCRATCH(scratch);
  double *interval = OD_TAKE(&scratch, double, MOST_INTERVALS), *row = c->before, last = NAN;
  interpolation *p = OD_TAKE(&scratch, interpolation, c->count);
  if (!interval || !p) return od_fail(err, OD_NO_MEMORY, "out of memory");
  const long every = c->log->rows / MOST_INTERVALS + 1;
  long count = 0;
  bool more = true;
  od_status status = OD_OK;
  *is_uniform = !c->log->has_rates;
  const bool has_gaps = !c->log->has_rates && c->with_missing >= 0;
  c->shortest = INFINITY;
  for (long k = 0; status == OD_OK && more; k++) {
    status = next_of_log(c, row, &more, err);
    if (status != OD_OK || !more) break;
    double expected = c->begin + (double)k * c->step;
    if (!(c->plan.interval > 0) && !(fabs(row[0] - expected) <= uniform * c->step)) *is_uniform = false;
    if (k > 0) {
      c->shortest = fmin(c->shortest, row[0] - last), c->longest = fmax(c->longest, row[0] - last);
      if (k % every == 0) interval[count++] = row[0] - last;
    }
    last = row[0];
    for (int i = 0; i < c->count; i++)
      if (isfinite(row[1 + c->channel[i]])) add_sample(&p[i], row[0], row[1 + c->channel[i]]);
  }
  rewind_rows(c);
  if (count > 0) qsort(interval, (size_t)count, sizeof *interval, by_size);
  *median = count > 0 ? interval[count / 2] : 0;
  c->resampling_error = 0;
  for (int i = 0; i < c->count; i++) {
    if (p[i].count < 4 || !(p[i].squares > 0)) continue;
    double error = sqrt(p[i].errors / (double)(p[i].count - 2)) * 2 / sqrt(120);
    error /= sqrt(p[i].squares / (double)p[i].count);
    // The channel has a sample in one of n rows; the values of the other rows are interpolated. At a sample, the
    // estimate is 1/n of the error at the distance of samples. In the other n - 1 rows the estimate is zero.
    if (has_gaps) error *= pow((double)p[i].count / (double)c->log->facts[c->channel[i]].values, 1.5);
    if (error > c->resampling_error) c->resampling_error = error, c->least_accurate = i;
  }
  return status;
}

// Chooses the rows of a log that must be resampled. The step is the usual interval of rows; with several rates, the
// interval of the fastest channel. Fails with OD_BAD_INPUT.
static od_status plan_resampling(od_log_columns *c, double interval, od_messages *messages) {
  const od_log *log = c->log;
  double step = interval, begin = log->begin, end = log->end;
  bool ok = true;
  for (int i = 0; i < c->count; i++) {
    const od_channel_facts *f = &log->facts[c->channel[i]];
    const char *name = od_log_columns_name(c, i);
    if (f->values < 2) {
      od_messages_add(messages, (od_place){.file = c->plan.file}, "'%s' has %s; expected at least 2 values", name,
                      od_count(f->values, "value").text);
      ok = false;
      continue;
    }
    double usual = od_channel_interval(f);
    if (log->has_rates && (i == 0 || usual < step)) step = usual;
    if (usual > c->slowest_interval) c->slowest_interval = usual, c->slowest = i;
    begin = fmax(begin, f->begin), end = fmin(end, f->end);
    ok = od_log_check_gap(log, c->channel[i], fmax(usual, log->has_rates ? 0 : interval), messages) && ok;
  }
  if (!ok) return OD_BAD_INPUT;
  c->is_resampled = true;
  c->step = step;
  c->begin = begin;
  c->rows = step > 0 && end > begin ? (long)floor((end - begin) / step * (1 + 1e-12)) + 1 : 0;
  return OD_OK;
}

// Finds the channel with the most missing values. Returns -1 if no value is missing.
static int find_missing(const od_log_columns *c) {
  int most = -1;
  for (int i = 0; i < c->count; i++) {
    long missing = c->log->missing[c->channel[i]];
    if (missing > 0 && (most < 0 || missing > c->log->missing[c->channel[most]])) most = i;
  }
  return most;
}

// Finds the times of the rows. Fails with OD_NO_MEMORY, and with OD_BAD_INPUT or OD_IO after reporting errors.
static od_status find_times(od_log_columns *c, od_messages *messages) {
  const od_log *log = c->log;
  od_error err = {0};
  bool is_uniform = true;
  double median = 0;
  c->rows = log->rows;
  c->begin = log->begin;
  c->step = c->plan.interval > 0 ? c->plan.interval : (log->end - log->begin) / (double)(log->rows - 1);
  c->before = OD_TAKE(&c->arena, double, c->plan.channels + 1);
  c->after = OD_TAKE(&c->arena, double, c->plan.channels + 1);
  if (od_arena_status(&c->arena) != OD_OK) return OD_NO_MEMORY;
  c->with_missing = c->keeps_missing ? -1 : find_missing(c);
  // Rows without a time column have uniform times.
  bool is_timed = log->has_rates || !(c->plan.interval > 0) || c->with_missing >= 0;
  od_status status = log->rows >= 8 && is_timed ? examine(c, &median, &is_uniform, &err) : OD_OK;
  if (status != OD_OK) {
    if (status != OD_NO_MEMORY) od_messages_add(messages, (od_place){0}, "%s", err.text);
    return status;
  }
  if (!is_uniform || c->with_missing >= 0) status = plan_resampling(c, is_uniform ? c->step : median, messages);
  if (status != OD_OK || c->rows >= 8) return status;
  od_messages_add(messages, (od_place){.file = c->plan.file}, "the log has %s; expected at least 8 rows",
                  od_count(c->rows, "row").text);
  return OD_BAD_INPUT;
}

bool od_log_columns_remark(const od_log_columns *c, od_verdict *verdict) {
  const od_time_facts times = od_time_facts_of(c->log);
  bool ok = od_time_facts_remark(&times, verdict);
  if (!c->is_resampled) return ok;
  const bool is_rough = c->resampling_error > 0.1;
  char why[200] = "the times of the log are not uniform", part[160] = "";
  if (c->log->has_rates)
    snprintf(why, sizeof why, "the signals have different times");
  else if (c->with_missing >= 0)
    snprintf(why, sizeof why, "'%.80s' has no value in %ld of %ld rows", od_log_columns_name(c, c->with_missing),
             c->log->missing[c->channel[c->with_missing]], c->log->rows);
  char slow[200] = "";
  if (c->slowest_interval > 1.5 * c->step)
    snprintf(slow, sizeof slow, " Above %.4g Hz, half the sampling frequency of '%.80s', the result is not valid.",
             0.5 / c->slowest_interval, od_log_columns_name(c, c->slowest));
  const double end = c->begin + (double)(c->rows - 1) * c->step;
  if (c->begin > c->log->begin + OD_INTERPOLATED_INTERVALS * c->step ||
      end < c->log->end - OD_INTERPOLATED_INTERVALS * c->step)
    snprintf(part, sizeof part, " All signals have values only from %.6g s to %.6g s; the result is from this part.",
             c->begin, end);
  return od_verdict_add(
             verdict, is_rough ? OD_DOUBTFUL : OD_SOUND, "log.resampled", "Resampled log:",
             "%s, so the signals were interpolated linearly to %.6g Hz (a step of %.6g s). The error of interpolation is about "
             "%.2g %% of the standard deviation of '%.80s'%s.%s%s",
             why, 1 / c->step, c->step, 100 * c->resampling_error, od_log_columns_name(c, c->least_accurate),
             is_rough ? ", which affects the result; sample this signal faster" : "", slow, part) &&
         ok;
}

// Reads the next row of a resampled log. Fails with OD_BAD_INPUT, OD_IO or OD_NO_MEMORY.
static od_status next_resampled(od_log_columns *c, double *value, od_error *err) {
  double time = c->begin + (double)c->next * c->step;
  bool more = true;
  od_status status = c->next == 0 ? next_of_log(c, c->after, &more, err) : OD_OK;
  if (c->next == 0) memcpy(c->before, c->after, (size_t)(c->plan.channels + 1) * sizeof *c->before);
  while (status == OD_OK && more && c->after[0] < time) {
    double *unused = c->before;
    c->before = c->after;
    c->after = unused;
    status = next_of_log(c, c->after, &more, err);
    // Because of rounding, the last time may be after the last row.
    if (status == OD_OK && !more) memcpy(c->after, c->before, (size_t)(c->plan.channels + 1) * sizeof *c->after);
  }
  if (status != OD_OK) return status;
  double length = c->after[0] - c->before[0], along = length > 0 ? (time - c->before[0]) / length : 0;
  for (int i = 0; i < c->count; i++) {
    double x = c->before[1 + c->channel[i]], y = c->after[1 + c->channel[i]];
    value[i] = along == 1 ? y : x + along * (y - x);
  }
  c->next++;
  return OD_OK;
}

od_status od_log_columns_next(od_log_columns *c, double *value, bool *end, od_error *err) {
  bool more = true;
  *end = c->next >= c->rows;
  if (*end) rewind_rows(c);
  if (*end) return OD_OK;
  if (c->is_resampled) return next_resampled(c, value, err);
  od_status status = next_of_log(c, c->before, &more, err);
  if (status != OD_OK) return status;
  c->next++;
  for (int i = 0; i < c->count; i++) value[i] = c->before[1 + c->channel[i]];
  return OD_OK;
}

// --- Opening ------------------------------------------------------------------------------------------------------

od_status od_log_columns_open(const od_log_settings *settings, const od_log_wish *wish, od_log_columns *c,
                              od_messages *messages) {
  od_error err = {0};
  *c = (od_log_columns){0};
  od_log_plan_init(&c->plan);
  c->units = od_units_new(&err);
  if (!c->units) {
    od_messages_add(messages, (od_place){0}, "%s", err.text);
    return err.status;
  }
  if (!od_log_plan_set(&c->plan, settings, NULL, c->units, messages)) return OD_NO_MEMORY;
  od_status status = od_messages_errors(messages) > 0 ? OD_BAD_INPUT : od_log_open(&c->plan, &c->log, messages);
  if (status == OD_OK) status = select_channels(c, wish, messages);
  c->keeps_missing = wish->keeps_missing;
  for (int i = 0; i < c->plan.channels; i++)
    c->plan.channel[i].fills = true, c->plan.channel[i].fills_own = !c->keeps_missing;
  if (status == OD_OK) status = od_log_load(c->log, &c->plan, c->units, messages);
  if (status == OD_OK) status = find_times(c, messages);
  if (status == OD_OK) status = find_labels(c, messages);
  return status;
}

void od_log_columns_free(od_log_columns *c) {
  for (int i = 0; c->label && i < c->count; i++) od_free(c->label[i].name), od_free(c->label[i].unit);
  od_free(c->label);
  od_log_cursor_free(c->cursor);
  od_log_free(c->log);
  od_log_plan_free(&c->plan);
  od_arena_free(&c->arena);
  if (c->units) od_units_free(c->units);
}
