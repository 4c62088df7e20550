// Constants that a file names, and arithmetic in its numbers: "e - ea", "pi/4 * bore^2".
//
// A number is a quantity ("35 mm") or an expression of constants, quantities and functions. Constants may refer to each
// other in any order. In a template its parameters are constants, too. What a number was made of stays with the document, with
// exact derivatives: whoever changes a constant can tell what its numbers become.
#ifndef OD_DOCUMENT_CONSTANTS_H
#define OD_DOCUMENT_CONSTANTS_H

#include "document/expression.h"
#include "document/quantities.h"

enum { OD_MOST_CONSTANTS = 10000 };

// Reads the section of constants, and the parameters of instances (full names and what is given for them), which count only
// where they are used. Nodes of maps; -1: none.
void od_load_constants(od_loader *ld, int constants, int parameters);
// Gives those a number that have got their values since. To be called when all elements have been read.
void od_number_constants(od_loader *ld);

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

// The SI unit that has these powers of the base units: in its usual spelling where it has one.
const char *od_unit_of_powers(od_loader *ld, const double *power);

// The constant that a number is, if other numbers may follow it and it follows none; -1: it is something else.
int od_constant_of(const od_document *d, int number);
// Marks all constants that follow those that are marked (one entry for each constant), and says whether a number does.
void od_constants_reach(const od_document *d, bool *reached);
bool od_number_is_reached(const od_document *d, int number, const bool *reached);
// Whether a number is a constant, free or not.
bool od_number_is_constant(const od_document *d, int number);
// What a number that is an expression follows: one of its constants that follows no others; -1: it is no expression.
int od_number_source(const od_document *d, int number);

// The values of all constants when the free ones have these values, and how they change along a direction: `value` and `change`
// (NULL: not wanted) have an entry for each constant; those of free ones are given. `wanted` says which others matter. Nothing is allocated.
void od_constants_follow(const od_document *d, const bool *wanted, double *value, double *change);
// The same for a number that is an expression.
double od_number_follow(const od_document *d, int number, const double *value, const double *change,
                        double *its_change);

void od_constants_free(od_constants *c);

#endif
