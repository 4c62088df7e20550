// MDF 4 files of several megabytes, so that records, texts and deflated blocks extend over every boundary of a reader's memory. Oracle: the
// numbers that the test wrote, compared to the bit. The test writes the files with mdf_writer.c, which shares no code with the reader.
#include "support/test.h"
#include "formats/row_reader.h"
#include "support/mdf_reading.h"

enum { WIDTH = 13, TEXT_WIDTH = 16 };

// The value of record k of a group: an integer of 24 bits.
static uint32_t value(int group, long k) {
  return (uint32_t)(k * 2654435761u + (unsigned)group * 977u) & 0xffffff;
}
static double time_of(int group, long k) {
  return group == 0 ? 1e-3 * (double)k : 0.0005 + 7e-3 * (double)k;
}

static void put_record(mdf_bytes *data, int group, long k) {
  unsigned char *at = mdf_more(data, WIDTH);
  mdf_put_double(at, time_of(group, k));
  mdf_put(at + 8, value(group, k), 3, group == 1);
  at[11] = (unsigned char)k;
  at[12] = 0xff;
}

static uint64_t group_block(mdf_file *f, int group, uint64_t id, long records) {
  const uint64_t channels[] = {
      mdf_time_channel(f),
      mdf_channel(
          f,
          &(mdf_cn){.name = group ? "b" : "a", .data_type = group ? MDF_UINT_BE : MDF_UINT_LE, .byte = 8, .bits = 24}),
      0};
  return mdf_group(f,
                   &(mdf_cg){.channels = channels, .record_id = id, .records = (uint64_t)records, .data_bytes = WIDTH});
}

// Reads all rows twice: the rows of both groups in the order of time.
static void expect_rows(const char *path, const long *records) {
  od_error err = {0};
  od_row_reader *r = NULL;
  bool wanted[3] = {true, true, true};
  if (od_row_reader_open(path, NULL, &r, &err) != OD_OK) fail_msg("%s", err.text);
  int columns = od_row_reader_head(r)->columns;
  assert_int_equal(columns, records[1] ? 3 : 2);
  od_row_reader_want(r, wanted);
  for (int pass = 0; pass < 2; pass++) {
    long k[2] = {0};
    while (k[0] < records[0] || k[1] < records[1]) {
      int next = k[1] == records[1] || (k[0] < records[0] && time_of(0, k[0]) <= time_of(1, k[1])) ? 0 : 1;
      double row[3] = {0};
      bool end = true;
      if (od_row_reader_next(r, row, &end, &err) != OD_OK) fail_msg("%s", err.text);
      assert_false(end);
      if (row[0] != time_of(next, k[next]) || row[1 + next] != value(next, k[next]))
        fail_msg("record %ld of group %d: got %.17g at %.17g s, expected %u at %.17g s", k[next], next, row[1 + next],
                 row[0], value(next, k[next]), time_of(next, k[next]));
      if (columns == 3) assert_true(isnan(row[2 - next]));
      k[next]++;
    }
    double row[3];
    bool end = false;
    if (od_row_reader_next(r, row, &end, &err) != OD_OK) fail_msg("%s", err.text);
    assert_true(end);
    od_row_reader_rewind(r);
  }
  od_row_reader_close(r);
}

static const mdf_storage storage[] = {
    {0},
    {.list = MDF_LIST_EQUAL, .piece = 777777},
    {.list = MDF_LIST_OFFSETS, .piece = 4099, .per_list = 100},
    {.zip = MDF_DEFLATE},
    {.list = MDF_LIST_EQUAL, .piece = 1 << 20, .zip = MDF_TRANSPOSED, .columns = WIDTH, .has_header = true},
    {.list = MDF_LIST_OFFSETS, .piece = 333331, .zip = MDF_MIXED, .columns = WIDTH, .per_list = 7, .has_header = true},
};
enum { STORAGES = sizeof storage / sizeof *storage };

