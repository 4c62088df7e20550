// Twins in operation. Oracles: 'oleodyn observe --data' of the same samples, whose rows must be the same to the bit; an undisturbed twin for one that
// is killed; the numbers of the messages that were not sent. OD_KILLS=100: number of kills.
#include "support/test.h"

#include <arpa/inet.h>
#include <math.h>
#include <signal.h>
#include <sqlite3.h>
#include <sys/socket.h>
#include <time.h>

#include "formats/read_table.h"
#include "io/table.h"
#include "memory/scoped.h"
#include "support/feed.h"
#include "support/program.h"
#include "support/twin.h"

// --- Standard input -----------------------------------------------------------------------------------------------

static void test_same_bits(void **state) {
  scratch *s = *state;
  put_twin(s, "log: {type: stdin}");
  outcome o = run_twin(s, "", "log.csv");
  ends_with(o, 0);
  assert_string_equal(o.err, "");
  says(o.out, "bench: 2001 samples observed, 0 failed, 0 held, 0 late, 0 repeated, 0 missing, 0 refused");
  forget(o);
  compare(s, "twin.db", "reference.csv");
  char *metrics = scratch_read(scratch_path(s, "twin.prom"));
  says(metrics, "oleodyn_samples_total{machine=\"bench\"} 2001\n");
  says(metrics, "oleodyn_estimate{machine=\"bench\",channel=\"oil.kp\",unit=\"Pa\"} ");
  says(metrics, "oleodyn_latency_seconds_count{machine=\"bench\"} 2001\n");
  free(metrics);
  // The samples again, and no more: nothing changes.
  o = run_twin(s, "", "log.csv");
  ends_with(o, 0);
  says(o.out, "bench: 0 samples observed");
  forget(o);
  compare(s, "twin.db", "reference.csv");
  // From the beginning: observed again, but not stored again.
  o = run_twin(s, "--fresh", "log.csv");
  says(o.out, "bench: 2001 samples observed");
  forget(o);
  compare(s, "twin.db", "reference.csv");
}

// Writes the first rows of the log with its times as dates (CSV), or in ms since 1970 (JSON).
static void write_dates(scratch *s, const od_table *log, const char *name, int rows, bool is_json) {
  FILE *f = fopen(scratch_path(s, name), "w");
  for (int c = 0; c < log->columns && !is_json; c++) {
    const bool has_unit = c > 0 && log->unit[c][0];
    fprintf(f, "%s%s%s%s", log->name[c], has_unit ? " [" : "", has_unit ? log->unit[c] : "", has_unit ? "]" : "");
    fputc(c + 1 < log->columns ? ',' : '\n', f);
  }
  for (int i = 0; i < rows; i++) {
    const double *row = log->data + (long)i * log->columns;
    const int ms = (int)lround(1000 * row[0]);
    if (is_json)
      fprintf(f, "{\"time\": %lld", 1772366400000LL + ms);
    else
      fprintf(f, "2026-03-01T12:00:%02d.%03dZ", ms / 1000, ms % 1000);
    for (int c = 1; c < log->columns; c++) {
      const bool is_sent = strncmp(log->name[c], "measured.", 9) == 0 || strncmp(log->name[c], "input.", 6) == 0;
      if (is_json && is_sent && !isnan(row[c])) fprintf(f, ", \"%s\": %.17g", log->name[c], row[c]);
      if (!is_json) fprintf(f, isnan(row[c]) ? "," : ",%.17g", row[c]);
    }
    fputs(is_json ? "}\n" : "\n", f);
  }
  fclose(f);
}

