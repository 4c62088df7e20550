// A file of ours, whatever it describes (a machine, an experiment, a fit, a study): what stays of it, and what its
// readers share while it is read.
#ifndef OD_DOCUMENT_LOADER_H
#define OD_DOCUMENT_LOADER_H

#include "document/messages.h"
#include "document/number_table.h"
#include "document/texts.h"
#include "document/tree.h"
#include "document/units.h"

// What stays: the texts that names and titles point to, and the numbers.
typedef struct od_document {
  od_texts texts;  // all that the rest points to
  const char *file;
  const char *variant;  // the one that was chosen, or NULL
  const char **variant_name;
  int variants, variant_capacity;
  od_numbers numbers;
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
  struct od_draft *draft;  // of a machine file alone: the machine that grows, see machine/draft.h
};

#endif
