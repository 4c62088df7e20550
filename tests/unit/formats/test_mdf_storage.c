// Where MDF 4 files store records: data blocks, lists, deflated and transposed blocks, several groups in one data block, values of variable
// length, storage by columns, files that were not finished. Oracle: the numbers that the test wrote, compared to the bit. The test writes
// the files with mdf_writer.c, which shares no code with the reader.
#include "support/test.h"
#include "support/mdf_reading.h"

enum { SAMPLES = 1000, SIZE = 8 + 2 + 4 + 4 };

// A recording of three channels: times, a linear integer of 16 bits, an integer of 32 bits (big-endian) and a float of 32 bits.
typedef struct recording {
  double time[SAMPLES], u[SAMPLES], v[SAMPLES], w[SAMPLES];
  mdf_bytes records;
} recording;

static recording *record(uint64_t seed, double start, double step) {
  recording *r = calloc(1, sizeof *r);
  for (int k = 0; k < SAMPLES; k++) {
    unsigned char *at = mdf_more(&r->records, SIZE);
    uint16_t u = (uint16_t)mdf_random(&seed);
    int32_t v = (int32_t)(k * 1000003 % 99991) - 50000;
    float w = (float)k / 7;
    uint32_t bits;
    memcpy(&bits, &w, sizeof w);
    r->time[k] = start + step * k;
    r->u[k] = -3 + 0.25 * u;
    r->v[k] = v;
    r->w[k] = w;
    mdf_put_double(at, r->time[k]);
    mdf_put(at + 8, u, 2, false);
    mdf_put(at + 10, (uint64_t)(int64_t)v, 4, true);
    mdf_put(at + 14, bits, 4, false);
  }
  return r;
}

static void discard(recording *r) {
  mdf_bytes_free(&r->records);
  free(r);
}

// The group of a recording. prefix: the first letters of the names of its channels.
static uint64_t recorded_group(mdf_file *f, const char *prefix, uint64_t record_id, uint64_t records) {
  char u[20], v[20], w[20];
  snprintf(u, sizeof u, "%su", prefix);
  snprintf(v, sizeof v, "%sv", prefix);
  snprintf(w, sizeof w, "%sw", prefix);
  const uint64_t channels[] = {mdf_time_channel(f),
                               mdf_channel(f, &(mdf_cn){.name = u,
                                                        .unit = "V",
                                                        .data_type = MDF_UINT_LE,
                                                        .byte = 8,
                                                        .bits = 16,
                                                        .conversion = mdf_linear(f, -3, 0.25)}),
                               mdf_channel(f, &(mdf_cn){.name = v, .data_type = MDF_INT_BE, .byte = 10, .bits = 32}),
                               mdf_channel(f, &(mdf_cn){.name = w, .data_type = MDF_FLOAT_LE, .byte = 14, .bits = 32}),
                               0};
  return mdf_group(
      f,
      &(mdf_cg){.name = prefix, .channels = channels, .record_id = record_id, .records = records, .data_bytes = SIZE});
}

static void expect_recording(const od_table *t, const recording *r, const char *prefix, long rows) {
  char name[20];
  snprintf(name, sizeof name, "%su", prefix);
  mdf_expect_series(t, name, r->time, r->u, rows);
  snprintf(name, sizeof name, "%sv", prefix);
  mdf_expect_series(t, name, r->time, r->v, rows);
  snprintf(name, sizeof name, "%sw", prefix);
  mdf_expect_series(t, name, r->time, r->w, rows);
}

static void expect_one(const char *path, const recording *r, long rows) {
  od_table *t = mdf_read(path);
  mdf_expect(t, "time", r->time, rows);
  mdf_expect(t, "u", r->u, rows);
  mdf_expect(t, "v", r->v, rows);
  mdf_expect(t, "w", r->w, rows);
  mdf_expect_unit(t, "u", "V");
  od_table_free(t);
}

