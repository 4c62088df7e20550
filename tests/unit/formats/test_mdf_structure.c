// Channels, groups and descriptions of MDF 4 files: names, units, comments, the order of rows of several groups, virtual channels, arrays,
// structures of bus-logged CAN frames, blocks without signals. Oracle: the numbers and texts that the test wrote, numbers compared to the
// bit. The test writes the files with mdf_writer.c, which shares no code with the reader.
#include "support/test.h"
#include "formats/row_reader.h"
#include "support/mdf_reading.h"

enum { ROWS = 50, WIDTH = 10 };

// Times from `start` in steps of `step`, and a value of 16 bits: the value of record k is k * factor.
static mdf_bytes ramp(double start, double step, int factor, double *times, double *values) {
  mdf_bytes data = {0};
  for (int k = 0; k < ROWS; k++) {
    unsigned char *at = mdf_more(&data, WIDTH);
    mdf_put_double(at, times[k] = start + step * k);
    mdf_put(at + 8, (uint64_t)(k * factor), 2, false);
    values[k] = k * factor;
  }
  return data;
}

static uint64_t value_channel(mdf_file *f, const char *name) {
  return mdf_channel(f, &(mdf_cn){.name = name, .data_type = MDF_UINT_LE, .byte = 8, .bits = 16});
}

// A data group with one group of the given channels after the time.
static uint64_t ramp_group(mdf_file *f, const char *group, const mdf_bytes *data, const uint64_t *more) {
  uint64_t channels[20] = {mdf_time_channel(f)};
  for (int i = 0; more[i]; i++) channels[1 + i] = more[i];
  uint64_t cg = mdf_group(f, &(mdf_cg){.name = group, .channels = channels, .records = ROWS, .data_bytes = WIDTH});
  return mdf_data_group(f, (uint64_t[]){cg, 0}, mdf_data(f, "DT", data->at, data->size, NULL), 0);
}

// The rows of all groups in the order of time, one row per record. Equal names are distinguished by their groups' names.
static void groups(void **state) {
  double ta[ROWS], a[ROWS], tb[ROWS], b[ROWS], tc[ROWS], c[ROWS];
  mdf_bytes da = ramp(0.5, 0.01, 3, ta, a), db = ramp(0.255, 0.02, 7, tb, b), dc = ramp(-1.003, 0.1, 1, tc, c);
  mdf_file *f = mdf_begin(NULL);
  uint64_t first = ramp_group(f, "engine", &da, (uint64_t[]){value_channel(f, "speed"), value_channel(f, "load"), 0});
  uint64_t second = ramp_group(f, "pump", &db, (uint64_t[]){value_channel(f, "speed"), 0});
  uint64_t third = ramp_group(f, "tank", &dc, (uint64_t[]){value_channel(f, "level"), 0});
  od_table *t = mdf_read(mdf_finish(*state, f, (uint64_t[]){first, second, third, 0}));
  assert_int_equal(t->columns, 5);
  assert_int_equal(t->rows, 3 * ROWS);
  mdf_expect_series(t, "engine.speed", ta, a, ROWS);
  mdf_expect_series(t, "load", ta, a, ROWS);
  mdf_expect_series(t, "pump.speed", tb, b, ROWS);
  mdf_expect_series(t, "level", tc, c, ROWS);
  for (long k = 1; k < t->rows; k++) assert_true(t->data[k * t->columns] >= t->data[(k - 1) * t->columns]);
  od_table_free(t);
  mdf_bytes_free(&da);
  mdf_bytes_free(&db);
  mdf_bytes_free(&dc);
}

