// Element classes. Each class is one file of this folder: an equation out = f(in) on flat local vectors, the table
// od_element_class for running models, and a description for readers and users (element_description.h). Readers, outputs, energies,
// derivatives, tests and documentation iterate over the list of classes (element_list.h).
//
// The equations of an instance do not access the machine. Constant tables of integers (model/join.c) define the sources
// of its inputs (`in`) and the destinations of its outputs (`out`).
#ifndef OD_ELEMENT_H
#define OD_ELEMENT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/complex_number.h"
#include "oleodyn/build.h"

// Limits of a class. They ensure that one instance fits on the stack. The limits of ends and choices are in oleodyn/build.h.
enum {
  OD_MOST_IN = 16,
  OD_MOST_OUT = 18,
  OD_MOST_REPORTS = 8,
  OD_MOST_ELEMENT_STATES = 13,
  OD_MOST_CLASS_NAME = 32,
};

// ---- the inputs of an instance

typedef enum od_in_kind {
  OD_IN_NONE,  // the end of the list
  // Pressure at end `index`, at least zero unless a signal sets a negative pressure; zero if an optional end is not connected.
  OD_IN_PRESSURE,
  OD_IN_LENGTH,      // length of the line, or coordinate of the joint, on which the instance acts
  OD_IN_SPEED,       // the rate of the length
  OD_IN_SIGNAL,      // signal `index` of the instance; 1 without a signal
  OD_IN_STATE,       // state `index` of the instance
  OD_IN_HOST_STATE,  // state `index` of the host of the instance (for a port: the spool of the valve)
  OD_IN_HEAT,        // the power of all losses that heat the oil, W; only for the reservoir
} od_in_kind;
typedef struct od_in_slot {
  od_in_kind kind;
  int index;
} od_in_slot;

// Properties of the oil for all elements.
enum {
  OD_OIL_STATE_ROOT,        // sqrt(2/density)
  OD_OIL_STATE_SMOOTHING,   // Pa
  OD_OIL_STATE_VISCOSITY,   // dynamic, at zero pressure, Pa s
  OD_OIL_STATE_THICKENING,  // relative increase of the viscosity per pressure, 1/Pa
  OD_OIL_STATE_THINNESS,    // viscosity at the reference temperature divided by the viscosity at the temperature of the
                            // oil
  OD_OIL_STATES
};

// ---- the outputs of an instance

typedef enum od_out_kind {
  OD_TO_NOTHING,     // the end of the list
  OD_TO_THROUGH,     // a flow from end 0 to end 1, m3/s
  OD_TO_END,         // a flow out of the element into the node at end `index`, m3/s
  OD_TO_VOLUME,      // volume added to the node at end `index`, m3
  OD_TO_LARGEST,     // largest volume that the element adds to the node at end `index`, m3
  OD_TO_COMPLIANCE,  // compliance of the element's walls at end `index`, in addition to the oil, m3/Pa
  OD_TO_FORCE,       // force that pushes two points apart, or acts in the direction of a joint coordinate
  OD_TO_RATE,        // the rate of state `index` of the instance
} od_out_kind;
typedef struct od_out_slot {
  od_out_kind kind;
  int index;
} od_out_slot;

// The first entries of the report of an instance are the loss (W) and the stored energy (J); further entries are for
// named outputs. A report depends on inputs, outputs and numbers, not on the memory of the instance.
enum { OD_REPORT_LOSS, OD_REPORT_STORED, OD_REPORT_OWN };
enum { OD_NO_HEAT = -1 };

// Ways in which an element acts on the mechanism.
typedef enum od_acts {
  OD_ACTS_NOWHERE,
  OD_ACTS_BETWEEN_POINTS,
  OD_ACTS_IN_JOINT,
  OD_ACTS_SOMEWHERE,  // between two points or in a joint, given by each instance
  OD_ACTS_ON_HOST,    // along the line of the host, or in a joint
} od_acts;

// ---- the class

// Instances of one class, adjacent in the work memory w.
typedef struct od_batch {
  int element_class, count;          // index of the class; number of instances
  int in, out, kept, report, slope;  // offsets in w
  int kept_scalars, choices;         // counts for each instance
  int number, host, choice;          // offsets in pool
  int oil;                           // offset in w
  // Classes with formulas: offsets in pool of three lists, each with one entry per instance. `formula`: the offset in pool of the
  // first operation of the formula; `operations`: the count of operations; `held`: the offset in w of the jumps (base/formula.h).
  // Other classes: 0.
  int formula, operations, held;
} od_batch;

