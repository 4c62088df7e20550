// Variants: partial files that are merged over the file.
#include <string.h>

#include "document/document.h"
#include "document/merge.h"
#include "document/suggest.h"

enum { DEEPEST = 16 };

// --- The section --------------------------------------------------------------------------------------------------

// Returns whether a variant must not have this section. A variant may have the sections of its file except the title (the first
// section), includes and variants.
static bool is_barred(const od_section_class *file, const char *name) {
  return strcmp(name, file->keys[0].name) == 0 || strcmp(name, "variants") == 0 || strcmp(name, "include") == 0;
}

// The key with the name of another variant, over which this variant is merged.
static const char extends[] = "extends";
const od_key od_variant_key = {extends, OD_TEXT, NULL,
                               "in a variant: name of the variant over which this variant is merged"};

// Reports unknown sections of a variant, and sections that a variant must not have.
static void check_variant(od_loader *ld, const od_section_class *file, int key) {
  int value = od_value(ld, key);
  const char *what = od_format(ld, "the variant '%s'", od_text_of(ld, key));
  if (ld->tree.node[value].kind == OD_TREE_NULL) return;
  if (ld->tree.node[value].kind != OD_TREE_MAP) {
    od_complain(ld, value, "found %s, expected a map for %s with sections to be merged over the sections of the %s",
                od_describe(ld, value), what, file->keys[0].name);
    return;
  }
  const char *keys[OD_MOST_KEYS + 1];
  int count = 0;
  od_section_names(file, keys);
  while (keys[count] != NULL) count++;
  keys[count] = extends;
  keys[count + 1] = NULL;
  od_section_open_names(ld, value, key, "", what, keys);
  for (int inner = ld->tree.node[value].first; inner >= 0; inner = od_next(ld, inner)) {
    const char *name = od_text_of(ld, inner);
    if (is_barred(file, name)) od_complain(ld, inner, "'%s' is not allowed in a variant; remove this key", name);
  }
}

// Checks all variants and stores their names in the document. Returns the key of the wanted variant, or -1.
static int read_variants(od_loader *ld, const od_section_class *file, int node, const char *wanted) {
  od_document *d = ld->document;
  od_index seen = {0};
  int found = -1;
  for (int key = od_first(ld, node, "variants"); key >= 0; key = od_next(ld, key)) {
    const char *name = od_text_of(ld, key);
    bool sound = od_names_check_variant(ld, key);
    if (sound && od_seen_before(ld, &seen, key)) {
      od_complain(ld, key, "the variant '%s' is given twice; remove one entry", name);
      sound = false;
    }
    check_variant(ld, file, key);
    const char **list = sound ? od_arena_extend(&d->arena, d->variant_name, d->variants, sizeof *list) : NULL;
    if (list == NULL) continue;
    d->variant_name = list;
    d->variant_name[d->variants++] = name;
    if (wanted != NULL && strcmp(name, wanted) == 0) found = key;
  }
  return found;
}

// Reports that the variant requested by the command does not exist.
static void complain_unknown(od_loader *ld, const od_section_class *file, const char *wanted) {
  const od_document *document = ld->document;
  const od_place place = {.file = "--variant"};
  const char *shown = od_excerpt(ld, wanted);
  od_nearest nearest = od_nearest_to(wanted);
  for (int i = 0; i < document->variants; i++) od_nearest_try(&nearest, document->variant_name[i]);
  const char *none = document->variants > 0 ? NULL : od_format(ld, "the %s has no variants", file->keys[0].name);
  od_messages_add(ld->messages, place, "there is no variant '%s'%s", shown, od_nearest_suggestion(&nearest, none).text);
}

// Merges the known sections of a variant over the variant that the key 'extends' names. Unknown sections have already
// been reported. Returns the node of the resulting map; -1: the variant is empty or not a map, or an allocation failed.
static int with_base(od_loader *ld, const od_section_class *file, int variants, int key, int depth) {
  int value = od_value(ld, key);
  if (ld->tree.node[value].kind != OD_TREE_MAP) return -1;
  od_merger m = od_merger_start(ld, od_variant_noun(ld));
  od_map_builder known = od_map_start(&m, value);
  for (int at = ld->tree.node[value].first; at >= 0 && !m.failed; at = od_next(ld, at))
    if (!is_barred(file, od_text_of(ld, at)) && od_section_has(file, od_text_of(ld, at)))
      od_map_add(&m, &known, at, od_value(ld, at));
  int own = m.failed ? -1 : known.map, node = od_map_find(ld, value, extends);
  const char *name = od_read_text(ld, node, extends, "the name of a variant");
  if (name == NULL || own < 0) return own;
  int base = ld->tree.node[variants].first;
  od_nearest nearest = od_nearest_to(name);
  for (; base >= 0 && strcmp(od_text_of(ld, base), name) != 0; base = od_next(ld, base))
    od_nearest_try(&nearest, od_text_of(ld, base));
  if (base < 0 || depth > DEEPEST) {
    if (base < 0)
      od_complain(ld, node, "there is no variant '%s'%s", od_excerpt(ld, name),
                  od_nearest_suggestion(&nearest, NULL).text);
    else if (ld->tree.node[variants].count <= DEEPEST)
      od_complain(ld, node, "the keys 'extends' of variants form a cycle; remove one of these keys");
    else
      od_complain(
          ld, node,
          "the keys 'extends' of variants form a cycle, or a chain of more than %d variants; remove one of these keys",
          DEEPEST);
    return own;
  }
  int below = with_base(ld, file, variants, base, depth + 1);
  if (below < 0) return own;
  m.keeps_empty_keys = true;  // a key without a value may remove an entry of the file
  return od_merge(&m, below, own);
}

int od_variant_find(od_loader *ld, const od_section_class *file, int root, const char *variant) {
  int variants = od_map_find(ld, root, "variants"), key = read_variants(ld, file, variants, variant);
  if (variant == NULL) return -1;
  if (key < 0) {
    complain_unknown(ld, file, variant);
    return -1;
  }
  ld->document->variant = od_text_of(ld, key);
  return with_base(ld, file, variants, key, 1);
}

const char *od_variant_noun(od_loader *ld) {
  return od_format(ld, "the variant '%s'", ld->document->variant != NULL ? ld->document->variant : "");
}

int od_load_variants(od_loader *ld, const od_section_class *file, int root, const char *variant) {
  int over = od_variant_find(ld, file, root, variant);
  if (over < 0) return root;
  od_merger m = od_merger_start(ld, od_variant_noun(ld));
  return od_merge(&m, root, over);
}
