// The second step of the formulation: closing the loops. With the closure Jacobian split into dependent and independent
// columns, z_dep' = R z_ind' with R = -Phi_dep^-1 Phi_ind (eq. 5 of source 1 in docs/theory.md), the position problem
// is Newton's method on Phi(z_dep) = 0, and accelerations follow from the second rate of Phi.
// Hand-written because it must allocate nothing and exploit the fixed pattern (see partition.h).

// Factors the dependent part of the closure Jacobian by rows, in the order of the pivots.
static od_status factor_closure(const od_model *m, const int *in, od_x *w) {
  const od_layout *l = &m->layout;
  const int *start = in + l->lu_start, *diagonal = in + l->lu_diagonal, *column = in + l->lu_column;
  const int *source = in + l->lu_source;
  const od_x *entry = w + l->jacobian;
  od_x *lu = w + l->lu, *row = w + l->scratch;
  int rank = od_partition_rank(m);
  for (int i = 0; i < rank; i++) {
    for (int e = start[i]; e < start[i + 1]; e++) row[column[e]] = source[e] >= 0 ? entry[source[e]] : 0;
    for (int e = start[i]; e < diagonal[i]; e++) {
      int j = column[e];
      od_x factor = row[j] * lu[diagonal[j]];
      row[j] = factor;
      for (int f = diagonal[j] + 1; f < start[j + 1]; f++) row[column[f]] -= factor * lu[f];
    }
    for (int e = start[i]; e < start[i + 1]; e++) lu[e] = row[column[e]];
    // The diagonal is kept inverted.
    od_x pivot = lu[diagonal[i]];
    if (!(fabs(RE(pivot)) > 1e-12)) return isfinite(RE(pivot)) ? OD_SINGULAR : OD_NOT_FINITE;
    lu[diagonal[i]] = 1 / pivot;
  }
  return OD_OK;
}

// Solves Phi_dep x = b in place; b has one entry per pivot row, x one per dependent coordinate.
static void solve_closure(const od_model *m, const int *in, const od_x *w, od_x *b) {
  const od_layout *l = &m->layout;
  const int *start = in + l->lu_start, *diagonal = in + l->lu_diagonal, *column = in + l->lu_column;
  const od_x *lu = w + l->lu;
  int rank = od_partition_rank(m);
  for (int i = 0; i < rank; i++) {
    od_x left = b[i];
    for (int e = start[i]; e < diagonal[i]; e++) left -= lu[e] * b[column[e]];
    b[i] = left;
  }
  for (int i = rank - 1; i >= 0; i--) {
    od_x left = b[i];
    for (int e = diagonal[i] + 1; e < start[i + 1]; e++) left -= lu[e] * b[column[e]];
    b[i] = left * lu[diagonal[i]];
  }
}

// Gathers the kept rows of a vector with one entry per closure row, negated, in pivot order.
static void gather_rows(const od_model *m, const int *in, const od_x *rows, od_x *out) {
  int rank = od_partition_rank(m);
  for (int i = 0; i < rank; i++) out[i] = -rows[in[m->layout.kept_row + i]];
}

// The dependent coordinates that close the loops for the independent ones at hand, from the present ones on.
// Bounded: quadratic convergence needs three or four rounds, anything beyond is a failure.
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
    closure_residual(m, w);
    closure_jacobian(m, w);
    od_status status = factor_closure(m, in, w);
    if (status != OD_OK) return status;
    gather_rows(m, in, w + l->phi, step);
    solve_closure(m, in, w, step);
    double largest = 0;
    for (int i = 0; i < rank; i++) {
      double size = fabs(RE(step[i])) / (1 + fabs(RE(z[dependent[i]])));
      if (!(size < 1e3)) return isfinite(size) ? OD_NOT_CONVERGED : OD_NOT_FINITE;
      if (size > largest) largest = size;
    }
#ifdef OD_COMPLEX
    // The imaginary part follows one round behind the real one.
    if (round >= 3 && (largest < 1e-14 || (largest < 1e-9 && largest > last / 4))) return OD_OK;
#else
    // Converged, or as near as round-off lets positions far from the reference point come.
    if (largest < 1e-14 || (largest < 1e-9 && largest > last / 4)) return OD_OK;
#endif
    last = largest;
    for (int i = 0; i < rank; i++) z[dependent[i]] += step[i];
  }
  return OD_NOT_CONVERGED;
}

// R, one row per dependent and one column per independent coordinate.
static void velocity_map(const od_model *m, const int *in, od_x *w) {
  const od_layout *l = &m->layout;
  int rank = od_partition_rank(m), free = m->freedom;
  const int *start = in + l->rhs_start;
  od_x *R = w + l->R, *b = w + l->scratch;
  if (free == 1) {
    for (int i = 0; i < rank; i++) R[i] = 0;
    for (int i = 0; i < rank; i++)
      for (int e = start[i]; e < start[i + 1]; e++) R[i] -= w[l->jacobian + in[l->rhs_source + e]];
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

// full = [R; 1] part: a vector of independent entries spread over all coordinates.
static void spread(const od_model *m, const int *in, const od_x *w, const od_x *part, od_x *full) {
  const od_layout *l = &m->layout;
  int rank = od_partition_rank(m), free = m->freedom;
  const od_x *R = w + l->R;
  for (int k = 0; k < free; k++) full[in[l->independent + k]] = part[k];
  if (free == 1) {
    od_x only = part[0];
    for (int i = 0; i < rank; i++) full[in[l->dependent + i]] = R[i] * only;
    return;
  }
  for (int i = 0; i < rank; i++) {
    od_x sum = 0;
    for (int k = 0; k < free; k++) sum += R[i * free + k] * part[k];
    full[in[l->dependent + i]] = sum;
  }
}

// part = [R; 1]' full: generalised forces of all coordinates as felt by the independent ones.
static void gather(const od_model *m, const int *in, const od_x *w, const od_x *full, od_x *part) {
  const od_layout *l = &m->layout;
  int rank = od_partition_rank(m), free = m->freedom;
  const od_x *R = w + l->R;
  if (free == 1) {
    od_x sum = full[in[l->independent]];
    for (int i = 0; i < rank; i++) sum += R[i] * full[in[l->dependent + i]];
    part[0] = sum;
    return;
  }
  for (int k = 0; k < free; k++) part[k] = full[in[l->independent + k]];
  for (int i = 0; i < rank; i++) {
    od_x value = full[in[l->dependent + i]];
    for (int k = 0; k < free; k++) part[k] += R[i * free + k] * value;
  }
}
