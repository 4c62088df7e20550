// The inside of an estimate of accuracy; see accuracy.h.
#ifndef OD_SIMULATE_ACCURACY_STATE_H
#define OD_SIMULATE_ACCURACY_STATE_H

#include "simulate/accuracy.h"
#include "simulate/stability.h"

enum {
  OD_LONGEST_WINDOW = 32,  // steps that share a Jacobian
  OD_FLOW_LENGTHS = 4,     // flows that are kept, for steps of different lengths
  OD_DEEPEST_SPLIT = 3,    // a window may be halved so often
};

// What a step of one length does with errors.
typedef struct od_flow {
  double h;         // zero: not known
  double *inverse;  // of D, by columns
} od_flow;

// Steps are gathered in windows. At the end of a window its Jacobian is known at both ends, and with the mean of the two
// the error is carried through all steps of the window.
typedef struct od_window {
  double *J, *Ju;              // at its beginning,
  double *x, *f, *u;           // as the state, the rates and the inputs
  bool open;                   // all of this is known
  int steps, length;           // so far, and wanted
  double *before, *after, *h;  // of each step: its local error is G before + after; its length
  double *t, *x_end, *u_end;   // and where it ended
} od_window;

struct od_accuracy {
  const od_plant *plant;
  od_sim *sim, *shadow;
  const od_integrator *integrator;
  int nx, nu, ny, judged;
  bool lost;          // the estimate is no longer a state
  bool jumped;        // the next step begins with other inputs than the one before ended with
  double *e;          // the error of the state
  double *level;      // its largest parts when outputs were compared
  double *rate_size;  // the largest rates so far
  od_window window;
  double *J_end, *Ju_end, *f_end, *mean, *M, *scratch, *difference;
  double *J_inside[OD_DEEPEST_SPLIT];  // within the window, where it is split
  bool mean_is_start;                  // `mean` is the Jacobian at the window's beginning
  int *pivot;
  od_flow kept[OD_FLOW_LENGTHS];
  int oldest;
  long steps, windows, looks;
  int look_age;             // steps
  od_stability *stability;  // of rules that are not stable with any step
  double stable_step;       // the longest that was found to be stable everywhere
  double *y_shadow, *low, *high, *error, *at;
  double memory[];
};

#endif
