// A machine file in a C program: load the file, choose outputs, step the machine, read values with their units, and
// compute the exact derivative of a step. Run the program from the project's root.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <oleodyn/oleodyn.h>

enum { OUTPUTS = 4 };
static const char *const names[OUTPUTS] = {"A.angle", "coupler.end.y", "spring.force", "energy.balance"};

// Loads a machine file. All problems are printed to standard error with their place.
static od_machine *load(const char *path) {
  od_messages *messages = od_messages_new();
  od_machine *machine = NULL;
  if (messages && od_machine_load(path, NULL, &machine, messages) != OD_OK) od_messages_print(messages, stderr, false);
  od_messages_free(messages);
  return machine;
}

static void print_row(const od_sim *sim, const double *y) {
  printf("%8.3f", od_sim_time(sim));
  for (int i = 0; i < OUTPUTS; i++) printf(" %18.6g", y[i]);
  printf("\n");
}

// Error of F: the effect of a small change of the state before a step on the state after it, compared with F.
static double check_transition(const od_sim *before, const od_sim *after, size_t size, int nx, double step,
                               const double *F) {
  od_sim *other = malloc(size);
  double *x = malloc((size_t)nx * sizeof *x), worst = INFINITY;
  const double change = 1e-6;
  if (other && x) worst = 0;
  for (int j = 0; other && x && j < nx; j++) {
    // A simulation is one block of memory: a copy is an independent simulation.
    memcpy(other, before, size);
    memcpy(x, od_sim_state(before), (size_t)nx * sizeof *x);
    x[j] += change;
    if (od_sim_set(other, od_sim_time(before), x, NULL) != OD_OK || od_sim_step(other, step, NULL) != OD_OK) {
      worst = INFINITY;
      break;
    }
    for (int i = 0; i < nx; i++)
      worst = fmax(worst, fabs((od_sim_state(other)[i] - od_sim_state(after)[i]) / change - F[i * nx + j]));
  }
  free(other);
  free(x);
  return worst;
}

int main(void) {
  const double step = 1e-3;
  od_machine *machine = load("cases/fourbar-observer/spring.yaml");
  if (!machine) return 1;
  int outputs[OUTPUTS];
  for (int i = 0; i < OUTPUTS; i++) outputs[i] = od_machine_output_find(machine, names[i]);

  od_plant *plant = NULL;
  od_error err = {0};
  od_status status = od_machine_plant(machine, outputs, OUTPUTS, NULL, 0, &plant, &err);
  if (status != OD_OK) return fprintf(stderr, "%s\n", err.text), od_machine_free(machine), 1;
  int nx = od_plant_nx(plant);
  bool changed;
  size_t size = od_sim_size(plant);
  od_sim *sim = od_sim_new(plant), *before = malloc(size);
  double y[OUTPUTS], *F = malloc((size_t)(nx * nx) * sizeof *F);
  status = sim && before && F ? od_sim_start(sim, 0, NULL) : OD_NO_MEMORY;

  printf("%s\n%8s", od_machine_title(machine), "time (s)");
  for (int i = 0; i < OUTPUTS; i++) {
    char label[64];
    snprintf(label, sizeof label, "%s (%s)", names[i], od_machine_output_unit(machine, outputs[i]));
    printf(" %18s", label);
  }
  printf("\n");
  for (int i = 1; i <= 1000 && status == OD_OK; i++) {
    // Between steps a machine may need other coordinates; this one never does.
    status = od_sim_repartition(sim, NULL, &changed);
    memcpy(before, sim, size);
    if (status == OD_OK) status = od_sim_step_with_jacobians(sim, step, NULL, F, NULL, NULL, NULL);
    if (status == OD_OK) status = od_sim_outputs(sim, y);
    if (status == OD_OK && i % 200 == 0) print_row(sim, y);
  }
  double error = INFINITY;
  if (status == OD_OK) {
    printf("the last step's transition Jacobian, dx1/dx0:\n");
    for (int i = 0; i < nx * nx; i++) printf("%14.9f%s", F[i], (i + 1) % nx ? "" : "\n");
    error = check_transition(before, sim, size, nx, step, F);
    printf("it agrees with differences of whole steps within %.1g\n", error);
  } else {
    fprintf(stderr, "%s\n", od_status_text(status));
  }
  // The spring stores 800 J at the start: input, losses and stored energy must balance within the error of the
  // integrator.
  int ok = status == OD_OK && error < 1e-4 && fabs(y[OUTPUTS - 1]) < 0.05;
  free(F), free(before), od_sim_free(sim), od_plant_free(plant), od_machine_free(machine);
  return ok ? 0 : 1;
}
