// A CAN trace of 390000 frames of 30 messages with 6 signals each, as candump, ASC and BLF file: opened, and all rows read with all
// signals or with 9 signals of 3 messages. Opening reads all frames once, too. The processor time of a run of `zlib` over the contents
// of the BLF file is the reference.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include "formats/row_reader.h"
#include "measure.h"

enum { FRAMES = 390000, MESSAGES = 30, SIGNALS = 6, OBJECT = 48, CONTAINER = 131072, KINDS = 3 };
static const char *const endings[KINDS] = {"log", "asc", "blf"};

typedef struct trace {
  char path[64];
  const char *databases[2];
  int wanted_messages;  // columns of so many messages are read
} trace;

typedef struct packed {
  unsigned char *bytes;
  uLong size, plain;
} packed;

static int start(void *self) {
  (void)self;
  return 0;
}

static int read_trace(void *self, int runs) {
  trace *t = self;
  od_table_wish wish = {.databases = t->databases};
  od_error err;
  for (int i = 0; i < runs; i++) {
    od_row_reader *r = NULL;
    if (od_row_reader_open(t->path, &wish, &r, &err) != OD_OK) return -1;
    int columns = od_row_reader_head(r)->columns;
    bool *wanted = calloc((size_t)columns, sizeof *wanted), end = false;
    double *row = calloc((size_t)columns, sizeof *row);
    long rows = 0;
    for (int c = 0; wanted && c < columns; c++)
      wanted[c] = c > 0 && (c - 1) / SIGNALS < t->wanted_messages && (t->wanted_messages == MESSAGES || c % 2);
    od_row_reader_want(r, wanted);
    for (; od_row_reader_next(r, row, &end, &err) == OD_OK && !end; rows++) continue;
    od_row_reader_close(r);
    free(wanted);
    free(row);
    if (!end || rows != (long)FRAMES * t->wanted_messages / MESSAGES) return -1;
  }
  return 0;
}

static int unpack(void *self, int runs) {
  const packed *p = self;
  unsigned char *plain = malloc(p->plain);
  uLongf size = p->plain;
  int failed = !plain;
  for (int i = 0; i < runs && !failed; i++) failed = uncompress(plain, &size, p->bytes, p->size) != Z_OK;
  free(plain);
  return failed ? -1 : 0;
}

static unsigned long long dice_state = 1;
static unsigned long long dice(void) {
  dice_state ^= dice_state >> 12, dice_state ^= dice_state << 25, dice_state ^= dice_state >> 27;
  return dice_state * 0x2545F4914F6CDD1Dull;
}

static void put(unsigned char *at, unsigned long long value, int bytes) {
  for (int i = 0; i < bytes; i++) at[i] = (unsigned char)(value >> 8 * i);
}

static int write_database(const char *path) {
  FILE *f = fopen(path, "w");
  if (!f) return -1;
  for (int m = 0; m < MESSAGES; m++) {
    fprintf(f, "BO_ %d Message%d: 8 Node\n", 256 + m, m);
    for (int s = 0; s < SIGNALS; s++)
      fprintf(f, " SG_ Signal%d : %d|%d@%d%c (0.1,-5) [0|0] \"V\" Node\n", s, s % 2 ? 8 * s : 8 * s + 7,
              s < 5 ? 12 : 10, s % 2, s % 2 ? '-' : '+');
  }
  return fclose(f);
}

