// Friction laws. Each stands in one file of this folder, written once for real and complex numbers: its parameters, the force
// it makes of a speed, and the rates of its states. From that the file derives the class of elements by which cylinders and
// joints have the law, the class of blocks by which signals have it, and its row in the table of laws, which is what drives a
// law alone (drive.h).
//
// Numbers of a law stand in the order of its fields: those that may differ by direction ("sided"), those that both directions
// share, then, if they differ, the sided ones again for negative speeds.
#ifndef OD_FRICTION_LAW_H
#define OD_FRICTION_LAW_H

#include <stdbool.h>

#include "elements/elements.h"
#include "friction/lugre_family.h"

typedef struct od_friction_law {
  const char *name;                 // as files call it: "modified-lugre"
  const od_element_class *element;  // has its fields, their meaning and its summary
  int sided, common;                // counts of numbers
  bool has_family;                  // it is one of the family of family.h; else a function of the speed alone
  bool has_bristles, has_film;      // states it has
  bool has_rate_terms;              // forces by the acceleration and by the rate of the film
  od_stribeck_shape shape;
  // The force of steady motion at speed v.
  double (*steady_r)(const double *q, bool two_sided, double v);
  double _Complex (*steady_c)(const double _Complex *q, bool two_sided, double _Complex v);
  // The parameters of the family for one direction, with what its factor or load is multiplied by. NULL where it has none.
  void (*family_r)(const double *q, bool two_sided, bool negative, double load, double family[OD_FAMILY_COUNT]);
  void (*family_c)(const double _Complex *q, bool two_sided, bool negative, double _Complex load,
                   double _Complex family[OD_FAMILY_COUNT]);
} od_friction_law;

extern const od_friction_law *const od_friction_laws[];
int od_friction_law_count(void);
int od_friction_law_find(const char *name);  // -1: there is none

// How many numbers it has.
static inline int od_friction_law_numbers(const od_friction_law *law, bool two_sided) {
  return law->sided + law->common + (two_sided ? law->sided : 0);
}

// The place of the number that a signal may multiply, a factor or a load.
int od_friction_law_follows(const od_friction_law *law);

#endif
