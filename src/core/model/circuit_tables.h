// Tables of the circuit: nodes, which have pressures; instances of element classes, which connect nodes and act on the
// mechanism; and the connections of instances to the rest of the machine.
#ifndef OD_CIRCUIT_TABLES_H
#define OD_CIRCUIT_TABLES_H

#include <stdbool.h>

#include "base/formula.h"
#include "elements/element.h"
#include "oleodyn/build.h"

typedef struct od_node {
  int name;
  od_node_kind kind;
  int number, input;
  int state;     // index of the node's pressure among the first-order states, or -1
  int junction;  // index of the node among the junctions, or -1
} od_node;
// Indices of the numbers of the oil.
enum { OD_OIL_DENSITY, OD_OIL_SMOOTHING, OD_OIL_LAW };
// Indices of the numbers of the viscosity. Where numbers of the oil and of the viscosity are used together, these indices
// are offset by OD_OIL_VISCOSITY.
enum {
  OD_VISCOSITY_VALUE,
  OD_VISCOSITY_REFERENCE,
  OD_VISCOSITY_TEMPERATURE,
  OD_VISCOSITY_THINNING,
  OD_VISCOSITY_THICKENING,
  OD_VISCOSITY_EXPANSION,
  OD_VISCOSITY_HOT_TEMPERATURE,
  OD_VISCOSITY_HOT_VALUE,  // zero: OD_VISCOSITY_THINNING is used
  OD_VISCOSITY_NUMBERS,
  OD_OIL_VISCOSITY = 64
};

// Returns the count of numbers of an oil law, or -1 if there is no such law.
static inline int od_oil_numbers(od_oil_law law) {
  static const int numbers[] = {[OD_OIL_CONSTANT] = 1, [OD_OIL_LINEAR] = 2, [OD_OIL_AIR] = 4};
  return (unsigned)law < sizeof numbers / sizeof *numbers ? OD_OIL_LAW + numbers[law] : -1;
}

// An instance of an element class.
typedef struct od_instance {
  int name;             // "" for an unnamed part of another element or of a joint
  int element_class;    // index in od_model.element_class
  int number, numbers;  // index of the instance's first number in theta; count of numbers
  int host, joint;      // the instance or the joint to which this instance belongs, or -1
  int friction;         // index of the friction element of this instance, or -1
  int point_a, point_b, actuator;
  int end[OD_MOST_ENDS];              // node at each end, or -1
  int signal;                         // index of the instance's signal, or -1
  int more_signals[OD_MORE_SIGNALS];  // further signals, for classes with formulas
  int state[OD_MOST_ELEMENT_STATES];  // index of each state among the first-order states, or -1
  int switcher;                       // index of the instance among the elements with modes, or -1
  int supplier;                       // index of the instance among the elements with a supply, or -1
  int choice[OD_MOST_ELEMENT_CHOICES];
  int batch, place;         // index of the batch; index of the instance within the batch
  int in, out, slope;       // index of the first input, output and derivative of the instance in the work memory
  int target, targets;      // section of od_join.target: first entry; count
  int formula, operations;  // for classes with a formula: first operation of the formula in od_model.operation; count
  int held;                 // index of the instance's first jump among all jumps (od_layout.held)
} od_instance;

