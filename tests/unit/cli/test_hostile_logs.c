// Small logs of every format that describe very much data, and long logs without structure: each is an error within 2 s of processor
// time and 200 MB of memory. The oracles are the clock and the memory of the processes, and the texts of the errors.
#include "support/test.h"

#include <hdf5.h>
#include <stdint.h>
#include <sys/resource.h>
#include <zlib.h>

#include "support/mdf_writer.h"
#include "support/program.h"

#if defined(__SANITIZE_ADDRESS__)
#define IS_SANITIZED true
#elif defined(__has_feature)
#define IS_SANITIZED __has_feature(address_sanitizer)
#else
#define IS_SANITIZED false
#endif

enum { SECONDS = 2, MEGABYTES = 200, BLOCK = 1 << 16 };

// ---- Bytes

static void put_times(FILE *to, const char *text, long times) {
  for (long i = 0; i < times; i++) fputs(text, to);
}

static void put_number(FILE *to, uint64_t value, int bytes) {
  for (int i = 0; i < bytes; i++) fputc((int)(value >> 8 * i & 255), to);
}

// A compressed head, followed by many zeros. Returns the number of bytes in `to`, which the caller frees.
static uLong pack(const void *head, size_t size, long long zeros, unsigned char **to) {
  static unsigned char block[BLOCK];
  const size_t room = 4096 + size + (size_t)(zeros / 500);
  z_stream z = {0};
  *to = malloc(room);
  assert_int_equal(deflateInit(&z, Z_BEST_COMPRESSION), Z_OK);
  z.next_out = *to, z.avail_out = (unsigned)room;
  z.next_in = (unsigned char *)(uintptr_t)head, z.avail_in = (unsigned)size;
  assert_int_equal(deflate(&z, Z_NO_FLUSH), Z_OK);
  for (; zeros > 0; zeros -= BLOCK) {
    z.next_in = block, z.avail_in = zeros < BLOCK ? (unsigned)zeros : BLOCK;
    assert_int_equal(deflate(&z, Z_NO_FLUSH), Z_OK);
  }
  assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
  deflateEnd(&z);
  return z.total_out;
}

// ---- The program

// Surveys a log. The largest memory of all processes so far counts; a new process begins with the memory of this one.
static void refuse(scratch *s, const char *file, const char *options, const char *said) {
  struct rusage before, after;
  getrusage(RUSAGE_CHILDREN, &before);
  outcome o = run(s, "log %s %s", file, options);
  getrusage(RUSAGE_CHILDREN, &after);
  double seconds =
      (double)(after.ru_utime.tv_sec - before.ru_utime.tv_sec + after.ru_stime.tv_sec - before.ru_stime.tv_sec) +
      1e-6 *
          (double)(after.ru_utime.tv_usec - before.ru_utime.tv_usec + after.ru_stime.tv_usec - before.ru_stime.tv_usec);
  printf("%-16s %5.2f s, at most %ld MB so far\n", file, seconds, after.ru_maxrss / 1024);
  if (!IS_SANITIZED && seconds > SECONDS) fail_msg("%s: %g s", file, seconds);
  if (!IS_SANITIZED && after.ru_maxrss > MEGABYTES * 1024L) fail_msg("%s: %ld MB", file, after.ru_maxrss / 1024);
  ends_and_says(o, 2, said);
  remove(scratch_path(s, file));
}

static FILE *begin(scratch *s, const char *file, const char *text) {
  FILE *to = fopen(scratch_path(s, file), "w");
  assert_non_null(to);
  fputs(text, to);
  return to;
}

// ---- Text

static const char bus[] = "BO_ 256 M: 8 X\n SG_ s : 0|8@1+ (1,0) [0|0] \"\" X\n";

