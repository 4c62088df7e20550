// MDF 4 (ASAM) as a format of logs. The rows of the channels (mdf_rows.h) are merged with the rows of CAN frames, if
// databases describe the frames. The columns are the time, the channels, and the signals of CAN messages.
#define _XOPEN_SOURCE 700  // st_mtim

#include <math.h>
#include <string.h>
#include <sys/stat.h>

#include "base/allocate.h"
#include "base/byte_hash.h"
#include "formats/mdf_bus.h"

typedef struct stream {
  od_mdf_rows *rows;
  void *can;  // the signals of CAN messages; NULL: none
  od_table *head;
  bool owns;  // whether the stream owns `head`
  int own;    // number of columns of `rows`
  int all;    // number of columns
  od_arena memory;
  bool *wanted, *can_wanted;  // of `rows` and of `can`
  double *row, *can_row;
  bool has_row, has_can_row;   // whether a row was read but not delivered yet
  bool reads_rows, reads_can;  // whether there are further rows
  bool had_rows, had_can;      // whether the part has a selected column, or no part has a selected column
} stream;

static void close_stream(void *opened) {
  stream *s = opened;
  if (!s) return;
  if (s->can) od_can_stream_close(s->can);
  if (s->owns && s->head) od_table_free(s->head);
  if (s->rows) od_mdf_rows_close(s->rows);
  od_arena_free(&s->memory);
  od_free(s);
}
OD_OWNED_POINTER(stream, close_stream);

static od_status no_memory(const stream *s, od_error *err) {
  return od_fail(err, OD_NO_MEMORY, "out of memory while reading %s", od_mdf_rows_log(s->rows)->path);
}

static void restart(stream *s) {
  s->has_row = s->has_can_row = false;
  s->reads_rows = s->had_rows;
  s->reads_can = s->had_can;
}

// Allocates the rows of both parts. All columns are selected. Fails with OD_NO_MEMORY.
static od_status prepare(stream *s, od_error *err) {
  s->own = od_mdf_rows_log(s->rows)->columns.count;
  s->all = s->head->columns;
  s->had_rows = true;
  s->had_can = s->can != NULL;
  restart(s);
  if (!s->can) return OD_OK;
  int signals = s->all - s->own + 1;
  s->wanted = OD_TAKE(&s->memory, bool, s->own);
  s->can_wanted = OD_TAKE(&s->memory, bool, signals);
  s->row = OD_TAKE(&s->memory, double, s->own);
  s->can_row = OD_TAKE(&s->memory, double, signals);
  if (od_arena_status(&s->memory) != OD_OK) return no_memory(s, err);
  memset(s->wanted, 1, (size_t)s->own);
  memset(s->can_wanted, 1, (size_t)signals);
  return OD_OK;
}

// Collects the hashes of the names of all columns. Returns false if an allocation fails.
static bool collect_names(const od_table *t, od_mdf_set *names) {
  bool is_new;
  for (int i = 0; i < t->columns; i++)
    if (!od_mdf_set_add(names, od_hash_text(OD_HASH_START, t->name[i]) | 1, &is_new)) return false;
  return true;
}

// Joins the columns of both parts. A signal with the name of a channel gets the prefix "CAN.". Fails with OD_NO_MEMORY.
static od_status join_heads(stream *s, const od_table *rows, const od_table *can, od_error *err) {
  OD_SCRATCH(scratch);
  OD_SCOPED(od_mdf_set_free) od_mdf_set names = {0};
  s->owns = true;
  s->head = od_table_new(rows->columns + can->columns - 1);
  if (!s->head || !collect_names(rows, &names)) return no_memory(s, err);
  s->head->places.flaw = OD_TAKE(&s->head->arena, const char *, s->head->columns);
  if (!s->head->places.flaw) return no_memory(s, err);
  for (int i = 0; i < s->head->columns; i++) {
    bool is_own = i < rows->columns;
    const od_table *from = is_own ? rows : can;
    int column = is_own ? i : i - rows->columns + 1;
    const char *name = from->name[column];
    bool is_new = true;
    if (!is_own && !od_mdf_set_add(&names, od_hash_text(OD_HASH_START, name) | 1, &is_new)) return no_memory(s, err);
    if (!is_new) name = od_arena_format(&scratch, "CAN.%s", name);
    if (!name || od_table_label(s->head, i, name, from->unit[column]) != OD_OK) return no_memory(s, err);
    s->head->places.flaw[i] = od_table_flaw(from, column);
  }
  return OD_OK;
}

