#include "observe/guard.h"

#include <math.h>

// Settling ends when the running mean of the normalized squares (expected: 1) is below this limit.
static const double settled_mean = 2;
static const double mean_samples = 50;         // number of samples over which the running mean is taken
static const double settling_gate_factor = 4;  // factor of the gate while the sensor is settling

void od_guard_start(od_guard *g, const od_guard_rules *rules) {
  *g = (od_guard){.mean = rules->gate * rules->gate, .last = NAN};
}

static int is_frozen(od_guard *g, const od_guard_rules *rules, double measured) {
  g->same = measured == g->last ? g->same + 1 : 0;
  g->last = measured;
  return rules->frozen > 0 && g->same + 1 >= rules->frozen;
}

// Updates the running mean. Squares beyond the gate are replaced by the gate's square, so that a single spike has a limited effect.
static void settle(od_guard *g, const od_guard_rules *rules, double nis) {
  double most = rules->gate * rules->gate;
  if (g->mean < 0) return;
  g->mean += (fmin(nis, most) - g->mean) / mean_samples;
  if (g->mean < settled_mean) g->mean = -1;
}

od_sensor_use od_guard_judge(od_guard *g, const od_guard_rules *rules, double measured, double nis, int *reopen) {
  *reopen = 0;
  if (is_frozen(g, rules, measured)) {
    g->frozen++;
    return OD_SENSOR_FROZEN;
  }
  if (!(rules->gate > 0)) return OD_SENSOR_USED;
  double gate = g->mean < 0 ? rules->gate : settling_gate_factor * rules->gate;
  settle(g, rules, nis);
  if (nis <= gate * gate) {
    g->out = 0;
    return OD_SENSOR_USED;
  }
  if (++g->out <= rules->patience) {
    g->gated++;
    return OD_SENSOR_GATED;
  }
  // The sensor begins to settle again.
  g->reopened++;
  g->out = 0;
  g->mean = rules->gate * rules->gate;
  *reopen = 1;
  return OD_SENSOR_USED;
}
