#include <math.h>
#include <string.h>

#include "base/allocate.h"
#include "formats/mdf_fields.h"
#include "formats/mdf_rows.h"

enum { MOST_BUFFERS = 32 << 20, LARGEST_BUFFER = 1 << 18, SMALLEST_BUFFER = 1 << 13 };

// A group with columns to decode.
typedef struct source {
  int group;
  od_mdf_cursor records;
  od_mdf_cursor *times;  // the cursor with the times; NULL: the times are in `records`
  od_mdf_field time;     // channel NULL: no times
  double scale;          // factor that converts the times to s
  double now;            // time of the current record, s; the number of the record if there are no times
  od_mdf_field *field;
  int fields;
  bool has_record;
} source;

struct od_mdf_rows {
  od_mdf_log *shared;
  bool owns;  // whether this stream owns `shared`
  const bool *wanted;
  od_arena memory;  // memory of the sources
  od_mdf_budget budget;
  source *source;
  int sources;
  int *heap, heaped;  // heap of the sources that have a record; the source with the earliest record is the first
  int *wanted_column, wanted_columns;
  bool is_started, is_cut;
};

// --- Opening and closing -----------------------------------------------------------------------------------------

static void close_contents(od_mdf_log *c) {
  od_mdf_file_close(&c->file);
  if (c->columns.head) od_table_free(c->columns.head);
  od_arena_free(&c->memory);
  od_free(c->path);
  od_free(c);
}

// Ends the reading of records.
static void stop(od_mdf_rows *s) {
  for (int i = 0; i < s->sources; i++) {
    source *from = &s->source[i];
    od_mdf_cursor_free(&from->records);
    if (from->times) od_mdf_cursor_free(from->times);
    for (int k = 0; k < from->fields; k++) od_mdf_field_free(&from->field[k]);
  }
  od_arena_free(&s->memory);
  s->memory = (od_arena){0};
  s->source = NULL;
  s->sources = s->heaped = 0;
  s->budget = (od_mdf_budget){0};
  s->is_started = s->is_cut = false;
}

void od_mdf_rows_close(od_mdf_rows *s) {
  if (!s) return;
  stop(s);
  if (s->owns) close_contents(s->shared);
  od_free(s);
}

// Adds a remark if the file was not finalized. Fails with OD_NO_MEMORY.
static od_status remark_unfinished(od_mdf_log *c) {
  if (!c->file.is_unfinalized) return OD_OK;
  return od_mdf_remark(
      &c->all, &c->memory,
      "the file was not finalized: the recording may have ended unexpectedly, and the last rows may be missing");
}

od_status od_mdf_rows_open(const char *path, const od_table_wish *wish, od_mdf_rows **out, od_error *err) {
  od_error own = {0};
  if (!err) err = &own;
  *out = NULL;
  OD_OWNED(od_mdf_rows_close) od_mdf_rows *s = od_calloc(1, sizeof *s);
  od_mdf_log *c = s ? s->shared = od_calloc(1, sizeof *c) : NULL;
  if (!c) return od_fail(err, OD_NO_MEMORY, "out of memory while reading %s", path);
  c->file.fd = -1;
  s->owns = true;
  c->path = od_strdup(path);
  if (!c->path) return od_fail(err, OD_NO_MEMORY, "out of memory while reading %s", path);
  od_status status = od_mdf_file_open(c->path, &c->file, err);
  if (status == OD_OK) status = od_mdf_contents_read(&c->file, &c->memory, &c->all, err);
  if (status == OD_OK && remark_unfinished(c) != OD_OK) status = od_mdf_no_memory(&c->file, err);
  if (status == OD_OK) status = od_mdf_columns_choose(&c->file, &c->all, wish, &c->memory, &c->columns, err);
  if (status == OD_OK) *out = OD_GIVE(s);
  return status;
}

od_status od_mdf_rows_again(const od_mdf_rows *s, od_mdf_rows **out, od_error *err) {
  od_mdf_rows *other = *out = od_calloc(1, sizeof *other);
  if (!other) return od_fail(err, OD_NO_MEMORY, "out of memory");
  other->shared = s->shared;
  return OD_OK;
}

od_mdf_log *od_mdf_rows_log(const od_mdf_rows *s) {
  return s->shared;
}

void od_mdf_rows_want(od_mdf_rows *s, const bool *wanted) {
  stop(s);
  s->wanted = wanted;
}

void od_mdf_rows_rewind(od_mdf_rows *s) {
  stop(s);
}

