// The core of the relinearizing filter (filter_relinearizing.c): smooths a window of earlier samples repeatedly, each time
// linearized at the previous result.
//
// The unknowns are the states and parameters s_0 at the window's start and the process noises w_k of its steps. These unknowns
// minimize
//
//   J = (s_0 - m)' P^-1 (s_0 - m) + sum w_k' Q_k^-1 w_k + sum (y_k - h(s_k))' R^-1 (y_k - h(s_k)),   s_k = f(s_k-1) + w_k
//
// A trajectory is represented by its adjoints l_k (n each): s_0 = m - P l_0, w_k = -Q_k l_k. So neither P nor Q is inverted, and
// quantities without noise are allowed. The first two terms are l_0' P l_0 and l_k' Q_k l_k. A Kalman filter about a trajectory,
// followed by a backward pass, gives the optimal adjoints for the machine linearized about the trajectory: a step of the
// Gauss-Newton method. If such a step increases J, the same factor shortens the steps of all adjoints.
//
//   smoother_record.c    records of samples, and memory
//   smoother_start.c     the window's start: its prior, and the start of a trajectory
//   smoother_forward.c   the filter about a trajectory, sample by sample
//   smoother_backward.c  the adjoints, sample by sample
//   smoother_iterate.c   the safeguarded iteration, divided into pieces that can be spread over later samples
//   smoother_plain.c     the plain filter, which replaces the live observer if the samples do not fit the model
//   smoother_save.c      saved states
//
// A separate observer, the worker, smooths the window while the live observer continues. All memory is in the block of the live
// observer; offsets are relative to the od_smoother.
#ifndef OD_SMOOTHER_H
#define OD_SMOOTHER_H

#include "observe/iterated_correction.h"

// Indices of the filter's options.
enum { OD_SMOOTHER_WINDOW, OD_SMOOTHER_SPREAD, OD_SMOOTHER_WIDEN };
enum { OD_SMOOTHER_DEFAULT_WINDOW = 1024, OD_SMOOTHER_LEAST_WINDOW = 16, OD_SMOOTHER_MOST_WINDOW = 1000000 };

// A raw sample: the step that leads to the sample, and the sensors' values.
typedef struct od_window_sample {
  double *h;         // length of the step, s; zero: no step
  double *u0, *u1;   // nu: inputs at the start and end of the step
  double *Q, *q;     // nx x nx, np: process noise of states, variances of the parameters' noise; contiguous
  double *diagonal;  // whether the noise was given by its diagonal; stored after Q and q
  double *y;         // ny: values of the sensors; NAN: missing or rejected
} od_window_sample;

// The last linearization of a sample of the window.
typedef struct od_window_slope {
  double *F;     // nx x n: derivatives of the new state with respect to the old state and the parameters
  double *note;  // see od_linear_note_doubles()
} od_window_slope;

typedef enum od_smoother_phase {
  OD_SMOOTHER_IDLE,      // samples are collected, and the live observer linearizes them
  OD_SMOOTHER_BACKWARD,  // adjoints are computed
  OD_SMOOTHER_FORWARD,   // a trajectory is tried
  OD_SMOOTHER_CATCH_UP,  // the window is done; the worker continues to the latest sample
} od_smoother_phase;

