// Element classes. Each class is defined in one file of this folder: a table (the struct below) and an equation out = f(in) on
// flat local vectors. Readers, outputs, energies, derivatives, tests and documentation are loops over the list of classes
// (element_list.h).
//
// An instance does not access the machine. Constant tables of integers (model/join.c) define where its `in` is read from and
// where its `out` is added.
#ifndef OD_ELEMENT_H
#define OD_ELEMENT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/complex_number.h"
#include "base/limits.h"
#include "oleodyn/build.h"

// Limits of a class, so that one instance fits on the stack. The limits of ends and choices are in oleodyn/build.h.
enum {
  OD_MOST_IN = 16,
  OD_MOST_OUT = 18,
  OD_MOST_REPORTS = 8,
  OD_MOST_ELEMENT_FIELDS = 32,
  OD_MOST_ELEMENT_STATES = 13,
  OD_MOST_ELEMENT_OUTPUTS = 12,
  OD_MOST_END_KEYS = 3,
  OD_MOST_STAGES = 4,
};

// ---- the inputs of an instance

typedef enum od_in_kind {
  OD_IN_NONE,        // the end of the list
  OD_IN_PRESSURE,    // pressure at end `index`, at least zero; zero if an optional end is not connected
  OD_IN_LENGTH,      // length of the line, or coordinate of the joint, on which the instance acts
  OD_IN_SPEED,       // the rate of the length
  OD_IN_SIGNAL,      // signal `index` of the instance; 1 without a signal
  OD_IN_STATE,       // state `index` of the instance
  OD_IN_HOST_STATE,  // state `index` of the host of the instance (a port's spool)
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
  OD_OIL_STATE_THINNESS,  // viscosity at the reference temperature divided by the viscosity at the temperature of the oil
  OD_OIL_STATES
};

// ---- the outputs of an instance

typedef enum od_out_kind {
  OD_TO_NOTHING,     // the end of the list
  OD_TO_THROUGH,     // a flow from end 0 to end 1, m3/s
  OD_TO_END,         // a flow out of the element into end `index`, m3/s
  OD_TO_VOLUME,      // volume added to the node at end `index`, m3
  OD_TO_LARGEST,     // largest volume that the element adds at end `index`, m3
  OD_TO_COMPLIANCE,  // compliance of the element's walls at end `index`, in addition to the oil, m3/Pa
  OD_TO_FORCE,       // force that pushes two points apart, or acts in the direction of a joint coordinate
  OD_TO_RATE,        // the rate of state `index` of the instance
} od_out_kind;
typedef struct od_out_slot {
  od_out_kind kind;
  int index;
} od_out_slot;

// The first two entries of the report of an instance; further entries are for named outputs. A report depends on in, out and
// numbers, not on the memory of the instance.
enum { OD_REPORT_LOSS, OD_REPORT_STORED, OD_REPORT_OWN };
enum { OD_NO_HEAT = -1 };

// ---- keys in files

// Limits of a spool stroke in m.
#define OD_STROKE_LIMITS \
  { 1e-7, 1e3, 1e-5, 50 }

// A number of the class. A default of NAN means that the number is required.
typedef struct od_element_field {
  const char *key, *unit;  // unit "*": the unit of the signal of the instance or of its host
  od_sign sign;
  double fallback;
  const char *same_as;    // the key of the field whose value is the default; NULL: none
  od_limits limits;       // all zero: no limits
  od_limits limits_in_m;  // limits if the unit is "*" and the signal is in m; all zero: no limits
  const char *meaning;
  const char *turning_unit;  // unit in a revolute joint; NULL: the same unit
  od_limits turning_limits;
  const char *section;     // the key of the sub-section that contains the field; NULL: none
  bool follows_signal;     // whether a file may give a signal, or a factor and a signal
  const char *below_zero;  // sentence about negative values of the signal, for users; NULL: none
} od_element_field;

// A condition on two numbers: the relation of the field `greater` to the field `smaller`.
typedef enum od_rule_kind {
  OD_RULE_GREATER,
  OD_RULE_NOT_LESS,
  OD_RULE_NEEDED,   // `greater` is above zero if `smaller` is above zero
  OD_RULE_DIFFERS,  // both fields are different
} od_rule_kind;
typedef struct od_element_rule {
  int greater, smaller;
  od_rule_kind kind;
  int about;  // the field that the message is about
  const char *message;
} od_element_rule;
static inline bool od_element_rule_holds(const od_element_rule *r, double greater, double smaller) {
  switch (r->kind) {
    case OD_RULE_GREATER: return greater > smaller;
    case OD_RULE_NOT_LESS: return greater >= smaller;
    case OD_RULE_NEEDED: return greater > 0 || !(smaller > 0);
    case OD_RULE_DIFFERS: return greater != smaller;
  }
  return false;
}

