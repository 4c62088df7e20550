// A YAML file as a flat tree: maps, lists and texts with their places.
//
// Nodes are integers. One tree may contain several files; each node has its origin. The children of a map are key, value, key,
// value, ...; iterate over them with first and next. Aliases are resolved: od_tree_value() returns their target.
//
// node[-1] exists in every tree, even in an empty tree: a node without value, text and children. Thus the index -1 of a
// node that was not found is valid, and an iteration from this node ends at once.
#ifndef OD_DOCUMENT_TREE_H
#define OD_DOCUMENT_TREE_H

#include <stdbool.h>
#include <stddef.h>

#include "document/messages.h"
#include "document/texts.h"

enum { OD_TREE_DEEPEST = 64 };  // largest nesting depth of maps and lists

typedef enum od_tree_kind { OD_TREE_NULL, OD_TREE_TEXT, OD_TREE_LIST, OD_TREE_MAP, OD_TREE_ALIAS } od_tree_kind;

typedef struct od_tree_node {
  od_tree_kind kind;
  int line, column;
  const char *text;  // text of a text node
  int first, next;   // first child, next sibling; -1: none
  int count;         // children of a list; entries of a map
  int target;        // target of an alias
  int origin;        // index in the tree's table of origins
} od_tree_node;

// The origin of nodes: a file and, for nodes made from a template, the instance.
typedef struct od_tree_origin {
  const char *file;
  const char *scope;    // prefix of names, shortened step by step in searches: "boom.seal"; "" outside templates
  const char *context;  // text about the instance for messages: "in template 'section' used at crane.yaml:12:3"; NULL:
                        // none
} od_tree_origin;

typedef struct od_tree {
  od_tree_node *node;  // points to the second element of its memory: see node[-1] above
  int count, capacity;
  int repeated;  // number of values that aliases repeat
  int root;      // root node; -1: the file is empty
  od_tree_origin *origin;
  int origins, origin_capacity;
} od_tree;

// Parses the text of another file. Adds its nodes; its root becomes the root of the tree (-1: the file is empty). The tree must be
// zeroed before the first call. The arena owns the texts of the nodes. Reports syntax errors and exceeded limits, and then returns
// OD_BAD_INPUT. Fails with OD_NO_MEMORY.
od_status od_tree_parse(od_tree *tree, const char *text, size_t length, const char *file, od_arena *texts,
                        od_messages *messages);
void od_tree_free(od_tree *tree);
// Returns the number of nodes of a value, including nodes that its aliases repeat. Returns `most` if there are more nodes or if
// nodes are nested deeper than OD_TREE_DEEPEST.
int od_tree_weigh(const od_tree *tree, int node, int most);
// Allocates memory for one more node; in a tree without memory, for node[-1]. Returns false if an allocation fails.
bool od_tree_grow(od_tree *tree);
// Adds a node without a parent. Returns its index, or -1 if an allocation fails.
int od_tree_add(od_tree *tree, od_tree_node node);
// Adds an origin. Returns its index, or -1 if an allocation fails.
int od_tree_add_origin(od_tree *tree, od_tree_origin origin);

// Returns the node itself or, for an alias, its target.
static inline int od_tree_value(const od_tree *tree, int node) {
  return node >= 0 && tree->node[node].kind == OD_TREE_ALIAS ? tree->node[node].target : node;
}

#endif
