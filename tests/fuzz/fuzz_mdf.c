// MDF 4 files as rows, without and with a database of CAN messages: all columns in two passes, which have the same values, then every
// third column from another stream of the same file.
#include "fuzz/fuzz.h"

#include <stdlib.h>
#include <string.h>

#include "formats/log_format.h"
#include "io/table.h"

enum { MOST_ROWS = 3000 };

static int first_columns;  // number of columns without a database

// Reads rows. Returns a sum over the bits of the values of the columns `summed`.
static uint64_t read_rows(void *stream, const bool *wanted, const bool *summed, long *rows) {
  int columns = od_mdf_format.head(stream)->columns;
  double *values = calloc((size_t)columns, sizeof *values);
  if (!values) abort();
  uint64_t sum = 0;
  od_error err = {0};
  bool end = false;
  od_mdf_format.want(stream, wanted);
  for (*rows = 0; *rows < MOST_ROWS && !end; ++*rows) {
    if (od_mdf_format.next(stream, values, &end, &err) != OD_OK) {
      if (!err.text[0]) abort();
      break;
    }
    for (int i = 0; i < columns && !end; i++) {
      uint64_t bits;
      memcpy(&bits, &values[i], sizeof bits);
      if (summed[i]) sum = (sum ^ bits) * UINT64_C(0x9e3779b97f4a7c15);
    }
  }
  od_mdf_format.is_cut(stream);
  free(values);
  return sum;
}

static void read(void *stream) {
  int columns = od_mdf_format.head(stream)->columns;
  bool *all = calloc((size_t)columns, 1), *some = calloc((size_t)columns, 1);
  void *other;
  long rows[3];
  if (!all || !some) abort();
  for (int i = 0; i < columns; i++) {
    all[i] = true;
    some[i] = i % 3 == 0;
    od_mdf_format.origin(stream, i);
    od_table_flaw(od_mdf_format.head(stream), i);
  }
  for (int i = 0; od_mdf_format.remark(stream, i); i++) continue;
  od_mdf_format.start_time(stream);
  uint64_t whole = read_rows(stream, all, some, &rows[0]);
  od_mdf_format.rewind(stream);
  if (read_rows(stream, all, some, &rows[1]) != whole || rows[1] != rows[0]) abort();
  if (od_mdf_format.again(stream, &other, &(od_error){0}) != OD_OK) abort();
  read_rows(other, some, some, &rows[2]);
  od_mdf_format.close(other);
  free(all);
  free(some);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static const char *const databases[] = {OD_SOURCE_DIR "/tests/fuzz/can/messages.dbc", NULL};
  const char *path = fuzz_file(data, size, "input.mf4", "cases/crane");
  for (int has_database = 0; has_database < 2; has_database++) {
    od_table_wish wish = {.no_time = true, .databases = has_database ? databases : NULL};
    void *stream = NULL;
    od_error err = {0};
    od_status status = od_mdf_format.open(path, &wish, &stream, &err);
    if ((status == OD_OK) != (stream != NULL) || (status != OD_OK && !err.text[0])) abort();
    if (!stream) return 0;
    int columns = od_mdf_format.head(stream)->columns;
    if (!has_database) first_columns = columns;
    // Without CAN frames, the second pass would be the same as the first.
    if (!has_database || columns > first_columns) read(stream);
    od_mdf_format.close(stream);
  }
  return 0;
}
