// Random formulas that are finite and smooth but for corners, for variables of about one.
#ifndef OD_TEST_RANDOM_FORMULA_H
#define OD_TEST_RANDOM_FORMULA_H

#include "oleodyn/build.h"
#include "support/random_machine.h"

// Over so many inputs, then so many numbers; the result depends on all of them. It stays until some hundred others have been made.
od_formula od_random_formula(od_dice *d, int inputs, int numbers);

#endif
