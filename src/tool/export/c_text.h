// C source as text: names, numbers, comments and arrays. Numbers have the same bits after compilation, on any locale.
#ifndef OD_EXPORT_C_TEXT_H
#define OD_EXPORT_C_TEXT_H

#include <stdbool.h>
#include <stdio.h>

#include "base/arena.h"

enum { OD_C_NUMBER_SIZE = 32 };
// Writes a number as a C constant: small integers in decimal, other finite numbers as hexadecimal floating-point constants,
// INFINITY and NAN as in math.h.
void od_c_number(char text[OD_C_NUMBER_SIZE], double value);

// Prints `static const double NAME[] = {...};`, and the same for integers. An empty array gets one zero, because C has no empty arrays.
void od_c_numbers(FILE *to, const char *name, const double *value, long count);
void od_c_integers(FILE *to, const char *name, const int *value, long count);

// Prints a text within a comment. Control characters, the star of an end of a comment, and a backslash at the end become spaces.
void od_c_comment(FILE *to, const char *text);

// Turns a name of a file into a C identifier: "P.pressure" gives p_pressure, or P_PRESSURE (upper). If one of the `count` names `taken` is equal to
// the identifier, a number is appended. Returns NULL if an allocation fails.
const char *od_c_name(od_arena *arena, const char *text, bool upper, const char *const *taken, int count);

#endif
