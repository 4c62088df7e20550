// A speed over time made of pieces, as on friction test benches: each piece has a final value and a shape.
#ifndef OD_VELOCITY_RUN_H
#define OD_VELOCITY_RUN_H

typedef enum od_velocity_shape {
  OD_VELOCITY_HOLD,         // constant
  OD_VELOCITY_RAMP,         // to `value` along a straight line
  OD_VELOCITY_HALF_COSINE,  // to `value` along half a cosine
  OD_VELOCITY_LAG,          // to `value` exponentially, with time constant `number`
  OD_VELOCITY_SINE,         // amplitude `value`, frequency `number`, around the initial speed
  OD_VELOCITY_JUMP,         // to `value` immediately
  OD_VELOCITY_SHAPES
} od_velocity_shape;
extern const char *const od_velocity_shapes[];  // names of the shapes in files, terminated by NULL

typedef struct od_velocity_piece {
  od_velocity_shape shape;
  double value, number, time;
} od_velocity_piece;

enum { OD_MOST_PIECES = 200 };
typedef struct od_velocity_run {
  double step;  // s between samples
  int pieces;
  od_velocity_piece piece[OD_MOST_PIECES];
} od_velocity_run;

double od_velocity_run_time(const od_velocity_run *run);
int od_velocity_run_samples(const od_velocity_run *run);
// Computes the speed at `count` increasing times. `part`, unless NULL, receives the index of the piece at each time.
void od_velocity_run_sample(const od_velocity_run *run, int count, const double *t, double *v, int *part);

#endif