// Groups without names and groups with equal names: every column has another name, and no value is lost.
static void unnamed_groups(void **state) {
  for (int kind = 0; kind < 3; kind++) {
    double times[3][ROWS], values[3][ROWS];
    uint64_t dg[4] = {0};
    mdf_file *f = mdf_begin(NULL);
    for (int g = 0; g < 3; g++) {
      mdf_bytes data = ramp(0.25 * g, 0.01, g + 2, times[g], values[g]);
      dg[g] = ramp_group(f, kind == 0 ? NULL : kind == 1 ? "same" : "", &data, (uint64_t[]){value_channel(f, "x"), 0});
      mdf_bytes_free(&data);
    }
    od_table *t = mdf_read(mdf_finish(*state, f, dg));
    assert_int_equal(t->columns, 4);
    for (int g = 0; g < 3; g++) {
      assert_non_null(strstr(t->name[1 + g], "x"));
      for (int other = 0; other < g; other++) assert_string_not_equal(t->name[1 + g], t->name[1 + other]);
      mdf_expect_series(t, t->name[1 + g], times[g], values[g], ROWS);
    }
    od_table_free(t);
  }
}

// Units of a channel and of its conversion, as text and in XML. Comments, and the group's name, are the column's origin. The start time is
// that of the file.
static void descriptions(void **state) {
  double times[ROWS], values[ROWS];
  mdf_bytes data = ramp(0, 0.1, 1, times, values);
  mdf_file *f = mdf_begin(&(mdf_header){.start_ns = UINT64_C(1700000000123000000)});  // 2023-11-14 22:13:20.123 UTC
  uint64_t in_mbar =
      mdf_conversion(f, &(mdf_cc){.type = MDF_CC_LINEAR, .unit = "mbar", .values = (double[]){0, 1}, .value_count = 2});
  const mdf_cn channel[] = {
      {.name = "plain", .unit = "bar", .comment = "rod side"},
      {.name = "xml",
       .unit_xml = "<CNunit><TX>l/min</TX></CNunit>",
       .comment_xml = "<CNcomment><TX>pump &amp; motor</TX><names><display>q</display></names></CNcomment>"},
      {.name = "of_conversion", .conversion = in_mbar},
      {.name = "own_first", .unit = "Pa", .conversion = in_mbar},
      {.name = "none"},
      {.name = "Zylinder L\xc3\xa4nge", .unit = "\u00b0C"},
      {.name = "a name of more than 64 bytes, with spaces, \"quotes\", [brackets] and \\slashes\\", .unit = "1/min"},
  };
  enum { N = sizeof channel / sizeof *channel };
  static const char *const unit[N] = {"bar", "l/min", "mbar", "Pa", "", "\u00b0C", "1/min"};
  uint64_t more[N + 1] = {0};
  for (int i = 0; i < N; i++) {
    mdf_cn c = channel[i];
    c.data_type = MDF_UINT_LE, c.byte = 8, c.bits = 16;
    more[i] = mdf_channel(f, &c);
  }
  uint64_t dg = ramp_group(f, "rig", &data, more);
  const char *path = mdf_finish(*state, f, (uint64_t[]){dg, 0});
  od_table *t = mdf_read(path);
  for (int i = 0; i < N; i++) {
    mdf_expect(t, channel[i].name, values, ROWS);
    mdf_expect_unit(t, channel[i].name, unit[i]);
  }
  od_error err = {0};
  od_row_reader *r = NULL;
  if (od_row_reader_open(path, NULL, &r, &err) != OD_OK) fail_msg("%s", err.text);
  assert_string_equal(od_row_reader_origin(r, mdf_column(t, "plain")).comment, "rod side");
  assert_string_equal(od_row_reader_origin(r, mdf_column(t, "xml")).comment, "pump & motor");
  assert_string_equal(od_row_reader_origin(r, mdf_column(t, "none")).group, "rig");
  assert_null(od_row_reader_origin(r, mdf_column(t, "none")).comment);
  assert_non_null(od_row_reader_start_time(r));
  assert_int_equal(strncmp(od_row_reader_start_time(r), "2023-11-14T22:13:20.123", 23), 0);
  od_row_reader_close(r);
  od_table_free(t);
  mdf_bytes_free(&data);
}

