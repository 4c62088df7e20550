// CAN traces of other programs: python3-can (candump, ASC, BLF) and can-utils (log2asc, asc2log). Oracle: the frames that the script
// passes to the writers, and lists byte by byte in a text file.
#include <stdlib.h>
#include <string.h>

#include "support/test.h"
#include "support/can.h"
#include "support/skipping.h"

enum { MESSAGES = 6, FRAMES = 3000 };
static const unsigned ids[MESSAGES] = {0x1, 0x123, 0x7ff, 0x80000005u, 0x98febe00u, 0x9fffffffu};

// Writes FRAMES random frames with three writers. fd: whether frames may be CAN FD. Every line of "frames": time since the first frame
// (us), message, bus (0, 1), bytes.
static const char script[] =
    "import sys, random, can\n"
    "folder, fd, seed = sys.argv[1], sys.argv[2] == 'fd', int(sys.argv[3])\n"
    "r = random.Random(seed)\n"
    "ids = [0x1, 0x123, 0x7ff, 0x5, 0x18febe00, 0x1fffffff]\n"
    "writers = [can.CanutilsLogWriter(folder + '/t.log'), can.ASCWriter(folder + '/t.asc'), can.BLFWriter(folder + '/t.blf')]\n"
    "frames = open(folder + '/frames', 'w')\n"
    "us = 0\n"
    "for k in range(3000):\n"
    "    kind = r.randrange(20) if k > 0 else 5\n"
    "    m = r.randrange(6)\n"
    "    is_fd = fd and r.random() < 0.5\n"
    "    n = r.choice([0, 1, 7, 8] + [12, 20, 48, 64] * is_fd)\n"
    "    a = dict(timestamp=1436509052 + us * 1e-6, arbitration_id=ids[m], is_extended_id=m > 2, channel=r.randrange(2))\n"
    "    a['is_rx'] = r.random() < 0.8\n"
    "    if kind == 0:\n"
    "        a['is_error_frame'] = True\n"
    "    elif kind == 1 and not is_fd:\n"
    "        a['is_remote_frame'] = True\n"
    "    else:\n"
    "        a['data'] = bytes(r.randrange(256) for _ in range(n))\n"
    "        a['is_fd'] = is_fd\n"
    "        frames.write('%d %d %d %s.\\n' % (us, m, a['channel'], a['data'].hex()))\n"
    "    for w in writers:\n"
    "        w.on_message_received(can.Message(**a))\n"
    "    us += r.randrange(1, 5000)\n"
    "for w in writers:\n"
    "    w.stop()\n";

typedef struct frame {
  double time;
  int message, bus, length;
  uint8_t data[64];
} frame;

static frame frames[FRAMES];
static int count;

static void write_traces(scratch *s, const char *kind, int seed) {
  char command[2048];
  if (system("/usr/bin/python3 -c 'import can' 2>/dev/null") != 0) skip_test("no package: python3-can");
  scratch_put(s, "script", script);
  snprintf(command, sizeof command, "/usr/bin/python3 %s/script %s %s %d", s->folder, s->folder, kind, seed);
  assert_int_equal(system(command), 0);
  FILE *f = fopen(scratch_path(s, "frames"), "r");
  char line[400], data[200];
  for (count = 0; fgets(line, sizeof line, f); count++) {
    frame *to = &frames[count];
    assert_int_equal(sscanf(line, "%lf %d %d %199[^.]", &to->time, &to->message, &to->bus, data) >= 3, 1);
    to->length = 0;
    for (const char *p = strchr(strchr(strchr(line, ' ') + 1, ' ') + 1, ' ') + 1; *p != '.'; p += 2) {
      unsigned byte;
      assert_int_equal(sscanf(p, "%2x", &byte), 1);
      to->data[to->length++] = (uint8_t)byte;
    }
  }
  fclose(f);
  char *dbc = malloc(100000), *end = dbc;
  for (int i = 0; i < MESSAGES; i++) {
    end += sprintf(end, "BO_ %u M%d: 64 X\n", ids[i], i);
    for (int b = 0; b < 64; b++) end += sprintf(end, " SG_ b%d : %d|8@1+ (1,0) [0|0] \"\" X\n", b, 8 * b);
  }
  scratch_put(s, "m.dbc", dbc);
  free(dbc);
}

// Compares a trace with the frames. buses: names of the buses in the columns.
static void compare(scratch *s, const char *trace, const char *const *buses, double tolerance) {
  od_table *t = can_read(s, trace, "m.dbc");
  double zero = t->data[0] - frames[0].time * 1e-6;
  int column[MESSAGES][2];
  for (int i = 0; i < MESSAGES; i++)
    for (int bus = 0; bus < 2; bus++) {
      char name[64];
      snprintf(name, sizeof name, "%s.M%d.b0", buses[bus], i);
      column[i][bus] = od_table_find(t, name);
      assert_true(column[i][bus] > 0);
    }
  assert_int_equal(t->rows, count);
  for (int k = 0; k < count; k++) {
    const frame *f = &frames[k];
    const double *row = t->data + (long)k * t->columns;
    near(row[0] - zero, f->time * 1e-6, tolerance);
    for (int b = 0; b < 64; b++) can_same(row[column[f->message][f->bus] + b], b < f->length ? f->data[b] : NAN, trace);
    for (int i = 0; i < MESSAGES; i++)
      if (i != f->message) assert_true(isnan(row[column[i][0]]) && isnan(row[column[i][1]]));
  }
  od_table_free(t);
}

static const char *const can[] = {"can0", "can1"}, *const numbered[] = {"CAN1", "CAN2"};

// The time stamps of Python have a resolution of 0.24 us; ASC and candump have 1 us.
static void of_python(void **state) {
  scratch *s = *state;
  static const char *const kinds[] = {"classic", "fd"};
  for (int i = 0; i < 4; i++) {
    write_traces(s, kinds[i % 2], i);
    assert_true(count > FRAMES * 8 / 10);
    compare(s, "t.log", can, 1.6e-6);
    compare(s, "t.asc", numbered, 1.6e-6);
    compare(s, "t.blf", numbered, 1e-6);
  }
}

static void of_can_utils(void **state) {
  scratch *s = *state;
  char command[1024];
  if (system("command -v log2asc >/dev/null && command -v asc2log >/dev/null") != 0) skip_test("no package: can-utils");
  write_traces(s, "classic", 9);
  snprintf(command, sizeof command,
           "cd %s && log2asc -I t.log -O second.asc can0 can1 && asc2log -I second.asc -O third.log 2>/dev/null",
           s->folder);
  assert_int_equal(system(command), 0);
  compare(s, "second.asc", numbered, 1.6e-6);
  compare(s, "third.log", can, 1.6e-6);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(of_python, scratch_setup, scratch_teardown),
      cmocka_unit_test_setup_teardown(of_can_utils, scratch_setup, scratch_teardown),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