// Records in one block and in lists. Records may be split between blocks.
static void sorted(void **state) {
  static const mdf_storage storage[] = {
      {0},
      {.list = MDF_LIST_EQUAL},
      {.list = MDF_LIST_EQUAL, .piece = 50 * SIZE},
      {.list = MDF_LIST_EQUAL, .piece = 101},
      {.list = MDF_LIST_EQUAL, .piece = 7, .per_list = 100},
      {.list = MDF_LIST_OFFSETS, .piece = 333, .per_list = 1},
      {.list = MDF_LIST_OFFSETS, .piece = 64 * SIZE, .per_list = 3, .has_times = true},
      {.list = MDF_LIST_OFFSETS, .piece = 1000, .has_empty = true},
      {.zip = MDF_DEFLATE},
      {.zip = MDF_TRANSPOSED, .columns = SIZE},
      {.zip = MDF_TRANSPOSED, .columns = 7},
      {.zip = MDF_TRANSPOSED, .columns = SIZE * SAMPLES},
      {.zip = MDF_TRANSPOSED, .columns = 2 * SIZE * SAMPLES},
      {.zip = MDF_TRANSPOSED, .columns = 1},
      {.list = MDF_LIST_EQUAL, .piece = 100 * SIZE, .zip = MDF_DEFLATE, .has_header = true},
      {.list = MDF_LIST_EQUAL, .piece = 100 * SIZE, .zip = MDF_TRANSPOSED, .columns = SIZE, .has_header = true},
      {.list = MDF_LIST_OFFSETS,
       .piece = 997,
       .zip = MDF_TRANSPOSED,
       .columns = SIZE,
       .per_list = 4,
       .has_header = true},
      {.list = MDF_LIST_OFFSETS, .piece = 997, .zip = MDF_MIXED, .columns = SIZE, .per_list = 5, .has_header = true},
      {.list = MDF_LIST_EQUAL, .piece = 3, .zip = MDF_MIXED, .columns = 2, .has_header = true, .per_list = 1000},
      {.has_header = true, .zip = MDF_DEFLATE},
  };
  recording *r = record(1, 0.125, 0.001);
  for (size_t i = 0; i < sizeof storage / sizeof *storage; i++) {
    size_t samples = storage[i].piece == 3 ? 100 : SAMPLES;
    mdf_file *f = mdf_begin(NULL);
    uint64_t group = recorded_group(f, "", 0, samples);
    uint64_t dg =
        mdf_data_group(f, (uint64_t[]){group, 0}, mdf_data(f, "DT", r->records.at, samples * SIZE, storage + i), 0);
    expect_one(mdf_finish(*state, f, (uint64_t[]){dg, 0}), r, (long)samples);
  }
  discard(r);
}

// A data group can be before or behind its data. Data groups without data, and groups without records, have no rows.
static void empty_groups(void **state) {
  recording *r = record(1, 0, 0.01);
  for (int with_list = 0; with_list < 2; with_list++) {
    mdf_file *f = mdf_begin(NULL);
    uint64_t nothing = mdf_data_group(f, (uint64_t[]){recorded_group(f, "a", 0, 0), 0}, 0, 0);
    uint64_t empty = mdf_data(f, "DT", NULL, 0, with_list ? &(mdf_storage){.list = MDF_LIST_OFFSETS} : NULL);
    uint64_t no_records = mdf_data_group(f, (uint64_t[]){recorded_group(f, "b", 0, 0), 0}, empty, 0);
    uint64_t no_groups = mdf_data_group(f, NULL, 0, 0);
    uint64_t dg = mdf_data_group(f, (uint64_t[]){recorded_group(f, "c", 0, 20), 0}, 0, 0);
    uint64_t data = mdf_data(f, "DT", r->records.at, 20 * SIZE, NULL);
    mdf_set_link(f, dg, 2, data);
    od_table *t = mdf_read(mdf_finish(*state, f, (uint64_t[]){nothing, no_records, no_groups, dg, 0}));
    assert_int_equal(t->rows, 20);
    expect_recording(t, r, "c", 20);
    od_table_free(t);
  }
  discard(r);
}

