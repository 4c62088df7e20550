// Constants that a file names, and arithmetic in its numbers: "e - ea", "pi/4 * bore^2".
//
// A number is a quantity ("35 mm") or an expression of constants, quantities and functions. Constants may refer to each
// other in any order. In a template its parameters are constants, too. What a number was made of stays with the document, with
// exact derivatives: whoever changes a constant can tell what its numbers become.
#ifndef OD_DOCUMENT_CONSTANTS_H
#define OD_DOCUMENT_CONSTANTS_H

#include "document/expression.h"
#include "document/quantities.h"

// Reads the section of constants, and the parameters of instances (full names and what is given for them), which count only
// where they are used. Nodes of maps; -1: none.
void od_load_constants(od_loader *ld, int constants, int parameters);

// Whether a text must be an expression, because a quantity cannot have such signs.
bool od_is_arithmetic(const char *text);

typedef enum od_expression_verdict { OD_EXPRESSION_READ, OD_EXPRESSION_WRONG, OD_NO_EXPRESSION } od_expression_verdict;
// The value of an expression in the SI unit. Wrong: with a message. No expression: it is something else, and nothing is said.
od_expression_verdict od_read_expression(od_loader *ld, const od_given *given, const char *unit, double *value);
// Whether the text at a place is an expression with its constants, of whatever unit.
bool od_is_expression(od_loader *ld, od_place place, const char *text);
// The value of a quantity or an expression in the SI unit; false, and nothing is said, where it is none.
bool od_text_value(od_loader *ld, od_place place, const char *text, const char *si, double *value);
// The unit that a text is written with: of a quantity the text behind its number, of an expression the SI unit of its value; "":
// none.
const char *od_text_unit(od_loader *ld, od_place place, const char *text);

// What the numbers of a document become when some of them, constants, get other values: the value of a number, and its
// derivatives by all constants (`gradient`, od_constant_count() entries; NULL: not wanted). `value` has the values of all
// constants, as od_constants_values() fills and od_constants_update() makes consistent.
int od_constant_count(const od_document *d);
int od_constant_number(const od_document *d, int constant);  // its number, or -1
int od_constant_find(const od_document *d, int number);      // the constant that a number is, or -1
bool od_constant_is_derived(const od_document *d, int constant);
void od_constants_values(const od_document *d, double *value);
// Constants that follow from others, in the order of dependence, with derivatives by the free ones: slope is
// od_constant_count() x columns, rows of free constants are given; NULL: not wanted.
void od_constants_update(const od_document *d, double *value, double *slope, int columns);
// The same for one number that is an expression; false: it is none.
bool od_number_follow(const od_document *d, int number, const double *value, const double *slope, int columns,
                      double *result, double *result_slope);
bool od_number_is_derived(const od_document *d, int number);

void od_constants_free(od_constants *c);

#endif
