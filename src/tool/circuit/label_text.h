// The numbers in the labels of a circuit diagram.
#ifndef OD_CIRCUIT_LABEL_TEXT_H
#define OD_CIRCUIT_LABEL_TEXT_H

#include "io/number.h"

// Writes a number with `digits` significant digits; numbers from 1000 to 9999 have four at least. Magnitudes from 1e4 to 1e9 are written without an exponent.
void od_value_text(char text[OD_NUMBER_SIZE], double value, int digits);

#endif
