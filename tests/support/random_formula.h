// Random formulas that are finite and smooth except at corners, for variables of about one.
#ifndef OD_TEST_RANDOM_FORMULA_H
#define OD_TEST_RANDOM_FORMULA_H

#include "oleodyn/build.h"
#include "support/random_machine.h"

// A formula of inputs and numbers, which depends on all of them. It is valid until some hundred others have been made.
od_formula od_random_formula(od_dice *d, int inputs, int numbers);
// Of a state machine with two states: from the first to the second when the first input exceeds 0.7, back when it is below -0.7 after some time.
od_formula od_random_two_states(int inputs);

#endif
