// The sections of friction files. Each section is a table in the source file that reads the section.
#ifndef OD_FRICTION_FRICTION_SECTIONS_H
#define OD_FRICTION_FRICTION_SECTIONS_H

#include "document/section.h"

// The file itself, which contains all other sections.
extern const od_section_class od_friction_file_section;

extern const od_section_class od_friction_points_section, od_friction_run_section, od_friction_map_section,
    od_friction_position_section;

#endif
