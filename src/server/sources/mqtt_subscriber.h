// A subscription to a topic of an MQTT broker. After a lost connection the subscriber connects again: after 0.1 s at first, then after pauses that
// double up to 2 s.
#ifndef OD_SOURCES_MQTT_SUBSCRIBER_H
#define OD_SOURCES_MQTT_SUBSCRIBER_H

#include "sources/mqtt_connection.h"
#include "sources/source.h"

typedef struct od_mqtt_subscriber od_mqtt_subscriber;

// The user of a subscription. All functions have `user` as their first argument.
typedef struct od_mqtt_user {
  const char *topic;  // filter of topics
  bool keeps;         // whether the broker keeps the session while there is no connection
  void (*connected)(void *user, const od_receiver *to);  // the connection has begun; NULL: not needed
  void (*message)(void *user, const od_receiver *to, const struct mosquitto_message *message);
  void (*turn)(void *user, od_mqtt_subscriber *s,
               const od_receiver *to);  // at least every 0.1 s with a connection; NULL: not needed
  void *user;
} od_mqtt_user;

// Prepares a subscription, without a connection. `broker` must exist as long as the subscription. Fails with OD_IO, OD_BAD_INPUT or OD_NO_MEMORY.
od_status od_mqtt_subscriber_new(const od_twin_broker *broker, const od_mqtt_user *user, od_mqtt_subscriber **out,
                                 od_error *err);
void od_mqtt_subscriber_free(od_mqtt_subscriber *s);
// Connects and receives messages until the receiver stops.
void od_mqtt_subscriber_run(od_mqtt_subscriber *s, const od_receiver *to);
// Publishes a message with QoS 0. Call from turn().
void od_mqtt_subscriber_publish(od_mqtt_subscriber *s, const char *topic, const void *payload, size_t size);

#endif
