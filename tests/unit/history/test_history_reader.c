// The history as the page reads it. Oracle: bins, rows and events computed again from the rows themselves, which are functions of their number.
#include "support/test.h"

#include <math.h>

#include "history/history_reader.h"
#include "support/scratch.h"

enum { CHANNELS = 3, ROWS = 40000 };
static const od_history_channel channels[CHANNELS] = {
    {"measured.x", "m", -1}, {"estimate.k", "N/m", 2}, {"sigma.k", "N/m", -1}};
static od_error err;

static void done(od_status status) {
  if (status != OD_OK) fail_msg("%s", err.text);
}

// Row i: 20 per second, a gap of 500 s, a missing value now and then.
static void fill_row(long i, double *row) {
  row[0] = 100.013 + 0.05 * (double)i + (i > 9000 ? 500 : 0);
  row[1] = i % 13 == 0 ? (double)NAN : sin(0.37 * (double)i) * (double)(1 + i % 100);
  row[2] = 1e6 + (double)(i * i % 977);
  row[3] = 1e3 / (1 + (double)i);
}

static od_history *writer, *reader;

static int setup(void **state) {
  static char path[512];
  if (scratch_setup(state) != 0) return -1;
  snprintf(path, sizeof path, "%s", scratch_path(*state, "h.db"));
  const od_twin_history settings = {.file = path, .rows_for = 1e9, .keep = 1e9, .size = 1e12};
  double last;
  int machine;
  done(od_history_open(&settings, &writer, &err));
  done(od_history_add_machine(writer, "crane", "A crane", &machine, &last, &err));
  done(od_history_define(writer, machine, channels, CHANNELS, &err));
  done(od_history_add_machine(writer, "crane.frames", "A crane", &machine, &last, &err));
  done(od_history_define_rows(writer, machine, channels, 1, &err));
  done(od_history_reader_open(&settings, &reader, &err));
  return 0;
}

static int teardown(void **state) {
  od_history_close(reader);
  od_history_close(writer);
  return scratch_teardown(state);
}

static void add_rows(long from, long to) {
  double row[1 + CHANNELS];
  for (long i = from; i < to; i++) {
    fill_row(i, row);
    done(od_history_add_row(writer, 0, row, i, &err));
    if (i % 10 == 0) done(od_history_add_row(writer, 1, row, -1, &err));
    if (i % 20 == 0) done(od_history_commit(writer, &err));
  }
  done(od_history_commit(writer, &err));
}

// Compares bins with those of the rows. Buckets belong to the bin of their middle.
static void compare_bins(const od_history_bins *b, int channel, double from, double to) {
  const double bucket = b->level >= 0 ? od_history_width(b->level) : 0;
  int seen = 0;
  for (int n = 0; n < b->count; n++) {
    double min = INFINITY, max = -INFINITY, sum = 0;
    long count = 0;
    for (long i = 0; i < ROWS; i++) {
      double row[1 + CHANNELS];
      fill_row(i, row);
      double t = row[0], value = row[1 + channel];
      // The buckets of the first and the last time count as a whole.
      if (bucket > 0 ? floor(t / bucket) < floor(from / bucket) || floor(t / bucket) > floor(to / bucket)
                     : t < from || t > to)
        continue;
      if (bucket > 0) t = (floor(t / bucket) + 0.5) * bucket;
      if (!isfinite(value) || floor(t / b->width) != floor(b->t[n] / b->width)) continue;
      min = fmin(min, value), max = fmax(max, value), sum += value, count++;
    }
    assert_true(count > 0);
    seen++;
    near_relative(b->min[n], min, 1e-12);
    near_relative(b->max[n], max, 1e-12);
    near_scaled(b->mean[n], sum / (double)count, 1e-12, fmax(fabs(min), fabs(max)));
  }
  assert_true(seen > 0);
}

static void test_bins(void **state) {
  (void)state;
  od_arena memory = {0};
  const char *const names[] = {"measured.x", "estimate.k", "absent"};
  od_history_bins bins[3];
  add_rows(0, ROWS);
  static const struct {
    double from, to;
    int points, level;
  } zooms[] = {{100, 2700, 400, 0}, {100, 2700, 50, 1}, {300, 330, 10, 0}, {300, 304, 100, -1}, {500, 1100, 2000, -1}};
  for (size_t i = 0; i < sizeof zooms / sizeof *zooms; i++) {
    done(od_history_reader_bins(reader, &memory, "crane", names, 3, zooms[i].from, zooms[i].to, zooms[i].points, bins,
                                &err));
    for (int c = 0; c < 2; c++) {
      assert_true(bins[c].count > 0 && bins[c].count <= zooms[i].points + 1);
      if (bins[c].level != zooms[i].level) fail_msg("level %d", bins[c].level);
      if (bins[c].width > 0) compare_bins(&bins[c], c, zooms[i].from, zooms[i].to);
      for (int n = 1; n < bins[c].count; n++) assert_true(bins[c].t[n] > bins[c].t[n - 1]);
    }
    assert_int_equal(bins[2].count, 0);
  }
  // Few rows are given as they are.
  done(od_history_reader_bins(reader, &memory, "crane", names, 2, 300, 301, 100, bins, &err));
  assert_true(bins[1].width == 0 && bins[1].count == 20);
  for (int n = 0; n < bins[1].count; n++) {
    double row[1 + CHANNELS];
    fill_row(lround((bins[1].t[n] - 100.013) / 0.05), row);
    assert_true(row[0] == bins[1].t[n] && row[2] == bins[1].mean[n]);
  }
  done(od_history_reader_bins(reader, &memory, "unknown", names, 2, 0, 1, 10, bins, &err));
  assert_int_equal(bins[0].count, 0);
  // No data in the gap, and none outside.
  done(od_history_reader_bins(reader, &memory, "crane", names, 1, 600, 900, 10, bins, &err));
  assert_int_equal(bins[0].count, 0);
  done(od_history_reader_bins(reader, &memory, "crane", names, 1, 1e9, 2e9, 10, bins, &err));
  assert_int_equal(bins[0].count, 0);
  od_history_span span;
  done(od_history_reader_span(reader, "crane", &span, &err));
  double row[1 + CHANNELS];
  fill_row(ROWS - 1, row);
  assert_true(span.last == row[0] && span.first <= 100.013 && span.first > 91);
  done(od_history_reader_span(reader, "unknown", &span, &err));
  assert_true(isnan(span.first) && isnan(span.last));
  od_arena_free(&memory);
}

