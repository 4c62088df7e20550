// The direct changes due to a number of the mechanism (a length, a mass, an axis). A tangent along a number is the tangent of
// the motion with these changes added. od_number_change gives the changes of the kernels' constants (derive_x.h). This file converts these
// changes to ground axes.
#undef CHANGE
#define CHANGE(name) ((const od_t *)(const void *)change->by + l->name)

static inline bool T(moves_places)(const od_number_change *change) {
  return change && (change->kinds & OD_CHANGES_PLACES);
}

// Adds to dv the change v0 of a vector that is fixed in a link. v0 is in link axes, dv in ground axes.
OD_PART void T(add_own)(const od_layout *l, const double *w, int link, const od_t *v0, od_t *dv) {
  od_t own[ND];
  PT(turn)(w + l->rotation + NR * link, v0, own);
  for (int k = 0; k < ND; k++) dv[k] += own[k];
}

OD_PART void T(add_own_point)(const od_model *m, const double *w, const od_number_change *change, int point, od_t *dr) {
  const od_layout *l = &m->layout;
  if (T(moves_places)(change)) T(add_own)(l, w, m->point[point].link, CHANGE(point) + ND * point, dr);
}

// Computes the change of the ground relative to the reference point, which may move. The acceleration of the ground is gravity.
OD_PART void T(ground_tangent)(const od_model *m, double *w, const od_number_change *change) {
  const od_layout *l = &m->layout;
  for (int k = 0; k < NV; k++) D(dX)[k] = D(dV)[k] = D(dA)[k] = (od_t){0};
  if (!change) return;
  for (int k = 0; k < ND; k++) {
    if (change->kinds & OD_CHANGES_PLACES) D(dX)[NA + k] = -CHANGE(reference)[k];
    D(dA)[NA + k] = -CHANGE(gravity)[k];
  }
}

// Adds the change of the joint's position on the parent, which moves all outer links.
OD_PART void T(add_own_offset)(const od_model *m, const double *w, const od_number_change *change, int i, od_t *dX) {
  const od_layout *l = &m->layout;
  T(add_own)(l, w, m->link[i].parent, CHANGE(offset) + ND * i, dX + NA);
}

// Adds changes of the joint's axis and of the lead of a screw: dS, and their effect on the position of the link. If the axis a of
// a rotation by the angle z changes by da, perpendicular to a, the link also turns by sin(z) da + (1 - cos(z)) a x da.
OD_PART void T(add_own_axis)(const od_model *m, const double *w, const od_number_change *change, int i, od_t *dS,
                             od_t *dX) {
  const od_layout *l = &m->layout;
  const od_link *link = &m->link[i];
  const od_t *axis = CHANGE(axis) + ND * i;
  double z = w[l->z + link->coordinate];
  od_t da[ND];
  if (link->kind == OD_LINK_PRISMATIC) {
    PT(turn)(w + l->rotation + NR * i, axis, da);
    for (int k = 0; k < ND; k++) dS[NA + k] += da[k], dX[NA + k] += da[k] * z;
    return;
  }
#ifndef OD_PLANAR
  const double *before = w + l->rotation + NR * link->parent, *a = w + l->S + NV * i, *r = w + l->position + ND * i;
  double with_chart[NR], c = cos(z), s = sin(z), first[ND];
  if (link->chart >= 0) {
    rotation_product(before, w + l->chart + OD_CHART_SIZE * link->chart, with_chart);
    before = with_chart;
  }
  od_t across[ND], extra[ND], own[NV];
  PT(turn)(before, axis, da);
  PT(cross)(a, da, across);
  for (int k = 0; k < ND; k++) extra[k] = s * da[k] + (1 - c) * across[k], first[k] = r[k];
  PT(axis_motion)(extra, r, own);
  for (int k = 0; k < NV; k++) dX[k] += own[k];
  if (link->kind == OD_LINK_SCREW) {
    const double turn_angle = 6.2831853071795864769, pitch = w[l->theta + link->lead] / turn_angle;
    od_t dpitch = CHANGE(theta)[link->lead] / turn_angle;
    for (int k = 0; k < ND; k++) {
      od_t along = pitch * da[k] + dpitch * a[k];
      first[k] -= pitch * z * a[k];  // effect of the motion of the point on the axis
      dS[NA + k] += along;
      dX[NA + k] += z * along;
    }
  }
  PT(axis_motion)(da, first, own);
  for (int k = 0; k < NV; k++) dS[k] += own[k];
#else
  (void)dS, (void)dX;  // the axis of a planar rotation has only a sign
#endif
}

// Compute the change dI of a link's inertia, and add the resulting change of its force: dI A + V x* (dI V).
OD_PART void T(own_inertia)(const od_model *m, const double *w, const od_number_change *change, int i, od_t *dI) {
  const od_layout *l = &m->layout;
  PT(inertia_in_ground)(CHANGE(inertia) + NI * i, w + l->rotation + NR * i, w + l->position + ND * i, dI);
}
OD_PART void T(add_own_inertia)(const od_model *m, const double *w, const od_number_change *change, int i, od_t *dF) {
  const od_layout *l = &m->layout;
  const double *V = w + l->V + NV * i, *A = w + l->A + NV * i;
  od_t dI[NI], p[NV], f[NV];
  T(own_inertia)(m, w, change, i, dI);
  TP(momentum)(dI, A, f);
  for (int k = 0; k < NV; k++) dF[k] += f[k];
  TP(momentum)(dI, V, p);
  PT(force_cross)(V, p, f);
  for (int k = 0; k < NV; k++) dF[k] += f[k];
}

// Returns the link at which a loop begins: the last common link of the paths to both ends of a closure. In loops with
// redundant equations, a change of a number may violate the unused equations. Then one of the two points of a closure
// moves away from the other point by dd. The closure Jacobian omits the links before the loop, which move both ends
// equally. Tangents must also omit these links, so the rotation of the link at which the loop begins is removed from
// the rate of a row.
static inline int T(loop_root)(const od_model *m, const od_closure *c) {
  int a = c->link_a, b = c->link_b;
  while (a != b)
    if (a > b)
      a = m->link[a].parent;
    else
      b = m->link[b].parent;
  return a;
}
OD_PART bool T(may_break)(const od_model *m, const od_number_change *change) {
  return T(moves_places)(change) && m->rows > od_partition_rank(m);
}
OD_PART void T(take_out_turn)(const od_model *m, const double *w, const od_closure *c, int order, const od_t *dd,
                              od_t *row) {
  const od_layout *l = &m->layout;
  int root = NV * T(loop_root)(m, c);
  double turn_rate[NA];
  od_t t[ND];
  for (int k = 0; k < NA; k++)
    turn_rate[k] = order == 1 ? w[l->V + root + k] : w[l->A + root + k] - w[l->bias + root + k];
  PT(spin)(turn_rate, dd, t);
  for (int k = 0; k < ND; k++) row[k] -= t[k];
}