// Connections of instances to the rest of the machine: constant integers.
// model/join.c computes these integers when the layout of the work memory is known.
typedef struct
    od_target {  // target of an output of an instance, w[to] += sign * w[from], and the places of the derivatives
  int from, to;
  double sign;
  od_out_kind kind;
  int target;  // index of a node, actuator or first-order state
  // Places in w: the row of derivatives of the output, and the first input of the instance. Then the count of inputs that may
  // change.
  int slope, in, ins;
  // row: the row of derivatives that contains the target; -1: none (a tank or source). state: the first-order state
  // whose rate has this row; -1: none (a force or a junction).
  int row, state;
  int place;       // index of the target's first entry in od_join.place
  bool displaces;  // whether the flow is the rate of the volume that the same instance adds to the same node
} od_target;
// A user of a number: an instance, its batch, the index of the instance in the batch, and the index of the number in
// the class of the instance.
typedef struct od_number_user {
  int instance, batch, place, number;
} od_number_user;
// Tables of junctions: the instances with an end at a junction, and derivatives of their flows with respect to pressures of
// junctions.
typedef struct od_junction_in {  // an input of an instance that is the pressure of a junction
  int in, node;
} od_junction_in;
typedef struct od_junction_flow {  // an output of an instance that is a flow into a junction
  int from, junction;
  double sign;
} od_junction_flow;
// Derivative of a flow into junction `row` with respect to the pressure of junction `column`; at: place of the
// derivative in the matrix, an offset in w.
typedef struct od_junction_slope {
  int row, column, from, in, slope, instance, at;
  double sign;
} od_junction_slope;
// A group of junctions that elements connect directly. The junctions are adjacent and share one matrix. Each junction has a row of
// derivatives: first with respect to `columns` columns of a rate's row, then with respect to inflows of the group.
// od_junctions.column lists these columns from index `column` on; -1: all columns.
typedef struct od_junction_group {
  int first, count;
  int matrix, row;  // start of the matrix and of the rows in w
  int width, columns, column;
} od_junction_group;
typedef struct od_junctions {
  int groups, instances, ins, flows, slopes, columns;
  od_junction_group *group;
  int *column;      // columns of groups with sparse rows
  int *group_of;    // for each junction: its group
  int *node;        // for each junction: its node
  int *instance;    // instances with an end at a junction
  od_batch *alone;  // a separate batch for each entry of `instance`
  od_junction_in *in;
  od_junction_flow *flow;
  od_junction_slope *slope;
} od_junctions;
// A heat source of the oil: an instance, and the index of its report with the heating power.
typedef struct od_heater {
  int instance, report;
} od_heater;
typedef struct od_join {
  int batches, ins, outs, targets, forces, users, kept, reports, slopes;
  int pool_count, places, row_starts,
      row_columns;  // counts of the tables `pool`, `place`, `row_start` and `row_column`
  bool compliant;   // whether some element has a compliance in addition to the oil
  // Whether elements also affect each other through junctions or a reservoir, not only through pressures and states.
  bool indirect;
  int reservoir;  // index of the instance that is the reservoir, or -1
  int warms,
      heat_in;  // state of the reservoir, or -1; input of the reservoir that receives the heat of all heat sources
  int heaters;
  od_heater *heater;
  od_batch *batch;  // instances of one class are contiguous, in the order of the classes
  // First the operations of all formulas (od_model.operation, each OD_OPERATION_INTS integers), then data of batches: offsets in w
  // of numbers and of hosts' numbers, choices, formulas.
  int *pool;
  int *gather;        // in[i] = w[gather[i]]
  int *column;        // for each input: its column in rows of derivatives of rates (see od_layout)
  int *force_column;  // for each input: its column in rows of derivatives of forces
  int *gain;          // for each input: place of its derivative with respect to the variable of that column
  int *node;          // for each input that is a pressure: its node; otherwise -1
  od_target *target;
  int *place;     // for each target and each input that may change: place in w to which the derivative is added
  int *diagonal;  // for each circuit state: place in w of the derivative of its rate with respect to itself

  // Sparse rows of derivatives of rates. row_start: the start of each row relative to od_layout.rate_row, then the end of the last
  // row. row_column: the columns of all rows, increasing within each row. Without row_starts, rows have all columns.
  int *row_start, *row_column;
  int *force;                  // indices of the targets that are forces
  int *displacer, displacers;  // indices of the targets that displace oil; their count
  od_junctions at_junction;
  int *first_user;  // for each number of theta: index of its first user; one more entry for the end
  od_number_user *user;
} od_join;

// Output of two nodes: the pressure of node_a minus the pressure of node_b.
typedef struct od_difference {
  int name;
  int node_a, node_b;
} od_difference;

#endif
