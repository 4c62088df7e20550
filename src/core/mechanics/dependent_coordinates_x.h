// The second step of the formulation: closing the loops. The closure Jacobian is split into dependent and independent
// columns, so z_dep' = R z_ind' with R = -Phi_dep^-1 Phi_ind (eq. 5 of source 1 in docs/theory.md). Newton's method on
// Phi(z_dep) = 0 solves the position problem. Accelerations follow from the second rate of Phi. The solver is part of
// the core, because it must not allocate memory and must use the fixed pattern (see partition.h).

// Returns OD_OK if the magnitude of a pivot is above 1e-12, OD_NOT_FINITE for NaN, otherwise OD_SINGULAR.
static inline od_status check_pivot(od_x pivot) {
  if (fabs(RE(pivot)) > OD_TOLERANCE(1e-12)) return OD_OK;
  return isfinite(RE(pivot)) ? OD_SINGULAR : OD_NOT_FINITE;
}

// Factors a full 2 x 2 matrix, such as the matrix of one planar loop, with two divisions that do not depend on each
// other. Fails with OD_NOT_FINITE or OD_SINGULAR.
static inline od_status factor_pair(const int *source, const od_x *entry, od_x *lu) {
  od_x a[4];
  for (int e = 0; e < 4; e++) a[e] = source[e] >= 0 ? entry[source[e]] : 0;
  od_x determinant = a[0] * a[3] - a[1] * a[2], first = 1 / a[0], second = a[0] / determinant;
  od_status status = check_pivot(a[0]);
  if (status == OD_OK && !(fabs(RE(determinant)) > OD_TOLERANCE(1e-12) * fabs(RE(a[0]))))
    status = check_pivot(determinant * first);
  lu[0] = first;
  lu[1] = a[1];
  lu[2] = a[2] * first;
  lu[3] = second;
  return status;
}

// Factors Phi_dep, the dependent columns of the closure Jacobian, row by row in the order of the pivots. Fails with OD_NOT_FINITE
// or OD_SINGULAR.
static od_status factor_closure(const od_model *m, const int *in, od_x *w) {
  const od_layout *l = &m->layout;
  const int *start = in + l->lu_start, *diagonal = in + l->lu_diagonal, *column = in + l->lu_column;
  const int *source = in + l->lu_source;
  const od_x *entry = w + l->jacobian;
  od_x *lu = w + l->lu, *row = w + l->scratch;
  int rank = od_partition_rank(m);
  if (od_partition_is_pair(m, in)) return factor_pair(source, entry, lu);
  for (int i = 0; i < rank; i++) {
    for (int e = start[i]; e < start[i + 1]; e++) row[column[e]] = source[e] >= 0 ? entry[source[e]] : 0;
    for (int e = start[i]; e < diagonal[i]; e++) {
      int j = column[e];
      od_x factor = row[j] * lu[diagonal[j]];
      row[j] = factor;
      for (int f = diagonal[j] + 1; f < start[j + 1]; f++) row[column[f]] -= factor * lu[f];
    }
    for (int e = start[i]; e < start[i + 1]; e++) lu[e] = row[column[e]];
    // The inverse of the diagonal is stored.
    od_status status = check_pivot(lu[diagonal[i]]);
    if (status != OD_OK) return status;
    lu[diagonal[i]] = 1 / lu[diagonal[i]];
  }
  return OD_OK;
}

#ifndef OD_COMPLEX
// Returns whether the Newton steps of all dependent coordinates are below round-off.
static inline bool is_closed(int rank, const int *dependent, const double *z, const double *step) {
  bool closed = true;
  for (int i = 0; i < rank; i++) closed &= fabs(step[i]) < OD_TOLERANCE(1e-14) * (1 + fabs(z[dependent[i]]));
  return closed;
}
#endif

// Computes the dependent coordinates that close the loops for the given independent coordinates, starting at the current
// values. Convergence is quadratic and usually takes three or four rounds. Returns OD_NOT_CONVERGED after 12 rounds.
static od_status close_loops(const od_model *m, const int *in, od_x *w) {
  const od_layout *l = &m->layout;
  int rank = od_partition_rank(m);
  const int *dependent = in + l->dependent;
  od_x *z = w + l->z, *step = w + l->scratch + m->coordinates;
  if (rank == 0) {
    positions(m, w);
    return OD_OK;
  }
  double last = INFINITY;
  for (int round = 0; round < 12; round++) {
    positions(m, w);
    closure_rows(m, w);
    od_status status = factor_closure(m, in, w);
    if (status != OD_OK) return status;
    gather_rows(m, in, w + l->phi, step);
    solve_closure(m, in, w, step);
#ifndef OD_COMPLEX
    if (is_closed(rank, dependent, z, step)) return OD_OK;
#endif
    double largest = 0;
    for (int i = 0; i < rank; i++) {
      double size = fabs(RE(step[i])) / (1 + fabs(RE(z[dependent[i]])));
      if (!(size < 1e3)) return isfinite(size) ? OD_NOT_CONVERGED : OD_NOT_FINITE;
      if (size > largest) largest = size;
    }
#ifdef OD_COMPLEX
    // The imaginary part converges one round after the real part.
    if (round >= 3 && (largest < OD_TOLERANCE(1e-14) || (largest < OD_TOLERANCE(1e-9) && largest > last / 4)))
      return OD_OK;
#else
    // The steps no longer decrease, because round-off limits the accuracy of positions far from the reference point.
    if (largest < OD_TOLERANCE(1e-9) && largest > last / 4) return OD_OK;
#endif
    last = largest;
    for (int i = 0; i < rank; i++) z[dependent[i]] += step[i];
  }
  return OD_NOT_CONVERGED;
}

// Computes the map R, with one row per dependent coordinate and one column per independent coordinate.
static void velocity_map(const od_model *m, const int *in, od_x *w) {
  const od_layout *l = &m->layout;
  int rank = od_partition_rank(m), free = m->freedom;
  const int *start = in + l->rhs_start;
  od_x *R = w + l->R, *b = w + l->scratch;
  if (free == 1) {
    for (int i = 0; i < rank; i++) {
      od_x sum = 0;
      for (int e = start[i]; e < start[i + 1]; e++) sum -= w[l->jacobian + in[l->rhs_source + e]];
      R[i] = sum;
    }
    solve_closure(m, in, w, R);
    return;
  }
  for (int k = 0; k < free; k++) {
    for (int i = 0; i < rank; i++) {
      b[i] = 0;
      for (int e = start[i]; e < start[i + 1]; e++)
        if (in[l->rhs_column + e] == k) b[i] -= w[l->jacobian + in[l->rhs_source + e]];
    }
    solve_closure(m, in, w, b);
    for (int i = 0; i < rank; i++) R[i * free + k] = b[i];
  }
}
