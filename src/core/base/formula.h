// User-defined formulas. A formula is a list of operations (oleodyn/build.h); the operands of an operation are the results of
// earlier operations. The variables of a formula are its inputs (`in`), then its numbers q. formula_x.h evaluates formulas in
// real and in complex numbers, without allocation; OD_MOST_OPERATIONS bounds the memory on the stack.
#ifndef OD_BASE_FORMULA_H
#define OD_BASE_FORMULA_H

#include <stdbool.h>

#include "base/complex_number.h"
#include "oleodyn/build.h"

// Returns the number of operands of a kind of operation, or -1 if there is no such kind.
int od_operation_operands(od_operation_kind kind);

// Checks a formula with this number of variables. Returns the first error as the predicate of a sentence ("has no formula"), or
// NULL.
const char *od_formula_problem(const od_formula *f, int variables);

// Returns the result of operation `place` of the list from the results v of earlier operations. The operation must not
// be a variable.
double od_operation_value(const od_operation *list, int place, const double *v);

// Jumps: each sign() and if(), in the order of the operations. A jump normally follows its operand, but can be held at a value from
// -1 (negative operand) to 1. A held sign() has this value, and a held if() is the mean of its branches weighted by this value. For
// each jump, `held` contains OD_HELD_AT_ZERO plus the value, or zero if the jump is not held; NULL: no jump is held.
enum { OD_HELD_AT_ZERO = 2 };
// Returns the number of jumps of a formula, which is the number of entries of `held`.
int od_formula_jumps(const od_formula *f);

// Return the value of a formula. Variables 0 to ins - 1 have the values in `in`, all further variables the values in q. held: see
// above. The value is not finite where an operation is not defined, such as the root of a negative number.
double od_formula_value(const od_formula *f, const double *in, int ins, const double *q, const double *held);
od_complex od_formula_value_complex(const od_formula *f, const od_complex *in, int ins, const od_complex *q,
                                    const od_complex *held);

// Compute the results of the last `count` operations of a formula.
void od_formula_results_r(const od_formula *f, const double *in, int ins, const double *q, int count, double *result);
void od_formula_results_c(const od_formula *f, const od_complex *in, int ins, const od_complex *q, int count,
                          od_complex *result);

// Computes the values whose signs select branches: the operand of each abs(), sign() and if(), and the difference of the operands
// of min() and max(). Returns their number; value may be NULL. jumps (NULL: not wanted): whether the branch is a jump.
int od_formula_branches(const od_formula *f, const double *in, int ins, const double *q, const double *held,
                        double *value, bool *jumps);

// Computes the operands of the jumps of a formula in complex numbers, in the order of the jumps; returns their number.
int od_formula_jump_guards(const od_formula *f, const od_complex *in, int ins, const od_complex *q,
                           const od_complex *held, od_complex *guard);

// Returns the value of a formula, and computes its derivatives `by` with respect to `in` and then q, in one backward
// pass. At a corner the derivative is the derivative of the branch in use; the derivative of abs() at zero is zero.
double od_formula_slopes(const od_formula *f, const double *in, int ins, const double *q, int numbers,
                         const double *held, double *by);

#endif
