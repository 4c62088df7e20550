// Arithmetic in files: "2 * k1 + 3 N/m", "sqrt(a^2 + b^2)", "Fc <= Fs".
//
//  relation    expression ("<=" | ">=" | "=") expression, or a chain: 0 <= a <= b
//  expression  numbers, names, + - * / ^, parentheses, functions (od_expression_functions)
//
// A number may be followed by a unit ("5 kg", "1.2 GPa", "0.3 m/s"). A unit contains no spaces: "3 m / s" is 3 m divided by a
// variable s. A number without a unit is in SI units and fits any unit. The units of all other operands must be consistent. Names
// consist of letters, digits, '_', '.', '-' and indices in brackets. A minus between two names needs spaces if the text without
// spaces would be another name.
//
// A parsed expression is a list of operations: a formula of the core (base/formula.h). The formula computes values and exact
// derivatives without allocation.
#ifndef OD_DOCUMENT_EXPRESSION_H
#define OD_DOCUMENT_EXPRESSION_H

#include <stdbool.h>

#include "document/units.h"
#include "oleodyn/build.h"

enum {
  OD_EXPRESSION_LONGEST = 200,  // largest number of operations
  OD_EXPRESSION_DEEPEST = 40,   // largest depth of nested parentheses, powers and signs
  OD_RELATION_SIDES = 6,        // largest number of sides in a chain of relations
};

// Variables of an expression. Messages about unknown names may contain a suggestion.
typedef struct od_expression_names {
  int count;
  const char *(*name)(const void *user, int i);
  const char *(*unit)(const void *user, int i);  // SI unit of variable i
  const void *user;
  od_units *units;
} od_expression_names;

// A problem and its place, in bytes from the start of the text.
typedef struct od_expression_problem {
  int at;
  char text[300];
} od_expression_problem;

typedef struct od_expression {
  int count;
  od_operation operation[OD_EXPRESSION_LONGEST];
  double power[OD_UNIT_BASES];  // powers of the base units
  bool any_unit;                // whether the result is a plain number, which is in SI units and fits any unit
} od_expression;

// Functions, by name; a NULL name ends the list. if(a < b, c, d) has a comparison (<, <=, > or >=) as its first argument.
typedef struct od_expression_function {
  const char *name;
  od_operation_kind kind;
  int arguments;
  enum { OD_OF_PLAIN, OD_KEEPS_UNIT, OD_HALVES_UNIT, OD_DROPS_UNIT } unit;  // effect on units
} od_expression_function;
extern const od_expression_function od_expression_functions[];

// Parses a text. Returns false and fills *problem if the text is not an expression.
bool od_expression_parse(const char *text, const od_expression_names *names, od_expression *out,
                         od_expression_problem *problem);

// Returns the value in SI units. The value is not finite if the expression is undefined (root of a negative number). `variable`:
// the values of the names, in SI units. `gradient`: the derivative with respect to each name (NULL: not needed). Both have
// `variables` entries.
double od_expression_value(const od_expression *e, const double *variable, int variables, double *gradient);

// The sides of a chain and the relations between them: side[0] kind[0] side[1] kind[1] side[2] ...
typedef enum od_relation_kind { OD_EQUAL, OD_AT_MOST, OD_AT_LEAST } od_relation_kind;
typedef struct od_relation {
  int sides;
  od_expression side[OD_RELATION_SIDES];
  od_relation_kind kind[OD_RELATION_SIDES];
  int begin[OD_RELATION_SIDES], end[OD_RELATION_SIDES];  // begin and end of each side in the text
} od_relation;
bool od_relation_parse(const char *text, const od_expression_names *names, od_relation *out,
                       od_expression_problem *problem);

#endif
