// CAN traces: the formats of candump, ASC files and BLF files, order of frames, buses, wanted columns, messages about bad files.
// Oracle: frames and times of the texts and bytes below, by hand. BLF files are made byte by byte from the layout of their objects.
#include <string.h>
#include <zlib.h>

#include "support/test.h"
#include "formats/can_frames.h"
#include "formats/row_reader.h"
#include "support/can.h"

// Message A (0x123) has the bytes a and b, message B (0x12345678, 29 bits) the word c, message F (0x7ff) the last byte of 64.
static const char dbc[] =
    "BO_ 291 A: 2 X\n SG_ a : 0|8@1+ (1,0) [0|0] \"bar\" X\n SG_ b : 8|8@1+ (1,0) [0|0] \"\" X\n"
    "BO_ 2452903544 B: 2 X\n SG_ c : 0|16@1+ (0.1,0) [0|0] \"V\" X\n"
    "BO_ 2047 F: 64 X\n SG_ z : 504|8@1+ (1,0) [0|0] \"\" X\n"
    "CM_ SG_ 291 a \"pressure\";\nVAL_ 291 a 0 \"none\" 255 \"SNA\" ;\n";

// Reads the trace and compares rows: time, a, b, c; NAN: not in the row.
static void expect(scratch *s, const char *trace, size_t length, int rows, const double (*row)[4]) {
  static const char *const names[] = {"time", "A.a", "A.b", "B.c"};
  scratch_write(s, "t.log", trace, length);
  scratch_put(s, "m.dbc", dbc);
  od_table *t = can_read(s, "t.log", "m.dbc");
  for (int k = 0; k < rows && k < t->rows; k++)
    for (int i = 0; i < 4; i++)
      if (od_table_find(t, names[i]) >= 0 || !isnan(row[k][i]))
        can_same(can_value(t, k, names[i]), row[k][i], names[i]);
  assert_int_equal(t->rows, rows);
  od_table_free(t);
}

static void expect_text(scratch *s, const char *trace, int rows, const double (*row)[4]) {
  expect(s, trace, strlen(trace), rows, row);
}

// 0x04d2 = 1234.
static const double from_zero[3][4] = {{0, 1, 2, NAN}, {0.25, NAN, NAN, 0.1 * 1234}, {0.250001, 16, 255, NAN}};
static const double from_one[3][4] = {{1, 1, 2, NAN}, {1.25, NAN, NAN, 0.1 * 1234}, {1.250001, 16, 255, NAN}};

static void candump_files(void **state) {
  scratch *s = *state;
  expect_text(s,
              "(1436509052.250000) can0 123#0102\n(1436509052.500000) can0 12345678#D204\n"
              "(1436509052.500001) can0 123#10FF\n",
              3, from_zero);
  // Line ends of Windows, blank lines, directions, requests, error frames, CAN FD, points between bytes; the last line has no end.
  expect_text(
      s,
      "\r\n (0.999999) vcan1 123#R\r\n(1.000000) vcan1 123##50102 T\r\n(1.100000) vcan1 20000004#0000000000000000\r\n\r\n"
      "(1.250000) vcan1 12345678#d2.04 R\r\n(1.250001) vcan1 123#10FF",
      3, from_one);
}

static void candump_terminal(void **state) {
  scratch *s = *state;
  expect_text(s,
              " (1436509052.250000)  can0  123   [2]  01 02\n (1436509052.500000)  can0  12345678   [2]  D2 04\n"
              " (1436509052.500001)  can0  123   [2]  10 FF   '..'\n",
              3, from_zero);
  expect_text(
      s,
      " (2015-12-31 23:59:59.999999)  can0  123   [2]  01 02\n (2016-01-01 00:00:00.249999)  can0  12345678   [2]  D2 04\n"
      " (2016-01-01 00:00:00.250000)  can0  123   [02]  10 FF\n",
      3, from_zero);
  expect_text(s,
              " (000.000000)  can0  RX - -  123   [2]  01 02\n (000.250000)  can0  TX B E  12345678   [2]  D2 04\n"
              " (000.250001)  can0  RX - -  123   [2]  10 FF\n (000.26)  can0  123   [0]  remote request\n"
              " (000.27)  can0  20000080   [8]  00 00 00 00 00 00 00 00   ERRORFRAME\n\tbus-error\n",
              3, from_zero);
}

