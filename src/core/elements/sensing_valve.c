// Section of a load-sensing valve: a proportional 4/3 spool with closed center, an upstream compensator, and a port with the
// pressure of the load. The compensator keeps the pressure drop across the metering edge constant.
//   t = (spool - offset) / stroke,    m = (|t| - overlap) / (1 - overlap) between 0 and 1
//   the load is at a for t > 0 and at b otherwise; the opening from the other port to the tank is m
//   Q = nominal_flow / sqrt(nominal_drop) * g * root(p_pump - p_load),    g^2 = m^2 c^2 / (m^2 + c^2 + 0.01^2)
//   c = compensator * largest
//   drop = (p_pump - p_tank - s (p_load - p_tank)) c^2 / (c^2 + m^2 + 0.01^2)  across the metering edge
//   compensator' = (1 - limit((drop - set) / range) - compensator) / time_constant
//   Q_sense = sense_area * discharge * sqrt(2/rho) * (s root(p_load - p_sense) + (1 - s) root(p_tank - p_sense))
// s goes from 0 to 1 while m goes from 0 to 0.05: in the center position the sense port is open to the tank. If sections share the
// node of their sense ports, each section feeds this node through a check valve. No section is then open to the tank, so that the
// sense line has the highest load pressure:
//   Q_sense = sense_area * discharge * sqrt(2/rho) * s root(p_load - p_sense), not below zero
// Two openings in series share the drop in the ratio of the inverse squares of their areas. Therefore the pressure between them is
// not computed. Oil does not flow back from the load to the pump: the equations contain the effect of a load check valve. The
// term 0.01^2 in g and in the drop acts like a metering edge that is open by 1 %: the compensator does not close completely in
// the center position. The dynamics of the spool are in servo_spool_x.h.
#ifdef OD_ELEMENT_TEXT
#include "elements/servo_spool_tables.h"

typedef struct X(in) {
  od_x pump, tank, a, b, sense, command, spool, speed, compensator;
} X(in);
typedef struct X(numbers) {
  OD_SERVO_SPOOL_NUMBERS;
  od_x overlap, set, range, time_constant, largest, sense_area, discharge;
} X(numbers);
typedef struct X(out) {
  od_x to_pump, to_tank, to_a, to_b, to_sense;  // flows out of the valve
  od_x travel_rate, speed_rate, compensator_rate;
} X(out);
typedef struct X(report) {
  od_x loss, stored, drop;
} X(report);
#include "elements/metering_x.h"
#include "elements/servo_spool_x.h"

// The metering of the load: whether the load is at port a, and its pressure; the opening m of the metering edge; the
// weight s of the load pressure in the sense port; the opening of both throttles in series; the pressure drop across
// the metering edge.
typedef struct X(metering) {
  bool at_a;
  od_x load, m, load_share, pass, drop;
} X(metering);

// Returns the metering at the current spool and compensator positions.
static inline X(metering) X(meter)(const X(in) * in, const X(numbers) * q) {
  od_x t = (in->spool - q->offset) / q->stroke;
  X(metering) x = {.at_a = RE(t) > 0};
  x.m = X(edge)(x.at_a ? t : -t, q->overlap);
  x.load = x.at_a ? in->a : in->b;
  x.load_share = X(smooth_step)(x.m / 0.05);
  od_x c = q->largest * OD_SELECT(RE(in->compensator) < 0, 0, in->compensator), both = c * c + x.m * x.m + 1e-4;
  x.pass = x.m * c / od_x_sqrt(both);
  x.drop = (in->pump - in->tank - x.load_share * (x.load - in->tank)) * c * c / both;
  return x;
}

static inline void X(evaluate)(const X(in) * in, const X(numbers) * q, X(setting) s, X(out) * out) {
  X(metering) x = X(meter)(in, q);
  od_x back = x.at_a ? in->b : in->a, dp = in->pump - x.load;
  od_x supply = X(smooth_step)(dp / (2 * s.oil[OD_OIL_STATE_SMOOTHING])) * x.pass * X(nominal)(q, dp, s.oil);
  od_x drained = x.m * X(nominal)(q, back - in->tank, s.oil);
  od_x from_load = X(edge_flow)(x.load_share, q->sense_area, q->discharge, x.load - in->sense, s.oil);
  od_x vent = X(edge_flow)(1 - x.load_share, q->sense_area, q->discharge, in->tank - in->sense, s.oil);
  if (s.choice[OD_SENSE_SHARED]) {
    from_load *= X(smooth_step)((x.load - in->sense) / (2 * s.oil[OD_OIL_STATE_SMOOTHING]));
    vent = 0;
  }
  out->to_pump = -supply;
  out->to_tank = drained - vent;
  out->to_a = x.at_a ? supply - from_load : -drained;
  out->to_b = x.at_a ? -drained : supply - from_load;
  out->to_sense = from_load + vent;
  X(spool_rates)(in, q, X(between)(in->command, -q->stroke, q->stroke), &out->travel_rate, &out->speed_rate);
  out->compensator_rate = (1 - X(spring_opening)(x.drop, q->set, q->range) - in->compensator) / q->time_constant;
}

