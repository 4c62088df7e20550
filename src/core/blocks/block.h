// Classes of signal blocks. Each class is defined in one file of this folder: a table (the struct below) and equations on flat
// local vectors. The builder, the reader, outputs, derivatives, tests and documentation are loops over the list of classes
// (block_list.h).
//
// A block has numbers q, states x, inputs u, outputs y and the rates of its states. A block does not access the machine. A sampled
// block runs once per sampling period and holds its output in between, as an additional last state.
#ifndef OD_BLOCK_H
#define OD_BLOCK_H

#include <stdbool.h>

#include "base/complex_number.h"
#include "base/limits.h"
#include "oleodyn/build.h"

// Limits of a class, so that one block fits on the stack. The limits of inputs, orders and choices are in oleodyn/build.h, like
// od_block_spec, the settings of a block.
enum {
  OD_MOST_BLOCK_STATES = OD_MOST_BLOCK_ORDER + 1,  // the additional state holds the output of a sampled block
  OD_MOST_BLOCK_OUTPUTS = 2,
  OD_MOST_BLOCK_NUMBERS = 300,
  OD_MOST_BLOCK_FIELDS = 26,
  OD_MOST_INPUT_KEYS = 4,
  OD_MOST_NAMED_STATES = 4,
  OD_MOST_DELAY_SAMPLES = 100000,
};

// ---- keys in files

// Units of numbers: a fixed unit, or a rule, which is a unit with the words "in" and "out", such as the rules below or "out/s".
// "in" is the unit of the first input, or of the product or quotient of all inputs if the block multiplies or divides. "out" is
// the unit of the first output. The key of an input is the unit of this input. The unit of a state is fixed, "in" or "out".
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
                  // two polynomials: the degree of the first must not exceed the degree of the second
  OD_ABSCISSAE,  // a list of increasing numbers; a choice gives their count
  OD_ORDINATES,  // a list with a number for each combination of abscissae
  OD_NAMED,      // a map of names to numbers, each with its own unit; a choice gives their count
} od_block_shape;

// Limits of a time constant in s.
#define OD_TIME_CONSTANT_LIMITS \
  { 0, 1e9, 1e-6, 1e4 }

// A field: one or more numbers of a block. A default of NAN means that the field is required. Theta contains the numbers in the
// order of the fields.
typedef struct od_block_field {
  const char *key, *unit;
  od_sign sign;
  double fallback;
  const char *meaning;
  od_block_shape shape;
  od_sign second_sign;           // allowed sign of the second of two numbers
  const char *pair;              // description of both numbers for messages, such as "[d0, d1]"
  const char *or_key, *or_unit;  // an alternative key, selected by a choice of the class
  bool optional;                 // whether the key may be absent; then the field has no numbers
  const char *only_with;  // the field is allowed only together with this key; without the key the field has no number
  const char *only_with_purpose;  // why the key `only_with` is necessary, for messages, such as "to track"
  const char *required_with;      // the field is required if this key is given
  bool makes_unit;                // whether the field is required if input and output have different units
  od_limits limits, or_limits;    // limits of the key and of the alternative key; all zero: no limits

  // Delays only. A sampled delay counts samples; then a field with one of these flags is no number of the model.
  bool counts_samples;  // whether a sampled block requires a whole number of samples
  bool
      instead_of_sample;  // whether the field is never a number of the model, but an integer from 1 to `most`, stored in a choice
  int most;
} od_block_field;

// An input, in the order of u.
typedef struct od_block_input {
  const char *key;
  const char *unit;  // NULL: any unit; OD_UNIT_OUT: the unit of the output
  bool list;         // whether the key has a list of signals instead of one signal
  bool optional;     // whether the input may be absent; then its value is zero
  bool factor;       // whether the input may be absent; then its value is one. The key sets a choice of the class
} od_block_input;

