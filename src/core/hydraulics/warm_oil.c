#include "hydraulics/warm_oil.h"

#include "base/scalar_x.h"
#include "hydraulics/warm_oil_x.h"
#if OD_WITH_COMPLEX
#define OD_COMPLEX
#include "base/scalar_x.h"
#include "hydraulics/warm_oil_x.h"
#endif

void od_warm_oil(const double *q, double density, double temperature, double *oil) {
  warm_r(q, density, temperature, oil);
}

#if OD_WITH_COMPLEX
void od_warm_oil_complex(const od_complex *q, od_complex density, od_complex temperature, od_complex *oil) {
  warm_c(q, density, temperature, oil);
}

void od_warm_oil_slopes(const double *q, double density, double temperature, int by, double slope[OD_OIL_STATES]) {
  const double step = 1e-30;
  od_complex moved[OD_WARM_BY_TEMPERATURE + 1], oil[OD_OIL_STATES] = {0};
  for (int i = 0; i < OD_VISCOSITY_NUMBERS; i++) moved[i] = q[i];
  moved[OD_WARM_BY_DENSITY] = density;
  moved[OD_WARM_BY_TEMPERATURE] = temperature;
  moved[by] += OD_COMPLEX_OF(0.0, step * (fabs(od_real(moved[by])) + 1e-9));
  warm_c(moved, moved[OD_WARM_BY_DENSITY], moved[OD_WARM_BY_TEMPERATURE], oil);
  for (int i = 0; i < OD_OIL_STATES; i++) slope[i] = od_imaginary(oil[i]) / od_imaginary(moved[by]);
}
#else
// In a build without complex numbers, od_model_plant() rejects plants that need these derivatives (plant/real_derivatives.c).
void od_warm_oil_slopes(const double *q, double density, double temperature, int by, double slope[OD_OIL_STATES]) {
  (void)q, (void)density, (void)temperature, (void)by;
  for (int i = 0; i < OD_OIL_STATES; i++) slope[i] = NAN;
}
#endif
