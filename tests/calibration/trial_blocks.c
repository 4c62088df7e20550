// Random blocks of every class. Signals are plain numbers of about 1; gains provide units where needed.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "calibration/trial.h"

const char *const trial_block_classes[] = {"gain",
                                           "sum",
                                           "product",
                                           "quotient",
                                           "absolute",
                                           "sign",
                                           "square-root",
                                           "minimum",
                                           "maximum",
                                           "first-order",
                                           "lead-lag",
                                           "second-order",
                                           "notch",
                                           "transfer-function",
                                           "delay",
                                           "integrator",
                                           "saturation",
                                           "dead-zone",
                                           "rate-limit",
                                           "pid",
                                           "valve-inverse",
                                           "linear-valve",
                                           "load-chamber",
                                           "mass",
                                           "table",
                                           "spline",
                                           "pressure-map",
                                           "pressure-table",
                                           "pressure-factor",
                                           "formula",
                                           "power",
                                           "quantiser",
                                           "table-2d",
                                           "relay",
                                           "switch",
                                           "sample-hold",
                                           "state-machine",
                                           "coulomb-friction",
                                           "brown-mcphee-friction",
                                           "viscous-friction",
                                           "tustin-friction",
                                           "gaussian-friction",
                                           "lorentzian-friction",
                                           "modified-gaussian-friction",
                                           "modified-lorentzian-friction",
                                           "lugre-friction",
                                           "modified-lugre-friction",
                                           "new-modified-lugre-friction",
                                           "reduced-friction",
                                           NULL};

typedef char text[TRIAL_NAME];

// A signal of about 1: an existing one, a measurement, or a new input.
static void some(trial *t, text name) {
  double u = trial_uniform(t, 0, 1);
  if (t->signals && u < 0.55) {
    snprintf(name, TRIAL_NAME, "%s", t->signal[trial_pick(t, t->signals)]);
    return;
  }
  if (t->sensors && u < 0.85) {
    const trial_sensor *s = &t->sensor[trial_pick(t, t->sensors)];
    trial_name(t, "measured", name);
    trial_put(t, "blocks", "  %s: {type: gain, input: %s, gain: %.6g, unit: '1'}\n", name, s->quantity, s->factor);
  } else {
    trial_input(t, "1", trial_uniform(t, -0.3, 0.3), trial_uniform(t, 0.4, 1), name);
  }
  trial_add_signal(t, name);
}

// The same in a unit, scaled.
static void converted(trial *t, double factor, const char *unit, text name) {
  text from;
  some(t, from);
  trial_name(t, "as", name);
  trial_put(t, "blocks", "  %s: {type: gain, input: %s, gain: %.6g, unit: '%s'}\n", name, from, factor, unit);
}

static void pressure(trial *t, text name) {
  const char *node = t->nodes ? t->node[trial_pick(t, t->nodes)] : "";
  if (*node && trial_chance(t, 0.7) && !(t->supply_follows_signal && strcmp(node, "P") == 0))
    snprintf(name, TRIAL_NAME, "%.40s.pressure", node);
  else
    converted(t, 5e6, "Pa", name);
}

// A block whose output has a unit becomes a plain number.
static void plain(trial *t, const char *from, double factor, text name) {
  trial_name(t, "plain", name);
  trial_put(t, "blocks", "  %s: {type: gain, input: %s, gain: %.6g, unit: '1'}\n", name, from, factor);
}

// ", sample: 2 ms" with some probability.
static const char *sampled(trial *t, double part, char room[32]) {
  static const double every[] = {1e-3, 2e-3, 5e-3, 1e-2, 7.3e-3};
  room[0] = '\0';
  if (trial_wants(t, "sampled") || trial_chance(t, part)) snprintf(room, 32, ", sample: %g", every[trial_pick(t, 5)]);
  return room;
}

