// Reads MATLAB files with the helper program oleodyn-mat, because matio crashes on some damaged files and loads many other libraries.
#include <math.h>

#include "formats/helper_table.h"
#include "io/inputs_read.h"
#include "io/mat_integrity.h"
#include "io/mat_matrices.h"

// Receives a column. The table stores its values row by row.
static void take_column(od_channel *from, const od_table_wish *wish, od_table *t, int column) {
  double block[2048];
  for (long row = 0; row < t->rows && !from->broken;) {
    long count = t->rows - row < 2048 ? t->rows - row : 2048;
    if (!od_channel_take(from, block, (size_t)count * sizeof *block)) return;
    for (long i = 0; i < count; i++, row++)
      t->data[row * t->columns + column] = od_is_missing(wish->missing, NULL, 0, block[i]) ? (double)NAN : block[i];
  }
}

static od_status take_table(od_channel *from, const char *path, const od_table_wish *wish, uint64_t most,
                            od_table **out) {
  long rows;
  od_status status = od_helper_take_head(from, path, most, out, &rows, NULL);
  if (status != OD_OK || from->broken) return status;
  od_table *t = *out;
  status = od_table_resize(t, rows);
  for (int i = 0; status == OD_OK && i < t->columns; i++) {
    if (!od_table_flaw(t, i)) take_column(from, wish, t, i);
    for (long row = 0; od_table_flaw(t, i) && row < rows; row++) t->data[row * t->columns + i] = NAN;
  }
  return status;
}

od_status od_table_read_mat(const char *path, const od_table_wish *wish, od_table **out, od_error *err) {
  static const od_table_wish no_wish = {0};
  od_helper h = {.name = OD_MAT_PROGRAM};
  od_helper_errors e = {0};
  *out = NULL;
  if (!wish) wish = &no_wish;
  od_status status = od_mat_check_integrity(path, 0, &h.bytes, err);
  if (status != OD_OK) return status;
  if (!od_inputs_note(path)) return od_fail(err, OD_NO_MEMORY, "out of memory while reading %s", path);
  status = od_helper_start(&h, OD_HELPER_READ, path, &e.ended);
  if (status != OD_OK) return od_fail(err, status, "cannot read %s: %s", path, e.ended.text);
  od_helper_put_wish(&h.channel, wish);
  OD_OWNED(od_table_free) od_table *table = NULL;
  od_helper_part part = od_helper_ask(&h);
  if (part == OD_HELPER_TABLE) {
    e.no_memory = take_table(&h.channel, path, wish, od_helper_most_numbers(h.bytes), &table) != OD_OK;
    part = e.no_memory ? 0 : (od_helper_part)od_channel_take_number(&h.channel, OD_HELPER_STATUS);
  }
  e.end = od_helper_end(&h, part, &e.answered, &e.ended);
  status = od_helper_outcome(&e, path, "a MATLAB file", err);
  if (status != OD_OK) return status;
  if (!table) return od_fail(err, OD_BAD_INPUT, "cannot read %s as a MATLAB file; write the file again", path);
  *out = OD_GIVE(table);
  return OD_OK;
}
