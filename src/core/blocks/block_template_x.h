// Compiles the equations of one block for real and for complex numbers. The file of a block defines OD_BLOCK_FILE, its own name,
// and includes this header. The header includes the file again with OD_BLOCK_TEXT defined: once for real numbers and, if
// OD_WITH_COMPLEX is set, once for complex numbers. These inclusions compile only the equations, such as X(evaluate). The table
// of the class follows after the #include of this header.
#include <math.h>
#include <stddef.h>

#include "blocks/block_description.h"

#define OD_BLOCK_TEXT
#include "blocks/block_functions_x.h"
#if OD_WITH_COMPLEX
#define OD_COMPLEX
#include "blocks/block_functions_x.h"
#undef OD_COMPLEX
#define OD_IN_COMPLEX(function) function
#else
#define OD_IN_COMPLEX(function) NULL
#endif
#undef OD_BLOCK_TEXT

// Entries of the table of a class for its functions.
#define OD_BLOCK_EVALUATES .evaluate = evaluate_block_r, .evaluate_complex = OD_IN_COMPLEX(evaluate_block_c)
// Entries for a class with modes, whose equations have defined OD_BLOCK_MODES.
#define OD_BLOCK_SWITCHES \
  .margin = margin_block_r, .switch_states = switch_block_r, .switch_states_complex = OD_IN_COMPLEX(switch_block_c)
#define OD_BLOCK_STEPS .step = step_block_r, .step_complex = OD_IN_COMPLEX(step_block_c)
