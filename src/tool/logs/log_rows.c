#include "logs/log_rows.h"

#include <math.h>
#include <string.h>

#include "base/allocate.h"

// A reader of one file for the channels with one delay. Merges rows with the same time: the first row is kept, and the
// later rows fill its gaps.
typedef struct stream {
  const od_log_input *input;
  int number;                   // index of the file
  bool is_first;                // whether the stream is the first one of its file
  od_row_reader *file;          // reader of the stream; NULL: the reader of the input
  double delay;                 // delay of the channels, s
  int *channel, channels;       // indices of the channels of the stream
  double *read, *kept, *given;  // one row of the file each: the row just read, the waiting row, the given row
  bool *has_group;              // per group: whether the given row belongs to the group
  int line;                     // line number of the waiting row
  bool waits;                   // whether there is a waiting row
  long count;                   // number of rows of the file so far
  long repeated;                // number of omitted rows in the part in use
  double origin;                // time of the first row by the clock of the file, s
  // The next row of the stream; its values are in `given`.
  double time, step;  // time of the row, and time since the previous row (0: there is none), s
  int given_line;
  bool has_row, had_row;
  bool is_next;  // whether the row belongs to the next row of the log
} stream;

static const double same_time =
    1e-6;  // largest difference of equal times, which comes from rounding, relative to the time between rows

struct od_log_rows {
  const od_log *log;
  od_arena memory;
  stream *stream;
  int streams;
  od_log_row_check *check;
  void *user;
  double *value;  // per channel: value of the row
  bool *present;  // per channel: see od_log_row; NULL: all rows belong to all channels
};

// --- Times --------------------------------------------------------------------------------------------------------

// Returns the time of a row by the clock of its file, s. The time comes from the cells of the row, or from its number.
static double clock_of(const stream *s, const double *cells, long number) {
  const od_log_source *source = s->input->source;
  return source->interval > 0 ? (double)number * source->interval : od_channel_value(&s->input->time, cells);
}

// Returns the time of a row by the clock of the log, s.
static double time_of(const stream *s, const double *cells, long number) {
  const od_log_source *source = s->input->source;
  double time = clock_of(s, cells, number);
  if (source->delay == 0 && source->drift == 0 && s->delay == 0 && s->input->shift == 0) return time;
  double passed = (time - s->origin - source->delay) / (1 + source->drift);
  return s->origin + passed - s->delay + s->input->shift;
}

// Returns whether the row just read has a value in a column that has a value in the waiting row, too. In a file with groups, rows of
// other groups may have the same time.
static bool is_repetition(const stream *s) {
  const od_log_input *in = s->input;
  if (!in->group) return true;
  int columns = od_row_reader_head(in->file)->columns;
  for (int c = 0; c < columns; c++)
    if (in->wanted[c] && c != in->time.at && isfinite(s->read[c]) && isfinite(s->kept[c])) return true;
  return false;
}

// Returns whether the row just read has the time of the waiting row. If so, the values of the new row fill the gaps of the waiting
// row.
static bool repeats(stream *s, const od_log *log) {
  if (s->input->source->interval > 0) return false;
  double now = time_of(s, s->read, 0);
  if (!isfinite(now) || now != time_of(s, s->kept, 0)) return false;
  s->repeated += now >= log->start && now <= log->end_of_part && is_repetition(s);
  int columns = od_row_reader_head(s->input->file)->columns;
  for (int c = 0; c < columns; c++)
    if (isnan(s->kept[c])) s->kept[c] = s->read[c];
  return true;
}

// --- One stream ---------------------------------------------------------------------------------------------------

static od_row_reader *reader_of(const stream *s) {
  return s->file ? s->file : s->input->file;
}

// Passes both rows on: the waiting row becomes the given row, and the row just read becomes the waiting row.
static void give_waiting(stream *s, int line) {
  double *unused = s->given;
  s->given_line = s->line;
  s->given = s->kept;
  s->kept = s->read;
  s->read = unused;
  s->line = line;
}

