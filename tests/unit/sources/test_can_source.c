// The CAN source: frames through a pair of sockets in place of an interface, and a virtual interface where the system has one. Oracles:
// values by hand, from the bits of the frames and the layouts of SAE J1939-21 and NMEA 2000; the same frames as a log.
#include "support/test.h"

#include <math.h>
#include <net/if.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "sources/can_decoder.h"
#include "support/can.h"
#include "support/scratch.h"

static const char database[] =
    "VERSION \"\"\n\nBU_: ecu\n\n"
    "BO_ 256 boom: 8 ecu\n"
    " SG_ pressure : 0|16@1+ (0.1,0) [0|0] \"bar\" ecu\n"
    " SG_ angle : 23|16@0- (0.01,-5) [0|0] \"deg\" ecu\n"
    " SG_ mode M : 32|8@1+ (1,0) [0|0] \"\" ecu\n"
    " SG_ first m1 : 40|8@1+ (1,0) [0|0] \"V\" ecu\n"
    " SG_ second m2 : 40|8@1- (1,0) [0|0] \"A\" ecu\n\n"
    "BO_ 2147484160 valve: 2 ecu\n"
    " SG_ command : 0|16@1- (0.001,0) [0|0] \"\" ecu\n";

static od_error err;

static od_can_decoder *make(scratch *s, const char **columns, od_status expected) {
  static od_twin_source source;
  static const char *databases[2];
  static char path[512];
  snprintf(path, sizeof path, "%s", scratch_put(s, "bus.dbc", database));
  databases[0] = path;
  source = (od_twin_source){
      .name = "bus", .type = OD_SOURCE_CAN, .interface = "od_none0", .database = databases, .column = columns};
  od_can_decoder *d = NULL;
  assert_int_equal(od_can_decoder_new(&source, &d, &err), expected);
  return d;
}

static const char *const names[] = {"time",       "boom.pressure", "boom.angle",   "boom.mode",
                                    "boom.first", "boom.second",   "valve.command"};

static void test_decode(void **state) {
  scratch *s = *state;
  od_can_decoder *d = make(s, NULL, OD_OK);
  const od_table *head = od_can_decoder_head(d);
  assert_int_equal(head->columns, 7);
  for (int c = 0; c < 7; c++) assert_string_equal(head->name[c], names[c]);
  assert_string_equal(head->unit[1], "bar");
  // 0x1388 = 5000 in Intel order: 500 bar. 0xfc18 = -1000 in Motorola order: -15 deg. Mode 1: `first` is 200.
  struct canfd_frame boom = {.can_id = 256, .len = 8, .data = {0x88, 0x13, 0xfc, 0x18, 1, 200}};
  const double *cells = od_can_decode(d, 12.5, &boom);
  assert_true(cells[0] == 12.5 && cells[3] == 1 && cells[4] == 200 && isnan(cells[5]) && isnan(cells[6]));
  near(cells[1], 500, 1e-9);
  near(cells[2], -15, 1e-9);
  boom.data[4] = 2;
  cells = od_can_decode(d, 13, &boom);
  assert_true(cells[5] == -56 && isnan(cells[4]));
  // A frame that is too short has only its first signals.
  boom.len = 3;
  cells = od_can_decode(d, 13, &boom);
  assert_true(cells[1] == 500 && isnan(cells[2]) && isnan(cells[3]));
  // 29 bits: the identifier 0x200. The same number with 11 bits is another message; so are errors and requests.
  struct canfd_frame valve = {.can_id = 0x200 | CAN_EFF_FLAG, .len = 2, .data = {0x18, 0xfc}};
  cells = od_can_decode(d, 14, &valve);
  assert_true(cells[6] == -1 && isnan(cells[1]));
  valve.can_id = 0x200;
  assert_null(od_can_decode(d, 14, &valve));
  valve.can_id = 256 | CAN_RTR_FLAG;
  assert_null(od_can_decode(d, 14, &valve));
  valve.can_id = 256 | CAN_ERR_FLAG;
  assert_null(od_can_decode(d, 14, &valve));
  od_can_decoder_free(d);
}

static void test_columns(void **state) {
  scratch *s = *state;
  od_can_decoder *d = make(s, (const char *[]){"time", "valve.command", NULL}, OD_OK);
  assert_int_equal(od_can_decoder_head(d)->columns, 2);
  struct canfd_frame boom = {.can_id = 256, .len = 8};
  assert_null(od_can_decode(d, 0, &boom));
  od_can_decoder_free(d);
  assert_null(make(s, (const char *[]){"valve.comand", NULL}, OD_BAD_INPUT));
  assert_non_null(strstr(err.text, "the databases have no signal 'valve.comand'"));
}

