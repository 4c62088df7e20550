// Reading MDF 4 files: processor time and memory for 5 of 100 channels and for all channels, with records in a plain data block, deflated and
// deflated after a transposition, and for 5 of 100 channels of a sparse file of 10 GB. The speed of zlib on the same deflated blocks is
// measured in the same run. Files are written by tests/support/mdf_writer.c.
// Usage: bench_mdf [--rows N] [--sparse GIGABYTES] [--folder PATH]
//
// Every measurement is a process of its own. Times are the least of three runs, because the first run of a file also fills the cache of the
// operating system; memory is the peak of the process. MB/s are bytes of inflated records per processor time.
#define _DEFAULT_SOURCE  // wait4

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <zlib.h>

#include "formats/row_reader.h"
#include "io/table.h"
#include "measure.h"
#include "support/mdf_writer.h"

enum { CHANNELS = 100, CHOSEN = 5, RECORD = 8 + 4 * CHANNELS, RUNS = 3, BLOCK_RECORDS = 10000 };

// Cost of a run.
typedef struct need {
  double seconds, bytes;  // processor time; peak memory
  double rows, sum;       // number of rows and sum of their values
} need;

typedef struct work {
  const char *path;
  bool all_channels, only_inflate;
} work;

static double processor_time(void) {
  struct timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

// Reads all rows of a file. The chosen channels are 10, 30, 50, 70 and 90.
static bool read_rows(const work *w, need *n) {
  od_error err = {0};
  od_row_reader *r = NULL;
  bool wanted[1 + CHANNELS] = {true};
  double row[1 + CHANNELS];
  od_status status = od_row_reader_open(w->path, NULL, &r, &err);
  if (status == OD_OK && od_row_reader_head(r)->columns != 1 + CHANNELS) status = OD_BAD_INPUT;
  for (int c = 0; c < CHANNELS; c++) wanted[1 + c] = w->all_channels || c % 20 == 10;
  if (status == OD_OK) od_row_reader_want(r, wanted);
  for (bool end = false; status == OD_OK;) {
    status = od_row_reader_next(r, row, &end, &err);
    if (status != OD_OK || end) break;
    n->rows++;
    for (int c = 10; c < CHANNELS; c += 20) n->sum += row[1 + c];
  }
  if (status != OD_OK) fprintf(stderr, "bench_mdf: %s\n", err.text[0] ? err.text : "wrong number of columns");
  od_row_reader_close(r);
  return status == OD_OK;
}

// Inflates all DZ blocks of a file, one after the other, into the same memory.
static bool inflate_blocks(const work *w, need *n) {
  FILE *f = fopen(w->path, "rb");
  unsigned char head[48], *from = NULL, *to = NULL;
  bool ok = f != NULL;
  for (long at = 64; ok && fseek(f, at, SEEK_SET) == 0 && fread(head, 1, sizeof head, f) >= 24;) {
    uint64_t length, original, deflated;
    memcpy(&length, head + 8, 8);
    memcpy(&original, head + 32, 8);
    memcpy(&deflated, head + 40, 8);
    if (memcmp(head, "##DZ", 4) == 0) {
      uLongf size = original;
      from = realloc(from, deflated);
      to = realloc(to, original);
      ok = from && to && fread(from, 1, deflated, f) == deflated && uncompress(to, &size, from, deflated) == Z_OK;
      n->rows += (double)size / RECORD;
    }
    at += (long)((length + 7) / 8 * 8);
  }
  if (f) fclose(f);
  free(from);
  free(to);
  return ok;
}

// Does the work in a process of its own.
static bool measure(const work *w, need *best) {
  double spent = 0;
  *best = (need){.seconds = INFINITY};
  for (int run = 0; run < RUNS && spent < 60; run++) {
    int ends[2], status;
    need n = {0};
    struct rusage used;
    if (pipe(ends) != 0) return false;
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
      double start = processor_time();
      bool ok = w->only_inflate ? inflate_blocks(w, &n) : read_rows(w, &n);
      n.seconds = processor_time() - start;
      _exit(ok && write(ends[1], &n, sizeof n) == sizeof n ? 0 : 1);
    }
    close(ends[1]);
    bool ok = child > 0 && read(ends[0], &n, sizeof n) == sizeof n;
    close(ends[0]);
    if (child < 0 || wait4(child, &status, 0, &used) < 0 || !ok) return false;
    double bytes = fmax(best->bytes, (double)used.ru_maxrss * 1024);
    if (n.seconds < best->seconds) *best = n;
    best->bytes = bytes;
    spent += n.seconds;
  }
  return true;
}

