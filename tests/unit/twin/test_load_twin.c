// Twin files: what is read, and the messages about mistakes, each with its place. Oracle: the expected values and messages.
#include "support/test.h"

#include <math.h>

#include "memory/owned.h"
#include "support/scratch.h"
#include "twin/twin.h"

#define EXPERIMENT OD_SOURCE_DIR "/cases/fourbar-valve/points-3.experiment.yaml"

static od_twin *load(const char *text, char *said, size_t size) {
  static scratch *s;
  if (!s) scratch_setup((void **)&s);
  od_messages *messages = od_messages_new();
  od_twin *t = NULL;
  const char *path = scratch_put(s, "twin.yaml", text);
  const od_status status = od_twin_load(path, (od_content){0}, &t, messages);
  said[0] = '\0';
  for (int i = 0; i < od_messages_count(messages); i++) {
    const od_message *m = od_messages_get(messages, i);
    snprintf(said + strlen(said), size - strlen(said), "%d:%d: %s\n", m->line, m->column, m->text);
  }
  assert_int_equal(status == OD_OK, t != NULL);
  assert_int_equal(status != OD_OK, said[0] != '\0');
  od_messages_free(messages);
  unlink(path);
  rmdir(s->folder);
  free(s);
  s = NULL;
  return t;
}

static void refuses(const char *text, const char *const *messages) {
  char said[6000];
  od_twin *t = load(text, said, sizeof said);
  assert_null(t);
  for (int i = 0; messages[i]; i++)
    if (!strstr(said, messages[i])) fail_msg("'%s' is not in:\n%s", messages[i], said);
}

static void test_read(void **state) {
  (void)state;
  char said[4000];
  od_twin *t = load(
      "twin: Yard\nsources:\n  a: {type: stdin}\n  b: {type: udp, port: 9000, address: '::1', format: json, columns: [seq, time, p], sequence: seq}\n"
      "  c: {type: mqtt, topic: plant/#, host: broker, user: x, password_file: secret}\n"
      "  d: {type: can, interface: can0, databases: bus.dbc}\n"
      "machines:\n  m1: {experiment: " EXPERIMENT
      ", source: b, wait: 20 ms, queue: 100}\n  m2: {experiment: " EXPERIMENT
      ", source: c}\n"
      "history: {file: h.db, rows: 7 d, keep: 3650 d, size: 20000}\noutputs: {metrics: m.prom, every: 5 s, mqtt: {topic: yard}}\n",
      said, sizeof said);
  if (!t) fail_msg("%s", said);
  assert_string_equal(t->title, "Yard");
  assert_int_equal(t->sources, 4);
  assert_string_equal(t->source[3].interface, "can0");
  assert_true(strstr(t->source[3].database[0], "/bus.dbc") && !t->source[3].database[1]);
  assert_true(t->source[1].type == OD_SOURCE_UDP && t->source[1].form == OD_MESSAGE_JSON && t->source[1].port == 9000);
  assert_string_equal(t->source[1].address, "::1");
  assert_string_equal(t->source[1].column[2], "p");
  assert_null(t->source[1].column[3]);
  assert_string_equal(t->source[2].broker.host, "broker");
  assert_string_equal(t->source[2].broker.client, "oleodyn-c");
  assert_true(t->source[2].broker.port == 1883 && strstr(t->source[2].broker.password_file, "/secret"));
  assert_true(t->machine[0].source == 1 && t->machine[0].wait == 0.02 && t->machine[0].queue == 100 &&
              t->machine[1].source == 2);
  assert_true(t->history.rows_for == 7 * 86400 && t->history.size == 2e10 && t->history.write == 0.5 &&
              t->history.checkpoint == 10);
  assert_true(t->metrics_every == 5 && strstr(t->metrics, "/m.prom"));
  assert_string_equal(t->broker.topic, "yard");
  assert_true(t->publish_every == 1 && !t->discovery);
  od_twin_free(t);
}

