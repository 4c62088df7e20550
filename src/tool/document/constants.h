// Named constants of a file, and arithmetic in its numbers: "e - ea", "pi/4 * bore^2".
//
// A number is a quantity ("35 mm") or an expression of constants, quantities and functions. Constants may refer to each other in
// any order. The parameters of a template are constants within the template. The document stores the formulas with exact
// derivatives. Thus callers can change a constant and compute the numbers that depend on this constant.
#ifndef OD_DOCUMENT_CONSTANTS_H
#define OD_DOCUMENT_CONSTANTS_H

#include "document/expression.h"
#include "document/quantities.h"

enum { OD_MOST_CONSTANTS = 10000 };

// Reads the section of constants, and the parameters of instances (full names and arguments). A parameter that is not a quantity
// is evaluated at its first use. `constants` and `parameters` are nodes of maps; -1: none.
void od_load_constants(od_loader *ld, int constants, int parameters);
// Adds numbers for the constants that were evaluated after od_load_constants(). Call this function after all elements have been
// read.
void od_number_constants(od_loader *ld);

// Returns whether a text must be an expression because it contains operators that a quantity cannot contain.
bool od_is_arithmetic(const char *text);

typedef enum od_expression_verdict { OD_EXPRESSION_READ, OD_EXPRESSION_WRONG, OD_NO_EXPRESSION } od_expression_verdict;
// Evaluates an expression; *value is in the SI unit `unit`. Returns OD_EXPRESSION_WRONG after reporting an error. Returns
// OD_NO_EXPRESSION, without a message, if the text is not an expression.
od_expression_verdict od_read_expression(od_loader *ld, const od_given *given, const char *unit, double *value);
// Returns whether a text is an expression, in any unit, of the constants that are visible at its place. Also returns
// true if a constant of the expression has no value; this error has already been reported.
bool od_is_expression(od_loader *ld, od_place place, const char *text);
// Computes the value of a quantity or an expression in the SI unit `si`. Returns false, without a message about the text, if the
// text is neither or has another dimension.
bool od_text_value(od_loader *ld, od_place place, const char *text, const char *si, double *value);
// Returns the unit in a text: for a quantity the text after its number, for an expression the SI unit of its value; "": none.
const char *od_text_unit(od_loader *ld, od_place place, const char *text);

// Returns the SI unit with these powers of the base units: the usual unit ("N"), else the powers of the base units as a text.
const char *od_unit_of_powers(od_loader *ld, const double *power);

// Returns the index of the constant whose value is this number, if the constant is not computed from other constants; else -1.
int od_constant_of(const od_document *d, int number);
// od_constants_reach() marks all constants that depend on marked constants (`reached` has one entry per constant).
// od_number_is_reached() returns whether a number depends on marked constants.
void od_constants_reach(const od_document *d, bool *reached);
bool od_number_is_reached(const od_document *d, int number, const bool *reached);
// Returns whether a number is the value of a constant, either free or computed from other constants.
bool od_number_is_constant(const od_document *d, int number);
// Follows the first reference of each expression and returns the constant at the end of the chain; -1: the number does
// not depend on a constant.
int od_number_source(const od_document *d, int number);

// Computes the values of the constants marked in `wanted` from the values of the free constants. Also computes the changes of the
// values along a direction. `value` (SI units) and `change` (NULL: not needed) have one entry per constant; the caller sets the
// entries of the free constants. Allocates no memory.
void od_constants_follow(const od_document *d, const bool *wanted, double *value, double *change);
// Returns the value of a number that is an expression, from the values of all constants. *its_change: the change of the number
// along `change` (NULL: not needed).
double od_number_follow(const od_document *d, int number, const double *value, const double *change,
                        double *its_change);

#endif
