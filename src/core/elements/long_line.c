// Modal model of a long line between two volumes, for laminar flow, with waves in both directions. The flow along the line is q_0 +
// sum q_n cos(n pi x / L); the pressure has the terms s_n sin(n pi x / L).
//   I L q_0' = p_from - p_to - R L q_0
//   I_n q_n' = -R_n q_n - k_n s_n + 2/L (p_from - (-1)^n p_to),    k_n = n pi / L
//   C s_n' = k_n q_n
//   Q_from = q_0 + sum q_n,    Q_to = q_0 + sum (-1)^n q_n
// with I = rho/A, R = 128 mu/(pi d^4), C = A/(rho sound^2), all per meter. The volume of the omitted modes is a compliance at both
// ends, C L (1/2 - sum over odd n of 4/(n pi)^2). The initial s_n are the values in a line at the constant pressure `rest`; the
// states are relative to these initial values. Friction increases with frequency, because the flow is sheared near the wall: with W
// = n pi sound/L r^2/nu
//   R_n = R (1 + unsteady (max(8, 3 + sqrt(2 W))/8 - 1)),    I_n = I (1 + unsteady min(1/3, sqrt(2/W)))
#ifdef OD_ELEMENT_TEXT

enum { X(most_modes) = 6 };
typedef struct X(in) {
  od_x from, to, mean, flow[X(most_modes)], wave[X(most_modes)];
} X(in);
typedef struct X(numbers) {
  od_x length, diameter, sound, rest, modes, unsteady;
} X(numbers);
typedef struct X(out) {
  od_x to_from, to_to;  // flows out of the line
  od_x mean_rate, flow_rate[X(most_modes)], wave_rate[X(most_modes)];
  od_x give_a, give_b;
} X(out);
typedef struct X(report) {
  od_x loss, stored, reynolds;
} X(report);
#include "elements/pipe_x.h"

#undef OD_PI
#define OD_PI 3.14159265358979323846

typedef struct X(line) {
  int modes;
  od_x inertance, resistance, capacity, shear;  // values per meter; shear: W of the first mode
} X(line);
static inline X(line) X(line_of)(const X(numbers) * q, const od_x *oil) {
  X(bore) bore = X(bore_of)(q->diameter, oil);
  od_x mu = X(viscosity)(oil, q->rest), d = q->diameter;
  return (X(line)){.modes = (int)(RE(q->modes) + 0.5),
                   .inertance = bore.inertance,
                   .resistance = 32 * mu / (d * d * bore.area),
                   .capacity = bore.area / (bore.density * q->sound * q->sound),
                   .shear = OD_PI * q->sound / q->length * d * d / 4 * bore.density / mu};
}

// Inertance and resistance of mode n, the wave number k_n, and the pressure s_n.
typedef struct X(mode) {
  od_x inertance, resistance, k, wave;
} X(mode);
static inline X(mode) X(mode_of)(const X(line) * line, const X(in) * in, const X(numbers) * q, int n) {
  od_x W = n * line->shear, root = od_x_sqrt(2 * W), more = 2 / root;
  od_x worse = OD_SELECT(RE(root) > 5, (3 + root) / 8 - 1, 0), heavier = OD_SELECT(RE(more) < 1.0 / 3, more, 1.0 / 3);
  od_x at_rest = n % 2 ? 4 * q->rest / (n * OD_PI) : 0;
  return (X(mode)){.inertance = line->inertance * (1 + q->unsteady * heavier),
                   .resistance = line->resistance * (1 + q->unsteady * worse),
                   .k = n * OD_PI / q->length,
                   .wave = at_rest + in->wave[n - 1]};
}

