// Runs a machine file as `oleodyn simulate` does and prints CSV rows. Usage: run_machine [FILE [TIME [STEP]]], both in s.
#include <stdio.h>
#include <stdlib.h>

#include <oleodyn/oleodyn.h>

int main(int argc, char **argv) {
  od_machine *machine;
  od_messages *messages = od_messages_new();
  if (od_machine_load(argc > 1 ? argv[1] : "cases/press/machine.yaml", NULL, &machine, messages) != OD_OK)
    return od_messages_print(messages, stderr, false), 2;
  od_run_wishes wishes = {.time = argc > 2 ? atof(argv[2]) : 0, .step = argc > 3 ? atof(argv[3]) : 0};
  int *outputs = calloc((size_t)od_machine_output_count(machine), sizeof *outputs);
  int count = od_machine_default_outputs(machine, outputs);
  double *y = calloc((size_t)count, sizeof *y);
  od_run_plan plan;
  od_plant *plant;
  od_error err;
  if (od_machine_plan_run(machine, &wishes, &plan, &err) != OD_OK ||
      od_machine_plant(machine, outputs, count, NULL, 0, &plant, &err) != OD_OK)
    return fprintf(stderr, "%s\n", err.text), 2;
  od_sim *sim = od_sim_plain_new(plant), *at;
  od_status status = od_run_plan_start(&plan, sim);
  od_advance *advance = od_advance_new(sim, &plan.advance);
  for (long row = 0; row <= plan.rows && status == OD_OK; row++) {
    if ((status = od_sim_advance(advance, od_run_plan_time(&plan, row), &at)) == OD_OK) status = od_sim_outputs(at, y);
    printf("%.17g", od_run_plan_time(&plan, row));
    for (int i = 0; i < count; i++) printf(",%.17g%s", y[i], i + 1 < count ? "" : "\n");
  }
  if (status != OD_OK) fprintf(stderr, "%s\n", od_status_text(status));
  od_advance_free(advance), od_sim_free(sim), od_plant_free(plant), od_machine_free(machine);
  return od_messages_free(messages), free(outputs), free(y), status == OD_OK ? 0 : 1;
}
