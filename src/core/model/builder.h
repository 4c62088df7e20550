// Internal data of the builder, shared by build.c (collection), compile*.c (tables) and plant/assembly.h (initial state).
#ifndef OD_BUILDER_H
#define OD_BUILDER_H

#include "base/arena.h"
#include "base/compiler.h"
#include "model/model.h"

// Whether rows of derivatives and matrices of steps are sparse. Tests compare both forms.
typedef enum od_sparsity { OD_SPARSE_BY_SIZE, OD_SPARSE_NEVER, OD_SPARSE_ALWAYS } od_sparsity;

typedef struct od_initial {
  const char *quantity;
  double value;
  bool exact, balance;
} od_initial;

struct od_build {
  od_arena arena;  // memory of texts and problems
  od_model part;   // counts and growing tables of the collected parts of the machine; other members are unused
  int room[24];    // capacities of the growing tables in `part`
  od_initial *initial;
  int initials, initial_room;
  od_problem *problem;
  int problems, problem_room;
  int refused;  // number of problems that were reported before od_build_finish(); od_build_finish() does not delete
                // them
  bool spatial, no_memory;
  // Whether initial values may be missing, because they are only the start of a search. If true, no static balance is computed.
  bool starts_anywhere;
  // Whether od_build_finish() keeps the tables of a machine that has no valid initial state, in `unassembled`. These tables
  // describe the machine, but cannot be used for plants. The builder owns the tables.
  bool keeps_unassembled;
  od_model *unassembled;
  od_sparsity sparsity;
};

// Adds a text to the texts of a model, which are in the arena. Returns the offset of the text; 0 if an allocation
// fails.
int od_model_add_text(od_model *m, od_arena *arena, const char *text);

// Adds a problem to the list of od_build_problem(). The text is given as for printf().
void od_build_report(od_build *b, od_culprit_kind kind, int index, const char *format, ...) OD_PRINTF_FORMAT(4, 5);

// Adds the problem of a call with invalid arguments. od_build_finish() reports this problem together with all other problems.
void od_build_refuse(od_build *b, od_culprit_kind kind, int index, const char *format, ...) OD_PRINTF_FORMAT(4, 5);

// Reports invalid numbers and invalid indices of the collected parts (check_build.c).
void od_build_check(od_build *b);

// Compiles the collected parts of the machine to tables, without the initial state. Reports problems. Returns NULL if an allocation fails.
od_model *od_compile(od_build *b);

// Stages of od_compile(). The first builds the tree of links and reports unconnected bodies and invalid axes. The second finds the
// typical length and whether the machine is planar. The third lists the equations of loops; it returns false if an allocation
// fails.
void od_compile_tree(od_build *b, od_model *m);
void od_compile_space(const od_build *b, od_model *m);
bool od_compile_closures(od_model *m, od_arena *arena);

// Compile blocks. The first function numbers signals and states. The second function, called after the outputs are
// listed, finds measured quantities and the order of evaluation, and reports quantities that cannot be measured and
// loops without a state. Both return false if an allocation fails.
bool od_compile_block_signals(od_model *m, od_arena *arena);
bool od_compile_blocks(od_build *b, od_model *m, od_arena *arena);

// Connect elements. The first function creates batches by class, before the work memory is laid out. Afterwards the
// second function creates the tables of integers, and the third function places full or sparse rows of derivatives.
// Return false if an allocation fails.
bool od_join_batches(od_model *m, od_arena *arena);
bool od_join_tables(od_model *m, od_arena *arena);
bool od_join_rows(od_model *m, od_arena *arena, od_sparsity sparsity);
// Finds the pattern of a step's matrix, if the matrix is sparse enough. Call when the degrees of freedom are known. Returns false
// if an allocation fails.
bool od_model_find_step_pattern(od_model *m, od_sparsity sparsity);
// Finds the first-order states that belong to a joint, in machines without loops. Returns false if an allocation fails.
bool od_model_find_tree_states(od_model *m);
bool od_join_junctions(od_model *m, od_arena *arena);
// Finds groups of connected junctions before the work memory is laid out, and numbers the junctions of each group consecutively.
// Returns false if an allocation fails.
bool od_group_junctions(od_model *m, od_arena *arena);
bool od_join_heat(od_model *m, od_arena *arena);
// Finds the reservoir of the machine, if any. Reports a second reservoir.
void od_find_reservoir(od_build *b, od_model *m);
// Reports junctions at which no element ends, and elements that cannot end at a junction.
void od_check_junctions(od_build *b, const od_model *m);

// Returns the coordinate of a quantity such as "A.angle", or with `rate` such as "A.rate"; -1: no such coordinate.
int od_model_coordinate_find(const od_model *m, const char *quantity, bool rate);

#endif
