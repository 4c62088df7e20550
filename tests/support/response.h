// The frequency response of a linearized simulation, C (s - A)^-1 B + D, for comparison with transfer functions in
// closed form.
#ifndef OD_TEST_RESPONSE_H
#define OD_TEST_RESPONSE_H

#include <complex.h>

#include "oleodyn/sim.h"

// A, B, C and D of one input and one output at the present point.
typedef struct od_test_linear {
  int n;
  double *A, *B, *C, D;
} od_test_linear;
od_test_linear od_test_linearize(od_sim *sim, const od_plant *plant, int input, int output);
void od_test_linear_free(od_test_linear *l);
double complex od_test_response(const od_test_linear *l, double complex s);

#endif
