// The results of friction fits: a law fitted to points or to a run, the parameters of a law over pressures, and the
// estimates of several runs.
#ifndef OD_REPORT_FRICTION_RESULT_H
#define OD_REPORT_FRICTION_RESULT_H

#include "friction_fit/friction_map.h"
#include "friction_fit/friction_series.h"
#include "io/picture.h"
#include "result/result.h"

// Creates the result. The fit must outlive the result.
od_result od_friction_result(const od_friction_fitted *f);
// Creates a table of measured and fitted force: in the order of the speed for points, over time for a run. NULL: out of memory.
od_table *od_friction_fitted_table(const od_friction_fitted *f);

// Returns the result of a fit at several pairs of pressures. The caller frees the result; *m must outlive the result.
od_result od_pressure_map_result(const od_pressure_map *m);
// Creates a table with a row for each pair of pressures: estimates and their standard deviations. NULL: out of memory.
od_table *od_pressure_map_table(const od_pressure_map *m);

// Creates the result of a series.
od_result od_friction_series_result(const od_friction_series *s);
// Creates a table with a row for each run of a series: estimates, their standard deviations, and residuals. NULL: out of memory.
od_table *od_friction_series_table(const od_friction_series *s);

// Draws figures for od_result_figures() (friction_figures.c); `fitted` is an od_friction_fitted.
void od_friction_draw_data(struct od_page *page, const void *fitted);
void od_friction_draw_whiteness(struct od_page *page, const void *fitted);

// Add panels (fit_pictures.c): each parameter over the pressures, and over the runs of a series. Map and series must outlive the
// picture.
void od_picture_add_pressure_map(od_picture *p, const od_pressure_map *m);
void od_picture_add_friction_series(od_picture *p, const od_friction_series *s);

#endif
