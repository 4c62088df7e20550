// Numbers as text, independent of the locale: the decimal sign is a point.
#ifndef OD_IO_NUMBER_H
#define OD_IO_NUMBER_H

#include <stdbool.h>
#include <stddef.h>

#include "io/decimal.h"

enum { OD_NUMBER_SIZE = 32 };

// Writes the shortest text that reads back as the same number, in the form of %.15g, %.16g or %.17g; "nan", "inf", "-inf".
// Returns the length of the text.
int od_number_format(char text[OD_NUMBER_SIZE], double value);
// Writes a number as %.{digits}g. Returns the length of the text.
int od_number_round(char text[OD_NUMBER_SIZE], double value, int digits);
// Writes a number as %.{decimals}f, without a minus sign before zero. Numbers that are too long for the text are written as %g.
// Returns the length of the text.
int od_number_fixed(char text[OD_NUMBER_SIZE], double value, int decimals);

// Returns the largest number of the form 1, 2 or 5 times a power of ten that does not exceed `value`, which must be positive.
double od_number_125(double value);

// Sorts numbers in ascending order.
void od_numbers_sort(double *value, long count);

// Reads a text of the given length as a number, correctly rounded. Accepts nan and inf in any case. comma: the decimal sign may be
// a comma. Returns false if the text is not a number.
bool od_number_parse(const char *text, size_t length, bool comma, double *value);
// Reads a text as an exact decimal, which may be negative. Returns false if the text is not a finite number or has more than 19 digits.
bool od_number_decimal(const char *text, size_t length, bool comma, od_decimal *size, bool *negative);
// Returns the length of the longest prefix of a text of `length` characters that is a number, and its value; 0: no prefix is a
// number. Prefixes have at most 31 characters. "5 eV" gives 5, although "5e" begins like an exponent.
size_t od_number_prefix(const char *text, size_t length, double *value);

#endif
