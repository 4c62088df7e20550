// CSV files row by row, in blocks that end anywhere. Oracle: the same file read as a whole.
#include "fuzz/fuzz.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "formats/csv_stream.h"

static void demand(bool holds) {
  if (!holds) abort();
}

static bool same_text(const char *a, const char *b) {
  return a && b ? !strcmp(a, b) : a == b;
}

static void compare_heads(const od_table *head, const od_table *whole) {
  demand(head->columns == whole->columns);
  for (int i = 0; i < head->columns; i++)
    demand(same_text(head->name[i], whole->name[i]) && same_text(head->unit[i], whole->unit[i]));
}

static void compare_rows(void *s, const double *row, const od_table *whole, long k) {
  demand(k < whole->rows && od_csv_stream_line(s) == whole->places.line[k]);
  for (int i = 0; i < whole->columns; i++) {
    double value = whole->data[k * whole->columns + i];
    demand(row[i] == value || (isnan(row[i]) && isnan(value)));
  }
}

// All rows. whole: NULL if the file cannot be read as a whole; then rows before the mistake are not compared.
static od_status read_rows(void *s, const od_table *whole, double *row, od_error *err) {
  bool end = false;
  long k = 0;
  od_status status = od_csv_stream_next(s, row, &end, err);
  for (; status == OD_OK && !end; k++) {
    if (whole) compare_rows(s, row, whole, k);
    status = od_csv_stream_next(s, row, &end, err);
  }
  if (whole && status == OD_OK) demand(k == whole->rows && od_csv_stream_is_cut(s) == whole->places.cut);
  return status;
}

static void read_stream(const char *path, size_t block, const od_table *whole, const od_error *wrong) {
  void *s = NULL, *other = NULL;
  od_error err = {0};
  od_status status = od_csv_stream_open(path, NULL, block, &s, &err);
  demand((status == OD_OK) == (s != NULL));
  if (s) {
    const od_table *head = od_csv_stream_head(s);
    bool *wanted = malloc((size_t)head->columns + 1);
    double *row = malloc(((size_t)head->columns + 1) * sizeof *row);
    demand(wanted && row);
    memset(wanted, true, (size_t)head->columns + 1);
    od_csv_stream_want(s, wanted);
    if (whole) compare_heads(head, whole);
    status = read_rows(s, whole, row, &err);
    for (int i = 0; whole && i < head->columns; i++) demand(same_text(od_table_flaw(head, i), od_table_flaw(whole, i)));
    od_error again = {0};
    demand(od_csv_stream_again(s, &other, &again) == OD_OK);
    if (whole) {
      bool *nothing = calloc((size_t)head->columns + 1, sizeof *nothing);
      demand(nothing != NULL);
      od_csv_stream_use(other, nothing);  // its mistakes were reported before
      demand(read_rows(other, whole, row, &again) == OD_OK);
      free(nothing);
    }
    od_csv_stream_close(other);
    od_csv_stream_rewind(s);
    demand(read_rows(s, whole, row, &again) == status);
    free(row);
    free(wanted);
  }
  demand((status == OD_OK) == (whole != NULL));
  if (status != OD_OK) demand(!strcmp(err.text, wrong->text));
  od_csv_stream_close(s);
}

static void compare_blocks(const char *path, size_t block) {
  od_table *whole = NULL;
  od_error err = {0};
  od_table_read_csv(path, &whole, &err);
  read_stream(path, 0, whole, &err);
  if (block > 0) read_stream(path, block, whole, &err);
  od_table_free(whole);
}

enum { ROWS = 300, ROW_BYTES = 4 };

// The input after enough rows to find the header: the following rows are read in blocks.
static const char *file_behind_rows(const uint8_t *data, size_t size) {
  const char *row = size % 3 == 0 ? "1,2\n" : size % 3 == 1 ? "1;2\n" : "1\t2\n";
  uint8_t *text = malloc(ROWS * ROW_BYTES + size);
  demand(text != NULL);
  for (size_t i = 0; i < ROWS; i++) memcpy(text + i * ROW_BYTES, row, ROW_BYTES);
  if (size > 0) memcpy(text + ROWS * ROW_BYTES, data, size);
  const char *path = fuzz_file(text, ROWS * ROW_BYTES + size, "long.csv", "tests/fuzz/lag");
  free(text);
  return path;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  compare_blocks(fuzz_file(data, size, "input.csv", "tests/fuzz/lag"), 0);
  size_t sum = 0;
  for (size_t i = 0; i < size; i++) sum += data[i];
  compare_blocks(file_behind_rows(data, size), ROWS * ROW_BYTES + sum % (size + 1));  // ends within the input
  return 0;
}
