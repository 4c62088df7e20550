// Loads a twin file: its sources, machines with their experiments, history and outputs. Messages about an experiment file follow the
// messages about the twin file.
#include <math.h>
#include <string.h>

#include "base/allocate.h"
#include "document/document.h"
#include "document/file_kind.h"
#include "document/quantities.h"
#include "document/suggest.h"
#include "experiment/live_source.h"
#include "memory/owned.h"
#include "twin/load_alarms.h"
#include "twin/load_page.h"
#include "twin/twin.h"

// --- Tables -------------------------------------------------------------------------------------------------------

// Keys of a connection to an MQTT broker.
#define BROKER_KEYS                                                                                              \
  {"host", OD_TEXT, NULL, "host of the broker", .otherwise = "localhost"},                                       \
      {"client", OD_TEXT, NULL, "name of the session at the broker, unique among all clients",                   \
       .otherwise = "from the names in this file"},                                                              \
      {"user", OD_TEXT, NULL, "user name at the broker", .otherwise = "none"},                                   \
      {"password_file", OD_TEXT, NULL, "file with the password in its first line; path relative to this file",   \
       .otherwise = "none"},                                                                                     \
  {                                                                                                              \
    "ca_file", OD_TEXT, NULL, "certificate of the authority of the broker, for TLS; path relative to this file", \
        .otherwise = "no TLS"                                                                                    \
  }

static const od_key source_keys[] = {
    {"type", OD_CHOICE, "stdin|udp|mqtt|can",
     "`stdin`: a line of standard input is a message; the source ends with the input. `udp`: a datagram is a message. "
     "`mqtt`: messages of a topic, with QoS 1 and a persistent session. `can`: a frame is a message",
     .fallback = OD_REQUIRED},
    {"format", OD_CHOICE, "csv|json", "form of a message: a CSV line, or a JSON object with numbers"},
    {"columns", OD_TEXTS, NULL,
     "names of the columns, with units as in `P [bar]`; with `format: json` the keys of the numbers; with `can` the signals, as `Message.Signal`",
     .otherwise = "the first message of `stdin` and `mqtt`; all signals of `can`; required with `udp`"},
    {"sequence", OD_TEXT, NULL, "column of a sequence number that increases by 1 with each message",
     .otherwise = "none: missing messages are not counted"},
    {"address", OD_TEXT, NULL, "address on which datagrams are received (`udp`)", .otherwise = "127.0.0.1"},
    {"port",
     OD_WHOLE,
     "1",
     "port on which datagrams are received (`udp`), or port of the broker (`mqtt`)",
     OD_POSITIVE,
     1883,
     {1, 65535},
     "1883 with `mqtt`, required with `udp`"},
    BROKER_KEYS,
    {"topic", OD_TEXT, NULL, "topic of the messages (`mqtt`); may contain wildcards",
     .otherwise = "required with `mqtt`"},
    {"interface", OD_TEXT, NULL, "network interface, such as can0 (`can`)", .otherwise = "required with `can`"},
    {"databases", OD_TEXTS, NULL, "DBC files with the messages of the bus (`can`); paths relative to this file",
     .otherwise = "required with `can`"},
};
static const od_section_class source_section = {"twin source", "source of samples", OD_KEYS(source_keys)};

static const od_key machine_keys[] = {
    {"experiment", OD_TEXT, NULL, "experiment file with machine, sensors and observer; path relative to this file",
     .fallback = OD_REQUIRED},
    {"variant", OD_TEXT, NULL, "variant of the experiment"},
    {"source", OD_TEXT, NULL, "name of the source of the samples", .otherwise = "the only source"},
    {"map", OD_TEXTS, NULL,
     "columns of sensors and inputs as `NAME=COLUMN` or `NAME=COLUMN:UNIT`; they replace those of the experiment's section `data`"},
    {"wait", OD_NUMBER, "s",
     "time for which a sample is held back so that samples that arrive later can be sorted in before it",
     OD_NOT_NEGATIVE, 0, OD_LIMITS(0, 3600, 0, 10)},
    {"queue", OD_WHOLE, "1", "largest number of samples that wait for the observer", OD_POSITIVE, 8192, {1, 10000000}},
    {"alarms", OD_SECTION_MAP, NULL, "bounds of estimates, by the name of the alarm", .otherwise = "none",
     .inside = &od_twin_alarm_section},
};
static const od_section_class machine_section = {"twin machine", "machine in operation", OD_KEYS(machine_keys)};

