// Port of a directional valve: an orifice whose opening follows the spool along a curve C(s), a B-spline of its control points
// (math/spline_x.h).
//   s = side * spool - dead_band - overlap
//   Q = area * discharge * sqrt(2/rho) * opening * root(p_from - p_to)
//   opening = C(s)/full, or C(s)/full * s/stroke if the curve is a flow coefficient; 0 if s is below zero
// Beyond the last abscissa of the curve, s is this abscissa.
// The memory of the instance stores the state of the port, for derivatives and for a faster next evaluation of the curve.
#ifdef OD_ELEMENT_TEXT
#include "math/spline_x.h"

typedef struct X(in) {
  od_x from, to, spool;
} X(in);
typedef struct X(numbers) {
  od_x overlap, curve[];  // abscissae of the curve's control points, then their ordinates
} X(numbers);
typedef struct X(out) {
  od_x flow, value;  // value: value of the curve, 0 if the port is closed
} X(out);
typedef struct X(report) {
  od_x loss, stored;
} X(report);

// The state of a port: the travel of the spool into the port, the point of the curve at this travel, the opening, and the flow of
// the fully open port.
typedef struct X(port_state) {
  X(curve_point) curve;
  od_x travel, opening, full_flow;
  bool open;
} X(port_state);
_Static_assert(sizeof(X(port_state)) <= OD_PORT_KEPT * sizeof(od_x), "a port's state must fit its memory");

// Returns whether the port is open at zero travel. If the curve gives the opening, the port is open if the first value
// of the curve is positive or the first abscissa is negative. If the curve gives a flow coefficient, the port is
// closed, because the coefficient is multiplied by the travel.
static inline bool X(begins_open)(const X(numbers) * q, const X(setting) * s, const X(port_state) * port) {
  const od_x *at = q->curve, *value = at + s->choice[OD_PORT_COUNT];
  return RE(port->travel) == 0 && s->choice[OD_PORT_LAW] == OD_VALVE_OPENING && (RE(*value) > 0 || RE(*at) < 0);
}

// Computes travel, curve and opening at the current spool position.
static inline void X(open)(const X(in) * in, const X(numbers) * q, const X(setting) * s, X(port_state) * port) {
  const od_x *v = s->host, *at = q->curve;
  int count = s->choice[OD_PORT_COUNT];
  port->travel = s->choice[OD_PORT_SIDE] * in->spool - v[OD_VALVE_DEAD_BAND] - q->overlap;
  port->open = RE(port->travel) > 0 || X(begins_open)(q, s, port);
  if (!port->open) return;
  port->travel = OD_SELECT(RE(port->travel) > RE(at[count - 1]), at[count - 1], port->travel);
  X(curve_follow)(s->choice[OD_PORT_DEGREE], count, at, at + count, port->travel, &port->curve);
  bool coefficient = s->choice[OD_PORT_LAW] == OD_VALVE_COEFFICIENT;
  port->opening =
      port->curve.y * ((coefficient ? port->travel : 1) / (v[OD_VALVE_FULL] * (coefficient ? v[OD_VALVE_STROKE] : 1)));
}

static inline void X(evaluate)(const X(in) * in, const X(numbers) * q, X(setting) s, X(out) * out) {
  X(port_state) *port = (X(port_state) *)s.kept;
  X(open)(in, q, &s, port);
  out->flow = out->value = 0;
  if (!port->open) return;
  port->full_flow = s.host[OD_VALVE_AREA] * s.host[OD_VALVE_DISCHARGE] * s.oil[OD_OIL_STATE_ROOT] *
                    X(smooth_root)(in->from - in->to, s.oil[OD_OIL_STATE_SMOOTHING]);
  out->flow = port->full_flow * port->opening;
  out->value = port->curve.y;
}

static inline void X(fill_report)(const X(in) * in, const X(numbers) * q, X(setting) s, const X(out) * out,
                                  X(report) * r) {
  (void)q, (void)s;
  r->loss = out->flow * (in->from - in->to);
  r->stored = 0;
}

#ifndef OD_COMPLEX
typedef struct slopes_r {
  in_r flow, value;
} slopes_r;

// Returns the derivative of the opening of an open port with respect to travel; zero at and beyond the curve's end.
static double opening_slope(const numbers_r *q, const setting_r *s, const port_state_r *port) {
  if (port->travel >= q->curve[s->choice[OD_PORT_COUNT] - 1]) return 0;
  if (s->choice[OD_PORT_LAW] == OD_VALVE_OPENING) return curve_slope_r(&port->curve) / s->host[OD_VALVE_FULL];
  return (curve_slope_r(&port->curve) * port->travel + port->curve.y) /
         (s->host[OD_VALVE_FULL] * s->host[OD_VALVE_STROKE]);
}

static inline void slopes(const in_r *in, const numbers_r *q, setting_r s, const out_r *out, slopes_r *by) {
  (void)out;
  const port_state_r *port = (const port_state_r *)s.kept;
  *by = (slopes_r){0};
  if (!port->open) return;
  double K = s.host[OD_VALVE_AREA] * s.host[OD_VALVE_DISCHARGE] * s.oil[OD_OIL_STATE_ROOT];
  by->flow.from = K * port->opening * root_slope(in->from - in->to, s.oil[OD_OIL_STATE_SMOOTHING]);
  by->flow.to = -by->flow.from;
  by->flow.spool = port->full_flow * s.choice[OD_PORT_SIDE] * opening_slope(q, &s, port);
  by->value.spool = s.choice[OD_PORT_SIDE] * curve_slope_r(&port->curve);
}

