// An incremental encoder: edges at equal distances along a position. Each edge is counted and timed when it passes.
//
// Edge k is at (k + 1/2) pitch plus a constant error, which differs between edges. The count is the number of edges below the
// position, so pitch times count is the nearest multiple of the pitch. The velocity is the counted distance between the last
// edges divided by the measured time between these edges. The velocity is held until the next edge passes.
#ifndef OD_EXPERIMENT_ENCODER_H
#define OD_EXPERIMENT_ENCODER_H

#include <stdbool.h>
#include <stdint.h>

enum { OD_MOST_ENCODER_EDGES = 64 };

typedef struct od_encoder {
  double pitch;        // distance between edges, SI; 0: no encoder
  double timer;        // resolution of the timer, s; 0: exact
  double pulse_error;  // largest error of the position of an edge, SI
  double standstill;   // time without an edge after which the velocity is zero, s; 0: the velocity is held
  int edges;           // number of distances between edges from which a velocity is computed
} od_encoder;

// The state of an encoder between samples.
typedef struct od_encoder_memory {
  uint64_t seed;    // seed of the errors of the edges
  uint32_t stream;  // stream of random numbers; equal for all sensors that read one encoder
  bool has_begun;
  double t, x, v;                           // time, position and velocity at the last sample
  double time[OD_MOST_ENCODER_EDGES + 1];   // ring buffer: times of the last edges, in ticks of the timer (no timer: s)
  double place[OD_MOST_ENCODER_EDGES + 1];  // ring buffer: indices k of the last edges
  long passed;                              // number of edges so far
} od_encoder_memory;

// Returns the count of the encoder at the position x.
double od_encoder_count(const od_encoder *e, const od_encoder_memory *m, double x);
// Returns the measured velocity at time t, with position x and velocity v. Between two samples the position is the cubic
// polynomial through the positions and velocities at both samples. The encoder is switched on at the first sample: no edge has
// passed. The velocity is zero until two edges have passed. NAN: v is not finite, or x is beyond 2^50 pitches.
double od_encoder_velocity(const od_encoder *e, od_encoder_memory *m, double t, double x, double v);

#endif