// Writes the three files with the same frames.
static int write_traces(char path[KINDS][64], packed *contents) {
  FILE *f[KINDS];
  unsigned char *plain = calloc(FRAMES, OBJECT), head[144] = "LOGG";
  for (int i = 0; i < KINDS; i++)
    if (!(f[i] = fopen(path[i], "wb"))) return -1;
  contents->plain = (uLong)FRAMES * OBJECT;
  contents->bytes = malloc(compressBound(contents->plain));
  contents->size = compressBound(contents->plain);
  if (!plain || !contents->bytes) return -1;
  fprintf(f[1], "date Sat Sep 30 15:06:13.191 2017\nbase hex  timestamps absolute\n");
  for (long k = 0; k < FRAMES; k++) {
    unsigned long long data = dice(), ns = (unsigned long long)k * 250000;
    unsigned id = 256 + (unsigned)(k % MESSAGES);
    unsigned char *b = plain + k * OBJECT;
    fprintf(f[0], "(%ld.%06ld) can0 %03X#", 1436509052 + k / 4000, k % 4000 * 250, id);
    fprintf(f[1], "%4ld.%06ld 1  %-15X Rx   d 8", k / 4000, k % 4000 * 250, id);
    for (int i = 0; i < 8; i++) fprintf(f[0], "%02X", (unsigned)(data >> 8 * i & 255));
    for (int i = 0; i < 8; i++) fprintf(f[1], " %02X", (unsigned)(data >> 8 * i & 255));
    fprintf(f[0], "\n");
    fprintf(f[1], "  Length = 230000 BitCount = 118 ID = %u\n", id);
    memcpy(b, "LOBJ", 4);
    put(b + 4, 32, 2), put(b + 6, 1, 2), put(b + 8, OBJECT, 4), put(b + 12, 1, 4), put(b + 16, 2, 4),
        put(b + 24, ns, 8);
    put(b + 32, 1, 2), put(b + 35, 8, 1), put(b + 36, id, 4), put(b + 40, data, 8);
  }
  put(head + 4, sizeof head, 4);
  fwrite(head, 1, sizeof head, f[2]);
  for (uLong at = 0; at < contents->plain; at += CONTAINER) {
    unsigned char object[32] = "LOBJ";
    uLongf size = contents->size;
    uLong part = contents->plain - at < CONTAINER ? contents->plain - at : CONTAINER;
    if (compress(contents->bytes, &size, plain + at, part) != Z_OK) return -1;
    put(object + 4, 16, 2), put(object + 6, 1, 2), put(object + 8, 32 + size, 4), put(object + 12, 10, 4);
    put(object + 16, 2, 2), put(object + 24, part, 4);
    fwrite(object, 1, sizeof object, f[2]);
    fwrite(contents->bytes, 1, size, f[2]);
    fwrite("\0\0\0", 1, size % 4, f[2]);
  }
  int failed = compress(contents->bytes, &contents->size, plain, contents->plain) != Z_OK;
  for (int i = 0; i < KINDS; i++) failed |= fclose(f[i]) != 0;
  free(plain);
  return failed;
}

int main(void) {
  if (!bench_wants_times()) return 0;
  bench_pin();
  static const char *const figures[2][KINDS] = {{"can-candump", "can-asc", "can-blf"},
                                                {"can-candump-few", "can-asc-few", "can-blf-few"}};
  char path[KINDS][64], database[64];
  trace traces[2 * KINDS];
  packed contents = {0};
  bench_subject subjects[2 * KINDS + 1];
  snprintf(database, sizeof database, "/tmp/bench-can-%ld.dbc", (long)getpid());
  for (int i = 0; i < KINDS; i++)
    snprintf(path[i], sizeof path[i], "/tmp/bench-can-%ld.%s", (long)getpid(), endings[i]);
  for (int i = 0; i < 2 * KINDS; i++) {
    traces[i] = (trace){.databases = {database}, .wanted_messages = i < KINDS ? MESSAGES : 3};
    memcpy(traces[i].path, path[i % KINDS], sizeof traces[i].path);
    subjects[i] = (bench_subject){
        .figure = figures[i / KINDS][i % KINDS], .self = &traces[i], .start = start, .advance = read_trace, .steps = 1};
    snprintf(subjects[i].name, sizeof subjects[i].name, "%s, %s", endings[i % KINDS],
             i < KINDS ? "180 signals" : "9 signals");
  }
  subjects[2 * KINDS] =
      (bench_subject){.name = "zlib alone", .self = &contents, .start = start, .advance = unpack, .steps = 1};
  int failed =
      write_database(database) != 0 || write_traces(path, &contents) != 0 || bench_settle(subjects, 2 * KINDS + 1) != 0;
  for (int i = 0; i < KINDS; i++) unlink(path[i]);
  unlink(database);
  free(contents.bytes);
  if (failed) {
    fprintf(stderr, "bench_can: failed\n");
    return 1;
  }
  printf("a CAN trace of %d frames of %d messages\n", FRAMES, MESSAGES);
  for (int i = 0; i <= 2 * KINDS; i++) {
    printf("  %-18s %6.2f million frames per second\n", subjects[i].name, FRAMES / bench_best(&subjects[i]) / 1e6);
    bench_write_figures(&subjects[i]);
  }
  bench_print_method(subjects, 2 * KINDS + 1);
  for (int i = 0; i < KINDS; i++)
    bench_verdict("must", subjects[i].name, FRAMES / bench_best(&subjects[i]) / 1e6, "million frames/s ", 1, true);
  return 0;
}