// Opens the CAN frames of the file if databases for CAN frames are given. Fails with OD_BAD_INPUT, OD_IO or OD_NO_MEMORY.
static od_status open_can(stream *s, const char *path, const od_table_wish *wish, od_error *err) {
  od_mdf_log *log = od_mdf_rows_log(s->rows);
  void *frames;
  s->head = log->columns.head;
  if (!log->columns.has_time) return OD_OK;
  bool has_databases = wish->databases && wish->databases[0];
  od_status status = od_mdf_bus_open(log, &frames, err);
  if (status != OD_OK) return status;
  if (frames && !has_databases) {
    od_mdf_bus_source.close(frames);
    status = od_mdf_remark(
        &log->all, &log->memory,
        "the file has frames of a CAN bus; their signals need a database, 'database' under 'data' or --dbc");
    return status == OD_OK ? OD_OK : no_memory(s, err);
  }
  if (!frames && !has_databases) return OD_OK;
  if (!frames) {
    status = od_mdf_remark(&log->all, &log->memory, "the file has no CAN frames that the databases could describe");
    return status == OD_OK ? OD_OK : no_memory(s, err);
  }
  status = od_can_stream_open(&od_mdf_bus_source, frames, path, wish, &s->can, err);
  return status == OD_OK ? join_heads(s, log->columns.head, od_can_stream_head(s->can), err) : status;
}

static od_status open_file(const char *path, const od_table_wish *wish, void **out, od_error *err) {
  *out = NULL;
  OD_OWNED(close_stream) stream *s = od_calloc(1, sizeof *s);
  if (!s) return od_fail(err, OD_NO_MEMORY, "out of memory while reading %s", path);
  od_status status = od_mdf_rows_open(path, wish, &s->rows, err);
  if (status == OD_OK) status = open_can(s, od_mdf_rows_log(s->rows)->path, wish, err);
  if (status == OD_OK) status = prepare(s, err);
  if (status == OD_OK) *out = OD_GIVE(s);
  return status;
}

static od_status again(const void *opened, void **out, od_error *err) {
  const stream *s = opened;
  *out = NULL;
  OD_OWNED(close_stream) stream *other = od_calloc(1, sizeof *other);
  if (!other) return od_fail(err, OD_NO_MEMORY, "out of memory");
  other->head = s->head;
  od_status status = od_mdf_rows_again(s->rows, &other->rows, err);
  if (status == OD_OK && s->can) status = od_can_stream_again(s->can, &other->can, err);
  if (status == OD_OK) status = prepare(other, err);
  if (status == OD_OK) *out = OD_GIVE(other);
  return status;
}

static const od_table *head(const void *opened) {
  return ((const stream *)opened)->head;
}

static void want(void *opened, const bool *wanted) {
  stream *s = opened;
  od_mdf_rows_want(s->rows, s->can ? s->wanted : wanted);
  if (!s->can) return;
  bool any_own = false, any_can = false;
  s->wanted[0] = s->can_wanted[0] = wanted[0];
  for (int i = 1; i < s->all; i++) {
    bool is_own = i < s->own;
    *(is_own ? &s->wanted[i] : &s->can_wanted[i - s->own + 1]) = wanted[i];
    any_own = any_own || (is_own && wanted[i]);
    any_can = any_can || (!is_own && wanted[i]);
  }
  s->had_rows = any_own || !any_can;
  s->had_can = any_can || !any_own;
  od_can_stream_want(s->can, s->can_wanted);
  restart(s);
}

