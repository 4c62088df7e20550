// Signals of CAN messages. Oracles: bits of a known frame read by hand from its binary form, the missing codes printed in SAE J1939-71
// and NMEA 2000, and for random databases a decoder that assembles every value bit by bit from the definition of the two byte orders.
#include <math.h>
#include <string.h>

#include "support/test.h"
#include "support/can.h"

// Bytes of the known frame, in binary:
//   0x12 0001 0010   0x34 0011 0100   0x56 0101 0110   0x78 0111 1000   0x9a 1001 1010   0xbc 1011 1100   0xde 1101 1110   0xf0 1111 0000
static const char known[] = "(1.000000) can0 123#123456789ABCDEF0\n";

static void by_hand(void **state) {
  scratch *s = *state;
  static const struct {
    const char *layout;
    double value;
  } signals[] = {
      {"0|8@1+ (1,0)", 0x12},
      {"0|8@1- (1,0)", 18},
      {"8|16@1+ (1,0)", 0x5634},
      {"4|12@1+ (1,0)", 0x341},
      {"1|1@1+ (1,0)", 1},
      {"0|1@1+ (1,0)", 0},
      {"7|16@0+ (1,0)", 0x1234},
      {"2|9@0+ (1,0)", 141},  // 010 then 001101
      {"30|4@0- (1,0)", -1},
      {"11|4@0+ (1,0)", 4},
      {"32|8@1- (1,0)", 0x9a - 256},
      {"39|24@0- (1,0)", 0x9abcde - 0x1000000},
      {"56|8@1- (0.5,3)", -5},
      {"7|64@0+ (1,0)", 1311768467463790320.0},
      {"0|64@1- (1,0)", -1090226688147180526.0},  // 0xf0debc9a78563412 - 2^64
      {"63|8@0+ (-2,100)", 100 - 2 * 0xf0},
  };
  enum { COUNT = sizeof signals / sizeof *signals };
  char dbc[4096] = "VERSION \"\"\nBO_ 291 M: 8 X\n", name[16];
  for (int i = 0; i < COUNT; i++)
    snprintf(dbc + strlen(dbc), sizeof dbc - strlen(dbc), " SG_ s%d : %s [0|0] \"V\" X\n", i, signals[i].layout);
  scratch_put(s, "m.dbc", dbc);
  scratch_put(s, "t.log", known);
  od_table *t = can_read(s, "t.log", "m.dbc");
  assert_int_equal(t->rows, 1);
  assert_int_equal(t->columns, COUNT + 1);
  for (int i = 0; i < COUNT; i++) {
    snprintf(name, sizeof name, "M.s%d", i);
    can_same(can_value(t, 0, name), signals[i].value, signals[i].layout);
    assert_string_equal(t->unit[i + 1], "V");
  }
  od_table_free(t);
}

// 1.5f is 0x3fc00000; -2.25 is 0xc002000000000000.
static void floating_point(void **state) {
  scratch *s = *state;
  scratch_put(s, "m.dbc",
              "BO_ 1 A: 8 X\n SG_ f : 0|32@1- (1,0) [0|0] \"\" X\n SG_ g : 39|32@0- (2,1) [0|0] \"\" X\n"
              "BO_ 2 B: 8 X\n SG_ d : 7|64@0- (1,0) [0|0] \"\" X\n"
              "SIG_VALTYPE_ 1 f : 1;\nSIG_VALTYPE_ 1 g : 1;\nSIG_VALTYPE_ 2 d 2;\n");
  scratch_put(s, "t.log", "(1.0) c 001#0000C03F3FC00000\n(1.5) c 002#C002000000000000\n");
  od_table *t = can_read(s, "t.log", "m.dbc");
  can_same(can_value(t, 0, "A.f"), 1.5, "float, Intel");
  can_same(can_value(t, 0, "A.g"), 4, "float, Motorola");
  can_same(can_value(t, 0, "B.d"), NAN, "another message");
  can_same(can_value(t, 1, "B.d"), -2.25, "double");
  can_same(can_value(t, 1, "time"), 1.5, "time");
  od_table_free(t);
}

// --- Missing values -----------------------------------------------------------------------------------------------------

