// A file of ours, whatever it describes (a machine, an experiment, a fit, a study): what stays of it, and what its
// readers share while it is read.
#ifndef OD_DOCUMENT_LOADER_H
#define OD_DOCUMENT_LOADER_H

#include "document/messages.h"
#include "document/number_table.h"
#include "document/texts.h"
#include "document/tree.h"
#include "document/units.h"
#include "oleodyn/build.h"

// An expression of constants that a number follows.
typedef struct od_constant_formula {
  struct od_operation *operation;
  int operations;
  int *constant;  // what its variables are
  int variables;
} od_constant_formula;

typedef struct od_constant {
  const char *name, *path, *text;  // name: with the instance's in front; path: of its number
  od_place place;
  bool is_parameter;  // of an instance: it may be no number at all
  enum { OD_CONSTANT_NEW, OD_CONSTANT_BUSY, OD_CONSTANT_DONE, OD_CONSTANT_FAILED } state;
  double value;
  const char *unit;  // of its value, in SI; NULL: it has none and goes with any
  int formula;       // -1: a quantity
  int number;        // -1: none
} od_constant;

typedef struct od_constants {
  od_constant *item;
  int count, capacity;
  od_index index;  // by name
  int *order;      // each follows those it refers to
  int ordered;
  od_constant_formula *formula;
  int formulas, formula_capacity;
  od_index of_path;  // formulas by the path of the number that follows them
} od_constants;

// What stays: the texts that names and titles point to, and the numbers.
typedef struct od_document {
  od_texts texts;  // all that the rest points to
  const char *file;
  const char *variant;  // the one that was chosen, or NULL
  const char **variant_name;
  int variants, variant_capacity;
  od_numbers numbers;
  od_constants constants;
} od_document;

typedef struct od_loader od_loader;
struct od_loader {
  od_document *document;
  od_messages *messages;
  od_content content;              // of the file, where it has been read already
  int first_message, first_error;  // how many there were before
  od_tree tree;
  od_units *units;
  bool no_memory;
  // Where numbers go that become parameters of a model: the index there. NULL: the file has no such numbers.
  int (*add_parameter)(od_loader *ld, const char *path, double value, const char *unit);
  struct od_draft *draft;  // of a machine file alone: the machine that grows, see machine/machine_loader.h
};

#endif
