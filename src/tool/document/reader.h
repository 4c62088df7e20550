// Reads the tree: sections with known keys, names, texts, choices, lists. Errors become messages with their place, and reading
// continues with a valid value. Numbers are in quantities.h.
#ifndef OD_DOCUMENT_READER_H
#define OD_DOCUMENT_READER_H

#include "document/loader.h"
#include "document/section.h"

// --- Messages ---------------------------------------------------------------------------------------------------

void od_complain(od_loader *ld, int node, const char *format, ...) __attribute__((format(printf, 3, 4)));
od_place od_place_of(const od_loader *ld, int node);
bool od_has_errors(const od_loader *ld);
// New texts, owned by the document.
const char *od_format(od_loader *ld, const char *format, ...) __attribute__((format(printf, 2, 3)));
const char *od_copy(od_loader *ld, const char *text, size_t length);
// A text shortened for a message.
const char *od_excerpt(od_loader *ld, const char *text);
// "a map", "a list", "the text 'x'", "nothing"
const char *od_describe(od_loader *ld, int node);

// --- Sections -----------------------------------------------------------------------------------------------------

// A map with a known set of keys.
typedef struct od_section {
  const od_section_class *of;  // NULL: its keys are a list of names
  int map;                     // -1: not a map, which has been reported; reads return nothing without messages
  int node;                    // place of messages about missing keys
  const char *path;            // path of its numbers: "crank.beam"; may be empty
  const char *what;            // for messages: "the beam 'crank'"
  bool has_unknown;            // it has unknown keys, so a missing key may be misspelled
  const char *meant[4];        // probable meanings of some of them; the rest is NULL
} od_section;

// Opens the value as a section and checks its keys: unknown and repeated keys become messages.
od_section od_section_open(od_loader *ld, int value, int node, const char *path, const char *what,
                           const od_section_class *c);
// The same for keys that depend on a type in another table. keys ends with NULL.
od_section od_section_open_names(od_loader *ld, int value, int node, const char *path, const char *what,
                                 const char *const *keys);
// A section that is not in the file, whose numbers --set may still give.
od_section od_section_empty(const od_section_class *c, int node, const char *path, const char *what);
int od_section_get(const od_loader *ld, const od_section *section, const char *key);  // -1: not found
int od_section_need(od_loader *ld, const od_section *section, const char *key);       // -1 with a message
// Whether an unknown key of the section probably means this one.
bool od_section_means(const od_section *section, const char *key);
// Reports a missing key, unless a misspelled one has been reported in its place.
void od_section_lacks(od_loader *ld, const od_section *section, const char *key);

// Iterates over the entries of a map with names of the user: for (key = od_first(); key >= 0; key = od_next()). od_first()
// reports a node that is not a map; no value is an empty map.
int od_first(od_loader *ld, int node, const char *what);
int od_next(const od_loader *ld, int key);
int od_value(const od_loader *ld, int key);
const char *od_text_of(const od_loader *ld, int node);
// The value of a key in any map; -1: none, or not a map.
int od_map_find(const od_loader *ld, int map, const char *name);
// Whether a key with this text is in the index already. If not, the key is added.
bool od_seen_before(od_loader *ld, od_index *seen, int key);

// Kinds of nodes. A node that was not found (-1) is null.
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
// The first key of a map; the first entry of a list and the number of its entries. -1 and 0: not a map, not a list. The next
// entry is ld->tree.node[at].next.
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

// The text of a scalar, or NULL with a message that `label` must be `wanted`.
const char *od_read_text(od_loader *ld, int node, const char *label, const char *wanted);
// true or false under a key of the section's table; without the key its default.
bool od_read_flag(od_loader *ld, const od_section *section, const char *key);
// The index of one of the words, or -1 with a message. choices ends with NULL.
int od_read_choice(od_loader *ld, int node, const char *label, const char *const *choices);
// The index of the word under a key of the section's table. Without the key: the default, or -1 with a message if it is required.
// An unknown word gives -1 with a message.
int od_key_choice(od_loader *ld, const od_section *section, const char *key);
// The same, but an unknown word gives the default after its message, so that reading can continue.
int od_key_setting(od_loader *ld, const od_section *section, const char *key);
// The text under a key of the section's table; NULL: not given (with a message if it is required) or not a text.
const char *od_key_text(od_loader *ld, const od_section *section, const char *key, const char *wanted);
// The nodes of a list with `count` entries; false with a message otherwise.
bool od_read_list(od_loader *ld, int node, const char *label, const char *wanted, int count, int *entries);

#endif
