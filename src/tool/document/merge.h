// Maps laid over maps: variants over their file, a file over those it includes, what templates make into its sections.
//
// Maps are merged key by key, everything else is replaced, and a key with nothing takes away what is there.
#ifndef OD_DOCUMENT_MERGE_H
#define OD_DOCUMENT_MERGE_H

#include "document/reader.h"

typedef struct od_merger {
  od_loader *ld;
  const char *what;    // lies over the rest, for messages: "the variant 'worn'"
  int budget;          // entries that may still be visited: aliases make large machines of small files
  bool keeps_nothing;  // a key with nothing that takes nothing away stays, for the reader of its section to see
  bool failed;         // and that has been said
} od_merger;
od_merger od_merger_start(od_loader *ld, const char *what);

// The map in which `over` lies over `base`, both maps; `base` after a failure.
int od_merge(od_merger *m, int base, int over);

// A new map at the place of another one, and entries for it: a copy of a key, and a value that stands for a node.
typedef struct od_map_builder {
  int map, last;
} od_map_builder;
od_map_builder od_map_start(od_merger *m, int like);
void od_map_add(od_merger *m, od_map_builder *b, int key, int value);

#endif
