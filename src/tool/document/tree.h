// A YAML file as a flat tree: maps, lists and texts with their places.
//
// Nodes are integers. Several files may be in one tree: each node has its origin. A map's children are key, value, key, value ...; walk
// them with first and next. Aliases are resolved: od_tree_value() gives the node they stand for.
//
// node[-1] exists in every tree, also in an empty one: a node without value, text and children. So an index that was not found can be
// looked at, and walking a list as if it were a map ends with -1.
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
  int origin;        // in the tree's table of origins
} od_tree_node;

// Where nodes come from: a file, and for what a template has made, which instance of it.
typedef struct od_tree_origin {
  const char *file;
  const char
      *scope;  // names are looked for with this in front, then with less of it: "boom.seal"; "" outside of templates
  const char *context;  // for messages: "in template 'section' used at crane.yaml:12:3"; NULL: none
} od_tree_origin;

typedef struct od_tree {
  od_tree_node *node;  // one behind the beginning of its memory: see node[-1] above
  int count, capacity;
  int repeated;  // values that aliases repeat
  int root;      // -1: the file is empty
  od_tree_origin *origin;
  int origins, origin_capacity;
} od_tree;

// Parses the text of one more file: its nodes are added, and its root becomes that of the tree (-1: it is empty). The
// tree begins as zeros. `texts` keeps the texts of the nodes. Syntax errors become messages.
od_status od_tree_parse(od_tree *tree, const char *text, size_t length, const char *file, od_texts *texts,
                        od_messages *messages);
void od_tree_free(od_tree *tree);
// The number of nodes of a value, with those that its aliases repeat; `most` if there are more or they nest too deeply.
int od_tree_weigh(const od_tree *tree, int node, int most);
// Adds a node that hangs nowhere yet: its index, or -1 when memory ran out.
int od_tree_add(od_tree *tree, od_tree_node node);
// Adds an origin: its index, or -1 when memory ran out.
int od_tree_add_origin(od_tree *tree, od_tree_origin origin);

// The node itself, or what it is an alias of.
static inline int od_tree_value(const od_tree *tree, int node) {
  return node >= 0 && tree->node[node].kind == OD_TREE_ALIAS ? tree->node[node].target : node;
}

#endif
