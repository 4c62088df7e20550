// The circuit as functions on the work memory of model/layout.h, in real and in complex arithmetic. The circuit
// consists of the nodes, the oil, and all elements that connect nodes or act on the mechanism. The circuit reads
// lengths, speeds, c and u from the work memory, and writes forces and rates. The circuit does not access the
// mechanism.
#ifndef OD_CIRCUIT_H
#define OD_CIRCUIT_H

#include "base/compiler.h"
#include "base/complex_number.h"
#include "base/precision.h"
#include "model/model.h"

// The part of the circuit to which an entry of theta belongs: the oil, a node, or elements.
typedef enum od_circuit_owner { OD_OWNER_NONE, OD_OWNER_OIL, OD_OWNER_NODE, OD_OWNER_ELEMENT } od_circuit_owner;
typedef struct od_circuit_number {
  od_circuit_owner owner;
  int index;    // nodes: index of the node; elements: index of the first user in od_join.user; oil: 0
  int place;    // oil: index among the numbers of the oil; elements: number of users; nodes: 0
  bool pushes;  // whether forces depend on the number
  int run;      // length of the run of numbers that begins here (od_circuit_find_runs()); 0: no run
} od_circuit_number;
static const od_circuit_number od_circuit_no_number = {OD_OWNER_NONE, -1, -1, false, 0};
// Finds the owner of a number by its index in theta: an element, a node or the oil. The owner is OD_OWNER_NONE if the number does
// not belong to the circuit.
od_circuit_number od_circuit_find_number(const od_model *m, int number);
// Sets `run` of each number in a list. A run consists of consecutive numbers of one element, such as the control points
// of a curve. The class of the element computes the derivatives with respect to all numbers of a run together.
void od_circuit_find_runs(const od_model *m, od_circuit_number *number, int count);

// Computes the forces of actuators and the rates of circuit states.
void od_circuit_evaluate(const od_model *m, double *w);
void od_circuit_evaluate_complex(const od_model *m, od_complex *w);
// Computes the pressures of nodes that are states or inputs, and the properties of the oil.
void od_circuit_find_pressures(const od_model *m, double *w);
// Computes the pressures and forces that depend on states alone. Blocks measure these values before signals are known.
void od_circuit_measure(const od_model *m, double *w);
void od_circuit_measure_complex(const od_model *m, od_complex *w);
// Computes the derivatives with respect to lengths, speeds, states and signals, and stores them in the rows of the work memory.
void od_circuit_linearize(const od_model *m, double *w);
// Adds the derivatives of forces with respect to one number of the circuit to force[i], unless no force depends on the
// number. Adds the derivatives of rates, times `sign`, to rate[i * stride].
void od_circuit_number_slopes(const od_model *m, double *w, od_circuit_number n, double *force, double *rate,
                              double sign, int stride);
// Adds the derivatives with respect to a run of numbers that do not affect forces. Column k is added to rate[i * stride + k].
void od_circuit_run_slopes(const od_model *m, double *w, const od_circuit_number *n, double *rate, double sign,
                           int stride);

// Return the value of an output of the circuit (od_output_is_of_circuit()) at the last evaluation, in SI units.
double od_circuit_output(const od_model *m, const double *w, const od_output *o);
od_complex od_circuit_output_complex(const od_model *m, const od_complex *w, const od_output *o);
// Returns the change of an output along a direction: changes of lengths and speeds by the last tangent, changes dc of
// the states and du of the inputs (NULL: no change).
double od_circuit_output_tangent(const od_model *m, double *w, const od_output *o, const double *dc, const double *du);

// Return the energy stored in elements, J, and its change along a direction.
double od_circuit_stored(const od_model *m, const double *w);
od_complex od_circuit_stored_complex(const od_model *m, const od_complex *w);
double od_circuit_stored_tangent(const od_model *m, double *w, const double *dc, const double *du);
// Return the mass of oil in all volumes (kg), and the rate at which elements supply oil (kg/s), minus the flow that is
// drawn from cavitating junctions.
double od_circuit_oil(const od_model *m, const double *w);
od_complex od_circuit_oil_complex(const od_model *m, const od_complex *w);
double od_circuit_oil_tangent(const od_model *m, double *w, const double *dc, const double *du);
double od_circuit_oil_supplied(const od_model *m, const double *w);
// Computes the loss of each instance and the power of each element with a supply (od_element_class.supply), W.
void od_circuit_losses(const od_model *m, double *w, double *loss, double *supply);

static inline bool od_output_is_of_circuit(od_output_kind kind) {
  return kind >= OD_OUT_NODE_PRESSURE && kind <= OD_OUT_BLOCK_STATE;
}

#endif
