// Numbers of a machine that are searched so that its requirements are met and outputs come near to what they should be: least squares
// over runs of the machine.
//
// The residual of a requirement is how far it is from its bound and a reserve, as a part of the bound, and zero where it is met; that of a goal
// is how far a value of an output is from its target, as a part of the target's size. Derivatives are differences of runs.
#ifndef OD_OPTIMIZE_H
#define OD_OPTIMIZE_H

#include "oleodyn/least_squares.h"
#include "io/table.h"
#include "oleodyn/machine.h"
#include "requirements/judge.h"

typedef struct od_free_number {
  const char *path;
  double low, high, start;  // SI
  const char *unit;         // of the machine, while that lives
} od_free_number;

// What is taken of an output over a run, by its word ("final"): an od_take, or -1.
int od_goal_take_find(const char *word, size_t length);

typedef struct od_goal {
  char name[160];  // "lag:final"
  int output;      // of the machine
  od_take take;
  double target, value;  // SI; value: where the search ended
  double size;           // of the target; of one that is zero, what the output reached in the first run
  bool met;              // within a hundredth of the size
} od_goal;

typedef struct od_optimize_options {
  const char *path;
  od_load_options load;
  od_free_number *number;
  int numbers;
  od_goal *goal;
  int goals;
  double reserve;  // part of a requirement's bound that is to be left
  int starts;      // further ones between the bounds; 0: the machine's own alone
  bool (*progress)(void *user, double done);
  void *user;
} od_optimize_options;

typedef struct od_optimize_result {
  od_machine *machine;  // with the numbers that were found
  od_judge *judge;      // of its run
  od_verdict verdict;   // on its run: whether the steps are short enough
  od_ls_result *search;
  int unmet;     // requirements that do not pass, and goals that are not met
  bool minimum;  // no better numbers are near by, between their bounds
  long runs;
} od_optimize_result;

// OD_BAD_INPUT: err says what is wrong. OD_NOT_CONVERGED and OD_INTERRUPTED come with a result.
od_status od_optimize(const od_optimize_options *options, od_optimize_result *out, od_error *err);
void od_optimize_result_free(od_optimize_result *r);

#endif
