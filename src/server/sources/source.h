// Sources of messages, one file for each type. A source runs in its own thread and calls its receiver for each message.
#ifndef OD_SOURCES_SOURCE_H
#define OD_SOURCES_SOURCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "io/table.h"
#include "oleodyn/status.h"
#include "twin/twin.h"

// The receiver of the messages of a source: functions for texts, cells, numbers of messages, events, refused messages and silence.
typedef struct od_receiver {
  void (*message)(void *user, const char *text, size_t length);
  // A sample whose columns are those of `head`. is_historical: the sender kept the sample while it had no connection.
  void (*cells)(void *user, const od_table *head, const double *cells, bool is_historical);
  // Message `number` of the sender has arrived, and its samples have been passed on; lower numbers that have not arrived are missing. -1: the next
  // number begins a new sequence.
  void (*number)(void *user, int64_t number);
  void (*event)(void *user, const char *kind, const char *text);  // an event of the machines of the source
  void (*refuse)(void *user, const char *why);  // a message cannot be passed on, or the connection is lost
  void (*silence)(void *user);                  // nothing arrived for about 50 ms
  bool (*goes_on)(
      void *user);  // false: the source ends; called at least every 0.1 s, except while the source waits for a server
  void *user;
} od_receiver;

typedef struct od_source_class {
  const char *name;  // word of the key 'type'
  bool waits;        // whether messages are not lost if the receiver is slow
  bool gives_cells;  // whether the source calls od_receiver.cells() and has no texts
  // Opens the source; *self receives its data. The settings must exist until close(). Fails with OD_BAD_INPUT, OD_IO or OD_NO_MEMORY; *self is NULL
  // then.
  od_status (*open)(const od_twin_source *settings, void **self, od_error *err);
  // Receives messages until the source ends. Returns OD_OK, or the status of the failure.
  od_status (*run)(void *self, const od_receiver *to, od_error *err);
  void (*close)(void *self);
} od_source_class;

enum { OD_SILENCE_MS = 50 };

// Fails with OD_BAD_INPUT: this program was built without a library that the source needs. library: its name, such as "MQTT"; package: the package of
// Debian with the library.
od_status od_source_lacks(const od_twin_source *settings, const char *library, const char *package, od_error *err);
// od_source_class.open() of sources that need MQTT, in a program without MQTT: fails with OD_BAD_INPUT.
od_status od_source_needs_mqtt(const od_twin_source *settings, void **self, od_error *err);
// Waits about `ms` milliseconds, or until goes_on() returns false, and calls silence() every 50 ms.
void od_source_pause(int ms, const od_receiver *to);
// Returns the class of a type.
const od_source_class *od_source_class_of(od_source_type type);
extern const od_source_class od_stdin_source, od_udp_source, od_mqtt_source, od_can_source_class, od_sparkplug_source,
    od_modbus_source;

#endif