static inline void X(evaluate)(const X(in) * in, const X(numbers) * q, X(setting) s, X(out) * out) {
  X(line) line = X(line_of)(q, s.oil);
  od_x a = in->mean, b = a;
  double give = 0.5;
  out->mean_rate = ((in->from - in->to) / q->length - line.resistance * in->mean) / line.inertance;
  for (int n = 1; n <= X(most_modes); n++) {
    od_x *flow_rate = &out->flow_rate[n - 1], *wave_rate = &out->wave_rate[n - 1], flow = in->flow[n - 1];
    *flow_rate = *wave_rate = 0;
    if (n > line.modes) continue;
    X(mode) m = X(mode_of)(&line, in, q, n);
    double sign = n % 2 ? -1 : 1;
    *flow_rate = (2 / q->length * (in->from - sign * in->to) - m.resistance * flow - m.k * m.wave) / m.inertance;
    *wave_rate = m.k * flow / line.capacity;
    a += flow;
    b += sign * flow;
    if (n % 2) give -= 4 / (n * OD_PI * n * OD_PI);
  }
  out->to_from = -a;
  out->to_to = b;
  out->give_a = out->give_b = line.capacity * q->length * give;
}

static inline void X(fill_report)(const X(in) * in, const X(numbers) * q, X(setting) s, const X(out) * out,
                                  X(report) * r) {
  X(line) line = X(line_of)(q, s.oil);
  X(bore) bore = X(bore_of)(q->diameter, s.oil);
  r->loss = line.resistance * q->length * in->mean * in->mean;
  r->stored = line.inertance * q->length * in->mean * in->mean / 2;
  for (int n = 1; n <= line.modes; n++) {
    X(mode) m = X(mode_of)(&line, in, q, n);
    od_x flow = in->flow[n - 1];
    r->loss += m.resistance * q->length * flow * flow / 2;
    r->stored += (m.inertance * flow * flow + line.capacity * m.wave * m.wave) * q->length / 4;
  }
  r->reynolds = X(pipe_reynolds)(&bore, (out->to_to - out->to_from) / 2, X(viscosity)(s.oil, q->rest));
}

#ifndef OD_COMPLEX
typedef struct slopes_r {
  in_r to_from, to_to, mean_rate, flow_rate[most_modes_r], wave_rate[most_modes_r], give_a, give_b;
} slopes_r;
static inline void slopes(const in_r *in, const numbers_r *q, setting_r s, const out_r *out, slopes_r *by) {
  (void)out;
  line_r line = line_of_r(q, s.oil);
  double drive = 1 / (q->length * line.inertance);
  *by = (slopes_r){.to_from = {.mean = -1},
                   .to_to = {.mean = 1},
                   .mean_rate = {.from = drive, .to = -drive, .mean = -line.resistance / line.inertance}};
  for (int n = 1; n <= line.modes && n <= most_modes_r; n++) {
    mode_r m = mode_of_r(&line, in, q, n);
    double sign = n % 2 ? -1 : 1, pull = 2 / (q->length * m.inertance);
    in_r *flow_rate = &by->flow_rate[n - 1];
    flow_rate->from = pull, flow_rate->to = -sign * pull;
    flow_rate->flow[n - 1] = -m.resistance / m.inertance;
    flow_rate->wave[n - 1] = -m.k / m.inertance;
    by->wave_rate[n - 1].flow[n - 1] = m.k / line.capacity;
    by->to_from.flow[n - 1] = -1, by->to_to.flow[n - 1] = sign;
  }
}
#endif

#else
#define OD_ELEMENT_FILE "elements/long_line.c"
#include "elements/element_template_x.h"

enum { LENGTH, DIAMETER, SOUND, REST, MODES };
#define FLOW(name, n) \
  { name, "m3/s", .present_if = MODES, .present_above = n - 0.5, .scale = 1e-3 }
#define WAVE(name, n) \
  { name, "Pa", .present_if = MODES, .present_above = n - 0.5, .scale = 1e6 }

