#include "formats/row_reader.h"

#include <sys/stat.h>

#include "base/allocate.h"
#include "formats/log_format.h"

struct od_row_reader {
  const od_log_format *format;
  void *stream;
  const bool *wanted;  // may be NULL
};

// Returns whether a path names an empty regular file.
static bool is_empty(const char *path) {
  struct stat about;
  return stat(path, &about) == 0 && S_ISREG(about.st_mode) && about.st_size == 0;
}

od_status od_row_reader_open(const char *path, const od_table_wish *wish, od_row_reader **out, od_error *err) {
  static const od_table_wish no_wish = {0};
  *out = NULL;
  OD_OWNED(od_row_reader_close) od_row_reader *r = od_calloc(1, sizeof *r);
  if (!r) return od_fail(err, OD_NO_MEMORY, "out of memory");
  const bool follows = wish && wish->follow;
  if (follows && is_empty(path)) return OD_OK;
  od_status status = od_log_format_of(path, &r->format, err);
  if (status == OD_OK && follows && !r->format->grow)
    return od_fail(
        err, OD_BAD_INPUT,
        "%s cannot be followed: %s%s; expected a text file with columns (CSV), or a CAN trace in a text file", path,
        r->format == &od_csv_pipe_format ? "it is not a regular file" : "its format is ",
        r->format == &od_csv_pipe_format ? "" : r->format->name);
  if (status == OD_OK) status = r->format->open(path, wish ? wish : &no_wish, &r->stream, err);
  if (status == OD_OK && r->stream) *out = OD_GIVE(r);
  return status;
}

od_status od_row_reader_again(const od_row_reader *r, od_row_reader **out, od_error *err) {
  *out = NULL;
  OD_OWNED(od_row_reader_close) od_row_reader *other = od_calloc(1, sizeof *other);
  if (!other) return od_fail(err, OD_NO_MEMORY, "out of memory");
  other->format = r->format;
  od_status status = r->format->again(r->stream, &other->stream, err);
  if (status != OD_OK) return status;
  if (r->wanted) od_row_reader_want(other, r->wanted);
  *out = OD_GIVE(other);
  return OD_OK;
}

void od_row_reader_close(od_row_reader *r) {
  if (!r) return;
  if (r->stream) r->format->close(r->stream);
  od_free(r);
}

const od_log_format *od_row_reader_format(const od_row_reader *r) {
  return r->format;
}

bool od_row_reader_holds(const od_row_reader *r) {
  return r->format->holds && r->format->holds(r->stream);
}

const od_table *od_row_reader_head(const od_row_reader *r) {
  return r->format->head(r->stream);
}

void od_row_reader_want(od_row_reader *r, const bool *wanted) {
  r->wanted = wanted;
  r->format->want(r->stream, wanted);
}

od_status od_row_reader_next(od_row_reader *r, double *values, bool *end, od_error *err) {
  return r->format->next(r->stream, values, end, err);
}

od_status od_row_reader_grow(od_row_reader *r, od_log_growth *out, od_error *err) {
  return r->format->grow(r->stream, out, err);
}

void od_row_reader_rewind(od_row_reader *r) {
  r->format->rewind(r->stream);
}

int od_row_reader_line(const od_row_reader *r) {
  return r->format->line ? r->format->line(r->stream) : 0;
}

bool od_row_reader_is_cut(const od_row_reader *r) {
  return r->format->is_cut && r->format->is_cut(r->stream);
}

bool od_row_reader_has_changed(const od_row_reader *r) {
  return r->format->has_changed && r->format->has_changed(r->stream);
}

od_log_origin od_row_reader_origin(const od_row_reader *r, int column) {
  return r->format->origin ? r->format->origin(r->stream, column) : (od_log_origin){0};
}

const char *od_row_reader_start_time(const od_row_reader *r) {
  return r->format->start_time ? r->format->start_time(r->stream) : NULL;
}

const char *od_row_reader_remark(const od_row_reader *r, int index) {
  return r->format->remark ? r->format->remark(r->stream, index) : NULL;
}
