// Common part of vessels of oil: the flow through an inlet with a valve. The valve smoothly closes for outflow before the vessel
// is empty, so that no oil flows out of an empty vessel. Included in the text of an element.

// Returns the flow into the vessel. K: area times discharge coefficient; dp: pressure outside minus pressure inside; left: oil in
// the vessel, divided by the amount below which the inlet begins to close.
static inline od_x X(inlet_flow)(od_x K, od_x dp, od_x left, const od_x *oil) {
  od_x flow = K * oil[OD_OIL_STATE_ROOT] * X(smooth_root)(dp, oil[OD_OIL_STATE_SMOOTHING]);
  if (RE(flow) < 0) flow *= X(smooth_step)(left);
  return flow;
}

#ifndef OD_COMPLEX
// Derivatives of inlet_flow() with respect to dp and `left`.
typedef struct inlet_slopes {
  double dp, left;
} inlet_slopes;
static inline inlet_slopes slopes_of_inlet(double K, double dp, double left, const double *oil) {
  double full = K * oil[OD_OIL_STATE_ROOT], e = oil[OD_OIL_STATE_SMOOTHING];
  if (!(dp < 0)) return (inlet_slopes){full * root_slope(dp, e), 0};
  return (inlet_slopes){full * root_slope(dp, e) * smooth_step_r(left), full * smooth_root_r(dp, e) * step_slope(left)};
}
#endif
