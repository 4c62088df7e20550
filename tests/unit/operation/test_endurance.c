// Many samples and many machines. Oracles: the memory and the processor time that the kernel reports; the number of samples that were sent.
// OD_LONG=1: a million samples, and 200 machines for a minute; else a small part of them. The figures are printed.
#define _GNU_SOURCE  // sched_setaffinity

#include "support/test.h"

#include <math.h>
#include <sched.h>

#include "support/twin.h"

static bool is_long(void) {
  return getenv("OD_LONG") != NULL;
}

// The memory of a process that is in use, MB.
static double memory_of(pid_t child) {
  char path[40];
  long all, used = 0;
  snprintf(path, sizeof path, "/proc/%d/statm", (int)child);
  FILE *f = fopen(path, "r");
  if (!f || fscanf(f, "%ld %ld", &all, &used) != 2) fail();
  fclose(f);
  return (double)used * (double)sysconf(_SC_PAGESIZE) / 1e6;
}

// The processor time of a process, s.
static double processor_of(pid_t child) {
  char path[40], text[1000] = "";
  long user = 0, system = 0;
  snprintf(path, sizeof path, "/proc/%d/stat", (int)child);
  FILE *f = fopen(path, "r");
  if (!f || !fgets(text, sizeof text, f)) fail();
  fclose(f);
  if (sscanf(strrchr(text, ')') + 2, "%*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %ld %ld", &user, &system) != 2)
    fail();
  return (double)(user + system) / (double)sysconf(_SC_CLK_TCK);
}

// Sends the rows of a table again and again, with growing times, from row `from` to row `to` (counted over all repetitions). step: time between
// the rows, s. pace: rows per second; 0: as fast as they are taken.
static void send_rows(const feed *f, const od_table *log, long from, long to, double step, double pace) {
  static const char *const names[] = {"time", "measured.cylinder.length", "measured.P.pressure", "measured.A.pressure",
                                      "input.U_ref"};
  int column[5] = {0};
  for (int k = 0; k < 5; k++)
    for (int c = 0; c < log->columns; c++)
      if (strcmp(log->name[c], names[k]) == 0) column[k] = c;
  static const char head[] = "time,cylinder.length,P.pressure,A.pressure,U_ref\n";
  if (from == 0) assert_int_equal(feed_send(f, head, strlen(head)), 0);
  const double begin = now();
  for (long i = from; i < to; i++) {
    // Forward and backward, so that the values do not jump.
    const long turn = i % (2 * (log->rows - 1)), row = turn < log->rows ? turn : 2 * (log->rows - 1) - turn;
    char line[300];
    int length = snprintf(line, sizeof line, "%.10g", step * (double)i);
    for (int k = 1; k < 5; k++)
      length +=
          snprintf(line + length, sizeof line - (size_t)length, ",%.12g", log->data[row * log->columns + column[k]]);
    length += snprintf(line + length, sizeof line - (size_t)length, "\n");
    const double wait = pace > 0 ? begin + (double)(i - from) / pace - now() : 0;
    if (wait > 0) sleep_for(wait);
    assert_int_equal(feed_send(f, line, (size_t)length), 0);
  }
}

// Waits until the history has the rows, or has reported that it leaves out rows because the disk is too slow for the other work on this computer.
static void wait_for_rows(scratch *s, long rows, double seconds) {
  char sql[160];
  snprintf(sql, sizeof sql, "SELECT sum(rows) >= %ld OR EXISTS (SELECT 1 FROM event WHERE kind = 'dropped') FROM block",
           rows);
  wait_longer(s, sql, seconds);
}

static od_table *read_log(scratch *s) {
  od_table *t = NULL;
  od_error err = {0};
  assert_int_equal(od_table_read_csv(scratch_path(s, "log.csv"), &t, &err), OD_OK);
  return t;
}

