#include "twin/load_sources.h"

#include <string.h>

#include "document/document.h"
#include "document/quantities.h"
#include "twin/load_registers.h"

static const od_key keys[] = {
    {"type", OD_CHOICE, "stdin|udp|mqtt|sparkplug|modbus|can",
     "`stdin`: a line of standard input is a message; the source ends with the input. `udp`: a datagram is a message. "
     "`mqtt`: messages of a topic, with QoS 1 and a persistent session. `sparkplug`: metrics of Sparkplug B. `modbus`: "
     "registers of a Modbus/TCP server are read periodically. `can`: a frame, or a message of several frames, is a message",
     .fallback = OD_REQUIRED},
    {"format", OD_CHOICE, "csv|json", "form of a message: a CSV line, or a JSON object with numbers and dates"},
    {"columns", OD_TEXTS, NULL,
     "names of the columns, with units as in `P [bar]`; with `format: json` the keys of the numbers; with `sparkplug` "
     "the metrics; with `can` the signals, as `Message.Signal`",
     .otherwise =
         "the first message of `stdin` and `mqtt`; all metrics of the first birth of `sparkplug`; all signals of `can`; required with `udp`"},
    {"sequence", OD_TEXT, NULL, "column of a sequence number that increases by 1 with each message",
     .otherwise = "none: missing messages are not counted"},
    {"address", OD_TEXT, NULL, "address on which datagrams are received (`udp`)", .otherwise = "127.0.0.1"},
    {"port",
     OD_WHOLE,
     "1",
     "port on which datagrams are received (`udp`), port of the broker (`mqtt`, `sparkplug`) or of the server (`modbus`)",
     OD_POSITIVE,
     1883,
     {1, 65535},
     "1883 with `mqtt` and `sparkplug`, 502 with `modbus`, required with `udp`"},
    {"host", OD_TEXT, NULL, "host of the broker (`mqtt`, `sparkplug`) or of the server (`modbus`)",
     .otherwise = "localhost"},
    OD_TWIN_SESSION_KEYS,
    {"topic", OD_TEXT, NULL, "topic of the messages (`mqtt`); may contain wildcards",
     .otherwise = "required with `mqtt`"},
    {"group", OD_TEXT, NULL, "group of the edge node (`sparkplug`)", .otherwise = "required with `sparkplug`"},
    {"node", OD_TEXT, NULL, "edge node (`sparkplug`)", .otherwise = "required with `sparkplug`"},
    {"device", OD_TEXT, NULL, "device of the node whose metrics are the columns (`sparkplug`)",
     .otherwise = "none: the metrics of the node"},
    {"rebirth", OD_FLAG, NULL, "whether births are requested from the node when they are needed (`sparkplug`)",
     .fallback = 1},
    {"registers", OD_SECTION_MAP, NULL, "registers of the server, by the names of their columns (`modbus`)",
     .otherwise = "required with `modbus`", .inside = &od_twin_register_section},
    {"every", OD_NUMBER, "s", "time between two reads of all registers (`modbus`)", OD_POSITIVE, 0.1,
     OD_LIMITS(1e-3, 3600, 1e-2, 60)},
    {"timeout", OD_NUMBER, "s", "longest time that an answer of the server may take (`modbus`)", OD_POSITIVE, 0.5,
     OD_LIMITS(1e-2, 10, 0.05, 5)},
    {"unit_id", OD_WHOLE, "1", "number of the unit behind the server (`modbus`)", OD_NOT_NEGATIVE, 1, {0, 255}},
    {"interface", OD_TEXT, NULL, "network interface, such as can0 (`can`)", .otherwise = "required with `can`"},
    {"databases", OD_TEXTS, NULL, "DBC files with the messages of the bus (`can`); paths relative to this file",
     .otherwise = "required with `can`"},
};
const od_section_class od_twin_source_section = {"twin source", "source of samples", OD_KEYS(keys)};

