// Logs as CSV. The first log has 200000 rows of a time and seven channels with all their digits; it is written, and read as a whole.
// The second log has 50 columns of numbers with 8 to 17 digits; rows of 5 columns, and of all columns, are read one after the other.
// The reference in the same run is a pass over the file of the second log that searches line ends by memchr, as `wc -l` does.
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "formats/row_reader.h"
#include "io/table.h"
#include "measure.h"

enum { ROWS = 200000, COLUMNS = 8, WIDE_ROWS = 40000, WIDE_COLUMNS = 50, MAPPED = 5 };

typedef struct log_file {
  od_table *table;
  char path[64];
} log_file;

static int start(void *self) {
  (void)self;
  return 0;
}

static int write_log(void *self, int runs) {
  const log_file *f = self;
  od_error err;
  for (int i = 0; i < runs; i++)
    if (od_table_write_csv(f->table, f->path, &err) != OD_OK) return -1;
  return 0;
}

static int read_log(void *self, int runs) {
  const log_file *f = self;
  od_error err;
  for (int i = 0; i < runs; i++) {
    od_table *table = NULL;
    const od_status status = od_table_read_csv(f->path, &table, &err);
    const int complete = status == OD_OK && table->rows == ROWS;
    if (status == OD_OK) od_table_free(table);
    if (!complete) return -1;
  }
  return 0;
}

static od_table *make_log(void) {
  od_table *table = od_table_new(COLUMNS);
  for (int c = 0; table && c < COLUMNS; c++) {
    char name[16];
    snprintf(name, sizeof name, c ? "channel%d" : "time", c);
    if (od_table_label(table, c, name, c ? "bar" : "s") != OD_OK) return NULL;
  }
  for (int i = 0; table && i < ROWS; i++) {
    double row[COLUMNS] = {i * 1e-3};
    for (int c = 1; c < COLUMNS; c++) row[c] = 100 * sin(0.37 * i + c);
    if (od_table_append(table, row) != OD_OK) return NULL;
  }
  return table;
}

// ---- Rows of a wide log

typedef struct wide_file {
  char path[64];
  int every;  // one of this number of columns is read
} wide_file;

// Writes the wide log: each number has 8 to 17 digits.
static int write_wide(const char *path) {
  FILE *f = fopen(path, "w");
  if (!f) return -1;
  fputs("time [s]", f);
  for (int c = 1; c < WIDE_COLUMNS; c++) fprintf(f, ",channel%d [bar]", c);
  fputc('\n', f);
  for (int k = 0; k < WIDE_ROWS; k++) {
    fprintf(f, "%.8f", k * 1e-3);
    for (int c = 1; c < WIDE_COLUMNS; c++) fprintf(f, ",%.*g", 8 + (k + 7 * c) % 10, 100 * sin(0.37 * k + c));
    fputc('\n', f);
  }
  return fclose(f);
}

// Reads all rows of the wide log through the reader of all formats.
static int read_wide(void *self, int runs) {
  const wide_file *f = self;
  static double values[WIDE_COLUMNS];
  bool wanted[WIDE_COLUMNS];
  od_error err;
  for (int i = 0; i < WIDE_COLUMNS; i++) wanted[i] = i % f->every == 0;
  for (int i = 0; i < runs; i++) {
    OD_OWNED(od_row_reader_close) od_row_reader *r = NULL;
    bool end = false;
    long rows = 0;
    if (od_row_reader_open(f->path, NULL, &r, &err) != OD_OK) return -1;
    od_row_reader_want(r, wanted);
    for (; od_row_reader_next(r, values, &end, &err) == OD_OK && !end; rows++) continue;
    if (rows != WIDE_ROWS) return -1;
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
    if (lines != WIDE_ROWS + 1) return -1;
  }
  return 0;
}

static int bench_wide(void) {
  wide_file mapped = {.every = WIDE_COLUMNS / MAPPED}, all = {.every = 1};
  snprintf(mapped.path, sizeof mapped.path, "/tmp/bench-wide-%ld.csv", (long)getpid());
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
    fprintf(stderr, "bench_csv: failed\n");
    return 1;
  }
  const double size = (double)file.st_size / 1e6;
  printf("a log of %d rows and %d columns as CSV, %.1f MB, row by row\n", WIDE_ROWS, WIDE_COLUMNS, size);
  for (int i = 0; i < 3; i++) {
    printf("  %-20s %6.0f MB/s\n", subjects[i].name, size / bench_best(&subjects[i]));
    bench_write_figures(&subjects[i]);
  }
  bench_print_method(subjects, 3);
  bench_verdict("must", "CSV rows, 5 of 50 columns", size / bench_best(&subjects[0]), "MB/s ", 300, true);
  bench_verdict("goal", "CSV rows, all columns", size / bench_best(&subjects[1]), "MB/s ", 300, true);
  return 0;
}

int main(void) {
  if (!bench_wants_times()) return 0;
  bench_pin();
  log_file f = {.table = make_log()};
  snprintf(f.path, sizeof f.path, "/tmp/bench-csv-%ld.csv", (long)getpid());
  bench_subject subjects[] = {
      {.name = "written", .figure = "csv-write", .self = &f, .start = start, .advance = write_log, .steps = 1},
      {.name = "read", .figure = "csv-read", .self = &f, .start = start, .advance = read_log, .steps = 1}};
  struct stat file = {0};
  int failed = !f.table || write_log(&f, 1) != 0 || stat(f.path, &file) != 0 || bench_settle(subjects, 2) != 0;
  unlink(f.path);
  if (failed) {
    fprintf(stderr, "bench_csv: failed\n");
    return 1;
  }
  printf("a log of %d rows and %d columns as CSV, %.1f MB\n", ROWS, COLUMNS, (double)file.st_size / 1e6);
  for (int i = 0; i < 2; i++) {
    printf("  %-8s %6.0f MB/s\n", subjects[i].name, (double)file.st_size / bench_best(&subjects[i]) / 1e6);
    bench_write_figures(&subjects[i]);
  }
  bench_print_method(subjects, 2);
  bench_verdict("must", "CSV written", (double)file.st_size / bench_best(&subjects[0]) / 1e6, "MB/s ", 150, true);
  bench_verdict("goal", "CSV read", (double)file.st_size / bench_best(&subjects[1]) / 1e6, "MB/s ", 300, true);
  od_table_free(f.table);
  return bench_wide();
}
