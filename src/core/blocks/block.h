// Classes of signal blocks. One file of this folder contains everything about a class: a table (the struct below) and equations on
// flat local vectors. The builder, the reader, outputs, derivatives, tests and documentation are loops over the list of classes
// (block_list.h).
//
// A block has numbers q, states x, inputs u, outputs y and the rates of its states. It does not access the machine. A sampled block
// runs once per sampling period and holds its output in between, as an additional last state.
#ifndef OD_BLOCK_H
#define OD_BLOCK_H

#include <stdbool.h>

#include "base/limits.h"
#include "oleodyn/build.h"

// Limits of a class, so that one block fits on the stack. The limits of inputs, orders and choices and od_block_spec, the settings of a
// block, are in oleodyn/build.h.
enum {
  OD_MOST_BLOCK_STATES = OD_MOST_BLOCK_ORDER + 1,  // one more holds the output of a sampled block
  OD_MOST_BLOCK_OUTPUTS = 2,
  OD_MOST_BLOCK_NUMBERS = 300,
  OD_MOST_BLOCK_FIELDS = 26,
  OD_MOST_INPUT_KEYS = 4,
  OD_MOST_NAMED_STATES = 4,
  OD_MOST_DELAY_SAMPLES = 100000,
};

// ---- keys in files

// Units of numbers: a fixed unit, or a rule, which is a unit with the words "in" and "out", such as these or "out/s". "in" is the unit
// of the first input (of the product or quotient of all inputs if the block multiplies or divides), "out" that of the first output,
// the key of an input that of this input. The unit of a state is fixed or one of the first two.
#define OD_UNIT_IN           "in"
#define OD_UNIT_OUT          "out"
#define OD_UNIT_RATIO        "out/in"
#define OD_UNIT_RATIO_RATE   "out/in/s"
#define OD_UNIT_RATIO_TIME   "out s/in"
#define OD_UNIT_PER_INTEGRAL "out/(in s)"  // 1/s if input and output have the same unit

// The kind of value of a key.
typedef enum od_block_shape {
  OD_ONE_NUMBER,
  OD_TWO_NUMBERS,  // a list
  OD_BOUNDS,       // two numbers [lower, upper], the first less than the second
  OD_PER_INPUT,    // a list with a number for each input, in the unit of the output per unit of the input
  OD_POLYNOMIAL,  // coefficients from the highest power of s (or, sampled, z) down, each with its power of seconds. A class has
                  // two: the degree of the first must not exceed that of the second
  OD_ABSCISSAE,  // a list of increasing numbers; a choice gives their count
  OD_ORDINATES,  // a list with a number for each combination of abscissae
  OD_NAMED,      // a map of names to numbers, each with its own unit; a choice gives their count
} od_block_shape;

// A field: numbers of a block. Default NAN: required. Numbers are in theta in the order of the fields.
typedef struct od_block_field {
  const char *key, *unit;
  od_sign sign;
  double fallback;
  const char *meaning;
  od_block_shape shape;
  od_sign second_sign;            // of two numbers
  const char *pair;               // description of the two for messages: "[of the numerator, of the denominator]"
  const char *or_key, *or_unit;   // an alternative key, selected by a choice of the class
  bool optional;                  // no numbers if the key is not given
  const char *only_with;          // allowed only together with this key; no number without it
  const char *only_with_purpose;  // the reason, for the message: "to track"
  const char *required_with;      // required if this key is given
  bool makes_unit;                // required if input and output have different units
  od_limits limits;               // all zero: the limits of this key and unit in general
  // Delays only. A sampled delay counts samples; then neither of these fields is a number of the model.
  bool counts_samples;     // sampled: must be a whole number of samples
  bool instead_of_sample;  // never a number of the model: a whole number from 1 to `most`, stored in a choice
  int most;
} od_block_field;

// An input, in the order of u.
typedef struct od_block_input {
  const char *key;
  const char *unit;  // NULL: any; OD_UNIT_OUT: that of the output
  bool list;         // a list of signals instead of one
  bool optional;     // zero if not given
  bool factor;       // optional, one if not given; its key sets a choice of the class
} od_block_input;

// How a file sets a choice.
typedef enum od_choice_rule {
  OD_CHOICE_NONE,        // the end of the list
  OD_CHOICE_GIVEN,       // 1 if the key is given
  OD_CHOICE_DEGREE,      // the number of entries of the list minus one
  OD_CHOICE_ENTRIES,     // the number of entries of the list, from 2 to `most`
  OD_CHOICE_NAMES,       // the number of entries of the map, up to `most`
  OD_CHOICE_TIMED,       // of a state machine: a bit for each state with a transition that depends on time
  OD_CHOICE_WHOLE,       // the value of the key, from 1 to `most`
  OD_CHOICE_OF_SAMPLES,  // the same, in samples
} od_choice_rule;
typedef struct od_block_choice {
  od_choice_rule rule;
  const char *key;
  int most;
} od_block_choice;

