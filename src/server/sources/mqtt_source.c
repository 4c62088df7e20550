// MQTT: each message of a topic is a message of the source. QoS 1 and a session that the broker keeps: while the twin or the
// network is down, the broker collects the messages. After a lost connection the source connects again, at first after 0.1 s,
// later every 2 s.
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/allocate.h"
#include "sources/source.h"

#ifdef OD_HAVE_MOSQUITTO
#include "io/clock.h"
#include "sources/mqtt_connection.h"

enum { KEEP_ALIVE_S = 30, SHORTEST_PAUSE_MS = 100, LONGEST_PAUSE_MS = 2000 };

typedef struct subscription {
  const od_twin_broker *broker;
  struct mosquitto *client;
  const od_receiver *to;
  double last;        // time of the last message, s
  bool is_connected;  // whether the broker has accepted the connection
  bool is_lost;       // whether the loss of the connection has been reported
} subscription;

static void take_connection(struct mosquitto *m, void *user, int result) {
  subscription *s = user;
  char why[300];
  if (result != 0) {
    snprintf(why, sizeof why, "the broker %s refuses the connection: %s", s->broker->host,
             mosquitto_connack_string(result));
    s->to->refuse(s->to->user, why);
    return;
  }
  s->is_connected = true;
  s->is_lost = false;
  mosquitto_subscribe(m, NULL, s->broker->topic, 1);
}

static void take_message(struct mosquitto *m, void *user, const struct mosquitto_message *message) {
  subscription *s = user;
  (void)m;
  s->last = od_seconds();
  s->to->message(s->to->user, message->payload, (size_t)message->payloadlen);
}

static od_status open_broker(const od_twin_source *settings, void **self, od_error *err) {
  subscription *s = od_calloc(1, sizeof *s);
  *self = NULL;
  if (!s) return od_fail(err, OD_NO_MEMORY, "out of memory");
  s->broker = &settings->broker;
  od_status status = od_mqtt_new(s->broker, true, s, &s->client, err);
  if (status != OD_OK) {
    od_free(s);
    return status;
  }
  mosquitto_connect_callback_set(s->client, take_connection);
  mosquitto_message_callback_set(s->client, take_message);
  *self = s;
  return OD_OK;
}

static void close_broker(void *self) {
  subscription *s = self;
  od_mqtt_free(s->client);
  od_free(s);
}

// Reports a lost connection once, and waits. Returns the next pause, ms.
static int pause_after(subscription *s, int result, int pause) {
  char why[300];
  if (!s->is_lost) {
    snprintf(why, sizeof why, "no connection to the broker %s, port %d: %s; the twin tries again", s->broker->host,
             s->broker->port, mosquitto_strerror(result));
    s->to->refuse(s->to->user, why);
  }
  s->is_lost = true;
  s->is_connected = false;
  for (int waited = 0; waited < pause && s->to->goes_on(s->to->user); waited += OD_SILENCE_MS) {
    nanosleep(&(struct timespec){.tv_nsec = 1000000L * OD_SILENCE_MS}, NULL);
    s->to->silence(s->to->user);
  }
  return 2 * pause < LONGEST_PAUSE_MS ? 2 * pause : LONGEST_PAUSE_MS;
}

static od_status run(void *self, const od_receiver *to, od_error *err) {
  subscription *s = self;
  int pause = SHORTEST_PAUSE_MS;
  (void)err;
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
    if (od_seconds() - s->last > 1e-3 * OD_SILENCE_MS) to->silence(to->user);
  }
  mosquitto_disconnect(s->client);
  return OD_OK;
}

const od_source_class od_mqtt_source = {
    .name = "mqtt", .waits = true, .open = open_broker, .run = run, .close = close_broker};

#else

static od_status refuse(const od_twin_source *settings, void **self, od_error *err) {
  *self = NULL;
  return od_fail(err, OD_BAD_INPUT,
                 "%s: this oleodyn-twin was built without MQTT; install libmosquitto-dev and build it again",
                 settings->name);
}

const od_source_class od_mqtt_source = {.name = "mqtt", .open = refuse};
#endif
