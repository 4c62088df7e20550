#include "support/random_file.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "support/random_machine.h"

typedef struct writer {
  od_dice dice;
  char *text;
  size_t size, used;
} writer;

static void put(writer *w, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void put(writer *w, const char *format, ...) {
  va_list args;
  va_start(args, format);
  int n = vsnprintf(w->text + w->used, w->size - w->used, format, args);
  va_end(args);
  if (n > 0 && w->used + (size_t)n < w->size) w->used += (size_t)n;
}

static double uniform(writer *w, double low, double high) {
  return od_dice_uniform(&w->dice, low, high);
}
static double decades(writer *w, double low, double high) {
  return exp(uniform(w, log(low), log(high)));
}
static int pick(writer *w, int count) {
  return od_dice_pick(&w->dice, count);
}

// An input of any shape between plus and minus `size`.
static void put_input(writer *w, const char *name, const char *unit, double middle, double size) {
  put(w, "inputs:\n  %s: {unit: '%s', ", name, unit);
  switch (pick(w, 5)) {
    case 0: put(w, "steps: {initial: %g, at: [[0.1, %g], [0.45, %g]]}}\n", middle, middle + size, middle - size); break;
    case 1: put(w, "sine: {offset: %g, amplitude: %g, frequency: %g}}\n", middle, size, decades(w, 0.3, 8)); break;
    case 2: put(w, "ramps: {at: [[0.05, %g], [0.3, %g], [0.5, %g]]}}\n", middle, middle + size, middle - size); break;
    case 3:
      put(w, "half_cosines: {at: [[0.05, %g], [%g, %g], [0.8, %g]]}}\n", middle, uniform(w, 0.1, 0.5), middle + size,
          middle);
      break;
    default:
      put(w, "prbs: {low: %g, high: %g, bit: %g, seed: %d, order: 5}}\n", middle - size, middle + size,
          uniform(w, 0.05, 0.2), 1 + pick(w, 20));
  }
}

// ---- mechanisms

static void pendulum(writer *w) {
  put(w, "gravity: [0, -9.81]\nground: {points: {wall: [1, 0]}}\n");
  put(w, "bodies: {rod: {beam: {mass: %g, length: %g}}}\n", uniform(w, 0.5, 10), uniform(w, 0.3, 1.2));
  put(w, "joints: {hinge: {type: revolute, between: [ground, rod.start]}}\n");
  put(w, "springs: {spring: {between: [ground.wall, rod.end], stiffness: %g, damping: %g, length: %g}}\n",
      decades(w, 10, 1e6), decades(w, 0.1, 100), uniform(w, 0.2, 1));
  put(w, "initial: {hinge.angle: %g}\n", uniform(w, -2.5, -0.6));
  put(w, "run: {time: %g, outputs: [hinge.angle, hinge.rate, spring.force]}\n", uniform(w, 0.5, 3));
}

static void chain(writer *w) {
  int links = 2 + pick(w, 3);
  put(w, "gravity: [0, -9.81]\nbodies:\n");
  for (int i = 0; i < links; i++)
    put(w, "  b%d: {beam: {mass: %g, length: %g}}\n", i, uniform(w, 0.3, 3), uniform(w, 0.2, 0.8));
  put(w, "joints:\n");
  for (int i = 0; i < links; i++) {
    char parent[16] = "ground";
    if (i) snprintf(parent, sizeof parent, "b%d.end", i - 1);
    put(w, "  j%d: {type: revolute, between: [%s, b%d.start], damping: %g, stiffness: %g}\n", i, parent, i,
        decades(w, 1e-3, 1), pick(w, 2) ? decades(w, 0.1, 1e3) : 0);
  }
  put(w, "initial: {");
  for (int i = 0; i < links; i++) put(w, "%sj%d.angle: %g", i ? ", " : "", i, uniform(w, -1.5, 0.5) - (i ? 0 : 0.8));
  put(w, "}\nrun: {time: %g, outputs: [j0.angle, j1.angle, b1.end.y]}\n", uniform(w, 0.5, 2));
}

static void fourbar(writer *w) {
  put(w, "gravity: [0, -9.81]\nground: {points: {A: [0, 0], B: [%g, 0]}}\n", uniform(w, 0.9, 1.1));
  put(w, "bodies:\n  crank: {beam: {mass: %g, length: 0.3}}\n", uniform(w, 0.5, 3));
  put(w, "  coupler: {beam: {mass: %g, length: %g}}\n", uniform(w, 0.5, 3), uniform(w, 0.9, 1.1));
  put(w, "  rocker: {beam: {mass: %g, length: %g}}\n", uniform(w, 0.5, 3), uniform(w, 0.6, 0.75));
  put(w, "joints:\n  A: {type: revolute, between: [ground.A, crank.start], damping: %g}\n", decades(w, 0.01, 1));
  put(w, "  C: {type: revolute, between: [crank.end, coupler.start]}\n");
  put(w, "  B: {type: revolute, between: [ground.B, rocker.start]}\n");
  put(w, "  D: {type: revolute, between: [coupler.end, rocker.end]}\n");
  put(w, "springs: {s: {between: [ground.A, rocker.end], stiffness: %g, damping: %g, length: 1.2}}\n",
      decades(w, 10, 1e5), decades(w, 0.1, 100));
  put_input(w, "drive", "N m", 0, decades(w, 0.3, 30));
  put(w, "torques: {motor: {joint: A, value: drive}}\n");
  put(w, "initial: {A.angle: %g, C.angle: about %g, B.angle: about 1.9}\n", uniform(w, 0.4, 1.2), -0.5);
  put(w, "run: {time: %g, outputs: [A.angle, A.rate, B.angle, s.force]}\n", uniform(w, 0.5, 2));
}

// ---- circuits

static void put_oil(writer *w) {
  switch (pick(w, 3)) {
    case 0: put(w, "oil: {density: 870, law: constant, modulus: %g}\n", decades(w, 6e8, 1.8e9)); break;
    case 1:
      put(w, "oil: {density: 860, law: linear, kp: %g, k0: %g}\n", decades(w, 8e8, 1.6e9), uniform(w, 0.5, 10));
      break;
    default:
      put(w, "oil: {density: 870, law: air, modulus: 1.4e9, air: %g, at: 1e5, exponent: 1.4}\n",
          decades(w, 1e-3, 3e-2));
  }
}

// A pump, volumes in series with orifices between them, sometimes a relief valve.
static void circuit(writer *w) {
  int volumes = 1 + pick(w, 4);
  double flow = decades(w, 2e-5, 1e-3), pressure = decades(w, 5e5, 1.5e7);
  put_oil(w);
  put(w, "volumes: {");
  for (int i = 0; i < volumes; i++) put(w, "%sV%d: {volume: %g}", i ? ", " : "", i, decades(w, 2e-6, 2e-2));
  put(w, "}\ntanks: {T: {pressure: 1e5}}\n");
  put_input(w, "q", "m^3/s", flow, flow * uniform(w, 0.2, 0.9));
  put(w, "pumps: {pump: {to: V0, from: T, flow: q}}\norifices:\n");
  for (int i = 0; i < volumes; i++) {
    char to[16] = "T";
    double area = flow / 0.6 / sqrt(2 * pressure / volumes / 870) * decades(w, 0.5, 2);
    if (i + 1 < volumes) snprintf(to, sizeof to, "V%d", i + 1);
    put(w, "  o%d: {between: [V%d, %s], area: %g, discharge: 0.6}\n", i, i, to, area);
  }
  if (pick(w, 2))
    put(w, "reliefs: {relief: {between: [V0, T], set: %g, slope: %g}}\n", pressure * uniform(w, 0.6, 1.5),
        decades(w, 1e-11, 1e-9));
  put(w, "initial: {");
  for (int i = 0; i < volumes; i++)
    put(w, "%sV%d.pressure: %g", i ? ", " : "", i, pick(w, 2) ? 1e5 : pressure * uniform(w, 0.2, 1));
  put(w, "}\nrun: {time: %g, outputs: [V0.pressure, V%d.pressure, o0.flow]}\n", uniform(w, 0.5, 1.2), volumes - 1);
}

static void put_friction(writer *w) {
  double coulomb = decades(w, 10, 500);
  switch (pick(w, 3)) {
    case 0:
      put(w, ", friction: {law: coulomb, Fc: %g, vs: %g, viscous: %g}", coulomb, decades(w, 2e-3, 2e-2), 300.0);
      break;
    case 1:
      put(w, ", friction: {law: brown-mcphee, Fc: %g, Fs: %g, vs: %g, viscous: %g}", coulomb, coulomb * 1.6,
          decades(w, 5e-3, 3e-2), decades(w, 100, 2000));
      break;
    default: break;
  }
}

static void put_valve(writer *w, double flow) {
  static const char *const ports[] = {"pa: {between: [P, A], side: positive", "bt: {between: [B, T], side: positive",
                                      "pb: {between: [P, B], side: negative", "at: {between: [A, T], side: negative"};
  put(w, "valves:\n  valve:\n    command: control\n    time_constant: %g\n    stroke: 10\n", decades(w, 2e-3, 5e-2));
  put(w, "    area: %g\n    discharge: 0.6\n    dead_band: %g\n    ports:\n", flow / 0.6 / sqrt(2 * 8e6 / 870),
      pick(w, 2) ? uniform(w, 0.05, 0.5) : 0);
  for (int i = 0; i < 4; i++) {
    if (pick(w, 2))
      put(w, "      %s, curve: linear}\n", ports[i]);
    else
      put(w, "      %s, curve: {degree: 2, points: [0, %g, 1]}}\n", ports[i], uniform(w, 0.2, 0.8));
  }
}

// A cylinder on a load with a valve, in a loop that is closed, continuous or sampled, or open.
static void servo(writer *w) {
  double bore = uniform(w, 0.03, 0.1), area = 0.785 * bore * bore, speed = decades(w, 0.05, 0.8);
  int loop = pick(w, 3);
  put(w, "bodies: {load: {point: {mass: %g}, points: {eye: [0, 0]}}}\nground: {points: {base: [-1, 0]}}\n",
      decades(w, 20, 5000));
  put(w, "joints: {rail: {type: prismatic, between: [ground, load], axis: [1, 0, 0]}}\n");
  put_oil(w);
  put(w, "volumes: {A: {volume: %g}, B: {volume: %g}}\ntanks: {T: {pressure: 1e5}}\nsources: {P: {pressure: %g}}\n",
      decades(w, 2e-5, 2e-3), decades(w, 2e-5, 2e-3), uniform(w, 1e7, 2.1e7));
  if (loop)
    put_input(w, "target", "m", 0, uniform(w, 0.01, 0.06));
  else
    put_input(w, "control", "V", 0, uniform(w, 2, 9));
  if (loop) {
    put(w, "blocks:\n  error: {type: sum, inputs: [target, rail.position], weights: [1, -1]}\n");
    put(w, "  control: {type: pid, input: error, unit: V, kp: %g, ki: %g, limits: [-10, 10]", decades(w, 30, 500),
        pick(w, 2) ? decades(w, 10, 500) : 0);
    if (loop == 2) put(w, ", sample: %g", pick(w, 2) ? 2e-3 : 5e-3);
    put(w, "}\n");
  }
  put_valve(w, area * speed);
  put(w,
      "cylinders: {ram: {between: [ground.base, load.eye], chambers: [A, B], bore: %g, rod: %g, closed: 0.85, "
      "stroke: 0.3, leakage: %g",
      bore, bore * uniform(w, 0.4, 0.7), decades(w, 1e-14, 1e-11));
  put_friction(w);
  put(w, "}}\ninitial: {rail.position: 0, A.pressure: balance, B.pressure: %g}\n", uniform(w, 3e6, 8e6));
  put(w, "run: {time: %g, outputs: [rail.position, rail.rate, A.pressure, B.pressure]}\n", uniform(w, 0.6, 1.5));
}

// A boom that a pump lifts, or that sinks through a throttle, sometimes onto its stop.
static void crane(writer *w) {
  bool lift = pick(w, 2);
  put(w, "gravity: [0, -9.81]\nground: {points: {ram: [0.5, -0.5]}}\n");
  put(w, "bodies:\n  boom: {beam: {mass: %g, length: %g}, points: {ram: [1, 0]}}\n", decades(w, 50, 1000),
      uniform(w, 2, 5));
  put(w, "joints: {heel: {type: revolute, between: [ground, boom.start], damping: %g}}\n", decades(w, 1, 1000));
  put_oil(w);
  put(w, "volumes: {A: {volume: %g}}\ntanks: {T: {pressure: 1e5}}\n", decades(w, 5e-5, 5e-3));
  put_input(w, "u", lift ? "m^3/s" : "1", lift ? 2e-4 : 0.5, lift ? 2e-4 : 0.45);
  if (lift)
    put(w, "pumps: {pump: {to: A, from: T, flow: u}}\nleaks: {seep: {between: [A, T], slope: %g}}\n",
        decades(w, 1e-13, 1e-11));
  else
    put(w, "orifices: {sink: {between: [A, T], area: %g, discharge: 0.6, opening: u}}\n", decades(w, 2e-6, 4e-5));
  put(w, "cylinders: {ram: {between: [ground.ram, boom.ram], chambers: [A, T], areas: [%g, 0], closed: %g, stroke: 0.8",
      decades(w, 1e-3, 8e-3), uniform(w, 0.55, 0.75));
  put_friction(w);
  put(w, "}}\ninitial: {heel.angle: %g, A.pressure: balance}\n", uniform(w, 0.1, 0.5));
  put(w, "run: {time: %g, outputs: [heel.angle, heel.rate, A.pressure, ram.force]}\n", uniform(w, 0.6, 2));
}

// ---- blocks

static void blocks(writer *w) {
  put_input(w, "u", "1", 0, 1);
  put(w, "blocks:\n  lag: {type: first-order, input: u, time_constant: %g}\n", decades(w, 1e-4, 0.3));
  put(w, "  axis: {type: second-order, input: lag, frequency: %g, damping: %g}\n", decades(w, 3, 3000),
      decades(w, 0.02, 1.5));
  put(w, "  error: {type: sum, inputs: [u, plant], weights: [1, -1]}\n");
  put(w, "  control: {type: pid, input: error, kp: %g, ki: %g, limits: [-2, 2]}\n", decades(w, 0.5, 30),
      decades(w, 0.5, 30));
  put(w, "  plant: {type: transfer-function, input: control, numerator: [%g], denominator: [%g, %g, 1]}\n",
      uniform(w, 0.5, 2), decades(w, 1e-5, 1e-2), decades(w, 1e-2, 0.3));
  put(w, "run: {time: %g, outputs: [axis, plant, control]}\n", uniform(w, 0.8, 1.5));
}

void od_random_file(uint64_t seed, char *text, size_t size) {
  static void (*const kinds[])(writer *) = {pendulum, chain, fourbar, circuit, circuit,
                                            servo,    servo, servo,   crane,   blocks};
  writer w = {.dice = {seed * 2654435761u + 99}, .text = text, .size = size};
  od_dice_uniform(&w.dice, 0, 1);
  put(&w, "machine: random %llu\n", (unsigned long long)seed);
  kinds[pick(&w, (int)(sizeof kinds / sizeof *kinds))](&w);
}