// Times since the last frame do not ascend. The bytes of message A count the frames.
static void candump_differences(void **state) {
  scratch *s = *state;
  char text[4000] = "";
  double expected[50][4], now = 0;
  for (int k = 0; k < 50; k++) {
    int us = k == 0 ? 0 : 10000 + 37 * (k * 7 % 5);
    now += us;
    snprintf(text + strlen(text), sizeof text - strlen(text), " (000.%06d)  can0  123   [2]  %02X 00\n", us, k);
    memcpy(expected[k], (double[]){now / 1e6, k, 0, NAN}, sizeof expected[k]);
  }
  expect_text(s, text, 50, (const double(*)[4])expected);
}

static void asc_files(void **state) {
  scratch *s = *state;
  expect_text(
      s,
      "date Sat Sep 30 15:06:13.191 2017\nbase hex  timestamps absolute\ninternal events logged\n// version 9.0.0\n"
      "Begin Triggerblock Sat Sep 30 15:06:13.191 2017\n   0.000000 Start of measurement\n"
      "   1.000000 1  123             Rx   d 2 01 02  Length = 130000 BitCount = 65 ID = 291\n"
      "   1.100000 CAN 1 Status:chip status error active\n   1.200000 1  Statistic: D 0 R 0 XD 0 XR 0 E 0 O 0 B 0.00%\n"
      "   1.200000 1  ErrorFrame\n   1.200000 1  123             Tx   r 2\n   1.200000 1  123   TxRq   d 2 07 07\n"
      "   1.250000 CANFD   1 Rx   12345678x  Name_Of_B  1 0 2  2 d2 04   130000  130 3000 0 0 0 0 0\n"
      "   1.250001 CANFD   1 Tx   123   1 0 2 2 10 FF 0 0\nEnd TriggerBlock\n",
      3, from_one);
  expect_text(s,
              "date Die Okt 3 03:06:13 pm 2017\r\nbase dec  timestamps relative\r\nno internal events logged\r\n"
              "0.500000 Start of measurement\r\n0.500000 1 291 Rx d 2 1 2\r\n0.125000 1 Statistic: 0\r\n"
              "0.125000 2 305419896x Rx d 2 210 4\r\n0.000001 1 Symbol Rx d 2 16 255 Length = 1 ID = 291\r\n",
              3, from_one);
}

// --- BLF --------------------------------------------------------------------------------------------------------------

typedef struct blob {
  uint8_t at[20000];
  size_t size;
} blob;

static void put(blob *b, uint64_t value, int bytes) {
  for (int i = 0; i < bytes; i++) b->at[b->size++] = (uint8_t)(i < 8 ? value >> 8 * i : 0);
}

static void put_bytes(blob *b, const void *bytes, size_t count) {
  memcpy(b->at + b->size, bytes, count);
  b->size += count;
}

static void put_header(blob *b) {
  static const int start[8] = {2017, 9, 6, 30, 15, 6, 13, 191};
  put_bytes(b, "LOGG", 4);
  put(b, 144, 4);
  b->size = 40;  // the other fields of the header are zero
  for (int i = 0; i < 8; i++) put(b, (uint64_t)start[i], 2);
  b->size = 144;
}

// Header of an object in a container. head: 32 (version 1) or 40 (version 2).
static void put_object(blob *b, int head, unsigned body, unsigned type, unsigned unit, uint64_t time) {
  put_bytes(b, "LOBJ", 4);
  put(b, (uint64_t)head, 2);
  put(b, head == 32 ? 1 : 2, 2);
  put(b, (uint64_t)head + body, 4);
  put(b, type, 4);
  put(b, unit, 4);
  put(b, 0, 4);
  put(b, time, 8);
  put(b, 0, head - 32);
}

