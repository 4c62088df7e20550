// Common part of round lines: inertance and resistance per length. Included in the text of an element.
typedef struct X(bore) {
  od_x diameter, area, density, inertance;  // inertance per meter, kg/m5
} X(bore);

#undef OD_QUARTER_PI
#define OD_QUARTER_PI 0.78539816339744830962
static inline X(bore) X(bore_of)(od_x diameter, const od_x *oil) {
  od_x area = OD_QUARTER_PI * diameter * diameter;
  od_x density = 2 / (oil[OD_OIL_STATE_ROOT] * oil[OD_OIL_STATE_ROOT]);
  return (X(bore)){diameter, area, density, density / area};
}

static inline od_x X(magnitude)(od_x flow) {
  return OD_SELECT(RE(flow) < 0, -flow, flow);
}

static inline od_x X(pipe_reynolds)(const X(bore) * bore, od_x flow, od_x mu) {
  return bore->density * X(magnitude)(flow) * bore->diameter / (bore->area * mu);
}

// Returns the pressure loss per meter: by the law of Hagen and Poiseuille up to a Reynolds number of 2000, by the turbulent law
// from 3000 on. The transition is smooth.
static inline od_x X(pipe_gradient)(const X(bore) * bore, od_x flow, od_x mu, od_x friction) {
  od_x d = bore->diameter, laminar = 32 * mu / (d * d * bore->area) * flow;
  od_x turbulent = friction / d * bore->density / 2 * flow * X(magnitude)(flow) / (bore->area * bore->area);
  od_x share = X(smooth_step)((X(pipe_reynolds)(bore, flow, mu) - 2000) / 1000);
  return laminar + share * (turbulent - laminar);
}

#ifndef OD_COMPLEX
// Derivatives of pipe_gradient() with respect to the flow and to the viscosity.
typedef struct gradient_slopes {
  double flow, mu;
} gradient_slopes;
static inline gradient_slopes slopes_of_gradient(const bore_r *bore, double flow, double mu, double friction) {
  double d = bore->diameter, laminar = 32 * mu / (d * d * bore->area);  // both divided by the flow
  double turbulent = friction / d * bore->density / 2 * magnitude_r(flow) / (bore->area * bore->area);
  double reynolds = pipe_reynolds_r(bore, flow, mu), x = (reynolds - 2000) / 1000, share = smooth_step_r(x);
  double by_reynolds = step_slope(x) / 1000 * (turbulent - laminar);  // divided by the flow
  return (gradient_slopes){.flow = laminar + share * (2 * turbulent - laminar) + by_reynolds * reynolds,
                           .mu = flow / mu * ((1 - share) * laminar - by_reynolds * reynolds)};
}
#endif
