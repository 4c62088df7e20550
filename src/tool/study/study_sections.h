// The sections of study files. Each is a table in the file that reads it.
#ifndef OD_STUDY_STUDY_SECTIONS_H
#define OD_STUDY_STUDY_SECTIONS_H

#include "document/section.h"

// The file itself, from which all others are reached.
extern const od_section_class od_study_section;

extern const od_section_class od_value_section, od_draw_section, od_transfer_section;

#endif
