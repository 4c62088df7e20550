// Reads the section 'sources' of a twin file.
#ifndef OD_TWIN_LOAD_SOURCES_H
#define OD_TWIN_LOAD_SOURCES_H

#include "document/reader.h"
#include "twin/twin.h"

extern const od_section_class od_twin_source_section;

// Reads the source under this key into the next place of t->source. Reports every mistake.
void od_twin_read_source(od_loader *ld, od_twin *t, int key);

// ---- For other sections

// Keys of a session at an MQTT broker; a connection also has 'host' and 'port'.
#define OD_TWIN_SESSION_KEYS                                                                                     \
  {"client", OD_TEXT, NULL, "name of the session at the broker, unique among all clients",                       \
   .otherwise = "from the names in this file"},                                                                  \
      {"user", OD_TEXT, NULL, "user name at the broker", .otherwise = "none"},                                   \
      {"password_file", OD_TEXT, NULL, "file with the password in its first line; path relative to this file",   \
       .otherwise = "none"},                                                                                     \
  {                                                                                                              \
    "ca_file", OD_TEXT, NULL, "certificate of the authority of the broker, for TLS; path relative to this file", \
        .otherwise = "no TLS"                                                                                    \
  }
// Reads the connection to a broker from a section with these keys, 'host', 'port' and perhaps 'topic'. name: part of the name of the session if the
// file gives none.
void od_twin_read_broker(od_loader *ld, const od_section *section, const char *name, od_twin_broker *b);
// Reads a text or a list of texts. Returns a list that ends with NULL, or NULL if there are no texts. The arena owns the list, the document its
// texts.
const char **od_twin_read_texts(od_loader *ld, od_arena *memory, int node, const char *label, const char *wanted);

#endif