static void test_text(void **state) {
  static const struct {
    const char *file, *start, *repeated, *said;
    long times;
  } tries[] = {
      {"line.csv", "t,u\n0,1\n", "1111111111", "line.csv:3: the line is longer than 64 MB", 10000000},
      {"cells.csv", "", ",,,,,,,,,,", "cells.csv:1: the line has more than 100000 cells", 1000000},
      {"empty.csv", "", "\n\n\n\n\n\n\n\n\n\n", "empty.csv is empty", 5000000},
      {"quote.csv", "t,u\n0,\"", "a\n", "quote.csv:2: the line is longer than 64 MB", 40000000},
      {"line.log", "(1436509052.000000) can0 100#00\n", "((((((((((", "line.log:2: the line is longer than 1 MB",
       5000000},
      {"back.log", "(1436509052.000000) can0 100#00\n", "(1.000000) can0 100#00\n",
       "expected a time of the same kind as in the lines before", 100000},
      {"line.asc", "date Sat Sep 30 15:06:13.191 2017\nbase hex  timestamps absolute\n", "9999999999",
       "line.asc:3: the line is longer than 1 MB", 5000000},
  };
  scratch *s = *state;
  scratch_put(s, "bus.dbc", bus);
  for (size_t i = 0; i < sizeof tries / sizeof *tries; i++) {
    FILE *f = begin(s, tries[i].file, tries[i].start);
    put_times(f, tries[i].repeated, tries[i].times);
    fclose(f);
    refuse(s, tries[i].file, strstr(tries[i].file, ".csv") ? "" : "--dbc bus.dbc", tries[i].said);
  }
}

static void test_database(void **state) {
  scratch *s = *state;
  scratch_put(s, "bus.log", "(1436509052.000000) can0 100#00\n(1436509053.000000) can0 100#00\n");
  FILE *f = begin(s, "many.dbc", "BO_ 256 M: 8 X\n");
  for (int i = 0; i < 500000; i++) fprintf(f, " SG_ s%d : 0|8@1+ (1,0) [0|0] \"\" X\n", i);
  fclose(f);
  refuse(s, "bus.log", "--dbc many.dbc", "many.dbc");
  scratch_put(s, "bus.log", "(1436509052.000000) can0 100#00\n(1436509053.000000) can0 100#00\n");
  f = begin(s, "text.dbc", bus);
  fputs("CM_ SG_ 256 s \"", f);
  put_times(f, "aaaaaaaaaa", 5000000);
  fclose(f);
  refuse(s, "bus.log", "--dbc text.dbc", "text.dbc: the file is too large; expected at most 32 MB");
}

// ---- Compressed formats

static void put_container(FILE *f, const unsigned char *data, uLong size, unsigned claimed) {
  fputs("LOBJ", f);
  put_number(f, 16, 2), put_number(f, 1, 2), put_number(f, 32 + size, 4), put_number(f, 10, 4), put_number(f, 2, 8);
  put_number(f, claimed, 8);
  fwrite(data, 1, size, f);
  put_number(f, 0, (int)(size % 4));
}

static void test_blf(void **state) {
  scratch *s = *state;
  scratch_put(s, "bus.dbc", bus);
  unsigned char object[16] = "LOBJ\x10\0\1\0\x10\0\0\0\x63", *data;
  unsigned char large[16] = "LOBJ\x20\0\1\0\xff\xff\xff\xff\1";
  for (int kind = 0; kind < 3; kind++) {
    const long long zeros = kind == 1 ? 1000 : 500000000;
    uLong size = pack(kind == 2 ? large : object, 16, zeros, &data);
    FILE *f = begin(s, "bomb.blf", "LOGG");
    put_number(f, 144, 4);
    for (int i = 8; i < 144; i++) fputc(0, f);
    put_container(f, data, size, kind == 1 ? 0xffffffffu : (unsigned)zeros + 16);
    fclose(f);
    free(data);
    refuse(s, "bomb.blf", "--dbc bus.dbc", "bomb.blf: ");
  }
}

// A matrix of level 5. class: 6 doubles, 9 bytes. `type` of its numbers in the file: 2 bytes, 9 doubles.
static void put_matrix(FILE *f, int class, unsigned rows, int type, long long bytes, long long present) {
  unsigned char head[64] = {0}, *data;
  const uint32_t words[] = {14,
                            (uint32_t)(48 + bytes),
                            6,
                            8,
                            (uint32_t) class,
                            0,
                            5,
                            8,
                            rows,
                            1,
                            1 | 1 << 16,
                            'x',
                            (uint32_t)type,
                            (uint32_t)bytes};
  memcpy(head, words, sizeof words);
  uLong size = pack(head, sizeof words, present, &data);
  put_number(f, 15, 4), put_number(f, size, 4);
  fwrite(data, 1, size, f);
  free(data);
}

