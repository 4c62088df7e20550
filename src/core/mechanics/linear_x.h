// Functions that are linear in a vector (a motion, forces, coordinates), with coefficients of the current point. The functions are compiled
// for the motion itself, and again for tangents in lanes (kernel_x.h). od_t is the type of the vector's entries, od_x the type of the
// coefficients.

// Computes the velocity v of the point at r of a link with motion V.
OD_PART void T(velocity_at)(const od_t *V, const od_x *r, od_t *v) {
  TP(spin)(V, r, v);
  for (int k = 0; k < ND; k++) v[k] += V[NA + k];
}

// Subtracts sign * f, a force on a link at r, from F, the force that the motion of the link requires.
OD_PART void T(apply_force)(const od_x *r, const od_t *f, double sign, od_t *F) {
  od_t minus[ND];
  for (int k = 0; k < ND; k++) minus[k] = -sign * f[k], F[NA + k] += minus[k];
  PT(add_couple)(r, minus, F);
}

// Adds the force of every link to the force of its parent. Afterwards F of a link is the force that its joint carries
// for the whole branch.
OD_PART void T(accumulate)(const od_model *m, od_t *F) {
  for (int i = m->links - 1; i > 0; i--) {
    od_t *Fp = F + NV * m->link[i].parent;
    for (int k = 0; k < NV; k++) Fp[k] += F[NV * i + k];
  }
}

// Solves Phi_dep x = b in place. b has one entry per pivot row, x one entry per dependent coordinate.
OD_PART void T(solve_closure)(const od_model *m, const int *in, const od_x *w, od_t *b) {
  const od_layout *l = &m->layout;
  const int *start = in + l->lu_start, *diagonal = in + l->lu_diagonal, *column = in + l->lu_column;
  const od_x *lu = w + l->lu;
  int rank = od_partition_rank(m);
  if (od_partition_is_pair(m, in)) {
    od_t first = b[0], second = (b[1] - lu[2] * first) * lu[3];
    b[0] = (first - lu[1] * second) * lu[0];
    b[1] = second;
    return;
  }
  for (int i = 0; i < rank; i++) {
    od_t left = b[i];
    for (int e = start[i]; e < diagonal[i]; e++) left -= lu[e] * b[column[e]];
    b[i] = left;
  }
  for (int i = rank - 1; i >= 0; i--) {
    od_t left = b[i];
    for (int e = diagonal[i] + 1; e < start[i + 1]; e++) left -= lu[e] * b[column[e]];
    b[i] = left * lu[diagonal[i]];
  }
}

// Collects the negated entries of the kept rows, in pivot order. rows: a vector with one entry per closure row.
OD_PART void T(gather_rows)(const od_model *m, const int *in, const od_t *rows, od_t *out) {
  int rank = od_partition_rank(m);
  for (int i = 0; i < rank; i++) out[i] = -rows[in[m->layout.kept_row + i]];
}

// Computes full = [R; 1] part: extends a vector of independent entries to all coordinates.
OD_PART void T(spread)(const od_model *m, const int *in, const od_x *w, const od_t *part, od_t *full) {
  const od_layout *l = &m->layout;
  int rank = od_partition_rank(m), free = m->freedom;
  const od_x *R = w + l->R;
  for (int k = 0; k < free; k++) full[in[l->independent + k]] = part[k];
  if (free == 1) {
    od_t only = part[0];
    for (int i = 0; i < rank; i++) full[in[l->dependent + i]] = R[i] * only;
    return;
  }
  for (int i = 0; i < rank; i++) {
    od_t sum = {0};
    for (int k = 0; k < free; k++) sum += R[i * free + k] * part[k];
    full[in[l->dependent + i]] = sum;
  }
}

// Computes part = [R; 1]' full: reduces generalized forces of all coordinates to the independent coordinates.
OD_PART void T(gather)(const od_model *m, const int *in, const od_x *w, const od_t *full, od_t *part) {
  const od_layout *l = &m->layout;
  int rank = od_partition_rank(m), free = m->freedom;
  const od_x *R = w + l->R;
  if (free == 1) {
    od_t sum = full[in[l->independent]];
    for (int i = 0; i < rank; i++) sum += R[i] * full[in[l->dependent + i]];
    part[0] = sum;
    return;
  }
  for (int k = 0; k < free; k++) part[k] = full[in[l->independent + k]];
  for (int i = 0; i < rank; i++) {
    od_t value = full[in[l->dependent + i]];
    for (int k = 0; k < free; k++) part[k] += R[i * free + k] * value;
  }
}
