// Every number of every element class. Oracle: the law of each class written by hand.
//
// A row has an instance and states; a function computes the results of the instance from its numbers, in the form of docs/machine-files.md and data
// sheets. All outs are compared, and reports and margins if the function computes them. Then each number grows by 1 %: a number is covered if a
// result by hand changes and the class gives the same result. A class with a number that no row covers fails the test, unless the number is in
// `elsewhere` or `left`. These lists only shrink: a number in them that a row covers fails as well.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/test.h"

#include "elements/element_list.h"
#include "support/random_instance.h"

#define DECLARE(name) extern const od_element_description od_##name##_description;
OD_ELEMENT_CLASSES(DECLARE)

static const double rho = 870, thin = 1.3, pi = 3.14159265358979323846;

// Results of an instance. NAN: not computed by hand, which is allowed for reports and margins.
typedef struct answer {
  double out[OD_MOST_OUT], report[OD_MOST_REPORTS], margin;
} answer;
typedef void law(const double *q, const double *host, const double *in, answer *y);
#define LAW(name) static void name(const double *q, const double *host, const double *in, answer *restrict y)

// ---- shared by several laws

static double signed_root(double dp) {
  return copysign(sqrt(fabs(dp)), dp);
}
static double edge(double area, double discharge, double dp) {
  return area * discharge * sqrt(2 / rho) * signed_root(dp);
}
static double clamp(double x, double low, double high) {
  return fmin(fmax(x, low), high);
}
static double step(double x) {
  x = clamp(x, 0, 1);
  return 3 * x * x - 2 * x * x * x;
}
// The opening of a spool on a spring from 0 to 1: linear, with corners that are parabolas of width 0.05.
static double limit(double x) {
  if (x <= 0) return 0;
  if (x < 0.05) return x * x / 0.1;
  if (x <= 1) return x - 0.025;
  return x < 1.05 ? x - 0.025 - (x - 1) * (x - 1) / 0.1 : 1;
}
static double viscosity(double p) {
  return 0.04 * exp(2e-8 * p);
}
// A contact: stiffness d (1 + damping d'), which never pulls.
static double contact(double depth, double inward, double stiffness, double damping) {
  return depth > 0 ? fmax(0, stiffness * depth * (1 + damping * inward)) : 0;
}

// ---- springs, contacts

LAW(spring) {
  (void)host;
  y->out[0] = q[0] * (in[0] - q[2]) + q[1] * in[1] + q[3];
  y->out[1] = -y->out[0];
  y->report[0] = q[1] * in[1] * in[1];
  y->report[1] = q[0] / 2 * pow(in[0] - q[2], 2) + q[3] * (in[0] - q[2]);
}
LAW(play) {  // gap, stiffness, damping, free
  (void)host;
  double off = in[0] - q[3], side = off < 0 ? -1 : 1;
  y->out[0] = side * contact(fabs(off) - q[0] / 2, side * in[1], q[1], q[2]);
  y->out[1] = -y->out[0];
}
LAW(stop) {  // low, high, stiffness, damping
  (void)host;
  y->out[0] = contact(q[0] - in[0], -in[1], q[2], q[3]) - contact(in[0] - q[1], in[1], q[2], q[3]);
}
LAW(rope) {  // length, stiffness, damping
  (void)host;
  y->out[0] = contact(in[0] - q[0], in[1], q[1], q[2]);
  y->out[1] = -y->out[0];
}
LAW(winch) {  // length, stiffness, damping, speed; in: x, rate, signal, paid out
  (void)host;
  double speed = q[3] * in[2];
  y->out[0] = contact(in[0] - q[0] - in[3], in[1] - speed, q[1], q[2]);
  y->out[1] = -y->out[0];
  y->out[2] = speed;
  y->report[2] = -y->out[0] * speed;
}
LAW(brake) {  // holding, deflection, damping, engage, release; in: pressure, place, speed, anchor, mode
  (void)host;
  double share = (in[1] - in[3]) / q[1];
  bool holds = in[4] == 1;
  y->out[0] = holds ? -q[0] * clamp(clamp(share, -1, 1) + q[2] * in[2] / q[0], -1, 1) : 0;
  y->out[1] = holds ? fabs(in[2]) * share : 0;
  y->margin = holds ? q[4] - in[0] : in[0] - q[3];
}
LAW(disturbance) {
  (void)host;
  y->out[0] = in[1];
  y->out[1] = -in[1] / q[0];
}

// ---- orifices, simple valves

LAW(pump) {
  (void)host;
  y->out[0] = q[0] * in[2];
}
LAW(orifice) {  // area, discharge, opening
  (void)host;
  y->out[0] = edge(q[0] * q[2] * fmax(in[2], 0), q[1], in[0] - in[1]);
}
LAW(relief) {
  (void)host;
  y->out[0] = q[1] * fmax(0, in[0] - in[1] - q[0]);
}
LAW(check) {  // area, discharge, crack, full
  (void)host;
  y->out[0] = edge(q[0] * step((in[0] - in[1] - q[2]) / (q[3] - q[2])), q[1], in[0] - in[1]);
}
LAW(unloading) {  // open, close, area, discharge, time constant; in: from, to, pilot, opening, mode
  (void)host;
  y->out[0] = edge(q[2] * in[3], q[3], in[0] - in[1]);
  y->out[1] = (in[4] - in[3]) / q[4];
  y->margin = in[4] == 1 ? in[2] - q[1] : q[0] - in[2];
}
LAW(leak) {
  (void)host;
  y->out[0] = q[0] * thin * (in[0] - in[1]);
}
LAW(place_leak) {  // slope, worn, place, width
  (void)host;
  y->out[0] = (q[0] + q[1] * exp(-pow((in[2] - q[2]) / q[3], 2))) * thin * (in[0] - in[1]);
}
LAW(cushion) {  // begin, end, full, last, shape, check, range, discharge
  (void)host;
  double left = clamp((in[2] - q[1]) / (q[0] - q[1]), 0, 1), dp = in[0] - in[1];
  y->out[0] = edge(q[3] + (q[2] - q[3]) * pow(left, q[4]) + q[5] * step(-dp / q[6]), q[7], dp);
}
LAW(throttle) {  // area, discharge, diameter, reynolds, opening
  (void)host;
  double nu = viscosity((in[0] + in[1]) / 2) / rho, dp = in[0] - in[1];
  double e = rho / 2 * pow(q[3] * nu / (q[1] * q[2]), 2);
  y->out[0] = q[0] * q[4] * fmax(in[2], 0) * q[1] * sqrt(2 / rho) * dp / pow(dp * dp + e * e, 0.25);
}
LAW(pipe) {  // length, diameter, friction, compliance; in: from, to, flow
  (void)host;
  double A = pi * q[1] * q[1] / 4, mu = viscosity((in[0] + in[1]) / 2), v = in[2] / A;
  double reynolds = rho * fabs(v) * q[1] / mu, turbulent = q[2] * q[0] / q[1] * rho / 2 * v * fabs(v);
  double laminar = 128 * mu * q[0] / (pi * pow(q[1], 4)) * in[2], share = step((reynolds - 2000) / 1000);
  y->out[0] = in[2];
  y->out[1] = (in[0] - in[1] - (1 - share) * laminar - share * turbulent) * A / (rho * q[0]);
  for (int i = 2; i < 6; i++) y->out[i] = A * q[0] / 2;
  y->out[6] = y->out[7] = q[3] * q[0] / 2;
  y->report[2] = reynolds;
}
LAW(long_line) {  // length, diameter, sound, rest, modes, unsteady; in: from, to, mean, 6 flows, 6 waves
  (void)host;
  double A = pi * q[1] * q[1] / 4, mu = viscosity(q[3]), I = rho / A, R = 128 * mu / (pi * pow(q[1], 4));
  double C = A / (rho * q[2] * q[2]), a = in[2], b = in[2], give = 0.5;
  memset(y->out, 0, sizeof y->out);
  y->out[2] = ((in[0] - in[1]) / q[0] - R * in[2]) / I;
  for (int n = 1; n <= (int)q[4]; n++) {
    double W = n * pi * q[2] / q[0] * q[1] * q[1] / 4 * rho / mu, k = n * pi / q[0], sign = n % 2 ? -1 : 1;
    double Rn = R * (1 + q[5] * (fmax(8, 3 + sqrt(2 * W)) / 8 - 1)), In = I * (1 + q[5] * fmin(1.0 / 3, sqrt(2 / W)));
    double wave = in[8 + n] + (n % 2 ? 4 * q[3] / (n * pi) : 0), flow = in[2 + n];
    y->out[2 + n] = (2 / q[0] * (in[0] - sign * in[1]) - Rn * flow - k * wave) / In;
    y->out[8 + n] = k * flow / C;
    a += flow, b += sign * flow;
    give -= n % 2 ? 4 / pow(n * pi, 2) : 0;
  }
  y->out[0] = -a;
  y->out[1] = b;
  y->out[15] = y->out[16] = C * q[0] * give;
}

