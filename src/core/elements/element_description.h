// Descriptions of element classes: keys of files, units, limits, meanings, names of states and outputs. The builder, readers and
// documents use descriptions; a running model does not.
#ifndef OD_ELEMENT_DESCRIPTION_H
#define OD_ELEMENT_DESCRIPTION_H

#include <stdbool.h>
#include <stddef.h>

#include "base/limits.h"
#include "elements/element.h"

enum {
  OD_MOST_ELEMENT_FIELDS = 32,
  OD_MOST_ELEMENT_OUTPUTS = 12,
  OD_MOST_END_KEYS = 3,
  OD_MOST_STAGES = 4,
};

// ---- keys in files

// Limits of a spool stroke in m.
#define OD_STROKE_LIMITS \
  { 1e-7, 1e3, 1e-5, 50 }

// A number of the class. Default NAN: the number is required.
typedef struct od_element_field {
  const char *key, *unit;  // unit "*": the unit of the signal of the instance or of its host
  od_sign sign;
  double fallback;
  const char *same_as;    // the key of the field whose value is the default; NULL: none
  od_limits limits;       // all zero: no limits
  od_limits limits_in_m;  // limits if the unit is "*" and the signal is in m; all zero: no limits
  const char *meaning;
  const char *turning_unit;  // unit in a revolute or screw joint; NULL: the same unit
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
  OD_RULE_DIFFERS,  // the two fields are different
} od_rule_kind;
typedef struct od_element_rule {
  int greater, smaller;
  od_rule_kind kind;
  int about;         // index of the field that the message is about
  const char *text;  // OD_RULE_NEEDED: the message; else the reason of the rule ("because ..."; NULL: none)
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
// Returns the relation of the field `about` to the other field in words, for messages.
static inline const char *od_element_rule_relation(const od_element_rule *r) {
  bool greater = r->about == r->greater;
  switch (r->kind) {
    case OD_RULE_GREATER: return greater ? "more than" : "less than";
    case OD_RULE_NOT_LESS: return greater ? "at least" : "at most";
    default: return "a value other than";
  }
}

// Ways in which an element is connected at an end.
typedef enum od_end_role {
  OD_END_FLOW,   // the oil of a line flows through the end
  OD_END_PILOT,  // the pressure at the end controls the element; no oil flows
  OD_END_DRAIN,  // the end drains leakage or the oil of the spring's chamber
  OD_END_SENSE,  // the end carries the pressure of a load as a signal
} od_end_role;
// Ends at nodes of the circuit: a key with the name of one node, or with a list of two names.
typedef struct od_element_end {
  const char *key;
  int count;
  bool optional;
  od_end_role role;
} od_element_end;

// Ways in which pressures drive the mechanism through the force of an element, for inverse dynamics. The flows of the element are
// the flows at its ends.
typedef enum od_drives {
  OD_DRIVES_NOTHING,
  OD_DRIVES_BY_CHAMBERS,    // by the pressure of each chamber, in proportion: cylinders
  OD_DRIVES_BY_DIFFERENCE,  // by the pressure difference between the two ends: motors
} od_drives;

typedef struct od_element_state {
  const char *name, *unit;  // unit "*": as for fields
  // The state exists if this field is above present_above; -1: always. The signal of the instance replaces a state that does not
  // exist (1 without a signal).
  int present_if;
  double present_above;
  int scale_field;  // field with the typical size of the state and of its rate per second; -1: `scale` is used
  double scale;     // typical size if scale_field is -1
  double initial;
  od_limits limits;          // limits of the initial value; all zero: the limits of the unit
  const char *turning_unit;  // unit in a revolute or screw joint; NULL: the same unit

  // For random-walk states: the field with the standard deviation of the change of the state within one second (never
  // field 0; 0: the state is no random walk), and the field with the time constant of the decay of the state.
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
  const char *name;  // last part of the output's name, for an instance that has a name

  // For an instance without a name: the last part of the output's name, after the name of the host and `inside`; "": no last part;
  // NULL: not an output.
  const char *inside_name;
  const char *unit, *turning_unit;
  od_shows shows;
  int index;
  bool negative;       // whether the output has the opposite sign
  bool with_friction;  // whether the same quantity of the friction of the instance is added
  bool is_through;     // whether this state is the flow from end 0 to end 1
} od_element_output;

// ---- the description

typedef struct od_element_description {
  const od_element_class *equations;
  const char *section;                        // section of machine files; NULL: exists only as part of other elements
  const char *noun;                           // noun for messages
  const char *heading;                        // heading of a list
  const char *summary;                        // one line for users
  bool has_parts;                             // whether the section has more keys than `fields`, such as ports
  const char *inside;                         // key in the section of the host, such as "friction"; NULL: none
  const struct od_element_description *host;  // the class of the host, if only one is possible; else NULL

  int curve_stroke,
      curve_full;  // with a curve: fields of the host with the largest abscissa and with the ordinate of a fully open
                   // port

  // The key of the formula in files, for classes whose law is a formula of each instance. NULL: no formula.
  const char *formula_key;
  const char *choice;  // the word in files that selects the class ("law: coulomb"); NULL: none
  od_element_end ends[OD_MOST_END_KEYS];
  const char *signal_key;  // the key of a required signal; NULL: none, or a field may follow a signal
  od_element_field fields[OD_MOST_ELEMENT_FIELDS];
  int field_count;
  const od_element_rule *rules;
  int rule_count;
  int one_of[OD_MOST_ENDS], one_of_count;  // fields of which at least one must be given
  od_element_state states[OD_MOST_ELEMENT_STATES];
  // Index of an end; 0: no such end. Choice 0 is 1 if another instance of the class has the same node at this end; then
  // this instance only feeds this node. The builder sets choice 0.
  int shared_end;
  od_element_output outputs[OD_MOST_ELEMENT_OUTPUTS];
  bool may_supply;  // whether the loss can be negative in unusual states, such as overstretched bristles
  // Whether all edges to the ports are closed if the spool is nearer to `offset` than overlap * stroke. With the field
  // `tank_overlap`, the smaller overlap counts.
  bool shuts_about_center;

  // Pumps with a control: if the pressure at end `end` is the sum of the fields `field` and `range`, the displacement
  // is about zero. field 0: the class is no such pump.
  struct {
    int field, range, end;
  } shut_off;
  od_drives drives;
  // Pumps: the product of these `count` fields is the flow with a signal of 1, m3/s.
  struct {
    int count, field[2];
  } rated_flow;
  // Fields that define the range of lengths: the shortest length, the strokes of all stages, the stiffness of the end
  // stops. stroke[0] is never field 0; 0: any length is allowed. is_required: the builder rejects an initial length
  // beyond the range.
  struct {
    int closed, stroke[OD_MOST_STAGES], stiffness;
    bool is_required;
  } reach;
} od_element_description;

// Returns the number of ends, including optional ends.
static inline int od_element_end_count(const od_element_description *d) {
  int count = 0;
  for (int i = 0; i < OD_MOST_END_KEYS; i++) count += d->ends[i].count;
  return count;
}

// Returns the sum of the strokes in m, from the numbers of an instance; 0: any length is allowed.
static inline double od_element_stroke(const od_element_description *d, const double *number) {
  double sum = 0;
  for (int i = 0; i < OD_MOST_STAGES && d->reach.stroke[i] > 0; i++) sum += number[d->reach.stroke[i]];
  return sum;
}

#endif
