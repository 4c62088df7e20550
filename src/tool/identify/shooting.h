// Multiple shooting of one fitted set: its rows are cut into segments, each predicted from a state of its own, the node. That
// states at the ends of segments are those at the next nodes (continuity) is an equation of the fit, so that
// predictions stay near the data long before the parameters are right, however unstable the machine is.
//
//   x(t_(k+1); t_k, s_k, p) - s_(k+1) = 0,    k = 0 .. segments - 2
//
// At every point of the search the nodes are eliminated: for each change of the parameters there is one change of all
// nodes that keeps continuity to first order and fits the data best. What it costs grows with the number of segments, not with its
// square or cube.
#ifndef OD_IDENTIFY_SHOOTING_H
#define OD_IDENTIFY_SHOOTING_H

#include "oleodyn/least_squares.h"
#include "predict/predict.h"

// The linear equations between nodes, in units of their sizes. For each of `columns` right-hand sides: least squares over
// all segments of |R_k z_k + c_k| with z_(k+1) = F_k z_k + h_k. The first node is fixed at 0, or free.
typedef struct od_chain {
  int nodes, nx, columns;
  bool free_start;
  double *R;         // nodes x nx x nx: triangles of each segment's rows by its node
  double *c;         // nodes x nx x columns
  double *F, *h;     // nodes x nx x nx, nodes x nx x columns; those of the last node are not read
  double *z;         // nodes x nx x columns: the solution
  double tightness;  // weight of continuity
  double *memory;    // od_chain_memory() doubles
} od_chain;
size_t od_chain_memory(int nodes, int nx, int columns);
// False: there is no finite solution.
bool od_chain_solve(od_chain *chain);

typedef struct od_shooting {
  int nodes, nx, np, ny;
  int *row;                    // nodes + 1: the first row of each segment; then the end of all rows
  long fitted;                 // rows that count
  od_predictor *first, *next;  // the set's own predictor serves the first segment, this one all others
  bool free_start;
  double *node, *trial;   // nodes x nx: accepted, and of a trial
  double *at;             // the nodes that predictions begin at: one of both
  double *x;              // np: where the accepted nodes belong
  double *gap;            // nodes x nx: what is missing at the end of each segment
  double *size, *weight;  // nx: sizes of states; what a gap of 1 is in residuals
  double *F, *G;          // nodes x nx x nx, nodes x nx x np: derivatives of the states at the ends
  double *y, *dy;         // rows x ny, rows x ny x (np + nx); of the first segment with a start that is not free np
  double *projected;      // rows x ny x np: derivatives with the nodes eliminated
  double *shift;          // rows x ny: what closing the gaps does
  double *response, *trial_response;  // nodes x nx x (np + 1): changes of nodes by parameters, then by closing the gaps
  double *y_end, *dy_end;             // a row of outputs that belongs to the next segment
  double *end, *S;                    // the state at an end, and its derivatives
  od_chain chain;
} od_shooting;

// The data that nodes are fitted to: what sensors said (rows x ny, NAN: nothing), and their sigmas.
typedef struct od_shooting_data {
  const double *y, *sigma;
  od_ls_loss loss;
  double loss_scale;
} od_shooting_data;

// `first` is the predictor of the set as the fit has it, `next` one with all states free, which the shooting then owns.
// segments: of the fitted rows.
typedef struct od_shooting_of {
  int segments;
  long rows, fitted;
  int nx, np, ny;
  od_predictor *first, *next;
  bool free_start;
  double *y;  // rows x ny, where predictions go
} od_shooting_of;
od_status od_shooting_new(const od_shooting_of *of, od_shooting **out, od_error *err);
void od_shooting_free(od_shooting *s);

// Where nodes begin: each at the end of the segment before, moved towards the data of its own segment (shooting_start.c).
od_status od_shooting_begin(od_shooting *s, const double *p, const double *x0, const od_shooting_data *data);
// Predicts all segments from the nodes `at`; derivatives if wanted.
od_status od_shooting_predict(od_shooting *s, const double *p, bool derivatives);
// After a prediction with derivatives: eliminates the nodes. Fills projected, shift and trial_response.
od_status od_shooting_eliminate(od_shooting *s, const od_shooting_data *data);
// The trial's nodes for parameters p, with a part of the gaps closed. And: the trial is accepted.
void od_shooting_move(od_shooting *s, const double *p, double part);
void od_shooting_accept(od_shooting *s, const double *p);
// How far all gaps are open, in units of residuals.
double od_shooting_gap(const od_shooting *s);
// What a prediction with other steps changes, once continuity is restored: y has it and gaps are its own; the
// derivatives are those of the last elimination. change: rows x ny.
od_status od_shooting_change(od_shooting *s, const od_shooting_data *data, const double *before, double *change);

#endif
