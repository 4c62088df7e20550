// Builds the text of one block for real and for complex numbers. A block's file defines OD_BLOCK_FILE, its own name, and
// includes this; the file is then read two more times with OD_BLOCK_TEXT defined, and its equations are compiled as
// X(evaluate), once per scalar. What comes after the inclusion is the table of the class.
#include <math.h>
#include <stddef.h>

#include "blocks/block.h"

#define OD_BLOCK_TEXT
#include "blocks/block_functions_x.h"
#define OD_COMPLEX
#include "blocks/block_functions_x.h"
#undef OD_COMPLEX
#undef OD_BLOCK_TEXT

// What the table of a class says about its functions.
#define OD_BLOCK_EVALUATES .evaluate = evaluate_block_r, .evaluate_complex = evaluate_block_c
// Of a class with modes, whose text has defined OD_BLOCK_MODES.
#define OD_BLOCK_SWITCHES \
  .margin = margin_block_r, .switch_states = switch_block_r, .switch_states_complex = switch_block_c
#define OD_BLOCK_STEPS .step = step_block_r, .step_complex = step_block_c
