// The C side of python_speed.py: steps and rollouts of a machine with the public API, one thread. Prints processor times, and a sum
// over the bits of all outputs, which is that of the same rollouts from Python.
// Usage: python_speed MACHINE COPIES STEPS STEP
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <oleodyn/oleodyn.h>

static double processor_time(void) {
  struct timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

// Takes `steps` steps of h, with what is due at their ends.
static od_status take_steps(od_sim *sim, long steps, double h) {
  bool changed;
  od_status status = OD_OK;
  for (long k = 0; k < steps && status == OD_OK; k++) {
    status = od_sim_step(sim, h, od_sim_inputs(sim));
    if (status == OD_OK) status = od_sim_repartition(sim, NULL, &changed);
  }
  return status;
}

// Runs `copies` simulations of `steps` steps as `oleodyn simulate --step` does, and keeps the outputs of all steps.
static od_status rollouts(const od_machine *machine, const od_plant *plant, long copies, long steps, double h,
                          double *y) {
  od_sim *sim = od_sim_plain_new(plant);
  const od_advance_options options = {.step = h, .inputs = od_machine_input_source(machine)};
  size_t bytes = (od_advance_size(sim, &options) + 15) / 16 * 16;
  void *memory = aligned_alloc(16, bytes);
  double *u = calloc((size_t)plant->nu + 1, sizeof *u);
  od_status status = sim && memory && u ? OD_OK : OD_NO_MEMORY;
  for (long i = 0; i < copies && status == OD_OK; i++) {
    od_machine_inputs(machine, 0, u);
    od_sim_set_integrator(sim, od_integrator_at(0));
    status = od_sim_start(sim, 0, u);
    od_advance *advance = od_advance_init(memory, sim, &options);
    od_sim *at = sim;
    for (long k = 0; k <= steps && status == OD_OK; k++, y += plant->ny) {
      if (k > 0) status = od_sim_advance(advance, (double)k * h, &at);
      if (status == OD_OK) status = od_sim_outputs(at, y);
    }
  }
  free(u);
  free(memory);
  od_sim_free(sim);
  return status;
}

int main(int count, char **argument) {
  if (count != 5) return fprintf(stderr, "usage: python_speed MACHINE COPIES STEPS STEP\n"), 2;
  const long copies = atol(argument[2]), steps = atol(argument[3]);
  const double h = atof(argument[4]);
  od_machine *machine = NULL;
  od_messages *messages = od_messages_new();
  if (od_machine_load(argument[1], NULL, &machine, messages) != OD_OK) return od_messages_print(messages, stderr, 0), 1;
  od_messages_free(messages);
  int *outputs = calloc((size_t)od_machine_output_count(machine) + 1, sizeof *outputs);
  od_plant *plant = NULL;
  if (od_machine_plant(machine, outputs, od_machine_default_outputs(machine, outputs), NULL, 0, &plant, NULL) != OD_OK)
    return 1;

  const long some = 20000;
  double least_step = 1e300, *u = calloc((size_t)plant->nu + 1, sizeof *u);
  od_sim *sim = od_sim_new(plant);
  od_machine_inputs(machine, 0, u);
  od_status status = OD_OK;
  for (int i = 0; i < 7 && status == OD_OK; i++) {
    od_sim_set_integrator(sim, od_integrator_at(0));
    status = od_sim_start(sim, 0, u);
    double begin = processor_time();
    if (status == OD_OK) status = take_steps(sim, some, 1e-4);
    double spent = (processor_time() - begin) / (double)some;
    if (spent < least_step) least_step = spent;
  }

  size_t values = (size_t)(copies * (steps + 1) * plant->ny);
  double begin = processor_time(), *y = malloc(values * sizeof *y);
  if (!y) return 1;
  if (status == OD_OK) status = rollouts(machine, plant, copies, steps, h, y);
  double spent = processor_time() - begin;
  uint64_t sum = 0;
  for (size_t i = 0; i < values; i++) {
    uint64_t bits;
    memcpy(&bits, &y[i], sizeof bits);
    sum += bits;
  }
  if (status == OD_OK) printf("%.9g %.9g %" PRIu64 "\n", least_step, spent, sum);
  free(y);
  free(u);
  od_sim_free(sim);
  od_plant_free(plant);
  free(outputs);
  od_machine_free(machine);
  if (status != OD_OK) fprintf(stderr, "%s\n", od_status_text(status));
  return status != OD_OK;
}
