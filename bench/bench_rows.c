// Rows of a CSV log of 50 columns of numbers with 8 to 17 digits: rows of 5 columns, and of all columns, through the reader of all formats.
// The reference in the same run is a pass over the file that searches line ends by memchr, as `wc -l` does.
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "formats/row_reader.h"
#include "measure.h"

enum { ROWS = 40000, COLUMNS = 50, MAPPED = 5 };

static int start(void *self) {
  (void)self;
  return 0;
}

typedef struct wide_file {
  char path[64];
  int every;  // one of this number of columns is read
} wide_file;

// Writes the wide log: each number has 8 to 17 digits.
static int write_wide(const char *path) {
  FILE *f = fopen(path, "w");
  if (!f) return -1;
  fputs("time [s]", f);
  for (int c = 1; c < COLUMNS; c++) fprintf(f, ",channel%d [bar]", c);
  fputc('\n', f);
  for (int k = 0; k < ROWS; k++) {
    fprintf(f, "%.8f", k * 1e-3);
    for (int c = 1; c < COLUMNS; c++) fprintf(f, ",%.*g", 8 + (k + 7 * c) % 10, 100 * sin(0.37 * k + c));
    fputc('\n', f);
  }
  return fclose(f);
}

// Reads all rows of the wide log through the reader of all formats.
static int read_wide(void *self, int runs) {
  const wide_file *f = self;
  static double values[COLUMNS];
  bool wanted[COLUMNS];
  od_error err;
  for (int i = 0; i < COLUMNS; i++) wanted[i] = i % f->every == 0;
  for (int i = 0; i < runs; i++) {
    OD_OWNED(od_row_reader_close) od_row_reader *r = NULL;
    bool end = false;
    long rows = 0;
    if (od_row_reader_open(f->path, NULL, &r, &err) != OD_OK) return -1;
    od_row_reader_want(r, wanted);
    for (; od_row_reader_next(r, values, &end, &err) == OD_OK && !end; rows++) continue;
    if (rows != ROWS) return -1;
  }
  return 0;
}

// The reference: counts line ends.
static int count_lines(void *self, int runs) {
  static char block[1 << 18];
  const wide_file *f = self;
  for (int i = 0; i < runs; i++) {
    const int file = open(f->path, O_RDONLY);
    long lines = 0;
    ssize_t got;
    if (file < 0) return -1;
    while ((got = read(file, block, sizeof block)) > 0) {
      const char *at = block, *end = block + got;
      for (; at < end && (at = memchr(at, '\n', (size_t)(end - at))); at++) lines++;
    }
    close(file);
    if (lines != ROWS + 1) return -1;
  }
  return 0;
}

int main(void) {
  if (!bench_wants_times()) return 0;
  bench_pin();
  wide_file mapped = {.every = COLUMNS / MAPPED}, all = {.every = 1};
  snprintf(mapped.path, sizeof mapped.path, "/tmp/bench-rows-%ld.csv", (long)getpid());
  strcpy(all.path, mapped.path);
  bench_subject subjects[] = {
      {.name = "5 of 50 columns",
       .figure = "csv-mapped",
       .self = &mapped,
       .start = start,
       .advance = read_wide,
       .steps = 1},
      {.name = "50 of 50 columns",
       .figure = "csv-rows",
       .self = &all,
       .start = start,
       .advance = read_wide,
       .steps = 1},
      {.name = "line ends by memchr", .self = &mapped, .start = start, .advance = count_lines, .steps = 1}};
  struct stat file = {0};
  int failed = write_wide(mapped.path) != 0 || stat(mapped.path, &file) != 0 || bench_settle(subjects, 3) != 0;
  unlink(mapped.path);
  if (failed) {
    fprintf(stderr, "bench_rows: failed\n");
    return 1;
  }
  const double size = (double)file.st_size / 1e6;
  printf("a log of %d rows and %d columns as CSV, %.1f MB, row by row\n", ROWS, COLUMNS, size);
  for (int i = 0; i < 3; i++) {
    printf("  %-20s %6.0f MB/s\n", subjects[i].name, size / bench_best(&subjects[i]));
    bench_write_figures(&subjects[i]);
  }
  bench_print_method(subjects, 3);
  bench_verdict("must", "CSV rows, 5 of 50 columns", size / bench_best(&subjects[0]), "MB/s ", 300, true);
  bench_verdict("goal", "CSV rows, all columns", size / bench_best(&subjects[1]), "MB/s ", 300, true);
  return 0;
}
