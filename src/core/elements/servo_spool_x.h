// Common part of valves defined by their data sheet: a second-order spool with a limited rate that follows `wanted`, and the edges that the
// spool opens. Included after X(in) with spool and speed, and X(numbers).
//   spool' = stroke v,    v' = w^2 (wanted - spool)/stroke - 2 damping w v
// While v is beyond the rate limit R, the spool moves at the rate R. v returns to R with the time constant 1/(10 w), so that the spool
// leaves the limit as soon as the command allows. Without a frequency the spool equals the command.

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

// Returns the flow across a fully open edge.
static inline od_x X(nominal)(const X(numbers) * q, od_x dp, const od_x *oil) {
  return q->nominal_flow / od_x_sqrt(q->nominal_drop) * X(smooth_root)(dp, oil[OD_OIL_STATE_SMOOTHING]);
}
