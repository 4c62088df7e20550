// The parts of the door that decide who may do what: secrets, sessions, headers, limits, queries, bodies, the table of routes. Oracles: RFC 6454 and
// RFC 9110 for the forms of origins and hosts; the arithmetic of a token bucket; lists of wrong requests with their reasons.
#include "support/test.h"

#include <math.h>
#include <netinet/in.h>
#include <arpa/inet.h>
#include <sys/stat.h>

#include "http/address_rates.h"
#include "http/board.h"
#include "http/door.h"
#include "support/scratch.h"

// --- Secrets ------------------------------------------------------------------------------------------------------

static void refuses_token(scratch *s, const char *content, mode_t mode, const char *reason) {
  od_secret secret;
  od_error err = {0};
  const char *path = scratch_put(s, "token", content);
  chmod(path, mode);
  assert_int_equal(od_token_read(path, &secret, &err), OD_BAD_INPUT);
  if (!strstr(err.text, reason)) fail_msg("'%s' is not in: %s", reason, err.text);
  assert_null(strstr(err.text, "hunter2"));  // no secret in messages
  unlink(path);
}

static void test_token_files(void **state) {
  scratch *s = *state;
  od_secret secret, other;
  od_error err = {0};
  const char *path = scratch_put(s, "token", "a-token-of-24-characters\nanything\n");
  chmod(path, 0600);
  assert_int_equal(od_token_read(path, &secret, &err), OD_OK);
  assert_string_equal(secret.text, "a-token-of-24-characters");
  assert_true(od_secret_set(&other, "a-token-of-24-characters") && od_secret_equal(&secret, &other));
  assert_true(od_secret_set(&other, "a-token-of-24-character") && !od_secret_equal(&secret, &other));
  assert_true(od_secret_set(&other, "") && od_secret_set(&secret, "") && !od_secret_equal(&secret, &other));
  char large[400];
  memset(large, 'x', sizeof large - 1);
  large[sizeof large - 1] = '\0';
  assert_false(od_secret_set(&other, large));
  unlink(path);
  refuses_token(s, "hunter2-hunter2-hunter2-", 0640, "permissions 640");
  refuses_token(s, "hunter2-hunter2-hunter2-", 0604, "expected 600 or 400");
  refuses_token(s, "hunter2", 0600, "has 7 characters; expected 20 to 200");
  refuses_token(s, large, 0600, "has 399 characters");
  refuses_token(s, "hunter2 hunter2 hunter2 hunter2", 0600, "visible ASCII characters without spaces");
  assert_int_equal(od_token_read(scratch_path(s, "absent"), &secret, &err), OD_BAD_INPUT);
  assert_int_equal(od_token_read(s->folder, &secret, &err), OD_BAD_INPUT);
}

static void test_random(void **state) {
  (void)state;
  char a[OD_RANDOM_SIZE], b[OD_RANDOM_SIZE];
  assert_int_equal(od_random_text(a, NULL), OD_OK);
  assert_int_equal(od_random_text(b, NULL), OD_OK);
  assert_int_equal(strlen(a), OD_RANDOM_SIZE - 1);
  assert_string_not_equal(a, b);
}