// ---- valves with a spool on a spring: set, range, (more), area, discharge, time constant

static void spool(double opening, double target, const double *last, double dp, answer *y) {
  y->out[0] = edge(opening * last[0], last[1], dp);
  y->out[1] = (target - opening) / last[2];
}
LAW(relief_spool) {
  (void)host;
  spool(in[2], limit((in[0] - in[1] - q[0]) / q[1]), q + 2, in[0] - in[1], y);
}
LAW(sequence) {
  (void)host;
  spool(in[3], limit((in[0] - in[2] - q[0]) / q[1]), q + 2, in[0] - in[1], y);
}
LAW(compensator) {
  (void)host;
  spool(in[3], 1 - limit((in[1] - in[2] - q[0]) / q[1]), q + 2, in[0] - in[1], y);
}
LAW(pilot_check) {  // crack, full, ratio
  (void)host;
  double opens = in[0] - in[1] + q[2] * fmax(0, in[2] - in[0] - 0.5);  // the corner is 1 Pa wide
  spool(in[3], step((opens - q[0]) / (q[1] - q[0])), q + 3, in[0] - in[1], y);
}
LAW(counterbalance) {  // set, range, ratio, back
  (void)host;
  spool(in[3], limit((in[0] + q[2] * in[2] - q[3] * in[1] - q[0]) / q[1]), q + 4, in[0] - in[1], y);
}
LAW(nominal_relief) {  // set, slope, flow force, nominal flow, nominal drop, time constant
  (void)host;
  double dp = in[0] - in[1];
  y->out[0] = q[3] * in[2] * signed_root(dp / q[4]);
  y->out[1] = (clamp(q[1] * (dp - q[0]) / (q[3] * (1 + q[2] * dp / q[4])), 0, 1) - in[2]) / q[5];
}
LAW(reducing) {  // set, range, area, discharge, drains, time constant; in: from, to, drain, spool
  (void)host;
  double closes = (q[0] + q[1] - (in[1] - in[2])) / q[1];
  double supply = edge(fmax(in[3], 0) * q[2], q[3], in[0] - in[1]);
  y->out[2] = edge(fmax(-in[3], 0) * q[2] * q[4], q[3], in[1] - in[2]);
  y->out[0] = -supply;
  y->out[1] = supply - y->out[2];
  y->out[3] = (limit(closes) - limit(-closes) - in[3]) / q[5];
}
LAW(shuttle) {  // area, discharge, range, time constant; in: a, b, to, ball
  (void)host;
  y->out[0] = -edge(q[0] * in[3], q[1], in[0] - in[2]);
  y->out[1] = -edge(q[0] * (1 - in[3]), q[1], in[1] - in[2]);
  y->out[2] = -y->out[0] - y->out[1];
  y->out[3] = (step((in[0] - in[1]) / (2 * q[2]) + 0.5) - in[3]) / q[3];
}
LAW(divider) {  // share, area, discharge, nominal, time constant; in: from, a, b, spool
  (void)host;
  double a = edge(q[1] * limit(1 - in[3]), q[2], in[0] - in[1]), b = edge(q[1] * limit(1 + in[3]), q[2], in[0] - in[2]);
  y->out[1] = q[0] * a;
  y->out[2] = (1 - q[0]) * b;
  y->out[0] = -y->out[1] - y->out[2];
  y->out[3] = (a - b) / (q[3] * q[4]) * step(20 * (a > b ? 1 - in[3] : 1 + in[3]));
}

// ---- valves with a curve, and by their data sheets

