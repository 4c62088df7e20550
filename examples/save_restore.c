// Save and restore: a simulation is one block of memory, so saving is a copy and restoring is another. A crane is
// simulated with two torques for half a second each, restored, and continued with the torque that lifts the load
// higher, as in a predictive controller. Nothing is allocated after the start. Run the program from the project's root.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <oleodyn/oleodyn.h>

enum { HEIGHT, BALANCE, OUTPUTS };

// Steps of 2 ms with constant torques. y receives the outputs at the end.
static od_status advance(od_sim *sim, int steps, const double torques[2], double y[OUTPUTS]) {
  bool changed;
  od_status status = od_sim_set_inputs(sim, torques);  // the inputs jump here
  for (int i = 0; i < steps && status == OD_OK; i++) {
    status = od_sim_repartition(sim, NULL, &changed);
    if (status == OD_OK) status = od_sim_step(sim, 2e-3, torques);
  }
  return status == OD_OK ? od_sim_outputs(sim, y) : status;
}

int main(void) {
  od_machine *machine = NULL;
  od_messages *messages = od_messages_new();
  if (od_machine_load("cases/crane/machine.yaml", NULL, &machine, messages) != OD_OK) {
    od_messages_print(messages, stderr, false);
    return 1;
  }
  od_messages_free(messages);
  int outputs[OUTPUTS] = {od_machine_output_find(machine, "payload.centre.y"),
                          od_machine_output_find(machine, "energy.balance")};
  od_plant *plant = NULL;
  od_error err = {0};
  if (od_machine_plant(machine, outputs, OUTPUTS, NULL, 0, &plant, &err) != OD_OK) {
    fprintf(stderr, "%s\n", err.text);
    return 1;
  }

  // The caller's memory, aligned to 16 bytes; on a controller it can be a static array. The size is a multiple of 16.
  size_t size = od_sim_size(plant);
  void *memory = aligned_alloc(16, size), *saved = malloc(size);
  if (!memory || !saved) return 1;
  od_sim *sim = od_sim_init(memory, plant);
  printf("the crane's simulation takes %zu bytes\n", size);

  const double none[2] = {0, 0}, torques[2][2] = {{8000, 0}, {8000, -3000}};  // N m: lift, tilt
  double y[OUTPUTS], height[2], again;
  od_status status = od_sim_start(sim, 0, none);
  if (status == OD_OK) status = advance(sim, 500, none, y);
  double now = od_sim_time(sim);
  memcpy(saved, memory, size);  // save

  for (int i = 0; i < 2 && status == OD_OK; i++) {
    memcpy(memory, saved, size);  // restore
    status = advance(sim, 250, torques[i], y);
    height[i] = y[HEIGHT];
    printf("at %.1f s, with %5.0f and %5.0f N m: the load at %.4f m\n", od_sim_time(sim), torques[i][0], torques[i][1],
           y[HEIGHT]);
  }

  // Restores the same instant and continues with the better torque: the same bits as before, and the energy balance
  // still closes.
  int best = status == OD_OK && height[1] > height[0];
  memcpy(memory, saved, size);
  int at_start = od_sim_time(sim) == now;
  if (status == OD_OK) status = advance(sim, 250, torques[best], y);
  again = y[HEIGHT];
  if (status != OD_OK) fprintf(stderr, "%s\n", od_status_text(status));
  int ok = status == OD_OK && at_start && memcmp(&again, &height[best], sizeof again) == 0 && fabs(y[BALANCE]) < 1;
  printf("restored, then number %d: %.4f m, %s; error of the energy balance %.2g J\n", best + 1, again,
         ok ? "the same to the last bit" : "NOT the same", fabs(y[BALANCE]));

  free(saved);
  free(memory);
  od_plant_free(plant);
  od_machine_free(machine);
  return ok ? 0 : 1;
}