static void put_numbers(trial *t, int count, double low, double high) {
  for (int i = 0; i < count; i++) trial_put(t, "blocks", "%s%.6g", i ? ", " : "", trial_uniform(t, low, high));
}
static void put_increasing(trial *t, int count, double low, double high, double *at) {
  for (int i = 0; i < count; i++) {
    at[i] = low + (high - low) * (i + trial_uniform(t, 0.1, 0.9)) / count;
    char number[32];
    snprintf(number, sizeof number, "%.6g", at[i]);
    at[i] = strtod(number, NULL);
    trial_put(t, "blocks", "%s%s", i ? ", " : "", number);
  }
}

static bool is_among(const char *c, const char *const *names) {
  for (; *names; names++)
    if (strcmp(*names, c) == 0) return true;
  return false;
}

static bool simple(trial *t, const char *c, const char *name) {
  static const char *const own[] = {"gain",       "absolute",  "sign",      "square-root", "power",
                                    "saturation", "dead-zone", "quantiser", "sum",         "product",
                                    "minimum",    "maximum",   NULL};
  if (!is_among(c, own)) return false;
  text a, b;
  some(t, a);
  char room[32];
  double g = trial_uniform(t, 0.5, 1.5) * (trial_chance(t, 0.2) ? -1 : 1);
  if (strcmp(c, "gain") == 0) {
    trial_put(t, "blocks", "  %s: {type: gain, input: %s, gain: %.6g%s}\n", name, a, g, sampled(t, 0.5, room));
  } else if (strcmp(c, "absolute") == 0) {
    trial_put(t, "blocks", "  %s: {type: absolute, input: %s, gain: %.6g}\n", name, a, g);
    trial_add_edge(t, a, "", 0, 0);
  } else if (strcmp(c, "sign") == 0) {
    double width = trial_chance(t, 0.6) ? trial_decades(t, 0.02, 0.5) : 0;
    trial_put(t, "blocks", "  %s: {type: sign, input: %s, width: %.6g}\n", name, a, width);
    trial_add_edge(t, a, "", width, 0);
    if (width > 0) trial_add_edge(t, a, "", -width, 0);
  } else if (strcmp(c, "square-root") == 0) {
    trial_put(t, "blocks", "  %s: {type: square-root, input: %s, reference: 1, smoothing: %.6g}\n", name, a,
              trial_decades(t, 1e-3, 0.2));
  } else if (strcmp(c, "power") == 0) {
    trial_put(t, "blocks", "  %s: {type: power, input: %s, exponent: %.6g, reference: 1, smoothing: %.6g}\n", name, a,
              trial_uniform(t, 0.5, 2.5), trial_decades(t, 1e-3, 0.2));
  } else if (strcmp(c, "saturation") == 0 || strcmp(c, "dead-zone") == 0) {
    double low = -trial_uniform(t, 0.05, 0.6), high = trial_uniform(t, 0.05, 0.6);
    trial_put(t, "blocks", "  %s: {type: %s, input: %s, %s: [%.9g, %.9g]}\n", name, c, a,
              c[0] == 's' ? "limits" : "band", low, high);
    trial_add_edge(t, a, "", low, 0);
    trial_add_edge(t, a, "", high, 0);
  } else if (strcmp(c, "quantiser") == 0) {
    double step = trial_decades(t, 0.05, 0.5);
    const char *sample = sampled(t, 0.3, room);
    trial_put(t, "blocks", "  %s: {type: quantiser, input: %s, step: %.9g%s}\n", name, a, step, sample);
    if (!*sample) trial_add_edge(t, a, "", step / 2, step);
  } else {
    some(t, b);
    if (strcmp(c, "sum") == 0) {
      trial_put(t, "blocks", "  %s: {type: sum, inputs: [%s, %s], weights: [%.6g, %.6g]}\n", name, a, b, g,
                trial_uniform(t, -1, 1));
    } else if (strcmp(c, "product") == 0) {
      trial_put(t, "blocks", "  %s: {type: product, inputs: [%s, %s], gain: %.6g}\n", name, a, b, g);
    } else if (strcmp(c, "minimum") == 0 || strcmp(c, "maximum") == 0) {
      trial_put(t, "blocks", "  %s: {type: %s, inputs: [%s, %s], gain: %.6g}\n", name, c, a, b, g);
      if (strcmp(a, b) != 0) trial_add_edge(t, a, b, 0, 0);
    }
  }
  return true;
}