LAW(valve) {
  (void)host;
  y->out[0] = (in[0] - in[1]) / q[0];
}
// The numbers of the valve: time constant, stroke, area, discharge, full, dead band. The curve has three points, with straight lines between.
LAW(port) {
  double s = in[2] - host[5] - q[0], value;
  s = fmin(s, q[3]);
  value =
      s < q[2] ? q[4] + (q[5] - q[4]) * (s - q[1]) / (q[2] - q[1]) : q[5] + (q[6] - q[5]) * (s - q[2]) / (q[3] - q[2]);
  y->out[0] = edge(host[2] * value / host[4] * s / host[1], host[3], in[0] - in[1]);
  y->out[1] = value;
}
// The spool of second order: nominal flow, nominal drop, frequency, damping, rate limit, stroke, offset.
static void sheet_spool(const double *q, double wanted, double spool, double v, double *rate) {
  double moves = clamp(v, -q[4], q[4]);
  rate[0] = q[5] * moves;
  rate[1] = q[2] * q[2] * (wanted - spool) / q[5] - 2 * q[3] * q[2] * v - 10 * q[2] * (v - moves);
}
// The same with a hysteresis after these numbers.
static void held_spool(const double *q, double low, double command, const double *state, double *rate) {
  double behind = clamp(command, low, q[5]) - state[2];
  sheet_spool(q, clamp(state[2], low, q[5]), state[0], state[1], rate);
  rate[2] = 10 * q[2] * (behind - clamp(behind, -q[7] / 2, q[7] / 2));
}
static double open_by(double t, double overlap) {
  return clamp((t - overlap) / (1 - overlap), 0, 1);
}
static double sheet_flow(const double *q, double opening, double dp) {
  return q[0] * opening * signed_root(dp / q[1]);
}
// Openings from the lines to the ports: first to a, second to a, first to b, second to b, and from line to line.
static void four_ports(const double *q, const double open[5], const double *p, double *out) {
  double first_a = sheet_flow(q, open[0], p[0] - p[2]), second_a = sheet_flow(q, open[1], p[1] - p[2]);
  double first_b = sheet_flow(q, open[2], p[0] - p[3]), second_b = sheet_flow(q, open[3], p[1] - p[3]);
  double across = sheet_flow(q, open[4], p[0] - p[1]);
  out[0] = -first_a - first_b - across;
  out[1] = -second_a - second_b + across;
  out[2] = first_a + second_a;
  out[3] = first_b + second_b;
}
LAW(servo_valve) {
  (void)host;
  double t = (in[5] - q[6]) / q[5], ahead = open_by(t, q[7]), back = open_by(-t, q[7]);
  four_ports(q, (double[]){ahead, back, back, ahead, 0}, in, y->out);
  sheet_spool(q, clamp(in[4], -q[5], q[5]), in[5], in[6], y->out + 4);
}
LAW(proportional_valve) {  // behind the hysteresis: overlap, tank overlap, idle, idle width
  (void)host;
  double t = (in[5] - q[6]) / q[5], idle = q[10] * fmax(0, 1 - pow(t / q[11], 2));
  four_ports(q, (double[]){open_by(t, q[8]), open_by(-t, q[9]), open_by(-t, q[8]), open_by(t, q[9]), idle}, in, y->out);
  held_spool(q, -q[5], in[4], in + 5, y->out + 4);
}
LAW(two_position_valve) {
  (void)host;
  double t = 2 * (in[5] - q[6]) / q[5] - 1, pushed = open_by(t, q[8]), rest = open_by(-t, q[8]);
  four_ports(q, (double[]){pushed, rest, rest, pushed, 0}, in, y->out);
  held_spool(q, 0, in[4], in + 5, y->out + 4);
}
LAW(two_way_valve) {  // behind the hysteresis: overlap, rest, full
  (void)host;
  y->out[4] = q[9] + (q[10] - q[9]) * open_by((in[3] - q[6]) / q[5], q[8]);
  y->out[0] = sheet_flow(q, y->out[4], in[0] - in[1]);
  held_spool(q, 0, in[2], in + 3, y->out + 1);
}
// Behind the offset: overlap, set, range, time constant, largest, sense area, discharge. The load is at a.
LAW(sensing_valve) {
  (void)host;
  double m = open_by((in[6] - q[6]) / q[5], q[7]), c = q[11] * in[8], all = m * m + c * c + 1e-4;
  double supply = sheet_flow(q, m * c / sqrt(all), in[0] - in[2]), drained = sheet_flow(q, m, in[3] - in[1]);
  double shown = step(m / 0.05), from_load = edge(q[12] * shown, q[13], in[2] - in[4]);
  double vent = edge(q[12] * (1 - shown), q[13], in[1] - in[4]);
  double drop = (in[0] - in[1] - shown * (in[2] - in[1])) * c * c / all;
  y->out[0] = -supply;
  y->out[1] = drained - vent;
  y->out[2] = supply - from_load;
  y->out[3] = -drained;
  y->out[4] = from_load + vent;
  sheet_spool(q, clamp(in[5], -q[5], q[5]), in[6], in[7], y->out + 5);
  y->out[7] = (1 - limit((drop - q[8]) / q[9]) - in[8]) / q[10];
}

// ---- pumps and motors

LAW(motor) {  // displacement, leakage, viscous, setting; in: from, to, speed, signal
  (void)host;
  double D = q[0] * q[3] * in[3], dp = in[0] - in[1];
  y->out[0] = D * in[2] + q[1] * thin * dp;
  y->out[1] = D * dp - q[2] / thin * in[2];
}
LAW(displacement_unit) {  // displacement, slip, jet, drag, dry, breakaway, slow, setting
  (void)host;
  double D = q[0] * q[7] * in[3], dp = in[0] - in[1], mu = viscosity((in[0] + in[1]) / 2);
  y->report[2] = q[1] * q[0] * dp / mu + q[2] * sqrt(2 / rho) * signed_root(dp);
  y->out[0] = D * in[2] + y->report[2];
  y->out[1] = D * dp - q[3] * mu * q[0] * in[2] - (q[4] * q[0] * fabs(dp) + q[5]) * tanh(in[2] / q[6]);
}
LAW(pressure_pump) {  // flow, set, range, leakage, time constant; in: from, to, swash
  (void)host;
  y->out[0] = q[0] * in[2] - q[3] * thin * (in[1] - in[0]);
  y->out[1] = (1 - limit((in[1] - in[0] - q[1]) / q[2]) - in[2]) / q[4];
}
LAW(sensing_pump) {  // flow, margin, cutoff, range, leakage, time constant; in: to, load, swash
  (void)host;
  double wanted = (1 - limit((in[0] - in[1] - q[1]) / q[3])) * (1 - limit((in[0] - q[2]) / q[3]));
  y->out[0] = q[0] * in[2] - q[4] * thin * in[0];
  y->out[1] = (wanted - in[2]) / q[5];
}
LAW(driven_pump) {  // displacement, wanted, inertia, torque, gain, leakage, viscous; in: from, to, signal, speed
  (void)host;
  double dp = in[1] - in[0];
  y->out[2] = q[3] * tanh(q[4] * (q[1] * in[2] - in[3]) / q[3]);
  y->out[0] = q[0] * in[3] - q[5] * thin * dp;
  y->out[1] = (y->out[2] - q[0] * dp - q[6] / thin * in[3]) / q[2];
}

// ---- cylinders, accumulators, tanks

