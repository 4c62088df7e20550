// Reactions of joints and rods. After the residual, F holds the force that each joint carries for its branch with open loops. The
// closures add their forces. The multipliers lambda make tau + Phi_z' lambda vanish in the dependent coordinates.

// Computes the multipliers of the closures, and adds the closure forces to the forces F of the joints. Call this
// function once per point, before tangents.
static void X(closure_forces)(const od_model *m, const int *in, od_x *w) {
  const od_layout *l = &m->layout;
  int rank = od_partition_rank(m);
  if (rank == 0) return;
  // Solves Phi_dep' lambda = -tau_dep with the transposed factors.
  const int *start = in + l->lu_start, *diagonal = in + l->lu_diagonal, *column = in + l->lu_column;
  const od_x *lu = w + l->lu;
  od_x *b = w + l->scratch;
  for (int i = 0; i < rank; i++) b[i] = -w[l->tau + in[l->dependent + i]];
  for (int i = 0; i < rank; i++) {
    b[i] *= lu[diagonal[i]];
    for (int e = diagonal[i] + 1; e < start[i + 1]; e++) b[column[e]] -= lu[e] * b[i];
  }
  for (int i = rank - 1; i >= 0; i--)
    for (int e = start[i]; e < diagonal[i]; e++) b[column[e]] -= lu[e] * b[i];
#ifdef OD_COMPLEX
  od_x *W = w + l->bias;  // scratch: bias is not needed after the accelerations
#else
  od_x *W = w + l->dF;
#endif
  od_x *lambda = w + l->lambda;
  for (int i = 0; i < m->rows; i++) lambda[i] = 0;
  for (int i = 0; i < rank; i++) lambda[in[l->kept_row + i]] = b[i];

  for (int i = 0; i < m->links * NV; i++) W[i] = 0;
  for (int i = 0; i < m->closures; i++) {
    const od_closure *c = &m->closure[i];
    X(closure_vectors) v = {0};
    closure_positions(m, w, i, &v);
    od_x *Wa = W + NV * c->link_a, *Wb = W + NV * c->link_b, p[ND];
    const od_x *y = lambda + c->row;
    switch (c->kind) {
      case OD_CLOSE_POINT:
        apply_force(v.ra, y, 1, Wa);
        apply_force(v.rb, y, -1, Wb);
        break;
      case OD_CLOSE_SLIDE:
        for (int k = 0; k < ND; k++) p[k] = y[0] * v.u[k];
        apply_force(v.ra, p, 1, Wa);
        apply_force(v.rb, p, -1, Wb);
        for (int k = 0; k < ND; k++) p[k] = y[0] * v.d[k];
        add_couple(v.u, p, Wa);
        break;
      case OD_CLOSE_DOT:
        for (int k = 0; k < ND; k++) p[k] = y[0] * v.w[k];
        add_couple(v.u, p, Wa);
        for (int k = 0; k < ND; k++) p[k] = y[0] * v.u[k];
        add_couple(v.w, p, Wb);
        break;
      case OD_CLOSE_ROD:
        for (int k = 0; k < ND; k++) p[k] = y[0] * v.d[k] / w[l->theta + c->length];
        apply_force(v.ra, p, 1, Wa);
        apply_force(v.rb, p, -1, Wb);
        break;
      case OD_CLOSE_GEAR: break;  // a gear exerts generalized forces on coordinates, not forces on links
    }
  }
  accumulate(m, W);
  for (int i = NV; i < m->links * NV; i++) w[l->F + i] += W[i];
}

// Adds the force and the torque of a closure on its link b, at the joint's point on link b.
static void add_closure_reaction(const od_model *m, const od_x *w, int i, od_x *force, od_x *torque) {
  const od_closure *c = &m->closure[i];
  const od_x *y = w + m->layout.lambda + c->row;
  od_x p[ND];
  X(closure_vectors) v = {0};
  closure_positions(m, w, i, &v);
  switch (c->kind) {
    case OD_CLOSE_POINT:
      for (int k = 0; k < ND; k++) force[k] -= y[k];
      break;
    case OD_CLOSE_SLIDE:
      for (int k = 0; k < ND; k++) force[k] -= y[0] * v.u[k];
      break;
    case OD_CLOSE_DOT:
      for (int k = 0; k < ND; k++) p[k] = -y[0] * v.u[k];
      add_couple(v.w, p, torque);
      break;
    case OD_CLOSE_ROD:
    case OD_CLOSE_GEAR: break;
  }
}

