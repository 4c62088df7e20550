// Reads MATLAB files with the helper program oleodyn-mat, because matio crashes on some damaged files and loads many other libraries.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "io/helper.h"
#include "io/inputs_read.h"
#include "io/mat_integrity.h"
#include "io/mat_matrices.h"
#include "formats/read_table.h"

// Returns whether a name is short enough for a message. Longer names cannot be names of columns.
static bool is_short(const char *name) {
  return strlen(name) < OD_HELPER_TEXT;
}

static void put_wish(od_channel *to, const od_table_wish *wish) {
  uint64_t count = 0;
  for (int i = 0; wish->columns && wish->columns[i]; i++) count += is_short(wish->columns[i]);
  od_channel_put_text(to, wish->time && is_short(wish->time) ? wish->time : "");
  od_channel_put_number(to, wish->no_time);
  od_channel_put_number(to, count);
  for (int i = 0; wish->columns && wish->columns[i]; i++)
    if (is_short(wish->columns[i])) od_channel_put_text(to, wish->columns[i]);
}

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

static od_status take_table(od_channel *from, const od_table_wish *wish, uint64_t most, od_table **out) {
  uint64_t columns = od_channel_take_number(from, OD_HELPER_COLUMNS);
  uint64_t rows = od_channel_take_number(from, columns > 0 ? most / columns : 0);
  if (rows < 1) from->broken = true;
  if (from->broken) return OD_OK;
  od_table *t = *out = od_table_new((int)columns);
  od_status status = t ? od_table_resize(t, (long)rows) : OD_NO_MEMORY;
  for (int i = 0; status == OD_OK && i < t->columns && !from->broken; i++) {
    char name[OD_HELPER_TEXT], unit[OD_HELPER_TEXT];
    if (od_channel_take_text(from, name, sizeof name) && od_channel_take_text(from, unit, sizeof unit))
      status = od_table_label(t, i, name, unit);
  }
  for (int i = 0; status == OD_OK && i < t->columns; i++) take_column(from, wish, t, i);
  return status;
}

od_status od_table_read_mat(const char *path, const od_table_wish *wish, od_table **out, od_error *err) {
  static const od_table_wish no_wish = {0};
  od_helper h = {.name = OD_MAT_PROGRAM};
  od_error answered = {0}, ended = {0};
  *out = NULL;
  if (!wish) wish = &no_wish;
  od_status status = od_mat_check_integrity(path, &h.bytes, err);
  if (status != OD_OK) return status;
  if (!od_inputs_note(path)) return od_fail(err, OD_NO_MEMORY, "out of memory while reading %s", path);
  status = od_helper_start(&h, OD_HELPER_READ, path, &ended);
  if (status != OD_OK) return od_fail(err, status, "cannot read %s: %s", path, ended.text);
  put_wish(&h.channel, wish);
  OD_OWNED(od_table_free) od_table *table = NULL;
  od_status taken = OD_OK;
  od_helper_part part = od_helper_ask(&h);
  if (part == OD_HELPER_TABLE) {
    taken = take_table(&h.channel, wish, od_helper_most_numbers(h.bytes), &table);
    part = taken == OD_OK ? (od_helper_part)od_channel_take_number(&h.channel, OD_HELPER_STATUS) : 0;
  }
  status = od_helper_end(&h, part, &answered, &ended);
  if (taken == OD_NO_MEMORY || answered.status == OD_NO_MEMORY)
    return od_fail(err, OD_NO_MEMORY, "out of memory while reading %s", path);
  if (status == OD_INTERRUPTED) return od_fail(err, status, "interrupted while reading %s", path);
  if (status == OD_IO) return od_fail(err, status, "cannot read %s: %s", path, ended.text);
  if (status != OD_OK)
    return od_fail(err, status,
                   "cannot read %s as a MATLAB file: the library that reads such files %s; the file may be damaged",
                   path, ended.text);
  if (answered.status != OD_OK || !table)
    return od_fail(err, answered.status != OD_OK ? answered.status : OD_BAD_INPUT,
                   "cannot read %s as a MATLAB file: %s", path, answered.text);
  *out = OD_GIVE(table);
  return OD_OK;
}