// One group after the other in its own data group.
static void sorted(void **state) {
  const long records[2] = {400000, 60000};
  for (int i = 0; i < STORAGES; i++) {
    uint64_t dg[3] = {0};
    mdf_file *f = mdf_begin(NULL);
    for (int g = 0; g < 2; g++) {
      mdf_bytes data = {0};
      for (long k = 0; k < records[g]; k++) put_record(&data, g, k);
      uint64_t block = mdf_data(f, "DT", data.at, data.size, storage + i);
      dg[g] = mdf_data_group(f, (uint64_t[]){group_block(f, g, 0, records[g]), 0}, block, 0);
      mdf_bytes_free(&data);
    }
    expect_rows(mdf_finish(*state, f, dg), records);
  }
}

// Both groups in one data block: alternating in the order of time, and all records of one group before those of the other.
static void unsorted(void **state) {
  const long records[2] = {300000, 40000};
  for (int i = 0; i < STORAGES; i++)
    for (int order = 0; order < 3; order++) {
      mdf_bytes data = {0};
      long k[2] = {0};
      while (k[0] < records[0] || k[1] < records[1]) {
        int next = order == 0
                       ? k[1] == records[1] || (k[0] < records[0] && time_of(0, k[0]) <= time_of(1, k[1])) ? 0 : 1
                   : order == 1 ? k[0] == records[0]
                                : k[1] < records[1];
        mdf_put(mdf_more(&data, 2), next ? 777 : 3, 2, false);
        put_record(&data, next, k[next]++);
      }
      mdf_file *f = mdf_begin(NULL);
      uint64_t block = mdf_data(f, "DT", data.at, data.size, storage + i);
      const uint64_t groups[] = {group_block(f, 0, 3, records[0]), group_block(f, 1, 777, records[1]), 0};
      uint64_t dg = mdf_data_group(f, groups, block, 2);
      expect_rows(mdf_finish(*state, f, (uint64_t[]){dg, 0}), records);
      mdf_bytes_free(&data);
    }
}

// Texts of up to 3000 bytes, in SD blocks and between the records. Their first letters select the number of a conversion; texts with
// other letters behind them have the default.
static void texts(void **state) {
  enum { N = 4000, MOST = 3000 };
  double times[N], want[N];
  char *text = malloc(MOST + 1);
  for (int i = 0; i < STORAGES; i++)
    for (int is_group = 0; is_group < 2; is_group++) {
      uint64_t random = 21, offset = 0;
      mdf_bytes data = {0}, sd = {0};
      for (long k = 0; k < N; k++) {
        size_t length = mdf_random(&random) % MOST;
        bool is_known = mdf_random(&random) % 2;
        memset(text, 'x', MOST);
        if (is_known) length = 5, memcpy(text, k % 2 ? "open!" : "close", 5);
        if (is_group) {
          *mdf_more(&data, 1) = 9;
          mdf_put_variable(&data, text, length);
          *mdf_more(&data, 1) = 1;
        } else {
          mdf_put_variable(&sd, text, length);
        }
        unsigned char *at = mdf_more(&data, TEXT_WIDTH);
        mdf_put_double(at, times[k] = time_of(0, k));
        mdf_put(at + 8, offset, 8, false);
        offset += 4 + length;
        want[k] = is_known ? (k % 2 ? 2.5 : -4) : 100;
      }
      mdf_file *f = mdf_begin(NULL);
      const uint64_t refs[] = {mdf_text(f, "open!"), mdf_text(f, "close")};
      uint64_t c = mdf_conversion(f, &(mdf_cc){.type = MDF_CC_TEXT_VALUES,
                                               .values = (double[]){2.5, -4, 100},
                                               .value_count = 3,
                                               .refs = refs,
                                               .ref_count = 2});
      uint64_t source = is_group ? mdf_group(f, &(mdf_cg){.record_id = 9,
                                                          .records = N,
                                                          .flags = MDF_CG_VLSD,
                                                          .data_bytes = (unsigned)(offset - 4 * N)})
                                 : mdf_data(f, "SD", sd.at, sd.size, storage + i);
      const uint64_t channels[] = {mdf_time_channel(f),
                                   mdf_channel(f, &(mdf_cn){.name = "y",
                                                            .type = MDF_VLSD,
                                                            .data_type = MDF_UTF8,
                                                            .byte = 8,
                                                            .bits = 64,
                                                            .conversion = c,
                                                            .data = source}),
                                   0};
      uint64_t group =
          mdf_group(f, &(mdf_cg){.channels = channels, .record_id = 1, .records = N, .data_bytes = TEXT_WIDTH});
      uint64_t block = mdf_data(f, "DT", data.at, data.size, is_group ? storage + i : NULL);
      uint64_t dg = mdf_data_group(f, (uint64_t[]){group, is_group ? source : 0, 0}, block, is_group);
      od_table *t = mdf_read(mdf_finish(*state, f, (uint64_t[]){dg, 0}));
      mdf_expect(t, "time", times, N);
      mdf_expect(t, "y", want, N);
      od_table_free(t);
      mdf_bytes_free(&data);
      mdf_bytes_free(&sd);
    }
  free(text);
}

