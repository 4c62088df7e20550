// Determines the kind of a parsed file from its sections, and reports a file of an unexpected kind.
#ifndef OD_DOCUMENT_FILE_KIND_H
#define OD_DOCUMENT_FILE_KIND_H

#include "document/loader.h"

// Kinds of files. A file of a later kind may have sections of an earlier kind: a fit is an experiment with more sections.
typedef enum od_file_kind {
  OD_FILE_UNKNOWN,
  OD_FILE_MACHINE,
  OD_FILE_EXPERIMENT,
  OD_FILE_FIT,
  OD_FILE_FRICTION,
  OD_FILE_STUDY,
  OD_FILE_TWIN,
} od_file_kind;

// Returns the last kind, in the order of od_file_kind, of which the file has a section. Returns OD_FILE_UNKNOWN if the file is not
// a map or has no section of any kind.
od_file_kind od_file_kind_of(const od_tree *tree);

// Returns whether the file is of another kind than the reader expects. If so, reports the kind and the command for this kind.
// Returns false for a file with sections of kinds that exclude each other; the reader of the file reports these sections. Readers of
// experiments accept fits, and readers of fits accept experiments.
bool od_is_other_kind(od_loader *ld, od_file_kind expected);

#endif
