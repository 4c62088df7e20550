// The circuit in complex arithmetic.
#include "base/parts.h"

#if OD_WITH_COMPLEX
#define OD_COMPLEX
#include <stdbool.h>
#include <string.h>

#include "base/scalar_x.h"
#include "hydraulics/circuit.h"
#include "hydraulics/warm_oil.h"
#include "model/rate_derivatives.h"

// The imaginary step of junction pressures, Pa. The step is much larger than the imaginary parts that carry
// derivatives, and much smaller than the pressure changes over which flows are nonlinear.
static const double od_junction_imaginary_step = 1e-4;

static inline void evaluate_batch_c(const od_model *m, const od_batch *b, od_complex *w) {
  od_batch_class(m, b)->evaluate_complex(b, m->join.pool, w);
}
static inline void report_batch_c(const od_model *m, const od_batch *b, od_complex *w) {
  od_batch_class(m, b)->report_complex(b, m->join.pool, w);
}
static inline void warm_oil_c(const od_complex *q, od_complex density, od_complex temperature, od_complex *oil) {
  od_warm_oil_complex(q, density, temperature, oil);
}
#include "hydraulics/oil_x.h"
#include "hydraulics/circuit_x.h"

void od_circuit_evaluate_complex(const od_model *m, od_complex *w) {
  circuit_evaluate_c(m, w);
}
void od_circuit_measure_complex(const od_model *m, od_complex *w) {
  circuit_measure_c(m, w);
}
od_complex od_circuit_stored_complex(const od_model *m, const od_complex *w) {
  return circuit_stored_c(m, w);
}
od_complex od_circuit_oil_complex(const od_model *m, const od_complex *w) {
  return circuit_oil_c(m, w);
}
od_complex od_circuit_output_complex(const od_model *m, const od_complex *w, const od_output *o) {
  return circuit_output_c(m, w, o);
}
#endif