// The memory does not grow with the number of samples.
static void test_memory(void **state) {
  scratch *s = *state;
  od_table *log = read_log(s);
  const long first = 100000, more = is_long() ? 1000000 : 60000;
  put_twin(s, "log: {type: stdin}");
  feed twin = start_twin(s);
  send_rows(&twin, log, 0, first, 1e-3, 0);
  wait_for_rows(s, first, 120);
  sleep_for(1);
  const double before = memory_of(twin.child), begin = now(), used = processor_of(twin.child);
  send_rows(&twin, log, first, first + more, 1e-3, 0);
  wait_for_rows(s, first + more, 600);
  const double seconds = now() - begin, work = processor_of(twin.child) - used;
  sleep_for(1);
  const double after = memory_of(twin.child);
  assert_int_equal(feed_end(&twin), 0);
  printf("%ld samples in %.0f s (%.0f us of processor time each): memory %.2f MB before, %.2f MB after\n", more,
         seconds, 1e6 * work / (double)more, before, after);
  assert_true(after - before < 1);
  od_table_free(log);
}

// 200 machines at 20 Hz on one processor: no sample is lost, and the processor time is less than the time of the samples, also if other work
// takes the processor away.
static void test_many_machines(void **state) {
  scratch *s = *state;
  od_table *log = read_log(s);
  const int machines = is_long() ? 200 : 20;
  const long rows = is_long() ? 1200 : 100;
  char *text = NULL;
  size_t size;
  FILE *f = open_memstream(&text, &size);
  fputs("sources: {log: {type: stdin}}\nhistory: {file: twin.db}\noutputs: {metrics: twin.prom}\nmachines:\n", f);
  for (int i = 0; i < machines; i++) fprintf(f, "  m%d: {experiment: slow.experiment.yaml}\n", i);
  fclose(f);
  scratch_put(s, "slow.experiment.yaml", "include: " EXPERIMENT "\ntime: 10 s\nstep: 50 ms\n");
  scratch_put(s, "twin.yaml", text);
  free(text);
  cpu_set_t all, one;
  assert_int_equal(sched_getaffinity(0, sizeof all, &all), 0);
  CPU_ZERO(&one);
  for (size_t i = 0; i < CPU_SETSIZE && CPU_COUNT(&one) == 0; i++)
    if (CPU_ISSET(i, &all)) CPU_SET(i, &one);
  assert_int_equal(sched_setaffinity(0, sizeof one, &one), 0);
  feed twin = start_twin(s);
  assert_int_equal(sched_setaffinity(0, sizeof all, &all), 0);
  wait_longer(s, started(machines), 120);
  send_rows(&twin, log, 0, 20, 0.05, 20);
  wait_for_rows(s, 20 * machines, 60);
  const double before = processor_of(twin.child);
  send_rows(&twin, log, 20, rows, 0.05, 20);
  wait_for_rows(s, rows * machines, 240);
  const double seconds = 0.05 * (double)(rows - 20), work = processor_of(twin.child) - before;
  printf(
      "%d machines at 20 Hz for %.0f s on one processor: %.0f %% of it, %.0f us for a sample with history; memory %.0f MB\n",
      machines, seconds, 100 * work / seconds, 1e6 * work / (double)((rows - 20) * machines), memory_of(twin.child));
  assert_true(work < seconds);
  assert_int_equal(feed_end(&twin), 0);
  sqlite3 *db = look(s, "twin.db");
  assert_true(query(db, "SELECT count(*) FROM (SELECT machine FROM block GROUP BY machine)") == machines);
  assert_true(query(db, "SELECT count(*) FROM event WHERE kind NOT IN ('start', 'end')") == 0);
  assert_true(query(db, "SELECT sum(rows) FROM block") == (double)(rows * machines));
  sqlite3_close(db);
  od_table_free(log);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test_setup_teardown(test_memory, setup, scratch_teardown),
                                     cmocka_unit_test_setup_teardown(test_many_machines, setup, scratch_teardown)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