static void one_value(scratch *s, const char *attributes, const char *layout, const char *data, double value) {
  char dbc[1024], log[128];
  const char *id = strstr(attributes, "2566843904") ? "2566843904" : "2566844158";
  snprintf(dbc, sizeof dbc, "BO_ %s M: 8 X\n SG_ x : %s [0|0] \"\" X\n%s", id, layout, attributes);
  snprintf(log, sizeof log, "(1.0) c 18FEEE00#%s\n", data);
  scratch_put(s, "m.dbc", dbc);
  scratch_put(s, "t.log", log);
  od_table *t = can_read(s, "t.log", "m.dbc");
  can_same(can_value(t, 0, "M.x"), value, data);
  od_table_free(t);
}

// 2566844158 is 0x80000000 + 0x18FEEEFE, a message from any source; 2566843904 ends in 00, a message from source 0. Ranges of SAE J1939-71, table 1.
static void missing_in_j1939(void **state) {
  scratch *s = *state;
  static const char byte[] = "0|8@1+ (1,-40)", word[] = "8|16@1+ (0.125,0)", two[] = "6|2@1+ (1,0)",
                    four[] = "0|4@1+ (1,0)";
  one_value(s, "", byte, "FA", 210);
  one_value(s, "", byte, "FB", NAN);
  one_value(s, "", byte, "FE", NAN);
  one_value(s, "", byte, "FF", NAN);
  one_value(s, "", byte, "00", -40);
  one_value(s, "", word, "FFFFFA", 8031.875);
  one_value(s, "", word, "0000FB", NAN);
  one_value(s, "", word, "0000FE", NAN);
  one_value(s, "", word, "FFFFFF", NAN);
  one_value(s, "", word, "FF00FA", 8000);
  one_value(s, "", "0|32@1+ (1,0)", "FFFFFFFA", 4211081215.0);
  one_value(s, "", "0|32@1+ (1,0)", "000000FE", NAN);
  one_value(s, "", two, "7F", 1);
  one_value(s, "", two, "BF", NAN);
  one_value(s, "", two, "FF", NAN);
  one_value(s, "", four, "0D", 13);
  one_value(s, "", four, "0E", NAN);
  one_value(s, "", four, "0F", NAN);
  one_value(s, "", "0|1@1+ (1,0)", "FF", 1);
  one_value(s, "", "0|8@1- (1,0)", "FF", -1);
  // The database names a code as a state, or as missing.
  one_value(s, "VAL_ 2566844158 x 15 \"sport\" 14 \"not available\" ;\n", four, "0F", 15);
  one_value(s, "VAL_ 2566844158 x 15 \"sport\" 14 \"not available\" ;\n", four, "0E", NAN);
}

// In NMEA 2000 the three largest values of a byte are no data.
static void missing_in_nmea(void **state) {
  scratch *s = *state;
  static const char nmea[] = "BA_ \"ProtocolType\" \"NMEA2000\";\n";
  one_value(s, nmea, "0|16@1+ (1,0)", "FCFF", 65532);
  one_value(s, nmea, "0|16@1+ (1,0)", "FDFF", NAN);
  one_value(s, nmea, "0|16@1+ (1,0)", "FFFF", NAN);
  one_value(s, nmea, "0|16@1- (1,0)", "FC7F", 32764);
  one_value(s, nmea, "0|16@1- (1,0)", "FF7F", NAN);
  one_value(s, nmea, "0|16@1- (1,0)", "FFFF", -1);
  one_value(s, nmea, "0|2@1+ (1,0)", "02", 2);
  one_value(s, nmea, "0|2@1+ (1,0)", "03", NAN);
}

// A message that is not J1939: only named values at an end of the range are missing.
static void missing_by_name(void **state) {
  scratch *s = *state;
  static const char plain[] =
      "BA_DEF_ BO_ \"VFrameFormat\" ENUM \"StandardCAN\",\"ExtendedCAN\",\"reserved\",\"J1939PG\";\n"
      "BA_ \"VFrameFormat\" BO_ 2566843904 1;\n";
  char text[512];
  one_value(s, plain, "0|8@1+ (1,0)", "FF", 255);
  snprintf(text, sizeof text, "%sVAL_ 2566843904 x 255 \"SNA\" 254 \"Error\" 2 \"invalid\" ;\n", plain);
  one_value(s, text, "0|8@1+ (1,0)", "FF", NAN);
  one_value(s, text, "0|8@1+ (1,0)", "FE", 254);
  one_value(s, text, "0|8@1+ (1,0)", "02", 2);
  snprintf(text, sizeof text, "%sVAL_ 2566843904 x -128 \"not available\" ;\n", plain);
  one_value(s, text, "0|8@1- (1,0)", "80", NAN);
  one_value(s, text, "0|8@1- (1,0)", "81", -127);
  snprintf(text, sizeof text, "%sVAL_ 2566843904 x 0 \"invalid\" 1 \"valid\" ;\n", plain);
  one_value(s, text, "0|1@1+ (1,0)", "00", 0);
}

