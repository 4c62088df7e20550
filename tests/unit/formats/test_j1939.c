// J1939 and NMEA 2000: messages by PGN, source addresses, transport protocol, fast packets. Oracle: frames written by hand from the
// layouts of SAE J1939-21 and NMEA 2000, and random messages that the test cuts into packets, sends interleaved and partly loses.
#include <string.h>

#include "support/test.h"
#include "formats/can_frames.h"
#include "support/can.h"

// EEC1: PGN 0xF004 (PDU2). TSC1: PGN 0 (PDU1). P3: PGN 0x1F004 with the data page. Long: PGN 0xFECA, 20 bytes. Part: PGN 0xEF00
// (PDU1), 10 bytes. 2147483648 marks 29 bits; FE is any source.
static const char dbc[] =
    "BO_ 2364540158 EEC1: 8 X\n SG_ Speed : 24|16@1+ (0.125,0) [0|8031.875] \"rpm\" X\n"
    "BO_ 2348875774 TSC1: 8 X\n SG_ Torque : 24|8@1+ (1,-125) [-125|125] \"%\" X\n"  // 0x8C00FFFE
    "BO_ 2582643966 P3: 8 X\n SG_ x : 0|8@1+ (1,0) [0|0] \"\" X\n"                   // 0x99F004FE
    "BO_ 2566834942 Long: 20 X\n SG_ first : 0|8@1+ (1,0) [0|0] \"\" X\n SG_ last : 152|8@1+ (1,0) [0|0] \"\" X\n"  // 0x98FECAFE
    "BO_ 2565865470 Part: 10 X\n SG_ end : 64|16@1+ (1,0) [0|0] \"\" X\n";  // 0x98EFFFFE

static od_table *decode(scratch *s, const char *trace) {
  scratch_put(s, "t.log", trace);
  return can_read(s, "t.log", "m.dbc");
}

static void put_dbc(scratch *s) {
  scratch_put(s, "m.dbc", dbc);
}

// Any priority, source and destination; a page is part of the PGN.
static void groups(void **state) {
  scratch *s = *state;
  put_dbc(s);
  od_table *t =
      decode(s,
             "(1.0) c 0CF00400#FFFFFF803EFFFFFF\n(2.0) c 18F00400#FFFFFF0000FFFFFF\n"
             "(3.0) c 0C000B21#0000007D00000000\n(4.0) c 0CF00500#0000000000000000\n(5.0) c 0DF00400#0900000000000000\n"
             "(6.0) c 004#0000000000000000\n");
  assert_int_equal(t->rows, 4);
  can_same(can_value(t, 0, "EEC1.Speed"), 0x3e80 * 0.125, "speed");
  can_same(can_value(t, 1, "EEC1.Speed"), 0, "speed");
  can_same(can_value(t, 2, "TSC1.Torque"), 0, "torque");
  can_same(can_value(t, 2, "EEC1.Speed"), NAN, "speed");
  can_same(can_value(t, 3, "P3.x"), 9, "page");
  od_table_free(t);
}

// With several sources of a PGN, the columns have the source address.
static void sources(void **state) {
  scratch *s = *state;
  put_dbc(s);
  od_table *t =
      decode(s,
             "(1.0) c 0CF00400#FFFFFF0800FFFFFF\n(2.0) c 0CF00411#FFFFFF1000FFFFFF\n(3.0) d 0C0B2100#0000007D00000000\n"
             "(3.0) d 0C000B21#0000007E00000000\n");
  assert_int_equal(t->columns, 4);
  can_same(can_value(t, 0, "EEC1@0.Speed"), 1, "source 0");
  can_same(can_value(t, 0, "EEC1@17.Speed"), NAN, "source 17");
  can_same(can_value(t, 1, "EEC1@17.Speed"), 2, "source 17");
  can_same(can_value(t, 2, "TSC1.Torque"), 1, "one source");
  od_table_free(t);
}

