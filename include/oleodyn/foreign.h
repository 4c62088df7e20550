// Foreign blocks: blocks of a machine whose law is given by functions of the program, such as an imported model, a law in another
// language, or the code of a controller. A foreign block has inputs, outputs, states and numbers like any other block: its outputs
// drive elements, its states are states of the machine, and its numbers can be fitted. Simulations, observers and fits treat such
// a block like any other block.
//
//   od_foreign_law law = {.inputs = 1, .outputs = 1, .states = 1, .numbers = 1, .holds = true, .values = values};
//   od_block_spec spec = od_block_spec_of_law(&law);
//   int block = od_build_block(build, "lag", &spec, "1");
//   od_build_block_input(build, block, 0, signal);
//   od_build_block_numbers(build, block, first_number);
//
// Rules of a law:
//
// - A law is a function. The results depend only on the arguments: time, states, inputs and numbers. The law keeps everything that
//   it remembers in its states, because the program evaluates laws at any point: steps are rejected and repeated, filters evaluate
//   several states in turn, parameters change, runs restart at the beginning.
// - A law with a memory that does not fit its states (the hidden state of an imported model) has `tokens`: whole numbers, the last
//   of its states, each the name of a remembered state. sample() and switch_states() store the memory under a new token, and any
//   function restores the memory of the token that it receives. Token 0 is the initial memory. Tokens never change continuously.
// - Several threads may call the functions of a law with the same context at the same time. A law whose context is not safe for
//   threads uses a lock, or one copy of the context for each thread.
// - The functions return OD_OK, or the reason why a result does not exist. Then the point counts as not finite: the program tries
//   a shorter step, and ends with OD_NOT_FINITE if this fails as well. A law never ends the program and never waits forever.
// - The law, its texts and its context must outlive the model.
#ifndef OLEODYN_FOREIGN_H
#define OLEODYN_FOREIGN_H

#include <stdbool.h>
#include <stddef.h>

#include "oleodyn/build.h"
#include "oleodyn/status.h"

OD_BEGIN_C

// Limits of a foreign block. The states include the held outputs of a sampled block.
enum { OD_MOST_FOREIGN_OUTPUTS = 16, OD_MOST_FOREIGN_STATES = 32 };

// A point, or a direction along which a point changes: time in s, states, inputs and numbers.
typedef struct od_foreign_point {
  double t;
  const double *x, *u, *q;
} od_foreign_point;

typedef struct od_foreign_law {
  void *context;                         // passed to all functions
  int inputs, outputs, states, numbers;  // counts; the outputs of a sampled block are not states of its law
  int tokens;                            // number of states that are tokens; the last states
  bool holds;                      // whether no output depends directly on an input. The outputs of a sampled law with
                                   // `holds` do not depend on the inputs at the same sample
  const char *const *output_name;  // NULL: one output with the name of the block; "" has the same meaning
  const char *const *output_unit;  // SI units; NULL: all outputs have the unit of the block
  const char *const *state_name;   // NULL: "state", or "state1", "state2" ...; a NULL entry: the state is no output
  const char *const *state_unit;   // SI units; NULL: 1
  const double *initial;           // initial values of the states, unless the machine sets them; NULL: zero
  const double *nominal, *input_nominal;  // typical sizes of states and inputs, for differences; NULL: 1

  // Computes the outputs y and the rates of the states. The rates of tokens are not used. NULL: the block must be sampled.
  od_status (*values)(void *context, const od_foreign_point *at, double *y, double *rate);
  // Computes the changes dy and drate along a direction. `along` has no changes of tokens. NULL: central differences of values().
  od_status (*tangent)(void *context, const od_foreign_point *at, const od_foreign_point *along, double *dy,
                       double *drate);
  // Computes all derivatives with respect to states and inputs, for laws that compute them faster together: rows are outputs, then
  // rates; columns are states, then inputs; all entries are zero before. NULL: one tangent for each column.
  od_status (*slopes)(void *context, const od_foreign_point *at, double *by);

  // For sampled blocks, whose spec has a sampling period: computes the states `next` after a sample, and the outputs y that the block
  // holds until its next sample. The derivatives are central differences.
  od_status (*sample)(void *context, const od_foreign_point *at, double *next, double *y);

  // For continuous laws that jump: margin() is positive until a jump is due. The program locates the time at which the margin
  // becomes zero. Then switch_states() computes all states after the jump. The derivatives of the jump are central differences.
  od_status (*margin)(void *context, const od_foreign_point *at, double *margin);
  od_status (*switch_states)(void *context, const od_foreign_point *at, double *next);

  // For saved states (od_sim_save) of laws with tokens: memory_size bytes without addresses. save_memory() writes the memory of the
  // tokens in x. restore_memory() stores such a memory, possibly under other tokens, and writes these tokens to x; it returns false if
  // the bytes are invalid. x NULL: the bytes are only checked. memory_size 0: saved states contain the tokens alone.
  size_t memory_size;
  void (*save_memory)(void *context, const double *x, void *memory);
  bool (*restore_memory)(void *context, const void *memory, double *x);

  // Returns why a function of the law failed first, for messages of runs; NULL: none failed. May be NULL.
  const char *(*failure)(void *context);

  void *reserved[2];  // zero
} od_foreign_law;

// Returns the spec of a block with this law. For a sampled block, set the sampling period of the spec.
OD_API od_block_spec od_block_spec_of_law(const od_foreign_law *law);

// Returns the first failure that a law of the model reports, or NULL. *block (may be NULL) receives the name of its block.
OD_API const char *od_model_law_failure(const od_model *model, const char **block);

OD_END_C

#endif