// Rules by which a file sets a choice.
typedef enum od_choice_rule {
  OD_CHOICE_NONE,        // the end of the list
  OD_CHOICE_GIVEN,       // 1 if the key is given
  OD_CHOICE_DEGREE,      // the number of entries of the list minus one
  OD_CHOICE_ENTRIES,     // the number of entries of the list, from 2 to `most`
  OD_CHOICE_NAMES,       // the number of entries of the map, up to `most`
  OD_CHOICE_TIMED,       // for a state machine: a bit for each state with a transition that depends on time
  OD_CHOICE_WHOLE,       // the value of the key, from 1 to `most`
  OD_CHOICE_OF_SAMPLES,  // the value of the key in samples
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
typedef void (*od_block_evaluate_complex)(const od_block_spec *s, const od_complex *q, const od_complex *x,
                                          const od_complex *u, const od_complex *held, od_complex *y, od_complex *rate);
typedef void (*od_block_step)(const od_block_spec *s, const double *q, const double *x, const double *u, double *next);
typedef void (*od_block_step_complex)(const od_block_spec *s, const od_complex *q, const od_complex *x,
                                      const od_complex *u, od_complex *next);

typedef double (*od_block_margin)(const od_block_spec *s, const double *q, const double *x, const double *u);

typedef struct od_block_class {
  const char *type;     // name in files
  const char *summary;  // one line for users
  const char *unit;     // unit of the first output if this unit is fixed; else NULL
  od_block_input inputs[OD_MOST_INPUT_KEYS];
  // The key of the formula, for classes whose law is a formula of inputs and numbers with names from the file. NULL: no
  // formula. With modes, the states are variables as well, and the last two results are the margin and the next mode.
  const char *formula_key, *formula_meaning;
  bool inputs_multiply;  // whether the unit "in" is the unit of the product of all inputs
  bool inputs_divide;    // whether the unit "in" is the unit of the first input divided by the unit of the second input
  bool keeps_unit;       // whether output and inputs have the same unit
  od_block_field fields[OD_MOST_BLOCK_FIELDS];
  od_block_choice choices[OD_MOST_BLOCK_CHOICES];

  // Names of the outputs; "": the name of the block alone. The second output is the rate of the first output.
  const char *outputs[OD_MOST_BLOCK_OUTPUTS];
  // The number of states, without the held output of a sampled block: constant, or given by the function. States without names
  // are called "state" or "state1", "state2" ...: the filtered input and its rates.
  int states;
  int (*count_states)(const od_block_spec *s);
  od_block_state state[OD_MOST_NAMED_STATES];
  bool states_are_outputs;  // whether the states are outputs, with their names and units
  double state_scale;       // typical size of the states; 0 means 1

  // holds: no output of a continuous block depends directly on an input. passes_on(): returns whether an output depends directly
  // on an input, for a sampled block at a sample; NULL: `holds` decides for continuous blocks, and sampled blocks depend on their
  // input.
  bool holds;
  bool (*passes_on)(const od_block_spec *s);
  // Whether the output jumps although the input is continuous, without a mode whose switch can be located. jumps_at_zero:
  // only if the first number is zero.
  bool jumps, jumps_at_zero;
  bool (*is_linear)(const od_block_spec *s);  // NULL: linear; sampled blocks are never linear

  // For classes whose numbers begin with abscissae: the number of inputs of the table, where choice k is the number of abscissae
  // of input k; or whether the table is over the sum of two inputs.
  int table_axes;
  bool table_over_sum;

  // Computes outputs and rates.
  od_block_evaluate evaluate;
  od_block_evaluate_complex evaluate_complex;
  // Computes the states after a sample, the held output last. NULL: the block cannot be sampled. Only blocks with one input can
  // be sampled.
  od_block_step step;
  od_block_step_complex step_complex;
  // A sampled block that delays its input by choice[samples_choice] samples needs no step: the network of blocks stores its
  // samples (signals/blocks.h).
  bool remembers;
  int samples_choice;
  // For classes with modes, which are never sampled (NULL: none). margin: positive until a switch is due. switch_states: computes
  // all states after the switch. A mode is a state without a rate.
  od_block_margin margin;
  od_block_step switch_states;
  od_block_step_complex switch_states_complex;
  // Optional, for frequently used classes; otherwise derivatives are computed by unit steps for linear blocks and by complex
  // steps for other blocks. Rows are outputs, then rates; columns are states, then inputs. The caller first sets all entries to
  // zero.
  void (*slopes)(const od_block_spec *s, const double *q, const double *x, const double *u, const double *held,
                 double *by);
} od_block_class;

// Value of is_linear for classes that are never linear.
static inline bool od_block_never_linear(const od_block_spec *s) {
  (void)s;
  return false;
}

#endif
