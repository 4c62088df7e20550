// Access to the work memory of a machine's plant. Used by tests of the complex kernels and for conversions between independent
// coordinates and all coordinates.
#ifndef OD_MODEL_PLANT_H
#define OD_MODEL_PLANT_H

#include "base/complex_number.h"
#include "model/model.h"

// Returns the model of a machine's plant, and the integers and scalars of its work memory.
const od_model *od_model_plant_model(const od_plant *plant);
const int *od_model_plant_integers(const od_plant *plant, const void *work);    // see od_layout
const double *od_model_plant_scalars(const od_plant *plant, const void *work);  // see od_layout

// Finds the element or the block whose law contains the jump with this index. Jumps are numbered as in
// od_plant_ops.hold(). *element is NULL for a block.
void od_model_plant_jump_owner(const od_plant *plant, int jump, const od_instance **element, const od_block **block);

// Returns whether a number of the model cannot be a parameter: a component of a joint's axis in a planar machine. A change would turn the
// axis out of the plane.
bool od_model_plant_fixes(const od_model *m, int number);

// Computes the mass matrix (nz x nz) at the last point.
void od_model_plant_mass_matrix(const od_plant *plant, void *work, double *M);

// Computes g (nk) of mechanism and circuit in complex arithmetic at x, k, u, with the numbers, coordinates and charts in w.
od_status od_model_residual_complex(const od_model *m, const int *in, od_complex *w, const od_complex *x,
                                    const od_complex *k, const od_complex *u, od_complex *g);

// Returns an output (without integrals) at the point in w, in real or in complex arithmetic.
double od_model_output_value(const od_model *m, const double *w, const od_output *o);
od_complex od_model_output_value_complex(const od_model *m, const od_complex *w, const od_output *o);

#endif