// A history on a server.
static void test_url(void **state) {
  (void)state;
  char said[4000];
  od_twin *t = load(
      "sources: {a: {type: stdin}}\nmachines: {m: {experiment: " EXPERIMENT
      "}}\nhistory: {url: 'postgresql://twin@db.example:5433/yard?sslmode=verify-full', password_file: db.password}\n",
      said, sizeof said);
  if (!t) fail_msg("%s", said);
  assert_string_equal(t->history.url, "postgresql://twin@db.example:5433/yard?sslmode=verify-full");
  assert_true(strstr(t->history.password_file, "/db.password") && !t->history.file && t->history.write == 0.5);
  od_twin_free(t);
}

static void test_sparkplug(void **state) {
  (void)state;
  char said[4000];
  od_twin *t = load(
      "sources:\n  a: {type: sparkplug, group: plant, node: edge, device: bench, columns: [A/p], rebirth: false, host: broker}\n"
      "  b: {type: sparkplug, group: plant, node: edge}\nmachines:\n  m: {experiment: " EXPERIMENT ", source: a}\n",
      said, sizeof said);
  if (!t) fail_msg("%s", said);
  const od_twin_source *a = &t->source[0], *b = &t->source[1];
  assert_true(strcmp(a->group, "plant") == 0 && strcmp(a->node, "edge") == 0 && strcmp(a->device, "bench") == 0);
  assert_true(!a->rebirth && b->rebirth && !b->device && a->broker.port == 1883 && !a->broker.topic);
  assert_string_equal(b->broker.client, "oleodyn-b");
  od_twin_free(t);
  refuses(
      "sources:\n  a: {type: sparkplug, group: plant/x, device: '#', topic: x, sequence: y}\nmachines:\n  m: {experiment: " EXPERIMENT
      "}\n",
      (const char *[]){"group is 'plant/x'; expected a name of at most 200 bytes without the characters + # /",
                       "device is '#'", "the source 'a' needs 'node'",
                       "sources of the type 'sparkplug' have no 'topic'; remove the key",
                       "sources of the type 'sparkplug' have no 'sequence'; remove the key", NULL});
}

static void test_modbus(void **state) {
  (void)state;
  char said[4000];
  od_twin *t = load(
      "sources:\n  a: {type: modbus, host: plc, every: 20 ms, timeout: 1 s, unit_id: 9, registers: {p: {address: 65534, type: float32, "
      "order: little, kind: input, scale: 0.1, offset: -2, unit: bar}, on: {address: 0, kind: coil}}}\n"
      "machines:\n  m: {experiment: " EXPERIMENT "}\n",
      said, sizeof said);
  if (!t) fail_msg("%s", said);
  const od_twin_source *a = &t->source[0];
  assert_true(strcmp(a->host, "plc") == 0 && a->port == 502 && a->every == 0.02 && a->timeout == 1 && a->unit_id == 9);
  const od_twin_register *p = &a->reg[0], *on = &a->reg[1];
  assert_true(a->registers == 2 && p->address == 65534 && p->size == 2 && p->is_little &&
              p->kind == OD_REGISTER_INPUT && p->type == OD_REGISTER_FLOAT32 && p->scale == 0.1 && p->offset == -2);
  assert_string_equal(p->unit, "bar");
  assert_true(strcmp(on->name, "on") == 0 && on->kind == OD_REGISTER_COIL && on->size == 1 && on->scale == 1 &&
              !on->unit);
  od_twin_free(t);
  refuses(
      "sources:\n  a: {type: modbus, columns: [p], registers: {p: {address: 65535, type: int32}, q: {kind: coil, type: int16, address: -1}, "
      "time: {address: 3}, r: {adress: 3}}}\n  b: {type: modbus, registers: {}}\n  c: {type: modbus, unit_id: 256}\n"
      "machines:\n  m: {experiment: " EXPERIMENT ", source: a}\n",
      (const char *[]){"sources of the type 'modbus' have no 'columns'; remove the key",
                       "the number has 2 registers and begins at 65535; the last address is 65535",
                       "coils and discrete inputs have no 'type'; remove the key", "must not be negative",
                       "'time' is the column of the times; expected another name of the register",
                       "did you mean 'address'", "found 0 registers; expected 1 to 4095 registers",
                       "the source 'c' needs 'registers'", "0 to 255", NULL});
}