// Filters and controllers.
static bool linear(trial *t, const char *c, const char *name) {
  static const char *const own[] = {"first-order", "lead-lag",   "second-order", "notch", "transfer-function",
                                    "delay",       "integrator", "rate-limit",   "pid",   NULL};
  if (!is_among(c, own)) return false;
  text a;
  some(t, a);
  char room[32];
  double T = trial_decades(t, 1e-3, 0.2), d = trial_uniform(t, 0.1, 1.2);
  if (strcmp(c, "first-order") == 0)
    trial_put(t, "blocks", "  %s: {type: first-order, input: %s, time_constant: %.6g}\n", name, a, T);
  else if (strcmp(c, "lead-lag") == 0)
    trial_put(t, "blocks", "  %s: {type: lead-lag, input: %s, lead: %.6g, lag: %.6g}\n", name, a,
              T * trial_uniform(t, 0.2, 3), T);
  else if (strcmp(c, "second-order") == 0)
    trial_put(t, "blocks", "  %s: {type: second-order, input: %s, time_constant: %.6g, damping: %.6g}\n", name, a, T,
              d);
  else if (strcmp(c, "notch") == 0)
    trial_put(t, "blocks", "  %s: {type: notch, input: %s, time_constant: %.6g, damping: [%.6g, %.6g]}\n", name, a, T,
              trial_uniform(t, 0.02, 0.3), d);
  else if (strcmp(c, "transfer-function") == 0 && trial_chance(t, 0.3))
    trial_put(t, "blocks",
              "  %s: {type: transfer-function, input: %s, numerator: [%.6g, 0.1], denominator: [1, %.6g]%s}\n", name, a,
              trial_uniform(t, 0.1, 0.4), -trial_uniform(t, 0.3, 0.8), ", sample: 4e-3");
  else if (strcmp(c, "transfer-function") == 0)
    trial_put(t, "blocks",
              "  %s: {type: transfer-function, input: %s, numerator: [%.6g, 1], denominator: [%.6g, %.6g, 1]}\n", name,
              a, T * trial_uniform(t, -0.5, 1), T * T, 2 * d * T);
  else if (strcmp(c, "delay") == 0 && trial_chance(t, 0.5))
    trial_put(t, "blocks", "  %s: {type: delay, input: %s, time: %.6g, pade: %d}\n", name, a,
              trial_decades(t, 2e-3, 5e-2), 1 + trial_pick(t, 4));
  else if (strcmp(c, "delay") == 0)
    trial_put(t, "blocks", "  %s: {type: delay, input: %s, time: %.6g, sample: 2e-3}\n", name, a,
              2e-3 * (1 + trial_pick(t, 20)));
  else if (strcmp(c, "integrator") == 0)
    trial_put(t, "blocks", "  %s: {type: integrator, input: %s, gain: %.6g 1/s, limits: [%.6g, %.6g]%s}\n", name, a,
              trial_uniform(t, 1, 8), -trial_uniform(t, 0.2, 1), trial_uniform(t, 0.2, 1), sampled(t, 0.3, room));
  else if (strcmp(c, "rate-limit") == 0)
    trial_put(t, "blocks", "  %s: {type: rate-limit, input: %s, limits: [%.6g, %.6g]}\n", name, a,
              -trial_decades(t, 1, 30), trial_decades(t, 1, 30));
  else if (strcmp(c, "pid") == 0)
    trial_put(t, "blocks",
              "  %s: {type: pid, input: %s, kp: %.6g, ki: %.6g, kd: %.6g, filter: 5e-3, limits: [-1, 1]%s}\n", name, a,
              trial_uniform(t, 0.3, 1.2), trial_uniform(t, 0, 6), trial_chance(t, 0.4) ? 2e-3 : 0.0,
              sampled(t, 0.4, room));
  return true;
}

