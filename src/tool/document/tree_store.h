// The tree of a YAML file as bytes, for programs without a YAML parser (src/helpers/engine). Lines and columns are kept, so
// messages are the same as with the text.
#ifndef OD_DOCUMENT_TREE_STORE_H
#define OD_DOCUMENT_TREE_STORE_H

#include "document/tree.h"

// Stores a tree of one file. Returns the bytes, which belong to the arena, or NULL if an allocation fails.
char *od_tree_store(const od_tree *tree, od_arena *arena, size_t *size);

// Adds the nodes of a stored tree, as od_tree_parse() does with a text. Returns OD_BAD_INPUT if the bytes are not a stored tree.
// Fails with OD_NO_MEMORY if an allocation fails.
od_status od_tree_restore(od_tree *tree, const char *bytes, size_t size, const char *file, od_arena *texts);

#endif
