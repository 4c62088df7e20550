// Twins with a history in PostgreSQL. Oracles: 'oleodyn observe --data' of the same samples, whose rows must be the same to the bit; the SQLite history of an
// undisturbed twin, whose pyramid and estimates must be the same, for twins that are killed and for a server that restarts. OD_KILLS=100: number of kills.
#define _DEFAULT_SOURCE  // setgroups

#include "support/test.h"

#ifdef OD_HAVE_LIBPQ
#include "support/postgresql.h"
#include "support/twin.h"

static void put_history(scratch *s, const char *history) {
  char text[2000];
  snprintf(text, sizeof text,
           "sources: {log: {type: stdin}}\nmachines: {bench: {experiment: " EXPERIMENT "}}\nhistory: {%s, write: 0.1 s, checkpoint: 0.5 s}\n", history);
  scratch_put(s, "twin.yaml", text);
}

static void put_postgresql(scratch *s) {
  char history[500];
  snprintf(history, sizeof history, "url: %s, password_file: %s", pg.url, pg.password);
  put_history(s, history);
}

// The same rows as 'observe', the same pyramid and estimates as an undisturbed twin with SQLite; no password in any text.
static void check_all(scratch *s) {
  static const char *const tables[] = {"bucket", "estimate", "channel"};
  char file[512], sql[700];
  snprintf(file, sizeof file, "%s", scratch_path(s, "copy.db"));
  pg_copy_all(file);
  compare(s, "copy.db", "reference.csv");
  sqlite3 *db = look(s, "copy.db");
  snprintf(sql, sizeof sql, "ATTACH '%s' AS other", scratch_path(s, "undisturbed.db"));
  assert_int_equal(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
  assert_true(query(db, "SELECT count(*) FROM other.bucket") > 0);
  for (size_t i = 0; i < sizeof tables / sizeof *tables; i++)
    for (int way = 0; way < 2; way++) {
      snprintf(sql, sizeof sql, "SELECT count(*) FROM (SELECT * FROM %s.%s EXCEPT SELECT * FROM %s.%s)",
               way ? "main" : "other", tables[i], way ? "other" : "main", tables[i]);
      if (query(db, sql) != 0) fail_msg("the tables '%s' are different", tables[i]);
    }
  sqlite3_close(db);
}

static int begin_test(void **state) {
  if (setup(state) != 0) return -1;
  scratch *s = *state;
  put_history(s, "file: undisturbed.db");
  expect_code(run_twin(s, "", "log.csv"), 0);
  pg_empty();
  put_postgresql(s);
  return 0;
}

static void test_same_bits(void **state) {
  scratch *s = *state;
  outcome o = run_twin(s, "", "log.csv");
  ends_with(o, 0);
  assert_string_equal(o.err, "");
  says(o.out, "bench: 2001 samples observed, 0 failed");
  forget(o);
  check_all(s);
  // The samples again, and no more: nothing changes.
  o = run_twin(s, "", "log.csv");
  ends_with(o, 0);
  says(o.out, "bench: 0 samples observed");
  forget(o);
  check_all(s);
}

// kill -9 at random times: no more than a second is lost, and in the end all is that of an undisturbed twin.
static void test_kills(void **state) {
  scratch *s = *state;
  const char *wish = getenv("OD_KILLS");
  const int kills = wish ? atoi(wish) : 5;
  static double sent[200000];
  char *text = scratch_read(scratch_path(s, "log.csv"));
  int reached = 0;
  srand(7);
  for (int k = 0; k < kills; k++) {
    feed f = start_twin(s);
    const int lines = send_lines(&f, text, reached, now() + 0.1 + 1.2 * rand() / RAND_MAX, sent);
    const double killed = now();
    kill(f.child, SIGKILL);
    close(f.to), close(f.from);
    waitpid(f.child, NULL, 0);
    const double last = pg_query("SELECT max(last) FROM block"), checkpoint = pg_query("SELECT max(t) FROM checkpoint");
    const int stored = isnan(last) ? 0 : 1 + (int)lround(1000 * last);
    if (stored + 1 < lines && killed - sent[stored + 1] > 1)
      fail_msg("kill %d: the sample at %d ms was sent %.3f s before the kill and is lost", k, stored,
               killed - sent[stored + 1]);
    if (stored > 0) assert_true(isnan(checkpoint) || checkpoint <= last);
    reached = stored < 1500 ? stored : 1500;
  }
  free(text);
  expect_code(run_twin(s, "", "log.csv"), 0);
  check_all(s);
}

// The server ends and starts again while samples arrive: nothing is lost, and the outage is an event.
static void test_server_restart(void **state) {
  scratch *s = *state;
  static const int ways[] = {SIGINT, SIGKILL};
  static double sent[200000];
  char *text = scratch_read(scratch_path(s, "log.csv"));
  for (int n = 0; n < 2; n++) {
    pg_empty();
    feed f = start_twin(s);
    int lines = send_lines(&f, text, 0, now() + 0.7, sent);
    const char *rest = text;
    for (int i = 0; i < lines; i++) rest = strchr(rest, '\n') + 1;
    pg_stop(ways[n]);
    lines += send_lines(&f, rest, 0, now() + 0.6, sent);
    pg_start();
    for (rest = text; lines > 0; lines--) rest = strchr(rest, '\n') + 1;
    send_lines(&f, rest, 0, now() + 30, sent);
    sleep_for(1.5);
    assert_int_equal(feed_end(&f), 0);
    check_all(s);
    assert_true(pg_query("SELECT count(*) FROM event WHERE kind = 'history' AND text LIKE 'the history is written again after %'") == 1);
    char *errors = scratch_read(scratch_path(s, "errors"));
    says(errors, "cannot be written: ");
    says(errors, "; the twin tries again");
    assert_null(strstr(errors, PG_PASSWORD));
    free(errors);
  }
  free(text);
}

static int begin(void **state) {
  (void)state;
  pg_new();
  return 0;
}

static int finish(void **state) {
  (void)state;
  pg_remove();
  return 0;
}

int main(void) {
  signal(SIGPIPE, SIG_IGN);
  if (!pg_is_installed()) {
    printf("skipped: no package: postgresql\n");
    return 77;
  }
  const struct CMUnitTest tests[] = {cmocka_unit_test_setup_teardown(test_same_bits, begin_test, scratch_teardown),
                                     cmocka_unit_test_setup_teardown(test_kills, begin_test, scratch_teardown),
                                     cmocka_unit_test_setup_teardown(test_server_restart, begin_test, scratch_teardown)};
  return cmocka_run_group_tests(tests, begin, finish);
}

#else
#include <stdio.h>

int main(void) {
  printf("skipped: no package: libpq-dev\n");
  return 77;
}
#endif
