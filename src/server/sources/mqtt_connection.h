// Connections to an MQTT broker by libmosquitto: TCP without delay, password from a file, TLS, sessions that the broker keeps.
#ifndef OD_SOURCES_MQTT_CONNECTION_H
#define OD_SOURCES_MQTT_CONNECTION_H

#include <mosquitto.h>
#include <stdbool.h>

#include "oleodyn/status.h"
#include "twin/twin.h"

// Creates a client with the settings, without a connection. keeps: whether the broker keeps the session while there is no connection. user: first
// argument of the callbacks of libmosquitto after the client. Fails with OD_BAD_INPUT, OD_IO or OD_NO_MEMORY. Free the client with od_mqtt_free().
od_status od_mqtt_new(const od_twin_broker *broker, bool keeps, void *user, struct mosquitto **out, od_error *err);
void od_mqtt_free(struct mosquitto *m);

#endif
