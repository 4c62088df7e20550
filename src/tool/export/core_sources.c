// The file symbols.txt of the copy lists the symbols of each source: `D path symbol` for a definition, `U path symbol` for a use
// (scripts/core-symbols). Headers are found by reading the lines #include "..." of the sources.
#include "export/core_sources.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/allocate.h"
#include "io/helper.h"

#define SYMBOLS "core/symbols.txt"

typedef struct symbol {
  char kind;
  const char *path, *name;
} symbol;

typedef struct search {
  od_core_sources *s;
  od_arena memory;
  symbol *symbol;
  int symbols;
  od_find_role *role;
  const void *user;
} search;

void od_core_sources_free(od_core_sources *s) {
  od_arena_free(&s->arena);
}

// Reads a file as text that belongs to the arena. Fails with OD_IO or OD_NO_MEMORY.
static od_status read_text(od_arena *arena, const char *path, char **text, od_error *err) {
  FILE *f = fopen(path, "rb");
  if (!f) return od_fail(err, OD_IO, "%s cannot be read: %s", path, strerror(errno));
  long size = fseek(f, 0, SEEK_END) == 0 ? ftell(f) : -1;
  bool is_read = size >= 0 && fseek(f, 0, SEEK_SET) == 0;
  *text = is_read ? od_arena_take(arena, (size_t)size + 1) : NULL;
  if (*text) is_read = fread(*text, 1, (size_t)size, f) == (size_t)size;
  fclose(f);
  if (!is_read) return od_fail(err, OD_IO, "%s cannot be read; install oleodyn again", path);
  return *text ? OD_OK : od_fail(err, OD_NO_MEMORY, "out of memory");
}

// Reads symbols.txt. Fails with OD_IO or OD_NO_MEMORY.
static od_status read_symbols(search *k, const char *path, od_error *err) {
  char *text;
  od_status status = read_text(&k->memory, path, &text, err);
  if (status != OD_OK) return status;
  for (char *line = text, *next; *line; line = next) {
    size_t length = strcspn(line, "\n");
    next = line + length + (line[length] == '\n');
    line[length] = '\0';
    char *from = line + 2, *name = length > 2 ? strchr(from, ' ') : NULL;
    if (!name) return od_fail(err, OD_IO, "%s is damaged", path);
    *name++ = '\0';
    k->symbol = od_arena_extend(&k->memory, k->symbol, k->symbols, sizeof *k->symbol);
    if (!k->symbol) return od_fail(err, OD_NO_MEMORY, "out of memory");
    k->symbol[k->symbols++] = (symbol){line[0], from, name};
  }
  return OD_OK;
}

static bool has(const od_core_sources *s, const char *path) {
  for (int i = 0; i < s->count; i++)
    if (strcmp(s->path[i], path) == 0) return true;
  return false;
}

static bool add(od_core_sources *s, const char *path) {
  if (has(s, path)) return true;
  s->path = od_arena_extend(&s->arena, s->path, s->count, sizeof *s->path);
  char *copy = od_arena_text(&s->arena, path);
  if (s->path) s->path[s->count++] = copy;
  return s->path && copy;
}

static bool add_roots(search *k) {
  for (int i = 0; i < k->symbols; i++) {
    const symbol *d = &k->symbol[i];
    if (d->kind == 'D' && k->role(k->user, d->path, d->name) == OD_SYMBOL_ROOT && !add(k->s, d->path)) return false;
  }
  return true;
}

// Adds the sources that define the symbols that a source uses. Returns false if an allocation fails.
static bool follow_symbols(search *k, const char *path) {
  for (int i = 0; i < k->symbols; i++) {
    if (k->symbol[i].kind != 'U' || strcmp(k->symbol[i].path, path) != 0) continue;
    for (int j = 0; j < k->symbols; j++) {
      const symbol *d = &k->symbol[j];
      if (d->kind == 'D' && strcmp(d->name, k->symbol[i].name) == 0 &&
          k->role(k->user, d->path, d->name) != OD_SYMBOL_LEFT_OUT && !add(k->s, d->path))
        return false;
    }
  }
  return true;
}

// Adds the headers that a file includes with quotes. Headers of the exported program are included by a macro (OD_PARTS in
// base/parts.h) and are not added. Fails with OD_IO or OD_NO_MEMORY.
static od_status follow_includes(search *k, const char *path, od_error *err) {
  static const char mark[] = "#include \"";
  char *file = od_arena_format(&k->memory, "%s/%s", k->s->folder, path);
  if (!file) return od_fail(err, OD_NO_MEMORY, "out of memory");
  char *text;
  od_status status = read_text(&k->memory, file, &text, err);
  if (status != OD_OK) return status;
  for (char *at = strstr(text, mark); at; at = strstr(at, mark)) {
    at += strlen(mark);
    size_t length = strcspn(at, "\"\n");
    const char *place = strncmp(at, "oleodyn/", 8) == 0 ? "include" : "src";
    char *header = od_arena_format(&k->memory, "%s/%.*s", place, (int)length, at);
    if (!header || !add(k->s, header)) return od_fail(err, OD_NO_MEMORY, "out of memory");
  }
  return OD_OK;
}

static int by_text(const void *a, const void *b) {
  return strcmp(*(char *const *)a, *(char *const *)b);
}

od_status od_core_sources_find(od_core_sources *s, od_find_role *role, const void *user, od_error *err) {
  char path[OD_HELPER_PATH_SIZE];
  if (!od_helper_find_file(path, SYMBOLS))
    return od_fail(err, OD_IO,
                   "the sources of the core are missing; they are part of oleodyn; install oleodyn again, or set "
                   "OLEODYN_HELPERS to the folder with %s",
                   SYMBOLS);
  search k = {.s = s, .role = role, .user = user};
  od_status status = read_symbols(&k, path, err);
  *strrchr(path, '/') = '\0';
  s->folder = od_arena_text(&s->arena, path);
  bool ok = s->folder && add_roots(&k);
  for (const char *const *header = s->headers; header && *header && ok; header++) ok = add(s, *header);
  for (int i = 0; i < s->count && ok && status == OD_OK; i++) {
    ok = follow_symbols(&k, s->path[i]);
    if (ok) status = follow_includes(&k, s->path[i], err);
  }
  od_arena_free(&k.memory);
  if (!ok) status = od_fail(err, OD_NO_MEMORY, "out of memory");
  if (status == OD_OK) qsort(s->path, (size_t)s->count, sizeof *s->path, by_text);
  return status;
}