LAW(cylinder) {  // areas, closed, stroke, dead volumes, leakage, stiffness, damping; in: p_a, p_b, length, speed
  (void)host;
  double x = in[2] - q[2], stops = contact(-x, -in[3], q[7], q[8]) - contact(x - q[3], in[3], q[7], q[8]);
  y->out[0] = -q[0] * in[3];
  y->out[1] = q[1] * in[3];
  y->out[2] = q[4] + q[0] * x;
  y->out[3] = q[5] + q[1] * (q[3] - x);
  y->out[4] = q[4] + q[0] * q[3];
  y->out[5] = q[5] + q[1] * q[3];
  y->out[6] = in[0] * q[0] - in[1] * q[1] + stops;
}
LAW(bore_and_rod) {
  double areas[9];
  memcpy(areas, q, sizeof areas);
  areas[0] = pi * q[0] * q[0] / 4;
  areas[1] = pi * (q[0] * q[0] - q[1] * q[1]) / 4;
  cylinder(areas, host, in, y);
}
// closed, dead, soft, stiffness, damping, four pairs of area and stroke; in: pressure, length, speed
LAW(telescopic_cylinder) {
  (void)host;
  double x = in[1] - q[0], stroke = 0, area = q[5], volume = q[1], largest = q[1];
  for (int i = 0; i < 4; i++) {
    double begin = stroke, t;
    stroke += q[6 + 2 * i];
    volume +=
        q[5 + 2 * i] * clamp(x - begin, 0, q[6 + 2 * i]);  // states are not within a passage from one stage to the next
    largest += q[5 + 2 * i] * q[6 + 2 * i];
    if (i == 0) continue;
    t = (x - begin) / q[2] + 0.5;
    area += (q[5 + 2 * i] - q[3 + 2 * i]) * step(t);
    if (t > 0 && t < 1) {  // within one: half a step is straight, the rest is the integral of 3 t^2 - 2 t^3
      volume += (q[5 + 2 * i] - q[3 + 2 * i]) * q[2] * (t * t * t - t * t * t * t / 2 - fmax(t - 0.5, 0));
    }
  }
  y->out[0] = -area * in[2];
  y->out[1] = volume + q[11] * fmax(0, x - stroke) + q[5] * fmin(0, x);
  y->out[2] = largest;
  y->out[3] = in[0] * area + contact(-x, -in[2], q[3], q[4]) - contact(x - stroke, in[2], q[3], q[4]);
}
// The inlet: it closes when less than a thousandth of the volume is oil.
static double inlet(double area, double discharge, double dp, double oil_share) {
  return edge(area, discharge, dp) * (dp < 0 ? step(1000 * oil_share) : 1);
}
LAW(accumulator) {  // volume, precharge, exponent, area, discharge; in: pressure, oil
  (void)host;
  double least = q[0] / 1000, gas = q[0] - in[1], last = q[1] * pow(1000, q[2]);
  y->out[2] = in[1] < 0      ? q[1]
              : gas >= least ? q[1] * pow(q[0] / gas, q[2])
                             : last * (1 + q[2] * (least - gas) / least);  // along the tangent, which is -n p / V
  y->out[1] = inlet(q[3], q[4], in[0] - y->out[2], in[1] / q[0]);
  y->out[0] = -y->out[1];
  if (in[1] > 0 && gas >= least) y->report[1] = q[1] * q[0] * (pow(q[0] / gas, q[2] - 1) - 1) / (q[2] - 1);
}
// volume, precharge, ambient, exponent, time constant, area, discharge; in: pressure, oil, warmer
LAW(thermal_accumulator) {
  (void)host;
  double gas = fmax(q[0] - in[1], q[0] / 1000);
  y->out[3] = q[1] * q[0] / gas * (q[2] + in[2]) / q[2];
  y->out[1] = inlet(q[5], q[6], in[0] - y->out[3], in[1] / q[0]);
  y->out[0] = -y->out[1];
  y->out[2] = (q[3] - 1) * (q[2] + in[2]) * y->out[1] / gas - in[2] / q[4];
}
LAW(oil_tank) {  // capacity, area, air, port, discharge; in: pressure, filled
  (void)host;
  y->out[2] = q[2] + rho * 9.80665 * in[1] * q[0] / q[1];
  y->out[0] = -inlet(q[3], q[4], in[0] - y->out[2], in[1] / 10);  // the last hundredth
  y->out[1] = -y->out[0] / q[0];
  y->report[2] = in[1] * q[0];
  y->report[3] = in[1] * q[0] / q[1];
}
LAW(reservoir) {  // volume, heat capacity, ambient, conductance; in: temperature, heating, signal
  (void)host;
  y->out[1] = in[1];
  y->out[2] = q[3] * fmax(in[2], 0) * (in[0] - q[2]);
  y->out[0] = (y->out[1] - y->out[2]) / (rho * q[0] * q[1]);
}

// ---- friction

// The numbers for the direction of the speed: the first `sided` ones are repeated after all others.
static void of_direction(const double *q, int numbers, int sided, double speed, double *to) {
  memcpy(to, q, (size_t)numbers * sizeof *to);
  if (speed < 0) memcpy(to, q + numbers, (size_t)sided * sizeof *to);
}
static void opposed(double friction, answer *y) {
  y->out[0] = friction;
  y->out[1] = -friction;
}
LAW(viscous) {  // viscous, factor, its power
  (void)host;
  double s[3];
  of_direction(q, 3, 1, in[0], s);
  opposed(s[0] * pow(s[1] * in[1], s[2]) * in[0], y);
}
LAW(coulomb) {  // Fc, vs, viscous, factor, powers of these
  (void)host;
  double s[7], factor;
  of_direction(q, 7, 3, in[0], s);
  factor = s[3] * in[1];
  opposed(s[0] * pow(factor, s[4]) * tanh(in[0] / (s[1] * pow(factor, s[5]))) + s[2] * pow(factor, s[6]) * in[0], y);
}
LAW(brown_mcphee) {  // Fc, Fs, vs, viscous, factor, powers of Fs, Fc, vs, viscous
  (void)host;
  double s[9], f;
  of_direction(q, 9, 4, in[0], s);
  f = s[4] * in[1];
  double Fs = s[1] * pow(f, s[5]), Fc = s[0] * pow(f, s[6]), r = in[0] / (s[2] * pow(f, s[7]));
  opposed(Fc * tanh(4 * r) + (Fs - Fc) * r / pow(r * r / 4 + 0.75, 2) + s[3] * pow(f, s[8]) * in[0] * tanh(4), y);
}

