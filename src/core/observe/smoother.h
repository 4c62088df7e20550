// A window of earlier samples that is smoothed again and again, each time linearized at what the last time made of it: the inside
// of the relinearising filter (filter_relinearising.c).
//
// What is sought are the states and parameters s_0 at the window's start and the process noises w_k of its steps that make least
//
//   J = (s_0 - m)' P^-1 (s_0 - m) + sum w_k' Q_k^-1 w_k + sum (y_k - h(s_k))' R^-1 (y_k - h(s_k)),   s_k = f(s_k-1) + w_k
//
// A trajectory is told by its adjoints l_k (n each): s_0 = m - P l_0, w_k = -Q_k l_k. So neither P nor Q is inverted, and what
// has no noise stays so; the first two terms are l_0' P l_0 and l_k' Q_k l_k. A Kalman filter about a trajectory, followed by a
// backward pass, gives the adjoints that are best for the machine as linearized there: a step of the Gauss-Newton method. Where
// such a step raises J, it is shortened, all adjoints alike.
//
//   smoother_record.c    what is kept of each sample, and memory
//   smoother_start.c     the window's start: its prior, and the start of a trajectory
//   smoother_forward.c   the filter about a trajectory, sample by sample
//   smoother_backward.c  the adjoints, sample by sample
//   smoother_iterate.c   the safeguarded iteration, cut into pieces that can be spread over later samples
//
// Work is done on an observer of its own, the worker, while the live one goes on. All memory is in the block of the live observer
// and is laid out by offsets from the od_smoother.
#ifndef OD_SMOOTHER_H
#define OD_SMOOTHER_H

#include "observe/iterated_correction.h"

// Options of the filter, in their order.
enum { OD_SMOOTHER_WINDOW, OD_SMOOTHER_SPREAD, OD_SMOOTHER_WIDEN };
enum { OD_SMOOTHER_DEFAULT_WINDOW = 1024, OD_SMOOTHER_LEAST_WINDOW = 16, OD_SMOOTHER_MOST_WINDOW = 1000000 };

// A sample as it came: the step to it and what the sensors said then.
typedef struct od_window_sample {
  double *h;        // length of the step; zero: there was none
  double *u0, *u1;  // nu: inputs at its two ends
  double *Q,
      *q;  // nx x nx, np: process noise of the states, and variances of that of the parameters; one behind the other
  double *diagonal;  // whether it was told by its diagonal; behind them
  double *y;         // ny; NAN: missing or not believed
} od_window_sample;

// A sample as it was linearized last.
typedef struct od_window_slope {
  double *F;     // nx x n: the new state by the old one and the parameters
  double *note;  // see od_linear_note_doubles()
} od_window_slope;

typedef enum od_smoother_phase {
  OD_SMOOTHER_IDLE,      // samples are gathered, and the live observer linearizes them
  OD_SMOOTHER_BACKWARD,  // adjoints are found
  OD_SMOOTHER_FORWARD,   // a trajectory is tried
  OD_SMOOTHER_CATCH_UP,  // the window is done; the worker goes on to the present
} od_smoother_phase;

typedef struct od_smoother {
  int nx, np, ny, nu, n;
  int capacity;  // the most samples in a window
  int at_once;   // whether a window is finished when it is complete, not over later samples
  int widens;    // whether a start that cannot be true is taken for less certain
  // Samples are counted from the start.
  long first, last, due;  // the window's start; the latest sample; at which the next window is complete
  long origin;            // where windows began to grow
  long begun;             // since when the filter counts what it has seen
  int corrected;          // whether the latest sample has its sensors
  int open;               // whether the sensors of the window's first sample belong to the window
  long repartitions;      // of the live simulation
  int jumped;             // whether the state jumped before the step to come; see jump
  // The iteration.
  od_smoother_phase phase;
  long end, at;    // the window's last sample; how far the present phase has come
  double alpha;    // the trajectory tried lies so far from `now` to `next`
  double J, best;  // of the trajectory tried; of the one that is accepted
  long measured;   // how many values of sensors are in it
  double end_J;    // the same of the trajectory whose end is kept
  long end_measured;
  int accepted, passes;    // trajectories accepted; tried
  int comparing;           // whether another trajectory to begin with is tried
  int spare;               // whether `aside` is the one of two to begin with that was not taken
  int attempt;             // 1: from that, or from the prior's mean, 2: back to what was found before,
  double aside_J;          // which has this J; its adjoints are `aside`
  int restoring;           // whether slopes of an earlier trajectory are restored,
  long back_to;            // up to there
  int converged, widened;  // the last accepted one; whether the prior was
  long kept_end;           // up to there `now` has adjoints of an earlier window with the same start
  int has_end;             // whether a trajectory has been accepted; its end is kept
  int fresh;               // whether the slopes are those of it
  // Whether the filter has settled; see smoother_iterate.c
  int settled;
  double chi;           // J of the windows before,
  double chi_expected;  // and its expectation
  // Prior told in outputs: how many; zero: in states.
  int told;
  // Offsets in bytes.
  size_t sample, sample_doubles, slope, slope_doubles, now, next, aside;
  size_t worker, start_sim, sim_size, start_P, start_mean, start_bias;
  size_t end_sim, end_P, end_delta, end_bias;
  size_t live;                // od_iterated of the live observer
  size_t jump, jump_p;        // nx x nx, nx x np
  size_t lambda, work, Q, y;  // n; 10 n; n x n; ny
  // The process noise met last: as samples keep it (Q, q and diagonal of od_window_sample), and as a step is told it. It is the same in
  // all steps as a rule.
  size_t noise_kept, noise;
  int has_noise;
  size_t told_output, told_state, told_pivot, told_C, told_y, told_x, told_H;
} od_smoother;