// More channels than the bits of any machine word, each with the invalidation bit of its own number.
static void many_channels(void **state) {
  enum { CHANNELS = 3000, ROWS = 300, INVALID = CHANNELS / 8, SIZE = 8 + 2 * CHANNELS + INVALID };
  uint64_t random = 31;
  uint64_t *chain = calloc(CHANNELS + 2, sizeof *chain);
  double *want = calloc((size_t)CHANNELS * ROWS, sizeof *want);
  char name[20];
  mdf_bytes data = {0};
  mdf_file *f = mdf_begin(NULL);
  chain[0] = mdf_time_channel(f);
  for (int c = 0; c < CHANNELS; c++) {
    snprintf(name, sizeof name, "c%d", c);
    chain[1 + c] = mdf_channel(f, &(mdf_cn){.name = name,
                                            .data_type = MDF_INT_LE,
                                            .byte = 8 + 2 * c,
                                            .bits = 16,
                                            .flags = MDF_HAS_INVALID_BIT,
                                            .invalid_bit = (unsigned)c});
  }
  for (int k = 0; k < ROWS; k++) {
    unsigned char *at = mdf_more(&data, SIZE);
    mdf_put_double(at, k);
    for (int c = 0; c < CHANNELS; c++) {
      uint64_t r = mdf_random(&random);
      bool is_invalid = r >> 60 == 0;
      int v = (int)(r & 0xffff) - 32768;
      mdf_put(at + 8 + 2 * c, (uint64_t)(int64_t)v, 2, false);
      if (is_invalid) at[SIZE - INVALID + c / 8] |= (unsigned char)(1u << c % 8);
      want[c * ROWS + k] = is_invalid ? NAN : (double)v;
    }
  }
  uint64_t group = mdf_group(
      f, &(mdf_cg){.channels = chain, .records = ROWS, .data_bytes = SIZE - INVALID, .invalid_bytes = INVALID});
  uint64_t dg =
      mdf_data_group(f, (uint64_t[]){group, 0},
                     mdf_data(f, "DT", data.at, data.size, &(mdf_storage){.list = MDF_LIST_EQUAL, .piece = 99999}), 0);
  od_table *t = mdf_read(mdf_finish(*state, f, (uint64_t[]){dg, 0}));
  for (int c = 0; c < CHANNELS; c++) {
    snprintf(name, sizeof name, "c%d", c);
    mdf_expect(t, name, want + (size_t)c * ROWS, ROWS);
  }
  od_table_free(t);
  mdf_bytes_free(&data);
  free(chain);
  free(want);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(sorted, scratch_setup, scratch_teardown),
      cmocka_unit_test_setup_teardown(unsorted, scratch_setup, scratch_teardown),
      cmocka_unit_test_setup_teardown(texts, scratch_setup, scratch_teardown),
      cmocka_unit_test_setup_teardown(many_channels, scratch_setup, scratch_teardown),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