static const od_key history_keys[] = {
    {"file", OD_TEXT, NULL, "SQLite database; path relative to this file", .otherwise = "required without `url`"},
    {"url", OD_TEXT, NULL, "database on a server, as `postgresql://USER@HOST/DATABASE`, in place of `file`",
     .otherwise = "none"},
    {"password_file", OD_TEXT, NULL,
     "file with the password of the database in its first line; path relative to this file. Only its owner may read the file",
     .otherwise = "none"},
    {"write", OD_NUMBER, "s", "time between transactions", OD_POSITIVE, 0.5, OD_LIMITS(0.01, 60, 0.05, 10)},
    {"checkpoint", OD_NUMBER, "s", "time between checkpoints of an observer", OD_POSITIVE, 10,
     OD_LIMITS(0.01, 60, 0.5, 60)},
    {"rows", OD_NUMBER, "s", "age at which rows of samples are removed", OD_POSITIVE, 86400,
     OD_LIMITS(1, 1e10, 60, 3.2e9)},
    {"keep", OD_NUMBER, "s", "age at which all other data are removed", OD_POSITIVE, 1e9,
     OD_LIMITS(1, 1e10, 60, 3.2e9)},
    {"size", OD_NUMBER, "1", "largest size of the used part of the database, in MB (1e6 bytes)", OD_POSITIVE, 10000,
     OD_LIMITS(1, 1e8, 10, 1e7)},
};
static const od_section_class history_section = {"twin history", "history of all machines", OD_KEYS(history_keys)};

static const od_key publish_keys[] = {
    BROKER_KEYS,
    {"port", OD_WHOLE, "1", "port of the broker", OD_POSITIVE, 1883, {1, 65535}},
    {"topic", OD_TEXT, NULL, "beginning of all topics", .otherwise = "oleodyn"},
    {"every", OD_NUMBER, "s", "time between messages of a machine", OD_POSITIVE, 1, OD_LIMITS(0.1, 3600, 0.5, 60)},
    {"discovery", OD_FLAG, NULL, "whether the estimates are announced to dashboards, in the format of Home Assistant"},
};
static const od_section_class publish_section = {"twin mqtt", "estimates as MQTT messages", OD_KEYS(publish_keys)};

static const od_key output_keys[] = {
    {"metrics", OD_TEXT, NULL, "file with metrics in the text format of Prometheus; path relative to this file",
     .otherwise = "none"},
    {"mqtt", OD_SECTION, NULL, "broker to which estimates are published", .otherwise = "none",
     .inside = &publish_section},
    {"every", OD_NUMBER, "s", "time between updates of the file with metrics", OD_POSITIVE, 1,
     OD_LIMITS(0.1, 3600, 0.5, 60)},
};
static const od_section_class output_section = {"twin outputs", "outputs", OD_KEYS(output_keys)};

static const od_key file_keys[] = {
    {"twin", OD_TEXT, NULL, "title", .otherwise = "the name of the file"},
    {"include", OD_TEXTS, NULL, "files over which this file is merged; paths are relative to this file"},
    {"sources", OD_SECTION_MAP, NULL, "sources of samples", .fallback = OD_REQUIRED, .inside = &source_section},
    {"machines", OD_SECTION_MAP, NULL, "machines in operation", .fallback = OD_REQUIRED, .inside = &machine_section},
    {"history", OD_SECTION, NULL, "history in a database", .otherwise = "none", .inside = &history_section},
    {"outputs", OD_SECTION, NULL, "outputs for other programs", .otherwise = "none", .inside = &output_section},
    {"page", OD_SECTION, NULL, "page for browsers, and JSON API", .otherwise = "none", .inside = &od_twin_page_section},
};
const od_section_class od_twin_section = {"twin", "twin file", OD_KEYS(file_keys)};

