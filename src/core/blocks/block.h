// Classes of signal blocks: everything that is known about a type of block stands in one file of this folder, as a table
// (here) and as equations on flat local vectors. The builder, the reader, outputs, derivatives, tests and documentation are
// loops over the list of classes (block_list.h).
//
// A block has numbers q, states x, inputs u, outputs y and the rates of its states. It never sees the machine it is part of.
// With a sample it runs once in that time instead and holds its output in between, as one more state behind its own.
#ifndef OD_BLOCK_H
#define OD_BLOCK_H

#include <stdbool.h>

#include "base/limits.h"
#include "oleodyn/build.h"

// Limits of a class, so that one block fits on the stack. Those of inputs, orders and choices are in oleodyn/build.h, and so is
// od_block_spec, what a block is made as.
enum {
  OD_MOST_BLOCK_STATES = OD_MOST_BLOCK_ORDER + 1,  // one more holds the output of a sampled block
  OD_MOST_BLOCK_OUTPUTS = 2,
  OD_MOST_BLOCK_NUMBERS = 300,
  OD_MOST_BLOCK_FIELDS = 26,
  OD_MOST_INPUT_KEYS = 4,
  OD_MOST_NAMED_STATES = 4,
  OD_MOST_DELAY_SAMPLES = 100000,
};

// ---- what files say about it

// Units of numbers: a fixed one, or a rule, which is a unit with the words "in" and "out" in it, such as these or "out/s". "in" is
// the unit of the first input (of the product or quotient of all where they multiply or divide), "out" that of the first output, the key of an
// input that of this input. The unit of a state is fixed or one of the first two.
#define OD_UNIT_IN           "in"
#define OD_UNIT_OUT          "out"
#define OD_UNIT_RATIO        "out/in"
#define OD_UNIT_RATIO_RATE   "out/in/s"
#define OD_UNIT_RATIO_TIME   "out s/in"
#define OD_UNIT_PER_INTEGRAL "out/(in s)"  // 1/s where input and output are in the same unit

// What stands under a key.
typedef enum od_block_shape {
  OD_ONE_NUMBER,
  OD_TWO_NUMBERS,  // a list
  OD_BOUNDS,       // two numbers [lower, upper], the first less than the second
  OD_PER_INPUT,    // a list with a number for each input; the unit makes the output of that input
  OD_POLYNOMIAL,  // coefficients from the highest power of s (or, sampled, z) down, each with its power of seconds. A class has
                  // two: the degree of the first must not exceed that of the second
  OD_ABSCISSAE,  // a list of increasing numbers, as many as a choice counts
  OD_ORDINATES,  // a list with a number for each combination of abscissae
  OD_NAMED,      // a map with names and numbers, as many as a choice counts, each with the unit it is written in
} od_block_shape;

// Numbers of a block. NAN as the default means that they are required. Numbers stand in theta in the order of fields.
typedef struct od_block_field {
  const char *key, *unit;
  od_sign sign;
  double fallback;
  const char *meaning;
  od_block_shape shape;
  od_sign second_sign;            // of two numbers
  const char *pair;               // what the two are, for messages: "[of the numerator, of the denominator]"
  const char *or_key, *or_unit;   // another key that may be given instead, decided by a choice of the class
  bool optional;                  // there are no numbers if it is not given
  const char *only_with;          // there is no number unless this key is given, and it must not be given without
  const char *only_with_purpose;  // why, for that message: "to track"
  const char *required_with;      // a default holds only while this key is not given
  bool makes_unit;                // must be given where input and output have different units
  od_limits limits;               // all zero: whatever is known of numbers with this key and unit
  // Delays only. A sampled delay counts samples, and neither of these is a number of the model then.
  bool counts_samples;     // sampled: must be a whole number of samples
  bool instead_of_sample;  // never a number of the model: a whole number from 1 to `most` that a choice takes
  int most;
} od_block_field;

// Signals it takes, in the order of u.
typedef struct od_block_input {
  const char *key;
  const char *unit;  // NULL: any; OD_UNIT_OUT: that of the output
  bool list;         // a list of signals instead of one
  bool optional;     // zero unless given
  bool factor;       // optional as well, and one unless given: its key decides a choice of the class
} od_block_input;

