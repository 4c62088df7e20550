// Files that are read as a whole, as streams of rows.
#include <string.h>

#include "base/allocate.h"
#include "formats/log_format.h"

typedef struct table_stream {
  od_table *table;
  bool shares;  // whether the table belongs to another stream
  long next;    // index of the next row
} table_stream;

od_status od_table_stream_open(od_table_reader *read, const char *path, const od_table_wish *wish, void **out,
                               od_error *err) {
  table_stream *s = od_calloc(1, sizeof *s);
  *out = NULL;
  if (!s) return od_fail(err, OD_NO_MEMORY, "out of memory while reading %s", path);
  od_status status = read(path, wish, &s->table, err);
  if (status == OD_OK)
    *out = s;
  else
    od_table_stream_close(s);
  return status;
}

od_status od_table_stream_again(const void *stream, void **out, od_error *err) {
  table_stream *other = *out = od_calloc(1, sizeof *other);
  if (!other) return od_fail(err, OD_NO_MEMORY, "out of memory");
  *other = (table_stream){.table = ((const table_stream *)stream)->table, .shares = true};
  return OD_OK;
}

void od_table_stream_close(void *stream) {
  table_stream *s = stream;
  if (!s->shares) od_table_free(s->table);
  od_free(s);
}

const od_table *od_table_stream_head(const void *stream) {
  return ((const table_stream *)stream)->table;
}

void od_table_stream_want(void *stream, const bool *wanted) {
  (void)stream, (void)wanted;
}

od_status od_table_stream_next(void *stream, double *values, bool *end, od_error *err) {
  table_stream *s = stream;
  const od_table *t = s->table;
  (void)err;
  *end = s->next >= t->rows;
  if (!*end) memcpy(values, t->data + s->next++ * t->columns, (size_t)t->columns * sizeof *values);
  return OD_OK;
}

void od_table_stream_rewind(void *stream) {
  ((table_stream *)stream)->next = 0;
}

bool od_table_stream_holds(const void *stream) {
  (void)stream;
  return true;
}

int od_table_stream_line(const void *stream) {
  const table_stream *s = stream;
  return s->table->places.line && s->next > 0 ? s->table->places.line[s->next - 1] : 0;
}

bool od_table_stream_is_cut(const void *stream) {
  return ((const table_stream *)stream)->table->places.cut;
}
