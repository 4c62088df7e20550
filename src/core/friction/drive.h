// A friction law alone, driven by a given speed over time: the force at every sample, and the exact derivatives of the
// force with respect to the numbers of the law. No function allocates; the caller provides the memory.
//
// The grid has nodes at all samples and where the speed changes its sign. Between two nodes the speed is linear in time and has the
// direction s. Over a step from node 0 to node 1, film and bristles (lugre_family.h) are exact solutions of linearized equations:
//
// Film: hss is linear in time. With E = exp(-dt/tau),
//   h1 = hss1 + (h0 - hss0) E - (hss1 - hss0) (1 - E) tau/dt
// The film grows where h0 is below the mean of hss0 and hss1. The film is at rest if both speeds are zero. Bristles: g is linear in
// the distance |dx|. With a = sigma_0 |dx| divided by the mean of g0 and g1, and E = exp(-a),
//   y1 = s g1 + (y0 - s g0) E - s (g1 - g0) (1 - E)/a
// Parameters that follow a signal are evaluated at each node; the rate of the film is the mean of the rates at both
// ends of a step. Both formulas are of second order and remain accurate for any stiffness. The nodes depend on the
// speed only.
#ifndef OD_FRICTION_DRIVE_H
#define OD_FRICTION_DRIVE_H

#include <stddef.h>

#include "base/complex_number.h"
#include "friction/law.h"
#include "oleodyn/status.h"

typedef struct od_friction_grid {
  int nodes, samples;
  const double *t, *v;
  const double *log_speed, *film_power;   // log |v| (a large negative number at rest); |v|^(2/3)
  const double *distance, *per_distance;  // twice the distance to the next node, m; the reciprocal of this number, or 0
                                          // for a distance of 0
  const int *sample;                      // the index of the sample at a node, or -1
  const int *run;   // number of consecutive steps from this node with one direction, all at rest or all in motion
  const int *even;  // number of consecutive steps from this node with equal durations (to 1e-9)
} od_friction_grid;

// Returns the bytes of memory that a grid needs.
size_t od_friction_grid_size(int samples);
// Fills the grid for speeds v (m/s) at times t (s), in the caller's memory, which must be aligned for doubles. Returns
// OD_BAD_ARGUMENT if there is no sample, times do not increase, a number is not finite, or the memory is not aligned.
od_status od_friction_grid_make(od_friction_grid *grid, void *memory, int samples, const double *t, const double *v);

// The initial states of a run, and the signal.
typedef struct od_friction_start {
  double bristle, film;   // N, 1
  double signal;          // signal that multiplies the factor or the load of the law; 1: no signal
  const double *signals;  // the signal at every sample, linear in time in between; NULL: `signal` is constant
} od_friction_start;

// Results: arrays with an entry per sample, or NULL if not wanted. Force and bristle are in N, film is dimensionless.
typedef struct od_friction_motion {
  double *force, *bristle, *film;
} od_friction_motion;

// Computes the force at all samples. q: the numbers of the law. two_sided: whether q also has numbers for negative speeds (law.h).
// Returns OD_NOT_FINITE if a force is infinite or NaN.
od_status od_friction_drive(const od_friction_law *law, const double *q, bool two_sided, const od_friction_grid *grid,
                            const od_friction_start *start, const od_friction_motion *out);
od_status od_friction_drive_complex(const od_friction_law *law, const od_complex *q, bool two_sided,
                                    const od_friction_grid *grid, const od_friction_start *start, od_complex *force);

// Computes the force at all samples and its derivatives with respect to the numbers of the law with the indices
// `number` (`columns` entries). dforce has a row of `columns` entries per sample. `work` has od_friction_slopes_work()
// doubles. Returns OD_BAD_ARGUMENT if `columns` is negative or above OD_MOST_DRIVE_COLUMNS, or if an index is out of
// range. Returns OD_NOT_FINITE if a force is infinite or NaN.
enum { OD_MOST_DRIVE_COLUMNS = 32 };
size_t od_friction_slopes_work(int columns);
od_status od_friction_drive_slopes(const od_friction_law *law, const double *q, bool two_sided,
                                   const od_friction_grid *grid, const od_friction_start *start, int columns,
                                   const int *number, double *work, double *force, double *dforce);

// Computes the derivative of the force with respect to e, where the signal is the signal of `start` plus e times
// `along` (an entry per sample). The function fills one column of dforce, whose rows have `columns` entries. Returns
// OD_NOT_FINITE if a force is infinite or NaN.
od_status od_friction_drive_along(const od_friction_law *law, const double *q, bool two_sided,
                                  const od_friction_grid *grid, const od_friction_start *start, const double *along,
                                  int columns, double *dforce);

// Compute the results of od_friction_drive() and od_friction_drive_slopes() node by node, for laws outside the LuGre family and
// for signals that vary. Each column of derivatives requires one run in complex numbers.
od_status od_friction_drive_nodes(const od_friction_law *law, const double *q, bool two_sided,
                                  const od_friction_grid *grid, const od_friction_start *start,
                                  const od_friction_motion *out);
od_status od_friction_node_slopes(const od_friction_law *law, const double *q, bool two_sided,
                                  const od_friction_grid *grid, const od_friction_start *start, int columns,
                                  const int *number, double *force, double *dforce);

#endif