typedef struct od_smoother {
  int nx, np, ny, nu, n;
  int capacity;  // largest number of samples in a window
  int at_once;   // whether a complete window is smoothed at once, instead of during later samples
  int widens;    // whether a prior is widened if the smoothed start contradicts the prior

  // The fields from here to `has_noise` are saved with a state (smoother_save.c). Samples are numbered from the start.
  long first, last, due;  // the window's start; the latest sample; the sample that completes the next window
  long origin;            // the common start of the growing windows
  long begun;             // the first sample since the filter was started or restarted
  int corrected;          // whether the sensors of the latest sample have been applied
  int open;               // whether the sensors of the window's first sample belong to the window
  long repartitions;      // repartitions of the live simulation so far, to detect another repartition
  int jumped;             // whether the state jumped before the next step; the derivatives are at `jump`

  // The iteration.
  int phase;                  // od_smoother_phase
  long end, at;               // the window's last sample; the current sample of the phase
  double alpha;               // position of the tried trajectory between `now` (0) and `next` (1)
  double J, best;             // J of the tried trajectory; J of the accepted trajectory
  double prior_J;             // part of J of the tried trajectory: the cost of the start
  long measured;              // number of sensor values in J
  double end_J, end_prior_J;  // J and prior_J of the trajectory whose end is stored
  long end_measured;
  int accepted, passes;  // numbers of accepted and tried trajectories
  int comparing;         // whether another starting trajectory is tried
  int spare;             // whether `alternative` is the starting trajectory that was not taken
  int attempt;  // 0: first search; 1: search from `alternative` or the prior's mean; 2: return to the first result
  double alternative_J;    // J of the first result, whose adjoints are `alternative`
  int restoring;           // whether derivatives of an earlier trajectory are restored
  long back_to;            // the sample up to which the derivatives are restored
  int converged, widened;  // whether the last accepted trajectory converged; whether the prior was widened
  long kept_end;           // the sample up to which `now` has adjoints of an earlier window with the same start
  int has_end;             // whether a trajectory has been accepted and its end is stored
  int fresh;               // whether the derivatives belong to the accepted trajectory

  // Whether the filter has settled; see smoother_iterate.c
  int settled;
  double chi;           // decaying sum of J over the preceding windows
  double chi_expected;  // expected value of chi
  double chi_samples;   // chi without the cost of starts that the user's prior defines

  // The plain filter; see smoother_plain.c
  int has_plain;  // whether the plain filter differs from the live observer
  int fell_back;  // whether the live observer is the plain filter, because the samples do not fit the model

  // Number of outputs that define the prior; zero: states define the prior.
  int declared;
  int has_noise;  // whether the last process noise is known

  // Offsets in bytes.
  size_t sample, sample_doubles, slope, slope_doubles, now, next, alternative;
  size_t worker, plain, start_sim, sim_size, start_P, start_mean, start_bias;
  size_t end_sim, end_P, end_delta, end_bias;
  size_t live;                // od_iterated of the live observer
  size_t jump, jump_p;        // nx x nx, nx x np
  size_t lambda, work, Q, y;  // n; 10 n; n x n; ny

  // The last process noise: in the form of samples (Q, q and diagonal of od_window_sample), and in the form of a step. The
  // noise is usually the same in all steps.
  size_t noise_kept, noise;
  size_t declared_output, declared_state, declared_pivot, declared_C, declared_y, declared_x, declared_H;
} od_smoother;

static inline double *od_smoother_at(const od_smoother *s, size_t offset) {
  return (double *)((char *)s + offset);
}
static inline od_observer *od_smoother_worker(const od_smoother *s) {
  return (od_observer *)((char *)s + s->worker);
}
static inline od_observer *od_smoother_plain(const od_smoother *s) {
  return (od_observer *)((char *)s + s->plain);
}
static inline od_iterated *od_smoother_live(const od_smoother *s) {
  return (od_iterated *)((char *)s + s->live);
}

// ---- smoother_record.c

// Returns the size of the smoother's memory in bytes, including its worker and its plain filter.
size_t od_smoother_size(const od_plant *plant, const od_observer_options *options);
// Initializes the smoother, in the memory of an observer's filter, its worker and its plain filter.
od_smoother *od_smoother_init(od_observer *o);
// Return the addresses of the data of sample k of the window, and of the derivatives of the step to this sample.
od_window_sample od_smoother_sample(const od_smoother *s, long k);
od_window_slope od_smoother_slope(const od_smoother *s, long k);
// Adds a sample without a step; its sensors are missing. Returns false if the memory is full.
bool od_smoother_add(od_smoother *s);
// Records the step from the latest sample to a new sample; u0: inputs before the step. Returns false if the memory is full, or if
// the noise cannot be stored.
bool od_smoother_add_step(od_smoother *s, double h, const double *u0, const double *u, const double *Q,
                          const double *q);
// Returns the process noise of a sample exactly as it was given: n x n, or n for a diagonal.
const double *od_smoother_noise(od_smoother *s, od_window_sample e);
// Stores the derivatives of the step that observer o has just taken, including a jump before the step.
void od_smoother_keep_slope(od_smoother *s, const od_observer *o, long k);
// Records the sensors of the next correction at sample k.
void od_smoother_note(od_smoother *s, od_observer *o, long k);

// Returns the largest number of raw samples between the window's start and the latest sample.
long od_smoother_most_samples(const od_smoother *s);

