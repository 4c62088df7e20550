// The modes of a linear plant: poles, residues, and their derivatives with respect to the parameters. With W = V^-1,
//
//   A = V diag(lambda) W,   r_jd = (C v_j) (w_j b_d)
//   dlambda_j = w_j dA v_j,   dv_j = sum v_l (w_l dA v_j) / (lambda_j - lambda_l), l not j
//
// Derivatives of eigenvectors have differences of poles in their denominators. These derivatives are inaccurate if poles (nearly)
// coincide. The accuracy of the derivatives is therefore checked at a few points. At these points, the transfer
// functions from residues and poles, and their derivatives, must agree with the transfer functions from the matrices.
#include <math.h>
#include <string.h>

#include "math/dense.h"
#include "predict/modal.h"

static const double tolerance = 1e-11;  // relative tolerance of the transfer functions

// ---- Poles and eigenvectors

bool od_modal_poles(od_predictor *pr, double *largest_real_part) {
  od_modal *m = pr->modal;
  const od_linear *l = &pr->linear;
  int n = l->nx;
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) m->matrix[j * n + i] = l->A[i * n + j];
  if (!od_within(m->matrix, n * n, 1e300)) return false;
  if (LAPACKE_dgeev_work(LAPACK_COL_MAJOR, 'V', 'V', n, m->matrix, n, m->real, m->imaginary, m->left, n, m->right, n,
                         m->work, m->work_size) != 0)
    return false;
  *largest_real_part = -INFINITY;
  for (int j = 0; j < n; j++) *largest_real_part = fmax(*largest_real_part, m->real[j]);
  return true;
}

// Unpacks the eigenvectors. LAPACK packs the vectors of a pair into two columns. The rows of W are the left vectors, scaled
// such that w_j v_j = 1. Pairs come first, as lambda and its conjugate.
static void unpack(od_modal *m, int n) {
  int at = 0;
  for (int pass = 0; pass < 2; pass++)
    for (int j = 0; j < n; j++) {
      bool pair = m->imaginary[j] != 0;
      if (pair != (pass == 0)) continue;
      od_complex product = 0;
      for (int i = 0; i < n; i++) {
        od_complex v = m->right[j * n + i] + (pair ? I * m->right[(j + 1) * n + i] : 0);
        od_complex w = m->left[j * n + i] - (pair ? I * m->left[(j + 1) * n + i] : 0);
        m->V[i * n + at] = v, m->W[at * n + i] = w;
        product += w * v;
      }
      m->lambda[at] = m->real[j] + I * m->imaginary[j];
      for (int i = 0; i < n; i++) m->W[at * n + i] /= product;
      at++;
      if (!pair) continue;
      for (int i = 0; i < n; i++)
        m->V[i * n + at] = conj(m->V[i * n + at - 1]), m->W[at * n + i] = conj(m->W[(at - 1) * n + i]);
      m->lambda[at] = conj(m->lambda[at - 1]);
      at++, j++;
    }
}

// ---- Drives: columns of B, and the initial state

static double drive(const od_predictor *pr, int i, int d) {
  return d < pr->modal->inputs ? pr->linear.B[i * pr->linear.nu + d] : pr->x0[i];
}

// Returns the derivative of a drive with respect to column c of the sensitivities.
static double drive_rate(const od_predictor *pr, int i, int d, int c) {
  const od_linear *l = &pr->linear;
  if (d >= pr->modal->inputs) return pr->S[i * pr->columns + c];
  return c < l->np ? l->dB[(c * l->nx + i) * l->nu + d] : 0;
}

// ---- Residues

static void find_residues(od_predictor *pr) {
  od_modal *m = pr->modal;
  const od_linear *l = &pr->linear;
  int n = l->nx, ny = l->ny, drives = m->drives;
  for (int j = 0; j < n; j++) {
    for (int o = 0; o < ny; o++) {
      m->cv[o * n + j] = 0;
      for (int i = 0; i < n; i++) m->cv[o * n + j] += l->C[o * n + i] * m->V[i * n + j];
    }
    for (int d = 0; d < drives; d++) {
      m->wb[j * drives + d] = 0;
      for (int i = 0; i < n; i++) m->wb[j * drives + d] += m->W[j * n + i] * drive(pr, i, d);
    }
  }
  for (int o = 0; o < ny; o++)
    for (int d = 0; d < drives; d++)
      for (int j = 0; j < n; j++) m->r[(o * drives + d) * n + j] = m->cv[o * n + j] * m->wb[j * drives + d];
}

