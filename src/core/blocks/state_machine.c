// State machine: sequence logic. The machine is in one of several states, each with an output. The machine changes to another state at the
// moment when the conditions of a transition become true. The states of the block are the mode (0, 1, ... in the order of the file) and the
// time since the last change. The time runs only in states with a transition that depends on time; other states may be equilibria.
//
// Conditions are formulas of inputs, mode, time and numbers. All conditions are in one list of operations. The last two results
// of the list are the margin to the nearest transition, and the mode after the transition.
#ifdef OD_BLOCK_TEXT
#define OD_BLOCK_SLOPES
#define OD_BLOCK_MODES

typedef struct X(numbers) {
  od_x output[1];  // outputs of all states, then the parameters of the conditions
} X(numbers);

static inline void X(results)(const X(numbers) * q, X(block) b, od_x *result) {
  od_x in[OD_MOST_BLOCK_INPUTS + 2];
  int inputs = b.s->inputs;
  for (int i = 0; i < inputs; i++) in[i] = b.u[i];
  in[inputs] = b.x[0], in[inputs + 1] = b.x[1];
  X(od_formula_results)(&b.s->formula, in, inputs + 2, q->output, 2, result);
}

static inline void X(evaluate)(const X(numbers) * q, X(block) b) {
  double nearest = RE(b.x[0]) + 0.5;  // may be NaN
  int last = b.s->choice[STATES] - 1, mode = nearest > last ? last : nearest > 0 ? (int)nearest : 0;
  b.y[0] = q->output[mode];
  b.rate[0] = 0;
  b.rate[1] = b.s->choice[TIMED] >> mode & 1;
}

static inline od_x X(margin)(const X(numbers) * q, X(block) b) {
  od_x result[2];
  X(results)(q, b, result);
  return result[0];
}

static inline void X(switch_states)(const X(numbers) * q, X(block) b, od_x *next) {
  od_x result[2];
  X(results)(q, b, result);
  next[0] = RE(result[1]);
  next[1] = 0;
}

#ifndef OD_COMPLEX
// All derivatives are zero.
static inline void slopes(const numbers_r *q, block_r b, double *by) {
  (void)q, (void)b, (void)by;
}
#endif

#else
#include "base/formula.h"
enum { STATES, PARAMETERS, TIMED };
#define OD_BLOCK_FILE "blocks/state_machine.c"
#include "blocks/block_template_x.h"

const od_block_class od_state_machine_block = {
    .type = "state-machine",
    .has_formula = true,
    .states = 2,
    .holds = true,
    .is_linear = od_block_never_linear,
    OD_BLOCK_EVALUATES,
    .slopes = slopes_block,
    OD_BLOCK_SWITCHES,
};
const od_block_description od_state_machine_block_description = {
    .equations = &od_state_machine_block,
    .summary = "sequence logic: states with outputs, and transitions that depend on conditions and times",
    .inputs = {{"inputs", .list = true}},
    .formula_key = "transitions",
    .formula_meaning = "list of {from: STATE, to: STATE, when: \"x > 0.8 m\" or a list of conditions, after: 2 s}",
    .fields = {{"states", OD_UNIT_OUT, OD_ANY, NAN,
                "names and outputs of the states; the first state is the initial state", .shape = OD_NAMED},
               {"parameters", "of each", OD_ANY, NAN, "names and values of the parameters in the conditions",
                .shape = OD_NAMED}},
    .choices = {[STATES] = {OD_CHOICE_NAMES, "states", OD_MOST_MACHINE_STATES},
                [PARAMETERS] = {OD_CHOICE_NAMES, "parameters", OD_MOST_FORMULA_NUMBERS},
                [TIMED] = {OD_CHOICE_TIMED, "transitions"}},
    .outputs = {""},
    .state = {{"mode", "1"}, {"time", "s"}},
};
#endif
