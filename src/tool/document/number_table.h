// All numbers of a file: path, value in SI, text, place, and index in the model.
//
// Numbers that --set replaces are looked up here while the file is read.
#ifndef OD_DOCUMENT_NUMBER_TABLE_H
#define OD_DOCUMENT_NUMBER_TABLE_H

#include "document/index.h"
#include "document/messages.h"
#include "document/texts.h"

typedef struct od_number_entry {
  od_number number;
  od_place place;
  int theta;    // index in the model's parameters; -1: not a parameter (signals, initial values, the run)
  int formula;  // the expression of constants that determines it; -1: none
} od_number_entry;

// A "path=value" of --set, or of the section 'set' of a file.
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

// Takes the texts of --set. A text that is not "path=value" or that is repeated becomes a message. The arena, here and below, owns
// the contents of the table and records that memory ran out.
void od_numbers_override(od_numbers *numbers, od_arena *arena, const char *const *set, int count,
                         od_messages *messages);
// Adds a replacement of the file; --set takes precedence.
void od_numbers_override_one(od_numbers *numbers, od_arena *arena, const char *path, const char *text, od_place place);
// The place of the text that replaces a number: "--set" or the file.
od_place od_numbers_override_place(const od_numbers *numbers, const char *path);
// The text of --set for a path, or NULL; marks it as used.
const char *od_numbers_overriding(const od_numbers *numbers, const char *path);
bool od_numbers_is_overridden(const od_numbers *numbers, const char *path);
// Reports every --set that replaced nothing.
void od_numbers_report_unused(const od_numbers *numbers, od_messages *messages);

// Adds a number; returns its index here, or -1 if memory ran out.
int od_numbers_add(od_numbers *numbers, od_arena *arena, od_number_entry entry);

#endif