// Messages of one source have priority over messages of any source, and are not decoded for other sources.
static void own_source(void **state) {
  scratch *s = *state;
  char text[512];
  snprintf(text, sizeof text,
           "BO_ %u Any: 1 X\n SG_ x : 0|8@1+ (1,0) [0|0] \"\" X\nBO_ %u Own: 1 X\n SG_ y : 0|8@1+ (1,0) [0|0] \"\" X\n"
           "BA_ \"ProtocolType\" \"J1939\";\n",
           0x98FF01FEu, 0x98FF0122u);
  scratch_put(s, "m.dbc", text);
  od_table *t = decode(s, "(1.0) c 18FF0122#01\n(2.0) c 18FF0123#02\n(3.0) c 0CFF0122#03\n");
  can_same(can_value(t, 0, "Own.y"), 1, "own");
  can_same(can_value(t, 0, "Any.x"), NAN, "any");
  can_same(can_value(t, 1, "Any.x"), 2, "any");
  can_same(can_value(t, 2, "Own.y"), 3, "own");
  od_table_free(t);
}

// --- Transport protocol -------------------------------------------------------------------------------------------------

static od_can_losses losses_of(scratch *s) {
  char path[512];
  void *stream = NULL;
  od_error err = {0};
  snprintf(path, sizeof path, "%s", scratch_path(s, "m.dbc"));
  const char *databases[] = {path, NULL};
  od_table_wish wish = {.databases = databases};
  if (od_candump_format.open(scratch_path(s, "t.log"), &wish, &stream, &err) != OD_OK) fail_msg("%s", err.text);
  od_can_losses l = od_can_stream_losses(stream);
  od_can_stream_close(stream);
  return l;
}

// A BAM of 20 bytes (0x14) in 3 packets from source 3, between frames of another message and a BAM from source 4 that ends early.
static void broadcast(void **state) {
  scratch *s = *state;
  put_dbc(s);
  od_table *t = decode(
      s,
      "(1.00) c 1CECFF03#20140003FFCAFE00\n(1.01) c 1CECFF04#20140003FFCAFE00\n(1.05) c 1CEBFF03#0105020202020202\n"
      "(1.06) c 1CEBFF04#0107020202020202\n(1.07) c 0CF00400#FFFFFF0800FFFFFF\n(1.10) c 1CEBFF03#0202020202020202\n"
      "(1.11) c 1CEBFF04#0302020202020202\n(1.15) c 1CEBFF03#03020202020206FF\n(1.20) c 0CF00400#FFFFFF0800FFFFFF\n");
  assert_int_equal(t->rows, 3);
  can_same(can_value(t, 1, "time"), 1.15, "time of the last packet");
  can_same(can_value(t, 1, "Long.first"), 5, "first");
  can_same(can_value(t, 1, "Long.last"), 6, "last");
  can_same(can_value(t, 1, "EEC1.Speed"), NAN, "another message");
  od_table_free(t);
  assert_int_equal(losses_of(s).incomplete, 1);
}

// RTS and CTS from source 3 to 0x21: packets 2 and 1, then packet 2 again; the data of a PDU1 message.
static void connection(void **state) {
  scratch *s = *state;
  put_dbc(s);
  static const char begin[] = "(1.00) c 1CEC2103#100A0002FF00EF00\n(1.50) c 1CEC0321#110201FFFF00EF00\n";
  char text[1000];
  snprintf(text, sizeof text,
           "%s(2.6) c 1CEB2103#02020304FFFFFFFF\n(2.7) c 1CEB2103#02020304FFFFFFFF\n"
           "(2.8) c 1CEB2103#0101020304050607\n(2.9) c 1CEC0321#130A0002FF00EF00\n",
           begin);
  od_table *t = decode(s, text);
  assert_int_equal(t->rows, 1);
  can_same(can_value(t, 0, "time"), 2.8, "time");
  can_same(can_value(t, 0, "Part.end"), 0x0403, "data");
  od_table_free(t);
  assert_int_equal(losses_of(s).incomplete, 0);
  // An abort from the destination; the end of the message with a lost packet; a timeout of 1.25 s; sizes that do not fit.
  static const char *const bad[] = {
      "(1.6) c 1CEB2103#0101020304050607\n(1.7) c 1CEC0321#FF03FFFFFF00EF00\n(1.8) c 1CEB2103#02020304FFFFFFFF\n",
      "(1.6) c 1CEB2103#0101020304050607\n(1.8) c 1CEC0321#130A0002FF00EF00\n(1.9) c 1CEB2103#02020304FFFFFFFF\n",
      "(2.76) c 1CEB2103#0101020304050607\n(2.8) c 1CEB2103#02020304FFFFFFFF\n",
      "(1.6) c 1CEB2103#0101020304050607\n(1.65) c 1CEB2103#09020304FFFFFFFF\n(1.7) c 1CEB2103#02020304FFFFFFFF\n",
      "(1.6) c 1CEB2103#0101020304050607\n(1.7) c 1CEB2103#020203\n"};
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    snprintf(text, sizeof text, "%s%s(9.0) c 0CF00400#FFFFFF0800FFFFFF\n", begin, bad[i]);
    t = decode(s, text);
    assert_int_equal(t->rows, 1);
    od_table_free(t);
    assert_int_equal(losses_of(s).incomplete, 1);
  }
  t = decode(s, "(1.00) c 1CEC2103#100A0003FF00EF00\n(9.0) c 0CF00400#FFFFFF0800FFFFFF\n");
  od_table_free(t);
  assert_int_equal(losses_of(s).incomplete, 1);
}

