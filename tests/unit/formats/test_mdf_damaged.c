// Damaged MDF 4 files: an error that begins with the file's path, or a table without wrong values, within 2 s of processor time and 200 MB.
// Oracle: the table of the undamaged file. Every number of a damaged file's table must be in that table, in the same column and at the same
// time, and a column without some of its numbers must be reported as cut. For wrong letters of needed blocks, cycles and contradictions, only
// the error is right. Each file is read in a process of its own, so that a crash or an endless loop fails the test.
#include "support/test.h"

#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <zlib.h>

#include "formats/row_reader.h"
#include "support/mdf_reading.h"

#if defined(__SANITIZE_ADDRESS__)
#define IS_SANITIZED true
#elif defined(__has_feature)
#define IS_SANITIZED __has_feature(address_sanitizer)
#else
#define IS_SANITIZED false
#endif

enum { ROWS = 40, SECONDS = 2, MEGABYTES = 200 };
typedef enum outcome { TABLE, PROPER_ERROR, OTHER_TABLE, SHORT_TABLE, OTHER_ERROR, SLOW, LARGE, CRASH } outcome;
static const char *const outcome_name[] = {
    "a table",
    "an error with the path",
    "a table with other values",
    "a table without some of a column's numbers, not reported as cut",
    "an error without the path",
    "more than 2 s",
    "more than 200 MB",
    "a crash or an endless loop",
};

// The table of the undamaged file; NULL: values are not compared.
static od_table *reference;

// Compares the rows of a file with the undamaged table.
static outcome compare(const char *path) {
  od_error err = {0};
  od_row_reader *r = NULL;
  double row[64];
  int column[64];
  long numbers[64] = {0};
  outcome o = TABLE;
  if (od_row_reader_open(path, NULL, &r, &err) != OD_OK) return PROPER_ERROR;
  const od_table *head = od_row_reader_head(r);
  if (head->columns > 64) o = OTHER_TABLE;
  for (int c = 0; c < head->columns && o == TABLE; c++) column[c] = mdf_find(reference, head->name[c]);
  for (bool end = false; o == TABLE;) {
    if (od_row_reader_next(r, row, &end, &err) != OD_OK) o = PROPER_ERROR;
    if (o != TABLE || end) break;
    const double *same = NULL;
    for (long i = 0; i < reference->rows && !same; i++)
      if (reference->data[i * reference->columns] == row[0]) same = reference->data + i * reference->columns;
    for (int c = 0; c < head->columns; c++) {
      if (isnan(row[c])) continue;
      numbers[c]++;
      if (!same || column[c] < 0 || !mdf_same(row[c], same[column[c]])) o = OTHER_TABLE;
    }
  }
  for (int c = 1; c < head->columns && o == TABLE && !od_row_reader_is_cut(r); c++) {
    for (long i = 0; i < reference->rows; i++)
      if (!isnan(reference->data[i * reference->columns + column[c]])) numbers[c]--;
    if (numbers[c] != 0) o = SHORT_TABLE;
  }
  od_row_reader_close(r);
  return o;
}

