// Reads whole files as tables.
#include "formats/read_table.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/allocate.h"
#include "formats/log_format.h"
#include "formats/row_reader.h"
#include "io/bundle.h"
#include "io/input_file.h"

OD_OWNED_POINTER(char, od_free);

// Reads all rows of a file as a stream. Fails with OD_BAD_INPUT, OD_IO, OD_INTERRUPTED or OD_NO_MEMORY.
static od_status read_rows(const char *path, const od_table_wish *wish, od_table **out, od_error *err) {
  OD_OWNED(od_row_reader_close) od_row_reader *rows = NULL;
  OD_SCRATCH(scratch);
  od_status status = od_row_reader_open(path, wish, &rows, err);
  if (status != OD_OK) return status;
  const od_table *head = od_row_reader_head(rows);
  OD_OWNED(od_table_free) od_table *table = od_table_new(head->columns);
  double *values = OD_TAKE(&scratch, double, head->columns);
  bool *wanted = OD_TAKE(&scratch, bool, head->columns);
  if (!table || !values || !wanted) return od_fail(err, OD_NO_MEMORY, "out of memory while reading %s", path);
  for (int i = 0; i < head->columns; i++) {
    wanted[i] = true;
    if (od_table_label(table, i, head->name[i], head->unit[i]) != OD_OK)
      return od_fail(err, OD_NO_MEMORY, "out of memory while reading %s", path);
  }
  od_row_reader_want(rows, wanted);
  for (bool end = false; !end;) {
    status = od_row_reader_next(rows, values, &end, err);
    if (status != OD_OK) return status;
    if (!end && od_table_append(table, values) != OD_OK)
      return od_fail(err, OD_NO_MEMORY, "out of memory while reading %s", path);
  }
  table->time = head->time;
  table->places.cut = od_row_reader_is_cut(rows);
  table->places.flaw = OD_TAKE(&table->arena, const char *, head->columns);
  if (!table->places.flaw) return od_fail(err, OD_NO_MEMORY, "out of memory while reading %s", path);
  for (int i = 0; i < head->columns; i++)
    if (od_table_flaw(head, i)) table->places.flaw[i] = od_arena_text(&table->arena, od_table_flaw(head, i));
  if (od_arena_status(&table->arena) != OD_OK)
    return od_fail(err, OD_NO_MEMORY, "out of memory while reading %s", path);
  *out = OD_GIVE(table);
  return OD_OK;
}

// Reads a file of another format than CSV. name: the path to open; if a bundle is used, the path of an unnamed temporary copy, because only
// the reader for CSV reads files of a bundle directly. od_input_read() reports a file that the used bundle does not have, and adds the file
// to a recorded bundle. Fails with OD_BAD_INPUT, OD_IO, OD_INTERRUPTED or OD_NO_MEMORY.
static od_status read_binary(const char *path, const char *name, const od_log_format *format, const od_table_wish *wish,
                             od_table **out, od_error *err) {
  enum { LARGEST = 1 << 30 };
  OD_OWNED(od_free) char *bytes = NULL;
  size_t length;
  od_error why = {0};
  bool records = od_bundle_is_used() || od_bundle_is_recorded();
  if (records && od_input_read(path, LARGEST, &bytes, &length, &why) != OD_OK)
    return od_fail(err, why.status, "cannot read %s: %s", path, why.text);
  return format->read_whole ? format->read_whole(name, wish, out, err) : read_rows(name, wish, out, err);
}

od_status od_table_read(const char *path, const od_table_wish *wish, od_table **out, od_error *err) {
  static const od_table_wish no_wish = {0};
  const od_log_format *format;
  char copy[40];
  int fd = od_bundle_is_used() ? od_bundle_open(path) : -1;
  const char *name = od_bundle_is_used() ? copy : path;
  snprintf(copy, sizeof copy, "/proc/self/fd/%d", fd);
  *out = NULL;
  if (!wish) wish = &no_wish;
  od_status status = od_log_format_of(name, &format, err);
  if (status != OD_OK && !od_bundle_is_used()) return status;
  bool is_text = status != OD_OK || format->read_whole == od_table_read_csv_with;
  if (od_table_is_matlab(path)) is_text = false, format = &od_mat_format;
  status = is_text ? od_table_read_csv_with(path, wish, out, err) : read_binary(path, name, format, wish, out, err);
  if (fd >= 0) close(fd);
  return status;
}

od_status od_table_open(const char *path, od_table **out, od_error *err) {
  *out = NULL;
  return od_table_read(path, &(od_table_wish){.no_time = true}, out, err);
}
