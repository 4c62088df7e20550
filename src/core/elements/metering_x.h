// Common part of valves with a spool on a spring: an edge that opens with the spool, and the opening for given pressures.
// Included in the text of an element.

// Returns the flow across an edge of the area `area`, of which the fraction `opening` is open. A negative opening counts as zero.
static inline od_x X(edge_flow)(od_x opening, od_x area, od_x discharge, od_x dp, const od_x *oil) {
  return OD_SELECT(RE(opening) < 0, 0, opening) * area * discharge * oil[OD_OIL_STATE_ROOT] *
         X(smooth_root)(dp, oil[OD_OIL_STATE_SMOOTHING]);
}

// Returns the opening, which increases from 0 to 1 while the pressure increases from `set` to set + 1.05 range; see
// rounded_limit().
static inline od_x X(spring_opening)(od_x pressure, od_x set, od_x range) {
  return X(rounded_limit)((pressure - set) / range);
}

#ifndef OD_COMPLEX
// Derivatives of edge_flow() with respect to the opening and to dp.
typedef struct edge_flow_slopes {
  double opening, dp;
} edge_flow_slopes;
static inline edge_flow_slopes slopes_of_edge_flow(double opening, double area, double discharge, double dp,
                                                   const double *oil) {
  double K = area * discharge * oil[OD_OIL_STATE_ROOT], e = oil[OD_OIL_STATE_SMOOTHING];
  return (edge_flow_slopes){.opening = not_negative_slope(opening) * K * smooth_root_r(dp, e),
                            .dp = not_negative_r(opening) * K * root_slope(dp, e)};
}

// Returns the derivative of spring_opening() with respect to the pressure.
static inline double spring_opening_slope(double pressure, double set, double range) {
  return limit_slope((pressure - set) / range) / range;
}
#endif