// While the history grows, each reading has all rows of the last transaction.
static void test_growing(void **state) {
  (void)state;
  od_arena memory = {0};
  const char *const names[] = {"estimate.k"};
  for (long i = 0; i < 5000; i += 500) {
    add_rows(i, i + 500);
    double row[1 + CHANNELS];
    od_history_bins bins;
    fill_row(i + 499, row);
    done(od_history_reader_bins(reader, &memory, "crane", names, 1, 100, row[0], 20, &bins, &err));
    assert_true(bins.count > 0 && bins.t[bins.count - 1] + 0.5 * bins.width >= row[0]);
    if (bins.level >= 0) {
      double sum = 0;
      for (int n = 0; n < bins.count; n++) sum += bins.max[n] >= 1e6;
      assert_true(sum == bins.count);
    }
  }
  od_arena_free(&memory);
}

static void test_rows(void **state) {
  (void)state;
  od_arena memory = {0};
  const char *const names[] = {"measured.x"};
  od_history_rows rows;
  add_rows(0, 4000);
  done(od_history_reader_rows(reader, &memory, "crane.frames", names, 1, 120, 140, 41, &rows, &err));
  assert_int_equal(rows.count, 40);
  for (int n = 0; n < rows.count; n++) {
    double row[1 + CHANNELS];
    fill_row(lround((rows.t[n] - 100.013) / 0.05), row);
    assert_true(row[0] == rows.t[n] && (isnan(row[1]) ? isnan(rows.value[n]) : row[1] == rows.value[n]));
    assert_true(n == 0 || rows.t[n] > rows.t[n - 1]);
  }
  done(od_history_reader_rows(reader, &memory, "crane.frames", names, 1, 120, 140, 5, &rows, &err));
  assert_int_equal(rows.count, 4);
  done(od_history_reader_rows(reader, &memory, "unknown", names, 1, 120, 140, 5, &rows, &err));
  assert_int_equal(rows.count, 0);
  // Frames have no pyramid.
  od_history_bins bins;
  done(od_history_reader_bins(reader, &memory, "crane.frames", names, 1, 100, 300, 10, &bins, &err));
  assert_true(bins.count == 1);  // the last second only, from the rows
  od_arena_free(&memory);
}

static void test_events(void **state) {
  (void)state;
  od_arena memory = {0};
  od_history_event *event;
  int count;
  for (int i = 0; i < 30; i++) {
    done(od_history_add_event(writer, i % 3 == 0 ? -1 : 0, i, 100 + i, i % 5 == 0 ? "alarm" : "late", "it's \"late\"",
                              &err));
    assert_int_equal(od_history_event_id(writer), i + 1);
  }
  done(od_history_acknowledge(writer, 6, 777, &err));
  done(od_history_acknowledge(writer, 6, 888, &err));  // the first time counts
  done(od_history_acknowledge(writer, 600, 888, &err));
  done(od_history_commit(writer, &err));
  static const char *const kinds[] = {"alarm", "stopped", NULL};
  od_event_query query = {.most = 10};
  done(od_history_reader_events(reader, &memory, &query, &event, &count, &err));
  assert_true(count == 10 && event[0].id == 30 && event[9].id == 21 && event[0].t == 29 && event[0].clock == 129);
  query.before = 21;
  query.machine = "crane";
  done(od_history_reader_events(reader, &memory, &query, &event, &count, &err));
  assert_true(count == 10 && event[0].id == 20 && strcmp(event[0].machine, "crane") == 0 && event[1].id == 18);
  query = (od_event_query){.is_open = true, .kinds = kinds, .most = 50};
  done(od_history_reader_events(reader, &memory, &query, &event, &count, &err));
  assert_int_equal(count, 5);  // 1, 11, 16, 21, 26; 6 is acknowledged
  assert_true(event[4].id == 1 && isnan(event[4].acknowledged) && !event[4].machine);
  query = (od_event_query){.id = 6, .most = 1};
  done(od_history_reader_events(reader, &memory, &query, &event, &count, &err));
  assert_true(count == 1 && event[0].acknowledged == 777);
  assert_string_equal(event[0].text, "it's \"late\"");
  query = (od_event_query){.is_ascending = true, .most = 2};
  done(od_history_reader_events(reader, &memory, &query, &event, &count, &err));
  assert_true(count == 2 && event[0].id == 1 && event[1].id == 2);
  query = (od_event_query){.after = 25, .is_ascending = true, .most = 3};
  done(od_history_reader_events(reader, &memory, &query, &event, &count, &err));
  assert_true(count == 3 && event[0].id == 26 && event[2].id == 28);
  od_arena_free(&memory);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test_setup_teardown(test_bins, setup, teardown),
                                     cmocka_unit_test_setup_teardown(test_growing, setup, teardown),
                                     cmocka_unit_test_setup_teardown(test_rows, setup, teardown),
                                     cmocka_unit_test_setup_teardown(test_events, setup, teardown)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
