// The key 'include': the including file is merged over the included files.
//
// A file is read once, even if several files include this file. A file that includes itself, directly or through other files, is an
// error. Two files that the same file includes may give the same key only if both values are maps without a common key: only the
// including file may override keys.
#include <dirent.h>
#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "base/allocate.h"
#include "io/bundle.h"
#include "document/document.h"
#include "document/merge.h"
#include "document/suggest.h"
#include "document/text_file.h"
#include "memory/scoped.h"

enum { DEEPEST = 16, MOST_FILES = 100, MOST_BYTES = 32 << 20 };

typedef struct read_file {
  dev_t device;
  ino_t number;
  const char *path;
  bool open;  // whether the file is being read; another inclusion would be an endless recursion
} read_file;

typedef struct includer {
  od_loader *ld;
  read_file file[MOST_FILES];
  int files;
  size_t bytes;
  od_status status;
} includer;

static int merge_over_included(includer *in, int root, int depth);

// Records a failure and returns -1. OD_NO_MEMORY takes precedence over other failures.
static int fail(includer *in, od_status status) {
  if (in->status == OD_OK || status == OD_NO_MEMORY) in->status = status;
  return -1;
}

// --- Reading one file ---------------------------------------------------------------------------------------------

// Returns a suggestion for a file name that does not exist: the most similar name in its folder. Without a near name, the text is
// empty.
static od_suggestion nearest_file(od_loader *ld, const char *path) {
  const char *slash = strrchr(path, '/');
  od_nearest nearest = od_nearest_to(slash ? slash + 1 : path);
  DIR *folder = opendir(slash ? od_copy(ld, path, (size_t)(slash - path) + 1) : ".");
  const struct dirent *entry;
  for (int i = 0; folder && i < 1000 && (entry = readdir(folder)); i++)
    if (entry->d_name[0] != '.') od_nearest_try(&nearest, od_copy(ld, entry->d_name, strlen(entry->d_name)));
  od_suggestion suggestion = {""};
  if (nearest.best) suggestion = od_nearest_suggestion(&nearest, NULL);
  if (folder) closedir(folder);
  return suggestion;
}

// Returns whether the file must be read now. Returns false if the file has already been read, or after reporting an error.
static bool is_new(includer *in, int node, const char *path, const struct stat *facts) {
  for (int i = 0; i < in->files; i++) {
    if (in->file[i].device != facts->st_dev || in->file[i].number != facts->st_ino) continue;
    if (in->file[i].open) {
      const char *cycle = in->file[i].path;  // "a.yaml includes b.yaml"
      for (int k = i + 1; k < in->files; k++)
        if (in->file[k].open) cycle = od_format(in->ld, "%s includes %s", cycle, in->file[k].path);
      od_complain(in->ld, node, "files include each other in a cycle: %s includes %s; remove one of the keys 'include'",
                  cycle, in->file[i].path);
      fail(in, OD_BAD_INPUT);
    }
    return false;
  }
  if (in->files == MOST_FILES) {
    od_complain(in->ld, node, "a file can include at most %d files; '%s' exceeds this limit", MOST_FILES - 1,
                od_excerpt(in->ld, path));
    fail(in, OD_BAD_INPUT);
    return false;
  }
  return true;
}

// Records a file that is being read.
static void add_file(includer *in, const char *path, const struct stat *facts) {
  in->file[in->files++] = (read_file){.device = facts->st_dev, .number = facts->st_ino, .path = path, .open = true};
}

// Reads and parses a file. Returns the node of its map, or -1 if the file is empty or after recording an error.
static int parse(includer *in, int node, const char *path) {
  od_loader *ld = in->ld;
  char *text = NULL;
  size_t length = 0;
  od_status status = od_text_file_read(path, &text, &length, ld->messages);
  in->bytes += length;
  if (status == OD_OK && in->bytes > MOST_BYTES) {
    od_complain(ld, node,
                "the included files have more than %d MB in total, the largest allowed size; include smaller files",
                MOST_BYTES >> 20);
    status = OD_BAD_INPUT;
  }
  if (status == OD_OK) status = od_tree_parse(&ld->tree, text, length, path, &ld->document->arena, ld->messages);
  od_free(text);
  if (status != OD_OK) fail(in, status);
  int root = od_tree_value(&ld->tree, ld->tree.root);
  if (status != OD_OK || root < 0 || ld->tree.node[root].kind == OD_TREE_NULL) return -1;
  if (ld->tree.node[root].kind == OD_TREE_MAP) return root;
  od_complain(ld, root, "found %s, expected a map with sections", od_describe(ld, root));
  return fail(in, OD_BAD_INPUT);
}