static inline void X(fill_report)(const X(in) * in, const X(numbers) * q, X(setting) s, const X(out) * out,
                                  X(report) * r) {
  (void)s;
  r->loss = -(in->pump * out->to_pump + in->tank * out->to_tank + in->a * out->to_a + in->b * out->to_b +
              in->sense * out->to_sense);
  r->stored = 0;
  r->drop = X(meter)(in, q).drop;
}

#ifndef OD_COMPLEX
typedef struct slopes_r {
  in_r to_pump, to_tank, to_a, to_b, to_sense, travel_rate, speed_rate, compensator_rate;
} slopes_r;
static inline void slopes(const in_r *in, const numbers_r *q, setting_r s, const out_r *out, slopes_r *by) {
  (void)out;
  metering_r x = meter_r(in, q);
  double back = x.at_a ? in->b : in->a, dp = in->pump - x.load, corner = 2 * s.oil[OD_OIL_STATE_SMOOTHING];
  // The metering edge: its opening m, the weight of the load pressure, and both throttles in series.
  double side = x.at_a ? 1 : -1, t = side * (in->spool - q->offset) / q->stroke;
  double m_spool = side * edge_slope(t, q->overlap) / q->stroke, share_spool = step_slope(x.m / 0.05) / 0.05 * m_spool;
  double c = q->largest * not_negative_r(in->compensator), c_slope = q->largest * not_negative_slope(in->compensator);
  double both = c * c + x.m * x.m + 1e-4, per = 1 / (both * sqrt(both));
  double pass_spool = c * (both - x.m * x.m) * per * m_spool, pass_c = x.m * (both - c * c) * per * c_slope;
  // The flow of the supply, the flow to the tank, and the flows to the sense port.
  double check = smooth_step_r(dp / corner);
  edge_slopes supply = slopes_of_edge(q, check * x.pass, check * pass_spool, dp, s.oil);
  supply.dp += step_slope(dp / corner) / corner * x.pass * nominal_r(q, dp, s.oil);
  double supply_c = check * pass_c * nominal_r(q, dp, s.oil);
  edge_slopes drained = slopes_of_edge(q, x.m, m_spool, back - in->tank, s.oil);
  edge_flow_slopes load = slopes_of_edge_flow(x.load_share, q->sense_area, q->discharge, x.load - in->sense, s.oil);
  edge_flow_slopes vent =
      slopes_of_edge_flow(1 - x.load_share, q->sense_area, q->discharge, in->tank - in->sense, s.oil);
  if (s.choice[OD_SENSE_SHARED]) {
    double above = (x.load - in->sense) / corner, open = smooth_step_r(above);
    load.dp = open * load.dp + step_slope(above) / corner * x.load_share * load.opening;
    load.opening *= open;
    vent = (edge_flow_slopes){0};
  }
  double load_spool = load.opening * share_spool, vent_spool = -vent.opening * share_spool;
  // The pressure drop across the metering edge is head * share of the compensator.
  double head = in->pump - in->tank - x.load_share * (x.load - in->tank), share = c * c / both;
  double drop_spool = -share_spool * (x.load - in->tank) * share - head * 2 * x.m * share / both * m_spool;
  double drop_c = head * 2 * c * (both - c * c) / (both * both) * c_slope;
  double close = -spring_opening_slope(x.drop, q->set, q->range) / q->time_constant;
  // The derivatives are computed for the load at a and the return flow at b. If the load is at b, a and b are exchanged below.
  *by = (slopes_r){0};
  by->to_pump = (in_r){.pump = -supply.dp, .a = supply.dp, .spool = -supply.spool, .compensator = -supply_c};
  by->to_tank =
      (in_r){.tank = -drained.dp - vent.dp, .b = drained.dp, .sense = vent.dp, .spool = drained.spool - vent_spool};
  by->to_a = (in_r){.pump = supply.dp,
                    .a = -supply.dp - load.dp,
                    .sense = load.dp,
                    .spool = supply.spool - load_spool,
                    .compensator = supply_c};
  by->to_b = (in_r){.tank = drained.dp, .b = -drained.dp, .spool = -drained.spool};
  by->to_sense = (in_r){.tank = vent.dp, .a = load.dp, .sense = -load.dp - vent.dp, .spool = load_spool + vent_spool};
  by->compensator_rate = (in_r){.pump = close * share,
                                .tank = close * share * (x.load_share - 1),
                                .a = -close * share * x.load_share,
                                .spool = close * drop_spool,
                                .compensator = close * drop_c - 1 / q->time_constant};
  by->speed_rate.command =
      spool_slopes(in, q, &by->travel_rate, &by->speed_rate) * between_slope(in->command, -q->stroke, q->stroke);
  if (x.at_a) return;
  in_r *row = (in_r *)by, to_load = by->to_a;
  by->to_a = by->to_b, by->to_b = to_load;
  for (size_t i = 0; i < sizeof *by / sizeof *row; i++) {
    double at_load = row[i].a;
    row[i].a = row[i].b, row[i].b = at_load;
  }
}
#endif