// Reads a row of each part that has no row waiting. Fails with OD_BAD_INPUT, OD_IO or OD_NO_MEMORY.
static od_status fill(stream *s, od_error *err) {
  bool end = false;
  od_status status = OD_OK;
  if (s->reads_rows && !s->has_row) {
    status = od_mdf_rows_next(s->rows, s->row, &end, err);
    s->has_row = status == OD_OK && !end;
    s->reads_rows = !end;
  }
  if (status == OD_OK && s->reads_can && !s->has_can_row) {
    status = od_can_stream_next(s->can, s->can_row, &end, err);
    s->has_can_row = status == OD_OK && !end;
    s->reads_can = !end;
  }
  return status;
}

static od_status next(void *opened, double *values, bool *end, od_error *err) {
  stream *s = opened;
  if (!s->can) return od_mdf_rows_next(s->rows, values, end, err);
  od_status status = fill(s, err);
  if (status != OD_OK) return status;
  *end = !s->has_row && !s->has_can_row;
  if (*end) return OD_OK;
  // A row without a time is delivered first.
  bool gives_row = s->has_row && (!s->has_can_row || !(s->row[0] > s->can_row[0]));
  bool gives_can = s->has_can_row && (!s->has_row || s->can_row[0] <= s->row[0]);
  values[0] = gives_row ? s->row[0] : s->can_row[0];
  for (int i = 1; i < s->own; i++) values[i] = gives_row && s->wanted[i] ? s->row[i] : (double)NAN;
  for (int i = s->own, k = 1; i < s->all; i++, k++)
    values[i] = gives_can && s->can_wanted[k] ? s->can_row[k] : (double)NAN;
  s->has_row = s->has_row && !gives_row;
  s->has_can_row = s->has_can_row && !gives_can;
  return OD_OK;
}

static void rewind_stream(void *opened) {
  stream *s = opened;
  od_mdf_rows_rewind(s->rows);
  if (s->can) od_can_stream_rewind(s->can);
  restart(s);
}

static bool is_cut(const void *opened) {
  const stream *s = opened;
  return od_mdf_rows_is_cut(s->rows) || (s->can && od_can_stream_is_cut(s->can));
}

static bool has_changed(const void *opened) {
  const od_mdf_file *file = &od_mdf_rows_log(((const stream *)opened)->rows)->file;
  struct stat about;
  if (fstat(file->fd, &about) != 0) return false;
  return (uint64_t)about.st_size != file->size || about.st_mtim.tv_sec != file->written.tv_sec ||
         about.st_mtim.tv_nsec != file->written.tv_nsec;
}

static od_log_origin origin(const void *opened, int column) {
  const stream *s = opened;
  if (column >= s->own) return od_can_stream_origin(s->can, column - s->own + 1);
  const od_mdf_log *c = od_mdf_rows_log(s->rows);
  int channel = c->columns.channel[column];
  if (channel < 0) return (od_log_origin){0};
  const od_mdf_channel *of = &c->all.channel[channel];
  return (od_log_origin){.group = c->columns.label[of->group], .comment = of->comment[0] ? of->comment : NULL};
}

static const char *start_time(const void *opened) {
  return od_mdf_rows_log(((const stream *)opened)->rows)->all.start_time;
}

static const char *remark(const void *opened, int index) {
  const stream *s = opened;
  const od_mdf_contents *all = &od_mdf_rows_log(s->rows)->all;
  if (index < all->remarks) return all->remark[index];
  return s->can ? od_can_stream_remark(s->can, index - all->remarks) : NULL;
}

static bool recognizes(const char *path, const unsigned char *start, size_t length) {
  (void)path;
  return od_mdf_is_mdf(start, length);
}

const od_log_format od_mdf_format = {.name = "MDF",
                                     .recognizes = recognizes,
                                     .open = open_file,
                                     .again = again,
                                     .close = close_stream,
                                     .head = head,
                                     .want = want,
                                     .next = next,
                                     .rewind = rewind_stream,
                                     .is_cut = is_cut,
                                     .has_changed = has_changed,
                                     .origin = origin,
                                     .start_time = start_time,
                                     .remark = remark};
