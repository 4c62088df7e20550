// Templates: parts of a machine that are written once and used several times.
//
// 'templates' holds sections like those of the file with parameters, 'instances' uses them. An instance's elements go
// into the file's own sections with its name in front: the valve of the instance 'boom' is 'boom.valve'. This happens
// in the tree, before the sections are read, so that all readers see one file.
#ifndef OD_MACHINE_TEMPLATES_H
#define OD_MACHINE_TEMPLATES_H

#include "document/reader.h"

// What instances have made: full names of their elements, and the instances themselves.
typedef struct od_templates {
  od_index made, instance;
  const char **name;  // of elements, for suggestions
  int names, name_capacity;
  int parameters;  // the map of all parameters of instances by full name; -1: none
} od_templates;
void od_templates_free(od_templates *t);

// The file with its instances made and the variant laid over it (-1: none): the node of its map; -1 after a complaint
// that makes reading on useless. `root` is the file's own map.
int od_templates_expand(od_loader *ld, int root, int over);

// Whether an instance made the element of that name; whether the first `length` characters name an instance.
bool od_templates_made(const od_loader *ld, const char *name);
bool od_templates_is_instance(const od_loader *ld, const char *text, size_t length);
// Whether the text at a key may name an element that no instance made; if not, a message says why.
bool od_templates_check_name(od_loader *ld, int key);

#endif
