// Reads the section 'page' of a twin file.
#ifndef OD_TWIN_LOAD_PAGE_H
#define OD_TWIN_LOAD_PAGE_H

#include "twin/twin.h"

extern const od_section_class od_twin_page_section;

// Reads the section at this node (-1: there is none) into t->page. Reports every mistake.
void od_twin_read_page(od_loader *ld, od_twin *t, int node);

#endif