// Reads rows until the column has `most` numbers, or to the end, and compares with times and values of its group. Rows of other groups
// have no number.
static void expect_numbers(od_row_reader *r, int column, const double *times, const double *values, int most) {
  od_error err = {0};
  double row[4];
  int k = 0;
  for (bool end = false; k < most;) {
    if (od_row_reader_next(r, row, &end, &err) != OD_OK) fail_msg("%s", err.text);
    if (end) break;
    if (isnan(row[column])) continue;
    assert_true(mdf_same(row[0], times[k]) && mdf_same(row[column], values[k]));
    k++;
  }
  assert_int_equal(k, most < ROWS ? most : ROWS);
}

// Rows one after the other, with some columns, in several passes, by two readers of one file in turn. A reader may omit rows of groups
// without a wanted column.
static void rows(void **state) {
  double ta[ROWS], a[ROWS], tb[ROWS], b[ROWS];
  mdf_bytes da = ramp(0.5, 0.01, 3, ta, a), db = ramp(0.255, 0.02, 7, tb, b);
  mdf_file *f = mdf_begin(NULL);
  uint64_t first = ramp_group(f, "a", &da, (uint64_t[]){value_channel(f, "u"), value_channel(f, "v"), 0});
  uint64_t second = ramp_group(f, "b", &db, (uint64_t[]){value_channel(f, "w"), 0});
  const char *path = mdf_finish(*state, f, (uint64_t[]){first, second, 0});
  od_error err = {0};
  od_row_reader *reader[2] = {NULL};
  if (od_row_reader_open(path, NULL, &reader[0], &err) != OD_OK) fail_msg("%s", err.text);
  if (od_row_reader_again(reader[0], &reader[1], &err) != OD_OK) fail_msg("%s", err.text);
  bool wanted[2][4] = {{false}};
  int column[2];
  for (int which = 0; which < 2; which++) {
    const od_table *head = od_row_reader_head(reader[which]);
    assert_int_equal(head->columns, 4);
    column[which] = mdf_column(head, which ? "w" : "v");
    wanted[which][0] = wanted[which][column[which]] = true;
    od_row_reader_want(reader[which], wanted[which]);
  }
  for (int pass = 0; pass < 3; pass++) {
    int most = pass == 1 ? 7 : ROWS + 1;
    expect_numbers(reader[0], column[0], ta, a, most);
    expect_numbers(reader[1], column[1], tb, b, most);
    for (int which = 0; which < 2; which++) od_row_reader_rewind(reader[which]);
  }
  for (int k = 1; k < ROWS; k++) {  // in turn
    expect_numbers(reader[0], column[0], ta + k - 1, a + k - 1, 1);
    expect_numbers(reader[1], column[1], tb + k - 1, b + k - 1, 1);
  }
  assert_int_equal(od_row_reader_line(reader[0]), 0);
  od_row_reader_close(reader[1]);
  od_row_reader_close(reader[0]);
  mdf_bytes_free(&da);
  mdf_bytes_free(&db);
}

// A file is recognized by its first bytes, under any name.
static void any_name(void **state) {
  static const char *const name[] = {"log.csv", "log", "log.MF4", "log.dat"};
  double times[ROWS], values[ROWS];
  mdf_bytes data = ramp(0, 0.01, 3, times, values);
  for (size_t i = 0; i < sizeof name / sizeof *name; i++) {
    mdf_file *f = mdf_begin(NULL);
    uint64_t dg = ramp_group(f, "g", &data, (uint64_t[]){value_channel(f, "y"), 0});
    mdf_end(f, (uint64_t[]){dg, 0});
    mdf_save(f, scratch_path(*state, name[i]));
    mdf_free(f);
    od_error err = {0};
    od_row_reader *r = NULL;
    if (od_row_reader_open(scratch_path(*state, name[i]), NULL, &r, &err) != OD_OK) fail_msg("%s", err.text);
    assert_string_equal(od_row_reader_head(r)->name[1], "y");
    assert_non_null(strstr(od_row_reader_format(r)->name, "MDF"));
    od_row_reader_close(r);
  }
  mdf_bytes_free(&data);
}

