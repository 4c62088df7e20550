// The difference of two laws after steps of the speed.
#ifndef OD_FRICTION_SHOW_FRICTION_STEPS_H
#define OD_FRICTION_SHOW_FRICTION_STEPS_H

#include "friction_show/set_law.h"

// Steps from and to each of these speeds, evenly spaced up to the largest.
enum { OD_STEP_SPEEDS = 50 };

typedef struct od_friction_steps {
  double speed[OD_STEP_SPEEDS];
  double difference[OD_STEP_SPEEDS * OD_STEP_SPEEDS];  // N, the largest over time: [to * OD_STEP_SPEEDS + from]
  int from, to;                                        // indices of the largest difference
} od_friction_steps;

// Steps with a lag from steady motion, simulated for a time in rows of `step`.
od_status od_friction_steps_compare(const od_set_law *a, const od_set_law *b, double largest, double lag, double time,
                                    double step, od_friction_steps *out);

#endif