static void put_frame(blob *b, unsigned type, unsigned unit, uint64_t time, uint32_t id, unsigned flags, int length,
                      const char *data) {
  static const uint8_t nothing[64];
  bool is_second = type == 86;
  put_object(b, is_second ? 40 : 32, type == 86 ? 24 : 16, type, unit, time);
  put(b, 1, 2);
  put(b, flags, 1);
  put(b, (uint64_t)length, 1);
  put(b, id, 4);
  put_bytes(b, data, (size_t)length);
  put_bytes(b, nothing, (size_t)(8 - length) + (is_second ? 8 : 0));
}

static void put_fd(blob *b, uint64_t time, uint32_t id, int length, const uint8_t *data) {
  put_object(b, 32, 84, 100, 2, time);
  put(b, 1, 2), put(b, 0, 1), put(b, 15, 1), put(b, id, 4), put(b, 0, 4), put(b, 0, 1), put(b, 1, 1);
  put(b, (uint64_t)length, 1), put(b, 0, 5);
  put_bytes(b, data, (size_t)length);
  for (int i = length; i < 64; i++) put(b, 0xee, 1);
}

static void put_fd_64(blob *b, uint64_t time, uint32_t id, int direction, int length, const uint8_t *data) {
  put_object(b, 40, 40 + (unsigned)length, 101, 2, time);
  put(b, 1, 1), put(b, 15, 1), put(b, (uint64_t)length, 1), put(b, 0, 1), put(b, id, 4), put(b, 0, 4);
  put(b, 0x3000, 4), put(b, 0, 16), put(b, 0, 2), put(b, (uint64_t)direction, 1), put(b, 0, 1), put(b, 0, 4);
  put_bytes(b, data, (size_t)length);
  while (b->size % 4 != 0) put(b, 0, 1);
}

static void put_container(blob *b, const uint8_t *bytes, size_t count, int method) {
  static Bytef packed[40000];
  uLongf length = sizeof packed;
  if (method == 2)
    assert_int_equal(compress(packed, &length, bytes, count), Z_OK);
  else
    memcpy(packed, bytes, length = count);
  put_bytes(b, "LOBJ", 4);
  put(b, 16, 2), put(b, 1, 2), put(b, 32 + length, 4), put(b, 10, 4);
  put(b, (uint64_t)method, 2), put(b, 0, 6), put(b, count, 4), put(b, 0, 4);
  put_bytes(b, packed, length);
  for (size_t i = 0; i < length % 4; i++) put(b, 0, 1);
}

// Objects of every kind; the times of the frames are 1 s, 1.25 s and 1.250001 s.
static void put_objects(blob *b) {
  uint8_t data[64] = {0};
  put_object(b, 32, 48, 96, 2, 0);  // a marker
  put(b, 0, 48);
  put_object(b, 32, 32, 73, 2, 900000000);  // an error frame
  for (int i = 0; i < 4; i++) put(b, 1, 8);
  put_frame(b, 1, 1, 95000, 0x123, 0x80, 2, "\x09\x09");  // a request, 0.95 s in units of 10 us
  put_frame(b, 1, 1, 100000, 0x123, 0, 2, "\x01\x02");
  put_frame(b, 86, 2, 1250000000, 0x92345678, 1, 2, "\xd2\x04");
  memcpy(data, "\x10\xff", 2);
  put_fd(b, 1250001000, 0x123, 2, data);
  data[63] = 77;
  put_fd_64(b, 1300000000, 0x7ff, 2, 64, data);  // a request to send
  put_fd_64(b, 1400000000, 0x7ff, 0, 64, data);
}

static const double blf_rows[4][4] = {
    {1, 1, 2, NAN}, {1.25, NAN, NAN, 0.1 * 1234}, {1.250001, 16, 255, NAN}, {1.4, NAN, NAN, NAN}};