// --- Random databases ---------------------------------------------------------------------------------------------------

enum { TRIALS = 300, SIGNALS = 12, FRAMES = 20 };

static uint64_t dice_state = 1;
static uint64_t dice(uint64_t below) {
  dice_state ^= dice_state >> 12, dice_state ^= dice_state << 25, dice_state ^= dice_state >> 27;
  return (dice_state * UINT64_C(0x2545F4914F6CDD1D) >> 20) % below;
}

typedef struct layout {
  int start, length;
  bool is_motorola, is_signed;
  int type;  // 0 integer, 1 float, 2 double
  int by;    // value of the switch, signal 0; -1: always present
  double factor, offset;
} layout;

static int bit_of(const uint8_t *data, int number) {
  return data[number / 8] >> number % 8 & 1;
}

// The bits of a signal from the highest to the lowest. Motorola: after bit 0 of a byte comes bit 7 of the next byte.
static double bit_by_bit(const layout *l, const uint8_t *data) {
  uint64_t raw = 0;
  int at = l->start;
  for (int k = 0; k < l->length; k++) {
    if (l->is_motorola) {
      raw = 2 * raw + (uint64_t)bit_of(data, at);
      at = at % 8 == 0 ? at + 15 : at - 1;
    } else {
      raw = 2 * raw + (uint64_t)bit_of(data, l->start + l->length - 1 - k);
    }
  }
  double value = (double)raw;
  if (l->type == 1) {
    uint32_t bits = (uint32_t)raw;
    float f;
    memcpy(&f, &bits, sizeof f);
    value = f;
  } else if (l->type == 2) {
    memcpy(&value, &raw, sizeof value);
  } else if (l->is_signed && raw >> (l->length - 1)) {
    // Two's complement: minus the number of steps up to 2^length.
    value = l->length == 64 ? -(double)(~raw + 1) : -(double)((UINT64_C(1) << l->length) - raw);
  }
  return l->factor * value + l->offset;
}

// The last bit of a Motorola signal, -1: beyond the data.
static bool fits(const layout *l, int bytes) {
  int at = l->start;
  if (!l->is_motorola) return l->start + l->length <= 8 * bytes;
  for (int k = 1; k < l->length; k++) {
    at = at % 8 == 0 ? at + 15 : at - 1;
    if (at >= 8 * bytes) return false;
  }
  return true;
}

static layout random_layout(int bytes) {
  static const double factors[] = {1, 0.5, 0.125, 0.1, 1e-7, -3, 0.03125}, offsets[] = {0, -40, 1000.5, -0.001};
  layout l;
  do {
    l = (layout){.start = (int)dice((uint64_t)(8 * bytes)), .length = 1 + (int)dice(64), .by = -1};
    l.type = (int)dice(8);
    if (l.type > 2) l.type = 0;
    if (l.type == 1) l.length = 32;
    if (l.type == 2) l.length = 64;
    l.is_motorola = dice(2);
    l.is_signed = dice(2);
  } while (!fits(&l, bytes));
  l.factor = factors[dice(7)];
  l.offset = offsets[dice(4)];
  return l;
}