// Three groups in one data block, in random order of their records, with record identifiers of 1, 2, 4 and 8 bytes.
static void unsorted(void **state) {
  enum { GROUPS = 3 };
  static const int id_size[] = {1, 2, 4, 8};
  static const mdf_storage storage[] = {
      {0},
      {.list = MDF_LIST_EQUAL, .piece = 100},
      {.list = MDF_LIST_OFFSETS, .piece = 1111, .zip = MDF_MIXED, .columns = 20, .has_header = true},
      {.zip = MDF_DEFLATE},
  };
  static const char *const prefix[GROUPS] = {"a", "b", "c"};
  recording *r[GROUPS] = {record(1, 0, 0.01), record(2, 0.003, 0.0125), record(3, 2, 0.001)};
  for (int size = 0; size < 4; size++)
    for (size_t i = 0; i < sizeof storage / sizeof *storage; i++) {
      const uint64_t most = id_size[size] == 8 ? UINT64_MAX : (UINT64_C(1) << 8 * id_size[size]) - 1;
      const uint64_t id[GROUPS] = {1, most, most / 2 + 1};
      uint64_t random = 9, groups[GROUPS + 1] = {0};
      int used[GROUPS] = {0};
      mdf_bytes data = {0};
      for (int left = GROUPS * SAMPLES; left > 0;) {
        int g = (int)(mdf_random(&random) % GROUPS);
        if (used[g] == SAMPLES) continue;
        mdf_put(mdf_more(&data, (size_t)id_size[size]), id[g], id_size[size], false);
        mdf_append(&data, r[g]->records.at + used[g]++ * SIZE, SIZE);
        left--;
      }
      mdf_file *f = mdf_begin(NULL);
      for (int g = 0; g < GROUPS; g++) groups[g] = recorded_group(f, prefix[g], id[g], SAMPLES);
      uint64_t dg = mdf_data_group(f, groups, mdf_data(f, "DT", data.at, data.size, storage + i), id_size[size]);
      od_table *t = mdf_read(mdf_finish(*state, f, (uint64_t[]){dg, 0}));
      for (int g = 0; g < GROUPS; g++) expect_recording(t, r[g], prefix[g], SAMPLES);
      for (long k = 1; k < t->rows; k++) assert_true(t->data[k * t->columns] >= t->data[(k - 1) * t->columns]);
      od_table_free(t);
      mdf_bytes_free(&data);
    }
  for (int g = 0; g < GROUPS; g++) discard(r[g]);
}

// ---- Values of variable length

static const char *const gears[] = {"neutral", "", "first", "a gear with a long name, longer than a block of the list"};
static const double gear_values[] = {0, -1, 1, 77, 5};

static uint64_t gear_conversion(mdf_file *f) {
  const uint64_t refs[] = {mdf_text(f, gears[0]), mdf_text(f, gears[1]), mdf_text(f, gears[2]), mdf_text(f, gears[3])};
  return mdf_conversion(
      f, &(mdf_cc){.type = MDF_CC_TEXT_VALUES, .values = gear_values, .value_count = 5, .refs = refs, .ref_count = 4});
}