// --- Sources -----------------------------------------------------------------------------------------------------

static bool is_wanted(const od_mdf_rows *s, int column) {
  return !s->wanted || s->wanted[column];
}

// Starts the reading of the records of a group. Fails with OD_BAD_INPUT, OD_IO or OD_NO_MEMORY.
static od_status start_source(od_mdf_rows *s, source *from, int *first_of_part, size_t capacity, od_error *err) {
  const od_mdf_log *c = s->shared;
  const od_mdf_group *g = &c->all.group[from->group];
  int *first = &first_of_part[g->part];  // index + 1 of the first source of the data group
  od_mdf_cursor *shared = *first ? &s->source[*first - 1].records : NULL;
  od_status status =
      od_mdf_cursor_init(&from->records, &c->file, &c->all, from->group, &s->budget, capacity, shared, false, err);
  if (status != OD_OK) return status;
  if (!*first) *first = (int)(from - s->source) + 1;
  int time = c->columns.has_time ? c->columns.time_of[from->group] : -1;
  if (time < 0) return OD_OK;
  const od_mdf_channel *channel = &c->all.channel[time];
  from->scale = od_mdf_time_scale(channel->unit);
  if (channel->group != from->group) {
    from->times = OD_TAKE(&s->memory, od_mdf_cursor, 1);
    if (!from->times) return od_mdf_no_memory(&c->file, err);
    status = od_mdf_cursor_init(from->times, &c->file, &c->all, channel->group, &s->budget, capacity, NULL, true, err);
  }
  return status == OD_OK ? od_mdf_field_init(&from->time, &c->file, &c->all, time, 0, false, &s->budget, capacity, err)
                         : status;
}

// Chooses the groups to read: the groups with selected columns, or all groups if only the time is selected. Fails with
// OD_BAD_INPUT, OD_IO or OD_NO_MEMORY.
static od_status choose_sources(od_mdf_rows *s, od_error *err) {
  const od_mdf_log *c = s->shared;
  const od_mdf_columns *columns = &c->columns;
  OD_SCRATCH(scratch);
  int *fields = OD_TAKE(&scratch, int, c->all.groups + 1), any = 0;
  int *place = OD_TAKE(&scratch, int, c->all.groups + 1);
  s->wanted_column = OD_TAKE(&s->memory, int, columns->count);
  s->wanted_columns = 0;
  if (!fields || !place || !s->wanted_column) return od_mdf_no_memory(&c->file, err);
  for (int i = 0; i < columns->count; i++) {
    if (columns->channel[i] < 0 || !is_wanted(s, i)) continue;
    s->wanted_column[s->wanted_columns++] = i;
    any += fields[c->all.channel[columns->channel[i]].group]++ == 0;
  }
  for (int i = 0; any == 0 && i < columns->count; i++)
    if (columns->channel[i] >= 0) fields[c->all.channel[columns->channel[i]].group] = 1;
  // A group that contains only times has rows, too.
  for (int g = 0; any == 0 && columns->has_time && g < c->all.groups; g++)
    if (columns->time_of[g] >= 0 && c->all.group[g].channels > 0) fields[g] = 1;
  for (int g = 0; g < c->all.groups; g++) {
    if (fields[g] == 0) continue;
    place[g] = s->sources++;
  }
  s->source = OD_TAKE(&s->memory, source, s->sources);
  s->heap = OD_TAKE(&s->memory, int, s->sources);
  if (!s->source || !s->heap) {
    s->sources = 0;
    return od_mdf_no_memory(&c->file, err);
  }
  for (int g = 0; g < c->all.groups; g++) {
    if (fields[g] == 0) continue;
    source *from = &s->source[place[g]];
    from->group = g;
    from->field = OD_TAKE(&s->memory, od_mdf_field, fields[g]);
    if (!from->field) return od_mdf_no_memory(&c->file, err);
  }
  size_t capacity = MOST_BUFFERS / (size_t)(s->sources > 0 ? s->sources : 1);
  capacity = capacity > LARGEST_BUFFER ? LARGEST_BUFFER : capacity < SMALLEST_BUFFER ? SMALLEST_BUFFER : capacity;
  int *first_of_part = OD_TAKE(&scratch, int, c->all.parts);
  if (!first_of_part) return od_mdf_no_memory(&c->file, err);
  od_status status = OD_OK;
  for (int i = 0; status == OD_OK && i < s->sources; i++)
    status = start_source(s, &s->source[i], first_of_part, capacity, err);
  for (int i = 0; status == OD_OK && i < s->wanted_columns; i++) {
    int column = s->wanted_column[i], channel = columns->channel[column];
    source *from = &s->source[place[c->all.channel[channel].group]];
    od_mdf_field *f = &from->field[from->fields++];
    status = od_mdf_field_init(f, &c->file, &c->all, channel, column, false, &s->budget, capacity, err);
  }
  return status;
}