// Times as integers with a conversion, times of a virtual channel, and times in a record behind the values.
static void masters(void **state) {
  for (int kind = 0; kind < 4; kind++) {
    double times[ROWS], values[ROWS];
    mdf_bytes data = {0};
    mdf_file *f = mdf_begin(NULL);
    mdf_cn master = {.name = "Zeit", .type = MDF_MASTER, .sync = MDF_TIME, .unit = "s"};
    if (kind == 0) {  // ns in 64 bits
      master.data_type = MDF_UINT_LE, master.bits = 64, master.conversion = mdf_linear(f, 0, 1e-9);
    } else if (kind == 1) {  // ms in 32 bits, big-endian, behind the value
      master.data_type = MDF_UINT_BE, master.byte = 2, master.bits = 32, master.conversion = mdf_linear(f, 2, 1e-3);
    } else {  // virtual: number of the record
      master.type = MDF_VIRTUAL_MASTER, master.conversion = kind == 2 ? mdf_linear(f, 0.5, 0.01) : 0;
    }
    int at_value = kind == 0 ? 8 : 0, width = kind == 0 ? 10 : kind == 1 ? 6 : 2;
    for (int k = 0; k < ROWS; k++) {
      unsigned char *at = mdf_more(&data, (size_t)width);
      uint64_t raw = kind == 0 ? UINT64_C(123456789) * (unsigned)k : kind == 1 ? (uint64_t)(k * k) : (uint64_t)k;
      if (kind == 0) mdf_put(at, raw, 8, false);
      if (kind == 1) mdf_put(at + 2, raw, 4, true);
      mdf_put(at + at_value, (uint64_t)(7 * k), 2, false);
      double x = (double)raw;
      times[k] = kind == 0 ? 0 + 1e-9 * x : kind == 1 ? 2 + 1e-3 * x : kind == 2 ? 0.5 + 0.01 * x : x;
      values[k] = 7 * k;
    }
    const uint64_t channels[] = {
        mdf_channel(f, &(mdf_cn){.name = "y", .data_type = MDF_UINT_LE, .byte = at_value, .bits = 16}),
        mdf_channel(f, &master), 0};
    uint64_t group = mdf_group(f, &(mdf_cg){.channels = channels, .records = ROWS, .data_bytes = (unsigned)width});
    uint64_t dg = mdf_data_group(f, (uint64_t[]){group, 0}, mdf_data(f, "DT", data.at, data.size, NULL), 0);
    od_table *t = mdf_read(mdf_finish(*state, f, (uint64_t[]){dg, 0}));
    assert_int_equal(t->columns, 2);
    mdf_expect(t, "time", times, ROWS);
    mdf_expect(t, "y", values, ROWS);
    od_table_free(t);
    mdf_bytes_free(&data);
  }
}

// A virtual channel has the number of the record as its raw number. A channel that is synchronized with an attachment does not disturb.
static void virtual_channels(void **state) {
  double times[ROWS], values[ROWS], counted[ROWS], scaled[ROWS];
  mdf_bytes data = ramp(0, 0.1, 3, times, values);
  mdf_file *f = mdf_begin(NULL);
  const uint64_t file_links[4] = {0, mdf_text(f, "video.avi"), mdf_text(f, "video/avi"), 0};
  const unsigned char no_file[40] = {0};
  uint64_t attachment = mdf_block(f, "AT", file_links, 4, no_file, sizeof no_file);
  mdf_set_link(f, MDF_HD, MDF_HD_AT, attachment);
  uint64_t dg = ramp_group(
      f, "g", &data,
      (uint64_t[]){
          value_channel(f, "y"), mdf_channel(f, &(mdf_cn){.name = "count", .type = MDF_VIRTUAL}),
          mdf_channel(f, &(mdf_cn){.name = "scaled", .type = MDF_VIRTUAL, .conversion = mdf_linear(f, 1, 0.5)}),
          mdf_channel(
              f,
              &(mdf_cn){
                  .name = "frame", .type = MDF_SYNC, .sync = MDF_INDEX, .byte = 8, .bits = 16, .data = attachment}),
          0});
  for (int k = 0; k < ROWS; k++) counted[k] = k, scaled[k] = 1 + 0.5 * k;
  od_table *t = mdf_read(mdf_finish(*state, f, (uint64_t[]){dg, 0}));
  mdf_expect(t, "time", times, ROWS);
  mdf_expect(t, "y", values, ROWS);
  mdf_expect(t, "count", counted, ROWS);
  mdf_expect(t, "scaled", scaled, ROWS);
  od_table_free(t);
  mdf_bytes_free(&data);
}

