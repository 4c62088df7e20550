// A log as CSV: 200000 rows of a time and seven channels with all their digits, written and read.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "io/table.h"
#if __has_include("formats/read_table.h")  // older versions declare the reader in io/table.h
#include "formats/read_table.h"
#endif
#include "measure.h"

enum { ROWS = 200000, COLUMNS = 8 };

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
  return 0;
}
