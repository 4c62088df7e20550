// One instance of a template during its expansion: its arguments, and copies of the template's nodes with the arguments inserted.
#ifndef OD_MACHINE_TEMPLATE_COPY_H
#define OD_MACHINE_TEMPLATE_COPY_H

#include "document/reader.h"

// Limits shared by all instances of a file.
typedef struct od_template_budget {
  int nodes;    // number of nodes that may still be added
  bool failed;  // an error has been reported, or memory ran out
} od_template_budget;

typedef struct od_template_frame od_template_frame;
struct od_template_frame {
  od_loader *ld;
  od_template_budget *budget;
  const od_template_frame *outer;  // instance whose template contains this instance; NULL: the file contains it
  const char *template_name;
  const char *prefix;   // name of the instance: "boom", "boom.valve"
  int body;             // map of the template
  int key;              // key of the instance
  const char *context;  // place of the instance, for messages
  od_index arguments;   // nodes of the arguments by parameter
  int from[8], to[8];   // origins of the template's nodes, and of their copies
  int origins;
};

// Copies a node of the template and its descendants, with parameters replaced: "$area" by its argument, "${area}" within a longer
// text. Returns -1 if an error was reported or memory ran out.
int od_template_copy(od_template_frame *f, int node, int depth);
// Copies a key with the given text, without its value.
int od_template_copy_key(od_template_frame *f, int key, const char *text);
const char *od_template_text(od_template_frame *f, int node);

// Binds a parameter to the node of an argument. The argument keeps its scope.
void od_template_bind(od_template_frame *f, const char *parameter, int node);
// Binds a parameter to a text given with --set.
void od_template_bind_text(od_template_frame *f, const char *parameter, const char *text);

// Reports every "$name" below a node whose name is not a parameter. Parameters are the keys of a map (-1: none).
void od_template_check_names(od_loader *ld, int node, int parameters, const char *template_name, int *budget);

#endif
