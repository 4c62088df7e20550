// Common part of valves between two nodes whose spool follows pressures with a lag: the flow across one edge, and the rate of the
// opening. All power of the flow is a loss. Included after X(in) and X(numbers). The element defines X(target)(), the opening that
// the spool approaches, and target_slopes(), the derivatives of the target with respect to all inputs.
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

#ifndef OD_COMPLEX
typedef struct slopes_r {
  in_r flow, rate;
} slopes_r;
static inline in_r target_slopes(const in_r *in, const numbers_r *q);

static inline void slopes(const in_r *in, const numbers_r *q, setting_r s, const out_r *out, slopes_r *by) {
  (void)out;
  edge_flow_slopes edge = slopes_of_edge_flow(in->opening, q->area, q->discharge, in->from - in->to, s.oil);
  *by = (slopes_r){{.from = edge.dp, .to = -edge.dp, .opening = edge.opening}, target_slopes(in, q)};
  by->rate.opening -= 1;
  double *rate = (double *)&by->rate;
  for (size_t i = 0; i < sizeof by->rate / sizeof *rate; i++) rate[i] /= q->time_constant;
}
#endif