// Sets components at round-off relative to `larger` to zero, so that a joint without torque does not report 1e-12 N m.
static void drop_round_off(od_x *v, int count, double larger) {
  for (int k = 0; k < count; k++)
    if (fabs(RE(v[k])) < OD_TOLERANCE(1e-13) * larger) v[k] -= RE(v[k]);
}

static double largest_part(const od_x *v, int count) {
  double largest = 0;
  for (int k = 0; k < count; k++) largest = fmax(largest, fabs(RE(v[k])));
  return largest;
}

// Computes the reaction of a tree joint: F of its outer link, moved from the reference point to the joint's point. Drives and
// friction along the joint's own coordinate are not part of the reaction.
static void tree_reaction(const od_model *m, const od_x *w, const od_joint *joint, od_x *force, od_x *torque) {
  const od_layout *l = &m->layout;
  const od_x *F = w + l->F + NV * joint->link, *S = w + l->S + NV * joint->link;
  double sign = m->link[joint->link].body == m->point[joint->spec.point_b].body ? 1 : -1;
  od_x r[ND], back[ND], free = 0;
  point_position(m, w, joint->spec.point_b, r);
  for (int k = 0; k < ND; k++) force[k] = sign * F[NA + k], back[k] = -force[k];
  for (int k = 0; k < NA; k++) torque[k] = sign * F[k];
  add_couple(r, back, torque);
  double larger = largest_part(force, ND), moment = largest_part(F, NA) + largest_part(r, ND) * larger;
#ifndef OD_PLANAR
  // In a screw without a drive, the powers of the force and the torque along its axis cancel. The remainder is the drive.
  if (m->link[joint->link].kind == OD_LINK_SCREW) {
    free = dot(S, torque) + w[l->theta + m->link[joint->link].lead] / 6.2831853071795864769 * dot(S, force);
    for (int k = 0; k < NA; k++) torque[k] -= free * S[k];
  }
#endif
  if (joint->spec.type == OD_REVOLUTE) {
    for (int k = 0; k < NA; k++) free += S[k] * torque[k];
    for (int k = 0; k < NA; k++) torque[k] -= free * S[k];
  } else if (joint->spec.type == OD_PRISMATIC) {
    free = dot(S + NA, force);
    for (int k = 0; k < ND; k++) force[k] -= free * S[NA + k];
  }
  drop_round_off(force, ND, larger);
  drop_round_off(torque, NA, moment);
}

// Computes the force and torque of the first body of a joint on the second body, in the axes of the space. Both refer to the joint
// point of the second body.
static void joint_reaction(const od_model *m, const od_x *w, int joint, od_x *force, od_x *torque) {
  for (int k = 0; k < ND; k++) force[k] = 0;
  for (int k = 0; k < NA; k++) torque[k] = 0;
  if (m->joint[joint].link >= 0) {
    tree_reaction(m, w, &m->joint[joint], force, torque);
    return;
  }
  for (int i = 0; i < m->closures; i++)
    if (m->closure[i].joint == joint) add_closure_reaction(m, w, i, force, torque);
  double larger = largest_part(force, ND);
  drop_round_off(force, ND, larger);
  drop_round_off(torque, NA, m->size * larger);
}

// Returns the tension of a rod in N, positive if the rod pulls its ends together.
static od_x rod_tension(const od_model *m, const od_x *w, int rod) {
  for (int i = 0; i < m->closures; i++)
    if (m->closure[i].rod == rod) return w[m->layout.lambda + m->closure[i].row];
  return 0;
}

// Returns the generalized force that a gear exerts in its second joint, N or N m.
static od_x gear_force(const od_model *m, const od_x *w, int gear) {
  for (int i = 0; i < m->closures; i++)
    if (m->closure[i].gear == gear) return -w[m->layout.lambda + m->closure[i].row];
  return 0;
}
