// An incremental encoder: edges in equal distances along a position, each of which is counted and timed when it passes.
//
// Edge k lies at (k + 1/2) pitch, moved by an error of its own that stays the same. The count is that of the edges below the
// position, so that pitch times count is the nearest multiple of the pitch. A velocity is what the last edges tell: the distance between
// them over the time between them, both as the counter and the timer have them. It stays until the next edge passes.
#ifndef OD_EXPERIMENT_ENCODER_H
#define OD_EXPERIMENT_ENCODER_H

#include <stdbool.h>
#include <stdint.h>

enum { OD_MOST_ENCODER_EDGES = 64 };

typedef struct od_encoder {
  double pitch;        // 0: there is no encoder
  double timer;        // s: times are counted in these; 0: exact
  double pulse_error;  // edges lie so much beside their places at most
  double standstill;   // s: without an edge for so long the velocity is zero; 0: it stays
  int edges;           // so many distances between edges make a velocity
} od_encoder;

// What an encoder remembers.
typedef struct od_encoder_memory {
  uint64_t seed;    // of the edges' errors
  uint32_t stream;  // the same for all sensors that read one encoder
  bool begun;
  double t, x, v;                           // of the last sample
  double time[OD_MOST_ENCODER_EDGES + 1];   // when the last edges passed, in units of the timer;
  double place[OD_MOST_ENCODER_EDGES + 1];  // their numbers; a ring
  long passed;                              // edges so far
} od_encoder_memory;

// The count at a position.
double od_encoder_count(const od_encoder *e, const od_encoder_memory *m, double x);
// The velocity that is read at time t, where position and velocity are x and v. Between samples the position is the cubic that they
// define. The first sample is where it stands when it is switched on: nothing has passed yet, and it reads zero.
double od_encoder_velocity(const od_encoder *e, od_encoder_memory *m, double t, double x, double v);

#endif