// Computes W dA V for parameter c.
static void find_coupling(od_predictor *pr, int c) {
  od_modal *m = pr->modal;
  int n = pr->nx;
  const double *dA = pr->linear.dA + c * n * n;
  od_complex *half = m->coupling + n * n;
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) half[i * n + j] = 0;
  for (int i = 0; i < n; i++)
    for (int k = 0; k < n; k++) {
      if (dA[i * n + k] == 0) continue;
      for (int j = 0; j < n; j++) half[i * n + j] += dA[i * n + k] * m->V[k * n + j];
    }
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) {
      od_complex sum = 0;
      for (int k = 0; k < n; k++) sum += m->W[i * n + k] * half[k * n + j];
      m->coupling[i * n + j] = sum;
    }
}

// Computes dr and r dlambda with respect to column c: dv_j = sum v_l q_lj / (lambda_j - lambda_l), dw_j = sum q_jl /
// (lambda_j - lambda_l) w_l, l not j, q = W dA V.
static void differentiate_residues(od_predictor *pr, int c) {
  od_modal *m = pr->modal;
  const od_linear *l = &pr->linear;
  int n = l->nx, ny = l->ny, drives = m->drives;
  bool parameter = c < l->np;
  if (parameter) find_coupling(pr, c);
  for (int j = 0; j < n; j++) {
    if (is_conjugate(m, j)) continue;
    od_complex dlambda = parameter ? m->coupling[j * n + j] : 0;
    for (int d = 0; d < drives; d++) {
      m->dwb[d] = 0;
      for (int i = 0; i < n; i++) m->dwb[d] += m->W[j * n + i] * drive_rate(pr, i, d, c);
      for (int k = 0; parameter && k < n; k++)
        if (k != j) m->dwb[d] += m->coupling[j * n + k] / (m->lambda[j] - m->lambda[k]) * m->wb[k * drives + d];
    }
    for (int o = 0; o < ny; o++) {
      od_complex dcv = 0;
      for (int i = 0; parameter && i < n; i++) dcv += l->dC[(c * ny + o) * n + i] * m->V[i * n + j];
      for (int k = 0; parameter && k < n; k++)
        if (k != j) dcv += m->cv[o * n + k] * m->coupling[k * n + j] / (m->lambda[j] - m->lambda[k]);
      for (int d = 0; d < drives; d++) {
        int i = (o * drives + d) * n + j;
        m->dr[i] = dcv * m->wb[j * drives + d] + m->cv[o * n + j] * m->dwb[d];
        m->moved[i] = m->r[i] * dlambda;
      }
    }
  }
}

// ---- Check with transfer functions, at OD_MODAL_POINTS real points to the right of all poles

// Returns test point i, 1/s: the points are spaced logarithmically over the magnitudes of the poles.
static double test_point(const od_modal *m, int n, int i) {
  double least = INFINITY, most = 0, right = 0;
  for (int j = 0; j < n; j++) {
    double size = cabs(m->lambda[j]);
    if (size > 0) least = fmin(least, size);
    most = fmax(most, size), right = fmax(right, creal(m->lambda[j]));
  }
  if (!(most > 0)) least = most = 1;
  least = fmax(least, 1e-6 * most);
  return 2 * right + least * pow(2 * most / least, (double)i / (OD_MODAL_POINTS - 1));
}

