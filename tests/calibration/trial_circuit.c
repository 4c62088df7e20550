// Random circuits: oil, supplies of every kind, valves of every kind between supply and consumer, and parts of every class at a node.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "calibration/trial.h"

typedef char text[TRIAL_NAME];

double trial_area(double flow, double drop) {
  return flow / (0.65 * sqrt(2 * drop / 870));
}

void trial_oil(trial *t) {
  if (t->has_oil) return;
  t->has_oil = true;
  const char *law = TRIAL_CHOOSE(t, "constant oil", "linear oil", "air oil");
  trial_put(t, "oil", "density: 870, viscosity: 46e-6");
  if (law[0] == 'c') trial_put(t, "oil", ", law: constant, modulus: %.6g", trial_decades(t, 7e8, 1.7e9));
  if (law[0] == 'l')
    trial_put(t, "oil", ", law: linear, kp: %.6g, k0: %.6g", trial_decades(t, 8e8, 1.6e9), trial_uniform(t, 0.5, 10));
  if (law[0] == 'a')
    trial_put(t, "oil", ", law: air, modulus: 1.4e9, air: %.6g, at: 1e5, exponent: 1.4", trial_decades(t, 1e-3, 2e-2));
  trial_put(t, "tanks", "  T: {pressure: 1e5}\n");
}

void trial_volume(trial *t, double size, double pressure, char name[TRIAL_NAME]) {
  trial_name(t, "V", name);
  trial_put(t, "volumes", "  %s: {volume: %.6g}\n", name, size);
  trial_put(t, "initial", "  %s.pressure: %.6g\n", name, pressure);
  trial_add_node(t, name);
  trial_add_sensor(t, 1e-7, "%s.pressure", name);
  trial_add_output(t, "%s.pressure", name);
}

static void put_difference_edge(trial *t, const char *a, const char *b, double level) {
  text first, second;
  snprintf(first, sizeof first, "%.50s.pressure", a), snprintf(second, sizeof second, "%.50s.pressure", b);
  trial_add_edge(t, first, second, level, 0);
}

static void put_relief(trial *t, const char *from, double set, double flow) {
  text name;
  const char *c = TRIAL_CHOOSE(t, "relief valve", "spool relief valve", "nominal relief valve");
  trial_name(t, "relief", name);
  if (strcmp(c, "relief valve") == 0) {
    trial_put(t, "reliefs", "  %s: {between: [%s, T], set: %.6g, slope: %.6g}\n", name, from, set,
              flow / trial_decades(t, 2e5, 2e6));
    put_difference_edge(t, from, "T", set);
  } else if (strcmp(c, "spool relief valve") == 0) {
    trial_put(t, "relief_valves", "  %s: {between: [%s, T], set: %.6g, range: %.6g, area: %.6g, time_constant: %.6g}\n",
              name, from, set, trial_decades(t, 5e5, 3e6), 1.5 * trial_area(flow, set), trial_decades(t, 1e-3, 2e-2));
  } else {
    trial_put(
        t, "nominal_reliefs",
        "  %s: {between: [%s, T], set: %.6g, slope: %.6g, flow_force: %.4g, nominal_flow: %.6g, time_constant: %.6g}\n",
        name, from, set, flow / trial_decades(t, 5e5, 3e6), trial_uniform(t, 0, 1), 2 * flow,
        trial_decades(t, 2e-3, 2e-2));
  }
  trial_add_output(t, "%s.flow", name);
}

