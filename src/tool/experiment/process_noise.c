// The covariance of the process noise in a step.
#include <math.h>
#include <string.h>

#include "experiment/observe.h"
#include "machine/machine.h"
#include "oleodyn/sim.h"

// Returns the fraction of the noise in a step of h. The noise is given for the experiment's step.
static double fraction_of(double h, double step) {
  return fabs(h - step) < 1e-6 * step ? 1 : h / step;
}

// Adds the noise of disturbances. For a state with the time constant T, the exact variance of a step h is
// noise^2 (1 - exp(-2h/T)) T/2.
static void add_random_walks(const od_model *m, int first, double h, int n, double *Q) {
  for (int i = 0; i < m->instances; i++) {
    const od_instance *e = &m->instance[i];
    const od_element_state *state = od_instance_class(e)->states;
    for (int k = 0; k < OD_MOST_ELEMENT_STATES && state[k].name; k++) {
      if (state[k].noise_field == 0 || e->state[k] < 0) continue;
      double noise = m->theta[e->number + state[k].noise_field], T = m->theta[e->number + state[k].time_field];
      Q[(first + e->state[k]) * (n + 1)] += noise * noise * (T > 0 ? -expm1(-2 * h / T) * T / 2 : h);
    }
  }
}

// Eq. 31 of source 1 in docs/theory.md: white acceleration over the step, and independent changes of pressures.
void od_process_noise_covariance(const od_process_noise *noise, const od_model *m, const od_plant *plant, double h,
                                 double step, const double *process, double *Q, int n) {
  double a = pow(noise->acceleration, 2), part = fraction_of(h, step);
  int nz = plant->nz, nx = od_plant_nx(plant);
  memset(Q, 0, (size_t)(n * n) * sizeof *Q);
  for (int i = 0; i < nx && process; i++)
    for (int j = 0; j < nx; j++) Q[i * n + j] = process[i * nx + j] * part;
  add_random_walks(m, 2 * nz, h, n, Q);
  if (process) return;
  for (int i = 0; i < nz; i++) {
    Q[i * n + i] = a * h * h * h / 3;
    Q[i * n + nz + i] = Q[(nz + i) * n + i] = a * h * h / 2;
    Q[(nz + i) * (n + 1)] = a * h;
  }
  for (int i = 0; i < m->nodes; i++)
    if (m->node[i].state >= 0) Q[(2 * nz + m->node[i].state) * (n + 1)] = pow(noise->pressures, 2) * part;
}

// Same as above, with the noise of the parameters.
void od_experiment_process_noise(const od_experiment *e, const od_plant *plant, double h, const double *process,
                                 double *Q) {
  const od_process_noise noise = {.pressures = e->pressure_noise, .acceleration = e->acceleration_noise};
  int nx = od_plant_nx(plant), n = nx + e->parameters;
  od_process_noise_covariance(&noise, od_machine_model(e->model), plant, h, e->step, process, Q, n);
  for (int i = 0; i < e->parameters; i++)
    Q[(nx + i) * (n + 1)] = pow(e->parameter[i].noise, 2) * fraction_of(h, e->step);
}
