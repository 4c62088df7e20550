// Common part of valves with a spool on a spring: an edge that opens with the spool, and the opening for given pressures.
// Included in the text of an element.

// Returns the flow across an edge that is open by a fraction of its area. If the spool is below its seat, the edge is closed.
static inline od_x X(edge_flow)(od_x opening, od_x area, od_x discharge, od_x dp, const od_x *oil) {
  return OD_SELECT(RE(opening) < 0, 0, opening) * area * discharge * oil[OD_OIL_STATE_ROOT] *
         X(smooth_root)(dp, oil[OD_OIL_STATE_SMOOTHING]);
}

// Returns the opening, which goes from 0 to 1 while the pressure rises from `set` to set + range.
static inline od_x X(spring_opening)(od_x pressure, od_x set, od_x range) {
  return X(rounded_limit)((pressure - set) / range);
}