const char **od_twin_read_texts(od_loader *ld, od_arena *memory, int node, const char *label, const char *wanted) {
  if (node < 0) return NULL;
  const int count = od_is_list(ld, node) ? od_list_count(ld, node) : 1;
  const char **list = OD_TAKE(memory, const char *, count + 1);
  if (!list) return NULL;
  if (!od_is_list(ld, node)) {
    list[0] = od_read_text(ld, node, label, wanted);
    return list[0] ? list : NULL;
  }
  int n = 0;
  for (int at = od_list_first(ld, node); at >= 0; at = ld->tree.node[at].next) {
    const char *text = od_read_text(ld, od_entry(ld, at), label, wanted);
    if (text) list[n++] = text;
  }
  return n > 0 ? list : NULL;
}

static const char *read_host(od_loader *ld, const od_section *section) {
  const char *host = od_key_text(ld, section, "host", "the name of a host");
  return host ? host : "localhost";
}

void od_twin_read_broker(od_loader *ld, const od_section *section, const char *name, od_twin_broker *b) {
  b->host = read_host(ld, section);
  b->port = (int)od_key_whole(ld, section, "port");
  b->topic = od_key_text(ld, section, "topic", "a topic");
  b->client = od_key_text(ld, section, "client", "a name");
  if (!b->client) b->client = od_format(ld, "oleodyn-%s", name);
  b->user = od_key_text(ld, section, "user", "a name");
  b->password_file = od_key_path(ld, section, "password_file");
  b->ca_file = od_key_path(ld, section, "ca_file");
}

// Reports the keys of other types.
static void check_keys(od_loader *ld, const od_section *section, od_source_type type) {
  enum {
    STDIN = 1 << OD_SOURCE_STDIN,
    UDP = 1 << OD_SOURCE_UDP,
    MQTT = 1 << OD_SOURCE_MQTT,
    SPARKPLUG = 1 << OD_SOURCE_SPARKPLUG,
    MODBUS = 1 << OD_SOURCE_MODBUS,
    CAN = 1 << OD_SOURCE_CAN,
    BROKER = MQTT | SPARKPLUG,
    TEXTS = STDIN | UDP | MQTT  // sources whose messages are texts
  };
  static const struct {
    const char *key;
    unsigned types;
  } of[] = {{"format", TEXTS},     {"sequence", TEXTS},       {"columns", TEXTS | SPARKPLUG | CAN},
            {"address", UDP},      {"host", BROKER | MODBUS}, {"port", UDP | BROKER | MODBUS},
            {"client", BROKER},    {"user", BROKER},          {"password_file", BROKER},
            {"ca_file", BROKER},   {"topic", MQTT},           {"group", SPARKPLUG},
            {"node", SPARKPLUG},   {"device", SPARKPLUG},     {"rebirth", SPARKPLUG},
            {"registers", MODBUS}, {"every", MODBUS},         {"timeout", MODBUS},
            {"unit_id", MODBUS},   {"interface", CAN},        {"databases", CAN}};
  int length;
  const char *name = od_key_word(od_key_of(&od_twin_source_section, "type"), (int)type, &length);
  for (size_t i = 0; i < sizeof of / sizeof *of; i++) {
    const int node = od_section_get(ld, section, of[i].key);
    if (node >= 0 && !(of[i].types & 1u << type))
      od_complain(ld, node, "sources of the type '%.*s' have no '%s'; remove the key", length, name, of[i].key);
  }
}

// Reads the interface and the databases of a CAN bus.
static void read_bus(od_loader *ld, od_arena *memory, const od_section *section, od_twin_source *s) {
  const int node = od_section_get(ld, section, "databases");
  s->interface = od_key_text(ld, section, "interface", "the name of a network interface");
  s->database = od_twin_read_texts(ld, memory, node, "databases", "paths of DBC files");
  if (!s->interface) od_section_lacks(ld, section, "interface");
  if (!s->database) od_section_lacks(ld, section, "databases");
  for (int i = 0; s->database && s->database[i]; i++) s->database[i] = od_document_beside(ld, node, s->database[i]);
}

