// One instance of a template while it is made: its arguments, and copies of the template's nodes with them in place.
#ifndef OD_MACHINE_TEMPLATE_COPY_H
#define OD_MACHINE_TEMPLATE_COPY_H

#include "document/reader.h"

// All instances of a file share it.
typedef struct od_template_budget {
  int nodes;    // that may still be made
  bool failed;  // and that has been said, or memory ran out
} od_template_budget;

typedef struct od_template_frame od_template_frame;
struct od_template_frame {
  od_loader *ld;
  od_template_budget *budget;
  const od_template_frame *outer;  // the instance in whose template this one stands; NULL: the file
  const char *template_name;
  const char *prefix;   // "boom", "boom.valve"
  int body;             // the template's map
  int key;              // of the instance
  const char *context;  // for messages
  od_index arguments;   // by parameter: nodes
  int from[8], to[8];   // origins of the template's nodes, and of their copies
  int origins;
};

// A copy of a node of the template and all below it, with its parameters replaced: "$area" by what is given for it,
// "${area}" within a longer text. -1: there was a complaint, or memory ran out.
int od_template_copy(od_template_frame *f, int node, int depth);
// The copy of a key; its text alone.
int od_template_copy_key(od_template_frame *f, int key, const char *text);
const char *od_template_text(od_template_frame *f, int node);

// Gives a parameter its value: the node of an argument, which keeps the scope in which it is given.
void od_template_bind(od_template_frame *f, const char *parameter, int node);
// The same with a text of --set.
void od_template_bind_text(od_template_frame *f, const char *parameter, const char *text);

// Complains about every "$name" below a node that is none of the parameters, which are keys of a map (-1: none).
void od_template_check_names(od_loader *ld, int node, int parameters, const char *template_name, int *budget);

#endif
