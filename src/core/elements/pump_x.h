// Common part of pumps with a control: a swash plate that follows the control with a lag, and leakage, which depends on
// the oil's viscosity as in leak.c. Included after X(numbers) and X(in); X(in) has `to` and `swash`.
typedef struct X(out) {
  od_x flow, rate;
} X(out);
typedef struct X(report) {
  od_x loss, stored;
} X(report);
#include "elements/metering_x.h"

// Computes the flow and the rate of the swash plate. suction: pressure at the inlet; wanted: displacement that the control
// requests, relative to the largest displacement.
static inline void X(pump)(const X(in) * in, const X(numbers) * q, X(setting) s, od_x suction, od_x wanted,
                           X(out) * out) {
  out->flow = q->flow * in->swash - q->leakage * s.oil[OD_OIL_STATE_THINNESS] * (in->to - suction);
  out->rate = (wanted - in->swash) / q->time_constant;
}

#ifndef OD_COMPLEX
typedef struct slopes_r {
  in_r flow, rate;
} slopes_r;

// Returns the derivatives of flow and rate with respect to `to` and `swash`, without the effect of `to` on the control.
static inline slopes_r pump_slopes(const numbers_r *q, setting_r s) {
  return (slopes_r){{.swash = q->flow, .to = -q->leakage * s.oil[OD_OIL_STATE_THINNESS]},
                    {.swash = -1 / q->time_constant}};
}
#endif