// A node P, once.
void trial_supply(trial *t) {
  text name, signal, scaled;
  for (int i = 0; i < t->nodes; i++)
    if (strcmp(t->node[i], "P") == 0) return;
  trial_oil(t);
  double pressure = trial_uniform(t, 8e6, 1.8e7), flow = trial_decades(t, 2e-4, 1e-3);
  const char *c =
      TRIAL_CHOOSE(t, "source", "pump", "pressure-controlled pump", "driven pump", "unloading valve", "source signal");
  trial_name(t, "supply", name);
  trial_add_sensor(t, 0.7 / pressure, "P.pressure");
  if (strncmp(c, "source", 6) == 0) {
    if (strcmp(c, "source") == 0)
      trial_put(t, "sources", "  P: {pressure: %.6g}\n", pressure);
    else {
      trial_input(t, "Pa", pressure, 0.2 * pressure, signal);
      trial_put(t, "sources", "  P: {pressure: %s}\n", signal);
      t->sensors--;
      t->supply_follows_signal = true;
    }
    trial_add_node(t, "P");
    return;
  }
  trial_put(t, "volumes", "  P: {volume: %.6g}\n", trial_decades(t, 1e-4, 2e-3));
  trial_put(t, "initial", "  P.pressure: %.6g\n", pressure * trial_uniform(t, 0.5, 1));
  trial_add_node(t, "P");
  trial_add_output(t, "P.pressure");
  if (strcmp(c, "pressure-controlled pump") == 0) {
    trial_put(t, "pressure_pumps",
              "  %s: {from: T, to: P, flow: %.6g, set: %.6g, range: %.6g, leakage: 1e-12, time_constant: %.6g}\n", name,
              flow, pressure, trial_uniform(t, 5e5, 2e6), trial_decades(t, 5e-3, 5e-2));
    trial_add_output(t, "%s.swash", name);
    return;
  }
  if (strcmp(c, "driven pump") == 0) {
    double speed = 150, displacement = flow / speed;
    trial_input(t, "rad/s", speed, 0.3 * speed, signal);
    trial_put(
        t, "driven_pumps",
        "  %s: {from: T, to: P, displacement: %.6g, speed: %s, inertia: %.6g, torque: %.6g, gain: %.6g, leakage: 1e-12}\n",
        name, displacement, signal, trial_decades(t, 0.01, 0.3), 1.5 * displacement * pressure + 20,
        trial_decades(t, 1, 50));
    trial_put(t, "initial", "  %s.rate: 140\n", name);
    trial_add_output(t, "%s.rate", name);
  } else {
    trial_input(t, "1", 0.7, 0.3, signal);
    trial_name(t, "q", scaled);
    trial_put(t, "blocks", "  %s: {type: gain, input: %s, gain: %.6g, unit: 'm^3/s'}\n", scaled, signal, flow);
    trial_put(t, "pumps", "  %s: {from: T, to: P, flow: %s}\n", name, scaled);
  }
  if (strcmp(c, "unloading valve") == 0) {
    text valve, check, node;
    trial_name(t, "unload", valve), trial_name(t, "check", check);
    trial_volume(t, trial_decades(t, 1e-4, 1e-3), 0.8 * pressure, node);
    trial_put(t, "checks", "  %s: {between: [P, %s], area: %.6g, discharge: 0.65, crack: 5e4, full: 3e5}\n", check,
              node, trial_area(flow, 5e5));
    trial_put(t, "unloading_valves",
              "  %s: {between: [P, T], pilot: %s, open: %.6g, close: %.6g, area: %.6g, time_constant: %.6g}\n", valve,
              node, pressure, pressure * trial_uniform(t, 0.75, 0.92), trial_area(flow, 8e5),
              trial_decades(t, 3e-3, 2e-2));
    trial_put(t, "orifices", "  %s_use: {between: [%s, T], area: %.6g, discharge: 0.65}\n", valve, node,
              trial_area(0.4 * flow, pressure));
    put_difference_edge(t, "P", node, 5e4), put_difference_edge(t, "P", node, 3e5);
    trial_add_output(t, "%s.mode", valve);
    trial_add_output(t, "%s.flow", check);
  }
  put_relief(t, "P", pressure, flow);
}

// ---- valves of consumers

const char *const trial_valves[] = {"valve", "servo valve", "proportional valve", "two-position valve", NULL};