typedef struct twin_loader {
  od_loader ld;
  od_twin *twin;
  od_messages *foreign;
} twin_loader;

// --- Sources ------------------------------------------------------------------------------------------------------

// Reads a text or a list of texts. Returns a list that ends with NULL, or NULL if there are none.
static const char **read_texts(twin_loader *tl, int node, const char *label, const char *wanted) {
  od_loader *ld = &tl->ld;
  if (node < 0) return NULL;
  const int count = od_is_list(ld, node) ? od_list_count(ld, node) : 1;
  const char **list = OD_TAKE(&tl->twin->memory, const char *, count + 1);
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

// Returns the path of a file that a key names; NULL: none.
static const char *read_path(twin_loader *tl, const od_section *section, const char *key) {
  const int node = od_section_get(&tl->ld, section, key);
  const char *name = od_read_text(&tl->ld, node, key, "the path of a file");
  return name ? od_document_beside(&tl->ld, node, name) : NULL;
}

// Reads the connection to a broker. name: part of the name of the session.
static void read_broker(twin_loader *tl, const od_section *section, const char *name, od_twin_broker *b) {
  od_loader *ld = &tl->ld;
  b->host = od_key_text(ld, section, "host", "the name of a host");
  if (!b->host) b->host = "localhost";
  b->port = (int)od_key_whole(ld, section, "port");
  b->topic = od_key_text(ld, section, "topic", "a topic");
  b->client = od_key_text(ld, section, "client", "a name");
  if (!b->client) b->client = od_format(ld, "oleodyn-%s", name);
  b->user = od_key_text(ld, section, "user", "a name");
  b->password_file = read_path(tl, section, "password_file");
  b->ca_file = read_path(tl, section, "ca_file");
}

// Reports the keys of other types.
static void check_keys(twin_loader *tl, const od_section *section, od_source_type type) {
  static const struct {
    const char *key;
    unsigned types;
  } of[] = {{"address", 1u << OD_SOURCE_UDP},        {"port", 1u << OD_SOURCE_UDP | 1u << OD_SOURCE_MQTT},
            {"host", 1u << OD_SOURCE_MQTT},          {"client", 1u << OD_SOURCE_MQTT},
            {"user", 1u << OD_SOURCE_MQTT},          {"topic", 1u << OD_SOURCE_MQTT},
            {"password_file", 1u << OD_SOURCE_MQTT}, {"ca_file", 1u << OD_SOURCE_MQTT},
            {"interface", 1u << OD_SOURCE_CAN},      {"databases", 1u << OD_SOURCE_CAN},
            {"format", ~(1u << OD_SOURCE_CAN)},      {"sequence", ~(1u << OD_SOURCE_CAN)}};
  static const char *const names[] = {"stdin", "udp", "mqtt", "can"};
  for (size_t i = 0; i < sizeof of / sizeof *of; i++) {
    const int node = od_section_get(&tl->ld, section, of[i].key);
    if (node >= 0 && !(of[i].types & 1u << type))
      od_complain(&tl->ld, node, "sources of the type '%s' have no '%s'; remove the key", names[type], of[i].key);
  }
}

// Reads the interface and the databases of a CAN bus.
static void read_bus(twin_loader *tl, const od_section *section, od_twin_source *s) {
  const int node = od_section_get(&tl->ld, section, "databases");
  s->interface = od_key_text(&tl->ld, section, "interface", "the name of a network interface");
  s->database = read_texts(tl, node, "databases", "paths of DBC files");
  if (!s->interface) od_section_lacks(&tl->ld, section, "interface");
  if (!s->database) od_section_lacks(&tl->ld, section, "databases");
  for (int i = 0; s->database && s->database[i]; i++)
    s->database[i] = od_document_beside(&tl->ld, node, s->database[i]);
}

static void read_source(twin_loader *tl, int key) {
  od_loader *ld = &tl->ld;
  od_twin_source *s = &tl->twin->source[tl->twin->sources++];
  s->name = od_text_of(ld, key);
  od_section section = od_section_open(ld, od_value(ld, key), key, od_format(ld, "sources.%s", s->name),
                                       od_format(ld, "the source '%s'", od_excerpt(ld, s->name)), &source_section);
  if (section.map < 0) return;
  const int type = od_key_choice(ld, &section, "type");
  s->type = type < 0 ? OD_SOURCE_UDP : (od_source_type)type;
  s->form = (od_message_form)od_key_setting(ld, &section, "format");
  s->column = read_texts(tl, od_section_get(ld, &section, "columns"), "columns", "names of columns");
  s->sequence = od_key_text(ld, &section, "sequence", "the name of a column");
  s->address = od_key_text(ld, &section, "address", "an address");
  if (type < 0) return;
  check_keys(tl, &section, s->type);
  if (type == OD_SOURCE_UDP) {
    if (od_section_get(ld, &section, "port") < 0) od_section_lacks(ld, &section, "port");
    if (!s->column) od_section_lacks(ld, &section, "columns");
    s->port = (int)od_key_whole(ld, &section, "port");
  }
  if (type == OD_SOURCE_MQTT) {
    read_broker(tl, &section, s->name, &s->broker);
    if (!s->broker.topic) od_section_lacks(ld, &section, "topic");
  }
  if (type == OD_SOURCE_CAN) read_bus(tl, &section, s);
  if (!s->address) s->address = "127.0.0.1";
  for (int i = 0; type == OD_SOURCE_STDIN && i + 1 < tl->twin->sources; i++)
    if (tl->twin->source[i].type == OD_SOURCE_STDIN)
      od_complain(ld, key, "'%s' also reads standard input; expected one source of the type stdin",
                  od_excerpt(ld, tl->twin->source[i].name));
}

// --- Machines -----------------------------------------------------------------------------------------------------

// Returns the index of the source that a machine names. Without a name, the file must have one source.
static int find_source(twin_loader *tl, const od_section *section) {
  od_loader *ld = &tl->ld;
  const od_twin *t = tl->twin;
  const int node = od_section_get(ld, section, "source");
  const char *name = od_read_text(ld, node, "source", "the name of a source");
  if (!name) {
    if (node < 0 && t->sources > 1) od_section_lacks(ld, section, "source");
    return 0;
  }
  od_nearest nearest = od_nearest_to(name);
  for (int i = 0; i < t->sources; i++) {
    if (strcmp(t->source[i].name, name) == 0) return i;
    od_nearest_try(&nearest, t->source[i].name);
  }
  od_complain(ld, node, "there is no source '%s'; expected one of the sources of this file%s", od_excerpt(ld, name),
              od_nearest_suggestion(&nearest).text);
  return 0;
}

// Loads the experiment of a machine. Its data are a stream.
static void load_experiment(twin_loader *tl, od_twin_machine *m, const char *variant, const char **map) {
  static const char *const stream[] = {"-"};
  od_experiment_options options = {.variant = variant, .log.data = {stream, 1}, .log.map.text = map};
  while (map && map[options.log.map.count]) options.log.map.count++;
  OD_OWNED(od_messages_free) od_messages *messages = od_messages_new();
  if (!messages || od_experiment_load(m->file, &options, &m->e, messages) == OD_NO_MEMORY) {
    tl->ld.no_memory = true;
    return;
  }
  od_messages_append(tl->foreign, messages);
  if (!m->e) return;
  od_error err = {0};
  if (od_stream_check(m->e, &err) != OD_OK) od_messages_add(tl->foreign, (od_place){.file = m->file}, "%s", err.text);
  if (m->e->data.interval > 0)
    od_messages_add(tl->foreign, (od_place){.file = m->file},
                    "the section 'data' has an 'interval'; the samples of a twin need a column with times");
}

static void read_machine(twin_loader *tl, int key) {
  od_loader *ld = &tl->ld;
  od_twin_machine *m = &tl->twin->machine[tl->twin->machines++];
  m->name = od_text_of(ld, key);
  od_names_check(ld, key);
  od_section section = od_section_open(ld, od_value(ld, key), key, od_format(ld, "machines.%s", m->name),
                                       od_format(ld, "the machine '%s'", od_excerpt(ld, m->name)), &machine_section);
  if (section.map < 0) return;
  m->source = find_source(tl, &section);
  m->wait = od_key_value(ld, &section, "wait");
  m->queue = (int)od_key_whole(ld, &section, "queue");
  const char **map = read_texts(tl, od_section_get(ld, &section, "map"), "map", "NAME=COLUMN or NAME=COLUMN:UNIT");
  const char *variant = od_key_text(ld, &section, "variant", "the name of a variant");
  const int file = od_section_need(ld, &section, "experiment");
  const char *name = od_read_text(ld, file, "experiment", "the path of an experiment file");
  if (!name) return;
  m->file = od_document_beside(ld, file, name);
  load_experiment(tl, m, variant, map);
  od_twin_read_alarms(ld, m, od_section_get(ld, &section, "alarms"), &tl->twin->memory);
}

// --- The file -----------------------------------------------------------------------------------------------------

// Checks the URL of a database: it has a scheme and no password.
static void check_url(od_loader *ld, int node, const char *url) {
  const char *rest = strstr(url, "://");
  if (!rest || rest == url) {
    od_complain(ld, node, "this is no URL; expected one such as postgresql://twin@localhost/yard");
    return;
  }
  rest += 3;
  const size_t authority = strcspn(rest, "/?#");
  const char *at = memchr(rest, '@', authority), *colon = at ? memchr(rest, ':', (size_t)(at - rest)) : NULL;
  if (colon || strstr(rest + authority, "password="))
    od_complain(ld, node,
                "the URL contains a password, which other users may read; remove it and give 'password_file'");
}

// Reads where the history is: in a file, or at a URL.
static void read_place(twin_loader *tl, const od_section *section) {
  od_loader *ld = &tl->ld;
  od_twin_history *h = &tl->twin->history;
  const int file = od_section_get(ld, section, "file"), url = od_section_get(ld, section, "url");
  const int password = od_section_get(ld, section, "password_file");
  const char *name = od_read_text(ld, file, "file", "the path of a database");
  h->url = od_read_text(ld, url, "url", "the URL of a database");
  h->password_file = read_path(tl, section, "password_file");
  if (h->url) check_url(ld, url, h->url);
  if (file < 0 && url < 0) od_section_lacks(ld, section, "file");
  if (file >= 0 && url >= 0) od_complain(ld, url, "the history has a 'file' and a 'url'; expected one of them");
  if (password >= 0 && url < 0) od_complain(ld, password, "'password_file' needs 'url'; remove the key");
  if (name) h->file = od_document_beside(ld, file, name);
}

static void read_history(twin_loader *tl, int node) {
  od_loader *ld = &tl->ld;
  od_twin_history *h = &tl->twin->history;
  if (node < 0) return;
  od_section section = od_section_open(ld, node, node, "history", "the section 'history'", &history_section);
  if (section.map < 0) return;
  read_place(tl, &section);
  const int first = od_read_keys(ld, &section, OD_IN_LOADER, "write", "checkpoint", "rows", "keep", "size", NULL);
  h->write = od_number_value(ld, first);
  h->checkpoint = od_number_value(ld, first + 1);
  h->rows_for = od_number_value(ld, first + 2);
  h->keep = od_number_value(ld, first + 3);
  h->size = 1e6 * od_number_value(ld, first + 4);
  if (h->rows_for > h->keep)
    od_complain_number(ld, first + 2, "'rows' is longer than 'keep'; expected at most the age of all data");
}

static void read_outputs(twin_loader *tl, int node) {
  od_loader *ld = &tl->ld;
  if (node < 0) return;
  od_section section = od_section_open(ld, node, node, "outputs", "the section 'outputs'", &output_section);
  if (section.map < 0) return;
  const int file = od_section_get(ld, &section, "metrics");
  const char *name = od_read_text(ld, file, "metrics", "the path of a file");
  tl->twin->metrics_every = od_key_value(ld, &section, "every");
  if (name) tl->twin->metrics = od_document_beside(ld, file, name);
  const int mqtt = od_section_get(ld, &section, "mqtt");
  if (mqtt < 0) return;
  od_section publish = od_section_open(ld, mqtt, mqtt, "outputs.mqtt", "the section 'mqtt'", &publish_section);
  if (publish.map < 0) return;
  read_broker(tl, &publish, "estimates", &tl->twin->broker);
  if (!tl->twin->broker.topic) tl->twin->broker.topic = "oleodyn";
  tl->twin->publish_every = od_key_value(ld, &publish, "every");
  tl->twin->discovery = od_read_flag(ld, &publish, "discovery");
}

static int entries(const od_loader *ld, int node) {
  return node >= 0 && ld->tree.node[node].kind == OD_TREE_MAP ? ld->tree.node[node].count : 0;
}

// Reads the entries of a map with at least one entry.
static void read_all(twin_loader *tl, int node, const char *what, void (*read)(twin_loader *tl, int key)) {
  od_loader *ld = &tl->ld;
  od_index seen = {0};  // in the memory of the loader
  for (int key = od_first(ld, node, what); key >= 0; key = od_next(ld, key))
    if (!od_seen_before(ld, &seen, key)) read(tl, key);
  if (node >= 0 && od_is_map(ld, node) && entries(ld, node) == 0)
    od_complain(ld, node, "found no entry; expected at least one of the %s", what);
}

static od_status read_file(void *user) {
  twin_loader *tl = user;
  od_loader *ld = &tl->ld;
  od_twin *t = tl->twin;
  if (od_is_other_kind(ld, OD_FILE_TWIN)) return OD_BAD_INPUT;
  od_section file = od_document_root(ld, "a twin", "'sources' and 'machines'", &od_twin_section);
  if (file.map < 0) return OD_BAD_INPUT;
  const char *title = od_read_text(ld, od_section_get(ld, &file, "twin"), "twin", "a title");
  t->title = title ? title : t->file->file;
  const int sources = od_section_need(ld, &file, "sources"), machines = od_section_need(ld, &file, "machines");
  t->source = OD_TAKE(&t->memory, od_twin_source, entries(ld, sources));
  t->machine = OD_TAKE(&t->memory, od_twin_machine, entries(ld, machines));
  if (od_arena_status(&t->memory) != OD_OK) return OD_NO_MEMORY;
  read_all(tl, sources, "sources", read_source);
  read_all(tl, machines, "machines", read_machine);
  read_history(tl, od_section_get(ld, &file, "history"));
  read_outputs(tl, od_section_get(ld, &file, "outputs"));
  od_twin_read_page(ld, t, od_section_get(ld, &file, "page"));
  if (od_lacks_memory(ld) || od_arena_status(&t->memory) != OD_OK) return OD_NO_MEMORY;
  return od_has_errors(ld) || od_messages_errors(tl->foreign) > 0 ? OD_BAD_INPUT : OD_OK;
}

od_status od_twin_load(const char *path, od_content content, od_twin **out, od_messages *messages) {
  OD_OWNED(od_twin_free) od_twin *t = od_calloc(1, sizeof *t);
  od_messages *foreign = od_messages_new();
  od_status status = OD_NO_MEMORY;
  const int first = od_messages_count(messages);
  *out = NULL;
  if (t && foreign) {
    twin_loader tl = {.twin = t, .foreign = foreign};
    tl.ld = od_document_start(path, content, messages);
    t->file = tl.ld.document;
    if (t->file) status = od_document_load(&tl.ld, NULL, 0, read_file, &tl);
  }
  od_document_end(messages, first, foreign, status, path);
  if (status == OD_OK) *out = OD_GIVE(t);
  return status;
}

void od_twin_free(od_twin *t) {
  if (!t) return;
  for (int i = 0; i < t->machines; i++) od_experiment_free(t->machine[i].e);
  od_arena_free(&t->memory);
  od_document_free(t->file);
  od_free(t);
}
