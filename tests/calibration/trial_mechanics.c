// Random mechanisms: a slider or rotor with elements of every kind acting on it, friction of every law.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "calibration/trial.h"

typedef char text[TRIAL_NAME];

const char *const trial_friction_laws[] = {"coulomb",
                                           "brown-mcphee",
                                           "viscous",
                                           "tustin",
                                           "gaussian",
                                           "lorentzian",
                                           "modified-gaussian",
                                           "modified-lorentzian",
                                           "lugre",
                                           "modified-lugre",
                                           "new-modified-lugre",
                                           "reduced",
                                           NULL};

// "law: coulomb, Fc: ..." with about this force; speeds of about 1 rad/s for rotation, else 0.1 m/s.
void trial_friction(trial *t, bool turning, double size, char *out, size_t room) {
  int count = 0;
  while (trial_friction_laws[count]) count++;
  const char *law = trial_choose(t, trial_friction_laws, count);
  double Fc = size * trial_uniform(t, 0.3, 1), Fs = Fc * trial_uniform(t, 1, 2), speed = turning ? 1 : 0.1,
         vs = speed * trial_decades(t, 0.03, 0.4), viscous = Fc / speed * trial_uniform(t, 0.1, 1);
  double sigma = Fs / (speed * trial_decades(t, 1e-3, 1e-2));  // N/m
  int used = snprintf(out, room, "law: %s, viscous: %.6g", law, viscous);
  if (strcmp(law, "viscous") == 0) return;
  used += snprintf(out + used, room - (size_t)used, ", Fc: %.6g, vs: %.6g", Fc, vs);
  if (strcmp(law, "coulomb") == 0) return;
  used += snprintf(out + used, room - (size_t)used, ", Fs: %.6g", Fs);
  if (strstr(law, "modified") || strcmp(law, "reduced") == 0)
    used += snprintf(out + used, room - (size_t)used, ", n: %.6g", trial_uniform(t, 0.6, 2));
  bool is_curve = strcmp(law, "tustin") == 0 || strcmp(law, "gaussian") == 0 || strcmp(law, "lorentzian") == 0 ||
                  strcmp(law, "modified-gaussian") == 0 || strcmp(law, "modified-lorentzian") == 0;
  if (is_curve) used += snprintf(out + used, room - (size_t)used, ", v0: %.6g", speed * trial_decades(t, 1e-3, 3e-2));
  bool has_bristles = strstr(law, "lugre") || strcmp(law, "reduced") == 0;
  if (has_bristles) used += snprintf(out + used, room - (size_t)used, ", sigma_0: %.6g", sigma);
  if (strstr(law, "lugre"))
    used += snprintf(out + used, room - (size_t)used, ", sigma_1: %.6g", sigma * trial_decades(t, 1e-4, 3e-3));
  if (strstr(law, "modified-lugre"))
    used += snprintf(out + used, room - (size_t)used, ", tau_hp: %.6g", trial_decades(t, 0.01, 0.3));
  if (strstr(law, "modified-lugre") || strcmp(law, "reduced") == 0)
    used += snprintf(out + used, room - (size_t)used, ", tau_hn: %.6g, tau_h0: %.6g", trial_decades(t, 0.05, 2), 5.0);
  if (strcmp(law, "new-modified-lugre") == 0)
    snprintf(out + used, room - (size_t)used, ", film_force: %.6g, inertia: %.6g", Fc * 0.01, viscous * 0.002);
}

static void put_joint_friction(trial *t, bool turning, double size, char *out, size_t room) {
  char law[512];
  out[0] = '\0';
  bool is_wanted = false;
  for (int i = 0; trial_friction_laws[i]; i++)
    for (int k = 0; k < 3; k++) is_wanted |= t->wanted[k] && strcmp(t->wanted[k], trial_friction_laws[i]) == 0;
  if (!is_wanted && !trial_chance(t, 0.4)) return;
  trial_friction(t, turning, size, law, sizeof law);
  snprintf(out, room, ", friction: {%s}", law);
}

