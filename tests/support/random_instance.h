// One instance of an element class without a machine, with random numbers in the usual ranges of its table.
#ifndef OD_RANDOM_INSTANCE_H
#define OD_RANDOM_INSTANCE_H

#include "elements/elements.h"
#include "support/random_machine.h"

enum { OD_INSTANCE_SCALARS = 512, OD_INSTANCE_POOL = 256 };

typedef struct od_lone_instance {
  const od_element_description *c;
  double w[OD_INSTANCE_SCALARS];
  int pool[OD_INSTANCE_POOL];
  od_batch batch;
  int numbers;  // of its own
  const od_formula *formula;
} od_lone_instance;

// Numbers of a class around the usual values of its fields, such that its rules hold, and choices. Returns the number of
// numbers.
int od_random_numbers(od_dice *dice, const od_element_description *c, double *q, int choice[OD_MOST_ELEMENT_CHOICES]);
// The formula of such an instance, or NULL.
const od_formula *od_random_formula_of(const od_element_description *c);
// An instance with given numbers, numbers of its host (OD_MOST_ELEMENT_FIELDS; NULL: none) and choices (OD_MOST_ELEMENT_CHOICES), in oil of 870 kg/m3
// and 0.04 Pa s, with a pressure-viscosity coefficient of 2e-8 1/Pa and a leakage of 1.3 times that at the temperature of its data.
od_lone_instance od_instance_with(const od_element_description *c, const double *q, int numbers, const double *host,
                                  const int *choice);
od_lone_instance od_random_instance(od_dice *dice, const od_element_description *c);
// Stores the operations of a formula in a pool, from the even index `at` on. Returns the index after them.
int od_pool_formula(int *pool, int at, const od_formula *f);

#endif
