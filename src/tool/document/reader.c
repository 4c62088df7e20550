// Access to the tree of a file, with messages about unexpected contents.
#include "document/reader.h"

#include <string.h>

#include "document/suggest.h"

enum { LONGEST_EXCERPT = 60, LONGEST_NAME = 60, MOST_UNKNOWN = 100 };

// --- Messages ---------------------------------------------------------------------------------------------------

od_place od_place_of(const od_loader *ld, int node) {
  od_place place = {.file = ld->document->file};
  if (node >= 0) {
    const od_tree_node *n = &ld->tree.node[node];
    const od_tree_origin *origin = &ld->tree.origin[n->origin];
    place = (od_place){origin->file, n->line, n->column, origin->context, origin->scope};
  }
  return place;
}

void od_complain(od_loader *ld, int node, const char *format, ...) {
  va_list args;
  va_start(args, format);
  od_messages_sayv(ld->messages, false, od_place_of(ld, node), format, args);
  va_end(args);
}

void od_complain_unknown(od_loader *ld, int node, const char *what, const char *all, const od_nearest *nearest) {
  const char *long_list = od_format(ld, "'oleodyn info FILE' lists all %s", all);
  od_complain(ld, node, "there is no %s '%s'%s", what, od_excerpt(ld, nearest->word),
              od_nearest_suggestion(nearest, long_list).text);
}

bool od_has_errors(const od_loader *ld) {
  return od_messages_errors(ld->messages) > ld->first_error;
}

const char *od_copy(od_loader *ld, const char *text, size_t length) {
  return od_texts_copy(&ld->document->arena, text, length);
}

const char *od_format(od_loader *ld, const char *format, ...) {
  va_list args;
  va_start(args, format);
  const char *text = od_texts_formatv(&ld->document->arena, format, args);
  va_end(args);
  return text;
}

const char *od_excerpt(od_loader *ld, const char *text) {
  size_t length = strlen(text);
  if (length <= LONGEST_EXCERPT) return text;
  length = LONGEST_EXCERPT;
  while (length > 0 && ((unsigned char)text[length] & 0xc0) == 0x80) length--;
  return od_format(ld, "%.*s...", (int)length, text);
}

const char *od_describe(od_loader *ld, int node) {
  const od_tree_node *n = &ld->tree.node[od_entry(ld, node)];
  switch (n->kind) {
    case OD_TREE_MAP: return "a map";
    case OD_TREE_LIST: return "a list";
    case OD_TREE_TEXT: return od_format(ld, "'%s'", od_excerpt(ld, n->text));
    default: return "nothing";
  }
}

// --- Walking ------------------------------------------------------------------------------------------------------

const char *od_text_of(const od_loader *ld, int node) {
  return ld->tree.node[node].text;
}

int od_map_first(const od_loader *ld, int node) {
  return od_is_map(ld, node) ? ld->tree.node[node].first : -1;
}

int od_list_first(const od_loader *ld, int node) {
  return od_is_list(ld, node) ? ld->tree.node[node].first : -1;
}

int od_list_count(const od_loader *ld, int node) {
  return od_is_list(ld, node) ? ld->tree.node[node].count : 0;
}

int od_map_find(const od_loader *ld, int map, const char *name) {
  for (int key = od_map_first(ld, map); key >= 0; key = od_next(ld, key))
    if (strcmp(od_text_of(ld, key), name) == 0) return od_value(ld, key);
  return -1;
}

int od_value(const od_loader *ld, int key) {
  return od_tree_value(&ld->tree, ld->tree.node[key].next);
}

int od_next(const od_loader *ld, int key) {
  return ld->tree.node[ld->tree.node[key].next].next;
}

int od_first(od_loader *ld, int node, const char *what) {
  if (!od_is_map(ld, node) && !od_is_null(ld, node))
    od_complain(ld, node, "found %s, expected a map of %s", od_describe(ld, node), what);
  return od_map_first(ld, node);
}

bool od_seen_before(od_loader *ld, od_index *seen, int key) {
  if (od_index_find(seen, od_text_of(ld, key)) >= 0) return true;
  od_index_add(seen, &ld->scratch, od_text_of(ld, key), key);
  return false;
}

// --- Names --------------------------------------------------------------------------------------------------------