// Texts in SD blocks and lists of them. Offsets of equal texts may be equal. The numbers of the texts come from a conversion.
static void texts_in_blocks(void **state) {
  enum { N = 200, WIDTH = 17 };
  static const mdf_storage storage[] = {
      {0},
      {.list = MDF_LIST_EQUAL, .piece = 40},
      {.list = MDF_LIST_OFFSETS, .piece = 333, .per_list = 2},
      {.zip = MDF_DEFLATE},
      {.list = MDF_LIST_OFFSETS, .piece = 333, .zip = MDF_MIXED, .columns = 5, .has_header = true},
  };
  for (size_t i = 0; i < sizeof storage / sizeof *storage; i++)
    for (int with_zero = 0; with_zero < 2; with_zero++) {
      double time[N], gear[N], y[N];
      uint64_t random = 5, first_offset[4] = {0};
      bool is_used[4] = {false};
      mdf_bytes texts = {0}, data = {0};
      for (int k = 0; k < N; k++) {
        unsigned char *at = mdf_more(&data, WIDTH);
        int which = (int)(mdf_random(&random) % 4);
        bool again = is_used[which] && k % 3 == 0;
        size_t length = strlen(gears[which]) + (with_zero ? 1 : 0);
        uint64_t offset = again ? first_offset[which] : mdf_put_variable(&texts, gears[which], length);
        if (!is_used[which]) first_offset[which] = offset;
        is_used[which] = true;
        mdf_put_double(at, time[k] = k * 0.5);
        mdf_put(at + 8, offset, 8, false);
        at[16] = (unsigned char)k;
        gear[k] = gear_values[which];
        y[k] = k;
      }
      mdf_file *f = mdf_begin(NULL);
      uint64_t sd = mdf_data(f, "SD", texts.at, texts.size, storage + i);
      const uint64_t channels[] = {
          mdf_time_channel(f),
          mdf_channel(f, &(mdf_cn){.name = "gear",
                                   .type = MDF_VLSD,
                                   .data_type = MDF_UTF8,
                                   .byte = 8,
                                   .bits = 64,
                                   .conversion = gear_conversion(f),
                                   .data = sd}),
          mdf_channel(
              f,
              &(mdf_cn){.name = "remark", .type = MDF_VLSD, .data_type = MDF_UTF8, .byte = 8, .bits = 64, .data = sd}),
          mdf_channel(f, &(mdf_cn){.name = "y", .byte = 16, .bits = 8}), 0};
      uint64_t group = mdf_group(f, &(mdf_cg){.channels = channels, .records = N, .data_bytes = WIDTH});
      uint64_t dg = mdf_data_group(f, (uint64_t[]){group, 0}, mdf_data(f, "DT", data.at, data.size, NULL), 0);
      od_table *t = mdf_read(mdf_finish(*state, f, (uint64_t[]){dg, 0}));
      mdf_expect(t, "time", time, N);
      mdf_expect(t, "gear", gear, N);
      mdf_expect(t, "y", y, N);
      mdf_expect_missing(t, "remark");
      od_table_free(t);
      mdf_bytes_free(&texts);
      mdf_bytes_free(&data);
    }
}

// Texts in records of their own (a VLSD group) within the data block of their channel's group. The channel's records have the offsets
// that the texts would have in an SD block.
static void texts_in_group(void **state) {
  enum { N = 200, WIDTH = 17, ID = 3, TEXT_ID = 200 };
  static const mdf_storage storage[] = {
      {0},
      {.list = MDF_LIST_EQUAL, .piece = 40},
      {.list = MDF_LIST_OFFSETS, .piece = 500, .zip = MDF_MIXED, .columns = 26, .has_header = true},
  };
  for (size_t i = 0; i < sizeof storage / sizeof *storage; i++)
    for (int text_first = 0; text_first < 2; text_first++) {
      double time[N], gear[N], y[N];
      uint64_t random = 6, offset = 0, bytes = 0;
      mdf_bytes data = {0};
      for (int k = 0; k < N; k++) {
        int which = (int)(mdf_random(&random) % 4);
        uint32_t length = (uint32_t)strlen(gears[which]);
        for (int part = 0; part < 2; part++) {
          if (part == !text_first) {
            *mdf_more(&data, 1) = TEXT_ID;
            mdf_put_variable(&data, gears[which], length);
          } else {
            unsigned char *at = mdf_more(&data, 1 + WIDTH);
            at[0] = ID;
            mdf_put_double(at + 1, time[k] = k * 0.5);
            mdf_put(at + 9, offset, 8, false);
            at[17] = (unsigned char)k;
          }
        }
        offset += 4 + length;
        bytes += length;
        gear[k] = gear_values[which];
        y[k] = k;
      }
      mdf_file *f = mdf_begin(NULL);
      uint64_t texts = mdf_group(
          f, &(mdf_cg){.record_id = TEXT_ID, .records = N, .flags = MDF_CG_VLSD, .data_bytes = (unsigned)bytes});
      const uint64_t channels[] = {mdf_time_channel(f),
                                   mdf_channel(f, &(mdf_cn){.name = "gear",
                                                            .type = MDF_VLSD,
                                                            .data_type = MDF_UTF8,
                                                            .byte = 8,
                                                            .bits = 64,
                                                            .conversion = gear_conversion(f),
                                                            .data = texts}),
                                   mdf_channel(f, &(mdf_cn){.name = "y", .byte = 16, .bits = 8}), 0};
      uint64_t group =
          mdf_group(f, &(mdf_cg){.channels = channels, .record_id = ID, .records = N, .data_bytes = WIDTH});
      uint64_t dg =
          mdf_data_group(f, (uint64_t[]){group, texts, 0}, mdf_data(f, "DT", data.at, data.size, storage + i), 1);
      od_table *t = mdf_read(mdf_finish(*state, f, (uint64_t[]){dg, 0}));
      mdf_expect(t, "time", time, N);
      mdf_expect(t, "gear", gear, N);
      mdf_expect(t, "y", y, N);
      od_table_free(t);
      mdf_bytes_free(&data);
    }
}

