// Sparkplug B: the metrics of an edge node, or of one of its devices, through an MQTT broker. The session of the broker is new for each connection,
// and births are requested if they are needed and the key `rebirth` is true.
#include "sources/source.h"

#ifdef OD_HAVE_MOSQUITTO
#include <stdio.h>

#include "base/allocate.h"
#include "io/clock.h"
#include "sources/mqtt_subscriber.h"
#include "sources/sparkplug_node.h"
#include "sources/sparkplug_payload.h"

typedef struct edge {
  const od_twin_source *settings;
  char topic[600], command[600];
  od_sparkplug_node *node;
  od_mqtt_subscriber *subscriber;
} edge;

static void take_connection(void *self, const od_receiver *to) {
  (void)to;
  od_sparkplug_node_connect(((edge *)self)->node, od_seconds());
}

static void take_message(void *self, const od_receiver *to, const struct mosquitto_message *message) {
  od_sparkplug_node_take(((edge *)self)->node, message->topic, message->payload, (size_t)message->payloadlen,
                         od_seconds(), to);
}

// Requests births if they are needed and the settings allow requests.
static void request(void *self, od_mqtt_subscriber *s, const od_receiver *to) {
  const edge *e = self;
  const char *reason = e->settings->rebirth ? od_sparkplug_node_asks(e->node, od_seconds()) : NULL;
  uint8_t payload[OD_SPARKPLUG_COMMAND];
  char text[300];
  if (!reason) return;
  const uint64_t ms = (uint64_t)(1e3 * od_clock_now());
  od_mqtt_subscriber_publish(s, e->command, payload, od_sparkplug_rebirth(ms, payload));
  snprintf(text, sizeof text, "new births were requested from the node '%.80s': %s", e->settings->node, reason);
  to->event(to->user, "rebirth", text);
}

static void close_node(void *self) {
  edge *e = self;
  od_mqtt_subscriber_free(e->subscriber);
  od_sparkplug_node_free(e->node);
  od_free(e);
}

static od_status open_node(const od_twin_source *settings, void **self, od_error *err) {
  edge *e = od_calloc(1, sizeof *e);
  *self = NULL;
  if (!e) return od_fail(err, OD_NO_MEMORY, "out of memory");
  e->settings = settings;
  snprintf(e->topic, sizeof e->topic, "spBv1.0/%s/+/%s/#", settings->group, settings->node);
  snprintf(e->command, sizeof e->command, "spBv1.0/%s/NCMD/%s", settings->group, settings->node);
  const od_mqtt_user user = {
      .topic = e->topic, .connected = take_connection, .message = take_message, .turn = request, .user = e};
  od_status status = od_sparkplug_node_new(settings, &e->node, err);
  if (status == OD_OK) status = od_mqtt_subscriber_new(&settings->broker, &user, &e->subscriber, err);
  if (status == OD_OK)
    *self = e;
  else
    close_node(e);
  return status;
}

static od_status run(void *self, const od_receiver *to, od_error *err) {
  (void)err;
  od_mqtt_subscriber_run(((edge *)self)->subscriber, to);
  return OD_OK;
}

const od_source_class od_sparkplug_source = {
    .name = "sparkplug", .waits = true, .gives_cells = true, .open = open_node, .run = run, .close = close_node};

#else

const od_source_class od_sparkplug_source = {.name = "sparkplug", .gives_cells = true, .open = od_source_needs_mqtt};
#endif
