// Density and viscosity of oil whose temperature counts, as elements see them.
#ifndef OD_WARM_OIL_H
#define OD_WARM_OIL_H

#include "model/model.h"

// All of oil[] but the smoothing. q: the numbers of its viscosity; density: at the reference temperature.
void od_warm_oil(const double *q, double density, double temperature, double *oil);
void od_warm_oil_complex(const double _Complex *q, double _Complex density, double _Complex temperature,
                         double _Complex *oil);
// Its exact derivatives by one of q, or by one of these. The oil's temperature is an argument; as a number it has no say.
enum { OD_WARM_BY_DENSITY = OD_VISCOSITY_NUMBERS, OD_WARM_BY_TEMPERATURE };
void od_warm_oil_slopes(const double *q, double density, double temperature, int by, double slope[OD_OIL_STATES]);

#endif