static double processor_time(void) {
  struct timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static outcome read_here(const char *path) {
  od_error err = {0};
  od_table *t = NULL;
  double start = processor_time();
  od_status status = od_table_read(path, NULL, &t, &err);
  if (processor_time() - start > (IS_SANITIZED ? 10 : 1) * SECONDS) return SLOW;
  struct rusage used;
  getrusage(RUSAGE_SELF, &used);
  if (!IS_SANITIZED && used.ru_maxrss > MEGABYTES * 1024L) return LARGE;
  od_table_free(t);
  if (status == OD_OK) return reference ? compare(path) : TABLE;
  return strncmp(err.text, path, strlen(path)) == 0 ? PROPER_ERROR : OTHER_ERROR;
}

// Reads the file once for each number, which replaces the 8 bytes at `place`, and returns the worst outcome. No numbers: reads the
// file unchanged.
static outcome read_apart(scratch *s, const mdf_bytes *file, size_t place, const uint64_t *numbers, int count,
                          uint64_t *number) {
  const char *path = scratch_path(s, "damaged.mf4");
  outcome worst = TABLE;
  int pipe_ends[2];
  assert_int_equal(pipe(pipe_ends), 0);
  fflush(NULL);
  pid_t child = fork();
  assert_true(child >= 0);
  if (child == 0) {
    signal(SIGALRM, SIG_DFL);
    for (int i = 0; i < (count ? count : 1); i++) {
      alarm(IS_SANITIZED ? 60 : 20);
      uint64_t message[2] = {CRASH, count ? numbers[i] : 0};
      if (write(pipe_ends[1], message, sizeof message) != sizeof message) _exit(3);
      if (count) mdf_put(file->at + place, numbers[i], 8, false);
      FILE *f = fopen(path, "wb");
      fwrite(file->at, 1, file->size, f);
      fclose(f);
      message[0] = read_here(path);
      if (write(pipe_ends[1], message, sizeof message) != sizeof message) _exit(3);
    }
    _exit(0);
  }
  close(pipe_ends[1]);
  uint64_t message[2], last[2] = {TABLE, 0};
  while (read(pipe_ends[0], message, sizeof message) == (ssize_t)sizeof message) {
    memcpy(last, message, sizeof last);
    if (message[0] != CRASH && (outcome)message[0] > worst) {
      worst = (outcome)message[0];
      if (number) *number = message[1];
    }
  }
  close(pipe_ends[0]);
  int status;
  waitpid(child, &status, 0);
  if (last[0] == CRASH || !WIFEXITED(status) || WEXITSTATUS(status) != 0) {
    if (number) *number = last[1];
    return CRASH;
  }
  return worst;
}

// Prints a wrong outcome and counts it. A test fails at its end, so that all its wrong outcomes are printed.
static int wrong_outcomes;
static void judge(const char *what, outcome o, bool may_be_table) {
  if (o == PROPER_ERROR || (o == TABLE && may_be_table)) return;
  print_error("%s: %s\n", what, outcome_name[o]);
  wrong_outcomes++;
}

static void require_error(scratch *s, const mdf_bytes *file, const char *what) {
  judge(what, read_apart(s, file, 0, NULL, 0, NULL), false);
}

// ---- A file with many kinds of blocks

typedef struct sample {
  mdf_file *f;
  uint64_t first_dg, second_dg, cg, cn, text_cn, cc, ranges, nested, ca, array_cn, structure, hl, dl, dt, dz, sd,
      vlsd_cg, unsorted_dt;
  uint64_t description_end;  // address after the last block that is not data
} sample;

static sample write_sample(void) {
  enum { WIDTH = 8 + 2 + 8 + 6, UNSORTED_WIDTH = 16 };
  sample s = {0};
  mdf_bytes records = {0}, sd = {0}, unsorted = {0};
  uint64_t random = 1, offset = 0;
  for (int k = 0; k < ROWS; k++) {
    unsigned char *at = mdf_more(&records, WIDTH);
    for (int i = 8; i < WIDTH; i++) at[i] = (unsigned char)(mdf_random(&random) % 4);
    mdf_put_double(at, 0.1 * k);
    mdf_put(at + 10, mdf_put_variable(&sd, "text", 4), 8, false);
    *mdf_more(&unsorted, 1) = 2;
    mdf_put_variable(&unsorted, "variable", 8);
    at = mdf_more(&unsorted, 1 + UNSORTED_WIDTH);
    at[0] = 1;
    mdf_put_double(at + 1, 0.1 * k + 0.05);
    mdf_put(at + 9, offset, 8, false);
    offset += 12;
  }
  mdf_file *f = s.f = mdf_begin(NULL);
  uint64_t history[] = {mdf_history(f, "<FHcomment><TX>x</TX></FHcomment>", 1), 0};
  mdf_set_link(f, MDF_HD, MDF_HD_FH, mdf_chain(f, history));
  // The first data group: sorted, with conversions, an array, a structure and texts.
  uint64_t scale = mdf_linear(f, 1, 2);
  const uint64_t refs[] = {mdf_text(f, "error"), scale};
  s.nested = mdf_conversion(
      f, &(mdf_cc){.type = MDF_CC_TEXTS, .values = (double[]){1}, .value_count = 1, .refs = refs, .ref_count = 2});
  s.cc = mdf_formula(f, "2*X+1");
  s.ranges = mdf_conversion(f, &(mdf_cc){.type = MDF_CC_RANGES, .values = (double[]){0, 1, 5, 7}, .value_count = 4});
  s.ca = mdf_array(f, &(mdf_ca){.dimensions = 1, .byte_step = 2, .size = {3}});
  const uint64_t member[] = {mdf_channel(f, &(mdf_cn){.name = "s.a", .byte = 8, .bits = 8}),
                             mdf_channel(f, &(mdf_cn){.name = "s.b", .byte = 9, .bits = 8}), 0};
  s.structure = mdf_chain(f, member);
  const uint64_t text_refs[] = {mdf_text(f, "text")};
  uint64_t text_value = mdf_conversion(
      f,
      &(mdf_cc){
          .type = MDF_CC_TEXT_VALUES, .values = (double[]){3, 4}, .value_count = 2, .refs = text_refs, .ref_count = 1});
  uint64_t channels[] = {
      mdf_time_channel(f),
      s.cn = mdf_channel(f, &(mdf_cn){.name = "formula",
                                      .unit = "bar",
                                      .comment_xml = "<CNcomment><TX>x</TX></CNcomment>",
                                      .byte = 8,
                                      .bits = 8,
                                      .source = mdf_source(f, "ecu", "path", 1, 0),
                                      .conversion = s.cc}),
      mdf_channel(f, &(mdf_cn){.name = "ranges", .byte = 9, .bits = 8, .conversion = s.ranges}),
      mdf_channel(f, &(mdf_cn){.name = "nested", .byte = 9, .bits = 8, .conversion = s.nested}),
      s.array_cn = mdf_channel(f, &(mdf_cn){.name = "array", .byte = 18, .bits = 16, .composition = s.ca}),
      mdf_channel(f, &(mdf_cn){.name = "s", .data_type = MDF_BYTES, .byte = 8, .bits = 16, .composition = s.structure}),
      s.text_cn = mdf_channel(f, &(mdf_cn){.name = "text",
                                           .type = MDF_VLSD,
                                           .data_type = MDF_UTF8,
                                           .byte = 10,
                                           .bits = 64,
                                           .conversion = text_value}),
      0};
  s.cg = mdf_group(f, &(mdf_cg){.name = "sorted", .channels = channels, .records = ROWS, .data_bytes = WIDTH});
  s.first_dg = mdf_data_group(f, (uint64_t[]){s.cg, 0}, 0, 0);
  // The second data group: unsorted, with texts in a group of their own.
  s.vlsd_cg = mdf_group(f, &(mdf_cg){.record_id = 2, .records = ROWS, .flags = MDF_CG_VLSD, .data_bytes = 8 * ROWS});
  uint64_t more[] = {mdf_time_channel(f),
                     mdf_channel(f, &(mdf_cn){.name = "variable",
                                              .type = MDF_VLSD,
                                              .data_type = MDF_UTF8,
                                              .byte = 8,
                                              .bits = 64,
                                              .conversion = text_value,
                                              .data = s.vlsd_cg}),
                     0};
  uint64_t group = mdf_group(
      f,
      &(mdf_cg){.name = "unsorted", .channels = more, .record_id = 1, .records = ROWS, .data_bytes = UNSORTED_WIDTH});
  s.second_dg = mdf_data_group(f, (uint64_t[]){group, s.vlsd_cg, 0}, 0, 1);
  mdf_end(f, (uint64_t[]){s.first_dg, s.second_dg, 0});
  s.description_end = f->b.size;
  // Data behind their descriptions.
  s.sd = mdf_data(f, "SD", sd.at, sd.size, NULL);
  mdf_set_link(f, s.text_cn, 5, s.sd);
  int before = f->blocks;
  s.hl = mdf_data(f, "DT", records.at, records.size,
                  &(mdf_storage){.list = MDF_LIST_OFFSETS,
                                 .piece = 500,
                                 .zip = MDF_MIXED,
                                 .columns = WIDTH,
                                 .per_list = 1,
                                 .has_header = true});
  s.dt = f->block[before];
  s.dz = f->block[before + 1];
  s.dl = f->block[before + 2];
  assert_memory_equal(f->b.at + s.dl, "##DL", 4);
  mdf_set_link(f, s.first_dg, 2, s.hl);
  s.unsorted_dt = mdf_data(f, "DT", unsorted.at, unsorted.size, NULL);
  mdf_set_link(f, s.second_dg, 2, s.unsorted_dt);
  mdf_bytes_free(&records);
  mdf_bytes_free(&sd);
  mdf_bytes_free(&unsorted);
  return s;
}

// Makes the file, and reads its table for comparisons.
static sample make_sample(scratch *folder) {
  sample s = write_sample();
  mdf_save(s.f, scratch_path(folder, "f.mf4"));
  reference = mdf_read(scratch_path(folder, "f.mf4"));
  return s;
}

// Frees the file and its table. Fails if there were wrong outcomes.
static void finish(sample *s) {
  int count = wrong_outcomes;
  mdf_free(s->f);
  od_table_free(reference);
  reference = NULL;
  wrong_outcomes = 0;
  if (count > 0) fail_msg("%d wrong outcomes", count);
}

static mdf_bytes copy_of(const mdf_file *f) {
  mdf_bytes b = {0};
  mdf_append(&b, f->b.at, f->b.size);
  return b;
}

static uint64_t word(const mdf_bytes *b, uint64_t at) {
  uint64_t v = 0;
  for (int i = 7; i >= 0; i--) v = v << 8 | b->at[at + (uint64_t)i];
  return v;
}

// The address of a link's 8 bytes, and of a byte of a block's data.
static uint64_t link_place(uint64_t block, int link) {
  return block + 24 + 8 * (uint64_t)link;
}
static uint64_t data_place(const mdf_bytes *b, uint64_t block, int byte) {
  return block + 24 + 8 * word(b, block + 16) + (uint64_t)byte;
}

// ---- Tests

static void undamaged(void **state) {
  sample s = make_sample(*state);
  assert_int_equal(reference->rows, 2 * ROWS);
  assert_int_equal(read_apart(*state, &s.f->b, 0, NULL, 0, NULL), TABLE);
  finish(&s);
}

static void cut(void **state) {
  static const int beyond[] = {0, 1, 8, 16, 24, 40};
  sample s = make_sample(*state);
  char what[80];
  for (int i = 0; i <= s.f->blocks; i++)
    for (size_t k = 0; k < sizeof beyond / sizeof *beyond; k++) {
      mdf_bytes b = copy_of(s.f);
      uint64_t length = i == 0 ? (uint64_t)beyond[k] : s.f->block[i - 1] + (uint64_t)beyond[k];
      if (length >= 16 && length < b.size) {  // a shorter file has no version, and can be a text file
        snprintf(what, sizeof what, "%lu of %zu bytes", (unsigned long)length, b.size);
        b.size = length;
        judge(what, read_apart(*state, &b, 0, NULL, 0, NULL), length >= s.description_end);
      }
      mdf_bytes_free(&b);
    }
  for (uint64_t missing = 1; missing < 20; missing++) {  // within the last block
    mdf_bytes b = copy_of(s.f);
    b.size -= missing;
    judge("the last bytes are missing", read_apart(*state, &b, 0, NULL, 0, NULL), true);
    mdf_bytes_free(&b);
  }
  finish(&s);
}

static void wrong_letters(void **state) {
  static const char *const needed[] = {"HD", "DG", "CG", "CN", "DL", "HL", "DT", "DZ", "SD"};
  sample s = make_sample(*state);
  for (int i = 0; i < s.f->blocks; i++)
    for (int kind = 0; kind < 3; kind++) {
      mdf_bytes b = copy_of(s.f);
      unsigned char *at = b.at + s.f->block[i];
      char was[3] = {(char)at[2], (char)at[3]};
      bool is_needed = false;
      for (size_t k = 0; k < sizeof needed / sizeof *needed; k++) is_needed = is_needed || strcmp(was, needed[k]) == 0;
      if (kind == 0) memcpy(at, "##XX", 4);
      if (kind == 1) memcpy(at, "\0\0\0\0", 4);
      if (kind == 2) memcpy(at, strcmp(was, "TX") == 0 ? "##CN" : "##TX", 4);
      char what[80];
      snprintf(what, sizeof what, "%s block at %lu with wrong letters (%d)", was, (unsigned long)s.f->block[i], kind);
      judge(what, read_apart(*state, &b, 0, NULL, 0, NULL), !is_needed);
      mdf_bytes_free(&b);
    }
  finish(&s);
}

static void cycles(void **state) {
  sample s = make_sample(*state);
  const struct {
    const char *what;
    uint64_t block;
    int link;
    uint64_t target;
  } cycle[] = {
      {"a data group after itself", s.second_dg, 0, s.second_dg},
      {"the first data group after the second", s.second_dg, 0, s.first_dg},
      {"a group after itself", s.cg, 0, s.cg},
      {"a group after the one that it follows", s.vlsd_cg, 0, s.vlsd_cg},
      {"a channel after itself", s.text_cn, 0, s.text_cn},
      {"a channel after its successor", s.text_cn, 0, s.cn},
      {"a structure within itself", s.structure, 0, s.structure},
      {"a member that contains itself", s.structure, 1, s.structure},
      {"a list after itself", s.dl, 0, s.dl},
      {"a list of itself", s.dl, 1, s.dl},
      {"a header of lists of itself", s.hl, 0, s.hl},
      {"a data group as data", s.first_dg, 2, s.first_dg},
      {"a group of channels as a channel", s.cg, 1, s.cg},
  };
  for (size_t i = 0; i < sizeof cycle / sizeof *cycle; i++) {
    mdf_bytes b = copy_of(s.f);
    mdf_put(b.at + link_place(cycle[i].block, cycle[i].link), cycle[i].target, 8, false);
    require_error(*state, &b, cycle[i].what);
    mdf_bytes_free(&b);
  }
  // A conversion that refers to itself, and an array within itself: at least no endless loop.
  const uint64_t harmless[][3] = {
      {s.nested, 5, s.nested}, {s.ca, 0, s.ca}, {s.ca, 0, s.array_cn}, {s.nested, 3, s.nested}};
  for (size_t i = 0; i < sizeof harmless / sizeof *harmless; i++) {
    mdf_bytes b = copy_of(s.f);
    mdf_put(b.at + link_place(harmless[i][0], (int)harmless[i][1]), harmless[i][2], 8, false);
    judge("a conversion or an array that refers to itself", read_apart(*state, &b, 0, NULL, 0, NULL), true);
    mdf_bytes_free(&b);
  }
  finish(&s);
}

// Counts and lengths above the contents of the file.
static void huge_counts(void **state) {
  sample s = make_sample(*state);
  const struct {
    const char *what;
    uint64_t block;
    int byte, size;  // within the block's data
    uint64_t value;
  } count[] = {
      {"records", s.cg, 8, 8, UINT64_C(1) << 60},
      {"one record too many", s.cg, 8, 8, ROWS + 1},
      {"all records", s.cg, 8, 8, UINT64_MAX},
      {"bytes of a record", s.cg, 24, 4, UINT32_MAX},
      {"bytes of invalidation bits", s.cg, 28, 4, UINT32_MAX},
      {"bytes of all texts", s.vlsd_cg, 28, 4, UINT32_MAX},
      {"byte offset of a channel", s.cn, 4, 4, UINT32_MAX},
      {"bits of a channel", s.cn, 8, 4, UINT32_MAX},
      {"bit offset of a channel", s.cn, 3, 1, 255},
      {"values of a conversion", s.ranges, 6, 2, 65535},
      {"references of a conversion", s.nested, 4, 2, 65535},
      {"dimensions", s.ca, 2, 2, 65535},
      {"elements of an array", s.ca, 16, 8, UINT64_C(1) << 40},
      {"elements of an array, all", s.ca, 16, 8, UINT64_MAX},
      {"step of an array", s.ca, 8, 4, 0x7fffffff},
      {"negative step of an array", s.ca, 8, 4, 0x80000000},
      {"blocks of a list", s.dl, 4, 4, UINT32_MAX},
      {"original length", s.dz, 8, 8, UINT64_C(1) << 40},
      {"original length, more than the data", s.dz, 8, 8, 501},
      {"original length, less than the data", s.dz, 8, 8, 499},
      {"deflated length", s.dz, 16, 8, UINT64_C(1) << 40},
      {"deflated length, cut", s.dz, 16, 8, 20},
      {"length of a text of variable length", s.sd, 0, 4, UINT32_MAX},
      {"length of a text between records", s.unsorted_dt, 1, 4, UINT32_MAX},
  };
  for (size_t i = 0; i < sizeof count / sizeof *count; i++) {
    mdf_bytes b = copy_of(s.f);
    mdf_put(b.at + data_place(&b, count[i].block, count[i].byte), count[i].value, count[i].size, false);
    // A reader may leave a wrong number unused, if it finds the right values without the number.
    judge(count[i].what, read_apart(*state, &b, 0, NULL, 0, NULL), strncmp(count[i].what, "original", 8) != 0);
    mdf_bytes_free(&b);
  }
  // Record identifiers that no group has, and of a size that the layout does not have.
  mdf_bytes b = copy_of(s.f);
  b.at[data_place(&b, s.unsorted_dt, 0)] = 77;
  require_error(*state, &b, "a record of an unknown group");
  mdf_bytes_free(&b);
  b = copy_of(s.f);
  b.at[data_place(&b, s.second_dg, 0)] = 3;
  require_error(*state, &b, "record identifiers of 3 bytes");
  mdf_bytes_free(&b);
  finish(&s);
}

// A small block that inflates to much more than its original length.
static void bomb(void **state) {
  enum { LARGE_SIZE = 256 << 20 };
  for (int claims_all = 0; claims_all < 2; claims_all++) {
    sample s = make_sample(*state);
    unsigned char *zeros = calloc(1, LARGE_SIZE);
    uLongf length = compressBound(LARGE_SIZE);
    unsigned char *data = calloc(1, 24 + length);
    assert_int_equal(compress2(data + 24, &length, zeros, LARGE_SIZE, 9), Z_OK);
    memcpy(data, "DT", 2);
    mdf_put(data + 8, claims_all ? LARGE_SIZE : 500, 8, false);
    mdf_put(data + 16, length, 8, false);
    uint64_t block = mdf_block(s.f, "DZ", NULL, 0, data, 24 + length);
    mdf_set_link(s.f, s.first_dg, 2, block);
    od_table_free(reference);
    reference = NULL;
    // The first records of a block that is longer than its records are a table.
    judge(claims_all ? "a block of 256 MB" : "a block of 500 bytes that inflates to 256 MB",
          read_apart(*state, &s.f->b, 0, NULL, 0, NULL), claims_all);
    free(zeros);
    free(data);
    finish(&s);
  }
}

// Every number of 8 bytes in the descriptions, and in the heads of the data, replaced by numbers that are difficult as a link, as a
// length or as a count.
static void every_number(void **state) {
  sample s = make_sample(*state);
  od_table_free(reference);  // values may change
  reference = NULL;
  uint64_t places[4000];
  int n = 0;
  for (uint64_t at = MDF_HD; at < s.description_end; at += 8) places[n++] = at;
  const uint64_t data[] = {s.sd, s.dt, s.dz, s.dl, s.hl, s.unsorted_dt};
  for (size_t i = 0; i < sizeof data / sizeof *data; i++)
    for (int k = 0; k < 8; k++) places[n++] = data[i] + 8 * (uint64_t)k;
  for (int i = 0; i < n; i++) {
    int own = 0;
    while (own + 1 < s.f->blocks && s.f->block[own + 1] <= places[i]) own++;
    const uint64_t numbers[] = {0,
                                1,
                                8,
                                24,
                                MDF_HD,
                                s.f->block[own],
                                s.f->block[own + 1 < s.f->blocks ? own + 1 : 0],
                                s.first_dg,
                                s.cn,
                                s.f->b.size,
                                s.f->b.size - 8,
                                UINT64_C(1) << 31,
                                UINT64_C(0xffffffff00000000),
                                UINT64_C(1) << 62,
                                UINT64_MAX - 7,
                                UINT64_MAX};
    mdf_bytes b = copy_of(s.f);
    uint64_t number = 0;
    outcome o = read_apart(*state, &b, places[i], numbers, sizeof numbers / sizeof *numbers, &number);
    char what[120];
    snprintf(what, sizeof what, "number 0x%lx at %lu (byte %lu of a %.4s block)", (unsigned long)number,
             (unsigned long)places[i], (unsigned long)(places[i] - s.f->block[own]),
             (const char *)s.f->b.at + s.f->block[own]);
    judge(what, o, true);
    mdf_bytes_free(&b);
  }
  finish(&s);
}

// ---- Files without damage, but with sizes that no logger writes

// Writes 10 records of a time and the given channel of 8 bits, and reads the file.
static void judge_channel(scratch *folder, mdf_file *f, const mdf_cn *channel, const char *what) {
  mdf_bytes data = {0};
  for (int k = 0; k < 10; k++) mdf_put_double(mdf_more(&data, 16), k);
  const uint64_t channels[] = {mdf_time_channel(f), mdf_channel(f, channel), 0};
  uint64_t group = mdf_group(f, &(mdf_cg){.channels = channels, .records = 10, .data_bytes = 16});
  uint64_t dg = mdf_data_group(f, (uint64_t[]){group, 0}, mdf_data(f, "DT", data.at, data.size, NULL), 0);
  mdf_end(f, (uint64_t[]){dg, 0});
  judge(what, read_apart(folder, &f->b, 0, NULL, 0, NULL), true);
  mdf_bytes_free(&data);
  mdf_free(f);
}

static void finish_hostile(void) {
  int count = wrong_outcomes;
  wrong_outcomes = 0;
  if (count > 0) fail_msg("%d wrong outcomes", count);
}

// Structures within structures, conversions within conversions, parentheses within parentheses, elements within elements of a comment.
static void deep_nesting(void **state) {
  enum { DEPTH = 100000, LEVELS = 60 };
  mdf_file *f = mdf_begin(NULL);
  uint64_t inner = 0;
  for (int i = 0; i < DEPTH; i++)
    inner = mdf_channel(
        f,
        &(mdf_cn){.name = i ? NULL : "x", .data_type = i ? MDF_BYTES : 0, .byte = 8, .bits = 8, .composition = inner});
  judge_channel(*state, f, &(mdf_cn){.name = "s", .data_type = MDF_BYTES, .byte = 8, .bits = 8, .composition = inner},
                "structures within structures");

  for (int both = 0; both < 2; both++) {  // both: each conversion refers to the next one twice
    f = mdf_begin(NULL);
    inner = mdf_linear(f, 0, 1);
    for (int i = 0; i < (both ? LEVELS : DEPTH); i++) {
      const uint64_t refs[] = {both ? inner : 0, inner};
      inner = mdf_conversion(
          f, &(mdf_cc){.type = MDF_CC_TEXTS, .values = (double[]){1}, .value_count = 1, .refs = refs, .ref_count = 2});
    }
    judge_channel(*state, f, &(mdf_cn){.name = "y", .byte = 8, .bits = 8, .conversion = inner},
                  both ? "conversions that refer twice to another one" : "conversions within conversions");
  }

  static const char *const repeated[] = {"(", "-", "sin(", "X+", "X^", "1e", "abs(-(", "2*(X+"};
  for (size_t i = 0; i < sizeof repeated / sizeof *repeated; i++) {
    size_t length = strlen(repeated[i]), times = 2000000 / length;
    char *text = calloc(1, times * length + 2);
    for (size_t k = 0; k < times; k++) memcpy(text + k * length, repeated[i], length);
    text[times * length] = 'X';
    f = mdf_begin(NULL);
    char what[60];
    snprintf(what, sizeof what, "a formula of many '%s'", repeated[i]);
    judge_channel(*state, f, &(mdf_cn){.name = "y", .byte = 8, .bits = 8, .conversion = mdf_formula(f, text)}, what);
    free(text);
  }

  size_t n = 4000000;
  char *xml = calloc(1, n + 1);
  for (size_t k = 0; k + 3 <= n; k += 3) memcpy(xml + k, "<a>", 3);
  f = mdf_begin(NULL);
  judge_channel(*state, f, &(mdf_cn){.name = "y", .byte = 8, .bits = 8, .comment_xml = xml, .unit_xml = xml},
                "elements within elements of a comment");
  free(xml);
  finish_hostile();
}

// Many channels, groups, blocks and columns.
static void many_parts(void **state) {
  enum { MANY = 100000 };
  uint64_t *chain = calloc(MANY + 2, sizeof *chain);
  mdf_bytes data = {0};
  char name[24];
  for (int kind = 0; kind < 4; kind++) {  // channels: of one name, of different names; groups; data groups
    mdf_file *f = mdf_begin(NULL);
    uint64_t dg = 0;
    mdf_bytes_free(&data);
    for (int k = 0; k < 4; k++) {
      if (kind == 2) *mdf_more(&data, 4) = (unsigned char)k;
      mdf_put_double(mdf_more(&data, 16), k);
    }
    uint64_t block = mdf_data(f, "DT", data.at, data.size, NULL);
    memset(chain, 0, (MANY + 2) * sizeof *chain);
    int count = kind < 2 ? MANY : MANY / 4;
    for (int i = 0; i < count; i++) {
      snprintf(name, sizeof name, kind == 1 ? "channel%d" : "y", i);
      uint64_t y =
          i == 0 && kind < 2 ? mdf_time_channel(f) : mdf_channel(f, &(mdf_cn){.name = name, .byte = 8, .bits = 8});
      chain[i] = y;
      if (kind < 2) continue;
      chain[i] = mdf_group(f, &(mdf_cg){.channels = (uint64_t[]){mdf_time_channel(f), y, 0},
                                        .record_id = (uint64_t)i,
                                        .records = i < 4 || kind == 3 ? (kind == 3 ? 4 : 1) : 0,
                                        .data_bytes = 16});
      if (kind == 3) chain[i] = mdf_data_group(f, (uint64_t[]){chain[i], 0}, block, 0);
    }
    if (kind < 2) {
      uint64_t group = mdf_group(f, &(mdf_cg){.channels = chain, .records = 4, .data_bytes = 16});
      dg = mdf_data_group(f, (uint64_t[]){group, 0}, block, 0);
    }
    if (kind == 2) dg = mdf_data_group(f, chain, block, 4);
    mdf_end(f, kind == 3 ? chain : (uint64_t[]){dg, 0});
    static const char *const what[] = {"channels of one name", "channels", "groups of a data group", "data groups"};
    judge(what[kind], read_apart(*state, &f->b, 0, NULL, 0, NULL), true);
    mdf_free(f);
  }
  mdf_bytes_free(&data);

  for (int step = 0; step < 2; step++) {
    mdf_file *f = mdf_begin(NULL);
    uint64_t ca = mdf_array(f, &(mdf_ca){.dimensions = 3, .byte_step = step, .size = {1000, 1000, step ? 1 : 1000}});
    judge_channel(*state, f, &(mdf_cn){.name = "a", .byte = 8, .bits = 8, .composition = ca},
                  step ? "an array beyond its record" : "1e9 elements at one place");
  }

  // A list of many empty blocks, and of one block many times.
  for (int kind = 0; kind < 3; kind++) {
    mdf_file *f = mdf_begin(NULL);
    unsigned char *zeros = calloc(1, 8 << 20);
    uint64_t block = kind == 0   ? mdf_data(f, "DT", NULL, 0, NULL)
                     : kind == 1 ? mdf_data(f, "DT", zeros, 160, NULL)
                                 : mdf_data(f, "DT", zeros, 8 << 20, &(mdf_storage){.zip = MDF_DEFLATE});
    free(zeros);
    uint64_t size = kind == 0 ? 0 : kind == 1 ? 160 : 8 << 20;
    uint64_t *links = calloc(MANY + 1, sizeof *links);
    for (int i = 0; i < MANY; i++) links[1 + i] = block;
    mdf_bytes list = {0};
    mdf_put(mdf_more(&list, 16), 1, 1, false);
    mdf_put(list.at + 4, MANY, 4, false);
    mdf_put(list.at + 8, size, 8, false);
    uint64_t dl = mdf_block(f, "DL", links, MANY + 1, list.at, list.size);
    const uint64_t channels[] = {mdf_time_channel(f), mdf_channel(f, &(mdf_cn){.name = "y", .byte = 8, .bits = 8}), 0};
    uint64_t group = mdf_group(f, &(mdf_cg){.channels = channels, .records = size * MANY / 16, .data_bytes = 16});
    uint64_t dg = mdf_data_group(f, (uint64_t[]){group, 0}, dl, 0);
    mdf_end(f, (uint64_t[]){dg, 0});
    judge(kind == 0   ? "empty blocks of a list"
          : kind == 1 ? "one block many times"
                      : "800 GB from one deflated block",
          read_apart(*state, &f->b, 0, NULL, 0, NULL), kind < 2);
    free(links);
    mdf_bytes_free(&list);
    mdf_free(f);
  }
  free(chain);
  finish_hostile();
}

// Many channels whose texts have lengths in a channel that is not there, and many groups whose master is not there.
static void many_missing_targets(void **state) {
  enum { MANY = 100000 };
  uint64_t *chain = calloc(MANY + 2, sizeof *chain);
  for (int kind = 0; kind < 2; kind++) {
    mdf_file *f = mdf_begin(&(mdf_header){.version = 420});
    uint64_t wrong = mdf_text(f, "x"), block = mdf_data(f, "DT", "0123456789abcdef", 16, NULL), dg;
    memset(chain, 0, (MANY + 2) * sizeof *chain);
    for (int i = 0; i < MANY; i++) {
      if (kind == 0 && i > 0)
        chain[i] =
            mdf_channel(f, &(mdf_cn){.type = MDF_MLSD, .data_type = MDF_LATIN1, .byte = 8, .bits = 64, .data = wrong});
      else if (kind == 0)
        chain[i] = mdf_time_channel(f);
      else
        chain[i] = mdf_group(f, &(mdf_cg){.channels = (uint64_t[]){0},
                                          .record_id = (uint64_t)i,
                                          .flags = MDF_CG_REMOTE_MASTER,
                                          .master = wrong,
                                          .data_bytes = 8});
    }
    if (kind == 0) {
      uint64_t group = mdf_group(f, &(mdf_cg){.channels = chain, .records = 1, .data_bytes = 16});
      dg = mdf_data_group(f, (uint64_t[]){group, 0}, block, 0);
    } else {
      dg = mdf_data_group(f, chain, block, 8);
    }
    mdf_end(f, (uint64_t[]){dg, 0});
    judge(kind == 0 ? "missing channels with lengths" : "missing groups with a master",
          read_apart(*state, &f->b, 0, NULL, 0, NULL), true);
    mdf_free(f);
  }
  free(chain);
  finish_hostile();
}

// A text of a megabyte that all records refer to, and one of variable length between records. The conversion compares the texts.
static void long_texts(void **state) {
  enum { MANY = 100000, LENGTH = 4 << 20 };
  mdf_bytes data = {0}, sd = {0};
  char *text = malloc(LENGTH);
  memset(text, 'x', LENGTH);
  mdf_put_variable(&sd, text, LENGTH);
  text[LENGTH - 1] = 0;
  for (int kind = 0; kind < 2; kind++) {
    mdf_file *f = mdf_begin(NULL);
    mdf_bytes_free(&data);
    for (int k = 0; k < MANY; k++) mdf_put_double(mdf_more(&data, 16), k);
    const uint64_t refs[] = {mdf_text(f, text)};
    uint64_t c = mdf_conversion(
        f, &(mdf_cc){
               .type = MDF_CC_TEXT_VALUES, .values = (double[]){1, 2}, .value_count = 2, .refs = refs, .ref_count = 1});
    uint64_t texts =
        mdf_data(f, "SD", sd.at, sd.size, kind ? &(mdf_storage){.zip = MDF_DEFLATE} : &(mdf_storage){.piece = 0});
    const uint64_t channels[] = {mdf_time_channel(f),
                                 mdf_channel(f, &(mdf_cn){.name = "y",
                                                          .type = MDF_VLSD,
                                                          .data_type = MDF_UTF8,
                                                          .byte = 8,
                                                          .bits = 64,
                                                          .conversion = c,
                                                          .data = texts}),
                                 0};
    uint64_t group = mdf_group(f, &(mdf_cg){.channels = channels, .records = MANY, .data_bytes = 16});
    uint64_t dg = mdf_data_group(f, (uint64_t[]){group, 0}, mdf_data(f, "DT", data.at, data.size, NULL), 0);
    mdf_end(f, (uint64_t[]){dg, 0});
    judge(kind ? "one deflated text of all records" : "one text of all records",
          read_apart(*state, &f->b, 0, NULL, 0, NULL), true);
    mdf_free(f);
  }
  mdf_bytes_free(&data);
  mdf_bytes_free(&sd);
  free(text);
  finish_hostile();
}

// Other versions: the message names the version.
static void versions(void **state) {
  static const char *const start[] = {"MDF     3.30    test    ", "MDF     2.14    test    ",
                                      "MDF     5.00    test    "};
  for (size_t i = 0; i < sizeof start / sizeof *start; i++) {
    sample s = make_sample(*state);
    od_error err = {0};
    od_table *t = NULL;
    memcpy(s.f->b.at, start[i], strlen(start[i]));
    mdf_put(s.f->b.at + 28, i == 0 ? 330 : i == 1 ? 214 : 500, 2, false);
    const char *path = scratch_path(*state, "f.mf4");
    mdf_save(s.f, path);
    assert_int_equal(od_table_read(path, NULL, &t, &err), OD_BAD_INPUT);
    assert_int_equal(strncmp(err.text, path, strlen(path)), 0);
    char version[5] = {0};
    memcpy(version, start[i] + 8, 4);
    if (!strstr(err.text + strlen(path), version)) fail_msg("no version in the message: %s", err.text);
    finish(&s);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(undamaged, scratch_setup, scratch_teardown),
      cmocka_unit_test_setup_teardown(cut, scratch_setup, scratch_teardown),
      cmocka_unit_test_setup_teardown(wrong_letters, scratch_setup, scratch_teardown),
      cmocka_unit_test_setup_teardown(cycles, scratch_setup, scratch_teardown),
      cmocka_unit_test_setup_teardown(huge_counts, scratch_setup, scratch_teardown),
      cmocka_unit_test_setup_teardown(bomb, scratch_setup, scratch_teardown),
      cmocka_unit_test_setup_teardown(every_number, scratch_setup, scratch_teardown),
      cmocka_unit_test_setup_teardown(deep_nesting, scratch_setup, scratch_teardown),
      cmocka_unit_test_setup_teardown(many_parts, scratch_setup, scratch_teardown),
      cmocka_unit_test_setup_teardown(many_missing_targets, scratch_setup, scratch_teardown),
      cmocka_unit_test_setup_teardown(long_texts, scratch_setup, scratch_teardown),
      cmocka_unit_test_setup_teardown(versions, scratch_setup, scratch_teardown),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
