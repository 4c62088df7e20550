// Repeats a run of oleodyn on this processor. Written by oleodyn @version@.
#include <math.h>
#include <stddef.h>

#include "@name@.h"

// Returns the largest difference of the results from the expected numbers, relative to their size; -1 if a step fails. Other
// compilers and mathematical libraries change the last digits.
double @name@_test(void *memory, size_t size);

enum { STEPS = @steps@ };
@run@

static double difference(const double *value, const double *wanted, int count) {
  double largest = 0;
  for (int i = 0; i < count; i++) {
    double part = fabs(value[i] - wanted[i]) / fmax(fabs(wanted[i]), 1e-9);
    if (!(part <= largest)) largest = part;
  }
  return largest;
}

double @name@_test(void *memory, size_t size) {
  double y[@NAME@_OUTPUTS];
%observer   double sigma[@NAME@_OUTPUTS];
  @name@_run *it = @name@_init(memory, size);
  if (it == NULL) return -1;
  for (int i = 0; i < STEPS; i++)
%simulation     if (@name@_step(it, input + i * @NAME@_INPUTS) != 0) return -1;
%observer     if (@name@_step(it, input + i * @NAME@_INPUTS, sensor + i * @NAME@_SENSORS) != 0) return -1;
%simulation   if (@name@_outputs(it, y) != 0) return -1;
%simulation   return difference(y, expected, @NAME@_OUTPUTS);
%observer   if (@name@_outputs(it, y, sigma) != 0) return -1;
%observer   double largest = fmax(difference(y, expected, @NAME@_OUTPUTS), difference(sigma, expected_sigma, @NAME@_OUTPUTS));
%estimated   double p[@NAME@_PARAMETERS], p_sigma[@NAME@_PARAMETERS];
%estimated   @name@_parameters(it, p, p_sigma);
%estimated   largest = fmax(largest, difference(p, expected_parameter, @NAME@_PARAMETERS));
%observer   return largest;
}

#ifndef @NAME@_TEST_ONLY
#include <stdio.h>

// Prints the largest difference. The exit code is 0 if the results agree to nine digits.
int main(void) {
  static _Alignas(16) unsigned char memory[@NAME@_MEMORY];
  double largest = @name@_test(memory, sizeof memory);
  printf("largest relative difference after %d steps: %g\n", (int)STEPS, largest);
  return largest >= 0 && largest < 1e-9 ? 0 : 1;
}
#endif
