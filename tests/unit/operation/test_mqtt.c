// Samples and estimates through an MQTT broker. Oracles: 'oleodyn observe --data' of the same samples; the numbers of the samples that were sent.
// Skipped without a broker.
#include "support/test.h"

#ifdef OD_HAVE_MOSQUITTO
#include <arpa/inet.h>
#include <jansson.h>
#include <mosquitto.h>
#include <pthread.h>
#include <signal.h>
#include <sys/socket.h>

#include "support/twin.h"

#define BROKER "/usr/sbin/mosquitto"

// --- The broker ---------------------------------------------------------------------------------------------------

static int port;

static void choose_port(void) {
  struct sockaddr_in a = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  socklen_t size = sizeof a;
  int fd = socket(AF_INET, SOCK_STREAM, 0);
  assert_int_equal(bind(fd, (struct sockaddr *)&a, size), 0);
  assert_int_equal(getsockname(fd, (struct sockaddr *)&a, &size), 0);
  close(fd);
  port = ntohs(a.sin_port);
}

static pid_t start_broker(scratch *s) {
  char text[600], path[512], log[512];
  snprintf(
      text, sizeof text,
      "listener %d 127.0.0.1\nallow_anonymous true\npersistence true\npersistence_location %s/\nset_tcp_nodelay true\nmax_queued_messages 0\nuser root\n",
      port, s->folder);
  snprintf(path, sizeof path, "%s", scratch_put(s, "broker.conf", text));
  snprintf(log, sizeof log, "%s", scratch_path(s, "broker.log"));
  pid_t child = fork();
  assert_true(child >= 0);
  if (child == 0) {
    if (!freopen(log, "a", stdout) || !freopen(log, "a", stderr)) _exit(127);
    execl(BROKER, BROKER, "-c", path, (char *)NULL);
    _exit(127);
  }
  return child;
}

static void end(pid_t child, int how) {
  kill(child, how);
  waitpid(child, NULL, 0);
}

static struct mosquitto *connect_client(const char *name) {
  mosquitto_lib_init();
  struct mosquitto *m = mosquitto_new(name, name == NULL, NULL);
  assert_non_null(m);
  mosquitto_int_option(m, MOSQ_OPT_TCP_NODELAY, 1);
  mosquitto_reconnect_delay_set(m, 1, 1, false);
  int result = MOSQ_ERR_ERRNO;
  for (int i = 0; i < 100 && result != MOSQ_ERR_SUCCESS; i++) {
    result = mosquitto_connect(m, "127.0.0.1", port, 30);
    if (result != MOSQ_ERR_SUCCESS) sleep_for(0.1);
  }
  assert_int_equal(result, MOSQ_ERR_SUCCESS);
  assert_int_equal(mosquitto_loop_start(m), MOSQ_ERR_SUCCESS);
  return m;
}

static void free_client(struct mosquitto *m) {
  mosquitto_disconnect(m);
  mosquitto_loop_stop(m, false);
  mosquitto_destroy(m);
}

// --- Samples ------------------------------------------------------------------------------------------------------

static const char *const columns[] = {"time", "measured.cylinder.length", "measured.P.pressure", "measured.A.pressure",
                                      "input.U_ref"};
static od_table *recorded;
static int column[5];

static void read_log(scratch *s) {
  od_error err = {0};
  assert_int_equal(od_table_read_csv(scratch_path(s, "log.csv"), &recorded, &err), OD_OK);
  for (int k = 0; k < 5; k++)
    for (int c = 0; c < recorded->columns; c++)
      if (strcmp(recorded->name[c], columns[k]) == 0) column[k] = c;
}

static double value_of(int row, int k) {
  return recorded->data[row * recorded->columns + column[k]];
}

static void publish(struct mosquitto *m, int i) {
  char line[1000];
  int length = snprintf(line, sizeof line, "{\"seq\": %d", i);
  for (int k = 0; k < 5; k++) {
    char value[40];
    snprintf(value, sizeof value, "%.17g", value_of(i, k));
    const char *name = k == 0 ? columns[0] : strchr(columns[k], '.') + 1;
    length += snprintf(line + length, sizeof line - (size_t)length, ", \"%s\": %s", name,
                       isnan(value_of(i, k)) ? "null" : value);
  }
  length += snprintf(line + length, sizeof line - (size_t)length, "}");
  mosquitto_publish(m, NULL, "plant/bench", length, line, 1, false);
}