static inline double *od_smoother_at(const od_smoother *s, size_t offset) {
  return (double *)((char *)s + offset);
}
static inline od_observer *od_smoother_worker(const od_smoother *s) {
  return (od_observer *)((char *)s + s->worker);
}
static inline od_iterated *od_smoother_live(const od_smoother *s) {
  return (od_iterated *)((char *)s + s->live);
}

// ---- smoother_record.c

size_t od_smoother_size(const od_plant *plant, const od_observer_options *options);
// Lays it out in the memory of an observer's filter, and makes the worker ready.
od_smoother *od_smoother_init(od_observer *o);
od_window_sample od_smoother_sample(const od_smoother *s, long k);
od_window_slope od_smoother_slope(const od_smoother *s, long k);
// Adds a sample without a step; its sensors are missing. False: there is no room.
bool od_smoother_add(od_smoother *s);
// Keeps the step that leads from the latest sample to a new one; u0: inputs before it. False: there is no room, or noise of a
// kind that is not kept.
bool od_smoother_add_step(od_smoother *s, double h, const double *u0, const double *u, const double *Q,
                          const double *q);
// The process noise of a sample as it was told, to the bit: n x n, or n where it was a diagonal.
const double *od_smoother_noise(od_smoother *s, od_window_sample e);
// What was linearized in the step that observer o has just taken, after a jump or not.
void od_smoother_keep_slope(od_smoother *s, const od_observer *o, long k);
// The sensors of a correction that follows are noted at sample k.
void od_smoother_note(od_smoother *s, od_observer *o, long k);

// ---- smoother_start.c

// The window begins at the present estimate of o, at the latest sample.
void od_smoother_begin_here(od_smoother *s, od_observer *o);
// The covariance of the start is that of outputs.
od_status od_smoother_tell_start(od_smoother *s, od_observer *o);
// From a trajectory's adjoint at the start (n): puts the worker there, with the prior as seen from there.
od_status od_smoother_go_to_start(od_smoother *s, const double *lambda);
// The adjoint at the start as it is kept: of the outputs, where those tell the prior, and such that parameters are within their
// bounds.
void od_smoother_keep_start(od_smoother *s, double *lambda);
// Where mean + delta (n each) has parameter i beyond its bound, delta becomes what is expected of it with the parameter at the bound,
// given the covariance b. Returns by how much the adjoint of the parameter changes with that.
double od_smoother_stay_within(const od_smoother *s, const od_covariance *b, int i, const double *mean, double *delta);
// Whether the trajectory tried last begins too far from the prior.
bool od_smoother_start_is_far(od_smoother *s);
// Widens the prior where the start with this adjoint is too far from it; the adjoint becomes that of the same start then.
void od_smoother_widen_start(od_smoother *s, double *lambda);

// ---- smoother_forward.c

// The worker takes the step to sample k; see od_linear_predict_and_shift().
od_status od_smoother_predict(od_smoother *s, long k, const double *dx);
// The trajectory that is tried goes on to sample k, and the filter about it; k = first: it begins.
od_status od_smoother_forward(od_smoother *s, long k);
// The worker catches up with sample k, as the live observer would have taken it.
od_status od_smoother_catch_up(od_smoother *s, long k);
// The adjoint of the trajectory that is tried.
void od_smoother_trial(const od_smoother *s, long k, double *lambda);

// ---- smoother_backward.c

// One sample back. The adjoints that were tried become `now`, where they are accepted; the new ones are `next`.
void od_smoother_backward(od_smoother *s, long k);

// ---- smoother_iterate.c

// Sees whether a window is complete.
void od_smoother_look(od_smoother *s);
// Goes on with the work by as much as one sample may cost; where it is done, the live observer is replaced.
void od_smoother_work(od_smoother *s, od_observer *o);
// Gives up what is being done; windows begin anew at the present estimate of o.
void od_smoother_cut(od_smoother *s, od_observer *o);
// The same, and what was before counts no longer.
void od_smoother_restart(od_smoother *s, od_observer *o);

#endif
