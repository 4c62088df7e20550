// Process noise of the true machine. After each step its state is moved by L e, where L L' is the covariance that a filter with
// the same description assumes, and e are independent Gaussian numbers.
#include "experiment/truth_noise.h"

#include <stdlib.h>
#include <string.h>

#include "experiment/observe.h"
#include "experiment/start_covariance.h"
#include "machine/machine.h"
#include "math/dense.h"
#include "random/random.h"

struct od_truth_noise {
  const od_experiment *e;
  const od_plant *plant;
  double step;
  int nx;
  uint32_t stream;
  long repartitions;                    // changes of coordinates that the covariance includes
  double *process, *Q, *L, *x, *drawn;  // covariance of the states from outputs; that of a step, its factor
};

od_truth_noise *od_truth_noise_new(const od_experiment *e, const od_plant *plant, double step) {
  od_truth_noise *d = calloc(1, sizeof *d);
  if (!d) return NULL;
  size_t nx = (size_t)od_plant_nx(plant);
  *d = (od_truth_noise){.e = e, .plant = plant, .step = step, .nx = (int)nx};
  d->stream = od_random_stream("truth.noise");
  d->process = calloc(3 * nx * nx + 2 * nx + 1, sizeof *d->process);
  if (!d->process) {
    od_truth_noise_free(d);
    return NULL;
  }
  d->Q = d->process + nx * nx;
  d->L = d->Q + nx * nx;
  d->x = d->L + nx * nx;
  d->drawn = d->x + nx;
  return d;
}

void od_truth_noise_free(od_truth_noise *d) {
  if (!d) return;
  free(d->process);
  free(d);
}

// Computes the covariance of a step in the present coordinates, and its factor.
static od_status find_covariance(od_truth_noise *d, od_sim *sim) {
  const od_process_noise *noise = &d->e->truth_noise;
  od_status status = OD_OK;
  if (noise->process.count > 0)
    status = od_start_map_noise(d->e, &noise->process, sim, d->plant, d->process, &(od_start_problem){0});
  if (status != OD_OK) return status;
  od_process_noise_covariance(noise, od_machine_model(d->e->truth), d->plant, d->step, d->e->step,
                              noise->process.count > 0 ? d->process : NULL, d->Q, d->nx);
  return od_cholesky(d->nx, d->Q, d->L) >= 0 ? OD_OK : OD_SINGULAR;
}

od_status od_truth_noise_begin(od_truth_noise *d, od_sim *sim) {
  d->repartitions = od_sim_count(sim).repartitions;
  return find_covariance(d, sim);
}

od_status od_truth_noise_step(od_truth_noise *d, od_sim *sim, long step) {
  int nx = d->nx;
  long changes = od_sim_count(sim).repartitions;
  if (changes != d->repartitions) {
    d->repartitions = changes;
    od_status status = find_covariance(d, sim);
    if (status != OD_OK) return status;
  }
  memcpy(d->x, od_sim_state(sim), (size_t)nx * sizeof *d->x);
  for (int i = 0; i < nx; i++)
    d->drawn[i] =
        od_random_gaussian(d->e->seed, d->stream, (uint64_t)step * (uint64_t)nx + (uint64_t)i, OD_USE_PROCESS);
  for (int i = 0; i < nx; i++)
    for (int j = 0; j <= i; j++) d->x[i] += d->L[i * nx + j] * d->drawn[j];
  return od_sim_set(sim, od_sim_time(sim), d->x, od_sim_inputs(sim));
}