void trial_valve(trial *t, const char *a, const char *b, double flow) {
  text name, command;
  const char *c = trial_choose(t, trial_valves, 4);
  trial_command(t, strcmp(c, "two-position valve") == 0, command);
  trial_name(t, "valve", name);
  double drop = trial_uniform(t, 3e6, 7e6);
  trial_add_output(t, strcmp(c, "valve") == 0 ? "%s.spool" : "%s.flow_a", name);
  if (strcmp(c, "valve") == 0) {
    double lag = trial_chance(t, 0.7) ? trial_decades(t, 1e-3, 3e-2) : 0;
    trial_put(
        t, "valves",
        "  %s:\n    command: %s\n    time_constant: %.6g\n    stroke: 1\n    area: %.6g\n    discharge: 0.65\n    dead_band: %.6g\n    ports:\n",
        name, command, lag, trial_area(flow, drop), trial_chance(t, 0.4) ? trial_uniform(t, 0.02, 0.1) : 0.0);
    static const char *const ports[] = {
        "pa: {between: [P, %s], side: positive", "bt: {between: [%s, T], side: positive",
        "pb: {between: [P, %s], side: negative", "at: {between: [%s, T], side: negative"};
    for (int i = 0; i < 4; i++) {
      char port[128];
      const char *node = i == 0 || i == 3 ? a : b;
      snprintf(port, sizeof port, "%.*s%s%s", (int)(strstr(ports[i], "%s") - ports[i]), ports[i], node,
               strstr(ports[i], "%s") + 2);
      switch (trial_pick(t, 3)) {
        case 0: trial_put(t, "valves", "      %s, curve: linear}\n", port); break;
        case 1:
          trial_put(t, "valves", "      %s, curve: {degree: 2, points: [0, %.4g, 1]}, overlap: 0.02}\n", port,
                    trial_uniform(t, 0.2, 0.8));
          break;
        default:
          trial_put(t, "valves", "      %s, curve: {table: [[0, 0], [%.4g, %.4g], [1, 1]]}}\n", port,
                    trial_uniform(t, 0.2, 0.5), trial_uniform(t, 0.1, 0.6));
      }
    }
    return;
  }
  const char *section = c[0] == 's' ? "servo_valves" : c[0] == 'p' ? "proportional_valves" : "two_position_valves";
  trial_put(t, section,
            "  %s: {command: %s, between: [P, T], a: %s, b: %s, nominal_flow: %.6g, nominal_drop: %.6g, overlap: %.4g",
            name, command, a, b, flow, drop, trial_uniform(t, -0.03, 0.06));
  if (trial_chance(t, 0.75)) {
    trial_put(t, section, ", frequency: %.6g, damping: %.4g", trial_decades(t, 100, 1000), trial_uniform(t, 0.5, 1));
    if (trial_chance(t, 0.3)) trial_put(t, section, ", rate_limit: %.6g", trial_decades(t, 10, 100));
    if (c[0] != 's' && trial_chance(t, 0.4)) trial_put(t, section, ", hysteresis: %.4g", trial_uniform(t, 0.01, 0.06));
  }
  if (c[0] == 'p' && trial_chance(t, 0.3)) trial_put(t, section, ", tank_overlap: -0.05");
  if (c[0] == 'p' && trial_chance(t, 0.2)) trial_put(t, section, ", idle: 0.3");
  trial_put(t, section, "}\n");
}

// ---- parts

const char *const trial_circuit_parts[] = {"orifice",
                                           "relief valve",
                                           "check valve",
                                           "unloading part",
                                           "leak",
                                           "accumulator",
                                           "throttle",
                                           "pipe",
                                           "spool relief valve",
                                           "nominal relief valve",
                                           "reducing valve",
                                           "sequence valve",
                                           "pilot-operated check valve",
                                           "counterbalance valve",
                                           "shuttle valve",
                                           "pressure compensator",
                                           "flow divider",
                                           "thermal accumulator",
                                           "reservoir",
                                           "two-way valve",
                                           "cushion",
                                           "leak by position",
                                           "oil_tank",
                                           "long line",
                                           "flow formula",
                                           "junction",
                                           "cavitation",
                                           "single servo valve",
                                           "single position valve",
                                           NULL};

// A volume with an outlet to the tank.
static void branch(trial *t, double flow, double pressure, text name) {
  text out;
  trial_volume(t, trial_decades(t, 2e-5, 1e-3), pressure, name);
  trial_name(t, "out", out);
  trial_put(t, "orifices", "  %s: {between: [%s, T], area: %.6g, discharge: 0.65}\n", out, name,
            trial_area(flow, pressure));
}