static void blf_files(void **state) {
  scratch *s = *state;
  static blob objects, file;
  objects.size = 0;
  put_objects(&objects);
  // One container; a container for every few bytes, so that objects continue in the next one; both methods; no container.
  static const size_t parts[] = {100000, 7, 50, 333};
  for (int method = 0; method < 3; method += 2)
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
      file = (blob){.size = 0};
      put_header(&file);
      for (size_t at = 0, n; at < objects.size; at += n) {
        n = objects.size - at < parts[i] ? objects.size - at : parts[i];
        put_container(&file, objects.at + at, n, method);
      }
      expect(s, (const char *)file.at, file.size, 4, blf_rows);
    }
  file = (blob){.size = 0};
  put_header(&file);
  put_bytes(&file, objects.at, objects.size);
  expect(s, (const char *)file.at, file.size, 4, blf_rows);
  scratch_write(s, "t.blf", (const char *)file.at, file.size);
  od_table *t = can_read(s, "t.blf", "m.dbc");
  can_same(can_value(t, 3, "F.z"), 77, "the last byte of 64");
  od_table_free(t);
}

// A file that ends anywhere gives the rows before its end and is reported as cut. Changed bytes give rows or an error.
static void damaged_blf(void **state) {
  scratch *s = *state;
  static blob objects, file;
  objects = (blob){.size = 0}, file = (blob){.size = 0};
  put_objects(&objects);
  put_header(&file);
  put_container(&file, objects.at, 200, 2);
  put_container(&file, objects.at + 200, objects.size - 200, 2);
  scratch_put(s, "m.dbc", dbc);
  int cuts = 0;
  for (size_t n = 60; n < file.size; n++) {
    od_row_reader *r = NULL;
    od_error err = {0};
    char path[512];
    snprintf(path, sizeof path, "%s", scratch_path(s, "m.dbc"));
    const char *databases[] = {path, NULL};
    od_table_wish wish = {.databases = databases};
    od_status status = od_row_reader_open(scratch_write(s, "t.blf", (const char *)file.at, n), &wish, &r, &err);
    bool end = false;
    double values[8];
    assert_true(status == OD_OK || (status == OD_BAD_INPUT && err.text[0]));
    while (status == OD_OK && !end) status = od_row_reader_next(r, values, &end, &err);
    if (r) cuts += od_row_reader_is_cut(r);
    od_row_reader_close(r);
  }
  assert_true(cuts > 100);
  for (size_t n = 0; n < file.size; n++) {
    od_table *t = NULL;
    od_error err = {0};
    file.at[n] ^= 0x41;
    scratch_write(s, "t.blf", (const char *)file.at, file.size);
    od_status status = can_try(s, "t.blf", "m.dbc", &t, &err);
    assert_true(status == OD_OK || err.text[0]);
    od_table_free(t);
    file.at[n] ^= 0x41;
  }
}

static void starts_at(scratch *s, const char *trace, const char *start) {
  od_row_reader *r = NULL;
  od_error err = {0};
  char path[512];
  snprintf(path, sizeof path, "%s", scratch_put(s, "m.dbc", dbc));
  const char *databases[] = {path, NULL};
  od_table_wish wish = {.databases = databases};
  if (od_row_reader_open(scratch_path(s, trace), &wish, &r, &err) != OD_OK) fail_msg("%s", err.text);
  const char *found = od_row_reader_start_time(r);
  if (!start) assert_null(found);
  if (start) assert_string_equal(found, start);
  od_row_reader_close(r);
}