// ---- smoother_save.c

struct od_pieces;
void od_smoother_transfer(od_observer *o, struct od_pieces *t);

// ---- smoother_start.c

// Begins a window at the latest sample, with the current estimate of o.
void od_smoother_begin_here(od_smoother *s, od_observer *o);
// Copies the initial covariance in terms of outputs, if od_observer_declare_start() has set such a covariance and as many states have a
// positive initial variance. If the derivatives of these outputs are singular, states define the prior. Fails with the status of the
// plant.
od_status od_smoother_take_declared_start(od_smoother *s, od_observer *o);
// Moves the worker to the start that a trajectory's adjoint (n) defines, and converts the prior to this point.
od_status od_smoother_go_to_start(od_smoother *s, const double *lambda);
// Converts the adjoint at the start to its stored form. If outputs define the prior, this is the adjoint of the outputs. Parameters
// stay within their bounds.
void od_smoother_keep_start(od_smoother *s, double *lambda);
// If parameter i of mean + delta (n each) exceeds a bound, sets delta to its conditional expectation with this parameter at the
// bound. b: covariance. Returns the change of the parameter's adjoint.
double od_smoother_stay_within(const od_smoother *s, const od_covariance *b, int i, const double *mean, double *delta);
// Returns whether the start of the last tried trajectory is far from the prior: an output, state or parameter with a positive prior
// variance is more than five standard deviations away (far_sigmas in smoother_start.c).
bool od_smoother_start_is_far(od_smoother *s);
// Widens the prior of each quantity by which the start with this adjoint (n) is far from the prior, as in
// od_smoother_start_is_far(). Changes the adjoint so that it still defines the same start.
void od_smoother_widen_start(od_smoother *s, double *lambda);

// ---- smoother_forward.c

// Applies a jump of sampled blocks to the state and the covariance of w: the worker or the plain filter.
od_status od_smoother_jump(od_smoother *s, od_observer *w);
// Takes the worker's step to sample k; see od_linear_predict_and_shift().
od_status od_smoother_predict(od_smoother *s, long k, const double *dx);
// Propagates the tried trajectory, and the filter about it, to sample k; k = first: the start.
od_status od_smoother_forward(od_smoother *s, long k);
// Propagates the worker to sample k, as the live observer would.
od_status od_smoother_catch_up(od_smoother *s, long k);
// Computes the adjoint lambda (n) of the tried trajectory at sample k.
void od_smoother_trial(const od_smoother *s, long k, double *lambda);

// ---- smoother_backward.c

// Computes the backward pass over sample k. If the tried trajectory is accepted, its adjoint becomes `now`; the new adjoint is
// `next`.
void od_smoother_backward(od_smoother *s, long k);

// ---- smoother_plain.c

// Copies the estimate, its covariance and the state of the iterated correction from one observer to another.
void od_smoother_copy_estimate(const od_smoother *s, od_observer *from, const od_iterated *from_memory, od_observer *to,
                               od_iterated *to_memory);
// Stores the live observer as the plain filter.
void od_smoother_keep_plain(od_smoother *s, od_observer *o);
// Predicts the plain filter to the latest sample, with the process noise Q or q of the live observer.
void od_smoother_predict_plain(od_smoother *s, const double *Q, const double *q);
// Corrects the plain filter with the sensors of the latest sample.
void od_smoother_correct_plain(od_smoother *s);
// Replaces the live observer by the plain filter. The window is abandoned.
void od_smoother_fall_back(od_smoother *s, od_observer *o);
// Discards the plain filter; the live observer linearizes past samples again.
void od_smoother_discard_plain(od_smoother *s);

// ---- smoother_iterate.c

// Begins the iteration over the next window if the smoother is idle and all samples of this window have arrived.
void od_smoother_look(od_smoother *s);
// Performs the pieces of work on the window that are due at one sample. If the window is finished, the worker's
// estimate replaces the live estimate.
void od_smoother_work(od_smoother *s, od_observer *o);
// Abandons the window; windows begin again at the current estimate of o.
void od_smoother_cut(od_smoother *s, od_observer *o);
// Abandons the window as od_smoother_cut() does. The filter is no longer settled and counts its samples from this sample on.
void od_smoother_restart(od_smoother *s, od_observer *o);

#endif