static bool check_name(od_loader *ld, int node, bool digit_first) {
  const char *name = od_text_of(ld, node);
  bool sound = od_is_letter(name[0]) || (digit_first && od_is_digit(name[0]));
  for (const char *c = name; *c != '\0'; c++)
    sound = sound && (od_is_letter(*c) || od_is_digit(*c) || *c == '_' || *c == '-');
  if (!sound)
    od_complain(ld, node,
                "'%s' cannot be a name; a name consists of letters, digits, '_' and '-' and starts with a letter%s",
                od_excerpt(ld, name), digit_first ? " or a digit" : "");
  else if (strlen(name) > LONGEST_NAME)
    od_complain(ld, node, "the name '%s' is longer than %d characters; choose a shorter name", od_excerpt(ld, name),
                LONGEST_NAME);
  else
    return true;
  return false;
}

bool od_names_check(od_loader *ld, int node) {
  return check_name(ld, node, false);
}

bool od_names_check_variant(od_loader *ld, int node) {
  return check_name(ld, node, true);
}

// --- Sections -----------------------------------------------------------------------------------------------------

// Returns the index of a word in a list that ends with NULL, or -1.
static int index_of(const char *word, const char *const *words) {
  for (int i = 0; words[i] != NULL; i++)
    if (strcmp(word, words[i]) == 0) return i;
  return -1;
}

// Returns a list of words: "a, b or c". The document owns the text.
static const char *enumerate(od_loader *ld, const char *const *words) {
  const char *text = "";
  for (int i = 0; words[i] != NULL; i++) {
    const char *comma = i == 0 ? "" : words[i + 1] == NULL ? " or " : ", ";
    text = od_format(ld, "%s%s%s", text, comma, words[i]);
  }
  return text;
}

static const char *nearest_of(const char *word, const char *const *words) {
  od_nearest nearest = od_nearest_to(word);
  for (; *words != NULL; words++) od_nearest_try(&nearest, *words);
  return nearest.best;
}

// Reports an unknown key. `before`: number of unknown keys of the section before this key.
static void complain_unknown_key(od_loader *ld, int key, od_section *section, const char *const *keys, int before) {
  section->has_unknown = true;
  if (before == MOST_UNKNOWN)
    od_complain(ld, key, "%s has more than %d unknown keys; check the kind of the section", section->what,
                MOST_UNKNOWN);
  if (before >= MOST_UNKNOWN) return;
  const char *name = od_text_of(ld, key), *nearest = nearest_of(name, keys), *what = section->what;
  for (int i = 0; i < 4 && nearest != NULL; i++) {
    if (section->meant[i] != NULL) continue;
    section->meant[i] = nearest;
    break;
  }
  if (nearest != NULL)
    od_complain(ld, key, "unknown key '%s' in %s; did you mean '%s'?", od_excerpt(ld, name), what, nearest);
  else if (strcmp(name, "<<") == 0)
    od_complain(ld, key, "merge keys ('<<') are not supported; use an alias for the whole value");
  else
    od_complain(ld, key, "unknown key '%s' in %s; expected %s", od_excerpt(ld, name), what, enumerate(ld, keys));
}

od_section od_section_open_names(od_loader *ld, int value, int node, const char *path, const char *what,
                                 const char *const *keys) {
  od_section section = {.map = -1, .node = node, .path = path, .what = what};
  if (value < 0) return section;
  if (!od_is_map(ld, value)) {
    od_complain(ld, value, "found %s, expected a map for %s with %s", od_describe(ld, value), what,
                enumerate(ld, keys));
    return section;
  }
  section.map = value;
  bool given[OD_MOST_KEYS + 1] = {false};
  int repeated = 0, unknown = 0;
  for (int key = ld->tree.node[value].first; key >= 0; key = od_next(ld, key)) {
    int known = index_of(od_text_of(ld, key), keys);
    if (known < 0)
      complain_unknown_key(ld, key, &section, keys, unknown++);
    else if (given[known] && repeated++ < MOST_UNKNOWN)
      od_complain(ld, key, "'%s' is given twice in %s; remove one entry", od_text_of(ld, key), what);
    if (known >= 0) given[known] = true;
  }
  return section;
}