#else
enum { OD_SENSE_SHARED };
#define OD_ELEMENT_FILE "elements/sensing_valve.c"
#include "elements/element_template_x.h"

const od_element_class od_sensing_valve_class = {
    .name = "load-sensing valve",
    .choices = 1,
    .needs_oil = true,
    .in = {{OD_IN_PRESSURE, 0},
           {OD_IN_PRESSURE, 1},
           {OD_IN_PRESSURE, 2},
           {OD_IN_PRESSURE, 3},
           {OD_IN_PRESSURE, 4},
           {OD_IN_SIGNAL},
           {OD_IN_STATE, 0},
           {OD_IN_STATE, 1},
           {OD_IN_STATE, 2}},
    .out = {{OD_TO_END, 0},
            {OD_TO_END, 1},
            {OD_TO_END, 2},
            {OD_TO_END, 3},
            {OD_TO_END, 4},
            {OD_TO_RATE, 0},
            {OD_TO_RATE, 1},
            {OD_TO_RATE, 2}},
    .optional_states = OD_SERVO_SPOOL_OPTIONAL,
    OD_ELEMENT_FUNCTIONS,
};
const od_element_description od_sensing_valve_description = {
    .equations = &od_sensing_valve_class,
    .section = "sensing_valves",
    .noun = "load-sensing valve",
    .heading = "Load-sensing valves",
    .summary =
        "section of a load-sensing valve: 4/3 spool with an upstream compensator and a port for the load pressure",
    .ends = {{"between", 2}, {"to", 2}, {"sense", 1, .role = OD_END_SENSE}},
    .shared_end = 4,
    .shuts_about_center = true,
    .signal_key = "command",
    OD_FIELDS(
        OD_SERVO_SPOOL_FIELDS,
        OD_FIELD("overlap", "1", OD_NOT_NEGATIVE, 0.1, 0, 0.9, 0, 0.3, "fraction of the stroke before an edge opens"),
        OD_FIELD("set", "Pa", OD_POSITIVE, NAN, 1, 1e10, 1e4, 1e8,
                 "pressure drop across the metering edge at which the compensator begins to close"),
        OD_FIELD("range", "Pa", OD_POSITIVE, NAN, 1, 1e10, 1e4, 1e7,
                 "increase of the pressure drop between the start of closing and full closing"),
        OD_FIELD("time_constant", "s", OD_POSITIVE, 0.005, 1e-6, 100, 1e-4, 1, "time constant of the compensator"),
        OD_FIELD("largest", "1", OD_POSITIVE, 2, 1e-2, 1e3, 0.5, 10,
                 "area of the fully open compensator divided by the area of the fully open metering edge"),
        OD_FIELD("sense_area", "m2", OD_POSITIVE, 1e-6, 1e-14, 10, 1e-8, 1e-5,
                 "area of the passage from the load to the sense port"),
        OD_FIELD("discharge", "1", OD_POSITIVE, 0.7, 1e-4, 10, 0.3, 1.2,
                 "discharge coefficient of the passage to the sense port")),
    .states = {OD_SERVO_SPOOL_STATES,
               {"compensator", "1", .present_if = -1, .scale_field = -1, .scale = 1, .initial = 1}},
    .outputs = {OD_SERVO_SPOOL_OUTPUTS,
                {.name = "compensator", .unit = "1", .shows = OD_SHOWS_STATE, .index = 2},
                {.name = "flow_a", .unit = "m3/s", .shows = OD_SHOWS_OUT, .index = 2},
                {.name = "flow_b", .unit = "m3/s", .shows = OD_SHOWS_OUT, .index = 3},
                {.name = "flow_first", .unit = "m3/s", .shows = OD_SHOWS_OUT, .index = 0},
                {.name = "flow_second", .unit = "m3/s", .shows = OD_SHOWS_OUT, .index = 1},
                {.name = "flow_sense", .unit = "m3/s", .shows = OD_SHOWS_OUT, .index = 4},
                {.name = "drop", .unit = "Pa", .shows = OD_SHOWS_REPORT, .index = OD_REPORT_OWN},
                {.name = "loss", .unit = "W", .shows = OD_SHOWS_REPORT, .index = OD_REPORT_LOSS},
                {.name = "dissipated", .unit = "J", .shows = OD_SHOWS_INTEGRAL}},
};
#endif
