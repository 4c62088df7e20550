// An elastic contact with damping in proportion to its depth d: force = stiffness d (1 + damping d') for d > 0. The contact never
// pulls. The part stiffness d is elastic; the power of the damping part is lost.
typedef struct X(grip) {
  bool holds;
  od_x depth, inward;  // d and d'
  od_x factor;         // max(1 + damping d', 0)
} X(grip);

static inline X(grip) X(grip_of)(od_x depth, od_x inward, od_x damping) {
  X(grip) g = {.holds = OD_SELECT(RE(depth) > 0, true, false), .depth = depth, .inward = inward};
  if (!g.holds) g.depth = 0;
  g.factor = 1 + damping * inward;
  g.factor = OD_SELECT(RE(g.factor) < 0, 0, g.factor);
  return g;
}
static inline od_x X(grip_force)(const X(grip) * g, od_x stiffness) {
  return stiffness * g->depth * g->factor;
}
static inline od_x X(grip_loss)(const X(grip) * g, od_x stiffness) {
  return stiffness * g->depth * (g->factor - 1) * g->inward;
}
static inline od_x X(grip_stored)(const X(grip) * g, od_x stiffness) {
  return stiffness * g->depth * g->depth / 2;
}

#ifndef OD_COMPLEX
// Derivatives of grip_force() with respect to d and d'.
typedef struct grip_slopes {
  double depth, inward;
} grip_slopes;
static inline grip_slopes slopes_of_grip(const grip_r *g, double stiffness, double damping) {
  return (grip_slopes){.depth = g->holds ? stiffness * g->factor : 0,
                       .inward = not_negative_slope(1 + damping * g->inward) * stiffness * g->depth * damping};
}
#endif
