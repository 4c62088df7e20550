// What round lines share: inertance and resistance per length. To be included in the text of an element.
typedef struct X(bore) {
  od_x diameter, area, density, inertance;  // inertance: of a meter, kg/m5
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

// The pressure that is lost per meter: Hagen and Poiseuille's law up to a Reynolds number of 2000, from 3000 on the turbulent one, and
// a smooth passage between them.
static inline od_x X(pipe_gradient)(const X(bore) * bore, od_x flow, od_x mu, od_x friction) {
  od_x d = bore->diameter, laminar = 32 * mu / (d * d * bore->area) * flow;
  od_x turbulent = friction / d * bore->density / 2 * flow * X(magnitude)(flow) / (bore->area * bore->area);
  od_x share = X(smooth_step)((X(pipe_reynolds)(bore, flow, mu) - 2000) / 1000);
  return laminar + share * (turbulent - laminar);
}
