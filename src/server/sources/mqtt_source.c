// MQTT: each message of a topic is a message. QoS 1 and a session that the broker keeps: while the twin or the network is down, the broker
// collects the messages.
#include "sources/source.h"

#ifdef OD_HAVE_MOSQUITTO
#include "sources/mqtt_subscriber.h"

static void take_message(void *user, const od_receiver *to, const struct mosquitto_message *message) {
  (void)user;
  to->message(to->user, message->payload, (size_t)message->payloadlen);
}

static od_status open_broker(const od_twin_source *settings, void **self, od_error *err) {
  const od_mqtt_user user = {.topic = settings->broker.topic, .keeps = true, .message = take_message};
  od_mqtt_subscriber *s = NULL;
  const od_status status = od_mqtt_subscriber_new(&settings->broker, &user, &s, err);
  *self = s;
  return status;
}

static void close_broker(void *self) {
  od_mqtt_subscriber_free(self);
}

static od_status run(void *self, const od_receiver *to, od_error *err) {
  (void)err;
  od_mqtt_subscriber_run(self, to);
  return OD_OK;
}

const od_source_class od_mqtt_source = {
    .name = "mqtt", .waits = true, .open = open_broker, .run = run, .close = close_broker};

#else

const od_source_class od_mqtt_source = {.name = "mqtt", .open = od_source_needs_mqtt};
#endif
