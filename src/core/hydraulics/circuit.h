// The hydraulic circuit as two tables of functions, real and complex, on the work memory of model/layout.h. It reads
// lengths, speeds, c and u there and writes forces and rates; it knows nothing of mechanisms.
#ifndef OD_CIRCUIT_H
#define OD_CIRCUIT_H

#include "model/model.h"

// Which element of the circuit a number of theta belongs to, and its place among the element's numbers.
typedef enum od_circuit_owner {
  OD_OWNER_NONE,
  OD_OWNER_OIL,
  OD_OWNER_NODE,
  OD_OWNER_FLOW,
  OD_OWNER_VALVE,
  OD_OWNER_CYLINDER,
  OD_OWNER_FRICTION,
} od_circuit_owner;
typedef struct od_circuit_number {
  od_circuit_owner owner;
  int index, place;
} od_circuit_number;
static const od_circuit_number od_circuit_no_number = {OD_OWNER_NONE, -1, -1};
od_circuit_number od_circuit_find_number(const od_model *m, int number);

// Forces of actuators and rates of circuit states.
void od_circuit_evaluate(const od_model *m, double *w);
void od_circuit_evaluate_complex(const od_model *m, double _Complex *w);
// Of that, what the states alone decide: pressures, spools and forces, for blocks to measure before signals are known.
void od_circuit_measure(const od_model *m, double *w);
void od_circuit_measure_complex(const od_model *m, double _Complex *w);
// Their derivatives by lengths, speeds, states and inputs, into the matrices of the work memory.
void od_circuit_linearise(const od_model *m, double *w);
// Adds their derivatives by one number of the circuit: to force[i], where the number has a say in forces, and, times a
// sign, to rate[i * stride].
void od_circuit_number_slopes(const od_model *m, double *w, od_circuit_number n, double *force, double *rate,
                              double sign, int stride);
static inline bool od_circuit_number_pushes(od_circuit_number n) {
  return n.owner == OD_OWNER_NODE || n.owner == OD_OWNER_CYLINDER || n.owner == OD_OWNER_FRICTION;
}

double od_circuit_output(const od_model *m, const double *w, const od_output *o);
double _Complex od_circuit_output_complex(const od_model *m, const double _Complex *w, const od_output *o);
// Along a direction: lengths and speeds by the last tangent, states by dc, inputs by du (or NULL).
double od_circuit_output_tangent(const od_model *m, double *w, const od_output *o, const double *dc, const double *du);

// Elastic energy in the cylinders' end stops.
double od_circuit_stored(const od_model *m, const double *w);
double _Complex od_circuit_stored_complex(const od_model *m, const double _Complex *w);
double od_circuit_stored_tangent(const od_model *m, const double *w);

static inline bool od_output_is_of_circuit(od_output_kind kind) {
  return kind >= OD_OUT_NODE_PRESSURE && kind <= OD_OUT_NODE_POWER;
}

#endif