// Random frames: no crash, and only finite or missing values.
static void test_random(void **state) {
  scratch *s = *state;
  od_can_decoder *d = make(s, NULL, OD_OK);
  srand(5);
  long decoded = 0;
  for (int i = 0; i < 200000; i++) {
    struct canfd_frame f = {.can_id = (i % 3 ? 256u : 0x200 | CAN_EFF_FLAG) ^ (i % 7 ? 0u : (uint32_t)rand()),
                            .len = (uint8_t)(rand() % 80)};
    for (int k = 0; k < CANFD_MAX_DLEN; k++) f.data[k] = (uint8_t)rand();
    const double *cells = od_can_decode(d, i, &f);
    decoded += cells != NULL;
    for (int c = 0; cells && c < 7; c++) assert_true(fabs(cells[c]) < INFINITY || isnan(cells[c]));
  }
  assert_true(decoded > 50000);
  od_can_decoder_free(d);
}

// --- Sockets ------------------------------------------------------------------------------------------------------

typedef struct taken {
  double cell[100][7];
  int count, silences;
} taken;

static void take(void *user, const od_table *head, const double *cells, bool is_historical) {
  assert_false(is_historical);
  taken *t = user;
  assert_int_equal(head->columns, 7);
  memcpy(t->cell[t->count++], cells, sizeof t->cell[0]);
}
static void be_silent(void *user) {
  ((taken *)user)->silences++;
}
static bool goes_on(void *user) {
  return ((taken *)user)->silences < 20;
}

static void test_socket(void **state) {
  scratch *s = *state;
  od_can_decoder *d = make(s, NULL, OD_OK);
  static taken t;
  int pair[2];
  t = (taken){0};
  assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, pair), 0);
  for (int i = 0; i < 50; i++) {
    struct can_frame classic = {.can_id = 256, .len = 8, .data = {(uint8_t)i, 1, 0, 0, 1, 7}};
    struct canfd_frame fd = {.can_id = 256, .len = 8, .data = {(uint8_t)i, 2, 0, 0, 2, 7}};
    assert_int_equal(write(pair[1], i % 2 ? (const void *)&classic : &fd, i % 2 ? sizeof classic : sizeof fd),
                     i % 2 ? CAN_MTU : CANFD_MTU);
  }
  assert_int_equal(write(pair[1], "short", 5), 5);  // not a frame
  close(pair[1]);
  const od_receiver to = {.cells = take, .silence = be_silent, .goes_on = goes_on, .user = &t};
  assert_int_equal(od_can_receive(d, pair[0], &to, &err), OD_OK);
  close(pair[0]);
  assert_int_equal(t.count, 50);
  for (int i = 0; i < 50; i++) {
    near(t.cell[i][1], 0.1 * (i + 256 * (i % 2 ? 1 : 2)), 1e-9);
    assert_true(t.cell[i][0] > 1.7e9 && (i == 0 || t.cell[i][0] >= t.cell[i - 1][0]));
  }
  od_can_decoder_free(d);
}

static void *run_source(void *self) {
  static taken t;
  t = (taken){0};
  const od_receiver to = {.cells = take, .silence = be_silent, .goes_on = goes_on, .user = &t};
  assert_int_equal(od_can_source_class.run(self, &to, &err), OD_OK);
  return &t;
}

static void test_interface(void **state) {
  scratch *s = *state;
  static char path[512];
  snprintf(path, sizeof path, "%s", scratch_put(s, "bus.dbc", database));
  const char *databases[] = {path, NULL};
  od_twin_source source = {.name = "bus", .type = OD_SOURCE_CAN, .interface = "od_none0", .database = databases};
  void *self = NULL;
  assert_int_equal(od_can_source_class.open(&source, &self, &err), OD_IO);
  assert_non_null(strstr(err.text, "cannot open the CAN interface 'od_none0'"));
  assert_null(self);
  if (if_nametoindex("vcan0") == 0) return;
  source.interface = "vcan0";
  assert_int_equal(od_can_source_class.open(&source, &self, &err), OD_OK);
  pthread_t thread;
  void *result;
  assert_int_equal(pthread_create(&thread, NULL, run_source, self), 0);
  int fd = socket(PF_CAN, SOCK_RAW, 1);
  struct sockaddr_can address = {.can_family = AF_CAN, .can_ifindex = (int)if_nametoindex("vcan0")};
  assert_int_equal(bind(fd, (const struct sockaddr *)&address, sizeof address), 0);
  struct can_frame frame = {.can_id = 256, .len = 8, .data = {0x88, 0x13}};
  assert_int_equal(write(fd, &frame, sizeof frame), sizeof frame);
  pthread_join(thread, &result);
  assert_int_equal(((taken *)result)->count, 1);
  close(fd);
  od_can_source_class.close(self);
}

