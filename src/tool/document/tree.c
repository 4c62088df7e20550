#include "document/tree.h"

#include "base/allocate.h"
#include "document/index.h"

// The first node in memory is node[-1].
bool od_tree_grow(od_tree *tree) {
  int used = tree->node != NULL ? tree->count + 1 : 0;
  od_tree_node *grown = od_grow(tree->node != NULL ? tree->node - 1 : NULL, used, &tree->capacity, sizeof *tree->node);
  if (grown == NULL) return false;
  if (tree->node == NULL) grown[0] = (od_tree_node){.text = "", .first = -1, .next = -1, .target = -1};
  tree->node = grown + 1;
  return true;
}

int od_tree_add(od_tree *tree, od_tree_node node) {
  if ((tree->node == NULL && !od_tree_grow(tree)) || !od_tree_grow(tree)) return -1;
  tree->node[tree->count] = node;
  return tree->count++;
}

// Counts the nodes of a value up to `most`. Also returns `most` if nodes are nested deeper than OD_TREE_DEEPEST.
static int weigh(const od_tree *tree, int node, int most, int depth) {
  int weight = depth < OD_TREE_DEEPEST ? 1 : most;
  node = od_tree_value(tree, node);
  for (int child = tree->node[node].first; child >= 0 && weight < most; child = tree->node[child].next)
    weight += weigh(tree, child, most - weight, depth + 1);
  return weight;
}

int od_tree_weigh(const od_tree *tree, int node, int most) {
  return weigh(tree, node, most, 0);
}

int od_tree_add_origin(od_tree *tree, od_tree_origin origin) {
  od_tree_origin *grown = od_grow(tree->origin, tree->origins, &tree->origin_capacity, sizeof *tree->origin);
  if (grown == NULL) return -1;
  tree->origin = grown;
  tree->origin[tree->origins] = origin;
  return tree->origins++;
}

void od_tree_free(od_tree *tree) {
  if (tree->node != NULL) od_free(tree->node - 1);
  od_free(tree->origin);
  *tree = (od_tree){.root = -1};
}