// A text of variable length within a record of constant length (MLSD): another channel gives the number of its bytes.
static void texts_with_length(void **state) {
  enum { N = 50, MOST = 60, WIDTH = 8 + 2 + MOST };
  double time[N], gear[N], length[N];
  uint64_t random = 7;
  mdf_bytes data = {0};
  mdf_file *f = mdf_begin(NULL);
  uint64_t size = mdf_channel(f, &(mdf_cn){.name = "length", .data_type = MDF_UINT_LE, .byte = 8, .bits = 16});
  const uint64_t channels[] = {mdf_time_channel(f), size,
                               mdf_channel(f, &(mdf_cn){.name = "gear",
                                                        .type = MDF_MLSD,
                                                        .data_type = MDF_UTF8,
                                                        .byte = 10,
                                                        .bits = 8 * MOST,
                                                        .conversion = gear_conversion(f),
                                                        .data = size}),
                               0};
  for (int k = 0; k < N; k++) {
    int which = (int)(mdf_random(&random) % 4);
    unsigned char *at = mdf_more(&data, WIDTH);
    mdf_put_double(at, time[k] = k * 0.5);
    length[k] = (double)strlen(gears[which]);
    mdf_put(at + 8, strlen(gears[which]), 2, false);
    memset(at + 10, '#', MOST);  // bytes behind the text have no meaning
    memcpy(at + 10, gears[which], strlen(gears[which]));
    gear[k] = gear_values[which];
  }
  uint64_t group = mdf_group(f, &(mdf_cg){.channels = channels, .records = N, .data_bytes = WIDTH});
  uint64_t dg = mdf_data_group(f, (uint64_t[]){group, 0}, mdf_data(f, "DT", data.at, data.size, NULL), 0);
  od_table *t = mdf_read(mdf_finish(*state, f, (uint64_t[]){dg, 0}));
  mdf_expect(t, "time", time, N);
  mdf_expect(t, "length", length, N);
  mdf_expect(t, "gear", gear, N);
  od_table_free(t);
  mdf_bytes_free(&data);
}

// ---- Storage by columns (version 4.2)

