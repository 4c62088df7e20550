// The table of friction laws. Each law is one file of this folder, which defines a class of elements, a class of
// blocks, and a row of this table. law_tables.h describes how to write a law. drive.h uses the table to drive a law
// alone.
//
// The numbers of a law are in the order of its fields: first the numbers that may differ by direction ("sided"), then the numbers
// that both directions share. If the directions differ, the sided numbers for negative speeds follow.
#ifndef OD_FRICTION_LAW_H
#define OD_FRICTION_LAW_H

#include <stdbool.h>

#include "base/complex_number.h"
#include "elements/elements.h"
#include "friction/lugre_family.h"

typedef struct od_friction_law {
  const char *name;  // name in files, such as "modified-lugre"
  const od_element_description
      *element;       // the description of the class, with the fields of the law, their meanings and the summary
  int sided, common;  // count of numbers that may differ by direction; count of numbers that both directions share
  bool has_family;    // whether the law belongs to the LuGre family (lugre_family.h); else the law is a function of the
                      // speed alone
  bool has_bristles, has_film;  // whether the law has a state of the bristles; whether it has a state of the film
  bool has_rate_terms;          // whether the force depends on the acceleration and on the rate of the film
  od_stribeck_shape shape;
  // Returns the force (N, or N m in a revolute joint) in steady motion at speed v.
  double (*steady_r)(const double *q, bool two_sided, double v);
  od_complex (*steady_c)(const od_complex *q, bool two_sided, od_complex v);
  // Computes the parameters of the family for one direction. `load` multiplies the factor or the load of the law. NULL for laws
  // outside the family.
  void (*family_r)(const double *q, bool two_sided, bool negative, double load, double family[OD_FAMILY_COUNT]);
  void (*family_c)(const od_complex *q, bool two_sided, bool negative, od_complex load,
                   od_complex family[OD_FAMILY_COUNT]);
} od_friction_law;

extern const od_friction_law *const od_friction_laws[];
int od_friction_law_count(void);
// Returns the index of the law with this name, or -1.
int od_friction_law_find(const char *name);

// Returns the count of numbers of a law.
static inline int od_friction_law_numbers(const od_friction_law *law, bool two_sided) {
  return law->sided + law->common + (two_sided ? law->sided : 0);
}

// Returns the index of the number of a law that a signal may multiply: the factor or the load.
int od_friction_law_follows(const od_friction_law *law);

#endif
