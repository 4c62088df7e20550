// What a friction fit found, for people and for programs.
#ifndef OD_OUTPUT_FRICTION_SUMMARY_H
#define OD_OUTPUT_FRICTION_SUMMARY_H

#include <jansson.h>
#include <stdio.h>

#include "friction_fit/friction_map.h"

void od_friction_fitted_print(const od_friction_fitted *f, FILE *to);
json_t *od_friction_fitted_json(const od_friction_fitted *f);
// Measured and fitted force: over the speed for points, over time for a run. NULL: memory ran out.
od_table *od_friction_fitted_table(const od_friction_fitted *f);

void od_pressure_map_print(const od_pressure_map *m, FILE *to);
json_t *od_pressure_map_json(const od_pressure_map *m);
// A row for each pair of pressures: estimates and their standard deviations. NULL: memory ran out.
od_table *od_pressure_map_table(const od_pressure_map *m);

#endif
