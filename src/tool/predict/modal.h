// Internal data of a prediction by modes, shared by eigenmodes.c (poles, residues and their derivatives) and modal.c
// (recursions and sums).
#ifndef OD_MODAL_H
#define OD_MODAL_H

#include <complex.h>
#include <lapacke.h>

#include "predict/predictor.h"

typedef double _Complex od_complex;

enum { OD_MODAL_POINTS = 4 };  // number of points at which transfer functions are compared

// Channels are real numbers with a recursion from sample to sample: two channels per pair of complex poles (real and
// imaginary part of s), one channel per real pole. Channel c is coupled only to channel c ^ 1:
//   s_c <- a_c s_c + b_c s_(c^1) + g0_c u_k + g1_c u_(k+1)
struct od_modal {
  int channels;  // number of channels per drive: nx, rounded up to an even number
  int drives;    // number of drives: inputs that affect the states, and the initial state
  int inputs;    // number of inputs among the drives
  int width;     // width of a row of channels: drives * channels, doubled with sensitivities, plus the inputs
  int padded;    // number of columns, rounded up to a multiple of TILE
  od_complex *lambda, *V, *W;            // poles, columns v_j and rows w_j
  od_complex *cv, *wb, *dwb, *coupling;  // C v_j; w_j b_d; derivative of w_j b_d; W dA V
  od_complex *r, *dr, *moved;            // residues; dr and r dlambda for one parameter
  double *a, *b, *g0, *g1, *h0, *h1;     // coefficients of the recursions; h0, h1: dg/dlambda
  double *leap_a, *leap_b;               // coefficients of recursions over e samples at once: E^e in place of a and b
  double *leap,
      *leap_row;  // contributions of each input between two requested samples: values, then rates; leap_row: two such
                  // rows
  double *weight, *weights;  // weights of channels in y (ny x width), and in dy (ny x width x padded)
  double *rows;              // BLOCK + TILE rows of channels
  double *real, *imaginary, *left, *right, *matrix, *work;
  double *solve, *answers, *adjoint;
  lapack_int work_size;
};

// Returns whether mode j is the conjugate of another mode. A pair is counted once, as twice its real part.
static inline bool is_conjugate(const od_modal *m, int j) {
  return cimag(m->lambda[j]) < 0;
}
static inline double multiplicity(const od_modal *m, int j) {
  return cimag(m->lambda[j]) != 0 ? 2 : 1;
}

// eigenmodes.c: computes eigenvectors and residues for the outputs. Returns false if the residues are inaccurate.
bool od_modes_find(od_predictor *pr);
// Computes dr and moved: the derivatives of the residues and poles with respect to column c of the sensitivities. Returns
// false if the derivatives are inaccurate.
bool od_modes_differentiate(od_predictor *pr, int c);

#endif