static void test_sessions(void **state) {
  scratch *s = *state;
  char path[2][512];
  for (int i = 0; i < 2; i++) {
    snprintf(path[i], sizeof path[i], "%s",
             scratch_put(s, i ? "b" : "a", i ? "token-b-token-b-token-b" : "token-a-token-a-token-a"));
    chmod(path[i], 0400);
  }
  od_page_token token[] = {{"wall", path[0], OD_ROLE_READ}, {"operator", path[1], OD_ROLE_ACT}};
  od_twin_page page = {.address = "127.0.0.1",
                       .port = 8700,
                       .is_loopback = true,
                       .local_role = OD_ROLE_NONE,
                       .token = token,
                       .tokens = 2};
  static od_sessions sessions;
  od_arena memory = {0};
  od_error err = {0};
  assert_int_equal(od_sessions_init(&sessions, &page, &memory, &err), OD_OK);
  assert_int_equal(od_sessions_find_token(&sessions, "token-b-token-b-token-b"), 1);
  assert_int_equal(od_sessions_find_token(&sessions, "token-b-token-b-token-"), -1);
  assert_int_equal(od_sessions_find_token(&sessions, ""), -1);
  od_session *one = od_sessions_begin(&sessions, 1, 100);
  assert_true(one->role == OD_ROLE_ACT && strcmp(one->name, "operator") == 0);
  char cookie[OD_RANDOM_SIZE];
  strcpy(cookie, one->cookie.text);
  assert_ptr_equal(od_sessions_find(&sessions, cookie, 200), one);
  assert_null(od_sessions_find(&sessions, "", 200));
  assert_null(od_sessions_find(&sessions, cookie, 200 + 12 * 3600 + 1));  // without use for 12 hours
  assert_null(od_sessions_find(&sessions, cookie, 200));                  // and then gone
  // The session that was used least recently makes room.
  one = od_sessions_begin(&sessions, 0, 300);
  strcpy(cookie, one->cookie.text);
  for (int i = 0; i < OD_MOST_SESSIONS; i++) od_sessions_begin(&sessions, 0, 301 + i);
  assert_null(od_sessions_find(&sessions, cookie, 700));
  // The reader of a request.
  od_headers h = {.authorization = "Bearer token-a-token-a-token-a"};
  od_reader r = od_guard_reader(&sessions, &h, NULL, 700);
  assert_true(r.role == OD_ROLE_READ && r.is_bearer && !r.is_refused);
  h.authorization = "Bearer token-a";
  assert_true(od_guard_reader(&sessions, &h, NULL, 700).is_refused);
  h.authorization = "Basic dG9rZW4=";
  assert_true(od_guard_reader(&sessions, &h, NULL, 700).is_refused);
  one = od_sessions_begin(&sessions, 1, 800);
  char header[400];
  snprintf(header, sizeof header, "a=b; oleodyn_8700=%s; c=d", one->cookie.text);
  h = (od_headers){.cookie = header};
  r = od_guard_reader(&sessions, &h, NULL, 800);
  assert_true(r.role == OD_ROLE_ACT && r.session == one && !r.is_bearer);
  // The role decides; a request that changes something needs the text of the session.
  assert_int_equal(od_guard_role(&r, &h, OD_ROLE_ACT, true).status, 403);
  h.csrf = sessions.local_csrf;
  assert_int_equal(od_guard_role(&r, &h, OD_ROLE_ACT, true).status, 403);
  h.csrf = one->csrf;
  assert_int_equal(od_guard_role(&r, &h, OD_ROLE_ACT, true).status, 0);
  r.role = OD_ROLE_READ;
  assert_int_equal(od_guard_role(&r, &h, OD_ROLE_ACT, true).status, 403);
  assert_int_equal(od_guard_role(&(od_reader){0}, &h, OD_ROLE_READ, false).status, 401);
  assert_int_equal(od_guard_role(&(od_reader){0}, &h, OD_ROLE_NONE, false).status, 0);
  assert_int_equal(od_guard_role(&(od_reader){.is_refused = true}, &h, OD_ROLE_NONE, false).status, 401);
  assert_int_equal(
      od_guard_role(&(od_reader){.role = OD_ROLE_ACT}, &(od_headers){.csrf = ""}, OD_ROLE_ACT, true).status, 403);
  h = (od_headers){0};
  assert_int_equal(od_guard_reader(&sessions, &h, NULL, 800).role, OD_ROLE_NONE);
  page.client_role = OD_ROLE_READ;
  assert_int_equal(od_guard_reader(&sessions, &h, "phone", 800).role, OD_ROLE_READ);
  od_sessions_end(&sessions);
  assert_int_equal(sessions.token[0].text[0], 0);
  // Equal tokens are refused.
  token[1].file = path[0];
  assert_int_equal(od_sessions_init(&sessions, &page, &memory, &err), OD_BAD_INPUT);
  od_arena_free(&memory);
}

