// Checks whether a plant needs derivatives that builds without complex numbers do not have.
#ifndef OD_REAL_DERIVATIVES_H
#define OD_REAL_DERIVATIVES_H

#include "plant/model_plant_work.h"

// Returns OD_OK if all derivatives of a plant exist in real numbers, except the derivatives of its outputs. Otherwise
// returns OD_NOT_AVAILABLE with a message about the first derivative that needs complex numbers.
od_status od_model_plant_check_real(const od_plant_data *d, od_error *err);
// Returns whether the derivatives of an output need complex numbers.
bool od_output_needs_complex(const od_output *o);
// Returns whether an observer of the plant needs complex numbers: for the plant itself or for its outputs.
bool od_model_plant_observes_in_complex(const od_plant_data *d);

// Returns the part of the plant's work memory that only builds with complex numbers have, in bytes.
size_t od_model_plant_complex_bytes(const od_plant *plant);

#endif
