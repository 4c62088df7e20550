// The difference between two laws after steps of the speed.
#ifndef OD_FRICTION_SHOW_FRICTION_STEPS_H
#define OD_FRICTION_SHOW_FRICTION_STEPS_H

#include "friction_show/set_law.h"

// Number of speeds, evenly spaced up to the largest speed. A step is simulated from each speed to each speed.
enum { OD_STEP_SPEEDS = 50 };

typedef struct od_friction_steps {
  double speed[OD_STEP_SPEEDS];
  double difference[OD_STEP_SPEEDS * OD_STEP_SPEEDS];  // largest difference over time, N: [to * OD_STEP_SPEEDS + from]
  int from, to;                                        // indices of the largest difference
} od_friction_steps;

// Compares two laws after steps of the speed with a time constant `lag` (s), from steady motion. `largest`: largest speed,
// m/s. Each step is simulated for `time` s, with a row every `step` s. Fails with OD_NOT_FINITE or OD_NO_MEMORY.
od_status od_friction_steps_compare(const od_set_law *a, const od_set_law *b, double largest, double lag, double time,
                                    double step, od_friction_steps *out);

#endif
