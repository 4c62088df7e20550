// Templates: parts of a machine that are written once and used several times.
//
// A template contains parameters, and sections as in a machine file. The section 'instances' uses templates. The elements of an
// instance are merged into the sections of the file, with the name of the instance as prefix: the valve of the instance 'boom' is
// 'boom.valve'. The merge takes place in the tree before the sections are read. Thus all readers process one file.
#ifndef OD_MACHINE_TEMPLATES_H
#define OD_MACHINE_TEMPLATES_H

#include "document/reader.h"

// An instance of a template: its full name, and the name of the template.
typedef struct od_template_instance {
  const char *name, *of;
} od_template_instance;

// Names that instances create: full names of their elements, and names of the instances themselves.
typedef struct od_templates {
  od_index made, instance;
  const char **name;  // names of elements, for suggestions
  int names;
  int parameters;  // map of all parameters of instances by full name; -1: none
} od_templates;

// Expands the instances of the file and merges the variant (-1: none). Returns the node of the resulting map, or -1 after an error;
// then the sections must not be read. `root`: the map of the file.
int od_templates_expand(od_loader *ld, int root, int over);

// od_templates_made() returns whether the element with this name belongs to an instance. od_templates_is_instance() returns whether
// the first `length` characters are the name of an instance.
bool od_templates_made(const od_loader *ld, const char *name);
bool od_templates_is_instance(const od_loader *ld, const char *text, size_t length);
// Returns whether the text at a key may be the name of an element of the file. If not, reports an error.
bool od_templates_check_name(od_loader *ld, int key);

#endif
