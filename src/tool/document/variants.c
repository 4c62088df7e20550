// Variants: partial files that are laid over the rest.
//
// Maps are merged key by key, everything else is replaced, and a key with nothing takes away what is there. The merged
// maps are new nodes of the tree whose entries stand for those of the file, so places stay what they are, and what
// aliases share stays shared.
#include <stdlib.h>
#include <string.h>

#include "document/reader.h"
#include "document/suggest.h"

enum { DEEPEST = 64 };

typedef struct merger {
  od_loader *ld;
  const char *what;  // "the variant 'worn'"
  int budget;        // entries that may still be visited: aliases make large machines of small files
  bool failed;       // and that has been said
} merger;

// --- Building maps ------------------------------------------------------------------------------------------------

typedef struct map_builder {
  int map, last;
} map_builder;

static int add_node(merger *m, od_tree_node node) {
  int index = od_tree_add(&m->ld->tree, node);
  if (index < 0) m->failed = m->ld->no_memory = true;
  return index;
}

static map_builder start_map(merger *m, int like) {
  od_tree_node map = m->ld->tree.node[like];
  map.first = map.next = map.target = -1;
  map.count = 0;
  return (map_builder){.map = add_node(m, map), .last = -1};
}

// An entry whose key is a copy of a key of the file, and whose value stands for a node.
static void add_entry(merger *m, map_builder *b, int key, int value) {
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

static bool is_map(const merger *m, int node) {
  return node >= 0 && m->ld->tree.node[node].kind == OD_TREE_MAP;
}

// The keys of a map by their texts; a key that comes twice is reported, or left for the section's own reader.
static void index_keys(merger *m, int map, bool report, od_index *index) {
  for (int key = m->ld->tree.node[map].first; key >= 0; key = od_next(m->ld, key)) {
    const char *name = od_text_of(m->ld, key);
    if (od_index_find(index, name) < 0) {
      if (!od_index_add(index, name, key)) m->failed = m->ld->no_memory = true;
    } else if (report) {
      od_complain(m->ld, key, "'%s' is given twice in %s", od_excerpt(m->ld, name), m->what);
    }
  }
}

static int merge(merger *m, int base, int over, int depth);

// The entries of the map below, each with what lies over it.
static void merge_entries(merger *m, map_builder *b, int base, const od_index *over_keys, int depth) {
  od_loader *ld = m->ld;
  for (int key = ld->tree.node[base].first; key >= 0 && !m->failed; key = od_next(ld, key)) {
    int value = od_value(ld, key), over_key = od_index_find(over_keys, od_text_of(ld, key));
    int over = over_key >= 0 ? od_value(ld, over_key) : -1;
    if (over < 0) {
      add_entry(m, b, key, value);
    } else if (is_map(m, value) && is_map(m, over)) {
      int merged = merge(m, value, over, depth + 1);
      add_entry(m, b, key, merged);
    } else if (ld->tree.node[over].kind != OD_TREE_NULL) {
      add_entry(m, b, over_key, over);
    }
  }
}

// The map in which `over` lies over `base`, both maps.
static int merge(merger *m, int base, int over, int depth) {
  od_loader *ld = m->ld;
  if (m->failed || base == over) return base;
  m->budget -= ld->tree.node[base].count + ld->tree.node[over].count;
  if (depth > DEEPEST || m->budget < 0) {
    m->failed = true;
    if (depth > DEEPEST)
      od_complain(ld, over, "%s is nested deeper than %d levels", m->what, DEEPEST);
    else
      od_complain(ld, over, "%s is too large to be laid over the rest", m->what);
    return base;
  }
  od_index base_keys = {0}, over_keys = {0};
  index_keys(m, base, false, &base_keys);
  index_keys(m, over, true, &over_keys);
  map_builder b = start_map(m, base);
  if (!m->failed) merge_entries(m, &b, base, &over_keys, depth);
  for (int key = ld->tree.node[over].first; key >= 0 && !m->failed; key = od_next(ld, key)) {
    const char *name = od_text_of(ld, key);
    bool is_new = od_index_find(&base_keys, name) < 0 && od_index_find(&over_keys, name) == key;
    if (is_new && ld->tree.node[od_value(ld, key)].kind != OD_TREE_NULL) add_entry(m, &b, key, od_value(ld, key));
  }
  od_index_free(&base_keys);
  od_index_free(&over_keys);
  return m->failed ? base : b.map;
}

// --- The section --------------------------------------------------------------------------------------------------

// A variant has the sections of its file, but neither a title (the first of them) nor variants of its own.
static bool is_barred(const char *const *sections, const char *name) {
  return strcmp(name, sections[0]) == 0 || strcmp(name, "variants") == 0;
}

static bool is_section(const char *const *sections, const char *name) {
  if (is_barred(sections, name)) return false;
  for (const char *const *section = sections; *section != NULL; section++)
    if (strcmp(name, *section) == 0) return true;
  return false;
}

static void check_variant(od_loader *ld, const char *const *sections, int key) {
  int value = od_value(ld, key);
  const char *what = od_format(ld, "the variant '%s'", od_text_of(ld, key));
  if (ld->tree.node[value].kind == OD_TREE_NULL) return;
  if (ld->tree.node[value].kind != OD_TREE_MAP) {
    od_complain(ld, value, "found %s, expected a map for %s with sections to be laid over those of the %s",
                od_describe(ld, value), what, sections[0]);
    return;
  }
  od_section_open(ld, value, key, "", what, sections);
  for (int inner = ld->tree.node[value].first; inner >= 0; inner = od_next(ld, inner)) {
    const char *name = od_text_of(ld, inner);
    if (is_barred(sections, name)) od_complain(ld, inner, "'%s' cannot stand in a variant", name);
  }
}

static void keep_name(od_loader *ld, const char *name) {
  od_document *document = ld->document;
  const char **grown =
      od_grow(document->variant_name, document->variants, &document->variant_capacity, sizeof *document->variant_name);
  if (grown == NULL) {
    ld->no_memory = true;
    return;
  }
  document->variant_name = grown;
  document->variant_name[document->variants++] = name;
}

// Checks all variants and returns the key of the one with this name, or -1.
static int read_variants(od_loader *ld, const char *const *sections, int node, const char *wanted) {
  od_index seen = {0};
  int found = -1;
  for (int key = od_first(ld, node, "variants"); key >= 0; key = od_next(ld, key)) {
    const char *name = od_text_of(ld, key);
    bool sound = od_names_check_variant(ld, key);
    if (sound && od_index_find(&seen, name) >= 0) {
      od_complain(ld, key, "the variant '%s' is given twice", name);
      sound = false;
    }
    check_variant(ld, sections, key);
    if (!sound) continue;
    if (!od_index_add(&seen, name, key)) ld->no_memory = true;
    keep_name(ld, name);
    if (wanted != NULL && strcmp(name, wanted) == 0) found = key;
  }
  od_index_free(&seen);
  return found;
}

static void complain_unknown(od_loader *ld, const char *const *sections, const char *wanted) {
  const od_document *document = ld->document;
  const od_place place = {.file = "--variant"};
  const char *shown = od_excerpt(ld, wanted), *list = "";
  od_nearest nearest = od_nearest_to(wanted);
  for (int i = 0; i < document->variants; i++) {
    od_nearest_try(&nearest, document->variant_name[i]);
    if (i < 12) list = od_format(ld, "%s%s%s", list, i > 0 ? ", " : "", document->variant_name[i]);
  }
  if (nearest.best != NULL)
    od_messages_add(ld->messages, place, "there is no variant '%s'; did you mean '%s'?", shown, nearest.best);
  else if (document->variants > 0)
    od_messages_add(ld->messages, place, "there is no variant '%s'; there are %s", shown, list);
  else
    od_messages_add(ld->messages, place, "there is no variant '%s'; the %s has none", shown, sections[0]);
}

// The sections of a variant that are known; the others have been reported.
static int known_sections(merger *m, const char *const *sections, int variant) {
  map_builder b = start_map(m, variant);
  for (int key = m->ld->tree.node[variant].first; key >= 0 && !m->failed; key = od_next(m->ld, key))
    if (is_section(sections, od_text_of(m->ld, key))) add_entry(m, &b, key, od_value(m->ld, key));
  return b.map;
}

int od_load_variants(od_loader *ld, const char *const *sections, int root, const char *variant) {
  od_section file = {.map = root};
  int key = read_variants(ld, sections, od_section_get(ld, &file, "variants"), variant);
  if (variant == NULL) return root;
  if (key < 0) {
    complain_unknown(ld, sections, variant);
    return root;
  }
  ld->document->variant = od_text_of(ld, key);
  merger m = {.ld = ld, .what = od_format(ld, "the variant '%s'", ld->document->variant)};
  m.budget = ld->tree.count + 100000;  // more than any file without aliases needs
  if (!is_map(&m, od_value(ld, key))) return root;
  int over = known_sections(&m, sections, od_value(ld, key));
  return m.failed ? root : merge(&m, root, over, 1);
}
