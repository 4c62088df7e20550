// Payloads of Sparkplug B. Oracle: bytes by hand from the wire format of protocol buffers and the layout of the standard; values by hand from their
// two's complements. Whole conversations with another encoder are in tests/sources/sparkplug.py.
#include "support/test.h"

#include <math.h>
#include <string.h>

#include "sources/sparkplug_payload.h"

static od_error err;

static od_sparkplug_payload read_payload(const char *bytes, size_t size) {
  od_sparkplug_payload p;
  assert_int_equal(od_sparkplug_read(bytes, size, &p, &err), OD_OK);
  return p;
}
#define READ(text) read_payload(text, sizeof(text) - 1)

static void test_fields(void **state) {
  (void)state;
  // Time 300, sequence 7, uuid "u", body 1 2, an unknown field 9 with 4 bytes, and three metrics.
  od_sparkplug_payload p = READ(
      "\x08\xac\x02\x12\x0c\x0a\x01\x70\x10\x05\x18\x80\x01\x20\x0a\x28\x01\x18\x07\x4d\x01\x02\x03\x04\x22\x01\x75\x2a\x02\x01\x02"
      "\x12\x02\x38\x01\x12\x05\x65\x00\x00\xc0\x3f");
  assert_true(p.has_time && p.time == 300 && p.has_sequence && p.sequence == 7 && p.metrics == 3);
  assert_true(p.uuid.length == 1 && p.uuid.at[0] == 'u' && p.body.length == 2 && p.body.at[1] == 2);
  od_sparkplug_metric m;
  assert_true(od_sparkplug_next(&p, &m));
  assert_true(m.name.length == 1 && m.name.at[0] == 'p' && m.has_alias && m.alias == 5 && m.has_time && m.time == 128);
  assert_true(m.type == 10 && m.is_historical && !m.is_transient && !m.is_null && m.field == OD_SPARKPLUG_NO_VALUE);
  assert_true(isnan(od_sparkplug_number(&m, 10)));
  assert_true(od_sparkplug_next(&p, &m) && m.is_null && !m.has_alias && !m.name.at);
  assert_true(od_sparkplug_next(&p, &m) && m.field == OD_SPARKPLUG_FLOAT && m.real == 1.5);
  assert_false(od_sparkplug_next(&p, &m));
  // The last value of a field counts; a field with another type of contents is skipped.
  p = READ("\x18\x01\x18\x02\x09\x01\x02\x03\x04\x05\x06\x07\x08");
  assert_true(p.sequence == 2 && !p.has_time);
  assert_int_equal(READ("").metrics, 0);
}

static void test_damaged(void **state) {
  (void)state;
  static const struct {
    const char *bytes;
    size_t size;
    const char *place;
  } damaged[] = {{"\x08", 1, "byte 1 "},                  // the number is missing
                 {"\x08\x80", 2, "byte 1 "},              // the number is cut
                 {"\x18\x01\x12\x05\x0a", 5, "byte 3 "},  // the metric is cut
                 {"\x12\x02\x0a\x05", 4, "byte 1 "},      // the name in the metric is cut
                 {"\x00\x01", 2, "byte 1 "},              // no field has the number 0
                 {"\x0b", 1, "byte 1 "},                  // groups are not in the standard
                 {"\x09\x01\x02", 3, "byte 1 "},
                 {"\x18\x80\x80\x80\x80\x80\x80\x80\x80\x80\x02", 11, "byte 1 "}};  // 65 bits
  for (size_t i = 0; i < sizeof damaged / sizeof *damaged; i++) {
    od_sparkplug_payload p;
    assert_int_equal(od_sparkplug_read(damaged[i].bytes, damaged[i].size, &p, &err), OD_BAD_INPUT);
    assert_non_null(strstr(err.text, damaged[i].place));
  }
  od_sparkplug_payload p = READ("\x18\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01");
  assert_true(p.sequence == UINT64_MAX);
}

