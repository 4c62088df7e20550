// Pictures of linear models: Bode and Nyquist plots with margins, maps of poles and zeros, relative gains, operating points.
#ifndef OD_LINEAR_LINEAR_PICTURES_H
#define OD_LINEAR_LINEAR_PICTURES_H

#include "io/picture.h"
#include "linear/linear_result.h"
#include "linear/relative_gains.h"
#include "linear/responses.h"

// Adds magnitude and phase over frequency with the margins of each path, and a Nyquist plot of loops and of paths that have margins.
// Paths without gain are left out. The responses must outlive the picture.
void od_picture_add_responses(od_picture *p, const od_responses *r);
// Adds the map of poles and zeros, and damping over frequency of the poles.
void od_picture_add_poles(od_picture *p, const od_linear_results *r);
// Adds the relative gains of each output over frequency.
void od_picture_add_gains(od_picture *p, const od_gain_arrays *g);
// Adds the values of inputs, outputs and states at the operating point, as a list for each unit.
void od_picture_add_point(od_picture *p, const od_linear_model *model);

#endif
