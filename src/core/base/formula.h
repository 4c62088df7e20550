// Formulas: laws that users write down. A formula is a flat list of operations (oleodyn/build.h); each takes the results of
// operations before it. Its variables are what it reads (`in`), then its numbers q. One text, formula_x.h, evaluates it in real
// and in complex numbers; nothing is allocated, and the memory on the stack is bounded by OD_MOST_OPERATIONS.
#ifndef OD_BASE_FORMULA_H
#define OD_BASE_FORMULA_H

#include <stdbool.h>

#include "oleodyn/build.h"

// How many results of others an operation takes; -1: there is no such kind.
int od_operation_operands(od_operation_kind kind);

// What is wrong with a formula of so many variables, or NULL: then it can be evaluated.
const char *od_formula_problem(const od_formula *f, int variables);

// The result of one operation of a list from those of its operands, which stand in v at their places. No variable.
double od_operation_value(const od_operation *list, int place, const double *v);

// Jumps: each sign() and if(), in the order of the operations. A jump can be held at a value from -1 (its operand is negative) to 1
// instead of following its operand: sign() has that value, if() the mean of its branches with these weights. `held` has
// OD_HELD_AT_ZERO plus the value for each jump, zero for one that is not held; NULL: none is.
enum { OD_HELD_AT_ZERO = 2 };
int od_formula_jumps(const od_formula *f);

double od_formula_value(const od_formula *f, const double *in, int ins, const double *q, const double *held);
double _Complex od_formula_value_complex(const od_formula *f, const double _Complex *in, int ins,
                                         const double _Complex *q, const double _Complex *held);

// Its last `count` results.
void od_formula_results_r(const od_formula *f, const double *in, int ins, const double *q, int count, double *result);
void od_formula_results_c(const od_formula *f, const double _Complex *in, int ins, const double _Complex *q, int count,
                          double _Complex *result);

// What its branches depend on: the operand of each abs(), sign() and if(), and the difference of those of min() and max(). Returns how many
// there are; value may be NULL. jumps (NULL: not wanted): whether the branch is a jump.
int od_formula_branches(const od_formula *f, const double *in, int ins, const double *q, const double *held,
                        double *value, bool *jumps);

// The operands of its jumps in complex numbers, in the order of the jumps; returns how many there are.
int od_formula_jump_guards(const od_formula *f, const double _Complex *in, int ins, const double _Complex *q,
                           const double _Complex *held, double _Complex *guard);

// The value, and all its derivatives by in and then by q, in one pass backwards. At a corner it is the derivative of the branch
// that the value is from; of abs() at zero it is zero.
double od_formula_slopes(const od_formula *f, const double *in, int ins, const double *q, int numbers,
                         const double *held, double *by);

#endif