// Returns the derivative of the opening with respect to the value C(s) of the curve.
static double opening_per_value(const setting_r *s, const port_state_r *port) {
  const double *v = s->host;
  return 1 / v[OD_VALVE_FULL] *
         (s->choice[OD_PORT_LAW] == OD_VALVE_COEFFICIENT ? port->travel / v[OD_VALVE_STROKE] : 1);
}

// Returns the derivative of the opening with respect to a number of the curve: per_value times the basis function of the
// point; for an abscissa, also times minus the slope of the curve.
static double opening_by_point(const numbers_r *q, const setting_r *s, const port_state_r *port, double per_value,
                               int number) {
  int count = s->choice[OD_PORT_COUNT];
  int point = number < count ? number : number - count, place = point - port->curve.first;
  if (place < 0 || place > s->choice[OD_PORT_DEGREE]) return 0;
  bool abscissa = number < count, coefficient = s->choice[OD_PORT_LAW] == OD_VALVE_COEFFICIENT;
  const double *v = s->host;
  double slope = per_value * port->curve.B[place] * (abscissa ? -curve_slope_r(&port->curve) : 1);
  // At and beyond the curve's end, the factor s in C(s)/full * s/stroke is this last abscissa.
  if (abscissa && coefficient && point == count - 1 && port->travel >= q->curve[count - 1])
    slope += port->curve.y / (v[OD_VALVE_FULL] * v[OD_VALVE_STROKE]);
  return slope;
}

// Returns the derivative of the flow with respect to a number of the valve or of the oil.
static double flow_by_other(const in_r *in, const numbers_r *q, const setting_r *s, double flow, int number) {
  const port_state_r *port = (const port_state_r *)s->kept;
  if (number == OD_NUMBER_OF_OIL + OD_OIL_STATE_ROOT) return flow / s->oil[OD_OIL_STATE_ROOT];
  if (number == OD_NUMBER_OF_OIL + OD_OIL_STATE_SMOOTHING)
    return s->host[OD_VALVE_AREA] * s->host[OD_VALVE_DISCHARGE] * s->oil[OD_OIL_STATE_ROOT] * port->opening *
           root_smoothing_slope(in->from - in->to, s->oil[OD_OIL_STATE_SMOOTHING]);
  if (number >= OD_NUMBER_OF_OIL) return 0;
  int place = number - OD_NUMBER_OF_HOST;
  switch (place) {
    case OD_VALVE_AREA:
    case OD_VALVE_DISCHARGE: return flow / s->host[place];
    case OD_VALVE_FULL: return -flow / s->host[place];
    case OD_VALVE_STROKE: return s->choice[OD_PORT_LAW] == OD_VALVE_COEFFICIENT ? -flow / s->host[place] : 0;
    case OD_VALVE_DEAD_BAND: return -port->full_flow * opening_slope(q, s, port);
    default: return 0;
  }
}
#endif

#else
#include "elements/elements.h"
#define OD_ELEMENT_FILE "elements/port.c"
#include "elements/element_template_x.h"

static bool number_slopes(const od_batch *b, const int *pool, double *w, int i, const int *number, int count,
                          double *dout) {
  setting_r s = setting_of_r(b, pool, w, i);
  const port_state_r *port = (const port_state_r *)s.kept;
  if (!port->open) return false;
  const numbers_r *q = (const numbers_r *)(w + pool[b->number + i]);
  double per_value = opening_per_value(&s, port);
  for (int k = 0; k < count; k++, dout += outs_r) {
    dout[1] = 0;  // all other derivatives of the curve's value are zero
    if (number[k] == 0)
      dout[0] = -port->full_flow * opening_slope(q, &s, port);
    else if (number[k] < OD_NUMBER_OF_HOST)
      dout[0] = port->full_flow * opening_by_point(q, &s, port, per_value, number[k] - 1);
    else
      dout[0] = flow_by_other((const in_r *)(w + b->in) + i, q, &s, ((const out_r *)(w + b->out) + i)->flow, number[k]);
  }
  return true;
}

const od_element_class od_port_class = {
    .name = "port",
    .needs_oil = true,
    .reads_host = true,
    .host_class = &od_valve_class,
    .has_curve = true,
    .kept = OD_PORT_KEPT,
    .choices = OD_PORT_CHOICES,
    .in = {{OD_IN_PRESSURE, 0}, {OD_IN_PRESSURE, 1}, {OD_IN_HOST_STATE, 0}},
    .out = {{OD_TO_THROUGH}, {OD_TO_NOTHING}},
    OD_ELEMENT_FUNCTIONS,
    .number_slopes = number_slopes,
};
const od_element_description od_port_description = {
    .equations = &od_port_class,
    .noun = "port",
    .heading = "Ports",
    .summary = "orifice that the spool of a valve opens along a curve",
    .inside = "ports",
    .host = &od_valve_description,
    .curve_stroke = OD_VALVE_STROKE,
    .curve_full = OD_VALVE_FULL,
    .ends = {{"between", 2}},
    OD_FIELDS(OD_FIELD("overlap", "*", OD_ANY, 0, 0, 0, 0, 0, "travel of the spool before the port opens",
                       .limits_in_m = {-10, 10, -0.1, 0.1})),
    .outputs = {{.name = "flow", .unit = "m3/s", .shows = OD_SHOWS_OUT, .index = 0},
                {.name = "opening", .unit = "1", .shows = OD_SHOWS_OUT, .index = 1},
                {.name = "loss", .unit = "W", .shows = OD_SHOWS_REPORT, .index = OD_REPORT_LOSS},
                {.name = "dissipated", .unit = "J", .shows = OD_SHOWS_INTEGRAL}},
};
#endif