static void test_matlab(void **state) {
  static const struct {
    int class;
    unsigned rows;
    int type;
    long long bytes, present;
    const char *said;
  } tries[] = {
      {6, 200000000, 2, 200000000, 200000000, "MB of numbers, which are almost all constant"},
      // Sanitized programs may use more memory.
      {6, 50000000, 2, 50000000, 50000000, IS_SANITIZED ? "there is no time column" : "ran out of memory"},
      {9, 50000000, 2, 50000000, 50000000,
       IS_SANITIZED ? "there is no time column" : "1 column of 50000000 rows needs 400 MB of memory"},
      {6, 8000000, 9, 64000000, 64000000, "there is no time column"},
      {6, 200000000, 9, 1600000000, 1600000000, "MB of numbers, which are almost all constant"},
      {6, 2000000000, 9, 0, 0, "cannot read bomb.mat as a MATLAB file"},
  };
  scratch *s = *state;
  char head[117];
  snprintf(head, sizeof head, "%-116s", "MATLAB 5.0 MAT-file");
  for (size_t i = 0; i < sizeof tries / sizeof *tries; i++) {
    FILE *f = begin(s, "bomb.mat", head);
    put_number(f, 0, 8), put_number(f, 0x0100, 2), fputs("IM", f);
    put_matrix(f, tries[i].class, tries[i].rows, tries[i].type, tries[i].bytes, tries[i].present);
    fclose(f);
    refuse(s, "bomb.mat", "", tries[i].said);
  }
}

// Chunks of zeros: too many, and as many bytes as every file may have.
static void test_hdf5(void **state) {
  scratch *s = *state;
  static const hsize_t length[] = {100000000, 40000000, 50000000}, chunk[] = {1000000, 1000000, 1000000};
  for (int i = 0; i < 3; i++) {
    hid_t file = H5Fcreate(scratch_path(s, "bomb.h5"), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    hid_t space = H5Screate_simple(1, &length[i], NULL), how = H5Pcreate(H5P_DATASET_CREATE);
    H5Pset_chunk(how, 1, &chunk[i]), H5Pset_shuffle(how), H5Pset_deflate(how, 9);
    H5Pset_fill_time(how, H5D_FILL_TIME_ALLOC), H5Pset_alloc_time(how, H5D_ALLOC_TIME_EARLY);
    hid_t set =
        H5Dcreate2(file, "x", i == 2 ? H5T_NATIVE_CHAR : H5T_NATIVE_DOUBLE, space, H5P_DEFAULT, how, H5P_DEFAULT);
    assert_true(set >= 0);
    H5Dclose(set), H5Pclose(how), H5Sclose(space), H5Fclose(file);
    refuse(s, "bomb.h5", i == 2 ? "" : "--interval 1ms",
           i == 2 ? "there is no time column" : "cannot read bomb.h5 as an HDF5 file");
  }
}

// A data block with far more zeros than it has bytes, or that claims so.
static void test_mdf(void **state) {
  scratch *s = *state;
  for (int is_claim = 0; is_claim < 2; is_claim++) {
    const uint64_t records = 100000000;
    unsigned char *data, head[24] = "DT";
    uLong size = pack("", 0, is_claim ? 1000 : (long long)records * 8, &data);
    mdf_bytes body = {0};
    mdf_put(head + 8, records * 8, 8, false), mdf_put(head + 16, size, 8, false);
    mdf_append(&body, head, sizeof head), mdf_append(&body, data, size);
    mdf_file *f = mdf_begin(NULL);
    uint64_t t = mdf_channel(
        f, &(mdf_cn){
               .name = "t", .unit = "s", .type = MDF_MASTER, .sync = MDF_TIME, .data_type = MDF_FLOAT_LE, .bits = 32});
    uint64_t x = mdf_channel(f, &(mdf_cn){.name = "x", .data_type = MDF_FLOAT_LE, .byte = 4, .bits = 32});
    uint64_t cg = mdf_group(f, &(mdf_cg){.channels = (uint64_t[]){t, x, 0}, .records = records, .data_bytes = 8});
    uint64_t block = mdf_block(f, "DZ", NULL, 0, body.at, body.size);
    mdf_end(f, (uint64_t[]){mdf_data_group(f, (uint64_t[]){cg, 0}, block, 0), 0});
    mdf_save(f, scratch_path(s, "bomb.mf4"));
    mdf_free(f), mdf_bytes_free(&body), free(data);
    refuse(s, "bomb.mf4", "", "bomb.mf4: ");
  }
}

int main(void) {
#define TEST(f) cmocka_unit_test_setup_teardown(f, scratch_setup, scratch_teardown)
  const struct CMUnitTest tests[] = {TEST(test_text),   TEST(test_database), TEST(test_blf),
                                     TEST(test_matlab), TEST(test_hdf5),     TEST(test_mdf)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
