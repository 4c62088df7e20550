#include "document/document.h"

#include <locale.h>
#include <string.h>

#include "base/allocate.h"
#include "document/constants.h"
#include "document/reader.h"
#include "document/text_file.h"
#include "memory/owned.h"

od_loader od_document_start(const char *path, od_content content, od_messages *messages) {
  od_loader ld = {.document = od_calloc(1, sizeof *ld.document),
                  .content = content,
                  .messages = messages,
                  .first_message = od_messages_count(messages),
                  .first_error = od_messages_errors(messages)};
  ld.tree.root = -1;
  if (ld.document) ld.document->file = od_texts_copy(&ld.document->arena, path, strlen(path));
  if (ld.document && ld.document->arena.exhausted) {  // without its name the file cannot be read
    od_document_free(ld.document);
    ld.document = NULL;
  }
  return ld;
}

bool od_lacks_memory(const od_loader *ld) {
  return ld->no_memory || ld->scratch.exhausted || ld->document->arena.exhausted;
}

void od_document_free(od_document *document) {
  if (!document) return;
  od_arena_free(&document->arena);
  od_free(document);
}

od_status od_document_load(od_loader *ld, const char *const *set, int set_count, od_status (*read)(void *user),
                           void *user) {
  od_document *document = ld->document;
  od_content content = ld->content;
  char *read_now = NULL;
  od_status status = OD_OK;
  if (!content.text) {
    status = od_text_file_read(document->file, &read_now, &content.length, ld->messages);
    content.text = read_now;
  }
  if (status != OD_OK) return status;
  // Numbers have a decimal point in all files, independent of the user's locale.
  locale_t c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
  status = OD_NO_MEMORY;
  if (c_locale != (locale_t)0) {
    locale_t users = uselocale(c_locale);
    od_numbers_override(&document->numbers, &document->arena, set, set_count, ld->messages);
    // Units are needed only if the YAML text and the included files have no syntax errors.
    status = od_tree_parse(&ld->tree, content.text, content.length, document->file, &document->arena, ld->messages);
    if (status == OD_OK) status = od_document_include(ld);
    od_error error = {0};
    if (status == OD_OK) ld->units = od_units_new(&error);
    if (status == OD_OK) status = error.status;
    if (error.status != OD_OK) od_messages_add(ld->messages, (od_place){0}, "%s", error.text);
    if (status == OD_OK) status = read(user);
    uselocale(users);
    freelocale(c_locale);
  }
  od_tree_free(&ld->tree);
  od_units_free(ld->units);
  od_arena_free(&ld->scratch);
  od_free(read_now);
  return status;
}

void od_document_end(od_messages *messages, int first, od_messages *foreign, od_status status, const char *path) {
  od_messages_sort(messages, first);
  if (foreign) {
    od_messages_sort(foreign, 0);
    od_messages_append(messages, foreign);
    od_messages_free(foreign);
  }
  if (status == OD_NO_MEMORY) od_messages_add(messages, (od_place){.file = path}, "out of memory");
}

od_section od_document_root(od_loader *ld, const char *what, const char *needs, const od_section_class *c) {
  int root = ld->tree.root;
  if (root < 0 || ld->tree.node[root].kind == OD_TREE_NULL) {
    od_complain(ld, -1, "the file is empty; %s needs at least %s", what, needs);
    return (od_section){.map = -1};
  }
  od_section file = od_section_open(ld, root, root, "", od_format(ld, "%s file", what), c);
  file.what = what;
  return file;
}

const char *od_document_beside(od_loader *ld, int node, const char *path) {
  const char *file = od_place_of(ld, node).file, *slash = strrchr(file, '/');
  if (path[0] == '/' || !slash) return path;
  return od_format(ld, "%.*s/%s", (int)(slash - file), file, path);
}

const char *od_key_path(od_loader *ld, const od_section *section, const char *key) {
  const int node = od_section_get(ld, section, key);
  const char *path = od_read_text(ld, node, key, "the path of a file");
  return path ? od_document_beside(ld, node, path) : NULL;
}

od_file_kind od_document_kind(const char *path, od_content content) {
  OD_OWNED(od_messages_free) od_messages *unread = od_messages_new();
  if (!unread) return OD_FILE_UNKNOWN;
  od_loader ld = od_document_start(path, content, unread);
  od_file_kind kind = OD_FILE_UNKNOWN;
  if (ld.document &&
      od_tree_parse(&ld.tree, content.text, content.length, ld.document->file, &ld.document->arena, unread) == OD_OK) {
    od_document_include(&ld);
    kind = od_file_kind_of(&ld.tree);
  }
  od_tree_free(&ld.tree);
  od_document_free(ld.document);
  return kind;
}