static void test_mistakes(void **state) {
  (void)state;
  refuses("twin: x\n", (const char *[]){"'sources'", "'machines'", NULL});
  refuses("sources: {}\nmachines: {}\n",
          (const char *[]){"1:10: found an empty map of sources; expected at least one entry",
                           "2:11: found an empty map of machines; expected at least one entry", NULL});
  refuses(
      "sources:\n  a: {type: upd}\n  b: {type: udp}\n  c: {type: stdin, port: 1}\n  d: {type: stdin}\n  e: {type: mqtt, columns: [a], adress: x}\n"
      "machines:\n  m: {experiment: " EXPERIMENT
      ", source: f}\n  n: {experiment: missing.yaml, source: a, wait: 1 kg}\n  o: {experiment: " EXPERIMENT "}\n",
      (const char *[]){"2:13: ", "did you mean 'udp'", "the source 'b' needs 'port'", "the source 'b' needs 'columns'",
                       "sources of the type 'stdin' have no 'port'; remove the key", "'c' also reads standard input",
                       "the source 'e' needs 'topic'", "did you mean 'address'", "there is no source 'f'",
                       "the file cannot be read", "wait must be in s", "the machine 'o' needs 'source'", NULL});
  refuses("sources: {a: {type: stdin}}\nmachines:\n  m: {experiment: " EXPERIMENT
          ", map: [what=3]}\nhistory: {file: a.db, rows: 2 d, keep: 1 d}\n",
          (const char *[]){"what", "'rows' is longer than 'keep'", NULL});
  refuses("sources: {a: {type: stdin}}\nmachines:\n  m: {experiment: " OD_SOURCE_DIR
          "/cases/fourbar-valve/machine.yaml}\n",
          (const char *[]){"found a machine file, expected an experiment file", NULL});
  static const struct {
    const char *history, *message;
  } histories[] = {
      {"{write: 1 s}", "needs 'file'"},
      {"{file: a.db, url: 'postgresql://h/y'}", "the history has a 'file' and a 'url'; expected one of them"},
      {"{file: a.db, password_file: p}", "'password_file' needs 'url'; remove the key"},
      {"{url: yard}", "this is no URL; expected one such as postgresql://twin@localhost/yard"},
      {"{url: 'postgresql://twin:hush-7@h/y'}",
       "the URL contains a password, which other users may read; remove it and give 'password_file'"},
      {"{url: 'postgresql://twin@h/y?password=hush-7'}", "the URL contains a password"},
  };
  for (size_t i = 0; i < sizeof histories / sizeof *histories; i++) {
    char text[1000], said[4000];
    snprintf(text, sizeof text,
             "sources: {a: {type: stdin}}\nmachines: {m: {experiment: " EXPERIMENT "}}\nhistory: %s\n",
             histories[i].history);
    assert_null(load(text, said, sizeof said));
    if (!strstr(said, histories[i].message) || strstr(said, "hush-7"))
      fail_msg("'%s' is not in:\n%s", histories[i].message, said);
  }
  refuses("study: x\ncases: {}\n",
          (const char *[]){"found a study file, expected a twin file; use 'oleodyn study'", NULL});
}

#define MACHINE "sources: {a: {type: stdin}}\nmachines:\n  m: {experiment: " EXPERIMENT

