// Reads the tree: sections with known keys, names, texts, choices, lists. Errors are reported with their place, and reading
// continues with a valid value. Numbers are read by quantities.h.
#ifndef OD_DOCUMENT_READER_H
#define OD_DOCUMENT_READER_H

#include "document/loader.h"
#include "document/section.h"

// --- Messages ---------------------------------------------------------------------------------------------------

void od_complain(od_loader *ld, int node, const char *format, ...) __attribute__((format(printf, 3, 4)));
od_place od_place_of(const od_loader *ld, int node);
bool od_has_errors(const od_loader *ld);
// Make new texts, owned by the document; "" if out of memory.
const char *od_format(od_loader *ld, const char *format, ...) __attribute__((format(printf, 2, 3)));
const char *od_copy(od_loader *ld, const char *text, size_t length);
// Returns the text, shortened to 60 bytes and "..." if it is longer, for a message.
const char *od_excerpt(od_loader *ld, const char *text);
// Describes a node for a message: "a map", "a list", "'x'" (a text), "nothing".
const char *od_describe(od_loader *ld, int node);

// --- Sections -----------------------------------------------------------------------------------------------------

// A map with a known set of keys.
typedef struct od_section {
  const od_section_class *of;  // NULL: the keys are given by a list of names
  int map;                     // -1: not a map, which has been reported; reads then find no keys and add no messages
  int node;                    // place of messages about missing keys
  const char *path;            // path of its numbers: "crank.beam"; may be empty
  const char *what;            // name for messages: "the beam 'crank'"
  bool has_unknown;            // there are unknown keys, so a missing key may be misspelled
  const char *meant[4];        // probable meanings of the first unknown keys; unused entries are NULL
} od_section;

// Opens the value as a section and checks its keys: unknown and repeated keys are reported.
od_section od_section_open(od_loader *ld, int value, int node, const char *path, const char *what,
                           const od_section_class *c);
// Same as od_section_open(), for keys that depend on a type in another table. NULL ends `keys`.
od_section od_section_open_names(od_loader *ld, int value, int node, const char *path, const char *what,
                                 const char *const *keys);
// A section that is not in the file. --set may still give its numbers.
od_section od_section_empty(const od_section_class *c, int node, const char *path, const char *what);
int od_section_get(const od_loader *ld, const od_section *section, const char *key);  // -1: not found
int od_section_need(od_loader *ld, const od_section *section, const char *key);       // -1 with a message
// Whether an unknown key of the section is probably a misspelling of this key.
bool od_section_means(const od_section *section, const char *key);
// Reports a missing key, unless an unknown key that is probably a misspelling of this key has been reported.
void od_section_lacks(od_loader *ld, const od_section *section, const char *key);

// Iterates over the entries of a map whose keys are names chosen by the user: for (key = od_first(); key >= 0; key = od_next()).
// od_first() reports a node that is not a map. A missing value counts as an empty map.
int od_first(od_loader *ld, int node, const char *what);
int od_next(const od_loader *ld, int key);
int od_value(const od_loader *ld, int key);
const char *od_text_of(const od_loader *ld, int node);
// The value of a key in any map; -1: none, or not a map.
int od_map_find(const od_loader *ld, int map, const char *name);
// Whether the index already contains a key with this text. If not, the key is added.
bool od_seen_before(od_loader *ld, od_index *seen, int key);

// Kinds of nodes. A node that was not found (-1) counts as null.
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
// The first key of a map; the first entry of a list, and the number of its entries. For another kind of node
// the results are -1 and 0 entries. The next entry of a list is ld->tree.node[at].next.
int od_map_first(const od_loader *ld, int node);
int od_list_first(const od_loader *ld, int node);
int od_list_count(const od_loader *ld, int node);
// The node of an entry: the entry itself, or the target of an alias.
static inline int od_entry(const od_loader *ld, int at) {
  return od_tree_value(&ld->tree, at);
}

// Whether the text at a node is a valid name; false with a message. Names of variants may start with a digit.
bool od_names_check(od_loader *ld, int node);
bool od_names_check_variant(od_loader *ld, int node);

// --- Values -------------------------------------------------------------------------------------------------------

// The text of a scalar. NULL: the node is -1 or not a scalar (with a message that `label` must be `wanted`).
const char *od_read_text(od_loader *ld, int node, const char *label, const char *wanted);
// Reads true or false under a key of the section's table. Without the key: the default.
bool od_read_flag(od_loader *ld, const od_section *section, const char *key);
// The index of a word among the choices, or -1 with a message. NULL ends `choices`.
int od_read_choice(od_loader *ld, int node, const char *label, const char *const *choices);
// The index of the word under a key of the section's table. Without the key: the default, or -1 with a message if the key is
// required. For an unknown word: -1 with a message.
int od_key_choice(od_loader *ld, const od_section *section, const char *key);
// Same as od_key_choice(), but after the message about an unknown word the result is the default, so that reading can continue.
int od_key_setting(od_loader *ld, const od_section *section, const char *key);
// The text under a key of the section's table; NULL: not given (with a message if the key is required) or not a text.
const char *od_key_text(od_loader *ld, const od_section *section, const char *key, const char *wanted);
// Reads the nodes of a list with `count` entries. False: the node is -1 or not such a list (with a message that `label`
// must be `wanted`).
bool od_read_list(od_loader *ld, int node, const char *label, const char *wanted, int count, int *entries);

#endif
