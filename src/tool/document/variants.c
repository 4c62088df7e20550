// Variants: partial files that are laid over the rest.
#include <stdlib.h>
#include <string.h>

#include "document/document.h"
#include "document/merge.h"
#include "document/suggest.h"

enum { MOST_KEYS = 160, DEEPEST = 16 };

// --- The section --------------------------------------------------------------------------------------------------

// A variant has the sections of its file, but no title (the first of them), and neither includes nor variants of its own.
static bool is_barred(const char *const *sections, const char *name) {
  return strcmp(name, sections[0]) == 0 || strcmp(name, "variants") == 0 || strcmp(name, "include") == 0;
}

// A variant may lie over another one, which comes first.
static const char extends[] = "extends";

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
  const char *keys[MOST_KEYS];
  int count = 0;
  while (count < MOST_KEYS - 2 && sections[count] != NULL) keys[count] = sections[count], count++;
  keys[count] = extends;
  keys[count + 1] = NULL;
  od_section_open(ld, value, key, "", what, keys);
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
static int known_sections(od_loader *ld, const char *const *sections, int variant) {
  od_merger m = od_merger_start(ld, "");
  od_map_builder b = od_map_start(&m, variant);
  for (int key = ld->tree.node[variant].first; key >= 0 && !m.failed; key = od_next(ld, key))
    if (is_section(sections, od_text_of(ld, key))) od_map_add(&m, &b, key, od_value(ld, key));
  return m.failed ? -1 : b.map;
}

// The variant laid over the one that it extends: the node of its map, or -1: it is empty.
static int with_base(od_loader *ld, const char *const *sections, int variants, int key, int depth) {
  int value = od_value(ld, key);
  if (ld->tree.node[value].kind != OD_TREE_MAP) return -1;
  int own = known_sections(ld, sections, value), node = od_map_find(ld, value, extends);
  const char *name = od_read_text(ld, node, extends, "the name of a variant");
  if (name == NULL || own < 0) return own;
  int base = ld->tree.node[variants].first;
  od_nearest nearest = od_nearest_to(name);
  for (; base >= 0 && strcmp(od_text_of(ld, base), name) != 0; base = od_next(ld, base))
    od_nearest_try(&nearest, od_text_of(ld, base));
  if (base < 0 || depth > DEEPEST) {
    if (base < 0)
      od_complain(ld, node, "there is no variant '%s'%s", od_excerpt(ld, name), od_nearest_suggestion(&nearest).text);
    else
      od_complain(ld, node, "variants extend each other without end, or more than %d deep", DEEPEST);
    return own;
  }
  int below = with_base(ld, sections, variants, base, depth + 1);
  if (below < 0) return own;
  od_merger m = od_merger_start(ld, od_variant_noun(ld));
  m.keeps_nothing = true;  // it may take away what is in the file
  return od_merge(&m, below, own);
}

int od_variant_find(od_loader *ld, const char *const *sections, int root, const char *variant) {
  od_section file = {.map = root};
  int variants = od_section_get(ld, &file, "variants"), key = read_variants(ld, sections, variants, variant);
  if (variant == NULL) return -1;
  if (key < 0) {
    complain_unknown(ld, sections, variant);
    return -1;
  }
  ld->document->variant = od_text_of(ld, key);
  return with_base(ld, sections, variants, key, 1);
}

const char *od_variant_noun(od_loader *ld) {
  return od_format(ld, "the variant '%s'", ld->document->variant != NULL ? ld->document->variant : "");
}

int od_load_variants(od_loader *ld, const char *const *sections, int root, const char *variant) {
  int over = od_variant_find(ld, sections, root, variant);
  if (over < 0) return root;
  od_merger m = od_merger_start(ld, od_variant_noun(ld));
  return od_merge(&m, root, over);
}
