// A spool as in servo_spool_x.h that follows its command with a hysteresis: the spool stays at its position until the command differs by
// more than half of the hysteresis. Included after X(in) with command, spool, speed and held, and X(numbers).
//   held' = 10 w (u - held - limit(u - held, hysteresis/2)),    u: the command between `low` and the stroke
// Without a hysteresis the spool follows the command itself.
#include "elements/servo_spool_x.h"

static inline void X(held_spool_rates)(const X(in) * in, const X(numbers) * q, od_x low, od_x *spool, od_x *speed,
                                       od_x *held) {
  X(spool_rates)(in, q, X(between)(in->held, low, q->stroke), spool, speed);
  *held = 0;
  if (!(RE(q->hysteresis) > 0)) return;
  od_x behind = X(between)(in->command, low, q->stroke) - in->held, half = q->hysteresis / 2;
  *held = 10 * q->frequency * (behind - X(between)(behind, -half, half));
}

#ifndef OD_COMPLEX
static inline void held_spool_slopes(const in_r *in, const numbers_r *q, double low, in_r *travel_rate,
                                     in_r *speed_rate, in_r *held_rate) {
  speed_rate->held = spool_slopes(in, q, travel_rate, speed_rate) * between_slope(in->held, low, q->stroke);
  if (!(q->hysteresis > 0)) return;
  double behind = between_r(in->command, low, q->stroke) - in->held, half = q->hysteresis / 2;
  double pull = 10 * q->frequency * (1 - between_slope(behind, -half, half));
  held_rate->command = pull * between_slope(in->command, low, q->stroke);
  held_rate->held = -pull;
}
#endif
