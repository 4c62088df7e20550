// All numbers of a file: path, value in SI units, text, place, and index in the model.
//
// Readers look up the replacements of --set in this table while the file is read.
#ifndef OD_DOCUMENT_NUMBER_TABLE_H
#define OD_DOCUMENT_NUMBER_TABLE_H

#include "document/index.h"
#include "document/messages.h"
#include "document/texts.h"

typedef struct od_number_entry {
  od_number number;
  od_place place;
  int theta;    // index in the model's parameters; -1: not a parameter (signals, initial values, the run)
  int formula;  // index of the expression of constants that determines the number; -1: none
} od_number_entry;

// A replacement "path=value", from --set or from the section 'set' of a file.
typedef struct od_override {
  const char *path, *text;
  od_place place;
  bool used;
} od_override;

typedef struct od_numbers {
  od_number_entry *item;
  int count;
  od_index index;
  od_override *override;
  int overrides;
} od_numbers;

// Adds the texts of --set. Reports texts that are repeated or are not "path=value". In this function and the functions below,
// the arena owns the contents of the table and records failed allocations.
void od_numbers_override(od_numbers *numbers, od_arena *arena, const char *const *set, int count,
                         od_messages *messages);
// Adds a replacement from the file, unless the number already has one: --set takes precedence. The table stores the pointers `path`
// and `text`.
void od_numbers_override_one(od_numbers *numbers, od_arena *arena, const char *path, const char *text, od_place place);
// Returns the replacement of the number with this path, or NULL. Marks the replacement as used.
const od_override *od_numbers_overriding(const od_numbers *numbers, const char *path);
bool od_numbers_is_overridden(const od_numbers *numbers, const char *path);
// Reports every replacement that no number has used.
void od_numbers_report_unused(const od_numbers *numbers, od_messages *messages);

// Adds a number. Returns its index in this table, or -1 if an allocation fails.
int od_numbers_add(od_numbers *numbers, od_arena *arena, od_number_entry entry);

#endif
