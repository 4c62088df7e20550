// A full step of every filter, prediction and correction, on one core: the toolbox four-bar with a gyro on its coupler
// (cases/fourbar-observer/gyro.experiment.yaml: 2 states, 1 sensor, steps of 5 ms).
//
//   bench_filters FILE.experiment.yaml
#include <stdio.h>

#include "all_filters.h"
#include "measure.h"
#include "observer_steps.h"

enum { MOST_FILTERS = 30 };
static const double must = 300, goal = 1000;  // times real time

int main(int argc, char **argv) {
  if (argc != 2) {
    fprintf(stderr, "usage: bench_filters FILE.experiment.yaml\n");
    return 2;
  }
  observer_data d;
  observer_steps steps[MOST_FILTERS];
  bench_subject subjects[MOST_FILTERS];
  int count = 0;
  if (observer_data_open(&d, argv[1], 0) != 0) return 1;
  bench_pin();
  for (; count < MOST_FILTERS && od_filter_type_at(count); count++) {
    if (observer_steps_open(&steps[count], &d, od_filter_type_at(count)->name, OD_FORM_SQUARE_ROOT) != 0) return 1;
    subjects[count] = (bench_subject){.step = d.observed->step,
                                      .self = &steps[count],
                                      .start = observer_steps_start,
                                      .advance = observer_steps_advance,
                                      .steps = (int)d.observed->steps};
    snprintf(subjects[count].name, sizeof subjects[count].name, "%s", od_filter_type_at(count)->name);
  }
  printf("Filters, %s: %d states, %d sensors, steps of %g ms\n\n", d.e->title, od_plant_nx(d.plant), d.e->sensors,
         1e3 * d.observed->step);
  if (bench_settle(subjects, count) != 0) return 1;
  printf("%-20s %12s %8s %16s\n", "filter", "us/step", "spread", "times real time");
  for (int i = 0; i < count && bench_wants_times(); i++) {
    double best = bench_best(&subjects[i]), faster = d.observed->step / best;
    printf("%-20s %12.3f %6.1f %% %16.0f  %s (at least %g; goal %g: %s)\n", subjects[i].name, 1e6 * best,
           100 * bench_spread(&subjects[i]), faster, faster >= must ? "met" : "MISS", must, goal,
           faster >= goal ? "reached" : "not reached");
  }
  bench_print_method(subjects, count);
  for (int i = 0; i < count; i++) observer_steps_close(&steps[i]);
  observer_data_close(&d);
  return 0;
}