// Ends at nodes of the circuit: a key with the name of one node, or with a list of two names.
typedef struct od_element_end {
  const char *key;
  int count;
  bool optional;
} od_element_end;

// Ways in which an element acts on the mechanism.
typedef enum od_acts {
  OD_ACTS_NOWHERE,
  OD_ACTS_BETWEEN_POINTS,
  OD_ACTS_IN_JOINT,
  OD_ACTS_SOMEWHERE,  // between two points or in a joint, given by each instance
  OD_ACTS_ON_HOST,    // along the line of the host, or in a joint
} od_acts;

// Ways in which pressures drive the mechanism through the force of an element, for inverse dynamics. The flows of the element are
// the flows at its ends.
typedef enum od_drives {
  OD_DRIVES_NOTHING,
  OD_DRIVES_BY_CHAMBERS,    // by the pressure of each chamber, in proportion: cylinders
  OD_DRIVES_BY_DIFFERENCE,  // by the pressure difference between the two ends: motors
} od_drives;

typedef struct od_element_state {
  const char *name, *unit;  // unit "*": as for fields
  int present_if;  // the state exists if this field is above present_above, else an input replaces the state; -1: always
  double present_above;
  int scale_field;  // field with the typical size of the state and of its rate per second; -1: `scale` is used
  double scale;     // typical size if scale_field is -1
  double initial;
  od_limits limits;          // limits of the initial value; all zero: the limits of the unit
  const char *turning_unit;  // unit in a revolute joint; NULL: the same unit

  // For random-walk states: the field with the standard deviation of their change in a second (0: none; it is never field 0), and
  // the field with the time constant of their decay.
  int noise_field, time_field;
} od_element_state;

// Quantities that can be observed; their names begin with the name of the instance: "bleed.flow".
typedef enum od_shows {
  OD_SHOWS_NOTHING,
  OD_SHOWS_LENGTH,
  OD_SHOWS_SPEED,
  OD_SHOWS_FORCE,       // sum of the forces of all elements along the same line; positive: pushing
  OD_SHOWS_OUT,         // out[index]
  OD_SHOWS_REPORT,      // report[index]
  OD_SHOWS_STATE,       // state index
  OD_SHOWS_INTEGRAL,    // integral of the loss
  OD_SHOWS_WORK,        // the integral of the supply
  OD_SHOWS_OF_FRICTION  // out[index] of the friction of the instance, or zero
} od_shows;
typedef struct od_element_output {
  const char *name;  // for an instance that has a name

  // For an instance without a name: the text after the name of the host and `inside`; "": no text; NULL: not an output.
  const char *inside_name;
  const char *unit, *turning_unit;
  od_shows shows;
  int index;
  bool negative;       // whether the output has the opposite sign
  bool with_friction;  // whether the same quantity of the friction of the instance is added
} od_element_output;

// ---- the class

// Instances of one class, adjacent in the work memory w.
typedef struct od_batch {
  int element_class, count;          // index of the class; number of instances
  int in, out, kept, report, slope;  // offsets in w
  int kept_scalars, choices;         // counts for each instance
  int number, host, choice;          // offsets in pool
  int oil;                           // offset in w
  const od_formula *const *formula;  // formula of each instance; NULL for classes without formulas
  const int *held;                   // offsets in w of the jumps of each formula (base/formula.h), or NULL
} od_batch;