static void start_times(void **state) {
  scratch *s = *state;
  static blob file;
  scratch_put(s, "t.log", " (2015-12-31 23:59:59.999999)  can0  123   [2]  01 02\n");
  starts_at(s, "t.log", "2015-12-31T23:59:59.999999");
  scratch_put(s, "t.log", "(1.5) can0 123#01\n");
  starts_at(s, "t.log", NULL);
  scratch_put(s, "t.asc", "date Die Okt 3 03:06:13 pm 2017\nbase hex timestamps absolute\n0.5 1 123 Rx d 1 00\n");
  starts_at(s, "t.asc", "2017-10-03T15:06:13");
  scratch_put(s, "t.asc", "date Sat Sep 30 12:06:13.191 AM 2017\nbase hex timestamps absolute\n0.5 1 123 Rx d 1 00\n");
  starts_at(s, "t.asc", "2017-09-30T00:06:13.191");
  file = (blob){.size = 0};
  put_header(&file);
  put_objects(&file);
  scratch_write(s, "t.blf", (const char *)file.at, file.size);
  starts_at(s, "t.blf", "2017-09-30T15:06:13.191");
}

// --- Streams ----------------------------------------------------------------------------------------------------------

static od_row_reader *open_reader(scratch *s, const char *trace, const od_table_wish *wish) {
  od_row_reader *r = NULL;
  od_error err = {0};
  if (od_row_reader_open(scratch_path(s, trace), wish, &r, &err) != OD_OK) fail_msg("%s", err.text);
  return r;
}

// Only wanted columns give rows, in every pass and in every reader of the same file.
static void wanted_columns(void **state) {
  scratch *s = *state;
  char path[512];
  snprintf(path, sizeof path, "%s", scratch_put(s, "m.dbc", dbc));
  const char *databases[] = {path, NULL};
  od_table_wish wish = {.databases = databases};
  scratch_put(
      s, "t.log",
      "(1436509052.250000) can0 123#0102\n(1436509052.500000) can0 12345678#D204\n(1436509052.7) can0 123#10FF\n"
      "(1436509052.8) can0 123#10\n(1436509052.9) can0 555#10\n(1436509053) can0 123#FF01\n");
  od_row_reader *r = open_reader(s, "t.log", &wish), *other = NULL;
  const od_table *head = od_row_reader_head(r);
  od_error err;
  bool end, wanted[4] = {false};
  double values[4];
  assert_int_equal(head->columns, 4);
  assert_string_equal(head->name[0], "time");
  assert_string_equal(head->unit[0], "s");
  assert_string_equal(head->name[1], "A.a");
  assert_string_equal(head->unit[1], "bar");
  assert_string_equal(od_row_reader_origin(r, 1).group, "A (123 on can0)");
  assert_string_equal(od_row_reader_origin(r, 1).comment, "pressure; 0 = none, 255 = SNA");
  assert_null(od_row_reader_origin(r, 2).comment);
  assert_string_equal(od_row_reader_origin(r, 3).group, "B (12345678 on can0)");
  assert_string_equal(od_row_reader_start_time(r), "2015-07-10T06:17:32.25Z");
  wanted[2] = true;
  od_row_reader_want(r, wanted);
  assert_int_equal(od_row_reader_again(r, &other, &err), OD_OK);
  // Byte b is missing in the fourth frame, and byte a is not wanted.
  static const double times[] = {0, 0.45, 0.55, 0.75}, b[] = {2, 255, NAN, 1};
  static const int lines[] = {1, 3, 4, 6};
  for (int pass = 0; pass < 3; pass++) {
    od_row_reader *now = pass == 1 ? other : r;
    for (int k = 0; k < 4; k++) {
      assert_int_equal(od_row_reader_next(now, values, &end, &err), OD_OK);
      assert_false(end);
      can_same(values[0], times[k], "time");
      can_same(values[2], b[k], "b");
      assert_int_equal(od_row_reader_line(now), lines[k]);
    }
    assert_int_equal(od_row_reader_next(now, values, &end, &err), OD_OK);
    assert_true(end);
    assert_false(od_row_reader_is_cut(now));
    assert_false(od_row_reader_has_changed(now));
    od_row_reader_rewind(now);
  }
  od_row_reader_close(other);
  od_row_reader_close(r);
}

