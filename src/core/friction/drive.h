// A friction law alone, driven by a speed over time: the force at every sample, and its exact derivatives by the numbers of the
// law. Nothing is allocated; memory is the caller's.
//
// Between two nodes of the grid the speed is a straight line; s is its direction. The grid has nodes at all samples, and where the
// speed changes its sign. Film and bristles (lugre_family.h) go from node to node exponentially:
//
// Film: hss is taken as a straight line in time, so that with E = exp(-dt/tau)
//   h1 = hss1 + (h0 - hss0) E - (hss1 - hss0) (1 - E) tau/dt
// It grows where it is below the mean of both hss; it rests where both speeds are zero.
// Bristles: over the distance |dx|, with g as a straight line in it, a = sigma_0 |dx|/g in the mean and E = exp(-a)
//   y1 = s g1 + (y0 - s g0) E - s (g1 - g0) (1 - E)/a
// Parameters that follow a signal are those of each node; the film has the mean rate of both ends of a step.
// Both are of second order, and right in the limit of any stiffness: y then follows s g with its lag. Steps are chosen by the speed
// alone.
#ifndef OD_FRICTION_DRIVE_H
#define OD_FRICTION_DRIVE_H

#include <stddef.h>

#include "friction/law.h"
#include "oleodyn/status.h"

typedef struct od_friction_grid {
  int nodes, samples;
  const double *t, *v;
  const double *log_speed, *film_power;   // log |v|, very negative at rest; |v|^(2/3)
  const double *distance, *per_distance;  // twice the distance to the next node; its reciprocal, 0 where there is none
  const int *sample;                      // the sample that a node is, or -1
  const int *run;                         // how many steps from here on have one direction, and all rest or none
  const int *even;                        // how many have one duration, but for rounding
} od_friction_grid;

// Bytes of memory that a grid needs; and the grid over so many samples with increasing times. OD_BAD_ARGUMENT: times do not
// increase, or numbers are not finite.
size_t od_friction_grid_size(int samples);
od_status od_friction_grid_make(od_friction_grid *grid, void *memory, int samples, const double *t, const double *v);

// What the run begins with.
typedef struct od_friction_start {
  double bristle, film;   // N, 1
  double signal;          // what the law's factor or load is multiplied by; 1 where there is no such signal
  const double *signals;  // the same at every sample, a straight line in between; NULL: `signal` all along
} od_friction_start;

// What comes out, each an array with an entry per sample, or NULL.
typedef struct od_friction_motion {
  double *force, *bristle, *film;
} od_friction_motion;

// OD_NOT_FINITE: a number made the force infinite or not a number.
od_status od_friction_drive(const od_friction_law *law, const double *q, bool two_sided, const od_friction_grid *grid,
                            const od_friction_start *start, const od_friction_motion *out);
od_status od_friction_drive_complex(const od_friction_law *law, const double _Complex *q, bool two_sided,
                                    const od_friction_grid *grid, const od_friction_start *start,
                                    double _Complex *force);

// The force with its derivatives by some numbers of the law: dforce has a row of `columns` entries per sample. `work` has
// od_friction_slopes_work() doubles.
enum { OD_MOST_DRIVE_COLUMNS = 32 };
size_t od_friction_slopes_work(int columns);
od_status od_friction_drive_slopes(const od_friction_law *law, const double *q, bool two_sided,
                                   const od_friction_grid *grid, const od_friction_start *start, int columns,
                                   const int *number, double *work, double *force, double *dforce);

// The derivative of the force along a change of the signal: by e, where the signal at every sample is what `start` says, and e times the
// entry of `along` more. One column of dforce, whose rows have `columns` entries.
od_status od_friction_drive_along(const od_friction_law *law, const double *q, bool two_sided,
                                  const od_friction_grid *grid, const od_friction_start *start, const double *along,
                                  int columns, double *dforce);

// Node by node: what the two above do for laws outside the family and where there are signals. A column of derivatives is a complex run.
od_status od_friction_drive_nodes(const od_friction_law *law, const double *q, bool two_sided,
                                  const od_friction_grid *grid, const od_friction_start *start,
                                  const od_friction_motion *out);
od_status od_friction_node_slopes(const od_friction_law *law, const double *q, bool two_sided,
                                  const od_friction_grid *grid, const od_friction_start *start, int columns,
                                  const int *number, double *force, double *dforce);

#endif
