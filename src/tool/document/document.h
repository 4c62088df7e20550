// Loads a file: reads and parses the text, prepares units and --set, and calls the reader of the file's sections.
#ifndef OD_DOCUMENT_DOCUMENT_H
#define OD_DOCUMENT_DOCUMENT_H

#include "document/file_kind.h"
#include "document/reader.h"

// Loads ld->document->file; messages are added to ld->messages. Sets ld->tree and ld->units, then calls read() in the
// "C" locale and returns the status of read(). Frees tree and units afterward; texts and numbers remain in
// ld->document. If the file or an included file cannot be read or parsed, returns OD_BAD_INPUT, OD_IO or OD_NO_MEMORY
// without a call of read().
od_status od_document_load(od_loader *ld, const char *const *set, int set_count, od_status (*read)(void *user),
                           void *user);

// Returns a loader for a file, with a new document; the document is NULL if an allocation fails. If content.text is
// NULL, od_document_load() reads the file.
od_loader od_document_start(const char *path, od_content content, od_messages *messages);

void od_document_free(od_document *document);

// Returns whether an allocation has failed since the loader was started.
bool od_lacks_memory(const od_loader *ld);

// Ends the messages of a loader whose file may refer to other files. Sorts the messages about the file, from index `first` on, by
// their position in the file. Appends the messages about the other files and frees their list `foreign` (NULL: none). Adds a
// message if the status is OD_NO_MEMORY.
void od_document_end(od_messages *messages, int first, od_messages *foreign, od_status status, const char *path);

// Opens the root of a nonempty file as a section of this class. On failure reports an error and returns a section whose map is -1.
// `what`: for example "an experiment"; `needs`: the smallest valid content.
od_section od_document_root(od_loader *ld, const char *what, const char *needs, const od_section_class *c);

// Merges the chosen variant (NULL: none) over the file. Returns the node of the resulting map. `root`: node of the file's map;
// `file`: the allowed sections of the file, starting with the title.
int od_load_variants(od_loader *ld, const od_section_class *file, int root, const char *variant);

// The key that variants have in addition to the keys of their file.
extern const od_key od_variant_key;

// Returns the node of a map with the known sections of the chosen variant, merged over the variants that this variant
// extends. Returns -1 if no variant is chosen or if the variant is empty; also, after reporting the error, if the
// variant does not exist or is not a map. od_variant_noun() returns the name of the chosen variant for messages: "the variant 'worn'".
int od_variant_find(od_loader *ld, const od_section_class *file, int root, const char *variant);
const char *od_variant_noun(od_loader *ld);

// Merges the file over the files in its 'include', recursively. Afterward the root of the tree is the merged map, without
// 'include'. Each file is read once. Fails with OD_BAD_INPUT or OD_IO after reporting errors in the files, and with
// OD_NO_MEMORY.
od_status od_document_include(od_loader *ld);

// Reads another file into the tree. The file name is relative to the file of a node. Returns the node of its map; -1: the file
// is empty, or an error occurred. Reports all errors except a failed allocation, which sets ld->no_memory.
int od_document_read_beside(od_loader *ld, int node, const char *name);

// Returns the kind of a file with this content, including its included files. Returns OD_FILE_UNKNOWN if the content is not YAML or an
// allocation fails.
od_file_kind od_document_kind(const char *path, od_content content);

// Prepends the folder of the node's file to a relative path. Returns an absolute path unchanged.
const char *od_document_beside(od_loader *ld, int node, const char *path);
// Returns the path of the file that a key of a section names, relative as in od_document_beside(); NULL: the section has no such key, or the
// value is no text, which is reported.
const char *od_key_path(od_loader *ld, const od_section *section, const char *key);

#endif