static uint64_t dice_state = 7;
static uint64_t dice(uint64_t below) {
  dice_state ^= dice_state >> 12, dice_state ^= dice_state << 25, dice_state ^= dice_state >> 27;
  return (dice_state * UINT64_C(0x2545F4914F6CDD1D) >> 20) % below;
}

enum { SOURCES = 12, KINDS = 4 };
static const int sizes[KINDS] = {9, 39, 223, 1785};

typedef struct sender {
  int kind, sent, packets, lost;  // packet that is lost; 0: none
  bool is_broadcast;
  uint8_t data[1792];
} sender;

// Frames of message k, PGN 0xFE10 + k: the announcement, then packets.
static void send(FILE *f, sender *s, int from, double time) {
  unsigned group = 0xFE10u + (unsigned)s->kind, to = s->is_broadcast ? 255 : 99;
  int size = sizes[s->kind];
  if (s->sent == 0) {
    fprintf(f, "(%.6f) c 1CEC%02X%02X#%02X%02X%02X%02XFF%02X%02X00\n", time, to, from, s->is_broadcast ? 32 : 16,
            size & 255, size >> 8, s->packets, group & 255, group >> 8);
  } else if (s->sent != s->lost) {
    fprintf(f, "(%.6f) c 1CEB%02X%02X#%02X", time, to, from, s->sent);
    for (int i = 0; i < 7; i++)
      fprintf(f, "%02X", 7 * (s->sent - 1) + i < size ? s->data[7 * (s->sent - 1) + i] : 0xff);
    fprintf(f, "\n");
  }
  s->sent++;
}

// Many senders at the same time. Each completed message must arrive with its first and last bytes, in the order of completion.
static void random_senders(void **state) {
  scratch *s = *state;
  char text[2000] = "";
  for (int k = 0; k < KINDS; k++)
    snprintf(text + strlen(text), sizeof text - strlen(text),
             "BO_ %u M%d: %d X\n SG_ a : 0|32@1- (1,0) [0|0] \"\" X\n SG_ b : %d|32@1- (1,0) [0|0] \"\" X\n",
             0x98FE10FEu + 256u * (unsigned)k, k, sizes[k], 8 * sizes[k] - 32);
  scratch_put(s, "m.dbc", text);
  static sender senders[SOURCES];
  static struct {
    int kind, from;
    int32_t a, b;
    double time;
  } expected[4000];
  int messages = 0, lost = 0;
  FILE *f = fopen(scratch_path(s, "t.log"), "w");
  double time = 1;
  memset(senders, 0, sizeof senders);
  for (long step = 0; step < 60000; step++, time = 1 + (double)step / 1e4) {
    int from = (int)dice(SOURCES);
    sender *n = &senders[from];
    if (n->packets == 0 || n->sent > n->packets) {
      if (step > 50000) continue;
      n->kind = (int)dice(KINDS);
      n->sent = 0;
      n->packets = (sizes[n->kind] + 6) / 7;
      n->is_broadcast = dice(2);
      n->lost = dice(5) ? 0 : 1 + (int)dice((uint64_t)n->packets);
      for (int i = 0; i < 1792; i++) n->data[i] = (uint8_t)dice(256);
    }
    send(f, n, from, time);
    if (n->sent <= n->packets) continue;
    lost += n->lost > 0;
    if (n->lost > 0) continue;
    const uint8_t *a = n->data, *b = n->data + sizes[n->kind] - 4;
    expected[messages].a =
        (int32_t)((uint32_t)a[0] | (uint32_t)a[1] << 8 | (uint32_t)a[2] << 16 | (uint32_t)a[3] << 24);
    expected[messages].b =
        (int32_t)((uint32_t)b[0] | (uint32_t)b[1] << 8 | (uint32_t)b[2] << 16 | (uint32_t)b[3] << 24);
    expected[messages].kind = n->kind;
    expected[messages].from = from;
    expected[messages++].time = time;
  }
  for (int i = 0; i < SOURCES; i++) lost += senders[i].sent > 0 && senders[i].sent <= senders[i].packets;
  fprintf(f, "(100.0) c 123#00\n");
  fclose(f);
  od_table *t = can_read(s, "t.log", "m.dbc");
  assert_true(messages > 300 && lost > 50);
  assert_int_equal(t->rows, messages);
  for (int k = 0; k < messages; k++) {
    char name[32];
    near(can_value(t, k, "time"), expected[k].time, 1e-6);
    snprintf(name, sizeof name, "M%d@%d.a", expected[k].kind, expected[k].from);
    can_same(can_value(t, k, name), expected[k].a, name);
    snprintf(name, sizeof name, "M%d@%d.b", expected[k].kind, expected[k].from);
    can_same(can_value(t, k, name), expected[k].b, name);
  }
  od_table_free(t);
  assert_int_equal(losses_of(s).incomplete, lost);
}