// How a file decides a choice.
typedef enum od_choice_rule {
  OD_CHOICE_NONE,        // the end of the list
  OD_CHOICE_GIVEN,       // 1 if the key is given
  OD_CHOICE_DEGREE,      // the number of entries of the list under the key, less one
  OD_CHOICE_ENTRIES,     // the number of entries of the list under the key, from 2 to `most`
  OD_CHOICE_NAMES,       // the number of entries of the map under the key, up to `most`
  OD_CHOICE_TIMED,       // of a state machine: a bit for each state from which a transition asks for the time
  OD_CHOICE_WHOLE,       // the value under the key, from 1 to `most`
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

// q numbers, x states, u inputs, y outputs.
typedef void (*od_block_evaluate)(const od_block_spec *s, const double *q, const double *x, const double *u, double *y,
                                  double *rate);
typedef void (*od_block_evaluate_complex)(const od_block_spec *s, const double _Complex *q, const double _Complex *x,
                                          const double _Complex *u, double _Complex *y, double _Complex *rate);
typedef void (*od_block_step)(const od_block_spec *s, const double *q, const double *x, const double *u, double *next);
typedef void (*od_block_step_complex)(const od_block_spec *s, const double _Complex *q, const double _Complex *x,
                                      const double _Complex *u, double _Complex *next);

typedef double (*od_block_margin)(const od_block_spec *s, const double *q, const double *x, const double *u);

typedef struct od_block_class {
  const char *type;     // as files call it
  const char *summary;  // one line for people
  const char *unit;     // of its first output, where that is always the same; NULL
  od_block_input inputs[OD_MOST_INPUT_KEYS];
  // Its law is a formula over its inputs, which have names that the file gives, as its numbers have; the key under which it
  // stands. NULL: it has none.
  // With modes it knows its states as well, and its last two results are the margin and the next mode.
  const char *formula_key, *formula_meaning;
  bool inputs_multiply;  // the unit of its input is that of the product of all
  bool inputs_divide;    // the unit of its input is that of the first over the second
  bool keeps_unit;       // output and inputs have the same unit
  od_block_field fields[OD_MOST_BLOCK_FIELDS];
  od_block_choice choices[OD_MOST_BLOCK_CHOICES];

  // Outputs by name, "" for the block's name alone; the second is the rate of the first.
  const char *outputs[OD_MOST_BLOCK_OUTPUTS];
  // States without the one that holds the output of a sampled block: so many, or as the function says. Without names they are
  // "state" or "state1", "state2" ...: the input behind a filter and its rates.
  int states;
  int (*count_states)(const od_block_spec *s);
  od_block_state state[OD_MOST_NAMED_STATES];
  bool states_are_outputs;  // and have their names and units
  double state_scale;       // a typical size; 0: 1

  // Whether an input reaches an output in the same moment, or, of a sampled block, in the moment of a sample. With `holds` only
  // in a sample; with the function as it says.
  bool holds;
  bool (*passes_on)(const od_block_spec *s);
  // Its output jumps where its input does not, without a mode that could be located; of some only while their first number is zero.
  bool jumps, jumps_at_zero;
  bool (*is_linear)(const od_block_spec *s);  // NULL: it is; sampled ones never are
  // Of classes whose numbers begin with abscissae: over so many inputs, choice k counting those of input k; or over the sum of two.
  int table_axes;
  bool table_over_sum;

  // Outputs and rates; both are always written.
  od_block_evaluate evaluate;
  od_block_evaluate_complex evaluate_complex;
  // The states after a sample, the held output last. NULL: it cannot be sampled. Only blocks with one input can.
  od_block_step step;
  od_block_step_complex step_complex;
  // A sampled block that delays its input by choice[samples_choice] samples needs no step: its states are a memory that the
  // network of blocks keeps for it (signals/blocks.h).
  bool remembers;
  int samples_choice;
  // Of classes with modes, which are never sampled; NULL: it has none. How far it is from switching, positive until that is due; and all
  // of its states after it has switched. A mode is a state without a rate.
  od_block_margin margin;
  od_block_step switch_states;
  od_block_step_complex switch_states_complex;
  // Optional, for hot classes; without it slopes are unit steps of a linear block and complex steps of others. Rows are
  // outputs, then rates; columns states, then inputs; all zero before.
  void (*slopes)(const od_block_spec *s, const double *q, const double *x, const double *u, double *by);
} od_block_class;

// For is_linear of a class.
static inline bool od_block_never_linear(const od_block_spec *s) {
  (void)s;
  return false;
}

#endif
