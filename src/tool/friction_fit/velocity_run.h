// A speed over time made of pieces, as on friction test benches: each piece has a final value and a shape.
#ifndef OD_VELOCITY_RUN_H
#define OD_VELOCITY_RUN_H

typedef enum od_velocity_shape {
  OD_VELOCITY_HOLD,         // constant speed
  OD_VELOCITY_RAMP,         // straight line to `value`
  OD_VELOCITY_HALF_COSINE,  // half a cosine to `value`
  OD_VELOCITY_LAG,          // exponential approach to `value`, with time constant `number`
  OD_VELOCITY_SINE,         // sine around the initial speed, with amplitude `value` and frequency `number`
  OD_VELOCITY_JUMP,         // jump to `value`
  OD_VELOCITY_SHAPES
} od_velocity_shape;
extern const char *const od_velocity_shapes[];  // names of the shapes in files; the last entry is NULL

typedef struct od_velocity_piece {
  od_velocity_shape shape;
  double value, number;  // see od_velocity_shape; speeds and amplitudes in m/s, time constants in s, frequencies in Hz
  double time;           // duration, s
} od_velocity_piece;

enum { OD_MOST_PIECES = 200 };
typedef struct od_velocity_run {
  double step;  // sampling interval, s
  int pieces;
  od_velocity_piece piece[OD_MOST_PIECES];
} od_velocity_run;

// Return the duration of a run, s, and its number of samples, including the sample at time zero.
double od_velocity_run_time(const od_velocity_run *run);
int od_velocity_run_samples(const od_velocity_run *run);
// Computes the speed at `count` increasing times. `part`, unless NULL, receives the index of the piece at each time.
void od_velocity_run_sample(const od_velocity_run *run, int count, const double *t, double *v, int *part);

#endif