// Times as dates, and in ms since 1970: rows at the instants of the messages, also after a restart with a longer file. Oracle: the log with times in
// seconds; the estimates differ only by the rounding of the times to 0.24 us.
static void test_dates(void **state) {
  scratch *s = *state;
  od_table *log = NULL;
  od_error err = {0};
  assert_int_equal(od_table_read_csv(scratch_path(s, "log.csv"), &log, &err), OD_OK);
  for (int is_json = 0; is_json < 2; is_json++) {
    put_twin(
        s,
        is_json
            ? "log: {type: stdin, format: json, columns: [time, measured.cylinder.length, measured.P.pressure, measured.A.pressure, input.U_ref]}"
            : "log: {type: stdin}");
    write_dates(s, log, "dates", 1000, is_json);
    outcome o = run_twin(s, "", "dates");
    ends_with(o, 0);
    says(o.out, "bench: 1000 samples observed, 0 failed, 0 held, 0 late, 0 repeated, 0 missing, 0 refused");
    forget(o);
    write_dates(s, log, "dates", (int)log->rows, is_json);
    o = run_twin(s, "", "dates");
    says(o.out, "bench: 1001 samples observed, 0 failed, 0 held, 0 late, 0 repeated, 0 missing, 0 refused");
    forget(o);
    sqlite3 *db = look(s, "twin.db");
    stored_rows rows = read_rows(db);
    const int kp = (int)query(db, "SELECT id FROM channel WHERE name = 'estimate.oil.kp'"),
              length = (int)query(db, "SELECT id FROM channel WHERE name = 'measured.cylinder.length'");
    sqlite3_close(db);
    assert_int_equal(rows.rows, log->rows);
    od_table *reference = NULL;
    assert_int_equal(od_table_read_csv(scratch_path(s, "reference.csv"), &reference, &err), OD_OK);
    const int at = od_table_find(reference, "estimate.oil.kp"), from = od_table_find(log, "measured.cylinder.length");
    for (long i = 0; i < rows.rows; i++) {
      const double *row = rows.data + i * rows.columns;
      near(row[0], 1772366400 + log->data[i * log->columns], 2.4e-7);
      assert_true(same(row[length], log->data[i * log->columns + from]));
      near_relative(row[kp], reference->data[i * reference->columns + at], 1e-3);
    }
    od_table_free(reference);
    free(rows.data);
    assert_int_equal(remove(scratch_path(s, "twin.db")), 0);
  }
  od_table_free(log);
}

// A damaged line, a repeated one, a late one; the program 'oleodyn twin' starts the twin.
static void test_bad_lines(void **state) {
  scratch *s = *state;
  put_twin(s, "log: {type: stdin}");
  char *text = scratch_read(scratch_path(s, "log.csv")), *line[8] = {text};
  for (int i = 1; i < 8; i++) line[i] = strchr(line[i - 1], '\n') + 1;
  FILE *f = fopen(scratch_path(s, "bad.csv"), "w");
  fwrite(text, 1, (size_t)(line[4] - text), f);  // header, three rows
  fputs("this is no row\n", f);
  fwrite(line[3], 1, (size_t)(line[4] - line[3]), f);  // the third row again
  fwrite(line[5], 1, (size_t)(line[6] - line[5]), f);  // the fifth row before the fourth
  fwrite(line[4], 1, (size_t)(line[5] - line[4]), f);
  fclose(f);
  free(text);
  char command[1000];
  snprintf(command, sizeof command,
           "cd %s && OLEODYN_HELPERS=$(dirname '%s') '%s' twin twin.yaml >.out 2>.err <bad.csv", s->folder, OD_TWIN,
           OD_BINARY);
  assert_int_equal(system(command), 0);
  char *out = scratch_read(scratch_path(s, ".out")), *err = scratch_read(scratch_path(s, ".err"));
  says(out, "bench: 4 samples observed, 0 failed, 0 held, 1 late, 1 repeated, 0 missing, 1 refused");
  says(err, "log, message 5: ");
  says(err, "bench: 1 sample arrived too late: left out");
  free(out);
  free(err);
  sqlite3 *db = look(s, "twin.db");
  assert_true(has_event(db, "late", "1 sample") && has_event(db, "repeated", "1 sample") &&
              has_event(db, "refused", "log, message 5"));
  sqlite3_close(db);
}

