#include "document/file_kind.h"

#include <string.h>

#include "document/reader.h"

// Sections that determine the kind of a file. A file of a later kind may also have sections of an earlier kind.
static const struct {
  const char *section;
  od_file_kind kind;
} marks[] = {{"bodies", OD_FILE_MACHINE},     {"joints", OD_FILE_MACHINE},        {"volumes", OD_FILE_MACHINE},
             {"blocks", OD_FILE_MACHINE},     {"templates", OD_FILE_MACHINE},     {"instances", OD_FILE_MACHINE},
             {"sensors", OD_FILE_EXPERIMENT}, {"experiment", OD_FILE_EXPERIMENT}, {"fit", OD_FILE_FIT},
             {"sets", OD_FILE_FIT},           {"prepare", OD_FILE_FIT},           {"combinations", OD_FILE_FIT},
             {"constraints", OD_FILE_FIT},    {"friction", OD_FILE_FRICTION},     {"laws", OD_FILE_FRICTION},
             {"study", OD_FILE_STUDY},        {"cases", OD_FILE_STUDY},           {"twin", OD_FILE_TWIN},
             {"machines", OD_FILE_TWIN},      {"history", OD_FILE_TWIN}};

static od_file_kind kind_of_section(const char *name) {
  for (size_t i = 0; i < sizeof marks / sizeof *marks; i++)
    if (strcmp(marks[i].section, name) == 0) return marks[i].kind;
  return OD_FILE_UNKNOWN;
}

// Returns the last kind (in the order of od_file_kind) of which the file has a section. *first: the first such kind.
static od_file_kind kinds_of(const od_tree *tree, od_file_kind *first) {
  od_file_kind last = *first = OD_FILE_UNKNOWN;
  int root = od_tree_value(tree, tree->root);
  int key = root >= 0 && tree->node[root].kind == OD_TREE_MAP ? tree->node[root].first : -1;
  for (; key >= 0; key = tree->node[tree->node[key].next].next) {
    od_file_kind kind = tree->node[key].kind == OD_TREE_TEXT ? kind_of_section(tree->node[key].text) : OD_FILE_UNKNOWN;
    if (kind > last) last = kind;
    if (kind != OD_FILE_UNKNOWN && (*first == OD_FILE_UNKNOWN || kind < *first)) *first = kind;
  }
  return last;
}

od_file_kind od_file_kind_of(const od_tree *tree) {
  od_file_kind first;
  return kinds_of(tree, &first);
}

static bool is_experiment(od_file_kind kind) {
  return kind == OD_FILE_EXPERIMENT || kind == OD_FILE_FIT;
}

bool od_is_other_kind(od_loader *ld, od_file_kind expected) {
  static const struct {
    const char *name, *commands;
  } kinds[] = {[OD_FILE_MACHINE] = {"a machine file", "use 'oleodyn simulate' or 'oleodyn info'"},
               [OD_FILE_EXPERIMENT] = {"an experiment file", "use 'oleodyn observe'"},
               [OD_FILE_FIT] = {"a fit file", "use 'oleodyn fit'"},
               [OD_FILE_FRICTION] = {"a friction file", "use 'oleodyn friction-fit'"},
               [OD_FILE_STUDY] = {"a study file", "use 'oleodyn study'"},
               [OD_FILE_TWIN] = {"a twin file", "use 'oleodyn twin'"}};
  od_file_kind first, found = kinds_of(&ld->tree, &first);
  // Friction files also have a section 'fit'.
  bool several = first != found && !(is_experiment(first) && is_experiment(found)) &&
                 !(first == OD_FILE_FIT && found == OD_FILE_FRICTION);
  bool fits = found == expected || (is_experiment(found) && is_experiment(expected));
  if (found == OD_FILE_UNKNOWN || several || fits) return false;
  od_complain(ld, ld->tree.root, "found %s, expected %s; %s", kinds[found].name, kinds[expected].name,
              kinds[found].commands);
  return true;
}