static bool put_leaf(trial *t, const char *c, const char *name, const char *from, double flow) {
  if (strcmp(c, "accumulator") == 0)
    trial_put(t, "accumulators", "  %s: {at: %s, volume: %.6g, precharge: %.6g, exponent: 1.3, area: %.6g}\n", name,
              from, trial_decades(t, 1e-4, 3e-3), trial_uniform(t, 2e6, 8e6), trial_decades(t, 5e-6, 5e-5));
  else if (strcmp(c, "thermal accumulator") == 0)
    trial_put(t, "thermal_accumulators",
              "  %s: {at: %s, volume: %.6g, precharge: %.6g, time_constant: %.6g, area: %.6g}\n", name, from,
              trial_decades(t, 1e-4, 3e-3), trial_uniform(t, 2e6, 8e6), trial_decades(t, 0.2, 20),
              trial_decades(t, 5e-6, 5e-5));
  else if (strcmp(c, "leak") == 0)
    trial_put(t, "leaks", "  %s: {between: [%s, T], slope: %.6g}\n", name, from, trial_decades(t, 1e-13, 1e-11));
  else if (strcmp(c, "unloading part") == 0) {
    double open = trial_uniform(t, 6e6, 1.3e7);
    trial_put(t, "unloading_valves",
              "  %s: {between: [%s, T], pilot: %s, open: %.6g, close: %.6g, area: %.6g, time_constant: %.6g}\n", name,
              from, from, open, open * trial_uniform(t, 0.7, 0.9), trial_area(flow, 4e6), trial_decades(t, 3e-3, 2e-2));
    trial_add_output(t, "%s.mode", name);
  } else
    return false;
  if (strstr(c, "accumulator")) trial_add_output(t, "%s.oil", name);
  return true;
}

