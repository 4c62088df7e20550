// The numbers in the labels of a circuit diagram.
#ifndef OD_CIRCUIT_LABEL_TEXT_H
#define OD_CIRCUIT_LABEL_TEXT_H

#include "io/number.h"

// Writes a number with `digits` significant digits. Magnitudes from 10^digits to 1e9 are written without an exponent.
void od_value_text(char text[OD_NUMBER_SIZE], double value, int digits);

#endif