// --- NMEA 2000 ----------------------------------------------------------------------------------------------------------

// PGN 129029 = 0x1F805 with 11 bytes: frames with the counters 0 and 1 of two messages, numbers 2 and 3, mixed; then a lost frame.
static void fast_packets(void **state) {
  scratch *s = *state;
  char text[512];
  snprintf(text, sizeof text,
           "BO_ %u Position: 11 X\n SG_ a : 0|8@1+ (1,0) [0|0] \"\" X\n SG_ b : 80|8@1+ (1,0) [0|0] \"\" X\n"
           "BO_ %u Rapid: 8 X\n SG_ c : 56|8@1+ (1,0) [0|0] \"\" X\n",
           0x8DF805FEu, 0x8DF801FEu);
  scratch_put(s, "m.dbc", text);
  od_table *t = decode(
      s,
      "(1.0) c 0DF80517#400B010203040506\n(1.1) c 0DF80517#600B111213141516\n(1.15) c 0DF80117#0000000000000022\n"
      "(1.2) c 0DF80517#410708090A0BFFFF\n(1.3) c 0DF80517#611718191A1B\n"
      "(2.0) c 0DF80517#800B010203040506\n(2.1) c 0DF80517#820708090A0BFFFF\n(2.2) c 0DF80517#A00B210203040506\n"
      "(2.95) c 0DF80517#A10708090A0BFFFF\n(3.0) c 0DF80517#C006310203040506\n");
  assert_int_equal(t->rows, 5);
  can_same(can_value(t, 0, "Rapid.c"), 0x22, "a frame between packets");
  can_same(can_value(t, 1, "time"), 1.2, "time");
  can_same(can_value(t, 1, "Position.a"), 1, "first message");
  can_same(can_value(t, 1, "Position.b"), 11, "first message");
  can_same(can_value(t, 2, "Position.a"), 0x11, "second message");
  can_same(can_value(t, 2, "Position.b"), 0x1b, "second message");
  can_same(can_value(t, 3, "Position.a"), 0x21, "message after a lost frame");
  can_same(can_value(t, 3, "Position.b"), 11, "message after a lost frame");
  can_same(can_value(t, 4, "Position.a"), 0x31, "a message of one frame");
  can_same(can_value(t, 4, "Position.b"), NAN, "a message of one frame");
  od_table_free(t);
  assert_int_equal(losses_of(s).incomplete, 1);
}