// The family of laws with a Stribeck curve: the force of bristles in steady motion, g, and the film, h.
typedef struct family {
  double Fs, Fc, vs, n, viscous, vb;
} family;
static family scaled(family p, double factor, const double *power) {  // powers of Fs, Fc, vs (and vb), viscous
  return (family){p.Fs * pow(factor, power[0]),      p.Fc * pow(factor, power[1]), p.vs * pow(factor, power[2]), p.n,
                  p.viscous * pow(factor, power[3]), p.vb * pow(factor, power[2])};
}
// If vb is not given, the film is complete at the speed at which S has fallen to k (Table 5.1 of source 28 in docs/theory.md).
static double film_end(family p, bool lorentzian) {
  double k = fmin(0.5, lorentzian ? 0.06 / (p.n * p.n) : 0.002 * pow(p.n, -4.5));
  if (p.vb > 0) return p.vb;
  return p.vs * pow(lorentzian ? 1 / k - 1 : -log(k), 1 / p.n);
}
static double film_of(family p, bool lorentzian, double v) {
  return (1 - p.Fc / p.Fs) * pow(fmin(1, fabs(v) / film_end(p, lorentzian)), 2.0 / 3);
}
static double level(family p, bool lorentzian, double v, double film) {
  double power = pow(fabs(v) / p.vs, p.n), S = lorentzian ? 1 / (1 + power) : exp(-power);
  return p.Fc + ((1 - film) * p.Fs - p.Fc) * S;
}
// Fs, Fc, vs, viscous, vb, v0, factor, powers of Fs, Fc, vs, viscous, tau; the exponent is given or behind vs.
static void steady(const double *q, const double *in, double n, bool lorentzian, answer *y) {
  bool own = n == 0;
  double s[13];
  of_direction(q, 12 + own, 5 + own, in[0], s);
  const double *behind = s + 3 + own;
  family p = {s[0], s[1], s[2], own ? s[3] : n, behind[0], behind[1]};
  bool plain_lorentzian = lorentzian && !own;
  if (plain_lorentzian && !(p.vb > 0)) p.vb = p.vs * sqrt(1 / 0.06 - 1);
  p = scaled(p, behind[3] * in[1], behind + 4);
  opposed(tanh(in[0] / behind[2]) * level(p, lorentzian, in[0], film_of(p, lorentzian, in[0])) + p.viscous * in[0], y);
}
LAW(tustin) {
  (void)host;
  steady(q, in, 1, false, y);
}
LAW(gaussian) {
  (void)host;
  steady(q, in, 2, false, y);
}
LAW(lorentzian) {
  (void)host;
  steady(q, in, 2, true, y);
}
LAW(modified_gaussian) {
  (void)host;
  steady(q, in, 0, false, y);
}
LAW(modified_lorentzian) {
  (void)host;
  steady(q, in, 0, true, y);
}
// Bristles with a given force and film: the friction and the rate of the force.
static double bristles(family p, double sigma_0, double sigma_1, double v, double force, double film, double *rate) {
  double slip = v - fabs(v) * force / level(p, false, v, film);
  *rate = sigma_0 * slip;
  return force + sigma_1 * slip + p.viscous * v;
}
static double film_rate(family p, double v, double film, double grow, double shrink, double rest) {
  double target = film_of(p, false, v);
  return (target - film) / (film <= target ? grow : v == 0 ? rest : shrink);
}
LAW(lugre) {  // Fs, Fc, vs, viscous, sigma_0, sigma_1, factor, powers; in: speed, bristle, signal
  (void)host;
  double s[12];
  of_direction(q, 12, 4, in[0], s);
  family p = scaled((family){s[0], s[1], s[2], 2, s[3], 1}, s[6] * in[2], s + 7);
  opposed(bristles(p, s[4], s[5], in[0], in[1], 0, &y->out[2]), y);
}
// Fs, Fc, vs, n, viscous, vb, sigma_0, sigma_1, tau_hp, tau_hn, tau_h0, factor, powers; in: speed, bristle, film, signal
LAW(modified_lugre) {
  (void)host;
  double s[17];
  of_direction(q, 17, 6, in[0], s);
  double factor = s[11] * in[3], tau = pow(factor, s[16]);
  family p = scaled((family){s[0], s[1], s[2], s[3], s[4], s[5]}, factor, s + 12);
  opposed(bristles(p, s[6], s[7], in[0], in[1], in[2], &y->out[2]), y);
  y->out[3] = film_rate(p, in[0], in[2], s[8] * tau, s[9] * tau, s[10] * tau);
}
LAW(reduced) {  // Fs, Fc, vs, n, viscous, sigma_0, tau_hn, tau_h0, factor, powers
  (void)host;
  double s[14];
  of_direction(q, 14, 5, in[0], s);
  double factor = s[8] * in[3], tau = pow(factor, s[13]);
  family p = scaled((family){s[0], s[1], s[2], s[3], s[4], 0}, factor, s + 9);
  opposed(bristles(p, s[5], 0, in[0], in[1], in[2], &y->out[2]), y);
  y->out[3] = film_rate(p, in[0], in[2], 0.15 * s[6] * tau, s[6] * tau, s[7] * tau);
}
// As modified_lugre up to tau_h0; inertia, lag, film force, load, load_0, load_Fs, load_Fc; in: speed, bristle, film, felt, signal
LAW(new_modified_lugre) {
  (void)host;
  double s[18];
  of_direction(q, 18, 6, in[0], s);
  double more = s[14] * in[4] / s[15] - 1, side = (in[0] > 0) - (in[0] < 0);
  family p = {s[0] + s[16] * more, s[1] + s[17] * more, s[2], s[3], s[4], s[5]};
  y->out[3] = film_rate(p, in[0], in[2], s[8], s[9], s[10]);
  y->out[4] = (in[0] - in[3]) / s[12];
  opposed(bristles(p, s[6], s[7], in[0], in[1], in[2], &y->out[2]) + s[11] * y->out[4] + s[13] * side * y->out[3], y);
}

// ---- the table

typedef struct row {
  const od_element_description *c;
  law *by_hand;
  double q[OD_MOST_ELEMENT_FIELDS + 8];
  const double (*in)[OD_MOST_IN];
  int states, choice[OD_MOST_ELEMENT_CHOICES], more_numbers;  // more numbers: of a curve
  double host[OD_MOST_ELEMENT_FIELDS];
} row;
#define Q(...) \
  { __VA_ARGS__ }
#define IN(...) \
  { __VA_ARGS__ }
#define STATES(...)                          \
  (const double[][OD_MOST_IN]){__VA_ARGS__}, \
      (int)(sizeof((const double[][OD_MOST_IN]){__VA_ARGS__}) / sizeof(double[OD_MOST_IN]))
#define ROW(name, numbers, ...) \
  { &od_##name##_description, name, numbers, STATES(__VA_ARGS__) }
#define SIDED(name, numbers, ...)                                   \
  {                                                                 \
    &od_##name##_description, name, numbers, STATES(__VA_ARGS__), { \
      1                                                             \
    }                                                               \
  }
#define SPOOL  5e-5, 0.72, 0.006                  // area, discharge, time constant
#define SHEET  1e-3, 5e5, 300, 0.6, 4, 1.2, 0.05  // up to the offset
#define FACTOR 1.4, 0.5, 0.7, -0.3, 0.2           // factor; powers of Fs, Fc, vs, viscous