static void random_databases(void **state) {
  scratch *s = *state;
  static const int sizes[] = {1, 2, 5, 8, 12, 24, 64};
  long compared = 0, present = 0;
  for (int trial = 0; trial < TRIALS; trial++) {
    layout l[SIGNALS];
    int bytes = sizes[dice(7)];
    char dbc[8192], log[FRAMES * 200] = "", name[32];
    uint8_t data[FRAMES][64];
    bool has_switch = dice(2);
    snprintf(dbc, sizeof dbc, "BO_ 291 Message: %d Node\n", bytes);
    for (int i = 0; i < SIGNALS; i++) {
      char mark[16] = "";
      l[i] = random_layout(bytes);
      if (has_switch && i == 0) {
        l[0] = (layout){.start = (int)dice((uint64_t)(8 * bytes - 1)), .length = 2, .by = -1, .factor = 1};
        snprintf(mark, sizeof mark, "M ");
      } else if (has_switch && dice(2)) {
        l[i].by = (int)dice(4);
        snprintf(mark, sizeof mark, "m%d ", l[i].by);
      }
      snprintf(dbc + strlen(dbc), sizeof dbc - strlen(dbc), " SG_ S%d %s: %d|%d@%d%c (%.17g,%.17g) [0|0] \"\" Node\n",
               i, mark, l[i].start, l[i].length, !l[i].is_motorola, l[i].is_signed ? '-' : '+', l[i].factor,
               l[i].offset);
    }
    for (int i = 0; i < SIGNALS; i++)
      if (l[i].type > 0)
        snprintf(dbc + strlen(dbc), sizeof dbc - strlen(dbc), "SIG_VALTYPE_ 291 S%d : %d;\n", i, l[i].type);
    for (int k = 0; k < FRAMES; k++) {
      char *end = log + strlen(log);
      end += sprintf(end, "(%d.000000) can0 123#%s", k + 1, bytes > 8 ? "#1" : "");
      for (int b = 0; b < bytes; b++) {
        data[k][b] = dice(4) ? (uint8_t)dice(256) : dice(2) ? 0xff : 0;
        end += sprintf(end, "%02X", data[k][b]);
      }
      sprintf(end, "\n");
    }
    scratch_put(s, "m.dbc", dbc);
    scratch_put(s, "t.log", log);
    od_table *t = can_read(s, "t.log", "m.dbc");
    long row = 0;
    for (int k = 0; k < FRAMES; k++) {
      double selected = has_switch ? bit_by_bit(&l[0], data[k]) : -1;
      assert_true(row < t->rows);
      can_same(can_value(t, row, "time"), k + 1, "time");
      for (int i = 0; i < SIGNALS; i++) {
        bool is_present = l[i].by < 0 || l[i].by == selected;
        snprintf(name, sizeof name, "Message.S%d", i);
        can_same(can_value(t, row, name), is_present ? bit_by_bit(&l[i], data[k]) : NAN, dbc);
        compared++;
        present += is_present;
      }
      row++;
    }
    assert_int_equal(row, t->rows);
    od_table_free(t);
  }
  assert_true(present > compared / 2 && present < compared);
}

// --- Multiplexing -------------------------------------------------------------------------------------------------------

// Bytes: a switch, a second switch that is present for 1 only, data.
static void nested_switches(void **state) {
  scratch *s = *state;
  scratch_put(s, "m.dbc",
              "BO_ 5 M: 4 X\n SG_ a M : 0|8@1+ (1,0) [0|0] \"\" X\n SG_ b m1M : 8|8@1+ (1,0) [0|0] \"\" X\n"
              " SG_ c m0 : 16|8@1+ (1,0) [0|0] \"\" X\n SG_ d m2 : 16|8@1+ (1,0) [0|0] \"\" X\n"
              " SG_ e m3 : 24|8@1+ (1,0) [0|0] \"\" X\n"
              "SG_MUL_VAL_ 5 b a 1-1;\nSG_MUL_VAL_ 5 c a 0-0, 4-9;\nSG_MUL_VAL_ 5 d b 2-3;\nSG_MUL_VAL_ 5 e b 3-3;\n");
  scratch_put(
      s, "t.log",
      "(1.0) c 005#00000700\n(2.0) c 005#09020700\n(3.0) c 005#03030700\n(4.0) c 005#01020708\n(5.0) c 005#01030708\n");
  static const double expected[5][5] = {
      {0, NAN, 7, NAN, NAN}, {9, NAN, 7, NAN, NAN}, {3, NAN, NAN, NAN, NAN}, {1, 2, NAN, 7, NAN}, {1, 3, NAN, 7, 8}};
  static const char *const names[] = {"M.a", "M.b", "M.c", "M.d", "M.e"};
  od_table *t = can_read(s, "t.log", "m.dbc");
  assert_int_equal(t->rows, 5);
  for (int k = 0; k < 5; k++)
    for (int i = 0; i < 5; i++) can_same(can_value(t, k, names[i]), expected[k][i], names[i]);
  od_table_free(t);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(by_hand, scratch_setup, scratch_teardown),
      cmocka_unit_test_setup_teardown(floating_point, scratch_setup, scratch_teardown),
      cmocka_unit_test_setup_teardown(missing_in_j1939, scratch_setup, scratch_teardown),
      cmocka_unit_test_setup_teardown(missing_in_nmea, scratch_setup, scratch_teardown),
      cmocka_unit_test_setup_teardown(missing_by_name, scratch_setup, scratch_teardown),
      cmocka_unit_test_setup_teardown(random_databases, scratch_setup, scratch_teardown),
      cmocka_unit_test_setup_teardown(nested_switches, scratch_setup, scratch_teardown),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
