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
#include "twin/load_sources.h"
#include "twin/twin.h"

// --- Tables -------------------------------------------------------------------------------------------------------

static const od_key machine_keys[] = {
    {"experiment", OD_TEXT, NULL, "experiment file with machine, sensors and observer; path relative to this file",
     .fallback = OD_REQUIRED},
    {"variant", OD_TEXT, NULL, "variant of the experiment"},
    {"source", OD_TEXT, NULL, "name of the source of the samples", .otherwise = "the only source"},
    {"map", OD_TEXTS, NULL,
     "columns of sensors and inputs as `NAME=COLUMN` or `NAME=COLUMN:UNIT`; each replaces the column of the same sensor or input in the section "
     "`data` of the experiment"},
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
    {"keep", OD_NUMBER, "s", "age at which buckets and estimates are removed", OD_POSITIVE, 1e9,
     OD_LIMITS(1, 1e10, 60, 3.2e9)},
    {"size", OD_NUMBER, "1", "largest size of the used part of the database, in MB (1e6 bytes)", OD_POSITIVE, 10000,
     OD_LIMITS(1, 1e8, 10, 1e7)},
};
static const od_section_class history_section = {"twin history", "history of all machines", OD_KEYS(history_keys)};

static const od_key publish_keys[] = {
    {"host", OD_TEXT, NULL, "host of the broker", .otherwise = "localhost"},
    OD_TWIN_SESSION_KEYS,
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
    {"sources", OD_SECTION_MAP, NULL, "sources of samples", .fallback = OD_REQUIRED, .inside = &od_twin_source_section},
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
  od_complain(ld, node, "there is no source '%s'%s", od_excerpt(ld, name),
              od_nearest_suggestion(&nearest, "expected an entry of 'sources'").text);
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
  const char **map = od_twin_read_texts(ld, &tl->twin->memory, od_section_get(ld, &section, "map"), "map",
                                        "NAME=COLUMN or NAME=COLUMN:UNIT");
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

// Reads the place of the history: a file or a URL.
static void read_place(twin_loader *tl, const od_section *section) {
  od_loader *ld = &tl->ld;
  od_twin_history *h = &tl->twin->history;
  const int file = od_section_get(ld, section, "file"), url = od_section_get(ld, section, "url");
  const int password = od_section_get(ld, section, "password_file");
  h->file = od_key_path(ld, section, "file");
  h->url = od_read_text(ld, url, "url", "the URL of a database");
  h->password_file = od_key_path(ld, section, "password_file");
  if (h->url) check_url(ld, url, h->url);
  if (file < 0 && url < 0) od_section_lacks(ld, section, "file");
  if (file >= 0 && url >= 0) od_complain(ld, url, "the history has a 'file' and a 'url'; expected one of them");
  if (password >= 0 && url < 0) od_complain(ld, password, "'password_file' needs 'url'; remove the key");
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
    od_complain_number(ld, first + 2, "'rows' is longer than 'keep'; expected at most the value of 'keep'");
}

static void read_outputs(twin_loader *tl, int node) {
  od_loader *ld = &tl->ld;
  if (node < 0) return;
  od_section section = od_section_open(ld, node, node, "outputs", "the section 'outputs'", &output_section);
  if (section.map < 0) return;
  tl->twin->metrics = od_key_path(ld, &section, "metrics");
  tl->twin->metrics_every = od_key_value(ld, &section, "every");
  const int mqtt = od_section_get(ld, &section, "mqtt");
  if (mqtt < 0) return;
  od_section publish = od_section_open(ld, mqtt, mqtt, "outputs.mqtt", "the section 'mqtt'", &publish_section);
  if (publish.map < 0) return;
  od_twin_read_broker(ld, &publish, "estimates", &tl->twin->broker);
  if (!tl->twin->broker.topic) tl->twin->broker.topic = "oleodyn";
  tl->twin->publish_every = od_key_value(ld, &publish, "every");
  tl->twin->discovery = od_read_flag(ld, &publish, "discovery");
}

static int entries(const od_loader *ld, int node) {
  return node >= 0 && ld->tree.node[node].kind == OD_TREE_MAP ? ld->tree.node[node].count : 0;
}

static void read_source(twin_loader *tl, int key) {
  od_twin_read_source(&tl->ld, tl->twin, key);
}

// Reads the entries of a map with at least one entry.
static void read_all(twin_loader *tl, int node, const char *what, void (*read)(twin_loader *tl, int key)) {
  od_loader *ld = &tl->ld;
  od_index seen = {0};  // in the memory of the loader
  for (int key = od_first(ld, node, what); key >= 0; key = od_next(ld, key))
    if (!od_seen_before(ld, &seen, key)) read(tl, key);
  if (node >= 0 && od_is_map(ld, node) && entries(ld, node) == 0)
    od_complain(ld, node, "found an empty map of %s; expected at least one entry", what);
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