// Values in DV blocks without invalidation bits, which are in DI blocks. Both are listed in LD blocks. A single DV block needs no list.
static void sample_lists(void **state) {
  static const mdf_storage storage[] = {
      {.list = MDF_LIST_EQUAL},
      {.list = MDF_LIST_EQUAL, .piece = 64},
      {.list = MDF_LIST_OFFSETS, .piece = 111, .per_list = 3},
      {.list = MDF_LIST_EQUAL, .piece = 100, .zip = MDF_DEFLATE},
      {.list = MDF_LIST_OFFSETS, .piece = 70, .zip = MDF_TRANSPOSED},
      {.list = MDF_LIST_EQUAL, .piece = 70, .zip = MDF_MIXED, .per_list = 4, .has_times = true},
  };
  enum { INVALID = 2, BIT = 11 };
  recording *r = record(4, 0, 0.01);
  double v[SAMPLES];
  mdf_bytes invalid = {0};
  uint64_t random = 8;
  for (int k = 0; k < SAMPLES; k++) {
    unsigned char *at = mdf_more(&invalid, INVALID);
    mdf_put(at, mdf_random(&random), INVALID, false);
    v[k] = at[BIT / 8] >> BIT % 8 & 1 ? NAN : r->v[k];
  }
  for (size_t i = 0; i <= sizeof storage / sizeof *storage; i++)
    for (int with_bits = 0; with_bits < 2; with_bits++) {
      bool is_single = i == sizeof storage / sizeof *storage;
      if (is_single && with_bits) continue;
      mdf_file *f = mdf_begin(&(mdf_header){.version = 420});
      const uint64_t channels[] = {
          mdf_time_channel(f),
          mdf_channel(f, &(mdf_cn){.name = "v",
                                   .data_type = MDF_INT_BE,
                                   .byte = 10,
                                   .bits = 32,
                                   .flags = with_bits ? MDF_HAS_INVALID_BIT : 0,
                                   .invalid_bit = BIT}),
          mdf_channel(f, &(mdf_cn){.name = "w", .data_type = MDF_FLOAT_LE, .byte = 14, .bits = 32}), 0};
      uint64_t group = mdf_group(
          f,
          &(mdf_cg){
              .channels = channels, .records = SAMPLES, .data_bytes = SIZE, .invalid_bytes = with_bits ? INVALID : 0});
      uint64_t data = is_single ? mdf_data(f, "DV", r->records.at, r->records.size, NULL)
                                : mdf_sample_list(f, r->records.at, SIZE, with_bits ? invalid.at : NULL, INVALID,
                                                  SAMPLES, storage + i);
      uint64_t dg = mdf_data_group(f, (uint64_t[]){group, 0}, data, 0);
      od_table *t = mdf_read(mdf_finish(*state, f, (uint64_t[]){dg, 0}));
      mdf_expect(t, "time", r->time, SAMPLES);
      mdf_expect(t, "v", with_bits ? v : r->v, SAMPLES);
      mdf_expect(t, "w", r->w, SAMPLES);
      od_table_free(t);
    }
  mdf_bytes_free(&invalid);
  discard(r);
}

// Each channel has a group of its own, and the times are in the group of the master channel.
static void remote_master(void **state) {
  enum { COLUMNS = 3 };
  static const int byte[COLUMNS] = {0, 10, 14}, bytes[COLUMNS] = {8, 4, 4};
  recording *r = record(5, 1, 0.01);
  for (int zip = 0; zip < 2; zip++) {
    mdf_file *f = mdf_begin(&(mdf_header){.version = 420});
    uint64_t master = 0, groups[COLUMNS + 1] = {0};
    for (int c = 0; c < COLUMNS; c++) {
      mdf_bytes column = {0};
      for (int k = 0; k < SAMPLES; k++) mdf_append(&column, r->records.at + k * SIZE + byte[c], (size_t)bytes[c]);
      const uint64_t channels[] = {c == 0 ? mdf_time_channel(f)
                                   : c == 1
                                       ? mdf_channel(f, &(mdf_cn){.name = "v", .data_type = MDF_INT_BE, .bits = 32})
                                       : mdf_channel(f, &(mdf_cn){.name = "w", .data_type = MDF_FLOAT_LE, .bits = 32}),
                                   0};
      uint64_t group = mdf_group(f, &(mdf_cg){.channels = channels,
                                              .records = SAMPLES,
                                              .flags = c > 0 ? MDF_CG_REMOTE_MASTER : 0,
                                              .master = master,
                                              .data_bytes = (unsigned)bytes[c]});
      if (c == 0) master = group;
      const mdf_storage how = {.list = MDF_LIST_EQUAL, .piece = 300, .zip = zip ? MDF_TRANSPOSED : MDF_PLAIN};
      uint64_t data = mdf_sample_list(f, column.at, (unsigned)bytes[c], NULL, 0, SAMPLES, &how);
      groups[c] = mdf_data_group(f, (uint64_t[]){group, 0}, data, 0);
      mdf_bytes_free(&column);
    }
    od_table *t = mdf_read(mdf_finish(*state, f, groups));
    mdf_expect_series(t, "v", r->time, r->v, SAMPLES);
    mdf_expect_series(t, "w", r->time, r->w, SAMPLES);
    for (long k = 1; k < t->rows; k++) assert_true(t->data[k * t->columns] >= t->data[(k - 1) * t->columns]);
    od_table_free(t);
  }
  discard(r);
}