static void test_page(void **state) {
  (void)state;
  char said[4000];
  od_twin *t = load(
      MACHINE
      ", alarms: {soft: {output: oil.kp, below: 1.2 GPa, for: 10 s}, hot: {output: A.pressure, above: 300 bar, below: 1 bar}}}\n"
      "page: {address: '::', port: 443, hosts: [yard.example, yard], certificate_file: c.pem, key_file: k.pem, client_ca_file: ca.pem,\n"
      "  tokens: {wall: {file: w}, operator: {file: o, role: act}}, frames: 50 ms, verdict: 5 min, connections: 1000}\n",
      said, sizeof said);
  if (!t) fail_msg("%s", said);
  const od_twin_page *p = &t->page;
  assert_true(strcmp(p->address, "::") == 0 && p->port == 443 && !p->is_loopback && p->local_role == OD_ROLE_NONE);
  assert_true(strcmp(p->host[1], "yard") == 0 && !p->host[2] && strstr(p->key_file, "/k.pem") &&
              strstr(p->client_ca_file, "/ca.pem"));
  assert_true(p->tokens == 2 && p->token[0].role == OD_ROLE_READ && p->token[1].role == OD_ROLE_ACT &&
              strstr(p->token[1].file, "/o"));
  assert_true(p->frames == 0.05 && p->verdict == 300 && p->connections == 1000 && p->streams == 32 &&
              p->client_role == OD_ROLE_READ);
  const od_twin_alarm *a = t->machine[0].alarm;
  assert_true(t->machine[0].alarms == 2 && isnan(a[0].above) && a[0].below == 1.2e9 && a[0].duration == 10);
  assert_true(fabs(a[1].above - 3e7) < 1 && fabs(a[1].below - 1e5) < 1 && a[1].duration == 0);
  od_twin_free(t);
  t = load(MACHINE "}\npage: {}\n", said, sizeof said);
  if (!t) fail_msg("%s", said);
  assert_true(strcmp(t->page.address, "127.0.0.1") == 0 && t->page.is_loopback && t->page.local_role == OD_ROLE_ACT &&
              t->page.port == 8700);
  od_twin_free(t);
  t = load(MACHINE "}\n", said, sizeof said);
  assert_null(t->page.address);
  od_twin_free(t);
}

static void test_page_mistakes(void **state) {
  (void)state;
  refuses(
      MACHINE "}\npage: {address: 0.0.0.0, port: 70000}\n",
      (const char *[]){"so the page needs TLS; give 'certificate_file' and 'key_file', or use the address 127.0.0.1",
                       "readers must log in", "1 to 65535", NULL});
  refuses(MACHINE "}\npage: {address: 10.0.0.5, certificate_file: c, key_file: k}\n",
          (const char *[]){"readers must log in; give 'tokens' or 'client_ca_file'", NULL});
  refuses(MACHINE "}\npage: {address: yard.example, key_file: k, hosts: ['a/b'], tokens: {x: {}}, adress: y}\n",
          (const char *[]){"no numeric address", "did you mean 'address'", "'a/b' is not the name of a computer",
                           "'file'", NULL});
  refuses(MACHINE "}\npage: {local: none, client_ca_file: ca}\n",
          (const char *[]){"certificates of readers need TLS", NULL});
  refuses(
      MACHINE
      ", alarms: {a: {output: oil.kq, above: 1}, b: {output: oil.kp}, c: {output: oil.kp, above: 1 m, for: -1 s}, d: {output: oil.kp, above: 1 GPa, below: 2 GPa}}}\n",
      (const char *[]){"the experiment estimates no 'oil.kq'", "did you mean 'oil.kp'",
                       "the alarm 'b' needs 'above' or 'below'", "must be in Pa", "every estimate would be an alarm",
                       NULL});
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_read),         cmocka_unit_test(test_url),
                                     cmocka_unit_test(test_sparkplug),    cmocka_unit_test(test_modbus),
                                     cmocka_unit_test(test_mistakes),     cmocka_unit_test(test_page),
                                     cmocka_unit_test(test_page_mistakes)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
