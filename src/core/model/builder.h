// The builder's inside, shared by build.c (collecting), compile*.c (tables) and plant/assembly.h (initial state).
#ifndef OD_BUILDER_H
#define OD_BUILDER_H

#include "base/arena.h"
#include "model/model.h"

// Whether rows of derivatives and matrices of steps are sparse. Tests choose, to compare.
typedef enum od_sparsity { OD_SPARSE_BY_SIZE, OD_SPARSE_NEVER, OD_SPARSE_ALWAYS } od_sparsity;

typedef struct od_initial {
  const char *quantity;
  double value;
  bool exact, balance;
} od_initial;

struct od_build {
  od_arena arena;  // texts and problems
  od_model part;   // counts and growing tables of what has been added; the rest unused
  int room[20];    // capacities of those tables
  od_initial *initial;
  int initials, initial_room;
  od_problem *problem;
  int problems, problem_room;
  int refused;  // how many of them are about calls before od_build_finish(), which stay
  bool spatial, no_memory;
  bool starts_anywhere;  // initial values may be missing, and are where a search begins: nothing is balanced
  od_sparsity sparsity;
};

// Adds to the list of problems, printf-style.
void od_build_complain(od_build *b, od_culprit_kind kind, int index, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

// The same for what cannot be collected; od_build_finish() reports it with the rest.
void od_build_refuse(od_build *b, od_culprit_kind kind, int index, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

// Complains about indices that refer to nothing and numbers that cannot be (check_build.c).
void od_build_check(od_build *b);

// From the collected elements to the compiled tables, all but the initial state. Complains about what is wrong.
// Returns NULL when memory ran out.
od_model *od_compile(od_build *b);

// Its stages. The tree of links, with complaints about bodies that are not connected and about axes; the typical length and
// whether the machine is planar; with both known, the equations of loops (false when memory ran out).
void od_compile_tree(od_build *b, od_model *m);
void od_compile_space(const od_build *b, od_model *m);
bool od_compile_closures(od_model *m, od_arena *arena);

// Blocks, first their signals and states; then, with all outputs known, what they measure and in which order they are
// evaluated. Complains about what cannot be measured and about loops without a state; false when memory ran out.
bool od_compile_block_signals(od_model *m, od_arena *arena);
bool od_compile_blocks(od_build *b, od_model *m, od_arena *arena);

// How elements are joined to the rest: instances side by side by class, before the work memory is laid out; the tables of
// integers after that. False when memory ran out.
bool od_join_batches(od_model *m, od_arena *arena);
bool od_join_tables(od_model *m, od_arena *arena);
bool od_join_rows(od_model *m, od_arena *arena, od_sparsity sparsity);
// With the degrees of freedom known: the pattern of the matrix of a step, where that is worth while. False when memory ran out.
bool od_model_find_step_pattern(od_model *m, od_sparsity sparsity);
// The same for machines without loops: which first-order states belong to a joint.
bool od_model_find_tree_states(od_model *m);
bool od_join_junctions(od_model *m, od_arena *arena);
// Which junctions hang together, before the work memory is laid out: they are numbered side by side.
bool od_group_junctions(od_model *m, od_arena *arena);
bool od_join_heat(od_model *m, od_arena *arena);
// The reservoir, where there is one; complains about a second.
void od_find_reservoir(od_build *b, od_model *m);
// Complains about junctions where nothing flows and about elements that cannot end at one.
void od_check_junctions(od_build *b, const od_model *m);

// The coordinate that a quantity like "A.angle" or (rate) "A.rate" names, or -1.
int od_model_coordinate_find(const od_model *m, const char *quantity, bool rate);

#endif