// --- Headers ------------------------------------------------------------------------------------------------------

static void test_host_and_origin(void **state) {
  (void)state;
  const char *names[] = {"twin.example", NULL};
  const od_twin_page local = {.address = "127.0.0.1", .port = 8700, .is_loopback = true},
                     wide = {.address = "0.0.0.0", .port = 443, .certificate_file = "c", .host = names};
  static const char *const good[] = {"localhost",      "localhost:8700", "LOCALHOST:9",
                                     "127.0.0.1:8700", "[::1]:8700",     "[::1]"};
  static const char *const bad[] = {"evil.example",
                                    "localhost.evil.example",
                                    "localhost:",
                                    "localhost:x",
                                    "localhost:123456",
                                    "",
                                    ":8700",
                                    "127.0.0.1.evil.example",
                                    "[::1",
                                    "[]",
                                    "::1",
                                    "localhost:1:2",
                                    "192.168.0.7",
                                    "localhost, evil.example"};
  for (size_t i = 0; i < sizeof good / sizeof *good; i++) assert_true(od_guard_host(&local, good[i]));
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
    if (od_guard_host(&local, bad[i])) fail_msg("the host '%s' passed", bad[i]);
  assert_false(od_guard_host(&local, NULL));
  assert_true(od_guard_host(&wide, "twin.example") && od_guard_host(&wide, "Twin.Example:443") &&
              od_guard_host(&wide, "192.168.0.7") && od_guard_host(&wide, "[fe80::1]:443"));
  assert_false(od_guard_host(&wide, "other.example") || od_guard_host(&wide, "1.2.3.4.example"));
  assert_true(od_guard_origin(&local, "http://localhost:8700", "localhost:8700"));
  assert_true(od_guard_origin(&wide, "https://twin.example", "twin.example"));
  static const char *const foreign[] = {"https://localhost:8700",
                                        "http://localhost:8701",
                                        "http://localhost",
                                        "null",
                                        "",
                                        "http://evil.example",
                                        "http://localhost:8700.evil.example",
                                        "http://localhost:8700/"};
  for (size_t i = 0; i < sizeof foreign / sizeof *foreign; i++)
    if (od_guard_origin(&local, foreign[i], "localhost:8700")) fail_msg("the origin '%s' passed", foreign[i]);
  const od_headers cross = {.host = "localhost", .fetch_site = "cross-site"},
                   same = {.host = "localhost", .fetch_site = "same-origin"},
                   link = {.host = "localhost", .fetch_site = "same-site"};
  assert_int_equal(od_guard_request(&local, &cross, true).status, 403);
  assert_int_equal(od_guard_request(&local, &link, true).status, 403);
  assert_int_equal(od_guard_request(&local, &cross, false).status, 0);
  assert_int_equal(od_guard_request(&local, &same, true).status, 0);
  od_headers doubled = {0};
  od_headers_take(&doubled, "host", "localhost");
  od_headers_take(&doubled, "HOST", "evil.example");
  assert_int_equal(od_guard_request(&local, &doubled, false).status, 400);
}

static void test_cookies(void **state) {
  (void)state;
  char value[OD_RANDOM_SIZE];
  assert_true(od_guard_cookie("oleodyn_1=abc", "oleodyn_1", value));
  assert_string_equal(value, "abc");
  assert_true(od_guard_cookie(" x=1 ;oleodyn_1=", "oleodyn_1", value));
  assert_string_equal(value, "");
  assert_false(od_guard_cookie("oleodyn_12=abc", "oleodyn_1", value));
  assert_false(od_guard_cookie("xoleodyn_1=abc; oleodyn_1", "oleodyn_1", value));
  char large[200] = "oleodyn_1=";
  memset(large + 10, 'a', OD_RANDOM_SIZE);
  assert_false(od_guard_cookie(large, "oleodyn_1", value));
  assert_string_equal(od_guard_cookie_name(&(od_twin_page){.port = 5, .certificate_file = "x"}).text,
                      "__Host-oleodyn_5");
}