// Arrays of one and two dimensions within the record, with gaps between their elements, in both orders of their dimensions, and with an
// invalidation bit for each element.
static void arrays(void **state) {
  enum { ONE = 3, M = 2, N = 4, STEP = 3, INVALID = 1, SIZE = 8 + 2 * ONE + 2 * M * N * STEP + INVALID };
  double one[ONE][ROWS], two[M][N][ROWS], inverse[M][N][ROWS];
  uint64_t random = 11;
  mdf_bytes data = {0};
  mdf_file *f = mdf_begin(NULL);
  const int at_two = 8 + 2 * ONE, at_inverse = at_two + M * N * STEP;
  uint64_t one_shape = mdf_array(f, &(mdf_ca){.dimensions = 1, .byte_step = 2, .invalid_step = 1, .size = {ONE}});
  uint64_t shape = mdf_array(f, &(mdf_ca){.dimensions = 2, .byte_step = STEP, .size = {M, N}});
  uint64_t inverse_shape =
      mdf_array(f, &(mdf_ca){.dimensions = 2, .flags = MDF_CA_INVERSE, .byte_step = STEP, .size = {M, N}});
  const uint64_t channels[] = {
      mdf_time_channel(f),
      mdf_channel(f, &(mdf_cn){.name = "one",
                               .unit = "bar",
                               .data_type = MDF_INT_LE,
                               .byte = 8,
                               .bits = 16,
                               .flags = MDF_HAS_INVALID_BIT,
                               .invalid_bit = 2,
                               .conversion = mdf_linear(f, 1, 0.5),
                               .composition = one_shape}),
      mdf_channel(f,
                  &(mdf_cn){.name = "two", .data_type = MDF_UINT_BE, .byte = at_two, .bits = 16, .composition = shape}),
      mdf_channel(f, &(mdf_cn){.name = "inverse",
                               .data_type = MDF_UINT_LE,
                               .byte = at_inverse,
                               .bits = 8,
                               .composition = inverse_shape}),
      0};
  for (int k = 0; k < ROWS; k++) {
    unsigned char *at = mdf_more(&data, SIZE);
    for (int i = 0; i < SIZE; i++) at[i] = (unsigned char)mdf_random(&random);
    mdf_put_double(at, 0.1 * k);
    for (int i = 0; i < ONE; i++) {
      int v = (int)(mdf_random(&random) % 65536) - 32768;
      mdf_put(at + 8 + 2 * i, (uint64_t)(int64_t)v, 2, false);
      one[i][k] = at[SIZE - 1] >> (2 + i) & 1 ? NAN : 1 + 0.5 * v;
    }
    for (int i = 0; i < M; i++)
      for (int j = 0; j < N; j++) {
        const unsigned char *a = at + at_two + (i * N + j) * STEP, *b = at + at_inverse + (j * M + i) * STEP;
        two[i][j][k] = 256.0 * a[0] + a[1];
        inverse[i][j][k] = b[0];
      }
  }
  uint64_t group = mdf_group(
      f, &(mdf_cg){.channels = channels, .records = ROWS, .data_bytes = SIZE - INVALID, .invalid_bytes = INVALID});
  uint64_t dg = mdf_data_group(f, (uint64_t[]){group, 0}, mdf_data(f, "DT", data.at, data.size, NULL), 0);
  od_table *t = mdf_read(mdf_finish(*state, f, (uint64_t[]){dg, 0}));
  char name[40];
  for (int i = 0; i < ONE; i++) {
    snprintf(name, sizeof name, "one[%d]", i);
    mdf_expect(t, name, one[i], ROWS);
    mdf_expect_unit(t, name, "bar");
  }
  for (int i = 0; i < M; i++)
    for (int j = 0; j < N; j++) {
      snprintf(name, sizeof name, "two[%d][%d]", i, j);
      mdf_expect(t, name, two[i][j], ROWS);
      snprintf(name, sizeof name, "inverse[%d][%d]", i, j);
      mdf_expect(t, name, inverse[i][j], ROWS);
    }
  od_table_free(t);
  mdf_bytes_free(&data);
}

