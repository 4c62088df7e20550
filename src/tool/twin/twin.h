// A twin file: machines in operation with their observers, the sources of their samples, the history, and the outputs. The
// structure holds the checked contents of the file with all experiments loaded. docs/twin.md is the reference.
#ifndef OD_TWIN_TWIN_H
#define OD_TWIN_TWIN_H

#include "document/loader.h"
#include "document/section.h"
#include "experiment/experiment.h"
#include "memory/scoped.h"

// Types of sources. src/server/sources has a file for each type.
typedef enum od_source_type {
  OD_SOURCE_STDIN,
  OD_SOURCE_UDP,
  OD_SOURCE_MQTT,
  OD_SOURCE_SPARKPLUG,
  OD_SOURCE_MODBUS,
  OD_SOURCE_CAN
} od_source_type;

// Form of a message of a source: a CSV line, or a JSON object with a number for each column.
typedef enum od_message_form { OD_MESSAGE_CSV, OD_MESSAGE_JSON } od_message_form;

// A connection to an MQTT broker.
typedef struct od_twin_broker {
  const char *host;  // NULL: no connection
  int port;
  const char *topic;                           // topic of a source; beginning of the topics of estimates
  const char *client;                          // name of the session
  const char *user, *password_file, *ca_file;  // NULL: none
} od_twin_broker;

// Tables of a Modbus server.
typedef enum od_register_kind {
  OD_REGISTER_HOLDING,
  OD_REGISTER_INPUT,
  OD_REGISTER_COIL,
  OD_REGISTER_DISCRETE
} od_register_kind;

// Returns whether the numbers of a table are bits.
static inline bool od_register_is_bit(od_register_kind kind) {
  return kind == OD_REGISTER_COIL || kind == OD_REGISTER_DISCRETE;
}

// Number in one, two or four registers of 16 bits.
typedef enum od_register_type {
  OD_REGISTER_UINT16,
  OD_REGISTER_INT16,
  OD_REGISTER_UINT32,
  OD_REGISTER_INT32,
  OD_REGISTER_UINT64,
  OD_REGISTER_INT64,
  OD_REGISTER_FLOAT32,
  OD_REGISTER_FLOAT64
} od_register_type;

// A column of a Modbus source: scale * number + offset.
typedef struct od_twin_register {
  const char *name, *unit;
  od_register_kind kind;
  od_register_type type;
  int address, size;  // first register, from 0; number of registers
  bool is_little;     // whether the lowest register has the lowest 16 bits
  double scale, offset;
} od_twin_register;

typedef struct od_twin_source {
  const char *name;
  od_source_type type;
  od_message_form form;
  const char **
      column;  // names of the columns, with units as in "P [bar]"; ends with NULL; NULL: from the first message or birth; CAN: all signals
  const char *sequence;  // column of the sequence number; NULL: none
  const char *address;   // address on which messages are received (UDP)
  int port;
  od_twin_broker broker;              // MQTT
  const char *group, *node, *device;  // of Sparkplug; device NULL: the metrics of the node
  bool rebirth;                       // whether births are requested (Sparkplug)
  const char *host;                   // host of the server, with `port` (Modbus)
  double every, timeout;              // time between reads, longest time of an answer, s (Modbus)
  int unit_id;                        // unit behind the server (Modbus)
  od_twin_register *reg;
  int registers;
  const char *interface;  // interface, such as can0 (CAN)
  const char **database;  // paths of DBC files (CAN); ends with NULL
} od_twin_source;

// Bounds of an estimated output or parameter; NAN: none.
typedef struct od_twin_alarm {
  const char *name, *output, *unit;
  double above, below;
  double duration;  // time for which the estimate must be beyond a bound, s
} od_twin_alarm;

typedef struct od_twin_machine {
  const char *name;
  const char *file;  // path of the experiment file
  od_experiment *e;  // the experiment, whose data are a stream
  int source;        // index of the source
  double wait;       // time for which a sample is held back so that late samples can be sorted in, s
  int queue;         // largest number of samples that wait for the observer
  od_twin_alarm *alarm;
  int alarms;
} od_twin_machine;

// The history (docs/twin.md). The age of a sample is the time from this sample to the newest sample of the machine.
typedef struct od_twin_history {
  const char *file;  // path of an SQLite database; NULL: none
  const char *
      url;  // URL of a database on a server, without a password; NULL: none. Without `file` and `url` there is no history
  const char *password_file;  // file with the password of the database in its first line; NULL: none
  double write;               // time between transactions, s
  double checkpoint;          // time between checkpoints of an observer, s
  double rows_for;            // age at which rows are removed, s
  double keep;                // age at which buckets and estimates are removed, s
  double size;                // largest size of the used part of the file, or of the data on a server, bytes
} od_twin_history;

// The rights of a reader of the page: nothing, read, or also acknowledge alarms.
typedef enum od_page_role { OD_ROLE_NONE, OD_ROLE_READ, OD_ROLE_ACT } od_page_role;

// A secret with which readers log in. The file contains the token in its first line.
typedef struct od_page_token {
  const char *name, *file;
  od_page_role role;
} od_page_token;

// The page and the JSON API of the twin.
typedef struct od_twin_page {
  const char *address;  // numeric address; NULL: no page
  int port;
  bool is_loopback;                         // whether only programs on this computer reach the address
  const char **host;                        // further names of this computer; ends with NULL; NULL: none
  const char *certificate_file, *key_file;  // NULL: no TLS
  const char *client_ca_file;               // authority of the certificates of readers; NULL: none
  od_page_role client_role, local_role;     // roles of readers with a certificate, and of readers on this computer
  od_page_token *token;
  int tokens;
  int connections, streams, requests;  // limits: connections, live streams, requests per second of an address
  double frames;                       // time between stored frames of the moving machine, s
  double verdict;                      // length of the windows of time that are judged, s
} od_twin_page;

typedef struct od_twin {
  od_arena memory;
  od_document *file;
  const char *title;
  od_twin_source *source;
  int sources;
  od_twin_machine *machine;
  int machines;
  od_twin_history history;
  od_twin_broker broker;  // broker for estimates
  double publish_every;   // time between messages with estimates of a machine, s
  bool discovery;         // whether messages for the discovery of the estimates by dashboards are published
  const char *metrics;    // path of the file with metrics; NULL: none
  double metrics_every;   // time between updates of this file, s
  od_twin_page page;
} od_twin;

extern const od_section_class od_twin_section;

// Loads a twin file and all its experiments. Fails with OD_BAD_INPUT, OD_IO or OD_NO_MEMORY, and messages about all errors.
od_status od_twin_load(const char *path, od_content content, od_twin **out, od_messages *messages);
void od_twin_free(od_twin *twin);
OD_OWNED_POINTER(od_twin, od_twin_free);

#endif
