// Estimates as MQTT messages. One topic per machine, TOPIC/MACHINE/state, has time, estimates and standard deviations. TOPIC/status has "online", or
// "offline" after the end of the twin or of its connection. A library thread does the input and output, so the writer does not wait.
#include <jansson.h>
#include <math.h>
#include <string.h>

#include "base/allocate.h"
#include "io/json.h"
#include "memory/scoped.h"
#include "operation/operation.h"

#ifdef OD_HAVE_MOSQUITTO
#include "sources/mqtt_connection.h"

struct od_publisher {
  const od_twin_run *o;
  struct mosquitto *client;
  _Atomic bool is_connected, is_new;  // is_new: whether the connection has begun since the last messages
};

static const char *const online = "online", *const offline = "offline";
enum { KEEP_ALIVE_S = 30 };

static void publish(od_publisher *p, const char *topic, const char *text, bool retain) {
  mosquitto_publish(p->client, NULL, topic, (int)strlen(text), text, 1, retain);
}

static void take_connection(struct mosquitto *m, void *user, int result) {
  od_publisher *p = user;
  (void)m;
  if (result != 0) return;
  atomic_store(&p->is_new, true);
  atomic_store(&p->is_connected, true);
}

static void lose_connection(struct mosquitto *m, void *user, int result) {
  (void)m, (void)result;
  atomic_store(&((od_publisher *)user)->is_connected, false);
}

static bool is_estimate(const char *name) {
  return strncmp(name, "estimate.", 9) == 0;
}

// Publishes a JSON object, and releases the object.
static void publish_object(od_publisher *p, const char *topic, json_t *object, bool retain) {
  char *text = object ? json_dumps(object, JSON_COMPACT | JSON_REAL_PRECISION(17)) : NULL;
  if (text) publish(p, topic, text, retain);
  od_json_text_free(text);
  json_decref(object);
}

static json_t *number(double value) {
  return isfinite(value) ? json_real(value) : json_null();
}

static void publish_state(od_publisher *p, const od_machine_thread *r, const od_row_head *head) {
  OD_SCRATCH(scratch);
  const char *topic = od_arena_format(&scratch, "%s/%s/state", p->o->twin->broker.topic, r->settings->name);
  json_t *object = json_pack("{s:o}", "time", number(r->last_t));
  for (int c = 1; object && c + 1 < head->columns; c++)
    if (is_estimate(head->name[c]))
      json_object_set_new(object, head->name[c] + 9,
                          json_pack("{s:o, s:o}", "value", number(r->last[c]), "sigma", number(r->last[c + 1])));
  if (topic) publish_object(p, topic, object, true);
}

// Returns a name as a part of a topic or an identifier: letters, digits, '-' and '_'. NULL: an allocation failed.
static char *plain(od_arena *memory, const char *text) {
  char *copy = od_arena_text(memory, text);
  for (char *c = copy; c && *c; c++)
    if (!((*c >= 'a' && *c <= 'z') || (*c >= 'A' && *c <= 'Z') || (*c >= '0' && *c <= '9') || *c == '-')) *c = '_';
  return copy;
}

// Publishes a description of the estimates of a machine for dashboards, in the format of Home Assistant's discovery.
static void announce(od_publisher *p, const od_machine_thread *r, const od_row_head *head) {
  const char *prefix = p->o->twin->broker.topic, *machine = r->settings->name;
  for (int c = 1; c < head->columns; c++) {
    OD_SCRATCH(scratch);
    if (!is_estimate(head->name[c])) continue;
    const char *name = head->name[c] + 9;
    const char *id = plain(&scratch, od_arena_format(&scratch, "%s_%s_%s", prefix, machine, name));
    const char *topic = od_arena_format(&scratch, "homeassistant/sensor/%s/config", id);
    if (od_arena_status(&scratch) != OD_OK) return;
    publish_object(
        p, topic,
        json_pack("{s:o, s:s, s:o, s:o, s:o, s:o, s:{s:[s], s:s}}", "name", json_sprintf("%s %s", machine, name),
                  "unique_id", id, "state_topic", json_sprintf("%s/%s/state", prefix, machine), "value_template",
                  json_sprintf("{{ value_json['%s'].value }}", name), "unit_of_measurement", json_string(head->unit[c]),
                  "availability_topic", json_sprintf("%s/status", prefix), "device", "identifiers", machine, "name",
                  machine),
        true);
  }
}

od_status od_publisher_new(const od_twin_run *o, od_publisher **out, od_error *err) {
  OD_SCRATCH(scratch);
  const od_twin_broker *b = &o->twin->broker;
  od_publisher *p = *out = od_calloc(1, sizeof *p);
  if (!p) return od_fail(err, OD_NO_MEMORY, "out of memory");
  p->o = o;
  od_status status = od_mqtt_new(b, false, p, &p->client, err);
  if (status != OD_OK) return status;
  const char *topic = od_arena_format(&scratch, "%s/status", b->topic);
  mosquitto_connect_callback_set(p->client, take_connection);
  mosquitto_disconnect_callback_set(p->client, lose_connection);
  mosquitto_reconnect_delay_set(p->client, 1, 10, true);
  int result = topic ? mosquitto_will_set(p->client, topic, (int)strlen(offline), offline, 1, true) : MOSQ_ERR_NOMEM;
  if (result == MOSQ_ERR_SUCCESS) result = mosquitto_connect_async(p->client, b->host, b->port, KEEP_ALIVE_S);
  // If there is no broker, the library connects later.
  if (result != MOSQ_ERR_INVAL && result != MOSQ_ERR_NOMEM) result = mosquitto_loop_start(p->client);
  if (result == MOSQ_ERR_SUCCESS) return OD_OK;
  return od_fail(err, OD_BAD_INPUT, "estimates cannot be published: %s", mosquitto_strerror(result));
}

void od_publisher_write(od_publisher *p) {
  OD_SCRATCH(scratch);
  if (!atomic_load(&p->is_connected)) return;
  const bool is_new = atomic_exchange(&p->is_new, false);
  const char *topic = od_arena_format(&scratch, "%s/status", p->o->twin->broker.topic);
  if (is_new && topic) publish(p, topic, online, true);
  for (int i = 0; i < p->o->twin->machines; i++) {
    od_machine_thread *r = &p->o->machine[i];
    const od_row_head *head = atomic_load_explicit(&r->head, memory_order_acquire);
    if (!head || !r->last || isnan(r->last_t)) continue;
    if (p->o->twin->discovery && (is_new || !r->is_announced)) announce(p, r, head);
    r->is_announced = true;
    publish_state(p, r, head);
  }
}

void od_publisher_free(od_publisher *p) {
  OD_SCRATCH(scratch);
  if (!p) return;
  const char *topic = od_arena_format(&scratch, "%s/status", p->o->twin->broker.topic);
  if (p->client) {
    if (topic && atomic_load(&p->is_connected)) publish(p, topic, offline, true);
    mosquitto_disconnect(p->client);
    mosquitto_loop_stop(p->client, false);
    od_mqtt_free(p->client);
  }
  od_free(p);
}

#else

od_status od_publisher_new(const od_twin_run *o, od_publisher **out, od_error *err) {
  (void)o;
  *out = NULL;
  return od_fail(err, OD_BAD_INPUT,
                 "estimates cannot be published: this oleodyn-twin was built without MQTT; install libmosquitto-dev");
}
void od_publisher_write(od_publisher *p) {
  (void)p;
}
void od_publisher_free(od_publisher *p) {
  (void)p;
}
#endif
