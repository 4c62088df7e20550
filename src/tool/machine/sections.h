// The sections of machine files. The table of each section is in the source file that reads the section.
#ifndef OD_MACHINE_SECTIONS_H
#define OD_MACHINE_SECTIONS_H

#include "document/section.h"

// The root section, from which all other sections are reached, and the section of a template.
extern const od_section_class od_machine_section, od_template_section;

extern const od_section_class od_ground_section, od_body_section, od_joint_section, od_rod_section, od_gear_section;
extern const od_section_class od_force_section, od_torque_section, od_contact_section;
extern const od_section_class od_oil_section, od_volume_section, od_tank_section, od_source_section;
extern const od_section_class od_difference_section, od_valve_section, od_cylinder_section, od_curve_section;
extern const od_section_class od_friction_section, od_friction_pressure_section;
extern const od_section_class od_signal_section, od_file_signal_section, od_segment_section;
extern const od_section_class od_look_section, od_look_body_section, od_look_ground_section, od_look_shape_section,
    od_look_place_section;
extern const od_section_class od_run_section, od_requirement_section, od_transition_section, od_fmu_section;

#endif
