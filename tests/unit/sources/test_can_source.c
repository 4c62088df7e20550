// The CAN source: frames through a pair of sockets in place of an interface, and a virtual interface where the system has one. Oracle:
// values by hand, from the bits of the frames.
#include "support/test.h"

#include <math.h>
#include <net/if.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "sources/can_source.h"
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

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test_setup_teardown(test_decode, scratch_setup, scratch_teardown),
                                     cmocka_unit_test_setup_teardown(test_columns, scratch_setup, scratch_teardown),
                                     cmocka_unit_test_setup_teardown(test_random, scratch_setup, scratch_teardown),
                                     cmocka_unit_test_setup_teardown(test_socket, scratch_setup, scratch_teardown),
                                     cmocka_unit_test_setup_teardown(test_interface, scratch_setup, scratch_teardown)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
