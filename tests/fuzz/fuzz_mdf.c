// MDF 4 files as rows: all columns, then every third column from another stream of the same file. Selected columns have the same
// values in both passes.
#include "fuzz/fuzz.h"

#include <stdlib.h>
#include <string.h>

#include "formats/log_format.h"
#include "io/table.h"

enum { MOST_ROWS = 3000 };

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
  const char *path = fuzz_file(data, size, "input.mf4", "cases/crane");
  void *stream = NULL;
  od_error err = {0};
  od_status status = od_mdf_format.open(path, &(od_table_wish){.no_time = true}, &stream, &err);
  if ((status == OD_OK) != (stream != NULL) || (status != OD_OK && !err.text[0])) abort();
  if (!stream) return 0;
  read(stream);
  od_mdf_format.close(stream);
  return 0;
}