// Finds the groups of the given row. Returns false if no column in use has a value, and the file has groups.
static bool find_groups(stream *s) {
  const od_log_input *in = s->input;
  if (!in->group) return true;
  bool any = false;
  memset(s->has_group, 0, (size_t)in->groups * sizeof *s->has_group);
  int columns = od_row_reader_head(in->file)->columns;
  for (int c = 0; c < columns; c++) {
    if (!in->wanted[c] || c == in->time.at || isnan(s->given[c])) continue;
    s->has_group[in->group[c]] = true;
    any = true;
  }
  return any;
}

// Reports the given row, which has no time. The rows of text files have a line. Returns OD_BAD_INPUT.
static od_status no_time(const stream *s, od_error *err) {
  const char *path = s->input->source->path;
  if (s->given_line > 0)
    return od_fail(err, OD_BAD_INPUT, "%s:%d: this row has no time; expected a time in every row", path, s->given_line);
  return od_fail(err, OD_BAD_INPUT, "%s: row %ld has no time; expected a time in every row", path, s->count - s->waits);
}

// Reads the next row of a stream into `given`. Fails like od_log_rows_next().
static od_status advance(od_log_rows *r, stream *s, od_error *err) {
  s->has_row = false;
  for (bool end = false; !end;) {
    od_status status = od_row_reader_next(reader_of(s), s->read, &end, err);
    if (status != OD_OK) return status;
    long number = s->count - 1;
    if (!end) {
      if (s->count++ == 0) s->origin = clock_of(s, s->read, 0);
      int line = od_row_reader_line(reader_of(s));
      if (s->waits && repeats(s, r->log)) continue;
      number = s->count - 2;
      give_waiting(s, line);
      bool had_row = s->waits;
      s->waits = true;
      if (!had_row) continue;
    } else {
      if (!s->waits) return OD_OK;
      give_waiting(s, 0);
      s->waits = false;
    }
    double before = s->time;
    s->time = time_of(s, s->given, number);
    s->step = s->had_row && isfinite(before) ? s->time - before : 0;
    s->had_row = true;
    if (!find_groups(s)) continue;
    // Only the first stream of a file checks the rows, so that each row is checked once.
    if (r->check && s->is_first && !r->check(r->user, s->number, s->time, s->given_line)) continue;
    if (!isfinite(s->time)) {
      if (!r->check) return no_time(s, err);
      continue;
    }
    s->has_row = true;
    return OD_OK;
  }
  return OD_OK;
}

// Writes the values of a stream's row.
static void take_values(od_log_rows *r, const stream *s) {
  const od_log_plan *plan = r->log->plan;
  for (int k = 0; k < s->channels; k++) {
    int i = s->channel[k];
    const od_channel *c = &plan->channel[i];
    double value = od_channel_value(c, s->given);
    r->value[i] = isfinite(value) ? value : (double)NAN;
    if (r->present) r->present[i] = !s->input->group || s->has_group[s->input->group[c->at]];
  }
}

// --- All streams --------------------------------------------------------------------------------------------------

od_status od_log_rows_next(od_log_rows *r, od_log_row *row, bool *more, od_error *err) {
  stream *first = NULL;
  if (r->streams == 1) {
    od_status status = advance(r, r->stream, err);
    if (status != OD_OK) return status;
  }
  for (int i = 0; i < r->streams; i++)
    if (r->stream[i].has_row && (!first || r->stream[i].time < first->time)) first = &r->stream[i];
  *more = first != NULL;
  if (!first) return OD_OK;
  // Times of the clocks may be rounded differently. The time of the first of these streams is the time of the row.
  const double least = first->time;
  first = NULL;
  for (int i = 0; i < r->streams; i++) {
    stream *s = &r->stream[i];
    s->is_next = s->has_row && s->time - least <= same_time * s->step;
    if (s->is_next && !first) first = s;
  }
  const double time = first->time;
  const int line = first->given_line;
  for (int i = 0; r->streams > 1 && i < r->log->plan->channels; i++) {
    const od_channel *c = &r->log->plan->channel[i];
    r->value[i] = c->at < 0 ? c->otherwise : (double)NAN;
    r->present[i] = false;
  }
  for (int i = 0; i < r->streams; i++) {
    stream *s = &r->stream[i];
    if (!s->is_next) continue;
    take_values(r, s);
    od_status status = r->streams > 1 ? advance(r, s, err) : OD_OK;
    if (status != OD_OK) return status;
  }
  *row = (od_log_row){time, r->value, r->present, line};
  return OD_OK;
}