// --- Limits -------------------------------------------------------------------------------------------------------

static od_address v4(const char *text) {
  struct sockaddr_in a = {.sin_family = AF_INET};
  inet_pton(AF_INET, text, &a.sin_addr);
  return od_address_of((struct sockaddr *)&a);
}

static od_address v6(const char *text) {
  struct sockaddr_in6 a = {.sin6_family = AF_INET6};
  inet_pton(AF_INET6, text, &a.sin6_addr);
  return od_address_of((struct sockaddr *)&a);
}

static void test_rates(void **state) {
  (void)state;
  static od_rates r;
  r = (od_rates){.requests = 10};
  const od_address a = v4("10.0.0.1"), b = v4("10.0.0.2"), c = v6("2001:db8::1"), d = v6("2001:db8::ffff"),
                   e = v6("2001:db8:1::1");
  int passed = 0;
  for (int i = 0; i < 100; i++) passed += od_rates_request(&r, &a, 1);
  assert_int_equal(passed, 10 * OD_BURST_S);
  for (int i = 0; i < 100; i++) passed += od_rates_request(&r, &a, 2);  // 1 s later: ten more
  assert_int_equal(passed, 10 * OD_BURST_S + 10);
  assert_true(od_rates_request(&r, &b, 2));
  for (int i = 0; i < 100; i++) od_rates_request(&r, &c, 3);
  assert_false(od_rates_request(&r, &d, 3));  // the same network
  assert_true(od_rates_request(&r, &e, 3));
  for (int i = 0; i < OD_LOGINS; i++) {
    assert_true(od_rates_may_login(&r, &a, 10));
    od_rates_failed_login(&r, &a, 10);
  }
  assert_false(od_rates_may_login(&r, &a, 10 + 0.9 * OD_LOGIN_INTERVAL));
  assert_true(od_rates_may_login(&r, &a, 10 + 1.1 * OD_LOGIN_INTERVAL));
}

// --- Queries and bodies -------------------------------------------------------------------------------------------

