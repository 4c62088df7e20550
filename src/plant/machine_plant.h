// A look inside the work memory of a machine's plant, for what goes beyond the plant's interface: tests that run the
// complex kernels, and the conversion between independent and all coordinates.
#ifndef OD_MACHINE_PLANT_H
#define OD_MACHINE_PLANT_H

#include "model/model.h"

const od_model *od_machine_plant_model(const od_plant *plant);
const int *od_machine_plant_integers(const od_plant *plant, const void *work);     // see od_layout
const double *od_machine_plant_scalars(const od_plant *plant, const void *work);   // see od_layout

#endif