od_section od_section_open(od_loader *ld, int value, int node, const char *path, const char *what,
                           const od_section_class *c) {
  const char *names[OD_MOST_KEYS];
  od_section_names(c, names);
  od_section section = od_section_open_names(ld, value, node, path, what, names);
  section.of = c;
  return section;
}

od_section od_section_empty(const od_section_class *c, int node, const char *path, const char *what) {
  return (od_section){.of = c, .map = -1, .node = node, .path = path, .what = what};
}

int od_section_get(const od_loader *ld, const od_section *section, const char *key) {
  return od_map_find(ld, section->map, key);
}

int od_section_need(od_loader *ld, const od_section *section, const char *key) {
  int node = od_section_get(ld, section, key);
  if (node < 0) od_section_lacks(ld, section, key);
  return node;
}

bool od_section_means(const od_section *section, const char *key) {
  for (int i = 0; i < 4; i++)
    if (section->meant[i] != NULL && strcmp(section->meant[i], key) == 0) return true;
  return false;
}

void od_section_lacks(od_loader *ld, const od_section *section, const char *key) {
  if (section->map >= 0 && !od_section_means(section, key))
    od_complain(ld, section->node, "%s needs '%s'", section->what, key);
}

// --- Values -------------------------------------------------------------------------------------------------------

const char *od_read_text(od_loader *ld, int node, const char *label, const char *wanted) {
  if (node < 0) return NULL;
  if (od_is_text(ld, node)) return od_text_of(ld, node);
  od_complain(ld, node, "found %s; '%s' must be %s", od_describe(ld, node), label, wanted);
  return NULL;
}

bool od_read_flag(od_loader *ld, const od_section *section, const char *key) {
  static const char *const choices[] = {"false", "true", NULL};
  int node = od_section_get(ld, section, key);
  int chosen = node >= 0 ? od_read_choice(ld, node, key, choices) : -1;
  return chosen >= 0 ? chosen == 1 : od_key_of(section->of, key)->fallback != 0;
}

int od_read_choice(od_loader *ld, int node, const char *label, const char *const *choices) {
  const char *list = enumerate(ld, choices);
  const char *text = od_read_text(ld, node, label, list);
  if (text == NULL) return -1;
  if (index_of(text, choices) >= 0) return index_of(text, choices);
  const char *nearest = nearest_of(text, choices);
  if (nearest != NULL)
    od_complain(ld, node, "found '%s'; did you mean '%s'?", od_excerpt(ld, text), nearest);
  else
    od_complain(ld, node, "found '%s'; '%s' must be %s", od_excerpt(ld, text), label, list);
  return -1;
}

int od_key_choice(od_loader *ld, const od_section *section, const char *name) {
  const od_key *key = od_key_of(section->of, name);
  int node = isnan(key->fallback) ? od_section_need(ld, section, name) : od_section_get(ld, section, name);
  if (node < 0) return isnan(key->fallback) ? -1 : (int)key->fallback;
  const char *words[OD_MOST_KEYS], *word;
  int count = 0, length = 0;
  for (; count + 1 < OD_MOST_KEYS && (word = od_key_word(key, count, &length)) != NULL; count++)
    words[count] = od_copy(ld, word, (size_t)length);
  words[count] = NULL;
  return od_read_choice(ld, node, name, words);
}

int od_key_setting(od_loader *ld, const od_section *section, const char *name) {
  int chosen = od_key_choice(ld, section, name);
  return chosen >= 0 ? chosen : (int)od_key_of(section->of, name)->fallback;
}

const char *od_key_text(od_loader *ld, const od_section *section, const char *name, const char *wanted) {
  bool required = isnan(od_key_of(section->of, name)->fallback);
  int node = required ? od_section_need(ld, section, name) : od_section_get(ld, section, name);
  return od_read_text(ld, node, name, wanted);
}

bool od_read_list(od_loader *ld, int node, const char *label, const char *wanted, int count, int *entries) {
  if (node < 0) return false;
  if (od_list_count(ld, node) != count) {
    const char *found = od_is_list(ld, node) ? od_format(ld, "a list of length %d", od_list_count(ld, node)) : NULL;
    od_complain(ld, node, "found %s; '%s' must be %s", found ? found : od_describe(ld, node), label, wanted);
    return false;
  }
  for (int at = od_list_first(ld, node); at >= 0; at = ld->tree.node[at].next) *entries++ = od_entry(ld, at);
  return true;
}
