// A file of any kind (a machine, an experiment, a fit, a study): its permanent contents, and the shared state of its readers.
#ifndef OD_DOCUMENT_LOADER_H
#define OD_DOCUMENT_LOADER_H

#include "document/messages.h"
#include "document/number_table.h"
#include "document/texts.h"
#include "document/tree.h"
#include "document/units.h"
#include "oleodyn/build.h"

// An expression of constants that determines a number.
typedef struct od_constant_formula {
  struct od_operation *operation;
  int operations;
  int *constant;  // index of the constant of each variable; -1: pi
  int variables;
} od_constant_formula;

typedef struct od_constant {
  const char *name, *path, *text;  // name: full name, with the instance as prefix; path: path of the number
  od_place place;
  bool is_parameter;  // whether the constant is a parameter of an instance; a parameter need not be a number
  enum { OD_CONSTANT_NEW, OD_CONSTANT_BUSY, OD_CONSTANT_DONE, OD_CONSTANT_FAILED } state;
  double value;
  const char *unit;  // SI unit of the value; NULL: no unit, fits any unit
  int formula;       // index of the formula; -1: the constant refers to no other constant
  int number;        // index of the number; -1: none
} od_constant;

typedef struct od_constants {
  od_constant *item;
  int count;
  od_index index;  // indices of the constants by name
  int *order;      // order of evaluation: each constant follows the constants that it refers to
  int ordered;
  od_constant_formula *formula;
  int formulas;
  od_index of_path;  // indices of the formulas by the paths of their numbers
} od_constants;

// The permanent contents: the texts of names and titles, the numbers and the constants.
typedef struct od_document {
  od_arena arena;  // owns everything that the other fields point to
  const char *file;
  const char *variant;  // the chosen variant, or NULL
  const char **variant_name;
  int variants;
  od_numbers numbers;
  od_constants constants;
} od_document;

typedef struct od_loader od_loader;
struct od_loader {
  od_document *document;
  od_messages *messages;
  od_content content;              // content of the file if it has already been read
  int first_message, first_error;  // numbers of messages and errors before the file was loaded
  od_arena scratch;                // memory of the readers, freed when the file has been read
  od_tree tree;
  od_units *units;
  bool no_memory;  // whether an allocation outside the arenas failed
  // Adds a number to the parameters of a model and returns its index. NULL: files of this kind have no model.
  int (*add_parameter)(od_loader *ld, const char *path, double value, const char *unit);
  struct od_draft *draft;  // for machine files: the machine being loaded, see machine/machine_loader.h
};

#endif
