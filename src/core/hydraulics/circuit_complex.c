// The circuit in complex numbers.
#define OD_COMPLEX
#include <stdbool.h>

#include "base/scalar_x.h"
#include "hydraulics/circuit.h"
#define OD_QUARTER_PI 0.78539816339744830962
#include "math/spline_x.h"
#include "hydraulics/friction_x.h"
#include "hydraulics/circuit_x.h"

void od_circuit_evaluate_complex(const od_model *m, double _Complex *w) {
  circuit_evaluate_c(m, w);
}
void od_circuit_measure_complex(const od_model *m, double _Complex *w) {
  circuit_pressures(m, w);
  actuator_forces(m, w);
}
double _Complex od_circuit_stored_complex(const od_model *m, const double _Complex *w) {
  return circuit_stored_c(m, w);
}
double _Complex od_circuit_output_complex(const od_model *m, const double _Complex *w, const od_output *o) {
  return circuit_output_c(m, w, o);
}