static const row rows[] = {
    {&od_joint_spring_description, spring, Q(500, 20, 0.3, 7), STATES(IN(0.5, -0.2))},
    ROW(spring, Q(500, 20, 0.3, 7), IN(0.5, -0.2)),
    ROW(play, Q(0.02, 1e6, 0.4, 0.1), IN(0.12, 0.3), IN(0.07, 0.3), IN(0.105, 1), IN(0.12, -5)),
    ROW(stop, Q(-0.2, 0.5, 1e6, 0.4), IN(0.51, 0.3), IN(-0.22, -0.1), IN(0, 1), IN(0.51, -4)),
    ROW(rope, Q(2, 1e5, 0.4), IN(2.02, 0.3), IN(1.9, 0.3)),
    ROW(winch, Q(2, 1e5, 0.4, 0.2), IN(2.5, 0.3, 0.8, 0.4), IN(2.1, 0.3, 0.8, 0.4)),
    ROW(brake, Q(4000, 0.002, 3e4, 8e5, 15e5), IN(5e5, 0.101, 0.02, 0.1, 1), IN(5e5, 0.105, 0.02, 0.1, 1),
        IN(20e5, 0.101, 0.02, 0.1, 0)),
    ROW(disturbance, Q(0.7, 3), IN(0.2, 40)),
    ROW(pump, Q(5e-4), IN(1e5, 2e7, 0.8)),
    ROW(orifice, Q(2e-5, 0.65, 0.9), IN(3e6, 1e6, 0.7), IN(1e6, 3e6, 0.7), IN(3e6, 1e6, -0.7)),
    ROW(relief, Q(2e6, 3e-10), IN(5e6, 1e6), IN(2e6, 1e6)),
    ROW(check, Q(2e-5, 0.65, 1e5, 5e5), IN(1.4e6, 1.1e6), IN(3e6, 1e6), IN(1e6, 3e6)),
    ROW(unloading, Q(16e6, 12e6, 3e-5, 0.66, 0.02), IN(9e6, 1e5, 14e6, 0.4, 1), IN(9e6, 1e5, 14e6, 0.4, 0)),
    ROW(leak, Q(2e-12), IN(7e6, 1e6)),
    ROW(place_leak, Q(2e-12, 5e-12, 0.6, 0.1), IN(7e6, 1e6, 0.63)),
    ROW(cushion, Q(0.5, 0.45, 8e-5, 2e-6, 1.7, 3e-5, 2e5, 0.68), IN(9e6, 1e6, 0.47), IN(3e6, 3.1e6, 0.47),
        IN(9e6, 1e6, 0.6)),
    ROW(throttle, Q(2e-5, 0.65, 3e-3, 120, 0.9), IN(2e6, 1.9e6, 0.7), IN(2e7, 1e6, 0.7), IN(2e6, 1.9e6, -1)),
    ROW(pipe, Q(3, 0.012, 0.04, 2e-13), IN(5e6, 4.9e6, 1e-4), IN(5e6, 4e6, 1.5e-3), IN(5e6, 4e6, -1.2e-3)),
    ROW(long_line, Q(12, 0.014, 1300, 2e6, 3, 0.8), IN(5e6, 4e6, 1e-4, 2e-5, -3e-5, 4e-5, 0, 0, 0, 1e5, -2e5, 3e5)),
    ROW(relief_spool, Q(15e6, 8e5, SPOOL), IN(15.6e6, 1e5, 0.3), IN(16.1e6, 1e5, 0.3), IN(2e6, 1e5, 0.1)),
    ROW(sequence, Q(9e6, 8e5, SPOOL), IN(9.6e6, 5e6, 1e5, 0.3)),
    ROW(compensator, Q(7e5, 4e5, SPOOL), IN(12e6, 9e6, 8.1e6, 0.3)),
    ROW(pilot_check, Q(1e5, 6e5, 4, SPOOL), IN(2e6, 3e6, 2.35e6, 0.3), IN(3e6, 2.7e6, 1e5, 0.6)),
    ROW(counterbalance, Q(20e6, 4e6, 3, 0.5, SPOOL), IN(12e6, 1e6, 4e6, 0.3)),
    ROW(nominal_relief, Q(15e6, 2e-10, 0.4, 2e-3, 5e6, 0.004), IN(19e6, 1e6, 0.1), IN(60e6, 1e6, 0.9),
        IN(2e6, 1e6, 0.3)),
    ROW(reducing, Q(6e6, 5e5, 3e-5, 0.66, 0.5, 0.004), IN(12e6, 6.2e6, 1e5, 0.3), IN(12e6, 6.8e6, 1e5, -0.2)),
    ROW(shuttle, Q(2e-5, 0.66, 2e5, 0.002), IN(5.1e6, 5e6, 4e6, 0.3)),
    ROW(divider, Q(0.4, 4e-5, 0.66, 1e-3, 0.02), IN(9e6, 5e6, 7e6, 0.2), IN(9e6, 8.9e6, 2e6, -0.98)),
    ROW(valve, Q(0.02, 1, 1e-5, 0.7, 1, 0.05), IN(0.8, 0.3)),
    {&od_port_description, port, Q(0.03, 0, 0.4, 1, 0.1, 0.5, 1.2),
     STATES(IN(9e6, 1e6, 0.3), IN(9e6, 1e6, 0.8), IN(9e6, 1e6, 1.3)),
     .choice = {[OD_PORT_SIDE] = 1, [OD_PORT_DEGREE] = 1, [OD_PORT_COUNT] = 3, [OD_PORT_LAW] = OD_VALVE_COEFFICIENT},
     .more_numbers = 6, .host = {0.02, 1.5, 2e-5, 0.66, 1.1, 0.05}},
    SIDED(servo_valve, Q(SHEET, 0.08), IN(20e6, 1e6, 9e6, 5e6, 0.9, 0.6, 1.5), IN(20e6, 1e6, 9e6, 5e6, 9, -0.6, -7),
          IN(20e6, 1e6, 9e6, 5e6, 0, 3, 0)),
    SIDED(proportional_valve, Q(SHEET, 0.1, 0.08, 0.03, 0.5, 0.2), IN(20e6, 1e6, 9e6, 5e6, 0.9, 0.6, 1.5, 0.5),
          IN(20e6, 1e6, 9e6, 5e6, -9, -0.6, -7, 0.2), IN(20e6, 1e6, 9e6, 5e6, 0, 0.1, 0, 0.02)),
    SIDED(two_position_valve, Q(SHEET, 0.1, 0.08), IN(20e6, 1e6, 9e6, 5e6, 0.9, 0.9, 1.5, 0.5),
          IN(20e6, 1e6, 9e6, 5e6, -2, 0.4, -7, 0.2)),
    ROW(two_way_valve, Q(SHEET, 0.1, 0.08, 0.1, 0.9), IN(20e6, 1e6, 0.9, 0.6, 1.5, 0.5),
        IN(20e6, 1e6, -2, 0.1, -7, 0.2)),
    ROW(sensing_valve, Q(SHEET, 0.1, 7e5, 4e5, 0.006, 1.8, 2e-6, 0.66),
        IN(12e6, 1e5, 11.0e6, 2e6, 10e6, 0.9, 0.6, 1.5, 0.7), IN(12e6, 2e5, 11.0e6, 2e6, 1e5, 0.9, 0.196, 5, 0.7)),
    ROW(motor, Q(2e-5, 3e-12, 0.4, 0.8), IN(9e6, 1e6, 30, 0.9)),
    ROW(displacement_unit, Q(2e-5, 4e-9, 5e-8, 1e5, 0.05, 2, 0.5, 0.8), IN(20e6, 1e6, 30, 0.9),
        IN(1e6, 20e6, -0.3, 0.9)),
    ROW(pressure_pump, Q(1e-3, 18e6, 1e6, 3e-12, 0.03), IN(2e5, 18.7e6, 0.6)),
    ROW(sensing_pump, Q(1e-3, 2e6, 18e6, 1e6, 3e-12, 0.03), IN(18.5e6, 16.1e6, 0.6)),
    ROW(driven_pump, Q(2e-6, 150, 0.05, 60, 2, 3e-13, 0.02), IN(1e5, 9e6, 0.9, 110)),
    ROW(cylinder, Q(2e-3, 1.2e-3, 0.4, 0.3, 1e-4, 2e-4, 1e-12, 1e8, 0.5), IN(9e6, 4e6, 0.55, 0.2),
        IN(9e6, 4e6, 0.399, -0.1), IN(9e6, 4e6, 0.702, 0.1), IN(9e6, 4e6, 0.702, -9)),
    {&od_cylinder_description,
     bore_and_rod,
     Q(0.05, 0.03, 0.4, 0.3, 1e-4, 2e-4, 1e-12, 1e8, 0.5),
     STATES(IN(9e6, 4e6, 0.55, 0.2)),
     {[OD_CYLINDER_DIAMETERS] = 1}},
    ROW(telescopic_cylinder, Q(0.4, 1e-4, 0.01, 1e8, 0.5, 6e-3, 0.3, 4e-3, 0.25, 2e-3, 0.2, 1e-3, 0.1),
        IN(8e6, 0.5, 0.2), IN(8e6, 0.703, 0.2), IN(8e6, 0.9, 0.2), IN(8e6, 1.05, 0.1), IN(8e6, 1.2, 0.1),
        IN(8e6, 1.251, 0.1), IN(8e6, 0.399, -0.1), IN(8e6, 0.948, 0.1)),
    ROW(accumulator, Q(1e-2, 1e5, 1.3, 3e-5, 0.68), IN(9e5, 4e-3), IN(1e5, 4e-3), IN(5e4, 4e-6), IN(9e5, -1e-5),
        IN(2e9, 9.993e-3)),
    ROW(thermal_accumulator, Q(1e-2, 1e5, 300, 1.4, 20, 3e-5, 0.68), IN(9e5, 4e-3, 12), IN(5e4, 4e-6, -8),
        IN(2e9, 9.993e-3, 40)),
    ROW(oil_tank, Q(0.1, 0.25, 1.2e5, 5e-4, 0.68), IN(2e5, 0.6), IN(1e5, 0.6), IN(1e5, 0.004)),
    ROW(reservoir, Q(0.2, 1900, 290, 150), IN(330, 4000, 0.8), IN(330, 4000, -1)),
    SIDED(viscous, Q(300, 1.4, 0.7, 400), IN(0.2, 0.9), IN(-0.2, 0.9)),
    SIDED(coulomb, Q(80, 0.05, 300, FACTOR, 90, 0.04, 400), IN(0.04, 0.9), IN(-0.03, 0.9)),
    SIDED(brown_mcphee, Q(80, 120, 0.05, 300, FACTOR, 90, 130, 0.04, 400), IN(0.04, 0.9), IN(-0.03, 0.9), IN(0.9, 1.1)),
    SIDED(tustin, Q(120, 80, 0.05, 300, 0.3, 0.06, FACTOR, 0.1, 130, 90, 0.04, 400, 0.25), IN(0.04, 0.9),
          IN(-0.03, 0.9)),
    SIDED(gaussian, Q(120, 80, 0.05, 300, 0.3, 0.06, FACTOR, 0.1, 130, 90, 0.04, 400, 0.25), IN(0.04, 0.9),
          IN(-0.03, 0.9)),
    ROW(gaussian, Q(120, 80, 0.05, 300, 0, 0.06, FACTOR, 0.1), IN(0.04, 0.9), IN(0.6, 0.9)),
    SIDED(lorentzian, Q(120, 80, 0.05, 300, 0.3, 0.06, FACTOR, 0.1, 130, 90, 0.04, 400, 0.25), IN(0.04, 0.9),
          IN(-0.03, 0.9)),
    ROW(lorentzian, Q(120, 80, 0.05, 300, 0, 0.06, FACTOR, 0.1), IN(0.04, 0.9)),
    SIDED(modified_gaussian, Q(120, 80, 0.05, 1.3, 300, 0.3, 0.06, FACTOR, 0.1, 130, 90, 0.04, 1.1, 400, 0.25),
          IN(0.04, 0.9), IN(-0.03, 0.9)),
    ROW(modified_gaussian, Q(120, 80, 0.05, 1.3, 300, 0, 0.06, FACTOR, 0.1), IN(0.04, 0.9)),
    SIDED(modified_lorentzian, Q(120, 80, 0.05, 1.3, 300, 0.3, 0.06, FACTOR, 0.1, 130, 90, 0.04, 1.1, 400, 0.25),
          IN(0.04, 0.9), IN(-0.03, 0.9)),
    ROW(modified_lorentzian, Q(120, 80, 0.05, 1.3, 300, 0, 0.06, FACTOR, 0.1), IN(0.04, 0.9)),
    SIDED(lugre, Q(120, 80, 0.05, 300, 1e6, 900, FACTOR, 0.1, 130, 90, 0.04, 400), IN(0.04, 50, 0.9),
          IN(-0.03, -40, 0.9)),
    SIDED(modified_lugre,
          Q(120, 80, 0.05, 1.3, 300, 0.3, 1e6, 900, 0.2, 1.5, 25, FACTOR, 0.4, 130, 90, 0.04, 1.1, 400, 0.25),
          IN(0.04, 50, 0.02, 0.9), IN(-0.03, -40, 0.3, 0.9), IN(0, 20, 0.2, 0.9)),
    SIDED(reduced, Q(120, 80, 0.05, 1.3, 300, 1e6, 1.5, 25, FACTOR, 0.4, 130, 90, 0.04, 1.1, 400),
          IN(0.04, 50, 0.02, 0.9), IN(-0.03, -40, 0.3, 0.9), IN(0, 20, 0.2, 0.9)),
    SIDED(new_modified_lugre,
          Q(120, 80, 0.05, 1.3, 300, 0.3, 1e6, 900, 0.2, 1.5, 25, 2, 1e-3, 40, 500, 400, 60, 30, 130, 90, 0.04, 1.1,
            400, 0.25),
          IN(0.04, 50, 0.02, 0.039, 0.9), IN(-0.03, -40, 0.3, -0.028, 0.9), IN(0, 20, 0.2, 0.001, 0.9)),
};
enum { ROWS = sizeof rows / sizeof *rows };

