// Merges maps: variants over a file, a file over its included files, and expanded templates into the sections of a file.
//
// Maps are merged key by key, other values are replaced, and a key without a value removes the entry.
#ifndef OD_DOCUMENT_MERGE_H
#define OD_DOCUMENT_MERGE_H

#include "document/reader.h"

typedef struct od_merger {
  od_loader *ld;
  const char *what;  // name of the overriding map for messages: "the variant 'worn'"
  int budget;  // number of entries that may still be visited: a small file with aliases can describe a huge machine
  // Whether the merged map keeps a key without a value if there is no entry to remove; the reader of the section then handles the key.
  bool keeps_empty_keys;
  bool failed;  // whether an error was reported or an allocation failed
} od_merger;
od_merger od_merger_start(od_loader *ld, const char *what);

// Merges `over` over `base`, both maps. Returns the new map, or `base` after a failure.
int od_merge(od_merger *m, int base, int over);

// Builds a new map at the place of another map. An entry consists of a copy of a key, and a value that refers to a node.
typedef struct od_map_builder {
  int map, last;
} od_map_builder;
od_map_builder od_map_start(od_merger *m, int like);
void od_map_add(od_merger *m, od_map_builder *b, int key, int value);

#endif