static uint64_t data_group(mdf_file *f, bool is_virtual, uint64_t rows) {
  uint64_t channels[CHANNELS + 2] = {0};
  char name[20];
  channels[0] = mdf_channel(f, &(mdf_cn){.name = "t",
                                         .unit = "s",
                                         .type = is_virtual ? MDF_VIRTUAL_MASTER : MDF_MASTER,
                                         .sync = MDF_TIME,
                                         .data_type = is_virtual ? MDF_UINT_LE : MDF_FLOAT_LE,
                                         .bits = is_virtual ? 0 : 64,
                                         .conversion = is_virtual ? mdf_linear(f, 0, 1e-3) : 0});
  for (int c = 0; c < CHANNELS; c++) {
    snprintf(name, sizeof name, "channel%d", c);
    channels[1 + c] = mdf_channel(
        f, &(mdf_cn){.name = name, .unit = "bar", .data_type = MDF_FLOAT_LE, .byte = 8 + 4 * c, .bits = 32});
  }
  uint64_t group = mdf_group(f, &(mdf_cg){.channels = channels, .records = rows, .data_bytes = RECORD});
  return mdf_data_group(f, (uint64_t[]){group, 0}, 0, 0);
}

// Writes a file of smooth channels that are rounded to steps of a converter of 12 bits. Returns the sum of the chosen channels.
static double write_file(const char *path, uint64_t rows, const mdf_storage *how) {
  mdf_bytes records = {0};
  double sum = 0;
  unsigned char *at = mdf_more(&records, rows * RECORD);
  for (uint64_t k = 0; k < rows; k++, at += RECORD) {
    double t = 1e-3 * (double)k;
    memcpy(at, &t, sizeof t);
    for (int c = 0; c < CHANNELS; c++) {
      float v = (float)(round(2048 * sin((0.3 + 0.01 * c) * t)) / 2048 * 350);
      memcpy(at + 8 + 4 * c, &v, sizeof v);
      if (c % 20 == 10) sum += v;
    }
  }
  mdf_file *f = mdf_begin(NULL);
  uint64_t group = data_group(f, false, rows);
  mdf_set_link(f, group, 2, mdf_data(f, "DT", records.at, records.size, how));
  mdf_bytes_free(&records);
  mdf_end(f, (uint64_t[]){group, 0});
  mdf_save(f, path);
  mdf_free(f);
  return sum;
}

// Writes a file whose last block, the records, is a hole. Returns the number of records, or 0 if the file cannot be made.
static uint64_t write_sparse(const char *path, double bytes) {
  uint64_t rows = (uint64_t)(bytes / RECORD);
  mdf_file *f = mdf_begin(NULL);
  uint64_t group = data_group(f, true, rows);
  uint64_t data = mdf_data(f, "DT", NULL, 0, NULL);
  mdf_set_link(f, group, 2, data);
  mdf_put(f->b.at + data + 8, 24 + rows * RECORD, 8, false);
  mdf_end(f, (uint64_t[]){group, 0});
  mdf_save(f, path);
  off_t size = (off_t)(data + 24 + rows * RECORD);
  mdf_free(f);
  return truncate(path, size) == 0 ? rows : 0;
}

static void print_line(const char *what, const need *n, double bytes) {
  printf("  %-46s %7.0f MB/s  %7.2f s  %6.1f MB of memory\n", what, bytes / n->seconds / 1e6, n->seconds,
         n->bytes / 1e6);
}

