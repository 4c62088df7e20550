// An exported program on an emulated processor: repeats the test run of the export and prints the bits of the results as hexadecimal numbers, then
// the largest count of a step and the used stack. OBSERVER: the program is an observer. ROUNDS: how often the run is repeated.
// The same source is compiled for the computer that runs the tests, whose numbers are the oracle.
#define EXPORTED_TEST_ONLY
#include "exported_test.c"

#include <stdint.h>
#include <string.h>

#include "board.h"

#ifndef ROUNDS
#define ROUNDS 1
#endif

static _Alignas(16) unsigned char memory[EXPORTED_MEMORY];
static EXPORTED_REAL y[EXPORTED_OUTPUTS + 1], sigma[EXPORTED_OUTPUTS + 1], p[EXPORTED_PARAMETERS + 1], p_sigma[EXPORTED_PARAMETERS + 1];