// --- Messages of several frames -------------------------------------------------------------------------------------

// EEC1: PGN 0xF004. Long: PGN 0xFECA, 20 bytes. Part: PGN 0xEF00 (PDU1), 10 bytes. Position: PGN 0x1F805, 11 bytes in fast packets. From any source.
static const char j1939[] =
    "BO_ 2364540158 EEC1: 8 X\n SG_ Speed : 24|16@1+ (0.125,0) [0|8031.875] \"rpm\" X\n"
    "BO_ 2566834942 Long: 20 X\n SG_ first : 0|8@1+ (1,0) [0|0] \"\" X\n SG_ last : 152|8@1+ (1,0) [0|0] \"\" X\n"
    "BO_ 2565865470 Part: 10 X\n SG_ end : 64|16@1+ (1,0) [0|0] \"\" X\n"
    "BO_ 2381841918 Position: 11 X\n SG_ a : 0|8@1+ (1,0) [0|0] \"\" X\n SG_ b : 80|8@1+ (1,0) [0|0] \"\" X\n";

static od_can_decoder *make_j1939(scratch *s, const char **columns) {
  static od_twin_source source;
  static const char *databases[2];
  static char path[512];
  snprintf(path, sizeof path, "%s", scratch_put(s, "j.dbc", j1939));
  databases[0] = path;
  source = (od_twin_source){.name = "bus", .type = OD_SOURCE_CAN, .database = databases, .column = columns};
  od_can_decoder *d = NULL;
  if (od_can_decoder_new(&source, &d, &err) != OD_OK) fail_msg("%s", err.text);
  return d;
}

// Reads a line of a trace: (time) bus identifier#data.
static struct canfd_frame frame_of(const char *line, double *t) {
  struct canfd_frame f = {0};
  unsigned id;
  int at = 0;
  assert_int_equal(sscanf(line, "(%lf) c %8X#%n", t, &id, &at), 2);
  f.can_id = id | CAN_EFF_FLAG;
  for (unsigned byte; sscanf(line + at, "%2X", &byte) == 1; at += 2) f.data[f.len++] = (uint8_t)byte;
  return f;
}

static int column_of(const od_can_decoder *d, const char *name) {
  const od_table *head = od_can_decoder_head(d);
  for (int c = 0; c < head->columns; c++)
    if (strcmp(head->name[c], name) == 0) return c;
  fail_msg("no column %s", name);
  return -1;
}

// Decodes a line. Returns the value of a column; name NULL: there is no sample.
static double decode_line(od_can_decoder *d, const char *line, const char *name) {
  double t, value = NAN;
  const struct canfd_frame f = frame_of(line, &t);
  const double *cells = od_can_decode(d, t, &f);
  if (!cells != !name) fail_msg("%s: %s", line, cells ? "a sample" : "no sample");
  if (cells && name) value = cells[column_of(d, name)];
  assert_true(!cells || cells[0] == t);
  return value;
}

