// Payloads of Sparkplug B 3.0: messages in the wire format of protocol buffers with a time, metrics, a sequence number, a text and a body. The
// reader allocates nothing; names and texts are parts of the payload.
#ifndef OD_SOURCES_SPARKPLUG_PAYLOAD_H
#define OD_SOURCES_SPARKPLUG_PAYLOAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "oleodyn/status.h"

enum {
  OD_SPARKPLUG_LONGEST = 4 << 20,
  OD_SPARKPLUG_METRICS = 65536
};  // largest size of a payload, bytes; its largest number of metrics

// Bytes of the payload. at NULL: the field is absent.
typedef struct od_sparkplug_bytes {
  const uint8_t *at;
  size_t length;
} od_sparkplug_bytes;

// The field of a metric that has its value.
typedef enum od_sparkplug_field {
  OD_SPARKPLUG_NO_VALUE,
  OD_SPARKPLUG_INT,
  OD_SPARKPLUG_LONG,
  OD_SPARKPLUG_FLOAT,
  OD_SPARKPLUG_DOUBLE,
  OD_SPARKPLUG_BOOLEAN,
  OD_SPARKPLUG_STRING,
  OD_SPARKPLUG_OTHER  // bytes, data sets, templates
} od_sparkplug_field;

typedef struct od_sparkplug_metric {
  od_sparkplug_bytes name, string;
  bool has_alias, has_time, is_historical, is_transient, is_null;
  uint64_t alias, time;  // time: ms since 1970
  uint32_t type;         // data type as in the standard; 0: absent
  od_sparkplug_field field;
  uint64_t whole;  // value of INT, LONG, BOOLEAN
  double real;     // value of FLOAT, DOUBLE
} od_sparkplug_metric;

typedef struct od_sparkplug_payload {
  bool has_time, has_sequence;
  uint64_t time, sequence;  // time: ms since 1970
  od_sparkplug_bytes uuid, body;
  int metrics;
  const uint8_t *at, *end;  // place of od_sparkplug_next()
} od_sparkplug_payload;

// Reads and checks a payload with all its metrics. Unknown fields are skipped; if a field occurs twice, the last one counts. *out refers to the data.
// Fails with OD_BAD_INPUT.
od_status od_sparkplug_read(const void *data, size_t size, od_sparkplug_payload *out, od_error *err);
// Reads the next metric of a checked payload. Returns false after the last one.
bool od_sparkplug_next(od_sparkplug_payload *p, od_sparkplug_metric *out);

// Returns whether values of a data type are numbers: integers, floating-point numbers, booleans, times.
bool od_sparkplug_is_number(uint32_t type);
// Returns the value of a metric as a number; NAN: the metric has no number. type: the data type of the metric; 0: unknown.
double od_sparkplug_number(const od_sparkplug_metric *m, uint32_t type);

// Writes the payload of the command that requests new births: the metric "Node Control/Rebirth" with the value true. time: ms since 1970. Returns the
// size of the payload, bytes.
enum { OD_SPARKPLUG_COMMAND = 64 };
size_t od_sparkplug_rebirth(uint64_t time, uint8_t out[OD_SPARKPLUG_COMMAND]);

#endif
