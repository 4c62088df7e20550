// Multiple shooting of one fitted set. The rows of the set are divided into segments. Each segment is predicted from its own
// initial state, the node. Continuity is an equation of the fit: the state at the end of a segment equals the next node.
// Predictions therefore stay near the data while the parameters are still wrong, even for unstable machines.
//
//   x(t_(k+1); t_k, s_k, p) - s_(k+1) = 0,    k = 0 .. segments - 2
//
// At each point of the search the nodes are eliminated. Each change of the parameters determines a change of all nodes: the change
// that keeps continuity to first order and fits the data best. The effort is linear in the number of segments.
#ifndef OD_IDENTIFY_SHOOTING_H
#define OD_IDENTIFY_SHOOTING_H

#include "oleodyn/least_squares.h"
#include "predict/predict.h"

// The linear equations between nodes, in units of the sizes of states. For each of `columns` right-hand sides,
// od_chain_solve() minimizes the sum of squares of |R_k z_k + c_k| over all segments, with z_(k+1) = F_k z_k + h_k. The
// first node is fixed at 0, or free (`free_start`).
typedef struct od_chain {
  int nodes, nx, columns;
  bool free_start;
  double *R;         // nodes x nx x nx: triangles of each segment's rows with respect to its node
  double *c;         // nodes x nx x columns
  double *F, *h;     // nodes x nx x nx, nodes x nx x columns; entries of the last node are not used
  double *z;         // nodes x nx x columns: the solution
  double tightness;  // weight of continuity
  double *memory;    // od_chain_memory() doubles
} od_chain;
size_t od_chain_memory(int nodes, int nx, int columns);
// Solves the equations into z. Returns false if the solution is not finite.
bool od_chain_solve(od_chain *chain);

typedef struct od_shooting {
  od_arena arena;
  int nodes, nx, np, ny;
  int *row;                    // nodes + 1: the first row of each segment; the last entry is the end of all rows
  long fitted;                 // number of fitted rows
  od_predictor *first, *next;  // predictor of the first segment (the set's own), and of all other segments
  bool free_start;
  double *node, *trial;   // nodes x nx: accepted nodes, and nodes of a trial
  double *at;             // the nodes of the current prediction: `node` or `trial`
  double *x;              // np: the parameters of the accepted nodes
  double *gap;            // nodes x nx: discontinuity at the end of each segment
  double *size, *weight;  // nx each: sizes of states; weights of unit gaps, in units of residuals
  double *F, *G;          // derivatives of the state at the end of each segment: nodes x nx x nx, nodes x nx x np
  // Predictions, rows x ny, and derivatives of the predictions, rows x ny x (np + nx). A first segment with a given
  // start has only np columns.
  double *y, *dy;
  double *projected;                  // rows x ny x np: derivatives with the nodes eliminated
  double *shift;                      // rows x ny: change of the predictions by closing the gaps
  double *response, *trial_response;  // nodes x nx x (np + 1): changes of nodes per parameter, then by closing the gaps
  double *end, *S;                    // state at the end of a segment, and derivatives of this state
  od_chain chain;
} od_shooting;

// The data to which nodes are fitted: sensor values (rows x ny, NAN: no value), their sigmas, and the loss.
typedef struct od_shooting_data {
  const double *y, *sigma;
  od_ls_loss loss;
  double loss_scale;
} od_shooting_data;

// `first` is the predictor of the set in the fit. `next` is a predictor with all states free; on success the shooting owns `next`.
// segments: number of segments of the fitted rows. od_shooting_new() fails with OD_NO_MEMORY.
typedef struct od_shooting_of {
  int segments;
  long rows, fitted;
  int nx, np, ny;
  od_predictor *first, *next;
  bool free_start;
  double *y;  // rows x ny, receives predictions
} od_shooting_of;
od_status od_shooting_new(const od_shooting_of *of, od_shooting **out, od_error *err);
void od_shooting_free(od_shooting *s);

// Computes the initial nodes: each node is the end of the previous segment, moved toward the data of its own segment.
// Returns OD_NOT_AVAILABLE if the machine changes its coordinates. Also fails with a status of od_predict().
od_status od_shooting_begin(od_shooting *s, const double *p, const double *x0, const od_shooting_data *data);
// Predicts all segments from the nodes `at`, with derivatives if requested. Fails with OD_NOT_AVAILABLE if the machine changes its
// coordinates, or with a status of od_predict().
od_status od_shooting_predict(od_shooting *s, const double *p, bool derivatives);
// Eliminates the nodes. Call after a prediction with derivatives. Fills projected, shift and trial_response. Fails with
// OD_NOT_FINITE or OD_NO_MEMORY.
od_status od_shooting_eliminate(od_shooting *s, const od_shooting_data *data);
// The first function computes the trial's nodes for parameters p, with a fraction `part` of the gaps closed. The second
// function accepts the trial.
void od_shooting_move(od_shooting *s, const double *p, double part);
void od_shooting_accept(od_shooting *s, const double *p);
// Returns the weighted sum of the magnitudes of all gaps, in units of residuals.
double od_shooting_gap(const od_shooting *s);
// Computes the change of a prediction with other steps, after continuity is restored. y and the gaps belong to the new prediction,
// the derivatives to the last elimination. before: the previous prediction. change: rows x ny. Fails with OD_NOT_FINITE or
// OD_NO_MEMORY.
od_status od_shooting_change(od_shooting *s, const od_shooting_data *data, const double *before, double *change);

#endif
