#include "friction_show/set_law.h"

#include "memory/scoped.h"

double od_set_law_steady(const od_set_law *law, double v) {
  return law->law->steady_r(law->q, law->two_sided, v);
}

double od_set_law_steady_slope(const od_set_law *law, double v, int number) {
  static const double step = 1e-30;
  double _Complex q[2 * OD_MOST_ELEMENT_FIELDS];
  for (int i = 0; i < od_friction_law_numbers(law->law, law->two_sided); i++) q[i] = law->q[i];
  q[number] += __builtin_complex(0.0, step);
  return __imag__ law->law->steady_c(q, law->two_sided, v) / step;
}

od_status od_set_law_drive(const od_set_law *law, int count, const double *t, const double *v, const double *signal,
                           double *force, double *film) {
  OD_SCRATCH(scratch);
  od_friction_grid grid;
  const od_friction_start start = {.signal = 1, .signals = signal};
  void *memory = od_arena_take(&scratch, od_friction_grid_size(count));
  od_status status = memory ? od_friction_grid_make(&grid, memory, count, t, v) : OD_NO_MEMORY;
  if (status != OD_OK) return status;
  return od_friction_drive(law->law, law->q, law->two_sided, &grid, &start,
                           &(od_friction_motion){.force = force, .film = film});
}