typedef struct od_block_state {
  const char *name, *unit;  // a unit or a rule
} od_block_state;

// ---- the class

// q: numbers; x: states; u: inputs; held: values at which its jumps are held (base/formula.h; NULL: none); y: outputs.
typedef void (*od_block_evaluate)(const od_block_spec *s, const double *q, const double *x, const double *u,
                                  const double *held, double *y, double *rate);
typedef void (*od_block_evaluate_complex)(const od_block_spec *s, const double _Complex *q, const double _Complex *x,
                                          const double _Complex *u, const double _Complex *held, double _Complex *y,
                                          double _Complex *rate);
typedef void (*od_block_step)(const od_block_spec *s, const double *q, const double *x, const double *u, double *next);
typedef void (*od_block_step_complex)(const od_block_spec *s, const double _Complex *q, const double _Complex *x,
                                      const double _Complex *u, double _Complex *next);

typedef double (*od_block_margin)(const od_block_spec *s, const double *q, const double *x, const double *u);

typedef struct od_block_class {
  const char *type;     // name in files
  const char *summary;  // one line for users
  const char *unit;     // of its first output, if it is fixed; NULL
  od_block_input inputs[OD_MOST_INPUT_KEYS];
  // The key of its formula, for classes whose law is a formula of inputs and numbers with names from the file. NULL: no formula.
  // With modes, the states are variables as well, and the last two results are the margin and the next mode.
  const char *formula_key, *formula_meaning;
  bool inputs_multiply;  // the unit of its input is that of the product of all
  bool inputs_divide;    // the unit of its input is that of the first over the second
  bool keeps_unit;       // output and inputs have the same unit
  od_block_field fields[OD_MOST_BLOCK_FIELDS];
  od_block_choice choices[OD_MOST_BLOCK_CHOICES];

  // Names of the outputs; "": the name of the block alone. The second output is the rate of the first.
  const char *outputs[OD_MOST_BLOCK_OUTPUTS];
  // The number of states, without the held output of a sampled block: constant, or given by the function. States without names are
  // called "state" or "state1", "state2" ...: the filtered input and its rates.
  int states;
  int (*count_states)(const od_block_spec *s);
  od_block_state state[OD_MOST_NAMED_STATES];
  bool states_are_outputs;  // with their names and units
  double state_scale;       // a typical size; 0: 1

  // Whether an output depends directly on an input, for a sampled block at a sample. With `holds` only at a sample; with the function,
  // as it returns.
  bool holds;
  bool (*passes_on)(const od_block_spec *s);
  // Whether its output jumps although its input is continuous, without a mode that can be located; for some classes only if their first
  // number is zero.
  bool jumps, jumps_at_zero;
  bool (*is_linear)(const od_block_spec *s);  // NULL: linear; sampled blocks never are
  // For classes whose numbers begin with abscissae: the number of inputs of the table, where choice k counts the abscissae of input k; or
  // a table over the sum of two inputs.
  int table_axes;
  bool table_over_sum;

  // Computes outputs and rates.
  od_block_evaluate evaluate;
  od_block_evaluate_complex evaluate_complex;
  // Computes the states after a sample, the held output last. NULL: it cannot be sampled. Only blocks with one input can be sampled.
  od_block_step step;
  od_block_step_complex step_complex;
  // A sampled block that delays its input by choice[samples_choice] samples needs no step: the network of blocks stores its samples
  // (signals/blocks.h).
  bool remembers;
  int samples_choice;
  // For classes with modes, which are never sampled (NULL: none). margin: positive until a switch is due. switch_states: all states
  // after the switch. A mode is a state without a rate.
  od_block_margin margin;
  od_block_step switch_states;
  od_block_step_complex switch_states_complex;
  // Optional, for frequently used classes; otherwise derivatives are unit steps of a linear block and complex steps of others. Rows are
  // outputs, then rates; columns are states, then inputs. The caller sets all entries to zero before.
  void (*slopes)(const od_block_spec *s, const double *q, const double *x, const double *u, const double *held,
                 double *by);
} od_block_class;

// For is_linear of a class.
static inline bool od_block_never_linear(const od_block_spec *s) {
  (void)s;
  return false;
}

#endif
