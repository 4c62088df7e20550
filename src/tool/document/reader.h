// Reads the tree: sections with known keys, names, texts, choices, lists. The functions report errors with their places; reading
// continues with a valid value. quantities.h reads numbers.
#ifndef OD_DOCUMENT_READER_H
#define OD_DOCUMENT_READER_H

#include "document/loader.h"
#include "document/section.h"

// --- Messages ---------------------------------------------------------------------------------------------------

// Adds an error at the place of a node.
void od_complain(od_loader *ld, int node, const char *format, ...) __attribute__((format(printf, 3, 4)));
// Adds a message about an unknown name, with the nearest known name or a list of names (od_nearest_suggestion()). what, all: noun
// in singular and plural: "output", "outputs".
struct od_nearest;
void od_complain_unknown(od_loader *ld, int node, const char *what, const char *all, const struct od_nearest *nearest);
od_place od_place_of(const od_loader *ld, int node);
bool od_has_errors(const od_loader *ld);
// Return new texts, owned by the document; "" if an allocation fails.
const char *od_format(od_loader *ld, const char *format, ...) __attribute__((format(printf, 2, 3)));
const char *od_copy(od_loader *ld, const char *text, size_t length);
// Returns a text for a message. A text of more than 60 bytes is truncated and ends with "...".
const char *od_excerpt(od_loader *ld, const char *text);
// Describes a node for a message: "a map", "a list", "'x'" (a text), "nothing".
const char *od_describe(od_loader *ld, int node);

// --- Sections -----------------------------------------------------------------------------------------------------

// A map with a known set of keys.
typedef struct od_section {
  const od_section_class *of;  // class of the section; NULL: the keys are given by a list of names
  // Node of the map. -1: the section is absent or not a map (already reported); no key is found, and none is reported as missing.
  int map;
  int node;              // node for the place of messages about missing keys
  const char *path;      // path of its numbers: "crank.beam"; may be empty
  const char *what;      // name for messages: "the beam 'crank'"
  bool has_unknown;      // whether there are unknown keys; then a missing key may be misspelled
  const char *meant[4];  // probable meanings of the first unknown keys; unused entries are NULL
} od_section;

// Opens the value as a section. Reports a value that is not a map, unknown keys and repeated keys. For the value -1, returns an absent
// section without a message.
od_section od_section_open(od_loader *ld, int value, int node, const char *path, const char *what,
                           const od_section_class *c);
// Same as od_section_open(), for keys that depend on a type in another table. NULL ends `keys`.
od_section od_section_open_names(od_loader *ld, int value, int node, const char *path, const char *what,
                                 const char *const *keys);
// Returns a section that is not in the file. --set may still give its numbers.
od_section od_section_empty(const od_section_class *c, int node, const char *path, const char *what);
// Returns the node of the value; -1: not found.
int od_section_get(const od_loader *ld, const od_section *section, const char *key);
// Same as od_section_get(), but reports a missing key (od_section_lacks()).
int od_section_need(od_loader *ld, const od_section *section, const char *key);
// Returns whether an unknown key of the section is probably a misspelling of this key.
bool od_section_means(const od_section *section, const char *key);
// Reports a missing key, unless an unknown key that is probably a misspelling of this key has been reported.
void od_section_lacks(od_loader *ld, const od_section *section, const char *key);

// Iterates over the entries of a map whose keys are names chosen by the user: for (key = od_first(); key >= 0; key = od_next()).
// od_first() reports a node that is not a map. A missing value is treated as an empty map.
int od_first(od_loader *ld, int node, const char *what);
int od_next(const od_loader *ld, int key);
int od_value(const od_loader *ld, int key);
const char *od_text_of(const od_loader *ld, int node);
// Returns the value of a key in any map; -1: none, or not a map.
int od_map_find(const od_loader *ld, int map, const char *name);
// Returns whether the index already contains a key with this text. If not, adds the key.
bool od_seen_before(od_loader *ld, od_index *seen, int key);

// Return whether a node is of a kind. A node that was not found (-1) is null.
static inline bool od_is_map(const od_loader *ld, int node) {
  return ld->tree.node[node].kind == OD_TREE_MAP;
}
static inline bool od_is_list(const od_loader *ld, int node) {
  return ld->tree.node[node].kind == OD_TREE_LIST;
}
static inline bool od_is_text(const od_loader *ld, int node) {
  return ld->tree.node[node].kind == OD_TREE_TEXT;
}
static inline bool od_is_null(const od_loader *ld, int node) {
  return ld->tree.node[node].kind == OD_TREE_NULL;
}
// Return the first key of a map; the first entry of a list; and the number of entries of a list. For another kind of node the
// results are -1, -1 and 0. The next entry of a list is ld->tree.node[at].next.
int od_map_first(const od_loader *ld, int node);
int od_list_first(const od_loader *ld, int node);
int od_list_count(const od_loader *ld, int node);
// Returns the node of an entry: the entry itself, or the target of an alias.
static inline int od_entry(const od_loader *ld, int at) {
  return od_tree_value(&ld->tree, at);
}

// Return whether the text at a node is a valid name. If not, report an error. Names of variants may start with a digit.
bool od_names_check(od_loader *ld, int node);
bool od_names_check_variant(od_loader *ld, int node);

// --- Values -------------------------------------------------------------------------------------------------------

// Returns the text of a scalar. If the node is not a scalar, reports that `label` must be `wanted`. Returns NULL after an error, or
// if the node is -1.
const char *od_read_text(od_loader *ld, int node, const char *label, const char *wanted);
// Reads true or false under a key of the section's table. Without the key, or after reporting another value, returns the default.
bool od_read_flag(od_loader *ld, const od_section *section, const char *key);
// Returns the index of the word at a node among the choices, or -1 if the node is -1. For another value, reports an error and returns
// -1. NULL ends `choices`.
int od_read_choice(od_loader *ld, int node, const char *label, const char *const *choices);
// Returns the index of the word under a key of the section's table. Without the key, returns the default. Reports an error and
// returns -1 if the word is unknown or a required key is missing.
int od_key_choice(od_loader *ld, const od_section *section, const char *key);
// Same as od_key_choice(), but returns the default after reporting an unknown word, so that reading can continue.
int od_key_setting(od_loader *ld, const od_section *section, const char *key);
// Returns the text under a key of the section's table. Returns NULL if the key is absent or its value is not a text. Reports a
// missing required key, and a value that is not a text.
const char *od_key_text(od_loader *ld, const od_section *section, const char *key, const char *wanted);
// Reads the nodes of a list with `count` entries. If the node is not such a list, reports that `label` must be `wanted`. Returns
// false after an error, or if the node is -1.
bool od_read_list(od_loader *ld, int node, const char *label, const char *wanted, int count, int *entries);

#endif