// ---- Bus-logged CAN

// Frames as the layout of bus logging stores them: a structure CAN_DataFrame with channels for bus, identifier, length and bytes. Frames
// of two identifiers alternate. is_variable: the bytes are in SD blocks.
static const char *can_file(scratch *s, bool is_variable, double *times, double *ids, double *engine, double *oil,
                            int count) {
  enum { SIZE = 8 + 1 + 4 + 1 + 8 };
  mdf_bytes data = {0}, sd = {0};
  mdf_file *f = mdf_begin(NULL);
  for (int k = 0; k < count; k++) {
    unsigned char *at = mdf_more(&data, SIZE), bytes[8];
    uint32_t id = k % 2 ? 0x123 : 0x18FEF100;
    bool is_extended = k % 2 == 0;
    mdf_put_double(at, times[k] = 0.01 * k + 0.002);
    at[8] = 1;
    mdf_put(at + 9, id | (is_extended ? 0x80000000u : 0), 4, false);
    at[13] = 8;
    for (int i = 0; i < 8; i++) bytes[i] = (unsigned char)(17 * k + i);
    uint32_t speed = (uint32_t)(bytes[0] | bytes[1] << 8), pressure = (uint32_t)(bytes[2] << 8 | bytes[3]);
    ids[k] = id;
    if (is_extended)
      engine[k / 2] = 0.125 * speed;
    else
      oil[k / 2] = -10 + 0.5 * pressure;
    if (is_variable)
      mdf_put(at + 14, mdf_put_variable(&sd, bytes, 8), 8, false);
    else
      memcpy(at + 14, bytes, 8);
  }
  uint64_t texts = is_variable ? mdf_data(f, "SD", sd.at, sd.size, NULL) : 0;
  const uint64_t members[] = {
      mdf_channel(f, &(mdf_cn){.name = "CAN_DataFrame.BusChannel", .byte = 8, .bits = 8, .flags = MDF_BUS_CHANNEL}),
      mdf_channel(f, &(mdf_cn){.name = "CAN_DataFrame.ID", .byte = 9, .bits = 29, .flags = MDF_BUS_CHANNEL}),
      mdf_channel(f, &(mdf_cn){.name = "CAN_DataFrame.IDE", .byte = 12, .bit = 7, .bits = 1, .flags = MDF_BUS_CHANNEL}),
      mdf_channel(f, &(mdf_cn){.name = "CAN_DataFrame.DataLength", .byte = 13, .bits = 7, .flags = MDF_BUS_CHANNEL}),
      mdf_channel(f, &(mdf_cn){.name = "CAN_DataFrame.DataBytes",
                               .type = is_variable ? MDF_VLSD : MDF_FIXED,
                               .data_type = MDF_BYTES,
                               .byte = 14,
                               .bits = 64,
                               .flags = MDF_BUS_CHANNEL,
                               .data = texts}),
      0};
  uint64_t structure = mdf_chain(f, members);
  const uint64_t channels[] = {mdf_time_channel(f),
                               mdf_channel(f, &(mdf_cn){.name = "CAN_DataFrame",
                                                        .data_type = MDF_BYTES,
                                                        .byte = 8,
                                                        .bits = 8 * (SIZE - 8),
                                                        .flags = MDF_BUS_CHANNEL,
                                                        .composition = structure}),
                               0};
  uint64_t group = mdf_group(f, &(mdf_cg){.name = "CAN1",
                                          .source = mdf_source(f, "CAN1", "CAN1", 2, 2),
                                          .channels = channels,
                                          .records = (uint64_t)count,
                                          .flags = MDF_CG_BUS | MDF_CG_PLAIN_BUS,
                                          .data_bytes = SIZE});
  uint64_t dg = mdf_data_group(f, (uint64_t[]){group, 0}, mdf_data(f, "DT", data.at, data.size, NULL), 0);
  mdf_bytes_free(&data);
  mdf_bytes_free(&sd);
  return mdf_finish(s, f, (uint64_t[]){dg, 0});
}

