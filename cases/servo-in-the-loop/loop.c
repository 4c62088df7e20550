// Software in the loop: the axis runs in oleodyn, the controller is the C source of `oleodyn export --c`. Prints the position once per
// millisecond. README.md has the commands.
#include <stdio.h>

#include <oleodyn/oleodyn.h>

#include "controller.h"

enum { SAMPLES = 3000 };
static const double step = 1e-4, sample_time = 1e-3;  // of the machine and of the controller, s

static double wanted_at(int sample) {
  return sample < 1000 ? 0.2 : sample < 2000 ? 0.7 : 0.4;
}

// Runs the loop: the controller reads the position, and the machine moves with its command until the next sample. Returns false after a failure.
static bool run(od_sim *sim, controller_run *controller) {
  double y[1], command[CONTROLLER_OUTPUTS] = {0};
  if (od_sim_start(sim, 0, command) != OD_OK) return false;
  od_advance *advance = od_advance_new(sim, &(od_advance_options){.step = step});
  bool works = advance != NULL;
  printf("time,guide.position,control\n");
  for (int i = 0; i <= SAMPLES && works; i++) {
    works = od_sim_advance(advance, i * sample_time, NULL) == OD_OK && od_sim_outputs(sim, y) == OD_OK;
    const double seen[CONTROLLER_INPUTS] = {[CONTROLLER_IN_WANTED] = wanted_at(i), [CONTROLLER_IN_POSITION] = y[0]};
    works = works && controller_step(controller, seen) == 0 && controller_outputs(controller, command) == 0;
    printf("%.3f,%.17g,%.17g\n", i * sample_time, y[0], command[CONTROLLER_OUT_CONTROL]);
    works = works && od_sim_set_inputs(sim, command) == OD_OK;
  }
  od_advance_free(advance);
  return works;
}

int main(int count, char **argument) {
  static _Alignas(16) unsigned char memory[CONTROLLER_MEMORY];
  controller_run *controller = controller_init(memory, sizeof memory);
  od_messages *messages = od_messages_new();
  od_machine *machine = NULL;
  od_plant *plant = NULL;
  od_error err = {0};
  if (od_machine_load(count > 1 ? argument[1] : "cases/servo-in-the-loop/plant.yaml", NULL, &machine, messages) !=
      OD_OK) {
    od_messages_print(messages, stderr, false);
    return 1;
  }
  int position = od_machine_output_find(machine, "guide.position");
  if (od_machine_plant(machine, &position, 1, NULL, 0, &plant, &err) != OD_OK)
    return fprintf(stderr, "%s\n", err.text), 1;
  od_sim *sim = od_sim_new(plant);
  od_sim_set_integrator(sim, od_integrator_find("rk4"));
  bool done = controller && run(sim, controller);
  if (!done) fprintf(stderr, "a step fails\n");
  od_sim_free(sim);
  od_plant_free(plant);
  od_machine_free(machine);
  od_messages_free(messages);
  return done ? 0 : 1;
}
