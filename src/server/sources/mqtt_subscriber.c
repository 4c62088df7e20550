#include "sources/mqtt_subscriber.h"

#include <stdio.h>

#include "base/allocate.h"
#include "io/clock.h"

enum { KEEP_ALIVE_S = 30, SHORTEST_PAUSE_MS = 100, LONGEST_PAUSE_MS = 2000 };

struct od_mqtt_subscriber {
  const od_twin_broker *broker;
  od_mqtt_user user;
  struct mosquitto *client;
  const od_receiver *to;
  double last;        // time of the last message, s
  bool is_connected;  // whether the broker has accepted the connection
  bool is_lost;       // whether the loss of the connection has been reported
};

static void take_connection(struct mosquitto *m, void *user, int result) {
  od_mqtt_subscriber *s = user;
  char why[300];
  if (result != 0) {
    snprintf(why, sizeof why, "the broker %s refuses the connection: %s", s->broker->host,
             mosquitto_connack_string(result));
    s->to->refuse(s->to->user, why);
    return;
  }
  s->is_connected = true;
  s->is_lost = false;
  mosquitto_subscribe(m, NULL, s->user.topic, 1);
  if (s->user.connected) s->user.connected(s->user.user, s->to);
}

static void take_message(struct mosquitto *m, void *user, const struct mosquitto_message *message) {
  od_mqtt_subscriber *s = user;
  (void)m;
  s->last = od_seconds();
  s->user.message(s->user.user, s->to, message);
}

od_status od_mqtt_subscriber_new(const od_twin_broker *broker, const od_mqtt_user *user, od_mqtt_subscriber **out,
                                 od_error *err) {
  od_mqtt_subscriber *s = od_calloc(1, sizeof *s);
  *out = NULL;
  if (!s) return od_fail(err, OD_NO_MEMORY, "out of memory");
  s->broker = broker;
  s->user = *user;
  od_status status = od_mqtt_new(broker, user->keeps, s, &s->client, err);
  if (status != OD_OK) {
    od_free(s);
    return status;
  }
  mosquitto_connect_callback_set(s->client, take_connection);
  mosquitto_message_callback_set(s->client, take_message);
  *out = s;
  return OD_OK;
}

void od_mqtt_subscriber_free(od_mqtt_subscriber *s) {
  if (!s) return;
  od_mqtt_free(s->client);
  od_free(s);
}

// Reports a lost connection once, and waits. Returns the next pause, ms.
static int pause_after(od_mqtt_subscriber *s, int result, int pause) {
  char why[300];
  if (!s->is_lost) {
    snprintf(why, sizeof why, "no connection to the broker %s, port %d: %s; the twin tries again", s->broker->host,
             s->broker->port, mosquitto_strerror(result));
    s->to->refuse(s->to->user, why);
  }
  s->is_lost = true;
  s->is_connected = false;
  od_source_pause(pause, s->to);
  return 2 * pause < LONGEST_PAUSE_MS ? 2 * pause : LONGEST_PAUSE_MS;
}

void od_mqtt_subscriber_run(od_mqtt_subscriber *s, const od_receiver *to) {
  int pause = SHORTEST_PAUSE_MS;
  s->to = to;
  int result = mosquitto_connect(s->client, s->broker->host, s->broker->port, KEEP_ALIVE_S);
  while (to->goes_on(to->user)) {
    if (result != MOSQ_ERR_SUCCESS) {
      pause = pause_after(s, result, pause);
      if (to->goes_on(to->user)) result = mosquitto_reconnect(s->client);
      continue;
    }
    result = mosquitto_loop(s->client, OD_SILENCE_MS, 1);
    if (s->is_connected) pause = SHORTEST_PAUSE_MS;
    if (s->is_connected && s->user.turn) s->user.turn(s->user.user, s, to);
    if (od_seconds() - s->last > 1e-3 * OD_SILENCE_MS) to->silence(to->user);
  }
  mosquitto_disconnect(s->client);
}

void od_mqtt_subscriber_publish(od_mqtt_subscriber *s, const char *topic, const void *payload, size_t size) {
  mosquitto_publish(s->client, NULL, topic, (int)size, payload, 0, false);
}