// Without a database, the members of the structure are columns.
static void bus_without_database(void **state) {
  double times[ROWS], ids[ROWS], engine[ROWS], oil[ROWS], one[ROWS], eight[ROWS], extended[ROWS];
  for (int k = 0; k < ROWS; k++) one[k] = 1, eight[k] = 8, extended[k] = k % 2 == 0;
  for (int is_variable = 0; is_variable < 2; is_variable++) {
    od_table *t = mdf_read(can_file(*state, is_variable, times, ids, engine, oil, ROWS));
    mdf_expect(t, "time", times, ROWS);
    mdf_expect(t, "CAN_DataFrame.BusChannel", one, ROWS);
    mdf_expect(t, "CAN_DataFrame.ID", ids, ROWS);
    mdf_expect(t, "CAN_DataFrame.IDE", extended, ROWS);
    mdf_expect(t, "CAN_DataFrame.DataLength", eight, ROWS);
    mdf_expect_missing(t, "CAN_DataFrame");
    od_table_free(t);
  }
}

// With a database, the signals of the frames are columns: in little-endian and in big-endian order, of a frame with 29 bits of identifier
// and of one with 11 bits.
static void bus_with_database(void **state) {
  static const char dbc[] =
      "VERSION \"\"\n\nNS_ :\n\nBS_:\n\nBU_: ECU\n\n"
      "BO_ 2566844672 CCVS: 8 ECU\n SG_ engine_speed : 0|16@1+ (0.125,0) [0|8031] \"1/min\" ECU\n\n"
      "BO_ 291 Oil: 8 ECU\n SG_ oil_pressure : 23|16@0+ (0.5,-10) [0|0] \"bar\" ECU\n\n";
  double times[ROWS], ids[ROWS], engine[ROWS], oil[ROWS], even[ROWS], odd[ROWS];
  scratch *s = *state;
  char database[600];
  snprintf(database, sizeof database, "%s", scratch_put(s, "bus.dbc", dbc));
  const char *const databases[] = {database, NULL};
  const od_table_wish wish = {.databases = databases};
  for (int is_variable = 0; is_variable < 2; is_variable++) {
    od_error err = {0};
    od_table *t = NULL;
    const char *path = can_file(s, is_variable, times, ids, engine, oil, ROWS);
    if (od_table_read(path, &wish, &t, &err) != OD_OK) fail_msg("%s", err.text);
    for (int k = 0; k < ROWS; k += 2) even[k / 2] = times[k], odd[k / 2] = times[k + 1];
    mdf_expect_series(t, "CCVS.engine_speed", even, engine, ROWS / 2);
    mdf_expect_series(t, "Oil.oil_pressure", odd, oil, ROWS / 2);
    mdf_expect_unit(t, "CCVS.engine_speed", "1/min");
    mdf_expect_unit(t, "Oil.oil_pressure", "bar");
    od_table_free(t);
  }
}

