// The kind of a parsed file, from its sections; and the message for a file of another kind than expected.
#ifndef OD_DOCUMENT_FILE_KIND_H
#define OD_DOCUMENT_FILE_KIND_H

#include "document/loader.h"

// A file of a later kind may have sections of an earlier one: a fit is an experiment with more sections.
typedef enum od_file_kind {
  OD_FILE_UNKNOWN,
  OD_FILE_MACHINE,
  OD_FILE_EXPERIMENT,
  OD_FILE_FIT,
  OD_FILE_FRICTION,
  OD_FILE_STUDY,
} od_file_kind;

// The last kind of which the file has a section; unknown: not a map, or no section of a kind.
od_file_kind od_file_kind_of(const od_tree *tree);

// Whether the file is of another kind than the reader expects. If so, one message contains the kind and the command for it. A
// file with sections of several kinds is reported by the reader. Readers of experiments accept fits.
bool od_is_other_kind(od_loader *ld, od_file_kind expected);

#endif