// Elements from one node to a new one.
static void put_passage(trial *t, const char *c, const char *name, const char *from, double flow, double pressure) {
  text to, command, pilot, more;
  branch(t, flow, pressure, to);
  double area = trial_area(flow, trial_uniform(t, 1e6, 4e6)), lag = trial_decades(t, 1e-3, 2e-2),
         range = trial_decades(t, 3e5, 3e6);
  snprintf(pilot, sizeof pilot, "%s", t->node[trial_pick(t, t->nodes)]);
  if (strcmp(c, "orifice") == 0 || strcmp(c, "throttle") == 0) {
    trial_command(t, true, command);
    trial_put(t, c[0] == 'o' ? "orifices" : "throttles",
              "  %s: {between: [%s, %s], area: %.6g, discharge: 0.65, opening: %s%s}\n", name, from, to, area, command,
              c[0] == 'o' ? "" : ", diameter: 2e-3, reynolds: 150");
  }
  if (strcmp(c, "check valve") == 0) {
    double crack = trial_uniform(t, 1e4, 2e5), full = crack + trial_uniform(t, 5e4, 5e5);
    trial_put(t, "checks", "  %s: {between: [%s, %s], area: %.6g, discharge: 0.65, crack: %.9g, full: %.9g}\n", name,
              from, to, area, crack, full);
    put_difference_edge(t, from, to, crack), put_difference_edge(t, from, to, full);
  }
  if (strcmp(c, "pipe") == 0)
    trial_put(t, "pipes", "  %s: {between: [%s, %s], length: %.6g, diameter: %.6g}\n", name, from, to,
              trial_uniform(t, 0.5, 5), trial_uniform(t, 8e-3, 2e-2));
  if (strcmp(c, "long line") == 0)
    trial_put(t, "long_lines",
              "  %s: {between: [%s, %s], length: %.6g, diameter: %.6g, sound: 1200, rest: %.6g, modes: %d}\n", name,
              from, to, trial_uniform(t, 4, 25), trial_uniform(t, 8e-3, 2e-2), pressure, 2 + trial_pick(t, 3));
  if (strcmp(c, "reducing valve") == 0)
    trial_put(t, "reducing_valves",
              "  %s: {between: [%s, %s], drain: T, set: %.6g, range: %.6g, area: %.6g, time_constant: %.6g}\n", name,
              from, to, 0.6 * pressure, range, area, lag);
  if (strcmp(c, "sequence valve") == 0)
    trial_put(t, "sequence_valves",
              "  %s: {between: [%s, %s], set: %.6g, range: %.6g, area: %.6g, time_constant: %.6g}\n", name, from, to,
              1.3 * pressure, range, area, lag);
  if (strcmp(c, "pilot-operated check valve") == 0)
    trial_put(t, "pilot_checks",
              "  %s: {between: [%s, %s], pilot: %s, full: 2e5, ratio: 3, area: %.6g, time_constant: %.6g}\n", name,
              from, to, pilot, area, lag);
  if (strcmp(c, "counterbalance valve") == 0)
    trial_put(
        t, "counterbalance_valves",
        "  %s: {between: [%s, %s], pilot: %s, set: %.6g, range: %.6g, ratio: 3, area: %.6g, time_constant: %.6g}\n",
        name, from, to, pilot, 1.5 * pressure, range * 3, area, lag);
  if (strcmp(c, "shuttle valve") == 0) {
    branch(t, 0.3 * flow, pressure, more);
    trial_put(t, "orifices", "  %s_feed: {between: [%s, %s], area: %.6g, discharge: 0.65}\n", name, from, more,
              0.3 * area);
    trial_put(t, "shuttles", "  %s: {between: [%s, %s], to: %s, area: %.6g, time_constant: %.6g, range: %.6g}\n", name,
              from, more, to, area, lag, range);
  }
  if (strcmp(c, "pressure compensator") == 0) {
    branch(t, flow, 0.5 * pressure, more);
    trial_put(t, "orifices", "  %s_edge: {between: [%s, %s], area: %.6g, discharge: 0.65}\n", name, to, more, area);
    trial_put(t, "compensators",
              "  %s: {between: [%s, %s], pilot: %s, set: 8e5, range: %.6g, area: %.6g, time_constant: %.6g}\n", name,
              from, to, more, range, 1.5 * area, lag);
  }
  if (strcmp(c, "flow divider") == 0) {
    branch(t, 0.5 * flow, pressure, more);
    trial_put(t, "flow_dividers",
              "  %s: {from: %s, to: [%s, %s], share: %.4g, area: %.6g, nominal: %.6g, time_constant: %.6g}\n", name,
              from, to, more, trial_uniform(t, 0.3, 0.7), area, flow, lag);
  }
  if (strcmp(c, "two-way valve") == 0) {
    trial_command(t, true, command);
    trial_put(t, "two_way_valves", "  %s: {command: %s, between: [%s, %s], nominal_flow: %.6g, frequency: %.6g%s}\n",
              name, command, from, to, flow, trial_decades(t, 100, 600),
              trial_chance(t, 0.5) ? ", rest: 1, full: 0" : ", hysteresis: 0.03");
  }
  if (strcmp(c, "single servo valve") == 0 || strcmp(c, "single position valve") == 0) {
    trial_command(t, true, command);
    trial_put(t, c[7] == 's' ? "servo_valves" : "two_position_valves",
              "  %s: {command: %s, between: [%s, T], a: %s, nominal_flow: %.6g, nominal_drop: 2e6, frequency: %.6g}\n",
              name, command, from, to, flow, trial_decades(t, 100, 600));
  }
  if (strcmp(c, "flow formula") == 0) {
    trial_command(t, true, command);
    static const char *const laws[] = {"q * s * smooth_root((p_a - p_b) / dp, 0.01)",
                                       "q * s * max((p_a - p_b) / dp - 0.2, 0)",
                                       "if(p_a > p_b, q * s * smooth_root((p_a - p_b) / dp, 0.05), 0)"};
    trial_put(t, "flow_formulas",
              "  %s: {between: [%s, %s], flow: \"%s\", inputs: {s: %s}, parameters: {q: %.6g m^3/s, dp: 35 bar}}\n",
              name, from, to, laws[trial_pick(t, 3)], command, flow);
    put_difference_edge(t, from, to, 0), put_difference_edge(t, from, to, 7e5);
  }
  if (strcmp(c, "junction") == 0) {
    trial_put(t, "junctions", "%sJ%s", "", name);
    trial_put(
        t, "orifices",
        "  %s_in: {between: [%s, J%s], area: %.6g, discharge: 0.65}\n  %s_out: {between: [J%s, %s], area: %.6g, discharge: 0.65}\n",
        name, from, name, area, name, name, to, area);
    trial_put(t, "leaks", "  %s_leak: {between: [J%s, T], slope: 1e-13}\n", name, name);
    trial_put(t, "junctions", ", ");
  }
  static const char *const no_flow[] = {"orifice", "junction"};
  if (strcmp(c, no_flow[1]) != 0 && !strstr(c, "single") && strcmp(c, "reducing valve") != 0)
    trial_add_output(t, "%s.flow", name);
}

