// From a file of ours to its sections: read whole, parsed, with units and --set at hand, then given to a reader of its sections.
#ifndef OD_DOCUMENT_DOCUMENT_H
#define OD_DOCUMENT_DOCUMENT_H

#include "document/file_kind.h"
#include "document/reader.h"

// Loads ld->document->file; ld->messages is where complaints go. read() is called with the tree and the units in place,
// in the "C" locale, and returns what becomes of it. Afterwards tree and units are gone; texts and numbers stay with
// ld->document.
od_status od_document_load(od_loader *ld, const char *const *set, int set_count, od_status (*read)(void *user),
                           void *user);

// Starts a loader for a file, of which the content may be known, with a new document (NULL: memory ran out).
od_loader od_document_start(const char *path, od_content content, od_messages *messages);

void od_document_free(od_document *document);

// Ends a loader whose file names other files: its messages from `first` on in the order of the file, then those about
// the others, which are freed; and what memory that ran out means.
void od_document_end(od_messages *messages, int first, od_messages *foreign, od_status status, const char *path);

// The root of a file that is not empty, opened as a section of this class; map -1 after a complaint. `what` is as in
// "an experiment", `needs` what it needs at least.
od_section od_document_root(od_loader *ld, const char *what, const char *needs, const od_section_class *c);

// The file with the chosen variant laid over it (NULL: none): the node of its map. `root` is the node of the file's,
// `file` the sections it may have, its title first.
int od_load_variants(od_loader *ld, const od_section_class *file, int root, const char *variant);

// The key that variants have besides those of their file.
extern const od_key od_variant_key;

// The chosen variant itself, its known sections only: the node of its map; -1: none. And its name for messages.
int od_variant_find(od_loader *ld, const od_section_class *file, int root, const char *variant);
const char *od_variant_noun(od_loader *ld);

// Lays the file over the files that its 'include' names, and those that they name: the tree's root is then the map of
// all together, without 'include'. Each file is read once.
od_status od_document_include(od_loader *ld);

// Reads one more file beside that of a node into the tree: the node of its map, or -1 with a message.
int od_document_read_beside(od_loader *ld, int node, const char *name);

// What kind of file the content is, with all that it includes; unknown where it cannot be read.
od_file_kind od_document_kind(const char *path, od_content content);

// A path beside the file that the node stands in, unless it is absolute.
const char *od_document_beside(od_loader *ld, int node, const char *path);

#endif