// Values of inputs and sensors arrive in different messages, as from a bus: the observer starts when all inputs are known. Oracle: 'observe' of the
// same rows with repeated inputs.
static void test_parts(void **state) {
  scratch *s = *state;
  put_twin(s, "log: {type: stdin}");
  FILE *parts = fopen(scratch_path(s, "parts.csv"), "w");
  FILE *whole = fopen(scratch_path(s, "whole.csv"), "w");
  fprintf(parts, "time,cylinder.length,P.pressure,A.pressure,U_ref\n0,1.62,,,\n0.0005,,56e5,,\n");
  fprintf(whole, "time,cylinder.length,P.pressure,A.pressure,U_ref\n");
  for (int i = 1; i < 300; i++) {
    fprintf(parts, "%g,%s,,%s,%s\n", 1e-3 * i, i % 2 ? "1.62" : "", i % 3 ? "" : "2e6", i % 10 == 1 ? "0.5" : "");
    fprintf(whole, "%g,%s,,%s,0.5\n", 1e-3 * i, i % 2 ? "1.62" : "", i % 3 ? "" : "2e6");
  }
  fclose(parts);
  fclose(whole);
  outcome o = run_twin(s, "", "parts.csv");
  ends_with(o, 0);
  says(o.out, "bench: 299 samples observed, 0 failed, 0 held, 0 late, 0 repeated, 0 missing, 2 refused");
  forget(o);
  expect_code(run(s, "observe %s --data whole.csv --csv reference.csv --quiet", EXPERIMENT), 0);
  compare(s, "twin.db", "reference.csv");
}

// What the twin refuses, with the reason and exit code 2.
static void test_refused(void **state) {
  scratch *s = *state;
  put_twin(s, "log: {type: stdin}");
  scratch_put(s, "other.csv", "time,x\n0,1\n1,2\n");
  ends_and_says(run_twin(s, "", "other.csv"), 2, "bench: the columns of its source do not fit the experiment");
  ends_and_says(run_twin(s, "--what", "log.csv"), 2, "unexpected argument '--what'");
  expect_code(run_twin(s, "", "log.csv"), 0);
  // A checkpoint of another experiment.
  char text[1000];
  snprintf(text, sizeof text,
           "sources: {log: {type: stdin}}\nmachines:\n  bench: {experiment: " OD_SOURCE_DIR
           "/cases/fourbar-valve/points-4.experiment.yaml}\nhistory: {file: twin.db}\n");
  scratch_put(s, "twin.yaml", text);
  ends_and_says(run_twin(s, "", "log.csv"), 2, "bench: ");
  expect_code(run_twin(s, "--fresh", "log.csv"), 0);
}

// --- Kills --------------------------------------------------------------------------------------------------------

// The database after a kill is whole.
static stored_times after_kill(scratch *s) {
  sqlite3 *db = look(s, "twin.db");
  sqlite3_stmt *q = NULL;
  assert_int_equal(sqlite3_prepare_v2(db, "PRAGMA integrity_check", -1, &q, NULL), SQLITE_OK);
  assert_int_equal(sqlite3_step(q), SQLITE_ROW);
  assert_string_equal((const char *)sqlite3_column_text(q, 0), "ok");
  sqlite3_finalize(q);
  const bool has_tables = query(db, "SELECT count(*) FROM sqlite_master WHERE name = 'block'") > 0;
  const stored_times t = {has_tables ? query(db, "SELECT max(last) FROM block") : (double)NAN,
                          has_tables ? query(db, "SELECT max(t) FROM checkpoint") : (double)NAN};
  sqlite3_close(db);
  return t;
}

