// Tables of keys for the documents, from the classes of sections.
#ifndef OD_OUTPUT_SECTION_REFERENCE_H
#define OD_OUTPUT_SECTION_REFERENCE_H

#include <stddef.h>

#include "document/section.h"

// A meaning without links and backquotes: "[logs](file.md#logs)" becomes "logs". `text` may be NULL, which is empty.
void od_plain_meaning(const char *text, char *plain, size_t size);

// The keys of a section as a table in Markdown, printed to stdout.
void od_print_section_keys(const od_section_class *c);

// The same with the section's name and meaning before it.
void od_print_section(const od_section_class *c);

// A file's section and all sections inside it, each once: how many there are.
enum { OD_MOST_SECTIONS = 200 };
int od_list_sections(const od_section_class *file, const od_section_class *all[OD_MOST_SECTIONS]);

#endif