// Numbers that are in no equation of their class, and the places where they are used.
static const char *const elsewhere[][3] = {
    {"cylinder", "leakage", "a leak of its own: unit.elements.cylinders"},
    {"tustin", "factor_tau", "no effect: the law has no time constants"},
    {"gaussian", "factor_tau", "no effect: the law has no time constants"},
    {"lorentzian", "factor_tau", "no effect: the law has no time constants"},
    {"modified-gaussian", "factor_tau", "no effect: the law has no time constants"},
    {"modified-lorentzian", "factor_tau", "no effect: the law has no time constants"},
    {"lugre", "factor_tau", "no effect: the law has no time constants"},
    {"disturbance", "noise", "process noise of observers: unit.experiment.disturbance"},
};
// Numbers without a row. This list only shrinks.
static const char *const left[][3] = {{"", "", ""}};

// ---- the comparison

static answer answer_of(const od_lone_instance *instance, const double *in) {
  od_lone_instance x = *instance;
  answer y;
  memcpy(x.w + x.batch.in, in, (size_t)x.c->equations->ins * sizeof *in);
  x.c->equations->evaluate(&x.batch, x.pool, x.w);
  x.c->equations->report(&x.batch, x.pool, x.w);
  memcpy(y.out, x.w + x.batch.out, (size_t)x.c->equations->outs * sizeof *y.out);
  memcpy(y.report, x.w + x.batch.report, (size_t)x.c->equations->reports * sizeof *y.report);
  y.margin = x.c->equations->margin ? x.c->equations->margin(&x.batch, x.pool, x.w, 0) : NAN;
  return y;
}

