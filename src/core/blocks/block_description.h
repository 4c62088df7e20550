// Descriptions of block classes: keys of files, units, limits, meanings, names of states and outputs. The builder, readers and
// documents use descriptions; a running model does not.
#ifndef OD_BLOCK_DESCRIPTION_H
#define OD_BLOCK_DESCRIPTION_H

#include <stdbool.h>

#include "base/limits.h"
#include "blocks/block.h"

enum {
  OD_MOST_BLOCK_FIELDS = 26,
  OD_MOST_INPUT_KEYS = 4,
  OD_MOST_NAMED_STATES = 4,
};

// ---- keys in files

// The unit of a number is a fixed unit or a rule. A rule is a unit with the words "in" and "out", such as the rules below or
// "out/s". "in" is the unit of the first input, or of the product or quotient of all inputs if the block multiplies or divides.
// "out" is the unit of the first output. The key of an input stands for the unit of this input. The unit of a state is
// fixed, "in" or "out".
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
  OD_POLYNOMIAL,  // coefficients from the highest power of s (z if sampled) down, each in the unit of its power of s. A
                  // class has two polynomials; the degree of the first polynomial must not exceed the degree of the
                  // second
  OD_ABSCISSAE,   // a list of increasing numbers; a choice gives their count
  OD_ORDINATES,   // a list with a number for each combination of abscissae
  OD_NAMED,       // a map of names to numbers; a choice gives their count. Unit "of each": each number has its own unit
} od_block_shape;

// Limits of a time constant in s.
#define OD_TIME_CONSTANT_LIMITS \
  { 0, 1e9, 1e-6, 1e4 }

// A field: one or more numbers of a block. Default NAN: the field is required. Theta contains the numbers in the order of the
// fields.
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
  const char *only_with_purpose;  // reason why the key `only_with` is necessary, for messages, such as "to track"
  const char *required_with;      // the field is required if this key is given
  bool makes_unit;                // whether the field is required if input and output have different units
  od_limits limits, or_limits;    // limits of the key and of the alternative key; all zero: no limits

  // Only for delays. A sampled delay counts samples; then a field with one of these flags is not a number of the model.
  bool counts_samples;     // whether a sampled block requires a whole number of samples
  bool instead_of_sample;  // whether the field is never a number of the model, but an integer from 1 to `most`, stored
                           // in a choice
  int most;
} od_block_field;

// An input of a block. Tables list the inputs in the order of u.
typedef struct od_block_input {
  const char *key;
  const char *unit;  // NULL: any unit; OD_UNIT_OUT: the unit of the output
  bool list;         // whether the key has a list of signals instead of one signal
  bool optional;     // whether the input may be absent; then its value is zero
  bool factor;       // whether the input may be absent; then its value is one. The key sets a choice of the class
} od_block_input;

// Rules for the value of a choice, given by the value of a key in the file.
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

// ---- the description

typedef struct od_block_description {
  const od_block_class *equations;
  const char *summary;  // one line for users
  const char *unit;     // unit of the first output if this unit is fixed; else NULL
  od_block_input inputs[OD_MOST_INPUT_KEYS];
  // The key of the formula, for classes whose law is a formula of inputs and numbers with names from the file. NULL: no formula. In
  // classes with modes, the states are also variables, and the last two results are the margin and the next mode.
  const char *formula_key, *formula_meaning;
  bool inputs_multiply;  // whether the unit "in" is the unit of the product of all inputs
  bool inputs_divide;    // whether the unit "in" is the unit of the first input divided by the unit of the second input
  bool keeps_unit;       // whether output and inputs have the same unit
  od_block_field fields[OD_MOST_BLOCK_FIELDS];
  od_block_choice choices[OD_MOST_BLOCK_CHOICES];

  // Names of the outputs; "": the name of the block alone. The second output is the rate of the first output.
  const char *outputs[OD_MOST_NAMED_OUTPUTS];
  // States without names are called "state" or "state1", "state2" ... They are the filtered input and its rates.
  od_block_state state[OD_MOST_NAMED_STATES];
  bool states_are_outputs;  // whether the states are outputs, with their names and units
} od_block_description;

#endif
