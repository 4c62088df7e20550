// Prints tables of keys for the documentation, from the classes of sections.
#ifndef OD_JOBS_SECTION_REFERENCE_H
#define OD_JOBS_SECTION_REFERENCE_H

#include <stddef.h>

#include "document/section.h"

// Replaces links in a meaning with their texts ("[logs](file.md#logs)" becomes "logs"), and backquotes with
// apostrophes. A NULL `text` gives an empty text.
void od_plain_meaning(const char *text, char *plain, size_t size);

// Prints the keys of a section to stdout, as a Markdown table.
void od_print_section_keys(const od_section_class *c);

// Prints the section's name and meaning, then its keys.
void od_print_section(const od_section_class *c);

// Lists the section of a file and all sections inside it, each once. Returns their number.
enum { OD_MOST_SECTIONS = 200 };
int od_list_sections(const od_section_class *file, const od_section_class *all[OD_MOST_SECTIONS]);

#endif
