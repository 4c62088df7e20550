// Tables of keys for the documents, from the classes of sections.
#ifndef OD_OUTPUT_SECTION_REFERENCE_H
#define OD_OUTPUT_SECTION_REFERENCE_H

#include <stddef.h>

#include "document/section.h"

// A meaning without links and backquotes: "[logs](file.md#logs)" becomes "logs". `text` may be NULL, which is empty.
void od_plain_meaning(const char *text, char *plain, size_t size);

// The keys of a section as a table in Markdown, printed to stdout.
void od_print_section_keys(const od_section_class *c);

// The section of this name among those inside `root`; NULL: there is none.
const od_section_class *od_find_section(const od_section_class *root, const char *name);

#endif