// Writes the samples whose times are in the history, for 'observe'.
static void write_arrived(scratch *s, int rows) {
  sqlite3 *db = look(s, "twin.db");
  stored_rows stored = read_rows(db);
  sqlite3_close(db);
  FILE *f = fopen(scratch_path(s, "arrived.csv"), "w");
  fprintf(f, "time,cylinder.length,P.pressure,A.pressure,U_ref\n");
  long at = 0;
  for (int i = 0; i < rows && at < stored.rows; i++) {
    if (value_of(i, 0) != stored.data[at * stored.columns]) continue;
    at++;
    for (int k = 0; k < 5; k++) {
      if (!isnan(value_of(i, k))) fprintf(f, "%.17g", value_of(i, k));
      fputc(k < 4 ? ',' : '\n', f);
    }
  }
  assert_int_equal(at, stored.rows);
  fclose(f);
  free(stored.data);
}

static void compare_with_observe(scratch *s, int rows) {
  write_arrived(s, rows);
  expect_code(run(s, "observe %s --data arrived.csv --csv reference.csv --quiet", EXPERIMENT), 0);
  compare(s, "twin.db", "reference.csv");
}

static void put_mqtt_twin(scratch *s, const char *more) {
  char text[2000];
  snprintf(
      text, sizeof text,
      "sources:\n  broker: {type: mqtt, host: 127.0.0.1, port: %d, topic: plant/bench, format: json, sequence: seq, "
      "columns: [seq, time, cylinder.length, P.pressure, A.pressure, U_ref]}\n"
      "machines:\n  bench: {experiment: " EXPERIMENT "}\nhistory: {file: twin.db, write: 0.25 s}\n%s",
      port, more);
  scratch_put(s, "twin.yaml", text);
}

// The broker ends and starts again, three times by SIGTERM, while samples arrive: none is lost.
static void test_broker_restarts(void **state) {
  scratch *s = *state;
  const int rows = 1500;
  put_mqtt_twin(s, "");
  read_log(s);
  pid_t broker = start_broker(s);
  struct mosquitto *m = connect_client("sender");
  feed twin = start_twin(s);
  wait_until(s, started(1));
  for (int i = 0; i < rows; i++) {
    publish(m, i);
    sleep_for(1e-3);
    if (i % 400 == 399) {
      end(broker, SIGTERM);
      sleep_for(0.1);
      broker = start_broker(s);
    }
  }
  wait_until(s, "SELECT sum(rows) = 1500 FROM block");
  end(twin.child, SIGTERM);
  close(twin.to), close(twin.from);
  free_client(m);
  end(broker, SIGTERM);
  compare_with_observe(s, rows);
  sqlite3 *db = look(s, "twin.db");
  assert_true(has_event(db, "refused", "the twin tries again"));
  sqlite3_close(db);
  od_table_free(recorded);
}

// The twin ends by kill -9 and starts again: the broker keeps its messages meanwhile. At most the samples of a second are lost, and their sequence
// numbers are reported.
static void test_twin_killed(void **state) {
  scratch *s = *state;
  const int rows = 2000;
  put_mqtt_twin(s, "");
  read_log(s);
  pid_t broker = start_broker(s);
  struct mosquitto *m = connect_client("sender");
  feed twin = start_twin(s);
  static double sent[2000];
  double killed = 0;
  wait_until(s, started(1));
  for (int i = 0; i < rows; i++) {
    sent[i] = now();
    publish(m, i);
    sleep_for(1e-3);
    if (i != 900) continue;
    killed = now();
    end(twin.child, SIGKILL);
    close(twin.to), close(twin.from);
    for (int k = 0; k < 50; k++) {
      sent[++i] = now();
      publish(m, i);
    }
    twin = start_twin(s);
  }
  wait_until(s, "SELECT max(sequence) = 1999 FROM block");
  end(twin.child, SIGTERM);
  close(twin.to), close(twin.from);
  free_client(m);
  end(broker, SIGTERM);
  compare_with_observe(s, rows);
  sqlite3 *db = look(s, "twin.db");
  const int stored = (int)query(db, "SELECT sum(rows) FROM block"), lost = rows - stored;
  // All lost samples are in the last event about missing ones; each event has all of them.
  int reported = 0;
  sqlite3_stmt *q = NULL;
  assert_int_equal(sqlite3_prepare_v2(db, "SELECT text FROM event WHERE kind = 'missing' ORDER BY id", -1, &q, NULL),
                   SQLITE_OK);
  while (sqlite3_step(q) == SQLITE_ROW) reported = atoi((const char *)sqlite3_column_text(q, 0));
  sqlite3_finalize(q);
  sqlite3_close(db);
  assert_int_equal(reported, lost);
  od_table *arrived = NULL;
  od_error err = {0};
  assert_int_equal(od_table_read_csv(scratch_path(s, "arrived.csv"), &arrived, &err), OD_OK);
  for (int i = 0, at = 0; i < rows; i++) {
    if (at < arrived->rows && arrived->data[at * arrived->columns] == value_of(i, 0)) {
      at++;
      continue;
    }
    const double age = killed - sent[i];
    if (age < 0 || age > 1) fail_msg("sample %d was sent %.3f s before a kill and is lost", i, age);
  }
  od_table_free(arrived);
  od_table_free(recorded);
}

