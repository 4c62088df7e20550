// Kinds of records: v variant, 3 spatial, s a value of --set, p the path of a file, c the content of that file, t the stored tree of
// that file.
#include "machine/machine_records.h"

#include <stdint.h>
#include <string.h>

#include "base/allocate.h"
#include "document/tree_store.h"
#include "machine/machine_loader.h"
#include "memory/owned.h"

// --- Writing ------------------------------------------------------------------------------------------------------

void od_records_free(od_records *r) {
  od_free(r->bytes);
  *r = (od_records){0};
}

void od_records_append(od_records *r, char kind, const void *bytes, size_t size) {
  uint64_t length = size + 1;
  size_t needed = r->size + sizeof length + (size_t)length;
  if (needed > r->room && !r->no_memory) {
    char *larger = od_realloc(r->bytes, 2 * needed);
    r->no_memory = larger == NULL;
    if (larger) r->bytes = larger, r->room = 2 * needed;
  }
  if (r->no_memory) return;
  memcpy(r->bytes + r->size, &length, sizeof length);
  r->bytes[r->size + sizeof length] = kind;
  if (size) memcpy(r->bytes + r->size + sizeof length + 1, bytes, size);
  r->size = needed;
}

// Appends the tree of a YAML file. The file was parsed before, so only an allocation can fail.
static void append_tree(od_records *r, const od_bundled *file) {
  OD_SCRATCH(scratch);
  OD_OWNED(od_messages_free) od_messages *unread = od_messages_new();
  od_tree tree = {0};
  size_t size = 0;
  char *bytes = NULL;
  if (unread && od_tree_parse(&tree, file->bytes, file->size, file->path, &scratch, unread) == OD_OK)
    bytes = od_tree_store(&tree, &scratch, &size);
  od_tree_free(&tree);
  if (bytes)
    od_records_append(r, 't', bytes, size);
  else
    r->no_memory = true;
}

void od_machine_records_append(od_records *r, const od_machine *machine, const od_bundle *files, od_records_form form) {
  const od_load_options *o = &machine->loaded;
  if (o->variant) od_records_append(r, 'v', o->variant, strlen(o->variant));
  if (o->spatial) od_records_append(r, '3', NULL, 0);
  for (int i = 0; i < o->set_count; i++) od_records_append(r, 's', o->set[i], strlen(o->set[i]));
  for (int i = 0; i < files->files; i++) {
    const od_bundled *file = &files->file[i];
    od_records_append(r, 'p', file->path, strlen(file->path));
    if (form == OD_RECORDS_TREES && file->is_yaml)
      append_tree(r, file);
    else
      od_records_append(r, 'c', file->bytes, file->size);
  }
}

// --- Reading ------------------------------------------------------------------------------------------------------

bool od_records_take(const char **at, size_t *size, char *kind, const char **bytes, size_t *count) {
  uint64_t length;
  if (*size < sizeof length) return false;
  memcpy(&length, *at, sizeof length);
  *at += sizeof length, *size -= sizeof length;
  if (length < 1 || length > *size) return false;
  *kind = **at;
  *bytes = *at + 1;
  *count = (size_t)length - 1;
  *at += length, *size -= (size_t)length;
  return true;
}

void od_machine_source_free(od_machine_source *s) {
  od_arena_free(&s->files.arena);
  *s = (od_machine_source){0};
}

bool od_machine_source_take(od_machine_source *s, const char **path, char kind, const char *bytes, size_t count) {
  od_arena *arena = &s->files.arena;
  bool is_file = kind == 'c' || kind == 't';
  char *text = is_file ? NULL : od_arena_take(arena, count + 1);
  if (text && count) memcpy(text, bytes, count);
  switch (kind) {
    case 'v': s->variant = text; return true;
    case '3': s->spatial = true; return true;
    case 's': {
      const char **longer = od_arena_extend(arena, s->set, s->sets, sizeof *longer);
      if (longer) s->set = longer, s->set[s->sets++] = text;
      return true;
    }
    case 'p': *path = text; return true;
    case 'c':
    case 't':
      if (*path) od_bundle_add(&s->files, *path, bytes, count, false);
      *path = NULL;
      return true;
    default: return false;
  }
}

// Returns whether the caller's options replace the number of "path=value".
static bool is_replaced(const od_load_options *options, const char *value) {
  size_t length = strcspn(value, "=");
  for (int i = 0; i < options->set_count; i++)
    if (strcspn(options->set[i], "=") == length && strncmp(options->set[i], value, length) == 0) return true;
  return false;
}

od_status od_machine_source_load(const od_machine_source *s, const od_load_options *options, od_machine_loader *load,
                                 od_machine **machine, od_messages *messages) {
  OD_SCRATCH(scratch);
  const char **set = OD_TAKE(&scratch, const char *, s->sets + options->set_count);
  if (!set) return OD_NO_MEMORY;
  int sets = 0;
  for (int i = 0; i < s->sets; i++)
    if (!is_replaced(options, s->set[i])) set[sets++] = s->set[i];
  for (int i = 0; i < options->set_count; i++) set[sets++] = options->set[i];
  od_load_options all = {.set = set,
                         .set_count = sets,
                         .spatial = options->spatial || s->spatial,
                         .variant = options->variant ? options->variant : s->variant};
  const od_bundle *before = od_bundle_use(&s->files);
  od_status status = load(s->files.file[0].path, &all, machine, messages);
  od_bundle_use(before);
  return status;
}
