// The sections of study files. Each section is a table, defined in the source file that reads the section.
#ifndef OD_STUDY_STUDY_SECTIONS_H
#define OD_STUDY_STUDY_SECTIONS_H

#include "document/section.h"

// The root section, from which all others are reached.
extern const od_section_class od_study_section;

extern const od_section_class od_value_section, od_draw_section, od_transfer_section;

#endif
