// Sections of files, described by tables with one row per key. Each table is next to the reader of its section.
//
// The reader, --set, the range checks, 'oleodyn schema' and the tables of keys in docs/ iterate over these rows. The reader
// implements rules between keys (keys of one law, one of two keys).
#ifndef OD_DOCUMENT_SECTION_H
#define OD_DOCUMENT_SECTION_H

#include <math.h>
#include <stdbool.h>

#include "base/limits.h"

typedef enum od_key_shape {
  OD_NUMBER,          // a number, a quantity or an expression
  OD_NUMBERS,         // a list of numbers
  OD_ROWS,            // a list of lists of numbers
  OD_WHOLE,           // an integer within `limits`
  OD_TEXT,            // a text or a number
  OD_TEXTS,           // a text or a list of texts
  OD_FLAG,            // true or false
  OD_CHOICE,          // one of the words of `of` or `choice`
  OD_SECTION,         // a section of the class `inside`
  OD_SECTIONS,        // a list of sections of the class `inside`
  OD_SECTION_MAP,     // names from the file, each with a section of the class `inside`
  OD_NUMBER_MAP,      // names or paths, each with a number
  OD_NUMBERS_OR_WORD  // names or paths, each with a number; or the word `of`
} od_key_shape;

// The fallback of a required key.
#define OD_REQUIRED ((double)NAN)
// Allowed and usual limits of a number, in the unit of its row.
#define OD_LIMITS(low, high, usual_low, usual_high) \
  { low, high, usual_low, usual_high }

// Allowed and usual limits of a number whose unit depends on other values of the file. A NULL unit ends the list.
typedef struct od_unit_limits {
  const char *unit;
  od_limits limits;
} od_unit_limits;

typedef struct od_section_class od_section_class;

typedef struct od_key {
  const char *name;
  od_key_shape shape;
  // For numbers: the SI unit; NULL: the unit depends on other values. For choices: the words, separated by '|'. For sections
  // without a class: the name of their definition in the schema; NULL: any content.
  const char *of;
  const char *meaning;  // meaning of the key; may contain Markdown links
  od_sign sign;
  double fallback;        // default in SI units, index of the default word, or 0 or 1 of a flag; OD_REQUIRED: required
  od_limits limits;       // allowed and usual limits; all zero: no limits
  const char *otherwise;  // description of the default if it is not a number
  const od_section_class *inside;  // class of the section (OD_SECTION, OD_SECTIONS, OD_SECTION_MAP)
  const od_unit_limits *by_unit;   // limits if `of` is NULL
  const char *(*choice)(int i);    // words of another table, ended by NULL
} od_key;

struct od_section_class {
  const char *name;  // name of the definition in the schema
  const char *meaning;
  const od_key *keys;
  int count;
  bool (*more)(
      int i, od_key *key);  // finds key i of other tables, such as element classes; returns false if there is no key i
  bool or_word;             // whether a text may replace the section
};

#define OD_KEYS(table) (table), (int)(sizeof(table) / sizeof *(table))

// Finds key i of a class. The keys of the class's own table come before the keys of other tables. Returns false if there is no key
// i.
bool od_key_at(const od_section_class *c, int i, od_key *key);
// Returns whether the class has a key with this name, in its own table or in other tables.
bool od_section_has(const od_section_class *c, const char *name);
// Returns the key with this name. The class's own table must contain the key.
const od_key *od_key_of(const od_section_class *c, const char *name);

// Lists the names of all keys. The list ends with NULL.
enum { OD_MOST_KEYS = 160 };
void od_section_names(const od_section_class *c, const char *names[OD_MOST_KEYS]);

// Returns word i of a choice and its length; NULL: there are no more words.
const char *od_key_word(const od_key *key, int i, int *length);

// Returns the limits of a number in this unit; all zero: none, or an integer (OD_WHOLE), whose reader checks the limits of the key.
const od_limits *od_key_limits(const od_key *key, const char *unit);

#endif