void trial_slider(trial *t, bool vertical, double mass) {
  char friction[600], spring[128] = "";
  text body, joint;
  trial_name(t, "cart", body), trial_name(t, "rail", joint);
  put_joint_friction(t, false, 2 * mass, friction, sizeof friction);
  if (trial_wants(t, "joint spring") || trial_chance(t, 0.3))
    snprintf(spring, sizeof spring, ", stiffness: %.6g, damping: %.6g", mass * trial_decades(t, 10, 3e4),
             mass * trial_decades(t, 0.1, 10));
  trial_put(t, "bodies", "  %s: {mass: %.6g, inertia: %.6g, points: {eye: [0.1, 0.05]}}\n", body, mass, 0.1 * mass);
  trial_put(t, "joints", "  %s: {type: prismatic, between: [ground, %s], axis: [%d, %d, 0]%s%s}\n", joint, body,
            !vertical, vertical, spring, friction);
  trial_put(t, "initial", "  %s.position: %.6g\n", joint, trial_uniform(t, -0.05, 0.05));
  if (trial_chance(t, 0.4)) trial_put(t, "initial", "  %s.rate: %.6g\n", joint, trial_uniform(t, -0.5, 0.5));
  snprintf(t->slider, sizeof t->slider, "%s", joint);
  snprintf(t->slider_body, sizeof t->slider_body, "%s", body);
  t->slider_turns = false;
  trial_add_sensor(t, trial_uniform(t, 3, 12), "%s.position", joint);
  trial_add_sensor(t, trial_uniform(t, 1, 4), "%s.rate", joint);
  trial_add_output(t, "%s.position", joint);
  trial_add_output(t, "%s.rate", joint);
}

void trial_rotor(trial *t, double inertia) {
  char friction[600], spring[128] = "";
  text body, joint;
  trial_name(t, "wheel", body), trial_name(t, "axle", joint);
  put_joint_friction(t, true, 5 * inertia, friction, sizeof friction);
  if (trial_wants(t, "joint spring") || trial_chance(t, 0.2))
    snprintf(spring, sizeof spring, ", stiffness: %.6g, damping: %.6g", inertia * trial_decades(t, 10, 3e3),
             inertia * trial_decades(t, 0.1, 5));
  trial_put(t, "bodies", "  %s: {mass: %.6g, inertia: %.6g, points: {eye: [0.2, 0]}}\n", body, 20 * inertia, inertia);
  trial_put(t, "joints", "  %s: {type: revolute, between: [ground, %s]%s%s}\n", joint, body, spring, friction);
  trial_put(t, "initial", "  %s.angle: %.6g\n", joint, trial_uniform(t, -0.5, 0.5));
  if (trial_chance(t, 0.4)) trial_put(t, "initial", "  %s.rate: %.6g\n", joint, trial_uniform(t, -5, 5));
  snprintf(t->slider, sizeof t->slider, "%s", joint);
  snprintf(t->slider_body, sizeof t->slider_body, "%s", body);
  t->slider_turns = true;
  trial_add_sensor(t, trial_uniform(t, 0.05, 0.3), "%s.rate", joint);
  trial_add_output(t, "%s.angle", joint);
  trial_add_output(t, "%s.rate", joint);
}

const char *const trial_mechanism_parts[] = {"joint spring", "spring",  "play",  "disturbance", "stop",
                                             "rope",         "winch",   "force", "torque",      "force formula",
                                             "brake",        "contact", "gear",  NULL};

static void anchor(trial *t, text name) {
  text point;
  trial_name(t, "g", point);
  trial_put(t, "ground.points", "    %s: [%.6g, %.6g]\n", point, trial_uniform(t, -1.6, -1),
            trial_uniform(t, 0.4, 1.5));
  snprintf(name, TRIAL_NAME, "ground.%.50s", point);
}

static double force_size(trial *t) {
  return t->is_loose ? trial_decades(t, 5, 100) : trial_decades(t, 100, 3000);
}

// k of a spring whose force is about `force_size` at some centimeters.
static double stiffness(trial *t) {
  return force_size(t) * trial_decades(t, 10, 1000);
}