static void test_several_frames(void **state) {
  od_can_decoder *d = make_j1939(*state, NULL);
  // A BAM of 20 bytes from source 3, mixed with another message and with a BAM from source 4 that loses a packet.
  decode_line(d, "(1.00) c 1CECFF03#20140003FFCAFE00", NULL);
  decode_line(d, "(1.01) c 1CECFF04#20140003FFCAFE00", NULL);
  decode_line(d, "(1.05) c 1CEBFF03#0105020202020202", NULL);
  decode_line(d, "(1.06) c 1CEBFF04#0107020202020202", NULL);
  assert_true(decode_line(d, "(1.07) c 0CF00400#FFFFFF0800FFFFFF", "EEC1.Speed") == 1);
  decode_line(d, "(1.10) c 1CEBFF03#0202020202020202", NULL);
  decode_line(d, "(1.11) c 1CEBFF04#0302020202020202", NULL);
  assert_true(decode_line(d, "(1.15) c 1CEBFF03#03020202020206FF", "Long.last") == 6);
  assert_int_equal(od_can_decoder_incomplete(d, 1.2), 1);
  // RTS and CTS between 3 and 0x21, packets in another order, one of them twice.
  decode_line(d, "(2.00) c 1CEC2103#100A0002FF00EF00", NULL);
  decode_line(d, "(2.50) c 1CEC0321#110201FFFF00EF00", NULL);
  decode_line(d, "(3.60) c 1CEB2103#02020304FFFFFFFF", NULL);
  decode_line(d, "(3.70) c 1CEB2103#02020304FFFFFFFF", NULL);
  assert_true(decode_line(d, "(3.80) c 1CEB2103#0101020304050607", "Part.end") == 0x0403);
  decode_line(d, "(3.90) c 1CEC0321#130A0002FF00EF00", NULL);
  // Fast packets: two messages, mixed.
  decode_line(d, "(4.0) c 0DF80517#400B010203040506", NULL);
  decode_line(d, "(4.1) c 0DF80517#600B111213141516", NULL);
  assert_true(decode_line(d, "(4.2) c 0DF80517#410708090A0BFFFF", "Position.b") == 11);
  assert_true(decode_line(d, "(4.3) c 0DF80517#611718191A1B", "Position.a") == 0x11);
  assert_int_equal(od_can_decoder_incomplete(d, 10), 1);
  // A message that does not end before its timeout.
  decode_line(d, "(11.0) c 1CECFF03#20140003FFCAFE00", NULL);
  assert_int_equal(od_can_decoder_incomplete(d, 12), 2);
  od_can_decoder_free(d);
}

static void test_sources(void **state) {
  const char *columns[] = {"EEC1@17.Speed", "EEC1.Speed", "Long@3.last", NULL};
  od_can_decoder *d = make_j1939(*state, columns);
  assert_int_equal(od_can_decoder_head(d)->columns, 4);
  assert_true(isnan(decode_line(d, "(1.0) c 0CF00400#FFFFFF0800FFFFFF", "EEC1@17.Speed")));
  assert_true(decode_line(d, "(2.0) c 0CF00411#FFFFFF1000FFFFFF", "EEC1@17.Speed") == 2);
  assert_true(decode_line(d, "(3.0) c 0CF00411#FFFFFF1000FFFFFF", "EEC1.Speed") == 2);
  od_can_decoder_free(d);
}

// Addresses of one byte, 0 to 255. What is no address is an error: no other address is used in its place.
static void test_addresses(void **state) {
  static const char *const wrong[] = {"EEC1@-1.Speed",  "EEC1@256.Speed", "EEC1@999.Speed", "EEC1@1000.Speed",
                                      "EEC1@ 17.Speed", "EEC1@+17.Speed", "EEC1@.Speed",    "EEC1@x.Speed"};
  od_can_decoder *d = make_j1939(*state, (const char *[]){"EEC1@0.Speed", "EEC1@255.Speed", NULL});
  assert_true(decode_line(d, "(1.0) c 0CF00400#FFFFFF0800FFFFFF", "EEC1@0.Speed") == 1);
  assert_true(decode_line(d, "(2.0) c 0CF004FF#FFFFFF1000FFFFFF", "EEC1@255.Speed") == 2);
  od_can_decoder_free(d);
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
    const char *path = scratch_path(*state, "j.dbc"), *databases[] = {path, NULL}, *columns[] = {wrong[i], NULL};
    const od_twin_source source = {.name = "bus", .type = OD_SOURCE_CAN, .database = databases, .column = columns};
    char text[120];
    snprintf(text, sizeof text, "bus: '%s' has no source address after '@'; expected a number from 0 to 255", wrong[i]);
    assert_int_equal(od_can_decoder_new(&source, &d, &err), OD_BAD_INPUT);
    if (!strstr(err.text, text)) fail_msg("%s", err.text);
  }
}

