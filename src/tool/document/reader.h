// Reading the tree: sections with known keys, names, texts, choices, lists. What is wrong becomes a message with its
// place, and reading goes on with a harmless value. Numbers are in quantities.h.
#ifndef OD_DOCUMENT_READER_H
#define OD_DOCUMENT_READER_H

#include "document/loader.h"
#include "document/section.h"

// --- Messages ---------------------------------------------------------------------------------------------------

void od_complain(od_loader *ld, int node, const char *format, ...) __attribute__((format(printf, 3, 4)));
od_place od_place_of(const od_loader *ld, int node);
bool od_has_errors(const od_loader *ld);
// New texts, which live as long as the document.
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
  int map;                     // -1: it was none, and that has been said; reads give nothing and say nothing
  int node;                    // where a missing key is reported
  const char *path;            // of its numbers: "crank.beam"; may be empty
  const char *what;            // for messages: "the beam 'crank'"
  bool has_unknown;            // it has keys that are not known, so what seems missing may be misspelt
  const char *meant[4];        // what some of them are probably meant to be; the rest is NULL
} od_section;

// Opens the value as a section and checks its keys: unknown ones and duplicates become messages.
od_section od_section_open(od_loader *ld, int value, int node, const char *path, const char *what,
                           const od_section_class *c);
// The same where the keys depend on a type that another table has. keys ends with NULL.
od_section od_section_open_names(od_loader *ld, int value, int node, const char *path, const char *what,
                                 const char *const *keys);
// A section that is not in the file, whose numbers --set may give all the same.
od_section od_section_empty(const od_section_class *c, int node, const char *path, const char *what);
int od_section_get(const od_loader *ld, const od_section *section, const char *key);  // -1: not there
int od_section_need(od_loader *ld, const od_section *section, const char *key);       // -1 with a message
// Whether an unknown key of the section is probably meant to be this one.
bool od_section_means(const od_section *section, const char *key);
// The message for a key that is missing, unless a misspelt one has been reported in its place.
void od_section_lacks(od_loader *ld, const od_section *section, const char *key);

// Walking the entries of a map that holds names of the user's: for (key = od_first(); key >= 0; key = od_next()).
// od_first() complains when the node is no map; nothing at all is an empty map.
int od_first(od_loader *ld, int node, const char *what);
int od_next(const od_loader *ld, int key);
int od_value(const od_loader *ld, int key);
const char *od_text_of(const od_loader *ld, int node);
// The value of a key in any map; -1: none, or no map.
int od_map_find(const od_loader *ld, int map, const char *name);

// Whether the text at a node may be a name; if not, a message says why. Names of variants may start with a digit.
bool od_names_check(od_loader *ld, int node);
bool od_names_check_variant(od_loader *ld, int node);

// --- Values -------------------------------------------------------------------------------------------------------

// The text of a scalar, or NULL with a message that `label` wants `wanted`.
const char *od_read_text(od_loader *ld, int node, const char *label, const char *wanted);
// true or false under a key of the section's table; without the key its default.
bool od_read_flag(od_loader *ld, const od_section *section, const char *key);
// The index of one of the words, or -1 with a message. choices ends with NULL.
int od_read_choice(od_loader *ld, int node, const char *label, const char *const *choices);
// The index of the word under a key of the section's table. Without the key: the default, or -1 with a message where it is required.
// A word that is none of them is a message, and -1.
int od_key_choice(od_loader *ld, const od_section *section, const char *key);
// The same, but a word that is none of them counts as the default, so that reading can go on.
int od_key_setting(od_loader *ld, const od_section *section, const char *key);
// The text under a key of the section's table; NULL: it is not there (with a message where it is required) or no text.
const char *od_key_text(od_loader *ld, const od_section *section, const char *key, const char *wanted);
// The nodes of a list with `count` entries; false with a message otherwise.
bool od_read_list(od_loader *ld, int node, const char *label, const char *wanted, int count, int *entries);

#endif