static void test_queries(void **state) {
  (void)state;
  static const od_query_key keys[] = {{"from", OD_QUERY_NUMBER, "", 0, 0},   {"points", OD_QUERY_WHOLE, "", 1, 2000},
                                      {"channel", OD_QUERY_TEXTS, "", 0, 0}, {"channels", OD_QUERY_LIST, "", 0, 0},
                                      {"open", OD_QUERY_FLAG, "", 0, 0},     {"machine", OD_QUERY_TEXT, "", 0, 0}};
  od_arena memory = {0};
  od_error err = {0};
  od_query q;
  od_query_begin(&q, keys, 6);
  assert_int_equal(od_query_take(&q, "from", "-1.5e3", 6, &memory, &err), OD_OK);
  assert_int_equal(od_query_take(&q, "points", "2000", 4, &memory, &err), OD_OK);
  assert_int_equal(od_query_take(&q, "channel", "a,b", 3, &memory, &err), OD_OK);
  assert_int_equal(od_query_take(&q, "channel", "c", 1, &memory, &err), OD_OK);
  assert_int_equal(od_query_take(&q, "channels", "d,e,", 4, &memory, &err), OD_OK);
  assert_int_equal(od_query_take(&q, "open", "true", 4, &memory, &err), OD_OK);
  assert_true(od_query_number(&q, "from", 7) == -1500 && od_query_number(&q, "points", 7) == 2000 &&
              od_query_number(&q, "open", 0) == 1);
  const char *const *texts;
  assert_int_equal(od_query_texts(&q, "channel", &texts), 2);
  assert_string_equal(texts[0], "a,b");
  assert_int_equal(od_query_texts(&q, "channels", &texts), 3);
  assert_string_equal(texts[2], "");
  assert_null(od_query_text(&q, "machine"));
  static const struct {
    const char *key, *value, *reason;
  } wrong[] = {{"point", "1", "did you mean 'points'"}, {"points", "0", "expected 1 to 2000"},
               {"points", "1.5", "whole number"},       {"from", "0x10", "expected a number"},
               {"from", "", "expected a number"},       {"from", "nan", "expected a number"},
               {"from", "1e999", "expected a number"},  {"from", "1 ", "expected a number"},
               {"from", "--1", "expected a number"},    {"open", "yes", "true or false"},
               {"q\n<script>", "", "q?<script>"}};
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
    od_query_begin(&q, keys, 6);
    assert_int_equal(od_query_take(&q, wrong[i].key, wrong[i].value, strlen(wrong[i].value), &memory, &err),
                     OD_BAD_INPUT);
    if (!strstr(err.text, wrong[i].reason)) fail_msg("'%s' is not in: %s", wrong[i].reason, err.text);
  }
  od_query_begin(&q, keys, 6);
  assert_int_equal(od_query_take(&q, "machine", "a\0b", 3, &memory, &err), OD_BAD_INPUT);
  assert_int_equal(od_query_take(&q, "from", "1", 1, &memory, &err), OD_OK);
  assert_int_equal(od_query_take(&q, "from", "1", 1, &memory, &err), OD_BAD_INPUT);
  od_query_begin(&q, keys, 6);
  od_status status = OD_OK;
  for (int i = 0; i <= OD_MOST_QUERY_TEXTS; i++) status = od_query_take(&q, "channel", "x", 1, &memory, &err);
  assert_int_equal(status, OD_BAD_INPUT);
  const char *token;
  assert_int_equal(od_body_text("{\"token\": \"abc\"}", 16, "token", &memory, &token, &err), OD_OK);
  assert_string_equal(token, "abc");
  static const char *const bodies[] = {"",
                                       "[]",
                                       "{}",
                                       "{\"token\":1}",
                                       "{\"token\":\"a\",\"b\":1}",
                                       "{\"token\":\"a\"} x",
                                       "{\"token\":\"a\",\"token\":\"b\"}",
                                       "token=a"};
  for (size_t i = 0; i < sizeof bodies / sizeof *bodies; i++)
    assert_int_equal(od_body_text(bodies[i], strlen(bodies[i]), "token", &memory, &token, &err), OD_BAD_INPUT);
  assert_true(od_body_empty("", 0, &err) == OD_OK && od_body_empty("{}", 2, &err) == OD_OK &&
              od_body_empty("[]", 2, &err) == OD_BAD_INPUT);
  assert_true(od_read_id("17", 2) == 17 && od_read_id("9007199254740992", 16) == 9007199254740992 &&
              od_read_id("9007199254740993", 16) == -1 && od_read_id("", 0) == -1 && od_read_id("-1", 2) == -1 &&
              od_read_id("1x", 2) == -1);
  od_arena_free(&memory);
}

// --- Routes and board ---------------------------------------------------------------------------------------------

static void test_routes(void **state) {
  (void)state;
  od_twin_machine machines[] = {{.name = "crane"}, {.name = "cran"}};
  const od_twin twin = {.machine = machines, .machines = 2};
  od_door door = {.twin = &twin};
  static od_request r;
  int status;
  r = (od_request){.machine = -1};
  assert_ptr_equal(od_route_find(&door, "GET", "/api/v1/machines/crane", &r, &status)->answer, od_route_machine);
  assert_int_equal(r.machine, 0);
  assert_ptr_equal(od_route_find(&door, "HEAD", "/api/v1/machines/cran/history", &r, &status)->answer,
                   od_route_history);
  assert_int_equal(r.machine, 1);
  assert_ptr_equal(od_route_find(&door, "POST", "/api/v1/events/17/acknowledge", &r, &status)->answer,
                   od_route_acknowledge);
  assert_int_equal(r.id, 17);
  static const char *const absent[] = {"",
                                       "/..",
                                       "/../etc/passwd",
                                       "/twin.js/",
                                       "/api/v1/machines/",
                                       "/api/v1/machines/crane/",
                                       "/api/v1/machines/crane/../crane",
                                       "/api/v1/events/x/acknowledge",
                                       "/api/v1/events//acknowledge",
                                       "/api/v1/machines/{machine}",
                                       "//",
                                       "/api/v1/machines/crane/history/x"};
  for (size_t i = 0; i < sizeof absent / sizeof *absent; i++) {
    assert_null(od_route_find(&door, "GET", absent[i], &r, &status));
    assert_int_equal(status, 404);
  }
  assert_null(od_route_find(&door, "POST", "/api/v1/machines", &r, &status));
  assert_int_equal(status, 405);
  // A route that changes something is no GET, and needs a role unless it is the login.
  for (const od_route *route = od_routes; route->path; route++) {
    assert_true(route->answer && route->summary && route->meaning && route->queries <= OD_MOST_QUERY_KEYS);
    if (strcmp(route->method, "GET") != 0) assert_true(route->is_login || route->role >= OD_ROLE_READ);
  }
}

