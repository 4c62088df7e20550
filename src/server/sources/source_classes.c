// The table of all types of sources.
#include "sources/source.h"

static const od_source_class *const classes[] = {[OD_SOURCE_STDIN] = &od_stdin_source,
                                                 [OD_SOURCE_UDP] = &od_udp_source,
                                                 [OD_SOURCE_MQTT] = &od_mqtt_source,
                                                 [OD_SOURCE_CAN] = &od_can_source_class};

const od_source_class *od_source_class_of(od_source_type type) {
  return classes[type];
}