// Rows come in the order of time. Frames may be out of order by up to 65536 frames.
static void sorted(void **state) {
  scratch *s = *state;
  expect_text(s, "(1.250001) can0 123#10FF\n(1.250000) can1 12345678#D204\n(1.000000) can0 123#0102\n", 3, from_one);
  FILE *f = fopen(scratch_path(s, "t.log"), "w");
  enum { COUNT = 70000 };
  for (int k = 0; k < COUNT; k++)
    fprintf(f, "(%d.000000) can0 123#%02X%02X\n", k / 100 * 100 + 99 - k % 100 + 1, k % 100, 0);
  fclose(f);
  od_table *t = can_read(s, "t.log", "m.dbc");
  assert_int_equal(t->rows, COUNT);
  for (int k = 0; k < COUNT; k++) {
    can_same(t->data[(long)k * t->columns], k + 1, "time");
    can_same(can_value(t, k, "A.a"), 99 - k % 100, "a");
  }
  od_table_free(t);
  f = fopen(scratch_path(s, "t.log"), "w");
  for (int k = 0; k < COUNT; k++) fprintf(f, "(%d.000000) can0 123#0000\n", k + 2);
  fprintf(f, "(1.000000) can0 123#0000\n");
  fclose(f);
  can_fails(s, "t.log", "m.dbc", "t.log:70001: the time goes back by 70000 s; expected frames in the order of time");
  // The last frame belongs before 65536 frames, the largest displacement, and then before one frame more.
  for (int more = 0; more < 2; more++) {
    f = fopen(scratch_path(s, "t.log"), "w");
    for (int k = 0; k < COUNT; k++) fprintf(f, "(%d.000000) can0 123#0000\n", k);
    fprintf(f, "(%d.500000) can0 123#0102\n", COUNT - 65536 - 1 - more);
    fclose(f);
    if (more) break;
    t = can_read(s, "t.log", "m.dbc");
    assert_int_equal(t->rows, COUNT + 1);
    const long place = COUNT - 65536;
    near(t->data[place * t->columns], (double)place - 0.5, 1e-9);
    can_same(can_value(t, place, "A.a"), 1, "a");
    od_table_free(t);
  }
  can_fails(s, "t.log", "m.dbc", "t.log:70001: the time goes back by 65536.5 s; expected frames in the order of time");
}

// A trace may have 100000 signals, without the time.
static void most_signals(void **state) {
  scratch *s = *state;
  enum { MOST = 100000, EACH = 64 };
  for (int more = 0; more < 2; more++) {
    FILE *f = fopen(scratch_path(s, "many.dbc"), "w"), *trace = fopen(scratch_path(s, "many.log"), "w");
    for (int k = 0; k < MOST + more; k++) {
      const int id = k / EACH, bit = k % EACH;
      if (bit == 0) fprintf(f, "BO_ %d M%d: 8 X\n", id, id);
      fprintf(f, " SG_ s%d : %d|1@1+ (1,0) [0|0] \"\" X\n", bit, bit);
      if (bit == 0) fprintf(trace, "(%d.000000) can0 %03X#0000000000000000\n", 1 + id, (unsigned)id);
    }
    fclose(f);
    fclose(trace);
    if (more) break;
    char path[512];
    snprintf(path, sizeof path, "%s", scratch_path(s, "many.dbc"));
    const char *databases[] = {path, NULL};
    od_row_reader *r = open_reader(s, "many.log", &(od_table_wish){.databases = databases});
    assert_int_equal(od_row_reader_head(r)->columns, 1 + MOST);
    od_row_reader_close(r);
  }
  can_fails(s, "many.log", "many.dbc",
            "the messages of the trace have more than 100000 signals, the largest allowed number");
}

