// The circuit in real numbers, with its derivatives.
#include <stdbool.h>

#include "base/scalar_x.h"
#include "hydraulics/circuit.h"
#define OD_QUARTER_PI 0.78539816339744830962
#include "math/spline_x.h"
#include "hydraulics/friction_x.h"
#include "hydraulics/circuit_x.h"
#include "hydraulics/slopes_x.h"

void od_circuit_evaluate(const od_model *m, double *w) {
  circuit_evaluate_r(m, w);
}
void od_circuit_measure(const od_model *m, double *w) {
  circuit_pressures(m, w);
  actuator_forces(m, w);
}
double od_circuit_stored(const od_model *m, const double *w) {
  return circuit_stored_r(m, w);
}
double od_circuit_stored_tangent(const od_model *m, const double *w) {
  return circuit_stored_tangent_r(m, w);
}
void od_circuit_linearise(const od_model *m, double *w) {
  circuit_linearise_r(m, w);
}
void od_circuit_number_slopes(const od_model *m, double *w, od_circuit_number n, double *force, double *rate,
                              double sign, int stride) {
  circuit_number_slopes_r(m, w, n, force, rate, sign, stride);
}
double od_circuit_output(const od_model *m, const double *w, const od_output *o) {
  return circuit_output_r(m, w, o);
}
double od_circuit_output_tangent(const od_model *m, double *w, const od_output *o, const double *dc, const double *du) {
  return circuit_output_tangent_r(m, w, o, dc, du);
}

static bool owns(int first, int count, int number, int *place) {
  *place = number - first;
  return first >= 0 && *place >= 0 && *place < count;
}

static int oil_numbers(od_oil_law law) {
  return OD_OIL_LAW + (law == OD_OIL_CONSTANT ? 1 : law == OD_OIL_LINEAR ? 2 : 4);
}

static int flow_numbers(const od_flow *f) {
  switch (f->kind) {
    case OD_FLOW_PUMP:
    case OD_FLOW_LEAK: return 1;
    case OD_FLOW_ORIFICE: return 3;
    case OD_FLOW_RELIEF: return 2;
    case OD_FLOW_CHECK: return 4;
    case OD_FLOW_PORT: return 1 + 2 * f->count;
  }
  return 0;
}

od_circuit_number od_circuit_find_number(const od_model *m, int number) {
  int place;
  if (owns(m->oil, oil_numbers(m->oil_law), number, &place)) return (od_circuit_number){OD_OWNER_OIL, 0, place};
  for (int i = 0; i < m->nodes; i++)
    if (owns(m->node[i].number, 1, number, &place)) return (od_circuit_number){OD_OWNER_NODE, i, place};
  // A cylinder's leakage belongs to its own flow, so flows come before cylinders.
  for (int i = 0; i < m->flows; i++)
    if (owns(m->flow[i].number, flow_numbers(&m->flow[i]), number, &place))
      return (od_circuit_number){OD_OWNER_FLOW, i, place};
  for (int i = 0; i < m->valves; i++)
    if (owns(m->valve[i].number, OD_VALVE_DEAD_BAND + 1, number, &place))
      return (od_circuit_number){OD_OWNER_VALVE, i, place};
  for (int i = 0; i < m->cylinders; i++)
    if (owns(m->cylinder[i].number, OD_CYLINDER_STOP_DAMPING + 1, number, &place))
      return (od_circuit_number){OD_OWNER_CYLINDER, i, place};
  for (int i = 0; i < m->frictions; i++)
    if (owns(m->friction[i].number, 4, number, &place)) return (od_circuit_number){OD_OWNER_FRICTION, i, place};
  return od_circuit_no_number;
}
