#include "io/row_reader.h"

#include <string.h>
#include <sys/stat.h>

#include "base/allocate.h"
#include "io/csv_stream.h"

struct od_row_reader {
  od_csv_stream *stream;  // NULL: all rows are in the table
  od_table *table;
  bool shares;         // whether the table belongs to another reader
  const bool *wanted;  // may be NULL
  long next;           // index of the next row in the table
};

// Returns whether a file must be read as a whole: pipes cannot be read again, and files with a stated size of zero, as in /proc,
// have unknown sizes.
static bool is_pipe(const char *path) {
  struct stat about;
  return stat(path, &about) == 0 && !S_ISDIR(about.st_mode) && (!S_ISREG(about.st_mode) || about.st_size == 0);
}

od_status od_row_reader_open(const char *path, const od_table_wish *wish, od_row_reader **out, od_error *err) {
  *out = NULL;
  OD_OWNED(od_row_reader_close) od_row_reader *r = od_calloc(1, sizeof *r);
  if (!r) return od_fail(err, OD_NO_MEMORY, "out of memory");
  od_status status = od_table_is_matlab(path) || is_pipe(path) ? od_table_read(path, wish, &r->table, err)
                                                               : od_csv_stream_open(path, wish, 0, &r->stream, err);
  if (status == OD_OK) *out = OD_GIVE(r);
  return status;
}

od_status od_row_reader_again(const od_row_reader *r, od_row_reader **out, od_error *err) {
  *out = NULL;
  OD_OWNED(od_row_reader_close) od_row_reader *other = od_calloc(1, sizeof *other);
  if (!other) return od_fail(err, OD_NO_MEMORY, "out of memory");
  *other = (od_row_reader){.table = r->table, .shares = true, .wanted = r->wanted};
  od_status status = r->stream ? od_csv_stream_again(r->stream, &other->stream, err) : OD_OK;
  if (status != OD_OK) return status;
  if (r->stream && r->wanted) od_csv_stream_want(other->stream, r->wanted);
  *out = OD_GIVE(other);
  return OD_OK;
}

void od_row_reader_close(od_row_reader *r) {
  if (!r) return;
  od_csv_stream_close(r->stream);
  if (!r->shares) od_table_free(r->table);
  od_free(r);
}

bool od_row_reader_holds(const od_row_reader *r) {
  return !r->stream;
}

const od_table *od_row_reader_head(const od_row_reader *r) {
  return r->stream ? od_csv_stream_head(r->stream) : r->table;
}

void od_row_reader_want(od_row_reader *r, const bool *wanted) {
  r->wanted = wanted;
  if (r->stream) od_csv_stream_want(r->stream, wanted);
}

od_status od_row_reader_next(od_row_reader *r, double *values, bool *end, od_error *err) {
  if (r->stream) return od_csv_stream_next(r->stream, values, end, err);
  const od_table *t = r->table;
  *end = r->next >= t->rows;
  if (!*end) memcpy(values, t->data + r->next++ * t->columns, (size_t)t->columns * sizeof *values);
  return OD_OK;
}

void od_row_reader_rewind(od_row_reader *r) {
  r->next = 0;
  if (r->stream) od_csv_stream_rewind(r->stream);
}

int od_row_reader_line(const od_row_reader *r) {
  if (r->stream) return od_csv_stream_line(r->stream);
  return r->table->places.line && r->next > 0 ? r->table->places.line[r->next - 1] : 0;
}

bool od_row_reader_is_cut(const od_row_reader *r) {
  return r->stream ? od_csv_stream_is_cut(r->stream) : r->table->places.cut;
}

bool od_row_reader_has_changed(const od_row_reader *r) {
  return r->stream && od_csv_stream_has_changed(r->stream);
}
