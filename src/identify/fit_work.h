// What one fit works with, shared by fit.c, which searches, and fit_quality.c, which judges.
#ifndef OD_IDENTIFY_FIT_WORK_H
#define OD_IDENTIFY_FIT_WORK_H

#include "identify/fit.h"

typedef struct od_fit_work {
  const od_fit_plan *plan;
  const od_fit_options *options;
  od_fitted *f;
  od_plant *plant;
  int np, nx, ns, ny, nu;
  int n;  // parameters and unknown initial states
  od_predictor **predictor;
  double **y, **dy;    // of each set
  double *derived_at;  // n: where dy was found; NAN: nowhere
  bool eager;          // the last trial was accepted, so that the next one's derivatives will be wanted
  double *x0;          // the plant's own initial state, and a trial's
  long m;              // residuals
  double *start, *low, *high;
  double *box_low, *box_high;  // where other starts are drawn; initial states begin at the model's
  bool left;                   // a trial went where a parameter is not possible
  double *left_at;             // n: that trial; NAN: none did
  int *every_state;
} od_fit_work;

// A set's prediction at x (parameters, then unknown initial states) into y, and dy if derivatives are wanted.
od_status od_fit_predict(const od_fit_work *w, int set, const double *x, bool derivatives);

// Fills f->set, f->start_fit, f->fit and, if wanted, the table.
od_status od_fit_judge_sets(od_fit_work *w, od_error *err);

#endif