// ---- Files that were not finished

// The number of records and the length of the last data block are unknown: the data extend to the end of the file. An incomplete
// last record does not count.
static void unfinished(void **state) {
  recording *r = record(6, 0, 0.01);
  for (int cut = 0; cut < 2; cut++)
    for (int in_list = 0; in_list < 2; in_list++)
      for (int is_unsorted = 0; is_unsorted < 2; is_unsorted++) {
        mdf_file *f =
            mdf_begin(&(mdf_header){.is_unfinalized = true, .unfinalized = MDF_DIRTY_COUNTS | MDF_DIRTY_LAST_DT});
        mdf_bytes data = {0};
        for (int k = 0; k < SAMPLES; k++) {
          if (is_unsorted) *mdf_more(&data, 1) = 4;
          mdf_append(&data, r->records.at + k * SIZE, SIZE);
        }
        size_t half = in_list ? data.size / 2 : 0;
        uint64_t group = recorded_group(f, "", 4, 0);
        uint64_t dg = mdf_data_group(f, (uint64_t[]){group, 0}, 0, is_unsorted);
        uint64_t links[3] = {0}, last;
        unsigned char list[8 + 16] = {0};
        mdf_put(list + 4, 2, 4, false);
        mdf_put(list + 16, half, 8, false);
        if (in_list) links[1] = mdf_block(f, "DT", NULL, 0, data.at, half);
        uint64_t dl = in_list ? mdf_block(f, "DL", links, 3, list, sizeof list) : 0;
        last = mdf_block(f, "DT", NULL, 0, data.at + half, data.size - half);
        if (in_list) mdf_set_link(f, dl, 2, last);
        mdf_set_link(f, dg, 2, in_list ? dl : last);
        mdf_put(f->b.at + last + 8, 24, 8, false);  // the length of a block without data
        if (cut) f->b.size -= 5;
        expect_one(mdf_finish(*state, f, (uint64_t[]){dg, 0}), r, SAMPLES - cut);
        mdf_bytes_free(&data);
      }
  discard(r);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(sorted, scratch_setup, scratch_teardown),
      cmocka_unit_test_setup_teardown(empty_groups, scratch_setup, scratch_teardown),
      cmocka_unit_test_setup_teardown(unsorted, scratch_setup, scratch_teardown),
      cmocka_unit_test_setup_teardown(texts_in_blocks, scratch_setup, scratch_teardown),
      cmocka_unit_test_setup_teardown(texts_in_group, scratch_setup, scratch_teardown),
      cmocka_unit_test_setup_teardown(texts_with_length, scratch_setup, scratch_teardown),
      cmocka_unit_test_setup_teardown(sample_lists, scratch_setup, scratch_teardown),
      cmocka_unit_test_setup_teardown(remote_master, scratch_setup, scratch_teardown),
      cmocka_unit_test_setup_teardown(unfinished, scratch_setup, scratch_teardown),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