static void test_values(void **state) {
  (void)state;
  enum { INT8 = 1, INT16, INT32, INT64, UINT8, UINT16, UINT32, UINT64, FLOAT, DOUBLE, BOOLEAN, STRING, DATE_TIME };
  static const struct {
    const char *bytes;
    size_t size;
    uint32_t type;
    double value;
  } of[] = {{"\x50\xf4\xff\xff\xff\x0f", 6, INT8, -12},
            {"\x50\xf4\x01", 3, INT8, -12},  // 244
            {"\x50\xf4\xff\xff\xff\x0f", 6, INT16, -12},
            {"\x50\xff\xff\x03", 4, INT16, -1},
            {"\x50\xff\xff\x03", 4, UINT16, 65535},
            {"\x50\xf4\xff\xff\xff\x0f", 6, INT32, -12},
            {"\x50\xf4\xff\xff\xff\x0f", 6, UINT32, 4294967284.0},
            {"\x58\xf4\xff\xff\xff\x0f", 6, UINT32, 4294967284.0},  // in the field for long numbers
            {"\x58\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 11, INT64, -1},
            {"\x58\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 11, UINT64, 18446744073709551615.0},
            {"\x50\xff\x01", 3, UINT8, 255},
            {"\x65\x00\x00\x80\xbf", 5, FLOAT, -1},
            {"\x69\x00\x00\x00\x00\x00\x00\x04\xc0", 9, DOUBLE, -2.5},
            {"\x70\x01", 2, BOOLEAN, 1},
            {"\x50\x05", 2, BOOLEAN, 1},
            {"\x58\x80\xfa\x01", 4, DATE_TIME, 32000},
            {"\x7a\x01\x31", 3, STRING, NAN},
            {"\x70\x01", 2, 0, 1},                   // without a data type
            {"\x70\x01", 2, 16, NAN},                // a data set
            {"\x38\x01\x70\x01", 4, BOOLEAN, NAN}};  // null
  for (size_t i = 0; i < sizeof of / sizeof *of; i++) {
    char bytes[64] = {0x12, (char)of[i].size};
    memcpy(bytes + 2, of[i].bytes, of[i].size);
    od_sparkplug_payload p = read_payload(bytes, of[i].size + 2);
    od_sparkplug_metric m;
    assert_true(od_sparkplug_next(&p, &m));
    const double value = od_sparkplug_number(&m, of[i].type);
    if (!(value == of[i].value || (isnan(value) && isnan(of[i].value)))) fail_msg("value %zu is %.17g", i, value);
  }
}

static void test_limits(void **state) {
  (void)state;
  static char bytes[2 * (OD_SPARKPLUG_METRICS + 1)];
  for (size_t i = 0; i < sizeof bytes; i += 2) bytes[i] = 0x12;  // empty metrics
  od_sparkplug_payload p;
  assert_int_equal(od_sparkplug_read(bytes, sizeof bytes - 2, &p, &err), OD_OK);
  assert_int_equal(p.metrics, OD_SPARKPLUG_METRICS);
  assert_int_equal(od_sparkplug_read(bytes, sizeof bytes, &p, &err), OD_BAD_INPUT);
  assert_non_null(strstr(err.text, "expected at most 65536 metrics"));
  assert_int_equal(od_sparkplug_read(bytes, OD_SPARKPLUG_LONGEST + 1, &p, &err), OD_BAD_INPUT);
  assert_non_null(strstr(err.text, "expected at most 4194304 bytes"));
}

// The command: time 1000000, a metric with the name, data type 11 and true.
static void test_command(void **state) {
  (void)state;
  static const char expected[] = "\x08\xc0\x84\x3d\x12\x1a\x0a\x14Node Control/Rebirth\x20\x0b\x70\x01";
  uint8_t bytes[OD_SPARKPLUG_COMMAND];
  assert_int_equal(od_sparkplug_rebirth(1000000, bytes), sizeof expected - 1);
  assert_memory_equal(bytes, expected, sizeof expected - 1);
  assert_true(od_sparkplug_rebirth(UINT64_MAX, bytes) <= sizeof bytes);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_fields), cmocka_unit_test(test_damaged),
                                     cmocka_unit_test(test_values), cmocka_unit_test(test_limits),
                                     cmocka_unit_test(test_command)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