int main(int count, char **arguments) {
  if (!bench_wants_times()) return 0;
  uint64_t rows = 250000;
  double sparse = 10;
  const char *folder = "/tmp";
  for (int i = 1; i + 1 < count; i += 2) {
    if (strcmp(arguments[i], "--rows") == 0) rows = strtoull(arguments[i + 1], NULL, 10);
    if (strcmp(arguments[i], "--sparse") == 0) sparse = strtod(arguments[i + 1], NULL);
    if (strcmp(arguments[i], "--folder") == 0) folder = arguments[i + 1];
  }
  bench_pin();
  static const struct {
    const char *name;
    mdf_storage how;
  } file[] = {
      {"uncompressed", {0}},
      {"deflated", {.list = MDF_LIST_EQUAL, .piece = BLOCK_RECORDS * RECORD, .zip = MDF_DEFLATE, .has_header = true}},
      {"transposed and deflated",
       {.list = MDF_LIST_EQUAL,
        .piece = BLOCK_RECORDS * RECORD,
        .zip = MDF_TRANSPOSED,
        .columns = RECORD,
        .has_header = true}},
  };
  enum { FILES = sizeof file / sizeof *file };
  char path[400], line[100];
  snprintf(path, sizeof path, "%s/bench-mdf-%ld.mf4", folder, (long)getpid());
  double bytes = (double)rows * RECORD, plain = NAN, of_zlib[FILES] = {NAN, NAN, NAN};
  bool failed = false;
  printf("MDF 4: %.0f records of a time and %d channels, %.0f MB\n", (double)rows, CHANNELS, bytes / 1e6);
  for (int i = 0; i < FILES && !failed; i++) {
    double sum = write_file(path, rows, &file[i].how);
    struct stat size = {0};
    need some, all, zlib_need;
    failed = stat(path, &size) != 0 || !measure(&(work){.path = path}, &some) ||
             !measure(&(work){.path = path, .all_channels = true}, &all) ||
             (i > 0 && !measure(&(work){.path = path, .only_inflate = true}, &zlib_need));
    unlink(path);
    if (failed) break;
    if (some.rows != (double)rows || all.rows != (double)rows || some.sum != sum || all.sum != sum) {
      fprintf(stderr, "bench_mdf: %s: wrong values\n", file[i].name);
      failed = true;
    }
    printf(" %s, file of %.1f MB\n", file[i].name, (double)size.st_size / 1e6);
    snprintf(line, sizeof line, "%d of %d channels", CHOSEN, CHANNELS);
    print_line(line, &some, bytes);
    print_line("all channels", &all, bytes);
    if (i == 0) plain = bytes / some.seconds / 1e6;
    if (i > 0) print_line("zlib alone", &zlib_need, bytes);
    if (i > 0) of_zlib[i] = zlib_need.seconds / some.seconds;
  }
  need large = {.seconds = NAN, .bytes = NAN};
  if (!failed && sparse > 0) {
    uint64_t records = write_sparse(path, sparse * 1e9);
    if (records == 0) {
      printf(" a sparse file of %.3g GB is not possible in %s\n", sparse, folder);
    } else {
      failed = !measure(&(work){.path = path}, &large) || large.rows != (double)records || large.sum != 0;
      printf(" a sparse file of %.3g GB\n", sparse);
      snprintf(line, sizeof line, "%d of %d channels", CHOSEN, CHANNELS);
      print_line(line, &large, sparse * 1e9);
    }
    unlink(path);
  }
  bench_verdict("must", "MDF 4, uncompressed", plain, "MB/s ", 500, true);
  bench_verdict("must", "MDF 4, deflated: part of zlib's speed", of_zlib[1], "", 0.5, true);
  bench_verdict("must", "MDF 4, transposed: part of zlib's speed", of_zlib[2], "", 0.5, true);
  if (sparse == 10) {
    bench_verdict("must", "MDF 4, 10 GB: processor time", large.seconds, "s ", 20, false);
    bench_verdict("must", "MDF 4, 10 GB: memory", large.bytes / 1e6, "MB ", 200, false);
  }
  if (failed) fprintf(stderr, "bench_mdf: failed\n");
  return failed ? 1 : 0;
}