// Random messages of many sources, partly with lost packets: the same rows as those of the trace as a log.
static void test_as_logs(void **state) {
  scratch *s = *state;
  const char *columns[] = {
      "Long@0.first", "Long@1.first", "Long@2.first", "Long@0.last", "Long@1.last", "Long@2.last", NULL};
  od_can_decoder *d = make_j1939(s, columns);
  FILE *f = fopen(scratch_path(s, "t.log"), "w");
  int sent[3] = {0}, rows = 0;
  static double live[5000][7];
  srand(11);
  for (int i = 0; i < 20000; i++) {
    char line[64];
    const int from = rand() % 3, number = sent[from]++ % 4;
    if (number > 0 && rand() % 20 == 0) continue;  // lost
    int at = snprintf(line, sizeof line, "(%.6f) c 1CE%cFF%02X#", 1 + 1e-4 * i, number ? 'B' : 'C', (unsigned)from);
    if (number == 0) snprintf(line + at, sizeof line - (size_t)at, "20140003FFCAFE00");
    for (int k = 0; number > 0 && k < 8; k++)
      at += snprintf(line + at, sizeof line - (size_t)at, "%02X", (unsigned)(k == 0 ? number : rand() % 250));
    fprintf(f, "%s\n", line);
    double t;
    const struct canfd_frame frame = frame_of(line, &t);
    const double *cells = od_can_decode(d, t, &frame);
    if (cells) memcpy(live[rows++], cells, sizeof live[0]);
  }
  fclose(f);
  od_table *t = can_read(s, "t.log", "j.dbc");
  assert_true(rows > 3000);
  assert_int_equal(t->rows, rows);
  for (int i = 0; i < rows; i++) {
    near(can_value(t, i, "time"), live[i][0] - live[0][0] + can_value(t, 0, "time"), 1e-9);
    for (int c = 1; c < 7; c++)
      can_same(can_value(t, i, columns[c - 1]), live[i][column_of(d, columns[c - 1])], columns[c - 1]);
  }
  od_table_free(t);
  od_can_decoder_free(d);
}

static int incomplete;
static void take_event(void *user, const char *kind, const char *text) {
  (void)user;
  assert_string_equal(kind, "incomplete");
  assert_non_null(strstr(text, "1 message of several frames is incomplete"));
  incomplete++;
}

static int long_samples;
static void take_long(void *user, const od_table *head, const double *cells, bool is_historical) {
  (void)user;
  assert_false(is_historical);
  for (int c = 1; c < head->columns; c++)
    if (strcmp(head->name[c], "Long.last") == 0) assert_true(cells[c] == 6);
  long_samples++;
}

static void test_several_frames_by_socket(void **state) {
  static const char *const lines[] = {"(0) c 1CECFF03#20140003FFCAFE00", "(0) c 1CECFF04#20140003FFCAFE00",
                                      "(0) c 1CEBFF03#0105020202020202", "(0) c 1CEBFF04#0307020202020202",
                                      "(0) c 1CEBFF03#0202020202020202", "(0) c 1CEBFF03#03020202020206FF"};
  od_can_decoder *d = make_j1939(*state, NULL);
  static taken t;
  int pair[2];
  t = (taken){0};
  assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, pair), 0);
  for (int i = 0; i < 6; i++) {
    double time;
    const struct canfd_frame f = frame_of(lines[i], &time);
    assert_int_equal(write(pair[1], &f, sizeof f), sizeof f);
  }
  close(pair[1]);
  const od_receiver to = {
      .cells = take_long, .event = take_event, .silence = be_silent, .goes_on = goes_on, .user = &t};
  assert_int_equal(od_can_receive(d, pair[0], &to, &err), OD_OK);
  close(pair[0]);
  assert_int_equal(long_samples, 1);
  assert_int_equal(incomplete, 1);
  od_can_decoder_free(d);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(test_decode, scratch_setup, scratch_teardown),
      cmocka_unit_test_setup_teardown(test_columns, scratch_setup, scratch_teardown),
      cmocka_unit_test_setup_teardown(test_random, scratch_setup, scratch_teardown),
      cmocka_unit_test_setup_teardown(test_socket, scratch_setup, scratch_teardown),
      cmocka_unit_test_setup_teardown(test_several_frames, scratch_setup, scratch_teardown),
      cmocka_unit_test_setup_teardown(test_sources, scratch_setup, scratch_teardown),
      cmocka_unit_test_setup_teardown(test_addresses, scratch_setup, scratch_teardown),
      cmocka_unit_test_setup_teardown(test_as_logs, scratch_setup, scratch_teardown),
      cmocka_unit_test_setup_teardown(test_several_frames_by_socket, scratch_setup, scratch_teardown),
      cmocka_unit_test_setup_teardown(test_interface, scratch_setup, scratch_teardown)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
