// Common part of valves defined by their data sheet: a second-order spool with a limited rate that follows `wanted`, and the edges that the
// spool opens. Included after X(in) with spool and speed, and X(numbers).
//   spool' = stroke v,    v' = w^2 (wanted - spool)/stroke - 2 damping w v
// While |v| is above the rate limit R, the spool moves by R strokes per second in the direction of v. v returns to R with the time
// constant 1/(10 w), so that the spool leaves the limit as soon as the command allows. Without a frequency the spool equals the
// command.

static inline od_x X(between)(od_x v, od_x low, od_x high) {
  return OD_SELECT(RE(v) > RE(high), high, OD_SELECT(RE(v) < RE(low), low, v));
}

static inline void X(spool_rates)(const X(in) * in, const X(numbers) * q, od_x wanted, od_x *spool, od_x *speed) {
  *spool = *speed = 0;
  if (!(RE(q->frequency) > 0)) return;
  od_x w = q->frequency, v = in->speed, R = q->rate_limit;
  if (RE(R) > 0) v = X(between)(v, -R, R);
  *spool = q->stroke * v;
  *speed = w * w * (wanted - in->spool) / q->stroke - 2 * q->damping * w * in->speed - 10 * w * (in->speed - v);
}

// Returns the opening of an edge. t: the spool's distance, in strokes, from the position where the edge would begin to open
// without an overlap.
static inline od_x X(edge)(od_x t, od_x overlap) {
  return X(between)((t - overlap) / (1 - overlap), 0, 1);
}

// Returns the flow across a fully open edge at the pressure drop dp, m3/s.
static inline od_x X(nominal)(const X(numbers) * q, od_x dp, const od_x *oil) {
  return q->nominal_flow / od_x_sqrt(q->nominal_drop) * X(smooth_root)(dp, oil[OD_OIL_STATE_SMOOTHING]);
}

#ifndef OD_COMPLEX
// Returns the derivative of between() with respect to v, for constant limits.
static inline double between_slope(double v, double low, double high) {
  return v > high || v < low ? 0 : 1;
}

// Computes the derivatives of spool_rates() with respect to spool and speed. Returns the derivative of the rate of the speed with
// respect to `wanted`.
static inline double spool_slopes(const in_r *in, const numbers_r *q, in_r *travel_rate, in_r *speed_rate) {
  double w = q->frequency, R = q->rate_limit;
  if (!(w > 0)) return 0;
  double within = R > 0 ? between_slope(in->speed, -R, R) : 1;
  travel_rate->speed = q->stroke * within;
  speed_rate->spool = -w * w / q->stroke;
  speed_rate->speed = -2 * q->damping * w - 10 * w * (1 - within);
  return w * w / q->stroke;
}

// Returns the derivative of edge() with respect to t.
static inline double edge_slope(double t, double overlap) {
  return between_slope((t - overlap) / (1 - overlap), 0, 1) / (1 - overlap);
}

// Derivatives of the flow across an edge with respect to dp and to the spool position. `open` is the opening of the edge, and
// `open_slope` is the derivative of the opening with respect to the spool position.
typedef struct edge_slopes {
  double dp, spool;
} edge_slopes;
static inline edge_slopes slopes_of_edge(const numbers_r *q, double open, double open_slope, double dp,
                                         const double *oil) {
  double full = q->nominal_flow / sqrt(q->nominal_drop), e = oil[OD_OIL_STATE_SMOOTHING];
  return (edge_slopes){.dp = open * full * root_slope(dp, e), .spool = open_slope * full * smooth_root_r(dp, e)};
}
#endif
