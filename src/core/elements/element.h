// Element classes: everything that is known about a kind of element stands in one file of this folder, as a table (here)
// and as an equation out = f(in) on flat local vectors. Readers, outputs, energies, derivatives, tests and documentation
// are loops over the list of classes (element_list.h).
//
// An instance of a class never sees the machine it is part of. What it depends on is gathered into its `in`, what it
// answers in `out` is scattered to where it counts, both by constant tables of integers (model/join.c).
#ifndef OD_ELEMENT_H
#define OD_ELEMENT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/limits.h"
#include "oleodyn/build.h"

// Limits of a class, so that one instance fits on the stack. Those of ends and choices are in oleodyn/build.h.
enum {
  OD_MOST_IN = 16,
  OD_MOST_OUT = 18,
  OD_MOST_REPORTS = 8,
  OD_MOST_ELEMENT_FIELDS = 32,
  OD_MOST_ELEMENT_STATES = 13,
  OD_MOST_ELEMENT_OUTPUTS = 12,
  OD_MOST_END_KEYS = 3,
};

// ---- what an instance depends on

typedef enum od_in_kind {
  OD_IN_NONE,        // the end of the list
  OD_IN_PRESSURE,    // at end `index`, never below zero; 0 where an optional end is not connected
  OD_IN_LENGTH,      // of the line it acts along, or the joint's coordinate
  OD_IN_SPEED,       // its rate
  OD_IN_SIGNAL,      // the signal it listens to, or of several the one with this index; 1 where it listens to none
  OD_IN_STATE,       // its own state `index`
  OD_IN_HOST_STATE,  // the state `index` of the element that it belongs to (a port's spool)
  OD_IN_HEAT,        // what all elements in the oil lose, W: of the reservoir alone
} od_in_kind;
typedef struct od_in_slot {
  od_in_kind kind;
  int index;
} od_in_slot;

// The oil, as all elements see it.
enum {
  OD_OIL_STATE_ROOT,        // sqrt(2/density)
  OD_OIL_STATE_SMOOTHING,   // Pa
  OD_OIL_STATE_VISCOSITY,   // dynamic, without pressure, Pa s
  OD_OIL_STATE_THICKENING,  // its growth with pressure, 1/Pa
  OD_OIL_STATE_THINNESS,    // viscosity at the temperature where it is given over that at the oil's own
  OD_OIL_STATES
};

// ---- what it answers

typedef enum od_out_kind {
  OD_TO_NOTHING,     // the end of the list
  OD_TO_THROUGH,     // a flow from end 0 to end 1, m3/s
  OD_TO_END,         // a flow out of the element into end `index`
  OD_TO_VOLUME,      // volume that it adds to the node at end `index`, m3
  OD_TO_LARGEST,     // the largest that volume can be
  OD_TO_COMPLIANCE,  // volume per pressure by which it gives way there beside its oil, m3/Pa
  OD_TO_FORCE,       // what pushes its two points apart, or drives its joint on
  OD_TO_RATE,        // the rate of its own state `index`
} od_out_kind;
typedef struct od_out_slot {
  od_out_kind kind;
  int index;
} od_out_slot;

// What an instance reports on demand begins with these two; the rest is for named outputs. It follows from in, out and numbers
// alone, not from the memory of the instance.
enum { OD_REPORT_LOSS, OD_REPORT_STORED, OD_REPORT_OWN };
enum { OD_NO_HEAT = -1 };

// ---- what files say about it

// A number. NAN as the default means that it is required.
typedef struct od_element_field {
  const char *key, *unit;  // unit "*": that of the signal it listens to, or of the signal of the element it belongs to
  od_sign sign;
  double fallback;
  const char *same_as;  // the key of the field whose value is the default; NULL: none
  od_limits limits;     // all zero: whatever is known of numbers with this key and unit
  const char *meaning;
  const char *turning_unit;  // in a revolute joint; NULL: the same
  od_limits turning_limits;
  const char *section;     // the key of a sub-section that it stands in; NULL: none
  bool follows_signal;     // may be given as a signal, or as a factor and a signal
  const char *below_zero;  // what happens where that signal is negative, for people; NULL: what anybody would expect
} od_element_field;