// kill -9 at random times: the database is whole, no more than a second is lost, and in the end all tables are those of an undisturbed twin.
static void test_kills(void **state) {
  scratch *s = *state;
  record_for_kills(s, 1.2);
  put_twin(s, "log: {type: stdin}");
  expect_code(run_twin(s, "", "log.csv"), 0);
  char command[400];
  snprintf(command, sizeof command, "cd %s && mv twin.db undisturbed.db && rm -f twin.db-*", s->folder);
  assert_int_equal(system(command), 0);
  kill_many(s, 1.2, after_kill);
  expect_code(run_twin(s, "", "log.csv"), 0);
  compare(s, "twin.db", "reference.csv");
  sqlite3 *db = look(s, "twin.db");
  char sql[700];
  snprintf(sql, sizeof sql, "ATTACH '%s' AS other", scratch_path(s, "undisturbed.db"));
  assert_int_equal(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
  assert_true(query(db, "SELECT count(*) FROM other.bucket") > 0);
  static const char *const tables[] = {"bucket", "estimate", "channel"};
  for (size_t i = 0; i < sizeof tables / sizeof *tables; i++)
    for (int way = 0; way < 2; way++) {
      snprintf(sql, sizeof sql, "SELECT count(*) FROM (SELECT * FROM %s.%s EXCEPT SELECT * FROM %s.%s)",
               way ? "main" : "other", tables[i], way ? "other" : "main", tables[i]);
      assert_true(query(db, sql) == 0);
    }
  sqlite3_close(db);
}

// Sanitizers make a program several times slower.
#if defined __SANITIZE_ADDRESS__ || defined __SANITIZE_THREAD__
static const double end_time = 5;
#else
static const double end_time = 1;
#endif

// The file system refuses the history: all samples are observed, and the exit code is 1.
static void test_full_disk(void **state) {
  scratch *s = *state;
  put_twin(s, "log: {type: stdin}");
  char command[1500];
  snprintf(command, sizeof command, "cd %s && (ulimit -f 300; '%s' twin.yaml >.out 2>.err <log.csv)", s->folder,
           OD_TWIN);
  const int status = system(command);
  assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 1);
  char *out = scratch_read(scratch_path(s, ".out")), *err = scratch_read(scratch_path(s, ".err"));
  says(out, "bench: 2001 samples observed, 0 failed");
  says(err, "twin.db cannot be written: ");
  free(out);
  free(err);
  // With room again the twin goes on from what was stored, and all is there.
  expect_code(run_twin(s, "", "log.csv"), 0);
  compare(s, "twin.db", "reference.csv");
}

// SIGTERM ends the twin within a second, with all samples that were read.
static void test_signal(void **state) {
  scratch *s = *state;
  static double sent[200000];
  put_twin(s, "log: {type: stdin}");
  char *text = scratch_read(scratch_path(s, "log.csv"));
  feed f = start_twin(s);
  const int lines = send_lines(&f, text, 0, now() + 0.6, sent);
  sleep_for(0.3);
  const double begin = now();
  kill(f.child, SIGTERM);
  int status;
  waitpid(f.child, &status, 0);
  assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 130);
  assert_true(now() - begin < end_time);
  close(f.to), close(f.from);
  sqlite3 *db = look(s, "twin.db");
  assert_true(query(db, "SELECT sum(rows) FROM block") == lines - 1);
  assert_true(query(db, "SELECT t FROM checkpoint") == query(db, "SELECT max(last) FROM block"));
  sqlite3_close(db);
  free(text);
}

// --- UDP ----------------------------------------------------------------------------------------------------------

// A free port: the kernel chooses it.
static int free_port(void) {
  struct sockaddr_in a = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  socklen_t size = sizeof a;
  int fd = socket(AF_INET, SOCK_DGRAM, 0);
  assert_int_equal(bind(fd, (struct sockaddr *)&a, size), 0);
  assert_int_equal(getsockname(fd, (struct sockaddr *)&a, &size), 0);
  close(fd);
  return ntohs(a.sin_port);
}

static bool skips(int i) {
  return i == 17 || (i >= 100 && i < 105) || i == 300;
}

// Sends row i of the log as a datagram, and writes it to the file of samples that arrive.
typedef struct sender {
  int fd, column[5];
  struct sockaddr_in to;
  od_table *log;
  FILE *arrived;
} sender;