// Blocks without signals: history, hierarchy, attachments, events, sample reductions, comments, sources.
static void other_blocks(void **state) {
  double times[ROWS], values[ROWS];
  mdf_bytes data = ramp(0, 0.1, 3, times, values);
  mdf_file *f = mdf_begin(NULL);
  // A sample reduction: mean, minimum and maximum of each record of an interval.
  uint64_t reduced = mdf_data(f, "RD", data.at, 30, NULL);
  unsigned char sr[24] = {1};
  mdf_put_double(sr + 8, 5);
  sr[16] = MDF_TIME;
  uint64_t reduction = mdf_block(f, "SR", (uint64_t[]){0, reduced}, 2, sr, sizeof sr);
  const uint64_t channels[] = {mdf_time_channel(f),
                               mdf_channel(f, &(mdf_cn){.name = "y",
                                                        .data_type = MDF_UINT_LE,
                                                        .byte = 8,
                                                        .bits = 16,
                                                        .source = mdf_source(f, "ECU", "path", 1, 0)}),
                               0};
  uint64_t group = mdf_group(f, &(mdf_cg){.name = "g",
                                          .comment = "a comment of the group",
                                          .source = mdf_source(f, "rig", NULL, 4, 0),
                                          .reductions = reduction,
                                          .channels = channels,
                                          .records = ROWS,
                                          .data_bytes = WIDTH});
  uint64_t dg = mdf_data_group(f, (uint64_t[]){group, 0}, mdf_data(f, "DT", data.at, data.size, NULL), 0);
  mdf_set_link(f, dg, 3, mdf_xml(f, "<DGcomment><TX>a comment</TX></DGcomment>"));
  uint64_t histories[] = {mdf_history(f, "<FHcomment><TX>created</TX></FHcomment>", 1), mdf_history(f, NULL, 2), 0};
  mdf_set_link(f, MDF_HD, MDF_HD_FH, mdf_chain(f, histories));
  const unsigned char tree[8] = {1};
  mdf_set_link(f, MDF_HD, MDF_HD_CH,
               mdf_block(f, "CH", (uint64_t[]){0, 0, mdf_text(f, "tree"), 0, dg, group, channels[1]}, 7, tree, 8));
  mdf_bytes file = {0};
  mdf_put(mdf_more(&file, 40), 1, 2, false);
  mdf_put(file.at + 24, 4, 8, false);
  mdf_put(file.at + 32, 4, 8, false);
  mdf_append(&file, "text", 4);
  mdf_set_link(
      f, MDF_HD, MDF_HD_AT,
      mdf_block(f, "AT", (uint64_t[]){0, mdf_text(f, "a.txt"), mdf_text(f, "text/plain"), 0}, 4, file.at, file.size));
  const unsigned char event[32] = {6, 1};
  mdf_set_link(f, MDF_HD, MDF_HD_EV,
               mdf_block(f, "EV", (uint64_t[]){0, 0, 0, mdf_text(f, "a mark"), 0}, 5, event, sizeof event));
  mdf_set_link(f, MDF_HD, MDF_HD_COMMENT, mdf_xml(f, "<HDcomment><TX>a comment</TX></HDcomment>"));
  mdf_bytes_free(&file);
  od_table *t = mdf_read(mdf_finish(*state, f, (uint64_t[]){dg, 0}));
  assert_int_equal(t->columns, 2);
  mdf_expect(t, "time", times, ROWS);
  mdf_expect(t, "y", values, ROWS);
  od_table_free(t);
  mdf_bytes_free(&data);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(groups, scratch_setup, scratch_teardown),
      cmocka_unit_test_setup_teardown(unnamed_groups, scratch_setup, scratch_teardown),
      cmocka_unit_test_setup_teardown(descriptions, scratch_setup, scratch_teardown),
      cmocka_unit_test_setup_teardown(rows, scratch_setup, scratch_teardown),
      cmocka_unit_test_setup_teardown(any_name, scratch_setup, scratch_teardown),
      cmocka_unit_test_setup_teardown(masters, scratch_setup, scratch_teardown),
      cmocka_unit_test_setup_teardown(virtual_channels, scratch_setup, scratch_teardown),
      cmocka_unit_test_setup_teardown(arrays, scratch_setup, scratch_teardown),
      cmocka_unit_test_setup_teardown(bus_without_database, scratch_setup, scratch_teardown),
      cmocka_unit_test_setup_teardown(bus_with_database, scratch_setup, scratch_teardown),
      cmocka_unit_test_setup_teardown(other_blocks, scratch_setup, scratch_teardown),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