const od_element_class od_long_line_class = {
    .name = "long line",
    .needs_oil = true,
    .in = {{OD_IN_PRESSURE, 0},
           {OD_IN_PRESSURE, 1},
           {OD_IN_STATE, 0},
           {OD_IN_STATE, 1},
           {OD_IN_STATE, 2},
           {OD_IN_STATE, 3},
           {OD_IN_STATE, 4},
           {OD_IN_STATE, 5},
           {OD_IN_STATE, 6},
           {OD_IN_STATE, 7},
           {OD_IN_STATE, 8},
           {OD_IN_STATE, 9},
           {OD_IN_STATE, 10},
           {OD_IN_STATE, 11},
           {OD_IN_STATE, 12}},
    .out = {{OD_TO_END, 0},
            {OD_TO_END, 1},
            {OD_TO_RATE, 0},
            {OD_TO_RATE, 1},
            {OD_TO_RATE, 2},
            {OD_TO_RATE, 3},
            {OD_TO_RATE, 4},
            {OD_TO_RATE, 5},
            {OD_TO_RATE, 6},
            {OD_TO_RATE, 7},
            {OD_TO_RATE, 8},
            {OD_TO_RATE, 9},
            {OD_TO_RATE, 10},
            {OD_TO_RATE, 11},
            {OD_TO_RATE, 12},
            {OD_TO_COMPLIANCE, 0},
            {OD_TO_COMPLIANCE, 1}},
    .optional_states = (1U << OD_MOST_ELEMENT_STATES) - 2,  // all states except state 0
    OD_ELEMENT_FUNCTIONS,
};
const od_element_description od_long_line_description = {
    .equations = &od_long_line_class,
    .section = "long_lines",
    .noun = "long line",
    .heading = "Long lines",
    .summary =
        "line with traveling pressure waves, with up to six modes and with friction that increases with frequency",
    .ends = {{"between", 2}},
    OD_FIELDS(
        OD_FIELD("length", "m", OD_POSITIVE, NAN, 1e-3, 1e5, 0.1, 1e3, "length of the line"),
        OD_FIELD("diameter", "m", OD_POSITIVE, NAN, 1e-5, 10, 1e-3, 0.2, "inner diameter"),
        OD_FIELD("sound", "m/s", OD_POSITIVE, NAN, 1, 1e4, 300, 1600,
                 "speed of sound in the line, including the effect of the wall"),
        OD_FIELD("rest", "Pa", OD_NOT_NEGATIVE, NAN, 0, 1e10, 1e5, 1e8, "initial pressure along the line"),
        OD_FIELD("modes", "1", OD_POSITIVE, 4, 1, 6, 1, 6, "number of modes, from 1 to 6"),
        OD_FIELD("unsteady", "1", OD_NOT_NEGATIVE, 1, 0, 1, 0, 1,
                 "weight of the friction that increases with frequency; 0: the same resistance at all frequencies")),
    .states = {{"flow", "m3/s", .present_if = -1, .scale_field = -1, .scale = 1e-3},
               FLOW("flow_1", 1),
               FLOW("flow_2", 2),
               FLOW("flow_3", 3),
               FLOW("flow_4", 4),
               FLOW("flow_5", 5),
               FLOW("flow_6", 6),
               WAVE("wave_1", 1),
               WAVE("wave_2", 2),
               WAVE("wave_3", 3),
               WAVE("wave_4", 4),
               WAVE("wave_5", 5),
               WAVE("wave_6", 6)},
    .outputs = {{.name = "flow", .unit = "m3/s", .shows = OD_SHOWS_STATE, .index = 0},
                {.name = "flow_a", .unit = "m3/s", .shows = OD_SHOWS_OUT, .index = 0, .negative = true},
                {.name = "flow_b", .unit = "m3/s", .shows = OD_SHOWS_OUT, .index = 1},
                {.name = "loss", .unit = "W", .shows = OD_SHOWS_REPORT, .index = OD_REPORT_LOSS},
                {.name = "dissipated", .unit = "J", .shows = OD_SHOWS_INTEGRAL},
                {.name = "reynolds", .unit = "1", .shows = OD_SHOWS_REPORT, .index = OD_REPORT_OWN},
                {.name = "energy", .unit = "J", .shows = OD_SHOWS_REPORT, .index = OD_REPORT_STORED}},
};
#endif