// --- Estimates ----------------------------------------------------------------------------------------------------

typedef struct received {
  char state[20000], status[20], config[2000];
  int configs;
} received;

static received got;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void take(struct mosquitto *m, void *user, const struct mosquitto_message *message) {
  (void)m, (void)user;
  const bool is_config = strstr(message->topic, "/config") != NULL,
             is_status = strcmp(message->topic, "yard/status") == 0;
  char *to = is_config ? got.config : is_status ? got.status : got.state;
  const size_t room = is_config ? sizeof got.config : is_status ? sizeof got.status : sizeof got.state;
  pthread_mutex_lock(&lock);
  snprintf(to, room, "%.*s", message->payloadlen, (const char *)message->payload);
  got.configs += is_config;
  pthread_mutex_unlock(&lock);
}

static void test_estimates(void **state) {
  scratch *s = *state;
  char outputs[300];
  snprintf(outputs, sizeof outputs,
           "outputs: {mqtt: {host: 127.0.0.1, port: %d, topic: yard, every: 0.1 s, discovery: true}}\n", port);
  put_mqtt_twin(s, outputs);
  read_log(s);
  pid_t broker = start_broker(s);
  struct mosquitto *m = connect_client("sender"), *reader = connect_client("reader");
  mosquitto_message_callback_set(reader, take);
  mosquitto_subscribe(reader, NULL, "yard/#", 1);
  mosquitto_subscribe(reader, NULL, "homeassistant/#", 1);
  feed twin = start_twin(s);
  wait_until(s, started(1));
  for (int i = 0; i < 300; i++) publish(m, i);
  wait_until(s, "SELECT sum(rows) = 300 FROM block");
  sleep_for(1);
  pthread_mutex_lock(&lock);
  assert_string_equal(got.status, "online");
  pthread_mutex_unlock(&lock);
  end(twin.child, SIGTERM);
  close(twin.to), close(twin.from);
  sleep_for(0.3);
  free_client(m);
  free_client(reader);
  end(broker, SIGTERM);
  assert_string_equal(got.status, "offline");
  json_t *object = json_loads(got.state, 0, NULL), *config = json_loads(got.config, 0, NULL);
  assert_non_null(object);
  assert_non_null(config);
  sqlite3 *db = look(s, "twin.db");
  stored_rows rows = read_rows(db);
  const int id = (int)query(db, "SELECT id FROM channel WHERE name = 'estimate.oil.kp'");
  const double *last = rows.data + (rows.rows - 1) * rows.columns;
  assert_true(json_number_value(json_object_get(object, "time")) == last[0]);
  const json_t *kp = json_object_get(object, "oil.kp");
  assert_true(json_number_value(json_object_get(kp, "value")) == last[id] &&
              json_number_value(json_object_get(kp, "sigma")) == last[id + 1]);
  assert_int_equal(got.configs, (int)query(db, "SELECT count(*) FROM channel WHERE name LIKE 'estimate.%'"));
  assert_string_equal(json_string_value(json_object_get(config, "state_topic")), "yard/bench/state");
  assert_string_equal(json_string_value(json_object_get(config, "availability_topic")), "yard/status");
  sqlite3_close(db);
  free(rows.data);
  json_decref(object);
  json_decref(config);
  od_table_free(recorded);
}

int main(void) {
  if (access(BROKER, X_OK) != 0) {
    printf("skipped: no package: mosquitto\n");
    return 77;
  }
  choose_port();
  const struct CMUnitTest tests[] = {cmocka_unit_test_setup_teardown(test_broker_restarts, setup, scratch_teardown),
                                     cmocka_unit_test_setup_teardown(test_twin_killed, setup, scratch_teardown),
                                     cmocka_unit_test_setup_teardown(test_estimates, setup, scratch_teardown)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}

#else
#include <stdio.h>

int main(void) {
  printf("skipped: no package: libmosquitto-dev\n");
  return 77;
}
#endif