static bool tables(trial *t, const char *c, const char *name) {
  text a, b;
  double at[8];
  int n = 3 + trial_pick(t, 4), m = 2 + trial_pick(t, 3);
  if (strcmp(c, "table") == 0 || strcmp(c, "spline") == 0) {
    some(t, a);
    trial_put(t, "blocks", "  %s: {type: %s, input: %s, at: [", name, c, a);
    put_increasing(t, n, -0.9, 0.9, at);
    for (int i = 0; i < n; i++) trial_add_edge(t, a, "", at[i], 0);
    trial_put(t, "blocks", "], values: [");
    put_numbers(t, n, -1, 1);
    trial_put(t, "blocks", "]}\n");
    return true;
  }
  if (strcmp(c, "table-2d") == 0) {
    some(t, a), some(t, b);
    trial_put(t, "blocks", "  %s: {type: table-2d, row: %s, column: %s, at_row: [", name, a, b);
    put_increasing(t, n, -0.9, 0.9, at);
    for (int i = 0; i < n; i++) trial_add_edge(t, a, "", at[i], 0);
    trial_put(t, "blocks", "], at_column: [");
    put_increasing(t, m, -0.9, 0.9, at);
    for (int i = 0; i < m; i++) trial_add_edge(t, b, "", at[i], 0);
    trial_put(t, "blocks", "], values: [");
    put_numbers(t, n * m, -1, 1);
    trial_put(t, "blocks", "]}\n");
    return true;
  }
  if (strncmp(c, "pressure-", 9) != 0) return false;
  pressure(t, a), pressure(t, b);
  trial_put(t, "blocks", "  %s: {type: %s, a: %s, b: %s, %s", name, c, a, b,
            strcmp(c, "pressure-factor") == 0 ? "" : "unit: '1', ");
  if (strcmp(c, "pressure-factor") == 0) {
    trial_put(t, "blocks", "per_a: %.6g, per_b: %.6g, nominal_a: 5e6, nominal_b: 4e6, limits: [0.3, 1.8]}\n",
              trial_uniform(t, -1e-7, 1e-7), trial_uniform(t, -1e-7, 1e-7));
  } else if (strcmp(c, "pressure-table") == 0) {
    trial_put(t, "blocks", "at_sum: [");
    put_increasing(t, n, 0, 3e7, at);
    trial_put(t, "blocks", "], values: [");
    put_numbers(t, n, -1, 1);
    trial_put(t, "blocks", "]}\n");
  } else {
    trial_put(t, "blocks", "at_a: [");
    put_increasing(t, 3, 0, 2e7, at);
    for (int i = 0; i < 3; i++) trial_add_edge(t, a, "", at[i], 0);
    trial_put(t, "blocks", "], at_b: [");
    put_increasing(t, m, 0, 2e7, at);
    for (int i = 0; i < m; i++) trial_add_edge(t, b, "", at[i], 0);
    trial_put(t, "blocks", "], values: [");
    put_numbers(t, 3 * m, -1, 1);
    trial_put(t, "blocks", "]}\n");
  }
  return true;
}

static void state_machine(trial *t, const char *name, const char *a, const char *b) {
  trial_put(
      t, "blocks",
      "  %s: {type: state-machine, inputs: {x: %s, y: %s}, states: {rest: 0, up: %.6g, down: %.6g}, transitions: ["
      "{from: rest, to: up, when: x > %.6g}, {from: up, to: down, when: %s, after: %.6g}, "
      "{from: down, to: rest, after: %.6g}, {from: down, to: up, when: [x < %.6g, y > %.6g]}]}\n",
      name, a, b, trial_uniform(t, 0.3, 1), -trial_uniform(t, 0.3, 1), trial_uniform(t, -0.2, 0.4),
      trial_chance(t, 0.5) ? "y < 0.1" : "x < 0.2", trial_uniform(t, 0.005, 0.1), trial_uniform(t, 0.02, 0.2),
      -trial_uniform(t, 0, 0.5), trial_uniform(t, -0.5, 0.5));
}