// Reads a part of the topics of Sparkplug.
static const char *read_part(od_loader *ld, const od_section *section, const char *key) {
  enum { LONGEST = 200 };
  const int node = od_section_get(ld, section, key);
  const char *text = od_read_text(ld, node, key, "a name");
  if (text && (text[0] == '\0' || text[strcspn(text, "+#/")] || strlen(text) > LONGEST)) {
    od_complain(ld, node, "%s is '%s'; expected a name of at most %d bytes without the characters + # /", key,
                od_excerpt(ld, text), LONGEST);
    return NULL;
  }
  return text;
}

static void read_node(od_loader *ld, const od_section *section, od_twin_source *s) {
  od_twin_read_broker(ld, section, s->name, &s->broker);
  s->group = read_part(ld, section, "group");
  s->node = read_part(ld, section, "node");
  s->device = read_part(ld, section, "device");
  s->rebirth = od_read_flag(ld, section, "rebirth");
  if (od_section_get(ld, section, "group") < 0) od_section_lacks(ld, section, "group");
  if (od_section_get(ld, section, "node") < 0) od_section_lacks(ld, section, "node");
}

static void read_modbus(od_loader *ld, od_arena *memory, const od_section *section, od_twin_source *s) {
  s->host = read_host(ld, section);
  s->port = od_section_get(ld, section, "port") < 0 ? 502 : (int)od_key_whole(ld, section, "port");
  s->every = od_key_value(ld, section, "every");
  s->timeout = od_key_value(ld, section, "timeout");
  s->unit_id = (int)od_key_whole(ld, section, "unit_id");
  if (od_section_get(ld, section, "registers") < 0) od_section_lacks(ld, section, "registers");
  od_twin_read_registers(ld, s, od_section_get(ld, section, "registers"), memory);
}

void od_twin_read_source(od_loader *ld, od_twin *t, int key) {
  od_twin_source *s = &t->source[t->sources++];
  s->name = od_text_of(ld, key);
  od_section section =
      od_section_open(ld, od_value(ld, key), key, od_format(ld, "sources.%s", s->name),
                      od_format(ld, "the source '%s'", od_excerpt(ld, s->name)), &od_twin_source_section);
  if (section.map < 0) return;
  const int type = od_key_choice(ld, &section, "type");
  s->type = type < 0 ? OD_SOURCE_UDP : (od_source_type)type;
  s->form = (od_message_form)od_key_setting(ld, &section, "format");
  s->column =
      od_twin_read_texts(ld, &t->memory, od_section_get(ld, &section, "columns"), "columns", "names of columns");
  s->sequence = od_key_text(ld, &section, "sequence", "the name of a column");
  s->address = od_key_text(ld, &section, "address", "an address");
  if (type < 0) return;
  check_keys(ld, &section, s->type);
  if (type == OD_SOURCE_UDP) {
    if (od_section_get(ld, &section, "port") < 0) od_section_lacks(ld, &section, "port");
    if (!s->column) od_section_lacks(ld, &section, "columns");
    s->port = (int)od_key_whole(ld, &section, "port");
  }
  if (type == OD_SOURCE_MQTT) {
    od_twin_read_broker(ld, &section, s->name, &s->broker);
    if (!s->broker.topic) od_section_lacks(ld, &section, "topic");
  }
  if (type == OD_SOURCE_SPARKPLUG) read_node(ld, &section, s);
  if (type == OD_SOURCE_MODBUS) read_modbus(ld, &t->memory, &section, s);
  if (type == OD_SOURCE_CAN) read_bus(ld, &t->memory, &section, s);
  if (!s->address) s->address = "127.0.0.1";
  for (int i = 0; type == OD_SOURCE_STDIN && i + 1 < t->sources; i++)
    if (t->source[i].type == OD_SOURCE_STDIN)
      od_complain(ld, key, "'%s' also reads standard input; expected one source of the type stdin",
                  od_excerpt(ld, t->source[i].name));
}
