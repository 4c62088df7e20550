// The sections of experiment and fit files. Each section is a table, defined in the source file that reads the section.
#ifndef OD_EXPERIMENT_EXPERIMENT_SECTIONS_H
#define OD_EXPERIMENT_EXPERIMENT_SECTIONS_H

#include "document/section.h"

// The root section, from which all other sections are reached.
extern const od_section_class od_experiment_section;

extern const od_section_class od_truth_section, od_model_section, od_sensor_section, od_matrix_section;
extern const od_section_class od_parameter_section, od_noise_section, od_filter_section;
extern const od_section_class od_metric_section, od_reference_section, od_truth_noise_section, od_truth_change_section;
// Sections of fits (identify/load_fit.c).
extern const od_section_class od_fit_section, od_fit_set_section, od_prepare_section, od_combination_section;

// Usual limits of standard deviations, by unit.
extern const od_unit_limits od_sigma_limits[];

#endif
