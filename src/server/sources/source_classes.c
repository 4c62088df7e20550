// The table of all types of sources.
#include "sources/source.h"

#include <time.h>

static const od_source_class *const classes[] = {
    [OD_SOURCE_STDIN] = &od_stdin_source,   [OD_SOURCE_UDP] = &od_udp_source,
    [OD_SOURCE_MQTT] = &od_mqtt_source,     [OD_SOURCE_SPARKPLUG] = &od_sparkplug_source,
    [OD_SOURCE_MODBUS] = &od_modbus_source, [OD_SOURCE_CAN] = &od_can_source_class};

const od_source_class *od_source_class_of(od_source_type type) {
  return classes[type];
}

void od_source_pause(int ms, const od_receiver *to) {
  for (int waited = 0; waited < ms && to->goes_on(to->user); waited += OD_SILENCE_MS) {
    nanosleep(&(struct timespec){.tv_nsec = 1000000L * OD_SILENCE_MS}, NULL);
    to->silence(to->user);
  }
}

od_status od_source_lacks(const od_twin_source *settings, const char *library, const char *package, od_error *err) {
  return od_fail(err, OD_BAD_INPUT, "%s: this oleodyn-twin was built without %s; install %s and build it again",
                 settings->name, library, package);
}

od_status od_source_needs_mqtt(const od_twin_source *settings, void **self, od_error *err) {
  *self = NULL;
  return od_source_lacks(settings, "MQTT", "libmosquitto-dev", err);
}