// Databases whose protocol is J1939 also contain groups of NMEA 2000: longer messages of these groups come in fast packets, or by the
// transport protocol. Groups that both standards leave to manufacturers are those of the protocol.
static void fast_packets_of_j1939(void **state) {
  scratch *s = *state;
  char text[512];
  snprintf(text, sizeof text,
           "BO_ %u Position: 11 X\n SG_ a : 0|8@1+ (1,0) [0|0] \"\" X\n SG_ b : 80|8@1+ (1,0) [0|0] \"\" X\n"
           "BO_ %u Own: 11 X\n SG_ c : 0|8@1+ (1,0) [0|0] \"\" X\n"
           "BA_DEF_DEF_ \"VFrameFormat\" \"J1939PG\";\nBA_DEF_DEF_ \"ProtocolType\" \"J1939\";\n",
           0x99F805FEu, 0x99FF05FEu);
  scratch_put(s, "m.dbc", text);
  od_table *t = decode(s,
                       "(1.0) c 0DF80517#400B010203040506\n(1.2) c 0DF80517#410708090A0BFFFF\n"
                       "(2.0) c 1CECFF17#200B0002FF05F801\n(2.1) c 1CEBFF17#0121222324252627\n"
                       "(2.2) c 1CEBFF17#0228292A2BFFFFFF\n(3.0) c 0DFF0517#400B010203040506\n");
  assert_int_equal(t->rows, 3);
  can_same(can_value(t, 0, "time"), 1.2, "time");
  can_same(can_value(t, 0, "Position.a"), 1, "fast packets");
  can_same(can_value(t, 0, "Position.b"), 11, "fast packets");
  can_same(can_value(t, 1, "Position.a"), 0x21, "transport protocol");
  can_same(can_value(t, 1, "Position.b"), 0x2b, "transport protocol");
  can_same(can_value(t, 2, "Own.c"), 0x40, "proprietary");
  od_table_free(t);
}

// A message of 29 bits with its own format "ExtendedCAN" is not a J1939 message, unless it is longer than a frame. The message comes by
// BAM, with the source address 0; the formats are those of a database for CAN FD.
static void format_of_message(void **state) {
  scratch *s = *state;
  char text[700];
  snprintf(
      text, sizeof text,
      "BO_ %u Long: 10 X\n SG_ a : 72|8@1+ (1,0) [0|0] \"\" X\nBO_ %u Short: 8 X\n SG_ b : 0|8@1+ (1,0) [0|0] \"\" X\n"
      "BO_ %u Data: 64 X\n SG_ c : 0|8@1+ (1,0) [0|0] \"\" X\n"
      "BA_DEF_ BO_ \"VFrameFormat\" ENUM \"StandardCAN\",\"ExtendedCAN\",\"StandardCAN_FD\",\"ExtendedCAN_FD\",\"J1939PG\";\n"
      "BA_ \"VFrameFormat\" BO_ %u 1;\nBA_ \"VFrameFormat\" BO_ %u 1;\nBA_ \"VFrameFormat\" BO_ %u 3;\n",
      0x98FEE3FEu, 0x98FEE4FEu, 0x98FEE5FEu, 0x98FEE3FEu, 0x98FEE4FEu, 0x98FEE5FEu);
  scratch_put(s, "m.dbc", text);
  od_table *t =
      decode(s,
             "(1.0) c 1CECFF00#200A0002FFE3FE00\n(1.1) c 1CEBFF00#0101020304050607\n"
             "(1.2) c 1CEBFF00#0208090AFFFFFFFF\n(2.0) c 18FEE400#0500000000000000\n(3.0) c 18FEE4FE#0600000000000000\n"
             "(4.0) c 18FEE500#0700000000000000\n(5.0) c 18FEE5FE#0800000000000000\n");
  assert_int_equal(t->rows, 3);
  can_same(can_value(t, 0, "Long.a"), 10, "by BAM");
  can_same(can_value(t, 1, "Short.b"), 6, "identifier");
  can_same(can_value(t, 2, "Data.c"), 8, "identifier");
  od_table_free(t);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(groups, scratch_setup, scratch_teardown),
      cmocka_unit_test_setup_teardown(sources, scratch_setup, scratch_teardown),
      cmocka_unit_test_setup_teardown(own_source, scratch_setup, scratch_teardown),
      cmocka_unit_test_setup_teardown(broadcast, scratch_setup, scratch_teardown),
      cmocka_unit_test_setup_teardown(connection, scratch_setup, scratch_teardown),
      cmocka_unit_test_setup_teardown(random_senders, scratch_setup, scratch_teardown),
      cmocka_unit_test_setup_teardown(fast_packets, scratch_setup, scratch_teardown),
      cmocka_unit_test_setup_teardown(fast_packets_of_j1939, scratch_setup, scratch_teardown),
      cmocka_unit_test_setup_teardown(format_of_message, scratch_setup, scratch_teardown),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