typedef struct od_element_class {
  const char *name;                           // name in `oleodyn components` and for the builder
  const char *section;                        // section of machine files; NULL: exists only as part of other elements
  const char *noun;                           // noun for messages
  const char *heading;                        // heading of a list
  const char *summary;                        // one line for users
  bool has_parts;                             // whether the section has more keys than `fields`, such as ports
  const char *inside;                         // key in the section of the host, such as "friction"; NULL: none
  const struct od_element_class *host_class;  // the class of the host, if only one is possible; else NULL

  // Whether the fields are followed by the control points of a curve: all abscissae, then all ordinates. Choice 0 is the sign of
  // the abscissa (side of the spool), choice 1 the degree, choice 2 the number of points.
  bool has_curve;
  int curve_stroke,
      curve_full;  // with a curve: fields of the host with the largest abscissa and with the ordinate of a fully open port

  // The key of the formula in files, for classes whose law is a formula of each instance. NULL: no formula.
  const char *formula_key;
  const char *choice;  // the word in files that selects the class ("law: coulomb"); NULL: none
  od_element_end ends[OD_MOST_END_KEYS];
  od_acts acts;
  bool needs_oil, reads_host;  // reads_host: whether the law depends on numbers of the host
  const char *signal_key;      // the key of a required signal; NULL: none, or a field may follow a signal
  od_element_field fields[OD_MOST_ELEMENT_FIELDS];
  int field_count;
  // Number of fields at the end of the list that exist only if choice 0 is 1: the fields for negative speeds.
  int optional_fields;
  const od_element_rule *rules;
  int rule_count;
  int one_of[OD_MOST_ENDS], one_of_count;  // fields of which at least one must be given
  int numbers;  // count of numbers without optional numbers; with a curve the count depends on the instance
  od_element_state states[OD_MOST_ELEMENT_STATES];
  od_in_slot in[OD_MOST_IN];
  od_out_slot out[OD_MOST_OUT];
  int ins, outs, kept, reports, choices;
  // The builder sets choice 0 if another instance of the class has the same node at this end; then this instance only feeds that
  // node. 0: no such end.
  int shared_end;
  bool end_choice;  // whether the builder sets choice 0 if the last end, which is optional, is connected
  od_element_output outputs[OD_MOST_ELEMENT_OUTPUTS];
  // Index of the report with the power that an external drive supplies through the element. This power is not a loss. 0: the
  // element has no such drive.
  int supply;
  bool supplies;  // whether the element supplies energy to the machine: by the report `supply`, or by a negative loss
  int heat;  // index of the report with the power that heats the oil, or OD_NO_HEAT; losses of suppliers do not heat the oil
  bool may_supply;          // whether the loss can be negative in unusual states, such as overstretched bristles
  bool shuts_about_center;  // whether all edges are closed if the spool is nearer to `offset` than overlap * stroke

  // Pumps with a control: the flow is zero if the pressure at this end is the sum of two fields; field 0: none.
  struct {
    int field, range, end;
  } shut_off;
  od_drives drives;
  // Pumps: fields whose product is the flow with a signal of 1, m3/s.
  struct {
    int count, field[2];
  } rated_flow;
  // Fields that define the range of lengths: the shortest length, the strokes of all stages, the stiffness of the end stops. The
  // field of the first stroke is never 0; 0: any length. is_required: the builder rejects an initial length beyond the range.
  struct {
    int closed, stroke[OD_MOST_STAGES], stiffness;
    bool is_required;
  } reach;

  void (*evaluate)(const od_batch *b, const int *pool, double *w);
  void (*evaluate_complex)(const od_batch *b, const int *pool, od_complex *w);
  void (*report)(const od_batch *b, const int *pool, double *w);
  void (*report_complex)(const od_batch *b, const int *pool, od_complex *w);
  // Optional, for frequently used classes; otherwise derivatives are computed by complex steps of the instance alone. The first
  // function computes all d out / d in of every instance. The second function computes the derivatives of `out` of one instance
  // with respect to some numbers (`outs` entries per number): its own numbers (0 ..), the numbers of its host (OD_NUMBER_OF_HOST
  // + ..), or the numbers of the oil (OD_NUMBER_OF_OIL + ..). It returns false if all derivatives are zero.
  void (*slopes)(const od_batch *b, const int *pool, double *w);
  bool (*number_slopes)(const od_batch *b, const int *pool, double *w, int instance, const int *number, int count,
                        double *dout);
  // Quantities whose signs select a branch of the law, such as distances from stops: their number, and their values.
  int zeros;
  void (*fill_zeros)(const od_batch *b, const int *pool, const double *w, int instance, double *value);
  // For classes with modes (NULL: none). A mode is a state without a rate. margin: positive until a switch of the instance is
  // due. switch_mode: computes all states of the instance after the switch from its inputs.
  double (*margin)(const od_batch *b, const int *pool, double *w, int instance);
  void (*switch_mode)(const od_batch *b, const int *pool, double *w, int instance, double *states);
  void (*switch_mode_complex)(const od_batch *b, const int *pool, od_complex *w, int instance, od_complex *states);
} od_element_class;

// Returns the number of ends, including optional ends.
static inline int od_element_end_count(const od_element_class *c) {
  int count = 0;
  for (int i = 0; i < OD_MOST_END_KEYS; i++) count += c->ends[i].count;
  return count;
}

// Returns the sum of the strokes in m, from the numbers of an instance; 0: any length.
static inline double od_element_stroke(const od_element_class *c, const double *number) {
  double sum = 0;
  for (int i = 0; i < OD_MOST_STAGES && c->reach.stroke[i] > 0; i++) sum += number[c->reach.stroke[i]];
  return sum;
}

// Returns the reason why the ends of the class cannot be at junctions, as the predicate of a sentence, or NULL if they can. A
// junction has no volume, and its pressure must not depend on the mechanism.
static inline const char *od_element_not_at_junctions(const od_element_class *c) {
  if (c->acts != OD_ACTS_NOWHERE) return "acts on the mechanism";
  for (int k = 0; k < c->outs; k++)
    if (c->out[k].kind == OD_TO_VOLUME || c->out[k].kind == OD_TO_COMPLIANCE) return "has a volume there";
  return NULL;
}

enum { OD_NUMBER_OF_HOST = 1 << 20, OD_NUMBER_OF_OIL = 1 << 21 };

#endif
