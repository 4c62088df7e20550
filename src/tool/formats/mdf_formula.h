// Formulas of conversions: algebraic expressions in X, such as "sqrt(X) * 0.5 + 1".
//
// The operator ?: is not supported. Operators, from the weakest: || && | ^^ (exclusive or: XOR) & == != (<>) < <= > >= << >>
// + - * / % and unary - + ! ~, and ^ or ** for powers. Functions: sin cos tan asin acos atan sinh cosh tanh exp log
// (natural) ln log10 log2 sqrt abs floor ceil round trunc sign, and with two arguments pow atan2 min max fmod. Other names: arcsin
// arccos arctan lg fabs power mod. Constants: pi. Bit operations use integers of 64 bits.
#ifndef OD_FORMATS_MDF_FORMULA_H
#define OD_FORMATS_MDF_FORMULA_H

#include "base/arena.h"

typedef struct od_mdf_formula od_mdf_formula;

// Parses a formula into memory of the arena. Fails with OD_BAD_INPUT, and with the cause as the predicate of a sentence in *why, or with
// OD_NO_MEMORY.
od_status od_mdf_formula_parse(const char *text, od_arena *memory, od_mdf_formula **out, const char **why);
// Computes the value of a formula. The value is NAN or infinite outside of the domain of a function.
double od_mdf_formula_value(const od_mdf_formula *f, double x);

#endif