// The data of a class that a running model needs. The table contains no address of a text, so a program that builds no model is
// linked without descriptions.
typedef struct od_element_class {
  char name[OD_MOST_CLASS_NAME];  // name in `oleodyn components` and for the builder
  int version;                    // changes when models of earlier versions become unusable
  od_acts acts;
  bool needs_oil, reads_host;                 // reads_host: whether the law depends on numbers of the host
  bool has_formula;                           // whether the law is a formula of each instance
  const struct od_element_class *host_class;  // the class of the host, if only one is possible; else NULL
  // Whether the numbers are followed by the control points of a curve: all abscissae, then all ordinates. Choice 0 is the sign of
  // the abscissa (side of the spool), choice 1 the degree, choice 2 the number of points.
  bool has_curve;
  int optional_numbers;  // count of further numbers if choice 0 is 1: the numbers for negative speeds
  int numbers;           // count of numbers without optional numbers; with a curve the count depends on the instance
  od_in_slot in[OD_MOST_IN];
  od_out_slot out[OD_MOST_OUT];
  int ins, outs, kept, reports, choices;
  unsigned optional_ends;    // bit i: end i may be unconnected
  bool end_choice;           // whether the builder sets choice 0 if the last end, which is optional, is connected
  unsigned optional_states;  // bit i: state i exists only for some numbers of the instance
  // Index of the report with the power that an external drive supplies through the element. This power is not a loss. 0: the
  // element has no external drive.
  int supply;
  // Whether the element is a source of energy. Without the report `supply`, a negative loss is the power that the element supplies
  // to the machine.
  bool supplies;
  // Index of the report with the power that heats the oil, or OD_NO_HEAT. The loss of an element with `supplies` and without
  // `supply` does not heat the oil.
  int heat;

  void (*evaluate)(const od_batch *b, const int *pool, double *w);
  void (*evaluate_complex)(const od_batch *b, const int *pool, od_complex *w);
  void (*report)(const od_batch *b, const int *pool, double *w);
  void (*report_complex)(const od_batch *b, const int *pool, od_complex *w);
  // Computes the derivatives of all outputs of every instance with respect to all inputs, from the inputs and outputs of the last
  // evaluation.
  void (*slopes)(const od_batch *b, const int *pool, double *w);
  // Computes the derivatives of the outputs of one instance with respect to some numbers (`outs` entries per number):
  // its own numbers (0 ..), the numbers of its host (OD_NUMBER_OF_HOST + ..), or the numbers of the oil
  // (OD_NUMBER_OF_OIL + ..). Returns false if all derivatives are zero. Optional, for frequently used classes: without
  // this function, complex steps of one instance give these derivatives.
  bool (*number_slopes)(const od_batch *b, const int *pool, double *w, int instance, const int *number, int count,
                        double *dout);
  // Quantities whose signs select a branch of the law, such as distances from stops. `zeros` is the count of these quantities; the
  // function computes their values.
  int zeros;
  void (*fill_zeros)(const od_batch *b, const int *pool, const double *w, int instance, double *value);
  // For classes with modes (NULL: none). A mode is a state without a rate. margin: positive until a switch of the instance is
  // due. switch_mode: computes all states of the instance after the switch from its inputs.
  double (*margin)(const od_batch *b, const int *pool, double *w, int instance);
  void (*switch_mode)(const od_batch *b, const int *pool, double *w, int instance, double *states);
  void (*switch_mode_complex)(const od_batch *b, const int *pool, od_complex *w, int instance, od_complex *states);
} od_element_class;

// A pool contains operations of formulas as sequences of integers. The offsets of operations in the pool are even, so
// that their numbers are aligned.
enum { OD_OPERATION_INTS = sizeof(od_operation) / sizeof(int) };
static inline od_formula od_batch_formula(const od_batch *b, const int *pool, int instance) {
  if (b->formula == 0) return (od_formula){0, NULL};
  const void *operation = pool + pool[b->formula + instance];
  return (od_formula){pool[b->operations + instance], operation};
}

// Returns whether side, degree and number of points of a curve are valid and agree with the count of numbers. The
// numbers of a curve follow the other numbers of the class: increasing abscissae of the control points, then the
// ordinates.
enum { OD_HIGHEST_CURVE_DEGREE = 7 };  // OD_SPLINE_MOST - 1 (math/spline_x.h)
static inline bool od_element_curve_fits(const od_element_class *c, const int *choice, int numbers) {
  int side = choice[OD_PORT_SIDE], degree = choice[OD_PORT_DEGREE], points = choice[OD_PORT_COUNT];
  return degree >= 1 && degree <= OD_HIGHEST_CURVE_DEGREE && points > degree && (side == 1 || side == -1) &&
         numbers == c->numbers + 2LL * points;
}

// Returns the count of states: one more than the largest index of a state among the inputs and rates of an instance.
static inline int od_element_state_count(const od_element_class *c) {
  int count = 0;
  for (int i = 0; i < c->ins; i++)
    if (c->in[i].kind == OD_IN_STATE && c->in[i].index >= count) count = c->in[i].index + 1;
  for (int i = 0; i < c->outs; i++)
    if (c->out[i].kind == OD_TO_RATE && c->out[i].index >= count) count = c->out[i].index + 1;
  return count;
}

// Returns the count of ends, including optional ends: one more than the largest index of an end among the inputs and
// flows of an instance.
static inline int od_element_class_ends(const od_element_class *c) {
  int count = 0;
  for (int i = 0; i < c->ins; i++)
    if (c->in[i].kind == OD_IN_PRESSURE && c->in[i].index >= count) count = c->in[i].index + 1;
  for (int i = 0; i < c->outs; i++) {
    if (c->out[i].kind == OD_TO_THROUGH && count < 2) count = 2;
    if (c->out[i].kind >= OD_TO_END && c->out[i].kind <= OD_TO_COMPLIANCE && c->out[i].index >= count)
      count = c->out[i].index + 1;
  }
  return count;
}

// Returns NULL if the ends of the class can be at junctions, otherwise the reason why not, as the predicate of a sentence. A
// junction has no volume, and its pressure must not depend on the mechanism.
static inline const char *od_element_not_at_junctions(const od_element_class *c) {
  if (c->acts != OD_ACTS_NOWHERE) return "acts on the mechanism";
  for (int k = 0; k < c->outs; k++)
    if (c->out[k].kind == OD_TO_VOLUME || c->out[k].kind == OD_TO_COMPLIANCE) return "has a volume there";
  return NULL;
}

enum { OD_NUMBER_OF_HOST = 1 << 20, OD_NUMBER_OF_OIL = 1 << 21 };

#endif