// Solves at each point s for the responses X = (s - A)^-1 [B x0] and the adjoints Y = C (s - A)^-1. Returns false if s - A is
// singular.
static bool solve_points(od_predictor *pr) {
  od_modal *m = pr->modal;
  const od_linear *l = &pr->linear;
  int n = l->nx, ny = l->ny, drives = m->drives;
  for (int point = 0; point < OD_MODAL_POINTS; point++) {
    double s = test_point(m, n, point), *M = m->solve, *Mt = M + n * n;
    double *X = m->answers + point * n * drives, *Y = m->adjoint + point * ny * n;
    for (int i = 0; i < n; i++)
      for (int j = 0; j < n; j++) M[i * n + j] = Mt[j * n + i] = (i == j ? s : 0) - l->A[i * n + j];
    if (od_lu_factor(n, M, pr->pivot) != OD_OK) return false;
    for (int i = 0; i < n; i++)
      for (int d = 0; d < drives; d++) X[i * drives + d] = drive(pr, i, d);
    od_lu_solve(n, M, pr->pivot, X, drives);
    if (od_lu_factor(n, Mt, pr->pivot) != OD_OK) return false;
    double *columns = M;  // n: adjoint of one output at a time
    for (int o = 0; o < ny; o++) {
      for (int i = 0; i < n; i++) columns[i] = l->C[o * n + i];
      od_lu_solve(n, Mt, pr->pivot, columns, 1);
      for (int i = 0; i < n; i++) Y[o * n + i] = columns[i];
    }
  }
  return true;
}

// Returns the transfer function from drive d to output o at a point, or (c >= 0) its derivative with respect to column c.
// *size: sum of the magnitudes of all terms.
static double transfer(const od_predictor *pr, int point, int o, int d, int c, double *size) {
  const od_modal *m = pr->modal;
  const od_linear *l = &pr->linear;
  int n = l->nx, ny = l->ny, drives = m->drives;
  const double *X = m->answers + point * n * drives + d, *Y = m->adjoint + (point * ny + o) * n;
  double sum = 0;
  *size = 0;
  for (int i = 0; i < n; i++) {
    double term = c < 0 ? l->C[o * n + i] * X[i * drives] : Y[i] * drive_rate(pr, i, d, c);
    sum += term, *size += fabs(term);
    if (c < 0 || c >= l->np) continue;
    double inner = 0;
    for (int k = 0; k < n; k++) inner += l->dA[(c * n + i) * n + k] * X[k * drives];
    term = Y[i] * inner + l->dC[(c * ny + o) * n + i] * X[i * drives];
    sum += term, *size += fabs(term);
  }
  return sum;
}

static double modal_transfer(const od_predictor *pr, int point, int o, int d, int c) {
  const od_modal *m = pr->modal;
  int n = pr->nx;
  double s = test_point(m, n, point), sum = 0;
  const od_complex *r = m->r + (o * m->drives + d) * n, *dr = m->dr + (o * m->drives + d) * n,
                   *moved = m->moved + (o * m->drives + d) * n;
  for (int j = 0; j < n; j++) {
    if (is_conjugate(m, j)) continue;
    od_complex q = 1 / (s - m->lambda[j]);
    sum += multiplicity(m, j) * creal(c < 0 ? r[j] * q : dr[j] * q + moved[j] * q * q);
  }
  return sum;
}

// Returns whether column c of the sensitivities is accurate; c = -1: the outputs themselves. Errors are relative to the
// largest sum of the magnitudes of all terms of the transfer function. Far from this maximum the transfer function
// vanishes, because the modes cancel. Entries that are exactly zero according to the matrices are set to zero.
static bool is_accurate(od_predictor *pr, int c) {
  for (int o = 0; o < pr->ny; o++)
    for (int d = 0; d < pr->modal->drives; d++) {
      double worst = 0, largest = 0;
      for (int point = 0; point < OD_MODAL_POINTS; point++) {
        double size, want = transfer(pr, point, o, d, c, &size),
                     error = fabs(modal_transfer(pr, point, o, d, c) - want);
        if (!(error <= worst)) worst = error;  // keeps a NaN
        largest = fmax(largest, size);
      }
      if (largest == 0 && isfinite(worst)) {
        od_modal *m = pr->modal;
        int n = pr->nx, first = (o * m->drives + d) * n;
        memset((c < 0 ? m->r : m->dr) + first, 0, (size_t)n * sizeof(od_complex));
        memset(m->moved + first, 0, (size_t)n * sizeof(od_complex));
      } else if (!(worst <= tolerance * largest)) {
        return false;
      }
    }
  return true;
}

bool od_modes_find(od_predictor *pr) {
  unpack(pr->modal, pr->nx);
  find_residues(pr);
  return solve_points(pr) && is_accurate(pr, -1);
}

bool od_modes_differentiate(od_predictor *pr, int c) {
  differentiate_residues(pr, c);
  return is_accurate(pr, c);
}