static void put_stop(trial *t, const char *c, const char *name, const char *coordinate) {
  double size = t->slider_turns ? 3 : 0.15, k = stiffness(t) * trial_decades(t, 1, 100);
  if (strcmp(c, "stop") == 0) {
    double low = -size * trial_uniform(t, 0.4, 1), high = size * trial_uniform(t, 0.4, 1);
    trial_put(t, "stops", "  %s: {joint: %s, low: %.9g, high: %.9g, stiffness: %.6g, damping: %.6g}\n", name, t->slider,
              low, high, k, trial_uniform(t, 0, 1));
    trial_add_edge(t, coordinate, "", low, 0);
    trial_add_edge(t, coordinate, "", high, 0);
  } else {
    double gap = size * trial_decades(t, 0.01, 0.5), free = trial_uniform(t, -0.02, 0.02);
    trial_put(t, "plays", "  %s: {joint: %s, gap: %.9g, stiffness: %.6g, damping: %.6g, free: %.9g}\n", name, t->slider,
              gap, k, trial_uniform(t, 0, 1), free);
    trial_add_edge(t, coordinate, "", free + gap / 2, 0);
    trial_add_edge(t, coordinate, "", free - gap / 2, 0);
  }
  trial_add_output(t, "%s.force", name);
}

static void put_rope(trial *t, const char *c, const char *name) {
  text from, speed, command;
  anchor(t, from);
  double length = trial_uniform(t, 1.2, 2.2), k = stiffness(t);
  trial_put(t, strcmp(c, "rope") == 0 ? "ropes" : "winches",
            "  %s: {between: [%s, %s.eye], length: %.9g, stiffness: %.6g, damping: %.6g", name, from, t->slider_body,
            length, k, trial_uniform(t, 0, 1));
  if (strcmp(c, "winch") == 0) {
    trial_command(t, false, command);
    trial_name(t, "haul", speed);
    trial_put(t, "blocks", "  %s: {type: gain, input: %s, gain: 0.5, unit: m/s}\n", speed, command);
    trial_put(t, "winches", ", speed: %s", speed);
    trial_add_output(t, "%s.paid_out", name);
  } else {
    text stretched;
    snprintf(stretched, sizeof stretched, "%.50s.length", name);
    trial_add_edge(t, stretched, "", length, 0);
  }
  trial_put(t, strcmp(c, "rope") == 0 ? "ropes" : "winches", "}\n");
  trial_add_output(t, "%s.tension", name);
}

static void put_brake(trial *t, const char *name) {
  text node, signal, raised;
  trial_oil(t);
  trial_command(t, true, signal);
  trial_name(t, "pilot", raised), trial_name(t, "release", node);
  trial_put(t, "blocks", "  %s: {type: gain, input: %s, gain: 6e6, unit: Pa}\n", raised, signal);
  trial_put(t, "sources", "  %s: {pressure: %s}\n", node, raised);
  double force = force_size(t) * (t->slider_turns ? 0.3 : 1);
  trial_put(t, "brakes",
            "  %s: {joint: %s, at: %s, holding: %.6g, deflection: %.6g, damping: %.6g, engage: %.6g, release: %.6g}\n",
            name, t->slider, node, force, (t->slider_turns ? 0.1 : 0.01) * trial_decades(t, 0.2, 2),
            force * trial_decades(t, 0.01, 0.3), trial_uniform(t, 1.5e6, 2.5e6), trial_uniform(t, 3e6, 4e6));
  trial_add_output(t, "%s.force", name);
  trial_add_output(t, "%s.mode", name);
}

static void put_formula(trial *t, const char *name, const char *coordinate) {
  double k = stiffness(t) * (t->slider_turns ? 0.05 : 1), free = trial_uniform(t, -0.1, 0.1);
  const char *force = t->slider_turns ? "Nm" : "N", *place = t->slider_turns ? "rad" : "m";
  trial_put(t, "force_formulas", "  %s: {joint: %s, ", name, t->slider);
  switch (trial_pick(t, 3)) {
    case 0:
      trial_put(
          t, "force_formulas",
          "force: \"-k * x - c * v * abs(v)\", parameters: {k: \"%.6g %s / (1 %s)\", c: \"%.6g %s / (1 %s/s)^2\"}}\n",
          k, force, place, 0.1 * k, force, place);
      break;
    case 1:
      trial_put(t, "force_formulas",
                "force: \"k * max(free - x, 0)^1.5\", parameters: {k: \"%.6g %s / (1 %s)^1.5\", free: %.9g %s}}\n", k,
                force, place, free, place);
      trial_add_edge(t, coordinate, "", free, 0);
      break;
    default:
      trial_put(
          t, "force_formulas",
          "force: \"if(x > free, -k, 0) - c * v\", parameters: {k: %.6g %s, c: \"%.6g %s / (1 %s/s)\", free: %.9g %s}}\n",
          0.02 * k, force, 0.02 * k, force, place, free, place);
      trial_add_edge(t, coordinate, "", free, 0);
  }
}

