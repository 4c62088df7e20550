// A YAML file as a flat tree: maps, lists and texts with their places.
//
// Nodes are integers. A map's children are key, value, key, value ...; walk them with first and next. Aliases are
// resolved: od_tree_value() gives the node they stand for.
#ifndef OD_DOCUMENT_TREE_H
#define OD_DOCUMENT_TREE_H

#include <stddef.h>

#include "document/messages.h"
#include "document/texts.h"

typedef enum od_tree_kind { OD_TREE_NULL, OD_TREE_TEXT, OD_TREE_LIST, OD_TREE_MAP, OD_TREE_ALIAS } od_tree_kind;

typedef struct od_tree_node {
  od_tree_kind kind;
  int line, column;
  const char *text;  // of a text
  int first, next;   // first child, next sibling; -1: none
  int count;         // children of a list; entries of a map
  int target;        // of an alias
} od_tree_node;

typedef struct od_tree {
  od_tree_node *node;
  int count, capacity;
  int root;  // -1: the file is empty
} od_tree;

// Parses the text. `texts` keeps those of the nodes. Syntax errors become messages.
od_status od_tree_parse(od_tree *tree, const char *text, size_t length, const char *file, od_texts *texts,
                        od_messages *messages);
void od_tree_free(od_tree *tree);
// Adds a node that hangs nowhere yet: its index, or -1 when memory ran out.
int od_tree_add(od_tree *tree, od_tree_node node);

// The node itself, or what it is an alias of.
static inline int od_tree_value(const od_tree *tree, int node) {
  return node >= 0 && tree->node[node].kind == OD_TREE_ALIAS ? tree->node[node].target : node;
}

#endif
