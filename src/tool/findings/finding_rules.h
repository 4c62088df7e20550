// The table of rules: which quantity of an element or block class is compared with which limit, and which finding is
// reported. To add findings for a new class, add a line to this table (finding_rules.c). A class without findings is
// listed with OD_FIND_NOTHING.
#ifndef OD_FINDINGS_FINDING_RULES_H
#define OD_FINDINGS_FINDING_RULES_H

// Types of rules. find_*.c contain the sentences of each type.
typedef enum od_rule_type {
  OD_FIND_NOTHING,
  // Rules of element classes.
  OD_FIND_PUMP_LIMIT,   // the displacement of a pump is at its largest value
  OD_FIND_DRIVE_LIMIT,  // the torque of a drive is at its largest value
  OD_FIND_RELIEF,       // a relief valve is open, or no relief valve opens
  OD_FIND_STROKE,       // a cylinder reaches an end of its stroke, or no cylinder does
  OD_FIND_STOP,         // a stop is in contact
  OD_FIND_EMPTY,        // an accumulator or tank runs empty
  OD_FIND_FULL,         // an accumulator or tank is full
  OD_FIND_SPOOL,        // the spool of a controlled valve is at its full stroke
  OD_FIND_CHATTER,      // a check valve opens and closes rapidly
  OD_FIND_REVERSAL,     // the load of a cylinder reverses
  OD_FIND_SLACK,        // a rope has no tension
  OD_FIND_SLIP,         // a brake slips
  OD_FIND_HOT,          // the oil is hot
  OD_FIND_MODE,         // events only: a mode switches
  // Rules of block classes.
  OD_FIND_COMMAND,  // a command is at its limit
  OD_FIND_STATES,   // phases without a finding: the states of a state machine
  // Rules of outputs.
  OD_FIND_CAVITATION,
  OD_FIND_JOINT_LOAD,
  OD_FIND_CONTROL_ERROR,
  OD_FIND_PRESSURE,
  OD_FIND_ENERGY,
  OD_FIND_REQUIREMENT,
  OD_FIND_TYPES
} od_rule_type;

// Comparison of the quantity with the limit.
typedef enum od_rule_side {
  OD_SIDE_ABOVE,     // quantity > limit
  OD_SIDE_BELOW,     // quantity < limit
  OD_SIDE_BEYOND,    // |quantity| > limit
  OD_SIDE_PRESSURE,  // pressure at end 0 minus pressure at end 1 is above the limit
} od_rule_side;

typedef struct od_class_rule {
  const char *class_name;  // name of an element class, or type of a block
  od_rule_type type;
  od_rule_side side;
  const char *quantity;  // name of the output within the instance; OD_SIDE_PRESSURE: NULL
  const char *key;       // field with the limit; NULL: the limit is `part`
  double part;           // factor of the field that gives the limit
  double margin;         // hysteresis as a fraction of the limit; cylinders: of the stroke; blocks: of half the range
  const char *with;      // a further output that the sentence contains; NULL: none
  int end;               // index + 1 of an end whose pressure the sentence contains; 0: none
  // Names of the events; NULL: no event. `on`: the condition or mode begins; cylinders: the outer end is reached. `off`: the mode
  // ends; cylinders: the inner end is reached.
  const char *off, *on;
} od_class_rule;

// Returns rule i of the tables of element classes and of block classes; NULL at the end.
const od_class_rule *od_element_rule_at(int i);
const od_class_rule *od_block_rule_at(int i);

#endif