long od_log_rows_repeated(const od_log_rows *r) {
  // All streams of a file have the same repeated rows, so only the first stream is counted.
  long sum = 0;
  for (int i = 0; i < r->streams; i++)
    if (r->stream[i].is_first) sum += r->stream[i].repeated;
  return sum;
}

// --- Opening ------------------------------------------------------------------------------------------------------

// Returns the stream of a file with this delay. Adds the stream if it does not exist. Returns NULL if out of memory.
static stream *stream_of(od_log_rows *r, int input, double delay) {
  for (int i = 0; i < r->streams; i++)
    if (r->stream[i].number == input && r->stream[i].delay == delay) return &r->stream[i];
  const od_log *log = r->log;
  const od_log_input *in = &log->input[input];
  stream *list = od_arena_extend(&r->memory, r->stream, r->streams, sizeof *list);
  if (!list) return NULL;
  r->stream = list;
  stream *s = &list[r->streams++];
  int columns = od_row_reader_head(in->file)->columns;
  *s = (stream){.input = in, .number = input, .delay = delay};
  s->read = OD_TAKE(&r->memory, double, columns);
  s->kept = OD_TAKE(&r->memory, double, columns);
  s->given = OD_TAKE(&r->memory, double, columns);
  s->has_group = OD_TAKE(&r->memory, bool, in->groups + 1);
  s->channel = OD_TAKE(&r->memory, int, log->plan->channels + 1);
  return od_arena_status(&r->memory) == OD_OK ? s : NULL;
}

// Makes the streams: one for each file and each delay of its channels. A file without channels has no stream; if no
// file has channels, the first file has one stream. Returns false if out of memory.
static bool make_streams(od_log_rows *r) {
  const od_log_plan *plan = r->log->plan;
  for (int input = 0; input < r->log->inputs; input++)
    for (int i = 0; i < plan->channels; i++) {
      const od_channel *c = &plan->channel[i];
      if (c->at < 0 || c->input != input) continue;
      stream *s = stream_of(r, input, c->delay);
      if (!s) return false;
      s->channel[s->channels++] = i;
    }
  if (r->streams == 0 && !stream_of(r, 0, 0)) return false;
  r->value = OD_TAKE(&r->memory, double, plan->channels + 1);
  bool has_rates = r->streams > 1 || r->stream[0].input->group;
  r->present = has_rates ? OD_TAKE(&r->memory, bool, plan->channels + 1) : NULL;
  if (od_arena_status(&r->memory) != OD_OK) return false;
  for (int i = 0; i < plan->channels; i++) r->value[i] = plan->channel[i].otherwise;
  return true;
}

static od_status open_streams(od_log_rows *r, bool again, od_error *err) {
  od_status status = OD_OK;
  for (int i = 0; i < r->streams && status == OD_OK; i++) {
    stream *s = &r->stream[i];
    s->is_first = i == 0 || s[-1].number != s->number;
    if (again || !s->is_first) status = od_row_reader_again(s->input->file, &s->file, err);
  }
  for (int i = 0; i < r->streams && r->streams > 1 && status == OD_OK; i++) status = advance(r, &r->stream[i], err);
  return status;
}

od_status od_log_rows_new(const od_log *log, bool again, od_log_row_check *check, void *user, od_log_rows **out,
                          od_error *err) {
  *out = NULL;
  OD_OWNED(od_log_rows_free) od_log_rows *r = od_calloc(1, sizeof *r);
  if (!r) return od_fail(err, OD_NO_MEMORY, "out of memory while reading %s", log->plan->file);
  r->log = log;
  r->check = check;
  r->user = user;
  if (!make_streams(r)) return od_fail(err, OD_NO_MEMORY, "out of memory while reading %s", log->plan->file);
  od_status status = open_streams(r, again, err);
  if (status == OD_OK) *out = OD_GIVE(r);
  return status;
}

void od_log_rows_free(od_log_rows *r) {
  if (!r) return;
  for (int i = 0; i < r->streams; i++) od_row_reader_close(r->stream[i].file);
  od_arena_free(&r->memory);
  od_free(r);
}