// A message on two buses has columns for each, and two databases may have messages of the same name.
static void several(void **state) {
  scratch *s = *state;
  char paths[3][512];
  scratch_put(s, "t.log", "(1.0) can0 123#0102\n(2.0) vcan1 123#0304\n(3.0) can0 100#05\n(4.0) can0 101#06\n");
  snprintf(paths[0], sizeof *paths, "%s", scratch_put(s, "m.dbc", dbc));
  snprintf(paths[1], sizeof *paths, "%s",
           scratch_put(s, "left.dbc",
                       "BO_ 256 P: 1 X\n SG_ x : 0|8@1+ (1,0) [0|0] \"\" X\n"
                       "BO_ 291 A: 2 X\n SG_ other : 0|8@1+ (1,0) [0|0] \"\" X\n"));
  snprintf(paths[2], sizeof *paths, "%s",
           scratch_put(s, "right.dbc", "BO_ 257 P: 1 X\n SG_ x : 0|8@1+ (1,0) [0|0] \"\" X\n"));
  const char *databases[] = {paths[0], paths[1], paths[2], NULL};
  od_table *t = NULL;
  od_error err = {0};
  if (od_table_read(scratch_path(s, "t.log"), &(od_table_wish){.databases = databases}, &t, &err) != OD_OK)
    fail_msg("%s", err.text);
  assert_int_equal(t->columns, 7);
  can_same(can_value(t, 0, "can0.A.b"), 2, "first bus");
  can_same(can_value(t, 0, "vcan1.A.b"), NAN, "first bus");
  can_same(can_value(t, 1, "vcan1.A.b"), 4, "second bus");
  can_same(can_value(t, 2, "left/P.x"), 5, "second database");
  can_same(can_value(t, 3, "right/P.x"), 6, "third database");
  od_table_free(t);
}

static void losses(void **state) {
  scratch *s = *state;
  char path[512];
  void *stream = NULL;
  od_error err = {0};
  snprintf(path, sizeof path, "%s", scratch_put(s, "m.dbc", dbc));
  const char *databases[] = {path, NULL};
  scratch_put(s, "t.log",
              "(1.0) can0 123#0102\n(1.1) can0 123#01\n(1.2) can0 124#01\n(1.3) can0 20000001#00\n(1.4) can0 123#R\n");
  od_table_wish wish = {.databases = databases};
  if (od_candump_format.open(scratch_path(s, "t.log"), &wish, &stream, &err) != OD_OK) fail_msg("%s", err.text);
  od_can_losses l = od_can_stream_losses(stream);
  assert_int_equal(l.frames, 5);
  assert_int_equal(l.short_data, 1);
  assert_int_equal(l.unknown, 1);
  assert_int_equal(l.errors, 1);
  assert_int_equal(l.incomplete, 0);
  assert_string_equal(od_can_stream_remark(stream, 0), "the databases have no message for 1 of 5 frames");
  assert_string_equal(
      od_can_stream_remark(stream, 1),
      "1 frame is shorter than the message in the database; check whether the database belongs to the trace");
  assert_string_equal(od_can_stream_remark(stream, 2), "the trace has 1 error frame");
  assert_null(od_can_stream_remark(stream, 3));
  assert_null(od_can_stream_remark(stream, 9));
  od_can_stream_close(stream);
}

static void bad_traces(void **state) {
  scratch *s = *state;
  scratch_put(s, "m.dbc", dbc);
  scratch_put(s, "t.log", "(1.0) can0 123#0102\n(1.0) can0 7FF#\n(1.1) can0 18FEEE00#01\n(1.1) can0 123#R\n");
  can_fails(
      s, "t.log", NULL,
      "t.log: a CAN trace needs a database of its messages: `database: FILE.dbc` in the section `data`, or --dbc FILE; "
      "identifiers of the trace: 123 (1 frame), 7FF (1 frame), 18FEEE00 (1 frame)");
  scratch_put(s, "other.dbc", "BO_ 1 P: 1 X\n SG_ x : 0|8@1+ (1,0) [0|0] \"\" X\n");
  can_fails(s, "t.log", "other.dbc",
            "t.log: no message of the databases occurs in the trace; identifiers of the trace: 123 (1 frame), 7FF");
}