static void formula(trial *t, const char *name, const char *a, const char *b) {
  double level = trial_uniform(t, -0.4, 0.4), k = trial_uniform(t, 0.3, 1);
  const char *law = "";
  switch (trial_pick(t, 6)) {
    case 0: law = "if(x > level, k * x, -0.3 * k)", trial_add_edge(t, a, "", level, 0); break;
    case 1: law = "k * max(x - level, 0)^1.5 - 0.2 * y", trial_add_edge(t, a, "", level, 0); break;
    case 2:
      law = "k * sign(x - level) * abs(y)", trial_add_edge(t, a, "", level, 0), trial_add_edge(t, b, "", 0, 0);
      break;
    case 3: law = "k * tanh(3 * x) + 0.3 * sin(5 * y + level)"; break;
    case 4:
      law = "if(x < y, k, 0.2 * exp(-x^2) + level)";
      trial_add_edge(t, a, b, 0, 0);
      break;
    default:
      law = "k * min(max(x, -0.5), level + 0.6) * smooth_root(y, 0.05)";
      trial_add_edge(t, a, "", -0.5, 0), trial_add_edge(t, a, "", level + 0.6, 0);
  }
  trial_put(t, "blocks",
            "  %s: {type: formula, inputs: {x: %s, y: %s}, formula: \"%s\", parameters: {k: %.9g, level: %.17g}}\n",
            name, a, b, law, k, level);
}

static bool logic(trial *t, const char *c, const char *name) {
  static const char *const own[] = {"relay", "switch", "sample-hold", "state-machine", "formula", "quotient", NULL};
  if (!is_among(c, own)) return false;
  text a, b, d;
  double off = trial_uniform(t, -0.5, 0.2), on = off + trial_decades(t, 0.02, 0.5);
  some(t, a), some(t, b), some(t, d);
  if (strcmp(c, "relay") == 0)
    trial_put(t, "blocks", "  %s: {type: relay, input: %s, thresholds: [%.6g, %.6g], values: [%.6g, %.6g]}\n", name, a,
              off, on, trial_uniform(t, -1, 0.2), trial_uniform(t, -0.2, 1));
  else if (strcmp(c, "switch") == 0)
    trial_put(t, "blocks", "  %s: {type: switch, off: %s, on: %s, control: %s, thresholds: [%.6g, %.6g]}\n", name, a, b,
              d, off, on);
  else if (strcmp(c, "sample-hold") == 0)
    trial_put(t, "blocks", "  %s: {type: sample-hold, input: %s, trigger: %s, thresholds: [%.6g, %.6g]}\n", name, a, b,
              off, on);
  else if (strcmp(c, "state-machine") == 0)
    state_machine(t, name, a, b);
  else if (strcmp(c, "formula") == 0)
    formula(t, name, a, b);
  else if (strcmp(c, "quotient") == 0) {
    // The denominator jumps with its sign. A denominator in a feedback loop would slide at zero, where the quotient has no
    // value.
    trial_input(t, "1", trial_uniform(t, 0, 0.3), 0.8, b);
    trial_put(t, "blocks", "  %s: {type: quotient, numerator: %s, denominator: %s, gain: 0.3, least: 0.4}\n", name, a,
              b);
    trial_add_edge(t, b, "", 0.4, 0), trial_add_edge(t, b, "", -0.4, 0), trial_add_edge(t, b, "", 0, 0);
  }
  return true;
}