static void test_board(void **state) {
  (void)state;
  od_twin_machine machines[] = {{.name = "crane"}};
  const od_twin twin = {.machine = machines, .machines = 1};
  od_board *b = od_board_new(&twin);
  od_shown_event e = {.id = -1, .machine = 0, .t = 1, .clock = 2, .acknowledged = NAN, .kind = "alarm", .text = "x"},
                 found;
  assert_int_equal(od_board_add_event(b, &e), 1);
  e.id = 40;
  assert_int_equal(od_board_add_event(b, &e), 40);
  e.id = -1;
  strcpy(e.kind, "missing");
  assert_int_equal(od_board_add_event(b, &e), 41);
  long alarms, next;
  od_board_status(b, 0, &alarms);
  assert_int_equal(alarms, 2);
  assert_true(od_board_find_event(b, 40, &found) && !od_board_find_event(b, 2, &found));
  assert_true(od_board_acknowledge(b, &found, 5, "operator") && od_board_acknowledge(b, &found, 6, "other"));
  od_board_status(b, 0, &alarms);
  assert_int_equal(alarms, 1);
  assert_true(od_board_find_event(b, 40, &found) && found.acknowledged == 5);
  od_act act[OD_MOST_ACTS];
  assert_int_equal(od_board_take_acts(b, act), 1);
  assert_true(act[0].event == 40 && strcmp(act[0].actor, "operator") == 0);
  // The ring forgets the oldest events, and readers that are too late begin with the oldest one that remains.
  od_shown_event list[OD_SHOWN_EVENTS];
  strcpy(e.kind, "note");
  e.id = -1;
  for (int i = 0; i < 2 * OD_SHOWN_EVENTS; i++) od_board_add_event(b, &e);
  assert_int_equal(od_board_events_after(b, 0, list, OD_SHOWN_EVENTS, &next), OD_SHOWN_EVENTS);
  assert_int_equal(next, b->events);
  assert_int_equal(list[OD_SHOWN_EVENTS - 1].id, 41 + 2 * OD_SHOWN_EVENTS);
  assert_int_equal(od_board_events_after(b, next, list, OD_SHOWN_EVENTS, &next), 0);
  // Acknowledgements that the writer does not take are bounded.
  strcpy(e.kind, "alarm");
  int taken = 0;
  for (int i = 0; i < 2 * OD_MOST_ACTS; i++) {
    e.id = od_board_add_event(b, &e);
    taken += od_board_acknowledge(b, &e, 1, "x");
    e.id = -1;
  }
  assert_int_equal(taken, OD_MOST_ACTS);
  od_board_free(b);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test_setup_teardown(test_token_files, scratch_setup, scratch_teardown),
                                     cmocka_unit_test(test_random),
                                     cmocka_unit_test_setup_teardown(test_sessions, scratch_setup, scratch_teardown),
                                     cmocka_unit_test(test_host_and_origin),
                                     cmocka_unit_test(test_cookies),
                                     cmocka_unit_test(test_rates),
                                     cmocka_unit_test(test_queries),
                                     cmocka_unit_test(test_routes),
                                     cmocka_unit_test(test_board)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
