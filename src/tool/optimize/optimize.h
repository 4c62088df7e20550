// Searches for numbers of a machine, by least squares over runs. The machine must meet its requirements, and outputs must be close
// to their targets.
//
// The residual of a requirement is its margin to the bound minus a reserve, relative to the bound (in SI units for a bound of zero).
// This residual is zero if the margin is at least the reserve. The residual of a goal is the distance of an output's value from its
// target, relative to od_goal.size. Derivatives are difference quotients between runs.
#ifndef OD_OPTIMIZE_H
#define OD_OPTIMIZE_H

#include "oleodyn/least_squares.h"
#include "io/picture.h"
#include "io/table.h"
#include "oleodyn/machine.h"
#include "requirements/judge.h"

typedef struct od_free_number {
  const char *path;
  double low, high, start;  // SI
  const char *unit;         // owned by the machine
} od_free_number;

// Returns the statistic (an od_take) whose name is the first `length` bytes of `word`, such as "final"; -1: there is no such
// statistic.
int od_goal_take_find(const char *word, size_t length);

typedef struct od_goal {
  char name[160];  // "lag:final"
  int output;      // index of an output of the machine
  od_take take;
  double target, value;  // target, and value at the end of the search, SI
  double size;  // unit of errors, SI: |target|; for a target of zero, the peak of the output in the first run, or 1
                // if this peak is zero
  bool met;     // whether |value - target| is at most 1 % of `size`
} od_goal;

typedef struct od_optimize_options {
  const char *path;
  od_load_options load;
  od_free_number *number;
  int numbers;
  od_goal *goal;
  int goals;
  double reserve;  // required distance from a requirement's bound, as a fraction of the bound
  int starts;      // number of additional random starts between the bounds; 0: only the machine's own numbers
  bool (*progress)(void *user, double done);
  void *user;
} od_optimize_options;

typedef struct od_optimize_result {
  od_machine *machine;  // machine with the numbers found
  od_judge *judge;      // judge of the run with the numbers found
  od_verdict verdict;   // verdict on the run with the numbers found, as in the command simulate
  od_ls_result *search;
  od_table *history;  // cost and numbers after each iteration; NULL: not available
  od_table *run;      // time, then the outputs of requirements and goals, in the run with the numbers found
  int unmet;          // number of requirements that do not pass and of goals that are not met
  bool minimum;       // whether the search ended at a minimum within the bounds
  long runs;
} od_optimize_result;

// Searches for the numbers. On failure err contains the reason. After OD_NOT_CONVERGED or OD_INTERRUPTED, *out may contain a result
// (out->machine is not NULL). Free *out in all cases. Other failures: OD_BAD_INPUT, OD_NOT_FINITE, OD_NO_MEMORY.
od_status od_optimize(const od_optimize_options *options, od_optimize_result *out, od_error *err);
void od_optimize_result_free(od_optimize_result *r);

// optimize_result.c: adds the history of the search to a picture, and the outputs of the run with the numbers found.
// The outputs of goals are shown with their targets. `found` must outlive the picture.
void od_picture_add_optimized(od_picture *p, const od_optimize_options *options, const od_optimize_result *found);
// Creates the result of a command. `options` and `found` must outlive the result.
od_result od_optimize_findings(const od_optimize_options *options, const od_optimize_result *found);

#endif
