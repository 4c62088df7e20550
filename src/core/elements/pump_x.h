// What pumps with a control share: a swash plate that follows what the control wants by a lag, and leakage. To be included behind X(in),
// which has `to` and `swash`, and X(numbers).
typedef struct X(out) {
  od_x flow, rate;
} X(out);
typedef struct X(report) {
  od_x loss, stored;
} X(report);
#include "elements/metering_x.h"

// From `from` on the suction side; wanted: the displacement that the control wants, of the largest one.
static inline void X(pump)(const X(in) * in, const X(numbers) * q, X(setting) s, od_x suction, od_x wanted,
                           X(out) * out) {
  out->flow = q->flow * in->swash - q->leakage * s.oil[OD_OIL_STATE_THINNESS] * (in->to - suction);
  out->rate = (wanted - in->swash) / q->time_constant;
}
