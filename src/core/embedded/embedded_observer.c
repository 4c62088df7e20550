// The observer of a constant description: options, start and prediction.
#include <string.h>

#include "embedded/embedded_parts.h"
#include "observe/observer_block.h"

od_observer_options od_embedded_observer_options(const od_embedded *d) {
  const od_embedded_observer *o = d->observer;
  return (od_observer_options){.filter = o->filter,
                               .choice = o->choice,
                               .integrator = d->integrator,
                               .form = o->form,
                               .sensor_sigma = o->sigma,
                               .sensor_covariance = o->covariance,
                               .gate = o->gate,
                               .patience = o->patience,
                               .frozen = o->frozen,
                               .low = o->least,
                               .high = o->most,
                               .noise = o->noise,
                               .noise_rows = o->noise_rows};
}

od_status od_embedded_start_observer(const od_embedded *d, od_observer *observer, const double *u) {
  const od_embedded_observer *o = d->observer;
  const od_plant *plant = observer->plant;
  const double *P = o->P;
  if (o->P_at) {
    double *dense = od_observer_covariance_memory(observer);
    int n = od_plant_nx(plant) + plant->np;
    memset(dense, 0, (size_t)(n * n) * sizeof *dense);
    for (int i = 0; i < o->P_count; i++) dense[o->P_at[i]] = dense[o->P_at[i] % n * n + o->P_at[i] / n] = o->P[i];
    P = dense;
  }
  od_status status = od_observer_declare_start(observer, o->given, o->given_output, o->given_covariance);
  if (status != OD_OK) return status;
  return od_observer_start(observer, 0, NULL, plant->np ? o->start : NULL, P, u);
}

od_status od_embedded_predict(const od_embedded *d, od_observer *observer, const double *u) {
  const double *Q = d->observer->noise ? NULL : d->observer->Q;
  return od_observer_predict(observer, d->period, u, Q, NULL);
}
