// The numbers of an experiment that can be tuned.
#include <math.h>

#include "experiment/sensor.h"
#include "tune/tune.h"

static void add(od_tuned_number *list, int *count, od_tuned_kind kind, int index, const char *path, const char *unit,
                double sigma) {
  list[(*count)++] = (od_tuned_number){.kind = kind,
                                       .index = index,
                                       .path = path,
                                       .unit = unit,
                                       .before = sigma,
                                       .after = sigma,
                                       .error = INFINITY,
                                       .bound = NAN};
}

int od_tuned_numbers(const od_experiment *e, od_arena *memory, od_tuned_number **out) {
  int count = 0;
  od_tuned_number *list = OD_TAKE(memory, od_tuned_number, e->sensors + e->process.count + e->parameters + 2);
  *out = list;
  if (!list) return -1;
  // The covariance of correlated sensors is also the covariance of the simulated noise, so the observer cannot assume
  // another covariance.
  for (int i = 0; i < e->sensors && !e->sensor_covariance; i++)
    add(list, &count, OD_TUNED_SENSOR, i, od_arena_format(memory, "sensors.%s.assume", e->sensor[i].name),
        e->sensor[i].unit, od_sensor_sigma(&e->sensor[i]));
  if (e->pressure_noise > 0) add(list, &count, OD_TUNED_PRESSURES, 0, "noise.pressures", "Pa", e->pressure_noise);
  if (e->acceleration_noise > 0)
    add(list, &count, OD_TUNED_ACCELERATION, 0, "noise.acceleration", "1", e->acceleration_noise);
  for (int i = 0; i < e->process.count; i++) {
    const od_watched *w = &e->watched[e->process.output[i]];
    add(list, &count, OD_TUNED_PROCESS, i, od_arena_format(memory, "noise.process.%s", w->name), w->unit,
        sqrt(e->process.covariance[i * (e->process.count + 1)]));
  }
  for (int i = 0; i < e->parameters; i++)
    if (e->parameter[i].noise > 0)
      add(list, &count, OD_TUNED_PARAMETER, i, od_arena_format(memory, "parameters.%s.noise", e->parameter[i].path),
          e->parameter[i].unit, e->parameter[i].noise);
  return od_arena_status(memory) == OD_OK ? count : -1;
}