// Reads a file with all its included files. Returns the node of the merged map; -1: the file is empty or was already included, or
// an error occurred.
static int include_file(includer *in, int node, int depth) {
  od_loader *ld = in->ld;
  const char *name = od_read_text(ld, node, "include", "the name of a file, or a list of names");
  if (!name) return fail(in, OD_BAD_INPUT);
  const char *path = od_document_beside(ld, node, name);
  struct stat facts;
  if (od_bundle_stat(path, &facts) != 0) {
    od_complain(ld, node, "the file '%s' cannot be read: %s%s", od_excerpt(ld, path), strerror(errno),
                nearest_file(ld, path).text);
    return fail(in, OD_BAD_INPUT);
  }
  if (!is_new(in, node, path, &facts)) return -1;
  if (depth > DEEPEST) {
    od_complain(ld, node, "included files are nested deeper than %d levels; include fewer levels of files", DEEPEST);
    return fail(in, OD_BAD_INPUT);
  }
  int index = in->files;
  add_file(in, path, &facts);
  int own = parse(in, node, path);
  int root = own >= 0 ? merge_over_included(in, own, depth + 1) : -1;
  in->file[index].open = false;
  return root;
}

// --- Merging files ------------------------------------------------------------------------------------------------

static int find_key(const od_loader *ld, int map, const char *name) {
  for (int key = ld->tree.node[map].first; key >= 0; key = od_next(ld, key))
    if (strcmp(od_text_of(ld, key), name) == 0) return key;
  return -1;
}

static void complain_both(includer *in, int key, int other) {
  od_place place = od_place_of(in->ld, other);
  od_complain(in->ld, key,
              "'%s' is given here and in line %d of %s; only the file that includes both files may override a key",
              od_excerpt(in->ld, od_text_of(in->ld, key)), place.line, place.file);
  fail(in, OD_BAD_INPUT);
}

// Reports the keys that two included files have in common. If both values are maps, reports the common keys of these
// maps.
static void check_both(includer *in, int first, int second) {
  od_loader *ld = in->ld;
  for (int key = ld->tree.node[second].first; key >= 0; key = od_next(ld, key)) {
    int other = find_key(ld, first, od_text_of(ld, key));
    if (other < 0) continue;
    int value = od_value(ld, key), others = od_value(ld, other);
    if (!od_is_map(ld, value) || !od_is_map(ld, others)) {
      complain_both(in, key, other);
      continue;
    }
    OD_SCRATCH(scratch);
    od_index names = {0};
    for (int inner = ld->tree.node[others].first; inner >= 0; inner = od_next(ld, inner))
      if (!od_index_add(&names, &scratch, od_text_of(ld, inner), inner)) ld->no_memory = true;
    for (int inner = ld->tree.node[value].first; inner >= 0; inner = od_next(ld, inner)) {
      int same = od_index_find(&names, od_text_of(ld, inner));
      if (same >= 0) complain_both(in, inner, same);
    }
  }
}

static int merge(includer *in, int base, int over) {
  od_merger m = od_merger_start(in->ld, "the file");
  m.keeps_empty_keys = true;
  int merged = od_merge(&m, base, over);
  if (m.failed) fail(in, OD_BAD_INPUT);
  return merged;
}

static int without_include(includer *in, int root) {
  od_merger m = od_merger_start(in->ld, "");
  od_map_builder b = od_map_start(&m, root);
  for (int key = in->ld->tree.node[root].first; key >= 0 && !m.failed; key = od_next(in->ld, key))
    if (strcmp(od_text_of(in->ld, key), "include") != 0) od_map_add(&m, &b, key, od_value(in->ld, key));
  if (m.failed) fail(in, OD_NO_MEMORY);
  return m.failed ? root : b.map;
}

// Merges the map of a file over the maps of its included files. Returns the node of the merged map.
static int merge_over_included(includer *in, int root, int depth) {
  od_loader *ld = in->ld;
  int node = od_map_find(ld, root, "include"), base = -1;
  if (node < 0) return root;
  bool list = ld->tree.node[node].kind == OD_TREE_LIST;
  for (int at = list ? ld->tree.node[node].first : node; at >= 0; at = list ? ld->tree.node[at].next : -1) {
    int one = include_file(in, od_tree_value(&ld->tree, at), depth);
    if (in->status == OD_NO_MEMORY) return root;
    if (base >= 0 && one >= 0) check_both(in, base, one);
    if (one >= 0) base = base >= 0 ? merge(in, base, one) : one;
  }
  int own = without_include(in, root);
  return base >= 0 ? merge(in, base, own) : own;
}

int od_document_read_beside(od_loader *ld, int node, const char *name) {
  includer in = {.ld = ld};
  struct stat facts;
  const char *path = od_document_beside(ld, node, name);
  int root = ld->tree.root, found = -1;
  if (od_bundle_stat(path, &facts) != 0)
    od_complain(ld, node, "the file '%s' cannot be read: %s%s", od_excerpt(ld, path), strerror(errno),
                nearest_file(ld, path).text);
  else
    found = parse(&in, node, path);
  if (in.status == OD_NO_MEMORY) ld->no_memory = true;
  ld->tree.root = root;
  return found;
}

od_status od_document_include(od_loader *ld) {
  int root = od_tree_value(&ld->tree, ld->tree.root);
  if (!od_is_map(ld, root) || od_map_find(ld, root, "include") < 0) return OD_OK;
  includer in = {.ld = ld};
  struct stat facts;
  if (od_bundle_stat(ld->document->file, &facts) == 0) add_file(&in, ld->document->file, &facts);
  ld->tree.root = merge_over_included(&in, root, 1);
  return od_lacks_memory(ld) ? OD_NO_MEMORY : in.status;
}
