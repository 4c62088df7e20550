// The state of an edge node of Sparkplug B: births, aliases, deaths and sequence numbers. The metrics of the node, or of one of its devices,
// become samples. The rules are in docs/twin.md.
#ifndef OD_SOURCES_SPARKPLUG_NODE_H
#define OD_SOURCES_SPARKPLUG_NODE_H

#include "sources/source.h"

typedef struct od_sparkplug_node od_sparkplug_node;

// Creates the state for the group, node, device and columns of the settings, without births. Fails with OD_BAD_INPUT or OD_NO_MEMORY.
od_status od_sparkplug_node_new(const od_twin_source *settings, od_sparkplug_node **out, od_error *err);
void od_sparkplug_node_free(od_sparkplug_node *n);
// Call when a connection to the broker begins. Earlier births are not valid any more, and new births are wanted. now: time of od_seconds(), s.
void od_sparkplug_node_connect(od_sparkplug_node *n, double now);
// Takes a message of a topic, and passes samples, numbers, events and refusals to the receiver. Messages of other nodes, commands and states have no
// effect.
void od_sparkplug_node_take(od_sparkplug_node *n, const char *topic, const void *payload, size_t size, double now,
                            const od_receiver *to);
// Returns the reason for which the caller requests new births now; NULL: no request. Two requests are at least 5 s apart.
const char *od_sparkplug_node_asks(od_sparkplug_node *n, double now);

#endif