// A condition on two numbers: how the field `greater` must be, compared with the field `smaller`.
typedef enum od_rule_kind {
  OD_RULE_GREATER,
  OD_RULE_NOT_LESS,
  OD_RULE_NEEDED,   // above zero, where the other one is
  OD_RULE_DIFFERS,  // any other number
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

// Ends at nodes of the circuit: a key with one name, or with a list of two.
typedef struct od_element_end {
  const char *key;
  int count;
  bool optional;
} od_element_end;

// Where it acts on the mechanism.
typedef enum od_acts {
  OD_ACTS_NOWHERE,
  OD_ACTS_BETWEEN_POINTS,
  OD_ACTS_IN_JOINT,
  OD_ACTS_SOMEWHERE,  // between two points or in a joint, as each instance says
  OD_ACTS_ON_HOST,    // along the line of what it belongs to, or in a joint
} od_acts;

typedef struct od_element_state {
  const char *name, *unit;  // unit "*": as for fields
  int present_if;  // the field that must be above present_above, or it is no state but its input itself; -1: always
  double present_above;
  int scale_field;  // its typical size, also of its rate per second, is the value of this field; -1:
  double scale;     // this
  double initial;
  const char *turning_unit;  // in a revolute joint; NULL: the same
  // Of states that wander: the field with the standard deviation of their change in a second, which is not the first one (0:
  // they do not), and the one with the time constant of forgetting that.
  int noise_field, time_field;
} od_element_state;

// Quantities that can be observed, each called after the instance: "bleed.flow".
typedef enum od_shows {
  OD_SHOWS_NOTHING,
  OD_SHOWS_LENGTH,
  OD_SHOWS_SPEED,
  OD_SHOWS_FORCE,       // of everything that acts along the same line, pushing
  OD_SHOWS_OUT,         // out[index]
  OD_SHOWS_REPORT,      // report[index]
  OD_SHOWS_STATE,       // state index
  OD_SHOWS_INTEGRAL,    // of the loss
  OD_SHOWS_WORK,        // the integral of the supply
  OD_SHOWS_OF_FRICTION  // out[index] of the friction that belongs to it, or zero
} od_shows;
typedef struct od_element_output {
  const char *name;  // of an instance with a name of its own
  // Behind the name of what it belongs to and `inside`; "" for these two alone; NULL: not shown there.
  const char *inside_name;
  const char *unit, *turning_unit;
  od_shows shows;
  int index;
  bool negative;       // it counts the other way round
  bool with_friction;  // and the same of the friction that belongs to it
} od_element_output;

// ---- the class

// A row of instances in the work memory w; number, host and choice are where their tables begin in `pool`.
typedef struct od_batch {
  int element_class, count;          // which class; how many
  int in, out, kept, report, slope;  // offsets in w
  int kept_scalars, choices;         // of each instance
  int number, host, choice;          // offsets in pool
  int oil;                           // offset in w
  const od_formula *const *formula;  // of each instance, of a class with formulas; else NULL
} od_batch;

typedef struct od_element_class {
  const char *name;                           // what `oleodyn components` and the builder call it
  const char *section;                        // of machine files; NULL: it is only part of others
  const char *noun;                           // for messages
  const char *heading;                        // over a list of them
  const char *summary;                        // one line for people
  const char *inside;                         // the key under which it stands in what it belongs to: "friction"; NULL
  const struct od_element_class *host_class;  // what it belongs to, where that is one class alone; NULL
  // Behind its fields, its numbers are the control points of a curve: choice 1 is its degree, choice 2 their count.
  bool has_curve;
  // Its law is a formula, which each instance brings with its numbers; the key under which files have it. NULL: it has none.
  const char *formula_key;
  const char *choice;  // the word by which it is chosen there ("law: coulomb"); NULL
  od_element_end ends[OD_MOST_END_KEYS];
  od_acts acts;
  bool needs_oil, reads_host;  // reads_host: it depends on numbers of the element that it belongs to
  const char *signal_key;      // the key of a signal that it must listen to; NULL: a field may follow one, or none does
  od_element_field fields[OD_MOST_ELEMENT_FIELDS];
  int field_count;
  // The last so many fields, and their numbers, are there only where choice 0 is 1: those for negative speeds.
  int optional_fields;
  const od_element_rule *rules;
  int rule_count;
  int one_of[OD_MOST_ENDS], one_of_count;  // fields of which at least one must be given
  int numbers;                             // of theta without optional ones; with a curve the instance says how many
  od_element_state states[OD_MOST_ELEMENT_STATES];
  od_in_slot in[OD_MOST_IN];
  od_out_slot out[OD_MOST_OUT];
  int ins, outs, kept, reports, choices;
  // Choice 0 is whether another instance of the class has the same node at this end, which then only feeds that node; the builder decides it.
  // 0: the class has no such end.
  int shared_end;
  bool end_choice;  // choice 0 is whether the last end, an optional one, is connected; the builder decides it
  od_element_output outputs[OD_MOST_ELEMENT_OUTPUTS];
  // Which report is the power that something outside gives to the machine through it, such as a drum or a drive, which is no loss; 0: none.
  int supply;
  bool supplies;    // it gives energy to the machine: by that report, or by a loss that is negative
  int heat;         // which report heats the oil, or OD_NO_HEAT; the loss of what supplies energy does not
  bool may_supply;  // its loss can be negative in states that it hardly comes to, such as bristles bent too far
  bool
      shuts_about_center;  // a valve whose edges are all shut where its spool is nearer to `offset` than overlap * stroke
  // Pumps with a control: at the pressure of this end that is the sum of two fields it delivers nothing; field 0: it has none.
  struct {
    int field, range, end;
  } shut_off;
  // The range of lengths that it can have: from field closed to closed + stroke; both zero: any.
  int closed_field, stroke_field;

  void (*evaluate)(const od_batch *b, const int *pool, double *w);
  void (*evaluate_complex)(const od_batch *b, const int *pool, double _Complex *w);
  void (*report)(const od_batch *b, const int *pool, double *w);
  void (*report_complex)(const od_batch *b, const int *pool, double _Complex *w);
  // Optional, for hot classes; without them slopes are complex steps of the instance alone. All d out / d in of every
  // instance; and d out of one instance by some numbers (`outs` of them per number): its own (0 ..), of what it belongs to
  // (OD_NUMBER_OF_HOST + ..), or of the oil (OD_NUMBER_OF_OIL + ..); false where all of them are zero.
  void (*slopes)(const od_batch *b, const int *pool, double *w);
  bool (*number_slopes)(const od_batch *b, const int *pool, double *w, int instance, const int *number, int count,
                        double *dout);
  // What the pieces of its law depend on by their sign, such as the distances from stops: so many, and those of an instance.
  int zeros;
  void (*fill_zeros)(const od_batch *b, const int *pool, const double *w, int instance, double *value);
  // Of classes with modes; NULL: it has none. A mode is an own state without a rate. How far one instance is from switching,
  // positive until it is due; and all of its own states after it has switched, as functions of what it reads.
  double (*margin)(const od_batch *b, const int *pool, double *w, int instance);
  void (*switch_mode)(const od_batch *b, const int *pool, double *w, int instance, double *states);
  void (*switch_mode_complex)(const od_batch *b, const int *pool, double _Complex *w, int instance,
                              double _Complex *states);
} od_element_class;

// How many ends it has, optional ones among them.
static inline int od_element_end_count(const od_element_class *c) {
  int count = 0;
  for (int i = 0; i < OD_MOST_END_KEYS; i++) count += c->ends[i].count;
  return count;
}

// Why its ends cannot be at junctions, which have no volume and whose pressure the mechanism cannot see: a verb and more; NULL: they can.
static inline const char *od_element_not_at_junctions(const od_element_class *c) {
  if (c->acts != OD_ACTS_NOWHERE) return "acts on the mechanism";
  for (int k = 0; k < c->outs; k++)
    if (c->out[k].kind == OD_TO_VOLUME || c->out[k].kind == OD_TO_COMPLIANCE) return "has a volume there";
  return NULL;
}

enum { OD_NUMBER_OF_HOST = 1 << 20, OD_NUMBER_OF_OIL = 1 << 21 };

#endif
