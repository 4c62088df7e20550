// Common part of valves between two nodes whose spool follows pressures with a lag: the flow across one edge, and the rate of the
// opening. All power of the flow is a loss. Included after X(in), X(numbers) and the declaration of X(target), the opening that the
// spool approaches.
typedef struct X(out) {
  od_x flow, rate;
} X(out);
typedef struct X(report) {
  od_x loss, stored;
} X(report);
#include "elements/metering_x.h"

static inline od_x X(target)(const X(in) * in, const X(numbers) * q);

static inline void X(evaluate)(const X(in) * in, const X(numbers) * q, X(setting) s, X(out) * out) {
  out->flow = X(edge_flow)(in->opening, q->area, q->discharge, in->from - in->to, s.oil);
  out->rate = (X(target)(in, q) - in->opening) / q->time_constant;
}

static inline void X(fill_report)(const X(in) * in, const X(numbers) * q, X(setting) s, const X(out) * out,
                                  X(report) * r) {
  (void)q, (void)s;
  r->loss = out->flow * (in->from - in->to);
  r->stored = 0;
}
