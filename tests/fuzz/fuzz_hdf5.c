// HDF5 files. The program oleodyn-mat reads them, in which the library may crash; every failure is a message. An undamaged head and
// rows that end early are errors, too.
#include "fuzz/fuzz.h"

#include <math.h>
#include <stdlib.h>

#include "formats/log_format.h"
#include "formats/row_reader.h"
#include "io/table.h"

enum { MOST_ROWS = 100000 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  const char *path = fuzz_file(data, size, "input.h5", "cases/crane");
  od_row_reader *rows = NULL;
  od_error err = {0};
  const od_log_format *format = NULL;
  if (od_log_format_of(path, &format, &err) != OD_OK) abort();
  if (format != &od_hdf5_format) return 0;
  od_status status = od_row_reader_open(path, NULL, &rows, &err);
  if ((status == OD_OK) != (rows != NULL) || (status != OD_OK && !err.text[0])) abort();
  if (!rows) return 0;
  const od_table *head = od_row_reader_head(rows);
  double *row = calloc((size_t)head->columns + 1, sizeof *row), sum = 0;
  bool end = false;
  for (long i = 0; i < MOST_ROWS && status == OD_OK && !end; i++) {
    status = od_row_reader_next(rows, row, &end, &err);
    for (int k = 0; k < head->columns; k++) sum += row[k];
  }
  if (status != OD_OK && !err.text[0]) abort();
  free(row);
  od_row_reader_close(rows);
  volatile double used = sum;  // the sum reads every number
  (void)used;
  return 0;
}