// --- Rows --------------------------------------------------------------------------------------------------------

// Reads the next record of a source, and its time. Fails with OD_BAD_INPUT, OD_IO or OD_NO_MEMORY.
static od_status advance(od_mdf_rows *s, source *from, od_error *err) {
  const od_mdf_cursor *times = from->times ? from->times : &from->records;
  bool more;
  od_status status = od_mdf_cursor_next(&from->records, &more, err);
  if (status == OD_OK && more && from->times) {
    status = od_mdf_cursor_next(from->times, &more, err);
    if (status == OD_OK && !more) s->is_cut = true;  // there are fewer times than records
  }
  from->has_record = status == OD_OK && more;
  s->is_cut = s->is_cut || from->records.is_cut;
  if (!from->has_record) return status;
  from->now = (double)from->records.index;
  if (from->time.channel) {
    status = od_mdf_field_value(&from->time, times, &from->now, err);
    if (from->scale != 1) from->now *= from->scale;
  }
  return status;
}

// Returns whether source a is before source b. Records without a time are delivered at once.
static bool is_before(const od_mdf_rows *s, int a, int b) {
  double x = s->source[a].now, y = s->source[b].now;
  if (x < y || (isnan(x) && !isnan(y))) return true;
  return a < b && (x == y || (isnan(x) && isnan(y)));
}

// Restores the order of the heap below a place.
static void sink(od_mdf_rows *s, int place) {
  for (;;) {
    int least = place;
    for (int child = 2 * place + 1; child <= 2 * place + 2 && child < s->heaped; child++)
      if (is_before(s, s->heap[child], s->heap[least])) least = child;
    if (least == place) return;
    int held = s->heap[place];
    s->heap[place] = s->heap[least];
    s->heap[least] = held;
    place = least;
  }
}

// Reads the first record of each source. Fails with OD_BAD_INPUT, OD_IO or OD_NO_MEMORY.
static od_status start(od_mdf_rows *s, od_error *err) {
  od_status status = choose_sources(s, err);
  for (int i = 0; status == OD_OK && i < s->sources; i++) {
    status = advance(s, &s->source[i], err);
    if (status == OD_OK && s->source[i].has_record) s->heap[s->heaped++] = i;
  }
  for (int i = s->heaped / 2 - 1; i >= 0; i--) sink(s, i);
  s->is_started = status == OD_OK;
  return status;
}

// Decodes the columns of the first source of the heap, and reads its next record. Fails with OD_BAD_INPUT, OD_IO or OD_NO_MEMORY.
static od_status give_first(od_mdf_rows *s, double *values, od_error *err) {
  source *from = &s->source[s->heap[0]];
  for (int i = 0; i < from->fields; i++) {
    od_mdf_field *f = &from->field[i];
    od_status status = od_mdf_field_value(f, &from->records, &values[f->column], err);
    if (status != OD_OK) return status;
    s->is_cut = s->is_cut || f->is_cut;
  }
  od_status status = advance(s, from, err);
  if (!from->has_record) s->heap[0] = s->heap[--s->heaped];
  if (s->heaped > 1) sink(s, 0);
  return status;
}

od_status od_mdf_rows_next(od_mdf_rows *s, double *values, bool *end, od_error *err) {
  od_error own = {0};
  if (!err) err = &own;
  if (!s->is_started) {
    od_status status = start(s, err);
    if (status != OD_OK) {
      stop(s);
      return status;
    }
  }
  *end = s->heaped == 0;
  if (*end) return OD_OK;
  double now = s->source[s->heap[0]].now;
  if (s->shared->columns.has_time) values[0] = now;
  if (s->sources == 1) return give_first(s, values, err);
  for (int i = 0; i < s->wanted_columns; i++) values[s->wanted_column[i]] = (double)NAN;
  int last;
  od_status status;
  do {
    last = s->heap[0];
    status = give_first(s, values, err);
  } while (status == OD_OK && s->heaped > 0 && s->source[s->heap[0]].now == now && s->heap[0] > last);
  return status;
}

bool od_mdf_rows_is_cut(const od_mdf_rows *s) {
  return s->is_cut;
}