static answer by_hand(const row *r, const double *q, const double *host, const double *in) {
  answer y;
  double *all = &y.out[0];
  for (size_t i = 0; i < sizeof y / sizeof *all; i++) all[i] = NAN;
  r->by_hand(q, host, in, &y);
  return y;
}

static bool agree(double got, double want) {
  return fabs(got - want) <= 1e-6 * fabs(want) + 1e-18;
}

// Compares all results of the law by hand. Returns whether any of them differs from `before`.
static bool compare(const row *r, const od_lone_instance *x, const double *q, const double *host, const double *in,
                    const answer *before, const char *what) {
  answer got = answer_of(x, in), want = by_hand(r, q, host, in);
  bool differs = false;
  for (int k = 0; k < r->c->equations->outs; k++) {
    if (!agree(got.out[k], want.out[k]))
      fail_msg("%s, %s: out %d is %.12g, by hand %.12g", r->c->equations->name, what, k, got.out[k], want.out[k]);
    differs = differs || (before && fabs(want.out[k] - before->out[k]) > 1e-5 * fabs(want.out[k]));
  }
  for (int k = 0; k < r->c->equations->reports; k++)
    if (!isnan(want.report[k]) && !agree(got.report[k], want.report[k]))
      fail_msg("%s, %s: report %d is %.12g, by hand %.12g", r->c->equations->name, what, k, got.report[k],
               want.report[k]);
  if (r->c->equations->margin) {
    near_relative(got.margin, want.margin, 1e-9);
    differs = differs || (before && fabs(want.margin - before->margin) > 1e-5 * fabs(want.margin));
  }
  return differs;
}

static od_lone_instance instance_of(const row *r, const double *q, const double *host) {
  int numbers = r->c->field_count - (r->choice[0] == 1 ? 0 : r->c->equations->optional_numbers) + r->more_numbers;
  od_lone_instance x = od_instance_with(r->c, q, numbers, host, r->choice);
  x.w[x.batch.oil + OD_OIL_STATE_SMOOTHING] = 1e-3;
  return x;
}

enum { MOST_CLASSES = 100 };
static bool covered[MOST_CLASSES][OD_MOST_ELEMENT_FIELDS];

// Increases a number of the instance or of its host by 1 %.
static void cover(const row *r, int number, bool of_host) {
  double q[sizeof r->q / sizeof *r->q], host[OD_MOST_ELEMENT_FIELDS];
  const od_element_description *c = of_host ? r->c->host : r->c;
  memcpy(q, r->q, sizeof q);
  memcpy(host, r->host, sizeof host);
  *(of_host ? &host[number] : &q[number]) *= 1.01;
  od_lone_instance x = instance_of(r, q, host);
  for (int s = 0; s < r->states; s++) {
    answer before = by_hand(r, r->q, r->host, r->in[s]);
    char what[100];
    snprintf(what, sizeof what, "state %d, %s 1 %% more", s, c->fields[number].key);
    if (compare(r, &x, q, host, r->in[s], &before, what))
      covered[od_element_class_find(c->equations->name)][number] = true;
  }
}

static void laws_by_hand(void **state) {
  (void)state;
  for (int i = 0; i < ROWS; i++) {
    const row *r = &rows[i];
    od_lone_instance x = instance_of(r, r->q, r->host);
    for (int s = 0; s < r->states; s++) {
      char what[40];
      snprintf(what, sizeof what, "state %d", s);
      compare(r, &x, r->q, r->host, r->in[s], NULL, what);
    }
    int given = r->c->field_count - (r->choice[0] == 1 ? 0 : r->c->equations->optional_numbers);
    for (int n = 0; n < given; n++)
      if (r->q[n] != 0 && !(r->c == &od_long_line_description && n == 4)) cover(r, n, false);
    for (int n = 0; r->c->host && n < r->c->host->field_count; n++) cover(r, n, true);
  }
}

// A whole number cannot grow by 1 %: one mode more.
static void modes_of_a_long_line(void **state) {
  (void)state;
  for (int i = 0; i < ROWS; i++) {
    row r = rows[i];
    if (r.c != &od_long_line_description) continue;
    answer before = by_hand(&r, r.q, r.host, r.in[0]);
    r.q[4] += 1;
    od_lone_instance x = instance_of(&r, r.q, r.host);
    covered[od_element_class_find(r.c->equations->name)][4] =
        compare(&r, &x, r.q, r.host, r.in[0], &before, "one mode more");
  }
}

static bool listed(const char *const list[][3], size_t count, const char *name, const char *key) {
  for (size_t i = 0; i < count; i++)
    if (strcmp(list[i][0], name) == 0 && strcmp(list[i][1], key) == 0) return true;
  return false;
}
#define LISTED(list, name, key) listed(list, sizeof list / sizeof *list, name, key)

static void every_number_is_covered(void **state) {
  (void)state;
  int missing = 0;
  for (int i = 0; i < od_element_class_count(); i++) {
    const od_element_description *c = od_element_description_at(i);
    for (int n = 0; n < c->field_count; n++) {
      const char *key = c->fields[n].key;
      bool excused = LISTED(elsewhere, c->equations->name, key) || LISTED(left, c->equations->name, key);
      if (covered[i][n] == excused)
        print_error("%s, %s: %s\n", c->equations->name, key,
                    excused ? "covered; take it from the list" : "no row covers this number");
      missing += covered[i][n] == excused;
    }
  }
  assert_int_equal(missing, 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(laws_by_hand), cmocka_unit_test(modes_of_a_long_line),
                                     cmocka_unit_test(every_number_is_covered)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
