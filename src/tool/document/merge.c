// Merges maps.
//
// The merged maps are new nodes of the tree. Their entries refer to the entries of the files, so that nodes keep their places and
// aliases still share values.
#include "document/merge.h"

#include <string.h>

#include "document/index.h"
#include "memory/scoped.h"

enum { DEEPEST = 64 };

od_merger od_merger_start(od_loader *ld, const char *what) {
  return (od_merger){
      .ld = ld, .what = what, .budget = ld->tree.count + 100000};  // a file without aliases has fewer entries than this
                                                                   // limit
}

// --- Building maps ------------------------------------------------------------------------------------------------

static int add_node(od_merger *m, od_tree_node node) {
  int index = od_tree_add(&m->ld->tree, node);
  if (index < 0) m->failed = m->ld->no_memory = true;
  return index;
}

od_map_builder od_map_start(od_merger *m, int like) {
  od_tree_node map = m->ld->tree.node[like];
  map.first = map.next = map.target = -1;
  map.count = 0;
  return (od_map_builder){.map = add_node(m, map), .last = -1};
}

void od_map_add(od_merger *m, od_map_builder *b, int key, int value) {
  if (m->failed) return;
  od_tree *tree = &m->ld->tree;
  od_tree_node copy = tree->node[key], alias = tree->node[value];
  alias.kind = OD_TREE_ALIAS;
  alias.target = value;
  alias.first = alias.next = -1;
  int value_node = add_node(m, alias);
  copy.next = value_node;
  int key_node = add_node(m, copy);
  if (m->failed) return;
  if (b->last < 0)
    tree->node[b->map].first = key_node;
  else
    tree->node[b->last].next = key_node;
  b->last = value_node;
  tree->node[b->map].count++;
}

// --- Merging ------------------------------------------------------------------------------------------------------

// Indexes the keys of a map by their texts. Reports repeated keys if `report` is set; otherwise the reader of the section reports
// repeated keys.
static void index_keys(od_merger *m, int map, bool report, od_index *index, od_arena *scratch) {
  for (int key = m->ld->tree.node[map].first; key >= 0; key = od_next(m->ld, key)) {
    const char *name = od_text_of(m->ld, key);
    if (od_index_find(index, name) < 0) {
      if (!od_index_add(index, scratch, name, key)) m->failed = m->ld->no_memory = true;
    } else if (report) {
      od_complain(m->ld, key, "'%s' is given twice in %s; remove one entry", od_excerpt(m->ld, name), m->what);
    }
  }
}

// Merges `over` over `base`, both maps. Returns the new map, or `base` after a failure.
static int merge(od_merger *m, int base, int over, int depth) {
  od_loader *ld = m->ld;
  if (m->failed || base == over) return base;
  m->budget -= ld->tree.node[base].count + ld->tree.node[over].count;
  if (depth > DEEPEST || m->budget < 0) {
    m->failed = true;
    if (depth > DEEPEST)
      od_complain(ld, over, "%s is nested deeper than %d levels; use fewer levels", m->what, DEEPEST);
    else
      od_complain(ld, over, "%s has too many entries to be merged, because aliases repeat entries; use fewer aliases",
                  m->what);
    return base;
  }
  OD_SCRATCH(scratch);
  od_index base_keys = {0}, over_keys = {0};
  index_keys(m, base, false, &base_keys, &scratch);
  index_keys(m, over, true, &over_keys, &scratch);
  od_map_builder b = od_map_start(m, base);
  for (int key = ld->tree.node[base].first; key >= 0 && !m->failed; key = od_next(ld, key)) {
    int value = od_value(ld, key), over_key = od_index_find(&over_keys, od_text_of(ld, key));
    int other = over_key >= 0 ? od_value(ld, over_key) : -1;
    if (other < 0)
      od_map_add(m, &b, key, value);
    else if (od_is_map(ld, value) && od_is_map(ld, other))
      od_map_add(m, &b, key, merge(m, value, other, depth + 1));
    else if (ld->tree.node[other].kind != OD_TREE_NULL)
      od_map_add(m, &b, over_key, other);
  }
  for (int key = ld->tree.node[over].first; key >= 0 && !m->failed; key = od_next(ld, key)) {
    const char *name = od_text_of(ld, key);
    bool is_new = od_index_find(&base_keys, name) < 0 && od_index_find(&over_keys, name) == key;
    if (is_new && (m->keeps_empty_keys || ld->tree.node[od_value(ld, key)].kind != OD_TREE_NULL))
      od_map_add(m, &b, key, od_value(ld, key));
  }
  return m->failed ? base : b.map;
}

int od_merge(od_merger *m, int base, int over) {
  return merge(m, base, over, 1);
}