static sender start_sender(scratch *s, int port) {
  static const char *const names[] = {"time", "measured.cylinder.length", "measured.P.pressure", "measured.A.pressure",
                                      "input.U_ref"};
  sender n = {
      .fd = socket(AF_INET, SOCK_DGRAM, 0),
      .to = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)},
      .arrived = fopen(scratch_path(s, "arrived.csv"), "w")};
  od_error err = {0};
  assert_int_equal(od_table_read_csv(scratch_path(s, "log.csv"), &n.log, &err), OD_OK);
  fprintf(n.arrived, "time,cylinder.length,P.pressure,A.pressure,U_ref\n");
  for (int k = 0; k < 5; k++)
    for (int c = 0; c < n.log->columns; c++)
      if (strcmp(n.log->name[c], names[k]) == 0) n.column[k] = c;
  return n;
}

static void end_sender(sender *n) {
  close(n->fd);
  od_table_free(n->log);
}

static void send_text(const sender *n, const char *text) {
  sendto(n->fd, text, strlen(text), 0, (const struct sockaddr *)&n->to, sizeof n->to);
}

static void send_row(const sender *n, int i, int times, bool arrives) {
  static const char *const names[] = {"time", "cylinder.length", "P.pressure", "A.pressure", "U_ref"};
  char line[1000], value[40];
  int length = snprintf(line, sizeof line, "{\"seq\": %d", 1000 + i);
  for (int k = 0; k < 5; k++) {
    const double v = n->log->data[i * n->log->columns + n->column[k]];
    snprintf(value, sizeof value, "%.17g", v);
    length +=
        snprintf(line + length, sizeof line - (size_t)length, ", \"%s\": %s", names[k], isnan(v) ? "null" : value);
    if (arrives) fprintf(n->arrived, "%s%c", isnan(v) ? "" : value, k < 4 ? ',' : '\n');
  }
  snprintf(line + length, sizeof line - (size_t)length, "}");
  for (int k = 0; k < times; k++) send_text(n, line);
  sleep_for(5e-4);
}

static int put_udp_twin(scratch *s) {
  char sources[500];
  const int port = free_port();
  snprintf(
      sources, sizeof sources,
      "net: {type: udp, port: %d, format: json, sequence: seq, columns: [seq, time, cylinder.length, P.pressure, A.pressure, U_ref]}",
      port);
  put_twin(s, sources);
  return port;
}

// Datagrams with sequence numbers: some are not sent, some are sent twice.
static void test_udp(void **state) {
  scratch *s = *state;
  char line[300], out[4000] = {0};
  const int rows = 600;
  sender n = start_sender(s, put_udp_twin(s));
  feed twin = start_twin(s);
  wait_until(s, started(1));
  int repeated = 0;
  for (int i = 0; i < rows; i++) {
    if (skips(i)) continue;
    send_row(&n, i, 1 + (i % 50 == 3), true);
    repeated += i % 50 == 3;
  }
  fclose(n.arrived);
  send_text(&n, "rubbish");
  wait_until(
      s, "SELECT count(*) = 1 FROM event WHERE kind = 'refused' AND text LIKE '%the message is not a JSON object%'");
  wait_until(s, "SELECT sum(rows) = 593 FROM block");
  kill(twin.child, SIGTERM);
  waitpid(twin.child, NULL, 0);
  close(twin.to);
  assert_true(read(twin.from, out, sizeof out - 1) > 0);
  close(twin.from);
  snprintf(line, sizeof line, "bench: %d samples observed, 0 failed, 0 held, 0 late, %d repeated, 7 missing, 1 refused",
           rows - 7, repeated);
  says(out, line);
  expect_code(run(s, "observe %s --data arrived.csv --csv reference.csv --quiet", EXPERIMENT), 0);
  compare(s, "twin.db", "reference.csv");
  sqlite3 *db = look(s, "twin.db");
  assert_true(
      has_event(db, "missing", "7 samples are missing; sequence numbers, the latest first: 1300, 1100 to 1104, 1017"));
  sqlite3_close(db);
  end_sender(&n);
}

