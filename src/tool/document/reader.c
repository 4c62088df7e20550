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
  od_messages_addv(ld->messages, od_place_of(ld, node), format, args);
  va_end(args);
}

bool od_has_errors(const od_loader *ld) {
  return od_messages_errors(ld->messages) > ld->first_error;
}

const char *od_copy(od_loader *ld, const char *text, size_t length) {
  return od_texts_copy(&ld->document->texts, text, length);
}

const char *od_format(od_loader *ld, const char *format, ...) {
  va_list args;
  va_start(args, format);
  const char *text = od_texts_formatv(&ld->document->texts, format, args);
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
  const od_tree_node *n = &ld->tree.node[od_tree_value(&ld->tree, node)];
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

static int first_key(const od_loader *ld, int node) {
  return ld->tree.node[node].kind == OD_TREE_MAP ? ld->tree.node[node].first : -1;
}

int od_map_find(const od_loader *ld, int map, const char *name) {
  for (int key = first_key(ld, map); key >= 0; key = od_next(ld, key))
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
  if (node < 0) return -1;
  const od_tree_node *n = &ld->tree.node[node];
  if (n->kind != OD_TREE_MAP && n->kind != OD_TREE_NULL)
    od_complain(ld, node, "found %s, expected a map of %s", od_describe(ld, node), what);
  return n->kind == OD_TREE_MAP ? n->first : -1;
}

// --- Names --------------------------------------------------------------------------------------------------------

static bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

static bool is_well_formed(const char *name, bool digit_first) {
  if (!is_letter(name[0]) && !(digit_first && is_digit(name[0]))) return false;
  for (const char *c = name; *c != '\0'; c++)
    if (!is_letter(*c) && !is_digit(*c) && *c != '_' && *c != '-') return false;
  return true;
}

static bool check_name(od_loader *ld, int node, bool digit_first) {
  const char *name = od_text_of(ld, node);
  if (!is_well_formed(name, digit_first))
    od_complain(ld, node, "'%s' cannot be a name; names are letters, digits, '_' and '-' and start with a letter%s",
                od_excerpt(ld, name), digit_first ? " or a digit" : "");
  else if (strlen(name) > LONGEST_NAME)
    od_complain(ld, node, "the name '%s' is longer than %d characters", od_excerpt(ld, name), LONGEST_NAME);
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

static bool is_among(const char *word, const char *const *words) {
  for (; *words != NULL; words++)
    if (strcmp(word, *words) == 0) return true;
  return false;
}

// "a, b or c"
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

// `before`: number of unknown keys of the section before this one.
static void complain_unknown_key(od_loader *ld, int key, od_section *section, const char *const *keys, int before) {
  section->has_unknown = true;
  if (before == MOST_UNKNOWN) od_complain(ld, key, "%s has more than %d unknown keys", section->what, MOST_UNKNOWN);
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

// There are few known keys, so each is compared with those before it.
static bool is_repeated(const od_loader *ld, int map, int key) {
  for (int other = ld->tree.node[map].first; other != key; other = od_next(ld, other))
    if (strcmp(od_text_of(ld, other), od_text_of(ld, key)) == 0) return true;
  return false;
}

od_section od_section_open_names(od_loader *ld, int value, int node, const char *path, const char *what,
                                 const char *const *keys) {
  od_section section = {.map = -1, .node = node, .path = path, .what = what};
  if (value < 0) return section;
  if (ld->tree.node[value].kind != OD_TREE_MAP) {
    od_complain(ld, value, "found %s, expected a map for %s with %s", od_describe(ld, value), what,
                enumerate(ld, keys));
    return section;
  }
  section.map = value;
  int repeated = 0, unknown = 0;
  for (int key = ld->tree.node[value].first; key >= 0; key = od_next(ld, key)) {
    if (!is_among(od_text_of(ld, key), keys))
      complain_unknown_key(ld, key, &section, keys, unknown++);
    else if (repeated < MOST_UNKNOWN && is_repeated(ld, value, key))
      repeated++, od_complain(ld, key, "'%s' is given twice in %s", od_text_of(ld, key), what);
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
  if (ld->tree.node[node].kind == OD_TREE_TEXT) return ld->tree.node[node].text;
  od_complain(ld, node, "found %s; '%s' wants %s", od_describe(ld, node), label, wanted);
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
  for (int i = 0; choices[i] != NULL; i++)
    if (strcmp(text, choices[i]) == 0) return i;
  const char *nearest = nearest_of(text, choices);
  if (nearest != NULL)
    od_complain(ld, node, "found '%s'; did you mean '%s'?", od_excerpt(ld, text), nearest);
  else
    od_complain(ld, node, "found '%s'; '%s' wants %s", od_excerpt(ld, text), label, list);
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
  const od_tree_node *n = &ld->tree.node[node];
  if (n->kind != OD_TREE_LIST) {
    od_complain(ld, node, "found %s; '%s' wants %s", od_describe(ld, node), label, wanted);
    return false;
  }
  if (n->count != count) {
    od_complain(ld, node, "found a list of %d; '%s' wants %s", n->count, label, wanted);
    return false;
  }
  int entry = n->first;
  for (int i = 0; i < count; i++, entry = ld->tree.node[entry].next) entries[i] = od_tree_value(&ld->tree, entry);
  return true;
}