// A second rotor or slider that a gear couples with the first.
static void put_gear(trial *t, const char *name) {
  text body, joint;
  trial_name(t, "second", body), trial_name(t, "shaft", joint);
  trial_put(t, "bodies", "  %s: {mass: %.6g, inertia: %.6g}\n", body, force_size(t) / 10, force_size(t) / 300);
  trial_put(t, "joints", "  %s: {type: revolute, between: [ground, %s], damping: %.6g}\n", joint, body,
            force_size(t) / 1000);
  trial_put(t, "gears", "  %s: {joints: [%s, %s], ratio: %.6g}\n", name, t->slider, joint,
            trial_uniform(t, 0.5, 4) * (t->slider_turns ? 1 : 10));
  trial_put(t, "initial", "  %s.angle: about 0\n", joint);
}

void trial_mechanism_part(trial *t, const char *c) {
  text name, from, command, coordinate;
  if (!t->slider[0]) return;
  trial_name(t, "part", name);
  snprintf(coordinate, sizeof coordinate, "%.40s.%s", t->slider, t->slider_turns ? "angle" : "position");
  double size = force_size(t);
  if (strcmp(c, "stop") == 0 || strcmp(c, "play") == 0) put_stop(t, c, name, coordinate);
  if (strcmp(c, "rope") == 0 || strcmp(c, "winch") == 0) put_rope(t, c, name);
  if (strcmp(c, "brake") == 0) put_brake(t, name);
  if (strcmp(c, "gear") == 0) put_gear(t, name);
  if (strcmp(c, "force formula") == 0) put_formula(t, name, coordinate);
  if (strcmp(c, "spring") == 0) {
    anchor(t, from);
    trial_put(t, "springs", "  %s: {between: [%s, %s.eye], stiffness: %.6g, damping: %.6g, length: %.6g}\n", name, from,
              t->slider_body, stiffness(t), size * trial_uniform(t, 0.1, 2), trial_uniform(t, 1, 2));
    trial_add_output(t, "%s.force", name);
  }
  if (strcmp(c, "disturbance") == 0) {
    trial_put(t, "disturbances", "  %s: {joint: %s, time: %.6g, noise: %.6g}\n", name, t->slider,
              trial_decades(t, 0.05, 2), size);
    trial_put(t, "initial", "  %s.force: %.6g\n", name,
              size * trial_uniform(t, -0.3, 0.3) * (t->slider_turns ? 0.1 : 1));
  }
  if (strcmp(c, "force") == 0) {
    trial_command(t, false, command);
    trial_put(t, "forces", "  %s: {at: %s.eye, value: %.6g N %s, direction: [%.4g, 1]}\n", name, t->slider_body, size,
              command, trial_uniform(t, 0.5, 2));
  }
  if (strcmp(c, "torque") == 0) {
    trial_command(t, false, command);
    trial_put(t, "torques", "  %s: {joint: %s, value: %.6g N%s %s}\n", name, t->slider,
              size * (t->slider_turns ? 0.1 : 1), t->slider_turns ? "m" : "", command);
  }
  if (strcmp(c, "contact") == 0) {
    trial_put(
        t, "contacts",
        "  %s: {at: %s.eye, plane: [0, %.6g, 0], normal: [%.4g, 1, 0], stiffness: %.6g, damping: %.6g, friction: %.4g, slip: %.4g}\n",
        name, t->slider_body, -trial_uniform(t, -0.05, 0.1), trial_uniform(t, 0.2, 1), stiffness(t) * 10,
        trial_uniform(t, 0, 1), trial_uniform(t, 0, 0.5), trial_decades(t, 1e-3, 2e-2));
    trial_add_output(t, "%s.force", name);
  }
}