// kill -9 of a twin whose source does not send again: only samples after the last transaction are lost, and the missing numbers are exact.
static void test_udp_kill(void **state) {
  scratch *s = *state;
  twin_checkpoint = "10 s";
  sender n = start_sender(s, put_udp_twin(s));
  twin_checkpoint = "0.5 s";
  feed twin = start_twin(s);
  wait_until(s, started(1));
  for (int i = 0; i < 1000; i++) send_row(&n, i, 1, true);
  wait_until(s, "SELECT sum(rows) = 1000 FROM block");
  // The checkpoint is older than the last rows: some more rows, and the kill as soon as they are written.
  for (int i = 1000; i < 1100; i++) send_row(&n, i, 1, true);
  wait_until(s, "SELECT sum(rows) = 1100 FROM block");
  kill(twin.child, SIGKILL);
  waitpid(twin.child, NULL, 0);
  close(twin.to), close(twin.from);
  twin = start_twin(s);
  wait_until(s, started(2));
  for (int i = 1090; i < 1110; i++) send_row(&n, i, 1, i >= 1100);  // the first ones again
  for (int i = 1115; i < 1500; i++) send_row(&n, i, 1, true);
  fclose(n.arrived);
  wait_until(s, "SELECT sum(rows) = 1495 FROM block");
  kill(twin.child, SIGTERM);
  waitpid(twin.child, NULL, 0);
  close(twin.to), close(twin.from);
  expect_code(run(s, "observe %s --data arrived.csv --csv reference.csv --quiet", EXPERIMENT), 0);
  compare(s, "twin.db", "reference.csv");
  sqlite3 *db = look(s, "twin.db");
  assert_true(has_event(db, "missing", "5 samples are missing; sequence numbers, the latest first: 2110 to 2114"));
  sqlite3_close(db);
  end_sender(&n);
}

// Many machines with one source, and samples that are held back.
static void test_machines(void **state) {
  scratch *s = *state;
  char text[6000];
  int used = snprintf(text, sizeof text, "sources: {log: {type: stdin}}\nhistory: {file: twin.db}\nmachines:\n");
  for (int i = 0; i < 20; i++)
    used +=
        snprintf(text + used, sizeof text - (size_t)used, "  m%d: {experiment: " EXPERIMENT ", wait: %d ms}\n", i, i);
  scratch_put(s, "twin.yaml", text);
  expect_code(run_twin(s, "", "log.csv"), 0);
  sqlite3 *db = look(s, "twin.db");
  assert_true(query(db, "SELECT count(*) FROM (SELECT machine FROM block GROUP BY machine HAVING sum(rows) = 2001)") ==
              20);
  assert_true(query(db, "SELECT count(DISTINCT state) FROM checkpoint") == 1);
  sqlite3_close(db);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(test_same_bits, setup, scratch_teardown),
      cmocka_unit_test_setup_teardown(test_dates, setup, scratch_teardown),
      cmocka_unit_test_setup_teardown(test_bad_lines, setup, scratch_teardown),
      cmocka_unit_test_setup_teardown(test_full_disk, setup, scratch_teardown),
      cmocka_unit_test_setup_teardown(test_parts, setup, scratch_teardown),
      cmocka_unit_test_setup_teardown(test_refused, setup, scratch_teardown),
      cmocka_unit_test_setup_teardown(test_kills, setup, scratch_teardown),
      cmocka_unit_test_setup_teardown(test_signal, setup, scratch_teardown),
      cmocka_unit_test_setup_teardown(test_udp, setup, scratch_teardown),
      cmocka_unit_test_setup_teardown(test_udp_kill, setup, scratch_teardown),
      cmocka_unit_test_setup_teardown(test_machines, setup, scratch_teardown),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
