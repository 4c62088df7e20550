#include "requirements/sizing.h"

#include <math.h>

static const double turbulent = 2300;  // Reynolds number above which the flow is turbulent

double od_size_accumulator(double swing, double precharge, double low, double high, double exponent,
                           double correction) {
  if (!(precharge <= low && low < high)) return INFINITY;
  return swing * correction / (pow(precharge / low, 1 / exponent) - pow(precharge / high, 1 / exponent));
}

// Uses the laws of Hagen-Poiseuille for laminar flow and of Blasius for turbulent flow in a smooth pipe.
od_hose_flow od_size_hose(double flow, double diameter, double length, double density, double viscosity) {
  od_hose_flow h = {.velocity = fabs(flow) / (acos(-1) / 4 * diameter * diameter)};
  h.reynolds = density * h.velocity * diameter / viscosity;
  if (!(h.reynolds > 0)) return h;
  h.friction = h.reynolds < turbulent ? 64 / h.reynolds : 0.3164 / pow(h.reynolds, 0.25);
  h.loss = h.friction * length / diameter * density * h.velocity * h.velocity / 2;
  return h;
}
