// A friction law with values for all its numbers, for views of a single law.
#ifndef OD_FRICTION_SHOW_SET_LAW_H
#define OD_FRICTION_SHOW_SET_LAW_H

#include "friction/drive.h"

typedef struct od_set_law {
  const od_friction_law *law;
  bool two_sided;  // whether there are separate numbers for negative speeds
  double q[2 * OD_MOST_ELEMENT_FIELDS];
  char label[80];  // "force", or the varied number: "tau_hn = 2.4"
} od_set_law;

// od_set_law_steady() returns the force of steady motion at a speed, N. od_set_law_steady_slope() returns the
// derivative of this force with respect to one of the numbers.
double od_set_law_steady(const od_set_law *law, double v);
double od_set_law_steady_slope(const od_set_law *law, double v, int number);
// Computes force and film over time, starting at rest without a film. signal: multiplier of the law's factor or load at each
// time, or NULL. `film` may be NULL. Fails with OD_NOT_FINITE if the force is not finite, and with OD_NO_MEMORY.
od_status od_set_law_drive(const od_set_law *law, int count, const double *t, const double *v, const double *signal,
                           double *force, double *film);

#endif