// A volume that a pump empties, until it cavitates.
static void put_cavitation(trial *t, const char *name) {
  text node, signal, scaled;
  branch(t, 1e-5, 3e5, node);
  trial_input(t, "1", 0, 1, signal);
  trial_name(t, "q", scaled);
  trial_put(t, "blocks", "  %s: {type: gain, input: %s, gain: %.6g, unit: 'm^3/s'}\n", scaled, signal,
            trial_decades(t, 1e-5, 5e-5));
  trial_put(t, "pumps", "  %s: {from: T, to: %s, flow: %s}\n", name, node, scaled);
}

void trial_circuit_part(trial *t, const char *c) {
  text name, from;
  trial_supply(t);
  trial_name(t, "x", name);
  snprintf(from, sizeof from, "%s", t->node[trial_pick(t, t->nodes)]);
  double flow = trial_decades(t, 3e-5, 3e-4), pressure = trial_uniform(t, 1e6, 5e6);
  if (put_leaf(t, c, name, from, flow)) return;
  if (strstr(c, "relief")) {
    for (int k = 0; k < 1; k++) t->wanted[2] = c;
    put_relief(t, from, trial_uniform(t, 6e6, 1.5e7), flow);
    t->wanted[2] = NULL;
  } else if (strcmp(c, "reservoir") == 0) {
    if (!t->has_reservoir)
      trial_put(t, "reservoirs", "  %s: {volume: %.6g, conductance: %.6g, ambient: 300}\n", name,
                trial_decades(t, 1e-3, 0.05), trial_decades(t, 1, 100));
    if (!t->has_reservoir)
      trial_put(t, "oil", ", reference: 313.15, temperature: %.6g, thinning: 0.03", trial_uniform(t, 300, 340));
    if (!t->has_reservoir) trial_add_output(t, "%s.temperature", name);
    t->has_reservoir = true;
  } else if (strcmp(c, "oil_tank") == 0) {
    text node, way;
    trial_volume(t, trial_decades(t, 1e-4, 1e-3), 1.2e5, node);
    trial_name(t, "way", way);
    trial_put(t, "orifices", "  %s: {between: [%s, %s], area: %.6g, discharge: 0.65}\n", way, from, node,
              trial_area(flow, 1e7));
    trial_put(t, "oil_tanks", "  %s: {at: %s, capacity: %.6g, area: %.6g, port: 3e-4}\n", name, node,
              trial_decades(t, 2e-3, 0.05), trial_decades(t, 0.01, 0.2));
    trial_add_output(t, "%s.filled", name);
  } else if (strcmp(c, "cavitation") == 0) {
    put_cavitation(t, name);
  } else if (strcmp(c, "cushion") == 0) {
    if (!t->cylinder[0]) return;
    text node, way;
    trial_volume(t, 3e-4, 3e6, node);
    trial_name(t, "way", way);
    trial_put(t, "orifices", "  %s: {between: [%s, T], area: %.6g, discharge: 0.65}\n", way, node,
              trial_area(flow, 3e6));
    char chamber[TRIAL_NAME];
    snprintf(chamber, sizeof chamber, "%.*s", (int)strcspn(t->cylinder_chambers, ","), t->cylinder_chambers);
    double end = t->cylinder_closed, begin = end + trial_uniform(t, 0.3, 0.8) * t->cylinder_stroke;
    trial_put(
        t, "cushions",
        "  %s: {between: [%s], chambers: [%s, %s], begin: %.6g, end: %.6g, full: %.6g, last: %.6g, check: 2e-5}\n",
        name, t->cylinder_between, chamber, node, begin, end, trial_area(2 * flow, 2e6), trial_decades(t, 1e-7, 2e-6));
    trial_add_output(t, "%s.flow", name);
  } else if (strcmp(c, "leak by position") == 0) {
    if (!t->cylinder[0]) return;
    trial_put(t, "position_leaks",
              "  %s: {between: [%s], chambers: [%s], slope: 1e-14, worn: %.6g, place: %.6g, width: %.6g}\n", name,
              t->cylinder_between, t->cylinder_chambers, trial_decades(t, 1e-12, 1e-11),
              t->cylinder_closed + 0.4 * t->cylinder_stroke, trial_decades(t, 0.005, 0.1));
  } else {
    put_passage(t, c, name, from, flow, pressure);
  }
}
