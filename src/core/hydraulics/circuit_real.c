// The circuit in real arithmetic.
#include <stdbool.h>

#include "base/scalar_x.h"
#include "hydraulics/circuit.h"
#include "hydraulics/element_slopes.h"
#include "hydraulics/warm_oil.h"
#include "math/dense.h"
#include "model/rate_derivatives.h"
static inline void evaluate_batch_r(const od_model *m, const od_batch *b, double *w) {
  od_batch_class(m, b)->evaluate(b, m->join.pool, w);
}
static inline void report_batch_r(const od_model *m, const od_batch *b, double *w) {
  od_batch_class(m, b)->report(b, m->join.pool, w);
}
static inline void warm_oil_r(const double *q, double density, double temperature, double *oil) {
  od_warm_oil(q, density, temperature, oil);
}
#include "hydraulics/oil_x.h"
#include "hydraulics/circuit_x.h"
#include "hydraulics/junction_slopes_x.h"
#include "hydraulics/heat_slopes_x.h"
#include "hydraulics/slopes_x.h"

void od_circuit_evaluate(const od_model *m, double *w) {
  circuit_evaluate_r(m, w);
}
void od_circuit_find_pressures(const od_model *m, double *w) {
  node_pressures_r(m, w);
}
void od_circuit_measure(const od_model *m, double *w) {
  circuit_measure_r(m, w);
}
double od_circuit_stored(const od_model *m, const double *w) {
  return circuit_stored_r(m, w);
}
double od_circuit_output(const od_model *m, const double *w, const od_output *o) {
  return circuit_output_r(m, w, o);
}
void od_circuit_losses(const od_model *m, double *w, double *loss, double *supply) {
  for (int i = 0; i < m->join.batches; i++) report_batch_r(m, &m->join.batch[i], w);
  for (int i = 0; i < m->instances; i++) {
    const od_instance *e = &m->instance[i];
    const od_element_class *c = od_instance_class(m, e);
    const double *report = w + m->join.batch[e->batch].report + e->place * c->reports;
    loss[i] = report[OD_REPORT_LOSS];
    if (e->supplier >= 0) supply[e->supplier] = report[c->supply];
  }
}

double od_circuit_oil(const od_model *m, const double *w) {
  return circuit_oil_r(m, w);
}
double od_circuit_oil_supplied(const od_model *m, const double *w) {
  const od_layout *l = &m->layout;
  double sum = 0;
  for (int i = 0; i < m->nodes; i++) {
    double p = w[l->pressure + i], inflow = w[l->inflow + i];
    if (m->node[i].state >= 0) {
      // The expansion of hose walls absorbs a fraction of the inflow.
      double stays = cavitates_r(m, w, i) ? 1 : w[l->stiffness + i] * node_volume_r(m, w, i) / w[l->modulus + i];
      sum += oil_density_r(m, w, p) * (inflow * stays - displaced_r(m, w, i));
    } else if (m->node[i].junction >= 0 && junction_cavitates_r(m, w, i)) {
      sum += oil_density_r(m, w, 0) * inflow;
    }
  }
  return sum;
}