static void bad_lines(void **state) {
  scratch *s = *state;
  static const struct {
    const char *line, *message;
  } lines[] = {
      {"(1.0) can0 123#010\n", ":2:18: found '0', expected two hexadecimal digits"},
      {"(1.0) can0 123#01GG\n", ":2:18: found 'GG', expected data bytes"},
      {"(1.0) can0 923#01\n", ":2:12: found '923#01', expected an identifier of 11 bits"},
      {"(1.0) can0 123456789#01\n", ":2:20: found '9#01', expected an identifier of at most 8 digits"},
      {"(1.0) can0 123#010203040506070809\n", ":2:32: found '09', expected at most 8 bytes"},
      {"(1.x) can0 123#01\n", ":2:4: found 'x)', expected ')' after the time"},
      {"(99999999999.0) can0 123#01\n", "expected a time of at most 9000000000 s"},
      {"(1.0) can0\n", ":2:7: found 'can0', expected the name of an interface"},
      {"(1.0) can0 123 [3] 01 02\n", ":2:25: the line ends, expected two hexadecimal digits"},
      {"(1.0) can0 123 [99] 01 02\n", "expected at most 64 bytes"},
      {"can0 123#01\n", "expected a time in parentheses; record the trace with candump -l or candump -ta"},
      {"(1436509052.5) can0 123#01\n", "expected a time of the same kind as in the lines before"},
      {"(2015-13-10 06:17:32.2) can0 123#01\n", "expected a date and time such as 2015-07-10 06:17:32.249713"},
  };
  scratch_put(s, "m.dbc", dbc);
  for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
    char text[256];
    snprintf(text, sizeof text, "(1.0) can0 123#0102\n%s(3.0) can0 123#0102\n", lines[i].line);
    scratch_put(s, "t.log", text);
    can_fails(s, "t.log", "m.dbc", lines[i].message);
  }
  static const struct {
    const char *line, *message;
  } asc[] = {
      {"1.0 1 123 Rx d 2 01\n", ":2:20: the line ends, expected a byte from 00 to FF"},
      {"1.0 1 923 Rx d 2 01 02\n", ":2:7: found '923', expected an identifier, with x if it has 29 bits"},
      {"1.0 1 123 Rx d 2 01 100\n", ":2:21: found '100', expected a byte from 00 to FF"},
      {"1.0 1 123 Rx d z 01 02\n", ":2:16: found 'z', expected a length code from 0 to f"},
      {"1.0 CANFD 1 Rx 123 1 0 f 65 01\n", ":2:26: found '65', expected a number of bytes from 0 to 64"},
  };
  for (size_t i = 0; i < sizeof asc / sizeof *asc; i++) {
    char text[256];
    snprintf(text, sizeof text, "base hex timestamps absolute\n%s", asc[i].line);
    scratch_put(s, "t.asc", text);
    can_fails(s, "t.asc", "m.dbc", asc[i].message);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(candump_files, scratch_setup, scratch_teardown),
      cmocka_unit_test_setup_teardown(candump_terminal, scratch_setup, scratch_teardown),
      cmocka_unit_test_setup_teardown(candump_differences, scratch_setup, scratch_teardown),
      cmocka_unit_test_setup_teardown(asc_files, scratch_setup, scratch_teardown),
      cmocka_unit_test_setup_teardown(blf_files, scratch_setup, scratch_teardown),
      cmocka_unit_test_setup_teardown(damaged_blf, scratch_setup, scratch_teardown),
      cmocka_unit_test_setup_teardown(start_times, scratch_setup, scratch_teardown),
      cmocka_unit_test_setup_teardown(wanted_columns, scratch_setup, scratch_teardown),
      cmocka_unit_test_setup_teardown(sorted, scratch_setup, scratch_teardown),
      cmocka_unit_test_setup_teardown(most_signals, scratch_setup, scratch_teardown),
      cmocka_unit_test_setup_teardown(several, scratch_setup, scratch_teardown),
      cmocka_unit_test_setup_teardown(losses, scratch_setup, scratch_teardown),
      cmocka_unit_test_setup_teardown(bad_traces, scratch_setup, scratch_teardown),
      cmocka_unit_test_setup_teardown(bad_lines, scratch_setup, scratch_teardown),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