// Blocks with units: the output becomes a plain number.
static void hydraulic(trial *t, const char *c, const char *name) {
  text a, b, result, made;
  if (strcmp(c, "valve-inverse") == 0) {
    converted(t, 3e-4, "m^3/s", a);
    pressure(t, b), pressure(t, result), pressure(t, made);
    trial_put(t, "blocks",
              "  %s: {type: valve-inverse, flow: %s, first: %s, second: %s, port: %s, nominal_flow: 5e-4}\n", name, a,
              b, result, made);
    trial_name(t, "inverse", made);
    trial_put(t, "blocks", "  %s: {type: saturation, input: %s, limits: [-1, 1]}\n", made, name);
    trial_add_edge(t, name, "", 1, 0), trial_add_edge(t, name, "", -1, 0);
    trial_add_signal(t, made);
    return;
  }
  text flow, chamber, load;
  some(t, a);
  trial_name(t, "lv", flow), trial_name(t, "lc", chamber), trial_name(t, "lm", load);
  if (strcmp(c, "linear-valve") == 0) snprintf(flow, TRIAL_NAME, "%s", name);
  if (strcmp(c, "load-chamber") == 0) snprintf(chamber, TRIAL_NAME, "%s", name);
  if (strcmp(c, "mass") == 0) snprintf(load, TRIAL_NAME, "%s", name);
  trial_put(
      t, "blocks",
      "  %s: {type: linear-valve, command: %s, load_pressure: %s.pressure, flow_gain: %.6g, pressure_coefficient: %.6g}\n",
      flow, a, chamber, 3e-4, trial_decades(t, 1e-12, 3e-11));
  trial_put(
      t, "blocks",
      "  %s: {type: load-chamber, flow: %s.flow, velocity: %s.velocity, modulus: 1.2e9, volume: %.6g, area: 1e-3}\n",
      chamber, flow, load, trial_decades(t, 1e-4, 2e-3));
  trial_put(t, "blocks",
            "  %s: {type: mass, pressure: %s.pressure, mass: %.6g, area: 1e-3, damping: %.6g, stiffness: %.6g}\n", load,
            chamber, trial_decades(t, 20, 500), trial_decades(t, 100, 3000),
            trial_chance(t, 0.5) ? trial_decades(t, 1e3, 1e5) : 0.0);
  snprintf(b, sizeof b, "%.50s.velocity", load);
  plain(t, b, 3, result);
  trial_add_signal(t, result);
  trial_add_output(t, "%.40s.position", load);
  trial_add_output(t, "%.40s.pressure", chamber);
}

static void friction_block(trial *t, const char *c, const char *name) {
  text velocity, result;
  char law[512], as_law[TRIAL_NAME];
  snprintf(as_law, sizeof as_law, "%.*s", (int)(strlen(c) - strlen("-friction")), c);
  t->wanted[2] = as_law;
  trial_friction(t, false, 100, law, sizeof law);
  t->wanted[2] = NULL;
  converted(t, 0.05, "m/s", velocity);
  char *keys = strchr(law, ',');
  trial_put(t, "blocks", "  %s: {type: %s, velocity: %s%s}\n", name, c, velocity, keys ? keys : "");
  plain(t, name, 5e-3, result);
  trial_add_signal(t, result);
  trial_add_output(t, "%s", name);
}

void trial_block(trial *t, const char *c) {
  text name;
  trial_name(t, "b", name);
  size_t length = strlen(c);
  if (length > 9 && strcmp(c + length - 9, "-friction") == 0) {
    friction_block(t, c, name);
    return;
  }
  if (strcmp(c, "valve-inverse") == 0 || strcmp(c, "linear-valve") == 0 || strcmp(c, "load-chamber") == 0 ||
      strcmp(c, "mass") == 0) {
    hydraulic(t, c, name);
    return;
  }
  if (linear(t, c, name) || simple(t, c, name) || tables(t, c, name) || logic(t, c, name)) {
    trial_add_signal(t, name);
    if (trial_chance(t, 0.5)) trial_add_output(t, "%s", name);
  } else {
    fprintf(stderr, "no block %s\n", c);
  }
}

void trial_command(trial *t, bool positive, char name[TRIAL_NAME]) {
  text from;
  if (trial_chance(t, 0.4)) {
    trial_input(t, "1", positive ? 0.5 : 0, positive ? 0.45 : trial_uniform(t, 0.3, 1), name);
    trial_add_signal(t, name);
    return;
  }
  int count = 0, length = 1 + trial_pick(t, 4);
  while (trial_block_classes[count]) count++;
  for (int i = 0; i < length; i++) trial_block(t, trial_choose(t, trial_block_classes, count));
  snprintf(from, sizeof from, "%s", t->signal[t->signals - 1]);
  trial_name(t, "command", name);
  double low = positive ? 0.05 : -1;
  trial_put(t, "blocks", "  %s: {type: saturation, input: %s, limits: [%g, 1]}\n", name, from, low);
  trial_add_edge(t, from, "", low, 0);
  trial_add_edge(t, from, "", 1, 0);
  trial_add_signal(t, name);
}
