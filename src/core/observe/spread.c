#include "observe/spread.h"

#include <math.h>
#include <string.h>

#include "oleodyn/sim.h"

static const double sigma_factor = 1.7320508075688772;  // c in spread.h

// Computes the outputs y at the trial state x + factor d, with parameters within their bounds. Returns false if the
// outputs cannot be evaluated.
static bool outputs_at(const od_covariance *b, double factor, const od_spread_work *w, double *y) {
  double *p = w->x + b->nx;
  for (int k = 0; k < b->nx + b->np; k++) w->x[k] = w->from[k] + factor * w->d[k];
  for (int k = 0; k < b->np; k++) p[k] = p[k] < w->low[k] ? w->low[k] : p[k] > w->high[k] ? w->high[k] : p[k];
  return od_sim_outputs_elsewhere(w->probe, w->x, b->np ? w->x + b->nx : NULL, y) == OD_OK;
}

// Updates the largest spread of each output with the trials of one unknown.
static void keep_largest(int unknown, double unknown_sigma, int ny, const double *y, const od_spread_work *w,
                         od_spread *out) {
  for (int i = 0; i < ny; i++) {
    double up = w->up[i] - y[i], down = w->down[i] - y[i], mean = (up + down) / 6;
    double sigma = fmax(fabs(up), fabs(down)) / sigma_factor;
    if (sigma > out[i].sigma && isfinite(sigma))
      out[i] = (od_spread){.sigma = sigma,
                           .mean = mean,
                           .variance = (up * up + down * down) / 6 - mean * mean,
                           .slope = (up - down) / (2 * sigma_factor),
                           .unknown_sigma = unknown_sigma,
                           .along = unknown};
  }
}

void od_spread_find(const od_sim *sim, size_t sim_size, int ny, const od_covariance *b, int unknowns, const double *y,
                    const od_spread_work *work, od_spread *out) {
  int n = b->nx + b->np;
  for (int i = 0; i < ny; i++) out[i] = (od_spread){.along = -1};
  memcpy(work->probe, sim, sim_size);
  memcpy(work->from, od_sim_state(sim), (size_t)b->nx * sizeof *work->from);
  od_sim_parameters(sim, work->from + b->nx);
  for (int i = 0; i < unknowns; i++) {
    for (int k = 0; k < n; k++) work->h[k] = k == i;
    double sigma = sqrt(od_covariance_project(b, work->h));
    if (!(sigma > 0) || !isfinite(sigma)) continue;
    od_covariance_along(b, work->d);
    for (int k = 0; k < n; k++) work->d[k] /= sigma;
    if (outputs_at(b, sigma_factor, work, work->up) && outputs_at(b, -sigma_factor, work, work->down))
      keep_largest(i, sigma, ny, y, work, out);
  }
}
