// Density and viscosity of the oil at its temperature.
#ifndef OD_WARM_OIL_H
#define OD_WARM_OIL_H

#include "base/complex_number.h"
#include "model/model.h"

// Compute all entries of oil[] (OD_OIL_STATE_*) except OD_OIL_STATE_SMOOTHING, which does not change. q: numbers of the
// viscosity; density: density at the reference temperature, kg/m3; temperature: temperature of the oil, K.
void od_warm_oil(const double *q, double density, double temperature, double *oil);
void od_warm_oil_complex(const od_complex *q, od_complex density, od_complex temperature, od_complex *oil);
// Computes the exact derivatives with respect to one number of q or one of the following quantities. The temperature is an
// argument; the number of the same name in q has no effect.
enum { OD_WARM_BY_DENSITY = OD_VISCOSITY_NUMBERS, OD_WARM_BY_TEMPERATURE };
void od_warm_oil_slopes(const double *q, double density, double temperature, int by, double slope[OD_OIL_STATES]);

#endif
